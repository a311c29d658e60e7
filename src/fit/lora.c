/* lora.c -- low-rank adapters by settings: which weights have one, what is trained besides, and the
 * file of what such a training changes, from which its run can be made again. */
#include "core/core.h"
#include "core/store.h"
#include "fit/fit.h"
#include "io/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const heed__lora_settings[] = {"lora", "lora-alpha", "lora-targets", NULL};

/* A weight that can be adapted: the first trained matrix after the embeddings. */
static const char *matrix_of(const heed_store *s) {
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (e->trained && e->tensor->dims > 1 && !heed_match("embed.*", e->name)) return e->name;
    }
    return "head.weight";
}

/* The default targets exist only in models with projections to queries and values. */
static bool no_target(const heed_config *f, const char *pattern, const heed_store *s) {
    if (strcmp(heed_config_text(f, "lora-targets"), heed_config_default(f, "lora-targets")) != 0)
        return heed__no_match("lora-targets", pattern, s);
    return heed_fail(
        heed_store_ctx(s), HEED_USAGE,
        "`lora` finds nothing to adapt: `lora-targets` %s: expected projections to "
        "queries and values, found none in this model; hint: names of its matrices, such as "
        "`lora-targets = %s`",
        pattern, matrix_of(s));
}

bool heed__lora_complete(heed_config *f) {
    int64_t rank = heed_config_int(f, "lora");
    return rank == 0 || heed_config_real(f, "lora-alpha") > 0 ||
           heed__settings_number(f, "lora-alpha", 2 * rank, "lora");
}

bool heed__lora_attach(heed_store *s, const heed_config *f) {
    char item[HEED__ITEM];
    if (!heed_config_has(f, "lora") || heed_config_int(f, "lora") == 0) return true;
    int rank = (int)heed_config_int(f, "lora");
    double alpha = heed_config_real(f, "lora-alpha");
    if (alpha <= 0) alpha = 2 * rank;
    const char *at = heed_config_text(f, "lora-targets");
    if (!at[strspn(at, " \t,")])
        return heed_fail(heed_store_ctx(s), HEED_USAGE,
                         "`lora-targets` is empty: expected name patterns; hint: '%s'",
                         heed_config_default(f, "lora-targets"));
    while (heed__next_item(heed_store_ctx(s), &at, item)) {
        int n = heed_lora_add(s, item, rank, (heed_real)alpha);
        if (n < 0) return false;
        if (n == 0) return no_target(f, item, s);
    }
    return !heed__stopped(heed_store_ctx(s));
}

int heed__lora_count(const heed_store *s) {
    int n = 0;
    for (int i = 0; i < heed_store_count(s); i++) n += heed_store_at(s, i)->adapter;
    return n / 2; /* A and B */
}

/* How a parameter came from the run that the training starts from. */
static heed_start_how how_of(const heed_training *t, const heed_entry *e) {
    for (int i = 0; i < t->begun.count; i++)
        if (t->begun.entries[i].to == e->tensor) return t->begun.entries[i].how;
    return HEED_START_TAKEN;
}

/* Whether nothing of a parameter comes from that run. Without one, what belongs to the classes is
 * new to the task. */
static bool is_new(const heed_training *t, const heed_entry *e) {
    heed_start_how how = how_of(t, e);
    if (e->adapter || e->state) return false;
    return t->from ? how == HEED_START_NEW || how == HEED_START_UNFIT
                   : e->rows == HEED_ROWS_CLASSES;
}

bool heed__lora_choose(heed_training *t) {
    heed_config *f = t->net.config;
    if (!t->set.lora || strcmp(t->set.lora_train, "auto") != 0) return true;
    heed_text list = {.c = t->c};
    for (int i = 0; i < heed_store_count(t->net.store); i++) {
        const heed_entry *e = heed_store_at(t->net.store, i);
        if (is_new(t, e)) heed_text_add(&list, "%s%s", list.n ? "," : "", e->name);
    }
    bool ok = heed_config_set(f, "lora-train", list.n ? list.s : "none", "lora", HEED_FROM_FLAG);
    t->set.lora_train = heed_config_text(f, "lora-train");
    heed_text_free(&list);
    return ok;
}

void heed__lora_warn(heed_training *t) {
    const heed_entry *kept = NULL, *rows = NULL;
    if (!t->set.lora || !t->fresh) return;
    if (!t->from)
        heed__note(t, "warning: `lora` leaves the weights of the model as they are, which is at "
                      "random without `from`; hint: `from = RUN`");
    for (int i = 0; t->from && i < heed_store_count(t->net.store); i++) {
        const heed_entry *e = heed_store_at(t->net.store, i);
        if (!e->trained && !kept && is_new(t, e)) kept = e;
        if (!e->trained && !rows && how_of(t, e) == HEED_START_MATCHED) rows = e;
    }
    if (kept)
        heed__note(t,
                   "warning: %s is not of %s and is not trained: it stays as it was "
                   "initialised; hint: `lora-train = auto`",
                   kept->name, t->from->dir);
    if (rows)
        heed__note(t,
                   "warning: rows of %s are not of %s and are not trained: they stay as they "
                   "were initialised; hint: `lora-train = %s`",
                   rows->name, t->from->dir, rows->name);
}

static bool matches(const heed_store *s, const char *pattern) {
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (!e->state && heed_match(pattern, e->name)) return true;
    }
    return false;
}

/* Whether the list has a pattern that matches. */
static bool listed(heed_ctx *c, const char *patterns, const char *name) {
    char item[HEED__ITEM];
    while (heed__next_item(c, &patterns, item))
        if (heed_match(item, name)) return true;
    return false;
}

bool heed__lora_freeze(heed_store *s, const char *patterns) {
    char item[HEED__ITEM];
    heed_ctx *c = heed_store_ctx(s);
    for (const char *at = patterns; heed__next_item(c, &at, item);)
        if (strcmp(item, "none") != 0 && !matches(s, item))
            return heed__no_match("lora-train", item, s);
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (!e->adapter && !listed(c, patterns, e->name)) heed_freeze(s, e->name);
    }
    return !heed__stopped(c);
}

/* ---- the file of a training ---- */

/* Whether the training changes an entry, so that it is not one of the base. */
static bool changes(const heed_entry *e) { return e->adapter || e->trained || e->thaw || e->state; }

/* A digest of what a training of s does not change. */
static uint64_t base_digest(const heed_store *s) {
    uint64_t h = 0;
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (changes(e)) continue;
        h = heed__hash64(e->name, strlen(e->name), h);
        h = heed__hash64(e->tensor->x, e->tensor->size * sizeof *e->tensor->x, h);
    }
    return h;
}

bool heed__adapters_save(const heed_training *t, const char *name) {
    const heed_run *net = &t->net;
    heed_text config = {.c = t->c}, classes = {.c = t->c};
    heed_store *s = heed_store_new(t->c); /* a copy of what the training changes */
    const char *value;
    char base[24];
    for (int i = 0; s && i < heed_store_count(net->store); i++) {
        const heed_entry *e = heed_store_at(net->store, i);
        const heed_tensor *x = e->tensor;
        if (!changes(e)) continue;
        heed_tensor *y = heed_state_new(s, e->name, "zero", x->dims, x->shape);
        if (y) memcpy(y->x, x->x, x->size * sizeof *x->x);
    }
    for (int i = 0; i < heed_config_count(net->config); i++) {
        const char *key = heed_config_at(net->config, i, &value)->name;
        heed__list_add(&config, key, value);
    }
    for (int i = 0; i < net->label_count; i++) heed__list_add(&classes, NULL, net->labels[i]);
    snprintf(base, sizeof base, "%016" PRIx64, base_digest(net->store));
    bool ok = s && heed__list_end(&config) && heed__list_end(&classes) &&
              heed__weights_save(net, t->labels_digest, s, t->a.run, name,
                                 (const char *const[]){base, config.s, classes.s});
    heed_store_free(s);
    heed_text_free(&config);
    heed_text_free(&classes);
    return ok;
}

/* ---- a run from the one that its training started from, and the file ---- */

/* The settings of the training, those of the model last. Settings that only programs know are left
 * out. */
static bool read_settings(heed__opened *o, const char *list, const char *path) {
    heed_ctx *c = o->run.c;
    heed_text text = {.c = c};
    heed_config *f = o->run.config = heed_train_config(c, o->run.model);
    bool ok = f && heed_text_add(&text, "%s", list);
    const char mark[] = {*list, 0};
    for (char *key = text.s, *next; ok && *key; key = next) {
        next = key + strcspn(key, mark);
        if (*next) *next++ = 0;
        char *value = strchr(key, '=');
        if (value) *value++ = 0;
        if (value && heed_config_has(f, key))
            ok = heed_config_set(f, key, value, path, HEED_FROM_FILE);
    }
    heed_text_free(&text);
    return ok && heed__run_apply_settings(o, o->settings.s, path);
}

static bool read_classes(heed__opened *o, const char *list, const char *path) {
    heed_run *r = &o->run;
    if (!list || !*list) return true;
    o->labels.text.c = r->c;
    if (!heed_text_add(&o->labels.text, "%s", list + 1)) return false;
    for (char *at = o->labels.text.s; (at = strchr(at, *list));) *at++ = '\n';
    if (!heed__labels_cut(r->c, path, &o->labels)) return false;
    r->labels = o->labels.list;
    r->label_count = o->labels.count;
    return heed_config_int(r->config, "classes") == r->label_count ||
           heed_fail(r->c, HEED_DATA,
                     "%s is damaged: expected the names of %" PRId64 " classes, found %d", path,
                     heed_config_int(r->config, "classes"), r->label_count);
}

/* Takes the arrays of the file into the store, and freezes every other entry. */
static bool take_changed(heed_store *s, const heed_safetensors *f, const char *path) {
    heed_ctx *c = heed_store_ctx(s);
    heed_store *changed = heed_store_new(c);
    bool ok = changed != NULL;
    for (int i = 0; ok && i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (e->adapter || e->state || heed_safetensors_find(f, e->name))
            ok = heed_state_new(changed, e->name, "zero", e->tensor->dims, e->tensor->shape);
        else
            heed_freeze(s, e->name);
    }
    ok = ok && heed__weights_take(changed, path, f);
    for (int i = 0; ok && i < heed_store_count(changed); i++) {
        const heed_tensor *x = heed_store_at(changed, i)->tensor;
        heed__store_set(heed_store_find(s, x->name), x);
    }
    heed_store_free(changed);
    return ok;
}

static bool check_base(const heed_run *r, const heed_run *base, const char *digest,
                       const char *path) {
    char found[24];
    snprintf(found, sizeof found, "%016" PRIx64, base_digest(r->store));
    return strcmp(found, digest) == 0 ||
           heed_fail(r->c, HEED_DATA,
                     "%s does not belong to %s: expected the weights that its training started "
                     "from, with digest %s, found %s; hint: config.conf beside it names that run",
                     path, base->dir, digest, found);
}

/* A run that extended the vocabulary has another tokenizer than the one it started from. */
static bool check_tokenizer(const heed__opened *o, const heed_run *base, const char *path) {
    uint64_t found = base->tokenizer ? heed__tokenizers_digest(base->tokenizer, base->source) : 0;
    return found == o->digest ||
           heed_fail(base->c, HEED_DATA,
                     "%s does not belong to %s: expected the tokenizer of its training, with "
                     "digest %016" PRIx64 ", found %016" PRIx64
                     "; hint: config.conf beside it names the run that it started from, and if "
                     "it extended the vocabulary of that one, `merge` with its own run",
                     path, base->dir, o->digest, found);
}

static bool adapt(heed__opened *o, const heed_run *base, const heed_safetensors *f,
                  const heed_model *const *models, const char *path) {
    heed_run *r = &o->run;
    const char *digest = heed_safetensors_meta(f, "base");
    const char *settings = heed_safetensors_meta(f, "config");
    heed_start start = {0};
    if (!digest || !settings || !*settings)
        return heed_fail(r->c, HEED_DATA,
                         "%s holds no adapters: expected the metadata base and config; hint: the "
                         "adapter.safetensors of a run that was trained with `lora`",
                         path);
    bool ok = heed__run_read_meta(o, models, f, path) && check_tokenizer(o, base, path) &&
              read_settings(o, settings, path) && heed__run_read_tokenizers(o, base->dir) &&
              read_classes(o, heed_safetensors_meta(f, "classes"), path) &&
              heed__run_build(r, base->store) &&
              heed_start_take(r->store,
                              &(heed_row_names){r->tokenizer, r->source, r->labels, r->label_count},
                              base, &start) &&
              take_changed(r->store, f, path) && heed__store_draw_all(r->store) &&
              check_base(r, base, digest, path) && heed__run_merge(r);
    heed_start_free(&start);
    return ok;
}

heed_run *heed_run_adapt(const heed_run *base, const char *file, const heed_model *const *models) {
    if (!base || !file || heed__stopped(base->c)) return NULL;
    heed_safetensors *f = heed__safetensors_head(base->c, file);
    heed__opened *o = f ? heed__run_new(base->c, base->dir) : NULL;
    bool ok = o && adapt(o, base, f, models, file);
    heed_safetensors_close(f);
    if (ok) return &o->run;
    if (o) heed_run_close(&o->run);
    return NULL;
}
