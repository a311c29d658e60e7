/* onnx.c -- models with the settings of the gradient check, or those given, as ONNX files, and what
 * they give for three batches, for onnx_check.py.
 *
 *     onnx FOLDER                          every case of every model, and the cases below
 *     onnx FOLDER MODEL NAME SETTINGS [cache]   one
 *
 * FOLDER/NAME.onnx, and NAME.safetensors with K.ids, K.logits and K.PATH.weights for K = 0, 1, 2
 * and w.PARAMETER. */
#include <heed/exchange.h>
#include <heed/models.h>

#include <heed/heed.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *model, *name, *settings;
    bool cache;
} job;

#define PAIRS "width=8 block=9 vocab=11 batch=2 init-std=0.5 "
#define TEXT  "vocab=13 block=12 batch=2 width=8 heads=2 layers=2 ff=16 init-std=0.4 "
#define SHOWN                                                                                      \
    "image-size=8 channels=2 filters=4 stages=2 width=8 heads=2 ff=12 block=9 vocab=9 "            \
    "init-std=0.5 "
static const job more[] = {
    {"gpt", "cache", TEXT, true},
    {"gpt", "cache llama",
     TEXT "heads=4 kv-heads=2 positions=rotary norm-kind=rms ff-kind=swiglu bias=false", true},
    {"gpt", "cache sinusoidal", TEXT "positions=sinusoidal", true},
    {"gpt", "cache gru", TEXT "cell=gru", true},
    {"gpt", "cache lstm", TEXT "cell=lstm", true},
    {"gpt", "cache rnn", TEXT "cell=rnn", true},
    {"gpt", "beta 0", TEXT "beta=0", false},
    {"mlm", "hard", TEXT "hard=true beta=3", false},
    {"mlm", "explicit", TEXT "attention=explicit", false},
    {"mlm", "silu", TEXT "activation=silu norm-kind=rms attn-out=false", false},
    {"rnn", "lstm additive", PAIRS "cell=lstm", false},
    {"rnn", "rnn additive", PAIRS "cell=rnn cell-activation=relu attention-biases=true", false},
    {"rnn", "copy", PAIRS "bidirectional=false bridge=copy", false},
    {"rnn", "none one way", PAIRS "attention=none bidirectional=false", false},
    {"rnn", "dot", PAIRS "attention=dot", false},
    {"rnn", "scaled", PAIRS "attention=scaled key-width=3 value-width=5", false},
    {"rnn", "hard", PAIRS "hard=true", false},
    {"rnn", "layers", PAIRS "layers=2", false},
    {"caption", "dot", SHOWN "attention=dot", false},
    {"caption", "hard", SHOWN "hard=true cell=lstm", false},
};

/* ---- a model ---- */

static const heed_model *find(const char *name) {
    for (const heed_model *const *m = heed_models; *m; m++)
        if (strcmp((*m)->name, name) == 0) return *m;
    return NULL;
}

static bool set_all(heed_config *f, const char *settings) {
    char text[1024], *word = text;
    snprintf(text, sizeof text, "%s", settings);
    for (word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = 0;
        if (!heed_config_set(f, word, value, word, HEED_FROM_FLAG)) return false;
    }
    return true;
}

/* All values random, so that no gain is 1, no bias or running mean 0. */
static void stir(heed_params *s) {
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        heed_random r = heed_random_at(7, e->name, 0, 0);
        for (size_t k = 0; k < e->tensor->size; k++) {
            double x = 0.2 * heed_random_normal(&r, k);
            e->tensor->x[k] =
                (heed_real)(strstr(e->name, "var") ? 1 + x * x : (double)e->tensor->x[k] + x);
        }
    }
}

static heed_run open_model(heed_ctx *c, const job *j) {
    const heed_model *m = find(j->model);
    heed_run r = {.c = c,
                  .model = m,
                  .config = heed_model_config(c, m, NULL),
                  .store = heed_params_new(c),
                  .tape = heed_tape_new(c)};
    r.self = calloc(1, m->size);
    if (set_all(r.config, j->settings) && heed_model_init(m, r.self, r.store, r.config))
        stir(r.store);
    return r;
}

/* ---- inputs and outputs ---- */

static void put(heed_params *out, int k, const char *name, const heed_tensor *from) {
    char full[200];
    snprintf(full, sizeof full, "%d.%s", k, name);
    heed_tensor *x = from ? heed_buffer_new(out, full, "zero", from->dims, from->shape) : NULL;
    for (size_t i = 0; x && i < x->size; i++)
        x->x[i] = from->x ? from->x[i] : (heed_real)from->i[i];
}

static heed_tensor *ids(heed_tape *t, int rows, int len, int below) {
    heed_tensor *x = heed_new_ids(t, 2, (int[]){rows, len});
    heed_random r = heed_random_at(3, "ids", (uint64_t)rows, (uint32_t)len);
    for (size_t i = 0; x && i < x->size; i++)
        x->i[i] = (int32_t)(heed_random_uniform(&r, i) * below);
    return x;
}

/* The hidden patches of a masked auto-encoder, others in each picture. */
static void hide(const heed_run *r, heed_tape *t, int rows, heed_model_input *in) {
    heed_grid g;
    if (!r->model->grid(r->self, &g) || !g.hidden) return;
    int count = rows * g.hidden, patches = g.rows * g.cols;
    in->masked_positions = heed_new_ids(t, 1, &count);
    for (int b = 0; in->masked_positions && b < rows; b++) {
        int32_t *at = in->masked_positions->i + b * g.hidden;
        heed_masked_patches(r->c, (heed_batch_at){.rows = rows}, b, patches, g.hidden, at);
        for (int i = 0; i < g.hidden; i++) at[i] += b * patches;
    }
}

/* As the graph reads them: (B,h), from 0 in each picture. */
static heed_tensor *hidden_of(const heed_run *r, heed_tape *t, const heed_tensor *flat, int rows) {
    heed_grid g;
    if (!flat || !r->model->grid(r->self, &g)) return NULL;
    heed_tensor *x = heed_new_ids(t, 2, (int[]){rows, g.hidden});
    for (size_t i = 0; x && i < x->size; i++) x->i[i] = flat->i[i] % (g.rows * g.cols);
    return x;
}

static heed_model_input inputs(const heed_run *r, heed_tape *t, int rows, int len, int source) {
    const heed_data_kind *kind = r->model->data;
    const heed_config *f = r->config;
    bool picture = kind->images, target = kind->target;
    heed_model_input in = {0};
    int vocab = picture && !target ? 0 : (int)heed_config_int(f, "vocab");
    if (target) in.target = ids(t, rows, len, vocab);
    if (picture && r->model->grid && !target) hide(r, t, rows, &in);
    if (picture) {
        int side = (int)heed_config_int(f, "image-size");
        in.x =
            heed_input(t, NULL, 4, (int[]){rows, side, side, (int)heed_config_int(f, "channels")});
        heed_random z = heed_random_at(3, "pixels", 0, 0);
        for (size_t i = 0; in.x && i < in.x->size; i++)
            in.x->x[i] = (heed_real)heed_random_normal(&z, i);
        return in;
    }
    int read = target ? source : len;
    int words = target && !heed_config_bool(f, "share-vocab") && heed_config_int(f, "source-vocab")
                    ? (int)heed_config_int(f, "source-vocab")
                    : vocab;
    in.x = ids(t, rows, read, words);
    in.pad = ids(t, rows, read, 1);
    for (int i = 0; in.pad && i < rows * read; i++)
        in.pad->i[i] = i % read == 0 || i % read < read - i / read % 3;
    int types = heed_config_has(f, "token-types") ? (int)heed_config_int(f, "token-types") : 0;
    if ((kind->open && !kind->files) || types > 0) in.types = ids(t, rows, read, types > 1 ? 2 : 1);
    return in;
}

static void pass(const heed_run *r, int k, heed_params *out) {
    int most = heed_config_has(r->config, "block") ? (int)heed_config_int(r->config, "block") : 8;
    int rows[] = {1, 2, 4}, len[] = {most > 3 ? 3 : 1, most, most > 2 ? 2 : most},
        source[] = {most > 4 ? 4 : most, 1, most};
    heed_probe(r->tape, "*.weights", false);
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_model_input in = inputs(r, r->tape, rows[k], len[k], source[k]);
    const char *path;
    bool picture = r->model->data->images;
    put(out, k, picture ? "picture" : r->model->data->target ? "source" : "ids", in.x);
    put(out, k, "hidden", hidden_of(r, r->tape, in.masked_positions, rows[k]));
    put(out, k, "mask", in.pad);
    put(out, k, "types", in.types);
    put(out, k, "target", in.target);
    put(out, k, "logits", r->model->logits(r->self, r->tape, &in));
    for (int i = 0; i < heed_probe_count(r->tape); i++) {
        const heed_tensor *x = heed_probe_at(r->tape, i, &path);
        put(out, k, path, x);
    }
}

/* ---- a case ---- */

static bool write_one(const char *folder, const job *j) {
    char name[200], path[400];
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run r = open_model(c, j);
    snprintf(name, sizeof name, "%s%s%s", j->model, *j->name ? " " : "", j->name);
    for (char *s = name; *s; s++)
        if (*s == ' ') *s = '-';
    heed_params *out = heed_params_new(c);
    for (int k = 0; k < 3 && heed_ctx_status(c) == HEED_OK; k++) pass(&r, k, out);
    for (int i = 0; i < heed_params_count(r.store); i++) {
        const heed_param *e = heed_params_at(r.store, i);
        char full[300];
        snprintf(full, sizeof full, "w.%s", e->name);
        heed_tensor *x = heed_buffer_new(out, full, "zero", e->tensor->dims, e->tensor->shape);
        if (x) memcpy(x->x, e->tensor->x, x->size * sizeof *x->x);
    }
    snprintf(path, sizeof path, "%s/%s.safetensors", folder, name);
    heed_save(out, path);
    snprintf(path, sizeof path, "%s/%s.onnx", folder, name);
    remove(path);
    bool ok = heed_export_onnx(&r, path, j->cache);
    if (!ok) printf("%s: %s\n", name, heed_ctx_error(c));
    free(r.self);
    heed_close(c);
    return ok;
}

int main(int argc, char **argv) {
    int bad = 0;
    if (argc != 2 && argc < 5) {
        fputs("usage: onnx FOLDER [MODEL NAME SETTINGS [cache]]\n", stderr);
        return 2;
    }
    if (argc > 4) return !write_one(argv[1], &(job){argv[2], argv[3], argv[4], argc > 5});
    for (const heed_model *const *m = heed_models; *m; m++)
        for (const heed_model_case *k = (*m)->cases; k && k->name; k++)
            bad += !write_one(argv[1], &(job){(*m)->name, k->name, k->settings, false});
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) bad += !write_one(argv[1], &more[i]);
    return bad > 0;
}
