/* backward.c -- the backward pass: the recorded nodes in reverse order. */
#include "core/params.h"
#include "core/profile.h"
#include "core/tape.h"

#include <string.h>

/* A view's gradient is a part of its base's, unless a separate one was requested. */
static bool shares(const heed_tensor *x) { return heed__of(x)->base && !heed__of(x)->keep_grad; }

/* The gradient array of x, allocated by its owner at first use. It is then zeroed, unless the
 * caller writes every element when *add is false. A parameter's gradient outlives the step. */
static heed_real *gradient(heed__recording *r, heed_tensor *x, bool *add) {
    if (add) *add = true;
    if (!x || !heed__wants_grad(r, x)) return NULL;
    if (shares(x)) {
        heed_real *g = gradient(r, heed__of(x)->base, NULL);
        return g ? g + heed__of(x)->offset : NULL;
    }
    if (!x->g && x->name) {
        x->g = heed__alloc_array(r->c, x->size, sizeof *x->g);
    } else if (!x->g) {
        x->g = heed__arena_take(&r->arena, x->size * sizeof *x->g);
        if (add)
            *add = false;
        else if (x->g)
            memset(x->g, 0, x->size * sizeof *x->g);
    }
    heed__of(x)->touched = true;
    return x->g;
}

/* The tensor in whose array the gradient of x is. */
static const heed_tensor *holder(const heed_tensor *x) {
    while (x && shares(x)) x = heed__of(x)->base;
    return x;
}

/* Whether x needs a gradient array, has none yet, and could use that of y. */
static bool may_use(const heed__recording *r, const heed_tensor *x, const heed_tensor *y) {
    return x && heed__wants_grad(r, x) && !x->g && !x->name && !shares(x) && x->size == y->size;
}

static int uses(const heed_node *n, const heed_tensor *x) {
    int count = 0;
    for (int i = 0; i < n->inputs; i++) count += holder(n->in[i]) == x;
    return count;
}

bool heed__grad_may_take(const heed_node *n, int i) {
    const heed__recording *r = n->tape->r;
    const heed_tensor *y = n->y;
    return may_use(r, n->in[i], y) && !heed__of(y)->keep_grad && !heed__of(y)->base &&
           y != r->lent && uses(n, n->in[i]) == 1;
}

void heed__grad_take(heed_node *n, int i) {
    n->in[i]->g = n->y->g;
    n->y->g = NULL;
}

bool heed__grad_lent(const heed_node *n) { return n->tape->r->lent == n->y; }

bool heed__grad_lend(heed_node *n, int i, int owner) {
    heed__recording *r = n->tape->r;
    heed_tensor *x = n->in[i];
    const heed_node *next = r->walked > 0 ? r->nodes[r->walked - 1] : NULL;
    if (!may_use(r, x, n->y) || heed__of(x)->keep_grad || !next || next->y != x ||
        uses(next, holder(n->in[owner])))
        return false;
    x->g = n->y->g;
    r->lent = x;
    return true;
}

heed_real *heed_grad(heed_node *n, int i) { return heed_grad_into(n, i, NULL); }

heed_real *heed_grad_into(heed_node *n, int i, bool *add) {
    return n ? gradient(n->tape->r, n->in[i], add) : NULL;
}

void heed_view_backward(heed_node *n) {
    const heed_tensor *y = n ? n->y : NULL;
    if (!y || !heed__of(y)->base || shares(y)) return;
    heed_real *g = gradient(n->tape->r, heed__of(y)->base, NULL);
    for (size_t i = 0; g && i < y->size; i++) g[heed__of(y)->offset + i] += y->g[i];
}

/* ---- parameters whose gradient is complete ---- */

void heed__tape_on_final(heed_tape *t, void (*final)(void *user, heed_tensor *x), void *user) {
    if (!t) return;
    t->r->final = final;
    t->r->final_user = user;
}

/* Changes the number of readers of each parameter that the node reads; a negative `by` reports
 * those that nothing else reads. */
static void count_readers(const heed__recording *r, const heed_node *n, int by) {
    for (int i = 0; i < n->inputs; i++) {
        heed_tensor *x = n->in[i];
        if (!x || !x->name || !x->wants_grad) continue;
        heed__of(x)->readers += by;
        if (by < 0 && heed__of(x)->readers == 0) r->final(r->final_user, x);
    }
}

/* An earlier backward that failed may have left some. */
static void begin_readers(const heed__recording *r) {
    for (size_t i = 0; i < r->node_count; i++)
        for (int k = 0; k < r->nodes[i]->inputs; k++)
            if (r->nodes[i]->in[k]) heed__of(r->nodes[i]->in[k])->readers = 0;
    for (size_t i = 0; i < r->node_count; i++) count_readers(r, r->nodes[i], 1);
}

/* ---- the walk ---- */

/* Values that were let go are computed again for the op that reads them. */
static void restore(const heed_tensor *x) {
    heed_node *m = x ? x->node : NULL;
    if (m && heed__of(m->y)->dropped && !x->x) m->again(m);
}

static bool visit(heed__recording *r, size_t i) {
    heed_node *n = r->nodes[i];
    heed_tensor *y = n->y;
    if (shares(y)) y->g = heed__of(y)->base->g ? heed__of(y)->base->g + heed__of(y)->offset : NULL;
    if (!y->g) return true; /* backward has not reached it */
    r->walked = i;
    for (int k = 0; k < n->kept_count; k++)
        if (n->kept[k]->wants_grad && !gradient(r, n->kept[k], NULL)) return false;
    size_t used = heed__tape_bytes(r);
    heed__profile_node(heed__profile_of(r->c), n);
    for (int k = 0; k < n->inputs; k++) restore(n->in[k]);
    n->op->backward(n);
    heed__profile_end(heed__profile_of(r->c));
    heed__of(n->y)->bytes[1] += heed__tape_bytes(r) - used;
    if (heed__stopped(r->c)) return false;
    if (heed__of(n->y)->dropped && y->x) { /* restored for the ops before this one */
        heed__arena_give(&r->arena, y->x, y->size * sizeof *y->x);
        y->x = NULL;
    }
    if (heed__of(y)->keep_grad || heed__of(y)->base) return true;
    if (y->g && y != r->lent) heed__arena_give(&r->arena, y->g, y->size * sizeof *y->g);
    if (y == r->lent) r->lent = NULL;
    y->g = NULL;
    return true;
}

static bool walk(heed__recording *r) {
    bool reports = r->final && !r->inner; /* ops of the inner tape may read any parameter */
    if (reports) begin_readers(r);
    for (size_t i = r->node_count; i-- > 0;) {
        if (!visit(r, i)) return false;
        if (reports) count_readers(r, r->nodes[i], -1);
    }
    if (r->mode == HEED_TRAIN && !r->is_inner) heed__report_missing(r->c);
    return true;
}

bool heed_backward_from(heed_tape *t, heed_tensor *y, const heed_real *gy) {
    if (heed__tape_stopped(t) || !y || !gy || !heed__tape_owns(t->r, y, "backward", NULL))
        return false;
    if (!y->wants_grad)
        return heed_fail(t->r->c, HEED_USAGE,
                         "backward: the loss depends on no tensor that requires a gradient; hint: "
                         "begin the step with HEED_TRAIN and use parameters that are not frozen");
    heed_real *g = gradient(t->r, y, NULL);
    if (!g) return false;
    heed_profile *profile = heed__profile_of(t->r->c);
    t->r->lent = NULL;
    heed__profile_phase(profile, HEED_PHASE_BACKWARD);
    for (size_t i = 0; i < y->size; i++) g[i] += gy[i];
    bool done = walk(t->r);
    heed__profile_phase(profile, HEED_PHASE_OUTSIDE);
    return done;
}

bool heed_backward(heed_tape *t, heed_tensor *loss) {
    char text[64];
    if (heed__tape_stopped(t)) return false;
    if (!loss) return heed_fail(t->r->c, HEED_USAGE, "backward: expected a loss, found NULL");
    if (loss->size != 1)
        return heed_fail(t->r->c, HEED_USAGE,
                         "backward: a loss is one number, found shape %s; hint: heed_mean",
                         heed_shape_text(loss, text, sizeof text));
    return heed_backward_from(t, loss, &(heed_real){1});
}
