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

static bool zero_rows(const heed_run *r, const heed_param *e, heed_rows rows, heed_head_backup *b) {
    heed_tensor *t = e->tensor;
    size_t each = t->dims > 1 ? t->size / (size_t)t->shape[0] : 1;
    size_t from = (size_t)rows.from * each, count = (size_t)rows.count * each;
    if (!save_part(r, t, from, count, b)) return false;
    for (size_t i = 0; i < count; i++) t->x[from + i] = 0;
    return true;
}

/* The values of a head that shares them are the others', too: what it alone has are the columns of
 * W_h that read its output. */
static bool output_off(const heed_run *r, const heed_attention_info *l, int head,
                       heed_head_backup *b) {
    char name[HEED__PATH];
    snprintf(name, sizeof name, "%s.out.weight", l->path);
    const heed_param *e = heed_params_find(r->store, name);
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
static bool values_off(const heed_run *r, const heed_attention_info *l, int head,
                       heed_head_backup *b) {
    bool cross = l->stack == HEED_CROSS;
    const char *stacked = cross ? "kv" : "qkv";
    heed_rows rows = heed_mha_rows(
        &(heed_mha_args){.heads = l->heads, .key = l->key, .value = l->value, .cross = cross},
        HEED_VALUES, head);
    char name[HEED__PATH];
    snprintf(name, sizeof name, "%s.%s.bias", l->path, stacked);
    const heed_param *bias = heed_params_find(r->store, name);
    snprintf(name, sizeof name, "%s.%s.weight", l->path, stacked);
    const heed_param *weight = heed_params_find(r->store, name);
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
    heed_attention_info a;
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

/* Measures the heads, in the columns of a table. harm: the loss without the head minus the loss
 * with it; batches are weighted. */
static bool ablate_all(const heed_evaluation *e, const heed__heads *all, const measured *with,
                       measured *without, heed_record *to) {
    double *loss = heed_record_add_column(
        to, (heed_record_column){.key = "loss", .head = "loss", .format = "%.4f"});
    double *harm = heed_record_add_column(
        to, (heed_record_column){.key = "harm", .head = "harm", .format = "%+.4f"});
    double *half = heed_record_add_column(
        to, (heed_record_column){.key = "harm_95", .head = "(95 %)", .format = "+- %.4f"});
    double *accuracy = heed_record_add_column(
        to, (heed_record_column){
                .key = "accuracy", .head = "accuracy", .format = "%.2f %%", .times = 100});
    bool ok = accuracy != NULL;
    for (int i = 0; ok && i < all->count; i++) {
        heed_head_backup backup;
        ok = heed_head_off(e->run, &all->layers[all->layer[i]], all->number[i], &backup) &&
             measure(e, i, all->count, without);
        heed_head_on(&backup);
        if (!ok) break;
        double mean = with->score.weight / (double)e->batches;
        for (uint64_t k = 0; k < e->batches; k++)
            without->loss[k] = (without->loss[k] - with->loss[k]) / mean;
        heed_estimate by = heed_estimate_mean(without->loss, (int)e->batches);
        loss[i] = loss_of(&without->score);
        harm[i] = by.mean;
        half[i] = by.half;
        accuracy[i] = accuracy_of(&without->score);
    }
    return ok && heed__progress(e->run->c, e->progress, e->progress_user, all->count, all->count);
}

/* The map: one row per layer, one column per head; 0: no such head. */
static bool add_map(heed_record *to, const heed__heads *all, heed_ctx *c) {
    int rows = all->layer_count, cols = 0;
    const double *harm = heed_record_find(to, "heads", "harm")->values;
    for (int i = 0; i < rows; i++)
        if (all->layers[i].heads > cols) cols = all->layers[i].heads;
    size_t count = (size_t)(rows + cols);
    char(*names)[32] = heed__alloc_array(c, count, sizeof *names);
    const char **labels = heed__alloc_array(c, count, sizeof *labels);
    heed_real *x = heed__alloc_array(c, (size_t)rows * (size_t)cols, sizeof *x);
    bool ok = names && labels && x;
    for (int i = 0; ok && i < rows + cols; i++) {
        const heed_record_block *l = &all->layers[i < rows ? i : 0];
        labels[i] = names[i];
        if (i < rows)
            snprintf(names[i], sizeof *names, "%s%slayer %d",
                     all->stacks ? heed_stack_name(l->stack) : "", all->stacks ? " " : "",
                     l->layer + 1);
        else
            snprintf(names[i], sizeof *names, "head %d", i - rows + 1);
    }
    for (int i = 0; ok && i < all->count; i++)
        x[all->layer[i] * cols + all->number[i]] = (heed_real)harm[i];
    heed_record_map m = {.name = "harm",
                         .help = "loss that is added without the head",
                         .layer = -1,
                         .head = -1,
                         .keys = 1,
                         .values = x};
    const heed_record_axis layers = {.name = "layers", .count = rows, .labels = labels},
                           heads = {.name = "heads", .count = cols, .labels = labels + rows};
    ok = ok && heed_record_add_axis(to, &layers) >= 0 && heed_record_add_axis(to, &heads) >= 0 &&
         heed_record_add_map(to, &m) >= 0;
    heed__free(names);
    heed__free((void *)labels);
    heed__free(x);
    return ok;
}

heed_record *heed_ablate(const heed_evaluation *e) {
    heed__heads all;
    if (!e || !e->run || heed__stopped(e->run->c) || !heed__heads_open(e->run, &all)) return NULL;
    heed_ctx *c = e->run->c;
    heed_record *out = NULL;
    size_t n = (size_t)e->batches;
    double *sums = heed__alloc_array(c, 4 * n, sizeof *sums);
    measured with = {.loss = sums, .weight = sums ? sums + n : NULL};
    measured without = {.loss = sums ? sums + 2 * n : NULL, .weight = sums ? sums + 3 * n : NULL};
    if (sums && measure(e, 0, all.count, &with)) {
        char note[64], number[32];
        const char *nothing = "nothing";
        double batches = (double)n, loss = loss_of(&with.score),
               accuracy = accuracy_of(&with.score);
        snprintf(note, sizeof note, "%s batch%s of %d", heed_format_count(number, e->batches),
                 n == 1 ? "" : "es", e->rows);
        out = heed__measured(e->run, e->what, note,
                             &(heed_record_column){.head = "without", .texts = &nothing});
        heed_record_add_column(out, (heed_record_column){.key = "batches", .values = &batches});
        heed_record_add_column(
            out, (heed_record_column){.key = "loss", .format = "%.4f", .values = &loss});
        heed_record_add_column(
            out, (heed_record_column){
                     .key = "accuracy", .format = "%.2f %%", .times = 100, .values = &accuracy});
        heed_record_add_table(out, "heads", NULL, all.count);
        all.about->head = "without";
        for (int i = 0; i < HEED__ABOUT; i++) heed_record_add_column(out, all.about[i]);
        if (ablate_all(e, &all, &with, &without, out) && add_map(out, &all, c))
            heed_record_sort(out, "heads", "harm");
    }
    heed__free(sums);
    heed__heads_free(&all);
    return heed__record_done(c, out);
}
