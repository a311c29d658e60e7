/* Convolution and pooling: their definitions, what they equal, what they refuse. */
#include "values.h"

/* Normal numbers that depend on the name alone. */
static heed_tensor *normal(heed_tape *t, const char *name, int dims, const int *shape) {
    heed_tensor *x = heed_input(t, NULL, dims, shape);
    heed_random r = heed_random_at(1, name, 0, 0);
    for (size_t i = 0; x && i < x->size; i++) x->x[i] = (heed_real)heed_random_normal(&r, i);
    return x;
}

static double dot(const heed_real *a, const heed_real *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* Largest difference of two tensors of equal size, as a share of the largest value of b. */
static double apart(const heed_tensor *a, const heed_tensor *b) {
    double worst = 0, size = 1e-30;
    if (!a || !b || a->size != b->size) return INFINITY;
    for (size_t i = 0; i < b->size; i++) {
        double d = fabs((double)a->x[i] - (double)b->x[i]);
        if (!(d <= worst)) worst = d;
        size = fmax(size, fabs((double)b->x[i]));
    }
    return worst / size;
}

/* ---- definition ---- */

static const heed_real *pixel(const heed_tensor *x, int b, int i, int j) {
    if (i < 0 || i >= x->shape[1] || j < 0 || j >= x->shape[2]) return NULL;
    return x->x +
           (((size_t)b * (size_t)x->shape[1] + (size_t)i) * (size_t)x->shape[2] + (size_t)j) *
               (size_t)x->shape[3];
}

/* Output channel o at (i, j) of image b, as ops.h has it. */
static double defined(const heed_tensor *x, const heed_tensor *w, const heed_conv_args *a, int b,
                      int i, int j, int o) {
    int each = w->shape[1], first = o / (w->shape[0] / a->groups) * each;
    const heed_real *kernel = w->x + (size_t)o * heed_extent(w, 1, 4);
    double sum = 0;
    for (int c = 0; c < each; c++)
        for (int u = 0; u < w->shape[2]; u++)
            for (int v = 0; v < w->shape[3]; v++, kernel++) {
                const heed_real *p = pixel(x, b, i * a->stride[0] - a->pad[0] + u * a->dilation[0],
                                           j * a->stride[1] - a->pad[1] + v * a->dilation[1]);
                if (p) sum += (double)p[first + c] * (double)*kernel;
            }
    return sum;
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

TEST(conv_is_its_definition) {
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        heed_ctx *c;
        heed_tape *t = begin(&c, HEED_EVAL);
        heed_tensor *x = normal(t, "x", 4, sizes[s].x), *w = normal(t, "w", 4, sizes[s].w);
        heed_tensor *bias = normal(t, "b", 1, sizes[s].w);
        heed_tensor *y = heed_conv2d(t, x, w, bias, &sizes[s].a);
        heed_random r = heed_random_at(1, "places", s, 0);
        for (uint64_t k = 0; y && k < 3000; k++) {
            size_t at = heed_random_below(&r, k, (uint32_t)y->size), o = at % (size_t)y->shape[3];
            size_t p = at / (size_t)y->shape[3], cols = (size_t)y->shape[2],
                   rows = (size_t)y->shape[1];
            double want = defined(x, w, &sizes[s].a, (int)(p / cols / rows), (int)(p / cols % rows),
                                  (int)(p % cols), (int)o) +
                          (double)bias->x[o];
            CHECK_CLOSE(y->x[at], want, tiny * 30);
        }
        CLOSE(c);
    }
}

/* <conv x, y> = <x, transposed y>: with y all gradients of the same sizes are checked, too. */
TEST(conv_transposed_is_the_adjoint) {
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        heed_ctx *c;
        heed_tape *t = begin(&c, HEED_TRAIN);
        heed_conv_args a = sizes[s].a;
        heed_tensor *x = heed_want_grad(t, normal(t, "x", 4, sizes[s].x));
        heed_tensor *w = heed_want_grad(t, normal(t, "w", 4, sizes[s].w));
        heed_tensor *forth = heed_conv2d(t, x, w, NULL, &a);
        heed_tensor *y = normal(t, "y", 4, forth->shape);
        for (int d = 0; d < 2; d++)
            a.extra[d] =
                (x->shape[1 + d] + 2 * a.pad[d] - a.dilation[d] * (w->shape[2 + d] - 1) - 1) %
                a.stride[d];
        heed_tensor *back = heed_conv2d_transposed(t, y, w, NULL, &a);
        CHECK(heed_same_shape(back, x));
        double want = dot(forth->x, y->x, y->size), size = sqrt(dot(y->x, y->x, y->size));
        double bar = tiny * 100 * size * sqrt(dot(forth->x, forth->x, y->size) / (double)y->size);
        CHECK_CLOSE(dot(x->x, back->x, x->size), want, bar);
        CHECK(heed_backward_from(t, forth, y->x));
        CHECK_CLOSE(dot(x->x, x->g, x->size), want, bar);
        CHECK_CLOSE(dot(w->x, w->g, w->size), want, bar);
        CLOSE(c);
    }
}

TEST(conv_of_pixels_asks_no_gradient_of_them) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = normal(t, "x", 4, (int[]){2, 5, 5, 3});
    heed_tensor *w = heed_want_grad(t, normal(t, "w", 4, (int[]){4, 3, 3, 3}));
    heed_tensor *y = heed_conv2d(t, x, w, NULL, NULL);
    CHECK(heed_backward(t, heed_sum(t, y)));
    CHECK(!x->g && w->g);
    CLOSE(c);
}

/* ---- what it equals ---- */

TEST(conv1d_of_width_one_is_dense) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, normal(t, "x", 3, (int[]){3, 7, 5}));
    heed_tensor *w = heed_want_grad(t, normal(t, "w", 2, (int[]){6, 5}));
    heed_tensor *b = heed_want_grad(t, normal(t, "b", 1, (int[]){6}));
    heed_tensor *gy = normal(t, "gy", 3, (int[]){3, 7, 6});
    heed_tensor *dense = heed_affine(t, x, w, b);
    heed_tensor *conv = heed_conv1d(t, x, heed_reshape(t, w, 3, (int[]){6, 5, 1}), b, NULL);
    CHECK(heed_same_shape(conv, dense));
    CHECK(apart(conv, dense) < tiny);
    /* <gy, conv - dense> has no gradient */
    heed_tensor *none = heed_sum(t, heed_mul(t, gy, heed_sub(t, conv, dense)));
    CHECK(heed_backward(t, none));
    for (size_t i = 0; i < x->size; i++) CHECK_CLOSE(x->g[i], 0, tiny * 10);
    for (size_t i = 0; i < w->size; i++) CHECK_CLOSE(w->g[i], 0, tiny * 50);
    for (size_t i = 0; i < b->size; i++) CHECK_CLOSE(b->g[i], 0, tiny * 50);
    CLOSE(c);
}

/* Lecture notes: a picture of p pixels, x (1 x p), is cut into m patches of p / m pixels, (m x
 * p/m), and a matrix (p/m x d) makes of them z (m x d); with d = p/m as many numbers as pixels, m d
 * = p.
 */
TEST(patch_embedding_is_patches_times_a_matrix) {
    enum { SIDE = 8, PATCH = 4, M = (SIDE / PATCH) * (SIDE / PATCH), D = PATCH * PATCH };
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_store *s = heed_store_new(c);
    heed_conv l;
    heed_patch_embed_init(&l, s, "patch", 1, PATCH, D, NULL);
    heed_tensor *x = normal(t, "x", 2, (int[]){1, SIDE * SIDE});
    heed_tensor *picture = heed_reshape(t, x, 4, (int[]){1, SIDE, SIDE, 1});
    heed_tensor *z = heed_patch_embed_apply(&l, t, picture); /* (1, M, D) */
    heed_tensor *cut = heed_reshape(t, x, 4, (int[]){SIDE / PATCH, PATCH, SIDE / PATCH, PATCH});
    cut = heed_reshape(t, heed_permute(t, cut, (int[]){0, 2, 1, 3}), 2, (int[]){M, D});
    heed_tensor *matrix = heed_reshape(t, l.w, 2, (int[]){D, D});
    CHECK(apart(z, heed_affine(t, cut, matrix, l.b)) < tiny);
    CHECK(z->dims == 3 && z->shape[1] == M && z->shape[2] == D && z->size == x->size);
    heed_conv_args a = {.stride = {PATCH, PATCH}};
    CHECK(apart(z, heed_conv2d(t, picture, l.w, l.b, &a)) == 0);
    CLOSE(c);
}

/* ---- refusals ---- */

TEST(conv_refuses_what_does_not_fit) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = normal(t, "x", 4, (int[]){2, 5, 6, 4}), *flat = normal(t, "f", 2, x->shape);
    heed_tensor *w = normal(t, "w", 4, (int[]){6, 4, 3, 3}), *b = normal(t, "b", 1, (int[]){5});
    heed_tensor *tall = normal(t, "tall", 4, (int[]){6, 4, 6, 1});
    heed_conv_args groups = {.groups = 4}, stride = {.stride = {-1, 1}}, pad = {.pad = {0, -2}};
    heed_conv_args wide = {.dilation = {1, 3}}, extra = {.extra = {1, 0}};
    REFUSED(heed_conv2d(heed_at(t, "conv1"), x, flat, NULL, NULL),
            "conv2d at conv1: (2,5,6,4) x (2,5): the weight needs 4 dims");
    REFUSED(heed_conv2d(t, flat, w, NULL, NULL), "(2,5): x needs 4 dims, (B,H,W,C)");
    REFUSED(heed_conv2d(t, normal(t, "x", 4, (int[]){2, 5, 6, 3}), w, NULL, NULL),
            "3 channels are not 1 groups of 4");
    REFUSED(heed_conv2d(t, x, w, NULL, &groups), "4 channels are not 4 groups of 4");
    REFUSED(heed_conv2d(t, x, w, b, NULL), "the bias is not (6)");
    REFUSED(heed_conv2d(t, x, tall, NULL, NULL), "covers 6 rows does not fit 5");
    REFUSED(heed_conv2d(t, x, w, NULL, &wide), "covers 7 columns does not fit 6");
    REFUSED(heed_conv2d(t, x, w, NULL, &stride), "stride -1 is not in 1 ..");
    REFUSED(heed_conv2d(t, x, w, NULL, &pad), "pad -2 is not in 0 ..");
    REFUSED(heed_conv2d_transposed(t, x, w, NULL, NULL), "inner 4 != 6");
    REFUSED(heed_conv2d_transposed(t, x, normal(t, "w", 4, (int[]){4, 2, 3, 3}), NULL, &extra),
            "extra 1 is not below the stride 1");
    REFUSED(heed_conv1d(heed_at(t, "c"), x, w, NULL, NULL), "conv1d at c: (2,5,6,4) x (6,4,3,3)");
    CHECK(!heed_conv2d(t, NULL, w, NULL, NULL));
    heed_clear(c);
    CHECK(!heed_conv1d(t, NULL, w, NULL, NULL) && !heed_max_pool(t, x, NULL));
    CLOSE(c);
}

TEST(pool_refuses_what_does_not_fit) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = normal(t, "x", 4, (int[]){2, 5, 6, 4});
    REFUSED(heed_max_pool(t, x, &(heed_pool_args){.size = {6, 2}}), "window of 6 rows");
    REFUSED(heed_avg_pool(t, x, &(heed_pool_args){.size = {2, 0}}), "a window of 0");
    REFUSED(heed_max_pool(t, x, &(heed_pool_args){.size = {2, 2}, .pad = {0, 2}}),
            "pad 2 is not in 0 .. half of the window, 1");
    REFUSED(heed_global_pool(t, normal(t, "x", 3, (int[]){2, 3, 4})), "x needs 4 dims");
    heed_tensor *huge = heed_wrap(t, x->x, 4, (int[]){1, 65536, 65536, 1}); /* refused unread */
    REFUSED(heed_avg_pool(t, huge, &(heed_pool_args){.size = {2, 2}}),
            "(1,65536,65536,1): the image is too large");
    CLOSE(c);
}

/* ---- pooling ---- */

TEST(pool_takes_the_first_of_the_largest) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(1, 2, 4, 1), 3, 1, 2, 7, 3, 3, 7, 7));
    heed_tensor *y = heed_max_pool(t, x, &(heed_pool_args){.size = {2, 2}});
    CHECK_VALUES(y, 0, 3, 7);
    CHECK(heed_backward(t, heed_sum(t, y)));
    CHECK_GRADS(x, 0, 1, 0, 0, 1, 0, 0, 0, 0);
    CLOSE(c);
}

TEST(pool_padding_is_never_a_maximum) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = REALS(t, S(1, 2, 2, 1), -4, -3, -2, -5);
    heed_pool_args a = {.size = {2, 2}, .pad = {1, 1}};
    CHECK_VALUES(heed_max_pool(t, x, &a), 0, -4, -3, -2, -5);
    CHECK_VALUES(heed_avg_pool(t, x, &a), 0, -1, -0.75, -0.5, -1.25);
    CLOSE(c);
}

TEST(pool_hands_on_what_is_not_a_number) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(1, 2, 4, 1), 1, NAN, 5, 2, 9, NAN, 4, 3));
    heed_tensor *y = heed_max_pool(t, x, &(heed_pool_args){.size = {2, 2}});
    CHECK(isnan(y->x[0]) && y->x[1] == 5);
    CHECK(heed_backward(t, heed_sum(t, y)));
    CHECK_GRADS(x, 0, 0, 1, 1, 0, 0, 0, 0, 0);
    CLOSE(c);
}

/* ---- layers ---- */

TEST(conv_layers_name_their_parameters) {
    heed_ctx *c;
    begin(&c, HEED_TRAIN);
    heed_store *s = heed_store_new(c);
    heed_conv_block b;
    heed_conv_block_init(&b, s, "stage.0", (heed_conv_block_args){.in = 4, .out = 8, .stride = 2});
    const char *const names[] = {"stage.0.conv1.weight", "stage.0.norm2.running_var",
                                 "stage.0.short.conv.weight", "stage.0.short.norm.bias"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) CHECK(heed_store_find(s, names[i]));
    CHECK(!heed_store_find(s, "stage.0.conv1.bias")); /* batch norm takes the mean away */
    CHECK(heed_store_params(s) == 8 * 4 * 9 + 8 * 8 * 9 + 8 * 4 + 6 * 8);
    heed_conv_block_init(&b, s, "plain",
                         (heed_conv_block_args){.in = 4, .out = 4, .no_norm = true});
    CHECK(heed_store_find(s, "plain.conv1.bias") && !heed_store_find(s, "plain.short.conv.weight"));
    CLOSE(c);
}

/* PyTorch draws weight and bias of a convolution in +-1/sqrt(channels of a group x taps). */
TEST(conv_starts_as_pytorch) {
    heed_ctx *c;
    begin(&c, HEED_TRAIN);
    heed_store *s = heed_store_new(c);
    heed_conv l;
    heed_conv_init(
        &l, s, "c",
        (heed_conv_layer_args){.in = 8, .out = 600, .size = {3, 2}, .conv = {.groups = 2}});
    double bound = 1 / sqrt(4 * 3 * 2), most[2] = {0};
    for (size_t i = 0; i < l.w->size; i++) most[0] = fmax(most[0], fabs((double)l.w->x[i]));
    for (size_t i = 0; i < l.b->size; i++) most[1] = fmax(most[1], fabs((double)l.b->x[i]));
    for (int i = 0; i < 2; i++) CHECK(most[i] <= bound && most[i] > 0.98 * bound);
    CLOSE(c);
}

TEST(positions_of_a_grid) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_store *s = heed_store_new(c);
    heed_position l;
    heed_position_init(&l, s, "pos", HEED_SINUSOIDAL_2D, 10, 8);
    heed_tensor *y = heed_position_apply(&l, t, heed_input(t, NULL, 3, (int[]){1, 10, 8}), 0);
    for (int i = 0; y && i < 8; i++) CHECK(y->x[i] == 0); /* [CLS] */
    const heed_real *p = y ? y->x + (1 + 5) * 8 : NULL;   /* patch 5: row 1, column 2 */
    for (int i = 0; p && i < 4; i++) {
        double turn = pow(10000, -(i / 2 * 2) / 4.0);
        CHECK_CLOSE(p[i], i % 2 ? cos(turn) : sin(turn), tiny);
        CHECK_CLOSE(p[4 + i], i % 2 ? cos(2 * turn) : sin(2 * turn), tiny);
    }
    CHECK(heed_store_count(s) == 0);
    heed_position_init(&l, s, "pos", HEED_SINUSOIDAL_2D, 7, 8);
    CHECK_HAS(heed_ctx_error(c), "positions of a grid do not fit: pos: expected a square number");
    heed_close(c);
}

/* ---- gradients of layers ---- */

#ifdef HEED_F64
typedef struct {
    heed_tensor *x; /* (2,4,6,3) */
    heed_conv conv;
    heed_conv_block block;
    heed_batchnorm norm;
    heed_position position;
} parts;

static heed_tensor *use_conv(parts *p, heed_tape *t) { return heed_conv_apply(&p->conv, t, p->x); }
static void make_conv(parts *p, heed_store *s) {
    heed_conv_init(
        &p->conv, s, "conv",
        (heed_conv_layer_args){
            .in = 3, .out = 5, .size = {3, 2}, .conv = {.stride = {1, 2}, .pad = {1, 0}}});
}
static void make_transposed(parts *p, heed_store *s) {
    heed_conv_init(&p->conv, s, "conv",
                   (heed_conv_layer_args){.in = 3,
                                          .out = 2,
                                          .size = {3, 3},
                                          .conv = {.stride = {2, 1}, .extra = {1, 0}},
                                          .transposed = true});
}
static heed_tensor *use_sequence(parts *p, heed_tape *t) {
    return heed_conv_apply(&p->conv, t, heed_reshape(t, p->x, 3, (int[]){2, 24, 3}));
}
static void make_sequence(parts *p, heed_store *s) {
    heed_conv_init(
        &p->conv, s, "conv",
        (heed_conv_layer_args){
            .in = 3, .out = 6, .size = {0, 3}, .conv = {.dilation = {1, 2}, .groups = 3}});
}
static heed_tensor *use_norm(parts *p, heed_tape *t) {
    return heed_batchnorm_apply(&p->norm, t, p->x);
}
static void make_norm(parts *p, heed_store *s) { heed_batchnorm_init(&p->norm, s, "norm", 3); }
static heed_tensor *use_patches(parts *p, heed_tape *t) {
    heed_tensor *x = heed_slice(t, p->x, 2, 0, 4);
    return heed_position_apply(&p->position, t, heed_patch_embed_apply(&p->conv, t, x), 0);
}
static void make_patches(parts *p, heed_store *s) {
    heed_patch_embed_init(&p->conv, s, "patch", 3, 2, 5, NULL);
    heed_position_init(&p->position, s, "pos", HEED_SINUSOIDAL_2D, 4, 5);
}
static heed_tensor *use_block(parts *p, heed_tape *t) {
    return heed_conv_block_apply(&p->block, t, p->x);
}
static void make_block(parts *p, heed_store *s) {
    heed_conv_block_init(&p->block, s, "block", (heed_conv_block_args){.in = 3, .out = 3});
}
static void make_smaller(parts *p, heed_store *s) {
    heed_conv_block_args a = {.in = 3, .out = 4, .stride = 2, .dropout = 0.2};
    heed_conv_block_init(&p->block, s, "block", a);
}
static void make_plain(parts *p, heed_store *s) {
    heed_conv_block_args a = {.in = 3, .out = 4, .no_norm = true, .no_residual = true};
    heed_conv_block_init(&p->block, s, "block", a);
}

static const struct {
    const char *name;
    void (*make)(parts *p, heed_store *s);
    heed_tensor *(*use)(parts *p, heed_tape *t);
} layers[] = {{"conv", make_conv, use_conv},
              {"conv transposed", make_transposed, use_conv},
              {"conv of a sequence", make_sequence, use_sequence},
              {"batch norm of images", make_norm, use_norm},
              {"patches", make_patches, use_patches},
              {"block", make_block, use_block},
              {"smaller block", make_smaller, use_block},
              {"plain block", make_plain, use_block}};

typedef struct {
    parts p;
    int layer;
} layer_case;

/* A fixed random weight on every output. */
static heed_tensor *layer_loss(void *self, heed_tape *t) {
    layer_case *l = self;
    heed_tensor *y = layers[l->layer].use(&l->p, t);
    return y ? heed_sum(t, heed_mul(t, y, normal(t, "weights", y->dims, y->shape))) : NULL;
}

TEST(conv_gradients_of_every_layer) {
    for (int i = 0; i < (int)(sizeof layers / sizeof *layers); i++) {
        heed_ctx *c;
        begin(&c, HEED_TRAIN);
        heed_store *s = heed_store_new(c);
        layer_case k = {.layer = i};
        k.p.x = heed_param(s, "x", "normal:1", 4, (int[]){2, 4, 6, 3});
        layers[i].make(&k.p, s);
        heed_check check = heed_gradcheck_store(c, s, layer_loss, &k, 1 << 20);
        if (!(check.error >= 0 && check.error <= 1e-6) || check.cases < 1)
            test_fail(__FILE__, __LINE__, "%s: gradient off by %.3g at %s", layers[i].name,
                      check.error, check.worst);
        CLOSE(c);
    }
}
#endif
