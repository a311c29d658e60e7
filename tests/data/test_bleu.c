/* BLEU: counts and scores that sacreBLEU 2.6 gives, and that a hand can follow. */
#include "data/sets.h"
#include "test.h"

typedef struct {
    const char *hypothesis, *reference;
    size_t match[4], length, expected;
    double score;
} pair;

static const pair pairs[] = {
    /* "the" counts twice, as often as in the reference; 2/7 and three zeros, each half the last:
     * (2/7 * 1/2/6 * 1/4/5 * 1/8/4)^(1/4) */
    {"the the the the the the the", "the cat is on the mat", {2, 0, 0, 0}, 7, 6, 7.80984984},
    {"the cat sat on the mat .", "the cat is on the mat .", {6, 4, 2, 1}, 7, 7, 48.89230224},
    {"a b c d", "a b c d e f", {4, 3, 2, 1}, 4, 6, 60.65306597}, /* 100 e^(1 - 6/4) */
    {"a x c y e", "a b c d e", {3, 0, 0, 0}, 5, 5, 14.05853313},
    {"a b c", "a b c", {3, 2, 1, 0}, 3, 3, 0}, /* no run of four words */
    {"x y z w", "a b c d", {0, 0, 0, 0}, 4, 4, 0},
    {"", "a b c d", {0, 0, 0, 0}, 0, 4, 0},
    {"It costs 3.50, not 1,000-2,000!",
     "It costs 3.50 , not 1,000 - 2,000 !",
     {9, 8, 7, 6},
     9,
     9,
     100},
    {"Va\xE2\x80\xAF!", "Va !", {2, 1, 0, 0}, 2, 2, 0}, /* a narrow space */
    {"&quot;x&quot; &amp;lt; y.", "\" x \" & lt ; y .", {5, 3, 1, 0}, 6, 8, 27.22230298},
    {"it's state-of-the-art", "it's state - of - the - art", {1, 0, 0, 0}, 2, 8, 0},
};

TEST_IN(bleu_counts_as_sacrebleu, heed_open(NULL)) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const pair *p = &pairs[i];
        heed_bleu b = {0};
        CHECK(heed__bleu_add(c, &b, p->hypothesis, p->reference));
        CHECK(memcmp(b.match, p->match, sizeof b.match) == 0);
        CHECK(b.length == p->length && b.reference == p->expected);
        CHECK(b.longest == (p->length > p->expected ? p->length : p->expected));
        for (size_t n = 1; n <= 4; n++)
            CHECK(b.total[n - 1] == (p->length < n ? 0 : p->length - n + 1));
        CHECK_CLOSE(heed__bleu_of(&b), p->score, 1e-7);
    }
}

/* The counts and scores of sacreBLEU 2.6 with --tokenize zh and char. */
TEST_IN(bleu_divides_texts_without_spaces, heed_open(NULL)) {
    static const struct {
        heed_bleu_tokens tokens;
        const char *hypothesis, *reference;
        size_t match[4], length;
        double score;
    } cases[] = {
        {HEED_BLEU_ZH, "我爱你。", "我爱她。", {3, 1, 0, 0}, 4, 35.35533906},
        {HEED_BLEU_ZH, "他叫 Tom，3.5 岁。", "他叫Tom，3.5岁。", {7, 6, 5, 4}, 7, 100},
        {HEED_BLEU_ZH,
         " 3. “你好”…&lt; a-b 2-3 ",
         "3. “您好”…&lt; a-b 2-3",
         {13, 11, 9, 7},
         14,
         78.2542290},
        {HEED_BLEU_ZH, " .5 和我 3. ", ".5和我3.", {4, 3, 2, 1}, 4, 100},
        {HEED_BLEU_CHAR, "これは本です。", "それは本です。", {6, 5, 4, 3}, 7, 80.91067116},
        {HEED_BLEU_CHAR, "ab c d", "ab cd", {4, 3, 2, 1}, 4, 100},
        {HEED_BLEU_13A, "我爱你。", "我爱你。", {1, 0, 0, 0}, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_bleu b = {.tokens = cases[i].tokens};
        CHECK(heed__bleu_add(c, &b, cases[i].hypothesis, cases[i].reference));
        CHECK(memcmp(b.match, cases[i].match, sizeof b.match) == 0);
        CHECK(b.length == cases[i].length);
        CHECK_CLOSE(heed__bleu_of(&b), cases[i].score, 1e-7);
    }
}

TEST(bleu_tokens_suit_the_references) {
    static const struct {
        const char *text;
        heed_bleu_tokens tokens;
    } cases[] = {{"The cat sat.", HEED_BLEU_13A},
                 {"Das 猫 sat.", HEED_BLEU_13A},
                 {"我爱你，Tom。", HEED_BLEU_ZH},
                 {"これは本です。", HEED_BLEU_CHAR},
                 {"ฉันรักคุณ", HEED_BLEU_CHAR},
                 {"日本国憲法改正案の", HEED_BLEU_CHAR},
                 {"他说日语里有一个助词の", HEED_BLEU_ZH},
                 {"나는 너를 사랑해", HEED_BLEU_13A},
                 {"12", HEED_BLEU_13A},
                 {"", HEED_BLEU_13A}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_bleu b = {.length = 0};
        heed__bleu_read(&b, cases[i].text, strlen(cases[i].text));
        CHECK(b.tokens == cases[i].tokens);
    }
    heed_bleu b = {.length = 0}; /* all references count together */
    heed__bleu_read(&b, "Tom", 3);
    heed__bleu_read(&b, "我爱你", strlen("我爱你"));
    heed__bleu_read(&b, "他", strlen("他"));
    CHECK(b.tokens == HEED_BLEU_ZH);
    heed__bleu_read(NULL, "a", 1);
    heed__bleu_read(&b, NULL, 1);
}

TEST_IN(bleu_adds_up_over_a_corpus, heed_open(NULL)) {
    heed_bleu b = {0};
    for (size_t i = 0; i < 2; i++)
        CHECK(heed__bleu_add(c, &b, pairs[i].hypothesis, pairs[i].reference));
    CHECK_CLOSE(heed__bleu_of(&b), 26.269098944, 1e-7);
    CHECK(!heed__bleu_add(c, NULL, "a", "b") && !heed__bleu_add(c, &b, NULL, "b"));
    CHECK(heed__bleu_of(NULL) == 0 && heed__bleu_of(&(heed_bleu){0}) == 0);
}

/* Papineni et al. 2002, example 1, candidate 1: 17 of its 18 words and 10 of its 17 pairs of words
 * are in a reference; of the lengths 16, 18 and 16 the closest is 18. Example 2: "the" counts as
 * often as in one reference. */
TEST_IN(bleu_clips_by_the_best_of_several_references, heed_open(NULL)) {
    const char *references[] = {"It is a guide to action that ensures that the military will "
                                "forever heed Party commands",
                                "It is the guiding principle which guarantees the military forces "
                                "always being under the command of the Party",
                                "It is the practical guide for the army always to heed the "
                                "directions of the party"};
    const char *cats[] = {"the cat is on the mat", "there is a cat on the mat"};
    heed_bleu b = {.length = 0};
    CHECK(
        heed__bleu_add_best(c, &b,
                            "It is a guide to action which ensures that the military always obeys "
                            "the commands of the party",
                            references, 3));
    CHECK(b.match[0] == 17 && b.total[0] == 18 && b.match[1] == 10 && b.total[1] == 17);
    CHECK(b.length == 18 && b.reference == 18);
    b = (heed_bleu){.length = 0};
    CHECK(heed__bleu_add_best(c, &b, "the the the the the the the", cats, 2));
    CHECK(b.match[0] == 2 && b.total[0] == 7 && b.reference == 7);
}
