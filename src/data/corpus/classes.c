/* classes.c -- classes of characters by Unicode's categories. */
#include "data/corpus/pattern.h"
#include "data/corpus/words.h"

#include <utf8proc.h>

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

bool heed__in_class(heed__class k, int32_t c) {
    if (c < 0) return false;
    if (k == HEED__SPACE) return heed__is_space(c);
    if (k == HEED__PUNCTUATION && c < 0x80) return heed__is_single(c);
    if (k == HEED__WORD_CHAR && (c == 0x200C || c == 0x200D || is_lettered(c))) return true;
    return categories[k] >> utf8proc_category(c) & 1;
}
