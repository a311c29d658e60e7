/* words.c -- splits text into words as BERT's tokenizer does; classes of characters. */
#include "tokenizer/words.h"

#include "text/text.h"

#include <utf8proc.h>

enum { SPACE = ' ' };

/* The Unicode property White_Space. */
bool heed__is_space(int32_t c) {
    if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/* Removed: NUL, the replacement character, control, format, private use; not unassigned ones. */
bool heed__is_dropped(int32_t c) {
    if (c == '\t' || c == '\n' || c == '\r') return false;
    if (c < 0x80) return c < 0x20 || c == 0x7F;
    utf8proc_category_t k = utf8proc_category(c);
    return c == 0xFFFD || k == UTF8PROC_CATEGORY_CC || k == UTF8PROC_CATEGORY_CF ||
           k == UTF8PROC_CATEGORY_CO;
}

/* Ideographs. The seventh block begins at 2B920, not at its 2B820, in the reference. */
bool heed__is_ideograph(int32_t c) {
    static const int32_t blocks[][2] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                        {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                        {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
    if (c < 0x3400) return false;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (c >= blocks[i][0] && c <= blocks[i][1]) return true;
    return false;
}

/* U+3000 to U+30FF: 、。「」々, hiragana and katakana; U+FF01 to U+FF60: ！，？ and other wide
 * forms. */
bool heed__is_unspaced(int32_t c) {
    return (c >= 0x3000 && c <= 0x30FF) || (c > 0xFF00 && c <= 0xFF60) || heed__is_ideograph(c);
}

/* ASCII except letters, digits, space and controls (so $, ^ and ` too); beyond it, category P*. */
static bool is_punctuation(int32_t c) {
    if (c < 0x80)
        return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
               (c >= 123 && c <= 126);
    utf8proc_category_t k = utf8proc_category(c);
    return k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO;
}

bool heed__is_single(int32_t c) { return heed__is_ideograph(c) || is_punctuation(c); }

/* Canonical decomposition without accents (Mn), and lower case, for one character. */
static void fold(heed__words *k, int32_t c) {
    int32_t parts[HEED__DECOMPOSED] = {c};
    int count = k->strip ? heed__decompose(c, parts) : 1;
    k->queued = 0;
    for (int i = 0; i < count; i++) {
        if (k->strip && heed__is_mark(parts[i])) continue;
        k->queue[k->queued++] = k->lower ? heed__lower(parts[i]) : parts[i];
    }
}

/* Fills the queue from the next character that is not removed entirely; false at the end. */
static bool refill(heed__words *k) {
    k->queued = k->taken = 0;
    while (!k->queued && k->next < k->n) {
        int32_t c;
        k->begin = k->next;
        k->next += heed_utf8_read(k->text + k->next, k->n - k->next, &c);
        if (c < 0 || heed__is_dropped(c)) continue;
        k->alone = heed__is_ideograph(c);
        if (heed__is_space(c))
            k->queue[k->queued++] = SPACE;
        else
            fold(k, c);
    }
    return k->queued > 0;
}

static void append(heed__word *w, int32_t c, size_t begin, size_t end) {
    if (w->chars < HEED__WORD_CHARS) {
        size_t at = w->at[w->chars];
        w->begin[w->chars] = begin;
        w->end[w->chars] = end;
        w->at[w->chars + 1] = at + heed_utf8_write(c, w->buffer + at);
    }
    w->chars++;
    w->last = end;
}

bool heed__words_next(heed__words *k, heed__word *w) {
    w->chars = 0;
    w->at[0] = 2;
    while (k->taken < k->queued || refill(k)) {
        int32_t c = k->queue[k->taken];
        bool single = k->alone || is_punctuation(c);
        if (w->chars && (single || c == SPACE))
            return true; /* c, even a space, stays in the queue */
        k->taken++;
        if (c == SPACE) continue;
        append(w, c, k->begin, k->next);
        if (single) return true;
    }
    return w->chars > 0;
}

static bool is_alphanumeric(unsigned char c) {
    return (unsigned char)((c | 32) - 'a') < 26 || (unsigned char)(c - '0') < 10;
}

/* Vertical tabs and form feeds are removed, as BERT's tokenizer does. */
static bool is_ascii_space(unsigned char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* ASCII characters that are removed do not end a word. */
static bool ends_word(unsigned char c) {
    return is_ascii_space(c) || (c > 32 && c < 127 && !is_alphanumeric(c));
}

size_t heed__words_plain(heed__words *k, char word[HEED__WORD_CHARS], size_t *begin) {
    const char *s = k->text;
    if (k->taken < k->queued && k->queue[k->taken] == SPACE) k->taken++;
    if (k->taken < k->queued) return 0;
    while (k->next < k->n && is_ascii_space((unsigned char)s[k->next])) k->next++;
    size_t at = *begin = k->next, n = 0;
    for (; at + n < k->n && is_alphanumeric((unsigned char)s[at + n]); n++) {
        if (n == HEED__WORD_CHARS) return 0;
        bool capital = k->lower && s[at + n] >= 'A' && s[at + n] <= 'Z';
        word[n] = (char)(capital ? s[at + n] | 32 : s[at + n]);
    }
    if (at + n < k->n && !ends_word((unsigned char)s[at + n])) return 0;
    if (n == 0 && at < k->n) word[n++] = s[at];
    k->next = at + n;
    return n;
}

void heed__word_set(heed__word *w, const char *word, size_t n, size_t begin) {
    w->chars = 0;
    w->at[0] = 2;
    for (size_t i = 0; i < n; i++) append(w, word[i], begin + i, begin + i + 1);
}

/* ---- classes of characters ---- */

/* Alphabetic symbols: letters in circles and squares. */
static bool is_lettered(int32_t c) {
    return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
           (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

/* The categories of each class as bits. */
#define BIT(name) (1u << UTF8PROC_CATEGORY_##name)
enum {
    LETTERS = BIT(LU) | BIT(LL) | BIT(LT) | BIT(LM) | BIT(LO),
    MARKS = BIT(MN) | BIT(MC) | BIT(ME),
    POINTS = BIT(PC) | BIT(PD) | BIT(PS) | BIT(PE) | BIT(PI) | BIT(PF) | BIT(PO)
};
static const uint32_t categories[] = {
    [HEED__LETTER] = LETTERS,
    [HEED__NUMERAL] = BIT(ND) | BIT(NL) | BIT(NO),
    [HEED__DECIMAL] = BIT(ND),
    [HEED__PUNCTUATION] = POINTS,
    [HEED__WORD_CHAR] = LETTERS | MARKS | BIT(ND) | BIT(NL) | BIT(PC),
    [HEED__MARK] = MARKS,
    [HEED__UPPER] = BIT(LU),
    [HEED__LOWER_CASE] = BIT(LL),
    [HEED__TITLE] = BIT(LT),
    [HEED__MODIFIER] = BIT(LM),
    [HEED__OTHER] = BIT(LO),
    [HEED__SYMBOL] = BIT(SM) | BIT(SC) | BIT(SK) | BIT(SO),
    [HEED__POINT] = POINTS,
};

/* \w as in Oniguruma, which counts the powers and fractions of Latin-1 only outside of sets. */
static bool is_pattern_word(int32_t c, bool in_set) {
    if (c == 0x200C || c == 0x200D) return false;
    bool number = c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0xBC && c <= 0xBE);
    return (number && !in_set) || heed__in_class(HEED__WORD_CHAR, c);
}

bool heed__in_class(heed__class k, int32_t c) {
    if (c < 0) return false;
    if (k == HEED__PATTERN_WORD || k == HEED__SET_WORD)
        return is_pattern_word(c, k == HEED__SET_WORD);
    if (k == HEED__SPACE) return heed__is_space(c);
    if (k == HEED__PUNCTUATION && c < 0x80) return heed__is_single(c);
    if (k == HEED__WORD_CHAR && (c == 0x200C || c == 0x200D || is_lettered(c))) return true;
    return categories[k] >> utf8proc_category(c) & 1;
}
