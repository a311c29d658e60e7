/* samples.c -- a text made at each evaluation of a causal model, kept in samples.txt. */
#include "training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS = 200 };

/* A text starts after a line's end, or where the vocabulary has none, with its first word. */
static int32_t first_token(const heed_tokenizer *k) {
    heed_specials s = heed_tokenizer_specials(k);
    int newline = s.newline >= 0 ? s.newline : heed_token_id(k, "\n");
    if (newline >= 0) return newline;
    int after = s.mask > s.unk ? s.mask + 1 : s.unk + 1;
    return after < heed_vocab_size(k) ? after : 0;
}

static bool write_sample(const progress *g, const heed_report *r, const char *text) {
    char path[1024];
    snprintf(path, sizeof path, "%s/samples.txt", g->run);
    FILE *f = fopen(path, "a");
    if (!f) return false;
    bool val = isfinite(r->val_loss);
    fprintf(f, "---- step %lld, %s loss %.4f ----\n%s\n\n", (long long)r->step,
            val ? "validation" : "training", val ? r->val_loss : r->loss, text);
    return fclose(f) == 0;
}

void sample_text(progress *g, const heed_report *r) {
    const heed_tokenizer *k = g->data->tokenizer;
    int32_t prompt = first_token(k), made[TOKENS];
    if (!g->tape) g->tape = heed_tape_new(g->p->c);
    gpt_sampling a = {.count = TOKENS,
                      .temperature = 0.8,
                      .seed = heed_seed(g->p->c),
                      .has_end = true,
                      .end = gpt_end(g->f, k),
                      .sample = (uint32_t)r->step};
    int n = gpt_generate(r->self, g->tape, &prompt, 1, &a, made);
    g->samples.n = 0;
    if (n < 0 || !heed_decode(k, made, (size_t)n, &g->samples)) return;
    if (!write_sample(g, r, g->samples.s ? g->samples.s : ""))
        heed_log(g->p->c, HEED_WARN, "cannot write %s/samples.txt", g->run);
}
