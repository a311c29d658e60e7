/* onnx.h -- shared by the files of this folder: a model, recorded at two sizes of its inputs, as a
 * graph whose sizes are symbolic. A dim that differs between the two recordings depends on sizes of
 * the inputs; all others are constant. */
#ifndef HEED_ONNX_H
#define HEED_ONNX_H

#include "exchange/onnx/graph.h"

#include <heed/exchange.h>

/* An input of the model in both recordings. */
typedef struct {
    const char *name;           /* "ids" */
    const char *dim[HEED_DIMS]; /* the names of its sizes that vary; NULL: the size is constant */
    heed_tensor *x[2];
    bool used;
} heed__onnx_input;

/* A size that varies: that of dim `axis` of an input. */
typedef struct {
    const char *name; /* "batch" */
    int size[2], input, axis;
} heed__onnx_symbol;

/* A node in both recordings. */
typedef struct {
    heed_node *in[2]; /* of the recordings */
    onnx value;
    int readers;  /* inputs of nodes that are its output */
    bool skipped; /* part of the node that reads it */
} heed__onnx_step;

/* The steps of a decoder that were recorded one after the other, if there are any. */
enum { HEED__ONNX_STATES = 8 };
typedef struct {
    int period;           /* nodes of a step; 0: there are none */
    int begin;            /* index of the first node of the second step, which is the body */
    int steps[2];         /* how many, in both recordings */
    heed_node **first[2]; /* (period): nodes of the first step; NULL where no output needs one */
    struct {
        const heed_tensor *of; /* of the first step, read by the second */
        onnx value;            /* in the body */
    } state[HEED__ONNX_STATES];
    int states;
} heed__onnx_loop;

enum { HEED__ONNX_INPUTS = 4, HEED__ONNX_SYMBOLS = 3 };
typedef struct {
    const heed_run *r;
    heed_ctx *c;
    bool cache;
    int cached;  /* recurrent layers whose state the cache has, so far */
    int longest; /* the most tokens; 0: no limit is known */
    heed_tape *tape[2];
    const heed_tensor *logits[2];
    heed__onnx_input input[HEED__ONNX_INPUTS];
    int inputs;
    heed__onnx_symbol symbol[HEED__ONNX_SYMBOLS];
    int symbols;
    heed__onnx_step *step;
    int steps;
    heed__onnx_loop loop;
    heed__onnx_graph graph;    /* the model's */
    heed__onnx_graph *g;       /* where nodes are added: that, or the body of a loop */
    const heed_tensor **param; /* those that are read */
    size_t params, param_capacity;
} heed__onnx_export;

/* ---- record.c ---- */

/* Records the model at both sizes and pairs the nodes that its outputs depend on. */
bool heed__onnx_record(heed__onnx_export *e);
void heed__onnx_record_free(heed__onnx_export *e);
/* The step that computed y of the first recording; NULL: a leaf. */
heed__onnx_step *heed__onnx_step_of(const heed__onnx_export *e, const heed_tensor *y);

/* ---- loop.c ---- */

/* Finds the steps of a decoder, and removes all but the second from e->step; counts: the nodes in
 * each recording. False if there are none. */
bool heed__onnx_fold(heed__onnx_export *e, int counts[2]);
bool heed__onnx_in_body(const heed__onnx_export *e, const heed__onnx_step *s);
/* The value of x, computed by the step before; NULL: it is no state. */
onnx heed__onnx_state(const heed__onnx_export *e, const heed_tensor *x);
/* Whether the node gathers a value from all steps. */
bool heed__onnx_gathers(const heed__onnx_export *e, const heed_node *a, const heed_node *b);
void heed__onnx_loop_free(heed__onnx_export *e);

/* ---- nodes ---- */

/* heed__onnx_node of e->g without formatted attributes, and of at most three inputs: ONNX(e, "Add",
 * a, b). */
onnx heed__onnx_op(heed__onnx_export *e, const char *text, onnx a, onnx b, onnx c);
#define ONNX_OF(e, text, a, b, c, ...) heed__onnx_op(e, text, a, b, c)
#define ONNX(...)                      ONNX_OF(__VA_ARGS__, NULL, NULL, NULL)
/* A constant (1). */
onnx heed__onnx_one(heed__onnx_export *e, int x);

/* ---- sizes.c: a size is a in the first recording and b in the second ---- */

/* As a value (1). NULL, with an error: it is no product of a constant and sizes of the inputs. */
onnx heed__onnx_size(heed__onnx_export *e, int a, int b);
/* Its name for readers of the file: "batch"; NULL: it is constant, or a product. */
const char *heed__onnx_size_name(const heed__onnx_export *e, int a, int b);
/* The shape of x as a value (dims). */
onnx heed__onnx_shape(heed__onnx_export *e, const heed_tensor *const x[2]);
onnx heed__onnx_reshape(heed__onnx_export *e, onnx x, const heed_tensor *const from[2],
                        const heed_tensor *const to[2]);
/* The number of tokens before those of the input, as (1): 0 without a cache. */
onnx heed__onnx_past(heed__onnx_export *e);
/* The rows of a table for the positions of as many tokens. */
onnx heed__onnx_positions(heed__onnx_export *e, onnx table, int a, int b);

/* ---- leaves.c: what nodes read ---- */

/* The value of input k of a step; "" if it is absent. NULL: see the error. */
onnx heed__onnx_in(heed__onnx_export *e, const heed__onnx_step *s, int k);
/* The value of x. */
onnx heed__onnx_value(heed__onnx_export *e, const heed_tensor *const x[2]);
/* The input of that name; NULL: there is none. */
heed__onnx_input *heed__onnx_input_named(heed__onnx_export *e, const char *name);
/* Rows that a masked auto-encoder gathers, by its hidden patches; NULL: x is something else. */
onnx heed__onnx_patches(heed__onnx_export *e, const heed_tensor *const x[2]);
/* (Tq,Tk), (B,1,1,Tk) or (B,1,Tq,Tk): true where a query sees a key. causal: Tq and Tk, or NULL.
 * mask (B,Tk), or NULL. */
onnx heed__onnx_visible(heed__onnx_export *e, const onnx *causal, onnx mask);

/* ---- forms of ops ---- */

typedef onnx heed__onnx_form(heed__onnx_export *e, const heed__onnx_step *s);
typedef struct {
    const char *op;
    heed__onnx_form *form;
} heed__onnx_row;
/* Ended by {0}. */
extern const heed__onnx_row heed__onnx_plain[], heed__onnx_layers[], heed__onnx_attention[],
    heed__onnx_recurrent[];

/* Refuses the export because of node n: "WHAT at NAME has no ONNX form". Returns NULL. */
onnx heed__onnx_refuse(heed__onnx_export *e, const char *what, const heed_node *n);
onnx heed__onnx_activate(heed__onnx_export *e, onnx x, heed_act act);
/* The name of the attention weights of node n; NULL: an earlier node has it. */
onnx heed__onnx_weights(heed__onnx_export *e, const heed_node *n);
/* w' of a weight (out,in) */
onnx heed__onnx_transposed(heed__onnx_export *e, onnx w);
/* Softmax, LogSoftmax or Hardmax over the visible entries, 0 at the others. visible NULL: all.
 * empty: a row may have none. result: the name of the output, or NULL. */
onnx heed__onnx_softmax(heed__onnx_export *e, onnx scores, onnx visible, bool empty, const char *op,
                        const char *result);

/* ---- file.c ---- */

/* Adds an input (field 11) or output (12) of a graph: names of its sizes that vary, and its shape
 * where there is none. dims -1: of any shape. */
void heed__onnx_declare(heed_text *out, int field, onnx name, bool reals, int dims,
                        const int *shape, const char *const *names);
/* Writes the graph, its parameters and properties of the run. */
bool heed__onnx_write(heed__onnx_export *e, const char *path);

#endif
