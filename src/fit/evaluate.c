/* evaluate.c -- losses and metrics over evaluation batches. */
#include "core/core.h"
#include "fit/fit.h"

#include <inttypes.h>

double heed__batch_weight(const heed_batch *b) {
    if (b->class_weights) return b->label_weight;
    return b->masked_positions ? b->masked_count : b->items ? (double)b->items : b->rows;
}

/* For a model without metrics only the loss is summed. */
bool heed_evaluate_batch(heed_tape *t, const heed_model *m, void *self, const heed_data *data,
                         heed_batch_at at, heed_batch *out, heed_score *score) {
    heed_ctx *c = heed_tape_ctx(t);
    heed_batch own, *b = out ? out : &own;
    if (!t || !m || !self || !score || heed__stopped(c)) return false;
    at.val = true;
    *b = (heed_batch){0};
    heed_tape_begin(t, HEED_EVAL, at.index);
    if (!heed_model_batch(m, self, data, at, b))
        return heed_fail(c, HEED_DATA, "model %s made no evaluation batch %" PRIu64, m->name,
                         at.index);
    const heed_tensor *loss = m->loss(self, t, b);
    if (!loss || heed__stopped(c))
        return heed_fail(c, HEED_FAILED, "model %s made no loss", m->name);
    double weight = score->weight;
    if (m->metrics) m->metrics(self, b, score);
    if (score->weight == weight) {
        double items = heed__batch_weight(b);
        score->loss += (double)loss->x[0] * items;
        score->weight += items;
    }
    return !heed__stopped(c);
}

bool heed__evaluate(const heed_run *r, const heed_data *data, int rows, uint64_t count,
                    uint64_t all, const heed_train_args *a, heed_score *score) {
    *score = (heed_score){0};
    for (uint64_t i = 0; i < count; i++) {
        heed_batch_at at = {.index = i, .rows = rows, .sample = count < all};
        if (i > 0 && a && a->stop && a->stop(a->user)) return false;
        if (!heed_evaluate_batch(r->tape, r->model, r->self, data, at, NULL, score)) return false;
    }
    return true;
}
