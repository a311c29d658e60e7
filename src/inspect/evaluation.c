/* evaluation.c -- the data on which a run is evaluated and its batches, progress of an analysis,
 * predictions of a classifier for single items, and the mean of a few numbers. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"
#include "inspect/inspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- data ---- */

static bool has_data(heed_ctx *c, const char *dir, const heed_config *f, const char *key,
                     const char *other) {
    const char *path = heed_config_has(f, key) ? heed_config_text(f, key) : "";
    if (!*path)
        return strcmp(key, "data") != 0 ||
               heed_fail(c, HEED_DATA,
                         "the run names no data: %s: expected the path of data; hint: %s", dir,
                         other);
    return heed__os_is_file(path) || heed__os_is_dir(path) ||
           heed_fail(
               c, HEED_DATA,
               "the %sdata of the run is missing: %s/config.conf: %s = %s; hint: run from the "
               "folder that it was trained in, or %s",
               strcmp(key, "val") == 0 ? "validation " : "", dir, key, path, other);
}

bool heed_run_has_data(heed_ctx *c, const heed_model *m, const char *dir, const heed_config *f,
                       const char *key, const char *other) {
    if (heed__stopped(c) || !m || !dir || !key || !other) return false;
    if (!heed_model_data(m)->open) return true;
    heed_config *own = f ? NULL : heed__run_config(c, m, dir);
    bool ok = (f || own) && has_data(c, dir, f ? f : own, key, other);
    heed_config_free(own);
    return ok;
}

/* Whether two files have the same bytes. */
static bool same_bytes(heed_ctx *c, const char *a, const char *b) {
    size_t n = 0, m = 0;
    uint64_t size = heed__file_size(a);
    if (!size || size != heed__file_size(b)) return false;
    unsigned char *x = heed__os_read(c, a, 0, &n), *y = heed__os_read(c, b, 0, &m);
    bool same = x && y && n == m && memcmp(x, y, n) == 0;
    heed__free(x);
    heed__free(y);
    return same;
}

/* Only what can be read twice is compared with the run's data: not a pipe. A copy may have the part
 * that is asked for, and the checksum of the run, only when it is read as in training. */
heed_data *heed_run_data(const heed_run *r, heed_config *f, const char *path,
                         const heed_data_args *how) {
    if (!r || !f || heed__stopped(r->c)) return NULL;
    heed_data_args a = how ? *how : (heed_data_args){0};
    const char *part = a.part, *val = heed_config_has(f, "val") ? heed_config_text(f, "val") : "";
    const heed_data_kind *kind = heed_model_data(r->model);
    bool with_val = heed__os_is_file(val), split = with_val || kind->split;
    bool other = path && !heed__os_same(heed_config_text(f, "data"), path);
    bool there = other && (heed__os_is_file(path) || heed__os_is_dir(path));
    bool is_val = there && with_val && (heed__os_same(path, val) || same_bytes(r->c, path, val));
    bool perhaps = there && !is_val && r->data_checksum;
    a.all = other && !(perhaps && split); /* the checksum then depends on the parts */
    a.eval = true;
    a.tokenizer = r->tokenizer;
    a.source = r->source;
    a.labels = r->labels;
    a.label_count = r->label_count;
    if (path && !heed_config_set(f, "data", path, "data", HEED_FROM_FLAG)) return NULL;
    if (perhaps) a.part = NULL;
    heed_data *d = heed_data_open(r->c, f, kind, &a);
    bool copy = d && perhaps && d->checksum == r->data_checksum;
    bool parted = !d && perhaps && split && heed_ctx_status(r->c) != HEED_INTERRUPTED;
    if (parted) heed_clear(r->c); /* too little for parts, at least */
    if (parted || (d && perhaps && (copy == a.all || a.part != part))) {
        heed_data_close(d);
        a.all = !copy;
        a.part = part;
        d = heed_data_open(r->c, f, kind, &a);
    }
    if (d) d->is_val = is_val;
    return d;
}

bool heed_evaluation_batch(const heed_evaluation *e, uint64_t index, heed_batch *b,
                           heed_score *score) {
    heed_run *r = e ? e->run : NULL;
    if (!r || !b || !score || heed__stopped(r->c)) return false;
    if (e->batch) return e->batch(e->user, index, b, score);
    heed_batch_at at = {.index = index, .rows = e->rows, .sample = e->sample};
    return heed_evaluate_batch(r->tape, r->model, r->self, e->data, at, b, score);
}

bool heed__progress(heed_ctx *c, heed_progress progress, void *user, int64_t done, int64_t all) {
    return !progress || progress(user, (uint64_t)done, (uint64_t)all) ||
           heed_fail(c, HEED_INTERRUPTED, "interrupted");
}

/* ---- records of measurements ---- */

bool heed__heads_open(const heed_run *r, heed__heads *out) {
    int layers;
    *out = (heed__heads){.layers = heed_attention_layers(r, &layers)};
    if (!out->layers) return false;
    out->layer_count = layers;
    for (int i = 0; i < layers; i++) {
        out->count += out->layers[i].heads;
        out->stacks |= out->layers[i].stack != out->layers->stack;
    }
    size_t n = (size_t)out->count;
    out->first = out->memory[0] =
        heed__alloc_array(r->c, (size_t)layers + 2 * n, sizeof *out->first);
    double *place = out->memory[1] = heed__alloc_array(r->c, 2 * n, sizeof *place);
    const char **texts = out->memory[2] = heed__alloc_array(r->c, 3 * n, sizeof *texts);
    char(*names)[64] = out->memory[3] = heed__alloc_array(r->c, n, sizeof *names);
    if (!out->first || !place || !texts || !names) return false;
    out->layer = out->first + layers;
    out->number = out->layer + out->count;
    for (int i = 0, at = 0; i < layers; i++) {
        const heed_record_block *l = &out->layers[i];
        out->first[i] = at;
        for (int h = 0; h < l->heads; h++, at++) {
            out->layer[at] = i;
            out->number[at] = h;
            snprintf(names[at], sizeof *names, "%s%slayer %d, head %d%s",
                     out->stacks ? heed_stack_name(l->stack) : "", out->stacks ? " " : "",
                     l->layer + 1, h + 1, l->hard ? ", hard" : "");
            texts[at] = names[at];
            texts[n + (size_t)at] = l->path;
            texts[2 * n + (size_t)at] = heed_stack_name(l->stack);
            place[at] = l->layer + 1;
            place[n + (size_t)at] = h + 1;
        }
    }
    const heed_record_column about[HEED__ABOUT] = {{.head = "", .texts = texts},
                                                   {.key = "path", .texts = texts + n},
                                                   {.key = "stack", .texts = texts + 2 * n},
                                                   {.key = "layer", .values = place},
                                                   {.key = "head", .values = place + n}};
    memcpy(out->about, about, sizeof about);
    return true;
}

void heed__heads_free(heed__heads *h) {
    free(h->layers);
    for (int i = 0; i < 4; i++) heed__free(h->memory[i]);
}

heed_record *heed__measured(const heed_run *r, const char *what, const char *note,
                            const heed_record_column *name) {
    const char *model = r->model->name, *data = what ? what : "";
    heed_record *to = heed_record_new(r->c);
    heed_record_describe(
        to, (heed_record_texts){.title = data, .model = model, .task = model, .note = note});
    heed_record_add_table(to, NULL, NULL, 1);
    if (name) heed_record_add_column(to, *name);
    heed_record_add_column(to, (heed_record_column){.key = "model", .texts = &model});
    heed_record_add_column(to, (heed_record_column){.key = "data", .texts = &data});
    return to;
}

heed_record *heed__record_done(heed_ctx *c, heed_record *r) {
    if (heed_ctx_status(c) == HEED_OK) return r;
    heed_record_free(r);
    return NULL;
}

/* ---- means ---- */

/* The 97.5 % point of Student's t with that many degrees of freedom. */
static double student(int freedom) {
    static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                               2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                               2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
    int known = (int)(sizeof t / sizeof *t);
    return freedom <= known ? t[freedom - 1] : 1.96 + 2.4 / freedom;
}

heed_estimate heed_estimate_mean(const double *x, int n) {
    heed_estimate e = {.mean = (double)NAN, .half = (double)NAN};
    double sum = 0, squares = 0;
    for (int i = 0; x && i < n; i++)
        if (isfinite(x[i])) sum += x[i], e.count++;
    if (e.count == 0) return e;
    e.mean = sum / e.count;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i])) squares += (x[i] - e.mean) * (x[i] - e.mean);
    if (e.count > 1) e.half = student(e.count - 1) * sqrt(squares / (e.count - 1) / e.count);
    return e;
}
