/* record_subset.c -- a subset of a record: some layers and heads, the first tokens; and its words
 * instead of tokens. Both take spans of tokens as the tokens of another record. */
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

/* Spans of the tokens of an axis. */
typedef struct {
    int count, *first; /* (count + 1) the first token of each; after them, the end of the last */
} spans;

typedef struct {
    heed_ctx *c;
    const heed_record *from;
    const heed_record_cut *cut; /* NULL: words */
    heed_record *to;
    spans *axes;
} job;

/* Each token up to the cut, or the pieces of each word. */
static spans spans_of(const job *j, const heed_record_axis *a) {
    spans s = {0, heed__alloc_array(j->c, (size_t)a->count + 1, sizeof *s.first)};
    int cut = j->cut && j->cut->tokens && !a->rows ? j->cut->tokens : a->count, i = 0;
    for (; s.first && i < a->count && (j->cut ? i < cut : true); i++)
        if (j->cut || i == 0 || !a->words || *a->words[i]) s.first[s.count++] = i;
    if (s.first) s.first[s.count] = i;
    return s;
}

/* The mean over the rows of a span of the sums over the columns of another; NAN: none is known. */
static heed_real merged(const heed_real *x, int cols, const int row[2], const int col[2]) {
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

/* The kept heads of an array over spans of its rows and columns; NULL: over all of these. The
 * caller frees it. */
static heed_real *project(const job *j, heed__array a, const int *kept, int count,
                          const spans *rows, const spans *cols) {
    int high = rows ? rows->count : a.rows, wide = cols ? cols->count : a.cols;
    size_t n = (size_t)count * (size_t)high * (size_t)wide;
    heed_real *out = *a.x ? heed__alloc_array(j->c, n, sizeof *out) : NULL, *to = out;
    for (int h = 0; out && h < count; h++)
        for (int q = 0; q < high; q++)
            for (int k = 0; k < wide; k++)
                *to++ = merged(*a.x + (size_t)kept[h] * (size_t)a.rows * (size_t)a.cols, a.cols,
                               rows ? rows->first + q : (int[]){q, q + 1},
                               cols ? cols->first + k : (int[]){k, k + 1});
    return out;
}

static void copy_axis(const job *j, const heed_record_axis *a, const spans *s) {
    heed_record_axis out = *a;
    size_t n = (size_t)s->count + 1;
    const char **labels = heed__alloc_array(j->c, n, sizeof *labels);
    unsigned char *special = heed__alloc(j->c, n);
    const char *const *from = j->cut || !a->words ? a->labels : a->words;
    for (int i = 0; labels && special && i < s->count; i++) {
        if (from) labels[i] = from[s->first[i]];
        if (a->special) special[i] = a->special[s->first[i]];
    }
    out.count = s->count;
    out.labels = a->labels ? labels : NULL;
    out.special = a->special ? special : NULL;
    if (!j->cut) out.words = NULL;
    if (labels && special) heed_record_add_axis(j->to, &out);
    heed__free((void *)labels);
    heed__free(special);
}

static void copy_block(const job *j, const heed_record_block *b) {
    /* Indices of the kept heads, followed by their numbers. */
    int count = 0, *kept = heed__alloc_array(j->c, 2 * (size_t)b->heads + 1, sizeof *kept);
    for (int i = 0; kept && i < b->heads; i++)
        if (!j->cut || among(b->head ? b->head[i] : i, j->cut->head_count, j->cut->heads))
            kept[count++] = i;
    for (int i = 0; kept && i < count; i++) kept[count + i] = b->head ? b->head[kept[i]] : kept[i];
    heed_record_block out = *b;
    heed__array a[HEED__ARRAYS];
    heed_real *own[HEED__ARRAYS] = {0};
    heed__block_arrays(j->from->axes, &out, a);
    for (int i = 0; kept && i < HEED__ARRAYS; i++) {
        bool square = a[i].x == &out.weights || a[i].x == &out.raw || a[i].x == &out.scores;
        const spans *rows = square || a[i].x == &out.q ? &j->axes[b->queries] : &j->axes[b->keys];
        if (i == 0 || (j->cut && !j->cut->no_qk))
            own[i] = project(j, a[i], kept, count, a[i].x == &out.align ? NULL : rows,
                             square ? &j->axes[b->keys] : NULL);
    }
    for (int i = 0; i < HEED__ARRAYS; i++) *a[i].x = own[i];
    out.heads = count;
    if (j->cut) out.head = kept ? kept + count : NULL;
    if (kept && count) heed_record_add_block(j->to, &out);
    for (int i = 0; i < HEED__ARRAYS; i++) heed__free(own[i]);
    heed__free(kept);
}

static void copy_map(const job *j, const heed_record_map *m) {
    const heed_record_axis *from = j->from->axes;
    heed_record_map out = *m;
    bool kept =
        !j->cut || ((m->layer < 0 || among(m->layer, j->cut->layer_count, j->cut->layers)) &&
                    (m->head < 0 || among(m->head, j->cut->head_count, j->cut->heads)));
    if (!kept) return;
    heed_real *values =
        project(j, (heed__array){NULL, from[m->queries].count, from[m->keys].count, &out.values},
                (int[]){0}, 1, &j->axes[m->queries], &j->axes[m->keys]);
    out.values = values;
    heed_record_add_map(j->to, &out);
    heed__free(values);
}

/* A prediction is at the span that has its token, if any has. */
static void copy_guess(const job *j, const heed_record_guess *g) {
    const spans *s = &j->axes[g->axis];
    heed_record_guess out = *g;
    if (g->query >= s->first[s->count]) return;
    while (out.query > 0 && (out.query >= s->count || s->first[out.query] > g->query)) out.query--;
    heed_record_add_guess(j->to, &out);
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

/* The note: that of the original record, and what the new one has of it. */
static void describe(const job *j) {
    heed_text note = {.c = j->c};
    const heed_record *r = j->from;
    if (r->note) heed_text_add(&note, "%s%s", r->note, j->cut ? "" : " ");
    heed_record_cut_text(j->cut, &note);
    for (int i = 0; j->cut && i < r->axis_count; i++)
        if (j->axes[i].count < r->axes[i].count)
            heed_text_add(&note, "%sthe first %d of %d tokens (%s)", note.n ? "; " : "",
                          j->cut->tokens, r->axes[i].count,
                          r->axes[i].name ? r->axes[i].name : "text");
    if (!j->cut)
        heed_text_add(&note, "Pieces of a word are shown as one: attention to it is their sum, "
                             "attention from it their mean.");
    heed_record_describe(
        j->to,
        (heed_record_texts){
            .title = r->title, .model = r->model, .task = r->task, .note = note.s, .run = r->run});
    j->to->step = r->step;
    heed_text_free(&note);
}

static heed_record *copy(heed_ctx *c, const heed_record *r, const heed_record_cut *cut) {
    job j = {c, r, cut, heed_record_new(c),
             heed__alloc_array(c, (size_t)r->axis_count + 1, sizeof *j.axes)};
    bool ok = j.to && j.axes;
    for (int i = 0; ok && i < r->axis_count; i++) {
        j.axes[i] = spans_of(&j, &r->axes[i]);
        ok = j.axes[i].first != NULL;
        if (ok) copy_axis(&j, &r->axes[i], &j.axes[i]);
    }
    if (ok) describe(&j);
    for (int i = 0; !heed__stopped(c) && i < r->block_count; i++)
        if (!cut || among(r->blocks[i].layer, cut->layer_count, cut->layers))
            copy_block(&j, &r->blocks[i]);
    for (int i = 0; !heed__stopped(c) && i < r->map_count; i++) copy_map(&j, &r->maps[i]);
    for (int i = 0; !heed__stopped(c) && i < r->guess_count; i++) copy_guess(&j, &r->guesses[i]);
    if (r->pixels) heed_record_picture(j.to, r->pixels, r->width, r->height, r->channels);
    if (ok && r->block_count && j.to->block_count == 0)
        heed_fail(c, HEED_USAGE,
                  "nothing is left of the record: no such layers and heads among its %d layers",
                  r->block_count);
    for (int i = 0; j.axes && i < r->axis_count; i++) heed__free(j.axes[i].first);
    heed__free(j.axes);
    if (!heed__stopped(c)) return j.to;
    heed_record_free(j.to);
    return NULL;
}

heed_record *heed_record_subset(heed_ctx *c, const heed_record *r, const heed_record_cut *cut) {
    return r && cut && !heed__stopped(c) ? copy(c, r, cut) : NULL;
}

heed_record *heed_record_words(heed_ctx *c, const heed_record *r) {
    return r && !heed__stopped(c) ? copy(c, r, NULL) : NULL;
}
