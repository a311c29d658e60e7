/* optim.c -- an optimizer of a store: its slots, and one pass over all parameters. */
#include "optim/optim.h"

#include "core/profile.h"
#include "kernels/parallel.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const heed_optimizer *heed_optimizer_named(const char *name) {
    for (const heed_optimizer *const *r = heed_optimizer_table(); name && *r; r++)
        if (strcmp((*r)->name, name) == 0) return *r;
    return NULL;
}

static void destroy(heed__owned *object) {
    heed_optim *o = (heed_optim *)object;
    heed__store_release(&o->params);
    heed__store_release(&o->slots);
    heed__free(o->of);
    heed__free(o->pieces);
    heed__free(o);
}

static heed_tensor *slot(heed_store *s, const char *prefix, const char *which, const char *name,
                         const heed_tensor *like) {
    heed_scope(s, "%s", prefix);
    heed_scope(s, "%s", which);
    heed_tensor *y = heed_state_new(s, name, "zero", like->dims, like->shape);
    heed_unscope(s);
    heed_unscope(s);
    return y;
}

/* Of one element, which files leave out while it is 0. */
static heed_tensor *optional_slot(heed_store *s, const char *prefix, const char *which,
                                  const char *name) {
    heed_tensor *y = slot(s, prefix, which, name, &(heed_tensor){.dims = 1, .shape = {1}});
    if (y) heed_store_find(s, y->name)->optional = true;
    return y;
}

/* Makes "adam.count", "adam.count_rounds" and, for each trained parameter, "adam.missed.PARAMETER"
 * and slots of its shape: "adam.m.PARAMETER". */
static bool make_slots(heed_optim *o) {
    const heed_optimizer *r = o->optimizer;
    const char *prefix = r->prefix ? r->prefix : r->name;
    heed_store *s = o->slots.store;
    o->entries = heed_store_count(o->params.store);
    o->of = heed__alloc_array(o->c, (size_t)o->entries, sizeof *o->of);
    const heed_tensor *one = &(heed_tensor){.dims = 1, .shape = {1}};
    o->count = slot(s, prefix, "", "count", one);
    o->rounds = optional_slot(s, prefix, "", "count_rounds");
    for (int i = 0; i < o->entries && !heed__stopped(o->c); i++) {
        const heed_entry *e = heed_store_at(o->params.store, i);
        if (!e->trained && !e->thaw) continue;
        for (int j = 0; j < HEED_OPTIM_SLOTS && r->slots[j]; j++)
            o->of[i].at[j] = slot(s, prefix, r->slots[j], e->name, e->tensor);
        o->of[i].missed = optional_slot(s, prefix, "missed", e->name);
    }
    return !heed__stopped(o->c);
}

/* Cuts the entries into pieces; counts them only if o->pieces is NULL. */
static void cut(heed_optim *o) {
    size_t count = 0;
    for (int i = 0; i < o->entries; i++) {
        size_t n = heed_store_at(o->params.store, i)->tensor->size, step = heed__sum_step(n);
        for (size_t at = 0; at < n; at += step, count++)
            if (o->pieces)
                o->pieces[count] =
                    (heed__cut){.entry = i, .from = at, .to = n - at < step ? n : at + step};
    }
    o->piece_count = count;
}

static bool make_pieces(heed_optim *o) {
    cut(o);
    o->pieces = heed__alloc_array(o->c, o->piece_count, sizeof *o->pieces);
    if (o->pieces) cut(o);
    return o->pieces != NULL;
}

heed_optim *heed_optim_new(heed_store *s, const heed_optimizer *r, const heed_optim_args *args) {
    heed_ctx *c = heed_store_ctx(s);
    heed_optim_args a = args ? *args : heed_optim_defaults(r);
    if (!s || heed__stopped(c) || !heed__optim_check_args(c, r, &a)) return NULL;
    heed_optim *o = heed__alloc(c, sizeof *o);
    if (!o) return NULL;
    *o = (heed_optim){.c = c, .optimizer = r, .args = a, .grad_scale = 1};
    heed__own(c, &o->owned, destroy);
    heed__store_refer(&o->params, s);
    heed_store *slots = heed_store_new(c);
    if (slots) heed__store_refer(&o->slots, slots);
    if (slots && make_slots(o) && make_pieces(o)) return o;
    heed_optim_free(o);
    return NULL;
}

void heed_optim_free(heed_optim *o) {
    if (!o) return;
    heed_store_free(o->slots.store);
    heed__disown(o->c, &o->owned);
    destroy(&o->owned);
}

heed_store *heed_optim_slots(heed_optim *o) { return o ? o->slots.store : NULL; }

bool heed__optim_alive(const heed_optim *o) {
    return (o->params.store && o->slots.store) ||
           heed_fail(o->c, HEED_USAGE,
                     "optimizer has lost its %s: %s: the store was freed before the optimizer",
                     o->params.store ? "slots" : "parameters", o->optimizer->name);
}

/* ---- the number of updates ---- */

/* A count from a file may be any number. */
static int64_t whole(heed_real x) { return x >= 0 && x < (heed_real)1e9 ? (int64_t)x : 0; }

static int64_t updates(const heed_optim *o) {
    return whole(o->rounds->x[0]) * HEED__ROUND + whole(o->count->x[0]);
}

/* The number of updates of entry i, with the one that is going on. */
static int64_t updates_of(const heed_optim *o, int i) {
    int64_t all = updates(o), missed = o->of[i].missed ? whole(o->of[i].missed->x[0]) : 0;
    return missed < all ? all - missed : 1;
}

static void count_update(heed_optim *o) {
    for (int i = 0; i < o->entries; i++)
        if (o->of[i].missed && !heed__has_gradient(heed_store_at(o->params.store, i)))
            o->of[i].missed->x[0] += 1;
    o->count->x[0] += 1;
    if (o->count->x[0] < HEED__ROUND) return;
    o->count->x[0] -= HEED__ROUND;
    o->rounds->x[0] += 1;
}

/* ---- passes over all pieces, each in one region ---- */

static const heed_entry *entry_of(const heed_optim *o, size_t piece) {
    return heed_store_at(o->params.store, o->pieces[piece].entry);
}

static void squares_part(const void *job, size_t from, size_t to, int thread) {
    const heed_optim *o = job;
    const heed_kernels *k = heed__kernels_of(o->c);
    (void)thread;
    for (size_t i = from; i < to; i++) {
        heed__cut *p = &o->pieces[i];
        const heed_entry *e = entry_of(o, i);
        p->squares = 0;
        if (heed__has_gradient(e))
            p->squares = k->some_squares(k, e->tensor->g + p->from, p->to - p->from);
    }
}

static void share(heed_optim *o, double work, heed__part *part, const void *job) {
    double size = (double)heed_store_params(o->params.store);
    heed__share(heed__kernels_of(o->c), o->piece_count, work * size, part, job);
}

void heed__optim_squares(heed_optim *o) { share(o, 2, squares_part, o); }

double heed__optim_entry_squares(const heed_optim *o, int entry, size_t *piece) {
    double sum = 0;
    for (; *piece < o->piece_count && o->pieces[*piece].entry == entry; ++*piece)
        sum += o->pieces[*piece].squares;
    return sum;
}

/* An update; k: the kernels of the calling thread. */
typedef struct {
    const heed_optim *o;
    const heed_kernels *k;
    heed_real lr;
} pass;

static void update_elements(const pass *a, int i, size_t from, size_t to) {
    const heed_optim *o = a->o;
    const heed_entry *e = heed_store_at(o->params.store, i);
    heed_real *slots[HEED_OPTIM_SLOTS] = {NULL};
    for (int j = 0; j < HEED_OPTIM_SLOTS && o->of[i].at[j]; j++)
        slots[j] = o->of[i].at[j]->x + from;
    o->optimizer->update(&(heed_optim_update){.args = &o->args,
                                              .step = updates_of(o, i),
                                              .lr = a->lr * e->lr_scale,
                                              .decay = e->decay ? o->args.decay : 0,
                                              .grad_scale = o->grad_scale,
                                              .k = a->k},
                         e->tensor->x + from, e->tensor->g + from, slots, to - from);
}

/* Consecutive pieces of one entry are updated in one call. */
static void update_part(const void *job, size_t from, size_t to, int thread) {
    const pass *a = job;
    const heed__cut *p = a->o->pieces;
    (void)thread;
    for (size_t i = from; i < to;) {
        size_t first = i++;
        while (i < to && p[i].entry == p[first].entry) i++;
        if (heed__has_gradient(entry_of(a->o, first)))
            update_elements(a, p[first].entry, p[first].from, p[i - 1].to);
    }
}

static void update_all(heed_optim *o, heed_real lr) {
    heed__alone alone = heed__alone_of(heed__kernels_of(o->c), NULL);
    pass a = {o, heed__kernels_of(o->c), lr};
    if (!o->optimizer->elementwise) {
        for (size_t i = 0; i < o->piece_count; i++)
            if (o->pieces[i].from == 0 && heed__has_gradient(entry_of(o, i)))
                update_elements(&a, o->pieces[i].entry, 0, entry_of(o, i)->tensor->size);
        return;
    }
    a.k = &alone.k;
    share(o, 10, update_part, &a);
}

/* ---- a step ---- */

static bool check_entry(const heed_optim *o, int i) {
    const heed_entry *e = heed_store_at(o->params.store, i);
    return !heed__has_gradient(e) ||
           (i < o->entries && (!o->optimizer->slots[0] || o->of[i].at[0])) ||
           heed_fail(o->c, HEED_USAGE,
                     "optimizer does not know %s: it was made, or unfrozen, after the optimizer",
                     e->name);
}

/* Before any value changes, checks that the entries to be updated have slots and finite gradients.
 */
static bool check(heed_optim *o) {
    size_t piece = 0;
    for (int i = 0; i < heed_store_count(o->params.store); i++)
        if (!check_entry(o, i)) return false;
    if (o->finite) return true;
    heed__optim_squares(o);
    for (int i = 0; i < o->entries; i++)
        if (!isfinite(heed__optim_entry_squares(o, i, &piece)))
            return heed_fail(o->c, HEED_DIVERGED,
                             "gradient is not finite: %s at update %" PRId64
                             "; hint: a smaller `lr`, a longer `warmup`, or `clip = 1`",
                             heed_store_at(o->params.store, i)->name, updates(o));
    return true;
}

/* What an update reads and writes: values, gradients and slots. */
static double bytes_of(const heed_optim *o) {
    int arrays = 2;
    for (int j = 0; j < HEED_OPTIM_SLOTS && o->optimizer->slots[j]; j++) arrays++;
    return 2.0 * arrays * (double)heed_store_params(o->params.store) * sizeof(heed_real);
}

bool heed_step(heed_optim *o, heed_real lr_scale) {
    if (!o || heed__stopped(o->c) || !heed__optim_alive(o)) return false;
    heed_profile *profile = heed__profile_of(o->c);
    heed__profile_phase(profile, HEED_PHASE_OPTIMIZER);
    heed__profile_begin(profile, o->optimizer->name, profile ? bytes_of(o) : 0);
    bool ok = check(o);
    if (ok) {
        count_update(o);
        update_all(o, o->args.lr * lr_scale);
        for (int i = 0; i < o->entries; i++) {
            const heed_entry *e = heed_store_at(o->params.store, i);
            if (heed__has_gradient(e)) e->tensor->touched = false;
        }
        o->grad_scale = 1;
        o->finite = false;
    }
    heed__profile_end(profile);
    heed__profile_phase(profile, HEED_PHASE_OUTSIDE);
    heed__profile_step(profile);
    return ok;
}
