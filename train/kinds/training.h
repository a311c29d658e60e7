/* training.h -- functions shared by the commands that train: the display, curves, the verdict. */
#ifndef HEED_TRAINING_H
#define HEED_TRAINING_H

#include "cli/program.h"

/* A finished training. */
typedef struct {
    const char *run;
    const heed_config *f;
    int64_t step;
    double seconds; /* duration of the training */
    bool trained;   /* at least one step was made; otherwise the run was already finished */
    bool bar;       /* the terminal shows progress */
    json_t *json;   /* the object of --json, to add members to; or NULL */
} training_end;

typedef struct progress progress;

/* ---- facts of the library (facts.c) ---- */
/* Prints them; as an object. */
void print_facts(program *p, const heed_facts *k);
json_t *facts_json(const heed_facts *k);
/* Whether colour pictures are few for a model of patches; if so, writes a hint to text. */
bool are_few(const heed_model *m, const heed_data *d, const heed_config *f, char text[256]);
/* ---- while a text is read (progress.c) ---- */

typedef struct {
    program *p;
    bool bar;     /* the terminal shows progress */
    double drawn; /* when the bar was last drawn */
} reading;
bool show_reading(void *user, uint64_t done, uint64_t all); /* a heed_progress; user: a reading */
void end_reading(reading *r);

/* ---- the display (progress.c) ---- */
typedef enum { SHOW_BAR, SHOW_LINES, SHOW_JSON, SHOW_NOTHING } show_mode;
struct progress {
    program *p;
    heed_config *f;
    const heed_data *data;
    const char *run;
    show_mode mode;
    double drawn, wrote; /* times when the bar was last drawn, and a line last written */
    double smooth;       /* training loss, averaged over about ten steps */
    double epochs;       /* passes over the data so far */
    double answers;      /* those of an evaluation, of which the accuracy is a share */
    bool begun;          /* the run was made, or opened to be resumed */
    bool any, header;    /* a step was reported; the table's header was printed */
    int64_t saved;       /* step of the last checkpoint that was written; -1: none */
    bool undrawn;        /* loss.png lacks the last evaluation */
    double pictured;     /* when it was last drawn */
    bool hidden[16];     /* columns that the table leaves out */
    int evaluations;
    heed_tape *tape;           /* for samples; created when needed */
    heed_text samples;         /* a generated text; reused */
    heed_text taken;           /* settings of the run that the training starts from */
    heed_snapshots *snapshots; /* or NULL */
    bool watched;              /* the loss was compared with `guessing` */
    double guessing;           /* the loss of guessing by frequency; 0: unknown */
};
show_mode show_mode_of(const char *name);
enum { CHOICE_TEXT = 400 };
/* Writes "batch 8, steps 4,000: the reason" to text and returns it. */
const char *choice_text(const heed_choice *k, char text[CHOICE_TEXT]);
/* The settings chosen by the data, as a list of {settings, reason}. */
json_t *choices_json(const heed_choices *k);
/* The callback of a training; user is a progress *. */
void progress_report(void *user, const heed_report *r);
/* Draws what loss.png lacks, which is drawn once a second at most. */
void progress_end(progress *g);

/* ---- what a training run says of its course (commands/judge.c) ---- */

/* Warns, once after a third of the training, of a loss that is still that of guessing. */
void warn_of_plateau(progress *g, const heed_report *r);
/* Trains some steps without a run, and prints what the whole training run would take. copied: bytes
 * of inputs that it would copy (commands/estimate.c). */
void estimate_training(program *p, const heed_train_args *args, size_t copied);

/* Prints the memory that a training run takes, and returns it as an object. */
void print_memory(FILE *to, const heed_memory *m);
json_t *memory_json(const heed_memory *m);
/* Prints the settings that a training run would choose by the data, and the command of a training
 * run of m: the suggestion, and the settings given to data check. After that of the task, m may be
 * another one that a note recommends (commands/data.c). */
void print_try(const program *p, const heed_model *m, const char *suggestion);

/* Words with which a text of a run's data begins, or of its vocabulary if that is not there. */
enum { FIRST_WORDS = 401 };
void first_words_of(const heed_run *r, char words[FIRST_WORDS]);
/* Prints commands to try with a run, with words of its data. path: of the data; run: as it is
 * typed. (next.c) */
void print_next(const heed_model *m, const heed_data *d, const char *path, const char *run);

/* ---- curves (curves.c) ---- */
typedef struct {
    int count;
    double *step, *loss, *metric; /* metric: accuracy, or NAN */
} curve;
typedef struct {
    curve train, val;
    char label[48]; /* "training, mean of 20 steps": what its last value is */
    int best;       /* index in val of the evaluation whose weights the run keeps; -1: unknown */
    char mark[48];  /* "best accuracy 98.31 %", "best evaluation": what it is */
    bool tested;    /* the test part was read */
    double test;    /* accuracy on it; NAN: not measured */
    double seconds; /* time of the last line; NAN: not recorded */
    double loss;    /* mean training loss since the evaluation before the last one; NAN: unknown */
    char data[17];  /* checksum of the data that it was trained on; "": unknown */
    heed_ctx *c;
} run_curves;
/* Reads DIR/metrics.csv, and from DIR/last which evaluation was the best, the loss and the data. */
bool curves_read(heed_ctx *c, const char *dir, run_curves *out);
/* The value in a file of a run; NULL: it has none that can be read. */
json_t *run_json(const char *run, const char *name);
void curves_free(run_curves *k);

/* ---- the sentence at the end of a training run (commands/judge.c) ---- */
enum { JUDGEMENT = 1400 };
typedef struct {
    run_curves curves;
    heed_config *f;
    const char *run;
    int64_t step;      /* the last one */
    double answers;    /* those of an evaluation, of which an accuracy is a share; 0: unknown */
    double epochs;     /* passes over the data */
    bool perplexity;   /* the losses are of a language model */
    const char *sided; /* of heed_data */
} training_course;
/* Judges a finished training; "" if nothing can be said of it. Settings and commands in text are in
 * backquotes, for add_shown. */
void judge_course(const training_course *j, char text[JUDGEMENT]);
void judge_training(const progress *g, const heed_fit_result *r, char text[JUDGEMENT]);

/* ---- curves as charts ---- */
/* A chart of training and validation loss over steps; k, series and title must outlive it. */
heed_chart curves_chart(const run_curves *k, const char *title, heed_series series[2]);
/* Draws the chart on stdout, as wide as the terminal. */
void draw_chart(program *p, const heed_chart *chart);
/* Writes charts as a picture, unless png is "", and to the file of --svg. */
bool write_charts(program *p, const heed_chart *charts, int count, int height, const char *png);
/* Draws DIR/metrics.csv as a picture at path. */
bool curves_png(heed_ctx *c, const char *dir, const char *path);
size_t curves_png_memory(void); /* what curves_png takes at most meanwhile, in bytes */

/* A CSV file of numbers. The first line names the columns. The first column is x, and each further
 * column is a curve; an empty field is a gap. */
typedef struct {
    char *text;      /* the file's text, cut into names */
    char title[256]; /* the file's name without folder and extension */
    const char *x;   /* name of the first column */
    int curves, rows;
    double *values; /* x and the curves, one column of `rows` after the other */
    heed_series *series;
} curve_csv;
bool is_curve_csv(const char *path); /* ends with .csv */
bool curve_csv_read(heed_ctx *c, const char *path, curve_csv *out);
void curve_csv_free(curve_csv *k);
bool curve_csv_log_x(heed_ctx *c, curve_csv *k); /* x becomes its logarithm to base 2 */
heed_chart curve_csv_chart(const curve_csv *k);  /* uses k's memory */

#endif
