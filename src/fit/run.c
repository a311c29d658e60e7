/* run.c -- the folder of a run: what is in it, how its settings, labels and journal are written and
 * read, how a run is opened, made and replaced. checkpoint.c writes its weights. */
#include "core/core.h"
#include "core/os.h"
#include "core/store.h"
#include "fit/fit.h"
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
                                        HEED__ADAPTER_FILE,
                                        "last",
                                        "last.new",
                                        "last.old"};
enum { RUN_FILES = sizeof run_files / sizeof *run_files };

/* The files of a run that is replaced wait here until the new run has a checkpoint. config.conf is
 * moved here last, restored first and removed last: a backup that has it is the complete old run.
 * The run's folder always has one, the old run's or the new one's. */
#define BACKUP ".heed-replaced"

const char *heed__run_path(heed_text *t, const char *run, const char *name) {
    t->n = 0;
    if (t->s) t->s[0] = 0;
    heed_text_add(t, "%s" HEED_INSIDE "%s", run, name);
    return t->s ? t->s : "";
}

bool heed__run_has(heed_ctx *c, const char *run, const char *name) {
    heed_text path = {.c = c};
    bool yes = heed__os_exists(heed__run_path(&path, run, name));
    heed_text_free(&path);
    return yes;
}

bool heed__run_remove(heed_ctx *c, const char *run, const char *name) {
    heed_text path = {.c = c};
    bool ok = heed__run_path(&path, run, name)[0] && heed__os_remove(c, path.s);
    heed_text_free(&path);
    return ok;
}

bool heed__run_write(heed_ctx *c, const char *run, const char *name, const void *bytes, size_t n) {
    heed_text path = {.c = c};
    bool ok = heed__os_write(c, heed__run_path(&path, run, name), &(heed__piece){bytes, n}, 1);
    heed_text_free(&path);
    return ok;
}

/* ---- config.conf, with the settings of model, data and training ---- */

bool heed__size_of_data(const char *key) {
    return strcmp(key, "vocab") == 0 || strcmp(key, "source-vocab") == 0 ||
           strcmp(key, "classes") == 0;
}

/* A run that was moved still holds the data that was moved into it (heed_train_args.keep). */
static bool find_own_data(heed_ctx *c, const char *dir, heed_config *f) {
    static const char own[] = "heed-data";
    const char *data = heed_config_has(f, "data") ? heed_config_text(f, "data") : "";
    const char *slash = strrchr(data, '/');
    if (!slash || strncmp(slash + 1, own, sizeof own - 1) != 0 || heed__os_exists(data))
        return true;
    heed_text path = {.c = c};
    bool ok = heed_text_add(&path, "%s" HEED_INSIDE "%s", dir, slash + 1);
    if (ok && heed__os_exists(path.s))
        ok = heed_config_set(f, "data", path.s, dir, HEED_FROM_FLAG); /* as if it were given */
    heed_text_free(&path);
    return ok;
}

/* Settings that went. A run that names them opens, as the others of its settings say what it is. */
static const char *const gone[] = {"accumulate-order", "whole-logits", NULL};

bool heed_run_settings(heed_ctx *c, const char *dir, heed_config *f) {
    heed_text path = {.c = c};
    if (heed__stopped(c)) return false;
    if (!dir || !f)
        return heed_fail(c, HEED_USAGE,
                         "settings of a run: expected its folder and a "
                         "heed_config, found NULL");
    bool ok = heed__config_read_open(f, heed__run_path(&path, dir, "config.conf"), gone) &&
              heed__state_restore(c, dir, f) && find_own_data(c, dir, f);
    heed_text_free(&path);
    return ok;
}

heed_config *heed__run_config(heed_ctx *c, const heed_model *m, const char *dir) {
    heed_config *f = heed_train_config(c, m);
    if (f && heed_run_settings(c, dir, f) && heed_run_check(c, dir, f)) return f;
    heed_config_free(f);
    return NULL;
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
    ok = ok && heed__run_write(c, run, "labels.txt", text.s, text.n);
    heed_text_free(&text);
    return ok;
}

bool heed__labels_cut(heed_ctx *c, const char *path, heed__labels *l) {
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
    heed_text path = {.c = c};
    size_t n = 0;
    *l = (heed__labels){.text = {.c = c}};
    if (!heed__os_exists(heed__run_path(&path, run, "labels.txt"))) {
        heed_text_free(&path);
        return !heed__stopped(c);
    }
    unsigned char *bytes = heed__os_read(c, path.s, 1 << 24, &n);
    bool ok = bytes && heed_text_put(&l->text, (const char *)bytes, n);
    if (ok && (n == 0 || strlen(l->text.s) != n))
        ok = heed_fail(c, HEED_DATA, "%s is damaged: expected a name a line, found %s", path.s,
                       n ? "a zero byte" : "nothing");
    ok = ok && heed__labels_cut(c, path.s, l);
    if (ok && expected && l->count != expected)
        ok = heed_fail(
            c, HEED_DATA,
            "%s is damaged: expected the names of %d classes, found %d; hint: restore a copy of it",
            path.s, expected, l->count);
    heed__free(bytes);
    heed_text_free(&path);
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
    *j = (heed__journal){.c = c, .run = run};
    j->metrics.c = j->log.c = j->line.c = c;
    if (!run) return true;
    heed__run_path(&j->metrics, run, "metrics.csv");
    heed__run_path(&j->log, run, "train.log");
    return !heed__stopped(c) && heed__csv_cut(c, j->metrics.s, (double)last, ",test,");
}

void heed__journal_close(heed__journal *j) {
    heed_text_free(&j->metrics);
    heed_text_free(&j->log);
    heed_text_free(&j->line);
}

static heed_text *new_line(heed__journal *j) {
    j->line.n = 0;
    return &j->line;
}

/* A number that is not finite leaves its field empty. */
static void add_field(heed_text *t, double v, int digits) {
    char number[HEED__NUMBER];
    heed_text_add(t, ",%s", isfinite(v) ? heed__number_text(number, v, digits) : "");
}

void heed__journal_row(heed__journal *j, const char *split, double loss, double metric,
                       const heed_report *r) {
    if (!j->run || heed__stopped(j->c)) return;
    heed_text *t = new_line(j);
    heed_text_add(t, "%lld", (long long)r->step);
    add_field(t, r->epoch, 6);
    heed_text_add(t, ",%s", split);
    add_field(t, loss, 9);
    add_field(t, metric, 9);
    add_field(t, r->lr, 6);
    add_field(t, r->grad_norm, 6);
    add_field(t, r->items_per_s, 6);
    add_field(t, r->seconds, 6);
    if (!heed__stopped(j->c)) heed__csv_append(j->c, j->metrics.s, header, t->s);
}

static void append_log(heed__journal *j) {
    heed_text_add(&j->line, "\n");
    if (!heed__stopped(j->c)) heed__os_append(j->c, j->log.s, j->line.s, j->line.n);
}

void heed__journal_note(heed__journal *j, int64_t step, const char *note) {
    if (!j->run || heed__stopped(j->c)) return;
    heed_text_add(new_line(j), "step %lld: %s", (long long)step, note);
    append_log(j);
}

void heed__journal_start(heed__journal *j, const heed_start *start) {
    static const char *const words[] = {"taken",
                                        "matched by row",
                                        "interpolated",
                                        "new: the run has none",
                                        "new: the run's does not fit",
                                        "not used"};
    char shape[64];
    if (!j->run) return;
    for (int i = 0; i < start->count && !heed__stopped(j->c); i++) {
        const heed_start_entry *e = &start->entries[i];
        heed_text *t = new_line(j);
        heed_text_add(t, "step 0: from %s: %s", start->run->dir, e->name);
        if (e->to) heed_text_add(t, " %s", heed_shape_text(e->to, shape, sizeof shape));
        heed_text_add(t, ": %s", words[e->how]);
        if (e->how == HEED_START_MATCHED) heed_text_add(t, ", %d rows", e->rows);
        if (e->from && (!e->to || e->how == HEED_START_UNFIT || e->how == HEED_START_RESIZED))
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

/* ---- making and replacing ---- */

/* True for settings together with a product of training: weights, a checkpoint, the lock of a
 * training run killed before its first checkpoint, or a backup of the run it was replacing.
 * Settings alone may belong to another program. */
static bool is_run(heed_ctx *c, const char *dir) {
    return heed__run_has(c, dir, "config.conf") &&
           (heed__run_has(c, dir, "model.safetensors") || heed__checkpoint_find(c, dir) ||
            heed__run_has(c, dir, ".lock") || heed__run_has(c, dir, BACKUP));
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

bool heed_run_vacant(heed_ctx *c, const char *dir, bool force) {
    if (heed__stopped(c) || !dir) return false;
    if (!heed__os_exists(dir)) return true;
    if (!heed__os_is_dir(dir))
        return heed_fail(c, HEED_USAGE, "run is wrong: %s: expected a folder, found a file", dir);
    if (!is_run(c, dir)) return is_empty(c, dir);
    if (force) return true;
    if (!heed__checkpoint_find(c, dir)) /* a merged run has none */
        return heed_fail(c, HEED_USAGE,
                         "run exists already: %s: expected no run there; hint: `force` removes it",
                         dir);
    return heed_fail(c, HEED_USAGE,
                     "run exists already: %s: expected no run there; hint: `resume %s` continues "
                     "it, `force` removes it and starts over",
                     dir, dir);
}

bool heed_run_owns(heed_ctx *c, const char *dir, const char *path) {
    heed_text own = {.c = c}, folder = {.c = c};
    const char *slash = path ? strrchr(path, '/') : NULL;
    bool ok = dir && path &&
              heed_text_put(&folder, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    bool owns = false, beside = ok && heed__os_same(dir, folder.s);
    for (int i = 0; ok && i < RUN_FILES && !owns; i++) {
        heed__run_path(&own, dir, run_files[i]);
        owns = heed__os_same(own.s, path) || heed__os_same(own.s, folder.s) ||
               (beside && strcmp(slash ? slash + 1 : path, run_files[i]) == 0); /* a link, too */
    }
    heed_text_free(&own);
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

bool heed_run_outside(heed_ctx *c, const char *dir, const char *folder) {
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
            heed_run_owns(c, dir, heed_config_text(f, inputs[i])))
            return heed_fail(c, HEED_USAGE,
                             "%s is wrong: %s is a file of the run that would be replaced; hint: "
                             "move it out of %s first",
                             inputs[i], heed_config_text(f, inputs[i]), dir);
    return !heed__stopped(c);
}

bool heed__run_write_config(heed_ctx *c, const char *dir, const heed_config *f) {
    heed_text text = {.c = c};
    bool ok =
        heed_config_write(f, &text, true) && heed__run_write(c, dir, "config.conf", text.s, text.n);
    heed_text_free(&text);
    return ok;
}

/* Also works after an error. Files before number `first` are kept. */
static bool clear_run(heed_ctx *c, const char *dir, int first) {
    bool ok = true;
    for (int i = RUN_FILES; ok && i-- > first;) ok = heed__run_remove(c, dir, run_files[i]);
    return ok;
}

/* ---- the replaced run ---- */

static bool move_file(heed_ctx *c, const char *from, const char *to, const char *name) {
    heed_text a = {.c = c}, b = {.c = c};
    bool ok = heed__run_path(&a, from, name)[0] && heed__run_path(&b, to, name)[0] &&
              (!heed__os_exists(a.s) || heed__os_rename(c, a.s, b.s));
    heed_text_free(&a);
    heed_text_free(&b);
    return ok;
}

/* Copies config.conf after all other files have been moved. */
static bool fill_backup(heed_ctx *c, const char *dir, const char *backup) {
    heed_text path = {.c = c};
    bool ok = heed__os_make_dir(c, backup);
    size_t n;
    for (int i = RUN_FILES; ok && i-- > 1;) ok = move_file(c, dir, backup, run_files[i]);
    ok = ok && heed__os_sync_dir(c, dir);
    unsigned char *bytes =
        ok ? heed__os_read(c, heed__run_path(&path, dir, run_files[0]), 0, &n) : NULL;
    ok = bytes && heed__run_write(c, backup, run_files[0], bytes, n);
    heed__free(bytes);
    heed_text_free(&path);
    return ok;
}

/* Restores the backup, and removes what the new run has left. Also works after an error. */
static bool restore(heed_ctx *c, const char *dir) {
    heed_text backup = {.c = c};
    bool ok = heed__run_path(&backup, dir, BACKUP)[0] &&
              (!heed__run_has(c, backup.s, run_files[0]) || clear_run(c, dir, 1));
    for (int i = 0; ok && i < RUN_FILES; i++) ok = move_file(c, backup.s, dir, run_files[i]);
    ok = ok && heed__os_remove(c, backup.s);
    heed_text_free(&backup);
    return ok;
}

bool heed__run_backup(heed_ctx *c, const char *dir) {
    if (!heed__run_has(c, dir, run_files[0])) return true;
    heed_text backup = {.c = c};
    bool ok = heed__run_path(&backup, dir, BACKUP)[0] && fill_backup(c, dir, backup.s);
    if (!ok) restore(c, dir);
    heed_text_free(&backup);
    return ok;
}

bool heed__run_commit(heed_ctx *c, const char *dir) {
    heed_text backup = {.c = c};
    bool ok = heed__run_path(&backup, dir, BACKUP)[0] && clear_run(c, backup.s, 0) &&
              heed__os_remove(c, backup.s);
    heed_text_free(&backup);
    return ok;
}

bool heed__run_recover(heed_ctx *c, const char *dir, bool resumes) {
    if (!heed__run_has(c, dir, BACKUP)) return true;
    bool full = heed__run_has(c, dir, BACKUP "/config.conf");
    if (full && heed__checkpoint_find(c, dir)) return heed__run_commit(c, dir);
    if (!restore(c, dir)) return false;
    return !full || !resumes ||
           heed_fail(c, HEED_DATA,
                     "%s holds the run that was there before: the one that was to replace it died "
                     "before its first checkpoint; hint: `resume %s` now continues it",
                     dir, dir);
}

/* Writes to t the folder in which the run at dir is read: dir, or its backup while the new run has
 * no checkpoint. Changes nothing. */
static const char *source_of(heed_text *t, const char *dir) {
    bool replaced =
        heed__run_has(t->c, dir, BACKUP "/config.conf") && !heed__checkpoint_find(t->c, dir);
    if (replaced) return heed__run_path(t, dir, BACKUP);
    t->n = 0;
    return heed_text_add(t, "%s", dir) ? t->s : "";
}

const char *heed_run_file(const char *dir, const char *name, char *path, size_t size) {
    heed_text source = {.c = NULL};
    snprintf(path, size, "%s" HEED_INSIDE "%s", source_of(&source, dir), name);
    heed_text_free(&source);
    return path;
}

/* Whether only a part of the run at dir is in its backup, so that it must be restored first. */
static bool is_torn(heed_ctx *c, const char *dir) {
    heed_text backup = {.c = c};
    heed__listing list = {0};
    bool torn = heed__os_is_dir(heed__run_path(&backup, dir, BACKUP)) &&
                !heed__run_has(c, backup.s, run_files[0]) && heed__os_list(c, backup.s, &list) &&
                list.count > 0;
    heed__os_list_free(&list);
    heed_text_free(&backup);
    return torn;
}

bool heed_run_recover(heed_ctx *c, const char *dir) {
    if (heed__stopped(c) || !dir) return false;
    if (!heed__run_has(c, dir, BACKUP)) return true;
    heed_text path = {.c = c};
    heed__lock lock = {0};
    long holder;
    bool ok = heed__run_path(&path, dir, ".lock")[0];
    if (ok && heed__os_lock(&lock, path.s, &holder)) {
        ok = heed__run_recover(c, dir, true);
        heed__os_unlock(&lock, path.s);
    }
    heed_text_free(&path);
    return ok;
}

/* ---- making ---- */

bool heed__run_make(const heed_run *r, const char *dir, const char *keep) {
    heed_ctx *c = r->c;
    heed_text folder = {.c = c};
    bool ok =
        clear_run(c, dir, 1) && heed__run_write_config(c, dir, r->config) &&
        (!keep || heed__os_rename(c, keep, heed_config_text(r->config, "data"))) &&
        (!r->tokenizer || heed_tokenizer_save(r->tokenizer, heed__run_path(&folder, dir, ""))) &&
        (!r->source ||
         heed_tokenizer_save(r->source, heed__run_path(&folder, dir, HEED__SOURCE_FOLDER)));
    heed_text_free(&folder);
    return ok && (!r->labels || heed__labels_write(c, dir, r->labels, r->label_count));
}

void heed__run_abandon(heed_ctx *c, const char *dir) {
    if (heed__run_has(c, dir, BACKUP))
        restore(c, dir);
    else
        clear_run(c, dir, 0);
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

/* The settings in the weights file, which names `lora` only if they have adapters. */
bool heed__run_apply_settings(heed__opened *o, char *settings, const char *path) {
    const char mark[] = {settings ? settings[0] : 0, 0};
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
              (o->run.config = heed__run_config(c, o->run.model, dir)) &&
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
    if (is_torn(c, dir))
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
    bool ok = o && open_all(o, source_of(&from, dir), models, last);
    heed_text_free(&from);
    if (o && !ok) heed_run_close(&o->run);
    return ok ? &o->run : NULL;
}

/* ---- a run in memory, and an open run written to another folder, without adapters ---- */

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

/* The folder exists and is locked. */
static bool replace(const heed_run *r, const char *dir, bool force) {
    heed_ctx *c = r->c;
    if (!heed__run_recover(c, dir, false) || !heed_run_vacant(c, dir, force) ||
        !heed__run_backup(c, dir))
        return false;
    uint64_t labels = heed__labels_digest(r->labels, r->label_count);
    if (heed__run_make(r, dir, NULL) &&
        heed__weights_save(r, labels, r->store, dir, "model.safetensors", NULL))
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
    if (!heed_run_vacant(c, dir, force) || !heed__run_check_outside(c, dir, r->config, false) ||
        !forget_adapters(r->config))
        return false;
    bool made = !heed__os_exists(dir);
    heed_text path = {.c = c};
    heed__lock lock = {0};
    long holder = 0;
    bool ok = heed__os_make_dir(c, dir) && heed__run_path(&path, dir, ".lock")[0];
    if (ok && !heed__os_lock(&lock, path.s, &holder))
        ok = heed_fail(c, HEED_FAILED, "a training run is active in %s; hint: stop it first", dir);
    ok = ok && replace(r, dir, force);
    if (!ok && made)
        heed__os_unlock_folder(&lock, dir, path.s);
    else
        heed__os_unlock(&lock, path.s);
    heed_text_free(&path);
    return ok;
}
