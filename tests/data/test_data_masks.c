/* Masked batches of a corpus. */
#include "corpora.h"
#include "data/sets.h"

/* ---- masked batches ---- */

static bool is_special(const heed_tokenizer *k, int id) {
    heed_specials s = heed_tokenizer_specials(k);
    return id == s.pad || id == s.unk || id == s.cls || id == s.sep || id == s.mask;
}

TEST(corpus_masks_by_80_10_10) {
    heed__corpus_args a = {.bracket = true, .block = 42, .val_split = 0.1};
    world w = open_world(WORDS, 11, a);
    double masked_positions = 0, masked = 0, other = 0, kept = 0;
    int random_seen[WORDS + 8] = {0};
    for (uint64_t step = 0; step < 500; step++) {
        heed_batch b;
        CHECK(heed__mlm_batch(w.corpus, (heed_batch_at){.index = step, .rows = 8}, 0.15, &b));
        CHECK(b.masked_count == 8 * 6 && !b.pad && b.items == 8 * 42); /* round(0.15 * 40) = 6 */
        for (int r = 0; r < 8; r++) {
            CHECK(b.ids[r * 42] == heed_tokenizer_specials(w.k).cls);
            CHECK(b.ids[r * 42 + 41] == heed_tokenizer_specials(w.k).sep);
        }
        for (int i = 0; i < b.masked_count; i++) {
            int at = b.masked_positions[i], id = b.ids[at], label = b.labels[i];
            CHECK(i == 0 || at > b.masked_positions[i - 1]);
            CHECK(at % 42 > 0 && at % 42 < 41 && !is_special(w.k, label));
            masked_positions++;
            if (id == heed_tokenizer_specials(w.k).mask)
                masked++;
            else if (id == label)
                kept++;
            else
                other++, random_seen[id]++;
        }
    }
    CHECK_CLOSE(masked / masked_positions, 0.8, 4 * sqrt(0.8 * 0.2 / masked_positions));
    CHECK_CLOSE(other / masked_positions, 0.1, 4 * sqrt(0.1 * 0.9 / masked_positions));
    CHECK_CLOSE(kept / masked_positions, 0.1, 4 * sqrt(0.1 * 0.9 / masked_positions));
    int special = 0, distinct = 0;
    for (int id = 0; id < heed_vocab_size(w.k); id++) {
        special += is_special(w.k, id) ? random_seen[id] : 0;
        distinct += random_seen[id] > 0;
    }
    CHECK(special == 0 && distinct > 1500);
    CLOSE(w.c);
}

TEST(corpus_masks_restore_the_text) {
    heed__corpus_args a = {.bracket = true, .block = 18, .val_split = 0.1};
    world w = open_world(WORDS, 11, a);
    int seen[WORDS] = {0};
    for (uint64_t e = 0; e < heed__corpus_eval_batches(w.corpus, 4); e++) {
        heed_batch b;
        CHECK(heed__mlm_batch(w.corpus, (heed_batch_at){.val = true, .index = e, .rows = 4}, 0.15,
                              &b));
        int32_t ids[4 * 18];
        memcpy(ids, b.ids, sizeof(int32_t) * (size_t)(b.rows * 18));
        for (int i = 0; i < b.masked_count; i++) ids[b.masked_positions[i]] = b.labels[i];
        for (int i = 0; i < b.rows * 18; i++) {
            int place = w.place[ids[i]];
            if (place < 0) continue;
            CHECK(!b.pad || b.pad[i]);
            CHECK(i % 18 == 1 || place == w.place[ids[i - 1]] + 1);
            seen[place]++;
        }
    }
    int val = 0;
    for (int p = 0; p < WORDS; p++) {
        CHECK(seen[p] <= 1);
        val += seen[p];
    }
    CHECK(val == WORDS / 10);
    CLOSE(w.c);
}

/* A row of the first batches is as likely to stand late in the text as early. */
TEST(corpus_evaluation_of_a_part_is_a_fair_sample) {
    world w = open_world(4000, 9, (heed__corpus_args){.block = 16, .val_split = 0.5});
    uint64_t evals = heed__corpus_eval_batches(w.corpus, 4);
    int *seen = calloc(4000, sizeof *seen), late = 0, rows = 0;
    for (uint64_t i = 0; i < evals; i++) {
        heed_batch b;
        heed_batch_at at = {.val = true, .index = i, .rows = 4, .sample = true};
        CHECK(heed__gpt_batch(w.corpus, at, &b));
        for (int row = 0; row < b.rows; row++) {
            int place = w.place[b.ids[row * b.len]];
            CHECK(seen[place]++ == 0);
            late += i < evals / 4 && place >= 2000;
            rows += i < evals / 4;
        }
    }
    CHECK(rows >= 24 && late > rows / 5 && late < rows - rows / 5);
    free(seen);
    CLOSE(w.c);
}

TEST(corpus_evaluation_masks_are_fixed) {
    heed__corpus_args a = {HEED_LINES, .bracket = true, .block = 16, .val_split = 0.2};
    world w = open_world(1000, 9, a);
    int32_t wide[4 * 16];
    heed_batch b;
    CHECK(heed__mlm_batch(w.corpus, (heed_batch_at){.val = true, .index = 1, .rows = 4}, 0.3, &b));
    memcpy(wide, b.ids, sizeof wide);
    for (int r = 0; r < 4; r++) { /* the same masks whatever the batch size */
        heed_batch_at at = {.val = true, .index = (uint64_t)(4 + r), .rows = 1};
        CHECK(heed__mlm_batch(w.corpus, at, 0.3, &b));
        CHECK(memcmp(wide + r * 16, b.ids, 16 * sizeof(int32_t)) == 0);
        CHECK(b.masked_count == 3); /* round(0.3 * 9) */
    }
    heed_batch_at at = {.index = 1, .rows = 4};
    CHECK(heed__mlm_batch(w.corpus, at, 0.3, &b));
    memcpy(wide, b.ids, sizeof wide);
    CHECK(heed__mlm_batch(w.corpus, (heed_batch_at){.index = 2, .rows = 4}, 0.3, &b));
    CHECK(memcmp(wide, b.ids, sizeof wide) != 0);
    CHECK(heed__mlm_batch(w.corpus, at, 0.3, &b) && memcmp(wide, b.ids, sizeof wide) == 0);
    CLOSE(w.c);
}

TEST_IN(corpus_masks_at_least_one, open_ctx()) {
    const char *text = "x\ny\n? ?\n";
    heed_tokenizer *k = heed_tokenizer_train(c, "x y", 3, (heed_tokenizer_args){.kind = "word"});
    heed__corpus *p =
        heed__corpus_open(c, write_file("m.txt", text, strlen(text)), k,
                          (heed__corpus_args){HEED_LINES, .bracket = true, .block = 16}, NULL);
    heed_batch b;
    CHECK(heed__mlm_batch(p, (heed_batch_at){.val = true, .rows = 3}, 0.15, &b));
    CHECK(b.len == 8 && b.masked_count == 3);
    CHECK(b.labels[0] == heed_token_id(k, "x") && b.masked_positions[0] == 1);
    CHECK(b.labels[1] == heed_token_id(k, "y") && b.masked_positions[1] == 8 + 1);
    CHECK(b.labels[2] == heed_tokenizer_specials(k).unk); /* nothing else in this line */
    CHECK(heed__mlm_batch(p, (heed_batch_at){.val = true, .rows = 3}, 1, &b));
    CHECK(b.masked_count == 1 + 1 + 2);
}
