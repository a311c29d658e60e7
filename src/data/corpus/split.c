/* split.c -- divides a corpus into its training and validation parts, and counts their contents. */
#include "data/corpus/corpus.h"
#include "tokenizer/reading.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Tokens in a training window of blocks: causal ones have one more, the last label. */
static size_t window(const heed__corpus *k) { return (size_t)k->content + (k->a.bracket ? 0 : 1); }

static size_t windows_in(const heed__corpus *k, size_t units) {
    if (k->a.packing == HEED_LINES) return units;
    return units < window(k) ? 0 : units - window(k) + 1;
}

/* Evaluation rows: causal ones predict every token but the first, masked ones read each once. */
static size_t rows_in(const heed__corpus *k, size_t units) {
    size_t content = (size_t)k->content;
    if (k->a.packing == HEED_LINES) return units;
    if (!k->a.bracket && units) units--;
    return (units + content - 1) / content;
}

/* Adds the units from begin to end, merged with a span that ends at begin. */
static void part_add(heed__part *p, size_t begin, size_t end) {
    if (p->count && p->spans[p->count - 1].end == begin)
        p->spans[p->count - 1].end = end;
    else if (begin < end)
        p->spans[p->count++] = (heed__span){begin, end, 0};
}

static void part_total(const heed__corpus *k, heed__part *p,
                       size_t (*of)(const heed__corpus *k, size_t units)) {
    for (size_t i = 0; i < p->count; i++) {
        p->spans[i].before = p->total;
        p->total += of(k, p->spans[i].end - p->spans[i].begin);
    }
}

/* ---- the cuts ---- */

/* The hint is the largest block that fits. */
static bool too_short(heed__corpus *k, const char *path, size_t found, size_t expected, int parts) {
    size_t least = k->a.bracket ? 3 : 2;
    char hint[48] = "a longer text";
    size_t block = found * window(k) / expected + (k->a.bracket ? 2 : 0);
    if (!k->a.bracket && block) block--;
    if (heed__text_refuse_blank(k->c, path, NULL, 0)) return false;
    if (k->a.packing == HEED_LINES)
        return heed_fail(
            k->c, HEED_DATA,
            "text is too short: %s: expected at least %zu lines%s, found %zu; hint: %s", path,
            expected, parts > 1 ? ", of which some validate" : "", found,
            found == 1 ? "`packing = blocks`" : hint);
    if (block >= least) snprintf(hint, sizeof hint, "`block = %zu`", block);
    return heed_fail(k->c, HEED_DATA,
                     "text is too short: %s: expected at least %zu tokens (%d x %zu for `block = "
                     "%d`), found %zu; hint: %s",
                     path, expected, parts, window(k), k->a.block, found, hint);
}

/* A seeded choice of some among equal pieces: Knuth, vol. 2, 3.4.2, algorithm S. */
static bool cut_random(heed__corpus *k, const char *path) {
    size_t n = k->own_units, need = k->a.packing == HEED_LINES ? 1 : window(k);
    size_t pieces = n / need < HEED__PIECES ? n / need : HEED__PIECES;
    if (pieces < 2) return too_short(k, path, n, 2 * need, 2);
    size_t wanted = (size_t)lround(k->a.val_split * (double)pieces);
    wanted = wanted < 1 ? 1 : wanted > pieces - 1 ? pieces - 1 : wanted;
    heed_random r = heed_random_at(heed_seed(k->c), "split", 0, 0);
    for (size_t i = 0; i < pieces; i++) {
        bool val = heed_random_below(&r, i, (uint32_t)(pieces - i)) < wanted;
        part_add(val ? &k->val : &k->train, n * i / pieces, n * (i + 1) / pieces);
        wanted -= val;
    }
    return true;
}

bool heed__corpus_split(heed__corpus *k, const char *path) {
    size_t n = k->own_units, all = heed__units(k);
    k->train.spans = heed__alloc_array(k->c, HEED__PIECES, sizeof *k->train.spans);
    k->val.spans = heed__alloc_array(k->c, HEED__PIECES, sizeof *k->val.spans);
    if (heed__stopped(k->c)) return false;
    if (all > n || k->a.val_split <= 0 || k->a.eval) {
        part_add(&k->train, 0, n);
        part_add(&k->val, all > n ? n : 0, all);
    } else if (k->a.tail) {
        size_t cut = (size_t)((double)n * (1 - k->a.val_split)); /* as nanoGPT cuts */
        part_add(&k->train, 0, cut);
        part_add(&k->val, cut, n);
    } else if (!cut_random(k, path)) {
        return false;
    }
    part_total(k, &k->train, windows_in);
    part_total(k, &k->val, rows_in);
    double share = all == n && k->a.tail ? 1 - k->a.val_split : 1;
    size_t least = k->a.packing == HEED_LINES ? 1 : window(k);
    if (!k->train.total && !k->a.eval)
        return too_short(k, path, n, (size_t)ceil((double)least / share), 1);
    if (!k->val.total && k->a.eval)
        return heed_fail(k->c, HEED_DATA,
                         "nothing to evaluate: %s: expected at least %d tokens, found %zu", path,
                         k->a.bracket ? 1 : 2, n);
    if (!k->val.total)
        return heed_fail(
            k->c, HEED_DATA, "no text is left to validate: %s: expected some tokens; hint: %s",
            all > n ? k->a.val_path : path, all > n ? "a longer text" : "a larger `val-split`");
    return true;
}
