/* curve_csv.c -- a CSV file of numbers as curves. */
#include "kinds/curve_csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CURVES = 32 };

bool is_curve_csv(const char *path) {
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".csv") == 0 && is_file(path);
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
    if (r->count != count)
        return heed_csv_reject(r, "as many fields as names", r->count < count ? "fewer" : "more");
    for (size_t i = 0; i < count; i++) {
        char *end;
        double x = strtod(r->fields[i], &end);
        if (*end)
            return heed_csv_reject(r, "a number or nothing",
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

static void name_it(const char *path, curve_csv *out) {
    const char *base = strrchr(path, '/');
    snprintf(out->title, sizeof out->title, "%s", base ? base + 1 : path);
    char *dot = strrchr(out->title, '.');
    if (dot) *dot = 0;
}

bool curve_csv_read(heed_ctx *c, const char *path, curve_csv *out) {
    size_t n;
    heed_csv r;
    *out = (curve_csv){.text = heed_text_read(c, path, &n)};
    if (!out->text) return false;
    name_it(path, out);
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

heed_chart curve_csv_chart(const curve_csv *k) {
    return (heed_chart){
        .title = k->title, .x_label = k->x, .series_count = k->curves, .series = k->series};
}
