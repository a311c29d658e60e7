/* info.c -- heed info: the contents of a weights file or a run. */
#include "cli/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {SWITCH("config", "print all settings of a run", "Output"),
                                      SWITCH("json", "print one JSON object", "Output"),
                                      {0}};

/* Element i of an array that may be misaligned; NAN for types other than F32 and F64. */
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

/* ---- the table ---- */

typedef struct {
    const heed_safetensors *f;
    int count;
    summary *of; /* one for each tensor */
    const char **names;
} tensors;

enum { SHAPE, NUMBERS, MEAN, DEVIATION, TYPE, COLUMNS };
static const heed_table_column columns[] = {{"shape", 14, true},
                                            {"numbers", 11, false},
                                            {"mean", 10, false},
                                            {"deviation", 9, false},
                                            {"", 4, true}};

static void cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const tensors *t = of;
    const heed_array *a = heed_safetensors_at(t->f, row);
    const summary *s = &t->of[row];
    char n[32];
    snprintf(text, HEED_TABLE_CELL, "-");
    if (column == SHAPE) shape_text(a, text, HEED_TABLE_CELL);
    if (column == NUMBERS) snprintf(text, HEED_TABLE_CELL, "%s", heed_format_count(n, s->count));
    if (column == MEAN && isfinite(s->mean)) snprintf(text, HEED_TABLE_CELL, "%+.5f", s->mean);
    if (column == DEVIATION && isfinite(s->mean))
        snprintf(text, HEED_TABLE_CELL, "%.5f", s->deviation);
    if (column == TYPE) snprintf(text, HEED_TABLE_CELL, "%s", isfinite(s->mean) ? "" : a->dtype);
}

static bool open_tensors(heed_ctx *c, const heed_safetensors *f, tensors *t) {
    *t = (tensors){.f = f, .count = heed_safetensors_count(f)};
    t->of = allocate(c, (size_t)t->count, sizeof *t->of, "tensors");
    t->names = allocate(c, (size_t)t->count, sizeof *t->names, "tensors");
    if (!t->of || !t->names) return false;
    for (int i = 0; i < t->count; i++) {
        t->of[i] = summarise(heed_safetensors_at(f, i));
        t->names[i] = heed_safetensors_at(f, i)->name;
    }
    return true;
}

static void print_tensors(const tensors *t) {
    int width = 5, typed = 0;
    for (int i = 0; i < t->count; i++) {
        int n = heed_label_columns(t->names[i]);
        if (n > width) width = n;
        typed |= !isfinite(t->of[i].mean);
    }
    print_table(NULL, &(heed_table){.head = "name",
                                    .rows = t->count,
                                    .count = typed ? COLUMNS : TYPE,
                                    .name = width,
                                    .top = true,
                                    .flush = true,
                                    .columns = columns,
                                    .names = t->names,
                                    .cell = cell,
                                    .of = t});
}

static void print_arrays(program *p, const heed_safetensors *f, const char *path) {
    tensors t;
    size_t total = 0, bytes = 0;
    char n1[32], n2[32];
    bool ok = open_tensors(p->c, f, &t);
    json_t *list = json_array();
    for (int i = 0; ok && i < t.count; i++) {
        const heed_array *a = heed_safetensors_at(f, i);
        total += t.of[i].count;
        bytes += a->bytes;
        json_array_append_new(list, array_json(a, &t.of[i]));
    }
    if (ok && flag_on(p, "json"))
        print_json(p, json_pack("{s:o, s:I, s:I, s:O}", "file", json_text(path), "numbers",
                                (json_int_t)total, "bytes", (json_int_t)bytes, "tensors", list));
    else if (ok) {
        print_tensors(&t);
        putchar('\n');
        print_fact(0, "", "%s: %s numbers in %d tensors, %s", path, heed_format_count(n1, total),
                   t.count, heed_format_bytes(n2, (double)bytes));
    }
    json_decref(list);
    free(t.of);
    free((void *)t.names);
}

/* The side of the run's patches in pixels; 0: it has none. */
static int patch_of(const heed_run *r, const heed_config *f) {
    heed_grid grid;
    bool has = r && heed_config_has(f, "patch") && r->model->grid && r->model->grid(r->self, &grid);
    return has ? (int)heed_config_int(f, "image-size") / grid.rows : 0;
}

/* Settings give the limit of a vocabulary's size, and 0 for patches whose size follows from that of
 * the pictures; the actual sizes are those of the run. */
static void add_setting(const heed_config *f, int vocab, int patch, const char *key,
                        heed_text *line) {
    bool is_patch = strcmp(key, "patch") == 0;
    int actual = is_patch ? patch : strcmp(key, "vocab") == 0 ? vocab : 0;
    if (actual)
        heed_text_add(line, ", %s %d", key, actual);
    else if (!is_patch)
        heed_text_add(line, ", %s %s", key, heed_config_text(f, key));
}

/* Opens a run, which checks that weights, tokenizer and labels match, and prints its settings, the
 * main ones in a line or all. For an unknown model it only warns, as the tensors are still listed.
 */
static bool show_run(program *p, const char *dir, bool json) {
    static const char *const keys[] = {"layers",     "heads", "width",    "block",  "vocab",
                                       "image-size", "patch", "channels", "classes"};
    const heed_model *m = NULL;
    heed_config *f = run_settings(p->c, p->models, dir, &m);
    heed_text text = {.c = p->c};
    if (!m) {
        if (!json) heed_message(p->c, HEED_WARN, "%s", heed_ctx_error(p->c));
        heed_clear(p->c);
        return true;
    }
    heed_run *r = open_run(p, dir);
    int adapters = r ? r->adapters : 0, vocab = r ? heed_vocab_size(r->tokenizer) : 0;
    int patch = patch_of(r, f);
    close_run(p, r);
    if (!r || json) return r;
    if (flag_on(p, "config")) {
        if (heed_config_write(f, &text, false)) print_text(&text);
    } else {
        heed_text_add(&text, "%s: %s", dir, m->name);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (heed_config_has(f, keys[i])) add_setting(f, vocab, patch, keys[i], &text);
        if (*heed_config_text(f, "from"))
            heed_text_add(&text, ", from %s", heed_config_text(f, "from"));
        print_fact(0, "", "%s", text.s ? text.s : "");
        if (adapters)
            print_fact(0, "", "%d adapters of rank %s, alpha %s, at %s: %s/adapter.safetensors",
                       adapters, heed_config_text(f, "lora"), heed_config_text(f, "lora-alpha"),
                       heed_config_text(f, "lora-targets"), dir);
    }
    putchar('\n');
    heed_text_free(&text);
    return heed_ctx_status(p->c) == HEED_OK;
}

static void info(program *p) {
    char path[1024];
    bool folder = is_directory(p->argv[0]);
    if (folder)
        heed_run_file(p->argv[0], "model.safetensors", path, sizeof path);
    else
        snprintf(path, sizeof path, "%s", p->argv[0]);
    if (!is_file(path)) {
        heed_fail_input(
            p->c, p->argv[0], true,
            folder ? "%s does not exist: expected a run or a .safetensors file"
                   : "run is missing: %s: expected the folder of a run or a .safetensors file",
            path);
        return;
    }
    heed_safetensors *f = heed_safetensors_open(p->c, path);
    if (folder)
        snprintf(path, sizeof path, "%s/model.safetensors", p->argv[0]); /* as it is shown */
    if (f && (!folder || show_run(p, p->argv[0], flag_on(p, "json")))) print_arrays(p, f, path);
    heed_safetensors_close(f);
}

const command cmd_info = {
    .name = "info",
    .usage = "FILE|RUN",
    .help = "the parameters of a run or a .safetensors file, as a table",
    .about =
        "Prints name, shape, mean and deviation of every tensor of a run's best weights, or of\n"
        "any .safetensors file. For a run it also checks the digests of weights, tokenizer and\n"
        "labels.",
    .examples = "  heed info runs/book\n"
                "  heed info runs/book --config\n"
                "  heed info model.safetensors --json\n",
    .options = options,
    .opens_run = true,
    .args = {1, 1},
    .run = info,
};
