/* focus.c -- how even weights are, where the scales of weights end, and the head of a record that
 * is worth looking at first: the most concentrated one. */
#include "view/draw.h"
#include "view/page.h"

#include <math.h>
#include <string.h>

bool heed__nearly_uniform(const heed_real *weights, int n) {
    double sum = 0, most = 0;
    for (int i = 0; weights && i < n; i++) {
        sum += fmax((double)weights[i], 0);
        most = fmax(most, (double)weights[i]);
    }
    return heed__evenness(weights, n) >= HEED_NEARLY_UNIFORM && most * n < 2 * sum;
}

double heed_map_least(const char *name) {
    return name && strcmp(name, "occlusion") == 0 ? HEED_LEAST_OCCLUSION : 0;
}

double heed__evenness(const heed_real *weights, int n) {
    double sum = 0, bits = 0;
    for (int i = 0; weights && i < n; i++)
        if (weights[i] > 0) sum += (double)weights[i];
    for (int i = 0; sum > 0 && i < n; i++)
        if (weights[i] > 0) bits -= (double)weights[i] / sum * log2((double)weights[i] / sum);
    return sum > 0 ? exp2(bits) / n : 0;
}

typedef struct {
    const heed_record *record;
    const heed_record_block *block;
    const heed_real *weights; /* (rows,cols) of one head */
    int rows, cols;
} head_of;

/* How many keys a query may attend to. */
static int keys_of(const head_of *h, int query) {
    return h->block->causal && query < h->cols ? query + 1 : h->cols;
}

/* Whether a row is one of those that are asked about: the query, or without one those of the
 * predictions (of a causal layer the last), or without predictions all. */
static bool is_asked(const head_of *h, int query, int row) {
    int last = -1;
    if (query >= 0) return row == query;
    for (int i = 0; i < h->record->guess_count; i++) {
        const heed_record_guess *g = &h->record->guesses[i];
        if (g->axis != h->block->queries || g->query < 0) continue;
        if (g->query == row && !h->block->causal) return true;
        last = g->query;
    }
    return last < 0 || (h->block->causal && row == last);
}

/* The mean over the rows that are asked about, or over all. NAN: a weight is no number. */
static double mean_evenness(const head_of *h, int query, bool all) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < h->rows; i++) {
        if (!(all || is_asked(h, query, i)) || keys_of(h, i) < 2) continue;
        const heed_real *row = h->weights + (size_t)i * (size_t)h->cols;
        for (int k = 0; k < keys_of(h, i); k++)
            if (!isfinite((double)row[k])) return (double)NAN;
        sum += heed__evenness(row, keys_of(h, i));
        count++;
    }
    return count ? sum / count : 1;
}

/* Of a query that row alone is shown. Else the whole matrix is: the rows that are asked about and
 * all rows count half each, so that no head is chosen for one row that is nearly uniform in the
 * others. */
static double evenness(const head_of *h, int query) {
    double asked = mean_evenness(h, query, false);
    return query >= 0 ? asked : (asked + mean_evenness(h, query, true)) / 2;
}

/* Whether most of the weight is at one place whatever the tokens are: on the token itself, the one
 * before or after it, or on the first and special tokens. */
static bool is_positional(const head_of *h) {
    const heed_record_axis *keys = &h->record->axes[h->block->keys];
    double at[3] = {0}, fixed = 0, all = 0;
    for (int i = 0; i < h->rows; i++)
        for (int k = 0; k < h->cols && keys_of(h, i) > 1; k++) {
            double w = (double)h->weights[(size_t)i * (size_t)h->cols + (size_t)k];
            if (!(w > 0)) continue;
            all += w;
            if (k == 0 || (keys->special && keys->special[k])) fixed += w;
            if (h->block->queries == h->block->keys && k >= i - 1 && k <= i + 1) at[k - i + 1] += w;
        }
    for (int i = 0; i < 3; i++)
        if (at[i] > fixed) fixed = at[i];
    return fixed > all / 2;
}

/* Positional heads come after all others that attend to less than half of what they may. */
static double score_of(const head_of *h, double even) {
    return is_positional(h) ? fmax(even, 0.5 + even / 1000) : even;
}

bool heed__key_masked(const heed_record *r, const heed_record_block *b, int key) {
    int rows = r->axes[b->queries].count, cols = r->axes[b->keys].count;
    bool all = b->scores != NULL;
    for (int i = 0; all && i < b->heads * rows; i++)
        all = (double)b->scores[(size_t)i * (size_t)cols + (size_t)key] == -(double)INFINITY;
    return all;
}

double heed__record_uniform(const heed_record *r, const heed_record_block *b, int query) {
    if (!r || !b) return 1;
    head_of h = {r, b, NULL, r->axes[b->queries].count, r->axes[b->keys].count};
    int from = query < 0 ? 0 : query, end = query < 0 ? h.rows : query + 1, rows = 0;
    double sum = 0;
    for (int i = from, key = 0, visible = 0; i < end; i++) {
        for (; key < keys_of(&h, i); key++) visible += !heed__key_masked(r, b, key);
        if (visible < 2) continue;
        sum += 1.0 / visible;
        rows++;
    }
    return rows ? sum / rows : 1;
}

double heed_record_scale(const heed_record *r, const heed_record_block *b) {
    if (!r || !b) return 1;
    int rows = r->axes[b->queries].count, cols = r->axes[b->keys].count;
    double end = fmin(2 * heed__record_uniform(r, b, -1), 1);
    for (int i = 0; i < b->heads * rows; i++) {
        if (b->causal && i % rows == 0) continue;
        const heed_real *row = b->weights + (size_t)i * (size_t)cols;
        for (int k = 0; k < cols; k++)
            if (isfinite((double)row[k])) end = fmax(end, fabs((double)row[k]));
    }
    return end;
}

/* Whether a record has the block of another one, by its index. */
static bool has_block(const heed_record *r, int index, const heed_record_block *b) {
    const heed_record_block *own = r && index < r->block_count ? &r->blocks[index] : NULL;
    return own && own->weights && own->stack == b->stack && own->layer == b->layer &&
           own->heads == b->heads;
}

static bool all_have(const heed_record *const *records, int count, int index) {
    for (int i = 0; i < count; i++)
        if (!has_block(records[i], index, &records[0]->blocks[index])) return false;
    return true;
}

/* The evenness of a head and its score, means over all records; NAN: a weight is no number. */
typedef struct {
    double even, score;
} mark;

static mark mean_mark(const heed_record *const *records, const int *queries, int count, int block,
                      int head) {
    mark sum = {0};
    for (int i = 0; i < count; i++) {
        const heed_record *r = records[i];
        const heed_record_block *b = &r->blocks[block];
        head_of h = {r, b, b->weights, r->axes[b->queries].count, r->axes[b->keys].count};
        h.weights += (size_t)head * (size_t)h.rows * (size_t)h.cols;
        double even = evenness(&h, queries[i]);
        sum.even += even / count;
        sum.score += score_of(&h, even) / count;
    }
    return sum;
}

bool heed_records_focus(const heed_record *const *records, const int *queries, int count,
                        heed_stack stack, int layer, heed_focus *out) {
    if (!out) return false;
    *out = (heed_focus){.positional = 1};
    const heed_record *first = records && queries && count > 0 ? records[0] : NULL;
    for (int i = 0; first && i < first->block_count; i++) {
        const heed_record_block *b = &first->blocks[i];
        if (b->stack != stack || (layer >= 0 && b->layer != layer)) continue;
        if (!all_have(records, count, i)) continue;
        for (int k = 0; k < b->heads; k++) {
            mark m = mean_mark(records, queries, count, i, k);
            if (isnan(m.score)) continue;
            if (!out->count++ || m.score < out->score)
                out->block = i, out->head = k, out->score = m.score;
            if (m.score > m.even) out->positional = fmin(out->positional, m.even);
        }
    }
    return out->count > 0;
}

bool heed__record_focus(const heed_record *r, heed_stack stack, int layer, int query,
                        heed_focus *out) {
    return heed_records_focus(&r, &query, 1, stack, layer, out);
}
