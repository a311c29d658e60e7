/* cmd_info.c -- heed info: what a file of weights or a run holds. */
#include "program.h"

#include <math.h>
#include <string.h>

static const heed_option options[] = {
    {"config", HEED_BOOL, "false", 0, 0, NULL, "print all settings of a run", "Output"},
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print one JSON object", "Output"},
    {0}};

/* Element i of an array that may be misaligned; NAN for other types than F32 and F64. */
static double element(const heed_array *a, size_t i) {
    float single;
    double twice;
    if (strcmp(a->dtype, "F32") == 0) {
        memcpy(&single, a->data + i * sizeof single, sizeof single);
        return (double)single;
    }
    if (strcmp(a->dtype, "F64") != 0) return (double)NAN;
    memcpy(&twice, a->data + i * sizeof twice, sizeof twice);
    return twice;
}

typedef struct {
    size_t count;
    double mean, deviation;
} summary;

static summary summarise(const heed_array *a) {
    summary s = {.count = 1};
    double sum = 0, squares = 0;
    for (int d = 0; d < a->dims; d++) s.count *= (size_t)a->shape[d];
    for (size_t i = 0; i < s.count; i++) sum += element(a, i);
    s.mean = sum / (double)s.count;
    for (size_t i = 0; i < s.count; i++) {
        double off = element(a, i) - s.mean;
        squares += off * off;
    }
    s.deviation = sqrt(squares / (double)s.count);
    return s;
}

static void shape_text(const heed_array *a, char *text, size_t size) {
    size_t n = (size_t)snprintf(text, size, "(");
    for (int d = 0; d < a->dims && n < size; d++)
        n += (size_t)snprintf(text + n, size - n, "%s%lld", d ? "," : "", (long long)a->shape[d]);
    if (n < size) snprintf(text + n, size - n, ")");
}

static json_t *array_json(const heed_array *a, const summary *s) {
    json_t *shape = json_array();
    for (int d = 0; d < a->dims; d++) json_array_append_new(shape, json_integer(a->shape[d]));
    return json_pack("{s:s, s:s, s:o, s:I, s:o, s:o}", "name", a->name, "dtype", a->dtype, "shape",
                     shape, "numbers", (json_int_t)s->count, "mean", json_number(s->mean),
                     "deviation", json_number(s->deviation));
}

static void print_row(const heed_array *a, const summary *s, int width) {
    char shape[96], count[32];
    shape_text(a, shape, sizeof shape);
    print_name(a->name, width, 0);
    printf("  %-14s %12s  ", shape, with_commas(count, s->count));
    if (isfinite(s->mean))
        printf("%+10.5f %10.5f\n", s->mean, s->deviation);
    else
        printf("%10s %10s  %s\n", "-", "-", a->dtype);
}

static void print_arrays(program *p, const heed_safetensors *f, const char *path) {
    bool json = heed_config_bool(p->flags, "json");
    json_t *list = json_array();
    int width = 5;
    size_t total = 0, bytes = 0;
    char n1[32], n2[32];
    for (int i = 0; i < heed_safetensors_count(f); i++) {
        int n = name_columns(heed_safetensors_at(f, i)->name, 0);
        if (n > width) width = n;
    }
    if (!json)
        printf("%-*s  %-14s %12s  %10s %10s\n", width, "name", "shape", "numbers", "mean",
               "deviation");
    for (int i = 0; i < heed_safetensors_count(f); i++) {
        const heed_array *a = heed_safetensors_at(f, i);
        summary s = summarise(a);
        total += s.count;
        bytes += a->bytes;
        if (json)
            json_array_append_new(list, array_json(a, &s));
        else
            print_row(a, &s, width);
    }
    if (json)
        print_json(p, json_pack("{s:o, s:I, s:I, s:O}", "file", json_text(path), "numbers",
                                (json_int_t)total, "bytes", (json_int_t)bytes, "tensors", list));
    else
        printf("\n%s: %s numbers in %d tensors, %s\n", path, with_commas(n1, total),
               heed_safetensors_count(f), as_bytes(n2, (double)bytes));
    json_decref(list);
}

/* A run's settings give the bound of a vocabulary; its tokenizer knows the size. */
static void print_setting(program *p, const heed_config *f, const char *dir, const char *key) {
    heed_tokenizer *k = strcmp(key, "vocab") == 0 ? heed_tokenizer_open(p->c, dir) : NULL;
    if (k)
        printf(", %s %d", key, heed_vocab_size(k));
    else
        printf(", %s %s", key, heed_config_text(f, key));
    heed_tokenizer_free(k);
}

/* What a run is: one line of its settings, or all of them. Of a model that this program does not
 * know there are the tensors. */
static bool print_settings(program *p, const char *dir) {
    static const char *const keys[] = {"layers",     "heads", "width",    "block",  "vocab",
                                       "image-size", "patch", "channels", "classes"};
    const task *k = NULL;
    heed_text text = {.c = p->c};
    heed_config *f = run_settings(p->c, dir, &k);
    bool all = heed_config_bool(p->flags, "config");
    if (!f && !k) {
        heed_log(p->c, HEED_WARN, "%s", heed_why(p->c));
        heed_clear(p->c);
    }
    if (f && all && heed_config_write(f, &text, false)) print_text(&text);
    if (f && !all) {
        printf("%s: %s", dir, k->name);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (heed_config_has(f, keys[i])) print_setting(p, f, dir, keys[i]);
        putchar('\n');
    }
    if (f) putchar('\n');
    heed_text_free(&text);
    return heed_state(p->c) == HEED_OK;
}

static void info(program *p) {
    char path[1024];
    bool folder = is_directory(p->argv[0]);
    snprintf(path, sizeof path, folder ? "%s/model.safetensors" : "%s", p->argv[0]);
    bool json = heed_config_bool(p->flags, "json");
    if (!is_file(path)) {
        heed_fail(p->c, HEED_DATA, "%s is not there: expected a run or a .safetensors file", path);
        return;
    }
    heed_safetensors *f = heed_safetensors_open(p->c, path);
    if (f && (!folder || json || print_settings(p, p->argv[0]))) print_arrays(p, f, path);
    heed_safetensors_close(f);
}

const command cmd_info = {
    .name = "info",
    .usage = "FILE",
    .help = "the parameters of a run or a .safetensors file, as a table",
    .about = "Prints name, shape, mean and deviation of every tensor of a run's best weights, or\n"
             "of a .safetensors file of any origin.",
    .examples = "  heed info runs/book\n"
                "  heed info runs/book --config\n"
                "  heed info model.safetensors --json\n",
    .options = options,
    .min = 1,
    .max = 1,
    .run = info,
};
