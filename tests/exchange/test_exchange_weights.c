/* Weights of transformers' models: the names that files have, wrong shapes and numbers, and shards.
 */
#include "exchange_model.h"
#include "files.h"
#include "golden.h"

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
    snprintf(own, sizeof own, EXCHANGE_GOLDEN "%s/model.safetensors", name);
    heed_safetensors *f = heed_safetensors_open(c, own);
    heed_params *s = heed_params_new(c);
    for (int i = from; i < to && i < heed_safetensors_count(f); i++) {
        const heed_array *a = heed_safetensors_at(f, i);
        char as[200];
        int shape[4] = {0};
        snprintf(as, sizeof as, "%s", a->name);
        if (renamed) renamed(as, sizeof as);
        for (int k = 0; k < a->dims; k++) shape[k] = (int)a->shape[k];
        heed_tensor *x = heed_buffer_new(s, as, "zero", a->dims, shape);
        size_t shift = turn && strstr(a->name, turn) ? x->size / (size_t)shape[0] : 0;
        for (size_t k = 0; x && k < x->size; k++)
            x->x[(k + shift) % x->size] = (heed_real)golden_number(a, k);
    }
    if (more) heed_buffer_new(s, more, "one", 1, (int[]){2});
    CHECK(heed_save(s, path));
    heed_params_free(s);
    heed_safetensors_close(f);
}

/* A folder with the golden's config.json and changed weights. */
static const char *reweighted(heed_ctx *c, const char *name, rename_tensor renamed,
                              const char *more, const char *turn) {
    char path[512];
    const char *dir = exchange_edited(name, "{", "{");
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    write_weights(c, name, path, renamed, 0, 1000, more, turn);
    return dir;
}

static bool reweighted_agrees(const char *name, rename_tensor renamed, const char *more,
                              const char *turn) {
    heed_ctx *c = heed_open(NULL);
    const char *dir = reweighted(c, name, renamed, more, turn);
    bool same = exchange_agrees(heed_import(c, dir, heed_models), name);
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

TEST_IN(exchange_names_tensors_without_a_place, heed_open(NULL)) {
    CHECK_FAILS(c, heed_import(c, reweighted(c, "bert", NULL, "bert.extra", NULL), heed_models),
                HEED_DATA, "tensor \"bert.extra\"");
    CHECK_FAILS(c,
                heed_import(c, reweighted(c, "bert", NULL, "cls.predictions.decoder.bias", NULL),
                            heed_models),
                HEED_DATA, "another shape");
}

/* A golden's folder of which the tensor has other values, or another shape. */
static const char *retyped(const char *name, const char *tensor, const char *from, const char *to) {
    static char bytes[1 << 16];
    char path[512];
    const char *dir = exchange_edited(name, "{", "{");
    size_t n = exchange_golden(name, "model.safetensors", bytes, sizeof bytes - 1);
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

TEST_IN(exchange_refuses_numbers_that_are_not_finite, heed_open(NULL)) {
    float bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        char bits[4];
        memcpy(bits, &bad[i], 4);
        const char *dir = retyped("bert", "bert.embeddings.LayerNorm.bias", NULL, bits);
        CHECK_FAILS(c, heed_import(c, dir, heed_models), HEED_DATA,
                    "bert.embeddings.LayerNorm.bias: expected finite numbers");
    }
}

TEST_IN(exchange_gives_the_shapes_of_an_embedding, heed_open(NULL)) {
    const char *dir =
        retyped("bert", "bert.embeddings.word_embeddings.weight", "[29,16]", "[16,29]");
    CHECK_FAILS(c, heed_import(c, dir, heed_models), HEED_DATA,
                "word_embeddings.weight: expected (29,16), found (16,29)");
    dir = retyped("bert", "bert.embeddings.word_embeddings.weight", "[29,16]", "[58, 8]");
    CHECK_FAILS(c, heed_import(c, dir, heed_models), HEED_DATA,
                "config.json: expected 58, as bert.embeddings.word_embeddings.weight has the shape "
                "(58,8), found 29");
}

TEST(exchange_names_the_tensors_that_it_leaves_out) {
    exchange_heard h = {.count = 0};
    heed_ctx *c = heed_open(&(heed_options){.log = exchange_hear, .user = &h});
    CHECK(heed_import(c, reweighted(c, "bert", NULL, "cls.seq_relationship.bias", NULL),
                      heed_models));
    CHECK(h.count == 1 && strstr(h.last, "are left out") &&
          strstr(h.last, "cls.seq_relationship.bias"));
    CLOSE(c);
}

/* ---- shards ---- */

static const char *sharded(heed_ctx *c, const char *index) {
    char path[512];
    const char *dir = exchange_edited("bert", "{", "{");
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

TEST_IN(exchange_reads_shards, heed_open(NULL)) {
    const char *dir = sharded(c, "{\"weight_map\": {\"a\": \"model-1.safetensors\", \"b\": "
                                 "\"model-2.safetensors\", \"c\": \"model-1.safetensors\"}}");
    CHECK(exchange_agrees(heed_import(c, dir, heed_models), "bert"));
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
}
