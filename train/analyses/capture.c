/* capture.c -- a pass of a subject through its model, and the record of what it attended to. */
#include "analyses/capture.h"

#include "kinds/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the layers of a run ---- */

static double beta_of(const heed_config *f) {
    double beta = heed_config_real(f, "beta");
    int key = (int)heed_config_int(f, "key-width");
    if (key == 0) key = (int)(heed_config_int(f, "width") / heed_config_int(f, "heads"));
    return beta >= 0 ? beta : 1 / sqrt(key);
}

typedef struct {
    const heed_run *run;
    attending *list;
    int count;
} layers;

/* format has a %d for the layer. */
static void add_layers(layers *l, const char *format, int count, heed_record_block like) {
    const heed_config *f = l->run->config;
    for (int i = 0; i < count; i++) {
        attending *a = &l->list[l->count++];
        a->block = like;
        a->block.layer = i;
        a->block.heads = (int)heed_config_int(f, "heads");
        a->block.beta = beta_of(f);
        a->block.hard = heed_config_bool(f, "hard");
        snprintf(a->path, sizeof a->path, format, i);
    }
}

/* Target tokens attend to the source by the similarity that the settings name. */
static void add_alignment(layers *l) {
    const heed_config *f = l->run->config;
    const char *kind = heed_config_text(f, "attention");
    attending *a = &l->list[l->count++];
    a->block = (heed_record_block){.stack = HEED_CROSS, .heads = 1, .queries = 1, .beta = 1};
    a->block.additive = strcmp(kind, "additive") == 0;
    int key = (int)heed_config_int(f, "key-width");
    const heed_entry *align = heed_store_find(l->run->store, "decoder.attend.score.weight");
    if (align) a->block.align = align->tensor->x;
    if (strcmp(kind, "scaled") == 0)
        a->block.beta = 1 / sqrt(key ? key : (double)heed_config_int(f, "width"));
    snprintf(a->path, sizeof a->path, "decoder.attend");
}

static bool attends(const heed_run *r) {
    const heed_model *m = r->model;
    if (m == &heed_model_rnn) return strcmp(heed_config_text(r->config, "attention"), "none") != 0;
    if (m == &heed_model_textcls || m == &heed_model_tag)
        return strcmp(heed_config_text(r->config, "encoder"), "attention") == 0;
    if (m == &heed_model_gpt) return strcmp(heed_config_text(r->config, "cell"), "none") == 0;
    return m == &heed_model_mlm || m == &heed_model_vit || m == &heed_model_seq2seq;
}

static void no_attention(const heed_run *r) {
    bool labels = r->model == &heed_model_textcls || r->model == &heed_model_tag;
    heed_fail(r->c, HEED_USAGE, "the model does not attend: %s%s; hint: %s", r->model->name,
              labels ? " with recurrent layers" : "",
              labels ? "heed influence RUN INPUT shows which words count; or train with --encoder "
                       "attention"
                     : "a run of mlm, gpt, vit or seq2seq, of rnn with --attention additive, or of "
                       "textcls or tag with --encoder attention");
}

static const heed_record_block encoder = {.stack = HEED_ENCODER};
static const heed_record_block causal = {.stack = HEED_DECODER, .causal = true};

static void add_pair_layers(layers *l, int encoders) {
    int decoders = (int)heed_config_int(l->run->config, "decoder-layers");
    heed_record_block own = causal, cross = {.stack = HEED_CROSS, .queries = 1};
    own.queries = own.keys = 2;
    if (decoders == 0) decoders = encoders;
    add_layers(l, "encoder.%d.attn", encoders, encoder);
    add_layers(l, "decoder.%d.attn", decoders, own);
    add_layers(l, "decoder.%d.cross", decoders, cross);
}

attending *attending_layers(const heed_run *r, int *count) {
    layers l = {.run = r};
    *count = 0;
    if (!attends(r)) {
        no_attention(r);
        return NULL;
    }
    int own = (int)heed_config_int(r->config, "layers");
    l.list = calloc(3 * 64, sizeof *l.list);
    if (!l.list) {
        heed_fail(r->c, HEED_FAILED, "no memory for a list of layers");
        return NULL;
    }
    if (r->model == &heed_model_rnn)
        add_alignment(&l);
    else if (r->model == &heed_model_seq2seq)
        add_pair_layers(&l, own);
    else if (r->model == &heed_model_gpt)
        add_layers(&l, "decoder.%d.attn", own, causal);
    else
        add_layers(&l, "encoder.%d.attn", own, encoder);
    for (int i = 0; i < l.count; i++) l.list[i].block.path = l.list[i].path;
    *count = l.count;
    return l.list;
}

bool layer_exists(const heed_run *r, int layer) {
    int most = (int)heed_config_int(r->config, "layers");
    return layer <= most ||
           heed_fail(r->c, HEED_USAGE, "--layer %d: expected 1 to %d, or 0 for the last", layer,
                     most);
}

/* ---- the pass ---- */

/* A row for each mask alone, one after the other; most of the head's work is in the others. */
static heed_tensor *masked_positions(const subject *s, heed_tape *t) {
    int n = s->question_count;
    int32_t *at = malloc(((size_t)n + 1) * sizeof *at);
    if (!at) heed_fail(s->run->c, HEED_FAILED, "no memory for %d masks", n);
    for (int i = 0; at && i < n; i++) at[s->questions[i].row] = s->questions[i].query;
    heed_tensor *x = at && n ? heed_input_ids(t, at, 1, &n) : NULL;
    free(at);
    return x;
}

heed_tensor *subject_logits(const subject *s, heed_tape *t) {
    const heed_run *r = s->run;
    const heed_model *m = r->model;
    const heed_image_transform *v = &s->view;
    heed_model_input in = {0};
    if (m->kind == HEED_INPUT_PICTURE)
        in.x = heed_input(t, s->x, 4, (int[]){1, v->size, v->size, v->channels});
    else
        in.x = heed_ids(t, s->ids, 1, s->count);
    if (m->answers == HEED_ANSWER_MASKED) in.masked_positions = masked_positions(s, t);
    if (s->read) in.target = heed_ids(t, s->read, 1, s->target_count);
    heed_tensor *y = heed_ctx_status(r->c) == HEED_OK ? m->logits(r->self, t, &in) : NULL;
    return y ? heed_reshape(t, y, 2, (int[]){-1, y->shape[y->dims - 1]}) : NULL;
}

/* ---- what is kept ---- */

static bool among(int number, int count, const int *list) {
    for (int i = 0; i < count; i++)
        if (list[i] == number) return true;
    return count == 0;
}

static bool is_wanted(const capture_wish *w, const attending *a) {
    return among(a->block.layer, w->layer_count, w->layers) &&
           (!w->stack || *w->stack == a->block.stack);
}

void capture_probe(const subject *s, const capture_wish *w, heed_tape *t) {
    int count;
    attending *list = attending_layers(s->run, &count);
    heed_unprobe(t);
    for (int i = 0; list && i < count; i++)
        if (is_wanted(w, &list[i])) heed_record_probe(t, list[i].path, w->lean);
    free(list);
}

/* Bytes of the record, before anything is computed: weights, raw and scores are most of it. */
static double estimate(const subject *s, const capture_wish *w, const attending *list, int count,
                       int *blocks) {
    double n = 0;
    *blocks = 0;
    for (int i = 0; i < count; i++) {
        const heed_record_block *b = &list[i].block;
        if (!is_wanted(w, &list[i])) continue;
        int heads = w->head_count && w->head_count < b->heads ? w->head_count : b->heads;
        n += (w->lean ? 1.0 : 3.0) * heads * s->axes[b->queries].count * s->axes[b->keys].count;
        ++*blocks;
    }
    return n * sizeof(heed_real);
}

static bool check_size(const subject *s, const capture_wish *w, const attending *list, int count) {
    int blocks;
    char found[32], limit[32];
    double bytes = estimate(s, w, list, count, &blocks), most = w->most == 0 ? 256e6 : w->most;
    if (blocks == 0) {
        int last = 0;
        for (int i = 0; i < count; i++)
            if (list[i].block.layer > last) last = list[i].block.layer;
        return heed_fail(s->run->c, HEED_USAGE,
                         "no such layer: expected 1 to %d of %s, found none of those asked for",
                         last + 1, s->run->model->name);
    }
    if (most < 0 || bytes <= most) return true;
    return heed_fail(s->run->c, HEED_USAGE,
                     "the attention is too large: %d layers of %d heads over %d tokens take %s: "
                     "expected at most %s; hint: --layers 1,%d --heads 1, a shorter input, or "
                     "--force",
                     blocks, list[0].block.heads, s->axes[0].count, heed_format_bytes(found, bytes),
                     heed_format_bytes(limit, most), blocks);
}

/* ---- guesses ---- */

const char *class_label(const heed_run *r, int class, char number[16]) {
    if (r->labels && r->model != &heed_model_mlm && class < r->label_count) return r->labels[class];
    if (r->tokenizer && !r->labels) return heed_token_text(r->tokenizer, class);
    snprintf(number, 16, "%d", class);
    return number;
}

/* The `top` largest of n logits, falling, lowest index first at ties. */
static void largest(const heed_real *y, int n, int top, int *out) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        int at = count < top ? count++ : top - 1;
        if (at == top - 1 && count == top && i >= top && !(y[i] > y[out[at]])) continue;
        for (; at > 0 && y[i] > y[out[at - 1]]; at--) out[at] = out[at - 1];
        out[at] = i;
    }
}

enum { MOST_GUESSES = 1000 };

static bool add_guess(heed_record *record, const subject *s, const question *q, int top,
                      const heed_tensor *y) {
    int n = y->shape[1], best[MOST_GUESSES];
    const heed_real *row = y->x + (size_t)q->row * (size_t)n;
    const char *labels[MOST_GUESSES];
    char numbers[MOST_GUESSES][16];
    heed_real p[MOST_GUESSES];
    double sum = 0;
    if (top > n) top = n;
    largest(row, n, top, best);
    for (int i = 0; i < n; i++) sum += exp((double)row[i] - (double)row[best[0]]);
    for (int i = 0; i < top; i++) {
        p[i] = (heed_real)(exp((double)row[best[i]] - (double)row[best[0]]) / sum);
        labels[i] = class_label(s->run, best[i], numbers[i]);
    }
    return heed_record_add_guess(record, &(heed_record_guess){.axis = q->axis,
                                                              .query = q->query,
                                                              .says = q->says,
                                                              .count = top,
                                                              .labels = labels,
                                                              .p = p}) >= 0;
}

/* ---- the record ---- */

static void describe(heed_record *record, const subject *s) {
    char model[96], step[48] = "";
    const heed_run *r = s->run;
    if (r->step >= 0) snprintf(step, sizeof step, ", step %lld", (long long)r->step);
    int64_t count = heed_config_int(r->config, "layers");
    snprintf(model, sizeof model, "%s of %lld layer%s%s", r->model->name, (long long)count,
             count == 1 ? "" : "s", step);
    heed_record_describe(
        record, (heed_record_texts){.title = s->title, .model = model, .task = r->model->name});
    if (record) record->step = r->step;
    for (int i = 0; i < s->axis_count; i++) heed_record_add_axis(record, &s->axes[i]);
    if (s->pixels) heed_record_picture(record, s->pixels, s->side, s->side, s->view.channels);
}

static void add_blocks(heed_record *record, const subject *s, const capture_wish *w,
                       const heed_tape *t) {
    int count;
    attending *list = attending_layers(s->run, &count);
    for (int i = 0; list && i < count; i++) {
        heed_record_block like = list[i].block;
        if (!is_wanted(w, &list[i])) continue;
        if (w->head_count) {
            like.heads = w->head_count;
            like.head = w->heads;
        }
        heed_record_take(record, t, &like, 0, NULL);
    }
    free(list);
}

heed_record *capture_taken(const subject *s, const capture_wish *w, const heed_tape *t,
                           const heed_tensor *y) {
    heed_ctx *c = s->run->c;
    int top = w->top ? w->top : 5;
    heed_record *record = y ? heed_record_new(c) : NULL;
    if (record) {
        describe(record, s);
        add_blocks(record, s, w, t);
    }
    for (int i = 0; record && i < s->question_count; i++)
        add_guess(record, s, &s->questions[i], top < MOST_GUESSES ? top : MOST_GUESSES, y);
    if (heed_ctx_status(c) == HEED_OK) return record;
    heed_record_free(record);
    return NULL;
}

heed_record *capture(const subject *s, const capture_wish *w) {
    heed_tape *t = s->run->tape;
    int count;
    attending *list = attending_layers(s->run, &count);
    bool ok = list && check_size(s, w, list, count);
    free(list);
    if (!ok) return NULL;
    capture_probe(s, w, t);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *y = subject_logits(s, t);
    heed_record *record = capture_taken(s, w, t, y);
    heed_unprobe(t);
    return record;
}

/* ---- names ---- */

bool has_stacks(const attending *list, int count) {
    for (int i = 1; i < count; i++)
        if (list[i].block.stack != list[0].block.stack) return true;
    return false;
}

char *head_name(char text[64], const attending *l, int head, bool stacks) {
    snprintf(text, 64, "%s%slayer %d, head %d", stacks ? heed_stack_name(l->block.stack) : "",
             stacks ? " " : "", l->block.layer + 1, head + 1);
    return text;
}
