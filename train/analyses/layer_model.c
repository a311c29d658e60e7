/* layer_model.c -- each layer of the library as a small model, for gradcheck: a dense layer in
 * front (so that the gradient of the layer's input counts, too), the layer, and the mean squared
 * difference from fixed targets. */
#include "analyses/workbench.h"

#include <string.h>

#define STRONG "normal:0.5"      /* scores apart, so that queries and keys get a gradient */
enum { T = 3, D = 8, ROWS = 8 }; /* tokens and width of an example; examples at most */

typedef struct layer layer;
typedef struct {
    const char *name;
    void (*init)(layer *l, heed_store *s);
    heed_tensor *(*apply)(layer *l, heed_tape *t, heed_tensor *x); /* (B,T,D) -> (B,T,D) */
} layer_kind;

struct layer {
    const layer_kind *kind;
    heed_linear front, linear;
    heed_norm norm;
    heed_batchnorm batchnorm;
    heed_drop drop;
    heed_position position;
    heed_mha mha;
    heed_tensor *score_bias; /* (1,2,T,T) */
    heed_ff ff;
    heed_block block;
    heed_conv conv;
    heed_conv_block conv_block;
    heed_real x[ROWS * T * D]; /* of the batch */
};

/* ---- dense, norms, positions ---- */

static void linear_init(layer *l, heed_store *s) {
    heed_linear_init(&l->linear, s, "linear", (heed_linear_args){.in = D, .out = D});
}
static heed_tensor *linear_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return heed_linear_act(&l->linear, t, x, HEED_GELU);
}

static void norm_init(layer *l, heed_store *s) {
    heed_norm_init(&l->norm, s, "norm", D, (heed_real)1e-5, true);
}
static heed_tensor *norm_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return heed_norm_apply(&l->norm, t, x);
}

static void batchnorm_init(layer *l, heed_store *s) {
    heed_batchnorm_init(&l->batchnorm, s, "batchnorm", D);
}
static heed_tensor *batchnorm_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return heed_batchnorm_apply(&l->batchnorm, t, x);
}

static void residual_init(layer *l, heed_store *s) {
    norm_init(l, s);
    linear_init(l, s);
    heed_drop_init(&l->drop, s, "drop", (heed_real)0.3);
}
static heed_tensor *residual_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return heed_residual(t, x, linear_apply(l, t, x), &l->drop, &l->norm);
}

static void position_init(layer *l, heed_store *s) {
    heed_position_init(&l->position, s, "position", HEED_LEARNED, T, D);
}
static heed_tensor *position_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return heed_position_apply(&l->position, t, x, 0);
}

/* ---- attention and blocks ---- */

static void mha_init(layer *l, heed_store *s) {
    heed_mha_init(&l->mha, s, "mha",
                  (heed_mha_args){.width = D, .init = STRONG, .heads = 2, .key = 3, .value = 5});
}
static void causal_init(layer *l, heed_store *s) {
    heed_mha_init(
        &l->mha, s, "mha",
        (heed_mha_args){.width = D, .init = STRONG, .heads = 2, .causal = true, .no_out = true});
}
static void explicit_init(layer *l, heed_store *s) {
    heed_mha_init(&l->mha, s, "mha",
                  (heed_mha_args){.width = D,
                                  .init = STRONG,
                                  .heads = 2,
                                  .explicit_path = true,
                                  .no_bias = true,
                                  .dropout = (heed_real)0.3,
                                  .has_beta = true,
                                  .beta = 2});
}
static heed_tensor *mha_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return heed_mha_apply(&l->mha, t, x, NULL, NULL, NULL);
}

static void biased_init(layer *l, heed_store *s) {
    mha_init(l, s);
    l->score_bias = heed_param(s, "score_bias", STRONG, 4, (int[]){1, 2, T, T});
}
static heed_tensor *biased_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return heed_mha_biased(&l->mha, t, x, NULL, l->score_bias, NULL, NULL);
}

static void cross_init(layer *l, heed_store *s) {
    linear_init(l, s);
    heed_mha_init(&l->mha, s, "mha",
                  (heed_mha_args){.width = D, .init = STRONG, .heads = 4, .cross = true});
}
static heed_tensor *cross_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return heed_mha_apply(&l->mha, t, x, linear_apply(l, t, x), NULL, NULL);
}

static void ff_init(layer *l, heed_store *s) {
    heed_ff_init(&l->ff, s, "ff", (heed_ff_args){.width = D, .inner = 12, .act = HEED_GELU_TANH});
}
static heed_tensor *ff_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return heed_ff_apply(&l->ff, t, x);
}

static void block_of(layer *l, heed_store *s, bool pre_norm) {
    heed_block_init(&l->block, s, "block",
                    (heed_block_args){.attn = {.width = D, .heads = 2},
                                      .mlp = {.width = D, .inner = 12, .act = HEED_GELU},
                                      .pre_norm = pre_norm,
                                      .eps = (heed_real)1e-5,
                                      .dropout = (heed_real)0.2});
}
static void pre_init(layer *l, heed_store *s) { block_of(l, s, true); }
static void post_init(layer *l, heed_store *s) { block_of(l, s, false); }
static heed_tensor *block_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return heed_block_apply(&l->block, t, x, NULL, NULL);
}

/* ---- convolutions: an example as a picture of 2 x 3 pixels ---- */

static heed_tensor *picture(heed_tape *t, heed_tensor *x) {
    return heed_reshape(t, x, 4, (int[]){-1, 2, 3, T * D / 6});
}
static heed_tensor *tokens(heed_tape *t, heed_tensor *x) {
    return heed_reshape(t, x, 3, (int[]){-1, T, D});
}

static void conv_of(layer *l, heed_store *s, bool transposed) {
    heed_conv_init(&l->conv, s, "conv",
                   (heed_conv_layer_args){.in = T * D / 6,
                                          .out = T * D / 6,
                                          .size = {3, 3},
                                          .conv = {.pad = {1, 1}, .groups = 2},
                                          .transposed = transposed});
}
static void conv_init(layer *l, heed_store *s) { conv_of(l, s, false); }
static void transposed_init(layer *l, heed_store *s) { conv_of(l, s, true); }
static heed_tensor *conv_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return tokens(t, heed_conv_apply(&l->conv, t, picture(t, x)));
}

static void sequence_init(layer *l, heed_store *s) {
    heed_conv_init(
        &l->conv, s, "conv",
        (heed_conv_layer_args){.in = D, .out = D, .size = {0, 3}, .conv = {.pad = {0, 1}}});
}
static heed_tensor *sequence_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return heed_conv_apply(&l->conv, t, x);
}

static void conv_block_init(layer *l, heed_store *s) {
    heed_conv_block_init(
        &l->conv_block, s, "block",
        (heed_conv_block_args){.in = T * D / 6, .out = T * D / 6, .dropout = (heed_real)0.2});
}
static heed_tensor *conv_block_apply(layer *l, heed_tape *t, heed_tensor *x) {
    return tokens(t, heed_conv_block_apply(&l->conv_block, t, picture(t, x)));
}

static const layer_kind kinds[] = {{"dense", linear_init, linear_apply},
                                   {"layer norm", norm_init, norm_apply},
                                   {"batch norm", batchnorm_init, batchnorm_apply},
                                   {"residual", residual_init, residual_apply},
                                   {"position", position_init, position_apply},
                                   {"attention", mha_init, mha_apply},
                                   {"attention causal", causal_init, mha_apply},
                                   {"attention plain", explicit_init, mha_apply},
                                   {"attention biased", biased_init, biased_apply},
                                   {"attention cross", cross_init, cross_apply},
                                   {"feed-forward", ff_init, ff_apply},
                                   {"convolution", conv_init, conv_apply},
                                   {"conv transposed", transposed_init, conv_apply},
                                   {"conv of a sequence", sequence_init, sequence_apply},
                                   {"block of a CNN", conv_block_init, conv_block_apply},
                                   {"block pre-norm", pre_init, block_apply},
                                   {"block post-norm", post_init, block_apply}};

/* ---- as a model ---- */

static const heed_option options[] = {
    {"layer", HEED_INT, "0", 0, sizeof kinds / sizeof *kinds - 1, NULL, "which", "Model"}, {0}};

const char *layer_name(int index) {
    return index < (int)(sizeof kinds / sizeof *kinds) ? kinds[index].name : NULL;
}

static bool init(void *self, heed_store *s, const heed_config *f) {
    layer *l = self;
    l->kind = &kinds[heed_config_int(f, "layer")];
    heed_linear_init(&l->front, s, "front",
                     (heed_linear_args){.in = D, .out = D, .no_bias = true, .init = STRONG});
    l->kind->init(l, s);
    return heed_ctx_status(heed_store_ctx(s)) == HEED_OK;
}

static bool batch(void *self, void *data, heed_batch_at at, heed_batch *out) {
    layer *l = self;
    heed_random r = heed_random_at(1, "pixels", at.index, 0);
    int rows = at.rows < ROWS ? at.rows : ROWS;
    (void)data;
    for (int i = 0; i < rows * T * D; i++)
        l->x[i] = (heed_real)heed_random_uniform(&r, (uint64_t)i);
    *out = (heed_batch){.rows = rows, .len = T * D, .x = l->x, .items = (size_t)rows};
    return true;
}

static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    layer *l = self;
    heed_tensor *x = heed_input(t, b->x, 3, (int[]){b->rows, T, D});
    heed_tensor *target = heed_scale(t, x, (heed_real)-0.7, (heed_real)0.3);
    return heed_mse(t, l->kind->apply(l, t, heed_linear_apply(&l->front, t, x)), target);
}

const heed_model layer_model = {.name = "layer",
                                .options = options,
                                .size = sizeof(layer),
                                .init = init,
                                .batch = batch,
                                .loss = loss};
