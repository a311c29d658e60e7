/* plot.c -- heed plot: the curves of a run, in the terminal and as a picture. */
#include "kinds/training.h"

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    WORDS("png", "picture to write [RUN/loss.png; of a table TABLE.png]", "Output"),
    AS_SVG("Output"),
    SWITCH("log-x", "of tables: the first column on a logarithmic scale, in powers of 2",
           "Drawing"),
    SWITCH("from-zero", "of tables: the vertical axis includes 0", "Drawing"),
    SWITCH("json", "print the curves as one JSON object", "Output"),
    {0}};

void draw_chart(program *p, const heed_chart *chart) {
    int width = terminal_width() < 100 ? terminal_width() : 100;
    heed_text text = {.c = p->c};
    if (heed_chart_text(chart, width, 20, has_color(stdout), &text)) print_text(&text);
    heed_text_free(&text);
}

bool write_charts(program *p, const heed_chart *charts, int count, int height, const char *png) {
    const char *svg = flag_text(p, "svg");
    bool ok = !*png || heed_charts_save(p->c, charts, count, 960, height, HEED_PNG, png);
    return ok && (!*svg || heed_charts_save(p->c, charts, count, 960, height, HEED_SVG, svg));
}

static json_t *curve_json(const curve *k) {
    json_t *step = json_array();
    for (int i = 0; i < k->count; i++)
        json_array_append_new(step, json_integer((json_int_t)k->step[i]));
    return json_pack("{s:o, s:o}", "step", step, "loss", json_doubles(k->loss, k->count));
}

/* ---- tables ---- */

static json_t *table_json(const heed_chart *chart) {
    const heed_series *e = chart->series;
    json_t *o = json_pack("{s:o}", chart->x_label, json_doubles(e[0].x, e[0].count));
    for (int i = 0; i < chart->series_count; i++)
        json_object_set_new(o, e[i].label, json_doubles(e[i].y, e[i].count));
    return o;
}

/* Plots each table as a chart, all in one picture, one below the other. */
static void plot_tables(program *p) {
    int count = 0;
    char path[1024];
    const char *png = flag_text(p, "png");
    bool json = flag_on(p, "json"), log_x = flag_on(p, "log-x");
    curve_csv *k = allocate(p->c, (size_t)p->argc, sizeof *k, "tables");
    heed_chart *charts = allocate(p->c, (size_t)p->argc, sizeof *charts, "tables");
    json_t *list = json_array();
    bool ok = k && charts;
    for (; ok && count < p->argc; count++) {
        ok = curve_csv_read(p->c, p->argv[count], &k[count]);
        if (ok) charts[count] = curve_csv_chart(&k[count]);
    }
    for (int i = 0; ok && i < count; i++) {
        json_array_append_new(list, table_json(&charts[i]));
        charts[i].from_zero = flag_on(p, "from-zero");
        charts[i].log2_x = log_x;
        ok = !log_x || curve_csv_log_x(p->c, &k[i]);
        if (ok && !json) draw_chart(p, &charts[i]);
    }
    snprintf(path, sizeof path, "%.*s.png", (int)strlen(p->argv[0]) - 4, p->argv[0]);
    if (*png) snprintf(path, sizeof path, "%s", png);
    ok = ok && write_charts(p, charts, count, 480, path);
    if (ok && json) print_json(p, json_pack("{s:o, s:O}", "png", json_text(path), "tables", list));
    if (ok && !json) print_drawn(p, path);
    json_decref(list);
    for (int i = 0; i < count; i++) curve_csv_free(&k[i]);
    free(charts);
    free(k);
}

/* Adds to the error that the picture can be written elsewhere than into the run. */
static void hint_at_png(heed_ctx *c) {
    heed_text why = {.c = NULL};
    heed_status status = heed_ctx_status(c);
    heed_text_add(&why, "%s", heed_ctx_error(c));
    heed_clear(c);
    heed_fail(c, status, "%s; hint: `png = FILE.png` writes it elsewhere", why.s ? why.s : "");
    heed_text_free(&why);
}

static void plot_run(program *p) {
    run_curves k;
    heed_series series[2];
    char path[1024];
    const char *run = p->argv[0], *png = flag_text(p, "png");
    if (flag_on(p, "log-x") || flag_on(p, "from-zero")) {
        heed_fail(p->c, HEED_USAGE,
                  "`log-x` and `from-zero` are for tables: expected FILE.csv, found %s", run);
        return;
    }
    if (p->argc > 1) {
        heed_fail(p->c, HEED_USAGE,
                  "several are drawn together when all are tables: expected FILE.csv..., found %s; "
                  "hint: `compare RUN...`",
                  run);
        return;
    }
    if (!curves_read(p->c, run, &k)) return;
    snprintf(path, sizeof path, *png ? "%s" : "%s" HEED_INSIDE "loss.png", *png ? png : run);
    heed_chart chart = curves_chart(&k, run, series);
    bool json = flag_on(p, "json");
    if (!json) draw_chart(p, &chart);
    bool ok = write_charts(p, &chart, 1, 540, path);
    if (!*png) snprintf(path, sizeof path, "%s/loss.png", run); /* as it is shown */
    if (!ok && !*png && !*flag_text(p, "svg")) hint_at_png(p->c);
    if (ok && json)
        print_json(p,
                   json_pack("{s:o, s:o, s:o, s:o}", "run", json_text(run), "png", json_text(path),
                             "training", curve_json(&k.train), "validation", curve_json(&k.val)));
    if (ok && !json) print_drawn(p, path);
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
    .usage = "RUN|TABLE.csv [TABLE.csv]...",
    .help = "draw the loss curves of a run",
    .about =
        "Draws the training and validation loss of a run in the terminal and as the picture\n"
        "loss.png in the run; or tables of numbers, whose first line names the columns, separated\n"
        "by commas. The first column is x, and each other column is a curve. An empty field is a\n"
        "gap. Several tables make one picture.",
    .examples = "  heed plot runs/book\n"
                "  heed plot runs/book --png book.png\n"
                "  heed plot accuracy.csv speed.csv --png both.png\n"
                "  heed plot milliseconds.csv --log-x --from-zero\n",
    .options = options,
    .args = {1, -1},
    .run = plot,
};
