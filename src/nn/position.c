/* position.c -- position embeddings. */
#include "nn/nn.h"

#include <math.h>
#include <string.h>

/* The side of the square grid formed by len patches, or by all but the first, [CLS]; 0: none. */
static int side_of(int len) {
    int side = 1;
    while ((long long)(side + 1) * (side + 1) <= len) side++;
    return len == side * side || len == side * side + 1 ? side : 0;
}

void heed_position_init(heed_position *l, heed_params *s, const char *name, heed_position_kind kind,
                        int len, int width) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    *l = (heed_position){.kind = kind, .len = len, .width = width};
    if (kind == HEED_SINUSOIDAL_2D && !side_of(len))
        heed_fail(heed_params_ctx(s), HEED_USAGE,
                  "positions of a grid do not fit: %s: expected a square number of patches, or one "
                  "more, found %d; hint: `positions = learned`",
                  name, len);
    if (kind != HEED_LEARNED) return;
    heed_scope_push(s, "%s", name);
    l->table = heed_param_new(s, "weight", "normal:0.02", 2, (int[]){len, width});
    if (l->table) heed_set_rows(s, l->table->name, HEED_ROWS_POSITIONS);
    heed_scope_pop(s);
}

/* y[p][2i] = sin(p / 10000^(2i/d)), y[p][2i+1] = cos of the same, for p from `from` on. Vaswani et
 * al. 2017, sec. 3.5. Each pair of columns is computed by rotation: one sine and cosine per column
 * instead of one per element. */
static void sinusoids(heed_real *y, int rows, int width, int from) {
    for (int c = 0; c < width; c += 2) {
        double w = pow(10000, -(double)c / width);
        double turn_sin = sin(w), turn_cos = cos(w), a = sin(from * w), b = cos(from * w);
        for (int r = 0; r < rows; r++) {
            heed_real *row = y + (size_t)r * (size_t)width;
            row[c] = (heed_real)a;
            if (c + 1 < width) row[c + 1] = (heed_real)b;
            double next = a * turn_cos + b * turn_sin;
            b = b * turn_cos - a * turn_sin;
            a = next;
        }
    }
}

/* Patch p of a grid: the first half of the width holds the sinusoids of its row, p / side, the rest
 * those of its column, p % side, each as above, with d/2 for d. He et al. 2022 (masked
 * autoencoders), app. A.1, but with each sine next to its cosine. Equal parts are computed only
 * once. */
static void grid(heed_real *y, int rows, int width, int from, int len) {
    int side = side_of(len), cls = len - side * side, half = width / 2;
    for (int r = 0; r < rows; r++, y += width) {
        int patch = from + r - cls;
        if (patch < 0) continue; /* [CLS]: zeros */
        if (r > 0 && patch % side > 0)
            memcpy(y, y - width, (size_t)half * sizeof *y);
        else
            sinusoids(y, 1, half, patch / side);
        if (r >= side && patch >= side)
            memcpy(y + half, y + half - side * width, (size_t)(width - half) * sizeof *y);
        else
            sinusoids(y + half, 1, width - half, patch % side);
    }
}

static heed_tensor *rows_of(const heed_position *l, heed_tape *t, int from, int rows) {
    if (l->kind == HEED_LEARNED) return heed_slice(t, l->table, 0, from, rows);
    heed_tensor *p = heed_input(t, NULL, 2, (int[]){rows, l->width});
    if (p && l->kind == HEED_SINUSOIDAL_2D)
        grid(p->x, rows, l->width, from, l->len);
    else if (p)
        sinusoids(p->x, rows, l->width, from);
    return p;
}

heed_tensor *heed_position_apply(const heed_position *l, heed_tape *t, heed_tensor *x, int from) {
    if (!heed__layer_given(l, t)) return NULL;
    if (!x || l->kind == HEED_NO_POSITIONS) return x;
    if (x->dims < 2) return heed_add(t, x, l->table); /* fails: the shapes differ */
    int rows = x->shape[x->dims - 2];
    if (l->kind != HEED_SINUSOIDAL && (from < 0 || rows > l->len - from)) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "sequence is too long: %s: expected at most %d positions, found %d; hint: a "
                  "larger `block`, or `positions = sinusoidal`",
                  l->table ? l->table->name : "positions", l->len, from + rows);
        return NULL;
    }
    return heed_add(t, x, rows_of(l, t, from, rows));
}

/* ---- check cases ---- */

static void init(void *self, heed_params *s, const void *args) {
    const heed_position_kind *kind = args;
    heed_position_init(self, s, "position", *kind, HEED_CASE_LEN, HEED_CASE_WIDTH);
}
static heed_tensor *apply(const void *self, heed_tape *t, heed_tensor *x) {
    return heed_tanh(t, heed_position_apply(self, t, x, 0));
}

static const heed_position_kind learned = HEED_LEARNED, sinusoidal = HEED_SINUSOIDAL;
const heed_layer_case heed_layers_position[] = {
    {"position", sizeof(heed_position), init, apply, &learned},
    {"position of sines", sizeof(heed_position), init, apply, &sinusoidal},
    {0}};
