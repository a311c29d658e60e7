/* cmd_plot.c -- heed plot, heed compare: curves of runs, in the terminal and as pictures. */
#include "training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option plot_options[] = {
    {"png", HEED_TEXT, "", 0, 0, NULL, "picture to write [RUN/loss.png]", "Output"},
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print the curves as one JSON object", "Output"},
    {0}};

static const heed_option compare_options[] = {
    {"png", HEED_TEXT, "", 0, 0, NULL, "picture to write", "Output"},
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print numbers and settings as one JSON object",
     "Output"},
    {0}};

static void draw(program *p, const heed_chart *chart) {
    int width = terminal_width() < 100 ? terminal_width() : 100;
    heed_text text = {.c = p->c};
    if (heed_chart_text(chart, width, 20, has_color(stdout), &text)) print_text(&text);
    heed_text_free(&text);
}

static double last_of(const curve *k) { return k->count ? k->loss[k->count - 1] : (double)NAN; }

static double lowest(const curve *k) {
    double best = (double)NAN;
    for (int i = 0; i < k->count; i++)
        if (!(k->loss[i] >= best)) best = k->loss[i];
    return best;
}

static json_t *curve_json(const curve *k) {
    json_t *step = json_array(), *loss = json_array();
    for (int i = 0; i < k->count; i++) {
        json_array_append_new(step, json_integer((json_int_t)k->step[i]));
        json_array_append_new(loss, json_number(k->loss[i]));
    }
    return json_pack("{s:o, s:o}", "step", step, "loss", loss);
}

/* ---- heed plot ---- */

static void plot(program *p) {
    run_curves k;
    heed_series series[2];
    char path[1024];
    const char *run = p->argv[0], *png = heed_config_text(p->flags, "png");
    if (!curves_read(p->c, run, &k)) return;
    snprintf(path, sizeof path, "%s/loss.png", run);
    if (*png) snprintf(path, sizeof path, "%s", png);
    heed_chart chart = curves_chart(&k, run, series);
    bool json = heed_config_bool(p->flags, "json");
    if (!json) draw(p, &chart);
    heed_chart_png(p->c, &chart, 960, 540, path);
    if (json && heed_state(p->c) == HEED_OK)
        print_json(p, json_pack("{s:s, s:s, s:o, s:o}", "run", run, "png", path, "training",
                                curve_json(&k.train), "validation", curve_json(&k.val)));
    if (!json && heed_state(p->c) == HEED_OK) printf("\nwrote %s\n", path);
    curves_free(&k);
}

const command cmd_plot = {
    .name = "plot",
    .usage = "RUN",
    .help = "draw the loss curves of a run",
    .about = "Draws training and validation loss in the terminal, and as a picture.",
    .examples = "  heed plot runs/book\n"
                "  heed plot runs/book --png book.png\n",
    .options = plot_options,
    .min = 1,
    .max = 1,
    .run = plot,
};

/* ---- heed compare ---- */

typedef struct {
    const char *name;
    run_curves curves;
    heed_config *f;
} compared;

/* Settings that tell where a run lies, not how it was trained. */
static bool is_place(const char *key) { return strcmp(key, "preset") == 0; }

/* The run's value of a setting, "-" when it has none. */
static const char *value_of(const compared *r, const char *key) {
    if (!heed_config_has(r->f, key)) return "-";
    const char *value = heed_config_text(r->f, key);
    return *value ? value : "-";
}

static bool differs(const compared *r, int n, const char *key) {
    for (int i = 1; i < n; i++)
        if (strcmp(value_of(&r[0], key), value_of(&r[i], key)) != 0) return true;
    return false;
}

/* Each key once, although runs of several tasks name it each: from the first run that has it. */
static bool is_first(const compared *r, int run, const char *key) {
    for (int i = 0; i < run; i++)
        if (heed_config_has(r[i].f, key)) return false;
    return true;
}

static json_t *differences(const compared *r, int n) {
    json_t *all = json_object();
    for (int i = 0; i < n; i++)
        for (int j = 0; j < heed_config_count(r[i].f); j++) {
            const char *value, *key = heed_config_at(r[i].f, j, &value)->name;
            if (is_place(key) || !is_first(r, i, key) || !differs(r, n, key)) continue;
            json_t *values = json_array();
            for (int run = 0; run < n; run++)
                json_array_append_new(values, json_string(value_of(&r[run], key)));
            json_object_set_new(all, key, values);
        }
    return all;
}

static void number_cell(int width, const char *format, double x) {
    char text[32] = "-";
    if (isfinite(x)) snprintf(text, sizeof text, format, x);
    printf("%*s", width, text);
}

static void print_numbers(const compared *r, int n, int width) {
    char time[32];
    printf("%-*s%10s%12s%12s%12s%10s\n", width, "run", "steps", "training", "validation", "best",
           "time");
    for (int i = 0; i < n; i++) {
        const run_curves *k = &r[i].curves;
        printf("%-*s", width, r[i].name);
        number_cell(10, "%.0f", k->train.count ? k->train.step[k->train.count - 1] : (double)NAN);
        number_cell(12, "%.4f", last_of(&k->train));
        number_cell(12, "%.4f", last_of(&k->val));
        number_cell(12, "%.4f", lowest(&k->val));
        printf("%10s\n", as_duration(time, k->seconds));
    }
}

static void print_differences(const compared *r, int n, int width, json_t *all) {
    const char *key;
    json_t *values;
    int most = width;
    json_object_foreach(all, key, values) if ((int)strlen(key) + 2 > most) most =
        (int)strlen(key) + 2;
    if (json_object_size(all) == 0) {
        puts("\nno setting differs");
        return;
    }
    printf("\n%-*s", most, "setting");
    for (int i = 0; i < n; i++) printf("  %-18.18s", r[i].name);
    putchar('\n');
    json_object_foreach(all, key, values) {
        printf("%-*s", most, key);
        for (int i = 0; i < n; i++)
            printf("  %-18.18s", json_string_value(json_array_get(values, (size_t)i)));
        putchar('\n');
    }
}

static json_t *numbers_json(const compared *r, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        const run_curves *k = &r[i].curves;
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o, s:o}", "run", r[i].name, "loss",
                                              json_number(last_of(&k->train)), "val_loss",
                                              json_number(last_of(&k->val)), "best_loss",
                                              json_number(lowest(&k->val)), "seconds",
                                              json_number(k->seconds)));
    }
    return list;
}

/* One curve a run: of the validation if every run has one, else of the training. */
static heed_chart chart_of(const compared *r, int n, heed_series *series) {
    bool val = true;
    for (int i = 0; i < n; i++) val = val && r[i].curves.val.count > 0;
    for (int i = 0; i < n; i++) {
        const curve *k = val ? &r[i].curves.val : &r[i].curves.train;
        series[i] = (heed_series){r[i].name, k->count, k->step, k->loss};
    }
    return (heed_chart){.title = val ? "validation loss" : "training loss",
                        .x_label = "step",
                        .y_label = "loss",
                        .series_count = n,
                        .series = series};
}

static void report(program *p, const compared *r, int n, heed_series *series) {
    const char *png = heed_config_text(p->flags, "png");
    heed_chart chart = chart_of(r, n, series);
    json_t *all = differences(r, n);
    int width = 6;
    for (int i = 0; i < n; i++)
        if (text_columns(r[i].name) + 2 > width) width = text_columns(r[i].name) + 2;
    if (*png) heed_chart_png(p->c, &chart, 960, 540, png);
    if (heed_config_bool(p->flags, "json")) {
        print_json(p, json_pack("{s:o, s:O}", "runs", numbers_json(r, n), "settings", all));
    } else {
        draw(p, &chart);
        putchar('\n');
        print_numbers(r, n, width);
        print_differences(r, n, width, all);
        if (*png && heed_state(p->c) == HEED_OK) printf("\nwrote %s\n", png);
    }
    json_decref(all);
}

static void compare(program *p) {
    const task *k;
    size_t n = (size_t)p->argc;
    compared *r = calloc(n, sizeof *r);
    heed_series *series = calloc(n, sizeof *series);
    bool ok = r && series;
    if (!ok) heed_fail(p->c, HEED_FAILED, "no memory for %zu runs", n);
    for (size_t i = 0; ok && i < n; i++) {
        r[i].name = p->argv[i];
        r[i].f = run_settings(p->c, r[i].name, &k);
        ok = r[i].f && curves_read(p->c, r[i].name, &r[i].curves);
    }
    if (ok) report(p, r, p->argc, series);
    for (size_t i = 0; r && i < n; i++) curves_free(&r[i].curves);
    free(series);
    free(r);
}

const command cmd_compare = {
    .name = "compare",
    .usage = "RUN...",
    .help = "put runs side by side: curves, numbers, settings that differ",
    .examples = "  heed compare runs/a runs/b\n"
                "  heed compare runs/* --png all.png\n",
    .options = compare_options,
    .min = 1,
    .max = -1,
    .run = compare,
};
