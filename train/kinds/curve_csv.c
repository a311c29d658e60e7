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

static bool wrong(heed_ctx *c, const char *path, int line, const char *expected,
                  const char *found) {
    return heed_fail(c, HEED_DATA, "table is wrong: %s:%d: expected %s, found %.40s", path, line,
                     expected, found);
}

/* The next field of a line that *rest is the rest of: ended by 0; NULL at the line's end. */
static char *next_field(char **rest) {
    char *field = *rest;
    if (!field) return NULL;
    char *comma = strchr(field, ',');
    *rest = comma ? comma + 1 : NULL;
    if (comma) *comma = 0;
    return field;
}

/* The next line that is not empty; number counts. */
static char *next_line(char **rest, int *number) {
    while (*rest && **rest) {
        char *line = *rest, *end = strchr(line, '\n');
        *rest = end ? end + 1 : line + strlen(line);
        if (end) *end = 0;
        ++*number;
        if (*line) return line;
    }
    return NULL;
}

static bool read_names(heed_ctx *c, const char *path, char *line, curve_csv *out) {
    char *rest = line;
    out->x = next_field(&rest);
    for (char *name; (name = next_field(&rest)); out->curves++)
        if (out->curves < MOST_CURVES) out->series[out->curves].label = name;
    if (out->curves >= 1 && out->curves <= MOST_CURVES) return true;
    return wrong(c, path, 1, "names of 2 to 33 columns, parted by commas", line);
}

static bool read_row(heed_ctx *c, const char *path, int number, char *line, curve_csv *out) {
    char *rest = line, *end;
    for (int i = 0; i <= out->curves; i++) {
        const char *field = next_field(&rest);
        if (!field) return wrong(c, path, number, "as many fields as names", "fewer");
        double *to = &out->values[(size_t)i * (size_t)out->rows + (size_t)out->series->count];
        *to = strtod(field, &end);
        if (!*field) *to = (double)NAN;
        if (*end) return wrong(c, path, number, "a number or nothing", field);
    }
    out->series->count++;
    return !rest || wrong(c, path, number, "as many fields as names", "more");
}

static int lines_of(const char *text) {
    int lines = 0;
    for (const char *s = text; *s; s++) lines += *s == '\n' || !s[1];
    return lines;
}

static bool read_rows(heed_ctx *c, const char *path, char *rest, int number, curve_csv *out) {
    size_t columns = (size_t)out->curves + 1;
    out->rows = lines_of(rest);
    out->values = calloc(columns * (size_t)out->rows + 1, sizeof *out->values);
    if (!out->values) return heed_fail(c, HEED_FAILED, "no memory for %d rows", out->rows);
    for (char *line; (line = next_line(&rest, &number));)
        if (!read_row(c, path, number, line, out)) return false;
    if (!out->series->count) return wrong(c, path, number, "rows of numbers", "none");
    for (int i = 0; i < out->curves; i++)
        out->series[i] = (heed_series){out->series[i].label, out->series->count, out->values,
                                       out->values + (size_t)(i + 1) * (size_t)out->rows};
    return true;
}

static void name_it(const char *path, curve_csv *out) {
    const char *base = strrchr(path, '/');
    snprintf(out->title, sizeof out->title, "%s", base ? base + 1 : path);
    char *dot = strrchr(out->title, '.');
    if (dot) *dot = 0;
}

bool curve_csv_read(heed_ctx *c, const char *path, curve_csv *out) {
    size_t n;
    int number = 0;
    *out = (curve_csv){.text = heed_text_read(c, path, &n)};
    if (!out->text) return false;
    name_it(path, out);
    out->series = calloc(MOST_CURVES, sizeof *out->series);
    if (!out->series) return heed_fail(c, HEED_FAILED, "no memory for a table");
    char *rest = out->text, *line = next_line(&rest, &number);
    return line && read_names(c, path, line, out) && read_rows(c, path, rest, number, out);
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
