/* image.h -- functions shared by the commands on pictures and on classes: opening, predictions,
 * reports. */
#ifndef HEED_PICTURES_H
#define HEED_PICTURES_H

#include "kinds/training.h"
#include <heed/pairs.h>

/* Prints the first `most` skipped pictures with their reasons; returns how many more there are. */
size_t print_skipped(FILE *out, const heed_images *k, const char *indent, size_t most);

/* Parts of the kinds of pictures (image.c). */
/* train.log lists all skipped pictures. */
void begun_pictures(program *p, const heed_data *d, const char *run);
/* Reads the test part, if there is one, once: after a training run, or when that was kept from it.
 * False: it was read before, or see p->c. */
bool test_pictures(program *p, const heed_data *d, training_end *e, measures *m);
/* Prints how long the training waited for pictures if more workers would shorten it. */
void print_waited(const training_end *e);
/* Warns of pictures that are left out, and if the training part was evaluated only because there is
 * no other. (class_eval.c) */
void warn_of_pictures(program *p, const heed_data *d, bool evaluated);
/* Adds all skipped pictures to RUN/train.log. */
void log_skipped(program *p, const heed_images *k, const char *run);

/* Rows of the tables of a command that evaluates pictures. */
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

/* ---- codes (codes.c) ---- */
/* Writes what --code and --csv ask for, if given: the codes of the part of d that is evaluated, as
 * points in a plane coloured by class, and as numbers. */
void draw_codes(program *p, heed_run *r, const heed_data *d, int rows);

/* ---- guesses (guesses.c) ---- */
typedef struct {
    double p;
    int label;
} guess;
/* Writes the softmax of n logits, sorted, to g (n elements). */
void guesses_of(const heed_real *logits, int n, guess *g);
/* Prints a line "  label  p  bar", with `width` columns for the label, and a bar of up to 24
 * columns where the terminal has room. guess_width raises width to the label's columns if these are
 * under 40. */
void print_guess(const char *label, int width, double p);
int guess_width(int width, const char *label);
/* The first `top` guesses of the classes of a run. */
void print_class_guesses(const heed_run *r, const guess *g, int top);
json_t *class_guesses_json(const heed_run *r, const guess *g, int top); /* [{class, p}] */
/* heed classify for a run of textcls or tag. */
void classify_texts(program *p, heed_run *r);

/* ---- evaluation by class (class_eval.c, confusion.c) ---- */
/* A run's predictions for the pictures of a part, or for texts or words, in their order. */
typedef struct {
    heed_part part;
    bool all_parts;      /* the data has no parts, so all of it was read */
    heed_images *images; /* NULL: texts */
    const heed_pairs_info *texts;
    heed_entities *entities[2]; /* of words: by seqeval's default mode, and strictly; or NULL */

    size_t count, capacity;
    heed_prediction *list;
    const char *noun; /* what is classified: "pictures" */
    heed_score score;
    int classes;
    const char *const *labels;
    size_t *confusion; /* (classes, classes): heed_confusion */
} class_predictions;
void print_classes(const class_predictions *all);
void print_confusion(const class_predictions *all);
/* The mean of the classes' shares of correct predictions. uneven: the largest class has more than
 * twice the items of the smallest. */
double balanced_accuracy(const class_predictions *all, bool *uneven);
bool confusion_png(heed_ctx *c, const class_predictions *all, const char *path);
json_t *classes_json(const class_predictions *all);
/* Draws the most confident wrong predictions, up to `most`, as a contact sheet. */
bool mistakes_png(heed_ctx *c, const class_predictions *all, int most, const char *path);

#endif
