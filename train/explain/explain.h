/* explain.h -- attention worked out step by step: what an example is, and what shows it. */
#ifndef HEED_EXPLAIN_H
#define HEED_EXPLAIN_H

#include "explain/equation.h"

/* Of what is typed or read: products of four of these and their sums stay finite. */
#define LARGEST_NUMBER 1e6

/* One head on one input with all its labels. Texts belong to whoever made them (memory, file). */
typedef struct {
    const char *example, *title;     /* "hungry lion" */
    heed_lesson lesson;              /* the numbers */
    const char *const *tokens;       /* (T) */
    const char *const *sources;      /* (S) labels of keys; tokens itself in self-attention */
    const char *const *features;     /* (d) columns of X, rows of W_Q; or NULL */
    const char *const *memory;       /* (d') the same of Z, W_K and W_V; or NULL */
    const char *const *q, *const *v; /* (e), (d2) columns of Q and K, and of V */
    const char *const *stream;       /* (w) columns of W_h and of what the layer makes; or NULL */
    const char *const *notes[3];     /* beside the rows of W_Q, W_K, W_V; or NULL */
    const double *target;            /* (T,d2) what the output should be; or NULL */
    bool pre;          /* X is the normed stream, to which all heads together are added */
    bool custom;       /* what the model does with all heads together is not known */
    bool picture;      /* the tokens are patches of one */
    const char *layer; /* of a trained model: "encoder.0.attn"; or NULL */
    int query, key;    /* from 1: the cell whose numbers are written out; 0: one is found */
    void **owned;      /* blocks of memory freed with it */
    int owned_count;
    json_t *file; /* what labels point into; or NULL */
} worked;

/* Where a head of a trained model stands. */
typedef struct {
    int layer, head, heads; /* layer and head from 0 */
    double off;             /* the model's weights, in float, differ by this from the steps' */
} trained_place;

/* What the command was asked, and where its answer goes. An example that is a computation of its
 * own adds to out what the terminal shows; with json it gives the same numbers to print_exact. */
typedef struct explaining {
    program *p;
    heed_ctx *c;
    text_style look;
    bool json, columns; /* --json, --notation columns */
    uint64_t seed;
    int part, row, col; /* --cell: from 1, of a part or (-1) of every step; row 0: none was asked */
    int most_width, most_tokens; /* rows and columns that are drawn of what is wide; 0: all */
    trained_place place;         /* of a trained head */
    const heed_record *record;   /* of the trained model's pass, for the page; or NULL */
    const char *page_link;       /* the explained head, as in heed_page; or NULL */
    unsigned char *blank[HEED_LESSON_COUNT]; /* of a sheet: as in matrix_view; else NULL */
    void (*tell)(struct explaining *e);      /* the example in its own words; NULL: in ten steps */
    bool step;                               /* --step: the reader is asked */
    int asked, right;                        /* predictions, and those that were right */
    heed_text out;                           /* printed, and freed, when the example is done */
    json_t *more; /* what an example adds to worked_json; or NULL. Freed when it is done */
    worked w;     /* the head that is shown; empty in examples that have none */
} explaining;

/* A built-in example: `heed explain NAME`. */
typedef struct {
    const char *name, *help;
    void (*run)(explaining *e); /* errors go to e->c */
    enum {
        SHOWS_HEAD,  /* by the settings that a head has */
        SHOWS_WORDS, /* a computation of its own, without those settings */
        SHOWS_CHART  /* the same with a chart, for --png */
    } kind;
} example;
extern const example examples[]; /* ended by {0} */

/* Shows e->w in the form that the settings ask for: e->tell, steps, sheet, files, JSON. beta,
 * causal, hard and hidden keys come from the settings where they are given. */
void explain_worked(explaining *e);
/* Makes e->w: copies and computes a; labels that are NULL are made. False: see e->c. */
bool worked_make(explaining *e, const heed_lesson_args *a, worked labels);
void worked_free(worked *w);
/* A block from malloc, freed with w; NULL: no memory, the block is gone. */
void *worked_keep(heed_ctx *c, worked *w, void *block);
/* "1", "2" ... with a letter before them: (count) labels that live as long as w. */
const char *const *worked_names(heed_ctx *c, worked *w, const char *letter, int count);

/* The head as one object: the form that the page's steps read. */
json_t *worked_json(const explaining *e);
json_t *matrix_json(const heed_matrix *m); /* a list of rows; not finite: null */
/* Prints v in one line with all its digits, and frees it. */
void print_exact(explaining *e, json_t *v);

/* beta, causal, hard, hidden keys and the chosen cell from the settings; computes. False: see c. */
bool apply_settings(explaining *e);

/* ---- the parts as they are drawn ---- */

/* The head has W_h: a layer stands behind it, and with a norm, normed. */
bool has_layer(const worked *w);
bool has_norm(const worked *w);
/* A part with its labels, as a row notation or a column notation has it; turned: as its transpose.
 */
matrix_view worked_view(const explaining *e, heed_lesson_part part, bool turned);
/* B_Q, B_K or B_V has a number that is not 0. */
bool has_bias(const explaining *e, heed_lesson_part bias);
/* The labels of a part's rows and columns as they are stored. */
const char *const *row_labels_of(const worked *w, heed_lesson_part part);
const char *const *col_labels_of(const worked *w, heed_lesson_part part);
/* A title or a path as a terminal may show it, into out, which is emptied before. */
const char *shown_title(heed_text *out, const char *title);
/* A label short enough for a sentence, into text, which is returned. */
const char *short_label(char text[64], const char *label);

/* The cell of a part that is written out; false: the part has no such cell. */
bool chosen_cell(const explaining *e, heed_lesson_part part, int *row, int *col);
int largest_in_row(const heed_matrix *m, int row); /* the column, by absolute value */
/* "Q[lion, 2]" */
void cell_name(const explaining *e, heed_lesson_part part, int row, int col, char *text,
               size_t size);
/* How a cell of Q, K, V, raw, scaled, weights or output comes about, in words and numbers. */
void write_cell(explaining *e, heed_lesson_part part, int row, int col);

/* The sum of products behind out[row, col], by the matrices it comes from. */
typedef struct {
    const heed_matrix *left, *right, *out;
    heed_matmul_how how;
} dot_product;
void write_dot(explaining *e, const char *name, const dot_product *d, int row, int col);

/* ---- what would be otherwise without a step, in a sentence ---- */
void without_projections(explaining *e);
void without_values(explaining *e);
void without_scale(explaining *e);
void without_mask(explaining *e);
void without_softness(explaining *e);
/* A sign a cell of the weights: '*' chosen by a hard selection, '=' ties with it. To be freed. */
char *tie_marks(const explaining *e);
void write_ties(explaining *e);

/* ---- --step; without it these do nothing ---- */
/* Draws what a step is given and asks for a cell of its result; false: nothing was asked. */
bool ask_cell(explaining *e, heed_lesson_part part, int row, int col, int count,
              const matrix_view *given, const char *const *between);
void ask_next(explaining *e); /* waits for Enter */
void ask_end(explaining *e);  /* counts what was right */

/* ---- gradients ---- */

/* A gradient is drawn as the part that it is of: "dQ" as Q. */
typedef struct {
    const heed_matrix *m;
    heed_lesson_part like;
    const char *name; /* NULL: the part itself */
    bool turned;
} gradient_term;
/* left right = out; without a matrix in left, out alone. */
typedef struct {
    const char *title, *rows, *columns; /* "Values", and the formula in either notation */
    const char *words;                  /* or NULL */
    gradient_term left, right, out;
} backward_step;
/* A cell of a given part by finite difference: (up - down) / 2 step. */
typedef struct {
    heed_lesson_part part;
    int row, col;
    double value, gradient, up, down, step, difference;
} backward_check;
/* L = 1/2 sum (output - target)^2 or, of a head with W_h and no target, the same of what the layer
 * gives; and every gradient of it, step by step from there back. */
typedef struct {
    bool layer;             /* the loss is of what the layer gives */
    const char *of, *minus; /* L = 1/2 sum (of minus)^2: "output", " - target" */
    heed_lesson_gradient g;
    double loss;
    int checks, count;
    backward_check check[5];
    backward_step step[24];
    char of_loss[400], of_softmax[400]; /* words of two of them */
} backward_pass;
bool backward_open(explaining *e, backward_pass *b); /* backward_close in any case */
void backward_close(backward_pass *b);
/* "[OBJ, 2]", of a vector "[2]": the cell, into text. */
const char *backward_check_name(const explaining *e, const backward_check *k, char text[160]);
/* What a step draws, in the order of the notation: 3 matrices of a product, or 1. names: memory for
 * theirs. */
int backward_views(const explaining *e, const backward_step *s, matrix_view parts[3],
                   char names[3][32]);
/* --backward: the steps behind the output, the last one checked by a finite difference. */
void explain_backward(explaining *e, int step);
json_t *backward_json(explaining *e);

/* --learn N: the matrices of e->w become learned ones; their moments go to e->more. */
bool explain_learn(explaining *e);

/* ---- sheets and files ---- */

/* Chooses the blanks; solution: they are filled in and marked. sheet_close in any case. */
bool sheet_open(explaining *e, bool solution);
void sheet_close(explaining *e);
/* Takes what a sheet asks for, and what tells it, out of the numbers of its page: the page computes
 * them as a reader would. Nothing where there is no exercise. */
void sheet_hide(const explaining *e, json_t *o);
int sheet_blanks(const explaining *e);
const char *sheet_name(const explaining *e, char name[48]); /* "Exercise 7"; "": no sheet */
void explain_sheet(explaining *e, bool solution);
bool write_tex(explaining *e, const char *path);
/* --from FILE: a head from a file into e->w, for explain_worked; and the same of its n bytes, of
 * which messages say that they are of path. False: see e->c. */
bool example_read(explaining *e, const char *path);
bool example_parse(explaining *e, const char *path, const char *json, size_t n);

/* A head of a trained model on an input, shown by explain_worked; --layer, --head, --stack. */
void explain_run(explaining *e, const char *run, const char *text);

/* All steps, as the terminal shows them. */
void explain_steps(explaining *e);

void explain_lion(explaining *e);
void explain_paris(explaining *e);
void explain_mix(explaining *e);
void explain_store(explaining *e);
void explain_beta(explaining *e);
void explain_variance(explaining *e);
void explain_shuffle(explaining *e);
void explain_heads(explaining *e);
void explain_similarity(explaining *e);

#endif
