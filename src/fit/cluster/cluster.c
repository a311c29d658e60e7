/* cluster.c -- what the processes of a training run say to each other besides gradients. */
#include "fit/fit.h"

#include <stdio.h>

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
