/* confusion.c -- which classes were confused: tables, pictures, and the worst mistakes. */
#include "cli/os_files.h"
#include "kinds/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the widest label, at most `most`. */
static int label_columns(const class_predictions *all, int most) {
    int width = 5;
    for (int i = 0; i < all->classes; i++) {
        int n = heed_label_columns(all->labels[i]);
        if (n > width) width = n;
    }
    return width < most ? width : most;
}

static void class_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const class_predictions *all = of;
    heed_class_score f = heed_confusion_class(all->confusion, all->classes, row);
    double share = column == 1 ? f.recall : f.precision;
    char n[32];
    if (column == 0)
        snprintf(text, HEED_TABLE_CELL, "%s", heed_format_count(n, f.count));
    else if (isfinite(share))
        snprintf(text, HEED_TABLE_CELL, "%.2f %%", 100 * share);
    else
        snprintf(text, HEED_TABLE_CELL, "-");
}

void print_classes(const class_predictions *all) {
    const heed_table_column columns[] = {
        {all->noun, 8, false}, {"found", 9, false}, {"precision", 9, false}};
    print_table(NULL, &(heed_table){.head = "class",
                                    .rows = all->classes,
                                    .count = 3,
                                    .name = label_columns(all, 32),
                                    .columns = columns,
                                    .names = all->labels,
                                    .cell = class_cell,
                                    .of = all});
}

double balanced_accuracy(const class_predictions *all, bool *uneven) {
    double sum = 0, present = 0, most = 0, least = INFINITY;
    for (int i = 0; i < all->classes; i++) {
        heed_class_score f = heed_confusion_class(all->confusion, all->classes, i);
        if (!f.count) continue;
        sum += f.recall;
        present++;
        most = fmax(most, (double)f.count);
        least = fmin(least, (double)f.count);
    }
    *uneven = most > 2 * least;
    return sum / present;
}

json_t *classes_json(const class_predictions *all) {
    json_t *list = json_array();
    const size_t *row = all->confusion;
    for (int i = 0; i < all->classes; i++, row += all->classes) {
        heed_class_score f = heed_confusion_class(all->confusion, all->classes, i);
        json_t *predicted = json_array();
        for (int k = 0; k < all->classes; k++)
            json_array_append_new(predicted, json_integer((json_int_t)row[k]));
        json_array_append_new(
            list, json_pack("{s:o, s:I, s:o, s:o, s:o}", "class", json_text(all->labels[i]),
                            "count", (json_int_t)f.count, "recall", json_number(f.recall),
                            "precision", json_number(f.precision), "predicted", predicted));
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
    const class_predictions *all;
    int label, number, cell; /* widths of a row's name, its number (0: none) and a count */
    int start;               /* of the first count */
} matrix;

static matrix matrix_of(const class_predictions *all, int width) {
    matrix m = {.all = all, .label = label_columns(all, width < 64 ? width / 2 : 32), .cell = 4};
    for (size_t i = 0; i < (size_t)all->classes * (size_t)all->classes; i++)
        if (digits_of(all->confusion[i]) + 2 > m.cell) m.cell = digits_of(all->confusion[i]) + 2;
    for (int i = 0; i < all->classes; i++)
        if (heed_label_columns(all->labels[i]) > m.cell - 1)
            m.number = digits_of((size_t)all->classes);
    m.start = 2 + m.label + (m.number ? m.number + 1 : 0);
    return m;
}

static void print_head(const matrix *m, int from, int to) {
    printf("%*s", m->start, "");
    for (int i = from; i < to; i++) {
        const char *name = m->all->labels[i];
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
    const size_t *row = m->all->confusion + (size_t)label * (size_t)m->all->classes;
    fputs("  ", stdout);
    if (m->number) printf("%*d ", m->number, label + 1);
    print_name(m->all->labels[label], m->label, m->label);
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
 * order; classes^2: none. */
static size_t next_largest(const class_predictions *all, size_t below, size_t after) {
    const size_t *x = all->confusion;
    size_t n = (size_t)all->classes, best = n * n;
    for (size_t i = 0; i < n * n; i++) {
        if (i / n == i % n || x[i] > below || (x[i] == below && i <= after)) continue;
        if (best == n * n || x[i] > x[best]) best = i;
    }
    return best;
}

static void print_pairs(const class_predictions *all) {
    enum { PAIRS = 12 };
    size_t n = (size_t)all->classes, below = SIZE_MAX, at = 0;
    for (int i = 0; i < PAIRS; i++) {
        char count[32];
        at = next_largest(all, below, at);
        if (at == n * n || all->confusion[at] == 0) return;
        if (i == 0) puts("\n  confused most often");
        below = all->confusion[at];
        snprintf(count, sizeof count, "  %8zu", below);
        print_fact(12, count, "%s as %s", all->labels[at / n], all->labels[at % n]);
    }
}

/* Prints the matrix in bands of columns; with very many classes, only the largest mistakes. */
void print_confusion(const class_predictions *all) {
    enum { WIDEST = 80 };
    int width = terminal_width() < 100 ? terminal_width() : 100;
    matrix m = matrix_of(all, width);
    int band = (width - m.start) / m.cell;
    if (band < 1) band = 1;
    if (m.cell * all->classes > WIDEST) {
        print_pairs(all);
        return;
    }
    putchar('\n');
    print_fact(2, "", "rows: the class; columns: the prediction%s",
               m.number ? ", by the rows' numbers" : "");
    for (int from = 0; from < all->classes; from += band) {
        int to = from + band < all->classes ? from + band : all->classes;
        if (from) putchar('\n');
        print_head(&m, from, to);
        for (int i = 0; i < all->classes; i++) print_row(&m, i, from, to);
    }
}

/* The scale covers the diagonal, too: equal colours are equal numbers. */
bool confusion_png(heed_ctx *c, const class_predictions *all, const char *path) {
    size_t n = (size_t)all->classes;
    heed_real *values = malloc(n * n * sizeof *values);
    if (!values) return heed_fail(c, HEED_FAILED, "no memory for a table of %zu classes", n);
    for (size_t i = 0; i < n * n; i++) values[i] = (heed_real)all->confusion[i];
    heed_heatmap map = {.title = "rows: the class, columns: the prediction",
                        .rows = all->classes,
                        .cols = all->classes,
                        .values = values,
                        .row_labels = all->labels,
                        .col_labels = all->labels,
                        .unit = all->noun,
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
    char (*captions)[HEED_TILE_LINES][128];
    int count;
} album;

/* Indices of the first `most` wrong predictions, sorted by loss, worst first. */
static int worst_of(const class_predictions *all, int most, size_t *places) {
    int n = 0;
    for (size_t i = 0; i < all->count; i++) {
        const heed_prediction *v = &all->list[i];
        if (v->predicted == v->label) continue;
        int at = n < most ? n++ : n;
        for (; at > 0 && all->list[places[at - 1]].loss < v->loss; at--)
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

/* Reduces a picture to the size at which it is drawn, as forty photographs need gigabytes; if
 * memory runs out, it stays as it is. */
static void shrink(heed_picture *p) {
    int most = p->width > p->height ? p->width : p->height;
    if (most <= MISTAKE_SIDE) return;
    int width = (int)fmax(1, (double)p->width * MISTAKE_SIDE / most),
        height = (int)fmax(1, (double)p->height * MISTAKE_SIDE / most);
    size_t n = (size_t)width * (size_t)height * (size_t)p->channels;
    heed_real *x = malloc((n + heed_resize_work(p, width, height)) * sizeof *x);
    if (!x) return;
    heed_picture_resize(p, (heed_box){0, 0, p->width, p->height}, width, height, x, x + n);
    for (size_t i = 0; i < n; i++) p->pixels[i] = (unsigned char)(x[i] + (heed_real)0.5);
    free(x);
    unsigned char *less = realloc(p->pixels, n);
    *p = (heed_picture){width, height, p->channels, less ? less : p->pixels};
}

static bool add_mistake(album *a, const class_predictions *all, size_t place) {
    const heed_prediction *v = &all->list[place];
    heed_picture *p = &a->pictures[a->count];
    const char *name;
    char cut[96];
    int label;
    if (!heed_images_get(all->images, all->part, place, p, &label, &name)) return false;
    shrink(p);
    char(*text)[128] = a->captions[a->count];
    snprintf(text[0], sizeof text[0], "is %s", short_name(cut, all->labels[v->label], 20));
    snprintf(text[1], sizeof text[1], "predicted %s, %.0f %%",
             short_name(cut, all->labels[v->predicted], 20), 100 * v->p);
    snprintf(text[2], sizeof text[2], "%s", short_name(cut, file_name(name), 30));
    a->tiles[a->count++] =
        (heed_tile){p->pixels, p->width, p->height, p->channels, {text[0], text[1], text[2]}};
    return true;
}

/* "the 20 worst of 61 mistakes, highest loss first" */
static void title_of(const class_predictions *all, int found, char title[128]) {
    const heed_images_info *about = heed_images_about(all->images);
    bool is_square = about->low_width == about->high_width &&
                     about->low_height == about->high_height &&
                     about->low_width == about->low_height;
    const char *seen = is_square ? "" : "; the model sees the centre square of each";
    double mistakes = (double)all->count - all->score.correct;
    if (found < 2)
        snprintf(title, 128, "the %s mistake%s", mistakes < 2 ? "only" : "worst", seen);
    else if (found >= mistakes)
        snprintf(title, 128, "all %d mistakes, highest loss first%s", found, seen);
    else
        snprintf(title, 128, "the %d worst of %.0f mistakes, highest loss first%s", found, mistakes,
                 seen);
}

bool mistakes_png(heed_ctx *c, const class_predictions *all, int most, const char *path) {
    size_t n = (size_t)most, *places = calloc(n, sizeof *places);
    album a = {calloc(n, sizeof *a.tiles), calloc(n, sizeof *a.pictures),
               calloc(n, sizeof *a.captions), 0};
    bool ok = places && a.tiles && a.pictures && a.captions;
    if (!ok) heed_fail(c, HEED_FAILED, "no memory for %d pictures", most);
    int found = ok ? worst_of(all, most, places) : 0;
    for (int i = 0; ok && i < found; i++) ok = add_mistake(&a, all, places[i]);
    if (ok && found == 0) heed_message(c, HEED_INFO, "no mistakes: %s is not written", path);
    char title[128];
    title_of(all, found, title);
    if (ok && found > 0)
        ok = heed_sheet_png(c,
                            &(heed_sheet){.title = title,
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
    return ok && found > 0;
}
