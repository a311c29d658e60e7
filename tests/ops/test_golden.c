/* Values and gradients of ops and layers against PyTorch's, stored by tests/golden/make_ops.py and
 * make_layers.py (the format is told in golden.py). The bar is max(10 x PyTorch's own
 * float-to-double drift, 1e-6 of the largest value) in float, 1e-11 of the largest value in the
 * double build. */
#include "golden.h"

/* ---- ops: how a case's op is called ---- */
static heed_tensor *split(const golden *g) {
    heed_tensor *back[8], *x = g->in[0];
    int parts = (int)golden_arg(g, "parts", 1), dim = (int)golden_arg(g, "dim", 0);
    int size = x->shape[dim < 0 ? dim + x->dims : dim] / parts;
    for (int i = 0; i < parts; i++)
        back[i] = heed_slice(g->t, x, dim, (parts - 1 - i) * size, size);
    return heed_concat(g->t, dim, parts, back);
}

static heed_tensor *concat(const golden *g) {
    return heed_concat(g->t, (int)golden_arg(g, "dim", 0), g->inputs, g->in);
}

static heed_tensor *reshape(const golden *g) {
    int shape[HEED_DIMS], dims = golden_list(g, "shape", shape);
    return heed_reshape(g->t, g->in[0], dims, shape);
}

static heed_tensor *permute(const golden *g) {
    int order[HEED_DIMS];
    golden_list(g, "order", order);
    return heed_permute(g->t, g->in[0], order);
}

static heed_tensor *slice(const golden *g) {
    return heed_slice(g->t, g->in[0], (int)golden_arg(g, "dim", 0), (int)golden_arg(g, "from", 0),
                      (int)golden_arg(g, "size", 0));
}

static heed_tensor *pad(const golden *g) {
    return heed_pad(g->t, g->in[0], (int)golden_arg(g, "dim", 0), (int)golden_arg(g, "before", 0),
                    (int)golden_arg(g, "after", 0), golden_real(g, "value", 0));
}

static heed_tensor *sum_dim(const golden *g) {
    return heed_sum_dim(g->t, g->in[0], (int)golden_arg(g, "dim", 0));
}

static heed_tensor *mean_dim(const golden *g) {
    return heed_mean_dim(g->t, g->in[0], (int)golden_arg(g, "dim", 0));
}

static heed_tensor *max_dim(const golden *g) {
    return heed_max_dim(g->t, g->in[0], (int)golden_arg(g, "dim", 0));
}

static heed_tensor *activate(const golden *g) {
    return heed_activate(g->t, g->in[0], (heed_act)golden_arg(g, "act", 0));
}

static heed_tensor *lora(const golden *g) {
    return heed_lora(g->t, g->in[0], g->in[1], g->in[2], (int)golden_arg(g, "start", 0),
                     (heed_real)golden_arg(g, "scale", 1));
}
static heed_tensor *affine_act(const golden *g) {
    return heed_affine_act(g->t, g->in[0], g->in[1], g->in[2], (heed_act)golden_arg(g, "act", 0));
}

static heed_tensor *scale(const golden *g) {
    return heed_scale(g->t, g->in[0], golden_real(g, "scale", 1), golden_real(g, "shift", 0));
}

static heed_tensor *clamp(const golden *g) {
    return heed_clamp(g->t, g->in[0], golden_real(g, "lo", 0), golden_real(g, "hi", 0));
}

static heed_tensor *stop_gradient(const golden *g) {
    return heed_mul(g->t, g->in[0], heed_stop_gradient(g->t, g->in[0]));
}

static heed_tensor *softmax(const golden *g) {
    return heed_softmax(g->t, g->in[0], golden_real(g, "beta", 1), g->in[1]);
}

static heed_tensor *log_softmax(const golden *g) {
    return heed_log_softmax(g->t, g->in[0], golden_real(g, "beta", 1), g->in[1]);
}

static heed_tensor *hardmax(const golden *g) {
    return heed_hardmax(g->t, g->in[0], golden_real(g, "beta", 1), g->in[1]);
}

static heed_tensor *rms_norm(const golden *g) {
    return heed_rms_norm(g->t, g->in[0], g->in[1], golden_real(g, "eps", 0));
}
static heed_tensor *layer_norm(const golden *g) {
    return heed_layer_norm(g->t, g->in[0], g->in[1], g->in[2], golden_real(g, "eps", 0));
}

static heed_tensor *batch_norm(const golden *g) {
    return heed_batch_norm(g->t, g->in[0], g->in[1], g->in[2], g->in[3], g->in[4],
                           golden_real(g, "eps", 0), golden_real(g, "momentum", 0));
}

static heed_tensor *dropout(const golden *g) {
    return heed_dropout(g->t, g->in[0], golden_real(g, "p", 0));
}

/* A pair of the case's arguments; as it was when the case has none. */
static void pair(const golden *g, const char *key, int out[2]) {
    int list[HEED_DIMS];
    if (golden_list(g, key, list) == 2) memcpy(out, list, 2 * sizeof *out);
}

static heed_conv_args conv_args(const golden *g) {
    heed_conv_args a = {.groups = (int)golden_arg(g, "groups", 0)};
    pair(g, "stride", a.stride);
    pair(g, "pad", a.pad);
    pair(g, "dilation", a.dilation);
    pair(g, "extra", a.extra);
    return a;
}

#define CONVOLUTION(name)                                                                          \
    static heed_tensor *name(const golden *g) {                                                    \
        heed_conv_args a = conv_args(g);                                                           \
        return heed_##name(g->t, g->in[0], g->in[1], g->in[2], &a);                                \
    }
CONVOLUTION(conv1d)
CONVOLUTION(conv2d)
CONVOLUTION(conv1d_transposed)
CONVOLUTION(conv2d_transposed)

static heed_tensor *recurrent(const golden *g) {
    heed_recurrent_args a = {.cell = (heed_cell)golden_arg(g, "cell", 0),
                             .act = (heed_act)golden_arg(g, "act", 0),
                             .reverse = golden_arg(g, "reverse", 0) != 0};
    return heed_recurrent(g->t, g->in[0], g->in[1], g->in[2], g->in[3], g->in[4], &a);
}

static heed_tensor *recurrent_attention(const golden *g) {
    heed_recurrent_args a = {.cell = (heed_cell)golden_arg(g, "cell", 0), .act = HEED_TANH};
    heed_additive_attention l = {g->in[0], g->in[1], g->in[2], g->in[3], g->in[4],  g->in[5],
                                 g->in[6], g->in[7], g->in[8], g->in[9], g->in[10], g->in[11]};
    return heed_recurrent_attention(g->t, &l, &a);
}

static heed_pool_args pool_args(const golden *g) {
    heed_pool_args a = {.size = {0}};
    pair(g, "size", a.size);
    pair(g, "stride", a.stride);
    pair(g, "pad", a.pad);
    return a;
}

static heed_tensor *max_pool(const golden *g) {
    heed_pool_args a = pool_args(g);
    return heed_max_pool(g->t, g->in[0], &a);
}

static heed_tensor *avg_pool(const golden *g) {
    heed_pool_args a = pool_args(g);
    return heed_avg_pool(g->t, g->in[0], &a);
}

static heed_tensor *xent(const golden *g) {
    heed_real weights[64];
    int ignore = (int)golden_arg(g, "ignore", 0);
    heed_xent_args a = {.ignore = ignore,
                        .has_ignore = ignore != 0,
                        .smoothing = golden_real(g, "smoothing", 0),
                        .weights = golden_copy(g, "class", weights, 64) ? weights : NULL};
    return heed_xent(g->t, g->in[0], g->in[1], &a);
}

static heed_tensor *affine_xent(const golden *g) {
    heed_xent_args a = {.smoothing = golden_real(g, "smoothing", 0)};
    return heed_affine_xent(g->t, g->in[0], g->in[1], g->in[2], g->in[3], &a);
}

static heed_tensor *rotary(const golden *g) {
    heed_rotary_args a = {.heads = (int)golden_arg(g, "heads", 0),
                          .width = (int)golden_arg(g, "width", 0),
                          .first = (int)golden_arg(g, "first", 0),
                          .theta = golden_real(g, "theta", 0)};
    return heed_rotary(g->t, g->in[0], &a);
}

static heed_attention_args attention_args(const golden *g) {
    return (heed_attention_args){.heads = (int)golden_arg(g, "heads", 0),
                                 .kv_heads = (int)golden_arg(g, "kv_heads", 0),
                                 .key = (int)golden_arg(g, "key", 0),
                                 .value = (int)golden_arg(g, "value", 0),
                                 .has_beta = golden_given(g, "beta"),
                                 .beta = golden_real(g, "beta", 0),
                                 .causal = golden_flag(g, "causal"),
                                 .hard = golden_flag(g, "hard")};
}

static heed_tensor *attention(const golden *g) {
    heed_attention_args a = attention_args(g);
    return heed_attention(heed_name_scope(g->t, "a"), g->in[0], g->in[1], g->in[2], g->in[3],
                          g->in[4], &a);
}

static heed_tensor *attention_explicit(const golden *g) {
    heed_attention_args a = attention_args(g);
    a.explicit_path = true;
    return heed_attention(heed_name_scope(g->t, "a"), g->in[0], g->in[1], g->in[2], g->in[3],
                          g->in[4], &a);
}

static heed_tensor *cross_attention(const golden *g) {
    heed_attention_args a = attention_args(g);
    return heed_attention(heed_name_scope(g->t, "a"), g->in[0], g->in[1], NULL, g->in[2], g->in[3],
                          &a);
}
static heed_tensor *self_attention(const golden *g) {
    heed_attention_args a = attention_args(g);
    return heed_attention(heed_name_scope(g->t, "a"), g->in[0], NULL, NULL, g->in[1], g->in[2], &a);
}

static const golden_call op_calls[] = {{.op = "add", .two = heed_add},
                                       {.op = "sub", .two = heed_sub},
                                       {.op = "mul", .two = heed_mul},
                                       {.op = "div", .two = heed_div},
                                       {.op = "where", .three = heed_where},
                                       {.op = "exp", .one = heed_exp},
                                       {.op = "log_of", .one = heed_log},
                                       {.op = "sqrt", .one = heed_sqrt},
                                       {.op = "tanh", .one = heed_tanh},
                                       {.op = "sigmoid", .one = heed_sigmoid},
                                       {.op = "relu", .one = heed_relu},
                                       {.op = "gelu", .one = heed_gelu},
                                       {.op = "gelu_tanh", .one = heed_gelu_tanh},
                                       {.op = "silu", .one = heed_silu},
                                       {.op = "activate", .run = activate},
                                       {.op = "scale", .run = scale},
                                       {.op = "clamp", .run = clamp},
                                       {.op = "stop_gradient", .run = stop_gradient},
                                       {.op = "matmul", .two = heed_matmul},
                                       {.op = "matmul_nt", .two = heed_matmul_nt},
                                       {.op = "matmul_tn", .two = heed_matmul_tn},
                                       {.op = "affine", .three = heed_affine},
                                       {.op = "affine_act", .run = affine_act},
                                       {.op = "lora", .run = lora},
                                       {.op = "softmax", .run = softmax},
                                       {.op = "log_softmax", .run = log_softmax},
                                       {.op = "hardmax", .run = hardmax},
                                       {.op = "layer_norm", .run = layer_norm},
                                       {.op = "rms_norm", .run = rms_norm},
                                       {.op = "batch_norm", .run = batch_norm, .train_only = true},
                                       {.op = "dropout", .run = dropout},
                                       {.op = "conv1d", .run = conv1d},
                                       {.op = "conv2d", .run = conv2d},
                                       {.op = "conv1d_transposed", .run = conv1d_transposed},
                                       {.op = "conv2d_transposed", .run = conv2d_transposed},
                                       {.op = "max_pool", .run = max_pool},
                                       {.op = "avg_pool", .run = avg_pool},
                                       {.op = "global_pool", .one = heed_global_pool},
                                       {.op = "recurrent", .run = recurrent},
                                       {.op = "recurrent_attention", .run = recurrent_attention},
                                       {.op = "embed", .two = heed_embed},
                                       {.op = "gather", .two = heed_gather},
                                       {.op = "sum", .one = heed_sum},
                                       {.op = "mean", .one = heed_mean},
                                       {.op = "sum_dim", .run = sum_dim},
                                       {.op = "mean_dim", .run = mean_dim},
                                       {.op = "max_dim", .run = max_dim},
                                       {.op = "reshape", .run = reshape},
                                       {.op = "permute", .run = permute},
                                       {.op = "concat", .run = concat},
                                       {.op = "slice", .run = slice},
                                       {.op = "split", .run = split},
                                       {.op = "pad", .run = pad},
                                       {.op = "xent", .run = xent},
                                       {.op = "affine_xent", .run = affine_xent},
                                       {.op = "bce", .two = heed_bce},
                                       {.op = "mse", .two = heed_mse},
                                       {.op = "rotary", .run = rotary},
                                       {.op = "attention", .run = attention},
                                       {.op = "attention_explicit", .run = attention_explicit},
                                       {.op = "cross_attention", .run = cross_attention},
                                       {.op = "self_attention", .run = self_attention},
                                       {0}};

/* Every op of the library's table must have been the last one of some case; but dropout, which is
 * random (tests/ops/test_ops.c), and note, which only names what attention_explicit computes. */
static bool covered(const golden_seen *s, const char *name) {
    if (strncmp(name, "dropout", 7) == 0 || strcmp(name, "note") == 0) return true;
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->name[i], name) == 0) return true;
    return false;
}

TEST(golden_ops) {
    golden_seen seen = {.count = 0};
    CHECK(golden_file("tests/golden/ops.safetensors", op_calls, &seen) >= 350);
    for (const heed_op *const *family = heed_op_table(); *family; family++)
        for (const heed_op *op = *family; op->name; op++)
            if (!covered(&seen, op->name))
                test_fail(__FILE__, __LINE__, "op %s has no case in tests/golden/make_ops.py",
                          op->name);
}

/* ---- layers: parameters come from the case by their names in the store ---- */
static heed_tensor *linear(const golden *g) {
    heed_linear l;
    heed_linear_init(&l, g->s, "l",
                     (heed_linear_args){.in = (int)golden_arg(g, "in", 0),
                                        .out = (int)golden_arg(g, "out", 0),
                                        .no_bias = !golden_flag(g, "bias")});
    golden_fill(g);
    heed_act act = (heed_act)golden_arg(g, "act", 0);
    return act ? heed_linear_act(&l, g->t, g->in[0], act) : heed_linear_apply(&l, g->t, g->in[0]);
}

static heed_tensor *norm(const golden *g) {
    heed_norm l;
    heed_norm_init(&l, g->s, "norm",
                   (heed_norm_args){.width = (int)golden_arg(g, "width", 0),
                                    .eps = golden_real(g, "eps", 0),
                                    .no_bias = !golden_flag(g, "bias")});
    golden_fill(g);
    return heed_norm_apply(&l, g->t, g->in[0]);
}

static heed_tensor *batchnorm(const golden *g) {
    heed_batchnorm l;
    heed_batchnorm_init(&l, g->s, "norm", (int)golden_arg(g, "width", 0));
    golden_fill(g);
    return heed_batchnorm_apply(&l, g->t, g->in[0]);
}

static heed_tensor *position(const golden *g) {
    heed_position l;
    heed_position_init(&l, g->s, "pos", (heed_position_kind)golden_arg(g, "kind", 0),
                       (int)golden_arg(g, "len", 0), (int)golden_arg(g, "width", 0));
    golden_fill(g);
    return heed_position_apply(&l, g->t, g->in[0], (int)golden_arg(g, "from", 0));
}

static heed_tensor *conv(const golden *g) {
    heed_conv l;
    heed_conv_layer_args a = {.in = (int)golden_arg(g, "in", 0),
                              .out = (int)golden_arg(g, "out", 0),
                              .conv = conv_args(g),
                              .transposed = golden_flag(g, "transposed"),
                              .no_bias = golden_flag(g, "no_bias")};
    pair(g, "size", a.size);
    heed_conv_init(&l, g->s, "conv", a);
    golden_fill(g);
    return heed_conv_apply(&l, g->t, g->in[0]);
}

static heed_tensor *patch_embed(const golden *g) {
    heed_conv l;
    heed_patch_embed_init(&l, g->s, "patch", (int)golden_arg(g, "channels", 0),
                          (int)golden_arg(g, "patch", 0), (int)golden_arg(g, "width", 0), NULL);
    golden_fill(g);
    return heed_patch_embed_apply(&l, g->t, g->in[0]);
}

static heed_tensor *conv_block(const golden *g) {
    heed_conv_block l;
    heed_conv_block_init(&l, g->s, "block",
                         (heed_conv_block_args){.in = (int)golden_arg(g, "in", 0),
                                                .out = (int)golden_arg(g, "out", 0),
                                                .stride = (int)golden_arg(g, "stride", 0),
                                                .no_norm = golden_flag(g, "no_norm"),
                                                .no_residual = golden_flag(g, "no_residual")});
    golden_fill(g);
    return heed_conv_block_apply(&l, g->t, g->in[0]);
}

static heed_mha_args mha_args(const golden *g) {
    return (heed_mha_args){.width = (int)golden_arg(g, "width", 0),
                           .memory_width = (int)golden_arg(g, "memory_width", 0),
                           .heads = (int)golden_arg(g, "heads", 0),
                           .kv_heads = (int)golden_arg(g, "kv_heads", 0),
                           .rotary = golden_real(g, "rotary", 0),
                           .key = (int)golden_arg(g, "key", 0),
                           .value = (int)golden_arg(g, "value", 0),
                           .cross = golden_flag(g, "cross"),
                           .causal = golden_flag(g, "causal"),
                           .hard = golden_flag(g, "hard"),
                           .no_out = golden_flag(g, "no_out"),
                           .no_bias = golden_flag(g, "no_bias"),
                           .explicit_path = golden_flag(g, "explicit"),
                           .has_beta = golden_given(g, "beta"),
                           .beta = golden_real(g, "beta", 0)};
}

static heed_tensor *mha(const golden *g) {
    heed_mha l;
    heed_mha_init(&l, g->s, "attn", mha_args(g));
    golden_fill(g);
    return heed_mha_apply(&l, g->t, g->in[0],
                          &(heed_mha_inputs){.memory = g->in[1], .pad = g->in[2]});
}

static heed_ff_args ff_args(const golden *g) {
    return (heed_ff_args){.width = (int)golden_arg(g, "width", 0),
                          .inner = (int)golden_arg(g, "inner", 0),
                          .gated = golden_flag(g, "gated"),
                          .act = (heed_act)golden_arg(g, "act", 0),
                          .no_bias = golden_flag(g, "no_bias")};
}

static heed_tensor *ff(const golden *g) {
    heed_ff l;
    heed_ff_init(&l, g->s, "mlp", ff_args(g));
    golden_fill(g);
    return heed_ff_apply(&l, g->t, g->in[0]);
}

static heed_tensor *block(const golden *g) {
    heed_block l;
    heed_block_init(&l, g->s, "block",
                    (heed_block_args){.attn = mha_args(g),
                                      .mlp = ff_args(g),
                                      .pre_norm = golden_flag(g, "pre"),
                                      .norm_no_bias = golden_flag(g, "no_bias"),
                                      .eps = golden_real(g, "eps", 0)});
    golden_fill(g);
    return heed_block_apply(&l, g->t, g->in[0], &(heed_block_inputs){.pad = g->in[1]});
}

static heed_tensor *decoder_block(const golden *g) {
    heed_block l;
    heed_mha_args attn = mha_args(g);
    heed_block_init(&l, g->s, "block",
                    (heed_block_args){.attn = attn,
                                      .cross = attn,
                                      .mlp = ff_args(g),
                                      .pre_norm = golden_flag(g, "pre"),
                                      .norm_no_bias = golden_flag(g, "no_bias"),
                                      .eps = golden_real(g, "eps", 0)});
    golden_fill(g);
    return heed_block_apply(
        &l, g->t, g->in[0],
        &(heed_block_inputs){.pad = g->in[1], .memory = g->in[2], .memory_pad = g->in[3]});
}

/* At padding zeros, as PyTorch has them: heed's state stays as it was left. */
static heed_tensor *rnn(const golden *g) {
    heed_rnn l;
    int layers = (int)golden_arg(g, "layers", 1), ways = golden_flag(g, "bidirectional") ? 2 : 1;
    heed_tensor *first[4], *last[4];
    heed_rnn_init(&l, g->s, "rnn",
                  (heed_rnn_args){.in = (int)golden_arg(g, "in", 0),
                                  .width = (int)golden_arg(g, "width", 0),
                                  .cell = (heed_cell)golden_arg(g, "cell", 0),
                                  .act = (heed_act)golden_arg(g, "act", 0),
                                  .layers = layers,
                                  .bidirectional = ways == 2,
                                  .one_bias = golden_flag(g, "one_bias")});
    golden_fill(g);
    for (int i = 0; g->in[2] && i < layers * ways; i++) {
        heed_tensor *s = heed_slice(g->t, g->in[2], 0, i, 1);
        first[i] = s ? heed_reshape(g->t, s, 2, s->shape + 1) : NULL;
    }
    heed_tensor *y = heed_rnn_apply(&l, g->t, g->in[0], g->in[1], g->in[2] ? first : NULL, last);
    if (golden_flag(g, "last")) return heed_concat(g->t, 1, layers * ways, last);
    if (!g->in[1] || !y) return y;
    int shape[] = {y->shape[0], y->shape[1], 1};
    return heed_where(g->t, heed_input_ids(g->t, g->in[1]->i, 3, shape), y,
                      heed_input(g->t, NULL, 1, (int[]){1}));
}

static heed_tensor *attend(const golden *g) {
    heed_attention_layer l;
    heed_attention_layer_init(
        &l, g->s, "attend",
        (heed_attention_layer_args){.kind = (heed_similarity)golden_arg(g, "kind", 0),
                                    .query = (int)golden_arg(g, "query", 0),
                                    .input = (int)golden_arg(g, "input", 0),
                                    .inner = (int)golden_arg(g, "inner", 0),
                                    .key = (int)golden_arg(g, "key", 0),
                                    .value = (int)golden_arg(g, "value", 0),
                                    .all_biases = golden_flag(g, "all_biases")});
    golden_fill(g);
    heed_attention_kv m = heed_attention_layer_kv(&l, g->t, g->in[1], g->in[2]);
    return heed_attention_layer_apply(&l, g->t, g->in[0], &m, true).context;
}

static const golden_call layer_calls[] = {
    {.op = "linear", .run = linear},
    {.op = "norm", .run = norm},
    {.op = "batchnorm", .run = batchnorm, .train_only = true},
    {.op = "position", .run = position},
    {.op = "conv", .run = conv},
    {.op = "patch_embed", .run = patch_embed},
    {.op = "conv_block", .run = conv_block, .train_only = true},
    {.op = "mha", .run = mha},
    {.op = "ff", .run = ff},
    {.op = "block", .run = block},
    {.op = "decoder_block", .run = decoder_block},
    {.op = "rnn", .run = rnn},
    {.op = "attend", .run = attend},
    {0}};

TEST(golden_layers) {
    CHECK(golden_file("tests/golden/layers.safetensors", layer_calls, NULL) >= 80);
}
