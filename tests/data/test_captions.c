/* Pictures with captions: lines, parts, batches, and what is refused. */
#include "data/sets.h"
#include "files.h"
#include "pictures.h"

#include <sys/stat.h>

enum { SIDE = 2, PIXELS = SIDE * SIDE * 3 };

/* 2 x 2 colour pixels, all of which have the value n. */
static void put_picture(const char *name, int n) {
    unsigned char pixels[PIXELS];
    memset(pixels, n, PIXELS);
    png_write(name, pixels, SIDE, SIDE, 3);
}

static void put_pictures(int count) {
    char name[16];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%d.png", i);
        put_picture(name, 10 * i);
    }
}

static const heed__images_args plain = {.mean = {0, 0, 0}, .deviation = {1, 1, 1}};

/* The lines of the file, and of a validation file or NULL, with words as tokens. */
static heed__captions *open_lines(heed_ctx *c, const char *lines, const char *val, double split,
                                  const heed__images_args *a) {
    heed_text text = {.c = c};
    heed__pairs_args args = {.kind = HEED_TARGET_CAPTIONS,
                             .block = 6,
                             .val_split = split,
                             .val_path = val ? text_file("v.tsv", val) : NULL};
    heed__pairs *pairs = heed__pairs_open(c, text_file("a.tsv", lines), &args);
    heed__pairs_text(pairs, 1, &text);
    heed_tokenizer *t =
        heed_tokenizer_train(c, text.s, text.n, (heed_tokenizer_args){.kind = "word"});
    heed_text_free(&text);
    heed__pairs_encode(pairs, NULL, t);
    return heed__captions_open(c, pairs, a ? a : &plain);
}

/* The token of a row: its first word. */
static int32_t word_of(const heed_batch *b, int row) { return b->labels[row * b->len]; }

TEST_IN(captions_batch_joins_pictures_and_words, heed_open(&(heed_options){.seed = 3})) {
    put_pictures(4);
    heed__captions *k = open_lines(c,
                                   "file\tcaption\n0.png\tzero\n1.png\tone thing here\n"
                                   "1.png\tone\n2.png\ttwo\n",
                                   "3.png\tnone of these\n", 0, NULL);
    const heed__captions_info *a = heed__captions_about(k);
    CHECK(a && a->pictures == 3 && a->captions == 4 && a->val_pictures == 1 &&
          a->val_captions == 1 && a->fewest == 1 && a->most == 2 &&
          !*heed_images_about(heed__captions_images(k))->sided);
    const heed__pairs_info *t = heed__pairs_about(heed__captions_pairs(k));
    CHECK(t->header && t->target_tokens == 6 && t->val_target_unknown == 3);
    int seen[4] = {0};
    for (uint64_t i = 0; i < 2; i++) {
        heed_batch b;
        CHECK(heed__caption_batch(k, (heed_batch_at){.index = i, .rows = 2}, &b) && b.rows == 2);
        size_t items = 0;
        for (int row = 0; row < b.rows; row++) {
            int picture = (int)lround(25.5 * (double)b.x[row * PIXELS]);
            int32_t first = word_of(&b, row);
            seen[picture]++;
            CHECK(b.ids[row * b.len] != first && (b.len < 2 || b.ids[row * b.len + 1] == first));
            for (int u = 0; u < b.len; u++) {
                items += b.labels[row * b.len + u] != -100;
                CHECK((b.labels[row * b.len + u] != -100) == (b.pad[row * b.len + u] == 1));
            }
        }
        CHECK(b.items == items);
    }
    CHECK(seen[0] == 1 && seen[1] == 2 && seen[2] == 1); /* an epoch reads every caption once */
    CHECK(heed__captions_eval_batches(k, 2) == 1 && heed__captions_epoch_batches(k, 2) == 2);
}

TEST_IN(captions_go_with_their_own_picture, heed_open(&(heed_options){.seed = 5})) {
    put_pictures(5);
    heed__captions *k = open_lines(c, "0.png\ta\n1.png\tb\n2.png\tc\n3.png\td\n4.png\te\n", NULL, 0,
                                   &(heed__images_args){.deviation = {1, 1, 1}, .workers = 2});
    int32_t word[5];
    heed_batch b;
    CHECK(heed__caption_batch(k, (heed_batch_at){.val = true, .rows = 5}, &b) && b.rows == 5);
    for (int row = 0; row < 5; row++) {
        word[row] = word_of(&b, row);
        CHECK(lround(25.5 * (double)b.x[row * PIXELS]) == row);
    }
    for (uint64_t i = 0; i < 40; i++) {
        CHECK(heed__caption_batch(k, (heed_batch_at){.index = i, .rows = 3}, &b));
        for (int row = 0; row < 3; row++)
            CHECK(word_of(&b, row) == word[lround(25.5 * (double)b.x[row * PIXELS])]);
    }
}

/* A column of parts is read by name or as the third one; a picture may be in two parts; the test
 * part is read by evaluation alone. */
TEST(captions_have_parts) {
    heed_ctx *c = heed_open(NULL);
    put_pictures(4);
    const char *lines = "split\tcomment\timage\ntrain\tzero\t0.png\nvalid\tone\t1.png\n"
                        "TEST\ttwo\t2.png\ntrain\tone\t1.png\n";
    heed__captions *k = open_lines(c, lines, NULL, 0.5, NULL);
    const heed__captions_info *a = heed__captions_about(k);
    const heed__pairs_info *t = heed__pairs_about(heed__captions_pairs(k));
    CHECK(a && a->pictures == 2 && a->captions == 2 && a->val_pictures == 1 && t->overlap == 1 &&
          t->val_rows == 1 && t->test_rows == 1 && t->extra_columns == 0);
    const struct {
        const char *columns;
        size_t pairs, val_pairs;
    } cases[] = {{"", 2, 1}, {"image,comment", 4, 4}, {"3,2,split", 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed__pairs *pairs = heed__pairs_open(c, text_file("a.tsv", lines),
                                              &(heed__pairs_args){.kind = HEED_TARGET_CAPTIONS,
                                                                  .block = 6,
                                                                  .columns = cases[i].columns,
                                                                  .test = true});
        const heed__pairs_info *p = heed__pairs_about(pairs);
        heed_pair one;
        CHECK(p && p->pairs == cases[i].pairs && p->val_pairs == cases[i].val_pairs);
        CHECK(heed__pairs_get(pairs, true, 0, &one) &&
              strncmp(one.source, cases[i].pairs == 2 ? "2.png" : "0.png", 5) == 0);
    }
    k = open_lines(c, "split\timage\tcaption\tdataset\ntrain\t0.png\tzero\tcoco\n", NULL, 0, NULL);
    CHECK(k && heed__captions_about(k)->pictures == 1); /* the usual name of several */
    CHECK_FAILS(c, open_lines(c, "image\tcaption\tsplit\n0.png\tzero\tx\n", NULL, 0, NULL),
                HEED_DATA,
                "a.tsv:2: expected train, val or test in the column of parts, found \"x\"");
    CHECK_FAILS(c, open_lines(c, "image\tcaption\tsplit\n0.png\tzero\tval\n", NULL, 0, NULL),
                HEED_DATA, "expected rows of the training part");
    heed_close(c);
}

TEST_IN(captions_of_a_picture_stay_together, heed_open(&(heed_options){.seed = 1})) {
    heed_text lines = {.c = c};
    put_pictures(20);
    for (int i = 0; i < 60; i++) heed_text_add(&lines, "%d.png\tcaption %d\n", i % 20, i);
    heed__captions *k = open_lines(c, lines.s, NULL, 0.2, NULL);
    const heed__captions_info *a = heed__captions_about(k);
    CHECK(a->pictures == 16 && a->captions == 48 && a->val_pictures == 4 && a->val_captions == 12);
    CHECK(a->fewest == 3 && a->most == 3);
    for (int val = 0; val < 2; val++)
        for (size_t i = 0; i < (val ? a->val_pictures : a->pictures); i++) {
            heed__captioned found;
            size_t n;
            CHECK(heed__captions_get(k, val, i, &found, NULL) && found.captions == 3);
            const char *name = strrchr(found.path, '/');
            for (size_t j = 0; j < 3; j++) {
                const char *text = heed__captions_text(k, val, i, j, &n);
                CHECK(name && text && atoi(text + 8) == atoi(name + 1) + 20 * (int)j);
            }
            CHECK(!heed__captions_text(k, val, i, 3, &n) && n == 0);
        }
    heed_text_free(&lines);
}

TEST_IN(captions_have_numbers, heed_open(NULL)) {
    put_pictures(2);
    put_picture("#1", 0);
    heed__captions *k = open_lines(
        c, "0.png#0\ta\n0.png#1\tb\n1.png#12\tc\n1.png\td\n#1\te\n1.png#\tf\n", NULL, 0, NULL);
    const heed__captions_info *a = heed__captions_about(k);
    CHECK(a && a->pictures == 3 && a->captions == 5 && a->most == 2); /* "#1" is a name */
    CHECK(heed_images_about(heed__captions_images(k))->bad == 1);     /* and "1.png#" another */
}

TEST_IN(captions_without_a_picture_are_skipped, heed_open(NULL)) {
    put_pictures(2);
    CHECK(mkdir(in_folder("4.png"), 0777) == 0);
    text_file("5.png", "no picture");
    heed__captions *k =
        open_lines(c, "0.png\ta\n3.png\tb\n4.png\tc\n5.png\td\n1.png\te f g h i j k\n1.png\tl\n",
                   NULL, 0, NULL);
    const heed__captions_info *a = heed__captions_about(k);
    const char *path, *why;
    CHECK(a && a->captions == 2 && a->pictures == 2);
    CHECK(heed__pairs_about(heed__captions_pairs(k))->left_out == 1); /* longer than the block */
    CHECK(heed_images_about(heed__captions_images(k))->bad == 3);
    CHECK(heed_images_bad(heed__captions_images(k), 0, &path, &why) && strstr(path, "3.png"));
    CHECK_HAS(why, "no such file");
    heed__captions_close(k);
    CHECK_FAILS(c, open_lines(c, "0.png\ta\n", "3.png\tb\n", 0, NULL), HEED_DATA,
                "no picture of the validation part can be read");
    CHECK_FAILS(c, open_lines(c, "3.png\ta\n", NULL, 0, NULL), HEED_DATA, "no picture can be read");
    CHECK_FAILS(c,
                open_lines(c, "0.png\ta\n3.png\tb\n", NULL, 0,
                           &(heed__images_args){.deviation = {1, 1, 1}, .strict = true}),
                HEED_DATA, "3.png");
}

TEST_IN(captions_that_say_left_are_not_mirrored, heed_open(NULL)) {
    heed__images_args flips = {.deviation = {1, 1, 1}, .augment = {.flip = 0.5}};
    put_pictures(2);
    CHECK_FAILS(c, open_lines(c, "0.png\ta cat\n1.png\ta dog (Left)\n", NULL, 0, &flips),
                HEED_USAGE, "captions say \"Left\"");
    CHECK(open_lines(c, "0.png\ta cat\n1.png\tleftovers, bright\n", NULL, 0, &flips));
    static const char *const sided[] = {"right.", "ein Hund rechts", "à gauche", "右の犬"};
    for (int i = 0; i < 4; i++) {
        char lines[64];
        snprintf(lines, sizeof lines, "0.png\ta cat\n1.png\t%s\n", sided[i]);
        heed__captions *k = open_lines(c, lines, NULL, 0, NULL);
        CHECK(k && *heed_images_about(heed__captions_images(k))->sided);
    }
}

TEST_IN(captions_refuse_wrong_lines, heed_open(NULL)) {
    put_pictures(1);
    CHECK(open_lines(c, "0.png\ta\n0.png\t\n", NULL, 0, NULL)); /* left out */
    CHECK_FAILS(c, open_lines(c, "0.png a\n", NULL, 0, NULL), HEED_DATA, "file TAB caption");
    CHECK_FAILS(c, open_lines(c, "0.png\t\xff\n", NULL, 0, NULL), HEED_DATA, "a.tsv");
    CHECK_FAILS(c, open_lines(c, "file\tcaption\n", NULL, 0, NULL), HEED_DATA, "no rows");
    heed__pairs_args args = {.kind = HEED_TARGET_CAPTIONS, .block = 6};
    CHECK(heed__pairs_open(c, text_file("a.csv", "id,text,label\n1,a,b\n"), &args) == NULL);
    CHECK_HAS(heed_ctx_error(c), "names image and caption, found id, text, label");
    heed_clear(c);
    heed__pairs *pairs = heed__pairs_open(c, text_file("a.tsv", "0.png\ta\n"), &args);
    heed_batch b;
    CHECK_FAILS(c, heed__captions_open(c, pairs, &plain), HEED_USAGE, "tokens");
    pairs = heed__pairs_open(
        c, text_file("a.jsonl", "{\"image\": \"0.png\", \"caption\": \"a\"}\n"), &args);
    CHECK_FAILS(c, heed__pair_batch(pairs, (heed_batch_at){.rows = 1}, &b), HEED_USAGE, "encode");
    heed_pair pair;
    CHECK(heed__pairs_get(pairs, false, 0, &pair) && pair.source_n == 5 && pair.target_n == 1);
}

/* The same training batch whatever was read before, with other threads too. */
TEST(captions_batch_depends_on_its_place_alone) {
    enum { ROWS = 4 };
    heed_ctx *c[2] = {heed_open(&(heed_options){.seed = 9}), heed_open(&(heed_options){.seed = 9})};
    heed__captions *k[2];
    heed_batch a, b;
    put_pictures(9);
    for (int i = 0; i < 2; i++)
        k[i] = open_lines(c[i], "0.png\ta b\n1.png\tb\n2.png\tc\n3.png\td e f\n8.png\tg\n", NULL, 0,
                          &(heed__images_args){.deviation = {1, 1, 1},
                                               .workers = i,
                                               .augment = {.pad = 1, .brightness = 0.5}});
    for (uint64_t i = 0; i < 10; i++) {
        CHECK(heed__caption_batch(k[0], (heed_batch_at){.index = i, .rows = ROWS}, &a));
        if (i % 3) continue;
        CHECK(heed__caption_batch(k[1], (heed_batch_at){.index = i, .rows = ROWS}, &b));
        CHECK(a.len == b.len && a.items == b.items &&
              !memcmp(a.x, b.x, sizeof *a.x * ROWS * PIXELS) &&
              !memcmp(a.labels, b.labels, sizeof *a.labels * (size_t)(ROWS * a.len)));
    }
    CLOSE(c[0]);
    CLOSE(c[1]);
}
