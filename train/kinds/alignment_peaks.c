/* alignment_peaks.c -- where the decoder's attention peaks: the share of generated tokens whose
 * largest weight over the source is at the expected place. */
#include "kinds/alignment_peaks.h"

#include <stdlib.h>
#include <string.h>

bool alignment_peaks_open(peaks *p, heed_run *r, const heed_config *flags) {
    static const char *const kinds[] = {"none", "diagonal", "anti", "fields"};
    const char *name = heed_config_text(flags, "alignment");
    *p = (peaks){.within = (int)heed_config_int(flags, "within")};
    while (p->kind < PEAKS_FIELDS && strcmp(name, kinds[p->kind]) != 0) p->kind++;
    p->name = kinds[p->kind];
    return p->kind == PEAKS_NONE || heed_peaks_open(r, &p->of);
}

void alignment_peaks_close(peaks *p) {
    heed_peaks_free(&p->of);
    *p = (peaks){0};
}

static bool add_pair(peaks *p, const heed_inspection *s, const heed_pair *pair) {
    heed_peak_range *right = calloc((size_t)s->target_count, sizeof *right);
    bool ok =
        right || heed_fail(s->run->c, HEED_FAILED, "no memory for %d tokens", s->target_count);
    if (ok && p->kind == PEAKS_FIELDS)
        ok = heed_peaks_fields(s, pair, right);
    else if (ok)
        heed_peaks_diagonal(s, p->within, p->kind == PEAKS_ANTI, right);
    ok = ok && heed_peaks_add(&p->of, s, right);
    free(right);
    return ok;
}

bool alignment_peaks_add(peaks *p, translator *k, const heed_pair *pair) {
    heed_inspection s;
    heed_reader how = heed_run_reader(k->run);
    if (p->kind == PEAKS_NONE || k->about.count < 1) return true;
    if (!heed_example_made(&how, k->ids, (size_t)k->about.count, k->about.ended, &k->in))
        return false;
    bool ok = heed_inspection_open(&s, k->run, &k->in, "") && add_pair(p, &s, pair);
    heed_inspection_free(&s);
    return ok;
}

/* ---- output ---- */

static int best_of(const peaks *p) {
    int best = 0;
    for (int i = 1; i < p->of.layers * p->of.heads; i++)
        if (p->of.correct[i] > p->of.correct[best]) best = i;
    return best;
}

static json_t *head_json(const peaks *p, int head) {
    double low, high, n = (double)p->of.count, right = (double)p->of.correct[head];
    share_interval(right, n, &low, &high);
    return json_pack("{s:i, s:i, s:o, s:[o,o]}", "layer", head / p->of.heads + 1, "head",
                     head % p->of.heads + 1, "share", json_number(right / n), "share_95",
                     json_number(low), json_number(high));
}

json_t *alignment_peaks_json(const peaks *p) {
    if (p->kind == PEAKS_NONE) return NULL;
    json_t *heads = json_array();
    for (int i = 0; i < p->of.layers * p->of.heads; i++)
        json_array_append_new(heads, head_json(p, i));
    return json_pack("{s:s, s:i, s:I, s:o, s:o}", "kind", p->name, "within", p->within, "outputs",
                     (json_int_t)p->of.count, "best", head_json(p, best_of(p)), "heads", heads);
}

static void print_head(const peaks *p, int head, const char *label) {
    double low, high, n = (double)p->of.count, right = (double)p->of.correct[head];
    share_interval(right, n, &low, &high);
    char start[64];
    snprintf(start, sizeof start, "  %s", label);
    print_fact(19, start, "%.2f %%  (95 %%: %.2f to %.2f)", 100 * right / n, 100 * low, 100 * high);
}

void alignment_peaks_print(const peaks *p) {
    char n[32], label[48];
    if (p->kind == PEAKS_NONE) return;
    char where[64] = "inside the field that is written";
    if (p->kind != PEAKS_FIELDS)
        snprintf(where, sizeof where, "within %d of the %s", p->within,
                 p->kind == PEAKS_ANTI ? "anti-diagonal" : "diagonal");
    putchar('\n');
    print_fact(0, "", "peak of the attention %s, of %s generated tokens", where,
               heed_format_count(n, p->of.count));
    putchar('\n');
    int all = p->of.layers * p->of.heads;
    for (int i = 0; all > 1 && i < all; i++) {
        snprintf(label, sizeof label, "layer %d, head %d", i / p->of.heads + 1,
                 i % p->of.heads + 1);
        print_head(p, i, label);
    }
    print_head(p, best_of(p), all > 1 ? "best head" : "attention");
}
