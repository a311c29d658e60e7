/* per_op.c -- where the time of a workload's steps went, as tables and as JSON. */
#include "commands/bench/per_op.h"

#include <stdlib.h>

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

json_t *per_op_json(const heed_profile *f, double peak, int threads) {
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

static double get(const json_t *o, const char *key) {
    return json_number_value(json_object_get(o, key));
}
static const char *text_of(const json_t *o, const char *key) {
    return json_string_value(json_object_get(o, key));
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
    print_number(r, "calls", 1, 6, 0);
    print_number(r, "ms", 1, 9, 3);
    print_number(r, "share", 100, 6, 1);
    bool products = json_is_number(json_object_get(r, "gflops"));
    print_number(r, products ? "gflops" : "gb_per_s", 1, 7, 1);
    printf(" %4s", products                                         ? "GF/s"
                   : json_is_number(json_object_get(r, "gb_per_s")) ? "GB/s"
                                                                    : "");
    print_number(r, "peak", 100, 6, 1);
}

static void print_waiting(const json_t *r) {
    print_number(r, "waiting", 100, 8, 1);
    print_number(r, "uneven", 100, 7, 1);
    print_number(r, "sync", 100, 6, 1);
    print_number(r, "serial", 100, 7, 1);
    putchar('\n');
}

static const double LEAST = 0.0005; /* the share of a row that is printed */

#define COLUMNS "  calls        ms share%%        speed  peak%%"
#define WAITING "waiting%% uneven%%  sync%% serial%%"

void print_per_op(const json_t *o) {
    size_t i;
    const json_t *r;
    printf("\n%.1f GFLOP/s: the machine's peak, by a loop of multiply-adds on all threads\n\n"
           "phase             ms share%%\n",
           get(o, "peak_gflops"));
    json_array_foreach(json_object_get(o, "phases"), i, r)
        printf("%-10s %9.3f %6.1f\n", text_of(r, "phase"), get(r, "ms"), 100 * get(r, "share"));
    printf("\n%-20s %-9s" COLUMNS " " WAITING "\n", "op", "phase");
    json_array_foreach(json_object_get(o, "ops"), i, r) {
        if (get(r, "share") < LEAST) continue;
        printf("%-20s %-9s", text_of(r, "op"), text_of(r, "phase"));
        print_columns(r);
        print_waiting(r);
    }
    printf("\n%-20s %-7s %6s %6s %6s" COLUMNS " " WAITING "\n", "products of", "of", "m", "n", "k");
    json_array_foreach(json_object_get(o, "products"), i, r) {
        if (get(r, "share") < LEAST) continue;
        printf("%-20s %-7s %6.0f %6.0f %6.0f", text_of(r, "op"), text_of(r, "product"), get(r, "m"),
               get(r, "n"), get(r, "k"));
        print_columns(r);
        print_waiting(r);
    }
}
