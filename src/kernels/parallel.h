/* parallel.h -- work shared by a team. dispatch.c holds the only OpenMP region of the library. */
#ifndef HEED_PARALLEL_H
#define HEED_PARALLEL_H

#include "kernels.h"

/* Does the units in [from, to). What it writes for a unit must not depend on the range that the
 * unit came in. thread is below the team size: for scratch. */
typedef void heed__part(const void *job, size_t from, size_t to, int thread);

/* Runs part over [0, units), cut into one range per thread; serially when work, in floating-point
 * operations or so, is too little to share. */
void heed__share(const heed_kernels *k, size_t units, double work, heed__part *part,
                 const void *job);

#endif
