/* graph.c -- from a tape to a graph: the recorded ops, their inputs, and whether backward goes
 * through them. */
#include "core/core.h"
#include "inspect/inspect.h"

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

static bool is_leaf(const heed_tensor *x) { return x && !x->name && !heed_recorded_by(x).op; }

static int leaf_of(const reader *r, const heed_tensor *x) {
    for (int i = 0; i < r->leaf_count; i++)
        if (r->leaves[i] == x) return i;
    return -1;
}

static bool add_leaf(reader *r, const heed_tensor *x) {
    if (leaf_of(r, x) >= 0) return true;
    if (!heed__grow(r->c, &r->leaves, &r->leaf_capacity, (size_t)r->leaf_count + 1,
                    sizeof *r->leaves))
        return false;
    r->leaves[r->leaf_count++] = x;
    return true;
}

/* Runs from the last op back, so that an op is visited after all ops that read its output. */
static bool collect(reader *r, const heed_tape *t, int recorded) {
    for (int i = 0; i < recorded; i++) {
        heed_recorded op = heed_recorded_at(t, i);
        r->ops[op.index] = op;
    }
    for (int i = r->count; i-- > 0;) {
        const heed_recorded *op = &r->ops[i];
        for (int k = 0; op->op && k < op->inputs; k++) {
            const heed_tensor *x = op->in[k];
            heed_recorded by = heed_recorded_by(x);
            if (by.op) r->ops[by.index] = by;
            r->param_total += x && x->name;
            r->in_total += x && !x->name;
        }
    }
    for (int i = 0; i < r->count; i++)
        for (int k = 0; r->ops[i].op && k < r->ops[i].inputs; k++)
            if (is_leaf(r->ops[i].in[k]) && !add_leaf(r, r->ops[i].in[k])) return false;
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
            heed_recorded by = heed_recorded_by(x);
            *(*in)++ = by.op ? r->id[by.index] : leaf_of(r, x);
            n->in_count++;
        }
    }
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
        *n = (heed_graph_node){.op = *op, .y = op->y, .grad = op->y->wants_grad};
        link(r, n, &in, &param);
    }
    return true;
}

bool heed_graph_read(const heed_tape *t, heed_graph *out) {
    int recorded = heed_tape_used(t).nodes;
    if (!out) return false;
    *out = (heed_graph){.c = heed_tape_ctx(t)};
    if (heed__stopped(out->c)) return false;
    if (recorded == 0)
        return heed_fail(out->c, HEED_USAGE,
                         "nothing was recorded: expected a step under HEED_TRAIN or HEED_TRACE");
    reader r = {.c = out->c, .count = heed_recorded_at(t, recorded - 1).index + 1};
    r.ops = heed__alloc_array(r.c, (size_t)r.count, sizeof *r.ops);
    r.id = heed__alloc_array(r.c, (size_t)r.count, sizeof *r.id);
    bool ok =
        r.ops && r.id && collect(&r, t, recorded) && make_nodes(&r, out) && heed__graph_group(out);
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
