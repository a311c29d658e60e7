/* published/tag.c -- tag as BertForTokenClassification. */
#include "published.h"

static const heed_hf_key keys[] = {BERT_KEYS, {0}};
static const heed_hf_tensor tensors[] = {BERT_TENSORS("bert."), TENSORS("head", "classifier"), {0}};
const heed_hf_map heed__tag_published[] = {
    {.type = "bert",
     .architectures = "BertForTokenClassification",
     .settings = BERT_SETTINGS "encoder=attention causal=false bracket=true",
     .prefix = "bert.",
     .renames = BERT_RENAMES,
     .ignored = BERT_IGNORED "bert.pooler.*",
     .harmless = BERT_HARMLESS " tie_word_embeddings",
     .keys = keys,
     .tensors = tensors},
    {0}};
