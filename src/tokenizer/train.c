/* train.c -- makes vocabularies: counts the letters or words of a text in memory or in a file,
 * which is read by several threads, and takes the most frequent ones; of pieces of words, merges.
 */
#include "tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

/* ---- counts ---- */

typedef struct {
    uint64_t count;
    const char *text;
} ranked;

static int by_text(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return strcmp(x->text, y->text);
}

static int by_count(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return by_text(a, b);
}

/* Those that were counted at least `least` times, the most frequent first, ties in bytewise order,
 * ended by a NULL text; free with heed__free. */
static ranked *rank(const heed__counts *w, uint64_t least) {
    size_t count = 0;
    ranked *r = heed__alloc_array(w->names.c, w->names.count + 1, sizeof *r);
    if (!r) return NULL;
    for (size_t i = 0; i < w->names.count; i++)
        if (w->counts[i] >= least)
            r[count++] = (ranked){w->counts[i], heed__names_text(&w->names, i)};
    qsort(r, count, sizeof *r, by_count);
    return r;
}

bool heed__counts_add(heed__counts *w, const char *s, size_t n, uint64_t times) {
    int32_t i = heed__names_add(&w->names, s, n);
    if (i < 0 ||
        !heed__grow(w->names.c, &w->counts, &w->capacity, (size_t)i + 1, sizeof *w->counts))
        return false;
    w->counts[i] += times;
    return true;
}

bool heed__count_letters(heed__counts *w, const char *text, size_t n, uint64_t times) {
    int32_t c;
    for (size_t at = 0; at < n;) {
        at += heed_utf8_read(text + at, n - at, &c);
        if (c < 0) continue;
        uint64_t **page = &w->letters[c / HEED__LETTER_PAGE];
        if (!*page && !(*page = heed__alloc_array(w->names.c, HEED__LETTER_PAGE, sizeof **page)))
            return false;
        (*page)[c % HEED__LETTER_PAGE] += times;
        for (uint64_t *ascii = w->letters[0]; ascii && at < n; at++) {
            unsigned char b = (unsigned char)text[at];
            if (b >= 128) break;
            ascii[b] += times;
        }
    }
    return true;
}

bool heed__letters_end(heed__counts *w, bool good) {
    char text[4];
    for (int32_t i = 0; i < HEED__LETTER_PAGES; i++) {
        uint64_t *page = w->letters[i];
        for (int32_t j = 0; good && page && j < HEED__LETTER_PAGE; j++)
            if (page[j])
                good = heed__counts_add(w, text, heed__utf8_write(i * HEED__LETTER_PAGE + j, text),
                                        page[j]);
        heed__free(page);
        w->letters[i] = NULL;
    }
    return good;
}

void heed__counts_free(heed__counts *w) {
    heed__names_free(&w->names);
    heed__free(w->counts);
    w->counts = NULL;
    w->capacity = 0;
}

enum { LIMIT = 1 << 20 }; /* of distinct words */

/* Bounds the memory for text with ever new words: keeps the words that occurred at least twice or,
 * if that frees too little, only the most frequent half of the limit. */
static bool forget_rare(heed__counts *w) {
    heed__counts fewer = {.names.c = w->names.c};
    bool good = true;
    ranked *r = rank(w, 2);
    for (size_t i = 0; r && good && i < LIMIT / 2 && r[i].text; i++)
        good = heed__counts_add(&fewer, r[i].text, strlen(r[i].text), r[i].count);
    if (!r) return false;
    heed__free(r);
    heed__counts_free(w);
    *w = fewer;
    return good;
}

bool heed__count_word(heed__counts *out, const char *word, size_t n) {
    return heed__counts_add(out, word, n, 1) && (out->names.count < LIMIT || forget_rare(out));
}

typedef struct {
    heed__passage passage;
    heed__counts found;
} worker;

typedef struct {
    heed__reading reading;
    const heed_tokenizer *k;
    heed__counts *out;
    size_t bytes;
} counting;

static bool words_of(heed__reading *r, heed__passage *p) {
    heed__counts *found = &((worker *)(void *)p)->found;
    heed__names_clear(&found->names);
    if (found->counts) memset(found->counts, 0, found->capacity * sizeof *found->counts);
    found->names.c = r->c;
    return heed__count_words(((counting *)r)->k, p->text, p->n, found);
}

/* As if all words were counted one by one: near the limit they are. */
static bool join_words(heed__reading *r, heed__passage *p) {
    counting *all = (counting *)r;
    const heed__counts *found = &((worker *)(void *)p)->found;
    all->bytes += p->n;
    if (all->out->names.count + found->names.count >= LIMIT)
        return heed__count_words(all->k, p->text, p->n, all->out);
    for (size_t i = 0; i < found->names.count; i++)
        if (!heed__counts_add(all->out, heed__names_text(&found->names, i),
                              heed__names_length(&found->names, i), found->counts[i]))
            return false;
    return true;
}

static bool end_words(heed__reading *r, heed__passage *p) {
    (void)r;
    heed__counts_free(&((worker *)(void *)p)->found);
    return true;
}

/* Counts the words of a text as k divides it: for characters these. */
static bool count(const heed__source *s, const heed_tokenizer *k, heed__counts *out) {
    counting r = {.reading = {.c = k->c,
                              .path = s->path,
                              .cut = heed__cut_of(k),
                              .worker_size = sizeof(worker),
                              .watch = s->watch,
                              .work = words_of,
                              .join = join_words,
                              .end = end_words},
                  .k = k,
                  .out = out,
                  .bytes = s->n};
    return (s->path ? heed__read_text(&r.reading) : heed__count_words(k, s->text, s->n, out)) &&
           (out->names.count || k->kind == HEED__CHAR ||
            (!heed__text_refuse_blank(k->c, s->path, s->text, s->n) &&
             heed_fail(k->c, HEED_DATA,
                       "text holds no word of at most %d characters: expected at least one in %zu "
                       "bytes; hint: `tokenizer = char`",
                       HEED__WORD_CHARS, r.bytes)));
}

/* ---- merges of the most frequent pair of symbols of words, as in Hugging Face's tokenizers, with
 * a heap of pairs. Symbols are bytes for bpe; for wordpiece characters, of which the later ones of
 * a word carry ##. Sennrich et al. 2016, sec. 3.2. ---- */

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
    heed_tokenizer *k;
    heed__names *pieces; /* its tokens: special ones, characters, ##characters, merges */
    int32_t byte_ids[256];
    int32_t *symbols; /* of all words, concatenated */
    uint32_t *length; /* symbols left of each word */
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
    size_t n = heed__names_length(t->pieces, (size_t)a);
    const char *second = heed__names_text(t->pieces, (size_t)b);
    if (!t->k->bytes && strncmp(second, "##", 2) == 0) second += 2;
    memcpy(text, heed__names_text(t->pieces, (size_t)a), n);
    memcpy(text + n, second, strlen(second));
    n += strlen(second);
    if (n >= HEED__TOKEN_BYTES) return true; /* too long for a token: it stays two */
    int32_t joined = heed__names_add(t->pieces, text, n);
    if (joined < 0) return false;
    if (t->k->bytes && !heed__merge_add(t->k, a, b, joined) && heed__stopped(t->c)) return false;
    for (size_t i = 0; i < top->where.count; i++)
        if (!merge_in(t, top->where.of[i], a, b, joined)) return false;
    return push_touched(t);
}

static bool merge_all(trainer *t, size_t bound) {
    bool good = push_touched(t);
    while (good && t->heap_count && t->pieces->count < bound) {
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
    bool good = true;
    for (size_t i = 0; good && i < t->words; i++) {
        const char *word = heed__names_text(&w->names, i);
        size_t n = heed__names_length(&w->names, i), first = n ? heed_utf8_read(word, n, &ch) : 0;
        good = heed__count_letters(all, word, n, w->counts[i]) &&
               heed__count_letters(later, word + first, n - first, w->counts[i]);
    }
    good = heed__letters_end(all, good);
    return heed__letters_end(later, good);
}

/* Adds the most frequent characters, by code point; as many as fit together with their ## forms. As
 * in Hugging Face's, 1000 of them; Chinese needs more: up to half of the vocabulary, until all but
 * one in 2000 of the text are covered (the `character_coverage` of SentencePiece). */
static bool add_alphabet(trainer *t, const heed__counts *w, size_t bound) {
    heed__counts all = {.names.c = t->c}, later = {.names.c = t->c};
    ranked *r = count_letters(t, w, &all, &later) ? rank(&all, 1) : NULL;
    size_t count = 0, left = bound - t->pieces->count;
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
    if (good) qsort(r, count, sizeof *r, by_text);
    for (size_t i = 0; good && i < count; i++)
        good = heed__names_add(t->pieces, r[i].text, strlen(r[i].text)) >= 0;
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
            heed__names_add(t->pieces, text, heed__utf8_write(c, text)) < 0)
            return false;
    for (int i = 0; i < 256; i++)
        t->byte_ids[i] =
            heed__names_look(t->pieces, text, heed__utf8_write(heed__byte_char(i), text));
    return true;
}

/* A word's characters that are in the alphabet, as symbols: the first plain, the others with ##. */
static bool spell(trainer *t, const char *s, size_t n, uint32_t *length, int32_t *out) {
    int32_t ch;
    for (size_t i = 0; t->k->bytes && i < n; i++) out[i] = t->byte_ids[(unsigned char)s[i]];
    if (t->k->bytes) *length = (uint32_t)n;
    if (t->k->bytes) return true;
    for (size_t at = 0; at < n;) {
        char later[6] = "##";
        size_t len = heed_utf8_read(s + at, n - at, &ch);
        int32_t id = heed__names_look(t->pieces, s + at, len);
        if (id >= 0 && at) {
            memcpy(later + 2, s + at, len);
            id = heed__names_add(t->pieces, later, len + 2);
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

/* Adds the pieces of a wordpiece or bpe vocabulary of at most `bound` tokens, and the merges of
 * bpe, to k's special tokens. */
static bool train_merges(heed_tokenizer *k, const heed__counts *w, size_t bound) {
    trainer t = {.c = k->c,
                 .k = k,
                 .pieces = &k->names,
                 .counts = w->counts,
                 .words = w->names.count,
                 .keys.c = k->c};
    bool good = (k->bytes ? add_bytes(&t) : add_alphabet(&t, w, bound)) && spell_all(&t, w) &&
                merge_all(&t, bound);
    for (size_t i = 0; i < t.pair_capacity; i++) heed__free(t.pairs[i].fresh.of);
    for (size_t i = 0; i < t.heap_count; i++) heed__free(t.heap[i].where.of);
    heed__names_free(&t.keys);
    void *rest[] = {t.symbols, t.length, t.start, t.pairs, t.heap, t.touched};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) heed__free(rest[i]);
    return good;
}

/* ---- all kinds ---- */

static bool add_text(heed_tokenizer *k, const char *text) {
    return heed__tokenizer_add(k, text, strlen(text));
}

/* Adds those special tokens that are missing. which: bits, in the order of their names. */
static bool add_specials(heed_tokenizer *k, unsigned which) {
    for (int i = 0; i < HEED__SPECIALS; i++) {
        const char *name = heed__special_names[i];
        if ((which >> i & 1) && heed__names_look(&k->names, name, strlen(name)) < 0 &&
            !add_text(k, name))
            return false;
    }
    return true;
}

/* Adds the first n of r that k lacks, as many as fit. */
static bool add_ranked(heed_tokenizer *k, const ranked *r, size_t n, size_t bound) {
    for (size_t i = 0; i < n && k->names.count < bound; i++)
        if (heed__names_look(&k->names, r[i].text, strlen(r[i].text)) < 0 &&
            !add_text(k, r[i].text))
            return false;
    return true;
}

/* Adds the letters or words of a text that k lacks, the most frequent ones up to `bound` tokens;
 * letters in the order of their code points. */
static bool add_frequent(heed_tokenizer *k, const heed__counts *found, size_t most, size_t bound) {
    ranked *r = rank(found, 1);
    size_t count = found->names.count < most ? found->names.count : most;
    if (r && k->kind == HEED__CHAR) qsort(r, count, sizeof *r, by_text);
    bool good = r && add_ranked(k, r, count, bound);
    heed__free(r);
    return good;
}

static bool add_bytes_of(heed_tokenizer *k) {
    char text[5] = "";
    bool good = true;
    for (int i = 0; good && i < 256; i++)
        good = heed__tokenizer_add(k, text, heed__utf8_write(heed__byte_char(i), text));
    return good;
}

/* Special tokens before and after the others, with or without the argument `specials`, as bits; and
 * the least number of others. */
static const struct {
    unsigned first[2], last[2];
    size_t least;
} recipes[] = {[HEED__CHAR] = {{0, 0}, {1u << HEED__UNK, 31}, 1},
               [HEED__BYTE] = {{0, 0}, {0, 31 ^ 1u << HEED__UNK}, 256},
               [HEED__WORD] = {{31, 31}, {0, 0}, 1},
               [HEED__WORDPIECE] = {{31, 31}, {0, 0}, 2},
               [HEED__BPE] = {{0, 31 ^ 1u << HEED__UNK}, {0, 0}, 256}};

static bool train(heed_tokenizer *k, const heed__source *text, size_t bound, bool specials) {
    unsigned first = recipes[k->kind].first[specials], last = recipes[k->kind].last[specials];
    bool ends = k->kind == HEED__BPE && !specials;
    size_t others = ends, least = recipes[k->kind].least;
    for (unsigned bits = first | last; bits; bits &= bits - 1) others++;
    if (bound < least + others)
        return heed_fail(k->c, HEED_USAGE,
                         "vocabulary is too small: a %s tokenizer needs at least %zu tokens, found "
                         "%zu; hint: `vocab = %zu`",
                         heed__kind_names[k->kind], least + others, bound, least + others);
    heed__counts found = {.names.c = k->c};
    bool good = add_specials(k, first) && (!ends || add_text(k, heed__end_of_text)) &&
                (k->kind == HEED__BYTE || count(text, k, &found));
    if (good && k->kind == HEED__BYTE)
        good = add_bytes_of(k);
    else if (good)
        good = k->kind >= HEED__WORDPIECE ? train_merges(k, &found, bound)
                                          : add_frequent(k, &found, bound - others, bound);
    heed__counts_free(&found);
    return good && add_specials(k, last) && heed__preset_finish(k, NULL);
}

heed_tokenizer *heed__tokenizer_train(heed_ctx *c, const heed__source *text,
                                      heed_tokenizer_args a) {
    const char *name = a.kind ? a.kind : "";
    int kind = heed__kind_find(name);
    char quoted[HEED_QUOTE];
    if (kind < 0)
        heed_fail(c, HEED_USAGE,
                  "unknown kind of tokenizer: expected char, byte, word, wordpiece or bpe, found "
                  "%s",
                  heed_quote(quoted, name, strlen(name)));
    else if (!text->path && (text->n == 0 || memchr(text->text, 0, text->n)))
        heed_fail(c, HEED_DATA, "text is %s: expected something to train a tokenizer on",
                  text->n ? "binary, as it has a NUL byte" : "empty");
    heed_tokenizer *k = heed__stopped(c) ? NULL : heed__preset_new(c, (heed__kind)kind, a.lower);
    size_t bound = a.vocab > 0 ? (size_t)a.vocab : kind >= HEED__WORDPIECE ? 8192 : HEED__VOCAB_MAX;
    if (k && train(k, text, bound < HEED__VOCAB_MAX ? bound : HEED__VOCAB_MAX, a.specials))
        return k;
    heed_tokenizer_free(k);
    return NULL;
}

heed_tokenizer *heed_tokenizer_train(heed_ctx *c, const char *text, size_t n,
                                     heed_tokenizer_args a) {
    if (heed__stopped(c) || !text) return NULL;
    return heed__tokenizer_train(c, &(heed__source){.text = text, .n = n}, a);
}

heed_tokenizer *heed__tokenizer_extend(const heed_tokenizer *k, const heed__source *text, int vocab,
                                       bool specials) {
    if (!k->preset)
        return heed__parse_tokenizer(k->c, "tokenizer.json", k->file.s, k->file.n, false);
    heed_tokenizer *copy = heed__preset_new(k->c, k->kind, k->lower);
    heed__counts found = {.names.c = k->c};
    bool good = copy != NULL;
    for (size_t i = 0; good && i < k->names.count; i++)
        good = heed__tokenizer_add(copy, heed__names_text(&k->names, i),
                                   heed__names_length(&k->names, i));
    if (good && k->kind == HEED__CHAR)
        good = count(text, copy, &found) &&
               add_frequent(copy, &found, SIZE_MAX, vocab > 0 ? (size_t)vocab : HEED__VOCAB_MAX);
    heed__counts_free(&found);
    if (good && add_specials(copy, specials ? recipes[k->kind].last[1] : 0) &&
        heed__preset_finish(copy, NULL))
        return copy;
    heed_tokenizer_free(copy);
    return NULL;
}
