/* tokenizer_file.c -- tokenizers on disk. heed-tokenizer.json holds everything:
 *   {"format": 1, "kind": "char", "lower": false, "tokens": ["\n", " ", "!", ...]}
 * For other programs there is a tokenizer.json beside it, which is all of a bpe, and
 * tokenizer_config.json, from which Hugging Face's AutoTokenizer reads how to open it; word and
 * wordpiece also write vocab.txt, one token per line. */
#include "core/os.h"
#include "io/io.h"
#include "text/text.h"
#include "tokenizer/pipeline.h"

#include <string.h>

enum { FORMAT = 1 };
static const char own_name[] = "heed-tokenizer.json", foreign_name[] = "tokenizer_config.json",
                  shared_name[] = "tokenizer.json";

/* ---- saving ---- */

/* A run is not trusted: links in it are not followed. */
static bool join(heed_text *out, const char *dir, const char *name) {
    out->n = 0;
    bool ok = heed_text_add(out, "%s/config.conf", dir), run = ok && heed__os_exists(out->s);
    out->n = 0;
    return ok && heed_text_add(out, "%s%s%s", dir, run ? HEED_INSIDE : "/", name);
}

/* Writes value, unless it lacks a part for want of memory; frees it. */
static bool write_json(heed_ctx *c, const char *dir, const char *name, bool whole, json_t *value) {
    heed_text path = {.c = c};
    bool good = join(&path, dir, name) && heed__json_write(c, path.s, whole ? value : NULL);
    heed_text_free(&path);
    json_decref(value);
    return good;
}

static bool save_own(const heed_tokenizer *k, const char *dir) {
    json_t *tokens = json_array();
    for (size_t i = 0; i < k->names.count; i++)
        json_array_append_new(tokens, json_string(heed__names_text(&k->names, i)));
    bool all = json_array_size(tokens) == k->names.count;
    json_t *value = json_pack("{s:i, s:s, s:b, s:o}", "format", FORMAT, "kind",
                              heed__kind_names[k->kind], "lower", (int)k->lower, "tokens", tokens);
    return write_json(k->c, dir, own_name, all, value);
}

static bool save_lines(const heed_tokenizer *k, const char *dir) {
    heed_text lines = {.c = k->c}, path = {.c = k->c};
    bool good = join(&path, dir, "vocab.txt");
    for (size_t i = 0; good && i < k->names.count; i++)
        good = heed_text_put(&lines, heed__names_text(&k->names, i),
                             heed__names_length(&k->names, i)) &&
               heed_text_put(&lines, "\n", 1);
    good = good && heed__os_write(k->c, path.s, &(heed__piece){lines.s, lines.n}, 1);
    heed_text_free(&path);
    heed_text_free(&lines);
    return good;
}

/* Writes tokenizer.json. */
static bool save_shared(const heed_tokenizer *k, const char *dir) {
    heed_text made = {.c = k->c}, path = {.c = k->c};
    const heed_text *file = k->pipeline ? &k->pipeline->file : &made;
    bool good = join(&path, dir, shared_name) &&
                (k->pipeline || heed__put_hugging_face(k, NULL, &made)) &&
                heed__os_write(k->c, path.s, &(heed__piece){file->s, file->n}, 1);
    heed_text_free(&path);
    heed_text_free(&made);
    return good;
}

/* Names a special token: "sep_token", or "eos_token" if its name is not of BERT's kind, "[SEP]". */
static bool put_role(const heed_tokenizer *k, int id, const char *role, const char *other,
                     json_t *out) {
    const char *name = id < 0 ? "" : heed__names_text(&k->names, (size_t)id);
    return !*name || json_object_set_new(out, *name == '[' ? role : other, json_string(name)) == 0;
}

/* Writes tokenizer_config.json: a class that reads tokenizer.json as it is, except for BERT's. */
static bool save_foreign(const heed_tokenizer *k, const char *dir) {
    bool bert = k->kind == HEED__WORDPIECE && !k->pipeline;
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
    return write_json(k->c, dir, foreign_name, all, out);
}

/* Removes the files of another tokenizer: one that was saved here before would be opened first. */
static bool remove_others(const heed_tokenizer *k, const char *dir, bool lines, bool own) {
    static const char *const names[] = {
        own_name,     "vocab.txt",         "vocab.json",
        "merges.txt", "added_tokens.json", "special_tokens_map.json"};
    heed_text path = {.c = k->c};
    bool good = true;
    for (size_t i = 0; good && i < sizeof names / sizeof *names; i++) {
        if ((i == 0 && own) || (i == 1 && lines)) continue;
        good = join(&path, dir, names[i]) &&
               (!heed__os_is_file(path.s) || heed__os_remove(k->c, path.s));
    }
    heed_text_free(&path);
    return good;
}

bool heed_tokenizer_save(const heed_tokenizer *k, const char *dir) {
    if (!k || !dir || heed__stopped(k->c)) return false;
    bool there = heed__os_exists(dir), own = !k->pipeline, lines = own && k->kind >= HEED__WORD;
    bool ok = heed__os_make_dir(k->c, dir) && save_shared(k, dir) && save_foreign(k, dir) &&
              (!lines || save_lines(k, dir)) && (!own || save_own(k, dir)) &&
              remove_others(k, dir, lines, own);
    if (!ok && !there) heed__os_remove(k->c, dir);
    return ok;
}

/* ---- opening ---- */

/* Adds a token, unless it is empty, too long, or of several characters in a char tokenizer. */
static bool add(heed_tokenizer *k, const char *s, size_t n, const char *path) {
    size_t id = k->names.count;
    if (n == 0) return heed_fail(k->c, HEED_DATA, "token is empty: %s: token %zu", path, id);
    if (n >= HEED__TOKEN_BYTES)
        return heed_fail(k->c, HEED_DATA,
                         "token is too long: %s: token %zu: expected under %d bytes, found %zu",
                         path, id, HEED__TOKEN_BYTES, n);
    int32_t c;
    char quoted[HEED_QUOTE];
    bool special = false;
    for (int i = 0; i < HEED__SPECIALS; i++) special |= strcmp(s, heed__special_names[i]) == 0;
    if (k->kind == HEED__CHAR && !special && heed_utf8_read(s, n, &c) != n)
        return heed_fail(k->c, HEED_DATA, "token is not one character: %s: token %zu is %s", path,
                         id, heed_quote(quoted, s, n));
    return heed__tokenizer_add(k, s, n);
}

static bool add_json(heed_tokenizer *k, const json_t *tokens, const char *path) {
    for (size_t i = 0; i < json_array_size(tokens); i++) {
        const json_t *token = json_array_get(tokens, i);
        const char *s = json_string_value(token);
        if (!s) return heed_fail(k->c, HEED_DATA, "token is not a string: %s: token %zu", path, i);
        if (!add(k, s, json_string_length(token), path)) return false;
    }
    return true;
}

/* Ids 0 to 255 of a byte tokenizer are the bytes. */
static bool bytes_in_place(const heed_tokenizer *k, const char *path) {
    for (int i = 0; i < 256; i++) {
        char name[8], quoted[HEED_QUOTE];
        const char *found = heed_token_text(k, i);
        heed__byte_name(i, name);
        if (strcmp(found, name) != 0)
            return heed_fail(k->c, HEED_DATA,
                             "token is not its byte: %s: expected \"%s\" as token %d, found %s",
                             path, name, i, heed_quote(quoted, found, strlen(found)));
    }
    return true;
}

static heed_tokenizer *from_json(heed_ctx *c, const json_t *all, const char *path) {
    const json_t *tokens = json_object_get(all, "tokens"), *lower = json_object_get(all, "lower");
    const char *name = json_string_value(json_object_get(all, "kind"));
    const json_t *format = json_object_get(all, "format");
    int kind = -1;
    if (!json_is_array(tokens) || !json_is_boolean(lower) || !name || !json_is_integer(format))
        heed_fail(c, HEED_DATA,
                  "not a tokenizer of heed: %s: expected format, kind, lower and tokens", path);
    else if (json_integer_value(format) != FORMAT)
        heed_fail(c, HEED_DATA,
                  "tokenizer is of another version: %s: expected format %d, found "
                  "%" JSON_INTEGER_FORMAT,
                  path, FORMAT, json_integer_value(format));
    else if (strcmp(name, heed__kind_names[HEED__BPE]) == 0)
        heed_fail(c, HEED_DATA, "not a tokenizer of heed: %s: expected merges in tokenizer.json",
                  path);
    else
        kind = heed__kind_of(c, name);
    heed_tokenizer *k =
        kind < 0 ? NULL : heed__tokenizer_new(c, (heed__kind)kind, json_is_true(lower));
    if (k && add_json(k, tokens, path) && (kind != HEED__BYTE || bytes_in_place(k, path))) return k;
    heed_tokenizer_free(k);
    return NULL;
}

static bool add_lines(heed_tokenizer *k, char *s, size_t n, const char *path) {
    for (size_t at = 0, length; at < n; at += length + 1) {
        length = heed__line_length(s + at, n - at);
        s[at + length] = 0;
        if (!add(k, s + at, length, path)) return false;
    }
    return true;
}

static bool has_capitals(const heed_tokenizer *k) {
    for (size_t i = 0; i < k->names.count; i++) {
        const char *s = heed__names_text(&k->names, i);
        size_t n = heed__names_length(&k->names, i);
        int32_t c;
        for (size_t at = 0; s[0] != '[' && at < n;) {
            at += heed_utf8_read(s + at, n - at, &c);
            if (c >= 0 && heed__lower(c) != c) return true;
        }
    }
    return false;
}

/* A vocab.txt does not say whether to lower-case text: decided by its tokens. */
static heed_tokenizer *open_lines(heed_ctx *c, const char *path) {
    size_t n;
    char *s = heed_text_read(c, path, &n);
    heed_tokenizer *k = s ? heed__tokenizer_new(c, HEED__WORDPIECE, false) : NULL;
    bool good = k && add_lines(k, s, n, path);
    heed__free(s);
    if (good) {
        k->lower = !has_capitals(k);
        return k;
    }
    heed_tokenizer_free(k);
    return NULL;
}

/* Reads whether to lower-case from the folder's tokenizer_config.json, if given there. */
static bool read_foreign(heed_tokenizer *k, const char *dir) {
    heed_text path = {.c = k->c};
    bool good = join(&path, dir, foreign_name);
    if (good && heed__os_exists(path.s)) {
        json_t *all = heed__json_read(k->c, path.s);
        const json_t *lower = json_object_get(all, "do_lower_case");
        good = all != NULL;
        if (json_is_boolean(lower)) k->lower = json_is_true(lower);
        json_decref(all);
    }
    heed_text_free(&path);
    return good;
}

/* "vocab.json", "gpt2-vocab.json" */
static bool is_named(const char *path, const char *name) {
    size_t n = strlen(path), m = strlen(name);
    return n >= m && strcmp(path + n - m, name) == 0;
}

/* The file to read at a path: in a folder the first of these, beside a merges.txt the vocab.json.
 */
static bool find_file(heed_ctx *c, const char *path, heed_text *out) {
    static const char *const names[] = {own_name, shared_name, "vocab.json", "vocab.txt"};
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
                     "no tokenizer: %s: expected %s, %s, vocab.json or vocab.txt in this folder",
                     path, own_name, shared_name);
}

/* Reads a vocab.json of GPT-2's kind, and the merges.txt beside it. */
static heed_tokenizer *open_gpt2(heed_ctx *c, const char *path, const json_t *all, const char *text,
                                 size_t n) {
    const json_t *end = json_object_get(all, heed__end_of_text);
    heed_text name = {.c = c}, file = {.c = c};
    const char *slash = strrchr(path, '/');
    size_t length;
    char *merges = NULL;
    heed_tokenizer *k = NULL;
    if (heed_text_add(&name, "%.*smerges.txt", slash ? (int)(slash + 1 - path) : 0, path) &&
        (merges = heed_text_read(c, name.s, &length)) &&
        heed__put_gpt2(text, n, json_is_integer(end) ? (int)json_integer_value(end) : -1, merges,
                       &file))
        k = heed__parse_hugging_face(c, path, &file);
    heed__free(merges);
    heed_text_free(&name);
    heed_text_free(&file);
    return k;
}

/* What the file is, its keys say. */
static heed_tokenizer *open_json(heed_ctx *c, const char *path) {
    enum { LIMIT = 1 << 28 };
    size_t n;
    char *text = (char *)heed__os_read(c, path, LIMIT, &n);
    json_t *all = text ? heed__json_parse(c, path, text, n) : NULL;
    heed_tokenizer *k = NULL;
    bool gpt2 = is_named(path, "vocab.json") && json_is_object(all);
    if (gpt2)
        k = open_gpt2(c, path, all, text, n);
    else if (json_object_get(all, "model"))
        k = heed__from_hugging_face(c, path, all, text, n);
    else if (all)
        k = from_json(c, all, path);
    json_decref(all);
    heed__free(text);
    return k;
}

heed_tokenizer *heed_tokenizer_open(heed_ctx *c, const char *path) {
    if (heed__stopped(c) || !path) return NULL;
    heed_text file = {.c = c};
    heed_tokenizer *k = NULL;
    if (find_file(c, path, &file)) {
        bool json = file.n > 5 && strcmp(file.s + file.n - 5, ".json") == 0;
        k = json ? open_json(c, file.s) : open_lines(c, file.s);
        bool foreign = !json && heed__os_is_dir(path);
        if (k && !k->pipeline &&
            (!heed__tokenizer_finish(k, file.s) || (foreign && !read_foreign(k, path)))) {
            heed_tokenizer_free(k);
            k = NULL;
        }
    }
    heed_text_free(&file);
    return k;
}
