/* equation.c -- matrices with labels, side by side as an equation, in text of a given width. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 96, MOST_PARTS = 8 };

/* ---- labels and numbers ---- */

/* A label in exactly `width` columns, cut with "…" or padded with spaces on the left or the right.
 * Control characters are shown as heed_format_token does. */
static void put_label(heed_text *out, const char *label, int width, bool right) {
    char text[LABEL];
    int total = heed_label_columns(heed_format_token(text, LABEL, label));
    size_t bytes = total > width ? heed_label_cut(text, width - 1) : strlen(text);
    text[bytes] = 0;
    int pad = width - heed_label_columns(text) - (total > width);
    heed_text_add(out, "%*s%s%s%*s", right ? pad : 0, "", text, total > width ? "…" : "",
                  right ? 0 : pad, "");
}

char *number_text(char text[32], double x, int precision) {
    if (isnan(x)) return strcpy(text, "-");
    if (isinf(x))
        snprintf(text, 32, x < 0 ? "-inf" : "inf");
    else if (fabs(x) >= 1e7)
        snprintf(text, 32, "%.*e", precision, x);
    else
        snprintf(text, 32, "%.*f", precision, x);
    if (text[0] == '-' && !text[strspn(text, "-0.")]) memmove(text, text + 1, strlen(text));
    return text;
}

int matrix_digits(const heed_matrix *m, int precision) {
    enum { MORE = 6 }; /* numbers below 10^-MORE are considered rounding errors of 0 */
    bool whole = true;
    double most = 0;
    for (int i = 0; i < m->rows * m->cols; i++) {
        double x = fabs(m->x[i]);
        if (!isfinite(x)) continue;
        whole &= floor(x) == x && x < 1e6;
        most = fmax(most, x);
    }
    if (whole) return 0;
    int more = 0;
    while (precision && more < MORE && most < pow(10, -more - 1)) more++;
    return more < MORE ? precision + more : precision;
}

const char *short_label(char text[64], const char *label) {
    size_t n = strlen(heed_format_token(text, 64, label)), cut = heed_label_cut(text, 20);
    if (cut < n) memcpy(text + heed_label_cut(text, 19), "…", sizeof "…");
    return text;
}

/* ---- words ---- */

static void put_wrapped(heed_text *out, const text_style *s, const char *words) {
    int at = 0;
    while (*words) {
        size_t n = strcspn(words, " \n");
        char word[LABEL * 2];
        snprintf(word, sizeof word - 3, "%.*s", (int)n, words); /* "…" may follow */
        size_t cut = heed_label_cut(word, s->width - 1);
        if (heed_label_columns(word) > s->width) memcpy(word + cut, "…", sizeof "…");
        int columns = heed_label_columns(word);
        if (at && at + 1 + columns > s->width) {
            heed_text_put(out, "\n", 1);
            at = 0;
        }
        if (n) heed_text_add(out, "%s%s", at ? " " : "", word);
        if (n) at += columns + (at > 0);
        words += n;
        if (*words == '\n') heed_text_put(out, "\n", 1), at = 0;
        words += *words != 0;
    }
    if (at) heed_text_put(out, "\n", 1);
}

static void put_style(heed_text *out, const text_style *s, const char *code) {
    if (s->color) heed_text_add(out, "\033[%sm", code);
}

void draw_words(heed_text *out, const text_style *s, words_style how, const char *words) {
    static const char *const codes[] = {"0", "2", "1"};
    int columns = how == HEADING ? heed_label_columns(words) : 0;
    put_style(out, s, codes[how]);
    put_wrapped(out, s, words);
    put_style(out, s, "0");
    for (int i = 0; i < columns && i < s->width; i++) heed_text_put(out, "-", 1);
    if (how == HEADING) heed_text_put(out, "\n", 1);
}

/* ---- pieces: the layout of a matrix, or of a band of its columns ---- */

/* The most columns for a label above a matrix column, from WIDE down to CUT; BARE: as wide as the
 * numbers. */
enum { WIDE = 12, CUT = 4, BARE = 0, LONG = 18 /* of a row */ };

typedef struct {
    const matrix_view *v;
    const char *before; /* the sign before it */
    int rows, from, to; /* the part that is drawn: all rows, columns [from, to) */
    int digits, cell, label, width;
    int pad;                          /* spaces after the rows, if its name or its shape is wider */
    bool row_labels, col_labels, cut; /* cut: columns after the last one are not drawn */
} piece;

int rows_of(const matrix_view *v) { return v->transposed ? v->m.cols : v->m.rows; }
int cols_of(const matrix_view *v) { return v->transposed ? v->m.rows : v->m.cols; }
size_t cell_of(const matrix_view *v, int row, int col) {
    int at = v->transposed ? col * v->m.cols + row : row * v->m.cols + col;
    return (size_t)at;
}

double view_at(const matrix_view *v, int row, int col) { return v->m.x[cell_of(v, row, col)]; }

int view_digits(const matrix_view *v, int precision) {
    return v->digits ? v->digits : matrix_digits(&v->m, precision);
}

static char *cell_text(const matrix_view *v, char text[32], size_t at, int digits) {
    if (!v->brief) return number_text(text, v->m.x[at], digits);
    snprintf(text, 32, "%.1g", v->m.x[at]);
    return text;
}

static int at_most(int n, int most) { return most && most < n ? most : n; }
static int drawn_cols(const matrix_view *v) { return at_most(cols_of(v), v->most_cols); }

static int widest_label(const char *const *list, int count, int most) {
    int widest = 0;
    for (int i = 0; list && i < count; i++) {
        char text[LABEL];
        int n = heed_label_columns(heed_format_token(text, LABEL, list[i]));
        if (n > widest) widest = n;
    }
    return widest < most ? widest : most;
}

static int widest_number(const matrix_view *v, int digits) {
    int widest = v->blank ? 2 : 1;
    char text[32];
    for (int i = 0; i < v->m.rows * v->m.cols; i++) {
        int n = (int)strlen(cell_text(v, text, (size_t)i, digits));
        if (n > widest) widest = n;
    }
    return widest + (v->marks != NULL);
}

static char *shape_text(const piece *p, char text[96]) {
    int n = snprintf(text, 96, "%dx%d", rows_of(p->v), cols_of(p->v));
    if (!p->cut && (p->from > 0 || p->to < drawn_cols(p->v)))
        snprintf(text + n, 96 - (size_t)n, ", columns %d-%d", p->from + 1, p->to);
    return text;
}

static void measure(piece *p) {
    char shape[96];
    int cols = p->to - p->from, indent = p->row_labels ? p->label + 1 : 0;
    int name = heed_label_columns(p->v->name ? p->v->name : "");
    int most = indent + (int)strlen(shape_text(p, shape));
    if (most < indent + name) most = indent + name;
    p->width = indent + 2 + cols * (p->cell + 1) - 1 + 2 * p->cut;
    p->pad = most > p->width ? most - p->width : 0;
    p->width += p->pad;
}

/* bare: leaves out the row labels of a later part if they repeat those of the first. */
static piece lay(const matrix_view *v, const text_style *s, int capacity, bool bare) {
    piece p = {
        .v = v, .before = "", .rows = at_most(rows_of(v), v->most_rows), .to = drawn_cols(v)};
    p.cut = p.to < cols_of(v);
    p.digits = view_digits(v, s->precision);
    p.cell = widest_number(v, p.digits);
    int columns = widest_label(v->col_labels, p.to, capacity);
    p.label = widest_label(v->row_labels, p.rows, s->width < 60 ? 8 : LONG);
    if (capacity != BARE && columns > p.cell) p.cell = columns;
    p.row_labels = v->row_labels && !bare;
    p.col_labels = v->col_labels && (capacity != BARE || p.cell > 2);
    measure(&p);
    return p;
}

static int sign_columns(const piece *p) {
    return *p->before ? 2 + heed_label_columns(p->before) : 0;
}

/* ---- drawing ---- */

static void put_cell(heed_text *out, const piece *p, const text_style *s, int row, int col) {
    const matrix_view *v = p->v;
    size_t at = cell_of(v, row, col);
    int width = p->cell - (v->marks != NULL), flag = v->blank ? v->blank[at] : 0;
    bool row_out = v->row == row + 1, col_out = v->col == col + 1;
    bool highlighted = (v->row && v->col) ? row_out && col_out : row_out || col_out;
    char text[32];
    cell_text(v, text, at, p->digits);
    if (flag == 1) {
        int n = 0, most = width < 4 ? width : 4;
        while (n < most) text[n++] = '_';
        text[n] = 0;
    }
    if (highlighted || flag == 2) put_style(out, s, flag == 2 ? "1;4" : "1");
    heed_text_add(out, "%*s", width, text);
    if (v->marks) heed_text_put(out, &v->marks[at], 1);
    if (highlighted || flag == 2) put_style(out, s, "0");
}

static void put_row(heed_text *out, const piece *p, const text_style *s, int row) {
    if (p->row_labels) {
        put_label(out, p->v->row_labels[row], p->label, false);
        heed_text_put(out, " ", 1);
    }
    heed_text_put(out, "[", 1);
    for (int j = p->from; j < p->to; j++) {
        if (j > p->from) heed_text_put(out, " ", 1);
        put_cell(out, p, s, row, j);
    }
    heed_text_add(out, p->cut ? " …]" : "]");
    heed_text_add(out, "%*s", p->pad, "");
}

/* Text in the piece's columns, after the row labels. */
static void put_beside(heed_text *out, const piece *p, const text_style *s, const char *code,
                       const char *text) {
    int indent = p->row_labels ? p->label + 1 : 0, n = heed_label_columns(text);
    heed_text_add(out, "%*s", indent, "");
    put_style(out, s, code);
    heed_text_put(out, text, strlen(text));
    put_style(out, s, "0");
    heed_text_add(out, "%*s", n < p->width - indent ? p->width - indent - n : 0, "");
}

static void put_columns(heed_text *out, const piece *p, const text_style *s) {
    heed_text_add(out, "%*s ", p->row_labels ? p->label + 1 : 0, "");
    put_style(out, s, "2");
    for (int j = p->from; j < p->to; j++) {
        if (j > p->from) heed_text_put(out, " ", 1);
        bool mark = p->v->marks != NULL;
        put_label(out, p->v->col_labels[j], p->cell - mark, true);
        if (mark) heed_text_put(out, " ", 1);
    }
    put_style(out, s, "0");
    heed_text_add(out, " %*s", 2 * p->cut + p->pad, "");
}

/* Lines of a group: NAME, LABELS, the rows, SHAPE. */
enum { NAME = -2, LABELS = -1 };

static void put_line(heed_text *out, const piece *p, const text_style *s, int line, int height) {
    char shape[96];
    bool sign = line == height || line == height / 2;
    if (*p->before)
        heed_text_add(out, " %*s ", sign ? 0 : heed_label_columns(p->before),
                      sign ? p->before : "");
    if (line == NAME)
        put_beside(out, p, s, "1", p->v->name ? p->v->name : "");
    else if (line == LABELS && p->col_labels)
        put_columns(out, p, s);
    else if (line == height)
        put_beside(out, p, s, "2", shape_text(p, shape));
    else if (line >= 0 && line < p->rows)
        put_row(out, p, s, line);
    else if (line == p->rows && p->rows < rows_of(p->v))
        put_beside(out, p, s, "", "…");
    else
        heed_text_add(out, "%*s", p->width, "");
}

static void draw_group(heed_text *out, const piece *p, int count, const text_style *s) {
    int height = 0;
    bool columns = false;
    for (int i = 0; i < count; i++) {
        int rows = p[i].rows + (p[i].rows < rows_of(p[i].v));
        if (rows > height) height = rows;
        columns |= p[i].col_labels;
    }
    for (int line = NAME; line <= height; line++) {
        if (line == LABELS && !columns) continue;
        for (int i = 0; i < count; i++) {
            if (i && !*p[i].before) heed_text_put(out, "  ", 2);
            put_line(out, &p[i], s, line, height);
        }
        while (out->n && out->s[out->n - 1] == ' ') out->s[--out->n] = 0;
        heed_text_put(out, "\n", 1);
    }
}

/* ---- breaking into lines ---- */

/* Draws a matrix that does not fit a line as bands of its columns, one below the other. */
static void draw_bands(heed_text *out, piece p, const text_style *s) {
    int capacity = s->width - sign_columns(&p) - (p.row_labels ? p.label + 1 : 0) - 1;
    int each = capacity / (p.cell + 1) > 1 ? capacity / (p.cell + 1) : 1, cols = drawn_cols(p.v);
    int bands = (cols + each - 1) / each;
    each = (cols + bands - 1) / bands; /* of nearly equal width */
    p.cut = false;
    for (int from = 0; from < cols; from += each) {
        p.from = from;
        p.to = from + each < cols ? from + each : cols;
        measure(&p);
        draw_group(out, &p, 1, s);
        if (p.to < cols) heed_text_put(out, "\n", 1);
        if (*p.before) p.before = " ";
    }
}

/* Lays out the parts of one line; returns its width. */
static int lay_all(piece *p, int count, const matrix_view *parts, const text_style *s,
                   int capacity) {
    int width = 0;
    for (int i = 0; i < count; i++) {
        bool apart = parts[i].sign && *parts[i].sign && capacity != BARE;
        bool again = i && !apart && rows_of(&parts[i]) == rows_of(&parts[0]) &&
                     parts[i].row_labels == parts[0].row_labels;
        p[i] = lay(&parts[i], s, capacity, again);
        p[i].before = parts[i].sign ? parts[i].sign : "";
        width += p[i].width + (i && !*p[i].before ? 2 : sign_columns(&p[i]));
    }
    return width;
}

/* Draws on each line as many parts as fit, with the widest labels that fit then. */
void draw_equation(heed_text *out, const text_style *s, int count, const matrix_view *parts) {
    piece p[MOST_PARTS];
    for (int from = 0, n; from < count; from += n) {
        int capacity = WIDE, least = count == 1 ? CUT : BARE;
        n = count - from;
        while (n > 1 && lay_all(p, n, parts + from, s, BARE) > s->width) n--;
        while (capacity >= least && lay_all(p, n, parts + from, s, capacity) > s->width)
            capacity = capacity == CUT ? BARE : capacity - 1;
        if (from) heed_text_put(out, "\n", 1);
        if (capacity >= least) {
            draw_group(out, p, n, s);
        } else {
            lay_all(p, 1, parts + from, s, CUT);
            draw_bands(out, p[0], s);
        }
    }
}
