/* mlp.c -- multilayer perceptron: one hidden layer on dense inputs. */
#include "common.h"

struct mlp {
    heed_linear hidden, head;
    heed_drop drop;
    heed_act act;
    heed_tensor *logits, *loss; /* of the last batch, for metrics */
};

static const heed_option options[] = {
    WHOLE("features", "784", 1, 1 << 24, "numbers in an input"),
    WHOLE("width", "256", 1, 1 << 20, "width of the hidden layer"),
    WHOLE("classes", "10", 1, 1 << 24, "classes"),
    CHOICE("activation", "relu", ACTIVATIONS, "of the hidden layer"),
    NUMBER("dropout", "0", 0, 0.99, "of the hidden layer"),
    {0}};

static bool init(void *self, heed_store *s, const heed_config *f) {
    mlp *m = self;
    int width = (int)heed_config_int(f, "width");
    heed_linear_args hidden = {.in = (int)heed_config_int(f, "features"), .out = width};
    heed_linear_args head = {.in = width, .out = (int)heed_config_int(f, "classes")};
    heed_linear_init(&m->hidden, s, "hidden", hidden);
    heed_drop_init(&m->drop, s, "drop", (heed_real)heed_config_real(f, "dropout"));
    heed_linear_init(&m->head, s, "head", head);
    m->act = model_activation(f);
    return heed_state(heed_store_ctx(s)) == HEED_OK;
}

heed_tensor *mlp_logits(const mlp *m, heed_tape *t, heed_tensor *x) {
    x = heed_drop_apply(&m->drop, t, heed_linear_act(&m->hidden, t, x, m->act));
    return heed_linear_apply(&m->head, t, x);
}

static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    mlp *m = self;
    m->logits = mlp_logits(m, t, heed_input(t, b->x, 2, (int[]){b->rows, b->len}));
    return m->loss = heed_xent(t, m->logits, heed_input_ids(t, b->labels, 1, &b->rows), NULL);
}

static void metrics(void *self, const heed_batch *b, heed_score *score) {
    mlp *m = self;
    model_score(m->logits, m->loss, b->labels, score);
}

const heed_model heed_model_mlp = {
    .name = "mlp",
    .help = "multilayer perceptron",
    .options = options,
    .size = sizeof(mlp),
    .init = init,
    .loss = loss,
    .metrics = metrics,
};
