/* published/mlm.c -- mlm as BertForMaskedLM, RoFormerForMaskedLM, and BertModel, which has no head.
 */
#include "published.h"

#define HEAD_TENSORS                                                                               \
    TENSORS("head.dense", "cls.predictions.transform.dense"),                                      \
        TENSORS("head.norm", "cls.predictions.transform.LayerNorm"),                               \
        TENSOR("head.bias", "cls.predictions.bias"),                                               \
        TENSOR_AS("head.bias", "cls.predictions.decoder.bias", HEED_HF_COPY),                      \
        TENSOR("head.weight", "cls.predictions.decoder.weight"),                                   \
        TENSOR_AS("embed.token.weight", "cls.predictions.decoder.weight", HEED_HF_COPY)

static const heed_hf_key keys[] = {BERT_KEYS, KEY("tie_word_embeddings", "tie", "true"), {0}};
static const heed_hf_tensor whole[] = {BERT_TENSORS("bert."), HEAD_TENSORS, {0}};
static const heed_hf_key rotary_keys[] = {
    ROFORMER_KEYS, KEY("tie_word_embeddings", "tie", "true"), {0}};
static const heed_hf_tensor rotary[] = {ROFORMER_TENSORS, HEAD_TENSORS, {0}};
static const heed_hf_key encoder_keys[] = {BERT_KEYS, {0}};
static const heed_hf_tensor encoder[] = {BERT_TENSORS(""), TENSORS("pooler", "pooler.dense"), {0}};
const heed_hf_map heed__mlm_published[] = {
    {.type = "bert",
     .architectures = "BertForMaskedLM BertForPreTraining",
     .settings = BERT_SETTINGS "transform-head=true head-bias=true pooler=false",
     .prefix = "bert.",
     .renames = BERT_RENAMES,
     .ignored = BERT_IGNORED,
     .dropped = "bert.pooler.* pooler.* cls.seq_relationship.*",
     .harmless = BERT_HARMLESS,
     .keys = keys,
     .tensors = whole},
    {.type = "roformer",
     .architectures = "RoFormerForMaskedLM",
     .settings = ROFORMER_SETTINGS "transform-head=true head-bias=true pooler=false",
     .prefix = "roformer.",
     .renames = BERT_RENAMES,
     .ignored = "roformer.encoder.embed_positions.weight",
     .angles = "roformer.encoder.embed_positions.weight",
     .dropped = "roformer.pooler.* pooler.*",
     .harmless = BERT_HARMLESS,
     .keys = rotary_keys,
     .tensors = rotary},
    {.type = "bert",
     .architectures = "BertModel",
     .settings = BERT_SETTINGS "transform-head=false head-bias=false tie=true",
     .present = "pooler=pooler.dense.weight",
     .vectors = true,
     .prefix = "bert.",
     .renames = BERT_RENAMES,
     .ignored = BERT_IGNORED "cls.*",
     .harmless = BERT_HARMLESS " tie_word_embeddings",
     .keys = encoder_keys,
     .tensors = encoder},
    {0}};
