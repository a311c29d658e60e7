/* leaves.c -- what nodes read that no node computed: parameters, inputs, constants, and arrays that
 * a model fills by the sizes and the padding of its input. The latter are recognised by their
 * values in both recordings. */
#include "exchange/onnx/onnx.h"

#include <stdio.h>
#include <string.h>

typedef const heed_tensor *const both[2];
static onnx leaf(heed__onnx_export *e, both x);

/* ---- constants ---- */

static bool same_shape(both x) { return heed_same_shape(x[0], x[1]); }

static bool same_values(both x) {
    size_t n = x[0]->size;
    return same_shape(x) && (x[0]->x ? memcmp(x[0]->x, x[1]->x, n * sizeof *x[0]->x) == 0
                                     : memcmp(x[0]->i, x[1]->i, n * sizeof *x[0]->i) == 0);
}

static onnx constant(heed__onnx_export *e, both x) {
    if (!same_values(x)) return NULL;
    onnx name = heed__onnx_name(&e->graph, "constant.%d", e->graph.count++);
    return heed__onnx_tensor(&e->graph, name, x[0]);
}

static double number(const heed_tensor *x, size_t i) {
    return x->x ? (double)x->x[i] : (double)x->i[i];
}

/* One value, in a shape that depends on the input. */
static onnx filled(heed__onnx_export *e, both x) {
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < x[k]->size; i++)
            if (number(x[k], i) != number(x[0], 0)) return NULL;
    if (!x[0]->size || !x[1]->size) return NULL;
    onnx one = x[0]->x ? heed__onnx_real(e->g, number(x[0], 0)) : heed__onnx_int(e->g, x[0]->i[0]);
    return ONNX(e, "Expand", one, heed__onnx_shape(e, x));
}

/* The first rows of the sinusoids of Vaswani et al. 2017. */
static onnx sinusoids(heed__onnx_export *e, both x) {
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
        onnx name = heed__onnx_name(e->g, "sinusoids.%d", width);
        if (!heed__onnx_find(e->g, name)) heed__onnx_tensor(e->g, name, table);
        y = heed__onnx_positions(e, name, x[0]->shape[0], x[1]->shape[0]);
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
static onnx range_of(heed__onnx_export *e, onnx from, onnx to) {
    from = ONNX(e, "Squeeze", from);
    to = ONNX(e, "Squeeze", to);
    return ONNX(e, "Range", from, to, heed__onnx_int(e->g, 1));
}

/* (B,S): 1 at the last token that is not padding. */
static onnx last_token(heed__onnx_export *e, onnx seen, onnx range) {
    onnx at = ONNX(e, "Cast to=1", seen);
    onnx place = ONNX(e, "Cast to=1", range);
    at = ONNX(e, "Mul", at, place);
    at = ONNX(e, "ArgMax axis=1", at);
    return ONNX(e, "Equal", at, range);
}

static onnx of_tokens(heed__onnx_export *e, int form, both mask) {
    onnx seen = ONNX(e, "Cast to=9", leaf(e, mask));
    onnx y = ONNX(e, "Cast to=1", seen);
    if (form == PRESENT) return y;
    if (form == MEAN) return ONNX(e, "Div", y, ONNX(e, "ReduceSum", y, heed__onnx_one(e, 1)));
    onnx range =
        range_of(e, heed__onnx_one(e, 0), heed__onnx_size(e, mask[0]->shape[1], mask[1]->shape[1]));
    onnx last = last_token(e, seen, range);
    y = ONNX(e, "Cast to=1", last);
    if (form == LAST) return y;
    onnx first = ONNX(e, "Equal", range, heed__onnx_int(e->g, 0));
    first = ONNX(e, "Cast to=1", first);
    y = ONNX(e, "Add", y, first);
    return ONNX(e, "Mul", y, heed__onnx_real(e->g, 0.5));
}

static onnx of_padding(heed__onnx_export *e, both x, both mask) {
    int form = 0;
    while (form < FORMS && !(has_form(form, x[0], mask[0]) && has_form(form, x[1], mask[1])))
        form++;
    if (form == FORMS || x[0]->dims > 3) return NULL;
    onnx y = x[0]->i ? leaf(e, mask) : of_tokens(e, form, mask);
    if (x[0]->dims == 2) return y;
    bool column = x[0]->shape[2] == 1 && x[1]->shape[2] == 1;
    y = ONNX(e, "Unsqueeze", y, heed__onnx_one(e, column ? 2 : 1));
    if (column || (x[0]->shape[1] == 1 && x[1]->shape[1] == 1)) return y;
    return ONNX(e, "Expand", y, heed__onnx_shape(e, x));
}

/* ---- keys that a query sees: (B|1,1,Tq,Tk) ---- */

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

static onnx of_seen(heed__onnx_export *e, both x, both mask) {
    static const bool causal[] = {true, true, false}, padded[] = {false, true, true};
    if (x[0]->dims != 4 || !x[0]->i || x[0]->shape[1] != 1 || e->cache) return NULL;
    for (int i = 0; i < 3; i++) {
        if (padded[i] && !mask[0]) continue;
        if (!is_seen(x[0], padded[i] ? mask[0] : NULL, causal[i]) ||
            !is_seen(x[1], padded[i] ? mask[1] : NULL, causal[i]))
            continue;
        onnx tq = heed__onnx_size(e, x[0]->shape[2], x[1]->shape[2]);
        onnx tk = heed__onnx_size(e, x[0]->shape[3], x[1]->shape[3]);
        onnx y =
            heed__onnx_visible(e, causal[i] ? IN(tq, tk) : NULL, padded[i] ? leaf(e, mask) : NULL);
        return ONNX(e, "Cast to=7", y);
    }
    return NULL;
}

/* (Tq,Tk), (B,1,1,Tk) or (B,1,Tq,Tk): true where a query sees a key. causal: Tq and Tk, or NULL.
 * mask (B,Tk) or NULL. */
onnx heed__onnx_visible(heed__onnx_export *e, const onnx *causal, onnx mask) {
    onnx y = NULL, pad = NULL;
    if (causal) {
        char key[512];
        snprintf(key, sizeof key, "causal %s %s", causal[0], causal[1]);
        if (!(y = heed__onnx_find(e->g, key))) {
            onnx before = ONNX(e, "Sub", causal[1], causal[0]);
            onnx rows = range_of(e, before, causal[1]);
            onnx keys = range_of(e, heed__onnx_one(e, 0), causal[1]);
            rows = ONNX(e, "Unsqueeze", rows, heed__onnx_one(e, 1));
            y = ONNX(e, "LessOrEqual", keys, rows);
            heed__onnx_keep(e->g, key, y);
        }
    }
    if (mask) {
        pad = ONNX(e, "Cast to=9", mask);
        pad = ONNX(e, "Unsqueeze", pad, INTS(e->g, 1, 2));
    }
    return !pad ? y : !y ? pad : ONNX(e, "And", y, pad);
}

/* ---- any leaf ---- */

static onnx parameter(heed__onnx_export *e, const heed_tensor *x) {
    for (size_t i = 0; i < e->params; i++)
        if (e->param[i] == x) return x->name;
    if (!heed__grow(e->c, &e->param, &e->param_capacity, e->params + 1, sizeof *e->param))
        return NULL;
    e->param[e->params++] = x;
    return x->name;
}

static onnx made(heed__onnx_export *e, both x) {
    const heed__onnx_input *in = heed__onnx_input_named(e, "mask");
    const heed_tensor *mask[2] = {in ? in->x[0] : NULL, in ? in->x[1] : NULL};
    onnx y = constant(e, x);
    if (!y) y = filled(e, x);
    if (!y) y = sinusoids(e, x);
    if (!y) y = heed__onnx_patches(e, x);
    if (!y && mask[0]) y = of_padding(e, x, mask);
    return y ? y : of_seen(e, x, mask);
}

heed__onnx_input *heed__onnx_input_named(heed__onnx_export *e, const char *name) {
    for (int i = 0; i < e->inputs; i++)
        if (strcmp(e->input[i].name, name) == 0) return &e->input[i];
    return NULL;
}

/* The value of an array that no node computed. */
static onnx leaf(heed__onnx_export *e, both x) {
    char key[40];
    if (x[0]->name) return parameter(e, x[0]);
    for (int i = 0; i < e->inputs; i++)
        if (e->input[i].x[0] == x[0]) {
            e->input[i].used = true;
            return e->input[i].name;
        }
    snprintf(key, sizeof key, "leaf %p", (const void *)x[0]);
    onnx y = heed__onnx_find(e->g, key);
    if (y) return y;
    heed__onnx_graph *at = e->g;
    e->g = &e->graph;
    y = heed__onnx_keep(e->g, key, made(e, x));
    e->g = at;
    return y;
}

onnx heed__onnx_value(heed__onnx_export *e, both x) {
    const heed__onnx_step *from = heed__onnx_step_of(e, x[0]);
    onnx state = heed__onnx_state(e, x[0]);
    return state ? state : from ? from->value : leaf(e, x);
}

onnx heed__onnx_in(heed__onnx_export *e, const heed__onnx_step *s, int k) {
    const heed_tensor *x[2] = {s->in[0]->in[k], s->in[1]->in[k]};
    if (!x[0]) return "";
    onnx y = heed__onnx_value(e, x);
    if (y || heed_ctx_status(e->c) != HEED_OK) return y;
    return heed__onnx_refuse(e, "an array computed outside the ops", s->in[0]);
}
