/* Products and elementwise kernels. */
#include "kernel_case.h"

#include "core/os.h"
#include "kernels/parallel.h"

/* --- Products --- */

typedef struct {
    int m, n, k;
    bool ta, tb, add, bias, pre, rounded; /* rounded: the operands, to bf16 */
    heed_act act;
    int batch, extra; /* extra: unused elements at the end of each stored row */
    bool twin;        /* a batch of 2 as two jobs */
} product;

static double act(heed_act f, double x) {
    switch (f) {
    case HEED_RELU:
        return x < 0 ? 0 : x;
    case HEED_GELU:
        return 0.5 * x * (1 + erf(x * sqrt(0.5)));
    case HEED_GELU_TANH:
        return 0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
    case HEED_SILU:
        return x / (1 + exp(-x));
    case HEED_TANH:
        return tanh(x);
    case HEED_SIGMOID:
        return 1 / (1 + exp(-x));
    case HEED_EXP:
        return exp(x);
    case HEED_LOG:
        return log(x);
    case HEED_SQRT:
        return sqrt(x);
    case HEED_IDENTITY:
        break;
    }
    return x;
}

typedef struct {
    int lda, ldb, ldc, batch;
    size_t sa, sb, sc;
    heed_real *a, *b, *bias;
} stored;

/* Rounds to the nearest numbers with 8 bits of precision, ties to even. */
static void round_to_bf16(heed_real *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float f = (float)x[i];
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
        memcpy(&f, &bits, sizeof f);
        x[i] = (heed_real)f;
    }
}

static stored store_product(const product *p) {
    stored s = {.lda = (p->ta ? p->m : p->k) + p->extra,
                .ldb = (p->tb ? p->k : p->n) + p->extra,
                .ldc = p->n + p->extra,
                .batch = p->batch ? p->batch : 1};
    s.sa = (size_t)s.lda * (size_t)(p->ta ? p->k : p->m);
    s.sb = (size_t)s.ldb * (size_t)(p->tb ? p->n : p->k);
    s.sc = (size_t)s.ldc * (size_t)p->m;
    s.a = kernel_numbers(1, s.sa * (size_t)s.batch);
    s.b = kernel_numbers(2, s.sb * (size_t)s.batch);
    s.bias = kernel_numbers(3, (size_t)p->n);
    if (p->rounded) {
        round_to_bf16(s.a, s.sa * (size_t)s.batch);
        round_to_bf16(s.b, s.sb * (size_t)s.batch);
    }
    return s;
}
/* The terms of product number b; of twins with an odd number, the first has one fewer. */
static int depth_of(const product *p, size_t b) { return p->k - (p->twin && b == 0 && p->k % 2); }

/* out: C of all batches, then what the activation was given. C starts at 0.5 where it is added to.
 */
static void run_product(const heed_kernels *k, const void *args, heed_real *out) {
    const product *p = args;
    stored s = store_product(p);
    size_t size = s.sc * (size_t)s.batch;
    for (size_t i = 0; i < size && p->add; i++) out[i] = (heed_real)0.5;
    heed_gemm g[2] = {{.m = p->m,
                       .n = p->n,
                       .k = depth_of(p, 0),
                       .a = s.a,
                       .lda = s.lda,
                       .ta = p->ta,
                       .b = s.b,
                       .ldb = s.ldb,
                       .tb = p->tb,
                       .c = out,
                       .ldc = s.ldc,
                       .add = p->add,
                       .bias = p->bias ? s.bias : NULL,
                       .act = p->act,
                       .pre = p->pre ? out + size : NULL,
                       .bf16 = true,
                       .batch = p->twin ? 0 : p->batch,
                       .stride_a = s.sa,
                       .stride_b = s.sb,
                       .stride_c = s.sc}};
    g[1] = g[0];
    g[1].k = p->k;
    g[1].a += s.sa;
    g[1].b += s.sb;
    g[1].c += s.sc;
    g->twin = p->twin;
    k->gemm(k, g);
    kernel_done();
}
static void want_product(const void *args, double *out) {
    const product *p = args;
    stored s = store_product(p);
    size_t size = s.sc * (size_t)s.batch;
    for (size_t i = 0; i < size && p->add; i++) out[i] = 0.5;
    for (size_t b = 0; b < (size_t)s.batch; b++)
        for (int i = 0; i < p->m; i++)
            for (int j = 0; j < p->n; j++) {
                const heed_real *x = s.a + b * s.sa, *y = s.b + b * s.sb;
                size_t at = b * s.sc + (size_t)i * (size_t)s.ldc + (size_t)j;
                double sum = out[at] + (p->bias ? (double)s.bias[j] : 0);
                for (int q = 0; q < depth_of(p, b); q++)
                    sum += (double)x[p->ta ? q * s.lda + i : i * s.lda + q] *
                           (double)y[p->tb ? j * s.ldb + q : q * s.ldb + j];
                if (p->pre) out[size + at] = sum;
                out[at] = act(p->act, sum);
            }
    kernel_done();
}
static void check_product(const char *name, product p) {
    stored s = store_product(&p);
    size_t size = s.sc * (size_t)s.batch * (p.pre ? 2 : 1);
    kernel_check(&(kernel_case){name, size, run_product, want_product, &p, 4 + sqrt(p.k)});
}

TEST(kernels_gemm_small_shapes) {
    static const int sizes[] = {1, 3, 17, 65};
    for (int i = 0; i < 4 * 4 * 4 * 4; i++) {
        int m = sizes[i % 4], n = sizes[i / 4 % 4], k = sizes[i / 16 % 4];
        check_product("gemm small", (product){.m = m,
                                              .n = n,
                                              .k = k,
                                              .ta = i / 64 & 1,
                                              .tb = i / 128 & 1,
                                              .add = i & 1,
                                              .extra = i % 3});
    }
}
/* A row's bits are those that it has in a product of many rows. */
TEST(kernels_gemm_rows_are_the_same_in_any_number) {
    static const int sizes[][2] = {{1, 1}, {5, 33}, {65, 401}, {64, 192}};
    enum { ROWS = 20 };
    for (int i = 0; i < 4 * 4; i++) {
        product p = {.n = sizes[i / 4][0], .k = sizes[i / 4][1], .tb = true, .bias = i % 2};
        p.act = i % 2 ? HEED_GELU : HEED_IDENTITY;
        p.add = i % 4 > 1;
        heed_real *whole = malloc(ROWS * (size_t)p.n * sizeof *whole);
        heed_real *some = malloc(ROWS * (size_t)p.n * sizeof *some);
        for (const char *const *isa = heed__kernels_available(); *isa; isa++) {
            heed_kernels k;
            heed__kernels_choose(&k, *isa, 2);
            p.m = ROWS;
            run_product(&k, &p, whole);
            for (p.m = 1; p.m < ROWS; p.m += 1 + p.m / 3) {
                run_product(&k, &p, some);
                CHECK(!memcmp(some, whole, (size_t)p.m * (size_t)p.n * sizeof *some));
            }
        }
        free(whole);
        free(some);
    }
}

TEST(kernels_gemm_without_depth) {
    check_product("gemm k=0", (product){.m = 5, .n = 70, .bias = true, .act = HEED_RELU});
    check_product("gemm k=0 add", (product){.m = 5, .n = 70, .add = true});
}
TEST(kernels_gemm_large_shapes) {
    check_product("gemm rows", (product){.m = 301, .n = 130, .k = 401});
    check_product("gemm rows nt", (product){.m = 301, .n = 65, .k = 401, .tb = true, .extra = 3});
    check_product("gemm both", (product){.m = 301, .n = 250, .k = 201, .add = true, .extra = 1});
    check_product("gemm tn", (product){.m = 65, .n = 300, .k = 500, .ta = true, .add = true});
    check_product("gemm tn rows", (product){.m = 267, .n = 200, .k = 210, .ta = true, .extra = 5});
    check_product("gemm columns", (product){.m = 7, .n = 1300, .k = 200, .tb = true});
    check_product("gemm batch", (product){.m = 33, .n = 47, .k = 19, .batch = 13, .extra = 1});
    check_product("gemm batch nt",
                  (product){.m = 33, .n = 47, .k = 19, .batch = 13, .tb = true, .ta = true});
}
TEST(kernels_gemm_of_twins) {
    static const int sizes[][3] = {{64, 128, 401}, {5, 33, 70}, {130, 300, 193}, {40, 65, 0}};
    for (int i = 0; i < 4 * 4; i++) {
        const int *size = sizes[i / 4];
        check_product("gemm twins", (product){.m = size[0],
                                              .n = size[1],
                                              .k = size[2],
                                              .ta = i % 2,
                                              .add = i % 4 > 1,
                                              .batch = 2,
                                              .extra = i / 4,
                                              .twin = true});
    }
}
TEST(kernels_gemm_finishes_with_bias_and_activation) {
    for (int f = HEED_IDENTITY; f <= HEED_EXP; f++)
        check_product("gemm act", (product){.m = 37,
                                            .n = 83,
                                            .k = 50,
                                            .tb = true,
                                            .bias = true,
                                            .pre = f % 2 == 0,
                                            .act = (heed_act)f,
                                            .extra = 2});
    check_product(
        "gemm act deep",
        (product){.m = 19, .n = 300, .k = 400, .bias = true, .pre = true, .act = HEED_GELU});
    check_product(
        "gemm act tn",
        (product){.m = 150, .n = 100, .k = 200, .ta = true, .bias = true, .act = HEED_RELU});
}

/* --- Products in bf16 --- */

/* The same product of operands that are rounded before it, in fp32. */
static void check_bf16(const product *p, const heed_kernels *bf16) {
    stored s = store_product(p);
    size_t size = s.sc * (size_t)s.batch * (p->pre ? 2 : 1);
    heed_kernels fp32 = *bf16;
    fp32.bf16 = NULL;
    heed_real *got = calloc(size, sizeof *got), *other = calloc(size, sizeof *got);
    double *want = calloc(size, sizeof *want), most = 0, worst = 0;
    run_product(bf16, p, got);
    for (int threads = 2; threads <= 8; threads += threads == 2 ? 1 : 5) {
        heed_kernels team = *bf16;
        team.threads = threads;
        memset(other, 0, size * sizeof *other);
        run_product(&team, p, other);
        CHECK(memcmp(got, other, size * sizeof *got) == 0);
    }
    run_product(&fp32, p, other);
    CHECK(memcmp(got, other, size * sizeof *got) != 0); /* it does round */
    product exact = *p;
    exact.rounded = true;
    want_product(&exact, want);
    for (size_t i = 0; i < size; i++) {
        most = fmax(most, fabs(want[i]));
        worst = fmax(worst, fabs((double)got[i] - want[i]));
    }
    if (worst > 40 * KERNEL_EPSILON * most)
        test_fail(__FILE__, __LINE__, "%d x %d x %d in bf16: error %.3g of %.3g", p->m, p->n, p->k,
                  worst, most);
    free(got);
    free(other);
    free(want);
}

TEST(kernels_gemm_bf16_equals_the_product_of_rounded_operands) {
    heed_kernels k;
    heed__kernels_choose(&k, NULL, 1);
    bool rounded = false;
    if (heed__kernels_bf16(&k)) return; /* refused: see below */
    k.bf16 = &rounded;
    static const product shapes[] = {
        {.m = 64, .n = 64, .k = 64},
        {.m = 33, .n = 47, .k = 35, .extra = 3},
        {.m = 33, .n = 47, .k = 35, .tb = true, .batch = 3},
        {.m = 301, .n = 65, .k = 401, .ta = true, .add = true},
        {.m = 65, .n = 450, .k = 801, .tb = true, .bias = true, .pre = true, .act = HEED_GELU},
        {.m = 16, .n = 500, .k = 33, .ta = true, .tb = true, .extra = 1},
        {.m = 140, .n = 33, .k = 770, .add = true, .extra = 5}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        rounded = false;
        check_bf16(&shapes[i], &k);
        CHECK(rounded);
    }
}

TEST(kernels_bf16_is_refused_where_it_cannot_be_computed) {
    heed_ctx *c = heed_open(&(heed_options){.isa = "generic"});
    CHECK(heed_set_precision(c, HEED_FP32));
    CHECK(!heed_set_precision(c, HEED_BF16));
    CHECK(heed_ctx_status(c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(c), "bf16 is not available: `precision`");
    heed_close(c);
}

/* --- The context --- */

TEST(kernels_open_takes_every_available_set) {
    for (const char *const *isa = heed__kernels_available(); *isa; isa++) {
        heed_ctx *c = heed_open(&(heed_options){.isa = *isa, .threads = 2});
        CHECK_TEXT(heed_isa(c), *isa);
        CHECK(heed_threads(c) == 2);
        CLOSE(c);
    }
    heed_ctx *c = heed_open(NULL);
    CHECK_TEXT(heed_isa(c), heed__kernels_available()[0]);
    CHECK(heed_threads(c) >= 1);
    CLOSE(c);
}
TEST(kernels_open_refuses_wrong_options) {
    static const heed_options wrong[] = {{.isa = "mmx"}, {.threads = -1}, {.threads = 1025}};
    static const char *const said[] = {"generic", "found -1", "found 1025"};
    for (int i = 0; i < 3; i++) {
        heed_ctx *c = heed_open(&wrong[i]);
        CHECK(heed_ctx_status(c) == HEED_USAGE);
        CHECK_HAS(heed_ctx_error(c), said[i]);
        CHECK(heed_threads(c) >= 1); /* still fit for use after heed_clear */
        heed_close(c);
    }
}

/* ---- whether a team pays ---- */

/* Measured regions of `took` seconds one after another, of work that one thread does in `alone`,
 * until the account closes the team or `until` has come; the time then. */
static double run_regions(heed__team *t, double now, double until, double took, double alone) {
    while (now < until && heed__team_pays(t, now)) {
        heed__team_count(t, now, now + took, alone, true);
        now += took;
    }
    return now;
}

static double end_of_pause(const heed__team *t, double now) {
    while (!heed__team_pays(t, now)) now += 1e-3;
    return now;
}

TEST(kernels_team_stays_where_it_saves_time) {
    heed__team t;
    heed__team_init(&t);
    double now = run_regions(&t, 100, 101, 1e-4, 1.8e-4);
    CHECK(now >= 101);
    heed__team_count(&t, now, now + 15e-3, 2e-4, true); /* a few lost time slices */
    CHECK(run_regions(&t, now + 15e-3, 102, 1e-4, 1.8e-4) >= 102);
}

/* The first use of memory makes one thread many times slower than the other, without a wait. */
TEST(kernels_team_stays_while_its_parts_are_uneven) {
    heed__team t;
    heed__team_init(&t);
    double now = 100;
    for (int i = 0; i < 1000; i++) {
        bool measured = heed__team_doubtful(&t);
        heed__team_count(&t, now, now + 40e-3, measured ? 40.5e-3 : 1e-3, measured);
        now += 40e-3;
        CHECK(heed__team_pays(&t, now));
    }
}

TEST(kernels_team_pauses_on_measured_losses_only) {
    heed__team t;
    heed__team_init(&t);
    CHECK(!heed__team_doubtful(&t));
    heed__team_count(&t, 100, 101, 1e-3, false);
    CHECK(heed__team_pays(&t, 101) && heed__team_doubtful(&t));
    heed__team_count(&t, 101, 101.002, 3e-3, true); /* not full yet */
    CHECK(heed__team_pays(&t, 102) && heed__team_doubtful(&t));
    heed__team_count(&t, 102, 102.008, 1e-3, true);
    CHECK(!heed__team_pays(&t, 102.008) && heed__team_doubtful(&t));
    double now = end_of_pause(&t, 102.008);
    CHECK(run_regions(&t, now, now + 1, 1e-4, 1.8e-4) >= now + 1); /* quiet again: it stays */
    CHECK(!heed__team_doubtful(&t));
}

TEST(kernels_team_pauses_in_proportion_to_the_loss) {
    heed__team t;
    heed__team_init(&t);
    double now = run_regions(&t, 100, 101, 4e-3, 1e-4);
    CHECK(now < 100.04); /* some regions show it */
    for (int trial = 0; trial < 9; trial++) {
        double begin = end_of_pause(&t, now), took = 2e-3 * pow(2, trial);
        double each = fmin(40, 10 * pow(2, trial)); /* the first pauses are short */
        CHECK(begin - now >= 10e-3 * each && begin - now <= 5.002);
        CHECK(begin - now >= fmin(5, each * took / 2)); /* the trial before took half as long */
        now = run_regions(&t, begin, begin + 1, took, 1e-4);
        CHECK(now - begin < 2.1 * took); /* one region shows it, of the shortest two */
    }
    heed__team_count(&t, now + 5, now + 3605, 1e-4, true); /* a stopped process went on */
    CHECK(heed__team_pays(&t, now + 3610.001));
}

/* A delay that ends costs a short training run less than 0.2 seconds, and so does the next one. */
TEST(kernels_team_returns_soon_after_a_delay) {
    heed__team t;
    heed__team_init(&t);
    double now = 100;
    for (int delay = 0; delay < 5; delay++) {
        double begin = run_regions(&t, now, now + 1, 4e-3, 1e-4);
        now = end_of_pause(&t, begin);
        CHECK(now - begin >= 0.1 && now - begin < 0.2);
        CHECK(run_regions(&t, now, now + 1, 1e-4, 1.8e-4) >= now + 1);
        now += 1;
    }
}

typedef struct {
    int *times;
    int *threads;
} tally;

static void count_units(const void *job, size_t from, size_t to, int thread) {
    const tally *j = job;
    for (size_t i = from; i < to; i++) {
        j->times[i]++;
        j->threads[i] = thread;
    }
}

TEST(kernels_share_does_every_unit_once_with_and_without_a_team) {
    enum { UNITS = 7 };
    heed__team t;
    heed_kernels k;
    heed__kernels_choose(&k, NULL, 3);
    k.team = &t;
    for (int alone = 0; alone < 2; alone++) {
        int times[UNITS] = {0}, threads[UNITS];
        heed__team_init(&t);
        /* a loss of a second, just now, closes the team */
        if (alone) heed__team_count(&t, heed__os_seconds() - 1, heed__os_seconds(), 0, true);
        heed__share(&k, UNITS, 1e9, count_units, &(tally){times, threads});
        for (int i = 0; i < UNITS; i++) {
            CHECK(times[i] == 1 && threads[i] >= 0 && threads[i] < 3);
            CHECK(!alone || threads[i] == 0);
        }
    }
}
