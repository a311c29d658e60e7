/* model.c -- what a model inherits from its kind of data, its settings, and its presets. */
#include "core/core.h"
#include "fit/fit.h"

#include <stdio.h>
#include <string.h>

bool heed__model_usable(const heed_model *m) { return m->name && m->init && m->loss; }

const heed_data_kind *heed_model_data(const heed_model *m) {
    return m && m->data ? m->data : &heed_own_numbers;
}

bool heed_model_init(const heed_model *m, void *self, heed_store *s, const heed_config *f) {
    heed_ctx *c = heed_store_ctx(s);
    if (!m || !m->init || !self || !f || heed__stopped(c)) return false;
    void *set = m->set ? heed__alloc(c, m->set) : NULL;
    bool ok = !m->set || (set && heed_config_bind(f, m->options, set));
    if (ok && !m->init(self, s, m->set ? set : (const void *)f))
        ok = heed_fail(c, HEED_USAGE, "model %s refuses its settings", m->name);
    heed__free(set);
    return ok && heed__lora_attach(s, f);
}

bool heed_model_batch(const heed_model *m, void *self, const heed_data *data, heed_batch_at at,
                      heed_batch *out) {
    const heed_data_kind *k = heed_model_data(m);
    if (!m || !out) return false;
    if (m->batch) return m->batch(self, data, at, out);
    return data && k->batch && k->batch(data, at, out);
}

uint64_t heed_model_eval_batches(const heed_model *m, void *self, const heed_data *data, int rows) {
    const heed_data_kind *k = heed_model_data(m);
    if (m && m->eval_batches) return m->eval_batches(self, data, rows);
    return m && data && k->eval_batches ? k->eval_batches(data, rows) : 0;
}

uint64_t heed_model_epoch_batches(const heed_model *m, void *self, const heed_data *data,
                                  int rows) {
    const heed_data_kind *k = heed_model_data(m);
    if (!m) return 0;
    if (m->epoch_batches) return m->epoch_batches(self, data, rows);
    return data && k->epoch_batches ? k->epoch_batches(data, rows) : 1;
}

/* ---- settings ---- */

heed_config *heed_model_config(heed_ctx *c, const heed_model *m, const heed_option *const *tables) {
    enum { MOST = 16 };
    const heed_option *all[MOST] = {0};
    int n = 0;
    if (!m) return NULL;
    for (; tables && *tables && n < MOST - 3; tables++) all[n++] = *tables;
    if (tables && *tables) {
        heed_fail(c, HEED_USAGE, "too many tables of settings: expected at most %d", MOST - 3);
        return NULL;
    }
    if (m->options) all[n++] = m->options;
    all[n] = heed_fit_options;
    heed_config *f = heed_config_new(c, all);
    if (heed_config_set_list(f, m->defaults, m->name, HEED_FROM_DEFAULT)) return f;
    heed_config_free(f);
    return NULL;
}

bool heed_preset_apply(heed_ctx *c, heed_config *f, const heed_model *m, const char *name) {
    if (heed__stopped(c) || !f || !m || !name) return false;
    char where[64];
    const heed_preset *p = m->presets;
    while (p && p->name && strcmp(p->name, name) != 0) p++;
    if (p && p->name) {
        snprintf(where, sizeof where, "`preset = %s`", name);
        return heed_config_set_list(f, p->settings, where, HEED_FROM_PRESET);
    }
    heed_text list = {.c = c};
    for (p = m->presets; p && p->name; p++)
        heed_text_add(&list, "%s%s", list.n ? ", " : "one of ", p->name);
    heed_fail(c, HEED_USAGE, "preset is unknown: `preset`: expected %s, found %s",
              list.n ? list.s : "none, as the model has no presets", name);
    heed_text_free(&list);
    return false;
}
