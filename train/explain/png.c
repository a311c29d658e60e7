/* png.c -- heed explain --png: matrices as heat maps with their labels. */
#include "explain/explain.h"

#include <heed/view.h>
#include <math.h>
#include <stdlib.h>

enum { NUMBERS = 16 }; /* a cell shows its number if a matrix has at most so many columns */

/* Copies the drawn matrix to *values, which the caller frees, also on error. */
static bool map_of(explaining *e, const matrix_view *v, heed_heatmap *out, heed_real **values) {
    int rows = rows_of(v), cols = cols_of(v);
    heed_real *x = *values =
        allocate(e->c, (size_t)rows * (size_t)cols, sizeof *x, "numbers of a picture");
    heed_real lo = 0;
    for (int i = 0; x && i < rows; i++)
        for (int j = 0; j < cols; j++, x++) {
            *x = (heed_real)v->m->x[cell_of(v, i, j)];
            if (*x < lo) lo = *x;
        }
    *out = (heed_heatmap){.title = v->name,
                          .rows = rows,
                          .cols = cols,
                          .values = *values,
                          .lo = lo,
                          .row_labels = v->row_labels,
                          .col_labels = v->col_labels,
                          .numbers = cols <= NUMBERS,
                          .pixels = v->pixels};
    return *values != NULL;
}

bool lesson_maps(explaining *e, lesson_scale scale, int count, const matrix_view *views) {
    const char *path = heed_config_text(e->p->flags, "png");
    heed_heatmap maps[LESSON_MAPS];
    heed_real *values[LESSON_MAPS] = {NULL};
    bool ok = true;
    if (!*path) return true;
    for (int i = 0; ok && i < count; i++) {
        ok = map_of(e, &views[i], &maps[i], &values[i]);
        maps[i].unit = views[i].pixels ? "brightness" : scale.unit;
        maps[i].hi = views[i].pixels ? 1 : (heed_real)scale.hi;
        maps[i].continues = views[i].continues;
        if (views[i].continues) maps[i].numbers &= maps[i - 1].numbers;
    }
    ok = ok && (count > 1 ? heed_heatmaps_png(e->c, maps, count, path)
                          : heed_heatmap_png(e->c, maps, path));
    for (int i = 0; i < count; i++) free(values[i]);
    return ok;
}

bool write_weights(explaining *e) {
    matrix_view v = worked_view(e, HEED_LESSON_WEIGHTS, false);
    heed_text title = {.c = e->c};
    if (e->w.layer)
        heed_text_add(&title, "%s, layer %d, head %d: ", heed_stack_name(e->place.stack),
                      e->place.layer + 1, e->place.head + 1);
    heed_label_text(e->w.title, 400, &title);
    v.name = title.s;
    v.most_rows = v.most_cols = 0; /* all of it */
    const heed_matrix *m = v.m;
    lesson_scale scale = {e->columns ? "weight: each column sums to 1"
                                     : "weight: each row sums to 1",
                          2.0 / m->cols}; /* nearly equal weights look pale */
    for (int i = 0; i < m->rows * m->cols; i++) scale.hi = fmax(scale.hi, m->x[i]);
    bool ok = lesson_maps(e, scale, 1, &v);
    heed_text_free(&title);
    return ok;
}
