/* patch_ablation.c -- patches hidden by what a measure says of them. Samek et al. 2017, sec. III: a
 * good measure of what matters finds the parts whose loss hurts most. */
#include "analyses/patch_ablation.h"

#include "kinds/inspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const patch_ablation_names[PATCH_ABLATIONS] = {"attention", "rollout", "gradient",
                                                           "occlusion", "random"};
enum {
    DRAWS = 10, /* of random patches, of which the mean counts */
    MOST_CLASSES = 4096
};

typedef struct {
    program *p;
    const eval_loop *s;
    int count, patches, hidden;
    int picture;                                           /* at hand */
    double *fall[PATCH_ABLATIONS], *kept[PATCH_ABLATIONS]; /* (count) */
    double *value;                                         /* (patches) of the measure at hand */
    int *order;                                            /* (patches) */
    heed_real *x;
    double whole, right; /* sums */
} removing;

/* ---- what a measure says of the patches ---- */

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

static const heed_record_map *map_named(const heed_record *record, const char *name) {
    for (int i = 0; i < record->map_count; i++)
        if (record->maps[i].layer < 0 && strcmp(record->maps[i].name, name) == 0)
            return &record->maps[i];
    return NULL;
}

static bool read_measure(const heed_record *record, patch_ablation_kind kind, double *out) {
    double *work = malloc((size_t)record->axes[0].count * sizeof *work);
    const heed_record_map *m = map_named(record, patch_ablation_names[kind]);
    if (work && kind == BY_ATTENTION) read_attention(record, out, work);
    if (work && m) read_rows(&record->axes[0], m->values, out);
    free(work);
    return work != NULL;
}

/* ---- hiding ---- */

/* The `hidden` largest values first in order; of equal ones the first. */
static void choose_largest(const removing *r) {
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

static void choose_random(const removing *r, int draw) {
    heed_random random =
        heed_random_at(heed_seed(r->p->c), "removal", (uint64_t)r->picture, (uint32_t)draw);
    for (int k = 0; k < r->hidden; k++)
        r->order[k] = (int)heed_random_permute(&random, (uint64_t)k, (uint64_t)r->patches);
}

typedef struct {
    int class;
    double p;
} saying;

/* x in the picture's place; class: whose probability is asked for, negative: the answer's own. */
static bool ask(const heed_inspection *s, heed_real *x, int class, saying *out) {
    heed_inspection seen = *s;
    heed_tape *t = s->run->tape;
    guess all[MOST_CLASSES];
    seen.x = x;
    heed_unprobe(t);
    heed_tape_begin(t, HEED_EVAL, 0);
    const heed_tensor *y = heed_inspection_logits(&seen, t);
    int n = y ? y->shape[1] : 0;
    if (!y || n > MOST_CLASSES)
        return heed_fail(s->run->c, HEED_USAGE, "%d classes are too many here", n);
    guesses_of(y->x, n, all);
    out->class = all[0].label;
    for (int i = 0; i < n; i++)
        if (all[i].label == (class < 0 ? out->class : class)) out->p = all[i].p;
    return true;
}

static bool ask_without(const removing *r, const heed_inspection *s, const saying *whole,
                        patch_ablation_kind kind, int draws) {
    size_t pixels = (size_t)s->shape[1] * (size_t)s->shape[2] * (size_t)s->shape[3];
    saying left;
    memcpy(r->x, s->x, pixels * sizeof *r->x);
    heed_hide_patches(s, r->x, r->order, r->hidden);
    if (!ask(s, r->x, whole->class, &left)) return false;
    r->fall[kind][r->picture] += (whole->p - left.p) / draws;
    r->kept[kind][r->picture] += (double)(left.class == whole->class) / draws;
    return true;
}

/* ---- one picture ---- */

static heed_record *measured(const heed_inspection *s) {
    heed_record *record = heed_capture(s, &(heed_capture_args){.lean = true});
    bool ok = record && heed_rollout_add(s, NULL, record) && heed_occlusion_add(s, NULL, record) &&
              heed_gradient_add(s, NULL, record);
    if (ok) return record;
    heed_record_free(record);
    return NULL;
}

static bool remove_all(removing *r, const heed_inspection *s, const heed_record *record,
                       int label) {
    saying whole = {0, 0};
    bool ok = ask(s, s->x, -1, &whole);
    r->whole += whole.p;
    r->right += whole.class == label;
    for (int k = 0; ok && k < AT_RANDOM; k++) {
        ok = read_measure(record, (patch_ablation_kind)k, r->value);
        choose_largest(r);
        ok = ok && ask_without(r, s, &whole, (patch_ablation_kind)k, 1);
    }
    for (int i = 0; ok && i < DRAWS; i++) {
        choose_random(r, i);
        ok = ask_without(r, s, &whole, AT_RANDOM, DRAWS);
    }
    return ok;
}

static bool one_picture(removing *r, size_t index) {
    heed_picture picture = {0};
    heed_inspection s = {.run = NULL};
    const char *name;
    int label;
    bool ok = heed_images_get(r->s->data, r->s->part, index, &picture, &label, &name) &&
              heed_inspection_picture(&s, r->s->run, &picture, name, true);
    heed_picture_free(&picture);
    heed_record *record = ok ? measured(&s) : NULL;
    ok = record && remove_all(r, &s, record, label);
    heed_record_free(record);
    heed_inspection_free(&s);
    return ok;
}

/* ---- all of them ---- */

static bool capacity(removing *r, double share) {
    heed_run *run = r->s->run;
    const heed_images_info *a = heed_images_about(r->s->data);
    heed_grid grid;
    run->model->grid(run->self, &grid);
    r->patches = grid.rows * grid.cols;
    r->hidden = (int)lround(share * r->patches);
    if (r->hidden < 1) r->hidden = 1;
    size_t n = (size_t)r->count;
    size_t pixels = (size_t)a->view.size * (size_t)a->view.size * (size_t)a->view.channels;
    double *sums = calloc(2 * PATCH_ABLATIONS * n, sizeof *sums);
    for (int k = 0; sums && k < PATCH_ABLATIONS; k++) {
        r->fall[k] = sums + (size_t)k * n;
        r->kept[k] = sums + (size_t)(PATCH_ABLATIONS + k) * n;
    }
    r->value = malloc((size_t)(r->patches + 1) * sizeof *r->value);
    r->order = malloc((size_t)(r->patches + 1) * sizeof *r->order);
    r->x = malloc(pixels * sizeof *r->x);
    return (sums && r->value && r->order && r->x) ||
           heed_fail(run->c, HEED_FAILED, "no memory for %d pictures", r->count);
}

static void sum_up(const removing *r, patch_ablation *out) {
    int n = r->count;
    *out = (patch_ablation){.pictures = n,
                            .patches = r->patches,
                            .hidden = r->hidden,
                            .p = r->whole / n,
                            .right = r->right / n};
    for (int k = 0; k < PATCH_ABLATIONS; k++) {
        double kept = 0;
        out->by[k].fall = estimate_of(r->fall[k], n);
        for (int i = 0; i < n; i++) {
            kept += r->kept[k][i] / n;
            if (k != AT_RANDOM) r->fall[k][i] -= r->fall[AT_RANDOM][i];
        }
        out->by[k].kept = kept;
        out->by[k].more = estimate_of(r->fall[k], n);
    }
}

bool patch_ablation_measure(program *p, const eval_loop *s, int count, double share,
                            patch_ablation *out) {
    removing r = {.p = p, .s = s, .count = count};
    size_t all = heed_images_count(s->data, s->part, -1);
    if ((size_t)count > all) r.count = (int)all;
    heed_random random = heed_random_at(heed_seed(p->c), "removal.pictures", 0, 0);
    bool ok = capacity(&r, share);
    for (r.picture = 0; ok && r.picture < r.count; r.picture++) {
        ok = one_picture(&r, (size_t)heed_random_permute(&random, (uint64_t)r.picture, all));
        eval_loop_progress(p, "picture", (uint64_t)r.picture + 1, (uint64_t)r.count);
    }
    eval_loop_progress(p, "", 1, 1);
    if (ok) sum_up(&r, out);
    free(r.fall[0]);
    free(r.value);
    free(r.order);
    free(r.x);
    return ok;
}
