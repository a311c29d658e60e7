/* tokenizer.json: read with the ids and texts of Hugging Face's tokenizers, written, and refused;
 * and byte-level BPE. The goldens are tests/golden/make_tokenizers.py's. */
#include "data/sets.h"
#include "test.h"
#include "text/text.h"

#include <jansson.h>

static heed_ctx *open_ctx(void) { return heed_open(&(heed_options){.seed = 1}); }

/* A folder with a tokenizer.json of this text. */
static const char *folder_of(const char *name, const char *text) {
    static char dir[128];
    char path[160];
    snprintf(dir, sizeof dir, "mkdir -p %s/%s", test_folder(), name);
    if (system(dir) != 0) exit(1);
    snprintf(dir, sizeof dir, "%s/%s", test_folder(), name);
    snprintf(path, sizeof path, "%s/tokenizer.json", dir);
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) exit(1);
    return dir;
}

static heed_tokenizer *train(heed_ctx *c, const char *text, heed_tokenizer_args a) {
    return heed_tokenizer_train(c, text, strlen(text), a);
}

/* ---- goldens ---- */

static bool same_ids(const heed_tokens *t, const json_t *ids) {
    bool same = t->count == json_array_size(ids);
    for (size_t i = 0; same && i < t->count; i++)
        same = t->ids[i] == json_integer_value(json_array_get(ids, i));
    return same;
}

static void check_text(const heed_tokenizer *k, const char *name, const char *text,
                       const json_t *ids, const char *decoded) {
    heed_tokens t = {0};
    heed_text back = {0};
    size_t n = strlen(text);
    CHECK(heed_encode(k, text, n, &t));
    if (!same_ids(&t, ids)) fprintf(stderr, "%s: %s\n", name, text);
    CHECK(same_ids(&t, ids));
    for (size_t i = 0; i < t.count; i++) CHECK(t.begin[i] <= t.end[i] && t.end[i] <= n);
    CHECK(heed_decode(k, t.ids, t.count, &back));
    CHECK_TEXT(back.s ? back.s : "", decoded ? decoded : text);
    heed_text_free(&back);
    heed_tokens_free(&t);
}

TEST(hugging_face_goldens) {
    json_error_t e;
    json_t *all = json_load_file("tests/golden/tokenizers.json", 0, &e);
    const json_t *texts = json_object_get(all, "texts"), *cases = json_object_get(all, "cases");
    CHECK(json_array_size(cases) == 18);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        heed_ctx *c = open_ctx();
        const json_t *o = json_array_get(cases, i);
        const char *name = json_string_value(json_object_get(o, "name"));
        const char *file = json_string_value(json_object_get(o, "file"));
        heed_tokenizer *k = heed_tokenizer_open(c, folder_of("golden", file));
        CHECK_TEXT(heed_ctx_error(c), "");
        for (size_t j = 0; j < json_array_size(texts); j++)
            check_text(k, name, json_string_value(json_array_get(texts, j)),
                       json_array_get(json_object_get(o, "ids"), j),
                       json_string_value(json_array_get(json_object_get(o, "decoded"), j)));
        CLOSE(c);
    }
    json_decref(all);
}

/* ---- byte-level BPE ---- */

TEST_IN(bpe_trains_the_most_frequent_pairs, open_ctx()) {
    heed_tokenizer *k =
        train(c, "hug hug hug pug pug hugs hugs bun", (heed_tokenizer_args){.kind = "bpe"});
    CHECK_TEXT(heed_tokenizer_kind(k), "bpe");
    CHECK(heed_vocab_size(k) == 263);
    CHECK_TEXT(heed_token_text(k, 0), "<|endoftext|>");
    CHECK_TEXT(heed_token_text(k, 1), "!");
    static const char *const merged[] = {"ug", "hug", " hug", "pug", " pug", " hugs"};
    for (int i = 0; i < 6; i++) CHECK_TEXT(heed_token_text(k, 257 + i), merged[i]);
    CHECK(heed_token_id(k, " hug") == 259 &&
          heed_token_id(k, "\n") == heed_tokenizer_specials(k).newline);
    CHECK(heed_tokenizer_specials(k).sep == 0 && heed_tokenizer_specials(k).unk == -1);
    heed_tokens t = {0};
    CHECK(heed_encode(k, " hugs<|endoftext|>\xC3", 19, &t) && t.count == 3);
    CHECK(t.ids[0] == 262 && t.begin[0] == 0 && t.end[0] == 5 && t.ids[1] == 0);
    CHECK(t.begin[2] == 18 && t.end[2] == 19);
    heed_tokens_free(&t);
    k = train(c, "hug hug", (heed_tokenizer_args){.kind = "bpe", .vocab = 259, .specials = true});
    CHECK(heed_vocab_size(k) <= 260 || heed_ctx_status(c) != HEED_OK);
    heed_clear(c);
    k = train(c, "hug hug", (heed_tokenizer_args){.kind = "bpe", .vocab = 262, .specials = true});
    CHECK(heed_vocab_size(k) == 262 && heed_tokenizer_specials(k).mask == 3);
}

/* Every sequence of bytes comes back, except that what is not UTF-8 is shown as U+FFFD. */
TEST_IN(bpe_round_trips_are_exact, open_ctx()) {
    heed_tokenizer *k =
        train(c, "the cat sat on the mat, the cats sat", (heed_tokenizer_args){.kind = "bpe"});
    for (uint64_t i = 0; i < 300; i++) {
        heed_random r = heed_random_at(7, "bytes", i, 0);
        char text[64] = "";
        size_t n = 0;
        while (n < 40)
            n += heed__utf8_write((int32_t)heed_random_below(&r, n, i % 2 ? 0x2000 : 0x7F) + 1,
                                  text + n);
        heed_tokens t = {0};
        heed_text back = {0};
        CHECK(heed_encode(k, text, n, &t) && heed_decode(k, t.ids, t.count, &back));
        CHECK(back.n == n && memcmp(back.s, text, n) == 0);
        for (size_t j = 0; j < t.count; j++) CHECK(t.begin[j] == (j ? t.end[j - 1] : 0));
        heed_text_free(&back);
        heed_tokens_free(&t);
    }
}

/* ---- files ---- */

#define FILE_OF(steps, model)                                                                      \
    "{\"version\":\"1.0\",\"added_tokens\":[]," steps "\"model\":{" model "}}"
#define WORDS_OF "\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":0}"

TEST(hugging_face_refuses_by_name) {
    static const struct {
        const char *text, *why;
    } cases[] = {
        {FILE_OF("", "\"type\":\"Unigram\",\"vocab\":[]"),
         "model.type: expected WordLevel, WordPiece or BPE"},
        {FILE_OF("\"extra\":1,", WORDS_OF),
         "tokenizer.extra: expected no such setting, found \"1\""},
        {FILE_OF("\"normalizer\":{\"type\":\"Precompiled\"},", WORDS_OF),
         "normalizer.type: expected Sequence, BertNormalizer"},
        {FILE_OF("\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{"
                 "\"type\":\"Nmt\"}]},",
                 WORDS_OF),
         "normalizer.normalizers[1].type"},
        {FILE_OF("\"normalizer\":{\"type\":\"NFC\",\"x\":1},", WORDS_OF), "normalizer.x"},
        {FILE_OF("\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a\"},\"content\":"
                 "\"b\"},",
                 WORDS_OF),
         "normalizer.pattern: expected a String"},
        {FILE_OF("\"pre_tokenizer\":{\"type\":\"UnicodeScripts\"},", WORDS_OF),
         "pre_tokenizer.type"},
        {FILE_OF("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a)+\"},"
                 "\"behavior\":\"Isolated\",\"invert\":false},",
                 WORDS_OF),
         "pre_tokenizer.pattern.Regex: expected a pattern without a repeated group"},
        {FILE_OF("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[a\"},"
                 "\"behavior\":\"Isolated\"},",
                 WORDS_OF),
         "expected a pattern without an unclosed set"},
        {FILE_OF("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"a\"},"
                 "\"behavior\":\"Odd\"},",
                 WORDS_OF),
         "pre_tokenizer.behavior: expected Isolated"},
        {FILE_OF("\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":"
                 "\"ByteLevel\"},{\"type\":\"Digits\"}]},",
                 WORDS_OF),
         "pre_tokenizer.pretokenizers[1]: expected ByteLevel as the last splitter"},
        {FILE_OF("\"decoder\":{\"type\":\"CTC\"},", WORDS_OF), "decoder.type"},
        {FILE_OF("\"post_processor\":{\"type\":\"Odd\"},", WORDS_OF), "post_processor.type"},
        {FILE_OF("\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{"
                 "\"SpecialToken\":{\"id\":\"X\"}},{\"Sequence\":{\"id\":\"A\"}}],"
                 "\"special_tokens\":{\"X\":{\"ids\":[\"a\"]}}},",
                 WORDS_OF),
         "post_processor: expected ids of the vocabulary, found \"a\""},
        {FILE_OF("\"post_processor\":{\"type\":\"BertProcessing\",\"cls\":[\"a\",0.5],"
                 "\"sep\":[\"a\",0]},",
                 WORDS_OF),
         "post_processor: expected ids of the vocabulary, found \"0.5\""},
        {FILE_OF("\"pre_tokenizer\":{\"type\":\"ByteLevel\"},", WORDS_OF),
         "model.type: expected BPE after ByteLevel"},
        {FILE_OF("", "\"type\":\"BPE\",\"byte_fallback\":true,\"end_of_word_suffix\":\"</w>\","
                     "\"vocab\":{\"a\":0},\"merges\":[]"),
         "model.byte_fallback: expected false"},
        {FILE_OF("", "\"type\":\"WordLevel\",\"unk_token\":\"b\",\"vocab\":{\"a\":0}"),
         "model.unk_token"},
        {FILE_OF("", "\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":1}"),
         "ids from 0"},
        {FILE_OF("", "\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,\"b\":0}"),
         "another id for each token"},
        {FILE_OF("", "\"type\":\"BPE\",\"dropout\":0.1,\"vocab\":{\"a\":0},\"merges\":[]"),
         "model.dropout: expected null"},
        {FILE_OF("", "\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a b\"]"),
         "model.merges[0]: expected two tokens of the vocabulary"},
        {FILE_OF("", "\"type\":\"BPE\",\"vocab\":{\"a\":0,\"aa\":1},\"merges\":[[\"a\",\"a\"],["
                     "\"a\",\"a\"]]"),
         "model.merges[1]: expected each merge once"},
        {FILE_OF("", "\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[7]"),
         "model.merges[0]: expected two tokens, found \"7\""},
        {FILE_OF("", "\"type\":\"BPE\",\"vocab\":{\"a\":0}"), "model.merges: expected a list"},
        {"{\"model\":7}", "model: expected an object"},
        {"{\"added_tokens\":[{\"id\":5,\"content\":\"x\"}],\"model\":{" WORDS_OF "}}",
         "added_tokens[0]: expected ids from 0"},
        {"{\"added_tokens\":[{\"id\":1,\"content\":\"x\",\"normalized\":true}],\"normalizer\":{"
         "\"type\":\"Replace\",\"pattern\":{\"String\":\"x\"},\"content\":\"\"},\"model\":"
         "{" WORDS_OF "}}",
         "added_tokens[0]: expected a content that the normalizers do not make empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_ctx *c = open_ctx();
        CHECK(!heed_tokenizer_open(c, folder_of("refused", cases[i].text)));
        CHECK(heed_ctx_status(c) == HEED_DATA);
        CHECK_HAS(heed_ctx_error(c), cases[i].why);
        heed_close(c);
    }
}

#define SPLIT_OF(regex)                                                                            \
    "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" regex                        \
    "\"},\"behavior\":\"Isolated\"},"

/* Encodes a text of n letters a; the count of tokens, or -1 for an error that says so. */
static int count_of(const char *file, size_t n, const char *error) {
    heed_ctx *c = open_ctx();
    heed_tokenizer *k = heed_tokenizer_open(c, folder_of("slow", file));
    heed_tokens t = {0};
    char *text = malloc(n);
    if (!text) exit(1);
    memset(text, 'a', n);
    CHECK(k);
    int count = heed_encode(k, text, n, &t) ? (int)t.count : -1;
    if (count < 0) CHECK_HAS(heed_ctx_error(c), error);
    free(text);
    heed_tokens_free(&t);
    heed_close(c);
    return count;
}

/* A pattern that would go through very many ways stops with an error; one that fails at each place
 * of a long run takes linear time. */
TEST(hugging_face_pattern_is_bounded) {
    static const char *const linear[] = {
        FILE_OF(SPLIT_OF("a+b"), WORDS_OF), FILE_OF(SPLIT_OF("a++b"), WORDS_OF),
        FILE_OF(SPLIT_OF("a*a*a*a*a*a*a*b"), WORDS_OF), FILE_OF(SPLIT_OF("x|(?=a+b)a"), WORDS_OF),
        FILE_OF(SPLIT_OF("a.*?b"), WORDS_OF)};
    for (size_t i = 0; i < sizeof linear / sizeof *linear; i++)
        CHECK(count_of(linear[i], 1000000, "") == 1);
    CHECK(count_of(FILE_OF(SPLIT_OF("a{0,99}a{0,99}a{0,99}a{0,99}a{0,99}b"), WORDS_OF), 2000,
                   "takes too long") == -1);
}

/* A tokenizer cannot make a text as long as it likes. */
TEST(hugging_face_growth_is_bounded) {
#define TEN "{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aaaaaaaaaa\"},"
#define GROWING(list, key)                                                                         \
    "\"" list "\":{\"type\":\"Sequence\",\"" key                                                   \
    "\":[" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN                                         \
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\"b\"},\"content\":\"\"}]},"
    static const char grows[] = FILE_OF(GROWING("normalizer", "normalizers"), WORDS_OF);
    CHECK(count_of(grows, 100, "makes the text too long") == -1);
    static const char added[] =
        "{\"added_tokens\":[{\"id\":0,\"content\":\"a\",\"normalized\":"
        "true}]," GROWING("normalizer", "normalizers") "\"model\":{" WORDS_OF "}}";
    heed_ctx *c = open_ctx();
    CHECK(!heed_tokenizer_open(c, folder_of("grows", added)));
    CHECK_HAS(heed_ctx_error(c), "makes the text too long");
    heed_clear(c);
    heed_tokenizer *k = heed_tokenizer_open(
        c, folder_of("grows", FILE_OF(GROWING("decoder", "decoders"), WORDS_OF)));
    heed_text out = {0};
    CHECK(k && !heed_decode(k, (const int32_t[]){0, 0}, 2, &out));
    CHECK_HAS(heed_ctx_error(c), "makes the text too long");
    heed_text_free(&out);
    heed_close(c);
}

/* Marks are ordered in a time of the square of their number. */
TEST(hugging_face_marks_are_bounded) {
    heed_ctx *c = open_ctx();
    heed_tokenizer *k = heed_tokenizer_open(
        c, folder_of("marks", FILE_OF("\"normalizer\":{\"type\":\"NFD\"},", WORDS_OF)));
    heed_text text = {.c = c};
    heed_tokens t = {0};
    for (int i = 0; i < 500000; i++) heed_text_put(&text, "\u0301\u0323", 4);
    CHECK(k && !heed_encode(k, text.s, text.n, &t));
    CHECK_HAS(heed_ctx_error(c), "too many marks");
    heed_text_free(&text);
    heed_tokens_free(&t);
    heed_close(c);
}

/* Of 40,000 added tokens the longest one that fits is found. */
TEST_IN(hugging_face_finds_many_added_tokens, open_ctx()) {
    enum { COUNT = 40000, WORDS = 20000 };
    heed_text file = {.c = c}, text = {.c = c};
    heed_text_add(&file, "{\"added_tokens\":[");
    for (int i = 0; i < COUNT; i++)
        heed_text_add(&file, "%s{\"id\":%d,\"content\":\"t%d\",\"normalized\":%s}", i ? "," : "",
                      i + 1, i, i % 3 ? "true" : "false");
    heed_text_add(&file, "],\"model\":{" WORDS_OF "}}");
    heed_tokenizer *k = heed_tokenizer_open(c, folder_of("many", file.s));
    for (int i = 0; i < WORDS; i++) heed_text_add(&text, "t%d", i * 7919 % COUNT / 3 * 3);
    heed_tokens t = {0};
    CHECK(k && heed_encode(k, text.s, text.n, &t) && t.count == WORDS);
    for (int i = 0; i < WORDS && (size_t)i < t.count; i++)
        CHECK(t.ids[i] == i * 7919 % COUNT / 3 * 3 + 1);
    heed_tokens_free(&t);
    heed_text_free(&file);
    heed_text_free(&text);
}

/* The words of a text, divided by a Split; what tokenizers 0.23.3 gives. */
static void check_split(const char *pattern, const char *behavior, bool invert, const char *text,
                        const char *words) {
    heed_ctx *c = open_ctx();
    heed_text file = {.c = c}, found = {.c = c};
    heed_text_add(&file,
                  "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"%s\"},"
                  "\"behavior\":\"%s\",\"invert\":%s},\"model\":{" WORDS_OF "}}",
                  pattern, behavior, invert ? "true" : "false");
    heed_tokenizer *k = heed_tokenizer_open(c, folder_of("split", file.s));
    heed_tokens t = {0};
    CHECK(k && heed_encode(k, text, strlen(text), &t));
    for (size_t i = 0; i < t.count; i++)
        heed_text_add(&found, "%s%.*s", i ? "|" : "", (int)(t.end[i] - t.begin[i]),
                      text + t.begin[i]);
    CHECK_TEXT(found.s ? found.s : "", words);
    heed_tokens_free(&t);
    heed_text_free(&file);
    heed_text_free(&found);
    CLOSE(c);
}

/* A match of nothing divides, unless it is where the match before it ends. */
TEST(hugging_face_splits_where_nothing_matches) {
    check_split("(?=[A-Z])", "Isolated", false, "helloWorldX", "hello|World|X");
    check_split("(?=[A-Z])", "Removed", false, "HelloWorld", "Hello|World");
    check_split("(?=[A-Z])", "MergedWithPrevious", false, "ABC", "A|B|C");
    check_split("(?=[A-Z])", "MergedWithNext", false, "A\u00E9BC", "A\u00E9|B|C");
    check_split("(?=[A-Z])", "Contiguous", false, "helloWorldX", "hello|World|X");
    check_split("(?=[A-Z])", "Isolated", true, "HelloWorld", "Hello|World");
    check_split("(?=[A-Z])", "Removed", true, "HelloWorld", "");
    check_split("x*", "Isolated", false, "axxb", "a|xx|b");
    check_split("x*", "Removed", false, "axxb", "a|b");
    check_split("x*", "MergedWithPrevious", false, "axxb", "axx|b");
    check_split("(?=a)|a", "Isolated", false, "caab", "c|a|ab");
    check_split("(?!b)", "Isolated", false, "abc", "ab|c");
    check_split("a?", "Contiguous", false, "caab", "c|aa|b");
    check_split("a?", "MergedWithNext", false, "cab", "c|ab");
    check_split("(?<=[a-z])(?=[A-Z])", "Isolated", false, "helloWorldX", "hello|World|X");
    check_split("(?<!\\\\s)b", "MergedWithPrevious", false, "b ab b", "b| ab| b");
    check_split("\\\\bfoo", "Isolated", false, "a foo", "a |foo");
    check_split("\\\\b", "Isolated", false, "ab, c", "ab|, |c");
    check_split("^a", "Isolated", false, "aba\naa", "a|ba\n|a|a");
    check_split("a$", "Isolated", false, "a\nba", "a|\nb|a");
    check_split("\\\\s+$", "Removed", false, "a  b  ", "a  b");
    check_split("a*?b", "Isolated", false, "xaab", "x|aab");
    check_split("a{1,2}?", "Isolated", false, "aaa", "a|a|a");
    check_split("\\\\d{1,3}+", "Isolated", false, "a123123b", "a|123123|b"); /* {1,3}, repeated */
}

static void check_ids(const char *name, const char *file, const char *text, size_t count,
                      const int32_t *ids) {
    heed_ctx *c = open_ctx();
    heed_tokenizer *k = heed_tokenizer_open(c, folder_of(name, file));
    heed_tokens t = {0};
    CHECK(heed_encode(k, text, strlen(text), &t) && t.count == count);
    CHECK(t.count == count && memcmp(t.ids, ids, count * sizeof *ids) == 0);
    heed_tokens_free(&t);
    CLOSE(c);
}

#define VOCAB_OF(words) "\"type\":\"WordLevel\",\"unk_token\":\"u\",\"vocab\":{\"u\":0," words "}"

/* A group of one alternative may be absent; Oniguruma's \\w has the numerals of Latin-1, except in
 * a set. */
TEST(hugging_face_pattern_details) {
    check_ids("optional", FILE_OF(SPLIT_OF("x(?:y)?z"), VOCAB_OF("\"xz\":1,\"xyz\":2")),
              "xzxzxyzxyyz", 4, (const int32_t[]){1, 1, 2, 0});
    check_ids("words", FILE_OF(SPLIT_OF("\\\\w+"), VOCAB_OF("\"a\u00BD\":1,\".\":2")),
              "a\u00BD.a\u00BD", 3, (const int32_t[]){1, 2, 1});
    check_ids("set", FILE_OF(SPLIT_OF("[^\\\\w]+"), VOCAB_OF("\"a\":1,\"\u00BD\":2")), "a\u00BDa",
              3, (const int32_t[]){1, 2, 1});
}

/* What random files of tests/parity/tokenizer_json.py found. */
TEST(hugging_face_strips_before_a_prefix) {
    const char *file =
        FILE_OF("\"normalizer\":{\"type\":\"Strip\"},\"pre_tokenizer\":{\"type\":\"Metaspace\","
                "\"replacement\":\"_\",\"prepend_scheme\":\"first\",\"split\":false},",
                VOCAB_OF("\"a\":1,\"_a\":2"));
    check_ids("strip", file, "a", 1, (const int32_t[]){2});
    check_ids("strip", file, "  a", 1, (const int32_t[]){1}); /* not the start of the text */
}

TEST(hugging_face_orders_halfwidth_marks) {
    check_ids("marks",
              FILE_OF("\"normalizer\":{\"type\":\"NFKD\"},", VOCAB_OF("\"n\u309A\u0303\":1")),
              "\u00F1\uFF9F", 1, (const int32_t[]){1});
}

/* White space that belongs to a token may begin another one; of a token with lstrip nothing is left
 * if all of it belongs to the one before. */
TEST(hugging_face_added_tokens_share_white_space) {
    static const char file[] =
        "{\"added_tokens\":[{\"id\":2,\"content\":\" x \",\"special\":true},{\"id\":3,\"content\":"
        "\"ab\",\"rstrip\":true,\"special\":true},{\"id\":4,\"content\":\"  \",\"lstrip\":true,"
        "\"rstrip\":true,\"special\":true}],\"model\":{" VOCAB_OF("\"x\":1") "}}";
    check_ids("spaces", file, "ab x x", 3, (const int32_t[]){3, 2, 1});
    check_ids("spaces", file, "x    x", 3, (const int32_t[]){1, 4, 1});
    check_ids("spaces", file, "ab     x", 2, (const int32_t[]){3, 1});
}

/* Of tokens that overlap the leftmost one is found, and there the longest one; reading on for a
 * longer one in vain is not repeated at each place: what tokenizers 0.23.3 gives. */
TEST_IN(hugging_face_finds_overlapping_added_tokens, open_ctx()) {
    enum { LONGEST = 999, LETTERS = 1000000 };
    static const char *const texts[] = {"a", "ab", "abcde", "bcdef", "cd", "fab", "efa", "xcdy"};
    heed_text file = {.c = c}, text = {.c = c};
    heed_text_add(&file, "{\"added_tokens\":[");
    for (int i = 0; i < 8; i++)
        heed_text_add(&file, "{\"id\":%d,\"content\":\"%s\"},", i + 2, texts[i]);
    for (int i = 1; i <= LONGEST; i++) {
        heed_text_add(&file, "%s{\"id\":%d,\"content\":\"", i > 1 ? "," : "", i + 9);
        for (int j = 0; j < i; j++) heed_text_add(&file, "a");
        heed_text_add(&file, "z\"}");
    }
    heed_text_add(&file, "],\"model\":{" VOCAB_OF("\"x\":1") "}}");
    check_ids("overlap", file.s, "abcdefabcdabcdeffabefabcdbcdefcdyxcdy", 13,
              (const int32_t[]){4, 7, 6, 4, 0, 7, 8, 0, 6, 5, 6, 0, 9});
    heed_tokenizer *k = heed_tokenizer_open(c, folder_of("overlap", file.s));
    for (int i = 0; i < LETTERS; i++) heed_text_add(&text, "a");
    heed_text_add(&text, "z");
    heed_tokens t = {0};
    const size_t last = LETTERS - LONGEST;
    CHECK(k && heed_encode(k, text.s, text.n, &t) && t.count == last + 1);
    CHECK(t.count == last + 1 && t.ids[0] == 2 && t.ids[last - 1] == 2);
    CHECK(t.count == last + 1 && t.ids[last] == LONGEST + 9);
    heed_tokens_free(&t);
    heed_text_free(&file);
    heed_text_free(&text);
}

/* An added token is not one of the model's: it is found as the normalizers leave it, or not. */
TEST(hugging_face_added_tokens_are_not_words) {
    check_ids("added",
              "{\"added_tokens\":[{\"id\":2,\"content\":\"ab\",\"normalized\":true}],"
              "\"normalizer\":{\"type\":\"Prepend\",\"prepend\":\"_\"},"
              "\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},"
              "\"model\":{" VOCAB_OF("\"x\":1") "}}",
              "ab x ab", 3, (const int32_t[]){2, 1, 0});
}

/* In data the text of a special token is text, as with split_special_tokens of transformers; other
 * added tokens are tokens. */
TEST(hugging_face_reads_special_tokens_as_text_in_data) {
    static const char file[] =
        "{\"added_tokens\":[{\"id\":3,\"content\":\"[SEP]\",\"special\":true},{\"id\":4,"
        "\"content\":\"<x>\",\"normalized\":true}],\"pre_tokenizer\":{\"type\":\"Whitespace\"},"
        "\"model\":{" VOCAB_OF("\"SEP\":1,\"[\":2") "}}";
    static const char text[] = "[SEP] <x> SEP";
    heed_ctx *c = open_ctx();
    heed_tokenizer *k = heed_tokenizer_open(c, folder_of("data", file));
    heed_tokens data = {0}, prompt = {0};
    CHECK(heed_encode_text(k, text, strlen(text), &data) && data.count == 5);
    CHECK(data.count == 5 && memcmp(data.ids, (int32_t[]){2, 1, 0, 4, 1}, 20) == 0);
    CHECK(heed_encode(k, text, strlen(text), &prompt) && prompt.count == 3);
    CHECK(prompt.count == 3 && memcmp(prompt.ids, (int32_t[]){3, 4, 1}, 12) == 0);
    heed_tokens_free(&data);
    heed_tokens_free(&prompt);
    CLOSE(c);
}

/* ---- corpora ---- */

/* The tokens of a file that is read in passages are those of its text. */
TEST_IN(bpe_corpus_has_the_tokens_of_the_whole_text,
        heed_open(&(heed_options){.seed = 1, .threads = 3})) {
    heed_text text = {.c = c};
    for (int i = 0; text.n < 3u << 20; i++)
        heed_text_add(&text, "%s%d the cat's %s",
                      i % 7   ? " "
                      : i % 3 ? "\n\n"
                              : "   \n",
                      i % 5000, i % 11 ? "mat" : "end.\n\n");
    heed_tokenizer *k = heed_tokenizer_train(c, text.s, 1 << 16,
                                             (heed_tokenizer_args){.kind = "bpe", .vocab = 400});
    char path[128];
    snprintf(path, sizeof path, "%s/passages.txt", test_folder());
    CHECK(heed_text_save(&text, path));
    heed__corpus *p =
        heed__corpus_open(c, path, k, (heed__corpus_args){.block = 64, .eval = true}, NULL);
    heed_tokens t = {0};
    CHECK(heed_encode(k, text.s, text.n, &t));
    CHECK(heed__corpus_about(p).tokens == t.count && heed__corpus_about(p).bytes == text.n);
    heed_batch b;
    for (uint64_t i = 0; i < heed__corpus_eval_batches(p, 8); i++) {
        CHECK(heed__gpt_batch(p, (heed_batch_at){.val = true, .index = i, .rows = 8}, &b));
        for (int j = 0; j < b.rows * b.len; j += 61) {
            size_t at = (size_t)i * 8 * 64 + (size_t)j;
            if (b.rows == 8 && at < t.count) CHECK(b.ids[j] == t.ids[at]);
        }
    }
    heed_tokens_free(&t);
    heed_text_free(&text);
}
