/* table.c -- a table as blocks of columns, where not all have room side by side. */
#include "cli/table.h"

static int start_of(const table *l) { return l->flush ? 0 : 2; }
static int gap_of(const table *l) { return l->gap ? l->gap : 2; }

/* The first column that has no room in a block that starts with `from`, which always has. */
static int block_end(const table *l, int name, int from) {
    int used = start_of(l) + name, k = from;
    for (; k < l->count; k++) {
        used += gap_of(l) + l->columns[k].width;
        if (k > from && used > terminal_width()) break;
    }
    return k;
}

static const char *name_of(const table *l, int row, char text[TABLE_CELL]) {
    if (l->names) return l->names[row];
    l->cell(l->of, row, TABLE_NAME, text);
    return text;
}

/* Of the widest name, as far as a column has room beside it. */
static int name_width(const table *l) {
    int width = text_columns(l->head), widest = 0;
    char text[TABLE_CELL];
    for (int i = 0; i < l->rows; i++) {
        const char *name = name_of(l, i, text);
        int n = l->names ? name_columns(name, 0) : text_columns(name);
        if (n > width) width = n;
    }
    for (int k = 0; k < l->count; k++)
        if (l->columns[k].width > widest) widest = l->columns[k].width;
    int capacity = terminal_width() - start_of(l) - gap_of(l) - widest;
    return width < capacity ? width : capacity > 4 ? capacity : 4;
}

/* The name, or what stands over the names, in so many columns. */
static void put_name(const table *l, int row, int width, heed_text *line) {
    char text[TABLE_CELL];
    const char *name = row < 0 ? l->head : name_of(l, row, text);
    int used = l->names && row >= 0 ? heed_label_text(name, width, line) : text_columns(name);
    if (!l->names || row < 0) heed_text_add(line, "%.*s", (int)text_cut(name, width), name);
    heed_text_add(line, "%*s", used < width ? width - used : 0, "");
}

/* Without blanks behind the last cell. row -1: what stands over the columns. */
static void print_row(heed_ctx *c, const table *l, int row, int name, int from, int to) {
    heed_text line = {.c = c};
    char text[TABLE_CELL];
    heed_text_add(&line, "%*s", start_of(l), "");
    put_name(l, row, name, &line);
    for (int k = from; k < to; k++) {
        int width = l->columns[k].width;
        if (row >= 0) l->cell(l->of, row, k, text);
        heed_text_add(&line, "%*s%*s", gap_of(l), "", l->columns[k].left ? -width : width,
                      row < 0 ? l->columns[k].head : text);
    }
    while (line.n && line.s[line.n - 1] == ' ') line.n--;
    heed_text_put(&line, "\n", 1);
    print_text(&line);
}

void print_table(heed_ctx *c, const table *l) {
    int name = block_end(l, l->name, 0) == l->count ? l->name : name_width(l);
    for (int from = 0, to; from < l->count; from = to) {
        to = block_end(l, name, from);
        if (from || !l->top) putchar('\n');
        for (int row = -1; row < l->rows; row++) print_row(c, l, row, name, from, to);
    }
}
