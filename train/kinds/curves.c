/* curves.c -- a run's metrics.csv as curves, and their picture. */
#include "kinds/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool grow(double **x, int capacity) {
    double *grown = realloc(*x, (size_t)capacity * sizeof *grown);
    if (grown) *x = grown;
    return grown != NULL;
}

static bool curve_add(heed_ctx *c, curve *k, double step, double loss, double metric) {
    if (k->count == k->capacity) {
        int capacity = k->capacity ? 2 * k->capacity : 256;
        if (!grow(&k->step, capacity) || !grow(&k->loss, capacity) || !grow(&k->metric, capacity))
            return heed_fail(c, HEED_FAILED, "no memory for a curve of %d points", capacity);
        k->capacity = capacity;
    }
    k->step[k->count] = step;
    k->metric[k->count] = metric;
    k->loss[k->count++] = loss;
    return true;
}

/* The number in a column of the row; NAN if it is empty or there is no such column. */
static double number(const heed_csv *r, int column) {
    char *end;
    double y = column < 0 ? (double)NAN : strtod(r->fields[column], &end);
    return column < 0 || end == r->fields[column] ? (double)NAN : y;
}

static bool read_rows(run_curves *k, heed_csv *r) {
    bool ok = heed_csv_next(r);
    if (!ok) return !heed_ctx_status(k->c);
    size_t count = r->count;
    int step = heed_csv_find(r, "step"), split = heed_csv_find(r, "split"),
        loss = heed_csv_find(r, "loss"), metric = heed_csv_find(r, "metric"),
        seconds = heed_csv_find(r, "seconds");
    if (step < 0 || split < 0 || loss < 0)
        return heed_csv_reject(r, "the columns step, split, loss", "others");
    while (ok && heed_csv_next(r)) {
        if (r->count != count && !r->ended) break; /* a training is still writing this line */
        if (r->count != count)
            return heed_csv_reject(r, "as many fields as columns",
                                   r->count < count ? "fewer" : "more");
        if (isfinite(number(r, seconds))) k->seconds = number(r, seconds);
        curve *to = strcmp(r->fields[split], "val") == 0 ? &k->val : &k->train;
        if (strcmp(r->fields[split], "test") == 0)
            k->test = number(r, metric);
        else
            ok = curve_add(k->c, to, number(r, step), number(r, loss), number(r, metric));
    }
    return ok && !heed_ctx_status(k->c);
}

bool curves_read(heed_ctx *c, const char *dir, run_curves *out) {
    char path[1024];
    size_t n = 0;
    heed_csv r;
    *out = (run_curves){.c = c, .seconds = (double)NAN, .test = (double)NAN};
    snprintf(path, sizeof path, "%s/metrics.csv", dir);
    if (!is_file(path))
        return heed_fail(
            c, HEED_DATA,
            "%s does not exist: expected the folder of a run; hint: `train` writes one", path);
    char *text = heed_text_read(c, path, &n);
    bool ok = heed_csv_open(&r, c, "metrics are wrong", path, text, n) && read_rows(out, &r);
    if (ok && out->train.count + out->val.count == 0)
        ok = heed_fail(c, HEED_DATA, "%s holds no numbers yet: expected a line per evaluation",
                       path);
    free(text);
    if (!ok) curves_free(out);
    return ok;
}

static void curve_free(curve *k) {
    free(k->step);
    free(k->loss);
    free(k->metric);
}

void curves_free(run_curves *k) {
    curve_free(&k->train);
    curve_free(&k->val);
    *k = (run_curves){0};
}

heed_chart curves_chart(const run_curves *k, const char *title, heed_series series[2]) {
    int n = 0;
    if (k->train.count)
        series[n++] = (heed_series){"training", k->train.count, k->train.step, k->train.loss};
    if (k->val.count)
        series[n++] = (heed_series){"validation", k->val.count, k->val.step, k->val.loss};
    return (heed_chart){
        .title = title, .x_label = "step", .y_label = "loss", .series_count = n, .series = series};
}

bool curves_png(heed_ctx *c, const char *dir, const char *path) {
    run_curves k;
    heed_series series[2];
    if (!curves_read(c, dir, &k)) return false;
    heed_chart chart = curves_chart(&k, dir, series);
    bool ok = heed_chart_png(c, &chart, 960, 540, path);
    curves_free(&k);
    return ok;
}
