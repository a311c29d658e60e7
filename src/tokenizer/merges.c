/* merges.c -- trains wordpiece and bpe: merges of the most frequent pair of symbols of words, as in
 * Hugging Face's tokenizers, with a heap of pairs. Symbols are bytes for bpe; for wordpiece
 * characters, of which the later ones of a word carry ##. Sennrich et al. 2016, sec. 3.2. */
#include "text/text.h"
#include "tokenizer/pipeline.h"

#include <string.h>

enum { MIN_COUNT = 2, ALPHABET = 1000 };

typedef struct { /* word numbers, ascending in runs */
    uint32_t *of;
    size_t count, capacity;
} places;

typedef struct {
    int32_t a, b;
    int64_t count;
    places fresh; /* words that gained this pair since it was last put into the heap */
    bool touched;
} pair;

typedef struct { /* a heap entry with the pair's count when it was inserted */
    uint32_t pair;
    int64_t count;
    places where;
} candidate;

typedef struct {
    heed_ctx *c;
    bool bytes;         /* symbols are bytes */
    heed__names pieces; /* special tokens, characters, ##characters, merges */
    int32_t byte_ids[256];
    heed__names *made; /* the merges in their order, as pairs of numbers of pieces; or NULL */
    int32_t *symbols;  /* of all words, concatenated */
    uint32_t *length;  /* symbols left of each word */
    size_t *start;
    const uint64_t *counts; /* of the words */
    size_t words;
    pair *pairs; /* by the number of (a, b) in keys */
    size_t pair_capacity;
    heed__names keys;
    candidate *heap;
    size_t heap_count, heap_capacity;
    uint32_t *touched; /* pairs with fresh places */
    size_t touched_count, touched_capacity;
} trainer;

/* ---- pairs ---- */

static pair *pair_of(trainer *t, int32_t a, int32_t b) {
    int32_t key[2] = {a, b}, number = heed__names_add(&t->keys, (const char *)key, sizeof key);
    if (number < 0 ||
        !heed__grow(t->c, &t->pairs, &t->pair_capacity, (size_t)number + 1, sizeof *t->pairs))
        return NULL;
    t->pairs[number].a = a;
    t->pairs[number].b = b;
    return &t->pairs[number];
}

/* The pair (a, b) was added to the word (by > 0) or removed from it. */
static bool change(trainer *t, int32_t a, int32_t b, int by, size_t word) {
    pair *p = pair_of(t, a, b);
    if (!p) return false;
    p->count += by * (int64_t)t->counts[word];
    if (by < 0) return true;
    if (!p->touched) {
        if (!heed__grow(t->c, &t->touched, &t->touched_capacity, t->touched_count + 1,
                        sizeof *t->touched))
            return false;
        t->touched[t->touched_count++] = (uint32_t)(p - t->pairs);
        p->touched = true;
    }
    places *f = &p->fresh;
    if (f->count && f->of[f->count - 1] == word) return true;
    if (!heed__grow(t->c, &f->of, &f->capacity, f->count + 1, sizeof *f->of)) return false;
    f->of[f->count++] = (uint32_t)word;
    return true;
}

/* ---- heap: highest count first, ties by lowest ids ---- */

static bool before(const trainer *t, const candidate *x, const candidate *y) {
    if (x->count != y->count) return x->count > y->count;
    const pair *p = &t->pairs[x->pair], *q = &t->pairs[y->pair];
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

/* There is space for it. */
static void push(trainer *t, candidate x) {
    size_t i = t->heap_count++;
    for (; i && before(t, &x, &t->heap[(i - 1) / 2]); i = (i - 1) / 2)
        t->heap[i] = t->heap[(i - 1) / 2];
    t->heap[i] = x;
}

static void sift_down(trainer *t) {
    candidate x = t->heap[0];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < t->heap_count; i = child) {
        if (child + 1 < t->heap_count && before(t, &t->heap[child + 1], &t->heap[child])) child++;
        if (!before(t, &t->heap[child], &x)) break;
        t->heap[i] = t->heap[child];
    }
    t->heap[i] = x;
}

/* Puts the pairs that words gained since the last call into the heap, with their new counts. */
static bool push_touched(trainer *t) {
    for (size_t i = 0; i < t->touched_count; i++) {
        pair *p = &t->pairs[t->touched[i]];
        if (!heed__grow(t->c, &t->heap, &t->heap_capacity, t->heap_count + 1, sizeof *t->heap))
            return false;
        push(t, (candidate){t->touched[i], p->count, p->fresh});
        p->fresh = (places){0};
        p->touched = false;
    }
    t->touched_count = 0;
    return true;
}

/* ---- merges ---- */

/* Replaces each (a, b) in the word by `joined` and updates the counts of the neighbouring pairs. */
static bool merge_in(trainer *t, size_t word, int32_t a, int32_t b, int32_t joined) {
    int32_t *s = t->symbols + t->start[word];
    uint32_t n = t->length[word], to = 0;
    bool good = true;
    for (uint32_t i = 0; good && i < n; to++) {
        if (s[i] != a || i + 1 >= n || s[i + 1] != b) {
            s[to] = s[i++];
            continue;
        }
        i += 2;
        if (to) good = change(t, s[to - 1], a, -1, word) && change(t, s[to - 1], joined, 1, word);
        if (good && i < n) good = change(t, b, s[i], -1, word) && change(t, joined, s[i], 1, word);
        s[to] = joined;
    }
    if (good) t->length[word] = to;
    return good;
}

static bool merge(trainer *t, const candidate *top) {
    int32_t a = t->pairs[top->pair].a, b = t->pairs[top->pair].b;
    char text[2 * HEED__TOKEN_BYTES]; /* "##a" and "##b" give "##ab" */
    size_t n = heed__names_length(&t->pieces, (size_t)a);
    const char *second = heed__names_text(&t->pieces, (size_t)b);
    if (!t->bytes && strncmp(second, "##", 2) == 0) second += 2;
    memcpy(text, heed__names_text(&t->pieces, (size_t)a), n);
    memcpy(text + n, second, strlen(second));
    n += strlen(second);
    if (n >= HEED__TOKEN_BYTES) return true; /* too long for a token: it stays two */
    int32_t both[2] = {a, b}, joined = heed__names_add(&t->pieces, text, n);
    if (joined < 0 || (t->made && heed__names_add(t->made, (const char *)both, sizeof both) < 0))
        return false;
    for (size_t i = 0; i < top->where.count; i++)
        if (!merge_in(t, top->where.of[i], a, b, joined)) return false;
    return push_touched(t);
}

static bool merge_all(trainer *t, size_t bound) {
    bool good = push_touched(t);
    while (good && t->heap_count && t->pieces.count < bound) {
        candidate top = t->heap[0];
        t->heap[0] = t->heap[--t->heap_count];
        if (t->heap_count) sift_down(t);
        int64_t now = t->pairs[top.pair].count;
        if (now != top.count) { /* stale: reinserted with the current count */
            top.count = now;
            push(t, top);
            continue;
        }
        bool done = top.count < MIN_COUNT;
        if (!done) good = merge(t, &top);
        heed__free(top.where.of);
        if (done) break;
    }
    return good;
}

/* ---- words to symbols ---- */

/* Counts the characters of all words, and those within one, which have a ## form, too. */
static bool count_letters(const trainer *t, const heed__counts *w, heed__counts *all,
                          heed__counts *later) {
    int32_t ch;
    for (size_t i = 0; i < t->words; i++) {
        const char *word = heed__names_text(&w->names, i);
        size_t n = heed__names_length(&w->names, i), first = n ? heed_utf8_read(word, n, &ch) : 0;
        if (!heed__count_letters(all, word, n, w->counts[i]) ||
            !heed__count_letters(later, word + first, n - first, w->counts[i]))
            return false;
    }
    return true;
}

/* Adds the most frequent characters, by code point; as many as fit together with their ## forms. As
 * in Hugging Face's, 1000 of them; Chinese needs more: up to half of the vocabulary, until all but
 * one in 2000 of the text are covered (the `character_coverage` of SentencePiece). */
static bool add_alphabet(trainer *t, const heed__counts *w, size_t bound) {
    heed__counts all = {.names.c = t->c}, later = {.names.c = t->c};
    heed__ranked *r = count_letters(t, w, &all, &later) ? heed__rank(&all, 1) : NULL;
    size_t count = 0, left = bound - t->pieces.count;
    uint64_t letters = 0, covered = 0;
    for (size_t i = 0; i < all.names.count; i++) letters += all.counts[i];
    for (; r && count < all.names.count; count++) {
        bool most = covered >= letters - letters / 2000;
        if (count >= ALPHABET && (most || 2 * count >= bound)) break;
        covered += r[count].count;
        size_t n = strlen(r[count].text);
        size_t forms = heed__names_look(&later.names, r[count].text, n) >= 0 ? 2 : 1;
        if (forms > left) break;
        left -= forms;
    }
    bool good = r != NULL;
    if (good) heed__rank_by_text(r, count);
    for (size_t i = 0; good && i < count; i++)
        good = heed__names_add(&t->pieces, r[i].text, strlen(r[i].text)) >= 0;
    heed__free(r);
    heed__counts_free(&all);
    heed__counts_free(&later);
    return good;
}

/* Adds the characters that stand for bytes, by code point. */
static bool add_bytes(trainer *t) {
    char text[4];
    for (int32_t c = 0; c < 512; c++)
        if (heed__char_byte(c) >= 0 &&
            heed__names_add(&t->pieces, text, heed_utf8_write(c, text)) < 0)
            return false;
    for (int i = 0; i < 256; i++)
        t->byte_ids[i] =
            heed__names_look(&t->pieces, text, heed_utf8_write(heed__byte_char(i), text));
    return true;
}

/* A word's characters that are in the alphabet, as symbols: the first plain, the others with ##. */
static bool spell(trainer *t, const char *s, size_t n, uint32_t *length, int32_t *out) {
    int32_t ch;
    for (size_t i = 0; t->bytes && i < n; i++) out[i] = t->byte_ids[(unsigned char)s[i]];
    if (t->bytes) *length = (uint32_t)n;
    if (t->bytes) return true;
    for (size_t at = 0; at < n;) {
        char later[6] = "##";
        size_t len = heed_utf8_read(s + at, n - at, &ch);
        int32_t id = heed__names_look(&t->pieces, s + at, len);
        if (id >= 0 && at) {
            memcpy(later + 2, s + at, len);
            id = heed__names_add(&t->pieces, later, len + 2);
            if (id < 0) return false;
        }
        if (id >= 0) out[(*length)++] = id;
        at += len;
    }
    return true;
}

static bool spell_all(trainer *t, const heed__counts *w) {
    t->symbols = heed__alloc_array(t->c, w->names.used, sizeof *t->symbols);
    t->length = heed__alloc_array(t->c, t->words, sizeof *t->length);
    t->start = heed__alloc_array(t->c, t->words, sizeof *t->start);
    if (!t->symbols || !t->length || !t->start) return false;
    for (size_t i = 0, used = 0; i < t->words; used += t->length[i++]) {
        int32_t *s = t->symbols + used;
        t->start[i] = used;
        if (!spell(t, heed__names_text(&w->names, i), heed__names_length(&w->names, i),
                   &t->length[i], s))
            return false;
        for (uint32_t j = 0; j + 1 < t->length[i]; j++)
            if (!change(t, s[j], s[j + 1], 1, i)) return false;
    }
    return true;
}

bool heed__merges_train(heed_tokenizer *k, const heed__counts *w, size_t bound,
                        heed__names *merges) {
    trainer t = {.c = k->c,
                 .bytes = k->kind == HEED__BPE,
                 .made = merges,
                 .counts = w->counts,
                 .words = w->names.count,
                 .pieces.c = k->c,
                 .keys.c = k->c};
    bool good = true;
    for (size_t i = 0; good && i < k->names.count; i++)
        good = heed__names_add(&t.pieces, heed__names_text(&k->names, i),
                               heed__names_length(&k->names, i)) >= 0;
    good = good && (t.bytes ? add_bytes(&t) : add_alphabet(&t, w, bound)) && spell_all(&t, w) &&
           merge_all(&t, bound);
    for (size_t i = k->names.count; good && i < t.pieces.count; i++)
        good = heed__tokenizer_add(k, heed__names_text(&t.pieces, i),
                                   heed__names_length(&t.pieces, i));
    for (size_t i = 0; i < t.pair_capacity; i++) heed__free(t.pairs[i].fresh.of);
    for (size_t i = 0; i < t.heap_count; i++) heed__free(t.heap[i].where.of);
    heed__names_free(&t.pieces);
    heed__names_free(&t.keys);
    void *rest[] = {t.symbols, t.length, t.start, t.pairs, t.heap, t.touched};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) heed__free(rest[i]);
    return good;
}
