/* table.c -- a table, in several blocks of columns if not all fit side by side. */
#include "text/text.h"

static int start_of(const heed_table *t) { return t->flush ? 0 : 2; }
static int gap_of(const heed_table *t) { return t->gap ? t->gap : 2; }

/* The first column beyond a block that starts with column `from`, which always fits. */
static int block_end(const heed_table *t, int width, int name, int from) {
    int used = start_of(t) + name, k = from;
    for (; k < t->count; k++) {
        used += gap_of(t) + t->columns[k].width;
        if (k > from && used > width) break;
    }
    return k;
}

/* The name of a row; row -1: the heading of the names. */
static const char *name_of(const heed_table *t, int row, char text[HEED_TABLE_CELL]) {
    if (row < 0) return t->head;
    if (t->names) return t->names[row];
    t->cell(t->of, row, HEED_TABLE_NAME, text);
    return text;
}

/* The width of the widest name, limited so that a column fits beside it. */
static int name_width(const heed_table *t, int width) {
    int widest_name = 0, widest = 0;
    char text[HEED_TABLE_CELL];
    for (int i = -1; i < t->rows; i++) {
        int n = heed_label_columns(name_of(t, i, text));
        if (n > widest_name) widest_name = n;
    }
    for (int k = 0; k < t->count; k++)
        if (t->columns[k].width > widest) widest = t->columns[k].width;
    int capacity = width - start_of(t) - gap_of(t) - widest;
    return widest_name < capacity ? widest_name : capacity > 4 ? capacity : 4;
}

/* Appends the row's name and its cells from `from` to `to`. Row -1: the headings. */
static void put_row(const heed_table *t, int row, int name, int from, int to, heed_text *out) {
    char text[HEED_TABLE_CELL];
    const char *label = name_of(t, row, text);
    heed_text_add(out, "%*s", start_of(t), "");
    if (t->names && row >= 0)
        heed__put_label(out, label, name, false);
    else {
        size_t cut = heed_label_cut(label, name);
        int blanks = name - heed_label_columns(label);
        heed_text_add(out, "%.*s%*s", (int)cut, label, blanks > 0 ? blanks : 0, "");
    }
    for (int k = from; k < to; k++) {
        const heed_table_column *column = &t->columns[k];
        if (row >= 0) t->cell(t->of, row, k, text);
        heed_text_add(out, "%*s%*s", gap_of(t), "", column->left ? -column->width : column->width,
                      row < 0 ? column->head : text);
    }
    heed__end_line(out);
}

void heed_table_text(const heed_table *t, int width, heed_text *out) {
    if (!t || !t->columns || !out) return;
    bool fits = block_end(t, width, t->name, 0) == t->count;
    int name = fits ? t->name : name_width(t, width);
    for (int from = 0, to; from < t->count; from = to) {
        to = block_end(t, width, name, from);
        if (from || !t->top) heed_text_put(out, "\n", 1);
        for (int row = -1; row < t->rows; row++) put_row(t, row, name, from, to, out);
    }
}
