/* outputs.c -- checks, before any work is done, that no file a command writes would overwrite an
 * input or another output of the command. */
#include "cli/os_files.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Settings of all commands that name a file to write, and settings that name a file to read. */
static const char *const writes[] = {
    "png",      "svg",   "html",    "npz",  "csv",       "tex", "translations", "confusion",
    "mistakes", "sheet", "overlay", "code", "attention", "npy", "onnx",         NULL};
static const char *const reads[] = {"from", "data", "val", "beside", NULL};

static bool is_one_of(const char *const *names, const heed_option *o) {
    for (; *names && o->kind == HEED_OPTION_STRING && !o->choices; names++)
        if (strcmp(*names, o->name) == 0) return true;
    return false;
}

/* A setting that names a file to write. */
typedef struct {
    heed_ctx *c;
    const heed_model *const *models;
    const char *name, *path;
    bool named; /* several inputs write FILE-NAME */
} output;

static bool writes_to(const output *o, const char *path) {
    char own[1024], stem[1024];
    const char *name = file_name(o->path), *other = file_name(path), *dot = strrchr(name, '.');
    if (same_place(o->path, path)) return true;
    snprintf(stem, sizeof stem, "%.*s-", dot ? (int)(dot - name) : (int)strlen(name), name);
    size_t n = strlen(other), end = dot ? strlen(dot) : 0;
    if (!o->named || n < end || strncmp(other, stem, strlen(stem)) != 0 ||
        (dot && strcmp(other + n - end, dot) != 0))
        return false;
    snprintf(own, sizeof own, "%.*s%s", (int)(name - o->path), o->path, other);
    return same_place(own, path);
}

/* ---- inputs ---- */

static bool keep_input(const output *o, const char *input) {
    return !is_file(input) || !writes_to(o, input) ||
           heed_fail(o->c, HEED_USAGE,
                     "output would replace the input: --%s %s: expected another file; hint: --%s "
                     "with a name that no input has",
                     o->name, o->path, o->name);
}

/* A file; or pictures below a folder, or matching a pattern. The command reports what cannot be
 * read. */
static bool keep_data(const output *o, const char *path) {
    bool folder = is_directory(path), ok = true;
    if (is_file(path)) return keep_input(o, path);
    if (folder ? !lies_below(o->path, path) : !is_pattern(path)) return true;
    heed_ctx *quiet = heed_open(&(heed_options){.threads = 1});
    paths list = {0};
    if (folder)
        paths_of_folder(quiet, path, &list);
    else
        paths_of_pattern(quiet, path, &list);
    for (size_t i = 0; ok && i < list.count; i++) ok = keep_input(o, list.at[i]);
    paths_free(&list);
    heed_close(quiet);
    return ok;
}

/* No file of a run may be replaced, except loss.png, which heed plot redraws, but not through a
 * link; nor what it was trained on, which a command without DATA reads. */
static bool keep_run(const output *o, const char *run) {
    bool curves = strcmp(file_name(o->path), "loss.png") == 0 && !is_link(o->path);
    if (!curves && heed_run_path_is_inside(o->c, run, o->path))
        return heed_fail(o->c, HEED_USAGE,
                         "output would replace a file of the run: --%s %s: expected another file; "
                         "hint: a name that is not in %s",
                         o->name, o->path, run);
    heed_ctx *quiet = heed_open(&(heed_options){.threads = 1});
    const heed_model *m;
    heed_config *f = run_settings(quiet, o->models, run, &m);
    bool ok = true;
    for (int i = 0; f && ok && reads[i]; i++)
        if (heed_config_has(f, reads[i])) ok = keep_data(o, heed_config_text(f, reads[i]));
    heed_close(quiet);
    return ok;
}

/* An argument may be a run, a file, a folder or pattern of pictures, or a text, which is none of
 * these. */
static bool keep_one(const output *o, const char *argument) {
    char settings[1100];
    snprintf(settings, sizeof settings, "%s/config.conf", argument);
    return is_file(settings) ? keep_run(o, argument) : keep_data(o, argument);
}

/* One input, or several runs: "a,b". */
static bool keep_argument(const output *o, const char *argument) {
    char run[1024];
    bool ok = keep_one(o, argument);
    for (const char *s = argument; ok && *s; s += strcspn(s, ","), s += *s == ',') {
        snprintf(run, sizeof run, "%.*s", (int)strcspn(s, ","), s);
        ok = strcmp(run, argument) == 0 || !is_directory(run) || keep_one(o, run);
    }
    return ok;
}

/* ---- outputs ---- */

/* A file of a run that is no argument of the command. */
static bool keep_neighbours(const output *o) {
    char folder[1024], settings[1100];
    snprintf(folder, sizeof folder, "%.*s.", (int)(file_name(o->path) - o->path), o->path);
    snprintf(settings, sizeof settings, "%s/config.conf", folder);
    return !is_file(settings) || keep_run(o, folder);
}

/* Compares the output with the settings of f after `from` that would write the same file, or read
 * it. */
static bool is_apart(const output *o, const heed_config *f, int from) {
    const char *value;
    for (int i = 0; i < heed_config_count(f); i++) {
        const heed_option *k = heed_config_at(f, i, &value);
        output other = {o->c, o->models, k->name, value, o->named};
        if (is_one_of(reads, k) && *value && !keep_argument(o, value)) return false;
        if (i <= from || !is_one_of(writes, k) || !*value) continue;
        if (!writes_to(o, value) && !writes_to(&other, o->path)) continue;
        return heed_fail(o->c, HEED_USAGE,
                         "two outputs in one file: --%s %s and --%s %s: expected a file for each; "
                         "hint: another name for one of them",
                         o->name, o->path, k->name, value);
    }
    return true;
}

/* All pictures are PNG except those of --svg; with another extension, viewers may not open them. */
static bool is_named_right(const output *o) {
    static const char *const others[] = {"html", "npz", "csv", "tex", "translations", NULL};
    bool vector = strcmp(o->name, "svg") == 0;
    const char *own = vector ? ".svg" : ".png", *dot = strrchr(o->path, '.');
    for (int i = 0; others[i]; i++)
        if (strcmp(o->name, others[i]) == 0) return true;
    if (!dot || strcasecmp(dot, own) == 0) return true;
    bool foreign = is_picture_name(dot) || strcasecmp(dot, ".svg") == 0 ||
                   strcasecmp(dot, ".webp") == 0 || strcasecmp(dot, ".gif") == 0;
    return !foreign || heed_fail(o->c, HEED_USAGE,
                                 "--%s %s: what is written is %s: expected a name that ends in %s",
                                 o->name, o->path, vector ? "SVG" : "PNG", own);
}

/* Checked early: otherwise other files would be written before this one fails. */
static bool can_be_written(const output *o) {
    char folder[1024];
    const char *slash = strrchr(o->path, '/');
    int n = slash ? (int)(slash - o->path) : 0;
    snprintf(folder, sizeof folder, "%.*s", n, o->path);
    if (is_directory(o->path))
        return heed_fail(o->c, HEED_FAILED, "cannot write %s: expected a file, found a folder",
                         o->path);
    return n == 0 || is_directory(folder) ||
           heed_fail(o->c, HEED_FAILED, "cannot write %s: there is no folder %s; hint: mkdir -p %s",
                     o->path, folder, folder);
}

/* ---- values ---- */

/* A value for a setting that names a file, a folder or a run: "confusion.png"; or NULL. */
static const char *example_of(const command *k, const heed_option *o, char text[80]) {
    static const char *const endings[] = {"svg", "html", "npz", "npy", "csv", "tex", "onnx", NULL};
    bool run = strcmp(o->group ? o->group : "", "Run") == 0;
    if (o->kind != HEED_OPTION_STRING || o->choices) return NULL;
    if (strcmp(o->name, "out") == 0) return run ? "runs/first" : "folder";
    if (strcmp(o->name, "beside") == 0 || (run && strcmp(o->name, "from") == 0))
        return "runs/first";
    if (!is_one_of(writes, o)) return NULL;
    if (strcmp(o->name, "png") == 0 || is_one_of(endings, o))
        snprintf(text, 80, "%s.%s", k->name, o->name);
    else
        snprintf(text, 80, "%s.%s", o->name, strcmp(o->name, "translations") ? "png" : "tsv");
    return text;
}

/* Whether an argument is the option: "--png" or "--png=FILE". */
static bool is_option(const char *argument, const heed_option *o) {
    size_t n = strlen(o->name);
    return strncmp(argument, "--", 2) == 0 && strncmp(argument + 2, o->name, n) == 0 &&
           (!argument[2 + n] || argument[2 + n] == '=');
}

/* Whether all that give the option give the same path; of two, one would be ignored. */
static bool is_named(heed_ctx *c, const heed_option *o, const char *example, int argc,
                     char **argv) {
    const char *found = NULL;
    char flag[80] = "-o";
    if (strcmp(o->name, "out") != 0) snprintf(flag, sizeof flag, "--%s", o->name);
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!is_option(argv[i], o)) continue;
        const char *equals = strchr(argv[i], '=');
        const char *value = equals ? equals + 1 : i + 1 < argc ? argv[i + 1] : NULL;
        if (!value || (!equals && strncmp(value, "--", 2) == 0))
            return heed_fail(c, HEED_USAGE, "%s is wrong: expected a path, found %s; hint: %s %s",
                             flag, value ? value : "the end of the line", flag, example);
        if (found && strcmp(found, value) != 0)
            return heed_fail(c, HEED_USAGE, "%s is given twice: expected one of %s and %s", flag,
                             found, value);
        found = value;
    }
    return true;
}

bool files_are_named(heed_ctx *c, const command *k, const heed_config *f, int argc, char **argv) {
    char text[80];
    for (int i = 0; i < heed_config_count(f); i++) {
        const heed_option *o = heed_config_at(f, i, NULL);
        const char *example = example_of(k, o, text);
        if (example && !is_named(c, o, example, argc, argv)) return false;
    }
    return true;
}

bool outputs_are_apart(heed_ctx *c, const heed_model *const *models, const heed_config *f,
                       bool named, int argc, char **argv) {
    output o = {.c = c, .models = models, .named = named};
    for (int i = 0; i < heed_config_count(f); i++) {
        const heed_option *k = heed_config_at(f, i, &o.path);
        if (!is_one_of(writes, k)) continue;
        o.name = k->name;
        if (!*o.path && heed_config_rank(f, o.name) == HEED_FROM_FLAG)
            return heed_fail(c, HEED_USAGE, "--%s: expected a file name, found an empty one",
                             o.name);
        if (!*o.path || is_stream(o.path)) continue;
        if (!can_be_written(&o) || !is_apart(&o, f, i) || !keep_neighbours(&o)) return false;
        for (int a = 0; a < argc; a++)
            if (!keep_argument(&o, argv[a])) return false;
        if (!is_named_right(&o)) return false;
    }
    return true;
}
