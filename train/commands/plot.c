/* plot.c -- heed plot: the curves of a run, in the terminal and as a picture. */
#include "kinds/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option plot_options[] = {
    {"png", HEED_TEXT, "", 0, 0, NULL, "picture to write [RUN/loss.png; of a table TABLE.png]",
     "Output"},
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print the curves as one JSON object", "Output"},
    {0}};

void draw_chart(program *p, const heed_chart *chart) {
    int width = terminal_width() < 100 ? terminal_width() : 100;
    heed_text text = {.c = p->c};
    if (heed_chart_text(chart, width, 20, has_color(stdout), &text)) print_text(&text);
    heed_text_free(&text);
}

static json_t *curve_json(const curve *k) {
    json_t *step = json_array(), *loss = json_array();
    for (int i = 0; i < k->count; i++) {
        json_array_append_new(step, json_integer((json_int_t)k->step[i]));
        json_array_append_new(loss, json_number(k->loss[i]));
    }
    return json_pack("{s:o, s:o}", "step", step, "loss", loss);
}

/* ---- tables ---- */

static json_t *table_json(const heed_chart *chart) {
    json_t *o = json_object();
    for (int i = -1; i < chart->series_count; i++) {
        const heed_series *e = &chart->series[i < 0 ? 0 : i];
        json_t *list = json_array();
        for (int j = 0; j < e->count; j++)
            json_array_append_new(list, json_number(i < 0 ? e->x[j] : e->y[j]));
        json_object_set_new(o, i < 0 ? chart->x_label : e->label, list);
    }
    return o;
}

static void report_tables(program *p, const heed_chart *charts, int count, const char *path) {
    bool json = heed_config_bool(p->flags, "json");
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, table_json(&charts[i]));
        if (!json) draw_chart(p, &charts[i]);
    }
    bool ok = heed_charts_png(p->c, charts, count, 960, 480, path);
    if (ok && json) print_json(p, json_pack("{s:o, s:O}", "png", json_text(path), "tables", list));
    if (ok && !json) printf("\nwrote %s\n", path);
    json_decref(list);
}

/* Plots each table as a chart, all in one picture, one below the other. */
static void plot_tables(program *p) {
    int count = 0;
    char path[1024];
    const char *png = heed_config_text(p->flags, "png");
    curve_csv *k = calloc((size_t)p->argc, sizeof *k);
    heed_chart *charts = calloc((size_t)p->argc, sizeof *charts);
    bool ok = (k && charts) || heed_fail(p->c, HEED_FAILED, "no memory for %d tables", p->argc);
    for (; ok && count < p->argc; count++) {
        ok = curve_csv_read(p->c, p->argv[count], &k[count]);
        if (ok) charts[count] = curve_csv_chart(&k[count]);
    }
    snprintf(path, sizeof path, "%.*s.png", (int)strlen(p->argv[0]) - 4, p->argv[0]);
    if (ok) report_tables(p, charts, count, *png ? png : path);
    for (int i = 0; i < count; i++) curve_csv_free(&k[i]);
    free(charts);
    free(k);
}

static void plot_run(program *p) {
    run_curves k;
    heed_series series[2];
    char path[1024];
    const char *run = p->argv[0], *png = heed_config_text(p->flags, "png");
    if (p->argc > 1) {
        heed_fail(p->c, HEED_USAGE,
                  "several are drawn together when all are tables: expected FILE.csv..., found %s; "
                  "hint: `compare RUN...`",
                  run);
        return;
    }
    if (!curves_read(p->c, run, &k)) return;
    snprintf(path, sizeof path, "%s/loss.png", run);
    if (*png) snprintf(path, sizeof path, "%s", png);
    heed_chart chart = curves_chart(&k, run, series);
    bool json = heed_config_bool(p->flags, "json");
    if (!json) draw_chart(p, &chart);
    heed_chart_png(p->c, &chart, 960, 540, path);
    if (json && heed_ctx_status(p->c) == HEED_OK)
        print_json(p,
                   json_pack("{s:o, s:o, s:o, s:o}", "run", json_text(run), "png", json_text(path),
                             "training", curve_json(&k.train), "validation", curve_json(&k.val)));
    if (!json && heed_ctx_status(p->c) == HEED_OK) printf("\nwrote %s\n", path);
    curves_free(&k);
}

static void plot(program *p) {
    bool tables = true;
    for (int i = 0; i < p->argc; i++) tables = tables && is_curve_csv(p->argv[i]);
    if (tables)
        plot_tables(p);
    else
        plot_run(p);
}

const command cmd_plot = {
    .name = "plot",
    .usage = "RUN|TABLE.csv...",
    .help = "draw the loss curves of a run",
    .about = "Draws training and validation loss in the terminal, and as a picture. Or tables of\n"
             "numbers: a first line that names the columns, comma-separated; the first column is\n"
             "x, each other one a curve, an empty field a gap. Several make one picture.",
    .examples = "  heed plot runs/book\n"
                "  heed plot runs/book --png book.png\n"
                "  heed plot accuracy.csv speed.csv --png both.png\n",
    .options = plot_options,
    .min = 1,
    .max = -1,
    .run = plot,
};
