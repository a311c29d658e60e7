/* linear.c -- mean and covariance of rows, their principal components, and the best linear
 * prediction of some numbers from others. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <heed/reconstruction.h>
#include <math.h>
#include <string.h>

/* ---- mean and covariance ---- */

bool heed_moments_open(heed_moments *m, heed_ctx *c, int n) {
    if (!m) return false;
    *m = (heed_moments){.c = c, .n = n};
    if (!c || heed__stopped(c)) return false;
    if (n < 1 || n > HEED_MOMENTS_MOST)
        return heed_fail(c, HEED_USAGE,
                         "a covariance would be too large: expected rows of 1 to %d numbers, found "
                         "%d; hint: smaller pictures",
                         HEED_MOMENTS_MOST, n);
    m->mean = heed__alloc_array(c, (size_t)n, sizeof *m->mean);
    m->covariance = heed__alloc_array(c, (size_t)n * (size_t)n, sizeof *m->covariance);
    m->shift = heed__alloc_array(c, (size_t)n, sizeof *m->shift);
    return m->mean && m->covariance && m->shift;
}

bool heed_moments_add(heed_moments *m, heed_tape *t, const heed_real *x, int rows) {
    if (!m || !m->covariance || !t || !x || rows < 1) return false;
    size_t n = (size_t)m->n, count = (size_t)rows;
    for (size_t i = 0; m->count <= 0 && i < n; i++) {
        double sum = 0;
        for (size_t r = 0; r < count; r++) sum += (double)x[r * n + i];
        m->shift[i] = (heed_real)(sum / rows);
    }
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *in = heed_input(t, x, 2, (int[]){rows, m->n});
    for (size_t i = 0; in && i < count * n; i++) in->x[i] -= m->shift[i % n];
    const heed_tensor *products = heed_matmul_tn(t, in, in);
    if (!products) return false;
    for (size_t i = 0; i < count * n; i++) m->mean[i % n] += (double)in->x[i];
    for (size_t i = 0; i < n * n; i++) m->covariance[i] += (double)products->x[i];
    m->count += rows;
    return true;
}

bool heed_moments_end(heed_moments *m) {
    if (!m || !m->covariance) return false;
    size_t n = (size_t)m->n;
    if (m->count < 1)
        return heed_fail(m->c, HEED_DATA, "there is no mean: expected rows, found none");
    for (size_t i = 0; i < n; i++) m->mean[i] /= m->count;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double v = m->covariance[i * n + j] / m->count - m->mean[i] * m->mean[j];
            m->covariance[i * n + j] = m->covariance[j * n + i] = v;
        }
    for (size_t i = 0; i < n; i++) m->mean[i] += (double)m->shift[i];
    return true;
}

void heed_moments_free(heed_moments *m) {
    if (!m) return;
    heed__free(m->mean);
    heed__free(m->covariance);
    heed__free(m->shift);
    *m = (heed_moments){.n = 0};
}

/* ---- principal components ---- */

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* y += scale x */
static void add_scaled(double *y, double scale, const double *x, int n) {
    for (int i = 0; i < n; i++) y[i] += scale * x[i];
}

/* Makes the rows (k,n) orthonormal, each against those before it, twice: once is not enough where
 * rows are nearly parallel. A row that is left with nothing becomes zero. */
static void orthonormalise(double *rows, int k, int n) {
    for (int i = 0; i < k; i++) {
        double *row = rows + (size_t)i * (size_t)n, before = sqrt(dot(row, row, n));
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j < i; j++) {
                const double *other = rows + (size_t)j * (size_t)n;
                add_scaled(row, -dot(row, other, n), other, n);
            }
        double size = sqrt(dot(row, row, n));
        double scale = size > 1e-12 * before ? 1 / size : 0;
        for (int c = 0; c < n; c++) row[c] *= scale;
    }
}

/* to (k,n) = from C. */
static void multiply(const heed_moments *m, const double *from, double *to, int k) {
    size_t n = (size_t)m->n;
    memset(to, 0, (size_t)k * n * sizeof *to);
    for (size_t j = 0; j < n; j++) /* C row by row, which is read once */
        for (size_t i = 0; i < (size_t)k; i++)
            add_scaled(to + i * n, from[i * n + j], m->covariance + j * n, m->n);
}

/* One rotation of Jacobi's method, which zeroes s[p][q] of a symmetric s (k,k), and is applied to
 * rows p and q of v (k,k), too. */
static void rotate(double *s, double *v, int k, int p, int q) {
    double off = s[p * k + q];
    if (off == 0) return;
    double theta = (s[q * k + q] - s[p * k + p]) / (2 * off);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), sine = t * c;
    for (int i = 0; i < k; i++) {
        double a = s[i * k + p], b = s[i * k + q];
        s[i * k + p] = c * a - sine * b;
        s[i * k + q] = sine * a + c * b;
    }
    for (int i = 0; i < k; i++) {
        double a = s[p * k + i], b = s[q * k + i], x = v[p * k + i], y = v[q * k + i];
        s[p * k + i] = c * a - sine * b;
        s[q * k + i] = sine * a + c * b;
        v[p * k + i] = c * x - sine * y;
        v[q * k + i] = sine * x + c * y;
    }
}

/* Eigenvectors of a symmetric s (k,k) as rows of v; s becomes diagonal. Jacobi 1846. */
static void diagonalise(double *s, double *v, int k) {
    enum { SWEEPS = 30 };
    for (int i = 0; i < k * k; i++) v[i] = i % (k + 1) == 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int p = 0; p < k; p++)
            for (int q = p + 1; q < k; q++) rotate(s, v, k, p, q);
}

/* A subspace of k dimensions: orthonormal rows q (k,n), and work memory. */
typedef struct {
    int k;
    double *q, *z, *s, *v, *value; /* (k,n), (k,n), (k,k), (k,k), (k) */
} subspace;

/* Moves q towards the axes of largest variance until the variance within it no longer grows. */
static void iterate(const heed_moments *m, subspace *w) {
    enum { MOST = 500 };
    size_t n = (size_t)m->n, k = (size_t)w->k;
    double before = 0;
    for (int step = 0; step < MOST; step++) {
        double within = 0;
        orthonormalise(w->q, w->k, m->n);
        multiply(m, w->q, w->z, w->k);
        for (size_t i = 0; i < k; i++) within += dot(w->q + i * n, w->z + i * n, m->n);
        if (within <= before * (1 + 1e-12)) return;
        before = within;
        memcpy(w->q, w->z, k * n * sizeof *w->q);
    }
    orthonormalise(w->q, w->k, m->n);
}

/* The axes of the variance within the subspace, largest first, into z; z = q C on entry. */
static void align(const heed_moments *m, subspace *w) {
    int k = w->k;
    size_t n = (size_t)m->n;
    for (int i = 0; i < k * k; i++)
        w->s[i] = dot(w->q + (size_t)(i / k) * n, w->z + (size_t)(i % k) * n, m->n);
    diagonalise(w->s, w->v, k);
    memset(w->z, 0, (size_t)k * n * sizeof *w->z);
    for (int to = 0; to < k; to++) {
        int best = 0;
        for (int i = 1; i < k; i++)
            if (w->s[i * k + i] > w->s[best * k + best]) best = i;
        w->value[to] = w->s[best * k + best];
        w->s[best * k + best] = -INFINITY;
        for (int j = 0; j < k; j++)
            add_scaled(w->z + (size_t)to * n, w->v[best * k + j], w->q + (size_t)j * n, m->n);
    }
}

static void fix_sign(double *row, int n) {
    int largest = 0;
    for (int i = 1; i < n; i++)
        if (fabs(row[i]) > fabs(row[largest])) largest = i;
    if (row[largest] >= 0) return;
    for (int i = 0; i < n; i++) row[i] = -row[i];
}

bool heed_principal(const heed_moments *m, int k, double *axes, double *variance) {
    enum { MORE = 8 }; /* with more dimensions than needed the first k converge sooner */
    if (!m || !m->covariance || !axes || heed__stopped(m->c)) return false;
    if (k < 1 || k > m->n)
        return heed_fail(m->c, HEED_USAGE,
                         "number of components is wrong: expected 1 to %d, found %d", m->n, k);
    subspace w = {.k = k + MORE < m->n ? k + MORE : m->n};
    size_t n = (size_t)m->n, all = (size_t)w.k;
    double *work = heed__alloc_array(m->c, 2 * all * n + 2 * all * all + all, sizeof *work);
    if (!work) return false;
    w.q = work;
    w.z = w.q + all * n;
    w.s = w.z + all * n;
    w.v = w.s + all * all;
    w.value = w.v + all * all;
    heed_random start = heed_random_at(1, "principal", 0, 0);
    for (size_t i = 0; i < all * n; i++) w.q[i] = heed_random_normal(&start, i);
    iterate(m, &w);
    multiply(m, w.q, w.z, w.k);
    align(m, &w);
    for (int i = 0; i < k; i++) {
        fix_sign(w.z + (size_t)i * n, m->n);
        if (variance) variance[i] = fmax(w.value[i], 0);
    }
    memcpy(axes, w.z, (size_t)k * n * sizeof *axes);
    heed__free(work);
    return true;
}

double heed_principal_error(const heed_moments *m, const double *axes, int k, const double *x) {
    if (!m || !m->mean || !axes || !x) return (double)NAN;
    double rest = 0;
    for (int i = 0; i < m->n; i++) rest += (x[i] - m->mean[i]) * (x[i] - m->mean[i]);
    for (int j = 0; j < k; j++) {
        const double *axis = axes + (size_t)j * (size_t)m->n;
        double along = 0;
        for (int i = 0; i < m->n; i++) along += (x[i] - m->mean[i]) * axis[i];
        rest -= along * along;
    }
    return rest;
}

/* ---- prediction ---- */

/* Finds L of s = L L' for s (k,k), which is ridge I plus a covariance, so that no pivot is below
 * the ridge; one that rounding makes smaller is set to it. Column j of L replaces row j of s from
 * the diagonal on. */
static void cholesky(double *s, int k, double ridge) {
    for (int j = 0; j < k; j++) {
        double *column = s + (size_t)j * (size_t)k;
        double root = sqrt(fmax(column[j], ridge));
        column[j] = root;
        for (int i = j + 1; i < k; i++) column[i] /= root;
        for (int i = j + 1; i < k; i++) {
            double *next = s + (size_t)i * (size_t)k;
            add_scaled(next + i, -column[i], column + i, k - i);
        }
    }
}

/* b = (L L')^-1 b, with L as cholesky leaves it. */
static void solve(const double *l, int k, double *b) {
    for (int j = 0; j < k; j++) {
        const double *column = l + (size_t)j * (size_t)k;
        b[j] /= column[j];
        add_scaled(b + j + 1, -b[j], column + j + 1, k - j - 1);
    }
    for (int j = k - 1; j >= 0; j--) {
        const double *column = l + (size_t)j * (size_t)k;
        b[j] = (b[j] - dot(column + j + 1, b + j + 1, k - j - 1)) / column[j];
    }
}

/* b = (C_vv + ridge I)^-1 (x_v - mean_v) for the k visible entries, whose numbers are at (k); s
 * (k,k) is work memory. */
static void solve_visible(const heed_moments *m, const size_t *at, size_t k, double ridge,
                          const double *x, double *s, double *b) {
    for (size_t i = 0; i < k; i++) {
        for (size_t j = i; j < k; j++) s[i * k + j] = m->covariance[at[i] * (size_t)m->n + at[j]];
        s[i * k + i] += ridge;
        b[i] = x[at[i]] - m->mean[at[i]];
    }
    cholesky(s, (int)k, ridge);
    solve(s, (int)k, b);
}

/* Hidden entries are mean_h + C_hv b, the others those of x. */
static void predict(const heed_moments *m, const unsigned char *hidden, const size_t *at, size_t k,
                    const double *x, const double *b, double *out) {
    size_t n = (size_t)m->n;
    for (size_t i = 0; i < n; i++) {
        out[i] = hidden[i] ? m->mean[i] : x[i];
        for (size_t j = 0; hidden[i] && j < k; j++) out[i] += m->covariance[i * n + at[j]] * b[j];
    }
}

bool heed_linear_predict(const heed_moments *m, const unsigned char *hidden, double ridge,
                         const double *x, double *out) {
    if (!m || !m->covariance || !hidden || !x || !out || heed__stopped(m->c)) return false;
    if (!(ridge > 0))
        return heed_fail(m->c, HEED_USAGE, "ridge is %g: expected a number above 0", ridge);
    size_t n = (size_t)m->n, k = 0;
    for (size_t i = 0; i < n; i++) k += !hidden[i];
    double *s = heed__alloc_array(m->c, k * k + k + 1, sizeof *s);
    size_t *at = heed__alloc_array(m->c, k + 1, sizeof *at);
    for (size_t i = 0, to = 0; at && i < n; i++)
        if (!hidden[i]) at[to++] = i;
    if (s && at) {
        solve_visible(m, at, k, ridge, x, s, s + k * k);
        predict(m, hidden, at, k, x, s + k * k, out);
    }
    heed__free(s);
    heed__free(at);
    return !heed__stopped(m->c);
}
