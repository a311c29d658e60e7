/* confusion.c -- what was taken for what: tables, pictures, and the worst mistakes. */
#include "pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t *confusion_of(heed_ctx *c, const judgement *j) {
    size_t n = (size_t)j->classes, *counts = calloc(n * n, sizeof *counts);
    if (!counts) heed_fail(c, HEED_FAILED, "no memory for a table of %zu classes", n);
    for (size_t i = 0; counts && i < j->count; i++)
        counts[(size_t)j->verdicts[i].label * n + (size_t)j->verdicts[i].said]++;
    return counts;
}

typedef struct {
    size_t count, said, right; /* of a class: pictures, times it was said, of these rightly */
    double recall, precision;  /* NAN: of nothing */
} class_facts;

static class_facts facts_of(const judgement *j, const size_t *confusion, int label) {
    size_t n = (size_t)j->classes, at = (size_t)label;
    class_facts f = {.right = confusion[at * n + at]};
    for (size_t i = 0; i < n; i++) {
        f.count += confusion[at * n + i];
        f.said += confusion[i * n + at];
    }
    f.recall = f.count ? (double)f.right / (double)f.count : (double)NAN;
    f.precision = f.said ? (double)f.right / (double)f.said : (double)NAN;
    return f;
}

/* Columns of the widest label, at most `most`. */
static int label_columns(const judgement *j, int most) {
    int width = 5;
    for (int i = 0; i < j->classes; i++) {
        int n = name_columns(j->labels[i], 0);
        if (n > width) width = n;
    }
    return width < most ? width : most;
}

static void print_share(double share) {
    if (isfinite(share))
        printf("%9.2f %%", 100 * share);
    else
        printf("%11s", "-");
}

void print_classes(const judgement *j, const size_t *confusion) {
    int width = label_columns(j, 32);
    char n[32];
    printf("\n  %-*s%10s%11s%11s\n", width, "class", j->noun, "found", "precision");
    for (int i = 0; i < j->classes; i++) {
        class_facts f = facts_of(j, confusion, i);
        fputs("  ", stdout);
        print_name(j->labels[i], width, width);
        printf("%10s", with_commas(n, f.count));
        print_share(f.recall);
        print_share(f.precision);
        putchar('\n');
    }
}

json_t *classes_json(const judgement *j, const size_t *confusion) {
    json_t *list = json_array();
    for (int i = 0; i < j->classes; i++) {
        class_facts f = facts_of(j, confusion, i);
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

/* Columns of a count; 0: the matrix does not fit. */
static int cell_columns(const judgement *j, const size_t *confusion, int label) {
    int cell = 4;
    for (size_t i = 0; i < (size_t)j->classes * (size_t)j->classes; i++)
        if (digits_of(confusion[i]) + 2 > cell) cell = digits_of(confusion[i]) + 2;
    int room = terminal_width() < 100 ? terminal_width() : 100;
    return 2 + label + cell * j->classes <= room ? cell : 0;
}

static void print_row(const judgement *j, const size_t *row, int label, int cell, int width) {
    bool color = has_color(stdout);
    fputs("  ", stdout);
    print_name(j->labels[label], width, width);
    for (int i = 0; i < j->classes; i++) {
        const char *paint = i == label ? "\033[1m" : row[i] ? "\033[33m" : "\033[2m";
        if (color) fputs(paint, stdout);
        if (row[i])
            printf("%*zu", cell, row[i]);
        else
            printf("%*s", cell, ".");
        if (color) fputs("\033[0m", stdout);
    }
    putchar('\n');
}

/* The largest entry off the diagonal that is not above (`below`, place `after`), in order. */
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
        if (i == 0) puts("\n  taken for another most often");
        printf("  %8zu  ", confusion[at]);
        print_name(j->labels[at / n], 0, 0);
        fputs(" as ", stdout);
        print_name(j->labels[at % n], 0, 0);
        putchar('\n');
        below = confusion[at];
        after = at;
    }
}

void print_confusion(const judgement *j, const size_t *confusion) {
    int width = label_columns(j, 16), cell = cell_columns(j, confusion, width);
    if (!cell) {
        print_pairs(j, confusion);
        return;
    }
    printf("\n  rows: what it is; columns: what it was taken for\n  %*s", width, "");
    for (int i = 0; i < j->classes; i++) {
        printf("%*s", cell - name_columns(j->labels[i], cell - 1), "");
        print_name(j->labels[i], 0, cell - 1);
    }
    putchar('\n');
    for (int i = 0; i < j->classes; i++)
        print_row(j, confusion + (size_t)i * (size_t)j->classes, i, cell, width);
}

/* The scale ends at the largest mistake, so that mistakes are seen beside what is right. */
bool confusion_png(heed_ctx *c, const judgement *j, const size_t *confusion, const char *path) {
    size_t n = (size_t)j->classes;
    heed_real *values = malloc(n * n * sizeof *values), worst = 0;
    if (!values) return heed_fail(c, HEED_FAILED, "no memory for a table of %zu classes", n);
    for (size_t i = 0; i < n * n; i++) {
        values[i] = (heed_real)confusion[i];
        if (i / n != i % n && values[i] > worst) worst = values[i];
    }
    heed_heatmap map = {.title = "rows: what it is, columns: what it was taken for",
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

/* Wide enough for the second caption, with the names that short_name leaves. */
enum { MISTAKES_IN_A_ROW = 6, MISTAKE_SIDE = 224 };

typedef struct {
    heed_tile *tiles;
    heed_picture *pictures;
    char (*captions)[2][128];
    int count;
} album;

/* Places of the wrong verdicts in order of their loss, worst first: the first `most` of them. */
static int worst_of(const judgement *j, int most, size_t *places) {
    int n = 0;
    for (size_t i = 0; i < j->count; i++) {
        const verdict *v = &j->verdicts[i];
        if (v->said == v->label) continue;
        int at = n < most ? n++ : n;
        for (; at > 0 && j->verdicts[places[at - 1]].loss < v->loss; at--)
            if (at < most) places[at] = places[at - 1];
        if (at < most) places[at] = i;
    }
    return n;
}

/* A name of at most `columns`, the rest of a longer one as "..". */
static const char *short_name(char out[96], const char *name, int columns) {
    bool fits = text_columns(name) <= columns;
    snprintf(out, 96, "%.*s%s", (int)text_cut(name, fits ? columns : columns - 2), name,
             fits ? "" : "..");
    return out;
}

static int drawn(int side, int most) {
    int64_t n = (int64_t)side * MISTAKE_SIDE / most;
    return n < 1 ? 1 : (int)n;
}

/* No larger than it is drawn, as forty photographs take gigabytes; as it is without memory. */
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
    const verdict *v = &j->verdicts[place];
    heed_picture *p = &a->pictures[a->count];
    const char *name;
    char cut[96];
    int label;
    if (!heed_images_get(k, j->part, place, p, &label, &name)) return false;
    shrink(p);
    char(*text)[128] = a->captions[a->count];
    snprintf(text[0], sizeof text[0], "is %s", short_name(cut, j->labels[v->label], 20));
    snprintf(text[1], sizeof text[1], "taken for %s, %.0f %%",
             short_name(cut, j->labels[v->said], 20), 100 * v->p);
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
        heed_log(c, HEED_INFO, "no mistakes: %s is not written", path);
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
