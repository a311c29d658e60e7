/* subject.c -- inputs made ready: tokens with their labels, pictures as patches, and the questions
 * that a model answers there. */
#include "analyses/capture.h"
#include "cli/files.h"
#include "kinds/image.h"
#include "kinds/inputs.h"
#include "kinds/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool no_memory(heed_run *r, int n) {
    return heed_fail(r->c, HEED_FAILED, "no memory for an input of %d tokens", n);
}

static char *copy_of(const char *text, size_t n) {
    char *copy = malloc(n + 1);
    if (!copy) return NULL;
    memcpy(copy, text, n);
    copy[n] = 0;
    return copy;
}

/* ---- axes ---- */

static bool add_axis(subject *s, const char *name, int count) {
    int at = s->axis_count++;
    s->labels[at] = calloc((size_t)count + 1, sizeof *s->labels[at]);
    s->special[at] = calloc((size_t)count + 1, 1);
    s->axes[at] = (heed_record_axis){.name = name,
                                     .count = count,
                                     .labels = (const char *const *)s->labels[at],
                                     .special = s->special[at]};
    return (s->labels[at] && s->special[at]) || no_memory(s->run, count);
}

/* A token of the axis. text, of n bytes, is what stands there in the input: the label where the
 * vocabulary lacks it. */
static bool set_token(subject *s, int axis, int at, const heed_tokenizer *k, int32_t id,
                      const char *text, size_t n) {
    heed_specials x = heed_tokenizer_specials(k);
    const char *own = heed_token_text(k, id);
    bool unknown = n > 0 && id == x.unk;
    s->labels[axis][at] = unknown ? copy_of(text, n) : copy_of(own, strlen(own));
    s->special[axis][at] = id == x.cls || id == x.sep || id == x.pad || id == x.newline;
    return s->labels[axis][at] || no_memory(s->run, at);
}

static bool set_patch(subject *s, int at, int index, int cols) {
    char label[32] = "[CLS]";
    if (index >= 0) snprintf(label, sizeof label, "%d,%d", index / cols + 1, index % cols + 1);
    s->labels[0][at] = copy_of(label, strlen(label));
    s->special[0][at] = index < 0;
    return s->labels[0][at] || no_memory(s->run, at);
}

void subject_free(subject *s) {
    for (int i = 0; i < s->axis_count; i++) {
        for (int j = 0; s->labels[i] && j < s->axes[i].count; j++) free(s->labels[i][j]);
        free(s->labels[i]);
        free(s->special[i]);
    }
    free(s->questions);
    free(s->ids);
    free(s->read);
    free(s->target);
    free(s->x);
    free(s->pixels);
    free(s->title);
    *s = (subject){0};
}

/* ---- questions ---- */

static bool question_capacity(subject *s, int count) {
    s->questions = calloc((size_t)count + 1, sizeof *s->questions);
    return s->questions || no_memory(s->run, count);
}

static void ask(subject *s, int axis, int query, int row, const char *says) {
    question *q = &s->questions[s->question_count++];
    *q = (question){.axis = axis, .query = query, .row = row};
    snprintf(q->says, sizeof q->says, "%s", says);
}

/* Every token of gpt, and of a target: the one after it, or itself. Counted from 1, as on screen.
 */
static void ask_tokens(subject *s, int axis, int ahead) {
    for (int i = 0; i < s->axes[axis].count; i++) {
        char says[32];
        snprintf(says, sizeof says, "token %d", i + 1 + ahead);
        ask(s, axis, i, i, says);
    }
}

static bool ask_all(subject *s, const labelled_text *words) {
    const heed_model *m = s->run->model;
    int mask = s->run->tokenizer ? heed_tokenizer_specials(s->run->tokenizer).mask : -1;
    if (!question_capacity(s, s->axes[s->axis_count > 1].count)) return false;
    if (m == &heed_model_gpt) ask_tokens(s, 0, 1);
    if (s->target_count) ask_tokens(s, 1, 0);
    if (m == &heed_model_vit) ask(s, 0, s->axes[0].first ? 0 : -1, 0, "the class");
    if (m == &heed_model_textcls) ask(s, 0, -1, 0, "the class");
    for (int i = 0; m == &heed_model_mlm && i < s->count; i++)
        if (s->ids[i] == mask) ask(s, 0, i, s->question_count, "[MASK]");
    for (size_t i = 0; m == &heed_model_tag && i < words->words; i++)
        ask(s, 0, (int)words->first[i], (int)words->first[i], "the label");
    return true;
}

/* ---- texts ---- */

static bool take_ids(subject *s, const heed_tokens *k, int32_t before, int32_t after) {
    int n = (int)k->count + (before >= 0) + (after >= 0), at = 0;
    s->ids = malloc(((size_t)n + 1) * sizeof *s->ids);
    if (!s->ids) return no_memory(s->run, n);
    if (before >= 0) s->ids[at++] = before;
    for (size_t i = 0; i < k->count; i++) s->ids[at++] = k->ids[i];
    if (after >= 0) s->ids[at++] = after;
    s->count = at;
    return true;
}

/* Labels of the first axis; the tokens of k begin at `from`. */
static bool label_tokens(subject *s, const char *text, const heed_tokens *k, int from,
                         const heed_tokenizer *tokenizer) {
    bool ok = add_axis(s, s->read ? "source" : "text", s->count);
    warn_of_unknown(tokenizer, k, text);
    for (int i = 0; ok && i < s->count; i++) {
        size_t at = (size_t)(i - from);
        bool own = i >= from && at < k->count;
        ok = set_token(s, 0, i, tokenizer, s->ids[i], own ? text + k->begin[at] : "",
                       own ? k->end[at] - k->begin[at] : 0);
    }
    return ok;
}

static bool fits_block(const subject *s, const char *text, size_t n) {
    int64_t block = heed_config_int(s->run->config, "block");
    size_t shown = text_cut(text, 40);
    if (s->count <= block) return true;
    return heed_fail(s->run->c, HEED_DATA,
                     "the input is too long: %d tokens, the model takes %lld: %.*s...", s->count,
                     (long long)block, (int)(n < shown ? n : shown), text);
}

static bool read_words(subject *s, const char *text, size_t n, labelled_text *words) {
    const heed_run *r = s->run;
    heed_specials x = heed_tokenizer_specials(r->tokenizer);
    bool bracket = r->model == &heed_model_mlm, classes = words != NULL;
    heed_tokens own = {.c = r->c}, *k = classes ? &words->tokens : &own;
    bool ok = classes ? labelled_read(words, r, text, n) : heed_encode(r->tokenizer, text, n, k);
    if (ok && k->count == 0) ok = heed_fail(r->c, HEED_DATA, "the input is empty");
    ok = ok && take_ids(s, k, bracket ? x.cls : -1, bracket ? x.sep : -1) &&
         fits_block(s, text, n) && label_tokens(s, text, k, bracket && x.cls >= 0, r->tokenizer);
    heed_tokens_free(&own);
    return ok;
}

/* ---- pairs ---- */

/* n tokens of a target, and its end if it has one. */
static bool set_target(subject *s, const translator *k, const int32_t *ids, size_t n, bool ended) {
    heed_run *r = s->run;
    int count = (int)n + ended;
    if (count == 0) return heed_fail(r->c, HEED_FAILED, "the model made no token to look at");
    if (count > heed_config_int(r->config, "block"))
        return heed_fail(r->c, HEED_DATA, "the target is too long: %d tokens, the model takes %lld",
                         count, (long long)heed_config_int(r->config, "block"));
    s->read = malloc(((size_t)count + 1) * sizeof *s->read);
    s->target = malloc(((size_t)count + 1) * sizeof *s->target);
    if (!s->read || !s->target) return no_memory(r, count);
    if (n) memcpy(s->target, ids, n * sizeof *s->target);
    if (ended) s->target[n] = k->how.end;
    s->read[0] = k->begin;
    memcpy(s->read + 1, s->target, ((size_t)count - 1) * sizeof *s->read);
    s->target_count = count;
    return true;
}

/* The target: as given, or as the model makes it. */
static bool read_target(subject *s, translator *k, const char *target) {
    heed_tokens own = {.c = s->run->c};
    if (!target) return set_target(s, k, k->ids, (size_t)k->about.count, k->about.ended);
    bool ok = heed_encode(s->run->tokenizer, target, strlen(target), &own) &&
              set_target(s, k, own.ids, own.count, true);
    if (ok) warn_of_unknown(s->run->tokenizer, &own, target);
    heed_tokens_free(&own);
    return ok;
}

static bool label_target(subject *s) {
    const heed_tokenizer *k = s->run->tokenizer;
    bool ok =
        add_axis(s, "target", s->target_count) && add_axis(s, "target input", s->target_count);
    for (int i = 0; ok && i < s->target_count; i++)
        ok = set_token(s, 1, i, k, s->target[i], "", 0) && set_token(s, 2, i, k, s->read[i], "", 0);
    return ok;
}

static bool read_pair(subject *s, const char *text, size_t n, const char *target) {
    translator k;
    bool ok = translator_open(&k, s->run, NULL);
    k.quiet = true; /* labels tell */
    ok = ok && (target ? translator_read(&k, text, n) : translate(&k, text, n)) &&
         take_ids(s, &k.source, -1, -1) && read_target(s, &k, target) &&
         label_tokens(s, text, &k.source, 0, source_tokenizer(s->run)) && label_target(s);
    translator_close(&k);
    return ok;
}

/* "source -> target", or the text. */
static bool set_title(subject *s, const char *text, size_t n) {
    heed_text title = {.c = s->run->c};
    heed_text_put(&title, text, n);
    if (s->read) {
        int end = heed_tokenizer_specials(s->run->tokenizer).sep;
        bool ended = s->target[s->target_count - 1] == end;
        heed_text_put(&title, " \xe2\x86\x92 ", 5);
        if (s->target_count > ended)
            heed_decode(s->run->tokenizer, s->target, (size_t)(s->target_count - ended), &title);
        else
            heed_text_put(&title, "(nothing)", 9);
    }
    s->title = title.s ? copy_of(title.s, title.n) : NULL;
    heed_text_free(&title);
    return s->title || no_memory(s->run, s->count);
}

bool subject_text(subject *s, heed_run *r, const char *text, size_t n, const char *target) {
    const heed_model *m = r->model;
    bool pair = m == &heed_model_seq2seq || m == &heed_model_rnn;
    bool classes = m == &heed_model_textcls || m == &heed_model_tag;
    labelled_text words = {.tokens = {.c = r->c}};
    *s = (subject){.run = r};
    if (!r->tokenizer)
        return heed_fail(r->c, HEED_USAGE,
                         "the run takes pictures: expected a picture, found a text");
    if (n && is_file(text) && is_picture_name(text))
        return heed_fail(r->c, HEED_USAGE,
                         "%s is a picture: the run takes texts (%s); hint: a run of vit", text,
                         m->name);
    bool ok =
        pair ? read_pair(s, text, n, target) : read_words(s, text, n, classes ? &words : NULL);
    ok = ok && set_title(s, text, n) && ask_all(s, &words);
    labelled_free(&words);
    return ok;
}

bool subject_tokens(subject *s, heed_run *r, const int32_t *ids, int count) {
    heed_tokens none = {.c = r->c};
    heed_text title = {.c = r->c};
    *s = (subject){.run = r, .count = count, .ids = malloc(((size_t)count + 1) * sizeof *s->ids)};
    if (!s->ids) return no_memory(r, count);
    memcpy(s->ids, ids, (size_t)count * sizeof *s->ids);
    bool ok = heed_decode(r->tokenizer, ids, (size_t)count, &title) &&
              label_tokens(s, "", &none, 0, r->tokenizer) &&
              set_title(s, title.s ? title.s : "", title.n) && ask_all(s, NULL);
    heed_text_free(&title);
    return ok;
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

/* The square that the model sees, at most SIDE pixels wide, as bytes. */
static bool show_square(subject *s, const heed_picture *p) {
    int least = p->width < p->height ? p->width : p->height;
    heed_box box = {(p->width - least) / 2.0, (p->height - least) / 2.0, least, least};
    s->side = least < SIDE ? least : SIDE;
    size_t n = (size_t)s->side * (size_t)s->side * (size_t)p->channels;
    heed_real *x = malloc((n + heed_resize_work(p, s->side, s->side)) * sizeof *x);
    s->pixels = x ? malloc(n) : NULL;
    if (s->pixels) heed_picture_resize(p, box, s->side, s->side, x, x + n);
    for (size_t i = 0; s->pixels && i < n; i++)
        s->pixels[i] = (unsigned char)lround(fmin(fmax((double)x[i], 0), 255));
    free(x);
    return s->pixels || heed_fail(s->run->c, HEED_FAILED, "no memory for a picture");
}

bool picture_input(const heed_image_transform *v, const heed_picture *p, heed_real **x) {
    size_t n = (size_t)v->size * (size_t)v->size * (size_t)v->channels;
    *x = malloc((n + heed_view_work(p, v)) * sizeof **x);
    if (*x) heed_picture_view(p, v, NULL, NULL, *x, *x + n);
    return *x != NULL;
}

/* Patches row by row, after [CLS] if the model has it. */
static bool label_patches(subject *s) {
    heed_grid grid;
    s->run->model->grid(s->run->self, &grid);
    bool ok = add_axis(s, "picture", grid.first + grid.rows * grid.cols);
    s->axes[0].rows = grid.rows;
    s->axes[0].cols = grid.cols;
    s->axes[0].first = grid.first;
    for (int i = 0; ok && i < s->axes[0].count; i++)
        ok = set_patch(s, i, i - grid.first, grid.cols);
    return ok;
}

bool subject_picture(subject *s, heed_run *r, heed_picture *p, const char *name, bool convert) {
    *s = (subject){.run = r};
    bool ok =
        r->model == &heed_model_vit ||
        heed_fail(r->c, HEED_USAGE, "the model takes no pictures to attend to: %s", r->model->name);
    ok = ok && view_of(r->c, r->config, &s->view) &&
         picture_fits(r->c, p, s->view.channels, convert, name) && show_square(s, p) &&
         (picture_input(&s->view, p, &s->x) ||
          heed_fail(r->c, HEED_FAILED, "no memory for a picture")) &&
         label_patches(s) && set_title(s, name, strlen(name)) && ask_all(s, NULL);
    heed_picture_free(p);
    return ok;
}
