/* graph_layout.c -- the contents of a box: ops, inner boxes, the ends of lines that cross its
 * border, and where they are drawn. Rows by the longest path from the top, few crossings, straight
 * lines: Sugiyama, Tagawa & Toda 1981; order within rows by median and mean as in Gansner et al.
 * 1993, positions by isotonic regression. */
#include "core/core.h"
#include "view/graph.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { GAP = 22, ROW = 24, BORDER = 14, SWEEPS = 8, PASSES = 14, MOST = 4000 };
enum { END = 16, BEND = 10 }; /* width of a line at the border, and at a bend */

static int add_item(heed_ctx *c, heed__frame *f, heed__item item) {
    if (!heed__grow(c, &f->items, &f->item_capacity, (size_t)f->count + 1, sizeof *f->items))
        return -1;
    f->items[f->count] = item;
    return f->count++;
}

/* The end or bend of a line, which is added unless it exists. */
static int find_item(heed_ctx *c, heed__frame *f, heed__item wanted) {
    for (int i = 0; i < f->count; i++) {
        const heed__item *it = &f->items[i];
        if (it->kind == wanted.kind && it->ref == wanted.ref && it->rank == wanted.rank) return i;
    }
    return add_item(c, f, wanted);
}

/* Adds a line unless it exists. */
static bool add_line(heed_ctx *c, heed__frame *f, heed__line line) {
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

/* box: -1 for an op. */
static bool add_op_or_box(const heed__plan *p, heed__frame *f, int op, int box) {
    heed__item item = {.kind = box < 0 ? HEED__OP : HEED__BOX, .ref = box < 0 ? op : box};
    bool ok = true;
    if (box < 0 || p->closed[box]) {
        heed__graph_size(p, &item);
    } else {
        item.inner = heed__alloc(p->g->c, sizeof *item.inner);
        if (!item.inner) return false;
        item.inner->group = box;
        ok = heed__frame_build(p, item.inner);
        item.w = item.inner->w;
        item.h = item.inner->h;
    }
    if (add_item(p->g->c, f, item) >= 0) return ok;
    heed__frame_free(item.inner);
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
        if (!add_op_or_box(p, f, i, box)) return false;
    }
    return true;
}

/* ---- lines ---- */

static bool connect(heed_ctx *c, heed__frame *f, const int *item_of, int from, int to) {
    int a = item_of[from], b = item_of[to];
    if (a == b) return true; /* both are outside, or within one inner box */
    if (a < 0) a = find_item(c, f, (heed__item){.kind = HEED__IN, .ref = from, .w = END});
    if (b < 0) b = find_item(c, f, (heed__item){.kind = HEED__OUT, .ref = from, .w = END});
    return a >= 0 && b >= 0 && add_line(c, f, (heed__line){from, a, b});
}

static bool add_lines(const heed_graph *g, heed__frame *f, const int *item_of) {
    for (int i = 0; i < g->count; i++)
        for (int k = 0; k < g->nodes[i].in_count; k++)
            if (!connect(g->c, f, item_of, g->nodes[i].in[k], i)) return false;
    return true;
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

/* ---- rows ---- */

/* Places each item below all of its inputs. The lines have no cycle. */
static void rank_down(heed__frame *f) {
    bool moved = true;
    for (int pass = 0; moved && pass <= f->count; pass++) {
        moved = false;
        for (int i = 0; i < f->line_count; i++) {
            const heed__item *from = &f->items[f->lines[i].from];
            heed__item *to = &f->items[f->lines[i].to];
            if (to->rank > from->rank) continue;
            to->rank = from->rank + 1;
            moved = true;
        }
    }
}

/* An item without input is placed just above the first item that uses it. */
static void pull_sources(heed__frame *f) {
    for (int i = 0; i < f->count; i++) {
        int least = f->ranks;
        bool source = f->items[i].kind != HEED__IN;
        for (int k = 0; k < f->line_count; k++) {
            int to = f->lines[k].to;
            source = source && to != i;
            if (f->lines[k].from == i && f->items[to].rank < least) least = f->items[to].rank;
        }
        if (source && least < f->ranks) f->items[i].rank = least - 1;
    }
}

static void rank_items(heed__frame *f) {
    for (int i = 0; i < f->count; i++) f->items[i].rank = f->items[i].kind != HEED__IN;
    rank_down(f);
    for (int i = 0; i < f->count; i++)
        if (f->items[i].rank >= f->ranks) f->ranks = f->items[i].rank + 1;
    pull_sources(f);
    int last = 0;
    for (int i = 0; i < f->count; i++)
        if (f->items[i].kind != HEED__OUT && f->items[i].rank > last) last = f->items[i].rank;
    for (int i = 0; i < f->count; i++)
        if (f->items[i].kind == HEED__OUT) f->items[i].rank = last + 1;
    f->ranks = last + 2;
}

/* A line that crosses rows becomes pieces from row to row, shared by all lines of the same node. */
static bool bend_lines(heed_ctx *c, heed__frame *f) {
    int count = f->line_count;
    for (int i = 0; i < count; i++) {
        heed__line l = f->lines[i];
        int at = l.from, to = f->items[l.to].rank;
        for (int rank = f->items[l.from].rank + 1; rank < to; rank++) {
            int bend = find_item(
                c, f, (heed__item){.kind = HEED__BEND, .ref = l.node, .rank = rank, .w = BEND});
            if (bend < 0 || !add_line(c, f, (heed__line){l.node, at, bend})) return false;
            at = bend;
        }
        if (at != l.from && !add_line(c, f, (heed__line){l.node, at, l.to})) return false;
        if (at != l.from) f->lines[i].node = -1; /* replaced */
        if (f->line_count > MOST)                /* time is quadratic in their number */
            return heed_fail(c, HEED_USAGE,
                             "the graph is too large to draw: more than %d pieces of lines in one "
                             "box; hint: fewer tokens, a smaller depth, or the list",
                             MOST);
    }
    int kept = 0;
    for (int i = 0; i < f->line_count; i++)
        if (f->lines[i].node >= 0) f->lines[kept++] = f->lines[i];
    f->line_count = kept;
    return true;
}

/* ---- order within rows ---- */

static int crossings(const heed__frame *f) {
    int n = 0;
    for (int i = 0; i < f->line_count; i++)
        for (int k = i + 1; k < f->line_count; k++) {
            const heed__item *a = &f->items[f->lines[i].from], *b = &f->items[f->lines[k].from];
            if (a->rank != b->rank) continue;
            int above = a->order - b->order;
            int below = f->items[f->lines[i].to].order - f->items[f->lines[k].to].order;
            n += (above < 0 && below > 0) || (above > 0 && below < 0);
        }
    return n;
}

/* The items of a row, from left to right, into row; returns how many. */
static int row_of(const heed__frame *f, int rank, int *row) {
    int n = 0;
    for (int i = 0; i < f->count; i++) {
        int at = n;
        if (f->items[i].rank != rank) continue;
        while (at > 0 && f->items[row[at - 1]].order > f->items[i].order) {
            row[at] = row[at - 1];
            at--;
        }
        row[at] = i;
        n++;
    }
    return n;
}

/* Sorts a row by the average position of each item's neighbours in the row above (or below). */
static void order_row(heed__frame *f, int rank, bool above, int *row) {
    int n = row_of(f, rank, row);
    for (int i = 0; i < n; i++) f->items[row[i]].wish = f->items[row[i]].pull = 0;
    for (int i = 0; i < f->line_count; i++) {
        int own = above ? f->lines[i].to : f->lines[i].from;
        int other = above ? f->lines[i].from : f->lines[i].to;
        f->items[own].wish += f->items[other].order;
        f->items[own].pull++;
    }
    for (int i = 0; i < n; i++) {
        heed__item *it = &f->items[row[i]];
        int item = row[i], at = i;
        it->wish = it->pull > 0 ? it->wish / it->pull : it->order;
        for (; at > 0 && f->items[row[at - 1]].wish > it->wish; at--) row[at] = row[at - 1];
        row[at] = item;
    }
    for (int i = 0; i < n; i++) f->items[row[i]].order = i;
}

/* best: (count) the order with the fewest crossings so far. */
static void order_items(heed__frame *f, int *row, int *best) {
    for (int rank = 0; rank < f->ranks; rank++) {
        int n = row_of(f, rank, row);
        for (int i = 0; i < n; i++) f->items[row[i]].order = i;
    }
    int fewest = INT_MAX;
    for (int sweep = 0; fewest > 0 && sweep <= SWEEPS; sweep++) {
        bool down = sweep % 2 == 1;
        for (int r = 0; sweep > 0 && r < f->ranks; r++)
            order_row(f, down ? r : f->ranks - 1 - r, down, row);
        int found = crossings(f);
        if (found >= fewest) continue;
        fewest = found;
        for (int i = 0; i < f->count; i++) best[i] = f->items[i].order;
    }
    for (int i = 0; i < f->count; i++) f->items[i].order = best[i];
}

/* ---- horizontal positions ---- */

static double port(const heed__frame *f, int item, int node, bool above) {
    const heed__item *it = &f->items[item];
    return it->inner ? heed__item_port(f, item, node, above) : it->w / 2;
}

/* Straight lines between two bends have the highest priority, but bends give way to items. */
static void wish_place(heed__frame *f, int item, bool above, bool below) {
    heed__item *it = &f->items[item];
    double sum = 0, weight = 0;
    for (int i = 0; i < f->line_count; i++) {
        const heed__line *l = &f->lines[i];
        bool from_above = l->to == item && above, from_below = l->from == item && below;
        if (!from_above && !from_below) continue;
        int other = from_above ? l->from : l->to;
        bool bends = it->kind == HEED__BEND && f->items[other].kind == HEED__BEND;
        double pull = bends ? 8 : f->items[other].kind == HEED__BEND ? 0.05 : 2;
        sum += pull * (f->items[other].x + port(f, other, l->node, !from_above) -
                       port(f, item, l->node, from_above));
        weight += pull;
    }
    it->wish = weight > 0 ? sum / weight : it->x;
    it->pull = it->kind == HEED__BEND ? 0.02 : weight > 0 ? weight : 0.01;
}

static double distance(const heed__item *left, const heed__item *right) {
    bool bends = left->kind == HEED__BEND && right->kind == HEED__BEND;
    return left->w + (bends ? 2 : GAP);
}

/* The least-squares fit to the preferred positions that keeps order and distance: pooling of
 * adjacent violators. The wish and pull of a pool are stored in its first item. */
static void fit_row(heed__frame *f, const int *row, int n, int *pool) {
    double offset = 0;
    int pools = 0;
    for (int i = 0; i < n; i++) {
        heed__item *it = &f->items[row[i]];
        if (i > 0) offset += distance(&f->items[row[i - 1]], it);
        it->x = offset;
        it->wish -= offset;
        for (pool[pools++] = i; pools > 1; pools--) {
            heed__item *a = &f->items[row[pool[pools - 2]]], *b = &f->items[row[pool[pools - 1]]];
            if (a->wish <= b->wish) break;
            a->wish = (a->wish * a->pull + b->wish * b->pull) / (a->pull + b->pull);
            a->pull += b->pull;
        }
    }
    for (int k = 0; k < pools; k++) {
        double shift = f->items[row[pool[k]]].wish;
        for (int i = pool[k]; i < (k + 1 < pools ? pool[k + 1] : n); i++)
            f->items[row[i]].x += shift;
    }
}

static void place_rows(heed__frame *f, int *row, int *pool) {
    for (int pass = 0; pass < PASSES; pass++) {
        bool down = pass % 2 == 0, both = pass >= PASSES - 2;
        for (int r = 0; r < f->ranks; r++) {
            int rank = down ? r : f->ranks - 1 - r, n = row_of(f, rank, row);
            for (int i = 0; i < n; i++) wish_place(f, row[i], down || both, !down || both);
            fit_row(f, row, n, pool);
        }
    }
}

/* ---- sizes ---- */

static void size_frame(heed__frame *f) {
    double left = INFINITY, right = 0;
    for (int i = 0; i < f->count; i++) left = fmin(left, f->items[i].x);
    for (int i = 0; i < f->count; i++) {
        f->items[i].x += BORDER - left;
        right = fmax(right, f->items[i].x + f->items[i].w);
    }
    f->w = right + BORDER;
    double y = 0;
    for (int rank = 0; rank < f->ranks; rank++) {
        double high = 0;
        for (int i = 0; i < f->count; i++)
            if (f->items[i].rank == rank) high = fmax(high, f->items[i].h);
        for (int i = 0; i < f->count; i++) {
            heed__item *it = &f->items[i];
            if (it->rank != rank) continue;
            if (it->kind == HEED__BEND) it->h = high;
            it->y = y;
            it->foot = y + high;
        }
        y += high + (rank + 1 < f->ranks ? ROW : 0);
    }
    f->h = y;
}

static bool place(heed_ctx *c, heed__frame *f) {
    rank_items(f);
    if (!bend_lines(c, f)) return false;
    int *memory = heed__alloc_array(c, (size_t)f->count, 3 * sizeof *memory);
    if (!memory) return false;
    order_items(f, memory, memory + f->count);
    place_rows(f, memory, memory + 2 * f->count);
    size_frame(f);
    heed__free(memory);
    return true;
}

bool heed__frame_build(const heed__plan *p, heed__frame *f) {
    int *item_of = heed__alloc_array(p->g->c, (size_t)p->g->count, sizeof *item_of);
    bool ok =
        item_of && add_items(p, f, item_of) && add_lines(p->g, f, item_of) && place(p->g->c, f);
    heed__free(item_of);
    return ok;
}
