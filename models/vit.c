/* vit.c -- patches of a picture as the tokens of a transformer: ViT by default. Dosovitskiy et al.
 * 2021, sec. 3.1. */
#include "parts/parts.h"
#include "published/published.h"

typedef struct {
    picture_model base;
    patch_encoder encoder;
} vit;

typedef struct {
    image_settings image;
    patch_settings patches;
} vit_settings;

static const heed_option options[] = {HEED_ROWS(vit_settings, image, heed__image_options, ""),
                                      HEED_ROWS(vit_settings, patches, heed__patch_options, ""),
                                      HEED_WHEN("activation", "ff-kind=plain"),
                                      HEED_WHEN("all-rows", "pool=cls"),
                                      {0}};

#define PLAIN "classes=10 norm-eps=1e-5 activation=gelu dropout=0 lr=1e-3 "
static const heed_preset presets[] = {
    {"vit-tiny28", "benchmark: 4 layers, width 64, patch 7 of 28",
     PLAIN "image-size=28 channels=1 patch=7 layers=4 heads=4 width=64 ff=128 batch=128", true},
    {"vit-cifar", "benchmark: 6 layers, width 192, patch 4 of 32, colour",
     PLAIN "image-size=32 channels=3 patch=4 layers=6 heads=6 width=192 ff=768 batch=64", true},
    {"vit28", "28 x 28: 4 layers, width 64, patch 7, shifts of 2 pixels, 30 epochs",
     "patch=7 layers=4 heads=4 width=64 ff=128 batch=128 lr=3e-3 warmup=0.1 decay=0.05 "
     "init-std=0.07 pad=2 epochs=30",
     false},
    {"vit32", "32 x 32: 4 layers, width 64, patch 4, shifts of 4 pixels, 40 epochs",
     "patch=4 layers=4 heads=4 width=64 ff=128 batch=64 lr=2e-3 warmup=0.1 decay=0.05 "
     "init-std=0.07 pad=4 epochs=40",
     false},
    {0}};

#define SMALL "image-size=6 channels=2 classes=3 batch=3 width=8 layers=2 heads=2 init-std=0.3 "
static const heed_model_case cases[] = {
    {"", SMALL "patch=2 ff=16"},
    {"variant", SMALL "patch=3 pool=mean positions=sinusoidal norm=post final-norm=false "
                      "dropout=0.2 smoothing=0.1"},
    {"rms", SMALL "patch=2 ff=16 norm-kind=rms bias=false"},
    {"llama", SMALL LLAMA "kv-heads=1 patch=2"},
    {0}};

static heed_tensor *features(const picture_model *base, heed_tape *t, heed_tensor *x) {
    const vit *m = (const vit *)(const void *)base;
    return heed__patches_features(&m->encoder, t, x);
}

static bool init(void *self, heed_params *s, const void *settings) {
    const vit_settings *set = settings;
    vit *m = self;
    const block_stack *stack = &m->encoder.stack;
    if (!heed__picture_read(&m->base, heed_params_ctx(s), &set->image) ||
        !heed__patches_init(&m->encoder, s, &set->patches))
        return false;
    m->base.features = features;
    heed__picture_head(&m->base, s, stack->width, heed__stack_init_or(stack, NULL));
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

static bool attending(const void *self, int index, heed_attention_info *out) {
    return heed__stack_attending(&((const vit *)self)->encoder.stack, HEED_ENCODER, index, out);
}

static bool grid(const void *self, heed_grid *out) {
    return heed__patches_grid(&((const vit *)self)->encoder, out);
}

static bool chosen(const void *self, heed_config *f) {
    return heed__patches_chosen(&((const vit *)self)->encoder, f);
}

const heed_model heed_model_vit = {
    .name = "vit",
    .help = "pictures: attention among patches (ViT)",
    .embedding = "embed.patch",
    .options = options,
    .set = sizeof(vit_settings),
    .defaults = "lr=0.002 warmup=0.1 init-std=0.07 best=accuracy",
    .presets = presets,
    .cases = cases,
    .size = sizeof(vit),
    .init = init,
    PICTURE_MEMBERS,
    .attending = attending,
    .grid = grid,
    .chosen = chosen,
    .choose = heed__choose_vit,
    .choices = "steps dropout",
    .published = heed__vit_published,
};
