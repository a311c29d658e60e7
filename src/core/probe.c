/* probe.c -- named values of ops, kept by pattern. */
#include "core/tape.h"

#include <stdio.h>
#include <string.h>

void heed_probe(heed_tape *t, const char *pattern, bool grad) {
    if (heed__tape_stopped(t)) return;
    heed__recording *r = t->r;
    if (!pattern) heed_fail(r->c, HEED_USAGE, "probe: expected a pattern, found NULL");
    if (!pattern || !heed__grow(r->c, &r->patterns, &r->pattern_capacity, r->pattern_count + 1,
                                sizeof *r->patterns))
        return;
    char *copy = heed__copy_text(r->c, pattern);
    if (copy) r->patterns[r->pattern_count++] = (heed__probe_pattern){copy, grad};
}

void heed_probe_clear(heed_tape *t) {
    if (!t) return;
    heed__recording *r = t->r;
    for (size_t i = 0; i < r->pattern_count; i++) heed__free(r->patterns[i].pattern);
    r->pattern_count = r->probe_count = 0;
}

static const heed__probe_pattern *matching(const heed__recording *r, const char *node,
                                           const char *name, char *path, size_t size) {
    if (r->pattern_count == 0) return NULL;
    snprintf(path, size, "%s.%s", node, name);
    const heed__probe_pattern *found = NULL;
    for (size_t i = 0; i < r->pattern_count; i++)
        if (heed_match(r->patterns[i].pattern, path) && (!found || r->patterns[i].grad))
            found = &r->patterns[i];
    return found;
}

static const heed__probe_pattern *wanted(const heed_node *n, const char *name, char *path,
                                         size_t size) {
    return matching(n->tape->r, n->name, name, path, size);
}

bool heed_probe_active(const heed_tape *t) { return t && t->r->pattern_count > 0; }

bool heed__is_probed(const heed_tape *t, const char *name, const char *value) {
    char path[HEED__PATH];
    return t && name && value && matching(t->r, name, value, path, sizeof path);
}

bool heed_probe_get(const heed_node *n, const char *name) {
    char path[HEED__PATH];
    return n && name && wanted(n, name, path, sizeof path) != NULL;
}

static bool collect(heed_node *n, const char *name, heed_tensor *value) {
    char path[HEED__PATH];
    heed__recording *r = n->tape->r;
    const heed__probe_pattern *p = wanted(n, name, path, sizeof path);
    if (!p) return true;
    if (!heed__grow(r->c, &r->probes, &r->probe_capacity, r->probe_count + 1, sizeof *r->probes))
        return false;
    size_t size = strlen(path) + 1;
    char *copy = heed__arena_take(&r->arena, size);
    if (!copy) return false;
    r->probes[r->probe_count++] = (heed__probe){memcpy(copy, path, size), value};
    bool traced = value == n->y && r->mode == HEED_TRACE; /* this may be the first node recorded */
    if (p->grad && (n->recording || traced)) {
        if (value != n->y) value->wants_grad = true;
        heed_want_grad(n->tape, value);
    }
    return true;
}

/* A node's output is probed as "NAME.out". */
bool heed__collect_probes(heed_node *n) {
    if (n->tape->r->pattern_count == 0) return true;
    for (int i = 0; i < n->kept_count; i++)
        if (!collect(n, n->kept_name[i], n->kept[i])) return false;
    return collect(n, "out", n->y);
}

int heed_probe_count(const heed_tape *t) { return t ? (int)t->r->probe_count : 0; }

heed_tensor *heed_probe_at(const heed_tape *t, int index, const char **path) {
    if (!t || index < 0 || (size_t)index >= t->r->probe_count) return NULL;
    if (path) *path = t->r->probes[index].path;
    return t->r->probes[index].tensor;
}

heed_tensor *heed_probe_find(const heed_tape *t, const char *path) {
    for (size_t i = 0; t && i < t->r->probe_count; i++)
        if (!strcmp(t->r->probes[i].path, path)) return t->r->probes[i].tensor;
    return NULL;
}
