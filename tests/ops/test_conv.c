/* Convolutions and pools against their definitions by plain loops, values and gradients, at large
 * sizes and at settings drawn at random: all that counts rows differs from what counts columns. */
#include "core/core.h"
#include "values.h"

typedef struct {
    heed_random r;
    uint64_t drawn;
} dice;

static int between(dice *d, int low, int high) {
    return low + (int)heed_random_below(&d->r, d->drawn++, (uint32_t)(high - low + 1));
}

static heed_tensor *draw(dice *d, heed_tape *t, int dims, const int *shape) {
    heed_tensor *x = heed_input(t, NULL, dims, shape);
    for (size_t i = 0; x && i < x->size; i++)
        x->x[i] = (heed_real)(2 * heed_random_uniform(&d->r, d->drawn++) - 1);
    return heed_want_grad(t, x);
}

static double *numbers(size_t n) { return calloc(n + 1, sizeof(double)); }

static void check(const char *what, int line, const heed_real *x, const double *want, size_t n) {
    double most = 1;
    if (!x) test_fail(__FILE__, line, "%s is absent", what);
    for (size_t i = 0; x && i < n; i++) most = fmax(most, fabs(want[i]));
    for (size_t i = 0; x && i < n; i++)
        if (!(fabs((double)x[i] - want[i]) <= 30 * tiny * most)) {
            test_fail(__FILE__, line, "%s[%zu] = %.9g, expected %.9g", what, i, (double)x[i],
                      want[i]);
            return;
        }
}

static size_t place(const heed_tensor *x, int a, int b, int c, int d) {
    return (((size_t)a * (size_t)x->shape[1] + (size_t)b) * (size_t)x->shape[2] + (size_t)c) *
               (size_t)x->shape[3] +
           (size_t)d;
}

static bool inside(const heed_tensor *x, int row, int col) {
    return row >= 0 && row < x->shape[1] && col >= 0 && col < x->shape[2];
}

/* Calls f on a fresh tape for every instruction set of this machine. */
static void on_every_set(void (*f)(dice *d, heed_tape *t, uint64_t draw), uint64_t draws) {
    static const char *const sets[] = {"generic", "avx2", "avx512", "neon"};
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        heed_ctx *c = heed_open(&(heed_options){.isa = sets[s], .threads = 1});
        if (heed_ctx_status(c) != HEED_OK && s > 0) { /* not of this machine */
            heed_close(c);
            continue;
        }
        heed_tape *t = heed_tape_new(c);
        for (uint64_t i = 0; i < draws; i++) {
            dice d = {heed_random_at(1, "windows", i, 0), 0};
            heed_tape_begin(t, HEED_TRAIN, i);
            f(&d, t, i);
        }
        CLOSE(c);
    }
}

/* ---- convolution ---- */

/* The sum over all taps of small[b,i,j,o] w[o,c,u,v] big[b, i s - p + u d, j s - p + v d, c], by
 * whose derivatives each of the three is defined: a convolution is the one by small, its transpose
 * the one by big, and their gradients are the others. */
typedef struct {
    double *small, *big, *w;
} partials;

static void form(const heed_tensor *small, const heed_real *s, const heed_tensor *big,
                 const heed_real *x, const heed_tensor *w, const heed_conv_args *a, partials *out) {
    int each = w->shape[1], of_group = w->shape[0] / a->groups;
    for (size_t at = 0; at < small->size; at++) {
        int o = (int)(at % (size_t)small->shape[3]), rest = (int)(at / (size_t)small->shape[3]);
        int j = rest % small->shape[2], i = rest / small->shape[2] % small->shape[1];
        int b = rest / small->shape[2] / small->shape[1];
        for (int u = 0; u < w->shape[2]; u++)
            for (int v = 0; v < w->shape[3]; v++) {
                int row = i * a->stride[0] - a->pad[0] + u * a->dilation[0];
                int col = j * a->stride[1] - a->pad[1] + v * a->dilation[1];
                for (int c = 0; c < each && inside(big, row, col); c++) {
                    size_t k = place(w, o, c, u, v);
                    size_t p = place(big, b, row, col, o / of_group * each + c);
                    out->small[at] += (double)w->x[k] * (double)x[p];
                    out->big[p] += (double)w->x[k] * (double)s[at];
                    out->w[k] += (double)s[at] * (double)x[p];
                }
            }
    }
}

/* Output, and gradients for gy, against the form. */
static void check_conv(heed_tensor *x, heed_tensor *w, heed_tensor *b, heed_tensor *y,
                       const heed_tensor *gy, const heed_conv_args *a, bool transposed) {
    partials want = {numbers(transposed ? x->size : y->size),
                     numbers(transposed ? y->size : x->size), numbers(w->size)};
    double *gb = numbers(b ? b->size : 0);
    if (transposed)
        form(x, x->x, y, gy->x, w, a, &want);
    else
        form(y, gy->x, x, x->x, w, a, &want);
    double *out = transposed ? want.big : want.small, *gx = transposed ? want.small : want.big;
    for (size_t i = 0; b && i < y->size; i++) {
        out[i] += (double)b->x[i % b->size];
        gb[i % b->size] += (double)gy->x[i];
    }
    check("the output", __LINE__, y->x, out, y->size);
    check("the gradient of x", __LINE__, x->g, gx, x->size);
    check("the gradient of w", __LINE__, w->g, want.w, w->size);
    if (b) check("the gradient of the bias", __LINE__, b->g, gb, b->size);
    free(want.small);
    free(want.big);
    free(want.w);
    free(gb);
}

/* Settings that differ in the two dims, and a picture that they fit. */
static heed_conv_args any_conv(dice *d, int size[2], int kernel[2]) {
    heed_conv_args a = {.groups = between(d, 1, 3)};
    for (int i = 0; i < 2; i++) {
        kernel[i] = between(d, 1, 4);
        a.dilation[i] = between(d, 1, 3);
        a.stride[i] = between(d, 1, 3);
        a.pad[i] = between(d, 0, 3);
        int reach = a.dilation[i] * (kernel[i] - 1) + 1, least = reach - 2 * a.pad[i];
        size[i] = (least > 1 ? least : 1) + between(d, 0, 7);
    }
    return a;
}

static void try_conv(dice *d, heed_tape *t, uint64_t number) {
    int size[2], kernel[2];
    heed_conv_args a = any_conv(d, size, kernel);
    int each = between(d, 1, 6), out = a.groups * between(d, 1, 9);
    heed_tensor *x = draw(d, t, S(between(d, 1, 3), size[0], size[1], a.groups * each));
    heed_tensor *w = draw(d, t, S(out, each, kernel[0], kernel[1]));
    heed_tensor *b = number % 3 ? draw(d, t, S(out)) : NULL, *y = heed_conv2d(t, x, w, b, &a);
    for (int i = 0; y && i < 2; i++)
        CHECK(y->shape[1 + i] ==
              (size[i] + 2 * a.pad[i] - a.dilation[i] * (kernel[i] - 1) - 1) / a.stride[i] + 1);
    heed_tensor *gy = y ? draw(d, t, y->dims, y->shape) : NULL;
    CHECK(y && heed_backward_from(t, y, gy->x));
    if (y) check_conv(x, w, b, y, gy, &a, false);
}

static void try_transposed(dice *d, heed_tape *t, uint64_t number) {
    int size[2], kernel[2];
    heed_conv_args a = any_conv(d, size, kernel);
    int each = between(d, 1, 6), in = a.groups * between(d, 1, 5);
    for (int i = 0; i < 2; i++) {
        int most = a.stride[i] > a.dilation[i] ? a.stride[i] : a.dilation[i];
        a.extra[i] = between(d, 0, most - 1);
        while ((size[i] - 1) * a.stride[i] - 2 * a.pad[i] + a.dilation[i] * (kernel[i] - 1) < 0)
            size[i]++;
    }
    heed_tensor *x = draw(d, t, S(between(d, 1, 3), size[0], size[1], in));
    heed_tensor *w = draw(d, t, S(in, each, kernel[0], kernel[1]));
    heed_tensor *b = number % 3 ? draw(d, t, S(a.groups * each)) : NULL;
    heed_tensor *y = heed_conv2d_transposed(t, x, w, b, &a);
    for (int i = 0; y && i < 2; i++)
        CHECK(y->shape[1 + i] == (size[i] - 1) * a.stride[i] - 2 * a.pad[i] +
                                     a.dilation[i] * (kernel[i] - 1) + a.extra[i] + 1);
    heed_tensor *gy = y ? draw(d, t, y->dims, y->shape) : NULL;
    CHECK(y && heed_backward_from(t, y, gy->x));
    if (y) check_conv(x, w, b, y, gy, &a, true);
}

/* Images that are cut into several bands of lines, and several that share a chunk. */
static const struct {
    int x[4], w[4];
    heed_conv_args a;
} sizes[] = {{{2, 45, 40, 24}, {9, 24, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 1, {0, 0}}},
             {{1, 80, 33, 20}, {34, 10, 3, 5}, {{2, 3}, {0, 2}, {3, 1}, 2, {0, 0}}},
             {{1, 3, 3000, 16}, {4, 16, 1, 3}, {{1, 1}, {0, 1}, {1, 2}, 1, {0, 0}}},
             {{1, 40, 41, 30}, {17, 30, 2, 2}, {{1, 1}, {0, 0}, {1, 1}, 1, {0, 0}}},
             {{37, 7, 6, 5}, {18, 5, 3, 3}, {{1, 1}, {2, 1}, {1, 1}, 1, {0, 0}}}};

TEST(conv_of_large_sizes_is_its_definition) {
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        heed_ctx *c;
        heed_tape *t = begin(&c, HEED_TRAIN);
        heed_conv_args a = sizes[s].a;
        dice d = {heed_random_at(1, "large", s, 0), 0};
        heed_tensor *x = draw(&d, t, 4, sizes[s].x), *w = draw(&d, t, 4, sizes[s].w);
        heed_tensor *b = draw(&d, t, 1, sizes[s].w), *y = heed_conv2d(t, x, w, b, &a);
        heed_tensor *gy = draw(&d, t, 4, y->shape);
        CHECK(heed_backward_from(t, y, gy->x));
        check_conv(x, w, b, y, gy, &a, false);
        for (int i = 0; i < 2; i++) /* so that the transposed one has the size of x */
            a.extra[i] =
                (x->shape[1 + i] + 2 * a.pad[i] - a.dilation[i] * (w->shape[2 + i] - 1) - 1) %
                a.stride[i];
        x = draw(&d, t, 4, y->shape), w = draw(&d, t, 4, sizes[s].w);
        y = heed_conv2d_transposed(t, x, w, NULL, &a);
        CHECK(y && y->shape[1] == sizes[s].x[1] && y->shape[2] == sizes[s].x[2]);
        gy = draw(&d, t, 4, y->shape);
        CHECK(heed_backward_from(t, y, gy->x));
        check_conv(x, w, NULL, y, gy, &a, true);
        CLOSE(c);
    }
}

TEST(conv_of_pixels_asks_no_gradient_of_them) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_input(t, NULL, S(2, 5, 5, 3));
    heed_tensor *w = heed_want_grad(t, heed_input(t, NULL, S(4, 3, 3, 3)));
    CHECK(heed_backward(t, heed_sum(t, heed_conv2d(t, x, w, NULL, NULL))) && !x->g && w->g);
    CLOSE(c);
}

TEST(conv_of_any_setting_is_its_definition) {
    on_every_set(try_conv, 60);
    on_every_set(try_transposed, 60);
}

/* Along a sequence only the second of each pair counts. */
static void try_sequence(dice *d, heed_tape *t, uint64_t number) {
    int size[2], kernel[2];
    heed_conv_args a = any_conv(d, size, kernel), row = a;
    row.stride[0] = row.dilation[0] = 1;
    row.pad[0] = row.extra[0] = 0;
    int in = 2 * a.groups, len = size[1] + 2 * a.pad[1];
    heed_tensor *x = draw(d, t, S(2, len, in)), *flat = heed_reshape(t, x, S(2, 1, len, in));
    heed_tensor *w = draw(d, t, S(number % 2 ? in : 3 * a.groups, 2, kernel[1]));
    heed_tensor *k = heed_reshape(t, w, S(w->shape[0], 2, 1, kernel[1]));
    a.extra[0] = 3;
    heed_tensor *y =
        number % 2 ? heed_conv1d_transposed(t, x, w, NULL, &a) : heed_conv1d(t, x, w, NULL, &a);
    heed_tensor *image = number % 2 ? heed_conv2d_transposed(t, flat, k, NULL, &row)
                                    : heed_conv2d(t, flat, k, NULL, &row);
    CHECK(y && image && y->size == image->size && y->shape[0] == 2 && y->dims == 3);
    for (int i = 1; y && image && i < 3; i++) CHECK(y->shape[i] == image->shape[1 + i]);
    if (y && image) CHECK(memcmp(y->x, image->x, y->size * sizeof *y->x) == 0);
}

TEST(conv1d_is_conv2d_of_one_row) { on_every_set(try_sequence, 20); }

/* ---- pooling ---- */

/* The window of output pixel (i, j): the largest of it, the first of these, and its sum. */
typedef struct {
    double largest, sum;
    size_t from;
} window;

static window look(const heed_tensor *x, const heed_pool_args *a, int b, int i, int j, int c) {
    window w = {-INFINITY, 0, 0};
    for (int u = 0; u < a->size[0]; u++)
        for (int v = 0; v < a->size[1]; v++) {
            int row = i * a->stride[0] - a->pad[0] + u, col = j * a->stride[1] - a->pad[1] + v;
            if (!inside(x, row, col)) continue;
            size_t at = place(x, b, row, col, c);
            w.sum += (double)x->x[at];
            if ((double)x->x[at] > w.largest) w.largest = (double)x->x[at], w.from = at;
        }
    return w;
}

/* gx of the mean: a share of gy for every pixel of the window. */
static void share(const heed_tensor *x, const heed_pool_args *a, int b, int i, int j, int c,
                  double gy, double *gx) {
    for (int u = 0; u < a->size[0]; u++)
        for (int v = 0; v < a->size[1]; v++) {
            int row = i * a->stride[0] - a->pad[0] + u, col = j * a->stride[1] - a->pad[1] + v;
            if (inside(x, row, col)) gx[place(x, b, row, col, c)] += gy / a->size[0] / a->size[1];
        }
}

static void check_pool(const heed_tensor *x, const heed_tensor *y, const heed_tensor *gy,
                       const heed_pool_args *a, bool mean) {
    double *out = numbers(y->size), *gx = numbers(x->size);
    for (size_t at = 0; at < y->size; at++) {
        int c = (int)(at % (size_t)y->shape[3]), rest = (int)(at / (size_t)y->shape[3]);
        int j = rest % y->shape[2], i = rest / y->shape[2] % y->shape[1];
        int b = rest / y->shape[2] / y->shape[1];
        window w = look(x, a, b, i, j, c);
        out[at] = mean ? w.sum / a->size[0] / a->size[1] : w.largest;
        if (mean)
            share(x, a, b, i, j, c, (double)gy->x[at], gx);
        else
            gx[w.from] += (double)gy->x[at];
    }
    check(mean ? "a mean" : "a maximum", __LINE__, y->x, out, y->size);
    check(mean ? "the gradient of a mean" : "the gradient of a maximum", __LINE__, x->g, gx,
          x->size);
    free(out);
    free(gx);
}

static void try_pool(dice *d, heed_tape *t, uint64_t number) {
    heed_pool_args a = {.size = {between(d, 1, 5), between(d, 1, 5)}};
    int size[2];
    for (int i = 0; i < 2; i++) {
        a.stride[i] = between(d, 1, 4);
        a.pad[i] = between(d, 0, a.size[i] / 2);
        int least = a.size[i] - 2 * a.pad[i];
        size[i] = (least > 1 ? least : 1) + between(d, 0, 7);
    }
    int channels = number % 4 ? between(d, 2, 19) : 1;
    heed_tensor *x = draw(d, t, S(between(d, 1, 3), size[0], size[1], channels));
    heed_tensor *y = number % 2 ? heed_avg_pool(t, x, &a) : heed_max_pool(t, x, &a);
    for (int i = 0; y && i < 2; i++)
        CHECK(y->shape[1 + i] == (size[i] + 2 * a.pad[i] - a.size[i]) / a.stride[i] + 1);
    heed_tensor *gy = y ? draw(d, t, y->dims, y->shape) : NULL;
    CHECK(y && heed_backward_from(t, y, gy->x));
    if (y) check_pool(x, y, gy, &a, number % 2);
}

TEST(pool_of_any_setting_is_its_definition) { on_every_set(try_pool, 120); }

/* Without strides windows lie side by side; the mean of a whole image is one window. */
TEST(pool_of_windows_side_by_side) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    dice d = {heed_random_at(1, "side by side", 0, 0), 0};
    heed_tensor *x = draw(&d, t, S(2, 6, 10, 3));
    const heed_pool_args plain = {.size = {2, 5}}, given = {.size = {2, 5}, .stride = {2, 5}};
    heed_tensor *a = heed_max_pool(t, x, &plain), *b = heed_max_pool(t, x, &given);
    CHECK(a && b && heed__same_shape(a, b) && memcmp(a->x, b->x, a->size * sizeof *a->x) == 0);
    const heed_pool_args all = {.size = {6, 10}};
    heed_tensor *whole = heed_avg_pool(t, x, &all), *global = heed_global_pool(t, x);
    CHECK(whole && global && whole->size == global->size && global->dims == 2);
    for (size_t i = 0; i < global->size; i++) CHECK_CLOSE(global->x[i], whole->x[i], tiny);
    CLOSE(c);
}

/* ---- what is refused ---- */

/* Channels that groups do not divide: on the side of the weights, or of the input. */
TEST(conv_refuses_channels_that_groups_do_not_divide) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    const heed_conv_args pairs = {.groups = 2}, threes = {.groups = 3};
    heed_tensor *x = heed_input(t, NULL, S(1, 4, 5, 6)), *line = heed_input(t, NULL, S(1, 5, 6));
    REFUSED(heed_conv2d(t, x, heed_input(t, NULL, S(5, 3, 2, 2)), NULL, &pairs),
            "2 groups do not divide the channels");
    REFUSED(heed_conv2d(t, x, heed_input(t, NULL, S(4, 2, 2, 2)), NULL, &threes),
            "3 groups do not divide the channels");
    REFUSED(heed_conv2d(t, heed_input(t, NULL, S(1, 4, 5, 7)), heed_input(t, NULL, S(4, 3, 2, 2)),
                        NULL, &pairs),
            "7 channels are not 2 groups of 3");
    REFUSED(heed_conv1d(t, line, heed_input(t, NULL, S(5, 3, 2)), NULL, &pairs),
            "2 groups do not divide the channels");
    const heed_conv_args fours = {.groups = 4};
    REFUSED(heed_conv2d_transposed(t, x, heed_input(t, NULL, S(6, 2, 2, 2)), NULL, &fours),
            "4 groups do not divide the channels");
    REFUSED(heed_conv1d_transposed(t, line, heed_input(t, NULL, S(6, 2, 2)), NULL, &fours),
            "4 groups do not divide the channels");
    CLOSE(c);
}

TEST(conv_refuses_what_does_not_fit) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = heed_input(t, NULL, 4, (int[]){2, 5, 6, 4}),
                *flat = heed_input(t, NULL, 2, x->shape);
    heed_tensor *w = heed_input(t, NULL, 4, (int[]){6, 4, 3, 3}),
                *b = heed_input(t, NULL, 1, (int[]){5});
    heed_tensor *tall = heed_input(t, NULL, 4, (int[]){6, 4, 6, 1});
    heed_conv_args groups = {.groups = 4}, stride = {.stride = {-1, 1}}, pad = {.pad = {0, -2}};
    heed_conv_args wide = {.dilation = {1, 3}}, extra = {.extra = {1, 0}};
    REFUSED(heed_conv2d(heed_name_scope(t, "conv1"), x, flat, NULL, NULL),
            "conv2d at conv1: (2,5,6,4) x (2,5): the weight needs 4 dims");
    REFUSED(heed_conv2d(t, flat, w, NULL, NULL), "(2,5): x needs 4 dims, (B,H,W,C)");
    REFUSED(heed_conv2d(t, heed_input(t, NULL, 4, (int[]){2, 5, 6, 3}), w, NULL, NULL),
            "3 channels are not 1 groups of 4");
    REFUSED(heed_conv2d(t, x, w, NULL, &groups), "4 channels are not 4 groups of 4");
    REFUSED(heed_conv2d(t, x, w, b, NULL), "the bias is not (6)");
    REFUSED(heed_conv2d(t, x, tall, NULL, NULL), "covers 6 rows does not fit 5");
    REFUSED(heed_conv2d(t, x, w, NULL, &wide), "covers 7 columns does not fit 6");
    REFUSED(heed_conv2d(t, x, w, NULL, &stride), "stride -1 is not in 1 ..");
    REFUSED(heed_conv2d(t, x, w, NULL, &pad), "pad -2 is not in 0 ..");
    REFUSED(heed_conv2d_transposed(t, x, w, NULL, NULL), "inner 4 != 6");
    REFUSED(heed_conv2d_transposed(t, x, heed_input(t, NULL, 4, (int[]){4, 2, 3, 3}), NULL, &extra),
            "extra 1 is not below the stride 1");
    REFUSED(heed_conv1d(heed_name_scope(t, "c"), x, w, NULL, NULL),
            "conv1d at c: (2,5,6,4) x (6,4,3,3)");
    CHECK(!heed_conv2d(t, NULL, w, NULL, NULL));
    heed_clear(c);
    CHECK(!heed_conv1d(t, NULL, w, NULL, NULL) && !heed_max_pool(t, x, NULL));
    CLOSE(c);
}

TEST(pool_refuses_what_does_not_fit) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = heed_input(t, NULL, 4, (int[]){2, 5, 6, 4});
    REFUSED(heed_max_pool(t, x, &(heed_pool_args){.size = {6, 2}}), "window of 6 rows");
    REFUSED(heed_avg_pool(t, x, &(heed_pool_args){.size = {2, 0}}), "a window of 0");
    REFUSED(heed_max_pool(t, x, &(heed_pool_args){.size = {2, 2}, .pad = {0, 2}}),
            "pad 2 is not in 0 .. half of the window, 1");
    REFUSED(heed_global_pool(t, heed_input(t, NULL, 3, (int[]){2, 3, 4})), "x needs 4 dims");
    heed_tensor *huge = heed_wrap(t, x->x, 4, (int[]){1, 65536, 65536, 1}); /* refused unread */
    REFUSED(heed_avg_pool(t, huge, &(heed_pool_args){.size = {2, 2}}),
            "(1,65536,65536,1): the image is too large");
    CLOSE(c);
}
