/* Checkpoint files: verdicts of the reader (those of the reference reader), bytes of the writer. */
#define _DEFAULT_SOURCE /* truncate */
#include "core/core.h"
#include "core/os.h"
#include "files.h"
#include "io/io.h"

#include <unistd.h>

#ifdef HEED_F64
#define DTYPE "F64"
enum { WORD = 8 };
#else
#define DTYPE "F32"
enum { WORD = 4 };
#endif

/* Length, header, then `bytes` bytes 0, 1, 2 ... as a file in memory. */
static unsigned char *make_file(const char *header, size_t header_n, size_t bytes, size_t *n) {
    *n = 8 + header_n + bytes;
    unsigned char *file = heed__alloc(NULL, *n);
    uint64_t length = header_n;
    memcpy(file, &length, 8);
    memcpy(file + 8, header, header_n);
    for (size_t i = 0; i < bytes; i++) file[8 + header_n + i] = (unsigned char)i;
    return file;
}

static heed_safetensors *parse(heed_ctx *c, const char *header, size_t bytes) {
    size_t n;
    unsigned char *file = make_file(header, strlen(header), bytes, &n);
    return heed__safetensors_parse(c, "file", file, n);
}

#define A      "{\"a\":{\"dtype\":\"F32\",\"shape\":"
#define B      ",\"b\":{\"dtype\":\"F32\",\"shape\":"
#define AT(ab) ",\"data_offsets\":[" ab "]}"

TEST(safetensors_accepts) {
    static const struct {
        const char *header;
        size_t bytes;
        int count;
    } cases[] = {
        {"{}", 0, 0},
        {"{\"__metadata__\":{\"k\":\"v\"}}", 0, 0},
        {"{\"__metadata__\":null,\"a\":{\"dtype\":\"F32\",\"shape\":[1]" AT("0,4") "}", 4, 1},
        {A "[2]" AT("0,8") "}", 8, 1},
        {" \n\t" A "[2]" AT("0,8") "}   \n", 8, 1},
        {A "[]" AT("0,4") "}", 4, 1},
        {A "[0,7]" AT("0,0") "}", 0, 1},
        {A "[0,4611686018427387904,4]" AT("0,0") "}", 0, 1},
        {A "[1]" AT("4,8") B "[1]" AT("0,4") "}", 8, 2},
        {A "[0]" AT("4,4") B "[1]" AT("0,4") "}", 4, 2},
        {A "[0]" AT("0,0") B "[1]" AT("0,4") "}", 4, 2},
        {A "[1],\"x\":[1,{\"y\":null}]" AT("0,4") "}", 4, 1},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]" AT("0,1") B "[1]" AT("1,5") "}", 5, 2},
        {"{\"a\":{\"dtype\":\"F4\",\"shape\":[4]" AT("0,2") "}", 2, 1},
        {"{\"a\":{\"dtype\":\"F8_E8M0\",\"shape\":[3]" AT("0,3") "}", 3, 1},
        {"{\"\":{\"dtype\":\"C64\",\"shape\":[1]" AT("0,8") "}", 8, 1},
        {A "[1,1,1,1,1,1,1,1]" AT("0,4") "}", 4, 1},
    };
    heed_ctx *c = heed_open(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_safetensors *f = parse(c, cases[i].header, cases[i].bytes);
        if (!f) test_fail(__FILE__, __LINE__, "%s: %s", cases[i].header, heed_ctx_error(c));
        CHECK(heed_safetensors_count(f) == cases[i].count);
        heed_clear(c);
    }
    CLOSE(c);
}

TEST(safetensors_rejects) {
    static const struct {
        const char *header;
        size_t bytes;
        const char *why;
    } cases[] = {
        {"", 0, "not valid JSON"},
        {"[]", 0, "not a JSON object"},
        {"null", 0, "not a JSON object"},
        {"{}", 1, "bytes follow the last tensor"},
        {A "[2]" AT("0,8") "}", 9, "bytes follow the last tensor"},
        {A "[2]" AT("0,8") "}", 7, "tensor \"a\": its data_offsets lie outside of the file"},
        {A "[2]" AT("0,8") B "[1]" AT("9,13") "}", 13,
         "tensor \"b\" overlaps another one or leaves"},
        {A "[2]" AT("0,8") B "[2]" AT("4,12") "}", 12,
         "tensor \"b\" overlaps another one or leaves"},
        {A "[1]" AT("4,8") "}", 8, "leaves a hole"},
        {A "[0]" AT("2,2") B "[1]" AT("0,4") "}", 4, "leaves a hole"},
        {A "[3]" AT("0,8") "}", 8, "do not fit dtype and shape"},
        {A "[4294967296,4294967296,4]" AT("0,8") "}", 8, "do not fit dtype and shape"},
        {A "[4611686018427387904]" AT("0,0") "}", 0, "do not fit dtype and shape"},
        {A "[4611686018427387904,8,0]" AT("0,0") "}", 0, "do not fit dtype and shape"},
        {A "[-1]" AT("0,4") "}", 4, "tensor \"a\": expected a shape"},
        {A "[1.0]" AT("0,4") "}", 4, "expected a shape"},
        {A "[1e0]" AT("0,4") "}", 4, "expected a shape"},
        {A "[\"1\"]" AT("0,4") "}", 4, "expected a shape"},
        {A "null" AT("0,4") "}", 4, "expected a shape"},
        {A "[1,1,1,1,1,1,1,1,1]" AT("0,4") "}", 4, "at most 8"},
        {A "[1]" AT("0,4,4") "}", 4, "data_offsets of two whole numbers"},
        {A "[1]" AT("4") "}", 4, "data_offsets of two whole numbers"},
        {A "[1]" AT("-4,0") "}", 4, "data_offsets of two whole numbers"},
        {A "[1]" AT("4,0") "}", 4, "lie outside of the file"},
        {A "[99999999999999999999]" AT("0,4") "}", 4, "not valid JSON"},
        {A "[1]}}", 4, "data_offsets"},
        {"{\"a\":{\"shape\":[1]" AT("0,4") "}", 4, "known dtype"},
        {"{\"a\":{\"dtype\":\"f32\",\"shape\":[1]" AT("0,4") "}", 4, "known dtype"},
        {"{\"a\":{\"dtype\":\"F4\",\"shape\":[3]" AT("0,2") "}", 2, "do not fit"},
        {"{\"a\":null}", 0, "known dtype"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "__metadata__ holds a value that is not a text"},
        {"{\"__metadata__\":[]}", 0, "__metadata__ is not an object"},
        {A "[1]" AT("0,4") ",\"a\":{}}", 4, "duplicate object key near '\"a\"'"},
        {"{\"a\xFF\":{\"dtype\":\"F32\",\"shape\":[1]" AT("0,4") "}", 4, "not valid JSON"},
        {A "[1]" AT("0,4") ",}", 4, "not valid JSON"},
        {A "[1]" AT("0,4") "}x", 4, "safetensors header of file is not valid JSON: line 1, column"},
    };
    heed_ctx *c = heed_open(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (parse(c, cases[i].header, cases[i].bytes))
            test_fail(__FILE__, __LINE__, "accepts %s", cases[i].header);
        CHECK(heed_ctx_status(c) == HEED_DATA);
        CHECK_HAS(heed_ctx_error(c), cases[i].why);
        CHECK_HAS(heed_ctx_error(c), "file");
        heed_clear(c);
    }
    CLOSE(c);
}

TEST_IN(safetensors_rejects_wrong_lengths, heed_open(NULL)) {
    static const uint64_t lengths[] = {3, 1000, 100000001, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t n;
        unsigned char *file = make_file("{}", 2, 0, &n);
        memcpy(file, &lengths[i], 8);
        CHECK_FAILS(c, heed__safetensors_parse(c, "file", file, n), HEED_DATA, "longer than");
    }
    size_t n;
    unsigned char *file = make_file("{}\0\0", 4, 0, &n); /* padded with NULs */
    CHECK_FAILS(c, heed__safetensors_parse(c, "file", file, n), HEED_DATA, "not valid JSON");
    for (n = 0; n < 8; n++)
        CHECK_FAILS(c, heed__safetensors_parse(c, "file", heed__alloc(c, n), n), HEED_DATA,
                    "expected at least 8 bytes");
    CHECK_FAILS(c, heed_safetensors_open(c, test_folder()), HEED_DATA, "found a folder");
    CHECK(!heed_safetensors_open(c, NULL) && !heed_safetensors_open(NULL, "x"));
}

TEST_IN(safetensors_gives_arrays_and_metadata, heed_open(NULL)) {
    heed_safetensors *f =
        parse(c,
              "{\"__metadata__\":{\"k\":\"\\u00fc\"},\"b\":{\"dtype\":\"U8\",\"shape\":[3]" AT(
                  "2,5") ",\"a\":{\"dtype\":\"I16\",\"shape\":[1,1]" AT("0,2") "}",
              5);
    const heed_array *a = heed__safetensors_find(f, "b");
    CHECK(a && a->bytes == 3 && a->data[0] == 2 && a->dims == 1 && a->shape[0] == 3);
    CHECK_TEXT(a->dtype, "U8");
    CHECK_TEXT(heed_safetensors_at(f, 0)->name, "a"); /* in the order of the data */
    CHECK(heed_safetensors_at(f, 1) == a && !heed_safetensors_at(f, 2) &&
          !heed_safetensors_at(f, -1));
    CHECK(!heed__safetensors_find(f, "__metadata__") && !heed__safetensors_find(f, NULL));
    CHECK_TEXT(heed__safetensors_meta(f, "k"), "ü");
    CHECK(!heed__safetensors_meta(f, "none") && !heed__safetensors_meta(NULL, "k"));
    heed_safetensors_close(f);
    heed_safetensors_close(NULL);
    CHECK(heed_safetensors_count(NULL) == 0 && !heed_safetensors_at(NULL, 0));
}

/* ---- saving and loading stores ---- */

static heed_params *store_of(heed_ctx *c, double start) {
    heed_params *s = heed_params_new(c);
    heed_param_new(s, "z", "zero", 2, (int[]){2, 3});
    heed_param_new(s, "a.weight", "zero", 1, (int[]){2});
    heed_buffer_new(s, "ü\"\n", "zero", 0, NULL);
    double value = start;
    for (int i = 0; i < heed_params_count(s); i++) {
        heed_tensor *t = heed_params_at(s, i)->tensor;
        for (size_t k = 0; k < t->size; k++) t->x[k] = (heed_real)value++;
    }
    return s;
}

static bool same_values(const heed_params *a, const heed_params *b) {
    for (int i = 0; i < heed_params_count(a); i++) {
        const heed_tensor *x = heed_params_at(a, i)->tensor, *y = heed_params_at(b, i)->tensor;
        if (memcmp(x->x, y->x, x->size * sizeof(heed_real)) != 0) return false;
    }
    return true;
}

/* The header is the one that the reference package writes for the same arrays. */
TEST_IN(safetensors_writer_bytes, heed_open(NULL)) {
    static const char *const expected[] = {
        "{\"__metadata__\":{\"format\":\"pt\"},"
        "\"a.weight\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
        "\"z\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[8,32]},"
        "\"ü\\\"\\n\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[32,36]}}",
        "{\"__metadata__\":{\"format\":\"pt\"},"
        "\"a.weight\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
        "\"z\":{\"dtype\":\"F64\",\"shape\":[2,3],\"data_offsets\":[16,64]},"
        "\"ü\\\"\\n\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[64,72]}}"};
    static const heed_real values[] = {7, 8, 1, 2, 3, 4, 5, 6, 9};
    const char *header = expected[WORD == 8];
    CHECK(heed_save(store_of(c, 1), in_folder("s")));
    size_t n, padded = (strlen(header) + 7) / 8 * 8;
    unsigned char *file = heed__os_read(c, in_folder("s"), 0, &n);
    CHECK(n == 8 + padded + sizeof values);
    CHECK(file[0] == padded % 256 && file[1] == padded / 256 && !file[2] && !file[7]);
    CHECK(memcmp(file + 8, header, strlen(header)) == 0);
    for (size_t i = strlen(header); i < padded; i++) CHECK(file[8 + i] == ' ');
    CHECK(memcmp(file + 8 + padded, values, sizeof values) == 0);
    heed__free(file);
}

TEST_IN(safetensors_writer_metadata, heed_open(NULL)) {
    heed_params *s = store_of(c, 1);
    const char *path = in_folder("s");
    CHECK(heed__save_meta(s, path, (const char *[]){"model", "gpt\t\x01", "config", "{}", NULL}));
    heed_safetensors *f = heed_safetensors_open(c, path);
    CHECK_TEXT(heed__safetensors_meta(f, "model"), "gpt\t\x01");
    CHECK_TEXT(heed__safetensors_meta(f, "config"), "{}");
    CHECK_TEXT(heed__safetensors_meta(f, "format"), "pt");
    CHECK(heed__save_meta(s, path, (const char *[]){"format", "np", NULL}));
    f = heed_safetensors_open(c, path);
    CHECK_TEXT(heed__safetensors_meta(f, "format"), "np");
    CHECK_FAILS(c, heed__save_meta(s, path, (const char *[]){"a", "1", "a", "2", NULL}), HEED_USAGE,
                "metadata key a is given twice");
    CHECK_FAILS(c, heed__save_meta(s, path, (const char *[]){"a", "\xFF", NULL}), HEED_USAGE,
                "UTF-8");
}

TEST(safetensors_store_round_trip) {
    heed_ctx *c = heed_open(NULL);
    heed_params *a = store_of(c, 1), *b = store_of(c, 100);
    heed_real *x = heed_params_at(a, 0)->tensor->x;
    x[0] = (heed_real)NAN;
    x[1] = -0.0f;
    x[2] = (heed_real)1e-40; /* denormal in single precision */
    x[3] = -(heed_real)INFINITY;
    CHECK(heed_save(a, in_folder("s")) && heed_load(b, in_folder("s")) && same_values(a, b));
    heed_params *none = heed_params_new(c);
    CHECK(heed_save(none, in_folder("n")) && heed_load(none, in_folder("n")));
    CHECK(files_in_folder() == 2);
    heed_fail(c, HEED_DIVERGED, "loss is not finite");
    CHECK(!heed_save(a, in_folder("bad")) && !heed_load(a, in_folder("s")));
    CHECK(!heed__os_exists(in_folder("bad")));
    CHECK(!heed_save(NULL, in_folder("bad")) && !heed_load(NULL, in_folder("s")));
    heed_close(c);
}

TEST_IN(safetensors_load_is_strict, heed_open(NULL)) {
    heed_params *s = store_of(c, 1), *kept = store_of(c, 1);
    const char *path = in_folder("s");
    heed_params *fewer = heed_params_new(c), *more = store_of(c, 50), *other = heed_params_new(c);
    heed_param_new(fewer, "z", "one", 2, (int[]){2, 3});
    heed_param_new(fewer, "a.weight", "one", 1, (int[]){2});
    heed_param_new(more, "b", "one", 1, (int[]){1});
    heed_param_new(other, "z", "one", 2, (int[]){3, 2});
    heed_param_new(other, "a.weight", "one", 1, (int[]){2});
    heed_param_new(other, "ü\"\n", "one", 0, NULL);
    CHECK(heed_save(fewer, path));
    CHECK_FAILS(c, heed_load(s, path), HEED_DATA, "tensor ü\"\n: expected, but not found");
    CHECK(heed_save(more, path));
    CHECK_FAILS(c, heed_load(s, path), HEED_DATA, "tensor \"b\": found, but this model has none");
    CHECK(heed_save(other, path));
    CHECK_FAILS(c, heed_load(s, path), HEED_DATA, "tensor z: expected shape (2,3), found (3,2)");
    put_file(path, "junk", 4);
    CHECK_FAILS(c, heed_load(s, path), HEED_DATA, path);
    CHECK_FAILS(c, heed_load(s, in_folder("none")), HEED_DATA, "No such file");
    CHECK(same_values(s, kept));
}

TEST_IN(safetensors_load_from_memory, heed_open(NULL)) {
    heed_params *a = store_of(c, 1), *b = store_of(c, 50);
    size_t n;
    CHECK(heed_save(a, in_folder("s")));
    unsigned char *bytes = heed__os_read(c, in_folder("s"), 0, &n);
    CHECK_FAILS(c, heed_load_bytes(b, bytes, n - 1), HEED_DATA, "weights in memory");
    CHECK_FAILS(c, heed_load_bytes(b, NULL, n), HEED_USAGE, "expected bytes, found NULL");
    CHECK_FAILS(c, heed_load_bytes(b, bytes, 0), HEED_DATA, "expected at least 8 bytes");
    CHECK(heed_load_bytes(b, bytes, n) && same_values(a, b));
    heed__free(bytes);
}

/* A file that is opened by its header is read later, and may have changed. */
TEST_IN(safetensors_values_are_read_from_the_file, heed_open(NULL)) {
    heed_params *a = store_of(c, 1), *b = store_of(c, 50);
    CHECK(heed_save(a, in_folder("s")));
    heed_safetensors *f = heed__safetensors_head(c, in_folder("s"));
    CHECK(f && heed_safetensors_count(f) == heed_params_count(a));
    CHECK(f && !heed_safetensors_at(f, 0)->data && heed_safetensors_at(f, 0)->offset == 0);
    CHECK(heed__load_parsed(b, in_folder("s"), f) && same_values(a, b));
    size_t n;
    unsigned char *file = heed__os_read(c, in_folder("s"), 0, &n);
    heed__free(file);
    CHECK(truncate(in_folder("s"), (off_t)(n - 4)) == 0);
    CHECK_FAILS(c, heed__load_parsed(b, in_folder("s"), f), HEED_DATA, "became shorter");
    heed_safetensors_close(f);
    for (size_t i = 0; i < n; i += i < 12 ? 1 : 7) {
        CHECK(truncate(in_folder("s"), (off_t)(n - 4 - i % (n - 4))) == 0);
        CHECK_FAILS(c, heed_load(b, in_folder("s")), HEED_DATA, "s");
        CHECK(heed_save(a, in_folder("s")));
    }
    CHECK_FAILS(c, heed__safetensors_head(c, "."), HEED_DATA, ".");
}

TEST_IN(safetensors_load_converts, heed_open(NULL)) {
    static const struct {
        const char *dtype;
        size_t n;
        unsigned char bytes[16];
        double a, b;
    } cases[] = {
        {"F16", 4, {0x00, 0x3C, 0x00, 0xC1}, 1, -2.5},
        {"F16", 4, {0x01, 0x00, 0xFF, 0x7B}, 5.960464477539063e-8, 65504},
        {"F16", 4, {0x00, 0x7C, 0xFF, 0x03}, INFINITY, 6.097555160522461e-5},
        {"BF16", 4, {0x80, 0x3F, 0x20, 0xC0}, 1, -2.5},
        {"F32", 8, {0, 0, 0x80, 0x3F, 0, 0, 0x20, 0xC0}, 1, -2.5},
        {"F64", 16, {0, 0, 0, 0, 0, 0, 0xF0, 0x3F, 0, 0, 0, 0, 0, 0, 0x04, 0xC0}, 1, -2.5},
    };
    heed_params *s = heed_params_new(c);
    heed_tensor *t = heed_param_new(s, "a", "zero", 1, (int[]){2});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[128];
        size_t n, k = cases[i].n;
        snprintf(header, sizeof header, "{\"a\":{\"dtype\":\"%s\",\"shape\":[2]" AT("0,%d") "}",
                 cases[i].dtype, (int)k);
        unsigned char *file = make_file(header, strlen(header), k, &n);
        memcpy(file + n - k, cases[i].bytes, k);
        put_file(in_folder("s"), file, n);
        heed__free(file);
        CHECK(heed_load(s, in_folder("s")));
        CHECK((double)t->x[0] == cases[i].a && (double)t->x[1] == cases[i].b);
    }
    size_t n;
    const char *ints = "{\"a\":{\"dtype\":\"I32\",\"shape\":[2]" AT("0,8") "}";
    unsigned char *file = make_file(ints, strlen(ints), 8, &n);
    put_file(in_folder("s"), file, n);
    heed__free(file);
    CHECK_FAILS(c, heed_load(s, in_folder("s")), HEED_DATA,
                "expected F32, F64, F16 or BF16, found I32");
}

/* Reads n bytes of file into a new store: its values are those of a after a load, else untouched.
 */
static bool load_is_whole(heed_ctx *c, const unsigned char *file, size_t n, const heed_params *a) {
    heed_params *s = store_of(c, 100), *kept = store_of(c, 100);
    heed_safetensors *f = heed__safetensors_parse(c, "d", memcpy(heed__alloc(c, n), file, n), n);
    bool ok = heed__load_parsed(s, "d", f);
    heed_status state = heed_ctx_status(c);
    heed_clear(c);
    CHECK(same_values(s, ok ? a : kept) && state == (ok ? HEED_OK : HEED_DATA));
    heed_safetensors_close(f);
    heed_params_free(s);
    heed_params_free(kept);
    return ok;
}

/* Every shorter file is refused, and every header with one bit flipped is refused or read to the
 * same values. */
TEST_IN(safetensors_damage_is_found, heed_open(NULL)) {
    heed_params *a = store_of(c, 1);
    CHECK(heed_save(a, in_folder("s")));
    size_t n;
    unsigned char *file = heed__os_read(c, in_folder("s"), 0, &n);
    for (size_t i = 0; i < n; i++) CHECK(!load_is_whole(c, file, i, a));
    int taken = 0;
    for (size_t i = 0; i < (n - 9 * WORD) * 8; i++) {
        file[i / 8] ^= (unsigned char)(1 << i % 8);
        taken += load_is_whole(c, file, n, a);
        file[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    CHECK(taken > 10 && taken < 200); /* in the metadata and the padding */
    heed__free(file);
}
