/* graph.c -- from a tape to a graph: the recorded ops, their inputs, whether backward goes through
 * them, and boxes of ops. A named op is in the box of its name. An unnamed op that keeps the shape
 * of an input (a sum, an activation, dropout) is in the block of the op before it; any other is in
 * the innermost box that contains both the named op before it and the one after it. */
#include "core/core.h"
#include "core/tape.h"

#include <heed/graph.h>
#include <heed/op.h>

#include <ctype.h>
#include <string.h>

/* All ops of the step by their index; op NULL if not needed. */
typedef struct {
    heed_ctx *c;
    heed_recorded *ops;
    int count;
    int *id; /* (count) of the node */
    const heed_tensor **leaves;
    size_t leaf_capacity;
    int leaf_count;
    size_t in_total, param_total;
} reader;

static int leaf_of(const reader *r, const heed_tensor *x) {
    for (int i = 0; i < r->leaf_count; i++)
        if (r->leaves[i] == x) return i;
    return -1;
}

/* Runs from the last op back, so that an op is visited after all ops that read its output. */
static bool collect(reader *r, const heed_tape *t, int recorded) {
    for (int i = 0; i < recorded; i++) {
        heed_recorded op = heed__recorded_at(t, i);
        r->ops[op.index] = op;
    }
    for (int i = r->count; i-- > 0;) {
        const heed_recorded *op = &r->ops[i];
        for (int k = 0; op->op && k < op->inputs; k++) {
            const heed_tensor *x = op->in[k];
            heed_recorded by = heed__recorded_by(x);
            if (by.op) r->ops[by.index] = by;
            r->param_total += x && x->name;
            r->in_total += x && !x->name;
        }
    }
    for (int i = 0; i < r->count; i++)
        for (int k = 0; r->ops[i].op && k < r->ops[i].inputs; k++) {
            const heed_tensor *x = r->ops[i].in[k];
            if (!x || x->name || heed__recorded_by(x).op || leaf_of(r, x) >= 0) continue;
            size_t count = (size_t)r->leaf_count + 1;
            if (!heed__grow(r->c, &r->leaves, &r->leaf_capacity, count, sizeof *r->leaves))
                return false;
            r->leaves[r->leaf_count++] = x;
        }
    return true;
}

static void link(const reader *r, heed_graph_node *n, int **in, const heed_tensor ***param) {
    n->in = *in;
    n->param = *param;
    for (int k = 0; k < n->op.inputs; k++) {
        const heed_tensor *x = n->op.in[k];
        if (!x) continue;
        if (x->name) {
            *(*param)++ = x;
            n->params++;
        } else {
            heed_recorded by = heed__recorded_by(x);
            *(*in)++ = by.op ? r->id[by.index] : leaf_of(r, x);
            n->in_count++;
        }
    }
}

#define NAME(act, name, ...) #name,

/* An op of a user's may have this name as well, and other args. */
static const char *activation_of(const heed_node *n) {
    static const char *const names[] = {HEED_ACTIVATIONS(NAME)};
    const heed_op *const *own = heed_op_table();
    if (!n || strcmp(n->op->name, "affine") != 0) return NULL;
    while (*own && *own != n->op) own++;
    heed_act act = *own ? *(const heed_act *)n->args : HEED_IDENTITY;
    return act == HEED_IDENTITY ? NULL : names[act];
}

/* The lists of all nodes, in one allocation: parameters, then nodes. */
static bool make_nodes(reader *r, heed_graph *g) {
    size_t params = r->param_total * sizeof(heed_tensor *);
    g->count = r->leaf_count;
    for (int i = 0; i < r->count; i++)
        if (r->ops[i].op) r->id[i] = g->count++;
    g->nodes = heed__alloc_array(g->c, (size_t)g->count, sizeof *g->nodes);
    g->memory = heed__alloc(g->c, params + r->in_total * sizeof(int) + 1);
    if (!g->nodes || !g->memory) return false;
    const heed_tensor **param = g->memory;
    int *in = (int *)(void *)((char *)g->memory + params);
    for (int i = 0; i < r->leaf_count; i++)
        g->nodes[i] = (heed_graph_node){.y = r->leaves[i], .grad = r->leaves[i]->wants_grad};
    for (int i = 0; i < r->count; i++) {
        const heed_recorded *op = &r->ops[i];
        if (!op->op) continue;
        heed_graph_node *n = &g->nodes[r->id[i]];
        *n = (heed_graph_node){.op = *op,
                               .y = op->y,
                               .activation = activation_of(op->y->node),
                               .grad = op->y->wants_grad};
        link(r, n, &in, &param);
    }
    return true;
}

/* ---- names of boxes ---- */

/* Part of a name; the tape or the store owns the memory. */
typedef struct {
    const char *s;
    size_t n;
} span;

typedef struct {
    heed_graph *g;
    span *home; /* (count) the path of the box where a node belongs */
    int *first; /* (group_capacity) the first node of each box */
    int *stack; /* (count) */
    int *seen;  /* (count) the last search that visited a node */
    int question;
    char *names; /* where the next path will be written */
    size_t group_capacity, first_capacity;
} sorter;

static span parent_of(span p) {
    while (p.n > 0 && p.s[p.n - 1] != '.') p.n--;
    if (p.n > 0) p.n--;
    return p;
}

/* The layer's name or, without one, the path of the op's first parameter. s NULL: neither. */
static span path_of(const heed_graph_node *n) {
    if (!n->op.op) return (span){NULL, 0};
    if (n->op.name) return (span){n->op.name, strlen(n->op.name)};
    if (n->params) return parent_of((span){n->param[0]->name, strlen(n->param[0]->name)});
    return (span){NULL, 0};
}

static bool is_under(span p, span box) {
    if (box.n == 0) return true;
    return p.n >= box.n && memcmp(p.s, box.s, box.n) == 0 && (p.n == box.n || p.s[box.n] == '.');
}

/* A box contains at least two ops. */
static bool is_box(const heed_graph *g, span p) {
    int found = 0;
    for (int i = 0; i < g->count && found < 2; i++) {
        span q = path_of(&g->nodes[i]);
        found += q.s && is_under(q, p);
    }
    return found > 1;
}

/* "decoder.0.attn" -> "decoder.0": up to the last number, if there is one. */
static span block_of(span p) {
    for (span q = p; q.n > 0; q = parent_of(q)) {
        span up = parent_of(q);
        if (isdigit((unsigned char)q.s[up.n ? up.n + 1 : 0])) return q;
    }
    return p;
}

static span common(span a, span b) {
    while (!is_under(b, a)) a = parent_of(a);
    return a;
}

/* The last op among its inputs whose output has the shape of its own; -1: none. */
static int followed(const heed_graph *g, const heed_graph_node *n) {
    int last = -1;
    for (int k = 0; k < n->in_count; k++) {
        const heed_graph_node *from = &g->nodes[n->in[k]];
        if (from->op.op && heed__same_shape(from->y, n->y) && n->in[k] > last) last = n->in[k];
    }
    return last;
}

/* The home of the next named op in one direction; empty beyond the ends. */
static span neighbour(const sorter *s, int at, int direction) {
    for (int i = at + direction; i >= 0 && i < s->g->count; i += direction)
        if (path_of(&s->g->nodes[i]).s) return s->home[i];
    return (span){"", 0};
}

static void find_homes(sorter *s) {
    const heed_graph *g = s->g;
    for (int i = 0; i < g->count; i++) {
        span p = path_of(&g->nodes[i]);
        s->home[i] = !p.s ? (span){"", 0} : is_box(g, p) ? p : parent_of(p);
    }
    for (int i = 0; i < g->count; i++) {
        const heed_graph_node *n = &g->nodes[i];
        if (!n->op.op || path_of(n).s) continue;
        int before = followed(g, n);
        s->home[i] = before >= 0 ? block_of(s->home[before])
                                 : common(neighbour(s, i, -1), neighbour(s, i, 1));
    }
}

/* ---- boxes ---- */

/* True if the node depends on an op outside the box that depends on one in it: in the box, it would
 * make the box depend on itself. */
static bool waits(sorter *s, int node, int group) {
    const heed_graph *g = s->g;
    int depth = 0;
    s->question++;
    for (int at = node;; at = s->stack[--depth]) {
        const heed_graph_node *n = &g->nodes[at];
        for (int k = 0; k < n->in_count; k++) {
            int in = n->in[k];
            bool inside = heed_graph_inside(g, in, group);
            if (inside && at != node) return true;
            if (inside || in < s->first[group] || s->seen[in] == s->question) continue;
            s->seen[in] = s->question;
            s->stack[depth++] = in;
        }
        if (depth == 0) return false;
    }
}

static int new_group(sorter *s, span path, int parent, int node) {
    heed_graph *g = s->g;
    size_t need = (size_t)g->group_count + 1;
    if (!heed__grow(g->c, &g->groups, &s->group_capacity, need, sizeof *g->groups) ||
        !heed__grow(g->c, &s->first, &s->first_capacity, need, sizeof *s->first))
        return -1;
    memcpy(s->names, path.s, path.n); /* the terminating zero is already there */
    g->groups[g->group_count] = (heed_graph_group){.path = s->names, .parent = parent, .like = -1};
    s->names += path.n + 1;
    s->first[g->group_count] = node;
    return g->group_count++;
}

/* The latest box of that path in `parent`, or a new one if the node cannot be in it. */
static int step_into(sorter *s, int node, int parent, span path) {
    const heed_graph *g = s->g;
    int found = -1;
    for (int i = parent + 1; i < g->group_count; i++)
        if (g->groups[i].parent == parent && strlen(g->groups[i].path) == path.n &&
            memcmp(g->groups[i].path, path.s, path.n) == 0)
            found = i;
    return found < 0 || waits(s, node, found) ? new_group(s, path, parent, node) : found;
}

/* A box that contains a single op or a single box. */
static bool is_redundant(const heed_graph *g, int group) {
    int own = 0, boxes = 0;
    for (int i = 0; i < g->count; i++) own += g->nodes[i].group == group;
    for (int i = group + 1; i < g->group_count; i++) boxes += g->groups[i].parent == group;
    return group > 0 && own + boxes < 2;
}

static void dissolve(heed_graph *g, int group) {
    int up = g->groups[group].parent;
    for (int i = 0; i < g->count; i++) {
        int *at = &g->nodes[i].group;
        *at = *at == group ? up : *at - (*at > group);
    }
    for (int i = group + 1; i < g->group_count; i++) {
        int *at = &g->groups[i].parent;
        *at = *at == group ? up : *at - (*at > group);
        g->groups[i - 1] = g->groups[i];
    }
    g->group_count--;
}

/* ---- identical boxes ---- */

static int next_in(const heed_graph *g, int group, int node) {
    while (node < g->count && !heed_graph_inside(g, node, group)) node++;
    return node;
}

/* Whether two names, of which either may be missing, are equal within the boxes a and b. */
static bool same_name(const heed_graph *g, int a, const char *x, int b, const char *y) {
    size_t n = strlen(g->groups[a].path), m = strlen(g->groups[b].path);
    x = x ? x : "";
    y = y ? y : "";
    if (strncmp(x, g->groups[a].path, n) == 0) x += n;
    if (strncmp(y, g->groups[b].path, m) == 0) y += m;
    return strcmp(x, y) == 0;
}

static bool same_node(const heed_graph *g, int a, int x, int b, int y) {
    const heed_graph_node *p = &g->nodes[x], *q = &g->nodes[y];
    bool same = p->op.op && q->op.op && strcmp(p->op.op, q->op.op) == 0 &&
                same_name(g, a, p->op.name, b, q->op.name) && heed__same_shape(p->y, q->y) &&
                p->in_count == q->in_count && p->grad == q->grad && p->params == q->params &&
                p->activation == q->activation;
    for (int k = 0; same && k < p->params; k++)
        same = heed__same_shape(p->param[k], q->param[k]) &&
               same_name(g, a, p->param[k]->name, b, q->param[k]->name);
    for (int k = 0; same && k < p->in_count; k++)
        same = heed_graph_inside(g, p->in[k], a) == heed_graph_inside(g, q->in[k], b);
    return same;
}

static bool alike(const heed_graph *g, int a, int b) {
    if (g->groups[a].parent != g->groups[b].parent || g->groups[a].nodes != g->groups[b].nodes)
        return false;
    int x = next_in(g, a, 0), y = next_in(g, b, 0);
    for (int left = g->groups[a].nodes; left > 0; left--) {
        if (!same_node(g, a, x, b, y)) return false;
        x = next_in(g, a, x + 1);
        y = next_in(g, b, y + 1);
    }
    return true;
}

static bool sort(sorter *s) {
    heed_graph *g = s->g;
    size_t count = (size_t)g->count, capacity = 1;
    s->home = heed__alloc_array(g->c, count, sizeof *s->home);
    s->stack = heed__alloc_array(g->c, count, sizeof *s->stack);
    s->seen = heed__alloc_array(g->c, count, sizeof *s->seen);
    if (!s->home || !s->stack || !s->seen) return false;
    find_homes(s);
    for (int i = 0; i < g->count; i++) capacity += (s->home[i].n + 1) * (s->home[i].n + 1);
    s->names = g->names = heed__alloc(g->c, capacity);
    bool ok = g->names && new_group(s, (span){"", 0}, -1, 0) == 0;
    for (int i = 0; ok && i < g->count; i++) {
        span home = s->home[i];
        int at = 0;
        for (size_t n = 0; n < home.n && at >= 0; n++) {
            while (n < home.n && home.s[n] != '.') n++;
            at = step_into(s, i, at, (span){home.s, n});
        }
        g->nodes[i].group = at;
        ok = at >= 0;
    }
    return ok;
}

static bool group_nodes(heed_graph *g) {
    sorter s = {.g = g};
    bool ok = sort(&s);
    heed__free(s.home);
    heed__free(s.stack);
    heed__free(s.seen);
    heed__free(s.first);
    for (int i = g->group_count; ok && --i > 0;)
        if (is_redundant(g, i)) dissolve(g, i);
    for (int i = 0; i < g->group_count; i++) g->groups[i].nodes = 0;
    for (int i = 0; i < g->count; i++)
        for (int at = g->nodes[i].group; at >= 0; at = g->groups[at].parent) g->groups[at].nodes++;
    for (int b = 1; b < g->group_count; b++)
        for (int a = 1; a < b && g->groups[b].like < 0; a++)
            if (g->groups[a].like < 0 && alike(g, a, b)) g->groups[b].like = a;
    return ok;
}

/* ---- reading ---- */

bool heed_graph_read(const heed_tape *t, heed_graph *out) {
    int recorded = heed__tape_used(t).nodes;
    if (!out) return false;
    *out = (heed_graph){.c = heed_tape_ctx(t)};
    if (heed__stopped(out->c)) return false;
    if (recorded == 0)
        return heed_fail(out->c, HEED_USAGE,
                         "nothing was recorded: expected a step under HEED_TRAIN or HEED_TRACE");
    reader r = {.c = out->c, .count = heed__recorded_at(t, recorded - 1).index + 1};
    r.ops = heed__alloc_array(r.c, (size_t)r.count, sizeof *r.ops);
    r.id = heed__alloc_array(r.c, (size_t)r.count, sizeof *r.id);
    bool ok = r.ops && r.id && collect(&r, t, recorded) && make_nodes(&r, out) && group_nodes(out);
    heed__free(r.ops);
    heed__free(r.id);
    heed__free(r.leaves);
    if (!ok) heed_graph_free(out);
    return ok;
}

void heed_graph_free(heed_graph *g) {
    if (!g) return;
    heed__free(g->nodes);
    heed__free(g->groups);
    heed__free(g->memory);
    heed__free(g->names);
    *g = (heed_graph){.c = g->c};
}
