/* exchange.c -- config.json of a published model beside tiny weights: any bytes are a model or an
 * error, and a model is exported and imported again. */
#define _DEFAULT_SOURCE /* getpid */
#include "core/core.h"

#include <heed/exchange.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A model of no tensors but one, which has every form of row. */
static const heed_option options[] = {{"width", HEED_INT, "2", 1, 64, NULL, "", "Model"},
                                      {"kind", HEED_CHOICE, "a", 0, 0, "a|b", "", "Model"},
                                      {"classes", HEED_INT, "0", 0, 1 << 16, NULL, "", "Model"},
                                      {0}};
static bool init(void *self, heed_store *s, const heed_config *f) {
    (void)self;
    int n = (int)heed_config_int(f, "width");
    return heed_state_new(s, "w", "zero", 2, (int[]){n, n}) != NULL;
}
static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    (void)self;
    (void)b;
    return heed_input(t, NULL, 1, (int[]){1});
}
static const heed_published_key keys[] = {
    {.key = "width", .settings = "width", .value = "2", .rows = "w"},
    {.key = "o.kind", .settings = "kind", .value = "\"x\"", .values = "x=a y=b"},
    {.key = "fixed", .value = "false"},
    {0}};
static const heed_published_tensor tensors[] = {
    {.name = "w", .published = "m.w", .form = HEED_PUBLISHED_TRANSPOSED}, {0}};
static const heed_published published[] = {{.type = "t",
                                            .architectures = "T U",
                                            .settings = "",
                                            .prefix = "m.",
                                            .keys = keys,
                                            .tensors = tensors},
                                           {0}};
static const heed_model model = {.name = "model",
                                 .options = options,
                                 .size = 1,
                                 .init = init,
                                 .loss = loss,
                                 .published = published};
static const heed_model *const models[] = {&model, NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char dir[64], out[80], path[128];
    snprintf(dir, sizeof dir, "/tmp/heed-fuzz-exchange-%d", (int)getpid());
    snprintf(out, sizeof out, "%s/out", dir);
    mkdir(dir, 0700);
    snprintf(path, sizeof path, "%s/config.json", dir);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) abort();
    heed_ctx *c = heed_open(NULL);
    heed_store *s = heed_store_new(c);
    heed_state_new(s, "m.w", "one", 2, (int[]){2, 2});
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    if (!heed_save(s, path)) abort();
    heed_run *r = heed_import(c, dir, models);
    if (!r != (heed_ctx_status(c) != HEED_OK)) abort();
    if (r && !heed_export(r, out, true)) abort();
    if (r && !heed_import(c, out, models)) abort();
    heed_close(c);
    return 0;
}
