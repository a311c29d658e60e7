/* Settings: flags, files, ranks, errors; what is written reads back. */
#include "files.h"
#include "io/io.h"

static const heed_option model_options[] = {
    {"layers", HEED_OPTION_INT, "4", 1, 96, NULL, "encoder blocks", "Model"},
    {"norm", HEED_OPTION_STRING, "post", 0, 0, "pre|post", "where the layer norm stands", "Model"},
    {"tie", HEED_OPTION_BOOL, "true", 0, 0, NULL, "share embedding and head", "Model"},
    {"lr", HEED_OPTION_REAL, "1e-3", 0, 10, NULL, "learning rate", "Training"},
    {"key-width", HEED_OPTION_INT, "", 1, 4096, NULL, "width of a key; by default width / heads",
     "Model"},
    {0}};
static const heed_option fit_options[] = {
    {"lr", HEED_OPTION_REAL, "5", 0, 10, NULL, "never seen: the first table counts", "Training"},
    {"steps", HEED_OPTION_INT, "300", 0, 1e12, NULL, "updates to do", "Training"},
    {"shift", HEED_OPTION_REAL, "0", 0, 0, NULL, "any number", "Training"},
    {"val", HEED_OPTION_STRING, "", 0, 0, NULL, "validation file", "Data"},
    {"resume-on-error", HEED_OPTION_BOOL, "false", 0, 0, NULL, "go on", "Training"},
    {0}};
static const heed_option *const tables[] = {model_options, fit_options, NULL};

TEST_IN(config_defaults_and_ranks, heed_open(NULL)) {
    heed_config *f = heed_config_new(c, tables);
    CHECK(heed_config_count(f) == 9);
    CHECK(heed_config_int(f, "layers") == 4 && heed_config_real(f, "layers") == 4);
    CHECK(heed_config_real(f, "lr") == 1e-3 && heed_config_bool(f, "tie"));
    CHECK_TEXT(heed_config_text(f, "norm"), "post");
    CHECK_TEXT(heed_config_text(f, "key-width"), "");
    CHECK(heed_config_int(f, "key-width") == 0);
    CHECK(heed_config_rank(f, "lr") == HEED_FROM_DEFAULT);
    CHECK(heed_config_set(f, "layers", "6", "--layers", HEED_FROM_FLAG));
    CHECK(heed_config_set(f, "layers", "8", "my.conf:1", HEED_FROM_FILE));
    CHECK(heed_config_int(f, "layers") == 6 && heed_config_rank(f, "layers") == HEED_FROM_FLAG);
    CHECK(heed_config_set(f, "layers", "7", "--layers", HEED_FROM_FLAG));
    CHECK(heed_config_int(f, "layers") == 7);
    CHECK(heed_config_set(f, "steps", "1e6", "--steps", HEED_FROM_FLAG));
    CHECK_TEXT(heed_config_text(f, "steps"), "1000000");
    CHECK(heed_config_set(f, "tie", "off", "--tie", HEED_FROM_FLAG) && !heed_config_bool(f, "tie"));
    CHECK_TEXT(heed_config_text(f, "tie"), "false");
    CHECK(heed_config_has(f, "val") && !heed_config_has(f, "va") && !heed_config_has(f, "valu"));
    const char *value;
    CHECK_TEXT(heed_config_at(f, 4, &value)->name, "lr");
    CHECK_TEXT(value, "1e-3");
    CHECK(!heed_config_at(f, 9, &value) && !heed_config_at(f, -1, NULL));
    CHECK_FAILS(c, heed_config_int(f, "width"), HEED_USAGE, "setting width is wrong");
    CHECK_FAILS(c, heed_config_int(f, "lr"), HEED_USAGE, "found another kind");
}

TEST_IN(config_refuses_wrong_values, heed_open(NULL)) {
    static const struct {
        const char *key, *value, *where, *why;
    } cases[] = {
        {"layers", "x", "--layers",
         "--layers is wrong: expected a whole number from 1 to 96, found \"x\""},
        {"layers", "0", "a.conf:3",
         "layers is wrong: a.conf:3: expected a whole number from 1 to 96, found \"0\""},
        {"layers", "1.5", "--layers", "found \"1.5\""},
        {"layers", "4x", "--layers", "found \"4x\""},
        {"layers", "", "--layers", "found \"\""},
        {"steps", "99999999999999999999", "--steps", "from 0 to 1000000000000, found"},
        {"lr", "nan", "--lr", "a number from 0 to 10, found \"nan\""},
        {"lr", "1e999", "--lr", "found"},
        {"shift", "inf", "--shift", "expected a number, found \"inf\""},
        {"tie", "maybe", "x:1", "expected true or false, found \"maybe\""},
        {"norm", "Pre", "--norm", "expected one of pre, post, found \"Pre\""},
        {"norm", "pre|post", "--norm", "found"},
        {"val", "a\xFF", "--val", "not UTF-8"},
        {"layer", "1", "--layer", "unknown option --layer: did you mean --layers?"},
        {"lyaers", "1", "a.conf:2", "unknown setting \"lyaers\": a.conf:2: did you mean layers?"},
        {"rope", "1", "--rope", "unknown option --rope;"},
        {"zzz", "1", "--zzz", "unknown option --zzz; hint: `--help` lists the options"},
    };
    heed_config *f = heed_config_new(c, tables);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(!heed_config_set(f, cases[i].key, cases[i].value, cases[i].where, HEED_FROM_FLAG));
        CHECK(heed_ctx_status(c) == HEED_USAGE);
        CHECK_HAS(heed_ctx_error(c), cases[i].why);
        heed_clear(c);
    }
    CHECK_FAILS(c, heed_config_set(f, "lr", "x", "a:1", HEED_FROM_FILE), HEED_DATA, "lr is wrong");
    CHECK(heed_config_int(f, "layers") == 4 && heed_config_real(f, "lr") == 1e-3);
    char *much = malloc(20001);
    memset(much, 'x', 20000);
    much[20000] = 0;
    CHECK_FAILS(c, heed_config_set(f, "val", much, "--val", HEED_FROM_FLAG), HEED_USAGE, "20000");
    free(much);
    static const heed_option broken[] = {{"n", HEED_OPTION_INT, "x", 0, 0, NULL, NULL, NULL}, {0}};
    CHECK_FAILS(c, heed_config_new(c, (const heed_option *const[]){broken, NULL}), HEED_USAGE, "n");
}

TEST_IN(config_file, heed_open(NULL)) {
    heed_config *f = heed_config_new(c, tables);
    const char *path = text_file("a.conf", "\xEF\xBB\xBF# comment\n\n  layers=5 # five\r\n"
                                           "val = \"a # b\\n\\\"c\\\"\" # note\n\tlr\t=\t2e-4\n"
                                           "norm = 'pre'\ntie=no");
    CHECK(heed__config_read(f, path, HEED_FROM_FILE));
    CHECK(heed_config_int(f, "layers") == 5 && heed_config_real(f, "lr") == 2e-4);
    CHECK_TEXT(heed_config_text(f, "val"), "a # b\n\"c\"");
    CHECK_TEXT(heed_config_text(f, "norm"), "pre");
    CHECK(!heed_config_bool(f, "tie") && heed_config_rank(f, "tie") == HEED_FROM_FILE);
    CHECK(heed__config_read(f, text_file("b.conf", "val = a#b = \"c\" \n"), HEED_FROM_FILE));
    CHECK_TEXT(heed_config_text(f, "val"), "a#b = \"c\"");
    CHECK(heed__config_read(f, text_file("c.conf", ""), HEED_FROM_FILE));
}

TEST(config_file_errors) {
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"layers = 5\nlr = 1\nlayers = 6\n", "layers is set twice: "},
        {"layers = 5\nlr = 1\nlayers = 6\n", "lines 1 and 3"},
        {"\nlayer = 5\n", "a.conf:2: did you mean layers?"},
        {"layers 5\n", "a.conf:1: expected key = value, found \"layers 5\""},
        {"= 5\n", "expected key = value"},
        {"[model]\n", "expected key = value, found \"[model]\""},
        {"\nval = \"abc\n", "a.conf:2: expected a closing quote"},
        {"val = \"a\\q\"\n", "expected one of"},
        {"val = \"a\\", "expected one of"},
        {"val = \"a\"b\n", "expected nothing behind the quoted value, found \"b\""},
        {"val = \"a\"#b\n", "expected nothing behind"},
        {"\n\nval = \xC3(\n", "a.conf:3: expected UTF-8 text, found the byte 0xC3"},
        {"layers = five", "a.conf:1: expected a whole number"},
    };
    heed_ctx *c = heed_open(NULL);
    heed_config *f = heed_config_new(c, tables);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = text_file("a.conf", cases[i].text);
        CHECK_FAILS(c, heed__config_read(f, path, HEED_FROM_FILE), HEED_DATA, cases[i].why);
    }
    const char *path = in_folder("a.conf");
    put_file(path, "lr = 1\nl\0r = 2\n", 15);
    CHECK_FAILS(c, heed__config_read(f, path, HEED_FROM_FILE), HEED_DATA,
                ":2: expected UTF-8 text");
    char *much = malloc(2 << 20);
    memset(much, '#', 2 << 20);
    put_file(path, much, 100000);
    CHECK_FAILS(c, heed__config_read(f, path, HEED_FROM_FILE), HEED_DATA, "at most 65536 bytes");
    put_file(path, much, 2 << 20);
    CHECK_FAILS(c, heed__config_read(f, path, HEED_FROM_FILE), HEED_DATA, "too large");
    free(much);
    CHECK_FAILS(c, heed__config_read(f, in_folder("none"), HEED_FROM_FILE), HEED_DATA, "none");
    CHECK_FAILS(c, heed__config_read(f, test_folder(), HEED_FROM_FILE), HEED_DATA, "a folder");
    CLOSE(c);
}

TEST_IN(config_args, heed_open(NULL)) {
    heed_config *f = heed_config_new(c, tables);
    char path[256];
    snprintf(path, sizeof path, "%s", text_file("a.conf", "layers = 9\nlr = 0.5\nsteps = 10\n"));
    char *argv[] = {
        "gpt",    "--layers",          "3",       "x.txt", "-o", "run", "--no-tie", "-c", path,
        "--lr=2", "--resume-on-error", "--shift", "-1",    "-",  "--",  "--layers"};
    int argc = sizeof argv / sizeof *argv;
    CHECK(heed_config_args(f, &argc, argv));
    CHECK(argc == 6 && !argv[6]);
    CHECK_TEXT(argv[0], "gpt");
    CHECK_TEXT(argv[1], "x.txt");
    CHECK_TEXT(argv[2], "-o");
    CHECK_TEXT(argv[3], "run");
    CHECK_TEXT(argv[4], "-");
    CHECK_TEXT(argv[5], "--layers");
    CHECK(heed_config_int(f, "layers") == 3 && heed_config_real(f, "lr") == 2);
    CHECK(heed_config_int(f, "steps") == 10 && heed_config_rank(f, "steps") == HEED_FROM_FILE);
    CHECK(!heed_config_bool(f, "tie") && heed_config_bool(f, "resume-on-error"));
    CHECK(heed_config_real(f, "shift") == -1);
}

TEST_IN(config_args_errors, heed_open(NULL)) {
    static const struct {
        const char *args[3], *why;
    } cases[] = {
        {{"--layers"},
         "--layers is wrong: expected a whole number from 1 to 96, found the end of the line"},
        {{"--val", "--tie"}, "--val is wrong: expected a text, found --tie; hint: --val=VALUE"},
        {{"--tie=false"},
         "--tie is wrong: expected no value, found =false; hint: --tie or --no-tie"},
        {{"--no-tei"}, "unknown option --no-tei: did you mean --no-tie?"},
        {{"--no-layers"}, "--no-layers is wrong: not a switch: expected --layers=VALUE"},
        {{"--nrm", "pre"}, "did you mean --norm?"},
        {{"--lrr", "1"}, "unknown option --lrr: did you mean --lr?"},
        {{"--=3"}, "unknown option --"},
        {{"---", "x"}, "unknown option ---"},
        {{"-c"},
         "-c is wrong: expected a file of settings, found the end of the line; hint: -c "
         "settings.conf"},
        {{"--layers=x"}, "--layers is wrong: expected a whole number from 1 to 96, found \"x\""},
    };
    heed_config *f = heed_config_new(c, tables);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char copy[3][40] = {""}, *argv[3];
        int argc = 0;
        for (; argc < 3 && cases[i].args[argc]; argc++) {
            snprintf(copy[argc], sizeof copy[argc], "%s", cases[i].args[argc]);
            argv[argc] = copy[argc];
        }
        CHECK_FAILS(c, heed_config_args(f, &argc, argv), HEED_USAGE, cases[i].why);
    }
}

/* Whatever text a setting holds, the written file reads back to it. */
static bool explain(void *user, const heed_config *f, const char *key, char text[HEED_EXPLAIN]) {
    bool known = strcmp(key, "n_layer") == 0 && heed_config_has(f, "layers");
    if (known) snprintf(text, HEED_EXPLAIN, ": %s", (const char *)user);
    return known;
}

TEST(config_names_of_other_programs_are_explained) {
    char words[] = "use layers";
    heed_ctx *c = heed_open(&(heed_options){.explain = explain, .user = words});
    heed_config *f = heed_config_new(c, tables);
    CHECK(!heed_config_set(f, "n_layer", "3", "a.conf:2", HEED_FROM_FILE));
    CHECK_TEXT(heed_ctx_error(c), "unknown setting \"n_layer\": a.conf:2: use layers");
    heed_clear(c);
    char *args[] = {(char[]){"--n_layer=3"}, NULL};
    int count = 1;
    CHECK(!heed_config_args(f, &count, args));
    CHECK_TEXT(heed_ctx_error(c), "unknown option --n_layer: use layers");
    heed_clear(c);
    CHECK(!heed_config_set(f, "layer", "3", NULL, HEED_FROM_FLAG));
    CHECK(strstr(heed_ctx_error(c), "did you mean layers?") != NULL);
    heed_close(c);
}

TEST_IN(config_writes_what_it_reads, heed_open(NULL)) {
    static const char *const odd[] = {
        "",      " ",      "#",        " #x",  "a #b",        "a#b",     "\"",   "'",
        "\"a\"", "'a'",    "a\nb",     "\n",   "\r",          "a\r",     "\t",   "a\tb",
        "=",     "a = b",  "\\",       "\\n",  "a\\",         "grüße ✓", "\x01", "trail ",
        " lead", "\"\\\"", "# a\n# b", "a\"b", "\xEF\xBB\xBF"};
    static const char pieces[] = "a#=\"'\\ \n\r\t";
    heed_random r = heed_random_at(7, "odd", 0, 0);
    for (uint64_t i = 0; i < 400; i++) {
        heed_config *f = heed_config_new(c, tables), *g = heed_config_new(c, tables);
        size_t fixed = sizeof odd / sizeof *odd;
        char made[9] = "";
        for (uint64_t k = 0; k < i % 9; k++)
            made[k] = pieces[heed_random_below(&r, i * 16 + k, sizeof pieces - 1)];
        const char *value = i < fixed ? odd[i] : made;
        CHECK(heed_config_set(f, "val", value, "--val", HEED_FROM_FLAG));
        CHECK(heed_config_set(f, "lr", "0.1", "--lr", HEED_FROM_FLAG));
        CHECK(heed_config_set(f, "tie", "no", "--tie", HEED_FROM_FLAG));
        heed_text out = {.c = c};
        CHECK(heed_config_write(f, &out, i % 2));
        CHECK(heed__config_read(g, text_file("w.conf", out.s), HEED_FROM_FILE));
        for (int k = 0; k < heed_config_count(f); k++) {
            const char *a, *b;
            heed_config_at(f, k, &a);
            heed_config_at(g, k, &b);
            CHECK_TEXT(b, a);
        }
        heed_text_free(&out);
        heed_config_free(f);
        heed_config_free(g);
    }
}

TEST_IN(config_written_file_explains, heed_open(NULL)) {
    heed_config *f = heed_config_new(c, tables);
    heed_text out = {.c = c};
    CHECK(heed_config_write(f, &out, true));
    CHECK_HAS(out.s,
              "# ---- Model ----\n# encoder blocks (a whole number from 1 to 96; default 4)\n"
              "layers = 4\n");
    CHECK_HAS(out.s, "(one of pre, post; default post)\nnorm = post\n");
    CHECK_HAS(out.s, "# width of a key; by default width / heads (a whole number from 1 to 4096)\n"
                     "key-width =\n");
    CHECK_HAS(out.s, "# validation file\nval =\n");
    /* key-width stands in the last row of its table, and is written with its group. */
    CHECK(strstr(out.s, "key-width") < strstr(out.s, "# ---- Training"));
    CHECK(strstr(out.s, "# ---- Training") < strstr(out.s, "# ---- Data"));
    heed_text_free(&out);
    CHECK(heed_config_write(f, &out, false));
    CHECK(strncmp(out.s, "layers = 4\nnorm = post\n", 23) == 0 && !strchr(out.s, '#'));
    heed_text_free(&out);
}

TEST_IN(config_help_is_aligned, heed_open(NULL)) {
    static const heed_option long_help[] = {
        {"a-very-long-option-name-to-break", HEED_OPTION_STRING, "", 0, 0, NULL,
         "words words words words words words words words words words words words words words",
         "G"},
        {0}};
    heed_config *f = heed_config_new(
        c, (const heed_option *const[]){model_options, fit_options, long_help, NULL});
    heed_text out = {.c = c};
    CHECK(heed_config_help(f, &out, 100));
    CHECK_HAS(out.s, "Model:\n  --layers N                    encoder blocks [4]\n");
    CHECK_HAS(out.s, "  --norm pre|post               where the layer norm stands [post]\n");
    CHECK_HAS(out.s, "  --[no-]tie                    share embedding and head [true]\n");
    CHECK_HAS(out.s,
              "--a-very-long-option-name-to-break TEXT\n                                words");
    for (char *line = out.s, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        CHECK(end - line <= 100);
    heed_text_free(&out);
    CHECK(heed_config_help(f, &out, 70));
    for (char *line = out.s, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        CHECK(end - line <= 70);
    heed_text_free(&out);
}

/* A table of other defaults leaves the order as it is. */
TEST_IN(config_defaults_of_another_table_move_nothing, heed_open(NULL)) {
    static const heed_option first[] = {{"b", HEED_OPTION_INT, "7", 0, 9, NULL, "b", "Mine"}, {0}};
    static const heed_option second[] = {{"a", HEED_OPTION_INT, "1", 0, 9, NULL, "a", "One"},
                                         {"b", HEED_OPTION_INT, "2", 0, 9, NULL, "b", NULL},
                                         {"c", HEED_OPTION_INT, "3", 0, 9, NULL, "c", "Two"},
                                         {0}};
    heed_text out = {.c = c};
    heed_config *f = heed_config_new(c, (const heed_option *const[]){first, second, NULL});
    CHECK(heed_config_write(f, &out, false));
    CHECK_TEXT(out.s, "a = 1\nb = 7\nc = 3\n");
    heed_text_free(&out);
    CHECK(heed_config_help(f, &out, 80));
    CHECK(!strstr(out.s, "Mine") && strstr(out.s, "--b") < strstr(out.s, "Two:"));
    heed_text_free(&out);
}

typedef struct {
    int blocks;
    double rate;
    const char *activation;
} block_set;
static const heed_option block_rows[] = {
    HEED_ROW(block_set, blocks, "blocks", "1", .min = 1, .max = 1e12, .help = "blocks"),
    HEED_ROW(block_set, rate, "rate", "0.5", .max = 1, .help = "rate", .group = "Blocks"),
    HEED_ROW(block_set, activation, "activation", "relu", .choices = "relu|gelu", .help = "a"),
    HEED_WHEN("rate", "activation=gelu"),
    {0}};
typedef struct {
    block_set one;
    int64_t steps;
    float beta;
    bool tie, absent;
    const char *name, *activation;
    int untouched;
    double seed;
} net_set;
static const heed_option net_rows[] = {
    HEED_ROW(net_set, activation, "activation", "gelu", .choices = "gelu|tanh", .help = "mine"),
    HEED_ROW(net_set, steps, "steps", "9007199254740993", .help = "steps", .group = "Net"),
    HEED_ROWS(net_set, one, block_rows, "blocks=3 activation=tanh"),
    HEED_ROW(net_set, beta, "beta", "0.1", .help = "beta"),
    HEED_ROW(net_set, tie, "tie", "yes", .help = "tie"),
    HEED_ROW(net_set, name, "name", "", .help = "name"),
    HEED_SHARED(net_set, seed, "seed"),
    HEED_SHARED(net_set, absent, "absent"),
    {0}};
static const heed_option seed_rows[] = {{"seed", HEED_OPTION_INT, "7", 0, 9, NULL, "seed", "Net"},
                                        {0}};

/* Members of every type; a table in a table, with other defaults and another row for one of its
 * settings; settings of other tables. */
TEST_IN(config_fills_structs, heed_open(NULL)) {
    heed_config *f = heed_config_new(c, (const heed_option *const[]){net_rows, seed_rows, NULL});
    net_set set = {.untouched = 5, .absent = true};
    heed_text out = {.c = c};
    CHECK(heed_config_set(f, "name", "a net", "--name", HEED_FROM_FLAG));
    CHECK(heed__config_bind(f, net_rows, &set));
    CHECK(set.steps == 9007199254740993 && set.beta == 0.1f && set.tie && !set.absent);
    CHECK(set.untouched == 5 && set.seed == 7 && set.one.blocks == 3 && set.one.rate == 0.5);
    CHECK_TEXT(set.name, "a net");
    CHECK_TEXT(set.activation, "tanh");
    CHECK_TEXT(set.one.activation, "tanh");
    CHECK(heed_config_write(f, &out, false));
    CHECK_TEXT(out.s,
               "steps = 9007199254740993\nblocks = 3\nseed = 7\nrate = 0.5\nactivation = tanh\n"
               "beta = 0.1\ntie = true\nname = a net\n");
    heed_text_free(&out);
    CHECK_TEXT(heed_config_default(f, "blocks"), "3");
    CHECK_TEXT(heed_option_find(net_rows, "activation")->help, "mine");
    CHECK(heed_option_find(net_rows, "rate") == &block_rows[1]);
    CHECK(!heed_option_find(net_rows, "seed") && !heed_option_find(NULL, "rate"));
    CHECK(heed_config_set(f, "rate", "0.25", "--rate", HEED_FROM_FLAG));
    CHECK_FAILS(c, heed_config_check(f), HEED_USAGE, "`rate` has no effect here");
    CHECK(heed_config_set(f, "blocks", "3000000000", "--blocks", HEED_FROM_FLAG));
    CHECK_FAILS(c, heed__config_bind(f, net_rows, &set), HEED_USAGE, "at most 2147483647");
    heed_config *other = heed_config_new(c, (const heed_option *const[]){seed_rows, NULL});
    CHECK_FAILS(c, heed__config_bind(other, net_rows, &set), HEED_USAGE, "found none");
}

/* Only what was given as a flag is refused, whatever its value. */
TEST(config_refuses_settings_without_effect) {
    static const heed_option list[] = {HEED_WHEN("layers tie", "norm=pre"),
                                       HEED_WHEN("steps", "norm=pre absent=1 shift!=0"),
                                       HEED_WHEN("key-width", "val!="),
                                       HEED_WHEN("lr", "absent=1"),
                                       {0}};
    const heed_option *const with[] = {model_options, fit_options, list, NULL};
    static const char *const given[][3] = {
        {"layers", "4", "`layers` has no effect here: expected `norm = pre`, found `norm = post`"},
        {"steps", "9",
         "`steps` has no effect here: expected `norm = pre` or `shift` other than 0, found `norm = "
         "post` and `shift = 0`"},
        {"key-width", "8", "`key-width` has no effect here: expected `val`"}};
    heed_ctx *c = heed_open(NULL);
    for (int i = 0; i < 3; i++) {
        heed_config *f = heed_config_new(c, with);
        CHECK(heed_config_check(f));
        CHECK(heed_config_set(f, given[i][0], given[i][1], "x", HEED_FROM_FILE));
        CHECK(heed_config_set(f, "lr", "2", "x", HEED_FROM_FLAG) && heed_config_check(f));
        CHECK(heed_config_set(f, given[i][0], given[i][1], "x", HEED_FROM_FLAG));
        CHECK(!heed_config_check(f) && heed_ctx_status(c) == HEED_USAGE);
        CHECK_TEXT(heed_ctx_error(c), given[i][2]);
        heed_clear(c);
        heed_config_set(f, i < 2 ? "norm" : "val", i < 2 ? "pre" : "x", "x", HEED_FROM_FILE);
        CHECK(heed_config_check(f));
        heed_config_free(f);
    }
    CHECK(!heed_config_check(NULL));
    CLOSE(c);
}

TEST(config_takes_null) {
    int argc = 1;
    char *argv[] = {"--x"};
    heed_text out = {0};
    CHECK(!heed_config_new(NULL, tables) && !heed_config_set(NULL, "a", "b", "c", HEED_FROM_FLAG));
    CHECK(!heed__config_read(NULL, "x", HEED_FROM_FILE) && !heed_config_args(NULL, &argc, argv));
    CHECK(!heed_config_int(NULL, "a") && !heed_config_bool(NULL, "a") && argc == 1);
    CHECK_TEXT(heed_config_text(NULL, "a"), "");
    CHECK(heed_config_real(NULL, "a") == 0 && heed_config_count(NULL) == 0);
    CHECK(!heed_config_has(NULL, "a") && !heed_config_write(NULL, &out, true));
    CHECK(!heed_config_help(NULL, &out, 80));
    CHECK(!heed__config_bind(NULL, net_rows, &out));
    heed_config_free(NULL);
}
