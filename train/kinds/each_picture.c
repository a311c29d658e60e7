/* each_picture.c -- pictures from arguments or the standard input, one by one. */
#include "cli/os_files.h"
#include "kinds/answers.h"
#include "kinds/records.h"

#include <string.h>

typedef struct {
    program *p;
    const heed_run *run;
    void *user;
    take_picture take;
    size_t taken, converted; /* pictures; those of other channels than the run's */
} taker;

/* ---- names of outputs ---- */

/* The part of the path below the argument that is or names its folder, or below what a pattern
 * begins with. If another argument is a file of the same name, the name with its folder. */
static const char *below(const program *p, const char *path) {
    const char *own = file_name(path), *folder = own > path ? own - 1 : own;
    while (folder > path && folder[-1] != '/') folder--;
    for (int i = 1; i < p->argc; i++) {
        size_t n = strlen(p->argv[i]);
        if (strcmp(p->argv[i], path) != 0 && strcmp(file_name(p->argv[i]), file_name(path)) == 0 &&
            folder < own)
            own = folder;
        size_t fixed = strcspn(p->argv[i], "*?[");
        while (fixed && p->argv[i][fixed - 1] != '/') fixed--;
        if (is_pattern(p->argv[i]) && !is_file(p->argv[i]) &&
            strncmp(path, p->argv[i], fixed) == 0 && path + fixed < own)
            own = path + fixed;
        while (n && p->argv[i][n - 1] == '/') n--;
        if (!is_directory(p->argv[i]) || strncmp(path, p->argv[i], n) != 0 || path[n] != '/')
            continue;
        const char *rest = path + n + strspn(path + n, "/");
        if (rest < own) own = rest;
    }
    return own;
}

bool name_outputs(program *p, picture_names *k, const char *path) {
    const char *only = p->argc == 1 ? "-" : p->argv[1], *own = below(p, path);
    const char *dot = strrchr(file_name(own), '.');
    char stem[200], line[sizeof k->name];
    *k->name = 0;
    if (p->argc <= 2 && strcmp(path, only) == 0) return true;
    snprintf(stem, sizeof stem, "%.*s", dot ? (int)(dot - own) : (int)strlen(own), own);
    for (size_t n = strlen(stem); n && ((unsigned char)own[n] & 0xC0) == 0x80;)
        stem[--n] = 0; /* no part of a character */
    for (char *slash = stem; (slash = strchr(slash, '/'));) *slash = '-';
    int same = 0;
    do {
        snprintf(line, sizeof line, same ? "\n%s-%d\n" : "\n%s\n", stem, same + 1);
        same++;
    } while (k->used.s && strstr(k->used.s, line));
    snprintf(k->name, sizeof k->name, "%.*s", (int)strlen(line) - 2, line + 1);
    k->used.c = p->c;
    return heed_text_add(&k->used, "%s", line);
}

bool has_other_channels(const heed_run *r, const heed_picture *p) {
    return (p->channels < 3 ? 1 : 3) != heed_config_int(r->config, "channels");
}

void note_converted(const heed_run *r, size_t converted, size_t all) {
    bool grey = heed_config_int(r->config, "channels") == 3;
    const char *from = grey ? "grey" : "in colour", *to = grey ? "colour" : "grey";
    if (converted && all == 1)
        heed_message(r->c, HEED_INFO, "the picture is %s: converted to %s", from, to);
    else if (converted)
        heed_message(r->c, HEED_INFO, "%zu of %zu pictures %s %s: converted to %s", converted, all,
                     converted == 1 ? "is" : "are", from, to);
}

/* Also frees the picture. */
static void take(taker *k, const char *name, heed_picture *p) {
    k->taken++;
    k->converted += has_other_channels(k->run, p);
    k->take(k->p, k->user, name, p);
    heed_picture_free(p);
}

static void take_file(taker *k, const char *path) {
    heed_picture p = {0};
    if (read_picture(k->p->c, path, &p)) take(k, path, &p);
    program_complain(k->p);
}

/* Takes a file, a folder, or a pattern that the shell did not expand. */
static void take_path(taker *k, const char *path) {
    heed_ctx *c = k->p->c;
    paths list = {0};
    if (is_directory(path))
        paths_of_folder(c, path, &list);
    else if (!is_file(path) && is_pattern(path))
        paths_of_pattern(c, path, &list);
    else {
        take_file(k, path);
        return;
    }
    if (list.count == 0 && heed_ctx_status(c) == HEED_OK)
        heed_fail(c, HEED_DATA, "no pictures below %s: expected JPEG, PNG or BMP files", path);
    program_complain(k->p);
    for (size_t i = 0; i < list.count; i++) take_file(k, list.at[i]);
    paths_free(&list);
}

/* A list of paths contains no control bytes except line breaks and tabs; the first bytes of a
 * picture do, or have no line break. */
static bool is_list(const heed_text *t) {
    for (size_t i = 0; i < t->n && i < 4096; i++) {
        unsigned char byte = (unsigned char)t->s[i];
        if (byte < 32 && byte != '\n' && byte != '\r' && byte != '\t') return false;
    }
    return true;
}

static void take_stdin(taker *k) {
    heed_text text = {.c = k->p->c};
    char why[HEED_WHY];
    heed_picture p = {0};
    if (is_terminal(stdin)) print_note("", "reading paths from the keyboard; Ctrl-D ends");
    bool read = read_stdin(k->p->c, &text);
    if (read && strspn(text.s ? text.s : "", " \t\r\n") == text.n) {
        refuse_empty_stdin(k->p);
    } else if (read && is_list(&text)) {
        for (char *line = text.s, *next; line && *line; line = next) {
            next = line + strcspn(line, "\n");
            if (*next && next > line && next[-1] == '\r') next[-1] = 0;
            if (*next) *next++ = 0;
            if (*line) take_path(k, line);
        }
    } else if (heed_ctx_status(k->p->c) == HEED_OK) {
        heed_status status = heed_picture_decode(text.s, text.n, &p, why);
        if (status != HEED_OK)
            heed_fail(k->p->c, status, "standard input %s", why);
        else
            take(k, "-", &p);
    }
    program_complain(k->p);
    heed_text_free(&text);
}

void each_picture(program *p, const heed_run *r, void *user, take_picture one) {
    taker k = {.p = p, .run = r, .user = user, .take = one};
    for (int i = 1; i < p->argc; i++)
        if (strcmp(p->argv[i], "-") == 0)
            take_stdin(&k);
        else
            take_path(&k, p->argv[i]);
    if (p->argc == 1) take_stdin(&k);
    if (!flag_on(p, "convert")) note_converted(r, k.converted, k.taken);
}

/* ---- skipped pictures ---- */

static size_t add_skipped(heed_text *out, const heed_images *k, const char *indent, size_t most) {
    const char *path, *why;
    char shown[PLAIN];
    size_t i = 0;
    for (; i < most && heed_images_bad(k, i, &path, &why); i++)
        heed_text_add(out, "%s%s %s\n", indent, heed_format_line(shown, sizeof shown, path), why);
    return heed_images_about(k)->bad - i;
}

void warn_of_skipped(program *p, const heed_images *k) {
    size_t bad = heed_images_about(k)->bad;
    heed_text text = {.c = NULL};
    if (!bad) return;
    heed_message(p->c, HEED_WARN, "%zu picture%s cannot be decoded and %s skipped", bad,
                 bad == 1 ? "" : "s", bad == 1 ? "was" : "were");
    size_t more = add_skipped(&text, k, "  ", 3);
    if (text.s) fputs(text.s, stderr);
    if (more) fprintf(stderr, "  and %zu more\n", more);
    heed_text_free(&text);
}

void log_skipped(program *p, const heed_data *d, const char *run) {
    const heed_images *k = d->kind->images ? d->kind->images(d) : NULL;
    const char *first, *why;
    heed_text text = {.c = NULL};
    if (!k || !heed_images_bad(k, 0, &first, &why)) return;
    show_mode mode = show_mode_of(flag_text(p, "progress"));
    if (mode != SHOW_BAR && mode != SHOW_LINES) /* the banner lists them */
        heed_message(p->c, HEED_WARN, "skipped pictures: %zu; the first: %s %s",
                     heed_images_about(k)->bad, first, why);
    add_skipped(&text, k, "skipped: ", SIZE_MAX);
    add_to_run(p, run, "train.log", &text);
}
