/* common.h -- code shared by all models: rows of settings, activations, scores. */
#ifndef MODELS_COMMON_H
#define MODELS_COMMON_H

#include <heed/models.h>

#include <string.h>

enum { MODEL_STEPS = 4096, MODEL_LAYERS = 64 }; /* tokens in a source, and in a target; blocks */

/* ---- settings that several models have: structs, each with the table that is bound to it ---- */

/* The sizes of texts. */
typedef struct {
    int block, vocab, vocab_rows;
} token_settings;
extern const heed_option heed__token_options[];
/* Cells of recurrent layers. */
typedef struct {
    const char *cell, *activation;
    bool one_bias;
} cell_settings;
extern const heed_option heed__cell_options[];

/* The choices of activations for hidden layers, and for cells, which need f' as a function of f. */
#define CHOICE_OF(act, name, setting, ...) setting
#define ACTIVATIONS                        (&(HEED_ACTIVATIONS(CHOICE_OF))[1])

static inline bool is(const char *value, const char *choice) { return strcmp(value, choice) == 0; }
heed_act heed__activation(const char *name);
heed_position_kind heed__positions(const char *name);
heed_norm_args heed__norm_args(const char *kind, int width, heed_real eps, bool bias);
heed_rnn_args heed__cells(const cell_settings *set, int in, int width, int layers,
                          heed_real dropout);

/* ---- heads and losses ---- */

/* The first member of each model's struct: the last batch's logits (...,V), and the mean loss over
 * the labels that are not negative. */
typedef struct {
    heed_tensor *logits, *loss;
} model_result;
/* Members `metrics` of heed_model: add a batch to the score, the second with its bytes. */
void heed__model_metrics(void *self, const heed_batch *b, heed_score *score);
void heed__model_text_metrics(void *self, const heed_batch *b, heed_score *score);

/* The loss of an output layer on x (...,d), whose logits are never in memory for all rows in
 * training, unless a probe asks for that. The result has logits only if they are. */
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

/* An output layer "head": its weights are the embeddings (V,d), or separate ones of that shape. */
heed_linear heed__model_head(heed_store *s, heed_tensor *embeddings, bool tie, bool bias,
                             const char *init);
/* h of the last layer's last states, both directions concatenated: (B,width or 2 width). */
heed_tensor *heed__model_last_state(const heed_rnn *l, heed_tape *t, heed_tensor *const *last);

#endif
