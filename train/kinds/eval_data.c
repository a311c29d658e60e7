/* eval_data.c -- the data that a run is evaluated on: DATA, or the data that it was trained on. */
#include "cli/files.h"
#include "kinds/training.h"

#include <string.h>

/* "book.txt, validation part" */
static void describe(const heed_data *d, const char *data, char what[512]) {
    char n[32], part[32];
    if (d->spec.kind == HEED_INPUT_DENSE) {
        snprintf(what, 512, "the model's own evaluation batches");
        return;
    }
    bool own = d->whole || (d->no_val && d->spec.kind != HEED_INPUT_PICTURE);
    snprintf(part, sizeof part, ", %s part", part_name(d->part));
    size_t at = (size_t)snprintf(what, 512, "%.400s%s", data, own ? "" : part);
    if (d->spec.kind == HEED_INPUT_TOKENS && !d->whole && d->no_val)
        snprintf(what + at, 512 - at, ", training text: there is no validation part");
    if (d->spec.kind != HEED_INPUT_PAIR && d->spec.kind != HEED_INPUT_LABELLED) return;
    snprintf(what + at, 512 - at, ", %s %s",
             heed_format_count(n, heed_pairs_about(d->batches)->val_pairs),
             d->spec.kind == HEED_INPUT_PAIR ? "pairs" : "texts");
}

static void warn_of_text(program *p, const heed_data *d) {
    heed_corpus_info a = heed_corpus_about(d->batches);
    double tokens = (double)(a.tokens + a.val_tokens);
    if (!d->whole && d->no_val)
        heed_message(p->c, HEED_WARN,
                     "the run has no validation part (val-split 0): this is measured on its "
                     "training text; hint: `%s %s OTHER.txt`",
                     p->command->name, p->argv[0]);
    if (d->whole && a.unknown > 0)
        heed_message(p->c, HEED_WARN, "%.2f %% of the text is unknown to the vocabulary",
                     100 * (double)(a.unknown + a.val_unknown) / tokens);
}

heed_data *eval_data_open(program *p, const heed_model *m, heed_config *f, const heed_run *r,
                          char what[512]) {
    static const char *const switches[] = {"convert", "strict"};
    if (m->kind == HEED_INPUT_DENSE && p->argc > 1) {
        heed_fail(p->c, HEED_USAGE, "%s has no effect here: %s makes its own data", p->argv[1],
                  m->name);
        return NULL;
    }
    bool text = m->kind == HEED_INPUT_TOKENS, given = p->argc > 1;
    bool whole = given && (text || !same_file(p->argv[1], heed_config_text(f, "data")));
    if (given) heed_config_set(f, "data", p->argv[1], "DATA", HEED_FROM_FLAG);
    for (int i = 0; m->kind == HEED_INPUT_PICTURE && i < 2; i++)
        if (heed_config_bool(p->flags, switches[i]))
            heed_config_set(f, switches[i], "true", switches[i], HEED_FROM_FLAG);
    bool parts = heed_config_has(p->flags, "part");
    heed_data_args a = {.tokenizer = r->tokenizer,
                        .source = r->source,
                        .labels = r->labels,
                        .label_count = r->label_count,
                        .eval = true,
                        .whole = whole,
                        .part = parts ? heed_config_text(p->flags, "part") : NULL};
    heed_data *d = heed_data_open(p->c, f, heed_model_spec(m), &a);
    if (!d) return NULL;
    describe(d, heed_config_text(f, "data"), what);
    if (text) warn_of_text(p, d);
    return d;
}
