/* dispatch.c -- opens a context with the kernels of this CPU, and shares work among threads. */
#include "core/core.h"
#include "core/os.h"
#include "core/profile.h"
#include "parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

extern const heed_kernels heed__table_generic;
#if defined(__x86_64__)
extern const heed_kernels heed__table_avx2, heed__table_avx512;
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#elif defined(__aarch64__)
extern const heed_kernels heed__table_neon;
#endif

static bool always(void) { return true; }

/* Best first; a CPU that runs one set runs all that follow it. */
static const struct {
    const heed_kernels *table;
    bool (*runs_here)(void);
} sets[] = {
#if defined(__x86_64__)
    {&heed__table_avx512, has_avx512},
    {&heed__table_avx2, has_avx2},
#elif defined(__aarch64__)
    {&heed__table_neon, always},
#endif
    {&heed__table_generic, always},
};
static const char *const names[] = {
#if defined(__x86_64__)
    "avx512", "avx2",
#elif defined(__aarch64__)
    "neon",
#endif
    "generic", NULL};

const char *const *heed__kernels_available(void) {
    size_t first = 0;
    while (!sets[first].runs_here()) first++;
    return names + first;
}

bool heed__kernels_choose(heed_kernels *out, const char *isa, int threads) {
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (!sets[i].runs_here() || (isa && strcmp(isa, names[i]) != 0)) continue;
        *out = *sets[i].table;
        out->threads = threads;
        return true;
    }
    return false;
}

const char *heed__kernels_bf16(const heed_kernels *k) {
#if defined(__x86_64__) && !defined(HEED_F64)
    if (strcmp(k->isa, "avx512") != 0) return "it needs the instruction set avx512";
    return __builtin_cpu_supports("avx512bf16") ? NULL : "this CPU has no AVX512-BF16";
#else
    (void)k;
    return "this build has no kernels for it";
#endif
}

/* What a context allocates for its kernels. */
typedef struct {
    heed_kernels kernels;
    heed__team team;
    bool rounded; /* heed_kernels.bf16 */
} opened;

bool heed__bf16_is_faster(void) {
#ifdef __x86_64__
    return !__builtin_cpu_is("intel"); /* its vdpbf16ps does half the operations of fp32's FMAs */
#else
    return true;
#endif
}

bool heed_set_precision(heed_ctx *c, heed_precision precision) {
    if (!c || heed_ctx_status(c) != HEED_OK) return false;
    heed_kernels *k = heed__ctx_kernels(c);
    const char *why = precision != HEED_FP32 ? heed__kernels_bf16(k) : NULL;
    if (why)
        return heed_fail(c, HEED_USAGE,
                         "bf16 is not available: `precision`: %s, in use is %s; hint: train with "
                         "`precision = fp32`, which runs everywhere; a run keeps its precision",
                         why, k->isa);
    bool *rounded = &((opened *)(void *)k)->rounded;
    *rounded = false;
    bool rounds =
        precision == HEED_BF16 || (precision == HEED_BF16_IF_FASTER && heed__bf16_is_faster());
    k->bf16 = rounds ? rounded : NULL;
    return true;
}

bool heed__precision_applies(const heed_ctx *c) {
    const bool *rounded = heed__kernels_of(c)->bf16;
    return !rounded || *rounded;
}

#define MOST_THREADS 1024

/* OMP_NUM_THREADS if it is a valid number, else the CPUs that this process may use. */
static int default_threads(void) {
    const char *text = getenv("OMP_NUM_THREADS");
    long n = text ? strtol(text, NULL, 10) : 0;
    return n >= 1 && n <= MOST_THREADS ? (int)n : heed__os_cpus();
}

static void refuse_isa(heed_ctx *c, const char *isa) {
    char list[64] = "";
    for (const char *const *name = heed__kernels_available(); *name; name++) {
        strcat(list, list[0] ? ", " : ""); /* list is large enough for all names */
        strcat(list, *name);
    }
    heed_fail(c, HEED_USAGE,
              "instruction set is not available: `isa`: expected one of %s, found %.40s; hint: "
              "leave `isa` out to get the best of this CPU",
              list, isa);
}

/* What a thread needs: a kernel packs a part of a matrix on its stack, at most 100,000 numbers. */
#define STACK ((size_t)160 * 1024 * sizeof(heed_real))

/* The least stack of a team's threads, which the runtime makes with the limit of the process unless
 * a variable says otherwise. */
static size_t team_stack(int threads) {
    size_t least = SIZE_MAX;
#ifdef _OPENMP
    if (threads > 1 &&
        (getenv("OMP_STACKSIZE") || getenv("GOMP_STACKSIZE") || getenv("KMP_STACKSIZE"))) {
#pragma omp parallel num_threads(threads) reduction(min : least)
        least = heed__os_stack_left();
    }
#endif
    (void)threads;
    return least;
}

static void check_stack(heed_ctx *c, int threads) {
    struct {
        size_t bytes;
        const char *whose, *hint;
    } all[] = {{heed__os_stack_limit(), "the process", "`ulimit -s 8192`"},
               {heed__os_stack_left(), "the calling thread", "start it with a larger stack"},
               {0, "each thread of a team", "OMP_STACKSIZE=2M in the environment"}};
    for (int i = 0; i < 3; i++) {
        if (i == 2) all[i].bytes = team_stack(threads);
        if (all[i].bytes >= STACK) continue;
        heed_fail(c, HEED_FAILED,
                  "stack is too small: heed_open: expected at least %zu kB for %s, found %zu kB; "
                  "hint: %s",
                  STACK / 1024, all[i].whose, all[i].bytes / 1024, all[i].hint);
        return;
    }
}

heed_ctx *heed_open_real(const heed_options *options, size_t real_size) {
    heed_ctx *c = heed__ctx_new(options, sizeof(opened));
    if (!c) return NULL;
    opened *o = (opened *)(void *)heed__ctx_kernels(c);
    const char *isa = options ? options->isa : NULL;
    int threads = options ? options->threads : 0;
    bool sensible = threads >= 0 && threads <= MOST_THREADS;
    /* Even a context in error has kernels, so that no later code finds NULL. */
    if (!heed__kernels_choose(&o->kernels, isa,
                              sensible && threads ? threads : default_threads())) {
        heed__kernels_choose(&o->kernels, NULL, 1);
        refuse_isa(c, isa);
    }
    heed__team_init(&o->team);
    o->kernels.team = &o->team;
    if (real_size != sizeof(heed_real))
        heed_fail(
            c, HEED_USAGE,
            "library does not fit the program: heed_open: expected numbers of %zu bytes, found "
            "%zu; hint: link the %s library, or compile %s -DHEED_F64",
            real_size, sizeof(heed_real), real_size == sizeof(float) ? "float" : "double",
            real_size == sizeof(float) ? "with" : "without");
    if (!sensible)
        heed_fail(c, HEED_USAGE,
                  "thread count is wrong: `threads`: expected 0 to %d, found %d; hint: 0 uses all "
                  "CPUs allowed",
                  MOST_THREADS, threads);
    check_stack(c, o->kernels.threads);
    return c;
}

int heed_threads(const heed_ctx *c) { return c ? heed__kernels_of(c)->threads : 0; }
const char *heed_isa(const heed_ctx *c) { return c ? heed__kernels_of(c)->isa : ""; }

/* ---- whether threads are worth using ---- */

/* In seconds. The limit is the cost of a few time slices, so that an occasional delay on an idle
 * machine does not stop the use of threads. The grace is the cost of waking sleeping threads. What
 * a trial costs afterwards: its threads spin for a few milliseconds before they sleep, and the
 * scheduler moves other processes to the CPU of this one. */
static const double LIMIT = 24e-3, GRACE = 1e-3, AFTERWARDS = 10e-3, LONGEST_PAUSE = 5;
/* A pause lasts this many times what the trial before it cost. At first it is short, so that a
 * delay which soon ends costs a short training run little; it doubles with every trial that fails
 * until trials take about 2.5 % of the time: 0.4 to 0.8 seconds beside 1 to 4 busy processes on 2
 * CPUs. A loss of minutes, when the process itself was stopped, counts as one of a tenth of a
 * second. */
static const double FIRST_PER_LOSS = 10, PAUSE_PER_LOSS = 40;

void heed__team_init(heed__team *t) {
    atomic_init(&t->credit, LIMIT);
    atomic_init(&t->begin, 0);
    atomic_init(&t->per_loss, FIRST_PER_LOSS);
}

static double get(const _Atomic double *x) { return atomic_load_explicit(x, memory_order_relaxed); }
static void set(_Atomic double *x, double v) { atomic_store_explicit(x, v, memory_order_relaxed); }

bool heed__team_pays(const heed__team *t, double now) { return now >= get(&t->begin); }

bool heed__team_doubtful(const heed__team *t) { return get(&t->credit) < LIMIT; }

void heed__team_count(heed__team *t, double begin, double end, double alone, bool measured) {
    double credit = get(&t->credit) + alone - (end - begin);
    if (!measured && credit < GRACE) credit = GRACE;
    if (credit >= 0) {
        set(&t->credit, credit < LIMIT ? credit : LIMIT);
        if (credit >= LIMIT) set(&t->per_loss, FIRST_PER_LOSS);
        return;
    }
    double per_loss = get(&t->per_loss), pause = (AFTERWARDS - credit) * per_loss;
    set(&t->per_loss, 2 * per_loss < PAUSE_PER_LOSS ? 2 * per_loss : PAUSE_PER_LOSS);
    set(&t->credit, GRACE);
    set(&t->begin, end + (pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE));
}

/* ---- running kernels on threads ---- */

/* A parallel region costs about a microsecond, 0.1 MFLOP about as much. */
#define SERIAL_WORK 1e5

#ifdef _OPENMP
/* The team size never changes: a change makes the runtime start and end threads. */
static void share(const heed_kernels *k, size_t units, double begin, heed__part *part,
                  const void *job) {
    bool measured = k->team && heed__team_doubtful(k->team);
    double used = 0;        /* CPU time of all threads */
    _Atomic double guessed; /* from the thread that finishes first */
    atomic_init(&guessed, 0);
#pragma omp parallel num_threads(k->threads) reduction(+ : used)
    {
        size_t n = (size_t)omp_get_num_threads(), t = (size_t)omp_get_thread_num();
        size_t from = units * t / n, to = units * (t + 1) / n;
        heed__stretch *stretch = k->profile ? &k->profile->stretches[t] : NULL;
        double start = heed__os_seconds(), cpu = measured ? heed__os_thread_seconds() : 0;
        if (from < to) part(job, from, to, (int)t);
        double stop = heed__os_seconds();
        if (measured) used = heed__os_thread_seconds() - cpu;
        if (from < to && get(&guessed) == 0)
            set(&guessed, (stop - start) * (double)units / (double)(to - from));
        if (stretch) {
            stretch->begin = start;
            stretch->end = stop;
        }
    }
    double end = heed__os_seconds();
    if (k->profile) heed__profile_region(k->profile, begin, end);
    if (k->team) heed__team_count(k->team, begin, end, measured ? used : get(&guessed), measured);
}
#endif

void heed__share(const heed_kernels *k, size_t units, double work, heed__part *part,
                 const void *job) {
#ifdef _OPENMP
    if (k->threads > 1 && units > 1 && work >= SERIAL_WORK) {
        double now = heed__os_seconds(); /* some 30 nanoseconds */
        if (!k->team || heed__team_pays(k->team, now)) {
            share(k, units, now, part, job);
            return;
        }
    }
#endif
    (void)k;
    (void)work;
    if (units > 0) part(job, 0, units, 0);
}

/* ---- rows of a batch ---- */

/* Products of fewer rows use part of a tile. */
#define TILE 8

typedef struct {
    const heed_kernels *k;
    int rows;
    heed__rows_part *part;
    const void *job;
} rows_job;

static void rows_part(const void *job, size_t from, size_t to, int thread) {
    const rows_job *j = job;
    heed_profile *p = j->k->profile;
    heed__alone alone = heed__alone_of(j->k, p ? &p->stretches[thread].flops : NULL);
    int end = (int)to * TILE;
    j->part(&alone.k, j->job, (int)from * TILE, end < j->rows ? end : j->rows);
}

void heed__share_rows(const heed_kernels *k, int rows, double work, heed__rows_part *part,
                      const void *job) {
    size_t tiles = ((size_t)rows + TILE - 1) / TILE;
    if (tiles < (size_t)k->threads) {
        part(k, job, 0, rows);
        return;
    }
    heed__share(k, tiles, work, rows_part, &(rows_job){k, rows, part, job});
    heed__profile_collect(k->profile);
}
