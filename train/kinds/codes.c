/* codes.c -- what a model makes of each picture, as points in a plane and as numbers. */
#include "kinds/image.h"

#include <stdlib.h>
#include <string.h>

/* ---- the picture ---- */

/* A series of points for each class that has any. */
static int series_of(const heed_codes *k, const heed_images_info *a, const double *xy, double *x,
                     double *y, heed_series *series) {
    int n = 0;
    for (int class = 0; class < a->classes; class ++) {
        heed_series *to = &series[n];
        *to = (heed_series){.label = a->labels[class], .x = x, .y = y};
        for (int i = 0; i < k->count; i++) {
            if (k->label[i] != class) continue;
            *x++ = xy[i];
            *y++ = xy[k->count + i];
            to->count++;
        }
        n += to->count > 0;
    }
    return n;
}

static bool draw(heed_ctx *c, const heed_codes *k, const heed_images_info *a, const char *title,
                 const char *path) {
    char labels[2][96], names[2][16] = {"first", "second"};
    double share, *xy = allocate(c, 4 * (size_t)k->count, sizeof *xy, "codes");
    heed_series *series = allocate(c, (size_t)a->classes, sizeof *series, "classes");
    bool ok = xy && series && heed_codes_plane(c, k, xy, &share);
    for (int i = 0; ok && i < 2; i++)
        if (k->width > 2)
            snprintf(labels[i], sizeof labels[i], "%s principal component of %d numbers", names[i],
                     k->width);
        else
            snprintf(labels[i], sizeof labels[i], "%s number of the code", names[i]);
    if (ok && k->width > 2)
        snprintf(labels[0] + strlen(labels[0]), sizeof labels[0] - strlen(labels[0]),
                 ", %.0f %% of the variance in both", 100 * share);
    heed_chart chart = {
        .title = title, .x_label = labels[0], .y_label = labels[1], .series = series};
    if (ok) chart.series_count = series_of(k, a, xy, xy + 2 * k->count, xy + 3 * k->count, series);
    ok = ok && heed_scatter_png(c, &chart, 960, 800, path);
    free(series);
    free(xy);
    return ok;
}

/* ---- the numbers ---- */

static bool write_csv(heed_ctx *c, const heed_codes *k, const heed_data *d, const char *path) {
    const heed_images_info *a = heed_images_about(d->batches);
    const char *name = NULL;
    heed_text out = {.c = c};
    heed_text_add(&out, "input,class");
    for (int j = 0; j < k->width; j++) heed_text_add(&out, ",z%d", j + 1);
    heed_text_put(&out, "\n", 1);
    for (int i = 0; i < k->count; i++) {
        const heed_real *z = k->x + (size_t)i * (size_t)k->width;
        heed_images_get(d->batches, d->part, (size_t)i, NULL, NULL, &name);
        heed_csv_put(&out, name);
        heed_text_put(&out, ",", 1);
        heed_csv_put(&out, a->labels[k->label[i]]);
        for (int j = 0; j < k->width; j++) heed_text_add(&out, ",%.9g", (double)z[j]);
        heed_text_put(&out, "\n", 1);
    }
    bool ok = heed_text_save(&out, path);
    heed_text_free(&out);
    return ok;
}

void draw_codes(program *p, heed_run *r, const heed_data *d, int rows) {
    const char *png = flag_text(p, "code"), *csv = flag_text(p, "csv");
    const heed_images_info *a = heed_images_about(d->batches);
    char title[256];
    heed_codes k;
    if (!*png && !*csv) return;
    bool ok = heed_codes_read(r, d->batches, d->part, rows, &k);
    snprintf(title, sizeof title, "codes of %d pictures, %.160s", k.count, p->argv[0]);
    FILE *to = flag_on(p, "json") ? stderr : stdout;
    if (ok && *png && (ok = draw(p->c, &k, a, title, png))) fprintf(to, "\nwrote %s\n", png);
    if (ok && *csv && write_csv(p->c, &k, d, csv))
        fprintf(to, "%swrote %s\n", *png ? "" : "\n", csv);
    heed_codes_free(&k);
}
