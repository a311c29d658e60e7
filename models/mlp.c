/* mlp.c -- multilayer perceptron on all pixels of a picture: dense layers, each with batch norm,
 * activation and dropout. Rumelhart et al. 1986. */
#include "parts/parts.h"

#include <stdio.h>

enum { LAYERS = 64 };

typedef struct {
    picture_model base;
    int layers;
    bool residual;
    heed_act act;
    heed_linear dense[LAYERS];
    heed_batchnorm norm[LAYERS]; /* gain NULL: absent */
    heed_dropout_layer drop[LAYERS];
} mlp;

typedef struct {
    image_settings image;
    int layers, width;
    const char *activation;
    heed_real dropout;
    bool batch_norm, residual;
} mlp_settings;

static const heed_option options[] = {
    HEED_ROWS(mlp_settings, image, heed__image_options, ""),
    HEED_ROW(mlp_settings, layers, "layers", "2", .min = 1, .max = LAYERS, .help = "hidden layers"),
    HEED_ROW(mlp_settings, width, "width", "256", .min = 1, .max = 1 << 20, .help = "of each"),
    HEED_ROW(mlp_settings, activation, "activation", "relu", .choices = ACTIVATIONS,
             .help = "of the hidden layers"),
    HEED_ROW(mlp_settings, dropout, "dropout", "0", .max = 0.99, .help = "of the hidden layers"),
    HEED_ROW(mlp_settings, batch_norm, "batch-norm", "true",
             .help = "batch norm before the activation"),
    HEED_ROW(mlp_settings, residual, "residual", "false",
             .help = "add a hidden layer's input to its output; not in the first"),
    HEED_WHEN("all-rows recompute", ""),
    {0}};

static const heed_preset presets[] = {
    {"mlp-mnist", "benchmark: 784-256-10, ReLU",
     "image-size=28 channels=1 classes=10 layers=1 batch-norm=false batch=64 lr=1e-3", true},
    {0}};

static const heed_model_case cases[] = {
    {"", "image-size=3 channels=2 classes=5 batch=6 width=8 activation=tanh residual=true"}, {0}};

static heed_tensor *hidden(const mlp *m, heed_tape *t, heed_tensor *x, int i) {
    if (!m->norm[i].gain)
        x = heed_linear_act(&m->dense[i], t, x, m->act);
    else {
        x = heed_batchnorm_apply(&m->norm[i], t, heed_linear_apply(&m->dense[i], t, x));
        x = heed_activate(t, x, m->act);
    }
    return heed_dropout_layer_apply(&m->drop[i], t, x);
}

static heed_tensor *features(const picture_model *base, heed_tape *t, heed_tensor *x) {
    const mlp *m = (const mlp *)(const void *)base;
    if (!x) return NULL;
    x = heed_reshape(t, x, 2, (int[]){x->shape[0], -1}); /* (B,size size channels) */
    for (int i = 0; i < m->layers; i++) {
        heed_tensor *y = hidden(m, t, x, i);
        x = m->residual && i > 0 ? heed_add(t, x, y) : y;
    }
    return x;
}

static bool init(void *self, heed_params *s, const void *settings) {
    const mlp_settings *set = settings;
    mlp *m = self;
    if (!heed__picture_read(&m->base, heed_params_ctx(s), &set->image)) return false;
    m->base.features = features;
    m->layers = set->layers;
    m->residual = set->residual;
    m->act = heed__activation(set->activation);
    for (int i = 0; i < m->layers; i++) {
        int in = i ? set->width : m->base.size * m->base.size * m->base.channels;
        heed_scope_push(s, "hidden.%d", i);
        heed_linear_init(
            &m->dense[i], s, "",
            (heed_linear_args){.in = in, .out = set->width, .no_bias = set->batch_norm});
        if (set->batch_norm) heed_batchnorm_init(&m->norm[i], s, "norm", set->width);
        heed_dropout_layer_init(&m->drop[i], s, "drop", set->dropout);
        heed_scope_pop(s);
    }
    heed__picture_head(&m->base, s, set->width, NULL);
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

const heed_model heed_model_mlp = {
    .name = "mlp",
    .help = "pictures: multilayer perceptron",
    .options = options,
    .set = sizeof(mlp_settings),
    .defaults = "best=accuracy",
    .presets = presets,
    .cases = cases,
    .size = sizeof(mlp),
    .init = init,
    PICTURE_MEMBERS,
};
