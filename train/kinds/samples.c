/* samples.c -- the current model's output at each evaluation, saved in samples.txt: a text by a
 * causal model, targets by a model of pairs, captions. */
#include "kinds/pairs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS = 200, PAIRS = 4 };

static void write_sample(const progress *g, const heed_report *r) {
    heed_text text = {.c = NULL};
    bool val = isfinite(r->val_loss);
    heed_text_add(&text, "---- step %lld, %s loss %.4f ----\n%s\n\n", (long long)r->step,
                  val ? "validation" : "training", val ? r->val_loss : r->loss,
                  g->samples.s ? g->samples.s : "");
    add_to_run(g->p, g->run, "samples.txt", &text);
}

/* The first word of a text that does not begin after a newline: that of a training line for a model
 * of lines, otherwise that of the vocabulary. */
static int32_t first_word(const progress *g, const heed_report *r) {
    const heed_tokenizer *k = g->data->tokenizer;
    heed_specials s = heed_tokenizer_specials(k);
    heed_batch_at at = {.index = (uint64_t)r->step, .rows = 1};
    heed_batch line;
    bool lines = heed_text_end(g->f, k) >= 0 && !g->data->kind->mask;
    if (lines && heed_gpt_batch(g->data->batches, at, &line)) return line.ids[0];
    int32_t word = s.mask > s.unk ? s.mask + 1 : s.unk + 1;
    return word < heed_vocab_size(k) ? word : 0;
}

void sample_text(progress *g, const heed_report *r) {
    if (!g->p->model->steps || !r->self) return;
    const heed_tokenizer *k = g->data->tokenizer;
    int32_t text[1 + TOKENS], start = heed_text_start(g->f, k);
    size_t unshown = start >= 0; /* tokens before the text */
    *text = unshown ? start : first_word(g, r);
    if (!g->tape) g->tape = heed_tape_new(g->p->c);
    heed_generation a = {.prompt = text,
                         .prompt_count = 1,
                         .count = TOKENS,
                         .temperature = 0.8,
                         .seed = heed_seed(g->p->c),
                         .has_end = true,
                         .end = heed_text_end(g->f, k),
                         .sample = (uint32_t)r->step};
    int32_t never[4];
    a.never = never;
    a.never_count = heed_never(k, a.end, never);
    heed_generated about;
    bool ok = heed_generate(g->p->model, r->self, g->tape, &a, text + 1, &about);
    g->samples.n = 0;
    if (ok && heed_decode(k, text + unshown, 1 + (size_t)about.count - unshown, &g->samples))
        write_sample(g, r);
}

/* The model in training, as a run. */
static heed_run current_run(progress *g, const heed_report *r) {
    if (!g->tape) g->tape = heed_tape_new(g->p->c);
    return (heed_run){.c = g->p->c,
                      .model = g->p->model,
                      .config = g->f,
                      .tape = g->tape,
                      .tokenizer = g->data->tokenizer,
                      .source = g->data->source,
                      .self = r->self};
}

void sample_pairs(progress *g, const heed_report *r) {
    if (!g->p->model->steps || !r->self) return;
    const heed_pairs *pairs = g->data->batches;
    heed_run run = current_run(g, r);
    translator k;
    heed_pair pair;
    heed_text *out = &g->samples;
    bool ok = translator_open(&k, &run, NULL);
    size_t count = heed_pairs_about(pairs)->val_pairs;
    k.cuts = k.quiet = true;
    out->n = 0;
    for (size_t i = 0; ok && i < PAIRS && i < count; i++)
        ok = heed_pairs_get(pairs, true, i, &pair) &&
             heed_text_put(out, pair.source, pair.source_n) && heed_text_put(out, "\t", 1) &&
             heed_text_put(out, pair.target, pair.target_n) && heed_text_put(out, "\t", 1) &&
             translate(&k, pair.source, pair.source_n) && translated_text(&k, out) &&
             heed_text_add(out, k.about.ended ? "\n" : " ...\n"); /* "...": it did not end */
    if (ok) write_sample(g, r);
    translator_close(&k);
}

/* "file TAB reference TAB caption", a line each. */
static bool add_caption(translator *k, heed_captions *captions, size_t index, heed_text *out) {
    heed_captioned found;
    heed_picture picture;
    size_t n;
    if (!heed_captions_get(captions, true, index, &found, &picture)) return false;
    const char *reference = heed_captions_text(captions, true, index, 0, &n);
    bool ok = heed_text_add(out, "%s\t", found.path) && heed_text_put(out, reference, n) &&
              heed_text_put(out, "\t", 1) && translate_picture(k, &picture, found.path) &&
              translated_text(k, out) && heed_text_add(out, k->about.ended ? "\n" : " ...\n");
    heed_picture_free(&picture);
    return ok;
}

void sample_captions(progress *g, const heed_report *r) {
    if (!g->p->model->steps || !r->self) return;
    heed_captions *captions = g->data->batches;
    heed_run run = current_run(g, r);
    translator k;
    bool ok = translator_open(&k, &run, NULL);
    size_t count = heed_captions_about(captions)->val_pictures;
    g->samples.n = 0;
    for (size_t i = 0; ok && i < PAIRS && i < count; i++)
        ok = add_caption(&k, captions, i, &g->samples);
    if (ok) write_sample(g, r);
    translator_close(&k);
}
