/* lesson_head.c -- a head of a trained model as a lesson: its own weights and input in double. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARRAYS = 16 };

typedef struct {
    const heed_run *r;
    const heed_example *e;
    const heed_record_block *block;
    int head;
    heed_attention_trace_args args;
    double *arrays[MOST_ARRAYS]; /* to be freed: the lesson copies them */
    int count;
} source;

/* A parameter, or a value that the forward pass kept, below a path; NULL: there is none. */
static const heed_tensor *parameter(const source *h, const char *path, const char *name) {
    char full[HEED__PATH + 32];
    snprintf(full, sizeof full, "%s.%s", path, name);
    heed_param *p = heed_params_find(h->r->store, full);
    return p ? p->tensor : NULL;
}

static const heed_tensor *value(const source *h, const char *path, const char *name) {
    char full[HEED__PATH + 32];
    snprintf(full, sizeof full, "%s.%s", path, name);
    return heed_probe_find(h->r->tape, full);
}

static double *doubles(source *h, size_t n) {
    double *y = heed__alloc_array(h->r->c, n + 1, sizeof *y);
    return y ? h->arrays[h->count++] = y : NULL;
}

/* These numbers of x, as they are stored; NULL if there is no x. */
static const double *copy(source *h, const heed_tensor *x, heed_rows r) {
    double *y = x ? doubles(h, (size_t)r.count) : NULL;
    for (int i = 0; y && i < r.count; i++) y[i] = (double)x->x[r.from + i];
    return y;
}

/* These rows, and columns [col, col + cols), of a layer's weight (out,in), transposed: (cols,rows).
 */
static const double *transposed(source *h, const heed_tensor *w, heed_rows r, int col, int cols) {
    double *y = doubles(h, (size_t)r.count * (size_t)cols);
    for (int i = 0; y && i < cols; i++)
        for (int j = 0; j < r.count; j++)
            y[i * r.count + j] =
                (double)w->x[(size_t)(r.from + j) * (size_t)w->shape[1] + (size_t)(col + i)];
    return y;
}

/* Copies the head's rows of the stacked projections. */
static bool copy_weights(source *h) {
    heed_attention_trace_args *a = &h->args;
    const char *path = h->block->path;
    bool cross = h->block->stack == HEED_CROSS;
    const heed_tensor *wq = parameter(h, path, cross ? "q.weight" : "qkv.weight");
    const heed_tensor *wk = parameter(h, path, cross ? "kv.weight" : "qkv.weight");
    const heed_tensor *bq = parameter(h, path, cross ? "q.bias" : "qkv.bias");
    const heed_tensor *bk = parameter(h, path, cross ? "kv.bias" : "qkv.bias");
    heed_mha_args sizes = {.heads = h->block->heads,
                           .kv_heads = h->block->kv_heads,
                           .key = h->block->key,
                           .value = h->block->value,
                           .cross = cross};
    heed_rows q = heed_mha_rows(&sizes, HEED_QUERIES, h->head);
    heed_rows k = heed_mha_rows(&sizes, HEED_KEYS, h->head);
    heed_rows v = heed_mha_rows(&sizes, HEED_VALUES, h->head);
    heed_rows all = heed_mha_rows(&sizes, HEED_VALUES, -1);
    if (h->block->additive)
        return heed_fail(h->r->c, HEED_USAGE,
                         "a worked example shows attention with Q, K and V: that of %s is "
                         "additive, align' tanh(q + k), and has no W_Q, W_K and W_V; hint: `attend "
                         "RUN` shows its weights, `explain similarity` how they come about",
                         h->r->model->name);
    if (!wq || !wk || wk->shape[0] != all.from + all.count)
        return heed_fail(h->r->c, HEED_USAGE,
                         "a worked example reads queries, keys and values from one weight: %s has "
                         "no %s.%s; hint: `attend RUN` shows its attention, `explain similarity` "
                         "how it comes about",
                         h->r->model->name, path, cross ? "kv.weight" : "qkv.weight");
    a->key = q.count, a->value = v.count;
    a->features = wq->shape[1], a->memory = wk->shape[1];
    a->w_q = transposed(h, wq, q, 0, a->features);
    a->w_k = transposed(h, wk, k, 0, a->memory);
    a->w_v = transposed(h, wk, v, 0, a->memory);
    a->b_q = copy(h, bq, q);
    a->b_k = copy(h, bk, k);
    a->b_v = copy(h, bk, v);
    return !heed__stopped(h->r->c);
}

/* ---- intermediate values, in the order of the ops that computed them ---- */

static void forward(source *h) {
    char weights[HEED__PATH];
    heed_tape *t = h->r->tape;
    snprintf(weights, sizeof weights, "%s.weights", h->block->path);
    heed_probe_clear(t);
    heed_probe(t, "*.out", false);
    heed_probe(t, weights, false);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_run_logits(h->r, h->e, t);
}

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
static bool copy_values(source *h) {
    heed_attention_trace_args *a = &h->args;
    const heed_tape *tape = h->r->tape;
    bool cross = h->block->stack == HEED_CROSS;
    char path[HEED__PATH];
    const char *name;
    int at = 0, count = heed_probe_count(tape);
    size_t n = (size_t)a->tokens * (size_t)a->features;
    snprintf(path, sizeof path, "%s.%s.out", h->block->path, cross ? "q" : "qkv");
    while (at < count && !(heed_probe_at(tape, at, &name) && strcmp(name, path) == 0)) at++;
    const heed_tensor *x = at < count ? value_before(tape, at, n, "") : NULL, *z = NULL;
    if (cross) z = value_before(tape, count, (size_t)a->sources * (size_t)a->memory, "encoder.");
    if (!x || (cross && !z))
        return heed_fail(h->r->c, HEED_FAILED, "%s: its input was not kept", h->block->path);
    a->x = copy(h, x, (heed_rows){0, (int)n});
    if (z) a->z = copy(h, z, (heed_rows){0, (int)z->size});
    return !heed__stopped(h->r->c);
}

/* ---- the layer after the head ---- */

/* The path of the sublayer's norm: "encoder.0.norm1", after cross-attention "decoder.0.norm2". */
static const char *norm_path(const source *h, char path[HEED__PATH]) {
    const char *dot = strrchr(h->block->path, '.');
    int n = dot ? (int)(dot + 1 - h->block->path) : 0;
    snprintf(path, HEED__PATH, "%.*snorm%d", n, h->block->path,
             h->block->stack == HEED_CROSS ? 2 : 1);
    return path;
}

/* Copies this head's part of W_h, the layer's bias and, in a post-norm model, the norm, of which
 * lessons support only the layer norm. */
static void copy_layer(source *h) {
    heed_attention_trace_args *a = &h->args;
    const heed_config *f = h->r->config;
    const heed_tensor *out = parameter(h, h->block->path, "out.weight");
    char norm[HEED__PATH];
    if (!out) return;
    heed_rows all = {0, a->width = out->shape[0]};
    a->w_h = transposed(h, out, all, h->head * a->value, a->value);
    a->b_o = copy(h, parameter(h, h->block->path, "out.bias"), all);
    if (!heed_config_has(f, "norm") || strcmp(heed_config_text(f, "norm"), "pre") == 0 ||
        strcmp(heed_config_text(f, "norm-kind"), "rms") == 0)
        return;
    norm_path(h, norm);
    a->gain = copy(h, parameter(h, norm, "weight"), all);
    a->norm_bias = copy(h, parameter(h, norm, "bias"), all);
    a->eps = heed_config_real(f, "norm-eps");
}

/* The sum of the other heads: what the model adds, minus this head's part and the bias. */
static void compute_others(const source *h, heed_attention_trace *l) {
    const heed_matrix *all = &l->part[HEED_TRACE_ALL];
    size_t n = (size_t)all->rows * (size_t)all->cols;
    const heed_tensor *sum = value(h, h->block->path, "out.out");
    if (h->block->heads == 1 || !all->x || !sum || sum->size != n) return;
    for (size_t i = 0; i < n; i++) l->part[HEED_TRACE_OTHERS].x[i] = (double)sum->x[i] - all->x[i];
    heed_attention_trace_compute(l);
}

/* ---- comparison with the model ---- */

/* The largest difference between a part and the model's own numbers, those of x from index `from`
 * on. */
static double largest_gap(const heed_matrix *m, const heed_tensor *x, size_t from) {
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

static bool agrees(const source *h, const heed_attention_trace *l, double *off) {
    const heed_matrix *w = &l->part[HEED_TRACE_WEIGHTS], *normed = &l->part[HEED_TRACE_NORMED];
    char path[HEED__PATH];
    size_t from = (size_t)h->head * (size_t)w->rows * (size_t)w->cols;
    *off = largest_gap(w, value(h, h->block->path, "weights"), from);
    if (!(*off < 1e-3))
        return heed_fail(h->r->c, HEED_FAILED,
                         "%s, head %d: the steps in double give other weights than the model: they "
                         "differ by %.2g",
                         h->block->path, h->head + 1, *off);
    double norm = normed->x ? largest_gap(normed, value(h, norm_path(h, path), "out"), 0) : 0;
    return norm < 1e-3 ||
           heed_fail(
               h->r->c, HEED_FAILED,
               "%s: add and norm in double give other numbers than the model: they differ by %.2g",
               h->block->path, norm);
}

static bool make(source *h, heed_attention_trace *out, double *off) {
    if (!copy_weights(h)) return false;
    forward(h);
    if (heed__stopped(h->r->c) || !copy_values(h)) return false;
    copy_layer(h);
    if (!heed_attention_trace_make(h->r->c, &h->args, out)) return false;
    compute_others(h, out);
    return agrees(h, out, off);
}

bool heed_attention_trace_of_head(const heed_run *r, const heed_example *e,
                                  const heed_record_block *layer, int head,
                                  heed_attention_trace *out, double *difference) {
    double ignored;
    if (!out) return false;
    *out = (heed_attention_trace){.self = false};
    if (!heed__inspectable(r, e) || !layer || !layer->path) return false;
    if (head < 0 || head >= layer->heads || layer->queries >= e->axis_count ||
        layer->keys >= e->axis_count)
        return heed_fail(r->c, HEED_USAGE, "%s has no head %d for this input", layer->path,
                         head + 1);
    source h = {.r = r, .e = e, .block = layer, .head = head};
    h.args = (heed_attention_trace_args){.beta = layer->beta,
                                         .rotary = layer->rotary,
                                         .causal = layer->causal,
                                         .hard = layer->hard,
                                         .tokens = e->axes[layer->queries].count,
                                         .sources = e->axes[layer->keys].count};
    bool ok = make(&h, out, difference ? difference : &ignored);
    heed_probe_clear(r->tape);
    while (h.count) heed__free(h.arrays[--h.count]);
    return ok;
}
