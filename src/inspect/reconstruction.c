/* reconstruction.c -- one picture as an auto-encoder returns it, and the codes of many. */
#include "core/core.h"
#include "data/kind.h"
#include "inspect/inspect.h"

#include <heed/reconstruction.h>
#include <math.h>
#include <string.h>

/* ---- one picture ---- */

static const unsigned char GREY = 128;

static unsigned char byte_of(double v) { return (unsigned char)lround(255 * fmin(fmax(v, 0), 1)); }

static bool takes_pictures(const heed_run *r) {
    const heed_model *m = r->model;
    const heed_data_kind *kind = heed_model_data(m);
    return (kind->images && !kind->ask && m->logits) ||
           heed_fail(r->c, HEED_USAGE,
                     "there is no reconstruction: %s does not predict pixels: expected a model "
                     "whose answer is a picture",
                     m->name);
}

/* Whether pixel `at` of (size,size,channels) is in a hidden patch; patches (n): 1 for those. */
static bool is_hidden(const unsigned char *patches, heed_grid g, int size, int channels,
                      size_t at) {
    int pixel = (int)(at / (size_t)channels), row = pixel / size, col = pixel % size;
    return patches[row * g.rows / size * g.cols + col * g.cols / size];
}

static void fill(const heed_image_transform *v, heed_grid g, const unsigned char *patches,
                 const heed_real *x, const heed_real *y, heed_reconstruction *out) {
    size_t n = (size_t)v->size * (size_t)v->size * (size_t)v->channels, counted = 0;
    for (size_t i = 0; i < n; i++) {
        size_t channel = i % (size_t)v->channels;
        bool hidden = patches && is_hidden(patches, g, v->size, v->channels, i);
        double in = (double)x[i] * v->deviation[channel] + v->mean[channel];
        double made = (double)y[i] * v->deviation[channel] + v->mean[channel];
        if (patches && !hidden) made = in;
        out->pixels[HEED_SHOWN_INPUT][i] = byte_of(in);
        out->pixels[HEED_SHOWN_SEEN][i] = hidden ? GREY : byte_of(in);
        out->pixels[HEED_SHOWN_MADE][i] = byte_of(made);
        out->pixels[HEED_SHOWN_OFF][i] = byte_of(fabs(made - in));
        if (patches && !hidden) continue;
        out->error += (made - in) * (made - in);
        counted++;
    }
    out->error /= (double)counted;
}

bool heed_reconstruct(heed_run *r, const heed_real *x, const int32_t *hide, int hidden,
                      heed_reconstruction *out) {
    heed_image_transform v;
    heed_grid g = {.rows = 0};
    if (out) *out = (heed_reconstruction){.size = 0};
    if (!r || !x || !out || heed__stopped(r->c) || !takes_pictures(r) ||
        !heed_image_transform_of(r->c, r->config, &v))
        return false;
    bool masks = hide && hidden > 0 && r->model->grid && r->model->grid(r->self, &g);
    if (masks && hidden >= g.rows * g.cols)
        return heed_fail(r->c, HEED_USAGE,
                         "too many patches are hidden: expected fewer than the %d of the picture, "
                         "found %d",
                         g.rows * g.cols, hidden);
    *out =
        (heed_reconstruction){.size = v.size, .channels = v.channels, .hidden = masks ? hidden : 0};
    size_t n = (size_t)v.size * (size_t)v.size * (size_t)v.channels;
    unsigned char *patches = heed__alloc(r->c, (size_t)(g.rows * g.cols) + 1);
    for (int i = 0; i < HEED_SHOWN; i++) out->pixels[i] = heed__alloc(r->c, n);
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_model_input in = {.x = heed_input(r->tape, x, 4, (int[]){1, v.size, v.size, v.channels}),
                           .masked_positions =
                               masks ? heed_input_ids(r->tape, hide, 1, &hidden) : NULL};
    const heed_tensor *y = r->model->logits(r->self, r->tape, &in);
    bool ok = y && y->size == n && !heed__stopped(r->c);
    for (int i = 0; ok && masks && i < hidden; i++) patches[hide[i]] = 1;
    if (ok) fill(&v, g, masks ? patches : NULL, x, y->x, out);
    heed__free(patches);
    return ok;
}

bool heed_reconstruct_at(heed_run *r, const heed_real *x, uint64_t index,
                         heed_reconstruction *out) {
    heed_grid g = {.rows = 0};
    if (out) *out = (heed_reconstruction){.size = 0};
    if (!r || heed__stopped(r->c)) return false;
    if (!r->model->grid || !r->model->grid(r->self, &g) || g.hidden < 1)
        return heed_reconstruct(r, x, NULL, 0, out);
    int32_t *hide = heed__alloc_array(r->c, (size_t)g.hidden, sizeof *hide);
    heed_batch_at at = {.val = true, .index = index, .rows = 1};
    if (hide) heed_masked_patches(r->c, at, 0, g.rows * g.cols, g.hidden, hide);
    bool ok = hide && heed_reconstruct(r, x, hide, g.hidden, out);
    heed__free(hide);
    return ok;
}

void heed_reconstruction_free(heed_reconstruction *k) {
    if (!k) return;
    for (int i = 0; i < HEED_SHOWN; i++) heed__free(k->pixels[i]);
    *k = (heed_reconstruction){.size = 0};
}

/* ---- codes ---- */

static bool add_codes(heed_run *r, const heed_batch *b, const heed_image_transform *v,
                      heed_codes *out, size_t all) {
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_model_input in = {
        .x = heed_input(r->tape, b->x, 4, (int[]){b->rows, v->size, v->size, v->channels})};
    const heed_tensor *y = r->model->code(r->self, r->tape, &in);
    if (!y) return false;
    size_t width = (size_t)y->shape[1], at = (size_t)out->count;
    if (!out->x) {
        out->width = y->shape[1];
        out->x = heed__alloc_array(r->c, all * width, sizeof *out->x);
        out->label = heed__alloc_array(r->c, all, sizeof *out->label);
    }
    if (!out->x || !out->label) return false;
    memcpy(out->x + at * width, y->x, y->size * sizeof *y->x);
    memcpy(out->label + at, b->labels, (size_t)b->rows * sizeof *b->labels);
    out->count += b->rows;
    return true;
}

bool heed_codes_read(heed_run *r, heed_images *images, heed_part part, int rows, heed_codes *out) {
    if (out) *out = (heed_codes){.count = 0};
    if (!r || !images || !out || heed__stopped(r->c)) return false;
    if (!heed_model_data(r->model)->images || !r->model->code)
        return heed_fail(r->c, HEED_USAGE, "there is no code: %s has no layer for one",
                         r->model->name);
    const heed_images_info *about = heed_images_about(images);
    heed_batch b;
    heed_images_set_eval_part(images, part);
    uint64_t batches = heed__images_eval_batches(images, rows);
    bool ok = !heed__stopped(r->c);
    for (uint64_t i = 0; ok && i < batches; i++)
        ok =
            heed__image_batch(images, (heed_batch_at){.val = true, .index = i, .rows = rows}, &b) &&
            add_codes(r, &b, &about->view, out, about->count[part]);
    return ok;
}

void heed_codes_free(heed_codes *k) {
    if (!k) return;
    heed__free(k->x);
    heed__free(k->label);
    *k = (heed_codes){.count = 0};
}

/* The covariance of the codes, and what is needed to follow its axes. */
typedef struct {
    size_t n;
    double *mean, *axis;         /* (n), (2,n) */
    double *next;                /* (n): work */
    const heed_real *covariance; /* (n,n), times the number of codes; of the tape */
} spread;

/* In float, a large mean would cost digits of the covariance: it is subtracted first. */
static bool measure(const heed_codes *k, heed_tape *t, spread *s) {
    size_t n = s->n, all = (size_t)k->count * n;
    for (size_t i = 0; i < all; i++) s->mean[i % n] += (double)k->x[i] / k->count;
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *x = heed_input(t, k->x, 2, (int[]){k->count, k->width});
    for (size_t i = 0; x && i < all; i++) x->x[i] = (heed_real)((double)k->x[i] - s->mean[i % n]);
    const heed_tensor *products = heed_matmul_tn(t, x, x);
    if (products) s->covariance = products->x;
    return products != NULL;
}

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Finds principal component `index` (0, then 1), with its largest entry positive, by power
 * iteration, and returns its variance. Golub & Van Loan 2013, sec. 8.2.1. */
static double follow(const spread *s, size_t index) {
    enum { MOST = 2000 };
    size_t n = s->n, largest = 0;
    double *axis = s->axis + index * n, variance = 0, before = -1;
    heed_random start = heed_random_at(1, "principal", index, 0);
    for (size_t i = 0; i < n; i++) axis[i] = heed_random_normal(&start, i);
    for (int step = 0; step < MOST && variance > before * (1 + 1e-12); step++) {
        double along = index ? dot(axis, s->axis, n) : 0;
        for (size_t i = 0; i < n && index; i++) axis[i] -= along * s->axis[i];
        double size = sqrt(dot(axis, axis, n));
        for (size_t i = 0; i < n; i++) axis[i] = size > 0 ? axis[i] / size : 0;
        for (size_t i = 0; i < n; i++) {
            s->next[i] = 0;
            for (size_t j = 0; j < n; j++) s->next[i] += (double)s->covariance[i * n + j] * axis[j];
        }
        before = variance;
        variance = dot(axis, s->next, n);
        if (variance > before) memcpy(axis, s->next, n * sizeof *axis);
    }
    double size = sqrt(dot(axis, axis, n));
    for (size_t i = 1; i < n; i++)
        if (fabs(axis[i]) > fabs(axis[largest])) largest = i;
    if (axis[largest] < 0) size = -size;
    for (size_t i = 0; i < n && size != 0; i++) axis[i] /= size;
    return variance;
}

/* Projects the codes on their first two components. */
static bool project(heed_ctx *c, heed_tape *t, const heed_codes *k, double *xy, double *share) {
    enum { MOST = 4096 };
    size_t n = (size_t)k->width, count = (size_t)k->count;
    if (n > MOST)
        return heed_fail(c, HEED_USAGE,
                         "the codes have too many numbers for a plane: expected at most %d, found "
                         "%zu",
                         MOST, n);
    double all = 0, *memory = heed__alloc_array(c, 4 * n, sizeof *memory);
    spread s = {.n = n, .mean = memory, .axis = memory + n, .next = memory + 3 * n};
    bool ok = memory && measure(k, t, &s);
    double both = ok ? follow(&s, 0) : 0;
    if (ok) both += follow(&s, 1);
    for (size_t i = 0; ok && i < n; i++) all += (double)s.covariance[i * n + i];
    for (size_t i = 0; ok && i < 2 * count * n; i++) {
        size_t axis = i / n / count, row = i / n % count, j = i % n;
        double *to = &xy[axis * count + row];
        *to = (j ? *to : 0) + s.axis[axis * n + j] * ((double)k->x[row * n + j] - s.mean[j]);
    }
    *share = all > 0 ? both / all : 0;
    heed__free(memory);
    return ok;
}

bool heed_codes_plane(heed_ctx *c, const heed_codes *k, double *xy, double *share) {
    if (!c || heed__stopped(c) || !k || !k->x || !xy || !share) return false;
    size_t count = (size_t)k->count;
    *share = 1;
    for (size_t i = 0; k->width <= 2 && i < 2 * count; i++) {
        size_t axis = i / count, row = i % count;
        xy[i] = axis < (size_t)k->width ? (double)k->x[row * (size_t)k->width + axis] : 0;
    }
    if (k->width <= 2) return true;
    heed_tape *t = heed_tape_new(c);
    bool ok = t && project(c, t, k, xy, share);
    heed_tape_free(t);
    return ok;
}
