/* heads.c -- statistics of attention heads over evaluation data. Clark et al. 2019, sec. 3;
 * Dosovitskiy et al. 2021, fig. 7; Olsson et al. 2022. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *help;
} measures[HEED_HEAD_MEASURES] = {
    {"entropy", "of a query's weights, in bits: 0 for one key, log2 n for n alike"},
    {"distance", "from the query to what it attends to, a mean by the weights"},
    {"first", "share on the first token"},
    {"self", "share on the query's own token"},
    {"previous", "share on the token before the query, over the queries that have one"},
    {"next", "share on the token after the query, over the queries that have one"},
    {"same", "share on other positions that have the query's token"},
    {"special", "share on [CLS] and [SEP]"},
    {"diagonal", "how far the strongest source token lies from the straight line, in tokens"},
    {"induction",
     "share on the token that followed the query's token before, where random tokens repeat"}};

static bool is_measure(heed_head_measure m) { return (unsigned)m < HEED_HEAD_MEASURES; }

const char *heed_head_measure_name(heed_head_measure m) {
    return is_measure(m) ? measures[m].name : NULL;
}
const char *heed_head_measure_help(heed_head_measure m) {
    return is_measure(m) ? measures[m].help : NULL;
}

double heed_head_mean(const heed_head_sums *s, heed_head_measure m) {
    return s && is_measure(m) && s->rows[m] > 0 ? s->sum[m] / s->rows[m] : (double)NAN;
}

/* ---- one row of weights ---- */

/* A side of attention: the tokens of one item of a batch, or the patches of a picture. */
typedef struct {
    const int32_t *ids, *pad; /* (len); ids NULL: patches, pad NULL: none */
    int len, cols, first;     /* size of the grid; cols 0: text */
} side;

typedef struct {
    side q, k;
    bool cross, causal;
    heed_specials special;
} pair_of_sides;

static bool is_seen(const pair_of_sides *p, int query, int key) {
    return (!p->k.pad || p->k.pad[key]) && (!p->causal || key <= query);
}

static void count(heed_head_sums *s, heed_head_measure m, double value) {
    s->sum[m] += value;
    s->rows[m]++;
}

/* Euclidean, between the centres of patches; weights on [CLS] are left out. */
static double patches_apart(const double *w, const side *k, int query) {
    double sum = 0, all = 0;
    int at = query - k->first;
    for (int i = k->first; i < k->len; i++) {
        int patch = i - k->first;
        sum += w[i] * hypot(patch / k->cols - at / k->cols, patch % k->cols - at % k->cols);
        all += w[i];
    }
    return all > 0 ? sum / all : 0;
}

/* Shares by the tokens of the keys. */
static void count_tokens(heed_head_sums *s, const pair_of_sides *p, const double *w, int query) {
    double same = 0, special = 0;
    int cls = p->special.cls, sep = p->special.sep;
    int32_t own = p->q.ids[query];
    for (int i = 0; i < p->k.len; i++) {
        int32_t id = p->k.ids[i];
        if (id >= 0 && (id == cls || id == sep))
            special += w[i];
        else if (!p->cross && i != query && id == own)
            same += w[i];
    }
    if (cls >= 0 || sep >= 0) count(s, HEED_HEAD_SPECIAL, special);
    if (!p->cross) count(s, HEED_HEAD_SAME, same);
}

/* Shares by the positions of the keys. */
static void count_places(heed_head_sums *s, const pair_of_sides *p, const double *w, int query) {
    double distance = 0;
    for (int i = 0; i < p->k.len; i++) distance += w[i] * abs(i - query);
    count(s, HEED_HEAD_DISTANCE, distance);
    count(s, HEED_HEAD_FIRST, w[0]);
    count(s, HEED_HEAD_SELF, w[query]);
    if (query > 0) count(s, HEED_HEAD_PREVIOUS, w[query - 1]);
    if (query + 1 < p->k.len && is_seen(p, query, query + 1))
        count(s, HEED_HEAD_NEXT, w[query + 1]);
}

static int keys_of(const side *k) {
    int n = 0;
    for (int i = 0; i < k->len; i++) n += !k->pad || k->pad[i];
    return n;
}

static void count_row(heed_head_sums *s, const pair_of_sides *p, const double *w, int query) {
    double entropy = 0;
    for (int i = 0; i < p->k.len; i++)
        if (w[i] > 0) entropy -= w[i] * log2(w[i]);
    count(s, HEED_HEAD_ENTROPY, entropy);
    if (p->k.cols > 0) {
        if (p->cross) return;
        if (query >= p->k.first) count(s, HEED_HEAD_DISTANCE, patches_apart(w, &p->k, query));
        if (query >= p->k.first) count(s, HEED_HEAD_SELF, w[query]);
        if (p->k.first) count(s, HEED_HEAD_SPECIAL, w[0]);
        return;
    }
    if (p->q.ids) count_tokens(s, p, w, query);
    if (!p->cross) {
        count_places(s, p, w, query);
        return;
    }
    int keys = keys_of(&p->k), queries = keys_of(&p->q), peak = 0;
    for (int i = 1; i < p->k.len; i++)
        if (w[i] > w[peak]) peak = i;
    double straight = queries > 1 ? (double)query * (keys - 1) / (queries - 1) : 0;
    count(s, HEED_HEAD_DIAGONAL, fabs(peak - straight));
}

static const int32_t *of_item(const int32_t *all, int item, int len) {
    return all ? all + (size_t)item * (size_t)len : NULL;
}

/* The sides of item `item` of a batch for a layer with weights w. */
static pair_of_sides sides_of(const heed_run *r, const heed_batch *b, const heed_record_block *l,
                              const heed_tensor *w, int item) {
    pair_of_sides p = {.cross = l->stack == HEED_CROSS, .causal = l->causal};
    heed_grid grid;
    if (b->x && b->ids) {
        int keys = w->shape[w->dims - 1];
        side caption = {of_item(b->ids, item, b->len), of_item(b->pad, item, b->len), b->len, 0, 0};
        side picture = {.len = keys, .cols = 1};
        if (r->model->grid && r->model->grid(r->self, &grid))
            picture.cols = grid.cols, picture.first = grid.first;
        p.special = heed_tokenizer_specials(r->tokenizer);
        p.q = l->stack == HEED_ENCODER ? picture : caption;
        p.k = l->stack == HEED_DECODER ? caption : picture;
        return p;
    }
    if (b->x) {
        p.q = (side){.len = w->shape[w->dims - 1], .pad = of_item(b->pad, item, b->len)};
        if (r->model->grid && r->model->grid(r->self, &grid))
            p.q.cols = grid.cols, p.q.first = grid.first;
        p.k = p.q;
        return p;
    }
    side text = {of_item(b->ids, item, b->len), of_item(b->pad, item, b->len), b->len, 0, 0};
    side source = {of_item(b->src, item, b->src_len), of_item(b->src_pad, item, b->src_len),
                   b->src_len, 0, 0};
    bool target = b->ids != NULL && l->stack != HEED_ENCODER;
    const heed_tokenizer *reads = l->stack != HEED_DECODER && r->source ? r->source : r->tokenizer;
    p.special = heed_tokenizer_specials(reads);
    p.q = target || !b->src ? text : source;
    p.k = p.cross || (b->src && !target) ? source : text;
    return p;
}

/* Weights (B,h,Q,K) or, for one head, (B,Q,K). */
static void count_layer(const heed_run *r, const heed_batch *b, const heed_tensor *w,
                        heed_head_table *h, int layer, double *row) {
    const heed_record_block *l = &h->layers[layer];
    size_t queries = (size_t)w->shape[w->dims - 2], keys = (size_t)w->shape[w->dims - 1];
    for (int item = 0; item < w->shape[0]; item++) {
        pair_of_sides p = sides_of(r, b, l, w, item);
        for (int q = 0; q < (int)queries; q++) {
            if (p.q.pad && !p.q.pad[q]) continue;
            for (int head = 0; head < l->heads; head++) {
                size_t at = (size_t)(item * l->heads + head) * queries + (size_t)q;
                for (size_t i = 0; i < keys; i++) row[i] = (double)w->x[at * keys + i];
                count_row(&h->heads[h->first[layer] + head], &p, row, q);
            }
            if (l->layer > 0) continue;
            double seen = 0;
            for (int i = 0; i < p.k.len; i++) seen += is_seen(&p, q, i);
            for (int i = 0; i < p.k.len; i++) row[i] = is_seen(&p, q, i) ? 1 / seen : 0;
            if (seen > 0) count_row(&h->uniform[l->stack], &p, row, q);
        }
    }
}

static const heed_tensor *weights_of(const heed_run *r, const heed_record_block *l) {
    char path[HEED__PATH];
    snprintf(path, sizeof path, "%s.weights", l->path);
    const heed_tensor *w = heed_probe_find(r->tape, path);
    if (!w) heed_fail(r->c, HEED_FAILED, "the model kept no attention weights: %s", path);
    return w;
}

static bool count_batch(const heed_evaluation *e, const heed_batch *b, heed_head_table *h) {
    double *row = NULL;
    bool ok = true;
    for (int i = 0; ok && i < h->layer_count; i++) {
        const heed_tensor *w = weights_of(e->run, &h->layers[i]);
        double *grown = w ? realloc(row, (size_t)w->shape[w->dims - 1] * sizeof *row) : NULL;
        ok = grown != NULL;
        if (ok) count_layer(e->run, b, w, h, i, row = grown);
    }
    free(row);
    return ok || heed_fail(e->run->c, HEED_FAILED, "no memory for a row of weights");
}

/* ---- repeated random tokens ---- */

enum { REPEATS = 16 };

/* (REPEATS, 2 half): each row holds random tokens, twice. */
static void repeat_tokens(const heed_run *r, int32_t *ids, int half) {
    heed_specials s = heed_tokenizer_specials(r->tokenizer);
    heed_random random = heed_random_at(heed_seed(r->c), "heads.induction", 0, 0);
    uint32_t vocab = (uint32_t)(r->tokenizer ? heed_vocab_size(r->tokenizer)
                                             : heed_config_int(r->config, "vocab"));
    for (int i = 0; i < REPEATS * half; i++) {
        int row = i / half, at = 2 * half * row + i % half, tries = 0;
        int32_t id;
        do {
            id = (int32_t)heed_random_below(&random, (uint64_t)i * 64 + (uint64_t)tries, vocab);
        } while (++tries < 64 &&
                 (id == s.pad || id == s.unk || id == s.cls || id == s.sep || id == s.mask));
        ids[at] = ids[at + half] = id;
    }
}

/* The weight of each query in the second half on the token after its first occurrence. */
static void count_induction(const heed_tensor *w, heed_head_table *h, int layer, int half) {
    int heads = h->layers[layer].heads, len = 2 * half;
    for (int row = 0; row < REPEATS; row++)
        for (int head = 0; head < heads; head++)
            for (int q = half; q < len; q++) {
                size_t at = ((size_t)(row * heads + head) * (size_t)len + (size_t)q) * (size_t)len;
                count(&h->heads[h->first[layer] + head], HEED_HEAD_INDUCTION,
                      (double)w->x[at + (size_t)(q - half + 1)]);
                if (layer == 0 && head == 0)
                    count(&h->uniform[h->layers[layer].stack], HEED_HEAD_INDUCTION, 1.0 / (q + 1));
            }
}

/* Only where rows predict the next token and all layers are causal. */
static bool measure_induction(heed_run *r, heed_head_table *h) {
    const heed_model *m = r->model;
    if (!heed_model_data(m)->ahead || !m->logits || !heed_config_has(r->config, "block"))
        return true;
    for (int i = 0; i < h->layer_count; i++)
        if (!h->layers[i].causal) return true;
    int half = (int)heed_config_int(r->config, "block") / 2;
    if (half < 2) return true;
    int32_t *ids = heed__alloc_array(r->c, (size_t)REPEATS * 2 * (size_t)half, sizeof *ids);
    if (!ids) return false;
    repeat_tokens(r, ids, half);
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_model_input in = {.x = heed_ids(r->tape, ids, REPEATS, 2 * half)};
    bool ok = r->model->logits(r->self, r->tape, &in) != NULL;
    for (int i = 0; ok && i < h->layer_count; i++) {
        const heed_tensor *w = weights_of(r, &h->layers[i]);
        ok = w != NULL;
        if (ok) count_induction(w, h, i, half);
    }
    heed__free(ids);
    return ok;
}

/* ---- all heads ---- */

/* Passes a batch through the model. A model that hides patches from itself in evaluation sees them
 * all here, so that positions are those of its grid. */
static bool pass_batch(const heed_evaluation *e, uint64_t index, heed_batch *b) {
    heed_run *r = e->run;
    heed_score score = {0};
    heed_grid grid = {.hidden = 0};
    if (!r->model->grid || !r->model->grid(r->self, &grid) || grid.hidden == 0)
        return heed_evaluation_batch(e, index, b, &score);
    heed_batch_at at = {.val = true, .index = index, .rows = e->rows, .sample = e->sample};
    heed_image_transform v;
    if (!heed_model_batch(r->model, r->self, e->data, at, b) ||
        !heed_image_transform_of(r->c, r->config, &v))
        return false;
    heed_tape_begin(r->tape, HEED_EVAL, index);
    heed_model_input in = {
        .x = heed_input(r->tape, b->x, 4, (int[]){b->rows, v.size, v.size, v.channels})};
    return r->model->logits(r->self, r->tape, &in) != NULL;
}

bool heed_heads(const heed_evaluation *e, heed_head_table *out) {
    heed_run *r = e ? e->run : NULL;
    heed_batch b;
    if (!out) return false;
    *out = (heed_head_table){.layer_count = 0};
    if (!r || heed__stopped(r->c)) return false;
    out->layers = heed_attention_layers(r, &out->layer_count);
    if (!out->layers) return false;
    out->first = heed__alloc_array(r->c, (size_t)out->layer_count, sizeof *out->first);
    for (int i = 0; out->first && i < out->layer_count; i++) {
        out->first[i] = out->head_count;
        out->head_count += out->layers[i].heads;
    }
    out->heads = heed__alloc_array(r->c, (size_t)out->head_count, sizeof *out->heads);
    heed_unprobe(r->tape);
    heed_probe(r->tape, "*.weights", false);
    bool ok = out->first && out->heads;
    for (uint64_t i = 0; ok && i < e->batches; i++)
        ok = pass_batch(e, i, &b) && count_batch(e, &b, out) &&
             heed__progress(r->c, e->progress, e->progress_user, (int64_t)i + 1,
                            (int64_t)e->batches);
    ok = ok && measure_induction(r, out);
    heed_unprobe(r->tape);
    return ok;
}

void heed_heads_free(heed_head_table *h) {
    if (!h) return;
    free(h->layers);
    free(h->first);
    free(h->heads);
    *h = (heed_head_table){.layer_count = 0};
}

bool heed_heads_have(const heed_head_table *h, heed_head_measure m) {
    for (int i = 0; h && h->heads && is_measure(m) && i < h->head_count; i++)
        if (h->heads[i].rows[m] > 0) return true;
    return false;
}
