/* os.h -- the operating system. os.c, os_folder.c and os_thread.c alone know POSIX. */
#ifndef HEED_OS_H
#define HEED_OS_H

#include <heed/ctx.h>

HEED_EXPORT_BEGIN

/* An error that says what the last call of the system failed for: "cannot VERB PATH". Always false.
 * status: HEED_DATA where an input is at fault, HEED_FAILED where the system is. */
bool heed__os_refuse(heed_ctx *c, heed_status status, const char *verb, const char *path);

/* Whole file into memory (heed__free), one zero byte after the end. More than limit bytes, a
 * folder, or a file that cannot be read is an error with the path; limit 0: none
 * (1 GB for pipes and devices). */
unsigned char *heed__os_read(heed_ctx *c, const char *path, size_t limit, size_t *n);

typedef struct {
    const void *data;
    size_t n;
} heed__piece;
/* Writes the pieces beside path, fsyncs, renames over path, fsyncs the folder. On failure path is
 * untouched and no file is left. */
bool heed__os_write(heed_ctx *c, const char *path, const heed__piece *pieces, int count);
bool heed__os_append(heed_ctx *c, const char *path, const char *text, size_t n);
bool heed__os_truncate(heed_ctx *c, const char *path, size_t n);

bool heed__os_exists(const char *path);
bool heed__os_is_dir(const char *path);
bool heed__os_is_file(const char *path); /* no folder, pipe or device */
bool heed__os_make_dir(heed_ctx *c,
                       const char *path); /* an existing folder is fine; parents are made */
bool heed__os_remove(heed_ctx *c, const char *path); /* file or whole folder; absent is fine */
bool heed__os_rename(heed_ctx *c, const char *from, const char *to);
bool heed__os_sync_dir(heed_ctx *c, const char *path);
/* Removes from a folder what heed__os_write of processes that are gone left there half written. */
void heed__os_sweep(const char *folder);

typedef struct {
    char *name;
    bool folder;
} heed__entry;
typedef struct {
    heed__entry *entries;
    size_t count, capacity;
} heed__listing;
/* What a folder holds, in bytewise order. Links are followed; hidden names, pipes, sockets and
 * devices are left out. Free with heed__os_list_free, also after a failure. */
bool heed__os_list(heed_ctx *c, const char *path, heed__listing *out);
void heed__os_list_free(heed__listing *l);
/* The same for every path to one file or folder; false if there is none. */
bool heed__os_identity(const char *path, uint64_t id[2]);

/* A lock with one condition. wait leaves, sleeps until told, and enters again; tell wakes all that
 * sleep. Hoare 1974. */
typedef struct heed__monitor heed__monitor;
heed__monitor *heed__monitor_new(heed_ctx *c);
void heed__monitor_free(heed__monitor *l);
void heed__monitor_enter(heed__monitor *l);
void heed__monitor_leave(heed__monitor *l);
void heed__monitor_wait(heed__monitor *l);
void heed__monitor_broadcast(heed__monitor *l);
typedef struct heed__thread heed__thread;
heed__thread *heed__thread_start(heed_ctx *c, void (*run)(void *data), void *data);
void heed__thread_join(heed__thread *t);

/* An advisory lock on a file, made if absent: held until it is let go or the process ends, in
 * whatever way. */
typedef struct {
    int fd;
    bool held;
} heed__lock;
/* False: another one holds it, the process *holder (0: unknown). Where the file cannot be made or
 * locked (a folder that may only be read, a file system without locks) there is nothing to hold:
 * true. */
bool heed__os_lock(heed__lock *k, const char *path, long *holder);
/* Removes the file, too. */
void heed__os_unlock(heed__lock *k, const char *path);

int heed__os_cpus(void); /* that affinity and cgroup quota allow, at least 1 */
/* Processes that run or wait to, a mean of the last minute, over the machine's *cpus CPUs;
 * negative: unknown. */
double heed__os_load(int *cpus);
double heed__os_seconds(void);     /* monotonic */
size_t heed__os_peak_memory(void); /* bytes of resident memory at its peak, 0 if unknown */

HEED_EXPORT_END

#endif
