/* image.h -- functions shared by the commands on pictures and on classes: opening, predictions,
 * reports. */
#ifndef HEED_PICTURES_H
#define HEED_PICTURES_H

#include "kinds/training.h"

/* Writes "flip 0.5, shift by up to 2, ...", or "" for no augmentation, to text and returns it. */
const char *augment_text(const heed_augment *a, char text[160]);
/* Prints the first `most` skipped pictures with their reasons; returns how many more there are. */
size_t print_skipped(FILE *out, const heed_images *k, const char *indent, size_t most);

/* Prints the banner's rows on sizes and normalisation; on the pictures skipped, if any, whose first
 * ones are listed on stderr. */
void banner_sizes(const heed_images_info *a);
void banner_skipped(const heed_model *m, const heed_images *k, const heed_config *f);
/* Adds all skipped pictures to RUN/train.log. */
void log_skipped(program *p, const heed_images *k, const char *run);

/* Rows of the tables of a command that evaluates pictures. */
#define EVALUATED_PICTURES_APPLY                                                                   \
    {"part", reads_pictures, NULL}, {"convert", sees_pictures, NULL}, {                            \
        "strict", sees_pictures, NULL                                                              \
    }
#define EVALUATED_PICTURES                                                                         \
    PICTURE_PART, CONVERT("Pictures"),                                                             \
        SWITCH("strict", "a picture that cannot be decoded is an error, not skipped", "Pictures")
#define CONVERT(group)                                                                             \
    SWITCH("convert", "convert pictures of other channels to grey or colour, as the run requires", \
           group)
#define PICTURE_PART                                                                               \
    CHOICE("part", "auto", "auto|train|val|test",                                                  \
           "pictures: the part that is read; auto: the test part, else validation, else all",      \
           "Pictures")

/* ---- guesses (guesses.c) ---- */
typedef struct {
    double p;
    int label;
} guess;
/* Writes the softmax of n logits, sorted, to g (n elements). */
void guesses_of(const heed_real *logits, int n, guess *g);
/* Prints a line "  label  p  bar", with `width` columns for the label. guess_width raises width to
 * the label's columns if these are under 40. */
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
bool confusion_png(heed_ctx *c, const class_predictions *all, const char *path);
json_t *classes_json(const class_predictions *all);
/* Draws the most confident wrong predictions, up to `most`, as a contact sheet. */
bool mistakes_png(heed_ctx *c, const class_predictions *all, int most, const char *path);

#endif
