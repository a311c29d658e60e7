/* images_csv.c -- a CSV file of path,label lines: RFC 4180, with or without a header. Paths are
 * relative to the file's folder. */
#include "data/image/images.h"

#include <ctype.h>
#include <string.h>

enum { FIELDS = 2, LIMIT = 1 << 30, LONGEST = 4096 };

typedef struct {
    heed_ctx *c;
    const char *path;
    char *at, *end; /* what is left; fields are cut out of it in place */
    size_t line;
} reader;

static bool wrong(const reader *r, size_t line, const char *expected, const char *found) {
    return heed_fail(r->c, HEED_DATA, "list of pictures is wrong: %s:%zu: expected %s, found %s",
                     r->path, line, expected, found);
}

/* ---- fields ---- */

/* A field in double quotes, two of which stand for one. */
static char *quoted(reader *r) {
    char *from = r->at + 1, *to = r->at, *field = to;
    size_t line = r->line;
    for (; from < r->end; from++) {
        if (*from == '"' && from + 1 < r->end && from[1] == '"')
            from++;
        else if (*from == '"')
            break;
        r->line += *from == '\n';
        *to++ = *from;
    }
    if (from == r->end) {
        wrong(r, line, "a double quote that ends the field", "the end of the file");
        return NULL;
    }
    r->at = from + 1;
    if (r->at < r->end && *r->at == '\r') r->at++;
    if (r->at < r->end && *r->at != ',' && *r->at != '\n') {
        wrong(r, r->line, "a comma or the end of the line after a quoted field", "something else");
        return NULL;
    }
    *to = 0; /* the closing quote is behind it */
    return field;
}

static char *plain(reader *r) {
    char *field = r->at;
    while (r->at < r->end && *r->at != ',' && *r->at != '\n') r->at++;
    return field;
}

static void trim(char *field, char *end) {
    while (end > field && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
    *end = 0;
}

/* The fields of the next line, without the white space around those that are not quoted; how many
 * there were, -1 after an error. */
static int read_line(reader *r, char *fields[FIELDS]) {
    int count = 0;
    for (bool more = true; more; count++) {
        while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) r->at++;
        bool quotes = r->at < r->end && *r->at == '"';
        char *field = quotes ? quoted(r) : plain(r), *stop = r->at;
        if (!field) return -1;
        more = r->at < r->end && *r->at == ',';
        r->line += r->at < r->end && *r->at == '\n';
        if (r->at < r->end) r->at++;
        if (!quotes) trim(field, stop);
        if (strlen(field) >= LONGEST) {
            wrong(r, r->line, "fields of less than 4096 bytes", "a longer one");
            return -1;
        }
        if (count < FIELDS) fields[count] = field;
    }
    return count;
}

/* ---- lines ---- */

static bool is_one_of(const char *text, const char *const *words) {
    for (; *words; words++) {
        size_t n = 0;
        while (text[n] && tolower((unsigned char)text[n]) == (*words)[n]) n++;
        if (!text[n] && !(*words)[n]) return true;
    }
    return false;
}

static bool is_header(char *const fields[FIELDS]) {
    static const char *const paths[] = {"path", "file", "filename", "image", "name", NULL};
    static const char *const labels[] = {"label", "class", "category", "target", NULL};
    return is_one_of(fields[0], paths) && is_one_of(fields[1], labels);
}

static bool add_line(heed_images *k, const reader *r, const char *folder, size_t line,
                     char *const fields[FIELDS]) {
    if (!*fields[0] || !*fields[1])
        return wrong(r, line, "a path and a label", *fields[0] ? "no label" : "no path");
    char *path = heed__images_path(k->c, folder, fields[0]);
    return path && heed__images_add(k, heed__images_class(k, fields[1], r->path), HEED_TRAIN_PART,
                                    path, (heed_picture){0});
}

static bool add_lines(heed_images *k, reader *r, const char *folder) {
    char *fields[FIELDS];
    bool ok = true;
    for (bool first = true; ok && r->at < r->end;) {
        size_t line = r->line;
        int count = read_line(r, fields);
        if (count < 0) return false;
        if (count == 1 && !*fields[0]) continue; /* blank */
        if (count != FIELDS)
            return wrong(r, line, "2 fields, path and label (a comma inside one needs \"quotes\")",
                         count < FIELDS ? "1" : "more");
        if (!first || !is_header(fields)) ok = add_line(k, r, folder, line, fields);
        first = false;
    }
    if (ok && !k->count) return wrong(r, r->line, "lines of path,label", "none");
    return ok;
}

static char *folder_of(heed_ctx *c, const char *path) {
    char *folder = heed__copy_text(c, path);
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[1] = 0;
    else if (folder)
        *folder = 0;
    return folder;
}

/* Bytes are cut into fields in place. */
static bool parse(heed_images *k, const char *path, char *text, size_t n) {
    reader r = {k->c, path, text, text + n, 1};
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r.at += 3;
    const char *nul = memchr(text, 0, n);
    for (const char *p = text; nul && p < nul; p++) r.line += *p == '\n';
    if (nul) return wrong(&r, r.line, "text", "a NUL byte");
    char *folder = folder_of(k->c, path);
    bool ok = folder && add_lines(k, &r, folder);
    heed__free(folder);
    return ok;
}

bool heed__images_csv(heed_images *k, const char *path) {
    size_t n = 0;
    k->info.kind = "csv";
    char *text = (char *)heed__os_read(k->c, path, LIMIT, &n);
    bool ok = text && parse(k, path, text, n);
    heed__free(text);
    return ok;
}
