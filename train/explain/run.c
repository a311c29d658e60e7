/* run.c -- heed explain RUN INPUT: the same steps on a head of a trained model. */
#include "explain/explain.h"
#include "kinds/image.h"
#include "kinds/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_WIDTH = 8, SHOWN_TOKENS = 24 };

typedef struct {
    explaining *e;
    heed_run *run;
    heed_inspection s;
    heed_record_block block;
    char path[48]; /* the layer's path: "encoder.0.attn" */
    int head;
} trained;

/* ---- the layer and the head ---- */

static bool choose_layer(trained *t) {
    int count, found = 0, layer = (int)heed_config_int(t->e->p->flags, "layer");
    const char *stack = heed_config_text(t->e->p->flags, "stack");
    heed_record_block *list = heed_attention_layers(t->run, &count);
    if (!list) return false;
    if (!*stack || strcmp(stack, "auto") == 0) stack = heed_stack_name(list[0].stack);
    for (int i = 0; i < count; i++) {
        if (strcmp(heed_stack_name(list[i].stack), stack) != 0) continue;
        if (++found != layer) continue;
        t->block = list[i];
        snprintf(t->path, sizeof t->path, "%s", list[i].path);
        t->block.path = t->path;
    }
    free(list);
    if (*t->path) return true;
    if (found)
        return heed_fail(t->e->c, HEED_USAGE, "--layer %d: expected 1 to %d (%s)", layer, found,
                         stack);
    return heed_fail(t->e->c, HEED_USAGE,
                     "--stack: the model has no such layers; expected another than %s", stack);
}

/* A parameter, or a value that the forward pass kept, below a path; NULL: there is none. */
static const heed_tensor *parameter(const trained *t, const char *path, const char *name) {
    char full[96];
    snprintf(full, sizeof full, "%s.%s", path, name);
    heed_entry *p = heed_store_find(t->run->store, full);
    return p ? p->tensor : NULL;
}

static const heed_tensor *value(const trained *t, const char *path, const char *name) {
    char full[96];
    snprintf(full, sizeof full, "%s.%s", path, name);
    return heed_probe_find(t->run->tape, full);
}

static bool choose_head(trained *t) {
    int head = (int)heed_config_int(t->e->p->flags, "head");
    const char *stacked = t->block.stack == HEED_CROSS ? "kv.weight" : "qkv.weight";
    if (!parameter(t, t->path, stacked))
        return heed_fail(t->e->c, HEED_USAGE,
                         "explain reads queries, keys and values from one weight: %s has no "
                         "%s.%s; hint: `attend %s` shows its attention, `explain similarity` how "
                         "it comes about",
                         t->e->p->argv[0], t->path, stacked, t->e->p->argv[0]);
    if (head > t->block.heads)
        return heed_fail(t->e->c, HEED_USAGE, "--head %d: expected 1 to %d", head, t->block.heads);
    t->head = head - 1;
    return true;
}

/* ---- numbers of the model, as doubles that the head owns ---- */

static double *doubles(trained *t, size_t n) {
    return worked_keep(t->e->c, &t->e->w, calloc(n + 1, sizeof(double)));
}

/* `count` numbers of x from index `from` on; NULL if there is no x. */
static const double *copy(trained *t, const heed_tensor *x, int from, size_t count) {
    double *y = x ? doubles(t, count) : NULL;
    for (size_t i = 0; y && i < count; i++) y[i] = (double)x->x[(size_t)from + i];
    return y;
}

/* Rows [row, row + rows) and columns [col, col + cols) of a layer's weight (out,in), transposed:
 * (cols,rows). */
static const double *turned(trained *t, const heed_tensor *w, int row, int rows, int col,
                            int cols) {
    double *y = doubles(t, (size_t)rows * (size_t)cols);
    for (int i = 0; y && i < cols; i++)
        for (int j = 0; j < rows; j++)
            y[i * rows + j] =
                (double)w->x[(size_t)(row + j) * (size_t)w->shape[1] + (size_t)(col + i)];
    return y;
}

/* Copies the head's rows of a stacked projection, which has the queries of all heads, then all
 * keys, then all values. */
static bool copy_weights(trained *t, heed_lesson_args *a) {
    bool cross = t->block.stack == HEED_CROSS;
    const heed_tensor *wq = parameter(t, t->path, cross ? "q.weight" : "qkv.weight");
    const heed_tensor *wk = parameter(t, t->path, cross ? "kv.weight" : "qkv.weight");
    const heed_tensor *bq = parameter(t, t->path, cross ? "q.bias" : "qkv.bias");
    const heed_tensor *bk = parameter(t, t->path, cross ? "kv.bias" : "qkv.bias");
    int key = t->block.key, width = t->block.value, heads = t->block.heads;
    int q = t->head * key, k = (cross ? 0 : heads * key) + q;
    int v = (cross ? 1 : 2) * heads * key + t->head * width;
    if (!wq || !wk || wk->shape[0] != v + (heads - t->head) * width)
        return heed_fail(t->e->c, HEED_FAILED, "%s: no projections to queries, keys and values",
                         t->path);
    a->key = key, a->value = width;
    a->features = wq->shape[1], a->memory = wk->shape[1];
    a->w_q = turned(t, wq, q, key, 0, a->features);
    a->w_k = turned(t, wk, k, key, 0, a->memory);
    a->w_v = turned(t, wk, v, width, 0, a->memory);
    a->b_q = copy(t, bq, q, (size_t)key);
    a->b_k = copy(t, bk, k, (size_t)key);
    a->b_v = copy(t, bk, v, (size_t)width);
    return heed_ctx_status(t->e->c) == HEED_OK;
}

/* ---- intermediate values, in the order of the ops that computed them ---- */

/* The last value with n numbers before index `end`, below a path that begins so. */
static const heed_tensor *value_before(const heed_tape *tape, int end, size_t n,
                                       const char *start) {
    for (int i = end - 1; i >= 0; i--) {
        const char *name;
        const heed_tensor *x = heed_probe_at(tape, i, &name);
        if (x && x->size == n && x->x && strncmp(name, start, strlen(start)) == 0) return x;
    }
    return NULL;
}

/* Copies the head's input: what came before its projection and, of another text, what the encoder
 * ended with. */
static bool copy_values(trained *t, heed_lesson_args *a) {
    const heed_tape *tape = t->run->tape;
    bool cross = t->block.stack == HEED_CROSS;
    char path[96];
    const char *name;
    int at = 0, count = heed_probe_count(tape);
    size_t n = (size_t)a->tokens * (size_t)a->features;
    snprintf(path, sizeof path, "%s.%s.out", t->path, cross ? "q" : "qkv");
    while (at < count && !(heed_probe_at(tape, at, &name) && strcmp(name, path) == 0)) at++;
    const heed_tensor *x = at < count ? value_before(tape, at, n, "") : NULL, *z = NULL;
    if (cross) z = value_before(tape, count, (size_t)a->sources * (size_t)a->memory, "encoder.");
    if (!x || (cross && !z))
        return heed_fail(t->e->c, HEED_FAILED, "%s: its input was not kept", t->path);
    a->x = copy(t, x, 0, n);
    if (z) a->z = copy(t, z, 0, z->size);
    return heed_ctx_status(t->e->c) == HEED_OK;
}

/* ---- the layer after the head ---- */

/* The path of the sublayer's norm: "encoder.0.norm1", after cross-attention "decoder.0.norm2". */
static const char *norm_path(const trained *t, char path[64]) {
    const char *dot = strrchr(t->path, '.');
    int n = dot ? (int)(dot + 1 - t->path) : 0;
    snprintf(path, 64, "%.*snorm%d", n, t->path, t->block.stack == HEED_CROSS ? 2 : 1);
    return path;
}

/* Copies this head's part of W_h, the layer's bias and, in a post-norm model, the norm. */
static void copy_layer(trained *t, heed_lesson_args *a) {
    const heed_config *f = t->run->config;
    const heed_tensor *out = parameter(t, t->path, "out.weight");
    worked *w = &t->e->w;
    char norm[64];
    w->custom = !heed_config_has(f, "norm");
    w->pre = !w->custom && strcmp(heed_config_text(f, "norm"), "pre") == 0;
    if (!out) return;
    a->width = out->shape[0];
    a->w_h = turned(t, out, 0, a->width, t->head * a->value, a->value);
    a->b_o = copy(t, parameter(t, t->path, "out.bias"), 0, (size_t)a->width);
    /* Worked examples support only layer norm. */
    if (w->custom || w->pre || strcmp(heed_config_text(f, "norm-kind"), "rms") == 0) return;
    norm_path(t, norm);
    a->gain = copy(t, parameter(t, norm, "weight"), 0, (size_t)a->width);
    a->norm_bias = copy(t, parameter(t, norm, "bias"), 0, (size_t)a->width);
    a->eps = heed_config_real(f, "norm-eps");
}

/* The sum of the other heads: what the model adds, minus this head's part and the bias. */
static void compute_others(trained *t) {
    heed_lesson *l = &t->e->w.lesson;
    const heed_matrix *all = &l->part[HEED_LESSON_ALL];
    size_t n = (size_t)all->rows * (size_t)all->cols;
    const heed_tensor *sum = value(t, t->path, "out.out");
    if (t->block.heads == 1 || !all->x || !sum || sum->size != n) return;
    for (size_t i = 0; i < n; i++) l->part[HEED_LESSON_OTHERS].x[i] = (double)sum->x[i] - all->x[i];
    heed_lesson_compute(l);
}

/* ---- comparison with the model's weights ---- */

/* The largest difference between a part and the model's own numbers, those of x from index `from`
 * on. */
static double off_by(const heed_matrix *m, const heed_tensor *x, size_t from) {
    size_t n = (size_t)m->rows * (size_t)m->cols;
    double most = 0;
    if (!x || x->size < from + n) return (double)NAN;
    for (size_t i = 0; i < n; i++) {
        double d = fabs(m->x[i] - (double)x->x[from + i]);
        if (isnan(d)) return d; /* fmax would ignore it */
        most = fmax(most, d);
    }
    return most;
}

static bool agrees(trained *t) {
    const heed_matrix *part = t->e->w.lesson.part, *w = &part[HEED_LESSON_WEIGHTS];
    char path[64];
    double off = off_by(w, value(t, t->path, "weights"),
                        (size_t)t->head * (size_t)w->rows * (size_t)w->cols);
    t->e->place.off = off;
    if (!(off < 1e-3))
        return heed_fail(t->e->c, HEED_FAILED,
                         "%s, head %d: the steps in double give other weights than the model: they "
                         "differ by %.2g",
                         t->path, t->head + 1, off);
    if (!part[HEED_LESSON_NORMED].x) return true;
    off = off_by(&part[HEED_LESSON_NORMED], value(t, norm_path(t, path), "out"), 0);
    return off < 1e-3 ||
           heed_fail(
               t->e->c, HEED_FAILED,
               "%s: add and norm in double give other numbers than the model: they differ by %.2g",
               t->path, off);
}

/* The token, from 1, whose prediction is asked for: [MASK], the last one of a text to continue,
 * otherwise the first. */
static int question_of(const trained *t, const heed_record_axis *queries) {
    for (int i = 0; i < queries->count; i++)
        if (strcmp(queries->labels[i], "[MASK]") == 0) return i + 1;
    return t->block.causal || t->block.stack == HEED_CROSS ? queries->count : 1;
}

static void forward(trained *t) {
    char weights[64];
    heed_tape *tape = t->run->tape;
    snprintf(weights, sizeof weights, "%s.weights", t->path);
    heed_unprobe(tape);
    heed_probe(tape, "*.out", false);
    heed_probe(tape, weights, false);
    heed_tape_begin(tape, HEED_EVAL, 0);
    heed_inspection_logits(&t->s, tape);
}

static bool make_head(trained *t) {
    heed_lesson_args a = {.beta = t->block.beta, .causal = t->block.causal, .hard = t->block.hard};
    worked *w = &t->e->w;
    const heed_record_axis *queries = &t->s.axes[t->block.queries],
                           *keys = &t->s.axes[t->block.keys];
    a.tokens = queries->count, a.sources = keys->count;
    if (!copy_weights(t, &a) || !copy_values(t, &a)) return false;
    copy_layer(t, &a);
    w->example = t->e->p->argv[0];
    w->title = t->s.title;
    w->tokens = queries->labels;
    w->sources = a.z ? keys->labels : NULL;
    w->layer = t->path;
    w->picture = reads_pictures(t->run->model);
    w->query = question_of(t, queries);
    if (!worked_make(t->e, &a, *w)) return false;
    compute_others(t);
    if (!agrees(t)) return false;
    t->e->place.layer = t->block.layer, t->e->place.head = t->head;
    t->e->place.heads = t->block.heads;
    bool whole = heed_config_bool(t->e->p->flags, "whole");
    t->e->most_width = whole ? 0 : SHOWN_WIDTH;
    t->e->most_tokens = whole ? 0 : SHOWN_TOKENS;
    return heed_ctx_status(t->e->c) == HEED_OK;
}

void explain_run(explaining *e, const char *run, const char *text) {
    trained t = {.e = e, .run = open_run(e->p, run)};
    if (t.run && choose_layer(&t) && choose_head(&t) &&
        inspect_input(&t.s, t.run, text, NULL, true)) {
        const char *html = heed_config_text(e->p->flags, "html");
        heed_record *record =
            *html ? heed_capture(&t.s, &(heed_capture_args){.lean = false}) : NULL;
        char first[PAGE_LINK_SIZE], head[16];
        snprintf(head, sizeof head, "%d", t.head + 1);
        page_link o = {.stack = t.block.stack, .layer = t.block.layer, .head = head, .query = -1};
        e->record = record;
        e->page_link = page_link_text(&o, first);
        forward(&t);
        if (heed_ctx_status(e->c) == HEED_OK && make_head(&t)) explain_worked(e);
        heed_unprobe(t.run->tape);
        heed_record_free(record);
    }
    e->record = NULL;
    e->page_link = NULL;
    e->place = (trained_place){0};
    worked_free(&e->w);
    heed_inspection_free(&t.s);
    heed_run_close(t.run);
}
