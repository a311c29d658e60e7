/* steady.c -- allocator calls of a training in several processes: a longer one makes as many, so
 * that a step makes none. Calls of MPI itself are not counted. */
#include "cli/program.h"

#include <errno.h>
#include <heed/models.h>
#include <stdio.h>
#include <stdlib.h>

/* glibc: its own names for the real functions; the first and the last address of this program. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t each);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);
extern const char __executable_start, etext;

static long calls;

static void count(const void *caller) {
    calls += (const char *)caller >= &__executable_start && (const char *)caller < &etext;
}

#define COUNT count(__builtin_return_address(0))
void *malloc(size_t n) { return COUNT, __libc_malloc(n); }
void *calloc(size_t n, size_t each) { return COUNT, __libc_calloc(n, each); }
void *realloc(void *p, size_t n) { return COUNT, __libc_realloc(p, n); }
void *aligned_alloc(size_t align, size_t n) { return COUNT, __libc_memalign(align, n); }
int posix_memalign(void **p, size_t align, size_t n) {
    COUNT;
    *p = __libc_memalign(align, n);
    return *p ? 0 : ENOMEM;
}

/* The calls of a training run of that many steps; -1: it failed. */
static long train(const cluster *k, const char *data, int steps) {
    char settings[200];
    long before = calls;
    snprintf(settings, sizeof settings,
             "steps=%d eval-every=1000 accumulate=4 layers=2 heads=2 width=16 ff=32 block=16 "
             "batch=2 dropout=0.1",
             steps);
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .threads = 1});
    heed_train(c, &(heed_train_args){.model = &heed_model_gpt,
                                     .data = data,
                                     .settings = settings,
                                     .cluster = k->processes});
    bool ok = heed_ctx_status(c) == HEED_OK;
    if (!ok) printf("%s\n", heed_ctx_error(c));
    heed_close(c);
    return ok ? calls - before : -1;
}

int main(int argc, char **argv) {
    cluster k = {0};
    if (argc != 2 || !mpi_open(&k)) return 2;
    train(&k, argv[1], 10); /* what the first one alone allocates */
    long few = train(&k, argv[1], 10), many = train(&k, argv[1], 40);
    if (few != many || few <= 0)
        printf("process %d: %ld allocator calls in 10 steps, %ld in 40\n", k.processes->rank, few,
               many);
    mpi_close(&k);
    return few != many || few <= 0;
}
