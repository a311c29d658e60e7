/* encode.c -- text to tokens and back. */
#include "text/text.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/words.h"

#include <string.h>

/* ---- encoding ---- */

/* The special token at s, or -1. */
static int32_t special_at(const heed_tokenizer *k, const char *s, size_t left, size_t *length) {
    const int32_t *ids = k->special_ids;
    for (int i = 0; i < HEED__SPECIALS; i++) {
        *length = strlen(heed__special_names[i]);
        if (ids[i] >= 0 && *length <= left && memcmp(s, heed__special_names[i], *length) == 0)
            return ids[i];
    }
    return -1;
}

/* The id of the first special token from `at` on, and its place in *at; if none, -1 and n. */
static int32_t next_special(const heed_tokenizer *k, const char *text, size_t n, size_t *at,
                            size_t *length) {
    while (*at < n) {
        const char *found = memchr(text + *at, '[', n - *at);
        if (!found) break;
        *at = (size_t)(found - text);
        int32_t id = special_at(k, found, n - *at, length);
        if (id >= 0) return id;
        ++*at;
    }
    *at = n;
    *length = 0;
    return -1;
}

/* Characters, or the bytes of a byte tokenizer. */
static bool put_chars(const heed_tokenizer *k, const char *text, size_t at, size_t end,
                      heed__sink *sink) {
    bool bytes = k->kind == HEED__BYTE;
    for (size_t len = 1; at < end; at += len) {
        int32_t id = (unsigned char)text[at], c;
        len = 1;
        if (!bytes && id < 128)
            id = k->ascii[id];
        else if (!bytes) {
            len = heed_utf8_read(text + at, end - at, &c);
            id = heed__names_look(&k->names, text + at, len);
        }
        if (!sink->put(sink, id < 0 ? k->special.unk : id, at, at + len)) return false;
    }
    return true;
}

/* The longest token in the word that begins at its character i; *next: the character after it.
 * Writes the ## of a later piece over the two bytes before it, which are no longer needed. */
static int32_t longest(const heed_tokenizer *k, heed__word *w, size_t i, size_t *next) {
    char *s = w->buffer + w->at[i] - (i ? 2 : 0);
    if (i) memcpy(s, "##", 2);
    uint64_t hash[HEED__WORD_CHARS + 1];
    hash[i] = i ? heed__hash64(s, 2, 0) : 0;
    size_t j = i;
    while (j < w->chars && (size_t)(w->buffer + w->at[j + 1] - s) <= k->longest) {
        hash[j + 1] = heed__hash64(w->buffer + w->at[j], w->at[j + 1] - w->at[j], hash[j]);
        j++;
    }
    for (; j > i; j--) {
        size_t n = (size_t)(w->buffer + w->at[j] - s);
        int32_t id = heed__names_find(&k->names, s, n, hash[j]);
        *next = j;
        if (id >= 0) return id;
    }
    return -1;
}

/* Greedy longest match; one piece without a match makes the whole word [UNK]. */
static size_t pieces_of(const heed_tokenizer *k, heed__word *w,
                        heed__word_piece out[HEED__WORD_CHARS]) {
    size_t count = 0, next;
    for (size_t i = 0; w->chars <= HEED__WORD_CHARS && i < w->chars; i = next) {
        int32_t id = longest(k, w, i, &next);
        if (id < 0) break;
        out[count++] = (heed__word_piece){id, (uint32_t)(next - i)};
        if (next == w->chars) return count;
    }
    out[0] = (heed__word_piece){k->special.unk, 0};
    return 1;
}

static size_t whole_word(const heed_tokenizer *k, const heed__word *w, heed__word_piece out[1]) {
    int32_t id = -1;
    if (w->chars <= HEED__WORD_CHARS)
        id = heed__names_look(&k->names, w->buffer + w->at[0], w->at[w->chars] - w->at[0]);
    out[0] = (heed__word_piece){id < 0 ? k->special.unk : id, 0};
    return 1;
}

static size_t divide(const heed_tokenizer *k, heed__word *w,
                     heed__word_piece out[HEED__WORD_CHARS]) {
    return k->kind == HEED__WORDPIECE ? pieces_of(k, w, out) : whole_word(k, w, out);
}

/* ---- words that occurred before ---- */

bool heed__memo_keep(heed__memo *m, const heed__word_piece *pieces, size_t count) {
    size_t number = m->words.count - 1, at = number ? m->end[number - 1] : 0;
    if (!heed__grow(m->words.c, &m->end, &m->end_capacity, number + 1, sizeof *m->end) ||
        !heed__grow(m->words.c, &m->pieces, &m->piece_capacity, at + count, sizeof *m->pieces))
        return false;
    memcpy(m->pieces + at, pieces, count * sizeof *pieces);
    m->end[number] = at + count;
    return true;
}

const heed__word_piece *heed__memo_recall(const heed__memo *m, const char *word, size_t n,
                                          size_t *count) {
    int32_t i = m ? heed__names_look(&m->words, word, n) : -1;
    if (i < 0) return NULL;
    size_t at = i ? m->end[i - 1] : 0;
    *count = m->end[i] - at;
    return m->pieces + at;
}

/* Puts the pieces of a word that was read as a whole. Its text is lost when it is divided. */
static bool put_word(const heed_tokenizer *k, heed__memo *m, heed__word *w, heed__sink *sink) {
    enum { LIMIT = 1 << 16 };
    heed__word_piece out[HEED__WORD_CHARS];
    bool known = m && w->chars <= HEED__WORD_CHARS;
    const char *s = w->buffer + w->at[0];
    size_t count = 0, c = 0, n = known ? w->at[w->chars] - w->at[0] : 0;
    const heed__word_piece *pieces = known ? heed__memo_recall(m, s, n, &count) : NULL;
    if (!pieces) {
        bool keeps = known && m->words.count < LIMIT;
        if (keeps && heed__names_add(&m->words, s, n) < 0) return false;
        count = divide(k, w, out);
        pieces = out;
        if (keeps && !heed__memo_keep(m, out, count)) return false;
    }
    for (size_t i = 0; i < count; c += pieces[i++].chars) {
        size_t end = c + pieces[i].chars;
        if (!sink->put(sink, pieces[i].id, w->begin[c], end > c ? w->end[end - 1] : w->last))
            return false;
    }
    return true;
}

/* Puts the pieces of an ASCII word that occurred before. */
static bool put_plain(const heed__word_piece *pieces, size_t count, size_t begin, size_t n,
                      heed__sink *sink) {
    size_t end = begin + n;
    for (size_t i = 0; i < count; i++) {
        size_t next = pieces[i].chars ? begin + pieces[i].chars : end;
        if (!sink->put(sink, pieces[i].id, begin, next)) return false;
        begin = next;
    }
    return true;
}

void heed__memo_free(heed__memo *m) {
    heed__names_free(&m->words);
    heed__free(m->end);
    heed__free(m->pieces);
}

static bool put_words(const heed_tokenizer *k, heed__memo *memo, const char *text, size_t at,
                      size_t end, heed__sink *sink) {
    heed__words words = {.text = text,
                         .n = end,
                         .next = at,
                         .lower = k->lower,
                         .strip = k->lower && k->kind == HEED__WORDPIECE};
    heed__word w;
    char plain[HEED__WORD_CHARS];
    if (memo) memo->words.c = k->c;
    for (;;) {
        size_t begin, count, n = heed__words_plain(&words, plain, &begin);
        if (!n && !heed__words_next(&words, &w)) return true;
        const heed__word_piece *pieces = n ? heed__memo_recall(memo, plain, n, &count) : NULL;
        if (n && !pieces) heed__word_set(&w, plain, n, begin);
        bool good = pieces ? put_plain(pieces, count, begin, n, sink) : put_word(k, memo, &w, sink);
        if (!good) return false;
    }
}

bool heed__encode_by(const heed_tokenizer *k, heed__memo *memo, heed__special_text special,
                     const char *text, size_t n, heed__sink *sink) {
    size_t at = 0;
    if (k->pipeline) return heed__pipeline_encode(k, memo, special, text, n, sink);
    while (at < n) {
        size_t end = special == HEED__SPECIAL_IS_TOKEN ? at : n, length;
        int32_t id = next_special(k, text, n, &end, &length);
        bool good = k->kind < HEED__WORD ? put_chars(k, text, at, end, sink)
                                         : put_words(k, memo, text, at, end, sink);
        if (!good || (id >= 0 && !sink->put(sink, id, end, end + length))) return false;
        at = end + length;
    }
    return true;
}

bool heed__encode(const heed_tokenizer *k, const char *text, size_t n, heed__sink *sink) {
    return heed__encode_by(k, NULL, HEED__SPECIAL_IS_TEXT, text, n, sink);
}

bool heed__finds_special(const heed_tokenizer *k, const char *text, size_t n) {
    size_t at = 0, length;
    return k->pipeline ? heed__pipeline_finds_special(k->pipeline, text, n)
                       : next_special(k, text, n, &at, &length) >= 0;
}

bool heed__tokens_put(heed_tokens *t, int32_t id, size_t begin, size_t end) {
    size_t need = t->count + 1, a = t->capacity, b = t->capacity, capacity = t->capacity;
    if (!heed__grow(t->c, &t->ids, &a, need, sizeof *t->ids) ||
        !heed__grow(t->c, &t->begin, &b, need, sizeof *t->begin) ||
        !heed__grow(t->c, &t->end, &capacity, need, sizeof *t->end))
        return false;
    t->capacity = capacity;
    t->ids[t->count] = id;
    t->begin[t->count] = begin;
    t->end[t->count++] = end;
    return true;
}

typedef struct {
    heed__sink sink;
    heed_tokens *out;
} collector;

static bool collect(heed__sink *sink, int32_t id, size_t begin, size_t end) {
    return heed__tokens_put(((collector *)sink)->out, id, begin, end);
}

static bool encode(const heed_tokenizer *k, heed__special_text special, const char *text, size_t n,
                   heed_tokens *out) {
    if (!k || !text || !out || heed__stopped(k->c)) return false;
    out->c = k->c;
    return heed__encode_by(k, NULL, special, text, n, &(collector){{collect}, out}.sink);
}

bool heed_encode(const heed_tokenizer *k, const char *text, size_t n, heed_tokens *out) {
    return encode(k, HEED__SPECIAL_IS_TOKEN, text, n, out);
}

bool heed_encode_text(const heed_tokenizer *k, const char *text, size_t n, heed_tokens *out) {
    return encode(k, HEED__SPECIAL_IS_TEXT, text, n, out);
}

void heed_tokens_free(heed_tokens *t) {
    if (!t) return;
    heed__free(t->ids);
    heed__free(t->begin);
    heed__free(t->end);
    *t = (heed_tokens){.c = t->c};
}

/* ---- decoding ---- */

static bool is_one_of(const char *s, size_t n, const char *list) {
    return n == 1 && strchr(list, *s);
}

typedef struct {
    const char *s;
    size_t n;
    bool joins;  /* a ## piece */
    bool bound;  /* an apostrophe comes before it */
    bool closes; /* an apostrophe joined to both neighbours */
} part;

static part part_of(const heed_tokenizer *k, int32_t id) {
    part p = {.s = heed_token_text(k, id)};
    p.n = strlen(p.s);
    p.joins = k->kind == HEED__WORDPIECE && p.n > 2 && memcmp(p.s, "##", 2) == 0;
    if (p.joins) p.s += 2, p.n -= 2;
    return p;
}

static int32_t first_of(const part *p) {
    int32_t c;
    heed_utf8_read(p->s, p->n, &c);
    return c;
}

static int32_t last_of(const part *p) {
    size_t at = p->n;
    while (at > 1 && ((unsigned char)p->s[at - 1] & 0xC0) == 0x80) at--;
    int32_t c;
    heed_utf8_read(p->s + at - 1, p->n - at + 1, &c);
    return c;
}

static bool is_apostrophe(const part *p) {
    return is_one_of(p->s, p->n, "'") || (p->n == 3 && memcmp(p->s, "\u2019", 3) == 0);
}

/* don't, it's, I'm, we've, they're, I'd, you'll, aujourd'hui */
static bool is_contraction(const part *p) {
    static const char *const ends[] = {"t", "s", "m", "ve", "re", "d", "ll", "hui"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (p->n == strlen(ends[i]) && memcmp(p->s, ends[i], p->n) == 0) return true;
    return false;
}

/* l'eau, qu'il: French drops a vowel. */
static bool is_elided(const part *p) {
    if (p->n > 1) return is_one_of(p->s + p->n - 2, 1, "qQ") && p->s[p->n - 1] == 'u';
    return !p->joins && !p->bound && is_one_of(p->s, p->n, "cdjlmnstCDJLMNST");
}

/* Tokens are separated by a space unless punctuation attaches: `word.` `(word` `a-b` `don't`.
 * Chinese and Japanese are written without spaces, also where another script begins. */
static bool spaced(const part *a, const part *b, const part *next) {
    if (heed__is_unspaced(last_of(a)) || heed__is_unspaced(first_of(b))) return false;
    if (b->joins || is_one_of(b->s, b->n, ".,!?;:)]}%") || is_one_of(a->s, a->n, "([{$#@"))
        return false;
    if (a->closes || b->closes || (is_apostrophe(b) && is_contraction(next))) return false;
    if (is_apostrophe(a) && is_contraction(b)) return false;
    return !is_one_of(a->s, a->n, "-/_") && !is_one_of(b->s, b->n, "-/_");
}

static bool decode_words(const heed_tokenizer *k, const int32_t *ids, size_t n, heed_text *out) {
    part before = {.s = ""}, now = {.s = ""}, next = n ? part_of(k, ids[0]) : now;
    for (size_t i = 0; i < n; i++) {
        now = next;
        now.bound = is_apostrophe(&before);
        now.closes = is_apostrophe(&now) && is_elided(&before);
        next = i + 1 < n ? part_of(k, ids[i + 1]) : (part){.s = ""};
        if (before.n && spaced(&before, &now, &next) && !heed_text_put(out, " ", 1)) return false;
        if (!heed_text_put(out, now.s, now.n)) return false;
        before = now;
    }
    return true;
}

/* Bytes that are not valid UTF-8 become U+FFFD, so that the result is always valid. */
static bool decode_bytes(const heed_tokenizer *k, const int32_t *ids, size_t n, heed_text *out) {
    for (size_t i = 0; i < n;) {
        char bytes[4];
        size_t count = 0;
        while (count < 4 && i + count < n && ids[i + count] >= 0 && ids[i + count] < 256) {
            bytes[count] = (char)ids[i + count];
            count++;
        }
        const char *s = heed_token_text(k, ids[i]);
        size_t length = strlen(s), taken = 1;
        if (count) {
            int32_t c;
            taken = length = heed_utf8_read(bytes, count, &c);
            s = c < 0 ? "\xEF\xBF\xBD" : bytes;
            if (c < 0) length = 3;
        }
        if (!heed_text_put(out, s, length)) return false;
        i += taken;
    }
    return true;
}

bool heed_decode(const heed_tokenizer *k, const int32_t *ids, size_t n, heed_text *out) {
    if (!k || !out || (n && !ids) || heed__stopped(k->c)) return false;
    if (!out->c) out->c = k->c;
    if (k->pipeline) return heed__pipeline_decode(k, ids, n, out);
    if (k->kind >= HEED__WORD) return decode_words(k, ids, n, out);
    if (k->kind == HEED__BYTE) return decode_bytes(k, ids, n, out);
    for (size_t i = 0; i < n; i++) {
        const char *s = heed_token_text(k, ids[i]);
        if (!heed_text_put(out, s, strlen(s))) return false;
    }
    return true;
}
