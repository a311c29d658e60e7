/* lesson_patches.c -- a picture as tokens: its pixels x (1 x p), cut into patches z (m x d), m d =
 * p, and each patch times E. Dosovitskiy et al. 2021, eq. 1. */
#include "explain/explain.h"
#include "kinds/records.h"

#include <heed/image.h>
#include <stdlib.h>
#include <string.h>

enum { BUILT_IN = 8, FEATURES = 3, LARGEST = 64, RESIZED = 32, SHOWN = 8 };
static const char *const features[FEATURES] = {"mean", "right", "down"};

/* A 7, with a pixel for each character. */
static const char seven[] = "........"
                            ".######."
                            ".....##."
                            "....##.."
                            "...##..."
                            "...##..."
                            "...##..."
                            "........";

/* The input as grey pixels from 0 to 1: a square of whole patches. */
static bool read_pixels(explaining *e, int patch, heed_matrix *out) {
    heed_picture p = {0};
    if (!read_picture(e->c, e->input, &p)) return false;
    int side = p.width < p.height ? p.width : p.height;
    bool ok = heed_picture_convert(&p, 1) == HEED_OK ||
              heed_fail(e->c, HEED_FAILED, "no memory for the picture %s", e->input);
    if (side > LARGEST) side = patch > RESIZED ? patch : RESIZED;
    side -= side % patch;
    if (ok && side < patch)
        ok = heed_fail(e->c, HEED_USAGE, "--patch %d: the picture has only %d x %d pixels", patch,
                       p.width, p.height);
    heed_image_transform v = {.size = side, .channels = 1, .deviation = {1}};
    if (ok) {
        size_t n = (size_t)side * (size_t)side;
        heed_real *pixels = room(e, n, sizeof *pixels);
        heed_real *work = room(e, heed_image_transform_work(&p, &v), sizeof *work);
        *out = matrix_new(e, side, side);
        ok = pixels && work && out->x;
        if (ok) heed_picture_transform(&p, &v, NULL, NULL, pixels, work);
        for (size_t i = 0; ok && i < n; i++) out->x[i] = (double)pixels[i];
    }
    heed_picture_free(&p);
    return ok;
}

static bool built_in(explaining *e, int patch, heed_matrix *out) {
    if (BUILT_IN % patch)
        return heed_fail(e->c, HEED_USAGE,
                         "--patch %d: expected a divisor of %d, the built-in picture's side", patch,
                         BUILT_IN);
    *out = matrix_new(e, BUILT_IN, BUILT_IN);
    for (int i = 0; i < out->rows * out->cols; i++) out->x[i] = seven[i] == '#';
    return out->x != NULL;
}

/* A row for each patch: patches and their pixels are read row by row. */
static heed_matrix cut(explaining *e, heed_matrix picture, int patch) {
    int across = picture.cols / patch;
    heed_matrix z = matrix_new(e, across * across, patch * patch);
    for (int i = 0; z.x && i < z.rows; i++)
        for (int k = 0; k < z.cols; k++)
            z.x[i * z.cols + k] = heed_matrix_at(&picture, i / across * patch + k / patch,
                                                 i % across * patch + k % patch);
    return z;
}

/* The three columns of E: the mean, and how much brighter it becomes to the right and downwards. */
static heed_matrix choose_e(explaining *e, int patch) {
    heed_matrix m = matrix_new(e, patch * patch, FEATURES);
    double middle = (patch - 1) / 2.0;
    for (int k = 0; k < m.rows; k++) {
        m.x[k * FEATURES] = 1.0 / m.rows;
        m.x[k * FEATURES + 1] = (k % patch > middle) - (k % patch < middle);
        m.x[k * FEATURES + 2] = (k / patch > middle) - (k / patch < middle);
    }
    return m;
}

/* The library's layer, a convolution of kernel and stride `patch` over the picture, with E as its
 * weights. */
static heed_matrix by_library(explaining *e, heed_matrix picture, heed_matrix weights, int patch,
                              int tokens) {
    heed_conv l;
    heed_patch_embed_init(&l, library(e), "patch", 1, patch, FEATURES, NULL);
    if (failed(e)) return matrix_new(e, tokens, FEATURES);
    set_parameter(l.w, weights, true);
    memset(l.b->x, 0, l.b->size * sizeof *l.b->x);
    heed_tape_begin(e->tape, HEED_EVAL, 0);
    heed_tensor *x =
        heed_reshape(e->tape, input_of(e, picture), 4, (int[]){1, picture.rows, picture.cols, 1});
    return result_of(e, heed_patch_embed_apply(&l, e->tape, x), tokens, FEATURES);
}

/* Only the first rows and columns of a large picture's matrices are drawn. */
static void limit(explaining *e, int side) {
    for (lesson_step *s = e->list; side > BUILT_IN && s < e->list + e->count; s++)
        for (matrix_view *v = s->view; v < s->view + s->count; v++)
            if (!v->heat) v->most_rows = v->most_cols = SHOWN;
}

void patches_steps(explaining *e) {
    heed_matrix picture;
    int patch = (int)heed_config_int(e->p->flags, "patch");
    if (!(e->input ? read_pixels(e, patch, &picture) : built_in(e, patch, &picture))) return;
    int side = picture.cols, p = side * side, across = side / patch;
    heed_matrix z = cut(e, picture, patch), weights = choose_e(e, patch);
    heed_matrix out = product_of(e, z, weights);
    heed_matrix layer = by_library(e, picture, weights, patch, z.rows);
    const char **labels = room(e, (size_t)z.rows, sizeof *labels);
    for (int i = 0; labels && i < z.rows; i++)
        labels[i] = text_of(e, "%d,%d", i / across + 1, i % across + 1);

    e->title = "Patches of a picture as a matrix: x, z, zE";
    e->words = text_of(e, "A picture of %d x %d grey pixels, from 0 to 1%s.", side, side,
                       e->input ? " (resized to a square of whole patches)" : "");
    e->commands = "explain patches --patch 2\n"
                  "explain patches --png patches.png\n"
                  "explain conv";
    add_step(e, NULL, NULL, NULL);
    matrix_view *v = show(e, "", "the picture", picture, NULL, NULL);
    v->picture = v->pixels = true;
    v->heat = side > BUILT_IN;
    add_step(e, "One vector", text_of(e, "x, 1 x p, p = %d", p),
             text_of(e,
                     "Row by row the picture is one vector x of p = %d numbers, 1 x p. A dense "
                     "layer would read that: one weight for each pixel, and no pixel knows its "
                     "neighbours.",
                     p));
    show(e, "", "x", (heed_matrix){1, p, picture.x}, NULL, NULL);
    add_step(e, "Patches", text_of(e, "z, m x d, m d = p"),
             text_of(e,
                     "Cut into %d x %d patches of %d x %d pixels, read row by row, it is z, m x d: "
                     "m = %d patches, a row each, of d = %d numbers; m d = p, nothing is lost.%s",
                     across, across, patch, patch, z.rows, z.cols,
                     patch == 1 ? ""
                                : text_of(e,
                                          " Row 1 is x[1] .. x[%d], then x[%d] .. x[%d], and so "
                                          "on.",
                                          patch, side + 1, side + patch)));
    v = show(e, "", "z", z, labels, NULL);
    v->picture = v->pixels = true;
    add_step(
        e, "Tokens", "z E",
        "Times E, d x e, the same for every patch: a row of zE is a token. A model learns E; here "
        "its columns are chosen to be readable: the mean of a patch, and how much brighter it "
        "becomes to the right and downwards. Look at a row of zE and at its patch in the picture.");
    show(e, "", "z", z, labels, NULL);
    show(e, "·", "E", weights, NULL, features);
    v = show(e, "=", "zE", out, labels, features);
    v->picture = v->continues = true;
    add_step(
        e, NULL, NULL,
        text_of(e,
                "The library's patch embedding, a convolution of kernel and stride %d over the "
                "picture with the numbers of E as its kernels, gives the same %d x %d numbers: "
                "they differ by at most %.1g.",
                patch, z.rows, FEATURES, largest_gap(out, layer)));
    show(e, "", "by heed_conv", layer, labels, features);
    limit(e, side);
}
