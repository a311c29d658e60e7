/* Texts of several passages: as if they were read at once, for every number of threads; what a run
 * keeps of them. */
#include "corpora.h"
#include "text/text.h"

#include "data/corpus/corpus.h"

static heed_ctx *open_threads(int threads) {
    return heed_open(&(heed_options){.seed = 7, .threads = threads});
}

static void repeat(heed_text *t, const char *s, size_t bytes) {
    for (size_t end = t->n + bytes; t->n < end;) heed_text_put(t, s, strlen(s));
}

/* Passages have about a megabyte: they end within each kind of content. */
static heed_text awkward(heed_ctx *c) {
    heed_text t = {.c = c};
    heed_text_put(&t, "\xEF\xBB\xBF", 3);
    repeat(&t, "[MASK]\xC3\xA9",
           1300000);                   /* no line end, the text of a special token at each place */
    repeat(&t, "\r\n\r\nx\r", 700000); /* line ends of two bytes */
    repeat(&t, "\xE6\xBC\xA2[", 900000); /* ideographs and brackets */
    repeat(&t, "Na\xC3\xAFve e\xCC\x81 dog's, 12\x01 34\n", 600000);
    repeat(&t, "a", 1200000); /* a word longer than a passage */
    heed_text_put(&t, " end\n\nlast", 10);
    return t;
}

static const char *const kinds[] = {"char", "byte", "word", "wordpiece"};

/* All tokens of the corpus, by its evaluation: blocks of len + 1, of which the last is the first of
 * the next. */
static int32_t *read_all(heed__corpus *p, size_t *count, size_t *bytes) {
    int32_t *ids = malloc((heed__corpus_about(p).tokens + 1) * sizeof *ids);
    heed_batch b;
    *count = *bytes = 0;
    for (uint64_t i = 0; ids && i < heed__corpus_eval_batches(p, 1); i++) {
        if (!heed__gpt_batch(p, (heed_batch_at){.val = true, .index = i, .rows = 1}, &b)) break;
        if (i == 0) ids[(*count)++] = b.ids[0];
        for (int t = 0; t < b.len && b.labels[t] >= 0; t++) ids[(*count)++] = b.labels[t];
        *bytes += b.label_bytes;
    }
    return ids;
}

static void check_tokens(const heed_text *raw, const char *path, const char *kind, int threads) {
    heed_ctx *c = open_threads(threads);
    size_t n, count, bytes;
    char *text = heed_text_read(c, path, &n);
    heed_tokenizer_args a = {.kind = kind, .lower = threads == 3, .specials = true};
    heed_tokenizer *k = heed_tokenizer_train(c, text, n, a);
    heed_tokenizer *by_file = heed__tokenizer_train(c, &(heed__source){.path = path}, a);
    CHECK(raw->n > n && heed_tokenizer_digest(k) == heed_tokenizer_digest(by_file));
    heed_tokens all = {0};
    CHECK(heed_encode_text(k, text, n, &all));
    heed__corpus *p = heed__corpus_open(c, path, k, (heed__corpus_args){.block = 4096}, NULL);
    int32_t *ids = read_all(p, &count, &bytes);
    CHECK(count == all.count && memcmp(ids, all.ids, count * sizeof *ids) == 0);
    CHECK(heed__corpus_about(p).checksum == heed__hash64(text, n, 0));
    CHECK(heed__corpus_about(p).bytes == n);
    size_t covered = 0; /* a token accounts for at most 4095 bytes */
    for (size_t i = 1; i < all.count; i++) {
        size_t each = all.end[i] - all.end[i - 1];
        covered += each < 4095 ? each : 4095;
    }
    CHECK(bytes == covered);
    free(ids);
    free(text);
    heed_tokens_free(&all);
    CLOSE(c);
}

TEST(large_text_has_the_tokens_of_the_whole) {
    heed_text raw = awkward(NULL);
    const char *path = write_file("big.txt", raw.s, raw.n);
    for (int i = 0; i < 4; i++) check_tokens(&raw, path, kinds[i], i % 2 ? 3 : 1);
    check_tokens(&raw, path, "char", 3);
    check_tokens(&raw, path, "wordpiece", 1);
    heed_text_free(&raw);
}

/* Each line of the text is a row, however passages cut it. */
TEST(large_text_has_its_lines) {
    heed_text raw = awkward(NULL);
    const char *path = write_file("big.txt", raw.s, raw.n);
    for (int threads = 1; threads < 4; threads += 2) {
        heed_ctx *c = open_threads(threads);
        size_t n, row = 0;
        char *text = heed_text_read(c, path, &n);
        heed_tokenizer *k = heed_tokenizer_train(c, text, n, (heed_tokenizer_args){.kind = "word"});
        heed__corpus *p = heed__corpus_open(
            c, path, k, (heed__corpus_args){HEED_LINES, .block = 16, .census = true}, NULL);
        heed_batch b;
        for (size_t at = 0, length; at < n; at += length + 1) {
            const char *end = memchr(text + at, '\n', n - at);
            heed_tokens line = {0};
            length = end ? (size_t)(end - text) - at : n - at;
            if (row % 997 == 0 || length > 1000) {
                size_t shown = length < 4096 ? length : 4096;
                CHECK(heed_encode_text(k, text + at, shown, &line));
            }
            if (length == 0) continue;
            if (line.count) {
                heed_batch_at which = {.val = true, .index = row, .rows = 1};
                CHECK(heed__gpt_batch(p, which, &b));
                for (size_t t = 0; t < 16 && t < line.count; t++) CHECK(b.ids[t] == line.ids[t]);
            }
            row++;
            heed_tokens_free(&line);
        }
        CHECK(heed__corpus_eval_batches(p, 1) == row && heed__corpus_about(p).lines == row);
        free(text);
        CLOSE(c);
    }
    heed_text_free(&raw);
}

TEST(large_text_is_surveyed) {
    heed_text raw = awkward(NULL);
    const char *path = write_file("big.txt", raw.s, raw.n);
    for (int threads = 1; threads < 4; threads += 2) {
        heed_ctx *c = open_threads(threads);
        heed__text_facts f, expected = {0};
        size_t n;
        char *text = heed_text_read(c, path, &n);
        for (size_t at = 0, length; at < n; at += length + 1, expected.lines++) {
            const char *end = memchr(text + at, '\n', n - at);
            length = end ? (size_t)(end - text) - at : n - at;
            expected.empty += length == 0;
            if (length > expected.longest) expected.longest = length;
        }
        for (size_t i = 0; i < raw.n; i++)
            expected.returns += raw.s[i] == '\r' && raw.s[i + 1] == '\n';
        CHECK(heed__text_survey(c, path, &f) && f.bytes == n && f.lines == expected.lines);
        CHECK(f.empty == expected.empty && f.longest == expected.longest);
        CHECK(f.returns == expected.returns && f.characters == heed__utf8_count(text, n));
        free(text);
        CLOSE(c);
    }
    heed_text_free(&raw);
}

/* The first flaw counts, with its line and byte, in whatever passage it is. */
TEST(large_text_with_flaws_names_the_first) {
    heed_text t = {0};
    repeat(&t, "line\n", 4000000);
    t.s[2500001] = '\xFF';
    t.s[3500001] = 0;
    for (int threads = 1; threads < 4; threads += 2) {
        heed_ctx *c = open_threads(threads);
        heed__text_facts f;
        CHECK(!heed__text_survey(c, write_file("bad.txt", t.s, t.n), &f));
        CHECK_HAS(heed_ctx_error(c), "bad.txt:500001: expected UTF-8, found 0xFF at byte 2500001");
        heed_close(c);
    }
    t.s[2500001] = 'i';
    heed_ctx *c = open_threads(3);
    heed_tokenizer *k = heed_tokenizer_train(c, "a", 1, (heed_tokenizer_args){.kind = "byte"});
    CHECK(!heed__corpus_open(c, write_file("nul.txt", t.s, t.n), k, (heed__corpus_args){.block = 8},
                             NULL));
    CHECK_HAS(heed_ctx_error(c), "NUL byte");
    CHECK_HAS(heed_ctx_error(c), "nul.txt:700001");
    heed_close(c);
    heed_text_free(&t);
}

static bool count_calls(void *user, uint64_t done, uint64_t all) {
    uint64_t *last = user;
    CHECK(done >= *last && done <= all);
    *last = done;
    return done < all / 2;
}

TEST(large_text_can_be_interrupted) {
    heed_text t = {0};
    repeat(&t, "line\n", 4000000);
    const char *path = write_file("t.txt", t.s, t.n);
    heed_ctx *c = open_threads(2);
    heed_tokenizer *k = heed_tokenizer_train(c, "a", 1, (heed_tokenizer_args){.kind = "byte"});
    uint64_t last = 0;
    heed__watch watch = {count_calls, &last, 0, t.n};
    CHECK(!heed__corpus_open(c, path, k, (heed__corpus_args){.block = 8}, &watch));
    CHECK(heed_ctx_status(c) == HEED_INTERRUPTED && last >= t.n / 2 && last < t.n);
    heed_close(c);
    heed_text_free(&t);
}

/* A byte a token for bytes and characters, 4 for words. */
TEST(large_text_takes_little_memory) {
    heed_text t = {0};
    repeat(&t, "some line, caf\xC3\xA9\n", 1200000);
    const char *path = write_file("t.txt", t.s, t.n);
    for (int i = 0; i < 3; i++) {
        heed_ctx *c = open_threads(2);
        heed_tokenizer *k =
            heed_tokenizer_train(c, t.s, t.n, (heed_tokenizer_args){.kind = kinds[i]});
        heed__corpus *p = heed__corpus_open(
            c, path, k, (heed__corpus_args){i < 2 ? HEED_LINES : 0, .block = 64}, NULL);
        const heed__stream *s = &p->stream;
        CHECK(s->width == 1 && (s->usual != NULL) == (i < 2));
        for (size_t j = 0; j << HEED__CHUNK_BITS < s->count; j++) {
            CHECK((s->chunks[j].bytes != NULL) == (i == 2));
            CHECK(s->chunks[j].odd_capacity < HEED__CHUNK / 4);
        }
        CLOSE(c);
    }
    heed_text_free(&t);
}

/* ---- tokens that a run keeps ---- */

/* Opens the text again; true if what the folder keeps was used. The tokens are as ever. */
static bool opens_kept(const char *path, heed_tokenizer_args words, heed__packing packing) {
    heed_ctx *c = open_threads(1);
    size_t n, count[2], bytes[2];
    char *text = heed_text_read(c, path, &n);
    heed_tokenizer *k = heed_tokenizer_train(c, text, n, words);
    heed__corpus_args a = {packing, .block = 8};
    heed__corpus *fresh = heed__corpus_open(c, path, k, a, NULL);
    a.cache = test_folder();
    heed__corpus *p = heed__corpus_open(c, path, k, a, NULL);
    int32_t *first = read_all(fresh, &count[0], &bytes[0]);
    int32_t *second = read_all(p, &count[1], &bytes[1]);
    bool kept = heed__corpus_about(p).kept > 0;
    CHECK(count[0] == count[1] && bytes[0] == bytes[1]);
    CHECK(memcmp(first, second, count[0] * sizeof *first) == 0);
    CHECK(heed__corpus_about(p).checksum == heed__corpus_about(fresh).checksum);
    CHECK(heed__corpus_about(p).bytes == heed__corpus_about(fresh).bytes);
    free(first);
    free(second);
    free(text);
    CLOSE(c);
    return kept;
}

static void keep(const char *path, heed_tokenizer_args words, heed__packing packing) {
    heed_ctx *c = open_threads(1);
    size_t n;
    char *text = heed_text_read(c, path, &n);
    heed_tokenizer *k = heed_tokenizer_train(c, text, n, words);
    heed__corpus_args a = {packing, .block = 8, .keep = true};
    heed__corpus *p = heed__corpus_open(c, path, k, a, NULL);
    CHECK(!heed__corpus_keep(p, test_folder(), 1 << 20)); /* it is smaller */
    CHECK(heed__corpus_keep(p, test_folder(), 0));
    free(text);
    CLOSE(c);
}

TEST(kept_tokens_are_those_of_the_text) {
    const char *text = "a b, a c\nb \xC3\xA9 a\n\nc c a b d e f a b a b a\n";
    for (int i = 0; i < 4; i++)
        for (int way = 0; way < 2; way++) {
            heed__packing packing = way ? HEED_LINES : HEED_BLOCKS;
            heed__packing other = way ? HEED_BLOCKS : HEED_LINES;
            const char *path = write_file("t.txt", text, strlen(text));
            heed_tokenizer_args words = {.kind = kinds[i]}, others = {.kind = kinds[i ^ 1]};
            keep(path, words, packing);
            CHECK(opens_kept(path, words, packing));
            CHECK(!opens_kept(path, others, packing)); /* of another tokenizer */
            CHECK(!opens_kept(path, words, other));    /* of another packing */
            write_file("t.txt", text, strlen(text) - 1);
            CHECK(!opens_kept(path, words, packing)); /* of another text */
        }
}

/* A file that was changed or cut anywhere is not used, and is no error. */
TEST(kept_tokens_that_are_damaged_are_ignored) {
    const char *text = "a b, a c\nb \xC3\xA9 a\n\nc c a b d e f a b a b a\n";
    heed_tokenizer_args words = {.kind = "word"};
    char kept[1024], name[256], path[256];
    snprintf(path, sizeof path, "%s", write_file("t.txt", text, strlen(text)));
    keep(path, words, HEED_LINES);
    snprintf(name, sizeof name, "%s/tokens.bin", test_folder());
    FILE *f = fopen(name, "rb");
    size_t n = f ? fread(kept, 1, sizeof kept, f) : 0;
    if (f) fclose(f);
    CHECK(n > 100 && n < sizeof kept && opens_kept(path, words, HEED_LINES));
    for (size_t i = 0; i < n; i += 3) {
        kept[i] ^= 1;
        write_file("tokens.bin", kept, n);
        CHECK(!opens_kept(path, words, HEED_LINES));
        kept[i] ^= 1;
        write_file("tokens.bin", kept, i);
        CHECK(!opens_kept(path, words, HEED_LINES));
    }
}
