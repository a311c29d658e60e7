/* example.c -- one input of a run: its axes, and the predictions that are made on it. */
#include "core/core.h"
#include "data/kind.h"
#include "inspect/inspect.h"
#include "text/classes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- words ---- */

/* Appends the text of token i, as it is decoded after those before it: with a space if it begins a
 * word. The bytes of a character are several tokens, of which the last one changes what the others
 * were decoded to. */
static void spell(const heed_run *r, const heed_sequence *of, size_t i, size_t *at, size_t *ends,
                  heed_text *out) {
    heed_text before = {.c = r->c}, all = {.c = r->c};
    size_t window = i < 3 ? i : 3, same = 0;
    heed_decode(r->tokenizer, of->tokens.ids + i - window, window, &before);
    heed_decode(r->tokenizer, of->tokens.ids + i - window, window + 1, &all);
    while (same < before.n && same < all.n && before.s[same] == all.s[same]) same++;
    while (same && same < all.n && (all.s[same] & 0xC0) == 0x80) same--;
    out->n -= out->n < before.n - same ? out->n : before.n - same;
    for (size_t k = i - window; k < i; k++) {
        if (at[k] > out->n) at[k] = out->n + 1;
        if (ends[k] > out->n) ends[k] = out->n + 1;
    }
    at[i] = out->n + (before.n > same);
    heed_text_put(out, all.s ? all.s + same : "", all.n - same);
    ends[i] = out->n;
    heed_text_free(&before);
    heed_text_free(&all);
}

/* Whether a word begins at byte `begin` after a token that ends at `end`: there is a space or a
 * punctuation mark; of words that are given (spaced), only a space. */
static bool divides(const char *text, size_t end, size_t begin, bool spaced) {
    bool within = (text[begin] & 0xC0) == 0x80; /* a character */
    if (within || begin < end) return false;
    do end--;
    while (end && (text[end] & 0xC0) == 0x80);
    while (end <= begin && text[end]) {
        int32_t c;
        end += heed_utf8_read(text + end, SIZE_MAX, &c);
        if (heed__is_space(c) || (!spaced && heed__is_single(c))) return true;
    }
    return false;
}

/* Copies what a word covers, without spaces at its ends, unless there is nothing else. */
static char *word_text(heed_ctx *c, const char *text, size_t begin, size_t end) {
    heed_text word = {.c = c};
    size_t from = begin, to = end;
    while (from < to && strchr(" \t\r\n", text[from])) from++;
    while (to > from && strchr(" \t\r\n", text[to - 1])) to--;
    if (from == to) from = begin, to = end;
    heed_text_put(&word, text + from, to - from);
    return word.s;
}

/* The words of tokens: those of the text that they cover, else as they are decoded. */
static const char *const *words_of(const heed_run *r, heed_example *e, const heed_sequence *of,
                                   const char *text) {
    const heed_tokens *k = &of->tokens;
    size_t n = k->count, length = text ? strlen(text) : 0;
    size_t *at = heed__alloc_array(r->c, n + 1, sizeof *at);
    size_t *ends = heed__alloc_array(r->c, n + 1, sizeof *ends);
    const char **words = heed__example_room(r->c, e, n, sizeof *words);
    heed_text decoded = {.c = r->c};
    bool covered = false, spaced = e->words && of == &e->text;
    for (size_t i = 0; i < n; i++) covered |= k->end[i] > k->begin[i];
    for (size_t i = 0; i < n; i++) covered &= k->end[i] <= length;
    bool ok = at && ends && words;
    for (size_t i = 0; ok && i < n; i++) {
        at[i] = covered ? k->begin[i] : decoded.n;
        ends[i] = covered ? k->end[i] : decoded.n;
        if (!covered && r->tokenizer && !of->special[i]) spell(r, of, i, at, ends, &decoded);
    }
    if (!covered) text = decoded.s;
    for (size_t i = 0, next; ok && i < n; i = next) {
        size_t end = ends[i];
        for (next = i + 1;
             next < n && end > at[i] && !of->special[next] && (!covered || ends[next] > at[next]) &&
             !divides(text, ends[next - 1], at[next], spaced);
             next++) {
            if (ends[next] > end) end = ends[next];
            words[next] = "";
        }
        words[i] = end > at[i] ? heed__example_own(r->c, e, word_text(r->c, text, at[i], end))
                               : of->labels[i];
    }
    heed_text_free(&decoded);
    heed__free(at);
    heed__free(ends);
    return words;
}

/* ---- axes ---- */

/* text: what the tokens cover; NULL: nothing. */
static void add_sequence(const heed_run *r, heed_example *e, const char *name,
                         const heed_sequence *of, const char *text) {
    e->axes[e->axis_count++] = (heed_record_axis){.name = name,
                                                  .count = (int)of->tokens.count,
                                                  .labels = (const char *const *)of->labels,
                                                  .special = of->special,
                                                  .words = words_of(r, e, of, text)};
}

/* The decoder's input: [CLS] and the target without its last token. */
static void add_target(const heed_run *r, heed_example *e) {
    add_sequence(r, e, "target", &e->target, NULL);
    heed_record_axis axis = e->axes[e->axis_count - 1];
    const char **labels = heed__example_room(r->c, e, (size_t)axis.count, sizeof *labels);
    const char **words = heed__example_room(r->c, e, (size_t)axis.count, sizeof *words);
    unsigned char *special = heed__example_room(r->c, e, (size_t)axis.count, 1);
    e->read = heed__example_room(r->c, e, (size_t)axis.count, sizeof *e->read);
    if (!axis.words || !labels || !words || !special || !e->read) return;
    labels[0] = words[0] = "[CLS]";
    special[0] = true;
    e->read[0] = heed_tokenizer_specials(r->tokenizer).cls;
    for (int i = 1; i < axis.count; i++) {
        labels[i] = axis.labels[i - 1];
        words[i] = axis.words[i - 1];
        special[i] = axis.special[i - 1];
        e->read[i] = e->target.tokens.ids[i - 1];
    }
    axis.name = "target input";
    axis.labels = labels;
    axis.words = words;
    axis.special = special;
    e->axes[e->axis_count++] = axis;
}

/* Patches row by row after [CLS], named by row and column; or positions, by their number. */
static void add_positions(heed_ctx *c, heed_example *e, const char *name, int count, heed_grid g) {
    enum { LABEL = 24 };
    const char **labels = heed__example_room(c, e, (size_t)count, sizeof *labels);
    unsigned char *special = heed__example_room(c, e, (size_t)count, 1);
    char *text = heed__example_room(c, e, (size_t)count, LABEL);
    if (!labels || !special || !text) return;
    for (int i = 0; i < count; i++, text += LABEL) {
        int patch = i - g.first;
        labels[i] = text;
        special[i] = patch < 0;
        if (patch < 0)
            memcpy(text, "[CLS]", 6);
        else if (g.cols)
            snprintf(text, LABEL, "%d,%d", patch / g.cols + 1, patch % g.cols + 1);
        else
            snprintf(text, LABEL, "%d", i + 1);
    }
    e->axes[e->axis_count++] = (heed_record_axis){.name = name,
                                                  .count = count,
                                                  .labels = labels,
                                                  .special = special,
                                                  .rows = g.rows,
                                                  .cols = g.cols,
                                                  .first = g.first};
}

/* The positions that a picture model without a grid attends to, found by a pass; 0: none. */
static int attended_positions(const heed_run *r, const heed_example *e) {
    heed_attention_info a = {.fixed = true};
    char weights[HEED__PATH];
    const char *keep = weights;
    for (int i = 0; a.fixed; i++)
        if (!r->model->attending || !r->model->attending(r->self, i, &a)) return 0;
    snprintf(weights, sizeof weights, "%s.weights", a.path);
    if (r->model->logits)
        heed__run_example(r, e, &(heed__passing){.keep = &keep, .keep_count = 1, .rows = 1});
    const heed_tensor *w = heed_probe_find(r->tape, weights);
    int count = w ? w->shape[w->dims - 1] : 0;
    heed_probe_clear(r->tape);
    return count;
}

static void add_picture(const heed_run *r, heed_example *e) {
    heed_grid grid = {0};
    int count;
    if (r->model->grid && r->model->grid(r->self, &grid))
        add_positions(r->c, e, "picture", grid.first + grid.rows * grid.cols, grid);
    else if ((count = attended_positions(r, e)) > 0)
        add_positions(r->c, e, "input", count, (heed_grid){0});
}

/* ---- questions ---- */

/* A prediction about the entire input is that of [CLS], if the picture has one. */
static bool ask_all(const heed_run *r, heed_example *e) {
    const heed_data_kind *kind = heed_model_data(r->model);
    heed_reader how = heed_run_reader(r);
    int positions = e->axes[e->read != NULL].count;
    heed_example_question *first = e->questions =
        heed__example_room(r->c, e, (size_t)positions, sizeof *first);
    if (!first || !kind->ask) return first != NULL;
    e->question_count = kind->ask(&how, e, positions, first);
    if (e->question_count && first->query < 0 && e->axes[0].first) first->query = 0;
    return true;
}

bool heed__has_questions(const heed_run *r, const heed_example *e) {
    if (!heed_model_data(r->model)->ask)
        return heed_fail(r->c, HEED_USAGE,
                         "nothing is chosen here: %s predicts pixels: expected a model that "
                         "predicts a class or tokens",
                         r->model->name);
    return e->question_count > 0 ||
           heed_fail(r->c, HEED_DATA,
                     "nothing is predicted here: %.*s: expected [MASK] in the text; hint: write "
                     "[MASK] for a word",
                     (int)heed_label_cut(e->title, 60), e->title);
}

/* ---- reading ---- */

/* With a target, "source -> target". */
static bool set_title(const heed_run *r, const char *text, heed_example *e) {
    heed_text title = {.c = r->c};
    heed_text_put(&title, text, strlen(text));
    if (e->read) {
        const heed_tokens *k = &e->target.tokens;
        size_t n = k->count - (k->ids[k->count - 1] == heed_tokenizer_specials(r->tokenizer).sep);
        heed_text_put(&title, " \xe2\x86\x92 ", 5);
        if (n)
            heed_decode(r->tokenizer, k->ids, n, &title);
        else
            heed_text_put(&title, "(nothing)", 9);
    }
    e->title = heed__example_own(r->c, e, heed__copy_text(r->c, title.s ? title.s : ""));
    heed_text_free(&title);
    return e->title != NULL;
}

bool heed__inspectable(const heed_run *r, const heed_example *e) {
    return r && e && !heed__stopped(r->c) &&
           (e->questions ||
            heed_fail(r->c, HEED_USAGE, "the example has no axes: expected one read by the run"));
}

bool heed_run_example(const heed_run *r, const char *title, heed_example *e) {
    if (!r || !title || !e || heed__stopped(r->c)) return false;
    const heed_data_kind *kind = heed_model_data(r->model);
    bool numbers = e->dims == 2 || e->dims == 3;
    bool fits = kind->images ? e->dims == 4
                : numbers    ? !heed_option_find(kind->options, "tokenizer")
                             : e->text.labels != NULL;
    e->read = NULL;
    e->questions = NULL;
    e->axis_count = e->question_count = 0;
    memset(e->axes, 0, sizeof e->axes);
    if (!fits || (kind->target && !e->target.labels))
        return heed_fail(r->c, HEED_USAGE, "the input does not fit the model: %s reads %s",
                         r->model->name, kind->reads);
    if (kind->images)
        add_picture(r, e);
    else if (numbers)
        add_positions(r->c, e, "input", e->shape[1], (heed_grid){0});
    else
        add_sequence(r, e, kind->target ? "source" : "text", &e->text, *title ? title : NULL);
    if (kind->target) add_target(r, e);
    return set_title(r, title, e) && ask_all(r, e) && !heed__stopped(r->c);
}

/* Reads the target; NULL: the most probable token at each step. */
static bool add_read(const heed_run *r, const heed_reader *how, const char *target,
                     const char *title, heed_example *e) {
    heed_generated made;
    bool ok = !how->kind->target || (target ? heed_example_target(how, target, strlen(target), e)
                                            : heed_make_target(r, NULL, e, &made) &&
                                                  heed_example_made(how, made.ended, e));
    return ok && heed_run_example(r, title, e);
}

bool heed_run_text(const heed_run *r, const char *text, size_t n, const char *target,
                   heed_example *out) {
    if (!r || !text || !out || heed__stopped(r->c)) return false;
    heed_reader how = heed_run_reader(r);
    heed_text title = {.c = r->c};
    bool ok = heed_example_text(&how, text, n, out) && heed_text_put(&title, text, n) &&
              add_read(r, &how, target, title.s, out);
    heed_text_free(&title);
    return ok;
}

bool heed_run_tokens(const heed_run *r, const int32_t *ids, int count, heed_example *out) {
    if (!r || !ids || !out || heed__stopped(r->c)) return false;
    size_t n = count > 0 ? (size_t)count : 0;
    heed_reader how = heed_run_reader(r);
    heed_text title = {.c = r->c};
    bool ok = heed__example_tokens(&how, ids, n, out) && heed_text_put(&title, "", 0) &&
              (!r->tokenizer || heed_decode(r->tokenizer, ids, n, &title));
    for (size_t i = 0; ok && !r->tokenizer && i < n; i++)
        ok = heed_text_add(&title, "%s%d", i ? " " : "", (int)ids[i]);
    ok = ok && heed_run_example(r, title.s, out);
    heed_text_free(&title);
    return ok;
}

bool heed_run_picture(const heed_run *r, heed_picture *p, const char *name, const char *caption,
                      heed_example *out) {
    if (!r || !name || !out || heed__stopped(r->c)) return false;
    heed_reader how = heed_run_reader(r);
    how.show = true;
    return heed_example_picture(&how, p, name, out) && add_read(r, &how, caption, name, out);
}

bool heed_run_numbers(const heed_run *r, const heed_real *x, int dims, const int *shape,
                      const char *title, heed_example *out) {
    size_t n = dims == 2 || dims == 3;
    if (!r || !x || !shape || !out || heed__stopped(r->c)) return false;
    for (int i = 0; i < dims && n; i++) n *= (size_t)(shape[i] > 0 ? shape[i] : 0);
    if (n == 0 || shape[0] != 1)
        return heed_fail(r->c, HEED_USAGE,
                         "the numbers have no size: expected (1,T) or (1,T,d), T and d at least 1");
    heed_example_free(out);
    out->x = heed__alloc_array(r->c, n, sizeof *x);
    if (!out->x) return false;
    memcpy(out->x, x, n * sizeof *x);
    out->dims = dims;
    memcpy(out->shape, shape, (size_t)dims * sizeof *shape);
    return heed_run_example(r, title ? title : "", out);
}

/* ---- guesses ---- */

/* Whether a class is a special token, which no word of a text is, of a model that guesses words. */
static bool is_no_word(const heed_run *r, int class) {
    if (!heed_model_data(r->model)->mask) return false;
    heed_specials x = heed_tokenizer_specials(r->tokenizer);
    return class == x.unk || class == x.pad || class == x.cls || class == x.sep || class == x.mask;
}

/* Whether class a comes before b, which has a lower index and so comes first in a tie. */
static bool before(const heed_run *r, const heed_real *y, int a, int b) {
    bool last = is_no_word(r, a);
    return last != is_no_word(r, b) ? !last : y[a] > y[b];
}

int heed_run_guesses(const heed_run *r, const heed_example_question *q, const heed_tensor *y,
                     int top, int *classes, heed_real *p) {
    if (!r || !q || !y || !classes || !p || top < 1 || heed__stopped(r->c)) return 0;
    int n = y->shape[1], count = 0;
    const heed_real *row = y->x + (size_t)q->row * (size_t)n;
    double most = (double)row[heed__largest(row, n)], sum = 0;
    for (int i = 0; i < n; i++) {
        sum += exp((double)row[i] - most);
        if (count == top && !before(r, row, i, classes[top - 1])) continue;
        int at = count < top ? count++ : top - 1;
        for (; at > 0 && before(r, row, i, classes[at - 1]); at--) classes[at] = classes[at - 1];
        classes[at] = i;
    }
    for (int i = 0; i < count; i++) p[i] = (heed_real)(exp((double)row[classes[i]] - most) / sum);
    return count;
}

int heed__class_of(const heed_run *r, const heed_example *e, const heed_example_question *q,
                   const heed_tensor *y) {
    if (e->read) return e->target.tokens.ids[q->query];
    int class = -1;
    heed_run_guesses(r, q, y, 1, &class, &(heed_real){0});
    return class;
}

const char *heed_class_label(const heed_run *r, int class_index, char number[16]) {
    if (!r) return "?";
    const heed_data_kind *kind = heed_model_data(r->model);
    bool tokens = kind->mask || kind->ahead || kind->target;
    if (tokens && r->tokenizer) return heed_token_text(r->tokenizer, class_index);
    if (r->labels && class_index >= 0 && class_index < r->label_count)
        return r->labels[class_index];
    snprintf(number, 16, "%d", class_index);
    return number;
}

heed_stack heed__example_stack(const heed_run *r, const heed_example *e) {
    const heed_model *m = r->model;
    heed_attention_info first;
    if (e->read) return HEED_CROSS;
    if (m->attending && m->attending(r->self, 0, &first)) return first.stack;
    return heed_model_data(m)->ahead ? HEED_DECODER : HEED_ENCODER;
}
