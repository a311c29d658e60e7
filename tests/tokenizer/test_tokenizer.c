/* Tokenizers. What wordpiece is expected to give was taken from Hugging Face's
 * tokenizers 0.23.3 (tests/parity/tokenizer_hf.py compares at large). */
#include "test.h"
#include "text/text.h"

static const char *file_with(const char *name, const void *bytes, size_t n) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) exit(1);
    return path;
}

static heed_ctx *open_ctx(void) { return heed_open(&(heed_options){.seed = 1}); }

/* ---- helpers ---- */

static heed_tokenizer *train(heed_ctx *c, const char *text, heed_tokenizer_args a) {
    return heed_tokenizer_train(c, text, strlen(text), a);
}

/* The tokens as "id:begin:end ...". */
static const char *encoded(const heed_tokenizer *k, const char *text) {
    static char out[4096];
    heed_tokens t = {0};
    size_t n = 0;
    out[0] = 0;
    CHECK(heed_encode(k, text, strlen(text), &t));
    for (size_t i = 0; i < t.count && n + 64 < sizeof out; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%d:%zu:%zu", i ? " " : "", t.ids[i],
                              t.begin[i], t.end[i]);
    heed_tokens_free(&t);
    return out;
}

static const char *round_trip(const heed_tokenizer *k, const char *text) {
    static char out[4096];
    heed_tokens t = {0};
    heed_text back = {0};
    CHECK(heed_encode(k, text, strlen(text), &t));
    CHECK(heed_decode(k, t.ids, t.count, &back));
    snprintf(out, sizeof out, "%s", back.s ? back.s : "");
    heed_text_free(&back);
    heed_tokens_free(&t);
    return out;
}

static void check_tokens(const heed_tokenizer *k, const char *const *tokens, int count) {
    CHECK(heed_vocab_size(k) == count);
    for (int i = 0; i < count; i++) {
        CHECK_TEXT(heed_token_text(k, i), tokens[i]);
        CHECK(heed_token_id(k, tokens[i]) == i);
    }
    CHECK_TEXT(heed_token_text(k, count), "");
    CHECK_TEXT(heed_token_text(k, -1), "");
    CHECK(heed_token_id(k, "no such token") == -1);
}
#define TOKENS(k, ...)                                                                             \
    do {                                                                                           \
        static const char *const list_[] = {__VA_ARGS__};                                          \
        check_tokens(k, list_, (int)(sizeof list_ / sizeof *list_));                               \
    } while (0)

/* ---- char, byte, word ---- */

TEST_IN(tokenizer_char, open_ctx()) {
    heed_tokenizer *k = train(c, "b\xC3\xA9\na b", (heed_tokenizer_args){.kind = "char"});
    TOKENS(k, "\n", " ", "a", "b", "\xC3\xA9", "[UNK]");
    heed_specials s = heed_tokenizer_specials(k);
    CHECK(s.unk == 5 && s.newline == 0 && s.pad == -1 && s.cls == -1 && s.sep == -1 &&
          s.mask == -1);
    CHECK_TEXT(encoded(k, "ab\xC3\xA9z"), "2:0:1 3:1:2 4:2:4 5:4:5");
    CHECK_TEXT(encoded(k, "\xFF"
                          "a"),
               "5:0:1 2:1:2");
    CHECK_TEXT(encoded(k, "\xED\xA0\x80"), "5:0:1 5:1:2 5:2:3"); /* no surrogates */
    CHECK_TEXT(round_trip(k, "a\nb \xC3\xA9 b"), "a\nb \xC3\xA9 b");
    CHECK_TEXT(heed_tokenizer_kind(k), "char");
    k = train(c, "aab", (heed_tokenizer_args){.kind = "char", .specials = true});
    TOKENS(k, "a", "b", "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]");
    CHECK_TEXT(encoded(k, "a[MASK]b[mask"),
               "0:0:1 6:1:7 1:7:8 3:8:9 3:9:10 0:10:11 3:11:12 3:12:13");
    k = train(c, "cbbaaa", (heed_tokenizer_args){.kind = "char", .vocab = 3});
    TOKENS(k, "a", "b", "[UNK]");
}

TEST_IN(tokenizer_byte, open_ctx()) {
    heed_tokenizer *k = train(c, "x", (heed_tokenizer_args){.kind = "byte", .specials = true});
    CHECK(heed_vocab_size(k) == 260);
    CHECK_TEXT(heed_token_text(k, 'a'), "a");
    CHECK_TEXT(heed_token_text(k, '\n'), "\n");
    CHECK_TEXT(heed_token_text(k, 0xE2), "<0xE2>");
    heed_specials s = heed_tokenizer_specials(k);
    CHECK(s.newline == 10 && s.unk == -1 && s.pad == 256 && s.mask == 259);
    CHECK_TEXT(encoded(k, "\xC3\xA9[MASK]"), "195:0:1 169:1:2 259:2:8");
    CHECK_TEXT(round_trip(k, "\xC3\xA9 \xF0\x9F\x98\x80\n[MASK]<0x41>"),
               "\xC3\xA9 \xF0\x9F\x98\x80\n[MASK]<0x41>");
    CHECK_TEXT(round_trip(k, "a\xC3(\x80"), "a\xEF\xBF\xBD(\xEF\xBF\xBD"); /* broken */
    CHECK(heed_vocab_size(train(c, "x", (heed_tokenizer_args){.kind = "byte"})) == 256);
}

TEST_IN(tokenizer_word, open_ctx()) {
    const char *text = "The cat, the dog; the cat.\nA caf\xC3\xA9!";
    heed_tokenizer *k =
        train(c, text, (heed_tokenizer_args){.kind = "word", .vocab = 9, .lower = true});
    TOKENS(k, "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "!", ",");
    CHECK_TEXT(encoded(k, " The CAT,\tdog [MASK]"), "5:1:4 6:5:8 8:8:9 1:10:13 4:14:20");
    k = train(c, text, (heed_tokenizer_args){.kind = "word"});
    CHECK(heed_vocab_size(k) == 5 + 10);
    CHECK(heed_token_id(k, "The") > 0 && heed_token_id(k, "the") == 6);
    CHECK_TEXT(round_trip(k, "the   dog ; the cat , A caf\xC3\xA9 !"),
               "the dog; the cat, A caf\xC3\xA9!");
}

/* ---- wordpiece ---- */

/* clang-format off */
static const char mini_vocab[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\nrun\n##ning\n##s\nthe\ne\ncafe\nnaive\n"
    "istanbul\n'\n.\n,\n$\n^\n`\n#\n[\n]\nmask\nhello\n\xE4\xB8\xAD\n\xE6\x96\x87\n\xE1\x84\x92\n##\xE1\x85\xA1\n##\xE1\x86\xAB\n"
    "\xCE\xB1\n##\xCF\x83\n##e\nx\n##x\n;\n=\n\xE0\xA5\x98\n\xE0\xA4\x9C\n##\xE0\xA4\xBC\n\xF0\x9F\x98\x80\na\n##b\n\xE3\x81\x82\n"
    "\xE3\x81\x84\n##\xE3\x81\x84\n\xE2\x80\xA8\n\xEE\x80\x80\n\xCD\xB8\nt\n##t\n";
static const struct { const char *text, *lower, *cased; } pieces[] = {
    {"unaffable running runs", "5:0:2 6:2:5 7:5:9 8:10:13 9:13:17 8:18:21 10:21:22", "5:0:2 6:2:5 7:5:9 8:10:13 9:13:17 8:18:21 10:21:22"},
    {"The CAF\xC3\x89 na\xC3\xAFve", "11:0:3 13:4:9 14:10:16", "1:0:3 1:4:9 1:10:16"},
    {"Cafe\xCC\x81", "13:0:4", "1:0:6"},
    {"\xC4\xB0stanbul", "15:0:9", "1:0:9"},
    {"[MASK][mask]hello[SEP]hello", "4:0:6 23:6:7 25:7:11 24:11:12 26:12:17 3:17:22 26:22:27", "4:0:6 23:6:7 25:7:11 24:11:12 26:12:17 3:17:22 26:22:27"},
    {"$^`#", "19:0:1 20:1:2 21:2:3 22:3:4", "19:0:1 20:1:2 21:2:3 22:3:4"},
    {"\xE4\xB8\xAD\xE6\x96\x87x", "27:0:3 28:3:6 35:6:7", "27:0:3 28:3:6 35:6:7"},
    {"\xED\x95\x9C", "29:0:3 30:0:3 31:0:3", "1:0:3"},
    {"\xCE\x91\xCE\xA3", "32:0:2 33:2:4", "1:0:4"},
    {"a\xE2\x80\x8B" "b a\xC2\xAD" "b", "43:0:1 44:4:5 43:6:7 44:9:10", "43:0:1 44:4:5 43:6:7 44:9:10"},
    {"a\xEF\xBF\xBD" "b", "43:0:1 44:4:5", "43:0:1 44:4:5"},
    {"a\vb a\fb", "43:0:1 44:2:3 43:4:5 44:6:7", "43:0:1 44:2:3 43:4:5 44:6:7"},
    {"x\xC2\xA0x\xE3\x80\x80x\xE2\x80\xA8x\xC2\x85x", "35:0:1 35:3:4 35:7:8 35:11:12 36:14:15", "35:0:1 35:3:4 35:7:8 35:11:12 36:14:15"},
    {"x\xCD\xBEx", "35:0:1 37:1:3 35:3:4", "35:0:1 1:1:3 35:3:4"},
    {"x\xE2\x89\xA0x", "35:0:1 38:1:4 35:4:5", "1:0:5"},
    {"unx the", "5:0:2 36:2:3 11:4:7", "5:0:2 36:2:3 11:4:7"},
    {"\xF0\x9F\x98\x80" "a", "1:0:5", "1:0:5"},
    {"\xE3\x81\x82\xE3\x81\x84", "45:0:3 47:3:6", "45:0:3 47:3:6"},
    {"a\xEE\x80\x80" "b \xCD\xB8", "43:0:1 44:4:5 50:6:8", "43:0:1 44:4:5 50:6:8"},
    {"\xE0\xA5\x98", "1:0:3", "39:0:3"},
    {"hello,hello.", "26:0:5 18:5:6 26:6:11 17:11:12", "26:0:5 18:5:6 26:6:11 17:11:12"},
    {"tTt  \x09 t", "51:0:1 52:1:2 52:2:3 51:7:8", "1:0:3 51:7:8"},
    {"\xCC\x81" "e", "12:2:3", "1:0:3"},
    {"x\xEF\xA4\x80x", "35:0:1 1:1:4 35:4:5", "35:0:1 1:1:4 35:4:5"},
    {"x\xF0\xAB\xA0\xA0x", "1:0:6", "1:0:6"}, /* U+2B820 does not stand alone in the reference */
    {"x\xF0\xAB\xA4\xA0x", "35:0:1 1:1:5 35:5:6", "35:0:1 1:1:5 35:5:6"}, /* U+2B920 does */
    {"[MASK", "23:0:1 25:1:5", "23:0:1 1:1:5"},
    {" \xE2\x80\x8B ", "", ""},
};
/* clang-format on */

/* The mini vocabulary in a folder that says whether to lower-case. */
static heed_tokenizer *mini(heed_ctx *c, bool lower) {
    char config[64];
    snprintf(config, sizeof config, "{\"do_lower_case\":%s}", lower ? "true" : "false");
    file_with("vocab.txt", mini_vocab, sizeof mini_vocab - 1);
    file_with("tokenizer_config.json", config, strlen(config));
    return heed_tokenizer_open(c, test_folder());
}

TEST_IN(tokenizer_wordpiece_encodes_as_hugging_face, open_ctx()) {
    heed_tokenizer *lower = mini(c, true), *cased = mini(c, false);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        CHECK_TEXT(encoded(lower, pieces[i].text), pieces[i].lower);
        CHECK_TEXT(encoded(cased, pieces[i].text), pieces[i].cased);
    }
    heed_tokenizer *lines =
        heed_tokenizer_open(c, file_with("vocab.txt", mini_vocab, sizeof mini_vocab - 1));
    CHECK(heed_tokenizer_digest(lines) == heed_tokenizer_digest(lower)); /* no capital in it */
    CHECK(heed_tokenizer_digest(cased) != heed_tokenizer_digest(lower));
    static const char capital[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nA\n\xE2\x84\x9D\n";
    lines = heed_tokenizer_open(c, file_with("vocab.txt", capital, sizeof capital - 1));
    CHECK_TEXT(encoded(lines, "a A"), "5:0:1 6:2:3"); /* a capital: not to be lower-cased */
}

TEST_IN(tokenizer_long_words_are_unknown, open_ctx()) {
    heed_tokenizer *k = mini(c, true);
    char word[300] = "";
    for (int i = 0; i < 100; i++) strcat(word, "e");
    heed_tokens t = {0};
    CHECK(heed_encode(k, word, 100, &t) && t.count == 100 && t.ids[0] == 12 && t.ids[99] == 34);
    strcat(word, "e");
    t.count = 0;
    CHECK(heed_encode(k, word, 101, &t) && t.count == 1 && t.ids[0] == 1);
    CHECK(t.begin[0] == 0 && t.end[0] == 101);
    word[0] = 0;
    for (int i = 0; i < 100; i++) strcat(word, "\xC3\xA9"); /* characters count, not bytes */
    t.count = 0;
    CHECK(heed_encode(k, word, 200, &t) && t.count == 100 && t.end[99] == 200);
    heed_tokens_free(&t);
}

/* clang-format off */
TEST_IN(tokenizer_wordpiece_trains_as_hugging_face, open_ctx()) {
    const char *line = "the cat sat on the mat . the cats sat on the mats . a hat , a bat ; that cat "
        "hates the bats ! na\xC3\xAFve caf\xC3\xA9s , Naive CAFE\n";
    char text[512] = "";
    for (int i = 0; i < 3; i++) strcat(text, line);
    heed_tokenizer *k = train(c, text, (heed_tokenizer_args){.kind = "wordpiece", .vocab = 1000, .lower = true});
    TOKENS(k, "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "!", ",", ".", ";", "a", "b", "c", "e", "f", "h", "i", "m", "n",
        "o", "s", "t", "v", "##h", "##e", "##a", "##t", "##n", "##s", "##i", "##v", "##f", "##at", "th", "the", "cat",
        "bat", "ca", "hat", "mat", "na", "on", "sat", "##es", "##iv", "caf", "naiv", "naive", "that", "cats", "bats",
        "hates", "mats", "cafe", "cafes");
    k = train(c, text, (heed_tokenizer_args){.kind = "wordpiece", .vocab = 35, .lower = true});
    CHECK(heed_vocab_size(k) == 35);
    CHECK_TEXT(round_trip(k, "The cat's hat, na\xC3\xAFve (don't)."), "the cat [UNK] s hat, naive [UNK] [UNK] [UNK] t [UNK].");
}
/* clang-format on */

TEST_IN(tokenizer_wordpiece_bound_holds_with_many_characters, open_ctx()) {
    heed_text text = {.c = c};
    for (int i = 0; i < 3000; i++) /* words of two rare characters each */
        heed_text_add(&text, "%c%c%c%c ", 0xD0 | (i & 1), 0x80 | (i >> 1 & 63), 0xD0 | (i >> 7 & 1),
                      0x80 | (i >> 8 & 63));
    for (int vocab = 7; vocab < 200; vocab += 31) {
        heed_tokenizer *k = heed_tokenizer_train(
            c, text.s, text.n, (heed_tokenizer_args){.kind = "wordpiece", .vocab = vocab});
        CHECK(heed_vocab_size(k) <= vocab && heed_vocab_size(k) > 5);
    }
    heed_text_free(&text);
}

/* Characters that only ever stand alone (CJK) have no ## form to leave room for. */
TEST_IN(tokenizer_wordpiece_alphabet_fills_the_bound, open_ctx()) {
    heed_text text = {.c = c};
    for (int i = 0; i < 3000; i++) /* U+4E00 .. U+4E3B, and a rare one */
        heed_text_add(&text, "\xE4\xB8%c%s", 0x80 | (i % 60), i == 7 ? "\xE4\xB9\x80" : "");
    heed_tokenizer *k = heed_tokenizer_train(
        c, text.s, text.n, (heed_tokenizer_args){.kind = "wordpiece", .vocab = 65});
    CHECK(heed_vocab_size(k) == 65 && heed_token_id(k, "\xE4\xB8\xBB") >= 0);
    CHECK(heed_token_id(k, "\xE4\xB9\x80") < 0);
    k = heed_tokenizer_train(c, "ab ab b", 7,
                             (heed_tokenizer_args){.kind = "wordpiece", .vocab = 8});
    TOKENS(k, "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##b");
    heed_text_free(&text);
}

TEST_IN(tokenizer_decodes_readably, open_ctx()) {
    const char *text =
        "Don ' t say it ' s \" over \" ( yet ) , John : a well - known 50 % ; no ? [MASK] !";
    heed_tokenizer *k = train(c, text, (heed_tokenizer_args){.kind = "word"});
    CHECK_TEXT(round_trip(k, text),
               "Don't say it's \" over \" (yet), John: a well-known 50%; no? [MASK]!");
    text =
        "Qu ' il n ' aille pas aujourd ' hui \u2019 jusqu \u2019 \u00e0 l ' eau : don ' t ' go '";
    k = train(c, text, (heed_tokenizer_args){.kind = "word"});
    CHECK_TEXT(round_trip(k, text),
               "Qu'il n'aille pas aujourd'hui \u2019 jusqu\u2019\u00e0 l'eau: don't ' go '");
}

/* Chinese and Japanese have no spaces between words, which the tokens do not say. */
TEST_IN(tokenizer_decodes_chinese_without_spaces, open_ctx()) {
    const char *const texts[] = {"我爱你，Tom。你呢？", "「これは本です」と、彼は言った。",
                                 "他有3只猫。", "나는 너를 사랑해 .", "a b 。c"};
    const char *const expected[] = {texts[0], texts[1], texts[2], "나는 너를 사랑해.", "a b。c"};
    const char *const kinds[] = {"word", "wordpiece"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t j = 0; j < 2; j++) {
            heed_tokenizer *k = train(c, texts[i], (heed_tokenizer_args){.kind = kinds[j]});
            CHECK_TEXT(round_trip(k, texts[i]), expected[i]);
        }
}

/* More than 1000 characters: as many as cover the text, in half of the vocabulary at most. */
TEST_IN(tokenizer_wordpiece_has_the_characters_of_chinese, open_ctx()) {
    heed_text text = {.c = c};
    char character[4];
    for (int32_t i = 0; i < 2000 * 3; i++)
        heed_text_put(&text, character, heed__utf8_write(0x4E00 + i % 2000, character));
    static const int vocabularies[][2] = {{1500, 1005}, {3000, 1505}, {8000, 2004}};
    for (int i = 0; i < 3; i++) {
        heed_tokenizer *k = heed_tokenizer_train(
            c, text.s, text.n,
            (heed_tokenizer_args){.kind = "wordpiece", .vocab = vocabularies[i][0]});
        CHECK(heed_vocab_size(k) == vocabularies[i][1]);
    }
    heed_text_free(&text);
}

/* ---- files ---- */

/* A folder opens as the tokenizer that was saved there; one of pieces from its vocab.txt, too. */
TEST(tokenizer_saves_and_opens) {
    static const char *const kinds[] = {"char", "byte", "word", "wordpiece", "bpe"};
    const char *text = "one \"two\"\\ \n\tthree na\xC3\xAFve \xE4\xB8\xAD One [MASK]two # ##";
    for (int i = 0; i < 10; i++) {
        heed_ctx *c = open_ctx();
        heed_tokenizer_args a = {.kind = kinds[i % 5], .lower = i > 4, .specials = i > 4};
        heed_tokenizer *k = train(c, text, a);
        char dir[128], path[160], before[2048];
        snprintf(dir, sizeof dir, "%s/run/%d", test_folder(), i);
        snprintf(path, sizeof path, "%s/tokenizer.json", dir);
        CHECK(heed_tokenizer_save(k, dir));
        snprintf(before, sizeof before, "%s", encoded(k, text));
        for (int j = 0; j < 1 + (i % 5 == 3); j++) {
            heed_tokenizer *again = heed_tokenizer_open(c, dir);
            CHECK(heed_tokenizer_digest(again) == heed_tokenizer_digest(k));
            CHECK_TEXT(heed_tokenizer_kind(again), kinds[i % 5]);
            CHECK(heed_vocab_size(again) == heed_vocab_size(k));
            CHECK(memcmp(&(heed_specials[]){heed_tokenizer_specials(k)},
                         &(heed_specials[]){heed_tokenizer_specials(again)},
                         sizeof(heed_specials)) == 0);
            CHECK_TEXT(encoded(again, text), before);
            if (j == 0) CHECK(remove(path) == 0);
        }
        CLOSE(c);
    }
}

/* A tokenizer that is saved over another one, of any kind, is the one that is opened. */
TEST(tokenizer_saved_over_another_is_opened) {
    static const char *const kinds[] = {"char", "byte", "word", "wordpiece", "bpe"};
    const char *text = "a cat sat on a mat";
    char dir[128], other[160];
    snprintf(dir, sizeof dir, "%s/over", test_folder());
    for (int i = 0; i < 25; i++) {
        heed_ctx *c = open_ctx();
        heed_tokenizer *before = train(c, text, (heed_tokenizer_args){.kind = kinds[i / 5]});
        heed_tokenizer *after = train(c, text, (heed_tokenizer_args){.kind = kinds[i % 5]});
        CHECK(heed_tokenizer_save(before, dir) && heed_tokenizer_save(after, dir));
        CHECK(heed_tokenizer_digest(heed_tokenizer_open(c, dir)) == heed_tokenizer_digest(after));
        CLOSE(c);
    }
    /* beside files of GPT-2's kind */
    heed_ctx *c = open_ctx();
    snprintf(other, sizeof other, "%s/merges.txt", dir);
    FILE *f = fopen(other, "wb");
    CHECK(f && fputs("a b\n", f) >= 0 && fclose(f) == 0);
    CHECK(heed_tokenizer_save(train(c, text, (heed_tokenizer_args){.kind = "char"}), dir));
    CHECK(!(f = fopen(other, "rb")));
    if (f) fclose(f);
    CLOSE(c);
}

/* In data the text of a special token is text, for every kind. */
TEST(tokenizer_reads_special_tokens_as_text_in_data) {
    static const char *const kinds[] = {"char", "byte", "word", "wordpiece", "bpe"};
    static const char text[] = "[PAD] [UNK] [CLS] [SEP] [MASK] <|endoftext|> <s> [sep] a";
    for (int i = 0; i < 10; i++) {
        heed_ctx *c = open_ctx();
        heed_tokenizer_args a = {.kind = kinds[i % 5], .specials = i < 5, .lower = i % 2};
        heed_tokenizer *k = train(c, text, a);
        heed_specials s = heed_tokenizer_specials(k);
        heed_tokens t = {0};
        heed_text back = {0};
        CHECK(heed_encode_text(k, text, strlen(text), &t));
        for (size_t j = 0; j < t.count; j++)
            CHECK(t.ids[j] != s.pad && t.ids[j] != s.cls && t.ids[j] != s.sep &&
                  t.ids[j] != s.mask && t.ids[j] != s.unk);
        if (i % 5 < 2 || i % 5 == 4) { /* these decode exactly */
            CHECK(heed_decode(k, t.ids, t.count, &back));
            CHECK_TEXT(back.s ? back.s : "", text);
        }
        heed_text_free(&back);
        heed_tokens_free(&t);
        CLOSE(c);
    }
}

TEST(tokenizer_open_refuses) {
    static const struct {
        const char *name, *text, *why;
    } cases[] = {
        {"a.json", "{\"model\":1", "JSON"},
        {"a.json", "[]", "tokenizer: expected an object"},
        {"a.json", "{}", "model: expected an object"},
        {"a.json", "{\"\xC0\":1}", "JSON"},
        {"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\na\n", "twice"},
        {"vocab.txt", "[PAD]\n[UNK]\n\n[CLS]\n", "token is empty"},
        {"vocab.txt", "[PAD]\n[CLS]\n[SEP]\n[MASK]\na\n", "expected [UNK]"},
        {"vocab.txt", "[PAD]\n\xFF\n", "not UTF-8"},
        {"vocab.txt", "", "empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_ctx *c = open_ctx();
        CHECK(!heed_tokenizer_open(c,
                                   file_with(cases[i].name, cases[i].text, strlen(cases[i].text))));
        CHECK(heed_ctx_status(c) != HEED_OK);
        CHECK_HAS(heed_ctx_error(c), cases[i].why);
        heed_close(c);
    }
    heed_ctx *c = open_ctx();
    CHECK(!heed_tokenizer_open(c, "/tmp/no-such-heed-folder/x"));
    heed_clear(c);
    char dir[128], big[2000];
    snprintf(dir, sizeof dir, "%s/empty", test_folder());
    snprintf(big, sizeof big, "mkdir -p %s", dir);
    CHECK(system(big) == 0 && !heed_tokenizer_open(c, dir));
    CHECK_HAS(heed_ctx_error(c), "expected tokenizer.json, vocab.json");
    heed_clear(c);
    memset(big, 'a', sizeof big);
    CHECK(!heed_tokenizer_open(c, file_with("vocab.txt", big, sizeof big)));
    CHECK_HAS(heed_ctx_error(c), "too long");
    heed_close(c);
}

TEST(tokenizer_training_refuses) {
    static const struct {
        heed_tokenizer_args a;
        const char *text, *why;
    } cases[] = {
        {{.kind = "odd"}, "a", "expected char, byte, word, wordpiece or bpe, found \"odd\""},
        {{.kind = NULL}, "a", "unknown kind"},
        {{.kind = "char"}, "", "empty"},
        {{.kind = "char", .vocab = 1}, "a", "hint: `vocab = 2`"},
        {{.kind = "byte", .vocab = 200}, "a", "hint: `vocab = 256`"},
        {{.kind = "bpe", .vocab = 200}, "a", "hint: `vocab = 257`"},
        {{.kind = "word", .vocab = 5}, "a", "hint: `vocab = 6`"},
        {{.kind = "wordpiece", .vocab = 6}, "a", "hint: `vocab = 7`"},
        {{.kind = "word"}, " \n\t ", "has only blank lines"},
        {{.kind = "wordpiece"}, "\xE2\x80\x8B", "holds no word"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_ctx *c = open_ctx();
        CHECK(!train(c, cases[i].text, cases[i].a));
        CHECK_HAS(heed_ctx_error(c), cases[i].why);
        heed_close(c);
    }
    heed_ctx *c = open_ctx();
    size_t n = 1 << 20;
    char *wall = malloc(n);
    for (size_t i = 0; i < n; i++) wall[i] = (char)('a' + i * i % 26);
    CHECK(!heed_tokenizer_train(c, wall, n, (heed_tokenizer_args){.kind = "wordpiece"}));
    CHECK_HAS(heed_ctx_error(c), "holds no word"); /* one of a million characters: never a token */
    free(wall);
    heed_close(c);
}

/* ---- properties over odd text ---- */

static size_t odd_text(char *out, size_t capacity, uint64_t number) {
    static const char *const bits[] = {"a",
                                       "Z",
                                       " ",
                                       "\n",
                                       ".",
                                       "[",
                                       "[MASK]",
                                       "##",
                                       "'",
                                       "\xC3\xA9",
                                       "\xCC\x81",
                                       "\xE4\xB8\xAD",
                                       "\xED\x95\x9C",
                                       "\xF0\x9F\x98\x80",
                                       "\xE2\x80\x8B",
                                       "\xFF",
                                       "\xC3",
                                       "\xED\xA0\x80",
                                       "\xEF\xBF\xBD",
                                       "\x7F",
                                       "the ",
                                       "dog "};
    heed_random r = heed_random_at(5, "odd", number, 0);
    size_t n = 0, count = heed_random_below(&r, 0, 60);
    for (size_t i = 1; i <= count; i++) {
        const char *s = bits[heed_random_below(&r, i, sizeof bits / sizeof *bits)];
        if (n + strlen(s) >= capacity) break;
        memcpy(out + n, s, strlen(s));
        n += strlen(s);
    }
    out[n] = 0;
    return n;
}

TEST_IN(tokenizer_offsets_are_in_order, open_ctx()) {
    const char *text = "the dog. a z ' \xC3\xA9 \xE4\xB8\xAD";
    heed_tokenizer *k[] = {
        train(c, text, (heed_tokenizer_args){.kind = "char", .specials = true}),
        train(c, text, (heed_tokenizer_args){.kind = "byte", .specials = true}),
        train(c, text, (heed_tokenizer_args){.kind = "word", .lower = true}),
        train(c, text, (heed_tokenizer_args){.kind = "wordpiece", .lower = true}), mini(c, true)};
    for (uint64_t i = 0; i < 2000; i++) {
        char odd[400];
        size_t n = odd_text(odd, sizeof odd, i);
        heed_tokens t = {0};
        CHECK(heed_encode(k[i % 5], odd, n, &t));
        for (size_t j = 0; j < t.count; j++) {
            CHECK(t.ids[j] >= 0 && t.ids[j] < heed_vocab_size(k[i % 5]));
            CHECK(t.begin[j] < t.end[j] && t.end[j] <= n);
            CHECK(j == 0 || t.begin[j] >= t.begin[j - 1]);
            if (i % 5 < 2 && j) CHECK(t.begin[j] == t.end[j - 1]);
        }
        if (i % 5 < 2 && t.count) CHECK(t.begin[0] == 0 && t.end[t.count - 1] == n);
        heed_tokens_free(&t);
    }
}

TEST_IN(tokenizer_char_and_byte_round_trips_are_exact, open_ctx()) {
    heed_text all = {.c = c};
    char odd[400];
    for (uint64_t i = 0; i < 300; i++) {
        size_t n = odd_text(odd, sizeof odd, i);
        for (size_t j = 0; j < n; j++)
            if (odd[j] == '\xFF' || odd[j] == '\xC3' || odd[j] == '\xED') n = j; /* UTF-8 only */
        odd[n] = 0;
        heed_text_add(&all, "%s", odd);
    }
    heed_tokenizer *chars =
        heed_tokenizer_train(c, all.s, all.n, (heed_tokenizer_args){.kind = "char"});
    heed_tokenizer *bytes =
        heed_tokenizer_train(c, all.s, all.n, (heed_tokenizer_args){.kind = "byte"});
    heed_tokens t = {0}, u = {0};
    heed_text a = {.c = c}, b = {.c = c};
    CHECK(heed_encode(chars, all.s, all.n, &t) && heed_decode(chars, t.ids, t.count, &a));
    CHECK(heed_encode(bytes, all.s, all.n, &u) && heed_decode(bytes, u.ids, u.count, &b));
    CHECK(a.n == all.n && memcmp(a.s, all.s, all.n) == 0);
    CHECK(b.n == all.n && memcmp(b.s, all.s, all.n) == 0);
    heed_tokens_free(&t);
    heed_tokens_free(&u);
    heed_text_free(&a);
    heed_text_free(&b);
    heed_text_free(&all);
}

TEST(tokenizer_accepts_null) {
    heed_tokens t = {0};
    heed_text s = {0};
    CHECK(!heed_tokenizer_train(NULL, "a", 1, (heed_tokenizer_args){.kind = "char"}));
    CHECK(!heed_tokenizer_open(NULL, "x") && !heed_tokenizer_save(NULL, "x"));
    CHECK(!heed_encode(NULL, "a", 1, &t) && !heed_decode(NULL, NULL, 0, &s));
    CHECK(heed_vocab_size(NULL) == 0 && heed_token_id(NULL, "a") == -1);
    CHECK_TEXT(heed_token_text(NULL, 0), "");
    CHECK(heed_tokenizer_digest(NULL) == 0 && heed_tokenizer_specials(NULL).unk == -1);
    heed_tokenizer_free(NULL);
    heed_tokens_free(NULL);
}
