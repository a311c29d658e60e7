/* hugging_face_steps.c -- reads the normalizer, the pre-tokenizer and the decoder of a
 * tokenizer.json as steps. */
#include "data/corpus/hugging_face.h"

#include <stdio.h>
#include <string.h>

/* ---- values ---- */

bool heed__hf_refuse(const heed__hf *r, const char *place, const char *expected,
                     const json_t *found) {
    char quoted[HEED_QUOTE], *text = found ? json_dumps(found, JSON_ENCODE_ANY) : NULL;
    heed_fail(r->c, HEED_DATA, "tokenizer.json is not supported: %s: %s: expected %s, found %s",
              r->path, place, expected, text ? heed_quote(quoted, text, strlen(text)) : "nothing");
    free(text);
    return false;
}

static bool is_word(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *s = words; (s = strstr(s, word)); s += n)
        if (n && (s == words || s[-1] == ' ') && (s[n] == ' ' || !s[n])) return true;
    return false;
}

bool heed__hf_keys(const heed__hf *r, const json_t *o, const char *place, const char *known) {
    const char *key;
    json_t *value;
    if (!json_is_object(o)) return heed__hf_refuse(r, place, "an object", o);
    json_object_foreach((json_t *)(uintptr_t)o, key, value) {
        char where[2 * HEED__PLACE];
        snprintf(where, sizeof where, "%s.%.60s", place, key);
        if (!is_word(known, key)) return heed__hf_refuse(r, where, "no such setting", value);
    }
    return true;
}

/* The value of a key; NULL: absent or null. */
static const json_t *value_of(const json_t *o, const char *key) {
    const json_t *v = json_object_get(o, key);
    return json_is_null(v) ? NULL : v;
}

static bool refuse_value(const heed__hf *r, const char *place, const char *key,
                         const char *expected, const json_t *v) {
    char where[2 * HEED__PLACE];
    snprintf(where, sizeof where, "%s.%s", place, key);
    return heed__hf_refuse(r, where, expected, v);
}

bool heed__hf_bool(const heed__hf *r, const json_t *o, const char *place, const char *key,
                   bool otherwise, bool *out) {
    const json_t *v = value_of(o, key);
    *out = v ? json_is_true(v) : otherwise;
    return !v || json_is_boolean(v) || refuse_value(r, place, key, "true or false", v);
}

bool heed__hf_text(const heed__hf *r, const json_t *o, const char *place, const char *key,
                   const char *otherwise, const char **out) {
    const json_t *v = value_of(o, key);
    *out = v ? json_string_value(v) : otherwise;
    if (*out && strlen(*out) < HEED__TOKEN_BYTES) return true;
    return (!v && !otherwise) || refuse_value(r, place, key, "a text under 1024 bytes", v);
}

bool heed__hf_int(const heed__hf *r, const json_t *o, const char *place, const char *key,
                  int otherwise, int *out) {
    const json_t *v = value_of(o, key);
    json_int_t n = v ? json_integer_value(v) : otherwise;
    *out = (int)n;
    return (!v || json_is_integer(v)) && n >= 0 && n < 1 << 30
               ? true
               : refuse_value(r, place, key, "a number from 0 on", v);
}

bool heed__hf_choice(const heed__hf *r, const json_t *o, const char *place, const char *key,
                     const char *const *words, int otherwise, int *out) {
    const json_t *v = value_of(o, key);
    const char *word = json_string_value(v);
    *out = otherwise;
    if (!v && otherwise >= 0) return true;
    for (int i = 0; word && words[i]; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = i;
            return true;
        }
    char expected[160] = "";
    for (int i = 0; words[i] && strlen(expected) + strlen(words[i]) + 3 < sizeof expected; i++) {
        if (i) strcat(expected, words[i + 1] ? ", " : " or ");
        strcat(expected, words[i]);
    }
    return refuse_value(r, place, key, expected, v);
}

/* ---- steps ---- */

/* Appends a step; NULL when out of memory. */
static heed__step *add_step(heed__hf *r, heed__steps *s, heed__step step) {
    if (!heed__grow(r->c, &s->of, &s->capacity, s->count + 1, sizeof *s->of)) return NULL;
    s->of[s->count] = step;
    return &s->of[s->count++];
}

static bool add_plain(heed__hf *r, heed__steps *s, heed__step_kind kind) {
    return add_step(r, s, (heed__step){.kind = kind}) != NULL;
}

/* Appends a step with a text, and with another one unless it is NULL. */
static bool add_text(heed__hf *r, heed__steps *s, heed__step step, const char *text,
                     const char *with) {
    heed__step *k = add_step(r, s, step);
    if (!k) return false;
    k->n = strlen(text);
    k->with_n = with ? strlen(with) : 0;
    k->text = heed__copy_text(r->c, text);
    k->with = with ? heed__copy_text(r->c, with) : NULL;
    return k->text && (!with || k->with);
}

typedef bool (*read_step)(heed__hf *r, const json_t *o, const char *place);
typedef struct {
    const char *type, *keys;
    read_step read; /* NULL: its elements are read */
    int what;       /* a kind of step for read_plain */
} reading;

static bool read_section(heed__hf *r, const json_t *o, const char *place, const reading *known,
                         heed__steps *plain);

/* The elements of a Sequence. */
static bool read_sequence(heed__hf *r, const json_t *o, const char *place, const char *key,
                          const reading *known, heed__steps *plain) {
    enum { DEEPEST = 8 };
    const json_t *list = json_object_get(o, key);
    bool good = json_is_array(list) || refuse_value(r, place, key, "a list", list);
    if (++r->depth > DEEPEST)
        good = heed__hf_refuse(r, place, "fewer sequences in sequences", NULL);
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        char where[HEED__PLACE];
        snprintf(where, sizeof where, "%.70s.%s[%zu]", place, key, i);
        good = read_section(r, json_array_get(list, i), where, known, plain);
    }
    r->depth--;
    return good;
}

/* Reads a section, or an element of one. Types that are only a kind of step are added to `plain`.
 */
static bool read_section(heed__hf *r, const json_t *o, const char *place, const reading *known,
                         heed__steps *plain) {
    const char *type = json_string_value(json_object_get(o, "type"));
    char keys[160];
    if (!o || json_is_null(o)) return true;
    for (size_t i = 0; type && known[i].type; i++) {
        if (strcmp(type, known[i].type) != 0) continue;
        snprintf(keys, sizeof keys, "type %s", known[i].keys);
        if (!heed__hf_keys(r, o, place, keys)) return false;
        if (known[i].read) return known[i].read(r, o, place);
        if (known[i].what < 0) return read_sequence(r, o, place, known[i].keys, known, plain);
        return add_plain(r, plain, (heed__step_kind)known[i].what);
    }
    heed_text names = {.c = r->c};
    for (size_t i = 0; known[i].type; i++)
        heed_text_add(&names, "%s%s", i ? ", " : "", known[i].type);
    char where[2 * HEED__PLACE];
    snprintf(where, sizeof where, "%s.type", place);
    heed__hf_refuse(r, where, names.s ? names.s : "", json_object_get(o, "type"));
    heed_text_free(&names);
    return false;
}

/* A pattern {"String": "a"} or {"Regex": "a"}. */
static bool read_pattern(heed__hf *r, const json_t *o, const char *place, const char **text,
                         bool *regex) {
    char where[2 * HEED__PLACE];
    const json_t *pattern = json_object_get(o, "pattern");
    snprintf(where, sizeof where, "%s.pattern", place);
    *regex = json_object_get(pattern, "Regex") != NULL;
    return heed__hf_keys(r, pattern, where, *regex ? "Regex" : "String") &&
           heed__hf_text(r, pattern, where, *regex ? "Regex" : "String", NULL, text) &&
           ((*text && **text) || heed__hf_refuse(r, where, "a text", pattern));
}

/* ---- normalizers ---- */

static bool read_bert_normalizer(heed__hf *r, const json_t *o, const char *place) {
    bool clean, chinese, strip, lower;
    heed__steps *s = &r->p->normalizers;
    return heed__hf_bool(r, o, place, "clean_text", true, &clean) &&
           heed__hf_bool(r, o, place, "handle_chinese_chars", true, &chinese) &&
           heed__hf_bool(r, o, place, "lowercase", true, &lower) &&
           heed__hf_bool(r, o, place, "strip_accents", lower, &strip) &&
           (!clean || add_plain(r, s, HEED__CLEAN)) &&
           (!chinese || add_plain(r, s, HEED__CHINESE)) &&
           (!strip || (add_plain(r, s, HEED__NFD) && add_plain(r, s, HEED__UNACCENT))) &&
           (!lower || add_plain(r, s, HEED__LOWER));
}

static bool read_replace(heed__hf *r, const json_t *o, const char *place, heed__steps *s,
                         heed__step_kind kind) {
    const char *text, *with;
    bool regex;
    if (!read_pattern(r, o, place, &text, &regex) ||
        !heed__hf_text(r, o, place, "content", "", &with))
        return false;
    if (regex) return refuse_value(r, place, "pattern", "a String", json_object_get(o, "pattern"));
    return add_text(r, s, (heed__step){.kind = kind}, text, with);
}

static bool read_replace_normalizer(heed__hf *r, const json_t *o, const char *place) {
    return read_replace(r, o, place, &r->p->normalizers, HEED__REPLACE);
}

static bool read_prepend(heed__hf *r, const json_t *o, const char *place) {
    const char *text;
    return heed__hf_text(r, o, place, "prepend", "", &text) &&
           add_text(r, &r->p->normalizers, (heed__step){.kind = HEED__PREPEND}, text, NULL);
}

static bool read_trim(heed__hf *r, const json_t *o, const char *place) {
    heed__step k = {.kind = HEED__TRIM};
    return heed__hf_bool(r, o, place, "strip_left", true, &k.left) &&
           heed__hf_bool(r, o, place, "strip_right", true, &k.right) &&
           add_step(r, &r->p->normalizers, k);
}

bool heed__hf_normalizer(heed__hf *r, const json_t *o, const char *place) {
    static const reading known[] = {{"Sequence", "normalizers", NULL, -1},
                                    {"BertNormalizer",
                                     "clean_text handle_chinese_chars strip_accents lowercase",
                                     read_bert_normalizer, 0},
                                    {"Lowercase", "", NULL, HEED__LOWER},
                                    {"NFC", "", NULL, HEED__NFC},
                                    {"NFD", "", NULL, HEED__NFD},
                                    {"NFKC", "", NULL, HEED__NFKC},
                                    {"NFKD", "", NULL, HEED__NFKD},
                                    {"StripAccents", "", NULL, HEED__UNMARK},
                                    {"Strip", "strip_left strip_right", read_trim, 0},
                                    {"Replace", "pattern content", read_replace_normalizer, 0},
                                    {"Prepend", "prepend", read_prepend, 0},
                                    {0}};
    return read_section(r, o, place, known, &r->p->normalizers);
}

/* ---- splitters ---- */

/* What begins a word is added to a text only before it is split. */
static bool prefixes_are_first(const heed__hf *r, const char *place) {
    return r->p->splitters.count == 0 ||
           heed__hf_refuse(r, place, "what adds a prefix as the first splitter", NULL);
}

static bool add_class(heed__hf *r, heed__class class, heed__behavior behavior) {
    return add_step(r, &r->p->splitters,
                    (heed__step){.kind = HEED__BY_CLASS, .class = class, .behavior = behavior});
}

static bool read_byte_level(heed__hf *r, const json_t *o, const char *place) {
    bool prefix, regex;
    if (!heed__hf_bool(r, o, place, "add_prefix_space", true, &prefix) ||
        !heed__hf_bool(r, o, place, "use_regex", true, &regex))
        return false;
    if (prefix && (!prefixes_are_first(r, place) ||
                   !add_text(r, &r->p->prefixes, (heed__step){.kind = HEED__PREFIX}, " ", NULL)))
        return false;
    r->p->bytes = true;
    if (regex && !add_plain(r, &r->p->splitters, HEED__BY_GPT2)) return false;
    r->bytes_end = r->p->splitters.count;
    return true;
}

static bool read_metaspace(heed__hf *r, const json_t *o, const char *place) {
    static const char *const schemes[] = {"always", "first", "never", NULL};
    const char *mark;
    bool split, add;
    int scheme;
    if (!heed__hf_text(r, o, place, "replacement", "\u2581", &mark) ||
        !heed__hf_bool(r, o, place, "split", true, &split) ||
        !heed__hf_bool(r, o, place, "add_prefix_space", true, &add) ||
        !heed__hf_choice(r, o, place, "prepend_scheme", schemes, add ? 0 : 2, &scheme) ||
        !prefixes_are_first(r, place) ||
        !add_text(r, &r->p->prefixes, (heed__step){.kind = HEED__REPLACE}, " ", mark))
        return false;
    heed__step prefix = {.kind = scheme ? HEED__FIRST : HEED__PREFIX};
    if (scheme < 2 && !add_text(r, &r->p->prefixes, prefix, mark, NULL)) return false;
    heed__step by = {.kind = HEED__BY_TEXT, .behavior = HEED__WITH_NEXT};
    return !split || add_text(r, &r->p->splitters, by, mark, NULL);
}

static bool read_digits(heed__hf *r, const json_t *o, const char *place) {
    bool each;
    return heed__hf_bool(r, o, place, "individual_digits", false, &each) &&
           add_class(r, HEED__NUMERAL, each ? HEED__ISOLATED : HEED__CONTIGUOUS);
}

static bool read_behavior(heed__hf *r, const json_t *o, const char *place, int *out) {
    static const char *const words[] = {"Isolated",       "Removed",    "MergedWithPrevious",
                                        "MergedWithNext", "Contiguous", NULL};
    return heed__hf_choice(r, o, place, "behavior", words, HEED__ISOLATED, out);
}

static bool read_punctuation(heed__hf *r, const json_t *o, const char *place) {
    int behavior;
    return read_behavior(r, o, place, &behavior) &&
           add_class(r, HEED__PUNCTUATION, (heed__behavior)behavior);
}

static bool read_split(heed__hf *r, const json_t *o, const char *place) {
    const char *text, *refused;
    bool regex;
    int behavior;
    heed__step k = {.kind = HEED__BY_TEXT};
    if (!read_pattern(r, o, place, &text, &regex) || !read_behavior(r, o, place, &behavior) ||
        !heed__hf_bool(r, o, place, "invert", false, &k.invert))
        return false;
    k.behavior = (heed__behavior)behavior;
    if (!regex) return add_text(r, &r->p->splitters, k, text, NULL);
    k.kind = HEED__BY_PATTERN;
    k.pattern = heed__pattern_new(r->c, text, &refused);
    if (k.pattern && add_step(r, &r->p->splitters, k)) return true;
    heed__pattern_free(k.pattern);
    if (heed__stopped(r->c)) return false;
    char expected[HEED__PLACE];
    snprintf(expected, sizeof expected, "no %s", refused);
    return refuse_value(r, place, "pattern.Regex", expected,
                        json_object_get(json_object_get(o, "pattern"), "Regex"));
}

static bool read_delimiter(heed__hf *r, const json_t *o, const char *place) {
    const char *text;
    heed__step k = {.kind = HEED__BY_TEXT, .behavior = HEED__REMOVED};
    return heed__hf_text(r, o, place, "delimiter", " ", &text) &&
           (*text || refuse_value(r, place, "delimiter", "a character", NULL)) &&
           add_text(r, &r->p->splitters, k, text, NULL);
}

static bool read_bert_splitter(heed__hf *r, const json_t *o, const char *place) {
    (void)o;
    (void)place;
    return add_class(r, HEED__SPACE, HEED__REMOVED) &&
           add_class(r, HEED__PUNCTUATION, HEED__ISOLATED);
}

static bool read_white(heed__hf *r, const json_t *o, const char *place) {
    (void)o;
    (void)place;
    return add_class(r, HEED__SPACE, HEED__REMOVED);
}

static bool read_whitespace(heed__hf *r, const json_t *o, const char *place) {
    (void)o;
    (void)place;
    return add_step(
        r, &r->p->splitters,
        (heed__step){.kind = HEED__BY_WORDS, .behavior = HEED__REMOVED, .invert = true});
}

bool heed__hf_splitter(heed__hf *r, const json_t *o, const char *place) {
    static const reading known[] = {
        {"Sequence", "pretokenizers", NULL, -1},
        {"ByteLevel", "add_prefix_space trim_offsets use_regex", read_byte_level, 0},
        {"BertPreTokenizer", "", read_bert_splitter, 0},
        {"Whitespace", "", read_whitespace, 0},
        {"WhitespaceSplit", "", read_white, 0},
        {"Digits", "individual_digits", read_digits, 0},
        {"Punctuation", "behavior", read_punctuation, 0},
        {"Split", "pattern behavior invert", read_split, 0},
        {"CharDelimiterSplit", "delimiter", read_delimiter, 0},
        {"Metaspace", "replacement prepend_scheme split add_prefix_space str_rep", read_metaspace,
         0},
        {0}};
    return read_section(r, o, place, known, &r->p->splitters) &&
           (!r->p->bytes || r->bytes_end == r->p->splitters.count ||
            heed__hf_refuse(r, place, "ByteLevel as the last splitter", o));
}

/* ---- decoders ---- */

static bool read_piece_decoder(heed__hf *r, const json_t *o, const char *place) {
    const char *prefix;
    heed__step k = {.kind = HEED__FROM_PIECES};
    return heed__hf_text(r, o, place, "prefix", "##", &prefix) &&
           heed__hf_bool(r, o, place, "cleanup", true, &k.left) &&
           add_text(r, &r->p->decoders, k, prefix, NULL);
}

static bool read_metaspace_decoder(heed__hf *r, const json_t *o, const char *place) {
    static const char *const schemes[] = {"always", "first", "never", NULL};
    const char *mark;
    bool add;
    int scheme;
    heed__step k = {.kind = HEED__FROM_PREFIX};
    if (!heed__hf_text(r, o, place, "replacement", "\u2581", &mark) ||
        !heed__hf_bool(r, o, place, "add_prefix_space", true, &add) ||
        !heed__hf_choice(r, o, place, "prepend_scheme", schemes, add ? 0 : 2, &scheme))
        return false;
    k.left = scheme < 2;
    return add_text(r, &r->p->decoders, k, mark, NULL);
}

static bool read_replace_decoder(heed__hf *r, const json_t *o, const char *place) {
    return read_replace(r, o, place, &r->p->decoders, HEED__FROM_REPLACED);
}

static bool read_strip_decoder(heed__hf *r, const json_t *o, const char *place) {
    const char *text;
    heed__step k = {.kind = HEED__FROM_STRIPPED};
    return heed__hf_text(r, o, place, "content", " ", &text) &&
           (*text || refuse_value(r, place, "content", "a character", NULL)) &&
           heed__hf_int(r, o, place, "start", 0, &k.start) &&
           heed__hf_int(r, o, place, "stop", 0, &k.stop) &&
           add_text(r, &r->p->decoders, k, text, NULL);
}

static bool read_suffix_decoder(heed__hf *r, const json_t *o, const char *place) {
    const char *suffix;
    return heed__hf_text(r, o, place, "suffix", "</w>", &suffix) &&
           add_text(r, &r->p->decoders, (heed__step){.kind = HEED__FROM_SUFFIX}, suffix, NULL);
}

bool heed__hf_decoder(heed__hf *r, const json_t *o, const char *place) {
    static const reading known[] = {
        {"Sequence", "decoders", NULL, -1},
        {"WordPiece", "prefix cleanup", read_piece_decoder, 0},
        {"Metaspace", "replacement prepend_scheme split add_prefix_space str_rep",
         read_metaspace_decoder, 0},
        {"Replace", "pattern content", read_replace_decoder, 0},
        {"Strip", "content start stop", read_strip_decoder, 0},
        {"BPEDecoder", "suffix", read_suffix_decoder, 0},
        {"ByteFallback", "", NULL, HEED__FROM_FALLBACK},
        {"Fuse", "", NULL, HEED__FUSE},
        {"ByteLevel", "add_prefix_space trim_offsets use_regex", NULL, HEED__FROM_BYTES},
        {0}};
    return read_section(r, o, place, known, &r->p->decoders);
}
