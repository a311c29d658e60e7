/* common.h -- code shared by all models: rows of settings, activations, scores. */
#ifndef MODELS_COMMON_H
#define MODELS_COMMON_H

#include <heed/models.h>

enum { MODEL_STEPS = 4096 }; /* maximum tokens in a source, and in a target */

/* Rows of a table of settings. */
#define WHOLE(name, value, min, max, help)                                                         \
    { name, HEED_INT, value, min, max, NULL, help, "Model" }
#define NUMBER(name, value, min, max, help)                                                        \
    { name, HEED_REAL, value, min, max, NULL, help, "Model" }
#define CHOICE(name, value, choices, help)                                                         \
    { name, HEED_TEXT, value, 0, 0, choices, help, "Model" }
#define YES(name, help)                                                                            \
    { name, HEED_BOOL, "true", 0, 0, NULL, help, "Model" }
#define NO(name, help)                                                                             \
    { name, HEED_BOOL, "false", 0, 0, NULL, help, "Model" }
#define VOCAB_OPTION                                                                               \
    WHOLE("vocab", "0", 0, 1 << 24, "upper bound of the vocabulary; 0: the tokenizer's own"),      \
        WHOLE("vocab-rows", "0", 0, 1 << 24,                                                       \
              "rows of the embeddings and the output, if more than tokens; 0: as many")
#define HEAD_OPTION                                                                                \
    CHOICE("head", "softmax", "softmax|binary", "a neuron per class, or one for two classes")
/* Cells of recurrent layers. */
#define CELL_OPTIONS(value, choices)                                                               \
    CHOICE("cell", value, choices, "of recurrent layers"), CELL_MORE
#define CELL_MORE                                                                                  \
    CHOICE("cell-activation", "tanh", CELL_ACTIVATIONS, "g of cell rnn"),                          \
        NO("one-bias", "one bias per gate, h = g(W_h [x ; h] + b_h); else two, as in PyTorch")
/* The choices of activations for hidden layers, and for cells, which need f' as a function of f. */
#define CHOICE_OF(act, name, setting, ...) setting
#define CHOICE_IF_VALUE(setting)           setting
#define CHOICE_IF_INPUT(setting)
#define CHOICE_OF_CELL(act, name, setting, from, ...) CHOICE_IF_##from(setting)
#define ACTIVATIONS                                   (&(HEED_ACTIVATIONS(CHOICE_OF))[1])
#define CELL_ACTIVATIONS                              (&(HEED_ACTIVATIONS(CHOICE_OF_CELL))[1])

/* key: "activation" or "cell-activation". */
heed_act heed__model_activation(const heed_config *f, const char *key);
/* A norm by the settings norm-kind, norm-eps and bias. */
heed_norm_args heed__model_norm(const heed_config *f, int width);
/* A setting that every training run shares, off where f lacks it: "all-rows" or "whole-logits". */
bool heed__model_on(const heed_config *f, const char *key);
heed_position_kind heed__model_positions(const heed_config *f);
/* Recurrent layers by the settings cell, cell-activation, one-bias, width, layers and dropout. */
heed_rnn_args heed__model_cells(const heed_config *f, int in);
bool heed__model_is(const heed_config *f, const char *key, const char *choice);
int heed__model_int(const heed_config *f, const char *key);
heed_real heed__model_real(const heed_config *f, const char *key);

/* The first member of each model's struct: the last batch's logits (...,V), and the mean loss over
 * the labels that are not negative. */
typedef struct {
    heed_tensor *logits, *loss;
    bool whole_logits; /* the setting, for heed__model_head_loss */
} model_result;
/* Members `metrics` of heed_model: add a batch to the score, the second with its bytes. */
void heed__model_metrics(void *self, const heed_batch *b, heed_score *score);
void heed__model_text_metrics(void *self, const heed_batch *b, heed_score *score);

/* The loss of an output layer on x (...,d), whose logits are never in memory for all rows in
 * training, unless the setting whole-logits or a probe asks for that. The result has logits only if
 * they are.
 */
heed_tensor *heed__model_head_loss(model_result *r, heed_tape *t, const heed_linear *head,
                                   heed_tensor *x, heed_tensor *labels, heed_real smoothing);

/* The same for labels that are classes, weighted as the batch says: the sum of weighted losses
 * divided by the sum of the weights, as PyTorch's CrossEntropyLoss(weight). */
heed_tensor *heed__model_label_xent(model_result *r, heed_tape *t, heed_tensor *labels,
                                    const heed_batch *b, heed_real smoothing);

/* A head with one neuron z, for two classes. Fails for any other number of classes. */
bool heed__model_two_classes(heed_ctx *c, int classes);
/* z (B,1) -> (B,2), the logits (0, z): softmax gives (1 - sigmoid(z), sigmoid(z)). */
heed_tensor *heed__model_by_class(heed_tape *t, heed_tensor *z);

/* The loss of a classifier's neurons z, which are (B,1) if binary, else (B,classes): sets the
 * result. The target of one neuron is (1 - smoothing) label + smoothing / 2. */
heed_tensor *heed__model_class_loss(model_result *r, heed_tape *t, heed_tensor *z, bool binary,
                                    const heed_batch *b, heed_real smoothing);

/* Describes a layer of multi-head attention; beta: from the settings; -1: 1/sqrt(key width). */
void heed__model_attending(const heed_mha *l, heed_stack stack, int layer, double beta,
                           heed_attending *out);

/* The sizes of the keys and of the values that a cache of `len` tokens holds. */
void heed__model_cache(const heed_mha *l, int len, size_t *k, size_t *v);
/* Recurrent states (rows, size), of which each row lies `stride` numbers after the one before, as a
 * tensor, and back. */
heed_tensor *heed__model_states(heed_tape *t, const heed_real *from, size_t stride, int rows,
                                int size);
void heed__model_keep_states(const heed_tensor *x, heed_real *to, size_t stride);

/* An output layer "head" by the settings tie and head-bias: its weights are those of `tied` (V,d),
 * or separate ones of the same shape. */
heed_linear heed__model_head(heed_store *s, const heed_config *f, heed_tensor *tied,
                             const char *init);
/* h of the last layer's last states, both directions concatenated: (B,width or 2 width). */
heed_tensor *heed__model_last_state(const heed_rnn *l, heed_tape *t, heed_tensor *const *last);

#endif
