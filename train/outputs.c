/* outputs.c -- that no file a command writes stands in the way of another file of the same command:
 * looked at before any work, so that a slip of the hand costs nothing. */
#include "files.h"

#include <string.h>

/* Settings of all commands that name a file to write, and those that name one to read. */
static const char *const writes[] = {"png",      "svg",   "html",         "npz",
                                     "csv",      "tex",   "translations", "confusion",
                                     "mistakes", "sheet", "overlay",      NULL};
static const char *const reads[] = {"from", "data", "val", NULL};

static bool is_one_of(const char *const *names, const heed_option *o) {
    for (; *names && o->kind == HEED_TEXT; names++)
        if (strcmp(*names, o->name) == 0) return true;
    return false;
}

static bool keep_input(heed_ctx *c, const char *name, const char *path, const char *input) {
    return !is_file(input) || !same_place(path, input) ||
           heed_fail(c, HEED_USAGE,
                     "output would replace the input: --%s %s: expected another file; hint: --%s "
                     "with a name that no input has",
                     name, path, name);
}

/* The rows of f after `from` that would be written to the same file, or read from it. */
static bool is_apart(heed_ctx *c, const heed_config *f, int from, const char *name,
                     const char *path) {
    const char *value;
    for (int i = 0; i < heed_config_count(f); i++) {
        const heed_option *o = heed_config_at(f, i, &value);
        if (is_one_of(reads, o) && !keep_input(c, name, path, value)) return false;
        if (i <= from || !is_one_of(writes, o) || !*value || !same_place(path, value)) continue;
        return heed_fail(c, HEED_USAGE,
                         "two outputs in one file: --%s %s and --%s %s: expected a file for each; "
                         "hint: another name for one of them",
                         name, path, o->name, value);
    }
    return true;
}

bool outputs_are_apart(heed_ctx *c, const heed_config *f, int argc, char **argv) {
    const char *path;
    for (int i = 0; i < heed_config_count(f); i++) {
        const heed_option *o = heed_config_at(f, i, &path);
        if (!is_one_of(writes, o)) continue;
        if (!*path && heed_config_rank(f, o->name) == HEED_FROM_FLAG)
            return heed_fail(c, HEED_USAGE, "--%s: expected a file name, found an empty one",
                             o->name);
        if (!*path || is_stream(path)) continue;
        if (!is_apart(c, f, i, o->name, path)) return false;
        for (int k = 0; k < argc; k++)
            if (!keep_input(c, o->name, path, argv[k])) return false;
    }
    return true;
}
