/* model.c -- divides words into tokens by merges (byte-pair encoding: Sennrich et al. 2016,
 * sec. 3.2; over bytes: Radford et al. 2019, sec. 2.2), by longest match or as a whole, as Hugging
 * Face's models do. */
#include "tokenizer/tokenizer.h"

#include <stdio.h>
#include <string.h>

/* ---- bytes as characters: 33-126, 161-172 and 174-255 are themselves, others U+0100 on ---- */

static bool is_itself(int32_t c) {
    return (c >= 33 && c <= 126) || (c >= 161 && c <= 255 && c != 173);
}

int32_t heed__byte_char(int byte) {
    if (is_itself(byte)) return byte;
    return 256 + (byte < 33 ? byte : byte < 173 ? byte - 127 + 33 : 67);
}

int heed__char_byte(int32_t c) {
    if (c < 256) return is_itself(c) ? c : -1;
    c -= 256;
    return c < 33 ? c : c < 67 ? c - 33 + 127 : c == 67 ? 173 : -1;
}

bool heed__put_byte_chars(heed_text *out, const char *bytes, size_t n) {
    char text[4];
    for (size_t i = 0; i < n; i++)
        if (!heed_text_put(out, text,
                           heed_utf8_write(heed__byte_char((unsigned char)bytes[i]), text)))
            return false;
    return true;
}

bool heed__put_char_bytes(heed_text *out, const char *token, size_t n) {
    int32_t c;
    size_t start = out->n;
    for (size_t at = 0; at < n;) {
        at += heed_utf8_read(token + at, n - at, &c);
        int byte = heed__char_byte(c);
        if (byte < 0) {
            out->n = start;
            return heed_text_put(out, token, n);
        }
        if (!heed_text_put(out, &(char){(char)byte}, 1)) return false;
    }
    return true;
}

/* ---- merges ---- */

bool heed__merge_add(heed_tokenizer *k, int32_t a, int32_t b, int32_t joined) {
    int32_t pair[2] = {a, b};
    size_t before = k->merges.count;
    int32_t rank = heed__names_add(&k->merges, (const char *)pair, sizeof pair);
    if (rank < 0 || (size_t)rank < before ||
        !heed__grow(k->c, &k->joined, &k->joined_capacity, before + 1, sizeof *k->joined))
        return false;
    k->joined[rank] = joined;
    return true;
}

typedef struct {
    int32_t id, previous, next; /* -1: none */
    uint32_t bytes;             /* 0: it was merged into another */
} symbol;
typedef struct {
    int32_t rank, at;
} candidate;
typedef struct {
    const heed_tokenizer *k;
    symbol *symbols;
    candidate *heap; /* lowest rank first, then the first one in the word */
    size_t count;
} merging;

static bool comes_before(candidate x, candidate y) {
    return x.rank != y.rank ? x.rank < y.rank : x.at < y.at;
}

static int32_t rank_of(const merging *m, int32_t at) {
    const symbol *s = &m->symbols[at];
    if (at < 0 || s->next < 0) return -1;
    int32_t pair[2] = {s->id, m->symbols[s->next].id};
    return heed__names_look(&m->k->merges, (const char *)pair, sizeof pair);
}

static void offer(merging *m, int32_t at) {
    candidate x = {at < 0 ? -1 : rank_of(m, at), at};
    if (x.rank < 0) return;
    size_t i = m->count++;
    for (; i && comes_before(x, m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = x;
}

static candidate take(merging *m) {
    candidate top = m->heap[0], x = m->heap[--m->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < m->count; i = child) {
        if (child + 1 < m->count && comes_before(m->heap[child + 1], m->heap[child])) child++;
        if (!comes_before(m->heap[child], x)) break;
        m->heap[i] = m->heap[child];
    }
    m->heap[i] = x;
    return top;
}

/* Joins the symbol at `at` and the next one. */
static void join(merging *m, int32_t at, int32_t joined) {
    symbol *a = &m->symbols[at], *b = &m->symbols[a->next];
    a->id = joined;
    a->bytes += b->bytes;
    b->bytes = 0;
    a->next = b->next;
    if (a->next >= 0) m->symbols[a->next].previous = at;
    offer(m, a->previous);
    offer(m, at);
}

static void merge_all(merging *m, size_t n) {
    const int32_t *joined = m->k->joined;
    for (size_t i = 0; i < n; i++) offer(m, (int32_t)i);
    while (m->count) {
        candidate top = take(m);
        int32_t rank = m->symbols[top.at].bytes ? rank_of(m, top.at) : -1;
        if (rank >= 0 && joined[rank] == joined[top.rank]) join(m, top.at, joined[rank]);
    }
}

/* ---- a word to symbols ---- */

typedef struct {
    symbol *out;
    size_t count;
    uint32_t unknown; /* bytes of an unknown symbol that is not added yet */
    uint32_t skipped; /* bytes before the next symbol that have no token */
} spelling;

static void put_symbol(spelling *s, int32_t id, uint32_t bytes) {
    int32_t i = (int32_t)s->count++;
    s->out[i] = (symbol){id, i - 1, i + 1, bytes + s->skipped};
    s->skipped = 0;
}

static void put_unknown(const heed_tokenizer *k, spelling *s, uint32_t bytes) {
    if (k->unk < 0) {
        s->skipped += bytes;
    } else {
        if (s->unknown && !k->fuse_unk) {
            put_symbol(s, k->unk, s->unknown);
            s->unknown = 0;
        }
        s->unknown += bytes;
    }
}

int32_t heed__model_look(const heed_tokenizer *k, const char *s, size_t n) {
    int32_t id = heed__names_look(&k->names, s, n);
    return id < k->own ? id : -1;
}

/* The token of a character alone, with the prefix and suffix of its place. */
static int32_t token_of(const heed_tokenizer *k, const char *s, size_t n, bool first, bool last) {
    const char *before = first || !k->prefix ? "" : k->prefix;
    const char *after = last && k->suffix ? k->suffix : "";
    char coded[4];
    if (!*before && !*after && k->bytes) return k->byte_ids[(unsigned char)*s];
    if (!*before && !*after) return heed__model_look(k, s, n);
    if (k->bytes) {
        n = heed_utf8_write(heed__byte_char((unsigned char)*s), coded);
        s = coded;
    }
    char text[2 * HEED__TOKEN_BYTES + 8];
    int length = snprintf(text, sizeof text, "%s%.*s%s", before, (int)n, s, after);
    return heed__model_look(k, text, (size_t)length);
}

static bool falls_back(const heed_tokenizer *k, const char *s, size_t n, spelling *out) {
    if (!k->byte_fallback || k->bytes) return false;
    for (size_t i = 0; i < n; i++)
        if (k->byte_ids[(unsigned char)s[i]] < 0) return false;
    for (size_t i = 0; i < n; i++) put_symbol(out, k->byte_ids[(unsigned char)s[i]], 1);
    return true;
}

static size_t spell(const heed_tokenizer *k, const char *s, size_t n, symbol *symbols) {
    spelling out = {.out = symbols};
    int32_t c;
    for (size_t at = 0, length = 1; at < n; at += length) {
        if (!k->bytes) length = heed_utf8_read(s + at, n - at, &c);
        int32_t id = token_of(k, s + at, length, at == 0, at + length == n);
        if (id < 0 && falls_back(k, s + at, length, &out)) continue;
        if (id >= 0 && out.unknown) put_symbol(&out, k->unk, out.unknown), out.unknown = 0;
        if (id >= 0)
            put_symbol(&out, id, (uint32_t)length);
        else
            put_unknown(k, &out, (uint32_t)length);
    }
    if (out.unknown) put_symbol(&out, k->unk, out.unknown);
    if (out.count) symbols[out.count - 1].next = -1;
    return out.count;
}

static bool divide_bpe(const heed_tokenizer *k, const char *word, size_t n, heed__word_piece *out,
                       size_t *count) {
    enum { SHORT = 128 };
    symbol near[SHORT];
    candidate heap[3 * SHORT]; /* each symbol once, and two for each join */
    merging m = {k, near, heap, 0};
    if (n > INT32_MAX / 4) return heed_fail(k->c, HEED_DATA, "a word of 500 MB or more");
    if (n > SHORT) {
        m.symbols = heed__alloc_array(k->c, n, sizeof *m.symbols);
        m.heap = heed__alloc_array(k->c, n, 3 * sizeof *m.heap);
    }
    bool good = m.symbols && m.heap;
    if (good) {
        size_t symbols = spell(k, word, n, m.symbols);
        merge_all(&m, symbols);
        for (int32_t i = symbols ? 0 : -1; i >= 0; i = m.symbols[i].next)
            out[(*count)++] = (heed__word_piece){m.symbols[i].id, m.symbols[i].bytes};
    }
    if (n > SHORT) {
        heed__free(m.symbols);
        heed__free(m.heap);
    }
    return good;
}

/* ---- longest match, and whole words ---- */

/* The longest token that n bytes of a word begin with, after the prefix of later pieces; *length:
 * its bytes of the word. */
static int32_t longest_piece(const heed_tokenizer *k, const char *s, size_t n, bool later,
                             size_t *length) {
    const char *prefix = later && k->prefix ? k->prefix : "";
    size_t before = strlen(prefix), most = k->longest > before ? k->longest - before : 0;
    char text[2 * HEED__TOKEN_BYTES];
    uint64_t hash[HEED__TOKEN_BYTES]; /* of the text up to each byte */
    if (n > most) n = most;
    memcpy(text, prefix, before);
    memcpy(text + before, s, n);
    hash[0] = heed__hash64(prefix, before, 0);
    for (size_t i = 0; i < n; i++) hash[i + 1] = heed__hash64(s + i, 1, hash[i]);
    for (*length = n; *length; --*length) {
        if (*length < n && ((unsigned char)s[*length] & 0xC0) == 0x80) continue;
        int32_t id = heed__names_find(&k->names, text, before + *length, hash[*length]);
        if (id >= 0 && id < k->own) return id;
    }
    return -1;
}

/* False: a part has no token, and so the word is unknown. */
static bool divide_longest(const heed_tokenizer *k, const char *word, size_t n,
                           heed__word_piece *out, size_t *count) {
    if (heed_utf8_count(word, n) > k->most_chars) return false;
    for (size_t at = 0, length; at < n; at += length) {
        int32_t id = longest_piece(k, word + at, n - at, at > 0, &length);
        if (id < 0) return false;
        out[(*count)++] = (heed__word_piece){id, (uint32_t)length};
    }
    return true;
}

bool heed__model_divide(const heed_tokenizer *k, const char *word, size_t n, heed__word_piece *out,
                        size_t *count) {
    int32_t whole = -1;
    *count = 0;
    if (k->ignore_merges && k->bytes) {
        heed_text text = {.c = k->c};
        if (heed__put_byte_chars(&text, word, n)) whole = heed__model_look(k, text.s, text.n);
        heed_text_free(&text);
    } else if (k->ignore_merges || k->model == HEED__WORD) {
        whole = heed__model_look(k, word, n);
    }
    if (whole < 0 && k->model == HEED__BPE) return divide_bpe(k, word, n, out, count);
    if (whole < 0 && k->model == HEED__WORDPIECE && divide_longest(k, word, n, out, count))
        return true;
    out[0] = (heed__word_piece){whole < 0 ? k->unk : whole, (uint32_t)n};
    *count = 1;
    return true;
}
