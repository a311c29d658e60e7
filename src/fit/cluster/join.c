/* join.c -- the processes of a training run become one before its first step: they agree on what
 * they train, and take the state of rank 0, which alone reads the run. */
#include "core/tape.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool copy(heed__fitting *f, void *x, size_t n) {
    return heed__cluster_copy(f->c, f->group.k, x, n);
}

/* ---- the same program, data and settings ---- */

enum { FACTS = 7 };
typedef struct {
    char of[FACTS][64];
} facts;
static const char *const fact_name[FACTS] = {"version", "precision", "instruction set",   "model",
                                             "data",    "tokenizer", "number of settings"};

static facts facts_of(const heed__fitting *f) {
    facts x = {0};
    snprintf(x.of[0], 64, "%s", HEED_VERSION);
    snprintf(x.of[1], 64, "%zu bytes", sizeof(heed_real));
    bool bf16 = strcmp(heed_config_text(f->a->config, "precision"), "bf16") == 0;
    snprintf(x.of[2], 64, "%s%s", heed_isa(f->c),
             bf16 && heed_bf16_is_faster() ? " with bf16" : "");
    snprintf(x.of[3], 64, "%.60s", f->a->model->name);
    snprintf(x.of[4], 64, "%016" PRIx64, f->a->data_checksum);
    snprintf(x.of[5], 64, "%016" PRIx64,
             f->a->tokenizer ? heed__tokenizers_digest(f->a->tokenizer, f->a->source)
                             : f->a->tokenizer_digest);
    snprintf(x.of[6], 64, "%d", heed_config_count(f->a->config));
    return x;
}

static bool same_facts(heed__fitting *f) {
    facts mine = facts_of(f), expected = mine;
    if (!copy(f, &expected, sizeof expected)) return false;
    for (int i = 0; i < FACTS; i++)
        if (strcmp(mine.of[i], expected.of[i]) != 0)
            return heed_fail(f->c, HEED_USAGE,
                             "%s differs from that of process 0: expected %s, found %s; hint: %s",
                             fact_name[i], expected.of[i], mine.of[i],
                             i == 2 ? "name one that all machines have, such as `isa = avx2`"
                                    : "the same program, data and settings on every machine");
    return true;
}

/* What the checkpoint decides is known to rank 0 alone. */
static bool take_setting(heed__fitting *f, const char *key, const char *expected) {
    static const char *const decided[] = {"steps", "plan", "accumulate-order"};
    heed_config *g = f->a->config;
    if (strcmp(heed_config_text(g, key), expected) == 0) return true;
    for (int i = 0; i < 3; i++)
        if (strcmp(key, decided[i]) == 0)
            return heed_config_set(g, key, expected, "process 0", HEED_FROM_FLAG);
    return heed_fail(f->c, HEED_USAGE,
                     "settings differ from those of process 0: `%s`: expected %s, found %s; hint: "
                     "the same settings on every machine",
                     key, *expected ? expected : "nothing",
                     *heed_config_text(g, key) ? heed_config_text(g, key) : "nothing");
}

/* All values, each ended by 0, in the order of the table. */
static bool same_settings(heed__fitting *f) {
    heed_config *g = f->a->config;
    heed_text all = {.c = f->c};
    const char *value;
    bool ok = true;
    for (int i = 0; ok && i < heed_config_count(g); i++) {
        heed_config_at(g, i, &value);
        ok = heed_text_put(&all, value, strlen(value) + 1);
    }
    uint64_t n = all.n;
    copy(f, &n, sizeof n);
    char *text = heed__alloc(f->c, n + 1);
    if (ok && text && f->group.k->rank == 0) memcpy(text, all.s, n);
    ok = heed_cluster_agree(f->c, f->group.k) && copy(f, text, n);
    char *at = text;
    for (int i = 0; ok && i < heed_config_count(g) && at < text + n; i++) {
        const char *key = heed_config_at(g, i, &value)->name;
        ok = take_setting(f, key, at);
        at += strlen(at) + 1;
    }
    heed__free(text);
    heed_text_free(&all);
    return ok;
}

static bool enough_batches(heed__fitting *f) {
    int ranks = f->group.k->ranks;
    if (f->set.sequence)
        return heed_fail(f->c, HEED_USAGE,
                         "batches are added one after another: expected one process, found %d; "
                         "hint: `accumulate-order = tree`; a run of an early version can only be "
                         "resumed in one process",
                         ranks);
    return f->micros >= (uint32_t)ranks ||
           heed_fail(f->c, HEED_USAGE,
                     "too few batches in an update: `accumulate`: expected at least %d, one for "
                     "each process, found %" PRIu32 "; hint: `accumulate = %d` and a smaller "
                     "`batch`",
                     ranks, f->micros, ranks);
}

bool heed__join_state(heed__fitting *f) {
    struct {
        heed__state state;
        double before;
        bool fresh, changed;
    } x;
    if (!f->group.k) return !heed__stopped(f->c);
    if (!heed_cluster_agree(f->c, f->group.k)) return false;
    memset(&x, 0, sizeof x);
    x.state = f->state;
    x.before = f->before;
    x.fresh = f->fresh;
    x.changed = f->changed;
    same_facts(f);
    if (!heed_cluster_agree(f->c, f->group.k)) return false; /* equal settings in number */
    same_settings(f);
    if (!copy(f, &x, sizeof x) || !heed_cluster_agree(f->c, f->group.k)) return false;
    heed__tape_defer_updates(f->tape);
    f->state = x.state;
    f->before = x.before;
    f->fresh = x.fresh;
    f->changed = x.changed;
    return true;
}

/* ---- plans and weights ---- */

bool heed__join_share(heed__fitting *f) {
    heed__group *g = &f->group;
    uint32_t last = f->micros - 1;
    if (g->k) {
        g->micros = f->micros;
        g->from = heed__tree_first(f->micros, g->k->ranks, g->k->rank);
        last = g->to = heed__tree_first(f->micros, g->k->ranks, g->k->rank + 1);
    }
    if (f->set.sequence || (f->micros == 1 && !g->k)) return true;
    int levels = heed__tree_depth(g->from, last);
    bool ok =
        heed__gradients_open(&f->gradients, f->store, levels) && (!g->k || heed__group_open(f));
    size_t bytes = (size_t)levels * f->gradients.size * sizeof(heed_real);
    f->memory.gradients += bytes;
    f->memory.total += bytes;
    return ok;
}

bool heed__join_plans(heed__fitting *f) {
    struct {
        heed__plans plans;
        heed__clock clock;
        int64_t evals;
        double limit;
        uint64_t micros, update_bytes, parameters;
    } *x = NULL;
    if (!f->group.k) return !heed__stopped(f->c);
    if (!heed_cluster_agree(f->c, f->group.k)) return false;
    x = heed__alloc(f->c, sizeof *x);
    if (!heed_cluster_agree(f->c, f->group.k)) {
        heed__free(x);
        return false;
    }
    x->plans = f->plans;
    x->clock = f->clock;
    x->evals = f->set.evals;
    x->limit = f->state.clock;
    x->micros = f->micros;
    x->update_bytes = f->group.update_bytes;
    x->parameters = heed_store_params(f->store);
    bool ok = copy(f, x, sizeof *x);
    if (ok && (x->micros != f->micros || x->update_bytes != f->group.update_bytes ||
               x->parameters != heed_store_params(f->store)))
        ok = heed_fail(f->c, HEED_USAGE,
                       "model differs from that of process 0: expected %" PRIu64
                       " parameters, found %zu",
                       x->parameters, heed_store_params(f->store));
    if (ok) enough_batches(f);
    f->plans = x->plans;
    f->clock = x->clock;
    f->set.evals = x->evals;
    f->state.clock = x->limit;
    heed__free(x);
    return heed_cluster_agree(f->c, f->group.k);
}

static bool copy_store(heed__fitting *f, const heed_store *s) {
    enum { MOST = 1 << 27 }; /* numbers in a message */
    bool ok = true;
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_tensor *x = heed_store_at(s, i)->tensor;
        for (size_t at = 0, n; ok && at < x->size; at += n) {
            n = x->size - at < MOST ? x->size - at : MOST;
            ok = copy(f, x->x + at, n * sizeof *x->x);
        }
    }
    return ok;
}

bool heed__join_weights(heed__fitting *f) {
    if (!f->group.k) return !heed__stopped(f->c);
    f->group.joined = heed_cluster_agree(f->c, f->group.k) && copy_store(f, f->store) &&
                      copy_store(f, heed_optim_slots(f->optim));
    return f->group.joined;
}

bool heed__join_read(heed__fitting *f) {
    const heed_cluster *k = f->group.k;
    bool reads = !f->fresh && !heed__stopped(f->c) && (!k || k->rank == 0);
    if (reads) heed__run_read_weights(f->store, f->a->run, "last/model.safetensors");
    if (f->fresh || !k) return !heed__stopped(f->c);
    return heed_cluster_agree(f->c, k) && copy_store(f, f->store);
}
