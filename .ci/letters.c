/* letters.c -- draws the letters of a TrueType font at build time and writes them as a C file:
 * letters FONT.ttf > letters.c. view/font.c reads it. */
#include <stdint.h>
#include <stdio.h>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#if __has_include(<stb/stb_truetype.h>)
#include <stb/stb_truetype.h>
#else
#include <stb_truetype.h> /* STB_DIR */
#endif

/* Pixels of the em square, for scale 1 and scale 2 of a label. */
static const float sizes[] = {10, 18};
enum { SIZES = sizeof sizes / sizeof *sizes, GLYPHS = 2048, BITS = 1 << 20 };

/* Latin, marks, Greek, Cyrillic, punctuation, signs of currencies, numbers, arrows, mathematics and
 * keys. 25A1 is drawn for letters that are not here. */
static const struct {
    int first, last;
} ranges[] = {
    {0x0020, 0x007E}, {0x00A0, 0x017F}, {0x018F, 0x018F}, {0x0192, 0x0192}, {0x01CD, 0x01DC},
    {0x0218, 0x021B}, {0x0259, 0x0259}, {0x02BC, 0x02BC}, {0x02C6, 0x02C7}, {0x02D8, 0x02DD},
    {0x0300, 0x0304}, {0x0306, 0x030C}, {0x0323, 0x0323}, {0x0326, 0x0328}, {0x0331, 0x0331},
    {0x0384, 0x03CE}, {0x03D1, 0x03D1}, {0x03D5, 0x03D5}, {0x03F5, 0x03F5}, {0x0400, 0x045F},
    {0x0490, 0x0491}, {0x1E9E, 0x1E9E}, {0x2010, 0x2016}, {0x2018, 0x2022}, {0x2026, 0x2026},
    {0x2030, 0x2030}, {0x2032, 0x2034}, {0x2039, 0x203A}, {0x2044, 0x2044}, {0x2070, 0x2071},
    {0x2074, 0x208E}, {0x20AC, 0x20AC}, {0x20BD, 0x20BD}, {0x2102, 0x2102}, {0x2113, 0x2116},
    {0x211D, 0x211D}, {0x2122, 0x2122}, {0x2124, 0x2124}, {0x2190, 0x2199}, {0x21A6, 0x21A6},
    {0x21B5, 0x21B5}, {0x21D0, 0x21D4}, {0x21E5, 0x21E5}, {0x2200, 0x2213}, {0x2215, 0x221E},
    {0x2223, 0x222B}, {0x2234, 0x2235}, {0x223C, 0x223C}, {0x2243, 0x2243}, {0x2245, 0x2245},
    {0x2248, 0x2248}, {0x2260, 0x2261}, {0x2264, 0x2265}, {0x226A, 0x226B}, {0x2282, 0x2287},
    {0x2295, 0x2299}, {0x22A4, 0x22A5}, {0x22C5, 0x22C5}, {0x22EF, 0x22EF}, {0x2308, 0x230B},
    {0x23CE, 0x23CE}, {0x2423, 0x2423}, {0x2500, 0x2500}, {0x2502, 0x2502}, {0x25A0, 0x25A1},
    {0x25B2, 0x25B2}, {0x25BC, 0x25BC}, {0x25CB, 0x25CC}, {0x25CF, 0x25CF}, {0x2605, 0x2606},
    {0x2713, 0x2713}, {0x2717, 0x2717},
};

static unsigned char bits[BITS / 8];
static size_t used; /* bits */

static void put(unsigned value, int count) {
    while (count-- > 0 && used < BITS) {
        bits[used / 8] |= (unsigned char)((value >> count & 1) << (used % 8));
        used++;
    }
}

/* A pixel is 0: nothing; 10: all ink; 11 and three bits: one to eight ninths. */
static void put_cover(int cover) {
    int ninths = (cover * 9 + 127) / 255;
    if (ninths == 0)
        put(0, 1);
    else if (ninths == 9)
        put(2, 2);
    else
        put(3, 2), put((unsigned)(ninths - 1), 3);
}

/* Appends the pixels of a glyph and prints its entry of the table. */
static void bake(const stbtt_fontinfo *font, int glyph, float scale) {
    int advance, bearing, left, top, width, height;
    stbtt_GetGlyphHMetrics(font, glyph, &advance, &bearing);
    unsigned char *cover =
        stbtt_GetGlyphBitmap(font, scale, scale, glyph, &width, &height, &left, &top);
    used = (used + 7) / 8 * 8;
    printf("{%d,%d,%d,%d,%d,%d},\n", (int)(used / 8), (int)((float)advance * scale + 0.5f), width,
           height, left, top);
    for (int i = 0; cover && i < width * height; i++) put_cover(cover[i]);
    stbtt_FreeBitmap(cover, NULL);
}

int main(int argc, char **argv) {
    static unsigned char file[1 << 24];
    static int codes[GLYPHS];
    stbtt_fontinfo font;
    int count = 0;
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!f || !fread(file, 1, sizeof file, f) || !stbtt_InitFont(&font, file, 0)) {
        fprintf(stderr, "letters: %s is not a TrueType font\n", argc == 2 ? argv[1] : "nothing");
        return 1;
    }
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int code = ranges[r].first; code <= ranges[r].last && count < GLYPHS; code++)
            if (stbtt_FindGlyphIndex(&font, code)) codes[count++] = code;
    printf("#include \"view/font.h\"\nconst int heed__letter_count = %d;\n"
           "const uint16_t heed__letter_codes[] = {\n",
           count);
    for (int i = 0; i < count; i++) printf("%d,%s", codes[i], i % 16 == 15 ? "\n" : "");
    printf("};\nconst heed__glyph heed__letter_glyphs[] = {\n");
    for (int s = 0; s < SIZES; s++)
        for (int i = 0; i < count; i++)
            bake(&font, stbtt_FindGlyphIndex(&font, codes[i]),
                 stbtt_ScaleForMappingEmToPixels(&font, sizes[s]));
    printf("};\nconst unsigned char heed__letter_bits[] = {\n");
    for (size_t i = 0; i < (used + 7) / 8; i++) printf("%d,%s", bits[i], i % 32 == 31 ? "\n" : "");
    printf("};\n");
    return fclose(f) != 0 || used >= BITS;
}
