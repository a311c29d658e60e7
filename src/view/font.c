/* font.c -- the built-in font: 5x7 points per glyph, the lowest bit of a column at the top;
 * letters with descenders have two more rows. Accented letters are a letter and its marks, which
 * are in the two rows above small letters. */
#include "view/draw.h"

#include <string.h>

/* A glyph is five columns from left to right: of two hexadecimal digits each for ASCII, of three
 * for all others. */
static const uint64_t ascii[95] = {
    0x0000000000, 0x00005F0000, 0x0007000700, 0x147F147F14, 0x242A7F2A12, 0x2313086462,
    0x3649552250, 0x0000070000, 0x001C224100, 0x0041221C00, 0x14083E0814, 0x08083E0808,
    0x0050300000, 0x0808080808, 0x0060600000, 0x2010080402, 0x3E5149453E, 0x00427F4000,
    0x4261514946, 0x2141454B31, 0x1814127F10, 0x2745454539, 0x3C4A494930, 0x0171090503,
    0x3649494936, 0x064949291E, 0x0036360000, 0x0056360000, 0x0814224100, 0x1414141414,
    0x0041221408, 0x0201510906, 0x3E415D551E, 0x7E1111117E, 0x7F49494936, 0x3E41414122,
    0x7F4141221C, 0x7F49494941, 0x7F09090901, 0x3E4149497A, 0x7F0808087F, 0x00417F4100,
    0x2040413F01, 0x7F08142241, 0x7F40404040, 0x7F020C027F, 0x7F0408107F, 0x3E4141413E,
    0x7F09090906, 0x3E4151215E, 0x7F09192946, 0x4649494931, 0x01017F0101, 0x3F4040403F,
    0x1F2040201F, 0x3F4038403F, 0x6314081463, 0x0708700807, 0x6151494543, 0x007F414100,
    0x0204081020, 0x0041417F00, 0x0402010204, 0x4040404040, 0x0001020400, 0x2054545478,
    0x7F48444438, 0x3844444420, 0x384444487F, 0x3854545418, 0x087E090102, 0x0C5252523E,
    0x7F08040478, 0x00447D4000, 0x2040443D00, 0x7F10284400, 0x00417F4000, 0x7C04180478,
    0x7C08040478, 0x3844444438, 0x7C14141408, 0x081414187C, 0x7C08040408, 0x4854545420,
    0x043F444020, 0x3C4040207C, 0x1C2040201C, 0x3C4030403C, 0x4428102844, 0x0C5050503C,
    0x4464544C44, 0x0008364100, 0x00007F0000, 0x0041360800, 0x0804081008,
};
static const uint64_t box = 0x07F04104104107F;

typedef struct {
    int32_t code;
    uint64_t columns;
} glyph;

/* Signs for spaces, new lines, tabs and cuts in labels; letters and signs that are not a letter
 * with a mark; at the end letters that reach below the base line. */
static const glyph others[] = {
    {0x2423, 0x070040040040070}, {0x23CE, 0x01003805401001F}, {0x21E5, 0x00802A01C00803E},
    {0x2026, 0x040000040000040}, {0x00A1, 0x00000007D000000}, {0x00A2, 0x01802407E024024},
    {0x00A3, 0x04807E049041022}, {0x00A5, 0x02902A07C02A029}, {0x00A7, 0x04A055055029000},
    {0x00A9, 0x03E04105D05503E}, {0x00AA, 0x012015017000000}, {0x00AB, 0x010028054028044},
    {0x00AC, 0x00400400400401C}, {0x00AE, 0x03E05507D04103E}, {0x00B0, 0x006009009006000},
    {0x00B1, 0x04404405F044044}, {0x00B2, 0x00900D00B000000}, {0x00B3, 0x00900B00F000000},
    {0x00B5, 0x1FC04004002007C}, {0x00B6, 0x00600F07F00107F}, {0x00B7, 0x000000008000000},
    {0x00B9, 0x00200F000000000}, {0x00BA, 0x012015012000000}, {0x00BB, 0x044028054028010},
    {0x00BF, 0x030048045040020}, {0x00C6, 0x07E00907F049049}, {0x00D0, 0x00807F04904103E},
    {0x00D7, 0x022014008014022}, {0x00D8, 0x07E07104904703F}, {0x00DE, 0x07F01201200C000},
    {0x00DF, 0x07E001049036000}, {0x00E6, 0x024054038054058}, {0x00F0, 0x03504A04D048030},
    {0x00F7, 0x00800802A008008}, {0x00F8, 0x07806405404C03C}, {0x00FE, 0x1FF044044044038},
    {0x0111, 0x03804404607F002}, {0x0126, 0x07F00A00A00A07F}, {0x0127, 0x00207F006004078},
    {0x0131, 0x00004407C040000}, {0x0132, 0x07F02004004103F}, {0x0133, 0x07D1001050FC000},
    {0x013F, 0x07F040048040000}, {0x0140, 0x04107F040008000}, {0x0141, 0x01007F048044040},
    {0x0142, 0x00005107F044000}, {0x0149, 0x00300007C004078}, {0x014A, 0x07F00210C1100FF},
    {0x014B, 0x07C0081041040F8}, {0x0152, 0x03E04107F049049}, {0x0153, 0x038044038054058},
    {0x0166, 0x00900907F009009}, {0x0167, 0x01401403F054054}, {0x017F, 0x00007E001001000},
    {0x0393, 0x07F001001001001}, {0x0394, 0x07004C04304C070}, {0x0398, 0x03E04904904903E},
    {0x039B, 0x07000C00300C070}, {0x039E, 0x041049049049041}, {0x03A0, 0x07F00100100107F},
    {0x03A3, 0x041063055049041}, {0x03A6, 0x01C02207F02201C}, {0x03A8, 0x00700807F008007},
    {0x03A9, 0x05E06100106105E}, {0x03B1, 0x038044044038044}, {0x03B2, 0x1FE02504504A030},
    {0x03B3, 0x00C0301C003000C}, {0x03B4, 0x03204D04D048030}, {0x03B5, 0x028054054044000},
    {0x03B6, 0x031049145083000}, {0x03B7, 0x07C0080040041F8}, {0x03B8, 0x03E04904903E000},
    {0x03BB, 0x06101900E030040}, {0x03BE, 0x01A0251250C1000}, {0x03C0, 0x04403C00407C004},
    {0x03C2, 0x0180240A4044000}, {0x03C3, 0x03804404404C034}, {0x03C4, 0x00400403C044004},
    {0x03C6, 0x0380441F8044038}, {0x03C8, 0x03C0401FC04003C}, {0x03C9, 0x038044030044038},
    {0x0404, 0x03E049049041022}, {0x0411, 0x07F049049049031}, {0x0414, 0x06003E02103F060},
    {0x0416, 0x06301407F014063}, {0x0418, 0x07F01000800407F}, {0x041B, 0x04003E00100107F},
    {0x0426, 0x07F04004007F0C0}, {0x0427, 0x00700800800807F}, {0x0428, 0x07F04007F04007F},
    {0x0429, 0x07F04007F0400FF}, {0x042A, 0x00107F048048030}, {0x042B, 0x07F04803000007F},
    {0x042C, 0x07F048048048030}, {0x042D, 0x02204104904903E}, {0x042E, 0x07F00803E04103E},
    {0x042F, 0x04602901900907F}, {0x0431, 0x03C04A045045038}, {0x0444, 0x0380441FE044038},
    {0x2013, 0x000008008008000}, {0x2014, 0x008008008008008}, {0x2018, 0x000006001000000},
    {0x2019, 0x000004003000000}, {0x201C, 0x006001006001000}, {0x201D, 0x004003004003000},
    {0x201E, 0x1000C01000C0000}, {0x20AC, 0x01403E055055022}, {0x2192, 0x00800802A01C008},
    {'g', 0x0381441441440FC},    {'j', 0x0000801040FD000},    {'p', 0x1FC044044044038},
    {'q', 0x0380440440441FC},    {'y', 0x03C1401401400FC},
};

/* Letters and signs that are drawn like another. */
static const struct {
    int32_t code, like;
} alike[] = {
    {0x00A0, ' '},    {0x0391, 'A'},    {0x0392, 'B'},    {0x0395, 'E'},    {0x0396, 'Z'},
    {0x0397, 'H'},    {0x0399, 'I'},    {0x039A, 'K'},    {0x039C, 'M'},    {0x039D, 'N'},
    {0x039F, 'O'},    {0x03A1, 'P'},    {0x03A4, 'T'},    {0x03A5, 'Y'},    {0x03A7, 'X'},
    {0x03BD, 'v'},    {0x03BF, 'o'},    {0x03C1, 'p'},    {0x03C5, 'u'},    {0x03C7, 'x'},
    {0x0405, 'S'},    {0x0406, 'I'},    {0x0408, 'J'},    {0x0410, 'A'},    {0x0412, 'B'},
    {0x0415, 'E'},    {0x0417, '3'},    {0x041A, 'K'},    {0x041C, 'M'},    {0x041D, 'H'},
    {0x041E, 'O'},    {0x0420, 'P'},    {0x0421, 'C'},    {0x0422, 'T'},    {0x0423, 'Y'},
    {0x0425, 'X'},    {0x0430, 'a'},    {0x0435, 'e'},    {0x043E, 'o'},    {0x0440, 'p'},
    {0x0441, 'c'},    {0x0443, 'y'},    {0x0445, 'x'},    {0x0455, 's'},    {0x0456, 'i'},
    {0x0458, 'j'},    {0x2010, '-'},    {0x2011, '-'},    {0x2212, '-'},    {0x00A6, '|'},
    {0x00B4, '\''},   {0x0110, 0x00D0}, {0x0189, 0x00D0}, {0x03B9, 0x0131}, {0x03BC, 0x00B5},
    {0x0413, 0x0393}, {0x041F, 0x03A0}, {0x0424, 0x03A6}};

/* Letters that are drawn as smaller capitals. */
static const struct {
    int32_t first, last, capital;
} small[] = {{0x0432, 0x044F, 0x0412},
             {0x03BA, 0x03BA, 0x039A},
             {0x0138, 0x0138, 0x004B},
             {0x0454, 0x0454, 0x0404}};

/* Combining marks. Above: grave, acute, circumflex, tilde, macron, breve, dot, diaeresis, ring,
 * double acute, comma at the right, caron; below: dot, comma, cedilla, ogonek. */
static const glyph marks[] = {
    {0x0300, 0x000001002000000}, {0x0301, 0x000000002001000}, {0x0302, 0x000002001002000},
    {0x0303, 0x002001001002001}, {0x0304, 0x000001001001000}, {0x0306, 0x001002002002001},
    {0x0307, 0x000000001000000}, {0x0308, 0x000001000001000}, {0x030A, 0x000003003000000},
    {0x030B, 0x002001002001000}, {0x0315, 0x000000000003000}, {0x030C, 0x000001002001000},
    {0x0323, 0x000000100000000}, {0x0326, 0x000100080000000}, {0x0327, 0x000100180000000},
    {0x0328, 0x000000000080100},
};

static unsigned column_of(uint64_t columns, int column) {
    return columns >> (12 * (4 - column)) & 0x1FF;
}

static const glyph *find(const glyph *list, size_t count, int32_t code) {
    for (size_t i = 0; i < count; i++)
        if (list[i].code == code) return &list[i];
    return NULL;
}

/* ---- letters ---- */

enum { ABOVE = 0x003 }; /* the rows for marks */

/* Compresses seven rows to five, below the rows for marks: two rows at either end become one. */
static unsigned lowered(unsigned c) {
    return ((c << 2 | c << 1) & 0x04) | (c << 1 & 0x38) | ((c << 1 | c) & 0x40) | (c & 0x180);
}

static unsigned plain_column(int32_t code, int column) {
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (alike[i].code == code) code = alike[i].like;
    const glyph *own = find(others, sizeof others / sizeof *others, code);
    if (own) return column_of(own->columns, column);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (code >= small[i].first && code <= small[i].last)
            return lowered(plain_column(small[i].capital + (code - small[i].first), column));
    if (code < 32 || code >= 127) return column_of(box, column);
    return ascii[code - 32] >> (8 * (4 - column)) & 0xFF;
}

/* ---- marks ---- */

static bool is_tall(int32_t code) { return code > 0 && code < 128 && strchr("bdfhklt", (int)code); }

enum { CARON = 0x030C, AT_THE_RIGHT = 0x0315 }; /* the form of the caron beside a tall letter */
enum { BELOW = 220 };                           /* Unicode's combining class */

/* A mark that the font lacks is drawn as a line in its place. */
static unsigned mark_column(int32_t code, int column) {
    const glyph *own = find(marks, sizeof marks / sizeof *marks, code);
    if (own) return column_of(own->columns, column);
    return heed__combining_class(code) == BELOW ? 0x100 : 0x001;
}

static bool is_over(const heed__letter *g) {
    unsigned rows = 0;
    for (int i = 0; i < g->marks; i++)
        for (int k = 0; k < 5; k++) rows |= mark_column(g->mark[i], k);
    return rows & ABOVE;
}

/* A letter under its marks: i and j without their dots, capitals lower. Tall small letters are
 * unchanged, since their marks are beside them. */
static unsigned under_column(int32_t code, int column) {
    unsigned rows = 0, own = plain_column(code, column);
    for (int i = 0; i < 5; i++) rows |= plain_column(code, i);
    if (code == 'i' || code == 'j') return own & ~(unsigned)ABOVE;
    return rows & ABOVE && !is_tall(code) ? lowered(own) : own;
}

unsigned heed__letter_column(const heed__letter *g, int column) {
    bool over = is_over(g);
    int32_t code = g->code == 0x0456 ? 'i' : g->code;
    int beside = !over || !is_tall(code) ? 0 : code == 'd' ? -1 : 1;
    unsigned bits = over ? under_column(code, column) : plain_column(code, column);
    for (int i = 0; i < g->marks; i++) {
        int32_t mark = beside > 0 && g->mark[i] == CARON ? AT_THE_RIGHT : g->mark[i];
        if (column >= beside && column - beside < 5) bits |= mark_column(mark, column - beside);
    }
    return bits;
}

/* ---- from text ---- */

static int32_t next_code(const char **text) {
    int32_t code;
    *text += heed_utf8_read(*text, SIZE_MAX, &code);
    return code;
}

/* Adds a mark that is drawn over the letter before it; others, such as variation selectors, are
 * ignored. */
static void add_mark(heed__letter *g, int32_t code) {
    if (heed__combining_class(code) && g->marks < HEED__MARKS) g->mark[g->marks++] = code;
}

heed__letter heed__next_letter(const char **text) {
    int32_t part[HEED__DECOMPOSED];
    heed__letter g = {.code = next_code(text)};
    int n = heed__decompose(g.code, part);
    if (n == 1 || heed__is_mark(part[1])) {
        g.code = part[0];
        for (int i = 1; i < n; i++) add_mark(&g, part[i]);
    }
    for (const char *after = *text; *after; *text = after) {
        int32_t code = next_code(&after);
        if (code < 0 || !heed__is_mark(code)) break;
        add_mark(&g, code);
    }
    return g;
}

bool heed__text_boxed(const char *text) {
    while (*text) {
        heed__letter g = heed__next_letter(&text);
        int same = 0;
        for (int k = 0; k < 5; k++) same += plain_column(g.code, k) == column_of(box, k);
        if (same == 5) return true;
    }
    return false;
}
