/* muon.c -- Muon for matrices between hidden units, AdamW for all else. m = mu m + g, d = g + mu m,
 * O = d with its singular values moved close to 1, x -= lr (0.2 sqrt(max(rows, columns)) O + decay
 * x). Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks". The scale, by
 * which O has the root mean square of AdamW's updates, so that lr and decay are AdamW's: Liu et al.
 * 2025, "Muon is scalable for LLM training", eq. 4. The polynomials: Amsel et al. 2025, "The Polar
 * Express", alg. 1. */
#include "optim/optim.h"

#include "kernels/kernels.h"

#include <math.h>

/* Weights with decay whose rows are units. Embeddings, positions and heads are known by what their
 * rows are; biases, norms and other vectors have one dim. */
static bool is_hidden(const heed_param *e) {
    const heed_tensor *x = e->tensor;
    return x->dims >= 2 && e->rows == HEED_ROWS_UNITS && !e->adapter && x->shape[0] > 1 &&
           x->size > (size_t)x->shape[0];
}

static int slot_count(const heed_param *e) { return is_hidden(e) ? 1 : 2; }

/* d and O, and four squares of the smaller side. */
static size_t scratch(int rows, int columns) {
    size_t side = (size_t)(rows < columns ? rows : columns);
    return 2 * (size_t)rows * (size_t)columns + 4 * side * side;
}

/* c (n,n) = a b, which is known to be symmetric: the rows up to the diagonal, in blocks. a is (n,k)
 * or, transposed, (k,n); b is a' if NULL, else (n,n). */
static void symmetric(const heed_kernels *k, int n, int terms, const heed_real *a, int lda,
                      bool transposed, const heed_real *b, heed_real *c) {
    enum { BLOCK = 48 };
    for (int from = 0; from < n; from += BLOCK) {
        int to = from + BLOCK < n ? from + BLOCK : n;
        k->gemm(k, &(heed_gemm){.m = to - from,
                                .n = to,
                                .k = terms,
                                .a = a + (transposed ? from : from * lda),
                                .lda = lda,
                                .ta = transposed,
                                .b = b ? b : a,
                                .ldb = b ? n : lda,
                                .tb = !b && !transposed,
                                .c = c + from * n,
                                .ldc = n});
    }
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) c[i * n + j] = c[j * n + i];
}

/* y = U V' approximately, for x = U S V' (rows, columns). Each iteration is x = p(x x') x with a
 * polynomial p; as all p(x x') commute, they are multiplied first, in the smaller of x x' and x' x,
 * and x once, at the end. room: four squares of the smaller side. */
static void orthogonalize(const heed_kernels *k, const heed_real *x, heed_real *y, heed_real *room,
                          int rows, int columns, int iterations) {
    static const double coefficients[][3] = {
        {8.28721201814563, -23.595886519098837, 17.300387312530933},
        {4.107059111542203, -2.9478499167379106, 0.5448431082926601},
        {3.9486908534822946, -2.908902115962949, 0.5518191394370137},
        {3.3184196573706015, -2.488488024314874, 0.51004894012372},
        {2.300652019954817, -1.6689039845747493, 0.4188073119525673},
        {1.891301407787398, -1.2679958271945868, 0.37680408948524835},
        {1.8750014808534479, -1.2500016453999487, 0.3750001645474248},
        {1.875, -1.25, 0.375}}; /* also of all iterations after these */
    enum { KNOWN = sizeof coefficients / sizeof *coefficients };
    bool tall = rows > columns;
    int side = tall ? columns : rows, other = tall ? rows : columns;
    size_t squared = (size_t)side * (size_t)side;
    heed_real *a = room, *p = a + squared, *q = p + squared, *t = q + squared;
    double norm = 1 / (sqrt(k->sum_squares(k, x, squared / (size_t)side * (size_t)other)) + 1e-7);
    symmetric(k, side, other, x, columns, tall, NULL, a);
    for (size_t i = 0; i < squared; i++) a[i] *= (heed_real)(norm * norm);
    for (int round = 0; round < iterations; round++) {
        const double *c = coefficients[round < KNOWN ? round : KNOWN - 1];
        symmetric(k, side, side, a, side, false, a, p);
        for (size_t i = 0; i < squared; i++) p[i] = (heed_real)c[1] * a[i] + (heed_real)c[2] * p[i];
        for (int i = 0; i < side; i++) p[i * side + i] += (heed_real)c[0];
        if (round + 1 < iterations) { /* a = p a p */
            symmetric(k, side, side, p, side, false, a, t);
            symmetric(k, side, side, p, side, false, t, a);
        }
        if (round) symmetric(k, side, side, p, side, false, q, t);
        heed_real *product = round ? t : p;
        if (round)
            t = q;
        else
            p = q;
        q = product;
    }
    for (size_t i = 0; i < squared; i++) q[i] *= (heed_real)norm;
    k->gemm(k, &(heed_gemm){.m = rows,
                            .n = columns,
                            .k = side,
                            .a = tall ? x : q,
                            .lda = side,
                            .b = tall ? q : x,
                            .ldb = columns,
                            .c = y,
                            .ldc = columns});
}

static void update(const heed_optim_update *u, heed_real *x, heed_real *g, heed_real *const *slots,
                   size_t n) {
    if (!u->rows) {
        heed__adam_update(u, true, x, g, slots, n);
        return;
    }
    const heed_real mu = u->args->extra[0];
    heed_real *restrict m = slots[0], *restrict d = u->scratch, *o = d + n;
    for (size_t i = 0; i < n; i++) {
        heed_real grad = u->grad_scale * g[i];
        m[i] = heed__kept(mu * m[i] + grad);
        d[i] = grad + mu * m[i];
        g[i] = 0;
    }
    orthogonalize(u->k, d, o, o + n, u->rows, u->columns, (int)u->args->extra[1]);
    heed_real scale = (heed_real)(0.2 * sqrt(fmax(u->rows, u->columns)));
    for (size_t i = 0; i < n; i++) x[i] -= u->lr * (scale * o[i] + u->decay * x[i]);
}

static const heed_optim_setting settings[] = {
    HEED_OPTIM_SETTING(lr, 2e-3, 0, INFINITY),
    HEED_OPTIM_SETTING(decay, 0.01, 0, INFINITY),
    HEED_OPTIM_SETTING(beta1, 0.9, 0, 1),
    HEED_OPTIM_SETTING(beta2, 0.999, 0, 1),
    HEED_OPTIM_SETTING(eps, 1e-8, 0, INFINITY),
    {"muon-momentum", offsetof(heed_optim_args, extra[0]), 0.95, 0, 1},
    {"muon-iterations", offsetof(heed_optim_args, extra[1]), 3, 1, 21},
    {0}};
/* Values from tests/golden/make_muon.py. */
static const heed_optim_case cases[] = {
    {"lr=0.03",
     {0.475647378451, -0.889728181733, 0.217082412633, 1.9048861541, -0.0149354038848,
      -0.70304206753, 0.863311230583, -0.538690659606}},
    {"lr=0.1 decay=0.1 muon-momentum=0.8 muon-iterations=5",
     {0.373415583211, -0.647444604023, 0.172836377031, 1.54771443369, -0.0567368850506,
      -0.567882058558, 0.568481629259, -0.57781491194}},
    {"lr=0.05 decay=0 muon-momentum=0 beta1=0.8 beta2=0.95 muon-iterations=1",
     {0.484912929603, -0.853993816649, 0.246092171342, 1.95869704684, -0.0595459087312,
      -0.758762606679, 0.782176952657, -0.538178258755}},
    {0}};

const heed_optimizer heed_muon = {
    .name = "muon",
    .help = "matrices between hidden units: momentum with singular values near 1; all else: adamw",
    .slots = {"m", "v"},
    .slot_count = slot_count,
    .whole = is_hidden,
    .scratch = scratch,
    .settings = settings,
    .update = update,
    .cases = cases};
