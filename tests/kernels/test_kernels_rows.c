/* Kernels over rows: softmax, cross entropy, normalisation, column sums. */
#include "kernel_case.h"

/* --- Softmax --- */

typedef struct {
    size_t rows;
    int n;
    double beta;
    size_t mask_div, mask_rows; /* mask_rows 0: no mask */
    bool log;
} soft;

/* Row 1 of the mask hides everything. */
static int32_t *soft_mask(const soft *s) {
    if (!s->mask_rows) return NULL;
    size_t n = (size_t)s->n;
    int32_t *mask = kernel_indices(30, s->mask_rows * n, 3);
    for (size_t i = n; i < 2 * n && s->mask_rows > 1; i++) mask[i] = 0;
    return mask;
}
static void run_soft(const heed_kernels *k, const void *args, heed_real *out) {
    const soft *s = args;
    size_t size = s->rows * (size_t)s->n;
    int32_t *mask = soft_mask(s);
    heed_real *x = kernel_numbers(31, size), *gy = kernel_numbers(32, size);
    heed_softmax_job j = {s->rows, s->n,        (heed_real)s->beta, s->log,
                          mask,    s->mask_div, s->mask_rows,       x,
                          out,     gy,          out + size};
    k->softmax(k, &j);
    k->fill(k, out + size, 1, size);
    k->softmax_grad(k, &j);
}
static void want_soft_row(const soft *s, const int32_t *mask, const heed_real *x,
                          const heed_real *gy, double *y, double *gx) {
    double sum = 0, dot = 0;
    for (int i = 0; i < s->n; i++)
        if (!mask || mask[i]) sum += exp(s->beta * (double)x[i]);
    for (int i = 0; i < s->n; i++) {
        if (mask && !mask[i]) continue;
        double p = exp(s->beta * (double)x[i]) / sum;
        y[i] = s->log ? log(p) : p;
        dot += (s->log ? 1 : p) * (double)gy[i];
    }
    for (int i = 0; i < s->n; i++) {
        gx[i] = 1;
        if (mask && !mask[i]) continue;
        double g = (double)gy[i];
        gx[i] += s->beta * (s->log ? g - exp(y[i]) * dot : y[i] * (g - dot));
    }
}
static void want_soft(const void *args, double *out) {
    const soft *s = args;
    size_t n = (size_t)s->n, size = s->rows * n;
    int32_t *mask = soft_mask(s);
    heed_real *x = kernel_numbers(31, size), *gy = kernel_numbers(32, size);
    for (size_t r = 0; r < s->rows; r++) {
        const int32_t *m = mask ? mask + r / s->mask_div % s->mask_rows * n : NULL;
        want_soft_row(s, m, x + r * n, gy + r * n, out + r * n, out + size + r * n);
    }
}
TEST(kernels_softmax_family) {
    static const soft softs[] = {{1, 1, 1, 1, 0, false},    {3, 17, 2, 1, 0, false},
                                 {65, 65, 1, 1, 65, false}, {400, 65, -3, 4, 25, false},
                                 {3, 1000, 0, 1, 0, false}, {6, 3, 1, 2, 3, false},
                                 {1, 1, 1, 1, 0, true},     {65, 17, 2, 1, 65, true},
                                 {400, 65, 5, 4, 25, true}, {3, 1000, 1, 3, 1, true}};
    for (size_t i = 0; i < sizeof softs / sizeof *softs; i++) {
        size_t size = 2 * softs[i].rows * (size_t)softs[i].n;
        kernel_check(&(kernel_case){"softmax", size, run_soft, want_soft, &softs[i], 32});
    }
}
TEST(kernels_softmax_survives_large_scores_and_shows_nan) {
    for (const char *const *isa = heed__kernels_available(); *isa; isa++) {
        heed_kernels k;
        heed__kernels_choose(&k, *isa, 1);
        heed_real x[9] = {1000, 1001, -1000, NAN, 0, 1, 1, 1, 1}, y[9];
        heed_softmax_job j = {3, 3, 1, false, NULL, 1, 1, x, y, NULL, NULL};
        k.softmax(&k, &j);
        CHECK_CLOSE(y[1], 1 / (1 + exp(-1)), 1e-6);
        CHECK(y[2] == 0);
        CHECK(isnan(y[3]) && isnan(y[4]) && isnan(y[5]));
        CHECK_CLOSE(y[8], 1.0 / 3, 1e-6);
        j.log = true;
        k.softmax(&k, &j);
        j.log = false;
        CHECK(isnan(y[3]) && isnan(y[4]) && isnan(y[5]));
        int32_t mask[3] = {0, 1, 1}; /* hides the NaN */
        j.mask = mask;
        k.softmax(&k, &j);
        CHECK(y[3] == 0);
        CHECK_CLOSE(y[5], 1 / (1 + exp(-1)), 1e-6);
    }
}

/* --- Cross entropy --- */

typedef struct {
    size_t rows;
    int c;
    double smoothing;
    bool weighted;
} entropy;

enum { IGNORE = -7 };
static int32_t *entropy_labels(const entropy *e) {
    int32_t *labels = kernel_indices(33, e->rows, (uint32_t)e->c);
    for (size_t r = 2; r < e->rows; r += 3) labels[r] = IGNORE;
    return labels;
}
static heed_real *entropy_weights(const entropy *e) {
    heed_real *w = kernel_numbers(34, (size_t)e->c);
    for (int i = 0; i < e->c; i++) w[i] += (heed_real)1.5;
    return w;
}
/* out: p, loss, gradient */
static void run_entropy(const heed_kernels *k, const void *args, heed_real *out) {
    const entropy *e = args;
    size_t size = e->rows * (size_t)e->c;
    int32_t *labels = entropy_labels(e);
    heed_real *w = entropy_weights(e), *x = kernel_numbers(35, size);
    heed_real *loss = out + size, *gx = loss + e->rows, s = (heed_real)e->smoothing;
    for (size_t i = 0; i < size; i++) x[i] *= 8;
    heed_xent_job j = {.rows = e->rows,
                       .c = e->c,
                       .ignore = IGNORE,
                       .labels = labels,
                       .weights = e->weighted ? w : NULL,
                       .logits = x,
                       .smoothing = s,
                       .scale = 2,
                       .p = out,
                       .loss = loss,
                       .gx = gx};
    k->xent(k, &j);
    k->fill(k, gx, (heed_real)0.5, size);
    k->xent_grad(k, &j);
}
static void want_entropy(const void *args, double *out) {
    const entropy *e = args;
    size_t c = (size_t)e->c, size = e->rows * c;
    int32_t *labels = entropy_labels(e);
    heed_real *w = entropy_weights(e), *x = kernel_numbers(35, size);
    for (size_t r = 0; r < e->rows; r++) {
        double sum = 0, all = 0, *p = out + r * c, *gx = out + size + e->rows + r * c;
        for (size_t i = 0; i < c; i++) sum += exp(8 * (double)x[r * c + i]);
        for (size_t i = 0; i < c; i++) {
            p[i] = exp(8 * (double)x[r * c + i]) / sum;
            gx[i] = 0.5;
            if (labels[r] == IGNORE) continue;
            double t = e->smoothing / (double)e->c + (labels[r] == (int32_t)i) * (1 - e->smoothing);
            t *= e->weighted ? (double)w[i] : 1;
            all += t;
            out[size + r] -= t * log(p[i]);
            gx[i] -= 2 * t;
        }
        for (size_t i = 0; i < c; i++) gx[i] += 2 * all * p[i];
    }
}
TEST(kernels_cross_entropy) {
    static const entropy all[] = {{1, 1, 0, false},     {3, 17, 0, false},     {65, 65, 0.1, false},
                                  {400, 65, 0, true},   {400, 130, 0.2, true}, {17, 3, 0.5, true},
                                  {900, 1001, 0, false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t size = all[i].rows * (2 * (size_t)all[i].c + 1);
        kernel_check(&(kernel_case){"xent", size, run_entropy, want_entropy, &all[i], 32});
    }
}
/* What xent and xent_grad say, of rows that all count. */
TEST(kernels_cross_entropy_in_place) {
    static const entropy all[] = {{1, 1, 0, false},   {65, 65, 0.1, false}, {17, 3, 0.5, true},
                                  {40, 130, 0, true}, {9, 1001, 0, false},  {9, 4096, 0.2, true}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const entropy *e = &all[i];
        size_t size = e->rows * (size_t)e->c;
        heed_kernels k;
        heed__kernels_choose(&k, NULL, 2);
        heed_real *z = kernel_numbers(35, size), *p = calloc(size, sizeof *p);
        heed_real *w = entropy_weights(e), *gx = calloc(size, sizeof *gx), loss[2][65];
        int32_t *labels = kernel_indices(33, e->rows, (uint32_t)e->c);
        const heed_real *weights = e->weighted ? w : NULL;
        heed_real s = (heed_real)e->smoothing;
        for (size_t j = 0; j < size; j++) z[j] *= 8;
        heed_xent_job x = {.rows = e->rows,
                           .c = e->c,
                           .ignore = IGNORE,
                           .labels = labels,
                           .weights = weights,
                           .logits = z,
                           .smoothing = s,
                           .scale = 2,
                           .p = p,
                           .loss = loss[0],
                           .gx = gx};
        k.xent(&k, &x);
        k.xent_grad(&k, &x);
        x.p = z, x.loss = loss[1];
        k.xent_in_place(&k, &x);
        for (size_t r = 0; r < e->rows; r++)
            CHECK_CLOSE(loss[1][r], loss[0][r], 3e-6 * (1 + fabs((double)loss[0][r])));
        for (size_t j = 0; j < size; j++) CHECK_CLOSE(z[j], gx[j], 1e-6);
        free(p);
        free(gx);
        kernel_done();
    }
}
TEST(kernels_cross_entropy_refuses_a_wrong_label) {
    heed_kernels k;
    heed__kernels_choose(&k, NULL, 1);
    heed_real x[4] = {1, 2, 3, 4}, p[4], loss[2], gx[4] = {0};
    int32_t labels[2] = {2, -1};
    heed_xent_job j = {.rows = 2,
                       .c = 2,
                       .ignore = -100,
                       .labels = labels,
                       .logits = x,
                       .scale = 1,
                       .p = p,
                       .loss = loss,
                       .gx = gx};
    k.xent(&k, &j);
    k.xent_grad(&k, &j);
    CHECK(isnan(loss[0]) && isnan(loss[1]));
}

/* --- Normalisation --- */

typedef struct {
    size_t rows;
    int c;
    bool affine, batch, add;
} norm;

static heed_real *norm_input(const norm *n, size_t size) {
    heed_real *x = kernel_numbers(36, size);
    for (size_t i = 0; i < size; i++) x[i] += (heed_real)(3 + (int)(i % (size_t)n->c) % 5);
    return x;
}
/* out: y, gx, mean, rstd, ggain, gbias */
static void run_layer(const heed_kernels *k, const void *args, heed_real *out) {
    const norm *n = args;
    size_t c = (size_t)n->c, size = n->rows * c;
    heed_real *x = norm_input(n, size), *gy = kernel_numbers(37, size);
    heed_real *gain = n->affine ? kernel_numbers(38, c) : NULL, *bias = kernel_numbers(39, c);
    heed_real *gx = out + size, *mean = gx + size, *rstd = mean + n->rows, *gg = rstd + n->rows;
    heed_norm_job j = {.rows = n->rows, .c = n->c, .eps = (heed_real)1e-5, .x = x, .gain = gain};
    j.bias = n->affine ? bias : NULL, j.mean = mean, j.rstd = rstd, j.y = out, j.add = n->add;
    j.gy = gy, j.gx = gx, j.ggain = gg, j.gbias = gg + c;
    k->layer_norm(k, &j);
    k->fill(k, gx, (heed_real)0.5, size);
    k->layer_norm_grad(k, &j);
}
static void want_layer_row(const norm *n, size_t r, const heed_real *x, const heed_real *gy,
                           const heed_real *gain, const heed_real *bias, double *out) {
    size_t c = (size_t)n->c, size = n->rows * c;
    double mean = 0, var = 0, a = 0, b = 0, *gx = out + size, *stats = gx + size;
    double *gg = stats + 2 * n->rows;
    for (size_t i = 0; i < c; i++) mean += (double)x[r * c + i] / (double)c;
    for (size_t i = 0; i < c; i++) var += pow((double)x[r * c + i] - mean, 2) / (double)c;
    double rstd = 1 / sqrt(var + 1e-5);
    stats[r] = mean;
    stats[n->rows + r] = rstd;
    for (size_t i = 0; i < c; i++) {
        double hat = ((double)x[r * c + i] - mean) * rstd, g = (double)gy[r * c + i];
        out[r * c + i] = n->affine ? hat * (double)gain[i] + (double)bias[i] : hat;
        gg[i] += g * hat;
        gg[c + i] += g;
        g *= n->affine ? (double)gain[i] : 1;
        a += g / (double)c;
        b += g * hat / (double)c;
    }
    for (size_t i = 0; i < c; i++) {
        double hat = ((double)x[r * c + i] - mean) * rstd;
        double g = (double)gy[r * c + i] * (n->affine ? (double)gain[i] : 1);
        gx[r * c + i] = (n->add ? 0.5 : 0) + rstd * (g - a - hat * b);
    }
}
static void want_layer(const void *args, double *out) {
    const norm *n = args;
    size_t c = (size_t)n->c, size = n->rows * c;
    heed_real *x = norm_input(n, size), *gy = kernel_numbers(37, size);
    heed_real *gain = kernel_numbers(38, c), *bias = kernel_numbers(39, c);
    for (size_t r = 0; r < n->rows; r++) want_layer_row(n, r, x, gy, gain, bias, out);
}
TEST(kernels_layer_norm) {
    static const norm norms[] = {{1, 3, true, false, true},     {3, 17, false, false, true},
                                 {3, 17, false, false, false},  {65, 65, true, false, false},
                                 {2000, 65, true, false, true}, {70, 700, true, false, false}};
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        size_t c = (size_t)norms[i].c, rows = norms[i].rows;
        kernel_check(&(kernel_case){"layer_norm", 2 * (rows * c + rows + c), run_layer, want_layer,
                                    &norms[i], 64});
    }
}

/* out: y, gx, mean, var, ggain, gbias */
static void run_batch(const heed_kernels *k, const void *args, heed_real *out) {
    const norm *n = args;
    size_t c = (size_t)n->c, size = n->rows * c;
    heed_real *x = norm_input(n, size), *gy = kernel_numbers(37, size);
    heed_real *gain = n->affine ? kernel_numbers(38, c) : NULL, *bias = kernel_numbers(39, c);
    heed_real *gx = out + size, *mean = gx + size, *var = mean + c,
              *rstd = malloc(c * sizeof *rstd);
    k->column_stats(k, mean, var, x, n->rows, n->c);
    for (size_t i = 0; i < c; i++) rstd[i] = (heed_real)(1 / sqrt((double)var[i] + 1e-5));
    heed_norm_job j = {.rows = n->rows, .c = n->c, .x = x, .gain = gain, .batch = n->batch};
    j.bias = n->affine ? bias : NULL, j.mean = mean, j.rstd = rstd, j.y = out, j.add = n->add;
    j.gy = gy, j.gx = gx, j.ggain = var + c, j.gbias = var + 2 * c;
    k->batch_norm(k, &j);
    k->fill(k, gx, (heed_real)0.5, size);
    k->batch_norm_grad(k, &j);
    free(rstd);
}
static void want_batch(const void *args, double *out) {
    const norm *n = args;
    size_t c = (size_t)n->c, size = n->rows * c;
    heed_real *x = norm_input(n, size), *gy = kernel_numbers(37, size);
    heed_real *gains = kernel_numbers(38, c), *bias = kernel_numbers(39, c);
    double *gx = out + size, *stats = gx + size, rows = (double)n->rows;
    for (size_t i = 0; i < c; i++) {
        double mean = 0, var = 0, a = 0, b = 0, gain = n->affine ? (double)gains[i] : 1;
        for (size_t r = 0; r < n->rows; r++) mean += (double)x[r * c + i] / rows;
        for (size_t r = 0; r < n->rows; r++) var += pow((double)x[r * c + i] - mean, 2) / rows;
        double rstd = 1 / sqrt(var + 1e-5);
        for (size_t r = 0; r < n->rows; r++) {
            double hat = ((double)x[r * c + i] - mean) * rstd;
            out[r * c + i] = hat * gain + (n->affine ? (double)bias[i] : 0);
            a += (double)gy[r * c + i];
            b += (double)gy[r * c + i] * hat;
        }
        for (size_t r = 0; r < n->rows; r++) {
            double hat = ((double)x[r * c + i] - mean) * rstd, g = (double)gy[r * c + i];
            gx[r * c + i] =
                (n->add ? 0.5 : 0) + gain * rstd * (n->batch ? g - a / rows - hat * b / rows : g);
        }
        stats[i] = mean;
        stats[c + i] = var;
        stats[2 * c + i] = b;
        stats[3 * c + i] = a;
    }
}
TEST(kernels_batch_norm) {
    static const norm norms[] = {{3, 1, true, true, true},      {17, 3, false, true, true},
                                 {17, 3, false, true, false},   {65, 65, true, false, true},
                                 {2000, 65, true, true, false}, {70, 700, true, true, true}};
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        size_t c = (size_t)norms[i].c;
        kernel_check(&(kernel_case){"batch_norm", 2 * norms[i].rows * c + 4 * c, run_batch,
                                    want_batch, &norms[i], 64});
    }
}

static void run_columns(const heed_kernels *k, const void *args, heed_real *out) {
    const norm *n = args;
    heed_real *x = kernel_numbers(36, n->rows * (size_t)n->c);
    k->sum_rows(k, out, x, n->rows, n->c);
    k->sum_rows(k, out, x, n->rows, n->c);
}
static void want_columns(const void *args, double *out) {
    const norm *n = args;
    size_t size = n->rows * (size_t)n->c;
    heed_real *x = kernel_numbers(36, size);
    for (size_t i = 0; i < size; i++) out[i % (size_t)n->c] += 2 * (double)x[i];
}
TEST(kernels_sums_of_columns) {
    static const norm sizes[] = {
        {1, 1, 0, 0, 0}, {3, 65, 0, 0, 0}, {65, 17, 0, 0, 0}, {5000, 300, 0, 0, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        kernel_check(&(kernel_case){"sum_rows", (size_t)sizes[i].c, run_columns, want_columns,
                                    &sizes[i], 8});
}
