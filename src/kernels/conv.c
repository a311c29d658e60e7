/* conv.c -- convolution, channels last, as matrix products: (pixels, taps and channels) times the
 * weights. Pixels are processed in chunks: a chunk's part of x, with a border of zeros, stays in
 * cache, and the product's tile reads the taps from there. */
#include "conv_tile.h"
#include "set.h"

#define BAND   32768 /* approximate number of elements of a chunk's part of x */
#define PIXELS 256   /* maximum number of pixels of a chunk of several images */
#define PARTS  16  /* maximum number of partial sums over pixels, for the gradient of the weights */
#define LEAST  512 /* approximate number of pixels of such a partial sum */

typedef struct {
    heed_conv_job j;
    int c, o;       /* channels per group */
    int depth;      /* terms of a sum: kh kw c */
    int inner, run; /* a row of taps consists of this many runs of this many contiguous elements */
    int reach[2];   /* pixels that the kernel covers */
    size_t pitch;   /* elements of a line of x with its border */
    bool in_place;  /* x needs no border */
    int images, lines;              /* images, or lines of one image, of y in a chunk */
    size_t bands;                   /* number of bands of lines in an image */
    size_t chunks;                  /* in total */
    heed_real *weights, *workspace; /* the scratch; each thread uses a part of it */
    size_t workspace_each, parts, part_chunks;
} conv;

static int at_least(int a, int b) { return a > b ? a : b; }
static size_t aligned(size_t n) { return (n + 15) / 16 * 16; }
static size_t parts_of(size_t n, size_t each) { return each ? (n + each - 1) / each : 0; }

/* The number of elements of x, with border, that this many lines of y read. */
static size_t band_of(const conv *v, int lines) {
    return ((size_t)(lines - 1) * (size_t)v->j.stride[0] + (size_t)v->reach[0]) * v->pitch;
}

static void cut(conv *v) {
    const heed_conv_job *j = &v->j;
    size_t image = band_of(v, j->oh), pixels = (size_t)j->oh * (size_t)j->ow;
    v->lines = j->oh;
    v->images = at_most(image ? (int)(BAND / image) : 1, pixels ? (int)(PIXELS / pixels) : 1);
    v->images = at_least(v->images, 1);
    while (v->lines > 1 && band_of(v, v->lines) > BAND) v->lines = (v->lines + 1) / 2;
    v->bands = parts_of((size_t)j->oh, (size_t)v->lines);
    v->chunks = v->bands * parts_of((size_t)j->batch, (size_t)v->images);
    size_t least = parts_of(LEAST, (size_t)v->images * (size_t)v->lines * (size_t)j->ow);
    v->part_chunks = parts_of(v->chunks, PARTS);
    if (v->part_chunks < least) v->part_chunks = least;
    v->parts = parts_of(v->chunks, v->part_chunks);
}

static conv conv_of(const heed_conv_job *j) {
    conv v = {.j = *j, .c = j->c / j->groups, .o = j->o / j->groups};
    bool side_by_side = j->groups == 1 && (j->dilation[1] == 1 || j->kw == 1);
    v.depth = j->kh * j->kw * v.c;
    v.inner = side_by_side ? 1 : j->kw;
    v.run = side_by_side ? j->kw * v.c : v.c;
    v.reach[0] = j->dilation[0] * (j->kh - 1) + 1;
    v.reach[1] = j->dilation[1] * (j->kw - 1) + 1;
    int width = (j->ow - 1) * j->stride[1] + v.reach[1];
    int height = (j->oh - 1) * j->stride[0] + v.reach[0];
    v.in_place = !j->pad[0] && !j->pad[1] && width <= j->w && height <= j->h;
    v.pitch = (size_t)(v.in_place ? j->w : width) * (size_t)j->c;
    cut(&v);
    return v;
}

/* ---- a chunk of pixels, and the part of x that it reads ---- */

typedef struct {
    int image, images, line, lines; /* of y */
    size_t first, pixels;           /* position in y; number of pixels */
    const heed_real *x;             /* the element that the first pixel's first tap reads */
    size_t apart;                   /* from image to image of x */
} chunk;

static void copy(heed_real *to, const heed_real *from, size_t n) {
    for (size_t i = 0; i < n; i += VL) put(to + i, get(from + i, n - i), n - i);
}
static void add(heed_real *to, const heed_real *from, size_t n) {
    for (size_t i = 0; i < n; i += VL)
        put(to + i, get(to + i, n - i) + get(from + i, n - i), n - i);
}
static void zero(heed_real *to, size_t n) {
    for (size_t i = 0; i < n; i += VL) put(to + i, splat(0), n - i);
}

/* A line of x with its border. */
static void border_line(const conv *v, heed_real *to, int image, int row) {
    const heed_conv_job *j = &v->j;
    size_t c = (size_t)j->c;
    int width = (int)(v->pitch / (c ? c : 1)), before = at_most(at_least(j->pad[1], 0), width);
    int from = at_least(-j->pad[1], 0), n = at_least(at_most(width - before, j->w - from), 0);
    if (row < 0 || row >= j->h) n = 0;
    const heed_real *x = j->x + ((size_t)image * (size_t)j->h * (size_t)j->w + (size_t)from) * c;
    zero(to, (size_t)before * c);
    if (n) copy(to + (size_t)before * c, x + (size_t)row * (size_t)j->w * c, (size_t)n * c);
    zero(to + (size_t)(before + n) * c, (size_t)(width - before - n) * c);
}

static chunk chunk_at(const conv *v, size_t index, heed_real *workspace) {
    const heed_conv_job *j = &v->j;
    chunk k = {.image = (int)(index / v->bands) * v->images,
               .line = (int)(index % v->bands) * v->lines};
    k.images = at_most(v->images, j->batch - k.image);
    k.lines = at_most(v->lines, j->oh - k.line);
    k.first = ((size_t)k.image * (size_t)j->oh + (size_t)k.line) * (size_t)j->ow;
    k.pixels = (size_t)k.images * (size_t)k.lines * (size_t)j->ow;
    int row = k.line * j->stride[0] - j->pad[0];
    if (v->in_place) {
        k.apart = (size_t)j->h * v->pitch;
        k.x = j->x + (size_t)k.image * k.apart + (size_t)row * v->pitch;
        return k;
    }
    k.apart = band_of(v, k.lines);
    k.x = workspace;
    int rows = (k.lines - 1) * j->stride[0] + v->reach[0];
    for (int n = 0; n < k.images; n++)
        for (int r = 0; r < rows; r++, workspace += v->pitch)
            border_line(v, workspace, k.image + n, row + r);
    return k;
}

/* The first elements read by the chunk's pixels from `first` on; the last is repeated. */
static void places(const conv *v, const chunk *k, size_t first, int count,
                   const heed_real *a[TILE_ROWS]) {
    const heed_conv_job *j = &v->j;
    size_t line = first / (size_t)j->ow, down = (size_t)j->stride[0] * v->pitch;
    size_t right = (size_t)j->stride[1] * (size_t)j->c;
    int col = (int)(first % (size_t)j->ow), row = (int)(line % (size_t)k->lines);
    const heed_real *image = k->x + line / (size_t)k->lines * k->apart;
    for (int i = 0; i < TILE_ROWS; i++) {
        a[i] = image + (size_t)row * down + (size_t)col * right;
        if (i + 1 >= count || ++col < j->ow) continue;
        col = 0;
        if (++row < k->lines) continue;
        row = 0;
        image += k->apart;
    }
}

/* ---- weights as right operands, in panels ---- */

typedef enum {
    BY_TAPS,   /* (kh kw c, o) of each group */
    FLIPPED,   /* (kh kw o, c), the taps in reverse order */
    BY_CHANNEL /* (o, kh kw c) */
} layout;

/* The number of elements of one group's weights. */
static size_t packed(const heed_conv_job *j, layout as) {
    int c = j->c / j->groups, o = j->o / j->groups, taps = j->kh * j->kw;
    if (as == BY_TAPS) return whole_panels(o) * (size_t)(taps * c);
    return as == FLIPPED ? whole_panels(c) * (size_t)(taps * o)
                         : whole_panels(taps * c) * (size_t)o;
}

static void pack(const heed_conv_job *j, layout as, heed_real *to) {
    int cs = j->c / j->groups, os = j->o / j->groups, taps = j->kh * j->kw;
    int rows = as == BY_TAPS ? taps * cs : as == FLIPPED ? taps * os : os;
    const heed_real *w = j->weight;
    zero(to, packed(j, as) * (size_t)j->groups);
    for (int at = 0; at < j->o; at++) {
        int o = at % os;
        heed_real *group = to + (size_t)(at / os) * packed(j, as);
        for (int c = 0; c < cs; c++)
            for (int t = 0; t < taps; t++) {
                int row = as == BY_TAPS ? t * cs + c : as == FLIPPED ? (taps - 1 - t) * os + o : o;
                int col = as == BY_TAPS ? o : as == FLIPPED ? c : t * cs + c;
                size_t panel = (size_t)(col / PANEL) * (size_t)rows + (size_t)row;
                group[panel * PANEL + (size_t)(col % PANEL)] = *w++;
            }
    }
}

/* ---- y from x ---- */

static void forward_chunk(const conv *v, const chunk *k) {
    const heed_conv_job *j = &v->j;
    heed__taps t = {.outer = j->kh,
                    .inner = v->inner,
                    .len = v->run,
                    .outer_jump = (size_t)j->dilation[0] * v->pitch,
                    .inner_jump = (size_t)j->dilation[1] * (size_t)j->c,
                    .step = 1,
                    .b_step = PANEL,
                    .ldc = (size_t)j->o,
                    .add = j->add};
    size_t each = whole_panels(v->o) * (size_t)v->depth;
    for (int g = 0; g < j->groups; g++)
        for (int q = 0; q < v->o; q += PANEL) {
            int channel = g * v->o + q;
            t.b = v->weights + (size_t)g * each + (size_t)q * (size_t)v->depth;
            t.width = at_most(PANEL, v->o - q);
            t.bias = j->bias ? j->bias + channel : NULL;
            for (size_t p = 0; p < k->pixels; p += TILE_ROWS) {
                const heed_real *a[TILE_ROWS];
                int rows = k->pixels - p < TILE_ROWS ? (int)(k->pixels - p) : TILE_ROWS;
                places(v, k, p, rows, a);
                for (int i = 0; i < TILE_ROWS; i++) a[i] += g * v->c;
                taps_run(&t, a, rows, j->y + (k->first + p) * (size_t)j->o + channel);
            }
        }
}
static void forward_part(const void *job, size_t from, size_t to, int thread) {
    const conv *v = job;
    for (size_t u = from; u < to; u++) {
        chunk k = chunk_at(v, u, v->workspace + (size_t)thread * v->workspace_each);
        forward_chunk(v, &k);
    }
}

static double work_of(const conv *v) {
    const heed_conv_job *j = &v->j;
    return 2.0 * j->batch * j->oh * j->ow * (double)j->o * v->depth;
}
static size_t band_workspace(const conv *v) {
    return v->in_place ? 0 : aligned(band_of(v, v->lines) * (size_t)v->images);
}

/* ---- x from y ---- */

/* With stride 1 it is a convolution of y with the taps in reverse order. Not used if there are so
 * few channels that most of a vector would be empty. */
static bool flips(const heed_conv_job *j) {
    return j->stride[0] == 1 && j->stride[1] == 1 && 2 * (j->c / j->groups) >= VL;
}
static heed_conv_job flipped(const heed_conv_job *j) {
    heed_conv_job f = *j;
    f.x = j->y, f.y = j->x;
    f.h = j->oh, f.w = j->ow, f.c = j->o;
    f.oh = j->h, f.ow = j->w, f.o = j->c;
    f.pad[0] = j->dilation[0] * (j->kh - 1) - j->pad[0];
    f.pad[1] = j->dilation[1] * (j->kw - 1) - j->pad[1];
    return f;
}

/* Otherwise patches of x are computed from lines of y and added to x. */
#define PATCHES 49152 /* number of elements of patches at a time */
static int patch_pixels(const conv *v) {
    return at_least(PATCHES / at_least(v->depth, 1) / TILE_ROWS, 4) * TILE_ROWS;
}

/* Adds the patches of pixels [first, first + count) of an image; x points at the group's first
 * channel. */
static void add_patches(const conv *v, heed_real *x, const heed_real *patch, int first, int count) {
    const heed_conv_job *j = &v->j;
    size_t c = (size_t)v->c, run = (size_t)v->run;
    for (int p = first; p < first + count; p++)
        for (int u = 0; u < j->kh; u++)
            for (int n = 0; n < v->inner; n++, patch += run) {
                int row = p / j->ow * j->stride[0] - j->pad[0] + u * j->dilation[0];
                int col = p % j->ow * j->stride[1] - j->pad[1] + n * j->dilation[1];
                int taps = v->inner > 1 ? 1 : j->kw, lo = at_least(-col, 0);
                int hi = at_most(j->w - col, taps);
                if (row < 0 || row >= j->h || lo >= hi) continue;
                size_t at = (size_t)row * (size_t)j->w + (size_t)(col + lo);
                add(x + at * (size_t)j->c, patch + (size_t)lo * c, (size_t)(hi - lo) * c);
            }
}

static void begin_image(const heed_conv_job *j, heed_real *x) {
    size_t width = (size_t)j->c, rows = (size_t)j->h * (size_t)j->w;
    for (size_t r = 0; r < rows; r++, x += width)
        if (j->bias)
            copy(x, j->bias, width);
        else
            zero(x, width);
}

/* An image belongs to one thread, as its patches overlap. */
static void turned_part(const void *job, size_t from, size_t to, int thread) {
    const conv *v = job;
    const heed_conv_job *j = &v->j;
    heed_real *patches = v->workspace + (size_t)thread * v->workspace_each;
    int pixels = j->oh * j->ow, step = patch_pixels(v);
    for (size_t b = from; b < to; b++) {
        heed_real *x = j->x + b * (size_t)j->h * (size_t)j->w * (size_t)j->c;
        if (!j->add) begin_image(j, x);
        for (int p = 0; p < pixels; p += step)
            for (int g = 0; g < j->groups; g++) {
                int rows = at_most(step, pixels - p);
                size_t at = (b * (size_t)pixels + (size_t)p) * (size_t)j->o + (size_t)(g * v->o);
                heed__operand w = {v->weights + (size_t)g * packed(j, BY_CHANNEL), PANEL,
                                   (size_t)v->o * PANEL, v->depth};
                times(j->y + at, (size_t)j->o, 1, rows, v->o, &w, patches, (size_t)v->depth, false);
                add_patches(v, x + g * v->c, patches, p, rows);
            }
    }
}

/* ---- the weights' gradient: partial sums over pixels, which are then added in order ---- */

/* The number of elements of a partial sum: (groups, kh kw c, o), then (o) for the bias. */
static size_t part_workspace(const conv *v) {
    return aligned((size_t)v->j.o * ((size_t)v->depth + 1));
}
/* A chunk of y in panels, if full vectors cannot be read in place. */
static size_t panel_workspace(const conv *v) {
    if (v->o % VL == 0) return 0;
    return aligned(whole_panels(v->o) * (size_t)(v->images * v->lines) * (size_t)v->j.ow);
}

/* The first elements read by the terms [first, first + count) of the sum; the last is repeated. */
static void term_places(const conv *v, const heed_real *x, int first, int count,
                        const heed_real *a[TILE_ROWS]) {
    const heed_conv_job *j = &v->j;
    for (int i = 0; i < TILE_ROWS; i++) {
        int term = first + at_most(i, count - 1), tap = term / v->c;
        a[i] = x + (size_t)(tap / j->kw * j->dilation[0]) * v->pitch +
               (size_t)(tap % j->kw * j->dilation[1]) * (size_t)j->c + (size_t)(term % v->c);
    }
}

static void weights_chunk(const conv *v, const chunk *k, heed_real *sum, heed_real *workspace) {
    const heed_conv_job *j = &v->j;
    const heed_real *x = k->x, *y = j->y + k->first * (size_t)j->o;
    heed__taps t = {.outer = k->images,
                    .inner = k->lines,
                    .len = j->ow,
                    .outer_jump = k->apart,
                    .inner_jump = (size_t)j->stride[0] * v->pitch,
                    .step = (size_t)j->stride[1] * (size_t)j->c,
                    .ldc = (size_t)v->o,
                    .add = true};
    for (int g = 0; g < j->groups; g++) {
        heed__operand right = operand(workspace, y + g * v->o, (size_t)j->o, (int)k->pixels, v->o);
        heed_real *c = sum + (size_t)g * (size_t)v->depth * (size_t)v->o;
        t.b_step = right.step;
        for (int q = 0; q < v->o; q += PANEL) {
            t.b = right.at + (size_t)(q / PANEL) * right.panel;
            t.width = at_most(PANEL, v->o - q);
            for (int p = 0; p < v->depth; p += TILE_ROWS) {
                const heed_real *a[TILE_ROWS];
                int rows = at_most(TILE_ROWS, v->depth - p);
                term_places(v, x + g * v->c, p, rows, a);
                taps_run(&t, a, rows, c + (size_t)p * (size_t)v->o + q);
            }
        }
    }
}

static void weights_part(const void *job, size_t from, size_t to, int thread) {
    const conv *v = job;
    const heed_conv_job *j = &v->j;
    heed_real *workspace = v->workspace + (size_t)thread * v->workspace_each,
              *panels = workspace + band_workspace(v);
    for (size_t part = from; part < to; part++) {
        heed_real *sum = v->weights + part * part_workspace(v);
        heed_real *bias = sum + (size_t)j->o * (size_t)v->depth;
        size_t last = (part + 1) * v->part_chunks;
        zero(sum, part_workspace(v));
        for (size_t u = part * v->part_chunks; u < last && u < v->chunks; u++) {
            chunk k = chunk_at(v, u, workspace);
            weights_chunk(v, &k, sum, panels);
            for (size_t p = k.first; j->gb && p < k.first + k.pixels; p++)
                add(bias, j->y + p * (size_t)j->o, (size_t)j->o);
        }
    }
}

#define RUN ((size_t)2048)
static void total_part(const void *job, size_t from, size_t to, int thread) {
    const conv *v = job;
    (void)thread;
    for (size_t part = 1; part < v->parts; part++)
        for (size_t i = from * RUN; i < to * RUN && i < part_workspace(v); i += RUN) {
            size_t left = part_workspace(v) - i;
            add(v->weights + i, v->weights + part * part_workspace(v) + i, left < RUN ? left : RUN);
        }
}

/* From (kh kw c, o) to (o,c,kh,kw). */
static void hand_out(const conv *v) {
    const heed_conv_job *j = &v->j;
    size_t os = (size_t)v->o, cs = (size_t)v->c, taps = (size_t)j->kh * (size_t)j->kw;
    heed_real *gw = j->gw;
    for (size_t at = 0; gw && at < (size_t)j->o; at++) {
        const heed_real *sum = v->weights + at / os * os * (size_t)v->depth + at % os;
        for (size_t c = 0; c < cs; c++)
            for (size_t t = 0; t < taps; t++) *gw++ += sum[(t * cs + c) * os];
    }
    if (j->gb) add(j->gb, v->weights + (size_t)j->o * (size_t)v->depth, (size_t)j->o);
}

/* ---- the kernels ---- */

/* What a pass computes with, except for its scratch, which begins with `weights` elements. */
static conv plan(const heed_conv_job *j, heed_conv_pass pass, layout *as, size_t *weights) {
    bool turned = pass == HEED_CONV_TURNED, flip = turned && flips(j);
    heed_conv_job f = flip ? flipped(j) : *j;
    conv v = conv_of(&f);
    *as = flip ? FLIPPED : turned ? BY_CHANNEL : BY_TAPS;
    *weights = aligned(packed(j, *as) * (size_t)j->groups);
    v.workspace_each = band_workspace(&v);
    if (turned && !flip) v.workspace_each = aligned((size_t)patch_pixels(&v) * (size_t)v.depth);
    if (pass == HEED_CONV_WEIGHTS) {
        *weights = v.parts * part_workspace(&v);
        v.workspace_each += panel_workspace(&v);
    }
    return v;
}

size_t K(conv_scratch)(const heed_kernels *k, const heed_conv_job *j, heed_conv_pass pass) {
    layout as;
    size_t weights;
    conv v = plan(j, pass, &as, &weights);
    return (weights + v.workspace_each * (size_t)k->threads) * sizeof(heed_real);
}

void K(conv)(const heed_kernels *k, const heed_conv_job *j, heed_conv_pass pass, void *scratch) {
    layout as;
    size_t weights;
    conv v = plan(j, pass, &as, &weights);
    v.weights = scratch;
    v.workspace = v.weights + weights;
    if (pass == HEED_CONV_WEIGHTS) {
        heed__share(k, v.parts, work_of(&v), weights_part, &v);
        if (!v.parts) return;
        heed__share(k, parts_of(part_workspace(&v), RUN),
                    (double)v.parts * (double)part_workspace(&v), total_part, &v);
        hand_out(&v);
        return;
    }
    pack(j, as, scratch);
    if (as == BY_CHANNEL)
        heed__share(k, (size_t)j->batch, work_of(&v), turned_part, &v);
    else
        heed__share(k, v.chunks, work_of(&v), forward_part, &v);
}
