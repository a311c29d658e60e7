/* inspect.c -- inputs read for the analyses: texts as tokens, pairs, pictures. */
#include "kinds/inspect.h"
#include "cli/files.h"
#include "kinds/eval_loop.h"
#include "kinds/image.h"
#include "kinds/inputs.h"
#include "kinds/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool no_memory(heed_run *r, int n) {
    return heed_fail(r->c, HEED_FAILED, "no memory for an input of %d tokens", n);
}

/* ---- texts ---- */

/* Tokens between special ones of no text, in one block of memory each. */
typedef struct {
    int32_t *ids;
    size_t *begin, *end;
    int count;
} bracketed;

static bool bracket_tokens(heed_run *r, const heed_tokens *k, bracketed *out) {
    heed_specials x = heed_tokenizer_specials(r->tokenizer);
    int before = r->model->bracket && x.cls >= 0, after = r->model->bracket && x.sep >= 0;
    size_t n = k->count + 2;
    *out = (bracketed){.ids = calloc(n, sizeof *out->ids),
                       .begin = calloc(n, sizeof *out->begin),
                       .end = calloc(n, sizeof *out->end)};
    if (!out->ids || !out->begin || !out->end) return no_memory(r, (int)n);
    if (before) out->ids[out->count++] = x.cls;
    for (size_t i = 0; i < k->count; i++) {
        out->ids[out->count] = k->ids[i];
        out->begin[out->count] = k->begin[i];
        out->end[out->count++] = k->end[i];
    }
    if (after) out->ids[out->count++] = x.sep;
    return true;
}

static void bracketed_free(bracketed *b) {
    free(b->ids);
    free(b->begin);
    free(b->end);
}

/* title: of n bytes. */
static bool open_words(heed_inspection *e, heed_run *r, const char *title, const char *text,
                       const labelled_text *words) {
    bracketed b;
    bool ok = bracket_tokens(r, &words->tokens, &b);
    if (ok) warn_of_unknown(r->tokenizer, &words->tokens, text);
    ok = ok && heed_inspection_open(e, r,
                                    &(heed_inspection_args){.title = title,
                                                            .count = b.count,
                                                            .ids = b.ids,
                                                            .text = text,
                                                            .begin = b.begin,
                                                            .end = b.end,
                                                            .words = (int)words->words,
                                                            .first = words->first});
    bracketed_free(&b);
    return ok;
}

static bool read_words(heed_inspection *e, heed_run *r, const char *text, size_t n) {
    labelled_text words = {.tokens = {.c = r->c}};
    heed_text title = {.c = r->c};
    bool ok = r->model->kind == HEED_INPUT_LABELLED
                  ? labelled_read(&words, r, text, n)
                  : heed_encode(r->tokenizer, text, n, &words.tokens);
    if (ok && words.tokens.count == 0) ok = heed_fail(r->c, HEED_DATA, "the input is empty");
    ok = ok && heed_text_put(&title, text, n) && open_words(e, r, title.s, text, &words);
    heed_text_free(&title);
    labelled_free(&words);
    return ok;
}

bool inspect_tokens(heed_inspection *e, heed_run *r, const int32_t *ids, int count) {
    heed_text title = {.c = r->c};
    *e = (heed_inspection){.run = r};
    bool ok = heed_decode(r->tokenizer, ids, (size_t)count, &title) &&
              heed_inspection_open(
                  e, r, &(heed_inspection_args){.title = title.s, .count = count, .ids = ids});
    heed_text_free(&title);
    return ok;
}

/* ---- pairs ---- */

/* The target, as given or as the model makes it, with its end if it has one. */
static bool read_target(translator *k, const char *target, heed_tokens *out) {
    heed_run *r = k->run;
    size_t n = 0;
    if (target && !heed_encode(r->tokenizer, target, strlen(target), out)) return false;
    if (target) {
        warn_of_unknown(r->tokenizer, out, target);
        return heed_encode(r->tokenizer, "[SEP]", 5, out);
    }
    out->ids = malloc(((size_t)k->about.count + 1) * sizeof *out->ids);
    if (!out->ids) return no_memory(r, k->about.count);
    for (; n < (size_t)k->about.count; n++) out->ids[n] = k->ids[n];
    if (k->about.ended) out->ids[n++] = k->how.end;
    out->count = n;
    return true;
}

/* "source -> target" */
static bool pair_title(const heed_run *r, const char *text, size_t n, const heed_tokens *target,
                       heed_text *out) {
    int end = heed_tokenizer_specials(r->tokenizer).sep;
    size_t words = target->count;
    if (words && target->ids[words - 1] == end) words--;
    return heed_text_put(out, text, n) && heed_text_put(out, " \xe2\x86\x92 ", 5) &&
           (words ? heed_decode(r->tokenizer, target->ids, words, out)
                  : heed_text_put(out, "(nothing)", 9));
}

static bool read_pair(heed_inspection *e, heed_run *r, const char *text, size_t n,
                      const char *target) {
    translator k;
    heed_tokens made = {.c = r->c};
    heed_text title = {.c = r->c};
    bool ok = translator_open(&k, r, NULL);
    ok = ok && (target ? translator_read(&k, text, n) : translate(&k, text, n)) &&
         read_target(&k, target, &made) && pair_title(r, text, n, &made, &title) &&
         heed_inspection_open(e, r,
                              &(heed_inspection_args){.title = title.s,
                                                      .count = (int)k.source.count,
                                                      .ids = k.source.ids,
                                                      .text = k.text,
                                                      .begin = k.source.begin,
                                                      .end = k.source.end,
                                                      .target_count = (int)made.count,
                                                      .target = made.ids});
    heed_text_free(&title);
    heed_tokens_free(&made);
    translator_close(&k);
    return ok;
}

bool inspect_text(heed_inspection *e, heed_run *r, const char *text, size_t n, const char *target) {
    *e = (heed_inspection){.run = r};
    if (!r->tokenizer)
        return heed_fail(r->c, HEED_USAGE,
                         "the run takes pictures: expected a picture, found a text");
    if (n && is_file(text) && is_picture_name(text))
        return heed_fail(r->c, HEED_USAGE,
                         "%s is a picture: the run takes texts (%s); hint: a run of vit", text,
                         r->model->name);
    if (r->model->kind == HEED_INPUT_PAIR) return read_pair(e, r, text, n, target);
    return read_words(e, r, text, n);
}

/* ---- pictures ---- */

static const char *channel_word(int channels) { return channels == 1 ? "grey" : "colour"; }

/* Grey with alpha counts as grey, colour with alpha as colour. */
bool picture_fits(heed_ctx *c, heed_picture *p, int wanted, bool convert, const char *name) {
    int own = p->channels < 3 ? 1 : 3;
    if (own != wanted && !convert)
        return heed_fail(c, HEED_DATA,
                         "channels do not fit the run: %s: expected %d (%s), found %d (%s); hint: "
                         "--convert",
                         name, wanted, channel_word(wanted), own, channel_word(own));
    return heed_picture_convert(p, wanted) == HEED_OK ||
           heed_fail(c, HEED_FAILED, "no memory for %s", name);
}

enum { SIDE = 224 };

/* The square that the model sees, at most SIDE pixels wide, as bytes; to be freed. */
static unsigned char *shown_square(const heed_picture *p, int *side) {
    int least = p->width < p->height ? p->width : p->height;
    heed_box box = {(p->width - least) / 2.0, (p->height - least) / 2.0, least, least};
    *side = least < SIDE ? least : SIDE;
    size_t n = (size_t)*side * (size_t)*side * (size_t)p->channels;
    heed_real *x = malloc((n + heed_resize_work(p, *side, *side)) * sizeof *x);
    unsigned char *pixels = x ? malloc(n) : NULL;
    if (pixels) heed_picture_resize(p, box, *side, *side, x, x + n);
    for (size_t i = 0; pixels && i < n; i++)
        pixels[i] = (unsigned char)lround(fmin(fmax((double)x[i], 0), 255));
    free(x);
    return pixels;
}

bool picture_input(const heed_image_transform *v, const heed_picture *p, heed_real **x) {
    size_t n = (size_t)v->size * (size_t)v->size * (size_t)v->channels;
    *x = malloc((n + heed_view_work(p, v)) * sizeof **x);
    if (*x) heed_picture_view(p, v, NULL, NULL, *x, *x + n);
    return *x != NULL;
}

static bool open_picture(heed_inspection *e, heed_run *r, const heed_image_transform *view,
                         const heed_picture *p, const char *name) {
    int side;
    heed_real *x = NULL;
    unsigned char *pixels = shown_square(p, &side);
    bool ok = (pixels && picture_input(view, p, &x)) ||
              heed_fail(r->c, HEED_FAILED, "no memory for a picture");
    ok = ok && heed_inspection_open(
                   e, r,
                   &(heed_inspection_args){.title = name,
                                           .x = x,
                                           .dims = 4,
                                           .shape = {1, view->size, view->size, view->channels},
                                           .pixels = pixels,
                                           .width = side,
                                           .height = side,
                                           .channels = view->channels});
    free(x);
    free(pixels);
    return ok;
}

bool inspect_picture(heed_inspection *e, heed_run *r, heed_picture *p, const char *name,
                     bool convert) {
    heed_image_transform view;
    *e = (heed_inspection){.run = r};
    bool ok = r->model->kind == HEED_INPUT_PICTURE ||
              heed_fail(r->c, HEED_USAGE, "the model takes no pictures: %s", r->model->name);
    ok = ok && view_of(r->c, r->config, &view) &&
         picture_fits(r->c, p, view.channels, convert, name) && open_picture(e, r, &view, p, name);
    heed_picture_free(p);
    return ok;
}

bool inspect_advance(void *user, uint64_t done, uint64_t all) {
    const inspect_progress *g = user;
    eval_loop_progress(g->p, g->what, done, all);
    return true;
}

/* ---- layers and heads ---- */

bool layer_index(const heed_run *r, int layer, int *index) {
    int count, most = 0;
    heed_record_block *list = heed_attention_layers(r, &count);
    for (int i = 0; i < count; i++)
        if (list[i].layer >= most) most = list[i].layer + 1;
    free(list);
    if (!list) return false;
    *index = (layer ? layer : most) - 1;
    return layer <= most ||
           heed_fail(r->c, HEED_USAGE, "--layer %d: expected 1 to %d, or 0 for the last", layer,
                     most);
}

bool has_stacks(const heed_record_block *list, int count) {
    for (int i = 1; i < count; i++)
        if (list[i].stack != list[0].stack) return true;
    return false;
}

char *head_name(char text[64], const heed_record_block *l, int head, bool stacks) {
    snprintf(text, 64, "%s%slayer %d, head %d", stacks ? heed_stack_name(l->stack) : "",
             stacks ? " " : "", l->layer + 1, head + 1);
    return text;
}
