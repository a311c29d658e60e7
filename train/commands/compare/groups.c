/* groups.c -- runs of one recipe with several seeds, as one row with a mean and its interval. */
#include "commands/compare/compare.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool is_incidental(const char *key) {
    static const char *const keys[] = {
        "preset",         "workers",        "cache-mb",        "mean", "std", "snapshots",
        "snapshot-items", "snapshot-input", "snapshot-tokens", "plan"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

/* Whether a run's number of steps was set by a time limit, and so by the machine's speed. */
static bool is_timed(const compared *r) {
    return heed_config_has(r->f, "timed") && heed_config_real(r->f, "timed") > 0;
}

static bool one_recipe(const compared *a, const compared *b) {
    if (a->model != b->model) return false;
    for (int i = 0; i < heed_config_count(a->f); i++) {
        const char *value, *key = heed_config_at(a->f, i, &value)->name;
        if (is_incidental(key) || strcmp(key, "seed") == 0) continue;
        bool of_clock = strcmp(key, "steps") == 0 || strcmp(key, "evals") == 0;
        if (of_clock && is_timed(a)) continue;
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
    size_t size = (size_t)first->count;
    bool timed = is_timed(&r[g->first]);
    curve *m = &g->mean;
    *m = (curve){.count = first->count,
                 .step = allocate(c, size, sizeof(double), "points"),
                 .loss = allocate(c, size, sizeof(double), "points"),
                 .metric = allocate(c, size, sizeof(double), "points")};
    if (!m->step || !m->loss || !m->metric) return false;
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
    enum { LAST, BEST, TEST, LOSS, MEASURES };
    heed_estimate *const to[MEASURES] = {&g->last, &g->best, &g->test, &g->loss};
    double *x = allocate(c, (size_t)n, sizeof *x, "runs");
    if (!x) return false;
    for (int m = 0; m < MEASURES; m++) {
        int k = 0;
        for (int i = g->first; i < n; i++) {
            const run_numbers *v = &r[i].numbers;
            const double of[MEASURES] = {v->accuracy, v->best_accuracy, v->test_accuracy,
                                         v->best_loss};
            if (r[i].group == r[g->first].group) x[k++] = of[m];
        }
        *to[m] = heed_estimate_mean(x, k);
    }
    free(x);
    return mean_curve(c, g, r, n);
}

group *groups_of(heed_ctx *c, compared *r, int n, int *count) {
    group *g = allocate(c, (size_t)n, sizeof *g, "runs");
    *count = 0;
    for (int i = 0; g && i < n; i++) {
        int j = 0;
        while (j < *count && !one_recipe(&r[g[j].first], &r[i])) j++;
        if (j == *count) g[(*count)++].first = i;
        r[i].group = j;
        g[j].count++;
    }
    bool ok = g != NULL;
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
