/* listing.c -- a table as blocks of columns, where not all have room side by side. */
#include "listing.h"

/* The first column that has no room in a block that starts with `from`, which always has. */
static int block_end(const listing *l, int name, int from) {
    int used = 2 + name, k = from;
    for (; k < l->count; k++) {
        used += 2 + l->columns[k].width;
        if (k > from && used > terminal_width()) break;
    }
    return k;
}

static int widest_name(const listing *l) {
    int width = text_columns(l->head);
    char text[LISTING_CELL];
    for (int i = 0; i < l->rows; i++) {
        l->cell(l->of, i, LISTING_NAME, text);
        if (text_columns(text) > width) width = text_columns(text);
    }
    return width;
}

/* The text of a cell or a name; of row -1 what stands over them. */
static const char *text_at(const listing *l, int row, int column, char text[LISTING_CELL]) {
    if (row < 0) return column == LISTING_NAME ? l->head : l->columns[column].head;
    l->cell(l->of, row, column, text);
    return text;
}

/* Without blanks behind the last cell. */
static void print_row(heed_ctx *c, const listing *l, int row, int name, int from, int to) {
    heed_text line = {.c = c};
    char text[LISTING_CELL];
    heed_text_add(&line, "  %-*s", name, text_at(l, row, LISTING_NAME, text));
    for (int k = from; k < to; k++)
        heed_text_add(&line, l->columns[k].left ? "  %-*s" : "  %*s", l->columns[k].width,
                      text_at(l, row, k, text));
    while (line.n && line.s[line.n - 1] == ' ') line.n--;
    heed_text_put(&line, "\n", 1);
    print_text(&line);
}

void print_listing(heed_ctx *c, const listing *l) {
    int name = block_end(l, l->name, 0) == l->count ? l->name : widest_name(l);
    for (int from = 0, to; from < l->count; from = to) {
        to = block_end(l, name, from);
        putchar('\n');
        for (int row = -1; row < l->rows; row++) print_row(c, l, row, name, from, to);
    }
}
