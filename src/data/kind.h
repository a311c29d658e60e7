/* kind.h -- what the kinds of data share. */
#ifndef HEED_KIND_INTERNAL_H
#define HEED_KIND_INTERNAL_H

#include <heed/kind.h>

extern const heed_data_kind heed__data_text, heed__data_pictures, heed__data_translation,
    heed__data_classes, heed__data_tags;

/* Whether name is a kind of tokenizer: "word". */
bool heed__is_tokenizer_kind(const char *name);
/* Opens the tokenizer at a path given by the setting `key`. */
heed_tokenizer *heed__tokenizer_at(heed_ctx *c, const char *key, const char *name);
/* False, with an error, if the setting `key` names a pipe: training reads its text more than once,
 * and again when resumed. */
bool heed__text_lasts(heed_ctx *c, const heed_config *f, const char *key);

#endif
