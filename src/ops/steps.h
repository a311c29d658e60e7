/* steps.h -- shared by ops with a loop over time steps: a weight read by each step. */
#ifndef HEED_OPS_STEPS_H
#define HEED_OPS_STEPS_H

#include "ops/shape.h"

/* True for the activations that a cell of kind rnn may have: those for hidden layers whose
 * derivative can be computed from their value, the state. */
static inline bool heed__act_of_cell(heed_act f) {
#define OFFERED(act, name, setting, ...) sizeof setting > 1,
    static const bool offered[] = {HEED_ACTIVATIONS(OFFERED)};
#undef OFFERED
    return (unsigned)f < HEED_ACT_COUNT && offered[f] && heed__act_uses_value(f);
}

/* w (rows, cols) of row stride ld as a transposed right operand of many products: transposed once
 * to (cols, rows), which products of few rows read in place, if there are enough `steps` to repay
 * the cost. */
typedef struct {
    const heed_real *b;
    int ldb;
    bool tb;
    heed_real *capacity; /* NULL: not transposed */
    size_t bytes;
} heed__transposed;

static inline heed__transposed heed__transpose(heed_node *n, const heed_real *w, int rows, int cols,
                                               int ld, int steps) {
    enum { WORTH = 4, TILE = 16 };
    size_t bytes = (size_t)rows * (size_t)cols * sizeof *w;
    heed_real *capacity = steps >= WORTH ? heed_scratch(n, bytes) : NULL;
    if (!capacity) return (heed__transposed){w, ld, true, NULL, 0};
    for (int i = 0; i < rows; i += TILE)
        for (int j = 0; j < cols; j++)
            for (int r = i; r < rows && r < i + TILE; r++)
                capacity[(size_t)j * (size_t)rows + (size_t)r] =
                    w[(size_t)r * (size_t)ld + (size_t)j];
    return (heed__transposed){capacity, rows, false, capacity, bytes};
}

static inline void heed__transpose_done(heed_node *n, heed__transposed *w) {
    heed_scratch_done(n, w->capacity, w->bytes);
}

/* Copies the states (rows, width) before a step. */
static inline void heed__gather(heed_real *to, const heed_cell_job *j) {
    size_t width = (size_t)j->width;
    for (int r = 0; r < j->rows; r++, to += width)
        memcpy(to, j->before + (size_t)r * j->ldbefore, width * sizeof *to);
}

/* gw (m,n), with row stride ldc, += a' b over k rows. */
static inline void heed__weight_grad(heed_node *n, int m, const heed_real *a, const heed_real *b,
                                     int width, int ldb, int cells, heed_real *gw, int ldc) {
    if (!gw) return;
    heed__grad_product(n, &(heed_gemm){.m = m,
                                       .n = width,
                                       .k = cells,
                                       .a = a,
                                       .lda = m,
                                       .b = b,
                                       .ldb = ldb,
                                       .c = gw,
                                       .ldc = ldc,
                                       .add = true});
}

#endif
