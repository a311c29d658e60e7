/* pair.c -- code shared by the pair models: from a batch to a loss. */
#include "parts.h"

const heed_option heed__pair_options[] = {
    HEED_ROW(pair_settings, tokens.block, "block", "64", .min = 2, .max = MODEL_STEPS,
             .help = "tokens in a source, and in a target, at most"),
    HEED_ROWS(pair_settings, tokens, heed__token_options, ""),
    HEED_ROW(pair_settings, share_vocab, "share-vocab", "true",
             .help = "source and target share a vocabulary and embeddings"),
    HEED_ROW(pair_settings, source_vocab, "source-vocab", "0", .max = 1 << 24,
             .help = "without share-vocab: upper bound of the source's; 0: as vocab"),
    HEED_ROW(pair_settings, smoothing, "smoothing", "0", .max = 0.99,
             .help = "share of the target spread over all tokens, in training"),
    {0}};

bool heed__pair_read(pair_model *m, heed_ctx *c, const pair_settings *set) {
    m->shared = set->share_vocab;
    m->vocab = set->tokens.vocab;
    m->source_vocab = m->shared || !set->source_vocab ? m->vocab : set->source_vocab;
    m->len = set->tokens.block;
    m->smoothing = set->smoothing;
    if (m->vocab >= 1) return true;
    return heed_fail(
        c, HEED_USAGE,
        "size of the model is wrong: expected vocab of at least 1, found %d; hint: `vocab`",
        m->vocab);
}

void heed__pair_embeddings(const pair_model *m, heed_params *s, int width, const char *init,
                           heed_tensor **source, heed_tensor **target) {
    heed_scope_push(s, "embed");
    *target = heed_param_new(s, m->shared ? "token.weight" : "target.weight", init, 2,
                             (int[]){m->vocab, width});
    *source = *target;
    if (!m->shared)
        *source = heed_param_new(s, "source.weight", init, 2, (int[]){m->source_vocab, width});
    heed_scope_pop(s);
    heed_set_rows(s, "embed.token.weight", HEED_ROWS_TOKENS);
    heed_set_rows(s, "embed.target.weight", HEED_ROWS_TOKENS);
    heed_set_rows(s, "embed.source.weight", HEED_ROWS_SOURCE);
}

/* ---- logits and loss ---- */

static heed_tensor *features(const pair_model *m, heed_tape *t, const heed_model_input *in) {
    return in->x && in->target ? m->features(m, t, in->x, in->pad, in->target) : NULL;
}

heed_tensor *heed__pair_logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const pair_model *m = self;
    return heed_linear_apply(m->head, t, features(m, t, in));
}

int heed__pair_length(const void *self) { return ((const pair_model *)self)->len; }

/* Teacher forcing: token t + 1 is predicted from the true tokens up to t. Padding is at the end of
 * a target, where no earlier token sees it, and its labels do not count. */
heed_tensor *heed__pair_loss(void *self, heed_tape *t, const heed_batch *b) {
    pair_model *m = self;
    heed_model_input in = {.x = heed_ids(t, b->src, b->rows, b->src_len),
                           .pad = heed_ids(t, b->src_pad, b->rows, b->src_len),
                           .target = heed_ids(t, b->ids, b->rows, b->len)};
    heed_tensor *labels = heed_ids(t, b->labels, b->rows, b->len);
    return heed__model_head_loss(&m->result, t, m->head, features(m, t, &in), labels, m->smoothing);
}
