/* hugging_face.h -- what the readers of the parts of a tokenizer.json share. */
#ifndef HEED_TOKENIZER_HUGGING_FACE_H
#define HEED_TOKENIZER_HUGGING_FACE_H

#include "text/text.h"
#include "tokenizer/pipeline.h"

enum { HEED__PLACE = 128 };

typedef struct {
    heed_ctx *c;
    const char *path;
    heed_tokenizer *k;
    heed__pipeline *p;
    int depth;    /* of sequences in sequences */
    size_t spare; /* bytes by which normalizers may make added tokens longer */
} heed__hf;

/* Fails with "tokenizer.json is not supported: PATH: PLACE: expected EXPECTED, found FOUND"; found:
 * a value of the file. Always false. */
bool heed__hf_refuse(const heed__hf *r, const char *place, const char *expected,
                     const json_t *found);
/* Refuses keys of an object that are not among the words of `known`, or a value that is none. */
bool heed__hf_keys(const heed__hf *r, const json_t *o, const char *place, const char *known);
/* The value of a key: of the kind, or `otherwise` where it is absent or null. False: refused. */
bool heed__hf_bool(const heed__hf *r, const json_t *o, const char *place, const char *key,
                   bool otherwise, bool *out);
bool heed__hf_text(const heed__hf *r, const json_t *o, const char *place, const char *key,
                   const char *otherwise, const char **out);
bool heed__hf_int(const heed__hf *r, const json_t *o, const char *place, const char *key,
                  int otherwise, int *out);
/* One of the words, ended by NULL, as its number. */
bool heed__hf_choice(const heed__hf *r, const json_t *o, const char *place, const char *key,
                     const char *const *words, int otherwise, int *out);

/* The sections of steps, each of which may be null. */
bool heed__hf_normalizer(heed__hf *r, const json_t *o, const char *place);
bool heed__hf_splitter(heed__hf *r, const json_t *o, const char *place);
bool heed__hf_decoder(heed__hf *r, const json_t *o, const char *place);

#endif
