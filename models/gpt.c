/* gpt.c -- causal language model: GPT-2 by default. Radford et al. 2019, sec. 2.3. */
#include "gpt.h"

#include <string.h>

static const heed_option options[] = {
    TEXT_OPTIONS("pre", "gelu-tanh", "1e-5", "0"),
    YES("final-norm", "layer norm after the last block"),
    NO("embed-norm", "layer norm of the embeddings"),
    NO("head-bias", "bias of the output"),
    CHOICE("cell", "none", "none|rnn|gru|lstm",
           "recurrent layers instead of blocks of attention, without positions"),
    CELL_MORE,
    YES("scale-residual", "start sublayers' outputs at residual-std / sqrt(2 layers)"),
    NUMBER("residual-std", "0", 0, 1, "standard deviation for that; 0: init-std"),
    /* Pre-norm bears three times the rate that the trainings share: 2.10 against 2.38 in validation
     * loss after 300 default steps on a book. */
    RATE("0.003"),
    {0}};

static bool init(void *self, heed_store *s, const heed_config *f) {
    gpt *m = self;
    stack_kind kind = {.name = "decoder",
                       .causal = true,
                       .recurrent = !model_is(f, "cell", "none"),
                       .scale_residual = heed_config_bool(f, "scale-residual"),
                       .residual_std = heed_config_real(f, "residual-std"),
                       .final_norm = heed_config_bool(f, "final-norm")};
    if (!transformer_init(&m->body, s, f, kind)) return false;
    if (kind.recurrent) heed_rnn_init(&m->rnn, s, "decoder", model_cells(f, m->body.stack.width));
    output_head_init(&m->head, s, &m->body, f);
    return heed_ctx_status(heed_store_ctx(s)) == HEED_OK;
}

/* Recurrent layers from the states of the caches, which go on: in each k the state, as one token.
 */
static heed_tensor *recurrent(const gpt *m, heed_tape *t, heed_tensor *x, heed_cache *caches) {
    heed_tensor *state[HEED_RNN_LAYERS];
    int layers = m->rnn.args.layers, size = gpt_state_size(m);
    if (!caches) return heed_rnn_apply(&m->rnn, t, x, NULL, NULL, NULL);
    for (int i = 0; i < layers; i++)
        state[i] = heed_input(t, caches->len ? caches[i].k : NULL, 2, (int[]){1, size});
    heed_tensor *y = heed_rnn_apply(&m->rnn, t, x, NULL, state, state);
    for (int i = 0; y && i < layers; i++) {
        memcpy(caches[i].k, state[i]->x, (size_t)size * sizeof *caches[i].k);
        caches[i].len += x->shape[1];
    }
    return y;
}

int gpt_state_size(const gpt *m) {
    return m->rnn.args.width * (m->rnn.args.cell == HEED_LSTM ? 2 : 1);
}

heed_tensor *gpt_logits(const gpt *m, heed_tape *t, heed_tensor *ids, heed_cache *caches) {
    heed_tensor *x = transformer_embed(&m->body, t, ids, NULL, caches ? caches->len : 0);
    x = m->rnn.args.layers ? recurrent(m, t, x, caches)
                           : stack_apply(&m->body.stack, t, x, NULL, caches); /* (B,T,d) */
    if (x && caches) x = heed_slice(t, x, 1, x->shape[1] - 1, 1);
    return output_head_apply(&m->head, t, stack_norm(&m->body.stack, t, x));
}

/* Padding stands at the end, where no earlier token sees it, and its labels do not count: it needs
 * no mask. */
static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    gpt *m = self;
    m->logits = gpt_logits(m, t, heed_ids(t, b->ids, b->rows, b->len), NULL);
    return m->loss = heed_xent(t, m->logits, heed_ids(t, b->labels, b->rows, b->len), NULL);
}

static bool batch(void *self, void *data, heed_batch_at at, heed_batch *out) {
    (void)self;
    return heed_gpt_batch(data, at, out);
}

static void metrics(void *self, const heed_batch *b, heed_score *score) {
    gpt *m = self;
    model_score(m->logits, m->loss, b->labels, score);
    score->bytes += (double)b->label_bytes;
}

const heed_model heed_model_gpt = {
    .name = "gpt",
    .help = "causal language model (GPT-2)",
    .options = options,
    .size = sizeof(gpt),
    .init = init,
    .batch = batch,
    .eval_batches = text_evals,
    .epoch_batches = text_epoch,
    .loss = loss,
    .metrics = metrics,
};
