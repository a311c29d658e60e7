/* heed/ctx.h -- a context: owner of all objects, holder of the first error, seed and thread count.
 *
 * Errors stick: after the first one, calls on the same context do nothing and return NULL, false or
 * 0, so a sequence of calls needs one check at its end. Every public function accepts NULL where an
 * earlier call failed.
 *
 * Threads: one context, and the parameters of a store, may serve many threads that each make, use
 * and free tapes of their own under HEED_EVAL. The error is one for all of them: after the first
 * failure every thread's calls do nothing until heed_clear, which is called when no other thread is
 * at work. Messages for log come from whichever thread has them. Training, changes to a store and
 * heed_close belong to one thread at a time. A thread that computes needs 512 KiB of stack: blocks
 * of matrices are packed there. */
#ifndef HEED_CTX_H
#define HEED_CTX_H

#include <heed/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { HEED_INFO, HEED_WARN } heed_level;

/* Every field may be left 0. */
typedef struct {
    uint64_t seed; /* of initial weights, dropout, batches */
    int threads;   /* at most this many threads; 0: OMP_NUM_THREADS, else the CPUs that affinity and
                      cgroup allow */
    const char *isa; /* "generic", "avx2", "avx512", "neon"; NULL: the best that this CPU has */
    bool edited; /* runs whose weights, tokenizer or labels were edited on purpose are opened and
                    resumed: their digests are not compared */
    void (*log)(void *user, heed_level level,
                const char *message); /* the library itself never prints */
    void *user;                       /* handed to log */
} heed_options;

/* A new context, to be closed by the caller; NULL only without memory. A wrong option leaves it in
 * error, and so does a real_size other than the library's own sizeof(heed_real): a program compiled
 * for float that was linked with the double library, or the reverse. For bindings of other
 * languages, which pass 4. */
HEED_API heed_ctx *heed_open_real(const heed_options *options, size_t real_size);
/* The same for programs in C and C++. */
static inline heed_ctx *heed_open(const heed_options *options) {
    return heed_open_real(options, sizeof(heed_real));
}

/* Frees the context and everything made with it: stores, tapes, optimizers, corpora. */
HEED_API void heed_close(heed_ctx *c);

/* Status of the first error since opening or heed_clear; HEED_FAILED for NULL. */
HEED_API heed_status heed_ctx_status(const heed_ctx *c);

/* Message of that error, "" if none. Valid until heed_clear or heed_close. */
HEED_API const char *heed_ctx_error(const heed_ctx *c);

/* Forgets the error, so that calls work again. */
HEED_API void heed_clear(heed_ctx *c);

/* Records an error unless one is held already. Always returns false. For ops, layers and models of
 * one's own. */
HEED_API bool heed_fail(heed_ctx *c, heed_status status, const char *format, ...) HEED_PRINTF(3, 4);

/* Passes a message to heed_options.log. */
HEED_API void heed_message(heed_ctx *c, heed_level level, const char *format, ...)
    HEED_PRINTF(3, 4);

HEED_API uint64_t heed_seed(const heed_ctx *c);
HEED_API int heed_threads(const heed_ctx *c);
HEED_API const char *heed_isa(const heed_ctx *c); /* the instruction set in use: "avx2" */

/* How busy the machine is: *load processes run or wait for one of its *cpus CPUs, a mean of the
 * last minute (negative: unknown). True where there are more of them than CPUs: programs then wait
 * for one another, and timings vary. */
HEED_API bool heed_cpu_oversubscribed(double *load, int *cpus);

/* Four uniform 32-bit words from (key, counter): Philox4x32-10. Salmon et al. 2011, sec. 4.3. No
 * state. */
HEED_API void heed_philox(uint64_t key, const uint32_t counter[4], uint32_t out[4]);

/* A random stream: a pure function of seed, site, step and micro-batch, read by index. */
typedef struct {
    uint64_t seed;
    uint32_t site, step, micro;
} heed_random;

HEED_API heed_random heed_random_at(uint64_t seed, const char *site, uint64_t step, uint32_t micro);
HEED_API uint32_t heed_random_bits(const heed_random *r, uint64_t index);  /* uniform 32 bits */
HEED_API double heed_random_uniform(const heed_random *r, uint64_t index); /* in [0, 1) */
HEED_API double heed_random_normal(const heed_random *r, uint64_t index);  /* mean 0, variance 1 */
HEED_API uint32_t heed_random_below(const heed_random *r, uint64_t index,
                                    uint32_t bound); /* in 0 .. bound-1 */
/* Where a random permutation of 0 .. n-1 sends index: an epoch's order without a table. n >= 1. */
HEED_API uint64_t heed_random_permute(const heed_random *r, uint64_t index, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
