#define _DEFAULT_SOURCE /* access */
/* Models of transformers with tokenizers: padded vocabularies, templates, what an export says of
 * its tokenizer; output layers that are not tied. */
#include "files.h"
#include "fit/fit.h"
#include "io/io.h"

#include <heed/models.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOLDEN "tests/golden/exchange/"
/* Words and their ids, <s> before a text. */
static const char words[] =
    "{\"added_tokens\": [{\"id\": 0, \"content\": \"<s>\", \"special\": true}], \"normalizer\": "
    "null, "
    "\"pre_tokenizer\": {\"type\": \"WhitespaceSplit\"}, \"post_processor\": {\"type\": "
    "\"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"<s>\", \"type_id\": 0}}, "
    "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}], \"pair\": [], \"special_tokens\": {\"<s>\": "
    "{\"id\": \"<s>\", \"ids\": [0], \"tokens\": [\"<s>\"]}}}, \"decoder\": null, \"model\": "
    "{\"type\": \"WordLevel\", \"unk_token\": \"x\", \"vocab\": {\"<s>\": 0, \"x\": 1, \"a\": 2}}}";

static void copy_file(const char *from, const char *to) {
    static char bytes[1 << 16];
    FILE *f = fopen(from, "rb");
    size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    if (f) fclose(f);
    put_file(to, bytes, n);
}

/* A golden model with a tokenizer of three words; its vocabulary has 29. */
static heed_run *with_words(heed_ctx *c, const char *name) {
    char from[128], dir[256], to[300];
    static const char *const files[] = {"config.json", "model.safetensors"};
    snprintf(dir, sizeof dir, "%s", in_folder(name));
    mkdir(dir, 0700);
    for (int i = 0; i < 2; i++) {
        snprintf(from, sizeof from, GOLDEN "%s/%s", name, files[i]);
        snprintf(to, sizeof to, "%s/%s", dir, files[i]);
        copy_file(from, to);
    }
    snprintf(to, sizeof to, "%s/tokenizer.json", dir);
    put_file(to, words, strlen(words));
    return heed_import(c, dir, heed_models);
}

static bool has(heed_ctx *c, const char *path, const char *part) {
    size_t n;
    char *text = heed_text_read(c, path, &n);
    bool found = text && strstr(text, part);
    free(text);
    return found;
}

TEST_IN(exchange_keeps_the_rows_of_a_padded_vocabulary, heed_open(NULL)) {
    heed_run *r = with_words(c, "llama");
    CHECK(r && heed_config_int(r->config, "vocab") == 29);
    CHECK(r && heed_config_int(r->config, "vocab-rows") == 29);
    CHECK(heed_run_save(r, in_folder("run"), false));
    heed_run *saved = heed_run_open(c, in_folder("run"), heed_models, NULL);
    CHECK(saved && heed_params_find(saved->store, "embed.token.weight")->tensor->shape[0] == 29);
    CHECK(heed_export(saved, in_folder("out"), false));
    CHECK(has(c, in_folder("out/config.json"), "\"vocab_size\":29") ||
          has(c, in_folder("out/config.json"), "\"vocab_size\": 29"));
    heed_run *again = heed_import(c, in_folder("out"), heed_models);
    CHECK(again && heed_config_int(again->config, "vocab-rows") == 29);
}

static void check_ids(const heed_run *r, const char *text, const int32_t *ids, size_t count) {
    heed_example e = {0};
    heed_reader how = heed_run_reader(r);
    CHECK(heed_example_text(&how, text, strlen(text), &e));
    CHECK(e.text.tokens.count == count);
    for (size_t i = 0; i < count && i < e.text.tokens.count; i++)
        CHECK(e.text.tokens.ids[i] == ids[i]);
    heed_example_free(&e);
}

TEST_IN(exchange_reads_texts_with_the_template, heed_open(NULL)) {
    heed_run *r = with_words(c, "llama");
    check_ids(r, "a b a", (int32_t[]){0, 2, 1, 2}, 4);
    CHECK(heed_export(r, in_folder("out"), false)); /* with the same template */
    check_ids(heed_import(c, in_folder("out"), heed_models), "a", (int32_t[]){0, 2}, 2);
    CHECK(has(c, in_folder("out/tokenizer_config.json"), "\"bos_token\": \"<s>\""));
    CHECK(!has(c, in_folder("out/tokenizer_config.json"), "token_type_ids"));
}

/* A new run of a tokenizer of BERT's kind. */
static heed_run *trained(heed_ctx *c, const heed_model *m, const char *settings) {
    static const char text[] = "the cat sat on the mat";
    heed_tokenizer *k =
        heed_tokenizer_train(c, text, strlen(text), (heed_tokenizer_args){.kind = "wordpiece"});
    heed_config *f = heed_train_config(c, m);
    heed_config_set_list(f, "layers=1 heads=2 width=8 block=16", "test", HEED_FROM_PRESET);
    heed_config_set_list(f, settings, "test", HEED_FROM_FLAG);
    return heed__run_new(c, m, f, k, NULL, 0);
}

/* transformers must give a model what it was trained on: [CLS] and [SEP], or neither. */
TEST_IN(exchange_exports_the_template_of_the_model, heed_open(NULL)) {
    CHECK(heed_export(trained(c, &heed_model_mlm, ""), in_folder("mlm"), false));
    CHECK(has(c, in_folder("mlm/tokenizer.json"), "TemplateProcessing"));
    CHECK(has(c, in_folder("mlm/tokenizer_config.json"), "\"BertTokenizer\""));
    CHECK(heed_export(trained(c, &heed_model_gpt, ""), in_folder("gpt"), false));
    CHECK(!has(c, in_folder("gpt/tokenizer.json"), "TemplateProcessing"));
    CHECK(has(c, in_folder("gpt/tokenizer_config.json"), "\"PreTrainedTokenizerFast\""));
    CHECK(has(c, in_folder("gpt/tokenizer_config.json"), "\"model_input_names\""));
}

TEST_IN(exchange_stores_the_bias_of_an_untied_decoder, heed_open(NULL)) {
    heed_run *r = trained(c, &heed_model_mlm, "tie=false");
    CHECK(heed_export(r, in_folder("out"), false));
    heed_safetensors *f = heed_safetensors_open(c, in_folder("out/model.safetensors"));
    CHECK(heed__safetensors_find(f, "cls.predictions.bias"));
    CHECK(heed__safetensors_find(f, "cls.predictions.decoder.bias"));
    CHECK(heed__safetensors_find(f, "cls.predictions.decoder.weight"));
    heed_safetensors_close(f);
    CHECK(heed_import(c, in_folder("out"), heed_models));
}
