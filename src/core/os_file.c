/* os_file.c -- files that are read in parts, straight to where the bytes belong. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "core/core.h"
#include "core/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool heed__file_open(heed_ctx *c, const char *path, heed__file *out) {
    struct stat st;
    *out = (heed__file){-1, 0};
    if (heed__stopped(c)) return false;
    do out->fd = open(path, O_RDONLY | O_CLOEXEC);
    while (out->fd < 0 && errno == EINTR);
    if (out->fd < 0 || fstat(out->fd, &st) != 0) {
        heed__os_refuse(c, HEED_DATA, "read", path);
        heed__file_close(out);
        return false;
    }
    if (S_ISREG(st.st_mode) && st.st_size > 0) out->size = (size_t)st.st_size;
    return true;
}

void heed__file_close(heed__file *f) {
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}

bool heed__file_read(heed_ctx *c, const heed__file *f, const char *path, size_t at, void *to,
                     size_t n) {
    unsigned char *next = to;
    if (heed__stopped(c)) return false;
    while (n > 0) {
        size_t part = n < (1u << 30) ? n : (1u << 30); /* some systems reject larger reads */
        ssize_t got = pread(f->fd, next, part, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return heed__os_refuse(c, HEED_DATA, "read", path);
        if (got == 0)
            return heed_fail(c, HEED_DATA,
                             "cannot read %s: it became shorter while it was read: expected %zu "
                             "bytes more",
                             path, n);
        next += got;
        at += (size_t)got;
        n -= (size_t)got;
    }
    return true;
}
