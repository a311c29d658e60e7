/* explain.h -- worked examples: lists of steps with matrices, and the forms in which a list is
 * shown. A lesson fills a list; text, TeX, pictures, JSON and the page know lists alone. */
#ifndef HEED_EXPLAIN_H
#define HEED_EXPLAIN_H

#include "cli/program.h"

#include <heed/inspect.h>
#include <heed/lesson.h>
#include <heed/nn.h>
#include <heed/view.h>

/* The largest number accepted as input: sums of products of four such numbers stay finite. */
#define LARGEST_NUMBER 1e6

typedef struct {
    int width;     /* columns available */
    int precision; /* digits after the decimal point; none in matrices of integers */
    bool color;    /* bold and dim text, no other colors */
} text_style;

/* A matrix as it is drawn. Labels are printed as they are, and cut where they do not fit. */
typedef struct {
    const char *name; /* drawn above it: "Q", "K'" */
    const char *key;  /* in JSON and on the page: "K"; NULL: the name */
    const char *sign; /* before it: "·" product, "+", "=" result, "" */
    heed_matrix m;
    bool transposed;                                   /* drawn with rows and columns exchanged */
    const char *const *row_labels, *const *col_labels; /* in the drawing's orientation; or NULL */
    const unsigned char *blank; /* for each cell of m: 1 left blank, 2 filled in; or NULL */
    const char *marks;          /* a character after each cell of m; or NULL */
    bool picture;               /* --png draws it */
    bool heat;                  /* the terminal draws it as a heat map, if it is large */
    bool pixels, continues;     /* in a PNG: drawn in grey; in the rows of the matrix before it */
    bool seen;                  /* drawn above: here only where a number is asked for */
    bool brief;                 /* its numbers have one digit: 2e-16 */
    int digits;                 /* after the decimal point; 0: as the style says */
    int most_rows, most_cols;   /* only this many rows and columns are drawn; 0: all */
    int row, col;               /* the row and the column that are highlighted, from 1; 0: none */
} matrix_view;

/* How the last matrix of a step is made of those before it, so that any cell of it can be written
 * out: by a sum of what the signs say ("·" multiplies two matrices, "+" and "-" add), or else, of
 * the matrices in their order: beta times one; the same with keys hidden; softmax of its rows;
 * pairs of a row rotated; LN of the sum of two, times gain, plus bias; and going back, the sum of
 * its rows; of dY N; through LN; through softmax; a rotation. */
typedef enum {
    MADE_ELSEWHERE,
    MADE_SUM,
    MADE_SCALED,
    MADE_MASKED,
    MADE_SOFTMAX,
    MADE_ROTATED,
    MADE_NORMED,
    MADE_ROWS,
    MADE_GAIN,
    MADE_NORM_BACK,
    MADE_SOFTMAX_BACK,
    MADE_ROTATED_BACK
} made_by;

enum { STEP_VIEWS = 8 };
/* Words stand before the matrices, and what depends on the numbers after them. Texts are constants
 * or owned by the list. */
typedef struct {
    const char *title;   /* NULL: goes on with the step before */
    const char *formula; /* or NULL, as all that follow */
    const char *words, *now;
    const char *const *listed; /* the tokens that `now` lists, for a page that may change them */
    int listed_count;
    int count; /* of the matrices; the last one is the result */
    matrix_view view[STEP_VIEWS];
    made_by made;
    int row, col;            /* the cell of the result that is written out, as stored; -1: none */
    const char *after;       /* a paragraph */
    const char *aside;       /* a dim one */
    const heed_chart *chart; /* drawn last */
    bool loss;               /* the page shows the loss here */
} lesson_step;

/* One head on one input with all its labels. */
typedef struct {
    const char *example, *title;     /* "hungry lion" */
    heed_attention_trace lesson;     /* the numbers */
    const char *const *tokens;       /* (T) */
    const char *const *sources;      /* (S) labels of keys; equals tokens in self-attention */
    const char *const *features;     /* (d) columns of X, rows of W_Q; or NULL */
    const char *const *memory;       /* (d') columns of Z, rows of W_K and W_V; or NULL */
    const char *const *q, *const *v; /* (e), (d2) columns of Q and K, and of V */
    const char *const *stream;       /* (w) columns of W_h and of the layer's output; or NULL */
    const char *const *notes[3];     /* remarks on the rows of W_Q, W_K, W_V; or NULL */
    const char *alike;               /* why features have the same name; or NULL */
    const double *target;            /* (T,d2) what the output should be; or NULL */
    bool pre;          /* pre-norm: X is the normed stream, to which the layer's output is added */
    bool rms;          /* the model's norms are RMS norms */
    bool custom;       /* it is not known what the model does with the sum of all heads */
    bool picture;      /* the tokens are patches of a picture */
    const char *layer; /* "encoder.0.attn" in a trained model; or NULL */
    int query, key;    /* the cell whose numbers are written out, from 1; 0: chosen automatically */
    json_t *file;      /* the labels may point into it; or NULL */
} worked;

/* The loss L = 1/2 sum (output - target)^2 or, for a head with W_h and no target, the same of the
 * layer's output, and its gradients. */
typedef struct {
    bool layer, norm;                /* the loss is of the layer's output, which a norm computes */
    heed_attention_trace_part end;   /* the part that the loss is of */
    const double *target;            /* what that is compared with; NULL: zeros */
    heed_attention_trace_gradient g; /* heed_attention_trace_gradient_free */
    double loss;
} backward_pass;

/* The place of a head in a trained model. */
typedef struct {
    heed_stack stack;
    int layer, head, heads; /* layer and head from 0 */
    int kv_heads;           /* heads of keys and values; 0: each head has its own */
    double off; /* largest difference of the model's weights, in float, from those of the steps */
} trained_place;

/* The command's settings, the example and its list of steps. */
typedef struct explaining {
    program *p;
    heed_ctx *c;
    text_style look;
    bool json, columns, sheet, solution; /* --json, --notation columns, a sheet of either kind */
    uint64_t seed;
    int part, row, col; /* --cell: from 1, of one part, or of every step (-1); row 0: not given */
    int most_width, most_tokens; /* most columns and rows drawn of a matrix; 0: all */
    const char *input;           /* of an example that reads one; or NULL */
    const heed_run *run;         /* a run and its input, for its recurrences; or NULL */
    const heed_example *of;
    bool step;        /* --step: the reader is asked for numbers */
    int asked, right; /* numbers asked for, and how many were answered right */
    heed_text out;    /* printed and freed when the command ends */
    /* the head, if the example is one */
    bool head;
    worked w;
    trained_place place;       /* of a trained one */
    const heed_record *record; /* the trained model's forward pass, for the page; or NULL */
    const char *page_link;     /* the explained head, as in heed_page; or NULL */
    unsigned char *blank[HEED_TRACE_COUNT]; /* of a sheet, as in matrix_view; or NULL */
    json_t *learned;                        /* what --learn adds to the JSON; or NULL */
    backward_pass back;                     /* of --backward */
    /* the list */
    const char *name, *title, *words, *commands, *unit; /* unit: of the pictures' colours */
    double hi; /* the end of their scale; 0: the largest number of each matrix */
    lesson_step *list;
    int count;
    lesson_step no_step; /* what add_step and show give where there is no memory, or an error */
    matrix_view no_view;
    bool page; /* it is made for the page: matrices that may come to be are there */
    void (*own)(struct explaining *e); /* fills the list, instead of the steps of the head */
    /* what lives as long as the list */
    void **owned;
    int owned_count;
    heed_params *store; /* of library(); or NULL */
    heed_tape *tape;
} explaining;

/* A built-in example: `heed explain NAME`. */
typedef struct {
    const char *name, *help;
    bool (*open)(explaining *e);  /* makes e->w; NULL: there is no head */
    void (*steps)(explaining *e); /* the list; NULL: the steps of the head */
    bool pictures;                /* it reads a picture, cut into patches */
} example;
extern const example examples[]; /* ended by {0} */
bool lion_head(explaining *e), paris_head(explaining *e), mix_head(explaining *e),
    store_head(explaining *e), bias_head(explaining *e);
void paris_steps(explaining *e), mix_steps(explaining *e), store_steps(explaining *e),
    beta_steps(explaining *e), variance_steps(explaining *e), shuffle_steps(explaining *e),
    heads_steps(explaining *e), similarity_steps(explaining *e), patches_steps(explaining *e),
    conv_steps(explaining *e), rnn_steps(explaining *e), positions_steps(explaining *e),
    templates_steps(explaining *e), decoder_steps(explaining *e), recap_steps(explaining *e);

/* ---- filling a list (list.c) ---- */

/* Zeroed memory that e owns; NULL: an error, after which text_of gives "", labels are NULL,
 * matrices are empty, and steps are not added. */
void *room(explaining *e, size_t count, size_t size);
bool failed(const explaining *e);
void explaining_free(explaining *e); /* all but out */
const char *text_of(explaining *e, const char *format, ...) HEED_PRINTF(2, 3);
/* Labels with a number from `from` on: "h_%d". */
const char *const *numbered(explaining *e, const char *format, int from, int count);
const char *const *keep_labels(explaining *e, const char *const *labels, int count); /* copies */
bool is_label(const char *label, const char *text, size_t n); /* equals the text of n bytes */

lesson_step *add_step(explaining *e, const char *title, const char *formula, const char *words);
/* Adds a matrix to the last step. */
matrix_view *show(explaining *e, const char *sign, const char *name, heed_matrix m,
                  const char *const *rows, const char *const *cols);

matrix_view *show_view(explaining *e, const char *sign, matrix_view v);
/* A chart of curves: their x in row 0, the y of each in the rows after it. colors: or NULL. */
const heed_chart *chart_of(explaining *e, const char *title, const char *x_label,
                           const char *const *names, const unsigned *colors, heed_matrix curves);

/* Matrices that e owns: of zeros; of numbers; of normal random ones, of which *at counts. */
heed_matrix matrix_new(explaining *e, int rows, int cols);
heed_matrix matrix_of(explaining *e, int rows, int cols, const double *x);
heed_matrix matrix_random(explaining *e, const heed_random *r, uint64_t *at, int rows, int cols);
heed_matrix product_of(explaining *e, heed_matrix a, heed_matrix b);
heed_matrix transpose_of(explaining *e, heed_matrix a);
heed_matrix softmax_of(explaining *e, heed_matrix a);
heed_matrix scores_of(explaining *e, heed_matrix q, heed_matrix k); /* q k' / sqrt(width) */
heed_matrix sum_of(explaining *e, heed_matrix a, double factor, heed_matrix b); /* a + factor b */
heed_matrix rows_of_matrix(heed_matrix m, int from, int count);                 /* a part of m */
double largest_gap(heed_matrix a, heed_matrix b);
double entropy_of(const double *p, int n); /* -sum p log2 p, in bits */

/* The library's layers: a new store, and a new tape in e->tape, which replace the ones before. A
 * matrix as their input (1,rows,cols), and their result as a matrix; and numbers as a parameter,
 * unless that is NULL. */
heed_params *library(explaining *e);
heed_tensor *input_of(explaining *e, heed_matrix m);
heed_matrix result_of(explaining *e, const heed_tensor *x, int rows, int cols);
void set_parameter(heed_tensor *p, heed_matrix m, bool transposed);

/* ---- drawing in text (equation.c) ---- */

int rows_of(const matrix_view *v); /* of the drawing */
int cols_of(const matrix_view *v);
size_t cell_of(const matrix_view *v, int row, int col); /* where a cell of it is in m */
double view_at(const matrix_view *v, int row, int col);
/* A number as it is shown in a matrix: "-inf", "3", "0.25". */
char *number_text(char text[32], double x, int precision);
/* Digits for a matrix: 0 if all its numbers are integers, otherwise `precision`, or more if all are
 * below 0.1, so that small numbers are not shown as zeros. */
int matrix_digits(const heed_matrix *m, int precision);
int view_digits(const matrix_view *v, int precision);
/* Writes a label, shortened to fit a sentence, to text and returns it. */
const char *short_label(char text[64], const char *label);
/* Appends matrices with the signs between them and their shapes below: on one line if they fit,
 * otherwise on several. A matrix that is too wide for a line is split into bands of columns. */
void draw_equation(heed_text *out, const text_style *s, int count, const matrix_view *parts);
/* A paragraph wrapped at the width, with a line break at its end: plain, dim on a terminal, or a
 * heading, bold and with a line under it. */
typedef enum { PLAIN_WORDS, DIM_WORDS, HEADING } words_style;
void draw_words(heed_text *out, const text_style *s, words_style how, const char *words);

/* ---- showing a list (list.c, files.c) ---- */

void list_text(explaining *e); /* appends it to e->out; with --step the reader is asked */
json_t *list_json(const explaining *e);
void put_weights_json(const explaining *e, json_t *o);
bool write_png(explaining *e, const char *path);
bool write_tex(explaining *e, const char *path);
bool write_html(explaining *e, const char *path);
/* Turns the list: tokens are columns. */
void turn_list(explaining *e);
void put_words(explaining *e, const char *format, ...) HEED_PRINTF(2, 3); /* a paragraph */
/* Prints v on one line with all digits, and frees it. */
void print_exact(explaining *e, json_t *v);
json_t *matrix_json(const heed_matrix *m); /* a list of rows; null: not finite */
json_t *rows_json(const double *x, int rows, int cols);
json_t *labels_json(const char *const *labels, int count); /* NULL if there are no labels */
/* How the cell of a step's result is made, "Q[lion, 2] = 1·0 + 3·2 = 6", or NULL; and the name of
 * a cell of a drawing. */
const char *written_cell(explaining *e, const lesson_step *s);
const char *cell_name(explaining *e, const matrix_view *v, int row, int col);
int largest_in_row(const heed_matrix *m, int row); /* the column, by absolute value */
int largest_row(const heed_matrix *m);             /* the row of the largest number */

/* ---- a head (head.c, learn.c, from.c, run.c) ---- */

/* Fills e->w: copies the arguments and computes the head; labels that are NULL are generated.
 * False: see e->c. */
bool worked_make(explaining *e, const heed_attention_trace_args *a, worked labels);
bool worked_label(explaining *e); /* the last part of it, for an e->w whose lesson is computed */
json_t *worked_json(const explaining *e); /* the head as one object, which --from reads */
/* Applies the settings for beta, causal, hard, hidden keys and the chosen cell, and computes the
 * head again. False: see c. */
bool apply_settings(explaining *e);
const char *symbols_of(explaining *e); /* which the notes have for the same sizes */
void head_steps(explaining *e);        /* the list of its steps, with --backward */
matrix_view worked_view(explaining *e, heed_attention_trace_part part); /* with its labels */
/* "tokens", "sources" ...: whose labels they are in w; NULL: nobody's. */
const char *label_set(const worked *w, const char *const *labels);
const char *safe_title(explaining *e, const char *title); /* shown safely on a terminal */
char *tie_marks(explaining *e);     /* of a hard selection: '*' chosen, '=' ties with it */
const char *ties_of(explaining *e); /* and what they say */
/* "Exercise 7", or "" without a sheet; and how many blanks it has. */
const char *sheet_name(explaining *e);
int sheet_blanks(const explaining *e);

json_t *backward_json(explaining *e);
/* --learn N: replaces the matrices of e->w by learned ones; e->learned gets their values. */
bool explain_learn(explaining *e);
void learn_step(explaining *e); /* the step that shows how it went */
/* --from FILE: reads a head from a file into e->w; and the same from n bytes, which messages report
 * under the name path. False: see e->c. */
bool example_read(explaining *e, const char *path);
bool example_parse(explaining *e, const char *path, const char *json, size_t n);
/* Explains a head of a trained model on an input, or its recurrences, by shown(e). */
void explain_run(explaining *e, const char *run, const char *text, void (*shown)(explaining *e));
/* The recurrences of a run of rnn (rnn.c): whether it has such; computes them on an input, for the
 * list. */
bool has_recurrences(const heed_run *run);
void open_recurrences(explaining *e, const heed_run *r, const heed_example *of);
/* Refuses settings that an example without a head has no use for. */
bool accepts(explaining *e, const char *name);

#endif
