/* os.c -- files, clocks, processors and locks, through POSIX. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity, O_CLOEXEC, nftw, realpath */
#endif
#include "core/os.h"

#include "core/core.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool heed__os_refuse(heed_ctx *c, heed_status status, const char *verb, const char *path) {
    int why = errno;
    const char *hint = "";
    if (why == ENOSPC || why == EDQUOT) hint = "; hint: free some space (df -h shows it)";
    if (why == EFBIG) hint = "; hint: raise the file size limit (ulimit -f)";
    if (why == EMFILE) hint = "; hint: raise the limit of open files (ulimit -n)";
    if (status == HEED_DATA)
        return heed_fail_input(c, path, false, "cannot %s %s: %s%s", verb, path, strerror(why),
                               hint);
    return heed_fail(c, status, "cannot %s %s: %s%s", verb, path, strerror(why), hint);
}

/* The folder that contains path, with a final slash; "" for the working folder. */
static char *folder_of(heed_ctx *c, const char *path, size_t extra) {
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = heed__alloc(c, n + extra + 1);
    if (folder) memcpy(folder, path, n);
    return folder;
}

/* ---- reading ---- */

/* Reads all of fd into one buffer, which has space for a final zero byte. */
static unsigned char *read_all(heed_ctx *c, int fd, const char *path, size_t size, size_t limit,
                               size_t *n) {
    unsigned char *data = NULL;
    size_t capacity = 0, have = 0;
    size_t first = size > 0 ? size + 2 : 4096; /* one more byte, to detect the end */
    if (!heed__grow(c, &data, &capacity, first, 1)) return NULL;
    for (;;) {
        if (have + 1 >= capacity && !heed__grow(c, &data, &capacity, have + 65536, 1)) break;
        ssize_t got = read(fd, data + have, capacity - have - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            heed__os_refuse(c, HEED_DATA, "read", path);
            break;
        }
        if (got == 0) {
            data[have] = 0;
            *n = have;
            return data;
        }
        have += (size_t)got;
        if (limit && have > limit) {
            heed_fail(c, HEED_DATA, "%s is too large: expected at most %zu bytes", path, limit);
            break;
        }
    }
    heed__free(data);
    return NULL;
}

unsigned char *heed__os_read(heed_ctx *c, const char *path, size_t limit, size_t *n) {
    *n = 0;
    if (heed__stopped(c)) return NULL;
    int fd;
    do fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        heed__os_refuse(c, HEED_DATA, "read", path);
        return NULL;
    }
    struct stat st;
    unsigned char *data = NULL;
    if (fstat(fd, &st) != 0)
        heed__os_refuse(c, HEED_DATA, "read", path);
    else if (S_ISDIR(st.st_mode))
        heed_fail(c, HEED_DATA, "cannot read %s: expected a file, found a folder", path);
    else {
        size_t size = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 0;
        if (!limit && !S_ISREG(st.st_mode)) limit = HEED__ENDLESS;
        if (limit && size > limit)
            heed_fail(c, HEED_DATA, "%s is too large: expected at most %zu bytes, found %zu", path,
                      limit, size);
        else
            data = read_all(c, fd, path, size, limit, n);
    }
    close(fd);
    return data;
}

/* ---- writing ---- */

static bool write_all(int fd, const void *bytes, size_t n) {
    const char *at = bytes;
    while (n > 0) {
        size_t part = n < (1u << 30) ? n : (1u << 30); /* some systems reject larger writes */
        ssize_t done = write(fd, at, part);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

/* Pipes and some file systems do not support fsync; this is not a failure. */
static bool sync_fd(int fd) {
    int r;
    do r = fsync(fd);
    while (r != 0 && errno == EINTR);
    return r == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

static bool write_pieces(int fd, const heed__piece *pieces, int count) {
    for (int i = 0; i < count; i++)
        if (!write_all(fd, pieces[i].data, pieces[i].n)) return false;
    return true;
}

/* Closes fd and keeps the errno of an earlier failure. */
static bool close_after(int fd, bool ok) {
    int why = errno;
    bool closed = close(fd) == 0 || errno == EINTR;
    if (!ok) errno = why;
    return ok && closed;
}

static const char half_written[] = ".heed-%ld-%d.tmp"; /* process id, serial number */

/* Creates a new file in the folder given in `name`, to which the rest of its name is appended. */
static int open_beside(char *name, size_t capacity) {
    size_t n = strlen(name);
    for (int i = 0; i < 1000; i++) {
        snprintf(name + n, capacity - n, half_written, (long)getpid(), i);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || (errno != EEXIST && errno != EINTR)) return fd;
    }
    return -1;
}

bool heed__os_sync_dir(heed_ctx *c, const char *path) {
    if (heed__stopped(c)) return false;
    int fd = open(*path ? path : ".", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return heed__os_refuse(c, HEED_FAILED, "sync", path);
    bool ok = close_after(fd, sync_fd(fd));
    return ok || heed__os_refuse(c, HEED_FAILED, "sync", path);
}

static bool replace(heed_ctx *c, const char *path, const struct stat *old,
                    const heed__piece *pieces, int count, bool sync) {
    enum { NAME = 64 };
    char *name = folder_of(c, path, NAME);
    if (!name) return false;
    size_t folder = strlen(name);
    int fd = open_beside(name, folder + NAME);
    bool made = fd >= 0, ok = made;
    if (ok && old) ok = fchmod(fd, old->st_mode & 0777) == 0;
    if (made) ok = close_after(fd, ok && write_pieces(fd, pieces, count) && (!sync || sync_fd(fd)));
    ok = ok && rename(name, path) == 0;
    if (!ok) {
        heed__os_refuse(c, HEED_FAILED, "write", path);
        if (made) unlink(name);
    }
    name[folder] = 0;
    ok = ok && (!sync || heed__os_sync_dir(c, name));
    heed__free(name);
    return ok;
}

/* A device or a pipe cannot be replaced: it is written to. */
static bool write_through(heed_ctx *c, const char *path, const heed__piece *pieces, int count) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || !close_after(fd, write_pieces(fd, pieces, count) && sync_fd(fd)))
        return heed__os_refuse(c, HEED_FAILED, "write", path);
    return true;
}

static bool write_file(heed_ctx *c, const char *path, const heed__piece *pieces, int count,
                       bool sync) {
    if (heed__stopped(c)) return false;
    struct stat st;
    if (stat(path, &st) != 0) {
        if (errno != ENOENT) return heed__os_refuse(c, HEED_FAILED, "write", path);
        return replace(c, path, NULL, pieces, count, sync);
    }
    if (S_ISDIR(st.st_mode))
        return heed_fail(c, HEED_FAILED, "cannot write %s: expected a file, found a folder", path);
    if (!S_ISREG(st.st_mode)) return write_through(c, path, pieces, count);
    char *real = realpath(path, NULL); /* a link is kept and its target is replaced */
    if (!real) return heed__os_refuse(c, HEED_FAILED, "write", path);
    bool ok = replace(c, real, &st, pieces, count, sync);
    free(real);
    return ok;
}

bool heed__os_write(heed_ctx *c, const char *path, const heed__piece *pieces, int count) {
    return write_file(c, path, pieces, count, true);
}

bool heed__os_write_cache(heed_ctx *c, const char *path, const heed__piece *pieces, int count) {
    return write_file(c, path, pieces, count, false);
}

/* A partial append is undone, so that a file of lines contains only complete lines. */
bool heed__os_append(heed_ctx *c, const char *path, const char *text, size_t n) {
    if (heed__stopped(c)) return false;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return heed__os_refuse(c, HEED_FAILED, "write", path);
    struct stat st;
    bool ok = fstat(fd, &st) == 0;
    if (ok && !write_all(fd, text, n)) {
        int why = errno;
        if (S_ISREG(st.st_mode) && ftruncate(fd, st.st_size) != 0)
            why = why ? why : errno; /* report the first failure */
        errno = why;
        ok = false;
    }
    return close_after(fd, ok) || heed__os_refuse(c, HEED_FAILED, "write", path);
}

bool heed__os_truncate(heed_ctx *c, const char *path, size_t n) {
    if (heed__stopped(c)) return false;
    return truncate(path, (off_t)n) == 0 || heed__os_refuse(c, HEED_FAILED, "shorten", path);
}

/* ---- names ---- */

/* 0: there is none, or it cannot be looked at. */
static mode_t mode_of(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode : 0;
}

bool heed__os_exists(const char *path) { return mode_of(path) != 0; }
bool heed__os_is_missing(const char *path) { return !mode_of(path) && errno == ENOENT; }
bool heed__os_is_dir(const char *path) { return S_ISDIR(mode_of(path)); }
bool heed__os_is_file(const char *path) { return S_ISREG(mode_of(path)); }

/* Keeps the errno of mkdir. */
static bool make_one(const char *path) {
    if (mkdir(path, 0777) == 0) return true;
    int why = errno;
    bool there = heed__os_is_dir(path);
    errno = why;
    return there;
}

bool heed__os_make_dir(heed_ctx *c, const char *path) {
    if (heed__stopped(c)) return false;
    char *part = heed__copy_text(c, path);
    if (!part) return false;
    bool ok = true;
    for (char *at = part + 1; ok && *part && *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        ok = make_one(part);
        if (!ok && errno == EEXIST) errno = ENOTDIR; /* the file is not the folder to be made */
        *at = '/';
    }
    if (!ok || !make_one(path)) ok = heed__os_refuse(c, HEED_FAILED, "make the folder", path);
    heed__free(part);
    return ok;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *level) {
    (void)st, (void)kind, (void)level;
    return remove(path);
}

/* Also works when the context is in error, since cleaning up after a failure needs it. */
bool heed__os_remove(heed_ctx *c, const char *path) {
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT) return true;
    return heed__os_refuse(c, HEED_FAILED, "remove", path);
}

/* Also works when the context is in error, for the same reason. */
bool heed__os_rename(heed_ctx *c, const char *from, const char *to) {
    if (rename(from, to) == 0) return true;
    int why = errno;
    return heed_fail(c, HEED_FAILED, "cannot rename %s to %s: %s", from, to, strerror(why));
}

/* ---- temporary files and locks of processes ---- */

/* If another process has the same id by now, the file is only kept for longer. */
static bool left_behind(const char *name) {
    long process = 0;
    int number, end = 0;
    char name_again[64];
    if (sscanf(name, half_written, &process, &number) != 2 || process <= 0) return false;
    end = snprintf(name_again, sizeof name_again, half_written, process, number);
    return end > 0 && strcmp(name, name_again) == 0 && kill((pid_t)process, 0) != 0 &&
           errno == ESRCH;
}

void heed__os_sweep(const char *folder) {
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));)
        if (left_behind(e->d_name)) unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

/* True if the open file is still the one at path: it was not removed or replaced. */
static bool is_at(int fd, const char *path) {
    struct stat a, b;
    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static long read_holder(int fd) {
    char text[32] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    return n > 0 ? strtol(text, NULL, 10) : 0;
}

/* The process id is only informative: a full disk does not matter. */
static void write_holder(int fd) {
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n) return;
}

/* If the holder removed the file between open and lock, try again with a new file. */
bool heed__os_lock(heed__lock *k, const char *path, long *holder) {
    *holder = 0;
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return errno != ENOENT;
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            bool taken = errno == EWOULDBLOCK;
            if (taken) *holder = read_holder(fd);
            close(fd);
            return !taken;
        }
        if (is_at(fd, path)) {
            *k = (heed__lock){fd, true};
            write_holder(fd);
            return true;
        }
        close(fd);
    }
}

/* A shared lock is refused while another process has the exclusive one. */
bool heed__os_locked(const char *path, long *holder) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    *holder = locked ? read_holder(fd) : 0;
    if (fd >= 0) close(fd);
    return locked;
}

void heed__os_unlock(heed__lock *k, const char *path) {
    if (!k->held) return;
    if (is_at(k->fd, path)) unlink(path);
    close(k->fd);
    k->held = false;
}

void heed__os_unlock_folder(heed__lock *k, const char *folder, const char *path) {
    heed__os_unlock(k, path);
    rmdir(folder);
}

/* ---- machine ---- */

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
