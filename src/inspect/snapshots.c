/* snapshots.c -- attention on the first validation inputs, or on a given input, at some steps of a
 * training run. */
#include "core/core.h"
#include "core/os.h"
#include "inspect/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct heed_snapshots {
    heed_ctx *c, *disk; /* disk: for the files, so that a full disk does not end the training */
    heed_run run;       /* the current model, for capture */
    const heed_data *data;
    char *dir;
    int64_t count, next; /* snapshots requested; index of the next one */
    int items, tokens;
    heed_example item[HEED_SNAPSHOT_ITEMS];
    heed_picture picture[HEED_SNAPSHOT_ITEMS]; /* read once the model has its parameters */
    heed_text caption[HEED_SNAPSHOT_ITEMS];    /* of the picture, for models of captions */
    char name[HEED_SNAPSHOT_ITEMS][160];
};

enum { TOKENS = 24 }; /* of a text from the validation part, by default */

/* ---- inputs ---- */

static bool add_text(heed_snapshots *s, const char *text, size_t n, const char *target) {
    heed_example *to = &s->item[s->items++];
    return heed_check_text(s->c, text, n) && heed_run_text(&s->run, text, n, target, to);
}

/* Turns a validation batch of one row back into text: without special tokens, with masked ones
 * restored. In place of them the token of the largest id becomes [MASK]: vocabularies are sorted
 * from frequent to rare, and a rare token is the better question. */
static bool add_row(heed_snapshots *s, size_t index) {
    const heed_tokenizer *k = s->data->tokenizer;
    heed_specials x = heed_tokenizer_specials(k);
    heed_batch b = {0};
    heed_text text = {.c = s->c};
    size_t n = 0, rare = 0, most = (size_t)s->tokens, all = 0;
    bool masked = s->data->kind->mask;
    heed_batch_at at = {.val = true, .index = index, .rows = 1};
    if (!s->data->kind->batch(s->data, at, &b)) return false;
    int32_t *ids =
        heed__alloc_array(s->c, most < (size_t)b.len ? most : (size_t)b.len, sizeof *ids);
    if (!ids) return false;
    for (int i = 0; i < b.len; i++) {
        int32_t id = b.ids[i];
        for (int p = 0; masked && p < b.masked_count; p++)
            if (b.masked_positions[p] == i) id = b.labels[p];
        bool padding = id == x.pad || (b.pad && !b.pad[i]);
        if (id == x.cls || id == x.sep || padding) continue;
        if (all++ < most) ids[n++] = id;
    }
    if (all > n && s->items == 0)
        heed_message(s->c, HEED_INFO,
                     "snapshots show the first %zu tokens of each text of the validation part, of "
                     "%zu in the first; `snapshot-tokens = %zu` shows all of it",
                     n, all, all);
    for (size_t i = 0; i < n; i++)
        if (ids[i] > ids[rare]) rare = i;
    if (masked && n) ids[rare] = x.mask;
    bool ok = heed_decode(k, ids, n, &text) && add_text(s, text.s ? text.s : "", text.n, NULL);
    heed_text_free(&text);
    heed__free(ids);
    return ok;
}

/* Sets the caption of the next item. */
static bool put_caption(heed_snapshots *s, const char *text) {
    heed_text *to = &s->caption[s->items];
    to->c = s->c;
    return heed_text_put(to, text, strlen(text)) && heed_text_put(to, "", 1);
}

/* An input as the data has it, with its first target. */
static bool add_input(heed_snapshots *s, size_t index) {
    const heed_data *d = s->data;
    heed_item item = {.source = {.c = s->c}, .targets = {.c = s->c}};
    bool ok = d->kind->input(d, !d->no_val, index, &item);
    if (ok && item.picture.pixels) {
        s->picture[s->items] = item.picture;
        item.picture = (heed_picture){0};
        snprintf(s->name[s->items], sizeof s->name[0], "%.150s", item.source.s);
        ok = !item.count || put_caption(s, item.targets.s);
        s->items++;
    } else if (ok)
        ok = add_text(s, item.source.s, item.source.n, item.count ? item.targets.s : NULL);
    heed_item_free(&item);
    return ok;
}

static bool add_file(heed_snapshots *s, const char *path) {
    char why[HEED_WHY];
    heed_status status = heed_picture_read(path, &s->picture[s->items], why);
    snprintf(s->name[s->items++], sizeof s->name[0], "%.150s", path);
    return status == HEED_OK || heed_fail(s->c, status, "`snapshot-input`: %s %s", path, why);
}

/* "source TAB target" for models of pairs, "file TAB caption" for those of captions. */
static bool add_given(heed_snapshots *s, const char *given) {
    const char *tab = strchr(given, '\t');
    bool pictures = s->data->kind->images;
    if (!s->data->kind->target)
        return pictures ? add_file(s, given) : add_text(s, given, strlen(given), NULL);
    if (!tab)
        return heed_fail(s->c, HEED_USAGE, "`snapshot-input`: expected %s, found no tab",
                         pictures ? "a picture's file, a tab and its caption"
                                  : "a source, a tab and its target");
    if (pictures) {
        heed_text path = {.c = s->c};
        bool ok = put_caption(s, tab + 1) && heed_text_put(&path, given, (size_t)(tab - given)) &&
                  add_file(s, path.s ? path.s : "");
        heed_text_free(&path);
        return ok;
    }
    return add_text(s, given, (size_t)(tab - given), tab + 1);
}

static bool read_items(heed_snapshots *s, const heed_snapshots_args *a) {
    const heed_data *d = s->data;
    size_t items = a->items > 0 ? (size_t)a->items : 1, most;
    bool ok = true;
    if (a->input && *a->input) return add_given(s, a->input);
    most = d->kind->inputs ? d->kind->inputs(d, !d->no_val) : (size_t)d->kind->eval_batches(d, 1);
    if (items > HEED_SNAPSHOT_ITEMS) items = HEED_SNAPSHOT_ITEMS;
    for (size_t i = 0; ok && i < items && i < most; i++)
        ok = (d->kind->input ? add_input : add_row)(s, i) ||
             heed_fail(s->c, HEED_DATA, "no input for snapshots: item %zu", i + 1);
    return ok;
}

static bool attends(const heed_run *r) {
    int layers;
    heed_record_block *list = heed_attention_layers(r, &layers);
    free(list);
    return list != NULL;
}

heed_snapshots *heed_snapshots_open(const heed_model *m, const heed_data *d, heed_config *f,
                                    const heed_snapshots_args *a) {
    if (!m || !d || heed__stopped(d->c) || !a || !a->run) return NULL;
    if (a->count < 1)
        heed_fail(d->c, HEED_USAGE, "`snapshots` %" PRId64 ": expected at least 1", a->count);
    if (!d->tokenizer && !d->kind->images)
        heed_fail(d->c, HEED_USAGE,
                  "`snapshots`: model %s reads numbers: expected a model of texts or pictures",
                  m->name);
    heed_snapshots *s = heed__stopped(d->c) ? NULL : heed__alloc(d->c, sizeof *s);
    if (!s) return NULL;
    size_t n = strlen(a->run) + 1;
    s->c = d->c;
    s->data = d;
    s->next = -1;
    s->count = a->count;
    s->tokens = a->tokens > 0 ? a->tokens : TOKENS;
    s->dir = heed__alloc(s->c, n);
    s->run = (heed_run){.c = s->c,
                        .model = m,
                        .config = f,
                        .tokenizer = d->tokenizer,
                        .source = d->source,
                        .labels = d->labels,
                        .label_count = d->label_count};
    if (s->dir) memcpy(s->dir, a->run, n);
    /* A model that may attend is checked once it has its parameters. */
    bool ok = s->dir && (m->attending || attends(&s->run)) && read_items(s, a);
    s->disk = ok ? heed_open(&(heed_options){.threads = 1}) : NULL;
    s->run.tape = ok ? heed_tape_new(s->c) : NULL;
    if (s->disk && s->run.tape) return s;
    if (ok) heed_fail(s->c, HEED_FAILED, "no memory for snapshots");
    heed_snapshots_close(s);
    return NULL;
}

void heed_snapshots_close(heed_snapshots *s) {
    if (!s) return;
    for (int i = 0; i < s->items; i++) {
        heed_example_free(&s->item[i]);
        heed_picture_free(&s->picture[i]);
        heed_text_free(&s->caption[i]);
    }
    heed_tape_free(s->run.tape);
    if (s->disk) heed_close(s->disk);
    heed__free(s->dir);
    heed__free(s);
}

/* ---- files ---- */

/* The step of ITEM-STEP.npz; -1: another file. item 0: any. */
static int64_t step_of(const char *name, int item) {
    int found, end = 0;
    int64_t step;
    if (sscanf(name, "%d-%" SCNd64 ".npz%n", &found, &step, &end) != 2 || !end || name[end])
        return -1;
    return item && item != found ? -1 : step;
}

bool heed_snapshots_list(heed_ctx *c, const char *run, int item, heed_snapshot_file each,
                         void *user) {
    heed_text folder = {.c = c}, path = {.c = c};
    heed__listing list = {0};
    if (!run || !each || heed__stopped(c)) return false;
    bool ok = heed_text_add(&folder, "%s" HEED_INSIDE "snapshots", run);
    if (ok && heed__os_is_dir(folder.s)) ok = heed__os_list(c, folder.s, &list);
    for (size_t i = 0; ok && i < list.count; i++) {
        int64_t step = step_of(list.entries[i].name, item);
        path.n = 0;
        ok = heed_text_add(&path, "%s/%s", folder.s, list.entries[i].name) &&
             (step < 0 || each(user, path.s, step));
    }
    heed__os_list_free(&list);
    heed_text_free(&folder);
    heed_text_free(&path);
    return ok;
}

static void complain(heed_snapshots *s) {
    heed_message(s->c, HEED_WARN, "no snapshot: %s", heed_ctx_error(s->disk));
    heed_clear(s->disk);
}

/* A resumed training run removes snapshots of later steps. */
static bool remove_later(void *user, const char *path, int64_t step) {
    const heed_snapshots *s = user;
    return step <= s->run.step || heed__os_remove(s->disk, path);
}

/* ---- during the training ---- */

/* Whether the training has reached snapshot k. They are spread evenly from step 0 to the last; a
 * single one is the last. The number of steps may change during the training; the share completed
 * does not decrease. */
static bool reached(const heed_snapshots *s, int64_t k, const heed_report *r) {
    double steps = (double)r->steps;
    int64_t at = s->count < 2 ? r->steps : llround((double)k * steps / (double)(s->count - 1));
    return k < s->count && llround(r->progress * steps) >= at;
}

static bool start(heed_snapshots *s, const heed_report *r) {
    heed_text folder = {.c = s->disk};
    if (!attends(&s->run)) return false;
    if (!heed_text_add(&folder, "%s" HEED_INSIDE "snapshots", s->dir) ||
        !heed__os_make_dir(s->disk, folder.s))
        complain(s);
    heed_text_free(&folder);
    for (int i = 0; i < s->items; i++)
        if (s->picture[i].pixels &&
            !heed_run_picture(&s->run, &s->picture[i], s->name[i], s->caption[i].s, &s->item[i]))
            return false;
    if (r->step > 0 && !heed_snapshots_list(s->disk, s->dir, 0, remove_later, s)) complain(s);
    s->next = 0;
    while (r->step > 0 && reached(s, s->next, r)) s->next++;
    return true;
}

void heed_snapshots_report(heed_snapshots *s, const heed_report *r) {
    if (!s || !r || (r->event != HEED_FIT_START && r->event != HEED_FIT_STEP)) return;
    s->run.self = r->self;
    s->run.step = r->step;
    if (r->event == HEED_FIT_START && !start(s, r)) return;
    if (!reached(s, s->next, r)) return;
    for (int i = 0; i < s->items && heed_ctx_status(s->c) == HEED_OK; i++) {
        heed_text path = {.c = s->disk};
        heed_record *record =
            heed_capture(&s->run, &s->item[i], &(heed_capture_args){.lean = true});
        if (!record) break;
        record->step = r->step;
        if (!heed_text_add(&path, "%s" HEED_INSIDE "snapshots/%d-%08" PRId64 ".npz", s->dir, i + 1,
                           r->step) ||
            !heed_record_npz(s->disk, record, path.s))
            complain(s);
        heed_text_free(&path);
        heed_record_free(record);
    }
    while (reached(s, s->next, r)) s->next++;
}
