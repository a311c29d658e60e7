/* os.h -- the operating system. Only os.c, os_file.c and os_thread.c use POSIX. */
#ifndef HEED_OS_H
#define HEED_OS_H

#include <heed/ctx.h>

HEED_EXPORT_BEGIN

/* Paths may have HEED_INSIDE (heed/ctx.h). */

/* Records the error of the last system call: "cannot VERB PATH". Always returns false. status:
 * HEED_DATA if an input is at fault, HEED_FAILED if the system is. */
bool heed__os_refuse(heed_ctx *c, heed_status status, const char *verb, const char *path);

/* Reads a complete file into memory, which is freed with heed__free, and adds a zero byte. It is an
 * error, which names the path, if it has more than limit bytes, is a folder or cannot be read.
 * limit 0: no limit (1 GB for pipes and devices). */
unsigned char *heed__os_read(heed_ctx *c, const char *path, size_t limit, size_t *n);

enum { HEED__ENDLESS = 1 << 30 }; /* a limit, because pipes and devices may never end */

/* A file that is read in parts. It may change meanwhile: what is read is what counts. */
typedef struct {
    int fd;
    bool regular;       /* not a pipe or a device */
    bool begun, waited; /* of a pipe: something came, or it had its time to get a writer */
    size_t size;        /* of a regular file when it was opened; else 0 */
    size_t at;          /* bytes read so far */
    const char *path;   /* belongs to the caller */
} heed__file;
/* Without waiting. c NULL: errno says why it failed, here and in heed__file_read. */
bool heed__file_open(heed_ctx *c, const char *path, heed__file *s);
/* Reads n bytes; *got is less only at the end. A pipe may have HEED__ENDLESS bytes. Waiting for it
 * ends with HEED_INTERRUPTED if a signal is caught. */
bool heed__file_read(heed_ctx *c, heed__file *s, void *out, size_t n, size_t *got);
/* Reads n bytes from offset `at` on; fewer are an error. */
bool heed__file_read_at(heed_ctx *c, const heed__file *s, size_t at, void *out, size_t n);
void heed__file_close(heed__file *s);       /* also after a failure */
uint64_t heed__file_size(const char *path); /* of a regular file; else 0 */

typedef struct {
    const void *data;
    size_t n;
} heed__piece;
/* Writes the pieces to a temporary file beside path, calls fsync, renames it to path and calls
 * fsync on the folder. On failure path is unchanged and no temporary file is left. A link in a
 * folder that is not trusted is replaced; else what it leads to is, if it leads to something. */
bool heed__os_write(heed_ctx *c, const char *path, const heed__piece *pieces, int count);
/* The same without fsync, for what can be made again. */
bool heed__os_write_cache(heed_ctx *c, const char *path, const heed__piece *pieces, int count);
/* The bytes that are free where path is; 0: unknown. */
uint64_t heed__os_free(const char *path);
/* Adds to the end of a plain file with one name: other names get no part of it. */
bool heed__os_append(heed_ctx *c, const char *path, const char *text, size_t n);

bool heed__os_exists(const char *path);
/* Nothing exists there. False, too, where that cannot be found out. */
bool heed__os_is_missing(const char *path);
bool heed__os_is_dir(const char *path);
bool heed__os_is_file(const char *path);               /* not a folder, pipe or device */
bool heed__os_make_dir(heed_ctx *c, const char *path); /* with its parents; may exist */
bool heed__os_remove(heed_ctx *c, const char *path);   /* a file or a folder tree; may be absent */
bool heed__os_rename(heed_ctx *c, const char *from, const char *to);
bool heed__os_sync_dir(heed_ctx *c, const char *path);
/* Removes from a folder the temporary files of heed__os_write in processes that no longer exist. */
void heed__os_sweep(const char *folder);

typedef struct {
    char *name;
    bool folder;
} heed__entry;
typedef struct {
    heed__entry *entries;
    size_t count, capacity;
} heed__listing;
/* The entries of a folder, in bytewise order. Links are followed if it is trusted; hidden names,
 * pipes, sockets and devices are omitted. Free with heed__os_list_free, also after a failure. */
bool heed__os_list(heed_ctx *c, const char *path, heed__listing *out);
void heed__os_list_free(heed__listing *l);
/* An identifier that is the same for every path to one file or folder; false if there is none. */
bool heed__os_identity(const char *path, uint64_t id[2]);
bool heed__os_same(const char *a, const char *b); /* whether both lead to one */

/* A monitor: a lock with one condition. wait releases the lock, sleeps until broadcast is called,
 * and acquires the lock again; broadcast wakes all sleeping threads. Hoare 1974. */
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

/* An advisory lock on a file, which is created if absent. It is held until it is released or the
 * process ends, for whatever reason. */
typedef struct {
    int fd;
    bool held;
} heed__lock;
/* False if another process, *holder (0: unknown), holds it or has removed the folder. True without
 * a lock if the file cannot be created or locked (a read-only folder, a file system without locks).
 * Processes that write to a run's folder hold the lock of its file .lock while they do; those that
 * only read ask heed__os_locked. */
bool heed__os_lock(heed__lock *k, const char *path, long *holder);
/* Also removes the file. */
void heed__os_unlock(heed__lock *k, const char *path);
/* The same, and removes its folder if that is empty: in this order, so that no process removes the
 * lock of another one that uses the folder by now. */
void heed__os_unlock_folder(heed__lock *k, const char *folder, const char *path);
/* Whether a process, *holder (0: unknown), holds the lock. The file remains as it is. */
bool heed__os_locked(const char *path, long *holder);

int heed__os_cpus(void); /* CPUs that affinity and cgroup quota allow, at least 1 */
/* The CPUs that the control groups of a table like /proc/self/cgroup allow, by their folders below
 * root, /sys/fs/cgroup; 1e9: no limit is set. Linux only. */
double heed__os_quota(const char *table, const char *root);
/* The mean number of processes that ran or waited for a CPU during the last minute, negative if
 * unknown; *cpus is the machine's number of CPUs. */
double heed__os_load(int *cpus);
double heed__os_seconds(void);        /* monotonic */
double heed__os_thread_seconds(void); /* CPU time of the calling thread */
size_t heed__os_peak_memory(void);    /* peak resident memory in bytes, 0 if unknown */
size_t heed__os_memory(void);       /* resident memory in bytes now; the peak if that is unknown */
size_t heed__os_memory_limit(void); /* what a process may use: the machine's or the container's */
/* Memory for large arrays, a multiple of HEED__LARGE_PAGE in bytes, and aligned to it. It asks for
 * large pages, so that a pass over it needs fewer entries of the address translation cache; the
 * system may ignore it. Unlike free, unmap returns it to the system at once. NULL: out of memory.
 */
#define HEED__LARGE_PAGE ((size_t)2 << 20)
void *heed__os_map(size_t bytes);
void heed__os_unmap(void *p, size_t bytes);

HEED_EXPORT_END

#endif
