/* reader.h -- code shared by textcls and tag: a text encoder by attention, recurrent layers or
 * convolution, with its settings, batches and scores. */
#ifndef MODELS_READER_H
#define MODELS_READER_H

#include "text.h"

#include <heed/pairs.h>

typedef struct {
    text_settings text;
    const char *encoder, *final_norm;
    cell_settings cells;
    bool bidirectional, causal, bracket;
    int kernel, segment_token, classes;
    heed_real smoothing;
} reader_settings;
extern const heed_option heed__reader_options[];

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
bool heed__reader_init(text_model *m, heed_store *s, const reader_settings *set, int neurons);
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
