/* lesson_patches.c -- a picture as tokens: its pixels x (1 x p), cut into patches z (m x d), m d =
 * p, and each patch times E. Dosovitskiy et al. 2021, eq. 1. */
#include "explain/explain.h"
#include "kinds/records.h"

#include <heed/image.h>
#include <heed/view.h>
#include <math.h>
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

typedef struct {
    int side, patch;           /* pixels a side of the picture, of a patch */
    int tokens, size;          /* m patches of d pixels */
    heed_matrix x, picture, z; /* (1,p), the same as (side,side), (m,d) */
    heed_matrix e, out;        /* (d,3), (m,3) */
    double *memory;
    char (*texts)[24];
    const char **labels; /* of the patches */
    double gap;          /* largest difference from the library's patch embedding */
} patches;

/* ---- the picture ---- */

/* Grey from 0 to 1, of `side` pixels a side. */
static bool read_pixels(explaining *e, patches *a) {
    heed_picture p = {0};
    if (!read_picture(e->c, e->input, &p)) return false;
    int side = p.width < p.height ? p.width : p.height;
    bool ok = heed_picture_convert(&p, 1) == HEED_OK ||
              heed_fail(e->c, HEED_FAILED, "no memory for the picture %s", e->input);
    a->side = side <= LARGEST ? side : a->patch > RESIZED ? a->patch : RESIZED;
    a->side -= a->side % a->patch;
    if (ok && a->side < a->patch)
        ok = heed_fail(e->c, HEED_USAGE, "--patch %d: the picture has only %d x %d pixels",
                       a->patch, p.width, p.height);
    heed_image_transform v = {.size = a->side, .channels = 1, .deviation = {1}};
    size_t n = (size_t)a->side * (size_t)a->side;
    heed_real *out = ok ? allocate(e->c, n, sizeof *out, "pixels") : NULL;
    heed_real *work =
        ok ? allocate(e->c, heed_image_transform_work(&p, &v), sizeof *work, "pixels") : NULL;
    a->memory = out && work ? allocate(e->c, n, sizeof(double), "pixels") : NULL;
    if (a->memory) heed_picture_transform(&p, &v, NULL, NULL, out, work);
    for (size_t i = 0; a->memory && i < n; i++) a->memory[i] = (double)out[i];
    free(out);
    free(work);
    heed_picture_free(&p);
    return a->memory != NULL;
}

static bool built_in(explaining *e, patches *a) {
    a->side = BUILT_IN;
    if (BUILT_IN % a->patch)
        return heed_fail(e->c, HEED_USAGE,
                         "--patch %d: expected a divisor of %d, the built-in picture's side",
                         a->patch, BUILT_IN);
    a->memory = allocate(e->c, BUILT_IN * BUILT_IN, sizeof(double), "pixels");
    for (int i = 0; a->memory && i < BUILT_IN * BUILT_IN; i++) a->memory[i] = seven[i] == '#';
    return a->memory != NULL;
}

/* ---- patches ---- */

/* The place in x of element k of patch i: patches and their pixels are read row by row. */
static int pixel_of(const patches *a, int i, int k) {
    int across = a->side / a->patch;
    int row = i / across * a->patch + k / a->patch, col = i % across * a->patch + k % a->patch;
    return row * a->side + col;
}

/* The three columns of E: the mean, and how much brighter it becomes to the right and downwards. */
static void choose_e(patches *a) {
    double middle = (a->patch - 1) / 2.0;
    for (int k = 0; k < a->size; k++) {
        double *to = a->e.x + k * FEATURES;
        to[0] = 1.0 / a->size;
        to[1] = (k % a->patch > middle) - (k % a->patch < middle);
        to[2] = (k / a->patch > middle) - (k / a->patch < middle);
    }
}

static bool cut(explaining *e, patches *a) {
    int p = a->side * a->side;
    a->size = a->patch * a->patch;
    a->tokens = p / a->size;
    size_t n = (size_t)(2 * p + FEATURES * (a->size + a->tokens));
    double *all = allocate(e->c, n, sizeof *all, "patches");
    if (!all) return false;
    memcpy(all, a->memory, (size_t)p * sizeof *all);
    free(a->memory);
    a->memory = all;
    a->x = lesson_matrix(1, p, all);
    a->picture = lesson_matrix(a->side, a->side, all);
    a->z = lesson_matrix(a->tokens, a->size, all + p);
    a->e = lesson_matrix(a->size, FEATURES, all + 2 * p);
    a->out = lesson_matrix(a->tokens, FEATURES, a->e.x + FEATURES * a->size);
    for (int i = 0; i < p; i++) a->z.x[i] = a->x.x[pixel_of(a, i / a->size, i % a->size)];
    choose_e(a);
    heed_matrix_product(&a->z, &a->e, (heed_matmul_how){.add = false}, &a->out);
    return true;
}

/* The library's layer, a convolution of kernel and stride `patch` over the picture, with E as its
 * weights. */
static bool by_library(explaining *e, patches *a) {
    heed_store *s = heed_store_new(e->c);
    heed_tape *t = heed_tape_new(e->c);
    heed_conv l;
    heed_patch_embed_init(&l, s, "patch", 1, a->patch, FEATURES, NULL);
    heed_real *pixels = allocate(e->c, (size_t)a->x.cols, sizeof *pixels, "pixels");
    heed_tensor *y = NULL;
    if (pixels && heed_ctx_status(e->c) == HEED_OK) {
        for (int i = 0; i < a->x.cols; i++) pixels[i] = (heed_real)a->x.x[i];
        for (int i = 0; i < a->size * FEATURES; i++)
            l.w->x[i % FEATURES * a->size + i / FEATURES] = (heed_real)a->e.x[i];
        memset(l.b->x, 0, l.b->size * sizeof *l.b->x);
        heed_tape_begin(t, HEED_EVAL, 0);
        y = heed_patch_embed_apply(&l, t,
                                   heed_input(t, pixels, 4, (int[]){1, a->side, a->side, 1}));
    }
    for (size_t i = 0; y && i < y->size; i++)
        a->gap = fmax(a->gap, fabs((double)y->x[i] - a->out.x[i]));
    free(pixels);
    heed_tape_free(t);
    heed_store_free(s);
    return y != NULL;
}

/* ---- output ---- */

static json_t *as_json(const patches *a) {
    return json_pack("{s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:f}", "example", "patches", "side",
                     a->side, "patch", a->patch, "x", matrix_json(&a->x), "z", matrix_json(&a->z),
                     "E", matrix_json(&a->e), "zE", matrix_json(&a->out), "largest_difference",
                     a->gap);
}

static void draw_picture(explaining *e, const patches *a) {
    heed_real pixels[LARGEST * LARGEST];
    for (int i = 0; i < a->x.cols; i++) pixels[i] = (heed_real)a->x.x[i];
    heed_heatmap_text(&(heed_heatmap){.title = "the picture",
                                      .rows = a->side,
                                      .cols = a->side,
                                      .values = pixels,
                                      .hi = 1,
                                      .unit = "brightness, percent",
                                      .percent = true,
                                      .terminal = terminal_kind(stdout),
                                      .width = e->look.width},
                      &e->out);
    gap(e);
}

/* A part for drawing: whole for a small picture, else its first rows and columns. */
static matrix_view view_of(const patches *a, const char *name, const heed_matrix *m) {
    int most = a->side > BUILT_IN ? SHOWN : 0;
    bool rows = m == &a->z || m == &a->out, cols = m == &a->e || m == &a->out;
    return (matrix_view){.name = name,
                         .m = m,
                         .row_labels = rows ? a->labels : NULL,
                         .col_labels = cols ? features : NULL,
                         .most_rows = most,
                         .most_cols = most,
                         .pixels = m == &a->picture || m == &a->z};
}

static void draw_part(explaining *e, const patches *a, const char *name, const heed_matrix *m) {
    matrix_view v = view_of(a, name, m);
    draw_matrix(&e->out, &e->look, &v);
    gap(e);
}

/* Which elements of x the first row of z has. */
static const char *first_row(const patches *a, char text[96]) {
    *text = 0;
    if (a->patch > 1)
        snprintf(text, 96, " Row 1 is x[1] .. x[%d], then x[%d] .. x[%d], and so on.", a->patch,
                 a->side + 1, a->side + a->patch);
    return text;
}

static void draw(explaining *e, const patches *a) {
    int p = a->x.cols, across = a->side / a->patch;
    char text[96];
    heading(e, "Patches of a picture as a matrix: x, z, zE");
    say(e, "A picture of %d x %d grey pixels, from 0 to 1%s.", a->side, a->side,
        e->input ? " (resized to a square of whole patches)" : "");
    if (a->side > BUILT_IN)
        draw_picture(e, a);
    else
        draw_part(e, a, "the picture", &a->picture);
    say(e,
        "1. Row by row it is one vector x of p = %d numbers, 1 x p. A dense layer would read that: "
        "one weight for each pixel, and no pixel knows its neighbours.",
        p);
    draw_part(e, a, "x", &a->x);
    say(e,
        "2. Cut into %d x %d patches of %d x %d pixels, read row by row, it is z, m x d: m = %d "
        "patches, a row each, of d = %d numbers; m d = p, nothing is lost.%s",
        across, across, a->patch, a->patch, a->tokens, a->size, first_row(a, text));
    draw_part(e, a, "z", &a->z);
    say(e,
        "3. Times E, d x e, the same for every patch: a row of zE is a token. A model learns E; "
        "here its columns are chosen to be readable: the mean of a patch, and how much brighter it "
        "becomes to the right and downwards. Look at a row of zE and at its patch in the picture.");
    const matrix_view v[] = {view_of(a, "z", &a->z), view_of(a, "E", &a->e),
                             view_of(a, "zE", &a->out)};
    draw_equation(&e->out, &e->look, 3, v, (const char *[]){"", "·", "="});
    gap(e);
    say(e,
        "The library's patch embedding, a convolution of kernel and stride %d over the picture "
        "with the numbers of E as its kernels, gives the same %d x %d numbers: they differ by at "
        "most "
        "%.1g.",
        a->patch, a->tokens, FEATURES, a->gap);
    lesson_try(e, "explain patches --patch 2\n"
                  "explain patches --png patches.png\n"
                  "explain conv");
}

static bool write_png(explaining *e, const patches *a) {
    matrix_view v[] = {view_of(a, "picture", &a->picture),
                       view_of(a, "z: a row for each patch", &a->z), view_of(a, "zE", &a->out)};
    v[2].continues = true;
    return lesson_maps(e, (lesson_scale){NULL, 0}, 3, v);
}

/* Labels each patch by its row and column: "2,1". */
static bool label(explaining *e, patches *a) {
    int across = a->side / a->patch;
    a->texts = allocate(e->c, (size_t)a->tokens, sizeof *a->texts, "labels");
    a->labels = allocate(e->c, (size_t)a->tokens, sizeof *a->labels, "labels");
    for (int i = 0; a->texts && a->labels && i < a->tokens; i++) {
        snprintf(a->texts[i], sizeof *a->texts, "%d,%d", i / across + 1, i % across + 1);
        a->labels[i] = a->texts[i];
    }
    return a->texts && a->labels;
}

void explain_patches(explaining *e) {
    patches a = {.patch = (int)heed_config_int(e->p->flags, "patch")};
    bool ok = (e->input ? read_pixels(e, &a) : built_in(e, &a)) && cut(e, &a) && label(e, &a) &&
              by_library(e, &a);
    if (ok && write_png(e, &a) && !lesson_json(e, as_json(&a))) draw(e, &a);
    free(a.memory);
    free(a.texts);
    free(a.labels);
}
