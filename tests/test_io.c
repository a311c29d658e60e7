/* Files: what is written reads back, and nothing that is read can hurt. */
#define _DEFAULT_SOURCE /* setrlimit, link */
#include "core/core.h"
#include "core/os.h"
#include "io/io.h"
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *in_folder(const char *name) {
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", test_folder(), name);
    return path[turn];
}

static void put_file(const char *path, const void *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes, 1, n, f) == n);
    if (f) fclose(f);
}

static const char *text_file(const char *name, const char *text) {
    const char *path = in_folder(name);
    put_file(path, text, strlen(text));
    return path;
}

static int files_in_folder(void) {
    DIR *d = opendir(test_folder());
    int count = 0;
    while (d && readdir(d)) count++;
    if (d) closedir(d);
    return count - 2; /* . and .. */
}

/* The context holds an error whose message has the part; forgets it. */
#define CHECK_FAILS(c, call, expected_status, part)                                                \
    do {                                                                                           \
        CHECK(!(call));                                                                            \
        CHECK(heed_state(c) == (expected_status));                                                 \
        CHECK_HAS(heed_why(c), part);                                                              \
        heed_clear(c);                                                                             \
    } while (0)

/* ---- the operating system ---- */

TEST(io_os_writes_whole_files) {
    heed_ctx *c = heed_open(NULL);
    const char *path = in_folder("a/b/file");
    CHECK(heed__os_make_dir(c, in_folder("a/b")));
    CHECK(heed__os_make_dir(c, in_folder("a/b/")));
    heed__piece pieces[] = {{"one\n", 4}, {"", 0}, {"two\0", 4}};
    CHECK(heed__os_write(c, path, pieces, 3));
    size_t n;
    unsigned char *data = heed__os_read(c, path, 8, &n);
    CHECK(data && n == 8 && memcmp(data, "one\ntwo\0", 8) == 0 && data[8] == 0);
    heed__free(data);
    CHECK_FAILS(c, heed__os_read(c, path, 7, &n), HEED_DATA, "expected at most 7 bytes, found 8");
    CHECK(heed__os_append(c, path, "more", 4) && heed__os_truncate(c, path, 10));
    data = heed__os_read(c, path, 0, &n);
    CHECK(data && n == 10);
    heed__free(data);
    CHECK(heed__os_rename(c, path, in_folder("moved")) && !heed__os_exists(path));
    CHECK(heed__os_remove(c, in_folder("a")) && !heed__os_exists(in_folder("a")));
    CHECK(heed__os_remove(c, in_folder("a")));
    CHECK(heed__os_sync_dir(c, test_folder()));
    CHECK(heed__os_cpus() >= 1);
    CHECK(heed__os_peak_memory() > 100000);
    CLOSE(c);
}

TEST(io_os_refuses_what_is_no_file) {
    heed_ctx *c = heed_open(NULL);
    heed__piece piece = {"x", 1};
    size_t n;
    CHECK_FAILS(c, heed__os_read(c, test_folder(), 0, &n), HEED_DATA, "found a folder");
    CHECK_FAILS(c, heed__os_read(c, in_folder("none"), 0, &n), HEED_DATA, "No such file");
    CHECK_FAILS(c, heed__os_write(c, test_folder(), &piece, 1), HEED_FAILED, "found a folder");
    CHECK_FAILS(c, heed__os_write(c, in_folder("none/x"), &piece, 1), HEED_FAILED, "No such file");
    CHECK_FAILS(c, heed__os_make_dir(c, "/proc/none/x"), HEED_FAILED, "/proc/none/x");
    CHECK_FAILS(c, heed__os_truncate(c, in_folder("none"), 1), HEED_FAILED, "none");
    CHECK_FAILS(c, heed__os_rename(c, in_folder("none"), in_folder("n")), HEED_FAILED, "none");
    text_file("file", "x");
    CHECK_FAILS(c, heed__os_make_dir(c, in_folder("file")), HEED_FAILED, "file");
    heed_fail(c, HEED_USAGE, "earlier");
    CHECK(!heed__os_read(c, in_folder("file"), 0, &n));
    CHECK(!heed__os_write(c, in_folder("file"), &piece, 1));
    CHECK_TEXT(heed_why(c), "earlier");
    heed_close(c);
}

TEST(io_os_links_and_modes_stay) {
    heed_ctx *c = heed_open(NULL);
    const char *path = text_file("real", "old");
    CHECK(chmod(path, 0600) == 0 && symlink("real", in_folder("link")) == 0);
    heed__piece piece = {"new", 3};
    CHECK(heed__os_write(c, in_folder("link"), &piece, 1));
    struct stat st;
    CHECK(lstat(in_folder("link"), &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600 && st.st_size == 3);
    CLOSE(c);
}

/* A limit on file sizes stands in for a full disk. */
TEST(io_os_full_disk_keeps_the_old_file) {
    heed_ctx *c = heed_open(NULL);
    const char *path = text_file("file", "old"), *lines = text_file("lines", "1\n");
    size_t n = 1 << 16;
    char *much = calloc(1, n);
    heed__piece piece = {much, n};
    struct rlimit before, small;
    CHECK(much && getrlimit(RLIMIT_FSIZE, &before) == 0);
    small = (struct rlimit){.rlim_cur = 1000, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_FAILS(c, heed__os_write(c, path, &piece, 1), HEED_FAILED, "File too large; hint: ");
    CHECK_FAILS(c, heed__os_append(c, lines, much, n), HEED_FAILED, "File too large; hint: ");
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    signal(SIGXFSZ, handler);
    CHECK(files_in_folder() == 2);
    unsigned char *data = heed__os_read(c, path, 0, &n);
    CHECK_TEXT((char *)data, "old");
    heed__free(data);
    data = heed__os_read(c, lines, 0, &n);
    CHECK_TEXT((char *)data, "1\n");
    heed__free(data);
    if (heed__os_exists("/dev/full")) {
        CHECK_FAILS(c, heed__os_append(c, "/dev/full", "x", 1), HEED_FAILED, "hint: free some");
        CHECK_FAILS(c, heed__os_write(c, "/dev/full", &piece, 1), HEED_FAILED, "hint: free some");
    }
    free(much);
    CLOSE(c);
}

TEST(io_os_reads_pipes) {
    heed_ctx *c = heed_open(NULL);
    int ends[2];
    CHECK(pipe(ends) == 0);
    char much[10000], path[64];
    memset(much, 'x', sizeof much);
    CHECK(write(ends[1], much, sizeof much) == sizeof much);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    if (heed__os_exists(path)) {
        size_t n;
        unsigned char *data = heed__os_read(c, path, 0, &n);
        CHECK(data && n == sizeof much && memcmp(data, much, n) == 0);
        heed__free(data);
    }
    close(ends[0]);
    CLOSE(c);
}

/* ---- texts ---- */

TEST(io_text_grows) {
    heed_ctx *c = heed_open(NULL);
    heed_text t = {.c = c};
    for (int i = 0; i < 1000; i++) CHECK(heed_text_add(&t, "%d,", i));
    CHECK(t.n == strlen(t.s) && t.n == 3890 && strncmp(t.s + t.n - 8, "998,999,", 8) == 0);
    CHECK(heed_text_put(&t, "a\0b", 3) && t.n == 3893 && t.s[t.n] == 0);
    heed_text_free(&t);
    CHECK(!t.s && t.c == c);
    CHECK(heed_text_put(&t, NULL, 0) && t.n == 0 && t.s[0] == 0);
    heed_text_free(&t);
    CHECK(!heed_text_put(NULL, "a", 1) && !heed_text_add(NULL, "a"));
    CHECK_FAILS(c, heed_text_put(&t, "a", SIZE_MAX), HEED_FAILED, "out of memory");
    CLOSE(c);
}

TEST(io_numbers_are_strict) {
    static const char *const good[] = {"0", "-1", "+2", "1.5", ".5", "5.", "1e3", "1E-3", "1e+3"};
    static const double value[] = {0, -1, 2, 1.5, .5, 5, 1000, .001, 1000};
    static const char *const bad[] = {"",      " 1", "1 ", "0x1", "nan",   "inf",
                                      "1e400", "1e", ".",  "1,5", "1.2.3", "--1",
                                      "1e1.5", "١",  "-",  "e5",  "1k"};
    double got;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(heed__number(good[i], &got) && got == value[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (heed__number(bad[i], &got)) test_fail(__FILE__, __LINE__, "takes \"%s\"", bad[i]);
    heed_random r = heed_random_at(1, "numbers", 0, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        double x = heed_random_normal(&r, i) * pow(10, (double)(i % 40) - 20);
        heed_text t = {0};
        CHECK(heed__put_number(&t, x) && heed__number(t.s, &got) && got == x);
        heed_text_free(&t);
    }
}

TEST(io_quotes_foreign_text) {
    char q[HEED__QUOTE];
    CHECK_TEXT(heed__quote(q, "a\nb\xFFü", 6), "\"a?b?ü\"");
    char much[300];
    memset(much, 'x', sizeof much);
    CHECK(strlen(heed__quote(q, much, sizeof much)) < HEED__QUOTE);
    CHECK_HAS(q, "x...\"");
    CHECK_TEXT(heed__quote(q, "", 0), "\"\"");
}

/* ---- settings ---- */

static const heed_option model_options[] = {
    {"layers", HEED_INT, "4", 1, 96, NULL, "encoder blocks", "Model"},
    {"norm", HEED_CHOICE, "post", 0, 0, "pre|post", "where the layer norm stands", "Model"},
    {"tie", HEED_BOOL, "true", 0, 0, NULL, "share embedding and head", "Model"},
    {"lr", HEED_REAL, "1e-3", 0, 10, NULL, "learning rate", "Training"},
    {"key-width", HEED_INT, "", 1, 4096, NULL, "width of a key; by default width / heads", "Model"},
    {0}};
static const heed_option fit_options[] = {
    {"lr", HEED_REAL, "5", 0, 10, NULL, "never seen: the first table counts", "Training"},
    {"steps", HEED_INT, "300", 0, 1e12, NULL, "updates to do", "Training"},
    {"shift", HEED_REAL, "0", 0, 0, NULL, "any number", "Training"},
    {"val", HEED_TEXT, "", 0, 0, NULL, "validation file", "Data"},
    {"resume-on-error", HEED_BOOL, "false", 0, 0, NULL, "go on", "Training"},
    {0}};
static const heed_option *const tables[] = {model_options, fit_options, NULL};

TEST(io_config_defaults_and_ranks) {
    heed_ctx *c = heed_open(NULL);
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
    CHECK_TEXT(heed_config_at(f, 3, &value)->name, "lr");
    CHECK_TEXT(value, "1e-3");
    CHECK(!heed_config_at(f, 9, &value) && !heed_config_at(f, -1, NULL));
    CHECK_FAILS(c, heed_config_int(f, "width"), HEED_USAGE, "setting width is wrong");
    CHECK_FAILS(c, heed_config_int(f, "lr"), HEED_USAGE, "found another kind");
    CLOSE(c);
}

TEST(io_config_refuses_wrong_values) {
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
        {"val", "a\xFF", "--val", "no UTF-8"},
        {"layer", "1", "--layer", "unknown option --layer: did you mean --layers?"},
        {"lyaers", "1", "a.conf:2", "unknown setting \"lyaers\": a.conf:2: did you mean layers?"},
        {"zzz", "1", "--zzz", "unknown option --zzz; hint: --help lists the options"},
    };
    heed_ctx *c = heed_open(NULL);
    heed_config *f = heed_config_new(c, tables);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(!heed_config_set(f, cases[i].key, cases[i].value, cases[i].where, HEED_FROM_FLAG));
        CHECK(heed_state(c) == HEED_USAGE);
        CHECK_HAS(heed_why(c), cases[i].why);
        heed_clear(c);
    }
    CHECK_FAILS(c, heed_config_set(f, "lr", "x", "a:1", HEED_FROM_FILE), HEED_DATA, "lr is wrong");
    CHECK(heed_config_int(f, "layers") == 4 && heed_config_real(f, "lr") == 1e-3);
    char *much = malloc(20001);
    memset(much, 'x', 20000);
    much[20000] = 0;
    CHECK_FAILS(c, heed_config_set(f, "val", much, "--val", HEED_FROM_FLAG), HEED_USAGE, "20000");
    free(much);
    static const heed_option broken[] = {{"n", HEED_INT, "x", 0, 0, NULL, NULL, NULL}, {0}};
    CHECK_FAILS(c, heed_config_new(c, (const heed_option *const[]){broken, NULL}), HEED_USAGE, "n");
    CLOSE(c);
}

TEST(io_config_file) {
    heed_ctx *c = heed_open(NULL);
    heed_config *f = heed_config_new(c, tables);
    const char *path = text_file("a.conf", "\xEF\xBB\xBF# comment\n\n  layers=5 # five\r\n"
                                           "val = \"a # b\\n\\\"c\\\"\" # note\n\tlr\t=\t2e-4\n"
                                           "norm = 'pre'\ntie=no");
    CHECK(heed_config_read(f, path, HEED_FROM_FILE));
    CHECK(heed_config_int(f, "layers") == 5 && heed_config_real(f, "lr") == 2e-4);
    CHECK_TEXT(heed_config_text(f, "val"), "a # b\n\"c\"");
    CHECK_TEXT(heed_config_text(f, "norm"), "pre");
    CHECK(!heed_config_bool(f, "tie") && heed_config_rank(f, "tie") == HEED_FROM_FILE);
    CHECK(heed_config_read(f, text_file("b.conf", "val = a#b = \"c\" \n"), HEED_FROM_FILE));
    CHECK_TEXT(heed_config_text(f, "val"), "a#b = \"c\"");
    CHECK(heed_config_read(f, text_file("c.conf", ""), HEED_FROM_FILE));
    CLOSE(c);
}

TEST(io_config_file_errors) {
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
        CHECK_FAILS(c, heed_config_read(f, path, HEED_FROM_FILE), HEED_DATA, cases[i].why);
    }
    const char *path = in_folder("a.conf");
    put_file(path, "lr = 1\nl\0r = 2\n", 15);
    CHECK_FAILS(c, heed_config_read(f, path, HEED_FROM_FILE), HEED_DATA, ":2: expected UTF-8 text");
    char *much = malloc(2 << 20);
    memset(much, '#', 2 << 20);
    put_file(path, much, 100000);
    CHECK_FAILS(c, heed_config_read(f, path, HEED_FROM_FILE), HEED_DATA, "at most 65536 bytes");
    put_file(path, much, 2 << 20);
    CHECK_FAILS(c, heed_config_read(f, path, HEED_FROM_FILE), HEED_DATA, "too large");
    free(much);
    CHECK_FAILS(c, heed_config_read(f, in_folder("none"), HEED_FROM_FILE), HEED_DATA, "none");
    CHECK_FAILS(c, heed_config_read(f, test_folder(), HEED_FROM_FILE), HEED_DATA, "a folder");
    CLOSE(c);
}

TEST(io_config_args) {
    heed_ctx *c = heed_open(NULL);
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
    CLOSE(c);
}

TEST(io_config_args_errors) {
    static const struct {
        const char *args[3], *why;
    } cases[] = {
        {{"--layers"}, "--layers is wrong: expected a value, found the end of the line"},
        {{"--val", "--tie"}, "--val is wrong: expected a value, found --tie; hint: --val=VALUE"},
        {{"--tie=false"},
         "--tie is wrong: expected no value, found =false; hint: --tie or --no-tie"},
        {{"--no-tei"}, "unknown option --no-tei: did you mean --no-tie?"},
        {{"--no-layers"}, "unknown option --no-layers: did you mean"},
        {{"--nrm", "pre"}, "did you mean --norm?"},
        {{"--lrr", "1"}, "unknown option --lrr: did you mean --lr?"},
        {{"--=3"}, "unknown option --"},
        {{"---", "x"}, "unknown option ---"},
        {{"-c"}, "-c is wrong: expected a value"},
        {{"--layers=x"}, "--layers is wrong: expected a whole number from 1 to 96, found \"x\""},
    };
    heed_ctx *c = heed_open(NULL);
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
    CLOSE(c);
}

/* Whatever text a setting holds, the written file reads back to it. */
TEST(io_config_writes_what_it_reads) {
    static const char *const odd[] = {
        "",      " ",      "#",        " #x",  "a #b",        "a#b",     "\"",   "'",
        "\"a\"", "'a'",    "a\nb",     "\n",   "\r",          "a\r",     "\t",   "a\tb",
        "=",     "a = b",  "\\",       "\\n",  "a\\",         "grüße ✓", "\x01", "trail ",
        " lead", "\"\\\"", "# a\n# b", "a\"b", "\xEF\xBB\xBF"};
    static const char pieces[] = "a#=\"'\\ \n\r\t";
    heed_ctx *c = heed_open(NULL);
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
        CHECK(heed_config_read(g, text_file("w.conf", out.s), HEED_FROM_FILE));
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
    CLOSE(c);
}

TEST(io_config_written_file_explains) {
    heed_ctx *c = heed_open(NULL);
    heed_config *f = heed_config_new(c, tables);
    heed_text out = {.c = c};
    CHECK(heed_config_write(f, &out, true));
    CHECK_HAS(out.s,
              "# ---- Model ----\n# encoder blocks (a whole number from 1 to 96; default 4)\n"
              "layers = 4\n");
    CHECK_HAS(out.s, "(one of pre, post; default post)\nnorm = post\n");
    CHECK_HAS(out.s, "key-width =\n");
    /* key-width stands in the last row of its table, and is written with its group. */
    CHECK(strstr(out.s, "key-width") < strstr(out.s, "# ---- Training"));
    CHECK(strstr(out.s, "# ---- Training") < strstr(out.s, "# ---- Data"));
    heed_text_free(&out);
    CHECK(heed_config_write(f, &out, false));
    CHECK(strncmp(out.s, "layers = 4\nnorm = post\n", 23) == 0 && !strchr(out.s, '#'));
    heed_text_free(&out);
    CLOSE(c);
}

TEST(io_config_help_is_aligned) {
    static const heed_option long_help[] = {
        {"a-very-long-option-name-to-break", HEED_TEXT, "", 0, 0, NULL,
         "words words words words words words words words words words words words words words",
         "G"},
        {0}};
    heed_ctx *c = heed_open(NULL);
    heed_config *f = heed_config_new(
        c, (const heed_option *const[]){model_options, fit_options, long_help, NULL});
    heed_text out = {.c = c};
    CHECK(heed_config_help(f, &out));
    CHECK_HAS(out.s, "Model:\n  --layers N                    encoder blocks [4]\n");
    CHECK_HAS(out.s, "  --norm pre|post               where the layer norm stands [post]\n");
    CHECK_HAS(out.s, "  --[no-]tie                    share embedding and head [true]\n");
    CHECK_HAS(out.s,
              "--a-very-long-option-name-to-break TEXT\n                                words");
    for (char *line = out.s, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        CHECK(end - line <= 100);
    heed_text_free(&out);
    CLOSE(c);
}

TEST(io_config_takes_null) {
    int argc = 1;
    char *argv[] = {"--x"};
    heed_text out = {0};
    CHECK(!heed_config_new(NULL, tables) && !heed_config_set(NULL, "a", "b", "c", HEED_FROM_FLAG));
    CHECK(!heed_config_read(NULL, "x", HEED_FROM_FILE) && !heed_config_args(NULL, &argc, argv));
    CHECK(!heed_config_int(NULL, "a") && !heed_config_bool(NULL, "a") && argc == 1);
    CHECK_TEXT(heed_config_text(NULL, "a"), "");
    CHECK(heed_config_real(NULL, "a") == 0 && heed_config_count(NULL) == 0);
    CHECK(!heed_config_has(NULL, "a") && !heed_config_write(NULL, &out, true));
    CHECK(!heed_config_help(NULL, &out));
    heed_config_free(NULL);
}

/* ---- JSON and CSV ---- */

TEST(io_json_is_strict) {
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{\"a\": 1,\n \"a\": 2}", "line 2, column"},
        {"{\"a\": 1} x", "line 1"},
        {"", "line 1"},
        {"{\"a\": \"\xFF\"}", "no valid JSON"},
        {"[1, 2", "no valid JSON"},
        {"{\"a\": 01}", "no valid JSON"},
        {"{a: 1}", "no valid JSON"},
        {"nan", "no valid JSON"},
    };
    heed_ctx *c = heed_open(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = text_file("a.json", cases[i].text);
        CHECK_FAILS(c, heed__json_read(c, path), HEED_DATA, cases[i].why);
    }
    char deep[8192];
    memset(deep, '[', sizeof deep);
    CHECK_FAILS(c, heed__json_parse(c, "deep", deep, sizeof deep), HEED_DATA,
                "deep is no valid JSON");
    json_t *value = json_pack("{s:i, s:[f, b, n], s:s}", "step", 12, "x", 0.1, 1, "ü", "✓\n");
    const char *path = in_folder("b.json");
    CHECK(heed__json_write(c, path, value));
    json_t *again = heed__json_read(c, path);
    CHECK(json_equal(value, again));
    CHECK(json_real_value(json_array_get(json_object_get(again, "x"), 0)) == 0.1);
    json_decref(value);
    json_decref(again);
    CHECK_FAILS(c, heed__json_write(c, path, NULL), HEED_FAILED, "out of memory");
    CLOSE(c);
}

TEST(io_csv_round_trip) {
    heed_ctx *c = heed_open(NULL);
    const char *path = in_folder("m.csv"), *header = "step,split,loss";
    CHECK(heed__csv_cut(c, path, 3)); /* nothing there yet */
    CHECK(heed__csv_append(c, path, header, "1,train,0.5"));
    CHECK(heed__csv_append(c, path, header, "2,val,"));
    CHECK(heed__csv_append(c, path, header, "10,train,2e-3"));
    CHECK(heed__os_append(c, path, "11,tra", 6));
    heed__csv t;
    CHECK(heed__csv_read(c, path, &t));
    CHECK(t.rows == 3 && t.cols == 3);
    int step = heed__csv_column(&t, "step"), loss = heed__csv_column(&t, "loss");
    CHECK(step == 0 && loss == 2 && heed__csv_column(&t, "los") == -1);
    CHECK(heed__csv_number(&t, 2, step) == 10 && heed__csv_number(&t, 2, loss) == 2e-3);
    CHECK(isnan(heed__csv_number(&t, 1, loss)) && isnan(heed__csv_number(&t, 1, 1)));
    CHECK(isnan(heed__csv_number(&t, 3, loss)) && isnan(heed__csv_number(&t, 0, -1)));
    CHECK_TEXT(heed__csv_text(&t, 1, 1), "val");
    heed__csv_free(&t);
    CHECK(heed__csv_cut(c, path, 2));
    size_t n;
    unsigned char *text = heed__os_read(c, path, 0, &n);
    CHECK_TEXT((char *)text, "step,split,loss\n1,train,0.5\n2,val,\n");
    heed__free(text);
    CLOSE(c);
}

TEST(io_csv_hostile) {
    heed_ctx *c = heed_open(NULL);
    heed__csv t;
    CHECK_FAILS(c, heed__csv_read(c, text_file("a", ""), &t), HEED_DATA, "no whole line");
    CHECK_FAILS(c, heed__csv_read(c, text_file("a", "a,b"), &t), HEED_DATA, "no whole line");
    CHECK_FAILS(c, heed__csv_read(c, text_file("a", "a,b\n1,2\n1,2,3\n"), &t), HEED_DATA,
                "a:3: expected 2 fields");
    CHECK(heed__csv_read(c, text_file("a", "a,b,c\r\n1\r\n\n"), &t) && t.rows == 2);
    CHECK(heed__csv_number(&t, 0, 0) == 1);
    CHECK_TEXT(heed__csv_text(&t, 0, 2), "");
    CHECK_TEXT(heed__csv_text(&t, 1, 0), "");
    heed__csv_free(&t);
    put_file(in_folder("a"), "a,b\n1\0,2\n", 9);
    CHECK_FAILS(c, heed__csv_read(c, in_folder("a"), &t), HEED_DATA, "a NUL byte");
    char wide[5000];
    memset(wide, ',', 3000);
    memset(wide + 3000, '\n', 2000);
    put_file(in_folder("a"), wide, sizeof wide);
    CHECK_FAILS(c, heed__csv_read(c, in_folder("a"), &t), HEED_DATA, "no CSV file");
    CLOSE(c);
}
