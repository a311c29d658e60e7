#define _DEFAULT_SOURCE /* access */
/* Models of transformers: reading them, their outputs, and writing them (tests/golden/exchange, by
 * make_exchange.py), and what is refused. */
#include "files.h"
#include "golden.h"

#include <heed/models.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOLDEN "tests/golden/exchange/"

/* ---- outputs ---- */

/* The largest difference of x from an array, and the array's largest value. */
static double apart_from(const heed_array *a, const heed_tensor *x, double *largest) {
    double most = 0;
    *largest = 0;
    CHECK(a && x);
    if (!a || !x) return INFINITY;
    for (size_t i = 0; i < x->size; i++) {
        double y = golden_number(a, i);
        most = fmax(most, fabs((double)x->x[i] - y));
        *largest = fmax(*largest, fabs(y));
    }
    return most;
}

static heed_tensor *ids_of(heed_tape *t, const heed_safetensors *f, const char *name) {
    const heed_array *a = heed_safetensors_find(f, name);
    int32_t ids[64];
    if (!a) return NULL;
    for (size_t i = 0; i < a->bytes / 4 && i < 64; i++) ids[i] = (int32_t)golden_number(a, i);
    return heed_ids(t, ids, (int)a->shape[0], (int)a->shape[1]);
}

static heed_tensor *pixels_of(heed_tape *t, const heed_safetensors *f) {
    const heed_array *a = heed_safetensors_find(f, "pixels");
    if (!a) return NULL;
    heed_tensor *x =
        heed_input(t, NULL, 4,
                   (int[]){(int)a->shape[0], (int)a->shape[1], (int)a->shape[2], (int)a->shape[3]});
    for (size_t i = 0; x && i < x->size; i++) x->x[i] = (heed_real)golden_number(a, i);
    return x;
}

/* The errors of a run against the outputs that transformers gave, relative to the largest logit,
 * and of the attention. Padding is compared, too: its queries see the same keys. */
static void compare(heed_run *r, const char *name, double *logits, double *attention) {
    char path[128], probe[64];
    double largest;
    heed_attending at;
    snprintf(path, sizeof path, GOLDEN "%s/expected.safetensors", name);
    heed_safetensors *f = heed_safetensors_open(r->c, path);
    heed_tape *t = r->tape;
    heed_probe(t, "*.weights", false);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_model_input in = {.x = heed_safetensors_find(f, "pixels") ? pixels_of(t, f)
                                                                   : ids_of(t, f, "ids"),
                           .pad = ids_of(t, f, "pad"),
                           .types = ids_of(t, f, "types")};
    const heed_tensor *y = r->model->logits(r->self, t, &in);
    *logits = apart_from(heed_safetensors_find(f, "logits"), y, &largest) / largest;
    *attention = 0;
    for (int i = 0; r->model->attending(r->self, i, &at); i++) {
        snprintf(path, sizeof path, "%s.weights", at.path);
        snprintf(probe, sizeof probe, "weights.%d", i);
        *attention = fmax(*attention, apart_from(heed_safetensors_find(f, probe),
                                                 heed_probe_find(t, path), &largest));
    }
    heed_safetensors_close(f);
}

static bool agrees(heed_run *r, const char *name) {
    double logits = INFINITY, attention = INFINITY;
    if (r) compare(r, name, &logits, &attention);
    return logits <= 1e-5 && attention <= 1e-6;
}

static const char *const names[] = {"bert", "bert-class", "bert-tags", "gpt2", "llama", "vit"};
enum { NAMES = sizeof names / sizeof *names };

TEST(exchange_imports_compute_what_transformers_does) {
    for (int i = 0; i < NAMES; i++) {
        char dir[64];
        heed_ctx *c = heed_open(NULL);
        snprintf(dir, sizeof dir, GOLDEN "%s", names[i]);
        if (!agrees(heed_import(c, dir, heed_models), names[i]))
            test_fail(__FILE__, __LINE__, "%s differs", names[i]);
        CLOSE(c);
    }
}

static bool same_bits(const heed_store *a, const heed_store *b) {
    bool same = heed_store_count(a) == heed_store_count(b);
    for (int i = 0; same && i < heed_store_count(a); i++) {
        const heed_entry *x = heed_store_at(a, i), *y = heed_store_find(b, x->name);
        same = y && heed_same_shape(x->tensor, y->tensor) &&
               memcmp(x->tensor->x, y->tensor->x, x->tensor->size * sizeof(heed_real)) == 0;
    }
    return same;
}

/* The tensors of two files by name, whatever their order. */
static bool same_file(heed_ctx *c, const char *one, const char *two) {
    heed_safetensors *a = heed_safetensors_open(c, one), *b = heed_safetensors_open(c, two);
    bool same = a && b && heed_safetensors_count(a) == heed_safetensors_count(b);
    for (int i = 0; same && i < heed_safetensors_count(a); i++) {
        const heed_array *x = heed_safetensors_at(a, i), *y = heed_safetensors_find(b, x->name);
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
        snprintf(dir, sizeof dir, GOLDEN "%s", names[i]);
        snprintf(file, sizeof file, "%s/model.safetensors", dir);
        snprintf(out, sizeof out, "%s/model.safetensors", in_folder(names[i]));
        heed_run *r = heed_import(c, dir, heed_models);
        CHECK(heed_export(r, in_folder(names[i]), false));
        CHECK(same_file(c, file, out));
        heed_run *again = heed_import(c, in_folder(names[i]), heed_models);
        CHECK(again && same_bits(r->store, again->store));
        CHECK(again && agrees(again, names[i]));
        CLOSE(c);
    }
}

/* ---- vectors of texts ---- */

static double vector_apart(heed_run *r, const char *name) {
    double largest;
    heed_safetensors *f = heed_safetensors_open(r->c, GOLDEN "bert-encoder/vectors.safetensors");
    double apart =
        apart_from(heed_safetensors_find(f, name), heed_text_vector(r, "3 1 4 15 9", 10), &largest);
    heed_safetensors_close(f);
    return apart / largest;
}

TEST(exchange_vectors_are_those_of_sentence_transformers) {
    heed_ctx *c = heed_open(NULL);
    heed_run *r = heed_import(c, GOLDEN "bert-encoder", heed_models);
    CHECK(r && !heed_store_find(r->store, "head.bias"));
    CHECK_CLOSE(vector_apart(r, "mean"), 0, 2e-6);
    CHECK(heed_export(r, in_folder("out"), false));
    heed_run *again = heed_import(c, in_folder("out"), heed_models);
    CHECK_CLOSE(vector_apart(again, "mean"), 0, 2e-6);
    CHECK(heed_store_find(again->store, "pooler.weight")); /* kept, as the class has it */
    CHECK(!heed_text_vector(r, "", 0));
    heed_clear(c);
    CLOSE(c);
}

TEST(exchange_follows_the_modules) {
    heed_ctx *c = heed_open(NULL);
    static const char cls[] = "{\"pooling_mode_cls_token\": true}",
                      max[] = "{\"pooling_mode_max_tokens\": true}";
    heed_run *r = heed_import(c, GOLDEN "bert-encoder", heed_models);
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
    CLOSE(c);
}

TEST(exchange_cuts_long_texts) {
    heed_ctx *c = heed_open(NULL);
    heed_run *r = heed_import(c, GOLDEN "bert-encoder", heed_models);
    heed_config_set(r->config, "embed-tokens", "5", "test", HEED_FROM_FLAG);
    CHECK_CLOSE(vector_apart(r, "mean"), 0, 2e-6);
    heed_real first[16];
    const heed_tensor *y = heed_text_vector(r, "3 1 4 15 7 9", 12); /* the end is kept */
    CHECK(y && y->size == 16);
    if (y) memcpy(first, y->x, sizeof first);
    y = heed_text_vector(r, "3 1 4 15 9", 10);
    CHECK(y && memcmp(first, y->x, sizeof first) == 0);
    CLOSE(c);
}

TEST(exchange_imports_are_runs) {
    heed_ctx *c = heed_open(NULL);
    heed_run *r = heed_import(c, GOLDEN "vit", heed_models);
    CHECK(heed_run_save(r, in_folder("run"), false));
    heed_run *again = heed_run_open(c, in_folder("run"), heed_models, NULL);
    CHECK(again && same_bits(r->store, again->store));
    CHECK(again && again->label_count == 3);
    if (again) CHECK_TEXT(again->labels[2], "red bird");
    CHECK(again && agrees(again, "vit"));
    CLOSE(c);
}

/* ---- variants of a folder ---- */

/* A file of a golden as a text of at most `size` bytes; returns its length. */
static size_t read_golden(const char *name, const char *file, char *text, size_t size) {
    char path[512];
    snprintf(path, sizeof path, GOLDEN "%s/%s", name, file);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, size, f) : 0;
    if (f) fclose(f);
    CHECK(n > 0 && n < size);
    return n;
}

/* A folder with a golden's weights and its config.json, in which one part is replaced. */
static const char *edited(const char *name, const char *from, const char *to) {
    static char dir[256], weights[1 << 16];
    char path[512], text[4096] = {0};
    snprintf(dir, sizeof dir, "%s", in_folder("edited"));
    mkdir(dir, 0700);
    read_golden(name, "config.json", text, sizeof text);
    char *at = strstr(text, from);
    CHECK(at);
    snprintf(path, sizeof path, "%s/config.json", dir);
    FILE *f = fopen(path, "wb");
    if (f && at) fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    if (f) fclose(f);
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    put_file(path, weights, read_golden(name, "model.safetensors", weights, sizeof weights));
    return dir;
}

/* Whether the edited model still computes what the golden one does. */
static bool edited_agrees(const char *name, const char *from, const char *to) {
    heed_ctx *c = heed_open(NULL);
    bool same = agrees(heed_import(c, edited(name, from, to), heed_models), name);
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
    CHECK_FAILS(c, heed_import(c, edited(name, from, to), heed_models), HEED_DATA, part);
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
    refuses("vit", "\"patch_size\": 4", "\"patch_size\": 0", "another shape");
    refuses("bert", "{", "", "no valid JSON");
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

typedef struct {
    char last[512];
    int count;
} heard;

static void hear(void *user, heed_level level, const char *message) {
    heard *h = user;
    if (level != HEED_WARN) return;
    snprintf(h->last, sizeof h->last, "%s", message);
    h->count++;
}

TEST(exchange_knows_the_members_of_an_object) {
    heard h = {.count = 0};
    heed_ctx *c = heed_open(&(heed_options){.log = hear, .user = &h});
    refuses("llama", "\"rope_type\": \"default\"", "\"type\": \"linear\", \"factor\": 2.0",
            "rope_parameters.type: expected \"default\", found \"linear\"");
    const char *dir = edited("llama", "\"rope_type\"", "\"factor\": 2.0, \"rope_type\"");
    CHECK(heed_import(c, dir, heed_models));
    CHECK(h.count == 1 && strstr(h.last, "\"rope_parameters.factor\" is not known"));
    CLOSE(c);
}

/* ---- pictures ---- */

/* The golden ViT with preprocessor_config.json. */
static const char *processed(const char *json, size_t n) {
    char path[512];
    const char *dir = edited("vit", "{", "{");
    snprintf(path, sizeof path, "%s/preprocessor_config.json", dir);
    put_file(path, json, n);
    return dir;
}

/* The largest difference of the pixels from Pillow's, as a share of the range 0 to 1 of a pixel. */
static double shape_apart(heed_ctx *c, const heed_run *r, const char *name, int width, int height) {
    enum { BYTES = 23 * 17 * 3 };
    unsigned char bytes[BYTES];
    heed_picture p = {.width = width, .height = height, .channels = 3, .pixels = bytes};
    heed_image_transform v;
    heed_real out[8 * 8 * 3];
    double most = 0;
    for (int64_t i = 0; i < BYTES; i++) bytes[i] = (unsigned char)((97 * i * i + 31 * i) % 251);
    if (!r || !heed_image_transform_of(c, r->config, &v)) return INFINITY;
    heed_real *work = malloc(heed_image_transform_work(&p, &v) * sizeof *work);
    heed_picture_transform(&p, &v, NULL, NULL, out, work);
    free(work);
    heed_safetensors *f = heed_safetensors_open(c, GOLDEN "vit/pictures.safetensors");
    const heed_array *a = heed_safetensors_find(f, name);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        most = fmax(most, fabs((double)out[i] - golden_number(a, i)) * v.deviation[i % 3]);
    heed_safetensors_close(f);
    return most;
}

static double pixels_apart(heed_ctx *c, const heed_run *r, const char *name) {
    return shape_apart(c, r, name, 23, 17);
}

TEST(exchange_prepares_pictures_as_pillow_does) {
    static const char *const processors[] = {"exact",   "bicubic", "crop",
                                             "lanczos", "nearest", "scaled"};
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
        char json[4096], file[64], flat[64], tall[64];
        heed_ctx *c = heed_open(NULL);
        snprintf(file, sizeof file, "%s.json", processors[i]);
        snprintf(flat, sizeof flat, "flat %s", processors[i]);
        snprintf(tall, sizeof tall, "tall %s", processors[i]);
        size_t n = read_golden("vit", file, json, sizeof json);
        heed_run *r = heed_import(c, processed(json, n), heed_models);
        CHECK_CLOSE(pixels_apart(c, r, processors[i]), 0, 1.01 / 255);
        CHECK_CLOSE(shape_apart(c, r, flat, 43, 9), 0, 1.01 / 255);
        CHECK_CLOSE(shape_apart(c, r, tall, 9, 43), 0, 1.01 / 255);
        CHECK(heed_export(r, in_folder(processors[i]), false));
        heed_run *again = heed_import(c, in_folder(processors[i]), heed_models);
        CHECK_CLOSE(pixels_apart(c, again, processors[i]), 0, 1.01 / 255);
        CLOSE(c);
    }
}

/* If import ignored one of these keys, the pixels would still agree. */
TEST(exchange_reads_every_key_of_a_processor) {
    static const char *const other[] = {
        "{\"size\": 8, \"resample\": 3}",
        "{\"size\": 8, \"rescale_factor\": 0.0078}",
        "{\"size\": 8, \"do_normalize\": false}",
        "{\"size\": 8, \"image_mean\": 0.4}",
        "{\"size\": 8, \"image_std\": [0.5, 0.5, 0.4]}",
        "{\"size\": {\"shortest_edge\": 8}, \"do_center_crop\": true, \"crop_size\": 8}"};
    heed_ctx *c = heed_open(NULL);
    const char *same = "{\"size\": 8}";
    CHECK_CLOSE(
        pixels_apart(c, heed_import(c, processed(same, strlen(same)), heed_models), "exact"), 0,
        1.01 / 255);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        heed_run *r = heed_import(c, processed(other[i], strlen(other[i])), heed_models);
        CHECK(pixels_apart(c, r, "exact") > 4.0 / 255);
    }
    CLOSE(c);
}

static void refuses_processor(const char *json, const char *part) {
    heed_ctx *c = heed_open(NULL);
    CHECK_FAILS(c, heed_import(c, processed(json, strlen(json)), heed_models), HEED_DATA, part);
    CLOSE(c);
}

TEST(exchange_names_what_a_processor_does_otherwise) {
    refuses_processor("{\"size\": 9}", "size: expected height and width 8");
    refuses_processor("{\"size\": {\"height\": 8, \"width\": 9}}", "size: expected");
    refuses_processor("{\"size\": {\"longest_edge\": 8}}", "size: expected");
    refuses_processor("{\"size\": 8, \"resample\": 4}", "resample: expected 0");
    refuses_processor("{\"size\": 8, \"resample\": \"x\"}", "resample: expected 0");
    refuses_processor("{\"size\": 8, \"do_pad\": true}", "do_pad");
    refuses_processor("{\"size\": 8, \"do_resize\": false}", "do_resize");
    refuses_processor("{\"size\": 8, \"image_mean\": [0.5, 0.5]}",
                      "image_mean: expected one number, or three, found");
    refuses_processor("{\"size\": 8, \"image_std\": [\"a\"]}", "image_std: expected one number");
    refuses_processor("{\"size\": 8, \"image_std\": 0}", "std");
    refuses_processor("{\"size\": 8, \"rescale_factor\": -1}", "rescale_factor");
    refuses_processor("{\"size\": 8, \"rescale_factor\": \"x\"}",
                      "rescale_factor: expected a number above 0, found \"x\"");
    refuses_processor("{\"size\": 8, \"do_rescale\": \"no\"}",
                      "do_rescale: expected true or false, found");
    refuses_processor("{\"image_processor_type\": \"CLIPImageProcessor\"}", "image_processor_type");
    refuses_processor("{\"image_processor_type\": \"ViTHybridImageProcessor\"}",
                      "image_processor_type: expected ViTImageProcessor, found");
    refuses_processor("{\"size\": {\"shortest_edge\": 4}, \"do_center_crop\": true, "
                      "\"crop_size\": 8}",
                      "shortest_edge of at least crop_size");
}

/* ---- weights ---- */

typedef void (*rename_tensor)(char *name, size_t size);

static void old_names(char *name, size_t size) {
    char *at = strstr(name, "LayerNorm.weight");
    if (at) snprintf(at, size - (size_t)(at - name), "LayerNorm.gamma");
    at = strstr(name, "LayerNorm.bias");
    if (at) snprintf(at, size - (size_t)(at - name), "LayerNorm.beta");
}

static void no_prefix(char *name, size_t size) {
    size_t n = strncmp(name, "bert.", 5) == 0 ? 5 : strncmp(name, "transformer.", 12) == 0 ? 12 : 0;
    memmove(name, name + n, size - n);
}

static void swap_norms(char *name, size_t size) {
    char *at = strstr(name, "ln_1"), *other = strstr(name, "ln_2");
    (void)size;
    if (at) at[3] = '2';
    if (other) other[3] = '1';
}

/* The tensors from..to-1 of a golden's file, under other names, at `path`; `more` (or NULL) is one
 * more of 2 numbers. Rows of a tensor whose name has `turn` are rotated by one. */
static void write_weights(heed_ctx *c, const char *name, const char *path, rename_tensor renamed,
                          int from, int to, const char *more, const char *turn) {
    char own[128];
    snprintf(own, sizeof own, GOLDEN "%s/model.safetensors", name);
    heed_safetensors *f = heed_safetensors_open(c, own);
    heed_store *s = heed_store_new(c);
    for (int i = from; i < to && i < heed_safetensors_count(f); i++) {
        const heed_array *a = heed_safetensors_at(f, i);
        char as[200];
        int shape[4] = {0};
        snprintf(as, sizeof as, "%s", a->name);
        if (renamed) renamed(as, sizeof as);
        for (int k = 0; k < a->dims; k++) shape[k] = (int)a->shape[k];
        heed_tensor *x = heed_state_new(s, as, "zero", a->dims, shape);
        size_t shift = turn && strstr(a->name, turn) ? x->size / (size_t)shape[0] : 0;
        for (size_t k = 0; x && k < x->size; k++)
            x->x[(k + shift) % x->size] = (heed_real)golden_number(a, k);
    }
    if (more) heed_state_new(s, more, "one", 1, (int[]){2});
    CHECK(heed_save(s, path));
    heed_store_free(s);
    heed_safetensors_close(f);
}

/* A folder with the golden's config.json and changed weights. */
static const char *reweighted(heed_ctx *c, const char *name, rename_tensor renamed,
                              const char *more, const char *turn) {
    char path[512];
    const char *dir = edited(name, "{", "{");
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    write_weights(c, name, path, renamed, 0, 1000, more, turn);
    return dir;
}

static bool reweighted_agrees(const char *name, rename_tensor renamed, const char *more,
                              const char *turn) {
    heed_ctx *c = heed_open(NULL);
    const char *dir = reweighted(c, name, renamed, more, turn);
    bool same = agrees(heed_import(c, dir, heed_models), name);
    CLOSE(c);
    return same;
}

TEST(exchange_reads_the_names_that_files_have) {
    CHECK(reweighted_agrees("bert", old_names, NULL, NULL));
    CHECK(reweighted_agrees("bert", no_prefix, NULL, NULL));
    CHECK(reweighted_agrees("gpt2", no_prefix, NULL, NULL));
    CHECK(reweighted_agrees("gpt2", NULL, "transformer.h.0.attn.masked_bias", NULL));
    CHECK(reweighted_agrees("gpt2", no_prefix, "h.0.attn.bias", NULL));
    CHECK(reweighted_agrees("bert", NULL, "bert.pooler.dense.bias", NULL));
}

TEST(exchange_notices_exchanged_weights) {
    CHECK(!reweighted_agrees("gpt2", swap_norms, NULL, NULL));
    CHECK(!reweighted_agrees("bert", NULL, NULL, "token_type_embeddings"));
    CHECK(!reweighted_agrees("bert", NULL, NULL, "position_embeddings"));
    CHECK(!reweighted_agrees("gpt2", NULL, NULL, "wpe"));
    CHECK(!reweighted_agrees("vit", NULL, NULL, "attention.query.weight"));
    CHECK(!reweighted_agrees("llama", NULL, NULL, "k_proj"));
}

TEST(exchange_names_tensors_without_a_place) {
    heed_ctx *c = heed_open(NULL);
    CHECK_FAILS(c, heed_import(c, reweighted(c, "bert", NULL, "bert.extra", NULL), heed_models),
                HEED_DATA, "tensor \"bert.extra\"");
    CHECK_FAILS(c,
                heed_import(c, reweighted(c, "bert", NULL, "cls.predictions.decoder.bias", NULL),
                            heed_models),
                HEED_DATA, "another shape");
    CLOSE(c);
}

/* A golden's folder of which the tensor has other values, or another shape. */
static const char *retyped(const char *name, const char *tensor, const char *from, const char *to) {
    static char bytes[1 << 16];
    char path[512];
    const char *dir = edited(name, "{", "{");
    size_t n = read_golden(name, "model.safetensors", bytes, sizeof bytes - 1);
    uint64_t header;
    memcpy(&header, bytes, sizeof header);
    char *at = strstr(bytes + 8, tensor), *shape = at ? strstr(at, from ? from : "\"data_") : NULL;
    CHECK(shape);
    if (shape && from) memcpy(shape, to, strlen(from));
    if (shape && !from) {
        char *offset = strchr(shape, '[');
        memcpy(bytes + 8 + header + strtoul(offset + 1, NULL, 10), to, 4);
    }
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    put_file(path, bytes, n);
    return dir;
}

TEST(exchange_refuses_numbers_that_are_not_finite) {
    heed_ctx *c = heed_open(NULL);
    float bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        char bits[4];
        memcpy(bits, &bad[i], 4);
        const char *dir = retyped("bert", "bert.embeddings.LayerNorm.bias", NULL, bits);
        CHECK_FAILS(c, heed_import(c, dir, heed_models), HEED_DATA,
                    "bert.embeddings.LayerNorm.bias: expected finite numbers");
    }
    CLOSE(c);
}

TEST(exchange_gives_the_shapes_of_an_embedding) {
    heed_ctx *c = heed_open(NULL);
    const char *dir =
        retyped("bert", "bert.embeddings.word_embeddings.weight", "[29,16]", "[16,29]");
    CHECK_FAILS(c, heed_import(c, dir, heed_models), HEED_DATA,
                "word_embeddings.weight: expected (29,16), found (16,29)");
    dir = retyped("bert", "bert.embeddings.word_embeddings.weight", "[29,16]", "[58, 8]");
    CHECK_FAILS(c, heed_import(c, dir, heed_models), HEED_DATA,
                "config.json: expected 58, as bert.embeddings.word_embeddings.weight has the shape "
                "(58,8), found 29");
    CLOSE(c);
}

TEST(exchange_names_the_tensors_that_it_leaves_out) {
    heard h = {.count = 0};
    heed_ctx *c = heed_open(&(heed_options){.log = hear, .user = &h});
    CHECK(heed_import(c, reweighted(c, "bert", NULL, "cls.seq_relationship.bias", NULL),
                      heed_models));
    CHECK(h.count == 1 && strstr(h.last, "are left out") &&
          strstr(h.last, "cls.seq_relationship.bias"));
    CLOSE(c);
}

/* ---- shards ---- */

static const char *sharded(heed_ctx *c, const char *index) {
    char path[512];
    const char *dir = edited("bert", "{", "{");
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    remove(path);
    snprintf(path, sizeof path, "%s/model-1.safetensors", dir);
    write_weights(c, "bert", path, NULL, 0, 20, NULL, NULL);
    snprintf(path, sizeof path, "%s/model-2.safetensors", dir);
    write_weights(c, "bert", path, NULL, 20, 1000, NULL, NULL);
    snprintf(path, sizeof path, "%s/model.safetensors.index.json", dir);
    put_file(path, index, strlen(index));
    return dir;
}

TEST(exchange_reads_shards) {
    heed_ctx *c = heed_open(NULL);
    const char *dir = sharded(c, "{\"weight_map\": {\"a\": \"model-1.safetensors\", \"b\": "
                                 "\"model-2.safetensors\", \"c\": \"model-1.safetensors\"}}");
    CHECK(agrees(heed_import(c, dir, heed_models), "bert"));
    dir = sharded(c, "{\"weight_map\": {\"a\": \"model-1.safetensors\"}}");
    CHECK_FAILS(c, heed_import(c, dir, heed_models), HEED_DATA, "tensor is missing");
    dir = sharded(c, "{\"weight_map\": {\"a\": \"../model-1.safetensors\"}}");
    CHECK_FAILS(c, heed_import(c, dir, heed_models), HEED_DATA, "expected a file of this folder");
    dir = sharded(c, "{\"weight_map\": {\"a\": \"model-1.safetensors\", \"b\": "
                     "\"more.safetensors\"}}");
    char more[600];
    snprintf(more, sizeof more, "%s/more.safetensors", dir);
    write_weights(c, "bert", more, NULL, 0, 1, NULL, NULL);
    CHECK_FAILS(c, heed_import(c, dir, heed_models), HEED_DATA, "tensor is there twice");
    dir = sharded(c, "{\"weight_map\": {\"a\": 1}}");
    CHECK_FAILS(c, heed_import(c, dir, heed_models), HEED_DATA, "expected a file of this folder");
    dir = sharded(c, "[]");
    CHECK_FAILS(c, heed_import(c, dir, heed_models), HEED_DATA, "expected an object weight_map");
    CLOSE(c);
}

/* ---- what is not exported ---- */

static void refuses_export(const heed_model *m, const char *settings, const char *part) {
    heed_ctx *c = heed_open(NULL);
    heed_config *f = heed_train_config(c, m);
    heed_config_set_list(f, "layers=1 heads=2 width=8 block=4 vocab=7", "test", HEED_FROM_PRESET);
    heed_config_set_list(f, settings, "test", HEED_FROM_FLAG);
    heed_run *r = heed_run_new(c, m, f, NULL, NULL, 0);
    CHECK(r);
    if (part) {
        CHECK_FAILS(c, heed_export(r, in_folder("none"), false), HEED_USAGE, part);
        CHECK(access(in_folder("none"), F_OK) != 0);
    } else
        CHECK(heed_export(r, in_folder("some"), false));
    CLOSE(c);
}

TEST(exchange_exports_only_what_is_published) {
    refuses_export(&heed_model_mlm, "norm=pre", "`norm = pre`, expected post");
    refuses_export(&heed_model_gpt, "hard=true", "`hard = true`");
    refuses_export(&heed_model_gpt, "activation=tanh", NULL);
    refuses_export(&heed_model_cnn, "image-size=8 channels=1 classes=2",
                   "architecture is like the model cnn");
}
