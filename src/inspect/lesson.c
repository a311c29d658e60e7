/* lesson.c -- one attention head in double precision, with every matrix and every gradient kept.
 * Vaswani et al. 2017, eq. 1. */
#include <heed/lesson.h>

#include "core/core.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LARGEST = 1 << 20 };

static size_t size_of(const heed_matrix *m) { return (size_t)m->rows * (size_t)m->cols; }

double heed_matrix_at(const heed_matrix *m, int row, int col) {
    if (!m || !m->x || row < 0 || row >= m->rows || col < 0 || col >= m->cols) return NAN;
    return m->x[(size_t)row * (size_t)m->cols + (size_t)col];
}

void heed_matrix_product(const heed_matrix *a, const heed_matrix *b, heed_matmul_how how,
                         heed_matrix *out) {
    if (!a || !b || !out) return;
    bool at = how.left_transposed, bt = how.right_transposed;
    int inner = at ? a->rows : a->cols;
    assert(inner == (bt ? b->cols : b->rows));
    assert(out->rows == (at ? a->cols : a->rows) && out->cols == (bt ? b->rows : b->cols));
    for (int i = 0; i < out->rows; i++)
        for (int j = 0; j < out->cols; j++) {
            double sum = 0;
            for (int k = 0; k < inner; k++)
                sum += heed_matrix_at(a, at ? k : i, at ? i : k) *
                       heed_matrix_at(b, bt ? j : k, bt ? k : j);
            double *y = &out->x[(size_t)i * (size_t)out->cols + (size_t)j];
            *y = how.add ? *y + sum : sum;
        }
}

/* Index of the first largest of n numbers; -1 if all are -inf. */
static int first_largest(const double *x, int n) {
    int best = -1;
    for (int j = 0; j < n; j++)
        if (x[j] > (best < 0 ? -(double)INFINITY : x[best])) best = j;
    return best;
}

void heed_matrix_softmax(const heed_matrix *scores, bool hard, heed_matrix *out) {
    if (!scores || !out) return;
    int n = scores->cols;
    for (int i = 0; i < scores->rows; i++) {
        const double *s = scores->x + (size_t)i * (size_t)n;
        double *w = out->x + (size_t)i * (size_t)n, sum = 0;
        int best = first_largest(s, n);
        double top = best < 0 ? 0 : s[best]; /* out may be scores itself */
        for (int j = 0; j < n; j++) {
            w[j] = best < 0 ? 0 : hard ? (double)(j == best) : exp(s[j] - top);
            sum += w[j];
        }
        for (int j = 0; best >= 0 && j < n; j++) w[j] /= sum;
    }
}

int heed_attention_trace_ties(const heed_attention_trace *l, int query, int *first) {
    if (!l || !first) return 0;
    const heed_matrix *m = &l->part[HEED_TRACE_SCORES];
    *first = 0;
    if (!m->x || query < 0 || query >= m->rows) return 0;
    const double *s = m->x + (size_t)query * (size_t)m->cols;
    int best = first_largest(s, m->cols), count = 0;
    for (int j = 0; best >= 0 && j < m->cols; j++) count += s[j] == s[best];
    if (best > 0) *first = best;
    return count;
}

static void project(heed_attention_trace *l, const heed_matrix *in, heed_attention_trace_part w,
                    heed_attention_trace_part b, heed_attention_trace_part out) {
    heed_matrix *y = &l->part[out];
    heed_matrix_product(in, &l->part[w], (heed_matmul_how){0}, y);
    for (size_t i = 0; i < size_of(y); i++) y->x[i] += l->part[b].x[i % (size_t)y->cols];
}

/* Rotates row p by the angles p theta^(-2i / e), or back by the opposite ones: numbers i and i +
 * e/2 are a pair. Su et al. 2021, eq. 34. */
static void rotate(const heed_attention_trace *l, const heed_matrix *from, bool back,
                   heed_matrix *to) {
    int width = from->cols, half = width / 2;
    for (int p = 0; p < from->rows; p++)
        for (int i = 0; i < half; i++) {
            double angle = p * pow(l->args.rotary, -2.0 * i / width);
            double c = cos(angle), s = back ? -sin(angle) : sin(angle);
            const double *x = from->x + (size_t)p * (size_t)width + i;
            double *y = to->x + (size_t)p * (size_t)width + i, low = x[0], high = x[half];
            y[0] = low * c - high * s;
            y[half] = high * c + low * s;
        }
}

/* The queries and keys that are compared. */
static const heed_matrix *compared(const heed_attention_trace *l, heed_attention_trace_part plain) {
    heed_attention_trace_part rotated = plain == HEED_TRACE_Q ? HEED_TRACE_Q_R : HEED_TRACE_K_R;
    return &l->part[l->part[rotated].x ? rotated : plain];
}

static void score(heed_attention_trace *l) {
    heed_matrix *part = l->part;
    if (part[HEED_TRACE_Q_R].x) {
        rotate(l, &part[HEED_TRACE_Q], false, &part[HEED_TRACE_Q_R]);
        rotate(l, &part[HEED_TRACE_K], false, &part[HEED_TRACE_K_R]);
    }
    heed_matrix_product(compared(l, HEED_TRACE_Q), compared(l, HEED_TRACE_K),
                        (heed_matmul_how){.right_transposed = true}, &part[HEED_TRACE_RAW]);
    size_t cols = (size_t)part[HEED_TRACE_RAW].cols;
    for (size_t i = 0; i < size_of(&part[HEED_TRACE_RAW]); i++) {
        size_t query = i / cols, key = i % cols;
        bool hidden = (l->args.causal && key > query) || l->hidden[key];
        part[HEED_TRACE_SCALED].x[i] = l->args.beta * part[HEED_TRACE_RAW].x[i];
        part[HEED_TRACE_SCORES].x[i] = hidden ? -(double)INFINITY : part[HEED_TRACE_SCALED].x[i];
    }
}

/* ---- the rest of the layer ---- */

/* Normalizes a row of n numbers to mean 0 and deviation 1: out = (x - mean) / sqrt(var + eps); out
 * may be x. Returns 1 / sqrt(var + eps). Ba, Kiros & Hinton 2016, eq. 4. */
static double row_normed(const double *x, int n, double eps, double *out) {
    double mean = 0, var = 0;
    if (!x || !out) return 0;
    for (int j = 0; j < n; j++) mean += x[j] / n;
    for (int j = 0; j < n; j++) var += (x[j] - mean) * (x[j] - mean) / n;
    double scale = 1 / sqrt(var + eps);
    for (int j = 0; j < n; j++) out[j] = (x[j] - mean) * scale;
    return scale;
}

/* LN(X + all) gain + bias, one row per token. */
static void norm(heed_attention_trace *l) {
    const heed_matrix *part = l->part;
    size_t n = (size_t)part[HEED_TRACE_NORMED].cols;
    for (int i = 0; i < part[HEED_TRACE_NORMED].rows; i++) {
        size_t row = (size_t)i * n;
        double *y = part[HEED_TRACE_NORMED].x + row;
        for (size_t j = 0; j < n; j++)
            y[j] = part[HEED_TRACE_X].x[row + j] + part[HEED_TRACE_ALL].x[row + j];
        row_normed(y, (int)n, l->args.eps, y);
        for (size_t j = 0; j < n; j++)
            y[j] = y[j] * part[HEED_TRACE_GAIN].x[j] + part[HEED_TRACE_BIAS].x[j];
    }
}

static void finish(heed_attention_trace *l) {
    heed_matrix *part = l->part, *share = &part[HEED_TRACE_SHARE];
    if (!share->x) return;
    heed_matrix_product(&part[HEED_TRACE_OUTPUT], &part[HEED_TRACE_W_H], (heed_matmul_how){0},
                        share);
    for (size_t i = 0; i < size_of(share); i++)
        part[HEED_TRACE_ALL].x[i] = share->x[i] + part[HEED_TRACE_OTHERS].x[i] +
                                    part[HEED_TRACE_B_O].x[i % (size_t)share->cols];
    if (part[HEED_TRACE_NORMED].x) norm(l);
}

void heed_attention_trace_compute(heed_attention_trace *l) {
    if (!l) return;
    heed_matrix *part = l->part;
    project(l, &part[HEED_TRACE_X], HEED_TRACE_W_Q, HEED_TRACE_B_Q, HEED_TRACE_Q);
    project(l, &part[HEED_TRACE_Z], HEED_TRACE_W_K, HEED_TRACE_B_K, HEED_TRACE_K);
    project(l, &part[HEED_TRACE_Z], HEED_TRACE_W_V, HEED_TRACE_B_V, HEED_TRACE_V);
    score(l);
    heed_matrix_softmax(&part[HEED_TRACE_SCORES], l->args.hard, &part[HEED_TRACE_WEIGHTS]);
    heed_matrix_product(&part[HEED_TRACE_WEIGHTS], &part[HEED_TRACE_V], (heed_matmul_how){0},
                        &part[HEED_TRACE_OUTPUT]);
    finish(l);
}

/* ---- making ---- */

/* Of each part its name, the sizes of its rows and columns in the arguments (ONE: 1), and where
 * those have its numbers; 0: it is computed, as x, which is always given, is not their first. */
#define AT(member) offsetof(heed_attention_trace_args, member)
enum { ONE = sizeof(heed_attention_trace_args) };
static const struct {
    const char *name;
    size_t rows, cols, given;
} parts[HEED_TRACE_COUNT] = {
    [HEED_TRACE_X] = {"X", AT(tokens), AT(features), AT(x)},
    [HEED_TRACE_Z] = {"Z", AT(sources), AT(memory), AT(z)},
    [HEED_TRACE_W_Q] = {"W_Q", AT(features), AT(key), AT(w_q)},
    [HEED_TRACE_W_K] = {"W_K", AT(memory), AT(key), AT(w_k)},
    [HEED_TRACE_W_V] = {"W_V", AT(memory), AT(value), AT(w_v)},
    [HEED_TRACE_B_Q] = {"B_Q", ONE, AT(key), AT(b_q)},
    [HEED_TRACE_B_K] = {"B_K", ONE, AT(key), AT(b_k)},
    [HEED_TRACE_B_V] = {"B_V", ONE, AT(value), AT(b_v)},
    [HEED_TRACE_Q] = {"Q", AT(tokens), AT(key), 0},
    [HEED_TRACE_K] = {"K", AT(sources), AT(key), 0},
    [HEED_TRACE_V] = {"V", AT(sources), AT(value), 0},
    [HEED_TRACE_Q_R] = {"Q_R", AT(tokens), AT(key), 0},
    [HEED_TRACE_K_R] = {"K_R", AT(sources), AT(key), 0},
    [HEED_TRACE_RAW] = {"raw", AT(tokens), AT(sources), 0},
    [HEED_TRACE_SCALED] = {"scaled", AT(tokens), AT(sources), 0},
    [HEED_TRACE_SCORES] = {"scores", AT(tokens), AT(sources), 0},
    [HEED_TRACE_WEIGHTS] = {"weights", AT(tokens), AT(sources), 0},
    [HEED_TRACE_OUTPUT] = {"output", AT(tokens), AT(value), 0},
    [HEED_TRACE_W_H] = {"W_h", AT(value), AT(width), AT(w_h)},
    [HEED_TRACE_B_O] = {"B_O", ONE, AT(width), AT(b_o)},
    [HEED_TRACE_OTHERS] = {"others", AT(tokens), AT(width), AT(others)},
    [HEED_TRACE_GAIN] = {"gain", ONE, AT(width), AT(gain)},
    [HEED_TRACE_BIAS] = {"bias", ONE, AT(width), AT(norm_bias)},
    [HEED_TRACE_SHARE] = {"share", AT(tokens), AT(width), 0},
    [HEED_TRACE_ALL] = {"all_heads", AT(tokens), AT(width), 0},
    [HEED_TRACE_NORMED] = {"normed", AT(tokens), AT(width), 0},
};

const char *heed_attention_trace_name(heed_attention_trace_part part) {
    return (int)part >= 0 && part < HEED_TRACE_COUNT ? parts[part].name : "";
}

/* Whether a part has numbers; those of rotary positions, of the layer and its norm have some only
 * if given. */
static bool is_there(const heed_attention_trace_args *a, int part) {
    if (part == HEED_TRACE_Q_R || part == HEED_TRACE_K_R) return a->rotary > 0;
    bool of_norm = part == HEED_TRACE_GAIN || part == HEED_TRACE_BIAS || part == HEED_TRACE_NORMED;
    return part < HEED_TRACE_W_H || (a->w_h && (!of_norm || a->gain));
}

static int size_in(const heed_attention_trace_args *a, size_t member) {
    return member == ONE ? 1 : *(const int *)((const char *)a + member);
}

static bool check(heed_ctx *c, const heed_attention_trace *l) {
    const heed_attention_trace_args *a = &l->args;
    if (a->w_h && a->gain && a->width != a->features)
        return heed_fail(c, HEED_USAGE,
                         "a lesson's norm does not fit: expected W_h to have the %d columns of X, "
                         "found %d",
                         a->features, a->width);
    if (!(a->rotary >= 0) || (a->rotary > 0 && (!l->self || a->key % 2)))
        return heed_fail(c, HEED_USAGE,
                         "a lesson's rotary positions do not fit: expected keys made of X, of an "
                         "even width, and a theta above 0, found %s, width %d, theta %g",
                         l->self ? "X" : "Z", a->key, a->rotary);
    for (int i = 0; i < HEED_TRACE_COUNT; i++) {
        const heed_matrix *m = &l->part[i];
        if (!is_there(a, i)) continue;
        if (m->rows < 1 || m->cols < 1 || (int64_t)m->rows * m->cols > LARGEST)
            return heed_fail(
                c, HEED_USAGE,
                "a lesson's %s has a wrong size: expected 1 to %d numbers, found %dx%d",
                heed_attention_trace_name((heed_attention_trace_part)i), LARGEST, m->rows, m->cols);
    }
    return true;
}

static void copy(heed_matrix *to, const double *from) {
    if (from && to->x) memcpy(to->x, from, size_of(to) * sizeof *from);
}

/* Allocates all parts, followed by the flags of hidden keys. Z shares the numbers of X unless z is
 * given. */
static bool place(heed_ctx *c, heed_attention_trace *l) {
    size_t total = 0, keys = (size_t)l->args.sources;
    for (int i = 0; i < HEED_TRACE_COUNT; i++) total += size_of(&l->part[i]);
    l->memory = heed__alloc_array(c, total + 1 + keys / sizeof(double), sizeof *l->memory);
    if (!l->memory) return false;
    double *at = l->memory;
    for (int i = 0; i < HEED_TRACE_COUNT; i++) {
        if (!is_there(&l->args, i)) continue;
        l->part[i].x = i == HEED_TRACE_Z && l->self ? l->part[HEED_TRACE_X].x : at;
        at += size_of(&l->part[i]);
    }
    l->hidden = (unsigned char *)at;
    if (l->args.hide) memcpy(l->hidden, l->args.hide, keys);
    l->args.hide = l->hidden;
    return true;
}

bool heed_attention_trace_make(heed_ctx *c, const heed_attention_trace_args *a,
                               heed_attention_trace *out) {
    if (out) *out = (heed_attention_trace){0};
    if (!a || !out)
        return heed_fail(c, HEED_USAGE, "a lesson requires numbers and a result, found NULL");
    *out = (heed_attention_trace){.args = *a, .self = !a->z};
    if (heed__stopped(c)) return false;
    if (out->self) out->args.sources = a->tokens, out->args.memory = a->features;
    for (int i = 0; i < HEED_TRACE_COUNT; i++)
        if (is_there(&out->args, i))
            out->part[i] = (heed_matrix){size_in(&out->args, parts[i].rows),
                                         size_in(&out->args, parts[i].cols), NULL};
    if (!check(c, out) || !place(c, out)) return false;
    /* The arguments point to the lesson's copies: the head can be computed again from them. */
    for (int i = 0; i < HEED_TRACE_COUNT; i++) {
        if (!parts[i].given || (i == HEED_TRACE_Z && out->self)) continue;
        const double **given = (const double **)(void *)((char *)&out->args + parts[i].given);
        copy(&out->part[i], *given);
        *given = out->part[i].x;
    }
    if (isnan(a->beta)) out->args.beta = 1 / sqrt(a->key);
    heed_attention_trace_compute(out);
    return true;
}

void heed_attention_trace_free(heed_attention_trace *l) {
    if (!l) return;
    heed__free(l->memory);
    *l = (heed_attention_trace){0};
}

/* ---- gradients ---- */

static const heed_matmul_how AS_IT_IS = {0}, LEFT = {.left_transposed = true},
                             RIGHT = {.right_transposed = true},
                             RIGHT_MORE = {.right_transposed = true, .add = true};

/* dS = P (dP - rowsum(P dP)), elementwise except for the sum. */
static void softmax_backward(const heed_matrix *p, const heed_matrix *dp, heed_matrix *ds) {
    for (int i = 0; i < p->rows; i++) {
        size_t row = (size_t)i * (size_t)p->cols;
        double sum = 0;
        for (int j = 0; j < p->cols; j++) sum += p->x[row + (size_t)j] * dp->x[row + (size_t)j];
        for (int j = 0; j < p->cols; j++)
            ds->x[row + (size_t)j] = p->x[row + (size_t)j] * (dp->x[row + (size_t)j] - sum);
    }
}

static bool place_gradients(heed_ctx *c, const heed_attention_trace *l,
                            heed_attention_trace_gradient *g) {
    size_t total = 0;
    for (int i = 0; i < HEED_TRACE_COUNT; i++) total += size_of(&l->part[i]);
    g->memory = heed__alloc_array(c, total, sizeof *g->memory);
    if (!g->memory) return false;
    double *at = g->memory;
    for (int i = 0; i < HEED_TRACE_COUNT; at += size_of(&g->part[i++])) {
        g->part[i] = l->part[i];
        if (g->part[i].x) g->part[i].x = at;
    }
    return true;
}

/* A hard selection uses P of the soft one. */
static void through_scores(const heed_attention_trace *l, const double *d_weights,
                           heed_attention_trace_gradient *g) {
    const heed_matrix *part = l->part;
    heed_matrix *d = g->part,
                soft = d[HEED_TRACE_RAW]; /* its memory is free until d raw is written */
    heed_matrix_product(&d[HEED_TRACE_OUTPUT], &part[HEED_TRACE_V], RIGHT, &d[HEED_TRACE_WEIGHTS]);
    for (int i = 0; d_weights && i < d[HEED_TRACE_WEIGHTS].rows * d[HEED_TRACE_WEIGHTS].cols; i++)
        d[HEED_TRACE_WEIGHTS].x[i] += d_weights[i];
    heed_matrix_softmax(&part[HEED_TRACE_SCORES], false, &soft);
    softmax_backward(&soft, &d[HEED_TRACE_WEIGHTS], &d[HEED_TRACE_SCORES]);
    for (int i = 0; i < d[HEED_TRACE_RAW].rows * d[HEED_TRACE_RAW].cols; i++)
        d[HEED_TRACE_RAW].x[i] = l->args.beta * d[HEED_TRACE_SCORES].x[i];
}

/* A bias is added to every row, so its gradient is the sum over the rows. */
static void sum_rows(const heed_matrix *d, heed_matrix *out) {
    memset(out->x, 0, (size_t)out->cols * sizeof *out->x);
    for (int i = 0; i < d->rows * d->cols; i++) out->x[i % d->cols] += d->x[i];
}

/* From the output to everything before it. */
static void through_head(const heed_attention_trace *l, const double *d_weights,
                         heed_attention_trace_gradient *g) {
    const heed_matrix *part = l->part;
    heed_matrix *d = g->part, *dz = l->self ? &d[HEED_TRACE_X] : &d[HEED_TRACE_Z];
    through_scores(l, d_weights, g);
    heed_matrix_product(&part[HEED_TRACE_WEIGHTS], &d[HEED_TRACE_OUTPUT], LEFT, &d[HEED_TRACE_V]);
    bool rotated = d[HEED_TRACE_Q_R].x != NULL;
    heed_matrix_product(&d[HEED_TRACE_RAW], compared(l, HEED_TRACE_K), AS_IT_IS,
                        rotated ? &d[HEED_TRACE_Q_R] : &d[HEED_TRACE_Q]);
    heed_matrix_product(&d[HEED_TRACE_RAW], compared(l, HEED_TRACE_Q), LEFT,
                        rotated ? &d[HEED_TRACE_K_R] : &d[HEED_TRACE_K]);
    if (rotated) {
        rotate(l, &d[HEED_TRACE_Q_R], true, &d[HEED_TRACE_Q]);
        rotate(l, &d[HEED_TRACE_K_R], true, &d[HEED_TRACE_K]);
    }
    heed_matrix_product(&part[HEED_TRACE_X], &d[HEED_TRACE_Q], LEFT, &d[HEED_TRACE_W_Q]);
    heed_matrix_product(&part[HEED_TRACE_Z], &d[HEED_TRACE_K], LEFT, &d[HEED_TRACE_W_K]);
    heed_matrix_product(&part[HEED_TRACE_Z], &d[HEED_TRACE_V], LEFT, &d[HEED_TRACE_W_V]);
    sum_rows(&d[HEED_TRACE_Q], &d[HEED_TRACE_B_Q]);
    sum_rows(&d[HEED_TRACE_K], &d[HEED_TRACE_B_K]);
    sum_rows(&d[HEED_TRACE_V], &d[HEED_TRACE_B_V]);
    heed_matrix_product(&d[HEED_TRACE_Q], &part[HEED_TRACE_W_Q], RIGHT, &d[HEED_TRACE_X]);
    heed_matrix_product(&d[HEED_TRACE_K], &part[HEED_TRACE_W_K], RIGHT_MORE, dz);
    heed_matrix_product(&d[HEED_TRACE_V], &part[HEED_TRACE_W_V], RIGHT_MORE, dz);
}

bool heed_attention_trace_backward(heed_ctx *c, const heed_attention_trace *l,
                                   const double *d_output, const double *d_weights,
                                   heed_attention_trace_gradient *g) {
    if (!l || !g) return false;
    *g = (heed_attention_trace_gradient){0};
    if (heed__stopped(c) || !place_gradients(c, l, g)) return false;
    copy(&g->part[HEED_TRACE_OUTPUT], d_output);
    through_head(l, d_weights, g);
    return true;
}

/* ---- the layer ---- */

/* du = (G - mean(G) - N mean(G N)) / deviation for G = dy gain and the normed row N of u, which du
 * holds on entry. Adds the gradient of gain to dgain. */
static void norm_row_backward(const double *dy, const double *gain, int n, double scale, double *du,
                              double *dgain) {
    double mean = 0, along = 0;
    for (int j = 0; j < n; j++) {
        dgain[j] += dy[j] * du[j];
        mean += dy[j] * gain[j] / n;
        along += dy[j] * gain[j] * du[j] / n;
    }
    for (int j = 0; j < n; j++) du[j] = scale * (dy[j] * gain[j] - mean - du[j] * along);
}

/* From the norm to all, gain and bias. */
static void through_norm(const heed_attention_trace *l, heed_attention_trace_gradient *g) {
    heed_matrix *d = g->part;
    const heed_matrix *x = &l->part[HEED_TRACE_X], *all = &l->part[HEED_TRACE_ALL];
    int n = all->cols;
    memset(d[HEED_TRACE_GAIN].x, 0, (size_t)n * sizeof *d[HEED_TRACE_GAIN].x);
    for (int i = 0; i < all->rows; i++) {
        size_t row = (size_t)i * (size_t)n;
        double *u = d[HEED_TRACE_ALL].x + row;
        for (size_t j = 0; j < (size_t)n; j++) u[j] = x->x[row + j] + all->x[row + j];
        double scale = row_normed(u, n, l->args.eps, u);
        norm_row_backward(d[HEED_TRACE_NORMED].x + row, l->part[HEED_TRACE_GAIN].x, n, scale, u,
                          d[HEED_TRACE_GAIN].x);
    }
    sum_rows(&d[HEED_TRACE_NORMED], &d[HEED_TRACE_BIAS]);
}

bool heed_attention_trace_backward_layer(heed_ctx *c, const heed_attention_trace *l,
                                         const double *d_end, heed_attention_trace_gradient *g) {
    if (!l || !g) return false;
    *g = (heed_attention_trace_gradient){0};
    if (heed__stopped(c)) return false;
    if (!l->part[HEED_TRACE_W_H].x)
        return heed_fail(c, HEED_USAGE, "a lesson without W_h has no layer to go back through");
    if (!place_gradients(c, l, g)) return false;
    heed_matrix *d = g->part;
    copy(d[HEED_TRACE_NORMED].x ? &d[HEED_TRACE_NORMED] : &d[HEED_TRACE_ALL], d_end);
    if (d[HEED_TRACE_NORMED].x) through_norm(l, g);
    copy(&d[HEED_TRACE_SHARE], d[HEED_TRACE_ALL].x);
    copy(&d[HEED_TRACE_OTHERS], d[HEED_TRACE_ALL].x);
    sum_rows(&d[HEED_TRACE_ALL], &d[HEED_TRACE_B_O]);
    heed_matrix_product(&l->part[HEED_TRACE_OUTPUT], &d[HEED_TRACE_ALL], LEFT, &d[HEED_TRACE_W_H]);
    heed_matrix_product(&d[HEED_TRACE_ALL], &l->part[HEED_TRACE_W_H], RIGHT, &d[HEED_TRACE_OUTPUT]);
    through_head(l, NULL, g);
    return true;
}

void heed_attention_trace_gradient_free(heed_attention_trace_gradient *g) {
    if (!g) return;
    heed__free(g->memory);
    *g = (heed_attention_trace_gradient){0};
}
