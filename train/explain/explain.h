/* explain.h -- attention worked out step by step: the examples, and how they are shown. */
#ifndef HEED_EXPLAIN_H
#define HEED_EXPLAIN_H

#include "explain/equation.h"

/* The largest number accepted as input: sums of products of four such numbers stay finite. */
#define LARGEST_NUMBER 1e6

/* One head on one input with all its labels. Texts belong to owned or file, or are constants. */
typedef struct {
    const char *example, *title;     /* "hungry lion" */
    heed_lesson lesson;              /* the numbers */
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
    void **owned;      /* blocks of memory that are freed with this struct */
    int owned_count;
    json_t *file; /* the labels may point into it; or NULL */
} worked;

/* The place of a head in a trained model. */
typedef struct {
    heed_stack stack;
    int layer, head, heads; /* layer and head from 0 */
    int kv_heads;           /* heads of keys and values; 0: each head has its own */
    double off; /* largest difference of the model's weights, in float, from those of the steps */
} trained_place;

/* The command's settings and its output. An example whose computation is not a single head appends
 * its text for the terminal to out; with json it passes the same numbers to print_exact. */
typedef struct explaining {
    program *p;
    heed_ctx *c;
    text_style look;
    bool json, columns; /* --json, --notation columns */
    uint64_t seed;
    int part, row, col; /* --cell: from 1, of one part, or of every step (-1); row 0: not given */
    int most_width, most_tokens; /* most columns and rows drawn of a matrix; 0: all */
    trained_place place;         /* set for a trained head */
    const heed_record *record;   /* the trained model's forward pass, for the page; or NULL */
    const char *page_link;       /* the explained head, as in heed_page; or NULL */
    unsigned char *blank[HEED_LESSON_COUNT]; /* of a sheet, as in matrix_view; or NULL */
    const char *input;                       /* of an example that reads one; or NULL */
    void (*own_text)(struct explaining *e);  /* prints the example instead of the steps; or NULL */
    json_t *(*own_json)(const struct explaining *e); /* members that it adds to worked_json; NULL */
    bool step;                                       /* --step: the reader is asked for numbers */
    int asked, right; /* numbers asked for, and how many were answered right */
    heed_text out;    /* printed and freed when the example ends */
    json_t *learned;  /* what --learn adds to worked_json; or NULL; freed as well */
    worked w;         /* the head that is shown; empty in examples without one */
} explaining;

/* A built-in example: `heed explain NAME`. */
typedef struct {
    const char *name, *help;
    void (*run)(explaining *e); /* errors go to e->c */
    enum {
        SHOWS_HEAD,    /* a head, with a head's settings */
        SHOWS_WORDS,   /* another computation, without those settings */
        SHOWS_PICTURE, /* the same with a picture, for --png */
        READS_PICTURE  /* the same; INPUT is a picture to read, with --patch */
    } kind;
} example;
extern const example examples[]; /* ended by {0} */

/* Shows e->w in the form that the settings ask for: e->own_text, steps, sheet, files or JSON. Given
 * settings replace the head's beta, causal, hard and hidden keys. */
void explain_worked(explaining *e);
/* Fills e->w: copies the arguments and computes the head; labels that are NULL are generated.
 * False: see e->c. */
bool worked_make(explaining *e, const heed_lesson_args *a, worked labels);
bool worked_label(explaining *e); /* the last part of it, for an e->w whose lesson is computed */
void worked_free(worked *w);
/* Makes w own a block from malloc and returns it. NULL: out of memory, and the block was freed. */
void *worked_keep(heed_ctx *c, worked *w, void *block);

/* The head as one object, in the form that the page reads. */
json_t *worked_json(const explaining *e);
json_t *matrix_json(const heed_matrix *m); /* a list of rows; null: not finite */
/* Prints v on one line with all digits, and frees it. */
void print_exact(explaining *e, json_t *v);

/* Applies the settings for beta, causal, hard, hidden keys and the chosen cell, and computes the
 * head again. False: see c. */
bool apply_settings(explaining *e);

/* ---- text and matrices (lesson.c) ---- */

void heading(explaining *e, const char *format, ...) HEED_PRINTF(2, 3);   /* with a line under it */
void put_words(explaining *e, const char *format, ...) HEED_PRINTF(2, 3); /* a paragraph */
void aside(explaining *e, const char *format, ...) HEED_PRINTF(2, 3);     /* a dim one */
void say(explaining *e, const char *format, ...) HEED_PRINTF(2, 3); /* and an empty line after it */
void gap(explaining *e);                                            /* an empty line */

/* A matrix over the caller's numbers, which are stored row by row. */
heed_matrix lesson_matrix(int rows, int cols, double *x);
/* Appends a matrix with its labels (NULL: none) and an empty line. */
void lesson_draw(explaining *e, const char *name, heed_matrix m, const char *const *rows,
                 const char *const *cols);
/* Draws up to 4 matrices with the same number of rows side by side, as far as they fit, and an
 * empty line. */
typedef struct {
    const char *name;
    heed_matrix m;
    const char *const *cols;
} lesson_block;
void lesson_columns(explaining *e, int count, const lesson_block *blocks, const char *const *rows);
typedef struct {
    const char *unit; /* what the colours are, for the legend; or NULL */
    double hi;        /* the end of the scale; 0: the largest number of each matrix */
} lesson_scale;
/* An example as a list of steps: each a title with its formula, words, and matrices side by side.
 * --json has the matrices under their names. */
typedef struct {
    const char *title, *formula, *words, *after; /* formula, words and after: or NULL */
    int count;
    matrix_view m[4];
    const char *between[4]; /* signs before the matrices, as in draw_equation; NULL: none */
    int pictures;           /* how many of the matrices, from the first on, --png draws */
} lesson_step;
typedef struct {
    const char *name, *title, *words, *commands; /* commands: as in lesson_try */
    lesson_scale scale;                          /* of the pictures */
} lesson_head;
void lesson_steps(explaining *e, const lesson_head *h, int count, const lesson_step *steps);
/* Draws the chart, and writes it to a file if --png was given. */
void lesson_chart(explaining *e, const heed_chart *k, int height);
/* Writes the matrices side by side as heat maps to a file if --png was given. */
enum { LESSON_MAPS = 8 };
bool lesson_maps(explaining *e, lesson_scale scale, int count, const matrix_view *views);
/* Ends an example with "try:" and variations of the command, one per line. */
void lesson_try(explaining *e, const char *commands);
/* Refuses settings that the example has no use for. */
bool lesson_accepts(explaining *e, const example *k);
/* Prints o if JSON was asked for, and frees it. True: it was printed, and the example prints no
 * text. */
bool lesson_json(explaining *e, json_t *o);
json_t *lesson_list(const double *x, int n);
json_t *lesson_grid(int rows, int cols, double *x);

/* Copies numbers to a parameter of the library, unless it is NULL; or to a new (1,rows,cols), of at
 * most 64 numbers. */
void lesson_set(heed_tensor *p, const double *x);
heed_tensor *lesson_input(heed_tape *t, const double *x, int rows, int cols);
/* -sum p log2 p of n shares, in bits. */
double lesson_entropy(const double *p, int n);

/* ---- parts for drawing ---- */

/* Whether queries and keys are rotated by their places before they are compared. */
bool is_rotary(const worked *w);
/* Whether the head has W_h, so that it is part of a layer; and whether that layer has a norm. */
bool has_layer(const worked *w);
bool has_norm(const worked *w);
/* A part with its labels, in the row or column notation; turned: its transpose. chosen_view
 * highlights a row, a column or, with both, a cell; -1: none. */
matrix_view worked_view(const explaining *e, heed_lesson_part part, bool turned);
matrix_view chosen_view(const explaining *e, heed_lesson_part part, bool turned, int row, int col);
/* Q, K, V, raw, output and share are products, the first three with a bias. */
void factors_of(const worked *w, heed_lesson_part product, heed_lesson_part *left,
                heed_lesson_part *right);
heed_lesson_part bias_of(heed_lesson_part product); /* HEED_LESSON_X: it has none */
/* What draws such a product, in the order of the notation: the two factors, the bias unless it is
 * 0, and the product; row and col: the cell that is highlighted. Returns how many, 3 or 4. */
int product_views(const explaining *e, heed_lesson_part product, int row, int col,
                  matrix_view views[4]);
bool is_bias(heed_lesson_part part);
/* Whether B_Q, B_K, B_V or B_O has a nonzero number. */
bool has_bias(const explaining *e, heed_lesson_part bias);
/* The labels of a part's rows and columns as they are stored. */
const char *const *row_labels_of(const worked *w, heed_lesson_part part);
const char *const *col_labels_of(const worked *w, heed_lesson_part part);
/* Clears out and writes to it a title or a path that is safe to show on a terminal. */
const char *shown_title(heed_text *out, const char *title);
/* Writes a label, shortened to fit a sentence, to text and returns it. */
const char *short_label(char text[64], const char *label);

/* Finds the cell of a part that is written out. False: the part has no such cell. */
bool chosen_cell(const explaining *e, heed_lesson_part part, int *row, int *col);
int largest_in_row(const heed_matrix *m, int row); /* the column, by absolute value */
int largest_row(const heed_matrix *m);             /* the row of the largest number */
/* "Q[lion, 2]" */
void cell_name(const explaining *e, heed_lesson_part part, int row, int col, char *text,
               size_t size);
/* Writes how a cell of Q, K, V, raw, scaled, weights or output is computed, in text and numbers. */
void write_cell(explaining *e, heed_lesson_part part, int row, int col);

/* The sum of products that gives out[row, col], with the matrices of its factors. */
typedef struct {
    const heed_matrix *left, *right, *out;
    heed_matmul_how how;
} dot_product;
void write_dot(explaining *e, const char *name, const dot_product *d, int row, int col);

int hidden_scores(const explaining *e); /* how many scores the mask hides */
/* A character for each cell of the weights: '*' chosen by a hard selection, '=' ties with it. The
 * caller frees it. */
char *tie_marks(const explaining *e);
void write_ties(explaining *e);

/* ---- --step: without it these functions do nothing ---- */
/* Draws the inputs of a step and asks for a cell of its result. False: nothing was asked. */
bool ask_cell(explaining *e, heed_lesson_part part, int row, int col, int count,
              const matrix_view *given, const char *const *between);
void ask_next(explaining *e); /* waits for Enter */
void ask_end(explaining *e);  /* reports how many answers were right */

/* ---- gradients ---- */

/* How a gradient is computed. */
typedef struct {
    int when; /* of backward.c */
    heed_lesson_part part;
    const char *title, *rows, *columns; /* "Values", and the formula in either notation */
    const char *words;                  /* or NULL */
} backward_step;
/* A cell of a part's gradient by finite difference: (up - down) / (2 step). */
typedef struct {
    heed_lesson_part part;
    int row, col;
    double value, gradient, up, down, step, difference;
} backward_check;
/* The loss L = 1/2 sum (output - target)^2 (for a head with W_h and no target, of the layer's
 * output) and its gradients, step by step backward. */
typedef struct {
    bool layer, norm;       /* the loss is of the layer's output, which a norm computes */
    heed_lesson_part end;   /* the part that the loss is of */
    const double *target;   /* what that is compared with; NULL: zeros */
    const char *of, *minus; /* L = 1/2 sum (of minus)^2: "output", " - target" */
    heed_lesson_gradient g;
    double loss;
    int checks, count;
    backward_check check[5];
    backward_step step[26];
    char of_loss[400], of_softmax[400]; /* text of two of the steps */
} backward_pass;
bool backward_open(explaining *e, backward_pass *b); /* call backward_close also after a failure */
void backward_close(backward_pass *b);
/* Writes the name of a cell, "[OBJ, 2]" or for a vector "[2]", to text. */
const char *backward_check_name(const explaining *e, const backward_check *k, char text[160]);
/* The matrices that a step draws, in the order of the notation: 3 for a product, otherwise 1. Their
 * names are stored in names. */
int backward_views(const explaining *e, const backward_pass *b, const backward_step *s,
                   matrix_view parts[3], char names[3][32]);
/* --backward: the gradient steps, numbered from `step`, and their check by finite differences. */
void explain_backward(explaining *e, int step);
json_t *backward_json(explaining *e);

/* --learn N: replaces the matrices of e->w by learned ones; e->learned gets their values
 * during learning. */
bool explain_learn(explaining *e);

/* ---- sheets and files ---- */

/* Chooses the blank cells; solution: they are filled in and marked. Call sheet_close also after a
 * failure. */
bool sheet_open(explaining *e, bool solution);
void sheet_close(explaining *e);
/* Removes the numbers that an exercise asks for, and those that reveal them, from its page, which
 * computes them as a reader would. Does nothing without an exercise. */
void sheet_hide(const explaining *e, json_t *o);
int sheet_blanks(const explaining *e);
const char *sheet_name(const explaining *e, char name[48]); /* "Exercise 7"; or "": no sheet */
void explain_sheet(explaining *e, bool solution);
bool write_tex(explaining *e, const char *path);
bool write_weights(explaining *e); /* the weights as a heat map, if --png was given */
/* --from FILE: reads a head from a file into e->w, for explain_worked; and the same from n bytes,
 * which messages report under the name path. False: see e->c. */
bool example_read(explaining *e, const char *path);
bool example_parse(explaining *e, const char *path, const char *json, size_t n);
/* Explains a head of a trained model on an input; uses --layer, --head and --stack. */
void explain_run(explaining *e, const char *run, const char *text);

void explain_steps(explaining *e);   /* all steps, on the terminal */
void explain_summary(explaining *e); /* what it is of, where files have the steps */
void explain_lion(explaining *e);
void explain_paris(explaining *e);
void explain_mix(explaining *e);
void explain_store(explaining *e);
void explain_beta(explaining *e);
void explain_variance(explaining *e);
void explain_shuffle(explaining *e);
void explain_heads(explaining *e);
void explain_similarity(explaining *e);
void explain_recap(explaining *e);
void explain_conv(explaining *e);
void explain_patches(explaining *e);
void explain_bias(explaining *e);
void explain_rnn(explaining *e);
void explain_positions(explaining *e);
void explain_templates(explaining *e);
void explain_decoder(explaining *e);

#endif
