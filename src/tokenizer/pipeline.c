/* pipeline.c -- encodes texts by a tokenizer.json: added tokens, normalizers, splitters, model. */
#include "tokenizer/pipeline.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

heed__pipeline *heed__pipeline_new(heed_ctx *c) {
    heed__pipeline *p = heed__alloc(c, sizeof *p);
    if (!p) return NULL;
    p->c = p->merges.c = p->shown.c = p->file.c = c;
    p->unk = -1;
    return p;
}

static void free_steps(heed__steps *s) {
    for (size_t i = 0; i < s->count; i++) {
        heed__free(s->of[i].text);
        heed__free(s->of[i].with);
        heed__pattern_free(s->of[i].pattern);
    }
    heed__free(s->of);
}

void heed__pipeline_free(heed__pipeline *p) {
    if (!p) return;
    heed__steps *const lists[] = {&p->normalizers, &p->splitters, &p->decoders};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free_steps(lists[i]);
    for (size_t i = 0; i < p->added_count; i++) heed__free(p->added[i].text);
    void *const rest[] = {p->finders[0].of, p->finders[1].of, p->added,  p->added_of,
                          p->unk_text,      p->prefix,        p->suffix, p->joined,
                          p->shown_at,      p->frame,         p};
    heed__names_free(&p->merges);
    heed_text_free(&p->shown);
    heed_text_free(&p->file);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) heed__free(rest[i]);
}

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
        *splits |= k->class == HEED__SPACE;
        return true;
    case HEED__REPLACE:
        return !has_space(k->text, k->n);
    default:
        return k->kind <= HEED__LOWER;
    }
}

heed__cutting heed__cut_of(const heed_tokenizer *k) {
    const heed__pipeline *p = k->pipeline;
    bool splits = false, local = true;
    if (!p && k->kind == HEED__BPE) return HEED__CUT_SPACES; /* it is trained */
    if (!p) return k->kind >= HEED__WORD ? HEED__CUT_WORDS : HEED__CUT_CHARACTERS;
    for (size_t i = 0; i < p->normalizers.count; i++)
        local &= is_local(&p->normalizers.of[i], &splits);
    for (size_t i = 0; i < p->splitters.count; i++) local &= is_local(&p->splitters.of[i], &splits);
    for (size_t i = 0; i < p->added_count; i++)
        local &= !p->added[i].rstrip && !has_space(p->added[i].text, p->added[i].n);
    return local && splits ? HEED__CUT_SPACES : HEED__CUT_NOWHERE;
}

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
    heed__sink *sink;
    search found[2]; /* [1]: in the normalised text */
    heed__ranges words;
    heed__word_piece *pieces; /* of a word that is not short */
    size_t piece_capacity;
    size_t base;  /* of the spelling, in the text */
    size_t spare; /* bytes by which the spellings may still be longer than the text */
} encoder;

/* ---- added tokens ---- */

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
static bool build(heed__pipeline *p, heed__automaton *m, size_t low, size_t high) {
    size_t length = 0, longer = 1; /* of states; where longer ones begin */
    bool good = add_state(p->c, m, (heed__state){0, (uint32_t)low, (int32_t)high, 0});
    for (size_t i = 0; good && i < m->count; i++) {
        if (i == longer) length++, longer = m->count;
        heed__state *s = &m->of[i];
        uint32_t before = s->first;
        low = s->fail;
        high = (size_t)s->token;
        s->first = (uint32_t)m->count;
        s->fail = length > 1 ? next_state(m, m->of[before].fail, s->byte) : 0;
        s->token = i ? m->of[s->fail].token : -1;
        if (low < high && p->added[low].n == length) s->token = (int32_t)low;
        while (low < high && p->added[low].n == length) low++; /* the first of equal ones counts */
        for (size_t end; good && low < high; low = end) {
            unsigned char byte = byte_from_end(&p->added[low], length);
            for (end = low + 1; end < high && byte_from_end(&p->added[end], length) == byte;) end++;
            if (!i) m->of_byte[byte] = (uint32_t)m->count;
            good =
                add_state(p->c, m, (heed__state){(uint32_t)i, (uint32_t)low, (int32_t)end, byte});
        }
    }
    return good && add_state(p->c, m, (heed__state){(uint32_t)m->count, 0, -1, 0});
}

bool heed__added_index(heed__pipeline *p) {
    size_t written = 0;
    if (p->added_count) qsort(p->added, p->added_count, sizeof *p->added, compare);
    while (written < p->added_count && !p->added[written].normalized) written++;
    return build(p, &p->finders[0], 0, written) &&
           build(p, &p->finders[1], written, p->added_count);
}

/* The last place before *at of a text where an added token begins, and the longest one there; NULL:
 * none. *state: of the search, 0 at the end of the text. */
static const heed__added *added_before(const heed__pipeline *p, bool normalized, const char *s,
                                       size_t *at, uint32_t *state) {
    const heed__automaton *m = &p->finders[normalized];
    while (*at > 0) {
        *state = next_state(m, *state, (unsigned char)s[--*at]);
        if (*state && m->of[*state].token >= 0) return &p->added[m->of[*state].token];
    }
    return NULL;
}

bool heed__pipeline_finds_special(const heed__pipeline *p, const char *text, size_t n) {
    for (int normalized = 0; normalized < 2; normalized++) {
        uint32_t state = 0;
        const heed__added *a = NULL;
        for (size_t at = n; (a = added_before(p, normalized, text, &at, &state));)
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
    for (size_t at = n; (a = added_before(e->k->pipeline, normalized, s, &at, &state));) {
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

/* ---- words ---- */

/* Puts a token of bytes begin to end of a spelling. */
static bool put(const encoder *e, const heed__spelling *s, int32_t id, size_t begin, size_t end) {
    size_t first = begin, last = end;
    if (s->begin && end > begin) first = s->begin[begin], last = s->end[end - 1];
    return e->sink->put(e->sink, id, e->base + first, e->base + last);
}

static bool put_word(encoder *e, const heed__spelling *s, heed__range word) {
    enum { LIMIT = 1 << 16, SHORT = 64 };
    heed__word_piece near[SHORT], *out = near;
    heed__memo *m = e->memo;
    size_t n = word.end - word.begin, count;
    const char *text = s->s + word.begin;
    bool keeps = m && n <= SHORT;
    const heed__word_piece *known = keeps ? heed__memo_recall(m, text, n, &count) : NULL;
    if (!known) {
        keeps = keeps && m->words.count < LIMIT;
        if (n > SHORT && !heed__grow(e->k->c, &e->pieces, &e->piece_capacity, n, sizeof *out))
            return false;
        if (n > SHORT) out = e->pieces;
        if (keeps && heed__names_add(&m->words, text, n) < 0) return false;
        if (!heed__model_divide(e->k, text, n, out, &count)) return false;
        if (keeps && !heed__memo_keep(m, out, count)) return false;
        known = out;
    }
    for (size_t i = 0, at = word.begin; i < count; at += known[i++].chars)
        if (!put(e, s, known[i].id, at, at + known[i].chars)) return false;
    return true;
}

/* Puts the words of a part of a spelling between added tokens. */
static bool put_part(encoder *e, const heed__spelling *of, heed__range part) {
    const heed__pipeline *p = e->k->pipeline;
    if (part.begin >= part.end) return true;
    heed__spelling s = {.c = e->k->c, .s = of->s + part.begin, .n = part.end - part.begin};
    size_t base = e->base;
    if (of->begin) {
        s.begin = of->begin + part.begin;
        s.end = of->end + part.begin;
    } else {
        e->base += part.begin;
    }
    bool good = heed__presplit(&p->splitters, e->base, &s, &e->spare, &e->words);
    for (size_t i = 0; good && i < e->words.count; i++) good = put_word(e, &s, e->words.of[i]);
    heed__spelling_free(&s);
    e->base = base;
    return good;
}

/* ---- texts ---- */

/* Where a token begins: not in what belongs to the one before, unless all of it is there. */
static size_t begin_of(heed__range at, size_t used) {
    size_t begin = at.begin > used ? at.begin : used;
    return begin < at.end ? begin : at.begin;
}

/* Puts a part of the text between added tokens that are found as they are written. */
static bool put_text(encoder *e, const char *text, heed__range part) {
    heed__spelling s = {.c = e->k->c, .s = text + part.begin, .n = part.end - part.begin};
    e->base = part.begin;
    search *to = &e->found[1];
    bool good = heed__respell(&e->k->pipeline->normalizers, part.begin == 0, &s, &e->spare) &&
                find_added(e, true, s.s, s.n, to);
    for (bool more = good; more;) {
        heed__range at;
        const heed__added *a = added_next(e, s.s, s.n, to, &at);
        good = put_part(e, &s, (heed__range){to->used, at.begin});
        if (good && a && at.begin < at.end)
            good = put(e, &s, a->id, begin_of(at, to->used), at.end);
        to->used = at.end;
        more = good && a;
    }
    heed__spelling_free(&s);
    return good;
}

bool heed__pipeline_encode(const heed_tokenizer *k, heed__memo *m, heed__special_text special,
                           const char *text, size_t n, heed__sink *sink) {
    encoder e = {.k = k, .memo = m, .special = special, .sink = sink, .spare = heed__spare(n)};
    search *to = &e.found[0];
    bool good = find_added(&e, false, text, n, to);
    if (m) m->words.c = k->c;
    for (bool more = good; more;) {
        heed__range at;
        const heed__added *a = added_next(&e, text, n, to, &at);
        good = at.begin <= to->used || put_text(&e, text, (heed__range){to->used, at.begin});
        if (good && a && at.begin < at.end)
            good = sink->put(sink, a->id, begin_of(at, to->used), at.end);
        to->used = at.end;
        more = good && a;
    }
    heed__free(e.found[0].of);
    heed__free(e.found[1].of);
    heed__free(e.words.of);
    heed__free(e.pieces);
    return good;
}
