/* reader.h -- code shared by textcls and tag: a text encoder by attention, recurrent layers or
 * convolution, with its settings, batches and scores. */
#ifndef MODELS_READER_H
#define MODELS_READER_H

#include "text.h"

#include <heed/pairs.h>

#define READER_OPTIONS                                                                             \
    CHOICE("encoder", "attention", "rnn|attention|conv", "encoder of the text"),                   \
        STACK_OPTIONS("2", "4", "64", "pre", "gelu", "1e-5"), INIT_STD("0.02"),                    \
        CELL_OPTIONS("gru", "rnn|gru|lstm"),                                                       \
        YES("bidirectional", "bidirectional recurrent layers"),                                    \
        WHOLE("kernel", "3", 1, 1024, "kernel size of the convolutions, in tokens"),               \
        NO("causal", "attention and convolution: no token sees later ones"),                       \
        WHOLE("block", "64", 2, 1 << 20, "tokens in a text, at most"), VOCAB_OPTION,               \
        POSITIONS_OPTION("learned", "encoding of positions"),                                      \
        WHOLE("token-types", "0", 0, 1 << 16, "segment embeddings; 0: none"),                      \
        WHOLE("segment-token", "-1", -1, 1 << 24,                                                  \
              "tokens after the first of this id are of the second segment; -1: of the first"),    \
        NO("embed-norm", "layer norm of the embeddings"), NO("bracket", "texts begin with [CLS]"), \
        CHOICE("final-norm", "auto", "auto|true|false",                                            \
               "layer norm after the last block; auto: with norm pre"),                            \
        WHOLE("classes", "0", 0, 1 << 24, "number of labels; 0: from the data"),                   \
        NUMBER("smoothing", "0", 0, 0.99,                                                          \
               "share of the target spread over all classes, in training")

#define READER_CONDITIONS                                                                          \
    HEED_WHEN(STACK_SETTINGS " positions init-std final-norm recompute", "encoder=attention"),     \
        HEED_WHEN("whole-logits", ""),                                                             \
        HEED_WHEN("norm-kind norm-eps activation bias causal", "encoder=attention|conv"),          \
        HEED_WHEN("activation", "encoder=conv ff-kind=plain"),                                     \
        HEED_WHEN("rope-theta", "positions=rotary"),                                               \
        HEED_WHEN("segment-token", "token-types!=0|1"), HEED_WHEN("kernel", "encoder=conv"),       \
        HEED_WHEN("cell one-bias cell-activation bidirectional", "encoder=rnn"),                   \
        HEED_WHEN("cell-activation", "cell=rnn")

/* Convolutions along the text, each x + drop(act(conv(norm(x)))). */
typedef struct {
    int layers; /* 0: absent */
    heed_act act;
    bool causal;
    heed_conv conv[MODEL_LAYERS];
    heed_norm norm[MODEL_LAYERS];
    heed_drop drop[MODEL_LAYERS];
} conv_stack;

/* The first member of each model's struct, so that the functions below take any of them as self. */
typedef struct {
    model_result result;
    int vocab, classes, width; /* width: of the encoder's output per token */
    heed_real smoothing;
    token_embedding embed;
    int separator;     /* the setting segment-token */
    block_stack stack; /* by attention */
    heed_rnn rnn;      /* or recurrent: layers 0: absent */
    conv_stack conv;   /* or by convolution */
    bool last;         /* textcls: classified by the last token, not by the mean of all */
    bool first;        /* textcls: by the first one, [CLS] */
    heed_linear head;
} text_model;

/* Makes the encoder; neurons: outputs of the head. Fails if the data has not filled in the sizes.
 */
bool heed__reader_init(text_model *m, heed_store *s, const heed_config *f, int neurons);
/* x (B,S), pad and types (B,S) or NULL -> (B,S,width), and in ends, unless NULL, (B,width): h of
 * the last recurrent layer at its end, both directions concatenated; without recurrent layers, the
 * mean of all tokens, or the last one. */
heed_tensor *heed__reader_apply(const text_model *m, heed_tape *t, const heed_model_input *in,
                                heed_tensor **ends);

/* Small sizes for the gradient check. */
#define READER_SMALL                                                                               \
    "width=8 layers=2 heads=2 ff=12 block=6 vocab=11 classes=3 batch=2 init-std=0.3 "

/* Members of heed_model. */
bool heed__reader_attending(const void *self, int index, heed_attending *out);
#define READER_MEMBERS                                                                             \
    .embedding = "embed.token", .metrics = heed__model_metrics, .attending = heed__reader_attending

#endif
