/* tokenizer.c -- the kinds as presets of a tokenizer.json; what follows from tokens and steps. */
#include "tokenizer/tokenizer.h"

#include <stdio.h>
#include <string.h>

const char *const heed__kind_names[] = {"char", "byte", "word", "wordpiece", "bpe", NULL};
const char *const heed__special_names[HEED__SPECIALS] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                                         "[MASK]"};
const char heed__end_of_text[] = "<|endoftext|>";

int heed__kind_find(const char *name) {
    for (int i = 0; heed__kind_names[i]; i++)
        if (strcmp(heed__kind_names[i], name) == 0) return i;
    return -1;
}

/* ---- memory ---- */

static void tokenizer_free(heed__owned *object) {
    heed_tokenizer *k = (heed_tokenizer *)object;
    heed__steps *const lists[] = {&k->normalizers, &k->splitters, &k->decoders};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (size_t j = 0; j < lists[i]->count; j++) {
            heed__free(lists[i]->of[j].text);
            heed__free(lists[i]->of[j].with);
            heed__pattern_free(lists[i]->of[j].pattern);
        }
        heed__free(lists[i]->of);
    }
    for (size_t i = 0; i < k->added_count; i++) heed__free(k->added[i].text);
    heed__names_free(&k->names);
    heed__names_free(&k->merges);
    heed_text_free(&k->shown);
    heed_text_free(&k->file);
    void *const rest[] = {k->finders[0].of, k->finders[1].of, k->added,  k->added_of,
                          k->unk_text,      k->prefix,        k->suffix, k->joined,
                          k->shown_at,      k->frame,         k};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) heed__free(rest[i]);
}

heed_tokenizer *heed__tokenizer_new(heed_ctx *c) {
    heed_tokenizer *k = heed__stopped(c) ? NULL : heed__alloc(c, sizeof *k);
    if (!k) return NULL;
    k->c = k->names.c = k->merges.c = k->shown.c = k->file.c = c;
    k->unk = -1;
    k->special = (heed_specials){-1, -1, -1, -1, -1, -1};
    heed__own(c, &k->owned, tokenizer_free);
    return k;
}

void heed_tokenizer_free(heed_tokenizer *k) {
    if (k) heed__release(k->c, &k->owned);
}

/* ---- bytes as characters: 33-126, 161-172 and 174-255 are themselves, others U+0100 on ---- */

static bool is_itself(int32_t c) {
    return (c >= 33 && c <= 126) || (c >= 161 && c <= 255 && c != 173);
}

int32_t heed__byte_char(int byte) {
    if (is_itself(byte)) return byte;
    return 256 + (byte < 33 ? byte : byte < 173 ? byte - 127 + 33 : 67);
}

int heed__char_byte(int32_t c) {
    if (c < 256) return is_itself(c) ? c : -1;
    c -= 256;
    return c < 33 ? c : c < 67 ? c - 33 + 127 : c == 67 ? 173 : -1;
}

bool heed__put_byte_chars(heed_text *out, const char *bytes, size_t n) {
    char text[4];
    for (size_t i = 0; i < n; i++)
        if (!heed_text_put(out, text,
                           heed_utf8_write(heed__byte_char((unsigned char)bytes[i]), text)))
            return false;
    return true;
}

bool heed__put_char_bytes(heed_text *out, const char *token, size_t n) {
    int32_t c;
    size_t start = out->n;
    for (size_t at = 0; at < n;) {
        at += heed_utf8_read(token + at, n - at, &c);
        int byte = heed__char_byte(c);
        if (byte < 0) {
            out->n = start;
            return heed_text_put(out, token, n);
        }
        if (out->n + 1 < out->capacity)
            out->s[out->n++] = (char)byte;
        else if (!heed_text_put(out, &(char){(char)byte}, 1))
            return false;
    }
    return heed_text_put(out, "", 0);
}

/* ---- presets ---- */

#define BYTES(regex)                                                                               \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_"              \
    "regex\":" regex "}"
#define BERT                                                                                       \
    "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"                             \
    "\"handle_chinese_chars\":true,\"strip_accents\":%s,\"lowercase\":%s},"                        \
    "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"}"
#define PIECES  "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}"
#define MODEL   ",\"model\":{\"type\":"
#define UNKNOWN ",\"unk_token\":\"[UNK]\""
#define MERGES                                                                                     \
    MODEL "\"BPE\",\"dropout\":null,\"unk_token\":null,\"continuing_subword_prefix\":null,"        \
          "\"end_of_word_suffix\":null,\"fuse_unk\":false,\"byte_fallback\":false,"                \
          "\"ignore_merges\":false"

/* By kind: up to the post-processor (BERT where it is NULL), and from the decoder to the
 * vocabulary. Words have a decoder of ours beside that of the file. */
static const struct {
    const char *steps, *model;
} presets[] = {
    [HEED__CHAR] = {"\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{"
                    "\"Regex\":\"[\\\\s\\\\S]\"},\"behavior\":\"Isolated\",\"invert\":false}",
                    "{\"type\":\"Fuse\"}" MODEL "\"WordLevel\"" UNKNOWN},
    [HEED__BYTE] = {"\"normalizer\":null,\"pre_tokenizer\":" BYTES("false"), BYTES("true") MERGES},
    [HEED__WORD] = {NULL, PIECES MODEL "\"WordLevel\"" UNKNOWN},
    [HEED__WORDPIECE] = {NULL, PIECES MODEL
                         "\"WordPiece\"" UNKNOWN
                         ",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100"},
    [HEED__BPE] = {"\"normalizer\":null,\"pre_tokenizer\":" BYTES("true"), BYTES("true") MERGES}};

static void put_steps(heed__kind kind, bool lower, heed_text *out) {
    bool strips = lower && kind == HEED__WORDPIECE;
    if (presets[kind].steps)
        heed_text_add(out, "%s", presets[kind].steps);
    else
        heed_text_add(out, BERT, strips ? "true" : "false", lower ? "true" : "false");
}

heed_tokenizer *heed__preset_new(heed_ctx *c, heed__kind kind, bool lower) {
    heed_text text = {.c = c};
    heed_text_add(&text, "{");
    put_steps(kind, lower, &text);
    heed_tokenizer *k = NULL;
    if (heed_text_add(&text, ",\"decoder\":%s}}", presets[kind].model))
        k = heed__parse_tokenizer(c, heed__kind_names[kind], text.s, text.n, true);
    heed_text_free(&text);
    if (!k) return NULL;
    k->kind = kind;
    k->preset = true;
    if (!presets[kind].steps) k->decoders.of[0].kind = HEED__FROM_WORDS;
    if (kind == HEED__WORD) k->decoders.of[0].n = 0; /* no token is a piece of another */
    if (heed__encode_prepare(k)) return k;           /* without tokens: to count words */
    heed_tokenizer_free(k);
    return NULL;
}

static void put_special(heed_text *out, bool first, int id, const char *name) {
    heed_text_add(out,
                  "%s{\"id\":%d,\"content\":\"%s\",\"single_word\":false,\"lstrip\":false,"
                  "\"rstrip\":false,\"normalized\":false,\"special\":true}",
                  first ? "" : ",", id, name);
}

#define SPECIAL(name, type)  "{\"SpecialToken\":{\"id\":\"[" name "]\",\"type_id\":" type "}}"
#define SEQUENCE(name, type) "{\"Sequence\":{\"id\":\"" name "\",\"type_id\":" type "}}"
#define SINGLE               SPECIAL("CLS", "0") "," SEQUENCE("A", "0") "," SPECIAL("SEP", "0")
#define TOKEN(name)                                                                                \
    "\"[" name "]\":{\"id\":\"[" name "]\",\"ids\":[%d],\"tokens\":[\"[" name "]\"]}"

/* [CLS] A [SEP], and [CLS] A [SEP] B [SEP], if these are tokens. */
static void put_frame(int cls, int sep, heed_text *out) {
    if (cls < 0 || sep < 0)
        heed_text_add(out, ",\"post_processor\":null");
    else
        heed_text_add(out,
                      ",\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[" SINGLE
                      "],\"pair\":[" SINGLE "," SEQUENCE("B", "1") "," SPECIAL("SEP", "1") //
                      "],\"special_tokens\":{" TOKEN("CLS") "," TOKEN("SEP") "}}",
                      cls, sep);
}

static void put_merges(const heed_tokenizer *k, heed_text *out) {
    heed_json_open(out, "merges", '[');
    for (size_t i = 0; i < k->merges.count; i++) {
        int32_t pair[2];
        memcpy(pair, heed__names_text(&k->merges, i), sizeof pair);
        heed_json_open(out, NULL, '[');
        for (int j = 0; j < 2; j++)
            heed_json_text(out, NULL, heed__names_text(&k->names, (size_t)pair[j]));
        heed_json_close(out, ']');
    }
    heed_json_close(out, ']');
}

bool heed__put_tokenizer(const heed_tokenizer *k, heed_text *out) {
    if (k->file.n) return heed_text_put(out, k->file.s, k->file.n);
    bool first = true;
    heed_text_add(out, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,"
                       "\"added_tokens\":[");
    for (size_t i = 0; i < k->names.count; i++)
        if (k->added_of[i] >= 0) {
            put_special(out, first, (int)i, heed__names_text(&k->names, i));
            first = false;
        }
    heed_text_add(out, "],");
    put_steps(k->kind, k->lower, out);
    put_frame(heed_token_id(k, "[CLS]"), heed_token_id(k, "[SEP]"), out);
    heed_text_add(out, ",\"decoder\":%s", presets[k->kind].model);
    heed_json_open(out, "vocab", '{');
    for (size_t i = 0; i < k->names.count; i++)
        heed_json_int(out, heed__names_text(&k->names, i), (int64_t)i);
    heed_json_close(out, '}');
    if (k->model == HEED__BPE) put_merges(k, out);
    return heed_text_add(out, "}}\n") && !heed__stopped(k->c);
}

bool heed__put_gpt2(const char *vocab, size_t n, int end, const char *merges, heed_text *out) {
    heed_text_add(out, "{\"added_tokens\":[");
    if (end >= 0) put_special(out, true, end, heed__end_of_text);
    heed_text_add(out, "],\"pre_tokenizer\":" BYTES("true") ",\"decoder\":" BYTES("true") MODEL
                  "\"BPE\",\"merges\":[");
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

/* ---- tokens ---- */

bool heed__tokenizer_add(heed_tokenizer *k, const char *token, size_t n) {
    size_t before = k->names.count;
    int32_t id = heed__names_add(&k->names, token, n);
    if (id < 0) return false;
    char quoted[HEED_QUOTE];
    if ((size_t)id < before)
        return heed_fail(k->c, HEED_DATA, "token occurs twice in the vocabulary: %s as %d and %zu",
                         heed_quote(quoted, token, n), (int)id, before);
    return k->names.count <= HEED__VOCAB_MAX ||
           heed_fail(k->c, HEED_DATA, "vocabulary is too large: expected at most %d tokens",
                     HEED__VOCAB_MAX);
}

bool heed__added_put(heed_tokenizer *k, heed__added a) {
    a.number = k->added_count;
    if (!heed__grow(k->c, &k->added, &k->added_capacity, k->added_count + 1, sizeof a)) {
        heed__free(a.text);
        return false;
    }
    k->added[k->added_count++] = a;
    return true;
}

bool heed__frame_put(heed_tokenizer *k, int32_t id, bool after) {
    size_t count = k->before + k->after;
    if (!heed__grow(k->c, &k->frame, &k->frame_capacity, count + 1, sizeof *k->frame)) return false;
    k->frame[count] = id;
    ++*(after ? &k->after : &k->before);
    return true;
}

/* The text that is shown of each token of bytes: these or, of a byte tokenizer, "a" and "<0xE2>".
 */
static bool find_shown(heed_tokenizer *k) {
    size_t count = k->names.count;
    if (!heed__grow(k->c, &k->shown_at, &k->shown_capacity, count + 1, sizeof *k->shown_at))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *token = heed__names_text(&k->names, i);
        size_t n = heed__names_length(&k->names, i);
        bool odd = k->kind == HEED__BYTE && i < 256 && i != '\n' && (i < 32 || i > 126);
        if (!(odd ? heed_text_add(&k->shown, "<0x%02X>", (unsigned)i)
                  : heed__put_char_bytes(&k->shown, token, n)) ||
            !heed_text_put(&k->shown, "", 1))
            return false;
        k->shown_at[i + 1] = k->shown.n;
    }
    return true;
}

const char *heed__shown(const heed_tokenizer *k, size_t id, size_t *n) {
    *n = k->bytes ? k->shown_at[id + 1] - k->shown_at[id] - 1 : heed__names_length(&k->names, id);
    return k->bytes ? k->shown.s + k->shown_at[id] : heed__names_text(&k->names, id);
}

/* The id of the first of the names, separated by spaces, that is a token. */
static int find_special(const heed_tokenizer *k, const char *names) {
    int32_t id = -1;
    for (size_t n; id < 0 && *names; names += n + (names[n] == ' ')) {
        n = strcspn(names, " ");
        id = heed__names_look(&k->names, names, n);
    }
    return id;
}

bool heed__tokenizer_finish(heed_tokenizer *k) {
    size_t count = k->names.count;
    k->added_of = heed__alloc_array(k->c, count + 1, sizeof *k->added_of);
    if (!k->added_of || !heed__encode_prepare(k) || (k->bytes && !find_shown(k))) return false;
    for (size_t i = 0; i < count; i++) k->added_of[i] = -1;
    for (size_t i = k->added_count; i-- > 0;) k->added_of[k->added[i].id] = (int32_t)i;
    k->special = (heed_specials){
        .pad = find_special(k, "[PAD] <pad> <|pad|>"),
        .unk = k->unk >= 0 ? k->unk : find_special(k, "[UNK] <unk>"),
        .cls = k->before ? k->frame[0] : find_special(k, "[CLS] <s> <bos> <|begin_of_text|>"),
        .sep = k->after ? k->frame[k->before]
                        : find_special(k, "[SEP] </s> <eos> <|end_of_text|> <|endoftext|>"),
        .mask = find_special(k, "[MASK] <mask>"),
        .newline = heed_token_id(k, "\n")};
    memcpy(k->special_ids, &k->special, sizeof k->special_ids);
    return true;
}

bool heed__preset_finish(heed_tokenizer *k, const char *from) {
    bool words = k->kind == HEED__WORD || k->kind == HEED__WORDPIECE;
    for (int i = 0; i <= HEED__SPECIALS; i++) {
        if (i == HEED__SPECIALS && k->kind != HEED__BPE) break;
        const char *name = i < HEED__SPECIALS ? heed__special_names[i] : heed__end_of_text;
        heed__added a = {.id = find_special(k, name), .special = true, .n = strlen(name)};
        if (a.id < 0 && (words || (i == HEED__UNK && k->kind == HEED__CHAR)))
            return heed_fail(k->c, HEED_DATA,
                             "vocabulary lacks a special token: %s: expected %s among the %zu "
                             "tokens of a %s tokenizer",
                             from ? from : "training", name, k->names.count,
                             heed__kind_names[k->kind]);
        if (a.id >= 0 && (!(a.text = heed__copy_text(k->c, name)) || !heed__added_put(k, a)))
            return false;
    }
    k->own = (int32_t)k->names.count;
    k->unk = k->unk_text ? find_special(k, k->unk_text) : -1;
    if (!heed__tokenizer_finish(k)) return false;
    if (k->kind != HEED__BPE) return true;
    if (!heed__put_tokenizer(k, &k->file)) return false;
    k->preset = false;
    return k->special.cls < 0 || find_special(k, "[CLS]") < 0 ||
           (heed__frame_put(k, k->special.cls, false) && heed__frame_put(k, k->special.sep, true));
}

/* ---- access ---- */

const char *heed_tokenizer_kind(const heed_tokenizer *k) {
    return k ? heed__kind_names[k->kind] : "";
}

uint64_t heed_tokenizer_digest(const heed_tokenizer *k) {
    if (!k) return 0;
    const char *kind = heed__kind_names[k->kind];
    uint64_t h = heed__hash64(kind, strlen(kind) + 1, 0);
    if (!k->preset) return heed__hash64(k->file.s, k->file.n, h);
    h = heed__hash64(k->lower ? "lower" : "cased", 6, h);
    return k->bytes ? heed__hash64(k->shown.s, k->shown.n, h)
                    : heed__hash64(k->names.bytes, k->names.used, h);
}

int heed_vocab_size(const heed_tokenizer *k) { return k ? (int)k->names.count : 0; }

heed_specials heed_tokenizer_specials(const heed_tokenizer *k) {
    return k ? k->special : (heed_specials){-1, -1, -1, -1, -1, -1};
}

/* The id of a token of bytes: added ones first, as they are written. */
static int id_of_bytes(const heed_tokenizer *k, const char *token) {
    heed_text text = {.c = k->c};
    int id = heed__names_look(&k->names, token, strlen(token));
    if (id >= 0 && k->added_of && k->added_of[id] >= 0) return id;
    for (id = 0; k->kind == HEED__BYTE && id < 256; id++)
        if (strcmp(token, heed_token_text(k, id)) == 0) return id;
    id = -1;
    if (heed__put_byte_chars(&text, token, strlen(token)))
        id = heed__names_look(&k->names, text.s ? text.s : "", text.n);
    heed_text_free(&text);
    return id;
}

int heed_token_id(const heed_tokenizer *k, const char *token) {
    if (!k || !token) return -1;
    return k->bytes ? id_of_bytes(k, token) : heed__names_look(&k->names, token, strlen(token));
}

const char *heed_token_text(const heed_tokenizer *k, int id) {
    size_t n;
    if (!k || id < 0 || (size_t)id >= k->names.count) return "";
    const char *shown = heed__shown(k, (size_t)id, &n);
    return *shown ? shown : heed__names_text(&k->names, (size_t)id);
}
