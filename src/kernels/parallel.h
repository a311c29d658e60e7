/* parallel.h -- work shared by a team. dispatch.c holds the only OpenMP region of the library. */
#ifndef HEED_PARALLEL_H
#define HEED_PARALLEL_H

#include "kernels.h"

/* Does the units in [from, to). What it writes for a unit must not depend on the range that the
 * unit came in. thread is below the team size: for scratch. */
typedef void heed__part(const void *job, size_t from, size_t to, int thread);

/* Runs part over [0, units), cut into one range per thread; serially when work, in floating-point
 * operations or so, is too little to share, and while other programs keep the threads from working
 * side by side. */
void heed__share(const heed_kernels *k, size_t units, double work, heed__part *part,
                 const void *job);

/* Whether to share. A team waits for its slowest thread: where another program has a CPU, every
 * region can last a time slice of the scheduler, and two threads are many times slower than one. So
 * an account is kept of the seconds that regions saved, compared with one thread doing all units as
 * fast as the first thread that finished did its own. A team in debt pauses, the longer the sooner
 * that happens again. Several threads may use one account: it is a measure, and no result depends
 * on it. */
struct heed__team {
    _Atomic double credit; /* saved, up to a limit */
    _Atomic double begin;  /* of the present trial: one thread alone works until then */
    _Atomic double pause;  /* before the present trial */
};
void heed__team_init(heed__team *t);
bool heed__team_pays(const heed__team *t, double now);
/* Counts a region that began and ended then; alone: what it would have taken one thread. */
void heed__team_count(heed__team *t, double begin, double end, double alone);

#endif
