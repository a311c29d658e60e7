/* pass.c -- runs an example through its model, as it is or changed, and keeps what is asked for.
 * All analyses of one input are made of such passes. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <stdio.h>

heed_tensor *heed__run_example(const heed_inspection *s, const heed__passing *how) {
    const heed_run *r = s->run;
    heed_inspection seen = *s;
    heed_model_input in;
    if (how->ids) seen.ids = how->ids;
    if (how->x) seen.x = how->x;
    if (how->keep_count) heed_probe_clear(r->tape);
    for (int i = 0; i < how->keep_count; i++) heed_probe(r->tape, how->keep[i], how->gradients);
    heed_tape_begin(r->tape, how->gradients ? HEED_TRACE : HEED_EVAL, 0);
    for (int i = 0; i < how->want_count; i++) heed_want_grad(r->tape, how->want[i]);
    if (!how->rows) return heed_inspection_logits(&seen, r->tape);
    if (!heed__inspection_inputs(&seen, r->tape, how->rows, true, &in)) return NULL;
    if (how->input) *how->input = heed_want_grad(r->tape, in.x);
    return r->model->logits(r->self, r->tape, &in);
}

const heed_tensor *heed__kept(const heed_run *r, const char *path, size_t size) {
    char full[HEED__PATH];
    snprintf(full, sizeof full, "%s.weights", path);
    const heed_tensor *x = heed_probe_find(r->tape, full);
    if (x && (!size || x->size == size)) return x;
    heed_fail(r->c, HEED_FAILED, "the model kept no attention weights: %s", full);
    return NULL;
}
