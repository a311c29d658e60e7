/* gemm.c -- matrix products. B is packed in panels of a tile's width; A is read in place, because
 * at the widths of small models packing it costs more than it saves. Every element of C is the sum,
 * in order, of sums over DEPTH terms, so tiles and threads do not change any bit of the result. */
#include "gemm_tile.h"
#include "set.h"
#include "vmath.h"

#define DEPTH GEMM_DEPTH
#define GROUP ((int)(1536 / sizeof(heed_real))) /* most columns packed at a time: 288 KiB */
#define BLOCK (16 * TILE_ROWS)                  /* rows of A multiplied with a panel at a time */
/* Distances of packed panels and tiles: a little more than their size, because distances of whole
 * pages would put their lines into the same few sets of the cache. */
#define PANEL_APART (DEPTH * PANEL + PANEL)
#define TILE_APART  (TILE_ROWS * DEPTH + PANEL)

typedef struct {
    const heed_gemm *g;
    bool bf16;
    int row_tiles; /* nonzero: units are tiles of rows of all products; 0: panels of columns of the
                      only product */
} gemm_job;

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
void K(gemm_finish)(const heed_gemm *g, size_t at, int col, int rows, int width) {
    const heed_real *bias = g->bias ? g->bias + col : NULL;
    heed_real *c = g->c + at, *pre = g->pre ? g->pre + at : NULL;
#define ACT_BODY(f) finish_as(g, f, c, pre, bias, rows, width)
    HEED__EACH_ACT(g->act)
#undef ACT_BODY
}

/* Panels used by few rows are read in place if full vectors can be read. */
#define FEW (8 * TILE_ROWS)
static bool in_place(const heed_gemm *g, const heed__gemm_part *part, int width) {
    return !g->tb && part->rows <= FEW && width % VL == 0;
}

static void pack(const heed_gemm *g, heed_real *packed, const heed__gemm_part *part, int p,
                 int depth) {
    const heed_real *b = g->b + part->batch * g->stride_b;
    size_t step = (size_t)g->ldb;
    int j = 0;
    if (!g->tb) {
        int full = part->rows <= FEW ? 0 : part->cols / PANEL;
        b += (size_t)p * step + (size_t)part->col;
        K(pack_panels)(packed, PANEL_APART, b, step, full, depth);
        j = full * PANEL;
    } else
        b += (size_t)part->col * step + (size_t)p;
    for (; j < part->cols; j += PANEL) {
        int width = at_most(PANEL, part->cols - j);
        if (in_place(g, part, width)) continue;
        K(pack_panel)
        (packed + (size_t)(j / PANEL) * PANEL_APART, b + (g->tb ? (size_t)j * step : (size_t)j),
         step, g->tb, width, depth);
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
    K(pack_tiles)(capacity, a, step, rows, depth, TILE_APART);
    return (heed__tile){.a = capacity, .a_row = 1, .a_step = TILE_ROWS, .a_tile = TILE_APART};
}

/* Multiplies rows with a panel. Sums that are complete are finished while they are in the first
 * level of the cache. */
#define HOT (2 * TILE_ROWS)
static void panel_product(const heed_gemm *g, const heed__tile *panel, size_t at, int col, int rows,
                          bool last) {
    heed__tile t = *panel;
    t.c = g->c + at;
    if (!last || !gemm_finishes(g)) {
        K(tile_run)(&t, rows);
        return;
    }
    for (int i = 0; i < rows; i += HOT, at += HOT * t.ldc) {
        int some = at_most(HOT, rows - i);
        t.a = panel->a + (t.a_tile ? (size_t)(i / TILE_ROWS) * t.a_tile : (size_t)i * t.a_row);
        t.c = g->c + at;
        for (int r = 0; g->pre && r < some; r++)
            for (int j = 0; j < t.width; j += LINE)
                __builtin_prefetch(g->pre + at + (size_t)r * t.ldc + j, 1);
        K(tile_run)(&t, some);
        K(gemm_finish)(g, at, col, some, t.width);
    }
}

/* Multiplies rows with a group of packed columns. */
static void group_product(const heed_gemm *g, const heed_real *packed, const heed__gemm_part *part,
                          int p, int depth) {
    _Alignas(64) heed_real capacity[BLOCK / TILE_ROWS * TILE_APART];
    const heed_real *b = g->b + part->batch * g->stride_b + (size_t)p * (size_t)g->ldb;
    bool last = p + depth >= g->k;
    int end = part->row + part->rows;
    for (int i = part->row; i < end; i += BLOCK) {
        int rows = at_most(BLOCK, end - i), next = at_most(BLOCK, end - i - rows);
        heed__tile t = rows_of_a(g, capacity, part->batch, i, rows, p, depth, part->cols);
        t.ldc = (size_t)g->ldc;
        t.depth = depth;
        t.add = g->add || p > 0;
        for (int j = 0; j < part->cols; j += PANEL) {
            size_t at =
                part->batch * g->stride_c + (size_t)i * (size_t)g->ldc + (size_t)(part->col + j);
            t.width = at_most(PANEL, part->cols - j);
            bool lies = in_place(g, part, t.width);
            t.b = lies ? b + part->col + j : packed + (size_t)(j / PANEL) * PANEL_APART;
            t.b_step = lies ? (size_t)g->ldb : PANEL;
            if (next > 0)
                gemm_request(g, part->batch, i + rows, next, p, depth, j / PANEL,
                             (part->cols + PANEL - 1) / PANEL);
            panel_product(g, &t, at, part->col + j, rows, last);
        }
    }
}

/* Products of many terms process so few rows at a time that their part of C stays in cache. */
#define STAY (64 * TILE_ROWS)

static void product(const heed_gemm *g, const heed__gemm_part *part) {
    _Alignas(64) heed_real packed[GROUP / PANEL * PANEL_APART];
    int stay = g->k > DEPTH ? STAY : part->rows, group = gemm_group(part->cols, GROUP);
    for (int j = 0; j < part->cols; j += group) {
        for (int i = 0; i < part->rows; i += stay) {
            heed__gemm_part piece = {part->batch, part->row + i, at_most(stay, part->rows - i),
                                     part->col + j, at_most(group, part->cols - j)};
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
    void (*compute)(const heed_gemm *, const heed__gemm_part *) = j->bf16 ? K(gemm_bf16) : product;
    (void)thread;
    if (!j->row_tiles) {
        int col = (int)from * PANEL, end = at_most((int)to * PANEL, g->n);
        compute(g, &(heed__gemm_part){0, 0, g->m, col, end - col});
        return;
    }
    size_t tiles = (size_t)j->row_tiles;
    while (from < to) {
        size_t tile = from % tiles, count = tiles - tile < to - from ? tiles - tile : to - from;
        int row = (int)tile * TILE_ROWS, rows = at_most((int)count * TILE_ROWS, g->m - row);
        compute(g, &(heed__gemm_part){from / tiles, row, rows, 0, g->n});
        from += count;
    }
}

/* Whether operands are rounded to bf16: smaller products are not faster for it. */
static bool rounds(const heed_kernels *k, const heed_gemm *g) {
    bool yes = k->bf16 && g->bf16 && g->m >= 16 && g->n >= 32 && g->k >= 32;
    if (yes) *k->bf16 = true;
    return yes;
}

void K(gemm)(const heed_kernels *k, const heed_gemm *g) {
    size_t batch = g->batch > 0 ? (size_t)g->batch : 1;
    int row_tiles = (g->m + TILE_ROWS - 1) / TILE_ROWS, panels = (g->n + PANEL - 1) / PANEL;
    if (g->m <= 0 || g->n <= 0 || K(gemm_thin)(k, g)) return;
    double work = 2.0 * (double)batch * g->m * g->n * (g->k > 0 ? g->k : 1);
    bool by_columns = batch == 1 && panels >= row_tiles;
    gemm_job j = {g, rounds(k, g), by_columns ? 0 : row_tiles};
    heed__share(k, by_columns ? (size_t)panels : batch * (size_t)row_tiles, work, gemm_part, &j);
}
