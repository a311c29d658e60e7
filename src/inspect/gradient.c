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
    char weights[96], out[96]; /* paths of their probes */
    int heads, queries, keys, first_query, first_key;
    heed_real *values; /* (heads, Q, K): (A x dy/dA)+ of the current question */
} followed;

typedef struct {
    const heed_inspection *s;
    followed *layers; /* as a pass takes them */
    int count, tokens;
    heed_real *values; /* storage of all layers */
    double *row;       /* (tokens) twice: work */
} gradients;

static bool is_pair(const heed_inspection *s) { return s->read != NULL; }

static size_t size_of(const followed *l) {
    return (size_t)l->heads * (size_t)l->queries * (size_t)l->keys;
}

/* ---- one question ---- */

/* A recurrent decoder's attention is computed step by step, under the layer's name. */
static bool may_be_stepwise(const followed *l) {
    return l->at.stack == HEED_CROSS && l->heads == 1;
}

/* The first parameter of the layer of that path. */
static heed_tensor *own_parameter(const heed_store *s, const char *path) {
    size_t n = strlen(path);
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *p = heed_store_at(s, i);
        if (strncmp(p->name, path, n) == 0 && p->name[n] == '.') return p->tensor;
    }
    return NULL;
}

/* A pass whose attention weights get gradients. Only values that depend on one with a requested
 * gradient get any, and a trace requests none for parameters by default: request those of the first
 * parameter and of the first one of each attention layer. */
static heed_tensor *traced(const gradients *g) {
    const heed_run *r = g->s->run;
    heed_unprobe(r->tape);
    heed_probe(r->tape, "*.weights", true);
    for (int i = 0; i < g->count; i++)
        if (may_be_stepwise(&g->layers[i])) heed_probe(r->tape, g->layers[i].out, true);
    heed_tape_begin(r->tape, HEED_TRACE, 0);
    heed_want_grad(r->tape, heed_store_at(r->store, 0)->tensor);
    for (int i = 0; i < g->count; i++)
        heed_want_grad(r->tape, own_parameter(r->store, g->layers[i].at.path));
    return heed_inspection_logits(g->s, r->tape);
}

static bool backward_from(const gradients *g, heed_tensor *y, const heed_question *q) {
    heed_real *gy = heed__alloc_array(g->s->run->c, y->size, sizeof *gy);
    if (!gy) return false;
    gy[q->row * y->shape[1] + heed_inspection_class(g->s, q, y)] = 1;
    bool ok = heed_backward_from(g->s->run->tape, y, gy);
    heed__free(gy);
    return ok;
}

static void positive_part(const heed_tensor *w, size_t n, heed_real *out) {
    for (size_t i = 0; i < n; i++) {
        heed_real product = w->g ? w->x[i] * w->g[i] : 0;
        out[i] = product > 0 ? product : 0;
    }
}

/* Each step records its weights, (1,1,S), last; before them, its scores, if these are a product. */
static bool take_steps(const heed_tape *t, const followed *l) {
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
static bool take_layer(const heed_tape *t, const followed *l) {
    const heed_tensor *all = heed_probe_find(t, l->weights);
    if (all && all->size != size_of(l)) all = NULL;
    if ((!all || !all->g) && may_be_stepwise(l) && take_steps(t, l)) return true;
    if (all) positive_part(all, all->size, l->values);
    return all != NULL;
}

static bool solve(const gradients *g, const heed_question *q) {
    heed_tensor *y = traced(g);
    bool ok = y && backward_from(g, y, q);
    for (int i = 0; ok && i < g->count; i++)
        ok = take_layer(g->s->run->tape, &g->layers[i]) ||
             heed_fail(g->s->run->c, HEED_FAILED, "the model kept no attention weights: %s",
                       g->layers[i].weights);
    heed_unprobe(g->s->run->tape);
    return ok;
}

/* ---- over layers ---- */

static double summed(const followed *l, int query, int key) {
    double sum = 0;
    for (int h = 0; h < l->heads; h++)
        sum +=
            (double)l->values[((size_t)h * (size_t)l->queries + (size_t)query) * (size_t)l->keys +
                              (size_t)key];
    return sum;
}

/* Writes the question's row of (I + G_L) .. (I + G_1) - I to g->row; for the entire input, the mean
 * of all rows. */
static void follow(const gradients *g, int query) {
    double *now = g->row, *next = g->row + g->tokens;
    int n = g->tokens;
    for (int i = 0; i < n; i++) now[i] = query < 0 ? 1.0 / n : i == query;
    for (int i = g->count; i-- > 0;) {
        const followed *l = &g->layers[i];
        memcpy(next, now, (size_t)n * sizeof *next);
        for (int q = 0; q < l->queries; q++) {
            double share = now[l->first_query + q];
            for (int k = 0; share > 0 && k < l->keys; k++)
                next[l->first_key + k] += share * summed(l, q, k);
        }
        memcpy(now, next, (size_t)n * sizeof *now);
    }
    for (int i = 0; i < n; i++) now[i] -= query < 0 ? 1.0 / n : i == query;
}

/* ---- the maps ---- */

/* The question whose maps of single layers are kept. */
static int last_question(const heed_inspection *s, const heed_gradient_args *w) {
    bool asked = w->question >= 0 && w->question < s->question_count;
    return asked ? w->question : s->question_count - 1;
}

/* The maps of all questions over one axis of keys. */
typedef struct {
    heed_record_map map;
    int first, count;
    heed_real *values; /* (Q, K), NAN where there is no question */
} answer;

static bool add_model(heed_record *record, heed_record_map m) {
    m.help = "attention times the gradient of the prediction's logit, its positive part: where "
             "attending a little more would raise the logit";
    return heed_record_add_map(record, &m) >= 0;
}

/* All rows of a layer's map belong to one question. The map of the entire model combines such maps
 * of all layers. */
static void layer_help(const heed_question *q, bool by_head, char help[240]) {
    char where[40] = "of the whole input";
    if (q->query >= 0) snprintf(where, sizeof where, "at row %d alone", q->query + 1);
    snprintf(help, 240,
             "of the prediction %s: attention times the gradient of its logit, its positive part, "
             "in this %s; the map of the whole model follows all layers",
             where, by_head ? "head" : "layer");
}

static bool add_layer(const gradients *g, const followed *l, const heed_gradient_args *w,
                      heed_record *record) {
    char help[240];
    layer_help(&g->s->questions[last_question(g->s, w)], w->by_head, help);
    const heed_record_block *b = &l->at;
    heed_record_map m = {.name = "gradient",
                         .help = help,
                         .layer = b->layer,
                         .head = -1,
                         .stack = b->stack,
                         .queries = b->queries,
                         .keys = b->keys};
    size_t square = (size_t)l->queries * (size_t)l->keys;
    for (int h = 0; w->by_head && h < l->heads; h++) {
        m.head = h;
        m.values = l->values + (size_t)h * square;
        if (heed_record_add_map(record, &m) < 0) return false;
    }
    if (w->by_head) return true;
    heed_real *sum = heed__alloc_array(g->s->run->c, square, sizeof *sum);
    if (!sum) return false;
    for (size_t i = 0; i < square; i++)
        sum[i] = (heed_real)summed(l, (int)(i / (size_t)l->keys), (int)(i % (size_t)l->keys));
    m.values = sum;
    bool ok = heed_record_add_map(record, &m) >= 0;
    heed__free(sum);
    return ok;
}

static void take_row(const gradients *g, const heed_question *q, const answer *a) {
    const heed_inspection *s = g->s;
    int queries = s->axes[a->map.queries].count, from = q->query < 0 ? 0 : q->query,
        end = q->query < 0 ? queries : from + 1;
    for (int i = from; i < end; i++)
        for (int k = 0; k < a->count; k++)
            a->values[(size_t)i * (size_t)a->count + (size_t)k] = (heed_real)g->row[a->first + k];
}

/* The question of w is processed last, so that its layers' values remain. */
static bool ask_all(const gradients *g, const heed_gradient_args *w, const answer *answers,
                    int count) {
    const heed_inspection *s = g->s;
    int last = last_question(s, w);
    for (int i = w->only ? s->question_count : 1; i <= s->question_count; i++) {
        const heed_question *q = &s->questions[(last + i) % s->question_count];
        if (!solve(g, q)) return false;
        follow(g, is_pair(s) ? s->axes[0].count + q->query : q->query);
        for (int k = 0; k < count; k++) take_row(g, q, &answers[k]);
        if (!heed__progress(s->run->c, w->progress, w->user, (uint64_t)i,
                            (uint64_t)s->question_count))
            return false;
    }
    return true;
}

/* For a pair: the source, and the decoder's input if the decoder attends to it. */
static int list_answers(const gradients *g, answer out[2]) {
    const heed_inspection *s = g->s;
    bool pair = is_pair(s);
    int sources = s->axes[0].count, count = 1;
    heed_record_map m = {.name = "gradient", .layer = -1, .head = -1};
    m.stack = heed__inspection_stack(s);
    m.queries = pair;
    out[0] = (answer){.map = m, .count = sources};
    if (pair && g->count > 1) {
        m.name = "gradient, target";
        m.stack = HEED_DECODER;
        m.queries = m.keys = 2;
        out[count++] = (answer){.map = m, .first = sources, .count = s->axes[2].count};
    }
    return count;
}

static bool answer_capacity(const gradients *g, answer *a) {
    size_t n = (size_t)g->s->axes[a->map.queries].count * (size_t)a->count;
    a->values = heed__alloc_array(g->s->run->c, n, sizeof *a->values);
    for (size_t i = 0; a->values && i < n; i++) a->values[i] = (heed_real)NAN;
    a->map.values = a->values;
    return a->values != NULL;
}

/* ---- the layers ---- */

/* A decoder layer attends to itself before it attends to the source. */
static int place_of(const heed_record_block *b) {
    return b->stack == HEED_ENCODER ? b->layer : 1000 + 2 * b->layer + (b->stack == HEED_CROSS);
}

static int by_place(const void *a, const void *b) {
    const followed *x = a, *y = b;
    return place_of(&x->at) - place_of(&y->at);
}

static int first_of(const heed_inspection *s, int axis) { return axis ? s->axes[0].count : 0; }

static followed followed_of(const heed_inspection *s, const heed_record_block *b) {
    followed l = {.at = *b,
                  .heads = b->heads,
                  .queries = s->axes[b->queries].count,
                  .keys = s->axes[b->keys].count,
                  .first_query = first_of(s, b->queries),
                  .first_key = first_of(s, b->keys)};
    snprintf(l.weights, sizeof l.weights, "%s.weights", b->path);
    snprintf(l.out, sizeof l.out, "%s.out", b->path);
    return l;
}

static bool find_layers(gradients *g) {
    const heed_inspection *s = g->s;
    heed_ctx *c = s->run->c;
    heed_record_block *list = heed_attention_layers(s->run, &g->count);
    if (!list) return false;
    size_t n = 0;
    g->layers = heed__alloc_array(c, (size_t)g->count, sizeof *g->layers);
    for (int i = 0; g->layers && i < g->count; i++) {
        g->layers[i] = followed_of(s, &list[i]);
        n += size_of(&g->layers[i]);
    }
    free(list);
    g->tokens = s->axes[0].count + (is_pair(s) ? s->axes[2].count : 0);
    g->values = heed__alloc_array(c, n, sizeof *g->values);
    g->row = heed__alloc_array(c, 2 * (size_t)g->tokens, sizeof *g->row);
    if (heed_ctx_status(c) != HEED_OK) return false;
    qsort(g->layers, (size_t)g->count, sizeof *g->layers, by_place);
    heed_real *at = g->values;
    for (int i = 0; i < g->count; at += size_of(&g->layers[i++])) g->layers[i].values = at;
    return true;
}

bool heed_gradient_add(const heed_inspection *s, const heed_gradient_args *args,
                       heed_record *record) {
    static const heed_gradient_args usual = {.question = -1};
    const heed_gradient_args *w = args ? args : &usual;
    if (!heed__inspectable(s)) return false;
    gradients g = {.s = s};
    answer answers[2] = {{.count = 0}};
    bool ok = heed__inspection_asked(s) && find_layers(&g);
    int count = ok ? list_answers(&g, answers) : 0;
    for (int i = 0; ok && i < count; i++) ok = answer_capacity(&g, &answers[i]);
    ok = ok && ask_all(&g, w, answers, count);
    for (int i = 0; ok && i < count; i++) ok = add_model(record, answers[i].map);
    for (int i = 0; ok && i < g.count; i++) ok = add_layer(&g, &g.layers[i], w, record);
    for (int i = 0; i < 2; i++) heed__free(answers[i].values);
    heed__free(g.layers);
    heed__free(g.values);
    heed__free(g.row);
    return ok;
}
