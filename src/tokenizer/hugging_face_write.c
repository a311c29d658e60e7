/* hugging_face_write.c -- writes tokenizers as tokenizer.json, so that Hugging Face's tokenizers
 * give the same ids. */
#include "tokenizer/hugging_face.h"

#include <string.h>

static void put_special(heed_text *out, bool first, int id, const char *name) {
    heed_text_add(out,
                  "%s{\"id\":%d,\"content\":\"%s\",\"single_word\":false,\"lstrip\":false,"
                  "\"rstrip\":false,\"normalized\":false,\"special\":true}",
                  first ? "" : ",", id, name);
}

static void put_added(const heed_tokenizer *k, heed_text *out) {
    bool first = true;
    heed_text_add(out, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,"
                       "\"added_tokens\":[");
    for (int i = 0; i < heed_vocab_size(k); i++) {
        const char *name = heed__names_text(&k->names, (size_t)i);
        bool special = k->kind == HEED__BPE && strcmp(name, heed__end_of_text) == 0;
        for (int j = 0; j < HEED__SPECIALS; j++)
            special |= strcmp(name, heed__special_names[j]) == 0;
        if (special) put_special(out, first, i, name), first = false;
    }
    heed_text_add(out, "],");
}

#define SPECIAL(name, type)  "{\"SpecialToken\":{\"id\":\"[" name "]\",\"type_id\":" type "}}"
#define SEQUENCE(name, type) "{\"Sequence\":{\"id\":\"" name "\",\"type_id\":" type "}}"
#define SINGLE               SPECIAL("CLS", "0") "," SEQUENCE("A", "0") "," SPECIAL("SEP", "0")
#define TOKEN(name)                                                                                \
    "\"[" name "]\":{\"id\":\"[" name "]\",\"ids\":[%d],\"tokens\":[\"[" name "]\"]}"

/* [CLS] A [SEP], and [CLS] A [SEP] B [SEP], if these are tokens. */
static void put_frame(const heed_tokenizer *k, heed_text *out) {
    int cls = heed_token_id(k, "[CLS]"), sep = heed_token_id(k, "[SEP]");
    if (cls < 0 || sep < 0)
        heed_text_add(out, ",\"post_processor\":null");
    else
        heed_text_add(out,
                      ",\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[" SINGLE
                      "],\"pair\":[" SINGLE "," SEQUENCE("B", "1") "," SPECIAL("SEP", "1") //
                      "],\"special_tokens\":{" TOKEN("CLS") "," TOKEN("SEP") "}}",
                      cls, sep);
}

/* The normalizer, splitter, post-processor and decoder; then the model begins. */
static void put_steps(const heed_tokenizer *k, heed_text *out) {
#define BYTES                                                                                      \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":%s}"
#define MODEL "\"model\":{\"type\":"
    static const char chars[] =
        "\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":"
        "\"[\\\\s\\\\S]\"},\"behavior\":\"Isolated\",\"invert\":false}";
    static const char bytes[] =
        ",\"decoder\":" BYTES "," MODEL
        "\"BPE\",\"dropout\":null,\"unk_token\":null,\"continuing_subword_prefix\":null,"
        "\"end_of_word_suffix\":null,\"fuse_unk\":false,\"byte_fallback\":false,"
        "\"ignore_merges\":false";
    static const char words[] =
        "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
        "\"handle_chinese_chars\":true,\"strip_accents\":%s,\"lowercase\":%s},"
        "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"}";
    bool pieces = k->kind == HEED__WORDPIECE, letters = k->kind == HEED__CHAR;
    bool merged = k->kind == HEED__BYTE || k->kind == HEED__BPE;
    if (letters)
        heed_text_add(out, "%s", chars);
    else if (merged)
        heed_text_add(out, "\"normalizer\":null,\"pre_tokenizer\":" BYTES,
                      k->kind == HEED__BPE ? "true" : "false");
    else
        heed_text_add(out, words, k->lower && pieces ? "true" : "false",
                      k->lower ? "true" : "false");
    put_frame(k, out);
    if (letters)
        heed_text_add(out, ",\"decoder\":{\"type\":\"Fuse\"}," MODEL
                           "\"WordLevel\",\"unk_token\":\"[UNK]\"");
    else if (merged)
        heed_text_add(out, bytes, "true");
    else
        heed_text_add(
            out,
            ",\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}," MODEL
            "\"%s\",\"unk_token\":\"[UNK]\"%s",
            pieces ? "WordPiece" : "WordLevel",
            pieces ? ",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100" : "");
}

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

bool heed__put_hugging_face(const heed_tokenizer *k, const heed__names *merges, heed_text *out) {
    put_added(k, out);
    put_steps(k, out);
    put_vocab(k, out);
    if (k->kind == HEED__BYTE || k->kind == HEED__BPE) {
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
    return heed_text_add(out, "}}\n") && !heed__stopped(k->c);
}

bool heed__put_gpt2(const char *vocab, size_t n, int end, const char *merges, heed_text *out) {
    heed_text_add(out, "{\"added_tokens\":[");
    if (end >= 0) put_special(out, true, end, heed__end_of_text);
    heed_text_add(
        out, "],\"pre_tokenizer\":" BYTES ",\"decoder\":" BYTES "," MODEL "\"BPE\",\"merges\":[",
        "true", "true");
    for (size_t length; *merges; merges += length + (merges[length] == '\n')) {
        length = strcspn(merges, "\n");
        if (length == 0 || strncmp(merges, "#version", 8) == 0) continue;
        heed_text line = {.c = out->c};
        if (heed_text_put(&line, merges, length)) heed_json_text(out, NULL, line.s);
        heed_text_free(&line);
    }
    heed_text_add(out, "],\"vocab\":");
    return heed_text_put(out, vocab, n) && heed_text_add(out, "}}\n") && !heed__stopped(out->c);
}
