/* pairs.h -- what the commands on pairs of texts share: opening, tokens, decoding, alignment. */
#ifndef HEED_PAIRS_PROGRAM_H
#define HEED_PAIRS_PROGRAM_H

#include "kinds/training.h"

/* ---- from a source, a text or a picture, to a target (translating.c) ---- */
/* Rows of the table of a command that translates. */
#define DECODING                                                                                   \
    COUNT("beam", "1", 1, 64, "targets kept while searching; 1: always the most probable token",   \
          "Decoding"),                                                                             \
        NUMBER("length-penalty", "0", 0, 100,                                                      \
               "beam: how much longer targets are favoured, log p / ((5 + n) / 6)^x; 0: off, the " \
               "most probable target wins; 0.6 is usual for sentences",                            \
               "Decoding")

typedef struct {
    heed_run *run;
    heed_generation how;  /* without source and prompt */
    int32_t never[4];     /* special tokens that no target holds */
    int32_t begin;        /* [CLS], the token before the target */
    int32_t *ids;         /* the current target, without [CLS] and [SEP] */
    heed_generated about; /* describes the current target */
    bool cuts, quiet;     /* a source that is too long is cut; unknown tokens are not reported */
    bool show;            /* a picture is kept */
    heed_example in;      /* the current source */
} translator;
/* f: settings that include DECODING; NULL: greedy decoding. */
bool translator_open(translator *k, heed_run *r, const heed_config *f);
void translator_close(translator *k);
/* Translates a text, and sets ids, about and source. */
bool translate(translator *k, const char *text, size_t n);
/* The same for the caption of a picture; name: for errors. */
bool translate_picture(translator *k, heed_picture *p, const char *name);
bool translated_text(const translator *k, heed_text *out); /* appends the current target */

/* "3 texts are longer than --block 64 and cut: 90 of 2,000 words are not read" */
const char *cut_note(const heed_pairs_info *a, const heed_pairs_cut *cut, char text[120]);

/* ---- alignment (alignment.c): the attention of each target token to each source token ---- */
typedef struct {
    int rows, cols;     /* target tokens, and [SEP] if the target ended; source tokens with [SEP] */
    int layer;          /* the layer of the weights, from 1 */
    bool fixed;         /* not attention, but the source of the one context that all steps share */
    char of[160];       /* "cross, layer 1 of 2, mean of 4 heads: a row for each ..." */
    heed_real *weights; /* (rows,cols): the mean over the heads, or one head */
    heed_real end;      /* of their scale */
    char *memory;       /* the labels' texts */
    const char **row_label, **col_label;
} alignment;
/* False, with an error, if the run lacks the layer or head that the flags choose. */
bool alignment_choice(const heed_run *r, const heed_config *flags);
/* The alignment of the current target by the layer and head that the flags choose, NULL: the last
 * layer, all heads; afterwards the translator no longer has its source. */
bool alignment_of(translator *k, const heed_config *flags, alignment *out);
void alignment_free(alignment *a);
bool alignment_print(heed_ctx *c, const alignment *a);
/* Draws one under its title, or two side by side, each under its own, on one scale. */
bool alignment_draw(heed_ctx *c, const alignment *a, const char *const *titles, int count, bool svg,
                    const char *path);
json_t *alignment_json(const alignment *a); /* [[..]], one list per row */

/* The expected peak of token t of a target: t; or S - 1 - t, counted from the source's end; or
 * inside the field of the source that the token belongs to. */
typedef enum { PEAKS_NONE, PEAKS_DIAGONAL, PEAKS_ANTI, PEAKS_FIELDS } alignment_peaks_kind;
typedef struct {
    alignment_peaks_kind kind;
    const char *name; /* the kind's name */
    int within;       /* largest distance of a correct peak from the diagonal */
    heed_alignment_peaks of;
} alignment_peaks;
/* flags: settings that include alignment and within. Free with heed_alignment_peaks_free(&p->of).
 */
bool alignment_peaks_open(alignment_peaks *p, heed_run *r, const heed_config *flags);
/* Adds the peaks of the translator's current target; afterwards the translator no longer has its
 * source. */
bool alignment_peaks_add(alignment_peaks *p, translator *k, const heed_pair *pair);
void alignment_peaks_print(const alignment_peaks *p);
json_t *alignment_peaks_json(const alignment_peaks *p); /* NULL: not asked for */

/* Appends some pairs and their translations by the current model to RUN/samples.txt (samples.c). */
void sample_pairs(progress *g, const heed_report *r);
void eval_pairs(program *p, const heed_model *m, heed_config *f, heed_run *r); /* pairs_eval.c */
/* Scores of the first `most` validation pairs, translated greedily; saved in RUN/scores.json. */
typedef struct {
    size_t pairs;
    double exact, bleu; /* bleu is NAN if no text has four tokens */
    const char *bleu_tokens;
} pair_scores;
bool pairs_scores(program *p, heed_run *r, const heed_pairs *pairs, size_t most, pair_scores *out);
double shown_bleu(const heed_bleu *b); /* NAN if no text has four tokens */
/* The name of its tokens, "13a"; prints it. against: what follows the number. */
const char *bleu_tokens(const heed_bleu *b);
void print_bleu(const heed_bleu *b, const char *against);
/* Prints the loss, and the accuracy of each token given the true ones before it. */
enum { MEASURES_AT = 19 }; /* the column of the values */
void print_given_truth(const char *what, const measures *m);
/* Prints how the targets were decoded; what: "pairs translated". */
void print_decoding(const program *p, const char *what, size_t count);
/* Removes RUN/scores.json of an earlier training. */
void remove_scores(const char *run);
/* Scores the best weights at the end of a training run, unless they are scored already, and reports
 * them; `score` fills *out. noun: "pairs translated". */
void finish_scores(program *p, const heed_data *d, training_end *e, const char *noun,
                   bool (*score)(program *p, heed_run *r, const heed_data *d, size_t most,
                                 pair_scores *out));

/* ---- captions (captions.c, captions_eval.c) ---- */
void eval_captions(program *p, const heed_model *m, heed_config *f, heed_run *r);
bool captions_scores(program *p, heed_run *r, const heed_data *d, size_t most, pair_scores *out);
void sample_captions(progress *g, const heed_report *r); /* samples.c */

#endif
