/* inspection.c -- one input of a run: its axes, the predictions made on it, its pass through the
 * model. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <stdio.h>
#include <string.h>

static void *copy_of(heed_ctx *c, const void *from, size_t count, size_t each) {
    void *copy = heed__alloc_array(c, count, each);
    return copy && count ? memcpy(copy, from, count * each) : copy;
}

/* ---- axes ---- */

/* Labels and marks of special tokens, to be filled in. */
typedef struct {
    char **label;
    unsigned char *special;
} marks;

static marks add_axis(heed_inspection *e, const char *name, int count) {
    size_t n = (size_t)count;
    marks m = {heed__alloc_array(e->run->c, n + 1, sizeof *m.label),
               heed__alloc_array(e->run->c, n + 1, 1)};
    e->labels[e->axis_count] = m.label;
    e->special[e->axis_count] = m.special;
    e->axes[e->axis_count++] = (heed_record_axis){.name = name,
                                                  .count = m.label && m.special ? count : 0,
                                                  .labels = (const char *const *)m.label,
                                                  .special = m.special};
    return m;
}

static void set_token(const heed_inspection *e, marks m, int at, const heed_tokenizer *k,
                      int32_t id) {
    heed_specials x = heed_tokenizer_specials(k);
    m.label[at] = heed__copy_text(e->run->c, heed_token_text(k, id));
    m.special[at] = id == x.cls || id == x.sep || id == x.pad || id == x.newline;
}

/* A token that the vocabulary lacks is labelled by what stands in the text. */
static bool add_text(heed_inspection *e, const heed_inspection_args *a, const heed_tokenizer *k,
                     const char *name) {
    heed_ctx *c = e->run->c;
    marks m = add_axis(e, name, a->count);
    int unknown = heed_tokenizer_specials(k).unk;
    for (int i = 0; i < e->axes[0].count; i++) {
        size_t n = a->text ? a->end[i] - a->begin[i] : 0;
        set_token(e, m, i, k, a->ids[i]);
        if (n == 0 || a->ids[i] != unknown) continue;
        heed__free(m.label[i]);
        m.label[i] = heed__alloc(c, n + 1);
        if (m.label[i]) memcpy(m.label[i], a->text + a->begin[i], n);
    }
    e->count = a->count;
    e->ids = copy_of(c, a->ids, (size_t)a->count, sizeof *a->ids);
    return heed_ctx_status(c) == HEED_OK;
}

/* The target, and what the decoder reads: [CLS] and the target without its last token. */
static bool add_target(heed_inspection *e, const heed_inspection_args *a) {
    const heed_tokenizer *k = e->run->tokenizer;
    size_t n = (size_t)a->target_count;
    e->target_count = a->target_count;
    e->target = copy_of(e->run->c, a->target, n, sizeof *a->target);
    e->read = copy_of(e->run->c, a->target, n, sizeof *a->target);
    marks target = add_axis(e, "target", a->target_count);
    marks read = add_axis(e, "target input", a->target_count);
    if (heed_ctx_status(e->run->c) != HEED_OK) return false;
    memmove(e->read + 1, e->target, (n - 1) * sizeof *e->read);
    e->read[0] = heed_tokenizer_specials(k).cls;
    for (int i = 0; i < e->target_count; i++) {
        set_token(e, target, i, k, e->target[i]);
        set_token(e, read, i, k, e->read[i]);
    }
    return heed_ctx_status(e->run->c) == HEED_OK;
}

/* Patches row by row; what stands before them is [CLS]. */
static void add_patches(heed_inspection *e, heed_grid g) {
    marks m = add_axis(e, "picture", g.first + g.rows * g.cols);
    heed_record_axis *axis = &e->axes[0];
    axis->rows = g.rows;
    axis->cols = g.cols;
    axis->first = g.first;
    for (int i = 0; i < axis->count; i++) {
        char label[32] = "[CLS]";
        int patch = i - g.first;
        if (patch >= 0)
            snprintf(label, sizeof label, "%d,%d", patch / g.cols + 1, patch % g.cols + 1);
        m.label[i] = heed__copy_text(e->run->c, label);
        m.special[i] = patch < 0;
    }
}

static void add_positions(heed_inspection *e, int count) {
    marks m = add_axis(e, "input", count);
    for (int i = 0; i < e->axes[0].count; i++) {
        char label[16];
        snprintf(label, sizeof label, "%d", i + 1);
        m.label[i] = heed__copy_text(e->run->c, label);
    }
}

/* Pixels or numbers. */
static bool add_numbers(heed_inspection *e, const heed_inspection_args *a) {
    heed_ctx *c = e->run->c;
    const heed_model *m = e->run->model;
    heed_grid grid;
    size_t n = a->dims > 0 && a->dims <= HEED_DIMS ? 1 : 0;
    for (int i = 0; i < a->dims && n; i++) n *= (size_t)(a->shape[i] > 0 ? a->shape[i] : 0);
    if (n == 0 || a->shape[0] != 1)
        return heed_fail(c, HEED_USAGE,
                         "the input has no size: expected pixels (1,size,size,channels), or "
                         "numbers (1,T) or (1,T,d)");
    e->x = copy_of(c, a->x, n, sizeof *a->x);
    e->dims = a->dims;
    memcpy(e->shape, a->shape, sizeof e->shape);
    if (m->grid && m->grid(e->run->self, &grid))
        add_patches(e, grid);
    else if (m->kind != HEED_INPUT_PICTURE && a->dims > 1)
        add_positions(e, a->shape[1]);
    if (a->pixels) {
        e->width = a->width, e->height = a->height, e->channels = a->channels;
        e->pixels =
            copy_of(c, a->pixels, (size_t)a->width * (size_t)a->height, (size_t)a->channels);
    }
    return heed_ctx_status(c) == HEED_OK;
}

/* ---- questions ---- */

static void ask(heed_inspection *e, int axis, int query, int row, const char *says) {
    heed_question *q = &e->questions[e->question_count++];
    *q = (heed_question){.axis = axis, .query = query, .row = row};
    snprintf(q->says, sizeof q->says, "%s", says);
}

/* Every token: the one so many after it. They count from 1, as on the screen. */
static void ask_tokens(heed_inspection *e, int axis, int ahead) {
    for (int i = 0; i < e->axes[axis].count; i++) {
        char says[32];
        snprintf(says, sizeof says, "token %d", i + 1 + ahead);
        ask(e, axis, i, i, says);
    }
}

static void ask_labels(heed_inspection *e, const heed_inspection_args *a) {
    int count = a->first ? a->words : e->axes[0].count;
    for (int i = 0; i < count; i++) {
        int at = a->first ? (int)a->first[i] : i;
        ask(e, 0, at, at, "the label");
    }
}

static bool ask_all(heed_inspection *e, const heed_inspection_args *a) {
    const heed_run *r = e->run;
    int mask = r->tokenizer ? heed_tokenizer_specials(r->tokenizer).mask : -1;
    size_t most = (size_t)e->axes[e->target != NULL].count + 1;
    e->questions = heed__alloc_array(r->c, most, sizeof *e->questions);
    if (!e->questions) return false;
    switch (r->model->answers) {
    case HEED_ANSWER_INPUT:
        ask(e, 0, e->axes[0].first ? 0 : -1, 0, "the class");
        break;
    case HEED_ANSWER_MASKED:
        for (int i = 0; i < e->count; i++)
            if (e->ids[i] == mask) ask(e, 0, i, e->question_count, "[MASK]");
        break;
    case HEED_ANSWER_NEXT:
        ask_tokens(e, e->target != NULL, 1);
        break;
    case HEED_ANSWER_SAME:
        if (e->target)
            ask_tokens(e, 1, 0);
        else
            ask_labels(e, a);
        break;
    }
    return true;
}

bool heed__inspection_asked(const heed_inspection *e) {
    return e->question_count > 0 ||
           heed_fail(e->run->c, HEED_DATA,
                     "nothing is predicted here: %.*s: expected [MASK] in the text; hint: write "
                     "[MASK] for a word",
                     (int)heed_label_cut(e->title, 60), e->title);
}

/* ---- opening and closing ---- */

static bool check_tokens(const heed_inspection *e, const heed_inspection_args *a) {
    const heed_run *r = e->run;
    int64_t block =
        heed_config_has(r->config, "block") ? heed_config_int(r->config, "block") : INT32_MAX;
    if (a->count < 1) return heed_fail(r->c, HEED_DATA, "the input is empty");
    if (a->target && a->target_count < 1)
        return heed_fail(r->c, HEED_FAILED, "the model made no token to look at");
    if (a->target_count > block)
        return heed_fail(r->c, HEED_DATA, "the target is too long: %d tokens, the model takes %lld",
                         a->target_count, (long long)block);
    return a->count <= block ||
           heed_fail(r->c, HEED_DATA,
                     "the input is too long: %d tokens, the model takes %lld: %.*s...", a->count,
                     (long long)block, (int)heed_label_cut(e->title, 40), e->title);
}

static bool wrong_kind(const heed_run *r) {
    static const char *const takes[] = {"numbers", "texts", "pictures", "pairs of texts", "texts"};
    return heed_fail(r->c, HEED_USAGE, "the input does not fit the model: %s takes %s",
                     r->model->name, takes[r->model->kind]);
}

bool heed_inspection_open(heed_inspection *e, heed_run *r, const heed_inspection_args *a) {
    *e = (heed_inspection){.run = r};
    heed_input_kind kind = r->model->kind;
    bool pair = kind == HEED_INPUT_PAIR;
    bool numbers = kind == HEED_INPUT_DENSE || kind == HEED_INPUT_PICTURE;
    const heed_tokenizer *k = pair && r->source ? r->source : r->tokenizer;
    e->title = heed__copy_text(r->c, a->title ? a->title : "");
    if (!e->title) return false;
    if (numbers ? !a->x : !a->ids || !k || (pair && !a->target)) return wrong_kind(r);
    bool ok = numbers ? add_numbers(e, a)
                      : check_tokens(e, a) && add_text(e, a, k, pair ? "source" : "text") &&
                            (!pair || add_target(e, a));
    return ok && ask_all(e, a);
}

void heed_inspection_free(heed_inspection *e) {
    for (int i = 0; i < e->axis_count; i++) {
        for (int j = 0; j < e->axes[i].count; j++) heed__free(e->labels[i][j]);
        heed__free(e->labels[i]);
        heed__free(e->special[i]);
    }
    void *own[] = {e->questions, e->title, e->ids, e->target, e->read, e->x, e->pixels};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) heed__free(own[i]);
    *e = (heed_inspection){.run = NULL};
}

/* ---- the pass ---- */

static heed_tensor *ids_of(heed_tape *t, const int32_t *ids, int n, int rows) {
    int32_t *all = heed__alloc_array(heed_tape_ctx(t), (size_t)n * (size_t)rows, sizeof *all);
    for (int r = 0; all && r < rows; r++) memcpy(all + r * n, ids, (size_t)n * sizeof *ids);
    heed_tensor *y = heed_ids(t, all, rows, n);
    heed__free(all);
    return y;
}

/* Positions of the masks, in the order of the rows of their logits. */
static heed_tensor *masked_positions(const heed_inspection *e, heed_tape *t) {
    int n = e->question_count;
    int32_t *list = heed__alloc_array(heed_tape_ctx(t), (size_t)n, sizeof *list);
    for (int i = 0; list && i < n; i++) list[e->questions[i].row] = e->questions[i].query;
    heed_tensor *y = heed_input_ids(t, list, 1, &n);
    heed__free(list);
    return y;
}

static heed_tensor *numbers_of(const heed_inspection *e, heed_tape *t, int rows) {
    int shape[HEED_DIMS];
    memcpy(shape, e->shape, sizeof shape);
    shape[0] = rows;
    heed_tensor *x = heed_input(t, NULL, e->dims, shape);
    size_t n = x ? x->size / (size_t)rows : 0;
    for (int r = 0; x && r < rows; r++) memcpy(x->x + (size_t)r * n, e->x, n * sizeof *x->x);
    return x;
}

bool heed__inspection_inputs(const heed_inspection *e, heed_tape *t, int rows, bool all,
                             heed_model_input *out) {
    bool masked = e->run->model->answers == HEED_ANSWER_MASKED && !all && e->question_count > 0;
    *out =
        (heed_model_input){.x = e->x ? numbers_of(e, t, rows) : ids_of(t, e->ids, e->count, rows)};
    if (e->read) out->target = ids_of(t, e->read, e->target_count, rows);
    if (masked) out->masked_positions = masked_positions(e, t);
    return heed_ctx_status(e->run->c) == HEED_OK;
}

heed_tensor *heed_inspection_logits(const heed_inspection *e, heed_tape *t) {
    heed_model_input in;
    const heed_model *m = e->run->model;
    if (!m->logits) {
        heed_fail(e->run->c, HEED_USAGE, "model %s has no logits", m->name);
        return NULL;
    }
    if (!heed__inspection_inputs(e, t, 1, false, &in)) return NULL;
    heed_tensor *y = m->logits(e->run->self, t, &in);
    if (!y || y->dims == 2) return y;
    return heed_reshape(t, y, 2, (int[]){-1, y->shape[y->dims - 1]});
}

int heed_inspection_class(const heed_inspection *e, const heed_question *q, const heed_tensor *y) {
    if (e->target) return e->target[q->query];
    int n = y->shape[1], best = 0;
    const heed_real *row = y->x + (size_t)q->row * (size_t)n;
    for (int i = 1; i < n; i++)
        if (row[i] > row[best]) best = i;
    return best;
}

const char *heed_class_label(const heed_run *r, int class_index, char number[16]) {
    heed_answer answers = r->model->answers;
    bool tokens = answers == HEED_ANSWER_MASKED || answers == HEED_ANSWER_NEXT ||
                  r->model->kind == HEED_INPUT_PAIR;
    if (tokens && r->tokenizer) return heed_token_text(r->tokenizer, class_index);
    if (r->labels && class_index < r->label_count) return r->labels[class_index];
    snprintf(number, 16, "%d", class_index);
    return number;
}

heed_stack heed__inspection_stack(const heed_inspection *e) {
    const heed_model *m = e->run->model;
    heed_attending first;
    if (e->read) return HEED_CROSS;
    if (m->attending && m->attending(e->run->self, 0, &first)) return first.stack;
    return m->answers == HEED_ANSWER_NEXT ? HEED_DECODER : HEED_ENCODER;
}

bool heed__progress(const heed_inspection *e, heed_progress progress, void *user, uint64_t done,
                    uint64_t all) {
    return !progress || progress(user, done, all) ||
           heed_fail(e->run->c, HEED_INTERRUPTED, "interrupted");
}
