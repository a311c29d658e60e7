/* pairs.h -- what the commands on pairs of texts share: opening, tokens, decoding, alignment. */
#ifndef HEED_PAIRS_PROGRAM_H
#define HEED_PAIRS_PROGRAM_H

#include "kinds/training.h"

/* ---- pairs as words ---- */
/* "pairs", or "texts" for labelled data. */
const char *pair_noun(const heed_pairs_info *a);
/* Writes the index-th note (from 0) about the training part, on facts that its counts do not show.
 * False: there are no more notes. */
bool pairs_note(const heed_pairs_info *a, const heed_config *f, int index, char text[160]);
const char *label_list(const heed_pairs_info *a, char text[160]); /* "neg, pos"; returns text */

/* ---- from a source to a target (translating.c) ---- */
/* Rows of the table of a command that translates. */
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
            "beam: how much longer targets are favoured, log p / ((5 + n) / 6)^x; 0: off, the "    \
            "most probable target wins; 0.6 is usual for sentences",                               \
            "Decoding"                                                                             \
    }

typedef struct {
    heed_run *run;
    heed_generation how;  /* without source and prompt */
    int32_t begin;        /* [CLS], the token before the target */
    int32_t *ids;         /* the current target, without [CLS] and [SEP] */
    heed_generated about; /* describes the current target */
    bool cuts, quiet;     /* a source that is too long is cut; unknown tokens are not reported */
    heed_example in;      /* the current source */
    const char *text;     /* its text, owned by the caller */
} translator;
/* f: settings that include DECODING; NULL: greedy decoding. */
bool translator_open(translator *k, heed_run *r, const heed_config *f);
void translator_close(translator *k);
/* Reads a text as a source, without translating it. */
bool translator_read(translator *k, const char *text, size_t n);
/* Translates a text, and sets ids, about and source. */
bool translate(translator *k, const char *text, size_t n);
bool translated_text(const translator *k, heed_text *out); /* appends the current target */
const heed_tokenizer *source_tokenizer(const heed_run *r);

/* ---- alignment (alignment.c): the attention of each target token to each source token ---- */
typedef struct {
    int rows, cols;     /* target tokens, and [SEP] if the target ended; source tokens with [SEP] */
    int layers, heads;  /* the model's; 1 each for rnn */
    int layer;          /* the layer of the weights, from 1 */
    bool fixed;         /* not attention, but the source of the one context that all steps share */
    const char *title;  /* the picture's title; NULL: a default one */
    heed_real *weights; /* (rows,cols): the mean over the heads, or one head */
    char *memory;       /* the labels' texts */
    const char **row_label, **col_label;
} alignment;
/* False, with an error, if the run has no such layer or head. *chosen: as in choice.h. */
bool alignment_choice(const heed_run *r, int layer, const char *head, int *chosen);
/* The alignment of the current target. layer from 1, 0: the last; head: a value of --head
 * (choice.h). */
bool alignment_of(const translator *k, int layer, const char *head, alignment *out);
void alignment_free(alignment *a);
bool alignment_print(heed_ctx *c, const alignment *a);
/* Draws several side by side, each under its title. */
bool alignment_png(heed_ctx *c, const alignment *a, int count, const char *path);
json_t *alignment_json(const alignment *a); /* [[..]], one list per row */

/* Appends some pairs and their translations by the current model to RUN/samples.txt (samples.c). */
void sample_pairs(progress *g, const heed_report *r);
void check_pairs(program *p, heed_data *d);                                    /* pairs_check.c */
void eval_pairs(program *p, const heed_model *m, heed_config *f, heed_run *r); /* pairs_eval.c */
/* Scores of the first `most` validation pairs, translated greedily; saved in RUN/scores.json. */
typedef struct {
    size_t pairs;
    double exact, bleu; /* bleu is NAN if no text has four words */
} pair_scores;
bool pairs_scores(program *p, heed_run *r, const heed_pairs *pairs, size_t most, pair_scores *out);
void eval_labels(program *p, const heed_model *m, heed_config *f, heed_run *r); /* labels_eval.c */
/* heed classify for a run of textcls or tag (labels_classify.c). */
void classify_texts(program *p, heed_run *r);

#endif
