/* kind.c -- data sets of any kind: opened by settings, and closed. */
#include "data/kind.h"

#include "core/core.h"
#include "core/os.h"

#include <stddef.h>
#include <string.h>

static bool open_nothing(heed_data *d, heed_config *f, const heed_data_args *a) {
    (void)f, (void)a;
    d->part = HEED_VAL_PART;
    return true;
}
static void close_nothing(heed_data *d) { (void)d; }
static const heed_option no_options[] = {{0}};

/* A model makes its own batches. */
static const heed_data_kind dense = {.noun = "no data, as the model makes its own",
                                     .item = "row",
                                     .options = no_options,
                                     .open = open_nothing,
                                     .close = close_nothing};

const heed_data_kind *heed_data_kind_of(heed_input_spec spec) {
    switch (spec.kind) {
    case HEED_INPUT_TOKENS:
        return &heed__data_text;
    case HEED_INPUT_PICTURE:
        return &heed__data_pictures;
    case HEED_INPUT_PAIR:
        return &heed__data_translation;
    case HEED_INPUT_LABELLED:
        return spec.per_word ? &heed__data_tags : &heed__data_classes;
    case HEED_INPUT_DENSE:
        break;
    }
    return &dense;
}

/* ---- data sets ---- */

typedef struct {
    heed_data data; /* first member: what the caller sees */
    heed__owned owned;
    bool own_tokenizers;
} opened;

/* Frees only its own memory: what it refers to is also owned by the context. */
static void release(heed__owned *owned) { heed__free((char *)owned - offsetof(opened, owned)); }

heed_data *heed_data_open(heed_ctx *c, heed_config *f, heed_input_spec spec,
                          const heed_data_args *a) {
    const heed_data_kind *kind = heed_data_kind_of(spec);
    const heed_data_args none = {0};
    if (heed__stopped(c) || !f) return NULL;
    opened *o = heed__alloc(c, sizeof *o);
    if (!o) return NULL;
    if (!a) a = &none;
    o->own_tokenizers = !a->tokenizer;
    o->data = (heed_data){.c = c,
                          .kind = kind,
                          .spec = spec,
                          .tokenizer = a->tokenizer,
                          .source = a->source,
                          .all = a->all};
    heed__own(c, &o->owned, release);
    if (kind->open(&o->data, f, a) && !heed__stopped(c)) return &o->data;
    heed_data_close(&o->data);
    return NULL;
}

void heed_data_close(heed_data *d) {
    if (!d) return;
    opened *o = (opened *)(void *)d;
    d->kind->close(d);
    if (o->own_tokenizers) {
        heed_tokenizer_free(d->source);
        heed_tokenizer_free(d->tokenizer);
    }
    heed__disown(d->c, &o->owned);
    release(&o->owned);
}

/* ---- what the kinds share ---- */

static const char *const kinds[] = {"char", "byte", "word", "wordpiece", NULL};

bool heed__is_tokenizer_kind(const char *name) {
    for (int i = 0; kinds[i]; i++)
        if (strcmp(kinds[i], name) == 0) return true;
    return false;
}

heed_tokenizer *heed__tokenizer_at(heed_ctx *c, const char *key, const char *name) {
    if (heed__os_exists(name)) return heed_tokenizer_open(c, name);
    const char *near = heed_closest(name, kinds);
    heed_fail(c, HEED_USAGE,
              "`%s = %s`: expected char, byte, word, wordpiece, or the path of a run or a "
              "vocab.txt%s%s%s",
              key, name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return NULL;
}

bool heed__text_lasts(heed_ctx *c, const heed_config *f, const char *key) {
    const char *path = heed_config_text(f, key);
    bool lasts =
        !*path || !heed__os_exists(path) || heed__os_is_file(path) || heed__os_is_dir(path);
    return lasts || heed_fail(c, HEED_DATA,
                              "%s is no regular file: %s: expected a text that can be read again; "
                              "hint: save it in a file first",
                              key, path);
}
