/* gpt.c -- causal language model: GPT-2 by default. Radford et al. 2019, sec. 2.3. */
#include "parts/parts.h"
#include "published/published.h"

#include <string.h>

typedef struct {
    model_result result;
    transformer body;
    heed_rnn rnn; /* replaces the blocks; layers 0: absent */
    heed_linear head;
} gpt;

typedef struct {
    text_settings text;
    cell_settings cells;
    bool tie, head_bias;
} gpt_settings;

static const heed_option options[] = {
    HEED_ROWS(gpt_settings, text.stack, heed__stack_options, "activation=gelu-tanh"),
    HEED_ROWS(gpt_settings, text, heed__text_options, ""),
    HEED_ROW(gpt_settings, tie, "tie", "true",
             .help = "the head's weights are the token embeddings"),
    HEED_ROW(gpt_settings, text.stack.final_norm, "final-norm", "true",
             .help = "layer norm after the last block"),
    HEED_ROW(gpt_settings, text.embed_norm, "embed-norm", "false",
             .help = "layer norm of the embeddings"),
    HEED_ROW(gpt_settings, head_bias, "head-bias", "false", .help = "bias of the output"),
    HEED_ROW(gpt_settings, cells.cell, "cell", "none", .choices = "none|rnn|gru|lstm",
             .help = "recurrent layers instead of blocks of attention, without positions"),
    HEED_ROWS(gpt_settings, cells, heed__cell_options, ""),
    HEED_ROW(gpt_settings, text.stack.scale_residual, "scale-residual", "true",
             .help =
                 "initial deviation of sublayers' output weights: residual-std / sqrt(2 layers)"),
    HEED_ROW(gpt_settings, text.stack.residual_std, "residual-std", "0", .max = 1,
             .help = "what `scale-residual` divides; 0: init-std"),
    HEED_WHEN("activation", "ff-kind=plain"),
    HEED_WHEN(STACK_SETTINGS " positions activation scale-residual residual-std recompute",
              "cell=none"),
    HEED_WHEN("all-rows", ""),
    HEED_WHEN("residual-std", "scale-residual=true"),
    HEED_WHEN("one-bias", "cell=rnn|gru|lstm"),
    {0}};

/* Pre-norm tolerates three times the common default rate: validation loss 2.10 against 2.38 after
 * 300 default steps on a book. GPT-2's 0.02 is for a width of 768: 2.17 after 300 steps on
 * Shakespeare, 2.05 with 0.05. */
#define DEFAULTS "lr=0.003 init-std=0.05"

/* nano, tiny: embeddings of 0.02 are small compared with Adam's first ten updates, and the loss
 * jumped once in the warm-up (nano on a book in characters: gradient norm 19.7 in step 18; with
 * 0.05 or more it is at most 1.5, and the validation loss after 300 steps is 2.23 instead of 2.42).
 */
static const heed_preset presets[] = {
    {"nano", "2 layers, 4 heads, width 64, block 64",
     "layers=2 heads=4 width=64 ff=256 block=64 batch=32 init-std=0.05", false},
    {"tiny", "4 layers, 4 heads, width 128, block 64",
     "layers=4 heads=4 width=128 ff=512 block=64 batch=32 init-std=0.05", false},
    {"small", "4 layers, 4 heads, width 128, block 128, WordPiece vocabulary of 8192",
     "layers=4 heads=4 width=128 ff=512 block=128 batch=32 tokenizer=wordpiece vocab=8192", false},
    {"llama-nano", "LLaMA's blocks: rotary, SwiGLU, RMS norm, 2 key-value heads, no biases",
     LLAMA "layers=2 heads=4 kv-heads=2 width=64 block=64 batch=32 norm-eps=1e-5 init-std=0.05",
     false},
    {"nanogpt-cpu", "nanoGPT's recipe for a CPU: char, 2000 steps",
     "tokenizer=char layers=4 heads=4 width=128 ff=512 block=64 batch=12 steps=2000 "
     "lr=1e-3 lr-min=1e-4 schedule=cosine warmup=100 beta1=0.9 beta2=0.99 "
     "decay=0.1 clip=1 dropout=0 bias=false scale-residual=true init-std=0.08 residual-std=0.02 "
     "split=tail val-split=0.1 eval-batches=0",
     false},
    {"gpt-tiny", "benchmark",
     TEXT_PLAIN "layers=4 heads=4 width=128 ff=512 block=64 batch=12 vocab=65", true},
    {"gpt-baby", "benchmark",
     TEXT_PLAIN "layers=6 heads=6 width=384 ff=1536 block=256 batch=16 vocab=65", true},
    {"gpt-llama", "benchmark: gpt-tiny with LLaMA's blocks",
     TEXT_PLAIN LLAMA "layers=4 heads=4 kv-heads=2 width=128 block=64 batch=12 vocab=65", true},
    {0}};

static const heed_model_case cases[] = {
    {"", TINY},
    {"variant", TINY "norm=post attention=explicit key-width=3 value-width=5 bias=false beta=0.9"},
    {"rms", TINY "norm-kind=rms bias=false"},
    {"llama", TINY LLAMA "kv-heads=1"},
    {"grouped", TINY "heads=4 kv-heads=1 key-width=6 value-width=3 positions=rotary rope-theta=50 "
                     "attention=explicit dropout=0.1"},
    {"rnn", TINY "cell=rnn one-bias=true"},
    {"gru", TINY "cell=gru"},
    {"lstm", TINY "cell=lstm dropout=0.2"},
    {0}};

static bool init(void *self, heed_params *s, const void *settings) {
    const gpt_settings *set = settings;
    const stack_settings *stack = &set->text.stack;
    gpt *m = self;
    bool recurrent = !is(set->cells.cell, "none");
    if (!heed__transformer_init(&m->body, s, &set->text, recurrent ? NULL : "decoder", true))
        return false;
    if (recurrent)
        heed_rnn_init(&m->rnn, s, "decoder",
                      heed__cells(&set->cells, stack->width, stack->width, stack->layers,
                                  stack->block.dropout));
    m->head = heed__model_head(s, m->body.embed.token, set->tie, set->head_bias,
                               heed__stack_init_or(&m->body.stack, "kaiming"));
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

/* Size of the state of one recurrent layer. */
static int recurrent_size(const gpt *m) {
    return m->rnn.args.width * (m->rnn.args.cell == HEED_CELL_LSTM ? 2 : 1);
}

/* Runs the recurrent layers from the states in the caches, one in each k, and updates them. */
static heed_tensor *recurrent(const gpt *m, heed_tape *t, heed_tensor *x, heed_cache *caches) {
    heed_tensor *state[HEED_RNN_LAYERS];
    int layers = m->rnn.args.layers, size = recurrent_size(m);
    if (!caches || !x) return heed_rnn_apply(&m->rnn, t, x, NULL, NULL, NULL);
    for (int i = 0; i < layers; i++)
        state[i] = caches->len
                       ? heed__model_states(t, caches[i].k, caches->stride, x->shape[0], size)
                       : heed_input(t, NULL, 2, (int[]){x->shape[0], size});
    heed_tensor *y = heed_rnn_apply(&m->rnn, t, x, NULL, state, state);
    for (int i = 0; y && i < layers; i++) {
        heed__model_keep_states(state[i], caches[i].k, caches->stride);
        caches[i].len += x->shape[1];
    }
    return y;
}

/* ids (B,T) -> (B,T,d), what the output layer reads. With caches, one per layer: ids (B,T) continue
 * the cached tokens -> (B,1,d), of the last position only. */
static heed_tensor *features(const gpt *m, heed_tape *t, heed_tensor *ids, heed_cache *caches) {
    heed_tensor *x = heed__embedding_apply(&m->body.embed, t, ids, NULL, caches ? caches->len : 0);
    x = m->rnn.args.layers ? recurrent(m, t, x, caches)
                           : heed__stack_apply(&m->body.stack, t, x, NULL, caches); /* (B,T,d) */
    if (x && caches) x = heed_slice(t, x, 1, x->shape[1] - 1, 1);
    return heed__stack_norm(&m->body.stack, t, x);
}

/* Padding needs no mask: it is at the end, unseen by earlier tokens, and its labels do not count.
 */
static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    gpt *m = self;
    heed_tensor *x = features(m, t, heed_ids(t, b->ids, b->rows, b->len), NULL);
    heed_tensor *labels = heed_ids(t, b->labels, b->rows, b->len);
    return heed__model_head_loss(&m->result, t, &m->head, x, labels, 0);
}

static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const gpt *m = self;
    return heed_linear_apply(&m->head, t, features(m, t, in->x, NULL));
}

static bool attending(const void *self, int index, heed_attention_info *out) {
    const gpt *m = self;
    return !m->rnn.args.layers && heed__stack_attending(&m->body.stack, HEED_DECODER, index, out);
}

/* ---- decoding step by step ---- */

static int length(const void *self) { return ((const gpt *)self)->body.len; }

/* Sizes of one layer's state: keys and values for the maximum length, or one recurrent state. */
static void layer_state(const gpt *m, size_t *k, size_t *v) {
    heed__model_cache(&m->body.stack.block[0].attn, m->body.len, k, v);
    if (!m->rnn.args.layers) return;
    *k = (size_t)recurrent_size(m);
    *v = 0;
}

static size_t state_size(const void *self, const heed_source *source) {
    const gpt *m = self;
    size_t k, v;
    (void)source;
    layer_state(m, &k, &v);
    return (size_t)m->body.stack.layers * (k + v);
}

static heed_tensor *next(const void *self, heed_tape *t, const heed_source *source,
                         heed_real *state, int at, heed_tensor *ids) {
    const gpt *m = self;
    heed_cache caches[MODEL_LAYERS];
    size_t k, v, size = state_size(self, source);
    layer_state(m, &k, &v);
    for (int i = 0; i < m->body.stack.layers; i++, state += k + v)
        caches[i] = (heed_cache){at, m->body.len, state, state + k, size};
    return heed_linear_apply(&m->head, t, features(m, t, ids, caches));
}

static const heed_steps steps = {
    .length = length, .state = state_size, .next = next, .batched = true};

const heed_model heed_model_gpt = {
    .name = "gpt",
    .help = "causal language model (GPT-2)",
    .data = &heed_texts_next,
    .embedding = "embed.token",
    .options = options,
    .set = sizeof(gpt_settings),
    .defaults = DEFAULTS,
    .presets = presets,
    .cases = cases,
    .size = sizeof(gpt),
    .init = init,
    .logits = logits,
    .loss = loss,
    .metrics = heed__model_text_metrics,
    .attending = attending,
    .choose = heed__choose_gpt,
    .choices =
        "packing block val-split layers width norm init-std batch steps lr warmup dropout decay",
    .steps = &steps,
    .published = heed__gpt_published,
};
