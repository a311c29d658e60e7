/* cluster.c -- what the processes of a training say to each other besides gradients: before its
 * first step they become one, agree on what they train, and take the state of rank 0, which alone
 * reads the run. */
#include "core/tape.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool heed__cluster_check(heed_ctx *c, const heed_cluster *k) {
    if (!k || (k->ranks >= 1 && k->rank >= 0 && k->rank < k->ranks && k->exchange)) return true;
    return heed_fail(c, HEED_USAGE,
                     "cluster is wrong: expected a rank below the number of ranks, and a function "
                     "`exchange`, found rank %d of %d%s",
                     k->rank, k->ranks, k->exchange ? "" : " without one");
}

static bool lost(heed_ctx *c, const heed_cluster *k) {
    return heed_fail(c, HEED_FAILED,
                     "process %d of %d cannot reach another one; hint: did one of them end?",
                     k->rank, k->ranks);
}

bool heed__cluster_exchange(heed_ctx *c, const heed_cluster *k, int to, const void *out, size_t n,
                            int from, void *in, size_t m) {
    return (!n && !m) || k->exchange(k->user, to, out, n, from, in, m) || lost(c, k);
}

bool heed__cluster_wait(heed_ctx *c, const heed_cluster *k, size_t pending) {
    return !k->wait || k->wait(k->user, pending) || lost(c, k);
}

typedef struct {
    int32_t status;
    char why[1020];
} report;

bool heed_cluster_agree(heed_ctx *c, const heed_cluster *k) {
    if (!c || !heed__cluster_check(c, k) || !k) return c && !heed__stopped(c);
    report mine = {(int32_t)heed_ctx_status(c), ""}, first = {0}, theirs;
    int failed = k->ranks;
    snprintf(mine.why, sizeof mine.why, "%s", heed_ctx_error(c));
    for (int d = 1; d < k->ranks; d++) {
        int to = (k->rank + d) % k->ranks, from = (k->rank + k->ranks - d) % k->ranks;
        if (!heed__cluster_exchange(c, k, to, &mine, sizeof mine, from, &theirs, sizeof theirs) ||
            !heed__cluster_wait(c, k, 0))
            return false;
        if (theirs.status == HEED_OK || from > failed) continue;
        failed = from;
        first = theirs;
    }
    if (failed < k->ranks)
        heed_fail(c, (heed_status)first.status, "process %d: %.*s", failed,
                  (int)sizeof first.why - 1, first.why);
    return !heed__stopped(c);
}

/* In the n-th round those that have the bytes, 2^n processes, send them to as many others. */
bool heed__cluster_copy(heed_ctx *c, const heed_cluster *k, void *x, size_t n) {
    int me = k->rank;
    bool ok = true;
    for (int have = 1; ok && have < k->ranks; have *= 2) {
        if (me < have && me + have < k->ranks)
            ok = heed__cluster_exchange(c, k, me + have, x, n, me + have, NULL, 0);
        else if (me >= have && me < 2 * have)
            ok = heed__cluster_exchange(c, k, me - have, NULL, 0, me - have, x, n);
        ok = ok && heed__cluster_wait(c, k, 0);
    }
    return ok;
}

static bool copy(heed_training *t, void *x, size_t n) {
    return heed__cluster_copy(t->c, t->group.k, x, n);
}

/* ---- the same program, data and settings ---- */

enum { FACTS = 7 };
typedef struct {
    char of[FACTS][64];
} facts;
static const char *const fact_name[FACTS] = {"version", "precision", "instruction set",   "model",
                                             "data",    "tokenizer", "number of settings"};

static facts facts_of(const heed_training *t) {
    facts x = {0};
    snprintf(x.of[0], 64, "%s", HEED_VERSION);
    snprintf(x.of[1], 64, "%zu bytes", sizeof(heed_real));
    bool bf16 = strcmp(heed_config_text(t->net.config, "precision"), "bf16") == 0;
    snprintf(x.of[2], 64, "%s%s", heed_isa(t->c),
             bf16 && heed_bf16_is_faster() ? " with bf16" : "");
    snprintf(x.of[3], 64, "%.60s", t->net.model->name);
    snprintf(x.of[4], 64, "%016" PRIx64, t->data->checksum);
    snprintf(x.of[5], 64, "%016" PRIx64, heed__tokenizers_digest(t->net.tokenizer, t->net.source));
    snprintf(x.of[6], 64, "%d", heed_config_count(t->net.config));
    return x;
}

static bool same_facts(heed_training *t) {
    facts mine = facts_of(t), expected = mine;
    if (!copy(t, &expected, sizeof expected)) return false;
    for (int i = 0; i < FACTS; i++)
        if (strcmp(mine.of[i], expected.of[i]) != 0)
            return heed_fail(t->c, HEED_USAGE,
                             "%s differs from that of process 0: expected %s, found %s; hint: %s",
                             fact_name[i], expected.of[i], mine.of[i],
                             i == 2 ? "name one that all machines have, such as `isa = avx2`"
                                    : "the same program, data and settings on every machine");
    return true;
}

/* What the checkpoint decides is known to rank 0 alone. */
static bool take_setting(heed_training *t, const char *key, const char *expected) {
    static const char *const decided[] = {"steps", "plan"};
    heed_config *g = t->net.config;
    if (strcmp(heed_config_text(g, key), expected) == 0) return true;
    for (int i = 0; i < 2; i++)
        if (strcmp(key, decided[i]) == 0)
            return heed_config_set(g, key, expected, "process 0", HEED_FROM_FLAG);
    return heed_fail(t->c, HEED_USAGE,
                     "settings differ from those of process 0: `%s`: expected %s, found %s; hint: "
                     "the same settings on every machine",
                     key, *expected ? expected : "nothing",
                     *heed_config_text(g, key) ? heed_config_text(g, key) : "nothing");
}

/* All values, each ended by 0, in the order of the table. */
static bool same_settings(heed_training *t) {
    heed_config *g = t->net.config;
    heed_text all = {.c = t->c};
    const char *value;
    bool ok = true;
    for (int i = 0; ok && i < heed_config_count(g); i++) {
        heed_config_at(g, i, &value);
        ok = heed_text_put(&all, value, strlen(value) + 1);
    }
    uint64_t n = all.n;
    copy(t, &n, sizeof n);
    char *text = heed__alloc(t->c, n + 1);
    if (ok && text && t->group.k->rank == 0) memcpy(text, all.s, n);
    ok = heed_cluster_agree(t->c, t->group.k) && copy(t, text, n);
    char *at = text;
    for (int i = 0; ok && i < heed_config_count(g) && at < text + n; i++) {
        const char *key = heed_config_at(g, i, &value)->name;
        ok = take_setting(t, key, at);
        at += strlen(at) + 1;
    }
    heed__free(text);
    heed_text_free(&all);
    return ok;
}

static bool enough_batches(heed_training *t) {
    int ranks = t->group.k->ranks;
    return t->micros >= (uint32_t)ranks ||
           heed_fail(t->c, HEED_USAGE,
                     "too few batches in an update: `accumulate`: expected at least %d, one for "
                     "each process, found %" PRIu32 "; hint: `accumulate = %d` and a smaller "
                     "`batch`",
                     ranks, t->micros, ranks);
}

bool heed__join_state(heed_training *t) {
    struct {
        heed__state state;
        double before;
        bool fresh, changed;
    } x;
    if (!t->group.k) return !heed__stopped(t->c);
    if (!heed_cluster_agree(t->c, t->group.k)) return false;
    memset(&x, 0, sizeof x);
    x.state = t->state;
    x.before = t->before;
    x.fresh = t->fresh;
    x.changed = t->changed;
    same_facts(t);
    if (!heed_cluster_agree(t->c, t->group.k)) return false; /* equal settings in number */
    same_settings(t);
    if (!copy(t, &x, sizeof x) || !heed_cluster_agree(t->c, t->group.k)) return false;
    heed__tape_defer_updates(t->net.tape);
    t->state = x.state;
    t->before = x.before;
    t->fresh = x.fresh;
    t->changed = x.changed;
    return true;
}

/* ---- plans and weights ---- */

bool heed__join_share(heed_training *t) {
    heed__group *g = &t->group;
    uint32_t last = t->micros - 1;
    if (g->k) {
        g->from = heed__group_first(t->micros, g->k->ranks, g->k->rank);
        last = g->to = heed__group_first(t->micros, g->k->ranks, g->k->rank + 1);
    }
    if (t->micros == 1 && !g->k) return true;
    int levels = heed__tree_depth(g->from, last);
    bool ok =
        heed__gradients_open(&t->gradients, t->net.store, levels) && (!g->k || heed__group_open(t));
    size_t bytes = (size_t)levels * t->gradients.size * sizeof(heed_real);
    t->memory.gradients += bytes;
    t->memory.total += bytes;
    return ok;
}

bool heed__join_plans(heed_training *t) {
    struct {
        heed__plans plans;
        heed__clock clock;
        int64_t evals;
        double limit;
        uint64_t micros, update_bytes, parameters;
    } *x = NULL;
    if (!t->group.k) return !heed__stopped(t->c);
    if (!heed_cluster_agree(t->c, t->group.k)) return false;
    x = heed__alloc(t->c, sizeof *x);
    if (!heed_cluster_agree(t->c, t->group.k)) {
        heed__free(x);
        return false;
    }
    x->plans = t->plans;
    x->clock = t->clock;
    x->evals = t->set.evals;
    x->limit = t->state.clock;
    x->micros = t->micros;
    x->update_bytes = t->group.update_bytes;
    x->parameters = heed_store_params(t->net.store);
    bool ok = copy(t, x, sizeof *x);
    if (ok && (x->micros != t->micros || x->update_bytes != t->group.update_bytes ||
               x->parameters != heed_store_params(t->net.store)))
        ok = heed_fail(t->c, HEED_USAGE,
                       "model differs from that of process 0: expected %" PRIu64
                       " parameters, found %zu",
                       x->parameters, heed_store_params(t->net.store));
    if (ok) enough_batches(t);
    t->plans = x->plans;
    t->clock = x->clock;
    t->set.evals = x->evals;
    t->state.clock = x->limit;
    heed__free(x);
    if (t->set.minutes > 0 && heed__helps(t))
        heed__length_fix(t, (double)heed__plans_end(&t->plans));
    return heed_cluster_agree(t->c, t->group.k);
}

static bool copy_store(heed_training *t, const heed_store *s) {
    enum { MOST = 1 << 27 }; /* numbers in a message */
    bool ok = true;
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_tensor *x = heed_store_at(s, i)->tensor;
        for (size_t at = 0, n; ok && at < x->size; at += n) {
            n = x->size - at < MOST ? x->size - at : MOST;
            ok = copy(t, x->x + at, n * sizeof *x->x);
        }
    }
    return ok;
}

bool heed__join_weights(heed_training *t) {
    if (!t->group.k) return !heed__stopped(t->c);
    t->group.joined = heed_cluster_agree(t->c, t->group.k) && copy_store(t, t->net.store) &&
                      copy_store(t, heed_optim_slots(t->optim));
    return t->group.joined;
}

bool heed__join_read(heed_training *t) {
    const heed_cluster *k = t->group.k;
    bool reads = !t->fresh && !heed__stopped(t->c) && (!k || k->rank == 0);
    if (reads) heed__run_read_weights(t->net.store, t->a.run, "last/model.safetensors");
    if (t->fresh || !k) return !heed__stopped(t->c);
    return heed_cluster_agree(t->c, k) && copy_store(t, t->net.store);
}
