/* dropout.c -- inverted dropout. Srivastava et al. 2014, sec. 10. */
#include "random.h"
#include "set.h"

#define RUN ((size_t)1024)

typedef struct {
    heed_real *y;
    const heed_real *x;
    heed__dropout d;
    size_t n;
    bool add;
} dropout;

void K(dropout_kept)(const heed__dropout *d, uint32_t *words, uint64_t at, size_t n) {
    dropout_kept(d, words, at, n);
}

static void dropout_part(const void *job, size_t from, size_t to, int thread) {
    const dropout *j = job;
    uint32_t words[RUN / 32 + 1] = {0};
    (void)thread;
    for (size_t at = from * RUN; at < to * RUN && at < j->n; at += RUN) {
        size_t n = j->n - at < RUN ? j->n - at : RUN;
        K(dropout_kept)(&j->d, words, at, n);
        for (size_t i = 0; i < n; i += (size_t)VL) {
            vec y = get(j->x + at + i, n - i) * kept_factor(&j->d, words, i);
            if (j->add) y += get(j->y + at + i, n - i);
            put(j->y + at + i, y, n - i);
        }
    }
}
void K(dropout)(const heed_kernels *k, heed_real *y, const heed_real *x, heed_real p,
                const heed_random *r, size_t n, bool add) {
    dropout j = {.y = y, .x = x, .d = dropout_of(r, p), .n = n, .add = add};
    heed__share(k, (n + RUN - 1) / RUN, 20.0 * (double)n, dropout_part, &j);
}
