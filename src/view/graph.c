/* graph.c -- the graph of a step as an SVG picture: ops and boxes with their texts, lines with
 * arrows, and beside it the backward pass, from the loss up. Rows by the longest path from the top,
 * few crossings, straight lines: Sugiyama, Tagawa & Toda 1981; order within rows by median and mean
 * as in Gansner et al. 1993, positions by isotonic regression. */
#include "core/core.h"
#include "view/draw.h"

#include <heed/graph.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A drawing: the graph, its view and the closed boxes. */
typedef struct {
    const heed_graph *g;
    const heed_graph_view *view;
    bool *closed; /* (group_count) drawn as one small box */
} heed__plan;

/* An item in a box: an op, an inner box, the point where a tensor enters or leaves, or a bend of a
 * line that crosses a row. */
typedef enum { HEED__OP, HEED__BOX, HEED__IN, HEED__OUT, HEED__BEND } heed__item_kind;
typedef struct heed__frame heed__frame;
typedef struct {
    heed__item_kind kind;
    int ref;            /* BOX: the group; others: the node */
    heed__frame *inner; /* contents of an open box */
    double x, y, w, h;  /* upper left corner, within its frame, and size */
    double foot;        /* lower end of its row */
    int rank, order;    /* row from the top, position in the row */
    double wish, pull;  /* preferred position, and its weight */
} heed__item;

/* A piece of a line from one row to the next, between two items, for the output of a node. */
typedef struct {
    int node, from, to;
} heed__line;

/* The contents of an open box. */
struct heed__frame {
    int group;
    int count, line_count, ranks;
    heed__item *items;
    heed__line *lines;
    size_t item_capacity, line_capacity;
    double w, h;
};

enum { LINES = 8, BESIDE = 2, MOST = LINES - 3, LINE = 176 };
enum { LETTER = 7, LEADING = 15, MARGIN = 16, HEADER = 46, BETWEEN = 40 };

/* Texts of an op or a closed box; the first has a bold word in front. */
typedef struct {
    char bold[96], text[LINES][LINE];
    int count;
} caption;

/* ---- texts ---- */

/* The name without the path of the box around it. */
static const char *short_name(const heed_graph *g, int group, const char *name) {
    const char *path = g->groups[group].path;
    size_t n = strlen(path);
    if (!name || n == 0 || strncmp(name, path, n) != 0) return name ? name : "";
    return name[n] == '.' ? name + n + 1 : name[n] ? name : "";
}

/* The name of a parameter, without the layer's name, too. */
static const char *param_name(const heed_graph *g, const heed_graph_node *n, const char *name) {
    size_t size = n->op.name ? strlen(n->op.name) : 0;
    if (size > 0 && strncmp(name, n->op.name, size) == 0 && name[size] == '.')
        return name + size + 1;
    return short_name(g, n->group, name);
}

static void append(char line[LINE], const char *between, const char *text) {
    size_t n = strlen(line);
    snprintf(line + n, LINE - n, "%s%s", n ? between : "", text);
}

/* Two per line; if there are very many, the last ones are omitted. */
static void add_params(const heed_graph *g, const heed_graph_node *n, bool backward, caption *out) {
    char text[LINE], shape[64];
    int shown = 0;
    for (int k = 0; k < n->params && shown < BESIDE * MOST; k++) {
        const heed_tensor *of = n->param[k];
        if (backward && !of->wants_grad) continue;
        snprintf(text, sizeof text, "%s%.80s %s", backward ? "d " : "", param_name(g, n, of->name),
                 heed_shape_text(of, shape, sizeof shape));
        append(out->text[out->count + shown++ / BESIDE], "  ", text);
    }
    out->count += (shown + BESIDE - 1) / BESIDE;
}

/* The gradients of inputs that the op's backward computes, and what it needs for this. */
static void add_gradients(const heed_graph *g, const heed_graph_node *n, caption *out) {
    char shape[64], text[LINE];
    char *given = out->text[out->count];
    for (int k = 0; k < n->in_count; k++) {
        const heed_graph_node *from = &g->nodes[n->in[k]];
        if (!from->grad) continue;
        snprintf(text, sizeof text, "d %s", heed_shape_text(from->y, shape, sizeof shape));
        if (!strstr(given, text)) append(given, "  ", text);
    }
    if (given[0]) out->count++;
    text[0] = 0;
    for (int k = 0; k < n->op.kept; k++) append(text, " ", n->op.kept_name[k]);
    if (text[0]) snprintf(out->text[out->count++], LINE, "from %.160s", text);
}

static void op_caption(const heed_graph *g, int node, bool backward, caption *out) {
    const heed_graph_node *n = &g->nodes[node];
    const char *leaf = n->y->i && !backward ? "indices" : "input";
    char shape[64];
    snprintf(out->bold, sizeof out->bold, "%.60s%s%s%s", n->op.op ? n->op.op : leaf,
             n->activation ? "+" : "", n->activation ? n->activation : "", backward ? "'" : "");
    snprintf(out->text[0], LINE, "%.120s", short_name(g, n->group, n->op.name));
    heed_shape_text(n->y, shape, sizeof shape);
    out->count = 1;
    add_params(g, n, backward, out);
    if (backward)
        add_gradients(g, n, out);
    else if (out->count > 1 || out->text[0][0])
        append(out->text[out->count++], "", shape);
    else
        append(out->text[0], "", shape);
}

static size_t numbers_in(const heed_graph *g, int group, int *ops) {
    size_t sum = 0;
    *ops = 0;
    for (int i = 0; i < g->count; i++) {
        if (!heed_graph_inside(g, i, group)) continue;
        *ops += g->nodes[i].op.op != NULL;
        for (int k = 0; k < g->nodes[i].params; k++) sum += g->nodes[i].param[k]->size;
    }
    return sum;
}

static void box_caption(const heed_graph *g, int group, caption *out) {
    const heed_graph_group *b = &g->groups[group];
    int ops;
    size_t numbers = numbers_in(g, group, &ops);
    snprintf(out->bold, sizeof out->bold, "%.90s", b->path);
    out->count = 2;
    if (b->like >= 0)
        snprintf(out->text[1], LINE, "the same as %.140s", g->groups[b->like].path);
    else
        snprintf(out->text[1], LINE, "%d ops, %zu numbers", ops, numbers);
}

static void caption_of(const heed__plan *p, const heed__item *it, bool backward, caption *out) {
    *out = (caption){.count = 0};
    if (it->kind == HEED__BOX)
        box_caption(p->g, it->ref, out);
    else
        op_caption(p->g, it->ref, backward, out);
}

/* Computes the size of an op or a closed box in pixels. */
static void size_item(const heed__plan *p, heed__item *it) {
    for (int backward = 0; backward <= p->view->backward; backward++) {
        caption k;
        caption_of(p, it, backward, &k);
        for (int i = 0; i < k.count; i++) {
            size_t n = heed__utf8_count(k.text[i], strlen(k.text[i]));
            if (i == 0) n += heed__utf8_count(k.bold, strlen(k.bold)) + (n > 0);
            it->w = fmax(it->w, 20 + LETTER * (double)n);
        }
        it->h = fmax(it->h, 9 + LEADING * k.count);
    }
}

/* ---- layout ---- */

enum { GAP = 22, ROW = 24, BORDER = 14, SWEEPS = 8, PASSES = 14, MOST_LINES = 4000 };
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

static void free_frame(heed__frame *f) {
    if (!f) return;
    for (int i = 0; i < f->count; i++) free_frame(f->items[i].inner);
    heed__free(f->items);
    heed__free(f->lines);
    heed__free(f);
}

/* ---- items ---- */

static bool build(const heed__plan *p, heed__frame *f);

/* box: -1 for an op. */
static bool add_op_or_box(const heed__plan *p, heed__frame *f, int op, int box) {
    heed__item item = {.kind = box < 0 ? HEED__OP : HEED__BOX, .ref = box < 0 ? op : box};
    bool ok = true;
    if (box < 0 || p->closed[box]) {
        size_item(p, &item);
    } else {
        item.inner = heed__alloc(p->g->c, sizeof *item.inner);
        if (!item.inner) return false;
        item.inner->group = box;
        ok = build(p, item.inner);
        item.w = item.inner->w;
        item.h = item.inner->h;
    }
    if (add_item(p->g->c, f, item) >= 0) return ok;
    free_frame(item.inner);
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
/* Where the line of a node meets the upper or lower edge of an item, measured from the item's left
 * edge. */
static double port_of(const heed__frame *f, int item, int node, bool above) {
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
        if (f->line_count > MOST_LINES)          /* time is quadratic in their number */
            return heed_fail(c, HEED_USAGE,
                             "the graph is too large to draw: more than %d pieces of lines in one "
                             "box; hint: fewer tokens, a smaller depth, or the list",
                             MOST_LINES);
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
    return it->inner ? port_of(f, item, node, above) : it->w / 2;
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

/* Fills and lays out the box and all open boxes inside it. */
static bool build(const heed__plan *p, heed__frame *f) {
    int *item_of = heed__alloc_array(p->g->c, (size_t)p->g->count, sizeof *item_of);
    bool ok =
        item_of && add_items(p, f, item_of) && add_lines(p->g, f, item_of) && place(p->g->c, f);
    heed__free(item_of);
    return ok;
}

/* ---- drawing ---- */

typedef struct {
    const heed__plan *plan;
    heed_text *out;
    bool backward;
} pen;

static const char *class_of(const heed_graph *g, const heed__item *it) {
    if (it->kind == HEED__BOX) return "shut";
    const heed_graph_node *n = &g->nodes[it->ref];
    if (!n->op.op) return "leaf";
    if (strstr(n->op.op, "attention") || strstr(n->op.op, "softmax")) return "look";
    if (n->params) return "learn";
    return "op";
}

static void draw_text(const pen *d, const heed__item *it, const caption *k, double x, double y) {
    double top = y + it->h / 2 - 0.5 * LEADING * (k->count - 1) + 4;
    for (int i = 0; i < k->count; i++) {
        heed_text_add(d->out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x + it->w / 2, top + LEADING * i,
                      i ? " class=\"more\"" : "");
        if (i == 0 && k->bold[0]) {
            heed_text_add(d->out, "<tspan class=\"name\">");
            heed__put_escaped(d->out, k->bold);
            heed_text_add(d->out, "</tspan>%s", k->text[0][0] ? " " : "");
        }
        heed__put_escaped(d->out, k->text[i]);
        heed_text_add(d->out, "</text>");
    }
}

static void draw_title(const pen *d, const heed__item *it) {
    const heed_recorded *op = it->kind == HEED__OP ? &d->plan->g->nodes[it->ref].op : NULL;
    heed_text_add(d->out, "<title>");
    if (op && op->op) heed_text_add(d->out, "%d: ", op->index + 1);
    if (op)
        heed__put_escaped(d->out, op->name ? op->name : op->op ? op->op : "input");
    else
        heed__put_escaped(d->out, d->plan->g->groups[it->ref].path);
    heed_text_add(d->out, "</title>");
}

/* An op or a closed box. An op without gradient is drawn as idle in the backward pass. */
static void draw_item(const pen *d, const heed__item *it, double x, double y) {
    bool idle = d->backward && it->kind == HEED__OP && !d->plan->g->nodes[it->ref].grad;
    bool leaf = it->kind == HEED__OP && !d->plan->g->nodes[it->ref].op.op;
    caption k;
    caption_of(d->plan, it, d->backward && !idle, &k);
    heed_text_add(d->out, "<g class=\"%s%s\">", class_of(d->plan->g, it), idle ? " idle" : "");
    draw_title(d, it);
    heed_text_add(d->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\"/>",
                  x, y, it->w, it->h, leaf ? 11 : 4);
    draw_text(d, it, &k, x, y);
    heed_text_add(d->out, "</g>\n");
}

static void draw_arrow(const pen *d, double x, double y, bool up) {
    int s = up ? 1 : -1;
    heed_text_add(d->out, "<path class=\"tip\" d=\"M%.1f %.1fl-4 %dh8z\"/>", x, y, 7 * s);
}

static bool is_solid(const heed__item *it) { return it->kind <= HEED__BOX && !it->inner; }

static void draw_line(const pen *d, const heed__frame *f, const heed__line *l, double x, double y) {
    const heed__item *a = &f->items[l->from], *b = &f->items[l->to];
    double x0 = x + a->x + port_of(f, l->from, l->node, false), y0 = y + a->y + a->h;
    double x1 = x + b->x + port_of(f, l->to, l->node, true), y1 = y + b->y;
    double foot = y + a->foot, half = (foot + y1) / 2;
    if (d->backward && !d->plan->g->nodes[l->node].grad) return;
    heed_text_add(d->out, "<path class=\"line\" d=\"M%.1f %.1f", x0, y0);
    if (fabs(x0 - x1) < 0.5)
        heed_text_add(d->out, "V%.1f", y1);
    else
        heed_text_add(d->out, "V%.1fC%.1f %.1f %.1f %.1f %.1f %.1f", foot, x0, half, x1, half, x1,
                      y1);
    if (b->kind == HEED__BEND) heed_text_add(d->out, "v%.1f", b->h);
    heed_text_add(d->out, "\"/>");
    if (!d->backward && is_solid(b)) draw_arrow(d, x1, y1, false);
    if (d->backward && is_solid(a)) draw_arrow(d, x0, y0, true);
    heed_text_add(d->out, "\n");
}

static void draw_frame(const pen *d, const heed__frame *f, double x, double y) {
    for (int i = 0; i < f->count; i++) {
        const heed__item *it = &f->items[i];
        double left = x + it->x, top = y + it->y;
        if (!it->inner) continue;
        heed_text_add(d->out,
                      "<rect class=\"box\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                      "rx=\"8\"/><text class=\"path\" x=\"%.1f\" y=\"%.1f\">",
                      left, top, it->w, it->h, left + 8, top + 15);
        heed__put_escaped(d->out, d->plan->g->groups[it->ref].path);
        heed_text_add(d->out, "</text>\n");
        draw_frame(d, it->inner, left, top);
    }
    for (int i = 0; i < f->line_count; i++) draw_line(d, f, &f->lines[i], x, y);
    for (int i = 0; i < f->count; i++)
        if (is_solid(&f->items[i]))
            draw_item(d, &f->items[i], x + f->items[i].x, y + f->items[i].y);
}

/* ---- the picture ---- */

static const char style[] =
    "<style>"
    "svg{--bg:#fff;--ink:#1b1f24;--soft:#57606a;--line:#6e7781;--box:#f6f8fa;--rim:#afb8c1;"
    "--op:#fff;--learn:#ddf4ff;--look:#fff1c9;--leaf:#eaeef2;--shut:#eaeef2}"
    "@media(prefers-color-scheme:dark){svg{--bg:#0d1117;--ink:#e6edf3;--soft:#a0aab4;"
    "--line:#8b949e;--box:#161b22;--rim:#484f58;--op:#0d1117;--learn:#0c2d6b;--look:#4b2f00;"
    "--leaf:#30363d;--shut:#30363d}}"
    "text{font:12px 'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:11.6px;"
    "fill:var(--ink);text-anchor:middle;white-space:pre}"
    ".more{fill:var(--soft)}.name{font-weight:bold}"
    ".path{text-anchor:start;fill:var(--soft);font-weight:bold;paint-order:stroke;"
    "stroke:var(--box);stroke-width:5px}"
    ".head{text-anchor:start;font-size:14px;font-weight:bold}"
    ".sub{text-anchor:start;fill:var(--soft)}"
    ".page{fill:var(--bg)}.box{fill:var(--box);stroke:var(--rim)}"
    ".line{fill:none;stroke:var(--line);stroke-width:1.3}.tip{fill:var(--line)}"
    "g rect{stroke:var(--line)}.op rect{fill:var(--op)}.learn rect{fill:var(--learn)}"
    ".look rect{fill:var(--look)}.leaf rect{fill:var(--leaf)}"
    ".shut rect{fill:var(--shut);stroke-dasharray:5 3}.idle{opacity:.45}"
    "</style>\n";

static void draw_svg(const heed__plan *p, const heed__frame *f, heed_text *out) {
    const char *title = p->view->title ? p->view->title : "graph";
    double width = 2 * MARGIN + f->w, height = HEADER + f->h + MARGIN;
    double beside = MARGIN + f->w + BETWEEN; /* left edge of the backward pass */
    pen d = {.plan = p, .out = out};
    int ops;
    numbers_in(p->g, 0, &ops);
    if (p->view->backward) width += f->w + BETWEEN;
    width = fmax(width, 420);
    heed_text_add(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                  "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
                  width, height, width, height);
    heed__put_escaped(out, title);
    heed_text_add(out,
                  "</title>\n%s<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>"
                  "<text class=\"head\" x=\"%d\" y=\"24\">",
                  style, MARGIN);
    heed__put_escaped(out, title);
    heed_text_add(out, "</text><text class=\"sub\" x=\"%d\" y=\"42\">forward: %d ops</text>\n",
                  MARGIN, ops);
    if (p->view->backward)
        heed_text_add(out,
                      "<text class=\"sub\" x=\"%.1f\" y=\"42\">backward: from the loss up; ' is "
                      "an op's backward, d a gradient</text>\n",
                      beside);
    draw_frame(&d, f, MARGIN, HEADER);
    d.backward = true;
    if (p->view->backward) draw_frame(&d, f, beside, HEADER);
    heed_text_add(out, "</svg>\n");
}

bool heed_graph_svg(const heed_graph *g, const heed_graph_view *v, heed_text *out) {
    if (!g || !v || !out || !g->nodes || heed__stopped(g->c)) return false;
    heed__plan p = {.g = g, .view = v};
    p.closed = heed__alloc_array(g->c, (size_t)g->group_count, sizeof *p.closed);
    heed__frame *f = heed__alloc(g->c, sizeof *f);
    for (int i = 1; p.closed && i < g->group_count; i++) {
        int depth = 0;
        for (int at = i; at > 0; at = g->groups[at].parent) depth++;
        p.closed[i] = (v->depth > 0 && depth >= v->depth) || (g->groups[i].like >= 0 && !v->unfold);
    }
    bool ok = p.closed && f && build(&p, f);
    if (ok) draw_svg(&p, f, out);
    free_frame(f);
    heed__free(p.closed);
    return ok && !heed__stopped(g->c);
}
