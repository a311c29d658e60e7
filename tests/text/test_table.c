/* Tables as other programs write them: quotes, headers, columns and rows that do not fit. Values of
 * what pandas reads are pandas' own (read_csv with keep_default_na=False). */
#include "data/sets.h"
#include "images.h"

#include <sys/stat.h>

static heed_ctx *open_ctx(void) { return heed_open(&(heed_options){.seed = 1}); }

static heed__pairs *open_table(heed_ctx *c, const char *name, const char *text,
                               heed__pairs_args a) {
    if (!a.block) a.block = 64;
    return heed__pairs_open(c, text_file(name, text), &a);
}

/* "line source|target" of a pair. */
static const char *pair_at(const heed__pairs *k, size_t index) {
    static char text[256];
    heed_pair p;
    if (!heed__pairs_get(k, false, index, &p)) return NULL;
    snprintf(text, sizeof text, "%zu %.*s|%.*s", p.line, (int)p.source_n, p.source, (int)p.target_n,
             p.target);
    return text;
}

/* What several programs write, and the last row of it that is read. */
TEST_IN(table_reads_what_others_write, open_ctx()) {
    static const struct {
        const char *name, *text, *last;
        size_t pairs;
        heed_target_kind kind;
    } cases[] = {
        /* pandas' to_csv, with and without its index, sep="\t" and texts with all its marks */
        {"a.csv", ",text,label\n0,\"a \"\"bad\"\" film, 0\",neg\n1,fine,pos\n", "3 fine|pos", 2,
         HEED_TARGET_CLASSES},
        {"a.tsv", "\ttext\tlabel\n0\tx\tneg\n1\t\"a \"\"good\"\" film\"\tpos\n",
         "3 a \"good\" film|pos", 2, HEED_TARGET_CLASSES},
        {"a.tsv", "label\ttext\nneg\t\"two\nlines\"\npos\t\"a\ttab\"\n", "4 a tab|pos", 2,
         HEED_TARGET_CLASSES},
        /* quotes that were never quoted */
        {"a.tsv", "neg\t\"Hello,\" he said.\npos\tGo on\nneg\t\"I am tired,\npos\tand go.\"\n",
         "4 and go.\"|pos", 4, HEED_TARGET_CLASSES},
        {"a.tsv", "neg\t\"I am tired,\npos\tand go.\"\nneg\tx\npos\ty\n", "4 y|pos", 4,
         HEED_TARGET_CLASSES},
        {"a.tsv", "PUNCT\t\"\nNOUN\tcat\nPUNCT\t\"\n", "3 \"|PUNCT", 3, HEED_TARGET_CLASSES},
        {"a.tsv", "go\tva\n\"Go!\"\t\"Va \xC2\xBB\n", "2 \"Go!\"|\"Va \xC2\xBB", 2,
         HEED_TARGET_TEXT},
        {"a.csv", "\xEF\xBB\xBFText;Label\r\na;x\r\n\"b; \"\"c\"\"\";y\r\n", "3 b; \"c\"|y", 2,
         HEED_TARGET_CLASSES},
        {"a.csv", "text\tlabel\na, b\tx\nc, d\ty\n", "3 c, d|y", 2, HEED_TARGET_CLASSES},
        {"a.csv", "text|label\na|x\nb|y\n", "3 b|y", 2, HEED_TARGET_CLASSES},
        {"a.csv", "id,keyword,location,text,target\n1,,,storm,1\n4,,,\"sun, \"\"so\"\"\",0\n",
         "3 sun, \"so\"|0", 2, HEED_TARGET_CLASSES},
        {"a.csv", "id,en,fr\n0,go,va\n1,run,cours\n", "3 run|cours", 2, HEED_TARGET_TEXT},
        {"a.tsv", "id\ten\tfr\n0\tgo\tva\n1\trun\tcours\n", "3 run|cours", 2, HEED_TARGET_TEXT},
        {"a.txt", "image,caption\na.jpg,\"one, two\"\na.jpg,three\n", "3 a.jpg|three", 2,
         HEED_TARGET_CAPTIONS},
        {"a.csv", "image_name| comment_number| comment\na.jpg| 0| one\nb.jpg| 1| two\n",
         "3 b.jpg|two", 2, HEED_TARGET_CAPTIONS},
        {"a.csv", "text,label,,\na,x,,\nb,y,,\n,,,\n", "3 b|y", 2, HEED_TARGET_CLASSES},
        {"a.jsonl", "{\"review\":\"a\",\"sentiment\":1}\n{\"sentiment\":0,\"review\":\"b\"}\n",
         "2 b|0", 2, HEED_TARGET_CLASSES},
        /* a carriage return, U+2028, VT, FF and NEL end no line */
        {"a.tsv", "go\tva\r\nrun\ron\tcours\n\xE2\x80\xA8x\v\fy\tz\xC2\x85\n",
         "3 \xE2\x80\xA8x\v\fy|z\xC2\x85", 3, HEED_TARGET_TEXT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed__pairs *k =
            open_table(c, cases[i].name, cases[i].text, (heed__pairs_args){.kind = cases[i].kind});
        const heed__pairs_info *f = heed__pairs_about(k);
        if (!k) test_fail(__FILE__, __LINE__, "%s", heed_ctx_error(c));
        CHECK(f && f->pairs == cases[i].pairs);
        if (f) CHECK_TEXT(pair_at(k, f->pairs - 1), cases[i].last);
        heed__pairs_close(k);
        heed_clear(c);
    }
}

/* What a first line may mean is asked for, with the columns that are probably meant. */
TEST_IN(table_asks_for_columns, open_ctx()) {
#define ROWS "\nneg\tbad film\npos\tgood film\nneg\tbad book\npos\tgood book\nneg\tbad song\n"
    static const struct {
        const char *name, *text, *hint;
        heed_target_kind kind;
    } cases[] = {
        {"a.tsv", "label\tcomment_text" ROWS, "`columns = comment_text,label`",
         HEED_TARGET_CLASSES},
        {"a.tsv", "v1\tv2" ROWS, "`columns = v2,v1`", HEED_TARGET_CLASSES},
        {"a.tsv", "v1\tfilm, song" ROWS, "`columns = 2,1` and `header = yes`", HEED_TARGET_CLASSES},
        {"a.csv", "v1,v2\nham,how are you\nspam,win it now\nham,fine then\n", "`columns = v2,v1`",
         HEED_TARGET_CLASSES},
        {"a.csv", "0,1\nhow are you,ham\nwin it now,spam\n", "`columns = 1,2` and `header = yes`",
         HEED_TARGET_CLASSES},
        {"a.csv", "how are you,ham\nwin it now,spam\nfine,ham\n", "`columns = 1,2`",
         HEED_TARGET_CLASSES},
        {"a.csv", "text,label,category\na,x,y\nb,z,y\n", NULL, HEED_TARGET_CLASSES},
        {"a.csv", "review,comment,label\na,x,y\nb,z,y\n", "`columns = review,label`",
         HEED_TARGET_CLASSES},
        {"a.tsv", "0\tgo\tva\n1\trun\tcours\n2\tsee\tvois\n3\tbe\tsois\n", "`columns = 2,3`",
         HEED_TARGET_TEXT},
        /* numbers with gaps; a class that occurs once among many */
        {"a.tsv",
         "3\tgo\tva\n7\trun\tcours\n8\tsee\tvois\n12\tbe\tsois\n15\tsay\tdis\n20\tsit\tassis\n"
         "21\teat\tmange\n30\tgive\tdonne\n31\tlie\tmens\n",
         "`columns = 2,3`", HEED_TARGET_TEXT},
        {"a.tsv", "v1\tv2" ROWS ROWS ROWS ROWS "rare\tgood book\n", "`columns = v2,v1`",
         HEED_TARGET_CLASSES},
        {"a.tsv", "id\tanglais\tautre\n0\tgo\tva\n1\trun\tcours\n2\tsee\tvois\n",
         "`columns = anglais,autre`", HEED_TARGET_TEXT},
        {"a.tsv", "en\tfr\tde\ngo\tva\tgeh\n", "`columns = en,fr`", HEED_TARGET_TEXT},
        {"a.tsv", "english_text\tfrench_text\ngo\tva\n", "`columns = english_text,french_text`",
         HEED_TARGET_TEXT},
        {"a.tsv", "pic\tsays\na.jpg\tone dog\nb.jpg\ttwo dogs\n", "`columns = pic,says`",
         HEED_TARGET_CAPTIONS},
        {"a.jsonl", "{\"comment_text\":\"a\",\"kind\":\"x\"}\n", "`columns = comment_text,kind`",
         HEED_TARGET_CLASSES},
        {"a.jsonl", "{\"id\":1,\"tokens\":[\"a\"],\"ner_tags\":[1]}\n",
         "`columns = tokens,ner_tags`", HEED_TARGET_TAGS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed__pairs_args a = {.kind = cases[i].kind};
        heed__pairs *k = open_table(c, cases[i].name, cases[i].text, a);
        if (!cases[i].hint) {
            CHECK(k != NULL);
            continue;
        }
        CHECK(!k && heed_ctx_status(c) == HEED_DATA);
        CHECK_HAS(heed_ctx_error(c), cases[i].hint);
        char columns[64], *hint = strstr(heed_ctx_error(c), "`columns = ");
        snprintf(columns, sizeof columns, "%.*s", hint ? (int)strcspn(hint + 11, "`") : 0,
                 hint ? hint + 11 : "");
        bool header = strstr(heed_ctx_error(c), "and `header = yes`") != NULL;
        CHECK(header == (strstr(cases[i].hint, "`header = yes`") != NULL)); /* else it is data */
        heed_clear(c);
        a.columns = columns; /* the hint works */
        a.header = header ? "yes" : NULL;
        k = open_table(c, cases[i].name, cases[i].text, a);
        if (!k) test_fail(__FILE__, __LINE__, "%zu: %s", i, heed_ctx_error(c));
        heed_clear(c);
    }
}

TEST_IN(table_columns_by_name_and_number, open_ctx()) {
    static const struct {
        const char *text, *columns, *header, *first;
    } cases[] = {
        {",0,1\n0,a b,x\n1,c,y\n", "0,1", NULL, NULL},
        {",0,1\n0,a b,x\n1,c,y\n", "1,0", NULL, "2 x|a b"},
        {",0,1\n0,a b,x\n1,c,y\n", "2,3", "yes", "2 a b|x"},
        {"1,2\na b,x\nc,y\n", "1,2", NULL, NULL}, /* names or numbers? */
        {"1,2\na b,x\nc,y\n", "1,2", "yes", "2 a b|x"},
        {"1,2\na b,x\nc,y\n", "1,2", "no", "1 1|2"},
        {"text,label\na,x\nb,y\n", "2,1", "no", "1 label|text"},
        {"Caf\xC3\xA9,label\na,x\nb,y\n", "Cafe\xCC\x81,label", NULL, "2 a|x"},
        {"text,label\na,x\nb,y\n", "text,3", NULL, NULL},
        {"text,label\na,x\nb,y\n", "0,1", NULL, NULL},
        {"text,label\na,x\nb,y\n", "1,99999999999999999999", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed__pairs_args a = {
            .kind = HEED_TARGET_CLASSES, .columns = cases[i].columns, .header = cases[i].header};
        heed__pairs *k = open_table(c, "a.csv", cases[i].text, a);
        if (cases[i].first)
            CHECK_TEXT(pair_at(k, 0), cases[i].first);
        else if (i)
            CHECK(k == NULL);
        heed_clear(c);
    }
}

/* A validation file may have its columns in another order, or other names. */
TEST_IN(table_columns_of_validation, open_ctx()) {
    const char *own = "text,label\ngood,pos\nbad,neg\n";
    heed__pairs_args a = {.kind = HEED_TARGET_CLASSES,
                          .val_path = text_file("v.csv", "note,label,text\nx,pos,fine\n")};
    heed__pairs *k = open_table(c, "a.csv", own, a);
    heed_pair p;
    CHECK(heed__pairs_get(k, true, 0, &p) && p.source_n == 4 && memcmp(p.source, "fine", 4) == 0);
    a.val_path = text_file("v.csv", "prose,stars\nfine,pos\n");
    CHECK_FAILS(c, open_table(c, "a.csv", own, a), HEED_DATA, "`val-columns = prose,stars`");
    a.val_columns = "prose,stars";
    k = open_table(c, "a.csv", own, a);
    CHECK(heed__pairs_get(k, true, 0, &p) && p.source_n == 4 && memcmp(p.source, "fine", 4) == 0);
}

TEST_IN(table_refuses, open_ctx()) {
    static const struct {
        const char *name, *text, *why;
        heed_target_kind kind;
    } cases[] = {
        {"a.csv", "text,label\na,x\nb,c,d,y\n", "a.csv:3: expected 2 fields", HEED_TARGET_CLASSES},
        {"a.tsv", "text\tlabel\na\tx\nb\ty\t\n", "a.tsv:3: expected 2 fields", HEED_TARGET_CLASSES},
        {"a.tsv", "go\tva\nbye\tau\trevoir\n", "a.tsv:2: expected 2 fields", HEED_TARGET_TEXT},
        {"a.csv", "text,label\nb,\"['x', 'y']\"\n", "a.csv:2: expected a label",
         HEED_TARGET_CLASSES},
        {"a.csv", "tokens,tags\n\"['a', 'b']\",\"['X', 'Y']\"\n",
         "a.csv:2: expected labels separated", HEED_TARGET_TAGS},
        {"a.csv", "tokens,tags\n\"['a' 'b']\",[3 0]\n", "a.csv:2: expected labels separated",
         HEED_TARGET_TAGS},
        {"a.txt", "Hello, world.\nIt rains.\n", "expected source TAB target, found no tab in it",
         HEED_TARGET_TEXT},
        {"a.txt", "go\tva\rrun\tcours\r", "lines end with CR", HEED_TARGET_TEXT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_FAILS(
            c,
            open_table(c, cases[i].name, cases[i].text, (heed__pairs_args){.kind = cases[i].kind}),
            HEED_DATA, cases[i].why);
}

TEST_IN(table_rows_without_text_are_left_out, open_ctx()) {
    heed__pairs *k = open_table(c, "a.csv", "text,label\na,x\n,x\nb,\n,\n\nc,y\n",
                                (heed__pairs_args){.kind = HEED_TARGET_CLASSES});
    const heed__pairs_info *f = heed__pairs_about(k);
    CHECK(f && f->pairs == 2 && f->empty == 2 && f->blank == 2);
    CHECK_TEXT(pair_at(k, 1), "7 c|y");
    k = open_table(c, "a.jsonl",
                   "{\"text\":\"a\",\"label\":null}\n{\"text\":\"b\",\"label\":\"x\"}\n",
                   (heed__pairs_args){.kind = HEED_TARGET_CLASSES});
    CHECK(k && heed__pairs_about(k)->pairs == 1 && heed__pairs_about(k)->empty == 1);
}

/* Names that look equal are equal: composed and decomposed letters, as macOS writes file names. */
TEST_IN(table_names_that_look_equal, open_images_ctx()) {
    heed__pairs *k = open_table(c, "a.csv", "text,label\na,caf\xC3\xA9\nb,cafe\xCC\x81\nc,x\n",
                                (heed__pairs_args){.kind = HEED_TARGET_CLASSES});
    const heed__pairs_info *f = heed__pairs_about(k);
    CHECK(f && f->classes == 2);
    if (f) CHECK_TEXT(f->labels[0], "caf\xC3\xA9");
    /* NFC decomposes U+0958, as it is an exclusion: the text becomes longer. */
    k = open_table(c, "b.csv", "text,label\na,\u0958\nb,\u0915\u093C\nc,x\n",
                   (heed__pairs_args){.kind = HEED_TARGET_CLASSES});
    f = heed__pairs_about(k);
    CHECK(f && f->classes == 2);
    if (f) CHECK_TEXT(f->labels[1], "\u0915\u093C");
    mkdir(in_folder("train"), 0777);
    mkdir(in_folder("test"), 0777);
    put_class("train/caf\xC3\xA9", 3, 0);
    put_class("train/x", 3, 10);
    put_class("test/cafe\xCC\x81", 2, 20);
    heed_images *images = heed__images_open(c, test_folder(), &(heed__images_args){0});
    CHECK(images && heed_images_about(images)->classes == 2);
    CHECK(heed__images_count(images, HEED_TEST_PART, 0) == 2);
}

/* ---- lists of pictures ---- */

static heed_images *open_list(heed_ctx *c, const char *text, heed__images_args a) {
    return heed__images_open(c, text_file("list.csv", text), &a);
}

TEST_IN(table_lists_of_pictures, open_images_ctx()) {
    static const struct {
        const char *text, *columns;
        size_t count[HEED_PARTS];
    } cases[] = {
        {"image_id,label\nsome/000.png,cat\nsome/001.png,dog\n", NULL, {2, 0, 0}},
        {"label,image_id,note\ncat,some/000.png,a\ndog,some/001.png,b\n", NULL, {2, 0, 0}},
        {"split,label,image_id\ntrain,cat,some/000.png\ntrain,dog,some/001.png\nVALID,cat,"
         "some/002.png\ntest,dog,some/003.png\n",
         NULL,
         {2, 1, 1}},
        {"class id,filepaths,labels,data set\n0,some/000.png,cat,train\n1,some/001.png,dog,train\n",
         NULL,
         {2, 0, 0}},
        {"f,k,fold\nsome/000.png,cat,1\nsome/001.png,dog,2\n", "f,k", {2, 0, 0}},
        {"f,k,fold\nsome/000.png,cat,train\nsome/001.png,dog,train\nsome/002.png,dog,dev\n",
         "f,k,fold",
         {2, 1, 0}},
        {"image_id,label\nsome/000.png,cat\n,dog\nsome/001.png,dog\nsome/002.png,\n",
         NULL,
         {2, 0, 0}},
        {"a,some/000.png\nb,some/001.png\n", "2,1", {2, 0, 0}},
    };
    put_class("some", 4, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_images *k =
            open_list(c, cases[i].text, (heed__images_args){.columns = cases[i].columns});
        const heed_images_info *f = heed_images_about(k);
        if (!f) test_fail(__FILE__, __LINE__, "%zu: %s", i, heed_ctx_error(c));
        CHECK(f && f->classes == 2 && f->bad == 0 &&
              memcmp(f->count, cases[i].count, sizeof f->count) == 0);
        heed_clear(c);
    }
    CHECK_FAILS(c,
                open_list(c, "f,k\nsome/000.png,cat\nsome/001.png,dog\n", (heed__images_args){0}),
                HEED_DATA, "`columns = f,k`");
    CHECK_FAILS(c,
                open_list(c, "image,label,split\nsome/000.png,cat,train\nsome/001.png,dog,b\n",
                          (heed__images_args){0}),
                HEED_DATA, "list.csv:3: expected train, val or test");
}

/* ---- what heed writes ---- */

/* A spreadsheet would run these as formulas; numbers stay numbers. */
TEST(table_formulas_are_text) {
    static const char *const cases[][2] = {
        {"=1+2", "\"'=1+2\""},     {"@SUM(A1)", "\"'@SUM(A1)\""},
        {"+cmd|x", "\"'+cmd|x\""}, {"-", "\"'-\""},
        {"-2+3", "\"'-2+3\""},     {"-1.5", "\"-1.5\""},
        {"+7e-3", "\"+7e-3\""},    {"\t=1", "\"\\x09=1\""},
        {"\r=1", "\"\\x0D=1\""},   {"a=\"b\"", "\"a=\"\"b\"\"\""},
        {"'=1", "\"'=1\""},        {"", "\"\""},
    };
    heed_ctx *c = open_ctx();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_text text = {.c = c};
        CHECK(heed_csv_put(&text, cases[i][0]));
        CHECK_TEXT(text.s, cases[i][1]);
        heed_text_free(&text);
    }
    CLOSE(c);
}
