/* dump.c -- what a run started from: its initial weights and the batches of its first steps, for
 * twin.py. Both are functions of the run's seed, so they are made again from config.conf.
 *
 *     dump RUN STEPS OUT.safetensors
 *
 * Writes w.PARAMETER, and as numbers of the same type a row a step of each array that the batches
 * have: ids, pad, src, src_pad, picks, labels, x, filled up behind where a batch has fewer (-1 in
 * picks, -100 in labels), and shape: rows, len, src_len. For pictures and pairs of texts also
 * val.ARRAY and test.ARRAY, the batches that heed eval reads. */
#include "kinds/training.h"

#include <heed/models.h>

#include <stdlib.h>
#include <string.h>

typedef struct {
    heed_ctx *c;
    heed_config *f;
    const heed_model *model;
    heed_data *data;
    heed_params *weights, *out;
    void *self;
    int steps, rows;
} dump;

/* config.conf keeps the bound that was asked for; the model is of the vocabulary's real size. */
static bool set_vocab(dump *d) {
    char size[24];
    if (!d->data->tokenizer) return true;
    snprintf(size, sizeof size, "%d", heed_vocab_size(d->data->tokenizer));
    if (!heed_config_set(d->f, "vocab", size, "tokenizer", HEED_FROM_FLAG)) return false;
    if (!d->data->source) return true;
    snprintf(size, sizeof size, "%d", heed_vocab_size(d->data->source));
    return heed_config_set(d->f, "source-vocab", size, "tokenizer", HEED_FROM_FLAG);
}

/* The seed is known only when the settings are read, and they belong to a context. */
static bool open_run_again(dump *d, const char *dir) {
    heed_ctx *c = heed_open(NULL);
    heed_config *f = run_settings(c, heed_models, dir, &d->model);
    uint64_t seed = f ? (uint64_t)heed_config_int(f, "seed") : 0;
    if (heed_ctx_status(c) != HEED_OK) fprintf(stderr, "dump: %s\n", heed_ctx_error(c));
    bool read = heed_ctx_status(c) == HEED_OK;
    heed_close(c);
    d->c = heed_open(&(heed_options){.seed = seed});
    d->f = read ? run_settings(d->c, heed_models, dir, &d->model) : NULL;
    if (!d->f) return false;
    d->rows = (int)heed_config_int(d->f, "batch");
    d->data = heed_data_open(d->c, d->f, heed_model_data(d->model), &(heed_data_args){.run = dir});
    return d->data && set_vocab(d);
}

static bool init_model(dump *d) {
    const heed_model *m = d->model;
    d->weights = heed_params_new(d->c);
    d->out = heed_params_new(d->c);
    d->self = calloc(1, m->size);
    if (!d->self || !heed_model_init(m, d->self, d->weights, d->f)) return false;
    for (int i = 0; i < heed_params_count(d->weights); i++) {
        const heed_param *e = heed_params_at(d->weights, i);
        char name[160];
        snprintf(name, sizeof name, "w.%s", e->name);
        heed_tensor *x = heed_buffer_new(d->out, name, "zero", e->tensor->dims, e->tensor->shape);
        if (x) memcpy(x->x, e->tensor->x, x->size * sizeof *x->x);
    }
    return heed_ctx_status(d->c) == HEED_OK;
}

/* Where a row of an array goes. */
typedef struct {
    const char *part; /* before the name: "" in training, "val." and "test." in evaluation */
    uint64_t steps, step;
} place;

/* An array of a batch: its first `count` numbers count, a row has room for `each`. */
typedef struct {
    const char *name;
    const int32_t *from;
    int each, count;
    int32_t filler;
} batch_array;

/* Row `step` of the array (steps,each) of that name. */
static heed_real *row_at(dump *d, place p, const char *array, int each) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", p.part, array);
    const heed_param *e = heed_params_find(d->out, name);
    heed_tensor *x =
        e ? e->tensor : heed_buffer_new(d->out, name, "zero", 2, (int[]){(int)p.steps, each});
    return x ? x->x + p.step * (uint64_t)each : NULL;
}

static void put(dump *d, place p, batch_array a) {
    heed_real *to = a.from ? row_at(d, p, a.name, a.each) : NULL;
    for (int i = 0; to && i < a.each; i++) to[i] = (heed_real)(i < a.count ? a.from[i] : a.filler);
}

/* Pairs of texts are as long as their batch: a row begins with those (rows,len) and ends with
 * filler. */
static void put_batch(dump *d, place p, const heed_batch *b) {
    int cells = b->rows * b->len, source = b->rows * b->src_len, pixels = d->rows * b->len;
    int capacity = b->src ? d->rows * (int)heed_config_int(d->f, "block") : d->rows * b->len;
    const batch_array all[] = {{"ids", b->ids, capacity, cells, 0},
                               {"pad", b->pad, capacity, cells, 0},
                               {"src", b->src, capacity, source, 0},
                               {"src_pad", b->src_pad, capacity, source, 0},
                               {"picks", b->masked_positions, capacity, b->masked_count, -1},
                               {"labels", b->labels, b->x ? d->rows : capacity,
                                b->x                  ? b->rows
                                : b->masked_positions ? b->masked_count
                                                      : cells,
                                -100},
                               {"shape", (int32_t[]){b->rows, b->len, b->src_len}, 3, 3, 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) put(d, p, all[i]);
    heed_real *to = b->x ? row_at(d, p, "x", pixels) : NULL;
    if (to) memcpy(to, b->x, (size_t)cells * sizeof *to);
}

static bool dump_batches(dump *d, const char *part, uint64_t steps) {
    for (uint64_t i = 0; i < steps; i++) {
        heed_batch b = {0};
        heed_batch_at at = {.val = *part != 0, .index = i, .rows = d->rows};
        if (!heed_model_batch(d->model, d->self, d->data, at, &b)) return false;
        put_batch(d, (place){.part = part, .steps = steps, .step = i}, &b);
    }
    return heed_ctx_status(d->c) == HEED_OK;
}

/* Of pictures and pairs, what heed eval reads: the validation part, and of pictures the test part,
 * too. */
static bool dump_judged(dump *d) {
    const heed_model *m = d->model;
    if (!m->data->files) return true;
    if (!dump_batches(d, "val.", heed_model_eval_batches(m, d->self, d->data, d->rows)))
        return false;
    if (!m->data->images || m->data->target ||
        !heed_images_about(d->data->batches)->count[HEED_TEST_PART])
        return true;
    heed_images_set_eval_part(d->data->batches, HEED_TEST_PART);
    return dump_batches(d, "test.", heed_model_eval_batches(m, d->self, d->data, d->rows));
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fputs("usage: dump RUN STEPS OUT.safetensors\n", stderr);
        return 2;
    }
    dump d = {.steps = atoi(argv[2])};
    bool ok = open_run_again(&d, argv[1]) && init_model(&d) &&
              dump_batches(&d, "", (uint64_t)d.steps) && dump_judged(&d) &&
              heed_save(d.out, argv[3]);
    if (heed_ctx_status(d.c) != HEED_OK) fprintf(stderr, "dump: %s\n", heed_ctx_error(d.c));
    free(d.self);
    heed_data_close(d.data);
    heed_close(d.c);
    return !ok;
}
