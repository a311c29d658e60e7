/* kind.c -- data sets of any kind: opened by settings, and closed. */
#include "data/kind.h"

#include "core/core.h"
#include "core/os.h"
#include "tokenizer/tokenizer.h"

#include <stddef.h>
#include <string.h>

/* A model makes its own batches: there is nothing to open. */
static const heed_option no_options[] = {{0}};
const heed_data_kind heed_own_numbers = {.noun = "no data, as the model makes its own",
                                         .reads = "numbers",
                                         .item = "row",
                                         .items = "rows",
                                         .options = no_options,
                                         .ask = heed__ask_class};

static int ask_each(const heed_reader *r, const heed_example *e, int positions,
                    heed_example_question *out) {
    (void)r, (void)e;
    for (int i = 0; i < positions; i++)
        out[i] = (heed_example_question){.query = i, .row = i, .says = "the label"};
    return positions;
}
const heed_data_kind heed_own_positions = {.noun = "no data, as the model makes its own",
                                           .reads = "numbers",
                                           .item = "row",
                                           .items = "rows",
                                           .options = no_options,
                                           .ask = ask_each};

/* ---- data sets ---- */

typedef struct {
    heed_data data; /* first member: what the caller sees */
    heed__owned owned;
    bool own_tokenizers;
} opened;

/* Frees only its own memory: what it refers to is also owned by the context. */
static void opened_free(heed__owned *owned) { heed__free((char *)owned - offsetof(opened, owned)); }

heed_data *heed_data_open(heed_ctx *c, heed_config *f, const heed_data_kind *kind,
                          const heed_data_args *a) {
    const heed_data_args none = {0};
    if (heed__stopped(c) || !f || !kind) return NULL;
    opened *o = heed__alloc(c, sizeof *o);
    if (!o) return NULL;
    if (!a) a = &none;
    o->own_tokenizers = !a->tokenizer;
    o->data = (heed_data){.c = c,
                          .kind = kind,
                          .tokenizer = a->tokenizer,
                          .source = a->source,
                          .part = HEED_VAL_PART,
                          .all = a->all};
    heed__own(c, &o->owned, opened_free);
    if ((!kind->open || kind->open(&o->data, f, a)) && !heed__stopped(c)) return &o->data;
    heed_data_close(&o->data);
    return NULL;
}

void heed_data_close(heed_data *d) {
    if (!d) return;
    opened *o = (opened *)(void *)d;
    if (d->kind->close) d->kind->close(d);
    if (o->own_tokenizers) {
        heed_tokenizer_free(d->source);
        heed_tokenizer_free(d->tokenizer);
    }
    heed__release(d->c, &o->owned);
}

size_t heed_data_count(const heed_data *d, int label) {
    return d && d->batches && d->kind->count ? d->kind->count(d, label) : 0;
}

/* ---- what it holds ---- */

bool heed_data_describe(const heed_data *d, const heed_config *f, heed_facts *out) {
    char n[32];
    if (!d || !f || !out || heed__stopped(d->c)) return false;
    out->json.c = d->c;
    heed_json_open(&out->json, NULL, '{');
    if (d->kind->describe) {
        if (!d->kind->describe(d, f, out)) return false;
    } else if (d->kind->open) {
        size_t count = heed_data_count(d, -1);
        heed_fact_add(out, HEED_FACT, "training", "%s %s", heed_format_count(n, count),
                      d->kind->items);
        heed_json_int(&out->json, d->kind->items, (int64_t)count);
    }
    heed_json_close(&out->json, '}');
    return !heed__stopped(d->c);
}

/* A mark before and after a name of a class in a list, so that a comma in it parts no two names. */
static const char *quote_of(const char *label) { return strchr(label, ',') ? "\"" : ""; }

bool heed__data_uneven(const heed_data *d, heed_text *out) {
    enum { MANY = 5 };
    size_t largest = 0, least = SIZE_MAX;
    int smallest = 0;
    for (int i = 0; d && i < d->label_count; i++) {
        size_t n = heed_data_count(d, i);
        if (n < least) smallest = i;
        if (n < least) least = n;
        if (n > largest) largest = n;
    }
    if (least == SIZE_MAX || (least ? least : 1) * MANY >= largest) return false;
    const char *quote = quote_of(d->labels[smallest]);
    return heed_text_add(out,
                         "the largest class has %.0f times the %ss of %s%.80s%s: accuracy says "
                         "little of it; `balance` weighs classes equally in training",
                         (double)largest / (double)(least ? least : 1), d->kind->label, quote,
                         d->labels[smallest], quote);
}

/* The names of classes, or those with their counts and weights, as far as they fit. */
static void add_classes(const heed_data *d, int columns, bool weights, heed_text *row) {
    int i = 0;
    for (; i < d->label_count && (!row->s || heed_label_columns(row->s) < columns); i++) {
        const char *quote = quote_of(d->labels[i]);
        heed_text_add(row, "%s%s%.80s%s", i ? ", " : "", quote, d->labels[i], quote);
        if (weights)
            heed_text_add(row, " %zu x %.3g", heed_data_count(d, i), (double)d->class_weights[i]);
    }
    heed_text_add(row, "%s", i < d->label_count ? " ..." : "");
}

void heed__describe_classes(const heed_data *d, heed_facts *out) {
    heed_text row = {.c = d->c};
    if (out->brief) {
        heed_text_add(&row, "%d: ", d->label_count);
        add_classes(d, 60, false, &row);
        heed_fact_add(out, HEED_FACT, "classes", "%s", row.s);
        row.n = 0;
    }
    if (out->brief && d->class_weights) {
        add_classes(d, 100, true, &row);
        heed_fact_add(out, HEED_FACT, "balanced", "%s", row.s);
        row.n = 0;
    }
    if (!d->class_weights && heed__data_uneven(d, &row))
        heed_fact_add(out, HEED_FACT, "note", "%s", row.s);
    heed_text_free(&row);
}

void heed__describe_specials(size_t lines, heed_facts *out) {
    char n[32];
    if (lines)
        heed_fact_add(out, HEED_FACT, "note",
                      "%s line%s the text of a special token, which is read as text",
                      heed_format_count(n, lines), lines == 1 ? " has" : "s have");
}

/* ---- what the kinds share ---- */

heed_tokenizer *heed__tokenizer_in(heed_ctx *c, const char *run, const char *folder) {
    heed_text path = {.c = c};
    heed_tokenizer *t = NULL;
    if (heed_text_add(&path, "%s" HEED_INSIDE "%s", run, folder) && heed__os_is_dir(path.s))
        t = heed_tokenizer_open(c, path.s);
    heed_text_free(&path);
    return t;
}

heed_tokenizer *heed__tokenizer_at(heed_ctx *c, const char *key, const char *name) {
    if (heed__os_exists(name)) return heed_tokenizer_open(c, name);
    const char *near = heed_closest(name, heed__kind_names);
    heed_fail(c, HEED_USAGE,
              "`%s = %s`: expected char, byte, word, wordpiece, bpe, or the path of a run, "
              "a " HEED__TOKENIZER_FILES "%s%s%s",
              key, name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return NULL;
}

bool heed__texts_last(heed_ctx *c, const heed_config *f) {
    static const char *const keys[] = {"data", "val"};
    for (int i = 0; i < 2; i++) {
        const char *path = heed_config_text(f, keys[i]);
        if (*path && heed__os_exists(path) && !heed__os_is_file(path) && !heed__os_is_dir(path))
            return heed_fail(
                c, HEED_DATA,
                "%s is not a regular file: %s: expected a text that can be read again; "
                "hint: save it in a file first",
                keys[i], path);
    }
    if (heed__os_same(heed_config_text(f, "data"), heed_config_text(f, "val")))
        heed_message(c, HEED_WARN,
                     "`val` is the training file: %s: nothing is validated on what training "
                     "does not see; hint: `val-split` sets a part of it aside",
                     heed_config_text(f, "val"));
    return true;
}

bool heed__in_range(heed_ctx *c, const char *what, int value, int low, int high) {
    return (value >= low && value <= high) ||
           heed_fail(c, HEED_USAGE, "%s out of range: expected %d to %d, found %d", what, low, high,
                     value);
}

bool heed__is_share(heed_ctx *c, double val_split) {
    return (val_split >= 0 && val_split < 1) ||
           heed_fail(c, HEED_USAGE,
                     "validation share is out of range: expected 0 up to but not 1, found %g",
                     val_split);
}

int heed__batch_rows(heed_ctx *c, heed_batch_at at, uint64_t all, int most) {
    if (!heed__in_range(c, "rows of the batch are", at.rows, 1, most)) return 0;
    int rows = heed__rows_of(at, all);
    if (!rows)
        heed_fail(c, HEED_USAGE, "%s has no batch %llu: expected less than %llu",
                  at.val ? "evaluation" : "an epoch", (unsigned long long)at.index,
                  (unsigned long long)heed__batches(all, at.rows));
    return rows;
}
