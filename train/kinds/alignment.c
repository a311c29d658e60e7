/* alignment.c -- the decoder's attention as a matrix, target x source. Bahdanau et al. 2015,
 * fig. 3.
 */
#include "cli/choice.h"
#include "kinds/pairs.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL = 64 };

/* ---- weights ---- */

/* The `layer`-th layer, from 1, that attends to the source; 0: the last. cross_layers: how many
 * there are. */
static int cross_layer(const heed_run *r, int layer, heed_attending *out) {
    int count = 0;
    while (heed_cross_layer(r, count, out)) count++;
    heed_cross_layer(r, layer ? layer - 1 : count - 1, out);
    return count;
}

/* The generated target tokens and, if the target ended, [SEP]. */
static int rows_of(const translator *k) { return k->about.count + k->about.ended; }

/* Runs the model on the current target again, as in training, and returns the weights of a layer,
 * (1,h,T,S) or (1,T,S), valid until heed_unprobe. NULL: see the context. */
static const heed_tensor *weights_of(const translator *k, const heed_attending *a) {
    const heed_run *r = k->run;
    heed_tape *t = r->tape;
    const heed_tokens *source = &k->in.text.tokens;
    char path[96];
    int rows = rows_of(k);
    int32_t *ids = malloc((size_t)rows * sizeof *ids);
    if (!ids) {
        heed_fail(r->c, HEED_FAILED, "no memory for %d tokens", rows);
        return NULL;
    }
    ids[0] = k->begin;
    memcpy(ids + 1, k->ids, ((size_t)rows - 1) * sizeof *ids);
    snprintf(path, sizeof path, "%s.weights", a->path);
    heed_unprobe(t);
    heed_probe(t, path, false);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_model_input in = {.x = heed_ids(t, source->ids, 1, (int)source->count),
                           .target = heed_ids(t, ids, 1, rows)};
    r->model->logits(r->self, t, &in);
    free(ids);
    const heed_tensor *w = heed_probe_find(t, path);
    if (!w) heed_fail(r->c, HEED_FAILED, "the model shows no attention: %s", path);
    return w;
}

bool alignment_choice(const heed_run *r, int layer, const char *head, int *chosen) {
    heed_attending a = {.heads = 1};
    int layers = cross_layer(r, 0, &a);
    if (layer > layers)
        return heed_fail(r->c, HEED_USAGE, "--layer %d: expected 1 to %d, or 0 for the last", layer,
                         layers);
    return chosen_head(r->c, head, &(heed_record_block){.heads = a.heads}, chosen);
}

static bool take_weights(heed_ctx *c, const heed_tensor *w, int head, alignment *a) {
    size_t n = (size_t)a->rows * (size_t)a->cols;
    a->heads = (int)(w->size / n);
    a->weights = calloc(n, sizeof *a->weights);
    if (!a->weights) return heed_fail(c, HEED_FAILED, "no memory for %zu weights", n);
    for (size_t i = 0; i < n; i++) a->weights[i] = fused_weight(w->x, a->heads, n, head, i);
    return true;
}

/* ---- labels ---- */

/* The labels of columns are stored after those of rows. */
static void label(alignment *a, int index, const char *text) {
    a->row_label[index] = heed_format_token(a->memory + (size_t)index * LABEL, LABEL, text);
}

/* A token that the vocabulary lacks is shown as in the text. */
static void label_source(const translator *k, alignment *a, int i) {
    char unknown[LABEL];
    const heed_tokenizer *own = source_tokenizer(k->run);
    const heed_tokens *s = &k->in.text.tokens;
    size_t n = s->end[i] - s->begin[i];
    bool known = s->ids[i] != heed_tokenizer_specials(own).unk;
    snprintf(unknown, sizeof unknown, "%.*s", n < LABEL ? (int)n : LABEL - 1,
             k->text + s->begin[i]);
    label(a, a->rows + i, known ? heed_token_text(own, s->ids[i]) : unknown);
}

static bool take_labels(const translator *k, alignment *a) {
    const heed_run *r = k->run;
    size_t n = (size_t)a->rows + (size_t)a->cols;
    a->memory = malloc(n * LABEL);
    a->row_label = malloc(n * sizeof *a->row_label);
    if (!a->memory || !a->row_label)
        return heed_fail(r->c, HEED_FAILED, "no memory for %zu labels", n);
    a->col_label = a->row_label + a->rows;
    for (int i = 0; i < a->rows; i++)
        label(a, i, heed_token_text(r->tokenizer, i < k->about.count ? k->ids[i] : k->how.end));
    for (int i = 0; i < a->cols; i++) label_source(k, a, i);
    return true;
}

bool alignment_of(const translator *k, int layer, const char *head, alignment *out) {
    heed_ctx *c = k->run->c;
    int chosen;
    heed_attending a = {.path = "decoder"};
    *out = (alignment){.rows = rows_of(k),
                       .cols = (int)k->in.text.tokens.count,
                       .layers = cross_layer(k->run, layer, &a)};
    out->fixed = a.fixed;
    out->layer = layer ? layer : out->layers;
    if (!alignment_choice(k->run, layer, head, &chosen)) return false;
    if (out->rows < 1) return heed_fail(c, HEED_FAILED, "the model generated no token to show");
    const heed_tensor *w = weights_of(k, &a);
    bool ok = w && take_weights(c, w, chosen, out) && take_labels(k, out);
    heed_unprobe(k->run->tape);
    return ok;
}

void alignment_free(alignment *a) {
    free(a->weights);
    free(a->memory);
    free((void *)a->row_label);
    *a = (alignment){0};
}

/* ---- output ---- */

static heed_heatmap map_of(const alignment *a, const char *title) {
    return (heed_heatmap){.title = title,
                          .rows = a->rows,
                          .cols = a->cols,
                          .values = a->weights,
                          .row_labels = a->row_label,
                          .col_labels = a->col_label,
                          .hi = 1};
}

bool alignment_print(heed_ctx *c, const alignment *a) {
    heed_heatmap map =
        map_of(a, a->fixed ? "no attention: one context, of the encoder's last states, for all"
                           : "attention: a row for each generated token, over the source");
    heed_text text = {.c = c};
    map.terminal = terminal_kind(stdout);
    map.width = terminal_width();
    if (heed_heatmap_text(&map, &text)) print_text(&text);
    heed_text_free(&text);
    return heed_ctx_status(c) == HEED_OK;
}

bool alignment_png(heed_ctx *c, const alignment *a, int count, const char *path) {
    enum { MOST = 2 };
    heed_heatmap maps[MOST];
    for (int i = 0; i < count && i < MOST; i++)
        maps[i] = map_of(&a[i], a[i].title ? a[i].title : "rows: generated; columns: the source");
    return heed_heatmaps_png(c, maps, count < MOST ? count : MOST, path);
}

json_t *alignment_json(const alignment *a) {
    json_t *rows = json_array();
    for (int i = 0; i < a->rows; i++) {
        json_t *row = json_array();
        for (int j = 0; j < a->cols; j++)
            json_array_append_new(row, json_number((double)a->weights[i * a->cols + j]));
        json_array_append_new(rows, row);
    }
    return rows;
}
