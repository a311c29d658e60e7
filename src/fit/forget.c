/* forget.c -- what training that started from a run has forgotten: the loss on the validation
 * part of that run's data, before and after. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The run that training started from, and the run that it made. */
typedef struct {
    heed_ctx *c; /* has the first run's seed, by which its data was divided into parts */
    const heed_model *const *models;
    const char *from, *dir;
    heed_run *first, *run;
    const heed_fit_args *a;
    char why[320]; /* why nothing is measured; "": it is, or it does not apply */
} comparison;

static heed_ctx *open_context(heed_ctx *like, uint64_t seed) {
    return heed_open(&(heed_options){.seed = seed,
                                     .threads = heed_threads(like),
                                     .isa = heed_isa(like),
                                     .edited = heed__ctx_edited(like)});
}

/* The seed of a run is among its settings. */
static bool open_first(comparison *k, heed_ctx *like) {
    heed_ctx *c = open_context(like, 0);
    heed_run *r = heed_run_open(c, k->from, k->models, NULL);
    uint64_t seed = r ? (uint64_t)heed_config_int(r->config, "seed") : 0;
    if (!r) snprintf(k->why, sizeof k->why, "%s", heed_ctx_error(c));
    heed_close(c);
    if (!r) return false;
    k->c = open_context(like, seed);
    k->first = heed_run_open(k->c, k->from, k->models, NULL);
    k->run = heed_run_open(k->c, k->dir, k->models, NULL);
    return k->first && k->run;
}

/* The new vocabulary may only have more tokens: else losses per token do not compare. */
static bool extends(const heed_tokenizer *more, const heed_tokenizer *k) {
    if (heed_vocab_size(more) < heed_vocab_size(k)) return false;
    for (int i = 0; i < heed_vocab_size(k); i++)
        if (strcmp(heed_token_text(more, i), heed_token_text(k, i)) != 0) return false;
    return true;
}

static bool compares(comparison *k) {
    const heed_run *a = k->first, *b = k->run;
    const char *recorded = heed_config_text(b->config, "from-digest");
    char digest[24];
    snprintf(digest, sizeof digest, "%016" PRIx64, heed__start_digest(a->store));
    if (a->model != b->model || !heed_model_data(a->model)->open) return false;
    const char *differs = strcmp(recorded, digest) != 0 ? "its weights have changed"
                          : !extends(b->tokenizer, a->tokenizer) || !extends(b->source, a->source)
                              ? "the tokenizer is another"
                          : !heed__start_same_classes(a, b->labels, b->label_count)
                              ? "the classes are others"
                              : NULL;
    if (differs) snprintf(k->why, sizeof k->why, "%s", differs);
    return !differs;
}

/* Sets the settings of the data, except those of the model's input and the cache, to the first
 * run's. */
static bool read_as_first(const comparison *k, heed_config *f) {
    static const char *const own[] = {"tokenizer", "source-tokenizer", "mean",
                                      "std",       "token-cache",      NULL};
    const heed_option *options = heed_model_data(k->first->model)->options;
    bool ok = heed_config_set(f, "data", heed_config_text(k->first->config, "data"), "data",
                              HEED_FROM_FLAG);
    for (int i = 0; ok && i < heed_config_count(k->first->config); i++) {
        const char *value, *key = heed_config_at(k->first->config, i, &value)->name;
        bool taken =
            heed_option_find(options, key) && !heed_option_find(k->first->model->options, key);
        for (int j = 0; own[j]; j++) taken = taken && strcmp(own[j], key) != 0;
        if (taken) ok = heed_config_set(f, key, value, key, HEED_FROM_FLAG);
    }
    return ok;
}

/* The data must be that of the first training run. */
static bool is_first_data(comparison *k, const heed_data *d) {
    heed_text path = {.c = k->c};
    heed__state s;
    bool ok = heed__state_read(k->c, heed__run_path(&path, k->from, "last/state.json"), &s);
    heed_text_free(&path);
    if (ok && s.data_checksum != d->checksum)
        ok = heed_fail(k->c, HEED_DATA, "%s has changed since",
                       heed_config_text(k->first->config, "data"));
    return ok;
}

/* The mean loss of one of the two runs. */
static bool measure(comparison *k, heed_run *r, double *loss) {
    heed_data_args how = {.tokenizer = r->tokenizer,
                          .source = r->source,
                          .labels = r->labels,
                          .label_count = r->label_count};
    if (r == k->run && !read_as_first(k, r->config)) return false;
    heed_data *d = heed_data_open(k->c, r->config, heed_model_data(r->model), &how);
    if (!d || !is_first_data(k, d)) return false;
    heed__evaluation e = {.tape = r->tape, .model = r->model, .self = r->self, .data = d};
    e.stop = k->a->stop;
    e.user = k->a->user;
    e.rows = (int)heed_config_int(k->first->config, "batch");
    uint64_t all = heed_model_eval_batches(r->model, r->self, d, e.rows);
    uint64_t most = (uint64_t)heed_config_int(k->first->config, "eval-batches");
    e.sample = most && most < all;
    e.count = e.sample ? most : all;
    heed_score score;
    bool ok = heed__evaluate(&e, &score) && score.weight > 0;
    if (ok) *loss = score.loss / score.weight;
    heed_data_close(d);
    return ok;
}

static void record(heed__fitting *f, const comparison *k) {
    char note[512] = "";
    if (k->why[0])
        snprintf(note, sizeof note, "what was forgotten of %.120s is not measured: %s", k->from,
                 k->why);
    else if (isfinite(f->first[1]))
        snprintf(note, sizeof note,
                 "on the validation part of %.120s, from which it started: loss %.6g before, %.6g "
                 "after",
                 k->from, f->first[0], f->first[1]);
    if (note[0]) heed__journal_note(&f->journal, f->state.step, note);
}

void heed__fit_forgetting(heed__fitting *f) {
    const heed_model *const own[] = {f->a->model, NULL};
    const heed_config *g = f->a->config;
    comparison k = {.models = f->a->models ? f->a->models : own, .dir = f->a->run, .a = f->a};
    if (!f->a->run || !heed_config_has(g, "from")) return;
    k.from = heed_config_text(g, "from");
    if (!*k.from) return;
    bool opened = open_first(&k, f->c);
    if (opened && compares(&k) &&
        !(measure(&k, k.first, &f->first[0]) && measure(&k, k.run, &f->first[1])))
        f->first[0] = f->first[1] = NAN;
    if (heed_ctx_status(k.c) != HEED_OK && !k.why[0])
        snprintf(k.why, sizeof k.why, "%s", heed_ctx_error(k.c));
    record(f, &k);
    heed_close(k.c);
}
