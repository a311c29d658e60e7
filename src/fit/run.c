/* run.c -- opening run directories, and evaluation. */
#include "core/core.h"
#include "core/os.h"
#include "core/store.h"
#include "fit/fit.h"
#include "io/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- evaluation ---- */

double heed__batch_weight(const heed_batch *b) {
    if (b->class_weights) return b->label_weight;
    return b->masked_positions ? b->masked_count : b->items ? (double)b->items : b->rows;
}

/* For a model without metrics only the loss is summed. */
bool heed_evaluate_batch(heed_tape *t, const heed_model *m, void *self, const heed_data *data,
                         heed_batch_at at, heed_batch *out, heed_score *score) {
    heed_ctx *c = heed_tape_ctx(t);
    heed_batch own, *b = out ? out : &own;
    if (!t || !m || !self || !score || heed__stopped(c)) return false;
    at.val = true;
    *b = (heed_batch){0};
    heed_tape_begin(t, HEED_EVAL, at.index);
    if (!heed_model_batch(m, self, data, at, b))
        return heed_fail(c, HEED_DATA, "model %s made no evaluation batch %" PRIu64, m->name,
                         at.index);
    const heed_tensor *loss = m->loss(self, t, b);
    if (!loss || heed__stopped(c))
        return heed_fail(c, HEED_FAILED, "model %s made no loss", m->name);
    double weight = score->weight;
    if (m->metrics) m->metrics(self, b, score);
    if (score->weight == weight) {
        double items = heed__batch_weight(b);
        score->loss += (double)loss->x[0] * items;
        score->weight += items;
    }
    return !heed__stopped(c);
}

bool heed__evaluate(const heed__evaluation *e, heed_score *score) {
    *score = (heed_score){0};
    for (uint64_t i = 0; i < e->count; i++) {
        heed_batch_at at = {.index = i, .rows = e->rows, .sample = e->sample};
        if (i > 0 && e->stop && e->stop(e->user)) return false;
        if (!heed_evaluate_batch(e->tape, e->model, e->self, e->data, at, NULL, score))
            return false;
    }
    return true;
}

heed_score heed_evaluate(heed_tape *t, const heed_model *m, void *self, const heed_data *data,
                         int rows) {
    heed_score score = {0};
    if (!t || !m || !self || rows < 1 || heed__stopped(heed_tape_ctx(t))) return score;
    heed__evaluation e = {.tape = t, .model = m, .self = self, .data = data, .rows = rows};
    e.count = heed_model_eval_batches(m, self, data, rows);
    return heed__evaluate(&e, &score) ? score : (heed_score){0};
}

heed_reader heed_run_reader(const heed_run *r) {
    if (!r) return (heed_reader){.c = NULL};
    return (heed_reader){.c = r->c,
                         .kind = heed_model_data(r->model),
                         .config = r->config,
                         .tokenizer = r->tokenizer,
                         .source = r->source};
}

/* ---- metadata of weights ---- */

uint64_t heed__tokenizers_digest(const heed_tokenizer *tokenizer, const heed_tokenizer *source) {
    uint64_t digest = tokenizer ? heed_tokenizer_digest(tokenizer) : 0;
    uint64_t other = source ? heed_tokenizer_digest(source) : 0;
    return source ? heed__hash64(&other, sizeof other, digest) : digest;
}

/* ---- opening ---- */

/* Frees only its own memory: the context owns what it refers to, and may free it earlier. */
static void release(heed__owned *owned) {
    heed__opened *o = (heed__opened *)(void *)((char *)owned - offsetof(heed__opened, owned));
    heed__free(o->run.self);
    heed__run_config_free(&o->file);
    heed_text_free(&o->dir);
    heed_text_free(&o->settings);
    heed_text_free(&o->edited);
    heed__labels_free(&o->labels);
    heed__free(o);
}

void heed_run_close(heed_run *r) {
    if (!r) return;
    heed__opened *o = (heed__opened *)(void *)r;
    heed_tokenizer_free(r->tokenizer);
    heed_tokenizer_free(r->source);
    heed_tape_free(r->tape);
    heed_store_free(r->store);
    heed_config_free(r->config);
    heed__disown(r->c, &o->owned);
    release(&o->owned);
}

heed__opened *heed__run_new(heed_ctx *c, const char *dir) {
    heed__opened *o = heed__alloc(c, sizeof *o);
    if (!o) return NULL;
    o->run.c = o->dir.c = o->settings.c = o->edited.c = c;
    o->run.step = -1;
    heed__own(c, &o->owned, release);
    heed_text_add(&o->dir, "%s", dir);
    o->run.dir = o->dir.s;
    return o;
}

/* Chooses the model that the weights are of. */
static bool choose_model(heed__opened *o, const heed_model *const *models, const char *path) {
    heed_ctx *c = o->run.c;
    heed_text known = {.c = c};
    for (; models && *models && !o->run.model; models++) {
        if (!heed__model_usable(*models)) continue;
        if (strcmp((*models)->name, o->architecture) == 0) o->run.model = *models;
        heed_text_add(&known, "%s%s", known.n ? ", " : "", (*models)->name);
    }
    if (!o->run.model)
        heed_fail(c, HEED_DATA,
                  "%s holds an unknown model: architecture: expected one of %s, found %s", path,
                  known.n ? known.s : "no models", o->architecture);
    heed_text_free(&known);
    return o->run.model != NULL;
}

bool heed__run_read_meta(heed__opened *o, const heed_model *const *models,
                         const heed_safetensors *f, const char *path) {
    heed_ctx *c = o->run.c;
    const char *name = heed_safetensors_meta(f, "architecture");
    const char *settings = heed_safetensors_meta(f, "settings");
    const char *digest = heed_safetensors_meta(f, "tokenizer");
    const char *labels = heed_safetensors_meta(f, "labels");
    bool ok = name && settings && digest && sscanf(digest, "%16" SCNx64, &o->digest) == 1 &&
              (!labels || sscanf(labels, "%16" SCNx64, &o->labels_digest) == 1);
    if (!ok)
        heed_fail(c, HEED_DATA,
                  "%s is not of a run: expected the metadata architecture, settings and tokenizer; "
                  "hint: `info %s` shows what it holds",
                  path, path);
    else {
        snprintf(o->architecture, sizeof o->architecture, "%s", name);
        ok = heed_text_add(&o->settings, "%s", settings);
    }
    return ok && choose_model(o, models, path);
}

/* Notes the first line of config.conf that differs from what the weights were trained with. Sizes
 * that the tokenizer or labels.txt gives are not used, so that they may differ. */
static void compare_setting(heed__opened *o, const char *key, const char *was, const char *now) {
    if (!heed__size_of_data(key) && !heed__same_value(was, now) && !o->edited.n)
        heed__setting_edited(&o->edited, key, now, *was ? was : "nothing");
}

static bool apply_setting(heed__opened *o, const char *key, const char *value, const char *path) {
    heed_config *f = o->run.config;
    heed_text was = {.c = o->run.c};
    bool own = heed_config_has(f, key) && heed_config_rank(f, key) == HEED_FROM_FILE;
    bool ok = (!own || heed_text_add(&was, "%s", heed_config_text(f, key))) &&
              heed_config_set(f, key, value, path, HEED_FROM_FLAG);
    if (ok && own) compare_setting(o, key, was.s, heed_config_text(f, key));
    heed_text_free(&was);
    return ok;
}

/* The settings in the weights file, which names `lora` only if they have adapters. Files of 0.1.0
 * have lines without a mark. */
bool heed__run_apply_settings(heed__opened *o, char *settings, const char *path) {
    const char *mark = settings && settings[0] == ';' ? ";" : "\n";
    bool adapted = false;
    for (char *key = settings, *next; key && *key; key = next) {
        next = key + strcspn(key, mark);
        if (*next) *next++ = 0;
        if (!*key) continue;
        char *value = strchr(key, '=');
        if (!value)
            return heed_fail(o->run.c, HEED_DATA,
                             "%s is wrong: metadata settings: expected KEY=VALUE, found %s", path,
                             key);
        *value++ = 0;
        adapted = adapted || strcmp(key, "lora") == 0;
        if (!apply_setting(o, key, value, path)) return false;
    }
    return adapted || apply_setting(o, "lora", "0", path);
}

static bool same_digest(heed_ctx *c, const char *what, const char *dir, uint64_t expected,
                        uint64_t found) {
    return expected == found || heed__ctx_edited(c) ||
           heed_fail(
               c, HEED_DATA,
               "%s of %s is not the one that the model was trained with: expected digest "
               "%016" PRIx64 ", found %016" PRIx64
               "; hint: restore a copy, or open the run with `edited` if it was edited on purpose",
               what, dir, expected, found);
}

bool heed__run_read_tokenizers(heed__opened *o, const char *dir) {
    heed_run *r = &o->run;
    if (!o->digest) return true;
    r->tokenizer = heed__tokenizer_in(r->c, dir, "");
    r->source = heed__tokenizer_in(r->c, dir, HEED__SOURCE_FOLDER);
    if (heed__stopped(r->c)) return false;
    uint64_t found = heed__tokenizers_digest(r->tokenizer, r->source);
    if (!same_digest(r->c, "tokenizer", dir, o->digest, found)) return false;
    int source_size = r->source ? heed_vocab_size(r->source) : 0;
    int64_t rows = heed__settings_rows(r->config, r->tokenizer);
    return heed__settings_number(r->config, "vocab", rows, dir) &&
           heed__settings_number(r->config, "source-vocab", source_size, dir);
}

static bool read_labels(heed__opened *o, const char *dir) {
    heed_run *r = &o->run;
    int64_t classes =
        heed_config_has(r->config, "classes") ? heed_config_int(r->config, "classes") : 0;
    if (!heed__labels_read(r->c, dir, (int)classes, &o->labels)) return false;
    r->labels = o->labels.list;
    r->label_count = o->labels.count;
    return !o->labels_digest || same_digest(r->c, "labels.txt", dir, o->labels_digest,
                                            heed__labels_digest(r->labels, r->label_count));
}

bool heed__run_build(heed_run *r, const heed_store *from) {
    r->store = heed_store_new(r->c);
    r->tape = heed_tape_new(r->c);
    r->self = heed__alloc(r->c, r->model->size);
    if (!r->store || !r->tape || !r->self) return false;
    heed__store_expect(r->store, true, from);
    bool ok = heed_model_init(r->model, r->self, r->store, r->config);
    heed__store_expect(r->store, false, NULL);
    return ok;
}

bool heed__run_merge(heed_run *r) {
    r->adapters = heed__lora_count(r->store);
    return heed_lora_merge(r->store);
}

/* RUN/FOLDER/NAME */
static const char *inside(heed_text *t, const char *run, const char *folder, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return heed__run_path(t, run, path);
}

/* Whether a file was not found; then there is no error any more. */
static bool was_missing(heed_ctx *c) {
    bool missing = *heed_ctx_missing(c, NULL);
    if (missing) heed_clear(c);
    return missing;
}

/* The best weights stand in the checkpoint until its swap is complete. */
static heed_safetensors *open_weights(heed_ctx *c, const char *dir, const char *folder, bool last,
                                      heed_text *path) {
    const char *name = last ? "model.safetensors" : "best.safetensors";
    heed_safetensors *f = NULL;
    if (folder) f = heed__safetensors_head(c, inside(path, dir, folder, name));
    if (!last && !f && (!folder || was_missing(c)))
        f = heed__safetensors_head(c, heed__run_path(path, dir, "model.safetensors"));
    return f;
}

static bool read_state(heed_ctx *c, const char *dir, const char *folder, heed__state *s) {
    heed_text path = {.c = c};
    bool ok = heed__state_read(c, inside(&path, dir, folder, "state.json"), s);
    heed_text_free(&path);
    return ok;
}

/* Opens the requested weights, and reads the state of their checkpoint, if there is one, even
 * within an unfinished swap. Training that saves may move the checkpoint meanwhile: then it is
 * looked for again. A state that is the same after the weights were opened is theirs. */
static heed_safetensors *find_weights(heed_ctx *c, const char *dir, bool last, heed__state *s,
                                      heed_text *path) {
    enum { TRIES = 100 };
    for (int left = TRIES; left--;) {
        const char *folder = heed__checkpoint_find(c, dir);
        heed__state after = *s = (heed__state){.step = -1, .best_step = -1};
        if (last && !folder) {
            heed_fail(c, HEED_DATA, "%s holds no checkpoint: last/state.json: not found", dir);
            return NULL;
        }
        bool ok = !folder || read_state(c, dir, folder, s);
        heed_safetensors *f = ok ? open_weights(c, dir, folder, last, path) : NULL;
        ok = f && (!folder || read_state(c, dir, folder, &after));
        if (ok && (after.step == s->step || !left)) return f;
        heed_safetensors_close(f);
        if (!ok && (!left || !was_missing(c))) return NULL;
    }
    return NULL;
}

static bool open_all(heed__opened *o, const char *dir, const heed_model *const *models, bool last) {
    heed_ctx *c = o->run.c;
    heed_text path = {.c = c};
    heed__state s;
    heed_safetensors *f = find_weights(c, dir, last, &s, &path);
    bool ok = f && heed__run_read_meta(o, models, f, path.s) &&
              heed__run_config_read(c, o->run.model, dir, &o->file) &&
              (o->run.config = o->file.config) &&
              heed__run_apply_settings(o, o->settings.s, path.s) &&
              heed__run_read_tokenizers(o, dir) && read_labels(o, dir) &&
              heed__run_build(&o->run, NULL) && heed__weights_take(o->run.store, path.s, f) &&
              (!o->edited.n || heed__ctx_edited(c) || heed_fail(c, HEED_DATA, "%s", o->edited.s)) &&
              heed__run_merge(&o->run);
    if (ok) o->run.step = last ? s.step : s.best_step, o->run.data_checksum = s.data_checksum;
    heed_safetensors_close(f);
    heed_text_free(&path);
    return ok;
}

bool heed__run_refuse(heed_ctx *c, const char *dir) {
    if (!heed__os_is_dir(dir))
        return heed_fail_input(c, dir, true,
                               "run is missing: %s: expected the folder of a run, found %s; hint: "
                               "`train` makes one",
                               dir, heed__os_exists(dir) ? "a file" : "nothing");
    return heed_fail(c, HEED_DATA,
                     "not a run: %s: expected a folder with config.conf; hint: `train` makes one",
                     dir);
}

static bool is_text(const heed_model *m) {
    return heed_model_data(m)->lines && !heed_model_data(m)->tables;
}

/* Fails unless dir holds a run that can be opened. For a file in its place, the hint names the
 * first text model, if there is one. */
static bool check_run(heed_ctx *c, const char *dir, const heed_model *const *models) {
    const char *slash = strrchr(dir, '/');
    char folder[1024];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - dir) : 0, dir);
    while (models && *models && !is_text(*models)) models++;
    bool file = heed__os_exists(dir) && !heed__os_is_dir(dir);
    if (file && *folder && heed__run_has(c, folder, "config.conf"))
        return heed_fail(c, HEED_DATA,
                         "run is missing: %s: expected the folder of a run, found a file of the "
                         "run %s",
                         dir, folder);
    if (file && models && *models)
        return heed_fail(c, HEED_DATA,
                         "run is missing: %s: expected the folder of a run, found a file; hint: if "
                         "it is a text, `train %s %s -o runs/first` makes one",
                         dir, (*models)->name, dir);
    if (heed__run_is_torn(c, dir))
        return heed_fail(c, HEED_DATA,
                         "run is incomplete: %s: the training that was to replace it died while it "
                         "moved its files; hint: `resume %s` restores it",
                         dir, dir);
    /* If a part of a run exists, opening it reports what is missing. */
    static const char *const files[] = {"config.conf", "model.safetensors", "last", "last.new"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (heed__run_has(c, dir, files[i])) return true;
    return heed__run_refuse(c, dir);
}

heed_run *heed_run_open(heed_ctx *c, const char *dir, const heed_model *const *models,
                        const char *which) {
    if (heed__stopped(c) || !dir) return NULL;
    bool last = which && strcmp(which, "last") == 0;
    if (which && !last && strcmp(which, "best") != 0) {
        heed_fail(c, HEED_USAGE, "`which` is wrong: expected best or last, found %s", which);
        return NULL;
    }
    heed_text from = {.c = c};
    heed__opened *o = check_run(c, dir, models) ? heed__run_new(c, dir) : NULL;
    bool ok = o && open_all(o, heed__run_source(&from, dir), models, last);
    heed_text_free(&from);
    if (o && !ok) heed_run_close(&o->run);
    return ok ? &o->run : NULL;
}
