/* cmd_plot.c -- heed plot: the curves of a run, in the terminal and as a picture. */
#include "training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option plot_options[] = {
    {"png", HEED_TEXT, "", 0, 0, NULL, "picture to write [RUN/loss.png]", "Output"},
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
    if (!json) draw_chart(p, &chart);
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
