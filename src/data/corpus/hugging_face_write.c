/* hugging_face_write.c -- writes tokenizers as tokenizer.json, so that Hugging Face's tokenizers
 * give the same ids. */
#include "data/corpus/hugging_face.h"

#include <string.h>

static void put_type(heed_text *out, const char *key, const char *type) {
    heed_json_open(out, key, '{');
    heed_json_text(out, "type", type);
}

static void put_null(heed_text *out, const char *key) { heed_json_text(out, key, NULL); }

static void put_bool(heed_text *out, const char *key, bool value) {
    heed_json_bool(out, key, value);
}

/* ---- sections ---- */

static void put_special(heed_text *out, int id, const char *name) {
    heed_json_open(out, NULL, '{');
    heed_json_int(out, "id", id);
    heed_json_text(out, "content", name);
    put_bool(out, "single_word", false);
    put_bool(out, "lstrip", false);
    put_bool(out, "rstrip", false);
    put_bool(out, "normalized", false);
    put_bool(out, "special", true);
    heed_json_close(out, '}');
}

static void put_added(const heed_tokenizer *k, heed_text *out) {
    heed_json_open(out, "added_tokens", '[');
    for (int i = 0; i < heed_vocab_size(k); i++) {
        const char *name = heed__names_text(&k->names, (size_t)i);
        bool special = k->kind == HEED__BPE && strcmp(name, heed__end_of_text) == 0;
        for (int j = 0; j < HEED__SPECIALS; j++)
            special |= strcmp(name, heed__special_names[j]) == 0;
        if (!special) continue;
        put_special(out, i, name);
    }
    heed_json_close(out, ']');
}

/* Of words. */
static void put_normalizer(const heed_tokenizer *k, heed_text *out) {
    put_type(out, "normalizer", "BertNormalizer");
    put_bool(out, "clean_text", true);
    put_bool(out, "handle_chinese_chars", true);
    put_bool(out, "strip_accents", k->lower && k->kind == HEED__WORDPIECE);
    put_bool(out, "lowercase", k->lower);
    heed_json_close(out, '}');
}

static void put_byte_level(heed_text *out, const char *key, bool regex) {
    put_type(out, key, "ByteLevel");
    put_bool(out, "add_prefix_space", false);
    put_bool(out, "trim_offsets", true);
    put_bool(out, "use_regex", regex);
    heed_json_close(out, '}');
}

static void put_splitter(const heed_tokenizer *k, heed_text *out) {
    if (k->kind == HEED__BPE || k->kind == HEED__BYTE) {
        put_byte_level(out, "pre_tokenizer", k->kind == HEED__BPE);
        return;
    }
    put_type(out, "pre_tokenizer", k->kind == HEED__CHAR ? "Split" : "BertPreTokenizer");
    if (k->kind == HEED__CHAR) {
        heed_json_open(out, "pattern", '{');
        heed_json_text(out, "Regex", "[\\s\\S]");
        heed_json_close(out, '}');
        heed_json_text(out, "behavior", "Isolated");
        put_bool(out, "invert", false);
    }
    heed_json_close(out, '}');
}

static void put_decoder(const heed_tokenizer *k, heed_text *out) {
    if (k->kind == HEED__BPE || k->kind == HEED__BYTE) {
        put_byte_level(out, "decoder", true);
        return;
    }
    put_type(out, "decoder", k->kind == HEED__CHAR ? "Fuse" : "WordPiece");
    if (k->kind != HEED__CHAR) {
        heed_json_text(out, "prefix", "##");
        put_bool(out, "cleanup", true);
    }
    heed_json_close(out, '}');
}

static void put_part(heed_text *out, const char *kind, const char *id, int type) {
    heed_json_open(out, NULL, '{');
    heed_json_open(out, kind, '{');
    heed_json_text(out, "id", id);
    heed_json_int(out, "type_id", type);
    heed_json_close(out, '}');
    heed_json_close(out, '}');
}

/* [CLS] A [SEP], and [CLS] A [SEP] B [SEP]. */
static void put_template(const heed_tokenizer *k, heed_text *out) {
    static const char *const names[] = {"[CLS]", "[SEP]"};
    put_type(out, "post_processor", "TemplateProcessing");
    for (int pair = 0; pair < 2; pair++) {
        heed_json_open(out, pair ? "pair" : "single", '[');
        put_part(out, "SpecialToken", names[0], 0);
        put_part(out, "Sequence", "A", 0);
        put_part(out, "SpecialToken", names[1], 0);
        if (pair) put_part(out, "Sequence", "B", 1);
        if (pair) put_part(out, "SpecialToken", names[1], 1);
        heed_json_close(out, ']');
    }
    heed_json_open(out, "special_tokens", '{');
    for (int i = 0; i < 2; i++) {
        heed_json_open(out, names[i], '{');
        heed_json_text(out, "id", names[i]);
        heed_json_open(out, "ids", '[');
        heed_json_int(out, NULL, i ? k->special.sep : k->special.cls);
        heed_json_close(out, ']');
        heed_json_open(out, "tokens", '[');
        heed_json_text(out, NULL, names[i]);
        heed_json_close(out, ']');
        heed_json_close(out, '}');
    }
    heed_json_close(out, '}');
    heed_json_close(out, '}');
}

/* ---- the model ---- */

static void put_vocab(const heed_tokenizer *k, heed_text *out) {
    heed_text name = {.c = out->c};
    heed_json_open(out, "vocab", '{');
    for (size_t i = 0; i < k->names.count; i++) {
        name.n = 0;
        if (k->kind == HEED__BYTE && i < 256)
            heed__put_byte_chars(&name, &(char){(char)i}, 1);
        else
            heed_text_put(&name, heed__names_text(&k->names, i), heed__names_length(&k->names, i));
        if (name.s) heed_json_int(out, name.s, (int64_t)i);
    }
    heed_json_close(out, '}');
    heed_text_free(&name);
}

static void put_merges(const heed_tokenizer *k, const heed__names *merges, heed_text *out) {
    heed_json_open(out, "merges", '[');
    for (size_t i = 0; merges && i < merges->count; i++) {
        int32_t pair[2];
        memcpy(pair, heed__names_text(merges, i), sizeof pair);
        heed_json_open(out, NULL, '[');
        for (int j = 0; j < 2; j++)
            heed_json_text(out, NULL, heed__names_text(&k->names, (size_t)pair[j]));
        heed_json_close(out, ']');
    }
    heed_json_close(out, ']');
}

static void put_model(const heed_tokenizer *k, const heed__names *merges, heed_text *out) {
    bool bytes = k->kind == HEED__BPE || k->kind == HEED__BYTE, pieces = k->kind == HEED__WORDPIECE;
    put_type(out, "model", bytes ? "BPE" : pieces ? "WordPiece" : "WordLevel");
    if (bytes) {
        put_null(out, "dropout");
        put_null(out, "unk_token");
        put_null(out, "continuing_subword_prefix");
        put_null(out, "end_of_word_suffix");
        put_bool(out, "fuse_unk", false);
        put_bool(out, "byte_fallback", false);
        put_bool(out, "ignore_merges", false);
    } else {
        heed_json_text(out, "unk_token", heed__special_names[1]);
    }
    if (pieces) heed_json_text(out, "continuing_subword_prefix", "##");
    if (pieces) heed_json_int(out, "max_input_chars_per_word", 100);
    put_vocab(k, out);
    if (bytes) put_merges(k, merges, out);
    heed_json_close(out, '}');
}

bool heed__put_hugging_face(const heed_tokenizer *k, const heed__names *merges, heed_text *out) {
    bool words = k->kind == HEED__WORD || k->kind == HEED__WORDPIECE;
    heed_json_open(out, NULL, '{');
    heed_json_text(out, "version", "1.0");
    put_null(out, "truncation");
    put_null(out, "padding");
    put_added(k, out);
    if (words)
        put_normalizer(k, out);
    else
        put_null(out, "normalizer");
    put_splitter(k, out);
    if (k->kind == HEED__WORDPIECE)
        put_template(k, out);
    else
        put_null(out, "post_processor");
    put_decoder(k, out);
    put_model(k, merges, out);
    heed_json_close(out, '}');
    return heed_text_put(out, "\n", 1) && !heed__stopped(k->c);
}

bool heed__put_gpt2(const char *vocab, size_t n, int end, const char *merges, heed_text *out) {
    heed_json_open(out, NULL, '{');
    heed_json_open(out, "added_tokens", '[');
    if (end >= 0) put_special(out, end, heed__end_of_text);
    heed_json_close(out, ']');
    put_byte_level(out, "pre_tokenizer", true);
    put_byte_level(out, "decoder", true);
    put_type(out, "model", "BPE");
    heed_json_open(out, "merges", '[');
    for (size_t length; *merges; merges += length + (merges[length] == '\n')) {
        length = strcspn(merges, "\n");
        if (length == 0 || strncmp(merges, "#version", 8) == 0) continue;
        heed_text line = {.c = out->c};
        if (heed_text_put(&line, merges, length)) heed_json_text(out, NULL, line.s);
        heed_text_free(&line);
    }
    heed_json_close(out, ']');
    heed_text_add(out, ",\"vocab\":");
    heed_text_put(out, vocab, n);
    heed_json_close(out, '}');
    heed_json_close(out, '}');
    return !heed__stopped(out->c);
}
