/* Conditions of settings: a model refuses exactly those that change nothing. */
#include "built.h"
#include "core/tape.h"

enum { ROWS = 2, LEN = 4 };
static const int32_t tokens[] = {3, 5, 7, 2, 6, 1, 4, 0};

/* What a model is: digests of its initial parameters, of its logits in training, and of a training
 * step: the loss and the memory that it uses. */
typedef struct {
    bool accepted;       /* the value, by the option table */
    bool built, refused; /* refused: as a setting without effect */
    uint64_t parameters, logits, step;
} looks;

static uint64_t mix(uint64_t h, const void *bytes, size_t n) {
    for (const unsigned char *p = bytes; n; n--) h = (h ^ *p++) * 1099511628211u;
    return h;
}

static uint64_t parameters_of(const heed_params *s) {
    uint64_t h = 0;
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_tensor *x = heed_params_at(s, i)->tensor;
        h = mix(h, x->name, strlen(x->name));
        h = mix(h, x->shape, (size_t)x->dims * sizeof *x->shape);
        h = mix(h, x->x, x->size * sizeof *x->x);
    }
    return h;
}

/* Pictures of the model's size, on the tape of a new step. */
static heed_tensor *pictures(built *b) {
    heed_tape_begin(b->t, HEED_TRAIN, 1);
    if (!b->model->data->images) return NULL;
    int size = (int)heed_config_int(b->f, "image-size");
    int channels = (int)heed_config_int(b->f, "channels");
    heed_tensor *x = heed_input(b->t, NULL, 4, (int[]){ROWS, size, size, channels});
    heed_random r = heed_random_at(1, "x", 0, 0);
    for (size_t i = 0; x && i < x->size; i++) x->x[i] = (heed_real)heed_random_normal(&r, i);
    return x;
}

static uint64_t step_digest(built *b) {
    static const int32_t labels[] = {0, 1, 1, 0, 1, 0, 0, 1}, masked[] = {1, 4};
    const heed_tensor *x = pictures(b);
    heed_batch batch = {.rows = ROWS, .len = LEN, .ids = tokens, .labels = labels, .items = ROWS};
    batch.src = tokens, batch.src_len = LEN;
    if (x) batch.x = x->x;
    if (b->model->data->images && !b->model->data->target) batch.len = (int)x->size / ROWS;
    if (b->model->data->mask) batch.masked_positions = masked, batch.masked_count = 2;
    heed_tensor *loss = b->model->loss(b->self, b->t, &batch);
    if (!heed_backward(b->t, loss)) return 1;
    size_t used = heed__tape_used(b->t).bytes;
    return mix(mix(0, loss->x, sizeof *loss->x), &used, sizeof used);
}

static uint64_t logits_digest(built *b) {
    heed_model_input in = {.x = pictures(b)};
    if (!in.x) in.x = heed_ids(b->t, tokens, ROWS, LEN);
    if (b->model->data->target) in.target = heed_ids(b->t, tokens, ROWS, LEN);
    const heed_tensor *y = logits_of(b, in);
    return y ? mix(0, y->x, y->size * sizeof *y->x) : 1;
}

/* The model of a case, with one more setting unless key is NULL. */
static looks look(const heed_model *m, const heed_model_case *k, const char *key, const char *value,
                  heed_rank rank) {
    looks l = {0};
    built b = {.c = heed_open(&(heed_options){.seed = 5, .threads = 1}), .model = m};
    b.f = heed_model_config(b.c, m, NULL);
    b.s = heed_params_new(b.c);
    b.t = heed_tape_new(b.c);
    b.self = calloc(1, m->size);
    heed_config_set_list(b.f, k->settings, "test", HEED_FROM_PRESET);
    l.accepted = !key || heed_config_set(b.f, key, value, "test", rank);
    l.refused = l.accepted && !heed_config_check(b.f);
    l.built = l.accepted && !l.refused && heed_model_init(m, b.self, b.s, b.f);
    if (l.built) {
        l.parameters = parameters_of(b.s);
        shake(b.s);
        l.logits = logits_digest(&b);
        l.step = step_digest(&b);
        l.built = heed_ctx_status(b.c) == HEED_OK;
    }
    heed_clear(b.c);
    DISCARD(b);
    return l;
}

static bool alike(looks a, looks b) {
    return a.built == b.built && a.parameters == b.parameters && a.logits == b.logits &&
           a.step == b.step;
}

/* Value number i to try instead of `now`; false after the last. */
static bool other_value(const heed_option *o, const char *now, int i, char *value, size_t size) {
    static const char *const whole[] = {"1", "2", "3", "4", "5", "0"};
    static const char *const real[] = {"0.25", "0.5", "1", "3", "0"};
    const char *at = o->choices;
    switch (o->kind) {
    case HEED_OPTION_BOOL:
        snprintf(value, size, "%s", strcmp(now, "true") == 0 ? "false" : "true");
        return i == 0;
    case HEED_OPTION_INT:
        if (i < 6) snprintf(value, size, "%s", whole[i]);
        return i < 6;
    case HEED_OPTION_REAL:
        if (i < 5) snprintf(value, size, "%s", real[i]);
        return i < 5;
    case HEED_OPTION_STRING:
        for (int k = 0; at && k < i; k++) at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL;
        if (at) snprintf(value, size, "%.*s", (int)strcspn(at, "|"), at);
        return at != NULL;
    }
    return false;
}

/* Settings of the batches, of vectors of texts, and of the memory of a large output layer. */
static bool elsewhere(const char *name) {
    static const char *const names[] = {"mask-share",    "source-vocab", "vocab-rows",
                                        "segment-token", "block",        "pool",
                                        "unit",          "embed-tokens", "bracket"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static void check_option(const heed_model *m, const heed_model_case *k, const heed_option *o,
                         looks base, const char *now) {
    char value[64];
    bool effect = false, refused = false;
    for (int i = 0; other_value(o, now, i, value, sizeof value); i++) {
        if (strcmp(value, now) == 0) continue;
        looks given = look(m, k, o->name, value, HEED_FROM_FLAG);
        if (!given.accepted) continue;
        refused = refused || given.refused;
        looks other = look(m, k, o->name, value, HEED_FROM_PRESET);
        effect = effect || (!alike(base, other) && (other.built || !given.refused));
        if (effect) break;
    }
    if (effect == refused && !(elsewhere(o->name) && !refused))
        test_fail(__FILE__, __LINE__, "%s %s: %s %s", m->name, k->name, o->name,
                  effect ? "is refused, but has an effect" : "is accepted without effect");
}

/* Shared settings that change how a step is computed. */
static bool of_a_step(const char *name) {
    return !strcmp(name, "all-rows") || !strcmp(name, "recompute");
}

TEST(conditions_refuse_the_settings_of_models_that_change_nothing) {
    heed_ctx *c = heed_open(NULL);
    for (int i = 0; heed_models[i]; i++) {
        const heed_model *m = heed_models[i];
        for (const heed_model_case *k = m->cases; k && k->settings; k++) {
            heed_config *f = heed_model_config(c, m, NULL);
            heed_config_set_list(f, k->settings, "test", HEED_FROM_PRESET);
            looks base = look(m, k, NULL, NULL, HEED_FROM_PRESET);
            CHECK(base.built);
            for (int j = 0; j < heed_config_count(f); j++) {
                const char *value;
                const heed_option *o = heed_config_at(f, j, &value);
                if (of_a_step(o->name) || heed_option_find(m->options, o->name))
                    check_option(m, k, o, base, value);
            }
            heed_config_free(f);
        }
    }
    CLOSE(c);
}
