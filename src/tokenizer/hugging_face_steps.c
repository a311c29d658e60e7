/* hugging_face_steps.c -- reads the normalizer, the pre-tokenizer and the decoder of a
 * tokenizer.json as steps. */
#include "tokenizer/hugging_face.h"

#include <stdio.h>
#include <string.h>

/* ---- values ---- */

bool heed__hf_refuse(const heed__hf *r, const char *place, const char *expected,
                     const json_t *found) {
    char quoted[HEED_QUOTE], *text = found ? json_dumps(found, JSON_ENCODE_ANY) : NULL;
    const char *shown = json_is_string(found) ? json_string_value(found) : text;
    heed_fail(r->c, HEED_DATA, "tokenizer.json is not supported: %s: %s: expected %s, found %s",
              r->path, place, expected,
              shown ? heed_quote(quoted, shown, strlen(shown)) : "nothing");
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

/* Appends a step, which takes its time for each text. */
static bool add_step(heed__hf *r, heed__steps *s, heed__step step) {
    enum { MOST_STEPS = 256 };
    if (s->count == MOST_STEPS)
        return heed__hf_refuse(r, "normalizer, pre_tokenizer or decoder", "at most 256 steps",
                               NULL);
    if (!heed__grow(r->c, &s->of, &s->capacity, s->count + 1, sizeof *s->of)) return false;
    s->of[s->count++] = step;
    return true;
}

static bool add_plain(heed__hf *r, heed__steps *s, heed__step_kind kind) {
    return add_step(r, s, (heed__step){.kind = kind});
}

/* Appends a step with a text and another one. */
static bool add_text(heed__hf *r, heed__steps *s, heed__step step, const char *text,
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

/* ---- settings of a step ---- */

/* The values of a step, in the order of its settings. */
typedef union {
    bool on;
    int number;
    const char *text;
} value;
enum { MOST = 4 };

/* A type of step. Its settings are words: the first character is the kind (? bool, # number, =
 * text, | behavior, ^ prepend_scheme, / pattern; - is ignored), then the name, then : and the
 * default; a bool's may be "<", as the one before it. */
typedef struct {
    const char *type, *settings;
    int kind; /* a kind of step without settings; or what the section's function does */
} form;

static const char *const behaviors[] = {"Isolated",       "Removed",    "MergedWithPrevious",
                                        "MergedWithNext", "Contiguous", NULL};
static const char *const schemes[] = {"always", "first", "never", NULL};

/* A pattern {"String": "a"}, or {"Regex": "a"} whose text begins with '/'. */
static bool read_pattern(const heed__hf *r, const json_t *o, const char *place, value *out) {
    char where[2 * HEED__PLACE];
    const json_t *pattern = json_object_get(o, "pattern");
    const char *key = json_object_get(pattern, "Regex") ? "Regex" : "String";
    snprintf(where, sizeof where, "%s.pattern", place);
    if (!heed__hf_keys(r, pattern, where, key) ||
        !heed__hf_text(r, pattern, where, key, NULL, &out[0].text))
        return false;
    out[1].on = *key == 'R';
    return (out[0].text && *out[0].text) || heed__hf_refuse(r, where, "a text", pattern);
}

static bool read_setting(const heed__hf *r, const json_t *o, const char *place, const char *word,
                         value *out) {
    char name[40], *otherwise;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 1, " "), word + 1);
    otherwise = strchr(name, ':');
    if (otherwise) *otherwise++ = 0;
    switch (*word) {
    case '?':
        return heed__hf_bool(r, o, place, name, *otherwise == '<' ? out[-1].on : *otherwise == '1',
                             &out->on);
    case '#':
        return heed__hf_int(r, o, place, name, 0, &out->number);
    case '|':
        return heed__hf_choice(r, o, place, name, behaviors, HEED__ISOLATED, &out->number);
    case '^':
        return heed__hf_choice(r, o, place, name, schemes, out[-1].on ? 0 : 2, &out->number);
    case '/':
        return read_pattern(r, o, place, out);
    default:
        break;
    }
    static const char *const texts[] = {" ", "\u2581", "##", "</w>", ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (otherwise && strcmp(otherwise, *texts[i] == ' ' ? "_" : texts[i]) == 0)
            return heed__hf_text(r, o, place, name, texts[i], &out->text);
    return *word == '-';
}

static bool read_settings(const heed__hf *r, const json_t *o, const char *place, const form *f,
                          value out[MOST]) {
    heed_text names = {.c = r->c};
    bool good = heed_text_add(&names, "type");
    for (const char *s = f->settings; *s; s += strspn(s, " ")) {
        size_t name = strcspn(s, " :");
        good = good && heed_text_add(&names, " %.*s", (int)name - 1, s + 1);
        s += strcspn(s, " ");
    }
    good = good && heed__hf_keys(r, o, place, names.s);
    heed_text_free(&names);
    size_t i = 0;
    for (const char *s = f->settings; good && *s; s += strspn(s, " ")) {
        good = read_setting(r, o, place, s, &out[i]);
        i += *s == '/' ? 2 : *s != '-';
        s += strcspn(s, " ");
    }
    return good;
}

/* ---- sections ---- */

typedef bool (*add_form)(heed__hf *r, const json_t *o, const char *place, int what, const value *v);

static bool read_section(heed__hf *r, const json_t *o, const char *place, const form *known,
                         add_form add);

/* The elements of a Sequence. */
static bool read_sequence(heed__hf *r, const json_t *o, const char *place, const form *known,
                          add_form add) {
    enum { DEEPEST = 8 };
    const char *key = known->settings;
    const json_t *list = json_object_get(o, key);
    bool good = json_is_array(list) || refuse_value(r, place, key, "a list", list);
    if (++r->depth > DEEPEST)
        good = heed__hf_refuse(r, place, "fewer sequences in sequences", NULL);
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        char where[HEED__PLACE];
        snprintf(where, sizeof where, "%.70s.%s[%zu]", place, key, i);
        good = read_section(r, json_array_get(list, i), where, known, add);
    }
    r->depth--;
    return good;
}

/* Reads a section, or an element of one: null, a type of `known`, or a Sequence, which is known[0].
 */
static bool read_section(heed__hf *r, const json_t *o, const char *place, const form *known,
                         add_form add) {
    const char *type = json_string_value(json_object_get(o, "type"));
    value v[MOST] = {{0}};
    if (!o || json_is_null(o)) return true;
    if (type && strcmp(type, "Sequence") == 0) return read_sequence(r, o, place, known, add);
    for (const form *f = known + 1; type && f->type; f++)
        if (strcmp(type, f->type) == 0)
            return read_settings(r, o, place, f, v) && add(r, o, place, f->kind, v);
    heed_text names = {.c = r->c};
    for (const form *f = known; f->type; f++)
        heed_text_add(&names, "%s%s", f == known ? "" : ", ", f->type);
    refuse_value(r, place, "type", names.s ? names.s : "", json_object_get(o, "type"));
    heed_text_free(&names);
    return false;
}

static bool refuse_empty(const heed__hf *r, const char *place, const json_t *o, const char *text) {
    return *text || heed__hf_refuse(r, place, "a text that is not empty", o);
}

/* ---- normalizers ---- */

enum { BERT = 100 };

static bool add_normalizer(heed__hf *r, const json_t *o, const char *place, int what,
                           const value *v) {
    heed__steps *s = &r->p->normalizers;
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
        if (v[1].on)
            return refuse_value(r, place, "pattern", "a String", json_object_get(o, "pattern"));
        return add_text(r, s, k, v[0].text, v[2].text);
    case HEED__PREPEND:
        return add_text(r, s, k, v[0].text, "");
    default:
        return add_step(r, s, k);
    }
}

bool heed__hf_normalizer(heed__hf *r, const json_t *o, const char *place) {
    static const form known[] = {
        {"Sequence", "normalizers", 0},
        {"BertNormalizer", "?clean_text:1 ?handle_chinese_chars:1 ?lowercase:1 ?strip_accents:<",
         BERT},
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
    return read_section(r, o, place, known, add_normalizer);
}

/* ---- splitters ---- */

enum { BYTE_LEVEL, BERT_WORDS, WORDS, WHITE, DIGITS, PUNCTUATION, SPLIT, DELIMITER, METASPACE };

static bool add_prefix(heed__hf *r, heed__step_kind kind, const char *text) {
    return add_text(r, &r->p->splitters, (heed__step){.kind = kind}, text, "");
}

static bool add_class(heed__hf *r, heed__class class, int behavior) {
    return add_step(
        r, &r->p->splitters,
        (heed__step){.kind = HEED__BY_CLASS, .class = class, .behavior = (heed__behavior)behavior});
}

static bool add_metaspace(heed__hf *r, const value *v) {
    const char *mark = v[0].text;
    int scheme = v[2].number;
    return add_text(r, &r->p->splitters, (heed__step){.kind = HEED__REPLACE}, " ", mark) &&
           (scheme > 1 || add_prefix(r, scheme ? HEED__FIRST : HEED__PREFIX, mark)) &&
           (!v[3].on ||
            add_text(r, &r->p->splitters,
                     (heed__step){.kind = HEED__BY_TEXT, .behavior = HEED__WITH_NEXT}, mark, ""));
}

/* pattern, behavior, invert */
static bool add_split(heed__hf *r, const json_t *o, const char *place, const value *v) {
    const char *refused;
    heed__step k = {
        .kind = HEED__BY_TEXT, .behavior = (heed__behavior)v[2].number, .invert = v[3].on};
    if (!v[1].on) return add_text(r, &r->p->splitters, k, v[0].text, "");
    k.kind = HEED__BY_PATTERN;
    k.pattern = heed__pattern_new(r->c, v[0].text, &refused);
    if (k.pattern && add_step(r, &r->p->splitters, k)) return true;
    heed__pattern_free(k.pattern);
    if (heed__stopped(r->c)) return false;
    char expected[HEED__PLACE];
    snprintf(expected, sizeof expected, "a pattern without %s", refused);
    return refuse_value(r, place, "pattern.Regex", expected,
                        json_object_get(json_object_get(o, "pattern"), "Regex"));
}

static bool add_splitter(heed__hf *r, const json_t *o, const char *place, int what,
                         const value *v) {
    heed__steps *s = &r->p->splitters;
    if (r->p->bytes) return heed__hf_refuse(r, place, "ByteLevel as the last splitter", o);
    switch (what) {
    case BYTE_LEVEL: /* prefix, regex */
        if (v[0].on && !add_prefix(r, HEED__PREFIX, " ")) return false;
        r->p->bytes = true;
        return !v[1].on || add_plain(r, s, HEED__BY_GPT2);
    case BERT_WORDS:
        return add_class(r, HEED__SPACE, HEED__REMOVED) &&
               add_class(r, HEED__PUNCTUATION, HEED__ISOLATED);
    case WORDS:
        return add_step(
            r, s, (heed__step){.kind = HEED__BY_WORDS, .behavior = HEED__REMOVED, .invert = true});
    case WHITE:
        return add_class(r, HEED__SPACE, HEED__REMOVED);
    case DIGITS:
        return add_class(r, HEED__NUMERAL, v[0].on ? HEED__ISOLATED : HEED__CONTIGUOUS);
    case PUNCTUATION:
        return add_class(r, HEED__PUNCTUATION, v[0].number);
    case SPLIT:
        return add_split(r, o, place, v);
    case DELIMITER:
        return refuse_empty(r, place, o, v[0].text) &&
               add_text(r, s, (heed__step){.kind = HEED__BY_TEXT, .behavior = HEED__REMOVED},
                        v[0].text, "");
    default:
        return refuse_empty(r, place, o, v[0].text) && add_metaspace(r, v);
    }
}

bool heed__hf_splitter(heed__hf *r, const json_t *o, const char *place) {
    static const form known[] = {
        {"Sequence", "pretokenizers", 0},
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
    return read_section(r, o, place, known, add_splitter);
}

/* ---- decoders ---- */

static bool add_decoder(heed__hf *r, const json_t *o, const char *place, int what, const value *v) {
    heed__steps *s = &r->p->decoders;
    heed__step k = {.kind = (heed__step_kind)what};
    switch (what) {
    case HEED__FROM_PIECES:
        k.left = v[1].on;
        break;
    case HEED__FROM_PREFIX:
        k.left = v[2].number < 2;
        break;
    case HEED__FROM_STRIPPED:
        k.start = v[1].number;
        k.stop = v[2].number;
        break;
    case HEED__FROM_REPLACED:
        if (v[1].on)
            return refuse_value(r, place, "pattern", "a String", json_object_get(o, "pattern"));
        return add_text(r, s, k, v[0].text, v[2].text);
    case HEED__FROM_SUFFIX:
        break;
    default:
        return add_step(r, s, k);
    }
    return (what == HEED__FROM_PIECES || refuse_empty(r, place, o, v[0].text)) &&
           add_text(r, s, k, v[0].text, "");
}

bool heed__hf_decoder(heed__hf *r, const json_t *o, const char *place) {
    static const form known[] = {
        {"Sequence", "decoders", 0},
        {"WordPiece", "=prefix:## ?cleanup:1", HEED__FROM_PIECES},
        {"Metaspace", "=replacement:\u2581 ?add_prefix_space:1 ^prepend_scheme -split -str_rep",
         HEED__FROM_PREFIX},
        {"Replace", "/pattern =content:", HEED__FROM_REPLACED},
        {"Strip", "=content:_ #start #stop", HEED__FROM_STRIPPED},
        {"BPEDecoder", "=suffix:</w>", HEED__FROM_SUFFIX},
        {"ByteFallback", "", HEED__FROM_FALLBACK},
        {"Fuse", "", HEED__FUSE},
        {"ByteLevel", "-add_prefix_space -trim_offsets -use_regex", HEED__FROM_BYTES},
        {0}};
    return read_section(r, o, place, known, add_decoder);
}
