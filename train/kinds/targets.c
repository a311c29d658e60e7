/* targets.c -- what a model makes of inputs: targets, during a training samples of all that it
 * makes, and the scores at its end. */
#include "kinds/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

translator translator_of(heed_run *r, const heed_config *f) {
    translator k = {.run = r, .reader = heed_run_reader(r)};
    bool one = f && heed_config_has(f, "sample") && heed_config_bool(f, "sample");
    bool several = f && heed_config_has(f, "samples") && heed_config_int(f, "samples") > 0;
    if (f) {
        k.how.beam = (int)heed_config_int(f, "beam");
        k.how.length_penalty = heed_config_real(f, "length-penalty");
    }
    if (one || several) {
        k.how.temperature = heed_config_real(f, "temperature");
        k.how.top_k = (int)heed_config_int(f, "top-k");
        k.how.top_p = heed_config_real(f, "top-p");
        k.how.seed = (uint64_t)heed_config_int(f, "seed");
    }
    return k;
}

bool translate(translator *k, const given_input *in) {
    return read_given(&k->reader, in, &k->in) &&
           heed_make_target(k->run, &k->how, &k->in, &k->about);
}

bool translated_text(const translator *k, heed_text *out) {
    const heed_tokens *made = &k->in.target.tokens;
    return heed_decode(k->run->tokenizer, made->ids, made->count, out) && heed_text_put(out, "", 0);
}

json_t *target_json(const translator *k) {
    return json_pack("{s:i, s:b, s:o}", "tokens", k->about.count, "ended", (int)k->about.ended,
                     "log_probability", json_number(k->about.log_probability));
}

bool complete_target(translator *k, const char *name) {
    return heed_example_made(&k->reader, k->about.ended, &k->in) &&
           heed_run_example(k->run, name, &k->in);
}

/* ---- samples of a model in training ---- */

static void write_sample(const progress *g, const heed_report *r) {
    heed_text text = {.c = NULL};
    bool val = isfinite(r->val_loss);
    heed_text_add(&text, "---- step %lld, %s loss %.4f ----\n%s\n\n", (long long)r->step,
                  val ? "validation" : "training", val ? r->val_loss : r->loss,
                  g->samples.s ? g->samples.s : "");
    add_to_run(g->p, g->run, "samples.txt", &text);
}

/* The first word of a text that does not begin after a newline: that of a training line for a model
 * of lines, otherwise that of the vocabulary. */
static int32_t first_word(const progress *g, const heed_report *r) {
    const heed_tokenizer *k = g->data->tokenizer;
    heed_specials s = heed_tokenizer_specials(k);
    heed_batch_at at = {.index = (uint64_t)r->step, .rows = 1};
    heed_batch line;
    if (heed_text_end(g->f, k) >= 0 && g->data->kind->batch(g->data, at, &line)) return line.ids[0];
    int32_t word = s.mask > s.unk ? s.mask + 1 : s.unk + 1;
    return word < heed_vocab_size(k) ? word : 0;
}

static bool sample_text(progress *g, const heed_run *run, const heed_report *r) {
    enum { TOKENS = 200 };
    const heed_tokenizer *k = g->data->tokenizer;
    int32_t text[1 + TOKENS], start = heed_text_start(g->f, k);
    size_t unshown = start >= 0; /* tokens before the text */
    *text = unshown ? start : first_word(g, r);
    heed_generation a = {.prompt = text,
                         .prompt_count = 1,
                         .count = TOKENS,
                         .temperature = 0.8,
                         .seed = heed_seed(g->p->c),
                         .has_end = true,
                         .end = heed_text_end(g->f, k),
                         .sample = (uint32_t)r->step};
    int32_t never[4];
    a.never = never;
    a.never_count = heed_never(k, a.end, never);
    heed_generated about;
    return heed_generate(run->model, run->self, run->tape, &a, text + 1, &about) &&
           heed_decode(k, text + unshown, 1 + (size_t)about.count - unshown, &g->samples);
}

/* "source TAB target TAB what the model makes", of the first inputs. */
static bool sample_targets(const heed_data *d, heed_run *run, heed_text *out) {
    enum { SHOWN = 4 };
    translator k = translator_of(run, NULL);
    heed_item item = {.source = {.c = d->c}, .targets = {.c = d->c}};
    size_t count = d->kind->inputs(d, true);
    bool ok = true;
    k.reader.cut = k.reader.quiet = true;
    for (size_t i = 0; ok && i < SHOWN && i < count; i++)
        ok = d->kind->input(d, true, i, &item) &&
             heed_text_add(out, "%s\t%s\t", item.source.s, item.targets.s) &&
             translate(&k, &(given_input){.name = item.source.s,
                                          .n = item.source.n,
                                          .picture = item.picture.pixels ? &item.picture : NULL}) &&
             translated_text(&k, out) &&
             heed_text_add(out, k.about.ended ? "\n" : " ...\n"); /* "...": it did not end */
    heed_item_free(&item);
    heed_example_free(&k.in);
    return ok;
}

/* Draws fixed pictures of the validation part, spread over it, in RUN/reconstructions.png. Uses a
 * separate context for the file: failing to write it must not end the training. */
static void draw_reconstructions(const progress *g, heed_run *run) {
    enum { PICTURES = 8 };
    char path[1024];
    const heed_data *d = g->data;
    bool val = !d->no_val, ok = true;
    size_t all = d->kind->inputs(d, val), count = all < PICTURES ? all : PICTURES;
    rebuilt k = {.count = 0};
    heed_item item = {.source = {.c = d->c}, .targets = {.c = d->c}};
    for (size_t i = 0; ok && i < count; i++)
        ok = d->kind->input(d, val, i * all / count, &item) &&
             rebuilt_add(&k, run, &item.picture, item.source.s);
    heed_item_free(&item);
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    snprintf(path, sizeof path, "%s" HEED_INSIDE "reconstructions.png", g->run);
    if (ok && !rebuilt_png(c, &k, path)) heed_message(g->p->c, HEED_WARN, "%s", heed_ctx_error(c));
    heed_close(c);
    rebuilt_close(&k);
}

void sample_outputs(progress *g, const heed_report *r) {
    const heed_model *m = g->p->model;
    const heed_data_kind *kind = data_of(m);
    if (!r->self || !(m->steps || makes_pictures(m))) return;
    if (!g->tape) g->tape = heed_tape_new(g->p->c);
    heed_run run = {.c = g->p->c,
                    .model = m,
                    .config = g->f,
                    .tape = g->tape,
                    .tokenizer = g->data->tokenizer,
                    .source = g->data->source,
                    .self = r->self};
    g->samples.n = 0;
    if (makes_pictures(m))
        draw_reconstructions(g, &run);
    else if (kind->target ? sample_targets(g->data, &run, &g->samples)
                          : g->data->tokenizer && sample_text(g, &run, r))
        write_sample(g, r);
}

/* ---- the end of a training ---- */

static const char *scores_path(const char *run, char path[1024]) {
    snprintf(path, 1024, "%s" HEED_INSIDE "scores.json", run);
    return path;
}

void remove_scores(const char *run) {
    char path[1024];
    remove(scores_path(run, path));
}

static void save_scores(program *p, json_t *o, const char *path) {
    char *json = json_dumps(o, JSON_REAL_PRECISION(9));
    heed_text text = {.c = p->c};
    if (!json || !heed_text_put(&text, json, strlen(json)) || !heed_text_save(&text, path)) {
        heed_message(p->c, HEED_WARN, "%s", heed_ctx_error(p->c));
        heed_clear(p->c);
    }
    free(json);
    heed_text_free(&text);
}

/* Scores the best weights on the first inputs, unless they are scored already. */
static void finish_targets(program *p, const heed_data *d, training_end *e) {
    enum { MOST = 200 };
    heed_scores s = {.made = 0};
    char path[1024], n[32], bleu[48] = "";
    const char *tokens;
    scores_path(e->run, path);
    if (!p->model->steps || d->no_val || (!e->trained && is_file(path))) return;
    heed_run *r = open_run(p, e->run);
    inspect_progress shown = {p, strchr(d->kind->made, ' ') + 1};
    heed_evaluation of = {.run = r, .data = d, .progress = inspect_advance};
    of.progress_user = &shown;
    bool ok = r && heed_score_targets(&of, &(heed_target_args){.most = MOST}, &s) && s.made;
    close_run(p, r);
    if (ok) {
        double exact = (double)s.exact / (double)s.made, of_bleu = heed_scores_bleu(&s, &tokens);
        json_t *o =
            json_pack("{s:I, s:o, s:o, s:s}", "pairs", (json_int_t)s.made, "exact",
                      json_number(exact), "bleu", json_number(of_bleu), "bleu_tokens", tokens);
        save_scores(p, o, path);
        json_object_del(o, "pairs");
        if (isfinite(of_bleu)) snprintf(bleu, sizeof bleu, ", BLEU %.2f (%s)", of_bleu, tokens);
        if (e->json)
            json_object_update(e->json, o);
        else
            print_fact(0, "", "%s validation %s with the best weights: exact %.2f %%%s",
                       heed_format_count(n, s.made), d->kind->made, 100 * exact, bleu);
        json_decref(o);
    }
    heed_scores_free(&s);
}

/* Reads the test part, batch by batch, so that it may be interrupted. */
static heed_score read_test(const training_end *e, heed_run *r, const heed_data *d) {
    heed_score score = {0};
    heed_batch b;
    heed_evaluation s = {.run = r, .data = d, .rows = (int)heed_config_int(e->f, "batch")};
    bool ok = true;
    if (e->bar) fputs("reading the test part ...", stderr);
    heed_images_set_eval_part(d->kind->images(d), HEED_TEST_PART);
    s.batches = heed_model_eval_batches(r->model, r->self, d, s.rows);
    for (uint64_t i = 0; ok && i < s.batches; i++)
        ok = was_interrupted(NULL) ? heed_fail(r->c, HEED_INTERRUPTED, "interrupted")
                                   : heed_evaluation_batch(&s, i, &b, &score);
    if (e->bar) fputs("\r\033[K", stderr);
    return score;
}

/* Writes the test results of the best weights as a line of metrics.csv. */
static void note_test(program *p, const training_end *e, double loss, double accuracy) {
    heed_text row = {.c = NULL};
    heed_text_add(&row, "%lld,,test,%.9g,", (long long)e->step, loss);
    if (isfinite(accuracy)) heed_text_add(&row, "%.9g", accuracy);
    heed_text_add(&row, ",,,,\n");
    add_to_run(p, e->run, "metrics.csv", &row);
}

static void print_waited(const training_end *e, double waited) {
    enum { SECONDS = 10 }; /* of a shorter training, the first pictures are a large part */
    int64_t workers = heed_config_int(e->f, "workers"), more = workers ? 2 * workers : 1;
    if (waited > 0.1 && e->seconds > SECONDS && more <= cpu_count())
        printf("training waited for pictures %.1f %% of the time; hint: --workers %lld\n",
               100 * waited, (long long)more);
}

/* Reads the test part, if there is one, once: after a training, or when that was kept from it. */
static void finish_pictures(program *p, const heed_data *d, training_end *e) {
    heed_images *k = d->kind->images(d);
    run_curves curves = {.test = (double)NAN};
    heed_score s = {0};
    char n[32];
    if (!e->trained) curves_read(p->c, e->run, &curves);
    bool tested = curves.tested;
    curves_free(&curves);
    if (tested) return;
    double waited = heed_images_waited(k) / (e->seconds > 0 ? e->seconds : 1), low, high;
    heed_run *r = heed_images_about(k)->count[HEED_TEST_PART] ? open_run(p, e->run) : NULL;
    if (r) s = read_test(e, r, d);
    double loss = s.loss / s.weight, accuracy = s.correct / s.total, error = s.squares / s.pixels;
    heed_share_interval(s.correct, s.total, &low, &high);
    if (r && heed_ctx_status(p->c) == HEED_OK) note_test(p, e, loss, accuracy);
    close_run(p, r);
    if (heed_ctx_status(p->c) != HEED_OK) return;
    if (e->json) {
        bool classes = d->kind->label;
        json_object_update_new(e->json, json_pack("{s:o, s:o, s:o}", "test_loss", json_number(loss),
                                                  classes ? "test_accuracy" : "test_error",
                                                  json_number(classes ? accuracy : error), "waited",
                                                  json_number(waited)));
        return;
    }
    heed_format_count(n, (uint64_t)s.weight);
    if (isfinite(accuracy))
        print_fact(0, "",
                   "test part, read once with the best weights: accuracy %.2f %% (95 %%: %.2f to "
                   "%.2f) of %s pictures",
                   100 * accuracy, 100 * low, 100 * high, n);
    if (isfinite(error))
        print_fact(0, "",
                   "test part, read once with the best weights: error %.5f per pixel, of %s "
                   "pictures",
                   error, n);
    if (e->trained) print_waited(e, waited);
}

void finish_training(program *p, const heed_data *d, training_end *e) {
    if (data_of(p->model)->target)
        finish_targets(p, d, e);
    else if (data_of(p->model)->images)
        finish_pictures(p, d, e);
}
