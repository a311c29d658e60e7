/* influence.c -- Jacobians by backward passes, many directions at a time: the rows of a batch are
 * one and the same input, each with a direction of its own. */
#include "analyses/influence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 32, CELL = 24 };

typedef struct {
    const subject *s;
    heed_tape *t;
    heed_tensor *x, *y; /* of the pass at hand: what is moved, and what moves */
    int rows;
    influence *out;
    double *squares; /* (queries,keys) */
    heed_real *gy;
} study;

/* ---- the pass ---- */

static bool is_pictorial(const heed_run *r) { return r->tokenizer == NULL; }
static bool is_conv(const heed_run *r) { return r->model == &heed_model_cnn; }

static int32_t *copies(const int32_t *ids, int n, int rows) {
    int32_t *all = malloc((size_t)n * (size_t)rows * sizeof *all);
    for (int r = 0; all && r < rows; r++) memcpy(all + r * n, ids, (size_t)n * sizeof *all);
    return all;
}

static heed_tensor *ids_of(heed_tape *t, const int32_t *ids, int n, int rows) {
    int32_t *all = copies(ids, n, rows);
    heed_tensor *y = all ? heed_ids(t, all, rows, n) : NULL;
    if (!all) heed_fail(heed_tape_ctx(t), HEED_FAILED, "no memory for %d tokens", n * rows);
    free(all);
    return y;
}

static heed_tensor *pictures(study *k) {
    const heed_image_transform *v = &k->s->view;
    heed_tensor *x = heed_input(k->t, NULL, 4, (int[]){k->rows, v->size, v->size, v->channels});
    size_t n = x ? x->size / (size_t)k->rows : 0;
    for (int r = 0; x && r < k->rows; r++) memcpy(x->x + (size_t)r * n, k->s->x, n * sizeof *x->x);
    if (is_conv(k->s->run)) k->x = heed_want_grad(k->t, x);
    return x;
}

static heed_tensor *logits_of(study *k) {
    const heed_run *r = k->s->run;
    const heed_model *m = r->model;
    heed_tape *t = k->t;
    if (is_pictorial(r)) return m->logits(r->self, t, &(heed_model_input){.x = pictures(k)});
    heed_tensor *ids = ids_of(t, k->s->ids, k->s->count, k->rows);
    heed_model_input in = {.x = ids};
    if (k->s->read) in.target = ids_of(t, k->s->read, k->s->target_count, k->rows);
    return m->logits(r->self, t, &in);
}

/* The nearest tensor before x that still has places, (B,T,units) or (B,h,w,units). */
static heed_tensor *placed(const study *k, const heed_tensor *x, int places) {
    heed_recorded by = heed_recorded_by(x);
    for (int i = 0; i < by.inputs; i++) {
        heed_tensor *in = by.in[i];
        if (!in || in->name || !heed_recorded_by(in).op || in->shape[0] != k->rows) continue;
        bool grid = is_conv(k->s->run) && in->dims == 4;
        if (grid || (in->dims == 3 && in->shape[1] == places)) return in;
    }
    for (int i = 0; i < by.inputs; i++) {
        heed_tensor *in = by.in[i], *found = in && !in->name ? placed(k, in, places) : NULL;
        if (found) return found;
    }
    return NULL;
}

static const char *embedding(const heed_run *r) {
    if (r->model == &heed_model_vit) return "embed.patch.out";
    bool pair = r->model == &heed_model_seq2seq || r->model == &heed_model_rnn;
    return pair ? "embed.source.out" : "embed.token.out";
}

static int places_of(const subject *s) {
    return s->read ? s->target_count : s->axis_count ? s->axes[0].count : 0;
}

static bool pass(study *k) {
    heed_ctx *c = k->s->run->c;
    k->x = NULL;
    heed_tape_begin(k->t, HEED_TRACE, 0);
    heed_tensor *logits = logits_of(k);
    if (!logits || heed_ctx_status(c) != HEED_OK) return false;
    if (!k->x) k->x = heed_probe_find(k->t, embedding(k->s->run));
    k->y = placed(k, logits, places_of(k->s));
    return (k->x && k->y) ||
           heed_fail(c, HEED_USAGE, "model %s has no places to follow from input to output",
                     k->s->run->model->name);
}

/* ---- places ---- */

/* Rows and columns of the last feature map. */
static bool name_cells(study *k) {
    influence *out = k->out;
    int rows = k->y->shape[1], cols = k->y->shape[2], n = rows * cols;
    out->labels = malloc((size_t)n * CELL);
    out->list = malloc((size_t)n * sizeof *out->list);
    if (!out->labels || !out->list)
        return heed_fail(k->s->run->c, HEED_FAILED, "no memory for %d labels", n);
    for (int i = 0; i < n; i++) {
        out->list[i] = out->labels + CELL * i;
        snprintf(out->labels + CELL * i, CELL, "%d,%d", i / cols + 1, i % cols + 1);
    }
    out->query = out->key = (heed_record_axis){
        .name = "cells", .count = n, .labels = out->list, .rows = rows, .cols = cols};
    return true;
}

static bool set_places(study *k) {
    const subject *s = k->s;
    influence *out = k->out;
    if (is_conv(s->run)) {
        if (!name_cells(k)) return false;
    } else {
        out->query = s->axes[s->read ? 1 : 0];
        out->key = s->axes[0];
        int first = out->key.first; /* the token before the patches is no input */
        out->key.count -= first;
        out->key.labels += first;
        out->key.special = NULL;
        out->key.first = 0;
        if (first) out->key.name = "patches";
    }
    out->queries = out->query.count;
    out->keys = out->key.count;
    out->units = k->y->shape[k->y->dims - 1];
    out->values = calloc((size_t)out->queries * (size_t)out->keys, sizeof *out->values);
    k->squares = calloc((size_t)out->queries * (size_t)out->keys, sizeof *k->squares);
    return (out->values && k->squares) ||
           heed_fail(s->run->c, HEED_FAILED, "no memory for %d x %d influences", out->queries,
                     out->keys);
}

/* The place of an element of x, of one row: its token or patch, or its cell. */
static int place_of(const study *k, size_t at) {
    const heed_tensor *x = k->x;
    if (!is_conv(k->s->run)) return (int)(at / (x->size / (size_t)k->rows / (size_t)k->out->keys));
    size_t channels = (size_t)x->shape[3], side = (size_t)x->shape[2];
    size_t rows = (size_t)k->out->key.rows, cols = (size_t)k->out->key.cols;
    size_t row = at / channels / side, col = at / channels % side;
    return (int)(row * rows / (size_t)x->shape[1] * cols + col * cols / side);
}

/* ---- directions ---- */

/* Direction number d of all: a unit of a place, or signs for all units of one. */
static void aim(const study *k, heed_real *gy, int d) {
    const influence *out = k->out;
    int each = out->draws ? out->draws : out->units, query = d / each;
    heed_real *at = gy + (size_t)query * (size_t)out->units;
    if (!out->draws) {
        at[d % each] = 1;
        return;
    }
    heed_random r = heed_random_at(1, "influence", (uint64_t)d, 0);
    for (int u = 0; u < out->units; u++)
        at[u] = heed_random_bits(&r, (uint64_t)u) & 1 ? (heed_real)1 : (heed_real)-1;
}

/* Adds what the rows found. */
static void gather(study *k, int first, int count) {
    const influence *out = k->out;
    int each = out->draws ? out->draws : out->units;
    size_t size = k->x->size / (size_t)k->rows;
    for (int r = 0; k->x->g && r < count; r++) {
        double *to = k->squares + (size_t)((first + r) / each) * (size_t)out->keys;
        const heed_real *g = k->x->g + (size_t)r * size;
        for (size_t i = 0; i < size; i++) to[place_of(k, i)] += (double)g[i] * (double)g[i];
    }
}

static bool follow(study *k) {
    influence *out = k->out;
    int each = out->draws ? out->draws : out->units, all = out->queries * each;
    size_t row = k->y->size / (size_t)k->rows;
    k->gy = malloc(k->y->size * sizeof *k->gy);
    if (!k->gy) return heed_fail(k->s->run->c, HEED_FAILED, "no memory for %d directions", ROWS);
    for (int first = 0; first < all; first += k->rows) {
        int count = all - first < k->rows ? all - first : k->rows;
        if ((first > 0 && !pass(k)) || was_interrupted(NULL)) return false;
        memset(k->gy, 0, k->y->size * sizeof *k->gy);
        for (int r = 0; r < count; r++) aim(k, k->gy + (size_t)r * row, first + r);
        if (!heed_backward_from(k->t, k->y, k->gy)) return false;
        gather(k, first, count);
    }
    double share = out->draws ? 1.0 / out->draws : 1;
    for (int i = 0; i < out->queries * out->keys; i++)
        out->values[i] = (heed_real)sqrt(k->squares[i] * share);
    return true;
}

bool influence_of(const subject *s, int draws, bool exact, influence *out) {
    study k = {.s = s, .t = s->run->tape, .rows = ROWS, .out = out};
    *out = (influence){.draws = draws};
    heed_unprobe(k.t);
    if (!is_conv(s->run)) heed_probe(k.t, embedding(s->run), true);
    bool ok = pass(&k) && set_places(&k);
    if (ok && !draws && !exact && out->queries * out->units > INFLUENCE_EXACT)
        out->draws = INFLUENCE_DRAWS;
    if (exact) out->draws = 0;
    ok = ok && follow(&k);
    heed_unprobe(k.t);
    free(k.gy);
    free(k.squares);
    return ok;
}

void influence_free(influence *k) {
    free(k->values);
    free(k->labels);
    free((void *)k->list);
    *k = (influence){0};
}

/* ---- as a record ---- */

const char *influence_help(const influence *k, char text[256]) {
    int n = snprintf(text, 256,
                     "norm of d y_t / d x_s: how far output place t (row) moves when input place s "
                     "(column) does; ");
    if (k->draws)
        snprintf(text + n, 256 - (size_t)n,
                 "an estimate from %d random directions of %d units, seed 1: squares unbiased, "
                 "within about %.0f %%",
                 k->draws, k->units, 100 * sqrt(2.0 / k->draws));
    else
        snprintf(text + n, 256 - (size_t)n, "exact, over all %d units", k->units);
    return text;
}

const char *influence_note(const subject *s) {
    return s->read ? "Of a pair this is the target over the source. What the decoder reads of the "
                     "target itself moves y_t, too: that is not shown, nor is what the encoder's "
                     "places do to one another."
                   : NULL;
}

heed_record *influence_record(const subject *s, const influence *k) {
    char help[256], model[64];
    heed_record *r = heed_record_new(s->run->c);
    if (!r) return NULL;
    snprintf(model, sizeof model, "%s", s->run->model->name);
    heed_record_describe(
        r, (heed_record_texts){
               .title = s->title, .model = model, .task = model, .note = influence_note(s)});
    r->step = s->run->step;
    int query = heed_record_add_axis(r, &k->query);
    bool same = k->query.labels == k->key.labels;
    int key = same ? query : heed_record_add_axis(r, &k->key);
    heed_record_map map = {.name = "influence",
                           .help = influence_help(k, help),
                           .layer = -1,
                           .head = -1,
                           .queries = query,
                           .keys = key,
                           .values = k->values};
    if (query >= 0 && key >= 0 && heed_record_add_map(r, &map) >= 0) return r;
    heed_record_free(r);
    return NULL;
}
