/* transfer.c -- a training that starts from the weights of a run: they are taken by name, and row
 * by row where rows are tokens, positions or classes; its settings; adapters that it trains instead
 * of them; and what is forgotten of that run. */
#include "core/core.h"
#include "core/os.h"
#include "core/params.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* One entry of the new store, and that of the run with its name. */
typedef struct {
    const heed_param *to, *from;
    const heed__row_names *names; /* of the new run */
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

static heed_transfer_how copy_all(const pair *p) {
    if (!same_shape(p->to->tensor, p->from->tensor, 0)) return HEED_TRANSFER_UNFIT;
    memcpy(p->to->tensor->x, p->from->tensor->x, p->to->tensor->size * sizeof(heed_real));
    return HEED_TRANSFER_TAKEN;
}

/* Copies the row `number[i]` of the run to each row i; negative: it stays new. */
static heed_transfer_how copy_rows(const pair *p, const int *number, int *copied) {
    bool same = rows_of(p->from->tensor) == p->rows;
    *copied = 0;
    for (int i = 0; i < p->rows; i++) {
        same = same && number[i] == i;
        if (number[i] < 0) continue;
        copy_row(p, i, number[i]);
        ++*copied;
    }
    return same ? HEED_TRANSFER_TAKEN : *copied ? HEED_TRANSFER_MATCHED : HEED_TRANSFER_UNFIT;
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

static heed_transfer_how take_classes(const pair *p, int *number, int *copied) {
    bool one = p->rows == 1 && p->names->label_count == 2;
    if (!p->names->labels || !p->run->labels) return copy_all(p);
    if (!match_classes(p, number)) return HEED_TRANSFER_UNFIT;
    if (!one) return copy_rows(p, number, copied);
    heed_transfer_how how = copy_all(p);
    if (how == HEED_TRANSFER_TAKEN) exchange_classes(p);
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
static heed_transfer_how take_grid(const pair *p, int *number, int *copied) {
    grid to = grid_of(p->rows), from = grid_of(rows_of(p->from->tensor));
    for (int i = 0; i < p->rows; i++) {
        int cell = i - to.first;
        number[i] = cell >= 0 ? from.first + cell : i < from.first ? i : -1;
    }
    if (to.side == from.side) return copy_rows(p, number, copied);
    for (int i = 0; i < to.first && i < from.first; i++) copy_row(p, i, i);
    for (int row = 0; row < to.side; row++)
        for (int col = 0; col < to.side; col++) interpolate(p, to, from, row, col);
    return HEED_TRANSFER_RESIZED;
}

/* ---- all entries ---- */

/* number: memory for p->rows row numbers. */
static heed_transfer_how take(const pair *p, int *number, int *copied) {
    heed_row_kind rows = p->to->rows;
    if (rows != p->from->rows) return HEED_TRANSFER_UNFIT;
    if (rows == HEED_ROWS_UNITS || !same_shape(p->to->tensor, p->from->tensor, 1))
        return copy_all(p);
    if (rows == HEED_ROWS_CLASSES) return take_classes(p, number, copied);
    if (rows == HEED_ROWS_GRID) return take_grid(p, number, copied);
    bool matched =
        rows == HEED_ROWS_POSITIONS ? match_positions(p, number) : match_tokens(p, number);
    return matched ? copy_rows(p, number, copied) : copy_all(p);
}

static heed_transfer_entry *add(heed_ctx *c, heed_transfer *out) {
    size_t need = (size_t)out->count + 1;
    if (!heed__grow(c, &out->entries, &out->capacity, need, sizeof *out->entries)) return NULL;
    heed_transfer_entry *e = &out->entries[out->count++];
    *e = (heed_transfer_entry){.how = HEED_TRANSFER_NEW};
    return e;
}

/* Values that are replaced in part are drawn before. */
static bool prepare(heed_params *s, const pair *p, heed_param *to) {
    bool whole = to->rows == HEED_ROWS_UNITS && p->from->rows == HEED_ROWS_UNITS &&
                 same_shape(to->tensor, p->from->tensor, 0);
    if (!whole) return heed__store_draw(s, to);
    heed__store_known(to);
    return true;
}

static bool take_entry(heed_params *s, heed_param *to, const heed__row_names *names,
                       const heed_run *run, heed_transfer *out) {
    const heed_param *from = heed_params_find(run->store, to->name);
    if (to->adapter) return true; /* of this training, not of the model */
    heed_transfer_entry *e = add(run->c, out);
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

static bool add_unused(const heed_params *s, const heed_run *run, heed_transfer *out) {
    for (int i = 0; i < heed_params_count(run->store); i++) {
        const heed_param *from = heed_params_at(run->store, i);
        if (heed_params_find(s, from->name)) continue;
        heed_transfer_entry *e = add(run->c, out);
        if (!e) return false;
        *e = (heed_transfer_entry){
            .name = from->name, .how = HEED_TRANSFER_UNUSED, .from = from->tensor};
    }
    return true;
}

static bool is_used(const heed_transfer_entry *e) { return e->how <= HEED_TRANSFER_RESIZED; }

/* The error names the first parameter of another shape, or else the first one of each side. */
static bool check_used(heed_ctx *c, const heed_transfer *out) {
    const heed_transfer_entry *unfit = NULL;
    for (int i = 0; i < out->count; i++) {
        const heed_transfer_entry *e = &out->entries[i];
        if (is_used(e)) return true;
        if (!unfit && e->how == HEED_TRANSFER_UNFIT) unfit = e;
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

bool heed__transfer_take(heed_params *s, const heed__row_names *names, const heed_run *run,
                         heed_transfer *out) {
    static const heed__row_names unknown = {0};
    if (!s || !run || !out || heed__stopped(heed_params_ctx(s))) return false;
    *out = (heed_transfer){.run = run};
    bool ok = true;
    for (int i = 0; ok && i < heed_params_count(s); i++)
        ok = take_entry(s, heed_params_at(s, i), names ? names : &unknown, run, out);
    if (ok && add_unused(s, run, out) && check_used(run->c, out)) return true;
    heed__transfer_close(out);
    return false;
}

void heed__transfer_close(heed_transfer *start) {
    if (!start) return;
    heed__free(start->entries);
    *start = (heed_transfer){0};
}

/* ---- opening ---- */

/* Training that holds the lock of the run may replace its best weights at any moment. A run that is
 * only read is not locked, and keeps the file that a killed training left: by it, `force` knows a
 * folder without weights as a run. */
static bool is_idle(heed_ctx *c, const char *dir) {
    long holder = 0;
    return !heed__os_locked(heed__run_path(dir, ".lock").s, &holder) ||
           heed_fail(c, HEED_FAILED,
                     "run to start from is being trained: %s (process %ld); hint: wait "
                     "until that training ends, or stop it first",
                     dir, holder);
}

heed_run *heed_transfer_open(heed_ctx *c, const char *dir, const heed_model *const *models,
                             const char *out) {
    if (heed__stopped(c) || !dir) return NULL;
    if (out && heed__os_same(dir, out)) {
        heed_fail(
            c, HEED_USAGE,
            "run to start from is the one to be made: %s: expected another folder for the new "
            "run; hint: `resume` with more `steps` continues training",
            dir);
        return NULL;
    }
    if (!is_idle(c, dir)) return NULL;
    heed_run *r = heed_run_open(c, dir, models, NULL);
    if (r && r->step == 0)
        heed_message(c, HEED_WARN,
                     "the weights of %s are of step 0: they have not been trained; hint: `resume "
                     "%s` continues that training",
                     dir, dir);
    return r;
}

/* ---- settings ---- */

/* Sizes that the data of the new run decides. */
static const char *const of_data[] = {"vocab", "source-vocab", "classes", NULL};

/* Whether a value of the run's model is one of this model's. */
static bool accepts(const heed_option *o, const char *value) {
    double v = 0;
    size_t n = strlen(value);
    switch (o->kind) {
    case HEED_OPTION_INT:
    case HEED_OPTION_REAL:
        return heed__number(value, &v) &&
               ((o->min == 0 && o->max == 0) || (v >= o->min && v <= o->max));
    case HEED_OPTION_BOOL:
        return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    case HEED_OPTION_STRING:
        for (const char *at = o->choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
            if (strncmp(at, value, n) == 0 && (at[n] == '|' || at[n] == 0)) return true;
        return !o->choices;
    }
    return false;
}

/* Sets key to the value that the run has, unless it was given. */
static bool take_setting(heed_config *f, const char *key, const char *value, heed_text *said) {
    if (heed_config_rank(f, key) != HEED_FROM_DEFAULT) return true;
    if (strcmp(heed_config_text(f, key), value) == 0) return true;
    return heed_config_set(f, key, value, key, HEED_FROM_DEFAULT) &&
           (!said || heed_text_add(said, "%s%s = %s", said->n ? ", " : "", key, value));
}

static bool take_model(heed_config *f, const heed_model *m, const heed_run *run, heed_text *said) {
    for (int i = 0; i < heed_config_count(f); i++) {
        const char *key = heed_config_at(f, i, NULL)->name;
        const heed_option *o = heed_option_find(m->options, key);
        bool fixed = !o || heed_option_find(heed_fit_options, key);
        for (int j = 0; of_data[j]; j++) fixed = fixed || strcmp(of_data[j], key) == 0;
        /* The id of a token, which another tokenizer gives to another one. */
        fixed = fixed || (strcmp(key, "segment-token") == 0 &&
                          heed_config_rank(f, "tokenizer") != HEED_FROM_DEFAULT);
        if (fixed || !heed_option_find(run->model->options, key)) continue;
        const char *value = heed_config_text(run->config, key);
        if (accepts(o, value) && !take_setting(f, key, value, said)) return false;
    }
    return !run->model->chosen || run->model->chosen(run->self, f);
}

/* What a model of masked tokens reads always is a setting elsewhere: [CLS] and [SEP] around a text.
 * The dense layer of its pooler, if it has one, is for the output of [CLS]. */
static bool take_brackets(heed_config *f, const heed_model *m, const heed_run *run,
                          heed_text *said) {
    if (!heed_model_data(run->model)->mask || !heed_option_find(m->options, "bracket")) return true;
    const heed_option *pool = heed_option_find(m->options, "pool");
    bool pooler = pool && accepts(pool, "cls") && heed_option_find(run->model->options, "pooler") &&
                  heed_config_bool(run->config, "pooler");
    return take_setting(f, "bracket", "true", said) &&
           (!pooler || take_setting(f, "pool", "cls", said));
}

/* Pixels are normalised as in the run, if they have as many channels and neither number is given.
 */
static bool take_pixels(heed_config *f, const heed_run *run, heed_text *said) {
    static const char *const keys[] = {"mean", "std"};
    for (int i = 0; i < 2; i++)
        if (!heed_config_has(f, keys[i]) || !heed_config_has(run->config, keys[i]) ||
            heed_config_rank(f, keys[i]) != HEED_FROM_DEFAULT)
            return true;
    if (heed_config_int(f, "channels") != heed_config_int(run->config, "channels")) return true;
    return take_setting(f, "mean", heed_config_text(run->config, "mean"), NULL) &&
           take_setting(f, "std", heed_config_text(run->config, "std"), NULL) &&
           (!said || heed_text_add(said, "%smean and std of its pixels", said->n ? ", " : ""));
}

static bool take_tokenizer(heed_config *f, const heed_run *run) {
    if (!run->tokenizer || !heed_config_has(f, "tokenizer")) return true;
    bool own = heed_config_rank(f, "tokenizer") == HEED_FROM_DEFAULT;
    bool lower = own && heed_config_has(f, "lower") && heed_config_has(run->config, "lower");
    return take_setting(f, "tokenizer", run->dir, NULL) &&
           (!lower || take_setting(f, "lower", heed_config_text(run->config, "lower"), NULL));
}

/* Models of texts have a vocabulary, models of pictures a size of pictures, some have both. */
static bool check_data(heed_ctx *c, const heed_model *m, const heed_run *run) {
    static const char *const keys[] = {"vocab", "image-size"};
    bool any = false;
    for (int i = 0; i < 2; i++) {
        bool has = heed_option_find(m->options, keys[i]) != NULL;
        if (has && heed_option_find(run->model->options, keys[i])) return true;
        any = any || has;
    }
    const heed_data_kind *to = heed_model_data(m);
    const heed_data_kind *from = heed_model_data(run->model);
    return !any || heed_fail(c, HEED_USAGE,
                             "run to start from reads other data: %s: expected a run like those of "
                             "%s, which reads %s, found one of %s, which reads %s",
                             run->dir, m->name, to->noun, run->model->name, from->noun);
}

bool heed_transfer_settings(heed_config *f, const heed_model *m, const heed_run *run,
                            heed_data_args *how, heed_text *said) {
    if (!f || !m || !run || !how || heed__stopped(run->c)) return false;
    bool ok = check_data(run->c, m, run) &&
              (!heed_config_has(f, "from") ||
               heed_config_set(f, "from", run->dir, "from", HEED_FROM_FLAG)) &&
              take_model(f, m, run, said) && take_brackets(f, m, run, said) &&
              take_pixels(f, run, said) && take_tokenizer(f, run);
    how->extend = ok && run->tokenizer && heed_config_has(f, "tokenizer") &&
                  strcmp(heed_config_text(f, "tokenizer"), run->dir) == 0;
    return ok;
}

/* ---- in training ---- */

static bool same_classes(const heed_run *run, const char *const *labels, int count) {
    bool same = count == run->label_count;
    for (int i = 0; same && i < count; i++) {
        same = false;
        for (int j = 0; !same && j < count; j++) same = strcmp(labels[i], run->labels[j]) == 0;
    }
    return same;
}

bool heed__start_head(const heed_run *from, const heed_run *net) {
    heed_config *f = net->config;
    if (!from || !heed_config_has(f, "head") || heed_config_rank(f, "head") != HEED_FROM_DEFAULT ||
        same_classes(from, net->labels, net->label_count))
        return true;
    return heed_config_set(f, "head", heed_config_default(f, "head"), "head", HEED_FROM_DEFAULT);
}

/* Of all values. */
static uint64_t digest_of(const heed_params *s) {
    uint64_t h = 0;
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_tensor *t = heed_params_at(s, i)->tensor;
        h = heed__hash64(t->x, t->size * sizeof *t->x, h);
    }
    return h;
}

static bool keep_record(heed_training *t) {
    heed_config *f = t->net.config;
    char digest[24];
    snprintf(digest, sizeof digest, "%016" PRIx64, digest_of(t->from->store));
    if (!heed_config_has(f, "from") || !heed_config_has(f, "from-digest")) return true;
    const char *was = heed_config_text(f, "from-digest");
    if (t->a.resume && *was && strcmp(was, digest) != 0)
        return heed_fail(t->c, HEED_DATA,
                         "cannot resume %s: the weights of %s, from which it was to start, have "
                         "changed: expected digest %s, found %s; hint: train again with `force`",
                         t->a.run, t->from->dir, was, digest);
    return heed_config_set(f, "from", t->from->dir, "from", HEED_FROM_FLAG) &&
           heed_config_set(f, "from-digest", digest, "from", HEED_FROM_FLAG);
}

bool heed__start_find(heed_training *t) {
    const heed_train_args *a = &t->a;
    const heed_model *const own[] = {a->model, NULL};
    heed_config *f = t->net.config;
    const char *named = heed_config_has(f, "from") ? heed_config_text(f, "from") : "";
    if (!t->fresh || a->net) return true;
    if (!a->from && !*named)
        return !heed_config_has(f, "from-digest") ||
               heed_config_set(f, "from-digest", "", "from", HEED_FROM_FLAG);
    if (!a->from)
        t->own_from = heed_transfer_open(t->c, named, a->models ? a->models : own, a->run);
    t->from = a->from ? a->from : t->own_from;
    return t->from && keep_record(t);
}

bool heed__start_apply(heed_training *t) {
    const heed_run *net = &t->net;
    if (!t->from) return true;
    heed__transfer_close(&t->begun);
    return heed__transfer_take(net->store,
                               &(heed__row_names){.tokenizer = net->tokenizer,
                                                  .source = net->source,
                                                  .labels = net->labels,
                                                  .label_count = net->label_count},
                               t->from, &t->begun);
}

bool heed__start_is_whole(const heed_training *t) {
    for (int i = 0; i < t->begun.count; i++) {
        const heed_transfer_entry *e = &t->begun.entries[i];
        bool taken = e->how <= HEED_TRANSFER_RESIZED;
        if (e->to && !taken && !heed_params_find(t->net.store, e->name)->adapter) return false;
    }
    return t->from != NULL;
}

/* ---- low-rank adapters by settings: which weights have one, and what is trained besides ---- */

/* A weight that can be adapted: the first trained matrix after the embeddings. */
static const char *matrix_of(const heed_params *s) {
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        if (e->trained && e->tensor->dims > 1 && !heed_match("embed.*", e->name)) return e->name;
    }
    return "head.weight";
}

/* The default targets exist only in models with projections to queries and values. */
static bool no_target(const heed_config *f, const char *pattern, const heed_params *s) {
    if (strcmp(heed_config_text(f, "lora-targets"), heed_config_default(f, "lora-targets")) != 0)
        return heed__no_match("lora-targets", pattern, s);
    return heed_fail(
        heed_params_ctx(s), HEED_USAGE,
        "`lora` finds nothing to adapt: `lora-targets` %s: expected projections to "
        "queries and values, found none in this model; hint: names of its matrices, such as "
        "`lora-targets = %s`",
        pattern, matrix_of(s));
}

bool heed__lora_complete(heed_config *f) {
    int64_t rank = heed_config_int(f, "lora");
    return rank == 0 || heed_config_real(f, "lora-alpha") > 0 ||
           heed__settings_number(f, "lora-alpha", 2 * rank, "lora");
}

bool heed__lora_attach(heed_params *s, const heed_config *f) {
    char item[HEED__ITEM];
    if (!heed_config_has(f, "lora") || heed_config_int(f, "lora") == 0) return true;
    int rank = (int)heed_config_int(f, "lora");
    double alpha = heed_config_real(f, "lora-alpha");
    if (alpha <= 0) alpha = 2 * rank;
    const char *at = heed_config_text(f, "lora-targets");
    if (!at[strspn(at, " \t,")])
        return heed_fail(heed_params_ctx(s), HEED_USAGE,
                         "`lora-targets` is empty: expected name patterns; hint: '%s'",
                         heed_config_default(f, "lora-targets"));
    while (heed__next_item(heed_params_ctx(s), &at, item)) {
        int n = heed_lora_add(s, item, rank, (heed_real)alpha);
        if (n < 0) return false;
        if (n == 0) return no_target(f, item, s);
    }
    return !heed__stopped(heed_params_ctx(s));
}

/* How a parameter came from the run that the training starts from. */
static heed_transfer_how how_of(const heed_training *t, const heed_param *e) {
    for (int i = 0; i < t->begun.count; i++)
        if (t->begun.entries[i].to == e->tensor) return t->begun.entries[i].how;
    return HEED_TRANSFER_TAKEN;
}

/* Whether nothing of a parameter comes from that run. Without one, what belongs to the classes is
 * new to the task. */
static bool is_new(const heed_training *t, const heed_param *e) {
    heed_transfer_how how = how_of(t, e);
    if (e->adapter || e->state) return false;
    return t->from ? how == HEED_TRANSFER_NEW || how == HEED_TRANSFER_UNFIT
                   : e->rows == HEED_ROWS_CLASSES;
}

bool heed__lora_choose(heed_training *t) {
    heed_config *f = t->net.config;
    if (!t->set.lora || strcmp(t->set.lora_train, "auto") != 0) return true;
    heed_text list = {.c = t->c};
    for (int i = 0; i < heed_params_count(t->net.store); i++) {
        const heed_param *e = heed_params_at(t->net.store, i);
        if (is_new(t, e)) heed_text_add(&list, "%s%s", list.n ? "," : "", e->name);
    }
    bool ok = heed_config_set(f, "lora-train", list.n ? list.s : "none", "lora", HEED_FROM_FLAG);
    t->set.lora_train = heed_config_text(f, "lora-train");
    heed_text_free(&list);
    return ok;
}

void heed__lora_warn(heed_training *t) {
    const heed_param *kept = NULL, *rows = NULL;
    if (!t->set.lora || !t->fresh) return;
    if (!t->from)
        heed__note(t, "warning: `lora` leaves the weights of the model as they are, which is at "
                      "random without `from`; hint: `from = RUN`");
    for (int i = 0; t->from && i < heed_params_count(t->net.store); i++) {
        const heed_param *e = heed_params_at(t->net.store, i);
        if (!e->trained && !kept && is_new(t, e)) kept = e;
        if (!e->trained && !rows && how_of(t, e) == HEED_TRANSFER_MATCHED) rows = e;
    }
    if (kept)
        heed__note(t,
                   "warning: %s is not of %s and is not trained: it stays as it was "
                   "initialised; hint: `lora-train = auto`",
                   kept->name, t->from->dir);
    if (rows)
        heed__note(t,
                   "warning: rows of %s are not of %s and are not trained: they stay as they "
                   "were initialised; hint: `lora-train = %s`",
                   rows->name, t->from->dir, rows->name);
}

static bool matches(const heed_params *s, const char *pattern) {
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        if (!e->state && heed_match(pattern, e->name)) return true;
    }
    return false;
}

/* Whether the list has a pattern that matches. */
static bool listed(heed_ctx *c, const char *patterns, const char *name) {
    char item[HEED__ITEM];
    while (heed__next_item(c, &patterns, item))
        if (heed_match(item, name)) return true;
    return false;
}

bool heed__lora_freeze(heed_params *s, const char *patterns) {
    char item[HEED__ITEM];
    heed_ctx *c = heed_params_ctx(s);
    for (const char *at = patterns; heed__next_item(c, &at, item);)
        if (strcmp(item, "none") != 0 && !matches(s, item))
            return heed__no_match("lora-train", item, s);
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        if (!e->adapter && !listed(c, patterns, e->name)) heed_freeze(s, e->name);
    }
    return !heed__stopped(c);
}

/* ---- what was forgotten: the loss on the validation part of that run's data ---- */

/* The run that training started from, and the run that it made. */
typedef struct {
    heed_ctx *c; /* has the first run's seed, by which its data was divided into parts */
    const heed_model *const *models;
    const char *from, *dir;
    heed_run *first, *run;
    const heed_train_args *a;
    char why[320]; /* why nothing is measured; "": it is, or it does not apply */
} comparison;

static heed_ctx *open_context(heed_ctx *like, uint64_t seed) {
    return heed_open(&(heed_options){.seed = seed,
                                     .threads = heed_threads(like),
                                     .isa = heed_isa(like),
                                     .edited = heed__ctx_edited(like)});
}

/* The seed of a run is among its settings. */
static bool open_first(comparison *k, heed_ctx *like) {
    heed_ctx *c = open_context(like, 0);
    heed_run *r = heed_run_open(c, k->from, k->models, NULL);
    uint64_t seed = r ? (uint64_t)heed_config_int(r->config, "seed") : 0;
    if (!r) snprintf(k->why, sizeof k->why, "%s", heed_ctx_error(c));
    heed_close(c);
    if (!r) return false;
    k->c = open_context(like, seed);
    k->first = heed_run_open(k->c, k->from, k->models, NULL);
    k->run = heed_run_open(k->c, k->dir, k->models, NULL);
    return k->first && k->run;
}

/* The new vocabulary may only have more tokens: else losses per token do not compare. */
static bool extends(const heed_tokenizer *more, const heed_tokenizer *k) {
    if (heed_vocab_size(more) < heed_vocab_size(k)) return false;
    for (int i = 0; i < heed_vocab_size(k); i++)
        if (strcmp(heed_token_text(more, i), heed_token_text(k, i)) != 0) return false;
    return true;
}

static bool compares(comparison *k) {
    const heed_run *a = k->first, *b = k->run;
    const char *recorded = heed_config_text(b->config, "from-digest");
    char digest[24];
    snprintf(digest, sizeof digest, "%016" PRIx64, digest_of(a->store));
    if (a->model != b->model || !heed_model_data(a->model)->open) return false;
    const char *differs = strcmp(recorded, digest) != 0 ? "its weights have changed"
                          : !extends(b->tokenizer, a->tokenizer) || !extends(b->source, a->source)
                              ? "the tokenizer is another"
                          : !same_classes(a, b->labels, b->label_count) ? "the classes are others"
                                                                        : NULL;
    if (differs) snprintf(k->why, sizeof k->why, "%s", differs);
    return !differs;
}

/* Sets the settings of the data, except those of the model's input and the cache, to the first
 * run's. */
static bool read_as_first(const comparison *k, heed_config *f) {
    static const char *const own[] = {"tokenizer", "source-tokenizer", "mean",
                                      "std",       "token-cache",      NULL};
    const heed_option *options = heed_model_data(k->first->model)->options;
    bool ok = heed_config_set(f, "data", heed_config_text(k->first->config, "data"), "data",
                              HEED_FROM_FLAG);
    for (int i = 0; ok && i < heed_config_count(k->first->config); i++) {
        const char *value, *key = heed_config_at(k->first->config, i, &value)->name;
        bool taken =
            heed_option_find(options, key) && !heed_option_find(k->first->model->options, key);
        for (int j = 0; own[j]; j++) taken = taken && strcmp(own[j], key) != 0;
        if (taken) ok = heed_config_set(f, key, value, key, HEED_FROM_FLAG);
    }
    return ok;
}

/* The data must be that of the first training run. */
static bool is_first_data(comparison *k, const heed_data *d) {
    heed__state s;
    bool ok = heed__state_read(k->c, heed__run_path(k->from, "last/state.json").s, &s);
    if (ok && s.data_checksum != d->checksum)
        ok = heed_fail(k->c, HEED_DATA, "%s has changed since",
                       heed_config_text(k->first->config, "data"));
    return ok;
}

/* The mean loss of one of the two runs. */
static bool measure(comparison *k, heed_run *r, double *loss) {
    heed_data_args how = {.tokenizer = r->tokenizer,
                          .source = r->source,
                          .labels = r->labels,
                          .label_count = r->label_count};
    if (r == k->run && !read_as_first(k, r->config)) return false;
    heed_data *d = heed_data_open(k->c, r->config, heed_model_data(r->model), &how);
    if (!d || !is_first_data(k, d)) return false;
    int rows = (int)heed_config_int(k->first->config, "batch");
    uint64_t all = heed_model_eval_batches(r->model, r->self, d, rows);
    uint64_t most = (uint64_t)heed_config_int(k->first->config, "eval-batches");
    heed_score score;
    bool ok = heed__evaluate(r, d, rows, most && most < all ? most : all, all, k->a, &score) &&
              score.weight > 0;
    if (ok) *loss = score.loss / score.weight;
    heed_data_close(d);
    return ok;
}

static void record(heed_training *t, const comparison *k) {
    char note[512] = "";
    if (k->why[0])
        snprintf(note, sizeof note, "what was forgotten of %.120s is not measured: %s", k->from,
                 k->why);
    else if (isfinite(t->first[1]))
        snprintf(note, sizeof note,
                 "on the validation part of %.120s, from which it started: loss %.6g before, %.6g "
                 "after",
                 k->from, t->first[0], t->first[1]);
    if (note[0]) heed__journal_note(&t->journal, t->state.step, note);
}

void heed__start_forgotten(heed_training *t) {
    const heed_model *const own[] = {t->net.model, NULL};
    const heed_config *f = t->net.config;
    comparison k = {.models = t->a.models ? t->a.models : own, .dir = t->a.run, .a = &t->a};
    if (!t->a.run || !heed_config_has(f, "from")) return;
    k.from = heed_config_text(f, "from");
    if (!*k.from) return;
    bool opened = open_first(&k, t->c);
    if (opened && compares(&k) &&
        !(measure(&k, k.first, &t->first[0]) && measure(&k, k.run, &t->first[1])))
        t->first[0] = t->first[1] = NAN;
    if (heed_ctx_status(k.c) != HEED_OK && !k.why[0])
        snprintf(k.why, sizeof k.why, "%s", heed_ctx_error(k.c));
    record(t, &k);
    heed_close(k.c);
}
