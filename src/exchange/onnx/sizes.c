/* sizes.c -- sizes that depend on the inputs, as values of the graph. */
#include "exchange/onnx/onnx.h"

#include <stdio.h>
#include <string.h>

/* The symbols of which a constant times their product is a and b in the recordings. */
typedef struct {
    const heed__onnx_symbol *of[2]; /* the second NULL: one symbol */
    int times;
} product;

static bool is_product(product *p, int a, int b) {
    int x = p->of[0]->size[0], y = p->of[0]->size[1];
    if (p->of[1]) x *= p->of[1]->size[0], y *= p->of[1]->size[1];
    p->times = a / x;
    return p->times > 0 && p->times * x == a && p->times * y == b;
}

static bool find_product(const heed__onnx_export *e, int a, int b, product *p) {
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

const char *heed__onnx_size_name(const heed__onnx_export *e, int a, int b) {
    product p;
    bool plain = a != b && find_product(e, a, b, &p) && !p.of[1] && p.times == 1;
    return plain ? p.of[0]->name : NULL;
}

/* (1), computed once in the model's graph. */
static onnx symbol_size(heed__onnx_export *e, const heed__onnx_symbol *s) {
    char key[64];
    snprintf(key, sizeof key, "size %s", s->name);
    onnx known = heed__onnx_find(&e->graph, key);
    if (known) return known;
    heed__onnx_input *in = &e->input[s->input];
    in->used = true;
    e->graph.result = heed__onnx_name(&e->graph, "%s", s->name);
    onnx y =
        heed__onnx_node(&e->graph, IN(in->name), "Shape start=%d end=%d", s->axis, s->axis + 1);
    return heed__onnx_keep(&e->graph, key, y);
}

onnx heed__onnx_size(heed__onnx_export *e, int a, int b) {
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
    if (p.times > 1) y = ONNX(e, "Mul", y, heed__onnx_one(e, p.times));
    return y;
}

onnx heed__onnx_shape(heed__onnx_export *e, const heed_tensor *const x[2]) {
    onnx size[HEED_DIMS + 1] = {NULL};
    int64_t constant[HEED_DIMS];
    bool fixed = true;
    for (int d = 0; d < x[0]->dims; d++) {
        fixed = fixed && x[0]->shape[d] == x[1]->shape[d];
        constant[d] = x[0]->shape[d];
    }
    if (fixed) return heed__onnx_ints(e->g, x[0]->dims, constant);
    for (int d = 0; d < x[0]->dims; d++)
        if (!(size[d] = heed__onnx_size(e, x[0]->shape[d], x[1]->shape[d]))) return NULL;
    return heed__onnx_node(e->g, size, "Concat axis=0");
}

/* The shape for a Reshape of `from`: 0 copies a size, one -1 follows from the others. */
onnx heed__onnx_reshape(heed__onnx_export *e, onnx x, const heed_tensor *const from[2],
                        const heed_tensor *const to[2]) {
    int64_t shape[HEED_DIMS];
    int open = 0;
    for (int d = 0; d < to[0]->dims; d++) {
        int a = to[0]->shape[d], b = to[1]->shape[d];
        bool same = d < from[0]->dims && from[0]->shape[d] == a && from[1]->shape[d] == b;
        shape[d] = a == b ? a : same ? 0 : -1;
        open += shape[d] < 0;
    }
    onnx s = open > 1 ? heed__onnx_shape(e, to) : heed__onnx_ints(e->g, to[0]->dims, shape);
    return ONNX(e, "Reshape", x, s);
}

/* The tokens that the cache of the first attention layer holds: (1). */
onnx heed__onnx_past(heed__onnx_export *e) {
    onnx known = heed__onnx_find(&e->graph, "size past");
    if (!e->cache) return heed__onnx_one(e, 0);
    for (int i = 0; i < e->steps && !known; i++) {
        const heed_node *n = e->step[i].in[0];
        if (strcmp(n->op->name, "self_attention") != 0) continue;
        onnx keys = heed__onnx_name(&e->graph, "%s.k.past", n->name);
        known = heed__onnx_node(&e->graph, IN(keys), "Shape start=2 end=3");
        heed__onnx_keep(&e->graph, "size past", known);
    }
    return known;
}

/* Its rows [past, past + tokens). */
onnx heed__onnx_positions(heed__onnx_export *e, onnx table, int a, int b) {
    onnx from = heed__onnx_past(e), count = heed__onnx_size(e, a, b);
    onnx to = e->cache && count ? ONNX(e, "Add", from, count) : count;
    return to ? ONNX(e, "Slice", table, from, to) : NULL;
}
