/* entities.c -- entities in the labels of words, "B-PER I-PER O", and how many of them are
 * predicted: counted as seqeval does (Nakayama 2018), in its default mode, which is that of
 * conlleval (Tjong Kim Sang & Buchholz 2000), and strictly by a scheme. */
#include "data/kind.h"
#include "tokenizer/tokenizer.h"

#include "data/sets.h"
#include <stdlib.h>
#include <string.h>

/* One sequence of labels as it is read. */
typedef struct {
    char tag;     /* of the previous word: 'O' before the first one */
    int32_t type; /* of the previous word; -1 before the first one */
    size_t begin; /* of the current entity, or of the latest one */
    bool open;    /* strict: the previous word is in an entity */
} sequence;

typedef struct {
    size_t begin;
    int32_t type;
} entity;

struct heed__entities {
    heed_ctx *c;
    bool strict;
    const char *scheme; /* NULL: the default mode */
    char *tags;         /* (labels): B, I, E, S, O or another first letter */
    int32_t *types;     /* (labels) */
    heed__names names;  /* of the types */
    heed__entity_score *scores, *listed;
    sequence gold, predicted;
    size_t words;
};

/* ---- labels ---- */

enum { UNTYPED = 0 }; /* the type "_", of O and of labels that name none */

/* Whether all labels are O, or begin as those of entities do; *seen: their first letters. */
static bool name_entities(const char *const *labels, int count, char seen[128]) {
    memset(seen, 0, 128);
    for (int i = 0; i < count; i++) {
        const char *s = labels[i];
        bool known = strchr("BIESLU", *s) && (!s[1] || s[1] == '-');
        if (!known && strcmp(s, "O") != 0) return false;
        seen[(unsigned char)*s & 127] = 1;
    }
    return seen['B'] || seen['I'] || seen['E'] || seen['S'] || seen['U'];
}

static const char *scheme_of(const char seen[128]) {
    if (seen['L'] || seen['U']) return seen['E'] || seen['S'] ? NULL : "BILOU";
    if (seen['E'] || seen['S']) return "IOBES";
    return seen['B'] ? "IOB2" : NULL;
}

/* The type of "B-PER": what follows the first "-"; strictly, without any "-" at its ends. */
static int32_t type_of(heed__entities *e, const char *label) {
    const char *s = label + 1;
    size_t n = strlen(s);
    if (!e->strict) {
        const char *dash = strchr(s, '-');
        if (dash) s = dash + 1, n = strlen(s);
    } else {
        while (n && *s == '-') s++, n--;
        while (n && s[n - 1] == '-') n--;
    }
    return heed__names_add(&e->names, n ? s : "_", n ? n : 1);
}

void heed__entities_free(heed__entities *e) {
    if (!e) return;
    heed__names_free(&e->names);
    heed__free(e->tags);
    heed__free(e->types);
    heed__free(e->scores);
    heed__free(e->listed);
    heed__free(e);
}

static void begin(heed__entities *e) {
    e->gold.tag = e->predicted.tag = 'O';
    e->gold.open = e->predicted.open = false;
}

heed__entities *heed__entities_new(heed_ctx *c, const char *const *labels, int count, bool strict) {
    char seen[128];
    if (heed__stopped(c) || !labels || count < 1 || !name_entities(labels, count, seen))
        return NULL;
    if (strict && !scheme_of(seen)) return NULL;
    heed__entities *e = heed__alloc(c, sizeof *e);
    if (!e) return NULL;
    size_t n = (size_t)count;
    *e = (heed__entities){.c = c,
                          .strict = strict,
                          .scheme = strict ? scheme_of(seen) : NULL,
                          .names = {.c = c},
                          .tags = heed__alloc(c, n),
                          .types = heed__alloc_array(c, n, sizeof *e->types),
                          .scores = heed__alloc_array(c, n + 1, sizeof *e->scores),
                          .listed = heed__alloc_array(c, n + 1, sizeof *e->listed)};
    heed__names_add(&e->names, "_", 1); /* UNTYPED */
    for (size_t i = 0; i < n && !heed__stopped(c); i++) {
        char tag = labels[i][0];
        e->tags[i] = !strict ? tag : tag == 'L' ? 'E' : tag == 'U' ? 'S' : tag;
        e->types[i] = type_of(e, labels[i]);
    }
    e->gold.type = e->predicted.type = -1;
    begin(e);
    if (!heed__stopped(c)) return e;
    heed__entities_free(e);
    return NULL;
}

const char *heed__entities_scheme(const heed__entities *e) { return e ? e->scheme : NULL; }

/* ---- where entities end and begin ---- */

static bool is_one_of(char tag, const char *tags) { return tag && strchr(tags, tag); }

static bool ends(const sequence *s, char tag, int32_t type) {
    if (is_one_of(s->tag, "ES")) return true;
    if (is_one_of(s->tag, "BI") && is_one_of(tag, "BSO")) return true;
    return !is_one_of(s->tag, "O.") && s->type != type;
}

static bool starts(const sequence *s, char tag, int32_t type) {
    if (is_one_of(tag, "BS")) return true;
    if (is_one_of(s->tag, "ESO") && is_one_of(tag, "EI")) return true;
    return !is_one_of(tag, "O.") && s->type != type;
}

/* Reads the next label. True: an entity ended with the word before. */
static bool next_default(sequence *s, char tag, int32_t type, size_t word, entity *out) {
    bool ended = ends(s, tag, type);
    *out = (entity){s->begin, s->type};
    if (starts(s, tag, type)) s->begin = word;
    s->tag = tag;
    s->type = type;
    return ended;
}

/* An entity is a B and the I that follow it; in IOBES it ends with E, or is one S. */
static bool next_strict(sequence *s, char tag, int32_t type, size_t word, bool marked,
                        entity *out) {
    if (s->open && is_one_of(s->tag, "BI") && is_one_of(tag, "IE") && type == s->type) {
        s->tag = tag;
        return false;
    }
    bool ended = s->open && (!marked || is_one_of(s->tag, "ES"));
    *out = (entity){s->begin, s->type};
    s->open = is_one_of(tag, "BS");
    if (s->open) s->begin = word;
    s->tag = tag;
    s->type = type;
    return ended;
}

static bool next(const heed__entities *e, sequence *s, char tag, int32_t type, entity *out) {
    bool marked = e->strict && strcmp(e->scheme, "IOB2") != 0;
    return e->strict ? next_strict(s, tag, type, e->words, marked, out)
                     : next_default(s, tag, type, e->words, out);
}

static void count_word(heed__entities *e, const char tag[2], const int32_t type[2]) {
    entity a, b;
    bool gold = next(e, &e->gold, tag[0], type[0], &a);
    bool predicted = next(e, &e->predicted, tag[1], type[1], &b);
    if (gold) e->scores[a.type].gold++;
    if (predicted) e->scores[b.type].predicted++;
    if (gold && predicted && a.type == b.type && a.begin == b.begin) e->scores[a.type].correct++;
    e->words++;
}

void heed__entities_word(heed__entities *e, int gold, int predicted) {
    if (e)
        count_word(e, (char[]){e->tags[gold], e->tags[predicted]},
                   (int32_t[]){e->types[gold], e->types[predicted]});
}

void heed__entities_end(heed__entities *e) {
    if (!e) return;
    count_word(e, (char[]){'O', 'O'}, (int32_t[]){UNTYPED, UNTYPED});
    begin(e);
}

/* ---- results ---- */

static int by_type(const void *a, const void *b) {
    return strcmp(((const heed__entity_score *)a)->type, ((const heed__entity_score *)b)->type);
}

const heed__entity_score *heed__entities_scores(heed__entities *e, size_t *count) {
    if (count) *count = 0;
    if (!e || !count) return NULL;
    for (size_t i = 0; i < e->names.count; i++) {
        heed__entity_score one = e->scores[i];
        one.type = heed__names_text(&e->names, i);
        if (one.gold + one.predicted) e->listed[(*count)++] = one;
    }
    qsort(e->listed, *count, sizeof *e->listed, by_type);
    return e->listed;
}

typedef struct {
    double precision, recall, f1;
} measures;

/* As seqeval has it, 0 where there is nothing to divide by. */
static measures measures_of(const heed__entity_score *s) {
    measures m = {.precision = s->predicted ? (double)s->correct / (double)s->predicted : 0,
                  .recall = s->gold ? (double)s->correct / (double)s->gold : 0};
    m.f1 = s->correct ? 2 * m.precision * m.recall / (m.precision + m.recall) : 0;
    return m;
}

static void add_measures(const heed__entity_score *s, heed_facts *out) {
    measures m = measures_of(s);
    heed_fact_number(out, "precision", "", m.precision, NULL);
    heed_fact_number(out, "recall", "", m.recall, NULL);
    heed_fact_number(out, "f1", "", m.f1, NULL);
    heed_json_int(&out->json, "support", (int64_t)s->gold);
}

/* Adds a line, and {precision, recall, f1, support, types: [{type, precision, ...}]}, in which the
 * strict mode is, with its scheme. */
static void report_mode(heed__entities *const *e, bool strict, heed_facts *out) {
    size_t count;
    char n[32];
    heed_text *o = &out->json;
    const heed__entity_score *list = heed__entities_scores(e[strict], &count);
    heed__entity_score sum = {.type = "all"};
    if (!list) return;
    for (size_t i = 0; i < count; i++) {
        sum.gold += list[i].gold;
        sum.predicted += list[i].predicted;
        sum.correct += list[i].correct;
    }
    measures m = measures_of(&sum);
    const char *scheme = heed__entities_scheme(e[strict]);
    heed_fact_add(out, HEED_FACT, strict ? "" : "entities",
                  "F1 %.2f %%, precision %.2f %%, recall %.2f %% of %s entit%s%s%s", 100 * m.f1,
                  100 * m.precision, 100 * m.recall, heed_format_count(n, sum.gold),
                  sum.gold == 1 ? "y" : "ies", scheme ? ", strictly " : "", scheme ? scheme : "");
    heed_json_open(o, strict ? "strict" : "entities", '{');
    add_measures(&sum, out);
    heed_json_open(o, "types", '[');
    for (size_t i = 0; i < count; i++) {
        heed_json_open(o, NULL, '{');
        heed_json_text(o, "type", list[i].type);
        add_measures(&list[i], out);
        heed_json_close(o, '}');
    }
    heed_json_close(o, ']');
    if (scheme) heed_json_text(o, "scheme", scheme);
    if (!strict) report_mode(e, true, out);
    heed_json_close(o, '}');
}

void heed__report_entities(heed__entities *const e[2], heed_facts *out) {
    report_mode(e, false, out);
}

void heed__table_entities(heed__entities *e, heed_facts *out) {
    size_t count;
    char n[32];
    const heed__entity_score *list = heed__entities_scores(e, &count);
    if (count) heed_fact_add(out, HEED_FACT_COLUMNS, "type", "entities\tfound\tprecision\tF1");
    for (size_t i = 0; i < count; i++) {
        measures m = measures_of(&list[i]);
        heed_fact_add(out, HEED_FACT_ROW, list[i].type, "%s\t%.2f %%\t%.2f %%\t%.2f %%",
                      heed_format_count(n, list[i].gold), 100 * m.recall, 100 * m.precision,
                      100 * m.f1);
    }
}
