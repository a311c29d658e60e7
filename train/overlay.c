/* overlay.c -- which patches a vit attends to, drawn over the picture. */
#include "overlay.h"

#include "pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HEADS = 16, SIDE = 224 };

void numbered_path(char *out, size_t size, const char *path, int index) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (!dot || (slash && dot < slash)) dot = path + strlen(path);
    if (index < 2)
        snprintf(out, size, "%s", path);
    else
        snprintf(out, size, "%.*s-%d%s", (int)(dot - path), path, index, dot);
}

/* ---- the weights ---- */

/* Attention (1,h,T,T) of the layer, on the run's tape; NULL in error. */
static const heed_tensor *attention_of(const overlay *o, int layer, const heed_picture *p) {
    heed_run *r = o->run;
    heed_view v;
    char name[64];
    if (!view_of(r->c, r->config, &v)) return NULL;
    size_t n = (size_t)v.size * (size_t)v.size * (size_t)v.channels;
    heed_real *x = malloc((n + heed_view_work(p, &v)) * sizeof *x);
    if (!x) {
        heed_fail(r->c, HEED_FAILED, "no memory for a picture");
        return NULL;
    }
    heed_picture_view(p, &v, NULL, NULL, x, x + n);
    snprintf(name, sizeof name, "encoder.%d.attn.weights", layer - 1);
    heed_unprobe(r->tape);
    heed_probe(r->tape, name, false);
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    picture_logits(r->self, r->tape,
                   heed_input(r->tape, x, 4, (int[]){1, v.size, v.size, v.channels}));
    free(x);
    const heed_tensor *w = heed_probe_find(r->tape, name);
    heed_unprobe(r->tape);
    if (!w) heed_fail(r->c, HEED_FAILED, "the model kept no attention weights: %s", name);
    return w;
}

/* Weights of one head on the patches, added to map times share: [CLS]'s row, or the mean of all. */
static void add_head(const heed_tensor *w, int head, bool cls, double share, heed_real *map) {
    int tokens = w->shape[2], patches = tokens - cls, rows = cls ? 1 : tokens;
    for (int row = 0; row < rows; row++) {
        const heed_real *x =
            w->x + ((size_t)head * (size_t)tokens + (size_t)row) * (size_t)tokens + cls;
        for (int i = 0; i < patches; i++) map[i] += (heed_real)(share / rows) * x[i];
    }
}

/* ---- the drawing ---- */

/* The square that the model sees, at most SIDE pixels wide, as bytes; to be freed. */
static unsigned char *square_of(const heed_picture *p, int *side) {
    int least = p->width < p->height ? p->width : p->height;
    heed_box box = {(p->width - least) / 2.0, (p->height - least) / 2.0, least, least};
    *side = least < SIDE ? least : SIDE;
    size_t n = (size_t)*side * (size_t)*side * (size_t)p->channels;
    heed_real *x = malloc((n + heed_resize_work(p, *side, *side)) * sizeof *x);
    unsigned char *pixels = x ? malloc(n) : NULL;
    if (pixels) heed_picture_resize(p, box, *side, *side, x, x + n);
    for (size_t i = 0; pixels && i < n; i++)
        pixels[i] = (unsigned char)lround(fmin(fmax((double)x[i], 0), 255));
    free(x);
    return pixels;
}

/* Maps 0: the mean of all heads, then the heads. */
static heed_real *maps_of(const heed_tensor *w, bool cls, int shown) {
    int heads = w->shape[1];
    size_t patches = (size_t)(w->shape[2] - cls);
    heed_real *maps = calloc((size_t)(shown + 1) * patches, sizeof *maps);
    for (int h = 0; maps && h < heads; h++) {
        add_head(w, h, cls, 1.0 / heads, maps);
        if (h < shown) add_head(w, h, cls, 1, maps + (size_t)(h + 1) * patches);
    }
    return maps;
}

static bool draw(const overlay *o, const heed_picture *p, const heed_tensor *w, bool cls,
                 const char *title) {
    const heed_real *at[MOST_HEADS + 1];
    char names[MOST_HEADS + 1][24];
    const char *captions[MOST_HEADS + 1];
    int shown = w->shape[1] < MOST_HEADS ? w->shape[1] : MOST_HEADS, side;
    int patches = w->shape[2] - cls, grid = (int)lround(sqrt(patches));
    heed_real *maps = maps_of(w, cls, shown);
    unsigned char *pixels = square_of(p, &side);
    for (int i = 0; i <= shown; i++) {
        at[i] = maps ? maps + (size_t)i * (size_t)patches : NULL;
        snprintf(names[i], sizeof names[i], i ? "head %d" : "mean of heads", i);
        captions[i] = names[i];
    }
    bool ok = maps && pixels;
    if (!ok) heed_fail(o->run->c, HEED_FAILED, "no memory for a picture of attention");
    heed_overlay drawn = {.title = title,
                          .pixels = pixels,
                          .width = side,
                          .height = side,
                          .channels = p->channels,
                          .rows = grid,
                          .cols = grid,
                          .count = shown + 1,
                          .maps = at,
                          .captions = captions,
                          .cells = o->cells,
                          .uniform = 1.0 / w->shape[2]};
    ok = ok && heed_overlay_png(o->run->c, &drawn, o->path);
    free(maps);
    free(pixels);
    return ok;
}

bool overlay_write(const overlay *o, const heed_picture *p) {
    int layers = (int)heed_config_int(o->run->config, "layers"), layer = o->layer;
    bool cls = strcmp(heed_config_text(o->run->config, "pool"), "cls") == 0;
    char title[256];
    if (layer == 0) layer = layers;
    if (layer > layers)
        return heed_fail(o->run->c, HEED_USAGE, "--layer %d: expected 1 to %d, or 0 for the last",
                         layer, layers);
    const heed_tensor *w = attention_of(o, layer, p);
    snprintf(title, sizeof title, "%s   attention of %s, layer %d of %d", o->title,
             cls ? "[CLS]" : "all patches", layer, layers);
    return w && draw(o, p, w, cls, title);
}
