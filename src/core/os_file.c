/* os_file.c -- files, folders and locks, through POSIX.
 *
 * What is in a folder that is not trusted, such as a run, has a path with HEED_INSIDE: what stands
 * behind it is opened part by part, relative to the folder, and no link is followed. Of such files
 * only plain ones are read. A file is written by replacing its name, which may be a link, except a
 * log, which must be a plain file with one name. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_PATH, O_CLOEXEC, d_type, realpath, posix_fadvise */
#endif
#include "core/core.h"
#include "core/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* ---- errors ---- */

/* What a path that is not to be followed may lead to instead of a plain file. */
static const char not_plain[] = "expected a plain file, found a link, a pipe or a device; "
                                "hint: put a copy of the file in its place";

bool heed__os_refuse(heed_ctx *c, heed_status status, const char *verb, const char *path) {
    int why = errno;
    const char *hint = "";
    if (why == ENOSPC || why == EDQUOT) hint = "; hint: free some space (df -h shows it)";
    if (why == EFBIG) hint = "; hint: raise the file size limit (ulimit -f)";
    if (why == EMFILE) hint = "; hint: raise the limit of open files (ulimit -n)";
    const char *text = why == ELOOP && strstr(path, HEED_INSIDE) ? not_plain
                       : why == ENXIO ? "it is a socket, or a pipe that no process reads"
                                      : strerror(why);
    if (status == HEED_DATA && why == ENOENT)
        return heed__fail_missing(c, path, "cannot %s %s: %s", verb, path, text);
    return heed_fail(c, status, "cannot %s %s: %s%s", verb, path, text, hint);
}

/* ---- names ---- */

/* A name in an open folder; for a path that is trusted, the path itself in the working folder. */
typedef struct {
    int folder;
    const char *name;
    int link; /* O_NOFOLLOW, or 0: links are followed */
} place;

#ifdef O_PATH
enum { FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC };
#else
enum { FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
#endif

/* Closes fd and keeps errno. */
static void close_quietly(int fd) {
    int why = errno;
    if (fd >= 0) close(fd);
    errno = why;
}

/* Opens the folder `part` of n bytes in the folder of p, which it replaces. */
static bool enter(place *p, const char *part, size_t n) {
    char name[NAME_MAX + 1];
    if (n >= sizeof name || (n == 2 && memcmp(part, "..", 2) == 0)) {
        errno = ELOOP;
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)n, part);
    int folder = openat(p->folder, name, FOLDER | O_NOFOLLOW);
    close_quietly(p->folder);
    p->folder = folder;
    if (folder < 0 && errno == ENOTDIR) errno = ELOOP;
    return folder >= 0;
}

/* The place of a path, to be left after use. False: see errno. */
static bool find(const char *path, place *p) {
    const char *mark = strstr(path, HEED_INSIDE);
    char root[PATH_MAX];
    *p = (place){AT_FDCWD, path, 0};
    if (!mark) return true;
    if ((size_t)(mark - path) + 1 >= sizeof root) {
        errno = ENAMETOOLONG;
        p->folder = -1;
        return false;
    }
    snprintf(root, sizeof root, "%.*s", mark > path ? (int)(mark - path) : 1, path);
    *p = (place){open(root, FOLDER), mark + strlen(HEED_INSIDE), O_NOFOLLOW};
    for (const char *slash; p->folder >= 0 && (slash = strchr(p->name, '/')); p->name = slash + 1)
        if (slash > p->name && !enter(p, p->name, (size_t)(slash - p->name))) return false;
    if (!*p->name) p->name = ".";
    return p->folder >= 0;
}

static void leave(const place *p) {
    if (p->folder != AT_FDCWD) close_quietly(p->folder);
}

static int open_at(const place *p, int flags) {
    int fd;
    do fd = openat(p->folder, p->name, flags | p->link | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int open_path(const char *path, int flags) {
    place p;
    int fd = find(path, &p) ? open_at(&p, flags) : -1;
    leave(&p);
    return fd;
}

static bool look_at(const place *p, struct stat *st) {
    return fstatat(p->folder, p->name, st, p->link ? AT_SYMLINK_NOFOLLOW : 0) == 0;
}

static bool look(const char *path, struct stat *st) {
    place p;
    bool ok = find(path, &p) && look_at(&p, st);
    leave(&p);
    return ok;
}

/* 0: there is none, or it cannot be looked at. */
static mode_t mode_of(const char *path) {
    struct stat st;
    return look(path, &st) ? st.st_mode : 0;
}

bool heed__os_exists(const char *path) { return mode_of(path) != 0; }
bool heed__os_is_missing(const char *path) { return !mode_of(path) && errno == ENOENT; }
bool heed__os_is_dir(const char *path) { return S_ISDIR(mode_of(path)); }
bool heed__os_is_file(const char *path) { return S_ISREG(mode_of(path)); }

uint64_t heed__file_size(const char *path) {
    struct stat st;
    return look(path, &st) && S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

uint64_t heed__os_free(const char *path) {
    struct statvfs v;
    return statvfs(path, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : 0;
}

bool heed__os_identity(const char *path, uint64_t id[2]) {
    struct stat st;
    if (!look(path, &st)) return false;
    id[0] = (uint64_t)st.st_dev;
    id[1] = (uint64_t)st.st_ino;
    return true;
}

bool heed__os_same(const char *a, const char *b) {
    uint64_t x[2], y[2];
    return heed__os_identity(a, x) && heed__os_identity(b, y) && x[0] == y[0] && x[1] == y[1];
}

/* ---- reading ---- */

/* A pipe that nobody writes into must not block here, so that it is opened without waiting. */
bool heed__file_open(heed_ctx *c, const char *path, heed__file *s) {
    *s = (heed__file){.fd = -1, .path = path};
    if (c && heed__stopped(c)) return false;
    struct stat st;
    s->fd = open_path(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &st) != 0) return heed__os_refuse(c, HEED_DATA, "read", path);
    s->regular = S_ISREG(st.st_mode);
    s->size = s->regular && st.st_size > 0 ? (size_t)st.st_size : 0;
    if (S_ISDIR(st.st_mode)) {
        heed_fail(c, HEED_DATA, "cannot read %s: expected a file, found a folder", path);
        errno = EISDIR;
        return false;
    }
    if (!s->regular && strstr(path, HEED_INSIDE)) {
        errno = ELOOP;
        return heed__os_refuse(c, HEED_DATA, "read", path);
    }
#ifdef POSIX_FADV_SEQUENTIAL
    posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* advice: it may fail */
#endif
    return true;
}

void heed__file_close(heed__file *s) {
    close_quietly(s->fd);
    s->fd = -1;
}

/* Waits until a pipe or a device can be read. A pipe that no process has opened for writing, so
 * that it seems to be at its end, is given some time, once. A signal ends the waiting. */
static bool wait_for_input(heed_ctx *c, heed__file *s, bool at_end) {
    enum { WAIT = 2000 }; /* milliseconds */
    struct pollfd input = {.fd = s->fd, .events = POLLIN};
    if (at_end && s->waited) {
        heed_fail(c, HEED_DATA,
                  "cannot read %s: it is a pipe, and no process writes into it; hint: start the "
                  "process that writes first",
                  s->path);
        errno = EPIPE;
        return false;
    }
    s->waited = at_end;
    int ready = poll(&input, 1, at_end ? WAIT : -1);
    if (ready < 0 && errno == EINTR)
        return heed_fail(c, HEED_INTERRUPTED, "interrupted while %s was read", s->path);
    s->begun = s->begun || ready > 0;
    return true;
}

/* Reads at most n bytes, n > 0; *got 0: it has ended. */
static bool read_some(heed_ctx *c, heed__file *s, void *out, size_t n, size_t *got) {
    size_t part = n < (1u << 30) ? n : (1u << 30); /* some systems reject larger reads */
    *got = 0;
    for (;;) {
        ssize_t more = read(s->fd, out, part);
        if (more > 0) s->at += *got = (size_t)more;
        if (more > 0 || (more == 0 && (s->regular || s->begun || s->at))) return true;
        if (more < 0 && errno == EINTR) continue;
        if (more < 0 && errno != EAGAIN) return heed__os_refuse(c, HEED_DATA, "read", s->path);
        if (!wait_for_input(c, s, more == 0)) return false;
    }
}

bool heed__file_read(heed_ctx *c, heed__file *s, void *out, size_t n, size_t *got) {
    size_t more = 1;
    for (*got = 0; *got < n && more > 0; *got += more) {
        if (!read_some(c, s, (char *)out + *got, n - *got, &more)) return false;
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
        size_t part = n < (1u << 30) ? n : (1u << 30);
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

/* Reads all of s into one buffer, which has space for a final zero byte. */
static unsigned char *read_all(heed_ctx *c, heed__file *s, size_t limit, size_t *n) {
    unsigned char *data = NULL;
    size_t capacity = 0, have = 0, got;
    size_t first = s->size > 0 ? s->size + 2 : 4096; /* one more byte, to detect the end */
    if (!heed__grow(c, &data, &capacity, first, 1)) return NULL;
    for (;;) {
        if (have + 1 >= capacity && !heed__grow(c, &data, &capacity, have + 65536, 1)) break;
        if (!read_some(c, s, data + have, capacity - have - 1, &got)) break;
        if (got == 0) {
            data[have] = 0;
            *n = have;
            return data;
        }
        have += got;
        if (limit && have > limit) {
            heed_fail(c, HEED_DATA, "%s is too large: expected at most %zu bytes", s->path, limit);
            break;
        }
    }
    heed__free(data);
    return NULL;
}

unsigned char *heed__os_read(heed_ctx *c, const char *path, size_t limit, size_t *n) {
    heed__file s;
    unsigned char *data = NULL;
    *n = 0;
    if (heed__file_open(c, path, &s)) {
        if (!limit && !s.regular) limit = HEED__ENDLESS;
        if (limit && s.size > limit)
            heed_fail(c, HEED_DATA, "%s is too large: expected at most %zu bytes, found %zu", path,
                      limit, s.size);
        else
            data = read_all(c, &s, limit, n);
    }
    heed__file_close(&s);
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

/* The part of a name up to its last slash. */
static int folder_length(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? (int)(slash - name) + 1 : 0;
}

static const char half_written[] = ".heed-%ld-%d.tmp"; /* process id, serial number */

/* Creates a new file beside `name`, and writes its name to `made`. */
static int open_beside(const place *p, char made[PATH_MAX]) {
    int n = folder_length(p->name), fd = -1;
    errno = ENAMETOOLONG;
    for (int i = 0; i < 1000 && n + 64 < PATH_MAX; i++) {
        snprintf(made, PATH_MAX, "%.*s", n, p->name);
        snprintf(made + n, (size_t)(PATH_MAX - n), half_written, (long)getpid(), i);
        fd = openat(p->folder, made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || (errno != EEXIST && errno != EINTR)) break;
    }
    return fd;
}

/* Calls fsync on the folder that holds p. */
static bool sync_folder(const place *p) {
    char folder[PATH_MAX] = ".";
    int n = folder_length(p->name);
    if (n) snprintf(folder, sizeof folder, "%.*s", n, p->name);
    int fd = openat(p->folder, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && close_after(fd, sync_fd(fd));
}

bool heed__os_sync_dir(heed_ctx *c, const char *path) {
    if (heed__stopped(c)) return false;
    int fd = open(*path ? path : ".", O_RDONLY | O_CLOEXEC);
    return (fd >= 0 && close_after(fd, sync_fd(fd))) ||
           heed__os_refuse(c, HEED_FAILED, "sync", path);
}

/* Writes a new file and gives it the name of p. mode: of the file that it replaces, or 0. */
static bool replace(const place *p, mode_t mode, const heed__piece *pieces, int count, bool sync) {
    char made[PATH_MAX];
    int fd = open_beside(p, made);
    if (fd < 0) return false;
    bool ok = !mode || fchmod(fd, mode & 0777) == 0;
    ok = close_after(fd, ok && write_pieces(fd, pieces, count) && (!sync || sync_fd(fd))) &&
         renameat(p->folder, made, p->folder, p->name) == 0;
    int why = errno;
    if (!ok) unlinkat(p->folder, made, 0);
    errno = why;
    return ok && (!sync || sync_folder(p));
}

/* Opens a pipe or a device. A pipe that no process reads is given some time, as in reading. */
static int open_stream(const place *p) {
    enum { TRIES = 200, PAUSE = 10 }; /* milliseconds */
    int fd = open_at(p, O_WRONLY | O_NONBLOCK | O_NOCTTY);
    for (int i = 0; fd < 0 && errno == ENXIO && i < TRIES; i++) {
        poll(NULL, 0, PAUSE);
        fd = open_at(p, O_WRONLY | O_NONBLOCK | O_NOCTTY);
    }
    if (fd >= 0) fcntl(fd, F_SETFL, 0); /* from now on it waits */
    return fd;
}

/* A link that is trusted is kept, and what it leads to replaced; a device or a pipe cannot be
 * replaced, and is written to. */
static bool write_trusted(place *p, const struct stat *old, const heed__piece *pieces, int count,
                          bool sync) {
    if (!S_ISREG(old->st_mode)) {
        int fd = open_stream(p);
        return fd >= 0 && close_after(fd, write_pieces(fd, pieces, count) && sync_fd(fd));
    }
    char *real = realpath(p->name, NULL);
    p->name = real;
    bool ok = real && replace(p, old->st_mode, pieces, count, sync);
    int why = errno;
    free(real);
    errno = why;
    return ok;
}

static bool write_file(heed_ctx *c, const char *path, const heed__piece *pieces, int count,
                       bool sync) {
    if (heed__stopped(c)) return false;
    struct stat st = {0};
    place p;
    bool ok = find(path, &p), there = ok && look_at(&p, &st);
    if (ok && there && S_ISDIR(st.st_mode)) {
        leave(&p);
        return heed_fail(c, HEED_FAILED, "cannot write %s: expected a file, found a folder", path);
    }
    if (ok && there && !p.link)
        ok = write_trusted(&p, &st, pieces, count, sync);
    else if (ok && (there || errno == ENOENT))
        ok = replace(&p, S_ISREG(st.st_mode) ? st.st_mode : 0, pieces, count, sync);
    else
        ok = false;
    leave(&p);
    return ok || heed__os_refuse(c, HEED_FAILED, "write", path);
}

bool heed__os_write(heed_ctx *c, const char *path, const heed__piece *pieces, int count) {
    return write_file(c, path, pieces, count, true);
}

bool heed__os_write_cache(heed_ctx *c, const char *path, const heed__piece *pieces, int count) {
    return write_file(c, path, pieces, count, false);
}

/* Gives a file its own copy of what it shares with another name, to which nothing may be added. */
static bool part_from_others(heed_ctx *c, const char *path) {
    size_t n;
    unsigned char *bytes = heed__os_read(c, path, 0, &n);
    bool ok = bytes && heed__os_write(c, path, &(heed__piece){bytes, n}, 1);
    heed__free(bytes);
    return ok;
}

/* A partial append is undone, so that a file of lines contains only complete lines. */
bool heed__os_append(heed_ctx *c, const char *path, const char *text, size_t n) {
    struct stat st;
    if (heed__stopped(c)) return false;
    if (look(path, &st) && S_ISREG(st.st_mode) && st.st_nlink > 1 && !part_from_others(c, path))
        return false;
    int fd = open_path(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
    bool ok = fd >= 0 && fstat(fd, &st) == 0;
    if (ok && (!S_ISREG(st.st_mode) || st.st_nlink != 1)) {
        errno = ELOOP;
        ok = false;
    } else if (ok && !write_all(fd, text, n)) {
        int why = errno;
        if (ftruncate(fd, st.st_size) != 0) why = why ? why : errno; /* report the first failure */
        errno = why;
        ok = false;
    }
    if (fd >= 0) ok = close_after(fd, ok);
    return ok || heed__os_refuse(c, HEED_FAILED, "write", path);
}

/* ---- folders ---- */

/* Keeps the errno of mkdir. A folder that is not trusted must be one itself, not a link to one. */
static bool make_one(const char *path) {
    place p;
    struct stat st;
    bool ok = find(path, &p);
    if (ok && mkdirat(p.folder, p.name, 0777) != 0) {
        int why = errno;
        ok = look_at(&p, &st) && S_ISDIR(st.st_mode);
        errno = why;
    }
    leave(&p);
    return ok;
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

/* Removes a file, a link or a folder with all that it holds, following no link. */
static bool remove_at(int folder, const char *name) {
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) return true;
    if (errno != EISDIR && errno != EPERM) return false;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    bool ok = d != NULL;
    if (!d) close_quietly(fd);
    for (struct dirent *e; ok && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            ok = remove_at(fd, e->d_name);
    int why = errno;
    if (d) closedir(d);
    errno = why;
    return ok && unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* Also works when the context is in error, since cleaning up after a failure needs it. */
bool heed__os_remove(heed_ctx *c, const char *path) {
    place p;
    bool ok = find(path, &p) ? remove_at(p.folder, p.name) : errno == ENOENT;
    leave(&p);
    return ok || heed__os_refuse(c, HEED_FAILED, "remove", path);
}

/* Also works when the context is in error, for the same reason. */
bool heed__os_rename(heed_ctx *c, const char *from, const char *to) {
    place a, b;
    bool ok = find(from, &a);
    ok = find(to, &b) && ok && renameat(a.folder, a.name, b.folder, b.name) == 0;
    leave(&a);
    leave(&b);
    return ok || heed_fail(c, HEED_FAILED, "cannot rename %s to %s: %s", from, to, strerror(errno));
}

static int by_name(const void *a, const void *b) {
    const heed__entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* 'd' for a folder, 'f' for a file (or a dangling link, which fails when opened), 0 for others.
 * link: links are not followed. */
static int kind_of(int folder, const struct dirent *e, bool link) {
    struct stat st;
#ifdef DT_REG
    if (e->d_type == DT_REG) return 'f';
    if (e->d_type == DT_DIR) return 'd';
#endif
    if (fstatat(folder, e->d_name, &st, link ? AT_SYMLINK_NOFOLLOW : 0) != 0) return 'f';
    return S_ISDIR(st.st_mode) ? 'd' : S_ISREG(st.st_mode) ? 'f' : 0;
}

static bool list_all(heed_ctx *c, DIR *d, const char *path, heed__listing *out) {
    bool link = strstr(path, HEED_INSIDE) != NULL;
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(d);
        if (!e) return errno == 0 || heed__os_refuse(c, HEED_DATA, "read", path);
        int kind = e->d_name[0] == '.' ? 0 : kind_of(dirfd(d), e, link);
        if (!kind) continue;
        if (!heed__grow(c, &out->entries, &out->capacity, out->count + 1, sizeof *out->entries))
            return false;
        char *name = heed__copy_text(c, e->d_name);
        if (!name) return false;
        out->entries[out->count++] = (heed__entry){name, kind == 'd'};
    }
}

bool heed__os_list(heed_ctx *c, const char *path, heed__listing *out) {
    *out = (heed__listing){0};
    if (heed__stopped(c)) return false;
    int fd = open_path(path, O_RDONLY | O_DIRECTORY);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        close_quietly(fd);
        return heed__os_refuse(c, HEED_DATA, "read", path);
    }
    bool ok = list_all(c, d, path, out);
    closedir(d);
    if (!ok) heed__os_list_free(out);
    if (ok && out->count) qsort(out->entries, out->count, sizeof *out->entries, by_name);
    return ok;
}

void heed__os_list_free(heed__listing *l) {
    for (size_t i = 0; i < l->count; i++) heed__free(l->entries[i].name);
    heed__free(l->entries);
    *l = (heed__listing){0};
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

/* Whether the open file is the one named by p, and has no other name. */
static bool is_at(int fd, const place *p) {
    struct stat a, b;
    return fstat(fd, &a) == 0 && S_ISREG(a.st_mode) && a.st_nlink == 1 &&
           fstatat(p->folder, p->name, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Locks the file, which is created. 1: done; 0: try again; -1: it cannot be locked; -2: another
 * process, *holder, holds it. What is no plain file of its own is none of ours, and is removed. */
static int lock_at(heed__lock *k, const place *p, long *holder) {
    int fd = open_at(p, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    bool plain = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink <= 1;
    if (!plain) {
        if (fd < 0 && errno != ELOOP && errno != ENXIO) return errno == ENOENT ? -2 : -1;
        close_quietly(fd);
        return unlinkat(p->folder, p->name, 0) == 0 ? 0 : -1;
    }
    int result = 0; /* its holder may remove the file between open and flock */
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        result = errno == EWOULDBLOCK ? -2 : -1;
        if (result == -2) *holder = read_holder(fd);
    } else if (is_at(fd, p)) {
        *k = (heed__lock){fd, true};
        write_holder(fd);
        return 1;
    }
    close(fd);
    return result;
}

bool heed__os_lock(heed__lock *k, const char *path, long *holder) {
    place p;
    int result = 0, tries = 3; /* heed__os_locked of another process holds it for a moment */
    *holder = 0;
    if (!find(path, &p)) result = errno == ENOENT ? -2 : -1;
    while (result == 0) {
        result = lock_at(k, &p, holder);
        if (result != -2 || --tries == 0) continue;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        result = 0;
    }
    leave(&p);
    return result != -2;
}

/* A shared lock is refused while another process has the exclusive one. */
bool heed__os_locked(const char *path, long *holder) {
    int fd = open_path(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    *holder = locked ? read_holder(fd) : 0;
    close_quietly(fd);
    return locked;
}

void heed__os_unlock(heed__lock *k, const char *path) {
    place p;
    if (!k->held) return;
    if (find(path, &p) && is_at(k->fd, &p)) unlinkat(p.folder, p.name, 0);
    leave(&p);
    close(k->fd);
    k->held = false;
}

void heed__os_unlock_folder(heed__lock *k, const char *folder, const char *path) {
    heed__os_unlock(k, path);
    rmdir(folder);
}
