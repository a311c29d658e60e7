/* test_letters.c -- the letters of pictures: where they are drawn, accents, labels that are cut. */
#include "test.h"
#include "view/draw.h"

#include <string.h>

/* Letters of both scales: some reach below the base line, capitals end on it, and all fit into the
 * lines that labels have. */
TEST(letters_letters_stand_on_a_line) {
    for (int scale = 1; scale <= 2; scale++)
        for (char letter = '!'; letter <= '~'; letter++) {
            const char *text = (char[]){letter, 0};
            heed__letter g = heed__next_letter(&text);
            heed__inked d;
            heed__letter_draw(&g, 0, scale, &d);
            int below = d.height + d.top;
            CHECK(d.width > 0 && d.top >= -8 * scale && below <= 3 * scale);
            if (strchr("gjpqy", letter)) CHECK(below > scale);
            if (letter >= 'A' && letter <= 'Z' && letter != 'Q' && letter != 'J') CHECK(below <= 1);
        }
}

/* Ink has shades, which is what makes letters smooth; a canvas gets them, turned ones as well. */
TEST_IN(letters_letters_are_smooth, heed_open(NULL)) {
    int grey[2] = {0, 0}, dark[2] = {0, 0};
    for (int up = 0; up < 2; up++) {
        heed__canvas p;
        CHECK(heed__canvas_new(c, &p, 60, 60));
        heed__canvas_text(&p, 20, 40, 2, (heed__rgb){0, 0, 0}, up == 1, "ab");
        for (int i = 0; i < 3 * 60 * 60; i += 3) {
            grey[up] += p.rgb[i] > 0 && p.rgb[i] < 255;
            dark[up] += p.rgb[i] == 0;
        }
        heed__free(p.rgb);
    }
    CHECK(grey[0] > 20 && dark[0] > 20 && grey[0] == grey[1] && dark[0] == dark[1]);
}

TEST(letters_labels_fold_in_their_middle) {
    char out[HEED__LABEL];
    const char *label = "runs/experiment/vit-adam";
    int width = heed__text_width("runs..adam", 1);
    heed__text_fold(out, label, 1, width);
    CHECK(strncmp(out, "run", 3) == 0 && strcmp(out + strlen(out) - 3, "dam") == 0);
    CHECK(strstr(out, "..") && heed__text_width(out, 1) <= width);
    CHECK_TEXT(heed__text_fold(out, "runs/adam", 1, heed__text_width("runs/adam", 1)), "runs/adam");
    int umlauts = heed__text_width("ööö..", 1);
    heed__text_fold(out, "öööööööö", 1, umlauts);
    CHECK(strncmp(out, "ö", 2) == 0 && heed__text_width(out, 1) <= umlauts);
    CHECK(strlen(heed__text_fold(out, label, 2, 1)) < 4);
}

static heed__letter letter_of(const char *text) {
    heed__letter g = heed__next_letter(&text);
    CHECK(*text == 0); /* one letter, its marks included */
    return g;
}

/* In two bytes of UTF-8. */
static heed__letter letter_of_code(int code) {
    char text[3] = {(char)(0xC0 | code >> 6), (char)(0x80 | (code & 0x3F)), 0};
    return letter_of(code < 0x80 ? (char[]){(char)code, 0} : text);
}

static bool same(heed__letter a, heed__letter b) {
    return a.glyph == b.glyph && a.boxed == b.boxed && a.marks == b.marks &&
           memcmp(a.mark, b.mark, sizeof a.mark) == 0;
}

static bool looks_like(heed__letter a, heed__letter b) {
    heed__inked x, y;
    heed__letter_draw(&a, 0, 2, &x);
    heed__letter_draw(&b, 0, 2, &y);
    return memcmp(&x, &y, sizeof x) == 0;
}

TEST(letters_letters_with_accents_differ_from_all_others) {
    CHECK(letter_of("\xe4\xb8\xad").boxed); /* the font has no Chinese */
    for (int i = 0xC0; i < 0x180; i++) {    /* Latin-1 and Latin Extended-A */
        CHECK(!letter_of_code(i).boxed);
        for (int k = 'A'; k < i; k++) {
            bool letter = k >= 0xC0 || (k <= 'z' && (k >= 'a' || k <= 'Z'));
            bool alike = i == 0x110 && k == 0xD0; /* the same shape in Croatian and Icelandic */
            if (letter && !alike) CHECK(!looks_like(letter_of_code(i), letter_of_code(k)));
        }
    }
    for (int i = 0x391; i < 0x3CF; i++) CHECK(i == 0x3A2 || !letter_of_code(i).boxed);
    for (int i = 0x400; i < 0x460; i++) CHECK(!letter_of_code(i).boxed);
    CHECK(heed__text_boxed("a\xe4\xb8\xad") && !heed__text_boxed("aéЖλ … → ≤ ∑ √") &&
          !heed__text_boxed(""));
}

TEST(letters_a_letter_and_its_mark_may_come_as_two) {
    CHECK(same(letter_of("é"), letter_of("e\xcc\x81")) && letter_of("é").marks == 0);
    CHECK(same(letter_of("ễ"), letter_of("ê\xcc\x83")) && letter_of("ễ").marks == 1);
    CHECK(heed__text_width("e\xcc\x81te\xcc\x81", 1) == heed__text_width("été", 1));
    char cut[HEED__LABEL];
    int width = heed__text_width("été..", 1);
    CHECK_TEXT(heed__text_cut(cut, "e\xcc\x81te\xcc\x81 fini", 1, width), "e\xcc\x81te\xcc\x81..");
}

/* Over a small letter a mark is where the font has it; over a capital it is raised. */
TEST(letters_marks_clear_their_letter) {
    for (int capital = 0; capital < 2; capital++) {
        heed__letter g = letter_of(capital ? "X\xcc\x83" : "x\xcc\x83");
        heed__inked letter, mark;
        heed__letter_draw(&g, 0, 2, &letter);
        heed__letter_draw(&g, 1, 2, &mark);
        CHECK(g.marks == 1 && mark.top + mark.height <= letter.top + 1);
        int off = (2 * mark.left + mark.width) - (2 * letter.left + letter.width);
        CHECK(off >= -1 && off <= 1);
    }
    /* A joiner and a variation selector are no letters of their own. */
    CHECK(same(letter_of("a\xe2\x80\x8d"), letter_of("a")));
    CHECK(same(letter_of("a\xef\xb8\x8f"), letter_of("a")));
}
