/* curves.c -- curves and their picture: of a run's metrics.csv, and of any CSV file of numbers. */
#include "cli/os_files.h"
#include "kinds/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a run's metrics.csv ---- */

/* The number in a column of the row; NAN if it is empty or there is no such column. */
static double number(const heed_csv *r, int column) {
    char *end;
    double y = column < 0 ? (double)NAN : strtod(r->fields[column], &end);
    return column < 0 || end == r->fields[column] ? (double)NAN : y;
}

static bool wrong_count(const heed_csv *r, const char *expected, size_t count) {
    return heed_csv_reject(r, expected, r->count < count ? "fewer" : "more");
}

static bool read_metrics(run_curves *k, heed_csv *r) {
    if (!heed_csv_next(r)) return !heed_ctx_status(k->c);
    size_t count = r->count;
    int step = heed_csv_find(r, "step"), split = heed_csv_find(r, "split"),
        loss = heed_csv_find(r, "loss"), metric = heed_csv_find(r, "metric"),
        seconds = heed_csv_find(r, "seconds");
    if (step < 0 || split < 0 || loss < 0)
        return heed_csv_reject(r, "the columns step, split, loss", "others");
    while (heed_csv_next(r)) {
        if (r->count != count && !r->ended) break; /* a training run is still writing this line */
        if (r->count != count) return wrong_count(r, "as many fields as columns", count);
        if (isfinite(number(r, seconds))) k->seconds = number(r, seconds);
        curve *to = strcmp(r->fields[split], "val") == 0 ? &k->val : &k->train;
        if (strcmp(r->fields[split], "test") == 0) {
            k->test = number(r, metric);
            k->tested = true;
            continue;
        }
        to->step[to->count] = number(r, step);
        to->loss[to->count] = number(r, loss);
        to->metric[to->count++] = number(r, metric);
    }
    return !heed_ctx_status(k->c);
}

/* A row of the training has the mean loss of the steps since the row before. */
static void set_label(run_curves *k) {
    int last = k->train.count - 1;
    double steps = last < 0 ? 0 : k->train.step[last] - (last ? k->train.step[last - 1] : 0);
    snprintf(k->label, sizeof k->label, steps > 1 ? "training, mean of %.0f steps" : "training",
             steps);
}

json_t *run_json(const char *run, const char *name) {
    char path[1024];
    size_t n;
    heed_ctx *quiet = heed_open(&(heed_options){.threads = 1});
    char *text = heed_text_read(quiet, heed_run_file(run, name, path, sizeof path), &n);
    json_t *value = text ? json_loadb(text, n, 0, NULL) : NULL;
    free(text);
    heed_close(quiet);
    return value;
}

/* Finds the evaluation whose weights the run keeps, the training loss since the evaluation before
 * the last one and the checksum of the data; only its checkpoint has them. */
static void read_checkpoint(run_curves *k, const char *dir) {
    const char *by = "", *data = "";
    json_int_t step = -1;
    k->best = -1;
    json_t *state = run_json(dir, "last/state.json");
    json_unpack(state, "{s:I, s?s, s?{s?s}}", "best_step", &step, "data_checksum", &data,
                "settings", "best", &by);
    bool whole = strlen(data) == 16 && strspn(data, "0123456789abcdef") == 16;
    if (whole && strspn(data, "0") < 16) snprintf(k->data, sizeof k->data, "%s", data);
    json_t *loss = json_object_get(state, "loss");
    if (json_is_number(loss)) k->loss = json_number_value(loss);
    for (int i = 0; i < k->val.count; i++)
        if (k->val.step[i] == (double)step) k->best = i;
    double metric = k->best < 0 ? (double)NAN : k->val.metric[k->best];
    if (strcmp(by, "accuracy") == 0 && isfinite(metric))
        snprintf(k->mark, sizeof k->mark, "best accuracy %.2f %%", 100 * metric);
    else
        snprintf(k->mark, sizeof k->mark, "best evaluation");
    json_decref(state);
}

bool curves_read(heed_ctx *c, const char *dir, run_curves *out) {
    char path[1024];
    size_t n = 0;
    heed_csv r;
    *out = (run_curves){.c = c, .seconds = (double)NAN, .test = (double)NAN, .loss = (double)NAN};
    heed_run_file(dir, "metrics.csv", path, sizeof path);
    if (!is_directory(dir))
        return heed_fail_input(
            c, dir, true,
            "run is missing: %s: expected the folder of a run, found %s; hint: `train` makes one",
            dir, is_file(dir) ? "a file" : "nothing");
    if (!is_file(path))
        return heed_fail(c, HEED_DATA, "%s does not exist: a training run writes it", path);
    char *text = heed_text_read(c, path, &n);
    size_t lines = 1;
    for (size_t i = 0; text && i < n; i++) lines += text[i] == '\n';
    double *x = calloc(6 * lines, sizeof *x);
    if (x) {
        out->train = (curve){.step = x, .loss = x + lines, .metric = x + 2 * lines};
        out->val = (curve){.step = x + 3 * lines, .loss = x + 4 * lines, .metric = x + 5 * lines};
    } else
        heed_fail(c, HEED_FAILED, "no memory for curves of %zu points", lines);
    bool ok = heed_csv_open(&r, c, "metrics are wrong", path, text, n) && read_metrics(out, &r);
    if (ok && out->train.count + out->val.count == 0)
        ok = heed_fail(c, HEED_DATA, "%s holds no numbers yet: expected a line per evaluation",
                       path);
    free(text);
    set_label(out);
    read_checkpoint(out, dir);
    if (!ok) curves_free(out);
    return ok;
}

void curves_free(run_curves *k) {
    free(k->train.step);
    *k = (run_curves){0};
}

heed_chart curves_chart(const run_curves *k, const char *title, heed_series series[2]) {
    int n = 0;
    if (k->train.count)
        series[n++] = (heed_series){"training", k->train.count, k->train.step, k->train.loss};
    if (k->val.count)
        series[n++] = (heed_series){"validation", k->val.count, k->val.step, k->val.loss};
    return (heed_chart){.title = title,
                        .x_label = "step",
                        .y_label = "loss",
                        .series_count = n,
                        .series = series,
                        .mark = k->best < 0 ? NULL : k->mark,
                        .mark_series = n - 1,
                        .mark_point = k->best};
}

enum { PNG_WIDTH = 960, PNG_HEIGHT = 540 };

/* The picture, its rows as PNG filters them, and those compressed; 3 bytes a point each. */
size_t curves_png_memory(void) { return (size_t)3 * 3 * PNG_WIDTH * PNG_HEIGHT; }

bool curves_png(heed_ctx *c, const char *dir, const char *path) {
    run_curves k;
    heed_series series[2];
    if (!curves_read(c, dir, &k)) return false;
    heed_chart chart = curves_chart(&k, dir, series);
    bool ok = heed_charts_save(c, &chart, 1, PNG_WIDTH, PNG_HEIGHT, HEED_PNG, path);
    curves_free(&k);
    return ok;
}

/* ---- any CSV file of numbers ---- */

enum { MOST_CURVES = 32 };

bool is_curve_csv(const char *path) {
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".csv") == 0 && !is_directory(path);
}

/* The first row: names of the columns. */
static bool read_names(heed_csv *r, curve_csv *out) {
    char quoted[HEED_QUOTE];
    if (!heed_csv_next(r) || r->count < 2 || r->count > MOST_CURVES + 1)
        return heed_csv_reject(r, "names of 2 to 33 columns, separated by commas",
                               r->count ? heed_quote(quoted, r->fields[0], strlen(r->fields[0]))
                                        : "nothing");
    out->x = r->fields[0];
    out->curves = (int)r->count - 1;
    for (int i = 0; i < out->curves; i++) out->series[i].label = r->fields[i + 1];
    return true;
}

static bool read_row(const heed_csv *r, int row, curve_csv *out) {
    char quoted[HEED_QUOTE];
    size_t count = (size_t)out->curves + 1;
    if (r->count != count) return wrong_count(r, "as many fields as names", count);
    for (size_t i = 0; i < count; i++) {
        char *end;
        double x = strtod(r->fields[i], &end);
        bool vast = isfinite(x) && fabs(x) > 1e300; /* the range of an axis would be infinite */
        if (*end || vast)
            return heed_csv_reject(r, vast ? "a number of at most 1e300" : "a number or nothing",
                                   heed_quote(quoted, r->fields[i], strlen(r->fields[i])));
        out->values[i * (size_t)out->rows + (size_t)row] = *r->fields[i] ? x : (double)NAN;
    }
    return true;
}

static bool read_rows(heed_csv *r, curve_csv *out) {
    int count = 0;
    out->rows = 1;
    for (const char *s = r->at; s < r->end; s++) out->rows += *s == '\n';
    out->values = calloc(((size_t)out->curves + 1) * (size_t)out->rows, sizeof *out->values);
    if (!out->values) return heed_fail(r->c, HEED_FAILED, "no memory for %d rows", out->rows);
    for (; heed_csv_next(r); count++)
        if (!read_row(r, count, out)) return false;
    if (!count) return heed_csv_reject(r, "rows of numbers", "none");
    for (int i = 0; i < out->curves; i++)
        out->series[i] = (heed_series){out->series[i].label, count, out->values,
                                       out->values + (size_t)(i + 1) * (size_t)out->rows};
    return !heed_ctx_status(r->c);
}

bool curve_csv_read(heed_ctx *c, const char *path, curve_csv *out) {
    size_t n;
    heed_csv r;
    *out = (curve_csv){.text = heed_text_read(c, path, &n)};
    if (!out->text) return false;
    snprintf(out->title, sizeof out->title, "%s", file_name(path));
    char *dot = strrchr(out->title, '.');
    if (dot) *dot = 0;
    for (char *s = out->title; *s; s++)
        if (*s == '_') *s = ' ';
    out->series = calloc(MOST_CURVES, sizeof *out->series);
    if (!out->series) return heed_fail(c, HEED_FAILED, "no memory for a table");
    return heed_csv_open(&r, c, "table is wrong", path, out->text, n) && read_names(&r, out) &&
           read_rows(&r, out);
}

void curve_csv_free(curve_csv *k) {
    free(k->series);
    free(k->values);
    free(k->text);
    *k = (curve_csv){0};
}

bool curve_csv_log_x(heed_ctx *c, curve_csv *k) {
    for (int i = 0; i < k->series[0].count; i++) {
        if (k->values[i] <= 0)
            return heed_fail(c, HEED_DATA,
                             "%s: a logarithmic scale: expected numbers above 0 in column %s, "
                             "found %g",
                             k->title, k->x, k->values[i]);
        k->values[i] = log2(k->values[i]);
    }
    return true;
}

heed_chart curve_csv_chart(const curve_csv *k) {
    return (heed_chart){
        .title = k->title, .x_label = k->x, .series_count = k->curves, .series = k->series};
}
