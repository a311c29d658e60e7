/* pairs.c -- pairs of texts: opening them, and the contents of each part. */
#include "data/pair/pairs.h"

#include "data/kind.h"
#include "text/text.h"

#include <string.h>

/* ---- memory ---- */

static void pairs_free(heed__owned *object) {
    heed_pairs *k = (heed_pairs *)object;
    heed__names_free(&k->labels);
    for (int i = 0; i < 2; i++) {
        heed__free(k->file[i]);
        heed__free(k->path[i]);
    }
    for (int side = 0; side < HEED__SIDES; side++) heed__free(k->stream[side].ids);
    void *rest[] = {k->pairs, k->train, k->val,    k->label_texts, k->src, k->ids,
                    k->keys,  k->drawn, k->counts, k->weights,     k};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) heed__free(rest[i]);
}

void heed_pairs_close(heed_pairs *k) {
    if (k) heed__release(k->c, &k->owned);
}

/* ---- lines ---- */

static bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool heed__next_word(heed__cut *rest, heed__cut *word) {
    while (rest->n && is_white(*rest->s)) rest->s++, rest->n--;
    *word = (heed__cut){rest->s, 0};
    while (word->n < rest->n && !is_white(word->s[word->n])) word->n++;
    rest->s += word->n;
    rest->n -= word->n;
    return word->n > 0;
}

heed__cut heed__trimmed(heed__cut t) {
    while (t.n && is_white(*t.s)) t.s++, t.n--;
    while (t.n && is_white(t.s[t.n - 1])) t.n--;
    return t;
}

const char *heed__pairs_form(heed_pair_kind kind) {
    static const char *const forms[] = {"source TAB target", "label TAB text", "words TAB labels",
                                        "file TAB caption"};
    return forms[kind];
}

bool heed__pairs_wrong(const heed__line *l, const char *expected, const char *found) {
    return heed_reject(
        l->k->c, HEED_DATA,
        (heed_problem){"line is wrong", l->path, l->number, expected, .found = found});
}

static bool text_fits(const heed__line *l, const heed__cut text[HEED__SIDES]) {
    if (!text[HEED__SOURCE].n || !text[HEED__TARGET].n)
        return heed__pairs_wrong(l, "text on both sides", "an empty one");
    if (l->k->a.kind != HEED_TAGS) return true;
    size_t words = 0, labels = 0;
    heed__cut source = text[HEED__SOURCE], target = text[HEED__TARGET], word;
    while (heed__next_word(&source, &word)) words++;
    while (heed__next_word(&target, &word)) labels++;
    return words == labels ||
           heed_fail(l->k->c, HEED_DATA,
                     "line is wrong: %s:%zu: expected a label for each of the %zu words, found %zu "
                     "labels; hint: separate both by spaces",
                     l->path, l->number, words, labels);
}

/* A file's name without the number of its caption: "dog.jpg#2", as in Flickr8k. */
static heed__cut without_number(heed__cut file) {
    size_t n = file.n;
    while (n && file.s[n - 1] >= '0' && file.s[n - 1] <= '9') n--;
    return n > 1 && n < file.n && file.s[n - 1] == '#' ? (heed__cut){file.s, n - 1} : file;
}

bool heed__pairs_add(heed__line *l, const heed__cut text[HEED__SIDES]) {
    heed_pairs *k = l->k;
    heed__pair p = {.line = l->number, .note = heed__trimmed(l->note)};
    for (int side = 0; side < HEED__SIDES; side++) p.text[side] = heed__trimmed(text[side]);
    if (k->a.kind == HEED_CAPTIONS) p.text[HEED__SOURCE] = without_number(p.text[HEED__SOURCE]);
    if (!text_fits(l, p.text) || !heed__pairs_add_labels(l, p.text[HEED__TARGET]) ||
        !heed__grow(k->c, &k->pairs, &k->capacity, k->count + 1, sizeof *k->pairs))
        return false;
    k->pairs[k->count++] = p;
    return true;
}

static bool read_lines(heed_pairs *k, const char *path, char *text, size_t n) {
    heed__line l = {.k = k, .path = path};
    bool json = heed__ends_in(path, ".jsonl") || heed__ends_in(path, ".json"), first = true,
         header = false, ok = true;
    k->info.json |= json;
    l.column[HEED__SOURCE] = k->a.kind == HEED_CLASSES;
    l.column[HEED__TARGET] = k->a.kind != HEED_CLASSES;
    if (k->a.kind == HEED_TAGS && !json) {
        bool is_conll, read = heed__pairs_conll(&l, text, n, &is_conll);
        if (is_conll || !read) return read;
        l.column[HEED__SOURCE] = 0;
        l.column[HEED__TARGET] = 1;
    }
    if (heed__ends_in(path, ".csv")) return heed__pairs_csv(&l, text, n);
    for (size_t at = 0; ok && at < n; at += l.n + 1) {
        l.s = text + at;
        l.n = heed__line_length(l.s, n - at);
        l.number++;
        if (!heed__trimmed((heed__cut){l.s, l.n}).n) {
            k->info.blank++;
            continue;
        }
        header = false;
        ok = json || !first || heed__pairs_tsv_header(&l, &header);
        k->info.header |= header;
        if (ok && !header) ok = json ? heed__pairs_json(&l) : heed__pairs_tsv(&l);
        first = false;
    }
    return ok;
}

static bool read_file(heed_pairs *k, const char *path, int number) {
    size_t n, before = k->count;
    k->path[number] = heed__copy_text(k->c, path);
    char *text = k->file[number] = heed_text_read(k->c, path, &n);
    if (!text) return false;
    k->info.checksum = heed__hash64(text, n, k->info.checksum);
    bool others = k->info.header;
    k->info.header = false;
    if (!read_lines(k, path, text, n)) return false;
    if (k->a.kind == HEED_CAPTIONS && n && text[n - 1] != '\n')
        heed_message(k->c, HEED_WARN,
                     "the last line has no end: %s: the file may have been cut off", path);
    if (k->count == before && k->info.header)
        return heed_fail(k->c, HEED_DATA,
                         "no pairs: %s: expected rows below the names of the columns, found only "
                         "the line of these names",
                         path);
    k->info.header |= others;
    return k->count > before ||
           heed_fail(k->c, HEED_DATA, "no pairs: %s: expected lines of %s, found none", path,
                     heed__pairs_form(k->a.kind));
}

/* ---- opening ---- */

static bool args_fit(heed_ctx *c, const heed_pairs_args *a) {
    if ((int)a->kind < HEED_TRANSLATION || a->kind > HEED_CAPTIONS)
        return heed_fail(c, HEED_USAGE, "there is no kind of pairs %d", (int)a->kind);
    bool chosen = !a->block && (a->kind == HEED_CLASSES || a->kind == HEED_TAGS);
    return (chosen || heed__in_range(c, "block is", a->block, 2, HEED__MOST_BLOCK)) &&
           heed__is_share(c, a->val_split);
}

heed_pairs *heed_pairs_open(heed_ctx *c, const char *path, const heed_pairs_args *a) {
    if (heed__stopped(c) || !path || !a || !args_fit(c, a)) return NULL;
    heed_pairs *k = heed__alloc(c, sizeof *k);
    if (!k) return NULL;
    k->c = k->labels.c = c;
    k->a = *a;
    k->info.per_word = a->kind == HEED_TAGS;
    heed__own(c, &k->owned, pairs_free);
    bool ok = heed__pairs_named(k) && heed__pairs_labels(k) && read_file(k, path, 0);
    k->own = k->count;
    ok = ok && (!k->a.val_path || read_file(k, k->a.val_path, 1)) && heed__pairs_sort_labels(k) &&
         heed__pairs_split(k, path);
    k->a.labels = NULL; /* these belong to the caller, and are no longer needed */
    k->a.val_path = k->a.columns = NULL;
    if (ok) return k;
    heed_pairs_close(k);
    return NULL;
}

/* ---- contents ---- */

const heed_pairs_info *heed_pairs_about(const heed_pairs *k) { return k ? &k->info : NULL; }

bool heed_pairs_get(const heed_pairs *k, bool val, size_t index, heed_pair *out) {
    if (out) *out = (heed_pair){0};
    if (!k || !out || heed__stopped(k->c)) return false;
    size_t count = val ? k->info.val_pairs : k->info.pairs;
    if (index >= count)
        return heed_fail(k->c, HEED_USAGE, "there is no pair %zu: expected less than %zu", index,
                         count);
    const heed__pair *p = &k->pairs[(val ? k->val : k->train)[index]];
    *out = (heed_pair){.line = p->line,
                       .source_n = p->text[HEED__SOURCE].n,
                       .target_n = p->text[HEED__TARGET].n,
                       .note_n = p->note.n,
                       .source = p->text[HEED__SOURCE].s,
                       .target = p->text[HEED__TARGET].s,
                       .note = p->note.s};
    return true;
}

bool heed_pairs_text(const heed_pairs *k, int side, heed_text *out) {
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
