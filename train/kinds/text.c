/* text.c -- what the program prints during and after a training on text. */
#include "kinds/training.h"

static void banner_text(const heed_model *m, const heed_data *d, const heed_config *f) {
    heed_corpus_info a = heed_corpus_about(d->batches);
    (void)m;
    char n1[32], n2[32], n3[32];
    double unknown = (double)(a.unknown + a.val_unknown);
    double tokens = (double)(a.tokens + a.val_tokens);
    banner_row("data", "%s: %s tokens for training, %s for validation", heed_config_text(f, "data"),
               heed_format_count(n1, a.tokens),
               a.val_tokens ? heed_format_count(n2, a.val_tokens) : "none");
    banner_row("vocabulary", "%s tokens, %s%s",
               heed_format_count(n3, (uint64_t)heed_vocab_size(d->tokenizer)),
               heed_tokenizer_kind(d->tokenizer), unknown > 0 ? "" : ", none unknown");
    if (unknown > 0) banner_row("", "%.2f %% of the text is unknown to it", 100 * unknown / tokens);
    if (a.cut_lines)
        banner_row("", "%s lines are longer than the block and were cut",
                   heed_format_count(n1, a.cut_lines));
}

static void steps_text(const heed_config *f, uint64_t epoch_batches) {
    char n[64];
    banner_row("epoch", "%s%lld x %lld tokens", epoch_steps(n, f, epoch_batches),
               (long long)heed_config_int(f, "batch"), (long long)heed_config_int(f, "block"));
}

static void evaluated_text(progress *g, const heed_report *r) {
    if (g->p->model->steps && r->self) sample_text(g, r);
}

const data_kind text_kind = {
    .banner = banner_text,
    .steps = steps_text,
    .evaluated = evaluated_text,
    .next = next_text,
    .eval = eval_text,
    .check = check_text,
};
