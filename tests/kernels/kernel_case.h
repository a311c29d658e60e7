/* One way to test every kernel: a case runs it into `out`, and computes in double, by plain loops,
 * what should stand there. Every available set is held against that, and every team size against
 * one thread, bit by bit. */
#ifndef HEED_KERNEL_CASE_H
#define HEED_KERNEL_CASE_H

#include "kernels/kernels.h"
#include "test.h"

typedef struct kernel_case {
    const char *name;
    size_t size; /* elements of out, zeroed before each run */
    void (*run)(const heed_kernels *k, const void *args, heed_real *out);
    void (*want)(const void *args, double *out);
    const void *args;
    double tolerance; /* in units of the type's epsilon, of the largest value */
} kernel_case;

void kernel_check(const kernel_case *c);

/* n numbers in [-1, 1), the same each time for the same seed. kernel_done frees them, which
 * kernel_check calls after each run. */
heed_real *kernel_numbers(uint64_t seed, size_t n);
int32_t *kernel_indices(uint64_t seed, size_t n, uint32_t below);
void kernel_done(void);

double kernel_dropped(double p); /* the share that dropout drops: p, rounded */
/* Whether dropout with probability p keeps element i of a stream. */
bool kernel_keeps(const heed_random *r, uint64_t i, double p);

#ifdef HEED_F64
#define KERNEL_EPSILON 0x1p-46 /* the plain sums are in double themselves */
#else
#define KERNEL_EPSILON 0x1p-23
#endif

#endif
