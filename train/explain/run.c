/* run.c -- heed explain RUN INPUT: the same steps on a head of a trained model. */
#include "explain/explain.h"
#include "kinds/image.h"
#include "kinds/inputs.h"

#include <math.h>
#include <stdarg.h>
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
    if (!*t->path)
        return heed_fail(t->e->c, HEED_USAGE,
                         found ? "--layer %d: expected 1 to %d (%s)"
                               : "--stack: the model has no such layers%.0d%.0d; expected another "
                                 "than %s",
                         found ? layer : 0, found, stack);
    return true;
}

static const heed_tensor *parameter(trained *t, const char *name) {
    char full[96];
    snprintf(full, sizeof full, "%s.%s", t->path, name);
    heed_entry *p = heed_store_find(t->run->store, full);
    return p ? p->tensor : NULL;
}

static bool choose_head(trained *t) {
    int head = (int)heed_config_int(t->e->p->flags, "head");
    const char *stacked = t->block.stack == HEED_CROSS ? "kv.weight" : "qkv.weight";
    if (!parameter(t, stacked))
        return heed_fail(t->e->c, HEED_USAGE,
                         "%s explain reads queries, keys and values from one weight: %s has no "
                         "%s.%s; hint: `attend %s` shows its attention, `explain similarity` how "
                         "it comes about",
                         program_name(), t->e->p->argv[0], t->path, stacked, t->e->p->argv[0]);
    if (head > t->block.heads)
        return heed_fail(t->e->c, HEED_USAGE, "--head %d: expected 1 to %d", head, t->block.heads);
    t->head = head - 1;
    return true;
}

/* ---- the input ---- */

static bool open_picture(trained *t, const char *path) {
    heed_picture picture = {0};
    char why[HEED_WHY];
    heed_status status = heed_picture_read(path, &picture, why);
    if (status != HEED_OK) return heed_fail(t->e->c, status, "%s %s", path, why);
    bool ok = heed_inspection_picture(&t->s, t->run, &picture, path, true);
    heed_picture_free(&picture);
    return ok;
}

static bool open_input(trained *t, const char *text) {
    if (reads_pictures(t->run->model)) return open_picture(t, text);
    return heed_check_text(t->e->c, text, strlen(text)) &&
           inspect_text(&t->s, t->run, text, strlen(text), NULL);
}

/* ---- numbers of the model, as doubles that the head owns ---- */

static double *doubles(trained *t, size_t n) {
    return worked_keep(t->e->c, &t->e->w, calloc(n + 1, sizeof(double)));
}

static const double *copy_real(trained *t, const heed_real *x, size_t n) {
    double *y = doubles(t, n);
    for (size_t i = 0; y && i < n; i++) y[i] = (double)x[i];
    return y;
}

/* Rows [from, from + count) of a layer's weight (out,in), transposed: (in,count). */
static const double *turned_rows(trained *t, const heed_tensor *w, int from, int count) {
    int in = w->shape[1];
    double *y = doubles(t, (size_t)in * (size_t)count);
    for (int i = 0; y && i < in; i++)
        for (int j = 0; j < count; j++)
            y[i * count + j] = (double)w->x[(size_t)(from + j) * (size_t)in + (size_t)i];
    return y;
}

static const double *part_of(trained *t, const heed_tensor *x, int from, int count) {
    return x ? copy_real(t, x->x + from, (size_t)count) : NULL;
}

/* Copies the head's rows of a stacked projection, which has the queries of all heads, then all
 * keys, then all values. */
static bool take_weights(trained *t, heed_lesson_args *a, int heads) {
    bool cross = t->block.stack == HEED_CROSS;
    const heed_tensor *wq = parameter(t, cross ? "q.weight" : "qkv.weight");
    const heed_tensor *wk = parameter(t, cross ? "kv.weight" : "qkv.weight");
    const heed_tensor *bq = parameter(t, cross ? "q.bias" : "qkv.bias");
    const heed_tensor *bk = parameter(t, cross ? "kv.bias" : "qkv.bias");
    int d = wq ? wq->shape[1] : 0, h = t->head;
    a->key = t->block.key, a->value = t->block.value;
    int k0 = cross ? 0 : heads * a->key, v0 = k0 + heads * a->key;
    if (!wq || !wk || wk->shape[0] != v0 + heads * a->value)
        return heed_fail(t->e->c, HEED_FAILED, "%s: no projections to queries, keys and values",
                         t->path);
    a->features = d, a->memory = wk->shape[1];
    a->w_q = turned_rows(t, wq, h * a->key, a->key);
    a->w_k = turned_rows(t, wk, k0 + h * a->key, a->key);
    a->w_v = turned_rows(t, wk, v0 + h * a->value, a->value);
    a->b_q = part_of(t, bq, h * a->key, a->key);
    a->b_k = part_of(t, bk, k0 + h * a->key, a->key);
    a->b_v = part_of(t, bk, v0 + h * a->value, a->value);
    return heed_ctx_status(t->e->c) == HEED_OK;
}

/* ---- intermediate values, in the order of the ops that computed them ---- */

static int index_of(const heed_tape *tape, const char *path) {
    const char *name;
    for (int i = 0; i < heed_probe_count(tape); i++)
        if (heed_probe_at(tape, i, &name) && strcmp(name, path) == 0) return i;
    return -1;
}

/* The last value with n numbers before index `at`; *found gets its index. */
static const heed_tensor *value_before(const heed_tape *tape, int at, size_t n, int *found) {
    for (int i = at - 1; i >= 0; i--) {
        const heed_tensor *x = heed_probe_at(tape, i, NULL);
        if (!x || x->size != n || !x->x) continue;
        *found = i;
        return x;
    }
    return NULL;
}

static const heed_tensor *last_of_encoder(const heed_tape *tape, size_t n) {
    const heed_tensor *found = NULL;
    const char *name;
    for (int i = 0; i < heed_probe_count(tape); i++) {
        const heed_tensor *x = heed_probe_at(tape, i, &name);
        if (strncmp(name, "encoder.", 8) == 0 && x->size == n && x->x) found = x;
    }
    return found;
}

static const heed_tensor *find_output(const heed_tape *tape, const char *format, ...)
    HEED_PRINTF(2, 3);
static const heed_tensor *find_output(const heed_tape *tape, const char *format, ...) {
    char path[96];
    va_list list;
    va_start(list, format);
    vsnprintf(path, sizeof path, format, list);
    va_end(list);
    return heed_probe_find(tape, path);
}

/* Copies the head's input and, with W_h, the layer's output for all heads. */
static bool take_values(trained *t, heed_lesson_args *a) {
    const heed_tape *tape = t->run->tape;
    bool cross = t->block.stack == HEED_CROSS;
    char name[96];
    int at, place = 0;
    size_t n = (size_t)a->tokens * (size_t)a->features;
    snprintf(name, sizeof name, "%s.%s.out", t->path, cross ? "q" : "qkv");
    at = index_of(tape, name);
    const heed_tensor *x = value_before(tape, at, n, &place);
    const heed_tensor *z =
        cross ? last_of_encoder(tape, (size_t)a->sources * (size_t)a->memory) : NULL;
    if (at < 0 || !x || (cross && !z))
        return heed_fail(t->e->c, HEED_FAILED, "%s: its input was not kept", t->path);
    a->x = copy_real(t, x->x, n);
    if (z) a->z = copy_real(t, z->x, z->size);
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

static const heed_tensor *norm_parameter(trained *t, const char *name) {
    char path[64], full[96];
    snprintf(full, sizeof full, "%s.%s", norm_path(t, path), name);
    heed_entry *p = heed_store_find(t->run->store, full);
    return p ? p->tensor : NULL;
}

/* Copies this head's part of W_h, the layer's bias and, in a post-norm model, the norm. */
static void take_layer(trained *t, heed_lesson_args *a) {
    const heed_config *f = t->run->config;
    const heed_tensor *out = parameter(t, "out.weight");
    t->e->w.custom = !heed_config_has(f, "norm");
    t->e->w.pre = !t->e->w.custom && strcmp(heed_config_text(f, "norm"), "pre") == 0;
    if (!out) return;
    a->width = out->shape[0];
    double *w = doubles(t, (size_t)a->value * (size_t)a->width);
    for (int i = 0; w && i < a->value; i++)
        for (int j = 0; j < a->width; j++)
            w[i * a->width + j] =
                (double)
                    out->x[(size_t)j * (size_t)out->shape[1] + (size_t)(t->head * a->value + i)];
    a->w_h = w;
    a->b_o = part_of(t, parameter(t, "out.bias"), 0, a->width);
    /* Worked examples support only layer norm. */
    if (t->e->w.custom || t->e->w.pre || strcmp(heed_config_text(f, "norm-kind"), "rms") == 0)
        return;
    a->gain = part_of(t, norm_parameter(t, "weight"), 0, a->width);
    a->norm_bias = part_of(t, norm_parameter(t, "bias"), 0, a->width);
    a->eps = heed_config_real(f, "norm-eps");
}

/* The sum of the other heads: what the model adds, minus this head's part and the bias. */
static void take_others(trained *t) {
    heed_lesson *l = &t->e->w.lesson;
    const heed_matrix *all = &l->part[HEED_LESSON_ALL];
    size_t n = (size_t)all->rows * (size_t)all->cols;
    const heed_tensor *sum = find_output(t->run->tape, "%s.out.out", t->path);
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
    double off = off_by(w, find_output(t->run->tape, "%s.weights", t->path),
                        (size_t)t->head * (size_t)w->rows * (size_t)w->cols);
    t->e->place.off = off;
    if (!(off < 1e-3))
        return heed_fail(t->e->c, HEED_FAILED,
                         "%s, head %d: the steps in double give other weights than the model: they "
                         "differ by %.2g",
                         t->path, t->head + 1, off);
    if (!part[HEED_LESSON_NORMED].x) return true;
    off = off_by(&part[HEED_LESSON_NORMED], find_output(t->run->tape, "%s.out", norm_path(t, path)),
                 0);
    return off < 1e-3 ||
           heed_fail(t->e->c, HEED_FAILED,
                     "%s: add and norm in double give other numbers than the model: they differ by "
                     "%.2g",
                     t->path, off);
}

/* ---- the forward pass ---- */

static void pass(trained *t) {
    char weights[64];
    heed_tape *tape = t->run->tape;
    snprintf(weights, sizeof weights, "%s.weights", t->path);
    heed_unprobe(tape);
    heed_probe(tape, "*.out", false);
    heed_probe(tape, weights, false);
    heed_tape_begin(tape, HEED_EVAL, 0);
    heed_inspection_logits(&t->s, tape);
}

/* The token, from 1, whose prediction is asked for: [MASK], the last one of a text to continue,
 * otherwise the first. */
static int question_of(const trained *t, const heed_record_axis *queries) {
    for (int i = 0; i < queries->count; i++)
        if (strcmp(queries->labels[i], "[MASK]") == 0) return i + 1;
    return t->block.causal || t->block.stack == HEED_CROSS ? queries->count : 1;
}

static bool make_head(trained *t) {
    heed_lesson_args a = {.beta = t->block.beta, .causal = t->block.causal, .hard = t->block.hard};
    worked *w = &t->e->w;
    const heed_record_axis *queries = &t->s.axes[t->block.queries],
                           *keys = &t->s.axes[t->block.keys];
    a.tokens = queries->count, a.sources = keys->count;
    if (!take_weights(t, &a, t->block.heads) || !take_values(t, &a)) return false;
    take_layer(t, &a);
    w->example = t->e->p->argv[0];
    w->title = t->s.title;
    w->tokens = queries->labels;
    w->sources = a.z ? keys->labels : NULL;
    w->layer = t->path;
    w->picture = reads_pictures(t->run->model);
    w->query = question_of(t, queries);
    if (!worked_make(t->e, &a, *w)) return false;
    take_others(t);
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
    if (t.run && choose_layer(&t) && choose_head(&t) && open_input(&t, text)) {
        const char *html = heed_config_text(e->p->flags, "html");
        heed_record *record =
            *html ? heed_capture(&t.s, &(heed_capture_args){.lean = false}) : NULL;
        char first[PAGE_LINK_SIZE], head[16];
        snprintf(head, sizeof head, "%d", t.head + 1);
        page_link o = {.stack = t.block.stack, .layer = t.block.layer, .head = head, .query = -1};
        e->record = record;
        e->page_link = page_link_text(&o, first);
        pass(&t);
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
