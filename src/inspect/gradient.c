/* gradient.c -- attention times the gradient of the prediction. Chefer et al. 2021. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A layer that contributes. For a pair, the tokens of source and target form one sequence, in which
 * the layer's queries and keys begin at first_query and first_key. */
typedef struct {
    heed_record_block at;
    char weights[HEED__PATH], out[HEED__PATH]; /* paths of their probes */
    int heads, queries, keys, first_query, first_key;
    heed_real *values; /* (heads, Q, K): (A x dy/dA)+ of the current question */
} traced_layer;

typedef struct {
    const heed_run *r;
    const heed_example *e;
    traced_layer *layers; /* as a pass takes them */
    int count, tokens;
    heed_real *values; /* storage of all layers */
    double *row;       /* (tokens) twice: work */
} gradients;

static size_t size_of(const traced_layer *l) {
    return (size_t)l->heads * (size_t)l->queries * (size_t)l->keys;
}

/* ---- one question ---- */

/* A recurrent decoder's attention is computed step by step, under the layer's name. */
static bool may_be_stepwise(const traced_layer *l) {
    return l->at.stack == HEED_CROSS && l->heads == 1;
}

/* The first parameter of the layer of that path. */
static heed_tensor *own_parameter(const heed_params *s, const char *path) {
    size_t n = strlen(path);
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *p = heed_params_at(s, i);
        if (strncmp(p->name, path, n) == 0 && p->name[n] == '.') return p->tensor;
    }
    return NULL;
}

/* A pass whose attention weights get gradients of the answer to q. Only values that depend on one
 * with a requested gradient get any, and a trace requests none for parameters by default: request
 * those of the first parameter and of the first one of each attention layer. */
static bool trace(const gradients *g, const heed_example_question *q) {
    const heed_run *r = g->r;
    const char **keep = heed__alloc_array(r->c, (size_t)g->count + 1, sizeof *keep);
    heed_tensor **want = heed__alloc_array(r->c, (size_t)g->count + 1, sizeof *want);
    heed__passing how = {.keep = keep, .gradients = true, .want = want, .want_count = 1};
    bool ok = keep && want;
    if (ok) {
        keep[how.keep_count++] = "*.weights";
        want[0] = heed_params_at(r->store, 0)->tensor;
    }
    for (int i = 0; ok && i < g->count; i++) {
        if (may_be_stepwise(&g->layers[i])) keep[how.keep_count++] = g->layers[i].out;
        want[how.want_count++] = own_parameter(r->store, g->layers[i].at.path);
    }
    heed_tensor *y = ok ? heed__run_example(r, g->e, &how) : NULL;
    heed_real *gy = y ? heed__alloc_array(r->c, y->size, sizeof *gy) : NULL;
    if (gy) gy[q->row * y->shape[1] + heed__class_of(r, g->e, q, y)] = 1;
    ok = gy && heed_backward_from(r->tape, y, gy);
    heed__free(gy);
    heed__free((void *)keep);
    heed__free(want);
    return ok;
}

static void positive_part(const heed_tensor *w, size_t n, heed_real *out) {
    for (size_t i = 0; i < n; i++) {
        heed_real product = w->g ? w->x[i] * w->g[i] : 0;
        out[i] = product > 0 ? product : 0;
    }
}

/* Each step records its weights, (1,1,S), last; before them, its scores, if these are a product. */
static bool read_steps(const heed_tape *t, const traced_layer *l) {
    size_t keys = (size_t)l->keys;
    int each = l->at.additive ? 1 : 2, seen = 0;
    for (int i = 0; i < heed_probe_count(t) && seen < each * l->queries; i++) {
        const char *path;
        const heed_tensor *w = heed_probe_at(t, i, &path);
        if (strcmp(path, l->out) != 0 || w->size != keys) continue;
        if (++seen % each == 0)
            positive_part(w, keys, l->values + (size_t)(seen / each - 1) * keys);
    }
    return seen == each * l->queries;
}

/* The weights of all queries are one tensor with gradients, unless the model computed them step by
 * step. */
static bool read_layer(const heed_tape *t, const traced_layer *l) {
    const heed_tensor *all = heed_probe_find(t, l->weights);
    if (all && all->size != size_of(l)) all = NULL;
    if ((!all || !all->g) && may_be_stepwise(l) && read_steps(t, l)) return true;
    if (all) positive_part(all, all->size, l->values);
    return all != NULL;
}

/* The sum over the heads, at an index of (Q, K). */
static double summed(const traced_layer *l, size_t at) {
    double sum = 0;
    for (int h = 0; h < l->heads; h++)
        sum += (double)l->values[(size_t)h * (size_t)l->queries * (size_t)l->keys + at];
    return sum;
}

/* Writes the question's row of (I + G_L) .. (I + G_1) - I to g->row; for the entire input, the mean
 * of all rows. */
static void follow(const gradients *g, int query) {
    double *now = g->row, *next = g->row + g->tokens;
    int n = g->tokens;
    for (int i = 0; i < n; i++) now[i] = query < 0 ? 1.0 / n : i == query;
    for (int i = g->count; i-- > 0;) {
        const traced_layer *l = &g->layers[i];
        memcpy(next, now, (size_t)n * sizeof *next);
        for (int q = 0; q < l->queries; q++) {
            double share = now[l->first_query + q];
            for (int k = 0; share > 0 && k < l->keys; k++)
                next[l->first_key + k] += share * summed(l, (size_t)(q * l->keys + k));
        }
        memcpy(now, next, (size_t)n * sizeof *now);
    }
    for (int i = 0; i < n; i++) now[i] -= query < 0 ? 1.0 / n : i == query;
}

/* ---- the maps ---- */

/* The question whose maps of single layers are kept. */
static int last_question(const heed_example *e, const heed_gradient_args *w) {
    bool asked = w->question >= 0 && w->question < e->question_count;
    return asked ? w->question : e->question_count - 1;
}

/* The maps of all questions over one axis of keys. */
typedef struct {
    heed_record_map map;
    int first, count;
    heed_real *values; /* (Q, K), NAN where there is no question */
} answer;

/* All rows of a layer's map belong to one question. The map of the entire model combines such maps
 * of all layers. */
static bool add_layer(const gradients *g, const traced_layer *l, const heed_gradient_args *w,
                      heed_record *record) {
    char help[240], where[40] = "of the whole input";
    const heed_example_question *q = &g->e->questions[last_question(g->e, w)];
    if (q->query >= 0) snprintf(where, sizeof where, "at row %d alone", q->query + 1);
    snprintf(help, sizeof help,
             "of the prediction %s: attention times the gradient of its logit, its positive part, "
             "in this %s; the map of the whole model follows all layers",
             where, w->by_head ? "head" : "layer");
    heed_record_map m = {.name = "gradient",
                         .help = help,
                         .layer = l->at.layer,
                         .head = -1,
                         .stack = l->at.stack,
                         .queries = l->at.queries,
                         .keys = l->at.keys};
    size_t square = (size_t)l->queries * (size_t)l->keys;
    for (int h = 0; w->by_head && h < l->heads; h++) {
        m.head = h;
        m.values = l->values + (size_t)h * square;
        if (heed_record_add_map(record, &m) < 0) return false;
    }
    if (w->by_head) return true;
    heed_real *sum = heed__alloc_array(g->r->c, square, sizeof *sum);
    if (!sum) return false;
    for (size_t i = 0; i < square; i++) sum[i] = (heed_real)summed(l, i);
    m.values = sum;
    bool ok = heed_record_add_map(record, &m) >= 0;
    heed__free(sum);
    return ok;
}

/* The question of w is processed last, so that its layers' values remain. */
static bool ask_all(const gradients *g, const heed_gradient_args *w, const answer *answers,
                    int count) {
    const heed_run *r = g->r;
    const heed_example *e = g->e;
    heed_ctx *c = r->c;
    int last = last_question(e, w), n = e->question_count;
    for (int i = w->only ? n : 1; i <= n; i++) {
        const heed_example_question *q = &e->questions[(last + i) % n];
        bool ok = trace(g, q);
        for (int l = 0; ok && l < g->count; l++)
            ok = read_layer(r->tape, &g->layers[l]) ||
                 heed_fail(c, HEED_FAILED, "the model kept no attention weights: %s",
                           g->layers[l].weights);
        heed_probe_clear(r->tape);
        if (!ok) return false;
        follow(g, e->read ? e->axes[0].count + q->query : q->query);
        for (int k = 0; k < count; k++) {
            const answer *a = &answers[k];
            int from = q->query < 0 ? 0 : q->query,
                end = q->query < 0 ? e->axes[a->map.queries].count : from + 1;
            for (int at = from * a->count; at < end * a->count; at++)
                a->values[at] = (heed_real)g->row[a->first + at % a->count];
        }
        if (!heed__progress(c, w->progress, w->user, i, n)) return false;
    }
    return true;
}

/* For a pair: the source, and the decoder's input if the decoder attends to it. */
static int list_answers(const gradients *g, answer out[2]) {
    const heed_example *e = g->e;
    bool pair = e->read != NULL;
    int sources = e->axes[0].count, count = 1;
    heed_record_map m = {.name = "gradient",
                         .help = "attention times the gradient of the prediction's logit, its "
                                 "positive part: where attending a little more would raise the "
                                 "logit",
                         .layer = -1,
                         .head = -1,
                         .stack = heed__example_stack(g->r, e),
                         .queries = pair};
    out[0] = (answer){.map = m, .count = sources};
    if (pair && g->count > 1) {
        m.name = "gradient, target";
        m.stack = HEED_DECODER;
        m.queries = m.keys = 2;
        out[count++] = (answer){.map = m, .first = sources, .count = e->axes[2].count};
    }
    return count;
}

/* ---- the layers ---- */

/* A decoder layer attends to itself before it attends to the source. */
static int place_of(const heed_record_block *b) {
    return b->stack == HEED_ENCODER ? b->layer : 1000 + 2 * b->layer + (b->stack == HEED_CROSS);
}

static int by_place(const void *a, const void *b) {
    const traced_layer *x = a, *y = b;
    return place_of(&x->at) - place_of(&y->at);
}

static bool find_layers(gradients *g) {
    const heed_run *r = g->r;
    const heed_example *e = g->e;
    heed_ctx *c = r->c;
    heed_record_block *list = heed_attention_layers(r, &g->count);
    if (!list) return false;
    size_t n = 0;
    int sources = e->axes[0].count;
    g->layers = heed__alloc_array(c, (size_t)g->count, sizeof *g->layers);
    for (int i = 0; g->layers && i < g->count; i++) {
        const heed_record_block *b = &list[i];
        traced_layer *l = &g->layers[i];
        *l = (traced_layer){.at = *b,
                            .heads = b->heads,
                            .queries = e->axes[b->queries].count,
                            .keys = e->axes[b->keys].count,
                            .first_query = b->queries ? sources : 0,
                            .first_key = b->keys ? sources : 0};
        snprintf(l->weights, sizeof l->weights, "%s.weights", b->path);
        snprintf(l->out, sizeof l->out, "%s.out", b->path);
        n += size_of(l);
    }
    free(list);
    g->tokens = sources + (e->read ? e->axes[2].count : 0);
    g->values = heed__alloc_array(c, n, sizeof *g->values);
    g->row = heed__alloc_array(c, 2 * (size_t)g->tokens, sizeof *g->row);
    if (heed_ctx_status(c) != HEED_OK) return false;
    qsort(g->layers, (size_t)g->count, sizeof *g->layers, by_place);
    heed_real *at = g->values;
    for (int i = 0; i < g->count; at += size_of(&g->layers[i++])) g->layers[i].values = at;
    return true;
}

bool heed_gradient_add(const heed_run *r, const heed_example *e, const heed_gradient_args *args,
                       heed_record *record) {
    static const heed_gradient_args usual = {.question = -1};
    const heed_gradient_args *w = args ? args : &usual;
    if (!heed__inspectable(r, e)) return false;
    gradients g = {.r = r, .e = e};
    answer answers[2] = {{.count = 0}};
    bool ok = heed__has_questions(r, e) && find_layers(&g);
    int count = ok ? list_answers(&g, answers) : 0;
    for (int i = 0; ok && i < count; i++) {
        answer *a = &answers[i];
        size_t n = (size_t)e->axes[a->map.queries].count * (size_t)a->count;
        a->map.values = a->values = heed__alloc_array(r->c, n, sizeof *a->values);
        ok = a->values != NULL;
        for (size_t k = 0; ok && k < n; k++) a->values[k] = (heed_real)NAN;
    }
    ok = ok && ask_all(&g, w, answers, count);
    for (int i = 0; ok && i < count; i++) ok = heed_record_add_map(record, &answers[i].map) >= 0;
    for (int i = 0; ok && i < g.count; i++) ok = add_layer(&g, &g.layers[i], w, record);
    for (int i = 0; i < 2; i++) heed__free(answers[i].values);
    heed__free(g.layers);
    heed__free(g.values);
    heed__free(g.row);
    return ok;
}
