/* record_subset.c -- a subset of a record: some layers and heads, the first tokens. */
#include "core/core.h"
#include "record/weights.h"

#include <stdio.h>
#include <string.h>

static bool among(int number, int count, const int *list) {
    for (int i = 0; list && i < count; i++)
        if (list[i] == number) return true;
    return count == 0;
}

static int length_of(const heed_record_axis *a, const heed_record_cut *cut) {
    return cut->tokens && !a->rows && a->count > cut->tokens ? cut->tokens : a->count;
}

typedef struct {
    heed_ctx *c;
    const heed_record *from;
    const heed_record_cut *cut;
    heed_record *to;
} job;

/* Copies the kept heads of an array, cut to the size of another one; the caller frees them. NULL
 * for NULL. */
static heed_real *part_of(const job *j, heed__array from, heed__array size, const int *kept,
                          int count) {
    if (!*from.x) return NULL;
    size_t rows = (size_t)size.rows, cols = (size_t)size.cols;
    heed_real *out = heed__alloc_array(j->c, (size_t)count * rows * cols, sizeof *out), *to = out;
    for (int h = 0; out && h < count; h++)
        for (size_t i = 0; i < rows; i++, to += cols)
            memcpy(to, *from.x + ((size_t)kept[h] * (size_t)from.rows + i) * (size_t)from.cols,
                   cols * sizeof *to);
    return out;
}

static void copy_block(const job *j, const heed_record_block *b) {
    /* Indices of the kept heads, followed by their numbers. */
    int count = 0, *kept = heed__alloc_array(j->c, 2 * (size_t)b->heads + 1, sizeof *kept);
    for (int i = 0; kept && i < b->heads; i++)
        if (among(b->head ? b->head[i] : i, j->cut->head_count, j->cut->heads)) kept[count++] = i;
    for (int i = 0; kept && i < count; i++) kept[count + i] = b->head ? b->head[kept[i]] : kept[i];
    heed_record_block in = *b, out = *b;
    heed__array from[HEED__ARRAYS], to[HEED__ARRAYS];
    heed_real *own[HEED__ARRAYS] = {0};
    heed__block_arrays(j->from->axes, &in, from);
    heed__block_arrays(j->to->axes, &out, to);
    for (int i = 0; i < HEED__ARRAYS; i++) {
        if (i == 0 || !j->cut->no_qk) own[i] = part_of(j, from[i], to[i], kept, count);
        *to[i].x = own[i];
    }
    out.heads = count;
    out.head = kept ? kept + count : NULL;
    if (kept && count) heed_record_add_block(j->to, &out);
    for (int i = 0; i < HEED__ARRAYS; i++) heed__free(own[i]);
    heed__free(kept);
}

static void copy_map(const job *j, const heed_record_map *m) {
    const heed_record_axis *from = j->from->axes, *to = j->to->axes;
    heed_record_map out = *m;
    heed_real *values =
        part_of(j, (heed__array){NULL, from[m->queries].count, from[m->keys].count, &out.values},
                (heed__array){NULL, to[m->queries].count, to[m->keys].count, NULL}, (int[]){0}, 1);
    out.values = values;
    bool kept = (m->layer < 0 || among(m->layer, j->cut->layer_count, j->cut->layers)) &&
                (m->head < 0 || among(m->head, j->cut->head_count, j->cut->heads));
    if (kept) heed_record_add_map(j->to, &out);
    heed__free(values);
}

static void put_list(heed_text *out, const char *what, int count, const int *list) {
    if (!list || count < 1) return;
    heed_text_add(out, "%s%s%s", out->n ? "; " : "", what, count > 1 ? "s " : " ");
    for (int i = 0; i < count; i++) heed_text_add(out, "%s%d", i ? ", " : "", list[i] + 1);
    heed_text_add(out, " alone");
}

void heed_record_cut_text(const heed_record_cut *cut, heed_text *out) {
    if (!cut || !out) return;
    put_list(out, "layer", cut->layer_count, cut->layers);
    put_list(out, "head", cut->head_count, cut->heads);
}

/* The note: that of the original record, and what the subset keeps. */
static void describe(const job *j) {
    heed_text note = {.c = j->c};
    const heed_record *r = j->from;
    if (r->note) heed_text_add(&note, "%s", r->note);
    heed_record_cut_text(j->cut, &note);
    for (int i = 0; i < r->axis_count; i++)
        if (length_of(&r->axes[i], j->cut) < r->axes[i].count)
            heed_text_add(&note, "%sthe first %d of %d tokens (%s)", note.n ? "; " : "",
                          j->cut->tokens, r->axes[i].count,
                          r->axes[i].name ? r->axes[i].name : "text");
    heed_record_describe(
        j->to,
        (heed_record_texts){
            .title = r->title, .model = r->model, .task = r->task, .note = note.s, .run = r->run});
    j->to->step = r->step;
    heed_text_free(&note);
}

heed_record *heed_record_subset(heed_ctx *c, const heed_record *r, const heed_record_cut *cut) {
    if (!r || !cut || heed__stopped(c)) return NULL;
    job j = {c, r, cut, heed_record_new(c)};
    if (!j.to) return NULL;
    describe(&j);
    for (int i = 0; i < r->axis_count; i++) {
        heed_record_axis a = r->axes[i];
        a.count = length_of(&a, cut);
        heed_record_add_axis(j.to, &a);
    }
    for (int i = 0; !heed__stopped(c) && i < r->block_count; i++)
        if (among(r->blocks[i].layer, cut->layer_count, cut->layers)) copy_block(&j, &r->blocks[i]);
    for (int i = 0; !heed__stopped(c) && i < r->map_count; i++) copy_map(&j, &r->maps[i]);
    for (int i = 0; i < r->guess_count; i++)
        if (r->guesses[i].query < length_of(&r->axes[r->guesses[i].axis], cut))
            heed_record_add_guess(j.to, &r->guesses[i]);
    if (r->pixels) heed_record_picture(j.to, r->pixels, r->width, r->height, r->channels);
    if (r->block_count && j.to->block_count == 0)
        heed_fail(c, HEED_USAGE,
                  "nothing is left of the record: no such layers and heads among its %d layers",
                  r->block_count);
    if (!heed__stopped(c)) return j.to;
    heed_record_free(j.to);
    return NULL;
}
