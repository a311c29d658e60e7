/* Counts the calls of the C allocator, and fails the one asked for. glibc: its own names for the
 * real functions. */
#include "interpose.h"

#include <errno.h>
#include <execinfo.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t each);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

long alloc_calls;
long alloc_fail_at;
uint64_t *alloc_places;
long alloc_capacity;

static uint64_t place(void) {
    enum { DEEPEST = 64 };
    void *stack[DEEPEST];
    uint64_t h = 14695981039346656037u;
    for (int i = 0, n = backtrace(stack, DEEPEST); i < n; i++)
        h = (h ^ (uintptr_t)stack[i]) * 1099511628211u;
    return h;
}

static int refuse(void) {
    alloc_calls++;
    if (alloc_places && alloc_calls <= alloc_capacity) alloc_places[alloc_calls - 1] = place();
    if (alloc_fail_at == 0 || alloc_calls != alloc_fail_at) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n) { return refuse() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t each) { return refuse() ? NULL : __libc_calloc(n, each); }
void *realloc(void *p, size_t n) { return refuse() ? NULL : __libc_realloc(p, n); }
void *aligned_alloc(size_t align, size_t n) { return refuse() ? NULL : __libc_memalign(align, n); }
int posix_memalign(void **p, size_t align, size_t n) {
    if (refuse()) return ENOMEM;
    *p = __libc_memalign(align, n);
    return *p ? 0 : ENOMEM;
}

/* Thousands of runs are written here, and none has to survive a power cut. */
int fsync(int fd);
int fsync(int fd) {
    (void)fd;
    return 0;
}
