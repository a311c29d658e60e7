/* tokenizer.c -- a tokenizer: what follows from its tokens and steps, the kinds as presets of a
 * tokenizer.json, and that file of Hugging Face's tokenizers, of which what is not supported is
 * refused by its place in it. On disk a tokenizer is a folder with tokenizer.json and
 * tokenizer_config.json, from which AutoTokenizer reads how to open it; word and wordpiece also
 * write vocab.txt, one token per line. */
#include "tokenizer/tokenizer.h"

#include "core/os.h"
#include "io/io.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
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

static heed_tokenizer *new_tokenizer(heed_ctx *c) {
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
                           heed__utf8_write(heed__byte_char((unsigned char)bytes[i]), text)))
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

static bool put_added(heed_tokenizer *k, heed__added a) {
    a.number = k->added_count;
    if (!heed__grow(k->c, &k->added, &k->added_capacity, k->added_count + 1, sizeof a)) {
        heed__free(a.text);
        return false;
    }
    k->added[k->added_count++] = a;
    return true;
}

static bool put_frame_id(heed_tokenizer *k, int32_t id, bool after) {
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

/* Finds what follows from tokens, added tokens and steps. */
static bool finish(heed_tokenizer *k) {
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

/* ---- tokenizer.json: reading ---- */

enum { PLACE = 128 };

typedef struct {
    heed_ctx *c;
    const char *path;
    heed_tokenizer *k;
    bool preset;  /* there is no vocabulary */
    int depth;    /* of sequences in sequences */
    size_t spare; /* bytes by which normalizers may make added tokens longer */
} reader;

static bool refuse(const reader *r, const char *place, const char *expected, const json_t *found) {
    char quoted[HEED_QUOTE], *text = found ? json_dumps(found, JSON_ENCODE_ANY) : NULL;
    const char *shown = json_is_string(found) ? json_string_value(found) : text;
    heed_fail(r->c, HEED_DATA, "tokenizer.json is not supported: %s: %s: expected %s, found %s",
              r->path, place, expected,
              shown ? heed_quote(quoted, shown, strlen(shown)) : "nothing");
    free(text);
    return false;
}

static bool refuse_value(const reader *r, const char *place, const char *key, const char *expected,
                         const json_t *v) {
    char where[2 * PLACE];
    snprintf(where, sizeof where, "%s.%.60s", place, key);
    return refuse(r, where, expected, v);
}

/* ---- settings ---- */

typedef union {
    bool on;
    int number;
    const char *text;
} value;
enum { MOST = 8 };

/* A type of step or model. Its settings are words: the first character is the kind (? bool, #
 * number, = text, | behavior, ^ prepend_scheme, / pattern, of two values; - is read elsewhere or
 * ignored), then the name, then : and the default, without which a text may be absent; a bool's may
 * be "<", as the one before it, or "!", unlike it. Of a Sequence, they are the key of its list. */
typedef struct {
    const char *type, *settings;
    int what; /* a kind of step; or what the section's function does */
} form;
typedef bool (*add_form)(reader *r, const json_t *o, const char *place, int what, const value *v);
enum { SEQUENCE = -1 };

static const char *const behaviors[] = {"Isolated",       "Removed",    "MergedWithPrevious",
                                        "MergedWithNext", "Contiguous", NULL};
static const char *const schemes[] = {"always", "first", "never", NULL};

static const char *next_word(const char *words) {
    words += strcspn(words, " ");
    return words + strspn(words, " ");
}

/* Refuses keys of an object that are not among the settings, or a value that is none. */
static bool check_keys(const reader *r, const json_t *o, const char *place, const char *settings) {
    const char *key;
    json_t *v;
    if (!json_is_object(o)) return refuse(r, place, "an object", o);
    json_object_foreach((json_t *)(uintptr_t)o, key, v) {
        size_t n = strlen(key);
        const char *s = settings;
        while (*s && !(strncmp(s + 1, key, n) == 0 && strchr(" :", s[n + 1]))) s = next_word(s);
        if (!*s && strcmp(key, "type") != 0)
            return refuse_value(r, place, key, "no such setting", v);
    }
    return true;
}

static bool read_text(const reader *r, const json_t *v, const char *place, const char *key,
                      const char *otherwise, const char **out) {
    *out = v ? json_string_value(v) : otherwise;
    return (*out ? strlen(*out) < HEED__TOKEN_BYTES : !v) ||
           refuse_value(r, place, key, "a text under 1024 bytes", v);
}

/* A pattern {"String": "a"}, or {"Regex": "a"}, for which the second value is true. */
static bool read_pattern(const reader *r, const json_t *pattern, const char *place, value out[2]) {
    char where[2 * PLACE];
    bool regex = json_object_get(pattern, "Regex") != NULL;
    const char *key = regex ? "Regex" : "String";
    snprintf(where, sizeof where, "%s.pattern", place);
    out[1].on = regex;
    return check_keys(r, pattern, where, regex ? "=Regex" : "=String") &&
           read_text(r, json_object_get(pattern, key), where, key, "", &out[0].text) &&
           (*out[0].text || refuse(r, where, "a text", pattern));
}

static bool read_choice(const reader *r, const json_t *v, const char *place, const char *key,
                        const char *const *words, int otherwise, int *out) {
    const char *word = json_string_value(v);
    for (*out = 0; word && words[*out]; ++*out)
        if (strcmp(word, words[*out]) == 0) return true;
    *out = otherwise;
    char expected[PLACE] = "";
    for (int i = 0; words[i]; i++) strcat(strcat(expected, i ? ", " : ""), words[i]);
    return !v || refuse_value(r, place, key, expected, v);
}

static bool read_setting(const reader *r, const json_t *o, const char *place, const char *word,
                         value *out) {
    static const char *const texts[] = {" ", "\u2581", "##", "</w>", "[UNK]", "<unk>", ""};
    char name[40], *otherwise;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 1, " "), word + 1);
    otherwise = strchr(name, ':');
    if (otherwise) *otherwise++ = 0;
    const json_t *v = json_object_get(o, name);
    if (json_is_null(v)) v = NULL;
    switch (*word) {
    case '?':
        out->on = v                   ? json_is_true(v)
                  : *otherwise == '<' ? out[-1].on
                  : *otherwise == '!' ? !out[-1].on
                                      : *otherwise == '1';
        return !v || json_is_boolean(v) || refuse_value(r, place, name, "true or false", v);
    case '#': {
        json_int_t n = v ? json_integer_value(v) : otherwise ? atoi(otherwise) : 0;
        out->number = (int)n;
        return ((!v || json_is_integer(v)) && n >= 0 && n < 1 << 30) ||
               refuse_value(r, place, name, "a number from 0 on", v);
    }
    case '|':
        return read_choice(r, v, place, name, behaviors, HEED__ISOLATED, &out->number);
    case '^':
        return read_choice(r, v, place, name, schemes, out[-1].on ? 0 : 2, &out->number);
    case '/':
        return read_pattern(r, v, place, out);
    case '=':
        for (size_t i = 0; otherwise && i < sizeof texts / sizeof *texts; i++)
            if (strcmp(otherwise, *texts[i] == ' ' ? "_" : texts[i]) == 0)
                return read_text(r, v, place, name, texts[i], &out->text);
        return read_text(r, v, place, name, NULL, &out->text);
    default:
        return true;
    }
}

static bool read_settings(const reader *r, const json_t *o, const char *place, const char *settings,
                          value out[MOST]) {
    bool good = check_keys(r, o, place, settings);
    for (const char *s = settings; good && *s; s = next_word(s)) {
        good = read_setting(r, o, place, s, out);
        out += *s == '/' ? 2 : *s != '-';
    }
    return good;
}

/* ---- sections ---- */

static bool refuse_type(const reader *r, const json_t *o, const char *place, const form *known) {
    heed_text names = {.c = r->c};
    for (const form *f = known; f->type; f++)
        heed_text_add(&names, "%s%s", f == known ? "" : f[1].type ? ", " : " or ", f->type);
    refuse_value(r, place, "type", names.s ? names.s : "", json_object_get(o, "type"));
    heed_text_free(&names);
    return false;
}

/* Reads a section, or an element of one: null, a type of `known`, or a Sequence of them. */
static bool read_section(reader *r, const json_t *o, const char *place, const form *known,
                         add_form add) {
    enum { DEEPEST = 8 };
    const char *type = json_string_value(json_object_get(o, "type"));
    value v[MOST] = {{0}};
    if (!o || json_is_null(o)) return true;
    const form *f = known;
    while (f->type && (!type || strcmp(type, f->type) != 0)) f++;
    if (!f->type) return refuse_type(r, o, place, known);
    if (f->what != SEQUENCE)
        return read_settings(r, o, place, f->settings, v) && add(r, o, place, f->what, v);
    const char *key = f->settings;
    const json_t *list = json_object_get(o, key);
    bool good = json_is_array(list) || refuse_value(r, place, key, "a list", list);
    if (++r->depth > DEEPEST) good = refuse(r, place, "fewer sequences in sequences", NULL);
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        char where[PLACE];
        snprintf(where, sizeof where, "%.70s.%s[%zu]", place, key, i);
        good = read_section(r, json_array_get(list, i), where, known, add);
    }
    r->depth--;
    return good;
}

/* ---- steps ---- */

/* Appends a step, which takes its time for each text. */
static bool add_step(reader *r, heed__steps *s, heed__step step) {
    enum { MOST_STEPS = 256 };
    if (s->count == MOST_STEPS)
        return refuse(r, "normalizer, pre_tokenizer or decoder", "at most 256 steps", NULL);
    if (!heed__grow(r->c, &s->of, &s->capacity, s->count + 1, sizeof *s->of)) return false;
    s->of[s->count++] = step;
    return true;
}

static bool add_plain(reader *r, heed__steps *s, heed__step_kind kind) {
    return add_step(r, s, (heed__step){.kind = kind});
}

/* Appends a step with a text and another one. */
static bool add_text_step(reader *r, heed__steps *s, heed__step step, const char *text,
                          const char *with) {
    step.text = heed__copy_text(r->c, text);
    step.with = heed__copy_text(r->c, with);
    step.n = strlen(text);
    step.with_n = strlen(with);
    if (step.text && step.with && add_step(r, s, step)) return true;
    heed__free(step.text);
    heed__free(step.with);
    return false;
}

static bool refuse_empty(const reader *r, const char *place, const json_t *o, const char *text) {
    return *text || refuse(r, place, "a text that is not empty", o);
}

static bool refuse_regex(const reader *r, const char *place, const json_t *o, const value *v) {
    return !v[1].on || refuse_value(r, place, "pattern", "a String", json_object_get(o, "pattern"));
}

/* ---- normalizers ---- */

enum { BERT = 100 };
static const form normalizers[] = {
    {"Sequence", "normalizers", SEQUENCE},
    {"BertNormalizer", "?clean_text:1 ?handle_chinese_chars:1 ?lowercase:1 ?strip_accents:<", BERT},
    {"Lowercase", "", HEED__LOWER},
    {"NFC", "", HEED__NFC},
    {"NFD", "", HEED__NFD},
    {"NFKC", "", HEED__NFKC},
    {"NFKD", "", HEED__NFKD},
    {"StripAccents", "", HEED__UNMARK},
    {"Strip", "?strip_left:1 ?strip_right:1", HEED__TRIM},
    {"Replace", "/pattern =content:", HEED__REPLACE},
    {"Prepend", "=prepend:", HEED__PREPEND},
    {0}};

static bool add_normalizer(reader *r, const json_t *o, const char *place, int what,
                           const value *v) {
    heed__steps *s = &r->k->normalizers;
    heed__step k = {.kind = (heed__step_kind)what};
    switch (what) {
    case BERT: /* clean, chinese, lower, strip */
        return (!v[0].on || add_plain(r, s, HEED__CLEAN)) &&
               (!v[1].on || add_plain(r, s, HEED__CHINESE)) &&
               (!v[3].on || (add_plain(r, s, HEED__NFD) && add_plain(r, s, HEED__UNACCENT))) &&
               (!v[2].on || add_plain(r, s, HEED__LOWER));
    case HEED__TRIM:
        k.left = v[0].on;
        k.right = v[1].on;
        return add_step(r, s, k);
    case HEED__REPLACE:
        return refuse_regex(r, place, o, v) && add_text_step(r, s, k, v[0].text, v[2].text);
    case HEED__PREPEND:
        return add_text_step(r, s, k, v[0].text, "");
    default:
        return add_step(r, s, k);
    }
}

/* ---- splitters ---- */

enum { BYTE_LEVEL, BERT_WORDS, WORDS, WHITE, DIGITS, PUNCTUATION, SPLIT, DELIMITER, METASPACE };
static const form splitters[] = {
    {"Sequence", "pretokenizers", SEQUENCE},
    {"ByteLevel", "?add_prefix_space:1 ?use_regex:1 -trim_offsets", BYTE_LEVEL},
    {"BertPreTokenizer", "", BERT_WORDS},
    {"Whitespace", "", WORDS},
    {"WhitespaceSplit", "", WHITE},
    {"Digits", "?individual_digits:0", DIGITS},
    {"Punctuation", "|behavior", PUNCTUATION},
    {"Split", "/pattern |behavior ?invert:0", SPLIT},
    {"CharDelimiterSplit", "=delimiter:_", DELIMITER},
    {"Metaspace", "=replacement:\u2581 ?add_prefix_space:1 ^prepend_scheme ?split:1 -str_rep",
     METASPACE},
    {0}};

static bool add_class(reader *r, heed__class class, int behavior, bool invert) {
    return add_step(r, &r->k->splitters,
                    (heed__step){.kind = HEED__BY_CLASS,
                                 .class = class,
                                 .behavior = (heed__behavior)behavior,
                                 .invert = invert});
}

/* replacement, add_prefix_space, prepend_scheme, split */
static bool add_metaspace(reader *r, const value *v) {
    heed__steps *s = &r->k->splitters;
    heed__step prefix = {.kind = v[2].number ? HEED__PREFIX_FIRST : HEED__PREFIX};
    heed__step split = {.kind = HEED__BY_TEXT, .behavior = HEED__WITH_NEXT};
    return add_text_step(r, s, (heed__step){.kind = HEED__REPLACE}, " ", v[0].text) &&
           (v[2].number > 1 || add_text_step(r, s, prefix, v[0].text, "")) &&
           (!v[3].on || add_text_step(r, s, split, v[0].text, ""));
}

/* pattern, behavior, invert */
static bool add_split(reader *r, const json_t *o, const char *place, const value *v) {
    const char *refused;
    heed__step k = {
        .kind = HEED__BY_TEXT, .behavior = (heed__behavior)v[2].number, .invert = v[3].on};
    if (!v[1].on) return add_text_step(r, &r->k->splitters, k, v[0].text, "");
    if (strcmp(v[0].text, "[\\s\\S]") == 0) return add_class(r, HEED__ANY, v[2].number, v[3].on);
    k.kind = HEED__BY_PATTERN;
    k.pattern = heed__pattern_new(r->c, v[0].text, &refused);
    if (k.pattern && add_step(r, &r->k->splitters, k)) return true;
    heed__pattern_free(k.pattern);
    if (heed__stopped(r->c)) return false;
    char expected[PLACE];
    snprintf(expected, sizeof expected, "a pattern without %s", refused);
    return refuse_value(r, place, "pattern.Regex", expected,
                        json_object_get(json_object_get(o, "pattern"), "Regex"));
}

static bool add_splitter(reader *r, const json_t *o, const char *place, int what, const value *v) {
    heed__steps *s = &r->k->splitters;
    if (r->k->bytes) return refuse(r, place, "ByteLevel as the last splitter", o);
    switch (what) {
    case BYTE_LEVEL: /* prefix, regex */
        r->k->bytes = true;
        return (!v[0].on || add_text_step(r, s, (heed__step){.kind = HEED__PREFIX}, " ", "")) &&
               (!v[1].on || add_plain(r, s, HEED__BY_GPT2));
    case BERT_WORDS:
        return add_class(r, HEED__SPACE, HEED__REMOVED, false) &&
               add_class(r, HEED__PUNCTUATION, HEED__ISOLATED, false);
    case WORDS:
        return add_step(
            r, s, (heed__step){.kind = HEED__BY_WORDS, .behavior = HEED__REMOVED, .invert = true});
    case WHITE:
        return add_class(r, HEED__SPACE, HEED__REMOVED, false);
    case DIGITS:
        return add_class(r, HEED__NUMERAL, v[0].on ? HEED__ISOLATED : HEED__CONTIGUOUS, false);
    case PUNCTUATION:
        return add_class(r, HEED__PUNCTUATION, v[0].number, false);
    case SPLIT:
        return add_split(r, o, place, v);
    case DELIMITER:
        return refuse_empty(r, place, o, v[0].text) &&
               add_text_step(r, s, (heed__step){.kind = HEED__BY_TEXT, .behavior = HEED__REMOVED},
                             v[0].text, "");
    default:
        return refuse_empty(r, place, o, v[0].text) && add_metaspace(r, v);
    }
}

/* ---- decoders ---- */

enum { FROM_METASPACE = 100, FROM_SUFFIX };
static const form decoders[] = {
    {"Sequence", "decoders", SEQUENCE},
    {"WordPiece", "=prefix:## ?cleanup:1", HEED__FROM_PIECES},
    {"Metaspace", "=replacement:\u2581 ?add_prefix_space:1 ^prepend_scheme -split -str_rep",
     FROM_METASPACE},
    {"Replace", "/pattern =content:", HEED__FROM_REPLACED},
    {"Strip", "=content:_ #start #stop", HEED__FROM_STRIPPED},
    {"BPEDecoder", "=suffix:</w>", FROM_SUFFIX},
    {"ByteFallback", "", HEED__FROM_FALLBACK},
    {"Fuse", "", HEED__FUSE},
    {"ByteLevel", "-add_prefix_space -trim_offsets -use_regex", HEED__FROM_BYTES},
    {0}};

static bool add_decoder(reader *r, const json_t *o, const char *place, int what, const value *v) {
    heed__steps *s = &r->k->decoders;
    heed__step k = {.kind = what < FROM_METASPACE ? (heed__step_kind)what : HEED__FROM_REPLACED};
    switch (what) {
    case HEED__FROM_PIECES:
        k.left = v[1].on;
        return add_text_step(r, s, k, v[0].text, "");
    case HEED__FROM_REPLACED:
        return refuse_regex(r, place, o, v) && add_text_step(r, s, k, v[0].text, v[2].text);
    case FROM_METASPACE:
        k.left = v[2].number < 2;
        break;
    case FROM_SUFFIX:
        k.right = true;
        break;
    case HEED__FROM_STRIPPED:
        k.start = v[1].number;
        k.stop = v[2].number;
        break;
    default:
        return add_step(r, s, k);
    }
    return refuse_empty(r, place, o, v[0].text) && add_text_step(r, s, k, v[0].text, " ");
}

/* ---- the vocabulary ---- */

/* Sets the text of an id, which must be free. */
static bool place_token(const reader *r, const char **by_id, size_t count, const char *text,
                        const json_t *id, const char *where) {
    json_int_t i = json_integer_value(id);
    if (!json_is_integer(id) || i < 0 || i >= (json_int_t)count)
        return refuse(r, where, "ids from 0 to the number of tokens less 1", id);
    if (by_id[i] && strcmp(by_id[i], text) != 0)
        return refuse(r, where, "another id for each token", id);
    if (!*text || strlen(text) >= HEED__TOKEN_BYTES)
        return refuse(r, where, "tokens of 1 to 1023 bytes", id);
    by_id[i] = text;
    return true;
}

/* Adds the tokens of the vocabulary and those that were added to it, by their ids. */
static bool read_tokens(const reader *r, const json_t *vocab, const json_t *added) {
    if (!json_is_object(vocab)) return refuse(r, "model.vocab", "an object", vocab);
    size_t count = json_object_size(vocab);
    for (size_t i = 0; i < json_array_size(added); i++) {
        const char *text = json_string_value(json_object_get(json_array_get(added, i), "content"));
        count += text && !json_object_get(vocab, text);
    }
    const char **by_id = heed__alloc_array(r->c, count, sizeof *by_id), *text;
    bool good = by_id != NULL;
    json_t *id;
    char where[PLACE];
    json_object_foreach((json_t *)(uintptr_t)vocab, text, id) {
        if (!good) break;
        snprintf(where, sizeof where, "model.vocab.%.60s", text);
        good = place_token(r, by_id, count, text, id, where);
        if (good && r->k->own <= json_integer_value(id))
            r->k->own = (int32_t)json_integer_value(id) + 1;
    }
    for (size_t i = 0; good && i < json_array_size(added); i++) {
        const json_t *o = json_array_get(added, i);
        snprintf(where, sizeof where, "added_tokens[%zu]", i);
        text = json_string_value(json_object_get(o, "content"));
        good = text ? place_token(r, by_id, count, text, json_object_get(o, "id"), where)
                    : refuse(r, where, "a content", o);
    }
    for (size_t i = 0; good && i < count; i++) {
        snprintf(where, sizeof where, "model.vocab: id %zu", i);
        good = by_id[i] ? heed__tokenizer_add(r->k, by_id[i], strlen(by_id[i]))
                        : refuse(r, where, "a token", NULL);
    }
    heed__free(by_id);
    return good;
}

static bool read_added(reader *r, const json_t *o, const char *where) {
    value v[MOST] = {{0}};
    if (!read_settings(r, o, where,
                       "#id =content ?single_word:0 ?lstrip:0 ?rstrip:0 ?special:0 ?normalized:!",
                       v))
        return false;
    heed__added a = {.id = v[0].number,
                     .single_word = v[2].on,
                     .lstrip = v[3].on,
                     .rstrip = v[4].on,
                     .special = v[5].on,
                     .normalized = v[6].on};
    heed__spelling s = {.c = r->c, .s = v[1].text, .n = strlen(v[1].text)};
    bool good = !a.normalized || heed__respell(&r->k->normalizers, true, &s, &r->spare,
                                               &(heed__spelling){.c = r->c});
    a.n = s.n;
    a.text = good ? heed__alloc(r->c, s.n + 1) : NULL;
    if (a.text && s.n) memcpy(a.text, s.s, s.n);
    heed__spelling_free(&s);
    return a.text && put_added(r->k, a) &&
           (a.n || refuse(r, where, "a content that the normalizers do not make empty", o));
}

static bool read_all_added(reader *r, const json_t *list) {
    bool good = !list || json_is_array(list) || json_is_null(list) ||
                refuse(r, "added_tokens", "a list", list);
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        char where[PLACE];
        snprintf(where, sizeof where, "added_tokens[%zu]", i);
        good = read_added(r, json_array_get(list, i), where);
    }
    return good;
}

/* ---- the model ---- */

/* "a b" or ["a", "b"]: the merge of two tokens into a third. */
static bool read_merge(reader *r, const json_t *merge, const char *where) {
    heed_tokenizer *k = r->k;
    const char *text = json_string_value(merge), *gap = text ? strchr(text, ' ') : NULL;
    const char *a = json_string_value(json_array_get(merge, 0));
    const char *b = json_string_value(json_array_get(merge, 1));
    size_t n = a ? strlen(a) : 0;
    char joined[2 * HEED__TOKEN_BYTES];
    if (gap && !strchr(gap + 1, ' ')) {
        a = text;
        n = (size_t)(gap - text);
        b = gap + 1;
    } else if (json_array_size(merge) != 2 || !a || !b) {
        return refuse(r, where, "two tokens", merge);
    }
    size_t skip = k->prefix ? strlen(k->prefix) : 0;
    if (skip && strncmp(b, k->prefix, skip) != 0) skip = 0;
    int32_t first = heed__names_look(&k->names, a, n),
            second = heed__names_look(&k->names, b, strlen(b)), both = -1;
    if (first >= 0 && second >= 0) {
        int length = snprintf(joined, sizeof joined, "%.*s%s", (int)n, a, b + skip);
        both = heed__names_look(&k->names, joined, (size_t)length);
    }
    if (both < 0) return refuse(r, where, "two tokens of the vocabulary that make another", merge);
    return heed__merge_add(k, first, second, both) ||
           (!heed__stopped(r->c) && refuse(r, where, "each merge once", merge));
}

static bool read_merges(reader *r, const json_t *merges) {
    bool good = json_is_array(merges) || refuse(r, "model.merges", "a list", merges);
    for (size_t i = 0; good && i < json_array_size(merges); i++) {
        char where[PLACE];
        snprintf(where, sizeof where, "model.merges[%zu]", i);
        good = read_merge(r, json_array_get(merges, i), where);
    }
    return good;
}

static const form models[] = {
    {"WordLevel", "=unk_token:<unk> -vocab", HEED__WORD},
    {"WordPiece",
     "=unk_token:[UNK] =continuing_subword_prefix:## #max_input_chars_per_word:100 -vocab",
     HEED__WORDPIECE},
    {"BPE",
     "=unk_token =continuing_subword_prefix =end_of_word_suffix ?fuse_unk:0 ?byte_fallback:0 "
     "?ignore_merges:0 -dropout -vocab -merges",
     HEED__BPE},
    {0}};

/* Copies a text, unless it is absent or empty. */
static bool copy_text(reader *r, const char *text, char **out) {
    return !text || !*text || (*out = heed__copy_text(r->c, text)) != NULL;
}

static bool add_model(reader *r, const json_t *o, const char *place, int what, const value *v) {
    heed_tokenizer *k = r->k;
    const json_t *dropout = json_object_get(o, "dropout");
    k->model = k->kind = (heed__kind)what;
    if (k->bytes && what != HEED__BPE)
        return refuse_value(r, place, "type", "BPE after ByteLevel", json_object_get(o, "type"));
    if (!copy_text(r, v[0].text, &k->unk_text)) return false;
    if (what == HEED__WORD) return true;
    if (!copy_text(r, v[1].text, &k->prefix)) return false;
    if (what == HEED__WORDPIECE) k->most_chars = (size_t)v[2].number;
    if (what == HEED__WORDPIECE) return true;
    k->fuse_unk = v[3].on;
    k->byte_fallback = v[4].on;
    k->ignore_merges = v[5].on;
    return copy_text(r, v[2].text, &k->suffix) &&
           (!json_is_number(dropout) || json_number_value(dropout) == 0 ||
            refuse(r, "model.dropout", "null", dropout)) &&
           (!k->byte_fallback || (!k->prefix && !k->suffix) ||
            refuse(r, "model.byte_fallback", "false beside a prefix or suffix",
                   json_object_get(o, "byte_fallback")));
}

/* Settings, then tokens, then merges. Old files have no type of the model. */
static bool read_model(reader *r, json_t *o, const json_t *added) {
    heed_tokenizer *k = r->k;
    if (!json_is_object(o)) return refuse(r, "model", "an object", o);
    const char *type = json_is_array(json_object_get(o, "merges")) ? "BPE" : "WordPiece";
    if (!json_object_get(o, "type") &&
        (*type == 'B' || json_object_get(o, "continuing_subword_prefix")))
        json_object_set_new(o, "type", json_string(type));
    if (!read_section(r, o, "model", models, add_model) || r->preset) return r->preset;
    if (!read_tokens(r, json_object_get(o, "vocab"), added) ||
        (k->model == HEED__BPE && !read_merges(r, json_object_get(o, "merges"))))
        return false;
    k->unk = k->unk_text ? heed__names_look(&k->names, k->unk_text, strlen(k->unk_text)) : -1;
    return !k->unk_text || k->unk >= 0 ||
           refuse(r, "model.unk_token", "a token of the vocabulary",
                  json_object_get(o, "unk_token"));
}

/* ---- the post-processor ---- */

enum { OFFSETS, TEMPLATE, PAIR };
static const form processors[] = {
    {"Sequence", "processors", SEQUENCE},
    {"ByteLevel", "-add_prefix_space -trim_offsets -use_regex", OFFSETS},
    {"TemplateProcessing", "-single -pair -special_tokens", TEMPLATE},
    {"BertProcessing", "-sep -cls", PAIR},
    {"RobertaProcessing", "-sep -cls -trim_offsets -add_prefix_space", PAIR},
    {0}};

static bool add_frame(reader *r, const json_t *number, bool after, const char *where) {
    json_int_t id = json_integer_value(number);
    if (!json_is_integer(number) || id < 0 || id >= heed_vocab_size(r->k))
        return refuse(r, where, "ids of the vocabulary", number);
    return put_frame_id(r->k, (int32_t)id, after);
}

/* {"single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, ...],
 *  "special_tokens": {"[CLS]": {"ids": [101]}}} */
static bool read_template(reader *r, const json_t *o, const char *where) {
    const json_t *single = json_object_get(o, "single");
    const json_t *tokens = json_object_get(o, "special_tokens");
    bool after = false;
    for (size_t i = 0; i < json_array_size(single); i++) {
        const json_t *part = json_array_get(single, i);
        const json_t *token = json_object_get(part, "SpecialToken");
        const char *name = json_string_value(json_object_get(token, "id"));
        const json_t *ids = name ? json_object_get(json_object_get(tokens, name), "ids") : NULL;
        bool text = json_object_get(part, "Sequence") != NULL;
        if (text ? after : !ids) return refuse(r, where, "one text in `single`", part);
        after |= text;
        for (size_t j = 0; j < json_array_size(ids); j++)
            if (!add_frame(r, json_array_get(ids, j), after, where)) return false;
    }
    return after || refuse(r, where, "one text in `single`", single);
}

static bool add_processor(reader *r, const json_t *o, const char *place, int what, const value *v) {
    (void)v;
    if (what == OFFSETS) return true;
    if (r->k->before + r->k->after) return refuse(r, place, "one template", o);
    if (what == TEMPLATE) return read_template(r, o, place);
    /* {"sep": ["[SEP]", 102], "cls": ["[CLS]", 101]} */
    return add_frame(r, json_array_get(json_object_get(o, "cls"), 1), false, place) &&
           add_frame(r, json_array_get(json_object_get(o, "sep"), 1), true, place);
}

/* ---- presets ---- */

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_steps(const heed__steps *a, const heed__steps *b) {
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        const heed__step *x = &a->of[i], *y = &b->of[i];
        same = x->kind == y->kind && x->class == y->class && x->behavior == y->behavior &&
               x->invert == y->invert && same_text(x->text, y->text);
    }
    return same;
}

/* Whether the tokens are what a preset of the kind has. */
static bool has_tokens_of(const heed_tokenizer *k, heed__kind kind) {
    size_t specials = 0;
    for (size_t i = 0; i < k->added_count; i++) {
        const heed__added *a = &k->added[i];
        bool own = false;
        for (int j = 0; j < HEED__SPECIALS; j++) own |= same_text(a->text, heed__special_names[j]);
        if (!own || a->single_word || a->lstrip || a->rstrip || a->normalized) return false;
        specials++;
    }
    if (kind >= HEED__WORD) return specials == HEED__SPECIALS;
    size_t others = 0;
    for (size_t i = 0; i < k->names.count; i++) {
        const char *text = heed__names_text(&k->names, i);
        int32_t c;
        if (heed_utf8_read(text, SIZE_MAX, &c) == heed__names_length(&k->names, i))
            others += kind == HEED__CHAR || c == heed__byte_char((int)(i & 255));
    }
    return others + specials == k->names.count && (kind == HEED__CHAR || others == 256);
}

/* Makes it a preset if what it does is that of one. */
static bool recognize(reader *r) {
    heed_tokenizer *k = r->k;
    for (int kind = HEED__CHAR; !k->preset && kind < HEED__BPE; kind++)
        for (int lower = 0; !k->preset && lower <= (kind >= HEED__WORD); lower++) {
            heed_tokenizer *like = heed__preset_new(r->c, (heed__kind)kind, lower);
            if (!like) return false;
            bool words = kind >= HEED__WORD;
            k->preset = k->model == like->model && k->bytes == like->bytes &&
                        same_steps(&k->normalizers, &like->normalizers) &&
                        same_steps(&k->splitters, &like->splitters) &&
                        (words || same_steps(&k->decoders, &like->decoders)) &&
                        same_text(k->unk_text, like->unk_text) &&
                        same_text(k->prefix, like->prefix) && !k->suffix && !k->fuse_unk &&
                        !k->byte_fallback && !k->ignore_merges && !k->merges.count &&
                        k->most_chars == like->most_chars && has_tokens_of(k, (heed__kind)kind);
            if (k->preset) {
                heed__steps other = k->decoders;
                k->kind = (heed__kind)kind;
                k->decoders = like->decoders;
                like->decoders = other;
                k->before = k->after = 0;
            }
            heed_tokenizer_free(like);
        }
    for (size_t i = 0; k->preset && i < k->added_count; i++) k->added[i].special = true;
    return true;
}

/* ---- tokenizer.json: presets, and writing ---- */

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

/* Appends the tokenizer.json of a preset, or of one that was read from such a file. */
static bool put_tokenizer(const heed_tokenizer *k, heed_text *out) {
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
        if (a.id >= 0 && (!(a.text = heed__copy_text(k->c, name)) || !put_added(k, a)))
            return false;
    }
    k->own = (int32_t)k->names.count;
    k->unk = k->unk_text ? find_special(k, k->unk_text) : -1;
    if (!finish(k)) return false;
    if (k->kind != HEED__BPE) return true;
    if (!put_tokenizer(k, &k->file)) return false;
    k->preset = false;
    return k->special.cls < 0 || find_special(k, "[CLS]") < 0 ||
           (put_frame_id(k, k->special.cls, false) && put_frame_id(k, k->special.sep, true));
}

/* Appends a tokenizer.json of GPT-2's kind from the text of a vocab.json, and that of its
 * merges.txt. end: the id of <|endoftext|>, or -1. */
static bool put_gpt2(const char *vocab, size_t n, int end, const char *merges, heed_text *out) {
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

/* ---- all ---- */

static bool read_all(reader *r, json_t *o, const char *text, size_t n) {
    heed_tokenizer *k = r->k;
    json_t *added = json_object_get(o, "added_tokens");
    k->unk = -1;
    if (!check_keys(r, o, "tokenizer",
                    "-version -truncation -padding -added_tokens -normalizer -pre_tokenizer "
                    "-post_processor -decoder -model") ||
        !read_section(r, json_object_get(o, "normalizer"), "normalizer", normalizers,
                      add_normalizer) ||
        !read_section(r, json_object_get(o, "pre_tokenizer"), "pre_tokenizer", splitters,
                      add_splitter) ||
        !read_section(r, json_object_get(o, "decoder"), "decoder", decoders, add_decoder) ||
        !read_model(r, json_object_get(o, "model"), added))
        return false;
    if (r->preset) return true;
    return read_all_added(r, added) &&
           read_section(r, json_object_get(o, "post_processor"), "post_processor", processors,
                        add_processor) &&
           recognize(r) && (k->preset || heed_text_put(&k->file, text, n)) && finish(k);
}

heed_tokenizer *heed__parse_tokenizer(heed_ctx *c, const char *path, const char *text, size_t n,
                                      bool preset) {
    json_t *o = heed__json_parse(c, path, text, n);
    reader r = {.c = c, .path = path, .preset = preset, .spare = heed__spare(n)};
    r.k = o ? new_tokenizer(c) : NULL;
    bool good = r.k && read_all(&r, o, text, n);
    json_decref(o);
    if (good) return r.k;
    heed_tokenizer_free(r.k);
    return NULL;
}

static const char config_name[] = "tokenizer_config.json";

/* A run is not trusted: links in it are not followed. */
static bool path_in(heed_text *out, const char *dir, const char *name) {
    out->n = 0;
    bool ok = heed_text_add(out, "%s/config.conf", dir), run = ok && heed__os_exists(out->s);
    out->n = 0;
    return ok && heed_text_add(out, "%s%s%s", dir,
                               heed__ends_in(dir, HEED_INSIDE) ? ""
                               : run                           ? HEED_INSIDE
                                                               : "/",
                               name);
}

/* ---- saving ---- */

/* Writes a text, unless it lacks a part for want of memory. */
static bool write_text(const char *dir, const char *name, bool whole, const heed_text *text) {
    heed_text path = {.c = text->c};
    bool good = whole && path_in(&path, dir, name) &&
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
    good = write_text(dir, "vocab.txt", good, &lines);
    heed_text_free(&lines);
    return good;
}

static bool save_tokenizer(const heed_tokenizer *k, const char *dir) {
    heed_text text = {.c = k->c};
    bool good = write_text(dir, "tokenizer.json", put_tokenizer(k, &text), &text);
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
    bool good =
        path_in(&path, dir, config_name) && heed__json_write(k->c, path.s, all ? out : NULL);
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
        good = path_in(&path, dir, names[i]) &&
               (!heed__os_is_file(path.s) || heed__os_remove(c, path.s));
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
    bool good = path_in(&path, dir, config_name);
    if (good && heed__os_exists(path.s)) {
        json_t *all = heed__json_read(c, path.s);
        const json_t *lowers = json_object_get(all, "do_lower_case");
        good = all != NULL;
        if (json_is_boolean(lowers)) *lower = json_is_true(lowers);
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
        if (!path_in(out, path, names[i])) return false;
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
        put_gpt2(text, n, json_is_integer(end) ? (int)json_integer_value(end) : -1, merges, &file))
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
