/* heed/io.h -- files: checkpoints, settings, arrays, pictures. Readers are safe on untrusted input.
 */
#ifndef HEED_IO_H
#define HEED_IO_H

#include <heed/params.h>
#include <heed/text.h>

HEED_EXPORT_BEGIN

/* ---- safetensors ---- */
/* Writes all entries of s atomically: to a temporary file beside path, which is fsynced and
 * renamed. The bytes equal those of the reference writer, and equal stores give equal files. */
bool heed_save(const heed_params *s, const char *path);
/* Fills all entries of s by name, from F32, F64, F16 or BF16. A missing name, an extra name or a
 * different shape is an error that names it and leaves s unchanged; a file that cannot be read to
 * its end leaves some entries filled. */
bool heed_load(heed_params *s, const char *path);
/* The same, from the bytes of such a file: weights that are part of the program. */
bool heed_load_bytes(heed_params *s, const void *bytes, size_t n);

typedef struct {
    const char *name;
    const char *dtype; /* "F32" */
    int dims;
    int64_t shape[8];
    const unsigned char *data; /* may be misaligned */
    size_t bytes, offset;      /* offset: of the data, from the end of the header */
} heed_array;
typedef struct heed_safetensors heed_safetensors;
/* Any dtype of the format, at most 8 dimensions. A file that is damaged anywhere in its header, or
 * whose tensors do not tile its data, is an error. Owned by c; may be closed earlier. */
heed_safetensors *heed_safetensors_open(heed_ctx *c, const char *path);
void heed_safetensors_close(heed_safetensors *f);
int heed_safetensors_count(const heed_safetensors *f);
/* The arrays in the order of their data; NULL if index is out of range. */
const heed_array *heed_safetensors_at(const heed_safetensors *f, int index);

/* ---- settings ---- */
typedef enum {
    HEED_OPTION_INT,
    HEED_OPTION_REAL,
    HEED_OPTION_BOOL,
    HEED_OPTION_STRING
} heed_option_kind;
/* A row defines a flag, its config key, allowed values, help and default. A table ends with {0}. */
typedef struct heed_option {
    const char *name; /* "key-width": --key-width, and key-width = in a file */
    heed_option_kind kind;
    const char *value; /* default, as text; "" none */
    double min, max;   /* for numbers, inclusive; both 0: any; max INFINITY: no upper limit. A text
                          with max > 1 may be given in several flags: they are joined by \x1E */
    const char *choices; /* of a text that is one of "pre|post"; else NULL */
    const char *help;
    const char *group; /* heading in --help and in `heed init`; NULL: as in the row before, in a
                          first row "Model" */
    /* Members that the macros below set. */
    size_t offset, size;            /* of the member that the row is bound to; size 0: to none */
    const struct heed_option *rows; /* a table whose settings stand here */
    const char *when;               /* of a condition */
} heed_option;

/* Rows bound to the members of a struct, which are filled for a model that names it as `set`:
 *
 *     typedef struct {
 *         int layers;
 *         const char *norm;
 *         block_settings mlp;
 *     } net;
 *     static const heed_option rows[] = {
 *         HEED_ROW(net, layers, "layers", "2", .min = 1, .max = 64, .help = "blocks"),
 *         HEED_ROW(net, norm, "norm", "pre", .choices = "pre|post", .help = "where it is"),
 *         HEED_ROWS(net, mlp, block_rows, "activation=relu"),
 *         HEED_WHEN("layers", "norm=pre"),
 *         {0}};
 *
 * The kind is that of the member: int64_t or int; double or float; bool; const char *. A member of
 * another type does not compile. */
#define HEED_ROW(type, member, key, initial, ...)                                                  \
    { .name = key, HEED_KIND(type, member), .value = initial, __VA_ARGS__, HEED_AT(type, member) }
/* The rows of a table that is bound to the struct `member`, with other defaults for some. */
#define HEED_ROWS(type, member, table, defaults)                                                   \
    { .name = #table, .value = defaults, .offset = offsetof(type, member), .rows = table }
/* Reads a setting that another table defines: 0, false or "" if no table does. */
#define HEED_SHARED(type, member, key)                                                             \
    { .name = key, HEED_KIND(type, member), HEED_AT(type, member) }
/* A condition: the settings with these names, "hide norm-target", have an effect only if one of the
 * alternatives holds: "kind=dense|conv", one of these values; "lora!=0", any other value. One about
 * a setting that does not exist is left out. "": never. A setting in several conditions needs all.
 */
#define HEED_WHEN(names, alternatives)                                                             \
    { .name = names, .when = alternatives }

#define HEED_AT(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
#ifdef __cplusplus
#define HEED_KIND(type, member) .kind = heed__kind((decltype(((type *)0)->member) *)0)
extern "C++" {
constexpr heed_option_kind heed__kind(const int64_t *) { return HEED_OPTION_INT; }
constexpr heed_option_kind heed__kind(const int *) { return HEED_OPTION_INT; }
constexpr heed_option_kind heed__kind(const double *) { return HEED_OPTION_REAL; }
constexpr heed_option_kind heed__kind(const float *) { return HEED_OPTION_REAL; }
constexpr heed_option_kind heed__kind(const bool *) { return HEED_OPTION_BOOL; }
constexpr heed_option_kind heed__kind(const char *const *) { return HEED_OPTION_STRING; }
}
#else
#define HEED_KIND(type, member)                                                                    \
    .kind = _Generic(((type *)0)->member, int64_t: HEED_OPTION_INT, int: HEED_OPTION_INT, double: HEED_OPTION_REAL,     \
                     float: HEED_OPTION_REAL, bool: HEED_OPTION_BOOL, const char *: HEED_OPTION_STRING)
#endif

/* The first row of a table, and of the tables in it, that defines the setting; NULL: none does. */
const heed_option *heed_option_find(const heed_option *table, const char *name);

typedef struct heed_config heed_config;
/* The settings of several tables (list ended by NULL) at their defaults. If a name is in two
 * tables, the first row applies, listed at the place and in the group of the last. */
heed_config *heed_config_new(heed_ctx *c, const heed_option *const *tables);
void heed_config_free(heed_config *f);
/* Sets one value after checking it. Whole numbers may be written 1e6; a bool is true, false, yes,
 * no, on, off, 1 or 0; "" is accepted where the default is "". The error names `where` ("--lr",
 * "my.conf:12") and is HEED_DATA for a file, else HEED_USAGE. A value never overwrites one of a
 * higher rank. An unknown key is an error with a "did you mean" hint. */
typedef enum { HEED_FROM_DEFAULT, HEED_FROM_PRESET, HEED_FROM_FILE, HEED_FROM_FLAG } heed_rank;
bool heed_config_set(heed_config *f, const char *key, const char *value, const char *where,
                     heed_rank rank);
/* Sets those keys of "layers=4 heads=2 ..." that f has; at HEED_FROM_FLAG, another key is an error.
 * At HEED_FROM_DEFAULT the values become the defaults, including those that heed_config_write and
 * heed_config_help print. */
bool heed_config_set_list(heed_config *f, const char *settings, const char *where, heed_rank rank);
/* --key value, --key=value, --flag, --no-flag; -c FILE reads a file, which flags override wherever
 * they are. Everything else, and all after --, is positional and left in argv[0 .. *argc - 1], in
 * order (argv[0] is an argument like any other). A value that begins with -- must be given as
 * --key=value. A key may have _ for -: --top_k. */
bool heed_config_args(heed_config *f, int *argc, char **argv);
/* Fails with HEED_USAGE if a setting that was given as a flag has no effect, by the conditions in
 * the tables. */
bool heed_config_check(const heed_config *f);
/* A value, by kind; numbers of both kinds can be read as reals, and every value as its text. A key
 * that f does not have, or of another kind, is HEED_USAGE, and the result is 0, false or "". */
int64_t heed_config_int(const heed_config *f, const char *key);
double heed_config_real(const heed_config *f, const char *key);
bool heed_config_bool(const heed_config *f, const char *key);
/* "" if unset; valid until it is set again */
const char *heed_config_text(const heed_config *f, const char *key);
const char *heed_config_default(const heed_config *f, const char *key); /* "": none */
heed_rank heed_config_rank(const heed_config *f, const char *key);
bool heed_config_has(const heed_config *f, const char *key); /* the key exists */
int heed_config_count(const heed_config *f);
const heed_option *heed_config_at(const heed_config *f, int index, const char **value);
/* Marks these settings of f, "block batch", as chosen from the data of a training run where they
 * are at their defaults: heed_config_write then writes them as comments, and its
 * explanations and heed_config_help say so. */
void heed_config_by_data(heed_config *f, const char *keys);
const char *heed_config_group(const heed_config *f, int index); /* the heading that it is below */
/* All settings as a commented file, grouped; the same text reads back to the same settings. */
bool heed_config_write(const heed_config *f, heed_text *out, bool comments);
/* The --help lines: flag, help, default in brackets; grouped, wrapped at `width` (at least 30). */
bool heed_config_help(const heed_config *f, heed_text *out, int width);

/* ---- arrays and pictures ---- */
/* NumPy's format: '<f4' ('<f8' in the double build) for values, '<i4' for indices, C order. */
bool heed_npy_save(heed_ctx *c, const char *path, const heed_tensor *t);

HEED_EXPORT_END
#endif
