/* split.c -- divides a corpus into its training and validation parts, and counts their contents. */
#include "data/corpus/corpus.h"
#include "data/corpus/words.h"
#include "text/text.h"

#include <math.h>
#include <string.h>

/* Tokens in a training window of blocks: causal ones have one more, the last label. */
static size_t window(const heed_corpus *k) { return (size_t)k->content + (k->a.bracket ? 0 : 1); }

static size_t windows_in(const heed_corpus *k, size_t units) {
    if (k->a.packing == HEED_LINES) return units;
    return units < window(k) ? 0 : units - window(k) + 1;
}

/* Evaluation rows: causal ones predict every token but the first, masked ones read each once. */
static size_t rows_in(const heed_corpus *k, size_t units) {
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

static void part_total(const heed_corpus *k, heed__part *p,
                       size_t (*of)(const heed_corpus *k, size_t units)) {
    for (size_t i = 0; i < p->count; i++) {
        p->spans[i].before = p->total;
        p->total += of(k, p->spans[i].end - p->spans[i].begin);
    }
}

/* ---- the cuts ---- */

/* The hint is the largest block that fits, but not for so few tokens that nothing is learned. */
static bool too_short(heed_corpus *k, const char *path, size_t found, size_t expected, int parts) {
    enum { LEAST = 20 };
    char hint[48] = "a longer text";
    size_t block = found * window(k) / expected + (k->a.bracket ? 2 : 0);
    if (!k->a.bracket && block) block--;
    if (k->a.packing == HEED_LINES)
        return heed_fail(
            k->c, HEED_DATA,
            "text is too short: %s: expected at least %zu lines%s, found %zu; hint: %s", path,
            expected, parts > 1 ? ", of which some validate" : "", found,
            found == 1 ? "`packing = blocks`" : hint);
    if (found >= LEAST) snprintf(hint, sizeof hint, "`block = %zu`", block);
    return heed_fail(k->c, HEED_DATA,
                     "text is too short: %s: expected at least %zu tokens (%d x %zu for `block = "
                     "%d`), found %zu; hint: %s",
                     path, expected, parts, window(k), k->a.block, found, hint);
}

/* A seeded choice of some among equal pieces: Knuth, vol. 2, 3.4.2, algorithm S. */
static bool cut_random(heed_corpus *k, const char *path) {
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

bool heed__corpus_split(heed_corpus *k, const char *path) {
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
            k->c, HEED_DATA,
            "no text is left to validate: %s: expected some tokens; hint: a larger `val-split`",
            path);
    return true;
}

/* ---- counts of each part ---- */

typedef struct {
    heed_corpus *k;
    heed__counts val; /* lines of the validation part, by their hashes */
} census;

static bool is_blank(const char *s, size_t n) {
    int32_t c;
    for (size_t at = 0; at < n;) {
        at += heed_utf8_read(s + at, n - at, &c);
        if (!heed__is_space(c)) return false;
    }
    return true;
}

static bool visit(census *s, bool val, uint64_t hash) {
    heed_corpus_info *f = &s->k->info;
    const char *key = (const char *)&hash;
    *(val ? &f->val_lines : &f->lines) += 1;
    if (val) return heed__counts_add(&s->val, key, sizeof hash, 1);
    int32_t same = heed__names_look(&s->val.names, key, sizeof hash);
    if (same >= 0) {
        f->overlap += s->val.counts[same];
        s->val.counts[same] = 0;
    }
    return true;
}

static bool visit_lines(census *s, bool val, const char *text, size_t n) {
    for (size_t at = 0, length; at < n; at += length + 1) {
        length = heed__line_length(text + at, n - at);
        if (!is_blank(text + at, length) && !visit(s, val, heed__hash64(text + at, length, 0)))
            return false;
    }
    return true;
}

/* The byte of the first file where a token begins. */
static size_t byte_of(const heed__stream *s, size_t token) {
    size_t chunk = token >> HEED__CHUNK_BITS, byte = s->first_byte[chunk];
    for (size_t i = chunk << HEED__CHUNK_BITS; i < token; i++)
        byte += heed__token_bytes(heed__token_at(s, i));
    return byte;
}

/* Visits the lines of the first file that a part covers, and sums its bytes. */
static bool visit_part(census *s, bool val, const char *text, size_t n) {
    heed_corpus *k = s->k;
    const heed__part *p = val ? &k->val : &k->train;
    bool good = true;
    for (size_t i = 0; good && i < p->count; i++) {
        size_t b = p->spans[i].begin, e = p->spans[i].end;
        size_t from = b ? byte_of(&k->stream, heed__unit_token(k, b)) : 0;
        size_t to = e < k->own_units ? byte_of(&k->stream, heed__unit_token(k, e)) : n;
        if (to > n) to = n;
        if (from > to) from = to;
        *(val ? &k->info.val_bytes : &k->info.bytes) += to - from;
        good = visit_lines(s, val, text + from, to - from);
    }
    return good;
}

static void count_tokens(const heed_corpus *k, const heed__part *p, size_t *tokens,
                         size_t *unknown) {
    for (size_t i = 0; i < p->count; i++) {
        size_t at = heed__unit_token(k, p->spans[i].begin);
        size_t end = heed__unit_token(k, p->spans[i].end);
        *tokens += end - at;
        for (; at < end; at++)
            *unknown += heed__token_id(heed__token_at(&k->stream, at)) == k->k->special.unk;
    }
}

bool heed__corpus_count(heed_corpus *k, const char *text, size_t n, const char *val, size_t val_n) {
    heed_corpus_info *f = &k->info;
    census s = {.k = k, .val.names.c = k->c};
    bool good = true;
    count_tokens(k, &k->train, &f->tokens, &f->unknown);
    bool split = k->a.val_split > 0 && !k->a.eval;
    if (val || split) count_tokens(k, &k->val, &f->val_tokens, &f->val_unknown);
    if (val) {
        f->val_bytes = val_n;
        good = visit_lines(&s, true, val, val_n);
    } else if (split) {
        good = visit_part(&s, true, text, n);
    }
    good = good && visit_part(&s, false, text, n);
    heed__counts_free(&s.val);
    return good;
}
