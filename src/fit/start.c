/* start.c -- the weights of a new run taken from another: by name, and row by row where rows
 * are tokens, positions or classes. */
#include "core/core.h"
#include "core/store.h"
#include "fit/fit.h"

#include <math.h>
#include <string.h>

/* One entry of the new store, and that of the run with its name. */
typedef struct {
    const heed_entry *to, *from;
    const heed_row_names *names; /* of the new run */
    const heed_run *run;
    int rows, width; /* of the new entry: width: the size of a row */
} pair;

static int rows_of(const heed_tensor *t) { return t->dims ? t->shape[0] : 1; }

static bool same_shape(const heed_tensor *a, const heed_tensor *b, int from_dim) {
    bool same = a->dims == b->dims;
    for (int i = from_dim; same && i < a->dims; i++) same = a->shape[i] == b->shape[i];
    return same;
}

static void copy_row(const pair *p, int to, int from) {
    size_t n = (size_t)p->width;
    memcpy(p->to->tensor->x + (size_t)to * n, p->from->tensor->x + (size_t)from * n,
           n * sizeof(heed_real));
}

static heed_start_how copy_all(const pair *p) {
    if (!same_shape(p->to->tensor, p->from->tensor, 0)) return HEED_START_UNFIT;
    memcpy(p->to->tensor->x, p->from->tensor->x, p->to->tensor->size * sizeof(heed_real));
    return HEED_START_TAKEN;
}

/* Copies the row `number[i]` of the run to each row i; negative: it stays new. */
static heed_start_how copy_rows(const pair *p, const int *number, int *copied) {
    bool same = rows_of(p->from->tensor) == p->rows;
    *copied = 0;
    for (int i = 0; i < p->rows; i++) {
        same = same && number[i] == i;
        if (number[i] < 0) continue;
        copy_row(p, i, number[i]);
        ++*copied;
    }
    return same ? HEED_START_TAKEN : *copied ? HEED_START_MATCHED : HEED_START_UNFIT;
}

/* ---- what rows belong to ---- */

/* Sets number[i] to the row of the run that belongs to the same thing as row i; -1: none. False if
 * rows cannot be matched. */
static bool match_tokens(const pair *p, int *number) {
    bool source = p->to->rows == HEED_ROWS_SOURCE;
    const heed_tokenizer *to = source && p->names->source ? p->names->source : p->names->tokenizer;
    const heed_tokenizer *from = source && p->run->source ? p->run->source : p->run->tokenizer;
    int tokens = heed_vocab_size(to), own = heed_vocab_size(from);
    if (!to || !from || tokens > p->rows) return false;
    for (int i = 0; i < p->rows; i++) { /* rows beyond the tokens: setting vocab-rows */
        number[i] = i < tokens ? heed_token_id(from, heed_token_text(to, i)) : i < own ? -1 : i;
        if (number[i] >= rows_of(p->from->tensor)) number[i] = -1;
    }
    return true;
}

static bool match_positions(const pair *p, int *number) {
    for (int i = 0; i < p->rows; i++) number[i] = i < rows_of(p->from->tensor) ? i : -1;
    return true;
}

static int class_of(const heed_run *r, const char *label) {
    for (int i = 0; i < r->label_count; i++)
        if (strcmp(r->labels[i], label) == 0) return i;
    return -1;
}

/* The number of each class in the run; false if the classes are not the same. */
static bool match_classes(const pair *p, int *number) {
    bool same = p->names->label_count == p->run->label_count;
    for (int i = 0; same && i < p->names->label_count; i++) {
        int at = class_of(p->run, p->names->labels[i]);
        if (i < p->rows) number[i] = at;
        same = at >= 0;
    }
    return same && (p->rows == p->names->label_count || p->rows == 1);
}

/* A head with one neuron z, for two classes: if they are exchanged, it is -z. */
static void exchange_classes(const pair *p) {
    if (class_of(p->run, p->names->labels[0]) == 0) return;
    for (int i = 0; i < p->width; i++) p->to->tensor->x[i] = -p->to->tensor->x[i];
}

static heed_start_how take_classes(const pair *p, int *number, int *copied) {
    bool one = p->rows == 1 && p->names->label_count == 2;
    if (!p->names->labels || !p->run->labels) return copy_all(p);
    if (!match_classes(p, number)) return HEED_START_UNFIT;
    if (!one) return copy_rows(p, number, copied);
    heed_start_how how = copy_all(p);
    if (how == HEED_START_TAKEN) exchange_classes(p);
    return how;
}

/* ---- positions on a grid ---- */

typedef struct {
    int first, side; /* rows before the grid; rows and columns of the grid */
} grid;

static grid grid_of(int rows) {
    int side = (int)sqrt((double)rows);
    while ((long long)(side + 1) * (side + 1) <= rows) side++;
    while ((long long)side * side > rows) side--;
    return (grid){rows - side * side, side};
}

/* Where cell i of `to` cells lies among `from` cells, which cover the same length: between cells
 * *low and *low + 1, *share of the way. Beyond the middle of an outer cell that cell counts. */
static void place(int i, int to, int from, int *low, double *share) {
    double at = (i + 0.5) * from / to - 0.5;
    at = fmin(fmax(at, 0), from - 1);
    *low = (int)at;
    if (*low > from - 2 && from > 1) *low = from - 2;
    *share = from > 1 ? at - *low : 0;
}

/* y = the mean of the four nearest positions, weighted by nearness. */
static void interpolate(const pair *p, grid to, grid from, int row, int col) {
    int top, left, n = p->width, right = from.side > 1, down = right * from.side;
    double v, h;
    place(row, to.side, from.side, &top, &v);
    place(col, to.side, from.side, &left, &h);
    heed_real *y = p->to->tensor->x + (size_t)(to.first + row * to.side + col) * (size_t)n;
    const heed_real *x =
        p->from->tensor->x + (size_t)(from.first + top * from.side + left) * (size_t)n;
    for (int i = 0; i < n; i++) {
        double upper = (1 - h) * (double)x[i] + h * (double)x[i + right * n];
        double lower = (1 - h) * (double)x[i + down * n] + h * (double)x[i + (down + right) * n];
        y[i] = (heed_real)((1 - v) * upper + v * lower);
    }
}

/* Grids of one size may have other numbers of rows before them. */
static heed_start_how take_grid(const pair *p, int *number, int *copied) {
    grid to = grid_of(p->rows), from = grid_of(rows_of(p->from->tensor));
    for (int i = 0; i < p->rows; i++) {
        int cell = i - to.first;
        number[i] = cell >= 0 ? from.first + cell : i < from.first ? i : -1;
    }
    if (to.side == from.side) return copy_rows(p, number, copied);
    for (int i = 0; i < to.first && i < from.first; i++) copy_row(p, i, i);
    for (int row = 0; row < to.side; row++)
        for (int col = 0; col < to.side; col++) interpolate(p, to, from, row, col);
    return HEED_START_RESIZED;
}

/* ---- all entries ---- */

/* number: memory for p->rows row numbers. */
static heed_start_how take(const pair *p, int *number, int *copied) {
    heed_row_kind rows = p->to->rows;
    if (rows != p->from->rows) return HEED_START_UNFIT;
    if (rows == HEED_ROWS_UNITS || !same_shape(p->to->tensor, p->from->tensor, 1))
        return copy_all(p);
    if (rows == HEED_ROWS_CLASSES) return take_classes(p, number, copied);
    if (rows == HEED_ROWS_GRID) return take_grid(p, number, copied);
    bool matched =
        rows == HEED_ROWS_POSITIONS ? match_positions(p, number) : match_tokens(p, number);
    return matched ? copy_rows(p, number, copied) : copy_all(p);
}

static heed_start_entry *add(heed_ctx *c, heed_start *out) {
    size_t need = (size_t)out->count + 1;
    if (!heed__grow(c, &out->entries, &out->capacity, need, sizeof *out->entries)) return NULL;
    heed_start_entry *e = &out->entries[out->count++];
    *e = (heed_start_entry){.how = HEED_START_NEW};
    return e;
}

/* Values that are replaced in part are drawn before. */
static bool prepare(heed_store *s, const pair *p, heed_entry *to) {
    bool whole = to->rows == HEED_ROWS_UNITS && p->from->rows == HEED_ROWS_UNITS &&
                 same_shape(to->tensor, p->from->tensor, 0);
    if (!whole) return heed__store_draw(s, to);
    heed__store_known(to);
    return true;
}

static bool take_entry(heed_store *s, heed_entry *to, const heed_row_names *names,
                       const heed_run *run, heed_start *out) {
    const heed_entry *from = heed_store_find(run->store, to->name);
    if (to->adapter) return true; /* of this training, not of the model */
    heed_start_entry *e = add(run->c, out);
    if (!e) return false;
    e->name = to->name;
    e->to = to->tensor;
    if (!from) return true;
    e->from = from->tensor;
    pair p = {.to = to, .from = from, .names = names, .run = run, .rows = rows_of(to->tensor)};
    p.width = (int)(to->tensor->size / (size_t)p.rows);
    int *number = heed__alloc_array(run->c, (size_t)p.rows, sizeof *number);
    bool ok = number && prepare(s, &p, to);
    if (ok) e->how = take(&p, number, &e->rows);
    heed__free(number);
    return ok;
}

static bool add_unused(const heed_store *s, const heed_run *run, heed_start *out) {
    for (int i = 0; i < heed_store_count(run->store); i++) {
        const heed_entry *from = heed_store_at(run->store, i);
        if (heed_store_find(s, from->name)) continue;
        heed_start_entry *e = add(run->c, out);
        if (!e) return false;
        *e = (heed_start_entry){.name = from->name, .how = HEED_START_UNUSED, .from = from->tensor};
    }
    return true;
}

static bool is_used(const heed_start_entry *e) { return e->how <= HEED_START_RESIZED; }

/* The error names the first parameter of another shape, or else the first one of each side. */
static bool check_used(heed_ctx *c, const heed_start *out) {
    const heed_start_entry *unfit = NULL;
    for (int i = 0; i < out->count; i++) {
        const heed_start_entry *e = &out->entries[i];
        if (is_used(e)) return true;
        if (!unfit && e->how == HEED_START_UNFIT) unfit = e;
    }
    char to[64], from[64];
    if (unfit)
        return heed_fail(
            c, HEED_USAGE,
            "no weights of %s fit: %s: expected shape %s, found %s; hint: leave out the "
            "settings that differ, and they are those of the run",
            out->run->dir, unfit->name, heed_shape_text(unfit->to, to, sizeof to),
            heed_shape_text(unfit->from, from, sizeof from));
    return heed_fail(
        c, HEED_USAGE,
        "no weights of %s fit: no parameter of its model, %s, has the name of one here",
        out->run->dir, out->run->model->name);
}

bool heed_start_take(heed_store *s, const heed_row_names *names, const heed_run *run,
                     heed_start *out) {
    static const heed_row_names unknown = {0};
    if (!s || !run || !out || heed__stopped(heed_store_ctx(s))) return false;
    *out = (heed_start){.run = run};
    bool ok = true;
    for (int i = 0; ok && i < heed_store_count(s); i++)
        ok = take_entry(s, heed_store_at(s, i), names ? names : &unknown, run, out);
    if (ok && add_unused(s, run, out) && check_used(run->c, out)) return true;
    heed_start_free(out);
    return false;
}

void heed_start_free(heed_start *start) {
    if (!start) return;
    heed__free(start->entries);
    *start = (heed_start){0};
}
