/* ablation.c -- attention heads switched off, one at a time. Michel et al. 2019, sec. 3.2. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- switching a head off and on ---- */

static bool save_part(const heed_run *r, heed_tensor *t, size_t from, size_t count,
                      heed_head_backup *b) {
    heed_real *saved = heed__alloc_array(r->c, count, sizeof *saved);
    if (!saved) return false;
    memcpy(saved, t->x + from, count * sizeof *saved);
    b->part[b->parts].tensor = t;
    b->part[b->parts].from = from;
    b->part[b->parts].count = count;
    b->part[b->parts++].saved = saved;
    return true;
}

static bool zero_rows(const heed_run *r, const heed_entry *e, heed_rows rows, heed_head_backup *b) {
    heed_tensor *t = e->tensor;
    size_t each = t->dims > 1 ? t->size / (size_t)t->shape[0] : 1;
    size_t from = (size_t)rows.from * each, count = (size_t)rows.count * each;
    if (!save_part(r, t, from, count, b)) return false;
    for (size_t i = 0; i < count; i++) t->x[from + i] = 0;
    return true;
}

/* The values of a head that shares them are the others', too: what it alone has are the columns of
 * W_h that read its output. */
static bool output_off(const heed_run *r, const heed_attending *l, int head, heed_head_backup *b) {
    char name[HEED__PATH];
    snprintf(name, sizeof name, "%s.out.weight", l->path);
    const heed_entry *e = heed_store_find(r->store, name);
    if (!e)
        return heed_fail(r->c, HEED_USAGE,
                         "a head cannot be switched off: %s: expected separate values or an "
                         "output projection, found %d heads that share %d; hint: train with "
                         "`attn-out = true`",
                         l->path, l->heads, l->kv_heads);
    size_t rows = (size_t)e->tensor->shape[0], cols = (size_t)e->tensor->shape[1];
    size_t value = (size_t)l->value;
    if (!save_part(r, e->tensor, 0, rows * cols, b)) return false;
    for (size_t i = 0; i < rows; i++)
        memset(e->tensor->x + i * cols + (size_t)head * value, 0, value * sizeof *e->tensor->x);
    return true;
}

/* Rows of the stacked projection; a layer without it is averaged. */
static bool values_off(const heed_run *r, const heed_attending *l, int head, heed_head_backup *b) {
    bool cross = l->stack == HEED_CROSS;
    const char *stacked = cross ? "kv" : "qkv";
    heed_rows rows = heed_mha_rows(
        &(heed_mha_args){.heads = l->heads, .key = l->key, .value = l->value, .cross = cross},
        HEED_VALUES, head);
    char name[HEED__PATH];
    snprintf(name, sizeof name, "%s.%s.bias", l->path, stacked);
    const heed_entry *bias = heed_store_find(r->store, name);
    snprintf(name, sizeof name, "%s.%s.weight", l->path, stacked);
    const heed_entry *weight = heed_store_find(r->store, name);
    if (!weight && r->model->average) {
        b->averaged = r;
        r->model->average(r->self, true);
        return true;
    }
    if (!weight)
        return heed_fail(r->c, HEED_USAGE,
                         "a head cannot be switched off: model %s: expected the parameter %s, or "
                         "the member average",
                         r->model->name, name);
    return zero_rows(r, weight, rows, b) && (!bias || zero_rows(r, bias, rows, b));
}

bool heed_head_off(const heed_run *r, const heed_record_block *layer, int head,
                   heed_head_backup *out) {
    heed_attending a;
    if (!out) return false;
    *out = (heed_head_backup){.parts = 0};
    if (!r || heed__stopped(r->c) || !layer) return false;
    bool found = false;
    for (int i = 0; !found && r->model->attending && r->model->attending(r->self, i, &a); i++)
        found = strcmp(a.path, layer->path) == 0;
    if (!found)
        return heed_fail(r->c, HEED_USAGE, "model %s has no attention layer %s", r->model->name,
                         layer->path);
    if (head < 0 || head >= a.heads)
        return heed_fail(r->c, HEED_USAGE, "head %d of %s: expected 0 to %d", head, a.path,
                         a.heads - 1);
    bool shares = a.kv_heads && a.kv_heads < a.heads;
    return shares ? output_off(r, &a, head, out) : values_off(r, &a, head, out);
}

void heed_head_on(heed_head_backup *b) {
    if (!b) return;
    if (b->averaged) b->averaged->model->average(b->averaged->self, false);
    for (int i = 0; i < b->parts; i++) {
        heed_real *x = b->part[i].tensor->x + b->part[i].from;
        memcpy(x, b->part[i].saved, b->part[i].count * sizeof *x);
        heed__free(b->part[i].saved);
    }
    *b = (heed_head_backup){.parts = 0};
}

/* ---- over the data ---- */

typedef struct {
    heed_score score;
    double *loss, *weight; /* (batches) sums of a batch, as in heed_score */
} measured;

/* done: heads that were measured; each batch asks whether to go on. */
static bool measure(const heed_evaluation *e, int done, int all, measured *out) {
    heed_batch b;
    out->score = (heed_score){0};
    for (uint64_t i = 0; i < e->batches; i++) {
        heed_score one = {0};
        if (!heed__progress(e->run->c, e->progress, e->progress_user, done, all) ||
            !heed_evaluation_batch(e, i, &b, &one))
            return false;
        out->loss[i] = one.loss;
        out->weight[i] = one.weight;
        out->score.loss += one.loss;
        out->score.weight += one.weight;
        out->score.correct += one.correct;
        out->score.total += one.total;
    }
    return out->score.weight > 0 ||
           heed_fail(e->run->c, HEED_DATA, "%s: nothing is predicted there",
                     e->what ? e->what : "data");
}

static double loss_of(const heed_score *s) { return s->loss / s->weight; }

static double accuracy_of(const heed_score *s) {
    return s->total > 0 ? s->correct / s->total : (double)NAN;
}

static int by_harm(const void *a, const void *b) {
    const heed_ablated_head *x = a, *y = b;
    if (x->harm.mean != y->harm.mean) return x->harm.mean > y->harm.mean ? -1 : 1;
    if (x->layer != y->layer) return (x->layer > y->layer) - (x->layer < y->layer);
    return (x->head > y->head) - (x->head < y->head);
}

/* harm: the loss without the head minus the loss with it; batches are weighted. */
static bool without_head(const heed_evaluation *e, const heed_ablation *a, const measured *with,
                         measured *without, heed_ablated_head *out) {
    heed_head_backup backup;
    bool ok = heed_head_off(e->run, &a->layers[out->layer], out->head, &backup) &&
              measure(e, (int)(out - a->heads), a->head_count, without);
    heed_head_on(&backup);
    if (!ok) return false;
    double mean = with->score.weight / (double)e->batches;
    for (uint64_t i = 0; i < e->batches; i++)
        without->loss[i] = (without->loss[i] - with->loss[i]) / mean;
    out->loss = loss_of(&without->score);
    out->accuracy = accuracy_of(&without->score);
    out->harm = heed_estimate_mean(without->loss, (int)e->batches);
    return true;
}

static bool list_heads(const heed_run *r, heed_ablation *a) {
    a->layers = heed_attention_layers(r, &a->layer_count);
    if (!a->layers) return false;
    for (int l = 0; l < a->layer_count; l++) a->head_count += a->layers[l].heads;
    a->heads = calloc((size_t)a->head_count, sizeof *a->heads);
    if (!a->heads) return heed_fail(r->c, HEED_FAILED, "no memory for %d heads", a->head_count);
    for (int l = 0, n = 0; l < a->layer_count; l++)
        for (int h = 0; h < a->layers[l].heads; h++)
            a->heads[n++] = (heed_ablated_head){.layer = l, .head = h};
    return true;
}

bool heed_ablate(const heed_evaluation *e, heed_ablation *out) {
    if (!out) return false;
    *out = (heed_ablation){.layer_count = 0};
    if (!e || !e->run || heed__stopped(e->run->c) || !list_heads(e->run, out)) return false;
    heed_ctx *c = e->run->c;
    size_t n = (size_t)e->batches;
    double *sums = heed__alloc_array(c, 4 * n, sizeof *sums);
    if (!sums) return false;
    measured with = {.loss = sums, .weight = sums + n};
    measured without = {.loss = sums + 2 * n, .weight = sums + 3 * n};
    bool ok = measure(e, 0, out->head_count, &with);
    if (ok) {
        out->loss = loss_of(&with.score);
        out->accuracy = accuracy_of(&with.score);
    }
    for (int i = 0; ok && i < out->head_count; i++)
        ok = without_head(e, out, &with, &without, &out->heads[i]);
    ok = ok && heed__progress(c, e->progress, e->progress_user, out->head_count, out->head_count);
    heed__free(sums);
    if (ok) qsort(out->heads, (size_t)out->head_count, sizeof *out->heads, by_harm);
    return ok;
}

void heed_ablation_free(heed_ablation *a) {
    if (!a) return;
    free(a->heads);
    free(a->layers);
    *a = (heed_ablation){.layer_count = 0};
}
