/* capture.h -- what a trained model attends to: from a run and an input to a heed_record.
 *
 * A subject is an input ready to be passed through its model, with the questions that the model
 * answers there. capture() passes it once, in eval mode, with probes; others (occlusion, gradients,
 * snapshots) change its numbers or its tape and pass it again. */
#ifndef HEED_CAPTURE_H
#define HEED_CAPTURE_H

#include "cli/program.h"

#include <heed/models.h>

/* Row `row` of the logits is what the model says at a query of an axis (-1: of the whole input). */
typedef struct {
    int axis, query, row;
    char says[32]; /* what is predicted there: "token 5" */
} question;

enum { SUBJECT_AXES = 3 };
typedef struct {
    heed_run *run;
    int axis_count;
    heed_record_axis axes[SUBJECT_AXES]; /* text; picture; source, target (what is made) and target
                                            input (what the decoder reads) */
    char **labels[SUBJECT_AXES];         /* what the axes point to */
    unsigned char *special[SUBJECT_AXES];
    int question_count;
    question *questions;
    /* Tokens of text, or of the source. */
    int count;
    int32_t *ids;
    /* Of a pair: what the decoder reads, [CLS] and the target but for its last token; and the
     * target. */
    int target_count;
    int32_t *read, *target;
    /* A picture as the model takes it, (size,size,channels), and as it is shown. */
    heed_image_transform view;
    heed_real *x;
    unsigned char *pixels; /* (side,side,channels) */
    int side;
    char *title;
} subject;

/* Opens an input of the run's kind: a text (of mlm with [CLS] and [SEP] around it), a source with
 * its target (NULL: what the model makes of it). False: see the context; subject_free in any case.
 */
bool subject_text(subject *s, heed_run *r, const char *text, size_t n, const char *target);
/* Tokens of gpt or mlm that are known already. */
bool subject_tokens(subject *s, heed_run *r, const int32_t *ids, int count);
/* A picture: taken over; converted to the run's channels if convert says so. name: to show. */
bool subject_picture(subject *s, heed_run *r, heed_picture *p, const char *name, bool convert);
void subject_free(subject *s);
/* Passes it through its model on a tape that has begun: logits (rows, classes or vocabulary), a row
 * for each question at its `row`. */
heed_tensor *subject_logits(const subject *s, heed_tape *t);

/* An attending layer of a run, as a block without arrays. Its axes are those of a subject. */
typedef struct {
    char path[48];
    heed_record_block block; /* heads: all of the layer */
} attending;
/* All of them, in order, to be freed; fails for a model that does not attend. */
attending *attending_layers(const heed_run *r, int *count);
/* Whether a stack of blocks has the layer of a flag --layer: from 1, or 0 for the last. */
bool layer_exists(const heed_run *r, int layer);

/* What an output of the model stands for: a class, or a token. number: room for one without a name.
 */
const char *class_label(const heed_run *r, int class, char number[16]);

/* What to keep. Zeros: everything. Lists hold numbers from 0; layers count within each stack. */
typedef struct {
    int layer_count, head_count;
    const int *layers, *heads;
    const heed_stack *stack; /* this stack alone */
    bool lean;               /* weights alone: no q, k, v, raw, scores */
    int top;                 /* guesses at each question; 0: 5 */
    double most;             /* bytes that the record may take; 0: 256 MB, negative: any number */
} capture_wish;
/* The record, to be freed by heed_record_free; NULL: see the context. Its blocks keep the numbers
 * of layers and heads. */
heed_record *capture(const subject *s, const capture_wish *w);
/* The same from a tape of the caller's own, after subject_logits on it: before the tape begins,
 * capture_probe asks for the values. y: the logits. */
void capture_probe(const subject *s, const capture_wish *w, heed_tape *t);
heed_record *capture_taken(const subject *s, const capture_wish *w, const heed_tape *t,
                           const heed_tensor *y);

/* Whether the layers are of more than one stack. */
bool has_stacks(const attending *list, int count);
/* "layer 2, head 3", "cross layer 1, head 2" where a model has several stacks. */
char *head_name(char text[64], const attending *l, int head, bool stacks);

#endif
