/* loop.c -- a decoder whose steps were recorded one after the other, as a Scan: the second step is
 * its body. What a step reads of the one before is the state; what it slices from a sequence at its
 * own position is an input of the Scan; what a concatenation gathers from all steps is an output.
 */
#include "exchange/onnx/scan.h"
#include "ops/args.h"

#include <string.h>

/* ---- finding the steps ---- */

static bool is_concat(const heed_node *n) { return strcmp(n->op->name, "concat") == 0; }

/* The distance between nodes of which n gathers one from each of `steps` steps; 0: it does not. */
static int distance(const heed_node *n, int steps) {
    if (!is_concat(n) || n->inputs != steps || steps < 3) return 0;
    for (int i = 0; i < steps; i++)
        if (!n->in[i]->node) return 0;
    int each = n->in[1]->node->index - n->in[0]->node->index;
    for (int i = 2; i < steps; i++)
        if (n->in[i]->node->index - n->in[i - 1]->node->index != each) return 0;
    return each;
}

/* Whether an index is within the step that begins at `from`. */
static bool within(const heed__onnx_loop *l, int index, int from) {
    return index >= from && index < from + l->period;
}

/* The steps of recording k, whose nodes are the first `count`: begin is that of the second. What is
 * gathered last of a step ends it. */
static bool find(heed__onnx_export *e, int k, int count, int *begin, int *end) {
    heed__onnx_loop *l = &e->loop;
    *begin = 0;
    for (int i = 0; i < count; i++) {
        const heed_node *n = e->step[i].in[k];
        int period = distance(n, l->steps[k]);
        if (period <= 0 || n->in[0]->node->index < *begin) continue;
        l->period = period;
        *begin = n->in[0]->node->index + 1;
        *end = n->in[l->steps[k] - 1]->node->index;
    }
    return *begin > 0;
}

/* Keeps the nodes before the first step, in the second, and after the last; those of the first are
 * kept apart. Returns how many. */
static int keep(heed__onnx_export *e, int k, int count, int begin, int end) {
    heed__onnx_loop *l = &e->loop;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        heed_node *n = e->step[i].in[k];
        bool first = within(l, n->index, begin - l->period), body = within(l, n->index, begin);
        if (first) l->first[k][n->index - begin + l->period] = n;
        if (n->index < begin - l->period || body || n->index > end) e->step[kept++].in[k] = n;
    }
    return kept;
}

bool heed__onnx_fold(heed__onnx_export *e, int counts[2]) {
    heed__onnx_loop *l = &e->loop;
    int begin[2], end[2];
    for (int i = 0; i < e->symbols; i++)
        if (strcmp(e->symbol[i].name, "length") == 0)
            memcpy(l->steps, e->symbol[i].size, sizeof l->steps);
    for (int k = 0; k < 2; k++) {
        if (!find(e, k, counts[k], &begin[k], &end[k])) return false;
        l->first[k] = heed__alloc_array(e->c, (size_t)l->period, sizeof(heed_node *));
        if (!l->first[k]) return false;
        counts[k] = keep(e, k, counts[k], begin[k], end[k]);
    }
    l->begin = begin[0];
    return begin[0] == begin[1] && end[0] - begin[0] == (l->steps[0] - 1) * l->period - 1 &&
           end[1] - begin[1] == (l->steps[1] - 1) * l->period - 1;
}

/* ---- the body ---- */

bool heed__onnx_in_body(const heed__onnx_export *e, const heed__onnx_step *s) {
    return e->loop.period && within(&e->loop, s->in[0]->index, e->loop.begin);
}

bool heed__onnx_gathers(const heed__onnx_export *e, const heed_node *a, const heed_node *b) {
    const heed__onnx_loop *l = &e->loop;
    return l->period && a->inputs == l->steps[0] && b->inputs == l->steps[1] &&
           distance(a, l->steps[0]) == l->period && distance(b, l->steps[1]) == l->period;
}

onnx heed__onnx_state(const heed__onnx_export *e, const heed_tensor *x) {
    for (int i = 0; i < e->loop.states; i++)
        if (e->loop.state[i].of == x) return e->loop.state[i].value;
    return NULL;
}

/* The node of the first step that corresponds to that of the body. */
static const heed_node *first_of(const heed__onnx_export *e, const heed__onnx_step *s, int k) {
    return e->loop.first[k][s->in[0]->index - e->loop.begin];
}

static bool is_position(const heed__onnx_export *e, const heed__onnx_step *s) {
    const heed_node *n = first_of(e, s, 0);
    const heed__slice_args *now = s->in[0]->args, *before = n->args;
    return strcmp(s->in[0]->op->name, "slice") == 0 && n->in[0] == s->in[0]->in[0] &&
           now->dim == 1 && now->size == 1 && before->from == 0 && now->from == 1;
}

/* Checks that the first step does the same, with other states. Arguments of layers do not differ,
 * and have gaps between their members. */
static bool repeats(const heed__onnx_export *e, const heed__onnx_step *s) {
    const heed_node *n = s->in[0], *f = first_of(e, s, 0);
    if (!f || !first_of(e, s, 1) || f->op != n->op || f->inputs != n->inputs) return false;
    if (is_position(e, s)) return true;
    for (int k = 0; k < n->inputs; k++) {
        int index = n->in[k] && n->in[k]->node ? n->in[k]->node->index : -1;
        bool inner = within(&e->loop, index, e->loop.begin - e->loop.period) ||
                     within(&e->loop, index, e->loop.begin);
        if (!inner && n->in[k] != f->in[k]) return false;
    }
    bool gaps = strstr(n->op->name, "recurrent") || strstr(n->op->name, "attention");
    return !n->args || gaps || memcmp(n->args, f->args, n->op->args_size) == 0;
}

/* Adds the state that input k of a step is, with the value before the first step. */
static bool add_state(heed__onnx_export *e, heed__onnx_scan *scan, const heed__onnx_step *s,
                      int k) {
    heed__onnx_loop *l = &e->loop;
    const heed_tensor *x = s->in[0]->in[k];
    const heed_tensor *from[2] = {first_of(e, s, 0)->in[k], first_of(e, s, 1)->in[k]};
    if (heed__onnx_state(e, x)) return true;
    if (l->states == HEED__ONNX_STATES) return false;
    onnx first = heed__onnx_value(e, from);
    l->state[l->states].of = x;
    l->state[l->states].value = heed__onnx_scan_state(e, scan, first);
    return l->state[l->states++].value != NULL;
}

bool heed__onnx_loop_begin(heed__onnx_export *e, heed__onnx_scan *scan, int step) {
    heed__onnx_loop *l = &e->loop;
    int end = step;
    heed__onnx_scan_begin(e, scan);
    for (; end < e->steps && heed__onnx_in_body(e, &e->step[end]); end++) {
        const heed__onnx_step *s = &e->step[end];
        if (!repeats(e, s)) return false;
        for (int k = 0; k < s->in[0]->inputs; k++) {
            const heed_tensor *x = s->in[0]->in[k];
            if (x && x->node && within(l, x->node->index, l->begin - l->period) &&
                !add_state(e, scan, s, k))
                return false;
        }
    }
    for (int i = step; i < end; i++) {
        heed__onnx_step *s = &e->step[i];
        if (!is_position(e, s)) continue;
        onnx y = heed__onnx_scan_input(e, scan, heed__onnx_in(e, s, 0));
        s->value = y ? ONNX(e, "Unsqueeze", y, heed__onnx_one(e, 1)) : NULL;
    }
    return heed_ctx_status(e->c) == HEED_OK;
}

/* The value in the body that is, one step later, what x was before. */
static onnx next(const heed__onnx_export *e, const heed_tensor *x) {
    for (int i = 0; i < e->steps; i++)
        if (e->step[i].in[0]->index == x->node->index + e->loop.period) return e->step[i].value;
    return NULL;
}

/* The steps after the body that gather from it get its outputs. */
bool heed__onnx_loop_end(heed__onnx_export *e, heed__onnx_scan *scan, int step) {
    heed__onnx_loop *l = &e->loop;
    onnx out[HEED__ONNX_SCAN_VALUES];
    int outputs = l->states;
    for (int i = 0; i < l->states; i++) {
        onnx y = next(e, l->state[i].of);
        if (!y) return false;
        heed__onnx_scan_output(e, scan, y);
    }
    for (int i = step; i < e->steps; i++) {
        const heed_node *n = e->step[i].in[0];
        if (!heed__onnx_gathers(e, n, e->step[i].in[1])) continue;
        if (*(const int *)n->args != 1 || n->y->dims != 3) return false;
        onnx y = heed__onnx_step_of(e, n->in[1])->value;
        heed__onnx_scan_output(e, scan, ONNX(e, "Squeeze", y, heed__onnx_one(e, 1)));
    }
    if (!heed__onnx_scan_end(e, scan, out)) return false;
    for (int i = step; i < e->steps; i++)
        if (heed__onnx_gathers(e, e->step[i].in[0], e->step[i].in[1]))
            e->step[i].value = out[outputs++];
    return true;
}

void heed__onnx_loop_free(heed__onnx_export *e) {
    for (int k = 0; k < 2; k++) heed__free(e->loop.first[k]);
}
