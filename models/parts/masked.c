/* masked.c -- a masked auto-encoder: the encoder reads the visible patches alone; a small decoder
 * reads its output and, in the place of each hidden patch, a trained vector. He et al. 2022,
 * sec. 3.
 */
#include "masked.h"

#include <math.h>
#include <stdio.h>

/* ---- parameters ---- */

/* A patch less its mean, over sqrt(variance + TINY). */
static const heed_real TINY = (heed_real)1e-6;

static void decoder_init(masked_patches *m, heed_store *s, const heed_config *f) {
    const patch_encoder *e = &m->encoder;
    int width = heed__model_int(f, "decoder-width"), heads = heed__model_int(f, "decoder-heads");
    const char *init = heed__stack_init_or(&e->stack, NULL);
    m->stack = (block_stack){.layers = heed__model_int(f, "decoder-layers"),
                             .width = width ? width : (e->stack.width + 1) / 2,
                             .all_rows = e->stack.all_rows,
                             .beta = e->stack.beta};
    width = m->stack.width;
    heed_block_args args = heed__stack_block_args(&m->stack, f, false);
    args.attn.heads = heads ? heads : args.attn.heads;
    args.attn.key = args.attn.value = args.attn.kv_heads = 0;
    args.attn.init = args.mlp.init = init;
    args.mlp.inner = args.mlp.gated ? (width + 2) / 3 * 8 : 4 * width;
    heed_linear_init(&m->narrow, s, "decoder.embed",
                     (heed_linear_args){.in = e->stack.width, .out = width, .init = init});
    m->mask = heed_param(s, "decoder.mask", heed__stack_init_or(&e->stack, "normal:0.02"), 2,
                         (int[]){1, width});
    heed_position_init(&m->position, s, "decoder.position", heed__patches_positions(f),
                       heed__patches_count(e) + (e->cls != NULL), width);
    for (int i = 0; i < m->stack.layers; i++) {
        char name[48];
        snprintf(name, sizeof name, "decoder.%d", i);
        heed_block_init(&m->stack.block[i], s, name, args);
    }
    heed_norm_init(&m->stack.final_norm, s, "decoder.norm", heed__model_norm(f, width));
    heed_linear_init(
        &m->head, s, "decoder.head",
        (heed_linear_args){.in = width, .out = e->side * e->side * e->channels, .init = init});
    heed_set_decay(s, "decoder.mask", false);
    heed_set_decay(s, "decoder.position.*", false);
    heed_set_rows(s, "decoder.position.*", HEED_ROWS_GRID);
}

bool heed__masked_init(masked_patches *m, heed_store *s, const heed_config *f) {
    if (heed__model_is(f, "positions", "rotary"))
        return heed_fail(heed_store_ctx(s), HEED_USAGE,
                         "`positions = rotary` does not fit `kind = masked`: it counts places in "
                         "the sequence, from which patches are missing; hint: `positions = "
                         "learned`");
    if (!heed__patches_init(&m->encoder, s, f)) return false;
    int patches = heed__patches_count(&m->encoder);
    if (patches < 2)
        return heed_fail(heed_store_ctx(s), HEED_USAGE,
                         "there is nothing to predict a hidden patch from: `patch`: expected at "
                         "least 2 patches, found 1");
    m->hidden = (int)lround(heed_config_real(f, "hide") * patches);
    if (m->hidden < 1) m->hidden = 1;
    if (m->hidden > patches - 1) m->hidden = patches - 1;
    m->norm_target = heed_config_bool(f, "norm-target");
    decoder_init(m, s, f);
    return true;
}

/* ---- which positions ---- */

/* Rows by which the encoder gathers what it sees, and the decoder all patches. With p = n + 1
 * positions of a picture, or n without CLS, of which the encoder sees v: */
typedef struct {
    heed_tensor *seen; /* (B,v): of the embeddings (B p) */
    heed_tensor *back; /* (B,p): of the encoder's output (B v), followed by the mask */
} places;

static bool wrong_mask(heed_tape *t, int patches) {
    return heed_fail(heed_tape_ctx(t), HEED_USAGE,
                     "hidden patches are wrong: expected as many different ones of each picture, "
                     "fewer than its %d patches",
                     patches);
}

/* Marks the hidden patches of picture b by -1 in back. */
static bool mark(const heed_tensor *hide, int b, int hidden, int patches, int first,
                 heed_tensor *back) {
    for (int i = 0; i < hidden; i++) {
        int at = hide->i[b * hidden + i] - b * patches;
        if (at < 0 || at >= patches) return false;
        int32_t *place = &back->i[b * (patches + first) + first + at];
        if (*place < 0) return false;
        *place = -1;
    }
    return true;
}

static bool find_places(const masked_patches *m, heed_tape *t, int rows, const heed_tensor *hide,
                        places *out) {
    int first = m->encoder.cls != NULL, patches = heed__patches_count(&m->encoder);
    int hidden = (int)hide->size / rows, all = patches + first, v = all - hidden;
    if (hide->size % (size_t)rows || hidden >= patches) return wrong_mask(t, patches);
    out->seen = heed_new_ids(t, 2, (int[]){rows, v});
    out->back = heed_new_ids(t, 2, (int[]){rows, all});
    if (!out->seen || !out->back) return false;
    for (int b = 0; b < rows; b++) {
        int at = b * v;
        if (!mark(hide, b, hidden, patches, first, out->back)) return wrong_mask(t, patches);
        for (int i = b * all; i < (b + 1) * all; i++) {
            bool is_hidden = out->back->i[i] < 0;
            out->back->i[i] = is_hidden ? rows * v : at;
            if (!is_hidden) out->seen->i[at++] = i;
        }
    }
    return true;
}

/* ---- forward ---- */

/* What the decoder's blocks read, of every position. */
static heed_tensor *decoder_input(const masked_patches *m, heed_tape *t, heed_tensor *x,
                                  heed_tensor *hide) {
    const patch_encoder *e = &m->encoder;
    places at = {NULL, NULL};
    int width = m->stack.width;
    if (!x || (hide && !find_places(m, t, x->shape[0], hide, &at))) return NULL;
    x = heed__stack_norm(&e->stack, t, heed__patches_encode(e, t, x, at.seen));
    x = heed_linear_apply(&m->narrow, t, x); /* (B,v,d') */
    if (hide) {
        x = heed_reshape(t, x, 2, (int[]){-1, width});
        x = heed_concat(t, 0, 2, (heed_tensor *[]){x, m->mask});
        x = heed_gather(t, x, at.back); /* (B,p,d') */
    }
    return heed_position_apply(&m->position, t, x, 0);
}

heed_tensor *heed__masked_decode(const masked_patches *m, heed_tape *t, heed_tensor *x,
                                 heed_tensor *hide) {
    const patch_encoder *e = &m->encoder;
    x = heed__stack_apply(&m->stack, t, decoder_input(m, t, x, hide), NULL, NULL);
    x = heed__stack_norm(&m->stack, t, x);
    return e->cls ? heed_slice(t, x, 1, 1, heed__patches_count(e)) : x;
}

heed_tensor *heed__masked_hidden(const masked_patches *m, heed_tape *t, heed_tensor *x,
                                 heed_tensor *hide) {
    if (heed__stack_all_rows(&m->stack, t))
        return heed_gather(t, heed__masked_decode(m, t, x, hide), hide);
    int patches = heed__patches_count(&m->encoder), first = m->encoder.cls != NULL;
    x = decoder_input(m, t, x, hide);
    heed_tensor *rows = x ? heed_new_ids(t, hide->dims, hide->shape) : NULL;
    for (size_t r = 0; rows && r < rows->size; r++)
        rows->i[r] = hide->i[r] + first * (hide->i[r] / patches + 1); /* after every CLS so far */
    return heed__stack_norm(&m->stack, t, heed__stack_rows(&m->stack, t, x, rows, NULL));
}

heed_tensor *heed__masked_predict(const masked_patches *m, heed_tape *t, heed_tensor *decoded) {
    heed_tensor *y = heed_linear_apply(&m->head, t, decoded);
    return y ? heed_reshape(t, y, 2, (int[]){-1, y->shape[y->dims - 1]}) : NULL;
}

/* ---- patches and pictures ---- */

heed_tensor *heed__masked_rows(const masked_patches *m, heed_tape *t, heed_tensor *x) {
    int side = m->encoder.side, across = m->encoder.size / side, line = side * m->encoder.channels;
    x = heed_reshape(t, x, 4, (int[]){-1, side, across, line});
    x = heed_permute(t, x, (int[]){0, 2, 1, 3}); /* (B across, across, side, line) */
    return heed_reshape(t, x, 2, (int[]){-1, side * line});
}

heed_tensor *heed__masked_picture(const masked_patches *m, heed_tape *t, heed_tensor *rows) {
    const patch_encoder *e = &m->encoder;
    int side = e->side, across = e->size / side, line = side * e->channels;
    rows = heed_reshape(t, rows, 4, (int[]){-1, across, side, line});
    rows = heed_permute(t, rows, (int[]){0, 2, 1, 3});
    return heed_reshape(t, rows, 4, (int[]){-1, e->size, e->size, e->channels});
}

heed_tensor *heed__masked_target(const masked_patches *m, heed_tape *t, heed_tensor *patches) {
    return m->norm_target ? heed_layer_norm(t, patches, NULL, NULL, TINY) : patches;
}

heed_tensor *heed__masked_pixels(const masked_patches *m, heed_tape *t, heed_tensor *predicted,
                                 heed_tensor *patches) {
    if (!m->norm_target) return predicted;
    heed_tensor *mean = heed_mean_dim(t, patches, 1);
    heed_tensor *off = heed_sub(t, patches, mean);
    heed_tensor *variance = heed_mean_dim(t, heed_mul(t, off, off), 1);
    heed_tensor *deviation = heed_sqrt(t, heed_scale(t, variance, 1, TINY));
    return heed_add(t, heed_mul(t, predicted, deviation), mean);
}
