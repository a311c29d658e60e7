/* bleu.c -- corpus BLEU. Papineni et al. 2002; counted as sacreBLEU does (Post 2018): its tokens
 * 13a, zh and char, exponential smoothing. */
#include "text/classes.h"
#include "text/text.h"
#include "tokenizer/tokenizer.h"

#include "data/sets.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER = 4 };

/* ---- tokens of the 13a rule (mteval-v13a.pl) ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_other(char c) { return !is_digit(c); }
static bool is_stop(char c) { return c == '.' || c == ','; }
static bool is_dash(char c) { return c == '-'; }

/* ASCII punctuation except ' , - . (and the space, which separates words anyway). */
static bool is_mark(char c) {
    return (c >= '!' && c <= '/' && !strchr("',-.", c)) || (c >= ':' && c <= '@') ||
           (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/* Out of memory is checked once, at the end. */
static void replace(heed_text *out, const char *s, size_t n, const char *from, const char *to) {
    size_t length = strlen(from);
    for (size_t i = 0; i < n;) {
        bool here = n - i >= length && memcmp(s + i, from, length) == 0;
        heed_text_put(out, here ? to : s + i, here ? strlen(to) : 1);
        i += here ? length : 1;
    }
}

/* Puts spaces around every mark. */
static void marks_apart(heed_text *out, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char apart[] = {' ', s[i], ' '};
        heed_text_put(out, is_mark(s[i]) ? apart : s + i, is_mark(s[i]) ? 3 : 1);
    }
}

/* Two neighbours get a space between them, and one before or after. The next match begins after
 * both. Bytes serve as characters, as all that is searched for is ASCII. */
typedef struct {
    bool (*first)(char c), (*second)(char c);
    bool before; /* else after */
} rule;

static void neighbours_apart(heed_text *out, const char *s, size_t n, const rule *r) {
    for (size_t i = 0; i < n; i++) {
        bool both = i + 1 < n && r->first(s[i]) && r->second(s[i + 1]);
        const char before[] = {' ', s[i], ' ', s[i + both]},
                   after[] = {s[i], ' ', s[i + both], ' '};
        heed_text_put(out, !both ? s + i : r->before ? before : after, both ? 4 : 1);
        i += both;
    }
}

static void swap_texts(heed_text *now, heed_text *next) {
    heed_text kept = *now;
    *now = *next;
    *next = kept;
    next->n = 0;
}

/* The 13a rule's first part, which the zh rule lacks. */
static void unescape(heed_text *now, heed_text *next) {
    static const char *const replacements[][2] = {
        {"<skipped>", ""}, {"-\n", ""},   {"\n", " "},   {"&quot;", "\""},
        {"&amp;", "&"},    {"&lt;", "<"}, {"&gt;", ">"},
    };
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++) {
        replace(next, now->s, now->n, replacements[i][0], replacements[i][1]);
        swap_texts(now, next);
    }
    heed_text_put(next, " ", 1);
    heed_text_put(next, now->s, now->n);
    heed_text_put(next, " ", 1);
    swap_texts(now, next);
}

static void western(heed_text *now, heed_text *next) {
    static const rule rules[] = {
        {is_other, is_stop, false}, {is_stop, is_other, true}, {is_digit, is_dash, false}};
    marks_apart(next, now->s, now->n);
    swap_texts(now, next);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        neighbours_apart(next, now->s, now->n, &rules[i]);
        swap_texts(now, next);
    }
}

/* What sacreBLEU 2.6 regards as Chinese. It has no range beyond U+FFFF, and U+2001 to U+2A6D by
 * mistake: "\u20000" is two characters in Python. */
static bool is_chinese(int32_t c) {
    static const int32_t ranges[][2] = {
        {0x2001, 0x2A6D}, {0x2E80, 0x2FDF}, {0x2FF0, 0x303F}, {0x3100, 0x312F}, {0x31A0, 0x31EF},
        {0x3200, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9},
        {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return false;
}

/* White space as in Python's str.split(). */
static bool is_white(int32_t c) { return heed__is_space(c) || (c >= 0x1C && c <= 0x1F); }

/* Puts spaces around every Chinese character, or around every character. White space at both ends
 * is dropped. */
static void characters_apart(heed_text *out, const char *s, size_t n, bool all) {
    size_t end = 0;
    int32_t c;
    for (size_t at = 0, length; at < n; at += length) {
        length = heed_utf8_read(s + at, n - at, &c);
        if (!out->n && is_white(c)) continue;
        bool apart = all || is_chinese(c);
        heed_text_put(out, " ", apart);
        heed_text_put(out, s + at, length);
        heed_text_put(out, " ", apart);
        if (!is_white(c)) end = out->n;
    }
    out->n = end;
}

/* The text with spaces between its tokens, and one at its end. */
static void tokenize(heed_bleu_tokens tokens, heed_text *now, heed_text *next, const char *text) {
    heed_text_put(now, text, strlen(text));
    if (tokens == HEED_BLEU_13A) {
        unescape(now, next);
    } else {
        characters_apart(next, now->s, now->n, tokens == HEED_BLEU_CHAR);
        swap_texts(now, next);
    }
    if (tokens != HEED_BLEU_CHAR) western(now, next);
    heed_text_put(now, " ", 1);
}

/* ---- the tokens that suit a language ---- */

static bool is_kana(int32_t c) { return c >= 0x3040 && c <= 0x30FF; }

/* Thai, Lao, Tibetan, Burmese and Khmer have no spaces between words, either. */
static bool is_southern(int32_t c) {
    return (c >= 0x0E00 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF);
}

void heed__bleu_read(heed_bleu *b, const char *reference, size_t n) {
    int32_t c;
    if (!b || !reference) return;
    for (size_t at = 0; at < n;) {
        at += heed_utf8_read(reference + at, n - at, &c);
        if (heed__is_ideograph(c))
            b->chinese++;
        else if (is_kana(c) || is_southern(c))
            b->unspaced++;
        else
            b->spaced += heed__in_class(HEED__LETTER, c);
    }
    if ((b->chinese + b->unspaced) * 2 <= b->spaced)
        b->tokens = HEED_BLEU_13A;
    else
        b->tokens = b->unspaced * 10 > b->chinese ? HEED_BLEU_CHAR : HEED_BLEU_ZH;
}

/* ---- n-grams ---- */

typedef struct {
    int32_t *words; /* word numbers from 1, then ORDER zeros */
    size_t count, capacity;
    int32_t (*runs)[ORDER];
} sentence;

static bool add_word(heed_ctx *c, heed__names *names, const char *s, size_t n, sentence *out) {
    if (!n) return true;
    int32_t number = heed__names_add(names, s, n);
    if (number < 0 ||
        !heed__grow(c, &out->words, &out->capacity, out->count + 1 + ORDER, sizeof *out->words))
        return false;
    out->words[out->count++] = number + 1;
    return true;
}

static bool split_words(heed_ctx *c, heed__names *names, const heed_text *t, sentence *out) {
    size_t begin = 0, at = 0;
    while (at < t->n) {
        int32_t character;
        size_t length = heed_utf8_read(t->s + at, t->n - at, &character);
        if (is_white(character)) {
            if (!add_word(c, names, t->s + begin, at - begin, out)) return false;
            begin = at + length;
        }
        at += length;
    }
    return true; /* the text ends with a space */
}

static bool read_sentence(heed_ctx *c, const heed_bleu *b, heed__names *names, const char *text,
                          sentence *out) {
    heed_text now = {.c = c}, next = {.c = c};
    tokenize(b->tokens, &now, &next, text);
    bool ok = !heed__stopped(c) && split_words(c, names, &now, out);
    if (ok && out->count) out->runs = heed__alloc_array(c, out->count, sizeof *out->runs);
    heed_text_free(&now);
    heed_text_free(&next);
    return ok && !heed__stopped(c);
}

static int by_words(const void *a, const void *b) {
    const int32_t *x = a, *y = b;
    for (int i = 0; i < ORDER; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

static size_t runs_in(size_t words, size_t n) { return words < n ? 0 : words - n + 1; }

/* Lists the n-grams, sorted. */
static void list_runs(sentence *s, size_t n) {
    size_t count = runs_in(s->count, n);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < ORDER; j++) s->runs[i][j] = j < n ? s->words[i + j] : 0;
    if (count) qsort(s->runs, count, sizeof *s->runs, by_words);
}

/* How often the n-gram at `run` occurs in the sorted list from `at` on. */
static size_t times(const sentence *s, size_t at, size_t n, const int32_t run[ORDER]) {
    size_t count = 0;
    for (; at + count < runs_in(s->count, n) && by_words(s->runs[at + count], run) == 0;) count++;
    return count;
}

static size_t first_of(const sentence *s, size_t n, const int32_t run[ORDER]) {
    size_t low = 0, high = runs_in(s->count, n);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_words(s->runs[middle], run) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number of n-grams of h that references have: for each, the smaller of its count in h and its
 * largest count in one reference. Papineni et al. 2002, sec. 2.1.1. */
static size_t shared(sentence *h, sentence *references, size_t count, size_t n) {
    size_t all = 0, own;
    list_runs(h, n);
    for (size_t r = 0; r < count; r++) list_runs(&references[r], n);
    for (size_t i = 0; i < runs_in(h->count, n); i += own) {
        const int32_t *run = h->runs[i];
        size_t most = 0;
        own = times(h, i, n, run);
        for (size_t r = 0; r < count; r++) {
            size_t found = times(&references[r], first_of(&references[r], n, run), n, run);
            if (found > most) most = found;
        }
        all += own < most ? own : most;
    }
    return all;
}

/* The length of the reference closest to n words; the shorter one at ties. Sec. 2.2.2. */
static size_t closest(const sentence *references, size_t count, size_t n) {
    size_t best = references[0].count;
    for (size_t r = 1; r < count; r++) {
        size_t own = references[r].count;
        size_t far = own > n ? own - n : n - own, least = best > n ? best - n : n - best;
        if (far < least || (far == least && own < best)) best = own;
    }
    return best;
}

static void add_counts(heed_bleu *b, sentence *h, sentence *references, size_t count) {
    for (size_t n = 1; n <= ORDER; n++) {
        b->match[n - 1] += shared(h, references, count, n);
        b->total[n - 1] += runs_in(h->count, n);
    }
    if (h->count > b->longest) b->longest = h->count;
    for (size_t r = 0; r < count; r++)
        if (references[r].count > b->longest) b->longest = references[r].count;
    b->length += h->count;
    b->reference += closest(references, count, h->count);
}

static void free_sentence(sentence *s) {
    heed__free(s->words);
    heed__free(s->runs);
}

bool heed__bleu_add_best(heed_ctx *c, heed_bleu *b, const char *hypothesis,
                         const char *const *references, size_t count) {
    if (heed__stopped(c) || !b || !hypothesis || !references || !count) return false;
    heed__names names = {.c = c};
    sentence h = {0}, *list = heed__alloc_array(c, count, sizeof *list);
    bool ok = list && read_sentence(c, b, &names, hypothesis, &h);
    for (size_t r = 0; ok && r < count; r++)
        ok = references[r] && read_sentence(c, b, &names, references[r], &list[r]);
    if (ok) add_counts(b, &h, list, count);
    for (size_t r = 0; list && r < count; r++) free_sentence(&list[r]);
    free_sentence(&h);
    heed__free(list);
    heed__names_free(&names);
    return ok;
}

bool heed__bleu_add(heed_ctx *c, heed_bleu *b, const char *hypothesis, const char *reference) {
    return heed__bleu_add_best(c, b, hypothesis, &reference, 1);
}

/* min(1, e^(1 - r/h)) times the geometric mean of the four precisions; the k-th zero count is
 * replaced by 1/2^k (Chen & Cherry 2014, smoothing 3). */
double heed__bleu_of(const heed_bleu *b) {
    if (!b || !b->match[0]) return 0;
    double sum = 0, smooth = 1;
    for (int i = 0; i < ORDER; i++) {
        if (!b->total[i]) return 0;
        if (!b->match[i]) smooth /= 2;
        sum += log((b->match[i] ? (double)b->match[i] : smooth) / (double)b->total[i]);
    }
    double ratio = (double)b->reference / (double)b->length;
    return 100 * exp(sum / ORDER + (ratio > 1 ? 1 - ratio : 0));
}
