/* weights.c -- the weights files of runs: metadata from which a run is opened, and a digest by
 * which a damaged file is found. */
#include "core/core.h"
#include "fit/fit.h"
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- writing ---- */

/* Metadata: a digest of names, values and other metadata. That of the double build differs. */
#ifdef HEED_F64
static const char digest_key[] = "digest64", other_key[] = "digest";
#else
static const char digest_key[] = "digest", other_key[] = "digest64";
#endif

/* Those from LABELS on may be absent, and those from BASE on are of adapters. */
enum { LABELS = 4, BASE, CONFIG, CLASSES, META_KEYS };
static const char *const meta_keys[META_KEYS] = {"architecture", "format", "settings", "tokenizer",
                                                 "labels",       "base",   "config",   "classes"};

static uint64_t weights_digest(const heed_store *s, const char *const values[META_KEYS]) {
    uint64_t h = 0;
    for (int i = 0; i < META_KEYS; i++)
        if (i < LABELS || *values[i]) h = heed__hash64(values[i], strlen(values[i]) + 1, h);
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (!heed__saves(e)) continue;
        h = heed__hash64(e->name, strlen(e->name), h);
        h = heed__hash64(e->tensor->x, e->tensor->size * sizeof *e->tensor->x, h);
    }
    return h;
}

/* more: the values of the keys from BASE on, or NULL. */
static bool save(const heed__checkpoint *k, const heed_store *s, const char *name,
                 const char *const *more) {
    heed_text path = {.c = k->c};
    char tokenizer[24], labels[24] = "", digest[24];
    snprintf(tokenizer, sizeof tokenizer, "%016" PRIx64, k->tokenizer_digest);
    if (k->labels_digest) snprintf(labels, sizeof labels, "%016" PRIx64, k->labels_digest);
    const char *values[META_KEYS] = {k->architecture, "pt", k->settings, tokenizer, labels};
    for (int i = BASE; i < META_KEYS; i++) values[i] = more ? more[i - BASE] : "";
    snprintf(digest, sizeof digest, "%016" PRIx64, weights_digest(s, values));
    const char *meta[2 * META_KEYS + 3] = {digest_key, digest};
    for (int i = 0, at = 2; i < META_KEYS; i++)
        if (i < LABELS || *values[i]) meta[at++] = meta_keys[i], meta[at++] = values[i];
    bool ok = heed_save_meta(s, heed__run_path(&path, k->run, name), meta);
    heed_text_free(&path);
    return ok;
}

bool heed__weights_save(const heed__checkpoint *k, const heed_store *s, const char *name) {
    return save(k, s, name, NULL);
}

/* ---- adapters ---- */

/* Whether the training changes an entry, so that it is not one of the base. */
static bool changes(const heed_entry *e) { return e->adapter || e->trained || e->thaw || e->state; }

uint64_t heed__base_digest(const heed_store *s) {
    uint64_t h = 0;
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (changes(e)) continue;
        h = heed__hash64(e->name, strlen(e->name), h);
        h = heed__hash64(e->tensor->x, e->tensor->size * sizeof *e->tensor->x, h);
    }
    return h;
}

/* A copy of what the training changes. */
static heed_store *changed(const heed__checkpoint *k) {
    heed_store *s = heed_store_new(k->c);
    for (int i = 0; s && i < heed_store_count(k->store); i++) {
        const heed_entry *e = heed_store_at(k->store, i);
        const heed_tensor *x = e->tensor;
        if (!changes(e)) continue;
        heed_tensor *y = heed_state_new(s, e->name, "zero", x->dims, x->shape);
        if (y) memcpy(y->x, x->x, x->size * sizeof *x->x);
    }
    return s;
}

bool heed__adapters_save(const heed__checkpoint *k, const char *name) {
    heed_text config = {.c = k->c}, classes = {.c = k->c};
    char base[24];
    snprintf(base, sizeof base, "%016" PRIx64, heed__base_digest(k->store));
    heed_store *s = changed(k);
    bool ok = s && heed__list_settings(k->config, &config) &&
              heed__list_texts(k->labels, k->label_count, &classes) &&
              save(k, s, name, (const char *const[]){base, config.s, classes.s});
    heed_store_free(s);
    heed_text_free(&config);
    heed_text_free(&classes);
    return ok;
}

/* ---- reading ---- */

double heed__first_nonfinite(const heed_real *x, size_t n) {
    heed_real sum = 0; /* of x - x: 0, or NAN */
    for (size_t i = 0; i < n; i++) sum += x[i] - x[i];
    for (size_t i = 0; sum != 0 && i < n; i++)
        if (!isfinite(x[i])) return (double)x[i];
    return 0;
}

const char *heed__first_bad(const heed_store *s, bool gradient, double *found) {
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        const heed_real *x = gradient ? e->tensor->g : e->tensor->x;
        double v = x ? heed__first_nonfinite(x, e->tensor->size) : 0;
        if (v == 0) continue;
        *found = v;
        return e->name;
    }
    return NULL;
}

bool heed__weights_are_finite(const heed_store *s, const char *path) {
    double found = 0;
    const char *bad = heed__first_bad(s, false, &found);
    return !bad || heed_fail(heed_store_ctx(s), HEED_DATA,
                             "weights are not numbers: %s: %s: expected finite numbers, found %g; "
                             "hint: restore a copy, or train again",
                             path, bad, found);
}

/* A file from the build of the other precision has a digest that this build cannot compute. */
static bool holds(const heed_safetensors *f, const heed_store *s, const char *path) {
    heed_ctx *c = heed_store_ctx(s);
    const char *values[META_KEYS], *expected = heed_safetensors_meta(f, digest_key);
    char found[24];
    if (heed__ctx_edited(c)) return true;
    for (int i = 0; i < META_KEYS; i++) {
        values[i] = heed_safetensors_meta(f, meta_keys[i]);
        if (!values[i]) values[i] = "";
    }
    if (!expected && !heed_safetensors_meta(f, other_key))
        return heed_fail(c, HEED_DATA,
                         "%s is not of a run: expected the metadata digest; hint: it is damaged or "
                         "was made by an early version of heed: restore a copy, or train again",
                         path);
    snprintf(found, sizeof found, "%016" PRIx64, weights_digest(s, values));
    return !expected || strcmp(expected, found) == 0 ||
           heed_fail(c, HEED_DATA,
                     "%s is damaged: expected digest %s, found %s; hint: restore a copy of this "
                     "file, or open it with `edited` if it was edited on purpose",
                     path, expected, found);
}

bool heed__weights_take(heed_store *s, const char *path, const heed_safetensors *f) {
    return heed__load_parsed(s, path, f) && holds(f, s, path) && heed__weights_are_finite(s, path);
}

bool heed__weights_load(heed_store *s, const char *path) {
    heed_safetensors *f = heed__safetensors_head(heed_store_ctx(s), path);
    bool ok = heed__weights_take(s, path, f);
    heed_safetensors_close(f);
    return ok;
}

bool heed__run_read_weights(heed_store *s, const char *run, const char *name) {
    heed_text path = {.c = heed_store_ctx(s)};
    bool ok = heed__weights_load(s, heed__run_path(&path, run, name));
    heed_text_free(&path);
    return ok;
}
