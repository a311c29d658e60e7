/* scores.c -- what an evaluation finds: predictions of classes and which of them were confused, the
 * measures of a model, the targets that it made. */
#include "core/core.h"
#include "data/kind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void heed_scores_free(heed_scores *s) {
    if (!s) return;
    for (int mode = 0; mode < 2; mode++) heed__entities_free(s->entities[mode]);
    heed__free(s->list);
    heed__free(s->confusion);
    *s = (heed_scores){.data = NULL};
}

void heed_item_free(heed_item *i) {
    if (!i) return;
    heed_text_free(&i->source);
    heed_text_free(&i->targets);
    heed_picture_free(&i->picture);
    i->count = 0;
}

/* ---- predictions of classes ---- */

static bool is_class(int index, int classes) { return index >= 0 && index < classes; }

heed_prediction heed_prediction_of(const heed_real *logits, int classes, int label) {
    if (!logits || !is_class(label, classes)) return (heed_prediction){.label = label};
    int best = 0, better = 0;
    double sum = 0;
    for (int i = 1; i < classes; i++)
        if (logits[i] > logits[best]) best = i;
    for (int i = 0; i < classes; i++) {
        sum += exp((double)logits[i] - (double)logits[best]);
        better += i != label && logits[i] >= logits[label];
    }
    return (heed_prediction){.label = label,
                             .predicted = best,
                             .rank = better,
                             .p = 1 / sum,
                             .loss = log(sum) + (double)logits[best] - (double)logits[label]};
}

size_t *heed__confusion(heed_ctx *c, const heed_prediction *list, size_t count, int classes) {
    size_t n = (size_t)(classes > 0 ? classes : 0),
           *counts = heed__alloc_array(c, n * n, sizeof *counts);
    for (size_t i = 0; counts && list && i < count; i++)
        if (is_class(list[i].label, classes) && is_class(list[i].predicted, classes))
            counts[(size_t)list[i].label * n + (size_t)list[i].predicted]++;
    return counts;
}

heed__class_score heed__confusion_class(const size_t *confusion, int classes, int label) {
    heed__class_score none = {.recall = (double)NAN, .precision = (double)NAN};
    if (!confusion || !is_class(label, classes)) return none;
    size_t n = (size_t)classes, at = (size_t)label;
    heed__class_score s = {.correct = confusion[at * n + at]};
    for (size_t i = 0; i < n; i++) {
        s.count += confusion[at * n + i];
        s.predicted += confusion[i * n + at];
    }
    s.recall = s.count ? (double)s.correct / (double)s.count : (double)NAN;
    s.precision = s.predicted ? (double)s.correct / (double)s.predicted : (double)NAN;
    return s;
}

void heed_score_prediction(heed_score *s, const heed_prediction *one, bool correct) {
    if (!s || !one) return;
    s->loss += one->loss;
    s->weight++;
    s->total++;
    s->correct += correct;
    s->top5 += one->rank < 5;
}

/* Of words, each sequence is a row of the batch; a token without a label is no first of a word. */
bool heed__score_classes(heed_scores *s, const heed_batch *b, const heed_real *logits,
                         size_t rows) {
    int classes = s->data->label_count;
    size_t each = rows / (size_t)b->rows;
    for (size_t i = 0; i < rows; i++) {
        if (b->labels[i] >= 0) {
            if (!heed__grow(s->data->c, &s->list, &s->capacity, s->count + 1, sizeof *s->list))
                return false;
            heed_prediction *one = &s->list[s->count++];
            *one = heed_prediction_of(logits + i * (size_t)classes, classes, b->labels[i]);
            heed_score_prediction(&s->sum, one, one->predicted == one->label);
            for (int mode = 0; mode < 2; mode++)
                heed__entities_word(s->entities[mode], one->label, one->predicted);
        }
        for (int mode = 0; mode < 2 && (i + 1) % each == 0; mode++)
            heed__entities_end(s->entities[mode]);
    }
    return true;
}

bool heed__score_tags(heed_scores *s, const heed_batch *b, const heed_real *logits, size_t rows) {
    const heed_data *d = s->data;
    for (int mode = 0; mode < 2 && !s->count; mode++)
        s->entities[mode] = heed__entities_new(d->c, d->labels, d->label_count, mode);
    return heed__score_classes(s, b, logits, rows);
}

/* ---- tables of classes ---- */

static const char *share_text(char text[32], double share) {
    snprintf(text, 32, isfinite(share) ? "%.2f %%" : "-", 100 * share);
    return text;
}

static void add_classes(const heed_scores *s, heed_facts *out) {
    const heed_data *d = s->data;
    heed_text *o = &out->json;
    char n[32], found[32], precise[32];
    heed_fact_add(out, HEED_FACT_COLUMNS, "class", "%ss\tfound\tprecision", d->kind->label);
    heed_json_open(o, "classes", '[');
    for (int i = 0; i < d->label_count; i++) {
        heed__class_score f = heed__confusion_class(s->confusion, d->label_count, i);
        heed_fact_add(out, HEED_FACT_ROW, d->labels[i], "%s\t%s\t%s", heed_format_count(n, f.count),
                      share_text(found, f.recall), share_text(precise, f.precision));
        heed_json_open(o, NULL, '{');
        heed_json_text(o, "class", d->labels[i]);
        heed_json_int(o, "count", (int64_t)f.count);
        heed_fact_number(out, "recall", "", f.recall, NULL);
        heed_fact_number(out, "precision", "", f.precision, NULL);
        heed_json_open(o, "predicted", '[');
        for (int k = 0; k < d->label_count; k++)
            heed_json_int(o, NULL, (int64_t)s->confusion[i * d->label_count + k]);
        heed_json_close(o, ']');
        heed_json_close(o, '}');
    }
    heed_json_close(o, ']');
}

/* The largest entry off the diagonal that follows the entry `below` at index `after` in descending
 * order; classes^2: none. */
static size_t next_largest(const size_t *x, size_t n, size_t below, size_t after) {
    size_t best = n * n;
    for (size_t i = 0; i < n * n; i++) {
        if (i / n == i % n || x[i] > below || (x[i] == below && i <= after)) continue;
        if (best == n * n || x[i] > x[best]) best = i;
    }
    return best;
}

/* The table of confusions; of very many classes only the largest mistakes. */
static void add_confusion(const heed_scores *s, heed_facts *out) {
    enum { WIDEST = 80, PAIRS = 12 };
    const heed_data *d = s->data;
    size_t n = (size_t)d->label_count, cell = 4, below = SIZE_MAX, at = 0;
    char count[32];
    for (size_t i = 0; i < n * n; i++) {
        size_t width = (size_t)snprintf(count, sizeof count, "%zu", s->confusion[i]) + 2;
        if (width > cell) cell = width;
    }
    for (int i = 0; cell * n > WIDEST && i < PAIRS; i++) {
        at = next_largest(s->confusion, n, below, at);
        if (at == n * n || !(below = s->confusion[at])) break;
        if (i == 0) heed_fact_add(out, HEED_FACT_HEADING, "", "  confused most often");
        snprintf(count, sizeof count, "%8zu  ", below);
        heed_fact_add(out, HEED_FACT_ITEM, count, "%s as %s", d->labels[at / n], d->labels[at % n]);
    }
    if (cell * n > WIDEST) return;
    heed_fact_add(out, HEED_FACT_MATRIX, "", "rows: the class; columns: the prediction");
    for (size_t i = 0; i < n; i++) {
        heed_text row = {.c = d->c};
        for (size_t k = 0; k < n; k++)
            heed_text_add(&row, "%s%zu", k ? "\t" : "", s->confusion[i * n + k]);
        heed_fact_add(out, HEED_FACT_ROW, d->labels[i], "%s", row.s ? row.s : "");
        heed_text_free(&row);
    }
}

/* The mean of the shares of correct predictions, if the largest class has more than twice the items
 * of the smallest one. */
static void add_balanced(const heed_scores *s, heed_facts *out) {
    double sum = 0, present = 0, most = 0, least = INFINITY;
    for (int i = 0; i < s->data->label_count; i++) {
        heed__class_score f = heed__confusion_class(s->confusion, s->data->label_count, i);
        if (!f.count) continue;
        sum += f.recall;
        present++;
        most = fmax(most, (double)f.count);
        least = fmin(least, (double)f.count);
    }
    if (!(most > 2 * least)) return;
    heed_fact_number(out, "balanced_accuracy", "", sum / present, NULL);
    heed_fact_add(out, HEED_FACT, "balanced", "%.2f %%  (mean over the classes)",
                  100 * sum / present);
}

bool heed__report_classes(heed_scores *s, const heed__pairs *texts, heed_facts *out) {
    const heed_data *d = s->data;
    const heed_score *sum = &s->sum;
    char n[32], of[64];
    s->confusion = heed__confusion(d->c, s->list, s->count, d->label_count);
    if (!s->confusion) return false;
    snprintf(of, sizeof of, " of %s %s%s", heed_format_count(n, s->count), d->kind->label,
             s->count == 1 ? "" : "s");
    heed_fact_number(out, "loss", "loss", sum->loss / sum->weight, "%.4f");
    heed_fact_share(out, "accuracy", "accuracy", sum->correct, sum->total, of);
    add_balanced(s, out);
    heed_fact_number(out, "top5", "", sum->top5 / sum->total, NULL);
    if (d->label_count > 5)
        heed_fact_add(out, HEED_FACT, "top 5", "%.2f %%", 100 * sum->top5 / sum->total);
    heed_json_int(&out->json, "items", (int64_t)sum->weight);
    heed__report_entities(s->entities, out);
    if (texts) {
        const heed__pairs_info *a = heed__pairs_about(texts);
        heed_text note = {.c = d->c};
        heed_json_int(&out->json, "cut", (int64_t)a->val_cut.texts);
        heed_json_int(&out->json, "unread", (int64_t)a->val_cut.unread);
        if (a->val_cut.texts) heed__pairs_cut_text(a, &a->val_cut, &note);
        if (note.s) heed_fact_add(out, HEED_FACT, "note", "%s", note.s);
        heed_text_free(&note);
    }
    heed__table_entities(s->entities[0], out);
    add_classes(s, out);
    add_confusion(s, out);
    return !heed__stopped(d->c);
}

/* ---- measures ---- */

static void add_loss(const heed_scores *s, const heed_data_kind *kind, heed_facts *out) {
    double loss = s->sum.weight > 0 ? s->sum.loss / s->sum.weight : (double)NAN;
    double perplexity = kind->perplexity ? exp(loss) : (double)NAN;
    heed_fact_number(out, "loss", "loss", loss, "%.4f");
    heed_fact_number(out, "perplexity", "perplexity", perplexity,
                     perplexity < 1e5 ? "%.2f" : "%.2e");
}

static double bits_per_byte(const heed_score *s) {
    return s->bytes > 0 ? s->loss / log(2) / s->bytes : (double)NAN;
}

bool heed__scores_describe(heed_scores *s, const heed_data_kind *kind, heed_facts *out) {
    char n[32];
    if (!s || !kind || !out) return false;
    if (kind->report && (s->count || s->made || s->sum.pixels > 0)) return kind->report(s, out);
    const heed_score *sum = &s->sum;
    add_loss(s, kind, out);
    heed_fact_number(out, "bits_per_byte", "bits per byte", bits_per_byte(sum), "%.4f");
    heed_fact_share(out, "accuracy", "accuracy", sum->correct, sum->total, "");
    double top = sum->total > 0 ? sum->top5 / sum->total : (double)NAN;
    heed_fact_number(out, "top5", "", top, NULL);
    if (isfinite(top)) heed_fact_add(out, HEED_FACT, "top 5", "%.2f %%", 100 * top);
    heed_fact_add(out, HEED_FACT, "predictions", "%s", heed_format_count(n, (uint64_t)sum->weight));
    heed_json_int(&out->json, "items", (int64_t)sum->weight);
    return !out->c || !heed__stopped(out->c);
}

/* ---- targets ---- */

double heed_scores_bleu(const heed_scores *s, const char **tokens) {
    static const char *const names[] = {"13a", "zh", "char"};
    if (tokens) *tokens = names[s ? s->bleu.tokens : 0];
    if (!s) return (double)NAN;
    return s->bleu.longest < 4 ? (double)NAN : heed__bleu_of(&s->bleu);
}

bool heed__report_targets(const heed_scores *s, const heed__pairs *pairs, heed_facts *out) {
    static const char *const what[] = {"words and marks", "each Chinese character is a token",
                                       "each character is a token"};
    const heed_data_kind *kind = s->data->kind;
    const heed_score *sum = &s->sum;
    bool pictures = kind->images;
    const char *tokens, *noun = pictures ? "caption" : "target";
    char n[32], beam[32] = "greedy";
    double bleu = heed_scores_bleu(s, &tokens), made = (double)s->made;
    heed_text note = {.c = s->data->c};
    snprintf(n, sizeof n, "%.*s", (int)strcspn(kind->made, " "), kind->made);
    heed_json_int(&out->json, n, (int64_t)s->made);
    add_loss(s, kind, out);
    if (isfinite(bits_per_byte(sum)))
        heed_fact_number(out, "bits_per_byte", "", bits_per_byte(sum), NULL);
    if (sum->total > 0) /* else the model counts no correct tokens */
        heed_fact_share(out, "token_accuracy", "token accuracy", sum->correct, sum->total,
                        ", given the true tokens before");
    if (s->beam > 1) snprintf(beam, sizeof beam, "beam of %d", s->beam);
    heed_fact_add(out, HEED_FACT_HEADING, "", "%s %s, %s\n", heed_format_count(n, s->made),
                  kind->made, beam);
    heed_fact_share(out, "exact", "exact", (double)s->exact, made,
                    pictures ? ", equal to a caption of the picture" : "");
    heed_fact_number(out, "bleu", "", bleu, NULL);
    heed_json_text(&out->json, "bleu_tokens", tokens);
    if (isnan(bleu))
        heed_fact_add(out, HEED_FACT, "BLEU", "-  (no text has four tokens)");
    else
        heed_fact_add(out, HEED_FACT, "BLEU", "%.2f%s  (as sacreBLEU's %s: %s)", bleu,
                      pictures ? ", against all captions of the picture" : "", tokens,
                      what[s->bleu.tokens]);
    heed_fact_number(out, "log_probability", "", s->log_probability / made, NULL);
    heed_fact_add(out, HEED_FACT, "log probability", "%.4f a %s", s->log_probability / made, noun);
    heed_json_int(&out->json, "unended", (int64_t)s->unended);
    heed_json_int(&out->json, "tokens", (int64_t)sum->weight);
    if (s->unended)
        heed_fact_add(out, HEED_FACT, "without an end", "%s", heed_format_count(n, s->unended));
    if (s->exact < s->made && heed__pairs_altered(pairs, true, &note))
        heed_fact_add(out, HEED_FACT, "note", "%s", note.s ? note.s : "");
    heed_text_free(&note);
    return !heed__stopped(s->data->c);
}
