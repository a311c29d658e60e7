/* modules.c -- modules.json of sentence-transformers: how the vector of a text is made from its
 * tokens. Reimers & Gurevych 2019. */
#include "core/core.h"
#include "core/os.h"
#include "exchange/exchange.h"

#include <stdio.h>
#include <string.h>

/* FOLDER/NAME, or FOLDER/SUB/NAME; NULL, without an error, if there is no such file. */
static json_t *read_file(heed_ctx *c, const char *dir, const char *sub, const char *name,
                         heed_text *path) {
    path->n = 0;
    if (!heed_text_add(path, "%s/%s%s%s", dir, sub, *sub ? "/" : "", name)) return NULL;
    return heed__os_exists(path->s) ? heed__plain_json(c, path->s) : NULL;
}

static bool refuse(heed_ctx *c, const char *path, const char *what) {
    char quoted[HEED_QUOTE];
    return heed_fail(c, HEED_DATA,
                     "vectors cannot be represented: %s: expected Transformer, Pooling by the mean "
                     "or [CLS], and Normalize, found %s",
                     path, heed_quote(quoted, what, strlen(what)));
}

/* Exactly one of the modes is on. */
static bool read_pooling(heed_ctx *c, const json_t *config, const char *path, heed_config *f) {
    const char *key, *mode = NULL;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)config, key, value) {
        if (strncmp(key, "pooling_mode", 12) != 0 ||
            !(json_is_true(value) || json_is_string(value)))
            continue;
        if (mode) return refuse(c, path, "several kinds of pooling");
        mode = json_is_string(value) ? json_string_value(value) : key;
    }
    bool mean = mode && (!strcmp(mode, "pooling_mode_mean_tokens") || !strcmp(mode, "mean"));
    bool cls = mode && (!strcmp(mode, "pooling_mode_cls_token") || !strcmp(mode, "cls"));
    if (!mean && !cls) return refuse(c, path, mode ? mode : "no kind of pooling");
    return heed_config_set(f, "pool", mean ? "mean" : "cls", path, HEED_FROM_FILE);
}

/* The last part of "sentence_transformers.models.Pooling". */
static const char *type_of(const json_t *module) {
    const char *type = json_string_value(json_object_get(module, "type"));
    const char *dot = type ? strrchr(type, '.') : NULL;
    return dot ? dot + 1 : type ? type : "a module without a type";
}

static bool read_module(heed_ctx *c, const char *dir, const json_t *module, const char *path,
                        heed_config *f) {
    const char *type = type_of(module);
    const char *sub = json_string_value(json_object_get(module, "path"));
    if (strcmp(type, "Transformer") == 0 && (!sub || !*sub)) return true;
    if (strcmp(type, "Normalize") == 0)
        return heed_config_set(f, "unit", "true", path, HEED_FROM_FILE);
    if (strcmp(type, "Pooling") != 0 || !sub || strchr(sub, '/') || sub[0] == '.')
        return refuse(c, path, type);
    heed_text file = {.c = c};
    json_t *config = read_file(c, dir, sub, "config.json", &file);
    bool ok = config ? read_pooling(c, config, file.s, f)
                     : !heed__stopped(c) && refuse(c, path, "Pooling without its config.json");
    json_decref(config);
    heed_text_free(&file);
    return ok;
}

/* {"max_seq_length": 256, "do_lower_case": false} */
static bool read_length(heed_ctx *c, const char *dir, heed_config *f) {
    heed_text path = {.c = c};
    char number[24];
    json_t *config = read_file(c, dir, "", "sentence_bert_config.json", &path);
    const json_t *most = json_object_get(config, "max_seq_length");
    bool ok = !heed__stopped(c);
    if (json_is_true(json_object_get(config, "do_lower_case")))
        ok = refuse(c, path.s, "do_lower_case");
    if (ok && json_is_integer(most)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(most));
        ok = heed_config_set(f, "embed-tokens", number, path.s, HEED_FROM_FILE);
    }
    json_decref(config);
    heed_text_free(&path);
    return ok;
}

bool heed__modules_read(heed_ctx *c, const char *dir, heed_config *f) {
    heed_text path = {.c = c};
    json_t *list = read_file(c, dir, "", "modules.json", &path);
    bool ok = !heed__stopped(c);
    if (list && !json_is_array(list)) ok = refuse(c, path.s, "no list");
    for (size_t i = 0; ok && i < json_array_size(list); i++)
        ok = read_module(c, dir, json_array_get(list, i), path.s, f);
    json_decref(list);
    heed_text_free(&path);
    return ok && read_length(c, dir, f);
}

/* ---- writing ---- */

/* Frees value. */
static bool write_file(heed_ctx *c, const char *dir, const char *name, json_t *value) {
    heed_text path = {.c = c};
    bool ok = heed_text_add(&path, "%s/%s", dir, name) && heed__json_write(c, path.s, value);
    heed_text_free(&path);
    json_decref(value);
    return ok;
}

static bool add_module(json_t *list, const char *path, const char *type) {
    int index = (int)json_array_size(list);
    return json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:s+}", "idx", index, "name",
                                                 *path ? path : "0", "path", path, "type",
                                                 "sentence_transformers.models.", type)) == 0;
}

static bool write_length(heed_ctx *c, const char *dir, const heed_config *f) {
    int64_t most = heed_config_int(f, "embed-tokens");
    return most == 0 || write_file(c, dir, "sentence_bert_config.json",
                                   json_pack("{s:I, s:b}", "max_seq_length", (json_int_t)most,
                                             "do_lower_case", 0));
}

bool heed__modules_write(heed_ctx *c, const char *dir, const heed_config *f, int width) {
    bool cls = strcmp(heed_config_text(f, "pool"), "cls") == 0;
    json_t *list = json_array();
    heed_text pooling = {.c = c};
    bool whole = add_module(list, "", "Transformer") && add_module(list, "1_Pooling", "Pooling") &&
                 (!heed_config_bool(f, "unit") || add_module(list, "2_Normalize", "Normalize"));
    bool ok =
        heed_text_add(&pooling, "%s/1_Pooling", dir) && heed__os_make_dir(c, pooling.s) &&
        write_file(c, pooling.s, "config.json",
                   json_pack("{s:i, s:b, s:b}", "word_embedding_dimension", width,
                             "pooling_mode_cls_token", cls, "pooling_mode_mean_tokens", !cls)) &&
        write_length(c, dir, f) &&
        write_file(c, dir, "modules.json", whole ? json_incref(list) : NULL);
    json_decref(list);
    heed_text_free(&pooling);
    return ok;
}
