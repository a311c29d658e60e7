/* pairs.c -- pairs of texts: opening them, and the contents of each part. */
#include "data/pair/pairs.h"

#include "data/kind.h"
#include "text/text.h"

#include <string.h>

/* ---- memory ---- */

static void pairs_free(heed__owned *object) {
    heed__pairs *k = (heed__pairs *)object;
    heed__names_free(&k->labels);
    for (size_t i = 0; i < k->composed_count; i++) heed__free(k->composed[i]);
    for (int i = 0; i < 2; i++) {
        heed__free(k->file[i]);
        heed__free(k->path[i]);
    }
    for (int side = 0; side < HEED__SIDES; side++) heed__free(k->stream[side].ids);
    void *rest[] = {k->pairs, k->train,  k->val,     k->label_texts, k->src,      k->ids, k->keys,
                    k->drawn, k->counts, k->weights, k->columns,     k->composed, k};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) heed__free(rest[i]);
}

void heed__pairs_close(heed__pairs *k) {
    if (k) heed__release(k->c, &k->owned);
}

/* ---- lines ---- */

const char *heed__pairs_form(heed_target_kind kind) { return heed__pair_schemas[kind].form; }

bool heed__pairs_wrong(const heed__line *l, const char *expected, const char *found) {
    return heed_reject(
        l->k->c, HEED_DATA,
        (heed_problem){"line is wrong", l->path, l->number, expected, .found = found});
}

static bool text_fits(const heed__line *l, const heed__cut text[HEED__SIDES]) {
    if (l->k->a.kind != HEED_TARGET_TAGS) return true;
    size_t words = 0, labels = 0;
    heed__cut source = text[HEED__SOURCE], target = text[HEED__TARGET], word;
    while (heed__next_word(&source, &word)) words++;
    while (heed__next_word(&target, &word)) labels++;
    return words == labels ||
           heed_fail(l->k->c, HEED_DATA,
                     "line is wrong: %s:%zu: expected a label for each of the %zu words, found %zu "
                     "labels%s",
                     l->path, l->number, words, labels,
                     l->k->info.json ? "" : "; hint: separate both by spaces");
}

/* Rows without text are left out, and counted; the first one is kept for the message. */
static bool has_text(heed__line *l, const heed__cut text[HEED__SIDES]) {
    heed__pairs_info *i = &l->k->info;
    bool source = text[HEED__SOURCE].n > 0, target = text[HEED__TARGET].n > 0;
    i->blank += !source && !target;
    if (source != target && l->empty++ == 0) l->first_empty = l->number;
    return source && target;
}

/* Makes labels that look equal equal. The text of a file is the pairs' own, and so are composed
 * ones, which may be longer. */
static bool compose(heed__pairs *k, heed__cut *label) {
    heed_text made = {.c = k->c};
    bool ok = heed__compose(&made, label->s, label->n), longer = ok && made.n > label->n;
    if (longer)
        ok = heed__grow(k->c, &k->composed, &k->composed_capacity, k->composed_count + 1,
                        sizeof *k->composed);
    else if (ok && made.n)
        memcpy((char *)(uintptr_t)label->s, made.s, made.n);
    if (longer && ok) k->composed[k->composed_count++] = made.s;
    if (ok) *label = (heed__cut){longer ? made.s : label->s, made.n};
    if (!longer || !ok) heed_text_free(&made);
    return ok;
}

bool heed__pairs_add(heed__line *l, const heed__cut text[HEED__SIDES]) {
    heed__pairs *k = l->k;
    heed__pair p = {.line = l->number,
                    .part = k->path[1] ? HEED_VAL_PART : l->part,
                    .note = heed__trimmed(l->note)};
    for (int side = 0; side < HEED__SIDES; side++) p.text[side] = heed__trimmed(text[side]);
    if (!has_text(l, p.text)) return true;
    k->info.val_rows += p.part == HEED_VAL_PART;
    k->info.test_rows += p.part == HEED_TEST_PART;
    if (p.part == HEED_TEST_PART && !k->a.test) return true;
    if (k->a.kind == HEED_TARGET_CAPTIONS)
        p.text[HEED__SOURCE] = heed__without_number(p.text[HEED__SOURCE]);
    if (!heed__pairs_decoded(k) && !compose(k, &p.text[HEED__TARGET])) return false;
    if (!text_fits(l, p.text) || !heed__pairs_add_labels(l, p.text[HEED__TARGET]) ||
        !heed__grow(k->c, &k->pairs, &k->capacity, k->count + 1, sizeof *k->pairs))
        return false;
    k->pairs[k->count++] = p;
    return true;
}

/* A list as Python writes it would be read as words with brackets and quotes. */
static bool is_list(heed__cut t) {
    return t.n >= 2 && *t.s == '[' && t.s[t.n - 1] == ']' && strchr("'\"]0123456789", t.s[1]);
}

static bool read_table(heed__line *l, char *text, size_t n) {
    heed__table *t = &l->table;
    bool ok = heed__table_open(t, text, n);
    while (ok && heed__table_next(t)) {
        heed__cut both[HEED__SIDES];
        for (int side = 0; side < HEED__SIDES; side++) both[side] = heed__table_field(t, side);
        l->number = t->rows.line;
        l->note = heed__table_note(t);
        l->part = heed__table_part(t, heed__table_field(t, HEED__PART));
        if (l->part < 0) return false;
        l->k->info.extra_columns += t->width > heed__table_roles(t);
        bool labels = t->schema->labels && is_list(both[HEED__TARGET]);
        if (labels || (t->schema->words && is_list(both[HEED__SOURCE])))
            ok = heed_fail(l->k->c, HEED_DATA,
                           "line is wrong: %s:%zu: expected %s, found a list as Python writes it; "
                           "hint: pandas writes lists with to_json(\"data.jsonl\", "
                           "orient=\"records\", lines=True)",
                           l->path, l->number,
                           !labels            ? "words separated by spaces"
                           : t->schema->words ? "labels separated by spaces"
                                              : "a label");
        ok = ok && heed__pairs_add(l, both);
    }
    l->k->info.header |= t->named;
    if (ok && t->named && !l->k->columns) l->k->info.columns = l->k->columns = heed__table_names(t);
    l->k->info.blank += t->rows.blank;
    return ok && !heed__stopped(l->k->c);
}

static bool read_objects(heed__line *l, char *text, size_t n) {
    bool ok = true;
    l->k->info.json = true;
    for (size_t at = 0; ok && at < n; at += l->n + 1) {
        l->s = text + at;
        l->n = heed__line_length(l->s, n - at);
        l->number++;
        if (heed__trimmed((heed__cut){l->s, l->n}).n)
            ok = heed__pairs_json(l);
        else
            l->k->info.blank++;
    }
    return ok;
}

/* number: 0 for the first file, 1 for that of validation. */
static bool read_lines(heed__pairs *k, const char *path, int number, char *text, size_t n) {
    const heed__pairs_args *a = &k->a;
    bool own = number && a->val_columns && *a->val_columns;
    size_t before = k->count;
    heed__line l = {.k = k,
                    .path = path,
                    .table = {.c = k->c,
                              .schema = &heed__pair_schemas[a->kind],
                              .columns = own ? a->val_columns : a->columns,
                              .header = a->header,
                              .prefix = number ? "val-" : "",
                              .path = path}};
    bool json = heed__ends_in(path, ".jsonl") || heed__ends_in(path, ".json");
    bool conll = false,
         ok = json || a->kind != HEED_TARGET_TAGS || heed__pairs_conll(&l, text, n, &conll);
    if (ok && !conll) ok = json ? read_objects(&l, text, n) : read_table(&l, text, n);
    if (ok && l.empty && k->count > before)
        heed_message(k->c, HEED_WARN, "%zu row%s without %s or %s %s left out: %s:%zu%s", l.empty,
                     l.empty == 1 ? "" : "s", l.table.schema->what[0], l.table.schema->what[1],
                     l.empty == 1 ? "is" : "are", path, l.first_empty,
                     l.empty == 1 ? "" : " is the first");
    k->info.empty += l.empty;
    return ok;
}

static bool read_file(heed__pairs *k, const char *path, int number) {
    size_t n, before = k->count;
    k->path[number] = heed__copy_text(k->c, path);
    char *text = k->file[number] = heed_text_read(k->c, path, &n);
    if (!text) return false;
    k->info.checksum = heed__hash64(text, n, k->info.checksum);
    bool others = k->info.header, ended = n && text[n - 1] == '\n';
    k->info.header = false;
    if (!read_lines(k, path, number, text, n)) return false;
    if (k->a.kind == HEED_TARGET_CAPTIONS && !ended)
        heed_message(k->c, HEED_WARN,
                     "the last line has no end: %s: the file may have been cut off", path);
    if (k->count == before && k->info.header && !k->info.test_rows)
        return heed_fail(k->c, HEED_DATA,
                         "no rows: %s: expected some below the names of the columns, found only "
                         "the line of these names",
                         path);
    k->info.header |= others;
    return k->count > before ||
           heed_fail(k->c, HEED_DATA, "no %ss: %s: expected lines of %s, found none%s",
                     heed__pair_schemas[k->a.kind].unit, path, heed__pairs_form(k->a.kind),
                     k->info.test_rows ? " but rows of the test part"
                     : k->info.empty   ? " with text on both sides"
                                       : "");
}

/* ---- opening ---- */

static bool args_fit(heed_ctx *c, const heed__pairs_args *a) {
    if ((int)a->kind < HEED_TARGET_TEXT || a->kind > HEED_TARGET_CAPTIONS)
        return heed_fail(c, HEED_USAGE, "there is no kind of pairs %d", (int)a->kind);
    bool chosen = !a->block && (a->kind == HEED_TARGET_CLASSES || a->kind == HEED_TARGET_TAGS);
    return (chosen || heed__in_range(c, "block is", a->block, 2, HEED__MOST_BLOCK)) &&
           heed__is_share(c, a->val_split);
}

heed__pairs *heed__pairs_open(heed_ctx *c, const char *path, const heed__pairs_args *a) {
    if (heed__stopped(c) || !path || !a || !args_fit(c, a)) return NULL;
    heed__pairs *k = heed__alloc(c, sizeof *k);
    if (!k) return NULL;
    k->c = k->labels.c = c;
    k->a = *a;
    k->info.per_word = a->kind == HEED_TARGET_TAGS;
    heed__own(c, &k->owned, pairs_free);
    bool ok = heed__pairs_labels(k) && read_file(k, path, 0);
    k->own = k->count;
    ok = ok && (!k->a.val_path || read_file(k, k->a.val_path, 1)) && heed__pairs_sort_labels(k) &&
         heed__pairs_split(k, path);
    k->a.labels = NULL; /* these belong to the caller, and are no longer needed */
    k->a.val_path = k->a.columns = k->a.val_columns = k->a.header = NULL;
    if (ok) return k;
    heed__pairs_close(k);
    return NULL;
}

/* ---- contents ---- */

const heed__pairs_info *heed__pairs_about(const heed__pairs *k) { return k ? &k->info : NULL; }

static heed_pair shown(const heed__pair *p) {
    return (heed_pair){.line = p->line,
                       .source_n = p->text[HEED__SOURCE].n,
                       .target_n = p->text[HEED__TARGET].n,
                       .note_n = p->note.n,
                       .source = p->text[HEED__SOURCE].s,
                       .target = p->text[HEED__TARGET].s,
                       .note = p->note.s};
}

bool heed__pairs_get(const heed__pairs *k, bool val, size_t index, heed_pair *out) {
    if (out) *out = (heed_pair){0};
    if (!k || !out || heed__stopped(k->c)) return false;
    size_t count = val ? k->info.val_pairs : k->info.pairs;
    if (index >= count)
        return heed_fail(k->c, HEED_USAGE, "there is no pair %zu: expected less than %zu", index,
                         count);
    *out = shown(&k->pairs[(val ? k->val : k->train)[index]]);
    return true;
}

size_t heed__pairs_conflicts(const heed__pairs *k, heed__pairs_conflict *out, size_t most) {
    if (!k || heed__stopped(k->c)) return 0;
    heed__names sources = {.c = k->c};
    size_t found = 0, *first = heed__alloc_array(k->c, k->count, sizeof *first);
    bool *counted = heed__alloc_array(k->c, k->count, sizeof *counted);
    for (size_t i = 0; first && counted && i < k->count; i++) {
        const heed__cut *text = k->pairs[i].text;
        size_t before = sources.count;
        int32_t source = heed__names_add(&sources, text[HEED__SOURCE].s, text[HEED__SOURCE].n);
        if (source < 0) break;
        if (sources.count > before) first[source] = i;
        heed__cut other = k->pairs[first[source]].text[HEED__TARGET], own = text[HEED__TARGET];
        if (counted[source] || (own.n == other.n && memcmp(own.s, other.s, own.n) == 0)) continue;
        counted[source] = true;
        for (int j = 0; found < most && j < 2; j++) {
            size_t pair = j ? i : first[source];
            out[found].pair[j] = shown(&k->pairs[pair]);
            out[found].path[j] = k->path[pair >= k->own];
        }
        found++;
    }
    heed__names_free(&sources);
    heed__free(first);
    heed__free(counted);
    return heed__stopped(k->c) ? 0 : found;
}

bool heed__pairs_text(const heed__pairs *k, int side, heed_text *out) {
    if (!k || !out || heed__stopped(k->c)) return false;
    if (side < 0 || side > HEED__SIDES)
        return heed_fail(k->c, HEED_USAGE, "there is no side %d: expected 0, 1 or 2", side);
    if (!out->c) out->c = k->c;
    for (size_t i = 0; i < k->info.pairs; i++)
        for (int s = 0; s < HEED__SIDES; s++) {
            const heed__cut *t = &k->pairs[k->train[i]].text[s];
            if (side != s && side != HEED__SIDES) continue;
            if (!heed_text_put(out, t->s, t->n) || !heed_text_put(out, "\n", 1)) return false;
        }
    return true;
}

bool heed_lines_read(heed_ctx *c, const char *path, heed_target_kind kind, const char *columns,
                     const char *header, heed_lines *out, heed_text texts[2]) {
    if (out) *out = (heed_lines){0};
    if (!out) return false;
    heed__pairs_args a = {.kind = kind, .block = 512, .columns = columns, .header = header};
    heed__pairs *k = heed__pairs_open(c, path, &a);
    heed_pair pair;
    if (!k) return false;
    out->pairs = k->info.pairs;
    out->classes = k->info.classes;
    out->conll = k->info.conll > 0;
    for (int i = 0; i < out->classes; i++)
        if (strlen(k->info.labels[i]) > out->longest) out->longest = strlen(k->info.labels[i]);
    for (size_t i = 0; i < out->pairs; i++)
        out->several +=
            heed__pairs_get(k, false, i, &pair) && memchr(pair.source, ' ', pair.source_n);
    bool ok = true;
    for (int side = 0; texts && side < 2; side++)
        ok = ok && heed__pairs_text(k, side, &texts[side]);
    heed__pairs_close(k);
    return ok;
}
