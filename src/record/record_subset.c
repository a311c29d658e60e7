/* record_subset.c -- a subset of a record: some layers and heads, the first tokens. */
#include "core/core.h"

#include <heed/record.h>

#include <stdio.h>
#include <string.h>

static bool among(int number, int count, const int *list) {
    for (int i = 0; i < count; i++)
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

/* Copies the kept heads of x (heads,from_rows,from_cols), cut to rows x cols; the caller frees
 * them. NULL for NULL. */
typedef struct {
    int from_rows, from_cols, rows, cols;
} sizes;
static heed_real *part_of(const job *j, const heed_real *x, sizes s, const int *kept, int count) {
    if (!x) return NULL;
    size_t rows = (size_t)s.rows, cols = (size_t)s.cols;
    heed_real *out = heed__alloc_array(j->c, (size_t)count * rows * cols, sizeof *out), *to = out;
    for (int h = 0; out && h < count; h++)
        for (size_t i = 0; i < rows; i++, to += cols)
            memcpy(to, x + ((size_t)kept[h] * (size_t)s.from_rows + i) * (size_t)s.from_cols,
                   cols * sizeof *to);
    return out;
}

/* Indices of the kept heads, followed by their numbers; the caller frees the list. */
static int *kept_heads(const job *j, const heed_record_block *b, int *count) {
    int *list = heed__alloc_array(j->c, 2 * (size_t)b->heads + 1, sizeof *list);
    *count = 0;
    for (int i = 0; list && i < b->heads; i++)
        if (among(b->head ? b->head[i] : i, j->cut->head_count, j->cut->heads))
            list[(*count)++] = i;
    for (int i = 0; list && i < *count; i++)
        list[*count + i] = b->head ? b->head[list[i]] : list[i];
    return list;
}

static void take_block(const job *j, const heed_record_block *b) {
    const heed_record_axis *q = &j->from->axes[b->queries], *k = &j->from->axes[b->keys];
    int count, *kept = kept_heads(j, b, &count);
    bool all = !j->cut->no_qk;
    int rows = length_of(q, j->cut), cols = length_of(k, j->cut);
    sizes square = {q->count, k->count, rows, cols};
    heed_record_block out = *b;
    heed_real *own[] = {
        part_of(j, b->weights, square, kept, count),
        part_of(j, all ? b->raw : NULL, square, kept, count),
        part_of(j, all ? b->scores : NULL, square, kept, count),
        part_of(j, all ? b->q : NULL, (sizes){q->count, b->key, rows, b->key}, kept, count),
        part_of(j, all ? b->k : NULL, (sizes){k->count, b->key, cols, b->key}, kept, count),
        part_of(j, all ? b->v : NULL, (sizes){k->count, b->value, cols, b->value}, kept, count),
        part_of(j, all ? b->align : NULL, (sizes){1, b->key, 1, b->key}, kept, count)};
    const heed_real **to[] = {&out.weights, &out.raw, &out.scores, &out.q,
                              &out.k,       &out.v,   &out.align};
    enum { PARTS = sizeof to / sizeof *to };
    for (int i = 0; i < PARTS; i++) *to[i] = own[i];
    out.heads = count;
    out.head = kept ? kept + count : NULL;
    if (kept && count) heed_record_add_block(j->to, &out);
    for (int i = 0; i < PARTS; i++) heed__free(own[i]);
    heed__free(kept);
}

static void take_map(const job *j, const heed_record_map *m) {
    const heed_record_axis *q = &j->from->axes[m->queries], *k = &j->from->axes[m->keys];
    sizes s = {q->count, k->count, length_of(q, j->cut), length_of(k, j->cut)};
    heed_real *values = part_of(j, m->values, s, (int[]){0}, 1);
    heed_record_map out = *m;
    out.values = values;
    bool kept = (m->layer < 0 || among(m->layer, j->cut->layer_count, j->cut->layers)) &&
                (m->head < 0 || among(m->head, j->cut->head_count, j->cut->heads));
    if (kept) heed_record_add_map(j->to, &out);
    heed__free(values);
}

static void put_list(heed_text *out, const char *what, int count, const int *list) {
    if (count == 0) return;
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
        (heed_record_texts){.title = r->title, .model = r->model, .task = r->task, .note = note.s});
    j->to->step = r->step;
    heed_text_free(&note);
}

heed_record *heed_record_subset(heed_ctx *c, const heed_record *r, const heed_record_cut *cut) {
    if (!r || !cut || heed__stopped(c)) return NULL;
    job j = {c, r, cut, heed_record_new(c)};
    describe(&j);
    for (int i = 0; i < r->axis_count; i++) {
        heed_record_axis a = r->axes[i];
        a.count = length_of(&a, cut);
        heed_record_add_axis(j.to, &a);
    }
    for (int i = 0; i < r->block_count; i++)
        if (among(r->blocks[i].layer, cut->layer_count, cut->layers)) take_block(&j, &r->blocks[i]);
    for (int i = 0; i < r->map_count; i++) take_map(&j, &r->maps[i]);
    for (int i = 0; i < r->guess_count; i++)
        if (r->guesses[i].query < length_of(&r->axes[r->guesses[i].axis], cut))
            heed_record_add_guess(j.to, &r->guesses[i]);
    if (r->pixels) heed_record_picture(j.to, r->pixels, r->width, r->height, r->channels);
    if (j.to && r->block_count && j.to->block_count == 0)
        heed_fail(c, HEED_USAGE,
                  "nothing is left of the record: no such layers and heads among its %d layers",
                  r->block_count);
    if (!heed__stopped(c)) return j.to;
    heed_record_free(j.to);
    return NULL;
}
