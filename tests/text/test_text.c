/* Reading text files. */
#include "core/os.h"
#include "test.h"
#include "text/text.h"

static const char *file_with(const char *name, const void *bytes, size_t n) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) exit(1);
    return path;
}

static heed_ctx *open_ctx(void) { return heed_open(&(heed_options){.seed = 1}); }

TEST_IN(text_read_straightens, open_ctx()) {
    static const char raw[] = "\xEF\xBB\xBFone\r\ntwo\rthree\n\r\nf\xC3\xBCnf\xF0\x9F\x98\x80";
    size_t n;
    char *s = heed_text_read(c, file_with("a.txt", raw, sizeof raw - 1), &n);
    CHECK_TEXT(s, "one\ntwo\rthree\n\nf\xC3\xBCnf\xF0\x9F\x98\x80");
    CHECK(s && n == strlen(s));
    free(s);
    s = heed_text_read(c, file_with("b.txt", "plain", 5), &n);
    CHECK_TEXT(s, "plain");
    free(s);
}

TEST(text_read_refuses) {
    static const struct {
        const char *bytes;
        size_t n;
        const char *why, *hint;
    } cases[] = {
        {"", 0, "is empty", "0 bytes"},
        {"\xEF\xBB\xBF", 3, "is empty", "0 bytes"},
        {"a\rb\rc\r", 6, "lines end with CR", "tr '\\r' '\\n'"},
        {"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16, "this is not a text: ", "found a picture (PNG)"},
        {"\xFF\xD8\xFF\xE0\0\x10JFIF", 10, "expected UTF-8 text", "found a picture (JPEG)"},
        {"a\nb\0c", 5, ":2: expected UTF-8 text, found 0x00 at byte 3", "tr -d"},
        {"\xFF\xFE"
         "a\0",
         4, "found UTF-16 at byte 0", "iconv -f UTF-16 -t UTF-8"},
        {"\xFE\xFF\0a", 4, "found UTF-16 at byte 0", "iconv -f UTF-16 "},
        {"\xFF\xFE\0\0a\0\0\0", 8, "found UTF-32 at byte 0", "iconv -f UTF-32 "},
        {"\0\0\xFE\xFF\0\0\0a", 8, "found UTF-32 at byte 0", "iconv -f UTF-32 "},
        {"a\0b\0", 4, "found UTF-16LE", "iconv -f UTF-16LE "},
        {"\0a\0b", 4, "found UTF-16BE", "iconv -f UTF-16BE "},
        {"ok\n\ncaf\xE9 x", 10, ":3: expected UTF-8, found 0xE9 at byte 7",
         "iconv -f ISO-8859-1 -t UTF-8"},
        {"\xC0\xAF", 2, "0xC0 at byte 0", "iconv"},         /* overlong */
        {"x\xE0\x80\xAF", 4, "0xE0 at byte 1", "iconv"},    /* overlong */
        {"\xED\xA0\x80", 3, "0xED at byte 0", "iconv"},     /* surrogate */
        {"\xF4\x90\x80\x80", 4, "0xF4 at byte 0", "iconv"}, /* beyond U+10FFFF */
        {"ab\xE4\xB8", 4, "0xE4 at byte 2", "iconv"},       /* cut off */
        {"\x80", 1, "0x80 at byte 0", "iconv"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_ctx *c = open_ctx();
        size_t n;
        CHECK(!heed_text_read(c, file_with("bad.txt", cases[i].bytes, cases[i].n), &n));
        CHECK(heed_ctx_status(c) == HEED_DATA);
        CHECK_HAS(heed_ctx_error(c), "bad.txt");
        CHECK_HAS(heed_ctx_error(c), cases[i].why);
        CHECK_HAS(heed_ctx_error(c), cases[i].hint);
        heed_close(c);
    }
}

/* A step of 64 bytes and more is no step: such a line goes, whatever number it would be. */
TEST_IN(text_csv_cut_of_long_fields, open_ctx()) {
    for (size_t length = 60; length <= 70; length++) {
        char text[128] = "step,loss\n1.", *end = text + strlen(text);
        memset(end, '0', length - 2);
        strcpy(end + length - 2, ",7\n2,8\n");
        const char *path = file_with("long", text, strlen(text));
        CHECK(heed__csv_cut(c, path, 5, ",test,"));
        size_t n;
        char *left = (char *)heed__os_read(c, path, 0, &n);
        CHECK_TEXT(left, length < 64 ? text : "step,loss\n2,8\n");
        heed__free(left);
    }
}
