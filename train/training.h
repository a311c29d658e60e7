/* training.h -- what the commands that train share: the data of text tasks, the display, curves. */
#ifndef HEED_TRAINING_H
#define HEED_TRAINING_H

#include "program.h"

/* ---- text tasks (task_text.c) ---- */
typedef struct {
    heed_tokenizer *tokenizer;
    heed_corpus *corpus;
} text_data;
/* Opens or trains the tokenizer that f names, reads the text f.data with it, and sets f.vocab to
 * the vocabulary's real size. tokenizer: one at hand already (a run's), or NULL. */
bool text_open(heed_ctx *c, const task *k, heed_config *f, heed_tokenizer *tokenizer, text_data *t);
void text_close(text_data *t);

/* ---- the display (progress.c) ---- */
typedef enum { SHOW_BAR, SHOW_LINES, SHOW_JSON, SHOW_NOTHING } show_mode;
typedef struct {
    program *p;
    const heed_config *f;
    const text_data *data;
    const char *run;
    show_mode mode;
    double drawn, told; /* when the bar was last drawn, and a line was last written */
    double smooth;      /* training loss, averaged over about ten steps */
    bool any, header;   /* a step was seen; the table has its header */
    int evaluations;
    heed_tape *tape;   /* of samples; made when needed */
    heed_text samples; /* of a generated text, reused */
} progress;
show_mode show_mode_of(const char *name);
/* Appends a text of the model at hand to RUN/samples.txt (samples.c). */
void sample_text(progress *g, const heed_report *r);
/* The heed_fit callback; user is a progress. */
void progress_report(void *user, const heed_report *r);

/* What to try with a run, with words of its data (next.c). */
void print_next(const task *k, const char *data, const char *run);

/* ---- curves (curves.c) ---- */
typedef struct {
    int count, room;
    double *step, *loss;
} curve;
typedef struct {
    curve train, val;
    double seconds; /* of the last line; NAN if not told */
    heed_ctx *c;
} run_curves;
/* Reads DIR/metrics.csv. */
bool curves_read(heed_ctx *c, const char *dir, run_curves *out);
void curves_free(run_curves *k);
/* Its training and validation loss over steps; series and title must outlive the chart. */
heed_chart curves_chart(const run_curves *k, const char *title, heed_series series[2]);
/* Draws DIR/metrics.csv as a picture at path. */
bool curves_png(heed_ctx *c, const char *dir, const char *path);

#endif
