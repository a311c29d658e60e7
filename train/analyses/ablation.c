/* ablation.c -- attention heads switched off, one at a time. Michel et al. 2019, sec. 3.2. */
#include "analyses/ablation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a head off and on ---- */

static bool zero_part(const heed_run *r, const char *name, size_t first, size_t rows, switched *w) {
    const heed_entry *e = heed_store_find(r->store, name);
    if (!e) return true;
    heed_tensor *t = e->tensor;
    size_t each = t->dims > 1 ? t->size / (size_t)t->shape[0] : 1;
    size_t from = first * each, count = rows * each;
    heed_real *saved = malloc(count * sizeof *saved);
    if (!saved) return heed_fail(r->c, HEED_FAILED, "no memory for a copy of %s", name);
    memcpy(saved, t->x + from, count * sizeof *saved);
    for (size_t i = 0; i < count; i++) t->x[from + i] = 0;
    w->part[w->parts].tensor = t;
    w->part[w->parts].from = from;
    w->part[w->parts].count = count;
    w->part[w->parts++].saved = saved;
    return true;
}

static int width_of(const heed_run *r, const char *key) {
    int own = (int)heed_config_int(r->config, key);
    if (own) return own;
    return (int)(heed_config_int(r->config, "width") / heed_config_int(r->config, "heads"));
}

/* Rows of the stacked projection: q, k and v of all heads; in cross attention k and v. */
static bool values_off(const heed_run *r, const heed_record_block *l, int head, switched *w) {
    bool cross = l->stack == HEED_CROSS;
    size_t key = (size_t)width_of(r, "key-width"), value = (size_t)width_of(r, "value-width");
    size_t first = (cross ? 1 : 2) * (size_t)l->heads * key + (size_t)head * value;
    char weight[96], bias[96];
    snprintf(weight, sizeof weight, "%s.%s.weight", l->path, cross ? "kv" : "qkv");
    snprintf(bias, sizeof bias, "%s.%s.bias", l->path, cross ? "kv" : "qkv");
    return zero_part(r, weight, first, value, w) && zero_part(r, bias, first, value, w);
}

bool head_off(const heed_run *r, const heed_record_block *l, int head, switched *out) {
    *out = (switched){.averaged = r->model->average ? r : NULL};
    if (!out->averaged) return values_off(r, l, head, out);
    r->model->average(r->self, true);
    return true;
}

void head_on(switched *w) {
    if (w->averaged) w->averaged->model->average(w->averaged->self, false);
    for (int i = 0; i < w->parts; i++) {
        heed_real *x = w->part[i].tensor->x + w->part[i].from;
        memcpy(x, w->part[i].saved, w->part[i].count * sizeof *x);
        free(w->part[i].saved);
    }
    *w = (switched){.parts = 0};
}

/* ---- what the model is worth ---- */

bool worth_measure(const eval_loop *s, worth *out) {
    heed_batch b;
    *out = (worth){.loss = calloc(s->batches, sizeof *out->loss),
                   .weight = calloc(s->batches, sizeof *out->weight)};
    if (!out->loss || !out->weight)
        return heed_fail(s->run->c, HEED_FAILED, "no memory for %llu batches",
                         (unsigned long long)s->batches);
    for (uint64_t i = 0; i < s->batches; i++) {
        heed_score one = {0};
        if (!eval_loop_batch(s, i, &b, &one)) return false;
        out->loss[i] = one.loss;
        out->weight[i] = one.weight;
        out->score.loss += one.loss;
        out->score.weight += one.weight;
        out->score.correct += one.correct;
        out->score.total += one.total;
    }
    return out->score.weight > 0 ||
           heed_fail(s->run->c, HEED_DATA, "%s: nothing is predicted there", s->what);
}

void worth_free(worth *w) {
    free(w->loss);
    free(w->weight);
    *w = (worth){.loss = NULL};
}

double worth_loss(const worth *w) { return w->score.loss / w->score.weight; }

double worth_accuracy(const worth *w) {
    return w->score.total > 0 ? w->score.correct / w->score.total : (double)NAN;
}

/* The loss of `without` minus that of `with`: each batch counts by its weight. */
static estimate harm_of(const worth *with, const worth *without, uint64_t batches, double *work) {
    double mean = with->score.weight / (double)batches;
    for (uint64_t i = 0; i < batches; i++) work[i] = (without->loss[i] - with->loss[i]) / mean;
    return estimate_of(work, (int)batches);
}

/* ---- all heads ---- */

static int by_harm(const void *a, const void *b) {
    const ablated *x = a, *y = b;
    if (x->harm.mean != y->harm.mean) return x->harm.mean > y->harm.mean ? -1 : 1;
    if (x->layer != y->layer) return (x->layer > y->layer) - (x->layer < y->layer);
    return (x->head > y->head) - (x->head < y->head);
}

static bool without_head(const eval_loop *s, const ablation *a, const worth *with, double *work,
                         ablated *out) {
    switched off;
    worth without = {.loss = NULL};
    bool ok = head_off(s->run, &a->layer[out->layer], out->head, &off);
    ok = ok && worth_measure(s, &without);
    head_on(&off);
    if (ok) {
        out->loss = worth_loss(&without);
        out->accuracy = worth_accuracy(&without);
        out->harm = harm_of(with, &without, s->batches, work);
    }
    worth_free(&without);
    return ok;
}

static bool list_heads(const heed_run *r, ablation *a) {
    a->layer = heed_attention_layers(r, &a->layers);
    for (int l = 0; l < a->layers; l++) a->total += a->layer[l].heads;
    if (a->total == 0) return false;
    a->heads = calloc((size_t)a->total, sizeof *a->heads);
    if (!a->heads) return heed_fail(r->c, HEED_FAILED, "no memory for %d heads", a->total);
    for (int l = 0, n = 0; l < a->layers; l++)
        for (int h = 0; h < a->layer[l].heads; h++)
            a->heads[n++] = (ablated){.layer = l, .head = h};
    return true;
}

static bool without_each(program *p, const eval_loop *s, const worth *with, ablation *a) {
    double *work = malloc(s->batches * sizeof *work);
    bool ok = work || heed_fail(p->c, HEED_FAILED, "no memory for %llu batches",
                                (unsigned long long)s->batches);
    for (int i = 0; ok && i < a->total; i++) {
        eval_loop_progress(p, "without head", (uint64_t)i, (uint64_t)a->total);
        ok = without_head(s, a, with, work, &a->heads[i]);
    }
    free(work);
    return ok;
}

bool ablate_heads(program *p, const eval_loop *s, ablation *out) {
    worth with = {.loss = NULL};
    *out = (ablation){.layers = 0};
    bool ok = list_heads(s->run, out) && worth_measure(s, &with);
    if (ok) {
        out->loss = worth_loss(&with);
        out->accuracy = worth_accuracy(&with);
        ok = without_each(p, s, &with, out);
    }
    eval_loop_progress(p, "", 1, 1);
    worth_free(&with);
    if (ok) qsort(out->heads, (size_t)out->total, sizeof *out->heads, by_harm);
    return ok;
}

void ablation_free(ablation *a) {
    free(a->heads);
    free(a->layer);
    *a = (ablation){.layers = 0};
}
