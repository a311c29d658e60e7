/* alignment_peaks.h -- what heed eval measures of translations besides their quality: where the
 * attention peaks, and how exactness depends on length. */
#ifndef HEED_PEAKS_H
#define HEED_PEAKS_H

#include "kinds/pairs.h"

/* ---- where attention peaks (alignment_peaks.c) ---- */
/* The right place of token t of a target: t, or from the source's end, S - 1 - t; or inside the
 * field of the source that it writes. */
typedef enum { PEAKS_NONE, PEAKS_DIAGONAL, PEAKS_ANTI, PEAKS_FIELDS } alignment_peaks_kind;
typedef struct {
    alignment_peaks_kind kind;
    const char *name; /* of the kind */
    int within;       /* places that a peak may be off the diagonal */
    heed_peaks of;
} peaks;
/* flags: settings that hold alignment and within. */
bool alignment_peaks_open(peaks *p, heed_run *r, const heed_config *flags);
void alignment_peaks_close(peaks *p);
/* Judges the target at hand, whose source the translator has no more. */
bool alignment_peaks_add(peaks *p, translator *k, const heed_pair *pair);
void alignment_peaks_print(const peaks *p);
json_t *alignment_peaks_json(const peaks *p); /* NULL: nothing was asked for */

/* ---- exact matches by length (by_length.c) ---- */
typedef struct {
    int each;              /* lengths in a row of the table; 0: there is none */
    int capacity;          /* lengths that there may be */
    size_t *count, *exact; /* by tokens of the source, [SEP] not counted */
} by_length;
bool by_length_open(by_length *b, heed_run *r, const heed_config *flags);
void by_length_close(by_length *b);
void by_length_add(by_length *b, const translator *k, bool exact);
void by_length_print(const by_length *b);
json_t *by_length_json(const by_length *b); /* NULL: nothing was asked for */

#endif
