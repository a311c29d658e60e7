/* broadcast.c -- elementwise kernels of two inputs that broadcast as in NumPy. */
#include "set.h"

#define RUN   ((size_t)512)
#define AHEAD 256 /* elements between what is computed and what is requested */

/* An iteration without dims of size 1, adjacent dims merged where all strides allow; the last dim
 * has strides 0 or 1. */
typedef struct {
    int dims;
    size_t shape[HEED_DIMS];
    size_t stride[3][HEED_DIMS]; /* of a, b, c */
    size_t size;
} grid;

static grid grid_of(const heed_walk *w) {
    grid g = {.dims = 0, .size = 1};
    const size_t *stride[3] = {w->a, w->b, w->c};
    for (int d = 0; d < HEED_DIMS; d++) {
        size_t n = (size_t)w->shape[d];
        g.size *= n;
        if (n == 1) continue;
        bool merge = g.dims > 0;
        for (int i = 0; i < 3 && merge; i++) merge = g.stride[i][g.dims - 1] == stride[i][d] * n;
        if (!merge) g.shape[g.dims++] = 1;
        g.shape[g.dims - 1] *= n;
        for (int i = 0; i < 3; i++) g.stride[i][g.dims - 1] = stride[i][d];
    }
    if (g.dims == 0) g = (grid){1, {1}, {{0}}, g.size};
    return g;
}

/* The offset in each array of index, counted over the dims in `only`. */
static void locate(const grid *g, unsigned only, size_t index, size_t at[3]) {
    for (int d = g->dims - 1; d >= 0; d--) {
        if (!(only >> d & 1)) continue;
        size_t x = index % g->shape[d];
        index /= g->shape[d];
        for (int i = 0; i < 3; i++) at[i] += x * g->stride[i][d];
    }
}
static size_t extent(const grid *g, unsigned only) {
    size_t n = 1;
    for (int d = 0; d < g->dims; d++)
        if (only >> d & 1) n *= g->shape[d];
    return n;
}

typedef struct {
    heed_binary f;
    int side; /* the input whose gradient is taken: 0 or 1 */
    heed_real *out;
    const heed_real *a, *b, *gc;
    grid g;
    size_t chunks; /* of the last dim */
    unsigned kept, summed;
} binary;

INLINE vec read(const heed_real *p, size_t stride, size_t i, size_t left) {
    return stride ? get(p + i, left) : splat(*p);
}

INLINE vec value(heed_binary f, vec a, vec b) {
    switch (f) {
    case HEED_BIN_ADD:
        return a + b;
    case HEED_BIN_SUB:
        return a - b;
    case HEED_BIN_MUL:
        return a * b;
    case HEED_BIN_DIV:
        break;
    }
    return a / b;
}

static void binary_chunk(const void *job, size_t u) {
    const binary *j = job;
    int last = j->g.dims - 1;
    unsigned outer = (1u << last) - 1;
    size_t at[3] = {0}, first = u % j->chunks * RUN;
    size_t end = first + RUN < j->g.shape[last] ? first + RUN : j->g.shape[last];
    locate(&j->g, outer, u / j->chunks, at);
    for (size_t i = first; i < end; i += (size_t)VL) {
        vec a = read(j->a + at[0], j->g.stride[0][last], i, end - i);
        vec b = read(j->b + at[1], j->g.stride[1][last], i, end - i);
        __builtin_prefetch(address(j->a, at[0] + i + AHEAD));
        __builtin_prefetch(address(j->b, at[1] + i + AHEAD));
        __builtin_prefetch(address(j->out, at[2] + i + AHEAD), 1);
        put(j->out + at[2] + i, value(j->f, a, b), end - i);
    }
}
HEED__PART(binary_part, binary_chunk)

static size_t chunks_of(const grid *g) { return (g->shape[g->dims - 1] + RUN - 1) / RUN; }

void K(binary)(const heed_kernels *k, heed_binary f, heed_real *c, const heed_real *a,
               const heed_real *b, const heed_walk *w) {
    binary j = {.f = f, .out = c, .a = a, .b = b, .g = grid_of(w)};
    if (!j.g.size) return;
    j.chunks = chunks_of(&j.g);
    size_t rows = j.g.size / j.g.shape[j.g.dims - 1];
    heed__share(k, rows * j.chunks, 4.0 * (double)j.g.size, binary_part, &j);
}

/* gc times the derivative with respect to a (side 0) or b (side 1), at index i of the last dim. */
INLINE vec slope(const binary *j, const size_t at[3], size_t i, size_t left) {
    int last = j->g.dims - 1;
    vec gc = read(j->gc + at[2], j->g.stride[2][last], i, left);
    if (j->f == HEED_BIN_ADD) return gc;
    if (j->f == HEED_BIN_SUB) return j->side ? -gc : gc;
    vec a = splat(0), b = splat(0);
    if (j->side) a = read(j->a + at[0], j->g.stride[0][last], i, left);
    if (!j->side || j->f == HEED_BIN_DIV) b = read(j->b + at[1], j->g.stride[1][last], i, left);
    if (j->f == HEED_BIN_MUL) return gc * (j->side ? a : b);
    return j->side ? -gc * a / (b * b) : gc / b;
}

/* The last dim is kept: rows of RUN elements are added over the summed dims, 32 at a time. */
static void add_rows(const void *job, size_t u) {
    const binary *j = job;
    int last = j->g.dims - 1;
    size_t rows = extent(&j->g, j->summed);
    size_t at[3] = {0}, first = u % j->chunks * RUN, left = j->g.shape[last] - first;
    size_t n = left < RUN ? left : RUN;
    heed_real sum[RUN + VL];
    locate(&j->g, j->kept & ~(1u << last), u / j->chunks, at);
    heed_real *out = j->out + at[j->side] + first;
    for (size_t r = 0; r < rows;) {
        memset(sum, 0, (n + VL) / VL * VL * sizeof *sum);
        for (size_t group = r + 32; r < rows && r < group; r++) {
            size_t here[3] = {at[0], at[1], at[2]};
            locate(&j->g, j->summed, r, here);
            for (size_t i = 0; i < n; i += (size_t)VL)
                store(sum + i, load(sum + i) + slope(j, here, first + i, n - i));
        }
        for (size_t i = 0; i < n; i += (size_t)VL)
            put(out + i, get(out + i, n - i) + load(sum + i), n - i);
    }
}
HEED__PART(add_rows_part, add_rows)

/* The last dim is summed. */
static void add_lanes(const void *job, size_t u) {
    const binary *j = job;
    int last = j->g.dims - 1;
    unsigned outer = j->summed & ~(1u << last);
    size_t rows = extent(&j->g, outer), width = j->g.shape[last];
    size_t at[3] = {0};
    double sum = 0;
    locate(&j->g, j->kept, u, at);
    for (size_t r = 0; r < rows * j->chunks; r++) {
        size_t here[3] = {at[0], at[1], at[2]}, first = r % j->chunks * RUN;
        size_t end = first + RUN < width ? first + RUN : width;
        vec lanes = {0};
        locate(&j->g, outer, r / j->chunks, here);
        for (size_t i = first; i < end; i += (size_t)VL)
            lanes += pick(lanes_below(end - i), slope(j, here, i, end - i), splat(0));
        sum += (double)sum_lanes(lanes);
    }
    j->out[at[j->side]] += (heed_real)sum;
}
HEED__PART(add_lanes_part, add_lanes)

static void grad_of_side(const heed_kernels *k, binary *j, const heed_walk *w) {
    if (!j->out) return;
    heed_walk own = *w;
    if (j->f == HEED_BIN_ADD || j->f == HEED_BIN_SUB) /* the other input is not read */
        memcpy(j->side ? own.a : own.b, own.c, sizeof own.c);
    j->g = grid_of(&own);
    j->chunks = chunks_of(&j->g);
    int last = j->g.dims - 1;
    j->kept = 0;
    for (int d = 0; d <= last; d++)
        if (j->g.stride[j->side][d]) j->kept |= 1u << d;
    j->summed = ~j->kept & ((1u << j->g.dims) - 1);
    size_t units = extent(&j->g, j->kept);
    double work = 4.0 * (double)j->g.size;
    if (j->kept >> last & 1)
        heed__share(k, units / j->g.shape[last] * j->chunks, work, add_rows_part, j);
    else
        heed__share(k, units, work, add_lanes_part, j);
}

void K(binary_grad)(const heed_kernels *k, heed_binary f, heed_real *ga, heed_real *gb,
                    const heed_real *a, const heed_real *b, const heed_real *gc,
                    const heed_walk *w) {
    binary j = {.f = f, .side = 0, .out = ga, .a = a, .b = b, .gc = gc, .g = grid_of(w)};
    if (!j.g.size) return;
    grad_of_side(k, &j, w);
    j.side = 1;
    j.out = gb;
    grad_of_side(k, &j, w);
}
