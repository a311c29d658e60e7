/* thin.c -- products of few rows with a transposed matrix, as in a step that makes one token. The
 * matrix is read once and transposed in registers; packing it would cost more than the product. The
 * sums have the order of gemm.c, so that a row has the same bits in a product of any number of
 * rows. */
#include "gemm_tile.h"
#include "set.h"

/* All rows times a panel of columns. b: row j of the matrix is column j of the panel. */
typedef struct {
    const heed_gemm *g;
    const heed_real *a[THIN_ROWS]; /* after the last row, the last one again */
    const heed_real *b;
    heed_real *c;
    int width;
    size_t ahead; /* distance from what is read to what is fetched into the cache meanwhile */
} panel_job;

INLINE void add_term(const panel_job *j, int p, int v, vec line, vec sum[THIN_ROWS][TILE_VECS],
                     const int rows) {
    UNROLL for (int i = 0; i < rows; i++) sum[i][v] += splat(j->a[i][p]) * line;
}

/* Adds VL terms from p on to the sums of vector v, in order. */
INLINE void add_square(const panel_job *j, int p, int v, vec sum[THIN_ROWS][TILE_VECS],
                       const int rows) {
    size_t step = (size_t)j->g->ldb;
    const heed_real *from = j->b + (size_t)(v * VL) * step + p;
    vec r[VL];
    UNROLL for (int i = 0; i < VL; i++, from += step) {
        r[i] = load(from);
        __builtin_prefetch(address(from, j->ahead), 0, 2);
    }
    transpose(r);
    UNROLL for (int q = 0; q < VL; q++) add_term(j, p + q, v, r[q], sum, rows);
}

/* Term p of the columns of vector v; zeros beyond the panel. */
static __attribute__((noinline)) vec term_of(const panel_job *j, int p, int v) {
    heed_real line[VL] = {0};
    for (int i = 0; i < VL && v * VL + i < j->width; i++)
        line[i] = j->b[(size_t)(v * VL + i) * (size_t)j->g->ldb + (size_t)p];
    return load(line);
}

/* Adds the terms [p, end) to the sums. */
INLINE void add_terms(const panel_job *j, int p, int end, vec sum[THIN_ROWS][TILE_VECS],
                      const int rows, const int vecs) {
    for (; p < end; p += VL) {
        UNROLL for (int v = 0; v < vecs; v++) {
            if (end - p >= VL && j->width >= (v + 1) * VL)
                add_square(j, p, v, sum, rows);
            else if (j->width > v * VL) /* at the edges of the matrix */
                for (int q = p; q < end && q < p + VL; q++)
                    add_term(j, q, v, term_of(j, q, v), sum, rows);
        }
    }
}

/* `vecs` vectors of the panel. */
INLINE void multiply(const panel_job *j, const int rows, const int vecs) {
    const heed_gemm *g = j->g;
    bool add = g->add;
    for (int p = 0; p < g->k; p += GEMM_DEPTH, add = true) {
        vec sum[THIN_ROWS][TILE_VECS];
        UNROLL for (int i = 0; i < rows; i++) {
            UNROLL for (int v = 0; v < vecs; v++) sum[i][v] = splat(0);
        }
        add_terms(j, p, g->k - p < GEMM_DEPTH ? g->k : p + GEMM_DEPTH, sum, rows, vecs);
        UNROLL for (int i = 0; i < rows; i++) {
            UNROLL for (int v = 0; v < vecs; v++) {
                heed_real *to = j->c + (size_t)i * (size_t)g->ldc + v * VL;
                size_t left = j->width > v * VL ? (size_t)(j->width - v * VL) : 0;
                if (i < g->m) put(to, add ? get(to, left) + sum[i][v] : sum[i][v], left);
            }
        }
    }
}

/* The sums of many rows leave registers for one vector. */
static void panel_rows(const panel_job *j) {
    if (j->g->m == 1) {
        multiply(j, 1, TILE_VECS);
        return;
    }
    panel_job part = *j;
    for (int v = 0; v < j->width; v += VL, part.b += (size_t)VL * (size_t)j->g->ldb, part.c += VL) {
        part.width = j->width - v < VL ? j->width - v : VL;
        multiply(&part, THIN_ROWS, 1);
    }
}

static void thin_part(const void *job, size_t from, size_t to, int thread) {
    const heed_gemm *g = job;
    (void)thread;
    for (size_t u = from; u < to; u++) {
        int col = (int)u * PANEL, left = g->n - col;
        panel_job j = {.g = g,
                       .b = g->b + (size_t)col * (size_t)g->ldb,
                       .c = g->c + col,
                       .width = left < PANEL ? left : PANEL,
                       .ahead = u + 1 < to ? PANEL * (size_t)g->ldb : 0};
        for (int i = 0; i < THIN_ROWS; i++)
            j.a[i] = g->a + (size_t)(i < g->m ? i : g->m - 1) * (size_t)g->lda;
        panel_rows(&j);
        if (gemm_finishes(g))
            K(gemm_finish)(g, j.c, (size_t)g->ldc, (size_t)col, col, g->m, j.width);
    }
    stream_end();
}

/* Reading a weight takes as long as some operations. */
#define READ_COST 2

bool K(gemm_thin)(const heed_kernels *k, const heed_gemm *g) {
    if (!g->tb || g->ta || g->batch > 1 || g->m > THIN_ROWS || g->k < 1) return false;
    double work = (2.0 * g->m + READ_COST) * g->n * g->k;
    heed__share(k, ((size_t)g->n + PANEL - 1) / PANEL, work, thin_part, g);
    return true;
}
