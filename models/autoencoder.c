/* autoencoder.c -- a picture is reconstructed from a code of few numbers, or from a few of its
 * patches. No labels are needed. Dense layers around a code: Hinton & Salakhutdinov 2006; with
 * convolutions: Masci et al. 2011. Masked: the encoder reads the visible patches alone; a small
 * decoder reads its output and, in the place of each hidden patch, a trained vector. He et al.
 * 2022, sec. 3. */
#include "parts/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 8 };

typedef struct {
    int size, channels; /* of the pictures */
    int depth;
    bool convolves;
    heed_act act;
    int sides[DEPTH + 1];               /* conv: of each layer's input */
    int planes;                         /* conv: channels before the code */
    heed_linear down[DEPTH], up[DEPTH]; /* dense */
    heed_conv narrow[DEPTH], widen[DEPTH];
    heed_linear code, out; /* out: the first layer after the code of conv, the last one of dense */
} bottleneck;

typedef struct {
    patch_encoder encoder;
    int hidden;       /* patches of a picture */
    bool norm_target; /* predictions are of patches less their mean, over their deviation */
    heed_linear narrow;
    heed_tensor *mask; /* (1,d'): the decoder's input for a hidden patch */
    heed_position position;
    block_stack stack;
    heed_linear head;
} masked_patches;

typedef struct {
    int size, channels;
    heed_real deviation[3]; /* of the pixels' normalisation; 1 if unknown */
    bool masks;             /* masked, else around a code */
    bottleneck around;
    masked_patches masked;
    heed_batch_at at;               /* of the last batch, for its hidden patches */
    heed_tensor *loss, *made, *aim; /* of the last batch: reconstruction and target */
} autoencoder;

typedef struct {
    patch_settings patches; /* with the size of the pictures */
    picture_settings picture;
    const char *kind, *std;
    int code, depth, hidden, filters; /* dense, conv */
    double hide;                      /* masked */
    bool norm_target;
    int decoder_layers, decoder_width, decoder_heads;
} autoencoder_settings;

static const heed_option options[] = {
    HEED_ROWS(autoencoder_settings, picture, heed__picture_options, ""),
    HEED_ROW(autoencoder_settings, kind, "kind", "dense", .choices = "dense|conv|masked",
             .help = "dense layers or convolutions around a code, or attention among patches of "
                     "which most are hidden"),
    HEED_ROW(autoencoder_settings, code, "code", "16", .min = 1, .max = 1 << 16,
             .help = "dense and conv: numbers of a picture's code"),
    HEED_ROW(autoencoder_settings, depth, "depth", "2", .max = DEPTH,
             .help = "dense and conv: hidden layers before the code, and after it"),
    HEED_ROW(autoencoder_settings, hidden, "hidden", "512", .min = 1, .max = 1 << 20,
             .help = "dense: width of the hidden layers"),
    HEED_ROW(autoencoder_settings, filters, "filters", "16", .min = 1, .max = 1 << 12,
             .help = "conv: channels of the first hidden layer; each halves the sides, and each "
                     "later one has twice as many channels"),
    HEED_ROW(autoencoder_settings, hide, "hide", "0.75", .min = 0.01, .max = 0.99,
             .help = "masked: share of the patches that are hidden, at least one"),
    HEED_ROW(autoencoder_settings, norm_target, "norm-target", "false",
             .help = "masked: predict a patch less its mean, over its deviation, instead of its "
                     "pixels"),
    HEED_ROW(autoencoder_settings, decoder_layers, "decoder-layers", "2", .min = 1,
             .max = MODEL_LAYERS, .help = "masked: blocks of the decoder"),
    HEED_ROW(autoencoder_settings, decoder_width, "decoder-width", "0", .max = 1 << 20,
             .help = "masked: of its stream; 0: half of width"),
    HEED_ROW(autoencoder_settings, decoder_heads, "decoder-heads", "0", .max = 4096,
             .help = "masked: of its blocks; 0: as many as heads"),
    HEED_ROWS(autoencoder_settings, patches, heed__patch_options, ""),
    HEED_SHARED(autoencoder_settings, std, "std"),
    HEED_WHEN(STACK_SETTINGS
              " bias patch pool positions layers width norm-kind norm-eps dropout init-std "
              "final-norm scale-residual hide norm-target decoder-layers decoder-width "
              "decoder-heads all-rows recompute",
              "kind=masked"),
    HEED_WHEN("code depth", "kind=dense|conv"),
    HEED_WHEN("filters", "kind=conv"),
    HEED_WHEN("hidden", "kind=dense"),
    HEED_WHEN("hidden", "depth!=0"),
    HEED_WHEN("activation", "kind=masked depth!=0"),
    HEED_WHEN("activation", "kind=dense|conv ff-kind=plain"),
    {0}};

static const heed_preset presets[] = {
    {"mae28", "28 x 28: 12 of 16 patches of 7 hidden, decoder of width 64, 6 epochs",
     "kind=masked patch=7 layers=4 heads=4 width=64 ff=128 decoder-layers=2 decoder-width=64 "
     "batch=128 lr=3e-3 warmup=0.1 init-std=0.07 epochs=6",
     false},
    {0}};

#define SMALL  "image-size=6 channels=2 batch=3 "
#define MASKED SMALL "kind=masked patch=2 width=8 layers=2 heads=2 ff=16 init-std=0.3 "
static const heed_model_case cases[] = {
    {"", SMALL "code=3 hidden=8"},
    {"linear", SMALL "code=3 depth=0"},
    {"conv", "image-size=5 channels=2 batch=2 kind=conv code=3 filters=3"},
    {"masked", MASKED},
    {"masked variant", MASKED "hide=0.5 norm-target=true pool=mean positions=sinusoidal norm=post "
                              "final-norm=false decoder-width=6 decoder-heads=3 dropout=0.2"},
    {"masked llama", MASKED "norm-kind=rms ff-kind=swiglu bias=false kv-heads=1"},
    {0}};

/* ---- dense and conv: parameters ---- */

static void dense_init(bottleneck *m, heed_params *s, const autoencoder_settings *set) {
    int pixels = m->size * m->size * m->channels, hidden = set->hidden;
    int inner = m->depth ? hidden : pixels, code = set->code;
    char name[48];
    for (int i = 0; i < m->depth; i++) {
        snprintf(name, sizeof name, "encoder.hidden.%d", i);
        heed_linear_init(&m->down[i], s, name,
                         (heed_linear_args){.in = i ? hidden : pixels, .out = hidden});
    }
    heed_linear_init(&m->code, s, "encoder.code", (heed_linear_args){.in = inner, .out = code});
    for (int i = 0; i < m->depth; i++) {
        snprintf(name, sizeof name, "decoder.hidden.%d", i);
        heed_linear_init(&m->up[i], s, name,
                         (heed_linear_args){.in = i ? hidden : code, .out = hidden});
    }
    heed_linear_init(&m->out, s, "decoder.out",
                     (heed_linear_args){.in = m->depth ? hidden : code, .out = pixels});
}

/* 3 x 3 with stride 2: a side of n becomes ceil(n / 2). Transposed, an even side needs one row and
 * column more. */
static heed_conv_layer_args half(int in, int out, int side, bool transposed) {
    int extra = transposed && side % 2 == 0;
    return (heed_conv_layer_args){
        .in = in,
        .out = out,
        .size = {3, 3},
        .conv = {.stride = {2, 2}, .pad = {1, 1}, .extra = {extra, extra}},
        .transposed = transposed};
}

static void conv_init(bottleneck *m, heed_params *s, const autoencoder_settings *set) {
    int planes[DEPTH + 1] = {m->channels};
    char name[48];
    m->sides[0] = m->size;
    for (int i = 0; i < m->depth; i++) {
        planes[i + 1] = set->filters << i;
        m->sides[i + 1] = (m->sides[i] + 1) / 2;
        snprintf(name, sizeof name, "encoder.conv.%d", i);
        heed_conv_init(&m->narrow[i], s, name, half(planes[i], planes[i + 1], m->sides[i], false));
    }
    m->planes = planes[m->depth];
    int flat = m->sides[m->depth] * m->sides[m->depth] * m->planes;
    heed_linear_init(&m->code, s, "encoder.code", (heed_linear_args){.in = flat, .out = set->code});
    heed_linear_init(&m->out, s, "decoder.grid", (heed_linear_args){.in = set->code, .out = flat});
    for (int i = m->depth - 1; i >= 0; i--) {
        snprintf(name, sizeof name, "decoder.conv.%d", i);
        heed_conv_init(&m->widen[i], s, name, half(planes[i + 1], planes[i], m->sides[i], true));
    }
}

static void bottleneck_init(bottleneck *m, heed_params *s, const autoencoder_settings *set) {
    m->size = set->picture.size;
    m->channels = set->picture.channels;
    m->depth = set->depth;
    m->act = heed__activation(set->patches.stack.activation);
    m->convolves = is(set->kind, "conv");
    (m->convolves ? conv_init : dense_init)(m, s, set);
}

/* ---- dense and conv: forward ---- */

static heed_tensor *bottleneck_encode(const bottleneck *m, heed_tape *t, heed_tensor *x) {
    for (int i = 0; m->convolves && i < m->depth; i++)
        x = heed_activate(t, heed_conv_apply(&m->narrow[i], t, x), m->act);
    if (!x) return NULL;
    x = heed_reshape(t, x, 2, (int[]){x->shape[0], -1});
    for (int i = 0; !m->convolves && i < m->depth; i++)
        x = heed_linear_act(&m->down[i], t, x, m->act);
    return heed_linear_apply(&m->code, t, x);
}

static heed_tensor *widen(const bottleneck *m, heed_tape *t, heed_tensor *z) {
    int side = m->sides[m->depth];
    z = m->depth ? heed_linear_act(&m->out, t, z, m->act) : heed_linear_apply(&m->out, t, z);
    z = heed_reshape(t, z, 4, (int[]){-1, side, side, m->planes});
    for (int i = m->depth - 1; i >= 0; i--) {
        z = heed_conv_apply(&m->widen[i], t, z);
        if (i > 0) z = heed_activate(t, z, m->act);
    }
    return z;
}

static heed_tensor *bottleneck_decode(const bottleneck *m, heed_tape *t, heed_tensor *z) {
    if (m->convolves) return widen(m, t, z);
    for (int i = 0; i < m->depth; i++) z = heed_linear_act(&m->up[i], t, z, m->act);
    return heed_reshape(t, heed_linear_apply(&m->out, t, z), 4,
                        (int[]){-1, m->size, m->size, m->channels});
}

/* ---- masked: parameters ---- */

/* A patch less its mean, over sqrt(variance + LEAST). */
static const heed_real LEAST = (heed_real)1e-6;

static void decoder_init(masked_patches *m, heed_params *s, const autoencoder_settings *set) {
    const patch_encoder *e = &m->encoder;
    int width = set->decoder_width ? set->decoder_width : (e->stack.width + 1) / 2;
    const char *init = heed__stack_init_or(&e->stack, NULL);
    m->stack = (block_stack){.layers = set->decoder_layers,
                             .width = width,
                             .all_rows = e->stack.all_rows,
                             .recompute = e->stack.recompute,
                             .beta = e->stack.beta};
    heed_block_args args = heed__stack_block_args(&m->stack, &set->patches.stack, false);
    if (set->decoder_heads) args.attn.heads = set->decoder_heads;
    args.attn.key = args.attn.value = args.attn.kv_heads = 0;
    args.attn.init = args.mlp.init = init;
    args.mlp.inner = args.mlp.gated ? (width + 2) / 3 * 8 : 4 * width;
    heed_linear_init(&m->narrow, s, "decoder.embed",
                     (heed_linear_args){.in = e->stack.width, .out = width, .init = init});
    m->mask = heed_param_new(s, "decoder.mask", heed__stack_init_or(&e->stack, "normal:0.02"), 2,
                             (int[]){1, width});
    heed_position_init(&m->position, s, "decoder.position", heed__patches_positions(&set->patches),
                       heed__patches_count(e) + (e->cls != NULL), width);
    for (int i = 0; i < m->stack.layers; i++) {
        char name[48];
        snprintf(name, sizeof name, "decoder.%d", i);
        heed_block_init(&m->stack.block[i], s, name, args);
    }
    heed_norm_init(&m->stack.final_norm, s, "decoder.norm",
                   heed__stack_norm_args(&set->patches.stack, width));
    heed_linear_init(
        &m->head, s, "decoder.head",
        (heed_linear_args){.in = width, .out = e->side * e->side * e->channels, .init = init});
    heed_set_decay(s, "decoder.mask", false);
    heed_set_decay(s, "decoder.position.*", false);
    heed_set_rows(s, "decoder.position.*", HEED_ROWS_GRID);
}

static bool masked_init(masked_patches *m, heed_params *s, const autoencoder_settings *set) {
    if (is(set->patches.stack.positions, "rotary"))
        return heed_fail(heed_params_ctx(s), HEED_USAGE,
                         "`positions = rotary` does not fit `kind = masked`: it counts places in "
                         "the sequence, from which patches are missing; hint: `positions = "
                         "learned`");
    if (!heed__patches_init(&m->encoder, s, &set->patches)) return false;
    int patches = heed__patches_count(&m->encoder);
    if (patches < 2)
        return heed_fail(heed_params_ctx(s), HEED_USAGE,
                         "there is nothing to predict a hidden patch from: `patch`: expected at "
                         "least 2 patches, found 1");
    m->hidden = (int)lround(set->hide * patches);
    if (m->hidden < 1) m->hidden = 1;
    if (m->hidden > patches - 1) m->hidden = patches - 1;
    m->norm_target = set->norm_target;
    decoder_init(m, s, set);
    return true;
}

/* ---- masked: which positions ---- */

/* Rows by which the encoder gathers what it sees, and the decoder all patches. With p = n + 1
 * positions of a picture, or n without CLS, of which the encoder sees v: */
typedef struct {
    heed_tensor *seen; /* (B,v): of the embeddings (B p) */
    heed_tensor *back; /* (B,p): of the encoder's output (B v), followed by the mask */
} places;

static bool wrong_mask(heed_tape *t, int patches) {
    return heed_fail(heed_tape_ctx(t), HEED_USAGE,
                     "hidden patches are wrong: expected as many different ones of each picture, "
                     "fewer than its %d patches",
                     patches);
}

/* Marks the hidden patches of picture b by -1 in back. */
static bool mark(const heed_tensor *hide, int b, int hidden, int patches, int first,
                 heed_tensor *back) {
    for (int i = 0; i < hidden; i++) {
        int at = hide->i[b * hidden + i] - b * patches;
        if (at < 0 || at >= patches) return false;
        int32_t *place = &back->i[b * (patches + first) + first + at];
        if (*place < 0) return false;
        *place = -1;
    }
    return true;
}

static bool find_places(const masked_patches *m, heed_tape *t, int rows, const heed_tensor *hide,
                        places *out) {
    int first = m->encoder.cls != NULL, patches = heed__patches_count(&m->encoder);
    int hidden = (int)hide->size / rows, all = patches + first, v = all - hidden;
    if (hide->size % (size_t)rows || hidden >= patches) return wrong_mask(t, patches);
    out->seen = heed_new_ids(t, 2, (int[]){rows, v});
    out->back = heed_new_ids(t, 2, (int[]){rows, all});
    if (!out->seen || !out->back) return false;
    for (int b = 0; b < rows; b++) {
        int at = b * v;
        if (!mark(hide, b, hidden, patches, first, out->back)) return wrong_mask(t, patches);
        for (int i = b * all; i < (b + 1) * all; i++) {
            bool is_hidden = out->back->i[i] < 0;
            out->back->i[i] = is_hidden ? rows * v : at;
            if (!is_hidden) out->seen->i[at++] = i;
        }
    }
    return true;
}

/* ---- masked: forward ---- */

/* What the decoder's blocks read, of every position. */
static heed_tensor *decoder_input(const masked_patches *m, heed_tape *t, heed_tensor *x,
                                  heed_tensor *hide) {
    const patch_encoder *e = &m->encoder;
    places at = {NULL, NULL};
    int width = m->stack.width;
    if (!x || (hide && !find_places(m, t, x->shape[0], hide, &at))) return NULL;
    x = heed__stack_norm(&e->stack, t, heed__patches_encode(e, t, x, at.seen));
    x = heed_linear_apply(&m->narrow, t, x); /* (B,v,d') */
    if (hide) {
        x = heed_reshape(t, x, 2, (int[]){-1, width});
        x = heed_concat(t, 0, 2, (heed_tensor *[]){x, m->mask});
        x = heed_gather(t, x, at.back); /* (B,p,d') */
    }
    return heed_position_apply(&m->position, t, x, 0);
}

static heed_tensor *masked_decode(const masked_patches *m, heed_tape *t, heed_tensor *x,
                                  heed_tensor *hide) {
    const patch_encoder *e = &m->encoder;
    x = heed__stack_apply(&m->stack, t, decoder_input(m, t, x, hide), NULL, NULL);
    x = heed__stack_norm(&m->stack, t, x);
    return e->cls ? heed_slice(t, x, 1, 1, heed__patches_count(e)) : x;
}

static heed_tensor *masked_hidden(const masked_patches *m, heed_tape *t, heed_tensor *x,
                                  heed_tensor *hide) {
    if (heed__stack_all_rows(&m->stack, t))
        return heed_gather(t, masked_decode(m, t, x, hide), hide);
    int patches = heed__patches_count(&m->encoder), first = m->encoder.cls != NULL;
    x = decoder_input(m, t, x, hide);
    heed_tensor *rows = x ? heed_new_ids(t, hide->dims, hide->shape) : NULL;
    for (size_t r = 0; rows && r < rows->size; r++)
        rows->i[r] = hide->i[r] + first * (hide->i[r] / patches + 1); /* after every CLS so far */
    return heed__stack_norm(&m->stack, t, heed__stack_rows(&m->stack, t, x, rows, NULL));
}

static heed_tensor *masked_predict(const masked_patches *m, heed_tape *t, heed_tensor *decoded) {
    heed_tensor *y = heed_linear_apply(&m->head, t, decoded);
    return y ? heed_reshape(t, y, 2, (int[]){-1, y->shape[y->dims - 1]}) : NULL;
}

/* ---- masked: patches and pictures ---- */

static heed_tensor *masked_rows(const masked_patches *m, heed_tape *t, heed_tensor *x) {
    int side = m->encoder.side, across = m->encoder.size / side, line = side * m->encoder.channels;
    x = heed_reshape(t, x, 4, (int[]){-1, side, across, line});
    x = heed_permute(t, x, (int[]){0, 2, 1, 3}); /* (B across, across, side, line) */
    return heed_reshape(t, x, 2, (int[]){-1, side * line});
}

static heed_tensor *masked_picture(const masked_patches *m, heed_tape *t, heed_tensor *rows) {
    const patch_encoder *e = &m->encoder;
    int side = e->side, across = e->size / side, line = side * e->channels;
    rows = heed_reshape(t, rows, 4, (int[]){-1, across, side, line});
    rows = heed_permute(t, rows, (int[]){0, 2, 1, 3});
    return heed_reshape(t, rows, 4, (int[]){-1, e->size, e->size, e->channels});
}

static heed_tensor *masked_target(const masked_patches *m, heed_tape *t, heed_tensor *patches) {
    return m->norm_target ? heed_layer_norm(t, patches, NULL, NULL, LEAST) : patches;
}

static heed_tensor *masked_pixels(const masked_patches *m, heed_tape *t, heed_tensor *predicted,
                                  heed_tensor *patches) {
    if (!m->norm_target) return predicted;
    heed_tensor *mean = heed_mean_dim(t, patches, 1);
    heed_tensor *off = heed_sub(t, patches, mean);
    heed_tensor *variance = heed_mean_dim(t, heed_mul(t, off, off), 1);
    heed_tensor *deviation = heed_sqrt(t, heed_scale(t, variance, 1, LEAST));
    return heed_add(t, heed_mul(t, predicted, deviation), mean);
}

/* ---- parameters ---- */

/* The deviation by which the setting `std` of the data says that pixels were divided: one for all
 * channels, or one for each. */
static void read_deviation(autoencoder *m, const char *std) {
    for (int i = 0; i < 3; i++) {
        char *end;
        double value = strtod(std, &end);
        m->deviation[i] = end > std ? (heed_real)value : i > 0 && *std ? m->deviation[i - 1] : 1;
        std = end + (*end == ',');
    }
}

static bool init(void *self, heed_params *s, const void *settings) {
    const autoencoder_settings *set = settings;
    autoencoder *m = self;
    heed_ctx *c = heed_params_ctx(s);
    m->size = set->picture.size;
    m->channels = set->picture.channels;
    m->masks = is(set->kind, "masked");
    if (m->size < 1 || m->channels < 1)
        return heed_fail(
            c, HEED_USAGE,
            "size of the model is wrong: expected image-size and channels of at least 1, found "
            "%d, %d; hint: `image-size = 28`, `channels = 1`",
            m->size, m->channels);
    read_deviation(m, set->std);
    if (!m->masks)
        bottleneck_init(&m->around, s, set);
    else if (!masked_init(&m->masked, s, set))
        return false;
    return heed_ctx_status(c) == HEED_OK;
}

/* ---- reconstruction ---- */

static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const autoencoder *m = self;
    if (!m->masks) return bottleneck_decode(&m->around, t, bottleneck_encode(&m->around, t, in->x));
    const masked_patches *k = &m->masked;
    heed_tensor *y = masked_decode(k, t, in->x, in->masked_positions);
    y = masked_predict(k, t, y);
    if (k->norm_target) y = masked_pixels(k, t, y, masked_rows(k, t, in->x));
    return masked_picture(k, t, y);
}

static heed_tensor *code(const void *self, heed_tape *t, const heed_model_input *in) {
    const autoencoder *m = self;
    if (!m->masks) return bottleneck_encode(&m->around, t, in->x);
    const patch_encoder *e = &m->masked.encoder;
    return heed__patches_features(e, t, in->x);
}

/* ---- loss ---- */

static bool batch(void *self, const heed_data *data, heed_batch_at at, heed_batch *out) {
    ((autoencoder *)self)->at = at;
    return heed_pictures_same.batch(data, at, out);
}

/* The hidden patches (B h): those of the batch, or else drawn. */
static heed_tensor *hidden_patches(const autoencoder *m, heed_tape *t, const heed_batch *b) {
    if (b->masked_positions) return heed_input_ids(t, b->masked_positions, 1, &b->masked_count);
    int hidden = m->masked.hidden, patches = heed__patches_count(&m->masked.encoder);
    heed_tensor *y = heed_new_ids(t, 2, (int[]){b->rows, hidden});
    for (int r = 0; y && r < b->rows; r++) {
        int32_t *row = y->i + r * hidden;
        heed_masked_patches(heed_tape_ctx(t), m->at, r, patches, hidden, row);
        for (int i = 0; i < hidden; i++) row[i] += (int32_t)(r * patches);
    }
    return y;
}

/* The mean of ((y - x) deviation)^2: pixels are measured from 0 to 1, whatever their normalisation.
 */
static heed_tensor *pixel_error(const autoencoder *m, heed_tape *t, heed_tensor *y,
                                heed_tensor *x) {
    heed_tensor *by = heed_input(t, m->deviation, 2, (int[]){1, m->channels});
    y = heed_reshape(t, y, 2, (int[]){-1, m->channels});
    x = heed_reshape(t, x, 2, (int[]){-1, m->channels});
    return heed_mse(t, heed_mul(t, y, by), heed_mul(t, x, by));
}

static heed_tensor *masked_loss(autoencoder *m, heed_tape *t, heed_tensor *x, const heed_batch *b) {
    const masked_patches *k = &m->masked;
    heed_tensor *hide = hidden_patches(m, t, b);
    if (!x || !hide) return NULL;
    heed_tensor *y = masked_hidden(k, t, x, hide);
    y = masked_predict(k, t, y); /* (B h, side side channels) */
    heed_tensor *patches = heed_gather(t, masked_rows(k, t, x), hide);
    patches =
        heed_reshape(t, patches, 2, (int[]){-1, k->encoder.side * k->encoder.side * m->channels});
    m->aim = patches;
    m->made = masked_pixels(k, t, y, patches);
    return k->norm_target ? heed_mse(t, y, masked_target(k, t, patches))
                          : pixel_error(m, t, y, patches);
}

static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    autoencoder *m = self;
    heed_tensor *x = heed__picture_input(t, b, m->size, m->channels);
    if (m->masks) return m->loss = masked_loss(m, t, x, b);
    m->aim = x;
    m->made = logits(m, t, &(heed_model_input){.x = x});
    return m->loss = pixel_error(m, t, m->made, x);
}

static void metrics(void *self, const heed_batch *b, heed_score *score) {
    const autoencoder *m = self;
    if (!m->loss || !m->made || !m->aim) return;
    for (size_t i = 0; i < m->made->size; i++) {
        double off =
            (double)(m->made->x[i] - m->aim->x[i]) * (double)m->deviation[i % (size_t)m->channels];
        score->squares += off * off;
    }
    score->pixels += (double)m->made->size;
    score->loss += (double)m->loss->x[0] * b->rows;
    score->weight += b->rows;
}

/* ---- attention ---- */

static bool attending(const void *self, int index, heed_attention_info *out) {
    const autoencoder *m = self;
    const block_stack *encoder = &m->masked.encoder.stack;
    if (!m->masks) return false;
    return heed__stack_attending(encoder, HEED_ENCODER, index, out) ||
           heed__stack_attending(&m->masked.stack, HEED_DECODER, index - encoder->layers, out);
}

static bool grid(const void *self, heed_grid *out) {
    const autoencoder *m = self;
    if (!m->masks || !heed__patches_grid(&m->masked.encoder, out)) return false;
    out->hidden = m->masked.hidden;
    return true;
}

static bool chosen(const void *self, heed_config *f) {
    const autoencoder *m = self;
    return !m->masks || heed__patches_chosen(&m->masked.encoder, f);
}

const heed_model heed_model_autoencoder = {
    .name = "autoencoder",
    .help = "pictures: reconstructed from a code, or from a few patches",
    .data = &heed_pictures_same,
    .embedding = "embed.patch",
    .options = options,
    .set = sizeof(autoencoder_settings),
    .defaults = "lr=0.002",
    .presets = presets,
    .cases = cases,
    .size = sizeof(autoencoder),
    .init = init,
    .batch = batch,
    .logits = logits,
    .code = code,
    .loss = loss,
    .metrics = metrics,
    .attending = attending,
    .grid = grid,
    .chosen = chosen,
};
