/* One head of attention in double precision, every matrix kept. Vaswani et al. 2017, eq. 1. */
#include <heed/lesson.h>

#include "core/core.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LARGEST = 1 << 20 };

static size_t size_of(const heed_matrix *m) { return (size_t)m->rows * (size_t)m->cols; }

double heed_matrix_at(const heed_matrix *m, int row, int col) {
    return m->x[(size_t)row * (size_t)m->cols + (size_t)col];
}

void heed_matrix_product(const heed_matrix *a, const heed_matrix *b, heed_matmul_how how,
                         heed_matrix *out) {
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

/* ---- softmax ---- */

/* Index of the first largest of n numbers; -1 where all are -inf. */
static int first_largest(const double *x, int n) {
    int best = -1;
    for (int j = 0; j < n; j++)
        if (x[j] > (best < 0 ? -(double)INFINITY : x[best])) best = j;
    return best;
}

void heed_matrix_softmax(const heed_matrix *scores, bool hard, heed_matrix *out) {
    int n = scores->cols;
    for (int i = 0; i < scores->rows; i++) {
        const double *s = scores->x + (size_t)i * (size_t)n;
        double *w = out->x + (size_t)i * (size_t)n, sum = 0;
        int best = first_largest(s, n);
        for (int j = 0; j < n; j++) {
            w[j] = best < 0 ? 0 : hard ? (double)(j == best) : exp(s[j] - s[best]);
            sum += w[j];
        }
        for (int j = 0; best >= 0 && j < n; j++) w[j] /= sum;
    }
}

int heed_lesson_ties(const heed_lesson *l, int query, int *first) {
    const heed_matrix *m = &l->part[HEED_LESSON_SCORES];
    const double *s = m->x + (size_t)query * (size_t)m->cols;
    int best = first_largest(s, m->cols), count = 0;
    for (int j = 0; best >= 0 && j < m->cols; j++) count += s[j] == s[best];
    *first = best < 0 ? 0 : best;
    return count;
}

/* ---- the steps ---- */

static void project(heed_lesson *l, const heed_matrix *in, heed_lesson_part w, heed_lesson_part b,
                    heed_lesson_part out) {
    heed_matrix *y = &l->part[out];
    heed_matrix_product(in, &l->part[w], (heed_matmul_how){0}, y);
    for (size_t i = 0; i < size_of(y); i++) y->x[i] += l->part[b].x[i % (size_t)y->cols];
}

static void score(heed_lesson *l) {
    heed_matrix *part = l->part;
    heed_matrix_product(&part[HEED_LESSON_Q], &part[HEED_LESSON_K],
                        (heed_matmul_how){.right_transposed = true}, &part[HEED_LESSON_RAW]);
    size_t cols = (size_t)part[HEED_LESSON_RAW].cols;
    for (size_t i = 0; i < size_of(&part[HEED_LESSON_RAW]); i++) {
        size_t query = i / cols, key = i % cols;
        bool hidden = (l->args.causal && key > query) || l->hidden[key];
        part[HEED_LESSON_SCALED].x[i] = l->args.beta * part[HEED_LESSON_RAW].x[i];
        part[HEED_LESSON_SCORES].x[i] = hidden ? -(double)INFINITY : part[HEED_LESSON_SCALED].x[i];
    }
}

void heed_lesson_compute(heed_lesson *l) {
    heed_matrix *part = l->part;
    project(l, &part[HEED_LESSON_X], HEED_LESSON_W_Q, HEED_LESSON_B_Q, HEED_LESSON_Q);
    project(l, &part[HEED_LESSON_Z], HEED_LESSON_W_K, HEED_LESSON_B_K, HEED_LESSON_K);
    project(l, &part[HEED_LESSON_Z], HEED_LESSON_W_V, HEED_LESSON_B_V, HEED_LESSON_V);
    score(l);
    heed_matrix_softmax(&part[HEED_LESSON_SCORES], l->args.hard, &part[HEED_LESSON_WEIGHTS]);
    heed_matrix_product(&part[HEED_LESSON_WEIGHTS], &part[HEED_LESSON_V], (heed_matmul_how){0},
                        &part[HEED_LESSON_OUTPUT]);
}

/* ---- making ---- */

const char *heed_lesson_name(heed_lesson_part part) {
    static const char *const names[HEED_LESSON_COUNT] = {
        "X", "Z", "W_Q", "W_K", "W_V",    "B_Q",    "B_K",     "B_V",
        "Q", "K", "V",   "raw", "scaled", "scores", "weights", "output"};
    return (int)part >= 0 && part < HEED_LESSON_COUNT ? names[part] : "";
}

static void shape_parts(heed_lesson *l) {
    const heed_lesson_args *a = &l->args;
    const int shapes[HEED_LESSON_COUNT][2] = {
        [HEED_LESSON_X] = {a->tokens, a->features},
        [HEED_LESSON_Z] = {a->sources, a->memory},
        [HEED_LESSON_W_Q] = {a->features, a->key},
        [HEED_LESSON_W_K] = {a->memory, a->key},
        [HEED_LESSON_W_V] = {a->memory, a->value},
        [HEED_LESSON_B_Q] = {1, a->key},
        [HEED_LESSON_B_K] = {1, a->key},
        [HEED_LESSON_B_V] = {1, a->value},
        [HEED_LESSON_Q] = {a->tokens, a->key},
        [HEED_LESSON_K] = {a->sources, a->key},
        [HEED_LESSON_V] = {a->sources, a->value},
        [HEED_LESSON_RAW] = {a->tokens, a->sources},
        [HEED_LESSON_SCALED] = {a->tokens, a->sources},
        [HEED_LESSON_SCORES] = {a->tokens, a->sources},
        [HEED_LESSON_WEIGHTS] = {a->tokens, a->sources},
        [HEED_LESSON_OUTPUT] = {a->tokens, a->value},
    };
    for (int i = 0; i < HEED_LESSON_COUNT; i++)
        l->part[i] = (heed_matrix){shapes[i][0], shapes[i][1], NULL};
}

static bool check(heed_ctx *c, const heed_lesson *l) {
    for (int i = 0; i < HEED_LESSON_COUNT; i++) {
        const heed_matrix *m = &l->part[i];
        if (m->rows < 1 || m->cols < 1 || (int64_t)m->rows * m->cols > LARGEST)
            return heed_fail(
                c, HEED_USAGE,
                "a lesson's %s has a wrong size: expected 1 to %d numbers, found %dx%d",
                heed_lesson_name((heed_lesson_part)i), LARGEST, m->rows, m->cols);
    }
    return true;
}

static void copy(heed_matrix *to, const double *from) {
    if (from) memcpy(to->x, from, size_of(to) * sizeof *from);
}

/* Memory of all parts, and behind it the flags of hidden keys. Z is X where it has no
 * numbers of its own. */
static bool place(heed_ctx *c, heed_lesson *l) {
    size_t total = 0, keys = (size_t)l->args.sources;
    for (int i = 0; i < HEED_LESSON_COUNT; i++) total += size_of(&l->part[i]);
    l->memory = heed__alloc_array(c, total + 1 + keys / sizeof(double), sizeof *l->memory);
    if (!l->memory) return false;
    double *at = l->memory;
    for (int i = 0; i < HEED_LESSON_COUNT; i++) {
        l->part[i].x = i == HEED_LESSON_Z && l->self ? l->part[HEED_LESSON_X].x : at;
        at += size_of(&l->part[i]);
    }
    l->hidden = (unsigned char *)at;
    if (l->args.hide) memcpy(l->hidden, l->args.hide, keys);
    l->args.hide = l->hidden;
    return true;
}

bool heed_lesson_make(heed_ctx *c, const heed_lesson_args *a, heed_lesson *out) {
    *out = (heed_lesson){.args = *a, .self = !a->z};
    if (heed__stopped(c)) return false;
    if (out->self) out->args.sources = a->tokens, out->args.memory = a->features;
    shape_parts(out);
    if (!check(c, out) || !place(c, out)) return false;
    const double *const given[] = {a->x, a->z, a->w_q, a->w_k, a->w_v, a->b_q, a->b_k, a->b_v};
    for (int i = HEED_LESSON_X; i <= HEED_LESSON_B_V; i++) copy(&out->part[i], given[i]);
    if (isnan(a->beta)) out->args.beta = 1 / sqrt(a->key);
    heed_lesson_compute(out);
    return true;
}

void heed_lesson_free(heed_lesson *l) {
    heed__free(l->memory);
    *l = (heed_lesson){0};
}
