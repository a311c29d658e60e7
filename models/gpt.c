/* gpt.c -- causal language model: GPT-2 by default. Radford et al. 2019, sec. 2.3. */
#include "parts/choose.h"
#include "parts/published.h"
#include "parts/text.h"

#include <string.h>

typedef struct {
    model_result result;
    transformer body;
    heed_rnn rnn; /* replaces the blocks; layers 0: absent */
    heed_linear head;
} gpt;

static const heed_option options[] = {
    TEXT_OPTIONS("pre", "gelu-tanh", "1e-5", "0"),
    YES("final-norm", "layer norm after the last block"),
    NO("embed-norm", "layer norm of the embeddings"),
    NO("head-bias", "bias of the output"),
    CHOICE("cell", "none", "none|rnn|gru|lstm",
           "recurrent layers instead of blocks of attention, without positions"),
    CELL_MORE,
    YES("scale-residual",
        "initial deviation of sublayers' output weights: residual-std / sqrt(2 layers)"),
    NUMBER("residual-std", "0", 0, 1, "what `scale-residual` divides; 0: init-std"),
    STACK_CONDITIONS,
    HEED_WHEN(STACK_SETTINGS " positions activation scale-residual residual-std recompute",
              "cell=none"),
    HEED_WHEN("all-rows", ""),
    HEED_WHEN("residual-std", "scale-residual=true"),
    HEED_WHEN("one-bias", "cell=rnn|gru|lstm"),
    HEED_WHEN("cell-activation", "cell=rnn"),
    {0}};

/* Pre-norm tolerates three times the common default rate: validation loss 2.10 against 2.38 after
 * 300 default steps on a book. GPT-2's 0.02 is for a width of 768: 2.17 after 300 steps on
 * Shakespeare, 2.05 with 0.05. */
#define DEFAULTS "lr=0.003 init-std=0.05"

static const heed_preset presets[] = {
    TEXT_PRESETS,
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

static bool init(void *self, heed_store *s, const void *f) {
    gpt *m = self;
    stack_kind kind = {.name = "decoder",
                       .causal = true,
                       .recurrent = !heed__model_is(f, "cell", "none"),
                       .scale_residual = heed_config_bool(f, "scale-residual"),
                       .residual_std = heed_config_real(f, "residual-std"),
                       .final_norm = heed_config_bool(f, "final-norm")};
    if (!heed__transformer_init(&m->body, s, f, kind)) return false;
    if (kind.recurrent)
        heed_rnn_init(&m->rnn, s, "decoder", heed__model_cells(f, m->body.stack.width));
    m->result.whole_logits = heed__model_on(f, "whole-logits");
    m->head =
        heed__model_head(s, f, m->body.embed.token, heed__stack_init_or(&m->body.stack, "kaiming"));
    return heed_ctx_status(heed_store_ctx(s)) == HEED_OK;
}

/* Size of the state of one recurrent layer. */
static int recurrent_size(const gpt *m) {
    return m->rnn.args.width * (m->rnn.args.cell == HEED_LSTM ? 2 : 1);
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

static bool attending(const void *self, int index, heed_attending *out) {
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

/* ---- as published: GPT2LMHeadModel and LlamaForCausalLM ---- */

#define ALIKE                                                                                      \
    "norm=pre embed-norm=false token-types=0 head-bias=false cell=none final-norm=true "           \
    "attn-out=true hard=false beta=-1 "

static const heed_published_key gpt2_keys[] = {
    KEY_WITH("vocab_size", "vocab", "50257", .rows = "embed.token.weight"),
    KEY_WITH("n_positions", "block", "1024", .rows = "embed.position.weight"),
    KEY_WITH("n_embd", "width", "768", .rows = "norm.weight"),
    KEY("n_layer", "layers", "12"),
    KEY("n_head", "heads", "12"),
    KEY_WITH("n_inner", "ff", "null", .rows = "decoder.0.mlp.up.weight"),
    KEY_WITH("activation_function", "activation", "\"gelu_new\"", .values = PUBLISHED_ACTIVATIONS),
    KEY("layer_norm_epsilon", "norm-eps", "1e-05"),
    KEY("resid_pdrop", "dropout", "0.1"),
    KEY_WITH("embd_pdrop", "dropout", "0.1", .repeats = true),
    KEY_WITH("attn_pdrop", "dropout", "0.1", .repeats = true),
    KEY("tie_word_embeddings", "tie", "true"),
    KEY_FIXED("scale_attn_weights", "true"),
    KEY_FIXED("scale_attn_by_inverse_layer_idx", "false"),
    KEY_FIXED("add_cross_attention", "false"),
    KEY("initializer_range", "init-std", "0.02"),
    {0}};
static const heed_published_tensor gpt2_tensors[] = {
    TENSOR("embed.token.weight", "transformer.wte.weight"),
    TENSOR("embed.position.weight", "transformer.wpe.weight"),
    TENSORS("decoder.#.norm1", "transformer.h.#.ln_1"),
    TENSORS_AS("decoder.#.attn.qkv", "transformer.h.#.attn.c_attn", HEED_PUBLISHED_TRANSPOSED),
    TENSORS_AS("decoder.#.attn.out", "transformer.h.#.attn.c_proj", HEED_PUBLISHED_TRANSPOSED),
    TENSORS("decoder.#.norm2", "transformer.h.#.ln_2"),
    TENSORS_AS("decoder.#.mlp.up", "transformer.h.#.mlp.c_fc", HEED_PUBLISHED_TRANSPOSED),
    TENSORS_AS("decoder.#.mlp.down", "transformer.h.#.mlp.c_proj", HEED_PUBLISHED_TRANSPOSED),
    TENSORS("norm", "transformer.ln_f"),
    TENSOR("head.weight", "lm_head.weight"),
    TENSOR_AS("embed.token.weight", "lm_head.weight", HEED_PUBLISHED_COPY),
    {0}};

static const heed_published_key llama_keys[] = {
    KEY_WITH("vocab_size", "vocab", "32000", .rows = "embed.token.weight"),
    KEY_WITH("hidden_size", "width", "4096", .rows = "norm.weight"),
    KEY_WITH("intermediate_size", "ff", "11008", .rows = "decoder.0.mlp.up.weight"),
    KEY("num_hidden_layers", "layers", "32"),
    KEY("num_attention_heads", "heads", "32"),
    KEY("num_key_value_heads", "kv-heads", "null"),
    KEY("head_dim", "key-width value-width", "null"),
    KEY("max_position_embeddings", "block", "2048"),
    KEY("rms_norm_eps", "norm-eps", "1e-06"),
    KEY("rope_parameters.rope_theta", "rope-theta", NULL),
    KEY_FIXED("rope_parameters.rope_type", "\"default\""),
    KEY_FIXED("rope_parameters.type", "\"default\""),
    KEY("rope_theta", "rope-theta", "10000.0"),
    KEY_FIXED("rope_scaling", "null"),
    KEY_FIXED("partial_rotary_factor", "1.0"),
    KEY("tie_word_embeddings", "tie", "false"),
    {.key = "hidden_act", .value = "\"silu\"", .values = "silu swish"},
    KEY_FIXED("attention_bias", "false"),
    KEY_FIXED("mlp_bias", "false"),
    KEY("attention_dropout", "dropout", "0.0"),
    KEY("initializer_range", "init-std", "0.02"),
    {0}};
static const heed_published_tensor llama_tensors[] = {
    TENSOR("embed.token.weight", "model.embed_tokens.weight"),
    TENSOR("decoder.#.norm1.weight", "model.layers.#.input_layernorm.weight"),
    TENSOR_QKV("decoder.#.attn.qkv.", "model.layers.#.self_attn.", "q_proj.", "k_proj.", "v_proj.",
               "weight"),
    TENSOR("decoder.#.attn.out.weight", "model.layers.#.self_attn.o_proj.weight"),
    TENSOR("decoder.#.norm2.weight", "model.layers.#.post_attention_layernorm.weight"),
    TENSOR("decoder.#.mlp.gate.weight", "model.layers.#.mlp.gate_proj.weight"),
    TENSOR("decoder.#.mlp.up.weight", "model.layers.#.mlp.up_proj.weight"),
    TENSOR("decoder.#.mlp.down.weight", "model.layers.#.mlp.down_proj.weight"),
    TENSOR("norm.weight", "model.norm.weight"),
    TENSOR("head.weight", "lm_head.weight"),
    TENSOR_AS("embed.token.weight", "lm_head.weight", HEED_PUBLISHED_COPY),
    {0}};

static const heed_published published[] = {
    {.type = "gpt2",
     .architectures = "GPT2LMHeadModel",
     .settings = ALIKE "norm-kind=layer ff-kind=plain positions=learned bias=true kv-heads=0 "
                       "key-width=0 value-width=0",
     .prefix = "transformer.",
     .ignored = "transformer.h.*.attn.bias transformer.h.*.attn.masked_bias",
     .harmless = "n_ctx summary_* reorder_and_upcast_attn task_specific_params",
     .more = "{\"bos_token_id\": null, \"eos_token_id\": null}",
     .keys = gpt2_keys,
     .tensors = gpt2_tensors},
    {.type = "llama",
     .architectures = "LlamaForCausalLM",
     .settings = ALIKE "norm-kind=rms ff-kind=swiglu positions=rotary bias=false",
     .prefix = "model.",
     .ignored = "*.rotary_emb.inv_freq",
     .harmless = "pretraining_tp rope_interleaved is_llama_config",
     .more = "{\"bos_token_id\": null, \"eos_token_id\": null}",
     .keys = llama_keys,
     .tensors = llama_tensors},
    {0}};

const heed_model heed_model_gpt = {
    .name = "gpt",
    .help = "causal language model (GPT-2)",
    .data = &heed_texts_next,
    .embedding = "embed.token",
    .options = options,
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
    .choices = TEXT_CHOICES,
    .steps = &steps,
    .published = published,
};
