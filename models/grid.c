/* grid.c -- a picture as a grid of features. Xu et al. 2015, sec. 3.1.1; Dosovitskiy et al. 2021.
 */
#include "grid.h"

#include <stdio.h>

/* The first convolution and each stage but the first halve the sides. */
static void network(grid_encoder *m, heed_store *s, const heed_config *f) {
    enum { USUAL_SIDE = 8 };
    int most = heed__model_int(f, "stages"), stages = 1, side = (m->size + 1) / 2;
    bool usual = most == 0;
    if (usual) most = CONVNET_STAGES;
    for (; stages < most && (!usual || side > USUAL_SIDE); stages++) side = (side + 1) / 2;
    m->cells = (heed_grid){.rows = side, .cols = side};
    heed_scope(s, "encoder");
    heed__convnet_init(&m->net, s,
                       (convnet_args){.channels = m->channels,
                                      .width = heed__model_int(f, "filters"),
                                      .stride = 2,
                                      .stages = stages,
                                      .blocks = 1,
                                      .dropout = heed__model_real(f, "dropout")});
    heed_linear_init(&m->out, s, "grid", (heed_linear_args){.in = m->net.out, .out = m->width});
    heed_unscope(s);
}

/* Rotary positions are those of the words. */
static void positions(grid_encoder *m, heed_store *s, const heed_config *f) {
    heed_position_kind kind = heed__model_is(f, "positions", "none")      ? HEED_NO_POSITIONS
                              : heed__model_is(f, "positions", "learned") ? HEED_LEARNED
                                                                          : HEED_SINUSOIDAL_2D;
    heed_scope(s, "embed");
    heed_position_init(&m->place, s, "grid_position", kind, heed__grid_count(m), m->width);
    heed_drop_init(&m->drop, s, "grid_drop", heed__model_real(f, "dropout"));
    heed_unscope(s);
}

bool heed__grid_init(grid_encoder *m, heed_store *s, const heed_config *f) {
    m->size = heed__model_int(f, "image-size");
    m->channels = heed__model_int(f, "channels");
    m->width = heed__model_int(f, "width");
    m->patches = heed__model_is(f, "encoder", "vit");
    if (m->patches) {
        if (!heed__patches_init(&m->vit, s, f)) return false;
        for (int i = 0; i < m->vit.stack.layers; i++) /* only the attention to the grid is hard */
            m->vit.stack.block[i].attn.args.hard = false;
        return heed__patches_grid(&m->vit, &m->cells);
    }
    network(m, s, f);
    positions(m, s, f);
    return true;
}

bool heed__grid_chosen(const grid_encoder *m, heed_config *f) {
    char stages[16];
    if (m->patches) return heed__patches_chosen(&m->vit, f);
    snprintf(stages, sizeof stages, "%d", m->net.count); /* blocks, one in each stage */
    return heed_config_set(f, "stages", stages, "caption", HEED_FROM_DEFAULT);
}

int heed__grid_count(const grid_encoder *m) {
    return m->cells.first + m->cells.rows * m->cells.cols;
}

static heed_tensor *patches(const grid_encoder *m, heed_tape *t, heed_tensor *x,
                            heed_tensor **mean) {
    x = heed__patches_encode(&m->vit, t, x, NULL);
    *mean = heed__patches_pool(&m->vit, t, x);
    return x ? heed__stack_norm(&m->vit.stack, t, x) : NULL;
}

heed_tensor *heed__grid_apply(const grid_encoder *m, heed_tape *t, heed_tensor *x,
                              heed_tensor **mean) {
    if (!x) return NULL;
    if (x->dims != 4 || x->shape[1] != m->size || x->shape[2] != m->size ||
        x->shape[3] != m->channels) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "picture does not fit the model: expected %d x %d pixels of %d channels", m->size,
                  m->size, m->channels);
        return NULL;
    }
    if (m->patches) return patches(m, t, x, mean);
    x = heed__convnet_apply(&m->net, t, x);
    x = heed_linear_apply(&m->out, t, x);
    if (!x) return NULL;
    int rows = x->shape[0];
    x = heed_reshape(heed_at(t, "embed.patch"), x, 3, (int[]){rows, -1, m->width});
    x = heed_drop_apply(&m->drop, t, heed_position_apply(&m->place, t, x, 0));
    *mean = heed_reshape(t, heed_mean_dim(t, x, 1), 2, (int[]){rows, m->width});
    return x;
}
