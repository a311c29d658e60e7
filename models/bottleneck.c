/* bottleneck.c -- a picture through few numbers. Hinton & Salakhutdinov 2006; with convolutions,
 * Masci et al. 2011. */
#include "bottleneck.h"

#include <stdio.h>

/* ---- parameters ---- */

static void dense_init(bottleneck *m, heed_store *s, const heed_config *f, int code) {
    int pixels = m->size * m->size * m->channels, hidden = heed__model_int(f, "hidden");
    int inner = m->depth ? hidden : pixels;
    char name[48];
    for (int i = 0; i < m->depth; i++) {
        snprintf(name, sizeof name, "encoder.hidden.%d", i);
        heed_linear_init(&m->down[i], s, name,
                         (heed_linear_args){.in = i ? hidden : pixels, .out = hidden});
    }
    heed_linear_init(&m->code, s, "encoder.code", (heed_linear_args){.in = inner, .out = code});
    for (int i = 0; i < m->depth; i++) {
        snprintf(name, sizeof name, "decoder.hidden.%d", i);
        heed_linear_init(&m->up[i], s, name,
                         (heed_linear_args){.in = i ? hidden : code, .out = hidden});
    }
    heed_linear_init(&m->out, s, "decoder.out",
                     (heed_linear_args){.in = m->depth ? hidden : code, .out = pixels});
}

/* 3 x 3 with stride 2: a side of n becomes ceil(n / 2). Transposed, an even side needs one row and
 * column more. */
static heed_conv_layer_args half(int in, int out, int side, bool transposed) {
    int extra = transposed && side % 2 == 0;
    return (heed_conv_layer_args){
        .in = in,
        .out = out,
        .size = {3, 3},
        .conv = {.stride = {2, 2}, .pad = {1, 1}, .extra = {extra, extra}},
        .transposed = transposed};
}

static void conv_init(bottleneck *m, heed_store *s, const heed_config *f, int code) {
    int planes[BOTTLENECK_DEPTH + 1] = {m->channels};
    char name[48];
    m->sides[0] = m->size;
    for (int i = 0; i < m->depth; i++) {
        planes[i + 1] = heed__model_int(f, "filters") << i;
        m->sides[i + 1] = (m->sides[i] + 1) / 2;
        snprintf(name, sizeof name, "encoder.conv.%d", i);
        heed_conv_init(&m->narrow[i], s, name, half(planes[i], planes[i + 1], m->sides[i], false));
    }
    m->planes = planes[m->depth];
    int flat = m->sides[m->depth] * m->sides[m->depth] * m->planes;
    heed_linear_init(&m->code, s, "encoder.code", (heed_linear_args){.in = flat, .out = code});
    heed_linear_init(&m->out, s, "decoder.grid", (heed_linear_args){.in = code, .out = flat});
    for (int i = m->depth - 1; i >= 0; i--) {
        snprintf(name, sizeof name, "decoder.conv.%d", i);
        heed_conv_init(&m->widen[i], s, name, half(planes[i + 1], planes[i], m->sides[i], true));
    }
}

void heed__bottleneck_init(bottleneck *m, heed_store *s, const heed_config *f) {
    int code = heed__model_int(f, "code");
    m->size = heed__model_int(f, "image-size");
    m->channels = heed__model_int(f, "channels");
    m->depth = heed__model_int(f, "depth");
    m->act = heed__model_activation(f, "activation");
    m->convolves = heed__model_is(f, "kind", "conv");
    (m->convolves ? conv_init : dense_init)(m, s, f, code);
}

/* ---- forward ---- */

heed_tensor *heed__bottleneck_encode(const bottleneck *m, heed_tape *t, heed_tensor *x) {
    for (int i = 0; m->convolves && i < m->depth; i++)
        x = heed_activate(t, heed_conv_apply(&m->narrow[i], t, x), m->act);
    if (!x) return NULL;
    x = heed_reshape(t, x, 2, (int[]){x->shape[0], -1});
    for (int i = 0; !m->convolves && i < m->depth; i++)
        x = heed_linear_act(&m->down[i], t, x, m->act);
    return heed_linear_apply(&m->code, t, x);
}

static heed_tensor *widen(const bottleneck *m, heed_tape *t, heed_tensor *z) {
    int side = m->sides[m->depth];
    z = m->depth ? heed_linear_act(&m->out, t, z, m->act) : heed_linear_apply(&m->out, t, z);
    z = heed_reshape(t, z, 4, (int[]){-1, side, side, m->planes});
    for (int i = m->depth - 1; i >= 0; i--) {
        z = heed_conv_apply(&m->widen[i], t, z);
        if (i > 0) z = heed_activate(t, z, m->act);
    }
    return z;
}

heed_tensor *heed__bottleneck_decode(const bottleneck *m, heed_tape *t, heed_tensor *z) {
    if (m->convolves) return widen(m, t, z);
    for (int i = 0; i < m->depth; i++) z = heed_linear_act(&m->up[i], t, z, m->act);
    return heed_reshape(t, heed_linear_apply(&m->out, t, z), 4,
                        (int[]){-1, m->size, m->size, m->channels});
}
