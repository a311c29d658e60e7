/* heads.c -- what attention heads do over evaluation data. Clark et al. 2019, sec. 3; Dosovitskiy
 * et al. 2021, fig. 7; Olsson et al. 2022. */
#include "analyses/heads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const head_measure_names[HEAD_MEASURES] = {"entropy",  "distance", "first", "self",
                                                       "previous", "next",     "same",  "special",
                                                       "diagonal", "induction"};
const char *const head_measure_help[HEAD_MEASURES] = {
    "of a query's weights, in nats: 0 for one key, ln n for n alike",
    "from the query to what it attends to, a mean by the weights; pictures: in patches",
    "share on the first token",
    "share on the query's own token",
    "share on the token before the query",
    "share on the token after the query",
    "share on other places that have the query's token",
    "share on [CLS] and [SEP]",
    "how far the strongest source token lies from the straight line, in tokens",
    "share on the token that followed the query's token before, where random tokens repeat"};

double head_mean(const head_sums *s, head_measure m) {
    return s->rows[m] > 0 ? s->sum[m] / s->rows[m] : (double)NAN;
}

/* ---- one row of weights ---- */

/* A side of attention: the tokens of one item of a batch, or the patches of a picture. */
typedef struct {
    const int32_t *ids, *pad; /* (len); ids NULL: patches, pad NULL: none */
    int len, cols, first;     /* of the grid; cols 0: text */
} side;

typedef struct {
    side q, k;
    bool cross, causal;
    heed_specials special;
} pair_of_sides;

static void count(head_sums *s, head_measure m, double value) {
    s->sum[m] += value;
    s->rows[m]++;
}

static double entropy_of(const double *w, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (w[i] > 0) sum -= w[i] * log(w[i]);
    return sum;
}

static double tokens_apart(const double *w, int n, int query) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += w[i] * abs(i - query);
    return sum;
}

/* Euclidean, between the middles of patches; what falls on [CLS] is left out. */
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

static bool is_bracket(const heed_specials *s, int32_t id) {
    return id >= 0 && (id == s->cls || id == s->sep);
}

/* Shares by what the keys' tokens are. */
static void count_tokens(head_sums *s, const pair_of_sides *p, const double *w, int query) {
    double same = 0, special = 0;
    bool any = p->special.cls >= 0 || p->special.sep >= 0;
    int32_t id = p->q.ids[query];
    for (int i = 0; i < p->k.len; i++) {
        if (is_bracket(&p->special, p->k.ids[i]))
            special += w[i];
        else if (!p->cross && i != query && p->k.ids[i] == id)
            same += w[i];
    }
    if (any) count(s, SPECIAL, special);
    if (!p->cross) count(s, SAME, same);
}

/* Shares by where the keys stand. */
static void count_places(head_sums *s, const pair_of_sides *p, const double *w, int query) {
    count(s, DISTANCE, tokens_apart(w, p->k.len, query));
    count(s, FIRST, w[0]);
    count(s, SELF, w[query]);
    if (query > 0) count(s, PREVIOUS, w[query - 1]);
    if (!p->causal && query + 1 < p->k.len) count(s, NEXT, w[query + 1]);
}

static int keys_of(const side *k) {
    int n = 0;
    for (int i = 0; i < k->len; i++) n += !k->pad || k->pad[i];
    return n;
}

static void count_peak(head_sums *s, const pair_of_sides *p, const double *w, int query) {
    int keys = keys_of(&p->k), queries = keys_of(&p->q), peak = 0;
    for (int i = 1; i < p->k.len; i++)
        if (w[i] > w[peak]) peak = i;
    double straight = queries > 1 ? (double)query * (keys - 1) / (queries - 1) : 0;
    count(s, DIAGONAL, fabs(peak - straight));
}

static void count_row(head_sums *s, const pair_of_sides *p, const double *w, int query) {
    count(s, ENTROPY, entropy_of(w, p->k.len));
    if (p->k.cols > 0) {
        if (query >= p->k.first) count(s, DISTANCE, patches_apart(w, &p->k, query));
        if (query >= p->k.first) count(s, SELF, w[query]);
        if (p->k.first) count(s, SPECIAL, w[0]);
        return;
    }
    count_tokens(s, p, w, query);
    if (p->cross)
        count_peak(s, p, w, query);
    else
        count_places(s, p, w, query);
}

/* ---- one batch ---- */

static bool is_seen(const pair_of_sides *p, int query, int key) {
    return (!p->k.pad || p->k.pad[key]) && (!p->causal || key <= query);
}

static void count_alike(head_sums *s, const pair_of_sides *p, double *row, int query) {
    double seen = 0;
    for (int i = 0; i < p->k.len; i++) seen += is_seen(p, query, i);
    for (int i = 0; i < p->k.len; i++) row[i] = is_seen(p, query, i) ? 1 / seen : 0;
    if (seen > 0) count_row(s, p, row, query);
}

/* The sides of item b of a batch, as the layer sees them. */
static pair_of_sides sides_of(const eval_loop *s, const heed_batch *b, const heed_record_block *l,
                              const heed_tensor *w, int item) {
    const heed_run *r = s->run;
    bool target = b->ids != NULL && l->stack != HEED_ENCODER, pictures = b->x != NULL;
    pair_of_sides p = {.cross = l->stack == HEED_CROSS, .causal = l->stack == HEED_DECODER};
    if (pictures) {
        int cls = strcmp(heed_config_text(r->config, "pool"), "cls") == 0, len = w->shape[3];
        p.q = p.k = (side){.len = len, .cols = (int)lround(sqrt(len - cls)), .first = cls};
        return p;
    }
    side text = {.ids = b->ids, .pad = b->pad, .len = b->len};
    side source = {.ids = b->src, .pad = b->src_pad, .len = b->src_len};
    p.special =
        heed_tokenizer_specials(l->stack == HEED_DECODER ? r->tokenizer : source_tokenizer(r));
    p.q = target || !b->src ? text : source;
    p.k = p.cross || (b->src && !target) ? source : text;
    side *both[] = {&p.q, &p.k};
    for (int i = 0; i < 2; i++) {
        both[i]->ids += (size_t)item * (size_t)both[i]->len;
        if (both[i]->pad) both[i]->pad += (size_t)item * (size_t)both[i]->len;
    }
    return p;
}

/* Weights (B,h,Q,K) or, of one head, (B,Q,K). */
static void count_layer(const eval_loop *s, const heed_batch *b, const heed_tensor *w,
                        head_table *h, int layer, double *row) {
    const heed_record_block *l = &h->layer[layer];
    size_t queries = (size_t)w->shape[w->dims - 2], keys = (size_t)w->shape[w->dims - 1];
    for (int item = 0; item < w->shape[0]; item++) {
        pair_of_sides p = sides_of(s, b, l, w, item);
        for (int q = 0; q < (int)queries; q++) {
            if (p.q.pad && !p.q.pad[q]) continue;
            for (int head = 0; head < l->heads; head++) {
                size_t at = (size_t)(item * l->heads + head) * queries + (size_t)q;
                for (size_t i = 0; i < keys; i++) row[i] = (double)w->x[at * keys + i];
                count_row(&h->sums[h->first[layer] + head], &p, row, q);
            }
            if (l->layer == 0) count_alike(&h->alike[l->stack], &p, row, q);
        }
    }
}

static const heed_tensor *weights_of(const heed_run *r, const heed_record_block *l) {
    char path[80];
    snprintf(path, sizeof path, "%s.weights", l->path);
    const heed_tensor *w = heed_probe_find(r->tape, path);
    if (!w) heed_fail(r->c, HEED_FAILED, "the model kept no attention weights: %s", path);
    return w;
}

static bool count_batch(const eval_loop *s, const heed_batch *b, head_table *h) {
    double *row = NULL;
    bool ok = true;
    for (int i = 0; ok && i < h->count; i++) {
        const heed_tensor *w = weights_of(s->run, &h->layer[i]);
        double *grown = w ? realloc(row, (size_t)w->shape[w->dims - 1] * sizeof *row) : NULL;
        ok = grown != NULL;
        if (ok) count_layer(s, b, w, h, i, row = grown);
    }
    free(row);
    return ok || heed_fail(s->run->c, HEED_FAILED, "no memory for a row of weights");
}

/* ---- random tokens that repeat ---- */

enum { REPEATS = 16 };

/* (REPEATS, 2 half): each row random tokens, twice. */
static void repeat_tokens(const heed_run *r, int32_t *ids, int half) {
    heed_specials s = heed_tokenizer_specials(r->tokenizer);
    heed_random random = heed_random_at(heed_seed(r->c), "heads.induction", 0, 0);
    uint32_t vocab = (uint32_t)heed_vocab_size(r->tokenizer);
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

/* The weight of each query of the second half on the token after its first place. */
static void count_induction(const heed_tensor *w, head_table *h, int layer, int half) {
    int heads = w->shape[1], len = w->shape[2];
    for (int row = 0; row < w->shape[0]; row++)
        for (int head = 0; head < heads; head++)
            for (int q = half; q < len; q++) {
                size_t at = ((size_t)(row * heads + head) * (size_t)len + (size_t)q) * (size_t)len;
                count(&h->sums[h->first[layer] + head], INDUCTION,
                      (double)w->x[at + (size_t)(q - half + 1)]);
                if (layer == 0 && head == 0)
                    count(&h->alike[HEED_DECODER], INDUCTION, 1.0 / (q + 1));
            }
}

static bool measure_induction(const eval_loop *s, head_table *h) {
    heed_run *r = s->run;
    int half = (int)heed_config_int(r->config, "block") / 2;
    if (half < 2) return true;
    int32_t *ids = malloc((size_t)REPEATS * 2 * (size_t)half * sizeof *ids);
    if (!ids) return heed_fail(r->c, HEED_FAILED, "no memory for random tokens");
    repeat_tokens(r, ids, half);
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_model_input in = {.x = heed_ids(r->tape, ids, REPEATS, 2 * half)};
    bool ok = r->model->logits(r->self, r->tape, &in) != NULL;
    for (int i = 0; ok && i < h->count; i++) {
        const heed_tensor *w = weights_of(r, &h->layer[i]);
        ok = w != NULL;
        if (ok) count_induction(w, h, i, half);
    }
    free(ids);
    return ok;
}

/* ---- all of it ---- */

static bool make_table(const heed_run *r, head_table *h) {
    *h = (head_table){.count = 0};
    h->layer = heed_attention_layers(r, &h->count);
    if (!h->layer) return false;
    h->first = calloc((size_t)h->count, sizeof *h->first);
    for (int i = 0; h->first && i < h->count; i++) {
        h->first[i] = h->total;
        h->total += h->layer[i].heads;
    }
    h->sums = calloc((size_t)h->total + 1, sizeof *h->sums);
    return (h->first && h->sums) ||
           heed_fail(r->c, HEED_FAILED, "no memory for %d heads", h->total);
}

bool heads_measure(const eval_loop *s, void (*each_batch)(void *user, uint64_t done), void *user,
                   head_table *out) {
    heed_run *r = s->run;
    heed_score score = {0};
    heed_batch b;
    if (!make_table(r, out)) return false;
    heed_unprobe(r->tape);
    heed_probe(r->tape, "*.weights", false);
    bool ok = true;
    for (uint64_t i = 0; ok && i < s->batches; i++) {
        ok = eval_loop_batch(s, i, &b, &score) && count_batch(s, &b, out);
        if (ok && each_batch) each_batch(user, i + 1);
    }
    if (ok && r->model->answers == HEED_ANSWER_NEXT) ok = measure_induction(s, out);
    heed_unprobe(r->tape);
    return ok;
}

void heads_free(head_table *h) {
    free(h->layer);
    free(h->first);
    free(h->sums);
    *h = (head_table){.count = 0};
}

bool heads_has(const head_table *h, head_measure m) {
    for (int i = 0; i < h->total; i++)
        if (h->sums[i].rows[m] > 0) return true;
    return false;
}
