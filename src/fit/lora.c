/* lora.c -- low-rank adapters by settings: which weights have one, and what is trained besides. */
#include "core/core.h"
#include "fit/fit.h"

#include <string.h>

const char *const heed__lora_settings[] = {"lora", "lora-alpha", "lora-targets", NULL};

/* A weight that can be adapted: the first trained matrix after the embeddings. */
static const char *matrix_of(const heed_store *s) {
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (e->trained && e->tensor->dims > 1 && !heed_match("embed.*", e->name)) return e->name;
    }
    return "head.weight";
}

/* The default targets exist only in models with projections to queries and values. */
static bool no_target(const heed_config *f, const char *pattern, const heed_store *s) {
    if (strcmp(heed_config_text(f, "lora-targets"), heed_config_default(f, "lora-targets")) != 0)
        return heed__no_match("lora-targets", pattern, s);
    return heed_fail(
        heed_store_ctx(s), HEED_USAGE,
        "`lora` finds nothing to adapt: `lora-targets` %s: expected projections to "
        "queries and values, found none in this model; hint: names of its matrices, such as "
        "`lora-targets = %s`",
        pattern, matrix_of(s));
}

bool heed__lora_complete(heed_config *f) {
    int64_t rank = heed_config_int(f, "lora");
    return rank == 0 || heed_config_real(f, "lora-alpha") > 0 ||
           heed__settings_number(f, "lora-alpha", 2 * rank, "lora");
}

bool heed__lora_attach(heed_store *s, const heed_config *f) {
    char item[HEED__ITEM];
    if (!heed_config_has(f, "lora") || heed_config_int(f, "lora") == 0) return true;
    int rank = (int)heed_config_int(f, "lora");
    double alpha = heed_config_real(f, "lora-alpha");
    if (alpha <= 0) alpha = 2 * rank;
    const char *at = heed_config_text(f, "lora-targets");
    if (!at[strspn(at, " \t,")])
        return heed_fail(heed_store_ctx(s), HEED_USAGE,
                         "`lora-targets` is empty: expected name patterns; hint: '%s'",
                         heed_config_default(f, "lora-targets"));
    while (heed__next_item(heed_store_ctx(s), &at, item)) {
        int n = heed_lora_add(s, item, rank, (heed_real)alpha);
        if (n < 0) return false;
        if (n == 0) return no_target(f, item, s);
    }
    return !heed__stopped(heed_store_ctx(s));
}

int heed__lora_count(const heed_store *s) {
    int n = 0;
    for (int i = 0; i < heed_store_count(s); i++) n += heed_store_at(s, i)->adapter;
    return n / 2; /* A and B */
}

/* How a parameter came from the run that the training starts from. */
static heed_start_how how_of(const heed__fitting *f, const heed_entry *e) {
    for (int i = 0; i < f->begun.count; i++)
        if (f->begun.entries[i].to == e->tensor) return f->begun.entries[i].how;
    return HEED_START_TAKEN;
}

/* Whether nothing of a parameter comes from that run. Without one, what belongs to the classes is
 * new to the task. */
static bool is_new(const heed__fitting *f, const heed_entry *e) {
    heed_start_how how = how_of(f, e);
    if (e->adapter || e->state) return false;
    return f->from ? how == HEED_START_NEW || how == HEED_START_UNFIT
                   : e->rows == HEED_ROWS_CLASSES;
}

bool heed__lora_choose(heed__fitting *f) {
    heed_config *g = f->a->config;
    if (!f->set.lora || strcmp(f->set.lora_train, "auto") != 0) return true;
    heed_text list = {.c = f->c};
    for (int i = 0; i < heed_store_count(f->store); i++) {
        const heed_entry *e = heed_store_at(f->store, i);
        if (is_new(f, e)) heed_text_add(&list, "%s%s", list.n ? "," : "", e->name);
    }
    bool ok = heed_config_set(g, "lora-train", list.n ? list.s : "none", "lora", HEED_FROM_FLAG);
    f->set.lora_train = heed_config_text(g, "lora-train");
    heed_text_free(&list);
    return ok;
}

void heed__lora_warn(heed__fitting *f) {
    const heed_entry *kept = NULL, *rows = NULL;
    if (!f->set.lora || !f->fresh) return;
    if (!f->from)
        heed__fit_note(f,
                       "warning: `lora` leaves the weights of the model as they are, which is at "
                       "random without `from`; hint: `from = RUN`");
    for (int i = 0; f->from && i < heed_store_count(f->store); i++) {
        const heed_entry *e = heed_store_at(f->store, i);
        if (!e->trained && !kept && is_new(f, e)) kept = e;
        if (!e->trained && !rows && how_of(f, e) == HEED_START_MATCHED) rows = e;
    }
    if (kept)
        heed__fit_note(f,
                       "warning: %s is not of %s and is not trained: it stays as it was "
                       "initialised; hint: `lora-train = auto`",
                       kept->name, f->from->dir);
    if (rows)
        heed__fit_note(f,
                       "warning: rows of %s are not of %s and are not trained: they stay as they "
                       "were initialised; hint: `lora-train = %s`",
                       rows->name, f->from->dir, rows->name);
}

/* Whether the list has a pattern that matches. */
static bool listed(heed_ctx *c, const char *patterns, const char *name) {
    char item[HEED__ITEM];
    while (heed__next_item(c, &patterns, item))
        if (heed_match(item, name)) return true;
    return false;
}

bool heed__lora_freeze(heed_store *s, const char *patterns) {
    char item[HEED__ITEM];
    heed_ctx *c = heed_store_ctx(s);
    for (const char *at = patterns; heed__next_item(c, &at, item);)
        if (strcmp(item, "none") != 0 && !heed__matches(s, item))
            return heed__no_match("lora-train", item, s);
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (!e->adapter && !listed(c, patterns, e->name)) heed_freeze(s, e->name);
    }
    return !heed__stopped(c);
}
