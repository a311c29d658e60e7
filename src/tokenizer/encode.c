/* encode.c -- text to tokens: added tokens are found first; what lies between them is normalised
 * and split into words, which the model divides. */
#include "tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

/* ---- where texts may be cut ---- */

static bool has_space(const char *s, size_t n) {
    int32_t c;
    for (size_t i = 0; i < n; i += heed_utf8_read(s + i, n - i, &c)) {
        heed_utf8_read(s + i, n - i, &c);
        if (heed__in_class(HEED__SPACE, c)) return true;
    }
    return false;
}

/* Whether a step does the same to both sides of white space that a letter comes before, as to the
 * whole. *splits: it divides them. */
static bool is_local(const heed__step *k, bool *splits) {
    switch (k->kind) {
    case HEED__BY_GPT2:
    case HEED__BY_WORDS:
        *splits = true;
        return true;
    case HEED__BY_CLASS:
        *splits |= k->class == HEED__SPACE || k->class == HEED__ANY;
        return true;
    case HEED__REPLACE:
        return !has_space(k->text, k->n);
    default:
        return k->kind <= HEED__LOWER;
    }
}

heed__cutting heed__cut_of(const heed_tokenizer *k) {
    bool splits = false, local = true;
    if (k->preset && k->kind != HEED__BPE)
        return k->kind >= HEED__WORD ? HEED__CUT_WORDS : HEED__CUT_CHARACTERS;
    for (size_t i = 0; i < k->normalizers.count; i++)
        local &= is_local(&k->normalizers.of[i], &splits);
    for (size_t i = 0; i < k->splitters.count; i++) local &= is_local(&k->splitters.of[i], &splits);
    for (size_t i = 0; i < k->added_count; i++)
        local &= !k->added[i].rstrip && !has_space(k->added[i].text, k->added[i].n);
    return local && splits ? HEED__CUT_SPACES : HEED__CUT_NOWHERE;
}

/* ---- words that occurred before ---- */

/* Keeps the pieces of the word that was added to `words` last. */
static bool memo_keep(heed__memo *m, const heed__word_piece *pieces, size_t count) {
    size_t number = m->words.count - 1, at = number ? m->end[number - 1] : 0;
    if (!heed__grow(m->words.c, &m->end, &m->end_capacity, number + 1, sizeof *m->end) ||
        !heed__grow(m->words.c, &m->pieces, &m->piece_capacity, at + count, sizeof *m->pieces))
        return false;
    memcpy(m->pieces + at, pieces, count * sizeof *pieces);
    m->end[number] = at + count;
    return true;
}

static const heed__word_piece *memo_recall(const heed__memo *m, const char *word, size_t n,
                                           size_t *count) {
    int32_t i = heed__names_look(&m->words, word, n);
    if (i < 0) return NULL;
    size_t at = i ? m->end[i - 1] : 0;
    *count = m->end[i] - at;
    return m->pieces + at;
}

void heed__memo_free(heed__memo *m) {
    heed__names_free(&m->words);
    heed__free(m->end);
    heed__free(m->pieces);
}

/* ---- added tokens ---- */

typedef struct {
    const heed__added *token;
    size_t begin;
} place;

/* Places of added tokens in a text, the first one last; how far it has been searched, and how far
 * it belongs to tokens: also the white space after one, which may begin another. */
typedef struct {
    place *of;
    size_t count, capacity, searched, used;
} search;

typedef struct {
    const heed_tokenizer *k;
    heed__memo *memo;
    heed__special_text special;
    heed__sink *sink; /* of tokens; or, to count words: */
    heed__counts *counts;
    search found[2]; /* [1]: in the normalised text */
    heed__ranges words[2];
    heed__word_piece *pieces; /* of a word that is not short */
    size_t piece_capacity;
    heed__spelling scratch;
    size_t base;  /* of the spelling, in the text */
    size_t spare; /* bytes by which the spellings may still be longer than the text */
} encoder;

static unsigned char byte_from_end(const heed__added *a, size_t at) {
    return (unsigned char)a->text[a->n - 1 - at];
}

static int compare(const void *x, const void *y) {
    const heed__added *a = x, *b = y;
    if (a->normalized != b->normalized) return a->normalized ? 1 : -1;
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (byte_from_end(a, i) != byte_from_end(b, i))
            return byte_from_end(a, i) < byte_from_end(b, i) ? -1 : 1;
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    if (a->special != b->special) return a->special ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

/* The state after one more byte, towards the start of a text. */
static uint32_t next_state(const heed__automaton *m, uint32_t at, unsigned char byte) {
    for (; at; at = m->of[at].fail) {
        uint32_t low = m->of[at].first, end = m->of[at + 1].first;
        for (uint32_t high = end, middle; low < high;) {
            middle = low + (high - low) / 2;
            if (m->of[middle].byte < byte)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < end && m->of[low].byte == byte) return low;
    }
    return m->of_byte[byte];
}

static bool add_state(heed_ctx *c, heed__automaton *m, heed__state state) {
    if (m->count >= INT32_MAX) return heed_fail(c, HEED_DATA, "added tokens of 2 GB or more");
    if (!heed__grow(c, &m->of, &m->capacity, m->count + 1, sizeof *m->of)) return false;
    m->of[m->count++] = state;
    return true;
}

/* Makes the states of the sorted tokens from `low` to `high`. Until its turn, a state holds in
 * first, fail and token: the state that it is one byte longer than, and from where to where the
 * tokens are that end with it. */
static bool build(heed_tokenizer *k, heed__automaton *m, size_t low, size_t high) {
    size_t length = 0, longer = 1; /* of states; where longer ones begin */
    bool good = add_state(k->c, m, (heed__state){0, (uint32_t)low, (int32_t)high, 0});
    for (size_t i = 0; good && i < m->count; i++) {
        if (i == longer) length++, longer = m->count;
        heed__state *s = &m->of[i];
        uint32_t before = s->first;
        low = s->fail;
        high = (size_t)s->token;
        s->first = (uint32_t)m->count;
        s->fail = length > 1 ? next_state(m, m->of[before].fail, s->byte) : 0;
        s->token = i ? m->of[s->fail].token : -1;
        if (low < high && k->added[low].n == length) s->token = (int32_t)low;
        while (low < high && k->added[low].n == length) low++; /* the first of equal ones counts */
        for (size_t end; good && low < high; low = end) {
            unsigned char byte = byte_from_end(&k->added[low], length);
            for (end = low + 1; end < high && byte_from_end(&k->added[end], length) == byte;) end++;
            if (!i) m->of_byte[byte] = (uint32_t)m->count;
            good =
                add_state(k->c, m, (heed__state){(uint32_t)i, (uint32_t)low, (int32_t)end, byte});
        }
    }
    return good && add_state(k->c, m, (heed__state){(uint32_t)m->count, 0, -1, 0});
}

bool heed__added_index(heed_tokenizer *k) {
    size_t written = 0;
    if (k->added_count) qsort(k->added, k->added_count, sizeof *k->added, compare);
    while (written < k->added_count && !k->added[written].normalized) written++;
    for (size_t i = 0; i < k->added_count; i++) k->plain_added |= !k->added[i].special;
    return build(k, &k->finders[0], 0, written) &&
           build(k, &k->finders[1], written, k->added_count);
}

/* The last place before *at of a text where an added token begins, and the longest one there; NULL:
 * none. *state: of the search, 0 at the end of the text. */
static const heed__added *added_before(const heed_tokenizer *k, bool normalized, const char *s,
                                       size_t *at, uint32_t *state) {
    const heed__automaton *m = &k->finders[normalized];
    while (*at > 0) {
        *state = next_state(m, *state, (unsigned char)s[--*at]);
        if (*state && m->of[*state].token >= 0) return &k->added[m->of[*state].token];
    }
    return NULL;
}

bool heed__finds_special(const heed_tokenizer *k, const char *text, size_t n) {
    for (int normalized = 0; normalized < 2; normalized++) {
        uint32_t state = 0;
        const heed__added *a = NULL;
        for (size_t at = n; (a = added_before(k, normalized, text, &at, &state));)
            if (a->special) return true;
    }
    return false;
}

/* The character before s[at]; -1 at the start. */
static int32_t char_before(const char *s, size_t at, size_t *length) {
    int32_t c = -1;
    *length = 0;
    if (!at) return -1;
    *length = 1;
    while (*length < 4 && *length < at && ((unsigned char)s[at - *length] & 0xC0) == 0x80)
        ++*length;
    if (heed_utf8_read(s + at - *length, *length, &c) != *length) *length = 1;
    return c;
}

static bool stands_alone(const char *s, size_t n, heed__range at) {
    size_t length;
    int32_t after = -1;
    if (at.end < n) heed_utf8_read(s + at.end, n - at.end, &after);
    return !heed__in_class(HEED__WORD_CHAR, char_before(s, at.begin, &length)) &&
           !heed__in_class(HEED__WORD_CHAR, after);
}

/* Adds the white space around a token, but not before `from`; of a token with lstrip nothing is
 * left if all of it lies before. */
static heed__range widen(const heed__added *a, const char *s, size_t n, heed__range at,
                         size_t from) {
    size_t length;
    int32_t c;
    while (a->lstrip && at.begin > from &&
           heed__in_class(HEED__SPACE, char_before(s, at.begin, &length)))
        at.begin -= length;
    if (a->lstrip && at.begin < from) at.begin = from;
    while (a->rstrip && at.end < n) {
        length = heed_utf8_read(s + at.end, n - at.end, &c);
        if (!heed__in_class(HEED__SPACE, c)) break;
        at.end += length;
    }
    return at;
}

/* Finds all places of added tokens in the normalised text or in the text itself. It is read from
 * its end: then one pass knows the longest token at each place, and none is read twice. */
static bool find_added(const encoder *e, bool normalized, const char *s, size_t n, search *out) {
    uint32_t state = 0;
    const heed__added *a;
    out->count = out->searched = out->used = 0;
    if (e->special == HEED__SPECIAL_IS_TEXT && !e->k->plain_added) return true;
    for (size_t at = n; (a = added_before(e->k, normalized, s, &at, &state));) {
        if (!heed__grow(e->k->c, &out->of, &out->capacity, out->count + 1, sizeof *out->of))
            return false;
        out->of[out->count++] = (place){a, at};
    }
    return true;
}

/* The next added token, and its place; NULL, and the end of the text: none. */
static const heed__added *added_next(const encoder *e, const char *s, size_t n, search *to,
                                     heed__range *at) {
    while (to->count) {
        place found = to->of[--to->count];
        const heed__added *a = found.token;
        if (found.begin < to->searched) continue;
        *at = (heed__range){found.begin, found.begin + a->n};
        to->searched = at->end;
        bool text = a->special && e->special == HEED__SPECIAL_IS_TEXT;
        if (text || (a->single_word && !stands_alone(s, n, *at))) continue;
        *at = widen(a, s, n, *at, to->used);
        return a;
    }
    *at = (heed__range){n, n};
    return NULL;
}

/* Where a token begins: not in what belongs to the one before, unless all of it is there. */
static size_t begin_of(heed__range at, size_t used) {
    size_t begin = at.begin > used ? at.begin : used;
    return begin < at.end ? begin : at.begin;
}

/* ---- words ---- */

/* Puts a token of bytes begin to end of a spelling. */
static bool put(const encoder *e, const heed__spelling *s, int32_t id, size_t begin, size_t end) {
    size_t first = begin, last = end;
    if (s->from && end > begin) first = s->from[begin].begin, last = s->from[end - 1].end;
    return e->sink->put(e->sink, id, e->base + first, e->base + last);
}

static bool put_word(encoder *e, const heed__spelling *s, heed__range word) {
    enum { LIMIT = 1 << 16, SHORT = 64 };
    heed__word_piece near[SHORT], *out = near;
    heed__memo *m = e->memo;
    size_t n = word.end - word.begin, count;
    const char *text = s->s + word.begin;
    if (e->counts)
        return (e->k->model != HEED__BPE && heed_utf8_count(text, n) > HEED__WORD_CHARS) ||
               heed__count_word(e->counts, text, n);
    bool keeps = m && n <= SHORT;
    const heed__word_piece *known = keeps ? memo_recall(m, text, n, &count) : NULL;
    if (!known) {
        keeps = keeps && m->words.count < LIMIT;
        if (n > SHORT && !heed__grow(e->k->c, &e->pieces, &e->piece_capacity, n, sizeof *out))
            return false;
        if (n > SHORT) out = e->pieces;
        if (keeps && heed__names_add(&m->words, text, n) < 0) return false;
        if (!heed__model_divide(e->k, text, n, out, &count)) return false;
        if (keeps && !memo_keep(m, out, count)) return false;
        known = out;
    }
    for (size_t i = 0, at = word.begin; i < count; at += known[i++].bytes)
        if (!put(e, s, known[i].id, at, at + known[i].bytes)) return false;
    return true;
}

/* Puts the words of a part of a spelling between added tokens. */
static bool put_part(encoder *e, const heed__spelling *of, heed__range part) {
    heed__spelling s = {.c = e->k->c, .s = of->s + part.begin, .n = part.end - part.begin};
    size_t base = e->base;
    if (of->from)
        s.from = of->from + part.begin;
    else
        e->base += part.begin;
    bool good = heed__presplit(&e->k->splitters, e->base, &s, &e->spare, e->words);
    for (size_t i = 0; good && i < e->words->count; i++) good = put_word(e, &s, e->words->of[i]);
    heed__spelling_free(&s);
    e->base = base;
    return good;
}

static bool put_text(encoder *e, const heed__spelling *of, heed__range part);

/* Puts a spelling, which is the text itself or, between the added tokens of that, what it became:
 * its added tokens, and what lies between them. */
static bool put_all(encoder *e, bool normalized, const heed__spelling *s) {
    search *to = &e->found[normalized];
    heed__range at;
    bool good = find_added(e, normalized, s->s, s->n, to);
    for (const heed__added *a = NULL; good; to->used = at.end) {
        a = added_next(e, s->s, s->n, to, &at);
        if (at.begin > to->used)
            good = (normalized ? put_part : put_text)(e, s, (heed__range){to->used, at.begin});
        if (!a) break;
        if (good && at.begin < at.end) good = put(e, s, a->id, begin_of(at, to->used), at.end);
    }
    return good;
}

/* ---- texts ---- */

/* Puts a part of the text by all steps. */
static bool put_steps(encoder *e, const char *text, heed__range part) {
    heed__spelling s = {.c = e->k->c, .s = text + part.begin, .n = part.end - part.begin};
    e->base = part.begin;
    bool good = heed__respell(&e->k->normalizers, part.begin == 0, &s, &e->spare, &e->scratch) &&
                put_all(e, true, &s);
    if (s.own) heed__spelling_free(&e->scratch), e->scratch = s;
    return good;
}

static bool put_characters(encoder *e, const char *text, heed__range part) {
    const heed_tokenizer *k = e->k;
    if (e->counts)
        return heed__count_letters(e->counts, text + part.begin, part.end - part.begin, 1);
    for (size_t at = part.begin, length; at < part.end; at += length) {
        int32_t id = (unsigned char)text[at], c;
        length = 1;
        if (id < 128) {
            id = k->ascii[id];
        } else {
            length = heed_utf8_read(text + at, part.end - at, &c);
            id = heed__model_look(k, text + at, length);
        }
        if (!e->sink->put(e->sink, id < 0 ? k->unk : id, at, at + length)) return false;
    }
    return true;
}

static bool put_bytes(encoder *e, const char *text, heed__range part) {
    for (size_t i = part.begin; i < part.end; i++)
        if (!e->sink->put(e->sink, e->k->byte_ids[(unsigned char)text[i]], i, i + 1)) return false;
    return true;
}

static bool is_alphanumeric(unsigned char c) {
    return (unsigned char)((c | 32) - 'a') < 26 || (unsigned char)(c - '0') < 10;
}

/* Vertical tabs and form feeds are dropped as controls. */
static bool is_blank(unsigned char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Puts a part of the text by words: those of ASCII letters and digits, and ASCII punctuation, at
 * once; what is between white space and has anything else, by all steps. */
static bool put_ascii_words(encoder *e, const char *text, heed__range part) {
    char word[HEED__WORD_CHARS];
    bool good = true;
    for (size_t at = part.begin, end = part.end; good; at = part.begin) {
        while (at < end && is_blank((unsigned char)text[at])) at++;
        if (at == end) break;
        size_t n = 0;
        for (; at + n < end && n < sizeof word && is_alphanumeric((unsigned char)text[at + n]);
             n++) {
            bool capital = e->k->lower && text[at + n] >= 'A' && text[at + n] <= 'Z';
            word[n] = (char)(capital ? text[at + n] | 32 : text[at + n]);
        }
        unsigned char next = at + n < end ? (unsigned char)text[at + n] : ' ';
        bool punctuation = next > 32 && next < 127 && !is_alphanumeric(next);
        if (n == 0 && punctuation) word[n++] = (char)next;
        if (n && (punctuation || is_blank(next))) {
            heed__spelling s = {.s = word, .n = n};
            e->base = at;
            good = put_word(e, &s, (heed__range){0, n});
        } else {
            while (at + n < end && !is_blank((unsigned char)text[at + n])) n++;
            good = put_steps(e, text, (heed__range){at, at + n});
        }
        part.begin = at + n;
    }
    return good;
}

static bool put_text(encoder *e, const heed__spelling *of, heed__range part) {
    static bool (*const by_path[])(encoder * e, const char *text,
                                   heed__range part) = {[HEED__BY_STEPS] = put_steps,
                                                        [HEED__CHARACTERS] = put_characters,
                                                        [HEED__BYTES] = put_bytes,
                                                        [HEED__ASCII_WORDS] = put_ascii_words};
    bool good = by_path[e->k->path](e, of->s, part);
    e->base = 0;
    return good;
}

static bool run(encoder *e, const char *text, size_t n) {
    e->spare = heed__spare(n);
    bool good = put_all(e, false, &(heed__spelling){.s = text, .n = n});
    heed__free(e->found[0].of);
    heed__free(e->found[1].of);
    heed__spelling_free(&e->scratch);
    heed__free(e->words[0].of);
    heed__free(e->words[1].of);
    heed__free(e->pieces);
    return good;
}

bool heed__encode_by(const heed_tokenizer *k, heed__memo *memo, heed__special_text special,
                     const char *text, size_t n, heed__sink *sink) {
    if (memo) memo->words.c = k->c;
    return run(&(encoder){.k = k, .memo = memo, .special = special, .sink = sink}, text, n);
}

bool heed__count_words(const heed_tokenizer *k, const char *text, size_t n, heed__counts *out) {
    return run(&(encoder){.k = k, .counts = out}, text, n);
}

bool heed__encode(const heed_tokenizer *k, const char *text, size_t n, heed__sink *sink) {
    return heed__encode_by(k, NULL, HEED__SPECIAL_IS_TEXT, text, n, sink);
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
