/* by_length.c -- exact matches by the length of the source. */
#include "cli/program.h"
#include "kinds/alignment_peaks.h"

#include <stdlib.h>

bool by_length_open(by_length *b, heed_run *r, const heed_config *flags) {
    size_t block = (size_t)heed_config_int(r->config, "block") + 1;
    *b = (by_length){.each = (int)heed_config_int(flags, "by-length"), .capacity = (int)block};
    if (!b->each) return true;
    b->count = calloc(2 * block, sizeof *b->count);
    if (!b->count) return heed_fail(r->c, HEED_FAILED, "no memory for %zu lengths", block);
    b->exact = b->count + block;
    return true;
}

void by_length_close(by_length *b) {
    free(b->count);
    *b = (by_length){0};
}

void by_length_add(by_length *b, const translator *k, bool exact) {
    size_t length = k->in.text.tokens.count - 1;
    if (!b->each || length >= (size_t)b->capacity) return;
    b->count[length]++;
    b->exact[length] += exact;
}

/* ---- rows ---- */

/* The lengths from, ..., to and their counts. */
typedef struct {
    int from, to;
    size_t count, exact;
    double low, high;
} row;

/* Finds the next row of the table after `at`, which starts at 0. False: there are no more. The
 * first row begins at the shortest length, and the last ends at the longest. */
static bool next_row(const by_length *b, int *at, row *out) {
    int from = *at, last = b->capacity - 1;
    while (*at == 0 && from < b->capacity && !b->count[from]) from++;
    while (last >= 0 && !b->count[last]) last--;
    if (from > last) return false;
    *out = (row){.from = from, .to = from + b->each - 1 < last ? from + b->each - 1 : last};
    for (int i = out->from; i <= out->to; i++) {
        out->count += b->count[i];
        out->exact += b->exact[i];
    }
    *at = out->to + 1;
    if (out->count) share_interval((double)out->exact, (double)out->count, &out->low, &out->high);
    return true;
}

enum { PAIRS, EXACT, INTERVAL, COLUMNS };
static const heed_table_column columns[] = {
    {"pairs", 7, false}, {"exact", 9, false}, {"    95 %", 16, true}};

static void cell(const void *of, int index, int column, char text[HEED_TABLE_CELL]) {
    row r = {.from = 0};
    char n[32];
    for (int at = 0; index >= 0; index--) next_row(of, &at, &r);
    *text = 0;
    if (column == HEED_TABLE_NAME)
        snprintf(text, HEED_TABLE_CELL, r.from < r.to ? "  %d to %d" : "  %d", r.from, r.to);
    if (column == PAIRS) snprintf(text, HEED_TABLE_CELL, "%s", heed_format_count(n, r.count));
    if (column == EXACT && r.count)
        snprintf(text, HEED_TABLE_CELL, "%.2f %%", 100 * (double)r.exact / (double)r.count);
    if (column == INTERVAL && r.count)
        snprintf(text, HEED_TABLE_CELL, "%6.2f to %.2f", 100 * r.low, 100 * r.high);
}

void by_length_print(const by_length *b) {
    row r;
    heed_table l = {.head = "tokens of a source",
                    .name = 18,
                    .flush = true,
                    .count = COLUMNS,
                    .columns = columns,
                    .cell = cell,
                    .of = b};
    if (!b->each) return;
    for (int at = 0; next_row(b, &at, &r);) l.rows++;
    print_table(NULL, &l);
}

json_t *by_length_json(const by_length *b) {
    row r;
    if (!b->each) return NULL;
    json_t *list = json_array();
    for (int at = 0; next_row(b, &at, &r);)
        json_array_append_new(list, json_pack("{s:i, s:i, s:I, s:o, s:[o,o]}", "from", r.from, "to",
                                              r.to, "pairs", (json_int_t)r.count, "exact",
                                              json_number((double)r.exact / (double)r.count),
                                              "exact_95", json_number(r.low), json_number(r.high)));
    return list;
}
