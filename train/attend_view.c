/* attend_view.c -- which weights of a record are shown: a layer, heads, a query. */
#include "attend.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of numbers ---- */

enum { MOST_NUMBERS = 4096 };

static bool read_number(const char **at, int *out) {
    char *end;
    if (!isdigit((unsigned char)**at)) return false;
    long n = strtol(*at, &end, 10);
    *at = end;
    *out = (int)n;
    return n >= 1 && n <= MOST_NUMBERS;
}

static bool read_range(const char **at, int *from, int *to) {
    if (!read_number(at, from)) return false;
    *to = *from;
    if (**at != '-') return true;
    ++*at;
    return read_number(at, to) && *to >= *from;
}

int *number_list(heed_ctx *c, const char *flag, const char *text, int *count) {
    int *list = calloc(MOST_NUMBERS, sizeof *list);
    const char *at = text;
    *count = 0;
    for (bool ok = list && *at; ok;) {
        int from, to;
        ok = read_range(&at, &from, &to) && *count + to - from < MOST_NUMBERS;
        for (int i = from; ok && i <= to; i++) list[(*count)++] = i - 1;
        if (ok && *at == 0) break;
        if (!ok || *at++ != ',') {
            heed_fail(c, HEED_USAGE, "%s %s: expected numbers from 1, as in 1,3-5", flag, text);
            free(list);
            return NULL;
        }
    }
    if (!list) heed_fail(c, HEED_FAILED, "no memory for %s", flag);
    return list;
}

/* ---- the block ---- */

/* The layer asked for (from 1; 0: the last) of the stack asked for; cross before the others. */
static bool choose_block(attend_view *v, int layer) {
    const heed_record *r = v->record;
    const char *stack = heed_config_text(v->p->flags, "stack");
    for (int i = 0; i < r->block_count; i++) {
        const heed_record_block *b = &r->blocks[i];
        if (*stack && strcmp(stack, heed_stack_name(b->stack)) != 0) continue;
        if (layer && b->layer != layer - 1) continue;
        if (!v->block || b->stack == HEED_CROSS || v->block->stack != HEED_CROSS) v->block = b;
    }
    if (v->block) return true;
    return heed_fail(v->p->c, HEED_USAGE, "nothing to show: no layer %d%s%s in the record", layer,
                     *stack ? " of the " : "", stack);
}

static void count_layers(attend_view *v, const heed_run *r) {
    int count;
    attending *list = attending_layers(r, &count);
    for (int i = 0; list && i < count; i++)
        if (list[i].block.stack == v->block->stack && list[i].block.layer >= v->layers)
            v->layers = list[i].block.layer + 1;
    free(list);
}

static bool choose_head(attend_view *v) {
    const char *text = heed_config_text(v->p->flags, "head");
    const heed_record_block *b = v->block;
    const char *at = text;
    int number;
    v->chosen = *text;
    v->head = strcmp(text, "max") == 0 ? MAX_HEAD : MEAN_HEAD;
    if (!*text || strcmp(text, "mean") == 0 || v->head == MAX_HEAD) return true;
    if (!read_number(&at, &number) || *at)
        return heed_fail(v->p->c, HEED_USAGE, "--head %s: expected a number from 1, mean or max",
                         text);
    for (int i = 0; i < b->heads; i++)
        if ((b->head ? b->head[i] : i) == number - 1) {
            v->head = i;
            return true;
        }
    return heed_fail(v->p->c, HEED_USAGE, "--head %d: expected 1 to %d, mean or max", number,
                     b->head ? b->head[b->heads - 1] + 1 : b->heads);
}

/* ---- the query ---- */

/* "2,5" of a grid. */
static bool read_place(const heed_record_axis *a, const char *text, int *query) {
    int row, col;
    const char *at = text;
    if (!a->rows || !read_number(&at, &row) || *at++ != ',' || !read_number(&at, &col) || *at ||
        row > a->rows || col > a->cols)
        return false;
    *query = a->first + (row - 1) * a->cols + col - 1;
    return true;
}

/* The token of that text; how many there are. */
static int find_token(const heed_record_axis *a, const char *text, int *query) {
    int found = 0;
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->labels[i], text) == 0 && found++ == 0) *query = i;
    return found;
}

/* The token that was meant; NULL for a number, and none of a single character. */
static const char *meant(const heed_record_axis *a, const char *text) {
    const char *near = NULL, **list = calloc((size_t)a->count + 1, sizeof *list);
    int count = 0;
    for (int i = 0; list && i < a->count; i++)
        if (text_cut(a->labels[i], 1) < strlen(a->labels[i])) list[count++] = a->labels[i];
    if (list && text[strspn(text, "0123456789.+-")]) near = closest(text, list);
    free((void *)list);
    return near;
}

static bool no_query(const attend_view *v, const heed_record_axis *a, const char *text) {
    const char *near = meant(a, text);
    if (a->rows)
        heed_fail(v->p->c, HEED_USAGE,
                  "--query %s: expected %sa patch as ROW,COLUMN (%d rows of %d) or a number from 1 "
                  "to %d",
                  text, a->first ? "cls, " : "", a->rows, a->cols, a->count);
    else if (near)
        heed_fail(v->p->c, HEED_USAGE,
                  "--query %s: no such token: did you mean %s? expected a token or a number from 1 "
                  "to %d",
                  text, near, a->count);
    else
        heed_fail(v->p->c, HEED_USAGE,
                  "--query %s: no such token: expected a token or a number from 1 to %d", text,
                  a->count);
    return false;
}

static bool choose_query(attend_view *v) {
    const heed_record_axis *a = &v->record->axes[v->block->queries];
    const char *text = heed_config_text(v->p->flags, "query"), *at = text;
    int number;
    v->query = -1;
    if (!*text) {
        if (a->rows && a->first) v->query = 0;
        return true;
    }
    if (a->rows && a->first && strcmp(text, "cls") == 0) {
        v->query = 0;
        return true;
    }
    if (read_place(a, text, &v->query)) return true;
    int found = find_token(a, text, &v->query);
    if (found > 1)
        heed_log(v->p->c, HEED_WARN,
                 "--query %s: stands there %d times: the first one, token %d, is shown; hint: its "
                 "number instead",
                 text, found, v->query + 1);
    if (found) return true;
    if (read_number(&at, &number) && !*at && number <= a->count) {
        v->query = number - 1;
        return true;
    }
    return no_query(v, a, text);
}

bool view_open(attend_view *v, program *p, const heed_run *r, const heed_record *record,
               int layer) {
    *v = (attend_view){.p = p,
                       .record = record,
                       .top = (int)heed_config_int(p->flags, "top"),
                       .numbers = heed_config_bool(p->flags, "numbers"),
                       .hide = heed_config_bool(p->flags, "hide-special"),
                       .mass = heed_config_real(p->flags, "mass")};
    if (!choose_block(v, layer)) return false;
    count_layers(v, r);
    return choose_head(v) && choose_query(v);
}

const char *view_layer(const attend_view *v, char text[160]) {
    snprintf(text, 160, "%s, layer %d of %d", heed_stack_name(v->block->stack), v->block->layer + 1,
             v->layers);
    return text;
}

const char *view_head(const attend_view *v, int head, char text[48]) {
    const heed_record_block *b = v->block;
    if (head >= 0)
        snprintf(text, 48, "head %d", (b->head ? b->head[head] : head) + 1);
    else if (b->heads == 1)
        snprintf(text, 48, "its one head");
    else
        snprintf(text, 48, "%s of %d heads", head == MAX_HEAD ? "largest" : "mean", b->heads);
    return text;
}

const char *view_name(const attend_view *v, int head, char text[160]) {
    char what[48], where[160];
    snprintf(text, 160, "%.100s, %s", view_layer(v, where), view_head(v, head, what));
    return text;
}

/* ---- matrices ---- */

static bool no_memory(const attend_view *v) {
    return heed_fail(v->p->c, HEED_FAILED, "no memory for a matrix of attention");
}

/* Places of the tokens that are not hidden; to be freed. */
static int *visible(const attend_view *v, int axis, int *count) {
    const heed_record_axis *a = &v->record->axes[axis];
    int *list = calloc((size_t)a->count + 1, sizeof *list);
    *count = 0;
    for (int i = 0; list && i < a->count; i++)
        if (!v->hide || !a->special || !a->special[i]) list[(*count)++] = i;
    return list;
}

static double weight(const attend_view *v, int head, int query, int key) {
    const heed_record_block *b = v->block;
    size_t q = (size_t)v->record->axes[b->queries].count,
           k = (size_t)v->record->axes[b->keys].count;
    return (double)b->weights[((size_t)head * q + (size_t)query) * k + (size_t)key];
}

/* Of one head, or of all of them by mean or maximum. */
static double fused(const attend_view *v, int head, int query, int key) {
    double sum = 0, most = 0;
    if (head >= 0) return weight(v, head, query, key);
    for (int h = 0; h < v->block->heads; h++) {
        double x = weight(v, h, query, key);
        sum += x;
        if (x > most) most = x;
    }
    return head == MAX_HEAD ? most : sum / v->block->heads;
}

static bool open_matrix(const attend_view *v, shown *out, int rows) {
    out->col = visible(v, v->block->keys, &out->cols);
    out->rows = rows;
    out->values = calloc((size_t)rows * (size_t)out->cols + 1, sizeof *out->values);
    out->row_labels = calloc((size_t)rows + 1, sizeof *out->row_labels);
    out->col_labels = calloc((size_t)out->cols + 1, sizeof *out->col_labels);
    if (!out->col || !out->values || !out->row_labels || !out->col_labels) return no_memory(v);
    for (int j = 0; j < out->cols; j++)
        out->col_labels[j] = v->record->axes[v->block->keys].labels[out->col[j]];
    if (out->cols > 0 && rows > 0) return true;
    return heed_fail(v->p->c, HEED_USAGE, "--hide-special leaves no token to show");
}

bool shown_matrix(const attend_view *v, int head, shown *out) {
    int rows, *row = visible(v, v->block->queries, &rows);
    *out = (shown){0};
    bool ok = row ? open_matrix(v, out, rows) : no_memory(v);
    for (int i = 0; ok && i < rows; i++) {
        out->row_labels[i] = v->record->axes[v->block->queries].labels[row[i]];
        for (int j = 0; j < out->cols; j++)
            out->values[i * out->cols + j] = (heed_real)fused(v, head, row[i], out->col[j]);
    }
    free(row);
    return ok;
}

bool shown_query(const attend_view *v, shown *out, char (**names)[24]) {
    const heed_record_block *b = v->block;
    bool mean = b->heads > 1 && !v->chosen, one = v->chosen;
    int rows = one ? 1 : b->heads + mean;
    *out = (shown){0};
    *names = calloc((size_t)rows, sizeof **names);
    if (!*names) return no_memory(v);
    if (!open_matrix(v, out, rows)) return false;
    for (int i = 0; i < rows; i++) {
        int head = one ? v->head : mean ? i - 1 : i;
        if (head >= 0)
            snprintf((*names)[i], sizeof(*names)[i], "head %d",
                     (b->head ? b->head[head] : head) + 1);
        else
            snprintf((*names)[i], sizeof(*names)[i], "%s", head == MAX_HEAD ? "largest" : "mean");
        out->row_labels[i] = (*names)[i];
        for (int j = 0; j < out->cols; j++)
            out->values[i * out->cols + j] = (heed_real)fused(v, head, v->query, out->col[j]);
    }
    return true;
}

void shown_free(shown *m) {
    free(m->values);
    free(m->row_labels);
    free(m->col_labels);
    free(m->col);
    *m = (shown){0};
}
