/* journal.c -- the record of a run: metrics.csv for programs, train.log for people. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"
#include "io/io.h"

#include <math.h>

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
