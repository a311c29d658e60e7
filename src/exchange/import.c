/* import.c -- the folder of a published model as a run. */
#include "core/core.h"
#include "core/os.h"
#include "exchange/exchange.h"
#include "fit/fit.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    heed_ctx *c;
    const char *dir;
    const heed_model *model;
    const heed_published *p;
    json_t *json; /* config.json */
    heed_text path;
    heed_config *config;
    heed_tokenizer *tokenizer;
    heed__class_names classes;
    heed__weights *weights;
} reading;

/* ---- which model it is ---- */

static const char *text_at(const json_t *config, const char *key) {
    const json_t *v = json_object_get(config, key);
    if (json_is_array(v)) v = json_array_get(v, 0);
    return json_string_value(v);
}

/* A folder may say either the type or the class, or both, which must then belong together. */
static bool is_published_as(const heed_published *p, const char *type, const char *class) {
    if (type && strcmp(type, p->type) != 0) return false;
    char name[HEED__WORD_SIZE];
    for (const char *list = p->architectures; class && heed__list_word(&list, name);)
        if (strcmp(name, class) == 0) return true;
    return !class && type;
}

static void list_known(const heed_model *const *models, heed_text *out) {
    char name[HEED__WORD_SIZE];
    for (; models && *models; models++)
        for (const heed_published *p = (*models)->published; p && p->type; p++)
            for (const char *list = p->architectures; heed__list_word(&list, name);)
                heed_text_add(out, "%s%s", out->n ? ", " : "", name);
}

static bool choose_model(reading *k, const heed_model *const *models) {
    const char *type = text_at(k->json, "model_type"), *class = text_at(k->json, "architectures");
    for (const heed_model *const *m = models; m && *m && !k->p; m++)
        for (const heed_published *p = (*m)->published; p && p->type && !k->p; p++)
            if (is_published_as(p, type, class)) k->model = *m, k->p = p;
    if (k->p) return true;
    char quoted[HEED_QUOTE];
    heed_text known = {.c = k->c};
    const char *found = class ? class : type ? type : "neither architectures nor model_type";
    list_known(models, &known);
    heed_fail(k->c, HEED_DATA, "architecture is unknown: %s: expected one of %s, found %s%s%s",
              k->path.s, known.n ? known.s : "none", heed_quote(quoted, found, strlen(found)),
              type && class ? " of " : "", type && class ? "another model_type" : "");
    heed_text_free(&known);
    return false;
}

/* ---- what belongs to it ---- */

/* Whether the folder has the file, which is an error if it is none that can be read. */
static bool has_file(const reading *k, const char *name) {
    heed_text path = {.c = k->c};
    bool yes = heed_text_add(&path, "%s/%s", k->dir, name) && heed__os_exists(path.s) &&
               heed__plain_file(k->c, path.s);
    heed_text_free(&path);
    return yes;
}

static bool set_number(const reading *k, const char *setting, int64_t value) {
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)value);
    return heed_config_set(k->config, setting, number, k->path.s, HEED_FROM_FILE);
}

/* A classifier reads a pair of texts as [CLS] A [SEP] B [SEP], where B is of the second segment. */
static bool set_segments(const reading *k) {
    int sep = heed_tokenizer_specials(k->tokenizer).sep;
    return sep < 0 || !heed_config_has(k->config, "segment-token") ||
           heed_config_int(k->config, "token-types") < 2 || set_number(k, "segment-token", sep);
}

/* The tokenizer of a model of texts, if the folder has one. */
static bool open_tokenizer(reading *k) {
    static const char *const files[] = {"vocab.txt", "tokenizer.json", "vocab.json"};
    bool any = false;
    if (heed_model_data(k->model)->images) return true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) any |= has_file(k, files[i]);
    has_file(k, "merges.txt");
    has_file(k, "tokenizer_config.json");
    if (!any || heed__stopped(k->c)) return !heed__stopped(k->c);
    k->tokenizer = heed_tokenizer_open(k->c, k->dir);
    if (!k->tokenizer || !set_segments(k)) return false;
    int64_t size = heed_vocab_size(k->tokenizer), rows = heed_config_int(k->config, "vocab");
    if (size == rows) return true;
    if (size > rows)
        return heed_fail(k->c, HEED_DATA,
                         "tokenizer does not fit the model: %s: expected at most %lld tokens, "
                         "vocab_size in config.json, found %lld",
                         k->dir, (long long)rows, (long long)size);
    return set_number(k, "vocab-rows", rows);
}

static bool read_folder(reading *k, const heed_model *const *models) {
    if (!heed__os_is_dir(k->dir))
        return heed_fail_input(k->c, k->dir, false,
                               "model is missing: %s: expected a folder with config.json, found %s",
                               k->dir, heed__os_exists(k->dir) ? "a file" : "nothing");
    if (!heed_text_add(&k->path, "%s/config.json", k->dir)) return false;
    k->json = heed__plain_json(k->c, k->path.s);
    if (!k->json || !choose_model(k, models)) return false;
    k->config = heed_train_config(k->c, k->model);
    if (!k->config || !heed__keys_read(k->c, k->p, k->json, k->path.s, k->config)) return false;
    if (heed_config_has(k->config, "classes") &&
        !heed__classes_read(k->c, k->json, k->path.s, &k->classes))
        return false;
    if (heed_model_data(k->model)->images && !heed__pictures_read(k->c, k->dir, k->config))
        return false;
    if (k->p->vectors && !heed__modules_read(k->c, k->dir, k->config)) return false;
    k->weights = heed__weights_open(k->c, k->p, k->dir);
    return k->weights && heed__weights_present(k->weights, k->config) &&
           heed__weights_check(k->weights, k->config, k->path.s) && open_tokenizer(k);
}

/* ---- the run ---- */

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '-' || c == '_'; }

/* Whether the text has the name as a whole word. */
static bool mentions(const char *text, const char *name) {
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at++)
        if ((at == text || !is_name(at[-1])) && !is_name(at[n])) return true;
    return false;
}

/* The model refuses settings, which came from config.json: the error names its keys as well. */
static void name_keys(reading *k) {
    char setting[HEED__WORD_SIZE];
    heed_text why = {.c = NULL}, keys = {.c = NULL};
    const char *error = heed_ctx_error(k->c), *hint = strstr(error, "; hint:");
    for (const char *s = error; *s && s != hint; s++)
        if (*s != '`') heed_text_put(&why, s, 1);
    for (const heed_published_key *row = k->p->keys; row->key && why.s; row++)
        for (const char *list = row->settings; list && heed__list_word(&list, setting);)
            if (mentions(why.s, setting) && !(keys.s && mentions(keys.s, setting)) && !row->repeats)
                heed_text_add(&keys, "%s%s is %s", keys.n ? ", " : " (", setting, row->key);
    heed_clear(k->c);
    heed_fail(k->c, HEED_DATA, "model cannot be represented: %s: %s%s%s", k->path.s,
              why.s ? why.s : "", keys.s ? keys.s : "", keys.s ? ")" : "");
    heed_text_free(&why);
    heed_text_free(&keys);
}

heed_run *heed_import(heed_ctx *c, const char *dir, const heed_model *const *models) {
    if (heed__stopped(c) || !dir) return NULL;
    reading k = {.c = c, .dir = dir, .path = {.c = c}};
    heed_run *r = NULL;
    if (read_folder(&k, models)) {
        r = heed__run_start(c, k.model, k.config, k.tokenizer, k.classes.names, k.classes.count);
        k.config = NULL;
        k.tokenizer = NULL;
        if (r && !(heed__run_build(r, NULL) && heed__weights_read(k.weights, r->config, r->store) &&
                   heed__weights_are_finite(r->store, dir))) {
            heed_run_close(r);
            r = NULL;
        }
    }
    if (k.p && heed_ctx_status(c) == HEED_USAGE) name_keys(&k);
    heed__weights_close(k.weights);
    heed__classes_free(&k.classes);
    heed_tokenizer_free(k.tokenizer);
    heed_config_free(k.config);
    json_decref(k.json);
    heed_text_free(&k.path);
    return r;
}
