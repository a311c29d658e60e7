/* captions_eval.c -- heed eval for models of captions: the loss given the true words, and the
 * quality of the model's own captions against all those of a picture. */
#include "kinds/inputs.h"
#include "kinds/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Measures of a run's captions. */
typedef struct {
    size_t count, exact, unended; /* exact: equal to one of the picture's captions */
    double log_probability;       /* sum */
    heed_bleu bleu;
} quality;

/* The captions of a picture, each ended by a zero byte. */
typedef struct {
    heed_text text;
    const char **list;
    size_t count;
} references;

static bool references_of(heed_captions *k, size_t index, size_t count, references *out) {
    size_t n, *at = calloc(count + 1, sizeof *at);
    bool ok = at != NULL;
    out->count = count;
    out->list = calloc(count + 1, sizeof *out->list);
    for (size_t i = 0; ok && out->list && i < count; i++) {
        const char *text = heed_captions_text(k, true, index, i, &n);
        at[i] = out->text.n;
        ok = heed_text_put(&out->text, text, n) && heed_text_put(&out->text, "", 1);
    }
    for (size_t i = 0; ok && out->list && i < count; i++) out->list[i] = out->text.s + at[i];
    free(at);
    if (ok && out->list) return true;
    return heed_fail(out->text.c, HEED_FAILED, "no memory for %zu captions", count);
}

static void add_line(heed_text *out, const char *path, const heed_text *made, const references *r) {
    heed_text_add(out, "%s\t", path);
    heed_text_put(out, made->s, made->n);
    for (size_t i = 0; i < r->count; i++) heed_text_add(out, "\t%s", r->list[i]);
    heed_text_put(out, "\n", 1);
}

static void count_caption(const translator *k, const heed_text *made, const references *r,
                          quality *q) {
    bool exact = false;
    for (size_t i = 0; !exact && i < r->count; i++)
        exact = made->n == strlen(r->list[i]) && memcmp(made->s, r->list[i], made->n) == 0;
    q->count++;
    q->exact += exact;
    q->unended += !k->about.ended;
    q->log_probability += k->about.log_probability;
}

static bool add_caption(translator *k, heed_captions *captions, size_t index, heed_text *out,
                        quality *q) {
    heed_ctx *c = k->run->c;
    heed_captioned found;
    heed_picture picture;
    heed_text made = {.c = c};
    references r = {.text = {.c = c}};
    bool ok = heed_captions_get(captions, true, index, &found, &picture) &&
              references_of(captions, index, found.captions, &r) &&
              translate_picture(k, &picture, found.path) && translated_text(k, &made) &&
              heed_text_put(&made, "", 0) &&
              heed_bleu_add_best(c, &q->bleu, made.s, r.list, r.count);
    if (ok) count_caption(k, &made, &r, q);
    if (ok && out) add_line(out, found.path, &made, &r);
    heed_picture_free(&picture);
    heed_text_free(&made);
    heed_text_free(&r.text);
    free(r.list);
    return ok && heed_ctx_status(c) == HEED_OK;
}

static void read_captions(heed_captions *k, size_t index, heed_bleu *b) {
    size_t n;
    const char *text;
    for (size_t i = 0; (text = heed_captions_text(k, true, index, i, &n)) != NULL; i++)
        heed_bleu_read(b, text, n);
}

/* Captions of the first `most` validation pictures (0: all) as the settings f say (NULL: greedy);
 * the lines are added to out, unless it is NULL. */
static bool caption_all(program *p, heed_run *r, const heed_config *f, heed_captions *captions,
                        size_t most, heed_text *out, quality *q) {
    size_t all = heed_captions_about(captions)->val_pictures;
    translator k;
    bool ok = translator_open(&k, r, f);
    k.quiet = true;
    if (most && most < all) all = most;
    for (size_t i = 0; ok && i < all; i++) read_captions(captions, i, &q->bleu);
    for (size_t i = 0; ok && i < all; i++) {
        if (was_interrupted(NULL)) ok = heed_fail(p->c, HEED_INTERRUPTED, "interrupted");
        ok = ok && add_caption(&k, captions, i, out, q);
        if (ok && !p->json_lines && ((i + 1) % 16 == 0 || i + 1 == all))
            eval_loop_progress(p, "captioned", i + 1, all);
    }
    translator_close(&k);
    return ok;
}

bool captions_scores(program *p, heed_run *r, const heed_data *d, size_t most, pair_scores *out) {
    quality q = {0};
    bool ok = caption_all(p, r, NULL, d->batches, most, NULL, &q);
    *out = (pair_scores){q.count, (double)q.exact / (double)q.count, shown_bleu(&q.bleu),
                         bleu_tokens(&q.bleu)};
    return ok && q.count > 0;
}

/* ---- output ---- */

static void print_object(program *p, const char *what, const measures *m, const quality *q) {
    double n = (double)q->count, low, high;
    share_interval((double)q->exact, n, &low, &high);
    json_t *o = json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:s, s:o, s:[o,o], s:o, s:I, s:I}",
                          "data", json_text(what), "pictures", (json_int_t)q->count, "loss",
                          json_number(m->loss), "perplexity", json_number(m->perplexity),
                          "token_accuracy", json_number(m->accuracy), "bleu",
                          json_number(shown_bleu(&q->bleu)), "bleu_tokens", bleu_tokens(&q->bleu),
                          "exact", json_number((double)q->exact / n), "exact_95", json_number(low),
                          json_number(high), "log_probability", json_number(q->log_probability / n),
                          "unended", (json_int_t)q->unended, "tokens", (json_int_t)m->items);
    print_json(p, o);
}

static void print_measures(program *p, const char *what, const measures *m, const quality *q,
                           const heed_captions *captions) {
    enum { AT = MEASURES_AT };
    double low, high, n = (double)q->count;
    char text[32];
    share_interval((double)q->exact, n, &low, &high);
    print_given_truth(what, m);
    print_decoding(p, "pictures captioned", q->count);
    print_fact(AT, "  exact", "%.2f %%  (95 %%: %.2f to %.2f), equal to a caption of the picture",
               100 * (double)q->exact / n, 100 * low, 100 * high);
    print_bleu(&q->bleu, ", against all captions of the picture");
    print_fact(AT, "  log probability", "%.4f a caption", q->log_probability / n);
    if (q->unended) print_fact(AT, "  without an end", "%s", heed_format_count(text, q->unended));
    print_altered(heed_captions_pairs(captions), q->exact, q->count);
}

/* Measures the captions and, with --translations FILE, writes them to it. */
static bool measure_captions(program *p, heed_run *r, heed_captions *captions, quality *q) {
    const char *path = flag_text(p, "translations");
    heed_text made = {.c = p->c};
    bool ok = caption_all(p, r, p->flags, captions, (size_t)heed_config_int(p->flags, "most"),
                          *path ? &made : NULL, q);
    if (ok && *path) ok = heed_text_save(&made, path);
    heed_text_free(&made);
    return ok;
}

void eval_captions(program *p, const heed_model *m, heed_config *f, heed_run *r) {
    char what[512];
    if (!m->steps) { /* the model makes no captions */
        eval_scores(p, m, f, r);
        return;
    }
    heed_data *d = eval_data_open(p, m, f, r, what);
    if (!d) return;
    int rows = (int)heed_config_int(f, "batch");
    heed_score score = heed_evaluate(r->tape, r->model, r->self, d, rows);
    measures found = measure(&score);
    quality q = {0};
    if (heed_ctx_status(p->c) == HEED_OK && measure_captions(p, r, d->batches, &q)) {
        if (flag_on(p, "json"))
            print_object(p, what, &found, &q);
        else
            print_measures(p, what, &found, &q, d->batches);
    }
    heed_data_close(d);
}
