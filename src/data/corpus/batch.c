/* batch.c -- batches: each row of tokens depends only on (seed, step, row of the step). */
#include "data/corpus/corpus.h"
#include "data/kind.h"

#include <math.h>
#include <string.h>

enum { IGNORED = -100 };

/* Tokens of one row: `count` tokens of the stream from `at`, then `end` unless it is -1. */
typedef struct {
    size_t at, count;
    int32_t end;
} source;

static int32_t id_of(const heed__corpus *k, const source *s, size_t i) {
    return i < s->count ? heed__stream_id(&k->stream, s->at + i) : s->end;
}

/* A line's end accounts for its newline. */
static size_t bytes_of(const heed__corpus *k, const source *s, size_t i) {
    return i < s->count ? heed__stream_bytes(&k->stream, s->at + i) : 1;
}

/* ---- where rows come from ---- */

static const heed__span *span_of(const heed__part *p, size_t number) {
    size_t low = 0, high = p->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (p->spans[middle].before <= number)
            low = middle;
        else
            high = middle;
    }
    return &p->spans[low];
}

static source line_source(const heed__corpus *k, size_t line, size_t most) {
    size_t count = k->lines[line + 1] - k->lines[line];
    int32_t end = count < most && !k->a.bracket ? k->end : -1;
    return (source){k->lines[line], count < most ? count : most, end};
}

/* Training windows of an epoch. */
static uint64_t windows_of(const heed__corpus *k) {
    uint64_t stride = k->a.packing == HEED_LINES ? 1 : (uint64_t)k->content;
    return (k->train.total + stride - 1) / stride;
}

/* A training window of `most` tokens: see data.h. A shorter span holds no start of a window. */
static source train_source(const heed__corpus *k, uint64_t draw, size_t most) {
    bool lines = k->a.packing == HEED_LINES;
    uint64_t starts = k->train.total, stride = lines ? 1 : (uint64_t)k->content;
    uint64_t windows = windows_of(k), epoch = draw / windows;
    heed_random order = heed_random_at(heed_seed(k->c), "batch.order", epoch, 0);
    heed_random shift = heed_random_at(heed_seed(k->c), "batch.shift", epoch, 0);
    uint64_t first = lines ? 0 : heed_random_below(&shift, 0, (uint32_t)starts);
    uint64_t window = heed_random_permute(&order, draw % windows, windows);
    size_t number = (size_t)((first + window * stride) % starts);
    const heed__span *span = span_of(&k->train, number);
    size_t unit = span->begin + number - span->before;
    if (lines) return line_source(k, unit, most);
    return (source){unit, most, -1};
}

/* Row `number` of the evaluation: adjacent windows; the last one of a span may be short. */
static source val_source(const heed__corpus *k, size_t number, size_t most) {
    const heed__span *span = span_of(&k->val, number);
    size_t i = number - span->before;
    if (k->a.packing == HEED_LINES) return line_source(k, span->begin + i, most);
    size_t at = span->begin + i * (size_t)k->content, left = span->end - at;
    return (source){at, left < most ? left : most, -1};
}

static bool begin(heed__corpus *k, heed_batch_at at, bool bracket, heed_batch *out) {
    if (out) *out = (heed_batch){0};
    if (!k || !out || heed__stopped(k->c)) return false;
    if (k->a.bracket != bracket)
        return heed_fail(k->c, HEED_USAGE,
                         "corpus does not fit %s: expected it opened %s [CLS] and [SEP] around its "
                         "rows (bracket)",
                         bracket ? "masked tokens" : "next tokens", bracket ? "with" : "without");
    if (!at.val && k->a.eval)
        return heed_fail(k->c, HEED_USAGE,
                         "corpus is opened for evaluation only: expected args without eval");
    int rows =
        heed__batch_rows(k->c, at, at.val ? k->val.total : windows_of(k), INT32_MAX / k->len);
    size_t need = (size_t)at.rows * (size_t)k->len;
    if (!rows || !heed__grow(k->c, &k->ids, &k->capacity, 4 * need, sizeof *k->ids)) return false;
    k->pad = k->ids + need;
    k->labels = k->pad + need;
    k->masked_positions = k->labels + need;
    *out = (heed_batch){.rows = rows, .len = k->len, .ids = k->ids, .labels = k->labels};
    return true;
}

/* Pads the row from position t on. Batches of lines always have a mask, so that all steps have the
 * same form; batches of blocks only where the last window of a part is short. */
static void pad_row(heed__corpus *k, size_t row, size_t t, heed_batch *out) {
    size_t len = (size_t)k->len, at = row * len;
    int32_t pad = k->k->special.pad >= 0 ? k->k->special.pad : k->ids[at];
    for (size_t i = 0; i < len; i++) k->pad[at + i] = i < t;
    for (size_t i = t; i < len; i++) k->ids[at + i] = pad;
    out->items += t;
    if (t < len || k->a.packing == HEED_LINES) out->pad = k->pad;
}

/* ---- causal ---- */

static void causal_row(heed__corpus *k, size_t row, const source *s, heed_batch *out) {
    size_t len = (size_t)k->len, n = s->count - (s->end < 0); /* tokens that have a next one */
    int32_t *ids = k->ids + row * len, *labels = k->labels + row * len;
    for (size_t t = 0; t < len; t++) {
        labels[t] = IGNORED;
        if (t >= n) continue;
        ids[t] = id_of(k, s, t);
        labels[t] = id_of(k, s, t + 1);
        out->label_bytes += bytes_of(k, s, t + 1);
    }
    pad_row(k, row, n, out);
}

bool heed__gpt_batch(heed__corpus *k, heed_batch_at at, heed_batch *out) {
    if (!begin(k, at, false, out)) return false;
    size_t most = (size_t)k->len + 1;
    for (size_t row = 0; row < (size_t)out->rows; row++) {
        source s = at.val ? val_source(k, heed__eval_row(k->c, at, row, k->val.total), most)
                          : train_source(k, heed__draw_of(at, row), most);
        causal_row(k, row, &s, out);
    }
    return true;
}

/* ---- masked ---- */

static bool is_special(const heed__corpus *k, int32_t id) {
    for (int i = 0; i < HEED__SPECIALS; i++)
        if (id == k->k->special_ids[i]) return true;
    return false;
}

/* A uniform choice among the ids that are not special. */
static int32_t random_token(const heed__corpus *k, const heed_random *r, uint64_t index) {
    int32_t sorted[HEED__SPECIALS];
    int count = 0;
    for (int i = 0; i < HEED__SPECIALS; i++) {
        int32_t special = k->k->special_ids[i];
        if (special < 0) continue;
        int j = count++;
        for (; j > 0 && sorted[j - 1] > special; j--) sorted[j] = sorted[j - 1];
        sorted[j] = special;
    }
    uint32_t others = (uint32_t)(heed_vocab_size(k->k) - count);
    int32_t id = others ? (int32_t)heed_random_below(r, index, others) : k->k->special.mask;
    for (int i = 0; others && i < count; i++) id += id >= sorted[i];
    return id;
}

/* The replacement of a chosen token. Devlin et al. 2019, sec. 3.1. */
static int32_t corrupted(const heed__corpus *k, const heed_random *r, uint64_t index, int32_t id) {
    double u = heed_random_uniform(r, index);
    return u < 0.8 ? k->k->special.mask : u < 0.9 ? random_token(k, r, index + 1) : id;
}

/* Chooses max(1, round(share n)) of the row's n ordinary tokens (of all, if it has none), all sets
 * equally likely (selection sampling: Knuth, vol. 2, 3.4.2, algorithm S). */
static void choose(heed__corpus *k, size_t row, const source *s, double share, const heed_random *r,
                   uint64_t index, heed_batch *out) {
    size_t left = 0, at = row * (size_t)k->len + 1;
    for (size_t i = 0; i < s->count; i++) left += !is_special(k, k->ids[at + i]);
    bool any = left == 0;
    if (any) left = s->count;
    size_t wanted = (size_t)lround(share * (double)left);
    wanted = wanted < 1 ? 1 : wanted > left ? left : wanted;
    for (size_t i = 0; i < s->count && wanted; i++, index += 3) {
        int32_t id = k->ids[at + i];
        if (!any && is_special(k, id)) continue;
        if (heed_random_below(r, index, (uint32_t)left--) >= wanted) continue;
        wanted--;
        k->masked_positions[out->masked_count] = (int32_t)(at + i);
        k->labels[out->masked_count++] = id;
        k->ids[at + i] = corrupted(k, r, index + 1, id);
        out->label_bytes += bytes_of(k, s, i);
    }
}

bool heed__mlm_batch(heed__corpus *k, heed_batch_at at, double share, heed_batch *out) {
    if (!begin(k, at, true, out)) return false;
    if (!(share > 0 && share <= 1))
        return heed_fail(
            k->c, HEED_USAGE,
            "share of masked tokens is out of range: expected above 0 and at most 1, found %g",
            share);
    uint64_t seed = heed_seed(k->c);
    heed_random masks = heed_random_at(seed, "mask", at.index, 0);
    for (size_t row = 0; row < (size_t)out->rows; row++) {
        uint64_t of_step = at.micro * (uint64_t)at.rows + row; /* however the step is divided */
        uint64_t index = of_step * (uint64_t)k->len * 3;
        source s;
        if (at.val) { /* masks depend on the row, not on the size of the batch */
            uint64_t number = heed__eval_row(k->c, at, row, k->val.total);
            s = val_source(k, number, (size_t)k->content);
            masks = heed_random_at(seed, "mask.val", number, 0);
            index = 0;
        } else {
            s = train_source(k, heed__draw_of(at, row), (size_t)k->content);
        }
        int32_t *ids = k->ids + row * (size_t)k->len;
        ids[0] = k->k->special.cls;
        for (size_t i = 0; i < s.count; i++) ids[i + 1] = id_of(k, &s, i);
        ids[s.count + 1] = k->k->special.sep;
        pad_row(k, row, s.count + 2, out);
        choose(k, row, &s, share, &masks, index, out);
    }
    out->masked_positions = k->masked_positions;
    return true;
}

/* ---- counts ---- */

uint64_t heed__corpus_eval_batches(const heed__corpus *k, int rows) {
    return k ? heed__batches(k->val.total, rows) : 0;
}

uint64_t heed__corpus_epoch_batches(const heed__corpus *k, int rows) {
    return k ? heed__epoch(windows_of(k), rows) : 0;
}
