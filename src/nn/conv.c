/* conv.c -- convolution, the residual block of a CNN, and patch embedding. */
#include "nn/nn.h"

#include <stdio.h>

/* The weight has PyTorch's layout: (out, in/groups, [kh,] kw), transposed (in, out/groups, ..). */
void heed_conv_init(heed_conv *l, heed_params *s, const char *name, heed_conv_layer_args a) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    int groups = a.conv.groups ? a.conv.groups : 1, first = a.transposed ? a.in : a.out;
    int each = (a.transposed ? a.out : a.in) / groups, plane = a.size[0] ? a.size[0] : 1;
    int shape[] = {first, each, a.size[0], a.size[1]};
    char fan_in[32];
    snprintf(fan_in, sizeof fan_in, "kaiming:%lld", (long long)each * plane * a.size[1]);
    if (!a.size[0]) shape[2] = a.size[1];
    l->args = a;
    l->name = heed_scope_push(s, "%s", name);
    l->w = heed_param_new(s, "weight", a.init ? a.init : "kaiming", a.size[0] ? 4 : 3, shape);
    l->b = NULL;
    if (!a.no_bias) l->b = heed_param_new(s, "bias", a.init ? "zero" : fan_in, 1, &a.out);
    heed_scope_pop(s);
}

heed_tensor *heed_conv_apply(const heed_conv *l, heed_tape *t, heed_tensor *x) {
    if (!heed__layer_given(l, t)) return NULL;
    const heed_conv_layer_args *a = &l->args;
    t = heed_name_scope(t, l->name);
    if (a->size[0])
        return a->transposed ? heed_conv2d_transposed(t, x, l->w, l->b, &a->conv)
                             : heed_conv2d(t, x, l->w, l->b, &a->conv);
    return a->transposed ? heed_conv1d_transposed(t, x, l->w, l->b, &a->conv)
                         : heed_conv1d(t, x, l->w, l->b, &a->conv);
}

/* ---- residual block ---- */

static heed_conv_layer_args square(int in, int out, int size, int stride, bool no_norm) {
    return (heed_conv_layer_args){.in = in,
                                  .out = out,
                                  .size = {size, size},
                                  .conv = {.stride = {stride, stride}, .pad = {size / 2, size / 2}},
                                  .no_bias = !no_norm};
}

void heed_conv_block_init(heed_conv_block *l, heed_params *s, const char *name,
                          heed_conv_block_args a) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    if (!a.stride) a.stride = 1;
    *l = (heed_conv_block){.args = a};
    heed_scope_push(s, "%s", name);
    heed_conv_init(&l->conv1, s, "conv1", square(a.in, a.out, 3, a.stride, a.no_norm));
    if (!a.no_norm) heed_batchnorm_init(&l->norm1, s, "norm1", a.out);
    heed_dropout_layer_init(&l->drop, s, "drop", a.dropout);
    heed_conv_init(&l->conv2, s, "conv2", square(a.out, a.out, 3, 1, a.no_norm));
    if (!a.no_norm) heed_batchnorm_init(&l->norm2, s, "norm2", a.out);
    if (!a.no_residual && (a.in != a.out || a.stride != 1)) {
        heed_scope_push(s, "short");
        heed_conv_init(&l->short_conv, s, "conv", square(a.in, a.out, 1, a.stride, a.no_norm));
        if (!a.no_norm) heed_batchnorm_init(&l->short_norm, s, "norm", a.out);
        heed_scope_pop(s);
    }
    heed_scope_pop(s);
}

static heed_tensor *normed(const heed_batchnorm *l, heed_tape *t, heed_tensor *x) {
    return l->mean ? heed_batchnorm_apply(l, t, x) : x;
}

heed_tensor *heed_conv_block_apply(const heed_conv_block *l, heed_tape *t, heed_tensor *x) {
    if (!heed__layer_given(l, t)) return NULL;
    heed_tensor *y = normed(&l->norm1, t, heed_conv_apply(&l->conv1, t, x));
    y = heed_dropout_layer_apply(&l->drop, t, heed_relu(t, y));
    y = normed(&l->norm2, t, heed_conv_apply(&l->conv2, t, y));
    if (l->short_conv.w) x = normed(&l->short_norm, t, heed_conv_apply(&l->short_conv, t, x));
    return heed_relu(t, l->args.no_residual ? y : heed_add(t, x, y));
}

/* ---- patches ---- */

void heed_patch_embed_init(heed_conv *l, heed_params *s, const char *name, int channels, int patch,
                           int width, const char *init) {
    heed_conv_layer_args a = {.in = channels,
                              .out = width,
                              .size = {patch, patch},
                              .conv = {.stride = {patch, patch}},
                              .init = init};
    heed_conv_init(l, s, name, a);
}

heed_tensor *heed_patch_embed_apply(const heed_conv *l, heed_tape *t, heed_tensor *x) {
    heed_tensor *y = heed_conv_apply(l, t, x); /* (B, H/p, W/p, d) */
    if (!y) return NULL;
    return heed_reshape(t, y, 3, (int[]){y->shape[0], y->shape[1] * y->shape[2], y->shape[3]});
}

/* ---- check cases ---- */

/* Views an example as an image of 2 x 3 pixels. */
enum { CHANNELS = HEED_CASE_LEN * HEED_CASE_WIDTH / 6 };
static heed_tensor *picture(heed_tape *t, heed_tensor *x) {
    return heed_reshape(t, x, 4, (int[]){HEED_CASE_ROWS, 2, 3, CHANNELS});
}

static void conv_init(void *self, heed_params *s, const void *args) {
    heed_conv_init(self, s, "conv", *(const heed_conv_layer_args *)args);
}
static heed_tensor *conv_apply(const void *self, heed_tape *t, heed_tensor *x) {
    const heed_conv *l = self;
    return heed_conv_apply(l, t, l->args.size[0] ? picture(t, x) : x);
}

static void block_init(void *self, heed_params *s, const void *args) {
    heed_conv_block_init(self, s, "block", *(const heed_conv_block_args *)args);
}
static heed_tensor *block_apply(const void *self, heed_tape *t, heed_tensor *x) {
    return heed_conv_block_apply(self, t, picture(t, x));
}

#define CASE(name, channels, ...)                                                                  \
    {                                                                                              \
        name, sizeof(heed_conv), conv_init, conv_apply, &(const heed_conv_layer_args) {            \
            .in = channels, .out = channels, __VA_ARGS__                                           \
        }                                                                                          \
    }
const heed_layer_case heed_layers_conv[] = {
    CASE("convolution", CHANNELS, .size = {3, 3}, .conv = {.pad = {1, 1}, .groups = 2}),
    CASE("conv transposed", CHANNELS, .size = {3, 3}, .conv = {.pad = {1, 1}, .groups = 2},
         .transposed = true),
    CASE("conv of a sequence", HEED_CASE_WIDTH, .size = {0, 3}, .conv = {.pad = {0, 1}}),
    {"block of a CNN", sizeof(heed_conv_block), block_init, block_apply,
     &(const heed_conv_block_args){.in = CHANNELS, .out = CHANNELS, .dropout = (heed_real)0.2}},
    {0}};
