/* files.c -- tokenizers on disk: tokenizer.json, and tokenizer_config.json, from which Hugging
 * Face's AutoTokenizer reads how to open it; word and wordpiece also write vocab.txt, one token per
 * line. */
#include "core/os.h"
#include "io/io.h"
#include "tokenizer/tokenizer.h"

#include <jansson.h>
#include <string.h>

static const char config_name[] = "tokenizer_config.json";

/* A run is not trusted: links in it are not followed. */
static bool join(heed_text *out, const char *dir, const char *name) {
    out->n = 0;
    bool ok = heed_text_add(out, "%s/config.conf", dir), run = ok && heed__os_exists(out->s);
    out->n = 0;
    return ok && heed_text_add(out, "%s%s%s", dir, run ? HEED_INSIDE : "/", name);
}

/* ---- saving ---- */

/* Writes a text, unless it lacks a part for want of memory. */
static bool write(const char *dir, const char *name, bool whole, const heed_text *text) {
    heed_text path = {.c = text->c};
    bool good = whole && join(&path, dir, name) &&
                heed__os_write(text->c, path.s, &(heed__piece){text->s, text->n}, 1);
    heed_text_free(&path);
    return good;
}

static bool save_lines(const heed_tokenizer *k, const char *dir) {
    heed_text lines = {.c = k->c};
    bool good = true;
    for (size_t i = 0; good && i < k->names.count; i++)
        good = heed_text_put(&lines, heed__names_text(&k->names, i),
                             heed__names_length(&k->names, i)) &&
               heed_text_put(&lines, "\n", 1);
    good = write(dir, "vocab.txt", good, &lines);
    heed_text_free(&lines);
    return good;
}

static bool save_tokenizer(const heed_tokenizer *k, const char *dir) {
    heed_text text = {.c = k->c};
    bool good = write(dir, "tokenizer.json", heed__put_tokenizer(k, &text), &text);
    heed_text_free(&text);
    return good;
}

/* Names a special token: "sep_token", or "eos_token" if its name is not of BERT's kind, "[SEP]". */
static bool put_role(const heed_tokenizer *k, int id, const char *role, const char *other,
                     json_t *out) {
    const char *name = id < 0 ? "" : heed__names_text(&k->names, (size_t)id);
    return !*name || json_object_set_new(out, *name == '[' ? role : other, json_string(name)) == 0;
}

/* Writes tokenizer_config.json: a class that reads tokenizer.json as it is, except for BERT's. */
static bool save_config(const heed_tokenizer *k, const char *dir) {
    bool bert = k->kind == HEED__WORDPIECE && k->preset;
    heed_specials s = k->special;
    json_t *out = json_pack("{s:s, s:b}", "tokenizer_class",
                            bert ? "BertTokenizer" : "PreTrainedTokenizerFast",
                            "clean_up_tokenization_spaces", 0);
    bool all = out &&
               (!bert || json_object_set_new(out, "do_lower_case", json_boolean(k->lower)) == 0) &&
               put_role(k, s.pad, "pad_token", "pad_token", out) &&
               put_role(k, s.unk, "unk_token", "unk_token", out) &&
               put_role(k, s.cls, "cls_token", "bos_token", out) &&
               put_role(k, s.sep, "sep_token", "eos_token", out) &&
               put_role(k, s.mask, "mask_token", "mask_token", out) &&
               json_object_set_new(
                   out, "model_input_names",
                   json_pack("[s, s, s*]", "input_ids", "attention_mask",
                             json_object_get(out, "sep_token") ? "token_type_ids" : NULL)) == 0;
    heed_text path = {.c = k->c};
    bool good = join(&path, dir, config_name) && heed__json_write(k->c, path.s, all ? out : NULL);
    heed_text_free(&path);
    json_decref(out);
    return good;
}

/* Removes the files of another tokenizer that was saved here before. */
static bool remove_others(heed_ctx *c, const char *dir, bool lines) {
    static const char *const names[] = {"vocab.txt",         "vocab.json",
                                        "merges.txt",        "heed-tokenizer.json",
                                        "added_tokens.json", "special_tokens_map.json"};
    heed_text path = {.c = c};
    bool good = true;
    for (size_t i = lines; good && i < sizeof names / sizeof *names; i++) {
        good =
            join(&path, dir, names[i]) && (!heed__os_is_file(path.s) || heed__os_remove(c, path.s));
    }
    heed_text_free(&path);
    return good;
}

bool heed_tokenizer_save(const heed_tokenizer *k, const char *dir) {
    if (!k || !dir || heed__stopped(k->c)) return false;
    bool there = heed__os_exists(dir), lines = k->preset && k->kind >= HEED__WORD;
    bool ok = heed__os_make_dir(k->c, dir) && save_tokenizer(k, dir) && save_config(k, dir) &&
              (!lines || save_lines(k, dir)) && remove_others(k->c, dir, lines);
    if (!ok && !there) heed__os_remove(k->c, dir);
    return ok;
}

/* ---- opening ---- */

/* Adds the tokens of n bytes of lines. */
static bool add_lines(heed_tokenizer *k, const char *s, size_t n, const char *path) {
    bool good = true;
    for (size_t at = 0, length; good && at < n; at += length + 1) {
        length = heed__line_length(s + at, n - at);
        if (length == 0)
            good =
                heed_fail(k->c, HEED_DATA, "token is empty: %s: token %zu", path, k->names.count);
        else if (length >= HEED__TOKEN_BYTES)
            good = heed_fail(k->c, HEED_DATA,
                             "token is too long: %s: token %zu: expected under %d bytes, found %zu",
                             path, k->names.count, HEED__TOKEN_BYTES, length);
        else
            good = heed__tokenizer_add(k, s + at, length);
    }
    return good;
}

/* Whether a token that is not of the form "[PAD]" has a capital letter. */
static bool has_capitals(const char *s, size_t n) {
    int32_t c;
    for (size_t at = 0; at < n;) {
        if ((at == 0 || s[at - 1] == '\n') && s[at] == '[') at += heed__line_length(s + at, n - at);
        if (at == n) break;
        at += heed_utf8_read(s + at, n - at, &c);
        if (c >= 0 && heed__lower(c) != c) return true;
    }
    return false;
}

/* Reads from a folder's tokenizer_config.json, if it is there, whether texts are lower-cased. */
static bool read_lower(heed_ctx *c, const char *dir, bool *lower) {
    heed_text path = {.c = c};
    bool good = join(&path, dir, config_name);
    if (good && heed__os_exists(path.s)) {
        json_t *all = heed__json_read(c, path.s);
        const json_t *value = json_object_get(all, "do_lower_case");
        good = all != NULL;
        if (json_is_boolean(value)) *lower = json_is_true(value);
        json_decref(all);
    }
    heed_text_free(&path);
    return good;
}

/* Opens a vocab.txt, which is of `dir` or of none. It does not say whether texts are lower-cased:
 * decided by its tokens. */
static heed_tokenizer *open_lines(heed_ctx *c, const char *path, const char *dir) {
    size_t n;
    char *s = heed_text_read(c, path, &n);
    bool lower = s && !has_capitals(s, n);
    heed_tokenizer *k = !s || (dir && !read_lower(c, dir, &lower))
                            ? NULL
                            : heed__preset_new(c, HEED__WORDPIECE, lower);
    bool good = k && add_lines(k, s, n, path) && heed__preset_finish(k, path);
    heed__free(s);
    if (good) return k;
    heed_tokenizer_free(k);
    return NULL;
}

/* "vocab.json", "gpt2-vocab.json" */
static bool is_named(const char *path, const char *name) {
    size_t n = strlen(path), m = strlen(name);
    return n >= m && strcmp(path + n - m, name) == 0;
}

/* The file to read at a path: in a folder the first of these, beside a merges.txt the vocab.json.
 */
static bool find_file(heed_ctx *c, const char *path, heed_text *out) {
    static const char *const names[] = {"tokenizer.json", "vocab.json", "vocab.txt"};
    if (!heed__os_is_dir(path)) {
        bool merges = is_named(path, "merges.txt");
        size_t n = strlen(path) - (merges ? strlen("merges.txt") : 0);
        return heed_text_add(out, "%.*s%s", (int)n, path, merges ? "vocab.json" : "");
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!join(out, path, names[i])) return false;
        if (heed__os_exists(out->s)) return true;
    }
    return heed_fail(c, HEED_DATA,
                     "no tokenizer: %s: expected tokenizer.json, vocab.json or vocab.txt in this "
                     "folder",
                     path);
}

/* Opens a vocab.json of GPT-2's kind, and the merges.txt beside it. */
static heed_tokenizer *open_gpt2(heed_ctx *c, const char *path, const char *text, size_t n) {
    json_t *all = heed__json_parse(c, path, text, n);
    const json_t *end = json_object_get(all, heed__end_of_text);
    heed_text name = {.c = c}, file = {.c = c};
    const char *slash = strrchr(path, '/');
    size_t length;
    char *merges = NULL;
    heed_tokenizer *k = NULL;
    if (all && heed_text_add(&name, "%.*smerges.txt", slash ? (int)(slash + 1 - path) : 0, path) &&
        (merges = heed_text_read(c, name.s, &length)) &&
        heed__put_gpt2(text, n, json_is_integer(end) ? (int)json_integer_value(end) : -1, merges,
                       &file))
        k = heed__parse_tokenizer(c, path, file.s, file.n, false);
    json_decref(all);
    heed__free(merges);
    heed_text_free(&name);
    heed_text_free(&file);
    return k;
}

static heed_tokenizer *open_json(heed_ctx *c, const char *path) {
    enum { LIMIT = 1 << 28 };
    size_t n;
    char *text = (char *)heed__os_read(c, path, LIMIT, &n);
    heed_tokenizer *k = !text ? NULL
                        : is_named(path, "vocab.json")
                            ? open_gpt2(c, path, text, n)
                            : heed__parse_tokenizer(c, path, text, n, false);
    heed__free(text);
    return k;
}

heed_tokenizer *heed_tokenizer_open(heed_ctx *c, const char *path) {
    if (heed__stopped(c) || !path) return NULL;
    heed_text file = {.c = c};
    heed_tokenizer *k = NULL;
    if (find_file(c, path, &file))
        k = is_named(file.s, ".json") ? open_json(c, file.s)
                                      : open_lines(c, file.s, heed__os_is_dir(path) ? path : NULL);
    heed_text_free(&file);
    return k;
}
