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
    heed_table t = {
        .head = head->label, .name = 5, .columns = columns, .names = names, .of = head + 1};
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

/* ---- lines ---- */

static void print_item(const heed_fact *f) {
    enum { COLUMNS = 76 };
    int width = line_width(stdout) < COLUMNS ? line_width(stdout) : COLUMNS;
    printf("  %s", f->label);
    print_start(f->text, strlen(f->text), width - 2 - (int)strlen(f->label));
    putchar('\n');
}

void print_facts(program *p, const heed_facts *k) {
    enum { AT = 15 };
    char label[64];
    for (size_t i = 0; i < k->count;) {
        const heed_fact *f = &k->list[i];
        heed_text shown = {.c = NULL};
        size_t taken = 1;
        add_shown(p, f->text, &shown);
        snprintf(label, sizeof label, *f->label ? "  %.60s" : "%.60s", f->label);
        if (f->kind == HEED_FACT) print_fact(AT, label, "%s", shown.s ? shown.s : "");
        if (f->kind == HEED_FACT_HEADING) printf("\n%s\n", f->text);
        if (f->kind == HEED_FACT_ITEM) print_item(f);
        if (f->kind == HEED_FACT_COLUMNS) taken = print_fact_table(f, k->count - i);
        heed_text_free(&shown);
        i += taken;
    }
}

void banner_facts(const program *p, const heed_facts *k) {
    for (size_t i = 0; i < k->count; i++) {
        heed_text shown = {.c = NULL};
        add_shown(p, k->list[i].text, &shown);
        banner_row(k->list[i].label, "%s", shown.s ? shown.s : "");
        heed_text_free(&shown);
    }
}

json_t *facts_json(const heed_facts *k) {
    json_t *o = k->json.s ? json_loads(k->json.s, 0, NULL) : NULL;
    return o ? o : json_object();
}
