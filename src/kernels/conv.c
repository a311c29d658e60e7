/* Convolution, channels last, as matrix products: a row of patches for each output pixel, by the
 * taps and channels of the kernel, times the weights. A chunk of patches at a time stays in cache.
 * Chellapilla, Puri & Simard 2006. */
#include "gemm_tile.h"
#include "set.h"

#define DEPTH   192             /* terms summed in registers */
#define PATCHES ((size_t)49152) /* elements of a chunk of patches */
#define PARTS   16              /* sums over parts of the pixels, for the gradient of the weights */

typedef struct {
    const heed_conv_job *j;
    int c, o;           /* channels of a group */
    int depth;          /* elements of a patch of a group, by (kh,kw,c) */
    int run;            /* taps that lie side by side in x */
    bool direct;        /* a patch is a pixel of x itself */
    size_t pixels;      /* of y */
    size_t chunk;       /* of them at a time */
    size_t parts, part; /* how many sums over how many pixels each */
    size_t packed;      /* elements of a group's weights in panels */
    heed_real *weights; /* (groups, packed), or (parts, o depth + o) gradients */
    heed_real *patches; /* (chunk, depth) for each thread */
} conv;

static size_t at_most(size_t a, size_t b) { return a < b ? a : b; }
static size_t whole_panels(int n) { return ((size_t)n + PANEL - 1) / PANEL * PANEL; }
static size_t patch_room(const conv *v) {
    return v->direct ? 0 : (v->chunk * (size_t)v->depth + 15) / 16 * 16;
}

/* Elements that a part of the weights' gradient takes: (o, depth), then (o). */
static size_t part_room(const conv *v) {
    return ((size_t)v->j->o * ((size_t)v->depth + 1) + 15) / 16 * 16;
}

static conv conv_of(const heed_conv_job *j, heed_conv_pass pass) {
    conv v = {.j = j, .c = j->c / j->groups, .o = j->o / j->groups};
    bool point = j->kh == 1 && j->kw == 1;
    v.depth = j->kh * j->kw * v.c;
    v.run = j->groups == 1 && (j->dilation[1] == 1 || j->kw == 1) ? j->kw : 1;
    v.direct = point && j->stride[0] == 1 && j->stride[1] == 1 && !j->pad[0] && !j->pad[1];
    v.pixels = (size_t)j->batch * (size_t)j->oh * (size_t)j->ow;
    v.chunk = PATCHES / (size_t)(v.depth ? v.depth : 1) / TILE_ROWS * TILE_ROWS;
    if (v.chunk < 4 * TILE_ROWS) v.chunk = 4 * TILE_ROWS;
    if (v.chunk > 1024) v.chunk = 1024;
    size_t chunks = (v.pixels + v.chunk - 1) / v.chunk;
    v.part = (chunks + PARTS - 1) / PARTS * v.chunk;
    v.parts = v.part ? (v.pixels + v.part - 1) / v.part : 0;
    v.packed = pass == HEED_CONV ? whole_panels(v.o) * (size_t)v.depth
                                 : whole_panels(v.depth) * (size_t)v.o;
    return v;
}

static size_t weight_room(const conv *v, heed_conv_pass pass) {
    if (pass == HEED_CONV_WEIGHTS) return v->parts * part_room(v);
    return (v->packed * (size_t)v->j->groups + 15) / 16 * 16;
}

size_t K(conv_scratch)(const heed_kernels *k, const heed_conv_job *j, heed_conv_pass pass) {
    conv v = conv_of(j, pass);
    return (weight_room(&v, pass) + patch_room(&v) * (size_t)k->threads) * sizeof(heed_real);
}

static conv conv_at(const heed_conv_job *j, heed_conv_pass pass, void *scratch) {
    conv v = conv_of(j, pass);
    v.weights = scratch;
    v.patches = v.weights + weight_room(&v, pass);
    return v;
}

/* ---- patches ---- */

INLINE void copy(heed_real *to, const heed_real *from, size_t n) {
    for (size_t i = 0; i < n; i += VL) put(to + i, get(from + i, n - i), n - i);
}
INLINE void add(heed_real *to, const heed_real *from, size_t n) {
    for (size_t i = 0; i < n; i += VL)
        put(to + i, get(to + i, n - i) + get(from + i, n - i), n - i);
}
INLINE void zero(heed_real *to, size_t n) {
    for (size_t i = 0; i < n; i += VL) put(to + i, splat(0), n - i);
}

/* A row of taps from column col on of a line of x: into the patch, or added back from it. */
INLINE void move_taps(const conv *v, heed_real *patch, heed_real *line, int col, const bool back) {
    size_t c = (size_t)v->c, pixel = (size_t)v->j->c;
    int run = v->run, w = v->j->w;
    for (int t = 0; t < v->j->kw; t += run, col += v->j->dilation[1], patch += (size_t)run * c) {
        int lo = col < 0 ? -col : 0, hi = w - col < run ? w - col : run;
        if (lo >= hi) lo = hi = 0;
        heed_real *at = line + (ptrdiff_t)(col + lo) * (ptrdiff_t)pixel;
        size_t n = (size_t)(hi - lo) * c, before = (size_t)lo * c;
        if (back) {
            add(at, patch + before, n);
            continue;
        }
        if (before) zero(patch, before);
        copy(patch + before, at, n);
        if (hi < run) zero(patch + before + n, (size_t)(run - hi) * c);
    }
}

/* The patches of output pixels [from, to), x at the group's first channel. */
INLINE void move_patches(const conv *v, heed_real *patches, heed_real *x, size_t from, size_t to,
                         const bool back) {
    const heed_conv_job *j = v->j;
    size_t ow = (size_t)j->ow, oh = (size_t)j->oh, taps = (size_t)j->kw * (size_t)v->c;
    while (from < to) {
        size_t line = from / ow, first = from % ow, count = at_most(ow - first, to - from);
        int row = (int)(line % oh) * j->stride[0] - j->pad[0];
        for (int u = 0; u < j->kh; u++, row += j->dilation[0]) {
            heed_real *patch = patches + (size_t)u * taps;
            int col = (int)first * j->stride[1] - j->pad[1];
            bool outside = row < 0 || row >= j->h;
            if (outside && back) continue;
            heed_real *at = outside ? NULL
                                    : x + (line / oh * (size_t)j->h + (size_t)row) * (size_t)j->w *
                                              (size_t)j->c;
            for (size_t i = 0; i < count; i++, patch += v->depth, col += j->stride[1])
                if (outside)
                    zero(patch, taps);
                else
                    move_taps(v, patch, at, col, back);
        }
        patches += count * (size_t)v->depth;
        from += count;
    }
}

/* ---- products ---- */

/* Weights as right operands, in panels: (depth, o) of each group, or turned (o, depth). */
static void pack(const conv *v, bool turned) {
    const heed_real *w = v->j->weight;
    int taps = v->j->kh * v->j->kw;
    memset(v->weights, 0, v->packed * (size_t)v->j->groups * sizeof *v->weights);
    for (int o = 0; o < v->j->o; o++) {
        heed_real *to = v->weights + (size_t)(o / v->o) * v->packed;
        for (int c = 0; c < v->c; c++)
            for (int t = 0; t < taps; t++, w++) {
                int p = t * v->c + c, row = turned ? o % v->o : p, col = turned ? p : o % v->o;
                size_t rows = (size_t)(turned ? v->o : v->depth);
                to[((size_t)(col / PANEL) * rows + (size_t)row) * PANEL + (size_t)(col % PANEL)] =
                    *w;
            }
    }
}

/* c (rows,n) = or += a (rows,depth) times panels (depth,n). */
static void product(heed_real *c, size_t ldc, const heed_real *a, size_t lda, size_t rows,
                    int depth, const heed_real *panels, int n, bool add_to) {
    int p = 0;
    do { /* once even for depth 0, which clears c */
        for (int q = 0; q < n; q += PANEL) {
            heed__tile t = {.a = a + p,
                            .a_row = lda,
                            .a_step = 1,
                            .b = panels + (size_t)q * (size_t)depth + (size_t)p * PANEL,
                            .b_step = PANEL,
                            .c = c + q,
                            .ldc = ldc,
                            .width = n - q < PANEL ? n - q : PANEL,
                            .depth = depth - p < DEPTH ? depth - p : DEPTH,
                            .add = add_to || p > 0};
            tile_run(&t, (int)rows);
        }
        p += DEPTH;
    } while (p < depth);
}

static double work_of(const conv *v) { return 2.0 * (double)v->pixels * v->j->o * v->depth; }

/* ---- y from x ---- */

static void forward_chunk(const conv *v, heed_real *patches, size_t from, size_t to) {
    const heed_conv_job *j = v->j;
    size_t width = (size_t)j->o, rows = to - from;
    heed_real *y = j->y + from * width;
    for (int g = 0; g < j->groups; g++) {
        heed_real *x = j->x + (size_t)g * (size_t)v->c;
        const heed_real *a = v->direct ? x + from * (size_t)j->c : patches;
        if (!v->direct) move_patches(v, patches, x, from, to, false);
        product(y + g * v->o, width, a, (size_t)(v->direct ? j->c : v->depth), rows, v->depth,
                v->weights + (size_t)g * v->packed, v->o, j->add);
    }
    for (size_t r = 0; j->bias && r < rows; r++) add(y + r * width, j->bias, width);
}
static void forward_part(const void *job, size_t from, size_t to, int thread) {
    const conv *v = job;
    heed_real *patches = v->patches + (size_t)thread * patch_room(v);
    for (size_t u = from; u < to; u++)
        forward_chunk(v, patches, u * v->chunk, at_most((u + 1) * v->chunk, v->pixels));
}
void K(conv)(const heed_kernels *k, const heed_conv_job *j, void *scratch) {
    conv v = conv_at(j, HEED_CONV, scratch);
    pack(&v, false);
    heed__share(k, (v.pixels + v.chunk - 1) / v.chunk, work_of(&v), forward_part, &v);
}

/* ---- x from y: an image belongs to one thread, as its patches overlap ---- */

static void begin_image(const heed_conv_job *j, heed_real *x) {
    size_t width = (size_t)j->c, rows = (size_t)j->h * (size_t)j->w;
    for (size_t r = 0; r < rows; r++, x += width)
        if (j->bias)
            copy(x, j->bias, width);
        else
            zero(x, width);
}
static void turned_chunk(const conv *v, heed_real *patches, size_t from, size_t to) {
    const heed_conv_job *j = v->j;
    for (int g = 0; g < j->groups; g++) {
        heed_real *x = j->x + (size_t)g * (size_t)v->c;
        heed_real *c = v->direct ? x + from * (size_t)j->c : patches;
        product(c, (size_t)(v->direct ? j->c : v->depth), j->y + from * (size_t)j->o + g * v->o,
                (size_t)j->o, to - from, v->o, v->weights + (size_t)g * v->packed, v->depth,
                v->direct);
        if (!v->direct) move_patches(v, patches, x, from, to, true);
    }
}
static void turned_part(const void *job, size_t from, size_t to, int thread) {
    const conv *v = job;
    const heed_conv_job *j = v->j;
    heed_real *patches = v->patches + (size_t)thread * patch_room(v);
    size_t pixels = (size_t)j->oh * (size_t)j->ow;
    for (size_t b = from; b < to; b++) {
        if (!j->add) begin_image(j, j->x + b * (size_t)j->h * (size_t)j->w * (size_t)j->c);
        for (size_t p = 0; p < pixels; p += v->chunk)
            turned_chunk(v, patches, b * pixels + p, b * pixels + at_most(p + v->chunk, pixels));
    }
}
void K(conv_turned)(const heed_kernels *k, const heed_conv_job *j, void *scratch) {
    conv v = conv_at(j, HEED_CONV_TURNED, scratch);
    pack(&v, true);
    heed__share(k, (size_t)j->batch, work_of(&v), turned_part, &v);
}

/* ---- the weights' gradient: sums over parts of the pixels, then over the parts in order ---- */

static void weights_chunk(const conv *v, heed_real *sum, heed_real *patches, size_t from,
                          size_t to) {
    static const heed_kernels alone = {.threads = 1};
    const heed_conv_job *j = v->j;
    for (int g = 0; g < j->groups; g++) {
        heed_real *x = j->x + (size_t)g * (size_t)v->c;
        if (!v->direct) move_patches(v, patches, x, from, to, false);
        K(gemm)
        (&alone, &(heed_gemm){.m = v->o,
                              .n = v->depth,
                              .k = (int)(to - from),
                              .a = j->y + from * (size_t)j->o + g * v->o,
                              .lda = j->o,
                              .ta = true,
                              .b = v->direct ? x + from * (size_t)j->c : patches,
                              .ldb = v->direct ? j->c : v->depth,
                              .c = sum + (size_t)(g * v->o) * (size_t)v->depth,
                              .ldc = v->depth,
                              .add = true});
    }
    heed_real *bias = sum + (size_t)j->o * (size_t)v->depth;
    for (size_t r = from; j->gb && r < to; r++) add(bias, j->y + r * (size_t)j->o, (size_t)j->o);
}
static void weights_part(const void *job, size_t from, size_t to, int thread) {
    const conv *v = job;
    heed_real *patches = v->patches + (size_t)thread * patch_room(v);
    for (size_t part = from; part < to; part++) {
        heed_real *sum = v->weights + part * part_room(v);
        size_t last = at_most((part + 1) * v->part, v->pixels);
        memset(sum, 0, part_room(v) * sizeof *sum);
        for (size_t p = part * v->part; p < last; p += v->chunk)
            weights_chunk(v, sum, patches, p, at_most(p + v->chunk, last));
    }
}
static void total_part(const void *job, size_t from, size_t to, int thread) {
    const conv *v = job;
    const heed_conv_job *j = v->j;
    size_t depth = (size_t)v->depth, taps = (size_t)j->kh * (size_t)j->kw, c = (size_t)v->c;
    (void)thread;
    for (size_t part = 0; part < v->parts; part++) {
        const heed_real *sum = v->weights + part * part_room(v);
        for (size_t o = from; o < to; o++) {
            heed_real *gw = j->gw + o * depth;
            for (size_t i = 0; j->gw && i < depth; i++)
                gw[i] += sum[o * depth + i % taps * c + i / taps];
            if (j->gb) j->gb[o] += sum[(size_t)j->o * depth + o];
        }
    }
}
void K(conv_weights)(const heed_kernels *k, const heed_conv_job *j, void *scratch) {
    conv v = conv_at(j, HEED_CONV_WEIGHTS, scratch);
    heed__share(k, v.parts, work_of(&v), weights_part, &v);
    heed__share(k, (size_t)j->o, (double)v.parts * j->o * v.depth, total_part, &v);
}
