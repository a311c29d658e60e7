/* record_table.c -- the tables of a record as text, JSON and CSV. */
#include "core/core.h"
#include "record/weights.h"
#include "text/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_same(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

static const heed_record_table *table_of(const heed_record *r, const char *name) {
    for (int i = 0; r && i < r->table_count; i++)
        if (name ? is_same(r->tables[i].name, name) : !r->tables[i].name) return &r->tables[i];
    return NULL;
}

static const heed_record_column *column_of(const heed_record_table *t, const char *key) {
    for (int i = 0; t && i < t->count; i++)
        if (is_same(t->columns[i].key, key)) return &t->columns[i];
    return NULL;
}

const heed_record_column *heed_record_find(const heed_record *r, const char *table,
                                           const char *key) {
    return column_of(table_of(r, table), key);
}

/* ---- for people ---- */

/* Numbers that are rounded to 0 have no sign. */
static void put_number(const heed_record_column *k, double x, char text[HEED_TABLE_CELL]) {
    if (isnan(x)) {
        snprintf(text, HEED_TABLE_CELL, "%s", k->optional ? "" : "-");
        return;
    }
    x *= k->times != 0 ? k->times : 1;
    if (!k->format)
        heed_format_count(text, (uint64_t)x);
    else
        snprintf(text, HEED_TABLE_CELL, k->format, x);
    if (k->format && (*text == '-' || *text == '+') && !strpbrk(text, "123456789"))
        memmove(text, text + 1, strlen(text));
}

/* Rows of one table, or of several with the same heading, under the columns of one. */
typedef struct {
    const heed_record *r;
    const char *head;
    const heed_record_column **shown;
} rows_of;

static void put_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const rows_of *k = of;
    const heed_record_table *t = k->r->tables;
    for (; !is_same(t->columns->head, k->head) || row >= t->rows; t++)
        if (is_same(t->columns->head, k->head)) row -= t->rows;
    const heed_record_column *found = t->columns;
    if (column != HEED_TABLE_NAME) { /* the same key, or heading without one */
        const heed_record_column *like = k->shown[column];
        found = like->key ? column_of(t, like->key) : NULL;
        for (int i = 1; !like->key && i < t->count; i++)
            if (!t->columns[i].key && is_same(t->columns[i].head, like->head))
                found = &t->columns[i];
    }
    *text = 0;
    if (found && found->texts)
        snprintf(text, HEED_TABLE_CELL, "%s", found->texts[row]);
    else if (found)
        put_number(found, found->values[row], text);
}

static bool has_any(const heed_record_column *k, int rows) {
    for (int i = 0; i < rows; i++)
        if (k->texts || !isnan(k->values[i])) return true;
    return false;
}

bool heed_record_table_text(const heed_record *r, const char *table, bool flush, int width,
                            heed_text *out) {
    const heed_record_table *of = table_of(r, table);
    if (!of || !out) return false;
    size_t n = (size_t)of->count;
    rows_of rows = {r, of->columns->head, heed__alloc_array(out->c, n, sizeof *rows.shown)};
    heed_table_column *columns = heed__alloc_array(out->c, n, sizeof *columns);
    heed_table t = {
        .head = rows.head, .flush = flush, .columns = columns, .cell = put_cell, .of = &rows};
    char text[HEED_TABLE_CELL];
    int used = 2;
    for (int i = 0; i < r->table_count; i++)
        if (is_same(r->tables[i].columns->head, rows.head)) t.rows += r->tables[i].rows;
    const char **names = heed__alloc_array(out->c, (size_t)t.rows + 1, sizeof *names);
    t.names = names;
    for (int i = 0, at = 0; names && i < r->table_count; i++)
        for (int k = 0; is_same(r->tables[i].columns->head, rows.head) && k < r->tables[i].rows;
             k++) {
            names[at] = r->tables[i].columns->texts[k];
            int columns_of = heed_label_columns(names[at++]);
            if (columns_of > t.name) t.name = columns_of;
        }
    for (int i = 1; rows.shown && columns && i < of->count; i++) {
        const heed_record_column *k = &of->columns[i];
        if (!k->head || !has_any(k, of->rows)) continue;
        int widest = heed_label_columns(k->head);
        rows.shown[t.count] = k;
        for (int row = 0; row < t.rows; row++) {
            put_cell(&rows, row, t.count, text);
            if ((int)strlen(text) > widest) widest = (int)strlen(text);
        }
        columns[t.count++] = (heed_table_column){.head = k->head, .width = widest};
        used += widest + 1;
    }
    if (used + t.name <= width && used + t.name + t.count > width) t.gap = 1; /* then it fits */
    if (names && columns && rows.shown) heed_table_text(&t, width, out);
    heed__free((void *)names);
    heed__free((void *)rows.shown);
    heed__free(columns);
    return heed_ctx_status(out->c) == HEED_OK;
}

/* ---- for programs ---- */

/* A number that is not counted is written as one, "3.0", though it is whole. */
static void put_member(heed_text *out, const heed_record_column *k, int row) {
    double x = k->texts ? 0 : k->values[row];
    if (k->texts)
        heed_json_text(out, k->key, k->texts[row]);
    else if (!isfinite(x))
        heed_json_text(out, k->key, NULL);
    else if (!k->format)
        heed_json_int(out, k->key, (int64_t)x);
    else {
        heed_json_real(out, k->key, x, 17);
        if (x == floor(x) && fabs(x) < 1e15) heed_text_put(out, ".0", 2);
    }
}

static void put_members(heed_text *out, const heed_record_table *t, int row) {
    for (int i = 0; i < t->count; i++) {
        const heed_record_column *k = &t->columns[i];
        bool none = k->optional && !k->texts && isnan(k->values[row]);
        if (k->key && !none && !is_same(k->key, t->by)) put_member(out, k, row);
    }
}

bool heed_record_table_json(const heed_record *r, const char *key, heed_text *out) {
    if (!r || !out) return false;
    heed_json_open(out, key, '{');
    for (int i = 0; i < r->table_count; i++) {
        const heed_record_table *t = &r->tables[i];
        const heed_record_column *by = column_of(t, t->by);
        if (t->name) heed_json_open(out, t->name, by ? '{' : '[');
        for (int row = 0; row < t->rows; row++) {
            if (t->name) heed_json_open(out, by ? by->texts[row] : NULL, '{');
            put_members(out, t, row);
            if (t->name) heed_json_close(out, '}');
        }
        if (t->name) heed_json_close(out, by ? '}' : ']');
    }
    heed_json_close(out, '}');
    return heed_ctx_status(out->c) == HEED_OK;
}

/* What a row is about comes before what was measured. */
void heed__table_csv(const heed_record *r, heed_text *out) {
    const heed_record_table *t = r->tables;
    char number[HEED__NUMBER];
    while (!t->name) t++;
    for (int row = -1; row < t->rows; row++) {
        const char *comma = "";
        for (int i = 0; i < 2 * t->count; i++) {
            const heed_record_column *k = &t->columns[i % t->count];
            bool about = k->texts || !k->format;
            if (!k->key || about != (i < t->count)) continue;
            heed_text_add(out, "%s", comma);
            comma = ",";
            if (row < 0)
                heed_text_add(out, "%s", k->key);
            else if (k->texts)
                heed_csv_put(out, k->texts[row]);
            else if (!isnan(k->values[row]))
                heed_text_add(out, "%s", heed__number_text(number, k->values[row], 9));
        }
        heed_text_put(out, "\n", 1);
    }
}
