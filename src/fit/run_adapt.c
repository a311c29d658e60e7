/* run_adapt.c -- a run from the one that its training started from, and the file of its adapters.
 */
#include "core/core.h"
#include "core/store.h"
#include "fit/fit.h"
#include "io/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    snprintf(found, sizeof found, "%016" PRIx64, heed__base_digest(r->store));
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
