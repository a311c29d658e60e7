/* os_folder.c -- listing folders, through POSIX. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fstatat, d_type */
#endif

#include "core/core.h"
#include "core/os.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int by_name(const void *a, const void *b) {
    const heed__entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* 'd' for a folder, 'f' for a file (or a dangling link, which fails when opened), 0 for others. */
static int kind_of(int folder, const struct dirent *e) {
    struct stat st;
#ifdef DT_REG
    if (e->d_type == DT_REG) return 'f';
    if (e->d_type == DT_DIR) return 'd';
#endif
    if (fstatat(folder, e->d_name, &st, 0) != 0) return 'f';
    return S_ISDIR(st.st_mode) ? 'd' : S_ISREG(st.st_mode) ? 'f' : 0;
}

static bool list_all(heed_ctx *c, DIR *d, const char *path, heed__listing *out) {
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(d);
        if (!e) return errno == 0 || heed__os_refuse(c, HEED_DATA, "read", path);
        int kind = e->d_name[0] == '.' ? 0 : kind_of(dirfd(d), e);
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
    DIR *d = opendir(path);
    if (!d) return heed__os_refuse(c, HEED_DATA, "read", path);
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

bool heed__os_identity(const char *path, uint64_t id[2]) {
    struct stat st;
    if (stat(path, &st) != 0) return false;
    id[0] = (uint64_t)st.st_dev;
    id[1] = (uint64_t)st.st_ino;
    return true;
}

bool heed__os_same(const char *a, const char *b) {
    uint64_t x[2], y[2];
    return heed__os_identity(a, x) && heed__os_identity(b, y) && x[0] == y[0] && x[1] == y[1];
}
