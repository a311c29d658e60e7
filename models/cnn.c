/* cnn.c -- small residual network: a convolution, stages of residual blocks, the mean over
 * positions, a dense layer. Each stage halves the sides and doubles the channels. He et al. 2016,
 * sec. 3.3. */
#include "image.h"

#include <stdio.h>

enum { STAGES = 6, BLOCKS = 16 };

typedef struct {
    picture_model base;
    heed_conv stem;
    heed_batchnorm norm; /* gain NULL: absent */
    heed_drop drop;
    int count;
    heed_conv_block block[STAGES * BLOCKS];
} cnn;

static const heed_option options[] = {
    IMAGE_OPTIONS,
    WHOLE("width", "16", 1, 1 << 14,
          "channels of the first stage; each later one has twice as many"),
    WHOLE("stages", "3", 1, STAGES, "each but the first halves height and width"),
    WHOLE("blocks", "1", 1, BLOCKS, "blocks of two convolutions in a stage"),
    NUMBER("dropout", "0", 0, 0.99, "inside the blocks and before the head"),
    YES("batch-norm", "batch norm after each convolution"),
    YES("residual", "add a block's input to its output"),
    {0}};

static const heed_preset presets[] = {
    {"cnn28", "28 x 28: 3 stages from 16 channels, shifts of 2 pixels, 8 epochs",
     "width=16 stages=3 blocks=1 batch=128 lr=4e-3 warmup=0.15 decay=0.05 smoothing=0.1 pad=2 "
     "epochs=8",
     false},
    {"cnn32", "32 x 32: 3 stages from 16 channels, shifts of 4 pixels, 40 epochs",
     "width=16 stages=3 blocks=1 batch=64 lr=4e-3 warmup=0.15 decay=0.05 smoothing=0.1 pad=4 "
     "epochs=40",
     false},
    {0}};

static const heed_model_case cases[] = {
    {"", "image-size=5 channels=2 classes=3 batch=2 width=4 stages=2"},
    {"variant",
     "image-size=5 channels=2 classes=2 head=binary batch=2 width=4 stages=2 batch-norm=false "
     "residual=false dropout=0.2"},
    {0}};

static heed_tensor *features(const picture_model *base, heed_tape *t, heed_tensor *x) {
    const cnn *m = (const cnn *)(const void *)base;
    x = heed_conv_apply(&m->stem, t, x); /* (B,H,W,width) */
    if (m->norm.gain) x = heed_batchnorm_apply(&m->norm, t, x);
    x = heed_relu(t, x);
    for (int i = 0; i < m->count; i++) x = heed_conv_block_apply(&m->block[i], t, x);
    return heed_drop_apply(&m->drop, t, heed_global_pool(t, x));
}

static void stage(cnn *m, heed_store *s, const heed_config *f, int index, int in, int out) {
    int blocks = heed__model_int(f, "blocks");
    for (int i = 0; i < blocks; i++) {
        char name[48];
        snprintf(name, sizeof name, "stage.%d.%d", index, i);
        heed_conv_block_init(&m->block[m->count++], s, name,
                             (heed_conv_block_args){.in = i ? out : in,
                                                    .out = out,
                                                    .stride = i || index == 0 ? 1 : 2,
                                                    .no_norm = !heed_config_bool(f, "batch-norm"),
                                                    .no_residual = !heed_config_bool(f, "residual"),
                                                    .dropout = heed__model_real(f, "dropout")});
    }
}

static bool init(void *self, heed_store *s, const heed_config *f) {
    cnn *m = self;
    int width = heed__model_int(f, "width"), stages = heed__model_int(f, "stages");
    bool norm = heed_config_bool(f, "batch-norm");
    if (!heed__picture_read(&m->base, heed_store_ctx(s), f)) return false;
    m->base.features = features;
    heed_scope(s, "stem");
    heed_conv_init(&m->stem, s, "conv",
                   (heed_conv_layer_args){.in = m->base.channels,
                                          .out = width,
                                          .size = {3, 3},
                                          .conv = {.pad = {1, 1}},
                                          .no_bias = norm});
    if (norm) heed_batchnorm_init(&m->norm, s, "norm", width);
    heed_unscope(s);
    for (int i = 0, in = width; i < stages; i++, in = width) {
        if (i > 0) width *= 2;
        stage(m, s, f, i, in, width);
    }
    heed_drop_init(&m->drop, s, "drop", heed__model_real(f, "dropout"));
    heed__picture_head(&m->base, s, width, NULL);
    return heed_ctx_status(heed_store_ctx(s)) == HEED_OK;
}

const heed_model heed_model_cnn = {
    .name = "cnn",
    .help = "pictures: residual convolutional network",
    .options = options,
    .defaults = "lr=0.003 best=accuracy",
    .presets = presets,
    .cases = cases,
    .size = sizeof(cnn),
    .init = init,
    PICTURE_MEMBERS,
};
