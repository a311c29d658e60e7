/* gradient.c -- attention times the gradient of what was predicted. Chefer et al. 2021. */
#include "matters.h"

#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    program *p; /* that shows progress; NULL: nobody */
    const subject *s;
    attending *layers; /* that are followed: of self-attention, or of a pair those to its source */
    int count, queries, keys, heads;
    heed_real *values; /* (layers, heads, Q, K): (A x dy/dA)+ of the question at hand */
    double *row;       /* (K) twice: work */
} gradients;

static bool is_pair(const subject *s) { return s->read != NULL; }

static heed_stack stack_of(const subject *s) {
    if (is_pair(s)) return HEED_CROSS;
    return s->run->model == &heed_model_gpt ? HEED_DECODER : HEED_ENCODER;
}

/* ---- one question ---- */

/* A pass whose attention weights get gradients. In a trace no parameter has one unless it is asked
 * for: the first one is, since all others' values depend on it, and with them all attention. */
static heed_tensor *traced(const gradients *g) {
    const heed_run *r = g->s->run;
    bool steps = r->model == &heed_model_rnn;
    heed_unprobe(r->tape);
    heed_probe(r->tape, "*.weights", true);
    if (steps) heed_probe(r->tape, "decoder.attend.out", true);
    heed_tape_begin(r->tape, HEED_TRACE, 0);
    heed_want_grad(r->tape, heed_store_at(r->store, 0)->tensor);
    return subject_logits(g->s, r->tape);
}

static bool backward_from(const gradients *g, heed_tensor *y, const question *q) {
    int n = y->shape[1], class = question_class(g->s, q, y);
    heed_real *gy = calloc(y->size, sizeof *gy);
    if (!gy) return heed_fail(g->s->run->c, HEED_FAILED, "no memory for gradients");
    gy[(size_t)q->row * (size_t)n + (size_t) class] = 1;
    bool ok = heed_backward_from(g->s->run->tape, y, gy);
    free(gy);
    return ok;
}

static void positive_part(const heed_tensor *w, size_t n, heed_real *out) {
    for (size_t i = 0; i < n; i++) {
        heed_real product = w->g ? w->x[i] * w->g[i] : 0;
        out[i] = product > 0 ? product : 0;
    }
}

/* A recurrent decoder that is one op has the gradients of all its steps; else what each step
 * records under the layer's name ends with its weights, (1,1,S), after its scores where these are a
 * product.
 */
static bool take_steps(const gradients *g) {
    const heed_run *r = g->s->run;
    const heed_tensor *all = heed_probe_find(r->tape, "decoder.attend.weights");
    size_t keys = (size_t)g->keys;
    int each = strcmp(heed_config_text(r->config, "attention"), "additive") == 0 ? 1 : 2, seen = 0;
    if (all && all->g) {
        positive_part(all, all->size, g->values);
        return all->size == (size_t)g->queries * keys;
    }
    for (int i = 0; i < heed_probe_count(r->tape) && seen < each * g->queries; i++) {
        const char *path;
        const heed_tensor *w = heed_probe_at(r->tape, i, &path);
        if (strcmp(path, "decoder.attend.out") != 0 || w->size != keys) continue;
        if (++seen % each == 0)
            positive_part(w, keys, g->values + (size_t)(seen / each - 1) * keys);
    }
    return seen == each * g->queries;
}

static bool take_layers(const gradients *g) {
    size_t n = (size_t)g->heads * (size_t)g->queries * (size_t)g->keys;
    for (int i = 0; i < g->count; i++) {
        char path[80];
        snprintf(path, sizeof path, "%s.weights", g->layers[i].path);
        const heed_tensor *w = heed_probe_find(g->s->run->tape, path);
        if (!w || w->size != n) return false;
        positive_part(w, n, g->values + (size_t)i * n);
    }
    return true;
}

static bool solve(const gradients *g, const question *q) {
    heed_tensor *y = traced(g);
    bool ok = y && backward_from(g, y, q);
    bool taken = ok && (g->s->run->model == &heed_model_rnn ? take_steps(g) : take_layers(g));
    heed_unprobe(g->s->run->tape);
    return taken ||
           (ok && heed_fail(g->s->run->c, HEED_FAILED, "the model kept no attention weights"));
}

/* ---- over layers ---- */

static double summed(const gradients *g, int layer, int query, int key) {
    double sum = 0;
    for (int h = 0; h < g->heads; h++) {
        size_t row = (size_t)(layer * g->heads + h) * (size_t)g->queries + (size_t)query;
        sum += (double)g->values[row * (size_t)g->keys + (size_t)key];
    }
    return sum;
}

/* The question's row of (I + G_L) .. (I + G_1) - I; of the whole input, the mean of all rows. */
static void follow(const gradients *g, int query, heed_real *out) {
    double *now = g->row, *next = g->row + g->keys;
    for (int i = 0; i < g->keys; i++) now[i] = query < 0 ? 1.0 / g->keys : i == query;
    for (int l = g->count; l-- > 0;) {
        memcpy(next, now, (size_t)g->keys * sizeof *next);
        for (int i = 0; i < g->keys; i++)
            for (int k = 0; now[i] > 0 && k < g->keys; k++) next[k] += now[i] * summed(g, l, i, k);
        memcpy(now, next, (size_t)g->keys * sizeof *now);
    }
    for (int i = 0; i < g->keys; i++)
        out[i] = (heed_real)(now[i] - (query < 0 ? 1.0 / g->keys : i == query));
}

static void add_up(const gradients *g, int query, heed_real *out) {
    for (int k = 0; k < g->keys; k++) {
        double sum = 0;
        for (int l = 0; l < g->count; l++) sum += summed(g, l, query, k);
        out[k] = (heed_real)sum;
    }
}

/* ---- the maps ---- */

static bool add_map(const gradients *g, heed_record *record, int layer, int head,
                    const heed_real *values) {
    static const char help[] =
        "attention times the gradient of the prediction's logit, its positive part: where "
        "attending a little more would raise the logit";
    return heed_record_add_map(record, &(heed_record_map){.name = "gradient",
                                                          .help = help,
                                                          .layer = layer,
                                                          .head = head,
                                                          .stack = stack_of(g->s),
                                                          .queries = is_pair(g->s),
                                                          .values = values}) >= 0;
}

static bool add_layers(const gradients *g, bool by_head, heed_record *record) {
    size_t square = (size_t)g->queries * (size_t)g->keys;
    heed_real *sum = malloc((square + 1) * sizeof *sum);
    bool ok = sum || heed_fail(g->s->run->c, HEED_FAILED, "no memory for a map");
    for (int l = 0; ok && l < g->count; l++) {
        for (size_t i = 0; i < square; i++)
            sum[i] =
                (heed_real)summed(g, l, (int)(i / (size_t)g->keys), (int)(i % (size_t)g->keys));
        if (!by_head) ok = add_map(g, record, g->layers[l].block.layer, -1, sum);
        for (int h = 0; ok && by_head && h < g->heads; h++)
            ok = add_map(g, record, g->layers[l].block.layer, h,
                         g->values + (size_t)(l * g->heads + h) * square);
    }
    free(sum);
    return ok;
}

/* Rows of the questions; the one of w comes last, so that its layers' values are at hand then. */
static bool all_questions(const gradients *g, const gradient_wish *w, heed_real *out) {
    const subject *s = g->s;
    int last =
        w->question >= 0 && w->question < s->question_count ? w->question : s->question_count - 1;
    size_t keys = (size_t)g->keys;
    for (size_t i = 0; i < (size_t)g->queries * keys; i++) out[i] = (heed_real)NAN;
    for (int i = w->only ? s->question_count : 1; i <= s->question_count; i++) {
        const question *q = &s->questions[(last + i) % s->question_count];
        heed_real *row = out + (size_t)(q->query < 0 ? 0 : q->query) * keys;
        if (!solve(g, q)) return false;
        if (is_pair(s))
            add_up(g, q->query, row);
        else
            follow(g, q->query, row);
        for (int j = 1; q->query < 0 && j < g->queries; j++)
            memcpy(out + (size_t)j * keys, out, keys * sizeof *out);
        if (g->p) sweep_progress(g->p, "gradient", (uint64_t)i, (uint64_t)s->question_count);
    }
    return true;
}

static bool find_layers(gradients *g) {
    heed_stack wanted = stack_of(g->s);
    int all, kept = 0;
    g->layers = attending_layers(g->s->run, &all);
    for (int i = 0; g->layers && i < all; i++)
        if (g->layers[i].block.stack == wanted) g->layers[kept++] = g->layers[i];
    g->count = kept;
    if (kept == 0) return false;
    g->heads = g->layers[0].block.heads;
    g->queries = g->s->axes[is_pair(g->s)].count;
    g->keys = g->s->axes[0].count;
    size_t n = (size_t)g->count * (size_t)g->heads * (size_t)g->queries * (size_t)g->keys;
    g->values = calloc(n + 1, sizeof *g->values);
    g->row = calloc(2 * (size_t)g->keys + 1, sizeof *g->row);
    return (g->values && g->row) || heed_fail(g->s->run->c, HEED_FAILED, "no memory for gradients");
}

bool gradient_add(program *p, const subject *s, const gradient_wish *w, heed_record *record) {
    gradients g = {.p = w->quiet ? NULL : p, .s = s};
    heed_real *out = NULL;
    bool ok = has_questions(s) && find_layers(&g);
    if (ok) out = malloc((size_t)g.queries * (size_t)g.keys * sizeof *out);
    if (ok && !out) ok = heed_fail(s->run->c, HEED_FAILED, "no memory for a map");
    ok = ok && all_questions(&g, w, out) && add_map(&g, record, -1, -1, out) &&
         add_layers(&g, w->by_head, record);
    if (g.p) sweep_progress(p, "", 1, 1);
    free(out);
    free(g.layers);
    free(g.values);
    free(g.row);
    return ok;
}
