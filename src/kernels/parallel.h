/* parallel.h -- work divided among a team of threads, in the one OpenMP region: dispatch.c. */
#ifndef HEED_PARALLEL_H
#define HEED_PARALLEL_H

#include "kernels.h"

/* Computes the units in [from, to). The results for a unit must not depend on the range that
 * contains it. thread is below the team size, to select scratch memory. */
typedef void heed__part(const void *job, size_t from, size_t to, int thread);

/* Defines the part that computes each unit by unit(job, u). */
#define HEED__PART(part, unit)                                                                     \
    static void part(const void *job, size_t from, size_t to, int thread) {                        \
        (void)thread;                                                                              \
        for (size_t u = from; u < to; u++) unit(job, u);                                           \
    }

/* Runs part over [0, units), divided into one range per thread; serially if work, approximately in
 * floating-point operations, is too small to divide, and while other programs prevent the threads
 * from running at the same time. */
void heed__share(const heed_kernels *k, size_t units, double work, heed__part *part,
                 const void *job);

/* The kernels of k for use by one thread of a region; the operations of its products are added to
 * *flops if a profile is attached. */
typedef struct {
    heed_kernels k;
    double *flops;
    void (*gemm)(const heed_kernels *k, const heed_gemm *g); /* which does not count */
} heed__alone;
heed__alone heed__alone_of(const heed_kernels *k, double *flops);

/* Decides whether to use several threads. A team waits for its slowest thread: if another program
 * occupies a CPU, every region can last a time slice of the scheduler, and two threads are many
 * times slower than one. So the seconds that regions saved, compared with one thread computing all
 * units, are added up. If the balance is too negative, the team pauses, in proportion to the loss,
 * and the first regions after the pause are a trial. The first pauses are short; once the balance
 * is full again, the next one is, too.
 *
 * One thread would need the CPU time that all threads used: this contains what the first use of
 * memory costs and what makes parts uneven, but not the wait for a CPU. As it takes half a
 * microsecond to read, a team whose balance is full reads wall clocks only, and takes the speed of
 * the first thread that finishes for that of all. Such a guess makes the team doubtful, so that the
 * next regions are measured; it never leads to a pause itself.
 *
 * Several threads may use one account: no result depends on it. */
struct heed__team {
    _Atomic double credit;   /* seconds saved, up to a limit */
    _Atomic double begin;    /* end of the current pause: one thread works alone until then */
    _Atomic double per_loss; /* the next pause as a multiple of the loss */
};
void heed__team_init(heed__team *t);
bool heed__team_pays(const heed__team *t, double now);
/* Whether the next region should measure its CPU time. */
bool heed__team_doubtful(const heed__team *t);
/* Accounts for a region that began and ended at these times; alone: what one thread would need,
 * measured as CPU time or guessed. */
void heed__team_count(heed__team *t, double begin, double end, double alone, bool measured);

#endif
