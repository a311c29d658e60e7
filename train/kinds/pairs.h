/* pairs.h -- what the commands on pairs of texts share: opening, tokens, decoding, alignment. */
#ifndef HEED_PAIRS_PROGRAM_H
#define HEED_PAIRS_PROGRAM_H

#include "kinds/training.h"

/* ---- pairs as words ---- */
/* "pairs", or of labelled data "texts". */
const char *pair_noun(const heed_pairs_info *a);
/* What the training part is made of that is not said by its counts: a note, or false when there is
 * no more. index from 0. */
bool pairs_note(const heed_pairs_info *a, const heed_config *f, int index, char text[160]);
const char *label_list(const heed_pairs_info *a, char text[160]); /* "neg, pos"; returns text */

/* ---- from a source to a target (translating.c) ---- */
/* Settings of a command that translates: rows of its table. */
#define DECODING                                                                                   \
    {"beam",                                                                                       \
     HEED_INT,                                                                                     \
     "1",                                                                                          \
     1,                                                                                            \
     64,                                                                                           \
     NULL,                                                                                         \
     "targets kept while searching; 1: always the most "                                           \
     "probable token",                                                                             \
     "Decoding"},                                                                                  \
    {                                                                                              \
        "length-penalty", HEED_REAL, "0", 0, 100, NULL,                                            \
            "beam: how much longer targets are favoured, log p / ((5 + n) / 6)^x; 0: not, the "    \
            "most probable target wins; 0.6 is usual for sentences",                               \
            "Decoding"                                                                             \
    }

typedef struct {
    heed_run *run;
    heed_generation how;  /* but for its source and prompt */
    int32_t begin;        /* [CLS], which the target follows */
    int32_t *ids;         /* of the target at hand, without [CLS] and [SEP] */
    heed_generated about; /* of it */
    bool cuts, quiet;     /* a source that is too long is cut; unknown tokens are not told */
    heed_example in;      /* the source at hand */
    const char *text;     /* that it was: the caller's */
} translator;
/* f: settings that hold DECODING; NULL: the most probable token each time. */
bool translator_open(translator *k, heed_run *r, const heed_config *f);
void translator_close(translator *k);
/* Reads a text as a source, no more. */
bool translator_read(translator *k, const char *text, size_t n);
/* Translates a text: ids, about and source are of it. */
bool translate(translator *k, const char *text, size_t n);
bool translated_text(const translator *k, heed_text *out); /* appends the target at hand */
const heed_tokenizer *source_tokenizer(const heed_run *r);

/* ---- alignment (alignment.c): how much each target token looked at each source token ---- */
typedef struct {
    int rows, cols;     /* target tokens and, if it ended, [SEP]; source tokens with [SEP] */
    int layers, heads;  /* of the model; 1 each for rnn */
    int layer;          /* of the weights, from 1 */
    bool fixed;         /* no attention, but where the one context of all steps comes from */
    const char *title;  /* of its picture; NULL: a usual one */
    heed_real *weights; /* (rows,cols): the mean over the heads, or the head asked for */
    char *memory;       /* of the labels */
    const char **row_label, **col_label;
} alignment;
/* False, with an error, where the run has no such layer or head. *chosen: as in choice.h. */
bool alignment_choice(const heed_run *r, int layer, const char *head, int *chosen);
/* Of the target at hand. layer from 1, 0: the last; head: as --head has it (choice.h). */
bool alignment_of(const translator *k, int layer, const char *head, alignment *out);
void alignment_free(alignment *a);
bool alignment_print(heed_ctx *c, const alignment *a);
/* Several side by side, each under its title. */
bool alignment_png(heed_ctx *c, const alignment *a, int count, const char *path);
json_t *alignment_json(const alignment *a); /* [[..]], a list a row */

/* Appends some pairs and what the model at hand says to RUN/samples.txt (samples.c). */
void sample_pairs(progress *g, const heed_report *r);
void check_pairs(program *p, heed_data *d);                                    /* check_pairs.c */
void eval_pairs(program *p, const heed_model *m, heed_config *f, heed_run *r); /* eval_pairs.c */
/* What is kept of the first `most` validation pairs, translated greedily: RUN/scores.json. */
typedef struct {
    size_t pairs;
    double exact, bleu; /* bleu NAN: no text has four words */
} pair_scores;
bool pairs_scores(program *p, heed_run *r, const heed_pairs *pairs, size_t most, pair_scores *out);
void eval_labels(program *p, const heed_model *m, heed_config *f, heed_run *r); /* eval_labels.c */
/* heed classify of a run of textcls or tag (classify_text.c). */
void classify_texts(program *p, heed_run *r);

#endif
