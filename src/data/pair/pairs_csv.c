/* pairs_csv.c -- pairs of the rows of a CSV file (RFC 4180). Its first row names the columns,
 * unless the caller gives their numbers. */
#include "data/pair/pairs.h"
#include "text/text.h"

#include <string.h>

/* The fields of the row, at most HEED_CSV_FIELDS of them; line ends in them become spaces. */
static size_t cut_row(const heed_csv *r, heed__cut out[HEED_CSV_FIELDS]) {
    size_t count = r->count < HEED_CSV_FIELDS ? r->count : HEED_CSV_FIELDS;
    for (size_t i = 0; i < count; i++) {
        out[i] = heed__trimmed((heed__cut){r->fields[i], strlen(r->fields[i])});
        for (char *at = r->fields[i]; (at = strpbrk(at, "\n\t")) != NULL;) *at = ' ';
    }
    return count;
}

static bool add_row(heed__line *l, const heed__cut *fields, size_t count) {
    heed__cut text[HEED__SIDES];
    l->note = (heed__cut){NULL, 0};
    for (int side = 0; side < HEED__SIDES; side++) {
        if (l->column[side] >= count)
            return heed__pairs_wrong(l, "as many columns as in the first line", "fewer");
        text[side] = fields[l->column[side]];
    }
    for (size_t i = 0; i < count && !l->note.s; i++)
        if (i != l->column[HEED__SOURCE] && i != l->column[HEED__TARGET]) l->note = fields[i];
    l->k->info.extra_columns += count > HEED__SIDES;
    return heed__pairs_add(l, text);
}

/* Chooses the columns by the first row. */
static bool begin(heed__line *l, const heed__cut *fields, size_t count, bool *header) {
    if (!heed__pairs_header(l, fields, count, header)) return false;
    l->k->info.header |= *header;
    return *header || l->k->columns[HEED__SOURCE].s || heed__pairs_lacks(l, fields, count);
}

bool heed__pairs_csv(heed__line *l, char *text, size_t n) {
    heed_csv r;
    heed__cut fields[HEED_CSV_FIELDS];
    bool first = true, header = false,
         ok = heed_csv_open(&r, l->k->c, "line is wrong", l->path, text, n);
    r.longest = HEED__MOST_FIELD;
    while (ok && heed_csv_next(&r)) {
        size_t count = cut_row(&r, fields);
        l->number = r.line;
        ok = !first || begin(l, fields, count, &header);
        if (ok && !(first && header)) ok = add_row(l, fields, count);
        first = false;
    }
    return ok && heed_ctx_status(l->k->c) == HEED_OK;
}
