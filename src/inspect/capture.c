/* capture.c -- passes an example through its model and records the attention. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Axes of an example with a target: the source or picture, the target, and the decoder's input. */
static heed_record_block block_of(const heed_run *r, const heed_attention_info *a) {
    bool target = heed_model_data(r->model)->target;
    int queries = !target || a->stack == HEED_ENCODER ? 0 : a->stack == HEED_CROSS ? 1 : 2;
    return (heed_record_block){.path = a->path,
                               .stack = a->stack,
                               .layer = a->layer,
                               .heads = a->heads,
                               .kv_heads = a->kv_heads == a->heads ? 0 : a->kv_heads,
                               .rotary = a->rotary,
                               .queries = queries,
                               .keys = a->stack == HEED_CROSS ? 0 : queries,
                               .key = a->key,
                               .value = a->value,
                               .beta = a->beta,
                               .causal = a->causal,
                               .hard = a->hard,
                               .additive = a->additive,
                               .align = a->align};
}

/* How to get attention from a model with these settings. */
static const char *attention_hint(const heed_config *f) {
    bool none =
        heed_config_has(f, "attention") && strcmp(heed_config_text(f, "attention"), "none") == 0;
    if (none) return "train with `attention = additive`";
    if (heed_config_has(f, "encoder")) return "train with `encoder = attention`";
    if (heed_config_has(f, "cell")) return "train with `cell = none`";
    return "a model with attention layers, such as a transformer";
}

heed_record_block *heed_attention_layers(const heed_run *r, int *count) {
    heed_attention_info a;
    int all = 0, ignored;
    if (!count) count = &ignored;
    *count = 0;
    if (!r || heed_ctx_status(r->c) != HEED_OK) return NULL;
    while (r->model->attending && r->model->attending(r->self, all, &a)) all++;
    heed_record_block *list = calloc((size_t)all + 1, sizeof *list);
    if (!list) heed_fail(r->c, HEED_FAILED, "no memory for a list of layers");
    for (int i = 0; list && i < all; i++)
        if (r->model->attending(r->self, i, &a) && !a.fixed) list[(*count)++] = block_of(r, &a);
    if (!list || *count) return list;
    free(list);
    heed_fail(
        r->c, HEED_USAGE,
        "the model does not attend: this %s has no attention layers; hint: %s, or `influence`, "
        "which needs none",
        r->model->name, attention_hint(r->config));
    return NULL;
}

static bool is_wanted(const heed_capture_args *w, const heed_record_block *b) {
    bool listed = w->layer_count == 0;
    for (int i = 0; w->layers && i < w->layer_count; i++)
        listed = listed || w->layers[i] == b->layer;
    return listed && (!w->stack || *w->stack == b->stack);
}

/* Size of the record in bytes, before anything is computed: mostly weights, raw and scores. */
static double estimate(const heed_example *e, const heed_capture_args *w,
                       const heed_record_block *list, int count, int *blocks) {
    double n = 0;
    *blocks = 0;
    for (int i = 0; i < count; i++) {
        const heed_record_block *b = &list[i];
        if (!is_wanted(w, &list[i])) continue;
        int heads = w->head_count && w->head_count < b->heads ? w->head_count : b->heads;
        n += (w->lean ? 1.0 : 3.0) * heads * e->axes[b->queries].count * e->axes[b->keys].count;
        ++*blocks;
    }
    return n * sizeof(heed_real);
}

static bool check_size(const heed_run *r, const heed_example *e, const heed_capture_args *w,
                       const heed_record_block *list, int count) {
    int blocks;
    char found[32], limit[32];
    double bytes = estimate(e, w, list, count, &blocks), most = w->most == 0 ? 256e6 : w->most;
    if (blocks == 0) {
        int last = 0;
        for (int i = 0; i < count; i++)
            if (list[i].layer > last) last = list[i].layer;
        return heed_fail(r->c, HEED_USAGE,
                         "no such layer: expected 1 to %d of %s, found none of those asked for",
                         last + 1, r->model->name);
    }
    if (most < 0 || bytes <= most) return true;
    return heed_fail(r->c, HEED_USAGE,
                     "the attention is too large: %d layers of %d heads over %d tokens take %s: "
                     "expected at most %s; hint: `layers = 1,%d`, `heads = 1`, or a shorter input",
                     blocks, list[0].heads, e->axes[0].count, heed_format_bytes(found, bytes),
                     heed_format_bytes(limit, most), blocks);
}

enum { MOST_GUESSES = 1000 };

static bool add_guess(heed_record *record, const heed_run *r, const heed_example_question *q,
                      int top, const heed_tensor *y) {
    int best[MOST_GUESSES];
    const char *labels[MOST_GUESSES];
    char numbers[MOST_GUESSES][16];
    heed_real p[MOST_GUESSES];
    top = heed_run_guesses(r, q, y, top, best, p);
    for (int i = 0; i < top; i++) labels[i] = heed_class_label(r, best[i], numbers[i]);
    return heed_record_add_guess(record, &(heed_record_guess){.axis = q->axis,
                                                              .query = q->query,
                                                              .says = q->says,
                                                              .count = top,
                                                              .labels = labels,
                                                              .p = p}) >= 0;
}

static void describe(heed_record *record, const heed_run *r, const heed_example *e) {
    char model[96], layers[32] = "", step[48] = "", n[32];
    if (r->step >= 0)
        snprintf(step, sizeof step, ", step %s", heed_format_count(n, (uint64_t)r->step));
    heed_attention_info a;
    int count = 0;
    if (heed_config_has(r->config, "layers"))
        count = (int)heed_config_int(r->config, "layers");
    else
        while (r->model->attending && r->model->attending(r->self, count, &a)) count++;
    const heed_data_kind *kind = heed_model_data(r->model);
    if (!kind->images || !kind->target) /* whose encoder may have none of the blocks */
        snprintf(layers, sizeof layers, " of %d layer%s", count, count == 1 ? "" : "s");
    snprintf(model, sizeof model, "%s%s%s", r->model->name, layers, step);
    heed_record_describe(
        record,
        (heed_record_texts){
            .title = e->title,
            .model = model,
            .task = r->model->name,
            .note = e->cropped ? "The model sees the centre square of the picture, which is shown."
                               : NULL});
    record->step = r->step;
    for (int i = 0; i < e->axis_count; i++) heed_record_add_axis(record, &e->axes[i]);
    const heed_picture *p = &e->shown;
    if (p->pixels) heed_record_picture(record, p->pixels, p->width, p->height, p->channels);
}

heed_record *heed_capture(const heed_run *r, const heed_example *e, const heed_capture_args *w) {
    static const heed_capture_args everything = {.lean = false};
    if (!heed__inspectable(r, e)) return NULL;
    heed_tape *t = r->tape;
    int count;
    if (!w) w = &everything;
    heed_record_block *list = heed_attention_layers(r, &count);
    if (!list || !check_size(r, e, w, list, count)) {
        free(list);
        return NULL;
    }
    heed_probe_clear(t);
    for (int i = 0; i < count; i++)
        if (is_wanted(w, &list[i])) heed_record_probe(t, list[i].path, w->lean);
    const heed_tensor *y = heed__run_example(r, e, &(heed__passing){.rows = 0});
    heed_record *record = y ? heed_record_new(r->c) : NULL;
    if (record) describe(record, r, e);
    for (int i = 0; record && i < count; i++) {
        heed_record_block like = list[i];
        if (!is_wanted(w, &list[i])) continue;
        if (w->head_count) {
            like.heads = w->head_count;
            like.head = w->heads;
        }
        heed_record_take(record, t, &like, 0, NULL);
    }
    int top = w->top > 0 ? w->top : 5;
    for (int i = 0; record && i < e->question_count; i++)
        add_guess(record, r, &e->questions[i], top < MOST_GUESSES ? top : MOST_GUESSES, y);
    free(list);
    heed_probe_clear(t);
    if (heed_ctx_status(r->c) == HEED_OK) return record;
    heed_record_free(record);
    return NULL;
}
