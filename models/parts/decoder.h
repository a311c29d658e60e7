/* decoder.h -- the recurrent decoder of rnn and caption, which attends to a memory h_1 .. h_S:
 *
 *     a_t = softmax_i f_att(s_{t-1}, h_i)      c_t = sum_i a_{t,i} h_i
 *     s_t = g(y_{t-1}, s_{t-1}, c_t)
 *
 * Its output at t is a linear map of s_t and c_t. Bahdanau et al. 2015, sec. 3. Without attention c
 * is the same at every t. Cho et al. 2014, sec. 2.2. */
#ifndef MODELS_DECODER_H
#define MODELS_DECODER_H

#include "common.h"

typedef struct {
    const char *attention;
    int attention_width;
    bool attention_biases;
    int key_width, value_width;
    bool hard;
    cell_settings cells;
    /* Rows of each model. */
    int width;
    heed_real dropout;
    double init_std;
} decoder_settings;
extern const heed_option heed__decoder_options[]; /* of the attention */

typedef struct {
    heed_tensor *target; /* (V,d): embeddings */
    heed_drop drop;      /* of embeddings */
    heed_rnn cells;
    bool fixed;          /* no attention: one fixed c for all steps */
    bool hard;           /* all weight on one h_i */
    const char *context; /* the name of that c */
    char init[32];       /* initial values; "": the layers' defaults */
    heed_attend attend;
    heed_linear head;
} decoder;

/* What the decoder reads, and its state. */
typedef struct {
    heed_attention_kv memory;
    heed_tensor *context; /* (B,1,h): c, without attention */
    heed_tensor *origin;  /* (B,S) or NULL: c as weights of the memory, for probes */
    bool stepping;        /* tokens are read in several calls, each from the state after the last */
    heed_tensor *state[HEED_RNN_LAYERS]; /* (B,S): s_0, or the current s */
} decoder_reading;

/* Reads the settings; before heed__decoder_init. */
void heed__decoder_read(decoder *m, const decoder_settings *set);
/* Makes decoder.* and head: `layers` recurrent layers that attend to vectors of width `memory`, or
 * read a fixed context of that width, and a head for `vocab` tokens. */
bool heed__decoder_init(decoder *m, heed_store *s, const decoder_settings *set, int layers,
                        int memory, int vocab);
/* Initial values of the model's other parameters by the setting init-std; NULL: the default. */
const char *heed__decoder_initial(const decoder *m);
/* Sets what r holds of a memory h (B,S,d), pad (B,S) or NULL. */
void heed__decoder_attend_to(const decoder *m, heed_tape *t, heed_tensor *h, heed_tensor *pad,
                             decoder_reading *r);
/* ids (B,T) -> (B,T,..), what the head reads; advances r's state. */
heed_tensor *heed__decoder_apply(const decoder *m, heed_tape *t, heed_tensor *ids,
                                 decoder_reading *r);

/* The members `attending` and `average` of heed_model: one layer with one head, target tokens over
 * the memory. */
bool heed__decoder_attending(const decoder *m, int index, heed_attending *out);
void heed__decoder_average(decoder *m, bool on);

/* The members of heed_steps. heed__decoder_keep is called at the end of `read`; count: S. */
bool heed__decoder_keep(const decoder *m, const decoder_reading *r, int count, heed_source *out);
size_t heed__decoder_state(const decoder *m, const heed_source *source);
void heed__decoder_start(const decoder *m, const heed_source *source, heed_real *state);
heed_tensor *heed__decoder_next(const decoder *m, heed_tape *t, const heed_source *source,
                                heed_real *state, heed_tensor *ids);

#endif
