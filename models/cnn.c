/* cnn.c -- small residual network: a convolution, stages of residual blocks, the mean over
 * positions, a dense layer. Each stage halves the sides and doubles the channels. He et al. 2016,
 * sec. 3.3. */
#include "parts/parts.h"

typedef struct {
    picture_model base;
    convnet net;
    heed_dropout_layer drop;
} cnn;

typedef struct {
    image_settings image;
    int width, stages, blocks;
    heed_real dropout;
    bool batch_norm, residual;
} cnn_settings;

static const heed_option options[] = {
    HEED_ROWS(cnn_settings, image, heed__image_options, ""),
    HEED_ROW(cnn_settings, width, "width", "16", .min = 1, .max = 1 << 14,
             .help = "channels of the first stage; each later one has twice as many"),
    HEED_ROW(cnn_settings, stages, "stages", "3", .min = 1, .max = CONVNET_STAGES,
             .help = "each but the first halves height and width"),
    HEED_ROW(cnn_settings, blocks, "blocks", "1", .min = 1, .max = CONVNET_BLOCKS,
             .help = "blocks of two convolutions in a stage"),
    HEED_ROW(cnn_settings, dropout, "dropout", "0", .max = 0.99,
             .help = "inside the blocks and before the head"),
    HEED_ROW(cnn_settings, batch_norm, "batch-norm", "true",
             .help = "batch norm after each convolution"),
    HEED_ROW(cnn_settings, residual, "residual", "true",
             .help = "add a block's input to its output"),
    HEED_WHEN("all-rows recompute", ""),
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
    x = heed__convnet_apply(&m->net, t, x); /* (B,H',W',out) */
    return heed_dropout_layer_apply(&m->drop, t, heed_global_pool(t, x));
}

static bool init(void *self, heed_params *s, const void *settings) {
    const cnn_settings *set = settings;
    cnn *m = self;
    if (!heed__picture_read(&m->base, heed_params_ctx(s), &set->image)) return false;
    m->base.features = features;
    heed__convnet_init(&m->net, s,
                       (convnet_args){.channels = m->base.channels,
                                      .width = set->width,
                                      .stride = 1,
                                      .stages = set->stages,
                                      .blocks = set->blocks,
                                      .no_norm = !set->batch_norm,
                                      .no_residual = !set->residual,
                                      .dropout = set->dropout});
    heed_dropout_layer_init(&m->drop, s, "drop", set->dropout);
    heed__picture_head(&m->base, s, m->net.out, NULL);
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

const heed_model heed_model_cnn = {
    .name = "cnn",
    .help = "pictures: residual convolutional network",
    .options = options,
    .set = sizeof(cnn_settings),
    .defaults = "lr=0.006 warmup=0.15 best=accuracy",
    .presets = presets,
    .cases = cases,
    .size = sizeof(cnn),
    .init = init,
    .choose = heed__choose_cnn,
    .choices = "batch steps lr",
    PICTURE_MEMBERS,
};
