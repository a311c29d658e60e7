/* cell.c -- one time step of a recurrent layer for all rows of a batch, after the product of state
 * and weights. Elman 1990; GRU: Cho et al. 2014, in PyTorch's form; LSTM: Hochreiter & Schmidhuber
 * 1997 with the forget gate of Gers et al. 2000. */
#include "set.h"
#include "vmath.h"

/* A row of the batch: its gates, and its states of `width` numbers (LSTM: c after h). */
typedef struct {
    const heed_real *x, *before, *gy;
    heed_real *u, *kept, *after, *gx, *gu, *carry;
    size_t width;
} row;

static row row_of(const heed_cell_job *j, size_t r) {
    size_t width = (size_t)j->width, gates = width * (size_t)heed__cell_gates(j->cell);
    size_t state = width * (size_t)heed__cell_states(j->cell);
    return (row){.x = j->x + r * j->ldx,
                 .before = j->before + r * j->ldbefore,
                 .gy = j->gy ? j->gy + r * j->ldafter : NULL,
                 .u = j->gates + r * gates,
                 .kept = j->kept ? j->kept + r * width : NULL,
                 .after = j->after + r * j->ldafter,
                 .gx = j->gx ? j->gx + r * j->ldx : NULL,
                 .gu = j->gu ? j->gu + r * gates : NULL,
                 .carry = j->carry ? j->carry + r * state : NULL,
                 .width = width};
}

/* A vector at index i of the width, of which `left` elements exist; gate g is at i + g w. */
#define EACH(w)    for (size_t i = 0, left = (w); i < (w); i += (size_t)VL, left = (w)-i)
#define GATE(p, g) get((p) + i + (g)*w, left)

/* The function of a plain cell, and its slope: of those whose slope is a function of the value. */
INLINE vec cell_value(heed_act f, vec x) {
    switch (f) {
#define VALUE_OF(act, ...)                                                                         \
    case act:                                                                                      \
        return heed__act_uses_value(act) ? act_value(act, x) : x;
        HEED_ACTIVATIONS(VALUE_OF)
#undef VALUE_OF
    }
    return x;
}
INLINE vec cell_slope(heed_act f, vec y) {
    switch (f) {
#define SLOPE_OF(act, ...)                                                                         \
    case act:                                                                                      \
        return heed__act_uses_value(act) ? act_slope(act, y, y) : y;
        HEED_ACTIVATIONS(SLOPE_OF)
#undef SLOPE_OF
    }
    return y;
}

/* h = g(x + u) */
static void plain(heed_act act, const row *a) {
    size_t w = a->width;
    EACH(w) put(a->after + i, cell_value(act, GATE(a->x, 0) + GATE(a->u, 0)), left);
}

static void plain_grad(heed_act act, const row *a) {
    size_t w = a->width;
    EACH(w) {
        vec y = get(a->after + i, left), dh = get(a->gy + i, left) + get(a->carry + i, left);
        vec du = dh * cell_slope(act, y);
        put(a->gu + i, du, left);
        put(a->carry + i, splat(0), left);
    }
}

/* r = s(x_r + u_r), z = s(x_z + u_z), n = tanh(x_n + r u_n), h' = (1-z) n + z h */
static void gru(const row *a) {
    size_t w = a->width;
    EACH(w) {
        vec r = vsigmoid(GATE(a->x, 0) + GATE(a->u, 0));
        vec z = vsigmoid(GATE(a->x, 1) + GATE(a->u, 1)), un = GATE(a->u, 2);
        vec n = vtanh(GATE(a->x, 2) + r * un);
        put(a->kept + i, un, left);
        put(a->u + i, r, left);
        put(a->u + i + w, z, left);
        put(a->u + i + 2 * w, n, left);
        put(a->after + i, (splat(1) - z) * n + z * get(a->before + i, left), left);
    }
}

/* For the third gate, gu is the gradient of u_n, which is r times that of x_n. */
static void gru_grad(const row *a) {
    const vec one = splat(1);
    size_t w = a->width;
    EACH(w) {
        vec r = GATE(a->u, 0), z = GATE(a->u, 1), n = GATE(a->u, 2);
        vec dh = get(a->gy + i, left) + get(a->carry + i, left);
        vec dn = dh * (one - z) * (one - n * n);
        vec dz = dh * (get(a->before + i, left) - n) * z * (one - z);
        vec dr = dn * get(a->kept + i, left) * r * (one - r);
        put(a->gu + i, dr, left);
        put(a->gu + i + w, dz, left);
        put(a->gu + i + 2 * w, dn * r, left);
        put(a->kept + i, dn, left);
        put(a->carry + i, dh * z, left);
    }
}

/* i f g o; c' = s(f) c + s(i) tanh(g), h' = s(o) tanh(c') */
static void lstm(const row *a) {
    size_t w = a->width;
    EACH(w) {
        vec in = vsigmoid(GATE(a->x, 0) + GATE(a->u, 0));
        vec forget = vsigmoid(GATE(a->x, 1) + GATE(a->u, 1));
        vec g = vtanh(GATE(a->x, 2) + GATE(a->u, 2));
        vec out = vsigmoid(GATE(a->x, 3) + GATE(a->u, 3));
        vec c = forget * GATE(a->before, 1) + in * g;
        put(a->u + i, in, left);
        put(a->u + i + w, forget, left);
        put(a->u + i + 2 * w, g, left);
        put(a->u + i + 3 * w, out, left);
        put(a->after + i, out * vtanh(c), left);
        put(a->after + i + w, c, left);
    }
}

static void lstm_grad(const row *a) {
    const vec one = splat(1);
    size_t w = a->width;
    EACH(w) {
        vec in = GATE(a->u, 0), forget = GATE(a->u, 1), g = GATE(a->u, 2), out = GATE(a->u, 3);
        vec t = vtanh(GATE(a->after, 1)), dh = GATE(a->gy, 0) + GATE(a->carry, 0);
        vec dc = GATE(a->gy, 1) + GATE(a->carry, 1) + dh * out * (one - t * t);
        put(a->gu + i, dc * g * in * (one - in), left);
        put(a->gu + i + w, dc * GATE(a->before, 1) * forget * (one - forget), left);
        put(a->gu + i + 2 * w, dc * in * (one - g * g), left);
        put(a->gu + i + 3 * w, dh * t * out * (one - out), left);
        put(a->carry + i, splat(0), left);
        put(a->carry + i + w, dc * forget, left);
    }
}

/* At padding the state is unchanged. */
static void stay(const heed_cell_job *j, const row *a) {
    memcpy(a->after, a->before, a->width * (size_t)heed__cell_states(j->cell) * sizeof *a->after);
}

static void stay_grad(const heed_cell_job *j, const row *a) {
    size_t w = a->width * (size_t)heed__cell_states(j->cell);
    EACH(w) put(a->carry + i, get(a->carry + i, left) + get(a->gy + i, left), left);
    memset(a->gu, 0, a->width * (size_t)heed__cell_gates(j->cell) * sizeof *a->gu);
    if (a->kept) memset(a->kept, 0, a->width * sizeof *a->kept);
}

static bool padded(const heed_cell_job *j, size_t r) { return j->pad && !j->pad[r * j->ldpad]; }

static void forward_row(const void *job, size_t r) {
    const heed_cell_job *j = job;
    row a = row_of(j, r);
    if (padded(j, r))
        stay(j, &a);
    else if (j->cell == HEED_CELL_GRU)
        gru(&a);
    else if (j->cell == HEED_CELL_LSTM)
        lstm(&a);
    else
        plain(j->act, &a);
}
HEED__PART(forward_part, forward_row)

/* The gradient of the input's part is that of the state's part, except for the GRU's third gate. */
static void input_grad(const heed_cell_job *j, const row *a) {
    size_t w = a->width * (size_t)heed__cell_gates(j->cell);
    size_t same = j->cell == HEED_CELL_GRU ? w - a->width : w, rest = w - same;
    if (!j->add) {
        memcpy(a->gx, a->gu, same * sizeof *a->gx);
        if (rest) memcpy(a->gx + same, a->kept, rest * sizeof *a->gx);
        return;
    }
    EACH(same) put(a->gx + i, get(a->gx + i, left) + get(a->gu + i, left), left);
    EACH(rest) put(a->gx + same + i, get(a->gx + same + i, left) + get(a->kept + i, left), left);
}

static void backward_row(const void *job, size_t r) {
    const heed_cell_job *j = job;
    row a = row_of(j, r);
    if (padded(j, r))
        stay_grad(j, &a);
    else if (j->cell == HEED_CELL_GRU)
        gru_grad(&a);
    else if (j->cell == HEED_CELL_LSTM)
        lstm_grad(&a);
    else
        plain_grad(j->act, &a);
    if (a.gx) input_grad(j, &a);
}
HEED__PART(backward_part, backward_row)

static double work_of(const heed_cell_job *j) {
    return 20.0 * j->rows * j->width * heed__cell_gates(j->cell);
}

void K(cell)(const heed_kernels *k, const heed_cell_job *j) {
    heed__share(k, (size_t)j->rows, work_of(j), forward_part, j);
}

void K(cell_grad)(const heed_kernels *k, const heed_cell_job *j) {
    heed__share(k, (size_t)j->rows, work_of(j), backward_part, j);
}
