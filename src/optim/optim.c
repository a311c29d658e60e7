/* optim.c -- an optimizer of a store: its settings and slots, the norm of the gradients, one pass
 * over all parameters, schedules of the learning rate, and the check of an optimizer on its cases.
 */
#include "optim/optim.h"

#include "core/params.h"
#include "core/profile.h"
#include "kernels/kernels.h"
#include "kernels/parallel.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings ---- */

/* The fields of heed_optim_args that are settings, in order. */
static const char *const names[] = {"lr",  "decay",    "momentum", "alpha",    "beta1",   "beta2",
                                    "eps", "extra[0]", "extra[1]", "extra[2]", "extra[3]"};
enum { FIRST = offsetof(heed_optim_args, lr), COUNT = sizeof names / sizeof *names };

static heed_real *field(heed_optim_args *a, size_t at) { return (void *)((char *)a + at); }

heed_optim_args heed_optim_defaults(const heed_optimizer *r) {
    heed_optim_args a = {.optimizer = r};
    for (size_t i = 0; i < COUNT; i++) *field(&a, FIRST + i * sizeof(heed_real)) = (heed_real)NAN;
    for (const heed_optim_setting *s = r ? r->settings : NULL; s && s->name; s++)
        *field(&a, s->at) = (heed_real)s->value;
    return a;
}

heed_real *heed__optim_setting(heed_optim_args *a, const char *name) {
    const heed_optim_setting *s = a->optimizer ? a->optimizer->settings : NULL;
    while (s && s->name && strcmp(s->name, name) != 0) s++;
    return s && s->name ? field(a, s->at) : NULL;
}

bool heed__optim_read(heed_ctx *c, heed_optim_args *a, const char *text) {
    char name[32], number[32];
    int used = 0;
    for (; sscanf(text, " %31[^= ]=%31s%n", name, number, &used) == 2; text += used) {
        heed_real *setting = heed__optim_setting(a, name);
        double value;
        if (!setting || !heed__number(number, &value)) break;
        *setting = (heed_real)value;
    }
    return text[strspn(text, " ")] == 0 ||
           heed_fail(c, HEED_USAGE,
                     "settings of optimizer %s cannot be read: expected NAME=NUMBER ..., found %s",
                     a->optimizer->name, text);
}

static bool in_range(heed_ctx *c, heed_optim_args *a, const heed_optim_setting *s) {
    double value = (double)*field(a, s->at);
    if (value >= s->min && value < s->end) return true;
    if (s->end == (double)INFINITY)
        return heed_fail(c, HEED_USAGE,
                         "optimizer setting is out of range: %s of %s: expected a number of at "
                         "least %g, found %g",
                         s->name, a->optimizer->name, s->min, value);
    return heed_fail(c, HEED_USAGE,
                     "optimizer setting is out of range: %s of %s: expected at least %g and below "
                     "%g, found %g",
                     s->name, a->optimizer->name, s->min, s->end, value);
}

/* True if a was made for r, and all settings are in range. */
static bool check_args(heed_ctx *c, const heed_optimizer *r, heed_optim_args *a) {
    if (!r || !r->name || !r->update || !r->settings)
        return heed_fail(c, HEED_USAGE,
                         "optimizer is incomplete: %s: expected a name, settings and an update",
                         r && r->name ? r->name : "NULL");
    if (a->optimizer != r)
        return heed_fail(c, HEED_USAGE,
                         "optimizer settings are not those of %s: expected what "
                         "heed_optim_defaults returns for it, found %s",
                         r->name, a->optimizer ? a->optimizer->name : "a struct made otherwise");
    bool used[COUNT] = {false};
    for (const heed_optim_setting *s = r->settings; s->name; s++) {
        used[(s->at - FIRST) / sizeof(heed_real)] = true;
        if (!in_range(c, a, s)) return false;
    }
    for (size_t i = 0; i < COUNT; i++)
        if (!used[i] && !isnan(*field(a, FIRST + i * sizeof(heed_real))))
            return heed_fail(c, HEED_USAGE,
                             "optimizer setting is not used: %s has no %s; hint: leave it as "
                             "heed_optim_defaults returns it",
                             r->name, names[i]);
    return true;
}

/* ---- slots ---- */

/* The slots of one entry, in the order that the optimizer lists them; NULL: none. missed (1): the
 * number of updates in which it had no gradient, or was frozen; NULL if it is frozen for good. */
typedef struct {
    heed_tensor *at[HEED_OPTIM_SLOTS], *missed;
} entry_slots;

/* Consecutive elements of an entry: a partial sum of its squares, as kernels.h cuts them. */
typedef struct {
    int entry;
    size_t from, to;
    double squares;
} cut;

/* A matrix that is updated whole: rows of an entry from the element `from`. */
typedef struct {
    int entry;
    size_t from;
    int rows, columns;
    double work; /* in floating-point operations, approximately */
} matrix;

enum { ROUND = 1 << 24 };

struct heed_optim {
    heed__owned owned;
    heed_ctx *c;
    heed__store_ref params, slots;
    const heed_optimizer *optimizer;
    heed_optim_args args;
    /* (1) each: the number of updates so far is count + rounds ROUND. A heed_real counts no
     * further than ROUND; files of earlier versions have no rounds. */
    heed_tensor *count, *rounds;
    entry_slots *of; /* one element per entry of the parameters */
    int entries;
    cut *pieces; /* of all entries, in order */
    size_t piece_count;
    matrix *matrices; /* those with the most work come first */
    int matrix_count;
    heed_real *scratch; /* scratch_size elements for each thread; NULL: none */
    size_t scratch_size;
    heed_real grad_scale; /* for the next step, set by heed_clip_grad_norm */
    bool finite;          /* heed_clip_grad_norm found all gradients finite */
};

/* True for an entry that the next step updates: trained, with a gradient since the last step. */
static inline bool has_gradient(const heed_param *e) {
    return e->trained && e->tensor->g && heed__of(e->tensor)->touched;
}

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
    heed__free(o->matrices);
    heed__free(o->scratch);
    heed__free(o);
}

static heed_tensor *slot(heed_params *s, const char *prefix, const char *which, const char *name,
                         const heed_tensor *like) {
    heed_scope_push(s, "%s", prefix);
    heed_scope_push(s, "%s", which);
    heed_tensor *y = heed_buffer_new(s, name, "zero", like->dims, like->shape);
    heed_scope_pop(s);
    heed_scope_pop(s);
    return y;
}

/* Of one element, which files leave out while it is 0. */
static heed_tensor *optional_slot(heed_params *s, const char *prefix, const char *which,
                                  const char *name) {
    heed_tensor *y = slot(s, prefix, which, name, &(heed_tensor){.dims = 1, .shape = {1}});
    if (y) heed__of(heed_params_find(s, y->name)->tensor)->optional = true;
    return y;
}

/* Makes "adam.count", "adam.count_rounds" and, for each trained parameter, "adam.missed.PARAMETER"
 * and slots of its shape: "adam.m.PARAMETER". */
static bool make_slots(heed_optim *o) {
    const heed_optimizer *r = o->optimizer;
    const char *prefix = r->prefix ? r->prefix : r->name;
    heed_params *s = o->slots.store;
    o->entries = heed_params_count(o->params.store);
    o->of = heed__alloc_array(o->c, (size_t)o->entries, sizeof *o->of);
    const heed_tensor *one = &(heed_tensor){.dims = 1, .shape = {1}};
    o->count = slot(s, prefix, "", "count", one);
    o->rounds = optional_slot(s, prefix, "", "count_rounds");
    for (int i = 0; i < o->entries && !heed__stopped(o->c); i++) {
        const heed_param *e = heed_params_at(o->params.store, i);
        if (!e->trained && !e->thaw) continue;
        int slots = r->slot_count ? r->slot_count(e) : HEED_OPTIM_SLOTS;
        for (int j = 0; j < slots && j < HEED_OPTIM_SLOTS && r->slots[j]; j++)
            o->of[i].at[j] = slot(s, prefix, r->slots[j], e->name, e->tensor);
        o->of[i].missed = optional_slot(s, prefix, "missed", e->name);
    }
    return !heed__stopped(o->c);
}

/* Cuts the entries into pieces; counts them only if o->pieces is NULL. */
static void cut_entries(heed_optim *o) {
    size_t count = 0;
    for (int i = 0; i < o->entries; i++) {
        size_t n = heed_params_at(o->params.store, i)->tensor->size, step = heed__sum_step(n);
        for (size_t at = 0; at < n; at += step, count++)
            if (o->pieces)
                o->pieces[count] =
                    (cut){.entry = i, .from = at, .to = n - at < step ? n : at + step};
    }
    o->piece_count = count;
}

static bool make_pieces(heed_optim *o) {
    cut_entries(o);
    o->pieces = heed__alloc_array(o->c, o->piece_count, sizeof *o->pieces);
    if (o->pieces) cut_entries(o);
    return o->pieces != NULL;
}

static bool is_whole(const heed_optim *o, int entry) {
    return o->optimizer->whole && o->optimizer->whole(heed_params_at(o->params.store, entry));
}

static int by_work(const void *a, const void *b) {
    const matrix *x = a, *y = b;
    if (x->work != y->work) return x->work < y->work ? 1 : -1;
    return x->entry != y->entry ? (x->entry > y->entry) - (x->entry < y->entry)
                                : (x->from > y->from) - (x->from < y->from);
}

/* Lists the matrices of an entry: its named ranges, and the rows between them. */
static void list_matrices(heed_optim *o, int entry, matrix *out) {
    const heed_param *e = heed_params_at(o->params.store, entry);
    int all = e->tensor->shape[0], columns = (int)(e->tensor->size / (size_t)all);
    for (int row = 0, end; row < all; row = end) {
        end = all;
        for (int i = 0; i < HEED_RANGES && e->ranges[i].count; i++) {
            int from = e->ranges[i].from, to = from + e->ranges[i].count;
            if (from > row && from < end) end = from;
            if (from <= row && to > row && to < end) end = to;
        }
        double least = end - row < columns ? end - row : columns;
        matrix m = {.entry = entry,
                    .from = (size_t)row * (size_t)columns,
                    .rows = end - row,
                    .columns = columns,
                    .work = 20 * least * (double)(end - row) * columns};
        if (out) out[o->matrix_count] = m;
        o->matrix_count++;
    }
}

static bool make_matrices(heed_optim *o) {
    const heed_optimizer *r = o->optimizer;
    for (int i = 0; r->whole && i < o->entries; i++)
        if (is_whole(o, i)) list_matrices(o, i, NULL);
    if (!o->matrix_count) return true;
    o->matrices = heed__alloc_array(o->c, (size_t)o->matrix_count, sizeof *o->matrices);
    if (!o->matrices) return false;
    o->matrix_count = 0;
    for (int i = 0; i < o->entries; i++)
        if (is_whole(o, i)) list_matrices(o, i, o->matrices);
    qsort(o->matrices, (size_t)o->matrix_count, sizeof *o->matrices, by_work);
    for (int i = 0; r->scratch && i < o->matrix_count; i++) {
        size_t n = r->scratch(o->matrices[i].rows, o->matrices[i].columns);
        if (n > o->scratch_size) o->scratch_size = n;
    }
    if (!o->scratch_size) return true;
    size_t threads = (size_t)heed_threads(o->c);
    o->scratch = heed__alloc_array(o->c, threads * o->scratch_size, sizeof *o->scratch);
    return o->scratch != NULL;
}

heed_optim *heed_optim_new(heed_params *s, const heed_optimizer *r, const heed_optim_args *args) {
    heed_ctx *c = heed_params_ctx(s);
    heed_optim_args a = args ? *args : heed_optim_defaults(r);
    if (!s || heed__stopped(c) || !check_args(c, r, &a)) return NULL;
    heed_optim *o = heed__alloc(c, sizeof *o);
    if (!o) return NULL;
    *o = (heed_optim){.c = c, .optimizer = r, .args = a, .grad_scale = 1};
    heed__own(c, &o->owned, destroy);
    heed__store_refer(&o->params, s);
    heed_params *slots = heed_params_new(c);
    if (slots) heed__store_refer(&o->slots, slots);
    if (slots && make_slots(o) && make_pieces(o) && make_matrices(o)) return o;
    heed_optim_free(o);
    return NULL;
}

void heed_optim_free(heed_optim *o) {
    if (!o) return;
    heed_params_free(o->slots.store);
    heed__disown(o->c, &o->owned);
    destroy(&o->owned);
}

heed_params *heed_optim_slots(heed_optim *o) { return o ? o->slots.store : NULL; }

/* True if both stores exist; an error if one was freed. */
static bool is_alive(const heed_optim *o) {
    return (o->params.store && o->slots.store) ||
           heed_fail(o->c, HEED_USAGE,
                     "optimizer has lost its %s: %s: the store was freed before the optimizer",
                     o->params.store ? "slots" : "parameters", o->optimizer->name);
}

/* ---- the number of updates ---- */

/* A count from a file may be any number. */
static int64_t whole(heed_real x) { return x >= 0 && x < (heed_real)1e9 ? (int64_t)x : 0; }

static int64_t updates(const heed_optim *o) {
    return whole(o->rounds->x[0]) * ROUND + whole(o->count->x[0]);
}

/* The number of updates of entry i, with the one that is going on. */
static int64_t updates_of(const heed_optim *o, int i) {
    int64_t all = updates(o), missed = o->of[i].missed ? whole(o->of[i].missed->x[0]) : 0;
    return missed < all ? all - missed : 1;
}

static void count_update(heed_optim *o) {
    for (int i = 0; i < o->entries; i++)
        if (o->of[i].missed && !has_gradient(heed_params_at(o->params.store, i)))
            o->of[i].missed->x[0] += 1;
    o->count->x[0] += 1;
    if (o->count->x[0] < ROUND) return;
    o->count->x[0] -= ROUND;
    o->rounds->x[0] += 1;
}

/* ---- passes over all pieces, each in one region ---- */

static const heed_param *entry_of(const heed_optim *o, size_t piece) {
    return heed_params_at(o->params.store, o->pieces[piece].entry);
}

static void squares_part(const void *job, size_t from, size_t to, int thread) {
    const heed_optim *o = job;
    const heed_kernels *k = heed__kernels_of(o->c);
    (void)thread;
    for (size_t i = from; i < to; i++) {
        cut *p = &o->pieces[i];
        const heed_param *e = entry_of(o, i);
        p->squares = 0;
        if (has_gradient(e))
            p->squares = k->some_squares(k, e->tensor->g + p->from, p->to - p->from);
    }
}

static void share(heed_optim *o, double work, heed__part *part, const void *job) {
    double size = (double)heed_params_numel(o->params.store);
    heed__share(heed__kernels_of(o->c), o->piece_count, work * size, part, job);
}

/* Writes the squares of the pieces of all entries that the next step updates, in one region. */
static void square_all(heed_optim *o) { share(o, 2, squares_part, o); }

/* Adds those of an entry, whose first piece is *piece, which is advanced past the last one. */
static double entry_squares(const heed_optim *o, int entry, size_t *piece) {
    double sum = 0;
    for (; *piece < o->piece_count && o->pieces[*piece].entry == entry; ++*piece)
        sum += o->pieces[*piece].squares;
    return sum;
}

typedef struct {
    const heed_optim *o;
    heed_real lr;
    atomic_int *next; /* matrix that no thread has begun */
} pass;

/* Updates n elements of entry i from the one at `from`. u: its members that depend on the part. */
static void update_elements(const pass *a, int i, size_t from, size_t n, heed_optim_update u) {
    const heed_optim *o = a->o;
    const heed_param *e = heed_params_at(o->params.store, i);
    heed_real *slots[HEED_OPTIM_SLOTS] = {NULL};
    for (int j = 0; j < HEED_OPTIM_SLOTS && o->of[i].at[j]; j++)
        slots[j] = o->of[i].at[j]->x + from;
    u.args = &o->args;
    u.step = updates_of(o, i);
    u.lr = a->lr * e->lr_scale;
    u.decay = e->decay ? o->args.decay : 0;
    u.grad_scale = o->grad_scale;
    u.entry = e;
    o->optimizer->update(&u, e->tensor->x + from, e->tensor->g + from, slots, n);
}

/* Consecutive pieces of one entry are updated in one call. */
static void update_part(const void *job, size_t from, size_t to, int thread) {
    const pass *a = job;
    const cut *p = a->o->pieces;
    heed__alone alone = heed__alone_of(heed__kernels_of(a->o->c), NULL);
    (void)thread;
    for (size_t i = from; i < to;) {
        size_t first = i++;
        while (i < to && p[i].entry == p[first].entry) i++;
        if (has_gradient(entry_of(a->o, first)) && !is_whole(a->o, p[first].entry))
            update_elements(a, p[first].entry, p[first].from, p[i - 1].to - p[first].from,
                            (heed_optim_update){.k = &alone.k});
    }
}

/* Each thread takes the next matrix, whatever its range: no result depends on the thread. */
static void update_matrices(const void *job, size_t from, size_t to, int thread) {
    const pass *a = job;
    const heed_optim *o = a->o;
    const heed_kernels *k = heed__kernels_of(o->c);
    heed__alone alone = heed__alone_of(k, k->profile ? &k->profile->stretches[thread].flops : NULL);
    (void)from;
    (void)to;
    for (int i; (i = atomic_fetch_add(a->next, 1)) < o->matrix_count;) {
        const matrix *m = &o->matrices[i];
        if (has_gradient(heed_params_at(o->params.store, m->entry)))
            update_elements(
                a, m->entry, m->from, (size_t)m->rows * (size_t)m->columns,
                (heed_optim_update){
                    .rows = m->rows,
                    .columns = m->columns,
                    .scratch = o->scratch ? o->scratch + (size_t)thread * o->scratch_size : NULL,
                    .k = &alone.k});
    }
}

static void update_all(heed_optim *o, heed_real lr) {
    const heed_kernels *k = heed__kernels_of(o->c);
    atomic_int next;
    double work = 0;
    pass a = {o, lr, &next};
    atomic_init(&next, 0);
    share(o, 10, update_part, &a);
    for (int i = 0; i < o->matrix_count; i++) work += o->matrices[i].work;
    if (o->matrix_count) heed__share(k, (size_t)k->threads, work, update_matrices, &a);
}

/* ---- the norm of the gradients, and clipping. Pascanu et al. 2013, alg. 1 ---- */

double heed_grad_norm(const heed_params *s) {
    double sum = 0;
    if (!s) return 0;
    const heed_kernels *k = heed__kernels_of(heed_params_ctx(s));
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        if (has_gradient(e)) sum += k->sum_squares(k, e->tensor->g, e->tensor->size);
    }
    return sqrt(sum);
}

/* The same from the optimizer's pieces, with the same bits. */
static double norm_of(heed_optim *o) {
    double sum = 0;
    size_t piece = 0;
    square_all(o);
    for (int i = 0; i < o->entries; i++) sum += entry_squares(o, i, &piece);
    return sqrt(sum);
}

/* 1e-6 as in PyTorch's clip_grad_norm_. */
double heed_clip_grad_norm(heed_optim *o, heed_real max, heed_real scale) {
    if (!o || heed__stopped(o->c) || !is_alive(o)) return 0;
    heed_profile *profile = heed__profile_of(o->c);
    heed__profile_phase(profile, HEED_PHASE_OPTIMIZER);
    heed__profile_begin(profile, "clip", (double)heed_params_numel(o->params.store) * sizeof scale);
    double norm = norm_of(o) * fabs((double)scale);
    heed__profile_end(profile);
    heed__profile_phase(profile, HEED_PHASE_OUTSIDE);
    double factor = max > 0 ? (double)max / (norm + 1e-6) : 1;
    o->grad_scale = factor < 1 ? (heed_real)(factor * (double)scale) : scale;
    o->finite = isfinite(norm);
    return norm;
}

/* ---- a step ---- */

static bool check_entry(const heed_optim *o, int i) {
    const heed_param *e = heed_params_at(o->params.store, i);
    return !has_gradient(e) || (i < o->entries && (!o->optimizer->slots[0] || o->of[i].at[0])) ||
           heed_fail(o->c, HEED_USAGE,
                     "optimizer does not know %s: it was made, or unfrozen, after the optimizer",
                     e->name);
}

/* Before any value changes, checks that the entries to be updated have slots and finite gradients.
 */
static bool check(heed_optim *o) {
    size_t piece = 0;
    for (int i = 0; i < heed_params_count(o->params.store); i++)
        if (!check_entry(o, i)) return false;
    if (o->finite) return true;
    square_all(o);
    for (int i = 0; i < o->entries; i++)
        if (!isfinite(entry_squares(o, i, &piece)))
            return heed_fail(o->c, HEED_DIVERGED,
                             "gradient is not finite: %s at update %" PRId64
                             "; hint: a smaller `lr`, a longer `warmup`, or `clip = 1`",
                             heed_params_at(o->params.store, i)->name, updates(o));
    return true;
}

/* What an update reads and writes: values, gradients and slots. */
static double bytes_of(const heed_optim *o) {
    int arrays = 2;
    for (int j = 0; j < HEED_OPTIM_SLOTS && o->optimizer->slots[j]; j++) arrays++;
    return 2.0 * arrays * (double)heed_params_numel(o->params.store) * sizeof(heed_real);
}

bool heed_optim_step(heed_optim *o, heed_real lr_scale) {
    if (!o || heed__stopped(o->c) || !is_alive(o)) return false;
    heed_profile *profile = heed__profile_of(o->c);
    heed__profile_phase(profile, HEED_PHASE_OPTIMIZER);
    heed__profile_begin(profile, o->optimizer->name, profile ? bytes_of(o) : 0);
    bool ok = check(o);
    if (ok) {
        count_update(o);
        update_all(o, o->args.lr * lr_scale);
        for (int i = 0; i < o->entries; i++) {
            const heed_param *e = heed_params_at(o->params.store, i);
            if (has_gradient(e)) heed__of(e->tensor)->touched = false;
        }
        o->grad_scale = 1;
        o->finite = false;
    }
    heed__profile_end(profile);
    heed__profile_phase(profile, HEED_PHASE_OUTSIDE);
    heed__profile_step(profile);
    return ok;
}

/* ---- schedules of the learning rate ---- */

static const double pi = 3.14159265358979323846;

/* The fraction of the steps after warm-up that is done, in [0, 1]. */
static double progress(const heed_schedule *s, int64_t step) {
    if (s->steps <= s->warmup) return 1;
    double done = (double)(step - s->warmup) / (double)(s->steps - s->warmup);
    return done < 0 ? 0 : done > 1 ? 1 : done;
}

static double after_warmup(const heed_schedule *s, int64_t step) {
    double floor = (double)s->floor;
    switch (s->kind) {
    case HEED_SCHEDULE_COSINE:
        return floor + (1 - floor) * 0.5 * (1 + cos(pi * progress(s, step)));
    case HEED_SCHEDULE_LINEAR:
        return 1 - (1 - floor) * progress(s, step);
    case HEED_SCHEDULE_STEP:
        return s->every > 0 ? pow((double)s->gamma, (double)(step / s->every)) : 1;
    case HEED_SCHEDULE_INVSQRT:
        return sqrt((double)(s->warmup > 0 ? s->warmup : 1) / (double)(step + 1));
    case HEED_SCHEDULE_CONSTANT:
        break;
    }
    return 1;
}

/* With warm-up, the inverse square root is eq. 3 of Vaswani et al. 2017: for s < w its second term
 * is s w^-1.5 w^0.5 = s / w, the linear warm-up of all kinds; the two meet at s = w. */
heed_real heed_schedule_at(const heed_schedule *s, int64_t step) {
    if (!s || step < 0) return 1;
    if (step < s->warmup) return (heed_real)((double)(step + 1) / (double)s->warmup);
    return (heed_real)after_warmup(s, step);
}

/* ---- the check of an optimizer: a small problem solved by another implementation ---- */

enum { UPDATES = 10, W = 6, N = HEED_OPTIM_CASE };

typedef struct {
    heed_params *s;
    heed_tensor *of[2]; /* w and b */
    heed_optim *o;
} problem;

static heed_real *value(const problem *p, int i) { return &p->of[i >= W]->x[i % W]; }

static bool problem_new(problem *p, heed_ctx *c, const heed_optimizer *r, const char *settings) {
    static const double start[N] = {0.5, -1, 0.25, 2, 0, -0.75, 1, -0.5};
    heed_optim_args a = heed_optim_defaults(r);
    *p = (problem){.s = heed_params_new(c)};
    p->of[0] = heed_param_new(p->s, "w", "zero", 2, (int[]){2, 3});
    p->of[1] = heed_param_new(p->s, "b", "zero", 1, (int[]){2});
    if (heed__stopped(c) || !heed__optim_read(c, &a, settings)) return false;
    for (int i = 0; i < N; i++) *value(p, i) = (heed_real)start[i];
    for (int j = 0; j < 2; j++)
        p->of[j]->g = heed__alloc_array(c, p->of[j]->size, sizeof(heed_real));
    p->o = heed_optim_new(p->s, r, &a);
    return !heed__stopped(c);
}

static void problem_free(problem *p) {
    heed_optim_free(p->o);
    heed_params_free(p->s);
}

/* Gradients are doubled, and added to what the last update left. */
static void update_problem(problem *p, int t) {
    for (int i = 0; i < N; i++) {
        double g = 0.5 * (double)*value(p, i) + cos(1.7 * i + 0.9 * t);
        p->of[i >= W]->g[i % W] += (heed_real)(2 * g);
        heed__of(p->of[i >= W])->touched = true;
    }
    heed_clip_grad_norm(p->o, 0, (heed_real)0.5);
    heed_optim_step(p->o, 1);
}

static void copy(heed_params *to, const heed_params *from) {
    for (int i = 0; i < heed_params_count(from); i++) {
        const heed_tensor *x = heed_params_at(from, i)->tensor;
        memcpy(heed_params_at(to, i)->tensor->x, x->x, x->size * sizeof *x->x);
    }
}

static void run_case(heed_ctx *c, const heed_optimizer *r, const heed_optim_case *k,
                     heed_check *check) {
    problem first, p;
    bool ok = problem_new(&first, c, r, k->settings);
    ok = problem_new(&p, c, r, k->settings) && ok; /* both are freed below */
    for (int t = 0; ok && t < UPDATES / 2; t++) update_problem(&first, t);
    if (ok) copy(p.s, first.s);
    if (ok) copy(heed_optim_slots(p.o), heed_optim_slots(first.o));
    for (int t = UPDATES / 2; ok && t < UPDATES; t++) update_problem(&p, t);
    for (int i = 0; ok && i < N; i++) {
        double error = fabs((double)*value(&p, i) - k->x[i]) / fmax(1, fabs(k->x[i]));
        if (error <= check->error) continue;
        check->error = isfinite(error) ? error : (double)INFINITY;
        snprintf(check->worst, sizeof check->worst, "%.70s, value %d", k->settings, i);
    }
    check->cases++;
    problem_free(&first);
    problem_free(&p);
}

heed_check heed_optim_check(heed_ctx *c, const heed_optimizer *r) {
    heed_check check = {.error = 0};
    if (!heed__stopped(c) && (!r || !r->cases || !r->cases[0].settings))
        heed_fail(c, HEED_USAGE, "check of optimizer %s: it has no cases",
                  r && r->name ? r->name : "NULL");
    for (const heed_optim_case *k = heed__stopped(c) ? NULL : r->cases; k && k->settings; k++)
        run_case(c, r, k, &check);
    if (heed__stopped(c)) check.error = -1;
    return check;
}
