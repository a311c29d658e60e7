/* training.h -- what the commands that train share: the data of a task, the display, scores,
 * curves.
 */
#ifndef HEED_TRAINING_H
#define HEED_TRAINING_H

#include "cli/program.h"

/* ---- what is printed of a kind of data ---- */

/* A training that has come to its end. */
typedef struct {
    const char *run;
    const heed_config *f;
    int64_t step;
    double seconds, waited; /* of the training; share of them that was spent waiting for data */
    bool trained;           /* a step was made; else the run was finished before */
    bool bar;               /* the terminal shows what is being done */
    json_t *json;           /* of --json, to be added to; else NULL */
} ending;

/* What is printed of a kind of data: of text (text.c), pictures (image.c), pairs of texts and
 * labelled texts (pairs.c). */
typedef struct progress progress;
typedef struct {
    void (*banner)(const heed_model *m, const heed_data *d,
                   const heed_config *f);                        /* by banner_row */
    void (*steps)(const heed_config *f, uint64_t epoch_batches); /* the banner's row of the epoch */
    void (*begun)(program *p, const heed_data *d, const char *run); /* the run stands; or NULL */
    void (*evaluated)(progress *g, const heed_report *r);      /* after an evaluation; or NULL */
    void (*finish)(program *p, const heed_data *d, ending *e); /* reports more; or NULL */
    void (*next)(const heed_model *m, const char *data, const char *run); /* prints what to try */
    void (*eval)(program *p, const heed_model *m, heed_config *f, heed_run *r); /* heed eval */
    void (*check)(program *p, heed_data *d); /* heed data check */
} data_kind;
extern const data_kind text_kind, picture_kind, translation_kind, label_kind, dense_kind;
const data_kind *kind_of(const heed_model *m); /* (kind.c) */

/* Opens what a run of task k with settings f is evaluated on, and says in `what` which it is:
 * "book.txt, validation part". NULL: see p->c. (eval_data.c) */
heed_data *eval_data_open(program *p, const heed_model *m, heed_config *f, const heed_run *r,
                          char what[512]);
const char *part_name(heed_part part); /* "validation" */

/* ---- the display (progress.c) ---- */
typedef enum { SHOW_BAR, SHOW_LINES, SHOW_JSON, SHOW_NOTHING } show_mode;
struct progress {
    program *p;
    heed_config *f;
    const heed_data *data;
    const char *run;
    show_mode mode;
    double drawn, told; /* when the bar was last drawn, and a line was last written */
    double smooth;      /* training loss, averaged over about ten steps */
    bool any, header;   /* a step was seen; the table has its header */
    bool hidden[16];    /* columns that the table does without */
    int evaluations;
    heed_tape *tape;           /* of samples; made when needed */
    heed_text samples;         /* of a generated text, reused */
    heed_snapshots *snapshots; /* or NULL */
};
show_mode show_mode_of(const char *name);
/* A line of the banner: label, text. */
void banner_row(const char *label, const char *format, ...) HEED_PRINTF(2, 3);
/* "12 steps of 4 x ": the updates of an epoch, and how many batches make one. Into text. */
const char *epoch_steps(char text[64], const heed_config *f, uint64_t epoch_batches);
/* The heed_fit callback; user is a progress. */
void progress_report(void *user, const heed_report *r);

/* A training that fits the data: the suggestion, and what was given to data check (cmd_data.c). */
void print_try(const program *p, const char *suggestion);

/* ---- text (task_text.c and its neighbours) ---- */
/* Appends a text of the model at hand to RUN/samples.txt (samples.c). */
void sample_text(progress *g, const heed_report *r);
/* What to try with a run, with words of its data (next.c). */
void next_text(const heed_model *m, const char *data, const char *run);
void next_pairs(const heed_model *m, const char *data, const char *run);
void eval_scores(program *p, const heed_model *m, heed_config *f, heed_run *r);
void eval_text(program *p, const heed_model *m, heed_config *f, heed_run *r); /* eval_text.c */
void check_text(program *p, heed_data *d);                                    /* check_text.c */

/* ---- pictures (eval_image.c, check_image.c) ---- */
void eval_pictures(program *p, const heed_model *m, heed_config *f, heed_run *r);
void check_pictures(program *p, heed_data *d);

/* ---- scores (cmd_eval.c) ---- */
typedef struct {
    double loss, perplexity, bits_per_byte, accuracy, low, high, top5; /* NAN: does not apply */
    double items;
} measures;
measures measure(const heed_score *s);
/* The 95 % interval of a share. Wilson 1927. */
void share_interval(double right, double all, double *low, double *high);

/* ---- curves (curves.c) ---- */
typedef struct {
    int count, capacity;
    double *step, *loss, *metric; /* metric: accuracy, NAN where there was none */
} curve;
typedef struct {
    curve train, val;
    double test;    /* accuracy on the test part; NAN: not read */
    double seconds; /* of the last line; NAN if not told */
    heed_ctx *c;
} run_curves;
/* Reads DIR/metrics.csv. */
bool curves_read(heed_ctx *c, const char *dir, run_curves *out);
void curves_free(run_curves *k);
/* Its training and validation loss over steps; series and title must outlive the chart. */
heed_chart curves_chart(const run_curves *k, const char *title, heed_series series[2]);
/* On stdout, as wide as the terminal. */
void draw_chart(program *p, const heed_chart *chart);
/* Draws DIR/metrics.csv as a picture at path. */
bool curves_png(heed_ctx *c, const char *dir, const char *path);

/* ---- pages (opening.c) ---- */
/* What a page shows first. */
typedef struct {
    const char *view; /* NULL: the page's choice */
    heed_stack stack;
    int layer;        /* from 0 */
    const char *head; /* "3", "mean", "max"; NULL: the first */
    int query;        /* from 0; -1: none is chosen */
} page_link;
enum { PAGE_LINK_SIZE = 160 };
/* For heed_page, in text, which is returned. */
const char *page_link_text(const page_link *o, char text[PAGE_LINK_SIZE]);
/* False, with the error that writing it would have: asked before other files are written. */
bool page_fits(heed_ctx *c, const heed_page *p, const char *path);

#endif
