/* forward.c -- one eval pass of mlm or gpt on given weights and ids, for interop.py.
 *
 *     forward mlm|gpt IN.safetensors OUT.safetensors
 *
 * IN: w.PARAMETER, ids and for mlm pad and types (rows,len); its metadata are settings. OUT: logits
 * and weights.LAYER (B,heads,T,T). */
#include <heed/models.h>

#include <heed/heed.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    heed_ctx *c;
    heed_safetensors *in;
    const heed_model *model;
    heed_store *weights, *out;
    heed_tape *t;
    void *self;
} pass;

static bool build(pass *p) {
    const heed_option *tables[] = {p->model->options, NULL};
    heed_config *f = heed_config_new(p->c, tables);
    for (int i = 0; i < heed_config_count(f); i++) {
        const char *value, *key = heed_config_at(f, i, &value)->name;
        const char *given = heed_safetensors_meta(p->in, key);
        if (given) heed_config_set(f, key, given, key, HEED_FROM_FLAG);
    }
    p->self = calloc(1, p->model->size);
    return p->self && p->model->init(p->self, p->weights, f);
}

static bool fill(pass *p) {
    for (int i = 0; i < heed_store_count(p->weights); i++) {
        heed_tensor *x = heed_store_at(p->weights, i)->tensor;
        char key[160];
        snprintf(key, sizeof key, "w.%s", heed_store_at(p->weights, i)->name);
        const heed_array *a = heed_safetensors_find(p->in, key);
        if (!a || strcmp(a->dtype, "F32") != 0 || a->bytes != x->size * sizeof(float))
            return heed_fail(p->c, HEED_DATA, "%s is absent or of another size", key);
        for (size_t j = 0; j < x->size; j++) {
            float v;
            memcpy(&v, a->data + j * sizeof v, sizeof v);
            x->x[j] = (heed_real)v;
        }
    }
    return true;
}

static heed_tensor *indices(pass *p, const char *name) {
    const heed_array *a = heed_safetensors_find(p->in, name);
    if (!a || a->dims != 2 || strcmp(a->dtype, "I32") != 0) return NULL;
    int32_t *x = malloc(a->bytes);
    if (x) memcpy(x, a->data, a->bytes);
    heed_tensor *y = heed_ids(p->t, x, (int)a->shape[0], (int)a->shape[1]);
    free(x);
    return y;
}

static void put(pass *p, const char *name, const heed_tensor *from) {
    if (!from) return;
    heed_tensor *x = heed_state_new(p->out, name, "zero", from->dims, from->shape);
    if (x) memcpy(x->x, from->x, x->size * sizeof *x->x);
}

static bool run(pass *p) {
    heed_probe(p->t, "*.attn.weights", false);
    heed_tape_begin(p->t, HEED_EVAL, 0);
    heed_model_input in = {.x = indices(p, "ids")};
    if (p->model == &heed_model_mlm) {
        in.types = indices(p, "types");
        in.pad = indices(p, "pad");
    }
    put(p, "logits", p->model->logits(p->self, p->t, &in));
    for (int i = 0; i < heed_probe_count(p->t); i++) {
        char name[32];
        const char *path;
        snprintf(name, sizeof name, "weights.%d", i);
        put(p, name, heed_probe_at(p->t, i, &path));
    }
    return heed_ctx_status(p->c) == HEED_OK;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fputs("usage: forward mlm|gpt IN.safetensors OUT.safetensors\n", stderr);
        return 2;
    }
    heed_ctx *c = heed_open(NULL);
    pass p = {.c = c,
              .in = heed_safetensors_open(c, argv[2]),
              .model = strcmp(argv[1], "gpt") == 0 ? &heed_model_gpt : &heed_model_mlm,
              .weights = heed_store_new(c),
              .out = heed_store_new(c),
              .t = heed_tape_new(c)};
    bool ok = build(&p) && fill(&p) && run(&p) && heed_save(p.out, argv[3]);
    if (!ok) fprintf(stderr, "forward: %s\n", heed_ctx_error(c));
    free(p.self);
    heed_close(c);
    return !ok;
}
