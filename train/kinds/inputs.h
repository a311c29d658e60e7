/* inputs.h -- inputs of a trained model: single ones, and evaluation data. */
#ifndef HEED_INPUTS_H
#define HEED_INPUTS_H

#include "kinds/training.h"

/* ---- inputs from arguments or stdin ---- */
/* Prints a text on one line: invisible characters are replaced by visible ones, as in
 * heed_label_text. */
void print_shown(heed_ctx *c, const char *text, const char *end);
/* Prints a text that a model made. On a terminal, control characters except newlines and tabs are
 * replaced by visible ones: they would move the cursor; in a pipe or file it is as it is. */
void print_made(const char *text, size_t n);
/* Says that an argument which is taken as a text is also the name of a file, and how to read that,
 * if p, not NULL, is a command on a run that reads lines. */
void note_file(heed_ctx *c, const char *argument, const program *p);
typedef bool (*take_input)(program *p, void *user, const char *text, size_t n);
/* The input of a run that an argument gives. A text is, without an argument (NULL) or of "-", the
 * line of the standard input, which has one that is not blank. It is read once, into *line. NULL:
 * see the context. */
const char *one_input(program *p, const heed_run *r, const char *argument, heed_text *line);
/* Calls `one` for each argument from the second on. If there is none, or for an argument "-", calls
 * it for each line of stdin that is not empty; there must be one. An error is printed and its
 * status kept, and the next input follows. */
enum {
    BY_LINE = 1, /* each input line gives one output line, empty if the input is blank or fails */
    EMPTY_LINES = 2 /* empty lines are inputs, too */
};
void each_input(program *p, void *user, take_input one, int how);

/* ---- one input as it is given: a text, or a picture ---- */
typedef struct {
    const char *name;      /* the text, which ends with a zero byte; or the name of the picture */
    size_t n;              /* bytes of the text */
    heed_picture *picture; /* NULL: it is a text */
} given_input;
typedef bool (*take_given)(program *p, void *user, const given_input *in);
/* Calls `one` for each input of the run that the arguments or the standard input give: each_input
 * or each_picture. how: of texts. */
void each_given(program *p, const heed_run *r, void *user, take_given one, int how);
bool read_given(const heed_reader *r, const given_input *in, heed_example *out);
/* Reads it for the analyses of heed/inspect.h: a picture, a text, or numbers ("1 0; 0.5 1",
 * positions separated by semicolons). target: of a source, or of a picture with a caption; NULL:
 * the model's own. */
bool example_of_given(const heed_run *r, const given_input *in, const char *target,
                      heed_example *out);

/* ---- questions (cloze.c) ---- */
/* Questions for a masked model from the lines of a file: TEXT WITH ONE [MASK], a tab, ANSWER. */
typedef struct cloze cloze;
/* Whether DATA is a file of questions, by its name. */
bool is_cloze(const program *p, const heed_run *r);
cloze *cloze_open(heed_run *r, const char *path);
size_t cloze_count(const cloze *q);
/* Runs the model in eval mode on a question and adds the result to the score; b: the batch used. */
bool cloze_ask(const cloze *q, size_t index, heed_batch *b, heed_score *score);
void cloze_close(cloze *q);

/* False, with an error, if the text names a picture but the model reads texts. */
bool is_text_for(heed_ctx *c, const heed_model *m, const char *text);

/* Shows the progress of an analysis on the terminal; user is an inspect_progress *. The line is
 * removed by the call with done = all. */
typedef struct {
    program *p;
    const char *what; /* "hidden token" */
} inspect_progress;
bool inspect_advance(void *user, uint64_t done, uint64_t all);

/* Printed with everything that shows attention or its importance. */
#define NO_EXPLANATION HEED_NO_EXPLANATION

/* Whether some attention stack of the run has the layer that --layer chooses. Sets *index to the
 * layer's index. */
bool layer_index(const heed_run *r, const heed_config *flags, int *index);

/* ---- the evaluation data of any task, batch by batch, for heads and ablate (eval_data.c) ---- */
/* A row of the table of a command that uses the loop. */
#define EVAL_LOOP_OPTIONS                                                                          \
    COUNT("batches", "0", 0, 1e9, "evaluation batches that are read, a seeded sample; 0: all",     \
          "Data")

typedef struct {
    heed_evaluation e; /* what is read; each question is a batch */
    const heed_model *model;
    heed_config *f;   /* the run's settings */
    heed_data *open;  /* the run's data; or NULL */
    cloze *questions; /* questions instead of data; or NULL */
    uint64_t all;     /* number of batches */
    heed_part part;   /* the part of a set of pictures */
    char what[512];   /* description of the data */
    inspect_progress progress;
} eval_loop;

/* Opens the evaluation data of a run with settings f, and writes its description to `what`:
 * "book.txt, validation part". NULL: see p->c. */
heed_data *eval_data_open(program *p, heed_config *f, const heed_run *r, char what[512]);
/* Opens the run and the DATA of the command's arguments; without DATA, the data that the run was
 * trained on. unit: what the progress counts, "batch"; NULL: nothing is counted. */
bool eval_loop_open(program *p, eval_loop *s, const char *unit);
void eval_loop_close(eval_loop *s);
/* Shows the progress on the terminal, "batch 3 of 10"; the line is removed when all are done. */
void eval_loop_progress(program *p, const char *what, uint64_t done, uint64_t all);

#endif
