/* config_args.c -- settings from a command line. */
#include "io/config.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    heed_config *f;
    int count, at; /* number of arguments, index of the next one */
    char **args;
} arguments;

/* The value of a flag; what looks like a flag itself is refused: the value was forgotten. NULL: of
 * -c. */
static const char *next_value(arguments *a, const char *flag, const heed_option *o) {
    const char *value = a->at < a->count ? a->args[a->at] : NULL;
    if (value && strncmp(value, "--", 2) != 0) {
        a->at++;
        return value;
    }
    heed_text expected = {.c = a->f->c};
    if (o ? heed__option_expects(o, &expected) : heed_text_add(&expected, "a file of settings"))
        heed_fail(a->f->c, HEED_USAGE, "%s is wrong: expected %s, found %s; hint: %s%s", flag,
                  expected.s, value ? value : "the end of the line", flag,
                  o ? "=VALUE" : " settings.conf");
    heed_text_free(&expected);
    return NULL;
}

/* Reads one --flag and removes it and its value from the arguments. */
static bool take_flag(arguments *a, const char *arg) {
    const char *key = arg + 2, *equals = strchr(key, '=');
    size_t n = equals ? (size_t)(equals - key) : strlen(key);
    char flag[128], dashed[128];
    snprintf(flag, sizeof flag, "--%.*s", n < 100 ? (int)n : 100, key);
    snprintf(dashed, sizeof dashed, "%.*s", n < 100 ? (int)n : 100, key);
    for (char *at = dashed; (at = strchr(at, '_')) != NULL;) *at = '-';
    heed__setting *s = heed__setting_find(a->f, key, n);
    if (!s) s = heed__setting_find(a->f, dashed, strlen(dashed)); /* "--top_k" */
    bool off = !s && strncmp(dashed, "no-", 3) == 0;
    if (off) s = heed__setting_find(a->f, dashed + 3, strlen(dashed) - 3);
    if (!s) return heed__setting_unknown(a->f, key, n, flag, HEED_FROM_FLAG);
    if (off && s->o->kind != HEED_BOOL)
        return heed_fail(a->f->c, HEED_USAGE, "%s is wrong: not a switch: expected --%s=VALUE",
                         flag, s->o->name);
    bool is_switch = s->o->kind == HEED_BOOL;
    if (is_switch && equals)
        return heed_fail(a->f->c, HEED_USAGE,
                         "%s is wrong: expected no value, found %s; hint: --%s or --no-%s", flag,
                         equals, s->o->name, s->o->name);
    const char *value = is_switch ? (off ? "false" : "true")
                        : equals  ? equals + 1
                                  : next_value(a, flag, s->o);
    heed_text joined = {.c = a->f->c};
    if (value && s->o->kind == HEED_TEXT && s->o->max > 1 && s->rank == HEED_FROM_FLAG && *s->text)
        value = heed_text_add(&joined, "%s\x1E%s", s->text, value) ? joined.s : NULL;
    bool ok = value && heed__setting_put(a->f, s, value, flag, HEED_FROM_FLAG);
    heed_text_free(&joined);
    return ok;
}

bool heed_config_args(heed_config *f, int *argc, char **argv) {
    if (!f || heed__stopped(f->c) || !argc || !argv) return false;
    arguments a = {.f = f, .count = *argc, .args = argv};
    int kept = 0;
    bool ok = true, flags = true;
    while (ok && a.at < a.count && argv[a.at]) {
        char *arg = argv[a.at++];
        if (flags && strcmp(arg, "--") == 0)
            flags = false;
        else if (flags && strncmp(arg, "--", 2) == 0)
            ok = take_flag(&a, arg);
        else if (flags && strcmp(arg, "-c") == 0) {
            const char *path = next_value(&a, arg, NULL);
            ok = path && heed_config_read(f, path, HEED_FROM_FILE);
        } else
            argv[kept++] = arg;
    }
    if (!ok) return false;
    if (kept < *argc) argv[kept] = NULL;
    *argc = kept;
    return true;
}
