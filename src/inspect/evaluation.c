/* evaluation.c -- the batches on which heads and ablation are measured; progress of an analysis. */
#include "core/core.h"
#include "inspect/inspect.h"

bool heed_evaluation_batch(const heed_evaluation *e, uint64_t index, heed_batch *b,
                           heed_score *score) {
    heed_run *r = e ? e->run : NULL;
    if (!r || !b || !score || heed__stopped(r->c)) return false;
    if (e->batch) return e->batch(e->user, index, b, score);
    heed_batch_at at = {.index = index, .rows = e->rows, .sample = e->sample};
    return heed_evaluate_batch(r->tape, r->model, r->self, e->data, at, b, score);
}

bool heed__progress(heed_ctx *c, heed_progress progress, void *user, uint64_t done, uint64_t all) {
    return !progress || progress(user, done, all) || heed_fail(c, HEED_INTERRUPTED, "interrupted");
}
