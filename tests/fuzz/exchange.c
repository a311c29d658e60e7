/* exchange.c -- a file of a published model's folder, the first byte says which, beside tiny
 * weights: any bytes are a model or an error, and a model is exported and imported again. */
#define _DEFAULT_SOURCE /* getpid */
#include "core/core.h"

#include <heed/exchange.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Models of no tensors but one, which has every form of row: of vectors, and of pictures. */
#define COMMON                                                                                     \
    {"width", HEED_OPTION_INT, "2", 1, 64, NULL, "", "Model"},                                     \
        {"kind", HEED_OPTION_STRING, "a", 0, 0, "a|b", "", "Model"}, {                             \
        "classes", HEED_OPTION_INT, "0", 0, 1 << 16, NULL, "", "Model"                             \
    }
static const heed_option options[] = {
    COMMON,
    {"pool", HEED_OPTION_STRING, "mean", 0, 0, "mean|cls", "", "Model"},
    {"unit", HEED_OPTION_BOOL, "false", 0, 0, NULL, "", "Model"},
    {"embed-tokens", HEED_OPTION_INT, "0", 0, 1 << 20, NULL, "", "Model"},
    {0}};
static const heed_option seen[] = {COMMON,
                                   {"image-size", HEED_OPTION_INT, "8", 0, 64, NULL, "", "Model"},
                                   {"channels", HEED_OPTION_INT, "3", 0, 3, NULL, "", "Model"},
                                   {0}};
static bool init(void *self, heed_params *s, const void *f) {
    (void)self;
    int n = (int)heed_config_int(f, "width");
    return heed_buffer_new(s, "w", "zero", 2, (int[]){n, n}) != NULL;
}
static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    (void)self;
    (void)b;
    return heed_input(t, NULL, 1, (int[]){1});
}
static const heed_hf_key keys[] = {
    {.key = "width", .settings = "width", .value = "2", .rows = "w"},
    {.key = "o.kind", .settings = "kind", .value = "\"x\"", .values = "x=a y=b"},
    {.key = "fixed", .value = "false"},
    {0}};
static const heed_hf_tensor tensors[] = {
    {.name = "w", .published = "m.w", .form = HEED_HF_TRANSPOSED}, {0}};
#define PUBLISHED(name)                                                                            \
    .type = name, .architectures = "T U", .settings = "", .prefix = "m.", .keys = keys,            \
    .tensors = tensors
static const heed_hf_map texts[] = {{PUBLISHED("t"), .vectors = true}, {0}};
static const heed_hf_map pictures[] = {{PUBLISHED("p")}, {0}};
#define MODEL .size = 1, .init = init, .loss = loss
static const heed_model reader = {MODEL, .name = "reader", .options = options, .published = texts};
static const heed_model viewer = {MODEL, .name = "viewer", .data = &heed_pictures_classes,
                                  .options = seen, .published = pictures};
static const heed_model *const models[] = {&reader, &viewer, NULL};

/* The files of a folder, with what they hold if they are not the one that is fuzzed. */
static const struct {
    const char *name, *usual;
} files[] = {{"config.json", NULL},
             {"model.safetensors.index.json", NULL},
             {"preprocessor_config.json", "{\"size\": 8}"},
             {"modules.json", "[{\"path\": \"1\", \"type\": \"Pooling\"}]"},
             {"1/config.json", "{\"pooling_mode\": \"cls\"}"},
             {"sentence_bert_config.json", "{\"max_seq_length\": 9}"}};
enum { FILES = sizeof files / sizeof *files };

static void put_file(const char *dir, const char *name, const void *data, size_t n) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = data ? fopen(path, "wb") : NULL;
    if (!data)
        unlink(path);
    else if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
        abort();
}

/* One weight, in model.safetensors or in a shard of another name. */
static void put_weights(heed_ctx *c, const char *dir, bool shard) {
    char path[128];
    heed_params *s = heed_params_new(c);
    heed_buffer_new(s, "m.w", "one", 2, (int[]){2, 2});
    put_file(dir, "model.safetensors", NULL, 0);
    snprintf(path, sizeof path, "%s/%s", dir, shard ? "shard.safetensors" : "model.safetensors");
    if (!heed_save(s, path)) abort();
    heed_params_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char dir[64], out[80], sub[80];
    size_t which = n ? data[0] % FILES : 0;
    snprintf(dir, sizeof dir, "/tmp/heed-fuzz-exchange-%d", (int)getpid());
    snprintf(out, sizeof out, "%s/out", dir);
    snprintf(sub, sizeof sub, "%s/1", dir);
    mkdir(dir, 0700);
    mkdir(sub, 0700);
    const char *config = which == 2 ? "{\"model_type\": \"p\"}" : "{\"model_type\": \"t\"}";
    for (size_t i = 0; i < FILES; i++)
        put_file(dir, files[i].name, files[i].usual, files[i].usual ? strlen(files[i].usual) : 0);
    put_file(dir, "config.json", config, strlen(config));
    put_file(dir, files[which].name, data + (n > 0), n - (n > 0));
    heed_ctx *c = heed_open(NULL);
    put_weights(c, dir, which == 1);
    heed_run *r = heed_import(c, dir, models);
    if (!r != (heed_ctx_status(c) != HEED_OK)) abort();
    if (r && !heed_export(r, out, true)) abort();
    if (r && !heed_import(c, out, models)) abort();
    heed_close(c);
    return 0;
}
