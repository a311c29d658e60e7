/* Files: what is written reads back, and nothing that is read can hurt. */
#define _DEFAULT_SOURCE /* setrlimit, link */
#include "core/core.h"
#include "core/os.h"
#include "files.h"
#include "io/io.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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
