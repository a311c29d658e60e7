/* patches.c -- a picture as a sequence of patches through a transformer's encoder. Dosovitskiy et
 * al. 2021, sec. 3.1. */
#include "parts.h"

#include <stdio.h>
#include <string.h>

/* ---- the size of a patch ---- */

/* Returns the divisor of `size` closest to `to` by ratio, at most `most`. */
static int nearest_divisor(int size, double to, int most) {
    int best = 1;
    for (int p = 1; p <= most; p++) {
        double was = best > to ? best / to : to / best, is = p > to ? p / to : to / p;
        if (size % p == 0 && is <= was) best = p;
    }
    return best;
}

/* So few that a picture trains in a millisecond: 4 patches a side for small pictures, 8 for large.
 */
static int usual_patch(int size) {
    return nearest_divisor(size, size > 56 ? size / 8.0 : 7, size < 4 ? size : size / 4);
}

/* More than 16 patches a side are hundreds in total, and attention is quadratic in them. */
static bool few_patches(int size, int patch) { return size / patch <= 16; }

static bool refuse_size(heed_ctx *c, int size, int patch) {
    int by = 1; /* about every second size has a suitable divisor */
    while (!few_patches(size - by, usual_patch(size - by)) &&
           !few_patches(size + by, usual_patch(size + by)))
        by++;
    int good = few_patches(size - by, usual_patch(size - by)) ? size - by : size + by;
    return heed_fail(
        c, HEED_USAGE,
        "no usual patch size divides the picture: `image-size` %d: expected at most 16 a side, "
        "found %d of %d pixels; hint: `image-size = %d`, or `patch = %d` for as many as that",
        size, size / patch, patch, good, patch);
}

static bool refuse_patch(heed_ctx *c, int size, int patch) {
    char list[128] = "";
    for (int p = 1; p <= size; p++) {
        size_t n = strlen(list);
        if (size % p == 0) snprintf(list + n, sizeof list - n, "%s%d", n ? ", " : "", p);
    }
    return heed_fail(c, HEED_USAGE,
                     "patches do not divide the picture: `patch`: expected a divisor of image-size "
                     "%d (%s), found %d; hint: `patch = %d`",
                     size, list, patch, nearest_divisor(size, patch, size));
}

/* ---- parameters ---- */

const heed_option heed__patch_options[] = {
    HEED_SHARED(patch_settings, picture.size, "image-size"),
    HEED_SHARED(patch_settings, picture.channels, "channels"),
    HEED_ROW(patch_settings, patch, "patch", "0", .max = 4096,
             .help = "side of a patch in pixels; 0: 4 patches a side of small pictures, 8 of large "
                     "ones"),
    HEED_ROW(patch_settings, pool, "pool", "cls", .choices = "cls|mean",
             .help = "the head reads a [CLS] token, or the mean of the patches"),
    HEED_ROW(patch_settings, stack.positions, "positions", "learned",
             .choices = "learned|sinusoidal|none|rotary",
             .help = "encoding of positions; sinusoidal: of row and column; rotary: of the place "
                     "in the sequence, row by row after [CLS]"),
    HEED_ROWS(patch_settings, stack, heed__stack_options, "width=64 norm-eps=1e-12"),
    HEED_ROW(patch_settings, stack.final_norm, "final-norm", "true",
             .help = "layer norm after the last block"),
    HEED_ROW(patch_settings, stack.scale_residual, "scale-residual", "false",
             .help = "initial deviation of sublayers' output weights: init-std / sqrt(2 layers)"),
    {0}};

static void embeddings(patch_encoder *m, heed_params *s, const patch_settings *set) {
    int width = m->stack.width;
    bool cls = is(set->pool, "cls");
    heed_scope_push(s, "embed");
    if (cls)
        m->cls = heed_param_new(s, "cls", heed__stack_init_or(&m->stack, "normal:0.02"), 3,
                                (int[]){1, 1, width});
    heed_patch_embed_init(&m->patch, s, "patch", m->channels, m->side, width,
                          heed__stack_init_or(&m->stack, NULL));
    heed_position_init(&m->position, s, "position", heed__patches_positions(set),
                       heed__patches_count(m) + cls, width);
    heed_dropout_layer_init(&m->drop, s, "drop", set->stack.block.dropout);
    heed_scope_pop(s);
    heed_set_decay(s, "embed.cls", false);
    heed_set_decay(s, "embed.position.*", false);
    heed_set_rows(s, "embed.position.*", HEED_ROWS_GRID);
}

heed_position_kind heed__patches_positions(const patch_settings *set) {
    heed_position_kind positions = heed__positions(set->stack.positions);
    return positions == HEED_SINUSOIDAL ? HEED_SINUSOIDAL_2D : positions;
}

int heed__patches_count(const patch_encoder *m) {
    int across = m->size / m->side;
    return across * across;
}

bool heed__patches_init(patch_encoder *m, heed_params *s, const patch_settings *set) {
    heed_ctx *c = heed_params_ctx(s);
    m->size = set->picture.size;
    m->channels = set->picture.channels;
    m->side = set->patch;
    if (m->side == 0) {
        m->side = usual_patch(m->size);
        if (!few_patches(m->size, m->side)) return refuse_size(c, m->size, m->side);
    }
    if (m->size % m->side) return refuse_patch(c, m->size, m->side);
    heed__stack_read(&m->stack, &set->stack);
    embeddings(m, s, set);
    heed__stack_make(&m->stack, s, &set->stack, "encoder", false);
    return true;
}

/* ---- forward ---- */

/* x (B,n,d) -> (B,n+1,d): puts the same token before the patches of each picture. Eq. 1. */
static heed_tensor *with_cls(const patch_encoder *m, heed_tape *t, heed_tensor *x) {
    if (!x || !m->cls) return x;
    heed_tensor *zero = heed_input(t, NULL, 3, (int[]){x->shape[0], 1, m->stack.width});
    return heed_concat(t, 1, 2, (heed_tensor *[]){heed_add(t, zero, m->cls), x});
}

static heed_tensor *embedded(const patch_encoder *m, heed_tape *t, heed_tensor *x,
                             heed_tensor *seen) {
    x = heed_patch_embed_apply(&m->patch, t, x); /* (B,n,d), row by row */
    x = heed_position_apply(&m->position, t, with_cls(m, t, x), 0);
    if (seen) x = heed_gather(t, x, seen);
    return heed_dropout_layer_apply(&m->drop, t, x);
}

heed_tensor *heed__patches_encode(const patch_encoder *m, heed_tape *t, heed_tensor *x,
                                  heed_tensor *seen) {
    return heed__stack_apply(&m->stack, t, embedded(m, t, x, seen), NULL, NULL);
}

heed_tensor *heed__patches_features(const patch_encoder *m, heed_tape *t, heed_tensor *x) {
    if (!m->cls || heed__stack_all_rows(&m->stack, t))
        return heed__patches_pool(m, t, heed__patches_encode(m, t, x, NULL));
    x = embedded(m, t, x, NULL);
    heed_tensor *rows = x ? heed_new_ids(t, 1, &x->shape[0]) : NULL;
    for (int b = 0; rows && b < x->shape[0]; b++) rows->i[b] = b * x->shape[1];
    return heed__stack_norm(&m->stack, t, heed__stack_rows(&m->stack, t, x, rows, NULL));
}

heed_tensor *heed__patches_pool(const patch_encoder *m, heed_tape *t, heed_tensor *x) {
    if (!x) return NULL;
    if (m->cls)
        x = heed__stack_norm(&m->stack, t, heed_slice(t, x, 1, 0, 1));
    else
        x = heed_mean_dim(t, heed__stack_norm(&m->stack, t, x), 1);
    return heed_reshape(t, x, 2, (int[]){-1, m->stack.width});
}

bool heed__patches_grid(const patch_encoder *m, heed_grid *out) {
    int across = m->size / m->side;
    *out = (heed_grid){.rows = across, .cols = across, .first = m->cls != NULL};
    return true;
}

bool heed__patches_chosen(const patch_encoder *m, heed_config *f) {
    char patch[16];
    if (!heed_config_has(f, "patch")) return true; /* of another model that starts from this one */
    snprintf(patch, sizeof patch, "%d", m->side);
    return heed_config_set(f, "patch", patch, "vit", HEED_FROM_DEFAULT);
}
