/* pass.c -- runs an example through its model, as it is or changed, and keeps what is asked for.
 * All analyses of one input are made of such passes. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <stdio.h>
#include <string.h>

static heed_tensor *ids_of(heed_tape *t, const int32_t *ids, size_t n, int rows) {
    int32_t *all = heed__alloc_array(heed_tape_ctx(t), n * (size_t)rows, sizeof *all);
    for (int r = 0; all && r < rows; r++) memcpy(all + (size_t)r * n, ids, n * sizeof *ids);
    heed_tensor *y = heed_ids(t, all, rows, (int)n);
    heed__free(all);
    return y;
}

/* x: of one row, with the shape of the example's. */
static heed_tensor *numbers_of(const heed_example *e, const heed_real *x, heed_tape *t, int rows) {
    int shape[HEED_DIMS];
    memcpy(shape, e->shape, sizeof shape);
    shape[0] = rows;
    heed_tensor *y = heed_input(t, NULL, e->dims, shape);
    size_t n = y ? y->size / (size_t)rows : 0;
    for (int r = 0; y && r < rows; r++) memcpy(y->x + (size_t)r * n, x, n * sizeof *x);
    return y;
}

/* The inputs of the model, each row a copy of the example. Of one that is passed as it is, a masked
 * model gives the logits of its masks alone, in the order of their rows. */
static bool inputs_of(const heed_run *r, const heed_example *e, heed_tape *t,
                      const heed__passing *how, heed_model_input *out) {
    int rows = how->rows ? how->rows : 1, n = e->question_count;
    const heed_tokens *text = &e->text.tokens;
    *out = (heed_model_input){
        .x = e->x ? numbers_of(e, how->x ? how->x : e->x, t, rows)
                  : ids_of(t, how->ids ? how->ids : text->ids, text->count, rows)};
    if (e->read) out->target = ids_of(t, e->read, e->target.tokens.count, rows);
    if (heed_model_data(r->model)->mask && !how->rows && n > 0) {
        int32_t *list = heed__alloc_array(r->c, (size_t)n, sizeof *list);
        for (int i = 0; list && i < n; i++) list[e->questions[i].row] = e->questions[i].query;
        out->masked_positions = heed_input_ids(t, list, 1, &n);
        heed__free(list);
    }
    return !heed__stopped(r->c);
}

static heed_tensor *logits_of(const heed_run *r, const heed_example *e, heed_tape *t,
                              const heed__passing *how) {
    heed_model_input in;
    if (!r->model->logits) {
        heed_fail(r->c, HEED_USAGE, "model %s has no logits", r->model->name);
        return NULL;
    }
    if (!inputs_of(r, e, t, how, &in)) return NULL;
    if (how->input) *how->input = heed_want_grad(t, in.x);
    heed_tensor *y = r->model->logits(r->self, t, &in);
    if (!y || y->dims == 2 || how->rows) return y;
    return heed_reshape(t, y, 2, (int[]){-1, y->shape[y->dims - 1]});
}

heed_tensor *heed_run_logits(const heed_run *r, const heed_example *e, heed_tape *t) {
    return heed__inspectable(r, e) && t ? logits_of(r, e, t, &(heed__passing){.rows = 0}) : NULL;
}

heed_tensor *heed__run_example(const heed_run *r, const heed_example *e, const heed__passing *how) {
    heed_tape *t = r->tape;
    if (how->keep_count) heed_probe_clear(t);
    for (int i = 0; i < how->keep_count; i++) heed_probe(t, how->keep[i], how->gradients);
    heed_tape_begin(t, how->gradients ? HEED_TRACE : HEED_EVAL, 0);
    for (int i = 0; i < how->want_count; i++) heed_want_grad(t, how->want[i]);
    return logits_of(r, e, t, how);
}

const heed_tensor *heed__kept(const heed_run *r, const char *path, size_t size) {
    char full[HEED__PATH];
    snprintf(full, sizeof full, "%s.weights", path);
    const heed_tensor *x = heed_probe_find(r->tape, full);
    if (x && (!size || x->size == size)) return x;
    heed_fail(r->c, HEED_FAILED, "the model kept no attention weights: %s", full);
    return NULL;
}
