/* published/textcls.c -- textcls as BertForSequenceClassification. */
#include "published.h"

static const heed_hf_key keys[] = {
    BERT_KEYS,
    {.key = "problem_type", .value = "null", .values = "single_label_classification"},
    {0}};
static const heed_hf_tensor tensors[] = {BERT_TENSORS("bert."),
                                         TENSORS("pooler", "bert.pooler.dense"),
                                         TENSORS("head", "classifier"),
                                         {0}};
const heed_hf_map heed__textcls_published[] = {
    {.type = "bert",
     .architectures = "BertForSequenceClassification",
     .settings = BERT_SETTINGS
     "encoder=attention causal=false bracket=true pool=cls pooler=true head=softmax",
     .prefix = "bert.",
     .renames = BERT_RENAMES,
     .ignored = BERT_IGNORED,
     .harmless = BERT_HARMLESS " tie_word_embeddings",
     .keys = keys,
     .tensors = tensors},
    {0}};
