#include "kernel_case.h"
#include "core/core.h"

static void *lent[256];
static int lent_count;

static void *lend(size_t bytes) {
    return lent_count < (int)(sizeof lent / sizeof *lent) ? lent[lent_count++] = malloc(bytes)
                                                          : NULL;
}

void kernel_done(void) {
    while (lent_count > 0) free(lent[--lent_count]);
}

heed_real *kernel_numbers(uint64_t seed, size_t n) {
    heed_real *x = lend((n + 1) * sizeof *x);
    heed_random r = {seed, 1, 2, 3};
    for (size_t i = 0; x && i < n; i++) x[i] = (heed_real)(2 * heed_random_uniform(&r, i) - 1);
    return x;
}

int32_t *kernel_indices(uint64_t seed, size_t n, uint32_t below) {
    int32_t *x = lend((n + 1) * sizeof *x);
    heed_random r = {seed, 4, 5, 6};
    for (size_t i = 0; x && i < n; i++) x[i] = (int32_t)heed_random_below(&r, i, below);
    return x;
}

double kernel_dropped(double p) { return floor(p * 65536 + 0.5) / 65536; }

bool kernel_keeps(const heed_random *r, uint64_t i, double p) {
    uint32_t draw = heed__random_bits(r, i / 2) >> i % 2 * 16 & 0xffff;
    return draw >= 65536 * kernel_dropped(p);
}

static void compare(const kernel_case *c, const heed_kernels *k, const heed_real *got,
                    const double *want) {
    double most = 0, worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < c->size; i++)
        if (isfinite(want[i]) && fabs(want[i]) > most) most = fabs(want[i]);
    for (size_t i = 0; i < c->size; i++) {
        double g = (double)got[i], error = fabs(g - want[i]);
        if (g == want[i] || (isnan(g) && isnan(want[i]))) error = 0; /* infinities too */
        if (!isnan(worst) && !(error <= worst)) worst = error, at = i;
    }
    if (!(worst <= c->tolerance * KERNEL_EPSILON * most))
        test_fail(__FILE__, __LINE__, "%s, %s: element %zu is %.9g, expected %.9g (largest %.3g)",
                  c->name, k->isa, at, (double)got[at], want[at], most);
}

void kernel_check(const kernel_case *c) {
    static const int teams[] = {1, 2, 3, 8};
    heed_real *one = calloc(c->size + 1, sizeof *one), *got = malloc((c->size + 1) * sizeof *got);
    double *want = calloc(c->size + 1, sizeof *want);
    c->want(c->args, want);
    kernel_done();
    for (const char *const *isa = heed__kernels_available(); *isa; isa++) {
        heed_kernels k;
        for (size_t t = 0; t < sizeof teams / sizeof *teams; t++) {
            CHECK(heed__kernels_choose(&k, *isa, teams[t]));
            heed_real *out = t ? got : one;
            memset(out, 0, c->size * sizeof *out);
            c->run(&k, c->args, out);
            kernel_done();
            if (t && memcmp(one, got, c->size * sizeof *got) != 0)
                test_fail(__FILE__, __LINE__, "%s, %s: %d threads give other bits than one",
                          c->name, k.isa, teams[t]);
        }
        compare(c, &k, one, want);
    }
    free(one);
    free(got);
    free(want);
}
