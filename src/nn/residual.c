/* residual.c -- dropout and the residual addition around a sublayer. */
#include "nn/nn.h"

void heed_dropout_layer_init(heed_dropout_layer *l, heed_params *s, const char *name, heed_real p) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    l->name = heed_scope_push(s, "%s", name);
    l->p = p;
    heed_scope_pop(s);
}

heed_tensor *heed_dropout_layer_apply(const heed_dropout_layer *l, heed_tape *t, heed_tensor *x) {
    if (!heed__layer_given(l, t)) return NULL;
    if (l->p == 0 || heed_tape_mode(t) != HEED_TRAIN) return x;
    return heed_dropout(heed_name_scope(t, l->name), x, l->p);
}

heed_tensor *heed__residual(heed_tape *t, heed_tensor *x, heed_tensor *fx,
                            const heed_dropout_layer *drop, const heed_norm *post) {
    bool drops = drop && drop->p > 0 && heed_tape_mode(t) == HEED_TRAIN;
    heed_tensor *y = drops ? heed_dropout_add(heed_name_scope(t, drop->name), x, fx, drop->p)
                           : heed_add(t, x, fx);
    return post ? heed_norm_apply(post, t, y) : y;
}

/* ---- check cases ---- */

typedef struct {
    heed_dropout_layer drop;
    heed_norm norm;
    heed_linear linear;
} sublayer;

static void init(void *self, heed_params *s, const void *args) {
    sublayer *l = self;
    (void)args;
    heed_norm_init(&l->norm, s, "norm",
                   (heed_norm_args){.width = HEED_CASE_WIDTH, .eps = (heed_real)1e-5});
    heed_linear_init(&l->linear, s, "linear",
                     (heed_linear_args){.in = HEED_CASE_WIDTH, .out = HEED_CASE_WIDTH});
    heed_dropout_layer_init(&l->drop, s, "drop", (heed_real)0.3);
}
static heed_tensor *apply(const void *self, heed_tape *t, heed_tensor *x) {
    const sublayer *l = self;
    return heed__residual(t, x, heed_linear_act(&l->linear, t, x, HEED_GELU), &l->drop, &l->norm);
}

const heed_layer_case heed_layers_residual[] = {{"residual", sizeof(sublayer), init, apply, NULL},
                                                {0}};
