/* published/gpt.c -- gpt as GPT2LMHeadModel and LlamaForCausalLM. */
#include "published.h"

#define ALIKE                                                                                      \
    "norm=pre embed-norm=false token-types=0 head-bias=false cell=none final-norm=true "           \
    "attn-out=true hard=false beta=-1 "

static const heed_hf_key gpt2_keys[] = {
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
static const heed_hf_tensor gpt2_tensors[] = {
    TENSOR("embed.token.weight", "transformer.wte.weight"),
    TENSOR("embed.position.weight", "transformer.wpe.weight"),
    TENSORS("decoder.#.norm1", "transformer.h.#.ln_1"),
    TENSORS_AS("decoder.#.attn.qkv", "transformer.h.#.attn.c_attn", HEED_HF_TRANSPOSED),
    TENSORS_AS("decoder.#.attn.out", "transformer.h.#.attn.c_proj", HEED_HF_TRANSPOSED),
    TENSORS("decoder.#.norm2", "transformer.h.#.ln_2"),
    TENSORS_AS("decoder.#.mlp.up", "transformer.h.#.mlp.c_fc", HEED_HF_TRANSPOSED),
    TENSORS_AS("decoder.#.mlp.down", "transformer.h.#.mlp.c_proj", HEED_HF_TRANSPOSED),
    TENSORS("norm", "transformer.ln_f"),
    TENSOR("head.weight", "lm_head.weight"),
    TENSOR_AS("embed.token.weight", "lm_head.weight", HEED_HF_COPY),
    {0}};

static const heed_hf_key llama_keys[] = {
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
static const heed_hf_tensor llama_tensors[] = {
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
    TENSOR_AS("embed.token.weight", "lm_head.weight", HEED_HF_COPY),
    {0}};

const heed_hf_map heed__gpt_published[] = {
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
