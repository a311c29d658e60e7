/* Batches of pairs: each pair once an epoch, like lengths together, a function of the place alone.
 */
#include "data/sets.h"
#include "files.h"

enum { PAIRS = 200, ROWS = 8, LONGEST = 21 };
static int32_t zero; /* the token "0"; the other digits follow it */

/* Pair i: a source of i % 20 + 1 letters whose number its target tells. */
static heed__pairs *open_pairs(heed_ctx *c, int count, double split) {
    heed_text text = {.c = c}, all = {.c = c};
    for (int i = 0; i < count; i++)
        heed_text_add(&text, "%.*s\t%d\n", i % 20 + 1, "abcdefghijklmnopqrstuvwxyz", i);
    heed__pairs_args a = {.block = 64, .val_split = split};
    heed__pairs *k = heed__pairs_open(c, text_file("a.tsv", text.s), &a);
    heed__pairs_text(k, 2, &all);
    heed_tokenizer *t = heed_tokenizer_train(
        c, all.s, all.n, (heed_tokenizer_args){.kind = "char", .specials = true});
    heed_text_free(&text);
    heed_text_free(&all);
    CHECK(heed__pairs_encode(k, t, t));
    zero = heed_token_id(t, "0");
    return k;
}

/* The number that the row's target spells. */
static int number_in(const heed_batch *b, int row) {
    int n = 0;
    for (int i = 1; i < b->len; i++) {
        int32_t id = b->ids[row * b->len + i];
        if (b->pad[row * b->len + i]) n = 10 * n + id - zero;
    }
    return n;
}

TEST_IN(pairs_batch_reads_every_pair_once_an_epoch, heed_open(&(heed_options){.seed = 3})) {
    heed__pairs *k = open_pairs(c, PAIRS, 0);
    CHECK(heed__pairs_epoch_batches(k, ROWS) == PAIRS / ROWS &&
          heed__pairs_eval_batches(k, ROWS) == PAIRS / ROWS);
    size_t padding = 0;
    int falls = 0, before = 0, mate[PAIRS] = {0}, same_mates = 0;
    heed_batch b;
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        int seen[PAIRS] = {0};
        for (uint64_t i = 0; i < PAIRS / ROWS; i++) {
            heed_batch_at at = {.index = epoch * (PAIRS / ROWS) + i, .rows = ROWS};
            CHECK(heed__pair_batch(k, at, &b) && b.rows == ROWS && b.src_len <= LONGEST);
            int last = number_in(&b, ROWS - 1);
            for (int row = 0; row < b.rows; row++) {
                int n = number_in(&b, row);
                CHECK(n >= 0 && n < PAIRS && !seen[n]++);
                same_mates += epoch && mate[n] == last;
                mate[n] = last;
                last = n;
            }
            for (int j = 0; j < b.rows * b.src_len; j++) padding += !b.src_pad[j];
            falls += b.src_len < before;
            before = b.src_len;
        }
    }
    CHECK(padding < 3 * PAIRS);    /* in order it would be about 10 a pair */
    CHECK(falls > 20);             /* long and short batches take turns */
    CHECK(same_mates < PAIRS / 2); /* an epoch has an order of its own: of 10 of a length, 1 */
}

static bool same(const heed_batch *a, const heed_batch *b, const int32_t *src, const int32_t *ids) {
    return a->rows == b->rows && a->len == b->len && a->src_len == b->src_len &&
           a->items == b->items &&
           !memcmp(src, b->src, sizeof *src * (size_t)(b->rows * b->src_len)) &&
           !memcmp(ids, b->ids, sizeof *ids * (size_t)(b->rows * b->len));
}

TEST(pairs_batch_depends_on_its_place_alone) {
    heed_ctx *c = heed_open(&(heed_options){.seed = 3}), *d = heed_open(&(heed_options){.seed = 3});
    heed__pairs *k = open_pairs(c, PAIRS, 0.1), *m = open_pairs(d, PAIRS, 0.1);
    static int32_t src[ROWS * 64], ids[ROWS * 64];
    const uint64_t places[] = {70, 3, 71, 0, 500, 3};
    heed_batch a, b;
    for (uint64_t i = 0; i < 100; i++)
        heed__pair_batch(m, (heed_batch_at){.index = i, .rows = 5}, &b);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        heed_batch_at at = {.index = places[i], .rows = ROWS};
        CHECK(heed__pair_batch(k, at, &a));
        memcpy(src, a.src, sizeof *src * (size_t)(a.rows * a.src_len));
        memcpy(ids, a.ids, sizeof *ids * (size_t)(a.rows * a.len));
        heed__pair_batch(k, (heed_batch_at){.val = true, .rows = 3}, &b);
        CHECK(heed__pair_batch(m, at, &b) && same(&a, &b, src, ids));
    }
    CLOSE(d);
    d = heed_open(&(heed_options){.seed = 4});
    m = open_pairs(d, PAIRS, 0.1);
    CHECK(heed__pair_batch(m, (heed_batch_at){.index = 3, .rows = ROWS}, &b) &&
          !same(&a, &b, src, ids));
    CLOSE(d);
    CLOSE(c);
}

TEST_IN(pairs_of_a_step_are_the_same_however_it_is_divided, heed_open(&(heed_options){.seed = 3})) {
    heed__pairs *k = open_pairs(c, PAIRS, 0.1);
    static int32_t src[ROWS * 64];
    heed_batch a, b;
    for (uint64_t step = 0; step < 100; step += 9) {
        CHECK(heed__pair_batch(k, (heed_batch_at){.index = step, .rows = ROWS}, &a));
        memcpy(src, a.src, sizeof *src * (size_t)(a.rows * a.src_len));
        const int parts = 4, rows = ROWS / parts, len = a.src_len;
        size_t items = a.items;
        for (int i = 0; i < parts; i++) {
            heed_batch_at at = {
                .index = step, .micro = (uint32_t)i, .micros = (uint32_t)parts, .rows = rows};
            CHECK(heed__pair_batch(k, at, &b) && b.rows == rows && b.src_len <= len);
            items -= b.items;
            for (int row = 0; row < rows; row++)
                CHECK(!memcmp(src + (i * rows + row) * len, b.src + row * b.src_len,
                              sizeof *src * (size_t)b.src_len));
        }
        CHECK(items == 0);
    }
}

TEST_IN(pairs_evaluation_of_a_part_is_a_fair_sample, heed_open(&(heed_options){.seed = 3})) {
    heed__pairs *k = open_pairs(c, 80, 0);
    heed_batch b;
    int seen[80] = {0}, late = 0;
    for (uint64_t i = 0; i < 10; i++) {
        heed_batch_at at = {.val = true, .index = i, .rows = 8, .sample = true};
        CHECK(heed__pair_batch(k, at, &b) && b.rows == 8);
        for (int row = 0; row < b.rows; row++) {
            seen[number_in(&b, row)]++;
            late += i < 2 && number_in(&b, row) >= 40;
        }
    }
    for (int i = 0; i < 80; i++) CHECK(seen[i] == 1);
    CHECK(late >= 3 && late <= 13); /* of 16 */
}

TEST_IN(pairs_batch_evaluates_in_order, heed_open(&(heed_options){.seed = 3})) {
    heed__pairs *k = open_pairs(c, 20, 0);
    heed_batch b;
    int next = 0;
    CHECK(heed__pairs_eval_batches(k, 8) == 3);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK(heed__pair_batch(k, (heed_batch_at){.val = true, .index = i, .rows = 8}, &b));
        CHECK(b.rows == (i < 2 ? 8 : 4) && b.src_len == (i < 2 ? 8 * (int)i + 9 : 21));
        for (int row = 0; row < b.rows; row++) CHECK(number_in(&b, row) == next++);
    }
    CHECK_FAILS(c, heed__pair_batch(k, (heed_batch_at){.val = true, .index = 3, .rows = 8}, &b),
                HEED_USAGE, "no batch 3: expected less than 3");
    CHECK_FAILS(c, heed__pair_batch(k, (heed_batch_at){.rows = 0}, &b), HEED_USAGE, "found 0");
    CHECK_FAILS(c, heed__pair_batch(k, (heed_batch_at){.rows = 1 << 30}, &b), HEED_USAGE,
                "out of range");
}

/* More rows than pairs: each comes as often as another, except for one. */
TEST_IN(pairs_batch_of_few, heed_open(&(heed_options){.seed = 3})) {
    heed__pairs *k = open_pairs(c, 3, 0);
    heed_batch b;
    for (uint64_t i = 0; i < 4; i++) {
        int seen[3] = {0};
        CHECK(heed__pair_batch(k, (heed_batch_at){.index = i, .rows = 8}, &b) && b.rows == 8);
        for (int row = 0; row < 8; row++) seen[number_in(&b, row)]++;
        for (int j = 0; j < 3; j++) CHECK(seen[j] >= 2 && seen[j] <= 4);
    }
}

/* The largest batch may come first or last: room is made for it at once. */
TEST_IN(pairs_batch_keeps_its_room, heed_open(&(heed_options){.seed = 3})) {
    heed__pairs *k = open_pairs(c, PAIRS, 0);
    heed_batch b, first;
    CHECK(heed__pair_batch(k, (heed_batch_at){.rows = ROWS}, &first));
    for (uint64_t i = 1; i < 100; i++)
        CHECK(heed__pair_batch(k, (heed_batch_at){.index = i, .rows = ROWS}, &b) &&
              b.src == first.src && b.ids == first.ids && b.labels == first.labels);
}
