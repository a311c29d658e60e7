/* norm.c -- layer norm, RMS norm and batch norm with their parameters. */
#include "nn/nn.h"

void heed_norm_init(heed_norm *l, heed_store *s, const char *name, heed_norm_args a) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    bool bias = a.kind == HEED_LAYER_NORM && !a.no_bias;
    l->name = heed_scope(s, "%s", name);
    l->args = a;
    l->gain = heed_param(s, "weight", "one", 1, &a.width);
    l->bias = bias ? heed_param(s, "bias", "zero", 1, &a.width) : NULL;
    heed_unscope(s);
}

heed_tensor *heed_norm_apply(const heed_norm *l, heed_tape *t, heed_tensor *x) {
    if (!heed__layer_given(l, t)) return NULL;
    if (l->args.kind == HEED_RMS_NORM)
        return heed_rms_norm(heed_at(t, l->name), x, l->gain, l->args.eps);
    return heed_layer_norm(heed_at(t, l->name), x, l->gain, l->bias, l->args.eps);
}

/* eps and momentum are PyTorch's. */
void heed_batchnorm_init(heed_batchnorm *l, heed_store *s, const char *name, int width) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    l->name = heed_scope(s, "%s", name);
    l->gain = heed_param(s, "weight", "one", 1, &width);
    l->bias = heed_param(s, "bias", "zero", 1, &width);
    l->mean = heed_state_new(s, "running_mean", "zero", 1, &width);
    l->var = heed_state_new(s, "running_var", "one", 1, &width);
    l->eps = (heed_real)1e-5;
    l->momentum = (heed_real)0.1;
    heed_unscope(s);
}

heed_tensor *heed_batchnorm_apply(const heed_batchnorm *l, heed_tape *t, heed_tensor *x) {
    if (!heed__layer_given(l, t)) return NULL;
    return heed_batch_norm(heed_at(t, l->name), x, l->gain, l->bias, l->mean, l->var, l->eps,
                           l->momentum);
}

/* ---- check cases ---- */

static void layer_init(void *self, heed_store *s) {
    heed_norm_init(self, s, "norm",
                   (heed_norm_args){.width = HEED_CASE_WIDTH, .eps = (heed_real)1e-5});
}
static void rms_init(void *self, heed_store *s) {
    heed_norm_init(
        self, s, "norm",
        (heed_norm_args){.kind = HEED_RMS_NORM, .width = HEED_CASE_WIDTH, .eps = (heed_real)1e-5});
}
static heed_tensor *layer_apply(const void *self, heed_tape *t, heed_tensor *x) {
    return heed_norm_apply(self, t, x);
}

static void batch_init(void *self, heed_store *s) {
    heed_batchnorm_init(self, s, "batchnorm", HEED_CASE_WIDTH);
}
static heed_tensor *batch_apply(const void *self, heed_tape *t, heed_tensor *x) {
    return heed_batchnorm_apply(self, t, x);
}

const heed_layer_case heed_layers_norm[] = {
    {"layer norm", sizeof(heed_norm), layer_init, layer_apply},
    {"rms norm", sizeof(heed_norm), rms_init, layer_apply},
    {"batch norm", sizeof(heed_batchnorm), batch_init, batch_apply},
    {0}};
