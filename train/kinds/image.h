/* image.h -- functions shared by the commands on pictures: opening, predictions, reports. */
#ifndef HEED_PICTURES_H
#define HEED_PICTURES_H

#include "kinds/training.h"

/* Writes "flip 0.5, shift by up to 2, ...", or "" for no augmentation, to text and returns it. */
const char *augment_text(const heed_augment *a, char text[160]);
/* Prints the first `most` skipped pictures with their reasons; returns how many more there are. */
size_t print_skipped(FILE *out, const heed_images *k, const char *indent, size_t most);

/* Rows of the tables of a command that judges pictures. */
#define JUDGED_PICTURES_APPLY                                                                      \
    {"part", reads_pictures, NULL}, {"convert", reads_pictures, NULL}, {                           \
        "strict", reads_pictures, NULL                                                             \
    }
#define JUDGED_PICTURES                                                                            \
    {"part",                                                                                       \
     HEED_CHOICE,                                                                                  \
     "auto",                                                                                       \
     0,                                                                                            \
     0,                                                                                            \
     "auto|train|val|test",                                                                        \
     "pictures: the part that is read; auto: the test part, else validation, else all",            \
     "Pictures"},                                                                                  \
        {"convert",                                                                                \
         HEED_BOOL,                                                                                \
         "false",                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "convert pictures of other channels to grey or colour, as the run requires",              \
         "Pictures"},                                                                              \
    {                                                                                              \
        "strict", HEED_BOOL, "false", 0, 0, NULL,                                                  \
            "a picture that cannot be decoded is an error, not skipped", "Pictures"                \
    }
/* ---- predictions (predict.c) ---- */
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

/* A run's predictions for the pictures of a part, or for texts, in their order. */
typedef struct {
    heed_part part;
    bool whole; /* the data has no parts, so all of it was read */
    size_t count, capacity;
    heed_prediction *list;
    const char *noun; /* what is judged: "pictures" */
    heed_score score;
    int classes;
    const char *const *labels;
} judgement;
/* Predicts all pictures of a part. self: the model's state. False: an error. */
bool judge_part(heed_tape *t, const heed_model *m, const void *self, heed_images *k, heed_part part,
                int rows, judgement *out);
/* Adds the prediction of logits (j->classes) for an item with that label. */
bool judgement_add(heed_ctx *c, judgement *j, const heed_real *logits, int label);
void judgement_free(judgement *j);

/* ---- reports (confusion.c) ---- */
void print_classes(const judgement *j, const size_t *confusion);
void print_confusion(const judgement *j, const size_t *confusion);
bool confusion_png(heed_ctx *c, const judgement *j, const size_t *confusion, const char *path);
json_t *classes_json(const judgement *j, const size_t *confusion);
/* Draws the most confident wrong predictions, up to `most`, as a contact sheet. */
bool mistakes_png(heed_ctx *c, heed_images *k, const judgement *j, int most, const char *path);

#endif
