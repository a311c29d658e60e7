/* heed/record.h -- what a model attended to on one input: the data behind every view of attention.
 *
 * A record holds axes (tokens or patches), blocks (an attention layer each, over two axes), maps
 * (anything else of queries x keys: rollout, occlusion, influence) and what the model answered. The
 * program fills one from a run and an input, from a file of somebody's weights or by hand; heat
 * maps, pictures, files and the page read nothing else. Labels are literal text in UTF-8; how a
 * newline or a space is shown is the view's business.
 */
#ifndef HEED_RECORD_H
#define HEED_RECORD_H

#include <heed/io.h>

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

typedef enum { HEED_ENCODER, HEED_DECODER, HEED_CROSS } heed_stack; /* whose attention it is */

/* One layer's attention. Arrays lie head by head, row-major; NULL: not kept. In a subset layer and
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
    const heed_real *weights;   /* (heads,Q,K) */
    const heed_real *raw;       /* (heads,Q,K) q k', before scaling, bias and mask */
    const heed_real *scores;    /* (heads,Q,K) after them; -INFINITY where masked */
    const heed_real *q, *k, *v; /* (heads,Q,e) (heads,K,e) (heads,K,d2) */
} heed_record_block;

/* Something else over queries x keys, for comparison: "rollout", "occlusion", "gradient". */
typedef struct {
    const char *name, *help; /* help: a line that says what it is and what its sign means */
    int layer, head;         /* from 0; -1: of the whole model */
    heed_stack stack;
    int queries, keys;
    const heed_real *values; /* (Q,K); may be negative, NAN: unknown */
} heed_record_map;

/* What the model said at a query: its best guesses. */
typedef struct {
    int axis, query;  /* "row t predicts ..." */
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
    const unsigned char *pixels; /* (H,W,C) of the picture that the grid lies on; NULL: none */
    int width, height, channels;
} heed_record;

#ifdef __cplusplus
}
#endif
#endif
