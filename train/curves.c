/* curves.c -- a run's metrics.csv as curves, and their picture. */
#include "training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 16 };

static bool curve_add(heed_ctx *c, curve *k, double step, double loss) {
    if (k->count == k->room) {
        int room = k->room ? 2 * k->room : 256;
        double *a = realloc(k->step, (size_t)room * sizeof *a);
        if (a) k->step = a;
        double *b = a ? realloc(k->loss, (size_t)room * sizeof *b) : NULL;
        if (!b) return heed_fail(c, HEED_FAILED, "no memory for a curve of %d points", room);
        k->loss = b;
        k->room = room;
    }
    k->step[k->count] = step;
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

/* Reads text, which it cuts up. False on a header without step, split and loss, or a short line. */
static bool read_lines(run_curves *k, char *text, const char *path) {
    char *field[MOST_COLUMNS], *next;
    int step = -1, split = -1, loss = -1, seconds = -1, columns = 0, number = 0;
    for (char *line = text; line && *line; line = next) {
        if ((next = strchr(line, '\n'))) *next++ = 0;
        int n = cut(line, field);
        if (number++ == 0) {
            step = column(field, n, "step"), split = column(field, n, "split");
            loss = column(field, n, "loss"), seconds = column(field, n, "seconds"), columns = n;
            if (step < 0 || split < 0 || loss < 0)
                return heed_fail(k->c, HEED_DATA, "%s:1: expected the columns step, split, loss",
                                 path);
            continue;
        }
        if (n != columns && !next) break; /* a training is writing it */
        if (n != columns)
            return heed_fail(k->c, HEED_DATA, "%s:%d: %d columns, expected %d", path, number, n,
                             columns);
        curve *to = strcmp(field[split], "val") == 0 ? &k->val : &k->train;
        char *end;
        double y = strtod(field[loss], &end);
        if (end == field[loss]) y = (double)NAN;
        if (seconds >= 0) k->seconds = strtod(field[seconds], NULL);
        if (!curve_add(k->c, to, strtod(field[step], NULL), y)) return false;
    }
    return true;
}

bool curves_read(heed_ctx *c, const char *dir, run_curves *out) {
    char path[1024];
    size_t n = 0;
    *out = (run_curves){.c = c, .seconds = (double)NAN};
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

void curves_free(run_curves *k) {
    free(k->train.step);
    free(k->train.loss);
    free(k->val.step);
    free(k->val.loss);
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
