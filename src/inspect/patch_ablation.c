/* patch_ablation.c -- patches hidden in the order of a measure. Samek et al. 2017, sec. III: a good
 * measure of relevance finds the parts whose loss hurts most. */
#include "core/core.h"
#include "data/kind.h"
#include "inspect/inspect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ATTENTION: of the last layer, the mean of its heads; here and below, the row of [CLS], or without
 * [CLS] the mean of all rows. */
enum { ATTENTION, ROLLOUT, GRADIENT, OCCLUSION, RANDOM, MEASURES };
static const char *const names[MEASURES] = {"attention", "rollout", "gradient", "occlusion",
                                            "random"};
enum { DRAWS = 10 }; /* choices of random patches, which are averaged */

typedef struct {
    heed_run *run;
    const heed_patch_ablation_args *args;
    int count, patches, hidden;
    int picture;                             /* the current one */
    double *fall[MEASURES], *kept[MEASURES]; /* (count) */
    double *value, *work;                    /* (patches) of the current measure */
    int *order;                              /* (patches) */
    heed_real *x;                            /* the picture with patches hidden */
    double p, correct;                       /* sums over intact pictures */
} hiding;

/* ---- the measure of each patch ---- */

/* The row of [CLS]; without [CLS] the mean of all rows. */
static void read_rows(const heed_record_axis *a, const heed_real *values, double *out) {
    int rows = a->first ? 1 : a->count, patches = a->count - a->first;
    memset(out, 0, (size_t)patches * sizeof *out);
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < patches; i++)
            out[i] += (double)values[(size_t)r * (size_t)a->count + (size_t)(a->first + i)] / rows;
}

/* The mean of the last layer's heads. */
static void read_attention(const heed_record *record, double *out, double *work) {
    const heed_record_block *b = &record->blocks[record->block_count - 1];
    const heed_record_axis *a = &record->axes[0];
    size_t square = (size_t)a->count * (size_t)a->count;
    int patches = a->count - a->first;
    memset(out, 0, (size_t)patches * sizeof *out);
    for (int h = 0; h < b->heads; h++) {
        read_rows(a, b->weights + (size_t)h * square, work);
        for (int i = 0; i < patches; i++) out[i] += work[i] / b->heads;
    }
}

/* ---- hiding ---- */

/* Sorts the `hidden` largest values to the front; the lower index comes first in a tie. */
static void choose_largest(const hiding *r) {
    for (int i = 0; i < r->patches; i++) r->order[i] = i;
    for (int k = 0; k < r->hidden; k++) {
        int best = k;
        for (int i = k + 1; i < r->patches; i++) {
            double a = r->value[r->order[i]], b = r->value[r->order[best]];
            if (a > b || (a == b && r->order[i] < r->order[best])) best = i;
        }
        int swap = r->order[k];
        r->order[k] = r->order[best];
        r->order[best] = swap;
    }
}

/* Predicts with x instead of the picture. label: a class, of which out->loss is. */
static bool ask(const heed_run *r, const heed_example *e, const heed_real *x, int label,
                heed_prediction *out) {
    const heed_tensor *y = heed__run_example(r, e, &(heed__passing){.x = x});
    if (y) *out = heed_prediction_of(y->x, y->shape[1], label);
    return y != NULL;
}

static bool ask_without(const hiding *r, const heed_example *e, const heed_prediction *intact,
                        int kind, int draws) {
    size_t pixels = (size_t)e->shape[1] * (size_t)e->shape[2] * (size_t)e->shape[3];
    heed_prediction left;
    memcpy(r->x, e->x, pixels * sizeof *r->x);
    heed__hide_patches(e, r->x, r->order, r->hidden);
    if (!ask(r->run, e, r->x, intact->predicted, &left)) return false;
    r->fall[kind][r->picture] += (intact->p - exp(-left.loss)) / draws;
    r->kept[kind][r->picture] += (double)(left.predicted == intact->predicted) / draws;
    return true;
}

static bool hide_all(hiding *r, const heed_example *e, const heed_record *record, int label) {
    heed_prediction intact = {0};
    bool ok = ask(r->run, e, e->x, 0, &intact);
    r->p += intact.p;
    r->correct += intact.predicted == label;
    for (int k = 0; ok && k < RANDOM; k++) {
        if (k == ATTENTION) read_attention(record, r->value, r->work);
        for (int i = 0; i < record->map_count; i++) {
            const heed_record_map *m = &record->maps[i];
            if (m->layer < 0 && strcmp(m->name, names[k]) == 0)
                read_rows(&record->axes[0], m->values, r->value);
        }
        choose_largest(r);
        ok = ask_without(r, e, &intact, k, 1);
    }
    for (int i = 0; ok && i < DRAWS; i++) {
        heed_random random =
            heed_random_at(heed_seed(r->run->c), "removal", (uint64_t)r->picture, (uint32_t)i);
        for (int n = 0; n < r->hidden; n++)
            r->order[n] = (int)heed_random_permute(&random, (uint64_t)n, (uint64_t)r->patches);
        ok = ask_without(r, e, &intact, RANDOM, DRAWS);
    }
    return ok;
}

static bool one_picture(hiding *r, size_t index) {
    heed_picture picture = {0};
    heed_example e = {0};
    const char *name;
    int label;
    bool ok = heed_images_get(r->args->images, r->args->part, index, &picture, &label, &name) &&
              heed_run_picture(r->run, &picture, name, NULL, &e);
    heed_record *record = ok ? heed_capture(r->run, &e, &(heed_capture_args){.lean = true}) : NULL;
    ok = record && heed_rollout_add(r->run, &e, NULL, record) &&
         heed_occlusion_add(r->run, &e, NULL, record) &&
         heed_gradient_add(r->run, &e, NULL, record) && hide_all(r, &e, record, label);
    heed_record_free(record);
    heed_example_free(&e);
    heed_picture_free(&picture);
    return ok;
}

static bool open_sums(hiding *r, double share) {
    heed_ctx *c = r->run->c;
    heed_image_transform v;
    heed_grid grid;
    if (!r->run->model->grid || !r->run->model->grid(r->run->self, &grid))
        return heed_fail(c, HEED_USAGE, "model %s has no grid of patches", r->run->model->name);
    if (!(share >= 0 && share <= 1))
        return heed_fail(c, HEED_USAGE, "`share` %g: expected 0 to 1", share);
    if (!heed_image_transform_of(c, r->run->config, &v)) return false;
    r->patches = grid.rows * grid.cols;
    r->hidden = (int)lround(share * r->patches);
    if (r->hidden < 1) r->hidden = 1;
    size_t n = (size_t)r->count, patches = (size_t)r->patches;
    double *sums = heed__alloc_array(c, 2 * MEASURES * n + 2 * patches, sizeof *sums);
    for (int k = 0; sums && k < MEASURES; k++) {
        r->fall[k] = sums + (size_t)k * n;
        r->kept[k] = sums + (size_t)(MEASURES + k) * n;
    }
    r->value = sums ? sums + 2 * MEASURES * n : NULL;
    r->work = sums ? r->value + patches : NULL;
    r->order = heed__alloc_array(c, patches, sizeof *r->order);
    r->x = heed__alloc_array(c, (size_t)v.size * (size_t)v.size * (size_t)v.channels, sizeof *r->x);
    return sums && r->order && r->x;
}

static heed_record *record_of(const hiding *r, const char *what) {
    enum { FALL, FALL_95, MORE, MORE_95, KEPT, COLUMNS };
    static const heed_record_column of[COLUMNS] = {
        {.key = "fall", .head = "probability falls", .format = "%.3f"},
        {.key = "fall_95", .head = "(95 %)", .format = "+- %.3f"},
        {.key = "more", .head = "more than by random", .format = "%+.3f", .optional = true},
        {.key = "more_95", .head = "(95 %)", .format = "+- %.3f", .optional = true},
        {.key = "kept", .head = "answer kept", .format = "%.1f %%", .times = 100}};
    static const heed_record_column intact[] = {{.key = "pictures"},
                                                {.key = "patches"},
                                                {.key = "hidden"},
                                                {.key = "p", .format = "%.3f"},
                                                {.key = "right", .format = "%.3f"}};
    const double about[] = {r->count, r->patches, r->hidden, r->p / r->count,
                            r->correct / r->count};
    double *x[COLUMNS];
    char note[200];
    snprintf(note, sizeof note,
             "%d pictures, %.1f %% classified correctly, the answer's probability %.3f", r->count,
             100 * about[4], about[3]);
    heed_record *to = heed__measured(r->run, what, note, NULL);
    for (int i = 0; i < 5; i++) {
        heed_record_column k = intact[i];
        k.values = &about[i];
        heed_record_add_column(to, k);
    }
    heed_record_add_table(to, "by", "measure", MEASURES);
    heed_record_add_column(to, (heed_record_column){.key = "measure", .head = "", .texts = names});
    for (int i = 0; i < COLUMNS; i++) x[i] = heed_record_add_column(to, of[i]);
    for (int k = 0; x[KEPT] && k < MEASURES; k++) {
        heed_estimate fall = heed_estimate_mean(r->fall[k], r->count);
        for (int i = 0; i < r->count; i++) {
            x[KEPT][k] += r->kept[k][i] / r->count;
            if (k != RANDOM) r->fall[k][i] -= r->fall[RANDOM][i];
        }
        heed_estimate more = heed_estimate_mean(r->fall[k], r->count);
        x[FALL][k] = fall.mean;
        x[FALL_95][k] = fall.half;
        x[MORE][k] = k == RANDOM ? (double)NAN : more.mean;
        x[MORE_95][k] = k == RANDOM ? (double)NAN : more.half;
    }
    return to;
}

heed_record *heed_ablate_patches(heed_run *run, const heed_patch_ablation_args *args) {
    if (!run || heed__stopped(run->c) || !args || !args->images) return NULL;
    hiding r = {.run = run, .args = args, .count = args->pictures > 0 ? args->pictures : 100};
    size_t all = heed__images_count(args->images, args->part, -1);
    if ((size_t)r.count > all) r.count = (int)all;
    heed_random random = heed_random_at(heed_seed(run->c), "removal.pictures", 0, 0);
    bool ok = r.count > 0 ? open_sums(&r, args->share)
                          : heed_fail(run->c, HEED_DATA, "the part has no pictures");
    for (; ok && r.picture < r.count; r.picture++)
        ok = one_picture(&r, (size_t)heed_random_permute(&random, (uint64_t)r.picture, all)) &&
             heed__progress(run->c, args->progress, args->user, r.picture + 1, r.count);
    heed_record *out = ok ? record_of(&r, args->what) : NULL;
    heed__free(r.fall[0]);
    heed__free(r.order);
    heed__free(r.x);
    return heed__record_done(run->c, out);
}
