/* run_save.c -- a run in memory, and an open run written to another folder, without adapters. */
#include "core/core.h"
#include "core/store.h"
#include "fit/fit.h"

static bool set_labels(heed__opened *o, const char *const *labels, int count) {
    heed_ctx *c = o->labels.text.c = o->run.c;
    bool ok = true;
    for (int i = 0; ok && i < count; i++) ok = heed_text_add(&o->labels.text, "%s\n", labels[i]);
    ok = ok && (!count || heed__labels_cut(c, "labels", &o->labels));
    o->run.labels = o->labels.list;
    o->run.label_count = o->labels.count;
    if (ok && o->labels.count != count)
        ok = heed_fail(c, HEED_DATA, "name of a class has a line break: expected one line of text");
    return ok && heed__settings_number(o->run.config, "classes", count, "labels");
}

heed_run *heed__run_start(heed_ctx *c, const heed_model *m, heed_config *f,
                          heed_tokenizer *tokenizer, const char *const *labels, int label_count) {
    heed__opened *o = m && f && !heed__stopped(c) ? heed__run_new(c, "") : NULL;
    if (!o) {
        heed_config_free(f);
        heed_tokenizer_free(tokenizer);
        return NULL;
    }
    heed_run *r = &o->run;
    r->model = m;
    r->config = f;
    r->tokenizer = tokenizer;
    bool ok = heed_config_set(f, "task", m->name, "task", HEED_FROM_FLAG);
    if (ok && tokenizer)
        ok = heed__settings_number(f, "vocab", heed__settings_rows(f, tokenizer), "tokenizer");
    if (ok && (!labels || set_labels(o, labels, label_count))) return r;
    heed_run_close(r);
    return NULL;
}

heed_run *heed_run_new(heed_ctx *c, const heed_model *m, heed_config *f, heed_tokenizer *tokenizer,
                       const char *const *labels, int label_count) {
    heed_run *r = heed__run_start(c, m, f, tokenizer, labels, label_count);
    if (!r || (heed__run_build(r, NULL) && heed__store_draw_all(r->store))) return r;
    heed_run_close(r);
    return NULL;
}

/* From now on the run's settings name no adapters. */
static bool forget_adapters(heed_config *f) {
    bool ok = true;
    for (const char *const *key = heed__lora_settings; ok && *key; key++)
        if (heed_config_has(f, *key))
            ok = heed_config_set(f, *key, heed_config_default(f, *key), *key, HEED_FROM_FLAG);
    return ok;
}

static bool write_all(const heed_run *r, const heed_fit_args *a) {
    heed_text settings = {.c = r->c};
    heed__checkpoint k = {.c = r->c, .run = a->run, .architecture = r->model->name};
    bool ok = heed__settings_text(r->model, r->config, &settings) && heed__run_make(r->c, a);
    k.settings = settings.s;
    k.labels_digest = heed__labels_digest(r->labels, r->label_count);
    if (r->tokenizer) k.tokenizer_digest = heed__tokenizers_digest(r->tokenizer, r->source);
    ok = ok && heed__weights_save(&k, r->store, "model.safetensors");
    heed_text_free(&settings);
    return ok;
}

/* The folder exists and is locked. */
static bool replace(const heed_run *r, const heed_fit_args *a) {
    heed_ctx *c = r->c;
    bool ok = heed__run_recover(c, a->run, false) && heed_run_vacant(c, a->run, a->force) &&
              heed__run_backup(c, a->run);
    if (!ok) return false;
    if (write_all(r, a)) return heed__run_commit(c, a->run);
    heed__run_abandon(c, a->run);
    return false;
}

bool heed_run_save(heed_run *r, const char *dir, bool force) {
    if (!r || !dir || heed__stopped(r->c)) return false;
    heed_ctx *c = r->c;
    heed_fit_args a = {.model = r->model,
                       .config = r->config,
                       .tokenizer = r->tokenizer,
                       .source = r->source,
                       .labels = r->labels,
                       .label_count = r->label_count,
                       .run = dir,
                       .force = force};
    if (heed__os_same(r->dir, dir))
        return heed_fail(c, HEED_USAGE,
                         "folder is the run's: %s: expected another one; hint: `%s-plain`", dir,
                         dir);
    if (!heed_run_vacant(c, dir, force) || !heed__run_check_outside(c, &a) ||
        !forget_adapters(r->config))
        return false;
    bool made = !heed__os_exists(dir);
    heed_text path = {.c = c};
    heed__lock lock = {0};
    long holder = 0;
    bool ok = heed__os_make_dir(c, dir) && heed__run_path(&path, dir, ".lock")[0];
    if (ok && !heed__os_lock(&lock, path.s, &holder))
        ok = heed_fail(c, HEED_FAILED, "a training run is active in %s; hint: stop it first", dir);
    ok = ok && replace(r, &a);
    if (!ok && made)
        heed__os_unlock_folder(&lock, dir, path.s);
    else
        heed__os_unlock(&lock, path.s);
    heed_text_free(&path);
    return ok;
}
