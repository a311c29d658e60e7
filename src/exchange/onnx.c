/* onnx.c -- a run as an ONNX file. The model is recorded at two sizes of its inputs; a dim that
 * differs between the two recordings depends on sizes of the inputs, all others are constant. Each
 * node becomes those of a graph whose sizes are symbolic, by the form of its op. Source: the
 * operator schemas of opset 17. */
#include "core/core.h"
#include "core/os.h"
#include "ops/args.h"

#include <heed/exchange.h>

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- graphs under construction ---- */

enum { OPSET = 17, IR_VERSION = 8, ONNX_FLOAT = 1, ONNX_INT64 = 7 };

/* The name of a value; "": an input that is left out; NULL: after an error. The graph of the model
 * owns it. */
typedef const char *onnx;

/* A value that is computed once, and what it is. */
typedef struct {
    const char *key;
    onnx value;
} known_value;

/* The graph of a model, or the body of a loop, which also sees the values of the graph outside it.
 */
typedef struct onnx_graph {
    struct onnx_graph *outer; /* NULL: the graph of the model */
    heed_text nodes, inputs, outputs;
    const char *scope;  /* the layer of the next nodes: "encoder.0.attn"; "": none */
    const char *result; /* the name of the next node's output; NULL: one is made */
    known_value *known;
    size_t known_count, known_capacity;
    /* of the graph of the model only: */
    heed_text constants;
    char **names;
    size_t name_count, name_capacity;
    int count; /* nodes so far, in the bodies too */
} onnx_graph;

/* A list of inputs. */
#define IN(...)                                                                                    \
    (const onnx[]) { __VA_ARGS__, NULL }

/* ---- protocol buffers ---- */

static void varint(heed_text *out, uint64_t x) {
    char bytes[10];
    size_t n = 0;
    for (; x > 127; x >>= 7) bytes[n++] = (char)(x | 128);
    bytes[n++] = (char)x;
    heed_text_put(out, bytes, n);
}

enum { VARINT = 0, BYTES = 2, FIXED32 = 5 };
static void tag(heed_text *out, int field, unsigned kind) {
    varint(out, (uint64_t)field << 3 | kind);
}

static void proto_int(heed_text *out, int field, int64_t x) {
    tag(out, field, VARINT);
    varint(out, (uint64_t)x);
}

static void proto_real(heed_text *out, int field, float x) {
    tag(out, field, FIXED32);
    heed_text_put(out, (const char *)&x, sizeof x);
}

static void proto_begin(heed_text *out, int field, size_t n) {
    tag(out, field, BYTES);
    varint(out, n);
}

static void proto_bytes(heed_text *out, int field, const void *bytes, size_t n) {
    proto_begin(out, field, n);
    if (n) heed_text_put(out, bytes, n);
}

static void proto_text(heed_text *out, int field, const char *text) {
    proto_bytes(out, field, text, strlen(text));
}

/* ---- names ---- */

static onnx_graph *top_of(onnx_graph *g) {
    while (g->outer) g = g->outer;
    return g;
}

static void graph_free(onnx_graph *g) {
    for (size_t i = 0; i < g->name_count; i++) heed__free(g->names[i]);
    heed__free(g->names);
    heed__free(g->known);
    heed_text_free(&g->nodes);
    heed_text_free(&g->inputs);
    heed_text_free(&g->outputs);
    heed_text_free(&g->constants);
}

static const char *make_name(onnx_graph *g, const char *format, ...) {
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    g = top_of(g);
    size_t n = strlen(text) + 1;
    heed_ctx *c = g->nodes.c;
    if (!heed__grow(c, &g->names, &g->name_capacity, g->name_count + 1, sizeof *g->names))
        return NULL;
    char *own = heed__alloc(c, n);
    if (!own) return NULL;
    return g->names[g->name_count++] = memcpy(own, text, n);
}

static onnx find_known(const onnx_graph *g, const char *key) {
    for (; g && key; g = g->outer)
        for (size_t i = 0; i < g->known_count; i++)
            if (strcmp(g->known[i].key, key) == 0) return g->known[i].value;
    return NULL;
}

static onnx keep_known(onnx_graph *g, const char *key, onnx value) {
    const char *own = value ? make_name(g, "%s", key) : NULL;
    size_t count = g->known_count + 1;
    if (!own || !heed__grow(g->nodes.c, &g->known, &g->known_capacity, count, sizeof *g->known))
        return NULL;
    g->known[g->known_count++] = (known_value){own, value};
    return value;
}

/* ---- attributes ---- */

enum { FLOAT = 1, INT, STRING, GRAPH = 5, INTS_ = 7, STRINGS };

/* One value of n bytes; lists differ by `more` in the type and by their field. Returns the type. */
static int put_value(heed_text *out, const char *s, size_t n, bool list) {
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)n, s);
    bool word = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');
    if (word) {
        proto_text(out, list ? 9 : 4, text);
        return list ? STRINGS : STRING;
    }
    if (s[n - 1] == 'f') {
        proto_real(out, 2, (float)strtod(text, NULL));
        return FLOAT;
    }
    proto_int(out, list ? 8 : 3, strtoll(text, NULL, 10));
    return list ? INTS_ : INT;
}

/* "axis=-1" or "perm=[0,2,1]" */
static void put_attribute(heed_text *node, const char *s, size_t n) {
    heed_text a = {.c = node->c};
    size_t name = strcspn(s, "=");
    const char *value = s + name + 1, *end = s + n;
    bool list = *value == '[';
    int type = INTS_;
    proto_bytes(&a, 1, s, name);
    if (list) value++, end--;
    while (value < end) {
        size_t one = strcspn(value, ",] ");
        type = put_value(&a, value, one, list);
        value += one + 1;
    }
    proto_int(&a, 20, type);
    proto_bytes(node, 5, a.s, a.n);
    heed_text_free(&a);
}

static void append(heed_text *out, const heed_text *more) {
    if (more->n) heed_text_put(out, more->s, more->n);
}

static void put_body(heed_text *node, const onnx_graph *body) {
    heed_text a = {.c = node->c}, graph = {.c = node->c};
    append(&graph, &body->nodes);
    proto_text(&graph, 2, "step");
    append(&graph, &body->inputs);
    append(&graph, &body->outputs);
    proto_text(&a, 1, "body");
    proto_bytes(&a, 6, graph.s, graph.n);
    proto_int(&a, 20, GRAPH);
    proto_bytes(node, 5, a.s, a.n);
    heed_text_free(&graph);
    heed_text_free(&a);
}

/* ---- nodes ---- */

static void add_nodes(onnx_graph *g, const onnx *in, int outputs, onnx *out, const onnx_graph *body,
                      const char *text) {
    heed_text node = {.c = g->nodes.c};
    int type = (int)strcspn(text, " ");
    const char *scope = g->scope ? g->scope : "";
    const char *name =
        make_name(g, "%s%s%.*s.%d", scope, *scope ? "/" : "", type, text, top_of(g)->count++);
    for (; *in; in++) proto_text(&node, 1, *in);
    for (int i = 0; i < outputs; i++) {
        out[i] = i ? make_name(g, "%s:%d", name, i) : g->result ? g->result : name;
        if (out[i]) proto_text(&node, 2, out[i]);
    }
    g->result = NULL;
    if (name) proto_text(&node, 3, name);
    proto_bytes(&node, 4, text, (size_t)type);
    for (const char *s = text + type; *s;) {
        size_t n = strcspn(++s, " ");
        put_attribute(&node, s, n);
        s += n;
    }
    if (body) put_body(&node, body);
    proto_bytes(&g->nodes, 1, node.s, node.n);
    heed_text_free(&node);
}

static onnx add_node(onnx_graph *g, const onnx *in, const char *format, ...) {
    char text[256];
    onnx out;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    add_nodes(g, in, 1, &out, NULL, text);
    return out;
}

/* ---- constants ---- */

static void proto_tensor(heed_text *out, onnx name, bool reals, int dims, const int *shape) {
    for (int i = 0; i < dims; i++) proto_int(out, 1, shape[i]);
    proto_int(out, 2, reals ? ONNX_FLOAT : ONNX_INT64);
    proto_text(out, 8, name);
}

/* raw_data: little-endian. */
static onnx put_constant(onnx_graph *g, onnx name, bool reals, int dims, const int *shape,
                         const void *values, size_t bytes) {
    onnx_graph *top = top_of(g);
    heed_text t = {.c = top->nodes.c};
    if (!name) return NULL;
    proto_tensor(&t, name, reals, dims, shape);
    proto_bytes(&t, 9, values, bytes);
    proto_bytes(&top->constants, 5, t.s, t.n);
    heed_text_free(&t);
    return keep_known(top, name, name);
}

static onnx put_ints(onnx_graph *g, int dims, int count, const int64_t *x) {
    char key[200] = "int";
    for (int i = 0; i < count; i++) {
        size_t n = strlen(key);
        snprintf(key + n, sizeof key - n, "%s%lld", i ? "," : dims ? "s:" : ":", (long long)x[i]);
    }
    onnx known = find_known(g, key);
    if (known) return known;
    return put_constant(g, make_name(g, "%s", key), false, dims, &count, x,
                        (size_t)count * sizeof *x);
}

static onnx const_ints(onnx_graph *g, int count, const int64_t *x) {
    return put_ints(g, 1, count, x);
}

static onnx const_int(onnx_graph *g, int64_t x) { return put_ints(g, 0, 1, &x); }

static onnx const_real(onnx_graph *g, double x) {
    char key[40];
    float value = (float)x;
    snprintf(key, sizeof key, "real:%.9g", (double)value);
    onnx known = find_known(g, key);
    if (known) return known;
    return put_constant(g, make_name(g, "%s", key), true, 0, NULL, &value, sizeof value);
}

static onnx const_tensor(onnx_graph *g, onnx name, const heed_tensor *x) {
    size_t bytes = x->size * (x->x ? sizeof(float) : sizeof(int64_t));
    float *reals = name ? heed__alloc(g->nodes.c, bytes + 1) : NULL;
    int64_t *ints = (int64_t *)(void *)reals;
    if (!reals) return NULL;
    for (size_t i = 0; i < x->size; i++) {
        if (x->x)
            reals[i] = (float)x->x[i];
        else
            ints[i] = x->i[i];
    }
    onnx made = put_constant(g, name, x->x != NULL, x->dims, x->shape, reals, bytes);
    heed__free(reals);
    return made;
}

#define INTS(g, ...)                                                                               \
    const_ints(g, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                       \
               (int64_t[]){__VA_ARGS__})

static void declare(heed_text *out, int field, onnx name, bool reals, int dims, const int *shape,
                    const char *const *names) {
    heed_text size = {.c = out->c}, sizes = {.c = out->c}, array = {.c = out->c};
    heed_text type = {.c = out->c}, value = {.c = out->c};
    for (int d = 0; d < dims; d++) {
        size.n = 0;
        if (names[d])
            proto_text(&size, 2, names[d]);
        else
            proto_int(&size, 1, shape[d]);
        proto_bytes(&sizes, 1, size.s, size.n);
    }
    proto_int(&array, 1, reals ? ONNX_FLOAT : ONNX_INT64);
    if (dims >= 0) proto_bytes(&array, 2, sizes.s, sizes.n);
    proto_bytes(&type, 1, array.s, array.n);
    if (name) proto_text(&value, 1, name);
    proto_bytes(&value, 2, type.s, type.n);
    proto_bytes(out, field, value.s, value.n);
    heed_text *all[] = {&size, &sizes, &array, &type, &value};
    for (int i = 0; i < 5; i++) heed_text_free(all[i]);
}

/* ---- recordings ---- */

/* An input of the model in both recordings. */
typedef struct {
    const char *name;           /* "ids" */
    const char *dim[HEED_DIMS]; /* the names of its sizes that vary; NULL: the size is constant */
    heed_tensor *x[2];
    bool used;
} graph_input;

/* A size that varies: that of dim `axis` of an input. */
typedef struct {
    const char *name; /* "batch" */
    int size[2], input, axis;
} size_symbol;

/* A node in both recordings. */
typedef struct {
    heed_node *in[2]; /* of the recordings */
    onnx value;
    int readers;     /* inputs of nodes that are its output */
    bool skipped;    /* part of the node that reads it */
    const char *how; /* see forms */
} paired;
typedef const paired *step;

/* The steps of a decoder that were recorded one after the other, if there are any. */
enum { MOST_STATES = 8 };
typedef struct {
    int period;           /* nodes of a step; 0: there are none */
    int begin;            /* index of the first node of the second step, which is the body */
    int steps[2];         /* how many, in both recordings */
    heed_node **first[2]; /* (period): nodes of the first step; NULL where no output needs one */
    struct {
        const heed_tensor *of; /* of the first step, read by the second */
        onnx value;            /* in the body */
    } state[MOST_STATES];
    int states;
} step_loop;

enum { MOST_INPUTS = 4, MOST_SYMBOLS = 3 };
typedef struct {
    const heed_run *r;
    heed_ctx *c;
    bool cache;
    int cached;  /* recurrent layers whose state the cache has, so far */
    int longest; /* the most tokens; 0: no limit is known */
    heed_tape *tape[2];
    const heed_tensor *logits[2];
    graph_input input[MOST_INPUTS];
    int inputs;
    size_symbol symbol[MOST_SYMBOLS];
    int symbols;
    paired *step;
    int steps;
    step_loop loop;
    onnx_graph graph;          /* the model's */
    onnx_graph *g;             /* where nodes are added: that, or the body of a loop */
    const heed_tensor **param; /* those that are read */
    size_t params, param_capacity;
} exporter;

enum { SCAN_VALUES = 16 };
typedef struct {
    onnx_graph body;
    onnx in[SCAN_VALUES + 1];
    int ins, states, outs;
} scan_node;

static paired *step_of(const exporter *e, const heed_tensor *y) {
    int low = 0, high = e->steps - 1;
    while (y && y->node && low <= high) {
        int middle = (low + high) / 2, index = e->step[middle].in[0]->index;
        if (index == y->node->index) return &e->step[middle];
        if (index < y->node->index)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return NULL;
}

static onnx state_of(const exporter *e, const heed_tensor *x) {
    for (int i = 0; i < e->loop.states; i++)
        if (e->loop.state[i].of == x) return e->loop.state[i].value;
    return NULL;
}

/* ---- nodes ---- */

/* A node of e->g without formatted attributes, and of at most three inputs: ONNX(e, "Add", a, b).
 */
static onnx add_op(exporter *e, const char *text, onnx a, onnx b, onnx c) {
    onnx out;
    add_nodes(e->g, IN(a, b, c), 1, &out, NULL, text);
    return out;
}

#define ONNX_OF(e, text, a, b, c, ...) add_op(e, text, a, b, c)
#define ONNX(...)                      ONNX_OF(__VA_ARGS__, NULL, NULL, NULL)

/* A constant (1). */
static onnx one_int(exporter *e, int x) { return INTS(e->g, x); }

static onnx refuse_node(exporter *e, const char *what, const heed_node *n) {
    heed_fail(e->c, HEED_USAGE, "%s cannot be exported to ONNX: %s at %s has no form there",
              e->r->model->name, what, n->name);
    return NULL;
}

static onnx weights_name(exporter *e, const heed_node *n) {
    onnx name = make_name(&e->graph, "%s.weights", n->name);
    return find_known(&e->graph, name) ? NULL : keep_known(&e->graph, name, name);
}

/* ---- sizes: one is a in the first recording and b in the second ---- */

/* The symbols of which a constant times their product is a and b in the recordings. */
typedef struct {
    const size_symbol *of[2]; /* the second NULL: one symbol */
    int times;
} product;

static bool is_product(product *p, int a, int b) {
    int x = p->of[0]->size[0], y = p->of[0]->size[1];
    if (p->of[1]) x *= p->of[1]->size[0], y *= p->of[1]->size[1];
    p->times = a / x;
    return p->times > 0 && p->times * x == a && p->times * y == b;
}

static bool find_product(const exporter *e, int a, int b, product *p) {
    for (int i = 0; i < e->symbols; i++) {
        *p = (product){.of = {&e->symbol[i]}};
        if (is_product(p, a, b)) return true;
    }
    for (int i = 0; i < e->symbols; i++)
        for (int k = 0; k < i; k++) {
            *p = (product){.of = {&e->symbol[k], &e->symbol[i]}};
            if (is_product(p, a, b)) return true;
        }
    return false;
}

static const char *size_name(const exporter *e, int a, int b) {
    product p;
    bool plain = a != b && find_product(e, a, b, &p) && !p.of[1] && p.times == 1;
    return plain ? p.of[0]->name : NULL;
}

/* (1), computed once in the model's graph. */
static onnx symbol_size(exporter *e, const size_symbol *s) {
    char key[64];
    snprintf(key, sizeof key, "size %s", s->name);
    onnx known = find_known(&e->graph, key);
    if (known) return known;
    graph_input *in = &e->input[s->input];
    in->used = true;
    e->graph.result = make_name(&e->graph, "%s", s->name);
    onnx y = add_node(&e->graph, IN(in->name), "Shape start=%d end=%d", s->axis, s->axis + 1);
    return keep_known(&e->graph, key, y);
}

static onnx size_value(exporter *e, int a, int b) {
    product p;
    if (a == b) return INTS(&e->graph, a);
    if (!find_product(e, a, b, &p)) {
        heed_fail(e->c, HEED_USAGE,
                  "%s cannot be exported: a size is %d, %d for two batches: expected a constant, "
                  "or a product of sizes of the input",
                  e->r->model->name, a, b);
        return NULL;
    }
    onnx y = symbol_size(e, p.of[0]);
    if (p.of[1]) y = ONNX(e, "Mul", y, symbol_size(e, p.of[1]));
    if (p.times > 1) y = ONNX(e, "Mul", y, one_int(e, p.times));
    return y;
}

static onnx shape_value(exporter *e, const heed_tensor *const x[2]) {
    onnx size[HEED_DIMS + 1] = {NULL};
    int64_t constant[HEED_DIMS];
    bool fixed = true;
    for (int d = 0; d < x[0]->dims; d++) {
        fixed = fixed && x[0]->shape[d] == x[1]->shape[d];
        constant[d] = x[0]->shape[d];
    }
    if (fixed) return const_ints(e->g, x[0]->dims, constant);
    for (int d = 0; d < x[0]->dims; d++)
        if (!(size[d] = size_value(e, x[0]->shape[d], x[1]->shape[d]))) return NULL;
    return add_node(e->g, size, "Concat axis=0");
}

/* The shape for a Reshape of `from`: 0 copies a size, one -1 follows from the others. */
static onnx reshape_to(exporter *e, onnx x, const heed_tensor *const from[2],
                       const heed_tensor *const to[2]) {
    int64_t shape[HEED_DIMS];
    int open = 0;
    for (int d = 0; d < to[0]->dims; d++) {
        int a = to[0]->shape[d], b = to[1]->shape[d];
        bool same = d < from[0]->dims && from[0]->shape[d] == a && from[1]->shape[d] == b;
        shape[d] = a == b ? a : same ? 0 : -1;
        open += shape[d] < 0;
    }
    onnx s = open > 1 ? shape_value(e, to) : const_ints(e->g, to[0]->dims, shape);
    return ONNX(e, "Reshape", x, s);
}

/* The tokens that the cache of the first attention layer holds: (1). */
static onnx past_tokens(exporter *e) {
    onnx known = find_known(&e->graph, "size past");
    if (!e->cache) return one_int(e, 0);
    for (int i = 0; i < e->steps && !known; i++) {
        const heed_node *n = e->step[i].in[0];
        if (strcmp(n->op->name, "self_attention") != 0) continue;
        onnx keys = make_name(&e->graph, "%s.k.past", n->name);
        known = add_node(&e->graph, IN(keys), "Shape start=2 end=3");
        keep_known(&e->graph, "size past", known);
    }
    return known;
}

/* Its rows [past, past + tokens). */
static onnx position_rows(exporter *e, onnx table, int a, int b) {
    onnx from = past_tokens(e), count = size_value(e, a, b);
    onnx to = e->cache && count ? ONNX(e, "Add", from, count) : count;
    return to ? ONNX(e, "Slice", table, from, to) : NULL;
}

static graph_input *input_named(exporter *e, const char *name) {
    for (int i = 0; i < e->inputs; i++)
        if (strcmp(e->input[i].name, name) == 0) return &e->input[i];
    return NULL;
}

/* ---- what nodes read that no node computed: parameters, inputs, constants, and arrays that a
 * model fills by the sizes and the padding of its input; these are recognised by their values in
 * both recordings ---- */

typedef const heed_tensor *const both[2];
static onnx leaf(exporter *e, both x);

/* ---- constants ---- */

static bool same_shape(both x) { return heed__same_shape(x[0], x[1]); }

static bool same_values(both x) {
    size_t n = x[0]->size;
    return same_shape(x) && (x[0]->x ? memcmp(x[0]->x, x[1]->x, n * sizeof *x[0]->x) == 0
                                     : memcmp(x[0]->i, x[1]->i, n * sizeof *x[0]->i) == 0);
}

static onnx constant(exporter *e, both x) {
    if (!same_values(x)) return NULL;
    onnx name = make_name(&e->graph, "constant.%d", e->graph.count++);
    return const_tensor(&e->graph, name, x[0]);
}

static double number(const heed_tensor *x, size_t i) {
    return x->x ? (double)x->x[i] : (double)x->i[i];
}

/* One value, in a shape that depends on the input. */
static onnx filled(exporter *e, both x) {
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < x[k]->size; i++)
            if (number(x[k], i) != number(x[0], 0)) return NULL;
    if (!x[0]->size || !x[1]->size) return NULL;
    onnx one = x[0]->x ? const_real(e->g, number(x[0], 0)) : const_int(e->g, x[0]->i[0]);
    return ONNX(e, "Expand", one, shape_value(e, x));
}

/* The first rows of the sinusoids of Vaswani et al. 2017. */
static onnx sinusoids(exporter *e, both x) {
    int width = x[0]->shape[1], rows = e->longest;
    if (x[0]->dims != 2 || !x[0]->x || width != x[1]->shape[1] || x[0]->shape[0] > rows ||
        x[1]->shape[0] > rows)
        return NULL;
    heed_tape *t = heed_tape_new(e->c);
    heed_position p = {.kind = HEED_SINUSOIDAL, .len = rows, .width = width};
    heed_tape_begin(t, HEED_EVAL, 0);
    const heed_tensor *table =
        heed_position_apply(&p, t, heed_input(t, NULL, 2, (int[]){rows, width}), 0);
    onnx y = NULL;
    if (table && memcmp(table->x, x[0]->x, x[0]->size * sizeof *table->x) == 0 &&
        memcmp(table->x, x[1]->x, x[1]->size * sizeof *table->x) == 0) {
        onnx name = make_name(e->g, "sinusoids.%d", width);
        if (!find_known(e->g, name)) const_tensor(e->g, name, table);
        y = position_rows(e, name, x[0]->shape[0], x[1]->shape[0]);
    }
    heed_tape_free(t);
    return y;
}

/* ---- made of the padding: a number for each token, (B,S), (B,S,1) or (B,n,S) ---- */

enum { PRESENT, MEAN, LAST, ENDS, FORMS };

static double form_of(int form, const int32_t *row, int len, int at) {
    int last = 0, count = 0;
    for (int i = 0; i < len; i++)
        if (row[i]) last = i, count++;
    if (form == PRESENT) return row[at] != 0;
    if (form == MEAN) return row[at] ? 1 / (double)(heed_real)count : 0;
    return form == LAST ? at == last : 0.5 * (at == last) + 0.5 * (at == 0);
}

static bool has_form(int form, const heed_tensor *x, const heed_tensor *mask) {
    size_t len = (size_t)mask->shape[1], each = x->size / (size_t)mask->shape[0];
    if (x->shape[0] != mask->shape[0] || !len || each % len) return false;
    for (size_t i = 0; i < x->size; i++) {
        const int32_t *row = mask->i + i / each * len;
        double is = form_of(form, row, (int)len, (int)(i % len));
        if ((heed_real)is != (heed_real)number(x, i)) return false;
    }
    return true;
}

/* from .. to - 1, both (1) */
static onnx range_of(exporter *e, onnx from, onnx to) {
    from = ONNX(e, "Squeeze", from);
    to = ONNX(e, "Squeeze", to);
    return ONNX(e, "Range", from, to, const_int(e->g, 1));
}

/* (B,S): 1 at the last token that is not padding. */
static onnx last_token(exporter *e, onnx seen, onnx range) {
    onnx at = ONNX(e, "Cast to=1", seen);
    onnx place = ONNX(e, "Cast to=1", range);
    at = ONNX(e, "Mul", at, place);
    at = ONNX(e, "ArgMax axis=1", at);
    return ONNX(e, "Equal", at, range);
}

static onnx of_tokens(exporter *e, int form, both mask) {
    onnx seen = ONNX(e, "Cast to=9", leaf(e, mask));
    onnx y = ONNX(e, "Cast to=1", seen);
    if (form == PRESENT) return y;
    if (form == MEAN) return ONNX(e, "Div", y, ONNX(e, "ReduceSum", y, one_int(e, 1)));
    onnx range = range_of(e, one_int(e, 0), size_value(e, mask[0]->shape[1], mask[1]->shape[1]));
    onnx last = last_token(e, seen, range);
    y = ONNX(e, "Cast to=1", last);
    if (form == LAST) return y;
    onnx first = ONNX(e, "Equal", range, const_int(e->g, 0));
    first = ONNX(e, "Cast to=1", first);
    y = ONNX(e, "Add", y, first);
    return ONNX(e, "Mul", y, const_real(e->g, 0.5));
}

static onnx of_padding(exporter *e, both x, both mask) {
    int form = 0;
    while (form < FORMS && !(has_form(form, x[0], mask[0]) && has_form(form, x[1], mask[1])))
        form++;
    if (form == FORMS || x[0]->dims > 3) return NULL;
    onnx y = x[0]->i ? leaf(e, mask) : of_tokens(e, form, mask);
    if (x[0]->dims == 2) return y;
    bool column = x[0]->shape[2] == 1 && x[1]->shape[2] == 1;
    y = ONNX(e, "Unsqueeze", y, one_int(e, column ? 2 : 1));
    if (column || (x[0]->shape[1] == 1 && x[1]->shape[1] == 1)) return y;
    return ONNX(e, "Expand", y, shape_value(e, x));
}

/* ---- keys that a query sees: (B|1,1,Tq,Tk) ---- */

/* (Tq,Tk), (B,1,1,Tk) or (B,1,Tq,Tk): true where a query sees a key. causal: Tq and Tk, or NULL.
 * mask (B,Tk) or NULL. */
static onnx visible_keys(exporter *e, const onnx *causal, onnx mask) {
    onnx y = NULL, pad = NULL;
    if (causal) {
        char key[512];
        snprintf(key, sizeof key, "causal %s %s", causal[0], causal[1]);
        if (!(y = find_known(e->g, key))) {
            onnx before = ONNX(e, "Sub", causal[1], causal[0]);
            onnx rows = range_of(e, before, causal[1]);
            onnx keys = range_of(e, one_int(e, 0), causal[1]);
            rows = ONNX(e, "Unsqueeze", rows, one_int(e, 1));
            y = ONNX(e, "LessOrEqual", keys, rows);
            keep_known(e->g, key, y);
        }
    }
    if (mask) {
        pad = ONNX(e, "Cast to=9", mask);
        pad = ONNX(e, "Unsqueeze", pad, INTS(e->g, 1, 2));
    }
    return !pad ? y : !y ? pad : ONNX(e, "And", y, pad);
}

/* causal: j <= i + Tk - Tq */
static bool is_seen(const heed_tensor *x, const heed_tensor *mask, bool causal) {
    int tq = x->shape[2], tk = x->shape[3];
    if (mask && (mask->shape[0] != x->shape[0] || mask->shape[1] != tk)) return false;
    for (int n = 0; n < (int)x->size; n++) {
        int j = n % tk, i = n / tk % tq, b = n / tk / tq;
        bool seen = (!causal || j <= i + tk - tq) && (!mask || mask->i[b * tk + j]);
        if (seen != (x->i[n] != 0)) return false;
    }
    return true;
}

static onnx of_seen(exporter *e, both x, both mask) {
    static const bool causal[] = {true, true, false}, padded[] = {false, true, true};
    if (x[0]->dims != 4 || !x[0]->i || x[0]->shape[1] != 1 || e->cache) return NULL;
    for (int i = 0; i < 3; i++) {
        if (padded[i] && !mask[0]) continue;
        if (!is_seen(x[0], padded[i] ? mask[0] : NULL, causal[i]) ||
            !is_seen(x[1], padded[i] ? mask[1] : NULL, causal[i]))
            continue;
        onnx tq = size_value(e, x[0]->shape[2], x[1]->shape[2]);
        onnx tk = size_value(e, x[0]->shape[3], x[1]->shape[3]);
        onnx y = visible_keys(e, causal[i] ? IN(tq, tk) : NULL, padded[i] ? leaf(e, mask) : NULL);
        return ONNX(e, "Cast to=7", y);
    }
    return NULL;
}

/* ---- hidden patches: the rows that a masked auto-encoder gathers; those that the encoder sees,
 * and from its output, followed by the row of the mask, those of all positions ---- */

/* Of pictures of `all` positions, of which the patches are those from `first` on. */
typedef struct {
    const heed_tensor *hidden; /* (B,h) */
    int first, all;
} places;

static bool is_hidden(const places *p, int row, int at) {
    int count = p->hidden->shape[1];
    for (int i = 0; i < count; i++)
        if (p->hidden->i[row * count + i] + p->first == at) return true;
    return false;
}

/* Whether x is the places that are seen (B,v), in the batch; or, with `back`, of every position
 * (B,all) the row in the encoder's output (B v), or B v, that of the mask, if it is hidden. */
static bool gathers(const places *p, const heed_tensor *x, bool back) {
    int rows = p->hidden->shape[0], seen = p->all - p->hidden->shape[1], at = 0;
    if (!x->i || x->dims != 2 || x->shape[0] != rows || x->shape[1] != (back ? p->all : seen))
        return false;
    for (int i = 0; i < rows * p->all; i++) {
        bool hidden = is_hidden(p, i / p->all, i % p->all);
        if (back && x->i[i] != (hidden ? rows * seen : at)) return false;
        if (!back && !hidden && x->i[at] != i) return false;
        at += !hidden;
    }
    return true;
}

/* (B,all): 1 at hidden positions. */
static onnx marks(exporter *e, const graph_input *in, const heed_grid *g, int all) {
    onnx known = find_known(e->g, "hidden marks");
    if (known) return known;
    onnx batch = size_value(e, in->x[0]->shape[0], in->x[1]->shape[0]);
    if (!batch) return NULL;
    onnx shape = ONNX(e, "Concat axis=0", batch, one_int(e, all));
    onnx zeros = ONNX(e, "Expand", const_int(e->g, 0), shape);
    onnx at = in->name;
    if (g->first) at = ONNX(e, "Add", at, const_int(e->g, g->first));
    onnx size = ONNX(e, "Shape", at);
    onnx ones = ONNX(e, "Expand", const_int(e->g, 1), size);
    onnx y = ONNX(e, "ScatterElements axis=1", zeros, at, ones);
    return keep_known(e->g, "hidden marks", y);
}

static onnx patch_rows(exporter *e, const heed_tensor *const x[2]) {
    graph_input *in = input_named(e, "hidden");
    heed_grid g;
    if (!in || !e->r->model->grid(e->r->self, &g)) return NULL;
    int all = g.first + g.rows * g.cols, seen = all - g.hidden;
    places p[2] = {{in->x[0], g.first, all}, {in->x[1], g.first, all}};
    bool back = gathers(&p[0], x[0], true) && gathers(&p[1], x[1], true);
    if (!back && !(gathers(&p[0], x[0], false) && gathers(&p[1], x[1], false))) return NULL;
    in->used = true;
    onnx zero = const_int(e->g, 0), minus = one_int(e, -1);
    onnx hidden = ONNX(e, "Reshape", marks(e, in, &g, all), minus); /* (B all) */
    onnx visible = ONNX(e, "Equal", hidden, zero);
    if (!back) {
        onnx rows = ONNX(e, "NonZero", visible);
        return ONNX(e, "Reshape", rows, INTS(e->g, -1, seen));
    }
    onnx one = ONNX(e, "Cast to=7", visible);
    onnx count = ONNX(e, "ReduceSum", one);
    onnx at = ONNX(e, "CumSum exclusive=1", one, zero);
    at = ONNX(e, "Where", visible, at, count);
    return ONNX(e, "Reshape", at, INTS(e->g, -1, all));
}

/* ---- any leaf ---- */

static onnx parameter(exporter *e, const heed_tensor *x) {
    for (size_t i = 0; i < e->params; i++)
        if (e->param[i] == x) return x->name;
    if (!heed__grow(e->c, &e->param, &e->param_capacity, e->params + 1, sizeof *e->param))
        return NULL;
    e->param[e->params++] = x;
    return x->name;
}

static onnx made(exporter *e, both x) {
    const graph_input *in = input_named(e, "mask");
    const heed_tensor *mask[2] = {in ? in->x[0] : NULL, in ? in->x[1] : NULL};
    onnx y = constant(e, x);
    if (!y) y = filled(e, x);
    if (!y) y = sinusoids(e, x);
    if (!y) y = patch_rows(e, x);
    if (!y && mask[0]) y = of_padding(e, x, mask);
    return y ? y : of_seen(e, x, mask);
}

/* The value of an array that no node computed. */
static onnx leaf(exporter *e, both x) {
    char key[40];
    if (x[0]->name) return parameter(e, x[0]);
    for (int i = 0; i < e->inputs; i++)
        if (e->input[i].x[0] == x[0]) {
            e->input[i].used = true;
            return e->input[i].name;
        }
    snprintf(key, sizeof key, "leaf %p", (const void *)x[0]);
    onnx y = find_known(e->g, key);
    if (y) return y;
    onnx_graph *at = e->g;
    e->g = &e->graph;
    y = keep_known(e->g, key, made(e, x));
    e->g = at;
    return y;
}

static onnx value_of(exporter *e, both x) {
    const paired *from = step_of(e, x[0]);
    onnx state = state_of(e, x[0]);
    return state ? state : from ? from->value : leaf(e, x);
}

static onnx input_of(exporter *e, const paired *s, int k) {
    const heed_tensor *x[2] = {s->in[0]->in[k], s->in[1]->in[k]};
    if (!x[0]) return "";
    onnx y = value_of(e, x);
    if (y || heed_ctx_status(e->c) != HEED_OK) return y;
    return refuse_node(e, "an array computed outside the ops", s->in[0]);
}

/* ---- Scan: a body that is run for each step of a sequence (B,T,...) ---- */

static void scan_begin(exporter *e, scan_node *s) {
    heed_ctx *c = e->c;
    *s = (scan_node){.body = {.outer = e->g, .scope = e->g->scope ? e->g->scope : ""}};
    s->body.nodes.c = s->body.inputs.c = s->body.outputs.c = c;
    e->g = &s->body;
}

static onnx body_input(exporter *e, scan_node *s, onnx from, const char *what) {
    if (s->ins == SCAN_VALUES || !from) {
        if (from) heed_fail(e->c, HEED_USAGE, "%s has too many states for ONNX", e->r->model->name);
        return NULL;
    }
    onnx name = make_name(&s->body, "%s/%s.%d", s->body.scope, what, s->ins);
    s->in[s->ins++] = from;
    declare(&s->body.inputs, 11, name, true, -1, NULL, NULL);
    return name;
}

static onnx scan_state(exporter *e, scan_node *s, onnx first) {
    s->states++;
    return body_input(e, s, first, "state");
}

static onnx scan_input(exporter *e, scan_node *s, onnx x) { return body_input(e, s, x, "step"); }

static void scan_output(exporter *e, scan_node *s, onnx x) {
    onnx y = add_node(&s->body, IN(x), "Identity");
    if (y) declare(&s->body.outputs, 12, y, true, -1, NULL, NULL);
    if (++s->outs > SCAN_VALUES)
        heed_fail(e->c, HEED_USAGE, "%s has too many states for ONNX", e->r->model->name);
}

/* "[1,1,1]" */
static void axes(char *text, size_t size, int count) {
    snprintf(text, size, "[");
    for (int i = 0; i < count; i++) {
        size_t n = strlen(text);
        snprintf(text + n, size - n, i ? ",1" : "1");
    }
    strncat(text, "]", size - strlen(text) - 1);
}

static bool scan_end(exporter *e, scan_node *s, onnx *out) {
    char text[256], in_axes[64], out_axes[64];
    e->g = s->body.outer;
    bool ok = heed_ctx_status(e->c) == HEED_OK;
    axes(in_axes, sizeof in_axes, s->ins - s->states);
    axes(out_axes, sizeof out_axes, s->outs - s->states);
    snprintf(text, sizeof text, "Scan num_scan_inputs=%d scan_input_axes=%s scan_output_axes=%s",
             s->ins - s->states, in_axes, out_axes);
    if (ok) add_nodes(e->g, s->in, s->outs, out, &s->body, text);
    graph_free(&s->body);
    return ok;
}

static const void *args_of(step s) { return s->in[0]->args; }
static const heed_tensor *of(step s, int k) { return s->in[0]->in[k]; }
static int from_zero(const heed_tensor *x, int dim) { return dim < 0 ? dim + x->dims : dim; }

/* ---- elementwise ---- */

static onnx where(exporter *e, step s) {
    onnx mask = ONNX(e, "Cast to=9", input_of(e, s, 0));
    return ONNX(e, "Where", mask, input_of(e, s, 1), input_of(e, s, 2));
}

static onnx times(exporter *e, onnx x, double by) {
    return ONNX(e, "Mul", x, const_real(e->g, by));
}
static onnx plus(exporter *e, onnx x, double more) {
    return ONNX(e, "Add", x, const_real(e->g, more));
}

/* x (1 + f) / 2: GELU by f = erf(x / sqrt 2), or by tanh. */
static onnx gelu(exporter *e, onnx x, bool by_tanh) {
    onnx f;
    if (by_tanh) {
        f = ONNX(e, "Pow", x, const_real(e->g, 3));
        f = ONNX(e, "Add", x, times(e, f, 0.044715));
        f = ONNX(e, "Tanh", times(e, f, sqrt(2 / acos(-1))));
    } else
        f = ONNX(e, "Erf", times(e, x, sqrt(0.5)));
    return ONNX(e, "Mul", times(e, x, 0.5), plus(e, f, 1));
}

static onnx activated(exporter *e, onnx x, heed_act act) {
    static const char *const nodes[HEED_ACT_COUNT] = {
        [HEED_RELU] = "Relu", [HEED_TANH] = "Tanh", [HEED_SIGMOID] = "Sigmoid",
        [HEED_EXP] = "Exp",   [HEED_LOG] = "Log",   [HEED_SQRT] = "Sqrt"};
    if (act == HEED_IDENTITY) return x;
    if (act == HEED_GELU || act == HEED_GELU_TANH) return gelu(e, x, act == HEED_GELU_TANH);
    if (act != HEED_SILU) return add_node(e->g, IN(x), "%s", nodes[act]);
    return ONNX(e, "Mul", x, ONNX(e, "Sigmoid", x));
}

static onnx activate(exporter *e, step s) {
    const heed_act *act = args_of(s);
    return activated(e, input_of(e, s, 0), *act);
}

static onnx scale(exporter *e, step s) {
    const heed__scale_args *a = args_of(s);
    onnx x = input_of(e, s, 0);
    if (a->scale != 1) x = times(e, x, (double)a->scale);
    return a->shift != 0 ? plus(e, x, (double)a->shift) : x;
}

static onnx clamp(exporter *e, step s) {
    const heed__clamp_args *a = args_of(s);
    return ONNX(e, "Clip", input_of(e, s, 0), const_real(e->g, (double)a->lo),
                const_real(e->g, (double)a->hi));
}

/* Views, and dropout in evaluation. */
static onnx same(exporter *e, step s) { return input_of(e, s, 0); }

/* ---- shape ---- */

static onnx reshape(exporter *e, step s) {
    const heed_tensor *from[2] = {s->in[0]->in[0], s->in[1]->in[0]};
    const heed_tensor *to[2] = {s->in[0]->y, s->in[1]->y};
    return reshape_to(e, input_of(e, s, 0), from, to);
}

static onnx permute(exporter *e, step s) {
    const int *o = ((const heed__permute_args *)args_of(s))->order;
    heed_text text = {.c = e->c};
    onnx y = NULL;
    if (of(s, 0)->dims == 0) return same(e, s);
    heed_text_add(&text, "[");
    for (int i = 0; i < of(s, 0)->dims; i++) heed_text_add(&text, i ? ",%d" : "%d", o[i]);
    if (heed_text_add(&text, "]"))
        y = add_node(e->g, IN(input_of(e, s, 0)), "Transpose perm=%s", text.s);
    heed_text_free(&text);
    return y;
}

static onnx concat(exporter *e, step s) {
    int inputs = s->in[0]->inputs, dim = *(const int *)args_of(s);
    onnx *in = heed__alloc_array(e->c, (size_t)inputs + 1, sizeof *in), y = NULL;
    for (int i = 0; in && i < inputs; i++) in[i] = input_of(e, s, i);
    if (in) y = add_node(e->g, in, "Concat axis=%d", from_zero(of(s, 0), dim));
    heed__free(in);
    return y;
}

/* Whether x is a table with a row for each position, of which rows from the first are read. */
static bool is_positions(const exporter *e, const heed_tensor *x) {
    const heed_param *p = x->name ? heed_params_find(e->r->store, x->name) : NULL;
    return p && p->rows == HEED_ROWS_POSITIONS;
}

/* An end of a range that is a and b in the recordings, of a dim of size na and nb. */
static onnx end_of(exporter *e, int a, int b, int na, int nb) {
    if (a == na && b == nb) return one_int(e, INT32_MAX);
    return a != b && na - a == nb - b ? one_int(e, a - na) : size_value(e, a, b);
}

static onnx slice(exporter *e, step s) {
    const heed__slice_args *a = s->in[0]->args, *b = s->in[1]->args;
    int axis = from_zero(of(s, 0), a->dim);
    int na = s->in[0]->in[0]->shape[axis], nb = s->in[1]->in[0]->shape[axis];
    onnx x = input_of(e, s, 0);
    if (a->from == 0 && b->from == 0 && axis == 0 && a->size != b->size &&
        is_positions(e, of(s, 0)))
        return position_rows(e, x, a->size, b->size);
    onnx from = a->from == b->from ? one_int(e, a->from) : end_of(e, a->from, b->from, na, nb);
    onnx to = end_of(e, a->from + a->size, b->from + b->size, na, nb);
    return add_node(e->g, IN(x, from, to, one_int(e, axis)), "Slice");
}

static onnx pad(exporter *e, step s) {
    const heed__pad_args *a = args_of(s);
    int64_t ends[2 * HEED_DIMS] = {0};
    int dims = of(s, 0)->dims, axis = from_zero(of(s, 0), a->dim);
    ends[axis] = a->before;
    ends[dims + axis] = a->after;
    return ONNX(e, "Pad", input_of(e, s, 0), const_ints(e->g, 2 * dims, ends),
                const_real(e->g, (double)a->value));
}

static onnx gather(exporter *e, step s) {
    const heed_tensor *x = of(s, 0);
    onnx rows = ONNX(e, "Reshape", input_of(e, s, 0), INTS(e->g, -1, x->shape[x->dims - 1]));
    return ONNX(e, "Gather axis=0", rows, input_of(e, s, 1));
}

/* ---- reductions ---- */

static onnx sum_dim(exporter *e, step s) {
    int dim = *(const int *)args_of(s);
    return ONNX(e, "ReduceSum", input_of(e, s, 0), INTS(e->g, from_zero(of(s, 0), dim)));
}
static onnx reduced(exporter *e, step s) {
    int dim = *(const int *)args_of(s);
    return add_node(e->g, IN(input_of(e, s, 0)), "%s axes=[%d]", s->how, from_zero(of(s, 0), dim));
}

/* ---- products ---- */

/* A parameter is transposed once, outside loops. */
static onnx transposed_once(exporter *e, onnx w) {
    char key[400];
    snprintf(key, sizeof key, "transposed %s", w ? w : "");
    onnx known = find_known(e->g, key);
    if (known || !w) return known;
    onnx_graph *g = heed_params_find(e->r->store, w) ? &e->graph : e->g;
    return keep_known(g, key, add_node(g, IN(w), "Transpose perm=[1,0]"));
}

static onnx affine(exporter *e, step s) {
    const heed_act *act = args_of(s);
    onnx x = input_of(e, s, 0), w = input_of(e, s, 1), b = input_of(e, s, 2), y;
    if (b && !*b) b = NULL;
    if (of(s, 0)->dims == 2)
        y = ONNX(e, "Gemm transB=1", x, w, b);
    else {
        y = ONNX(e, "MatMul", x, transposed_once(e, w));
        if (b) y = ONNX(e, "Add", y, b);
    }
    return activated(e, y, *act);
}

/* The last two dims exchanged. */
static onnx flipped(exporter *e, onnx x, int dims) {
    static const char *const perm[] = {"", "", "[1,0]", "[0,2,1]", "[0,1,3,2]"};
    return add_node(e->g, IN(x), "Transpose perm=%s", perm[dims]);
}

/* s->how: "nt", of which t is transposed. */
static onnx matmul_flipped(exporter *e, step s) {
    onnx a = input_of(e, s, 0), b = input_of(e, s, 1);
    if (s->how[0] == 't') a = flipped(e, a, of(s, 0)->dims);
    if (s->how[1] == 't') b = flipped(e, b, of(s, 1)->dims);
    return ONNX(e, "MatMul", a, b);
}

/* w with scale B A added to the rows from `from` on. */
static onnx lora(exporter *e, step s) {
    const heed__lora_args *a = args_of(s);
    const heed_tensor *w = of(s, 0);
    int rows = of(s, 2)->shape[0], dims = w->dims;
    int64_t ends[2 * HEED_DIMS] = {a->from},
                     shape[] = {rows, w->shape[1], w->shape[2], w->shape[3]};
    ends[dims] = w->shape[0] - a->from - rows;
    onnx y = ONNX(e, "MatMul", input_of(e, s, 2), input_of(e, s, 1));
    y = ONNX(e, "Mul", y, const_real(e->g, (double)a->scale));
    y = ONNX(e, "Reshape", y, const_ints(e->g, dims, shape));
    y = ONNX(e, "Pad", y, const_ints(e->g, 2 * dims, ends));
    return ONNX(e, "Add", input_of(e, s, 0), y);
}

/* ---- norms ---- */

/* A gain or bias that is absent: `value` for each column. */
static onnx or_all(exporter *e, onnx x, int width, double value) {
    if (!x || *x) return x;
    onnx shape = one_int(e, width);
    return ONNX(e, "Expand", const_real(e->g, value), shape);
}

static onnx layer_norm(exporter *e, step s) {
    const heed_real *eps = args_of(s);
    const heed_tensor *x = of(s, 0);
    onnx gain = or_all(e, input_of(e, s, 1), x->shape[x->dims - 1], 1);
    onnx bias = input_of(e, s, 2);
    return add_node(e->g, IN(input_of(e, s, 0), gain, bias && *bias ? bias : NULL),
                    "LayerNormalization axis=-1 epsilon=%.9gf", (double)*eps);
}

static onnx rms_norm(exporter *e, step s) {
    const heed_real *eps = args_of(s);
    onnx x = input_of(e, s, 0), gain = input_of(e, s, 1);
    onnx y = ONNX(e, "Mul", x, x);
    y = ONNX(e, "ReduceMean axes=[-1]", y);
    y = ONNX(e, "Add", y, const_real(e->g, (double)*eps));
    y = ONNX(e, "Div", x, ONNX(e, "Sqrt", y));
    return gain && *gain ? ONNX(e, "Mul", y, gain) : y;
}

/* ---- channels ---- */

static onnx channels_first(exporter *e, onnx x) { return ONNX(e, "Transpose perm=[0,3,1,2]", x); }
static onnx channels_last(exporter *e, onnx x) { return ONNX(e, "Transpose perm=[0,2,3,1]", x); }

static onnx batch_norm(exporter *e, step s) {
    const heed__batch_norm_args *a = args_of(s);
    const heed_tensor *x = of(s, 0);
    int width = x->shape[x->dims - 1];
    onnx y = input_of(e, s, 0);
    if (x->dims == 3) return refuse_node(e, "batch_norm of a sequence", s->in[0]);
    if (x->dims == 4) y = channels_first(e, y);
    onnx gain = or_all(e, input_of(e, s, 1), width, 1);
    onnx bias = or_all(e, input_of(e, s, 2), width, 0);
    y = add_node(e->g, IN(y, gain, bias, input_of(e, s, 3), input_of(e, s, 4)),
                 "BatchNormalization epsilon=%.9gf", (double)a->eps);
    return x->dims == 4 ? channels_last(e, y) : y;
}

static onnx convolution(exporter *e, step s) {
    const char *op = s->how;
    const heed_conv_args *a = args_of(s);
    char extra[64] = "";
    onnx x = channels_first(e, input_of(e, s, 0)), b = input_of(e, s, 2);
    if (op[4]) snprintf(extra, sizeof extra, " output_padding=[%d,%d]", a->extra[0], a->extra[1]);
    x = add_node(e->g, IN(x, input_of(e, s, 1), b && *b ? b : NULL),
                 "%s strides=[%d,%d] pads=[%d,%d,%d,%d] dilations=[%d,%d] group=%d%s", op,
                 a->stride[0], a->stride[1], a->pad[0], a->pad[1], a->pad[0], a->pad[1],
                 a->dilation[0], a->dilation[1], a->groups, extra);
    return channels_last(e, x);
}

static onnx pool(exporter *e, step s) {
    const char *op = s->how;
    const heed_pool_args *a = args_of(s);
    onnx x = channels_first(e, input_of(e, s, 0));
    x = add_node(e->g, IN(x), "%s kernel_shape=[%d,%d] strides=[%d,%d] pads=[%d,%d,%d,%d]%s", op,
                 a->size[0], a->size[1], a->stride[0], a->stride[1], a->pad[0], a->pad[1],
                 a->pad[0], a->pad[1], *op == 'A' ? " count_include_pad=1" : "");
    return channels_last(e, x);
}

/* ---- softmax over what is visible ---- */

/* The least float, in the place of minus infinity: a row that sees nothing is then no NaN. */
static const double LEAST = -3.4028234663852886e38;

static onnx masked_softmax(exporter *e, onnx scores, onnx visible, bool empty, const char *op,
                           const char *result) {
    if (visible) scores = ONNX(e, "Where", visible, scores, const_real(e->g, LEAST));
    if (!visible || !empty) e->g->result = result;
    onnx p = add_node(e->g, IN(scores), "%s axis=-1", op);
    if (!visible || !empty) return p;
    e->g->result = result;
    return ONNX(e, "Where", visible, p, const_real(e->g, 0));
}

static onnx scaled(exporter *e, onnx x, double by) {
    return by == 1 ? x : ONNX(e, "Mul", x, const_real(e->g, by));
}

static onnx softmax(exporter *e, step s) {
    const char *op = s->how;
    const heed_real *beta = s->in[0]->args;
    onnx x = scaled(e, input_of(e, s, 0), *op == 'H' ? 1 : (double)*beta);
    onnx mask = input_of(e, s, 1);
    onnx visible = mask && *mask ? ONNX(e, "Cast to=9", mask) : NULL;
    return masked_softmax(e, x, visible, true, op, NULL);
}

/* ---- rotary positions ---- */

/* The cosines or sines of all angles: (rows, width / 2). */
static onnx angles(exporter *e, const heed_rotary_args *a, int rows, bool sine) {
    int half = a->width / 2;
    onnx name =
        make_name(e->g, "rotary.%s.%d.%g", sine ? "sin" : "cos", a->width, (double)a->theta);
    if (!name || find_known(e->g, name)) return name;
    heed_tensor x = {.dims = 2, .shape = {rows, half}, .size = (size_t)rows * (size_t)half};
    x.x = heed__alloc_array(e->c, x.size, sizeof *x.x);
    for (size_t i = 0; x.x && i < x.size; i++) {
        double angle = (double)(i / (size_t)half) *
                       pow((double)a->theta, -2.0 * (double)(i % (size_t)half) / a->width);
        x.x[i] = (heed_real)(sine ? sin(angle) : cos(angle));
    }
    onnx y = x.x ? const_tensor(e->g, name, &x) : NULL;
    heed__free(x.x);
    return y;
}

/* x (B,T,heads width) rotated: (B,T,heads,2,width/2) times the angles of (T,1,width/2). */
static onnx turned(exporter *e, step s, const heed_rotary_args *a, onnx x) {
    onnx turn[2], half[2], y[2];
    int from = s->in[0]->y->shape[1], to = s->in[1]->y->shape[1];
    for (int i = 0; i < 2; i++) {
        onnx rows = angles(e, a, from == to ? from : e->longest, i);
        rows = position_rows(e, rows, from, to);
        turn[i] = ONNX(e, "Unsqueeze", rows, one_int(e, 1));
    }
    x = ONNX(e, "Reshape", x, INTS(e->g, 0, 0, a->heads, a->width));
    add_nodes(e->g, IN(x), 2, half, NULL, "Split axis=3");
    for (int i = 0; i < 2; i++) {
        onnx own = ONNX(e, "Mul", half[i], turn[0]);
        onnx other = ONNX(e, "Mul", half[!i], turn[1]);
        y[i] = add_node(e->g, IN(own, other), i ? "Add" : "Sub");
    }
    x = ONNX(e, "Concat axis=3", y[0], y[1]);
    return ONNX(e, "Reshape", x, INTS(e->g, 0, 0, a->heads * a->width));
}

static onnx rotary(exporter *e, step s) {
    const heed_rotary_args *a = s->in[0]->args;
    const heed_tensor *y = s->in[0]->y;
    int columns = y->shape[2], end = a->heads * a->width;
    bool open = y->shape[1] != s->in[1]->y->shape[1];
    onnx part[2] = {input_of(e, s, 0)};
    if (y->dims != 3 || a->first || (open && !e->longest))
        return refuse_node(e, "rotary positions of another form", s->in[0]);
    if (columns == end) return turned(e, s, a, part[0]);
    add_nodes(e->g, IN(part[0], INTS(e->g, end, columns - end)), 2, part, NULL, "Split axis=2");
    return ONNX(e, "Concat axis=2", turned(e, s, a, part[0]), part[1]);
}

/* ---- attention ---- */

/* q, k, v in an op's inputs. */
static void parts(exporter *e, step s, const heed_attention_args *a, onnx out[3]) {
    heed_tensor *const *in = s->in[0]->in;
    int shared = a->kv_heads ? a->kv_heads : a->heads;
    int q = a->heads * a->key, k = shared * a->key, v = shared * a->value;
    for (int i = 0; i < 3 && in[i]; i++) out[i] = input_of(e, s, i);
    if (!in[1]) add_nodes(e->g, IN(out[0], INTS(e->g, q, k, v)), 3, out, NULL, "Split axis=2");
    if (in[1] && !in[2])
        add_nodes(e->g, IN(out[1], INTS(e->g, k, v)), 2, out + 1, NULL, "Split axis=2");
}

/* (B,T,heads width) -> (B,heads,T,width) */
static onnx by_head(exporter *e, onnx x, int heads, int width) {
    x = ONNX(e, "Reshape", x, INTS(e->g, 0, 0, heads, width));
    return ONNX(e, "Transpose perm=[0,2,1,3]", x);
}

/* Keys and values that heads share, once for each head: (B,g,T,w) -> (B,h,T,w). */
static onnx repeated(exporter *e, onnx x, int from, int to, int width) {
    if (from == to) return x;
    x = ONNX(e, "Unsqueeze", x, one_int(e, 2));
    x = ONNX(e, "Expand", x, INTS(e->g, 1, 1, to / from, 1, 1));
    return ONNX(e, "Reshape", x, INTS(e->g, 0, to, -1, width));
}

/* With a cache: what it has of the tokens before, then x; an output of the model. */
static onnx cached(exporter *e, step s, onnx x, const char *part, int heads, int width) {
    if (!e->cache || !x) return x;
    const heed_tensor *y = s->in[0]->y;
    onnx past = make_name(e->g, "%s.%s.past", s->in[0]->name, part);
    onnx all = make_name(e->g, "%s.%s", s->in[0]->name, part);
    int shape[] = {y->shape[0], heads, 0, width};
    declare(&e->graph.inputs, 11, past, true, 4, shape,
            (const char *[]){"batch", NULL, "past", NULL});
    declare(&e->graph.outputs, 12, all, true, 4, shape,
            (const char *[]){"batch", NULL, "total", NULL});
    e->g->result = all;
    return ONNX(e, "Concat axis=2", past, x);
}

/* The sizes of the queries and keys, for a causal mask. */
static void lengths(exporter *e, step s, onnx out[2]) {
    for (int i = 0; i < 2; i++) {
        int k = i && s->in[0]->in[1], axis = 1;
        out[i] = size_value(e, s->in[0]->in[k]->shape[axis], s->in[1]->in[k]->shape[axis]);
    }
    if (e->cache) out[1] = ONNX(e, "Add", past_tokens(e), out[1]);
}

static onnx visible(exporter *e, step s, const heed_attention_args *a, onnx mask) {
    onnx size[2];
    bool padded = mask && *mask;
    if (!a->causal && !padded) return NULL;
    if (a->causal) lengths(e, s, size);
    return visible_keys(e, a->causal ? size : NULL, padded ? mask : NULL);
}

static onnx attention(exporter *e, step s) {
    const heed_attention_args *a = s->in[0]->args;
    int shared = a->kv_heads ? a->kv_heads : a->heads;
    onnx part[3];
    parts(e, s, a, part);
    if (e->cache && (!a->causal || s->in[0]->in[1]))
        return refuse_node(e, "a cache of attention that sees later tokens", s->in[0]);
    onnx q = by_head(e, part[0], a->heads, a->key);
    onnx k = cached(e, s, by_head(e, part[1], shared, a->key), "k", shared, a->key);
    onnx v = cached(e, s, by_head(e, part[2], shared, a->value), "v", shared, a->value);
    k = ONNX(e, "Transpose perm=[0,1,3,2]", repeated(e, k, shared, a->heads, a->key));
    onnx scores = ONNX(e, "MatMul", q, k);
    scores = scaled(e, scores, a->has_beta ? (double)a->beta : 1 / sqrt(a->key));
    onnx more = input_of(e, s, 3);
    if (more && *more) scores = ONNX(e, "Add", scores, more);
    onnx pad = input_of(e, s, 4);
    bool empty = (pad && *pad) || s->in[0]->in[1]; /* else a token sees itself */
    onnx weights = masked_softmax(e, scores, visible(e, s, a, pad), empty,
                                  a->hard ? "Hardmax" : "Softmax", weights_name(e, s->in[0]));
    onnx y = ONNX(e, "MatMul", weights, repeated(e, v, shared, a->heads, a->value));
    y = ONNX(e, "Transpose perm=[0,2,1,3]", y);
    return ONNX(e, "Reshape", y, INTS(e->g, 0, 0, a->heads * a->value));
}

/* ---- weights in ONNX's order of gates ---- */

/* heed has r z n and i f g o, ONNX z r n and i o f g. */
static onnx ordered(onnx_graph *g, onnx x, heed_cell kind) {
    onnx part[4];
    if (kind == HEED_CELL_TANH) return x;
    add_nodes(g, IN(x), kind == HEED_CELL_GRU ? 3 : 4, part, NULL, "Split axis=0");
    return kind == HEED_CELL_GRU
               ? add_node(g, IN(part[1], part[0], part[2]), "Concat axis=0")
               : add_node(g, IN(part[0], part[3], part[1], part[2]), "Concat axis=0");
}

/* (1,rows,..), made once, outside loops. */
static onnx weight(exporter *e, onnx w, heed_cell kind) {
    char key[400];
    snprintf(key, sizeof key, "gates %s", w ? w : "");
    onnx known = find_known(e->g, key);
    if (known || !w) return known;
    onnx_graph *g = &e->graph;
    onnx y = add_node(g, IN(ordered(g, w, kind), INTS(g, 0)), "Unsqueeze");
    return keep_known(g, key, y);
}

/* The biases of the input and of the state, one after the other; absent ones are zeros. */
static onnx biases(exporter *e, onnx in, onnx of_state, int rows, heed_cell kind) {
    char key[800];
    if (!in || !of_state || (!*in && !*of_state)) return "";
    snprintf(key, sizeof key, "biases %s %s", in, of_state);
    onnx known = find_known(e->g, key), b[] = {in, of_state};
    onnx_graph *g = &e->graph;
    if (known) return known;
    for (int i = 0; i < 2; i++)
        b[i] = *b[i] ? ordered(g, b[i], kind)
                     : add_node(g, IN(const_real(g, 0), INTS(g, rows)), "Expand");
    onnx y = add_node(g, IN(b[0], b[1]), "Concat axis=0");
    return keep_known(g, key, add_node(g, IN(y, INTS(g, 0)), "Unsqueeze"));
}

/* ---- the node ---- */

typedef struct {
    heed_recurrent_args args;
    int width;
    onnx x;          /* (T,B,in) */
    onnx w_in, b_in; /* the input's; b "" if absent */
    onnx w, b;       /* the state's */
    onnx h, c;       /* (1,B,h): the first state; "": zeros */
    onnx lengths;    /* (B): tokens of each sequence; "": all */
} cell;

/* out: the states of all steps (T,1,B,h), and the last h and c (1,B,h). */
static void run(exporter *e, const cell *k, onnx out[3]) {
    static const char *const nodes[] = {"RNN", "GRU", "LSTM"};
    static const char *const acts[HEED_ACT_COUNT] = {[HEED_IDENTITY] = "Affine",
                                                     [HEED_RELU] = "Relu",
                                                     [HEED_TANH] = "Tanh",
                                                     [HEED_SIGMOID] = "Sigmoid"};
    heed_cell kind = k->args.cell;
    int gates = kind == HEED_CELL_TANH ? 1 : kind == HEED_CELL_GRU ? 3 : 4;
    char text[160], more[64] = "";
    if (kind == HEED_CELL_TANH) snprintf(more, sizeof more, " activations=[%s]", acts[k->args.act]);
    if (kind == HEED_CELL_GRU) snprintf(more, sizeof more, " linear_before_reset=1");
    snprintf(text, sizeof text, "%s hidden_size=%d direction=%s%s", nodes[kind], k->width,
             k->args.reverse ? "reverse" : "forward", more);
    onnx in[] = {k->x,
                 weight(e, k->w_in, kind),
                 weight(e, k->w, kind),
                 biases(e, k->b_in, k->b, gates * k->width, kind),
                 k->lengths,
                 k->h,
                 kind == HEED_CELL_LSTM ? k->c : NULL,
                 NULL};
    add_nodes(e->g, in, kind == HEED_CELL_LSTM ? 3 : 2, out, NULL, text);
}

/* ---- recurrent layers ---- */

/* ONNX gives c after the last step alone: nothing may read an earlier one. */
static bool reads_last_cell(const exporter *e, const heed_node *n, int width, bool reverse) {
    int last = reverse ? 0 : n->y->shape[1] - 1;
    for (int i = 0; i < e->steps; i++)
        for (int k = 0; k < e->step[i].in[0]->inputs; k++) {
            const heed_node *by = e->step[i].in[0];
            if (by->in[k] != n->y) continue;
            const heed__slice_args *a = by->args;
            if (strcmp(by->op->name, "slice") != 0) return false;
            bool states = a->dim == 2 && a->from + a->size <= width;
            if (!states && !(a->dim == 1 && a->size == 1 && a->from == last)) return false;
        }
    return true;
}

/* (B,S) as h and c of (1,B,h); out[1] is "" without c. */
static void first_state(exporter *e, onnx state, int width, heed_cell kind, onnx out[2]) {
    out[0] = out[1] = "";
    if (!state || !*state) return;
    state = ONNX(e, "Unsqueeze", state, one_int(e, 0));
    out[0] = state;
    if (kind == HEED_CELL_LSTM)
        add_nodes(e->g, IN(state, INTS(e->g, width, width)), 2, out, NULL, "Split axis=2");
}

/* (B,T) -> (B) as int32 */
static onnx lengths_of(exporter *e, onnx mask) {
    char key[400];
    if (!mask || !*mask) return mask;
    snprintf(key, sizeof key, "lengths %s", mask);
    onnx known = find_known(e->g, key);
    if (known) return known;
    onnx y = ONNX(e, "Cast to=9", mask);
    y = ONNX(e, "Cast to=6", y);
    y = ONNX(e, "ReduceSum keepdims=0", y, one_int(e, 1));
    return keep_known(e->g, key, y);
}

/* At padding, which is at the end, the state is the last before it, or the first if reversed. */
static onnx held(exporter *e, const cell *k, onnx y, onnx last, onnx mask) {
    onnx state = k->args.reverse ? k->h : last;
    if (!mask || !*mask || !state || !*state) return y;
    mask = ONNX(e, "Cast to=9", mask);
    mask = ONNX(e, "Unsqueeze", mask, one_int(e, 2));
    state = ONNX(e, "Transpose perm=[1,0,2]", state);
    return ONNX(e, "Where", mask, y, state);
}

/* c after the last step, at every step: (B,T,h) */
static onnx cell_states(exporter *e, step s, onnx c) {
    const heed_tensor *const *y = (const heed_tensor *const[]){s->in[0]->y, s->in[1]->y};
    c = ONNX(e, "Transpose perm=[1,0,2]", c);
    onnx size = size_value(e, y[0]->shape[1], y[1]->shape[1]);
    if (!size) return NULL;
    onnx shape = ONNX(e, "Concat axis=0", one_int(e, 1), size, one_int(e, 1));
    return ONNX(e, "Expand", c, shape);
}

/* With a cache: the state after the tokens before, an input, and after all, an output. */
static onnx past_state(exporter *e, step s, int states) {
    onnx name = make_name(e->g, "%s.%d.state.past", s->in[0]->name, e->cached);
    declare(&e->graph.inputs, 11, name, true, 2, (int[]){0, states},
            (const char *[]){"batch", NULL});
    return name;
}

static void present_state(exporter *e, step s, onnx h, onnx c, int states) {
    bool lstm = c && *c;
    onnx name = make_name(e->g, "%s.%d.state", s->in[0]->name, e->cached++);
    onnx all = lstm ? ONNX(e, "Concat axis=2", h, c) : h;
    e->g->result = name;
    ONNX(e, "Squeeze", all, one_int(e, 0));
    declare(&e->graph.outputs, 12, name, true, 2, (int[]){0, states},
            (const char *[]){"batch", NULL});
}

enum { GATES, W, B, STATE, PAD };
static onnx recurrent(exporter *e, step s) {
    const heed_node *n = s->in[0];
    const paired *from = step_of(e, n->in[GATES]);
    int width = n->in[W]->shape[1], states = n->y->shape[2];
    cell k = {.args = *(const heed_recurrent_args *)n->args, .width = width};
    bool lstm = k.args.cell == HEED_CELL_LSTM;
    onnx first[2], out[3] = {NULL, NULL, ""}, mask = input_of(e, s, PAD);
    if (!from || !from->skipped) return refuse_node(e, "gates not of one layer", n);
    if (lstm && !reads_last_cell(e, n, width, k.args.reverse))
        return refuse_node(e, "reading cell states before the last", n);
    onnx state = input_of(e, s, STATE);
    if (e->cache) state = past_state(e, s, states);
    first_state(e, state, width, k.args.cell, first);
    k.x = ONNX(e, "Transpose perm=[1,0,2]", input_of(e, from, 0));
    k.w_in = input_of(e, from, 1), k.b_in = input_of(e, from, 2);
    k.w = input_of(e, s, W), k.b = input_of(e, s, B);
    k.h = first[0], k.c = first[1], k.lengths = lengths_of(e, mask);
    run(e, &k, out);
    if (e->cache) present_state(e, s, out[1], out[2], states);
    onnx y = ONNX(e, "Squeeze", out[0], one_int(e, 1));
    y = ONNX(e, "Transpose perm=[1,0,2]", y);
    y = held(e, &k, y, out[1], mask);
    return lstm ? ONNX(e, "Concat axis=2", y, cell_states(e, s, out[2])) : y;
}

/* ---- the decoder that attends before each step ---- */

enum { Y, W_IN, B_IN, W_STATE, B_STATE, START, KEYS, VALUES, QUERY, SCORE, SHIFT, MASK, INPUTS };

/* a_t (B,P) = softmax_i(score tanh(h query' + keys_i) + shift) */
static onnx look(exporter *e, const onnx *in, onnx h, onnx visible) {
    onnx q = ONNX(e, "MatMul", h, transposed_once(e, in[QUERY]));
    q = ONNX(e, "Unsqueeze", q, one_int(e, 1));
    q = ONNX(e, "Tanh", ONNX(e, "Add", q, in[KEYS]));
    onnx scores = ONNX(e, "MatMul", q, transposed_once(e, in[SCORE]));
    if (*in[SHIFT]) scores = ONNX(e, "Add", scores, in[SHIFT]);
    scores = ONNX(e, "Squeeze", scores, one_int(e, 2));
    return masked_softmax(e, scores, visible, true, "Softmax", NULL);
}

/* (B,..) <-> (1,B,..) */
static onnx wrapped(exporter *e, onnx x) { return ONNX(e, "Unsqueeze", x, one_int(e, 0)); }
static onnx unwrapped(exporter *e, onnx x) { return ONNX(e, "Squeeze", x, one_int(e, 0)); }

/* One step, as the outputs of the body: h and, of an LSTM, c, as states and again as outputs; the
 * context; the weights. */
static void decode(exporter *e, scan_node *scan, const onnx *in, cell *k, onnx y, onnx visible) {
    onnx out[3], weights = look(e, in, k->h, visible);
    int states = k->args.cell == HEED_CELL_LSTM ? 2 : 1;
    onnx c = ONNX(e, "Unsqueeze", weights, one_int(e, 1));
    c = ONNX(e, "MatMul", c, in[VALUES]);
    c = ONNX(e, "Squeeze", c, one_int(e, 1));
    k->x = wrapped(e, ONNX(e, "Concat axis=1", y, c));
    k->h = wrapped(e, k->h);
    if (states == 2) k->c = wrapped(e, k->c);
    run(e, k, out);
    for (int i = 0; i < 2 * states; i++) scan_output(e, scan, unwrapped(e, out[1 + i % states]));
    scan_output(e, scan, c);
    scan_output(e, scan, weights);
}

static onnx recurrent_attention(exporter *e, step s) {
    const heed_node *n = s->in[0];
    scan_node scan;
    onnx in[INPUTS], out[SCAN_VALUES] = {NULL}, first[2] = {"", ""}, visible = NULL;
    cell k = {.args = *(const heed_recurrent_args *)n->args, .width = n->in[W_STATE]->shape[1]};
    int states = k.args.cell == HEED_CELL_LSTM ? 2 : 1;
    for (int i = 0; i < INPUTS; i++)
        if (!(in[i] = input_of(e, s, i))) return NULL;
    k.w_in = in[W_IN], k.b_in = in[B_IN], k.w = in[W_STATE], k.b = in[B_STATE], k.lengths = "";
    first[0] = in[START];
    if (states == 2)
        add_nodes(e->g, IN(in[START], INTS(e->g, k.width, k.width)), 2, first, NULL,
                  "Split axis=1");
    if (*in[MASK]) {
        visible = ONNX(e, "Cast to=9", in[MASK]);
        visible = ONNX(e, "Squeeze", visible, one_int(e, 1));
    }
    scan_begin(e, &scan);
    k.h = scan_state(e, &scan, first[0]);
    k.c = states == 2 ? scan_state(e, &scan, first[1]) : "";
    onnx y = scan_input(e, &scan, in[Y]);
    if (k.h && k.c && y) decode(e, &scan, in, &k, y, visible);
    if (!scan_end(e, &scan, out)) return NULL;
    e->g->result = weights_name(e, n);
    ONNX(e, "Identity", out[2 * states + 1]);
    out[2 * states + 1] = NULL; /* ends the list */
    return add_node(e->g, out + states, "Concat axis=2");
}

/* ---- the forms ---- */

/* How an op becomes nodes: by a function, or as the one node `how` of all its inputs. */
typedef onnx op_form(exporter *e, step s);
#define ACTIVATION(act, name, ...) {#name, activate, NULL},
static const struct {
    const char *op;
    op_form *form;
    const char *how;
} forms[] = {{"add", NULL, "Add"},
             {"sub", NULL, "Sub"},
             {"mul", NULL, "Mul"},
             {"div", NULL, "Div"},
             {"dropout_add", NULL, "Add"},
             {"embed", NULL, "Gather axis=0"},
             {"sum", NULL, "ReduceSum keepdims=0"},
             {"mean", NULL, "ReduceMean keepdims=0"},
             {"global_pool", NULL, "ReduceMean axes=[1,2] keepdims=0"},
             {"matmul", NULL, "MatMul"},
             {"matmul_nt", matmul_flipped, "nt"},
             {"matmul_tn", matmul_flipped, "tn"},
             {"note", same, NULL},
             {"dropout", same, NULL},
             {"where", where, NULL},
             {"scale", scale, NULL},
             {"clamp", clamp, NULL},
             {"reshape", reshape, NULL},
             {"permute", permute, NULL},
             {"concat", concat, NULL},
             {"slice", slice, NULL},
             {"pad", pad, NULL},
             {"gather", gather, NULL},
             {"sum_dim", sum_dim, NULL},
             {"mean_dim", reduced, "ReduceMean"},
             {"max_dim", reduced, "ReduceMax"},
             {"affine", affine, NULL},
             {"lora", lora, NULL},
             {"layer_norm", layer_norm, NULL},
             {"rms_norm", rms_norm, NULL},
             {"batch_norm", batch_norm, NULL},
             {"conv2d", convolution, "Conv"},
             {"conv2d_transposed", convolution, "ConvTranspose"},
             {"max_pool", pool, "MaxPool"},
             {"avg_pool", pool, "AveragePool"},
             {"softmax", softmax, "Softmax"},
             {"log_softmax", softmax, "LogSoftmax"},
             {"hardmax", softmax, "Hardmax"},
             {"rotary", rotary, NULL},
             {"attention", attention, NULL},
             {"cross_attention", attention, NULL},
             {"self_attention", attention, NULL},
             {"recurrent", recurrent, NULL},
             {"recurrent_attention", recurrent_attention, NULL},
             HEED_ACTIVATIONS(ACTIVATION)};

/* ---- the steps of a decoder, recorded one after the other, as a Scan: the second step is its
 * body. What a step reads of the one before is the state; what it slices from a sequence at its own
 * position is an input of the Scan; what a concatenation gathers from all steps is an output ----
 */

/* ---- finding the steps ---- */

static bool is_concat(const heed_node *n) { return strcmp(n->op->name, "concat") == 0; }

/* The distance between nodes of which n gathers one from each of `steps` steps; 0: it does not. */
static int distance(const heed_node *n, int steps) {
    if (!is_concat(n) || n->inputs != steps || steps < 3) return 0;
    for (int i = 0; i < steps; i++)
        if (!n->in[i]->node) return 0;
    int each = n->in[1]->node->index - n->in[0]->node->index;
    for (int i = 2; i < steps; i++)
        if (n->in[i]->node->index - n->in[i - 1]->node->index != each) return 0;
    return each;
}

/* Whether an index is within the step that begins at `from`. */
static bool within(const step_loop *l, int index, int from) {
    return index >= from && index < from + l->period;
}

/* The steps of recording k, whose nodes are the first `count`: begin is that of the second. What is
 * gathered last of a step ends it. */
static bool find(exporter *e, int k, int count, int *begin, int *end) {
    step_loop *l = &e->loop;
    *begin = 0;
    for (int i = 0; i < count; i++) {
        const heed_node *n = e->step[i].in[k];
        int period = distance(n, l->steps[k]);
        if (period <= 0 || n->in[0]->node->index < *begin) continue;
        l->period = period;
        *begin = n->in[0]->node->index + 1;
        *end = n->in[l->steps[k] - 1]->node->index;
    }
    return *begin > 0;
}

/* Keeps the nodes before the first step, in the second, and after the last; those of the first are
 * kept apart. Returns how many. */
static int keep(exporter *e, int k, int count, int begin, int end) {
    step_loop *l = &e->loop;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        heed_node *n = e->step[i].in[k];
        bool first = within(l, n->index, begin - l->period), body = within(l, n->index, begin);
        if (first) l->first[k][n->index - begin + l->period] = n;
        if (n->index < begin - l->period || body || n->index > end) e->step[kept++].in[k] = n;
    }
    return kept;
}

static bool fold_steps(exporter *e, int counts[2]) {
    step_loop *l = &e->loop;
    int begin[2], end[2];
    for (int i = 0; i < e->symbols; i++)
        if (strcmp(e->symbol[i].name, "length") == 0)
            memcpy(l->steps, e->symbol[i].size, sizeof l->steps);
    for (int k = 0; k < 2; k++) {
        if (!find(e, k, counts[k], &begin[k], &end[k])) return false;
        l->first[k] = heed__alloc_array(e->c, (size_t)l->period, sizeof(heed_node *));
        if (!l->first[k]) return false;
        counts[k] = keep(e, k, counts[k], begin[k], end[k]);
    }
    l->begin = begin[0];
    return begin[0] == begin[1] && end[0] - begin[0] == (l->steps[0] - 1) * l->period - 1 &&
           end[1] - begin[1] == (l->steps[1] - 1) * l->period - 1;
}

/* ---- the body ---- */

static bool in_body(const exporter *e, const paired *s) {
    return e->loop.period && within(&e->loop, s->in[0]->index, e->loop.begin);
}

static bool gathers_all(const exporter *e, const heed_node *a, const heed_node *b) {
    const step_loop *l = &e->loop;
    return l->period && a->inputs == l->steps[0] && b->inputs == l->steps[1] &&
           distance(a, l->steps[0]) == l->period && distance(b, l->steps[1]) == l->period;
}

/* The node of the first step that corresponds to that of the body. */
static const heed_node *first_of(const exporter *e, const paired *s, int k) {
    return e->loop.first[k][s->in[0]->index - e->loop.begin];
}

static bool is_position(const exporter *e, const paired *s) {
    const heed_node *n = first_of(e, s, 0);
    const heed__slice_args *now = s->in[0]->args, *before = n->args;
    return strcmp(s->in[0]->op->name, "slice") == 0 && n->in[0] == s->in[0]->in[0] &&
           now->dim == 1 && now->size == 1 && before->from == 0 && now->from == 1;
}

/* Checks that the first step does the same, with other states. Arguments of layers do not differ,
 * and have gaps between their members. */
static bool repeats(const exporter *e, const paired *s) {
    const heed_node *n = s->in[0], *f = first_of(e, s, 0);
    if (!f || !first_of(e, s, 1) || f->op != n->op || f->inputs != n->inputs) return false;
    if (is_position(e, s)) return true;
    for (int k = 0; k < n->inputs; k++) {
        int index = n->in[k] && n->in[k]->node ? n->in[k]->node->index : -1;
        bool inner = within(&e->loop, index, e->loop.begin - e->loop.period) ||
                     within(&e->loop, index, e->loop.begin);
        if (!inner && n->in[k] != f->in[k]) return false;
    }
    bool gaps = strstr(n->op->name, "recurrent") || strstr(n->op->name, "attention");
    return !n->args || gaps || memcmp(n->args, f->args, n->op->args_size) == 0;
}

/* Adds the state that input k of a step is, with the value before the first step. */
static bool add_state(exporter *e, scan_node *scan, const paired *s, int k) {
    step_loop *l = &e->loop;
    const heed_tensor *x = s->in[0]->in[k];
    const heed_tensor *from[2] = {first_of(e, s, 0)->in[k], first_of(e, s, 1)->in[k]};
    if (state_of(e, x)) return true;
    if (l->states == MOST_STATES) return false;
    onnx first = value_of(e, from);
    l->state[l->states].of = x;
    l->state[l->states].value = scan_state(e, scan, first);
    return l->state[l->states++].value != NULL;
}

static bool loop_begin(exporter *e, scan_node *scan, int from) {
    step_loop *l = &e->loop;
    int end = from;
    scan_begin(e, scan);
    for (; end < e->steps && in_body(e, &e->step[end]); end++) {
        const paired *s = &e->step[end];
        if (!repeats(e, s)) return false;
        for (int k = 0; k < s->in[0]->inputs; k++) {
            const heed_tensor *x = s->in[0]->in[k];
            if (x && x->node && within(l, x->node->index, l->begin - l->period) &&
                !add_state(e, scan, s, k))
                return false;
        }
    }
    for (int i = from; i < end; i++) {
        paired *s = &e->step[i];
        if (!is_position(e, s)) continue;
        onnx y = scan_input(e, scan, input_of(e, s, 0));
        s->value = y ? ONNX(e, "Unsqueeze", y, one_int(e, 1)) : NULL;
    }
    return heed_ctx_status(e->c) == HEED_OK;
}

/* The value in the body that is, one step later, what x was before. */
static onnx next(const exporter *e, const heed_tensor *x) {
    for (int i = 0; i < e->steps; i++)
        if (e->step[i].in[0]->index == x->node->index + e->loop.period) return e->step[i].value;
    return NULL;
}

/* The steps after the body that gather from it get its outputs. */
static bool loop_end(exporter *e, scan_node *scan, int from) {
    step_loop *l = &e->loop;
    onnx out[SCAN_VALUES];
    int outputs = l->states;
    for (int i = 0; i < l->states; i++) {
        onnx y = next(e, l->state[i].of);
        if (!y) return false;
        scan_output(e, scan, y);
    }
    for (int i = from; i < e->steps; i++) {
        const heed_node *n = e->step[i].in[0];
        if (!gathers_all(e, n, e->step[i].in[1])) continue;
        if (*(const int *)n->args != 1 || n->y->dims != 3) return false;
        onnx y = step_of(e, n->in[1])->value;
        scan_output(e, scan, ONNX(e, "Squeeze", y, one_int(e, 1)));
    }
    if (!scan_end(e, scan, out)) return false;
    for (int i = from; i < e->steps; i++)
        if (gathers_all(e, e->step[i].in[0], e->step[i].in[1])) e->step[i].value = out[outputs++];
    return true;
}

static void loop_free(exporter *e) {
    for (int k = 0; k < 2; k++) heed__free(e->loop.first[k]);
}

/* ---- inputs ---- */

/* No two sizes are equal, or multiples of another in both recordings. */
static void sizes(exporter *e, const char *name, int input, int axis, int a, int b) {
    if (a != b)
        e->symbol[e->symbols++] =
            (size_symbol){.name = name, .size = {a, b}, .input = input, .axis = axis};
}

/* One of the inputs, with the values 0, at both sizes. */
static graph_input *input(exporter *e, const char *name, const char *length, const int *more) {
    graph_input *in = &e->input[e->inputs++];
    *in = (graph_input){.name = name, .dim = {"batch", length}};
    for (int k = 0; k < 2; k++) {
        int shape[HEED_DIMS] = {2 + k};
        for (int i = 0; i < e->symbols; i++)
            if (length && strcmp(e->symbol[i].name, length) == 0) shape[1] = e->symbol[i].size[k];
        if (length && !shape[1]) shape[1] = 1;
        if (more) memcpy(shape + 1, more, 3 * sizeof *more);
        in->x[k] =
            more ? heed_input(e->tape[k], NULL, 4, shape) : heed_new_ids(e->tape[k], 2, shape);
    }
    return in;
}

/* The last r tokens of row r are padding, but not its first. */
static graph_input *mask(exporter *e, const char *length) {
    graph_input *in = input(e, "mask", length, NULL);
    for (int k = 0; k < 2; k++)
        for (int i = 0; in->x[k] && i < (int)in->x[k]->size; i++) {
            int len = in->x[k]->shape[1], at = i % len;
            in->x[k]->i[i] = at == 0 || at < len - i / len;
        }
    return in;
}

/* Patches that a masked auto-encoder hides, from 0 in each picture, and as its model reads them,
 * from 0 in the batch. */
static void hide(exporter *e, heed_model_input out[2]) {
    const heed_model *m = e->r->model;
    heed_grid g;
    if (!m->grid || !m->grid(e->r->self, &g) || g.hidden < 1) return;
    graph_input *in = &e->input[e->inputs++];
    int patches = g.rows * g.cols;
    *in = (graph_input){.name = "hidden", .dim = {"batch"}};
    for (int k = 0; k < 2; k++) {
        int rows = 2 + k, count = rows * g.hidden;
        in->x[k] = heed_new_ids(e->tape[k], 2, (int[]){rows, g.hidden});
        out[k].masked_positions = heed_new_ids(e->tape[k], 1, &count);
        for (int i = 0; in->x[k] && out[k].masked_positions && i < count; i++) {
            in->x[k]->i[i] = (i / g.hidden + i % g.hidden) % patches;
            out[k].masked_positions->i[i] = in->x[k]->i[i] + i / g.hidden * patches;
        }
    }
}

static void make_inputs(exporter *e, heed_model_input out[2]) {
    const heed_data_kind *kind = heed_model_data(e->r->model);
    bool picture = kind->images, target = kind->target, pair = target && !picture;
    bool many = !e->longest || e->longest >= 5, one = e->longest == 1, three = e->longest > 3;
    graph_input *x, *pad = NULL, *types = NULL, *to = NULL;
    sizes(e, "batch", 0, 0, 2, 3);
    if (pair) sizes(e, "source_length", 0, 1, many ? 5 : one ? 1 : 2, many ? 4 : 1);
    if (!picture || target)
        sizes(e, "length", pair ? 2 : target, 1, three || many ? 3 : 1,
              many    ? 5
              : three ? 4
              : one   ? 1
                      : 2);
    if (picture) {
        const heed_config *f = e->r->config;
        int side = (int)heed_config_int(f, "image-size");
        x = input(e, "picture", NULL, (int[]){side, side, (int)heed_config_int(f, "channels")});
    } else {
        const char *length = pair ? "source_length" : "length";
        x = input(e, pair ? "source" : "ids", length, NULL);
        pad = mask(e, length);
        if (!pair) types = input(e, "types", length, NULL);
    }
    if (target) to = input(e, "target", "length", NULL);
    for (int k = 0; k < 2; k++)
        out[k] = (heed_model_input){.x = x->x[k],
                                    .pad = pad ? pad->x[k] : NULL,
                                    .types = types ? types->x[k] : NULL,
                                    .target = to ? to->x[k] : NULL};
    if (picture && !target) hide(e, out);
}

/* ---- nodes ---- */

/* The nodes that y and the kept weights depend on, by their index; returns the number of indices.
 */
static int reach(const heed_tape *t, const heed_tensor *y, heed_node **at, int count) {
    const char *path;
    int most = y->node ? y->node->index + 1 : 0;
    for (int i = 0; i < heed_probe_count(t); i++) {
        const heed_tensor *x = heed_probe_at(t, i, &path);
        if (x->node && x->node->index >= most) most = x->node->index + 1;
        if (x->node && at) at[x->node->index] = x->node;
    }
    if (!at) return most;
    if (y->node) at[y->node->index] = y->node;
    for (int i = count; i-- > 0;)
        for (int k = 0; at[i] && k < at[i]->inputs; k++) {
            const heed_tensor *x = at[i]->in[k];
            if (x && x->node) at[x->node->index] = x->node;
        }
    return most;
}

/* Writes the nodes of a recording to `which` of the steps; -1: out of memory. */
static int list(exporter *e, int which, size_t *capacity) {
    int most = reach(e->tape[which], e->logits[which], NULL, 0), count = 0;
    heed_node **at = heed__alloc_array(e->c, (size_t)most + 1, sizeof *at);
    if (!at) return -1;
    reach(e->tape[which], e->logits[which], at, most);
    for (int i = 0; i < most; i++) {
        size_t need = (size_t)count + 1;
        if (!at[i]) continue;
        if (need > *capacity && !heed__grow(e->c, &e->step, capacity, need, sizeof *e->step)) {
            count = -1;
            break;
        }
        e->step[count++].in[which] = at[i];
    }
    heed__free(at);
    return count;
}

/* Whether the recordings differ in nothing but sizes. */
static bool same_structure(const exporter *e) {
    for (int i = 0; i < e->steps; i++) {
        const heed_node *a = e->step[i].in[0], *b = e->step[i].in[1];
        bool same = a && b && a->op == b->op && a->y->dims == b->y->dims;
        if (same && gathers_all(e, a, b)) continue;
        same = same && a->inputs == b->inputs;
        for (int k = 0; same && k < a->inputs; k++) same = !a->in[k] == !b->in[k];
        if (!same) return false;
    }
    return true;
}

static void count_readers(exporter *e) {
    for (int i = 0; i < e->steps; i++)
        for (int k = 0; k < e->step[i].in[0]->inputs; k++) {
            paired *from = step_of(e, e->step[i].in[0]->in[k]);
            if (from) from->readers++;
        }
}

static bool record_model(exporter *e) {
    const heed_model *m = e->r->model;
    heed_model_input in[2];
    size_t capacity = 0;
    for (int k = 0; k < 2; k++) {
        e->tape[k] = heed_tape_new(e->c);
        heed_probe(e->tape[k], "*.weights", false);
        heed_tape_begin(e->tape[k], HEED_TRACE, 0);
    }
    make_inputs(e, in);
    if (heed_ctx_status(e->c) != HEED_OK) return false;
    for (int k = 0; k < 2; k++) {
        e->logits[k] = m->logits(e->r->self, e->tape[k], &in[k]);
        if (!e->logits[k] || heed_ctx_status(e->c) != HEED_OK) return false;
    }
    int counts[2];
    for (int k = 0; k < 2; k++)
        if ((counts[k] = list(e, k, &capacity)) < 0) return false;
    if (counts[0] != counts[1]) fold_steps(e, counts);
    e->steps = counts[0];
    if (counts[0] != counts[1] || !same_structure(e))
        return heed_fail(e->c, HEED_USAGE,
                         "%s cannot be exported: its ops depend on the length of its input",
                         m->name);
    count_readers(e);
    return true;
}

static void record_free(exporter *e) {
    loop_free(e);
    heed__free(e->step);
    for (int k = 0; k < 2; k++) heed_tape_free(e->tape[k]);
}

/* ---- the file ---- */

static void put_property(heed_text *out, const char *key, const char *value) {
    heed_text pair = {.c = out->c};
    proto_text(&pair, 1, key);
    proto_text(&pair, 2, value);
    proto_bytes(out, 14, pair.s, pair.n);
    heed_text_free(&pair);
}

/* What those need who use the file: the classes, and how pixels are prepared. */
static void put_properties(heed_text *out, const heed_run *r) {
    static const char *const settings[] = {"mean", "std", NULL};
    heed_text labels = {.c = r->c};
    put_property(out, "heed.model", r->model->name);
    for (int i = 0; settings[i]; i++)
        if (heed_config_has(r->config, settings[i]) && *heed_config_text(r->config, settings[i]))
            put_property(out, settings[i], heed_config_text(r->config, settings[i]));
    for (int i = 0; i < r->label_count; i++)
        heed_text_add(&labels, "%s%s", i ? "\n" : "", r->labels[i]);
    if (labels.n) put_property(out, "labels", labels.s);
    heed_text_free(&labels);
}

/* The parameters' values are not copied, except to floats from double precision. */
typedef struct {
    heed_text *header; /* (params) */
    float **values;    /* (params) in double precision */
    heed__piece *piece;
    int pieces;
    size_t bytes;
} weights;

static bool put_parameter(const heed_tensor *x, heed_text *header, float **values,
                          heed__piece *piece) {
    heed_text fields = {.c = header->c};
    size_t bytes = x->size * sizeof(float);
    proto_tensor(&fields, x->name, true, x->dims, x->shape);
    proto_begin(&fields, 9, bytes);
    proto_begin(header, 5, fields.n + bytes);
    heed_text_put(header, fields.s, fields.n);
    heed_text_free(&fields);
    piece[0] = (heed__piece){header->s, header->n};
    piece[1] = (heed__piece){x->x, bytes};
    if (sizeof(heed_real) == sizeof(float)) return true;
    if (!(*values = heed__alloc_array(header->c, x->size + 1, sizeof **values))) return false;
    for (size_t i = 0; i < x->size; i++) (*values)[i] = (float)x->x[i];
    piece[1].data = *values;
    return true;
}

static bool make_weights(const exporter *e, weights *w) {
    size_t n = e->params + 1;
    w->header = heed__alloc_array(e->c, n, sizeof *w->header);
    w->values = heed__alloc_array(e->c, n, sizeof *w->values);
    w->piece = heed__alloc_array(e->c, 2 * n + 2, sizeof *w->piece);
    if (!w->header || !w->values || !w->piece) return false;
    for (size_t i = 0; i < e->params; i++) {
        w->header[i].c = e->c;
        if (!put_parameter(e->param[i], &w->header[i], &w->values[i], &w->piece[2 * i + 2]))
            return false;
    }
    w->pieces = 2 * (int)e->params + 2;
    for (int i = 2; i < w->pieces; i++) w->bytes += w->piece[i].n;
    return heed_ctx_status(e->c) == HEED_OK;
}

static void free_weights(const exporter *e, weights *w) {
    for (size_t i = 0; w->header && w->values && i < e->params; i++) {
        heed_text_free(&w->header[i]);
        heed__free(w->values[i]);
    }
    heed__free(w->header);
    heed__free(w->values);
    heed__free(w->piece);
}

/* The graph last, and in it the parameters: all before is one piece. */
static bool write_model(exporter *e, const char *path) {
    heed_text model = {.c = e->c}, graph = {.c = e->c}, opset = {.c = e->c};
    const heed_text *parts[] = {&e->graph.nodes, NULL, &e->graph.constants, &e->graph.inputs,
                                &e->graph.outputs};
    weights w = {0};
    bool ok = make_weights(e, &w);
    for (int i = 0; i < 5; i++) {
        if (!parts[i])
            proto_text(&graph, 2, e->r->model->name);
        else
            append(&graph, parts[i]);
    }
    proto_int(&model, 1, IR_VERSION);
    proto_text(&model, 2, "heed");
    proto_text(&model, 3, HEED_VERSION);
    proto_int(&opset, 2, OPSET);
    proto_bytes(&model, 8, opset.s, opset.n);
    put_properties(&model, e->r);
    proto_begin(&model, 7, graph.n + w.bytes);
    if (ok && model.n + graph.n + w.bytes > INT32_MAX)
        ok = heed_fail(e->c, HEED_USAGE,
                       "%s is too large for ONNX: expected less than 2 GB, found %zu bytes",
                       e->r->model->name, graph.n + w.bytes);
    if (ok) w.piece[0] = (heed__piece){model.s, model.n};
    if (ok) w.piece[1] = (heed__piece){graph.s, graph.n};
    ok = ok && heed_ctx_status(e->c) == HEED_OK && heed__os_write(e->c, path, w.piece, w.pieces);
    free_weights(e, &w);
    heed_text_free(&model);
    heed_text_free(&graph);
    heed_text_free(&opset);
    return ok;
}

/* ---- inputs and outputs ---- */

/* x in both recordings. With a cache, attention has more keys than the input has tokens. */
static void output(exporter *e, onnx name, const heed_tensor *const x[2], bool attention) {
    const char *names[HEED_DIMS];
    for (int d = 0; d < x[0]->dims; d++) {
        names[d] = size_name(e, x[0]->shape[d], x[1]->shape[d]);
        if (attention && e->cache && d == x[0]->dims - 1) names[d] = "total";
    }
    declare(&e->graph.outputs, 12, name, true, x[0]->dims, x[0]->shape, names);
}

/* ---- nodes ---- */

/* The form of the step's op; not a custom op that has such a name. */
static onnx form_of_step(exporter *e, paired *s) {
    const heed_op *op = s->in[0]->op;
    bool own = false;
    for (const heed_op *const *list = heed_op_table(); *list; list++)
        for (const heed_op *o = *list; o->name; o++) own = own || o == op;
    for (size_t i = 0; own && i < sizeof forms / sizeof *forms; i++) {
        onnx in[4] = {NULL};
        if (strcmp(forms[i].op, op->name) != 0) continue;
        s->how = forms[i].how;
        if (forms[i].form) return forms[i].form(e, s);
        for (int k = 0; k < s->in[0]->inputs && k < 3; k++) in[k] = input_of(e, s, k);
        return ONNX(e, s->how, in[0], in[1], in[2]);
    }
    return refuse_node(e, op->name, s->in[0]);
}

/* "decoder.0.attn" -> "decoder.0", "embed.token" -> "embed": the layer that an op without a name
 * belongs to, after one with that name. */
static const char *layer_of(exporter *e, const char *name) {
    const char *dot = strrchr(name, '.');
    size_t n = strlen(name), to = dot ? (size_t)(dot - name) : 0;
    for (size_t i = 0; i < n; i++)
        if (isdigit((unsigned char)name[i]) && (i + 1 == n || name[i + 1] == '.')) to = i + 1;
    return make_name(&e->graph, "%.*s", (int)to, name);
}

/* An affine op that a recurrent layer reads is part of its node. */
static void skip_gates(exporter *e) {
    for (int i = 0; i < e->steps; i++) {
        const heed_node *n = e->step[i].in[0];
        paired *from = NULL;
        if (strcmp(n->op->name, "recurrent") == 0) from = step_of(e, n->in[0]);
        if (!from || strcmp(from->in[0]->op->name, "affine") != 0 || from->readers != 1) continue;
        from->skipped = *(const heed_act *)from->in[0]->args == HEED_IDENTITY;
    }
}

static bool refuse_loop(const exporter *e) {
    return heed_fail(e->c, HEED_USAGE,
                     "%s cannot be exported to ONNX: the steps of its decoder differ",
                     e->r->model->name);
}

static bool translate_step(exporter *e, paired *s) {
    if (s->skipped || s->value) return true;
    s->value = form_of_step(e, s);
    return s->value && heed_ctx_status(e->c) == HEED_OK;
}

static bool translate(exporter *e) {
    const char *layer = "";
    scan_node scan = {.ins = 0};
    bool inside = false, ok = true;
    skip_gates(e);
    for (int i = 0; ok && i < e->steps; i++) {
        const heed_node *n = e->step[i].in[0];
        bool body = in_body(e, &e->step[i]);
        e->graph.scope = e->g->scope = n->named ? n->name : layer;
        if (n->named) layer = layer_of(e, n->name);
        if (body && !inside) ok = loop_begin(e, &scan, i) || refuse_loop(e);
        if (!body && inside) ok = loop_end(e, &scan, i) || refuse_loop(e);
        inside = body;
        ok = ok && translate_step(e, &e->step[i]);
    }
    if (e->g != &e->graph) graph_free(&scan.body); /* after an error */
    return ok && !inside;
}

/* ---- outputs ---- */

/* Whether a kept value is the attention of a layer: "decoder.0.attn.weights". */
static bool is_attention(const heed_run *r, const char *path) {
    heed_attention_info a;
    for (int i = 0; r->model->attending && r->model->attending(r->self, i, &a); i++) {
        size_t n = strlen(a.path);
        if (strncmp(path, a.path, n) == 0 && strcmp(path + n, ".weights") == 0) return true;
    }
    return false;
}

static bool outputs(exporter *e) {
    const paired *last = step_of(e, e->logits[0]);
    const char *path, *other;
    if (!last) return heed_fail(e->c, HEED_USAGE, "model has no ops: %s", e->r->model->name);
    e->graph.scope = "";
    e->graph.result = "logits";
    add_node(&e->graph, IN(last->value), "Identity");
    heed_text first = {.c = e->c};
    append(&first, &e->graph.outputs);
    e->graph.outputs.n = 0;
    output(e, "logits", e->logits, false);
    for (int i = 0; i < heed_probe_count(e->tape[0]); i++) {
        const heed_tensor *x[2] = {heed_probe_at(e->tape[0], i, &path)};
        x[1] = heed_probe_at(e->tape[1], i, &other);
        if (!is_attention(e->r, path)) continue;
        const paired *note = step_of(e, x[0]);
        onnx name = make_name(&e->graph, "%s", path);
        e->graph.result = name;
        if (note) add_node(&e->graph, IN(note->value), "Identity");
        e->graph.result = NULL;
        output(e, name, x, true);
    }
    append(&e->graph.outputs, &first); /* then those of the cache */
    heed_text_free(&first);
    return heed_ctx_status(e->c) == HEED_OK;
}

static void inputs(exporter *e) {
    heed_text after = e->graph.inputs; /* those of the cache */
    e->graph.inputs = (heed_text){.c = e->c};
    for (int i = 0; i < e->inputs; i++) {
        const graph_input *in = &e->input[i];
        if (in->used)
            declare(&e->graph.inputs, 11, in->name, in->x[0]->x != NULL, in->x[0]->dims,
                    in->x[0]->shape, in->dim);
    }
    append(&e->graph.inputs, &after);
    heed_text_free(&after);
}

static bool check(const heed_run *r, bool cache) {
    const heed_model *m = r->model;
    if (!heed_model_data(m)->open)
        return heed_fail(r->c, HEED_USAGE, "%s cannot be exported to ONNX: it reads dense numbers",
                         m->name);
    return !cache || heed_model_data(m)->ahead ||
           heed_fail(r->c, HEED_USAGE,
                     "%s has no cache: expected a model that predicts the next token, such as gpt",
                     m->name);
}

bool heed_export_onnx(const heed_run *r, const char *path, bool cache) {
    if (!r || !path || heed__stopped(r->c) || !check(r, cache)) return false;
    exporter e = {.r = r, .c = r->c, .cache = cache, .g = &e.graph};
    if (heed_config_has(r->config, "block")) e.longest = (int)heed_config_int(r->config, "block");
    e.graph.nodes.c = e.graph.inputs.c = e.graph.outputs.c = e.graph.constants.c = r->c;
    bool ok = record_model(&e) && translate(&e) && outputs(&e);
    if (ok) inputs(&e);
    ok = ok && write_model(&e, path);
    record_free(&e);
    graph_free(&e.graph);
    heed__free(e.param);
    return ok;
}
