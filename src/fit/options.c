/* options.c -- the settings that every training run shares, from their table to what the loop
 * reads. */
#include "core/core.h"
#include "fit/fit.h"
#include "io/io.h"
#include "optim/optim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENGTH "Length of the training"
#define OPTIM  "Optimizer"
#define LORA   "Adapters"
#define EVAL   "Evaluation and checkpoints"
#define SPEED  "Speed and memory"

const heed_option heed_fit_options[] = {
    {"steps", HEED_INT, "1000", 1, 1e12, NULL, "updates of the weights", LENGTH},
    {"epochs", HEED_REAL, "0", 0, 1e9, NULL,
     "instead of steps: passes over the training data; 0: off", LENGTH},
    {"minutes", HEED_REAL, "0", 0, 1e6, NULL,
     "instead of steps: the time from the first step to the end, evaluations included; 0: off",
     LENGTH},
    {"timed", HEED_REAL, "0", 0, 1e6, NULL,
     "recorded in config.conf: the minutes that its steps took; 0: the length was not given in "
     "minutes",
     LENGTH},
    {"plan", HEED_TEXT, "", 0, 0, NULL,
     "recorded in config.conf: the remaining steps as planned by the clock, STEP:LEFT, which the "
     "learning rate follows; STEP+LEFT where the training was extended",
     LENGTH},
    {"batch", HEED_INT, "32", 1, 1 << 20, NULL, "examples in a batch", LENGTH},
    {"accumulate", HEED_INT, "1", 1, 1 << 20, NULL,
     "batches for each update; their loss is that of one large batch", LENGTH},
    {"seed", HEED_INT, "1", 0, 9007199254740992.0, NULL, /* 2^53 */
     "seed of initial weights, dropout and batches", LENGTH},
    {"precision", HEED_TEXT, "fp32", 0, 0, "fp32|bf16",
     "of training; bf16: products in linear layers, attention and matmul, except small ones, have "
     "rounded operands; all else remains fp32, and so does every use of the trained model; "
     "requires AVX512-BF16; on Intel's CPUs, where bf16 is slower, training computes in fp32",
     LENGTH},
    {"optimizer", HEED_TEXT, "adamw", 0, 0, heed__optimizer_names,
     "how gradients change the weights; gd: gradient descent, every update sees the whole training "
     "data",
     OPTIM},
    {"lr", HEED_REAL, "0.001", 1e-12, 1e6, NULL, "peak learning rate", OPTIM},
    {"lr-min", HEED_REAL, "0", 0, 1e6, NULL, "learning rate at the end of cosine and linear",
     OPTIM},
    {"schedule", HEED_TEXT, "cosine", 0, 0, "constant|cosine|linear|invsqrt|step",
     "how the learning rate falls after warm-up", OPTIM},
    {"warmup", HEED_REAL, "0.05", 0, 1e12, NULL,
     "steps over which the learning rate rises; below 1: share of all steps", OPTIM},
    {"schedule-from", HEED_INT, "0", 0, 1e12, NULL,
     "recorded in config.conf: the step at which a resume with `steps` and `lr` started the "
     "schedule anew",
     OPTIM},
    {"step-every", HEED_INT, "0", 0, 1e12, NULL,
     "schedule step: steps between falls; 0: a third of all steps", OPTIM},
    {"step-gamma", HEED_REAL, "0.1", 0, 1, NULL, "schedule step: factor of a fall", OPTIM},
    {"decay", HEED_REAL, "0.01", 0, 1e6, NULL,
     "weight decay, of matrices only: not of biases, norms and other vectors", OPTIM},
    {"clip", HEED_REAL, "1", 0, 1e12, NULL,
     "maximum norm of the gradient of all parameters; 0: no clipping", OPTIM},
    {"momentum", HEED_REAL, "0.9", 0, 0.999999, NULL, "of momentum and nesterov", OPTIM},
    {"alpha", HEED_REAL, "0.99", 1e-6, 0.999999, NULL, "of rmsprop: averaging of squares", OPTIM},
    {"beta1", HEED_REAL, "0.9", 0, 0.999999, NULL,
     "of adam, adamw and lion: averaging of gradients", OPTIM},
    {"beta2", HEED_REAL, "0.99", 1e-6, 0.9999999, NULL,
     "of adam and adamw: averaging of squares; of lion: of gradients", OPTIM},
    {"eps", HEED_REAL, "1e-8", 1e-30, 1, NULL, "of adam, adamw and rmsprop: added to the divisor",
     OPTIM},
    {"freeze", HEED_TEXT, "", 0, 0, NULL,
     "parameters that are not trained: name patterns, comma-separated", OPTIM},
    {"lr-scale", HEED_TEXT, "", 0, 0, NULL,
     "factors on the learning rate by name: PATTERN=FACTOR, comma-separated", OPTIM},
    {"freeze-steps", HEED_INT, "0", 0, 1e12, NULL,
     "steps after which the parameters of `freeze` are trained; 0: never", OPTIM},
    {"lora", HEED_INT, "0", 0, 1 << 20, NULL,
     "rank of the adapters that are trained instead of the weights (LoRA); 0: none", LORA},
    {"lora-alpha", HEED_REAL, "0", 0, 1e6, NULL, "W x + alpha / rank B A x; 0: twice the rank",
     LORA},
    {"lora-targets", HEED_TEXT, "*.q,*.v", 0, 0, NULL,
     "weights with an adapter: name patterns, comma-separated; NAME.q, NAME.k, NAME.v: a part of a "
     "projection to queries, keys, values",
     LORA},
    {"lora-train", HEED_TEXT, "auto", 0, 0, NULL,
     "parameters that are trained besides the adapters: name patterns, comma-separated, or none; "
     "auto: those that the run of `from` lacks, such as a head for other classes; without `from`, "
     "the head for the classes",
     LORA},
    {"eval-every", HEED_INT, "0", 0, 1e12, NULL,
     "steps between evaluations, the last of which is at the end; 0: as many as `evals` says",
     EVAL},
    {"evals", HEED_INT, "10", 1, 1e6, NULL, "evaluations in the run, if `eval-every` is 0", EVAL},
    {"eval-batches", HEED_INT, "200", 0, 1e12, NULL,
     "maximum number of validation batches in an evaluation; 0: all", EVAL},
    {"save-every", HEED_INT, "0", 0, 1e12, NULL,
     "steps between checkpoints besides those at evaluations; 0: none", EVAL},
    {"log-every", HEED_INT, "0", 0, 1e12, NULL,
     "steps between rows of the training loss in metrics.csv; 0: a hundred rows in all", EVAL},
    {"best", HEED_TEXT, "loss", 0, 0, "loss|accuracy",
     "measure on the validation part that selects the best weights", EVAL},
    {"patience", HEED_INT, "0", 0, 1e9, NULL,
     "stop after this many evaluations without a better one; 0: never", EVAL},
    {"all-rows", HEED_BOOL, "false", 0, 0, NULL,
     "compute the last block for all positions, even if the loss reads only some of them (masked "
     "tokens, [CLS]): slower, and the same up to rounding",
     SPEED},
    {"recompute", HEED_BOOL, "false", 0, 0, NULL,
     "keep only the inputs of transformer blocks, and compute the blocks again in the backward "
     "pass: the same bits in less memory, in up to a third more time",
     SPEED},
    HEED_WHEN("lora-alpha lora-targets lora-train", "lora!=0"),
    HEED_WHEN("freeze-steps", "freeze!="),
    HEED_WHEN("step-every step-gamma", "schedule=step"),
    HEED_WHEN("lr-min", "schedule=cosine|linear"),
    HEED_WHEN("accumulate", "optimizer!=gd"),
    HEED_WHEN("evals", "eval-every=0"),
    {0}};

/* ---- length ---- */

/* Of steps, epochs and minutes, the one with the highest rank applies (default, preset, file,
 * flag); in a file, which may list all three, minutes precede epochs, and epochs precede steps. */
static bool read_length(heed_ctx *c, const heed_config *f, heed__settings *s) {
    static const char *const keys[] = {"minutes", "epochs", "steps"};
    double value[] = {heed_config_real(f, "minutes"), heed_config_real(f, "epochs"),
                      (double)heed_config_int(f, "steps")};
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
    s->minutes = best == 0 ? value[0] : 0;
    s->epochs = best == 1 ? value[1] : 0;
    s->steps = best == 2 ? heed_config_int(f, "steps") : 0;
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
    const heed_optimizer *r = heed_optimizer_named(heed_config_text(f, "optimizer"));
    s->optim = heed_optim_defaults(r);
    s->full_batch = r->full_batch;
    for (const heed_optim_setting *o = r->settings; o->name; o++)
        if (heed_config_has(f, o->name))
            *heed__optim_setting(&s->optim, o->name) = (heed_real)heed_config_real(f, o->name);
    return check_unused(c, f, &s->optim);
}

static bool read_schedule(heed_ctx *c, const heed_config *f, heed__settings *s) {
    static const char *const names[] = {"constant", "cosine", "linear", "invsqrt", "step"};
    const char *name = heed_config_text(f, "schedule");
    for (int i = 0; i < 5; i++)
        if (strcmp(name, names[i]) == 0) s->schedule = (heed_schedule_kind)i;
    s->lr_min = heed_config_real(f, "lr-min");
    s->warmup = heed_config_real(f, "warmup");
    s->step_every = heed_config_int(f, "step-every");
    s->step_gamma = heed_config_real(f, "step-gamma");
    double lr = heed_config_real(f, "lr");
    bool falls = s->schedule == HEED_COSINE || s->schedule == HEED_LINEAR;
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
    if (h.kind == HEED_INVSQRT && h.warmup < 1) h.warmup = 1;
    h.floor = (heed_real)(s->lr_min / (double)s->optim.lr);
    h.every = s->step_every ? s->step_every : (steps + 2) / 3;
    h.gamma = (heed_real)s->step_gamma;
    return h;
}

bool heed__settings_read(heed_ctx *c, const heed_config *f, heed__settings *s) {
    for (const heed_option *o = heed_fit_options; o->name; o++)
        if (!o->when && !heed_config_has(f, o->name))
            return heed_fail(c, HEED_USAGE,
                             "the settings lack %s: expected those of heed_fit_options; hint: name "
                             "that table in heed_config_new",
                             o->name);
    s->rows = (int)heed_config_int(f, "batch");
    s->accumulate = (int)heed_config_int(f, "accumulate");
    s->clip = heed_config_real(f, "clip");
    s->eval_every = heed_config_int(f, "eval-every");
    s->evals = heed_config_int(f, "evals");
    s->eval_batches = heed_config_int(f, "eval-batches");
    s->save_every = heed_config_int(f, "save-every");
    s->log_every = heed_config_int(f, "log-every");
    s->patience = heed_config_int(f, "patience");
    s->by_metric = strcmp(heed_config_text(f, "best"), "accuracy") == 0;
    s->freeze = heed_config_text(f, "freeze");
    s->lr_scale = heed_config_text(f, "lr-scale");
    s->freeze_steps = heed_config_int(f, "freeze-steps");
    s->lora = heed_config_int(f, "lora") > 0;
    s->lora_train = heed_config_text(f, "lora-train");
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

bool heed__no_match(const char *key, const char *pattern, const heed_store *s) {
    const heed_entry *first = heed_store_at(s, 0);
    return heed_fail(heed_store_ctx(s), HEED_USAGE,
                     "`%s` matches no parameter: %s: expected a name or a pattern; hint: names are "
                     "like '%s', and '*' stands for any run of characters",
                     key, pattern, first ? first->name : "head.weight");
}

static bool scale_one(heed_store *store, char *item) {
    heed_ctx *c = heed_store_ctx(store);
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

bool heed__settings_apply(const heed__settings *s, heed_store *store) {
    char item[HEED__ITEM];
    heed_ctx *c = heed_store_ctx(store);
    if (s->lora && !heed__lora_freeze(store, s->lora_train)) return false;
    for (const char *at = s->freeze; heed__next_item(c, &at, item);)
        if ((s->freeze_steps ? heed_freeze_for(store, item, s->freeze_steps)
                             : heed_freeze(store, item)) == 0)
            return heed__no_match("freeze", item, store);
    for (const char *at = s->lr_scale; heed__next_item(c, &at, item);)
        if (!scale_one(store, item)) return false;
    if (heed__stopped(c)) return false;
    int trained = 0, count = heed_store_count(store);
    for (int i = 0; i < count; i++) trained += heed_store_at(store, i)->trained;
    return trained > 0 || !*s->freeze ||
           heed_fail(c, HEED_USAGE,
                     "`freeze` leaves nothing to train: %s: expected some parameters that it does "
                     "not match; hint: `info RUN` lists a run's parameters",
                     s->freeze);
}
