/* workbench.c -- a model built by settings alone, and random batches for it. */
#include "commands/workbench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

heed_config *workbench_config(heed_ctx *c, const heed_model *m) {
    const heed_option *tables[] = {m->options, heed_fit_options, NULL};
    return heed_config_new(c, tables);
}

/* The numbers of a picture. */
static int numbers(const heed_config *f) {
    int64_t size = heed_config_int(f, "image-size");
    return (int)(size * size * heed_config_int(f, "channels"));
}

void workbench_sizes(workbench *w) {
    bool text = heed_config_has(w->f, "vocab"), classes = heed_config_has(w->f, "classes");
    bool dense = w->dense = classes && !text;
    w->rows = (int)heed_config_int(w->f, "batch");
    w->len = dense ? numbers(w->f) : (int)heed_config_int(w->f, "block");
    w->vocab = (int)heed_config_int(w->f, dense ? "classes" : "vocab");
    if (w->model == &heed_model_mlm) {
        w->masked_positions = (int)lround(heed_config_real(w->f, "mask-share") * w->len);
        if (w->masked_positions < 1) w->masked_positions = 1;
    }
    if (heed_config_has(w->f, "source-vocab")) {
        w->sources = (int)heed_config_int(w->f, "source-vocab");
        if (!w->sources) w->sources = w->vocab;
    }
    if (text && classes) {
        w->sources = w->vocab;
        w->labels = (int)heed_config_int(w->f, "classes");
    }
}

bool workbench_open(workbench *w) {
    workbench_sizes(w);
    w->store = heed_store_new(w->c);
    w->tape = heed_tape_new(w->c);
    w->self = calloc(1, w->model->size);
    if (!w->self) return heed_fail(w->c, HEED_FAILED, "no memory for model %s", w->model->name);
    return w->store && w->tape && w->model->init(w->self, w->store, w->f);
}

void workbench_close(workbench *w) {
    heed_tape_free(w->tape);
    heed_store_free(w->store);
    heed_config_free(w->f);
    free(w->self);
}

static void fill_ids(int32_t *to, size_t n, uint32_t below, uint64_t index, const char *site) {
    heed_random r = heed_random_at(1, site, index, 0);
    for (size_t i = 0; i < n; i++) to[i] = (int32_t)heed_random_below(&r, i, below);
}

/* `picks` different positions of each row, in order; their tokens become labels and then 0. */
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
    heed_random r = heed_random_at(1, "pixels", index, 0);
    size_t n = (size_t)w->rows * (size_t)w->len;
    for (size_t i = 0; i < n; i++) out->x[i] = (heed_real)heed_random_uniform(&r, i);
    fill_ids(out->labels, (size_t)w->rows, (uint32_t)w->vocab, index, "labels");
    out->b.x = out->x;
}

bool random_batch_make(const workbench *w, uint64_t index, random_batch *out) {
    size_t n = (size_t)w->rows * (size_t)w->len;
    *out = (random_batch){.ids = malloc(n * sizeof *out->ids),
                          .labels = malloc(n * sizeof *out->labels),
                          .masked_positions = malloc(n * sizeof *out->masked_positions),
                          .source = malloc(n * sizeof *out->source),
                          .x = malloc(n * sizeof *out->x)};
    if (!out->ids || !out->labels || !out->masked_positions || !out->source || !out->x)
        return heed_fail(w->c, HEED_FAILED, "no memory for a batch of %zu", n);
    out->b = (heed_batch){.rows = w->rows, .len = w->len, .labels = out->labels, .items = n};
    if (w->dense)
        pixels(w, index, out);
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
