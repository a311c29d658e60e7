/* The operating system. os.c is the only file of the library that knows POSIX. */
#ifndef HEED_OS_H
#define HEED_OS_H

#include <heed/ctx.h>

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

typedef struct {
    char *name;
    bool folder;
} heed__entry;
typedef struct {
    heed__entry *entries;
    size_t count, room;
} heed__listing;
/* What a folder holds, in bytewise order. Links are followed; hidden names, pipes, sockets and
 * devices are left out. Free with heed__os_list_free, also after a failure. */
bool heed__os_list(heed_ctx *c, const char *path, heed__listing *out);
void heed__os_list_free(heed__listing *l);
/* The same for every path to one file or folder; false if there is none. */
bool heed__os_identity(const char *path, uint64_t id[2]);

/* A lock with one condition. wait gives the lock, sleeps until told, and takes it again; tell wakes
 * all that sleep. */
typedef struct heed__lock heed__lock;
heed__lock *heed__lock_new(heed_ctx *c);
void heed__lock_free(heed__lock *l);
void heed__lock_take(heed__lock *l);
void heed__lock_give(heed__lock *l);
void heed__lock_wait(heed__lock *l);
void heed__lock_tell(heed__lock *l);
/* A thread must not touch the context: its first error is nobody's to guard. */
typedef struct heed__thread heed__thread;
heed__thread *heed__thread_start(heed_ctx *c, void (*run)(void *data), void *data);
void heed__thread_join(heed__thread *t);

int heed__os_cpus(void);           /* that affinity and cgroup quota allow, at least 1 */
double heed__os_seconds(void);     /* monotonic */
size_t heed__os_peak_memory(void); /* bytes of resident memory at its peak, 0 if unknown */

#endif
