/* groups.c -- runs of one recipe with several seeds, as one row with a mean and its interval. */
#include "commands/compare/compare.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double last_of(const double *x, int n) { return n ? x[n - 1] : (double)NAN; }

double least_of(const double *x, int n) {
    double best = (double)NAN;
    for (int i = 0; i < n; i++)
        if (!(x[i] >= best)) best = x[i];
    return best;
}

double most_of(const double *x, int n) {
    double best = (double)NAN;
    for (int i = 0; i < n; i++)
        if (!(x[i] <= best)) best = x[i];
    return best;
}

/* ---- groups ---- */

bool is_incidental(const char *key) {
    static const char *const keys[] = {"preset", "workers",   "cache-mb",       "mean",
                                       "std",    "snapshots", "snapshot-items", "snapshot-input"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

/* Whether a run's number of steps was set by a time limit, and so by the machine's speed. */
static bool is_timed(const compared *r) {
    return heed_config_has(r->f, "timed") && heed_config_real(r->f, "timed") > 0;
}

static bool is_of_clock(const char *key) {
    return strcmp(key, "steps") == 0 || strcmp(key, "plan") == 0 || strcmp(key, "evals") == 0;
}

static bool one_recipe(const compared *a, const compared *b) {
    if (a->model != b->model) return false;
    for (int i = 0; i < heed_config_count(a->f); i++) {
        const char *value, *key = heed_config_at(a->f, i, &value)->name;
        if (is_incidental(key) || strcmp(key, "seed") == 0) continue;
        if (is_timed(a) && is_of_clock(key)) continue;
        if (strcmp(value_of(a, key), value_of(b, key)) != 0) return false;
    }
    return true;
}

/* The common start of the runs' names, without a number, "seed" or punctuation at its end:
 * "runs/adam-1", "runs/adam-2" -> "runs/adam". */
static void name_group(group *g, const compared *r, int n) {
    size_t size = strlen(r[g->first].name);
    for (int i = g->first; i < n; i++) {
        size_t same = 0;
        if (r[i].group != r[g->first].group) continue;
        while (same < size && r[i].name[same] == r[g->first].name[same]) same++;
        size = same;
    }
    const char *name = r[g->first].name;
    if (g->count > 1) {
        while (size > 0 && isdigit((unsigned char)name[size - 1])) size--;
        if (size > 4 && strncmp(name + size - 4, "seed", 4) == 0) size -= 4;
        while (size > 0 && strchr("-_./,= ", name[size - 1])) size--;
    }
    if (size == 0) size = strlen(name);
    snprintf(g->name, sizeof g->name, "%.*s", (int)size, name);
}

/* The mean of the runs' validation results over the evaluations that all runs have at the same
 * step; for runs of equal minutes, at equal shares of that time. */
static bool mean_curve(heed_ctx *c, group *g, const compared *r, int n) {
    const curve *first = &r[g->first].curves.val;
    size_t size = (size_t)first->count + 1;
    bool timed = is_timed(&r[g->first]);
    curve *m = &g->mean;
    *m = (curve){.count = first->count,
                 .step = calloc(size, sizeof(double)),
                 .loss = calloc(size, sizeof(double)),
                 .metric = calloc(size, sizeof(double))};
    if (!m->step || !m->loss || !m->metric)
        return heed_fail(c, HEED_FAILED, "no memory for a curve of %zu points", size);
    for (int i = g->first; i < n; i++) {
        const curve *k = &r[i].curves.val;
        if (r[i].group != r[g->first].group) continue;
        if (k->count < m->count) m->count = k->count;
        for (int j = 0; j < m->count; j++) {
            if (k->step[j] != first->step[j] && !timed) m->count = j;
            m->step[j] += k->step[j] / g->count;
            m->loss[j] += k->loss[j] / g->count;
            m->metric[j] += k->metric[j] / g->count;
        }
    }
    return true;
}

static bool measure_group(heed_ctx *c, group *g, const compared *r, int n) {
    double *x = calloc(4 * (size_t)n, sizeof *x), *best = x + n, *test = x + 2 * n,
           *loss = x + 3 * n;
    if (!x) return heed_fail(c, HEED_FAILED, "no memory for %d runs", n);
    int k = 0;
    for (int i = g->first; i < n; i++) {
        const curve *v = &r[i].curves.val;
        if (r[i].group != r[g->first].group) continue;
        x[k] = last_of(v->metric, v->count);
        best[k] = most_of(v->metric, v->count);
        test[k] = r[i].curves.test;
        loss[k++] = least_of(v->loss, v->count);
    }
    g->last = heed_estimate_mean(x, k);
    g->best = heed_estimate_mean(best, k);
    g->test = heed_estimate_mean(test, k);
    g->loss = heed_estimate_mean(loss, k);
    free(x);
    return mean_curve(c, g, r, n);
}

group *groups_of(heed_ctx *c, compared *r, int n, int *count) {
    group *g = calloc((size_t)n, sizeof *g);
    *count = 0;
    if (!g) {
        heed_fail(c, HEED_FAILED, "no memory for %d runs", n);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        int j = 0;
        while (j < *count && !one_recipe(&r[g[j].first], &r[i])) j++;
        if (j == *count) g[(*count)++].first = i;
        r[i].group = j;
        g[j].count++;
    }
    bool ok = true;
    for (int j = 0; ok && j < *count; j++) {
        name_group(&g[j], r, n);
        ok = measure_group(c, &g[j], r, n);
    }
    if (ok) return g;
    groups_free(g, *count);
    return NULL;
}

void groups_free(group *g, int count) {
    for (int i = 0; g && i < count; i++) {
        free(g[i].mean.step);
        free(g[i].mean.loss);
        free(g[i].mean.metric);
    }
    free(g);
}
