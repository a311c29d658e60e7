/* pairs_parts.c -- the labels of classes and tags, numbered in sorted order or as in the run; the
 * training and validation parts, of which one has all pairs of a source. */
#include "data/pair/pairs.h"
#include "text/text.h"

#include <math.h>
#include <string.h>

/* ---- labels ---- */

static bool add_label(const heed__line *l, heed__cut label) {
    heed__pairs *k = l->k;
    char found[HEED_QUOTE];
    if (!k->a.labels) return heed__names_add(&k->labels, label.s, label.n) >= 0;
    if (heed__names_look(&k->labels, label.s, label.n) >= 0) return true;
    return heed__pairs_wrong(l, "a label of the run", heed_quote(found, label.s, label.n));
}

bool heed__pairs_add_labels(const heed__line *l, heed__cut target) {
    heed__cut word;
    if (heed__pairs_decoded(l->k)) return true;
    if (l->k->a.kind == HEED_TARGET_CLASSES) return add_label(l, target);
    while (heed__next_word(&target, &word))
        if (!add_label(l, word)) return false;
    return true;
}

static bool list_labels(heed__pairs *k) {
    k->info.labels = k->label_texts = heed__names_list(&k->labels, false);
    k->info.classes = (int)k->labels.count;
    return k->label_texts != NULL;
}

bool heed__pairs_labels(heed__pairs *k) {
    if (!k->a.labels || heed__pairs_decoded(k)) return true;
    for (int i = 0; i < k->a.label_count; i++) {
        int32_t number = heed__names_add(&k->labels, k->a.labels[i], strlen(k->a.labels[i]));
        if (number < 0) return false;
        if (number != i)
            return heed_fail(k->c, HEED_USAGE, "label occurs twice among the run's: %s",
                             k->a.labels[i]);
    }
    return list_labels(k);
}

bool heed__pairs_sort_labels(heed__pairs *k) {
    if (k->a.labels || heed__pairs_decoded(k)) return true;
    heed__names met = k->labels;
    const char **texts = heed__names_list(&met, true);
    k->labels = (heed__names){.c = k->c};
    bool ok = texts != NULL;
    for (size_t i = 0; ok && i < met.count; i++)
        ok = heed__names_add(&k->labels, texts[i], strlen(texts[i])) >= 0;
    ok = ok && list_labels(k);
    heed__free(texts);
    heed__names_free(&met);
    return ok;
}

/* ---- parts ---- */

typedef struct {
    heed__pairs *k;
    heed__names sources;
    int32_t *source; /* source number of each pair */
    size_t *pairs;   /* per source: its pairs in the first file */
    bool *val;       /* per source: it is for validation */
} split;

static bool number_sources(split *s) {
    heed__pairs *k = s->k;
    s->sources.c = k->c;
    s->source = heed__alloc_array(k->c, k->count, sizeof *s->source);
    s->pairs = heed__alloc_array(k->c, k->count, sizeof *s->pairs);
    s->val = heed__alloc_array(k->c, k->count, sizeof *s->val);
    k->train = heed__alloc_array(k->c, k->count, sizeof *k->train);
    k->val = heed__alloc_array(k->c, k->count, sizeof *k->val);
    if (heed__stopped(k->c)) return false;
    for (size_t i = 0; i < k->count; i++) {
        const heed__cut *t = &k->pairs[i].text[HEED__SOURCE];
        int32_t number = heed__names_add(&s->sources, t->s, t->n);
        if (number < 0) return false;
        s->source[i] = number;
        s->pairs[number] += k->pairs[i].part == HEED_TRAIN_PART;
    }
    return true;
}

/* Chooses sources in a seeded order, skipping those with more pairs than are still wanted. */
static bool choose(split *s, const char *path) {
    heed__pairs *k = s->k;
    size_t n = k->own, sources = s->sources.count, taken = 0;
    if (sources < 2)
        return heed_fail(k->c, HEED_DATA,
                         "no %ss are left to validate: %s: expected at least 2 different "
                         "sources, found 1; hint: `val = FILE`, or `val-split = 0`",
                         heed__pair_schemas[k->a.kind].unit, path);
    size_t wanted = (size_t)lround(k->a.val_split * (double)n);
    wanted = wanted < 1 ? 1 : wanted > n - 1 ? n - 1 : wanted;
    heed_random order = heed_random_at(heed_seed(k->c), "split", 0, 0);
    for (size_t i = 0; i < sources && taken < wanted; i++) {
        size_t source = (size_t)heed_random_permute(&order, i, sources);
        if (taken + s->pairs[source] > wanted) continue;
        s->val[source] = true;
        taken += s->pairs[source];
    }
    if (!taken) s->val[heed_random_permute(&order, 0, sources)] = true;
    return true;
}

/* Whether pairs of the training part are kept for validation. */
static bool has_cut(const heed__pairs *k) { return k->a.val_split > 0 && !k->info.val_rows; }

/* Without a validation part, evaluation reads all pairs. */
static void fill_parts(split *s) {
    heed__pairs *k = s->k;
    heed__pairs_info *f = &k->info;
    bool cut = has_cut(k), test = k->a.test && f->test_rows;
    heed_part evaluated = test ? HEED_TEST_PART : HEED_VAL_PART;
    k->has_val = cut || test || f->val_rows;
    for (size_t i = 0; i < k->count; i++) {
        heed__pair *p = &k->pairs[i];
        f->overlap += p->part != HEED_TRAIN_PART && s->pairs[s->source[i]] > 0;
        if (p->part == HEED_TRAIN_PART && cut && s->val[s->source[i]]) p->part = HEED_VAL_PART;
        p->trains = p->part == HEED_TRAIN_PART;
        if (p->trains) k->train[f->pairs++] = i;
        if (p->part == (int)evaluated || !k->has_val) k->val[f->val_pairs++] = i;
    }
}

bool heed__pairs_split(heed__pairs *k, const char *path) {
    split s = {.k = k};
    bool ok = number_sources(&s) && (!has_cut(k) || choose(&s, path));
    if (ok) fill_parts(&s);
    if (ok && !k->info.pairs && !k->a.test)
        ok =
            heed_fail(k->c, HEED_DATA, "no %ss to train on: %s: expected rows of the training part",
                      heed__pair_schemas[k->a.kind].unit, path);
    heed__names_free(&s.sources);
    heed__free(s.source);
    heed__free(s.pairs);
    heed__free(s.val);
    return ok;
}
