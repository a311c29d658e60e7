/* Probes: values that ops name, kept by pattern. */
#include "core/tape.h"

#include <stdio.h>
#include <string.h>

void heed_probe(heed_tape *t, const char *pattern, bool grad) {
    if (heed__tape_stopped(t)) return;
    if (!heed__grow(t->c, &t->patterns, &t->pattern_room, t->pattern_count + 1,
                    sizeof *t->patterns))
        return;
    char *copy = heed__copy_text(t->c, pattern);
    if (copy) t->patterns[t->pattern_count++] = (heed__pattern){copy, grad};
}

void heed_unprobe(heed_tape *t) {
    if (!t) return;
    for (size_t i = 0; i < t->pattern_count; i++) heed__free(t->patterns[i].pattern);
    t->pattern_count = t->probe_count = 0;
}

static const heed__pattern *wanted(const heed_node *n, const char *name, char *path, size_t size) {
    const heed_tape *t = n->tape;
    if (t->pattern_count == 0) return NULL;
    snprintf(path, size, "%s.%s", n->name, name);
    const heed__pattern *found = NULL;
    for (size_t i = 0; i < t->pattern_count; i++)
        if (heed_match(t->patterns[i].pattern, path) && (!found || t->patterns[i].grad))
            found = &t->patterns[i];
    return found;
}

bool heed_probed(const heed_node *n, const char *name) {
    char path[320];
    return wanted(n, name, path, sizeof path) != NULL;
}

static bool collect(heed_node *n, const char *name, heed_tensor *value) {
    char path[320];
    heed_tape *t = n->tape;
    const heed__pattern *p = wanted(n, name, path, sizeof path);
    if (!p) return true;
    if (!heed__grow(t->c, &t->probes, &t->probe_room, t->probe_count + 1, sizeof *t->probes))
        return false;
    size_t size = strlen(path) + 1;
    char *copy = heed__arena_take(&t->arena, size);
    if (!copy) return false;
    t->probes[t->probe_count++] = (heed__probe){memcpy(copy, path, size), value};
    if (p->grad && n->recording) {
        if (value != n->y) value->wants_grad = true;
        heed_want_grad(t, value);
    }
    return true;
}

/* A node's output is probed as "NAME.out". */
bool heed__collect_probes(heed_node *n) {
    if (n->tape->pattern_count == 0) return true;
    for (int i = 0; i < n->kept_count; i++)
        if (!collect(n, n->kept_name[i], n->kept[i])) return false;
    return collect(n, "out", n->y);
}

int heed_probe_count(const heed_tape *t) { return t ? (int)t->probe_count : 0; }

heed_tensor *heed_probe_at(const heed_tape *t, int index, const char **path) {
    if (!t || index < 0 || (size_t)index >= t->probe_count) return NULL;
    if (path) *path = t->probes[index].path;
    return t->probes[index].tensor;
}

heed_tensor *heed_probe_find(const heed_tape *t, const char *path) {
    for (size_t i = 0; t && i < t->probe_count; i++)
        if (!strcmp(t->probes[i].path, path)) return t->probes[i].tensor;
    return NULL;
}
