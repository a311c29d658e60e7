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
    onnx shape = heed__onnx_node(e->g, IN(batch, INTS(e->g, all)), "Concat axis=0");
    onnx zeros = heed__onnx_node(e->g, IN(heed__onnx_int(e->g, 0), shape), "Expand");
    onnx at = in->name;
    if (g->first) at = heed__onnx_node(e->g, IN(at, heed__onnx_int(e->g, g->first)), "Add");
    onnx size = heed__onnx_node(e->g, IN(at), "Shape");
    onnx ones = heed__onnx_node(e->g, IN(heed__onnx_int(e->g, 1), size), "Expand");
    onnx y = heed__onnx_node(e->g, IN(zeros, at, ones), "ScatterElements axis=1");
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
    onnx zero = heed__onnx_int(e->g, 0), minus = INTS(e->g, -1);
    onnx hidden = heed__onnx_node(e->g, IN(marks(e, in, &g, all), minus), "Reshape"); /* (B all) */
    onnx visible = heed__onnx_node(e->g, IN(hidden, zero), "Equal");
    if (!back) {
        onnx rows = heed__onnx_node(e->g, IN(visible), "NonZero");
        return heed__onnx_node(e->g, IN(rows, INTS(e->g, -1, seen)), "Reshape");
    }
    onnx one = heed__onnx_node(e->g, IN(visible), "Cast to=7");
    onnx count = heed__onnx_node(e->g, IN(one), "ReduceSum");
    onnx at = heed__onnx_node(e->g, IN(one, zero), "CumSum exclusive=1");
    at = heed__onnx_node(e->g, IN(visible, at, count), "Where");
    return heed__onnx_node(e->g, IN(at, INTS(e->g, -1, all)), "Reshape");
}
