/* published.h -- rows that several maps to transformers share; and what is published of the encoder
 * of BERT, for the models that have it. Devlin et al. 2019; names and defaults as in Hugging Face's
 * transformers. */
#ifndef MODELS_PUBLISHED_H
#define MODELS_PUBLISHED_H

#include <heed/exchange.h>

/* The maps, one per file, for the member `published` of a heed_model. */
extern const heed_hf_map heed__gpt_published[], heed__mlm_published[], heed__vit_published[],
    heed__textcls_published[], heed__tag_published[];

/* The names of transformers for the activations. */
#define PUBLISHED_ACTIVATIONS                                                                      \
    "gelu=gelu gelu_new=gelu-tanh gelu_pytorch_tanh=gelu-tanh gelu_fast=gelu-tanh relu=relu "      \
    "silu=silu swish=silu tanh=tanh sigmoid=sigmoid linear=identity"

/* A key that a setting has; one that has more members; and one that no setting has. */
#define KEY(name, set, usual)                                                                      \
    { .key = name, .settings = set, .value = usual }
#define KEY_WITH(name, set, usual, ...)                                                            \
    { .key = name, .settings = set, .value = usual, __VA_ARGS__ }
#define KEY_FIXED(name, usual)                                                                     \
    { .key = name, .value = usual }

/* A parameter and its tensor; the weight and the bias of a layer or a norm. */
#define TENSOR_AS(ours, theirs, as)                                                                \
    { .name = ours, .published = theirs, .form = as }
#define TENSOR(ours, theirs) TENSOR_AS(ours, theirs, HEED_HF_SAME)
#define TENSORS_AS(ours, theirs, as)                                                               \
    TENSOR_AS(ours ".weight", theirs ".weight", as), TENSOR(ours ".bias", theirs ".bias")
#define TENSORS(ours, theirs) TENSORS_AS(ours, theirs, HEED_HF_SAME)
/* Queries, keys and values, of which the parameter has the rows one after the other. */
#define TENSOR_QKV(ours, layer, q, k, v, what)                                                     \
    TENSOR(ours what, layer q what " " layer k what " " layer v what)

/* ---- BERT ---- */

#define BERT_SETTINGS     BERT_BODY_SETTINGS "positions=learned "
#define ROFORMER_SETTINGS BERT_BODY_SETTINGS "positions=rotary rope-theta=10000 "
#define BERT_BODY_SETTINGS                                                                         \
    "norm=post norm-kind=layer ff-kind=plain embed-norm=true bias=true attn-out=true hard=false "  \
    "kv-heads=0 key-width=0 value-width=0 beta=-1 final-norm=false "

#define BERT_KEYS                                                                                  \
    KEY_WITH("vocab_size", "vocab", "30522", .rows = "embed.token.weight"),                        \
        KEY_WITH("max_position_embeddings", "block", "512", .rows = "embed.position.weight"),      \
        KEY_FIXED("position_embedding_type", "\"absolute\""), BERT_BODY_KEYS
/* RoFormer is BERT with rotary positions. Su et al. 2021. */
#define ROFORMER_KEYS                                                                              \
    KEY_WITH("vocab_size", "vocab", "50000", .rows = "embed.token.weight"),                        \
        KEY("max_position_embeddings", "block", "1536"), BERT_BODY_KEYS,                           \
        KEY_WITH("embedding_size", "width", "null", .repeats = true),                              \
        KEY_FIXED("rotary_value", "false")
#define BERT_BODY_KEYS                                                                             \
    KEY_WITH("hidden_size", "width", "768", .rows = "embed.norm.weight"),                          \
        KEY("num_hidden_layers", "layers", "12"), KEY("num_attention_heads", "heads", "12"),       \
        KEY_WITH("intermediate_size", "ff", "3072", .rows = "encoder.0.mlp.up.weight"),            \
        KEY_WITH("type_vocab_size", "token-types", "2", .rows = "embed.type.weight"),              \
        KEY("layer_norm_eps", "norm-eps", "1e-12"),                                                \
        KEY_WITH("hidden_act", "activation", "\"gelu\"", .values = PUBLISHED_ACTIVATIONS),         \
        KEY("hidden_dropout_prob", "dropout", "0.1"),                                              \
        KEY_WITH("attention_probs_dropout_prob", "dropout", "0.1", .repeats = true),               \
        KEY_FIXED("is_decoder", "false"), KEY_FIXED("add_cross_attention", "false"),               \
        KEY("initializer_range", "init-std", "0.02")

/* BERT: the prefix of its names. */
#define BERT_LAYER(BERT) BERT "encoder.layer.#."
#define BERT_QKV(BERT, what, as)                                                                   \
    TENSOR_AS("encoder.#.attn.qkv." what,                                                          \
              BERT_LAYER(BERT) "attention.self.query." what                                        \
                               " " BERT_LAYER(BERT) "attention.self.key." what " " BERT_LAYER(     \
                                   BERT) "attention.self.value." what,                             \
              as)
#define BERT_TENSORS(BERT)                                                                         \
    TENSOR("embed.position.weight", BERT "embeddings.position_embeddings.weight"),                 \
        BERT_BODY_TENSORS(BERT, HEED_HF_SAME)
#define ROFORMER_TENSORS BERT_BODY_TENSORS("roformer.", HEED_HF_PAIRED)
#define BERT_BODY_TENSORS(BERT, as)                                                                \
    TENSOR("embed.token.weight", BERT "embeddings.word_embeddings.weight"),                        \
        TENSOR("embed.type.weight", BERT "embeddings.token_type_embeddings.weight"),               \
        TENSORS("embed.norm", BERT "embeddings.LayerNorm"), BERT_QKV(BERT, "weight", as),          \
        BERT_QKV(BERT, "bias", as),                                                                \
        TENSORS("encoder.#.attn.out", BERT_LAYER(BERT) "attention.output.dense"),                  \
        TENSORS("encoder.#.norm1", BERT_LAYER(BERT) "attention.output.LayerNorm"),                 \
        TENSORS("encoder.#.mlp.up", BERT_LAYER(BERT) "intermediate.dense"),                        \
        TENSORS("encoder.#.mlp.down", BERT_LAYER(BERT) "output.dense"),                            \
        TENSORS("encoder.#.norm2", BERT_LAYER(BERT) "output.LayerNorm")

/* Names of the first published files. */
#define BERT_RENAMES                                                                               \
    (const char *const[]) {                                                                        \
        "LayerNorm.gamma", "LayerNorm.weight", "LayerNorm.beta", "LayerNorm.bias", NULL            \
    }
#define BERT_IGNORED  "*embeddings.position_ids *embeddings.token_type_ids "
#define BERT_HARMLESS "classifier_dropout layer_norm_type problem_type directionality pooler_*"

#endif
