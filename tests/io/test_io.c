/* Files: what is written reads back, and nothing that is read can hurt. */
#define _DEFAULT_SOURCE /* setrlimit, link */
#include "core/core.h"
#include "core/os.h"
#include "files.h"
#include "io/io.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

/* ---- the operating system ---- */

TEST_IN(io_os_writes_whole_files, heed_open(NULL)) {
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
    CHECK(heed__os_append(c, path, "more", 4));
    data = heed__os_read(c, path, 0, &n);
    CHECK(data && n == 12);
    heed__free(data);
    CHECK(heed__os_rename(c, path, in_folder("moved")) && !heed__os_exists(path));
    CHECK(heed__os_remove(c, in_folder("a")) && !heed__os_exists(in_folder("a")));
    CHECK(heed__os_remove(c, in_folder("a")));
    CHECK(heed__os_sync_dir(c, test_folder()));
    CHECK(heed__os_cpus() >= 1);
    CHECK(heed__os_peak_memory() > 100000);
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
    CHECK_FAILS(c, heed__os_rename(c, in_folder("none"), in_folder("n")), HEED_FAILED, "none");
    text_file("file", "x");
    CHECK_FAILS(c, heed__os_make_dir(c, in_folder("file")), HEED_FAILED, "file");
    CHECK_FAILS(c, heed__os_make_dir(c, in_folder("file/x")), HEED_FAILED, "Not a directory");
    heed_fail(c, HEED_USAGE, "earlier");
    CHECK(!heed__os_read(c, in_folder("file"), 0, &n));
    CHECK(!heed__os_write(c, in_folder("file"), &piece, 1));
    CHECK_TEXT(heed_ctx_error(c), "earlier");
    heed_close(c);
}

TEST_IN(io_os_links_and_modes_stay, heed_open(NULL)) {
    const char *path = text_file("real", "old");
    CHECK(chmod(path, 0600) == 0 && symlink("real", in_folder("link")) == 0);
    heed__piece piece = {"new", 3};
    CHECK(heed__os_write(c, in_folder("link"), &piece, 1));
    struct stat st;
    CHECK(lstat(in_folder("link"), &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600 && st.st_size == 3);
}

/* A limit on file sizes stands in for a full disk. */
TEST_IN(io_os_full_disk_keeps_the_old_file, heed_open(NULL)) {
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
        CHECK_FAILS(c, heed__os_write(c, "/dev/full", &piece, 1), HEED_FAILED, "hint: free some");
    }
    free(much);
}

TEST_IN(io_os_reads_pipes, heed_open(NULL)) {
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
    size_t n;
    CHECK_FAILS(c, heed__os_read(c, "/dev/zero", 100000, &n), HEED_DATA, "at most 100000 bytes");
}

TEST(io_os_lock_has_one_holder) {
    heed__lock a = {0}, b = {0};
    const char *path = in_folder("lock");
    long holder = 0;
    CHECK(heed__os_lock(&a, path, &holder) && a.held && holder == 0);
    CHECK(!heed__os_lock(&b, path, &holder) && !b.held && holder == (long)getpid());
    heed__os_unlock(&b, path); /* holds nothing */
    CHECK(heed__os_exists(path));
    heed__os_unlock(&a, path);
    CHECK(!heed__os_exists(path) && !a.held);
    CHECK(heed__os_lock(&b, path, &holder) && b.held);
    CHECK(rename(path, in_folder("moved")) == 0); /* another file may come to stand there */
    text_file("lock", "");
    heed__os_unlock(&b, path);
    CHECK(heed__os_exists(path));
    CHECK(!heed__os_lock(&a, in_folder("none/lock"), &holder) && !a.held && holder == 0);
}

/* Who only asks leaves the file as it is, and several may ask at once. */
TEST(io_os_lock_is_asked_for_without_a_trace) {
    heed__lock k = {0};
    const char *path = in_folder("lock");
    long holder = 7;
    CHECK(!heed__os_locked(path, &holder) && holder == 0 && !heed__os_exists(path));
    text_file("lock", "12345\n");
    CHECK(!heed__os_locked(path, &holder) && holder == 0 && heed__os_exists(path));
    CHECK(heed__os_lock(&k, path, &holder));
    CHECK(heed__os_locked(path, &holder) && holder == (long)getpid());
    heed__os_unlock(&k, path);
}

TEST(io_os_unlock_leaves_the_folder_of_another) {
    heed__lock k = {0};
    long holder;
    const char *folder = in_folder("run");
    CHECK(mkdir(folder, 0777) == 0);
    CHECK(heed__os_lock(&k, in_folder("run/lock"), &holder));
    text_file("run/other", "");
    heed__os_unlock_folder(&k, in_folder("run"), in_folder("run/lock"));
    CHECK(heed__os_exists(in_folder("run/other")) && !heed__os_exists(in_folder("run/lock")));
    CHECK(unlink(in_folder("run/other")) == 0 && heed__os_lock(&k, in_folder("run/lock"), &holder));
    heed__os_unlock_folder(&k, in_folder("run"), in_folder("run/lock"));
    CHECK(!heed__os_exists(in_folder("run")));
}

#ifdef __linux__
static double quota_of(const char *table) {
    return heed__os_quota(text_file("table", table), in_folder("."));
}

TEST(io_os_quota_of_both_versions) {
    static const char *const folders[] = {"a", "a/b", "cpu", "cpu/c", "cpu/c/d"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        CHECK(mkdir(in_folder(folders[i]), 0777) == 0);
    text_file("a/cpu.max", "250000 100000\n");
    text_file("a/b/cpu.max", "max 100000\n");
    text_file("cpu/c/cpu.cfs_quota_us", "400000\n");
    text_file("cpu/c/cpu.cfs_period_us", "100000\n");
    text_file("cpu/c/d/cpu.cfs_quota_us", "-1\n");
    text_file("cpu/c/d/cpu.cfs_period_us", "100000\n");
    CHECK(quota_of("0::/a/b\n") == 3); /* that of the parent */
    CHECK(quota_of("0::/\n") == 1e9);
    CHECK(quota_of("4:cpu,cpuacct:/c/d\n") == 4 && quota_of("4:cpuacct,cpu:/c\n") == 4);
    CHECK(quota_of("4:cpu:/c\n0::/a\n") == 3); /* both are mounted */
    CHECK(quota_of("4:memory,cpuset:/c\n5:cpuacct:/c\n6:cpuset,cpus:/c\n") == 1e9);
}
#endif

/* A process that has come to its end; with a lock: killed while it held it. */
static pid_t past_process(const char *lock) {
    pid_t child = fork();
    if (child == 0) {
        heed__lock k = {0};
        long holder;
        if (lock && heed__os_lock(&k, lock, &holder)) kill(getpid(), SIGKILL);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    return child;
}

TEST(io_os_lock_of_a_killed_process_is_free) {
    const char *path = in_folder("lock");
    past_process(path);
    CHECK(heed__os_exists(path));
    heed__lock k = {0};
    long holder;
    CHECK(heed__os_lock(&k, path, &holder) && k.held);
    heed__os_unlock(&k, path);
    CHECK(!heed__os_exists(path));
}

TEST(io_os_sweeps_what_dead_processes_left) {
    char gone[64], alive[64], other[64];
    long dead = (long)past_process(NULL);
    snprintf(gone, sizeof gone, ".heed-%ld-3.tmp", dead);
    snprintf(alive, sizeof alive, ".heed-%ld-3.tmp", (long)getpid());
    snprintf(other, sizeof other, ".heed-%ld-3.tmp2", dead);
    text_file(gone, "half");
    text_file(alive, "half");
    text_file(other, "mine");
    text_file("heed-1-1.tmp", "mine");
    heed__os_sweep(test_folder());
    heed__os_sweep(in_folder("none"));
    CHECK(!heed__os_exists(in_folder(gone)));
    CHECK(heed__os_exists(in_folder(alive)) && heed__os_exists(in_folder(other)));
    CHECK(files_in_folder() == 3);
}

/* ---- texts ---- */

TEST_IN(io_text_grows, heed_open(NULL)) {
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
}

TEST_IN(io_text_is_saved_whole, heed_open(&(heed_options){.threads = 1})) {
    heed_text t = {.c = c}, empty = {.c = c};
    char path[512], none[600];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/a.txt", test_folder());
    snprintf(none, sizeof none, "%s/none/a.txt", test_folder());
    CHECK(heed_text_put(&t, "a\0b\n", 4) && heed_text_save(&t, path));
    char *back = heed_text_read(c, path, &n);
    CHECK(back == NULL); /* a NUL: written as it is, and no text */
    heed_clear(c);
    CHECK(heed_text_save(&empty, path));
    CHECK(!heed_text_save(&t, none));
    CHECK_HAS(heed_ctx_error(c), "none/a.txt");
    CHECK(!heed_text_save(NULL, path) && !heed_text_save(&t, NULL));
    heed_clear(c);
    heed_text_free(&t);
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

/* ---- JSON and CSV ---- */

TEST_IN(io_json_is_strict, heed_open(NULL)) {
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{\"a\": 1,\n \"a\": 2}", "line 2, column"},
        {"{\"a\": 1} x", "line 1"},
        {"", "line 1"},
        {"{\"a\": \"\xFF\"}", "not valid JSON"},
        {"[1, 2", "not valid JSON"},
        {"{\"a\": 01}", "not valid JSON"},
        {"{a: 1}", "not valid JSON"},
        {"nan", "not valid JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = text_file("a.json", cases[i].text);
        CHECK_FAILS(c, heed__json_read(c, path), HEED_DATA, cases[i].why);
    }
    char deep[8192];
    memset(deep, '[', sizeof deep);
    CHECK_FAILS(c, heed__json_parse(c, "deep", deep, sizeof deep), HEED_DATA,
                "deep is not valid JSON");
    json_t *value = json_pack("{s:i, s:[f, b, n], s:s}", "step", 12, "x", 0.1, 1, "ü", "✓\n");
    const char *path = in_folder("b.json");
    CHECK(heed__json_write(c, path, value));
    json_t *again = heed__json_read(c, path);
    CHECK(json_equal(value, again));
    CHECK(json_real_value(json_array_get(json_object_get(again, "x"), 0)) == 0.1);
    json_decref(value);
    json_decref(again);
    CHECK_FAILS(c, heed__json_write(c, path, NULL), HEED_FAILED, "out of memory");
}

TEST_IN(io_csv_lines_are_appended_and_cut_back, heed_open(NULL)) {
    const char *path = in_folder("m.csv"), *header = "step,split,loss";
    CHECK(heed__csv_cut(c, path, 3, ",test,")); /* nothing there yet */
    CHECK(heed__csv_append(c, path, header, "1,train,0.5"));
    CHECK(heed__csv_append(c, path, header, "2,val,"));
    CHECK(heed__csv_append(c, path, header, "10,train,2e-3"));
    CHECK(heed__csv_append(c, path, header, "2,test,1"));
    CHECK(heed__os_append(c, path, "11,tra", 6));
    CHECK(heed__csv_cut(c, path, 2, ",test,"));
    size_t n;
    unsigned char *text = heed__os_read(c, path, 0, &n);
    CHECK_TEXT((char *)text, "step,split,loss\n1,train,0.5\n2,val,\n");
    heed__free(text);
    CHECK(heed__csv_cut(c, text_file("torn", "step,lo"), 2,
                        ",test,")); /* killed within its first write */
    CHECK(heed__csv_append(c, in_folder("torn"), "step", "1"));
    text = heed__os_read(c, in_folder("torn"), 0, &n);
    CHECK_TEXT((char *)text, "step\n1\n");
    heed__free(text);
}

/* ---- arrays and pictures ---- */

#ifdef HEED_F64
#define REAL "<f8"
#else
#define REAL "<f4"
#endif

static heed_tensor tensor_of(heed_real *x, int32_t *i, int dims, int a, int b) {
    int shape[2] = {dims > 0 ? a : 1, dims > 1 ? b : 1};
    return (heed_tensor){.dims = dims,
                         .shape = {shape[0], shape[1], 1, 1},
                         .x = x,
                         .i = i,
                         .size = (size_t)(shape[0] * shape[1])};
}

/* As numpy.save writes it, version 1.0. */
static void check_npy(const unsigned char *file, size_t n, const char *dict, const void *data,
                      size_t bytes) {
    CHECK(n == 128 + bytes && memcmp(file, "\x93NUMPY\x01\x00\x76\x00", 10) == 0);
    CHECK(strncmp((const char *)file + 10, dict, strlen(dict)) == 0);
    for (size_t i = 10 + strlen(dict); i < 127; i++) CHECK(file[i] == ' ');
    CHECK(file[127] == '\n' && memcmp(file + 128, data, bytes) == 0);
}

TEST(io_npy_bytes) {
    static const char *const shapes[] = {"()", "(6,)", "(2, 3)"};
    heed_ctx *c = heed_open(NULL);
    heed_real x[6] = {1, 2, 3, 4, 5, 6};
    int32_t index[2] = {-1, 7};
    char dict[128];
    size_t n;
    for (int dims = 0; dims < 3; dims++) {
        heed_tensor t = tensor_of(x, NULL, dims, dims == 1 ? 6 : 2, 3);
        CHECK(heed_npy_save(c, in_folder("a.npy"), &t));
        unsigned char *file = heed__os_read(c, in_folder("a.npy"), 0, &n);
        snprintf(dict, sizeof dict, "{'descr': '" REAL "', 'fortran_order': False, 'shape': %s, }",
                 shapes[dims]);
        check_npy(file, n, dict, x, t.size * sizeof *x);
        heed__free(file);
    }
    heed_tensor t = tensor_of(NULL, index, 1, 2, 1);
    CHECK(heed_npy_save(c, in_folder("a.npy"), &t));
    unsigned char *file = heed__os_read(c, in_folder("a.npy"), 0, &n);
    check_npy(file, n, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", index, 8);
    heed__free(file);
    CHECK_FAILS(c, heed_npy_save(c, test_folder(), &t), HEED_FAILED, "found a folder");
    CHECK(!heed_npy_save(c, in_folder("b"), NULL) && !heed_npy_save(NULL, in_folder("b"), &t));
    CLOSE(c);
}

static uint32_t number_at(const unsigned char *p) {
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* The directory at the end leads to both members, whose check sums hold. */
TEST_IN(io_npz_is_a_zip_archive, heed_open(NULL)) {
    heed_real x[6] = {1, 2, 3, 4, 5, 6};
    int32_t index[2] = {-1, 7};
    heed_tensor a = tensor_of(x, NULL, 2, 2, 3), b = tensor_of(NULL, index, 1, 2, 1);
    const heed_tensor *tensors[] = {&a, &b};
    const char *names[] = {"weights", "größe/b"}, *path = in_folder("a.npz");
    CHECK(heed__npz_save(c, path, 2, names, tensors));
    size_t n;
    unsigned char *file = heed__os_read(c, path, 0, &n);
    const unsigned char *end = file + n - 22, *entry = file + number_at(end + 16);
    CHECK(memcmp(end, "PK\5\6", 4) == 0 && end[8] == 2 && end[10] == 2);
    CHECK(entry + number_at(end + 12) == end);
    for (int i = 0; i < 2; i++) {
        CHECK(memcmp(entry, "PK\1\2", 4) == 0);
        size_t name = strlen(names[i]) + 4, size = number_at(entry + 24);
        const unsigned char *local = file + number_at(entry + 42), *data = local + 30 + name;
        CHECK(memcmp(local, "PK\3\4", 4) == 0 && memcmp(local + 4, entry + 6, 26) == 0);
        CHECK(entry[28] == name && memcmp(entry + 46, names[i], name - 4) == 0);
        CHECK(memcmp(local + 30, entry + 46, name) == 0 && memcmp(data - 4, ".npy", 4) == 0);
        CHECK(size == 128 + (i ? sizeof index : sizeof x) && number_at(entry + 20) == size);
        CHECK(crc32(0, data, (uInt)size) == number_at(entry + 16));
        entry += 46 + name;
    }
    CHECK(entry == end);
    heed__free(file);
    CHECK(heed__npz_save(c, path, 0, NULL, NULL));
    CHECK_FAILS(c, heed__npz_save(c, path, 2, (const char *[]){"a", "a"}, tensors), HEED_USAGE,
                "twice");
    CHECK_FAILS(c, heed__npz_save(c, path, -1, names, tensors), HEED_USAGE, "found -1");
    tensors[1] = NULL;
    CHECK_FAILS(c, heed__npz_save(c, path, 2, names, tensors), HEED_USAGE,
                "expected name and data");
}

/* The only chunk of image data, inflated: rows of a filter byte and 3 * width bytes. */
static uLongf inflate_png(const unsigned char *file, size_t n, unsigned char *out,
                          uLongf capacity) {
    uint32_t length = (uint32_t)file[33] << 24 | (uint32_t)file[34] << 16 |
                      (uint32_t)file[35] << 8 | (uint32_t)file[36];
    CHECK(memcmp(file + 37, "IDAT", 4) == 0 && 41 + length + 4 + 12 == n);
    CHECK(uncompress(out, &capacity, file + 41, length) == Z_OK);
    return capacity;
}

/* The filters of PNG (RFC 2083, sec. 6), undone in place. */
static void unfilter(unsigned char *rows, int width, int height) {
    int step = 3 * width + 1;
    for (int y = 0; y < height; y++)
        for (int i = 1; i < step; i++) {
            unsigned char *p = rows + y * step + i;
            int a = i > 3 ? p[-3] : 0, b = y ? p[-step] : 0, d = i > 3 && y ? p[-step - 3] : 0;
            int pa = abs(b - d), pb = abs(a - d), pd = abs(a + b - 2 * d);
            int paeth = pa <= pb && pa <= pd ? a : pb <= pd ? b : d;
            const int add[] = {0, a, b, (a + b) / 2, paeth};
            *p = (unsigned char)(*p + add[rows[y * step]]);
        }
}

TEST_IN(io_png_reads_back, heed_open(NULL)) {
    enum { W = 37, H = 19 };
    unsigned char rgb[H][3 * W], rows[H][3 * W + 1];
    heed_random r = heed_random_at(1, "png", 0, 0);
    for (int y = 0; y < H; y++)
        for (int i = 0; i < 3 * W; i++)
            rgb[y][i] =
                (unsigned char)(y < 9 ? 7 * y + i / 3
                                      : (int)heed_random_below(&r, (uint64_t)(y * 3 * W + i), 256));
    CHECK(heed__png_save(c, in_folder("a.png"), rgb[0], W, H));
    size_t n;
    unsigned char *file = heed__os_read(c, in_folder("a.png"), 0, &n);
    static const unsigned char head[] = {0x89, 'P', 'N', 'G', 13,  10,  26, 10, 0, 0,
                                         0,    13,  'I', 'H', 'D', 'R', 0,  0,  0, W,
                                         0,    0,   0,   H,   8,   2,   0,  0,  0};
    CHECK(n > 60 && memcmp(file, head, sizeof head) == 0);
    CHECK(inflate_png(file, n, rows[0], sizeof rows) == sizeof rows);
    unfilter(rows[0], W, H);
    for (int y = 0; y < H; y++) CHECK(memcmp(rows[y] + 1, rgb[y], 3 * W) == 0);
    heed__free(file);
    CHECK_FAILS(c, heed__png_save(c, in_folder("b"), rgb[0], 0, 5), HEED_USAGE, "found 0 x 5");
    CHECK_FAILS(c, heed__png_save(c, in_folder("b"), rgb[0], 20000, 20000), HEED_USAGE,
                "at most 268435456 pixels");
    CHECK_FAILS(c, heed__png_save(c, test_folder(), rgb[0], W, H), HEED_FAILED, "a folder");
    CHECK(!heed__png_save(c, in_folder("b"), NULL, 1, 1) && !heed__os_exists(in_folder("b")));
}
