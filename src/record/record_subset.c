/* record_subset.c -- a subset of a record: some layers and heads, the first tokens; and its words
 * instead of tokens. */
#include "core/core.h"
#include "record/weights.h"

#include <math.h>
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

/* ---- words ---- */

typedef struct {
    int count, *first; /* (count + 1) the first token of each word; after them, all tokens */
} word_list;

static word_list words_of(heed_ctx *c, const heed_record_axis *a) {
    word_list w = {0, heed__alloc_array(c, (size_t)a->count + 1, sizeof *w.first)};
    for (int i = 0; w.first && i < a->count; i++)
        if (i == 0 || !a->words || *a->words[i]) w.first[w.count++] = i;
    if (w.first) w.first[w.count] = a->count;
    return w;
}

/* The mean over the rows of a word of the sums over the columns of another; NAN: none is known. */
static heed_real merged(const heed_real *x, int cols, const int *row, const int *col) {
    double all = 0;
    int known = 0;
    for (int q = row[0]; q < row[1]; q++) {
        double sum = 0;
        for (int k = col[0]; k < col[1]; k++)
            sum += (double)x[(size_t)q * (size_t)cols + (size_t)k];
        if (isnan(sum)) continue;
        all += sum;
        known++;
    }
    return known ? (heed_real)(all / known) : (heed_real)NAN;
}

/* The matrices (count,Q,K) of words from those of tokens; the caller frees them. */
static heed_real *merge(heed_ctx *c, const heed_real *x, int count, const word_list *queries,
                        const word_list *keys) {
    size_t cols = (size_t)keys->first[keys->count], square = (size_t)queries->first[queries->count];
    size_t n = (size_t)count * (size_t)queries->count * (size_t)keys->count;
    heed_real *out = x ? heed__alloc_array(c, n, sizeof *out) : NULL, *to = out;
    square *= cols;
    for (int h = 0; out && h < count; h++)
        for (int q = 0; q < queries->count; q++)
            for (int k = 0; k < keys->count; k++)
                *to++ =
                    merged(x + (size_t)h * square, (int)cols, queries->first + q, keys->first + k);
    return out;
}

static void add_words(heed_ctx *c, const heed_record_axis *a, const word_list *w, heed_record *to) {
    heed_record_axis out = *a;
    const char **labels = heed__alloc_array(c, (size_t)w->count + 1, sizeof *labels);
    unsigned char *special = heed__alloc(c, (size_t)w->count + 1);
    for (int i = 0; labels && special && i < w->count; i++) {
        labels[i] = (a->words ? a->words : a->labels)[w->first[i]];
        if (a->special) special[i] = a->special[w->first[i]];
    }
    out.count = w->count;
    out.labels = a->labels ? labels : NULL;
    out.special = a->special ? special : NULL;
    out.words = NULL;
    if (labels && special) heed_record_add_axis(to, &out);
    heed__free(labels);
    heed__free(special);
}

static int word_at(const word_list *w, int token) {
    int i = 0;
    while (i + 1 < w->count && w->first[i + 1] <= token) i++;
    return token < 0 ? token : i;
}

heed_record *heed_record_words(heed_ctx *c, const heed_record *r) {
    if (!r || heed__stopped(c)) return NULL;
    job j = {c, r, &(heed_record_cut){0}, heed_record_new(c)};
    word_list *words = heed__alloc_array(c, (size_t)r->axis_count + 1, sizeof *words);
    if (j.to && words) describe(&j);
    for (int i = 0; !heed__stopped(c) && i < r->axis_count; i++) {
        words[i] = words_of(c, &r->axes[i]);
        if (words[i].first) add_words(c, &r->axes[i], &words[i], j.to);
    }
    for (int i = 0; !heed__stopped(c) && i < r->block_count; i++) {
        heed_record_block b = r->blocks[i];
        heed_real *own = merge(c, b.weights, b.heads, &words[b.queries], &words[b.keys]);
        b.weights = own;
        b.raw = b.scores = b.q = b.k = b.v = b.align = NULL;
        heed_record_add_block(j.to, &b);
        heed__free(own);
    }
    for (int i = 0; !heed__stopped(c) && i < r->map_count; i++) {
        heed_record_map m = r->maps[i];
        heed_real *own = merge(c, m.values, 1, &words[m.queries], &words[m.keys]);
        m.values = own;
        heed_record_add_map(j.to, &m);
        heed__free(own);
    }
    for (int i = 0; !heed__stopped(c) && i < r->guess_count; i++) {
        heed_record_guess g = r->guesses[i];
        g.query = word_at(&words[g.axis], g.query);
        heed_record_add_guess(j.to, &g);
    }
    heed_text note = {.c = c};
    if (!heed__stopped(c) && r->note) heed_text_add(&note, "%s ", r->note);
    if (!heed__stopped(c))
        heed_text_add(&note, "Pieces of a word are shown as one: attention to it is their sum, "
                             "attention from it their mean.");
    heed_record_describe(j.to, (heed_record_texts){.note = note.s});
    heed_text_free(&note);
    if (!heed__stopped(c) && r->pixels)
        heed_record_picture(j.to, r->pixels, r->width, r->height, r->channels);
    for (int i = 0; words && i < r->axis_count; i++) heed__free(words[i].first);
    heed__free(words);
    if (!heed__stopped(c)) return j.to;
    heed_record_free(j.to);
    return NULL;
}
