/* pairs_label.c -- the labels of classes and tags: numbered in bytewise order, or as in the run. */
#include "data/pair/pairs.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>

static bool note(const heed__line *l, heed__cut label) {
    heed_pairs *k = l->k;
    char found[HEED_QUOTE];
    if (!k->a.labels) return heed__names_add(&k->labels, label.s, label.n) >= 0;
    if (heed__names_look(&k->labels, label.s, label.n) >= 0) return true;
    return heed__pairs_wrong(l, "a label of the run", heed_quote(found, label.s, label.n));
}

bool heed__pairs_note(const heed__line *l, heed__cut target) {
    heed__cut word;
    if (l->k->a.kind == HEED_TRANSLATION) return true;
    if (l->k->a.kind == HEED_CLASSES) return note(l, target);
    while (heed__next_word(&target, &word))
        if (!note(l, word)) return false;
    return true;
}

static bool list_labels(heed_pairs *k) {
    size_t n = k->labels.count;
    k->label_texts = heed__alloc_array(k->c, n, sizeof *k->label_texts);
    if (!k->label_texts) return false;
    for (size_t i = 0; i < n; i++) k->label_texts[i] = heed__names_text(&k->labels, i);
    k->info.labels = k->label_texts;
    k->info.classes = (int)n;
    return true;
}

bool heed__pairs_labels(heed_pairs *k) {
    if (!k->a.labels || k->a.kind == HEED_TRANSLATION) return true;
    for (int i = 0; i < k->a.label_count; i++) {
        int32_t number = heed__names_add(&k->labels, k->a.labels[i], strlen(k->a.labels[i]));
        if (number < 0) return false;
        if (number != i)
            return heed_fail(k->c, HEED_USAGE, "label stands twice among the run's: %s",
                             k->a.labels[i]);
    }
    return list_labels(k);
}

static int bytewise(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool heed__pairs_sort_labels(heed_pairs *k) {
    if (k->a.labels || k->a.kind == HEED_TRANSLATION) return true;
    if (!list_labels(k)) return false;
    heed__names met = k->labels;
    const char **texts = k->label_texts;
    qsort(texts, met.count, sizeof *texts, bytewise);
    k->labels = (heed__names){.c = k->c};
    k->label_texts = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < met.count; i++)
        ok = heed__names_add(&k->labels, texts[i], strlen(texts[i])) >= 0;
    ok = ok && list_labels(k);
    heed__free(texts);
    heed__names_free(&met);
    return ok;
}
