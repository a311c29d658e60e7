/* gemm.c -- matrix products. B is packed in panels of a tile's width; A is read in place, because
 * at the widths of small models packing it costs more than it saves. Every element of C is the sum,
 * in order, of sums over DEPTH terms, so tiles and threads do not change any bit of the result. */
#include "gemm_tile.h"
#include "set.h"
#include "vmath.h"

#define DEPTH 192                              /* terms summed in registers */
#define GROUP ((int)(512 / sizeof(heed_real))) /* columns packed at a time: 96 KiB */
#define BLOCK (16 * TILE_ROWS)                 /* rows of A multiplied with a panel at a time */

typedef struct {
    const heed_gemm *g;
    int row_tiles; /* nonzero: units are tiles of rows of all products; 0: panels of columns of the
                      only product */
} gemm_job;

/* A rectangle of product number `batch`. */
typedef struct {
    size_t batch;
    int row, rows, col, cols;
} part_of_c;

static int at_most(int a, int b) { return a < b ? a : b; }

/* Applies bias and activation to a block of C whose sums are complete. */
INLINE void finish_as(const heed_gemm *g, heed_act f, heed_real *c, heed_real *pre,
                      const heed_real *bias, int rows, int width) {
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < width; j += VL) {
            size_t left = (size_t)(width - j), at = (size_t)i * (size_t)g->ldc + (size_t)j;
            vec x = get(c + at, left);
            if (bias) x += get(bias + j, left);
            if (pre) put(pre + at, x, left);
            put(c + at, act_value(f, x), left);
        }
    }
}
static void finish(const heed_gemm *g, size_t at, int col, int rows, int width) {
    const heed_real *bias = g->bias ? g->bias + col : NULL;
    heed_real *c = g->c + at, *pre = g->pre ? g->pre + at : NULL;
    if (!bias && !pre && g->act == HEED_IDENTITY) return;
#define ACT_BODY(f) finish_as(g, f, c, pre, bias, rows, width)
    HEED__EACH_ACT(g->act)
#undef ACT_BODY
}

/* Panels used by few rows are read in place if full vectors can be read. */
#define FEW (8 * TILE_ROWS)
static bool in_place(const heed_gemm *g, const part_of_c *part, int width) {
    return !g->tb && part->rows <= FEW && width % VL == 0;
}

static void pack(const heed_gemm *g, heed_real *packed, const part_of_c *part, int p, int depth) {
    const heed_real *b = g->b + part->batch * g->stride_b;
    size_t step = (size_t)g->ldb;
    for (int j = 0; j < part->cols; j += PANEL) {
        int width = at_most(PANEL, part->cols - j);
        size_t c = (size_t)(part->col + j);
        if (in_place(g, part, width)) continue;
        const heed_real *from = b + (g->tb ? c * step + (size_t)p : (size_t)p * step + c);
        K(pack_panel)(packed + (size_t)j * DEPTH, from, step, g->tb, width, depth);
    }
}

/* If A is transposed, its rows are packed as well, because their elements are far apart, provided
 * that B has enough columns to share the cost. */
#define SHARE 64
INLINE heed__tile rows_of_a(const heed_gemm *g, heed_real *capacity, size_t batch, int row,
                            int rows, int p, int depth, int cols) {
    const heed_real *a = g->a + batch * g->stride_a;
    size_t step = (size_t)g->lda;
    if (!g->ta) return (heed__tile){.a = a + (size_t)row * step + p, .a_row = step, .a_step = 1};
    a += (size_t)p * step + (size_t)row;
    if (cols < SHARE) return (heed__tile){.a = a, .a_row = 1, .a_step = step};
    K(pack_tiles)(capacity, a, step, rows, depth, (size_t)TILE_ROWS * DEPTH);
    return (heed__tile){
        .a = capacity, .a_row = 1, .a_step = TILE_ROWS, .a_tile = TILE_ROWS * DEPTH};
}

/* Multiplies rows with a group of packed columns. */
static void group_product(const heed_gemm *g, const heed_real *packed, const part_of_c *part, int p,
                          int depth) {
    heed_real capacity[BLOCK * DEPTH];
    const heed_real *b = g->b + part->batch * g->stride_b + (size_t)p * (size_t)g->ldb;
    bool last = p + depth >= g->k;
    for (int i = part->row; i < part->row + part->rows; i += BLOCK) {
        int rows = at_most(BLOCK, part->row + part->rows - i);
        heed__tile t = rows_of_a(g, capacity, part->batch, i, rows, p, depth, part->cols);
        t.ldc = (size_t)g->ldc;
        t.depth = depth;
        t.add = g->add || p > 0;
        for (int j = 0; j < part->cols; j += PANEL) {
            size_t at =
                part->batch * g->stride_c + (size_t)i * (size_t)g->ldc + (size_t)(part->col + j);
            t.width = at_most(PANEL, part->cols - j);
            bool lies = in_place(g, part, t.width);
            t.b = lies ? b + part->col + j : packed + (size_t)j * DEPTH;
            t.b_step = lies ? (size_t)g->ldb : PANEL;
            t.c = g->c + at;
            K(tile_run)(&t, rows);
            if (last) finish(g, at, part->col + j, rows, t.width);
        }
    }
}

/* Few rows with a transposed B: it is not packed. */
static void thin_product(const heed_gemm *g, const part_of_c *part) {
    for (int j = 0; j < part->cols; j += PANEL) {
        size_t col = (size_t)(part->col + j), at = part->batch * g->stride_c + col;
        at += (size_t)part->row * (size_t)g->ldc;
        heed__thin t = {.a = g->a + part->batch * g->stride_a + (size_t)part->row * (size_t)g->lda,
                        .b = g->b + part->batch * g->stride_b + col * (size_t)g->ldb,
                        .c = g->c + at,
                        .lda = (size_t)g->lda,
                        .ldb = (size_t)g->ldb,
                        .ldc = (size_t)g->ldc,
                        .width = at_most(PANEL, part->cols - j),
                        .terms = g->k,
                        .depth = DEPTH,
                        .add = g->add};
        t.ahead = j + PANEL < part->cols ? PANEL * t.ldb : 0;
        K(thin_run)(&t, part->rows);
        finish(g, at, (int)col, part->rows, t.width);
    }
}

/* Products of many terms process so few rows at a time that their part of C stays in cache. */
#define STAY (64 * TILE_ROWS)

static void product(const heed_gemm *g, const part_of_c *part) {
    if (g->tb && !g->ta && g->k > 0 && part->rows <= THIN_ROWS) {
        thin_product(g, part);
        return;
    }
    heed_real packed[DEPTH * GROUP];
    int stay = g->k > DEPTH ? STAY : part->rows;
    for (int j = 0; j < part->cols; j += GROUP) {
        for (int i = 0; i < part->rows; i += stay) {
            part_of_c piece = {part->batch, part->row + i, at_most(stay, part->rows - i),
                               part->col + j, at_most(GROUP, part->cols - j)};
            int p = 0;
            do { /* runs once even for k = 0, which clears C */
                int depth = at_most(DEPTH, g->k - p);
                pack(g, packed, &piece, p, depth);
                group_product(g, packed, &piece, p, depth);
                p += depth;
            } while (p < g->k);
        }
    }
}

static void gemm_part(const void *job, size_t from, size_t to, int thread) {
    const gemm_job *j = job;
    const heed_gemm *g = j->g;
    (void)thread;
    if (!j->row_tiles) {
        int col = (int)from * PANEL, end = at_most((int)to * PANEL, g->n);
        product(g, &(part_of_c){0, 0, g->m, col, end - col});
        return;
    }
    size_t tiles = (size_t)j->row_tiles;
    while (from < to) {
        size_t tile = from % tiles, count = tiles - tile < to - from ? tiles - tile : to - from;
        int row = (int)tile * TILE_ROWS, rows = at_most((int)count * TILE_ROWS, g->m - row);
        product(g, &(part_of_c){from / tiles, row, rows, 0, g->n});
        from += count;
    }
}

void K(gemm)(const heed_kernels *k, const heed_gemm *g) {
    size_t batch = g->batch > 0 ? (size_t)g->batch : 1;
    int row_tiles = (g->m + TILE_ROWS - 1) / TILE_ROWS, panels = (g->n + PANEL - 1) / PANEL;
    if (g->m <= 0 || g->n <= 0) return;
    double work = 2.0 * (double)batch * g->m * g->n * (g->k > 0 ? g->k : 1);
    bool by_columns = batch == 1 && panels >= row_tiles;
    gemm_job j = {g, by_columns ? 0 : row_tiles};
    heed__share(k, by_columns ? (size_t)panels : batch * (size_t)row_tiles, work, gemm_part, &j);
}
