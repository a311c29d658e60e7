/* evaluate.c -- losses and metrics over evaluation batches, and the evaluations of a training,
 * which choose the weights that its run keeps. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <math.h>

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

bool heed__evaluate(const heed__evaluation *e, heed_score *score) {
    *score = (heed_score){0};
    for (uint64_t i = 0; i < e->count; i++) {
        heed_batch_at at = {.index = i, .rows = e->rows, .sample = e->sample};
        if (i > 0 && e->stop && e->stop(e->user)) return false;
        if (!heed_evaluate_batch(e->tape, e->model, e->self, e->data, at, NULL, score))
            return false;
    }
    return true;
}

heed_score heed_evaluate(heed_tape *t, const heed_model *m, void *self, const heed_data *data,
                         int rows) {
    heed_score score = {0};
    if (!t || !m || !self || rows < 1 || heed__stopped(heed_tape_ctx(t))) return score;
    heed__evaluation e = {.tape = t, .model = m, .self = self, .data = data, .rows = rows};
    e.count = heed_model_eval_batches(m, self, data, rows);
    return heed__evaluate(&e, &score) ? score : (heed_score){0};
}

/* ---- in a training ---- */

heed__evaluation heed__evaluation_of(const heed_training *t) {
    return (heed__evaluation){.tape = t->net.tape,
                              .model = t->net.model,
                              .self = t->net.self,
                              .data = t->data,
                              .rows = t->set.rows,
                              .count = t->evals,
                              .sample = t->evals < t->all_evals,
                              .stop = t->a.stop,
                              .user = t->a.user};
}

bool heed__evaluation_due(const heed_training *t) {
    int64_t step = t->state.step;
    if (step == 0 || t->state.eval_step == step) return false;
    return step >= t->steps || heed__length_due(t, t->set.eval_every, t->eval_every, t->set.evals);
}

/* Ties in accuracy are decided by the lower loss; without a metric only the loss is compared. */
static bool better(const heed_training *t, double loss) {
    const heed__state *s = &t->state;
    if (!isfinite(s->best_loss)) return true;
    if (t->set.by_metric && s->metric != s->best_metric && isfinite(s->metric))
        return !(s->metric < s->best_metric);
    return loss < s->best_loss;
}

/* Stores the score in the state; true: a new best. Without a validation part the training loss
 * decides. */
static bool take_score(heed_training *t, const heed_score *score) {
    heed__state *s = &t->state;
    const heed__mean *m = &s->since_eval;
    s->loss = m->count ? m->sum / (double)m->count : (double)NAN;
    s->val_loss = score->weight > 0 ? score->loss / score->weight : (double)NAN;
    s->metric = score->total > 0 ? score->correct / score->total : (double)NAN;
    s->since_eval = (heed__mean){0};
    s->eval_step = s->step;
    bool best = better(t, t->evals ? s->val_loss : s->loss);
    s->stale = best ? 0 : s->stale + 1;
    if (!best) return false;
    s->best_loss = t->evals ? s->val_loss : s->loss;
    s->best_metric = s->metric;
    s->best_step = s->step;
    return true;
}

bool heed__evaluation_make(heed_training *t) {
    heed__evaluation e = heed__evaluation_of(t);
    if (t->state.step == 0) e.stop = NULL; /* a new run has its first checkpoint or is not made */
    heed_score score;
    double start = heed__os_seconds();
    if (!heed__evaluate(&e, &score)) return false;
    t->eval_seconds = heed__os_seconds() - start;
    if (t->evals && !(score.weight > 0 && isfinite(score.loss)))
        return heed__loss_diverged(t, t->state.step, "validation loss", score.loss / score.weight);
    bool best = take_score(t, &score);
    heed__train_row(t);
    if (t->evals) heed__row(t, "val", t->state.val_loss, t->state.metric);
    heed_report r = heed__report_of(t, HEED_FIT_EVAL);
    r.loss = t->state.loss;
    r.val_loss = t->state.val_loss;
    r.metric = t->state.metric;
    r.val_total = score.total;
    r.best = best;
    if (score.bytes > 0) r.bits_per_byte = score.loss / log(2) / score.bytes;
    heed__report(t, r);
    if (!heed__save(t, best)) return false;
    t->clock.mark = heed__os_seconds();
    t->clock.eval = 0.5 * (t->clock.eval + t->clock.mark - start);
    return true;
}
