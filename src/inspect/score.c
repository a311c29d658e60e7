/* score.c -- the answers of a run to evaluation data: predictions of its classes, the targets that
 * it makes, where their attention peaks. */
#include "core/core.h"
#include "data/kind.h"
#include "inspect/inspect.h"
#include "tokenizer/tokenizer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- predictions ---- */

/* Logits (B,classes), or (B,S,classes) for words. */
static bool score_batch(const heed_evaluation *e, uint64_t index, heed_scores *out) {
    const heed_data *d = e->data;
    heed_tape *t = e->run->tape;
    heed_batch b = {0};
    heed_batch_at at = {.val = true, .index = index, .rows = e->rows, .sample = e->sample};
    heed_images *images = d->kind->images ? d->kind->images(d) : NULL;
    heed_model_input in = {.x = NULL};
    if (!d->kind->batch(d, at, &b)) return false;
    heed_tape_begin(t, HEED_EVAL, index);
    if (images) {
        const heed_image_transform *v = &heed_images_about(images)->view;
        in.x = heed_input(t, b.x, 4, (int[]){b.rows, v->size, v->size, v->channels});
    } else if (b.x)
        in.x = heed_input(t, b.x, 2, (int[]){b.rows, b.len});
    else {
        in.x = heed_ids(t, b.src, b.rows, b.src_len);
        in.pad = heed_ids(t, b.src_pad, b.rows, b.src_len);
    }
    const heed_tensor *y = e->run->model->logits(e->run->self, t, &in);
    int classes = y ? y->shape[y->dims - 1] : 0;
    if (!y || (d->labels && classes != d->label_count))
        return heed_fail(d->c, HEED_FAILED, "the model and the %s do not fit together",
                         d->kind->items);
    return d->kind->score(out, &b, y->x, y->size / (size_t)classes);
}

/* ---- targets ---- */

bool heed_make_target(const heed_run *r, const heed_generation *how, heed_example *e,
                      heed_generated *about) {
    if (!r || !e || !about || heed__stopped(r->c)) return false;
    if (!r->model->steps)
        return heed_fail(r->c, HEED_USAGE,
                         "the target is missing: model %s does not generate output step by step: "
                         "expected one with the source",
                         r->model->name);
    heed_specials x = heed_tokenizer_specials(r->tokenizer);
    heed_generation a = how ? *how : (heed_generation){0};
    int32_t never[4];
    size_t block = (size_t)heed_config_int(r->config, "block") + 2;
    a.source = e->text.tokens.ids;
    a.source_count = e->text.tokens.count;
    a.picture = e->x;
    a.picture_size = e->transform.size;
    a.picture_channels = e->transform.channels;
    a.prompt = &x.cls;
    a.prompt_count = 1;
    a.has_end = true;
    a.end = x.sep;
    a.never = never;
    a.never_count = heed_never(r->tokenizer, x.sep, never);
    heed_tokens *to = &e->target.tokens;
    int32_t *ids = heed__alloc_array(r->c, block, sizeof *ids);
    bool ok = ids && heed_generate(r->model, r->self, r->tape, &a, ids, about);
    heed_tokens_free(to);
    to->c = r->c;
    for (int i = 0; ok && i < about->count; i++) ok = heed__tokens_put(to, ids[i], 0, 0);
    heed__free(ids);
    return ok;
}

/* Exact targets by the length of the source. */
typedef struct {
    int each, capacity;    /* lengths of a row; their limit */
    size_t *count, *exact; /* by the source's tokens, without [SEP] */
} lengths;

typedef struct {
    const heed_evaluation *e;
    const heed_target_args *how;
    heed_scores *out;
    heed_reader reader;
    lengths by;
    heed_alignment_peaks peaks;
} scoring;

static bool add_peaks(scoring *s, heed_example *e, const heed_generated *about,
                      const heed_pair *pair) {
    heed_run *r = s->e->run;
    if (s->how->peaks == HEED_PEAKS_NONE || about->count < 1) return true;
    bool ok = heed_example_made(&s->reader, about->ended, e) && heed_run_example(r, "", e);
    heed_alignment_range *right =
        ok ? heed__alloc_array(r->c, e->target.tokens.count, sizeof *right) : NULL;
    ok = right != NULL;
    if (ok && s->how->peaks == HEED_PEAKS_FIELDS)
        ok = heed_alignment_fields(r, e, pair, right);
    else if (ok)
        heed_alignment_diagonal(r, e, s->how->within, s->how->peaks == HEED_PEAKS_ANTI, right);
    ok = ok && heed_alignment_peaks_add(&s->peaks, r, e, right);
    heed__free(right);
    return ok;
}

/* An exact target equals one of those that are right. */
static bool compare(scoring *s, const heed_item *item, const heed_text *made,
                    const heed_generated *about, size_t length) {
    heed_ctx *c = s->e->run->c;
    heed_scores *out = s->out;
    heed_text *lines = s->how->made;
    const char **right = heed__alloc_array(c, item->count + 1, sizeof *right),
               *at = item->targets.s;
    bool exact = false;
    if (!right) return false;
    if (lines) heed_text_add(lines, "%s\t", item->source.s);
    if (lines) heed_text_put(lines, made->s, made->n);
    for (size_t i = 0; i < item->count; i++, at += strlen(at) + 1) {
        right[i] = at;
        exact = exact || (made->n == strlen(at) && memcmp(made->s, at, made->n) == 0);
        if (lines) heed_text_add(lines, "\t%s", at);
    }
    if (lines) heed_text_put(lines, "\n", 1);
    out->made++;
    out->exact += exact;
    out->unended += !about->ended;
    out->log_probability += about->log_probability;
    if (s->by.each && length < (size_t)s->by.capacity) {
        s->by.count[length]++;
        s->by.exact[length] += exact;
    }
    bool ok = heed__bleu_add_best(c, &out->bleu, made->s, right, item->count);
    heed__free(right);
    return ok;
}

static bool add_target(scoring *s, size_t index) {
    heed_run *r = s->e->run;
    const heed_data *d = s->e->data;
    heed_item item = {.source = {.c = r->c}, .targets = {.c = r->c}};
    heed_example e = {0};
    heed_generated about;
    heed_text made = {.c = r->c};
    bool ok =
        d->kind->input(d, true, index, &item) &&
        (item.picture.pixels ? heed_example_picture(&s->reader, &item.picture, item.source.s, &e)
                             : heed_example_text(&s->reader, item.source.s, item.source.n, &e));
    size_t length = e.text.tokens.count ? e.text.tokens.count - 1 : 0;
    ok = ok && heed_make_target(r, &s->how->decode, &e, &about) &&
         heed_decode(r->tokenizer, e.target.tokens.ids, e.target.tokens.count, &made) &&
         heed_text_put(&made, "", 0) && compare(s, &item, &made, &about, length) &&
         add_peaks(s, &e, &about, &item.pair);
    heed_text_free(&made);
    heed_example_free(&e);
    heed_item_free(&item);
    return ok && !heed__stopped(r->c);
}

/* BLEU's tokens depend on all targets that are right. */
static bool read_targets(const scoring *s, size_t count) {
    const heed_data *d = s->e->data;
    heed_item item = {.unseen = true, .source = {.c = d->c}, .targets = {.c = d->c}};
    bool ok = true;
    for (size_t i = 0; ok && i < count && (ok = d->kind->input(d, true, i, &item)); i++) {
        const char *at = item.targets.s;
        for (size_t k = 0; k < item.count; k++, at += strlen(at) + 1)
            heed__bleu_read(&s->out->bleu, at, strlen(at));
    }
    heed_item_free(&item);
    return ok;
}

static bool score_targets(scoring *s) {
    const heed_evaluation *e = s->e;
    size_t all = e->data->kind->inputs(e->data, true), most = s->how->most;
    if (most && most < all) all = most;
    s->reader = heed_run_reader(e->run);
    s->reader.cut = s->reader.quiet = true;
    s->out->data = e->data;
    s->out->beam = s->how->decode.beam;
    s->out->bleu = (heed_bleu){0};
    bool ok = read_targets(s, all);
    for (size_t i = 0; ok && i < all; i++) {
        ok = add_target(s, i);
        if (ok && ((i + 1) % 16 == 0 || i + 1 == all))
            ok = heed__progress(e->run->c, e->progress, e->progress_user, (int64_t)i + 1,
                                (int64_t)all);
    }
    return ok;
}

bool heed_score_targets(const heed_evaluation *e, const heed_target_args *how, heed_scores *out) {
    static const heed_target_args greedy;
    scoring s = {.e = e, .how = how ? how : &greedy, .out = out};
    if (!out) return false;
    *out = (heed_scores){.data = NULL};
    return e && e->run && e->data && e->data->kind->target && !heed__stopped(e->run->c) &&
           score_targets(&s);
}

/* ---- tables of targets ---- */

/* The lengths of a row and their counts. The first row begins at the shortest length, the last one
 * ends at the longest. */
static void report_lengths(const lengths *b, heed_facts *out) {
    heed_text *o = &out->json;
    int last = b->capacity - 1, first = 0;
    char name[48], n[32], share[32] = "", interval[48] = "";
    while (first < last && !b->count[first]) first++;
    while (last > first && !b->count[last]) last--;
    heed_fact_add(out, HEED_FACT_COLUMNS, "tokens of a source", "pairs\texact\t95 %%");
    heed_json_open(o, "by_length", '[');
    for (int from = first, to; from <= last; from = to + 1) {
        size_t count = 0, exact = 0;
        double low, high;
        to = from + b->each - 1 < last ? from + b->each - 1 : last;
        for (int i = from; i <= to; i++) count += b->count[i], exact += b->exact[i];
        heed_share_interval((double)exact, (double)count, &low, &high);
        snprintf(name, sizeof name, from < to ? "%d to %d" : "%d", from, to);
        if (count) {
            snprintf(share, sizeof share, "%.2f %%", 100 * (double)exact / (double)count);
            snprintf(interval, sizeof interval, "%6.2f to %.2f", 100 * low, 100 * high);
        } else
            *share = *interval = 0;
        heed_fact_add(out, HEED_FACT_ROW, name, "%s\t%s\t%s", heed_format_count(n, count), share,
                      interval);
        heed_json_open(o, NULL, '{');
        heed_json_int(o, "from", from);
        heed_json_int(o, "to", to);
        heed_json_int(o, "pairs", (int64_t)count);
        heed_fact_share(out, "exact", "", (double)exact, (double)count, NULL);
        heed_json_close(o, '}');
    }
    heed_json_close(o, ']');
}

static void report_peak(const heed_alignment_peaks *p, int head, const char *key, const char *label,
                        heed_facts *out) {
    heed_json_open(&out->json, key, '{');
    heed_json_int(&out->json, "layer", head / p->heads + 1);
    heed_json_int(&out->json, "head", head % p->heads + 1);
    heed_fact_share(out, "share", label, (double)p->correct[head], (double)p->count,
                    label ? "" : NULL);
    heed_json_close(&out->json, '}');
}

static void report_peaks(const scoring *s, heed_facts *out) {
    static const char *const names[] = {"none", "diagonal", "anti", "fields"};
    const heed_alignment_peaks *p = &s->peaks;
    char n[32], label[48], where[64] = "inside the field that is written";
    int all = p->layers * p->heads, best = 0;
    for (int i = 1; i < all; i++)
        if (p->correct[i] > p->correct[best]) best = i;
    if (s->how->peaks != HEED_PEAKS_FIELDS)
        snprintf(where, sizeof where, "within %d of the %s", s->how->within,
                 s->how->peaks == HEED_PEAKS_ANTI ? "anti-diagonal" : "diagonal");
    heed_fact_add(out, HEED_FACT_HEADING, "", "peak of the attention %s, of %s generated tokens\n",
                  where, heed_format_count(n, p->count));
    heed_json_open(&out->json, "alignment", '{');
    heed_json_text(&out->json, "kind", names[s->how->peaks]);
    heed_json_int(&out->json, "within", s->how->within);
    heed_json_int(&out->json, "outputs", (int64_t)p->count);
    heed_json_open(&out->json, "heads", '[');
    for (int i = 0; i < all; i++) {
        snprintf(label, sizeof label, "layer %d, head %d", i / p->heads + 1, i % p->heads + 1);
        report_peak(p, i, NULL, all > 1 ? label : NULL, out);
    }
    heed_json_close(&out->json, ']');
    report_peak(p, best, "best", all > 1 ? "best head" : "attention", out);
    heed_json_close(&out->json, '}');
}

/* ---- a run ---- */

static bool score_all(scoring *s) {
    const heed_evaluation *e = s->e;
    const heed_model *m = e->run->model;
    const heed_data *d = e->data;
    heed_ctx *c = e->run->c;
    heed_batch b;
    heed_grid g;
    bool ok = true, classes = d && d->kind->score && m->logits && !m->batch;
    s->out->data = d;
    for (uint64_t i = 0; ok && i < e->batches; i++)
        ok = classes ? score_batch(e, i, s->out) : heed_evaluation_batch(e, i, &b, &s->out->sum);
    if (m->grid && m->grid(e->run->self, &g)) {
        s->out->hidden = g.hidden;
        s->out->patches = g.rows * g.cols;
    }
    if (!ok || !d || !d->kind->target || !m->steps) return ok;
    if (s->how->by_length) {
        size_t block = (size_t)heed_config_int(e->run->config, "block") + 1;
        s->by = (lengths){.each = s->how->by_length,
                          .capacity = (int)block,
                          .count = heed__alloc_array(c, 2 * block, sizeof *s->by.count)};
        if (!s->by.count) return false;
        s->by.exact = s->by.count + block;
    }
    return (s->how->peaks == HEED_PEAKS_NONE || heed_alignment_peaks_open(e->run, &s->peaks)) &&
           score_targets(s);
}

bool heed_score_run(const heed_evaluation *e, const heed_target_args *how, heed_scores *out,
                    heed_facts *facts) {
    static const heed_target_args greedy;
    if (!out) return false;
    *out = (heed_scores){.data = NULL};
    if (!e || !e->run || heed__stopped(e->run->c)) return false;
    scoring s = {.e = e, .how = how ? how : &greedy, .out = out};
    bool ok = score_all(&s) && !heed__stopped(e->run->c);
    if (ok && facts) {
        facts->json.c = e->run->c;
        heed_json_open(&facts->json, NULL, '{');
        ok = heed__scores_describe(out, heed_model_data(e->run->model), facts);
        if (s.by.each) report_lengths(&s.by, facts);
        if (s.how->peaks && s.peaks.correct) report_peaks(&s, facts);
        heed_json_close(&facts->json, '}');
    }
    heed__free(s.by.count);
    heed_alignment_peaks_free(&s.peaks);
    return ok;
}
