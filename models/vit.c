/* vit.c -- patches of a picture as the tokens of a transformer: ViT by default. Dosovitskiy et al.
 * 2021, sec. 3.1. */
#include "image.h"
#include "stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    picture_model base;
    heed_conv patch;
    heed_tensor *cls; /* (1,1,d); NULL: the head reads the patches' mean */
    heed_position position;
    heed_drop drop;
    block_stack stack;
} vit;

static const heed_option options[] = {
    IMAGE_OPTIONS,
    WHOLE("patch", "0", 0, 4096,
          "side of a patch in pixels; 0: 4 patches a side of small pictures, 8 of large ones"),
    CHOICE("pool", "cls", "cls|mean",
           "the head reads a token of its own, or the mean of the patches"),
    POSITIONS_OPTION("learned", "encoding of positions; sinusoidal: of row and column; rotary: of "
                                "the place in the sequence, row by row after [CLS]"),
    STACK_OPTIONS("4", "4", "64", "pre", "gelu", "1e-12"),
    INIT_STD("0.02"),
    YES("final-norm", "layer norm after the last block"),
    NO("scale-residual", "start sublayers' outputs at init-std / sqrt(2 layers)"),
    {0}};

#define PLAIN                                                                                      \
    "classes=10 norm=pre norm-eps=1e-5 activation=gelu dropout=0 smoothing=0 optimizer=adamw "     \
    "lr=1e-3 "
static const heed_preset presets[] = {
    {"vit-tiny28", "benchmark workload: 4 layers, width 64, patch 7 of 28",
     PLAIN "image-size=28 channels=1 patch=7 layers=4 heads=4 width=64 ff=128 batch=128", true},
    {"vit-cifar", "benchmark workload: 6 layers, width 192, patch 4 of 32, colour",
     PLAIN "image-size=32 channels=3 patch=4 layers=6 heads=6 width=192 ff=768 batch=64", true},
    {"vit28", "28 x 28: 4 layers, width 64, patch 7, shifts of 2 pixels, 30 epochs",
     "patch=7 layers=4 heads=4 width=64 ff=128 batch=128 lr=3e-3 warmup=0.1 decay=0.05 "
     "init-std=0.07 pad=2 epochs=30",
     false},
    {"vit32", "32 x 32: 4 layers, width 64, patch 4, shifts of 4 pixels, 40 epochs",
     "patch=4 layers=4 heads=4 width=64 ff=128 batch=64 lr=2e-3 warmup=0.1 decay=0.05 "
     "init-std=0.07 pad=4 epochs=40",
     false},
    {0}};

#define SMALL "image-size=6 channels=2 classes=3 batch=3 width=8 layers=2 heads=2 init-std=0.3 "
static const heed_model_case cases[] = {
    {"", SMALL "patch=2 ff=16"},
    {"variant", SMALL "patch=3 pool=mean positions=sinusoidal norm=post final-norm=false "
                      "dropout=0.2 smoothing=0.1"},
    {"rms", SMALL "patch=2 ff=16 norm-kind=rms bias=false"},
    {"llama", SMALL LLAMA "kv-heads=1 patch=2"},
    {0}};

/* ---- patches ---- */

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

static void embeddings(vit *m, heed_store *s, const heed_config *f, int patch) {
    int width = m->stack.width, side = m->base.size / patch;
    bool cls = heed__model_is(f, "pool", "cls");
    heed_position_kind positions = heed__model_positions(f);
    if (positions == HEED_SINUSOIDAL) positions = HEED_SINUSOIDAL_2D;
    heed_scope(s, "embed");
    if (cls)
        m->cls = heed_param(s, "cls", heed__stack_init_or(&m->stack, "normal:0.02"), 3,
                            (int[]){1, 1, width});
    heed_patch_embed_init(&m->patch, s, "patch", m->base.channels, patch, width,
                          heed__stack_init_or(&m->stack, NULL));
    heed_position_init(&m->position, s, "position", positions, side * side + cls, width);
    heed_drop_init(&m->drop, s, "drop", heed__model_real(f, "dropout"));
    heed_unscope(s);
    heed_set_decay(s, "embed.cls", false);
    heed_set_decay(s, "embed.position.*", false);
}

/* ---- forward ---- */

/* x (B,n,d) -> (B,n+1,d): puts the same token before the patches of each picture. Eq. 1. */
static heed_tensor *with_cls(const vit *m, heed_tape *t, heed_tensor *x) {
    if (!x || !m->cls) return x;
    heed_tensor *zero = heed_input(t, NULL, 3, (int[]){x->shape[0], 1, m->stack.width});
    return heed_concat(t, 1, 2, (heed_tensor *[]){heed_add(t, zero, m->cls), x});
}

/* Eq. 4: only the CLS token is normalized; the others are not read. */
static heed_tensor *features(const picture_model *base, heed_tape *t, heed_tensor *x) {
    const vit *m = (const vit *)(const void *)base;
    x = heed_patch_embed_apply(&m->patch, t, x); /* (B,n,d), row by row */
    x = heed_position_apply(&m->position, t, with_cls(m, t, x), 0);
    x = heed__stack_apply(&m->stack, t, heed_drop_apply(&m->drop, t, x), NULL, NULL);
    if (!x) return NULL;
    if (m->cls)
        x = heed__stack_norm(&m->stack, t, heed_slice(t, x, 1, 0, 1));
    else
        x = heed_mean_dim(t, heed__stack_norm(&m->stack, t, x), 1);
    return heed_reshape(t, x, 2, (int[]){-1, m->stack.width});
}

static bool init(void *self, heed_store *s, const heed_config *f) {
    vit *m = self;
    heed_ctx *c = heed_store_ctx(s);
    stack_kind kind = {.name = "encoder",
                       .scale_residual = heed_config_bool(f, "scale-residual"),
                       .final_norm = heed_config_bool(f, "final-norm")};
    if (!heed__picture_read(&m->base, c, f)) return false;
    int size = m->base.size, patch = heed__model_int(f, "patch");
    if (patch == 0) {
        patch = usual_patch(size);
        if (!few_patches(size, patch)) return refuse_size(c, size, patch);
    }
    if (size % patch) return refuse_patch(c, size, patch);
    m->base.features = features;
    heed__stack_read(&m->stack, f, kind);
    embeddings(m, s, f, patch);
    heed__stack_make(&m->stack, s, f, kind);
    heed__picture_head(&m->base, s, m->stack.width, heed__stack_init_or(&m->stack, NULL));
    return heed_ctx_status(c) == HEED_OK;
}

static bool attending(const void *self, int index, heed_attending *out) {
    return heed__stack_attending(&((const vit *)self)->stack, HEED_ENCODER, index, out);
}

static bool grid(const void *self, heed_grid *out) {
    const vit *m = self;
    int side = m->base.size / m->patch.args.size[0];
    *out = (heed_grid){.rows = side, .cols = side, .first = m->cls != NULL};
    return true;
}

const heed_model heed_model_vit = {
    .name = "vit",
    .help = "pictures: attention among patches (ViT)",
    .embedding = "embed.patch",
    .options = options,
    .defaults = "lr=0.001 best=accuracy",
    .presets = presets,
    .cases = cases,
    .size = sizeof(vit),
    .init = init,
    PICTURE_MEMBERS,
    .attending = attending,
    .grid = grid,
};
