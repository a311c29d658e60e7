/* gradcheck.c -- compares backward with central differences: over cases of ops, parameters of
 * models. */
#include "core/tape.h"
#include "fit/fit.h"

#include <heed/nn.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- differences ---- */

#ifdef HEED_F64
static const double steps[] = {4e-3, 1e-3, 2e-4, 4e-5};
#else
static const double steps[] = {3.2e-2, 1.6e-2, 8e-3, 4e-3, 2e-3, 1e-3};
#endif
enum { STEPS = sizeof steps / sizeof *steps };

typedef double function(void *self);

static double shifted(function *f, void *self, heed_real *x, double by) {
    heed_real before = *x;
    *x = (heed_real)((double)before + by);
    double y = f(self);
    *x = before;
    return y;
}

/* df/dx by the central difference of sixth order. Fornberg 1988, table 1. */
static double difference(function *f, void *self, heed_real *x, double h) {
    double near = shifted(f, self, x, h) - shifted(f, self, x, -h);
    double next = shifted(f, self, x, 2 * h) - shifted(f, self, x, -2 * h);
    double far = shifted(f, self, x, 3 * h) - shifted(f, self, x, -3 * h);
    return (45 * near - 9 * next + far) / (60 * h);
}

/* A large step errs by curvature, a small one by rounding: the result is the one that agrees best
 * with the step before it, or the first that agrees with it to a share of ENOUGH. `scale` is the
 * size of a typical x. */
#define ENOUGH 1e-10
static double derivative(function *f, void *self, heed_real *x, double scale) {
    double best = NAN, before = NAN, least = INFINITY;
    for (int i = 0; i < STEPS; i++) {
        double d = difference(f, self, x, steps[i] * fmax(scale, fabs((double)*x)));
        if (fabs(d - before) <= least) {
            least = fabs(d - before);
            best = d;
        }
        if (least <= ENOUGH * fabs(best)) break;
        before = d;
    }
    return best;
}

static double largest(const heed_real *x, size_t n) {
    double most = 0;
    for (size_t i = 0; x && i < n; i++) most = fmax(most, fabs((double)x[i]));
    return most;
}

/* |a-n| / max(|a|, |n|, floor); INFINITY if not finite. */
static double disagreement(double a, double n, double floor) {
    double e = fabs(a - n), size = fmax(fmax(fabs(a), fabs(n)), floor);
    return e == 0 ? 0 : isfinite(e) ? e / size : INFINITY;
}

/* Gradients below this size are compared relative to it. */
static double floor_of(double in_tensor, double in_all) {
    /* In float the rounding of the loss hides all but the large ones. */
    if (sizeof(heed_real) < sizeof(double)) return 0.1 * in_all;
    return 1e-3 * fmax(in_tensor, 1e-3 * in_all);
}

/* ---- an op's case ---- */

enum { MOST = HEED__CASE_INPUTS };

typedef struct {
    heed_ctx *c;
    heed_tape *run, *memory; /* of one evaluation; of the entire case */
    const heed_op *op;
    const heed_case *k;
    int index, count;
    heed_tensor *in[MOST]; /* on memory; NULL where absent */
    heed_real *weights;    /* of the outputs in L = sum_i weights_i y_i */
} trial;

static bool fixed(const trial *t, int input) {
    return !t->in[input] || !t->in[input]->x || (t->k->fixed >> input & 1);
}

static heed_random stream(const trial *t, int input) {
    return heed_random_at(1, "gradcheck", (uint64_t)t->index, (uint32_t)input);
}

static bool unreadable(const trial *t, const char *what, const char *text) {
    return heed_fail(t->c, HEED_USAGE, "gradcheck of %s: case %d: cannot read %s \"%s\"",
                     t->op->name, t->index, what, text);
}

static double keep_away(double x, const char *kinks) {
    for (char *end; kinks && *kinks; kinks = end) {
        double kink = strtod(kinks, &end);
        if (end == kinks) break;
        if (fabs(x - kink) < 0.05) x = x < kink ? kink - 0.05 : kink + 0.05;
    }
    return x;
}

/* Values on a grid, each moved a little, in random order. */
static bool fill_apart(const trial *t, int input, heed_tensor *x, double lo, double hi) {
    heed_random r = stream(t, input);
    double gap = (hi - lo) / (double)(x->size ? x->size : 1);
    if (gap < 0.011) return unreadable(t, "so many values 0.01 apart in", t->k->shapes);
    for (size_t i = 0; i < x->size; i++) {
        size_t other = heed_random_below(&r, i, (uint32_t)i + 1);
        double move = (gap - 0.01) * (heed_random_uniform(&r, x->size + i) - 0.5);
        x->x[i] = x->x[other];
        x->x[other] = (heed_real)(lo + gap * ((double)i + 0.5) + move);
    }
    return true;
}

/* "2x3" or "s" into shape; returns its end, NULL if it is not a shape. */
static const char *read_shape(const char *text, int *dims, int shape[HEED_DIMS]) {
    *dims = 0;
    if (*text == 's') return text + 1;
    for (;;) {
        char *end;
        long size = strtol(text, &end, 10);
        if (end == text || size < 0 || size > 1 << 20 || *dims == HEED_DIMS) return NULL;
        shape[(*dims)++] = (int)size;
        if (*end != 'x') return end;
        text = end + 1;
    }
}

static bool make_input(trial *t, int input, const char *word) {
    double lo = (double)t->k->lo, hi = (double)t->k->hi;
    int dims, shape[HEED_DIMS];
    heed_random r = stream(t, input);
    if (lo == 0 && hi == 0) lo = -1, hi = 1;
    if (!strcmp(word, "-")) return true;
    bool ids = *word == 'i', mask = *word == 'm';
    const char *end = read_shape(word + (ids || mask), &dims, shape);
    long below = mask ? 2 : ids && end && *end == ':' ? strtol(end + 1, NULL, 10) : 0;
    if (!end || (ids ? below < 1 || below > INT32_MAX : *end != 0))
        return unreadable(t, "shape", word);
    if (ids || mask) {
        size_t size = 0;
        heed__shape_size(dims, shape, &size);
        int32_t *zeros = heed__alloc_array(t->c, size, sizeof *zeros);
        heed_tensor *x = zeros ? heed_input_ids(t->memory, zeros, dims, shape) : NULL;
        heed__free(zeros);
        for (size_t i = 0; x && i < x->size; i++)
            x->i[i] = (int32_t)heed_random_below(&r, i, (uint32_t)below);
        return (t->in[input] = x) != NULL;
    }
    heed_tensor *x = t->in[input] = heed_input(t->memory, NULL, dims, shape);
    if (!x) return false;
    if (t->k->apart) return fill_apart(t, input, x, lo, hi);
    for (size_t i = 0; i < x->size; i++)
        x->x[i] = (heed_real)keep_away(lo + (hi - lo) * heed_random_uniform(&r, i), t->k->away);
    return true;
}

static bool make_inputs(trial *t) {
    char text[256], *next = NULL;
    if (strlen(t->k->shapes) >= sizeof text) return unreadable(t, "shapes", t->k->shapes);
    memcpy(text, t->k->shapes, strlen(t->k->shapes) + 1);
    heed_tape_begin(t->memory, HEED_EVAL, 0);
    memset(t->in, 0, sizeof t->in);
    t->count = 0;
    for (char *word = text; *word; word = next) {
        while (*word == ' ') word++;
        size_t n = strcspn(word, " ");
        next = word + n + (word[n] == ' ');
        word[n] = 0;
        if (n && t->count == MOST) return unreadable(t, "so many inputs in", t->k->shapes);
        if (n && !make_input(t, t->count++, word)) return false;
    }
    int inputs = heed__op_inputs(t->op);
    if (inputs >= 0 && t->count != inputs)
        return heed_fail(t->c, HEED_USAGE, "gradcheck of %s: case %d: %d shapes for %d inputs",
                         t->op->name, t->index, t->count, inputs);
    return true;
}

/* The op on copies of the inputs; leaves gets those that need a gradient. */
static heed_tensor *evaluate(const trial *t, const heed_op *op, const void *args,
                             heed_tensor *leaves[MOST]) {
    heed_tape_begin(t->run, t->k->eval ? HEED_TRACE : HEED_TRAIN, 1);
    for (int i = 0; i < t->count; i++) {
        const heed_tensor *x = leaves[i] = t->in[i];
        if (x && x->x) leaves[i] = heed_input(t->run, x->x, x->dims, x->shape);
        if (x && x->i) leaves[i] = heed_input_ids(t->run, x->i, x->dims, x->shape);
        if (!fixed(t, i)) heed_want_grad(t->run, leaves[i]);
    }
    return heed_push_list(t->run, op, args, t->count, leaves);
}

static double weighted_sum(void *self) {
    const trial *t = self;
    heed_tensor *leaves[MOST];
    const heed_tensor *y = evaluate(t, t->op, t->k->args, leaves);
    double sum = 0;
    for (size_t i = 0; y && i < y->size; i++) sum += (double)t->weights[i] * (double)y->x[i];
    return sum;
}

/* Gives each input a gradient of ones, as if another op or an earlier pass had come before. */
static bool give_ones(const trial *t, heed_tensor *leaves[MOST]) {
    for (int i = 0; i < t->count; i++) {
        if (fixed(t, i)) continue;
        const heed_tensor *x = t->in[i], *ones = heed_input(t->memory, NULL, x->dims, x->shape);
        if (!ones) return false;
        for (size_t e = 0; e < ones->size; e++) ones->x[e] = 1;
        leaves[i]->g = ones->x;
    }
    return true;
}

/* Gradients of L by the op's backward, kept in the case's memory; optionally also the output.
 * adds: inputs have a gradient already, to which those must be added; it is subtracted again. */
static bool analytic(trial *t, const heed_op *op, const void *args, bool adds, heed_real *g[MOST],
                     heed_tensor **output) {
    heed_tensor *leaves[MOST];
    heed_tensor *y = evaluate(t, op, args, leaves);
    if (!y || (adds && !give_ones(t, leaves))) return false;
    if (output && !(*output = heed_input(t->memory, y->x, y->dims, y->shape))) return false;
    if (!t->weights) {
        heed_tensor *w = heed_input(t->memory, NULL, y->dims, y->shape);
        heed_random r = stream(t, MOST);
        for (size_t i = 0; w && i < w->size; i++)
            w->x[i] = (heed_real)(y->dims ? 2 * heed_random_uniform(&r, i) - 1 : 1);
        t->weights = w ? w->x : NULL;
    }
    if (!t->weights || !heed_backward_from(t->run, y, t->weights)) return false;
    for (int i = 0; i < t->count; i++) {
        if (fixed(t, i)) continue;
        heed_tensor *copy = heed_input(t->memory, leaves[i]->g, leaves[i]->dims, leaves[i]->shape);
        if (!copy) return false;
        g[i] = copy->x;
        for (size_t e = 0; adds && e < copy->size; e++) g[i][e] -= 1;
    }
    return true;
}

/* The expected gradients: by differences, or those of the op that it replaces. */
static bool expected(trial *t, heed_real *g[MOST]) {
    if (t->k->surrogate)
        return analytic(t, t->k->surrogate->op, t->k->surrogate->args, false, g, NULL);
    for (int i = 0; i < t->count; i++) {
        if (fixed(t, i)) continue;
        heed_tensor *x = t->in[i], *n = heed_input(t->memory, NULL, x->dims, x->shape);
        if (!n) return false;
        g[i] = n->x;
        for (size_t e = 0; e < x->size; e++)
            n->x[e] = (heed_real)derivative(weighted_sum, t, &x->x[e], 1);
    }
    return heed_ctx_status(t->c) == HEED_OK;
}

static void compare(const trial *t, heed_real *const a[MOST], heed_real *const n[MOST],
                    heed_check *check) {
    double all = 0;
    for (int i = 0; i < t->count; i++)
        if (!fixed(t, i)) all = fmax(all, largest(n[i], t->in[i]->size));
    for (int i = 0; i < t->count; i++) {
        if (fixed(t, i)) continue;
        double floor = floor_of(largest(n[i], t->in[i]->size), all);
        for (size_t e = 0; e < t->in[i]->size; e++) {
            double d = disagreement((double)a[i][e], (double)n[i][e], floor);
            if (d <= check->error) continue;
            check->error = d;
            snprintf(check->worst, sizeof check->worst, "case %d, input %d, element %zu", t->index,
                     i, e);
        }
    }
}

static bool run_case(trial *t, heed_check *check) {
    heed_real *a[2][MOST] = {{NULL}}, *n[MOST] = {NULL};
    t->weights = NULL;
    if (!make_inputs(t)) return false;
    for (int adds = 0; adds < 2; adds++)
        if (!analytic(t, t->op, t->k->args, adds, a[adds], NULL)) return false;
    if (!expected(t, n)) return false;
    for (int adds = 0; adds < 2; adds++) compare(t, a[adds], n, check);
    check->cases++;
    return true;
}

heed_check heed_gradcheck(heed_ctx *c, const heed_op *op) {
    heed_check check = {.error = 0};
    if (!op) return (heed_check){.error = -1};
    if (!heed__stopped(c) && (!op->cases || !op->cases[0].shapes))
        heed_fail(c, HEED_USAGE, "gradcheck of %s: the op has no cases", op->name);
    trial t = {.c = c, .op = op, .run = heed_tape_new(c), .memory = heed_tape_new(c)};
    bool ok = t.run && t.memory;
    for (; ok && op->cases[t.index].shapes; t.index++) {
        t.k = &op->cases[t.index];
        ok = run_case(&t, &check);
    }
    if (!ok) check.error = -1;
    heed_tape_free(t.run);
    heed_tape_free(t.memory);
    return check;
}

int heed__case_run(heed_ctx *c, const heed_op *op, int index, heed_tape *memory,
                   heed_tensor *values[HEED__CASE_INPUTS + 1]) {
    trial t = {.c = c, .op = op, .index = index, .k = &op->cases[index], .memory = memory};
    heed_real *g[MOST] = {NULL};
    int count = 1;
    t.run = heed_tape_new(c);
    bool ok = t.run && make_inputs(&t) && analytic(&t, op, t.k->args, false, g, &values[0]);
    for (int i = 0; ok && i < t.count; i++) {
        if (!g[i]) continue;
        values[count] = heed_wrap(memory, g[i], t.in[i]->dims, t.in[i]->shape);
        ok = values[count++] != NULL;
    }
    heed_tape_free(t.run);
    return ok ? count : 0;
}

/* ---- a model's parameters ---- */

typedef struct {
    heed_tape *tape;
    heed_tensor *(*loss)(void *user, heed_tape *t);
    void *user;
} model;

static heed_tensor *record(const model *m) {
    heed_tape_begin(m->tape, HEED_TRAIN, 1);
    return m->loss(m->user, m->tape);
}

static double loss_value(void *self) {
    const heed_tensor *y = record(self);
    return y ? (double)y->x[0] : 0;
}

/* Every second sample has a gradient that is not 0, if found: most rows of embeddings are unused.
 */
static size_t sample(const heed_random *r, const heed_tensor *x, int i) {
    size_t e = 0;
    for (uint64_t draw = 0; draw < 64; draw++) {
        e = heed_random_below(r, (uint64_t)i * 64 + draw, (uint32_t)x->size);
        if (i % 2 == 0 || (x->g && x->g[e] != 0)) break;
    }
    return e;
}

static double typical(const heed_tensor *x) {
    double sum = 0;
    for (size_t i = 0; i < x->size; i++) sum += (double)x->x[i] * (double)x->x[i];
    return fmax(sqrt(sum / (double)x->size), 1e-2);
}

static void check_entry(model *m, const heed_param *e, double all, int samples, heed_check *check) {
    heed_tensor *x = e->tensor;
    heed_random r = heed_random_at(1, e->name, 0, 0);
    bool every = x->size <= (size_t)samples;
    double floor = floor_of(largest(x->g, x->size), all), scale = typical(x);
    for (int i = 0; i < (every ? (int)x->size : samples); i++) {
        size_t at = every ? (size_t)i : sample(&r, x, i);
        double a = x->g ? (double)x->g[at] : 0, n = derivative(loss_value, m, &x->x[at], scale);
        double d = disagreement(a, n, floor);
        if (d <= check->error) continue;
        check->error = d;
        snprintf(check->worst, sizeof check->worst, "%.70s, element %zu", e->name, at);
    }
    check->cases++;
}

/* The mean gradient of two passes: the second adds to the first. */
static bool two_passes(model *m, heed_params *s) {
    heed_zero_grads(s);
    for (int pass = 0; pass < 2; pass++)
        if (!heed_backward(m->tape, record(m))) return false;
    for (int i = 0; i < heed_params_count(s); i++) {
        heed_tensor *x = heed_params_at(s, i)->tensor;
        for (size_t e = 0; x->g && e < x->size; e++) x->g[e] /= 2;
    }
    return true;
}

heed_check heed_gradcheck_store(heed_ctx *c, heed_params *s,
                                heed_tensor *(*loss)(void *user, heed_tape *t), void *user,
                                int samples) {
    heed_check check = {.error = 0};
    if (!s || !loss) return (heed_check){.error = -1};
    model m = {heed_tape_new(c), loss, user};
    double all = 0;
    bool ok = m.tape && two_passes(&m, s);
    for (int i = 0; ok && i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        if (e->trained) all = fmax(all, largest(e->tensor->g, e->tensor->size));
    }
    for (int i = 0; ok && i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        if (e->trained && e->tensor->size) check_entry(&m, e, all, samples, &check);
        ok = !heed__stopped(c);
    }
    if (!ok) check.error = -1;
    heed_zero_grads(s);
    heed_tape_free(m.tape);
    return check;
}

/* ---- a layer ---- */

typedef struct {
    const heed_layer_case *k;
    heed_tensor *x;
    void *self;
} layer;

static heed_tensor *weighted_outputs(void *user, heed_tape *t) {
    const layer *l = user;
    heed_tensor *y = l->k->apply(l->self, t, l->x);
    heed_tensor *w = y ? heed_input(t, NULL, y->dims, y->shape) : NULL;
    heed_random r = heed_random_at(1, "gradcheck of a layer", 0, 0);
    for (size_t i = 0; w && i < w->size; i++) w->x[i] = (heed_real)heed_random_normal(&r, i);
    return heed_sum(t, heed_mul(t, y, w));
}

heed_check heed_gradcheck_layer(heed_ctx *c, const heed_layer_case *k) {
    enum { SAMPLES = 48 };
    heed_check check = {.error = -1};
    if (!c || !k) return check;
    heed_params *s = heed_params_new(c);
    layer l = {.k = k, .self = heed__alloc(c, k->size)};
    l.x = heed_param_new(s, "x", "normal:1", 3,
                         (int[]){HEED_CASE_ROWS, HEED_CASE_LEN, HEED_CASE_WIDTH});
    if (l.x && l.self) {
        k->init(l.self, s, k->args);
        for (int i = 0; i < heed_params_count(s); i++) {
            heed_tensor *p = heed_params_at(s, i)->tensor;
            heed_random r = heed_random_at(2, p->name, 0, 0);
            for (size_t e = 0; e < p->size && p->dims == 1 && p->wants_grad; e++)
                p->x[e] += (heed_real)(0.3 * heed_random_normal(&r, e));
        }
        if (!heed__stopped(c)) check = heed_gradcheck_store(c, s, weighted_outputs, &l, SAMPLES);
    }
    heed__free(l.self);
    heed_params_free(s);
    return check;
}
