/* nn/position.c -- what tells the places of a sequence apart. */
#include <heed/nn.h>

#include <math.h>

void heed_position_init(heed_position *l, heed_store *s, const char *name, heed_position_kind kind,
                        int len, int width) {
    *l = (heed_position){.kind = kind, .len = len, .width = width};
    if (kind != HEED_LEARNED) return;
    heed_scope(s, "%s", name);
    l->table = heed_param(s, "weight", "normal:0.02", 2, (int[]){len, width});
    heed_unscope(s);
}

/* y[p][2i] = sin(p / 10000^(2i/d)), y[p][2i+1] = cos of the same, p from `from`. Vaswani et al.
 * 2017, sec. 3.5. Each column pair advances by rotation: one sine and cosine a column, not one an
 * element. */
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

static heed_tensor *rows_of(const heed_position *l, heed_tape *t, int from, int rows) {
    if (l->kind == HEED_LEARNED) return heed_slice(t, l->table, 0, from, rows);
    heed_tensor *p = heed_input(t, NULL, 2, (int[]){rows, l->width});
    if (p) sinusoids(p->x, rows, l->width, from);
    return p;
}

heed_tensor *heed_position_apply(const heed_position *l, heed_tape *t, heed_tensor *x, int from) {
    if (!x || l->kind == HEED_NO_POSITIONS) return x;
    int rows = x->shape[x->dims - 2];
    if (l->kind == HEED_LEARNED && (from < 0 || rows > l->len - from)) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "sequence is too long: %s: expected at most %d positions, found %d; hint: "
                  "--block, or --positions sinusoidal",
                  l->table ? l->table->name : "positions", l->len, from + rows);
        return NULL;
    }
    return heed_add(t, x, rows_of(l, t, from, rows));
}
