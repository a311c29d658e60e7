/* heed/ctx.h -- a context, which owns all objects and holds the first error, the seed and the
 * thread count.
 *
 * Errors are sticky: after the first one, calls on the same context do nothing and return NULL,
 * false or 0, so a sequence of calls needs only one check at its end. Every public function accepts
 * NULL where an earlier call failed.
 *
 * Threads: one context, and the parameters of a store, may be shared by many threads, each of which
 * makes, uses and frees its own tapes under HEED_EVAL. The threads share one error: after the first
 * failure, calls do nothing in every thread until heed_clear, which must be called when no other
 * thread uses the context. log is called from the thread that reports the message. Only one thread
 * at a time may train, change a store or call heed_close. A thread that computes needs 512 KiB of
 * stack, where blocks of matrices are packed. A program that forks a process which will compute
 * calls omp_pause_resource_all(omp_pause_hard) before, because the threads of GCC's OpenMP do not
 * exist there and would be waited for. */
#ifndef HEED_CTX_H
#define HEED_CTX_H

#include <heed/base.h>

HEED_EXPORT_BEGIN

typedef enum { HEED_INFO, HEED_WARN } heed_level;

struct heed_config; /* heed_config of heed/io.h */
enum { HEED_EXPLAIN = 512 };

/* Any field may be 0. */
typedef struct {
    uint64_t seed;   /* for initial weights, dropout and batches; of a training at most 2^53 */
    int threads;     /* the most threads of a kernel, up to 1024; 0: OMP_NUM_THREADS, else the CPUs
                        that affinity and cgroup allow */
    const char *isa; /* "generic", "avx2", "avx512", "neon"; NULL: the best that this CPU has */
    bool edited;     /* do not compare digests, so that runs whose weights, tokenizer or labels were
                        edited on purpose can be opened, resumed and started from; changed lines of
                        config.conf, except the seed, are ignored instead of refused */
    void (*log)(void *user, heed_level level,
                const char *message); /* receives messages; the library itself never prints */
    /* For a setting `key` that f does not have: writes the end of the error message to text, for
     * example ": did you mean `width`?". If it returns false, a setting of a similar name is
     * suggested. */
    bool (*explain)(void *user, const struct heed_config *f, const char *key,
                    char text[HEED_EXPLAIN]);
    void *user; /* passed to both */
} heed_options;

/* Returns a new context, which the caller closes; NULL only when out of memory. An invalid option
 * puts the context in error, and so does a real_size that is not the library's sizeof(heed_real): a
 * program compiled for float but linked with the double-precision library, or the reverse. Bindings
 * for other languages call this function and pass 4. */
heed_ctx *heed_open_real(const heed_options *options, size_t real_size);
/* The same for programs in C and C++. */
static inline heed_ctx *heed_open(const heed_options *options) {
    return heed_open_real(options, sizeof(heed_real));
}

/* Frees the context and everything made with it: stores, tapes, optimizers, corpora. */
void heed_close(heed_ctx *c);

/* The status of the first error since heed_open or heed_clear, else HEED_OK; HEED_FAILED if c is
 * NULL. */
heed_status heed_ctx_status(const heed_ctx *c);

/* The message of that error, "" if there is none; valid until heed_clear or heed_close. If c is
 * NULL, it says that there is no context. */
const char *heed_ctx_error(const heed_ctx *c);

/* If the error is that an input does not exist, its path; else "". Valid as long as the message.
 * Sets *run, unless run is NULL, to whether a run was expected at that path; to false with "". */
const char *heed_ctx_missing(const heed_ctx *c, bool *run);

/* Clears the error, so that calls work again. */
void heed_clear(heed_ctx *c);

/* Records an error unless one is already recorded, or status is HEED_OK. Always returns false. The
 * message is formatted as by printf and cut after 1023 bytes. Custom ops, layers and models report
 * errors with it. Messages of the library name settings in backquotes without dashes,
 * with the value after " = ", and commands without the program's name: "hint: a smaller `lr`, or
 * `clip = 1`", "hint: `resume RUN` continues it". heed_program shows them as flags and commands:
 * --lr, --clip 1, `heed resume RUN`; commands only after "hint: ". */
bool heed_fail(heed_ctx *c, heed_status status, const char *format, ...) HEED_PRINTF(3, 4);

/* The same with HEED_DATA for the file or folder at `path`, which the message names: if nothing
 * exists there, heed_ctx_missing returns the path. run: a run was expected there. */
bool heed_fail_input(heed_ctx *c, const char *path, bool run, const char *format, ...)
    HEED_PRINTF(4, 5);

/* What a folder holds that somebody else may have made, such as a run, has the path FOLDER
 * HEED_INSIDE NAME: "runs/book/.//train.log". Functions that open it follow no link behind FOLDER,
 * read plain files only, and write by replacing what has the name, so that nothing elsewhere is
 * read or changed. Messages show FOLDER/NAME. */
#define HEED_INSIDE "/.//"

/* Passes a message of at most 1023 bytes to heed_options.log. Settings and commands are named as in
 * heed_fail. */
void heed_message(heed_ctx *c, heed_level level, const char *format, ...) HEED_PRINTF(3, 4);

/* Reports progress: `done` of `all` units. If it returns false, the work ends with
 * HEED_INTERRUPTED. It is called from the thread that started the work. */
typedef bool (*heed_progress)(void *user, uint64_t done, uint64_t all);

/* The seed of heed_options, and the number of threads that kernels use; 0 if c is NULL. */
uint64_t heed_seed(const heed_ctx *c);
int heed_threads(const heed_ctx *c);
const char *heed_isa(const heed_ctx *c); /* the instruction set in use: "avx2"; "" if c is NULL */

/* How heed_affine, heed_affine_xent, the heed_matmul family and attention multiply under
 * HEED_TRAIN: in fp32, the default, or with both operands rounded to bf16 (8 bits of precision) and
 * sums in fp32, which is up to twice as fast (AMD) or half as fast (Intel). Values, gradients and
 * parameters remain fp32, and products with fewer than 16 rows, 32 columns or 32 terms, and
 * attention with fewer than 64 keys or heads narrower than 32, are computed in fp32, as is
 * everything under HEED_EVAL and HEED_TRACE. bf16 requires the instruction set avx512 and a CPU
 * with AVX512-BF16; otherwise false, with the error HEED_USAGE. Not to be called while another
 * thread uses the context. */
typedef enum {
    HEED_FP32,
    HEED_BF16,
    HEED_BF16_IF_FASTER, /* HEED_BF16 on CPUs that multiply faster in it: not Intel's; else
                            HEED_FP32 */
} heed_precision;
bool heed_set_precision(heed_ctx *c, heed_precision precision);

/* How busy the machine is: *load is the mean number of processes that ran or waited for one of the
 * *cpus CPUs during the last minute (negative: unknown). True if *load exceeds *cpus by more than
 * 0.5: programs then wait for one another, and timings vary. */
bool heed_cpu_oversubscribed(double *load, int *cpus);

/* A random stream: a pure function of seed, site, step and micro-batch, read by index. */
typedef struct {
    uint64_t seed;
    uint32_t site, step, micro;
} heed_random;

/* The stream of a seed for one purpose: site names the purpose, for example a layer, and step and
 * micro are the step and micro-batch. Equal arguments give the same stream on every machine. */
heed_random heed_random_at(uint64_t seed, const char *site, uint64_t step, uint32_t micro);
double heed_random_uniform(const heed_random *r, uint64_t index); /* in [0, 1) */
double heed_random_normal(const heed_random *r, uint64_t index);  /* mean 0, variance 1 */
uint32_t heed_random_below(const heed_random *r, uint64_t index,
                           uint32_t bound); /* in 0 .. bound-1; bound >= 1 */
/* The number at `index`, from 0 to n-1, of a random permutation of 0 .. n-1: the order of an epoch
 * without a table. */
uint64_t heed_random_permute(const heed_random *r, uint64_t index, uint64_t n);

HEED_EXPORT_END
#endif
