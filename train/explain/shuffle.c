/* shuffle.c -- permuted memory and permuted patches, by layers of the library: the attention of
 * Bahdanau et al. 2015, and the blocks of Dosovitskiy et al. 2021. */
#include "explain/shuffle.h"

#include <math.h>

static void shuffled(uint64_t seed, const char *site, int n, int *order) {
    heed_random r = heed_random_at(seed, site, 0, 0);
    for (int i = 0; i < n; i++) order[i] = (int)heed_random_permute(&r, (uint64_t)i, (uint32_t)n);
}

static void fill(uint64_t seed, const char *site, int n, double *x) {
    heed_random r = heed_random_at(seed, site, 0, 0);
    for (int i = 0; i < n; i++) x[i] = heed_random_normal(&r, (uint64_t)i);
}

/* ---- memory ---- */

static bool ask(const heed_attend *l, heed_tape *t, const double *s, const double *h,
                double *weights, double *context) {
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_attention_kv m = heed_attend_kv(l, t, lesson_input(t, h, MEMORY, MEMORY_WIDTH), NULL);
    heed_tensor *query = lesson_input(t, s, 1, MEMORY_WIDTH);
    heed_attended a = heed_attend_look(l, t, query, &m);
    heed_tensor *c = heed_attend_apply(l, t, query, &m);
    for (int i = 0; c && i < MEMORY; i++) weights[i] = (double)a.weights->x[i];
    for (int i = 0; c && i < MEMORY_WIDTH; i++) context[i] = (double)c->x[i];
    return c != NULL;
}

bool shuffle_memory(heed_ctx *c, uint64_t seed, memory_shuffle *out) {
    double s[MEMORY_WIDTH], h[2][MEMORY * MEMORY_WIDTH];
    heed_store *store = heed_store_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_attend l;
    heed_attend_init(
        &l, store, "attend",
        (heed_attend_args){.kind = HEED_ADDITIVE, .query = MEMORY_WIDTH, .input = MEMORY_WIDTH});
    fill(seed, "explain.shuffle.s", MEMORY_WIDTH, s);
    fill(seed, "explain.shuffle.h", MEMORY * MEMORY_WIDTH, h[0]);
    shuffled(seed, "explain.shuffle.memory", MEMORY, out->order);
    for (int i = 0; i < MEMORY * MEMORY_WIDTH; i++)
        h[1][i] = h[0][out->order[i / MEMORY_WIDTH] * MEMORY_WIDTH + i % MEMORY_WIDTH];
    bool ok = heed_ctx_status(c) == HEED_OK;
    for (int k = 0; ok && k < 2; k++) ok = ask(&l, t, s, h[k], out->weights[k], out->context[k]);
    out->gap = 0;
    for (int i = 0; ok && i < MEMORY_WIDTH; i++)
        out->gap = fmax(out->gap, fabs(out->context[0][i] - out->context[1][i]));
    heed_tape_free(t);
    heed_store_free(store);
    return ok;
}

/* ---- patches ---- */

enum { PATCH = 2, SIDE = GRID * PATCH, PIXELS = SIDE * SIDE, WIDTH = 8, BLOCKS = 2 };

typedef struct {
    heed_conv patch;
    heed_position position;
    heed_block block[BLOCKS];
} vit;

static void vit_init(vit *m, heed_store *s, heed_position_kind positions) {
    heed_block_args a = {.attn = {.width = WIDTH, .heads = 2},
                         .mlp = {.width = WIDTH, .inner = 2 * WIDTH, .act = HEED_GELU},
                         .pre_norm = true,
                         .eps = (heed_real)1e-5};
    heed_patch_embed_init(&m->patch, s, "patch", 1, PATCH, WIDTH, NULL);
    heed_position_init(&m->position, s, "position", positions, PATCHES, WIDTH);
    for (int i = 0; i < BLOCKS; i++) {
        heed_scope(s, "encoder.%d", i);
        heed_block_init(&m->block[i], s, "", a);
        heed_unscope(s);
    }
}

/* The outputs of all patches, (PATCHES,WIDTH). */
static bool vit_apply(const vit *m, heed_tape *t, const double *pixels, double *out) {
    heed_real x[PIXELS];
    for (int i = 0; i < PIXELS; i++) x[i] = (heed_real)pixels[i];
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *y =
        heed_patch_embed_apply(&m->patch, t, heed_input(t, x, 4, (int[]){1, SIDE, SIDE, 1}));
    y = heed_position_apply(&m->position, t, y, 0);
    for (int i = 0; i < BLOCKS; i++) y = heed_block_apply(&m->block[i], t, y, NULL, NULL);
    for (int i = 0; y && i < PATCHES * WIDTH; i++) out[i] = (double)y->x[i];
    return y != NULL;
}

/* Moves each patch of the picture whole. */
static void move_patches(const int *order, const double *from, double *to) {
    for (int i = 0; i < PIXELS; i++) {
        int row = i / SIDE, col = i % SIDE, patch = order[row / PATCH * GRID + col / PATCH];
        to[i] =
            from[(patch / GRID * PATCH + row % PATCH) * SIDE + patch % GRID * PATCH + col % PATCH];
    }
}

bool shuffle_patches(heed_ctx *c, uint64_t seed, heed_position_kind positions, patch_shuffle *out) {
    double x[PIXELS], moved[PIXELS], plain[PATCHES * WIDTH], y[PATCHES * WIDTH];
    heed_store *s = heed_store_new(c);
    heed_tape *t = heed_tape_new(c);
    vit m;
    vit_init(&m, s, positions);
    fill(seed, "explain.shuffle.pixels", PIXELS, x);
    shuffled(seed, "explain.shuffle.patches", PATCHES, out->order);
    move_patches(out->order, x, moved);
    if (m.position.table) fill(seed, "explain.shuffle.positions", PATCHES * WIDTH, plain);
    for (int i = 0; m.position.table && i < PATCHES * WIDTH; i++)
        m.position.table->x[i] = (heed_real)plain[i];
    bool ok =
        heed_ctx_status(c) == HEED_OK && vit_apply(&m, t, x, plain) && vit_apply(&m, t, moved, y);
    out->output = out->mean = 0;
    for (int k = 0; ok && k < WIDTH; k++) {
        double mean = 0;
        for (int i = 0; i < PATCHES; i++) {
            double a = y[i * WIDTH + k], b = plain[out->order[i] * WIDTH + k];
            out->output = fmax(out->output, fabs(a - b));
            mean += (a - b) / PATCHES;
        }
        out->mean = fmax(out->mean, fabs(mean));
    }
    heed_tape_free(t);
    heed_store_free(s);
    return ok;
}
