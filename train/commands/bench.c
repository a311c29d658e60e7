/* bench.c -- heed bench: training steps per second on fixed workloads. A step is forward, loss,
 * backward and AdamW, which resets the gradients to zero. */
#include "commands/workbench.h"
#include "kinds/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 8, LEAST_WARM = 3, MOST = 32 /* most workloads in a list */ };

static const heed_option options[] = {
    WORDS("workload",
          "a preset of a model that is a benchmark, such as gpt-tiny; several, comma-separated, or "
          "all if not given: a line each",
          "Workload"),
    WORDS("set", "other settings of the workload: KEY=VALUE, with blanks between them", "Workload"),
    NUMBER("seconds", "2.5", 0, 1e6, "time spent on measured steps", "Workload"),
    COUNT("min-steps", "5", 1, 1e9, "at least this many of them", "Workload"),
    NUMBER("warmup-seconds", "0.7", 0, 1e6, "time before the clock starts", "Workload"),
    NUMBER("dropout", "0", 0, 0.99, "dropout", "Workload"),
    SWITCH("post-ln", "norm after each sublayer instead of before it", "Workload"),
    SWITCH("all-rows", "compute the last block for all positions, read by the loss or not",
           "Workload"),
    SWITCH("recompute", "compute blocks again in backward instead of keeping their values",
           "Workload"),
    SWITCH("mlm-all", "mlm: loss over every position", "Workload"),
    NUMBER("lr", "0.001", 0, 1e6, "learning rate", "Workload"),
    CHOICE("precision", "fp32", "fp32|bf16",
           "of products: bf16 rounds their operands, on CPUs with AVX512-BF16", "Workload"),
    COUNT("seed", "1", 0, 9007199254740992.0, "seed of weights and dropout", "Workload"),
    SWITCH("memory-report", "also memory: weights, gradients, optimizer, one step by op", "Output"),
    SWITCH("per-op", "also time, speed and waiting of each op and each shape of a matrix product",
           "Output"),
    SWITCH("json", "print one JSON object", "Output"),
    {0}};

typedef struct {
    workbench w;
    heed_optim *optim;
    random_batch batch[BATCHES];
    double *times; /* seconds of the measured steps */
    size_t count, capacity;
    double first_loss, last_loss, first_step, start_to_first;
    heed_memory memory;    /* after the first step */
    heed_profile *profile; /* --per-op */
    double peak;           /* floating-point operations a second */
    long faults;           /* page faults of the measured steps */
    double system;         /* seconds in the kernel */
} bench;

/* The model that has the workload as a preset; NULL: none. Appends the names of all workloads,
 * separated by commas, to `all`. */
static const heed_model *find_workload(const program *p, const char *name, heed_text *all) {
    const heed_model *found = NULL;
    for (const heed_model *const *m = p->models; *m; m++)
        for (const heed_preset *q = (*m)->presets; q && q->name; q++) {
            if (!q->workload) continue;
            heed_text_add(all, "%s%s", all->n ? "," : "", q->name);
            if (!found && strcmp(q->name, name) == 0) found = *m;
        }
    return found;
}

static const heed_model *workload_model(const program *p, const char *name) {
    heed_text all = {.c = p->c};
    const heed_model *m = find_workload(p, name, &all);
    if (!m)
        heed_fail(p->c, HEED_USAGE, "--workload is wrong: expected some of %s, found %s",
                  all.s ? all.s : "none", *name ? name : "an empty name");
    heed_text_free(&all);
    return m;
}

/* Flags that are settings of the workload. value: what a switch sets; NULL: the text of the flag.
 */
static const struct {
    const char *flag, *key, *value;
} settings[] = {{"dropout", "dropout", NULL},       {"post-ln", "norm", "post"},
                {"mlm-all", "mask-share", "1"},     {"all-rows", "all-rows", "true"},
                {"recompute", "recompute", "true"}, {"lr", "lr", NULL},
                {"precision", "precision", NULL}};

static bool set_flags(program *p, heed_config *f, const char *name) {
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *flag = settings[i].flag, *key = settings[i].key, *value = settings[i].value;
        bool given = flag_given(p, flag) && (!value || flag_on(p, flag));
        if (!heed_config_has(f, key)) {
            if (given)
                return heed_fail(p->c, HEED_USAGE,
                                 "--%s has no effect here: expected a workload with the setting "
                                 "%s, found %s",
                                 flag, key, name);
        } else if (given || !value)
            heed_config_set(f, key, value ? value : flag_text(p, flag), flag,
                            given ? HEED_FROM_FLAG : HEED_FROM_PRESET);
    }
    return heed_config_set_list(f, flag_text(p, "set"), "`set`", HEED_FROM_FLAG);
}

/* Sets the model and the settings of a workload; false if some would have no effect. */
static bool set_up(program *p, workbench *w, const char *name) {
    *w = (workbench){.c = p->c, .model = workload_model(p, name), .reads = "lr precision"};
    return w->model && (w->f = workbench_config(p->c, w->model)) &&
           heed_preset_apply(p->c, w->f, w->model, name) && set_flags(p, w->f, name) &&
           workbench_check(w);
}

static bool bench_open(program *p, bench *b, const char *name) {
    if (!set_up(p, &b->w, name)) return false;
    b->memory.before = heed_memory_resident();
    if (!workbench_open(&b->w)) return false;
    heed_optim_args a = heed_optim_defaults(&heed_adamw);
    a.lr = (heed_real)heed_config_real(b->w.f, "lr");
    b->optim = heed_optim_new(b->w.store, &heed_adamw, &a);
    size_t model = heed_memory_resident();
    for (uint64_t i = 0; i < BATCHES; i++)
        if (!random_batch_make(&b->w, i, &b->batch[i])) return false;
    b->memory.before += heed_memory_resident() - model;
    return b->optim != NULL;
}

static double step(bench *b, uint64_t i) {
    heed_tape_begin(b->w.tape, HEED_TRAIN, i);
    heed_tensor *loss = b->w.model->loss(b->w.self, b->w.tape, &b->batch[i % BATCHES].b);
    heed_backward(b->w.tape, loss);
    heed_optim_step(b->optim, 1);
    return heed_ctx_status(b->w.c) == HEED_OK ? (double)loss->x[0] : (double)NAN;
}

static bool note_time(bench *b, double seconds) {
    if (b->count == b->capacity) {
        size_t capacity = b->capacity ? 2 * b->capacity : 1024;
        double *times = realloc(b->times, capacity * sizeof *times);
        if (!times)
            return heed_fail(b->w.c, HEED_FAILED,
                             "out of memory: cannot keep the times of %zu steps; hint: --seconds",
                             capacity);
        b->times = times;
        b->capacity = capacity;
    }
    b->times[b->count++] = seconds;
    return true;
}

static void measure_steps(program *p, bench *b) {
    bool bf16 = strcmp(heed_config_text(b->w.f, "precision"), "bf16") == 0;
    if (!heed_set_precision(p->c, bf16 ? HEED_BF16_IF_FASTER : HEED_FP32)) return;
    double warm = heed_config_real(p->flags, "warmup-seconds"), begin = now();
    double seconds = heed_config_real(p->flags, "seconds"), system = 0;
    size_t least = (size_t)heed_config_int(p->flags, "min-steps");
    uint64_t i = 1;
    long faults = 0;
    b->first_loss = step(b, 0);
    b->first_step = now() - begin;
    b->memory = heed_memory_of(b->w.store, b->optim, b->w.tape, b->memory.before);
    b->start_to_first = now() - p->started;
    for (begin = now();
         heed_ctx_status(p->c) == HEED_OK && (now() - begin < warm || i < LEAST_WARM);)
        step(b, i++);
    if (flag_on(p, "per-op")) {
        b->peak = heed_peak_flops(p->c, 0.05);
        b->profile = heed_profile_new(p->c);
    }
    page_faults(&faults, &system);
    for (begin = now(); heed_ctx_status(p->c) == HEED_OK && !was_interrupted(NULL) &&
                        (now() - begin < seconds || b->count < least);) {
        double start = now();
        b->last_loss = step(b, i++);
        if (!note_time(b, now() - start)) return;
    }
    page_faults(&b->faults, &b->system);
    b->faults -= faults;
    b->system -= system;
}

/* ---- where the time of the steps went: --per-op ---- */

static double get(const json_t *o, const char *key) {
    return json_number_value(json_object_get(o, key));
}
static const char *text_of(const json_t *o, const char *key) {
    return json_string_value(json_object_get(o, key));
}

static const char *const phases[HEED_PHASES] = {"outside", "forward", "backward", "optimizer"};

static json_t *row_json(const heed_profile_row *r, const char *phase, double steps, double total,
                        double peak, int threads) {
    double t = r->seconds, alone = (t - r->parallel) * (threads - 1) / threads;
    json_t *o =
        json_pack("{s:s, s:s, s:f, s:f, s:f, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f}", "op", r->op,
                  "phase", phase, "calls", (double)r->calls / steps, "ms", 1e3 * t / steps, "share",
                  t / total, "gflops", r->flops > 0 ? json_number(r->flops / t / 1e9) : json_null(),
                  "peak", r->flops > 0 ? json_number(r->flops / t / peak) : json_null(), "gb_per_s",
                  r->bytes > 0 ? json_number(r->bytes / t / 1e9) : json_null(), "waiting",
                  (r->uneven + r->sync + alone) / t, "uneven", r->uneven / t, "sync", r->sync / t,
                  "serial", (t - r->parallel) / t, "regions", (double)r->regions / steps);
    if (r->product)
        json_object_update_new(o, json_pack("{s:s, s:i, s:i, s:i}", "product", r->product, "m",
                                            r->m, "n", r->n, "k", r->k));
    return o;
}

static int by_seconds(const void *a, const void *b) {
    const heed_profile_row *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/* A row for what a phase spent outside its ops. */
static heed_profile_row rest_of(const heed_profile *f, heed_phase phase,
                                const heed_profile_row *rows, int count) {
    heed_profile_row rest = {
        .phase = phase, .op = "between ops", .seconds = heed_profile_seconds(f, phase)};
    rest.calls = heed_profile_steps(f);
    for (int i = 0; i < count; i++)
        if (rows[i].phase == phase && !rows[i].product) rest.seconds -= rows[i].seconds;
    return rest;
}

/* peak: floating-point operations a second of the machine. */
static json_t *per_op_json(const heed_profile *f, double peak, int threads) {
    const heed_profile_row *found;
    int count = heed_profile_rows(f, &found);
    double total = 0, steps = (double)heed_profile_steps(f);
    json_t *o = json_pack("{s:f, s:[], s:[], s:[]}", "peak_gflops", peak / 1e9, "phases", "ops",
                          "products");
    heed_profile_row *rows = malloc((size_t)(count + HEED_PHASES) * sizeof *rows);
    if (!rows) return o;
    for (int i = 0; i < count; i++) rows[i] = found[i];
    for (int i = 0; i < HEED_PHASES; i++) total += heed_profile_seconds(f, (heed_phase)i);
    for (int i = 0; i < HEED_PHASES; i++) {
        double seconds = heed_profile_seconds(f, (heed_phase)i);
        rows[count + i] = rest_of(f, (heed_phase)i, found, count);
        json_array_append_new(json_object_get(o, "phases"),
                              json_pack("{s:s, s:f, s:f}", "phase", phases[i], "ms",
                                        1e3 * seconds / steps, "share", seconds / total));
    }
    count += HEED_PHASES;
    qsort(rows, (size_t)count, sizeof *rows, by_seconds);
    for (int i = 0; i < count; i++)
        json_array_append_new(
            json_object_get(o, rows[i].product ? "products" : "ops"),
            row_json(&rows[i], phases[rows[i].phase], steps, total, peak, threads));
    free(rows);
    return o;
}

/* A number of a fixed width, or "-" in its place. */
static void print_number(const json_t *o, const char *key, double factor, int width, int digits) {
    const json_t *v = json_object_get(o, key);
    if (json_is_number(v))
        printf(" %*.*f", width, digits, factor * json_number_value(v));
    else
        printf(" %*s", width, "-");
}

static void print_columns(const json_t *r) {
    bool products = json_is_number(json_object_get(r, "gflops"));
    bool bytes = json_is_number(json_object_get(r, "gb_per_s"));
    print_number(r, "calls", 1, 6, 0);
    print_number(r, "ms", 1, 9, 3);
    print_number(r, "share", 100, 6, 1);
    print_number(r, products ? "gflops" : "gb_per_s", 1, 7, 1);
    printf(" %4s", products ? "GF/s" : bytes ? "GB/s" : "");
    print_number(r, "peak", 100, 6, 1);
    print_number(r, "waiting", 100, 8, 1);
    print_number(r, "uneven", 100, 7, 1);
    print_number(r, "sync", 100, 6, 1);
    print_number(r, "serial", 100, 7, 1);
    putchar('\n');
}

static const double LEAST = 0.0005; /* the share of a row that is printed */

#define COLUMNS                                                                                    \
    "  calls        ms share%%        speed  peak%% waiting%% uneven%%  sync%% serial%%\n"

static void print_per_op(const json_t *o) {
    size_t i;
    const json_t *r;
    printf("\n%.1f GFLOP/s: the machine's peak, by a loop of multiply-adds on all threads\n\n"
           "phase             ms share%%\n",
           get(o, "peak_gflops"));
    json_array_foreach(json_object_get(o, "phases"), i, r)
        printf("%-10s %9.3f %6.1f\n", text_of(r, "phase"), get(r, "ms"), 100 * get(r, "share"));
    printf("\n%-20s %-9s" COLUMNS, "op", "phase");
    json_array_foreach(json_object_get(o, "ops"), i, r) {
        if (get(r, "share") < LEAST) continue;
        printf("%-20s %-9s", text_of(r, "op"), text_of(r, "phase"));
        print_columns(r);
    }
    printf("\n%-20s %-7s %6s %6s %6s" COLUMNS, "products of", "of", "m", "n", "k");
    json_array_foreach(json_object_get(o, "products"), i, r) {
        if (get(r, "share") < LEAST) continue;
        printf("%-20s %-7s %6.0f %6.0f %6.0f", text_of(r, "op"), text_of(r, "product"), get(r, "m"),
               get(r, "n"), get(r, "k"));
        print_columns(r);
    }
}

/* ---- measurements ---- */

static double setting(const workbench *w, const char *key) {
    return heed_config_has(w->f, key) ? (double)heed_config_int(w->f, key) : (double)NAN;
}

/* The blocks' operations on `rows` sequences of `len` tokens. */
static double blocks(const workbench *w, double len) {
    double width = setting(w, "width"), n = w->rows * len;
    double dense = n * (8 * width * width + 4 * width * setting(w, "ff"));
    return setting(w, "layers") * (dense + 4 * n * len * width);
}

/* The operations of encoder and decoder on `rows` pairs of `len` tokens. */
static double pair_flops(const workbench *w) {
    double width = setting(w, "width"), n = w->rows * (double)w->len, square = width * width;
    double seen = 4 * n * w->len * width, head = 2 * n * width * w->vocab;
    if (workbench_has(w, HEED_DECODER))
        return 2 * blocks(w, w->len) + setting(w, "layers") * (8 * n * square + seen) + head;
    return n * (12 + 18 + 4) * square + seen + 2 * head;
}

/* Operations of a step's matrix products, 2 m n k each. Backward needs twice those of forward,
 * except that a layer on raw pixels needs no gradient of its input. Causal attention is counted in
 * full. NAN: unknown for this model. */
static double flops(const workbench *w) {
    double rows = w->rows, width = setting(w, "width");
    double pixels = 2 * 2 * rows * w->len * width, head = 2 * rows * width * w->vocab;
    if (!reads_data(w->model) || writes_captions(w->model)) return (double)NAN;
    if (w->sources) return 3 * pair_flops(w);
    if (!w->dense)
        return 3 *
               (blocks(w, w->len) + head * (w->masked_positions ? w->masked_positions : w->len));
    if (!w->model->grid) return pixels + 3 * head;
    double side = setting(w, "image-size") / setting(w, "patch");
    return pixels + 3 * (blocks(w, side * side + 1) + head);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n) {
    qsort(x, n, sizeof *x, by_size);
    return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

static json_t *result(program *p, bench *b, const char *name) {
    const workbench *w = &b->w;
    double steps = (double)b->count, sum = 0, med = median(b->times, b->count), work = flops(w);
    bool dense = w->dense;
    const char *items = !dense ? "tokens" : reads_pictures(w->model) ? "images" : "rows";
    for (size_t i = 0; i < b->count; i++) sum += b->times[i];
    json_t *o = json_pack(
        "{s:s, s:s, s:s, s:i, s:f, s:b, s:I, s:I, s:f, s:f, s:f, s:s, s:f, s:o, s:o, "
        "s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:s}",
        "workload", name, "mode", "heed", "isa", heed_isa(p->c), "threads", heed_threads(p->c),
        "dropout", heed_config_real(p->flags, "dropout"), "post_ln", flag_on(p, "post-ln"),
        "params", (json_int_t)heed_params_numel(w->store), "steps", (json_int_t)b->count,
        "ms_per_step", 1e3 * med, "ms_mean", 1e3 * sum / steps, "steps_per_s", 1 / med, "items",
        items, "items_per_s", (double)w->rows * (dense ? 1 : w->len) / med, "mflop_per_step",
        json_number(work / 1e6), "gflops", json_number(work / med / 1e9), "first_step_s",
        b->first_step, "start_to_first_step_s", b->start_to_first, "peak_rss_mb",
        (double)peak_memory() / 1048576, "page_faults_per_step", (double)b->faults / steps,
        "system_ms_per_step", 1e3 * b->system / steps, "first_loss", json_number(b->first_loss),
        "last_loss", json_number(b->last_loss), "version", HEED_VERSION);
    if (flag_on(p, "memory-report")) json_object_set_new(o, "memory", memory_json(&b->memory));
    if (b->profile)
        json_object_set_new(o, "per_op", per_op_json(b->profile, b->peak, heed_threads(p->c)));
    return o;
}

/* GFLOP/s, or "-" if the operations of a step are unknown. */
static const char *speed_of(const json_t *o, char text[32]) {
    const json_t *speed = json_object_get(o, "gflops");
    snprintf(text, 32, "-");
    if (json_is_number(speed)) snprintf(text, 32, "%.1f", json_number_value(speed));
    return text;
}

static void print_result(const json_t *o) {
    char n[32], speed[32];
    const char *items = text_of(o, "items");
    long long threads = json_integer_value(json_object_get(o, "threads"));
    printf("%s, %s parameters, %lld thread%s, %s\n\n", text_of(o, "workload"),
           heed_format_count(n, (uint64_t)json_integer_value(json_object_get(o, "params"))),
           threads, threads == 1 ? "" : "s", text_of(o, "isa"));
    printf("  step         %.3f ms (median of %lld)\n", get(o, "ms_per_step"),
           json_integer_value(json_object_get(o, "steps")));
    printf("  throughput   %s %s a second, %s GFLOP/s\n",
           heed_format_count(n, (uint64_t)get(o, "items_per_s")), items, speed_of(o, speed));
    printf("  memory       %.1f MB at the peak\n", get(o, "peak_rss_mb"));
    printf("  loss         %.4f at first, %.4f at last\n", get(o, "first_loss"),
           get(o, "last_loss"));
}

/* Measures a workload. NULL: it failed or was interrupted. */
static json_t *bench_of(program *p, const char *preset) {
    bench b = {0};
    char name[64];
    json_t *o = NULL;
    snprintf(name, sizeof name, "%s", preset);
    if (bench_open(p, &b, name)) measure_steps(p, &b);
    if (flag_on(p, "mlm-all") && b.w.model && fills_masks(b.w.model) && !strstr(name, "-all"))
        strncat(name, "-all", sizeof name - strlen(name) - 1);
    if (heed_ctx_status(p->c) == HEED_OK && was_interrupted(NULL))
        p->status = HEED_INTERRUPTED;
    else if (heed_ctx_status(p->c) == HEED_OK)
        o = result(p, &b, name);
    if (o && flag_on(p, "memory-report") && !flag_on(p, "json")) {
        print_memory(stdout, &b.memory);
        putchar('\n');
    }
    for (int i = 0; i < BATCHES; i++) random_batch_free(&b.batch[i]);
    heed_profile_free(b.profile);
    heed_optim_free(b.optim);
    workbench_close(&b.w);
    free(b.times);
    return o;
}

static void print_row(const json_t *o) {
    char params[32], items[32], speed[32];
    printf("%-13s  %10s  %8.2f  %8s %-6s  %7s\n", text_of(o, "workload"),
           heed_format_count(params, (uint64_t)json_integer_value(json_object_get(o, "params"))),
           get(o, "ms_per_step"), heed_format_count(items, (uint64_t)get(o, "items_per_s")),
           text_of(o, "items"), speed_of(o, speed));
    fflush(stdout);
}

/* Splits a list at its commas. False, before anything is measured, if a name is not a workload, or
 * settings have no effect on it. */
static bool split(program *p, char *names, const char *list[MOST + 1]) {
    size_t n = 0;
    char *rest = names;
    while (rest && n < MOST) {
        list[n] = rest;
        rest = strchr(rest, ',');
        if (rest) *rest++ = 0;
        workbench w;
        bool ok = set_up(p, &w, list[n++]);
        heed_config_free(w.f);
        if (!ok) return false;
    }
    return !rest ||
           heed_fail(p->c, HEED_USAGE, "--workload is wrong: expected at most %d names", MOST);
}

/* Measures and prints each workload; of several, as a line or as an object of an array. */
static void run_list(program *p, const char *const *list) {
    bool json = flag_on(p, "json"), per_op = flag_on(p, "per-op"), several = list[1];
    json_t *all = json_array();
    int threads = heed_threads(p->c);
    if (several && !json && !per_op)
        printf("%d thread%s, %s\n\n%-13s  %10s  %8s  %15s  %7s\n", threads, threads == 1 ? "" : "s",
               heed_isa(p->c), "workload", "parameters", "ms/step", "items/s", "GFLOP/s");
    for (; *list && !p->status && heed_ctx_status(p->c) == HEED_OK; list++) {
        json_t *o = bench_of(p, *list);
        if (per_op && !json && json_array_size(all) > 0) putchar('\n');
        if (o && !json) (several && !per_op ? print_row : print_result)(o);
        if (o && !json && per_op) print_per_op(json_object_get(o, "per_op"));
        if (o) json_array_append_new(all, o);
    }
    if (json && !p->status && heed_ctx_status(p->c) == HEED_OK)
        print_json(p, json_incref(several ? all : json_array_get(all, 0)));
    json_decref(all);
}

static void run_bench(program *p) {
    heed_text names = {.c = p->c};
    const char *given = flag_text(p, "workload"), *list[MOST + 1] = {NULL};
    heed_text_add(&names, "%s", given);
    if (!*given) find_workload(p, "", &names);
    catch_interrupt();
    if (names.n == 0)
        heed_fail(p->c, HEED_USAGE,
                  "there is no workload: expected a model with a preset that is a benchmark");
    else if (split(p, names.s, list))
        run_list(p, list);
    heed_text_free(&names);
}

const command cmd_bench = {
    .name = "bench",
    .usage = "[--workload NAME,...]",
    .help = "time training steps of fixed workloads",
    .about = "Times training steps on random data: forward, loss, backward, AdamW. The data are\n"
             "made before the clock starts. Figures are comparable only on a quiet machine.",
    .examples = "  heed bench\n"
                "  heed bench --workload gpt-tiny --threads 2\n"
                "  heed bench --workload gpt-tiny --per-op\n"
                "  heed bench --workload gpt-tiny --set \"width=256 ff=1024\"\n"
                "  heed bench --workload mlm-nano --threads 1 --seconds 5 --json\n",
    .options = options,
    .computes = true,
    .run = run_bench,
};
