/* published/vit.c -- vit as ViTForImageClassification. */
#include "published.h"

static const heed_hf_key keys[] = {
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
static const heed_hf_tensor tensors[] = {
    TENSOR("embed.cls", EMBEDDED "cls_token"),
    TENSOR_AS("embed.position.weight", EMBEDDED "position_embeddings", HEED_HF_LEADING),
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
const heed_hf_map heed__vit_published[] = {
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
