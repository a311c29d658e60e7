/* facts.c -- facts of the library on the terminal: lines with labels, lists, tables. */
#include "kinds/training.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

/* The cell `column` of a row, between tabs. */
static void cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const heed_fact *f = (const heed_fact *)of + row;
    const char *s = f->text;
    for (; column > 0 && *s; column--) s += strcspn(s, "\t"), s += *s == '\t';
    snprintf(text, HEED_TABLE_CELL, "%.*s", (int)strcspn(s, "\t"), s);
}

/* Prints the table that begins at a fact, of `count` left. Returns how many it has. */
static size_t print_fact_table(const heed_fact *head, size_t count) {
    enum { COLUMNS = 8, WIDEST = 32 };
    heed_table_column columns[COLUMNS];
    char heads[COLUMNS][HEED_TABLE_CELL], text[HEED_TABLE_CELL];
    const char **names = malloc(count * sizeof *names);
    heed_table t = {.head = head->label,
                    .name = heed_label_columns(head->label),
                    .columns = columns,
                    .names = names,
                    .of = head + 1};
    t.cell = cell;
    while ((size_t)t.rows + 1 < count && head[t.rows + 1].kind == HEED_FACT_ROW) t.rows++;
    for (const char *s = head->text; s && t.count < COLUMNS; t.count++) {
        cell(head, 0, t.count, heads[t.count]);
        int width = (int)strlen(heads[t.count]);
        for (int i = 0; i < t.rows; i++) {
            cell(head + 1, i, t.count, text);
            if ((int)strlen(text) > width) width = (int)strlen(text);
        }
        columns[t.count] = (heed_table_column){heads[t.count], width < 10 ? 10 : width, false};
        s = strchr(s, '\t');
        s = s ? s + 1 : NULL;
    }
    for (int i = 0; names && i < t.rows; i++) {
        int width = heed_label_columns(names[i] = head[i + 1].label);
        if (width > t.name) t.name = width < WIDEST ? width : WIDEST;
    }
    if (names) print_table(NULL, &t);
    free(names);
    return (size_t)t.rows + 1;
}

/* ---- a matrix of counts ---- */

/* Its layout in the terminal: rows are labelled with their names; columns too if the names fit
 * above a count, otherwise with the rows' numbers. */
typedef struct {
    const heed_fact *rows;
    int count, label, number, cell; /* widths of a row's name, its number (0: none) and a count */
    int start;                      /* of the first count */
} matrix;

static matrix matrix_of(const heed_fact *rows, size_t left, int width) {
    matrix m = {.rows = rows, .label = 5, .cell = 4};
    int widest = 0, most = width < 64 ? width / 2 : 32;
    while ((size_t)m.count < left && rows[m.count].kind == HEED_FACT_ROW) m.count++;
    for (int i = 0; i < m.count; i++) {
        int columns = heed_label_columns(rows[i].label);
        if (columns > widest) widest = columns;
        for (const char *s = rows[i].text; *s; s += strcspn(s, "\t"), s += *s == '\t')
            if ((int)strcspn(s, "\t") + 2 > m.cell) m.cell = (int)strcspn(s, "\t") + 2;
    }
    if (widest > m.label) m.label = widest;
    if (m.label > most) m.label = most;
    char number[16];
    if (widest > m.cell - 1) m.number = snprintf(number, sizeof number, "%d", m.count);
    m.start = 2 + m.label + (m.number ? m.number + 1 : 0);
    return m;
}

static void print_columns(const matrix *m, int from, int to) {
    printf("%*s", m->start, "");
    for (int i = from; i < to; i++) {
        const char *name = m->rows[i].label;
        printf("%*s", m->number ? 0 : m->cell - heed_label_columns(name), "");
        if (m->number)
            printf("%*d", m->cell, i + 1);
        else
            print_name(name, 0, 0);
    }
    putchar('\n');
}

static void print_row(const matrix *m, int row, int from, int to) {
    bool color = has_color(stdout);
    char count[HEED_TABLE_CELL];
    fputs("  ", stdout);
    if (m->number) printf("%*d ", m->number, row + 1);
    print_name(m->rows[row].label, m->label, m->label);
    for (int i = from; i < to; i++) {
        cell(m->rows, row, i, count);
        bool any = strcmp(count, "0") != 0;
        const char *paint = i == row ? "\033[1m" : any ? "\033[33m" : "\033[2m";
        printf("%s%*s%s", color ? paint : "", m->cell, any ? count : ".", color ? "\033[0m" : "");
    }
    putchar('\n');
}

/* Prints the matrix in bands of columns. Returns how many facts it has. */
static size_t print_matrix(const heed_fact *head, size_t left) {
    int width = terminal_width() < 100 ? terminal_width() : 100;
    matrix m = matrix_of(head + 1, left - 1, width);
    int band = (width - m.start) / m.cell;
    if (band < 1) band = 1;
    putchar('\n');
    print_fact(2, "", "%s%s", head->text, m.number ? ", by the rows' numbers" : "");
    for (int from = 0; from < m.count; from += band) {
        int to = from + band < m.count ? from + band : m.count;
        if (from) putchar('\n');
        print_columns(&m, from, to);
        for (int i = 0; i < m.count; i++) print_row(&m, i, from, to);
    }
    return (size_t)m.count + 1;
}

/* ---- lines ---- */

/* The start of a text that may be long, in at most `columns`. */
static void print_start(const char *text, size_t n, int columns) {
    char line[512];
    snprintf(line, sizeof line, "%.*s", n < 400 ? (int)n : 400, text);
    print_name(line, 0, columns);
}

static void print_item(const heed_fact *f) {
    enum { COLUMNS = 76 };
    int width = line_width(stdout) < COLUMNS ? line_width(stdout) : COLUMNS;
    printf("  %s", f->label);
    print_start(f->text, strlen(f->text), width - 2 - (int)strlen(f->label));
    putchar('\n');
}

void print_facts(program *p, const heed_facts *k) {
    int at = 15;
    char label[64];
    for (size_t i = 0; i < k->count; i++) {
        int width = (int)strlen(k->list[i].label) + 4;
        if (k->list[i].kind == HEED_FACT && width > at) at = width;
    }
    for (size_t i = 0; i < k->count;) {
        const heed_fact *f = &k->list[i];
        heed_text shown = {.c = NULL};
        size_t taken = 1;
        add_shown(p, f->text, &shown);
        snprintf(label, sizeof label, *f->label ? "  %.60s" : "%.60s", f->label);
        if (f->kind == HEED_FACT) print_fact(at, label, "%s", shown.s ? shown.s : "");
        if (f->kind == HEED_FACT_HEADING) {
            size_t n = strcspn(f->text, "\n");
            putchar('\n');
            print_fact(0, "", "%.*s", (int)n, f->text);
            fputs(f->text + n, stdout);
        }
        if (f->kind == HEED_FACT_ITEM) print_item(f);
        if (f->kind == HEED_FACT_MATRIX) taken = print_matrix(f, k->count - i);
        if (f->kind == HEED_FACT_COLUMNS) taken = print_fact_table(f, k->count - i);
        heed_text_free(&shown);
        i += taken;
    }
}

json_t *facts_json(const heed_facts *k) {
    json_t *o = k->json.s ? json_loads(k->json.s, 0, NULL) : NULL;
    return o ? o : json_object();
}
