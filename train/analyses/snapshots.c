/* snapshots.c -- attention on the first validation items, or on an input that was given, at some
 * steps of a training. */
#include "analyses/snapshots.h"

#include "cli/files.h"
#include "kinds/image.h"
#include "kinds/inputs.h"

#include <heed/models.h>
#include <heed/pairs.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 24 }; /* of a text that nobody chose */

int64_t snapshot_step(int64_t k, int64_t count, int64_t steps) {
    if (count < 2) return steps;
    return (int64_t)llround((double)k * (double)steps / (double)(count - 1));
}

/* ---- inputs ---- */

static bool add_text(snapshots *s, const char *text, size_t n, const char *target) {
    heed_inspection *to = &s->item[s->items++];
    return heed_check_text(s->c, text, n) && inspect_text(to, &s->run, text, n, target);
}

/* A validation batch of one row, as text again: special tokens left out, masked ones put back. */
static bool add_row(snapshots *s, const heed_data *d, int index) {
    const heed_model *m = s->run.model;
    const heed_tokenizer *k = d->tokenizer;
    heed_specials x = heed_tokenizer_specials(k);
    heed_batch b = {0};
    heed_text text = {.c = s->c};
    int32_t ids[TOKENS];
    size_t n = 0;
    bool masked = m == &heed_model_mlm;
    heed_batch_at at = {.val = true, .index = (uint64_t)index, .rows = 1};
    if (masked ? !heed_mlm_batch(d->batches, at, 0.15, &b) : !heed_gpt_batch(d->batches, at, &b))
        return false;
    for (int i = 0; i < b.len && n < TOKENS; i++) {
        int32_t id = b.ids[i];
        for (int p = 0; masked && p < b.masked_count; p++)
            if (b.masked_positions[p] == i) id = b.labels[p];
        if (id != x.cls && id != x.sep && id != x.pad) ids[n++] = id;
    }
    bool ok = heed_decode(k, ids, n, &text) && add_text(s, text.s ? text.s : "", text.n, NULL);
    heed_text_free(&text);
    return ok;
}

static char *zero_ended(const char *text, size_t n) {
    char *copy = malloc(n + 1);
    if (copy) memcpy(copy, text, n), copy[n] = 0;
    return copy;
}

static bool add_pair(snapshots *s, const heed_data *d, int index) {
    heed_pair pair;
    bool both = s->run.model == &heed_model_seq2seq || s->run.model == &heed_model_rnn;
    if (!heed_pairs_get(d->batches, !d->no_val, (size_t)index, &pair)) return false;
    char *target = both ? zero_ended(pair.target, pair.target_n) : NULL;
    bool ok = !both || target || heed_fail(s->c, HEED_FAILED, "no memory for a target");
    ok = ok && add_text(s, pair.source, pair.source_n, target);
    free(target);
    return ok;
}

static bool add_picture(snapshots *s, const heed_data *d, int index) {
    int label;
    const char *name = "";
    heed_part part = d->no_val ? HEED_TRAIN_PART : HEED_VAL_PART;
    heed_picture *to = &s->picture[s->items];
    if (!heed_images_get(d->batches, part, (size_t)index, to, &label, &name)) return false;
    snprintf(s->name[s->items++], sizeof s->name[0], "%.150s", name);
    return true;
}

/* "source TAB target" for models of pairs. */
static bool add_given(snapshots *s, const char *given) {
    const heed_model *m = s->run.model;
    const char *tab = strchr(given, '\t');
    char why[HEED_WHY];
    if (m == &heed_model_vit) {
        heed_status status = heed_picture_read(given, &s->picture[0], why);
        snprintf(s->name[s->items++], sizeof s->name[0], "%.150s", given);
        return status == HEED_OK || heed_fail(s->c, status, "--snapshot-input: %s %s", given, why);
    }
    if (m != &heed_model_seq2seq && m != &heed_model_rnn)
        return add_text(s, given, strlen(given), NULL);
    if (!tab)
        return heed_fail(s->c, HEED_USAGE,
                         "--snapshot-input: expected a source, a tab and its target, found no tab");
    return add_text(s, given, (size_t)(tab - given), tab + 1);
}

static size_t available(const snapshots *s, const heed_data *d) {
    const heed_model *m = s->run.model;
    if (m == &heed_model_gpt) return (size_t)heed_corpus_evals(d->batches, 1);
    if (m == &heed_model_mlm) return (size_t)heed_corpus_evals(d->batches, 1);
    if (m == &heed_model_vit)
        return heed_images_count(d->batches, d->no_val ? HEED_TRAIN_PART : HEED_VAL_PART, -1);
    const heed_pairs_info *a = heed_pairs_about(d->batches);
    return d->no_val ? a->pairs : a->val_pairs;
}

static bool read_items(snapshots *s, const heed_data *d, const heed_config *f) {
    const char *given = heed_config_text(f, "snapshot-input");
    size_t items = (size_t)heed_config_int(f, "snapshot-items"), most = available(s, d);
    if (*given) return add_given(s, given);
    for (size_t i = 0; i < items && i < most; i++) {
        const heed_model *m = s->run.model;
        bool row = m == &heed_model_gpt || m == &heed_model_mlm;
        if (!(row                    ? add_row(s, d, (int)i)
              : m == &heed_model_vit ? add_picture(s, d, (int)i)
                                     : add_pair(s, d, (int)i)))
            return heed_fail(s->c, HEED_DATA, "no input for snapshots: item %zu", i + 1);
    }
    return true;
}

static bool attends(const heed_run *r) {
    int layers;
    heed_record_block *list = heed_attention_layers(r, &layers);
    free(list);
    return list != NULL;
}

bool snapshots_open(snapshots *s, const heed_model *m, const heed_data *d, heed_config *f,
                    const char *run) {
    heed_ctx *c = d->c;
    *s = (snapshots){.c = c, .dir = run, .next = -1};
    s->count = heed_config_int(f, "snapshots");
    s->run = (heed_run){.c = c,
                        .model = m,
                        .config = f,
                        .tokenizer = d->tokenizer,
                        .source = d->source,
                        .labels = d->labels,
                        .label_count = d->label_count};
    if (s->count == 0) {
        if (!*heed_config_text(f, "snapshot-input")) return true;
        return heed_fail(c, HEED_USAGE, "--snapshot-input: of no use without --snapshots N");
    }
    /* A model that may attend is asked when it has its parameters. */
    bool ok = (s->run.model->attending || attends(&s->run)) && read_items(s, d, f);
    s->disk = ok ? heed_open(&(heed_options){.threads = 1}) : NULL;
    s->run.tape = ok ? heed_tape_new(c) : NULL;
    return ok && s->disk && s->run.tape;
}

void snapshots_close(snapshots *s) {
    for (int i = 0; i < s->items; i++) {
        heed_inspection_free(&s->item[i]);
        heed_picture_free(&s->picture[i]);
    }
    heed_tape_free(s->run.tape);
    if (s->disk) heed_close(s->disk);
    *s = (snapshots){0};
}

/* ---- files ---- */

static const char *path_of(const snapshots *s, int item, int64_t step, char path[1024]) {
    snprintf(path, 1024, "%.900s/snapshots/%d-%08" PRId64 ".npz", s->dir, item + 1, step);
    return path;
}

/* The step of SNAPSHOTS/ITEM-STEP.npz; -1: it is no such file. item 0: any. */
static int64_t step_of(const char *path, int item) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int found, end = 0;
    int64_t step;
    if (sscanf(name, "%d-%" SCNd64 ".npz%n", &found, &step, &end) != 2 || !end || name[end])
        return -1;
    return item && item != found ? -1 : step;
}

bool snapshots_list(heed_ctx *c, const char *run, int item, paths *out) {
    char folder[1024];
    size_t kept = 0;
    snprintf(folder, sizeof folder, "%.900s/snapshots", run);
    *out = (paths){0};
    if (!is_directory(folder)) return true;
    bool ok = paths_in_folder(c, folder, out);
    for (size_t i = 0; i < out->count; i++)
        if (step_of(out->at[i], item) >= 0)
            out->at[kept++] = out->at[i];
        else
            free(out->at[i]);
    out->count = kept;
    return ok;
}

static void complain(snapshots *s) {
    heed_message(s->c, HEED_WARN, "no snapshot: %s", heed_ctx_error(s->disk));
    heed_clear(s->disk);
}

/* What a training that goes on from an earlier step has still before it. */
static void remove_later(snapshots *s, int64_t step) {
    paths list;
    if (snapshots_list(s->disk, s->dir, 0, &list))
        for (size_t i = 0; i < list.count; i++)
            if (step_of(list.at[i], 0) > step) remove(list.at[i]);
    paths_free(&list);
    if (heed_ctx_status(s->disk) != HEED_OK) complain(s);
}

/* ---- at work ---- */

static void take(snapshots *s, int64_t step) {
    char path[1024];
    heed_capture_args wish = {.lean = true};
    for (int i = 0; i < s->items && heed_ctx_status(s->c) == HEED_OK; i++) {
        heed_record *r = heed_capture(&s->item[i], &wish);
        if (!r) return;
        r->step = step;
        if (!heed_record_npz(s->disk, r, path_of(s, i, step, path))) complain(s);
        heed_record_free(r);
    }
}

/* Whether the training is as far as snapshot k. Its length may change on the way, its share that is
 * done does not turn back. */
static bool reached(const snapshots *s, int64_t k, const heed_report *r) {
    return k < s->count &&
           llround(r->progress * (double)r->steps) >= snapshot_step(k, s->count, r->steps);
}

static bool start(snapshots *s, const heed_report *r) {
    char folder[1024];
    if (!attends(&s->run)) return false;
    snprintf(folder, sizeof folder, "%.900s/snapshots", s->dir);
    if (!make_folder(s->disk, folder)) complain(s);
    for (int i = 0; i < s->items; i++)
        if (s->picture[i].pixels &&
            !heed_inspection_picture(&s->item[i], &s->run, &s->picture[i], s->name[i], true))
            return false;
    if (r->step > 0) remove_later(s, r->step);
    s->next = 0;
    while (r->step > 0 && reached(s, s->next, r)) s->next++;
    return true;
}

void snapshots_report(snapshots *s, const heed_report *r) {
    if (s->count == 0 || (r->event != HEED_FIT_START && r->event != HEED_FIT_STEP)) return;
    s->run.self = r->self;
    s->run.step = r->step;
    if (r->event == HEED_FIT_START && !start(s, r)) return;
    if (!reached(s, s->next, r)) return;
    take(s, r->step);
    while (reached(s, s->next, r)) s->next++;
}
