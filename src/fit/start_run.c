/* start_run.c -- the run that training starts from: opening it, and the settings taken from it. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- opening ---- */

/* Training that holds the lock of the run may replace its best weights at any moment. A run that is
 * only read is not locked, and keeps the file that a killed training left: by it, `force` knows a
 * folder without weights as a run. */
static bool is_idle(heed_ctx *c, const char *dir) {
    heed_text path = {.c = c};
    long holder = 0;
    bool idle = heed__run_path(&path, dir, ".lock")[0] && !heed__os_locked(path.s, &holder);
    heed_text_free(&path);
    if (heed__stopped(c)) return false;
    return idle || heed_fail(c, HEED_FAILED,
                             "run to start from is being trained: %s (process %ld); hint: wait "
                             "until that training ends, or stop it first",
                             dir, holder);
}

heed_run *heed_start_open(heed_ctx *c, const char *dir, const heed_model *const *models,
                          const char *out) {
    if (heed__stopped(c) || !dir) return NULL;
    if (out && heed__os_same(dir, out)) {
        heed_fail(
            c, HEED_USAGE,
            "run to start from is the one to be made: %s: expected another folder for the new "
            "run; hint: `resume` with more `steps` continues training",
            dir);
        return NULL;
    }
    if (!is_idle(c, dir)) return NULL;
    heed_run *r = heed_run_open(c, dir, models, NULL);
    if (r && r->step == 0)
        heed_message(c, HEED_WARN,
                     "the weights of %s are of step 0: they have not been trained; hint: `resume "
                     "%s` continues that training",
                     dir, dir);
    return r;
}

/* ---- settings ---- */

/* Sizes that the data of the new run decides. */
static const char *const of_data[] = {"vocab", "source-vocab", "classes", NULL};

/* Whether a value of the run's model is one of this model's. */
static bool accepts(const heed_option *o, const char *value) {
    double v = 0;
    size_t n = strlen(value);
    switch (o->kind) {
    case HEED_INT:
    case HEED_REAL:
        return heed__number(value, &v) &&
               ((o->min == 0 && o->max == 0) || (v >= o->min && v <= o->max));
    case HEED_BOOL:
        return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    case HEED_TEXT:
        for (const char *at = o->choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
            if (strncmp(at, value, n) == 0 && (at[n] == '|' || at[n] == 0)) return true;
        return !o->choices;
    }
    return false;
}

/* Sets key to the value that the run has, unless it was given. */
static bool take(heed_config *f, const char *key, const char *value, heed_text *said) {
    if (heed_config_rank(f, key) != HEED_FROM_DEFAULT) return true;
    if (strcmp(heed_config_text(f, key), value) == 0) return true;
    return heed_config_set(f, key, value, key, HEED_FROM_DEFAULT) &&
           (!said || heed_text_add(said, "%s%s = %s", said->n ? ", " : "", key, value));
}

static bool take_model(heed_config *f, const heed_model *m, const heed_run *run, heed_text *said) {
    for (int i = 0; i < heed_config_count(f); i++) {
        const char *key = heed_config_at(f, i, NULL)->name;
        const heed_option *o = heed_option_find(m->options, key);
        bool fixed = !o || heed_option_find(heed_fit_options, key);
        for (int j = 0; of_data[j]; j++) fixed = fixed || strcmp(of_data[j], key) == 0;
        /* The id of a token, which another tokenizer gives to another one. */
        fixed = fixed || (strcmp(key, "segment-token") == 0 &&
                          heed_config_rank(f, "tokenizer") != HEED_FROM_DEFAULT);
        if (fixed || !heed_option_find(run->model->options, key)) continue;
        const char *value = heed_config_text(run->config, key);
        if (accepts(o, value) && !take(f, key, value, said)) return false;
    }
    return !run->model->chosen || run->model->chosen(run->self, f);
}

/* What a model of masked tokens reads always is a setting elsewhere: [CLS] and [SEP] around a text.
 * The dense layer of its pooler, if it has one, is for the output of [CLS]. */
static bool take_brackets(heed_config *f, const heed_model *m, const heed_run *run,
                          heed_text *said) {
    if (!heed_model_data(run->model)->mask || !heed_option_find(m->options, "bracket")) return true;
    const heed_option *pool = heed_option_find(m->options, "pool");
    bool pooler = pool && accepts(pool, "cls") && heed_option_find(run->model->options, "pooler") &&
                  heed_config_bool(run->config, "pooler");
    return take(f, "bracket", "true", said) && (!pooler || take(f, "pool", "cls", said));
}

/* Pixels are normalised as in the run, if they have as many channels and neither number is given.
 */
static bool take_pixels(heed_config *f, const heed_run *run, heed_text *said) {
    static const char *const keys[] = {"mean", "std"};
    for (int i = 0; i < 2; i++)
        if (!heed_config_has(f, keys[i]) || !heed_config_has(run->config, keys[i]) ||
            heed_config_rank(f, keys[i]) != HEED_FROM_DEFAULT)
            return true;
    if (heed_config_int(f, "channels") != heed_config_int(run->config, "channels")) return true;
    return take(f, "mean", heed_config_text(run->config, "mean"), NULL) &&
           take(f, "std", heed_config_text(run->config, "std"), NULL) &&
           (!said || heed_text_add(said, "%smean and std of its pixels", said->n ? ", " : ""));
}

static bool take_tokenizer(heed_config *f, const heed_run *run) {
    if (!run->tokenizer || !heed_config_has(f, "tokenizer")) return true;
    bool own = heed_config_rank(f, "tokenizer") == HEED_FROM_DEFAULT;
    bool lower = own && heed_config_has(f, "lower") && heed_config_has(run->config, "lower");
    return take(f, "tokenizer", run->dir, NULL) &&
           (!lower || take(f, "lower", heed_config_text(run->config, "lower"), NULL));
}

/* Models of texts have a vocabulary, models of pictures a size of pictures, some have both. */
static bool check_data(heed_ctx *c, const heed_model *m, const heed_run *run) {
    static const char *const keys[] = {"vocab", "image-size"};
    bool any = false;
    for (int i = 0; i < 2; i++) {
        bool has = heed_option_find(m->options, keys[i]) != NULL;
        if (has && heed_option_find(run->model->options, keys[i])) return true;
        any = any || has;
    }
    const heed_data_kind *to = heed_model_data(m);
    const heed_data_kind *from = heed_model_data(run->model);
    return !any || heed_fail(c, HEED_USAGE,
                             "run to start from reads other data: %s: expected a run like those of "
                             "%s, which reads %s, found one of %s, which reads %s",
                             run->dir, m->name, to->noun, run->model->name, from->noun);
}

bool heed_start_settings(heed_config *f, const heed_model *m, const heed_run *run,
                         heed_data_args *how, heed_text *said) {
    if (!f || !m || !run || !how || heed__stopped(run->c)) return false;
    bool ok = check_data(run->c, m, run) &&
              (!heed_config_has(f, "from") ||
               heed_config_set(f, "from", run->dir, "from", HEED_FROM_FLAG)) &&
              take_model(f, m, run, said) && take_brackets(f, m, run, said) &&
              take_pixels(f, run, said) && take_tokenizer(f, run);
    how->extend = ok && run->tokenizer && heed_config_has(f, "tokenizer") &&
                  strcmp(heed_config_text(f, "tokenizer"), run->dir) == 0;
    return ok;
}

/* ---- in training ---- */

bool heed__start_same_classes(const heed_run *run, const char *const *labels, int count) {
    bool same = count == run->label_count;
    for (int i = 0; same && i < count; i++) {
        same = false;
        for (int j = 0; !same && j < count; j++) same = strcmp(labels[i], run->labels[j]) == 0;
    }
    return same;
}

bool heed__start_head(const heed_fit_args *a) {
    heed_config *f = a->config;
    if (!a->from || !heed_config_has(f, "head") ||
        heed_config_rank(f, "head") != HEED_FROM_DEFAULT ||
        heed__start_same_classes(a->from, a->labels, a->label_count))
        return true;
    return heed_config_set(f, "head", heed_config_default(f, "head"), "head", HEED_FROM_DEFAULT);
}

uint64_t heed__start_digest(const heed_store *s) {
    uint64_t h = 0;
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_tensor *t = heed_store_at(s, i)->tensor;
        h = heed__hash64(t->x, t->size * sizeof *t->x, h);
    }
    return h;
}

static bool keep_record(heed__fitting *f) {
    heed_config *g = f->a->config;
    char digest[24];
    snprintf(digest, sizeof digest, "%016" PRIx64, heed__start_digest(f->from->store));
    if (!heed_config_has(g, "from") || !heed_config_has(g, "from-digest")) return true;
    const char *was = heed_config_text(g, "from-digest");
    if (f->a->resume && *was && strcmp(was, digest) != 0)
        return heed_fail(f->c, HEED_DATA,
                         "cannot resume %s: the weights of %s, from which it was to start, have "
                         "changed: expected digest %s, found %s; hint: train again with `force`",
                         f->a->run, f->from->dir, was, digest);
    return heed_config_set(g, "from", f->from->dir, "from", HEED_FROM_FLAG) &&
           heed_config_set(g, "from-digest", digest, "from", HEED_FROM_FLAG);
}

bool heed__start_find(heed__fitting *f) {
    const heed_fit_args *a = f->a;
    const heed_model *const own[] = {a->model, NULL};
    bool named = heed_config_has(a->config, "from") && *heed_config_text(a->config, "from");
    if (!f->fresh) return true;
    if (!a->from && !named)
        return !heed_config_has(a->config, "from-digest") ||
               heed_config_set(a->config, "from-digest", "", "from", HEED_FROM_FLAG);
    if (!a->from)
        f->opened = heed_start_open(f->c, heed_config_text(a->config, "from"),
                                    a->models ? a->models : own, a->run);
    f->from = a->from ? a->from : f->opened;
    return f->from && keep_record(f);
}

bool heed__start_apply(heed__fitting *f) {
    const heed_fit_args *a = f->a;
    if (!f->from) return true;
    heed_start_free(&f->begun);
    return heed_start_take(f->store,
                           &(heed_row_names){.tokenizer = a->tokenizer,
                                             .source = a->source,
                                             .labels = a->labels,
                                             .label_count = a->label_count},
                           f->from, &f->begun);
}

bool heed__start_is_whole(const heed__fitting *f) {
    for (int i = 0; i < f->begun.count; i++) {
        const heed_start_entry *e = &f->begun.entries[i];
        bool taken = e->how <= HEED_START_RESIZED;
        if (e->to && !taken && !heed_store_find(f->store, e->name)->adapter) return false;
    }
    return f->from != NULL;
}
