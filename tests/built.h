/* Models built from words, for the tests of models. */
#ifndef HEED_TEST_BUILT_H
#define HEED_TEST_BUILT_H

#include "test.h"
#include <heed/models.h>

/* A model built from "key=value ..." settings. */
typedef struct {
    heed_ctx *c;
    heed_config *f;
    heed_params *s;
    heed_tape *t;
    void *self;
    const heed_model *model;
} built;

static inline void set_all(heed_config *f, const char *settings) {
    char text[512];
    snprintf(text, sizeof text, "%s", settings);
    for (char *pair = text; *pair;) {
        char *end = pair + strcspn(pair, " "), *value = strchr(pair, '=');
        bool last = !*end;
        *end = 0;
        *value++ = 0;
        heed_config_set(f, pair, value, "test", HEED_FROM_FLAG);
        pair = last ? end : end + 1;
    }
}

static inline built build_on(int threads, const heed_model *model, const char *preset,
                             const char *settings) {
    built b = {.c = heed_open(&(heed_options){.seed = 5, .threads = threads}), .model = model};
    b.f =
        heed_config_new(b.c, (const heed_option *const[]){model->options, heed_fit_options, NULL});
    b.s = heed_params_new(b.c);
    b.t = heed_tape_new(b.c);
    b.self = calloc(1, model->size);
    if (preset) heed_preset_apply(b.c, b.f, model, preset);
    if (settings) set_all(b.f, settings);
    heed_model_init(model, b.self, b.s, b.f);
    return b;
}

static inline built build(const heed_model *model, const char *preset, const char *settings) {
    return build_on(1, model, preset, settings);
}

/* The logits of a built model. */
static inline heed_tensor *logits_of(const built *b, heed_model_input in) {
    return b->model->logits(b->self, b->t, &in);
}

static inline void discard(built *b, const char *file, int line) {
    free(b->self);
    test_close(b->c, file, line);
}
#define DISCARD(b) discard(&(b), __FILE__, __LINE__)

static inline const heed_tensor *param(const built *b, const char *name) {
    const heed_param *e = heed_params_find(b->s, name);
    if (!e) test_fail(__FILE__, __LINE__, "no parameter %s", name);
    return e ? e->tensor : NULL;
}

static inline double apart(const heed_real *a, const heed_real *b, size_t n) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        if (!(d <= worst)) worst = d;
    }
    return worst;
}

static inline void check_count(const heed_model *model, const char *preset, const char *settings,
                               size_t count) {
    built b = build(model, preset, settings);
    size_t found = heed_params_numel(b.s);
    if (found != count)
        test_fail(__FILE__, __LINE__, "%s %s: %zu parameters, expected %zu", model->name,
                  preset ? preset : settings, found, count);
    DISCARD(b);
}

/* Biases and gains move off their starts, where differences would be at their least exact. */
static inline void shake(heed_params *s) {
    for (int i = 0; i < heed_params_count(s); i++) {
        heed_tensor *x = heed_params_at(s, i)->tensor;
        heed_random r = heed_random_at(3, x->name, 0, 0);
        for (size_t j = 0; j < x->size; j++)
            x->x[j] += (heed_real)(0.2 * heed_random_normal(&r, j));
    }
}

#endif
