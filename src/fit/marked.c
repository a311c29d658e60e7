/* marked.c -- settings and names as one text, for the metadata of weights files. Each is preceded
 * by a mark: a semicolon, which JSON need not escape (jansson aborts if memory runs out within an
 * escape), or a line break if one of them contains a semicolon. */
#include "core/core.h"
#include "fit/fit.h"

#include <string.h>

static char mark_for(const char *text, char mark) {
    return text && strchr(text, mark) ? '\n' : mark;
}

static void put(heed_text *out, char mark, const heed_config *f, const char *key) {
    heed_text_add(out, "%c%s=%s", mark, key, heed_config_text(f, key));
}

/* A model's default for a setting that all training runs share is not a setting of the model. */
static bool of_model(const heed_model *m, const char *key) {
    return heed_option_find(m->options, key) && !heed_option_find(heed_fit_options, key);
}

bool heed__settings_text(const heed_model *m, const heed_config *f, heed_text *out) {
    char mark = ';';
    bool adapted = heed_config_int(f, "lora") > 0;
    const char *const *lora = heed__lora_settings;
    int count = heed_config_count(f);
    const char *key, *value;
    for (int i = 0; i < count; i++) {
        key = heed_config_at(f, i, &value)->name;
        if (heed_option_find(m->options, key)) mark = mark_for(value, mark);
    }
    for (int i = 0; adapted && lora[i]; i++) mark = mark_for(heed_config_text(f, lora[i]), mark);
    for (int i = 0; i < count; i++) {
        key = heed_config_at(f, i, NULL)->name;
        if (of_model(m, key)) put(out, mark, f, key);
    }
    for (int i = 0; adapted && lora[i]; i++) put(out, mark, f, lora[i]);
    return heed_text_add(out, "%s", "");
}

bool heed__list_settings(const heed_config *f, heed_text *out) {
    char mark = ';';
    for (int i = 0; i < heed_config_count(f); i++) {
        const char *value;
        heed_config_at(f, i, &value);
        mark = mark_for(value, mark);
    }
    for (int i = 0; i < heed_config_count(f); i++) {
        const char *value;
        put(out, mark, f, heed_config_at(f, i, &value)->name);
    }
    return heed_text_add(out, "%s", "");
}

bool heed__list_texts(const char *const *list, int count, heed_text *out) {
    char mark = ';';
    for (int i = 0; i < count; i++) mark = mark_for(list[i], mark);
    for (int i = 0; i < count; i++) heed_text_add(out, "%c%s", mark, list[i]);
    return heed_text_add(out, "%s", "");
}
