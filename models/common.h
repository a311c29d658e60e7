/* common.h -- code shared by all models: rows of settings, activations, scores. */
#ifndef MODELS_COMMON_H
#define MODELS_COMMON_H

#include <heed/models.h>

/* Rows of a table of settings. */
#define WHOLE(name, value, min, max, help)                                                         \
    { name, HEED_INT, value, min, max, NULL, help, "Model" }
#define NUMBER(name, value, min, max, help)                                                        \
    { name, HEED_REAL, value, min, max, NULL, help, "Model" }
#define CHOICE(name, value, choices, help)                                                         \
    { name, HEED_CHOICE, value, 0, 0, choices, help, "Model" }
#define YES(name, help)                                                                            \
    { name, HEED_BOOL, "true", 0, 0, NULL, help, "Model" }
#define NO(name, help)                                                                             \
    { name, HEED_BOOL, "false", 0, 0, NULL, help, "Model" }
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

heed_act heed__model_activation(const heed_config *f);
/* A norm by the settings norm-kind, norm-eps and bias. */
heed_norm_args heed__model_norm(const heed_config *f, int width);
heed_position_kind heed__model_positions(const heed_config *f);
/* Recurrent layers by the settings cell, cell-activation, one-bias, width, layers and dropout. */
heed_rnn_args heed__model_cells(const heed_config *f, int in);
bool heed__model_is(const heed_config *f, const char *key, const char *choice);
int heed__model_int(const heed_config *f, const char *key);
heed_real heed__model_real(const heed_config *f, const char *key);

/* Three functions for a head with one neuron z, for two classes. This one fails for any other
 * number of classes. */
bool heed__model_two_classes(heed_ctx *c, int classes);
/* z (B,1) -> (B,2), the logits (0, z): softmax gives (1 - sigmoid(z), sigmoid(z)). */
heed_tensor *heed__model_by_class(heed_tape *t, heed_tensor *z);
/* The targets of z, (B,1): (1 - smoothing) label + smoothing / 2. */
heed_tensor *heed__model_targets(heed_tape *t, const int32_t *labels, int rows,
                                 heed_real smoothing);

/* Describes a layer of multi-head attention; beta: from the settings; -1: 1/sqrt(key width). */
void heed__model_attending(const heed_mha *l, heed_stack stack, int layer, double beta,
                           heed_attending *out);

/* Adds a batch to the score: logits (...,V) and the mean loss over the n labels that are not
 * negative. */
void heed__model_score(const heed_tensor *logits, const heed_tensor *loss, const int32_t *labels,
                       heed_score *score);

#endif
