/* text.c -- what the program prints of training on text, and heed eval for language models,
 * on a text or on questions; for other models, loss and accuracy. */
#include "kinds/inputs.h"

#include <math.h>

static void begun_text(program *p, const heed_data *d, const char *run) {
    (void)p;
    heed_corpus_keep(d->batches, run);
}

/* ---- heed eval ---- */

/* part: train, val or all. */
static void print_measures(program *p, const char *what, const char *part, const measures *m) {
    char n[32];
    if (heed_config_bool(p->flags, "json")) {
        print_json(p, json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:[o,o], s:o, s:I}", "data",
                                json_text(what), "part", part, "loss", json_number(m->loss),
                                "perplexity", json_number(m->perplexity), "bits_per_byte",
                                json_number(m->bits_per_byte), "accuracy", json_number(m->accuracy),
                                "accuracy_95", json_number(m->low), json_number(m->high), "top5",
                                json_number(m->top5), "items", (json_int_t)m->items));
        return;
    }
    enum { AT = 17 };
    print_fact(0, "", "%s", what);
    putchar('\n');
    print_fact(AT, "  loss", "%.4f", m->loss);
    if (isfinite(m->perplexity))
        print_fact(AT, "  perplexity", m->perplexity < 1e5 ? "%.2f" : "%.2e", m->perplexity);
    if (isfinite(m->bits_per_byte)) print_fact(AT, "  bits per byte", "%.4f", m->bits_per_byte);
    if (isfinite(m->accuracy)) {
        print_fact(AT, "  accuracy", "%.2f %%  (95 %%: %.2f to %.2f)", 100 * m->accuracy,
                   100 * m->low, 100 * m->high);
        print_fact(AT, "  top 5", "%.2f %%", 100 * m->top5);
    }
    print_fact(AT, "  predictions", "%s", heed_format_count(n, (uint64_t)m->items));
}

void eval_scores(program *p, const heed_model *m, heed_config *f, heed_run *r) {
    char what[512];
    heed_data *d = eval_data_open(p, m, f, r, what);
    if (!d) return;
    int rows = (int)heed_config_int(f, "batch");
    heed_score s = heed_evaluate(r->tape, r->model, r->self, d, rows);
    measures found = measure(&s);
    if (heed_model_eval_batches(m, r->self, d, rows) == 0)
        heed_fail(p->c, HEED_DATA, "%s: nothing to evaluate on", what);
    if (!data_of(m)->perplexity) found.perplexity = (double)NAN;
    heed_part part = d->is_val ? HEED_VAL_PART : d->all ? HEED_PARTS : d->part;
    if (heed_ctx_status(p->c) == HEED_OK) print_measures(p, what, heed_part_name(part), &found);
    heed_data_close(d);
}

static void eval_text(program *p, const heed_model *m, heed_config *f, heed_run *r) {
    if (!is_cloze(p, r)) {
        eval_scores(p, m, f, r);
        return;
    }
    char what[512];
    heed_batch b;
    heed_score s = {0};
    cloze *q = cloze_open(r, p->argv[1]);
    for (size_t i = 0; q && i < cloze_count(q); i++)
        if (!cloze_ask(q, i, &b, &s)) break;
    cloze_close(q);
    measures found = measure(&s);
    snprintf(what, sizeof what, "%.480s, questions", p->argv[1]);
    if (heed_ctx_status(p->c) == HEED_OK) print_measures(p, what, "all", &found);
}

const data_kind text_kind = {
    .begun = begun_text,
    .evaluated = sample_text,
    .next = next_text,
    .eval = eval_text,
};
