/* pair.c -- the frame of the models of pairs: from a batch to a loss. */
#include "pair.h"

bool pair_read(pair_model *m, heed_ctx *c, const heed_config *f) {
    int source = model_int(f, "source-vocab");
    m->shared = heed_config_bool(f, "share-vocab");
    m->vocab = model_int(f, "vocab");
    m->source_vocab = m->shared || !source ? m->vocab : source;
    m->len = model_int(f, "block");
    m->smoothing = model_real(f, "smoothing");
    if (m->vocab >= 1) return true;
    return heed_fail(c, HEED_USAGE,
                     "model has no size: expected vocab of at least 1, found %d; hint: --vocab",
                     m->vocab);
}

void pair_embeddings(const pair_model *m, heed_store *s, int width, const char *init,
                     heed_tensor **source, heed_tensor **target) {
    heed_scope(s, "embed");
    *target = heed_param(s, m->shared ? "token.weight" : "target.weight", init, 2,
                         (int[]){m->vocab, width});
    *source = *target;
    if (!m->shared)
        *source = heed_param(s, "source.weight", init, 2, (int[]){m->source_vocab, width});
    heed_unscope(s);
}

/* ---- logits and loss ---- */

heed_tensor *pair_logits(const void *self, heed_tape *t, heed_tensor *source, heed_tensor *pad,
                         heed_tensor *ids) {
    const pair_model *m = self;
    return source && ids ? m->logits(m, t, source, pad, ids) : NULL;
}

heed_tensor *pair_rows(const void *self, heed_tape *t, const heed_model_input *in) {
    return pair_logits(self, t, in->x, in->pad, in->target);
}

int pair_length(const void *self) { return ((const pair_model *)self)->len; }

/* Teacher forcing: token t + 1 by the true tokens up to t. Padding stands at the end of a target,
 * where no earlier token sees it, and its labels do not count. Evaluation reports the plain cross
 * entropy. */
heed_tensor *pair_loss(void *self, heed_tape *t, const heed_batch *b) {
    pair_model *m = self;
    heed_real smoothing = heed_tape_mode(t) == HEED_TRAIN ? m->smoothing : 0;
    heed_tensor *source = heed_ids(t, b->src, b->rows, b->src_len);
    heed_tensor *pad = heed_ids(t, b->src_pad, b->rows, b->src_len);
    m->out = pair_logits(m, t, source, pad, heed_ids(t, b->ids, b->rows, b->len));
    heed_tensor *labels = heed_ids(t, b->labels, b->rows, b->len);
    return m->loss = heed_xent(t, m->out, labels, &(heed_xent_args){.smoothing = smoothing});
}

void pair_metrics(void *self, const heed_batch *b, heed_score *score) {
    const pair_model *m = self;
    model_score(m->out, m->loss, b->labels, score);
    score->bytes += (double)b->label_bytes;
}
