/* alignment_peaks.h -- measures of translations by heed eval besides their quality: where the
 * attention peaks, and how exact matches depend on length. */
#ifndef HEED_PEAKS_H
#define HEED_PEAKS_H

#include "kinds/pairs.h"

/* ---- where attention peaks (alignment_peaks.c) ---- */
/* The expected peak of token t of a target: t; or S - 1 - t, counted from the source's end; or
 * inside the field of the source that the token belongs to. */
typedef enum { PEAKS_NONE, PEAKS_DIAGONAL, PEAKS_ANTI, PEAKS_FIELDS } alignment_peaks_kind;
typedef struct {
    alignment_peaks_kind kind;
    const char *name; /* the kind's name */
    int within;       /* largest distance of a correct peak from the diagonal */
    heed_peaks of;
} peaks;
/* flags: settings that include alignment and within. */
bool alignment_peaks_open(peaks *p, heed_run *r, const heed_config *flags);
void alignment_peaks_close(peaks *p);
/* Adds the peaks of the translator's current target; afterwards the translator no longer has its
 * source. */
bool alignment_peaks_add(peaks *p, translator *k, const heed_pair *pair);
void alignment_peaks_print(const peaks *p);
json_t *alignment_peaks_json(const peaks *p); /* NULL: not asked for */

/* ---- exact matches by length (by_length.c) ---- */
typedef struct {
    int each;              /* number of lengths per row of the table; 0: no table */
    int capacity;          /* limit of the lengths */
    size_t *count, *exact; /* indexed by the source's tokens, without [SEP] */
} by_length;
bool by_length_open(by_length *b, heed_run *r, const heed_config *flags);
void by_length_close(by_length *b);
void by_length_add(by_length *b, const translator *k, bool exact);
void by_length_print(const by_length *b);
json_t *by_length_json(const by_length *b); /* NULL: not asked for */

#endif
