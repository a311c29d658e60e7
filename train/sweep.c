/* sweep.c -- evaluation data, batch by batch, and the attention layers of a model. */
#include "sweep.h"

#include <string.h>

/* ---- data ---- */

static bool open_text(program *p, sweep *s) {
    const char *part;
    s->data = judged_text(p, s->task, s->f, s->run, &part, s->what);
    return s->data != NULL;
}

static bool open_pictures(program *p, sweep *s) {
    heed_part part;
    bool whole;
    heed_images *k = judged_pictures(p, s->f, s->run, &part, &whole);
    if (!k) return false;
    s->data = k;
    heed_images_judge(k, part);
    snprintf(s->what, sizeof s->what, "%.440s%s%s%s", heed_config_text(s->f, "data"),
             whole ? "" : ", ", whole ? "" : part_name(part), whole ? "" : " part");
    return true;
}

static bool open_data(program *p, sweep *s) {
    if (s->task->kind == &text_kind) return open_text(p, s);
    if (s->task->kind == &picture_kind) return open_pictures(p, s);
    s->data = judged_pairs(p, s->task, s->f, s->run, s->what);
    return s->data != NULL;
}

bool sweep_open(program *p, sweep *s) {
    *s = (sweep){.f = NULL};
    s->f = run_settings(p->c, p->argv[0], &s->task);
    s->run = s->f ? open_run(p, p->argv[0]) : NULL;
    if (!s->run || !open_data(p, s)) return false;
    uint64_t most = (uint64_t)heed_config_int(p->flags, "batches");
    s->rows = (int)heed_config_int(s->f, "batch");
    s->batches = s->run->model->evals(s->run->self, s->data, s->rows);
    s->sample = most && most < s->batches;
    if (s->sample) s->batches = most;
    if (s->batches == 0) heed_fail(p->c, HEED_DATA, "%s: nothing to evaluate on", s->what);
    return heed_state(p->c) == HEED_OK;
}

void sweep_close(sweep *s) {
    if (s->data && s->task->kind == &text_kind)
        heed_corpus_free(s->data);
    else if (s->data && s->task->kind == &picture_kind)
        heed_images_close(s->data);
    else
        heed_pairs_close(s->data);
    heed_run_close(s->run);
    *s = (sweep){.f = NULL};
}

bool sweep_batch(const sweep *s, uint64_t index, heed_batch *b, heed_score *score) {
    const heed_model *m = s->run->model;
    heed_batch_at at = {.val = true, .index = index, .rows = s->rows, .sample = s->sample};
    *b = (heed_batch){0};
    heed_tape_begin(s->run->tape, HEED_EVAL, index);
    if (!m->batch(s->run->self, s->data, at, b) || !m->loss(s->run->self, s->run->tape, b))
        return heed_fail(s->run->c, HEED_FAILED, "%s: no batch %llu", s->what,
                         (unsigned long long)index);
    m->metrics(s->run->self, b, score);
    return heed_state(s->run->c) == HEED_OK;
}

void sweep_progress(program *p, const char *what, uint64_t done, uint64_t all) {
    if (!is_terminal(stderr)) return;
    fprintf(stderr, "\r\033[K");
    if (done < all)
        fprintf(stderr, "%s %llu of %llu", what, (unsigned long long)done, (unsigned long long)all);
    p->line_open = done < all;
}

/* ---- layers ---- */

const char *stack_name(heed_stack stack) {
    return stack == HEED_CROSS ? "cross" : stack == HEED_DECODER ? "decoder" : "encoder";
}

char *head_name(char text[64], const attention_layer *l, int head, bool stacks) {
    snprintf(text, 64, "%s%slayer %d, head %d", stacks ? stack_name(l->stack) : "",
             stacks ? " " : "", l->layer + 1, head + 1);
    return text;
}

static int layers_of(const heed_run *r, const char *key) {
    return heed_config_has(r->config, key) ? (int)heed_config_int(r->config, key) : 0;
}

static void add(attention_layer *out, int *n, heed_stack stack, int layer, int heads) {
    attention_layer *l = &out[(*n)++];
    *l = (attention_layer){.stack = stack, .layer = layer, .heads = heads};
    snprintf(l->path, sizeof l->path, stack == HEED_ENCODER ? "encoder.%d.attn" : "decoder.%d.%s",
             layer, stack == HEED_CROSS ? "cross" : "attn");
}

static bool reads_by_cells(const heed_run *r) {
    const heed_config *f = r->config;
    return (heed_config_has(f, "encoder") && strcmp(heed_config_text(f, "encoder"), "rnn") == 0) ||
           (r->model == &heed_model_gpt && strcmp(heed_config_text(f, "cell"), "none") != 0);
}

static int rnn_layer(const heed_run *r, attention_layer *out) {
    if (strcmp(heed_config_text(r->config, "attention"), "none") == 0) return 0;
    *out = (attention_layer){"decoder.attend", HEED_CROSS, 0, 1};
    return 1;
}

static int stack_layers(const heed_run *r, attention_layer *out) {
    int n = 0, layers = layers_of(r, "layers"), heads = layers_of(r, "heads");
    bool pair = r->model == &heed_model_seq2seq, causal = r->model == &heed_model_gpt;
    int decoder = pair ? layers_of(r, "decoder-layers") : 0;
    if (pair && decoder == 0) decoder = layers;
    for (int i = 0; i < layers; i++) add(out, &n, causal ? HEED_DECODER : HEED_ENCODER, i, heads);
    for (int i = 0; i < decoder; i++) {
        add(out, &n, HEED_DECODER, i, heads);
        add(out, &n, HEED_CROSS, i, heads);
    }
    return n;
}

int attention_layers(const heed_run *r, attention_layer *out) {
    int n = 0;
    if (r->model == &heed_model_rnn)
        n = rnn_layer(r, out);
    else if (heed_config_has(r->config, "heads") && !reads_by_cells(r))
        n = stack_layers(r, out);
    if (n == 0)
        heed_fail(r->c, HEED_USAGE,
                  "the model does not attend: expected a run of mlm, gpt, vit, seq2seq, textcls or "
                  "tag with blocks of attention, or of rnn with --attention, found %s",
                  r->model->name);
    return n;
}
