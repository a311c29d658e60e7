/* heed/record.h -- the result of an analysis: the data behind every view of attention.
 *
 * A record holds axes (tokens or patches), blocks (one attention layer each, over two axes), maps
 * (any other matrix of queries x keys: rollout, occlusion, influence), the model's predictions, and
 * tables (of heads, of measures). It is filled from a run and an input or data, from a file of
 * weights of another program, or by hand; heat maps, pictures, files and the page read nothing
 * else. Labels are literal text in UTF-8; each view decides how to show a newline or a space. */
#ifndef HEED_RECORD_H
#define HEED_RECORD_H

#include <heed/io.h>
#include <heed/tape.h>

HEED_EXPORT_BEGIN

/* Tokens, which may be followed by the patches of a picture: token `first` + r * cols + c is the
 * patch at row r, column c. */
typedef struct {
    const char *name; /* "text", "source", "target", "picture" */
    int count;
    const char *const *labels;
    const unsigned char *special; /* (count): 1 for [CLS] and the like; NULL: none */
    const char *const *words;     /* (count): the word that begins with a token; "" for its further
                                     pieces; NULL: each token is a word */
    int rows, cols, first;        /* the grid; rows 0: text only */
} heed_record_axis;

const char *heed_stack_name(heed_stack s); /* "encoder", "decoder", "cross" */

/* One layer's attention. Arrays are stored head by head, row-major; NULL: not kept. In a subset,
 * layers and heads keep their original numbers. */
typedef struct {
    const char *path; /* "encoder.0.attn", as parameters and probes are named */
    heed_stack stack;
    int layer;         /* from 0, within its stack */
    int heads;         /* how many are stored */
    const int *head;   /* (heads) their numbers from 0; NULL: 0 .. heads - 1 */
    int queries, keys; /* indices of axes */
    int kv_heads;      /* heads of keys and values in the model; 0: each head has its own */
    int key, value;    /* widths e and d2 of k and v; 0: unknown */
    double beta;       /* factor of raw; 0: unknown */
    double rotary;     /* theta of the rotary positions by which q and k are rotated; 0: none */
    bool causal, hard;
    bool additive;              /* raw = align tanh(q + k), no product. Bahdanau et al. 2015 */
    const heed_real *weights;   /* (heads,Q,K) */
    const heed_real *raw;       /* (heads,Q,K) q k', before scaling, bias and mask */
    const heed_real *scores;    /* (heads,Q,K) after these; -INFINITY where masked */
    const heed_real *q, *k, *v; /* (heads,Q,e) (heads,K,e) (heads,K,d2), as they are compared and
                                   summed; heads that share keys and values have equal k and v */
    const heed_real *align;     /* (heads,e) of the additive form */
} heed_record_block;

/* Another matrix of queries x keys, for comparison: "rollout", "occlusion", "gradient". */
typedef struct {
    const char *name, *help; /* help: one line on its meaning and its sign */
    int layer, head;         /* from 0; -1: the entire model */
    heed_stack stack;
    int queries, keys;
    const heed_real *values; /* (Q,K); may be negative, NAN: unknown */
} heed_record_map;

/* What the model predicts at a query: its most probable labels. */
typedef struct {
    int axis, query;  /* "row t predicts ..."; query -1: about the entire input */
    const char *says; /* "token 5", "the class", "[MASK]": what is predicted there */
    int count;
    const char *const *labels;
    const heed_real *p; /* (count) probabilities, in descending order */
} heed_record_guess;

/* A column of a table: numbers or texts. */
typedef struct {
    const char *key;    /* in JSON and CSV; NULL: it is for people alone */
    const char *head;   /* its heading for people; NULL: it is in JSON and CSV alone */
    const char *help;   /* one line on what it measures; or NULL */
    const char *format; /* of a number for people: "%.3f", "%.2f %%"; NULL: whole numbers */
    double times;       /* by which the number is multiplied for people; 0: 1 */
    bool optional; /* without a number the cell is empty, and JSON has no member; else "-", null */
    const double *values;     /* (rows); NAN: none */
    const char *const *texts; /* (rows) instead of numbers; or NULL */
} heed_record_column;
/* Rows of numbers. For people the first column names the rows. In JSON a table is a list with an
 * object for each row. */
typedef struct {
    const char *name; /* in JSON; NULL: a single row, whose members are those of the whole object */
    const char *by;   /* in JSON, an object by this column instead of a list; or NULL */
    int rows, count;
    const heed_record_column *columns; /* (count) */
} heed_record_table;

typedef struct {
    const char *title;        /* the input, in one line */
    const char *model, *task; /* "tiny gpt, step 300"; "gpt" */
    const char *note;         /* specific to this record: a subset, a cut; or NULL */
    const char *run; /* whose weights these are, so that models can be told apart; or NULL */
    int64_t step;    /* training step; -1: unknown */
    int axis_count, block_count, map_count, guess_count, table_count;
    const heed_record_axis *axes;
    const heed_record_block *blocks;
    const heed_record_map *maps;
    const heed_record_guess *guesses;
    const heed_record_table *tables;
    const unsigned char *pixels; /* (H,W,C) of the picture under the grid; NULL: none */
    int width, height, channels;
} heed_record;

/* ---- making a record ---- */

/* Creates an empty record, with step -1. It owns what is added to it: all arguments are copied, and
 * bytes of labels that are not valid UTF-8 become escapes such as "\xE2". It is freed by
 * heed_record_free, or with c. A heed_record may also be filled directly. */
heed_record *heed_record_new(heed_ctx *c);
void heed_record_free(heed_record *r);
/* Each appends to a record of heed_record_new and returns the new element's index; -1 on error. */
int heed_record_add_axis(heed_record *r, const heed_record_axis *a);
int heed_record_add_block(heed_record *r, const heed_record_block *b);
int heed_record_add_map(heed_record *r, const heed_record_map *m);
int heed_record_add_guess(heed_record *r, const heed_record_guess *g);
/* A table of `rows` without columns, of which all arguments but r may be NULL; and a column of the
 * last table. Returns its numbers, those of k->values or else zeros, to be filled in; NULL for
 * texts, and on error. */
bool heed_record_add_table(heed_record *r, const char *name, const char *by, int rows);
double *heed_record_add_column(heed_record *r, heed_record_column k);
/* Sets the texts that are not NULL. */
typedef struct {
    const char *title, *model, *task, *note, *run;
} heed_record_texts;
bool heed_record_describe(heed_record *r, heed_record_texts t);
/* pixels (height,width,channels), channels 1 or 3, which are copied. */
bool heed_record_picture(heed_record *r, const unsigned char *pixels, int width, int height,
                         int channels);

/* To record from a tape: before the forward pass, adds probes for the arrays of a block to all
 * layers whose path matches the pattern ("decoder.*.attn"). lean: the weights only. */
void heed_record_probe(heed_tape *t, const char *pattern, bool lean);
/* After the forward pass, adds the layer at like->path as a block and returns its index. `like`
 * supplies what the tape does not know: stack, layer, axes, kv_heads, beta, rotary, causal, hard,
 * additive, align, and which heads to keep (heads 0: all). item: index in the batch; pad: (K),
 * nonzero where a key is not padding, or NULL. Masked scores become -INFINITY. Returns -1 if
 * nothing was probed under the path, or on error. */
int heed_record_take(heed_record *r, const heed_tape *t, const heed_record_block *like, int item,
                     const int32_t *pad);

/* ---- tables ---- */

/* The column of a key in the table of a name, or (NULL) the one without; NULL: there is none. */
const heed_record_column *heed_record_find(const heed_record *r, const char *table,
                                           const char *key);
/* Sorts the rows of a table by the numbers of a column, the largest first. Equal ones keep their
 * order, and rows without a number come last. Returns false if there is no such column. */
bool heed_record_sort(heed_record *r, const char *table, const char *key);
/* Appends a table for a terminal of `width` columns, without columns that have no number. Other
 * tables of the record whose first column has the same heading add their rows, in the order of the
 * tables. flush: names begin at the start of the line; else after two blanks. */
bool heed_record_table_text(const heed_record *r, const char *table, bool flush, int width,
                            heed_text *out);
/* Appends the tables as one JSON object. key: NULL for the outermost value. */
bool heed_record_table_json(const heed_record *r, const char *key, heed_text *out);

/* ---- subsets ---- */

/* What is kept; a count of 0, or false: everything. Layers and heads keep their numbers. */
typedef struct {
    int layer_count, head_count, tokens; /* tokens: kept of each axis without a grid */
    const int *layers, *heads;           /* numbers from 0 */
    bool no_qk;                          /* without q, k, v, raw and scores */
} heed_record_cut;
/* Returns a new record, whose note says what was cut. HEED_USAGE if nothing would be left. */
heed_record *heed_record_subset(heed_ctx *c, const heed_record *r, const heed_record_cut *cut);
/* Returns a new record of words instead of tokens: the attention to a word is the sum over its
 * pieces, and that from it the mean over them, so that rows still sum to 1; Clark et al. 2019, sec.
 * 4.1. Maps likewise, without the rows of a word that are unknown; predictions are those of all its
 * pieces. It has no q, k, v, raw or scores. Its note says so. */
heed_record *heed_record_words(heed_ctx *c, const heed_record *r);
/* Appends which layers and heads a cut keeps: "layers 1, 3 alone; head 2 alone". */
void heed_record_cut_text(const heed_record_cut *cut, heed_text *out);
/* Returns the size of all arrays in bytes. */
double heed_record_bytes(const heed_record *r);

/* ---- files ---- */

/* Appends the record as one JSON object. With arrays false, it omits the numeric arrays, as in the
 * NPZ file. Layers, heads and positions count from 1, as on the screen; null: the entire model or
 * input. */
bool heed_record_json(const heed_record *r, bool arrays, heed_text *out);
/* path,stack,layer,head,query_position,key_position,query_token,key_token,weight: one line per
 * weight, then the maps. Layers, heads and positions count from 1. Tokens are quoted, and their
 * control characters are written as escapes such as \x1B. Of a record with tables instead the first
 * one that has a name. */
bool heed_record_csv(heed_ctx *c, const heed_record *r, const char *path);
/* Writes a NumPy archive: PATH.weights (heads,Q,K), PATH.raw, .scores, .q, .k, .v, and PATH.heads,
 * their indices from 0; "maps", the names of the maps, and maps.N (Q,K); of both the labels, as
 * PATH.queries (Q) and .keys (K), texts of at most 256 characters; picture (H,W,C) of bytes; and
 * "record", the bytes of the JSON object without arrays. */
bool heed_record_npz(heed_ctx *c, const heed_record *r, const char *path);
/* Reads such a JSON file, of which the picture is left out, or NPZ file, a worked example of `heed
 * explain --json` (its attention, scores, Q and K), or weights of another program: an NPZ, NPY or
 * JSON file with arrays of (queries, keys), (heads, queries, keys) or (layers, heads, queries,
 * keys). Layers are numbered in the order of the file; an array whose name contains "cross" or
 * "dec" is cross or decoder attention. Labels are the texts under `tokens`, or `queries` and
 * `keys`, or `source` and `target`; if their count differs from that of the weights, the error
 * names both counts. Values outside [0, 1] and rows that do not sum to 1 are kept unchanged and
 * reported in the note. Returns NULL on error. */
heed_record *heed_record_read(heed_ctx *c, const char *path);
/* Of a JSON file with several objects, one on each line, as `heed attend --json` prints them for
 * several inputs, reads the one on a line, which counts from 1. Line 0: heed_record_read. */
heed_record *heed_record_read_line(heed_ctx *c, const char *path, int line);

HEED_EXPORT_END
#endif
