/* json.c -- reads a tokenizer.json of Hugging Face's tokenizers. What is not supported is refused
 * by its place in the file. */
#include "tokenizer/tokenizer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static bool add_text(reader *r, heed__steps *s, heed__step step, const char *text,
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
        return refuse_regex(r, place, o, v) && add_text(r, s, k, v[0].text, v[2].text);
    case HEED__PREPEND:
        return add_text(r, s, k, v[0].text, "");
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
    return add_text(r, s, (heed__step){.kind = HEED__REPLACE}, " ", v[0].text) &&
           (v[2].number > 1 || add_text(r, s, prefix, v[0].text, "")) &&
           (!v[3].on || add_text(r, s, split, v[0].text, ""));
}

/* pattern, behavior, invert */
static bool add_split(reader *r, const json_t *o, const char *place, const value *v) {
    const char *refused;
    heed__step k = {
        .kind = HEED__BY_TEXT, .behavior = (heed__behavior)v[2].number, .invert = v[3].on};
    if (!v[1].on) return add_text(r, &r->k->splitters, k, v[0].text, "");
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
        return (!v[0].on || add_text(r, s, (heed__step){.kind = HEED__PREFIX}, " ", "")) &&
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
               add_text(r, s, (heed__step){.kind = HEED__BY_TEXT, .behavior = HEED__REMOVED},
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
        return add_text(r, s, k, v[0].text, "");
    case HEED__FROM_REPLACED:
        return refuse_regex(r, place, o, v) && add_text(r, s, k, v[0].text, v[2].text);
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
    return refuse_empty(r, place, o, v[0].text) && add_text(r, s, k, v[0].text, " ");
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
    return a.text && heed__added_put(r->k, a) &&
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
    return heed__frame_put(r->k, (int32_t)id, after);
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
           recognize(r) && (k->preset || heed_text_put(&k->file, text, n)) &&
           heed__tokenizer_finish(k);
}

heed_tokenizer *heed__parse_tokenizer(heed_ctx *c, const char *path, const char *text, size_t n,
                                      bool preset) {
    json_t *o = heed__json_parse(c, path, text, n);
    reader r = {.c = c, .path = path, .preset = preset, .spare = heed__spare(n)};
    r.k = o ? heed__tokenizer_new(c) : NULL;
    bool good = r.k && read_all(&r, o, text, n);
    json_decref(o);
    if (good) return r.k;
    heed_tokenizer_free(r.k);
    return NULL;
}
