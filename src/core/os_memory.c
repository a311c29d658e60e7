/* os_memory.c -- memory from the system, and what the process uses of it, through POSIX. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#endif
#include "core/os.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* mmap aligns to pages of the usual size, so a large page more is mapped, and the ends unmapped. */
void *heed__os_map(size_t bytes) {
    char *p = mmap(NULL, bytes + HEED__LARGE_PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    size_t before = (HEED__LARGE_PAGE - (uintptr_t)p % HEED__LARGE_PAGE) % HEED__LARGE_PAGE;
    if (before) munmap(p, before);
    munmap(p + before + bytes, HEED__LARGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    (void)madvise(p + before, bytes, MADV_HUGEPAGE);
#endif
    return p + before;
}

void heed__os_unmap(void *p, size_t bytes) { munmap(p, bytes); }

size_t heed__os_peak_memory(void) {
    struct rusage use;
    if (getrusage(RUSAGE_SELF, &use) != 0) return 0;
#ifdef __APPLE__
    return (size_t)use.ru_maxrss;
#else
    return (size_t)use.ru_maxrss * 1024;
#endif
}

size_t heed__os_memory(void) {
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*u %lu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : heed__os_peak_memory();
}

size_t heed__os_memory_limit(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    size_t all = pages > 0 ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : SIZE_MAX, limit;
    FILE *f = fopen("/sys/fs/cgroup/memory.max", "r");
    if (f && fscanf(f, "%zu", &limit) == 1 && limit < all) all = limit;
    if (f) fclose(f);
    return all;
}
