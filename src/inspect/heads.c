/* heads.c -- statistics of attention heads over evaluation data. Clark et al. 2019, sec. 3;
 * Dosovitskiy et al. 2021, fig. 7; Olsson et al. 2022. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENTROPY,
    DISTANCE,
    FIRST,
    SELF,
    PREVIOUS,
    NEXT,
    SAME,
    SPECIAL,
    DIAGONAL,
    INDUCTION,
    MEASURES
};
static const heed_record_column measures[MEASURES] = {
    {.key = "entropy",
     .help = "of a query's weights, in bits: 0 for one key, log2 n for n alike",
     .format = "%.2f"},
    {.key = "distance",
     .help = "from the query to what it attends to, a mean by the weights",
     .format = "%.2f"},
    {.key = "first", .help = "share on the first token"},
    {.key = "self", .help = "share on the query's own token"},
    {.key = "previous",
     .help = "share on the token before the query, over the queries that have one"},
    {.key = "next", .help = "share on the token after the query, over the queries that have one"},
    {.key = "same", .help = "share on other positions that have the query's token"},
    {.key = "special", .help = "share on [CLS] and [SEP]"},
    {.key = "diagonal",
     .help = "how far the strongest source token lies from the straight line, in tokens",
     .format = "%.2f"},
    {.key = "induction",
     .help = "share on the token that followed the query's token before, where random tokens "
             "repeat"}};

/* Sums over rows of weights, and the number of rows counted for each measure. */
typedef struct {
    double sum[MEASURES], rows[MEASURES];
} sums;

typedef struct {
    heed__heads of;
    sums *heads;     /* (of.count) */
    sums uniform[3]; /* by stack: those of a head that weights all keys equally */
} table;

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

static void count(sums *s, int m, double value) {
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
static void count_tokens(sums *s, const pair_of_sides *p, const double *w, int query) {
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
    if (cls >= 0 || sep >= 0) count(s, SPECIAL, special);
    if (!p->cross) count(s, SAME, same);
}

/* Shares by the positions of the keys. */
static void count_places(sums *s, const pair_of_sides *p, const double *w, int query) {
    double distance = 0;
    for (int i = 0; i < p->k.len; i++) distance += w[i] * abs(i - query);
    count(s, DISTANCE, distance);
    count(s, FIRST, w[0]);
    count(s, SELF, w[query]);
    if (query > 0) count(s, PREVIOUS, w[query - 1]);
    if (query + 1 < p->k.len && is_seen(p, query, query + 1)) count(s, NEXT, w[query + 1]);
}

static int keys_of(const side *k) {
    int n = 0;
    for (int i = 0; i < k->len; i++) n += !k->pad || k->pad[i];
    return n;
}

static void count_row(sums *s, const pair_of_sides *p, const double *w, int query) {
    double entropy = 0;
    for (int i = 0; i < p->k.len; i++)
        if (w[i] > 0) entropy -= w[i] * log2(w[i]);
    count(s, ENTROPY, entropy);
    if (p->k.cols > 0) {
        if (p->cross) return;
        if (query >= p->k.first) count(s, DISTANCE, patches_apart(w, &p->k, query));
        if (query >= p->k.first) count(s, SELF, w[query]);
        if (p->k.first) count(s, SPECIAL, w[0]);
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
    count(s, DIAGONAL, fabs(peak - straight));
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
static void count_layer(const heed_run *r, const heed_batch *b, const heed_tensor *w, table *h,
                        int layer, double *row) {
    const heed_record_block *l = &h->of.layers[layer];
    size_t queries = (size_t)w->shape[w->dims - 2], keys = (size_t)w->shape[w->dims - 1];
    for (int item = 0; item < w->shape[0]; item++) {
        pair_of_sides p = sides_of(r, b, l, w, item);
        for (int q = 0; q < (int)queries; q++) {
            if (p.q.pad && !p.q.pad[q]) continue;
            for (int head = 0; head < l->heads; head++) {
                size_t at = (size_t)(item * l->heads + head) * queries + (size_t)q;
                for (size_t i = 0; i < keys; i++) row[i] = (double)w->x[at * keys + i];
                count_row(&h->heads[h->of.first[layer] + head], &p, row, q);
            }
            if (l->layer > 0) continue;
            double seen = 0;
            for (int i = 0; i < p.k.len; i++) seen += is_seen(&p, q, i);
            for (int i = 0; i < p.k.len; i++) row[i] = is_seen(&p, q, i) ? 1 / seen : 0;
            if (seen > 0) count_row(&h->uniform[l->stack], &p, row, q);
        }
    }
}

static bool count_batch(const heed_evaluation *e, const heed_batch *b, table *h) {
    double *row = NULL;
    bool ok = true;
    for (int i = 0; ok && i < h->of.layer_count; i++) {
        const heed_tensor *w = heed__kept(e->run, h->of.layers[i].path, 0);
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
static void count_induction(const heed_tensor *w, table *h, int layer, int half) {
    int heads = h->of.layers[layer].heads, len = 2 * half;
    for (int row = 0; row < REPEATS; row++)
        for (int head = 0; head < heads; head++)
            for (int q = half; q < len; q++) {
                size_t at = ((size_t)(row * heads + head) * (size_t)len + (size_t)q) * (size_t)len;
                count(&h->heads[h->of.first[layer] + head], INDUCTION,
                      (double)w->x[at + (size_t)(q - half + 1)]);
                if (layer == 0 && head == 0)
                    count(&h->uniform[h->of.layers[layer].stack], INDUCTION, 1.0 / (q + 1));
            }
}

/* Only where rows predict the next token and all layers are causal. */
static bool measure_induction(heed_run *r, table *h) {
    const heed_model *m = r->model;
    if (!heed_model_data(m)->ahead || !m->logits || !heed_config_has(r->config, "block"))
        return true;
    for (int i = 0; i < h->of.layer_count; i++)
        if (!h->of.layers[i].causal) return true;
    int half = (int)heed_config_int(r->config, "block") / 2;
    if (half < 2) return true;
    int32_t *ids = heed__alloc_array(r->c, (size_t)REPEATS * 2 * (size_t)half, sizeof *ids);
    if (!ids) return false;
    repeat_tokens(r, ids, half);
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_model_input in = {.x = heed_ids(r->tape, ids, REPEATS, 2 * half)};
    bool ok = r->model->logits(r->self, r->tape, &in) != NULL;
    for (int i = 0; ok && i < h->of.layer_count; i++) {
        const heed_tensor *w = heed__kept(r, h->of.layers[i].path, 0);
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

/* ---- as a record ---- */

/* Adds a column for the queries of these rows and for each measure that any head has. */
static void add_columns(heed_record *to, const table *h, const heed_run *r, const sums *rows,
                        const int *list, int count) {
    const heed_data_kind *kind = heed_model_data(r->model);
    bool patches = kind->images && r->model->grid;
    double *x = heed_record_add_column(to, (heed_record_column){.key = "queries"});
    for (int i = 0; x && i < count; i++) x[i] = rows[list ? list[i] : i].rows[ENTROPY];
    for (int m = 0; m < MEASURES; m++) {
        char distance[160];
        heed_record_column k = measures[m];
        bool any = false;
        for (int i = 0; i < h->of.count; i++) any = any || h->heads[i].rows[m] > 0;
        if (!any) continue;
        snprintf(distance, sizeof distance, "%s, in %s", k.help, patches ? "patches" : "tokens");
        k.head = k.key;
        if (!k.format) k.format = "%.3f";
        if (m == DISTANCE) k.help = distance;
        if (m == SPECIAL && patches && !kind->target) k.help = "share on [CLS]";
        x = heed_record_add_column(to, k);
        for (int i = 0; x && i < count; i++) {
            const sums *of = &rows[list ? list[i] : i];
            x[i] = of->rows[m] > 0 ? of->sum[m] / of->rows[m] : (double)NAN;
        }
    }
}

static void add_tables(heed_record *to, const table *h, const heed_run *r) {
    const char *stacks[3], *names[3];
    char alike[3][32];
    int count = 0, list[3];
    for (int i = 0; i < h->of.layer_count; i++) {
        int stack = (int)h->of.layers[i].stack, k = 0;
        while (k < count && list[k] != stack) k++;
        if (k < count) continue;
        stacks[count] = heed_stack_name((heed_stack)stack);
        snprintf(alike[count], sizeof *alike, "%s%sall alike", h->of.stacks ? stacks[count] : "",
                 h->of.stacks ? " " : "");
        names[count] = alike[count];
        list[count++] = stack;
    }
    heed_record_add_table(to, "heads", NULL, h->of.count);
    heed_record_add_column(to, h->of.about[0]);
    add_columns(to, h, r, h->heads, NULL, h->of.count);
    for (int i = 1; i < HEED__ABOUT; i++) heed_record_add_column(to, h->of.about[i]);
    heed_record_add_table(to, "alike", "stack", count);
    heed_record_add_column(to, (heed_record_column){.head = "", .texts = names});
    heed_record_add_column(to, (heed_record_column){.key = "stack", .texts = stacks});
    add_columns(to, h, r, h->uniform, list, count);
}

/* "means over 480 (encoder), 600 (decoder), 600 (cross) queries a head" */
static void put_queries(const table *h, heed_text *out) {
    char n[32];
    bool differ = false;
    double first = h->heads->rows[ENTROPY];
    for (int i = 0; i < h->of.count; i++) differ |= h->heads[i].rows[ENTROPY] != first;
    for (int i = 0; i < h->of.layer_count; i++) {
        heed_stack k = h->of.layers[i].stack;
        if (i > 0 && (!differ || k == h->of.layers[i - 1].stack)) continue;
        heed_format_count(n, (uint64_t)h->heads[h->of.first[i]].rows[ENTROPY]);
        heed_text_add(out, "%s%s", i ? ", " : "means over ", n);
        if (differ) heed_text_add(out, " (%s)", heed_stack_name(k));
    }
    heed_text_add(out, " quer%s a head", !differ && first == 1 ? "y" : "ies");
}

heed_record *heed_heads(const heed_evaluation *e) {
    heed_run *r = e ? e->run : NULL;
    heed_batch b;
    table h = {.heads = NULL};
    heed_record *out = NULL;
    if (!r || heed__stopped(r->c) || !heed__heads_open(r, &h.of)) return NULL;
    h.heads = heed__alloc_array(r->c, (size_t)h.of.count, sizeof *h.heads);
    heed_probe_clear(r->tape);
    heed_probe(r->tape, "*.weights", false);
    bool ok = h.heads != NULL;
    for (uint64_t i = 0; ok && i < e->batches; i++)
        ok = pass_batch(e, i, &b) && count_batch(e, &b, &h) &&
             heed__progress(r->c, e->progress, e->progress_user, (int64_t)i + 1,
                            (int64_t)e->batches);
    ok = ok && measure_induction(r, &h);
    heed_probe_clear(r->tape);
    if (ok) {
        heed_text note = {.c = r->c};
        put_queries(&h, &note);
        out = heed__measured(r, e->what, note.s, NULL);
        heed_text_free(&note);
        add_tables(out, &h, r);
    }
    heed__free(h.heads);
    heed__heads_free(&h.of);
    return heed__record_done(r->c, out);
}
