/* alignment.c -- the decoder's attention to the source as a matrix, target x source. Bahdanau et
 * al. 2015, fig. 3. */
#include "cli/choice.h"
#include "kinds/answers.h"
#include "kinds/records.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL = 64 };

/* Of the layers that attend to the source, sets out->layer to the one that --layer chooses, from 1,
 * and *chosen to the head. */
static bool choose(const heed_run *r, const heed_config *flags, alignment *out, int *chosen) {
    heed_attention_info a = {.heads = 1};
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

static bool fill(const heed_run *r, const heed_example *e, int head, alignment *a) {
    size_t n = (size_t)a->rows * (size_t)a->cols, labels = (size_t)a->rows + (size_t)a->cols;
    const heed_tensor *w = heed_alignment(r, e, a->layer - 1);
    if (!w) return false;
    a->weights = calloc(n, sizeof *a->weights);
    a->memory = malloc(labels * LABEL);
    a->row_label = malloc(labels * sizeof *a->row_label);
    if (!a->weights || !a->memory || !a->row_label)
        return heed_fail(r->c, HEED_FAILED, "no memory for %zu weights", n);
    for (size_t i = 0; i < n; i++)
        a->weights[i] = heed_fused_weight(w->x, (int)(w->size / n), n, head, i);
    /* All heads have one scale, also if one is shown; their mean has its own. */
    const heed_real *scaled = head < 0 ? a->weights : w->x;
    for (size_t i = 0; i < (head < 0 ? n : w->size); i++)
        if (scaled[i] > a->end) a->end = scaled[i];
    a->col_label = a->row_label + a->rows;
    set_labels(a, &e->axes[1], a->row_label);
    set_labels(a, &e->axes[0], a->col_label);
    return true;
}

bool alignment_of(translator *k, const heed_config *flags, alignment *out) {
    int chosen;
    *out = (alignment){.weights = NULL};
    if (!choose(k->run, flags, out, &chosen)) return false;
    bool ok = complete_target(k, "");
    out->rows = (int)k->in.target.tokens.count;
    out->cols = (int)k->in.text.tokens.count;
    ok = ok && fill(k->run, &k->in, chosen, out);
    heed_probe_clear(k->run->tape);
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
    if (count > 1) return heed_heatmaps_save(c, maps, count, svg ? HEED_SVG : HEED_PNG, path);
    heed_panels one = {.title = *titles,
                       .subtitle = a->of,
                       .note = a->fixed ? NULL : NO_EXPLANATION ".",
                       .count = 1,
                       .maps = maps};
    return heed_panels_save(c, &one, svg ? HEED_SVG : HEED_PNG, path);
}

json_t *alignment_json(const alignment *a) {
    json_t *rows = json_array();
    for (int i = 0; i < a->rows; i++)
        json_array_append_new(rows, json_numbers(a->weights + i * a->cols, a->cols));
    return rows;
}
