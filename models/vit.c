/* vit.c -- patches of a picture as the tokens of a transformer: ViT by default. Dosovitskiy et al.
 * 2021, sec. 3.1. */
#include "parts/choose.h"
#include "parts/image.h"
#include "parts/patches.h"
#include "parts/published.h"

typedef struct {
    picture_model base;
    patch_encoder encoder;
} vit;

static const heed_option options[] = {IMAGE_OPTIONS,
                                      PATCH_OPTIONS,
                                      PATCH_STACK_OPTIONS,
                                      STACK_CONDITIONS,
                                      HEED_WHEN("all-rows", "pool=cls"),
                                      HEED_WHEN("whole-logits", ""),
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

static bool init(void *self, heed_store *s, const void *f) {
    vit *m = self;
    const block_stack *stack = &m->encoder.stack;
    if (!heed__picture_read(&m->base, heed_store_ctx(s), f) ||
        !heed__patches_init(&m->encoder, s, f))
        return false;
    m->base.features = features;
    heed__picture_head(&m->base, s, stack->width, heed__stack_init_or(stack, NULL));
    return heed_ctx_status(heed_store_ctx(s)) == HEED_OK;
}

static bool attending(const void *self, int index, heed_attending *out) {
    return heed__stack_attending(&((const vit *)self)->encoder.stack, HEED_ENCODER, index, out);
}

static bool grid(const void *self, heed_grid *out) {
    return heed__patches_grid(&((const vit *)self)->encoder, out);
}

static bool chosen(const void *self, heed_config *f) {
    return heed__patches_chosen(&((const vit *)self)->encoder, f);
}

/* ---- as published: ViTForImageClassification ---- */

static const heed_published_key keys[] = {
    KEY_WITH("hidden_size", "width", "768", .rows = "norm.weight"),
    KEY("num_hidden_layers", "layers", "12"),
    KEY("num_attention_heads", "heads", "12"),
    KEY_WITH("intermediate_size", "ff", "3072", .rows = "encoder.0.mlp.up.weight"),
    KEY_WITH("hidden_act", "activation", "\"gelu\"", .values = PUBLISHED_ACTIVATIONS),
    KEY("hidden_dropout_prob", "dropout", "0.0"),
    KEY_WITH("attention_probs_dropout_prob", "dropout", "0.0", .repeats = true),
    KEY("layer_norm_eps", "norm-eps", "1e-12"),
    KEY("image_size", "image-size", "224"),
    KEY_WITH("patch_size", "patch", "16", .rows = "embed.patch.weight", .dim = 2),
    KEY("num_channels", "channels", "3"),
    KEY_FIXED("qkv_bias", "true"),
    KEY("initializer_range", "init-std", "0.02"),
    KEY_FIXED("head_dim", "null"),
    {0}};

#define EMBEDDED "vit.embeddings."
#define LAYER    "vit.encoder.layer.#."
#define QKV(what)                                                                                  \
    TENSOR_QKV("encoder.#.attn.qkv.", LAYER, "attention.attention.query.",                         \
               "attention.attention.key.", "attention.attention.value.", what)
static const heed_published_tensor tensors[] = {
    TENSOR("embed.cls", EMBEDDED "cls_token"),
    TENSOR_AS("embed.position.weight", EMBEDDED "position_embeddings", HEED_PUBLISHED_LEADING),
    TENSORS("embed.patch", EMBEDDED "patch_embeddings.projection"),
    TENSORS("encoder.#.norm1", LAYER "layernorm_before"),
    QKV("weight"),
    QKV("bias"),
    TENSORS("encoder.#.attn.out", LAYER "attention.output.dense"),
    TENSORS("encoder.#.norm2", LAYER "layernorm_after"),
    TENSORS("encoder.#.mlp.up", LAYER "intermediate.dense"),
    TENSORS("encoder.#.mlp.down", LAYER "output.dense"),
    TENSORS("norm", "vit.layernorm"),
    TENSORS("head", "classifier"),
    {0}};

/* transformers 5 has other names in memory, which a file may have, too. */
static const char *const renames[] = {"vit.layers.",
                                      "vit.encoder.layer.",
                                      ".attention.q_proj.",
                                      ".attention.attention.query.",
                                      ".attention.k_proj.",
                                      ".attention.attention.key.",
                                      ".attention.v_proj.",
                                      ".attention.attention.value.",
                                      ".attention.o_proj.",
                                      ".attention.output.dense.",
                                      ".mlp.fc1.",
                                      ".intermediate.dense.",
                                      ".mlp.fc2.",
                                      ".output.dense.",
                                      NULL};
static const heed_published published[] = {
    {.type = "vit",
     .architectures = "ViTForImageClassification",
     .settings = "norm=pre norm-kind=layer ff-kind=plain positions=learned bias=true attn-out=true "
                 "hard=false kv-heads=0 key-width=0 value-width=0 beta=-1 final-norm=true pool=cls "
                 "head=softmax",
     .prefix = "vit.",
     .renames = renames,
     .ignored = "vit.pooler.*",
     .harmless = "encoder_stride pooler_* problem_type",
     .keys = keys,
     .tensors = tensors},
    {0}};

const heed_model heed_model_vit = {
    .name = "vit",
    .help = "pictures: attention among patches (ViT)",
    .embedding = "embed.patch",
    .options = options,
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
    .choices = VIT_CHOICES,
    .published = published,
};
