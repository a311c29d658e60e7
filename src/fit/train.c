/* train.c -- a complete training in one call: opens the data of the kind that the model reads. */
#include "core/core.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const heed_option heed_train_options[] = {
    {"task", HEED_TEXT, "", 0, 0, NULL, "the model; given as the first argument", "Run"},
    {"data", HEED_TEXT, "", 0, 0, NULL, "what to train on; given as the second argument", "Run"},
    {"from", HEED_TEXT, "", 0, 0, NULL,
     "start from the best weights of this run; settings of the model that are not given, and the "
     "tokenizer, are then the run's",
     "Run"},
    {"from-digest", HEED_TEXT, "", 0, 0, NULL, "recorded in config.conf: a digest of those weights",
     "Run"},
    {0}};

static const heed_fit_result nothing = {.loss = NAN,
                                        .val_loss = NAN,
                                        .best_loss = NAN,
                                        .metric = NAN,
                                        .best_metric = NAN,
                                        .first = {NAN, NAN}};

heed_config *heed_train_config(heed_ctx *c, const heed_model *m) {
    if (heed__stopped(c) || !m) return NULL;
    const heed_option *tables[] = {heed_train_options, heed_model_data(m)->options, NULL};
    return heed_model_config(c, m, tables);
}

static heed_fit_result fit(heed_ctx *c, const heed_train_args *a, heed_config *f,
                           const heed_data *d, const heed_run *from) {
    return heed_fit(c, &(heed_fit_args){.model = a->model,
                                        .from = from,
                                        .models = a->models,
                                        .config = f,
                                        .data = d,
                                        .data_checksum = d->checksum,
                                        .tokenizer = d->tokenizer,
                                        .source = d->source,
                                        .labels = d->labels,
                                        .label_count = d->label_count,
                                        .run = a->run,
                                        .no_val = d->no_val,
                                        .resume = a->resume,
                                        .force = a->force,
                                        .keep = a->keep,
                                        .report = a->report,
                                        .stop = a->stop,
                                        .user = a->user,
                                        .cluster = a->cluster});
}

static bool set_values(heed_config *f, const char *const *v) {
    for (; v && v[0]; v += 2)
        if (!heed_config_set(f, v[0], v[1] ? v[1] : "", NULL, HEED_FROM_FLAG)) return false;
    return true;
}

/* Reads the settings of the model or, when resuming, of the run, and those of the caller. */
static bool read_settings(heed_ctx *c, const heed_train_args *a, heed__run_config *k) {
    bool ok = true;
    if (a->resume)
        ok = heed__run_config_read(c, a->model, a->run, k);
    else
        ok = (k->config = heed_train_config(c, a->model)) &&
             heed_config_set(k->config, "task", a->model->name, "model", HEED_FROM_FLAG);
    const char *data = a->keep ? a->keep : a->data;
    if (ok && data) ok = heed_config_set(k->config, "data", data, "data", HEED_FROM_FLAG);
    if (ok && a->preset) ok = heed_preset_apply(c, k->config, a->model, a->preset);
    return ok && heed_config_set_list(k->config, a->settings, "settings", HEED_FROM_FLAG) &&
           set_values(k->config, a->values);
}

/* Opens the run that a new run starts from, and takes its settings. */
static bool open_start(heed_ctx *c, const heed_train_args *a, heed_config *f, heed_data_args *how,
                       heed_run **from) {
    const heed_model *const own[] = {a->model, NULL};
    const char *dir = heed_config_text(f, "from");
    if (a->resume || !*dir) return true;
    *from = heed_start_open(c, dir, a->models ? a->models : own, a->run);
    return *from && heed_start_settings(f, a->model, *from, how, NULL);
}

/* The caller may stop the training while its text is read, too. */
static bool reading(void *user, uint64_t done, uint64_t all) {
    const heed_train_args *a = user;
    (void)done, (void)all;
    return !a->stop || !a->stop(a->user);
}

heed_data *heed_train_data(heed_ctx *c, const heed_model *m, heed_config *f, heed_data_args *how,
                           heed_choices *chosen) {
    heed__labels of_run = {0};
    if (heed__stopped(c) || !m || !f || !how) return NULL;
    bool ok = how->run ? heed__labels_read(c, how->run, 0, &of_run)
                       : heed_model_choose(m, f, NULL, chosen);
    if (!heed__ctx_edited(c)) {
        how->labels = of_run.list;
        how->label_count = of_run.count;
    }
    heed_data *d = ok ? heed_data_open(c, f, heed_model_data(m), how) : NULL;
    if (d && !how->run) heed_model_choose(m, f, d, chosen);
    how->labels = NULL;
    heed__labels_free(&of_run);
    return d;
}

/* Trains by complete settings. Other processes learn of an error here or in heed_fit. */
static heed_fit_result train(heed_ctx *c, const heed_train_args *a, heed_config *f) {
    heed_fit_result r = nothing;
    heed_data_args how = {.run = a->resume ? a->run : NULL,
                          .cache = a->resume ? a->run : NULL,
                          .progress = reading,
                          .user = (void *)(uintptr_t)a};
    heed_run *from = NULL;
    bool new_run = a->run && !a->resume, ok = f && open_start(c, a, f, &how, &from);
    heed_data *d = ok ? heed_train_data(c, a->model, f, &how, NULL) : NULL;
    if (d && new_run && d->tree) heed_run_outside(c, a->run, heed_config_text(f, "data"));
    if (d && a->keep) heed_config_set(f, "data", a->data, "data", HEED_FROM_FLAG);
    if (heed_cluster_agree(c, a->cluster)) r = fit(c, a, f, d, from);
    heed_data_close(d);
    heed_run_close(from);
    return r;
}

/* The seed is a setting of the run, which JSON and other programs hold as a double. */
static bool seed_fits(heed_ctx *c) {
    const uint64_t most = 1ULL << 53;
    return heed_seed(c) <= most ||
           heed_fail(c, HEED_USAGE,
                     "seed of the context is wrong: expected 0 to %" PRIu64 ", found %" PRIu64,
                     most, heed_seed(c));
}

static bool is_complete(heed_ctx *c, const heed_train_args *a) {
    if (!a->model) return heed_fail(c, HEED_USAGE, "training requires a model: `model` is NULL");
    if (a->resume && !a->run)
        return heed_fail(c, HEED_USAGE, "resuming requires the folder of a run: `run` is NULL");
    if (!a->resume && !a->data && heed_model_data(a->model)->open)
        return heed_fail(c, HEED_USAGE, "training requires data: `data` is NULL: expected %s",
                         heed_model_data(a->model)->noun);
    return true;
}

heed_fit_result heed_train(heed_ctx *c, const heed_train_args *a) {
    heed_fit_result r = nothing;
    heed__run_config k = {0};
    if (heed__stopped(c) || !a) return r;
    if (!is_complete(c, a) || !seed_fits(c)) return r;
    bool first = !a->cluster || a->cluster->rank == 0;
    if (a->run && first)
        (void)(a->resume ? heed_run_recover(c, a->run) && heed_run_resumable(c, a->run)
                         : heed_run_vacant(c, a->run, a->force));
    if (heed_cluster_agree(c, a->cluster)) {
        read_settings(c, a, &k);
        r = train(c, a, k.config);
    }
    heed_config_free(k.config);
    heed__run_config_free(&k);
    return r;
}
