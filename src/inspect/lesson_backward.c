/* lesson_backward.c -- the gradients of one attention head, each kept under its name. */
#include <heed/lesson.h>

#include "core/core.h"

#include <string.h>

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

static bool place(heed_ctx *c, const heed_lesson *l, heed_lesson_gradient *g) {
    struct {
        heed_matrix *to;
        heed_lesson_part like;
    } list[] = {{&g->output, HEED_LESSON_OUTPUT}, {&g->weights, HEED_LESSON_WEIGHTS},
                {&g->scores, HEED_LESSON_SCORES}, {&g->raw, HEED_LESSON_RAW},
                {&g->q, HEED_LESSON_Q},           {&g->k, HEED_LESSON_K},
                {&g->v, HEED_LESSON_V},           {&g->w_q, HEED_LESSON_W_Q},
                {&g->w_k, HEED_LESSON_W_K},       {&g->w_v, HEED_LESSON_W_V},
                {&g->b_q, HEED_LESSON_B_Q},       {&g->b_k, HEED_LESSON_B_K},
                {&g->b_v, HEED_LESSON_B_V},       {&g->x, HEED_LESSON_X},
                {&g->z, HEED_LESSON_Z},           {&g->normed, HEED_LESSON_NORMED},
                {&g->all, HEED_LESSON_ALL},       {&g->gain, HEED_LESSON_GAIN},
                {&g->bias, HEED_LESSON_BIAS},     {&g->b_o, HEED_LESSON_B_O},
                {&g->share, HEED_LESSON_SHARE},   {&g->w_h, HEED_LESSON_W_H}};
    enum { COUNT = sizeof list / sizeof *list };
    size_t total = 0;
    for (int i = 0; i < COUNT; i++) {
        *list[i].to = l->part[list[i].like];
        total += (size_t)list[i].to->rows * (size_t)list[i].to->cols;
    }
    g->memory = heed__alloc_array(c, total, sizeof *g->memory);
    if (!g->memory) return false;
    for (int i = 0, at = 0; i < COUNT; i++) {
        if (list[i].to->x) list[i].to->x = g->memory + at;
        at += list[i].to->rows * list[i].to->cols;
    }
    return true;
}

/* A hard selection uses P of the soft one. */
static void through_scores(const heed_lesson *l, const double *d_weights, heed_lesson_gradient *g) {
    const heed_matrix *part = l->part;
    heed_matrix soft = g->raw; /* its memory is free until d raw is written */
    heed_matrix_product(&g->output, &part[HEED_LESSON_V], RIGHT, &g->weights);
    for (int i = 0; d_weights && i < g->weights.rows * g->weights.cols; i++)
        g->weights.x[i] += d_weights[i];
    heed_matrix_softmax(&part[HEED_LESSON_SCORES], false, &soft);
    softmax_backward(&soft, &g->weights, &g->scores);
    for (int i = 0; i < g->raw.rows * g->raw.cols; i++) g->raw.x[i] = l->args.beta * g->scores.x[i];
}

/* A bias is added to every row, so its gradient is the sum over the rows. */
static void sum_rows(const heed_matrix *d, heed_matrix *out) {
    memset(out->x, 0, (size_t)out->cols * sizeof *out->x);
    for (int i = 0; i < d->rows * d->cols; i++) out->x[i % d->cols] += d->x[i];
}

/* From g->output to everything before it. */
static void through_head(const heed_lesson *l, const double *d_weights, heed_lesson_gradient *g) {
    const heed_matrix *part = l->part;
    heed_matrix *dz = l->self ? &g->x : &g->z;
    through_scores(l, d_weights, g);
    heed_matrix_product(&part[HEED_LESSON_WEIGHTS], &g->output, LEFT, &g->v);
    heed_matrix_product(&g->raw, &part[HEED_LESSON_K], AS_IT_IS, &g->q);
    heed_matrix_product(&g->raw, &part[HEED_LESSON_Q], LEFT, &g->k);
    heed_matrix_product(&part[HEED_LESSON_X], &g->q, LEFT, &g->w_q);
    heed_matrix_product(&part[HEED_LESSON_Z], &g->k, LEFT, &g->w_k);
    heed_matrix_product(&part[HEED_LESSON_Z], &g->v, LEFT, &g->w_v);
    sum_rows(&g->q, &g->b_q);
    sum_rows(&g->k, &g->b_k);
    sum_rows(&g->v, &g->b_v);
    heed_matrix_product(&g->q, &part[HEED_LESSON_W_Q], RIGHT, &g->x);
    heed_matrix_product(&g->k, &part[HEED_LESSON_W_K], RIGHT_MORE, dz);
    heed_matrix_product(&g->v, &part[HEED_LESSON_W_V], RIGHT_MORE, dz);
}

static void copy(heed_matrix *to, const double *from) {
    memcpy(to->x, from, (size_t)to->rows * (size_t)to->cols * sizeof *from);
}

bool heed_lesson_backward(heed_ctx *c, const heed_lesson *l, const double *d_output,
                          const double *d_weights, heed_lesson_gradient *g) {
    if (!l || !g) return false;
    *g = (heed_lesson_gradient){0};
    if (heed__stopped(c) || !place(c, l, g)) return false;
    copy(&g->output, d_output);
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

/* From g->normed to g->all, gain and bias. */
static void through_norm(const heed_lesson *l, heed_lesson_gradient *g) {
    const heed_matrix *x = &l->part[HEED_LESSON_X], *all = &l->part[HEED_LESSON_ALL];
    int n = all->cols;
    memset(g->gain.x, 0, (size_t)n * sizeof *g->gain.x);
    for (int i = 0; i < all->rows; i++) {
        size_t row = (size_t)i * (size_t)n;
        double *u = g->all.x + row;
        for (size_t j = 0; j < (size_t)n; j++) u[j] = x->x[row + j] + all->x[row + j];
        double scale = heed_row_normed(u, n, l->args.eps, u);
        norm_row_backward(g->normed.x + row, l->part[HEED_LESSON_GAIN].x, n, scale, u, g->gain.x);
    }
    sum_rows(&g->normed, &g->bias);
}

bool heed_lesson_backward_layer(heed_ctx *c, const heed_lesson *l, const double *d_end,
                                heed_lesson_gradient *g) {
    if (!l || !g) return false;
    *g = (heed_lesson_gradient){0};
    if (heed__stopped(c)) return false;
    if (!l->part[HEED_LESSON_W_H].x)
        return heed_fail(c, HEED_USAGE, "a lesson without W_h has no layer to go back through");
    if (!place(c, l, g)) return false;
    copy(g->normed.x ? &g->normed : &g->all, d_end);
    if (g->normed.x) through_norm(l, g);
    copy(&g->share, g->all.x);
    sum_rows(&g->all, &g->b_o);
    heed_matrix_product(&l->part[HEED_LESSON_OUTPUT], &g->all, LEFT, &g->w_h);
    heed_matrix_product(&g->all, &l->part[HEED_LESSON_W_H], RIGHT, &g->output);
    through_head(l, NULL, g);
    return true;
}

void heed_lesson_gradient_free(heed_lesson_gradient *g) {
    if (!g) return;
    heed__free(g->memory);
    *g = (heed_lesson_gradient){0};
}
