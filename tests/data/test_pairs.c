/* Pairs of texts: reading, splitting, tokens. */
#include "data/sets.h"
#include "files.h"

static heed_ctx *open_ctx(void) { return heed_open(&(heed_options){.seed = 1}); }

static heed__pairs *open_text(heed_ctx *c, const char *name, const char *text, heed__pairs_args a) {
    if (!a.block) a.block = 64;
    return heed__pairs_open(c, text_file(name, text), &a);
}

/* "source|target" of a pair. */
static const char *shown(const heed__pairs *k, bool val, size_t index) {
    static char text[4][256];
    static int turn;
    heed_pair p;
    turn = (turn + 1) % 4;
    if (!heed__pairs_get(k, val, index, &p)) return NULL;
    snprintf(text[turn], sizeof text[turn], "%zu %.*s|%.*s", p.line, (int)p.source_n, p.source,
             (int)p.target_n, p.target);
    return text[turn];
}

static heed_tokenizer *tokenizer_of(heed_ctx *c, const heed__pairs *k, int side, const char *kind) {
    heed_text text = {.c = c};
    heed__pairs_text(k, side, &text);
    heed_tokenizer *t = heed_tokenizer_train(c, text.s, text.n,
                                             (heed_tokenizer_args){.kind = kind, .specials = true});
    heed_text_free(&text);
    return t;
}

static heed__pairs *encoded(heed_ctx *c, heed__pairs *k, const char *kind) {
    heed_tokenizer *t = tokenizer_of(c, k, 2, kind);
    bool translates = k && !heed__pairs_about(k)->classes;
    return heed__pairs_encode(k, t, translates ? t : NULL) ? k : NULL;
}

/* ---- reading ---- */

TEST_IN(pairs_read_tsv, open_ctx()) {
    heed__pairs *k = open_text(
        c, "a.tsv", "\xEF\xBB\xBFgo\tva\r\n\r\n #run \t cours \n \t\nd\xC3\xBC\t\xE4\xBD\xA0",
        (heed__pairs_args){0});
    const heed__pairs_info *f = heed__pairs_about(k);
    CHECK(f && f->pairs == 3 && f->val_pairs == 3 && f->blank == 2 && f->extra_columns == 0);
    CHECK(f && !f->header && !f->overlap && !f->classes);
    CHECK_TEXT(shown(k, false, 0), "1 go|va");
    CHECK_TEXT(shown(k, false, 1), "3 #run|cours");
    CHECK_TEXT(shown(k, true, 2), "5 d\xC3\xBC|\xE4\xBD\xA0");
    heed_text both = {.c = c}, target = {.c = c};
    CHECK(heed__pairs_text(k, 2, &both) && heed__pairs_text(k, 1, &target));
    CHECK_TEXT(both.s, "go\nva\n#run\ncours\nd\xC3\xBC\n\xE4\xBD\xA0\n");
    CHECK_TEXT(target.s, "va\ncours\n\xE4\xBD\xA0\n");
    heed_text_free(&both);
    heed_text_free(&target);
    heed_pair p;
    CHECK_FAILS(c, heed__pairs_get(k, false, 3, &p), HEED_USAGE, "no pair 3: expected less than 3");
}

TEST(pairs_headers) {
    static const struct {
        heed_target_kind kind;
        const char *text, *first;
        bool header;
    } cases[] = {
        {HEED_TARGET_TEXT, "src\ttgt\na\tb\n", "2 a|b", true},
        {HEED_TARGET_TEXT, "\nSource\t Target \tnote\na\tb\tc\n", "3 a|b", true},
        {HEED_TARGET_TEXT, "eng\tfra\na\tb\n", "2 a|b", true},
        {HEED_TARGET_TEXT, "English\tFrench\na\tb\n", "2 a|b", true},
        {HEED_TARGET_TEXT, "tgt\tsrc\na\tb\n", "2 b|a", true},
        {HEED_TARGET_TEXT, "id\tsrc\ttgt\n7\ta\tb\n", "2 a|b", true},
        {HEED_TARGET_TEXT, "english\tanglais\na\tb\n", "1 english|anglais", false},
        {HEED_TARGET_TEXT, "source\tb\na\tb\n", "1 source|b", false},
        {HEED_TARGET_TEXT, "a\tb\nsrc\ttgt\n", "1 a|b", false},
        {HEED_TARGET_CLASSES, "label\ttext\na\tb\n", "2 b|a", true},
        {HEED_TARGET_CLASSES, "text\tlabel\na\tb\n", "2 a|b", true},
        {HEED_TARGET_CLASSES, "a\tb\n", "1 b|a", false},
        {HEED_TARGET_TAGS, "tokens\ttags\na\tb\n", "2 a|b", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_ctx *c = open_ctx();
        heed__pairs *k =
            open_text(c, "a.tsv", cases[i].text, (heed__pairs_args){.kind = cases[i].kind});
        CHECK(k && heed__pairs_about(k)->header == cases[i].header);
        CHECK_TEXT(shown(k, false, 0), cases[i].first);
        CLOSE(c);
    }
}

TEST_IN(pairs_read_jsonl, open_ctx()) {
    heed__pairs *k = open_text(c, "a.jsonl",
                               "{\"src\": \"a\\tb \\u00e9\", \"tgt\": \"\\\"x\\\"\", \"id\": 3}\n\n"
                               "{\"target\":\"t\",\"source\":\"src\\ud83d\\ude00\"}",
                               (heed__pairs_args){0});
    CHECK_TEXT(shown(k, false, 0), "1 a\tb \xC3\xA9|\"x\"");
    CHECK_TEXT(shown(k, false, 1), "3 src\xF0\x9F\x98\x80|t");
    CHECK(k && heed__pairs_about(k)->extra_columns == 1 && heed__pairs_about(k)->blank == 1);
    k = open_text(c, "b.JSON",
                  "{\"label\": 10, \"text\": \"ten\"}\n{\"text\":\"nine\",\"label\":\"9\"}\n",
                  (heed__pairs_args){.kind = HEED_TARGET_CLASSES});
    CHECK_TEXT(shown(k, false, 0), "1 ten|10");
    CHECK(k && heed__pairs_about(k)->classes == 2);
    CHECK_TEXT(k ? heed__pairs_about(k)->labels[0] : NULL, "9");
    k = open_text(
        c, "c.jsonl",
        "{\"tokens\":[\"a\",\"bc\"],\"tags\":[\"X\",\"Y\"]}\n{\"tokens\":\"d\",\"tags\":\"X\"}\n",
        (heed__pairs_args){.kind = HEED_TARGET_TAGS});
    CHECK_TEXT(shown(k, false, 0), "1 a bc|X Y");
    CHECK_TEXT(shown(k, false, 1), "2 d|X");
}

TEST_IN(pairs_read_csv, open_ctx()) {
    heed__pairs *k =
        open_text(c, "a.csv",
                  "\xEF\xBB\xBFid,Review,Sentiment\r\n1,\"good, \"\"very\"\" good\",pos\r\n"
                  "\r\n2,\"two\nlines\",neg\r\n3, plain ,pos",
                  (heed__pairs_args){.kind = HEED_TARGET_CLASSES});
    const heed__pairs_info *f = heed__pairs_about(k);
    CHECK(f && f->pairs == 3 && f->header && f->extra_columns == 3 && f->classes == 2);
    CHECK_TEXT(shown(k, false, 0), "2 good, \"very\" good|pos");
    CHECK_TEXT(shown(k, false, 1), "4 two lines|neg");
    CHECK_TEXT(shown(k, false, 2), "6 plain|pos");
    heed__pairs_close(k);
    k = open_text(c, "b.CSV", "en,fr\ngo,va\n", (heed__pairs_args){.kind = HEED_TARGET_TEXT});
    CHECK_TEXT(shown(k, false, 0), "2 go|va");
    heed__pairs_close(k);
    char *text = malloc(9000);
    strcpy(text, "text,label\n\""); /* a field may be long */
    memset(text + 12, 'x', 8000);
    strcpy(text + 8012, "\",a\ny,b\n");
    k = open_text(c, "c.csv", text, (heed__pairs_args){.kind = HEED_TARGET_CLASSES});
    heed_pair pair;
    CHECK(heed__pairs_get(k, false, 0, &pair) && pair.source_n == 8000);
    free(text);
}

TEST_IN(pairs_columns_are_chosen, open_ctx()) {
    static const struct {
        const char *name, *text, *columns, *first;
    } cases[] = {
        {"a.csv", "v1,v2\nham,hello\nspam,win\n", "v2,v1", "2 hello|ham"},
        {"a.csv", "ham,hello\nspam,win\n", "2,1", "1 hello|ham"},
        {"a.csv", "text,label,kind\nhello,ham,x\nwin,spam,y\n", " TEXT , kind", "2 hello|x"},
        {"a.csv", "a,label,text\nx,ham,hello\ny,spam,win\n", "1,2", "2 x|ham"},
        {"a.tsv", "v1\tv2\nham\thello\nspam\twin\n", "v2,v1", "2 hello|ham"},
        {"a.tsv", "hello\tham\nwin\tspam\n", "1,2", "1 hello|ham"},
        {"a.jsonl", "{\"v1\":\"ham\",\"v2\":\"hello\"}\n{\"v1\":1,\"v2\":\"win\"}\n", "v2,v1",
         "1 hello|ham"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed__pairs *k =
            open_text(c, cases[i].name, cases[i].text,
                      (heed__pairs_args){.kind = HEED_TARGET_CLASSES, .columns = cases[i].columns});
        CHECK_TEXT(shown(k, false, 0), cases[i].first);
        CHECK(heed__pairs_about(k) && heed__pairs_about(k)->pairs == 2);
        heed__pairs_close(k);
    }
}

TEST_IN(pairs_refuse_csv, open_ctx()) {
    static const struct {
        const char *text, *columns, *why;
    } cases[] = {
        {"text,label\n\"open,a\n", NULL,
         "a.csv:2: expected a double quote that ends the field, found the end of the file"},
        {"text,label\n\"a\"b,c\n", NULL, "a.csv:2: expected a comma or the end of the line"},
        {"text,label\na\n", NULL, "a.csv:2: expected 2 fields"},
        {"text,label\na,b,c\n", NULL, "a.csv:2: expected 2 fields"},
        {"text,label\na,\n", NULL, "a.csv: expected some below the names"},
        {"one,two\na,b\n", NULL, "a.csv:1: expected a first line that names text and label"},
        {"5\" pipe,5\" rod;x\na,b\n", NULL, "found 5\" pipe, 5\" rod;x"},
        {"one;two\na;b\n", NULL,
         "a.csv:1: expected a first line that names text and label, found one, two"},
        {"one,two\na,b\n", "one,three",
         "a.csv:1: expected a first line that names one,three, found one, two"},
        {"one,two\na,b\n", "1,3", "a.csv:1: expected a first line that names 1,3"},
        {"one,two\na,b\n", "one", "`columns` is wrong: expected two names"},
        {"one,two\na,b\n", "one,one", "`columns` is wrong"},
        {"one,two\na,b\n", "1,2,3", "`columns` is wrong"},
        {"text,label\na,b\n", "text,1", "found column 1 twice"},
        {"one,two\na,b\n", "1,01", "found column 1 twice"},
        {"text,label\n", NULL, "a.csv: expected some below the names of the columns"},
        {"a\xFF,b\n", NULL, "a.csv"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed__pairs_args a = {.kind = HEED_TARGET_CLASSES, .columns = cases[i].columns};
        CHECK(open_text(c, "a.csv", cases[i].text, a) == NULL);
        CHECK_HAS(heed_ctx_error(c), cases[i].why);
        heed_clear(c);
    }
}

TEST_IN(pairs_refuse, open_ctx()) {
    static const struct {
        const char *name, *text, *why;
        heed_target_kind kind;
    } cases[] = {
        {"a.tsv", "a\tb\n\nno tab\n", "a.tsv:3: expected 2 fields", 0},
        {"a.tsv", "a\t\n\tb\n", "a.tsv: expected lines of source TAB target, found none", 0},
        {"a.tsv", "x\n", "a.tsv:1: expected label TAB text", HEED_TARGET_CLASSES},
        {"a.tsv", "id\tsrc\ttgt\n1\ta\n", "a.tsv:2: expected 3 fields", 0},
        {"a.tsv", "\n\n", "a.tsv: expected lines of source TAB target, found none", 0},
        {"a.tsv", "src\ttgt\n", "found only the line of these names", 0},
        {"a.tsv", "", "text is empty", 0},
        {"a.tsv", "a\tb\nc\t\xE9\n", "a.tsv:2: expected UTF-8", 0},
        {"a.tsv", "the cat\tD N\ngo on\tV\n",
         "a.tsv:2: expected a label for each of the 2 words, "
         "found 1 labels",
         HEED_TARGET_TAGS},
        {"a.jsonl", "{\"src\":\"a\",\"tgt\":\"b\"}\n{\"src\":\"a\"}\n",
         "a.jsonl:2: expected an object with the keys source and target, found src", 0},
        {"a.jsonl", "{\"src\":\"a\",\"tgt\":1.5}\n", "a.jsonl:1: expected an object", 0},
        {"a.jsonl", "{\"text\":\"a\",\"label\":0.5}\n",
         "found a number with a fraction; hint: write it as text", HEED_TARGET_CLASSES},
        {"a.jsonl", "{\"text\":\"a\",\"label\":true}\n", "found true; hint: write it as text",
         HEED_TARGET_CLASSES},
        {"a.csv", "text,label\n", "no rows: ", HEED_TARGET_CLASSES},
        {"a.csv", "tokens,tags\n\"['a', 'b']\",X Y\n", "expected words separated by spaces",
         HEED_TARGET_TAGS},
        {"a.jsonl", "{\"src\":\"a\",\"src\":\"b\",\"tgt\":\"c\"}\n", "a.jsonl:1: ", 0},
        {"a.jsonl", "[1]\n", "a.jsonl:1: expected a JSON object a line, found a list", 0},
        {"a.jsonl", "{\"src\":\n", "a.jsonl:1: expected a JSON object", 0},
        {"a.jsonl", "{\"src\":\"a\\u0000\",\"tgt\":\"c\"}\n", "a.jsonl:1: ", 0},
        {"a.jsonl", "{\"tokens\":[\"New York\",\"\"],\"tags\":[\"B-LOC\",\"O\"]}\n",
         "a.jsonl:1: expected one word as item 1 of \"tokens\", found \"New York\"",
         HEED_TARGET_TAGS},
        {"a.jsonl", "{\"tokens\":[\"a b\"],\"tags\":[\"X\",\"Y\"]}\n", "item 1 of \"tokens\"",
         HEED_TARGET_TAGS},
        {"a.jsonl", "{\"tokens\":[\"a\",\"b\"],\"tags\":[\"X\",\"Y Z\"]}\n", "item 2 of \"tags\"",
         HEED_TARGET_TAGS},
        {"a.jsonl", "{\"tokens\":[\"a\",\"\"],\"tags\":[\"X\",\"\"]}\n", "item 2 of \"tokens\"",
         HEED_TARGET_TAGS},
        {"a.jsonl", "{\"tokens\":[\"a\\tb\"],\"tags\":[\"X\"]}\n", "item 1 of \"tokens\"",
         HEED_TARGET_TAGS},
        {"a.jsonl", "{\"tokens\":[\"a\",\"b\"],\"tags\":[\"X\",null]}\n",
         "item 2 of \"tags\", found null", HEED_TARGET_TAGS},
        {"a.jsonl", "{\"words\":[\"a\"],\"ner\":[\"X\"]}\n",
         "an object with the keys tokens and tags", HEED_TARGET_TAGS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_FAILS(
            c,
            open_text(c, cases[i].name, cases[i].text, (heed__pairs_args){.kind = cases[i].kind}),
            HEED_DATA, cases[i].why);
    CHECK_FAILS(c, open_text(c, "a.tsv", "a\tb\n", (heed__pairs_args){.block = 1}), HEED_USAGE,
                "block is out of range: expected 2 to");
    CHECK_FAILS(c, open_text(c, "a.tsv", "a\tb\n", (heed__pairs_args){.val_split = 1}), HEED_USAGE,
                "validation share");
    CHECK_FAILS(c, open_text(c, "a.tsv", "a\tb\na\tc\n", (heed__pairs_args){.val_split = 0.5}),
                HEED_DATA, "2 different sources");
    CHECK(!heed__pairs_open(NULL, "x", &(heed__pairs_args){0}) && !heed__pairs_about(NULL));
    heed__pairs_close(NULL);
}

TEST_IN(pairs_read_conll, open_ctx()) {
    static const struct {
        const char *name, *text, *columns, *second;
        size_t pairs;
    } cases[] = {
        {"eng.train", "-DOCSTART- -X- O\n\nEU NNP B-ORG\nin IN O\n\nPeter NNP B-PER\n", NULL,
         "6 Peter|B-PER", 2},
        {"a.txt", "a X\r\nb Y\r\n\r\n\r\nc X\r\n", NULL, "5 c|X", 2},
        {"a.tsv", "a\tX\t1\nb\tY\t2\n\nc\tX\t3\n", "1,2", "4 c|X", 2},
        {"h.conll", "w p t\na P X\n\nb P Y\n", " W , t ", "4 b|Y", 2},
        {"w.conll", "#tag\tO\n\n# a comment\nb\tX\n", NULL, "4 b|X", 2},
        {"h.conll", "Word POS Tag\na P X\n\nb P Y\n", NULL, "4 b|Y", 2},
        {"h.txt", "token\ttag\n\na\tX\nc\tX\n\nb\tY\n", NULL, "6 b|Y", 2},
        {"h.txt", "word O\na X\n\nb tag\n", NULL, "4 b|tag", 2},
        /* Comments of as many columns: beside others, or before every sentence; else words. */
        {"c.txt", "# one\na X\n\n# 2\nb X\n# Y\n", NULL, "5 b #|X Y", 2},
        {"c.txt", "# one more\na X\n\n# 2\nb X\n\n# 3\n# 4\nc X\n", NULL, "5 b|X", 3},
        {"c.conll", "# id 1 en\na _ _ X\n\n# id 2 en\nb _ _ Y\n", NULL, "5 b|Y", 2},
        {"c.txt", "a X\n\n# Y\nb X\n", NULL, "3 # b|Y X", 2},
        {"c.txt", "#\tX\na\tX\n\n# two\n#\tY\n", NULL, "5 #|Y", 2},
        {"a.conllu",
         "# text = x\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\t_\tADP\tE\t_\t0\t_\t_\t_\n"
         "2\tle\t_\tDET\tR\t_\t1\t_\t_\t_\n2.1\tx\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
         "1\t10 000\t_\tNUM\tN\t_\t0\t_\t_\t_\n2\t#\t_\tSYM\tS\t_\t1\t_\t_\t_\n",
         NULL, "7 10\u00A0000 #|NUM SYM", 2},
        {"b.txt", "1\tde\t_\tADP\tE\t_\t0\t_\t_\t_\n\n1\tle\t_\tDET\tR\t_\t1\t_\t_\t_\n",
         "form,XPOS", "3 le|R", 2},
        {"b.tsv", "a b\tX Y\n\nc\tX\n", NULL, "3 c|X", 2}, /* sentences a line */
        {"b.tsv", "a\tX\nc\tX\n", NULL, "2 c|X", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed__pairs *k =
            open_text(c, cases[i].name, cases[i].text,
                      (heed__pairs_args){.kind = HEED_TARGET_TAGS, .columns = cases[i].columns});
        CHECK_TEXT(shown(k, false, 1), cases[i].second);
        CHECK(k && heed__pairs_about(k)->pairs == cases[i].pairs);
        heed__pairs_close(k);
    }
    CHECK_FAILS(c,
                open_text(c, "a.conll", "a X\nb\n", (heed__pairs_args){.kind = HEED_TARGET_TAGS}),
                HEED_DATA, "a.conll:2: expected 2 columns in every line, found 1");
    heed__pairs_args wrong = {.kind = HEED_TARGET_TAGS, .columns = "1,7"};
    CHECK_FAILS(c, open_text(c, "a.conll", "a B C X\n", wrong), HEED_USAGE,
                "a CoNLL file of 4 columns: expected the numbers or names of word and label, two "
                "columns; hint: `columns = 1,4`");
}

/* A tokenizer of words keeps no second space; one of characters keeps all. */
TEST_IN(pairs_altered_targets, open_ctx()) {
    heed_text out = {.c = c};
    const char *text = "a  b\tb  c\nd\te\n";
    heed__pairs *words = encoded(c, open_text(c, "a.tsv", text, (heed__pairs_args){0}), "word");
    heed__pairs *chars = encoded(c, open_text(c, "b.tsv", text, (heed__pairs_args){0}), "char");
    CHECK(heed__pairs_altered(chars, false, &out) == 0 && !out.n);
    CHECK(heed__pairs_altered(words, true, NULL) == 1);
    CHECK(heed__pairs_altered(words, false, &out) == 1 && out.s &&
          strncmp(out.s, "1 of 2 targets cannot be matched exactly", 40) == 0);
    CHECK(heed__pairs_altered(NULL, false, NULL) == 0);
    heed_text_free(&out);
}

/* ---- labels ---- */

TEST_IN(pairs_labels, open_ctx()) {
    const char *text = "b\tone\nB\ttwo\n\xC3\xA9\tthree\na\tfour\nb\tfive\n";
    heed__pairs *k = open_text(c, "a.tsv", text, (heed__pairs_args){.kind = HEED_TARGET_CLASSES});
    const heed__pairs_info *f = heed__pairs_about(k);
    const char *const sorted[] = {"B", "a", "b", "\xC3\xA9"};
    CHECK(f && f->classes == 4);
    for (int i = 0; f && i < 4; i++) CHECK_TEXT(f->labels[i], sorted[i]);
    const char *const own[] = {"b", "\xC3\xA9", "unused", "a", "B"};
    heed__pairs_args a = {.kind = HEED_TARGET_CLASSES, .labels = own, .label_count = 5};
    heed__pairs *same = encoded(c, open_text(c, "a.tsv", text, a), "char");
    heed_batch b;
    CHECK(heed__pair_batch(same, (heed_batch_at){.val = true, .rows = 5}, &b));
    const int32_t expected[] = {0, 4, 1, 3, 0};
    for (int i = 0; i < 5; i++) CHECK(b.labels && b.labels[i] == expected[i]);
    a.label_count = 4;
    CHECK_FAILS(c, open_text(c, "a.tsv", text, a), HEED_DATA,
                "a.tsv:2: expected a label of the run, found \"B\"");
    a.labels = (const char *const[]){"a", "b", "a"};
    a.label_count = 3;
    CHECK_FAILS(c, open_text(c, "a.tsv", text, a), HEED_USAGE, "label occurs twice");
}

TEST_IN(pairs_labels_that_are_numbers_have_their_order, open_ctx()) {
    static const struct {
        const char *text, *order[5];
    } cases[] = {
        {"10\ta\n2\tb\n0\tc\n1\td\n", {"0", "1", "2", "10"}},
        {"1.5\ta\n-1\tb\n+1\tc\n-10\td\n0.25\te\n", {"-10", "-1", "0.25", "+1", "1.5"}},
        {"2\ta\n10\tb\nx\tc\n", {"10", "2", "x"}},
        {"2.\ta\n10\tb\n", {"10", "2."}},
        {"01\ta\n1\tb\n0\tc\n", {"0", "01", "1"}},
        {"1e3\ta\n2\tb\n", {"1e3", "2"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed__pairs *k =
            open_text(c, "a.tsv", cases[i].text, (heed__pairs_args){.kind = HEED_TARGET_CLASSES});
        for (int j = 0; j < 5 && cases[i].order[j]; j++)
            CHECK_TEXT(k ? heed__pairs_about(k)->labels[j] : NULL, cases[i].order[j]);
        heed__pairs_close(k);
    }
}

/* ---- parts ---- */

static heed__pairs *many(heed_ctx *c, double split) {
    heed_text text = {.c = c};
    for (int i = 0; i < 300; i++) heed_text_add(&text, "s%d\tt%d\n", i % 120, i);
    heed__pairs *k = open_text(c, "many.tsv", text.s, (heed__pairs_args){.val_split = split});
    heed_text_free(&text);
    return k;
}

TEST_IN(pairs_split_keeps_sources_together, open_ctx()) {
    heed__pairs *k = many(c, 0.2);
    const heed__pairs_info *f = heed__pairs_about(k);
    CHECK(f && f->pairs + f->val_pairs == 300 && f->val_pairs >= 58 && f->val_pairs <= 60);
    int side[120] = {0}, order = 0, turns = 0;
    for (int val = 0; val < 2; val++) {
        size_t last = 0;
        for (size_t i = 0; f && i < (val ? f->val_pairs : f->pairs); i++) {
            heed_pair p;
            CHECK(heed__pairs_get(k, val, i, &p) && p.line > last);
            last = p.line;
            int source = atoi(p.source + 1);
            CHECK(!side[source] || side[source] == 1 + val);
            side[source] = 1 + val;
        }
    }
    for (int i = 1; i < 120; i++) turns += side[i] != side[i - 1], order += side[i];
    CHECK(turns > 15 && order > 120); /* not the head or the tail of the file */
    heed_ctx *other = heed_open(&(heed_options){.seed = 2});
    heed__pairs *m = many(other, 0.2);
    bool differs = false;
    for (size_t i = 0; i < 50; i++) differs |= strcmp(shown(k, true, i), shown(m, true, i)) != 0;
    CHECK(differs);
    CLOSE(other);
}

/* Half of the lines have one source: it never fits into a tenth. */
TEST_IN(pairs_split_leaves_out_what_is_too_many, open_ctx()) {
    heed_text text = {0};
    text.c = c;
    for (int i = 0; i < 100; i++) heed_text_add(&text, "s%d\tt\n", i < 50 ? 0 : i);
    for (uint64_t seed = 1; seed < 20; seed++) {
        heed_ctx *d = heed_open(&(heed_options){.seed = seed});
        heed__pairs *k = open_text(d, "a.tsv", text.s, (heed__pairs_args){.val_split = 0.1});
        CHECK(k && heed__pairs_about(k)->val_pairs == 10 && heed__pairs_about(k)->pairs == 90);
        CLOSE(d);
    }
    heed_text_free(&text);
}

TEST_IN(pairs_validation_file, open_ctx()) {
    heed__pairs_args a = {.val_path = text_file("val.tsv", "src\ttgt\nb\tx\nz\ty\nb\tw\n"),
                          .val_split = 0.5};
    heed__pairs *k = open_text(c, "a.tsv", "a\tb\nb\tc\n", a);
    const heed__pairs_info *f = heed__pairs_about(k);
    CHECK(f && f->pairs == 2 && f->val_pairs == 3 && f->overlap == 2);
    CHECK_TEXT(shown(k, true, 1), "3 z|y");
    uint64_t checksum = f ? f->checksum : 0;
    a.val_path = text_file("val.tsv", "b\tx\nz\ty\nb\tv\n");
    k = open_text(c, "a.tsv", "a\tb\nb\tc\n", a);
    CHECK(k && heed__pairs_about(k)->checksum != checksum);
    a.val_path = text_file("val.tsv", "b x\n");
    CHECK_FAILS(c, open_text(c, "a.tsv", "a\tb\nb\tc\n", a), HEED_DATA, "val.tsv:1: ");
}

/* ---- tokens ---- */

/* The tokens of a row, "[CLS] a b", without what the mask hides. */
static const char *row_text(const heed_tokenizer *t, const int32_t *ids, const int32_t *mask,
                            int len) {
    static char text[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    char *s = text[turn];
    *s = 0;
    for (int i = 0; i < len; i++) {
        if (mask && !mask[i]) continue;
        if (*s) strcat(s, " ");
        if (ids[i] == -100)
            strcat(s, "-");
        else
            strcat(s, heed_token_text(t, ids[i]));
    }
    return s;
}

TEST_IN(pairs_translation_rows, open_ctx()) {
    heed__pairs *k = open_text(c, "a.tsv", "abc\txy\nd\txyxyx\n", (heed__pairs_args){0});
    heed_tokenizer *s = tokenizer_of(c, k, 0, "char"), *t = tokenizer_of(c, k, 1, "char");
    CHECK(heed__pairs_encode(k, s, t));
    heed_batch b;
    CHECK(heed__pair_batch(k, (heed_batch_at){.val = true, .rows = 2}, &b));
    CHECK(b.rows == 2 && b.src_len == 4 && b.len == 6 && b.items == 9 && b.label_bytes == 7);
    CHECK_TEXT(row_text(s, b.src, b.src_pad, 4), "a b c [SEP]");
    CHECK_TEXT(row_text(s, b.src + 4, NULL, 4), "d [SEP] [PAD] [PAD]");
    CHECK_TEXT(row_text(s, b.src + 4, b.src_pad + 4, 4), "d [SEP]");
    CHECK_TEXT(row_text(t, b.ids, b.pad, 6), "[CLS] x y");
    CHECK_TEXT(row_text(t, b.ids, NULL, 6), "[CLS] x y [PAD] [PAD] [PAD]");
    CHECK_TEXT(row_text(t, b.labels, NULL, 6), "x y [SEP] - - -");
    CHECK_TEXT(row_text(t, b.ids + 6, b.pad + 6, 6), "[CLS] x y x y x");
    CHECK_TEXT(row_text(t, b.labels + 6, NULL, 6), "x y x y x [SEP]");
    const heed__pairs_info *f = heed__pairs_about(k);
    CHECK(f->longest == 4 && f->target_longest == 6 && f->tokens == 4 && f->target_tokens == 7);
    CHECK_FAILS(c, heed__pairs_encode(k, s, t), HEED_USAGE, "tokens already");
}

/* Special tokens are inserted by the reader only. */
TEST_IN(pairs_read_special_tokens_as_text, open_ctx()) {
    heed__pairs *k = open_text(c, "a.tsv", "a\tx [SEP] y\n[PAD]\tz\n", (heed__pairs_args){0});
    heed_tokenizer *t = tokenizer_of(c, k, 2, "word");
    CHECK(heed__pairs_encode(k, t, t));
    heed_batch b;
    CHECK(heed__pair_batch(k, (heed_batch_at){.val = true, .rows = 2}, &b));
    CHECK_TEXT(row_text(t, b.labels, NULL, b.len), "x [ SEP ] y [SEP]");
    CHECK_TEXT(row_text(t, b.src + b.src_len, b.src_pad + b.src_len, b.src_len), "[ PAD ] [SEP]");
    CHECK(heed__pairs_about(k)->special_lines == 2);
}

TEST_IN(pairs_tags_rows, open_ctx()) {
    heed__pairs *k = open_text(c, "a.tsv", "I'm here\tP A\nhere\tA\n",
                               (heed__pairs_args){.kind = HEED_TARGET_TAGS, .block = 4});
    heed_tokenizer *t = tokenizer_of(c, k, 0, "word");
    CHECK(heed__pairs_encode(k, t, NULL));
    heed_batch b;
    CHECK(heed__pair_batch(k, (heed_batch_at){.val = true, .rows = 2}, &b));
    CHECK(b.rows == 2 && b.src_len == 4 && b.items == 2 && !b.ids && !b.pad);
    CHECK_TEXT(row_text(t, b.src, b.src_pad, 4), "I ' m [SEP]");
    CHECK_TEXT(row_text(t, b.src + 4, b.src_pad + 4, 4), "here [SEP]");
    const int32_t labels[] = {1, -100, -100, -100, 0, -100, -100, -100};
    for (int i = 0; b.labels && i < 8; i++) CHECK(b.labels[i] == labels[i]);
    CHECK(heed__pairs_about(k)->cut.texts == 1 && heed__pairs_about(k)->left_out == 0);
    CHECK(heed__pairs_about(k)->pairs == 2 && heed__pairs_about(k)->longest == 5);
}

/* A control character is dropped by the word tokenizer; its label keeps a place. */
TEST_IN(pairs_tags_of_nothing, open_ctx()) {
    heed__pairs *k =
        open_text(c, "a.tsv", "a \x01 b\tX Y Z\n", (heed__pairs_args){.kind = HEED_TARGET_TAGS});
    heed_tokenizer *t = tokenizer_of(c, k, 0, "word");
    heed_batch b;
    CHECK(heed__pairs_encode(k, t, NULL) &&
          heed__pair_batch(k, (heed_batch_at){.val = true, .rows = 1}, &b));
    CHECK_TEXT(row_text(t, b.src, b.src_pad, 4), "a [UNK] b [SEP]");
    for (int i = 0; i < 3; i++) CHECK(b.labels && b.labels[i] == i);
}

TEST_IN(pairs_longer_than_the_block, open_ctx()) {
    heed__pairs_args a = {.block = 4, .val_path = text_file("val.tsv", "abcd\txyz\nab\twxyz\n")};
    heed__pairs *k = open_text(c, "a.tsv", "abc\txyz\nabcd\tx\na\tvwxyz\nab\tz\n", a);
    heed_tokenizer *t = tokenizer_of(c, k, 2, "char");
    CHECK(heed__pairs_encode(k, t, t));
    const heed__pairs_info *f = heed__pairs_about(k);
    CHECK(f->pairs == 2 && f->left_out == 2 && f->val_pairs == 2 && f->cut.texts == 2);
    CHECK(f->tokens == 5 && f->target_tokens == 4 && f->longest == 5 && f->target_longest == 6);
    CHECK_TEXT(shown(k, false, 1), "4 ab|z");
    heed_batch b;
    CHECK(heed__pair_batch(k, (heed_batch_at){.val = true, .rows = 2}, &b));
    CHECK(b.src_len == 4 && b.len == 4 && b.items == 8 && b.label_bytes == 6);
    CHECK_TEXT(row_text(t, b.src, NULL, 4), "a b c [SEP]");
    CHECK_TEXT(row_text(t, b.labels + 4, NULL, 4), "w x y [SEP]");
    CHECK_TEXT(row_text(t, b.ids + 4, NULL, 4), "[CLS] w x y");
    a.block = 2;
    k = open_text(c, "a.tsv", "abc\txyz\nabcd\tx\n", a);
    CHECK_FAILS(c, heed__pairs_encode(k, t, t), HEED_DATA, "hint: `block = 5`");
}

/* The beginning of a text still has its label: it trains. */
TEST_IN(pairs_long_texts_are_cut, open_ctx()) {
    heed__pairs_args a = {
        .kind = HEED_TARGET_CLASSES, .block = 3, .val_path = text_file("val.tsv", "X\tab\n")};
    heed__pairs *k = encoded(c, open_text(c, "a.tsv", "X\tabab\nY\tb\n", a), "char");
    const heed__pairs_info *f = heed__pairs_about(k);
    CHECK(f && f->pairs == 2 && f->cut.texts == 1 && f->left_out == 0 && f->longest == 5);
    heed_batch b;
    CHECK(heed__pair_batch(k, (heed_batch_at){.rows = 2}, &b) && b.src_len == 3 && b.items == 2);
}

TEST_IN(pairs_texts_that_are_cut_keep_what_truncate_says, open_ctx()) {
    static const struct {
        const char *truncate, *tokens;
        bool bracket;
        int32_t labels[5];
    } cases[] = {
        {NULL, "a b c d [SEP]", false, {0, 1, 2, 3, -100}},
        {"head", "[CLS] a b c [SEP]", true, {-100, 0, 1, 2, -100}},
        {"tail", "e f g h [SEP]", false, {4, 5, 6, 7, -100}},
        {"head+tail", "a b g h [SEP]", false, {0, 1, 6, 7, -100}},
        {"head+tail", "[CLS] a b h [SEP]", true, {-100, 0, 1, 7, -100}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed__pairs_args a = {.kind = HEED_TARGET_TAGS,
                              .block = 5,
                              .bracket = cases[i].bracket,
                              .truncate = cases[i].truncate};
        heed__pairs *k = open_text(c, "a.tsv", "h g\tH G\na b c d e f g h\tA B C D E F G H\n", a);
        heed_tokenizer *t = tokenizer_of(c, k, 0, "word");
        heed_batch b;
        CHECK(heed__pairs_encode(k, t, NULL) &&
              heed__pair_batch(k, (heed_batch_at){.val = true, .rows = 2}, &b));
        CHECK_TEXT(row_text(t, b.src + 5, NULL, 5), cases[i].tokens);
        for (int j = 0; b.labels && j < 5; j++) CHECK(b.labels[5 + j] == cases[i].labels[j]);
        size_t unread = cases[i].bracket ? 5 : 4;
        const heed__pairs_info *f = heed__pairs_about(k);
        CHECK(f->cut.texts == 1 && f->cut.unread == unread && f->cut.units == 10);
        CHECK(f->val_cut.unread == unread && f->val_cut.units == 10);
    }
}

/* Without a block, it is that of the longest text, from 64 to 512. */
TEST_IN(pairs_block_is_chosen_by_the_lengths, open_ctx()) {
    static const int words[] = {5, 64, 99, 600}, blocks[] = {64, 72, 104, 512};
    for (int i = 0; i < 4; i++) {
        heed_text text = {.c = c};
        heed_text_add(&text, "X\ta\nY\t");
        for (int j = 0; j < words[i]; j++) heed_text_add(&text, "b ");
        heed__pairs *k = heed__pairs_open(c, text_file("a.tsv", text.s),
                                          &(heed__pairs_args){.kind = HEED_TARGET_CLASSES});
        const heed__pairs_info *f = heed__pairs_about(encoded(c, k, "word"));
        CHECK(f && f->block == blocks[i] && f->longest == words[i] + 1);
        CHECK(f && f->cut.unread == (words[i] > 511 ? (size_t)words[i] - 511 : 0));
        heed_text_free(&text);
    }
}

TEST_IN(pairs_count_unknown, open_ctx()) {
    heed__pairs *k = open_text(c, "a.tsv", "ab\tcd\n", (heed__pairs_args){0});
    heed__pairs *other = open_text(c, "b.tsv", "abz\tcz\nq\tcd\n", (heed__pairs_args){0});
    heed_tokenizer *t = tokenizer_of(c, k, 2, "char");
    CHECK(heed__pairs_encode(other, t, t));
    const heed__pairs_info *f = heed__pairs_about(other);
    CHECK(f->unknown == 2 && f->tokens == 4 && f->target_unknown == 1 && f->target_tokens == 4);
    heed_tokenizer *bare = heed_tokenizer_train(c, "abc", 3, (heed_tokenizer_args){.kind = "char"});
    CHECK_FAILS(c, heed__pairs_encode(k, bare, bare), HEED_USAGE, "lacks special tokens");
    CHECK_FAILS(c, heed__pairs_encode(k, t, NULL), HEED_USAGE, "tokenizer of the target");
    heed_batch b;
    CHECK_FAILS(c, heed__pair_batch(k, (heed_batch_at){.rows = 1}, &b), HEED_USAGE,
                "pairs are not encoded");
}
