/* pairs_encode.c -- lines to tokens, ended with [SEP]; a tag is at its word's first token. Labelled
 * texts longer than the block are cut once the lengths of all are known. */
#include "data/kind.h"
#include "data/pair/pairs.h"

#include <string.h>

/* Receives the tokens of one side of a pair: keeps the first `most`, counts all. */
typedef struct {
    heed__sink sink;
    heed__pairs *k;
    heed__ids *out;
    int32_t unknown_id;
    size_t most, count, unknown;
    size_t end; /* end of the last kept token in the text */
} filler;

static bool push(heed__pairs *k, heed__ids *out, int32_t id) {
    if (!heed__grow(k->c, &out->ids, &out->capacity, out->count + 1, sizeof *out->ids))
        return false;
    out->ids[out->count++] = id;
    return true;
}

static bool put(heed__sink *sink, int32_t id, size_t begin, size_t end) {
    filler *f = (filler *)sink;
    (void)begin;
    f->unknown += id == f->unknown_id;
    if (f->count++ >= f->most) return true;
    f->end = end;
    return push(f->k, f->out, id);
}

enum { ANY_LENGTH = 1 << 30 };

static filler filler_of(heed__pairs *k, int side, const heed_tokenizer *t) {
    return (filler){.sink = {put},
                    .k = k,
                    .out = &k->stream[side],
                    .unknown_id = t->special.unk >= 0 ? t->special.unk : HEED__NO_LABEL,
                    .most = heed__pairs_decoded(k) ? (size_t)k->a.block - 1 : ANY_LENGTH};
}

/* Ends a side of p with [SEP]; records its place, and the longest one. */
static bool finish(filler *f, heed__pair *p, int side, int32_t sep) {
    int *longest = side == HEED__SOURCE ? &f->k->info.longest : &f->k->info.target_longest;
    int count = f->count < (size_t)INT32_MAX - 1 ? (int)f->count + 1 + f->k->a.bracket : INT32_MAX;
    if (count > *longest) *longest = count;
    if (!push(f->k, f->out, sep)) return false;
    p->count[side] = (int)(f->out->count - p->at[side]);
    return true;
}

static bool encode_text(heed__pairs *k, heed__pair *p, int side, const heed_tokenizer *t,
                        filler *f) {
    *f = filler_of(k, side, t);
    p->at[side] = f->out->count;
    return (!k->a.bracket || push(k, f->out, t->special.cls)) &&
           heed__encode(t, p->text[side].s, p->text[side].n, &f->sink) &&
           finish(f, p, side, t->special.sep);
}

static bool fill_labels(heed__pairs *k, const heed__pair *p, int32_t label) {
    heed__ids *labels = &k->stream[HEED__TARGET];
    size_t tokens = k->stream[HEED__SOURCE].count - p->at[HEED__SOURCE];
    for (; labels->count - p->at[HEED__TARGET] < tokens; label = HEED__NO_LABEL)
        if (!push(k, labels, label)) return false;
    return true;
}

static bool encode_tags(heed__pairs *k, heed__pair *p, filler *f) {
    heed__cut words = p->text[HEED__SOURCE], labels = p->text[HEED__TARGET], word, label;
    *f = filler_of(k, HEED__SOURCE, k->source);
    for (int side = 0; side < HEED__SIDES; side++) p->at[side] = k->stream[side].count;
    if (k->a.bracket &&
        (!push(k, f->out, k->source->special.cls) || !fill_labels(k, p, HEED__NO_LABEL)))
        return false;
    while (heed__next_word(&words, &word) && heed__next_word(&labels, &label)) {
        size_t before = f->count;
        if (!heed__encode(k->source, word.s, word.n, &f->sink)) return false;
        /* A word without tokens becomes [UNK], so that its label has a place. */
        if (f->count == before && !put(&f->sink, k->source->special.unk, 0, 0)) return false;
        if (!fill_labels(k, p, heed__names_look(&k->labels, label.s, label.n))) return false;
    }
    if (!finish(f, p, HEED__SOURCE, k->source->special.sep)) return false;
    p->count[HEED__TARGET] = p->count[HEED__SOURCE];
    return fill_labels(k, p, HEED__NO_LABEL);
}

static bool encode_source(heed__pairs *k, heed__pair *p, filler *f) {
    return k->a.kind == HEED_TARGET_CAPTIONS || encode_text(k, p, HEED__SOURCE, k->source, f);
}

static bool encode_target(heed__pairs *k, heed__pair *p, filler *f) {
    heed__cut label = p->text[HEED__TARGET];
    if (heed__pairs_decoded(k)) {
        bool ok = encode_text(k, p, HEED__TARGET, k->target, f);
        p->bytes = f->count > f->most ? f->end : label.n;
        return ok;
    }
    p->at[HEED__TARGET] = k->stream[HEED__TARGET].count;
    p->count[HEED__TARGET] = 1;
    return push(k, &k->stream[HEED__TARGET], heed__names_look(&k->labels, label.s, label.n));
}

/* Whether a side that is read as tokens has the text of a special one. */
static bool finds_special(const heed_tokenizer *t, const heed__pair *p, int side) {
    return t && heed__finds_special(t, p->text[side].s, p->text[side].n);
}

static bool is_evaluated(const heed__pairs *k, const heed__pair *p) {
    return !p->trains || !k->has_val;
}

/* A truncated translation would be a wrong example. */
static void count_pair(heed__pairs *k, heed__pair *p, const filler f[HEED__SIDES]) {
    heed__pairs_info *i = &k->info;
    bool longer = f[HEED__SOURCE].count > f[HEED__SOURCE].most ||
                  f[HEED__TARGET].count > f[HEED__TARGET].most;
    bool left = longer && p->trains && heed__pairs_decoded(k);
    i->left_out += left;
    i->cut.texts += longer && (is_evaluated(k, p) || !left);
    if (!p->trains) {
        i->val_target_unknown += f[HEED__TARGET].unknown;
        i->val_target_tokens += f[HEED__TARGET].count;
    }
    p->trains = p->trains && !left;
    if (!p->trains) return;
    i->unknown += f[HEED__SOURCE].unknown;
    i->tokens += f[HEED__SOURCE].count;
    i->target_unknown += f[HEED__TARGET].unknown;
    i->target_tokens += f[HEED__TARGET].count;
}

/* ---- labelled texts that are longer than the block ---- */

/* Counts the words with a label, of tags, or else the tokens of the text from `at` to `end`. */
static size_t count_units(const heed__pairs *k, const heed__pair *p, int at, int end) {
    const int32_t *label = k->stream[HEED__TARGET].ids + p->at[HEED__TARGET];
    size_t count = 0;
    if (k->a.kind != HEED_TARGET_TAGS) return (size_t)(end - at);
    for (; at < end; at++) count += label[at] != HEED__NO_LABEL;
    return count;
}

static void count_cut(heed__pairs *k, const heed__pair *p, int front, int dropped) {
    heed__pairs_cut *counts[] = {&k->info.cut, is_evaluated(k, p) ? &k->info.val_cut : NULL};
    for (int i = 0; i < 2 && counts[i]; i++) {
        counts[i]->texts += dropped > 0;
        counts[i]->unread += count_units(k, p, front, front + dropped);
        counts[i]->units += count_units(k, p, k->a.bracket, p->count[HEED__SOURCE] - 1);
    }
}

/* Removes from each text what the block does not hold; the tokens of the next ones move up. */
static void cut_texts(heed__pairs *k) {
    int sides = k->a.kind == HEED_TARGET_TAGS ? 2 : 1; /* tags are parallel to the tokens */
    size_t to = 0;
    for (size_t i = 0; i < k->count; i++) {
        heed__pair *p = &k->pairs[i];
        int all = p->count[HEED__SOURCE], dropped = all > k->a.block ? all - k->a.block : 0;
        int front =
            k->a.bracket + (int)heed__front(k->a.truncate, (size_t)(k->a.block - 1 - k->a.bracket));
        if (!dropped) front = 0;
        size_t from = p->at[HEED__SOURCE], kept = (size_t)(all - dropped), first = (size_t)front;
        count_cut(k, p, front, dropped);
        for (int side = 0; side < sides; side++) {
            int32_t *ids = k->stream[side].ids;
            memmove(ids + to, ids + from, first * sizeof *ids);
            memmove(ids + to + first, ids + from + first + (size_t)dropped,
                    (kept - first) * sizeof *ids);
            p->at[side] = to;
            p->count[side] = (int)kept;
        }
        to += kept;
    }
    for (int side = 0; side < sides; side++) k->stream[side].count = to;
}

/* The longest text in multiples of 8, from 64 to 512: attention takes time in the square of it. */
static int chosen_block(const heed__pairs *k) {
    enum { LEAST = 64, MOST = 512 };
    int longest = k->info.longest > MOST ? MOST : (k->info.longest + 7) / 8 * 8;
    return longest < LEAST ? LEAST : longest;
}

static bool tokenizer_fits(heed__pairs *k, const heed_tokenizer *t) {
    heed_specials s = t->special;
    return (s.pad >= 0 && s.cls >= 0 && s.sep >= 0) ||
           heed_fail(k->c, HEED_USAGE,
                     "tokenizer lacks special tokens: pairs need [PAD] [CLS] [SEP], but this %s "
                     "tokenizer lacks some; hint: train it with specials",
                     heed_tokenizer_kind(t));
}

bool heed__pairs_nothing_to_train(const heed__pairs *k) {
    int most = k->info.longest > k->info.target_longest ? k->info.longest : k->info.target_longest;
    return heed_fail(k->c, HEED_DATA,
                     "no pair is left to train on: expected one of at most %d tokens on each side, "
                     "found %zu longer ones; hint: `block = %d`",
                     k->a.block, k->info.left_out, most);
}

/* Removes pairs that are too long from the training part. */
static bool remove_long(heed__pairs *k) {
    size_t kept = 0, before = k->info.pairs;
    for (size_t i = 0; i < before; i++)
        if (k->pairs[k->train[i]].trains) k->train[kept++] = k->train[i];
    k->info.pairs = kept;
    return kept || !before || !k->has_val || heed__pairs_nothing_to_train(k);
}

/* Counts the labels of the training part, then those of the validation part that it lacks. */
static bool count_labels(heed__pairs *k) {
    heed__pairs_info *f = &k->info;
    k->counts = heed__alloc_array(k->c, (size_t)f->classes, sizeof *k->counts);
    for (size_t i = 0; k->counts && i < f->pairs + f->val_pairs; i++) {
        bool trains = i < f->pairs;
        const heed__pair *p = &k->pairs[trains ? k->train[i] : k->val[i - f->pairs]];
        const int32_t *label = k->stream[HEED__TARGET].ids + p->at[HEED__TARGET];
        for (int at = 0; at < p->count[HEED__TARGET]; at++) {
            if (label[at] < 0) continue;
            k->counts[label[at]] += trains;
            if (!k->counts[label[at]] && !f->untaught++) f->untaught_label = f->labels[label[at]];
        }
    }
    return k->counts != NULL;
}

bool heed__pairs_encode(heed__pairs *k, const heed_tokenizer *source,
                        const heed_tokenizer *target) {
    if (!k || (!source && !target) || heed__stopped(k->c)) return false;
    if (heed__pairs_decoded(k) != (target != NULL))
        return heed_fail(k->c, HEED_USAGE, "pairs of %s: expected %s tokenizer of the target",
                         heed__pairs_form(k->a.kind), heed__pairs_decoded(k) ? "a" : "no");
    if ((k->a.kind == HEED_TARGET_CAPTIONS) != (source == NULL))
        return heed_fail(k->c, HEED_USAGE, "pairs of %s: expected %s tokenizer of the source",
                         heed__pairs_form(k->a.kind), source ? "no" : "a");
    if (k->encoded) return heed_fail(k->c, HEED_USAGE, "pairs are tokens already");
    if ((source && !tokenizer_fits(k, source)) || (target && !tokenizer_fits(k, target)))
        return false;
    k->encoded = true;
    k->source = source;
    k->target = target;
    for (size_t i = 0; i < k->count; i++) {
        heed__pair *p = &k->pairs[i];
        filler f[HEED__SIDES] = {{.k = k}, {.k = k}};
        bool ok = k->a.kind == HEED_TARGET_TAGS ? encode_tags(k, p, &f[HEED__SOURCE])
                                                : encode_source(k, p, &f[HEED__SOURCE]) &&
                                                      encode_target(k, p, &f[HEED__TARGET]);
        if (!ok) return false;
        k->info.special_lines +=
            finds_special(source, p, HEED__SOURCE) || finds_special(target, p, HEED__TARGET);
        count_pair(k, p, f);
    }
    if (!heed__pairs_decoded(k)) {
        if (!k->a.block) k->a.block = chosen_block(k);
        cut_texts(k);
    }
    k->info.block = k->a.block;
    return remove_long(k) && (!k->info.classes || count_labels(k));
}

size_t heed__pairs_altered(const heed__pairs *k, bool val, heed_text *out) {
    size_t altered = 0, count = !k || !k->target ? 0 : val ? k->info.val_pairs : k->info.pairs;
    heed_tokens tokens = {.c = k ? k->c : NULL};
    heed_text text = {.c = tokens.c};
    for (size_t i = 0; i < count && !heed__stopped(k->c); i++) {
        heed__cut t = k->pairs[(val ? k->val : k->train)[i]].text[HEED__TARGET];
        tokens.count = text.n = 0;
        if (!heed_encode_text(k->target, t.s, t.n, &tokens) ||
            !heed_decode(k->target, tokens.ids, tokens.count, &text))
            break;
        altered += text.n != t.n || memcmp(text.s, t.s, t.n) != 0;
    }
    heed_tokens_free(&tokens);
    heed_text_free(&text);
    char n1[32], n2[32];
    if (altered && out)
        heed_text_add(out,
                      "%s of %s target%s cannot be matched exactly: the tokenizer does not keep "
                      "spaces, marks and words as they are written",
                      heed_format_count(n1, altered), heed_format_count(n2, count),
                      count == 1 ? "" : "s");
    return altered;
}

size_t heed__pairs_count(const heed__pairs *k, int label) {
    size_t sum = 0;
    if (!k || !k->counts || label >= k->info.classes) return 0;
    for (int i = 0; i < k->info.classes; i++)
        if (label < 0 || i == label) sum += k->counts[i];
    return sum;
}

static size_t count_of(const void *k, int label) { return heed__pairs_count(k, label); }

const heed_real *heed__pairs_balance(heed__pairs *k) {
    if (!k || heed__stopped(k->c)) return NULL;
    if (!k->counts) {
        heed_fail(
            k->c, HEED_USAGE,
            "pairs cannot be balanced: expected labels that are encoded (heed__pairs_encode)");
        return NULL;
    }
    if (!k->weights) k->weights = heed__balance(k->c, count_of, k, k->info.classes);
    return k->weights;
}
