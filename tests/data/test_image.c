/* Decoding: every format right, or refused with the reason. */
#include "files.h"
#include "golden.h"
#include "io/io.h"
#include "pictures.h"

/* ---- PNG ---- */

TEST(image_png_grey) {
    picture_file f;
    png_begin(&f, 3, 1, 1, 0);
    png_end(&f, "\0\xA0", 2);
    CHECK_PICTURE(&f, 3, 1, 1, 255, 0, 255);
    png_begin(&f, 4, 1, 2, 0);
    png_end(&f, "\0\x1B", 2);
    CHECK_PICTURE(&f, 4, 1, 1, 0, 85, 170, 255);
    png_begin(&f, 2, 2, 4, 0);
    png_end(&f, "\0\x0F\2\x10", 4); /* the second row is the difference to the first */
    CHECK_PICTURE(&f, 2, 2, 1, 0, 255, 17, 255);
    png_begin(&f, 2, 1, 16, 0);
    png_end(&f, "\0\x12\xFF\xFE\x01", 5);
    CHECK_PICTURE(&f, 2, 1, 1, 0x12, 0xFE);
}

TEST(image_png_colour_and_alpha) {
    picture_file f;
    png_begin(&f, 2, 1, 8, 2);
    png_end(&f, "\0\1\2\3\4\5\6", 7);
    CHECK_PICTURE(&f, 2, 1, 3, 1, 2, 3, 4, 5, 6);
    png_begin(&f, 1, 2, 8, 4);
    png_end(&f, "\0\1\2\0\3\4", 6);
    CHECK_PICTURE(&f, 1, 2, 2, 1, 2, 3, 4);
    png_begin(&f, 1, 1, 16, 6);
    png_end(&f, "\0\1\xFF\2\xFF\3\xFF\4\xFF", 9);
    CHECK_PICTURE(&f, 1, 1, 4, 1, 2, 3, 4);
    png_begin(&f, 2, 1, 2, 0);
    png_chunk(&f, "tRNS", "\0\2", 2);
    png_end(&f, "\0\x60", 2);
    CHECK_PICTURE(&f, 2, 1, 2, 85, 255, 170, 0);
}

TEST(image_png_palette) {
    picture_file f;
    png_begin(&f, 3, 1, 2, 3);
    png_chunk(&f, "PLTE", "\1\2\3\4\5\6", 6);
    png_end(&f, "\0\x1C", 2); /* 0, 1, and 3, which is missing: black */
    CHECK_PICTURE(&f, 3, 1, 3, 1, 2, 3, 4, 5, 6, 0, 0, 0);
    png_begin(&f, 2, 1, 8, 3);
    png_chunk(&f, "PLTE", "\1\2\3\4\5\6", 6);
    png_chunk(&f, "tRNS", "\7", 1);
    png_end(&f, "\0\0\1", 3);
    CHECK_PICTURE(&f, 2, 1, 4, 1, 2, 3, 7, 4, 5, 6, 255);
}

static void small_png(picture_file *f) {
    png_begin(f, 2, 2, 8, 2);
    png_end(f, "\0\1\2\3\4\5\6\0\7\7\7\7\7\7", 14);
}

TEST(image_png_cut_or_changed_is_refused) {
    picture_file f;
    small_png(&f);
    CHECK_CUT(&f);
    for (size_t i = 0; i < f.n; i++) {
        heed_picture p;
        f.bytes[i] ^= 16;
        CHECK(decode(&f, &p) == HEED_DATA);
        f.bytes[i] ^= 16;
    }
    file_put(&f, "more", 4);
    CHECK_PICTURE(&f, 2, 2, 3, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7);
}

TEST(image_png_of_wrong_structure) {
    picture_file f;
    png_begin(&f, 2, 2, 8, 2);
    png_end(&f, "\0\1\2\3\4\5\6", 7);
    CHECK_REFUSED(&f, "too few pixels");
    png_begin(&f, 1, 1, 8, 2);
    png_end(&f, "\0\1\2\3\4\5\6", 7);
    CHECK_REFUSED(&f, "more pixels than its sides allow");
    png_begin(&f, 1u << 14, 1u << 13, 8, 2);
    png_end(&f, "\0", 1);
    CHECK_REFUSED(&f, "is too large: expected at most 67108864 pixels, found 16384 x 8192");
    png_begin(&f, 0, 5, 8, 2);
    png_end(&f, "\0", 1);
    CHECK_REFUSED(&f, "expected sides of at least 1, found 0 x 5");
    png_begin(&f, 1, 1, 3, 2);
    png_end(&f, "\0", 1);
    CHECK_REFUSED(&f, "colour type 2 does not go with 3 bits");
    png_begin(&f, 1, 1, 8, 3);
    png_end(&f, "\0\0", 2);
    CHECK_REFUSED(&f, "out of order");
    png_begin(&f, 1, 1, 8, 0);
    png_chunk(&f, "CRIT", "", 0);
    png_end(&f, "\0\0", 2);
    CHECK_REFUSED(&f, "unknown critical chunk");
    png_begin(&f, 1, 1, 8, 0);
    png_end(&f, "\7\0", 2);
    CHECK_REFUSED(&f, "filter");
}

TEST(image_png_written_by_us) {
    heed_ctx *c = heed_open(NULL);
    unsigned char rgb[5 * 4 * 3];
    for (int i = 0; i < 60; i++) rgb[i] = (unsigned char)(i * 37);
    const char *path = in_folder("a.png");
    CHECK(heed__png_save(c, path, rgb, 5, 4));
    heed_picture p;
    CHECK(heed_picture_read(path, &p, refused) == HEED_OK);
    CHECK(p.width == 5 && p.height == 4 && p.channels == 3 && memcmp(p.pixels, rgb, 60) == 0);
    heed_picture_free(&p);
    CHECK(heed_picture_read(in_folder("none.png"), &p, refused) == HEED_DATA);
    CHECK_HAS(refused, "cannot be read: No such file");
    CHECK(heed_picture_read(test_folder(), &p, refused) == HEED_DATA);
    CHECK(heed_picture_read(NULL, &p, refused) == HEED_DATA);
    CLOSE(c);
}

/* ---- JPEG ---- */

/* JPEG files of Pillow's: tests/golden/make_pictures.py. */
static const struct {
    const char *name;
    int width, height, channels;
} jpegs[] = {{"baseline", 19, 13, 3}, {"progressive", 18, 11, 3}, {"restarts", 40, 10, 1},
             {"rgb", 10, 9, 3},       {"cmyk", 9, 8, 3},          {"ycck", 9, 8, 3}};
enum { JPEGS = sizeof jpegs / sizeof *jpegs };

static picture_file jpeg_file(const char *name) {
    picture_file f = {.n = 0};
    char path[96];
    snprintf(path, sizeof path, "tests/golden/pictures/%s.jpg", name);
    FILE *in = fopen(path, "rb");
    unsigned char bytes[4096];
    CHECK(in != NULL);
    if (in) file_put(&f, bytes, fread(bytes, 1, sizeof bytes, in));
    if (in) fclose(in);
    return f;
}

TEST(image_jpeg_as_libjpeg) {
    for (int k = 0; k < JPEGS; k++) {
        picture_file f = jpeg_file(jpegs[k].name);
        heed_picture p;
        CHECK(decode(&f, &p) == HEED_OK);
        CHECK(p.width == jpegs[k].width && p.height == jpegs[k].height &&
              p.channels == jpegs[k].channels);
        int n = jpegs[k].width * jpegs[k].height * jpegs[k].channels;
        const double *pixels =
            golden_numbers("pictures/expected.safetensors", jpegs[k].name, (size_t)n);
        double sum = 0;
        for (int i = 0; p.pixels && i < n; i++) sum += fabs(p.pixels[i] - pixels[i]);
        CHECK_CLOSE(sum / n, 0, 1.0);
        heed_picture_free(&p);
    }
}

TEST(image_jpeg_cut_is_refused) {
    for (int k = 0; k < JPEGS; k++) {
        picture_file f = jpeg_file(jpegs[k].name);
        CHECK_CUT(&f);
    }
    picture_file f = jpeg_file("restarts");
    size_t at = f.n; /* the last restart marker and what follows it are lost, the end is not */
    while (at > 2 && !(f.bytes[at - 2] == 0xFF && (f.bytes[at - 1] & 0xF8) == 0xD0)) at--;
    f.n = at - 2;
    file_put(&f, "\xFF\xD9", 2);
    CHECK_REFUSED(&f, "restart markers are missing");
}

/* Whatever a byte becomes: a picture of some size, or a reason. */
TEST(image_jpeg_any_byte_may_change) {
    for (int k = 0; k < JPEGS; k++) {
        const picture_file whole = jpeg_file(jpegs[k].name);
        for (size_t i = 2; i < whole.n; i++)
            for (int change = 1; change < 256; change *= 4) {
                picture_file f = whole;
                heed_picture p;
                f.bytes[i] ^= (unsigned char)change;
                CHECK((decode(&f, &p) == HEED_OK) == (p.pixels != NULL));
                heed_picture_free(&p);
            }
    }
}

static size_t find_frame(const picture_file *f) {
    for (size_t i = 2; i + 4 < f->n;) {
        if (f->bytes[i + 1] == 0xC0) return i;
        i += 2 + ((size_t)f->bytes[i + 2] << 8 | f->bytes[i + 3]);
    }
    return 0;
}

TEST(image_jpeg_of_other_kinds) {
    picture_file f = jpeg_file("baseline");
    size_t at = find_frame(&f);
    CHECK(at > 0);
    f.bytes[at + 1] = 0xC9;
    CHECK_REFUSED(&f, "arithmetic-coded");
    f.bytes[at + 1] = 0xC3;
    CHECK_REFUSED(&f, "lossless");
    f.bytes[at + 1] = 0xC1;
    f.bytes[at + 4] = 12;
    CHECK_REFUSED(&f, "12-bit");
    f.bytes[at + 4] = 8;
    memcpy(f.bytes + at + 5, "\x20\0\x20\0", 4);
    CHECK_REFUSED(&f, "cannot hold 8192 x 8192 pixels");
    memcpy(f.bytes + at + 5, "\x20\1\x20\0", 4);
    CHECK_REFUSED(&f, "is too large");
    f = jpeg_file("cmyk");
    unsigned char *adobe = memchr(f.bytes, 'A', f.n);
    CHECK(adobe && memcmp(adobe, "Adobe", 5) == 0);
    if (adobe) adobe[0] = 'B';
    CHECK_REFUSED(&f, "without Adobe's marker");
}

/* ---- EXIF ---- */

/* Where output pixel (x, y) comes from in a picture of width x height. */
static void source_of(int orientation, int x, int y, int width, int height, int *u, int *v) {
    int table[9][2] = {{0},
                       {x, y},
                       {width - 1 - x, y},
                       {width - 1 - x, height - 1 - y},
                       {x, height - 1 - y},
                       {y, x},
                       {y, height - 1 - x},
                       {width - 1 - y, height - 1 - x},
                       {width - 1 - y, x}};
    *u = table[orientation][0];
    *v = table[orientation][1];
}

static void check_turned(const picture_file *f, int orientation, const heed_picture *upright) {
    heed_picture p;
    CHECK(decode(f, &p) == HEED_OK);
    bool swap = orientation >= 5;
    int width = upright->width, height = upright->height;
    CHECK(p.width == (swap ? height : width) && p.height == (swap ? width : height));
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++) {
            int u, v, each = p.channels;
            source_of(orientation, x, y, width, height, &u, &v);
            CHECK(memcmp(p.pixels + (y * p.width + x) * each,
                         upright->pixels + (v * width + u) * each, (size_t)each) == 0);
        }
    heed_picture_free(&p);
}

TEST(image_exif_turns_upright) {
    picture_file f = jpeg_file("baseline");
    const picture_file whole = f;
    heed_picture upright;
    CHECK(decode(&f, &upright) == HEED_OK);
    for (int orientation = 1; orientation <= 8; orientation++)
        for (int big = 0; big < 2; big++) {
            picture_file exif = {.n = 0};
            exif_put(&exif, big, (uint32_t)orientation);
            jpeg_with_exif(&f, whole.bytes, whole.n, &exif);
            check_turned(&f, orientation, &upright);
        }
    heed_picture_free(&upright);
    picture_file exif = {.n = 0};
    exif_put(&exif, true, 6);
    png_begin(&f, 2, 1, 8, 0);
    png_chunk(&f, "eXIf", exif.bytes, exif.n);
    png_end(&f, "\0\1\2", 3);
    CHECK_PICTURE(&f, 1, 2, 1, 1, 2);
}

/* Cut anywhere, any byte changed: the picture stands, turned or not. */
TEST(image_exif_hostile) {
    const picture_file restarts = jpeg_file("restarts");
    picture_file whole = {.n = 0};
    exif_put(&whole, false, 6);
    for (size_t n = 0; n <= whole.n; n++)
        for (int change = 0; change < 256; change = change * 2 + 1) {
            picture_file exif = whole, f;
            exif.n = n;
            if (n) exif.bytes[n - 1] ^= (unsigned char)change;
            heed_picture p;
            jpeg_with_exif(&f, restarts.bytes, restarts.n, &exif);
            CHECK(decode(&f, &p) == HEED_OK && p.width * p.height == 400);
            heed_picture_free(&p);
        }
}

/* ---- BMP ---- */

TEST(image_bmp_true_colour) {
    picture_file f;
    bmp_begin(&f, (bmp_header){.header = 40, .offset = 54, .width = 1, .height = 2, .bits = 24});
    file_put(&f, "\1\2\3\0\4\5\6", 7); /* the padding of the last row may be missing */
    CHECK_PICTURE(&f, 1, 2, 3, 6, 5, 4, 3, 2, 1);
    CHECK_CUT(&f);
    bmp_begin(&f, (bmp_header){.header = 40, .offset = 54, .width = 2, .height = -1, .bits = 16});
    file_little(&f, 31 << 10 | 4 << 5, 2);
    file_little(&f, 1, 2);
    CHECK_PICTURE(&f, 2, 1, 3, 255, 32, 0, 0, 0, 8);
    bmp_begin(
        &f, (bmp_header){
                .header = 56, .offset = 70, .compression = 3, .width = 1, .height = 1, .bits = 32});
    uint32_t masks[4] = {0xFF, 0x3FF00, 0xF00000, 0xF0000000};
    for (int i = 0; i < 4; i++) file_little(&f, masks[i], 4);
    file_little(&f, 0xA0F1FF01, 4); /* red 1 of 8 bits, green 0x1FF of 10, blue 15 of 4, alpha 10 */
    CHECK_PICTURE(&f, 1, 1, 4, 1, 127, 255, 170);
}

TEST(image_bmp_palettes) {
    picture_file f;
    bmp_begin(&f, (bmp_header){.header = 12, .offset = 32, .width = 9, .height = 1, .bits = 1});
    file_put(&f, "\1\2\3\4\5\6", 6);
    file_put(&f, "\x80\x80\0\0", 4);
    CHECK_PICTURE(&f, 9, 1, 3, 6, 5, 4, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2,
                  1, 6, 5, 4);
    bmp_begin(
        &f,
        (bmp_header){.header = 40, .offset = 62, .colours = 2, .width = 2, .height = 1, .bits = 4});
    file_put(&f, "\1\2\3\0\4\5\6\0\x1F", 9); /* colour 15 is missing: black */
    CHECK_PICTURE(&f, 2, 1, 3, 6, 5, 4, 0, 0, 0);
    CHECK_CUT(&f);
}

TEST(image_bmp_refused) {
    picture_file f;
    bmp_header h = {.header = 40, .offset = 54, .width = 4, .height = 1, .bits = 8};
    h.compression = 1;
    bmp_begin(&f, h);
    CHECK_REFUSED(&f, "run-length coding");
    h.compression = 4;
    bmp_begin(&f, h);
    CHECK_REFUSED(&f, "a JPEG or PNG inside");
    h.compression = 0, h.width = -4;
    bmp_begin(&f, h);
    CHECK_REFUSED(&f, "found -4 x 1");
    h.width = 4, h.height = INT32_MIN;
    bmp_begin(&f, h);
    CHECK_REFUSED(&f, "is too large");
    h.height = 1, h.bits = 7;
    bmp_begin(&f, h);
    CHECK_REFUSED(&f, "found 7");
    h.bits = 8, h.offset = 0xFFFFFFFF;
    bmp_begin(&f, h);
    CHECK_REFUSED(&f, "is cut short");
    bmp_begin(
        &f, (bmp_header){
                .header = 40, .offset = 66, .compression = 3, .width = 1, .height = 1, .bits = 32});
    for (int i = 0; i < 4; i++) file_little(&f, 0x505, 4);
    CHECK_REFUSED(&f, "expected a mask of adjoining bits");
}

/* ---- others ---- */

TEST(image_foreign_formats_by_name) {
    static const struct {
        const char *bytes;
        size_t n;
        const char *part;
    } cases[] = {
        {"", 0, "is empty"},
        {"hello, this is text\n", 20, "found text"},
        {"RIFF\x10\0\0\0WEBPVP8 ", 16, "is a WebP picture: expected JPEG, PNG or BMP; hint:"},
        {"II*\0\x08\0\0\0", 8, "a TIFF"},
        {"MM\0*\0\0\0\x08", 8, "a TIFF"},
        {"GIF89a", 6, "a GIF"},
        {"8BPS\0\1", 6, "a PSD"},
        {"P6\n1 1\n255\n", 11, "a PNM"},
        {"\0\0\0\x0CjP  \r\n\x87\n", 12, "a JPEG 2000"},
        {"\x0A\5\1\x08", 4, "a PCX"},
        {"\0\0\0\x18"
         "ftypavif",
         12, "an AVIF"},
        {"\x89PNG\n\x1A\n", 7, "a damaged PNG: a wrong signature"},
        {"\1\2\3", 3, "begins with byte 0x01"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picture_file f = {.n = 0};
        file_put(&f, cases[i].bytes, cases[i].n);
        CHECK_REFUSED(&f, cases[i].part);
    }
    heed_picture p;
    CHECK(heed_picture_decode(NULL, 5, &p, refused) == HEED_DATA);
    heed_picture_free(NULL);
}

static void check_convert(int from, int to, const unsigned char *in,
                          const unsigned char *expected) {
    heed_picture p = {1, 1, from, malloc(4)};
    memcpy(p.pixels, in, (size_t)from);
    CHECK(heed_picture_convert(&p, to) == HEED_OK && p.channels == to);
    CHECK(memcmp(p.pixels, expected, (size_t)to) == 0);
    heed_picture_free(&p);
}

TEST(image_convert) {
    check_convert(1, 3, (const unsigned char[]){9}, (const unsigned char[]){9, 9, 9});
    check_convert(2, 1, (const unsigned char[]){0, 51}, (const unsigned char[]){204});
    check_convert(2, 3, (const unsigned char[]){7, 0}, (const unsigned char[]){255, 255, 255});
    check_convert(3, 1, (const unsigned char[]){255, 0, 0}, (const unsigned char[]){76});
    check_convert(3, 1, (const unsigned char[]){0, 255, 0}, (const unsigned char[]){150});
    check_convert(3, 1, (const unsigned char[]){0, 0, 255}, (const unsigned char[]){29});
    check_convert(4, 3, (const unsigned char[]){1, 2, 3, 255}, (const unsigned char[]){1, 2, 3});
    check_convert(4, 1, (const unsigned char[]){0, 0, 0, 0}, (const unsigned char[]){255});
    check_convert(3, 3, (const unsigned char[]){1, 2, 3}, (const unsigned char[]){1, 2, 3});
    CHECK(heed_picture_convert(NULL, 3) == HEED_USAGE);
}
