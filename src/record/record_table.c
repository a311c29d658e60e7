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

/* The rows that are shown, of one table or of several, and the columns. */
typedef struct {
    const heed_record_column **shown;
    const heed_record_table **of;
    int *row;
} lines;

/* The column of the row's table that has the same key, or heading without one. */
static void put_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const lines *k = of;
    const heed_record_table *t = k->of[row];
    const heed_record_column *like = k->shown[column];
    *text = 0;
    for (int i = 1; i < t->count; i++) {
        const heed_record_column *found = &t->columns[i];
        if (!(like->key ? is_same(found->key, like->key) : is_same(found->head, like->head)))
            continue;
        if (found->texts)
            snprintf(text, HEED_TABLE_CELL, "%s", found->texts[k->row[row]]);
        else
            put_number(found, found->values[k->row[row]], text);
    }
}

static bool has_any(const heed_record_column *k, int rows) {
    for (int i = 0; i < rows; i++)
        if (k->texts || !isnan(k->values[i])) return true;
    return false;
}

bool heed_record_table_text(const heed_record *r, const char *table, bool flush, int width,
                            heed_text *out) {
    const heed_record_table *of = table_of(r, table);
    if (!of || !out || !of->count) return false;
    size_t most = 0, count = (size_t)of->count;
    for (int i = 0; i < r->table_count; i++) most += (size_t)r->tables[i].rows;
    lines all = {heed__alloc_array(out->c, count, sizeof *all.shown),
                 heed__alloc_array(out->c, most, sizeof *all.of),
                 heed__alloc_array(out->c, most, sizeof *all.row)};
    heed_table_column *columns = heed__alloc_array(out->c, count, sizeof *columns);
    const char **names = heed__alloc_array(out->c, most, sizeof *names);
    bool ok = all.shown && all.of && all.row && columns && names;
    heed_table t = {.head = of->columns->head, .flush = flush, .cell = put_cell, .of = &all};
    t.columns = columns;
    t.names = names;
    int used = 2;
    t.name = heed_label_columns(t.head);
    for (int i = 0; ok && i < r->table_count; i++)
        for (int row = 0; row < r->tables[i].rows; row++) {
            if (!r->tables[i].count || !is_same(r->tables[i].columns->head, t.head)) break;
            all.of[t.rows] = &r->tables[i];
            all.row[t.rows] = row;
            names[t.rows] = r->tables[i].columns->texts[row];
            int wide = heed_label_columns(names[t.rows++]);
            if (wide > t.name) t.name = wide;
        }
    for (int i = 1; ok && i < of->count; i++) {
        const heed_record_column *k = &of->columns[i];
        char text[HEED_TABLE_CELL];
        if (!k->head || !has_any(k, of->rows)) continue;
        int widest = heed_label_columns(k->head);
        all.shown[t.count] = k;
        for (int row = 0; row < t.rows; row++) {
            put_cell(&all, row, t.count, text);
            if ((int)strlen(text) > widest) widest = (int)strlen(text);
        }
        columns[t.count++] = (heed_table_column){.head = k->head, .width = widest};
        used += widest + 1;
    }
    if (used + t.name <= width && used + t.name + t.count > width) t.gap = 1; /* then it fits */
    if (ok) heed_table_text(&t, width, out);
    void *own[] = {all.shown, all.of, all.row, columns, names};
    for (int i = 0; i < 5; i++) heed__free(own[i]);
    return ok;
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
