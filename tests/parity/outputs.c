/* outputs.c -- what a run computes of given inputs, for exchange.py.
 *
 *     parity-outputs RUN IN.safetensors OUT.safetensors     IN: ids, pad, types (rows,len), or
 * pixels (rows,H,W,channels) parity-outputs RUN FILE OUT.safetensors               a picture, or a
 * text of at most 4095 bytes
 *
 * OUT: logits and weights.LAYER (B,heads,T,T); of a file also what the run reads of it, as pixels
 * or ids. */
#include "io/io.h"

#include <heed/models.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    heed_run *r;
    heed_safetensors *in;
    heed_params *out;
} pass;

static heed_tensor *indices(pass *p, const char *name) {
    const heed_array *a = heed__safetensors_find(p->in, name);
    if (!a || a->dims != 2 || strcmp(a->dtype, "I32") != 0) return NULL;
    int32_t ids[1 << 12];
    if (a->bytes > sizeof ids) return NULL;
    memcpy(ids, a->data, a->bytes);
    return heed_ids(p->r->tape, ids, (int)a->shape[0], (int)a->shape[1]);
}

static heed_tensor *pixels(pass *p) {
    const heed_array *a = heed__safetensors_find(p->in, "pixels");
    if (!a || a->dims != 4 || strcmp(a->dtype, "F32") != 0) return NULL;
    int shape[4];
    for (int i = 0; i < 4; i++) shape[i] = (int)a->shape[i];
    heed_tensor *x = heed_input(p->r->tape, NULL, 4, shape);
    for (size_t i = 0; x && i < x->size; i++) {
        float v;
        memcpy(&v, a->data + i * sizeof v, sizeof v);
        x->x[i] = (heed_real)v;
    }
    return x;
}

static void put(pass *p, const char *name, const heed_tensor *from) {
    heed_tensor *x = from ? heed_buffer_new(p->out, name, "zero", from->dims, from->shape) : NULL;
    if (x) memcpy(x->x, from->x, x->size * sizeof *x->x);
}

static heed_tensor *picture(pass *p, const char *path) {
    heed_ctx *c = p->r->c;
    heed_reader reader = heed_run_reader(p->r);
    heed_picture read = {0};
    heed_example e = {0};
    char why[HEED_WHY];
    heed_tensor *x = NULL;
    if (heed_picture_read(path, &read, why) != HEED_OK)
        heed_fail(c, HEED_DATA, "%s: %s", path, why);
    else if (heed_example_picture(&reader, &read, path, &e))
        x = heed_input(p->r->tape, e.x, 4,
                       (int[]){1, e.transform.size, e.transform.size, e.transform.channels});
    put(p, "pixels", x);
    heed_example_free(&e);
    heed_picture_free(&read);
    return x;
}

static heed_tensor *text(pass *p, const char *path) {
    char s[4096];
    heed_reader reader = heed_run_reader(p->r);
    heed_example e = {0};
    heed_tensor *x = NULL;
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(s, 1, sizeof s - 1, f) : 0;
    if (f) fclose(f);
    if (heed_example_text(&reader, s, n, &e))
        x = heed_ids(p->r->tape, e.text.tokens.ids, 1, (int)e.text.tokens.count);
    heed_tensor *ids = x ? heed_buffer_new(p->out, "ids", "zero", 1, &x->shape[1]) : NULL;
    for (size_t i = 0; ids && i < ids->size; i++) ids->x[i] = (heed_real)e.text.tokens.ids[i];
    heed_example_free(&e);
    return x;
}

static void run(pass *p, const heed_model_input *in) {
    heed_attention_info at;
    const heed_model *m = p->r->model;
    put(p, "logits", m->logits(p->r->self, p->r->tape, in));
    for (int i = 0; m->attending(p->r->self, i, &at); i++) {
        char path[128], name[32];
        snprintf(path, sizeof path, "%s.weights", at.path);
        snprintf(name, sizeof name, "weights.%d", i);
        put(p, name, heed_probe_find(p->r->tape, path));
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fputs("usage: parity-outputs RUN IN.safetensors|FILE OUT.safetensors\n", stderr);
        return 2;
    }
    heed_ctx *c = heed_open(NULL);
    pass p = {.r = heed_run_open(c, argv[1], heed_models, NULL), .out = heed_params_new(c)};
    const char *dot = strrchr(argv[2], '.');
    bool arrays = dot && strcmp(dot, ".safetensors") == 0;
    if (p.r && arrays) p.in = heed_safetensors_open(c, argv[2]);
    if (p.r && (p.in || !arrays)) {
        heed_probe(p.r->tape, "*.weights", false);
        heed_tape_begin(p.r->tape, HEED_EVAL, 0);
        heed_model_input in = {0};
        if (!arrays)
            in.x = p.r->model->data->images ? picture(&p, argv[2]) : text(&p, argv[2]);
        else if (!(in.x = indices(&p, "ids")))
            in.x = pixels(&p);
        if (arrays) in.pad = indices(&p, "pad"), in.types = indices(&p, "types");
        if (in.x) run(&p, &in);
    }
    bool ok = heed_ctx_status(c) == HEED_OK && heed_save(p.out, argv[3]);
    if (!ok) fprintf(stderr, "parity-outputs: %s\n", heed_ctx_error(c));
    heed_close(c);
    return !ok;
}
