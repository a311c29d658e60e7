/* heed/decode.h -- generating tokens one by one through a model's step interface: greedily, by
 * sampling, or by beam search. Texts continue a prompt; targets are generated from a source,
 * captions from a picture. */
#ifndef HEED_DECODE_H
#define HEED_DECODE_H

#include <heed/model.h>

HEED_EXPORT_BEGIN

typedef struct {
    const int32_t *source; /* for models that read one: encoded as in batches, with [SEP] */
    size_t source_count;
    const heed_real *picture; /* or, for models of captions, (picture_size, picture_size,
                                 picture_channels) as in batches */
    int picture_size, picture_channels;
    const int32_t *prompt; /* the tokens to continue, at least one; for a target, [CLS] */
    size_t prompt_count;
    int count; /* the most tokens to generate; 0: the model's length, which no target exceeds */
    int beam;  /* number of hypotheses, at most 64; 0 means 1 */
    double length_penalty; /* alpha: hypotheses are ranked by log p / ((5 + n) / 6)^alpha. Wu et al.
                              2016, eq. 14; 0: by log p alone */
    double temperature;    /* sampling with one hypothesis: divides the logits; 0: no sampling */
    int top_k;             /* sampling: only the k most probable tokens; 0: all */
    double top_p; /* sampling: of these, only the fewest that reach this share of their total
                     probability, from 0 to 1; 0: all. Holtzman et al. 2020, sec. 3.1 */
    double repetition_penalty; /* logits of tokens in the prompt and the output so far are divided
                                  by it if positive, else multiplied; 0 or 1: none */
    const int32_t *never; /* tokens that are not chosen; those outside the vocabulary, as -1, have
                             no effect. They count in the probabilities of the others */
    int never_count;
    uint64_t seed;   /* seed of the draws */
    uint32_t sample; /* number of the sample among several with the same seed */
    int samples;   /* with one hypothesis, outputs made at once, numbered from `sample` on, at most
                      64: each as if it were made alone; 0 means 1 */
    bool uncached; /* recompute everything for each token: same result, slower */
    bool has_end;  /* `end` is a token that ends the output and is not part of it */
    int32_t end;
    bool (*token)(void *user, int32_t id); /* with one hypothesis: called for each; false stops */
    /* The same, which receives the number of the output as well, from 0. */
    bool (*sampled)(void *user, int output, int32_t id);
    bool (*stop)(void *user); /* called before each token, also of a beam: true ends the outputs */
    void *user;               /* of all three */
} heed_generation;

typedef struct {
    int count;              /* tokens generated */
    bool ended;             /* stopped by `end`, not by the count */
    double log_probability; /* of the tokens and, if `ended`, of `end` */
    int seen;               /* tokens that the model saw when it made the last one */
} heed_generated;

/* Generates the best output and writes its tokens to out, an array of `count` (if that is 0, of the
 * model's length), or NULL, and what is known of them to *about, or NULL. Several samples are
 * written to out as (samples, count), and to `about` as an array of `samples`.
 *
 * The prompt is read in one pass, and then each token once: its keys and values, or the state of
 * recurrent layers, are kept. Once a text has the model's length, the older half of what the model
 * sees is dropped, and the newer half is read again, in one pass, as a text that begins there; so
 * beyond its length a model sees the last half to all of its length. Of a longer prompt it sees the
 * end at first. This holds for all kinds of positions: keys that are rotated could be kept, but
 * then deeper layers would still depend on the tokens that were dropped.
 *
 * A model without steps, a source or prompt that does not fit, a number out of range, or a beam
 * with a temperature is HEED_USAGE. False on error: see the tape's context. Sutskever et al. 2014,
 * sec. 3.2; Wu et al. 2016, sec. 7. */
bool heed_generate(const heed_model *m, const void *self, heed_tape *t, const heed_generation *a,
                   int32_t *out, heed_generated *about);

/* The token that ends a text, from the settings of a run and its tokenizer: the token at a line's
 * end if the model was trained line by line (packing = lines), else -1, which is not a token. */
int32_t heed_text_end(const heed_config *f, const heed_tokenizer *k);
/* The token after which a text begins: the newline; -1 if the tokenizer has none, or the model was
 * trained line by line and has never read one. */
int32_t heed_text_start(const heed_config *f, const heed_tokenizer *k);

/* The special tokens that no output should hold, for `never` and `never_count`: [UNK], [PAD], [CLS]
 * and [MASK], except one that also ends a text, as in GPT-2's vocabulary. Returns their number. */
int heed_never(const heed_tokenizer *k, int32_t end, int32_t never[4]);

HEED_EXPORT_END
#endif
