/* sheets.c -- pictures of many inputs: which classes were confused, the worst mistakes, codes, what
 * an auto-encoder makes of pictures, augmentation. */
#include "cli/os_files.h"
#include "kinds/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The scale covers the diagonal, too: equal colours are equal numbers. */
bool confusion_png(heed_ctx *c, const heed_scores *s, const char *path) {
    const heed_data *d = s->data;
    size_t n = (size_t)d->label_count;
    char unit[32];
    heed_real *values = malloc(n * n * sizeof *values);
    if (!values) return heed_fail(c, HEED_FAILED, "no memory for a table of %zu classes", n);
    for (size_t i = 0; i < n * n; i++) values[i] = (heed_real)s->confusion[i];
    snprintf(unit, sizeof unit, "%ss", d->kind->label);
    heed_heatmap map = {.title = "rows: the class, columns: the prediction",
                        .rows = d->label_count,
                        .cols = d->label_count,
                        .values = values,
                        .row_labels = d->labels,
                        .col_labels = d->labels,
                        .unit = unit,
                        .numbers = true};
    bool ok = heed_heatmaps_save(c, &map, 1, HEED_PNG, path);
    free(values);
    return ok;
}

/* ---- the worst mistakes ---- */

/* Wide enough for the second caption, with names cut by short_name. */
enum { MISTAKES_IN_A_ROW = 6, MISTAKE_SIDE = 224 };

typedef struct {
    heed_tile *tiles;
    heed_picture *pictures;
    char (*captions)[HEED_TILE_LINES][128];
    int count;
} album;

/* Indices of the first `most` wrong predictions, sorted by loss, worst first. */
static int worst_of(const heed_scores *s, int most, size_t *places) {
    int n = 0;
    for (size_t i = 0; i < s->count; i++) {
        const heed_prediction *v = &s->list[i];
        if (v->predicted == v->label) continue;
        int at = n < most ? n++ : n;
        for (; at > 0 && s->list[places[at - 1]].loss < v->loss; at--)
            if (at < most) places[at] = places[at - 1];
        if (at < most) places[at] = i;
    }
    return n;
}

/* A name cut to at most `columns`, with ".." at the end if it is longer. */
static const char *short_name(char out[96], const char *name, int columns) {
    bool fits = heed_label_columns(name) <= columns;
    snprintf(out, 96, "%.*s%s", (int)heed_label_cut(name, fits ? columns : columns - 2), name,
             fits ? "" : "..");
    return out;
}

/* Reduces a picture to the size at which it is drawn, as forty photographs need gigabytes; if
 * memory runs out, it stays as it is. */
static void shrink(heed_picture *p) {
    int most = p->width > p->height ? p->width : p->height;
    if (most <= MISTAKE_SIDE) return;
    int width = (int)fmax(1, (double)p->width * MISTAKE_SIDE / most),
        height = (int)fmax(1, (double)p->height * MISTAKE_SIDE / most);
    size_t n = (size_t)width * (size_t)height * (size_t)p->channels;
    heed_real *x = malloc((n + heed_resize_work(p, width, height)) * sizeof *x);
    if (!x) return;
    heed_picture_resize(p, (heed_box){0, 0, p->width, p->height}, width, height, x, x + n);
    for (size_t i = 0; i < n; i++) p->pixels[i] = (unsigned char)(x[i] + (heed_real)0.5);
    free(x);
    unsigned char *less = realloc(p->pixels, n);
    *p = (heed_picture){width, height, p->channels, less ? less : p->pixels};
}

static bool add_mistake(album *a, const heed_scores *s, size_t place) {
    const heed_prediction *v = &s->list[place];
    heed_picture *p = &a->pictures[a->count];
    heed_item item = {.source = {.c = s->data->c}};
    char cut[96];
    if (!s->data->kind->input(s->data, true, place, &item)) return false;
    *p = item.picture;
    shrink(p);
    char(*text)[128] = a->captions[a->count];
    snprintf(text[0], sizeof text[0], "is %s", short_name(cut, s->data->labels[v->label], 20));
    snprintf(text[1], sizeof text[1], "predicted %s, %.0f %%",
             short_name(cut, s->data->labels[v->predicted], 20), 100 * v->p);
    snprintf(text[2], sizeof text[2], "%s", short_name(cut, file_name(item.source.s), 30));
    heed_text_free(&item.source);
    a->tiles[a->count++] =
        (heed_tile){p->pixels, p->width, p->height, p->channels, {text[0], text[1], text[2]}};
    return true;
}

/* "the 20 worst of 61 mistakes, highest loss first" */
static void title_of(const heed_scores *s, int found, char title[128]) {
    const heed_images_info *about = heed_images_about(s->data->kind->images(s->data));
    bool is_square = about->low_width == about->high_width &&
                     about->low_height == about->high_height &&
                     about->low_width == about->low_height;
    const char *seen = is_square ? "" : "; the model sees the centre square of each";
    double mistakes = (double)s->count - s->sum.correct;
    if (found < 2)
        snprintf(title, 128, "the %s mistake%s", mistakes < 2 ? "only" : "worst", seen);
    else if (found >= mistakes)
        snprintf(title, 128, "all %d mistakes, highest loss first%s", found, seen);
    else
        snprintf(title, 128, "the %d worst of %.0f mistakes, highest loss first%s", found, mistakes,
                 seen);
}

bool mistakes_png(heed_ctx *c, const heed_scores *s, int most, const char *path) {
    size_t n = (size_t)most, *places = calloc(n, sizeof *places);
    album a = {calloc(n, sizeof *a.tiles), calloc(n, sizeof *a.pictures),
               calloc(n, sizeof *a.captions), 0};
    bool ok = places && a.tiles && a.pictures && a.captions;
    if (!ok) heed_fail(c, HEED_FAILED, "no memory for %d pictures", most);
    int found = ok ? worst_of(s, most, places) : 0;
    for (int i = 0; ok && i < found; i++) ok = add_mistake(&a, s, places[i]);
    if (ok && found == 0) heed_message(c, HEED_INFO, "no mistakes: %s is not written", path);
    char title[128];
    title_of(s, found, title);
    if (ok && found > 0)
        ok = heed_sheet_save(c,
                             &(heed_sheet){.title = title,
                                           .count = found,
                                           .columns = MISTAKES_IN_A_ROW,
                                           .side = MISTAKE_SIDE,
                                           .tiles = a.tiles},
                             HEED_PNG, path);
    for (int i = 0; i < a.count; i++) heed_picture_free(&a.pictures[i]);
    free(places);
    free(a.tiles);
    free(a.pictures);
    free(a.captions);
    return ok && found > 0;
}

/* ---- codes ---- */

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

static bool draw_plane(heed_ctx *c, const heed_codes *k, const heed_images_info *a,
                       const char *title, const char *path) {
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
    heed_chart chart = {.title = title,
                        .x_label = labels[0],
                        .y_label = labels[1],
                        .series = series,
                        .points = true};
    if (ok) chart.series_count = series_of(k, a, xy, xy + 2 * k->count, xy + 3 * k->count, series);
    ok = ok && heed_charts_save(c, &chart, 1, 960, 800, HEED_PNG, path);
    free(series);
    free(xy);
    return ok;
}

static bool write_csv(heed_ctx *c, const heed_codes *k, const heed_data *d, const char *path) {
    const heed_images_info *a = heed_images_about(d->kind->images(d));
    const char *name = NULL;
    heed_text out = {.c = c};
    heed_text_add(&out, "input,class");
    for (int j = 0; j < k->width; j++) heed_text_add(&out, ",z%d", j + 1);
    heed_text_put(&out, "\n", 1);
    for (int i = 0; i < k->count; i++) {
        const heed_real *z = k->x + (size_t)i * (size_t)k->width;
        heed_images_get(d->kind->images(d), d->part, (size_t)i, NULL, NULL, &name);
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
    const heed_images_info *a = heed_images_about(d->kind->images(d));
    char title[256];
    heed_codes k;
    if (!*png && !*csv) return;
    bool ok = heed_codes_read(r, d->kind->images(d), d->part, rows, &k);
    snprintf(title, sizeof title, "codes of %d pictures, %.160s", k.count, p->argv[0]);
    FILE *to = flag_on(p, "json") ? stderr : stdout;
    if (ok && *png && (ok = draw_plane(p->c, &k, a, title, png))) fprintf(to, "\nwrote %s\n", png);
    if (ok && *csv && write_csv(p->c, &k, d, csv))
        fprintf(to, "%swrote %s\n", *png ? "" : "\n", csv);
    heed_codes_free(&k);
}

/* ---- reconstructions ---- */

bool rebuilt_add(rebuilt *k, heed_run *r, heed_picture *picture, const char *name) {
    heed_example e = {0};
    heed_reader how = heed_run_reader(r);
    if (k->count == k->capacity) {
        int capacity = k->capacity ? 2 * k->capacity : 8;
        void *list = realloc(k->list, (size_t)capacity * sizeof *k->list);
        if (list) k->list = list;
        void *captions = realloc(k->captions, (size_t)capacity * sizeof *k->captions);
        if (captions) k->captions = captions;
        if (!list || !captions) return heed_fail(r->c, HEED_FAILED, "no memory for a sheet");
        k->capacity = capacity;
    }
    heed_reconstruction *one = &k->list[k->count];
    bool ok = heed_example_picture(&how, picture, name, &e) &&
              heed_reconstruct_at(r, e.x, (uint64_t)k->count, one);
    heed_example_free(&e);
    if (!ok) return false;
    snprintf(k->captions[k->count][0], 64, "%.60s", file_name(name));
    snprintf(k->captions[k->count][1], 64, "error %.4f", one->error);
    k->count++;
    return true;
}

void rebuilt_close(rebuilt *k) {
    for (int i = 0; i < k->count; i++) heed_reconstruction_free(&k->list[i]);
    free(k->list);
    free(k->captions);
    *k = (rebuilt){.count = 0};
}

bool rebuilt_png(heed_ctx *c, const rebuilt *k, const char *path) {
    enum { SIDE = 112, ACROSS = 2 };
    if (k->count == 0) return true;
    bool masked = k->list[0].hidden > 0;
    int each = masked ? HEED_SHOWN : HEED_SHOWN - 1, size = k->list[0].size, n = 0;
    heed_tile *tiles = allocate(c, (size_t)(k->count * HEED_SHOWN), sizeof *tiles, "a sheet");
    for (int i = 0; tiles && i < k->count; i++) {
        const heed_reconstruction *one = &k->list[i];
        const char *captions[HEED_SHOWN] = {k->captions[i][0], "", "", k->captions[i][1]};
        for (int s = 0; s < HEED_SHOWN; s++)
            if (masked || s != HEED_SHOWN_SEEN)
                tiles[n++] = (heed_tile){one->pixels[s], size, size, one->channels, {captions[s]}};
    }
    bool ok =
        tiles &&
        heed_sheet_save(c,
                        &(heed_sheet){.title = masked ? "picture, visible patches, reconstruction "
                                                        "around them, difference"
                                                      : "picture, reconstruction, difference",
                                      .count = n,
                                      .columns = k->count < ACROSS ? each : ACROSS * each,
                                      .side = size < SIDE ? size * (SIDE / size) : SIDE,
                                      .tiles = tiles},
                        HEED_PNG, path);
    free(tiles);
    return ok;
}

/* ---- augmentation ---- */

enum { SAMPLES = 8, VERSIONS = 5 };

typedef struct {
    heed_tile tiles[SAMPLES * (VERSIONS + 1)];
    unsigned char *pixels; /* of all tiles */
    char names[SAMPLES][64];
    int count;
} samples;

static size_t bytes_of(const heed_image_transform *v) {
    return (size_t)v->size * (size_t)v->size * (size_t)v->channels;
}

/* A picture as in evaluation, then as augmented in several epochs. */
static bool add_sample(program *p, heed_images *k, const heed_augment *a, int index, samples *s) {
    const heed_images_info *about = heed_images_about(k);
    const heed_image_transform *v = &about->view;
    size_t place = (size_t)index * about->count[HEED_TRAIN_PART] / SAMPLES;
    heed_picture picture = {0};
    const char *name;
    int label;
    if (!heed_images_get(k, HEED_TRAIN_PART, place, &picture, &label, &name)) return false;
    size_t n = bytes_of(v);
    heed_real *x = malloc((n + heed_image_transform_work(&picture, v)) * sizeof *x);
    if (!x) heed_fail(p->c, HEED_FAILED, "no memory for a picture");
    snprintf(s->names[index], sizeof s->names[index], "%.60s", about->labels[label]);
    for (int i = 0; x && i <= VERSIONS; i++) {
        uint64_t epoch = i ? (uint64_t)i - 1 : 0; /* training begins with epoch 0 */
        heed_random draws = heed_random_at(heed_seed(p->c), "augment", epoch, (uint32_t)place);
        heed_picture_transform(&picture, v, i ? a : NULL, &draws, x, x + n);
        unsigned char *pixels = s->pixels + (size_t)s->count * n;
        for (size_t at = 0; at < n; at++) { /* back to bytes */
            size_t channel = at % (size_t)v->channels;
            double y = 255 * ((double)x[at] * v->deviation[channel] + v->mean[channel]);
            pixels[at] = (unsigned char)lround(fmin(fmax(y, 0), 255));
        }
        s->tiles[s->count++] =
            (heed_tile){pixels, v->size, v->size, v->channels, {i ? "" : s->names[index]}};
    }
    free(x);
    heed_picture_free(&picture);
    return heed_ctx_status(p->c) == HEED_OK;
}

bool augmented_png(program *p, heed_images *k, const char *path) {
    const heed_image_transform *v = &heed_images_about(k)->view;
    size_t n = bytes_of(v);
    samples *s = calloc(1, sizeof *s);
    heed_augment a = heed_augment_of(p->flags);
    char title[200];
    heed_text text = {.c = p->c};
    heed_augment_text(&a, &text);
    snprintf(title, sizeof title, "before, and in five epochs: %s", text.s ? text.s : "");
    heed_text_free(&text);
    if (s) s->pixels = malloc(SAMPLES * (VERSIONS + 1) * n);
    bool ok = s && s->pixels;
    if (!ok) heed_fail(p->c, HEED_FAILED, "no memory for a sheet of pictures");
    for (int i = 0; ok && i < SAMPLES; i++) ok = add_sample(p, k, &a, i, s);
    ok = ok && heed_sheet_save(p->c,
                               &(heed_sheet){.title = title,
                                             .count = s->count,
                                             .columns = 2 * (VERSIONS + 1),
                                             .side = v->size < 96 ? v->size * (96 / v->size) : 96,
                                             .tiles = s->tiles},
                               HEED_PNG, path);
    if (s) free(s->pixels);
    free(s);
    return ok;
}
