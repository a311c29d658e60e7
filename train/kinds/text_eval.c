/* text_eval.c -- heed eval of a language model, on a text or on questions. */
#include "kinds/inputs.h"
#include "kinds/training.h"

#include <math.h>
#include <string.h>

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
    print_fact(AT, "  perplexity", m->perplexity < 1e5 ? "%.2f" : "%.2e", m->perplexity);
    if (isfinite(m->bits_per_byte)) print_fact(AT, "  bits per byte", "%.4f", m->bits_per_byte);
    if (isfinite(m->accuracy)) {
        print_fact(AT, "  accuracy", "%.2f %%  (95 %%: %.2f to %.2f)", 100 * m->accuracy,
                   100 * m->low, 100 * m->high);
        print_fact(AT, "  top 5", "%.2f %%", 100 * m->top5);
    }
    print_fact(AT, "  predictions", "%s", heed_format_count(n, (uint64_t)m->items));
}

/* Of what the run was trained on, or DATA. */
static const char *part_of(program *p, const heed_corpus_info *a, bool whole) {
    if (whole) return "all";
    if (a->val_tokens) return "val";
    heed_message(
        p->c, HEED_WARN,
        "the run has no validation part (val-split 0): this is measured on its training text; "
        "hint: heed %s %s OTHER.txt",
        p->command->name, p->argv[0]);
    return "train";
}

heed_corpus *judged_text(program *p, const task *k, heed_config *f, const heed_run *r,
                         const char **part, char what[512]) {
    bool whole = p->argc > 1;
    if (whole) heed_config_set(f, "data", p->argv[1], "DATA", HEED_FROM_FLAG);
    heed_corpus *corpus = text_corpus(p->c, k, f, r->tokenizer, whole);
    if (!corpus) return NULL;
    heed_corpus_info about = heed_corpus_about(corpus);
    double tokens = (double)(about.tokens + about.val_tokens);
    *part = part_of(p, &about, whole);
    snprintf(what, 512, "%.440s%s", heed_config_text(f, "data"),
             whole                  ? ""
             : about.val_tokens > 0 ? ", validation part"
                                    : ", training text: there is no validation part");
    if (whole && about.unknown > 0)
        heed_message(p->c, HEED_WARN, "%.2f %% of the text is unknown to the vocabulary",
                     100 * (double)(about.unknown + about.val_unknown) / tokens);
    return corpus;
}

static void evaluate(program *p, const task *k, heed_config *f, heed_run *r) {
    char what[512];
    const char *part;
    heed_corpus *corpus = judged_text(p, k, f, r, &part, what);
    if (!corpus) return;
    heed_score s =
        heed_evaluate(r->tape, r->model, r->self, corpus, (int)heed_config_int(f, "batch"));
    measures m = measure(&s);
    if (heed_ctx_status(p->c) == HEED_OK) print_measures(p, what, part, &m);
    heed_corpus_free(corpus);
}

static void answer(program *p, heed_run *r) {
    char what[512];
    heed_batch b;
    heed_score s = {0};
    cloze *q = cloze_open(r, p->argv[1]);
    for (size_t i = 0; q && i < cloze_count(q); i++)
        if (!cloze_ask(q, i, &b, &s)) break;
    cloze_close(q);
    measures m = measure(&s);
    snprintf(what, sizeof what, "%.480s, questions", p->argv[1]);
    if (heed_ctx_status(p->c) == HEED_OK) print_measures(p, what, "all", &m);
}

void eval_text(program *p, const task *k, heed_config *f, heed_run *r) {
    if (is_cloze(p, r))
        answer(p, r);
    else
        evaluate(p, k, f, r);
}
