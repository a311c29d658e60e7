/* recompute.c -- a part of a model that is computed again in backward, instead of keeping its
 * intermediate values from forward. Chen et al. 2016, sec. 3. */
#include "core/tape.h"
#include "nn/nn.h"

typedef struct {
    heed_recomputed apply;
    const void *self;
} recompute_args;

/* Records the part on the inner tape; in: its inputs there. */
static heed_tensor *record(const heed_node *n, heed_tape *t, heed_tensor *in[HEED_RECOMPUTE]) {
    const recompute_args *a = n->args;
    for (int i = 0; i < HEED_RECOMPUTE; i++) {
        heed_tensor *x = n->in[i];
        in[i] = NULL;
        if (x && x->i) in[i] = heed_input_ids(t, x->i, x->dims, x->shape);
        if (x && x->x) in[i] = heed_wrap(t, x->x, x->dims, x->shape);
        if (x && x->x && n->recording && heed__wants_grad(n->tape->r, x)) heed_want_grad(t, in[i]);
    }
    return a->apply(a->self, t, in);
}

/* The values are copied at once: the next part uses the same inner tape. */
static bool infer(heed_node *n) {
    heed_tensor *in[HEED_RECOMPUTE];
    heed_tape *t = heed__tape_inner(n->tape);
    const heed_tensor *y = t ? record(n, t, in) : NULL;
    if (!y) return false;
    if (!y->x) return heed_op_error(n, "the part that is computed again gives no real numbers");
    n->recording = y->wants_grad; /* its parameters are no inputs of the node */
    if (!heed_op_output(n, y->dims, y->shape)) return false;
    memcpy(n->y->x, y->x, y->size * sizeof *y->x);
    return true;
}

static void backward(heed_node *n) {
    heed_tensor *in[HEED_RECOMPUTE];
    heed_tape *t = heed__tape_inner(n->tape);
    heed_tensor *y = t ? record(n, t, in) : NULL;
    if (!y || !heed_backward_from(t, y, n->y->g)) return;
    for (int i = 0; i < HEED_RECOMPUTE; i++) {
        heed_real *g = in[i] && in[i]->g ? heed_grad(n, i) : NULL;
        for (size_t j = 0; g && j < in[i]->size; j++) g[j] += in[i]->g[j];
    }
}

static const heed_op op = {"recompute",           "xx?x?x?", infer, NULL, backward, NULL,
                           sizeof(recompute_args)};

heed_tensor *heed_recompute(heed_tape *t, heed_recomputed apply, const void *self,
                            heed_tensor *const in[HEED_RECOMPUTE]) {
    if (!t) return NULL;
    if (!apply || !in) {
        heed_fail(
            heed_tape_ctx(t), HEED_USAGE,
            "a part cannot be computed again: expected a function and its inputs, found NULL");
        return NULL;
    }
    return heed_push(t, &op, &(recompute_args){apply, self}, in[0], in[1], in[2], in[3]);
}

/* ---- check cases ---- */

static heed_tensor *apply_block(const void *self, heed_tape *t,
                                heed_tensor *const in[HEED_RECOMPUTE]) {
    return heed_block_apply(self, t, in[0], &(heed_block_inputs){.pad = in[1]});
}

static void case_init(void *self, heed_params *s, const void *args) {
    heed_block_init(self, s, "block", *(const heed_block_args *)args);
}
static heed_tensor *case_apply(const void *self, heed_tape *t, heed_tensor *x) {
    heed_tensor *pad = heed_ids(t, (int32_t[]){1, 1, 0, 1, 1, 1}, HEED_CASE_ROWS, HEED_CASE_LEN);
    x = heed_recompute(t, apply_block, self, (heed_tensor *[HEED_RECOMPUTE]){x, pad});
    return heed_recompute(t, apply_block, self, (heed_tensor *[HEED_RECOMPUTE]){x});
}

const heed_layer_case heed_layers_recompute[] = {
    {"recomputed blocks", sizeof(heed_block), case_init, case_apply,
     &(const heed_block_args){.attn = {.width = HEED_CASE_WIDTH, .heads = 2},
                              .mlp = {.width = HEED_CASE_WIDTH, .inner = 12, .act = HEED_GELU},
                              .eps = (heed_real)1e-5,
                              .dropout = (heed_real)0.2}},
    {0}};
