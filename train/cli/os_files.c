/* os_files.c -- folders, patterns and comparison of files. With os.c, the only parts of the program
 * that use POSIX. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* flock, O_NOFOLLOW */
#endif
#include "cli/os_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool same_content(const char *a, const char *b) {
    char x[8192], y[8192];
    struct stat s, t;
    if (stat(a, &s) != 0 || stat(b, &t) != 0 || !S_ISREG(s.st_mode) || !S_ISREG(t.st_mode) ||
        s.st_size != t.st_size)
        return false;
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    bool same = f && g;
    for (size_t n = 1; same && n > 0;) {
        n = fread(x, 1, sizeof x, f);
        same = fread(y, 1, sizeof y, g) == n && memcmp(x, y, n) == 0 && !ferror(f);
    }
    if (f) fclose(f);
    if (g) fclose(g);
    return same;
}

/* The name after the last slash; folder gets the part before it. */
static const char *split_path(const char *path, char folder[1024]) {
    const char *slash = strrchr(path, '/');
    snprintf(folder, 1024, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return slash ? slash + 1 : path;
}

bool same_place(const char *a, const char *b) {
    char in_a[1024], in_b[1024];
    if (same_file(a, b)) return true;
    return strcmp(split_path(a, in_a), split_path(b, in_b)) == 0 && same_file(in_a, in_b);
}

/* Goes up from the path's folder: to the folder, or to the root, which is above itself. */
bool lies_below(const char *path, const char *folder) {
    char at[1024], above[1024];
    split_path(path, at);
    while (!same_file(at, folder)) {
        if (snprintf(above, sizeof above, "%s/..", at) >= (int)sizeof above) return false;
        if (!is_directory(above) || same_file(at, above)) return false;
        memcpy(at, above, sizeof at);
    }
    return true;
}

bool is_pattern(const char *path) { return strpbrk(path, "*?[") != NULL; }

bool is_picture_name(const char *name) {
    static const char *const ends[] = {".jpg", ".jpeg", ".png", ".bmp"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcasecmp(dot, ends[i]) == 0) return true;
    return false;
}

static bool add_path(heed_ctx *c, paths *list, const char *folder, const char *name) {
    size_t n = strlen(folder) + strlen(name) + 2;
    char **grown = realloc(list->at, (list->count + 1) * sizeof *grown);
    if (grown) list->at = grown;
    char *path = grown ? malloc(n) : NULL;
    if (!path) return heed_fail(c, HEED_FAILED, "no memory for a list of files");
    snprintf(path, n, "%s%s%s", folder, *folder ? "/" : "", name);
    list->at[list->count++] = path;
    return true;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The entries of a folder sorted by name, without hidden ones. */
static bool paths_in_folder(heed_ctx *c, const char *folder, paths *out) {
    DIR *d = opendir(folder);
    bool ok = true;
    *out = (paths){0};
    if (!d) return heed_fail(c, HEED_DATA, "cannot read the folder %s", folder);
    for (struct dirent *e; ok && (e = readdir(d));)
        if (e->d_name[0] != '.') ok = add_path(c, out, folder, e->d_name);
    closedir(d);
    if (out->count) qsort(out->at, out->count, sizeof *out->at, by_name);
    return ok;
}

/* Descends into subfolders, but does not follow links. A folder that cannot be read is itself
 * listed, so that reading it reports the error. */
static bool walk(heed_ctx *c, const char *folder, bool pictures, paths *out) {
    paths names = {0};
    if (access(folder, R_OK | X_OK) != 0) return add_path(c, out, "", folder);
    bool ok = paths_in_folder(c, folder, &names);
    for (size_t i = 0; ok && i < names.count; i++) {
        struct stat s;
        if (lstat(names.at[i], &s) != 0) continue;
        if (S_ISDIR(s.st_mode))
            ok = walk(c, names.at[i], pictures, out);
        else if ((!pictures || is_picture_name(names.at[i])) && !is_stream(names.at[i]))
            ok = add_path(c, out, "", names.at[i]);
    }
    paths_free(&names);
    return ok;
}

bool paths_of_folder(heed_ctx *c, const char *folder, paths *out) {
    *out = (paths){0};
    return walk(c, folder, true, out);
}

static bool match(heed_ctx *c, const char *pattern, bool pictures, paths *out) {
    glob_t g = {0};
    bool ok = glob(pattern, 0, NULL, &g) == 0;
    *out = (paths){0};
    if (!ok) return heed_fail(c, HEED_DATA, "no file matches %s", pattern);
    for (size_t i = 0; ok && i < g.gl_pathc; i++) {
        const char *path = g.gl_pathv[i];
        if (!is_stream(path))
            ok = is_directory(path) ? walk(c, path, pictures, out) : add_path(c, out, "", path);
    }
    globfree(&g);
    return ok;
}

bool paths_of_pattern(heed_ctx *c, const char *pattern, paths *out) {
    return match(c, pattern, true, out);
}

bool files_of(heed_ctx *c, const char *path, paths *out) {
    *out = (paths){0};
    return is_directory(path) ? walk(c, path, false, out) : match(c, path, false, out);
}

void paths_free(paths *list) {
    for (size_t i = 0; i < list->count; i++) free(list->at[i]);
    free(list->at);
    *list = (paths){0};
}

bool path_exists(heed_ctx *c, const char *path) {
    struct stat s;
    return is_pattern(path) || stat(path, &s) == 0 ||
           heed_fail_input(c, path, false, "cannot read %s: %s", path, strerror(errno));
}

/* Whether a name is close: one edit, or two of a long name, or an extension, apart. */
static bool is_near(const char *name, const char *near) {
    size_t stem = strcspn(name, "."), n = strlen(name);
    size_t most = stem < 3 ? 0 : stem < 6 ? 1 : 2;
    bool cut = strncasecmp(name, near, n) == 0 && near[n] == '.';
    return cut || strcasecmp(name, near) == 0 ||
           heed_text_edits(name, n, near, strlen(near)) <= most;
}

/* Whether it is the folder of a run. */
static bool is_run(const char *path) {
    char settings[1200];
    snprintf(settings, sizeof settings, "%s/config.conf", path);
    return is_file(settings);
}

const char *near_path(const char *path, bool run, char *out, size_t size) {
    const char *name = file_name(path), *near = NULL;
    paths list;
    snprintf(out, size, "%.*s", name > path ? (int)(name - path) : 1, name > path ? path : ".");
    paths_in_folder(NULL, out, &list);
    const char **names = calloc(list.count + 1, sizeof *names);
    for (size_t i = 0, n = 0; names && i < list.count; i++)
        if (strcmp(name, file_name(list.at[i])) != 0 && /* a link to nothing */
            is_near(name, file_name(list.at[i])) && (!run || is_run(list.at[i])))
            names[n++] = file_name(list.at[i]);
    if (names && *names) near = heed_closest(name, names);
    if (names && !near) near = *names;
    snprintf(out, size, "%.*s%s", near ? (int)(name - path) : 0, path, near ? near : "");
    free((void *)names);
    paths_free(&list);
    return out;
}

bool is_found_by_name(const char *name, const char *path) {
    char at[1024];
    for (const char *list = getenv("PATH"); list;) {
        int n = (int)strcspn(list, ":");
        snprintf(at, sizeof at, "%.*s/%s", n ? n : 1, n ? list : ".", name);
        if (is_file(at) && access(at, X_OK) == 0) return same_file(at, path);
        list = list[n] ? list + n + 1 : NULL;
    }
    return false;
}

/* ---- temporary files ---- */

/* Cuts the last part of a path; what has only one lies in ".". */
static void go_up(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash)
        strcpy(path, ".");
    else
        slash[slash == path] = 0;
}

static const char TEMPORARY[] = ".heed-data-";

/* Whether a name is what mkstemp makes of it: six letters and digits, and perhaps an extension. */
static bool is_temporary(const char *name) {
    if (strncmp(name, TEMPORARY, strlen(TEMPORARY)) != 0) return false;
    name += strlen(TEMPORARY);
    size_t n = strspn(name, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    return n == 6 && (!name[n] || name[n] == '.');
}

/* Removes a temporary file whose process was killed: nobody holds its lock. One of the last minute
 * may belong to a process that is about to lock it. */
static void remove_if_left(const char *path) {
    struct stat s;
    int file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && time(NULL) - s.st_mtime > 60 &&
        flock(file, LOCK_EX | LOCK_NB) == 0)
        unlink(path);
    close(file);
}

static void remove_left(const char *folder) {
    char path[1300];
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!is_temporary(e->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        remove_if_left(path);
    }
    if (d) closedir(d);
}

/* The lock is held until the process ends, as its copy of the file's descriptor stays open. */
FILE *temporary_file(const char *beside, char *path, size_t size) {
    const char *folder = getenv("TMPDIR");
    char at[1024];
    snprintf(at, sizeof at, "%s", beside ? beside : folder && *folder ? folder : "/tmp");
    for (size_t n = strlen(at); n > 1 && at[n - 1] == '/';) at[--n] = 0;
    if (beside) go_up(at);
    while (beside && !is_directory(at) && strcmp(at, ".") != 0 && strcmp(at, "/") != 0) go_up(at);
    remove_left(at);
    snprintf(path, size, "%s/%sXXXXXX", at, TEMPORARY);
    int file = mkstemp(path);
    mode_t mask = umask(0);
    umask(mask);
    if (file < 0 || fchmod(file, 0666 & ~mask) != 0) return NULL;
    flock(fcntl(file, F_DUPFD_CLOEXEC, 0), LOCK_EX | LOCK_NB);
    return fdopen(file, "wb");
}

bool extend_name(heed_ctx *c, char *path, size_t size, const char *extension) {
    char longer[1200];
    snprintf(longer, sizeof longer, "%s%s", path, extension);
    if (rename(path, longer) != 0)
        return heed_fail(c, HEED_FAILED, "cannot write %s: %s", longer, strerror(errno));
    snprintf(path, size, "%s", longer);
    return true;
}

/* ---- standard input ---- */

enum { MOST_INPUT = 1 << 28 };

static bool put_input(heed_ctx *c, heed_text *out, const char *bytes, size_t n) {
    if (out->n + n <= MOST_INPUT) return heed_text_put(out, bytes, n);
    return heed_fail(c, HEED_DATA, "standard input is too long: expected at most 256 MB");
}

/* Whether the standard input ended without an error. A folder as input, or a failing disk, is an
 * error. */
bool stdin_ended(heed_ctx *c) {
    if (ferror(stdin) && was_interrupted(NULL))
        return heed_fail(c, HEED_INTERRUPTED, "interrupted");
    return !ferror(stdin) ||
           heed_fail(c, HEED_DATA, "cannot read standard input: %s", strerror(errno));
}

bool read_stdin(heed_ctx *c, heed_text *out) {
    char buffer[16384];
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, stdin)) > 0)
        if (!put_input(c, out, buffer, n)) return false;
    return stdin_ended(c);
}

bool read_stdin_line(heed_ctx *c, heed_text *line) {
    int ch = getc(stdin);
    line->n = 0;
    if (ch == EOF) return stdin_ended(c) && false;
    for (; ch != EOF && ch != '\n'; ch = getc(stdin)) {
        char byte = (char)ch;
        if (!put_input(c, line, &byte, 1)) return false;
    }
    if (ch == '\n' && line->n && line->s[line->n - 1] == '\r') line->n--;
    return stdin_ended(c) && heed_text_put(line, "", 0);
}

/* ---- names ---- */

const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void named_path(char *out, size_t size, const char *path, const char *name) {
    const char *dot = strrchr(file_name(path), '.');
    int n = dot ? (int)(dot - path) : (int)strlen(path);
    snprintf(out, size, "%.*s%s%s%s", n, path, *name ? "-" : "", name, path + n);
}

const char *number_name(char text[16], int done) {
    *text = 0;
    if (done) snprintf(text, 16, "%d", done + 1);
    return text;
}
