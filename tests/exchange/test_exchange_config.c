/* config.json of transformers' models: every key that changes the outputs is read, and what cannot
 * be represented is refused. */
#include "exchange_model.h"
#include "files.h"

/* Whether the edited model still computes what the golden one does. */
static bool edited_agrees(const char *name, const char *from, const char *to) {
    heed_ctx *c = heed_open(NULL);
    bool same = exchange_agrees(heed_import(c, exchange_edited(name, from, to), heed_models), name);
    CLOSE(c);
    return same;
}

/* If import ignored one of these keys, the outputs would still agree. */
TEST(exchange_reads_every_key_that_changes_the_outputs) {
    CHECK(edited_agrees("bert", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"gelu\""));
    CHECK(!edited_agrees("bert", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"gelu_new\""));
    CHECK(!edited_agrees("bert", "\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": 1e-3"));
    CHECK(!edited_agrees("gpt2", "\"gelu_new\"", "\"gelu\""));
    CHECK(!edited_agrees("gpt2", "\"layer_norm_epsilon\": 1e-05", "\"layer_norm_epsilon\": 1e-2"));
    CHECK(!edited_agrees("vit", "\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": 1e-2"));
    CHECK(!edited_agrees("llama", "5000.0", "10000.0"));
    CHECK(!edited_agrees("llama", "\"rms_norm_eps\": 1e-05", "\"rms_norm_eps\": 1e-2"));
    CHECK(edited_agrees("llama",
                        "\"rope_parameters\": {\n    \"rope_theta\": 5000.0,\n    "
                        "\"rope_type\": \"default\"\n  }",
                        "\"rope_theta\": 5000.0"));
}

static void refuses(const char *name, const char *from, const char *to, const char *part) {
    heed_ctx *c = heed_open(NULL);
    CHECK_FAILS(c, heed_import(c, exchange_edited(name, from, to), heed_models), HEED_DATA, part);
    CLOSE(c);
}

TEST(exchange_names_what_it_cannot_represent) {
    refuses("bert", "\"is_decoder\": false", "\"is_decoder\": true", "is_decoder: expected false");
    refuses("bert", "\"is_decoder\": false", "\"is_decoder\": 0", "is_decoder: expected true or f");
    refuses("bert", "\"is_decoder\": false", "\"is_decoder\": null", "is_decoder: expected true");
    refuses("bert", "\"gelu\"", "\"quick_gelu\"", "hidden_act: expected gelu=gelu");
    refuses("bert", "BertForMaskedLM", "BertForNextSentencePrediction",
            "expected one of BertForMaskedLM");
    refuses("bert", "\"model_type\": \"bert\"", "\"model_type\": \"roberta\"",
            "of another model_type");
    refuses("gpt2", "\"scale_attn_weights\": true", "\"scale_attn_weights\": false",
            "scale_attn_weights");
    refuses("gpt2", "\"scale_attn_by_inverse_layer_idx\": false",
            "\"scale_attn_by_inverse_layer_idx\": true", "scale_attn_by_inverse_layer_idx");
    refuses("llama", "\"rope_type\": \"default\"", "\"rope_type\": \"llama3\"", "rope_type");
    refuses("llama", "\"attention_bias\": false", "\"attention_bias\": true", "attention_bias");
    refuses("vit", "\"qkv_bias\": true", "\"qkv_bias\": false", "qkv_bias");
    refuses("bert", "\"use_cache\": true", "\"quantization_config\": {\"bits\": 4}",
            "quantization_config");
}

/* Sizes that do not fit the weights are found before memory is allocated by them. */
TEST(exchange_names_the_keys_of_sizes_that_a_model_refuses) {
    refuses("bert", "\"num_attention_heads\": 2", "\"num_attention_heads\": 3",
            "config.json: width does not split into heads: encoder.0.attn: expected a width that "
            "is a multiple of heads, found width 16 with 3 heads (width is hidden_size, heads is "
            "num_attention_heads)");
    refuses("llama", "\"head_dim\": 4", "\"head_dim\": 7",
            "(key-width is head_dim, rope-theta is ");
    refuses("llama", "\"rope_parameters\": {", "\"rope_parameters\": \"default\", \"more\": {",
            "config.json: rope_parameters: expected an object, found \"default\"");
}

TEST(exchange_refuses_damaged_configs) {
    refuses("bert", "\"vocab_size\": 29", "\"vocab_size\": 16000000", "vocab_size of the model");
    refuses("bert", "\"hidden_size\": 16", "\"hidden_size\": 1000000", "hidden_size of the model");
    refuses("bert", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 64", "tensor is missing");
    refuses("bert", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1", "layer.1.attention");
    refuses("bert", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": -1", "layers");
    refuses("bert", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": [2]",
            "num_hidden_layers: expected a number, found \"[2]\"");
    refuses("bert", "\"hidden_size\": 16", "\"hidden_size\": 0", "width");
    refuses("vit", "\"2\": \"red bird\"", "\"2\": \"red\\nbird\"", "one line of text");
    refuses("vit", "\"2\": \"red bird\"", "\"2\": 1",
            "id2label: 2: expected one line of text, found");
    refuses("vit", "\"2\": \"red bird\"", "\"3\": \"red bird\"", "id2label: 2: expected one line");
    refuses("vit", "\"2\": \"red bird\"", "\"-1\": \"red bird\"", "id2label: 2: expected one line");
    refuses("vit", "\"id2label\": {", "\"id2label\": \"x\", \"more\": {",
            "id2label: expected an object, found \"x\"");
    refuses("vit", "\"id2label\": {", "\"id2label\": [\"x\"], \"more\": {", "expected an object");
    refuses("vit", "\"id2label\": {", "\"num_labels\": \"x\", \"more\": {",
            "num_labels: expected a whole number");
    refuses("vit", "\"patch_size\": 4", "\"patch_size\": 0",
            "patch_size of the model does not fit its weights");
    refuses("bert", "\"type_vocab_size\": 2", "\"type_vocab_size\": 0", "type_vocab_size of");
    refuses("bert", "{", "", "not valid JSON");
}

/* A value of another kind is no default. */
TEST(exchange_refuses_values_of_the_wrong_kind) {
    static const char tie[] = "\"tie_word_embeddings\": false", kv[] = "\"num_key_value_heads\": 2";
    refuses("llama", tie, "\"tie_word_embeddings\": \"yes\"",
            "tie_word_embeddings: expected true or false, found \"yes\"");
    refuses("llama", tie, "\"tie_word_embeddings\": null", "tie_word_embeddings: expected true");
    refuses("llama", "\"rms_norm_eps\": 1e-05", "\"rms_norm_eps\": null",
            "rms_norm_eps: expected a number, found \"null\"");
    refuses("bert", "\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": null", "layer_norm_eps");
    refuses("bert", "\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": \"1\"", "expected a number");
    refuses("llama", kv, "\"num_key_value_heads\": 0",
            "num_key_value_heads: expected null or a number other than 0, found \"0\"");
    refuses("bert", "\"hidden_act\": \"gelu\"", "\"hidden_act\": 1", "hidden_act: expected gelu");
    CHECK(edited_agrees("llama", "\"head_dim\": 4", "\"head_dim\": null"));
    CHECK(edited_agrees("llama", "\"attention_dropout\": 0.0", "\"attention_dropout\": null"));
}

TEST(exchange_knows_the_members_of_an_object) {
    exchange_heard h = {.count = 0};
    heed_ctx *c = heed_open(&(heed_options){.log = exchange_hear, .user = &h});
    refuses("llama", "\"rope_type\": \"default\"", "\"type\": \"linear\", \"factor\": 2.0",
            "rope_parameters.type: expected \"default\", found \"linear\"");
    const char *dir = exchange_edited("llama", "\"rope_type\"", "\"factor\": 2.0, \"rope_type\"");
    CHECK(heed_import(c, dir, heed_models));
    CHECK(h.count == 1 && strstr(h.last, "\"rope_parameters.factor\" is not known"));
    CLOSE(c);
}
