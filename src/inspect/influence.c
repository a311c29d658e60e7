/* influence.c -- how strongly each output position depends on each input position: Jacobians by
 * backward passes, many directions at a time. All rows of a batch are the same input, each with its
 * own direction. */
#include "core/core.h"
#include "core/tape.h"
#include "inspect/inspect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 32, CELL = 24 };

typedef struct {
    const heed_run *r;
    const heed_example *e;
    heed_influence_args args;
    heed_tape *t;
    heed_tensor *x, *y;          /* input and output of the current pass */
    int queries, keys, units;    /* output and input positions; width of y_t */
    int draws;                   /* random directions of y_t; 0: exact, one direction per unit */
    heed_record_axis query, key; /* axes of the positions; grids may differ from the example's */
    char *labels;                /* labels for the cells of a feature map, */
    const char **list;           /* which are not positions of the example */
    double *squares;             /* (queries,keys) */
    heed_real *gy;
} study;

/* True for a picture model without patches: positions are cells of the last feature map. */
static bool has_cells(const heed_run *r, const heed_example *e) {
    return e->dims == 4 && !e->read && !r->model->embedding;
}

/* The nearest tensor before x that still has positions, (B,T,units) or (B,h,w,units). */
static heed_tensor *tensor_with_positions(const study *k, const heed_tensor *x, int positions) {
    heed_recorded by = heed__recorded_by(x);
    for (int i = 0; i < by.inputs; i++) {
        heed_tensor *in = by.in[i];
        if (!in || in->name || !heed__recorded_by(in).op || in->shape[0] != ROWS) continue;
        bool grid = has_cells(k->r, k->e) && in->dims == 4;
        if (grid || (in->dims == 3 && in->shape[1] == positions)) return in;
    }
    for (int i = 0; i < by.inputs; i++) {
        heed_tensor *in = by.in[i],
                    *found = in && !in->name ? tensor_with_positions(k, in, positions) : NULL;
        if (found) return found;
    }
    return NULL;
}

static bool pass(study *k) {
    const heed_run *r = k->r;
    const heed_model *m = r->model;
    char path[HEED__PATH];
    const char *keep = path;
    snprintf(path, sizeof path, "%s.out", m->embedding ? m->embedding : "");
    heed_tensor *logits = heed__run_example(r, k->e,
                                            &(heed__passing){.keep = &keep,
                                                             .keep_count = m->embedding != NULL,
                                                             .gradients = true,
                                                             .rows = ROWS,
                                                             .input = m->embedding ? NULL : &k->x});
    if (!logits || heed_ctx_status(r->c) != HEED_OK) return false;
    if (m->embedding) k->x = heed_probe_find(k->t, path);
    int positions = k->e->read         ? (int)k->e->target.tokens.count
                    : k->e->axis_count ? k->e->axes[0].count
                                       : 0;
    k->y = tensor_with_positions(k, logits, positions);
    return (k->x && k->y) ||
           heed_fail(r->c, HEED_USAGE,
                     "model %s has no positions to follow from input to output; hint: a run of "
                     "another model",
                     m->name);
}

static bool set_positions(study *k) {
    const heed_example *e = k->e;
    heed_ctx *c = k->r->c;
    if (has_cells(k->r, e)) { /* rows and columns of the last feature map */
        int rows = k->y->shape[1], cols = k->y->shape[2], n = rows * cols;
        k->labels = heed__alloc_array(c, (size_t)n, CELL);
        k->list = heed__alloc_array(c, (size_t)n, sizeof *k->list);
        if (!k->labels || !k->list) return false;
        for (int i = 0; i < n; i++) {
            k->list[i] = k->labels + CELL * i;
            snprintf(k->labels + CELL * i, CELL, "%d,%d", i / cols + 1, i % cols + 1);
        }
        k->query = k->key = (heed_record_axis){
            .name = "cells", .count = n, .labels = k->list, .rows = rows, .cols = cols};
    } else {
        k->query = e->axes[e->read ? 1 : 0];
        k->key = e->axes[0];
        int first = k->key.first; /* a token before the patches is not an input */
        k->key.count -= first;
        k->key.labels += first;
        k->key.special = NULL;
        k->key.first = 0;
        if (first) k->key.name = "patches";
    }
    k->queries = k->query.count;
    k->keys = k->key.count;
    k->units = k->y->shape[k->y->dims - 1];
    k->squares = heed__alloc_array(c, (size_t)k->queries, (size_t)k->keys * sizeof *k->squares);
    return k->squares != NULL;
}

/* The position of an element of one row of x: its token, patch or cell. */
static int position_of(const study *k, size_t at) {
    const heed_tensor *x = k->x;
    if (!has_cells(k->r, k->e)) return (int)(at / (x->size / ROWS / (size_t)k->keys));
    size_t channels = (size_t)x->shape[3], side = (size_t)x->shape[2];
    size_t rows = (size_t)k->key.rows, cols = (size_t)k->key.cols;
    size_t row = at / channels / side, col = at / channels % side;
    return (int)(row * rows / (size_t)x->shape[1] * cols + col * cols / side);
}

static int directions(const study *k) { return k->draws ? k->draws : k->units; } /* per position */

/* Sets direction d: one unit of a position, or random signs for all units of a position. */
static void set_direction(const study *k, heed_real *gy, int d) {
    int query = d / directions(k);
    heed_real *at = gy + (size_t)query * (size_t)k->units;
    if (!k->draws) {
        at[d % k->units] = 1;
        return;
    }
    heed_random r = heed_random_at(1, "influence", (uint64_t)d, 0);
    for (int u = 0; u < k->units; u++)
        at[u] = heed__random_bits(&r, (uint64_t)u) & 1 ? (heed_real)1 : (heed_real)-1;
}

static bool follow(study *k) {
    int all = k->queries * directions(k);
    size_t row = k->y->size / ROWS;
    k->gy = heed__alloc_array(k->r->c, k->y->size, sizeof *k->gy);
    for (int first = 0; k->gy && first < all; first += ROWS) {
        int count = all - first < ROWS ? all - first : ROWS;
        if (first > 0 && !pass(k)) return false;
        memset(k->gy, 0, k->y->size * sizeof *k->gy);
        for (int r = 0; r < count; r++) set_direction(k, k->gy + (size_t)r * row, first + r);
        if (!heed_backward_from(k->t, k->y, k->gy)) return false;
        size_t inputs = k->x->size / ROWS; /* add the squared gradients of the rows */
        for (int r = 0; k->x->g && r < count; r++) {
            double *to = k->squares + (size_t)((first + r) / directions(k)) * (size_t)k->keys;
            const heed_real *g = k->x->g + (size_t)r * inputs;
            for (size_t i = 0; i < inputs; i++)
                to[position_of(k, i)] += (double)g[i] * (double)g[i];
        }
        if (!heed__progress(k->r->c, k->args.progress, k->args.user, first + count, all))
            return false;
    }
    return k->gy != NULL;
}

static const char pair_note[] =
    "Of a pair this is the target over the source. What the decoder reads of the target itself "
    "moves y_t, too: that is not shown, nor is what the encoder's positions do to one another.";

static bool add_map(const study *k, heed_record *record) {
    char how[160], help[320];
    heed_ctx *c = k->r->c;
    size_t n = (size_t)k->queries * (size_t)k->keys;
    heed_real *values = heed__alloc_array(c, n, sizeof *values);
    if (!values) return false;
    double share = k->draws ? 1.0 / k->draws : 1;
    for (size_t i = 0; i < n; i++) values[i] = (heed_real)sqrt(k->squares[i] * share);
    snprintf(how, sizeof how, "exact, over all %d units", k->units);
    if (k->draws)
        snprintf(how, sizeof how,
                 "an estimate from %d random directions of %d units, seed 1: squares unbiased, "
                 "within about %.0f %%",
                 k->draws, k->units, 100 * sqrt(2.0 / k->draws));
    if (k->args.how) heed_text_add(k->args.how, "%s", how);
    snprintf(help, sizeof help,
             "norm of d y_t / d x_s: how far the output at position t (row) moves when the input "
             "at position s (column) does; %s",
             how);
    int query = heed_record_add_axis(record, &k->query);
    bool same = k->query.labels == k->key.labels;
    heed_record_map map = {.name = "influence",
                           .help = help,
                           .layer = -1,
                           .head = -1,
                           .queries = query,
                           .keys = same ? query : heed_record_add_axis(record, &k->key),
                           .values = values};
    bool ok = heed_ctx_status(c) == HEED_OK && heed_record_add_map(record, &map) >= 0;
    heed__free(values);
    return ok;
}

heed_record *heed_influence(const heed_run *r, const heed_example *e,
                            const heed_influence_args *args) {
    if (!heed__inspectable(r, e)) return NULL;
    study k = {.r = r, .e = e, .t = r->tape};
    const heed_model *m = r->model;
    if (args) k.args = *args;
    bool ok = pass(&k) && set_positions(&k);
    bool many = ok && k.queries * k.units > HEED_INFLUENCE_EXACT;
    if (!k.args.exact) k.draws = k.args.draws ? k.args.draws : many ? HEED_INFLUENCE_DRAWS : 0;
    heed_record *record = ok && follow(&k) ? heed_record_new(r->c) : NULL;
    if (record) {
        heed_record_describe(record, (heed_record_texts){.title = e->title,
                                                         .model = m->name,
                                                         .task = m->name,
                                                         .note = e->read ? pair_note : NULL});
        record->step = r->step;
        if (!add_map(&k, record)) {
            heed_record_free(record);
            record = NULL;
        }
    }
    heed_probe_clear(k.t);
    heed__free(k.labels);
    heed__free(k.list);
    heed__free(k.squares);
    heed__free(k.gy);
    return record;
}
