/* config.c -- the option table: names, defaults, access, and what overrides what. */
#include "io/config.h"

#include <string.h>

static void destroy(heed__owned *object) {
    heed_config *f = (heed_config *)object;
    for (size_t i = 0; i < f->count; i++) {
        heed__free(f->settings[i].initial);
        heed__free(f->settings[i].text);
        heed__free(f->settings[i].own);
    }
    heed__free(f->settings);
    heed__free(f);
}

void heed_config_free(heed_config *f) {
    if (f) heed__release(f->c, &f->owned);
}

heed__setting *heed__setting_find(const heed_config *f, const char *key, size_t n) {
    for (size_t i = 0; i < f->count; i++) {
        heed__setting *s = &f->settings[i];
        if (strncmp(s->o->name, key, n) == 0 && s->o->name[n] == 0) return s;
    }
    return NULL;
}

/* If an earlier table has the same row, it only moves after the others, into another group. */
static bool add(heed_config *f, const heed_option *o, const char *group) {
    size_t n = strlen(o->name);
    heed__setting *s = heed__setting_find(f, o->name, n);
    if (s) {
        heed__setting moved = *s, *last = f->settings + f->count - 1;
        memmove(s, s + 1, (size_t)(last - s) * sizeof *s);
        *last = moved;
        last->group = group;
        return true;
    }
    if (!heed__grow(f->c, &f->settings, &f->capacity, f->count + 1, sizeof *f->settings))
        return false;
    s = &f->settings[f->count++];
    *s = (heed__setting){.o = o, .group = group};
    if (n > f->key_width) f->key_width = n;
    return heed__setting_put(f, s, o->value ? o->value : "", "default", HEED_FROM_DEFAULT);
}

heed__setting *heed__setting_add(heed_config *f, const char *key, size_t n) {
    heed_option *o = heed__alloc(f->c, sizeof *o + n + 1);
    if (!o) return NULL;
    *o = (heed_option){.name = memcpy(o + 1, key, n), .kind = HEED_TEXT, .value = ""};
    if (!add(f, o, "Settings")) {
        heed__free(o);
        return NULL;
    }
    f->settings[f->count - 1].own = o;
    return &f->settings[f->count - 1];
}

/* A row without a group belongs to the group of the row before it. */
static bool add_table(heed_config *f, const heed_option *table) {
    const char *group = "Settings";
    for (const heed_option *o = table; o->name; o++) {
        if (o->group) group = o->group;
        if (!add(f, o, group)) return false;
    }
    return true;
}

heed_config *heed_config_new(heed_ctx *c, const heed_option *const *tables) {
    if (heed__stopped(c) || !tables) return NULL;
    heed_config *f = heed__alloc(c, sizeof *f);
    if (!f) return NULL;
    f->c = c;
    heed__own(c, &f->owned, destroy);
    for (; *tables; tables++) {
        if (add_table(f, *tables)) continue;
        heed_config_free(f);
        return NULL;
    }
    return f;
}

/* ---- access ---- */

/* The setting; NULL with an error if the tables have no such key or it is of another kind. */
static const heed__setting *get(const heed_config *f, const char *key, int kinds,
                                const char *what) {
    if (!f || !key) return NULL;
    const heed__setting *s = heed__setting_find(f, key, strlen(key));
    if (s && kinds >> s->o->kind & 1) return s;
    heed_fail(f->c, HEED_USAGE, "setting %s is wrong: expected %s in the option table, found %s",
              key, what, s ? "another kind" : "none");
    return NULL;
}

enum {
    NUMBER = 1 << HEED_INT | 1 << HEED_REAL,
    ANY = NUMBER | 1 << HEED_BOOL | 1 << HEED_TEXT | 1 << HEED_CHOICE
};

int64_t heed_config_int(const heed_config *f, const char *key) {
    const heed__setting *s = get(f, key, 1 << HEED_INT, "a whole number");
    return s ? s->whole : 0;
}

double heed_config_real(const heed_config *f, const char *key) {
    const heed__setting *s = get(f, key, NUMBER, "a number");
    return s ? s->real : 0;
}

bool heed_config_bool(const heed_config *f, const char *key) {
    const heed__setting *s = get(f, key, 1 << HEED_BOOL, "a switch");
    return s && s->on;
}

const char *heed_config_text(const heed_config *f, const char *key) {
    const heed__setting *s = get(f, key, ANY, "a value");
    return s && s->text ? s->text : "";
}

const char *heed__setting_initial(const heed__setting *s) {
    return s->initial ? s->initial : s->o->value;
}

const char *heed_config_default(const heed_config *f, const char *key) {
    const heed__setting *s = get(f, key, ANY, "a value");
    const char *initial = s ? heed__setting_initial(s) : NULL;
    return initial ? initial : "";
}

heed_rank heed_config_rank(const heed_config *f, const char *key) {
    const heed__setting *s = get(f, key, ANY, "a value");
    return s ? s->rank : HEED_FROM_DEFAULT;
}

bool heed_config_has(const heed_config *f, const char *key) {
    return f && key && heed__setting_find(f, key, strlen(key));
}

int heed_config_count(const heed_config *f) { return f ? (int)f->count : 0; }

const heed_option *heed_config_at(const heed_config *f, int index, const char **value) {
    bool inside = f && index >= 0 && (size_t)index < f->count;
    if (value) *value = inside ? f->settings[index].text : "";
    return inside ? f->settings[index].o : NULL;
}

const char *heed_config_group(const heed_config *f, int index) {
    return f && index >= 0 && (size_t)index < f->count ? f->settings[index].group : "";
}

const heed__setting *heed__setting_next(const heed_config *f, const heed__setting *after) {
    size_t i = after ? (size_t)(after - f->settings) + 1 : 0;
    const char *group = after ? after->group : f->count ? f->settings[0].group : "";
    for (; i < f->count; i++)
        if (strcmp(f->settings[i].group, group) == 0) return &f->settings[i];
    /* The next group begins with the next setting whose group did not occur earlier. */
    size_t start = 0;
    while (start < f->count && strcmp(f->settings[start].group, group) != 0) start++;
    for (i = start + 1; i < f->count; i++) {
        size_t k = 0;
        while (strcmp(f->settings[k].group, f->settings[i].group) != 0) k++;
        if (k == i) return &f->settings[i];
    }
    return NULL;
}

void heed_config_by_data(heed_config *f, const char *keys) {
    for (size_t n; keys && *keys; keys += n + strspn(keys + n, " ")) {
        n = strcspn(keys, " ");
        heed__setting *s = heed__setting_find(f, keys, n);
        if (s) s->by_data = true;
    }
}

bool heed_config_set(heed_config *f, const char *key, const char *value, const char *where,
                     heed_rank rank) {
    if (!f || heed__stopped(f->c) || !key || !value) return false;
    heed__setting *s = heed__setting_find(f, key, strlen(key));
    if (!s) return heed__setting_unknown(f, key, strlen(key), where, rank);
    return heed__setting_put(f, s, value, where, rank);
}

bool heed_config_set_list(heed_config *f, const char *settings, const char *where, heed_rank rank) {
    if (!f || heed__stopped(f->c)) return false;
    heed_text value = {.c = f->c};
    bool ok = true;
    if (settings) settings += strspn(settings, " ");
    for (const char *key = settings; ok && key && *key; key += strspn(key, " ")) {
        size_t n = strcspn(key, " "), name = strcspn(key, "= ");
        if (key[name] != '=') {
            ok = heed_fail(f->c, HEED_USAGE, "%s is wrong: expected KEY=VALUE, found %.*s",
                           where ? where : "a list of settings", (int)n, key);
            break;
        }
        heed__setting *s = heed__setting_find(f, key, name);
        value.n = 0;
        if (s)
            ok = heed_text_put(&value, key + name + 1, n - name - 1) &&
                 heed__setting_put(f, s, value.s, where, rank);
        else if (rank == HEED_FROM_FLAG)
            ok = heed__setting_unknown(f, key, name, where, rank);
        if (s && ok && rank == HEED_FROM_DEFAULT) {
            heed__free(s->initial);
            s->initial = heed__copy_text(f->c, s->text);
            ok = s->initial != NULL;
        }
        key += n;
    }
    heed_text_free(&value);
    return ok;
}
