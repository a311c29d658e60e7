/* image.h -- what the commands on pictures share: opening, predictions, reports. */
#ifndef HEED_PICTURES_H
#define HEED_PICTURES_H

#include "kinds/training.h"

/* "flip 0.5, shift by up to 2, ..." or "" for nothing, into text, which is returned. */
const char *augment_text(const heed_augment *a, char text[160]);
/* The pictures that were skipped, each with the reason, the first `most`; how many more there are.
 */
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
     "pictures: the part that is read; auto: the test part, else validation, else all there is",   \
     "Pictures"},                                                                                  \
        {"convert",                                                                                \
         HEED_BOOL,                                                                                \
         "false",                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "pictures of other channels become grey or colour, as the run needs them",                \
         "Pictures"},                                                                              \
    {                                                                                              \
        "strict", HEED_BOOL, "false", 0, 0, NULL,                                                  \
            "a picture that cannot be decoded is an error, not left out", "Pictures"               \
    }
/* ---- predictions (predict.c) ---- */
typedef struct {
    double p;
    int label;
} guess;
/* softmax of n logits, sorted, into g (room for n). */
void guesses_of(const heed_real *logits, int n, guess *g);
/* A line "  label  p  bar", the label in so many columns; what `width` must be for it to fit, too.
 */
void print_guess(const char *label, int width, double p);
int guess_width(int width, const char *label);

/* What a run predicts of the pictures of a part, or of texts, in their order. */
typedef struct {
    heed_part part;
    bool whole; /* the data has no parts: all of it was read */
    size_t count, capacity;
    heed_prediction *list;
    const char *noun; /* what is judged: "pictures" */
    heed_score score;
    int classes;
    const char *const *labels;
} judgement;
/* self: of a picture model, or of r. False in error. */
bool judge_part(heed_tape *t, const heed_model *m, const void *self, heed_images *k, heed_part part,
                int rows, judgement *out);
/* Adds what the logits (j->classes) say of a thing with that label. */
bool judgement_add(heed_ctx *c, judgement *j, const heed_real *logits, int label);
void judgement_free(judgement *j);

/* ---- looking at them (confusion.c) ---- */
void print_classes(const judgement *j, const size_t *confusion);
void print_confusion(const judgement *j, const size_t *confusion);
bool confusion_png(heed_ctx *c, const judgement *j, const size_t *confusion, const char *path);
json_t *classes_json(const judgement *j, const size_t *confusion);
/* The most confident wrong ones, up to `most`, as a contact sheet. */
bool mistakes_png(heed_ctx *c, heed_images *k, const judgement *j, int most, const char *path);

#endif
