/* run.c -- the folder of a run: what is in it, and how settings, labels, journal, weights and
 * checkpoints are written and read; how a run is opened, made, saved and replaced.
 *
 * A checkpoint is written completely as last.new, state.json last, each file fsynced. Then
 *     last -> last.old, last.new -> last, last/best.safetensors -> model.safetensors,
 *     last/adapter.safetensors -> adapter.safetensors
 * by rename. A folder with a state.json is complete; new best weights arrive with the checkpoint
 * that records them. So whenever the process dies, the newest complete folder of last, last.new and
 * last.old is the checkpoint, and heed__checkpoint_recover completes the swap. */
#include "core/core.h"
#include "core/os.h"
#include "core/params.h"
#include "fit/fit.h"
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADAPTER_FILE "adapter.safetensors" /* what a training with adapters changed */

/* All files of a run: a new one may replace these and nothing else. config.conf comes first, so
 * that it is written before the others and removed after them: a folder without it is not a run.
 * Checkpoints are removed first, so a partly removed run has none. */
static const char *const run_files[] = {"config.conf",
                                        "metrics.csv",
                                        "train.log",
                                        "loss.png",
                                        "samples.txt",
                                        "reconstructions.png",
                                        "labels.txt",
                                        "snapshots",
                                        "scores.json",
                                        "tokens.bin",
                                        HEED__SOURCE_FOLDER,
                                        "heed-tokenizer.json",
                                        "tokenizer.json",
                                        "tokenizer_config.json",
                                        "vocab.txt",
                                        "vocab.json",
                                        "merges.txt",
                                        "heed-data.txt",
                                        "heed-data.tsv",
                                        "heed-data.csv",
                                        "heed-data.jsonl",
                                        "heed-data",
                                        "model.safetensors",
                                        ADAPTER_FILE,
                                        "last",
                                        "last.new",
                                        "last.old"};
enum { RUN_FILES = sizeof run_files / sizeof *run_files };

/* The files of a run that is replaced wait here until the new run has a checkpoint. config.conf is
 * moved here last, restored first and removed last: a backup that has it is the complete old run.
 * The run's folder always has one, the old run's or the new one's. */
#define BACKUP ".heed-replaced"

heed__path heed__run_path(const char *run, const char *name) {
    heed__path p;
    int n = snprintf(p.s, sizeof p.s, "%s" HEED_INSIDE "%s", run, name);
    if (n < 0 || (size_t)n >= sizeof p.s) p.s[0] = 0;
    return p;
}

bool heed__run_has(const char *run, const char *name) {
    return heed__os_exists(heed__run_path(run, name).s);
}

static bool remove_file(heed_ctx *c, const char *run, const char *name) {
    return heed__os_remove(c, heed__run_path(run, name).s);
}

static bool write_file(heed_ctx *c, const char *run, const char *name, const void *bytes,
                       size_t n) {
    return heed__os_write(c, heed__run_path(run, name).s, &(heed__piece){bytes, n}, 1);
}

static bool move(heed_ctx *c, const char *run, const char *from, const char *to) {
    return heed__os_rename(c, heed__run_path(run, from).s, heed__run_path(run, to).s) &&
           heed__os_sync_dir(c, run);
}

/* The folder of the newest complete checkpoint: "last", or what an interrupted swap left; NULL:
 * none. Looks again, because training that saves may move a checkpoint between two looks. */
static const char *find_checkpoint(const char *run) {
    static const char *const files[] = {"last/state.json", "last.new/state.json",
                                        "last.old/state.json"};
    static const char *const folders[] = {"last", "last.new", "last.old"};
    enum { TRIES = 100 };
    for (int i = 0; i < 3 * TRIES; i++)
        if (heed__run_has(run, files[i % 3])) return folders[i % 3];
    return NULL;
}

/* Whether key is in a list ended by NULL. */
static bool listed(const char *const *list, const char *key) {
    while (*list && strcmp(*list, key) != 0) list++;
    return *list != NULL;
}

/* ---- labels.txt: a class name per line, in the order of their numbers ---- */

uint64_t heed__labels_digest(const char *const *labels, int count) {
    uint64_t h = 0;
    for (int i = 0; i < count; i++) h = heed__hash64(labels[i], strlen(labels[i]) + 1, h);
    return h;
}

bool heed__labels_write(heed_ctx *c, const char *run, const char *const *labels, int count) {
    heed_text text = {.c = c};
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        bool empty = !labels[i] || !*labels[i];
        if (empty || strchr(labels[i], '\n'))
            ok = heed_fail(c, HEED_DATA,
                           "name of class %d cannot be kept in labels.txt: expected one line of "
                           "text, found %s; hint: rename the class",
                           i, empty ? "nothing" : "a line break in it");
        ok = ok && heed_text_add(&text, "%s\n", labels[i]);
    }
    ok = ok && write_file(c, run, "labels.txt", text.s, text.n);
    heed_text_free(&text);
    return ok;
}

/* Cuts the text into its lines, the names. path: for errors. */
static bool cut_labels(heed_ctx *c, const char *path, heed__labels *l) {
    for (char *line = l->text.s, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        if (!*line)
            return heed_fail(c, HEED_DATA, "%s is damaged: line %d: expected a name, found nothing",
                             path, l->count + 1);
        size_t need = (size_t)l->count + 1;
        if (!heed__grow(c, &l->list, &l->capacity, need, sizeof *l->list)) return false;
        l->list[l->count++] = line;
    }
    return true;
}

bool heed__labels_read(heed_ctx *c, const char *run, int expected, heed__labels *l) {
    heed__path path = heed__run_path(run, "labels.txt");
    size_t n = 0;
    *l = (heed__labels){.text = {.c = c}};
    if (!heed__os_exists(path.s)) return !heed__stopped(c);
    unsigned char *bytes = heed__os_read(c, path.s, 1 << 24, &n);
    bool ok = bytes && heed_text_put(&l->text, (const char *)bytes, n);
    if (ok && (n == 0 || strlen(l->text.s) != n))
        ok = heed_fail(c, HEED_DATA, "%s is damaged: expected a name a line, found %s", path.s,
                       n ? "a zero byte" : "nothing");
    ok = ok && cut_labels(c, path.s, l);
    if (ok && expected && l->count != expected)
        ok = heed_fail(
            c, HEED_DATA,
            "%s is damaged: expected the names of %d classes, found %d; hint: restore a copy of it",
            path.s, expected, l->count);
    heed__free(bytes);
    return ok;
}

void heed__labels_free(heed__labels *l) {
    heed_text_free(&l->text);
    heed__free((void *)(uintptr_t)l->list);
    *l = (heed__labels){0};
}

/* ---- metrics.csv for programs, train.log for people ---- */

static const char header[] = "step,epoch,split,loss,metric,lr,grad_norm,items_per_s,seconds";

bool heed__journal_open(heed__journal *j, heed_ctx *c, const char *run, int64_t last) {
    *j = (heed__journal){.c = c, .run = run, .line = {.c = c}};
    return !run || heed__csv_cut(c, heed__run_path(run, "metrics.csv").s, (double)last, ",test,");
}

void heed__journal_close(heed__journal *j) { heed_text_free(&j->line); }

static heed_text *new_line(heed__journal *j) {
    j->line.n = 0;
    return &j->line;
}

/* A number that is not finite leaves its field empty. */
static void add_number(heed_text *t, double v, int digits) {
    char number[HEED__NUMBER];
    heed_text_add(t, ",%s", isfinite(v) ? heed__number_text(number, v, digits) : "");
}

void heed__journal_row(heed__journal *j, const char *split, double loss, double metric,
                       const heed_report *r) {
    if (!j->run || heed__stopped(j->c)) return;
    heed_text *t = new_line(j);
    heed_text_add(t, "%lld", (long long)r->step);
    add_number(t, r->epoch, 6);
    heed_text_add(t, ",%s", split);
    add_number(t, loss, 9);
    add_number(t, metric, 9);
    add_number(t, r->lr, 6);
    add_number(t, r->grad_norm, 6);
    add_number(t, r->items_per_s, 6);
    add_number(t, r->seconds, 6);
    if (!heed__stopped(j->c))
        heed__csv_append(j->c, heed__run_path(j->run, "metrics.csv").s, header, t->s);
}

static void append_log(heed__journal *j) {
    heed_text_add(&j->line, "\n");
    if (!heed__stopped(j->c))
        heed__os_append(j->c, heed__run_path(j->run, "train.log").s, j->line.s, j->line.n);
}

void heed__journal_note(heed__journal *j, int64_t step, const char *note) {
    if (!j->run || heed__stopped(j->c)) return;
    heed_text_add(new_line(j), "step %lld: %s", (long long)step, note);
    append_log(j);
}

void heed__journal_start(heed__journal *j, const heed_transfer *start) {
    static const char *const words[] = {"taken",
                                        "matched by row",
                                        "interpolated",
                                        "new: the run has none",
                                        "new: the run's does not fit",
                                        "not used"};
    char shape[64];
    if (!j->run) return;
    for (int i = 0; i < start->count && !heed__stopped(j->c); i++) {
        const heed_transfer_entry *e = &start->entries[i];
        heed_text *t = new_line(j);
        heed_text_add(t, "step 0: from %s: %s", start->run->dir, e->name);
        if (e->to) heed_text_add(t, " %s", heed_shape_text(e->to, shape, sizeof shape));
        heed_text_add(t, ": %s", words[e->how]);
        if (e->how == HEED_TRANSFER_MATCHED) heed_text_add(t, ", %d rows", e->rows);
        if (e->from && (!e->to || e->how == HEED_TRANSFER_UNFIT || e->how == HEED_TRANSFER_RESIZED))
            heed_text_add(t, ", %s", heed_shape_text(e->from, shape, sizeof shape));
        append_log(j);
    }
}

static void add_named(heed_text *t, const char *name, double v) {
    char number[HEED__NUMBER];
    if (isfinite(v)) heed_text_add(t, ", %s %s", name, heed__number_text(number, v, 6));
}

static void add_evaluation(heed_text *t, const heed_report *r) {
    heed_text_add(t, "evaluation");
    add_named(t, "loss", r->loss);
    add_named(t, "validation loss", r->val_loss);
    add_named(t, "metric", r->metric);
    add_named(t, "lr", r->lr);
    add_named(t, "items/s", r->items_per_s);
    add_named(t, "seconds", r->seconds);
    if (r->best) heed_text_add(t, ", best");
}

void heed__journal_report(heed__journal *j, const heed_report *r) {
    if (r->event == HEED_FIT_NOTE) heed__journal_note(j, r->step, r->note);
    if (r->event == HEED_FIT_NOTE || r->event == HEED_FIT_STEP) return;
    if (!j->run || heed__stopped(j->c)) return;
    heed_text *t = new_line(j);
    heed_text_add(t, "step %lld of %lld: ", (long long)r->step, (long long)r->steps);
    if (r->event == HEED_FIT_START)
        heed_text_add(t, "start, %zu parameters, %zu bytes, %llu batches in an epoch", r->params,
                      r->bytes, (unsigned long long)r->epoch_batches);
    if (r->event == HEED_FIT_EVAL) add_evaluation(t, r);
    if (r->event == HEED_FIT_SAVED) heed_text_add(t, "saved");
    append_log(j);
}

/* The settings of adapters, ended by NULL. */
static const char *const lora_settings[] = {"lora", "lora-alpha", "lora-targets", NULL};

/* ---- files of weights, with metadata from which a run is opened ---- */

uint64_t heed__tokenizers_digest(const heed_tokenizer *tokenizer, const heed_tokenizer *source) {
    uint64_t digest = tokenizer ? heed_tokenizer_digest(tokenizer) : 0;
    uint64_t other = source ? heed_tokenizer_digest(source) : 0;
    return source ? heed__hash64(&other, sizeof other, digest) : digest;
}

/* The mark is a semicolon, which JSON need not escape (jansson aborts if memory runs out within an
 * escape), or a line break if one of the texts contains a semicolon. */
static void add_to_list(heed_text *out, const char *key, const char *value) {
    heed_text_put(out, "", 1);
    heed_text_add(out, key ? "%s=%s" : "%s%s", key ? key : "", value);
}

static bool end_list(heed_text *out) {
    if (!heed_text_add(out, "%s", "")) return false;
    char mark = memchr(out->s, ';', out->n) ? '\n' : ';';
    for (size_t i = 0; i < out->n; i++)
        if (!out->s[i]) out->s[i] = mark;
    return true;
}

/* The settings of f that determine the model. A model's default for a setting that all training
 * runs share is not a setting of the model. */
bool heed__settings_text(const heed_model *m, const heed_config *f, heed_text *out) {
    const char *const *key = lora_settings;
    for (int i = 0; i < heed_config_count(f); i++) {
        const char *value, *name = heed_config_at(f, i, &value)->name;
        if (heed_option_find(m->options, name) && !heed_option_find(heed_fit_options, name))
            add_to_list(out, name, value);
    }
    for (; heed_config_int(f, "lora") > 0 && *key; key++)
        add_to_list(out, *key, heed_config_text(f, *key));
    return end_list(out);
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

static uint64_t weights_digest(const heed_params *s, const char *const values[META_KEYS]) {
    uint64_t h = 0;
    for (int i = 0; i < META_KEYS; i++)
        if (i < LABELS || *values[i]) h = heed__hash64(values[i], strlen(values[i]) + 1, h);
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        if (!heed__saves(e)) continue;
        h = heed__hash64(e->name, strlen(e->name), h);
        h = heed__hash64(e->tensor->x, e->tensor->size * sizeof *e->tensor->x, h);
    }
    return h;
}

/* Writes s, or parameters of r, as DIR/NAME. labels: the digest of their names. more: base, config
 * and classes of a file of adapters; or NULL. */
static bool save_weights(const heed_run *r, uint64_t labels, const heed_params *s, const char *dir,
                         const char *name, const char *const more[3]) {
    heed_text settings = {.c = r->c};
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
    ok = ok && heed__save_meta(s, heed__run_path(dir, name).s, meta);
    heed_text_free(&settings);
    return ok;
}

double heed__first_nonfinite(const heed_real *x, size_t n) {
    heed_real sum = 0; /* of x - x: 0, or NAN */
    for (size_t i = 0; i < n; i++) sum += x[i] - x[i];
    for (size_t i = 0; sum != 0 && i < n; i++)
        if (!isfinite(x[i])) return (double)x[i];
    return 0;
}

const char *heed__first_bad(const heed_params *s, bool gradient, double *found) {
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        const heed_real *x = gradient ? e->tensor->g : e->tensor->x;
        double v = x ? heed__first_nonfinite(x, e->tensor->size) : 0;
        if (v == 0) continue;
        *found = v;
        return e->name;
    }
    return NULL;
}

bool heed__weights_are_finite(const heed_params *s, const char *path) {
    double found = 0;
    const char *bad = heed__first_bad(s, false, &found);
    return !bad || heed_fail(heed_params_ctx(s), HEED_DATA,
                             "weights are not numbers: %s: %s: expected finite numbers, found %g; "
                             "hint: restore a copy, or train again",
                             path, bad, found);
}

/* A file from the build of the other precision has a digest that this build cannot compute. */
static bool holds(const heed_safetensors *f, const heed_params *s, const char *path) {
    heed_ctx *c = heed_params_ctx(s);
    const char *values[META_KEYS], *expected = heed__safetensors_meta(f, digest_key);
    char found[24];
    if (heed__ctx_edited(c)) return true;
    for (int i = 0; i < META_KEYS; i++) {
        values[i] = heed__safetensors_meta(f, meta_keys[i]);
        if (!values[i]) values[i] = "";
    }
    if (!expected && !heed__safetensors_meta(f, other_key))
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

/* Fills s from an open file of save_weights, and verifies that the file is unchanged and its
 * numbers are finite; the same from RUN/NAME. */
static bool take_weights(heed_params *s, const char *path, const heed_safetensors *f) {
    return heed__load_parsed(s, path, f) && holds(f, s, path) && heed__weights_are_finite(s, path);
}

bool heed__run_read_weights(heed_params *s, const char *run, const char *name) {
    heed__path path = heed__run_path(run, name);
    heed_safetensors *f = heed__safetensors_head(heed_params_ctx(s), path.s);
    bool ok = take_weights(s, path.s, f);
    heed_safetensors_close(f);
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
        if (heed__utf8_valid(value, n) == n)
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
    bool ok = !heed__stopped(c) && write_file(c, run, "last.new/state.json", t.s, t.n);
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

/* ---- config.conf, and the settings that a checkpoint records ---- */

/* The tokenizer or labels.txt gives it. */
static bool is_size_of_data(const char *key) {
    return strcmp(key, "vocab") == 0 || strcmp(key, "source-vocab") == 0 ||
           strcmp(key, "classes") == 0;
}

/* Adds why a run whose config.conf has another value than the one it was trained with is refused.
 */
static void add_edited(heed_text *out, const char *key, const char *was, const char *now) {
    bool ignorable = strcmp(key, "seed") != 0; /* the context was opened with the seed */
    heed_text_add(out,
                  "config.conf was changed: %s: the run was trained with %s, found %s; hint: "
                  "restore the line %s = %s%s",
                  key, *was ? was : "nothing", now, key, was,
                  ignorable ? ", or open the run with `edited`, which ignores it" : "");
}

/* What is done about settings that differ from the checkpoint's. CHECK: those by which a run reads
 * its inputs are refused, as model and weights fix all others; RESUME: all are, except those given
 * by a flag; RESTORE: they get the checkpoint's values, and a message lists them. */
typedef enum { CHECK, RESUME, RESTORE } treatment;

static bool treat(heed_ctx *c, heed_config *f, const char *key, const char *was, treatment how,
                  heed_text *ignored, bool *changed) {
    static const char *const places[] = {"data", "val", NULL}; /* a checksum is of what is there */
    if (!was || !heed_config_has(f, key) || heed__same_value(was, heed_config_text(f, key)))
        return true;
    heed_rank rank = heed_config_rank(f, key);
    bool missing = rank == HEED_FROM_DEFAULT, place = heed__ctx_edited(c) && listed(places, key);
    const char *now = heed_config_text(f, key);
    if (changed) *changed = true;
    if (rank == HEED_FROM_FLAG || place) return true;
    if (how != RESTORE) {
        heed_text why = {.c = c};
        add_edited(&why, key, was, missing ? "no such line" : now);
        heed_fail(c, HEED_DATA, "%s", why.s ? why.s : key);
        heed_text_free(&why);
        return false;
    }
    if (strcmp(key, "seed") == 0 || is_size_of_data(key)) return true;
    return heed_text_add(ignored, "%s%s%s%s (trained with %s)", ignored->n ? ", " : "", key,
                         missing ? " missing" : " = ", missing ? "" : now, was) &&
           heed_config_set(f, key, was, key, HEED_FROM_FILE);
}

/* For a training run by the clock, the checkpoint's plans apply, because config.conf may be newer.
 */
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

/* state.json of the run's checkpoint; NULL: there is none, or on error. A file that was found and
 * is missing was moved by training that saves: it is looked for again. */
static json_t *state_of(heed_ctx *c, const char *dir) {
    enum { TRIES = 100 };
    json_t *root = NULL;
    for (int left = TRIES; left--; heed_clear(c)) {
        const char *folder = find_checkpoint(dir);
        char name[32];
        snprintf(name, sizeof name, "%s/state.json", folder ? folder : "");
        root = folder ? heed__json_read(c, heed__run_path(dir, name).s) : NULL;
        if (!left || !*heed_ctx_missing(c, NULL)) break;
    }
    return root;
}

static bool compare(heed_ctx *c, const char *dir, heed_config *f, treatment how, bool *changed) {
    static const char *const input[] = {"mean", "std", "resize-to", "resample", "packing", NULL};
    heed_text ignored = {.c = c};
    json_t *root = state_of(c, dir), *all = json_object_get(root, settings_key), *was;
    const char *key;
    bool timed = how == RESUME && json_is_number(json_object_get(root, "clock"));
    bool ok = !heed__stopped(c) && (!timed || restore_plans(f, all));
    json_object_foreach(all, key, was) {
        if (how == CHECK && !listed(input, key)) continue;
        ok = ok && treat(c, f, key, json_string_value(was), how, &ignored, changed);
    }
    if (ok && ignored.n)
        heed_message(c, HEED_INFO, "ignored in %s/config.conf, where resuming restores it: %s", dir,
                     ignored.s);
    json_decref(root);
    heed_text_free(&ignored);
    return ok && !heed__stopped(c);
}

bool heed__run_compare(heed_ctx *c, const char *dir, heed_config *f, bool *changed) {
    return compare(c, dir, f, RESUME, changed);
}

bool heed_run_check(heed_ctx *c, const char *dir, heed_config *f) {
    return dir && f && !heed__stopped(c) &&
           (heed__ctx_edited(c) || compare(c, dir, f, CHECK, NULL));
}

/* A run that was moved still holds the data that was moved into it (heed_train_args.keep). */
static bool find_own_data(const char *dir, heed_config *f) {
    static const char own[] = "heed-data";
    const char *data = heed_config_has(f, "data") ? heed_config_text(f, "data") : "";
    const char *slash = strrchr(data, '/');
    if (!slash || strncmp(slash + 1, own, sizeof own - 1) != 0 || heed__os_exists(data) ||
        !heed__run_has(dir, slash + 1))
        return true;
    return heed_config_set(f, "data", heed__run_path(dir, slash + 1).s, dir, HEED_FROM_FLAG);
}

bool heed_run_settings(heed_ctx *c, const char *dir, heed_config *f) {
    if (heed__stopped(c)) return false;
    if (!dir || !f)
        return heed_fail(c, HEED_USAGE,
                         "settings of a run: expected its folder and a "
                         "heed_config, found NULL");
    return heed__config_read_open(f, heed__run_path(dir, "config.conf").s) &&
           (!heed__ctx_edited(c) || compare(c, dir, f, RESTORE, NULL)) && find_own_data(dir, f);
}

heed_config *heed__run_config(heed_ctx *c, const heed_model *m, const char *dir) {
    heed_config *f = heed_train_config(c, m);
    if (f && heed_run_settings(c, dir, f) && heed_run_check(c, dir, f)) return f;
    heed_config_free(f);
    return NULL;
}

bool heed__run_write_config(heed_ctx *c, const char *dir, const heed_config *f) {
    heed_text text = {.c = c};
    bool ok =
        heed_config_write(f, &text, true) && write_file(c, dir, "config.conf", text.s, text.n);
    heed_text_free(&text);
    return ok;
}

/* ---- adapters: what a training changed of the weights that it started from ---- */

static int count_adapters(const heed_params *s) {
    int n = 0;
    for (int i = 0; i < heed_params_count(s); i++) n += heed_params_at(s, i)->adapter;
    return n / 2; /* A and B */
}

/* Whether the training changes an entry, so that it is not one of the base. */
static bool changes(const heed_param *e) { return e->adapter || e->trained || e->thaw || e->state; }

/* A digest of what a training of s does not change. */
static uint64_t base_digest(const heed_params *s) {
    uint64_t h = 0;
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        if (changes(e)) continue;
        h = heed__hash64(e->name, strlen(e->name), h);
        h = heed__hash64(e->tensor->x, e->tensor->size * sizeof *e->tensor->x, h);
    }
    return h;
}

/* Writes them with metadata from which, and from the base, the run can be made again. */
static bool save_adapters(const heed_training *t, const char *name) {
    const heed_run *net = &t->net;
    heed_text config = {.c = t->c}, classes = {.c = t->c};
    heed_params *s = heed_params_new(t->c); /* a copy of what the training changes */
    const char *value;
    char base[24];
    for (int i = 0; s && i < heed_params_count(net->store); i++) {
        const heed_param *e = heed_params_at(net->store, i);
        const heed_tensor *x = e->tensor;
        if (!changes(e)) continue;
        heed_tensor *y = heed_buffer_new(s, e->name, "zero", x->dims, x->shape);
        if (y) memcpy(y->x, x->x, x->size * sizeof *x->x);
    }
    for (int i = 0; i < heed_config_count(net->config); i++) {
        const char *key = heed_config_at(net->config, i, &value)->name;
        add_to_list(&config, key, value);
    }
    for (int i = 0; i < net->label_count; i++) add_to_list(&classes, NULL, net->labels[i]);
    snprintf(base, sizeof base, "%016" PRIx64, base_digest(net->store));
    bool ok = s && end_list(&config) && end_list(&classes) &&
              save_weights(net, t->labels_digest, s, t->a.run, name,
                           (const char *const[]){base, config.s, classes.s});
    heed_params_free(s);
    heed_text_free(&config);
    heed_text_free(&classes);
    return ok;
}

/* ---- checkpoints ---- */

bool heed_run_resumable(heed_ctx *c, const char *dir) {
    if (heed__stopped(c) || !dir) return false;
    if (find_checkpoint(dir) || !heed__run_has(dir, "model.safetensors")) return true;
    if (heed__run_has(dir, "metrics.csv"))
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
    return (!heed__run_has(run, "last/best.safetensors") ||
            move(c, run, "last/best.safetensors", "model.safetensors")) &&
           (!heed__run_has(run, "last/" ADAPTER_FILE) ||
            move(c, run, "last/" ADAPTER_FILE, ADAPTER_FILE)) &&
           remove_file(c, run, "last.old") && remove_file(c, run, "last.new");
}

bool heed__checkpoint_recover(heed_ctx *c, const char *run) {
    const char *found = find_checkpoint(run);
    if (!found) return true;
    return (strcmp(found, "last") == 0 ||
            (remove_file(c, run, "last") && move(c, run, found, "last"))) &&
           finish(c, run);
}

static bool write_new(const heed_training *t, bool best) {
    const heed_run *net = &t->net;
    const char *run = t->a.run;
    uint64_t labels = t->labels_digest;
    return heed__os_make_dir(t->c, heed__run_path(run, "last.new").s) &&
           save_weights(net, labels, net->store, run, "last.new/model.safetensors", NULL) &&
           save_weights(net, labels, heed_optim_slots(t->optim), run,
                        "last.new/optimizer.safetensors", NULL) &&
           (!best ||
            save_weights(net, labels, net->store, run, "last.new/best.safetensors", NULL)) &&
           (!best || !count_adapters(net->store) || save_adapters(t, "last.new/" ADAPTER_FILE)) &&
           write_state(t->c, run, &t->state, net->config);
}

bool heed__checkpoint_save(const heed_training *t, bool best) {
    heed_ctx *c = t->c;
    const char *run = t->a.run;
    if (!heed__stopped(c) && !heed__run_has(run, "config.conf"))
        return heed_fail(c, HEED_FAILED,
                         "run was removed while it trained: %s: expected its config.conf, found "
                         "nothing; the weights of step %" PRId64 " are not saved",
                         run, t->state.step);
    if (heed__stopped(c) || !remove_file(c, run, "last.new") || !remove_file(c, run, "last.old"))
        return false;
    if (!write_new(t, best)) return remove_file(c, run, "last.new") && false;
    if (heed__run_has(run, "last") && !move(c, run, "last", "last.old")) return false;
    return move(c, run, "last.new", "last") && finish(c, run);
}

/* The best weights are read as well, so that damage to them is found before training goes on. */
bool heed__checkpoint_load(heed_training *t) {
    static const char best[] = "model.safetensors";
    heed_params *s = t->net.store;
    const char *run = t->a.run;
    return (!heed__run_has(run, best) || heed__run_read_weights(s, run, best)) &&
           heed__run_read_weights(s, run, "last/model.safetensors") &&
           heed__run_read_weights(heed_optim_slots(t->optim), run, "last/optimizer.safetensors");
}

/* ---- a folder for a new run ---- */

/* True for settings together with a product of training: weights, a checkpoint, the lock of a
 * training run killed before its first checkpoint, or a backup of the run it was replacing.
 * Settings alone may belong to another program. */
static bool is_run(const char *dir) {
    return heed__run_has(dir, "config.conf") &&
           (heed__run_has(dir, "model.safetensors") || find_checkpoint(dir) ||
            heed__run_has(dir, ".lock") || heed__run_has(dir, BACKUP));
}

/* Hidden files do not count. */
static bool is_empty(heed_ctx *c, const char *dir) {
    heed__listing list = {0};
    bool empty = heed__os_list(c, dir, &list) && list.count == 0;
    if (list.count > 0)
        heed_fail(c, HEED_USAGE,
                  "folder is not empty: %s holds %s, but no run: expected a new or empty folder, "
                  "or a run; hint: another folder for the run",
                  dir, list.entries[0].name);
    heed__os_list_free(&list);
    return empty;
}

bool heed_run_path_is_free(heed_ctx *c, const char *dir, bool force) {
    if (heed__stopped(c) || !dir) return false;
    if (!heed__os_exists(dir)) return true;
    if (!heed__os_is_dir(dir))
        return heed_fail(c, HEED_USAGE, "run is wrong: %s: expected a folder, found a file", dir);
    if (!is_run(dir)) return is_empty(c, dir);
    if (force) return true;
    if (!find_checkpoint(dir)) /* a merged run has none */
        return heed_fail(c, HEED_USAGE,
                         "run exists already: %s: expected no run there; hint: `force` removes it",
                         dir);
    return heed_fail(c, HEED_USAGE,
                     "run exists already: %s: expected no run there; hint: `resume %s` continues "
                     "it, `force` removes it and starts over",
                     dir, dir);
}

bool heed_run_path_is_inside(heed_ctx *c, const char *dir, const char *path) {
    heed_text folder = {.c = c};
    const char *slash = path ? strrchr(path, '/') : NULL;
    bool ok = dir && path &&
              heed_text_put(&folder, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    bool owns = false, beside = ok && heed__os_same(dir, folder.s);
    for (int i = 0; ok && i < RUN_FILES && !owns; i++) {
        heed__path own = heed__run_path(dir, run_files[i]);
        owns = heed__os_same(own.s, path) || heed__os_same(own.s, folder.s) ||
               (beside && strcmp(slash ? slash + 1 : path, run_files[i]) == 0); /* a link, too */
    }
    heed_text_free(&folder);
    return owns;
}

/* Walks up from the existing part of dir, through the actual parents, so links do not matter. */
static bool is_inside(heed_ctx *c, const char *dir, const char *folder) {
    heed_text up = {.c = c};
    uint64_t at[2], below[2] = {0};
    bool inside = false, ok = dir && folder && heed_text_add(&up, "%s", dir);
    while (ok && up.n && !heed__os_exists(up.s)) {
        while (up.n && up.s[up.n - 1] == '/') up.s[--up.n] = 0;
        while (up.n && up.s[up.n - 1] != '/') up.s[--up.n] = 0;
    }
    if (ok && !up.n) ok = heed_text_add(&up, ".");
    while (ok && !inside && heed__os_identity(up.s, at) && memcmp(at, below, sizeof at) != 0) {
        inside = heed__os_same(up.s, folder);
        memcpy(below, at, sizeof at);
        ok = heed_text_add(&up, "/..");
    }
    heed_text_free(&up);
    return inside;
}

bool heed_run_path_is_outside(heed_ctx *c, const char *dir, const char *folder) {
    return !is_inside(c, dir, folder) ||
           heed_fail(c, HEED_USAGE,
                     "run is wrong: %s lies in %s, whose folders are classes: expected a folder "
                     "elsewhere, such as runs/first",
                     dir, folder);
}

bool heed__run_check_outside(heed_ctx *c, const char *dir, const heed_config *f, bool keep) {
    static const char *const inputs[] = {"data", "val"};
    for (int i = 0; i < 2; i++)
        if (heed_config_has(f, inputs[i]) && !(keep && i == 0) &&
            heed_run_path_is_inside(c, dir, heed_config_text(f, inputs[i])))
            return heed_fail(c, HEED_USAGE,
                             "%s is wrong: %s is a file of the run that would be replaced; hint: "
                             "move it out of %s first",
                             inputs[i], heed_config_text(f, inputs[i]), dir);
    return !heed__stopped(c);
}

/* Also works after an error. Files before number `first` are kept. */
static bool clear_run(heed_ctx *c, const char *dir, int first) {
    bool ok = true;
    for (int i = RUN_FILES; ok && i-- > first;) ok = remove_file(c, dir, run_files[i]);
    return ok;
}

/* ---- the replaced run ---- */

static bool move_between(heed_ctx *c, const char *from, const char *to, const char *name) {
    return !heed__run_has(from, name) ||
           heed__os_rename(c, heed__run_path(from, name).s, heed__run_path(to, name).s);
}

/* Restores the backup, and removes what the new run has left. Also works after an error. */
static bool restore(heed_ctx *c, const char *dir) {
    heed__path backup = heed__run_path(dir, BACKUP);
    bool ok = !heed__run_has(backup.s, run_files[0]) || clear_run(c, dir, 1);
    for (int i = 0; ok && i < RUN_FILES; i++) ok = move_between(c, backup.s, dir, run_files[i]);
    return ok && heed__os_remove(c, backup.s);
}

/* Copies config.conf after all other files have been moved. */
bool heed__run_backup(heed_ctx *c, const char *dir) {
    if (!heed__run_has(dir, run_files[0])) return true;
    heed__path backup = heed__run_path(dir, BACKUP);
    bool ok = heed__os_make_dir(c, backup.s);
    size_t n;
    for (int i = RUN_FILES; ok && i-- > 1;) ok = move_between(c, dir, backup.s, run_files[i]);
    ok = ok && heed__os_sync_dir(c, dir);
    unsigned char *bytes = ok ? heed__os_read(c, heed__run_path(dir, run_files[0]).s, 0, &n) : NULL;
    ok = bytes && write_file(c, backup.s, run_files[0], bytes, n);
    heed__free(bytes);
    if (!ok) restore(c, dir);
    return ok;
}

bool heed__run_commit(heed_ctx *c, const char *dir) {
    heed__path backup = heed__run_path(dir, BACKUP);
    return clear_run(c, backup.s, 0) && heed__os_remove(c, backup.s);
}

bool heed__run_recover(heed_ctx *c, const char *dir, bool resumes) {
    if (!heed__run_has(dir, BACKUP)) return true;
    bool full = heed__run_has(dir, BACKUP "/config.conf");
    if (full && find_checkpoint(dir)) return heed__run_commit(c, dir);
    if (!restore(c, dir)) return false;
    return !full || !resumes ||
           heed_fail(c, HEED_DATA,
                     "%s holds the run that was there before: the one that was to replace it died "
                     "before its first checkpoint; hint: `resume %s` now continues it",
                     dir, dir);
}

/* The folder in which the run at dir is read: dir, or its backup while the new run has no
 * checkpoint. Changes nothing. */
static heed__path source_of(const char *dir) {
    heed__path source;
    if (heed__run_has(dir, BACKUP "/config.conf") && !find_checkpoint(dir))
        return heed__run_path(dir, BACKUP);
    snprintf(source.s, sizeof source.s, "%s", dir);
    return source;
}

const char *heed_run_file(const char *dir, const char *name, char *path, size_t size) {
    snprintf(path, size, "%s", heed__run_path(source_of(dir).s, name).s);
    return path;
}

/* Whether only a part of the run at dir is in its backup, so that it must be restored first. */
static bool is_torn(heed_ctx *c, const char *dir) {
    heed__path backup = heed__run_path(dir, BACKUP);
    heed__listing list = {0};
    bool torn = heed__os_is_dir(backup.s) && !heed__run_has(backup.s, run_files[0]) &&
                heed__os_list(c, backup.s, &list) && list.count > 0;
    heed__os_list_free(&list);
    return torn;
}

bool heed_run_recover(heed_ctx *c, const char *dir) {
    if (heed__stopped(c) || !dir) return false;
    if (!heed__run_has(dir, BACKUP)) return true;
    heed__path path = heed__run_path(dir, ".lock");
    heed__lock lock = {0};
    long holder;
    bool ok = true;
    if (heed__os_lock(&lock, path.s, &holder)) {
        ok = heed__run_recover(c, dir, true);
        heed__os_unlock(&lock, path.s);
    }
    return ok;
}

/* ---- making ---- */

bool heed__run_make(const heed_run *r, const char *dir, const char *keep) {
    heed_ctx *c = r->c;
    return clear_run(c, dir, 1) && heed__run_write_config(c, dir, r->config) &&
           (!keep || heed__os_rename(c, keep, heed_config_text(r->config, "data"))) &&
           (!r->tokenizer || heed_tokenizer_save(r->tokenizer, heed__run_path(dir, "").s)) &&
           (!r->source ||
            heed_tokenizer_save(r->source, heed__run_path(dir, HEED__SOURCE_FOLDER).s)) &&
           (!r->labels || heed__labels_write(c, dir, r->labels, r->label_count));
}

void heed__run_abandon(heed_ctx *c, const char *dir) {
    if (heed__run_has(dir, BACKUP))
        restore(c, dir);
    else
        clear_run(c, dir, 0);
}

/* ---- opening ---- */

/* An open run. */
typedef struct {
    heed_run run; /* first member: what the caller sees */
    heed__owned owned;
    uint64_t digest, labels_digest; /* of the tokenizer and of labels.txt; 0: none */
    heed_text dir, edited; /* edited: why config.conf does not fit the weights; "": it does */
    heed__labels labels;
} opened;

/* Frees only its own memory: the context owns what it refers to, and may free it earlier. */
static void release(heed__owned *owned) {
    opened *o = (opened *)(void *)((char *)owned - offsetof(opened, owned));
    heed__free(o->run.self);
    heed_text_free(&o->dir);
    heed_text_free(&o->edited);
    heed__labels_free(&o->labels);
    heed__free(o);
}

void heed_run_close(heed_run *r) {
    if (!r) return;
    opened *o = (opened *)(void *)r;
    heed_tokenizer_free(r->tokenizer);
    heed_tokenizer_free(r->source);
    heed_tape_free(r->tape);
    heed_params_free(r->store);
    heed_config_free(r->config);
    heed__disown(r->c, &o->owned);
    release(&o->owned);
}

static opened *new_run(heed_ctx *c, const char *dir) {
    opened *o = heed__alloc(c, sizeof *o);
    if (!o) return NULL;
    o->run.c = o->dir.c = o->edited.c = o->labels.text.c = c;
    o->run.step = -1;
    heed__own(c, &o->owned, release);
    heed_text_add(&o->dir, "%s", dir);
    o->run.dir = o->dir.s;
    return o;
}

/* Reads the metadata of an open weights file, which names the model. */
static bool read_meta(opened *o, const heed_model *const *models, const heed_safetensors *f,
                      const char *path) {
    heed_ctx *c = o->run.c;
    const char *name = heed__safetensors_meta(f, "architecture");
    const char *digest = heed__safetensors_meta(f, "tokenizer");
    const char *labels = heed__safetensors_meta(f, "labels");
    if (!name || !digest || !heed__safetensors_meta(f, "settings") ||
        sscanf(digest, "%16" SCNx64, &o->digest) != 1 ||
        (labels && sscanf(labels, "%16" SCNx64, &o->labels_digest) != 1))
        return heed_fail(
            c, HEED_DATA,
            "%s is not of a run: expected the metadata architecture, settings and tokenizer; hint: "
            "`info %s` shows what it holds",
            path, path);
    heed_text known = {.c = c};
    for (; models && *models && !o->run.model; models++) {
        if (!heed__model_usable(*models)) continue;
        if (strcmp((*models)->name, name) == 0) o->run.model = *models;
        heed_text_add(&known, "%s%s", known.n ? ", " : "", (*models)->name);
    }
    if (!o->run.model)
        heed_fail(c, HEED_DATA,
                  "%s holds an unknown model: architecture: expected one of %s, found %s", path,
                  known.n ? known.s : "no models", name);
    heed_text_free(&known);
    return o->run.model != NULL;
}

/* Sets what the weights were trained with, and notes the first line of config.conf that differs.
 * Sizes that the tokenizer or labels.txt gives are not used, so that they may differ. */
static bool apply_setting(opened *o, const char *key, const char *value, const char *path) {
    heed_config *f = o->run.config;
    heed_text was = {.c = o->run.c};
    bool own = heed_config_has(f, key) && heed_config_rank(f, key) == HEED_FROM_FILE;
    bool ok = (!own || heed_text_add(&was, "%s", heed_config_text(f, key))) &&
              heed_config_set(f, key, value, path, HEED_FROM_FLAG);
    const char *now = heed_config_text(f, key);
    if (ok && own && !is_size_of_data(key) && !heed__same_value(was.s, now) && !o->edited.n)
        add_edited(&o->edited, key, now, *was.s ? was.s : "nothing");
    heed_text_free(&was);
    return ok;
}

/* Calls `set` for each KEY=VALUE of a list in metadata. */
static bool each_setting(opened *o, const char *list, const char *path,
                         bool (*set)(opened *o, const char *key, const char *value,
                                     const char *path)) {
    heed_text text = {.c = o->run.c};
    const char mark[] = {*list, 0};
    bool ok = heed_text_add(&text, "%s", list);
    for (char *key = text.s, *next; ok && *key; key = next) {
        next = key + strcspn(key, mark);
        if (*next) *next++ = 0;
        if (!*key) continue;
        char *value = strchr(key, '=');
        if (value) *value++ = 0;
        ok = value ? set(o, key, value, path)
                   : heed_fail(o->run.c, HEED_DATA,
                               "%s is wrong: metadata settings: expected KEY=VALUE, found %s", path,
                               key);
    }
    heed_text_free(&text);
    return ok;
}

/* The settings in the weights file, which names `lora` only if they have adapters. */
static bool apply_settings(opened *o, const heed_safetensors *f, const char *path) {
    const char *list = heed__safetensors_meta(f, "settings"), mark[] = {*list, 0};
    char lora[] = "?lora=";
    lora[0] = *mark;
    return each_setting(o, list, path, apply_setting) &&
           ((*list && strstr(list, lora)) || apply_setting(o, "lora", "0", path));
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

/* Opens the tokenizers in dir, and checks that they are those of the metadata. */
static bool read_tokenizers(opened *o, const char *dir) {
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

static bool read_labels(opened *o, const char *dir) {
    heed_run *r = &o->run;
    int64_t classes =
        heed_config_has(r->config, "classes") ? heed_config_int(r->config, "classes") : 0;
    if (!heed__labels_read(r->c, dir, (int)classes, &o->labels)) return false;
    r->labels = o->labels.list;
    r->label_count = o->labels.count;
    return !o->labels_digest || same_digest(r->c, "labels.txt", dir, o->labels_digest,
                                            heed__labels_digest(r->labels, r->label_count));
}

bool heed__run_build(heed_run *r, const heed_params *from) {
    r->store = heed_params_new(r->c);
    r->tape = heed_tape_new(r->c);
    r->self = heed__alloc(r->c, r->model->size);
    if (!r->store || !r->tape || !r->self) return false;
    heed__store_expect(r->store, true, from);
    bool ok = heed_model_init(r->model, r->self, r->store, r->config);
    heed__store_expect(r->store, false, NULL);
    return ok;
}

static bool merge_adapters(heed_run *r) {
    r->adapters = count_adapters(r->store);
    return heed_lora_merge(r->store);
}

/* RUN/FOLDER/NAME */
static heed__path inside(const char *run, const char *folder, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return heed__run_path(run, path);
}

/* Whether a file was not found; then there is no error any more. */
static bool was_missing(heed_ctx *c) {
    bool missing = *heed_ctx_missing(c, NULL);
    if (missing) heed_clear(c);
    return missing;
}

/* The best weights stand in the checkpoint until its swap is complete. */
static heed_safetensors *open_weights(heed_ctx *c, const char *dir, const char *folder, bool last,
                                      heed__path *path) {
    heed_safetensors *f = NULL;
    if (folder) {
        *path = inside(dir, folder, last ? "model.safetensors" : "best.safetensors");
        f = heed__safetensors_head(c, path->s);
    }
    if (last || f || (folder && !was_missing(c))) return f;
    *path = heed__run_path(dir, "model.safetensors");
    return heed__safetensors_head(c, path->s);
}

/* Opens the requested weights, and reads the state of their checkpoint, if there is one, even
 * within an unfinished swap. Training that saves may move the checkpoint meanwhile: then it is
 * looked for again. A state that is the same after the weights were opened is theirs. */
static heed_safetensors *find_weights(heed_ctx *c, const char *dir, bool last, heed__state *s,
                                      heed__path *path) {
    enum { TRIES = 100 };
    for (int left = TRIES; left--;) {
        const char *folder = find_checkpoint(dir);
        heed__path state = inside(dir, folder ? folder : "", "state.json");
        heed__state after = *s = (heed__state){.step = -1, .best_step = -1};
        if (last && !folder) {
            heed_fail(c, HEED_DATA, "%s holds no checkpoint: last/state.json: not found", dir);
            return NULL;
        }
        bool ok = !folder || heed__state_read(c, state.s, s);
        heed_safetensors *f = ok ? open_weights(c, dir, folder, last, path) : NULL;
        ok = f && (!folder || heed__state_read(c, state.s, &after));
        if (ok && (after.step == s->step || !left)) return f;
        heed_safetensors_close(f);
        if (!ok && (!left || !was_missing(c))) return NULL;
    }
    return NULL;
}

static bool open_all(opened *o, const char *dir, const heed_model *const *models, bool last) {
    heed_ctx *c = o->run.c;
    heed__path path;
    heed__state s;
    heed_safetensors *f = find_weights(c, dir, last, &s, &path);
    bool ok = f && read_meta(o, models, f, path.s) &&
              (o->run.config = heed__run_config(c, o->run.model, dir)) &&
              apply_settings(o, f, path.s) && read_tokenizers(o, dir) && read_labels(o, dir) &&
              heed__run_build(&o->run, NULL) && take_weights(o->run.store, path.s, f) &&
              (!o->edited.n || heed__ctx_edited(c) || heed_fail(c, HEED_DATA, "%s", o->edited.s)) &&
              merge_adapters(&o->run);
    if (ok) o->run.step = last ? s.step : s.best_step, o->run.data_checksum = s.data_checksum;
    heed_safetensors_close(f);
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
    return heed_model_data(m)->open && !heed_model_data(m)->files;
}

/* Fails unless dir holds a run that can be opened. For a file in its place, the hint names the
 * first text model, if there is one. */
static bool check_run(heed_ctx *c, const char *dir, const heed_model *const *models) {
    const char *slash = strrchr(dir, '/');
    char folder[1024];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - dir) : 0, dir);
    while (models && *models && !is_text(*models)) models++;
    bool file = heed__os_exists(dir) && !heed__os_is_dir(dir);
    if (file && *folder && heed__run_has(folder, "config.conf"))
        return heed_fail(c, HEED_DATA,
                         "run is missing: %s: expected the folder of a run, found a file of the "
                         "run %s",
                         dir, folder);
    if (file && models && *models)
        return heed_fail(c, HEED_DATA,
                         "run is missing: %s: expected the folder of a run, found a file; hint: if "
                         "it is a text, `train %s %s -o runs/first` makes one",
                         dir, (*models)->name, dir);
    if (is_torn(c, dir))
        return heed_fail(c, HEED_DATA,
                         "run is incomplete: %s: the training that was to replace it died while it "
                         "moved its files; hint: `resume %s` restores it",
                         dir, dir);
    /* If a part of a run exists, opening it reports what is missing. */
    return heed__run_has(dir, "config.conf") || heed__run_has(dir, "model.safetensors") ||
           heed__run_has(dir, "last") || heed__run_has(dir, "last.new") || heed__run_refuse(c, dir);
}

heed_run *heed_run_open(heed_ctx *c, const char *dir, const heed_model *const *models,
                        const char *which) {
    if (heed__stopped(c) || !dir) return NULL;
    bool last = which && strcmp(which, "last") == 0;
    if (which && !last && strcmp(which, "best") != 0) {
        heed_fail(c, HEED_USAGE, "`which` is wrong: expected best or last, found %s", which);
        return NULL;
    }
    opened *o = check_run(c, dir, models) ? new_run(c, dir) : NULL;
    if (o && open_all(o, source_of(dir).s, models, last)) return &o->run;
    if (o) heed_run_close(&o->run);
    return NULL;
}

heed_reader heed_run_reader(const heed_run *r) {
    if (!r) return (heed_reader){.c = NULL};
    return (heed_reader){.c = r->c,
                         .kind = heed_model_data(r->model),
                         .config = r->config,
                         .tokenizer = r->tokenizer,
                         .source = r->source};
}

/* ---- a run from the one that its training started from, and a file of adapters ---- */

/* Settings that only programs know are left out. */
static bool set_known(opened *o, const char *key, const char *value, const char *path) {
    return !heed_config_has(o->run.config, key) ||
           heed_config_set(o->run.config, key, value, path, HEED_FROM_FILE);
}

static bool read_classes(opened *o, const char *list, const char *path) {
    heed_run *r = &o->run;
    if (!list || !*list) return true;
    if (!heed_text_add(&o->labels.text, "%s", list + 1)) return false;
    for (char *at = o->labels.text.s; (at = strchr(at, *list));) *at++ = '\n';
    if (!cut_labels(r->c, path, &o->labels)) return false;
    r->labels = o->labels.list;
    r->label_count = o->labels.count;
    return heed_config_int(r->config, "classes") == r->label_count ||
           heed_fail(r->c, HEED_DATA,
                     "%s is damaged: expected the names of %" PRId64 " classes, found %d", path,
                     heed_config_int(r->config, "classes"), r->label_count);
}

/* Takes the arrays of the file into the store, and freezes every other entry. */
static bool take_changed(heed_params *s, const heed_safetensors *f, const char *path) {
    heed_params *changed = heed_params_new(heed_params_ctx(s));
    bool ok = changed != NULL;
    for (int i = 0; ok && i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        if (e->adapter || e->state || heed__safetensors_find(f, e->name))
            ok = heed_buffer_new(changed, e->name, "zero", e->tensor->dims, e->tensor->shape);
        else
            heed_freeze(s, e->name);
    }
    ok = ok && take_weights(changed, path, f);
    for (int i = 0; ok && i < heed_params_count(changed); i++) {
        const heed_tensor *x = heed_params_at(changed, i)->tensor;
        heed__store_set(heed_params_find(s, x->name), x);
    }
    heed_params_free(changed);
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
static bool check_tokenizer(const opened *o, const heed_run *base, const char *path) {
    uint64_t found = base->tokenizer ? heed__tokenizers_digest(base->tokenizer, base->source) : 0;
    return found == o->digest ||
           heed_fail(base->c, HEED_DATA,
                     "%s does not belong to %s: expected the tokenizer of its training, with "
                     "digest %016" PRIx64 ", found %016" PRIx64
                     "; hint: config.conf beside it names the run that it started from, and if "
                     "it extended the vocabulary of that one, `merge` with its own run",
                     path, base->dir, o->digest, found);
}

static bool adapt(opened *o, const heed_run *base, const heed_safetensors *f,
                  const heed_model *const *models, const char *path) {
    heed_run *r = &o->run;
    const char *digest = heed__safetensors_meta(f, "base");
    const char *settings = heed__safetensors_meta(f, "config");
    heed_transfer start = {0};
    if (!digest || !settings || !*settings)
        return heed_fail(r->c, HEED_DATA,
                         "%s holds no adapters: expected the metadata base and config; hint: the "
                         "adapter.safetensors of a run that was trained with `lora`",
                         path);
    bool ok = read_meta(o, models, f, path) && check_tokenizer(o, base, path) &&
              (r->config = heed_train_config(r->c, r->model)) &&
              each_setting(o, settings, path, set_known) && apply_settings(o, f, path) &&
              read_tokenizers(o, base->dir) &&
              read_classes(o, heed__safetensors_meta(f, "classes"), path) &&
              heed__run_build(r, base->store) &&
              heed__transfer_take(
                  r->store, &(heed__row_names){r->tokenizer, r->source, r->labels, r->label_count},
                  base, &start) &&
              take_changed(r->store, f, path) && heed__store_draw_all(r->store) &&
              check_base(r, base, digest, path) && merge_adapters(r);
    heed__transfer_close(&start);
    return ok;
}

heed_run *heed_run_adapt(const heed_run *base, const char *file, const heed_model *const *models) {
    if (!base || !file || heed__stopped(base->c)) return NULL;
    heed_safetensors *f = heed__safetensors_head(base->c, file);
    opened *o = f ? new_run(base->c, base->dir) : NULL;
    bool ok = o && adapt(o, base, f, models, file);
    heed_safetensors_close(f);
    if (ok) return &o->run;
    if (o) heed_run_close(&o->run);
    return NULL;
}

/* ---- a run in memory, and an open run written to another folder, without adapters ---- */

static bool set_labels(opened *o, const char *const *labels, int count) {
    heed_ctx *c = o->run.c;
    bool ok = true;
    for (int i = 0; ok && i < count; i++) ok = heed_text_add(&o->labels.text, "%s\n", labels[i]);
    ok = ok && (!count || cut_labels(c, "labels", &o->labels));
    o->run.labels = o->labels.list;
    o->run.label_count = o->labels.count;
    if (ok && o->labels.count != count)
        ok = heed_fail(c, HEED_DATA, "name of a class has a line break: expected one line of text");
    return ok && heed__settings_number(o->run.config, "classes", count, "labels");
}

heed_run *heed__run_start(heed_ctx *c, const heed_model *m, heed_config *f,
                          heed_tokenizer *tokenizer, const char *const *labels, int label_count) {
    opened *o = m && f && !heed__stopped(c) ? new_run(c, "") : NULL;
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

heed_run *heed__run_new(heed_ctx *c, const heed_model *m, heed_config *f, heed_tokenizer *tokenizer,
                        const char *const *labels, int label_count) {
    heed_run *r = heed__run_start(c, m, f, tokenizer, labels, label_count);
    if (!r || (heed__run_build(r, NULL) && heed__store_draw_all(r->store))) return r;
    heed_run_close(r);
    return NULL;
}

/* From now on the run's settings name no adapters. */
static bool forget_adapters(heed_config *f) {
    bool ok = true;
    for (const char *const *key = lora_settings; ok && *key; key++)
        if (heed_config_has(f, *key))
            ok = heed_config_set(f, *key, heed_config_default(f, *key), *key, HEED_FROM_FLAG);
    return ok;
}

/* The folder exists and is locked. */
static bool replace(const heed_run *r, const char *dir, bool force) {
    heed_ctx *c = r->c;
    if (!heed__run_recover(c, dir, false) || !heed_run_path_is_free(c, dir, force) ||
        !heed__run_backup(c, dir))
        return false;
    uint64_t labels = heed__labels_digest(r->labels, r->label_count);
    if (heed__run_make(r, dir, NULL) &&
        save_weights(r, labels, r->store, dir, "model.safetensors", NULL))
        return heed__run_commit(c, dir);
    heed__run_abandon(c, dir);
    return false;
}

bool heed_run_save(heed_run *r, const char *dir, bool force) {
    if (!r || !dir || heed__stopped(r->c)) return false;
    heed_ctx *c = r->c;
    if (heed__os_same(r->dir, dir))
        return heed_fail(c, HEED_USAGE,
                         "folder is the run's: %s: expected another one; hint: `%s-plain`", dir,
                         dir);
    if (!heed_run_path_is_free(c, dir, force) ||
        !heed__run_check_outside(c, dir, r->config, false) || !forget_adapters(r->config))
        return false;
    bool made = !heed__os_exists(dir);
    heed__path path = heed__run_path(dir, ".lock");
    heed__lock lock = {0};
    long holder = 0;
    bool ok = heed__os_make_dir(c, dir);
    if (ok && !heed__os_lock(&lock, path.s, &holder))
        ok = heed_fail(c, HEED_FAILED, "a training run is active in %s; hint: stop it first", dir);
    ok = ok && replace(r, dir, force);
    if (!ok && made)
        heed__os_unlock_folder(&lock, dir, path.s);
    else
        heed__os_unlock(&lock, path.s);
    return ok;
}
