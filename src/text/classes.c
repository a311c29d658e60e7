/* classes.c -- classes of characters. */
#include "text/classes.h"

#include <utf8proc.h>

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
    if (k == HEED__ANY || c < 0) return k == HEED__ANY;
    if (k == HEED__PATTERN_WORD || k == HEED__SET_WORD)
        return is_pattern_word(c, k == HEED__SET_WORD);
    if (k == HEED__SPACE) return heed__is_space(c);
    if (k == HEED__PUNCTUATION && c < 0x80) return heed__is_single(c);
    if (k == HEED__WORD_CHAR && (c == 0x200C || c == 0x200D || is_lettered(c))) return true;
    return categories[k] >> utf8proc_category(c) & 1;
}
