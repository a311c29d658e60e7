/* best_linear.c -- the error of the best linear model at an auto-encoder's task: PCA with as many
 * components as its code has numbers, or the prediction of hidden pixels from visible ones. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <heed/reconstruction.h>
#include <math.h>
#include <string.h>

static const double ridges[] = {HEED_BEST_LINEAR_RIDGES};
enum { RIDGES = sizeof ridges / sizeof *ridges, CHOOSE = 256 };

typedef struct {
    const heed_best_linear_args *a;
    heed_ctx *c;
    const heed_image_transform *v;
    heed_tape *t;
    heed_moments moments;
    heed_grid grid;
    double *axes, *x, *y;  /* (components,n); one picture, and its prediction */
    unsigned char *hidden; /* (n): 1 for pixels of hidden patches */
    int32_t *patches;      /* those of one picture */
    uint64_t done, all;    /* batches, for the progress */
    heed_best_linear_result *out;
} fitting;

/* Batches of a part in order, without augmentation, as pixels from 0 to 1 less a constant: x (rows,
 * n) is overwritten. */
static bool read_batch(fitting *f, uint64_t index, heed_batch *b, heed_real **x) {
    heed_batch_at at = {.val = true, .index = index, .rows = f->a->rows};
    if (!heed_image_batch(f->a->images, at, b)) return false;
    size_t n = (size_t)b->rows * (size_t)b->len;
    heed_real *own = heed__alloc_array(f->c, n, sizeof *own);
    for (size_t i = 0; own && i < n; i++)
        own[i] = b->x[i] * (heed_real)f->v->deviation[i % (size_t)f->v->channels];
    *x = own;
    return own &&
           heed__progress(f->c, f->a->progress, f->a->user, (int64_t)++f->done, (int64_t)f->all);
}

static uint64_t choose_part(const fitting *f, heed_part part) {
    heed_images_set_eval_part(f->a->images, part);
    return heed_images_eval_batches(f->a->images, f->a->rows);
}

static bool fit(fitting *f) {
    uint64_t batches = choose_part(f, HEED_TRAIN_PART);
    bool ok = !heed__stopped(f->c);
    for (uint64_t i = 0; ok && i < batches; i++) {
        heed_batch b;
        heed_real *x = NULL;
        ok = read_batch(f, i, &b, &x) && heed_moments_add(&f->moments, f->t, x, b.rows);
        heed__free(x);
    }
    f->out->trained = (size_t)f->moments.count;
    return ok && heed_moments_end(&f->moments);
}

/* ---- one picture ---- */

static double pca_error(const fitting *f) {
    return heed_principal_error(&f->moments, f->axes, f->out->components, f->x);
}

/* Marks the pixels that the model does not see of the picture in this row of a batch. */
static int mark_hidden(const fitting *f, heed_batch_at at, int row) {
    int size = f->v->size, side = size / f->grid.cols, count = 0;
    heed_masked_patches(f->c, at, row, f->grid.rows * f->grid.cols, f->grid.hidden, f->patches);
    memset(f->hidden, 0, (size_t)f->moments.n);
    for (int i = 0; i < f->grid.hidden; i++) {
        int top = f->patches[i] / f->grid.cols * side, left = f->patches[i] % f->grid.cols * side;
        int line = side * f->v->channels;
        for (int y = top; y < top + side; y++, count += line)
            memset(f->hidden + (y * size + left) * f->v->channels, 1, (size_t)line);
    }
    return count;
}

static double hidden_error(const fitting *f, double ridge) {
    double sum = 0;
    if (!heed_linear_predict(&f->moments, f->hidden, ridge, f->x, f->y)) return (double)NAN;
    for (int i = 0; i < f->moments.n; i++) sum += (f->y[i] - f->x[i]) * (f->y[i] - f->x[i]);
    return sum;
}

/* ---- a part ---- */

/* Mean errors over at most `most` pictures of a part, with each of `count` ridges. */
static bool measure(fitting *f, heed_part part, size_t most, const double *ridge, int count,
                    double *error) {
    uint64_t batches = choose_part(f, part);
    double pixels = 0;
    size_t pictures = 0, n = (size_t)f->moments.n;
    bool ok = !heed__stopped(f->c);
    memset(error, 0, (size_t)count * sizeof *error);
    for (uint64_t i = 0; ok && pictures < most && i < batches; i++) {
        heed_batch b;
        heed_real *x = NULL;
        ok = read_batch(f, i, &b, &x);
        heed_batch_at at = {.val = true, .index = i, .rows = f->a->rows};
        for (int row = 0; ok && row < b.rows && pictures < most; row++, pictures++) {
            for (size_t j = 0; j < n; j++) f->x[j] = (double)x[(size_t)row * n + j];
            pixels += f->out->components ? (double)n : mark_hidden(f, at, row);
            for (int k = 0; k < count; k++)
                error[k] += f->out->components ? pca_error(f) : hidden_error(f, ridge[k]);
        }
        heed__free(x);
    }
    for (int k = 0; k < count; k++) error[k] /= pixels;
    f->out->count = pictures;
    return ok && !heed__stopped(f->c);
}

/* The ridge is chosen on validation pictures; without any, on training pictures. */
static heed_part ridge_part(const fitting *f) {
    const size_t *count = heed_images_about(f->a->images)->count;
    return count[HEED_VAL_PART] ? HEED_VAL_PART : HEED_TRAIN_PART;
}

static uint64_t ridge_batches(const fitting *f) {
    uint64_t rows = f->a->rows > 0 ? (uint64_t)f->a->rows : 1, most = (CHOOSE + rows - 1) / rows;
    uint64_t all = choose_part(f, ridge_part(f));
    return all < most ? all : most;
}

/* Sets the ridge of least error. */
static bool choose_ridge(fitting *f) {
    double tried[RIDGES], error[RIDGES], variance = 0;
    int n = f->moments.n, best = 0;
    for (int i = 0; i < n; i++) variance += f->moments.covariance[(size_t)i * (size_t)(n + 1)] / n;
    for (int i = 0; i < RIDGES; i++) tried[i] = ridges[i] * fmax(variance, 1e-9);
    if (!measure(f, ridge_part(f), CHOOSE, tried, RIDGES, error)) return false;
    for (int i = 1; i < RIDGES; i++)
        if (!(error[best] <= error[i])) best = i; /* an error that is not finite is none */
    f->out->ridge = tried[best];
    return true;
}

/* ---- all ---- */

/* The width of the code, by a pass over one picture; 0 on error. */
static int code_width(heed_run *r, const heed_image_transform *v) {
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_model_input in = {
        .x = heed_input(r->tape, NULL, 4, (int[]){1, v->size, v->size, v->channels})};
    const heed_tensor *z = r->model->code ? r->model->code(r->self, r->tape, &in) : NULL;
    return z ? z->shape[1] : 0;
}

static bool open_fitting(fitting *f) {
    heed_run *r = f->a->run;
    int n = f->v->size * f->v->size * f->v->channels;
    bool masks = r->model->grid && r->model->grid(r->self, &f->grid) && f->grid.hidden > 0;
    if (!masks) f->out->components = code_width(r, f->v);
    if (f->out->components > n) f->out->components = n;
    if (!masks && !f->out->components)
        return heed_fail(f->c, HEED_USAGE, "there is no linear model like %s: it has no code",
                         r->model->name);
    if (!heed_moments_open(&f->moments, f->c, n)) return false; /* limits n */
    f->t = heed_tape_new(f->c);
    f->axes = heed__alloc_array(f->c, (size_t)(f->out->components * n) + 1, sizeof *f->axes);
    f->x = heed__alloc_array(f->c, (size_t)n, sizeof *f->x);
    f->y = heed__alloc_array(f->c, (size_t)n, sizeof *f->y);
    f->hidden = heed__alloc(f->c, (size_t)n);
    f->patches = heed__alloc_array(f->c, (size_t)f->grid.hidden + 1, sizeof *f->patches);
    return !heed__stopped(f->c);
}

bool heed_best_linear_error(const heed_best_linear_args *a, heed_best_linear_result *out) {
    heed_run *r = a ? a->run : NULL;
    if (out) *out = (heed_best_linear_result){.error = (double)NAN};
    if (!r || !a->images || !out || heed__stopped(r->c)) return false;
    fitting f = {.a = a, .c = r->c, .v = &heed_images_about(a->images)->view, .out = out};
    f.all = choose_part(&f, a->part);
    f.all += choose_part(&f, HEED_TRAIN_PART);
    bool ok = !heed__stopped(f.c) && open_fitting(&f);
    if (ok && !out->components) f.all += ridge_batches(&f);
    ok = ok && fit(&f);
    if (ok)
        ok = out->components ? heed_principal(&f.moments, out->components, f.axes, NULL)
                             : choose_ridge(&f);
    ok = ok && measure(&f, a->part, SIZE_MAX, &out->ridge, 1, &out->error);
    heed_moments_free(&f.moments);
    heed_tape_free(f.t);
    void *own[] = {f.axes, f.x, f.y, f.hidden, f.patches};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) heed__free(own[i]);
    return ok;
}
