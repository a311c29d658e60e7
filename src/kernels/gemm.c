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

/* ---- bias and activation ---- */

/* Whether an array of C's shape leaves the caches in whole lines: before it is read, others that
 * are as large are used. */
static bool streams(const heed_gemm *g, const heed_real *x, size_t least) {
    size_t size = (size_t)g->m * (size_t)g->ldc;
    bool lines = g->ldc % LINE == 0 && g->stride_c % LINE == 0 && (uintptr_t)x % 64 == 0;
    return lines && size >= least;
}
#define LARGE ((size_t)1 << 20)

#if HEED__AVX512 || HEED__AVX2
/* Whether GELU is computed for two rows of a panel at a time. */
static bool in_pairs(const heed_gemm *g, int rows, int width) {
    return (g->act == HEED_GELU || g->act == HEED_GELU_TANH) && width % PANEL == 0 && rows % 2 == 0;
}
/* Stores a vector, past the caches if it streams. */
INLINE void leave(heed_real *to, vec x, bool streams) {
    if (streams)
        stream(to, x);
    else
        store(to, x);
}
static void gelu_pair(const heed_gemm *g, const heed_real *from, size_t ldf, const heed_real *bias,
                      size_t at, bool stream_c, bool stream_pre) {
    enum { N = 2 * TILE_VECS };
    vec x[N];
    UNROLL for (int v = 0; v < N; v++) {
        int i = v / TILE_VECS, j = v % TILE_VECS * VL;
        x[v] = load(from + (size_t)i * ldf + j);
        if (bias) x[v] += load(bias + j);
        if (g->pre) leave(g->pre + at + (size_t)(i * g->ldc + j), x[v], stream_pre);
    }
    gelu_values(g->act, x, N);
    UNROLL for (int v = 0; v < N; v++)
        leave(g->c + at + (size_t)(v / TILE_VECS * g->ldc + v % TILE_VECS * VL), x[v], stream_c);
}
#endif

void K(gemm_finish)(const heed_gemm *g, const heed_real *from, size_t ldf, size_t at, int col,
                    int rows, int width) {
    const heed_real *bias = g->bias ? g->bias + col : NULL;
    heed_real *c = g->c + at, *pre = g->pre ? g->pre + at : NULL;
    size_t ldc = (size_t)g->ldc;
#if HEED__AVX512 || HEED__AVX2
    if (in_pairs(g, rows, width)) {
        bool stream_c = from != c && streams(g, g->c, LARGE);
        bool stream_pre = pre && streams(g, g->pre, LARGE / 8);
        for (int i = 0; i < rows; i += 2)
            for (int j = 0; j < width; j += PANEL)
                gelu_pair(g, from + (size_t)i * ldf + j, ldf, bias ? bias + j : NULL,
                          at + (size_t)i * ldc + (size_t)j, stream_c, stream_pre);
        return;
    }
#endif
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < width; j += VL) {
            size_t left = (size_t)(width - j), to = (size_t)i * ldc + (size_t)j;
            vec x = get(from + (size_t)i * ldf + j, left);
            if (bias) x += get(bias + j, left);
            if (pre) put(pre + to, x, left);
            put(c + to, x, left);
        }
    }
    K(activate_block)(g->act, c, ldc, c, ldc, rows, (size_t)width);
}

/* ---- packing ---- */

/* Whether panels are read where they are, if full vectors can be read: by few rows only, or by the
 * first tile, which copies them for the others. */
#define FEW (8 * TILE_ROWS)
static bool in_place(const heed_gemm *g, const heed__gemm_part *part, int width) {
    return !g->tb && (part->rows <= FEW ? width % VL == 0 : width == PANEL);
}

static void pack(const heed_gemm *g, heed_real *packed, const heed__gemm_part *part, int p,
                 int depth) {
    const heed_real *b = g->b + part->batch * g->stride_b;
    size_t step = (size_t)g->ldb;
    b += g->tb ? (size_t)part->col * step + (size_t)p : (size_t)p * step + (size_t)part->col;
    for (int j = 0; j < part->cols; j += PANEL) {
        int width = at_most(PANEL, part->cols - j);
        if (in_place(g, part, width)) continue;
        K(pack_panel)
        (packed + (size_t)(j / PANEL) * PANEL_APART, b + (g->tb ? (size_t)j * step : (size_t)j),
         step, g->tb, width, depth);
    }
}

/* The rows of a transposed A are copied to tiles, because their elements are far apart, provided
 * that several panels share them. */
INLINE heed__tile rows_of_a(const heed_gemm *g, heed_real *tiles, size_t batch, int row, int p,
                            int cols) {
    const heed_real *a = g->a + batch * g->stride_a;
    size_t step = (size_t)g->lda;
    if (!g->ta) return (heed__tile){.a = a + (size_t)row * step + p, .a_row = step, .a_step = 1};
    return (heed__tile){.a = a + (size_t)p * step + (size_t)row,
                        .a_row = 1,
                        .a_step = step,
                        .a_copy = cols > PANEL ? tiles : NULL,
                        .apart = TILE_APART};
}

/* ---- multiplying ---- */

/* Multiplies rows with a panel or two. Complete sums are finished while they are in the first level
 * of the cache. */
#define HOT      (2 * TILE_ROWS)
#define HOT_PAIR (2 * PAIR_ROWS)
static void panel_product(const heed_gemm *g, const heed__tile *panel, size_t at, int col, int rows,
                          bool last) {
    _Alignas(64) heed_real sums[(HOT > 2 * HOT_PAIR ? HOT : 2 * HOT_PAIR) * PANEL];
    heed__tile t = *panel;
    int most = t.width > PANEL ? HOT_PAIR : HOT;
    t.c = g->c + at;
    if (!last || (!g->pre && g->act == HEED_IDENTITY)) {
        t.bias = last && g->bias ? g->bias + col : NULL;
        K(tile_run)(&t, rows);
        return;
    }
    if (!t.add) t.c = sums, t.ldc = whole_panels(t.width);
    bool fetch = !t.add && !(g->pre && streams(g, g->c, LARGE));
    for (int i = 0; i < rows; i += most, at += (size_t)most * (size_t)g->ldc) {
        int some = at_most(most, rows - i);
        t.a = panel->a + (t.a_tile ? (size_t)(i / TILE_ROWS) * t.a_tile : (size_t)i * t.a_row);
        if (t.add) t.c = g->c + at;
        if (panel->a_copy) t.a_copy = panel->a_copy + (size_t)(i / TILE_ROWS) * t.apart;
        if (t.b_copy && i > 0) t.b = panel->b_copy, t.b_step = PANEL, t.b_copy = NULL;
        for (int r = 0; fetch && r < some; r++)
            for (int j = 0; j < t.width; j += LINE)
                __builtin_prefetch(g->c + at + (size_t)(r * g->ldc + j), 1);
        K(tile_run)(&t, some);
        K(gemm_finish)(g, t.c, t.ldc, at, col, some, t.width);
    }
}

/* A place in the order of computation: a piece of C, and the terms from p on. */
typedef struct {
    const heed_gemm *g;
    heed__gemm_part piece;
    int p;
    bool fresh; /* the first to use its part of B, which is not packed yet */
} place;

/* Products of many terms process so few rows at a time that their part of C stays in cache, and
 * pack B anew for the next rows. Up to twice DEPTH terms, both parts of B remain packed instead,
 * for half as many columns, so that few rows suffice. */
#define STAY (128 * TILE_ROWS)
static bool keeps_both(const heed_gemm *g, const heed__gemm_part *part) {
    return !g->ta && g->k > DEPTH && g->k <= 2 * DEPTH && part->rows > BLOCK;
}

/* The place with these offsets within `part`. */
static place place_at(const heed_gemm *g, const heed__gemm_part *part, int i, int j, int p) {
    bool both = keeps_both(g, part);
    int stay = both ? BLOCK : g->k > DEPTH ? STAY : part->rows;
    int group = gemm_group(part->cols, both ? GROUP / 2 : GROUP);
    return (place){g,
                   {part->batch, part->row + i, at_most(stay, part->rows - i), part->col + j,
                    at_most(group, part->cols - j)},
                   p,
                   !both || i == 0};
}

/* Moves to the place that follows, in the next product after the last one of at->g; false after
 * that of the product `last`. */
static bool advance(const heed_gemm *last, const heed__gemm_part *part, place *at) {
    const heed_gemm *g = at->g;
    int i = at->piece.row - part->row, j = at->piece.col - part->col, p = at->p + DEPTH;
    if (p >= g->k) p = 0, i += at->piece.rows;
    if (i >= part->rows) i = 0, j += at->piece.cols;
    if (j >= part->cols) {
        if (g == last) return false;
        g++, j = 0;
    }
    *at = place_at(g, part, i, j, p);
    return true;
}

/* Requests rows during so many parts of SOON_TERMS terms. */
static heed__soon soon(const heed_real *x, size_t step, int rows, int width, int parts) {
    int lines = rows * ((width + LINE - 1) / LINE);
    return (heed__soon){x, step, rows, width, 0, parts > 0 ? (lines + parts - 1) / parts : 0};
}
static heed__soon soon_a(const heed_gemm *g, size_t batch, int row, int rows, int p, int parts) {
    const heed_real *a = g->a + batch * g->stride_a;
    size_t step = (size_t)g->lda;
    int depth = at_most(DEPTH, g->k - p);
    if (g->ta) return soon(a + (size_t)p * step + row, step, depth, rows, parts);
    return soon(a + (size_t)row * step + p, step, rows, depth, parts);
}
static heed__soon soon_b(const place *at, int parts) {
    const heed_gemm *g = at->g;
    const heed_real *b = g->b + at->piece.batch * g->stride_b;
    size_t step = (size_t)g->ldb;
    int depth = at_most(DEPTH, g->k - at->p), col = at->piece.col, cols = at->piece.cols;
    if (g->tb) return soon(b + (size_t)col * step + at->p, step, cols, depth, parts);
    return soon(b + (size_t)at->p * step + col, step, depth, cols, parts);
}

/* Whether panels of a group are multiplied in pairs: not while a tile copies them. */
INLINE bool multiplies_pairs(const heed_gemm *g, bool copies, int rows) {
    return PAIR_ROWS && !g->ta && !copies && rows >= 4 * PAIR_ROWS;
}

/* Multiplies rows with a group of columns. next: the place that follows, or NULL. */
static void group_product(heed_real *packed, const place *at, const place *next) {
    _Alignas(64) heed_real tiles[BLOCK / TILE_ROWS * TILE_APART];
    const heed_gemm *g = at->g;
    const heed__gemm_part *part = &at->piece;
    int p = at->p, depth = at_most(DEPTH, g->k - p), end = part->row + part->rows;
    int parts = (part->cols + PANEL - 1) / PANEL * ((depth + SOON_TERMS - 1) / SOON_TERMS);
    const heed_real *b = g->b + part->batch * g->stride_b + (size_t)p * (size_t)g->ldb;
    bool last = p + depth >= g->k, few = part->rows <= FEW;
    heed__soon lines[2] = {{0}, {0}};
    for (int i = part->row; i < end; i += BLOCK) {
        int rows = at_most(BLOCK, end - i), left = end - i - rows;
        bool copies = !g->tb && !few && at->fresh && i == part->row;
        bool pairs = multiplies_pairs(g, copies, rows);
        int now = parts * rows / (pairs ? 2 * PAIR_ROWS : TILE_ROWS);
        lines[0] = left > 0 ? soon_a(g, part->batch, i + rows, at_most(BLOCK, left), p, now)
                   : next   ? soon_a(next->g, part->batch, next->piece.row,
                                     at_most(BLOCK, next->piece.rows), next->p, now)
                            : (heed__soon){0};
        if (left == 0 && next && next->fresh) lines[1] = soon_b(next, now);
        heed__tile t = rows_of_a(g, tiles, part->batch, i, p, part->cols);
        t.ldc = (size_t)g->ldc;
        t.depth = depth;
        t.add = g->add || p > 0;
        t.soon = lines;
        for (int j = 0; j < part->cols; j += t.width) {
            size_t to =
                part->batch * g->stride_c + (size_t)i * (size_t)g->ldc + (size_t)(part->col + j);
            t.width = at_most(PANEL, part->cols - j);
            heed_real *copy = packed + (size_t)(j / PANEL) * PANEL_APART;
            bool read = in_place(g, part, t.width) && (few || copies);
            if (pairs && part->cols - j >= 2 * PANEL) t.width = 2 * PANEL;
            t.b = read ? b + part->col + j : copy;
            t.b_step = read ? (size_t)g->ldb : PANEL;
            t.b_apart = read ? PANEL : PANEL_APART;
            t.b_copy = read && !few ? copy : NULL;
            panel_product(g, &t, to, part->col + j, rows, last);
            if (t.a_copy) t.a = tiles, t.a_step = TILE_ROWS, t.a_tile = TILE_APART;
            t.a_copy = NULL;
        }
    }
}

#define HALF (GROUP / 2 / PANEL * PANEL_APART)
/* The products [g, g + count), which are stored in the same way. */
static void products(const heed_gemm *g, int count, const heed__gemm_part *part) {
    _Alignas(64) heed_real packed[GROUP / PANEL * PANEL_APART];
    place at = place_at(g, part, 0, 0, 0), next = at;
    for (bool more = true; more; at = next) {
        more = advance(g + count - 1, part, &next);
        heed_real *to = packed + (keeps_both(at.g, part) && at.p > 0 ? HALF : 0);
        if (at.fresh) pack(at.g, to, &at.piece, at.p, at_most(DEPTH, at.g->k - at.p));
        group_product(to, &at, more ? &next : NULL);
    }
}

static void multiply(const gemm_job *j, const heed_gemm *g, int count,
                     const heed__gemm_part *part) {
    if (!j->bf16) products(g, count, part);
    for (int i = 0; j->bf16 && i < count; i++) K(gemm_bf16)(g + i, part);
}

static void gemm_part(const void *job, size_t from, size_t to, int thread) {
    const gemm_job *j = job;
    const heed_gemm *g = j->g;
    size_t tiles = (size_t)j->row_tiles;
    bool both = g->twin && to - from == 2 * tiles;
    (void)thread;
    if (tiles == 0) {
        int col = (int)from * PANEL, end = at_most((int)to * PANEL, g->n);
        multiply(j, g, 1, &(heed__gemm_part){0, 0, g->m, col, end - col});
    }
    while (tiles > 0 && from < to) {
        size_t tile = from % tiles, product = from / tiles, left = both ? to : tiles - tile;
        size_t count = left < to - from ? left : to - from;
        int row = (int)tile * TILE_ROWS, rows = at_most((int)count * TILE_ROWS, g->m - row);
        heed__gemm_part part = {g->twin ? 0 : product, row, rows, 0, g->n};
        multiply(j, g->twin ? g + product : g, both ? 2 : 1, &part);
        from += count;
    }
    stream_end();
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
    if (g->m <= 0 || g->n <= 0 || (!g->twin && K(gemm_thin)(k, g))) return;
    double work = 2.0 * (double)batch * g->m * g->n * (g->k > 0 ? g->k : 1);
    bool by_columns = batch == 1 && panels >= row_tiles && !g->twin;
    gemm_job j = {g, rounds(k, g), by_columns ? 0 : row_tiles};
    size_t units = (g->twin ? 2 : batch) * (size_t)row_tiles;
    heed__share(k, by_columns ? (size_t)panels : units, work, gemm_part, &j);
}
