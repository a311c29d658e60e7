/* block.c -- the feed-forward network and the transformer block of an encoder or a decoder. Vaswani
 * et al. 2017, sec. 3.1 and 3.3, fig. 1; pre-norm: Radford et al. 2019, sec. 2.3; gated
 * feed-forward networks: Shazeer 2020. */
#include "core/tape.h"
#include "nn/nn.h"

#include <stdio.h>

void heed_ff_init(heed_ff *l, heed_params *s, const char *name, heed_ff_args a) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    heed_linear_args up = {a.width, a.inner, a.no_bias, a.init};
    heed_linear_args down = {a.inner, a.width, a.no_bias, a.out_init};
    *l = (heed_ff){.act = a.act};
    heed_scope_push(s, "%s", name);
    if (a.gated) heed_linear_init(&l->gate, s, "gate", up);
    heed_linear_init(&l->up, s, "up", up);
    heed_linear_init(&l->down, s, "down", down);
    heed_scope_pop(s);
}

heed_tensor *heed_ff_apply(const heed_ff *l, heed_tape *t, heed_tensor *x) {
    if (!heed__layer_given(l, t)) return NULL;
    const heed_linear *first = l->gate.w ? &l->gate : &l->up;
    heed_tensor *h = heed_linear_act(first, t, x, l->act);
    if (l->gate.w) h = heed_mul(t, h, heed_linear_apply(&l->up, t, x));
    heed_tensor *y = heed_linear_apply(&l->down, t, h);
    if (l->act != HEED_IDENTITY)
        heed__let_go_if_large(t, h); /* by the values before the activation */
    return y;
}

/* ---- parameters ---- */

/* Without W_h, the heads' values are added to x, so their total width must be that of x. */
static void attention(heed_mha *l, heed_params *s, const char *name, heed_mha_args a) {
    heed_mha_init(l, s, name, a);
    if (l->args.no_out && l->args.heads * l->args.value != l->args.width)
        heed_fail(heed_params_ctx(s), HEED_USAGE,
                  "attention without output projection does not fit: %s: expected heads x value "
                  "width = width %d, found %d x %d; hint: another `value-width`",
                  l->name, l->args.width, l->args.heads, l->args.value);
}

/* Makes the norm and dropout around sublayer i. */
static void around(heed_block *l, heed_params *s, int i) {
    const heed_block_args *a = &l->args;
    char name[16];
    snprintf(name, sizeof name, "drop%d", i + 1);
    heed_dropout_layer_init(&l->drop[i], s, name, a->dropout);
    snprintf(name, sizeof name, "norm%d", i + 1);
    heed_norm_init(
        &l->norm[i], s, name,
        (heed_norm_args){
            .kind = a->norm, .width = a->attn.width, .eps = a->eps, .no_bias = a->norm_no_bias});
}

void heed_block_init(heed_block *l, heed_params *s, const char *name, heed_block_args a) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    bool crosses = a.cross.cross = a.cross.heads > 0;
    if (crosses) a.attn.causal = true;
    *l = (heed_block){.args = a};
    heed_scope_push(s, "%s", name);
    attention(&l->attn, s, "attn", a.attn);
    around(l, s, 0);
    if (crosses) {
        attention(&l->cross, s, "cross", a.cross);
        around(l, s, 1);
    }
    heed_ff_init(&l->mlp, s, "mlp", a.mlp);
    around(l, s, 1 + crosses);
    heed_scope_pop(s);
}

/* ---- forward ---- */

/* The input of sublayer i: norm(x) if the norm precedes it, else x. */
static heed_tensor *before(const heed_block *l, heed_tape *t, heed_tensor *x, int i) {
    return l->args.pre_norm ? heed_norm_apply(&l->norm[i], t, x) : x;
}

/* read: what the sublayer read, and nothing else if the norm precedes it. */
static heed_tensor *after(const heed_block *l, heed_tape *t, heed_tensor *x, heed_tensor *read,
                          heed_tensor *fx, int i) {
    heed_tensor *y = heed__residual(t, x, fx, &l->drop[i], l->args.pre_norm ? NULL : &l->norm[i]);
    heed__let_go(t, fx);
    if (l->args.pre_norm) heed__let_go_if_large(t, read);
    return y;
}

heed_tensor *heed_block_apply(const heed_block *l, heed_tape *t, heed_tensor *x,
                              const heed_block_inputs *in) {
    static const heed_block_inputs none = {0};
    if (!heed__layer_given(l, t)) return NULL;
    if (!in) in = &none;
    int i = 0;
    heed_tensor *read = before(l, t, x, i);
    heed_tensor *y =
        heed_mha_apply(&l->attn, t, read,
                       &(heed_mha_inputs){.pad = in->pad, .rows = in->rows, .cache = in->caches});
    if (in->rows) x = heed_gather(t, x, in->rows);
    x = after(l, t, x, read, y, i++);
    if (l->args.cross.cross) {
        heed_cache *cache = in->caches ? in->caches + 1 : NULL;
        read = before(l, t, x, i);
        y = heed_mha_apply(
            &l->cross, t, read,
            &(heed_mha_inputs){.memory = in->memory, .pad = in->memory_pad, .cache = cache});
        x = after(l, t, x, read, y, i++);
    }
    read = before(l, t, x, i);
    y = heed_ff_apply(&l->mlp, t, read);
    return after(l, t, x, read, y, i);
}

/* ---- check cases ---- */

static void ff_init(void *self, heed_params *s, const void *args) {
    heed_ff_init(self, s, "ff", *(const heed_ff_args *)args);
}
static heed_tensor *ff_apply(const void *self, heed_tape *t, heed_tensor *x) {
    return heed_ff_apply(self, t, x);
}

typedef struct {
    heed_block block;
    heed_tensor *memory; /* (2,3,8), for a decoder block; or NULL */
} block_case;

static void block_init(void *self, heed_params *s, const void *args) {
    const heed_block_args *a = args;
    block_case *l = self;
    heed_block_init(&l->block, s, "block", *a);
    if (a->cross.heads)
        l->memory = heed_param_new(s, "memory", "normal:1", 3,
                                   (int[]){HEED_CASE_ROWS, HEED_CASE_LEN, HEED_CASE_WIDTH});
}

/* The third token of the first row is padding. */
static heed_block_inputs inputs_of(const block_case *l, heed_tape *t) {
    heed_tensor *pad = heed_ids(t, (int32_t[]){1, 1, 0, 1, 1, 1}, HEED_CASE_ROWS, HEED_CASE_LEN);
    return (heed_block_inputs){.pad = pad, .memory = l->memory, .memory_pad = pad};
}
static heed_tensor *block_apply(const void *self, heed_tape *t, heed_tensor *x) {
    const block_case *l = self;
    heed_block_inputs in = inputs_of(l, t);
    return heed_block_apply(&l->block, t, x, &in);
}
static heed_tensor *rows_apply(const void *self, heed_tape *t, heed_tensor *x) {
    const block_case *l = self;
    heed_block_inputs in = inputs_of(l, t);
    in.rows = heed_input_ids(t, (int32_t[]){4, 0, 3}, 1, (int[]){3});
    return heed_block_apply(&l->block, t, x, &in);
}

#define ATTENTION                                                                                  \
    { .width = HEED_CASE_WIDTH, .heads = 2, .dropout = (heed_real)0.1 }
#define CASE(name, ...)                                                                            \
    {                                                                                              \
        name, sizeof(block_case), block_init, block_apply, &(const heed_block_args) {              \
            .attn = ATTENTION, .mlp = {.width = HEED_CASE_WIDTH, .inner = 12, .act = HEED_GELU},   \
            .eps = (heed_real)1e-5, .dropout = (heed_real)0.2, __VA_ARGS__                         \
        }                                                                                          \
    }
static const heed_block_args llama = {.attn = {.width = HEED_CASE_WIDTH,
                                               .heads = 4,
                                               .kv_heads = 2,
                                               .causal = true,
                                               .no_bias = true,
                                               .rotary = 10000},
                                      .mlp = {.width = HEED_CASE_WIDTH,
                                              .inner = 12,
                                              .gated = true,
                                              .act = HEED_SILU,
                                              .no_bias = true},
                                      .pre_norm = true,
                                      .norm = HEED_RMS_NORM,
                                      .eps = (heed_real)1e-5};
const heed_layer_case heed_layers_block[] = {
    {"feed-forward", sizeof(heed_ff), ff_init, ff_apply,
     &(const heed_ff_args){.width = HEED_CASE_WIDTH, .inner = 12, .act = HEED_GELU_TANH}},
    {"feed-forward gated", sizeof(heed_ff), ff_init, ff_apply,
     &(const heed_ff_args){
         .width = HEED_CASE_WIDTH, .inner = 12, .gated = true, .act = HEED_SILU, .no_bias = true}},
    CASE("block pre-norm", .pre_norm = true),
    CASE("block post-norm", .pre_norm = false),
    CASE("block rms norm", .pre_norm = true, .norm = HEED_RMS_NORM),
    {"block of llama", sizeof(block_case), block_init, block_apply, &llama},
    {"block of rows", sizeof(block_case), block_init, rows_apply, &llama},
    CASE("decoder pre-norm", .pre_norm = true, .cross = ATTENTION),
    CASE("decoder post-norm", .pre_norm = false, .cross = ATTENTION),
    {0}};
