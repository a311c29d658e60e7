/* run_make.c -- creating, replacing and abandoning run directories. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"

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
    bool owns = false;
    for (int i = 0; ok && i < RUN_FILES && !owns; i++) {
        heed__run_path(&own, dir, run_files[i]);
        owns = heed__os_same(own.s, path) || heed__os_same(own.s, folder.s);
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

bool heed__run_check_outside(heed_ctx *c, const heed_fit_args *a) {
    static const char *const inputs[] = {"data", "val"};
    for (int i = 0; i < 2; i++)
        if (heed_config_has(a->config, inputs[i]) && !(a->keep && i == 0) &&
            heed_run_owns(c, a->run, heed_config_text(a->config, inputs[i])))
            return heed_fail(c, HEED_USAGE,
                             "%s is wrong: %s is a file of the run that would be replaced; hint: "
                             "move it out of %s first",
                             inputs[i], heed_config_text(a->config, inputs[i]), a->run);
    return !heed__stopped(c);
}

bool heed__run_write_config(heed_ctx *c, const heed_fit_args *a) {
    heed_text text = {.c = c};
    bool ok = heed_config_write(a->config, &text, true) &&
              heed__run_write(c, a->run, "config.conf", text.s, text.n);
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

const char *heed__run_source(heed_text *t, const char *dir) {
    bool replaced =
        heed__run_has(t->c, dir, BACKUP "/config.conf") && !heed__checkpoint_find(t->c, dir);
    if (replaced) return heed__run_path(t, dir, BACKUP);
    t->n = 0;
    return heed_text_add(t, "%s", dir) ? t->s : "";
}

const char *heed_run_file(const char *dir, const char *name, char *path, size_t size) {
    heed_text source = {.c = NULL};
    snprintf(path, size, "%s" HEED_INSIDE "%s", heed__run_source(&source, dir), name);
    heed_text_free(&source);
    return path;
}

bool heed__run_is_torn(heed_ctx *c, const char *dir) {
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

bool heed__run_make(heed_ctx *c, const heed_fit_args *a) {
    heed_text folder = {.c = c};
    bool ok =
        clear_run(c, a->run, 1) && heed__run_write_config(c, a) &&
        (!a->keep || heed__os_rename(c, a->keep, heed_config_text(a->config, "data"))) &&
        (!a->tokenizer || heed_tokenizer_save(a->tokenizer, heed__run_path(&folder, a->run, ""))) &&
        (!a->source ||
         heed_tokenizer_save(a->source, heed__run_path(&folder, a->run, HEED__SOURCE_FOLDER)));
    heed_text_free(&folder);
    return ok && (!a->labels || heed__labels_write(c, a->run, a->labels, a->label_count));
}

void heed__run_abandon(heed_ctx *c, const char *dir) {
    if (heed__run_has(c, dir, BACKUP))
        restore(c, dir);
    else
        clear_run(c, dir, 0);
}
