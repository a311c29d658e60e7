/* workbench.c -- a model built from settings only, and random batches for it. */
#include "commands/workbench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

heed_config *workbench_config(heed_ctx *c, const heed_model *m) {
    const heed_option *tables[] = {m->options, heed_fit_options, NULL};
    return heed_config_new(c, tables);
}

void workbench_sizes(workbench *w) {
    const heed_config *f = w->f;
    w->rows = (int)heed_config_int(f, "batch");
    w->dense = reads_pictures(w->model) || !reads_data(w->model);
    if (!reads_data(w->model)) return;
    if (w->dense || sees_pictures(w->model)) {
        int64_t size = heed_config_int(f, "image-size");
        w->pixels = (int)(size * size * heed_config_int(f, "channels"));
    }
    if (w->dense) {
        w->len = w->pixels;
        w->vocab = heed_config_has(f, "classes") ? (int)heed_config_int(f, "classes") : 1;
        return;
    }
    w->len = (int)heed_config_int(f, "block");
    w->vocab = (int)heed_config_int(f, "vocab");
    if (fills_masks(w->model)) {
        double share = heed_config_has(f, "mask-share") ? heed_config_real(f, "mask-share") : 0.15;
        w->masked_positions = (int)lround(share * w->len);
        if (w->masked_positions < 1) w->masked_positions = 1;
    }
    if (reads_pairs(w->model) && heed_config_has(f, "source-vocab"))
        w->sources = (int)heed_config_int(f, "source-vocab");
    if (names_classes(w->model)) w->labels = (int)heed_config_int(f, "classes");
    if (!reads_text(w->model) && !w->sources && !w->pixels) w->sources = w->vocab;
}

bool workbench_has(const workbench *w, heed_stack stack) {
    heed_attention_info a;
    for (int i = 0; w->model->attending && w->model->attending(w->self, i, &a); i++)
        if (a.stack == stack) return true;
    return false;
}

/* Whether a list of words contains the name. */
static bool contains(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *s = list; s && *s; s += strcspn(s, " "), s += *s == ' ')
        if (strcspn(s, " ") == n && strncmp(s, name, n) == 0) return true;
    return false;
}

bool workbench_check(const workbench *w) {
    static const char step[] = "batch lora lora-alpha lora-targets all-rows recompute";
    for (int i = 0; i < heed_config_count(w->f); i++) {
        const char *key = heed_config_at(w->f, i, NULL)->name;
        if (heed_config_rank(w->f, key) == HEED_FROM_FLAG &&
            heed_option_find(heed_fit_options, key) && !contains(step, key) &&
            !contains(w->reads, key))
            return heed_fail(w->c, HEED_USAGE,
                             "`%s` has no effect here: expected a setting of the model or of a "
                             "step, found one of a training run",
                             key);
    }
    return heed_config_check(w->f);
}

bool workbench_open(workbench *w) {
    workbench_sizes(w);
    w->store = heed_params_new(w->c);
    w->tape = heed_tape_new(w->c);
    w->self = allocate(w->c, 1, w->model->size, "model");
    return w->self && w->store && w->tape && heed_model_init(w->model, w->self, w->store, w->f);
}

void workbench_close(workbench *w) {
    heed_tape_free(w->tape);
    heed_params_free(w->store);
    heed_config_free(w->f);
    free(w->self);
}

static void fill_ids(int32_t *to, size_t n, uint32_t below, uint64_t index, const char *site) {
    heed_random r = heed_random_at(1, site, index, 0);
    for (size_t i = 0; i < n; i++) to[i] = (int32_t)heed_random_below(&r, i, below);
}

/* Masks `picks` different positions of each row, in ascending order: their tokens become labels and
 * are replaced by 0. */
static void mask_rows(const workbench *w, uint64_t index, random_batch *out) {
    heed_random r = heed_random_at(1, "picks", index, 0);
    int n = 0;
    for (int row = 0; row < w->rows; row++) {
        int left = w->masked_positions;
        for (int t = 0; t < w->len && left > 0; t++) {
            int at = row * w->len + t;
            if ((int)heed_random_below(&r, (uint64_t)at, (uint32_t)(w->len - t)) >= left) continue;
            out->masked_positions[n] = at;
            out->labels[n++] = out->ids[at];
            out->ids[at] = 0;
            left--;
        }
    }
    out->b.masked_positions = out->masked_positions;
    out->b.masked_count = n;
}

static void tokens(const workbench *w, uint64_t index, random_batch *out) {
    size_t n = (size_t)w->rows * (size_t)w->len;
    fill_ids(out->ids, n, (uint32_t)w->vocab, index, "ids");
    out->b.ids = out->ids;
    if (w->sources) {
        fill_ids(out->source, n, (uint32_t)w->sources, index, "source");
        out->b.src = out->source;
        out->b.src_len = w->len;
    }
    if (w->masked_positions)
        mask_rows(w, index, out);
    else
        fill_ids(out->labels, n, (uint32_t)(w->labels ? w->labels : w->vocab), index, "labels");
}

static void pixels(const workbench *w, uint64_t index, random_batch *out) {
    size_t n = (size_t)w->rows * (size_t)w->pixels;
    heed_random r = heed_random_at(1, "pixels", index, 0);
    for (size_t i = 0; i < n; i++) out->x[i] = (heed_real)heed_random_uniform(&r, i);
    out->b.x = out->x;
}

bool random_batch_make(const workbench *w, uint64_t index, random_batch *out) {
    *out = (random_batch){0};
    if (!reads_data(w->model))
        return heed_model_batch(w->model, w->self, NULL,
                                (heed_batch_at){.index = index, .rows = w->rows}, &out->b) ||
               heed_fail(w->c, HEED_FAILED, "model %s made no batch", w->model->name);
    size_t n = (size_t)w->rows * (size_t)w->len;
    out->ids = allocate(w->c, n, sizeof *out->ids, "tokens");
    out->labels = allocate(w->c, n, sizeof *out->labels, "labels");
    out->masked_positions = allocate(w->c, n, sizeof *out->masked_positions, "positions");
    out->source = allocate(w->c, n, sizeof *out->source, "tokens");
    out->x = allocate(w->c, (size_t)w->rows * (size_t)w->pixels, sizeof *out->x, "pixels");
    if (heed_ctx_status(w->c) != HEED_OK) return false;
    out->b = (heed_batch){.rows = w->rows, .len = w->len, .labels = out->labels, .items = n};
    if (w->pixels) pixels(w, index, out);
    if (w->dense)
        fill_ids(out->labels, (size_t)w->rows, (uint32_t)w->vocab, index, "labels");
    else
        tokens(w, index, out);
    return true;
}

void random_batch_free(random_batch *r) {
    free(r->ids);
    free(r->labels);
    free(r->masked_positions);
    free(r->source);
    free(r->x);
    *r = (random_batch){0};
}
