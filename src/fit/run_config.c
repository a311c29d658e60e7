/* run_config.c -- config.conf of a run, with the settings of its model and its data, and a
 * program's settings that the library does not know. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"

#include <string.h>

/* A program that trains may have custom settings in config.conf: they are kept as text. */
static bool find_foreign(heed__run_config *k, const heed_option *const *tables) {
    size_t count = 0;
    for (char *line = k->text.s, *next; line && *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        line += strspn(line, " \t");
        size_t n = strcspn(line, " \t=#");
        bool pair = n > 0 && line[n + strspn(line + n, " \t")] == '=';
        line[n] = 0;
        bool known = heed_option_find(k->foreign, line);
        for (int i = 0; tables[i] && !known; i++) known = heed_option_find(tables[i], line);
        if (!pair || known) continue;
        if (!heed__grow(k->text.c, &k->foreign, &k->capacity, count + 2, sizeof *k->foreign))
            return false;
        k->foreign[count++] = (heed_option){.name = line, .kind = HEED_TEXT, .value = ""};
    }
    return k->foreign || heed__grow(k->text.c, &k->foreign, &k->capacity, 1, sizeof *k->foreign);
}

bool heed__size_of_data(const char *key) {
    return strcmp(key, "vocab") == 0 || strcmp(key, "source-vocab") == 0 ||
           strcmp(key, "classes") == 0;
}

/* A run that was moved still holds the data that was moved into it (heed_fit_args.keep). */
static bool find_own_data(heed_ctx *c, const char *dir, heed_config *f) {
    static const char own[] = "heed-data";
    const char *data = heed_config_has(f, "data") ? heed_config_text(f, "data") : "";
    const char *slash = strrchr(data, '/');
    if (!slash || strncmp(slash + 1, own, sizeof own - 1) != 0 || heed__os_exists(data))
        return true;
    heed_text path = {.c = c};
    bool ok = heed_text_add(&path, "%s" HEED_INSIDE "%s", dir, slash + 1);
    if (ok && heed__os_exists(path.s))
        ok = heed_config_set(f, "data", path.s, dir, HEED_FROM_FLAG); /* as if it were given */
    heed_text_free(&path);
    return ok;
}

bool heed_run_settings(heed_ctx *c, const char *dir, heed_config *f) {
    heed_text path = {.c = c};
    if (heed__stopped(c)) return false;
    if (!dir || !f)
        return heed_fail(c, HEED_USAGE,
                         "settings of a run: expected its folder and a "
                         "heed_config, found NULL");
    /* Earlier versions did not have these settings, whose defaults differ from what they did. The
     * defaults stay as they are: config.conf, which is written again, names them. */
    bool ok = heed_config_set_list(f, "all-rows=true whole-logits=true", dir, HEED_FROM_PRESET) &&
              heed_config_read(f, heed__run_path(&path, dir, "config.conf"), HEED_FROM_FILE) &&
              heed__state_restore(c, dir, f) && find_own_data(c, dir, f);
    heed_text_free(&path);
    return ok;
}

bool heed__run_config_read(heed_ctx *c, const heed_model *m, const char *dir,
                           heed__run_config *out) {
    heed_text path = {.c = c};
    size_t n;
    unsigned char *bytes = heed__os_read(c, heed__run_path(&path, dir, "config.conf"), 1 << 20, &n);
    *out = (heed__run_config){.text = {.c = c}};
    bool ok = bytes && heed_text_put(&out->text, (const char *)bytes, n);
    heed__free(bytes);
    heed_text_free(&path);
    const heed_option *tables[6] = {heed_train_options};
    const heed_data_kind *kind = heed_model_data(m);
    int count = 1;
    if (kind) tables[count++] = kind->options;
    if (m->options) tables[count++] = m->options;
    tables[count++] = heed_fit_options;
    if (!ok || !find_foreign(out, tables)) return false;
    tables[count] = out->foreign;
    out->config = heed_config_new(c, tables);
    return heed_config_set_list(out->config, m->defaults, m->name, HEED_FROM_DEFAULT) &&
           heed_run_settings(c, dir, out->config) && heed_run_check(c, dir, out->config);
}

void heed__run_config_free(heed__run_config *k) {
    heed__free(k->foreign);
    heed_text_free(&k->text);
    *k = (heed__run_config){0};
}
