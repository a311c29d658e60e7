#define _DEFAULT_SOURCE /* access */
/* Models of transformers: their outputs, writing them, vectors of texts, and what is not exported.
 */
#include "exchange_model.h"
#include "files.h"
#include "fit/fit.h"
#include "golden.h"
#include "io/io.h"

#include <unistd.h>

static const char *const names[] = {"bert", "bert-class", "bert-tags", "roformer",
                                    "gpt2", "llama",      "vit"};
enum { NAMES = sizeof names / sizeof *names };

TEST(exchange_imports_compute_what_transformers_does) {
    for (int i = 0; i < NAMES; i++) {
        char dir[64];
        heed_ctx *c = heed_open(NULL);
        snprintf(dir, sizeof dir, EXCHANGE_GOLDEN "%s", names[i]);
        if (!exchange_agrees(heed_import(c, dir, heed_models), names[i]))
            test_fail(__FILE__, __LINE__, "%s differs", names[i]);
        CLOSE(c);
    }
}

static bool same_bits(const heed_params *a, const heed_params *b) {
    bool same = heed_params_count(a) == heed_params_count(b);
    for (int i = 0; same && i < heed_params_count(a); i++) {
        const heed_param *x = heed_params_at(a, i), *y = heed_params_find(b, x->name);
        same = y && heed__same_shape(x->tensor, y->tensor) &&
               memcmp(x->tensor->x, y->tensor->x, x->tensor->size * sizeof(heed_real)) == 0;
    }
    return same;
}

/* The tensors of two files by name, whatever their order. */
static bool same_file(heed_ctx *c, const char *one, const char *two) {
    heed_safetensors *a = heed_safetensors_open(c, one), *b = heed_safetensors_open(c, two);
    bool same = a && b && heed_safetensors_count(a) == heed_safetensors_count(b);
    for (int i = 0; same && i < heed_safetensors_count(a); i++) {
        const heed_array *x = heed_safetensors_at(a, i), *y = heed__safetensors_find(b, x->name);
        same = y && x->dims == y->dims && memcmp(x->shape, y->shape, sizeof x->shape) == 0;
        for (size_t k = 0; same && k < y->bytes / (sizeof(heed_real)); k++)
            same = golden_number(x, k) == golden_number(y, k);
    }
    return same;
}

TEST(exchange_exports_are_the_imported_files) {
    for (int i = 0; i < NAMES; i++) {
        char dir[64], file[128], out[256];
        heed_ctx *c = heed_open(NULL);
        snprintf(dir, sizeof dir, EXCHANGE_GOLDEN "%s", names[i]);
        snprintf(file, sizeof file, "%s/model.safetensors", dir);
        snprintf(out, sizeof out, "%s/model.safetensors", in_folder(names[i]));
        heed_run *r = heed_import(c, dir, heed_models);
        CHECK(heed_export(r, in_folder(names[i]), false));
        CHECK(same_file(c, file, out));
        heed_run *again = heed_import(c, in_folder(names[i]), heed_models);
        CHECK(again && same_bits(r->store, again->store));
        CHECK(again && exchange_agrees(again, names[i]));
        CLOSE(c);
    }
}

/* ---- vectors of texts ---- */

static double vector_apart(heed_run *r, const char *name) {
    double largest;
    heed_safetensors *f =
        heed_safetensors_open(r->c, EXCHANGE_GOLDEN "bert-encoder/vectors.safetensors");
    double apart = exchange_apart(heed__safetensors_find(f, name),
                                  heed_text_vector(r, "3 1 4 15 9", 10), &largest);
    heed_safetensors_close(f);
    return apart / largest;
}

TEST_IN(exchange_vectors_are_those_of_sentence_transformers, heed_open(NULL)) {
    heed_run *r = heed_import(c, EXCHANGE_GOLDEN "bert-encoder", heed_models);
    CHECK(r && !heed_params_find(r->store, "head.bias"));
    CHECK_CLOSE(vector_apart(r, "mean"), 0, 2e-6);
    CHECK(heed_export(r, in_folder("out"), false));
    heed_run *again = heed_import(c, in_folder("out"), heed_models);
    CHECK_CLOSE(vector_apart(again, "mean"), 0, 2e-6);
    CHECK(heed_params_find(again->store, "pooler.weight")); /* kept, as the class has it */
    CHECK(!heed_text_vector(r, "", 0));
    heed_clear(c);
}

TEST_IN(exchange_follows_the_modules, heed_open(NULL)) {
    static const char cls[] = "{\"pooling_mode_cls_token\": true}",
                      max[] = "{\"pooling_mode_max_tokens\": true}";
    heed_run *r = heed_import(c, EXCHANGE_GOLDEN "bert-encoder", heed_models);
    CHECK(heed_export(r, in_folder("out"), false));
    text_file("out/1_Pooling/config.json", cls);
    text_file("out/modules.json", "[{\"path\": \"1_Pooling\", \"type\": \"a.Pooling\"}]");
    CHECK_CLOSE(vector_apart(heed_import(c, in_folder("out"), heed_models), "cls"), 0, 2e-6);
    text_file("out/1_Pooling/config.json", max);
    CHECK_FAILS(c, heed_import(c, in_folder("out"), heed_models), HEED_DATA,
                "found \"pooling_mode_max_tokens\"");
    text_file("out/modules.json", "[{\"path\": \"2_Dense\", \"type\": \"a.Dense\"}]");
    CHECK_FAILS(c, heed_import(c, in_folder("out"), heed_models), HEED_DATA, "found \"Dense\"");
    text_file("out/modules.json", "[{\"path\": \"../x\", \"type\": \"a.Pooling\"}]");
    CHECK_FAILS(c, heed_import(c, in_folder("out"), heed_models), HEED_DATA, "found \"Pooling\"");
    text_file("out/modules.json", "{}");
    CHECK_FAILS(c, heed_import(c, in_folder("out"), heed_models), HEED_DATA, "found \"no list\"");
}

TEST_IN(exchange_cuts_long_texts, heed_open(NULL)) {
    heed_run *r = heed_import(c, EXCHANGE_GOLDEN "bert-encoder", heed_models);
    heed_config_set(r->config, "embed-tokens", "5", "test", HEED_FROM_FLAG);
    CHECK_CLOSE(vector_apart(r, "mean"), 0, 2e-6);
    heed_real first[16];
    const heed_tensor *y = heed_text_vector(r, "3 1 4 15 7 9", 12); /* the end is kept */
    CHECK(y && y->size == 16);
    if (y) memcpy(first, y->x, sizeof first);
    y = heed_text_vector(r, "3 1 4 15 9", 10);
    CHECK(y && memcmp(first, y->x, sizeof first) == 0);
}

TEST_IN(exchange_imports_are_runs, heed_open(NULL)) {
    heed_run *r = heed_import(c, EXCHANGE_GOLDEN "vit", heed_models);
    CHECK(heed_run_save(r, in_folder("run"), false));
    heed_run *again = heed_run_open(c, in_folder("run"), heed_models, NULL);
    CHECK(again && same_bits(r->store, again->store));
    CHECK(again && again->label_count == 3);
    if (again) CHECK_TEXT(again->labels[2], "red bird");
    CHECK(again && exchange_agrees(again, "vit"));
    const heed_model *const others[] = {&heed_model_gpt, &heed_model_rnn, NULL};
    CHECK_FAILS(c, heed_run_open(c, in_folder("run"), others, NULL), HEED_DATA,
                "architecture: expected one of gpt, rnn, found vit");
}

/* ---- what is not exported ---- */

static void refuses_export(const heed_model *m, const char *settings, const char *part) {
    heed_ctx *c = heed_open(NULL);
    heed_config *f = heed_train_config(c, m);
    heed_config_set_list(f, "layers=1 heads=2 width=8 block=4 vocab=7", "test", HEED_FROM_PRESET);
    heed_config_set_list(f, settings, "test", HEED_FROM_FLAG);
    heed_run *r = heed__run_new(c, m, f, NULL, NULL, 0);
    CHECK(r);
    if (part) {
        CHECK_FAILS(c, heed_export(r, in_folder("none"), false), HEED_USAGE, part);
        CHECK(access(in_folder("none"), F_OK) != 0);
    } else
        CHECK(heed_export(r, in_folder("some"), false));
    CLOSE(c);
}

TEST(exchange_exports_only_what_is_published) {
    refuses_export(&heed_model_mlm, "norm=pre", "expected `norm = post`, found `norm = pre`");
    refuses_export(&heed_model_gpt, "hard=true", "`hard = true`");
    refuses_export(&heed_model_gpt, "activation=tanh", NULL);
    refuses_export(
        &heed_model_cnn, "image-size=8 channels=1 classes=2",
        "architecture is like the model cnn; hint: `export RUN --onnx model.onnx` writes any run");
    refuses_export(&heed_model_mlm, "token-types=0", "`token-types = 0`: type_vocab_size of");
}

/* Sizes that a model chooses where the setting is 0. */
TEST_IN(exchange_exports_the_sizes_that_a_model_chose, heed_open(NULL)) {
    heed_config *f = heed_train_config(c, &heed_model_vit);
    heed_config_set_list(f, "image-size=12 channels=1 classes=2 mean=0.5 std=0.5", "test",
                         HEED_FROM_FLAG);
    heed_run *r = heed__run_new(c, &heed_model_vit, f, NULL, NULL, 0);
    CHECK(heed_export(r, in_folder("chosen"), false));
    r = heed_import(c, in_folder("chosen"), heed_models);
    CHECK(r && heed_config_int(r->config, "patch") == 3);
}
