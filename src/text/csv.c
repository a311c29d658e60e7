/* metrics.csv: append a row, read it back, cut it back to a checkpoint. */
#include "core/core.h"
#include "core/os.h"
#include "text/text.h"

#include <math.h>
#include <string.h>

enum { CSV_LIMIT = 1 << 30 };

bool heed__csv_append(heed_ctx *c, const char *path, const char *header, const char *row) {
    if (heed__stopped(c)) return false;
    heed_text text = {.c = c};
    bool ok = heed__os_exists(path) || heed_text_add(&text, "%s\n", header);
    ok = ok && heed_text_add(&text, "%s\n", row) && heed__os_append(c, path, text.s, text.n);
    heed_text_free(&text);
    return ok;
}

static size_t count_of(const char *text, size_t n, char wanted) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += text[i] == wanted;
    return count;
}

/* Cuts one line into the cells of its row; fields beyond the header's are an error. */
static bool split_line(heed_ctx *c, const char *path, size_t row, char *line, heed__csv *out) {
    const char **cells = out->cells + row * out->cols;
    size_t n = strcspn(line, "\r");
    line[n] = 0;
    for (size_t i = 0; i < out->cols; i++) {
        cells[i] = line;
        line += strcspn(line, ",");
        if (*line == ',')
            *line++ = 0;
        else if (i + 1 < out->cols) {
            for (i++; i < out->cols; i++) cells[i] = line;
            return true;
        }
    }
    return !*line ||
           heed_fail(c, HEED_DATA, "row is wrong: %s:%zu: expected %zu fields, found more", path,
                     row + 1, out->cols);
}

/* Zero bytes would end fields early: the text behind them would vanish. */
static bool plan(heed_ctx *c, const char *path, const char *text, size_t n, heed__csv *out) {
    const char *end = memchr(text, '\n', n);
    if (!end || memchr(text, 0, n))
        return heed_fail(c, HEED_DATA, "%s is no CSV file: expected text lines, found %s", path,
                         end ? "a NUL byte" : "no whole line");
    out->cols = count_of(text, (size_t)(end - text), ',') + 1;
    out->rows = count_of(text, n, '\n') - 1;
    if (out->rows >= SIZE_MAX / 16 / out->cols || (out->rows + 1) * out->cols > n * 8 + 64)
        return heed_fail(c, HEED_DATA, "%s is no CSV file: %zu rows of %zu columns in %zu bytes",
                         path, out->rows, out->cols, n);
    out->cells = heed__alloc_array(c, (out->rows + 1) * out->cols, sizeof *out->cells);
    return out->cells != NULL;
}

bool heed__csv_parse(heed_ctx *c, const char *path, char *text, size_t n, heed__csv *out) {
    *out = (heed__csv){.memory = text};
    bool ok = plan(c, path, text, n, out);
    for (size_t row = 0; ok && row <= out->rows; row++) {
        char *end = strchr(text, '\n');
        *end = 0;
        ok = split_line(c, path, row, text, out);
        text = end + 1;
    }
    if (!ok) heed__csv_free(out);
    return ok;
}

bool heed__csv_read(heed_ctx *c, const char *path, heed__csv *out) {
    *out = (heed__csv){0};
    size_t n;
    char *text = (char *)heed__os_read(c, path, CSV_LIMIT, &n);
    return text && heed__csv_parse(c, path, text, n, out);
}

void heed__csv_free(heed__csv *t) {
    if (!t) return;
    heed__free(t->cells);
    heed__free(t->memory);
    *t = (heed__csv){0};
}

int heed__csv_column(const heed__csv *t, const char *name) {
    for (size_t i = 0; i < t->cols; i++)
        if (strcmp(t->cells[i], name) == 0) return (int)i;
    return -1;
}

const char *heed__csv_text(const heed__csv *t, size_t row, int column) {
    if (row >= t->rows || column < 0 || (size_t)column >= t->cols) return "";
    return t->cells[(row + 1) * t->cols + (size_t)column];
}

double heed__csv_number(const heed__csv *t, size_t row, int column) {
    double value;
    return heed__number(heed__csv_text(t, row, column), &value) ? value : (double)NAN;
}

/* The first field of a line, NAN if it is no number. */
static double first_field(const char *line) {
    char field[64] = "";
    size_t n = strcspn(line, ",\r\n");
    double value;
    if (n < sizeof field) memcpy(field, line, n);
    return heed__number(field, &value) ? value : (double)NAN;
}

bool heed__csv_cut(heed_ctx *c, const char *path, double last, const char *without) {
    if (heed__stopped(c)) return false;
    if (!heed__os_exists(path)) return true;
    size_t n;
    char *text = (char *)heed__os_read(c, path, CSV_LIMIT, &n);
    if (!text) return false;
    char *from = text, *to = text, *end;
    while ((end = strchr(from, '\n')) != NULL) {
        size_t length = (size_t)(end - from) + 1;
        *end = 0;
        bool keep = to == text || (first_field(from) <= last && !strstr(from, without));
        *end = '\n';
        if (keep) memmove(to, from, length);
        if (keep) to += length;
        from = end + 1;
    }
    heed__piece piece = {text, (size_t)(to - text)};
    bool ok = piece.n == 0 ? heed__os_remove(c, path) /* not even the header was whole */
                           : piece.n == n || heed__os_write(c, path, &piece, 1);
    heed__free(text);
    return ok;
}
