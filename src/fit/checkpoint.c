/* checkpoint.c -- RUN/last, the checkpoint to resume from, and RUN/model.safetensors, the best
 * weights; in each weights file metadata from which a run is opened, and a digest by which a
 * damaged file is found.
 *
 * A checkpoint is written completely as last.new, state.json last, each file fsynced. Then
 *     last -> last.old, last.new -> last, last/best.safetensors -> model.safetensors,
 *     last/adapter.safetensors -> adapter.safetensors
 * by rename. A folder with a state.json is complete; new best weights arrive with the checkpoint
 * that records them. So whenever the process dies, the newest complete folder of last, last.new and
 * last.old is the checkpoint, and heed__checkpoint_recover completes the swap. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- weights files ---- */

/* The mark is a semicolon, which JSON need not escape (jansson aborts if memory runs out within an
 * escape), or a line break if one of the texts contains a semicolon. */
void heed__list_add(heed_text *out, const char *key, const char *value) {
    heed_text_put(out, "", 1);
    heed_text_add(out, key ? "%s=%s" : "%s%s", key ? key : "", value);
}

bool heed__list_end(heed_text *out) {
    if (!heed_text_add(out, "%s", "")) return false;
    char mark = memchr(out->s, ';', out->n) ? '\n' : ';';
    for (size_t i = 0; i < out->n; i++)
        if (!out->s[i]) out->s[i] = mark;
    return true;
}

/* The settings of f that determine the model. A model's default for a setting that all training
 * runs share is not a setting of the model. */
bool heed__settings_text(const heed_model *m, const heed_config *f, heed_text *out) {
    const char *const *key = heed__lora_settings;
    for (int i = 0; i < heed_config_count(f); i++) {
        const char *value, *name = heed_config_at(f, i, &value)->name;
        if (heed_option_find(m->options, name) && !heed_option_find(heed_fit_options, name))
            heed__list_add(out, name, value);
    }
    for (; heed_config_int(f, "lora") > 0 && *key; key++)
        heed__list_add(out, *key, heed_config_text(f, *key));
    return heed__list_end(out);
}

/* Metadata: a digest of names, values and other metadata. That of the double build differs. */
#ifdef HEED_F64
static const char digest_key[] = "digest64", other_key[] = "digest";
#else
static const char digest_key[] = "digest", other_key[] = "digest64";
#endif

/* Those from LABELS on may be absent, and those from BASE on are of adapters. */
enum { LABELS = 4, BASE, CONFIG, CLASSES, META_KEYS };
static const char *const meta_keys[META_KEYS] = {"architecture", "format", "settings", "tokenizer",
                                                 "labels",       "base",   "config",   "classes"};

static uint64_t weights_digest(const heed_store *s, const char *const values[META_KEYS]) {
    uint64_t h = 0;
    for (int i = 0; i < META_KEYS; i++)
        if (i < LABELS || *values[i]) h = heed__hash64(values[i], strlen(values[i]) + 1, h);
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (!heed__saves(e)) continue;
        h = heed__hash64(e->name, strlen(e->name), h);
        h = heed__hash64(e->tensor->x, e->tensor->size * sizeof *e->tensor->x, h);
    }
    return h;
}

bool heed__weights_save(const heed_run *r, uint64_t labels, const heed_store *s, const char *dir,
                        const char *name, const char *const more[3]) {
    heed_text path = {.c = r->c}, settings = {.c = r->c};
    char tokenizer[24], classes[24] = "", digest[24];
    snprintf(tokenizer, sizeof tokenizer, "%016" PRIx64,
             heed__tokenizers_digest(r->tokenizer, r->source));
    if (labels) snprintf(classes, sizeof classes, "%016" PRIx64, labels);
    bool ok = heed__settings_text(r->model, r->config, &settings);
    const char *values[META_KEYS] = {r->model->name, "pt", settings.s, tokenizer, classes};
    for (int i = BASE; i < META_KEYS; i++) values[i] = more ? more[i - BASE] : "";
    const char *meta[2 * META_KEYS + 3] = {digest_key, digest};
    for (int i = 0, at = 2; i < META_KEYS && ok; i++)
        if (i < LABELS || *values[i]) meta[at++] = meta_keys[i], meta[at++] = values[i];
    if (ok) snprintf(digest, sizeof digest, "%016" PRIx64, weights_digest(s, values));
    ok = ok && heed_save_meta(s, heed__run_path(&path, dir, name), meta);
    heed_text_free(&settings);
    heed_text_free(&path);
    return ok;
}

/* ---- reading ---- */

double heed__first_nonfinite(const heed_real *x, size_t n) {
    heed_real sum = 0; /* of x - x: 0, or NAN */
    for (size_t i = 0; i < n; i++) sum += x[i] - x[i];
    for (size_t i = 0; sum != 0 && i < n; i++)
        if (!isfinite(x[i])) return (double)x[i];
    return 0;
}

const char *heed__first_bad(const heed_store *s, bool gradient, double *found) {
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        const heed_real *x = gradient ? e->tensor->g : e->tensor->x;
        double v = x ? heed__first_nonfinite(x, e->tensor->size) : 0;
        if (v == 0) continue;
        *found = v;
        return e->name;
    }
    return NULL;
}

bool heed__weights_are_finite(const heed_store *s, const char *path) {
    double found = 0;
    const char *bad = heed__first_bad(s, false, &found);
    return !bad || heed_fail(heed_store_ctx(s), HEED_DATA,
                             "weights are not numbers: %s: %s: expected finite numbers, found %g; "
                             "hint: restore a copy, or train again",
                             path, bad, found);
}

/* A file from the build of the other precision has a digest that this build cannot compute. */
static bool holds(const heed_safetensors *f, const heed_store *s, const char *path) {
    heed_ctx *c = heed_store_ctx(s);
    const char *values[META_KEYS], *expected = heed_safetensors_meta(f, digest_key);
    char found[24];
    if (heed__ctx_edited(c)) return true;
    for (int i = 0; i < META_KEYS; i++) {
        values[i] = heed_safetensors_meta(f, meta_keys[i]);
        if (!values[i]) values[i] = "";
    }
    if (!expected && !heed_safetensors_meta(f, other_key))
        return heed_fail(c, HEED_DATA,
                         "%s is not of a run: expected the metadata digest; hint: it is damaged: "
                         "restore a copy, or train again",
                         path);
    snprintf(found, sizeof found, "%016" PRIx64, weights_digest(s, values));
    return !expected || strcmp(expected, found) == 0 ||
           heed_fail(c, HEED_DATA,
                     "%s is damaged: expected digest %s, found %s; hint: restore a copy of this "
                     "file, or open it with `edited` if it was edited on purpose",
                     path, expected, found);
}

bool heed__weights_take(heed_store *s, const char *path, const heed_safetensors *f) {
    return heed__load_parsed(s, path, f) && holds(f, s, path) && heed__weights_are_finite(s, path);
}

bool heed__run_read_weights(heed_store *s, const char *run, const char *name) {
    heed_text path = {.c = heed_store_ctx(s)};
    heed_safetensors *f = heed__safetensors_head(path.c, heed__run_path(&path, run, name));
    bool ok = heed__weights_take(s, path.s, f);
    heed_safetensors_close(f);
    heed_text_free(&path);
    return ok;
}

/* ---- state.json ---- */

typedef enum { INT, REAL, HEX, TEXT } kind;
typedef struct {
    const char *key;
    kind kind;
    size_t at;
} field;
#define AT(name) offsetof(heed__state, name)
static const field fields[] = {{"step", INT, AT(step)},
                               {"steps", INT, AT(steps)},
                               {"eval_step", INT, AT(eval_step)},
                               {"best_step", INT, AT(best_step)},
                               {"stale", INT, AT(stale)},
                               {"best_loss", REAL, AT(best_loss)},
                               {"best_metric", REAL, AT(best_metric)},
                               {"loss", REAL, AT(loss)},
                               {"val_loss", REAL, AT(val_loss)},
                               {"metric", REAL, AT(metric)},
                               {"norm", REAL, AT(norm)},
                               {"eval_sum", REAL, AT(since_eval.sum)},
                               {"eval_count", INT, AT(since_eval.count)},
                               {"row_sum", REAL, AT(since_row.sum)},
                               {"row_count", INT, AT(since_row.count)},
                               {"seconds", REAL, AT(seconds)},
                               {"clock", REAL, AT(clock)},
                               {"row_step", INT, AT(row_step)},
                               {"seed", HEX, AT(seed)},
                               {"data_checksum", HEX, AT(data_checksum)},
                               {"tokenizer_digest", HEX, AT(tokenizer_digest)},
                               {"version", TEXT, AT(version)},
                               {"isa", TEXT, AT(isa)},
                               {0}};

static void add_field(heed_text *t, const field *f, const void *at) {
    heed_text_add(t, "  \"%s\": ", f->key);
    if (f->kind == INT) heed_text_add(t, "%" PRId64, *(const int64_t *)at);
    if (f->kind == REAL && isfinite(*(const double *)at))
        heed__put_number(t, *(const double *)at);
    else if (f->kind == REAL)
        heed_text_add(t, "null");
    if (f->kind == HEX) heed_text_add(t, "\"%016" PRIx64 "\"", *(const uint64_t *)at);
    if (f->kind == TEXT) heed_text_add(t, "\"%s\"", (const char *)at);
    heed_text_add(t, ",\n");
}

/* The last key is a checksum of all text before it. */
static const char check_key[] = "  \"check\": ";

/* The settings that resuming compares with config.conf. JSON holds only values that are UTF-8. */
static const char settings_key[] = "settings";

static void add_settings(heed_text *t, const heed_config *f) {
    json_t *o = json_object();
    bool ok = o != NULL;
    for (int i = 0; i < heed_config_count(f) && ok; i++) {
        const char *value;
        const heed_option *p = heed_config_at(f, i, &value);
        size_t n = strlen(value);
        if (heed_utf8_valid(value, n) == n)
            ok = json_object_set_new(o, p->name, json_string(value)) == 0;
    }
    char *text = ok ? json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (text)
        heed_text_add(t, "  \"%s\": %s,\n", settings_key, text);
    else
        heed_fail(t->c, HEED_FAILED, "cannot write the settings: out of memory");
    free(text);
    json_decref(o);
}

static bool write_state(heed_ctx *c, const char *run, const heed__state *s,
                        const heed_config *config) {
    heed_text t = {.c = c};
    heed_text_add(&t, "{\n");
    for (const field *f = fields; f->key; f++) add_field(&t, f, (const char *)s + f->at);
    add_settings(&t, config);
    uint64_t check = t.s ? heed__hash64(t.s, t.n, 0) : 0;
    heed_text_add(&t, "%s\"%016" PRIx64 "\"\n}\n", check_key, check);
    bool ok = !heed__stopped(c) && heed__run_write(c, run, "last.new/state.json", t.s, t.n);
    heed_text_free(&t);
    return ok;
}

static bool parse_hex(const char *text, uint64_t *out) {
    char *end = NULL;
    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) return false;
    *out = strtoull(text, &end, 16);
    return *end == 0;
}

static bool read_field(const json_t *v, const field *f, void *at) {
    const char *text = json_string_value(v);
    if (f->kind == INT) *(int64_t *)at = (int64_t)json_integer_value(v);
    if (f->kind == REAL) *(double *)at = json_is_null(v) ? (double)NAN : json_number_value(v);
    if (f->kind == TEXT && text) snprintf(at, 16, "%s", text);
    switch (f->kind) {
    case INT:
        return json_is_integer(v) && json_integer_value(v) >= 0;
    case REAL:
        return json_is_null(v) || json_is_number(v);
    case HEX:
        return parse_hex(text, at);
    case TEXT:
        return text && strlen(text) < 16;
    }
    return false;
}

static bool parse_state(heed_ctx *c, const char *path, const char *text, size_t n, heed__state *s) {
    static const char hint[] = "the checkpoint is damaged: restore a copy of it, or train again";
    json_t *root = heed__json_parse(c, path, text, n);
    if (!root) return false;
    bool ok = true;
    for (const field *f = fields; ok && f->key; f++) {
        ok = read_field(json_object_get(root, f->key), f, (char *)s + f->at);
        if (!ok)
            heed_fail(c, HEED_DATA, "%s is wrong: key %s is missing or of a wrong kind; hint: %s",
                      path, f->key, hint);
    }
    const char *at = strstr(text, check_key);
    uint64_t check = 0;
    if (ok && !(at && parse_hex(json_string_value(json_object_get(root, "check")), &check) &&
                check == heed__hash64(text, (size_t)(at - text), 0)))
        ok = heed_fail(c, HEED_DATA, "%s is wrong: its checksum does not match; hint: %s", path,
                       hint);
    json_decref(root);
    return ok;
}

bool heed__state_read(heed_ctx *c, const char *path, heed__state *s) {
    size_t n;
    unsigned char *text = heed__os_read(c, path, 1 << 22, &n);
    bool ok = text && parse_state(c, path, (const char *)text, n, s);
    heed__free(text);
    return ok;
}

void heed__setting_edited(heed_text *out, const char *key, const char *was, const char *now) {
    bool ignorable = strcmp(key, "seed") != 0; /* the context was opened with the seed */
    heed_text_add(out,
                  "config.conf was changed: %s: the run was trained with %s, found %s; hint: "
                  "restore the line %s = %s%s",
                  key, *was ? was : "nothing", now, key, was,
                  ignorable ? ", or open the run with `edited`, which ignores it" : "");
}

/* Whether key is in a list ended by NULL. */
static bool listed(const char *const *list, const char *key) {
    while (*list && strcmp(*list, key) != 0) list++;
    return *list != NULL;
}

/* Where the data is: a checksum says whether it is the same. */
static const char *const places[] = {"data", "val", NULL};

static bool same_setting(heed_config *f, heed_ctx *c, const char *key, const char *was,
                         bool *changed) {
    if (!was || !heed_config_has(f, key) || heed__same_value(was, heed_config_text(f, key)))
        return true;
    heed_rank rank = heed_config_rank(f, key);
    heed_text why = {.c = c};
    *changed = true;
    if (rank == HEED_FROM_FLAG || (heed__ctx_edited(c) && listed(places, key))) return true;
    heed__setting_edited(&why, key, was,
                         rank == HEED_FROM_DEFAULT ? "no such line" : heed_config_text(f, key));
    heed_fail(c, HEED_DATA, "%s", why.s ? why.s : key);
    heed_text_free(&why);
    return false;
}

static bool restore_plans(heed_config *f, const json_t *was) {
    static const char *const keys[] = {"steps", "plan"};
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        const char *value = json_string_value(json_object_get(was, keys[i]));
        if (value && heed_config_rank(f, keys[i]) != HEED_FROM_FLAG)
            ok = heed_config_set(f, keys[i], value, "checkpoint", HEED_FROM_FILE);
    }
    return ok;
}

bool heed__state_settings(heed_ctx *c, const char *path, heed_config *f, bool *changed) {
    json_t *root = heed__json_read(c, path), *all = json_object_get(root, settings_key);
    const char *key;
    json_t *was;
    bool ok = root != NULL;
    if (json_is_number(json_object_get(root, "clock"))) ok = restore_plans(f, all);
    json_object_foreach(all, key, was) ok =
        ok && same_setting(f, c, key, json_string_value(was), changed);
    json_decref(root);
    return ok;
}

/* Sets what was changed again, listed in `ignored`. The context has the seed, not config.conf. */
static bool restore(heed_config *f, json_t *all, heed_text *ignored) {
    const char *key;
    bool ok = true;
    json_t *was;
    json_object_foreach(all, key, was) {
        const char *value = json_string_value(was);
        if (!ok || !value || !heed_config_has(f, key) || listed(places, key) ||
            strcmp(key, "seed") == 0 || heed__size_of_data(key) ||
            heed_config_rank(f, key) == HEED_FROM_FLAG ||
            heed__same_value(value, heed_config_text(f, key)))
            continue;
        bool missing = heed_config_rank(f, key) == HEED_FROM_DEFAULT;
        ok = heed_text_add(ignored, "%s%s%s%s (trained with %s)", ignored->n ? ", " : "", key,
                           missing ? " missing" : " = ", missing ? "" : heed_config_text(f, key),
                           value) &&
             heed_config_set(f, key, value, key, HEED_FROM_FILE);
    }
    return ok;
}

/* The settings in the checkpoint of a run, or NULL; *root, which holds them, is the caller's. A
 * file that was found and is missing was moved by training that saves: it is looked for again. */
static json_t *settings_in(heed_ctx *c, const char *dir, json_t **root) {
    enum { TRIES = 100 };
    heed_text path = {.c = c};
    for (int left = TRIES; left--; heed_clear(c)) {
        const char *folder = heed__checkpoint_find(c, dir);
        char name[32];
        snprintf(name, sizeof name, "%s/state.json", folder ? folder : "");
        *root = folder ? heed__json_read(c, heed__run_path(&path, dir, name)) : NULL;
        if (!left || !*heed_ctx_missing(c, NULL)) break;
    }
    heed_text_free(&path);
    return json_object_get(*root, settings_key);
}

bool heed__state_restore(heed_ctx *c, const char *dir, heed_config *f) {
    heed_text ignored = {.c = c};
    json_t *root = NULL, *all = heed__ctx_edited(c) ? settings_in(c, dir, &root) : NULL;
    if (all && restore(f, all, &ignored) && ignored.n)
        heed_message(c, HEED_INFO, "ignored in %s/config.conf, where resuming restores it: %s", dir,
                     ignored.s);
    json_decref(root);
    heed_text_free(&ignored);
    return !heed__stopped(c);
}

/* Model and weights fix all other settings. */
bool heed_run_check(heed_ctx *c, const char *dir, heed_config *f) {
    static const char *const keys[] = {"mean", "std", "resize-to", "resample", "packing"};
    bool ok = dir && f && !heed__stopped(c), changed = false;
    json_t *root = NULL, *all = ok && !heed__ctx_edited(c) ? settings_in(c, dir, &root) : NULL;
    for (size_t i = 0; all && ok && i < sizeof keys / sizeof *keys; i++)
        ok =
            same_setting(f, c, keys[i], json_string_value(json_object_get(all, keys[i])), &changed);
    json_decref(root);
    return ok && !heed__stopped(c);
}

/* ---- the folder ---- */

static bool move(heed_ctx *c, const char *run, const char *from, const char *to) {
    heed_text a = {.c = c}, b = {.c = c};
    bool ok = heed__os_rename(c, heed__run_path(&a, run, from), heed__run_path(&b, run, to));
    heed_text_free(&a);
    heed_text_free(&b);
    return ok && heed__os_sync_dir(c, run);
}

/* Looks again, because training that saves may move a checkpoint between two looks. */
const char *heed__checkpoint_find(heed_ctx *c, const char *run) {
    static const char *const files[] = {"last/state.json", "last.new/state.json",
                                        "last.old/state.json"};
    static const char *const folders[] = {"last", "last.new", "last.old"};
    enum { TRIES = 100 };
    for (int i = 0; i < 3 * TRIES; i++)
        if (heed__run_has(c, run, files[i % 3])) return folders[i % 3];
    return NULL;
}

bool heed_run_resumable(heed_ctx *c, const char *dir) {
    if (heed__stopped(c) || !dir) return false;
    if (heed__checkpoint_find(c, dir) || !heed__run_has(c, dir, "model.safetensors"))
        return !heed__stopped(c);
    if (heed__run_has(c, dir, "metrics.csv"))
        return heed_fail(c, HEED_DATA,
                         "%s has lost its checkpoint: %s/last/state.json: not found; hint: restore "
                         "a copy of the folder, or start from its weights with `from = %s`",
                         dir, dir, dir);
    return heed_fail(c, HEED_DATA,
                     "there is no training to resume: %s has a model without its training, as of "
                     "an import; hint: start a new run from its weights with `from = %s`",
                     dir, dir);
}

/* Completes a swap that lacks only the best weights' rename and the old folder's removal. */
static bool finish(heed_ctx *c, const char *run) {
    return (!heed__run_has(c, run, "last/best.safetensors") ||
            move(c, run, "last/best.safetensors", "model.safetensors")) &&
           (!heed__run_has(c, run, "last/" HEED__ADAPTER_FILE) ||
            move(c, run, "last/" HEED__ADAPTER_FILE, HEED__ADAPTER_FILE)) &&
           heed__run_remove(c, run, "last.old") && heed__run_remove(c, run, "last.new");
}

bool heed__checkpoint_recover(heed_ctx *c, const char *run) {
    const char *found = heed__checkpoint_find(c, run);
    if (!found) return true;
    if (strcmp(found, "last") != 0 &&
        !(heed__run_remove(c, run, "last") && move(c, run, found, "last")))
        return false;
    return finish(c, run);
}

static bool write_new(const heed_training *t, bool best) {
    const heed_run *net = &t->net;
    const char *run = t->a.run;
    const struct {
        const char *name;
        const heed_store *store;
    } files[] = {{"last.new/model.safetensors", net->store},
                 {"last.new/optimizer.safetensors", heed_optim_slots(t->optim)},
                 {"last.new/best.safetensors", net->store}};
    heed_text path = {.c = t->c};
    bool ok = heed__os_make_dir(t->c, heed__run_path(&path, run, "last.new"));
    for (int i = 0; ok && i < (best ? 3 : 2); i++)
        ok = heed__weights_save(net, t->labels_digest, files[i].store, run, files[i].name, NULL);
    if (ok && best && heed__lora_count(net->store))
        ok = heed__adapters_save(t, "last.new/" HEED__ADAPTER_FILE);
    heed_text_free(&path);
    return ok && write_state(t->c, run, &t->state, net->config);
}

bool heed__checkpoint_save(const heed_training *t, bool best) {
    heed_ctx *c = t->c;
    const char *run = t->a.run;
    if (!heed__stopped(c) && !heed__run_has(c, run, "config.conf"))
        return heed_fail(c, HEED_FAILED,
                         "run was removed while it trained: %s: expected its config.conf, found "
                         "nothing; the weights of step %" PRId64 " are not saved",
                         run, t->state.step);
    if (heed__stopped(c) || !heed__run_remove(c, run, "last.new") ||
        !heed__run_remove(c, run, "last.old"))
        return false;
    if (!write_new(t, best)) return heed__run_remove(c, run, "last.new") && false;
    if (heed__run_has(c, run, "last") && !move(c, run, "last", "last.old")) return false;
    return move(c, run, "last.new", "last") && finish(c, run);
}

/* The best weights are read as well, so that damage to them is found before training goes on. */
bool heed__checkpoint_load(heed_training *t) {
    static const char best[] = "model.safetensors";
    heed_store *s = t->net.store;
    const char *run = t->a.run;
    return (!heed__run_has(t->c, run, best) || heed__run_read_weights(s, run, best)) &&
           heed__run_read_weights(s, run, "last/model.safetensors") &&
           heed__run_read_weights(heed_optim_slots(t->optim), run, "last/optimizer.safetensors");
}
