/* settings.c -- the settings of a training: those that every one shares, from their table to what
 * the loop reads; those of a model, its presets, and what it chooses by the data; what a model
 * inherits from its kind of data. */
#include "core/core.h"
#include "core/os.h"
#include "core/params.h"
#include "fit/fit.h"
#include "io/io.h"
#include "optim/optim.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LENGTH "Length of the training"
#define OPTIM  "Optimizer"
#define LORA   "Adapters"
#define EVAL   "Evaluation and checkpoints"
#define SPEED  "Speed and memory"

const heed_option heed_fit_options[] = {
    HEED_ROW(heed__settings, steps, "steps", "1000", .min = 1, .max = 1e12,
             .help = "updates of the weights", .group = LENGTH),
    HEED_ROW(heed__settings, epochs, "epochs", "0", .max = 1e9,
             .help = "instead of steps: passes over the training data; 0: off"),
    HEED_ROW(heed__settings, minutes, "minutes", "0", .max = 1e6,
             .help = "instead of steps: the time from the first step to the end, evaluations "
                     "included; 0: off"),
    {.name = "timed",
     .kind = HEED_OPTION_REAL,
     .value = "0",
     .max = 1e6,
     .help = "recorded in config.conf: the minutes that its steps took; 0: the length was not "
             "given in minutes"},
    {.name = "plan",
     .kind = HEED_OPTION_STRING,
     .value = "",
     .help = "recorded in config.conf: the remaining steps as planned by the clock, STEP:LEFT, "
             "which the learning rate follows; STEP+LEFT where the training was extended"},
    HEED_ROW(heed__settings, rows, "batch", "32", .min = 1, .max = 1 << 20,
             .help = "examples in a batch"),
    HEED_ROW(heed__settings, accumulate, "accumulate", "1", .min = 1, .max = 1 << 20,
             .help = "batches for each update; their loss is that of one large batch"),
    {.name = "seed",
     .kind = HEED_OPTION_INT,
     .value = "1",
     .max = 9007199254740992.0,
     .help = "seed of initial weights, dropout and batches"},
    HEED_ROW(heed__settings, precision, "precision", "fp32", .choices = "fp32|bf16",
             .help = "of training; bf16: products in linear layers, attention and matmul, except "
                     "small ones, have rounded operands; all else remains fp32, and so does every "
                     "use of the trained model; requires AVX512-BF16; on Intel's CPUs, where bf16 "
                     "is slower, training computes in fp32"),
    HEED_ROW(heed__settings, optimizer, "optimizer", "adamw", .choices = heed__optimizer_names,
             .help = "how gradients change the weights; gd: gradient descent, every update sees "
                     "the whole training data",
             .group = OPTIM),
    {.name = "lr",
     .kind = HEED_OPTION_REAL,
     .value = "0.001",
     .min = 1e-12,
     .max = 1e6,
     .help = "peak learning rate"},
    HEED_ROW(heed__settings, lr_min, "lr-min", "0", .max = 1e6,
             .help = "learning rate at the end of cosine and linear"),
    HEED_ROW(heed__settings, falls, "schedule", "cosine",
             .choices = "constant|cosine|linear|invsqrt|step",
             .help = "how the learning rate falls after warm-up"),
    HEED_ROW(heed__settings, warmup, "warmup", "0.05", .max = 1e12,
             .help = "steps over which the learning rate rises; below 1: share of all steps"),
    {.name = "schedule-from",
     .kind = HEED_OPTION_INT,
     .value = "0",
     .max = 1e12,
     .help = "recorded in config.conf: the step at which a resume with `steps` and `lr` started "
             "the schedule anew"},
    HEED_ROW(heed__settings, step_every, "step-every", "0", .max = 1e12,
             .help = "schedule step: steps between falls; 0: a third of all steps"),
    HEED_ROW(heed__settings, step_gamma, "step-gamma", "0.1", .max = 1,
             .help = "schedule step: factor of a fall"),
    {.name = "decay",
     .kind = HEED_OPTION_REAL,
     .value = "0.01",
     .max = 1e6,
     .help = "weight decay, of matrices only: not of biases, norms and other vectors"},
    HEED_ROW(heed__settings, clip, "clip", "1", .max = 1e12,
             .help = "maximum norm of the gradient of all parameters; 0: no clipping"),
    {.name = "momentum",
     .kind = HEED_OPTION_REAL,
     .value = "0.9",
     .max = 0.999999,
     .help = "of momentum and nesterov"},
    {.name = "muon-momentum",
     .kind = HEED_OPTION_REAL,
     .value = "0.95",
     .max = 0.999999,
     .help = "of muon: momentum of matrices between hidden units; all else is as with adamw"},
    {.name = "muon-iterations",
     .kind = HEED_OPTION_REAL,
     .value = "3",
     .min = 1,
     .max = 20,
     .help = "of muon: iterations that move singular values towards 1"},
    {.name = "alpha",
     .kind = HEED_OPTION_REAL,
     .value = "0.99",
     .min = 1e-6,
     .max = 0.999999,
     .help = "of rmsprop: averaging of squares"},
    {.name = "beta1",
     .kind = HEED_OPTION_REAL,
     .value = "0.9",
     .max = 0.999999,
     .help = "of adam, adamw, muon and lion: averaging of gradients"},
    {.name = "beta2",
     .kind = HEED_OPTION_REAL,
     .value = "0.99",
     .min = 1e-6,
     .max = 0.9999999,
     .help = "of adam, adamw and muon: averaging of squares; of lion: of gradients"},
    {.name = "eps",
     .kind = HEED_OPTION_REAL,
     .value = "1e-8",
     .min = 1e-30,
     .max = 1,
     .help = "of adam, adamw, muon and rmsprop: added to the divisor"},
    HEED_ROW(heed__settings, freeze, "freeze", "",
             .help = "parameters that are not trained: name patterns, comma-separated"),
    HEED_ROW(heed__settings, lr_scale, "lr-scale", "",
             .help = "factors on the learning rate by name: PATTERN=FACTOR, comma-separated"),
    HEED_ROW(heed__settings, freeze_steps, "freeze-steps", "0", .max = 1e12,
             .help = "steps after which the parameters of `freeze` are trained; 0: never"),
    HEED_ROW(heed__settings, lora, "lora", "0", .max = 1 << 20,
             .help = "rank of the adapters that are trained instead of the weights (LoRA); 0: none",
             .group = LORA),
    {.name = "lora-alpha",
     .kind = HEED_OPTION_REAL,
     .value = "0",
     .max = 1e6,
     .help = "W x + alpha / rank B A x; 0: twice the rank"},
    {.name = "lora-targets",
     .kind = HEED_OPTION_STRING,
     .value = "*.q,*.v",
     .help = "weights with an adapter: name patterns, comma-separated; NAME.q, NAME.k, NAME.v: a "
             "part of a projection to queries, keys, values"},
    HEED_ROW(heed__settings, lora_train, "lora-train", "auto",
             .help = "parameters that are trained besides the adapters: name patterns, "
                     "comma-separated, or none; auto: those that the run of `from` lacks, such as "
                     "a head for other classes; without `from`, the head for the classes"),
    HEED_ROW(heed__settings, eval_every, "eval-every", "0", .max = 1e12,
             .help = "steps between evaluations, the last of which is at the end; 0: as many as "
                     "`evals` says",
             .group = EVAL),
    HEED_ROW(heed__settings, evals, "evals", "10", .min = 1, .max = 1e6,
             .help = "evaluations in the run, if `eval-every` is 0"),
    HEED_ROW(heed__settings, eval_batches, "eval-batches", "200", .max = 1e12,
             .help = "maximum number of validation batches in an evaluation; 0: all"),
    HEED_ROW(heed__settings, save_every, "save-every", "0", .max = 1e12,
             .help = "steps between checkpoints besides those at evaluations; 0: none"),
    HEED_ROW(
        heed__settings, log_every, "log-every", "0", .max = 1e12,
        .help = "steps between rows of the training loss in metrics.csv; 0: a hundred rows in all"),
    HEED_ROW(heed__settings, best, "best", "loss", .choices = "loss|accuracy",
             .help = "measure on the validation part that selects the best weights"),
    HEED_ROW(heed__settings, patience, "patience", "0", .max = 1e9,
             .help = "stop after this many evaluations without a better one; 0: never"),
    {.name = "all-rows",
     .kind = HEED_OPTION_BOOL,
     .value = "false",
     .help = "compute the last block for all positions, even if the loss reads only some of them "
             "(masked tokens, [CLS]): slower, and the same up to rounding",
     .group = SPEED},
    {.name = "recompute",
     .kind = HEED_OPTION_BOOL,
     .value = "false",
     .help = "keep only the inputs of transformer blocks, and compute the blocks again in the "
             "backward pass: the same bits in less memory, in up to a third more time"},
    HEED_WHEN("lora-alpha lora-targets lora-train", "lora!=0"),
    HEED_WHEN("freeze-steps", "freeze!="),
    HEED_WHEN("step-every step-gamma", "schedule=step"),
    HEED_WHEN("lr-min", "schedule=cosine|linear"),
    HEED_WHEN("accumulate", "optimizer!=gd"),
    HEED_WHEN("evals", "eval-every=0"),
    {0}};

const heed_option heed_train_options[] = {
    {"task", HEED_OPTION_STRING, "", 0, 0, NULL, "the model; given as the first argument", "Run"},
    {"data", HEED_OPTION_STRING, "", 0, 0, NULL, "what to train on; given as the second argument",
     "Run"},
    {"from", HEED_OPTION_STRING, "", 0, 0, NULL,
     "start from the best weights of this run; settings of the model that are not given, and the "
     "tokenizer, are then the run's",
     "Run"},
    {"from-digest", HEED_OPTION_STRING, "", 0, 0, NULL,
     "recorded in config.conf: a digest of those weights", "Run"},
    {0}};

heed_config *heed_train_config(heed_ctx *c, const heed_model *m) {
    if (heed__stopped(c) || !m) return NULL;
    const heed_option *tables[] = {heed_train_options, heed_model_data(m)->options, NULL};
    return heed_model_config(c, m, tables);
}

/* ---- length ---- */

/* Of steps, epochs and minutes, the one with the highest rank applies (default, preset, file,
 * flag); in a file, which may list all three, minutes precede epochs, and epochs precede steps. */
static bool read_length(heed_ctx *c, const heed_config *f, heed__settings *s) {
    static const char *const keys[] = {"minutes", "epochs", "steps"};
    double value[] = {s->minutes, s->epochs, (double)s->steps};
    int best = -1;
    for (int i = 0; i < 3; i++) {
        if (value[i] <= 0) continue;
        heed_rank rank = heed_config_rank(f, keys[i]);
        if (best >= 0 && rank == HEED_FROM_FLAG && heed_config_rank(f, keys[best]) == rank)
            return heed_fail(c, HEED_USAGE,
                             "two lengths of the training: `%s` and `%s`: expected one of them",
                             keys[best], keys[i]);
        if (best < 0 || rank > heed_config_rank(f, keys[best])) best = i;
    }
    if (best != 0) s->minutes = 0;
    if (best != 1) s->epochs = 0;
    if (best != 2) s->steps = 0;
    return true;
}

bool heed__settings_number(heed_config *f, const char *key, int64_t value, const char *where) {
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)value);
    return !heed_config_has(f, key) || heed_config_set(f, key, number, where, HEED_FROM_FLAG);
}

int64_t heed__settings_rows(const heed_config *f, const heed_tokenizer *k) {
    int64_t size = heed_vocab_size(k);
    int64_t rows = heed_config_has(f, "vocab-rows") ? heed_config_int(f, "vocab-rows") : 0;
    return rows > size ? rows : size;
}

/* ---- optimizer ---- */

/* A setting that another optimizer uses, but this one does not, must not be given as a flag. */
static bool check_unused(heed_ctx *c, const heed_config *f, heed_optim_args *a) {
    for (const heed_optimizer *const *r = heed_optimizer_table(); *r; r++)
        for (const heed_optim_setting *o = (*r)->settings; o->name; o++)
            if (!heed__optim_setting(a, o->name) && heed_config_rank(f, o->name) == HEED_FROM_FLAG)
                return heed_fail(c, HEED_USAGE,
                                 "setting is not used: `%s`: expected a setting of optimizer %s, "
                                 "found one of %s; hint: `optimizer = %s`",
                                 o->name, a->optimizer->name, (*r)->name, (*r)->name);
    return true;
}

static bool read_optim(heed_ctx *c, const heed_config *f, heed__settings *s) {
    const heed_optimizer *r = heed_optimizer_named(s->optimizer);
    s->optim = heed_optim_defaults(r);
    s->full_batch = r->full_batch;
    for (const heed_optim_setting *o = r->settings; o->name; o++)
        if (heed_config_has(f, o->name))
            *heed__optim_setting(&s->optim, o->name) = (heed_real)heed_config_real(f, o->name);
    return check_unused(c, f, &s->optim);
}

static bool read_schedule(heed_ctx *c, const heed_config *f, heed__settings *s) {
    static const char *const names[] = {"constant", "cosine", "linear", "invsqrt", "step"};
    for (int i = 0; i < 5; i++)
        if (strcmp(s->falls, names[i]) == 0) s->schedule = (heed_schedule_kind)i;
    double lr = heed_config_real(f, "lr");
    bool falls = s->schedule == HEED_SCHEDULE_COSINE || s->schedule == HEED_SCHEDULE_LINEAR;
    if (falls && s->lr_min > lr)
        return heed_fail(
            c, HEED_USAGE,
            "`lr-min` is above `lr`: expected at most %g, found %g; hint: `lr-min = %g`", lr,
            s->lr_min, lr / 10);
    return true;
}

heed_schedule heed__settings_schedule(const heed__settings *s, int64_t steps) {
    double warmup = s->warmup < 1 ? floor(s->warmup * (double)steps) : floor(s->warmup);
    heed_schedule h = {.kind = s->schedule, .steps = steps};
    h.warmup = warmup < (double)steps ? (int64_t)warmup : steps;
    if (h.kind == HEED_SCHEDULE_INVSQRT && h.warmup < 1) h.warmup = 1;
    h.floor = (heed_real)(s->lr_min / (double)s->optim.lr);
    h.every = s->step_every ? s->step_every : (steps + 2) / 3;
    h.gamma = (heed_real)s->step_gamma;
    return h;
}

bool heed__settings_read(heed_ctx *c, const heed_config *f, heed__settings *s) {
    if (!heed__config_bind(f, heed_fit_options, s)) return false;
    s->by_metric = strcmp(s->best, "accuracy") == 0;
    return read_optim(c, f, s) && read_length(c, f, s) && read_schedule(c, f, s) &&
           !heed__stopped(c);
}

/* ---- patterns ---- */

bool heed__next_item(heed_ctx *c, const char **list, char item[HEED__ITEM]) {
    while (**list) {
        const char *at = *list + strspn(*list, " \t,");
        size_t n = strcspn(at, ",");
        *list = at + n;
        while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t')) n--;
        if (n == 0) continue;
        if (n >= HEED__ITEM)
            return heed_fail(c, HEED_USAGE,
                             "pattern is too long: %.40s...: expected under %d bytes, found %zu",
                             at, HEED__ITEM, n);
        memcpy(item, at, n);
        item[n] = 0;
        return true;
    }
    return false;
}

bool heed__no_match(const char *key, const char *pattern, const heed_params *s) {
    const heed_param *first = heed_params_at(s, 0);
    return heed_fail(heed_params_ctx(s), HEED_USAGE,
                     "`%s` matches no parameter: %s: expected a name or a pattern; hint: names are "
                     "like '%s', and '*' stands for any run of characters",
                     key, pattern, first ? first->name : "head.weight");
}

static bool scale_one(heed_params *store, char *item) {
    heed_ctx *c = heed_params_ctx(store);
    char *equals = strrchr(item, '=');
    double factor;
    if (!equals || !heed__number(equals + 1, &factor) || !(factor >= 0 && factor <= 1e6))
        return heed_fail(c, HEED_USAGE,
                         "`lr-scale` is wrong: expected PATTERN=FACTOR, found %s; hint: `lr-scale "
                         "= 'head.*=0.1'`",
                         item);
    *equals = 0;
    return heed_set_lr_scale(store, item, (heed_real)factor) > 0 ||
           heed__no_match("lr-scale", item, store);
}

bool heed__settings_apply(const heed__settings *s, heed_params *store) {
    char item[HEED__ITEM];
    heed_ctx *c = heed_params_ctx(store);
    if (s->lora && !heed__lora_freeze(store, s->lora_train)) return false;
    for (const char *at = s->freeze; heed__next_item(c, &at, item);)
        if ((s->freeze_steps ? heed__freeze_for(store, item, s->freeze_steps)
                             : heed_freeze(store, item)) == 0)
            return heed__no_match("freeze", item, store);
    for (const char *at = s->lr_scale; heed__next_item(c, &at, item);)
        if (!scale_one(store, item)) return false;
    if (heed__stopped(c)) return false;
    int trained = 0, count = heed_params_count(store);
    for (int i = 0; i < count; i++) trained += heed_params_at(store, i)->trained;
    return trained > 0 || !*s->freeze ||
           heed_fail(c, HEED_USAGE,
                     "`freeze` leaves nothing to train: %s: expected some parameters that it does "
                     "not match; hint: `info RUN` lists a run's parameters",
                     s->freeze);
}

/* ---- a model ---- */

bool heed__model_usable(const heed_model *m) { return m->name && m->init && m->loss; }

const heed_data_kind *heed_model_data(const heed_model *m) {
    return m && m->data ? m->data : &heed_own_numbers;
}

bool heed_model_init(const heed_model *m, void *self, heed_params *s, const heed_config *f) {
    heed_ctx *c = heed_params_ctx(s);
    if (!m || !m->init || !self || !f || heed__stopped(c)) return false;
    void *set = m->set ? heed__alloc(c, m->set) : NULL;
    bool ok = !m->set || (set && heed__config_bind(f, m->options, set));
    if (ok && !m->init(self, s, m->set ? set : (const void *)f))
        ok = heed_fail(c, HEED_USAGE, "model %s refuses its settings", m->name);
    heed__free(set);
    return ok && heed__lora_attach(s, f);
}

bool heed_model_batch(const heed_model *m, void *self, const heed_data *data, heed_batch_at at,
                      heed_batch *out) {
    const heed_data_kind *k = heed_model_data(m);
    if (!m || !out) return false;
    if (m->batch) return m->batch(self, data, at, out);
    return data && k->batch && k->batch(data, at, out);
}

uint64_t heed_model_eval_batches(const heed_model *m, void *self, const heed_data *data, int rows) {
    const heed_data_kind *k = heed_model_data(m);
    if (m && m->eval_batches) return m->eval_batches(self, data, rows);
    return m && data && k->eval_batches ? k->eval_batches(data, rows) : 0;
}

uint64_t heed__model_epoch_batches(const heed_model *m, void *self, const heed_data *data,
                                   int rows) {
    const heed_data_kind *k = heed_model_data(m);
    if (!m) return 0;
    if (m->epoch_batches) return m->epoch_batches(self, data, rows);
    return data && k->epoch_batches ? k->epoch_batches(data, rows) : 1;
}

heed_config *heed_model_config(heed_ctx *c, const heed_model *m, const heed_option *const *tables) {
    enum { MOST = 16 };
    const heed_option *all[MOST] = {0};
    int n = 0;
    if (!m) return NULL;
    for (; tables && *tables && n < MOST - 3; tables++) all[n++] = *tables;
    if (tables && *tables) {
        heed_fail(c, HEED_USAGE, "too many tables of settings: expected at most %d", MOST - 3);
        return NULL;
    }
    if (m->options) all[n++] = m->options;
    all[n] = heed_fit_options;
    heed_config *f = heed_config_new(c, all);
    if (heed_config_set_list(f, m->defaults, m->name, HEED_FROM_DEFAULT)) return f;
    heed_config_free(f);
    return NULL;
}

bool heed_preset_apply(heed_ctx *c, heed_config *f, const heed_model *m, const char *name) {
    if (heed__stopped(c) || !f || !m || !name) return false;
    char where[64];
    const heed_preset *p = m->presets;
    while (p && p->name && strcmp(p->name, name) != 0) p++;
    if (p && p->name) {
        snprintf(where, sizeof where, "`preset = %s`", name);
        return heed_config_set_list(f, p->settings, where, HEED_FROM_PRESET);
    }
    heed_text list = {.c = c};
    for (p = m->presets; p && p->name; p++)
        heed_text_add(&list, "%s%s", list.n ? ", " : "one of ", p->name);
    heed_fail(c, HEED_USAGE, "preset is unknown: `preset`: expected %s, found %s",
              list.n ? list.s : "none, as the model has no presets", name);
    heed_text_free(&list);
    return false;
}

/* ---- choices by the data ---- */

/* Sets `key`, unless it was given or the settings lack it, and adds "key = value" to what. */
static bool choose_one(const heed_choices *k, const char *key, const char *value,
                       heed_choice *out) {
    heed_config *f = k->config;
    if (k->only && !heed_option_find(k->only, key)) return true;
    if (!heed_config_has(f, key) || heed_config_rank(f, key) != HEED_FROM_DEFAULT) return true;
    bool other = strcmp(heed_config_text(f, key), value) != 0;
    size_t n = strlen(out->what);
    if (!heed_config_set(f, key, value, "settings chosen from the data", HEED_FROM_PRESET))
        return false;
    if (other)
        snprintf(out->what + n, sizeof out->what - n, "%s%s %s", n ? ", " : "", key,
                 heed_config_text(f, key));
    return true;
}

bool heed_choose(heed_choices *k, const char *settings, const char *why, ...) {
    heed_choice one = {.what = ""};
    char key[64], value[64];
    int n = 0;
    bool ok = true;
    if (!k || !settings || !why) return false;
    for (const char *at = settings; ok && sscanf(at, " %63[^= ]=%63[^ ]%n", key, value, &n) == 2;
         at += n)
        ok = choose_one(k, key, value, &one);
    va_list list;
    va_start(list, why);
    vsnprintf(one.why, sizeof one.why, why, list);
    va_end(list);
    if (ok && *one.what && k->count < HEED_CHOICES) k->list[k->count++] = one;
    return ok;
}

/* Without open data there is something to look at only in a regular file. */
bool heed__model_choose(const heed_model *m, heed_config *f, const heed_data *d,
                        heed_choices *out) {
    heed_choices own = {.count = 0}, *k = out ? out : &own;
    if (!m || !f) return false;
    bool from = heed_config_has(f, "from") && *heed_config_text(f, "from");
    k->config = f;
    k->data = d;
    if (d && *d->found.what && k->count < HEED_CHOICES) k->list[k->count++] = d->found;
    if (!m->choose || (!d && !heed__os_is_file(heed_config_text(f, "data")))) return true;
    k->only = from ? heed_model_data(m)->options : NULL;
    return m->choose(k);
}
