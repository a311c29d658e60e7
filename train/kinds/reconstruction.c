/* reconstruction.c -- what the program prints of auto-encoders: their sheets of pictures, the end
 * of a training run, evaluation. */
#include "kinds/reconstruction.h"

#include "cli/os_files.h"
#include "kinds/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a sheet ---- */

bool rebuilt_add(rebuilt *k, heed_run *r, heed_picture *picture, const char *name) {
    heed_example e = {0};
    heed_reader how = heed_run_reader(r);
    k->c = r->c;
    if (k->count == k->capacity) {
        int capacity = k->capacity ? 2 * k->capacity : 8;
        void *list = realloc(k->list, (size_t)capacity * sizeof *k->list);
        if (list) k->list = list;
        void *captions = realloc(k->captions, (size_t)capacity * sizeof *k->captions);
        if (captions) k->captions = captions;
        if (!list || !captions) return heed_fail(r->c, HEED_FAILED, "no memory for a sheet");
        k->capacity = capacity;
    }
    heed_reconstruction *one = &k->list[k->count];
    bool ok = heed_example_picture(&how, picture, name, &e) &&
              heed_reconstruct_at(r, e.x, (uint64_t)k->count, one);
    heed_example_free(&e);
    if (!ok) return false;
    snprintf(k->captions[k->count][0], 64, "%.60s", file_name(name));
    snprintf(k->captions[k->count][1], 64, "error %.4f", one->error);
    k->count++;
    return true;
}

void rebuilt_close(rebuilt *k) {
    for (int i = 0; i < k->count; i++) heed_reconstruction_free(&k->list[i]);
    free(k->list);
    free(k->captions);
    *k = (rebuilt){.count = 0};
}

bool rebuilt_png(heed_ctx *c, const rebuilt *k, const char *path) {
    enum { SIDE = 112, ACROSS = 2 };
    if (k->count == 0) return true;
    bool masked = k->list[0].hidden > 0;
    int each = masked ? HEED_SHOWN : HEED_SHOWN - 1, size = k->list[0].size, n = 0;
    heed_tile *tiles = allocate(c, (size_t)(k->count * HEED_SHOWN), sizeof *tiles, "a sheet");
    for (int i = 0; tiles && i < k->count; i++) {
        const heed_reconstruction *one = &k->list[i];
        const char *captions[HEED_SHOWN] = {k->captions[i][0], "", "", k->captions[i][1]};
        for (int s = 0; s < HEED_SHOWN; s++)
            if (masked || s != HEED_SHOWN_SEEN)
                tiles[n++] = (heed_tile){one->pixels[s], size, size, one->channels, {captions[s]}};
    }
    bool ok =
        tiles &&
        heed_sheet_png(c,
                       &(heed_sheet){.title = masked ? "picture, visible patches, reconstruction "
                                                       "around them, difference"
                                                     : "picture, reconstruction, difference",
                                     .count = n,
                                     .columns = k->count < ACROSS ? each : ACROSS * each,
                                     .side = size < SIDE ? size * (SIDE / size) : SIDE,
                                     .tiles = tiles},
                       path);
    free(tiles);
    return ok;
}

/* ---- during and after a training run ---- */

/* Draws fixed pictures of the validation part, spread over it, in RUN/reconstructions.png. Uses a
 * separate context for the file: failing to write it must not end the training. */
static void draw_reconstructions(progress *g, const heed_report *r) {
    enum { PICTURES = 8 };
    char path[1024], name[32];
    heed_images *images = g->data->batches;
    heed_part part = g->data->no_val ? HEED_TRAIN_PART : HEED_VAL_PART;
    size_t all = heed_images_about(images)->count[part], count = all < PICTURES ? all : PICTURES;
    if (!r->self) return;
    if (!g->tape) g->tape = heed_tape_new(g->p->c);
    heed_run run = {
        .c = g->p->c, .model = g->p->model, .config = g->f, .tape = g->tape, .self = r->self};
    rebuilt k = {.count = 0};
    bool ok = g->tape != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        heed_picture picture = {0};
        size_t index = i * all / count;
        snprintf(name, sizeof name, "%s %zu", heed_part_name(part), index);
        ok = heed_images_get(images, part, index, &picture, NULL, NULL) &&
             rebuilt_add(&k, &run, &picture, name);
        heed_picture_free(&picture);
    }
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    snprintf(path, sizeof path, "%s" HEED_INSIDE "reconstructions.png", g->run);
    if (ok && !rebuilt_png(c, &k, path)) heed_message(g->p->c, HEED_WARN, "%s", heed_ctx_error(c));
    heed_close(c);
    rebuilt_close(&k);
}

static void finish(program *p, const heed_data *d, training_end *e) {
    measures m;
    char n[32];
    if (!test_pictures(p, d, e, &m)) return;
    if (e->json) {
        json_object_update_new(
            e->json, json_pack("{s:o, s:o, s:o}", "test_loss", json_number(m.loss), "test_error",
                               json_number(m.error), "waited", json_number(e->waited)));
        return;
    }
    if (isfinite(m.error))
        print_fact(0, "",
                   "test part, read once with the best weights: error %.5f per pixel, of %s "
                   "pictures",
                   m.error, heed_format_count(n, (uint64_t)m.items));
    if (e->trained) print_waited(e);
}

static void next_pictures(const heed_model *m, const heed_data *d, const char *path,
                          const char *run) {
    (void)m;
    (void)d;
    (void)path;
    const char *heed = program_name();
    printf("\nNext:\n  %s reconstruct %s PICTURE... --png sheet.png\n  %s eval %s --code "
           "codes.png\n  %s plot %s\n",
           heed, run, heed, run, heed, run);
}

/* ---- evaluation ---- */

typedef struct {
    program *p;
    heed_run *r;
    const heed_data *d;
    const char *data; /* its name */
    int rows;
    measures m;
    heed_grid grid; /* hidden 0: no patches are hidden */
} evaluation;

static bool evaluate(evaluation *e) {
    heed_images *images = e->d->batches;
    heed_images_set_eval_part(images, e->d->part);
    heed_score score = heed_evaluate(e->r->tape, e->r->model, e->r->self, e->d, e->rows);
    e->m = measure(&score);
    return heed_ctx_status(e->p->c) == HEED_OK;
}

static json_t *result_json(const evaluation *e) {
    return json_pack("{s:o, s:s, s:o, s:o, s:I, s:i}", "data", json_text(e->data), "part",
                     heed_part_name(e->d->all ? HEED_PARTS : e->d->part), "loss",
                     json_number(e->m.loss), "error", json_number(e->m.error), "items",
                     (json_int_t)e->m.items, "hidden_patches", e->grid.hidden);
}

static void print_result(const evaluation *e) {
    enum { AT = 15 };
    char n[32], of[96] = "";
    heed_format_count(n, (uint64_t)e->m.items);
    print_fact(0, "", e->d->all ? "%s on %s: %s %s pictures" : "%s on %s, %s part: %s pictures",
               e->p->argv[0], e->data, e->d->all ? "all" : part_name(e->d->part), n);
    putchar('\n');
    if (e->grid.hidden)
        snprintf(of, sizeof of, " of hidden patches, %d of %d", e->grid.hidden,
                 e->grid.rows * e->grid.cols);
    print_fact(AT, "  error", "%.5f  mean squared error%s, of pixels from 0 to 1", e->m.error, of);
    if (fabs(e->m.loss - e->m.error) > 1e-5 * e->m.error)
        print_fact(AT, "  loss", "%.5f  of each patch less its mean, over its deviation",
                   e->m.loss);
}

static void eval_pictures(program *p, const heed_model *m, heed_config *f, heed_run *r) {
    char what[512];
    heed_data *d = eval_data_open(p, m, f, r, what);
    evaluation e = {.p = p,
                    .r = r,
                    .d = d,
                    .data = heed_config_text(f, "data"),
                    .rows = (int)heed_config_int(f, "batch")};
    if (!m->grid || !m->grid(r->self, &e.grid)) e.grid.hidden = 0;
    if (d && evaluate(&e)) {
        if (flag_on(p, "json"))
            print_json(p, result_json(&e));
        else
            print_result(&e);
        draw_codes(p, r, d, e.rows);
    }
    if (d) warn_of_pictures(p, d, isfinite(e.m.error));
    heed_data_close(d);
}

const data_kind reconstruction_kind = {
    .begun = begun_pictures,
    .evaluated = draw_reconstructions,
    .next = next_pictures,
    .finish = finish,
    .eval = eval_pictures,
};
