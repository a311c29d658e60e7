#define _DEFAULT_SOURCE /* getpid */
/* curves.c -- metrics.csv of a run, and a table of numbers, for plot: any bytes are curves, which
 * are drawn, or an error. */
#include "kinds/training.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void require(bool condition) {
    if (!condition) abort();
}

static void draw(heed_ctx *c, const heed_chart *chart) {
    heed_text out = {.c = c};
    require(chart->series_count > 0 && heed_chart_text(chart, 60, 12, false, &out) && out.n > 0);
    heed_text_free(&out);
}

static void plot_run(heed_ctx *c, const char *dir) {
    run_curves k;
    heed_series series[2];
    bool ok = curves_read(c, dir, &k);
    require(ok == (heed_ctx_status(c) == HEED_OK));
    if (!ok) return;
    heed_chart chart = curves_chart(&k, "a run", series);
    draw(c, &chart);
    curves_free(&k);
}

static void plot_table(heed_ctx *c, const char *path) {
    curve_csv k;
    bool ok = curve_csv_read(c, path, &k);
    require(ok == (heed_ctx_status(c) == HEED_OK));
    if (ok) {
        heed_chart chart = curve_csv_chart(&k);
        draw(c, &chart);
    }
    curve_csv_free(&k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char dir[64], path[80];
    snprintf(dir, sizeof dir, "/tmp/heed-fuzz-curves-%d", (int)getpid());
    snprintf(path, sizeof path, "%s/metrics.csv", dir);
    mkdir(dir, 0700);
    FILE *f = fopen(path, "wb");
    require(f && fwrite(data, 1, n, f) == n && fclose(f) == 0);
    heed_ctx *c = heed_open(NULL);
    plot_run(c, dir);
    heed_clear(c);
    plot_table(c, path);
    unlink(path);
    rmdir(dir);
    heed_close(c);
    return 0;
}
