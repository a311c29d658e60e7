/* heed/decode.h -- tokens made one after the other by a model's step interface: the most probable
 * ones, by sampling, or by beam search. Texts go on from a prompt, targets are made from a source.
 */
#ifndef HEED_DECODE_H
#define HEED_DECODE_H

#include <heed/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const int32_t *source; /* for models that read one: as batches have it, with its [SEP] */
    size_t source_count;
    const int32_t *prompt; /* the tokens to go on from, at least one; of a target: [CLS] */
    size_t prompt_count;
    int count; /* tokens to make, at most; 0: the model's length, which no target exceeds */
    int beam;  /* hypotheses kept, at most 64; 0 and 1: one */
    double length_penalty; /* alpha: hypotheses are ranked by log p / ((5 + n) / 6)^alpha. Wu et al.
                              2016, eq. 14; 0: by log p alone */
    double temperature;    /* of sampling, with one hypothesis: divides the logits; 0: always the
                              most probable token */
    int top_k;             /* sampling: only the k most probable tokens; 0: all */
    double top_p;  /* sampling: only the fewest tokens that hold this probability; 0: all. Holtzman
                      et al. 2020, sec. 3.1 */
    uint64_t seed; /* of the draws */
    uint32_t sample; /* which of several samples of one seed */
    bool uncached;   /* compute everything anew for each token: the same tokens, slower */
    bool has_end;    /* `end` is a token that ends the output; it is not part of it */
    int32_t end;
    bool (*token)(void *user, int32_t id); /* with one hypothesis: gets each token as it is made;
                                              false stops; or NULL */
    void *user;
} heed_generation;

typedef struct {
    int count;              /* of tokens made */
    bool ended;             /* by `end`, not by the count */
    double log_probability; /* of the tokens and, if it ended, of the end */
} heed_generated;

/* Makes the best output and writes its tokens to out, which holds `count` of them, or is NULL. Of a
 * text longer than the model's length only the last tokens are seen. A model without steps, a
 * source or prompt that does not fit, or a beam with a temperature is HEED_USAGE. False on error:
 * see the tape's context. Sutskever et al. 2014, sec. 3.2; Wu et al. 2016, sec. 7. */
HEED_API bool heed_generate(const heed_model *m, const void *self, heed_tape *t,
                            const heed_generation *a, int32_t *out, heed_generated *about);

/* The token that ends a text, by the settings of a run and its tokenizer: what stands at a line's
 * end where a model was trained line by line (packing = lines); else -1, which no token is. */
HEED_API int32_t heed_text_end(const heed_config *f, const heed_tokenizer *k);

#ifdef __cplusplus
}
#endif
#endif
