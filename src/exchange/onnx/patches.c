/* patches.c -- the rows that a masked auto-encoder gathers, by an input of hidden patches: those
 * that the encoder sees, and from its output, followed by the row of the mask, those of all
 * positions.
 */
#include "exchange/onnx/onnx.h"

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
static onnx marks(heed__onnx_export *e, const heed__onnx_input *in, const heed_grid *g, int all) {
    onnx known = heed__onnx_find(e->g, "hidden marks");
    if (known) return known;
    onnx batch = heed__onnx_size(e, in->x[0]->shape[0], in->x[1]->shape[0]);
    if (!batch) return NULL;
    onnx shape = ONNX(e, "Concat axis=0", batch, heed__onnx_one(e, all));
    onnx zeros = ONNX(e, "Expand", heed__onnx_int(e->g, 0), shape);
    onnx at = in->name;
    if (g->first) at = ONNX(e, "Add", at, heed__onnx_int(e->g, g->first));
    onnx size = ONNX(e, "Shape", at);
    onnx ones = ONNX(e, "Expand", heed__onnx_int(e->g, 1), size);
    onnx y = ONNX(e, "ScatterElements axis=1", zeros, at, ones);
    return heed__onnx_keep(e->g, "hidden marks", y);
}

onnx heed__onnx_patches(heed__onnx_export *e, const heed_tensor *const x[2]) {
    heed__onnx_input *in = heed__onnx_input_named(e, "hidden");
    heed_grid g;
    if (!in || !e->r->model->grid(e->r->self, &g)) return NULL;
    int all = g.first + g.rows * g.cols, seen = all - g.hidden;
    places p[2] = {{in->x[0], g.first, all}, {in->x[1], g.first, all}};
    bool back = gathers(&p[0], x[0], true) && gathers(&p[1], x[1], true);
    if (!back && !(gathers(&p[0], x[0], false) && gathers(&p[1], x[1], false))) return NULL;
    in->used = true;
    onnx zero = heed__onnx_int(e->g, 0), minus = heed__onnx_one(e, -1);
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
