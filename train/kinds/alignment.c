/* alignment.c -- the decoder's attention to the source: as a matrix, target x source, and the share
 * of generated tokens whose largest weight is at the expected place. Bahdanau et al. 2015, fig. 3.
 */
#include "cli/choice.h"
#include "kinds/pairs.h"
#include "kinds/records.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL = 64 };

/* Opens the translator's current source and target; the translator no longer has its source. */
static bool inspect_target(translator *k, heed_inspection *s) {
    heed_reader how = heed_run_reader(k->run);
    *s = (heed_inspection){.run = k->run};
    return heed_example_made(&how, k->ids, (size_t)k->about.count, k->about.ended, &k->in) &&
           heed_inspection_open(s, k->run, &k->in, "");
}

/* ---- the matrix ---- */

/* Of the layers that attend to the source, sets out->layer to the one that --layer chooses, from 1,
 * and *chosen to the head. */
static bool choose(const heed_run *r, const heed_config *flags, alignment *out, int *chosen) {
    heed_attending a = {.heads = 1};
    int layers = 0;
    while (heed_cross_layer(r, layers, &a)) layers++;
    out->layer = chosen_layer(r->c, flags, layers, "");
    if (!out->layer) return false;
    heed_cross_layer(r, out->layer - 1, &a);
    out->fixed = a.fixed;
    heed_record_block block = {.heads = a.heads};
    if (!chosen_head(r->c, flags ? heed_config_text(flags, "head") : "", &block, chosen))
        return false;
    char head[HEED_WORDS];
    snprintf(out->of, sizeof out->of,
             a.fixed
                 ? "no attention: one context, of the encoder's last states, for all"
                 : "cross, layer %d of %d, %.48s: a row for each generated token, over the source",
             out->layer, layers, heed_head_words(&block, *chosen, head));
    return true;
}

bool alignment_choice(const heed_run *r, const heed_config *flags) {
    alignment a;
    int chosen;
    return choose(r, flags, &a, &chosen);
}

/* The labels of columns are stored after those of rows. */
static void set_labels(alignment *a, const heed_record_axis *axis, const char **labels) {
    for (int i = 0; i < axis->count; i++)
        labels[i] = heed_format_token(a->memory + (labels - a->row_label + i) * LABEL, LABEL,
                                      axis->labels[i]);
}

static bool fill(const heed_inspection *s, int head, alignment *a) {
    size_t n = (size_t)a->rows * (size_t)a->cols, labels = (size_t)a->rows + (size_t)a->cols;
    const heed_tensor *w = heed_alignment(s, a->layer - 1);
    if (!w) return false;
    a->weights = calloc(n, sizeof *a->weights);
    a->memory = malloc(labels * LABEL);
    a->row_label = malloc(labels * sizeof *a->row_label);
    if (!a->weights || !a->memory || !a->row_label)
        return heed_fail(s->run->c, HEED_FAILED, "no memory for %zu weights", n);
    for (size_t i = 0; i < n; i++)
        a->weights[i] = heed_fused_weight(w->x, (int)(w->size / n), n, head, i);
    /* All heads have one scale, also if one is shown; their mean has its own. */
    const heed_real *scaled = head < 0 ? a->weights : w->x;
    for (size_t i = 0; i < (head < 0 ? n : w->size); i++)
        if (scaled[i] > a->end) a->end = scaled[i];
    a->col_label = a->row_label + a->rows;
    set_labels(a, &s->axes[1], a->row_label);
    set_labels(a, &s->axes[0], a->col_label);
    return true;
}

bool alignment_of(translator *k, const heed_config *flags, alignment *out) {
    heed_inspection s;
    int chosen;
    *out = (alignment){.weights = NULL};
    if (!choose(k->run, flags, out, &chosen)) return false;
    bool ok = inspect_target(k, &s);
    out->rows = s.target_count;
    out->cols = s.count;
    ok = ok && fill(&s, chosen, out);
    heed_unprobe(k->run->tape);
    heed_inspection_free(&s);
    return ok;
}

void alignment_free(alignment *a) {
    free(a->weights);
    free(a->memory);
    free((void *)a->row_label);
    *a = (alignment){0};
}

static heed_heatmap map_of(const alignment *a, const char *title) {
    return (heed_heatmap){.title = title,
                          .rows = a->rows,
                          .cols = a->cols,
                          .values = a->weights,
                          .row_labels = a->row_label,
                          .col_labels = a->col_label,
                          .uniform = 1.0 / a->cols,
                          .hi = a->end};
}

bool alignment_print(heed_ctx *c, const alignment *a) { return print_heatmap(c, map_of(a, a->of)); }

bool alignment_draw(heed_ctx *c, const alignment *a, const char *const *titles, int count, bool svg,
                    const char *path) {
    heed_heatmap maps[2];
    for (int i = 0; i < count; i++) maps[i] = map_of(&a[i], titles[i]);
    if (count > 1) maps[0].hi = maps[1].hi = maps[0].hi > maps[1].hi ? maps[0].hi : maps[1].hi;
    if (count > 1) return (svg ? heed_heatmaps_svg : heed_heatmaps_png)(c, maps, count, path);
    heed_panels one = {.title = *titles,
                       .subtitle = a->of,
                       .note = a->fixed ? NULL : NO_EXPLANATION ".",
                       .count = 1,
                       .maps = maps};
    return (svg ? heed_panels_svg : heed_panels_png)(c, &one, path);
}

json_t *alignment_json(const alignment *a) {
    json_t *rows = json_array();
    for (int i = 0; i < a->rows; i++)
        json_array_append_new(rows, json_numbers(a->weights + i * a->cols, a->cols));
    return rows;
}

/* ---- where it peaks ---- */

bool alignment_peaks_open(alignment_peaks *p, heed_run *r, const heed_config *flags) {
    static const char *const kinds[] = {"none", "diagonal", "anti", "fields"};
    const char *name = heed_config_text(flags, "alignment");
    *p = (alignment_peaks){.within = (int)heed_config_int(flags, "within")};
    while (p->kind < PEAKS_FIELDS && strcmp(name, kinds[p->kind]) != 0) p->kind++;
    p->name = kinds[p->kind];
    return p->kind == PEAKS_NONE || heed_alignment_peaks_open(r, &p->of);
}

bool alignment_peaks_add(alignment_peaks *p, translator *k, const heed_pair *pair) {
    heed_inspection s;
    if (p->kind == PEAKS_NONE || k->about.count < 1) return true;
    bool ok = inspect_target(k, &s);
    heed_alignment_range *right = ok ? calloc((size_t)s.target_count, sizeof *right) : NULL;
    if (ok && !right)
        ok = heed_fail(k->run->c, HEED_FAILED, "no memory for %d tokens", s.target_count);
    if (ok && p->kind == PEAKS_FIELDS)
        ok = heed_alignment_fields(&s, pair, right);
    else if (ok)
        heed_alignment_diagonal(&s, p->within, p->kind == PEAKS_ANTI, right);
    ok = ok && heed_alignment_peaks_add(&p->of, &s, right);
    free(right);
    heed_inspection_free(&s);
    return ok;
}

static int best_of(const alignment_peaks *p) {
    int best = 0;
    for (int i = 1; i < p->of.layers * p->of.heads; i++)
        if (p->of.correct[i] > p->of.correct[best]) best = i;
    return best;
}

static json_t *peak_json(const alignment_peaks *p, int head) {
    double low, high, n = (double)p->of.count, right = (double)p->of.correct[head];
    share_interval(right, n, &low, &high);
    return json_pack("{s:i, s:i, s:o, s:[o,o]}", "layer", head / p->of.heads + 1, "head",
                     head % p->of.heads + 1, "share", json_number(right / n), "share_95",
                     json_number(low), json_number(high));
}

json_t *alignment_peaks_json(const alignment_peaks *p) {
    if (p->kind == PEAKS_NONE) return NULL;
    json_t *heads = json_array();
    for (int i = 0; i < p->of.layers * p->of.heads; i++)
        json_array_append_new(heads, peak_json(p, i));
    return json_pack("{s:s, s:i, s:I, s:o, s:o}", "kind", p->name, "within", p->within, "outputs",
                     (json_int_t)p->of.count, "best", peak_json(p, best_of(p)), "heads", heads);
}

static void print_peak(const alignment_peaks *p, int head, const char *label) {
    double low, high, n = (double)p->of.count, right = (double)p->of.correct[head];
    share_interval(right, n, &low, &high);
    print_fact(19, label, "%.2f %%  (95 %%: %.2f to %.2f)", 100 * right / n, 100 * low, 100 * high);
}

void alignment_peaks_print(const alignment_peaks *p) {
    char n[32], label[48], where[64] = "inside the field that is written";
    if (p->kind == PEAKS_NONE) return;
    if (p->kind != PEAKS_FIELDS)
        snprintf(where, sizeof where, "within %d of the %s", p->within,
                 p->kind == PEAKS_ANTI ? "anti-diagonal" : "diagonal");
    putchar('\n');
    print_fact(0, "", "peak of the attention %s, of %s generated tokens", where,
               heed_format_count(n, p->of.count));
    putchar('\n');
    int all = p->of.layers * p->of.heads;
    for (int i = 0; all > 1 && i < all; i++) {
        snprintf(label, sizeof label, "  layer %d, head %d", i / p->of.heads + 1,
                 i % p->of.heads + 1);
        print_peak(p, i, label);
    }
    print_peak(p, best_of(p), all > 1 ? "  best head" : "  attention");
}
