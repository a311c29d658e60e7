/* keys.c -- config.json of a published model as settings, and settings as config.json. */
#include "core/core.h"
#include "core/os.h"
#include "exchange/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool heed__list_word(const char **list, char word[HEED__WORD_SIZE]) {
    *list += strspn(*list, " ");
    size_t n = strcspn(*list, " ");
    snprintf(word, HEED__WORD_SIZE, "%.*s", (int)n, *list);
    *list += n;
    return n > 0;
}

bool heed__matches_any(const char *patterns, const char *text) {
    char pattern[HEED__WORD_SIZE];
    while (patterns && heed__list_word(&patterns, pattern))
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

const char *heed__json_quote(char out[HEED_QUOTE], const json_t *v) {
    char *text = v && !json_is_string(v) ? json_line(v) : NULL;
    const char *found = json_is_string(v) ? json_string_value(v) : text;
    if (found)
        heed_quote(out, found, strlen(found));
    else
        snprintf(out, HEED_QUOTE, "nothing");
    free(text);
    return out;
}

bool heed__plain_file(heed_ctx *c, const char *path) {
    if (!heed__os_exists(path) || heed__os_is_file(path) || heed__os_is_dir(path)) return true;
    return heed_fail(c, HEED_DATA, "cannot read %s: expected a file, found a pipe or a device",
                     path);
}

json_t *heed__plain_json(heed_ctx *c, const char *path) {
    return heed__plain_file(c, path) ? heed__json_read(c, path) : NULL;
}

/* ---- reading ---- */

static heed_option_kind kind_of(const heed_config *f, const char *setting) {
    for (int i = 0; i < heed_config_count(f); i++) {
        const heed_option *o = heed_config_at(f, i, NULL);
        if (strcmp(o->name, setting) == 0) return o->kind;
    }
    return HEED_TEXT;
}

bool heed__key_null(const heed_published_key *k) {
    return k->value && strcmp(k->value, "null") == 0;
}

/* What a key must have for a setting of this kind; NULL: v is such a value. null is one where the
 * default is null or 0; where it is null, the number 0 is none. */
static const char *wrong_kind(const heed_published_key *k, heed_option_kind kind, const json_t *v) {
    bool null = heed__key_null(k);
    if (json_is_null(v) && (null || (k->value && strtod(k->value, NULL) == 0 && kind == HEED_REAL)))
        return NULL;
    if (kind == HEED_BOOL) return json_is_boolean(v) ? NULL : "true or false";
    if (kind != HEED_INT && kind != HEED_REAL) return json_is_string(v) ? NULL : "a word";
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
static bool translate(const char *values, const char *text, bool back, char out[HEED__WORD_SIZE]) {
    char word[HEED__WORD_SIZE];
    while (heed__list_word(&values, word)) {
        char *equal = strchr(word, '=');
        if (equal) *equal++ = 0;
        const char *theirs = word, *ours = equal ? equal : word;
        if (strcmp(back ? ours : theirs, text) != 0) continue;
        snprintf(out, HEED__WORD_SIZE, "%s", back ? theirs : ours);
        return true;
    }
    return false;
}

static bool refuse(heed_ctx *c, const heed_published_key *k, const char *path, const char *expected,
                   const json_t *v) {
    char found[HEED_QUOTE];
    return heed_fail(c, HEED_DATA, "model cannot be represented: %s: %s: expected %s, found %s",
                     path, k->key, expected, heed__json_quote(found, v));
}

/* A key that no setting has: it must be the value that the architecture has here. */
static bool check_fixed(heed_ctx *c, const heed_published_key *k, const json_t *v,
                        const char *path) {
    bool flag = strcmp(k->value, "true") == 0 || strcmp(k->value, "false") == 0;
    if (flag && !json_is_boolean(v)) return refuse(c, k, path, "true or false", v);
    char *found = json_line(v), word[HEED__WORD_SIZE];
    if (!found) return heed_fail(c, HEED_FAILED, "cannot read %s: out of memory", path);
    bool same =
        strcmp(found, k->value) == 0 || json_is_null(v) ||
        (json_is_number(v) && *k->value != '"' && json_number_value(v) == strtod(k->value, NULL)) ||
        (json_is_string(v) && k->values && translate(k->values, json_string_value(v), false, word));
    free(found);
    return same || refuse(c, k, path, k->values ? k->values : k->value, v);
}

/* A number that a setting has already keeps its text: equal settings are equal metadata. */
static bool set_all(const heed_published_key *k, const char *value, const char *path,
                    heed_config *f) {
    char setting[HEED__WORD_SIZE], where[1024];
    snprintf(where, sizeof where, "%s: %s", path, k->key);
    for (const char *list = k->settings; heed__list_word(&list, setting);) {
        const char *now = heed_config_text(f, setting);
        if (heed_config_rank(f, setting) != HEED_FROM_FILE &&
            !heed_config_set(f, setting, heed__same_value(now, value) ? now : value, where,
                             HEED_FROM_FILE))
            return false;
    }
    return true;
}

/* What a key "rope_parameters.rope_theta" is in must be an object, null or absent. */
static bool check_parent(heed_ctx *c, const heed_published_key *k, const json_t *config,
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

static bool read_key(heed_ctx *c, const heed_published_key *k, const json_t *config,
                     const char *path, heed_config *f) {
    if (!check_parent(c, k, config, path)) return false;
    const json_t *given = key_get(config, k->key);
    if (k->repeats || (!given && (!k->value || !k->settings))) return true;
    if (!k->settings) return check_fixed(c, k, given, path);
    json_error_t e;
    json_t *usual = given ? NULL : json_loads(k->value, JSON_DECODE_ANY, &e);
    if (!given && !usual) return heed_fail(c, HEED_FAILED, "cannot read %s: out of memory", path);
    heed_text text = {.c = c};
    char word[HEED__WORD_SIZE], setting[HEED__WORD_SIZE];
    const char *list = k->settings;
    heed__list_word(&list, setting);
    const char *expected = given ? wrong_kind(k, kind_of(f, setting), given) : NULL;
    bool ok = value_text(given ? given : usual, &text);
    if (ok && k->values && !translate(k->values, text.s, false, word)) expected = k->values;
    if (ok && expected) ok = refuse(c, k, path, expected, given);
    ok = ok && set_all(k, k->values ? word : text.s, path, f);
    heed_text_free(&text);
    json_decref(usual);
    return ok;
}

/* Whether a row is about this key of config.json, or about a key in the object that it has. */
static bool is_known(const heed_published *p, const char *key) {
    size_t n = strlen(key);
    for (const heed_published_key *k = p->keys; k->key; k++)
        if (strncmp(k->key, key, n) == 0 && (k->key[n] == 0 || k->key[n] == '.')) return true;
    return heed__matches_any(harmless, key) || heed__matches_any(p->harmless, key);
}

/* Warns of the members that no row is about of an object "rope_parameters" that rows are about. */
static void check_members(heed_ctx *c, const heed_published *p, const char *parent,
                          const json_t *object, const char *path) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        char whole[HEED__WORD_SIZE], quoted[HEED_QUOTE];
        bool known = false;
        snprintf(whole, sizeof whole, "%s.%s", parent, key);
        for (const heed_published_key *k = p->keys; k->key; k++)
            known |= strcmp(k->key, whole) == 0;
        if (!known && !json_is_null(value))
            heed_message(c, HEED_WARN, "a key of %s is ignored: %s is not known to belong to %s",
                         path, heed_quote(quoted, whole, strlen(whole)), p->type);
    }
}

/* Whether a row is about a member of the object that the key has. */
static bool has_members(const heed_published *p, const char *key) {
    size_t n = strlen(key);
    for (const heed_published_key *k = p->keys; k->key; k++)
        if (strncmp(k->key, key, n) == 0 && k->key[n] == '.') return true;
    return false;
}

/* What the architecture has no key for is ignored, as transformers does. */
static bool check_others(heed_ctx *c, const heed_published *p, const json_t *config,
                         const char *path) {
    const char *key;
    json_t *value;
    char quoted[HEED_QUOTE];
    json_object_foreach((json_t *)(uintptr_t)config, key, value) {
        heed_quote(quoted, key, strlen(key));
        if (heed__matches_any(changing, key) && !json_is_null(value))
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

bool heed__keys_read(heed_ctx *c, const heed_published *p, const json_t *config, const char *path,
                     heed_config *f) {
    if (!heed_config_set_list(f, p->settings, path, HEED_FROM_PRESET)) return false;
    for (const heed_published_key *k = p->keys; k->key; k++)
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
    bool is_switch = kind_of(f, setting) == HEED_BOOL, on = strcmp(value, "true") == 0;
    return is_switch ? heed_text_add(out, " --%s%s", on ? "" : "no-", setting)
                     : heed_text_add(out, " --%s %s", setting, value);
}

bool heed__keys_fit(const heed_config *f, const heed_published *p, heed_text *expected,
                    heed_text *found, heed_text *flags) {
    char word[HEED__WORD_SIZE];
    bool fit = true;
    for (const char *list = p->settings; heed__list_word(&list, word);) {
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
static json_t *setting_value(const heed_run *r, const heed_published_key *k, const char *setting) {
    const heed_config *f = r->config;
    const char *text = heed_config_text(f, setting);
    const heed_entry *e = k->rows ? heed_store_find(r->store, k->rows) : NULL;
    char word[HEED__WORD_SIZE];
    heed_option_kind kind = kind_of(f, setting);
    if (kind == HEED_INT && heed__key_null(k) && heed_config_int(f, setting) == 0)
        return json_null();
    if (k->rows) return e ? json_integer(e->tensor->shape[k->dim]) : NULL;
    if (k->values) return translate(k->values, text, true, word) ? json_string(word) : NULL;
    if (kind == HEED_BOOL) return json_boolean(heed_config_bool(f, setting));
    if (kind == HEED_REAL) return json_real(heed_config_real(f, setting));
    return kind == HEED_INT ? json_integer(heed_config_int(f, setting)) : json_string(text);
}

/* The value of the key, which all its settings must have. */
static json_t *key_value(const heed_run *r, const heed_published_key *k) {
    json_error_t e;
    char first[HEED__WORD_SIZE], other[HEED__WORD_SIZE];
    const char *list = k->settings;
    if (!list) return json_loads(k->value, JSON_DECODE_ANY, &e);
    heed__list_word(&list, first);
    while (heed__list_word(&list, other))
        if (!heed__same_value(heed_config_text(r->config, first),
                              heed_config_text(r->config, other))) {
            heed_fail(r->c, HEED_USAGE,
                      "run cannot be exported: `%s = %s`: expected the same as `%s = %s`; hint: "
                      "`export %s --onnx model.onnx` writes any run",
                      other, heed_config_text(r->config, other), first,
                      heed_config_text(r->config, first), heed__export_source(r));
            return NULL;
        }
    json_t *v = setting_value(r, k, first);
    if (!v)
        heed_fail(r->c, HEED_USAGE,
                  "run cannot be exported: `%s = %s`: %s of the published model has no such value; "
                  "hint: `export %s --onnx model.onnx` writes any run",
                  first, heed_config_text(r->config, first), k->key, heed__export_source(r));
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

json_t *heed__keys_write(const heed_run *r, const heed_published *p) {
    json_error_t e;
    char class[HEED__WORD_SIZE];
    const char *list = p->architectures;
    heed__list_word(&list, class);
    json_t *config = json_pack("{s:s, s:[s], s:s}", "model_type", p->type, "architectures", class,
                               "dtype", "float32");
    bool ok = config != NULL;
    for (const heed_published_key *k = p->keys; ok && k->key; k++) {
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
