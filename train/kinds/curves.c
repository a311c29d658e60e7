/* curves.c -- a run's metrics.csv as curves, and their picture. */
#include "kinds/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 16 };

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

/* Cuts a line at its commas; returns how many fields it has. */
static int cut(char *line, char *field[MOST_COLUMNS]) {
    int n = 0;
    for (char *s = line; s && n < MOST_COLUMNS; n++) {
        field[n] = s;
        if ((s = strchr(s, ','))) *s++ = 0;
    }
    return n;
}

static int column(char *const *field, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(field[i], name) == 0) return i;
    return -1;
}

typedef struct {
    int step, split, loss, metric, seconds, count; /* places in a line; -1: absent */
} columns;

static columns columns_of(char *const *field, int n) {
    return (columns){column(field, n, "step"),    column(field, n, "split"),
                     column(field, n, "loss"),    column(field, n, "metric"),
                     column(field, n, "seconds"), n};
}

/* The number in a field; NAN if it is empty or absent. */
static double number(char *const *field, int at) {
    char *end;
    double y = at < 0 ? (double)NAN : strtod(field[at], &end);
    return at < 0 || end == field[at] ? (double)NAN : y;
}

static bool take_line(run_curves *k, char *const *field, const columns *at) {
    const char *split = field[at->split];
    double metric = number(field, at->metric), seconds = number(field, at->seconds);
    if (isfinite(seconds)) k->seconds = seconds;
    if (strcmp(split, "test") == 0) {
        k->test = metric;
        return true;
    }
    curve *to = strcmp(split, "val") == 0 ? &k->val : &k->train;
    return curve_add(k->c, to, strtod(field[at->step], NULL), number(field, at->loss), metric);
}

/* Reads text, which it cuts up. False on a header without step, split and loss, or a short line. */
static bool read_lines(run_curves *k, char *text, const char *path) {
    char *field[MOST_COLUMNS], *next;
    columns at = {0};
    int line_number = 0;
    for (char *line = text; line && *line; line = next) {
        if ((next = strchr(line, '\n'))) *next++ = 0;
        int n = cut(line, field);
        if (line_number++ == 0) {
            at = columns_of(field, n);
            if (at.step < 0 || at.split < 0 || at.loss < 0)
                return heed_fail(k->c, HEED_DATA, "%s:1: expected the columns step, split, loss",
                                 path);
            continue;
        }
        if (n != at.count && !next) break; /* a training is writing it */
        if (n != at.count)
            return heed_fail(k->c, HEED_DATA, "%s:%d: %d columns, expected %d", path, line_number,
                             n, at.count);
        if (!take_line(k, field, &at)) return false;
    }
    return true;
}

bool curves_read(heed_ctx *c, const char *dir, run_curves *out) {
    char path[1024];
    size_t n = 0;
    *out = (run_curves){.c = c, .seconds = (double)NAN, .test = (double)NAN};
    snprintf(path, sizeof path, "%s/metrics.csv", dir);
    if (!is_file(path))
        return heed_fail(c, HEED_DATA,
                         "%s is not there: expected the folder of a run; hint: heed "
                         "train writes one",
                         path);
    char *text = heed_text_read(c, path, &n);
    bool ok = text && read_lines(out, text, path);
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
