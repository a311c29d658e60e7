/* heed/text.h -- words and numbers for people and files: growing texts and labels in columns. */
#ifndef HEED_TEXT_H
#define HEED_TEXT_H

#include <heed/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A growing text, always zero-terminated. Zero-initialise; free with heed_text_free. On no memory
 * it fails c and keeps what it has. */
typedef struct {
    char *s; /* NULL while empty */
    size_t n, capacity;
    heed_ctx *c;
} heed_text;
HEED_API bool heed_text_add(heed_text *t, const char *format, ...) HEED_PRINTF(2, 3);
HEED_API bool heed_text_put(heed_text *t, const char *bytes, size_t n);
HEED_API void heed_text_free(heed_text *t);
/* Writes it to path, whole or not at all. */
HEED_API bool heed_text_save(const heed_text *t, const char *path);

/* Insertions, deletions, changes and swaps of neighbours that lead from n bytes at a to m at b: the
 * restricted Damerau-Levenshtein distance, for "did you mean". 40 for words longer than that. */
HEED_API size_t heed_text_edits(const char *a, size_t n, const char *b, size_t m);
/* The closest of the candidates (list ended by NULL) to a word that is none of them, whatever the
 * case of its letters; NULL where none is close. */
HEED_API const char *heed_text_closest(const char *word, const char *const *candidates);

/* ---- columns of a terminal ---- */

/* Appends a token as a terminal shows it: control characters, spaces at its ends and marks that
 * turn the direction of writing as signs; cut with "…" to so many columns. Returns its columns. */
HEED_API int heed_label_text(const char *label, int columns, heed_text *out);
/* The same of several words, in as many lines of `columns` columns as they need, broken at blanks;
 * each line but the first begins with `indent` blanks, which the first has already. A word that is
 * longer than a line is cut. */
HEED_API void heed_label_words(const char *text, int indent, int columns, heed_text *out);

#ifdef __cplusplus
}
#endif
#endif
