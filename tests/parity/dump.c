/* dump.c -- what a run started from: its initial weights and the batches of its first steps, for
 * twin.py. Both are functions of the run's seed, so they are made again from config.conf.
 *
 *     dump RUN STEPS OUT.safetensors
 *
 * Writes w.PARAMETER, and as numbers of the same type ids (steps,B,T), labels, and where the model
 * has them pad (steps,B,T) and picks (steps,most); places without a pick hold -1. */
#include "../../train/training.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    heed_ctx *c;
    heed_config *f;
    const task *task;
    data_set data;
    heed_store *weights, *out;
    void *self;
    int steps, rows;
} dump;

/* config.conf keeps the bound that was asked for; the model is of the vocabulary's real size. */
static bool set_vocab(dump *d) {
    char size[24];
    snprintf(size, sizeof size, "%d", heed_vocab_size(d->data.tokenizer));
    return heed_config_set(d->f, "vocab", size, "tokenizer", HEED_FROM_FLAG);
}

/* The seed is known only when the settings are read, and they belong to a context. */
static bool open_run_again(dump *d, const char *dir) {
    heed_ctx *c = heed_open(NULL);
    heed_config *f = run_settings(c, dir, &d->task);
    uint64_t seed = f ? (uint64_t)heed_config_int(f, "seed") : 0;
    if (heed_state(c) != HEED_OK) fprintf(stderr, "dump: %s\n", heed_why(c));
    bool read = heed_state(c) == HEED_OK;
    heed_close(c);
    d->c = heed_open(&(heed_options){.seed = seed});
    d->f = read ? run_settings(d->c, dir, &d->task) : NULL;
    if (!d->f) return false;
    d->rows = (int)heed_config_int(d->f, "batch");
    return d->task->kind->open(d->c, d->task, d->f, dir, &d->data) && set_vocab(d);
}

static bool init_model(dump *d) {
    const heed_model *m = d->task->model;
    d->weights = heed_store_new(d->c);
    d->out = heed_store_new(d->c);
    d->self = calloc(1, m->size);
    if (!d->self || !m->init(d->self, d->weights, d->f)) return false;
    for (int i = 0; i < heed_store_count(d->weights); i++) {
        const heed_entry *e = heed_store_at(d->weights, i);
        char name[160];
        snprintf(name, sizeof name, "w.%s", e->name);
        heed_tensor *x = heed_state_new(d->out, name, "zero", e->tensor->dims, e->tensor->shape);
        if (x) memcpy(x->x, e->tensor->x, x->size * sizeof *x->x);
    }
    return heed_state(d->c) == HEED_OK;
}

/* Row `step` of an array (steps,each) of that name; a batch has `count` of them. */
static void put(dump *d, const char *name, int each, int step, const int32_t *from, int count,
                int32_t filler) {
    if (!from) return;
    const heed_entry *e = heed_store_find(d->out, name);
    heed_tensor *x =
        e ? e->tensor : heed_state_new(d->out, name, "zero", 2, (int[]){d->steps, each});
    for (int i = 0; x && i < each; i++)
        x->x[(size_t)step * (size_t)each + (size_t)i] = (heed_real)(i < count ? from[i] : filler);
}

static bool dump_batches(dump *d) {
    for (int i = 0; i < d->steps; i++) {
        heed_batch b = {0};
        heed_batch_at at = {.index = (uint64_t)i, .rows = d->rows};
        if (!d->task->model->batch(d->self, d->data.batches, at, &b)) return false;
        int cells = b.rows * b.len, labels = b.picks ? b.pick_count : cells;
        put(d, "ids", cells, i, b.ids, cells, 0);
        put(d, "pad", cells, i, b.pad, cells, 0);
        put(d, "picks", cells, i, b.picks, b.pick_count, -1);
        put(d, "labels", cells, i, b.labels, labels, -100);
        put(d, "shape", 2, i, (int32_t[]){b.rows, b.len}, 2, 0);
    }
    return true;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fputs("usage: dump RUN STEPS OUT.safetensors\n", stderr);
        return 2;
    }
    dump d = {.steps = atoi(argv[2])};
    bool ok = open_run_again(&d, argv[1]) && init_model(&d) && dump_batches(&d) &&
              heed_save(d.out, argv[3]);
    if (heed_state(d.c) != HEED_OK) fprintf(stderr, "dump: %s\n", heed_why(d.c));
    free(d.self);
    if (d.data.task) d.task->kind->close(&d.data);
    heed_close(d.c);
    return !ok;
}
