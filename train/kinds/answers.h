/* answers.h -- what models answer: guesses, targets and their alignment, sheets of pictures. */
#ifndef HEED_ANSWERS_PROGRAM_H
#define HEED_ANSWERS_PROGRAM_H

#include "kinds/inputs.h"

/* Rows of the tables of a command that evaluates data. */
#define EVALUATED_DATA_APPLY                                                                       \
    {"part", reads_pictures, NULL}, {"convert", sees_pictures, NULL},                              \
        {"strict", sees_pictures, NULL}, {"columns", reads_tables, NULL}, {                        \
        "header", reads_tables, NULL                                                               \
    }
#define EVALUATED_DATA                                                                             \
    PICTURE_PART, CONVERT("Pictures"),                                                             \
        SWITCH("strict", "a picture that cannot be decoded is an error, not skipped", "Pictures"), \
        WORDS("columns",                                                                           \
              "CSV, TSV and JSON objects: the columns or keys of DATA, by name or by number from " \
              "1; none: as for the training",                                                      \
              "Tables"),                                                                           \
        CHOICE("header", "auto", "auto|yes|no",                                                    \
               "whether the first line of CSV and TSV names the columns", "Tables")
#define CONVERT(group)                                                                             \
    SWITCH("convert",                                                                              \
           "print no note when grey pictures are converted to colour, or colour to grey, for the " \
           "run",                                                                                  \
           group)
#define PICTURE_PART                                                                               \
    CHOICE("part", "auto", "auto|train|val|test",                                                  \
           "pictures: the part that is read; auto: the test part, else validation, else all",      \
           "Pictures")
/* Rows of the table of a command that makes targets. */
#define DECODING                                                                                   \
    COUNT("beam", "1", 1, 64, "targets kept while searching; 1: always the most probable token",   \
          "Decoding"),                                                                             \
        NUMBER("length-penalty", "0", 0, 100,                                                      \
               "beam: how much longer targets are favoured, log p / ((5 + n) / 6)^x; 0: off, the " \
               "most probable target wins; 0.6 is usual for sentences",                            \
               "Decoding")

/* ---- guesses ---- */

typedef struct {
    double p;
    int label;
} guess;
/* Writes the softmax of n logits, sorted, to g (n elements). */
void guesses_of(const heed_real *logits, int n, guess *g);
/* Prints lines "  label  p  bar", with a bar of up to 24 columns where the terminal has room. */
void print_guesses(const char *const *labels, const double *p, int count);

/* ---- targets (targets.c) ---- */

/* An input, a text or a picture, for which a run makes targets. Zero-initialise in and about. */
typedef struct {
    heed_run *run;
    heed_reader reader;
    heed_generation how;
    heed_example in; /* the current input, and its target without [SEP] */
    heed_generated about;
} translator;
/* By settings that include DECODING, and maybe sampling; NULL: greedily. */
translator translator_of(heed_run *r, const heed_config *f);
/* Reads a text, or a picture, and makes its target. */
bool translate(translator *k, const given_input *in);
bool translated_text(const translator *k, heed_text *out); /* appends the current target */
/* {tokens, ended, log_probability} */
json_t *target_json(const translator *k);
/* Completes the current input for the analyses, with its target, which then has the [SEP] that it
 * ended with. */
bool complete_target(translator *k, const char *name);

/* Samples of the model in training, added to RUN/samples.txt; or to RUN/reconstructions.png. */
void sample_outputs(progress *g, const heed_report *r);
/* Scores at the end of a training: of targets, in RUN/scores.json; of a test part. */
void finish_training(program *p, const heed_data *d, training_end *e);
void remove_scores(const char *run);

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
 * layer, all heads; the input is completed (complete_target). */
bool alignment_of(translator *k, const heed_config *flags, alignment *out);
void alignment_free(alignment *a);
bool alignment_print(heed_ctx *c, const alignment *a);
/* Draws one under its title, or two side by side, each under its own, on one scale. */
bool alignment_draw(heed_ctx *c, const alignment *a, const char *const *titles, int count, bool svg,
                    const char *path);
json_t *alignment_json(const alignment *a); /* [[..]], one list per row */

/* ---- sheets of pictures (sheets.c) ---- */

bool confusion_png(heed_ctx *c, const heed_scores *s, const char *path);
/* Draws the most confident wrong predictions, up to `most`. False: an error, or there is none. */
bool mistakes_png(heed_ctx *c, const heed_scores *s, int most, const char *path);
/* Writes what --code and --csv ask for, if given: the codes of the part of d that is evaluated, as
 * points in a plane coloured by class, and as numbers. */
void draw_codes(program *p, heed_run *r, const heed_data *d, int rows);
/* Draws pictures of the training part before and after augmentation: data check --sheet. */
bool augmented_png(program *p, heed_images *k, const char *path);

/* Pictures and what an auto-encoder makes of them. Zero-initialise; close with rebuilt_close. */
typedef struct {
    heed_reconstruction *list;
    char (*captions)[2][64]; /* under the picture: its name; under the last tile: the error */
    int count, capacity;
} rebuilt;
/* Reads a picture as the run does, reconstructs it and adds the result. name: its caption. */
bool rebuilt_add(rebuilt *k, heed_run *r, heed_picture *picture, const char *name);
/* Draws all of them: the picture, what the model sees of it if patches are hidden, the
 * reconstruction and the difference. c: may be another context. */
bool rebuilt_png(heed_ctx *c, const rebuilt *k, const char *path);
void rebuilt_close(rebuilt *k);

/* ---- skipped pictures ---- */

/* Warns of pictures that are left out. */
void warn_of_skipped(program *p, const heed_images *k);
/* Adds all of them to RUN/train.log, and says so without a banner. */
void log_skipped(program *p, const heed_data *d, const char *run);

#endif
