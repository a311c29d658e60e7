/* graph.h -- ONNX graphs under construction: nodes, constants, names of values. */
#ifndef HEED_ONNX_GRAPH_H
#define HEED_ONNX_GRAPH_H

#include "core/core.h"

#include <heed/text.h>

enum { HEED__ONNX_OPSET = 17, HEED__ONNX_IR = 8 };

/* The name of a value; "": an input that is left out; NULL: after an error. The graph of the model
 * owns it. */
typedef const char *onnx;

/* A value that is computed once, and what it is. */
typedef struct {
    const char *key;
    onnx value;
} heed__onnx_known;

/* The graph of a model, or the body of a loop, which also sees the values of the graph outside it.
 */
typedef struct heed__onnx_graph {
    struct heed__onnx_graph *outer; /* NULL: the graph of the model */
    heed_text nodes, inputs, outputs;
    const char *scope;  /* the layer of the next nodes: "encoder.0.attn"; "": none */
    const char *result; /* the name of the next node's output; NULL: one is made */
    heed__onnx_known *known;
    size_t known_count, known_capacity;
    /* of the graph of the model only: */
    heed_text constants;
    char **names;
    size_t name_count, name_capacity;
    int count; /* nodes so far, in the bodies too */
} heed__onnx_graph;

void heed__onnx_graph_free(heed__onnx_graph *g);
/* A formatted name that the graph of the model owns. */
const char *heed__onnx_name(heed__onnx_graph *g, const char *format, ...) HEED_PRINTF(2, 3);

/* ---- nodes ---- */

/* A list of inputs. */
#define IN(...)                                                                                    \
    (const onnx[]) { __VA_ARGS__, NULL }
/* Appends a node, written as its operator and attributes: "Softmax axis=-1". Values are integers
 * (3), reals ("0.5f"), words (reverse) or lists ([0,2,1], [Tanh,Tanh]). Returns its first output.
 */
onnx heed__onnx_node(heed__onnx_graph *g, const onnx *in, const char *format, ...)
    HEED_PRINTF(3, 4);
/* The same with several outputs, and the body of a Scan or NULL. */
void heed__onnx_nodes(heed__onnx_graph *g, const onnx *in, int outputs, onnx *out,
                      const heed__onnx_graph *body, const char *text);

/* ---- constants, which are written once ---- */

onnx heed__onnx_ints(heed__onnx_graph *g, int count, const int64_t *x); /* (count) */
#define INTS(g, ...)                                                                               \
    heed__onnx_ints(g, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                  \
                    (int64_t[]){__VA_ARGS__})
onnx heed__onnx_int(heed__onnx_graph *g, int64_t x);                          /* a scalar */
onnx heed__onnx_real(heed__onnx_graph *g, double x);                          /* a scalar */
onnx heed__onnx_tensor(heed__onnx_graph *g, onnx name, const heed_tensor *x); /* any */

/* The value that this graph, or one outside it, has under a key; NULL: none. */
onnx heed__onnx_find(const heed__onnx_graph *g, const char *key);
/* Keeps it, and returns it. */
onnx heed__onnx_keep(heed__onnx_graph *g, const char *key, onnx value);

/* ---- protocol buffers: encoding of fields ---- */

void heed__proto_int(heed_text *out, int field, int64_t x);
void heed__proto_bytes(heed_text *out, int field, const void *bytes, size_t n);
void heed__proto_text(heed_text *out, int field, const char *text);
/* The beginning of a field of n bytes that follow. */
void heed__proto_begin(heed_text *out, int field, size_t n);
void heed__onnx_append(heed_text *out, const heed_text *more);
/* The fields of a tensor before its values: dims, type, name. */
void heed__proto_tensor(heed_text *out, onnx name, bool reals, int dims, const int *shape);
enum { HEED__ONNX_FLOAT = 1, HEED__ONNX_INT64 = 7 };

#endif
