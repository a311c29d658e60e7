/* transformers.c -- models in the folders of Hugging Face's transformers: config.json as settings
 * and back, the names, shapes and values of tensors, the names of classes, how pictures are
 * prepared (ViTImageProcessor: resize, crop, rescale, normalise) and how sentence-transformers
 * makes vectors of texts (Reimers & Gurevych 2019); import, export and the vector of a text. */
#include "core/core.h"
#include "core/os.h"
#include "core/params.h"
#include "fit/fit.h"
#include "io/io.h"
#include "tokenizer/tokenizer.h"

#include <ctype.h>
#include <heed/exchange.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- config.json ---- */

enum { WORD_SIZE = 200 };
/* The run as hints name it. */
static const char *source_of(const heed_run *r) { return *r->dir ? r->dir : "RUN"; }

/* Keys of every architecture that do not change what it computes. */
static const char harmless[] =
    "architectures model_type transformers_version torch_dtype dtype _name_or_path use_cache "
    "initializer_range gradient_checkpointing output_attentions output_hidden_states return_dict "
    "return_dict_in_generate torchscript use_bfloat16 is_encoder_decoder bos_token_id eos_token_id "
    "pad_token_id sep_token_id cls_token_id mask_token_id unk_token_id decoder_start_token_id "
    "id2label label2id num_labels finetuning_task _num_labels task_specific_params "
    "attn_implementation _attn_implementation _attn_implementation_autoset tokenizer_class "
    "chunk_size_feed_forward cross_attention_hidden_size tie_encoder_decoder pruned_heads prefix "
    "max_length min_length do_sample num_beams temperature top_k top_p repetition_penalty "
    "transformers.js_config classifier_dropout hidden_dropout embed_dropout problem_type "
    "output_past "
    "model_max_length vocab_size_or_config_json_file loss_type summary_* n_special "
    "predict_special_tokens eos_token_ids sentence_transformers unsloth_* *_flash_attn_2_enabled "
    "max_sequence_length attention_type rope_interleaved name_or_path";
/* Keys that replace the architecture's code, its weights or its mask. */
static const char changing[] = "quantization_config auto_map adapter_config is_causal";

/* A word of a list with spaces between; false at the end. */
static bool list_word(const char **list, char word[WORD_SIZE]) {
    *list += strspn(*list, " ");
    size_t n = strcspn(*list, " ");
    snprintf(word, WORD_SIZE, "%.*s", (int)n, *list);
    *list += n;
    return n > 0;
}

/* Whether one of the patterns of such a list matches. */
static bool matches_any(const char *patterns, const char *text) {
    char pattern[WORD_SIZE];
    while (patterns && list_word(&patterns, pattern))
        if (heed_match(pattern, text)) return true;
    return false;
}

/* The value at "rope_parameters.rope_theta"; NULL: absent. */
static json_t *key_get(const json_t *config, const char *key) {
    const char *dot = strchr(key, '.');
    char first[64];
    if (!dot) return json_object_get(config, key);
    snprintf(first, sizeof first, "%.*s", (int)(dot - key), key);
    return json_object_get(json_object_get(config, first), dot + 1);
}

static char *json_line(const json_t *v) {
    return json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
}

/* A value quoted for a message; "nothing" if v is NULL. Returns out. */
static const char *json_quote(char out[HEED_QUOTE], const json_t *v) {
    char *text = v && !json_is_string(v) ? json_line(v) : NULL;
    const char *found = json_is_string(v) ? json_string_value(v) : text;
    if (found)
        heed_quote(out, found, strlen(found));
    else
        snprintf(out, HEED_QUOTE, "nothing");
    free(text);
    return out;
}

/* v: what the key has; NULL: nothing. */
static bool wrong(heed_ctx *c, const char *what, const char *path, const char *key,
                  const char *expected, const json_t *v) {
    char found[HEED_QUOTE];
    return heed_fail(c, HEED_DATA, "%s: %s: %s: expected %s, found %s", what, path, key, expected,
                     json_quote(found, v));
}
static const char NOT_OURS[] = "model cannot be represented";

/* ---- files of the folder ---- */

/* Refuses a file that is there, but is a pipe or a device: reading it might never end. */
static bool is_plain(heed_ctx *c, const char *path) {
    if (!heed__os_exists(path) || heed__os_is_file(path) || heed__os_is_dir(path)) return true;
    return heed_fail(c, HEED_DATA, "cannot read %s: expected a file, found a pipe or a device",
                     path);
}

static json_t *plain_json(heed_ctx *c, const char *path) {
    return is_plain(c, path) ? heed__json_read(c, path) : NULL;
}

/* FOLDER/NAME, or FOLDER/SUB/NAME; NULL, without an error, if there is no such file. */
static json_t *read_file(heed_ctx *c, const char *dir, const char *sub, const char *name,
                         heed_text *path) {
    path->n = 0;
    if (!heed_text_add(path, "%s/%s%s%s", dir, sub, *sub ? "/" : "", name)) return NULL;
    return heed__os_exists(path->s) ? plain_json(c, path->s) : NULL;
}

/* Frees value; NULL: out of memory. */
static bool write_file(heed_ctx *c, const char *dir, const char *name, json_t *value) {
    heed_text path = {.c = c};
    bool ok = heed_text_add(&path, "%s/%s", dir, name) && heed__json_write(c, path.s, value);
    heed_text_free(&path);
    json_decref(value);
    return ok;
}

/* ---- reading ---- */

static heed_option_kind kind_of(const heed_config *f, const char *setting) {
    for (int i = 0; i < heed_config_count(f); i++) {
        const heed_option *o = heed_config_at(f, i, NULL);
        if (strcmp(o->name, setting) == 0) return o->kind;
    }
    return HEED_OPTION_STRING;
}

/* Whether config.json has null by default, which is 0 in the setting. */
static bool is_null_key(const heed_hf_key *k) { return k->value && strcmp(k->value, "null") == 0; }

/* What a key must have for a setting of this kind; NULL: v is such a value. null is one where the
 * default is null or 0; where it is null, the number 0 is none. */
static const char *wrong_kind(const heed_hf_key *k, heed_option_kind kind, const json_t *v) {
    bool null = is_null_key(k);
    if (json_is_null(v) &&
        (null || (k->value && strtod(k->value, NULL) == 0 && kind == HEED_OPTION_REAL)))
        return NULL;
    if (kind == HEED_OPTION_BOOL) return json_is_boolean(v) ? NULL : "true or false";
    if (kind != HEED_OPTION_INT && kind != HEED_OPTION_REAL)
        return json_is_string(v) ? NULL : "a word";
    if (json_is_number(v) && !(null && json_number_value(v) == 0)) return NULL;
    return null ? "null or a number other than 0" : "a number";
}

/* The value as a setting has it: a number, a word, true or false; null is 0. Free with
 * heed_text_free. */
static bool value_text(const json_t *v, heed_text *out) {
    if (json_is_string(v)) return heed_text_add(out, "%s", json_string_value(v));
    if (json_is_integer(v)) return heed_text_add(out, "%lld", (long long)json_integer_value(v));
    if (json_is_real(v)) return heed__put_number(out, json_real_value(v));
    if (json_is_boolean(v)) return heed_text_add(out, json_is_true(v) ? "true" : "false");
    return heed_text_add(out, "0");
}

/* Finds TEXT in "TEXT=SETTING ..."; in a list without "=", TEXT itself. */
static bool translate(const char *values, const char *text, bool back, char out[WORD_SIZE]) {
    char word[WORD_SIZE];
    while (list_word(&values, word)) {
        char *equal = strchr(word, '=');
        if (equal) *equal++ = 0;
        const char *theirs = word, *ours = equal ? equal : word;
        if (strcmp(back ? ours : theirs, text) != 0) continue;
        snprintf(out, WORD_SIZE, "%s", back ? theirs : ours);
        return true;
    }
    return false;
}

/* A key that no setting has: it must be the value that the architecture has here. */
static bool check_fixed(heed_ctx *c, const heed_hf_key *k, const json_t *v, const char *path) {
    bool flag = strcmp(k->value, "true") == 0 || strcmp(k->value, "false") == 0;
    if (flag && !json_is_boolean(v)) return wrong(c, NOT_OURS, path, k->key, "true or false", v);
    char *found = json_line(v), word[WORD_SIZE];
    if (!found) return heed_fail(c, HEED_FAILED, "cannot read %s: out of memory", path);
    bool same =
        strcmp(found, k->value) == 0 || json_is_null(v) ||
        (json_is_number(v) && *k->value != '"' && json_number_value(v) == strtod(k->value, NULL)) ||
        (json_is_string(v) && k->values && translate(k->values, json_string_value(v), false, word));
    free(found);
    return same || wrong(c, NOT_OURS, path, k->key, k->values ? k->values : k->value, v);
}

/* A number that a setting has already keeps its text: equal settings are equal metadata. */
static bool set_all(const heed_hf_key *k, const char *value, const char *path, heed_config *f) {
    char setting[WORD_SIZE], where[1024];
    snprintf(where, sizeof where, "%s: %s", path, k->key);
    for (const char *list = k->settings; list_word(&list, setting);) {
        const char *now = heed_config_text(f, setting);
        if (heed_config_rank(f, setting) != HEED_FROM_FILE &&
            !heed_config_set(f, setting, heed__same_value(now, value) ? now : value, where,
                             HEED_FROM_FILE))
            return false;
    }
    return true;
}

/* What a key "rope_parameters.rope_theta" is in must be an object, null or absent. */
static bool check_parent(heed_ctx *c, const heed_hf_key *k, const json_t *config,
                         const char *path) {
    const char *dot = strchr(k->key, '.');
    char parent[64], quoted[HEED_QUOTE];
    snprintf(parent, sizeof parent, "%.*s", (int)(dot ? dot - k->key : 0), k->key);
    const json_t *v = json_object_get(config, parent);
    if (!dot || !v || json_is_object(v) || json_is_null(v)) return true;
    const char *found = json_is_string(v) ? json_string_value(v) : "a number or a list";
    return heed_fail(c, HEED_DATA,
                     "model cannot be represented: %s: %s: expected an object, found %s", path,
                     parent, heed_quote(quoted, found, strlen(found)));
}

static bool read_key(heed_ctx *c, const heed_hf_key *k, const json_t *config, const char *path,
                     heed_config *f) {
    if (!check_parent(c, k, config, path)) return false;
    const json_t *given = key_get(config, k->key);
    if (k->repeats || (!given && (!k->value || !k->settings))) return true;
    if (!k->settings) return check_fixed(c, k, given, path);
    json_error_t e;
    json_t *usual = given ? NULL : json_loads(k->value, JSON_DECODE_ANY, &e);
    if (!given && !usual) return heed_fail(c, HEED_FAILED, "cannot read %s: out of memory", path);
    heed_text text = {.c = c};
    char word[WORD_SIZE], setting[WORD_SIZE];
    const char *list = k->settings;
    list_word(&list, setting);
    const char *expected = given ? wrong_kind(k, kind_of(f, setting), given) : NULL;
    bool ok = value_text(given ? given : usual, &text);
    if (ok && k->values && !translate(k->values, text.s, false, word)) expected = k->values;
    if (ok && expected) ok = wrong(c, NOT_OURS, path, k->key, expected, given);
    ok = ok && set_all(k, k->values ? word : text.s, path, f);
    heed_text_free(&text);
    json_decref(usual);
    return ok;
}

/* Whether a row is about this key of config.json, or about a key in the object that it has. */
static bool is_known(const heed_hf_map *p, const char *key) {
    size_t n = strlen(key);
    for (const heed_hf_key *k = p->keys; k->key; k++)
        if (strncmp(k->key, key, n) == 0 && (k->key[n] == 0 || k->key[n] == '.')) return true;
    return matches_any(harmless, key) || matches_any(p->harmless, key);
}

/* Warns of the members that no row is about of an object "rope_parameters" that rows are about. */
static void check_members(heed_ctx *c, const heed_hf_map *p, const char *parent,
                          const json_t *object, const char *path) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        char whole[WORD_SIZE], quoted[HEED_QUOTE];
        bool known = false;
        snprintf(whole, sizeof whole, "%s.%s", parent, key);
        for (const heed_hf_key *k = p->keys; k->key; k++) known |= strcmp(k->key, whole) == 0;
        if (!known && !json_is_null(value))
            heed_message(c, HEED_WARN, "a key of %s is ignored: %s is not known to belong to %s",
                         path, heed_quote(quoted, whole, strlen(whole)), p->type);
    }
}

/* Whether a row is about a member of the object that the key has. */
static bool has_members(const heed_hf_map *p, const char *key) {
    size_t n = strlen(key);
    for (const heed_hf_key *k = p->keys; k->key; k++)
        if (strncmp(k->key, key, n) == 0 && k->key[n] == '.') return true;
    return false;
}

/* What the architecture has no key for is ignored, as transformers does. */
static bool check_others(heed_ctx *c, const heed_hf_map *p, const json_t *config,
                         const char *path) {
    const char *key;
    json_t *value;
    char quoted[HEED_QUOTE];
    json_object_foreach((json_t *)(uintptr_t)config, key, value) {
        heed_quote(quoted, key, strlen(key));
        if (matches_any(changing, key) && !json_is_null(value))
            return heed_fail(c, HEED_DATA,
                             "model cannot be represented: %s: %s: expected none, as it changes "
                             "the weights, the code or the mask",
                             path, quoted);
        if (!is_known(p, key) && !json_is_null(value) && !json_is_false(value))
            heed_message(c, HEED_WARN, "a key of %s is ignored: %s is not known to belong to %s",
                         path, quoted, p->type);
        if (has_members(p, key)) check_members(c, p, key, value, path);
    }
    return true;
}

/* Sets what config.json gives of p's keys in f, and checks all others. path: of config.json. */
static bool read_keys(heed_ctx *c, const heed_hf_map *p, const json_t *config, const char *path,
                      heed_config *f) {
    if (!heed_config_set_list(f, p->settings, path, HEED_FROM_PRESET)) return false;
    for (const heed_hf_key *k = p->keys; k->key; k++)
        if (!read_key(c, k, config, path, f)) return false;
    return check_others(c, p, config, path);
}

/* ---- writing ---- */

/* Whether a setting has a value; one that is `auto` has it by the others: the tensors tell. */
static bool has_value(const heed_config *f, const char *setting, const char *value) {
    const char *own = heed_config_has(f, setting) ? heed_config_text(f, setting) : value;
    return heed__same_value(own, value) || strcmp(own, "auto") == 0;
}

static bool put_flag(heed_text *out, const heed_config *f, const char *setting, const char *value) {
    bool is_switch = kind_of(f, setting) == HEED_OPTION_BOOL, on = strcmp(value, "true") == 0;
    return is_switch ? heed_text_add(out, " --%s%s", on ? "" : "no-", setting)
                     : heed_text_add(out, " --%s %s", setting, value);
}

/* Whether f has all settings that p requires. Unless `expected` is NULL, appends those that differ
 * to it, as p requires them, and to `found`, as they are: " `norm = post` `bracket = true`"; and to
 * `flags`, as p requires them: " --norm post --bracket". */
static bool keys_fit(const heed_config *f, const heed_hf_map *p, heed_text *expected,
                     heed_text *found, heed_text *flags) {
    char word[WORD_SIZE];
    bool fit = true;
    for (const char *list = p->settings; list_word(&list, word);) {
        char *value = strchr(word, '=');
        *value++ = 0;
        if (has_value(f, word, value)) continue;
        fit = false;
        if (!expected) break;
        heed_text_add(expected, " `%s = %s`", word, value);
        heed_text_add(found, " `%s = %s`", word, heed_config_text(f, word));
        put_flag(flags, f, word, value);
    }
    return fit;
}

/* A setting as JSON; 0 where config.json has null by default. NULL: the key cannot have it, as that
 * of a table of segments that the run does not have. */
static json_t *setting_value(const heed_run *r, const heed_hf_key *k, const char *setting) {
    const heed_config *f = r->config;
    const char *text = heed_config_text(f, setting);
    const heed_param *e = k->rows ? heed_params_find(r->store, k->rows) : NULL;
    char word[WORD_SIZE];
    heed_option_kind kind = kind_of(f, setting);
    if (kind == HEED_OPTION_INT && is_null_key(k) && heed_config_int(f, setting) == 0)
        return json_null();
    if (k->rows) return e ? json_integer(e->tensor->shape[k->dim]) : NULL;
    if (k->values) return translate(k->values, text, true, word) ? json_string(word) : NULL;
    if (kind == HEED_OPTION_BOOL) return json_boolean(heed_config_bool(f, setting));
    if (kind == HEED_OPTION_REAL) return json_real(heed_config_real(f, setting));
    return kind == HEED_OPTION_INT ? json_integer(heed_config_int(f, setting)) : json_string(text);
}

/* The value of the key, which all its settings must have. */
static json_t *key_value(const heed_run *r, const heed_hf_key *k) {
    json_error_t e;
    char first[WORD_SIZE], other[WORD_SIZE];
    const char *list = k->settings;
    if (!list) return json_loads(k->value, JSON_DECODE_ANY, &e);
    list_word(&list, first);
    while (list_word(&list, other))
        if (!heed__same_value(heed_config_text(r->config, first),
                              heed_config_text(r->config, other))) {
            heed_fail(r->c, HEED_USAGE,
                      "run cannot be exported: `%s = %s`: expected the same as `%s = %s`; hint: "
                      "`export %s --onnx model.onnx` writes any run",
                      other, heed_config_text(r->config, other), first,
                      heed_config_text(r->config, first), source_of(r));
            return NULL;
        }
    json_t *v = setting_value(r, k, first);
    if (!v)
        heed_fail(r->c, HEED_USAGE,
                  "run cannot be exported: `%s = %s`: %s of the published model has no such value; "
                  "hint: `export %s --onnx model.onnx` writes any run",
                  first, heed_config_text(r->config, first), k->key, source_of(r));
    return v;
}

/* Adds the class names, from both sides. */
static bool put_classes(const heed_run *r, json_t *config) {
    json_t *names = json_object(), *ids = json_object();
    bool ok = json_object_set_new(config, "id2label", names) == 0 &&
              json_object_set_new(config, "label2id", ids) == 0;
    for (int i = 0; ok && i < r->label_count; i++) {
        char number[12], quoted[HEED_QUOTE];
        snprintf(number, sizeof number, "%d", i);
        json_t *name = json_string(r->labels[i]);
        ok = name ? json_object_set(names, number, name) == 0 &&
                        json_object_set_new(ids, r->labels[i], json_integer(i)) == 0
                  : heed_fail(r->c, HEED_DATA,
                              "run cannot be exported: labels.txt: line %d: expected UTF-8, found "
                              "%s",
                              i + 1, heed_quote(quoted, r->labels[i], strlen(r->labels[i])));
        json_decref(name);
    }
    return ok;
}

/* The settings and keys of a run as config.json. NULL: p cannot have them, see the error. */
static json_t *write_keys(const heed_run *r, const heed_hf_map *p) {
    json_error_t e;
    char class[WORD_SIZE];
    const char *list = p->architectures;
    list_word(&list, class);
    json_t *config = json_pack("{s:s, s:[s], s:s}", "model_type", p->type, "architectures", class,
                               "dtype", "float32");
    bool ok = config != NULL;
    for (const heed_hf_key *k = p->keys; ok && k->key; k++) {
        if (strchr(k->key, '.') || !k->value || (!k->settings && strcmp(k->value, "null") == 0))
            continue;
        json_t *v = key_value(r, k);
        ok = v && json_object_set_new(config, k->key, v) == 0;
    }
    json_t *more = p->more ? json_loads(p->more, 0, &e) : NULL;
    ok = ok && (!p->more || (more && json_object_update(config, more) == 0));
    json_decref(more);
    ok = ok && (!r->label_count || put_classes(r, config));
    int pad = heed_tokenizer_specials(r->tokenizer).pad;
    if (ok && r->tokenizer && pad >= 0)
        ok = json_object_set_new(config, "pad_token_id", json_integer(pad)) == 0;
    if (ok) return config;
    json_decref(config);
    if (!heed__stopped(r->c)) heed_fail(r->c, HEED_FAILED, "cannot export: out of memory");
    return NULL;
}

/* ---- the names of classes ---- */

/* The names of id2label, or as many as num_labels says. */
typedef struct {
    const char **names;
    char *own; /* memory of names that config.json lacks */
    int count;
} class_names;
enum { CLASSES = 1 << 16, NAME = 24 };

static bool allocate_names(heed_ctx *c, size_t count, class_names *out) {
    out->names = heed__alloc_array(c, count + 1, sizeof *out->names);
    out->own = heed__alloc_array(c, count + 1, NAME);
    out->count = (int)count;
    return out->names && out->own;
}

/* Class i is called LABEL_i, as transformers does, if there are no names. */
static bool name_class(heed_ctx *c, const json_t *names, int i, const char *path,
                       class_names *out) {
    char *own = out->own + (size_t)i * NAME, number[12], key[32];
    snprintf(number, sizeof number, "%d", i);
    snprintf(own, NAME, "LABEL_%d", i);
    snprintf(key, sizeof key, "id2label: %d", i);
    const json_t *given = json_object_get(names, number);
    const char *name = names ? json_string_value(given) : own;
    out->names[i] = name;
    return (name && *name && !strchr(name, '\n')) ||
           wrong(c, "classes are wrong", path, key, "one line of text", given);
}

/* The names of id2label, or as many as num_labels says. */
static bool classes_read(heed_ctx *c, const json_t *config, const char *path, class_names *out) {
    const json_t *names = json_object_get(config, "id2label");
    const json_t *number = json_object_get(config, "num_labels");
    *out = (class_names){.count = 0};
    if (json_is_null(names)) names = NULL;
    if (names && !json_is_object(names))
        return wrong(c, "classes are wrong", path, "id2label", "an object", names);
    if (number && !json_is_integer(number))
        return wrong(c, "classes are wrong", path, "num_labels", "a whole number", number);
    int64_t count = names    ? (int64_t)json_object_size(names)
                    : number ? json_integer_value(number)
                             : 2;
    if (count < 1 || count > CLASSES)
        return heed_fail(c, HEED_DATA,
                         "classes are wrong: %s: id2label: expected 1 to %d, found %lld", path,
                         CLASSES, (long long)count);
    if (!allocate_names(c, (size_t)count, out)) return false;
    for (int i = 0; i < out->count; i++)
        if (!name_class(c, names, i, path, out)) return false;
    return true;
}

static void classes_free(class_names *k) {
    heed__free((void *)(uintptr_t)k->names);
    heed__free(k->own);
    *k = (class_names){.count = 0};
}

/* ---- preprocessor_config.json ---- */

/* Pillow's numbers of the filters. */
static const struct {
    const char *name;
    int code;
} filters[] = {{"nearest", 0}, {"lanczos", 1}, {"bilinear", 2}, {"bicubic", 3}};
enum { FILTERS = sizeof filters / sizeof *filters };
static const char UNLIKE[] = "pictures cannot be prepared in the same way";

/* ---- reading ---- */

static bool check_switches(heed_ctx *c, const json_t *config, const char *path) {
    static const char *const keys[] = {"do_pad", "do_resize", "do_center_crop", "do_rescale",
                                       "do_normalize"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *v = json_object_get(config, keys[i]);
        if (v && !json_is_boolean(v) && !json_is_null(v))
            return wrong(c, UNLIKE, path, keys[i], "true or false", v);
    }
    return true;
}

/* A switch of the processor; absent or null: `usual`. */
static bool is_on(const json_t *config, const char *key, bool usual) {
    const json_t *v = json_object_get(config, key);
    return json_is_boolean(v) ? json_is_true(v) : usual;
}

static bool set_real(heed_config *f, const char *key, double value, const char *path) {
    char text[HEED__NUMBER];
    return heed_config_set(f, key, heed__number_text(text, value, 0), path, HEED_FROM_FILE);
}

/* The side of {"height": N, "width": N} or of a plain N, or, with edge, of {"shortest_edge": N}; 0:
 * there is none. */
static int side_of(const json_t *size, bool edge) {
    const json_t *one = json_is_integer(size) ? size : json_object_get(size, "height");
    const json_t *two = json_is_integer(size) ? size : json_object_get(size, "width");
    if (edge) one = two = json_object_get(size, "shortest_edge");
    json_int_t side = json_integer_value(one);
    return side == json_integer_value(two) && side > 0 && side <= 1 << 16 ? (int)side : 0;
}

/* Both sides become the model's, or the short one another number and the centre is cropped. */
static bool read_size(heed_ctx *c, const json_t *config, const char *path, heed_config *f) {
    const json_t *size = json_object_get(config, "size");
    int model = (int)heed_config_int(f, "image-size"), edge = side_of(size, true);
    bool crops = is_on(config, "do_center_crop", false);
    int square = crops  ? side_of(json_object_get(config, "crop_size"), false)
                 : size ? side_of(size, false)
                        : 224;
    char expected[80];
    snprintf(expected, sizeof expected, "height and width %d, those of the model", model);
    const char *key = crops ? "crop_size" : "size";
    if (square != model) return wrong(c, UNLIKE, path, key, expected, json_object_get(config, key));
    if (crops && (!edge || edge < model))
        return wrong(c, UNLIKE, path, "size", "a shortest_edge of at least crop_size", size);
    return set_real(f, "resize-to", crops ? edge : -1, path);
}

static bool read_filter(heed_ctx *c, const json_t *config, const char *path, heed_config *f) {
    const json_t *code = json_object_get(config, "resample");
    for (int i = 0; i < FILTERS; i++)
        if (json_is_integer(code) ? json_integer_value(code) == filters[i].code
                                  : !code && filters[i].code == 2)
            return heed_config_set(f, "resample", filters[i].name, path, HEED_FROM_FILE);
    return wrong(c, UNLIKE, path, "resample",
                 "0 (nearest), 1 (lanczos), 2 (bilinear) or 3 (bicubic)", code);
}

/* Sets mean or std to a list of one or three numbers, each divided by `by`. */
static bool read_list(heed_ctx *c, const json_t *v, double usual, double by, const char *key,
                      const char *path, heed_config *f) {
    char number[HEED__NUMBER];
    heed_text text = {.c = c};
    size_t count = json_is_array(v) ? json_array_size(v) : 1;
    bool ok = count == 1 || count == 3, mean = strcmp(key, "mean") == 0;
    for (size_t i = 0; ok && i < count; i++) {
        const json_t *x = json_is_array(v) ? json_array_get(v, i) : v;
        double value = (x ? json_number_value(x) : usual) / by;
        ok = (!x || json_is_number(x)) && (value > 0 || mean);
        heed__number_text(number, value, 0);
        ok = ok && heed_text_add(&text, "%s%s", i ? "," : "", number);
    }
    ok = ok ? heed_config_set(f, key, text.s, path, HEED_FROM_FILE)
            : wrong(c, UNLIKE, path, mean ? "image_mean" : "image_std",
                    mean ? "one number, or three" : "one number, or three, above 0", v);
    heed_text_free(&text);
    return ok;
}

/* (x factor - mean) / deviation is (x/255 - mean/k) / (deviation/k), with k = 255 factor. */
static bool read_scale(heed_ctx *c, const json_t *config, const char *path, heed_config *f) {
    bool rescales = is_on(config, "do_rescale", true), normal = is_on(config, "do_normalize", true);
    const json_t *factor = json_object_get(config, "rescale_factor");
    if (json_is_null(factor)) factor = NULL;
    if (factor && !json_is_number(factor))
        return wrong(c, UNLIKE, path, "rescale_factor", "a number above 0", factor);
    double by = !rescales ? 255 : factor ? 255 * json_number_value(factor) : 1;
    if (fabs(by - 1) < 1e-9) by = 1; /* 0.00392156862745098 */
    if (!(by > 0) || !isfinite(by))
        return wrong(c, UNLIKE, path, "rescale_factor", "a number above 0", factor);
    const json_t *mean = normal ? json_object_get(config, "image_mean") : NULL;
    const json_t *deviation = normal ? json_object_get(config, "image_std") : NULL;
    return read_list(c, mean, normal ? 0.5 : 0, by, "mean", path, f) &&
           read_list(c, deviation, normal ? 0.5 : 1, by, "std", path, f);
}

/* The names that ViTImageProcessor has had. Others that begin so differ from it. */
static bool check_type(heed_ctx *c, const json_t *config, const char *path) {
    const char *key = "image_processor_type";
    const json_t *type = json_object_get(config, key);
    if (!type || json_is_null(type)) type = json_object_get(config, key = "feature_extractor_type");
    if (!type || json_is_null(type) ||
        (json_is_string(type) && matches_any("ViTImageProcessor ViTImageProcessorFast "
                                             "ViTImageProcessorPil ViTFeatureExtractor",
                                             json_string_value(type))))
        return true;
    return wrong(c, UNLIKE, path, key, "ViTImageProcessor", type);
}

static bool read_processor(heed_ctx *c, const json_t *config, const char *path, heed_config *f) {
    if (!check_type(c, config, path) || !check_switches(c, config, path)) return false;
    if (is_on(config, "do_pad", false))
        return wrong(c, UNLIKE, path, "do_pad", "false", json_object_get(config, "do_pad"));
    if (!is_on(config, "do_resize", true))
        return wrong(c, UNLIKE, path, "do_resize", "true", json_object_get(config, "do_resize"));
    return read_size(c, config, path, f) && read_filter(c, config, path, f) &&
           read_scale(c, config, path, f);
}

/* Reads preprocessor_config.json, if the folder has it; else the processor's usual values. */
static bool read_pictures(heed_ctx *c, const char *dir, heed_config *f) {
    heed_text path = {.c = c};
    json_t *config = read_file(c, dir, "", "preprocessor_config.json", &path);
    bool ok =
        !heed__stopped(c) && heed_config_set_list(f, "flip=0 convert=true", dir, HEED_FROM_FILE) &&
        (config ? read_processor(c, config, path.s, f)
                : heed_config_set_list(f, "mean=0.5 std=0.5 resize-to=-1", dir, HEED_FROM_FILE));
    json_decref(config);
    heed_text_free(&path);
    return ok;
}

/* ---- writing ---- */

/* NULL: out of memory. */
static json_t *list_of(const double *x, int count) {
    json_t *list = json_array();
    bool ok = list != NULL;
    for (int i = 0; ok && i < count; i++) ok = json_array_append_new(list, json_real(x[i])) == 0;
    if (ok) return list;
    json_decref(list);
    return NULL;
}

static bool write_pictures(heed_ctx *c, const char *dir, const heed_config *f) {
    heed_image_transform v;
    if (!heed_image_transform_of(c, f, &v)) return false;
    int code = 2, to = v.resize_to ? v.resize_to : v.size;
    for (int i = 0; i < FILTERS; i++)
        if (strcmp(filters[i].name, heed_config_text(f, "resample")) == 0) code = filters[i].code;
    json_t *square = json_pack("{s:i, s:i}", "height", v.size, "width", v.size);
    json_t *size = to < 0 ? json_incref(square) : json_pack("{s:i}", "shortest_edge", to);
    json_t *config = json_pack(
        "{s:s, s:b, s:o, s:i, s:b, s:f, s:b, s:o, s:o, s:b}", "image_processor_type",
        "ViTImageProcessor", "do_resize", 1, "size", size, "resample", code, "do_rescale", 1,
        "rescale_factor", 1 / 255.0, "do_normalize", 1, "image_mean", list_of(v.mean, v.channels),
        "image_std", list_of(v.deviation, v.channels), "do_center_crop", (int)(to > 0));
    bool whole = config && (to <= 0 || json_object_set(config, "crop_size", square) == 0);
    json_decref(square);
    if (whole) return write_file(c, dir, "preprocessor_config.json", config);
    json_decref(config);
    return heed_fail(c, HEED_FAILED, "cannot export: out of memory");
}

/* ---- modules.json ---- */

static bool refuse_module(heed_ctx *c, const char *path, const char *what) {
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
        if (mode) return refuse_module(c, path, "several kinds of pooling");
        mode = json_is_string(value) ? json_string_value(value) : key;
    }
    bool mean = mode && (!strcmp(mode, "pooling_mode_mean_tokens") || !strcmp(mode, "mean"));
    bool cls = mode && (!strcmp(mode, "pooling_mode_cls_token") || !strcmp(mode, "cls"));
    if (!mean && !cls) return refuse_module(c, path, mode ? mode : "no kind of pooling");
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
        return refuse_module(c, path, type);
    heed_text file = {.c = c};
    json_t *config = read_file(c, dir, sub, "config.json", &file);
    bool ok = config
                  ? read_pooling(c, config, file.s, f)
                  : !heed__stopped(c) && refuse_module(c, path, "Pooling without its config.json");
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
        ok = refuse_module(c, path.s, "do_lower_case");
    if (ok && json_is_integer(most)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(most));
        ok = heed_config_set(f, "embed-tokens", number, path.s, HEED_FROM_FILE);
    }
    json_decref(config);
    heed_text_free(&path);
    return ok;
}

/* Sets `pool` and `unit` as modules.json says, if the folder has it. */
static bool read_modules(heed_ctx *c, const char *dir, heed_config *f) {
    heed_text path = {.c = c};
    json_t *list = read_file(c, dir, "", "modules.json", &path);
    bool ok = !heed__stopped(c);
    if (list && !json_is_array(list)) ok = refuse_module(c, path.s, "no list");
    for (size_t i = 0; ok && i < json_array_size(list); i++)
        ok = read_module(c, dir, json_array_get(list, i), path.s, f);
    json_decref(list);
    heed_text_free(&path);
    return ok && read_length(c, dir, f);
}

/* ---- writing ---- */

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

static bool write_modules(heed_ctx *c, const char *dir, const heed_config *f, int width) {
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

/* ---- tensors ---- */

/* A published tensor, and the rows of the parameter that it holds. */
typedef struct {
    char name[WORD_SIZE];
    int dims, shape[HEED_DIMS + 1];
    int from, rows, paired; /* paired: columns of a head, in pairs; 0: as they are here */
    heed_hf_form form;
} published_part;

/* ---- names ---- */

/* Whether name is the pattern, in which # is a number. */
static bool fits(const char *pattern, const char *name, char number[12]) {
    number[0] = 0;
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*name++ != *pattern) return false;
            continue;
        }
        size_t digits = strspn(name, "0123456789");
        if (!digits || digits > 11) return false;
        snprintf(number, 12, "%.*s", (int)digits, name);
        name += digits;
    }
    return !*name;
}

/* The row of p's table for a parameter, from `row` on; NULL: there is none. number: what # is. */
static const heed_hf_tensor *row_for(const heed_hf_tensor *row, const char *name, char number[12]) {
    for (; row->name; row++)
        if (fits(row->name, name, number)) return row;
    return NULL;
}

/* Replaces the # of a name by the number. */
static void put_number(char name[WORD_SIZE], const char *number) {
    char *at = strchr(name, '#'), rest[WORD_SIZE];
    if (!at) return;
    snprintf(rest, sizeof rest, "%s", at + 1);
    snprintf(at, (size_t)(WORD_SIZE - (at - name)), "%s%s", number, rest);
}

/* ---- shapes ---- */

/* The ranges of e, or, for a bias, of its weight. */
static const heed_range *ranges_of(const heed_params *s, const heed_param *e) {
    char weight[WORD_SIZE];
    size_t n = strlen(e->name), ending = strlen(".bias");
    if (e->ranges[0].count || n <= ending || strcmp(e->name + n - ending, ".bias") != 0)
        return e->ranges;
    snprintf(weight, sizeof weight, "%.*s.weight", (int)(n - ending), e->name);
    const heed_param *beside = heed_params_find(s, weight);
    return beside ? beside->ranges : e->ranges;
}

static void set_shape(published_part *part, const heed_tensor *own) {
    part->dims = 0;
    if (part->form == HEED_HF_LEADING) part->shape[part->dims++] = 1;
    for (int i = 0; i < own->dims; i++) part->shape[part->dims++] = i ? own->shape[i] : part->rows;
    if (part->form != HEED_HF_TRANSPOSED || part->dims != 2) return;
    part->shape[0] = own->shape[1];
    part->shape[1] = part->rows;
}

/* The tensors of a row for an entry of s; returns how many, 0 if its ranges do not fit. */
static int parts_of(const heed_hf_tensor *row, const char *number, const heed_config *f,
                    const heed_params *s, const heed_param *e, published_part parts[HEED_RANGES]) {
    const heed_range *ranges = ranges_of(s, e);
    bool paired = row->form == HEED_HF_PAIRED;
    int head = paired ? (int)(heed_config_int(f, "width") / heed_config_int(f, "heads")) : 0;
    int count = 0, from = 0, all = e->tensor->shape[0];
    char word[WORD_SIZE];
    for (const char *list = row->published; list_word(&list, word); count++) {
        if (count == HEED_RANGES) return 0;
        published_part *part = &parts[count];
        bool several = strchr(row->published, ' ') != NULL;
        int rows = several ? ranges[count].count : all;
        *part = (published_part){.form = row->form, .from = from, .rows = rows};
        part->paired = count < 2 ? head : 0; /* queries and keys, but not values */
        memcpy(part->name, word, sizeof word);
        put_number(part->name, number);
        if (several && ranges[count].from != from) return 0;
        from += part->rows;
        set_shape(part, e->tensor);
    }
    return from == all ? count : 0;
}

/* The row of the parameter that is row r of its tensor. */
static size_t own_row(const published_part *part, size_t r) {
    size_t head = (size_t)part->paired, within = head ? r % head : 0;
    return r - within + within % 2 * (head / 2) + within / 2;
}

/* Copies between a parameter and the values of one of its tensors. */
static void copy_part(const published_part *part, heed_tensor *own, heed_real *values, bool out) {
    size_t width = own->size / (size_t)own->shape[0], rows = (size_t)part->rows;
    heed_real *x = own->x + (size_t)part->from * width;
    bool transposed = part->form == HEED_HF_TRANSPOSED;
    for (size_t r = 0; r < rows; r++) {
        heed_real *row = x + own_row(part, r) * width;
        for (size_t i = 0; i < width; i++) {
            heed_real *mine = &row[i], *theirs = &values[transposed ? i * rows + r : r * width + i];
            *(out ? theirs : mine) = *(out ? mine : theirs);
        }
    }
}

/* ---- the tensors of a folder ---- */

/* name: as the tables have it, but without the prefix. */
typedef struct {
    char name[WORD_SIZE];
    const heed_safetensors *file;
    const heed_array *array;
    bool used;
} found_tensor;

enum { SHARDS = 1024 };
typedef struct {
    heed_ctx *c;
    const heed_hf_map *p;
    const char *dir;
    heed_safetensors *files[SHARDS];
    int file_count;
    found_tensor *list;
    size_t count, capacity;
} weights;

static const char *without_prefix(const heed_hf_map *p, const char *name) {
    size_t n = p->prefix ? strlen(p->prefix) : 0;
    return n && strncmp(name, p->prefix, n) == 0 ? name + n : name;
}

/* Replaces the parts of a name that the tables know by others. */
static bool rename_parts(const heed_hf_map *p, char name[WORD_SIZE]) {
    for (const char *const *pair = p->renames; pair && pair[0]; pair += 2) {
        char *at = strstr(name, pair[0]), rest[WORD_SIZE];
        if (!at) continue;
        snprintf(rest, sizeof rest, "%s", at + strlen(pair[0]));
        if (strlen(name) + strlen(pair[1]) >= WORD_SIZE) return false;
        snprintf(at, (size_t)(WORD_SIZE - (at - name)), "%s%s", pair[1], rest);
    }
    return true;
}

/* Of names, or of tensors, which begin with theirs. */
static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* Sorts the tensors by name; none may be there twice. */
static bool sort_tensors(weights *w) {
    char quoted[HEED_QUOTE];
    if (w->count) qsort(w->list, w->count, sizeof *w->list, by_name);
    for (size_t i = 1; i < w->count; i++)
        if (strcmp(w->list[i - 1].name, w->list[i].name) == 0)
            return heed_fail(
                w->c, HEED_DATA, "tensor is there twice: %s: %s", w->dir,
                heed_quote(quoted, w->list[i].array->name, strlen(w->list[i].array->name)));
    return true;
}

static found_tensor *find(const weights *w, const char *name) {
    name = without_prefix(w->p, name);
    return w->count ? bsearch(name, w->list, w->count, sizeof *w->list, by_name) : NULL;
}

static bool add_tensor(weights *w, const heed_safetensors *file, const heed_array *a) {
    char quoted[HEED_QUOTE], name[WORD_SIZE];
    heed_quote(quoted, a->name, strlen(a->name));
    bool ok = strlen(a->name) < sizeof name;
    if (ok) {
        snprintf(name, sizeof name, "%s", a->name);
        ok = rename_parts(w->p, name);
    }
    if (!ok)
        return heed_fail(w->c, HEED_DATA, "name of a tensor is too long: %s: %s", w->dir, quoted);
    if (!heed__grow(w->c, &w->list, &w->capacity, w->count + 1, sizeof *w->list)) return false;
    found_tensor *to = &w->list[w->count++];
    *to = (found_tensor){.file = file, .array = a};
    snprintf(to->name, sizeof to->name, "%s", without_prefix(w->p, name));
    return true;
}

static bool add_file(weights *w, const char *name) {
    heed_text path = {.c = w->c};
    if (w->file_count == SHARDS)
        return heed_fail(w->c, HEED_DATA, "too many files of weights: %s: expected at most %d",
                         w->dir, SHARDS);
    bool plain = heed_text_add(&path, "%s/%s", w->dir, name) && is_plain(w->c, path.s);
    heed_safetensors *f = plain ? heed__safetensors_head(w->c, path.s) : NULL;
    heed_text_free(&path);
    if (!f) return false;
    w->files[w->file_count++] = f;
    for (int i = 0; i < heed_safetensors_count(f); i++)
        if (!add_tensor(w, f, heed_safetensors_at(f, i))) return false;
    return true;
}

/* ---- shards ---- */

/* {"weight_map": {"TENSOR": "FILE"}}; the files lie in the same folder. */
static bool add_shards(weights *w, const char *path) {
    json_t *index = plain_json(w->c, path), *value, *seen = json_object();
    const json_t *map = json_object_get(index, "weight_map");
    const char *key;
    bool ok = index && seen;
    if (ok && !json_is_object(map))
        ok = heed_fail(w->c, HEED_DATA,
                       "list of weights is wrong: %s: expected an object weight_map", path);
    json_object_foreach(ok ? (json_t *)(uintptr_t)map : NULL, key, value) {
        const char *file = json_string_value(value);
        char quoted[HEED_QUOTE];
        if (!file || !*file || strchr(file, '/') || file[0] == '.')
            ok = heed_fail(w->c, HEED_DATA,
                           "list of weights is wrong: %s: %s: expected a file of this folder", path,
                           heed_quote(quoted, key, strlen(key)));
        if (ok && !json_object_get(seen, file))
            ok = add_file(w, file) && json_object_set_new(seen, file, json_true()) == 0;
        if (!ok) break;
    }
    json_decref(index);
    json_decref(seen);
    return ok || heed_fail(w->c, HEED_FAILED, "cannot read %s: out of memory", path);
}

/* model.safetensors, or the shards that model.safetensors.index.json lists. */
static bool add_files(weights *w) {
    heed_text whole = {.c = w->c}, index = {.c = w->c};
    bool ok = heed_text_add(&whole, "%s/model.safetensors", w->dir) &&
              heed_text_add(&index, "%s/model.safetensors.index.json", w->dir);
    if (ok && heed__os_exists(whole.s))
        ok = add_file(w, "model.safetensors");
    else if (ok && heed__os_exists(index.s))
        ok = add_shards(w, index.s);
    else if (ok)
        ok = heed_fail(w->c, HEED_DATA,
                       "weights are missing: %s: expected model.safetensors or "
                       "model.safetensors.index.json; hint: transformers writes it by "
                       "save_pretrained",
                       w->dir);
    heed_text_free(&whole);
    heed_text_free(&index);
    return ok;
}

static void weights_close(weights *w) {
    if (!w) return;
    for (int i = 0; i < w->file_count; i++) heed_safetensors_close(w->files[i]);
    heed__free(w->list);
    heed__free(w);
}

static weights *weights_open(heed_ctx *c, const heed_hf_map *p, const char *dir) {
    weights *w = heed__alloc(c, sizeof *w);
    if (!w) return NULL;
    *w = (weights){.c = c, .p = p, .dir = dir};
    if (add_files(w) && sort_tensors(w)) return w;
    weights_close(w);
    return NULL;
}

/* ---- copies ---- */

/* Whether a copy is no copy, as a parameter has the tensor. */
static bool is_owned(const heed_hf_map *p, const heed_params *s, const heed_hf_tensor *row) {
    if (row->form != HEED_HF_COPY) return false;
    for (const heed_hf_tensor *other = p->tensors; other->name; other++)
        if (other->form != HEED_HF_COPY && strcmp(other->published, row->published) == 0 &&
            heed_params_find(s, other->name))
            return true;
    return false;
}

/* Whether an output layer is not tied to the embeddings: then other copies are no copies, either,
 * and it is they that are used. */
static bool is_untied(const heed_hf_map *p, const heed_params *s) {
    for (const heed_hf_tensor *row = p->tensors; row->name; row++)
        if (is_owned(p, s, row)) return true;
    return false;
}

/* ---- reading ---- */

enum { SHAPE = 100 };
/* "(2,3)"; of more dimensions than a tensor may have, the first ones. */
static const char *shape_text(char out[SHAPE], const heed_array *a) {
    int used = snprintf(out, SHAPE, "(");
    for (int i = 0; i < a->dims && i < 4; i++)
        used += snprintf(out + used, (size_t)(SHAPE - used), "%s%lld", i ? "," : "",
                         (long long)a->shape[i]);
    snprintf(out + used, (size_t)(SHAPE - used), ")");
    return out;
}

/* The size of a tensor in a dimension of its parameter. */
static int64_t size_of(const heed_array *a, heed_hf_form form, int dim) {
    int at = dim + (form == HEED_HF_LEADING || form == HEED_HF_TRANSPOSED);
    return at < a->dims ? a->shape[at] : 0;
}

/* Whether the tensor has the size in a dimension: then its shape may be wrong, but not the key. */
static bool has_size(const heed_array *a, int64_t size) {
    for (int i = 0; i < a->dims && a->bytes; i++)
        if (a->shape[i] == size) return true;
    return false;
}

/* Checks the numbers that f took from config.json against the shapes, before memory is allocated by
 * them. */
static bool weights_check(const weights *w, const heed_config *f, const char *path) {
    char number[12], setting[WORD_SIZE], name[WORD_SIZE], shape[SHAPE];
    for (const heed_hf_key *k = w->p->keys; k->key; k++) {
        const heed_hf_tensor *row = k->rows ? row_for(w->p->tensors, k->rows, number) : NULL;
        const char *list = k->settings;
        if (!row || !list_word(&list, setting)) continue;
        snprintf(name, sizeof name, "%s", row->published);
        put_number(name, number);
        const found_tensor *k_found = find(w, name);
        int64_t said = heed_config_int(f, setting);
        int64_t rows = k_found ? size_of(k_found->array, row->form, k->dim) : 0;
        if (!k_found && said)
            return heed_fail(w->c, HEED_DATA, "tensor is missing: %s: expected %s", w->dir, name);
        if (said != rows && (said || !is_null_key(k)) && !has_size(k_found->array, said))
            return heed_fail(w->c, HEED_DATA,
                             "%s of the model does not fit its weights: %s: expected %lld, as %s "
                             "has the shape %s, found %lld",
                             k->key, path, (long long)rows, name, shape_text(shape, k_found->array),
                             (long long)said);
    }
    return true;
}

/* Sets what p->present says. */
static bool weights_present(const weights *w, heed_config *f) {
    const char *equal = w->p->present ? strchr(w->p->present, '=') : NULL;
    char setting[WORD_SIZE];
    if (!equal) return true;
    snprintf(setting, sizeof setting, "%.*s", (int)(equal - w->p->present), w->p->present);
    return heed_config_set(f, setting, find(w, equal + 1) ? "true" : "false", w->dir,
                           HEED_FROM_FILE);
}

static bool same_shape(heed_ctx *c, const published_part *part, const heed_array *a) {
    bool same = a->dims == part->dims;
    for (int i = 0; same && i < a->dims; i++) same = a->shape[i] == part->shape[i];
    if (same) return true;
    char given[SHAPE], expected[SHAPE] = "(";
    for (int i = 0; i < part->dims; i++)
        snprintf(expected + strlen(expected), 20, "%s%d", i ? "," : "", part->shape[i]);
    return heed_fail(c, HEED_DATA, "tensor has another shape: %s: expected %s), found %s",
                     part->name, expected, shape_text(given, a));
}

static bool all_finite(const weights *w, const char *name, const heed_real *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return heed_fail(w->c, HEED_DATA,
                             "tensor is damaged: %s: %s: expected finite numbers in the range of "
                             "F32, found %g at index %zu",
                             w->dir, name, (double)x[i], i);
    return true;
}

/* Reads one tensor into its rows of own; of a copy, compares them. */
static bool read_part(const weights *w, const published_part *part, const found_tensor *from,
                      heed_tensor *own, bool copy) {
    if (!same_shape(w->c, part, from->array)) return false;
    size_t n = own->size / (size_t)own->shape[0] * (size_t)part->rows;
    heed_real *values = heed__alloc_untouched(w->c, n, sizeof *values);
    bool ok = values && heed__safetensors_reals(w->c, from->file, from->array, values) &&
              all_finite(w, part->name, values, n);
    if (ok && copy)
        ok = memcmp(values, own->x, n * sizeof *values) == 0 ||
             heed_fail(w->c, HEED_DATA,
                       "model cannot be represented: %s: %s: expected the values that it is tied "
                       "to, found others; hint: tie_word_embeddings in config.json",
                       w->dir, part->name);
    else if (ok)
        copy_part(part, own, values, false);
    heed__free(values);
    return ok;
}

/* A parameter from the tensors of one row; copies may be absent. */
static bool read_row(weights *w, const heed_config *f, heed_params *s, heed_param *e,
                     const heed_hf_tensor *row, const char *number) {
    published_part parts[HEED_RANGES];
    int count = parts_of(row, number, f, s, e, parts);
    bool copy = row->form == HEED_HF_COPY && !is_untied(w->p, s);
    for (int i = 0; i < count; i++) {
        found_tensor *from = find(w, parts[i].name);
        if (!from && row->form == HEED_HF_COPY) return true;
        if (!from)
            return heed_fail(w->c, HEED_DATA, "tensor is missing: %s: expected %s", w->dir,
                             parts[i].name);
        from->used = true;
        if (!read_part(w, &parts[i], from, e->tensor, copy)) return false;
    }
    return count || heed_fail(w->c, HEED_DATA, "rows of %s do not fit %s", e->name, row->published);
}

static bool read_entry(weights *w, const heed_config *f, heed_params *s, heed_param *e) {
    char number[12];
    bool any = false;
    const heed_hf_tensor *row = w->p->tensors;
    for (; (row = row_for(row, e->name, number)); row++) {
        if (!is_owned(w->p, s, row) && !read_row(w, f, s, e, row, number)) return false;
        any = true;
    }
    heed__store_known(e);
    return any || heed_fail(w->c, HEED_DATA,
                            "model cannot be represented: %s has no published name", e->name);
}

/* Whether one of the patterns matches the name, with the prefix or without it. */
static bool is_of(const weights *w, const char *patterns, const char *name) {
    heed_text full = {.c = w->c};
    bool is = matches_any(patterns, name) ||
              (heed_text_add(&full, "%s%s", w->p->prefix ? w->p->prefix : "", name) &&
               matches_any(patterns, full.s));
    heed_text_free(&full);
    return is;
}

/* Tensors without a parameter must be known; those that the model lacks are named. */
static bool check_unused(const weights *w) {
    char quoted[HEED_QUOTE];
    heed_text left = {.c = w->c};
    bool ok = true;
    for (size_t i = 0; ok && i < w->count; i++) {
        const found_tensor *k = &w->list[i];
        const char *name = heed_quote(quoted, k->array->name, strlen(k->array->name));
        if (k->used || is_of(w, w->p->ignored, k->name)) continue;
        ok = is_of(w, w->p->dropped, k->name)
                 ? heed_text_add(&left, "%s%s", left.n ? ", " : "", name)
                 : heed_fail(w->c, HEED_DATA,
                             "model cannot be represented: %s: tensor %s: expected none of that "
                             "name",
                             w->dir, name);
    }
    if (ok && left.n)
        heed_message(w->c, HEED_WARN, "tensors of %s are left out, as the model has none: %s",
                     w->dir, left.s);
    heed_text_free(&left);
    return ok;
}

/* Fills s, which must need all and only the tensors of the folder. */
static bool weights_read(weights *w, const heed_config *f, heed_params *s) {
    for (int i = 0; i < heed_params_count(s); i++)
        if (!read_entry(w, f, s, heed_params_at(s, i))) return false;
    return check_unused(w);
}

/* ---- writing ---- */

/* Adds the tensors of one row for e. */
static bool put_row(heed_params *out, const heed_run *r, const heed_param *e,
                    const heed_hf_tensor *row, const char *number) {
    published_part parts[HEED_RANGES];
    int count = parts_of(row, number, r->config, r->store, e, parts);
    for (int i = 0; i < count; i++) {
        heed_tensor *to =
            heed_buffer_new(out, parts[i].name, "zero", parts[i].dims, parts[i].shape);
        if (!to) return false;
        copy_part(&parts[i], e->tensor, to->x, true);
    }
    return count > 0;
}

static bool put_entry(heed_params *out, const heed_run *r, const heed_hf_map *p,
                      const heed_param *e) {
    char number[12];
    bool any = false, untied = is_untied(p, r->store);
    const heed_hf_tensor *row = p->tensors;
    for (; (row = row_for(row, e->name, number)); row++) {
        bool stored = row->form != HEED_HF_COPY || (untied && !is_owned(p, r->store, row));
        if (stored && !put_row(out, r, e, row, number)) return false;
        any |= stored;
    }
    return any ||
           heed_fail(r->c, HEED_USAGE, "run cannot be exported: %s has no published name", e->name);
}

/* Row p: sin(p theta^(-2i / e)) of a head's e / 2 pairs of columns, and after them the cosines, as
 * floats also where heed_real is double. */
static bool put_angles(heed_params *out, const heed_run *r, const heed_hf_map *p) {
    if (!p->angles) return true;
    int head = (int)(heed_config_int(r->config, "width") / heed_config_int(r->config, "heads"));
    int rows = (int)heed_config_int(r->config, "block"), half = head / 2;
    double theta = heed_config_real(r->config, "rope-theta");
    heed_tensor *t = heed_buffer_new(out, p->angles, "zero", 2, (int[]){rows, head});
    for (int i = 0; t && i < rows * half; i++) {
        heed_real *x = t->x + i / half * head + i % half;
        double angle = i / half / pow(theta, 2.0 * (i % half) / head);
        x[0] = (heed_real)(float)sin(angle);
        x[half] = (heed_real)(float)cos(angle);
    }
    return t != NULL;
}

static bool weights_write(const heed_run *r, const heed_hf_map *p, const char *path) {
    heed_params *out = heed_params_new(r->c);
    bool ok = out && put_angles(out, r, p);
    for (int i = 0; ok && i < heed_params_count(r->store); i++)
        ok = put_entry(out, r, p, heed_params_at(r->store, i));
    ok = ok && heed_save(out, path);
    heed_params_free(out);
    return ok;
}

/* ---- a folder as a run ---- */

typedef struct {
    heed_ctx *c;
    const char *dir;
    const heed_model *model;
    const heed_hf_map *p;
    json_t *json; /* config.json */
    heed_text path;
    heed_config *config;
    heed_tokenizer *tokenizer;
    class_names classes;
    weights *weights;
} reading;

/* ---- which model it is ---- */

static const char *text_at(const json_t *config, const char *key) {
    const json_t *v = json_object_get(config, key);
    if (json_is_array(v)) v = json_array_get(v, 0);
    return json_string_value(v);
}

/* A folder may say either the type or the class, or both, which must then belong together. */
static bool is_published_as(const heed_hf_map *p, const char *type, const char *class) {
    if (type && strcmp(type, p->type) != 0) return false;
    char name[WORD_SIZE];
    for (const char *list = p->architectures; class && list_word(&list, name);)
        if (strcmp(name, class) == 0) return true;
    return !class && type;
}

static void list_known(const heed_model *const *models, heed_text *out) {
    char name[WORD_SIZE];
    for (; models && *models; models++)
        for (const heed_hf_map *p = (*models)->published; p && p->type; p++)
            for (const char *list = p->architectures; list_word(&list, name);)
                heed_text_add(out, "%s%s", out->n ? ", " : "", name);
}

static bool choose_model(reading *k, const heed_model *const *models) {
    const char *type = text_at(k->json, "model_type"), *class = text_at(k->json, "architectures");
    for (const heed_model *const *m = models; m && *m && !k->p; m++)
        for (const heed_hf_map *p = (*m)->published; p && p->type && !k->p; p++)
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
               is_plain(k->c, path.s);
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
    k->json = plain_json(k->c, k->path.s);
    if (!k->json || !choose_model(k, models)) return false;
    k->config = heed_train_config(k->c, k->model);
    if (!k->config || !read_keys(k->c, k->p, k->json, k->path.s, k->config)) return false;
    if (heed_config_has(k->config, "classes") &&
        !classes_read(k->c, k->json, k->path.s, &k->classes))
        return false;
    if (heed_model_data(k->model)->images && !read_pictures(k->c, k->dir, k->config)) return false;
    if (k->p->vectors && !read_modules(k->c, k->dir, k->config)) return false;
    k->weights = weights_open(k->c, k->p, k->dir);
    return k->weights && weights_present(k->weights, k->config) &&
           weights_check(k->weights, k->config, k->path.s) && open_tokenizer(k);
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
    char setting[WORD_SIZE];
    heed_text why = {.c = NULL}, keys = {.c = NULL};
    const char *error = heed_ctx_error(k->c), *hint = strstr(error, "; hint:");
    for (const char *s = error; *s && s != hint; s++)
        if (*s != '`') heed_text_put(&why, s, 1);
    for (const heed_hf_key *row = k->p->keys; row->key && why.s; row++)
        for (const char *list = row->settings; list && list_word(&list, setting);)
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
        if (r && !(heed__run_build(r, NULL) && weights_read(k.weights, r->config, r->store) &&
                   heed__weights_are_finite(r->store, dir))) {
            heed_run_close(r);
            r = NULL;
        }
    }
    if (k.p && heed_ctx_status(c) == HEED_USAGE) name_keys(&k);
    weights_close(k.weights);
    classes_free(&k.classes);
    heed_tokenizer_free(k.tokenizer);
    heed_config_free(k.config);
    json_decref(k.json);
    heed_text_free(&k.path);
    return r;
}

/* ---- a run as a folder ---- */

/* The architecture with the run's settings; if none has, the error lists what the first expects. */
static const heed_hf_map *choose(const heed_run *r) {
    char class[WORD_SIZE];
    const heed_hf_map *p = r->model->published;
    if (!p) {
        heed_fail(r->c, HEED_USAGE,
                  "run cannot be exported: no published architecture is like the model %s; hint: "
                  "`export %s --onnx model.onnx` writes any run",
                  r->model->name, source_of(r));
        return NULL;
    }
    for (; p->type; p++)
        if (keys_fit(r->config, p, NULL, NULL, NULL)) return p;
    heed_text expected = {.c = r->c}, found = {.c = r->c}, flags = {.c = r->c};
    keys_fit(r->config, p = r->model->published, &expected, &found, &flags);
    const char *list = p->architectures;
    list_word(&list, class);
    heed_fail(r->c, HEED_USAGE,
              "run cannot be exported as %s: expected%s, found%s; hint: `train %s -c "
              "%s/config.conf%s -o %s-exportable` makes one that can be; `export %s --onnx "
              "model.onnx` writes any run",
              class, expected.s ? expected.s : "", found.s ? found.s : "", r->model->name,
              source_of(r), flags.s ? flags.s : "", source_of(r), source_of(r));
    heed_text_free(&expected);
    heed_text_free(&found);
    heed_text_free(&flags);
    return NULL;
}

/* The files of a model, of heed or transformers; a replaced one leaves none of them behind. */
static const char model_files[] =
    "config.json model.safetensors model.safetensors.index.json model-*-of-*.safetensors "
    "tokenizer.json tokenizer_config.json heed-tokenizer.json vocab.txt vocab.json merges.txt "
    "special_tokens_map.json added_tokens.json preprocessor_config.json modules.json 1_Pooling "
    "2_Normalize sentence_bert_config.json";

/* The folder beside dir in which a model is written, before it is moved to dir. */
static bool add_unfinished(heed_text *out, const char *dir) {
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/') n--;
    return heed_text_add(out, "%.*s.heed-export", (int)n, dir);
}

/* The folder is new or empty, or, with force, has a config.json that is replaced, or had one until
 * a replacement was interrupted. */
static bool check_folder(const heed_run *r, const char *dir, bool force) {
    heed__listing l = {0};
    if (!heed__os_exists(dir)) return true;
    if (!heed__os_is_dir(dir))
        return heed_fail(r->c, HEED_USAGE, "folder is a file: %s: expected a folder", dir);
    heed_text unfinished = {.c = r->c};
    bool ok = heed__os_list(r->c, dir, &l) && add_unfinished(&unfinished, dir), run = false;
    bool config = ok && heed__os_exists(unfinished.s);
    heed_text_free(&unfinished);
    for (size_t i = 0; ok && i < l.count; i++) {
        config |= strcmp(l.entries[i].name, "config.json") == 0;
        run |= strcmp(l.entries[i].name, "config.conf") == 0;
    }
    bool empty = l.count == 0;
    heed__os_list_free(&l);
    if (!ok || empty || (force && config && !run)) return ok;
    return heed_fail(r->c, HEED_USAGE, "folder is not empty: %s: expected a new one%s", dir,
                     config && !run ? "; hint: `force` replaces the model in it" : "");
}

static bool write_tensors(const heed_run *r, const heed_hf_map *p, const char *dir) {
    heed_text path = {.c = r->c};
    bool ok = heed_text_add(&path, "%s/model.safetensors", dir) && weights_write(r, p, path.s);
    heed_text_free(&path);
    return ok;
}

/* Whether the run reads [CLS] before a text and [SEP] after it. */
static bool is_bracketed(const heed_run *r) {
    return heed_model_data(r->model)->mask ||
           (heed_config_has(r->config, "bracket") && heed_config_bool(r->config, "bracket"));
}

/* Sets a key of a file in dir, which takes the value. */
static bool set_key(heed_ctx *c, const char *dir, const char *name, const char *key,
                    json_t *value) {
    heed_text path = {.c = c};
    json_t *all = heed_text_add(&path, "%s/%s", dir, name) ? heed__json_read(c, path.s) : NULL;
    bool ok = all && json_object_set_new(all, key, value) == 0;
    if (!ok && !heed__stopped(c)) heed_fail(c, HEED_FAILED, "cannot write %s: out of memory", name);
    ok = ok && heed__json_write(c, path.s, all);
    json_decref(all);
    heed_text_free(&path);
    return ok;
}

/* A model that reads no [CLS] must not get it from the tokenizer, either, nor token types. Of a
 * tokenizer that was imported, the model reads the template. */
static bool write_tokenizer(const heed_run *r, const char *dir) {
    static const char file[] = "tokenizer_config.json";
    heed_ctx *c = r->c;
    if (!heed_tokenizer_save(r->tokenizer, dir)) return false;
    if (is_bracketed(r)) return true;
    return set_key(c, dir, file, "tokenizer_class", json_string("PreTrainedTokenizerFast")) &&
           set_key(c, dir, file, "model_input_names",
                   json_pack("[s, s]", "input_ids", "attention_mask")) &&
           (!r->tokenizer->preset ||
            set_key(c, dir, "tokenizer.json", "post_processor", json_null()));
}

static bool write_model(const heed_run *r, const heed_hf_map *p, const char *dir) {
    return heed__os_make_dir(r->c, dir) && write_tensors(r, p, dir) &&
           (!r->tokenizer || write_tokenizer(r, dir)) &&
           (!heed_model_data(r->model)->images || write_pictures(r->c, dir, r->config)) &&
           (!p->vectors ||
            write_modules(r->c, dir, r->config, (int)heed_config_int(r->config, "width"))) &&
           write_file(r->c, dir, "config.json", write_keys(r, p));
}

/* ---- moving it to its folder ---- */

/* config.json makes a folder a model: it is removed before all others, and moved after them. */
static bool is_config(const char *name) { return strcmp(name, "config.json") == 0; }

/* Removes a file of dir, or moves it to another folder. */
static bool move(heed_ctx *c, const char *dir, const char *name, const char *to) {
    heed_text from = {.c = c}, path = {.c = c};
    bool ok = heed_text_add(&from, "%s/%s", dir, name) &&
              (!to || heed_text_add(&path, "%s/%s", to, name));
    ok = ok && (to ? heed__os_rename(c, from.s, path.s) : heed__os_remove(c, from.s));
    heed_text_free(&from);
    heed_text_free(&path);
    return ok;
}

/* Removes the model in dir, and no other file of it. */
static bool remove_model(heed_ctx *c, const char *dir) {
    heed__listing l = {0};
    bool ok = heed__os_list(c, dir, &l) && move(c, dir, "config.json", NULL);
    for (size_t i = 0; ok && i < l.count; i++)
        if (matches_any(model_files, l.entries[i].name)) ok = move(c, dir, l.entries[i].name, NULL);
    heed__os_list_free(&l);
    return ok;
}

static bool move_model(heed_ctx *c, const char *from, const char *dir) {
    heed__listing l = {0};
    if (!heed__os_exists(dir)) /* it may be a link to nothing, which no folder replaces */
        return heed__os_rename(c, from, dir) || (heed__os_remove(c, from) && false);
    bool ok = remove_model(c, dir) && heed__os_list(c, from, &l);
    for (size_t i = 0; ok && i < l.count; i++)
        if (!is_config(l.entries[i].name)) ok = move(c, from, l.entries[i].name, dir);
    heed__os_list_free(&l);
    return ok && move(c, from, "config.json", dir) && heed__os_sync_dir(c, dir) &&
           heed__os_remove(c, from);
}

bool heed_export(const heed_run *r, const char *dir, bool force) {
    if (!r || !dir || heed__stopped(r->c)) return false;
    const heed_hf_map *p = choose(r);
    json_t *config = p && check_folder(r, dir, force) ? write_keys(r, p) : NULL;
    bool possible = config != NULL;
    json_decref(config);
    heed_text unfinished = {.c = r->c};
    bool ok = possible && add_unfinished(&unfinished, dir) && heed__os_remove(r->c, unfinished.s);
    if (ok && !write_model(r, p, unfinished.s)) {
        ok = false;
        heed__os_remove(r->c, unfinished.s);
    }
    ok = ok && move_model(r->c, unfinished.s, dir);
    heed_text_free(&unfinished);
    return ok;
}

/* ---- vectors ---- */

bool heed_import_is_headless(const heed_run *r) {
    if (!r || r->step >= 0 || *heed_config_text(r->config, "data")) return false;
    const heed_hf_map *p = r->model->published;
    while (p && p->type && !keys_fit(r->config, p, NULL, NULL, NULL)) p++;
    return p && p->type && p->vectors;
}

/* The tokens to be read: of a text that is longer than the setting embed-tokens, the first ones and
 * the last, [SEP], which is moved to them. */
static int cut(const heed_run *r, heed_tokens *k) {
    size_t most = heed_config_has(r->config, "embed-tokens")
                      ? (size_t)heed_config_int(r->config, "embed-tokens")
                      : 0;
    if (!most || k->count <= most) return (int)k->count;
    k->ids[most - 1] = k->ids[k->count - 1];
    return (int)most;
}

const heed_tensor *heed_text_vector(heed_run *r, const char *text, size_t n) {
    if (!r || !text || heed__stopped(r->c)) return NULL;
    const heed_model *m = r->model;
    const heed_data_kind *kind = heed_model_data(m);
    bool reads_text =
        heed_option_find(kind->options, "tokenizer") && !kind->images && !kind->target;
    if (!m->code || !reads_text) {
        heed_fail(r->c, HEED_USAGE, "there is no vector of a text: %s makes none", m->name);
        return NULL;
    }
    heed_example e = {0};
    heed_reader how = heed_run_reader(r);
    how.cut = how.empty = true;
    const heed_tensor *y = NULL;
    if (heed_example_text(&how, text, n, &e)) {
        int count = cut(r, &e.text.tokens);
        heed_tape_begin(r->tape, HEED_EVAL, 0);
        heed_model_input in = {.x = heed_ids(r->tape, e.text.tokens.ids, 1, count)};
        y = m->code(r->self, r->tape, &in);
    }
    heed_example_free(&e);
    return y;
}
