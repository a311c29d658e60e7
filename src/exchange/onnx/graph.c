/* graph.c -- ONNX graphs as protocol buffers, field by field of onnx.proto. */
#include "exchange/onnx/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void heed__proto_int(heed_text *out, int field, int64_t x) {
    tag(out, field, VARINT);
    varint(out, (uint64_t)x);
}

static void proto_real(heed_text *out, int field, float x) {
    tag(out, field, FIXED32);
    heed_text_put(out, (const char *)&x, sizeof x);
}

void heed__proto_begin(heed_text *out, int field, size_t n) {
    tag(out, field, BYTES);
    varint(out, n);
}

void heed__proto_bytes(heed_text *out, int field, const void *bytes, size_t n) {
    heed__proto_begin(out, field, n);
    if (n) heed_text_put(out, bytes, n);
}

void heed__proto_text(heed_text *out, int field, const char *text) {
    heed__proto_bytes(out, field, text, strlen(text));
}

/* ---- names ---- */

static heed__onnx_graph *top_of(heed__onnx_graph *g) {
    while (g->outer) g = g->outer;
    return g;
}

void heed__onnx_graph_free(heed__onnx_graph *g) {
    for (size_t i = 0; i < g->name_count; i++) heed__free(g->names[i]);
    heed__free(g->names);
    heed__free(g->known);
    heed_text_free(&g->nodes);
    heed_text_free(&g->inputs);
    heed_text_free(&g->outputs);
    heed_text_free(&g->constants);
}

const char *heed__onnx_name(heed__onnx_graph *g, const char *format, ...) {
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

onnx heed__onnx_find(const heed__onnx_graph *g, const char *key) {
    for (; g && key; g = g->outer)
        for (size_t i = 0; i < g->known_count; i++)
            if (strcmp(g->known[i].key, key) == 0) return g->known[i].value;
    return NULL;
}

onnx heed__onnx_keep(heed__onnx_graph *g, const char *key, onnx value) {
    const char *own = value ? heed__onnx_name(g, "%s", key) : NULL;
    size_t count = g->known_count + 1;
    if (!own || !heed__grow(g->nodes.c, &g->known, &g->known_capacity, count, sizeof *g->known))
        return NULL;
    g->known[g->known_count++] = (heed__onnx_known){own, value};
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
        heed__proto_text(out, list ? 9 : 4, text);
        return list ? STRINGS : STRING;
    }
    if (s[n - 1] == 'f') {
        proto_real(out, 2, (float)strtod(text, NULL));
        return FLOAT;
    }
    heed__proto_int(out, list ? 8 : 3, strtoll(text, NULL, 10));
    return list ? INTS_ : INT;
}

/* "axis=-1" or "perm=[0,2,1]" */
static void put_attribute(heed_text *node, const char *s, size_t n) {
    heed_text a = {.c = node->c};
    size_t name = strcspn(s, "=");
    const char *value = s + name + 1, *end = s + n;
    bool list = *value == '[';
    int type = INTS_;
    heed__proto_bytes(&a, 1, s, name);
    if (list) value++, end--;
    while (value < end) {
        size_t one = strcspn(value, ",] ");
        type = put_value(&a, value, one, list);
        value += one + 1;
    }
    heed__proto_int(&a, 20, type);
    heed__proto_bytes(node, 5, a.s, a.n);
    heed_text_free(&a);
}

void heed__onnx_append(heed_text *out, const heed_text *more) {
    if (more->n) heed_text_put(out, more->s, more->n);
}

static void put_body(heed_text *node, const heed__onnx_graph *body) {
    heed_text a = {.c = node->c}, graph = {.c = node->c};
    heed__onnx_append(&graph, &body->nodes);
    heed__proto_text(&graph, 2, "step");
    heed__onnx_append(&graph, &body->inputs);
    heed__onnx_append(&graph, &body->outputs);
    heed__proto_text(&a, 1, "body");
    heed__proto_bytes(&a, 6, graph.s, graph.n);
    heed__proto_int(&a, 20, GRAPH);
    heed__proto_bytes(node, 5, a.s, a.n);
    heed_text_free(&graph);
    heed_text_free(&a);
}

/* ---- nodes ---- */

void heed__onnx_nodes(heed__onnx_graph *g, const onnx *in, int outputs, onnx *out,
                      const heed__onnx_graph *body, const char *text) {
    heed_text node = {.c = g->nodes.c};
    int type = (int)strcspn(text, " ");
    const char *scope = g->scope ? g->scope : "";
    const char *name =
        heed__onnx_name(g, "%s%s%.*s.%d", scope, *scope ? "/" : "", type, text, top_of(g)->count++);
    for (; *in; in++) heed__proto_text(&node, 1, *in);
    for (int i = 0; i < outputs; i++) {
        out[i] = i ? heed__onnx_name(g, "%s:%d", name, i) : g->result ? g->result : name;
        if (out[i]) heed__proto_text(&node, 2, out[i]);
    }
    g->result = NULL;
    if (name) heed__proto_text(&node, 3, name);
    heed__proto_bytes(&node, 4, text, (size_t)type);
    for (const char *s = text + type; *s;) {
        size_t n = strcspn(++s, " ");
        put_attribute(&node, s, n);
        s += n;
    }
    if (body) put_body(&node, body);
    heed__proto_bytes(&g->nodes, 1, node.s, node.n);
    heed_text_free(&node);
}

onnx heed__onnx_node(heed__onnx_graph *g, const onnx *in, const char *format, ...) {
    char text[256];
    onnx out;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    heed__onnx_nodes(g, in, 1, &out, NULL, text);
    return out;
}

/* ---- constants ---- */

void heed__proto_tensor(heed_text *out, onnx name, bool reals, int dims, const int *shape) {
    for (int i = 0; i < dims; i++) heed__proto_int(out, 1, shape[i]);
    heed__proto_int(out, 2, reals ? HEED__ONNX_FLOAT : HEED__ONNX_INT64);
    heed__proto_text(out, 8, name);
}

/* raw_data: little-endian. */
static onnx put_constant(heed__onnx_graph *g, onnx name, bool reals, int dims, const int *shape,
                         const void *values, size_t bytes) {
    heed__onnx_graph *top = top_of(g);
    heed_text t = {.c = top->nodes.c};
    if (!name) return NULL;
    heed__proto_tensor(&t, name, reals, dims, shape);
    heed__proto_bytes(&t, 9, values, bytes);
    heed__proto_bytes(&top->constants, 5, t.s, t.n);
    heed_text_free(&t);
    return heed__onnx_keep(top, name, name);
}

static onnx put_ints(heed__onnx_graph *g, int dims, int count, const int64_t *x) {
    char key[200] = "int";
    for (int i = 0; i < count; i++) {
        size_t n = strlen(key);
        snprintf(key + n, sizeof key - n, "%s%lld", i ? "," : dims ? "s:" : ":", (long long)x[i]);
    }
    onnx known = heed__onnx_find(g, key);
    if (known) return known;
    return put_constant(g, heed__onnx_name(g, "%s", key), false, dims, &count, x,
                        (size_t)count * sizeof *x);
}

onnx heed__onnx_ints(heed__onnx_graph *g, int count, const int64_t *x) {
    return put_ints(g, 1, count, x);
}

onnx heed__onnx_int(heed__onnx_graph *g, int64_t x) { return put_ints(g, 0, 1, &x); }

onnx heed__onnx_real(heed__onnx_graph *g, double x) {
    char key[40];
    float value = (float)x;
    snprintf(key, sizeof key, "real:%.9g", (double)value);
    onnx known = heed__onnx_find(g, key);
    if (known) return known;
    return put_constant(g, heed__onnx_name(g, "%s", key), true, 0, NULL, &value, sizeof value);
}

onnx heed__onnx_tensor(heed__onnx_graph *g, onnx name, const heed_tensor *x) {
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
