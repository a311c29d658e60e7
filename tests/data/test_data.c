/* Corpora and batches. */
#include "corpora.h"
#include "data/sets.h"

/* ---- causal batches ---- */

/* Reads the whole evaluation; seen[p] counts how often place p is a label. */
static void see_evaluation(world *w, int rows, int *seen, int *given) {
    uint64_t evals = heed__corpus_eval_batches(w->corpus, rows);
    for (uint64_t e = 0; e < evals; e++) {
        heed_batch b;
        CHECK(
            heed__gpt_batch(w->corpus, (heed_batch_at){.val = true, .index = e, .rows = rows}, &b));
        CHECK(b.rows == rows || e + 1 == evals);
        for (int i = 0; i < b.rows * b.len; i++) {
            if (b.pad && !b.pad[i]) CHECK(b.labels[i] == -100);
            if (b.labels[i] < 0) continue;
            CHECK(w->place[b.labels[i]] == w->place[b.ids[i]] + 1);
            seen[w->place[b.labels[i]]]++;
            given[w->place[b.ids[i]]]++;
        }
    }
    heed_batch b;
    CHECK(!heed__gpt_batch(w->corpus, (heed_batch_at){.val = true, .index = evals, .rows = rows},
                           &b));
    heed_clear(w->c);
}

TEST(corpus_random_split_cuts_clean) {
    world w = open_world(WORDS, 11, (heed__corpus_args){.block = 16, .val_split = 0.1});
    int seen[WORDS] = {0}, given[WORDS] = {0}, train[WORDS] = {0};
    see_evaluation(&w, 5, seen, given);
    for (uint64_t step = 0; step < 400; step++) {
        heed_batch b;
        CHECK(heed__gpt_batch(w.corpus, (heed_batch_at){.index = step, .rows = 8}, &b));
        CHECK(b.rows == 8 && b.len == 16 && !b.pad && b.items == 128);
        for (int i = 0; i < 128; i++) {
            CHECK(w.place[b.labels[i]] == w.place[b.ids[i]] + 1);
            CHECK(i % 16 == 0 || w.place[b.ids[i]] == w.place[b.ids[i - 1]] + 1);
            train[w.place[b.ids[i]]] = train[w.place[b.labels[i]]] = 1;
        }
    }
    int val = 0, trained = 0, pieces = 0;
    for (int p = 0; p < WORDS; p++) {
        bool in_val = seen[p] || given[p], before = p && (seen[p - 1] || given[p - 1]);
        CHECK(seen[p] <= 1 && given[p] <= 1);
        CHECK(!(in_val && train[p]));
        if (in_val && before) CHECK(seen[p] == 1); /* all but the first of a piece are predicted */
        pieces += in_val && !before;
        val += in_val;
        trained += train[p];
    }
    CHECK(val == WORDS / 10);
    CHECK(pieces >= 5 && pieces <= 10);
    CHECK(trained > WORDS * 9 / 10 * 99 / 100);
    heed__corpus_info f = heed__corpus_about(w.corpus);
    CHECK(f.val_tokens == WORDS / 10 && f.tokens == WORDS - f.val_tokens);
    CHECK(f.unknown == 0 && f.val_unknown == 0);
    size_t read = (size_t)heed__corpus_epoch_batches(w.corpus, 8) * 8 *
                  16; /* except for the ends of pieces */
    CHECK(read < f.tokens + 9 * 16 && read + (size_t)(pieces + 1) * 16 >= f.tokens);
    CLOSE(w.c);
}

TEST(corpus_tail_split_is_nanogpts) {
    heed__corpus_args a = {.block = 16, .val_split = 0.1, .tail = true};
    world w = open_world(1234, 7, a);
    int seen[WORDS] = {0}, given[WORDS] = {0};
    see_evaluation(&w, 4, seen, given);
    for (int p = 0; p < 1234; p++) CHECK(seen[p] == (p > 1110)); /* int(1234 * 0.9) = 1110 */
    CHECK(heed__corpus_about(w.corpus).tokens == 1110);
    CLOSE(w.c);
}

TEST(corpus_without_split_evaluates_on_all) {
    world w = open_world(100, 7, (heed__corpus_args){.block = 16});
    int seen[WORDS] = {0}, given[WORDS] = {0};
    see_evaluation(&w, 3, seen, given);
    for (int p = 0; p < 100; p++) CHECK(seen[p] == (p > 0));
    CHECK(heed__corpus_about(w.corpus).val_tokens == 0);
    CLOSE(w.c);
}

TEST_IN(corpus_validates_on_a_file_of_its_own, open_ctx()) {
    const char *train = "a b c d e f g h\n\nb c\n", *val = "c d\nb c\nz\nb c\n";
    heed_tokenizer *k =
        heed_tokenizer_train(c, train, strlen(train), (heed_tokenizer_args){.kind = "word"});
    heed__corpus_args a = {
        .block = 4, .val_path = write_file("val.txt", val, strlen(val)), .census = true};
    heed__corpus *p =
        heed__corpus_open(c, write_file("train.txt", train, strlen(train)), k, a, NULL);
    heed__corpus_info f = heed__corpus_about(p);
    CHECK(f.tokens == 10 && f.val_tokens == 7 && f.lines == 2 && f.val_lines == 4);
    CHECK(f.overlap == 2 && f.val_unknown == 1);
    CHECK(f.bytes == strlen(train) && f.val_bytes == strlen(val));
    heed_batch b;
    CHECK(heed__gpt_batch(p, (heed_batch_at){.val = true, .rows = 9}, &b));
    CHECK(b.rows == 2 && b.ids[0] == heed_token_id(k, "c") && b.labels[0] == heed_token_id(k, "d"));
    CHECK(b.items == 6 && b.pad && b.pad[5] == 1 && b.pad[6] == 0 && b.labels[6] == -100);
}

TEST(corpus_batches_depend_on_seed_step_and_micro_alone) {
    world w = open_world(2000, 9, (heed__corpus_args){.block = 16, .val_split = 0.1});
    int32_t first[8 * 16];
    heed_batch b;
    heed_batch_at at = {.index = 3, .micro = 1, .rows = 8};
    CHECK(heed__gpt_batch(w.corpus, at, &b));
    memcpy(first, b.ids, sizeof first);
    const int32_t *capacity = b.ids;
    heed_batch_at others[] = {{.index = 4, .micro = 1, .rows = 8},
                              {.index = 3, .micro = 0, .rows = 8}};
    for (int i = 0; i < 2; i++) {
        CHECK(heed__gpt_batch(w.corpus, others[i], &b));
        CHECK(memcmp(first, b.ids, sizeof first) != 0);
    }
    CHECK(heed__gpt_batch(w.corpus, at, &b));
    CHECK(memcmp(first, b.ids, sizeof first) == 0);
    CHECK(b.ids == capacity); /* no new memory for a batch of a size that was there before */
    heed_ctx *c = heed_open(&(heed_options){.seed = 8});
    heed_text t = counted(c, 2000, 9);
    heed__corpus *other =
        heed__corpus_open(c, write_file("o.txt", t.s, t.n), w.k,
                          (heed__corpus_args){.block = 16, .val_split = 0.1}, NULL);
    CHECK(heed__gpt_batch(other, at, &b));
    CHECK(memcmp(first, b.ids, sizeof first) != 0);
    CHECK(heed__gpt_batch(other, (heed_batch_at){.val = true, .index = 4, .rows = 1}, &b));
    memcpy(first, b.ids, 16 * sizeof *first);
    CHECK(heed__gpt_batch(w.corpus, (heed_batch_at){.val = true, .index = 4, .rows = 1}, &b));
    CHECK(memcmp(first, b.ids, 16 * sizeof *first) != 0); /* the split is of the seed, too */
    CHECK(heed__corpus_about(other).checksum == heed__corpus_about(w.corpus).checksum);
    heed_text_free(&t);
    CLOSE(c);
    CLOSE(w.c);
}

TEST(corpus_training_windows_are_uniform) {
    world w = open_world(40, 40, (heed__corpus_args){.block = 8});
    int starts[WORDS] = {0};
    for (uint64_t step = 0; step < 1000; step++) {
        heed_batch b;
        CHECK(heed__gpt_batch(w.corpus, (heed_batch_at){.index = step, .rows = 32}, &b));
        for (int r = 0; r < 32; r++) starts[w.place[b.ids[r * 8]]]++;
    }
    double mean = 32000.0 / 32, sigma = sqrt(mean);
    for (int p = 0; p < 40; p++)
        CHECK_CLOSE(starts[p], p < 32 ? mean : 0, p < 32 ? 4.5 * sigma : 0);
    CLOSE(w.c);
}

TEST(corpus_epoch_reads_every_token_once) {
    world w =
        open_world(65, 65, (heed__corpus_args){.block = 8}); /* 57 starts: 8 windows, 7 apart */
    int seen[WORDS] = {0}, twice = 0, missing = 0;
    for (uint64_t step = 0; step < 2; step++)
        for (uint32_t micro = 0; micro < 2; micro++) {
            heed_batch b;
            heed_batch_at at = {.index = step, .micro = micro, .micros = 2, .rows = 2};
            CHECK(heed__gpt_batch(w.corpus, at, &b));
            for (int i = 0; i < 16; i++) seen[w.place[b.ids[i]]]++;
        }
    for (int p = 0; p < 65; p++) twice += seen[p] > 1, missing += seen[p] == 0;
    CHECK(twice <= 8 && missing <= 65 - 64 + 2 * 8); /* but where the offset wraps around */
    CLOSE(w.c);
}

TEST(corpus_whole_epoch_ends_with_its_last_window) {
    world w = open_world(65, 65, (heed__corpus_args){.block = 8}); /* 8 windows */
    heed_batch b;
    CHECK(heed__corpus_epoch_batches(w.corpus, 3) == 3);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK(heed__gpt_batch(w.corpus, (heed_batch_at){.index = i, .rows = 3, .full_batch = true},
                              &b));
        CHECK(b.rows == (i < 2 ? 3 : 2));
    }
    CHECK(
        !heed__gpt_batch(w.corpus, (heed_batch_at){.index = 3, .rows = 3, .full_batch = true}, &b));
    CHECK_HAS(heed_ctx_error(w.c), "an epoch has no batch 3");
    heed_clear(w.c);
    CLOSE(w.c);
}

/* ---- lines ---- */

TEST_IN(corpus_lines_end_and_are_padded, open_ctx()) {
    const char *text = "a b c\n\n   \na b c d e f g h i j\nb\n";
    heed_tokenizer *k =
        heed_tokenizer_train(c, text, strlen(text), (heed_tokenizer_args){.kind = "word"});
    const char *path = write_file("l.txt", text, strlen(text));
    heed__corpus *p = heed__corpus_open(
        c, path, k, (heed__corpus_args){HEED_LINES, .block = 9, .census = true}, NULL);
    heed__corpus_info f = heed__corpus_about(p);
    CHECK(f.lines == 3 && f.cut_lines == 1 && f.tokens == 14);
    heed_batch b;
    CHECK(heed__gpt_batch(p, (heed_batch_at){.val = true, .rows = 3}, &b));
    CHECK(b.len == 9 && b.rows == 3 && b.items == 3 + 9 + 1);
    int sep = heed_tokenizer_specials(k).sep;
    CHECK(b.labels[0] == heed_token_id(k, "b") && b.labels[2] == sep && b.labels[3] == -100);
    CHECK(b.ids[3] == heed_tokenizer_specials(k).pad && b.pad[2] == 1 && b.pad[3] == 0);
    CHECK(b.labels[9 + 8] == heed_token_id(k, "j")); /* cut: its end is not told */
    CHECK(b.ids[18] == heed_token_id(k, "b") && b.labels[18] == sep);
    CHECK(b.label_bytes == 2 + 2 + 1 + 9 * 2 + 1);
    p = heed__corpus_open(c, path, k, (heed__corpus_args){HEED_LINES, .block = 10}, NULL);
    CHECK(heed__corpus_about(p).cut_lines == 0); /* ten tokens and, as a label, the end */
    CHECK(heed__gpt_batch(p, (heed_batch_at){.val = true, .rows = 3}, &b) && b.labels[19] == sep);
    p = heed__corpus_open(c, path, k, (heed__corpus_args){HEED_LINES, .block = 64}, NULL);
    CHECK(heed__gpt_batch(p, (heed_batch_at){.rows = 2}, &b) && b.len == 16 && b.pad);
    p = heed__corpus_open(c, path, k, (heed__corpus_args){HEED_LINES, .bracket = true, .block = 64},
                          NULL);
    CHECK(heed__mlm_batch(p, (heed_batch_at){.val = true, .rows = 3}, 0.15, &b));
    CHECK(b.len == 16 && b.items == 5 + 12 + 3);
    for (int r = 0; r < 3; r++) CHECK(b.ids[r * 16] == heed_tokenizer_specials(k).cls);
    CHECK(b.ids[4] == sep && b.ids[16 + 11] == sep && b.ids[32 + 2] == sep);
}

TEST(corpus_char_lines_end_with_newline) {
    heed_ctx *c = open_ctx();
    const char *text = "ab\nb";
    heed_tokenizer *k =
        heed_tokenizer_train(c, text, strlen(text), (heed_tokenizer_args){.kind = "char"});
    const char *path = write_file("c.txt", text, strlen(text));
    heed__corpus *p =
        heed__corpus_open(c, path, k, (heed__corpus_args){HEED_LINES, .block = 8}, NULL);
    heed_batch b;
    CHECK(heed__gpt_batch(p, (heed_batch_at){.val = true, .rows = 2}, &b));
    CHECK(b.labels[1] == heed_tokenizer_specials(k).newline && b.labels[8] == 0);
    k = heed_tokenizer_train(c, "ab", 2, (heed_tokenizer_args){.kind = "char"});
    CHECK(!heed__corpus_open(c, path, k, (heed__corpus_args){HEED_LINES, .block = 8}, NULL));
    CHECK_HAS(heed_ctx_error(c), "lines have no end");
    heed_close(c);
}

TEST(corpus_lines_split_whole) {
    world w = open_world(
        3000, 5, (heed__corpus_args){HEED_LINES, .block = 8, .val_split = 0.1, .census = true});
    int side[600] = {0};
    heed__corpus_info f = heed__corpus_about(w.corpus);
    CHECK(f.lines == 540 && f.val_lines == 60 && f.overlap == 0);
    for (int i = 0; i < 460; i++) {
        bool val = i < 60;
        heed_batch b;
        CHECK(heed__gpt_batch(
            w.corpus, (heed_batch_at){.val = val, .index = (uint64_t)i, .rows = val ? 1 : 8}, &b));
        for (int r = 0; r < b.rows; r++) {
            int place = w.place[b.ids[r * 8]];
            CHECK(place % 5 == 0);
            CHECK(side[place / 5] == 0 || side[place / 5] == 1 + val);
            side[place / 5] = 1 + val;
        }
    }
    int val = 0;
    for (int i = 0; i < 600; i++) val += side[i] == 2;
    CHECK(val == 60);
    CLOSE(w.c);
}

/* ---- bytes, sizes, errors ---- */

TEST_IN(corpus_counts_the_bytes_of_labels, open_ctx()) {
    heed_text t = {.c = c};
    for (int i = 0; i < 9000; i++)
        heed_text_add(&t, "%s", i % 7 ? "na\xC3\xAFve  dog, " : "\n\nx ");
    static const char *const kinds[] = {"char", "byte", "word", "wordpiece"};
    for (int i = 0; i < 4; i++) {
        heed_tokenizer *k = heed_tokenizer_train(
            c, t.s, t.n, (heed_tokenizer_args){.kind = kinds[i], .lower = true});
        heed__corpus *p = heed__corpus_open(c, write_file("b.txt", t.s, t.n), k,
                                            (heed__corpus_args){.block = 1000}, NULL);
        heed_batch b;
        size_t bytes = 0, labels = 0;
        for (uint64_t e = 0; e < heed__corpus_eval_batches(p, 3); e++) {
            CHECK(heed__gpt_batch(p, (heed_batch_at){.val = true, .index = e, .rows = 3}, &b));
            bytes += b.label_bytes;
            labels += b.items;
        }
        CHECK(labels == heed__corpus_about(p).tokens - 1);             /* all but the first token */
        size_t first = i == 0 || i == 1 ? 1 : 3, last = i < 2 ? 0 : 1; /* newlines, x; last space */
        CHECK(bytes == t.n - first - last);
        CHECK(heed__corpus_about(p).bytes == t.n);
    }
    heed_text_free(&t);
}

#define TWENTY                                                                                     \
    "a b a b a b a b a b a b a b a b a b a b" /* the fewest tokens with a hint on block */

TEST(corpus_short_and_bad_text_is_refused) {
    static const struct {
        const char *text;
        heed__corpus_args a;
        const char *why;
    } cases[] = {
        {"", {.block = 4}, "is empty"},
        {"a\0b", {.block = 4}, "NUL"},
        {"a b a", {.block = 4}, "expected at least 5 tokens (1 x 5 for `block = 4`), found 3"},
        {"a b a b a b", {.block = 8}, "hint: `block = 5`"},
        {TWENTY, {.block = 32}, "hint: `block = 19`"},
        {"a b a b a b",
         {.block = 4, .val_split = 0.1},
         "at least 10 tokens (2 x 5 for `block = 4`)"},
        {TWENTY, {.block = 16, .val_split = 0.1}, "hint: `block = 9`"},
        {TWENTY, {.block = 18, .val_split = 0.1, .tail = true}, "hint: `block = 16`"},
        {"a", {.block = 4}, "text is too short"},
        {"a b a b", {.block = 8, .bracket = true}, "expected at least 6 tokens"},
        {TWENTY, {.block = 32, .bracket = true}, "hint: `block = 22`"},
        {"a", {HEED_LINES, .block = 4, .val_split = 0.5}, "expected at least 2 lines"},
        {"a b a b a b a b", {.block = 4, .val_split = 0.1, .tail = true}, "no text is left"},
        {"\xE2\x80\x8B", {HEED_LINES, .block = 4}, "text is too short"},
        {"a b", {.block = 0}, "block is out of range"},
        {"a b", {.block = 2, .bracket = true}, "expected 3 to"},
        {"a b", {.block = 4, .val_split = 1}, "share is out of range"},
        {"a b", {.block = 4, .val_split = -0.5}, "share is out of range"},
        {"a b", {.block = 4, .val_split = (double)NAN}, "share is out of range"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_ctx *c = open_ctx();
        heed_tokenizer *k =
            heed_tokenizer_train(c, "a b", 3, (heed_tokenizer_args){.kind = "word"});
        size_t n = i == 1 ? 3 : strlen(cases[i].text);
        CHECK(!heed__corpus_open(c, write_file("s.txt", cases[i].text, n), k, cases[i].a, NULL));
        CHECK_HAS(heed_ctx_error(c), cases[i].why);
        heed_close(c);
    }
}

/* Shorter than a row: one padded row serves. */
TEST(corpus_of_a_short_text_evaluates) {
    for (int bracket = 0; bracket < 2; bracket++) {
        heed_ctx *c = open_ctx();
        heed_tokenizer *k =
            heed_tokenizer_train(c, "a b", 3, (heed_tokenizer_args){.kind = "word"});
        heed__corpus_args a = {.bracket = bracket, .block = 16, .val_split = 0.5, .eval = true};
        heed__corpus *p = heed__corpus_open(c, write_file("s.txt", "a b a", 5), k, a, NULL);
        heed_batch b;
        heed_batch_at at = {.val = true, .rows = 4};
        CHECK(heed__corpus_eval_batches(p, 4) == 1 && heed__corpus_about(p).val_tokens == 0);
        bool made = bracket ? heed__mlm_batch(p, at, 1, &b) : heed__gpt_batch(p, at, &b);
        CHECK(made && b.rows == 1 && b.items == (bracket ? 5u : 2u));
        at.val = false;
        CHECK(!(bracket ? heed__mlm_batch(p, at, 1, &b) : heed__gpt_batch(p, at, &b)));
        CHECK_HAS(heed_ctx_error(c), "evaluation only");
        heed_clear(c);
        CHECK(!heed__corpus_open(c, write_file("e.txt", bracket ? "\n" : "a", 1), k, a, NULL));
        CHECK_HAS(heed_ctx_error(c), "nothing to evaluate");
        heed_clear(c);
        CLOSE(c);
    }
}

TEST(corpus_hint_for_a_short_text_works) {
    world w = open_world(49, 10, (heed__corpus_args){.block = 24, .val_split = 0.1});
    const char *hint = strstr(heed_ctx_error(w.c), "hint: `block = ");
    int block = hint ? atoi(hint + 15) : 0;
    CHECK(!w.corpus && heed_ctx_status(w.c) == HEED_DATA && block == 23);
    heed_close(w.c);
    w = open_world(49, 10, (heed__corpus_args){.block = block, .val_split = 0.1});
    CLOSE(w.c);
}

TEST(corpus_refuses_the_wrong_batch) {
    world w = open_world(100, 7, (heed__corpus_args){.block = 16});
    heed_batch b;
    CHECK(!heed__mlm_batch(w.corpus, (heed_batch_at){.rows = 2}, 0.15, &b) && b.rows == 0);
    CHECK_HAS(heed_ctx_error(w.c), "expected it opened with [CLS] and [SEP]");
    heed_clear(w.c);
    CHECK(!heed__gpt_batch(w.corpus, (heed_batch_at){.rows = 0}, &b));
    heed_clear(w.c);
    CHECK(!heed__gpt_batch(w.corpus, (heed_batch_at){.rows = INT32_MAX}, &b));
    CHECK_HAS(heed_ctx_error(w.c), "rows of the batch are out of range");
    heed_clear(w.c);
    heed_tokenizer *k = heed_tokenizer_train(w.c, "ab", 2, (heed_tokenizer_args){.kind = "char"});
    heed__corpus_args a = {.block = 16, .bracket = true};
    CHECK(!heed__corpus_open(w.c, write_file("a.txt", "abababababababababab", 20), k, a, NULL));
    CHECK_HAS(heed_ctx_error(w.c), "lacks special tokens");
    heed_close(w.c);
    CHECK(!heed__corpus_open(NULL, "x", NULL, a, NULL) &&
          !heed__gpt_batch(NULL, (heed_batch_at){0}, &b));
    CHECK(heed__corpus_eval_batches(NULL, 1) == 0 && heed__corpus_about(NULL).tokens == 0);
    heed__corpus_close(NULL);
}
