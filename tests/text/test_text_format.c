/* test_text_format.c -- UTF-8, columns, tables, numbers, messages, CSV and JSON. */
#include "files.h"
#include "text/text.h"

#include <math.h>

/* ---- UTF-8 ---- */

TEST(text_utf8_reads_strictly) {
    static const struct {
        const char *bytes;
        size_t length;
        int32_t code;
    } cases[] = {
        {"a", 1, 'a'},
        {"ü", 2, 0xFC},
        {"€", 3, 0x20AC},
        {"😀", 4, 0x1F600},
        {"\xC2\x80", 2, 0x80},
        {"\xE0\xA0\x80", 3, 0x800},
        {"\xED\x9F\xBF", 3, 0xD7FF},
        {"\xEE\x80\x80", 3, 0xE000},
        {"\xF0\x90\x80\x80", 4, 0x10000},
        {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF},
        {"\x80", 1, -1},
        {"\xC3", 1, -1},
        {"\xC0\xAF", 1, -1},
        {"\xE0\x80\xAF", 1, -1},
        {"\xF0\x8F\xBF\xBF", 1, -1},
        {"\xED\xA0\x80", 1, -1},
        {"\xF4\x90\x80\x80", 1, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t code;
        char back[4];
        const char *s = cases[i].bytes;
        size_t n = heed_utf8_read(s, SIZE_MAX, &code);
        if (n != cases[i].length || code != cases[i].code)
            test_fail(__FILE__, __LINE__, "case %zu: length %zu, code %d", i, n, (int)code);
        CHECK(heed_utf8_read(s, strlen(s), &code) == n);
        if (cases[i].code >= 0)
            CHECK(heed__utf8_write(cases[i].code, back) == n && memcmp(back, s, n) == 0);
        if (n > 1) CHECK(heed_utf8_read(s, n - 1, &code) == 1 && code == -1); /* cut off */
    }
}

TEST(text_utf8_counts_and_escapes) {
    heed_text t = {0};
    CHECK(heed__utf8_valid("aü", 3) == 3 && heed__utf8_valid("aü", 2) == 1);
    CHECK(heed__utf8_valid("", 0) == 0 && heed__utf8_valid("\xFFx", 2) == 0);
    CHECK(heed__utf8_count("aü€😀", 10) == 4);
    CHECK(heed__utf8_put(&t, "\xE2ü\xFF\xFEx", 6));
    CHECK_TEXT(t.s, "\\xE2ü\\xFF\\xFEx");
    heed_text_free(&t);
    CHECK(heed__utf8_put(&t, "", 0));
    CHECK_TEXT(t.s, "");
    heed_text_free(&t);
}

/* ---- columns ---- */

static int shown(const char *label, int columns, const char *expected) {
    heed_text t = {0};
    int used = heed_label_text(label, columns, &t);
    CHECK_TEXT(t.s ? t.s : "", expected);
    CHECK(used == heed_label_text(label, columns, NULL));
    heed_text_free(&t);
    return used;
}

TEST(text_labels_show_what_would_not_be_seen) {
    CHECK(shown("abc", 3, "abc") == 3);
    CHECK(shown("abcd", 3, "ab…") == 3);
    CHECK(shown("\n\t\x1b\x7f", 9, "⏎⇥␛␡") == 4);
    CHECK(shown("\xFF\xC2\x85", 9, "··") == 2);
    CHECK(shown(" a b ", 9, "␣a b␣") == 5);
    CHECK(shown("  ", 9, "␣␣") == 2);
    CHECK(shown("a\xE2\x80\xAE.", 9, "a↔.") == 3); /* U+202E turns the line around */
    CHECK(shown("漢字", 4, "漢字") == 4);
    CHECK(shown("漢字", 3, "漢…") == 3);
    CHECK(shown("漢字", 2, "…") == 1); /* half a character is none */
    CHECK(shown("e\xCC\x81x", 2, "e\xCC\x81x") == 2);
    CHECK(heed_label_columns("e\xCC\x81漢 ") == 4);
    /* marks, joiners and selectors alone, and other spaces */
    CHECK(shown("\xCC\x81", 9, "◌\xCC\x81") == 1);
    CHECK(shown(" \xCC\x81x", 9, "␣◌\xCC\x81x") == 3);
    CHECK(shown("\xE2\x80\x8D", 9, "U+200D") == 6);
    CHECK(shown("\xEF\xB8\x8F", 9, "U+FE0F") == 6);
    CHECK(shown("\xEF\xBB\xBFw", 9, "U+FEFFw") == 7);
    CHECK(shown("a\xE2\x80\x8D\xEF\xB8\x8F", 9, "a\xE2\x80\x8D\xEF\xB8\x8F") == 1);
    CHECK(shown("so\xC2\xADon", 9, "so·on") == 5);
    CHECK(shown("\xC2\xA0\xE3\x80\x80\xE2\x80\x83", 9, "␣␣␣") == 3);
    CHECK(shown("\xE3\x85\xA4", 9, "␣") == 1); /* U+3164, a letter without ink */
    CHECK(shown("a\xC2\xA0z", 9, "a\xC2\xA0z") == 3);
}

TEST(text_label_is_cut_between_characters) {
    CHECK(heed_label_cut("abc", 2) == 2 && heed_label_cut("abc", 9) == 3);
    CHECK(heed_label_cut("漢字", 3) == 3 && heed_label_cut("漢字", 1) == 0);
    CHECK(heed_label_cut("e\xCC\x81x", 1) == 3); /* the accent stays with its letter */
    CHECK(heed_label_cut("", 5) == 0);
}

TEST(text_words_wrap_below_an_indent) {
    heed_text t = {0};
    heed_label_words("one two three", 2, 9, &t);
    CHECK_TEXT(t.s, "one two\n  three");
    heed_text_free(&t);
    heed_label_words("  a  longestword b", 0, 6, &t);
    CHECK_TEXT(t.s, "a\nlonge…\nb");
    heed_text_free(&t);
}

/* ---- tables ---- */

static void table_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const char *const *names = of;
    if (column == HEED_TABLE_NAME)
        snprintf(text, HEED_TABLE_CELL, "%s", names[row]);
    else
        snprintf(text, HEED_TABLE_CELL, "%d", 10 * row + column);
}

static void check_table(heed_table t, int width, const char *expected) {
    heed_text out = {0};
    heed_table_text(&t, width, &out);
    CHECK_TEXT(out.s, expected);
    heed_text_free(&out);
}

TEST(text_table_fits_the_terminal) {
    static const heed_table_column columns[] = {
        {"loss", 8, false}, {"metric", 8, false}, {"type", 8, true}};
    static const char *const names[] = {"first", "a name that is longer"};
    heed_table t = {.head = "run",
                    .rows = 2,
                    .count = 3,
                    .name = 6,
                    .columns = columns,
                    .names = names,
                    .cell = table_cell,
                    .of = names};
    check_table(t, 40,
                "\n  run         loss    metric  type\n"
                "  first          0         1  2\n"
                "  a nam…        10        11  12\n");
    /* 37 are not enough for 2 + 6 + 3 * 10 = 38: two blocks, with names as wide as they are */
    check_table(t, 37,
                "\n  run                        loss\n"
                "  first                         0\n"
                "  a name that is longer        10\n"
                "\n  run                      metric\n"
                "  first                         1\n"
                "  a name that is longer        11\n"
                "\n  run                    type\n"
                "  first                  2\n"
                "  a name that is longer  12\n");
    /* and cut where they leave no space for a column */
    t.count = 2, t.top = true, t.flush = true, t.gap = 1, t.name = 30;
    check_table(t, 20,
                "run             loss\n"
                "first              0\n"
                "a name tha…       10\n"
                "\nrun           metric\n"
                "first              1\n"
                "a name tha…       11\n");
    t.names = NULL, t.count = 1, t.name = 21;
    check_table(t, 40,
                "run                       loss\n"
                "first                        0\n"
                "a name that is longer       10\n");
    t.rows = 0;
    check_table(t, 40, "run                       loss\n");
}

/* ---- numbers and words ---- */

TEST(text_numbers_as_people_read_them) {
    char s[32];
    CHECK_TEXT(heed_format_count(s, 0), "0");
    CHECK_TEXT(heed_format_count(s, 999), "999");
    CHECK_TEXT(heed_format_count(s, 1000), "1,000");
    CHECK_TEXT(heed_format_count(s, UINT64_MAX), "18,446,744,073,709,551,615");
    CHECK_TEXT(heed_format_bytes(s, 999), "999 B");
    CHECK_TEXT(heed_format_bytes(s, 1000), "1.0 KB");
    CHECK_TEXT(heed_format_bytes(s, 123456789), "123 MB");
    CHECK_TEXT(heed_format_bytes(s, 2e15), "2000 TB");
    CHECK_TEXT(heed_format_duration(s, 9.94), "9.9s");
    CHECK_TEXT(heed_format_duration(s, 59.6), "60s");
    CHECK_TEXT(heed_format_duration(s, 125), "2m 05s");
    CHECK_TEXT(heed_format_duration(s, 7384), "2h 03m");
    CHECK_TEXT(heed_format_duration(s, -1), "?");
    CHECK_TEXT(heed_format_duration(s, (double)NAN), "?");
}

TEST(text_words_for_shell_line_and_token) {
    char s[40], small[12];
    CHECK_TEXT(heed_format_shell(s, sizeof s, "runs/a-b_1.txt"), "runs/a-b_1.txt");
    CHECK_TEXT(heed_format_shell(s, sizeof s, "it's"), "'it'\\''s'");
    CHECK_TEXT(heed_format_shell(s, sizeof s, ""), "''");
    CHECK_TEXT(heed_format_shell(s, sizeof s, "$x *"), "'$x *'");
    CHECK_TEXT(heed_format_token(s, sizeof s, "\n"), "\\n");
    CHECK_TEXT(heed_format_token(s, sizeof s, " "), "␣");
    CHECK_TEXT(heed_format_token(s, sizeof s, " a\x01\xFF"), " a??");
    CHECK_TEXT(heed_format_line(s, sizeof s, "a\x1b[0m\xFFü"), "a\\x1b[0m\\xffü");
    CHECK_TEXT(heed_format_line(small, sizeof small, "\x01\x02\x03"), "\\x01\\x02");
    CHECK(strlen(heed_format_token(small, sizeof small, "abcdefghijklmno")) < sizeof small);
    CHECK(strlen(heed_format_shell(small, sizeof small, "' ' ' ' ' '")) < sizeof small);
}

TEST(text_closest_word) {
    static const char *const words[] = {"attend", "ablate", "heads", NULL};
    CHECK_TEXT(heed_closest("atend", words), "attend");
    CHECK_TEXT(heed_closest("HEADS", words), "heads");
    CHECK(!heed_closest("generate", words));
    CHECK(heed_text_edits("abcd", 4, "acbd", 4) == 1);
    CHECK(heed_text_edits("", 0, "abc", 3) == 3);
    CHECK(heed_text_edits("kitten", 6, "sitting", 7) == 3);
}

/* ---- messages ---- */

TEST(text_quotes_foreign_text) {
    char q[HEED_QUOTE];
    CHECK_TEXT(heed_quote(q, "a\nb\xFFü", 6), "\"a?b?ü\"");
    char much[300];
    memset(much, 'x', sizeof much);
    CHECK(strlen(heed_quote(q, much, sizeof much)) < HEED_QUOTE);
    CHECK_HAS(q, "x...\"");
    CHECK_TEXT(heed_quote(q, "", 0), "\"\"");
    CHECK_TEXT(heed_quote(q, "a\0b", 3), "\"a?b\"");
}

TEST(text_message_says_what_where_expected_found_hint) {
    heed_ctx *c = heed_open(NULL);
    heed_problem p = {.what = "config is wrong",
                      .where = "a.conf",
                      .line = 3,
                      .expected = "a number",
                      .text = "x\ny",
                      .n = 3,
                      .hint = "lr = 0.1"};
    CHECK(!heed_reject(c, HEED_DATA, p) && heed_ctx_status(c) == HEED_DATA);
    CHECK_TEXT(heed_ctx_error(c),
               "config is wrong: a.conf:3: expected a number, found \"x?y\"; hint: lr = 0.1");
    heed_clear(c);
    p.line = 0, p.found = "nothing", p.hint = NULL;
    heed_reject(c, HEED_USAGE, p);
    CHECK_TEXT(heed_ctx_error(c), "config is wrong: a.conf: expected a number, found nothing");
    heed_clear(c);
    heed_reject(c, HEED_USAGE, (heed_problem){.what = "name is wrong", .expected = "UTF-8"});
    CHECK_TEXT(heed_ctx_error(c), "name is wrong: expected UTF-8");
    heed_close(c);
}

/* ---- CSV ---- */

/* Opens a copy of n bytes, which *text is, to be freed. */
static bool open_copy(heed_csv *r, heed_ctx *c, const char *bytes, size_t n, char **text) {
    *text = malloc(n + 1);
    memcpy(*text, bytes, n);
    (*text)[n] = 0;
    return heed_csv_open(r, c, "table is wrong", "t.csv", *text, n);
}

/* The rows as "LINE:field|field;" one after the other. */
static bool read_all(heed_ctx *c, const char *bytes, heed_text *out) {
    heed_csv r;
    char *text;
    bool ok = open_copy(&r, c, bytes, strlen(bytes), &text);
    while (ok && heed_csv_next(&r)) {
        heed_text_add(out, "%zu:", r.line);
        for (size_t i = 0; i < r.count; i++) heed_text_add(out, "%s%s", i ? "|" : "", r.fields[i]);
        heed_text_add(out, r.ended ? ";" : "");
    }
    free(text);
    return ok && heed_ctx_status(c) == HEED_OK;
}

TEST_IN(text_csv_reads_rfc_4180, heed_open(NULL)) {
    static const char *const cases[][2] = {
        {"a,b\n1,2\n", "1:a|b;2:1|2;"},
        {"a,b\r\n1,2", "1:a|b;2:1|2"},
        {"\xEF\xBB\xBF\"a\",b\r\n", "1:a|b;"},
        {"\"a,b\",\"c\"\"d\"\n\"e\nf\",g\nh,i\n", "1:a,b|c\"d;2:e\nf|g;4:h|i;"},
        {" a , b\t\n\n  \n,\n", "1:a|b;4:|;"},
        {"a\"b,c\n", "1:a\"b|c;"}, /* a quote within a field is one */
        {"\" a \"\r\n", "1: a ;"},
        {"a,", "1:a|"},
        {"\"\",x\n", "1:|x;"},
        {"", ""},
        {"\n\r\n", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_text out = {0};
        heed_text_put(&out, "", 0);
        CHECK(read_all(c, cases[i][0], &out));
        CHECK_TEXT(out.s, cases[i][1]);
        heed_text_free(&out);
    }
}

TEST_IN(text_csv_refuses, heed_open(NULL)) {
    static const char *const cases[][2] = {
        {"a\n\"b", "table is wrong: t.csv:2: expected a double quote that ends the field"},
        {"a\n\"b\nc", "t.csv:2: expected a double quote that ends the field"},
        {"\"b\"c\n", "t.csv:1: expected a comma or the end of the line after a quoted field"},
        {"\"a\nb\" ,c\n", "t.csv:2: expected a comma or the end of the line"},
    };
    heed_text out = {0};
    heed_csv r;
    char *text;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_FAILS(c, read_all(c, cases[i][0], &out), HEED_DATA, cases[i][1]);
    heed_text_free(&out);
    CHECK_FAILS(c, open_copy(&r, c, "a\nb\0c\n", 6, &text), HEED_DATA,
                "t.csv:2: expected text, found a NUL byte");
    free(text);
}

/* A field of one byte less than the limit is read, one of the limit is not; quoted or plain. */
TEST_IN(text_csv_limits, heed_open(NULL)) {
    heed_csv r;
    char *text;
    for (int quoted = 0; quoted < 2; quoted++)
        for (int n = HEED_CSV_LONGEST - 1; n <= HEED_CSV_LONGEST; n++) {
            heed_text all = {0};
            heed_text_add(&all, quoted ? "x\n\"%0*d\",b\n" : "x\n%0*d,b\n", n, 0);
            CHECK(open_copy(&r, c, all.s, all.n, &text) && heed_csv_next(&r));
            bool read = heed_csv_next(&r);
            CHECK(read == (n < HEED_CSV_LONGEST));
            if (read)
                CHECK(r.count == 2 && strlen(r.fields[0]) == (size_t)n);
            else
                CHECK_TEXT(heed_ctx_error(c), "table is wrong: t.csv:2: expected fields of less "
                                              "than 4096 bytes, found a longer one");
            heed_clear(c);
            heed_text_free(&all);
            free(text);
        }
    char wide[HEED_CSV_FIELDS + 11];
    memset(wide, ',', sizeof wide);
    CHECK(open_copy(&r, c, wide, sizeof wide, &text) && heed_csv_next(&r));
    CHECK(r.count == sizeof wide + 1 && heed_csv_find(&r, "a") == -1 && heed_csv_find(&r, "") == 0);
    CHECK(!heed_csv_next(&r));
    free(text);
}

TEST_IN(text_csv_finds_columns_and_writes_what_it_reads, heed_open(NULL)) {
    heed_text out = {0};
    heed_csv r;
    char *text;
    CHECK(open_copy(&r, c, "step,loss\n", 10, &text) && heed_csv_next(&r));
    CHECK(heed_csv_find(&r, "step") == 0 && heed_csv_find(&r, "loss") == 1);
    CHECK(heed_csv_find(&r, "los") == -1);
    CHECK_FAILS(c, heed_csv_reject(&r, "the column metric", "none"), HEED_DATA,
                "table is wrong: t.csv:1: expected the column metric, found none");
    free(text);
    CHECK(heed_csv_put(&out, "a,\"b\"\n\x7f") && heed_text_put(&out, ",ü\n", 4));
    CHECK_TEXT(out.s, "\"a,\"\"b\"\"\\x0A\\x7F\",ü\n");
    CHECK(open_copy(&r, c, out.s, out.n, &text) && heed_csv_next(&r) && r.count == 2);
    CHECK_TEXT(r.fields[0], "a,\"b\"\\x0A\\x7F");
    CHECK_TEXT(r.fields[1], "ü");
    free(text);
    heed_text_free(&out);
}

/* ---- JSON ---- */

TEST_IN(text_json_values_are_separated_and_escaped, heed_open(NULL)) {
    heed_text t = {.c = c};
    heed_json_open(&t, NULL, '{');
    heed_json_text(&t, "a\"", "q\" \\ \b\f\n\r\t\x1b ü\x7f\xC2\x85");
    heed_json_text(&t, "bad", "x\xE2y");
    heed_json_text(&t, "none", NULL);
    heed_json_open(&t, "list", '[');
    heed_json_open(&t, NULL, '[');
    heed_json_close(&t, ']');
    heed_json_int(&t, NULL, -9007199254740993);
    heed_json_real(&t, NULL, 0.1, 9);
    heed_json_real(&t, NULL, 1, 9);
    heed_json_real(&t, NULL, -0.0, 9);
    heed_json_real(&t, NULL, (double)NAN, 9);
    heed_json_real(&t, NULL, -(double)INFINITY, 9);
    heed_json_real(&t, NULL, 1.0 / 3, 17);
    heed_json_open(&t, NULL, '{');
    heed_json_close(&t, '}');
    heed_json_close(&t, ']');
    heed_json_bool(&t, "yes", true);
    heed_json_bool(&t, "no", false);
    heed_json_close(&t, '}');
    CHECK_TEXT(
        t.s,
        "{\"a\\\"\":\"q\\\" \\\\ \\b\\f\\n\\r\\t\\u001b ü\\u007f\\u0085\",\"bad\":\"x\\\\xE2y\","
        "\"none\":null,\"list\":[[],-9007199254740993,0.1,1,0,null,null,"
        "0.33333333333333331,{}],\"yes\":true,\"no\":false}");
    json_t *value = heed__json_parse(c, "t", t.s, t.n); /* a strict reader agrees */
    CHECK_TEXT(json_string_value(json_object_get(value, "bad")), "x\\xE2y");
    CHECK(json_array_size(json_object_get(value, "list")) == 9);
    json_decref(value);
    heed_text_free(&t);
}
