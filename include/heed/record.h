/* heed/record.h -- what a model attended to on one input: the data behind every view of attention.
 *
 * A record holds axes (tokens or patches), blocks (an attention layer each, over two axes), maps
 * (anything else of queries x keys: rollout, occlusion, influence) and what the model answered. The
 * program fills one from a run and an input, from a file of foreign weights or by hand; heat
 * maps, pictures, files and the page read nothing else. Labels are literal text in UTF-8; how a
 * newline or a space is shown is the view's business.
 */
#ifndef HEED_RECORD_H
#define HEED_RECORD_H

#include <heed/io.h>
#include <heed/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tokens, or patches of a picture after them: token `first` + r * cols + c is the patch at row r,
 * column c. */
typedef struct {
    const char *name; /* "text", "source", "target", "picture" */
    int count;
    const char *const *labels;
    const unsigned char *special; /* (count): 1 for [CLS], [SEP] and their like; NULL: none */
    int rows, cols, first;        /* the grid; rows 0: text alone */
} heed_record_axis;

HEED_API const char *heed_stack_name(heed_stack s); /* "encoder", "decoder", "cross" */

/* One layer's attention. Arrays are head by head, row-major; NULL: not kept. In a subset layer and
 * head keep their own numbers. */
typedef struct {
    const char *path; /* "encoder.0.attn", as parameters and probes are named */
    heed_stack stack;
    int layer;         /* from 0, within its stack */
    int heads;         /* that are held */
    const int *head;   /* (heads) their numbers from 0; NULL: 0 .. heads - 1 */
    int queries, keys; /* indices of axes */
    int key, value;    /* widths e and d2 of k and v; 0: unknown */
    double beta;       /* what scores are multiplied by; 0: unknown */
    bool causal, hard;
    bool additive;              /* raw = align tanh(q + k), no product. Bahdanau et al. 2015 */
    const heed_real *weights;   /* (heads,Q,K) */
    const heed_real *raw;       /* (heads,Q,K) q k', before scaling, bias and mask */
    const heed_real *scores;    /* (heads,Q,K) after them; -INFINITY where masked */
    const heed_real *q, *k, *v; /* (heads,Q,e) (heads,K,e) (heads,K,d2) */
    const heed_real *align;     /* (heads,e) of the additive form */
} heed_record_block;

/* Something else over queries x keys, for comparison: "rollout", "occlusion", "gradient". */
typedef struct {
    const char *name, *help; /* help: a line that says what it is and what its sign means */
    int layer, head;         /* from 0; -1: of the whole model */
    heed_stack stack;
    int queries, keys;
    const heed_real *values; /* (Q,K); may be negative, NAN: unknown */
} heed_record_map;

/* What the model predicts at a query: its best guesses. */
typedef struct {
    int axis, query;  /* "row t predicts ..."; query -1: said of the whole input */
    const char *says; /* "token 5", "the class", "[MASK]": what is predicted there */
    int count;
    const char *const *labels;
    const heed_real *p; /* (count) falling */
} heed_record_guess;

typedef struct {
    const char *title;        /* the input, in a line */
    const char *model, *task; /* "tiny gpt, step 300"; "gpt" */
    const char *note;         /* of this record alone: a subset, a cut; or NULL */
    int64_t step;             /* of training; -1 unknown */
    int axis_count, block_count, map_count, guess_count;
    const heed_record_axis *axes;
    const heed_record_block *blocks;
    const heed_record_map *maps;
    const heed_record_guess *guesses;
    const unsigned char *pixels; /* (H,W,C) of the picture that the grid is on; NULL: none */
    int width, height, channels;
} heed_record;

/* ---- making one ---- */

/* An empty record, of an unknown step, that owns what is added to it: all that is handed in is
 * copied, and bytes of labels that are not UTF-8 become "\xE2". Freed by heed_record_free, or with
 * c. A record filled by hand needs none of this. */
HEED_API heed_record *heed_record_new(heed_ctx *c);
HEED_API void heed_record_free(heed_record *r);
/* These append to a record of heed_record_new; the index of what was added, or -1 on error. */
HEED_API int heed_record_add_axis(heed_record *r, const heed_record_axis *a);
HEED_API int heed_record_add_block(heed_record *r, const heed_record_block *b);
HEED_API int heed_record_add_map(heed_record *r, const heed_record_map *m);
HEED_API int heed_record_add_guess(heed_record *r, const heed_record_guess *g);
/* Sets the texts that are not NULL. */
typedef struct {
    const char *title, *model, *task, *note;
} heed_record_texts;
HEED_API bool heed_record_describe(heed_record *r, heed_record_texts t);
HEED_API bool heed_record_picture(heed_record *r, const unsigned char *pixels, int width,
                                  int height, int channels);

/* From a tape: before the pass, probes for what a block holds, of all layers whose path matches
 * ("decoder.*.attn"); lean: the weights alone. */
HEED_API void heed_record_probe(heed_tape *t, const char *pattern, bool lean);
/* After it: the layer of that path as a block. like gives what the tape does not know: stack,
 * layer, axes, beta, causal, hard, additive, align, and which heads to keep (heads 0: all). item:
 * of the batch; pad: (K), nonzero where a key is not padding, or NULL. Masked scores become
 * -INFINITY. -1 where nothing was probed under the path, or on error. */
HEED_API int heed_record_take(heed_record *r, const heed_tape *t, const heed_record_block *like,
                              int item, const int32_t *pad);

/* ---- less of one ---- */

/* What is kept; a count of 0, or false: everything. Layers and heads keep their numbers. */
typedef struct {
    int layer_count, head_count, tokens; /* tokens: the first ones of each axis that has no grid */
    const int *layers, *heads;           /* numbers from 0 */
    bool no_qk;                          /* without q, k, v, raw and scores */
} heed_record_cut;
/* A new record; its note says what was cut. HEED_USAGE where nothing would be left. */
HEED_API heed_record *heed_record_subset(heed_ctx *c, const heed_record *r,
                                         const heed_record_cut *cut);
/* Appends what a cut leaves of layers and heads: "layers 1, 3 alone; head 2 alone". */
HEED_API void heed_record_cut_text(const heed_record_cut *cut, heed_text *out);
/* Bytes of all its arrays. */
HEED_API double heed_record_bytes(const heed_record *r);

/* ---- files ---- */

/* One JSON object. Without arrays: all but the numbers, as the NPZ file holds it. Layers, heads and
 * positions count from 1, as on the screen; null: of the whole model or input. */
HEED_API bool heed_record_json(const heed_record *r, bool arrays, heed_text *out);
/* path,stack,layer,head,query_position,key_position,query_token,key_token,weight: a line a weight,
 * then the maps. Layers, heads and positions count from 1. Tokens are quoted, their control
 * characters written as \x1B. */
HEED_API bool heed_record_csv(heed_ctx *c, const heed_record *r, const char *path);
/* NumPy's archive: PATH.weights (heads,Q,K), PATH.raw, .scores, .q, .k, .v, maps.N (Q,K), picture
 * (H,W,C) of bytes, and record: the JSON object without arrays, in bytes. */
HEED_API bool heed_record_npz(heed_ctx *c, const heed_record *r, const char *path);
/* Reads such a JSON or NPZ file back, or weights of any origin: an NPZ, NPY or JSON file with
 * arrays of (queries, keys), (heads, queries, keys) or (layers, heads, queries, keys), whose layers
 * are numbered in the file's order; a name with "cross" or "dec" in it says whose attention it is.
 * Labels are the texts under `tokens`, or `queries` and `keys`, or `source` and `target`; another
 * count than the weights have is an error that names both. Values outside [0, 1] and rows that do
 * not sum to 1 are kept as they are, and reported in the note. NULL: see c. */
HEED_API heed_record *heed_record_read(heed_ctx *c, const char *path);

#ifdef __cplusplus
}
#endif
#endif
