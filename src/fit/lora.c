/* lora.c -- low-rank adapters by settings: which weights have one, and what is trained besides. */
#include "core/core.h"
#include "fit/fit.h"

#include <string.h>

const char *const heed__lora_settings[] = {"lora", "lora-alpha", "lora-targets", NULL};

/* The default targets exist only in models with projections to queries and values. */
static bool no_target(const heed_config *f, const char *pattern, const heed_store *s) {
    if (strcmp(heed_config_text(f, "lora-targets"), heed_config_default(f, "lora-targets")) != 0)
        return heed__no_match("lora-targets", pattern, s);
    return heed_fail(heed_store_ctx(s), HEED_USAGE,
                     "`lora` finds nothing to adapt: `lora-targets` %s: expected projections to "
                     "queries and values, found none in this model; hint: patterns of its weights, "
                     "as `lora-targets = '*.weight'`",
                     pattern);
}

bool heed__lora_complete(heed_config *f) {
    int64_t rank = heed_config_int(f, "lora");
    return rank == 0 || heed_config_real(f, "lora-alpha") > 0 ||
           heed__settings_number(f, "lora-alpha", 2 * rank, "lora");
}

bool heed__lora_attach(heed_store *s, const heed_config *f) {
    char item[256];
    if (!heed_config_has(f, "lora") || heed_config_int(f, "lora") == 0) return true;
    int rank = (int)heed_config_int(f, "lora");
    double alpha = heed_config_real(f, "lora-alpha");
    if (alpha <= 0) alpha = 2 * rank;
    const char *at = heed_config_text(f, "lora-targets");
    if (!at[strspn(at, " \t,")])
        return heed_fail(heed_store_ctx(s), HEED_USAGE,
                         "`lora-targets` is empty: expected name patterns; hint: '%s'",
                         heed_config_default(f, "lora-targets"));
    while (heed__next_item(&at, item, sizeof item)) {
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

/* Whether nothing of a parameter comes from the run that the training starts from. Without such a
 * run, the head is what is new to the task. */
static bool is_new(const heed__fitting *f, const heed_entry *e) {
    if (!f->from) return heed_match("head.*", e->name);
    for (int i = 0; i < f->begun.count; i++) {
        const heed_start_entry *s = &f->begun.entries[i];
        if (s->to == e->tensor) return s->how == HEED_START_NEW || s->how == HEED_START_UNFIT;
    }
    return false;
}

bool heed__lora_choose(heed__fitting *f) {
    heed_config *g = f->a->config;
    if (!f->set.lora || strcmp(f->set.lora_train, "auto") != 0) return true;
    heed_text list = {.c = f->c};
    for (int i = 0; i < heed_store_count(f->store); i++) {
        const heed_entry *e = heed_store_at(f->store, i);
        if (!e->adapter && !e->state && is_new(f, e))
            heed_text_add(&list, "%s%s", list.n ? "," : "", e->name);
    }
    bool ok = heed_config_set(g, "lora-train", list.n ? list.s : "none", "lora", HEED_FROM_FLAG);
    f->set.lora_train = heed_config_text(g, "lora-train");
    heed_text_free(&list);
    return ok;
}

/* Whether the list has a pattern that matches. */
static bool listed(const char *patterns, const char *name) {
    char item[256];
    while (heed__next_item(&patterns, item, sizeof item))
        if (heed_match(item, name)) return true;
    return false;
}

bool heed__lora_freeze(heed_store *s, const char *patterns) {
    char item[256];
    for (const char *at = patterns; heed__next_item(&at, item, sizeof item);)
        if (strcmp(item, "none") != 0 && !heed__matches(s, item))
            return heed__no_match("lora-train", item, s);
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (!e->adapter && !listed(patterns, e->name)) heed_freeze(s, e->name);
    }
    return true;
}
