/* own_kind.c -- the program heed with a kind of data of its own: rows of numbers in a CSV file,
 * whose last column is predicted from the others, and a linear regression that reads it. All that
 * this takes is in this file. */
#include <heed/heed.h>
#include <heed/program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the data: the last fifth of the rows is for validation ---- */

typedef struct {
    int width;          /* numbers of a row, the last of which is predicted */
    size_t rows, train; /* the first `train` rows are for training */
    heed_real *x;       /* (rows,width) */
} table;

static bool add_row(table *t, heed_csv *r) {
    char *end;
    if (!t->width) t->width = (int)r->count;
    if ((int)r->count != t->width || t->width < 2)
        return heed_csv_reject(r, "as many numbers", "others");
    heed_real *x = realloc(t->x, (t->rows + 1) * r->count * sizeof *x);
    if (!x) return heed_fail(r->c, HEED_FAILED, "no memory for %zu rows", t->rows);
    t->x = x;
    x += t->rows++ * r->count;
    for (size_t i = 0; i < r->count; i++) {
        x[i] = (heed_real)strtod(r->fields[i], &end);
        if (*end || end == r->fields[i]) return heed_csv_reject(r, "a number", r->fields[i]);
    }
    return true;
}

static bool open_table(heed_data *d, heed_config *f, const heed_data_args *a) {
    table *t = d->batches = calloc(1, sizeof *t);
    const char *path = heed_config_text(f, "data");
    char number[16];
    size_t n = 0;
    heed_csv r;
    char *text = heed_text_read(d->c, path, &n);
    bool ok = t && heed_csv_open(&r, d->c, "table is wrong", path, text, n);
    for (size_t i = 0; i < n; i++) d->checksum = d->checksum * 31 + (unsigned char)text[i];
    while (ok && heed_csv_next(&r)) ok = add_row(t, &r);
    free(text);
    if (!ok || heed_ctx_status(d->c) != HEED_OK) return false;
    t->train = t->rows - t->rows / 5;
    if (t->train == t->rows) return heed_fail(d->c, HEED_DATA, "%s: expected 5 rows", path);
    d->all = a->all;
    snprintf(number, sizeof number, "%d", t->width - 1);
    return heed_config_set(f, "inputs", number, "data", HEED_FROM_PRESET);
}

static void close_table(heed_data *d) {
    table *t = d->batches;
    if (t) free(t->x);
    free(t);
}

static size_t count(const heed_data *d, int label) {
    const table *t = d->batches;
    return label < 0 ? t->train : 0;
}

static bool batch(const heed_data *d, heed_batch_at at, heed_batch *out) {
    const table *t = d->batches;
    size_t first = at.val ? t->train : 0, all = (at.val ? t->rows : t->train) - first;
    size_t from = at.index * (size_t)at.rows, left = from < all ? all - from : 0;
    if (!at.val) from %= t->train, left = t->train - from;
    *out = (heed_batch){.rows = (size_t)at.rows < left ? at.rows : (int)left,
                        .len = t->width,
                        .x = t->x + (first + from) * (size_t)t->width};
    return out->rows > 0;
}

static uint64_t eval_batches(const heed_data *d, int rows) {
    const table *t = d->batches;
    return (t->rows - t->train + (size_t)rows - 1) / (size_t)rows;
}
static uint64_t epoch_batches(const heed_data *d, int rows) {
    const table *t = d->batches;
    return (t->train + (size_t)rows - 1) / (size_t)rows;
}

static bool describe(const heed_data *d, const heed_config *f, heed_facts *out) {
    const table *t = d->batches;
    (void)f;
    heed_fact_add(out, HEED_FACT, "rows", "%zu for training, %zu for validation", t->train,
                  t->rows - t->train);
    heed_fact_add(out, HEED_FACT, "columns", "%d, of which the last is predicted", t->width);
    heed_json_int(&out->json, "rows", (int64_t)t->rows);
    heed_json_int(&out->json, "columns", t->width);
    return true;
}

static int ask(const heed_reader *r, const heed_example *e, int positions,
               heed_example_question *out) {
    (void)r, (void)e, (void)positions;
    *out = (heed_example_question){.query = -1, .says = "the last column"};
    return 1;
}

static const heed_option no_settings[] = {{0}};
static const heed_data_kind numbers = {.noun = "a CSV file of numbers",
                                       .reads = "numbers",
                                       .item = "row",
                                       .items = "rows",
                                       .use = "predict",
                                       .example = "numbers.csv",
                                       .files = 1,
                                       .options = no_settings,
                                       .open = open_table,
                                       .close = close_table,
                                       .count = count,
                                       .batch = batch,
                                       .eval_batches = eval_batches,
                                       .epoch_batches = epoch_batches,
                                       .ask = ask,
                                       .describe = describe};

/* ---- the model: y = w x + b ---- */

typedef struct {
    heed_linear line;
    int inputs;
} regression;

static const heed_option settings[] = {{.name = "inputs",
                                        .value = "0",
                                        .max = 1 << 20,
                                        .help = "numbers that are read; 0: from the data",
                                        .group = "Model"},
                                       {0}};

static bool init(void *self, heed_params *s, const void *f) {
    regression *m = self;
    m->inputs = (int)heed_config_int(f, "inputs");
    if (m->inputs < 1) return false;
    heed_linear_init(&m->line, s, "line", (heed_linear_args){.in = m->inputs, .out = 1});
    return true;
}

/* x (B,inputs) -> (B,1) */
static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const regression *m = self;
    return heed_linear_apply(&m->line, t, in->x);
}

static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    const regression *m = self;
    heed_tensor *all = heed_input(t, b->x, 2, (int[]){b->rows, b->len});
    heed_model_input in = {.x = heed_slice(t, all, 1, 0, m->inputs)};
    return heed_mse(t, logits(self, t, &in), heed_slice(t, all, 1, m->inputs, 1));
}

static const heed_model line = {.name = "line",
                                .help = "a number from other numbers",
                                .data = &numbers,
                                .options = settings,
                                .size = sizeof(regression),
                                .init = init,
                                .logits = logits,
                                .loss = loss};

int main(int argc, char **argv) {
    static const heed_model *const models[] = {&line, NULL};
    return heed_program(argc, argv, models);
}
