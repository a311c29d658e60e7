/* convnet.c -- a small residual network from a picture to a grid of features. He et al. 2016,
 * sec. 3.3. */
#include "parts.h"

#include <stdio.h>

static void stage(convnet *m, heed_params *s, const convnet_args *a, int index, int in) {
    for (int i = 0; i < a->blocks; i++) {
        char name[48];
        snprintf(name, sizeof name, "stage.%d.%d", index, i);
        heed_conv_block_init(&m->block[m->count++], s, name,
                             (heed_conv_block_args){.in = i ? m->out : in,
                                                    .out = m->out,
                                                    .stride = i || index == 0 ? 1 : 2,
                                                    .no_norm = a->no_norm,
                                                    .no_residual = a->no_residual,
                                                    .dropout = a->dropout});
    }
}

void heed__convnet_init(convnet *m, heed_params *s, convnet_args a) {
    m->out = a.width;
    heed_scope_push(s, "stem");
    heed_conv_init(&m->stem, s, "conv",
                   (heed_conv_layer_args){.in = a.channels,
                                          .out = a.width,
                                          .size = {3, 3},
                                          .conv = {.stride = {a.stride, a.stride}, .pad = {1, 1}},
                                          .no_bias = !a.no_norm});
    if (!a.no_norm) heed_batchnorm_init(&m->norm, s, "norm", a.width);
    heed_scope_pop(s);
    for (int i = 0; i < a.stages; i++) {
        int in = m->out;
        if (i > 0) m->out *= 2;
        stage(m, s, &a, i, in);
    }
}

heed_tensor *heed__convnet_apply(const convnet *m, heed_tape *t, heed_tensor *x) {
    x = heed_conv_apply(&m->stem, t, x);
    if (m->norm.gain) x = heed_batchnorm_apply(&m->norm, t, x);
    x = heed_relu(t, x);
    for (int i = 0; i < m->count; i++) x = heed_conv_block_apply(&m->block[i], t, x);
    return x;
}
