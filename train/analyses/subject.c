/* subject.c -- inputs made ready: tokens with their labels, pictures as patches, and the questions
 * that a model answers there. */
#include "analyses/capture.h"
#include "cli/files.h"
#include "kinds/image.h"
#include "kinds/inputs.h"
#include "kinds/pairs.h"

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

/* A token of the axis. */
static bool set_token(subject *s, int axis, int at, const heed_tokenizer *k, int32_t id) {
    heed_specials x = heed_tokenizer_specials(k);
    const char *own = heed_token_text(k, id);
    s->labels[axis][at] = copy_of(own, strlen(own));
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

static bool ask_all(subject *s, const heed_example *words) {
    const heed_model *m = s->run->model;
    int mask = s->run->tokenizer ? heed_tokenizer_specials(s->run->tokenizer).mask : -1;
    if (!question_capacity(s, s->axes[s->axis_count > 1].count)) return false;
    if (m == &heed_model_gpt) ask_tokens(s, 0, 1);
    if (s->target_count) ask_tokens(s, 1, 0);
    if (m == &heed_model_vit) ask(s, 0, s->axes[0].first ? 0 : -1, 0, "the class");
    if (m == &heed_model_textcls) ask(s, 0, -1, 0, "the class");
    for (int i = 0; m == &heed_model_mlm && i < s->count; i++)
        if (s->ids[i] == mask) ask(s, 0, i, s->question_count, "[MASK]");
    for (size_t i = 0; m == &heed_model_tag && i < words->word_count; i++)
        ask(s, 0, (int)words->words[i], (int)words->words[i], "the label");
    return true;
}

/* ---- texts ---- */

/* The axis of a sequence, whose labels it takes over. */
static void take_axis(subject *s, const char *name, heed_sequence *of) {
    int at = s->axis_count++;
    s->labels[at] = of->labels;
    s->special[at] = of->special;
    s->axes[at] = (heed_record_axis){.name = name,
                                     .count = (int)of->tokens.count,
                                     .labels = (const char *const *)of->labels,
                                     .special = of->special};
    of->labels = NULL;
    of->special = NULL;
}

/* The tokens of a sequence, taken over. */
static int32_t *take_ids(heed_sequence *of) {
    int32_t *ids = of->tokens.ids;
    of->tokens.ids = NULL;
    return ids;
}

/* What the decoder reads: [CLS] and the target but for its last token. */
static bool set_read(subject *s) {
    const heed_tokenizer *k = s->run->tokenizer;
    int count = s->target_count;
    bool ok = add_axis(s, "target input", count);
    s->read = malloc(((size_t)count + 1) * sizeof *s->read);
    if (!ok || !s->read) return no_memory(s->run, count);
    s->read[0] = heed_tokenizer_specials(k).cls;
    memcpy(s->read + 1, s->target, ((size_t)count - 1) * sizeof *s->read);
    for (int i = 0; ok && i < count; i++) ok = set_token(s, 2, i, k, s->read[i]);
    return ok;
}

/* The target: as given, or as the model makes it. */
static bool read_target(subject *s, const heed_reader *how, const char *text, size_t n,
                        const char *target, heed_example *e) {
    translator k;
    if (target) return heed_example_target(how, target, strlen(target), e);
    bool ok = translator_open(&k, s->run, NULL);
    k.quiet = true; /* the source has said it */
    ok = ok && translate(&k, text, n) &&
         heed_example_made(how, k.ids, (size_t)k.about.count, k.about.ended, e);
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

/* Takes over what was read of a text, or of a pair. */
static bool take_text(subject *s, heed_example *e) {
    bool pair = s->run->model->kind == HEED_INPUT_PAIR;
    s->count = (int)e->text.tokens.count;
    s->ids = take_ids(&e->text);
    take_axis(s, pair ? "source" : "text", &e->text);
    if (!pair) return true;
    s->target_count = (int)e->target.tokens.count;
    s->target = take_ids(&e->target);
    take_axis(s, "target", &e->target);
    return set_read(s);
}

bool subject_text(subject *s, heed_run *r, const char *text, size_t n, const char *target) {
    heed_example e = {0};
    heed_reader how = heed_run_reader(r);
    *s = (subject){.run = r};
    if (r->tokenizer && n && is_file(text) && is_picture_name(text))
        return heed_fail(r->c, HEED_USAGE,
                         "%s is a picture: the run takes texts (%s); hint: a run of vit", text,
                         r->model->name);
    bool ok = heed_example_text(&how, text, n, &e);
    if (ok && r->model->kind == HEED_INPUT_PAIR) ok = read_target(s, &how, text, n, target, &e);
    ok = ok && take_text(s, &e) && set_title(s, text, n) && ask_all(s, &e);
    heed_example_free(&e);
    return ok;
}

bool subject_tokens(subject *s, heed_run *r, const int32_t *ids, int count) {
    heed_example e = {0};
    heed_reader how = heed_run_reader(r);
    heed_text title = {.c = r->c};
    *s = (subject){.run = r};
    bool ok = heed_example_tokens(&how, ids, (size_t)count, &e) &&
              heed_decode(r->tokenizer, ids, (size_t)count, &title) && take_text(s, &e) &&
              set_title(s, title.s ? title.s : "", title.n) && ask_all(s, &e);
    heed_text_free(&title);
    heed_example_free(&e);
    return ok;
}

/* ---- pictures ---- */

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
    heed_example e = {0};
    heed_reader how = heed_run_reader(r);
    how.convert = convert;
    how.show = true;
    *s = (subject){.run = r};
    bool ok =
        r->model == &heed_model_vit ||
        heed_fail(r->c, HEED_USAGE, "the model takes no pictures to attend to: %s", r->model->name);
    ok = ok && heed_example_picture(&how, p, name, &e);
    if (ok) {
        s->view = e.transform;
        s->x = e.x;
        s->pixels = e.shown.pixels;
        s->side = e.shown.width;
        e.x = NULL;
        e.shown.pixels = NULL;
    }
    ok = ok && label_patches(s) && set_title(s, name, strlen(name)) && ask_all(s, NULL);
    heed_example_free(&e);
    heed_picture_free(p);
    return ok;
}
