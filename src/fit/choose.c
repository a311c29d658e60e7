/* choose.c -- settings that a model chooses by the data, where they were not given. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Sets `key`, unless it was given or the settings lack it, and adds "key = value" to what. */
static bool choose_one(const heed_choices *k, const char *key, const char *value,
                       heed_choice *out) {
    heed_config *f = k->config;
    if (k->only && !heed_option_find(k->only, key)) return true;
    if (!heed_config_has(f, key) || heed_config_rank(f, key) != HEED_FROM_DEFAULT) return true;
    bool other = strcmp(heed_config_text(f, key), value) != 0;
    size_t n = strlen(out->what);
    if (!heed_config_set(f, key, value, "settings chosen from the data", HEED_FROM_PRESET))
        return false;
    if (other)
        snprintf(out->what + n, sizeof out->what - n, "%s%s %s", n ? ", " : "", key,
                 heed_config_text(f, key));
    return true;
}

bool heed_choose(heed_choices *k, const char *settings, const char *why, ...) {
    heed_choice one = {.what = ""};
    char key[64], value[64];
    int n = 0;
    bool ok = true;
    if (!k || !settings || !why) return false;
    for (const char *at = settings; ok && sscanf(at, " %63[^= ]=%63[^ ]%n", key, value, &n) == 2;
         at += n)
        ok = choose_one(k, key, value, &one);
    va_list list;
    va_start(list, why);
    vsnprintf(one.why, sizeof one.why, why, list);
    va_end(list);
    if (ok && *one.what && k->count < HEED_CHOICES) k->list[k->count++] = one;
    return ok;
}

/* Without open data there is something to look at only in a regular file. */
bool heed_model_choose(const heed_model *m, heed_config *f, const heed_data *d, heed_choices *out) {
    heed_choices own = {.count = 0}, *k = out ? out : &own;
    if (!m || !f) return false;
    bool from = heed_config_has(f, "from") && *heed_config_text(f, "from");
    k->config = f;
    k->data = d;
    if (d && *d->found.what && k->count < HEED_CHOICES) k->list[k->count++] = d->found;
    if (!m->choose || (!d && !heed__os_is_file(heed_config_text(f, "data")))) return true;
    k->only = from ? heed_model_data(m)->options : NULL;
    return m->choose(k);
}
