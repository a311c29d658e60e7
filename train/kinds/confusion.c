/* confusion.c -- which classes were confused: tables, pictures, and the worst mistakes. */
#include "cli/program.h"
#include "kinds/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the widest label, at most `most`. */
static int label_columns(const judgement *j, int most) {
    int width = 5;
    for (int i = 0; i < j->classes; i++) {
        int n = heed_label_columns(j->labels[i]);
        if (n > width) width = n;
    }
    return width < most ? width : most;
}

typedef struct {
    const judgement *j;
    const size_t *confusion;
} class_table;

static void class_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const class_table *t = of;
    heed_class_score f = heed_confusion_class(t->confusion, t->j->classes, row);
    double share = column == 1 ? f.recall : f.precision;
    char n[32];
    if (column == 0)
        snprintf(text, HEED_TABLE_CELL, "%s", heed_format_count(n, f.count));
    else if (isfinite(share))
        snprintf(text, HEED_TABLE_CELL, "%.2f %%", 100 * share);
    else
        snprintf(text, HEED_TABLE_CELL, "-");
}

void print_classes(const judgement *j, const size_t *confusion) {
    const heed_table_column columns[] = {
        {j->noun, 8, false}, {"found", 9, false}, {"precision", 9, false}};
    print_table(NULL, &(heed_table){.head = "class",
                                    .rows = j->classes,
                                    .count = 3,
                                    .name = label_columns(j, 32),
                                    .columns = columns,
                                    .names = j->labels,
                                    .cell = class_cell,
                                    .of = &(class_table){j, confusion}});
}

json_t *classes_json(const judgement *j, const size_t *confusion) {
    json_t *list = json_array();
    for (int i = 0; i < j->classes; i++) {
        heed_class_score f = heed_confusion_class(confusion, j->classes, i);
        json_t *row = json_array();
        for (int k = 0; k < j->classes; k++)
            json_array_append_new(
                row,
                json_integer((json_int_t)confusion[(size_t)i * (size_t)j->classes + (size_t)k]));
        json_array_append_new(list, json_pack("{s:o, s:I, s:o, s:o, s:o}", "class",
                                              json_text(j->labels[i]), "count", (json_int_t)f.count,
                                              "recall", json_number(f.recall), "precision",
                                              json_number(f.precision), "predicted", row));
    }
    return list;
}

/* ---- the matrix ---- */

static int digits_of(size_t n) {
    char text[24];
    return snprintf(text, sizeof text, "%zu", n);
}

/* The layout of the matrix in the terminal: rows are labelled with their names; columns too if the
 * names fit above a count, otherwise with the rows' numbers. */
typedef struct {
    const judgement *j;
    const size_t *confusion;
    int label, number, cell; /* widths of a row's name, its number (0: none) and a count */
} matrix;

static matrix matrix_of(const judgement *j, const size_t *confusion) {
    int capacity = terminal_width() < 100 ? terminal_width() : 100;
    matrix m = {.j = j,
                .confusion = confusion,
                .label = label_columns(j, capacity < 64 ? capacity / 2 : 32),
                .cell = 4};
    for (size_t i = 0; i < (size_t)j->classes * (size_t)j->classes; i++)
        if (digits_of(confusion[i]) + 2 > m.cell) m.cell = digits_of(confusion[i]) + 2;
    for (int i = 0; i < j->classes; i++)
        if (heed_label_columns(j->labels[i]) > m.cell - 1) m.number = digits_of((size_t)j->classes);
    return m;
}

static int row_start(const matrix *m) { return 2 + m->label + (m->number ? m->number + 1 : 0); }

static void print_head(const matrix *m, int from, int to) {
    printf("%*s", row_start(m), "");
    for (int i = from; i < to; i++) {
        const char *name = m->j->labels[i];
        if (m->number)
            printf("%*d", m->cell, i + 1);
        else {
            printf("%*s", m->cell - heed_label_columns(name), "");
            print_name(name, 0, 0);
        }
    }
    putchar('\n');
}

static void print_row(const matrix *m, int label, int from, int to) {
    bool color = has_color(stdout);
    const size_t *row = m->confusion + (size_t)label * (size_t)m->j->classes;
    fputs("  ", stdout);
    if (m->number) printf("%*d ", m->number, label + 1);
    print_name(m->j->labels[label], m->label, m->label);
    for (int i = from; i < to; i++) {
        const char *paint = i == label ? "\033[1m" : row[i] ? "\033[33m" : "\033[2m";
        if (color) fputs(paint, stdout);
        if (row[i])
            printf("%*zu", m->cell, row[i]);
        else
            printf("%*s", m->cell, ".");
        if (color) fputs("\033[0m", stdout);
    }
    putchar('\n');
}

/* The largest entry off the diagonal that follows the entry `below` at index `after` in descending
 * order. */
static size_t next_largest(const judgement *j, const size_t *confusion, size_t below,
                           size_t after) {
    size_t n = (size_t)j->classes, best = n * n;
    for (size_t i = 0; i < n * n; i++) {
        if (i / n == i % n || confusion[i] > below || (confusion[i] == below && i <= after))
            continue;
        if (best == n * n || confusion[i] > confusion[best]) best = i;
    }
    return best;
}

static void print_pairs(const judgement *j, const size_t *confusion) {
    enum { PAIRS = 12 };
    size_t n = (size_t)j->classes, below = SIZE_MAX, after = 0;
    for (int i = 0; i < PAIRS; i++) {
        size_t at = next_largest(j, confusion, below, after);
        if (at == n * n || confusion[at] == 0) return;
        char count[32];
        if (i == 0) puts("\n  most frequent confusions");
        snprintf(count, sizeof count, "  %8zu", confusion[at]);
        print_fact(12, count, "%s as %s", j->labels[at / n], j->labels[at % n]);
        below = confusion[at];
        after = at;
    }
}

/* Prints the matrix in bands of columns; with very many classes, only the largest mistakes. */
void print_confusion(const judgement *j, const size_t *confusion) {
    enum { WIDEST = 80 };
    matrix m = matrix_of(j, confusion);
    int capacity = terminal_width() < 100 ? terminal_width() : 100;
    int band = (capacity - row_start(&m)) / m.cell;
    if (band < 1) band = 1;
    if (m.cell * j->classes > WIDEST) {
        print_pairs(j, confusion);
        return;
    }
    putchar('\n');
    print_fact(2, "", "rows: true class; columns: predicted class%s",
               m.number ? ", by the rows' numbers" : "");
    for (int from = 0; from < j->classes; from += band) {
        int to = from + band < j->classes ? from + band : j->classes;
        if (from) putchar('\n');
        print_head(&m, from, to);
        for (int i = 0; i < j->classes; i++) print_row(&m, i, from, to);
    }
}

/* The scale ends at the largest mistake, so that mistakes remain visible beside correct
 * predictions. */
bool confusion_png(heed_ctx *c, const judgement *j, const size_t *confusion, const char *path) {
    size_t n = (size_t)j->classes;
    heed_real *values = malloc(n * n * sizeof *values), worst = 0;
    if (!values) return heed_fail(c, HEED_FAILED, "no memory for a table of %zu classes", n);
    for (size_t i = 0; i < n * n; i++) {
        values[i] = (heed_real)confusion[i];
        if (i / n != i % n && values[i] > worst) worst = values[i];
    }
    heed_heatmap map = {.title = "rows: true class, columns: predicted class",
                        .rows = j->classes,
                        .cols = j->classes,
                        .values = values,
                        .row_labels = j->labels,
                        .col_labels = j->labels,
                        .hi = worst > 0 ? worst : 0,
                        .numbers = true};
    bool ok = heed_heatmap_png(c, &map, path);
    free(values);
    return ok;
}

/* ---- the worst mistakes ---- */

/* Wide enough for the second caption, with names cut by short_name. */
enum { MISTAKES_IN_A_ROW = 6, MISTAKE_SIDE = 224 };

typedef struct {
    heed_tile *tiles;
    heed_picture *pictures;
    char (*captions)[2][128];
    int count;
} album;

/* Indices of the first `most` wrong predictions, sorted by loss, worst first. */
static int worst_of(const judgement *j, int most, size_t *places) {
    int n = 0;
    for (size_t i = 0; i < j->count; i++) {
        const heed_prediction *v = &j->list[i];
        if (v->predicted == v->label) continue;
        int at = n < most ? n++ : n;
        for (; at > 0 && j->list[places[at - 1]].loss < v->loss; at--)
            if (at < most) places[at] = places[at - 1];
        if (at < most) places[at] = i;
    }
    return n;
}

/* A name cut to at most `columns`, with ".." at the end if it is longer. */
static const char *short_name(char out[96], const char *name, int columns) {
    bool fits = heed_label_columns(name) <= columns;
    snprintf(out, 96, "%.*s%s", (int)heed_label_cut(name, fits ? columns : columns - 2), name,
             fits ? "" : "..");
    return out;
}

static int drawn(int side, int most) {
    int64_t n = (int64_t)side * MISTAKE_SIDE / most;
    return n < 1 ? 1 : (int)n;
}

/* Reduces a picture to the size at which it is drawn, as forty photographs need gigabytes; if
 * memory runs out, it stays as it is. */
static void shrink(heed_picture *p) {
    int most = p->width > p->height ? p->width : p->height;
    if (most <= MISTAKE_SIDE) return;
    int width = drawn(p->width, most), height = drawn(p->height, most);
    size_t n = (size_t)width * (size_t)height * (size_t)p->channels;
    heed_real *x = malloc((n + heed_resize_work(p, width, height)) * sizeof *x);
    if (!x) return;
    heed_picture_resize(p, (heed_box){0, 0, p->width, p->height}, width, height, x, x + n);
    for (size_t i = 0; i < n; i++) p->pixels[i] = (unsigned char)(x[i] + (heed_real)0.5);
    free(x);
    unsigned char *less = realloc(p->pixels, n);
    *p = (heed_picture){width, height, p->channels, less ? less : p->pixels};
}

static bool add_mistake(album *a, heed_images *k, const judgement *j, size_t place) {
    const heed_prediction *v = &j->list[place];
    heed_picture *p = &a->pictures[a->count];
    const char *name;
    char cut[96];
    int label;
    if (!heed_images_get(k, j->part, place, p, &label, &name)) return false;
    shrink(p);
    char(*text)[128] = a->captions[a->count];
    snprintf(text[0], sizeof text[0], "is %s", short_name(cut, j->labels[v->label], 20));
    snprintf(text[1], sizeof text[1], "predicted %s, %.0f %%",
             short_name(cut, j->labels[v->predicted], 20), 100 * v->p);
    a->tiles[a->count++] =
        (heed_tile){p->pixels, p->width, p->height, p->channels, text[0], text[1]};
    return true;
}

bool mistakes_png(heed_ctx *c, heed_images *k, const judgement *j, int most, const char *path) {
    size_t n = (size_t)most, *places = calloc(n, sizeof *places);
    album a = {calloc(n, sizeof *a.tiles), calloc(n, sizeof *a.pictures),
               calloc(n, sizeof *a.captions), 0};
    bool ok = places && a.tiles && a.pictures && a.captions;
    if (!ok) heed_fail(c, HEED_FAILED, "no memory for %d pictures", most);
    int found = ok ? worst_of(j, most, places) : 0;
    for (int i = 0; ok && i < found; i++) ok = add_mistake(&a, k, j, places[i]);
    if (ok && found == 0)
        heed_message(c, HEED_INFO, "no mistakes: %s is not written", path);
    else if (ok)
        ok = heed_sheet_png(c,
                            &(heed_sheet){.title = "the worst mistakes",
                                          .count = found,
                                          .columns = MISTAKES_IN_A_ROW,
                                          .side = MISTAKE_SIDE,
                                          .tiles = a.tiles},
                            path);
    for (int i = 0; i < a.count; i++) heed_picture_free(&a.pictures[i]);
    free(places);
    free(a.tiles);
    free(a.pictures);
    free(a.captions);
    return ok;
}
