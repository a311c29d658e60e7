/* table.c -- one instruction set's table of kernels, and a loop of multiply-adds in registers, by
 * which their speed is judged. */
#include "set.h"

#define HEED__TEXT_(x) #x
#define HEED__TEXT(x)  HEED__TEXT_(x)

const heed_kernels K(table) = {
    .isa = HEED__TEXT(HEED_ISA),
#define KERNEL(result, name, ...) .name = K(name),
#include "list.h"
#undef KERNEL
};

/* So many sums that none waits for its previous term, and that all fit in registers. */
enum { SUMS = HEED__SET == 2 || HEED__SET == 3 ? 16 : 12 };

double K(multiply_adds)(const heed_kernels *k, int loops) {
    const vec x = splat((heed_real)0.999), y = splat((heed_real)1e-3);
    vec sum[SUMS];
    volatile heed_real result;
    (void)k;
    for (int i = 0; i < SUMS; i++) sum[i] = splat((heed_real)i);
    for (int l = 0; l < loops; l++) {
        UNROLL for (int i = 0; i < SUMS; i++) sum[i] = sum[i] * x + y;
    }
    for (int i = 1; i < SUMS; i++) sum[0] += sum[i];
    result = sum_lanes(sum[0]);
    (void)result;
    return 2.0 * SUMS * VL;
}
