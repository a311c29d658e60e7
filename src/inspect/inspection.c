/* inspection.c -- one input of a run: its axes, the predictions made on it, its pass through the
 * model. */
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
static char **words_of(const heed_inspection *s, const heed_sequence *of, const char *text) {
    const heed_run *r = s->run;
    const heed_tokens *k = &of->tokens;
    size_t n = k->count, length = text ? strlen(text) : 0;
    size_t *at = heed__alloc_array(r->c, n + 1, sizeof *at);
    size_t *ends = heed__alloc_array(r->c, n + 1, sizeof *ends);
    char **words = heed__alloc_array(r->c, n + 1, sizeof *words);
    heed_text decoded = {.c = r->c};
    bool covered = false, spaced = s->example.words && of == &s->example.text;
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
            words[next] = heed__copy_text(r->c, "");
        }
        words[i] =
            end > at[i] ? word_text(r->c, text, at[i], end) : heed__copy_text(r->c, of->labels[i]);
    }
    heed_text_free(&decoded);
    heed__free(at);
    heed__free(ends);
    return words;
}

/* ---- axes ---- */

/* text: what the tokens cover; NULL: nothing. */
static void add_sequence(heed_inspection *s, const char *name, const heed_sequence *of,
                         const char *text) {
    int i = s->axis_count++;
    s->words[i] = words_of(s, of, text);
    s->axes[i] = (heed_record_axis){.name = name,
                                    .count = (int)of->tokens.count,
                                    .labels = (const char *const *)of->labels,
                                    .special = of->special,
                                    .words = (const char *const *)s->words[i]};
}

/* An axis whose labels are to be filled in, with set_label. */
static heed_record_axis *add_axis(heed_inspection *s, const char *name, int count) {
    heed_ctx *c = s->run->c;
    int i = s->axis_count++;
    s->labels[i] = heed__alloc_array(c, (size_t)count + 1, sizeof *s->labels[i]);
    s->special[i] = heed__alloc(c, (size_t)count + 1);
    if (!s->labels[i] || !s->special[i]) count = 0;
    s->axes[i] = (heed_record_axis){.name = name,
                                    .count = count,
                                    .labels = (const char *const *)s->labels[i],
                                    .special = s->special[i]};
    return &s->axes[i];
}

/* Of the last axis. */
static void set_label(heed_inspection *s, int at, bool special, const char *label) {
    int i = s->axis_count - 1;
    s->labels[i][at] = heed__copy_text(s->run->c, label);
    s->special[i][at] = special;
}

/* The decoder's input: [CLS] and the target without its last token. */
static bool add_target(heed_inspection *s) {
    const heed_sequence *target = &s->example.target;
    size_t n = target->tokens.count;
    int32_t cls = heed_tokenizer_specials(s->run->tokenizer).cls;
    s->target = target->tokens.ids;
    s->target_count = (int)n;
    s->read = heed__alloc_array(s->run->c, n, sizeof *s->read);
    add_sequence(s, "target", target, NULL);
    heed_record_axis *axis = add_axis(s, "target input", (int)n);
    char **words = heed__alloc_array(s->run->c, n + 1, sizeof *words);
    s->words[s->axis_count - 1] = words;
    axis->words = (const char *const *)words;
    for (int i = 0; s->read && words && i < axis->count; i++) {
        words[i] = heed__copy_text(s->run->c, i ? axis[-1].words[i - 1] : "[CLS]");
        s->read[i] = i ? s->target[i - 1] : cls;
        set_label(s, i, i ? target->special[i - 1] : true,
                  i ? heed_token_text(s->run->tokenizer, s->read[i]) : "[CLS]");
    }
    return heed_ctx_status(s->run->c) == HEED_OK;
}

/* Patches row by row; tokens before them are [CLS]. */
static void add_patches(heed_inspection *s, heed_grid g) {
    heed_record_axis *axis = add_axis(s, "picture", g.first + g.rows * g.cols);
    axis->rows = g.rows;
    axis->cols = g.cols;
    axis->first = g.first;
    for (int i = 0; i < axis->count; i++) {
        char label[32] = "[CLS]";
        int patch = i - g.first;
        if (patch >= 0)
            snprintf(label, sizeof label, "%d,%d", patch / g.cols + 1, patch % g.cols + 1);
        set_label(s, i, patch < 0, label);
    }
}

static void add_positions(heed_inspection *s, int count) {
    const heed_record_axis *axis = add_axis(s, "input", count);
    for (int i = 0; i < axis->count; i++) {
        char label[16];
        snprintf(label, sizeof label, "%d", i + 1);
        set_label(s, i, false, label);
    }
}

/* ---- questions ---- */

static const heed_data_kind *kind_of(const heed_inspection *s) {
    return heed_model_data(s->run->model);
}

/* A prediction about the entire input is that of [CLS], if the picture has one. */
static bool ask_all(heed_inspection *s) {
    heed_reader how = heed_run_reader(s->run);
    int positions = s->axes[s->target != NULL].count;
    s->questions = heed__alloc_array(s->run->c, (size_t)positions + 1, sizeof *s->questions);
    if (!s->questions || !kind_of(s)->ask) return s->questions != NULL;
    s->question_count = kind_of(s)->ask(&how, &s->example, positions, s->questions);
    heed_question *first = s->questions;
    if (s->question_count && first->query < 0 && s->axes[0].first) first->query = 0;
    return true;
}

bool heed__inspection_has_questions(const heed_inspection *s) {
    if (!kind_of(s)->ask)
        return heed_fail(s->run->c, HEED_USAGE,
                         "nothing is chosen here: %s predicts pixels: expected a model that "
                         "predicts a class or tokens",
                         s->run->model->name);
    return s->question_count > 0 ||
           heed_fail(s->run->c, HEED_DATA,
                     "nothing is predicted here: %.*s: expected [MASK] in the text; hint: write "
                     "[MASK] for a word",
                     (int)heed_label_cut(s->title, 60), s->title);
}

/* ---- opening and closing ---- */

/* With a target, "source -> target". */
static bool set_title(heed_inspection *s, const char *text) {
    heed_text title = {.c = s->run->c};
    const heed_sequence *target = &s->example.target;
    heed_text_put(&title, text, strlen(text));
    if (s->read) {
        int end = heed_tokenizer_specials(s->run->tokenizer).sep;
        size_t n = target->tokens.count;
        if (n && s->target[n - 1] == end) n--;
        heed_text_put(&title, " \xe2\x86\x92 ", 5);
        if (n)
            heed_decode(s->run->tokenizer, s->target, n, &title);
        else
            heed_text_put(&title, "(nothing)", 9);
    }
    s->title = heed__copy_text(s->run->c, title.s ? title.s : "");
    heed_text_free(&title);
    return s->title != NULL;
}

static bool wrong_kind(const heed_run *r) {
    return heed_fail(r->c, HEED_USAGE, "the input does not fit the model: %s reads %s",
                     r->model->name, heed_model_data(r->model)->reads);
}

/* The positions that a picture model without a grid attends to, found by a pass; 0: none. */
static int attended_positions(const heed_inspection *s) {
    const heed_run *r = s->run;
    heed_attention_info a = {.fixed = true};
    heed_model_input in;
    char weights[HEED__PATH];
    for (int i = 0; a.fixed; i++)
        if (!r->model->attending || !r->model->attending(r->self, i, &a)) return 0;
    snprintf(weights, sizeof weights, "%s.weights", a.path);
    heed_probe_clear(r->tape);
    heed_probe(r->tape, weights, false);
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    if (r->model->logits && heed__inspection_inputs(s, r->tape, 1, true, &in))
        r->model->logits(r->self, r->tape, &in);
    const heed_tensor *w = heed_probe_find(r->tape, weights);
    int count = w ? w->shape[w->dims - 1] : 0;
    heed_probe_clear(r->tape);
    return count;
}

bool heed__inspectable(const heed_inspection *s) {
    return s && s->run && s->questions && heed_ctx_status(s->run->c) == HEED_OK;
}

/* Starts an empty inspection; false if r is NULL or its context has failed. */
static bool begin(heed_inspection *s, heed_run *r) {
    if (!s) return false;
    *s = (heed_inspection){.run = r};
    return r && heed_ctx_status(r->c) == HEED_OK;
}

bool heed_inspection_open(heed_inspection *s, heed_run *r, heed_example *example,
                          const char *title) {
    if (!begin(s, r) || !example) return false;
    s->example = *example;
    *example = (heed_example){0};
    bool picture = kind_of(s)->images, target = kind_of(s)->target;
    if ((picture ? !s->example.x : !s->example.text.labels) ||
        (target && !s->example.target.labels))
        return wrong_kind(r);
    heed_grid grid;
    int positions;
    if (picture) {
        const heed_image_transform *v = &s->example.transform;
        s->x = s->example.x;
        s->dims = 4;
        memcpy(s->shape, (int[]){1, v->size, v->size, v->channels}, sizeof s->shape);
        if (r->model->grid && r->model->grid(r->self, &grid))
            add_patches(s, grid);
        else if ((positions = attended_positions(s)) > 0)
            add_positions(s, positions);
    } else {
        s->ids = s->example.text.tokens.ids;
        s->count = (int)s->example.text.tokens.count;
        add_sequence(s, target ? "source" : "text", &s->example.text, *title ? title : NULL);
    }
    if (target && !add_target(s)) return false;
    return set_title(s, title) && ask_all(s) && heed_ctx_status(r->c) == HEED_OK;
}

/* The most probable token at each step. */
static bool make_target(const heed_run *r, const heed_reader *how, heed_example *e) {
    heed_generated made;
    return heed_make_target(r, NULL, e, &made) && heed_example_made(how, made.ended, e);
}

bool heed_inspection_text(heed_inspection *s, heed_run *r, const char *text, size_t n,
                          const char *target) {
    heed_example e = {0};
    if (!begin(s, r) || !text) return false;
    heed_reader how = heed_run_reader(r);
    heed_text title = {.c = r->c};
    bool ok = heed_example_text(&how, text, n, &e);
    if (ok && kind_of(s)->target)
        ok = target ? heed_example_target(&how, target, strlen(target), &e)
                    : make_target(r, &how, &e);
    ok = ok && heed_text_put(&title, text, n) && heed_inspection_open(s, r, &e, title.s);
    heed_text_free(&title);
    heed_example_free(&e);
    return ok;
}

/* The text of tokens; without a tokenizer their ids, separated by blanks. */
static bool decode(const heed_run *r, const int32_t *ids, size_t n, heed_text *out) {
    if (r->tokenizer) return heed_decode(r->tokenizer, ids, n, out);
    for (size_t i = 0; i < n; i++) heed_text_add(out, "%s%d", i ? " " : "", (int)ids[i]);
    return heed_ctx_status(r->c) == HEED_OK;
}

bool heed_inspection_tokens(heed_inspection *s, heed_run *r, const int32_t *ids, int count) {
    heed_example e = {0};
    if (!begin(s, r) || !ids) return false;
    if (count < 0) count = 0;
    heed_reader how = heed_run_reader(r);
    heed_text title = {.c = r->c};
    bool ok = heed__example_tokens(&how, ids, (size_t)count, &e) &&
              decode(r, ids, (size_t)count, &title) &&
              heed_inspection_open(s, r, &e, title.s ? title.s : "");
    heed_text_free(&title);
    heed_example_free(&e);
    return ok;
}

bool heed_inspection_caption(heed_inspection *s, heed_run *r, heed_picture *p, const char *name,
                             const char *caption) {
    heed_example e = {0};
    if (!begin(s, r) || !name) return false;
    heed_reader how = heed_run_reader(r);
    how.show = true;
    bool ok = heed_example_picture(&how, p, name, &e);
    if (ok && kind_of(s)->target)
        ok = caption ? heed_example_target(&how, caption, strlen(caption), &e)
                     : make_target(r, &how, &e);
    ok = ok && heed_inspection_open(s, r, &e, name);
    heed_example_free(&e);
    return ok;
}

bool heed_inspection_picture(heed_inspection *s, heed_run *r, heed_picture *p, const char *name) {
    return heed_inspection_caption(s, r, p, name, NULL);
}

bool heed_inspection_numbers(heed_inspection *s, heed_run *r, const heed_real *x, int dims,
                             const int *shape, const char *title) {
    size_t n = dims == 2 || dims == 3;
    if (!begin(s, r) || !x || !shape) return false;
    s->dims = dims;
    if (heed_option_find(kind_of(s)->options, "tokenizer") || kind_of(s)->images)
        return wrong_kind(r);
    for (int i = 0; i < dims && n; i++) n *= (size_t)(shape[i] > 0 ? shape[i] : 0);
    if (n == 0 || shape[0] != 1)
        return heed_fail(r->c, HEED_USAGE,
                         "the numbers have no size: expected (1,T) or (1,T,d), T and d at least 1");
    memcpy(s->shape, shape, (size_t)dims * sizeof *shape);
    s->x = s->example.x = heed__alloc_array(r->c, n, sizeof *x);
    if (s->x) memcpy(s->x, x, n * sizeof *x);
    add_positions(s, shape[1]);
    return set_title(s, title ? title : "") && ask_all(s) && heed_ctx_status(r->c) == HEED_OK;
}

void heed_inspection_free(heed_inspection *s) {
    if (!s) return;
    for (int a = 0; a < s->axis_count; a++) {
        for (int i = 0; s->labels[a] && i < s->axes[a].count; i++) heed__free(s->labels[a][i]);
        for (int i = 0; s->words[a] && i < s->axes[a].count; i++) heed__free(s->words[a][i]);
        heed__free(s->labels[a]);
        heed__free(s->special[a]);
        heed__free(s->words[a]);
    }
    void *own[] = {s->questions, s->title, s->read};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) heed__free(own[i]);
    heed_example_free(&s->example);
    *s = (heed_inspection){.run = NULL};
}

/* ---- the pass ---- */

static heed_tensor *ids_of(heed_tape *t, const int32_t *ids, int n, int rows) {
    int32_t *all = heed__alloc_array(heed_tape_ctx(t), (size_t)n * (size_t)rows, sizeof *all);
    for (int r = 0; all && r < rows; r++) memcpy(all + r * n, ids, (size_t)n * sizeof *ids);
    heed_tensor *y = heed_ids(t, all, rows, n);
    heed__free(all);
    return y;
}

static heed_tensor *numbers_of(const heed_inspection *s, heed_tape *t, int rows) {
    int shape[HEED_DIMS];
    memcpy(shape, s->shape, sizeof shape);
    shape[0] = rows;
    heed_tensor *x = heed_input(t, NULL, s->dims, shape);
    size_t n = x ? x->size / (size_t)rows : 0;
    for (int r = 0; x && r < rows; r++) memcpy(x->x + (size_t)r * n, s->x, n * sizeof *x->x);
    return x;
}

bool heed__inspection_inputs(const heed_inspection *s, heed_tape *t, int rows, bool all,
                             heed_model_input *out) {
    bool masked = kind_of(s)->mask && !all && s->question_count > 0;
    *out =
        (heed_model_input){.x = s->x ? numbers_of(s, t, rows) : ids_of(t, s->ids, s->count, rows)};
    if (s->read) out->target = ids_of(t, s->read, s->target_count, rows);
    if (masked) { /* in the order of the rows of their logits */
        int n = s->question_count;
        int32_t *list = heed__alloc_array(s->run->c, (size_t)n, sizeof *list);
        for (int i = 0; list && i < n; i++) list[s->questions[i].row] = s->questions[i].query;
        out->masked_positions = heed_input_ids(t, list, 1, &n);
        heed__free(list);
    }
    return heed_ctx_status(s->run->c) == HEED_OK;
}

heed_tensor *heed_inspection_logits(const heed_inspection *s, heed_tape *t) {
    heed_model_input in;
    if (!heed__inspectable(s) || !t) return NULL;
    const heed_model *m = s->run->model;
    if (!m->logits) {
        heed_fail(s->run->c, HEED_USAGE, "model %s has no logits", m->name);
        return NULL;
    }
    if (!heed__inspection_inputs(s, t, 1, false, &in)) return NULL;
    heed_tensor *y = m->logits(s->run->self, t, &in);
    if (!y || y->dims == 2) return y;
    return heed_reshape(t, y, 2, (int[]){-1, y->shape[y->dims - 1]});
}

/* Whether a class is a special token, which no word of a text is, of a model that guesses words. */
static bool is_no_word(const heed_inspection *s, int class) {
    if (!kind_of(s)->mask) return false;
    heed_specials x = heed_tokenizer_specials(s->run->tokenizer);
    return class == x.unk || class == x.pad || class == x.cls || class == x.sep || class == x.mask;
}

/* Whether class a comes before b, which has a lower index and so comes first in a tie. */
static bool before(const heed_inspection *s, const heed_real *y, int a, int b) {
    bool last = is_no_word(s, a);
    return last != is_no_word(s, b) ? !last : y[a] > y[b];
}

int heed_inspection_guesses(const heed_inspection *s, const heed_question *q, const heed_tensor *y,
                            int top, int *classes, heed_real *p) {
    if (!heed__inspectable(s) || !q || !y || !classes || !p || top < 1) return 0;
    int n = y->shape[1], count = 0;
    const heed_real *row = y->x + (size_t)q->row * (size_t)n;
    double most = (double)row[heed__largest(row, n)], sum = 0;
    for (int i = 0; i < n; i++) {
        sum += exp((double)row[i] - most);
        if (count == top && !before(s, row, i, classes[top - 1])) continue;
        int at = count < top ? count++ : top - 1;
        for (; at > 0 && before(s, row, i, classes[at - 1]); at--) classes[at] = classes[at - 1];
        classes[at] = i;
    }
    for (int i = 0; i < count; i++) p[i] = (heed_real)(exp((double)row[classes[i]] - most) / sum);
    return count;
}

int heed_inspection_class(const heed_inspection *s, const heed_question *q, const heed_tensor *y) {
    if (!s || !q) return -1;
    if (s->target) return s->target[q->query];
    int class = -1;
    heed_inspection_guesses(s, q, y, 1, &class, &(heed_real){0});
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

heed_stack heed__inspection_stack(const heed_inspection *s) {
    const heed_model *m = s->run->model;
    heed_attention_info first;
    if (s->read) return HEED_CROSS;
    if (m->attending && m->attending(s->run->self, 0, &first)) return first.stack;
    return kind_of(s)->ahead ? HEED_DECODER : HEED_ENCODER;
}
