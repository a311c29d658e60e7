/* graph_svg.c -- a graph as an SVG picture: ops and boxes with their texts, lines with arrows, and
 * beside it the backward pass, from the loss up. */
#include "core/core.h"
#include "view/draw.h"
#include "view/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

void heed__graph_size(const heed__plan *p, heed__item *it) {
    for (int backward = 0; backward <= p->view->backward; backward++) {
        caption k;
        caption_of(p, it, backward, &k);
        for (int i = 0; i < k.count; i++) {
            size_t n = heed_utf8_count(k.text[i], strlen(k.text[i]));
            if (i == 0) n += heed_utf8_count(k.bold, strlen(k.bold)) + (n > 0);
            it->w = fmax(it->w, 20 + LETTER * (double)n);
        }
        it->h = fmax(it->h, 9 + LEADING * k.count);
    }
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
    double x0 = x + a->x + heed__item_port(f, l->from, l->node, false), y0 = y + a->y + a->h;
    double x1 = x + b->x + heed__item_port(f, l->to, l->node, true), y1 = y + b->y;
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
    bool ok = p.closed && f && heed__frame_build(&p, f);
    if (ok) draw_svg(&p, f, out);
    heed__frame_free(f);
    heed__free(p.closed);
    return ok && !heed__stopped(g->c);
}
