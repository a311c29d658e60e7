/* train.c -- prepares a training: settings, data, a trial of one step, the folder of the run or the
 * checkpoint to resume from. loop.c makes its steps. */
#include "core/core.h"
#include "core/os.h"
#include "core/params.h"
#include "core/tape.h"
#include "fit/fit.h"
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- data and settings by paths ---- */

static bool set_values(heed_config *f, const char *const *v) {
    for (; v && v[0]; v += 2)
        if (!heed_config_set(f, v[0], v[1] ? v[1] : "", NULL, HEED_FROM_FLAG)) return false;
    return true;
}

/* The settings of the model or, when resuming, of the run, and those of the caller. */
static bool read_given(heed_training *t) {
    const heed_train_args *a = &t->a;
    heed_config *f = t->net.config;
    if (!f && a->resume) f = t->own_config = heed__run_config(t->c, a->model, a->run);
    if (!f && !a->resume) f = t->own_config = heed_train_config(t->c, a->model);
    if (!f || (!a->resume && !heed_config_set(f, "task", a->model->name, "model", HEED_FROM_FLAG)))
        return false;
    t->net.config = f;
    const char *data = a->keep ? a->keep : a->data;
    return (!data || heed_config_set(f, "data", data, "data", HEED_FROM_FLAG)) &&
           (!a->preset || heed_preset_apply(t->c, f, a->model, a->preset)) &&
           heed_config_set_list(f, a->settings, "settings", HEED_FROM_FLAG) &&
           set_values(f, a->values);
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
                       : heed__model_choose(m, f, NULL, chosen);
    if (how->run && !heed__ctx_edited(c)) {
        how->labels = of_run.list;
        how->label_count = of_run.count;
    }
    heed_data *d = ok ? heed_data_open(c, f, heed_model_data(m), how) : NULL;
    if (d && !how->run) heed__model_choose(m, f, d, chosen);
    how->labels = NULL;
    heed__labels_free(&of_run);
    return d;
}

/* Opens the run that a new run starts from, takes its settings, and opens the data. */
static bool open_paths(heed_training *t) {
    const heed_train_args *a = &t->a;
    const heed_model *const own[] = {a->model, NULL};
    heed_data_args how = {.run = a->resume ? a->run : NULL,
                          .cache = a->resume ? a->run : NULL,
                          .progress = reading,
                          .user = &t->a};
    if (a->net) {
        how.tokenizer = a->net->tokenizer;
        how.source = a->net->source;
        how.labels = a->net->labels;
        how.label_count = a->net->label_count;
    }
    if (!read_given(t)) return false;
    heed_config *f = t->net.config;
    const char *dir = heed_config_text(f, "from");
    if (*dir && !a->resume && !a->net) {
        t->own_from = heed_transfer_open(t->c, dir, a->models ? a->models : own, a->run);
        t->a.from = t->own_from;
        if (!t->own_from || !heed_transfer_settings(f, a->model, t->own_from, &how, NULL))
            return false;
    }
    t->data = t->own_data = a->net ? heed_data_open(t->c, f, heed_model_data(a->model), &how)
                                   : heed_train_data(t->c, a->model, f, &how, NULL);
    if (!t->data) return false;
    if (a->run && !a->resume && t->data->tree)
        heed_run_path_is_outside(t->c, a->run, heed_config_text(f, "data"));
    return !heed__stopped(t->c) &&
           (!a->keep || heed_config_set(f, "data", a->data, "data", HEED_FROM_FLAG));
}

/* The seed is a setting of the run, which JSON and other programs hold as a double. */
static bool seed_fits(heed_ctx *c) {
    const uint64_t most = 1ULL << 53;
    return heed_seed(c) <= most ||
           heed_fail(c, HEED_USAGE,
                     "seed of the context is wrong: expected 0 to %" PRIu64 ", found %" PRIu64,
                     most, heed_seed(c));
}

/* Whether the data is open, or the model makes its batches without. */
static bool is_open(const heed_train_args *a) {
    return a->opened || (a->config && !a->data && a->model->batch);
}

static bool is_complete(heed_ctx *c, const heed_train_args *a) {
    const heed_model *m = a->model;
    if (!m || !heed__model_usable(m))
        return heed_fail(c, HEED_USAGE, "training requires a model: `model` %s",
                         m ? "lacks its name, init or loss" : "is NULL");
    if (a->resume && (!a->run || a->net))
        return heed_fail(c, HEED_USAGE, "resuming requires the folder of a run: `run` is NULL%s",
                         a->net ? ", or `net` is not" : "");
    if (a->opened && !a->config)
        return heed_fail(c, HEED_USAGE, "open data requires its settings: `config` is NULL");
    if (!is_open(a) && !a->resume && !a->data && heed_model_data(m)->open)
        return heed_fail(c, HEED_USAGE, "training requires data: `data` is NULL: expected %s",
                         heed_model_data(m)->noun);
    if (!m->batch && !heed_model_data(m)->batch)
        return heed_fail(c, HEED_USAGE, "model %s makes no batches: expected its function `batch`",
                         m->name);
    return heed__cluster_check(c, a->cluster);
}

/* Model, data, and settings that are complete except for the length of the training. */
static bool open_data(heed_training *t) {
    static const heed_data none;
    const heed_train_args *a = &t->a;
    t->data = a->opened ? a->opened : &none;
    if (is_open(a)) return true;
    if (a->run && !heed__helps(t))
        (void)(a->resume ? heed_run_recover(t->c, a->run) && heed_run_resumable(t->c, a->run)
                         : heed_run_path_is_free(t->c, a->run, a->force));
    if (!heed_cluster_agree(t->c, a->cluster)) return false;
    open_paths(t);
    return heed_cluster_agree(t->c, a->cluster);
}

/* ---- settings ---- */

/* Initial values and batches are drawn with the context's seed; config.conf must agree. */
static bool agree_on_seed(heed_training *t) {
    uint64_t seed = heed_seed(t->c);
    heed_config *f = t->net.config;
    char number[24];
    if ((uint64_t)heed_config_int(f, "seed") == seed) return true;
    if (heed_config_rank(f, "seed") != HEED_FROM_DEFAULT)
        return heed_fail(t->c, HEED_USAGE,
                         "seed of the settings is not that of the context: expected %" PRIu64
                         ", found %" PRId64
                         "; hint: open the context with the seed of the settings",
                         seed, heed_config_int(f, "seed"));
    snprintf(number, sizeof number, "%" PRIu64, seed);
    return heed_config_set(f, "seed", number, "seed of the context", HEED_FROM_FLAG);
}

/* What the model must know about the data. config.conf keeps the requested bound of the vocabulary,
 * with which training the tokenizer again gives the same one. */
static bool set_vocab(heed_training *t, int64_t size, int64_t source) {
    heed_config *f = t->net.config;
    return !t->net.tokenizer || (heed__settings_number(f, "vocab", size, "tokenizer") &&
                                 heed__settings_number(f, "source-vocab", source, "tokenizer"));
}

/* Sets the actual sizes: 0 for a source without a separate vocabulary. */
static bool set_real_vocab(heed_training *t) {
    const heed_run *net = &t->net;
    return set_vocab(t, heed__settings_rows(net->config, net->tokenizer),
                     net->source ? heed_vocab_size(net->source) : 0);
}

bool heed__write_config(heed_training *t) {
    return set_vocab(t, t->bound[0], t->bound[1]) &&
           heed__run_write_config(t->c, t->a.run, t->net.config) && set_real_vocab(t);
}

static int64_t bound_of(const heed_config *f, const char *key) {
    return heed_config_has(f, key) ? heed_config_int(f, key) : 0;
}

static bool set_precision(heed_training *t) {
    if (strcmp(t->set.precision, "bf16") != 0) return heed_set_precision(t->c, HEED_FP32);
    if (!heed_set_precision(t->c, HEED_BF16_IF_FASTER)) return false;
    if (!heed__bf16_is_faster())
        heed__note(t, "`precision = bf16`: products are computed in fp32, which is faster than "
                      "bf16 on this CPU");
    return true;
}

static bool read_settings(heed_training *t) {
    heed_run *net = &t->net;
    heed_config *f = net->config;
    net->tokenizer = t->data->tokenizer;
    net->source = t->data->source;
    net->labels = t->data->labels;
    net->label_count = t->data->label_count;
    if (!heed__start_head(t->a.from, net) || !heed_config_check(f) ||
        !heed__settings_read(t->c, f, &t->set) || !agree_on_seed(t))
        return false;
    t->bound[0] = bound_of(f, "vocab");
    t->bound[1] = bound_of(f, "source-vocab");
    return set_precision(t) && set_real_vocab(t) && heed__lora_complete(f) &&
           (!net->labels || heed__settings_number(f, "classes", net->label_count, "labels"));
}

static bool count_batches(heed_training *t) {
    const heed_run *net = &t->net;
    int rows = t->set.rows;
    uint64_t limit = (uint64_t)t->set.eval_batches;
    if (!t->data->no_val)
        t->all_evals = heed_model_eval_batches(net->model, net->self, t->data, rows);
    t->evals = limit && limit < t->all_evals ? limit : t->all_evals;
    t->epoch_batches = heed__model_epoch_batches(net->model, net->self, t->data, rows);
    if (t->epoch_batches < 1) t->epoch_batches = 1;
    uint64_t micros = t->set.full_batch ? t->epoch_batches : (uint64_t)t->set.accumulate;
    if (micros > UINT32_MAX)
        return heed_fail(t->c, HEED_USAGE,
                         "too many batches in an epoch of gradient descent: %" PRIu64, micros);
    t->micros = (uint32_t)micros;
    t->passes = heed__alloc_array(t->c, micros, sizeof *t->passes);
    return !heed__stopped(t->c);
}

/* ---- the model, before and after it is tried ---- */

static void unbuild(heed_training *t) {
    heed_run *net = &t->net;
    heed_optim_free(t->optim);
    t->optim = NULL;
    if (!t->in_place) {
        heed_params_free(net->store);
        heed__free(net->self);
    }
    net->store = NULL;
    net->self = NULL;
}

/* Sets entries to those of a store of the same model; states only with `states`. */
static void copy_entries(heed_params *s, const heed_params *from, bool states) {
    for (int i = 0; i < heed_params_count(s); i++) {
        heed_param *e = heed_params_at(s, i);
        const heed_param *known = heed_params_find(from, e->name);
        if ((states || !e->state) && known && heed__same_shape(known->tensor, e->tensor))
            heed__store_set(e, known->tensor);
    }
}

/* Initial values of parameters that are expected are not drawn: they are those of `from` or, if it
 * is NULL, come later. */
static bool make_model(heed_training *t, bool expects, const heed_params *from) {
    heed_run *net = &t->net;
    net->store = heed_params_new(t->c);
    net->self = heed__alloc(t->c, net->model->size);
    if (!net->store || !net->self) return false;
    heed__store_expect(net->store, expects, from);
    bool ok = heed_model_init(net->model, net->self, net->store, net->config);
    heed__store_expect(net->store, false, NULL);
    return ok;
}

/* Initial values are drawn, except those that are known: of a checkpoint, which is read later, of
 * the run that this training starts from, of the open model, of which a copy is tried, or, if
 * `tried` is not NULL, its own. */
static bool build(heed_training *t, const heed_params *tried) {
    heed_run *net = &t->net, *open = t->a.net;
    bool all = !t->fresh || tried || open, ok = true;
    t->in_place = open && tried;
    if (t->in_place) {
        net->store = open->store;
        net->self = open->self;
    } else {
        ok = make_model(t, all || t->from, all || !t->from ? NULL : t->from->store);
        if (ok && (open || tried)) copy_entries(net->store, open ? open->store : tried, open);
        ok = ok && heed__start_apply(t) &&
             ((!t->fresh && !tried) || heed__store_draw_all(net->store));
    }
    if (!ok || !heed__lora_choose(t) || !heed__settings_apply(&t->set, net->store)) return false;
    t->optim = heed_optim_new(net->store, t->set.optim.optimizer, &t->set.optim);
    return !heed__stopped(t->c);
}

static bool build_again(heed_training *t) {
    heed_params *tried = t->net.store;
    heed__store_drop_grads(tried);
    t->net.store = NULL;
    unbuild(t);
    bool ok = build(t, tried);
    heed_params_free(tried);
    return ok;
}

/* The least bytes of a step on blocks of a text, whose tokens become vectors. Other batches may be
 * short: 0. */
static double least_step(const heed_training *t) {
    const heed_config *f = t->net.config;
    if (!heed_config_has(f, "packing") || !heed_config_has(f, "width") ||
        strcmp(heed_config_text(f, "packing"), "lines") == 0)
        return 0;
    return sizeof(heed_real) * (double)(t->set.rows * heed_config_int(f, "block")) *
           (double)heed_config_int(f, "width");
}

/* The sizes alone, before any value is drawn, say whether weights, gradients and a step fit. What
 * is not trained has no gradients: then only the weights are counted. */
static bool check_memory(heed_training *t) {
    enum { LARGE = 20000000 };
    char count[32], bytes[32], all[32];
    bool ok = make_model(t, true, NULL);
    int64_t params = (int64_t)heed_params_numel(t->net.store);
    double arrays = t->set.lora || *t->set.freeze ? 1 : 2, limit = (double)heed__os_memory_limit();
    double need = arrays * sizeof(heed_real) * (double)params, step = least_step(t);
    unbuild(t);
    heed_format_count(count, (uint64_t)params);
    if (ok && need + step > limit)
        return heed_fail(t->c, HEED_FAILED,
                         "training is too large: %s parameters and a step need at least %s of "
                         "memory, expected at most %s; hint: a smaller `batch` or `width` needs "
                         "less",
                         count, heed_format_bytes(bytes, need + step),
                         heed_format_bytes(all, limit));
    if (ok && params >= LARGE)
        heed_message(t->c, HEED_INFO,
                     "%s parameters need at least %s of memory; a step is tried to measure how "
                     "much more",
                     count, heed_format_bytes(bytes, need));
    return ok;
}

/* ---- the trial: one step and one evaluation before anything is written ---- */

/* The seconds of one batch, if less than those so far: other programs may slow some down. */
static bool evaluate_one(heed_training *t, double *seconds) {
    heed_score score;
    double start = heed__os_seconds();
    uint64_t all = t->evals < t->all_evals ? t->all_evals : t->evals != 0;
    if (!heed__evaluate(&t->net, t->data, t->set.rows, t->evals != 0, all, NULL, &score))
        return false;
    size_t bytes = heed__tape_used(t->net.tape).bytes, *more = &t->memory.evaluation;
    t->memory.total -= *more;
    *more = bytes > t->memory.step ? bytes - t->memory.step : 0;
    t->memory.total += *more;
    *seconds = fmin(*seconds, heed__os_seconds() - start);
    return true;
}

/* The next step whose batch has the most tokens. Pairs of similar length are batched together, in
 * windows of 64 batches, and the last micro-batch of a step has the longest. Other kinds have
 * batches of one size; making one may take long. */
static int64_t largest_step(const heed_training *t) {
    enum { WINDOW = 64 };
    const heed_model *m = t->net.model;
    int64_t step = t->state.step, largest = step;
    const heed_data *d = t->data; /* opened by a caller, it may have no kind */
    bool varies = !m->batch && d && d->tokenizer && !(d->kind && d->kind->images);
    double most = 0;
    for (int64_t i = step; varies && !t->set.full_batch && i < step + WINDOW; i++) {
        heed_batch b = {0};
        heed_batch_at at = {
            .rows = t->set.rows, .index = (uint64_t)i, .micro = t->micros - 1, .micros = t->micros};
        if (!heed_model_batch(m, t->net.self, t->data, at, &b)) return step;
        double tokens = (double)b.rows * ((double)b.len + b.src_len);
        if (tokens > most) {
            most = tokens;
            largest = i;
        }
    }
    return largest;
}

/* Tries the largest of the first batches, which takes the most memory, and, for full-batch gradient
 * descent, the last one, maybe smaller. */
static bool try_batches(heed_training *t) {
    int64_t step = t->state.step;
    t->state.step = largest_step(t);
    uint32_t last = t->micros - 1;
    bool ok = heed__pass_make(t, 0) && (!last || t->set.full_batch || heed__pass_make(t, last));
    t->state.step = step;
    if (!ok) return false;
    t->memory = heed_memory_of(t->net.store, t->optim, t->net.tape, t->memory.before);
    t->group.update_bytes = heed__group_updates(t->net.tape);
    return !t->set.full_batch || !last || heed__pass_make(t, last);
}

/* Measures an update by a second pass, because the first one uses fresh memory, and a step of the
 * optimizer at a rate of 0, which changes no weight; 0: an error. */
static double time_update(heed_training *t) {
    uint32_t own = t->group.k ? heed__group_first(t->micros, t->group.k->ranks, 1) : t->micros;
    double start = heed__os_seconds();
    if (!heed__pass_make(t, 0)) return 0;
    double passed = heed__os_seconds();
    heed_clip_grad_norm(t->optim, (heed_real)t->set.clip, 1);
    if (!heed_optim_step(t->optim, 0)) return 0;
    return fmax(1e-9, (passed - start) * own + heed__os_seconds() - passed);
}

/* Refuses bf16 where no product of the trial was rounded. */
static bool check_precision(const heed_training *t) {
    return heed__precision_applies(t->c) ||
           heed_config_rank(t->net.config, "precision") != HEED_FROM_FLAG ||
           heed_fail(t->c, HEED_USAGE,
                     "`precision = bf16` has no effect here: expected a linear layer with at least "
                     "32 inputs, 32 outputs and 16 rows, found none; hint: leave `precision` out");
}

/* The trial's changes are discarded: a new model is built. */
static bool try_model(heed_training *t) {
    double eval = INFINITY;
    /* a parameter without a gradient is reported by the first step, not by the trial as well */
    for (int i = 0; i < heed_params_count(t->net.store); i++)
        heed__of(heed_params_at(t->net.store, i)->tensor)->reported = true;
    bool ok = try_batches(t) && evaluate_one(t, &eval);
    if (ok && t->set.minutes > 0 && !heed__helps(t)) { /* rank 0 plans for all */
        double step = time_update(t);
        ok = step > 0 && evaluate_one(t, &eval) && heed__length_by_clock(t, step, eval);
    }
    if (!ok || !check_precision(t)) return false;
    if (t->set.minutes <= 0) t->clock.eval = eval * (double)t->evals;
    return build_again(t);
}

/* ---- the run ---- */

static void begin_state(heed_training *t) {
    heed__state *s = &t->state;
    *s =
        (heed__state){.seed = heed_seed(t->c),
                      .data_checksum = t->data->checksum,
                      .tokenizer_digest = heed__tokenizers_digest(t->net.tokenizer, t->net.source)};
    s->best_loss = s->best_metric = s->loss = s->val_loss = s->metric = s->norm = s->clock = NAN;
    t->labels_digest = heed__labels_digest(t->net.labels, t->net.label_count);
    t->fresh = true;
}

static bool same(heed_training *t, const char *what, uint64_t was, uint64_t now, const char *hint) {
    return was == now || heed_fail(t->c, HEED_DATA,
                                   "cannot resume %s: the %s has changed: expected %016" PRIx64
                                   ", found %016" PRIx64 "; hint: %s",
                                   t->a.run, what, was, now, hint);
}

/* The digest of the labels that the checkpoint was trained with; `digest` if it does not say. */
static uint64_t trained_labels(heed_training *t, uint64_t digest) {
    heed_safetensors *f =
        heed__safetensors_head(t->c, heed__run_path(t->a.run, "last/model.safetensors").s);
    const char *labels = f ? heed__safetensors_meta(f, "labels") : NULL;
    if (labels) sscanf(labels, "%16" SCNx64, &digest);
    heed_safetensors_close(f);
    return digest;
}

/* labels.txt must list the classes of the data, in the order that the checkpoint was trained with.
 */
static bool check_labels(heed_training *t) {
    heed__labels l;
    bool ok = heed__labels_read(t->c, t->a.run, t->net.label_count, &l);
    uint64_t of_data = t->labels_digest;
    t->labels_digest = heed__labels_digest(l.list, l.count);
    heed__labels_free(&l);
    return ok &&
           (heed__ctx_edited(t->c) ||
            same(t, "file labels.txt", trained_labels(t, of_data), t->labels_digest,
                 "restore a copy of it, or resume with `edited` if it was edited on purpose"));
}

/* The checksum is that of all files of the data. */
static bool check_data(heed_training *t) {
    const heed_config *f = t->net.config;
    const char *data = heed_config_has(f, "data") ? heed_config_text(f, "data") : "",
               *val = heed_config_has(f, "val") ? heed_config_text(f, "val") : "";
    heed_text what = {.c = t->c};
    bool ok =
        heed_text_add(&what, "data%s%s%s%s", *data ? " " : "", data, *val ? " or " : "", val) &&
        same(t, what.s, t->state.data_checksum, t->data->checksum,
             "restore the data that the run began with, or start a new run from its weights "
             "with `from`");
    heed_text_free(&what);
    return ok;
}

/* A tokenizer that was edited on purpose becomes the run's. */
static bool agrees(heed_training *t) {
    heed__state *s = &t->state;
    uint64_t tokenizer = heed__tokenizers_digest(t->net.tokenizer, t->net.source);
    if (heed__ctx_edited(t->c)) s->tokenizer_digest = tokenizer;
    return check_data(t) &&
           same(t, "tokenizer", s->tokenizer_digest, tokenizer,
                "restore the tokenizer's files in the run directory, or resume with `edited` if "
                "they were edited on purpose") &&
           (!t->net.labels || check_labels(t)) &&
           same(t, "seed", s->seed, heed_seed(t->c), "resume without `seed`");
}

/* A run that died before its first checkpoint has only settings, and starts again. */
static bool read_checkpoint(heed_training *t) {
    const char *run = t->a.run;
    bool found = heed__run_has(run, "last/state.json"), ok = true;
    if (!heed__run_has(run, "config.conf"))
        ok = heed__run_refuse(t->c, run);
    else if (found)
        ok = heed__state_read(t->c, heed__run_path(run, "last/state.json").s, &t->state) &&
             heed__run_compare(t->c, run, t->net.config, &t->changed) && agrees(t);
    else
        ok = heed_run_resumable(t->c, run);
    t->fresh = !found;
    t->before = t->state.seconds;
    return ok;
}

/* Two training runs in one folder would overwrite each other's files. */
static bool lock_run(heed_training *t) {
    long holder = 0;
    char who[40] = "";
    if (t->lock.held) return true;
    if (heed__os_lock(&t->lock, t->lock_path.s, &holder)) {
        heed__os_sweep(t->a.run);
        return heed__run_recover(t->c, t->a.run, t->a.resume);
    }
    if (holder) snprintf(who, sizeof who, " (process %ld)", holder);
    return heed_fail(
        t->c, HEED_FAILED,
        "another training run is active in %s%s; hint: wait until it ends, or stop it first",
        t->a.run, who);
}

static bool may_replace(const heed_training *t) {
    return heed__run_check_outside(t->c, t->a.run, t->net.config, t->a.keep != NULL);
}

/* A folder that does not exist yet is locked when it is created. */
static bool open_run(heed_training *t) {
    const heed_train_args *a = &t->a;
    begin_state(t);
    if (!a->run) return true;
    t->lock_path = heed__run_path(a->run, ".lock");
    if (!a->resume && !(heed_run_path_is_free(t->c, a->run, a->force) && may_replace(t)))
        return false;
    if (heed__os_is_dir(a->run) && !lock_run(t)) return false;
    return !a->resume || (heed__checkpoint_recover(t->c, a->run) && read_checkpoint(t));
}

static void note_finished(heed_training *t) {
    char n1[32], n2[32];
    int64_t step = t->state.step;
    heed_format_count(n1, (uint64_t)step);
    heed_format_count(n2, (uint64_t)t->steps);
    if (step > t->steps)
        heed__note(t,
                   "the run is at step %s, beyond the %s asked for: nothing is trained; hint: a "
                   "larger `steps`",
                   n1, n2);
    else if (step == t->steps)
        heed__note(t,
                   "the run is finished at step %s: nothing is left to do; hint: `steps = "
                   "%" PRId64 "` continues it; `lr` beside it starts a new schedule",
                   n1, 2 * step);
    else
        heed__note(t,
                   "the run is finished: it was stopped early at step %s of %s by `patience = "
                   "%" PRId64 "`; hint: `patience = 0` continues to the end",
                   n1, n2, t->set.patience);
}

static void note_changes(heed_training *t) {
    const heed__state *s = &t->state;
    char step[32], steps[32], was[32];
    heed_format_count(step, (uint64_t)s->step);
    heed_format_count(steps, (uint64_t)t->steps);
    if (s->step > 0 && t->schedule_from == s->step)
        heed__note(t,
                   "the schedule of the learning rate starts anew at step %s: warm-up to %g, then "
                   "the schedule to step %s",
                   step, (double)t->set.optim.lr, steps);
    else if (s->steps != t->steps)
        heed__note(t,
                   "steps are now %s, not %s: the learning rate follows the new schedule from step "
                   "%s on",
                   steps, heed_format_count(was, (uint64_t)s->steps), step);
    if (strcmp(s->isa, heed_isa(t->c)) != 0)
        heed__note(t,
                   "warning: the checkpoint was made with %s, this is %s: the results will agree "
                   "to rounding, not bit by bit; hint: `isa = %s`",
                   s->isa, heed_isa(t->c), s->isa);
    if (strcmp(s->version, HEED_VERSION) != 0)
        heed__note(t, "the checkpoint was made by heed %s, this is %s", s->version, HEED_VERSION);
}

static void note_start(heed_training *t) {
    heed__lora_warn(t);
    if (t->set.freeze_steps >= t->steps)
        heed__note(t,
                   "warning: `freeze-steps = %" PRId64 "` is not below the %" PRId64
                   " steps: what `freeze` matches is never trained; hint: `freeze-steps = "
                   "%" PRId64 "`",
                   t->set.freeze_steps, t->steps, t->steps / 2);
    int64_t steps = t->steps - t->schedule_from;
    if (t->set.warmup > (double)steps &&
        heed_config_rank(t->net.config, "warmup") > HEED_FROM_PRESET)
        heed__note(t,
                   "warning: `warmup = %.10g` is longer than the %" PRId64
                   " steps of the schedule: the learning rate only rises; hint: `warmup = 0.1`",
                   t->set.warmup, steps);
    if (t->evals != t->all_evals)
        heed__note(t,
                   "an evaluation uses %" PRIu64 " of the %" PRIu64
                   " validation batches, the same random ones each time; hint: `eval-batches = 0` "
                   "uses all",
                   t->evals, t->all_evals);
}

static bool resume_run(heed_training *t) {
    t->saved_step = t->state.step;
    if (!heed__checkpoint_load(t) ||
        !heed__journal_open(&t->journal, t->c, t->a.run, t->state.row_step))
        return false;
    note_changes(t);
    return heed__write_config(t);
}

/* Makes the folder ready for writing: it exists and is locked, no run has been created there
 * meanwhile, and a run to be replaced is in backup. */
static bool claim_run(heed_training *t) {
    const heed_train_args *a = &t->a;
    return heed__os_make_dir(t->c, a->run) && lock_run(t) &&
           (a->resume || heed_run_path_is_free(t->c, a->run, a->force)) && may_replace(t) &&
           (a->resume || heed__run_backup(t->c, a->run));
}

/* A new run is created with its first checkpoint or not at all; a checkpoint records the settings
 * of config.conf. */
static bool begin(heed_training *t) {
    heed__state *s = &t->state;
    const char *run = t->a.run;
    bool made = run && !heed__os_exists(run);
    bool claimed = run && (!t->fresh || claim_run(t));
    bool ok = !run || claimed;
    if (claimed && t->fresh)
        ok = heed__run_make(&t->net, run, t->a.keep) && heed__write_config(t) &&
             heed__journal_open(&t->journal, t->c, run, 0);
    else if (claimed)
        ok = resume_run(t);
    if (t->group.k) ok = heed__join_weights(t);
    snprintf(s->version, sizeof s->version, "%s", HEED_VERSION);
    snprintf(s->isa, sizeof s->isa, "%s", heed_isa(t->c));
    t->start = t->clock.mark = heed__os_seconds();
    t->clock.planned = t->before;
    t->make_passes = t->group.k ? heed__group_passes : heed__passes_make;
    t->plan_again = t->clock.budget > 0 ? heed__length_again : NULL;
    if (ok) heed__report(t, heed__report_of(t, HEED_FIT_START));
    if (ok && t->from) heed__journal_start(&t->journal, &t->begun);
    if (ok) note_start(t);
    if (ok && t->evals && heed__start_is_whole(t))
        ok = heed__evaluation_make(t);
    else if (ok && (t->fresh || t->changed))
        ok = heed__save(t, t->fresh);
    ok = ok && !heed__stopped(t->c);
    if (!ok && claimed && !t->a.resume) {
        heed__run_abandon(t->c, run);
        if (made) heed__os_unlock_folder(&t->lock, run, t->lock_path.s);
    }
    return ok && (!run || !t->fresh || heed__run_commit(t->c, run));
}

/* ---- all of it ---- */

/* False on error, or if nothing is to do. */
static bool prepare(heed_training *t) {
    t->start = heed__os_seconds();
    t->net.tape = heed_tape_new(t->c);
    if (read_settings(t)) open_run(t);
    if (!heed__join_state(t)) return false;
    bool ok = heed__start_find(t);
    t->memory.before = heed_memory_resident();
    ok = ok && check_memory(t) && build(t, NULL) && count_batches(t) && heed__length_by_data(t);
    if (ok && !t->fresh && t->steps && (t->state.step > t->steps || heed__finished(t))) {
        note_finished(t);
        return false;
    }
    ok = heed__join_read(t) && ok;
    if (ok && try_model(t)) heed__join_share(t);
    if (!heed__join_plans(t)) return false;
    return begin(t);
}

/* Frees only its own memory: the context owns what it refers to, and may free it earlier. */
static void release(heed__owned *owned) {
    heed_training *t = (heed_training *)(void *)owned;
    heed__journal_close(&t->journal);
    heed__group_free(&t->group);
    heed__gradients_free(&t->gradients);
    heed__free(t->passes);
    if (!t->in_place) heed__free(t->net.self);
    heed__transfer_close(&t->begun);
    if (t->lock.held) heed__os_unlock(&t->lock, t->lock_path.s);
    heed__free(t);
}

void heed_train_free(heed_training *t) {
    if (!t) return;
    heed__group_leave(t);
    heed_tape_free(t->net.tape);
    unbuild(t);
    heed_run_close(t->own_from);
    heed_data_close(t->own_data);
    heed_config_free(t->own_config);
    heed__release(t->c, &t->owned);
}

/* In error, it knows how far the run is; NULL: not even that. */
static heed_training *open_training(heed_ctx *c, const heed_train_args *a) {
    heed_train_args own = a ? *a : (heed_train_args){0};
    if (own.net) {
        own.model = own.net->model;
        if (!own.config) own.config = own.net->config;
    }
    if (heed__stopped(c) || !is_complete(c, &own) || !seed_fits(c)) return NULL;
    heed_training *t = heed__alloc(c, sizeof *t);
    if (!t) return NULL;
    t->c = c;
    t->a = own;
    t->net = (heed_run){.c = c, .dir = own.run ? own.run : "", .model = own.model};
    t->net.config = own.config;
    t->group.k = own.cluster && own.cluster->ranks > 1 ? own.cluster : NULL;
    t->saved_step = -1;
    t->state.loss = t->state.val_loss = t->state.metric = t->loss = NAN;
    t->state.best_loss = t->state.best_metric = t->first[0] = t->first[1] = NAN;
    heed__own(c, &t->owned, release);
    bool open = open_data(t);
    if (heed__helps(t)) { /* the first one keeps the run, reports and decides */
        t->a.run = NULL;
        t->a.report = NULL;
        t->a.stop = NULL;
    }
    t->done = !(open && prepare(t));
    t->left = heed__os_seconds();
    return t;
}

heed_training *heed_train_new(heed_ctx *c, const heed_train_args *a) {
    heed_training *t = open_training(c, a);
    if (!t || !heed__stopped(c)) return t;
    heed_train_free(t);
    return NULL;
}

heed_fit_result heed_train(heed_ctx *c, const heed_train_args *a) {
    heed_training *t = open_training(c, a);
    while (heed_train_step(t)) {}
    heed_fit_result r = heed_train_result(t);
    heed_train_free(t);
    return r;
}
