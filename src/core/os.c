/* os.c -- the machine: processors, clocks and memory, through POSIX. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity, MAP_ANONYMOUS, madvise */
#endif
#include "core/os.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- processors and clocks ---- */

#ifdef __linux__
/* Two numbers in a file, the second optional; how many were read. "max" is not a number. */
static int read_numbers(const char *path, double *a, double *b) {
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    int got = fscanf(f, "%lf %lf", a, b);
    fclose(f);
    return got;
}

/* The number of CPUs that one control group allows; 1e9 if it sets no limit. root/group: cpu.max
 * holds quota and period (v2), cpu.cfs_quota_us and cpu.cfs_period_us one number each (v1). */
static double group_cpus(const char *root, const char *group) {
    char path[2 * PATH_MAX + 64];
    double quota = -1, period = 1e5, none;
    snprintf(path, sizeof path, "%s%s/cpu.max", root, group);
    if (read_numbers(path, &quota, &period) == 0) {
        snprintf(path, sizeof path, "%s%s/cpu.cfs_quota_us", root, group);
        if (read_numbers(path, &quota, &none) == 0) return 1e9;
        snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", root, group);
        if (read_numbers(path, &period, &none) == 0) return 1e9;
    }
    return quota > 0 && period > 0 ? ceil(quota / period) : 1e9;
}

/* The minimum of the limits of the group and its parents. Truncates group. */
static double least_of_parents(const char *root, char *group) {
    double least = 1e9;
    for (;;) {
        least = fmin(least, group_cpus(root, group));
        char *slash = strrchr(group, '/');
        if (!slash) return least;
        *slash = 0;
    }
}

/* Whether "cpu" is one of the names in a list "cpuset,cpu,cpuacct". */
static bool has_cpu(const char *list) {
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == 3 && strncmp(list, "cpu", 3) == 0) return true;
    return false;
}

/* Lines of the table are "ID:CONTROLLERS:GROUP", without controllers in v2. */
double heed__os_quota(const char *table, const char *root) {
    double least = 1e9;
    FILE *f = fopen(table, "r");
    if (!f) return least;
    char line[PATH_MAX], cpu_root[PATH_MAX];
    snprintf(cpu_root, sizeof cpu_root, "%s/cpu", root);
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *kinds = strchr(line, ':'), *group = kinds ? strchr(kinds + 1, ':') : NULL;
        if (!group) continue;
        *group++ = 0;
        if (kinds[1] == 0)
            least = fmin(least, least_of_parents(root, group));
        else if (has_cpu(kinds + 1))
            least = fmin(least, least_of_parents(cpu_root, group));
    }
    fclose(f);
    return least;
}

static int allowed_cpus(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    return count > 0 ? count : (int)sysconf(_SC_NPROCESSORS_ONLN);
}
#else
double heed__os_quota(const char *table, const char *root) {
    (void)table, (void)root;
    return 1e9;
}
static int allowed_cpus(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }
#endif

int heed__os_cpus(void) {
    double cpus = fmin(allowed_cpus(), heed__os_quota("/proc/self/cgroup", "/sys/fs/cgroup"));
    return cpus >= 1 ? (int)cpus : 1;
}

double heed__os_load(int *cpus) {
    double load;
    *cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return getloadavg(&load, 1) == 1 ? load : -1;
}

static double read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double heed__os_seconds(void) { return read_clock(CLOCK_MONOTONIC); }
double heed__os_thread_seconds(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

/* ---- memory ---- */

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
