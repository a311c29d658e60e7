/* reader.c -- an encoder of a text: a stack of blocks, or recurrent layers. */
#include "reader.h"

static void embeddings(text_model *m, heed_store *s, const heed_config *f) {
    int width = model_int(f, "width");
    bool recurrent = model_is(f, "encoder", "rnn");
    heed_scope(s, "embed");
    m->token = heed_param(s, "token.weight", recurrent ? "normal:1" : "normal:0.02", 2,
                          (int[]){m->vocab, width});
    heed_position_init(&m->position, s, "position",
                       recurrent ? HEED_NO_POSITIONS : model_positions(f), m->len, width);
    heed_drop_init(&m->drop, s, "drop", model_real(f, "dropout"));
    heed_unscope(s);
}

static void encoder(text_model *m, heed_store *s, const heed_config *f) {
    stack_kind kind = {.name = "encoder", .final_norm = model_is(f, "norm", "pre")};
    m->width = model_int(f, "width");
    if (!model_is(f, "encoder", "rnn")) {
        stack_read(&m->stack, f, kind);
        stack_make(&m->stack, s, f, kind);
        return;
    }
    heed_rnn_args a = model_cells(f, m->width);
    a.bidirectional = heed_config_bool(f, "bidirectional");
    heed_rnn_init(&m->rnn, s, "encoder", a);
    if (a.bidirectional) m->width *= 2;
}

bool reader_init(text_model *m, heed_store *s, const heed_config *f, int neurons) {
    m->vocab = model_int(f, "vocab");
    m->len = model_int(f, "block");
    m->classes = model_int(f, "classes");
    m->smoothing = model_real(f, "smoothing");
    if (m->vocab < 1 || m->classes < 1)
        return heed_fail(heed_store_ctx(s), HEED_USAGE,
                         "model has no size: expected vocab and classes of at least 1, found %d "
                         "and %d; hint: --vocab, --classes",
                         m->vocab, m->classes);
    embeddings(m, s, f);
    encoder(m, s, f);
    heed_linear_init(&m->head, s, "head", (heed_linear_args){.in = m->width, .out = neurons});
    return heed_state(heed_store_ctx(s)) == HEED_OK;
}

/* ---- forward ---- */

/* The mean over the tokens that are no padding: (B,1,S) times (B,S,d). */
static heed_tensor *mean_of(heed_tape *t, heed_tensor *x, const heed_tensor *pad) {
    int rows = x->shape[0], len = x->shape[1];
    heed_tensor *share = heed_input(t, NULL, 3, (int[]){rows, 1, len});
    for (int r = 0; share && r < rows; r++) {
        int count = 0;
        for (int i = 0; i < len; i++) count += !pad || pad->i[r * len + i];
        for (int i = 0; i < len; i++)
            if (!pad || pad->i[r * len + i]) share->x[r * len + i] = 1 / (heed_real)count;
    }
    return heed_reshape(t, heed_matmul(t, share, x), 2, (int[]){rows, x->shape[2]});
}

static heed_tensor *recurrent(const text_model *m, heed_tape *t, heed_tensor *x, heed_tensor *pad,
                              heed_tensor **ends) {
    heed_tensor *last[2 * HEED_RNN_LAYERS], *h[2];
    int ways = m->rnn.args.bidirectional ? 2 : 1, from = (m->rnn.args.layers - 1) * ways;
    x = heed_rnn_apply(&m->rnn, t, x, pad, NULL, last);
    if (!x || !ends) return x;
    for (int i = 0; i < ways; i++) h[i] = heed_slice(t, last[from + i], 1, 0, m->rnn.args.width);
    *ends = ways == 2 ? heed_concat(t, 1, 2, h) : h[0];
    return x;
}

heed_tensor *reader_apply(const text_model *m, heed_tape *t, heed_tensor *ids, heed_tensor *pad,
                          heed_tensor **ends) {
    heed_tensor *x = heed_embed(heed_at(t, "embed.token"), m->token, ids);
    x = heed_position_apply(&m->position, t, x, 0);
    x = heed_drop_apply(&m->drop, t, x);
    if (m->rnn.args.layers) return recurrent(m, t, x, pad, ends);
    x = stack_norm(&m->stack, t, stack_apply(&m->stack, t, x, pad, NULL));
    if (x && ends) *ends = mean_of(t, x, pad);
    return x;
}

/* ---- batches ---- */

bool reader_batch(void *self, void *data, heed_batch_at at, heed_batch *out) {
    (void)self;
    return heed_pair_batch(data, at, out);
}

uint64_t reader_evals(void *self, void *data, int rows) {
    (void)self;
    return heed_pairs_evals(data, rows);
}

uint64_t reader_epoch(void *self, void *data, int rows) {
    (void)self;
    return heed_pairs_epoch(data, rows);
}

void reader_metrics(void *self, const heed_batch *b, heed_score *score) {
    const text_model *m = self;
    model_score(m->logits, m->loss, b->labels, score);
}
