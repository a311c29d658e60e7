/* cnn.c -- small residual network: a convolution, stages of residual blocks, the mean over
 * positions, a dense layer. Each stage halves the sides and doubles the channels. He et al. 2016,
 * sec. 3.3. */
#include "parts/choose.h"
#include "parts/convnet.h"
#include "parts/image.h"

typedef struct {
    picture_model base;
    convnet net;
    heed_drop drop;
} cnn;

static const heed_option options[] = {
    IMAGE_OPTIONS,
    WHOLE("width", "16", 1, 1 << 14,
          "channels of the first stage; each later one has twice as many"),
    WHOLE("stages", "3", 1, CONVNET_STAGES, "each but the first halves height and width"),
    WHOLE("blocks", "1", 1, CONVNET_BLOCKS, "blocks of two convolutions in a stage"),
    NUMBER("dropout", "0", 0, 0.99, "inside the blocks and before the head"),
    YES("batch-norm", "batch norm after each convolution"),
    YES("residual", "add a block's input to its output"),
    HEED_WHEN("all-rows recompute whole-logits", ""),
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
    return heed_drop_apply(&m->drop, t, heed_global_pool(t, x));
}

static bool init(void *self, heed_store *s, const void *f) {
    cnn *m = self;
    if (!heed__picture_read(&m->base, heed_store_ctx(s), f)) return false;
    m->base.features = features;
    heed__convnet_init(&m->net, s,
                       (convnet_args){.channels = m->base.channels,
                                      .width = heed__model_int(f, "width"),
                                      .stride = 1,
                                      .stages = heed__model_int(f, "stages"),
                                      .blocks = heed__model_int(f, "blocks"),
                                      .no_norm = !heed_config_bool(f, "batch-norm"),
                                      .no_residual = !heed_config_bool(f, "residual"),
                                      .dropout = heed__model_real(f, "dropout")});
    heed_drop_init(&m->drop, s, "drop", heed__model_real(f, "dropout"));
    heed__picture_head(&m->base, s, m->net.out, NULL);
    return heed_ctx_status(heed_store_ctx(s)) == HEED_OK;
}

const heed_model heed_model_cnn = {
    .name = "cnn",
    .help = "pictures: residual convolutional network",
    .options = options,
    .defaults = "lr=0.006 warmup=0.15 best=accuracy",
    .presets = presets,
    .cases = cases,
    .size = sizeof(cnn),
    .init = init,
    .choose = heed__choose_cnn,
    .choices = CNN_CHOICES,
    PICTURE_MEMBERS,
};
