/* pairs_eval.c -- heed eval for models of pairs of texts: the loss given the true targets, and the
 * quality of the model's own translations. */
#include "kinds/alignment_peaks.h"

#include <math.h>

/* Measures of a run's translations. */
typedef struct {
    size_t count, exact, open; /* open: targets that did not end */
    double log_probability;    /* sum */
    heed_bleu bleu;
    by_length lengths;
    peaks peaks;
} quality;

/* NAN if no text has four words, as BLEU counts sequences of four. */
static double bleu_of(const heed_bleu *b) { return b->longest < 4 ? (double)NAN : heed_bleu_of(b); }

/* ---- translating ---- */

/* Whether the target has the same tokens as the reference, none of them unknown. */
static bool is_exact(const translator *k, const heed_pair *pair) {
    const heed_run *r = k->run;
    heed_tokens t = {.c = r->c};
    int unknown = heed_tokenizer_specials(r->tokenizer).unk;
    bool same = k->about.ended && heed_encode(r->tokenizer, pair->target, pair->target_n, &t) &&
                t.count == (size_t)k->about.count;
    for (size_t i = 0; same && i < t.count; i++)
        same = t.ids[i] == k->ids[i] && t.ids[i] != unknown;
    heed_tokens_free(&t);
    return same;
}

static bool judge(translator *k, const heed_pair *pair, heed_text *out, quality *q) {
    heed_ctx *c = k->run->c;
    heed_text made = {.c = c}, reference = {.c = c};
    bool ok = translate(k, pair->source, pair->source_n) && translated_text(k, &made) &&
              heed_text_put(&made, "", 0) &&
              heed_text_put(&reference, pair->target, pair->target_n) &&
              heed_bleu_add(c, &q->bleu, made.s, reference.s);
    if (ok) {
        bool exact = is_exact(k, pair);
        q->count++;
        q->exact += exact;
        by_length_add(&q->lengths, k, exact);
        ok = alignment_peaks_add(&q->peaks, k, pair);
        q->open += !k->about.ended;
        q->log_probability += k->about.log_probability;
        if (out)
            heed_text_add(out, "%.*s\t%s\t%s\n", (int)pair->source_n, pair->source, made.s,
                          reference.s);
    }
    heed_text_free(&made);
    heed_text_free(&reference);
    return ok && heed_ctx_status(c) == HEED_OK;
}

static void tell(program *p, size_t done, size_t all) {
    if (p->json_lines || !is_terminal(stderr) || (done % 16 && done != all)) return;
    fprintf(stderr, "\r\033[Ktranslated %zu of %zu", done, all);
    if (done == all) fputs("\r\033[K", stderr);
    p->line_open = done != all;
}

static bool judge_all(program *p, translator *k, const heed_pairs *pairs, size_t most,
                      heed_text *out, quality *q) {
    size_t all = heed_pairs_about(pairs)->val_pairs;
    if (most && most < all) all = most;
    heed_pair pair;
    for (size_t i = 0; i < all; i++) {
        if (was_interrupted(NULL)) return heed_fail(p->c, HEED_INTERRUPTED, "interrupted");
        if (!heed_pairs_get(pairs, true, i, &pair) || !judge(k, &pair, out, q)) return false;
        tell(p, i + 1, all);
    }
    return true;
}

/* Judges the pairs and, with --translations FILE, writes the translations to it. */
static bool judge_and_write(program *p, heed_run *r, const heed_pairs *pairs, quality *q) {
    const char *path = heed_config_text(p->flags, "translations");
    heed_text made = {.c = p->c};
    translator k;
    bool ok = translator_open(&k, r, p->flags) && by_length_open(&q->lengths, r, p->flags) &&
              alignment_peaks_open(&q->peaks, r, p->flags);
    k.cuts = k.quiet = true;
    ok = ok && judge_all(p, &k, pairs, (size_t)heed_config_int(p->flags, "most"),
                         *path ? &made : NULL, q);
    if (ok && *path) ok = heed_text_save(&made, path);
    heed_text_free(&made);
    translator_close(&k);
    return ok;
}

bool pairs_scores(program *p, heed_run *r, const heed_pairs *pairs, size_t most, pair_scores *out) {
    translator k;
    quality q = {0};
    bool ok = translator_open(&k, r, NULL);
    k.cuts = k.quiet = true;
    ok = ok && judge_all(p, &k, pairs, most, NULL, &q);
    translator_close(&k);
    *out = (pair_scores){q.count, (double)q.exact / (double)q.count, bleu_of(&q.bleu)};
    return ok && q.count > 0;
}

/* ---- output ---- */

static void print_object(program *p, const char *what, const measures *m, const quality *q) {
    double n = (double)q->count;
    json_t *o = json_pack(
        "{s:o, s:I, s:o, s:o, s:o, s:o, s:[o,o], s:o, s:o, s:o, s:I, s:I}", "data", json_text(what),
        "pairs", (json_int_t)q->count, "loss", json_number(m->loss), "perplexity",
        json_number(m->perplexity), "bits_per_byte", json_number(m->bits_per_byte),
        "token_accuracy", json_number(m->accuracy), "token_accuracy_95", json_number(m->low),
        json_number(m->high), "bleu", json_number(bleu_of(&q->bleu)), "exact",
        json_number((double)q->exact / n), "log_probability", json_number(q->log_probability / n),
        "unended", (json_int_t)q->open, "tokens", (json_int_t)m->items);
    if (isnan(m->accuracy)) { /* the model counts no correct tokens */
        json_object_del(o, "token_accuracy");
        json_object_del(o, "token_accuracy_95");
    }
    json_object_set_new(o, "by_length", by_length_json(&q->lengths));
    json_object_set_new(o, "alignment", alignment_peaks_json(&q->peaks));
    print_json(p, o);
}

static void print_measures(program *p, const char *what, const measures *m, const quality *q) {
    double low, high, n = (double)q->count, bleu = bleu_of(&q->bleu);
    char text[32];
    int beam = (int)heed_config_int(p->flags, "beam");
    share_interval((double)q->exact, n, &low, &high);
    enum { AT = 19 };
    print_fact(0, "", "%s", what);
    putchar('\n');
    print_fact(AT, "  loss", "%.4f", m->loss);
    print_fact(AT, "  perplexity", m->perplexity < 1e5 ? "%.2f" : "%.2e", m->perplexity);
    if (!isnan(m->accuracy))
        print_fact(AT, "  token accuracy",
                   "%.2f %%  (95 %%: %.2f to %.2f), given the true tokens before",
                   100 * m->accuracy, 100 * m->low, 100 * m->high);
    printf("\n%s pairs translated, ", heed_format_count(text, q->count));
    if (beam > 1)
        printf("beam of %d\n\n", beam);
    else
        puts("greedy\n");
    print_fact(AT, "  exact", "%.2f %%  (95 %%: %.2f to %.2f)", 100 * (double)q->exact / n,
               100 * low, 100 * high);
    if (isnan(bleu))
        print_fact(AT, "  BLEU", "-  (no text has four words)");
    else
        print_fact(AT, "  BLEU", "%.2f", bleu);
    print_fact(AT, "  log probability", "%.4f a target", q->log_probability / n);
    if (q->open) print_fact(AT, "  without an end", "%s", heed_format_count(text, q->open));
    by_length_print(&q->lengths);
    alignment_peaks_print(&q->peaks);
}

static void evaluate(program *p, const char *what, const heed_config *f, heed_run *r,
                     heed_pairs *pairs) {
    heed_score s =
        heed_evaluate(r->tape, r->model, r->self, pairs, (int)heed_config_int(f, "batch"));
    measures m = measure(&s);
    quality q = {0};
    if (heed_ctx_status(p->c) == HEED_OK && judge_and_write(p, r, pairs, &q)) {
        if (heed_config_bool(p->flags, "json"))
            print_object(p, what, &m, &q);
        else
            print_measures(p, what, &m, &q);
    }
    by_length_close(&q.lengths);
    alignment_peaks_close(&q.peaks);
}

void eval_pairs(program *p, const heed_model *m, heed_config *f, heed_run *r) {
    char what[512];
    if (!m->steps) { /* the model cannot translate */
        eval_scores(p, m, f, r);
        return;
    }
    heed_data *d = eval_data_open(p, m, f, r, what);
    if (d) evaluate(p, what, f, r, d->batches);
    heed_data_close(d);
}
