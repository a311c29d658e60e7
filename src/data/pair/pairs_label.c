/* pairs_label.c -- the labels of classes and tags: numbered in bytewise order, or as in the run. */
#include "data/pair/pairs.h"
#include "io/io.h"

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
    k->info.labels = k->label_texts = heed__names_list(&k->labels, false);
    k->info.classes = (int)k->labels.count;
    return k->label_texts != NULL;
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

bool heed__pairs_sort_labels(heed_pairs *k) {
    if (k->a.labels || k->a.kind == HEED_TRANSLATION) return true;
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
