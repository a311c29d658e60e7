/* graph_frame.c -- the contents of a box: ops, inner boxes, and the ends of lines that cross its
 * border. */
#include "core/core.h"
#include "view/graph.h"

#include <string.h>

enum { END = 16 }; /* width reserved for a line at the border */

int heed__frame_item(heed_ctx *c, heed__frame *f, heed__item item) {
    if (!heed__grow(c, &f->items, &f->item_capacity, (size_t)f->count + 1, sizeof *f->items))
        return -1;
    f->items[f->count] = item;
    return f->count++;
}

/* Adds a line unless it exists. */
bool heed__frame_line(heed_ctx *c, heed__frame *f, heed__line line) {
    for (int i = 0; i < f->line_count; i++)
        if (memcmp(&f->lines[i], &line, sizeof line) == 0) return true;
    if (!heed__grow(c, &f->lines, &f->line_capacity, (size_t)f->line_count + 1, sizeof *f->lines))
        return false;
    f->lines[f->line_count++] = line;
    return true;
}

void heed__frame_free(heed__frame *f) {
    if (!f) return;
    for (int i = 0; i < f->count; i++) heed__frame_free(f->items[i].inner);
    heed__free(f->items);
    heed__free(f->lines);
    heed__free(f);
}

/* ---- items ---- */

static bool add_op(const heed__plan *p, heed__frame *f, int node) {
    heed__item item = {.kind = HEED__OP, .ref = node};
    heed__graph_size(p, &item);
    return heed__frame_item(p->g->c, f, item) >= 0;
}

static bool add_box(const heed__plan *p, heed__frame *f, int group) {
    heed__item item = {.kind = HEED__BOX, .ref = group};
    if (p->closed[group]) {
        heed__graph_size(p, &item);
        return heed__frame_item(p->g->c, f, item) >= 0;
    }
    heed__frame *inner = item.inner = heed__alloc(p->g->c, sizeof *inner);
    if (!inner) return false;
    inner->group = group;
    bool ok = heed__frame_build(p, inner);
    item.w = inner->w;
    item.h = inner->h;
    if (heed__frame_item(p->g->c, f, item) >= 0) return ok;
    heed__frame_free(inner);
    return false;
}

/* In the order of the forward pass; a box is at the position of its first op. */
static bool add_items(const heed__plan *p, heed__frame *f, int *item_of) {
    const heed_graph *g = p->g;
    for (int i = 0; i < g->count; i++) {
        int at = g->nodes[i].group, box = -1;
        item_of[i] = -1;
        if (!heed_graph_inside(g, i, f->group)) continue;
        for (; at != f->group; at = g->groups[at].parent) box = at;
        for (int k = 0; box >= 0 && k < f->count; k++)
            if (f->items[k].kind == HEED__BOX && f->items[k].ref == box) item_of[i] = k;
        if (item_of[i] >= 0) continue;
        item_of[i] = f->count;
        if (box >= 0 ? !add_box(p, f, box) : !add_op(p, f, i)) return false;
    }
    return true;
}

/* ---- lines ---- */

static int end_of(const heed__plan *p, heed__frame *f, heed__item_kind kind, int node) {
    for (int i = 0; i < f->count; i++)
        if (f->items[i].kind == kind && f->items[i].ref == node) return i;
    return heed__frame_item(p->g->c, f, (heed__item){.kind = kind, .ref = node, .w = END});
}

static bool connect(const heed__plan *p, heed__frame *f, const int *item_of, int from, int to) {
    int a = item_of[from], b = item_of[to];
    if (a == b) return true; /* both are outside, or within one inner box */
    if (a < 0) a = end_of(p, f, HEED__IN, from);
    if (b < 0) b = end_of(p, f, HEED__OUT, from);
    return a >= 0 && b >= 0 && heed__frame_line(p->g->c, f, (heed__line){from, a, b});
}

static bool add_lines(const heed__plan *p, heed__frame *f, const int *item_of) {
    const heed_graph *g = p->g;
    for (int i = 0; i < g->count; i++)
        for (int k = 0; k < g->nodes[i].in_count; k++)
            if (!connect(p, f, item_of, g->nodes[i].in[k], i)) return false;
    return true;
}

bool heed__frame_build(const heed__plan *p, heed__frame *f) {
    int *item_of = heed__alloc_array(p->g->c, (size_t)p->g->count, sizeof *item_of);
    bool ok = item_of && add_items(p, f, item_of) && add_lines(p, f, item_of) &&
              heed__frame_place(p->g->c, f);
    heed__free(item_of);
    return ok;
}

/* ---- ports ---- */

static double middle(const heed__frame *f, int item) {
    return f->items[item].x + f->items[item].w / 2;
}

/* For an open box: where the line continues inside. */
static double inner_port(const heed__frame *inner, int node, bool above) {
    for (int i = 0; i < inner->count; i++)
        if (inner->items[i].kind == (above ? HEED__IN : HEED__OUT) && inner->items[i].ref == node)
            return middle(inner, i);
    return inner->w / 2;
}

/* Lines into one op are side by side, ordered by their origins. */
double heed__item_port(const heed__frame *f, int item, int node, bool above) {
    const heed__item *it = &f->items[item];
    if (it->inner) return inner_port(it->inner, node, above);
    if (!above || it->kind > HEED__BOX) return it->w / 2;
    int left = 0, count = 0;
    double own = 0;
    for (int i = 0; i < f->line_count; i++)
        if (f->lines[i].to == item && f->lines[i].node == node) own = middle(f, f->lines[i].from);
    for (int i = 0; i < f->line_count; i++) {
        const heed__line *l = &f->lines[i];
        if (l->to != item) continue;
        double x = middle(f, l->from);
        left += x < own || (x == own && l->node < node);
        count++;
    }
    double step = it->w / (count + 1) < 18 ? it->w / (count + 1) : 18;
    return it->w / 2 + (left - 0.5 * (count - 1)) * step;
}
