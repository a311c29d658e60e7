/* state.c -- updates of states, such as running statistics, made in forward or listed for later. */
#include "core/tape.h"

#include <string.h>

void heed__tape_defer_updates(heed_tape *t) {
    if (t) t->r->defers = true;
}

size_t heed__tape_updates(const heed_tape *t, const heed__state_update **list) {
    *list = t ? t->r->updates : NULL;
    return t ? t->r->update_count : 0;
}

void heed__update_state(const heed__state_update *u) {
    heed_real *y = u->of->x;
    for (size_t i = 0; i < u->of->size; i++)
        y[i] = (heed_real)(u->keep * (double)y[i] + u->scale * (double)u->x[i]);
}

void heed_update_state(heed_node *n, int i, double keep, double scale, const heed_real *x) {
    if (!n || !x || i < 0 || i >= n->inputs || !n->in[i]) return;
    heed__recording *r = n->tape->r;
    if (r->is_inner) {
        heed_wrong(n, "a part that is computed again cannot update a state");
        return;
    }
    heed__state_update u = {n->in[i], keep, scale, x};
    if (!r->defers) {
        heed__update_state(&u);
        return;
    }
    size_t bytes = u.of->size * sizeof *x;
    heed_real *copy = heed__arena_take(&r->arena, bytes);
    if (!copy || !heed__grow(r->c, &r->updates, &r->update_capacity, r->update_count + 1,
                             sizeof *r->updates))
        return;
    u.x = memcpy(copy, x, bytes);
    r->updates[r->update_count++] = u;
}
