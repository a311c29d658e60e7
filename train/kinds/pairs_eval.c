/* pairs_eval.c -- heed eval for models of pairs of texts: the loss given the true targets, and the
 * quality of the model's own translations. */
#include "kinds/inputs.h"
#include "kinds/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- exact matches by the length of the source ---- */

typedef struct {
    int each;              /* number of lengths per row of the table; 0: no table */
    int capacity;          /* limit of the lengths */
    size_t *count, *exact; /* indexed by the source's tokens, without [SEP] */
} by_length;

static bool by_length_open(by_length *b, heed_run *r, const heed_config *flags) {
    size_t block = (size_t)heed_config_int(r->config, "block") + 1;
    *b = (by_length){.each = (int)heed_config_int(flags, "by-length"), .capacity = (int)block};
    if (!b->each) return true;
    b->count = calloc(2 * block, sizeof *b->count);
    if (!b->count) return heed_fail(r->c, HEED_FAILED, "no memory for %zu lengths", block);
    b->exact = b->count + block;
    return true;
}

/* The lengths from, ..., to and their counts. */
typedef struct {
    int from, to;
    size_t count, exact;
    double low, high;
} row;

/* Finds the next row of the table after `at`, which starts at 0. False: there are no more. The
 * first row begins at the shortest length, and the last ends at the longest. */
static bool next_row(const by_length *b, int *at, row *out) {
    int from = *at, last = b->capacity - 1;
    while (*at == 0 && from < b->capacity && !b->count[from]) from++;
    while (last >= 0 && !b->count[last]) last--;
    if (from > last) return false;
    *out = (row){.from = from, .to = from + b->each - 1 < last ? from + b->each - 1 : last};
    for (int i = out->from; i <= out->to; i++) {
        out->count += b->count[i];
        out->exact += b->exact[i];
    }
    *at = out->to + 1;
    if (out->count) share_interval((double)out->exact, (double)out->count, &out->low, &out->high);
    return true;
}

enum { PAIRS, EXACT, INTERVAL, COLUMNS };
static const heed_table_column columns[] = {
    {"pairs", 7, false}, {"exact", 9, false}, {"    95 %", 16, true}};

static void cell(const void *of, int index, int column, char text[HEED_TABLE_CELL]) {
    row r = {.from = 0};
    char n[32];
    for (int at = 0; index >= 0; index--) next_row(of, &at, &r);
    *text = 0;
    if (column == HEED_TABLE_NAME)
        snprintf(text, HEED_TABLE_CELL, r.from < r.to ? "  %d to %d" : "  %d", r.from, r.to);
    if (column == PAIRS) snprintf(text, HEED_TABLE_CELL, "%s", heed_format_count(n, r.count));
    if (column == EXACT && r.count)
        snprintf(text, HEED_TABLE_CELL, "%.2f %%", 100 * (double)r.exact / (double)r.count);
    if (column == INTERVAL && r.count)
        snprintf(text, HEED_TABLE_CELL, "%6.2f to %.2f", 100 * r.low, 100 * r.high);
}

static void by_length_print(const by_length *b) {
    row r;
    heed_table l = {.head = "tokens of a source",
                    .name = 18,
                    .flush = true,
                    .count = COLUMNS,
                    .columns = columns,
                    .cell = cell,
                    .of = b};
    if (!b->each) return;
    for (int at = 0; next_row(b, &at, &r);) l.rows++;
    print_table(NULL, &l);
}

static json_t *by_length_json(const by_length *b) {
    row r;
    if (!b->each) return NULL;
    json_t *list = json_array();
    for (int at = 0; next_row(b, &at, &r);)
        json_array_append_new(list, json_pack("{s:i, s:i, s:I, s:o, s:[o,o]}", "from", r.from, "to",
                                              r.to, "pairs", (json_int_t)r.count, "exact",
                                              json_number((double)r.exact / (double)r.count),
                                              "exact_95", json_number(r.low), json_number(r.high)));
    return list;
}

/* ---- translating ---- */

/* Measures of a run's translations. */
typedef struct {
    size_t count, exact, unended; /* unended: targets that did not end */
    double log_probability;       /* sum */
    heed_bleu bleu;
    by_length lengths;
    alignment_peaks peaks;
} quality;

/* BLEU counts sequences of four tokens. */
double shown_bleu(const heed_bleu *b) { return b->longest < 4 ? (double)NAN : heed_bleu_of(b); }

const char *bleu_tokens(const heed_bleu *b) {
    static const char *const names[] = {"13a", "zh", "char"};
    return names[b->tokens];
}

void print_bleu(const heed_bleu *b, const char *against) {
    static const char *const what[] = {"words and marks", "each Chinese character is a token",
                                       "each character is a token"};
    if (isnan(shown_bleu(b)))
        print_fact(MEASURES_AT, "  BLEU", "-  (no text has four tokens)");
    else
        print_fact(MEASURES_AT, "  BLEU", "%.2f%s  (as sacreBLEU's %s: %s)", shown_bleu(b), against,
                   bleu_tokens(b), what[b->tokens]);
}

void print_altered(const heed_pairs *pairs, size_t exact, size_t count) {
    heed_text note = {.c = NULL};
    if (exact < count && heed_pairs_altered(pairs, true, &note))
        print_fact(MEASURES_AT, "  note", "%s", note.s ? note.s : "");
    heed_text_free(&note);
}

static bool add_translation(translator *k, const heed_pair *pair, heed_text *out, quality *q) {
    heed_ctx *c = k->run->c;
    heed_text made = {.c = c}, reference = {.c = c};
    bool ok = translate(k, pair->source, pair->source_n) && translated_text(k, &made) &&
              heed_text_put(&made, "", 0) &&
              heed_text_put(&reference, pair->target, pair->target_n) &&
              heed_bleu_add(c, &q->bleu, made.s, reference.s);
    if (ok) {
        bool exact = made.n == reference.n && memcmp(made.s, reference.s, made.n) == 0;
        q->count++;
        q->exact += exact;
        size_t length = k->in.text.tokens.count - 1;
        if (q->lengths.each && length < (size_t)q->lengths.capacity) {
            q->lengths.count[length]++;
            q->lengths.exact[length] += exact;
        }
        ok = alignment_peaks_add(&q->peaks, k, pair);
        q->unended += !k->about.ended;
        q->log_probability += k->about.log_probability;
        const heed_text *rest[] = {&made, &reference};
        if (out) heed_text_put(out, pair->source, pair->source_n);
        for (int i = 0; out && i < 2; i++)
            if (heed_text_put(out, "\t", 1)) heed_text_put(out, rest[i]->s, rest[i]->n);
        if (out) heed_text_put(out, "\n", 1);
    }
    heed_text_free(&made);
    heed_text_free(&reference);
    return ok && heed_ctx_status(c) == HEED_OK;
}

/* Translates the first `most` validation pairs (0: all) as the settings f say (NULL: greedily) and
 * adds the translations to out, unless it is NULL. */
static bool translate_all(program *p, heed_run *r, const heed_config *f, const heed_pairs *pairs,
                          size_t most, heed_text *out, quality *q) {
    size_t all = heed_pairs_about(pairs)->val_pairs;
    heed_pair pair;
    translator k;
    bool ok = translator_open(&k, r, f);
    k.cuts = k.quiet = true;
    if (most && most < all) all = most;
    for (size_t i = 0; ok && i < all && heed_pairs_get(pairs, true, i, &pair); i++)
        heed_bleu_read(&q->bleu, pair.target, pair.target_n);
    for (size_t i = 0; ok && i < all; i++) {
        if (was_interrupted(NULL)) ok = heed_fail(p->c, HEED_INTERRUPTED, "interrupted");
        ok = ok && heed_pairs_get(pairs, true, i, &pair) && add_translation(&k, &pair, out, q);
        if (ok && !p->json_lines && ((i + 1) % 16 == 0 || i + 1 == all))
            eval_loop_progress(p, "translated", i + 1, all);
    }
    translator_close(&k);
    return ok;
}

/* Measures the translations and, with --translations FILE, writes them to it. */
static bool measure_translations(program *p, heed_run *r, const heed_pairs *pairs, quality *q) {
    const char *path = heed_config_text(p->flags, "translations");
    size_t most = (size_t)heed_config_int(p->flags, "most");
    heed_text made = {.c = p->c};
    bool ok = by_length_open(&q->lengths, r, p->flags) &&
              alignment_peaks_open(&q->peaks, r, p->flags) &&
              translate_all(p, r, p->flags, pairs, most, *path ? &made : NULL, q);
    if (ok && *path) ok = heed_text_save(&made, path);
    heed_text_free(&made);
    return ok;
}

bool pairs_scores(program *p, heed_run *r, const heed_pairs *pairs, size_t most, pair_scores *out) {
    quality q = {0};
    bool ok = translate_all(p, r, NULL, pairs, most, NULL, &q);
    *out = (pair_scores){q.count, (double)q.exact / (double)q.count, shown_bleu(&q.bleu),
                         bleu_tokens(&q.bleu)};
    return ok && q.count > 0;
}

/* ---- output ---- */

static void print_object(program *p, const char *what, const measures *m, const quality *q) {
    double n = (double)q->count;
    json_t *o = json_pack(
        "{s:o, s:I, s:o, s:o, s:o, s:o, s:[o,o], s:o, s:s, s:o, s:o, s:I, s:I}", "data",
        json_text(what), "pairs", (json_int_t)q->count, "loss", json_number(m->loss), "perplexity",
        json_number(m->perplexity), "bits_per_byte", json_number(m->bits_per_byte),
        "token_accuracy", json_number(m->accuracy), "token_accuracy_95", json_number(m->low),
        json_number(m->high), "bleu", json_number(shown_bleu(&q->bleu)), "bleu_tokens",
        bleu_tokens(&q->bleu), "exact", json_number((double)q->exact / n), "log_probability",
        json_number(q->log_probability / n), "unended", (json_int_t)q->unended, "tokens",
        (json_int_t)m->items);
    if (isnan(m->accuracy)) { /* the model counts no correct tokens */
        json_object_del(o, "token_accuracy");
        json_object_del(o, "token_accuracy_95");
    }
    json_object_set_new(o, "by_length", by_length_json(&q->lengths));
    json_object_set_new(o, "alignment", alignment_peaks_json(&q->peaks));
    print_json(p, o);
}

void print_given_truth(const char *what, const measures *m) {
    enum { AT = MEASURES_AT };
    print_fact(0, "", "%s", what);
    putchar('\n');
    print_fact(AT, "  loss", "%.4f", m->loss);
    print_fact(AT, "  perplexity", m->perplexity < 1e5 ? "%.2f" : "%.2e", m->perplexity);
    if (!isnan(m->accuracy))
        print_fact(AT, "  token accuracy",
                   "%.2f %%  (95 %%: %.2f to %.2f), given the true tokens before",
                   100 * m->accuracy, 100 * m->low, 100 * m->high);
}

void print_decoding(const program *p, const char *what, size_t count) {
    char text[32];
    int beam = (int)heed_config_int(p->flags, "beam");
    printf("\n%s %s, ", heed_format_count(text, count), what);
    if (beam > 1)
        printf("beam of %d\n\n", beam);
    else
        puts("greedy\n");
}

static void print_measures(program *p, const char *what, const measures *m, const quality *q,
                           const heed_pairs *pairs) {
    double low, high, n = (double)q->count;
    char text[32];
    share_interval((double)q->exact, n, &low, &high);
    enum { AT = MEASURES_AT };
    print_given_truth(what, m);
    print_decoding(p, "pairs translated", q->count);
    print_fact(AT, "  exact", "%.2f %%  (95 %%: %.2f to %.2f)", 100 * (double)q->exact / n,
               100 * low, 100 * high);
    print_bleu(&q->bleu, "");
    print_fact(AT, "  log probability", "%.4f a target", q->log_probability / n);
    if (q->unended) print_fact(AT, "  without an end", "%s", heed_format_count(text, q->unended));
    print_altered(pairs, q->exact, q->count);
    by_length_print(&q->lengths);
    alignment_peaks_print(&q->peaks);
}

void eval_pairs(program *p, const heed_model *m, heed_config *f, heed_run *r) {
    char what[512];
    if (!m->steps) { /* the model cannot translate */
        eval_scores(p, m, f, r);
        return;
    }
    heed_data *d = eval_data_open(p, m, f, r, what);
    if (!d) return;
    int rows = (int)heed_config_int(f, "batch");
    heed_score score = heed_evaluate(r->tape, r->model, r->self, d, rows);
    measures found = measure(&score);
    quality q = {0};
    if (heed_ctx_status(p->c) == HEED_OK && measure_translations(p, r, d->batches, &q)) {
        if (heed_config_bool(p->flags, "json"))
            print_object(p, what, &found, &q);
        else
            print_measures(p, what, &found, &q, d->batches);
    }
    free(q.lengths.count);
    heed_alignment_peaks_free(&q.peaks.of);
    heed_data_close(d);
}
