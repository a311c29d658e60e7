/* font.c -- from text to the letters drawn at build time: accented letters that the font lacks are
 * put together from a letter and its marks. */
#include "view/font.h"

#include "text/text.h"

enum { BOX = 0x25A1, ZERO_WIDTH_JOINER = 0x200D };
enum { ABOVE = 230 }; /* Unicode's combining class */

/* Returns the place of a code point, or -1. */
static int find(int32_t code) {
    int low = 0, high = heed__letter_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (heed__letter_codes[middle] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < heed__letter_count && heed__letter_codes[low] == code ? low : -1;
}

static const heed__glyph *glyph_of(int place, int scale) {
    return &heed__letter_glyphs[(scale > 1 ? heed__letter_count : 0) + place];
}

/* ---- from text ---- */

static int32_t next_code(const char **text) {
    int32_t code;
    *text += heed_utf8_read(*text, SIZE_MAX, &code);
    return code;
}

/* The glyph that is a base and a mark in one, or -1. */
static int composed(int base, int32_t mark) {
    int32_t part[HEED__DECOMPOSED];
    for (int i = 0; i < heed__letter_count; i++)
        if (heed__decompose(heed__letter_codes[i], part) == 2 && part[1] == mark &&
            part[0] == heed__letter_codes[base])
            return i;
    return -1;
}

static void add_mark(heed__letter *g, int32_t code) {
    int whole = g->marks ? -1 : composed(g->glyph, code), mark = find(code);
    if (whole >= 0)
        g->glyph = whole;
    else if (mark >= 0 && g->marks < HEED__MARKS)
        g->mark[g->marks++] = mark;
}

heed__letter heed__next_letter(const char **text) {
    int32_t part[HEED__DECOMPOSED], code = next_code(text);
    heed__letter g = {.glyph = find(code)};
    if (g.glyph < 0) {
        int n = heed__decompose(code, part);
        g.glyph = n > 1 && heed__is_mark(part[1]) ? find(part[0]) : -1;
        g.boxed = g.glyph < 0;
        for (int i = 1; !g.boxed && i < n; i++) add_mark(&g, part[i]);
    }
    if (g.boxed) g.glyph = find(BOX);
    for (const char *after = *text; *after; *text = after) {
        code = next_code(&after);
        if (code < 0 || !(heed__is_mark(code) || code == ZERO_WIDTH_JOINER)) break;
        if (!g.boxed) add_mark(&g, code);
    }
    return g;
}

bool heed__text_boxed(const char *text) {
    while (*text)
        if (heed__next_letter(&text).boxed) return true;
    return false;
}

/* ---- pixels ---- */

int heed__letter_width(const heed__letter *g, int scale) {
    return glyph_of(g->glyph, scale)->advance;
}

static unsigned next_bit(size_t *at) {
    unsigned bit = heed__letter_bits[*at / 8] >> (*at % 8) & 1;
    (*at)++;
    return bit;
}

/* 0: no ink; 10: all; 11 and three bits: one to eight ninths. */
static float next_ink(size_t *at) {
    if (!next_bit(at)) return 0;
    if (!next_bit(at)) return 1;
    unsigned ninths = next_bit(at) << 2;
    ninths |= next_bit(at) << 1;
    return (float)(1 + (ninths | next_bit(at))) / 9;
}

/* The font's marks are above small letters: over others they are raised, and centred. */
static void place_mark(const heed__letter *g, int32_t code, int scale, heed__inked *mark) {
    const heed__glyph *base = glyph_of(g->glyph, scale), *x = glyph_of(find('x'), scale);
    mark->left = base->left + (base->width - mark->width) / 2;
    if (heed__combining_class(code) == ABOVE && base->top < x->top) mark->top += base->top - x->top;
}

void heed__letter_draw(const heed__letter *g, int part, int scale, heed__inked *out) {
    int place = part ? g->mark[part - 1] : g->glyph;
    const heed__glyph *from = glyph_of(place, scale);
    *out = (heed__inked){from->left, from->top, from->width, from->height, {0}};
    size_t at = (size_t)from->at * 8;
    for (int i = 0; i < out->width * out->height; i++) out->ink[i] = next_ink(&at);
    if (part) place_mark(g, heed__letter_codes[place], scale, out);
}
