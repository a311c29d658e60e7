/* os_file.c -- files that are read in parts, through POSIX. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_CLOEXEC, posix_fadvise */
#endif
#include "core/core.h"
#include "core/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

bool heed__file_open(heed_ctx *c, const char *path, heed__file *s) {
    *s = (heed__file){.fd = -1, .path = path};
    if (heed__stopped(c)) return false;
    do s->fd = open(path, O_RDONLY | O_CLOEXEC);
    while (s->fd < 0 && errno == EINTR);
    struct stat st;
    if (s->fd < 0 || fstat(s->fd, &st) != 0) return heed__os_refuse(c, HEED_DATA, "read", path);
    if (S_ISDIR(st.st_mode))
        return heed_fail(c, HEED_DATA, "cannot read %s: expected a file, found a folder", path);
    s->regular = S_ISREG(st.st_mode);
    s->size = s->regular && st.st_size > 0 ? (size_t)st.st_size : 0;
#ifdef POSIX_FADV_SEQUENTIAL
    posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* advice: it may fail */
#endif
    return true;
}

bool heed__file_read(heed_ctx *c, heed__file *s, void *out, size_t n, size_t *got) {
    *got = 0;
    while (*got < n) {
        ssize_t more = read(s->fd, (char *)out + *got, n - *got);
        if (more < 0 && errno == EINTR) continue;
        if (more < 0) return heed__os_refuse(c, HEED_DATA, "read", s->path);
        if (more == 0) break;
        *got += (size_t)more;
        s->at += (size_t)more;
        if (!s->regular && s->at > HEED__ENDLESS)
            return heed_fail(c, HEED_DATA, "%s is too large: expected at most %d bytes", s->path,
                             HEED__ENDLESS);
    }
    return true;
}

bool heed__file_read_at(heed_ctx *c, const heed__file *s, size_t at, void *out, size_t n) {
    unsigned char *next = out;
    if (heed__stopped(c)) return false;
    while (n > 0) {
        size_t part = n < (1u << 30) ? n : (1u << 30); /* some systems reject larger reads */
        ssize_t got = pread(s->fd, next, part, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return heed__os_refuse(c, HEED_DATA, "read", s->path);
        if (got == 0)
            return heed_fail(c, HEED_DATA,
                             "cannot read %s: it became shorter while it was read: expected %zu "
                             "bytes more",
                             s->path, n);
        next += got;
        at += (size_t)got;
        n -= (size_t)got;
    }
    return true;
}

void heed__file_close(heed__file *s) {
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
}

uint64_t heed__file_size(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

uint64_t heed__os_free(const char *path) {
    struct statvfs v;
    return statvfs(path, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : 0;
}
