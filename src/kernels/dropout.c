/* dropout.c -- inverted dropout. Srivastava et al. 2014, sec. 10. */
#include "random.h"
#include "set.h"

#define RUN ((size_t)1024)

typedef struct {
    heed_real *y;
    const heed_real *x, *onto;
    uint32_t *words; /* which elements are kept */
    heed__dropout d;
    size_t n;
    bool draw;
} dropout;

void K(dropout_kept)(const heed__dropout *d, uint32_t *words, uint64_t at, size_t n) {
    dropout_kept(d, words, at, n);
}

static void dropout_part(const void *job, size_t from, size_t to, int thread) {
    const dropout *j = job;
    (void)thread;
    for (size_t at = from * RUN; at < to * RUN && at < j->n; at += RUN) {
        size_t n = j->n - at < RUN ? j->n - at : RUN;
        if (j->draw) dropout_kept(&j->d, j->words + at / 32, at, n);
        for (size_t i = at; i < at + n; i += (size_t)VL) {
            size_t left = at + n - i;
            vec y = get(j->x + i, left) * kept_in(&j->d, j->words[i / 32] >> i % 32);
            put(j->y + i, j->onto ? get(j->onto + i, left) + y : y, left);
        }
    }
}
static void share(const heed_kernels *k, const dropout *j) {
    heed__share(k, (j->n + RUN - 1) / RUN, (j->draw ? 8.0 : 4.0) * (double)j->n, dropout_part, j);
}
void K(dropout)(const heed_kernels *k, heed_real *y, const heed_real *x, const heed_real *onto,
                heed_real p, const heed_random *r, uint32_t *words, size_t n) {
    share(k, &(dropout){.y = y,
                        .x = x,
                        .onto = onto,
                        .words = words,
                        .d = dropout_of(r, p),
                        .n = n,
                        .draw = true});
}
void K(dropout_grad)(const heed_kernels *k, heed_real *gx, const heed_real *gy, heed_real p,
                     uint32_t *words, size_t n, bool add) {
    share(k, &(dropout){.y = gx,
                        .x = gy,
                        .onto = add ? gx : NULL,
                        .words = words,
                        .d = dropout_of(&(heed_random){0}, p),
                        .n = n});
}
