/* class_eval.c -- heed eval for classifiers of pictures, of texts and of words: accuracy, overall
 * and by class. */
#include "kinds/image.h"
#include "kinds/pairs.h"

#include <stdlib.h>
#include <string.h>

/* ---- predictions ---- */

void score_prediction(heed_score *s, const heed_prediction *one, bool correct) {
    s->loss += one->loss;
    s->weight++;
    s->total++;
    s->correct += correct;
    s->top5 += one->rank < 5;
}

static bool add_prediction(heed_ctx *c, class_predictions *all, const heed_real *logits,
                           int label) {
    heed_prediction one = heed_prediction_of(logits, all->classes, label);
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? 2 * all->capacity : 256;
        heed_prediction *grown = realloc(all->list, capacity * sizeof *grown);
        if (!grown) return heed_fail(c, HEED_FAILED, "no memory for %zu %s", capacity, all->noun);
        all->list = grown;
        all->capacity = capacity;
    }
    all->list[all->count++] = one;
    score_prediction(&all->score, &one, one.predicted == one.label);
    return true;
}

/* Logits (B,classes), or (B,S,classes) for words: a token without a label is not the first of a
 * word and is not counted. */
static bool predict_batch(const heed_run *r, heed_data *d, heed_batch_at at,
                          class_predictions *all) {
    heed_tape *t = r->tape;
    heed_batch b = {0};
    heed_model_input in = {.x = NULL};
    if (!(all->images ? heed_image_batch(d->batches, at, &b) : heed_pair_batch(d->batches, at, &b)))
        return false;
    heed_tape_begin(t, HEED_EVAL, at.index);
    if (all->images) {
        const heed_image_transform *v = &heed_images_about(d->batches)->view;
        in.x = heed_input(t, b.x, 4, (int[]){b.rows, v->size, v->size, v->channels});
    } else {
        in.x = heed_ids(t, b.src, b.rows, b.src_len);
        in.pad = heed_ids(t, b.src_pad, b.rows, b.src_len);
    }
    const heed_tensor *y = r->model->logits(r->self, t, &in);
    if (!y || y->shape[y->dims - 1] != all->classes) return false;
    size_t classes = (size_t)all->classes;
    bool ok = true;
    for (size_t i = 0; ok && i < y->size / classes; i++)
        if (b.labels[i] >= 0) ok = add_prediction(r->c, all, y->x + i * classes, b.labels[i]);
    return ok;
}

/* Predicts everything in the part of the data that d evaluates. */
static bool predict_part(const heed_run *r, heed_data *d, int rows, class_predictions *all) {
    bool pictures = d->spec.kind == HEED_INPUT_PICTURE, ok = true;
    bool words = r->model->answers == HEED_ANSWER_SAME;
    *all = (class_predictions){.part = d->part,
                               .all_parts = d->all,
                               .noun = words ? "words" : "texts",
                               .classes = d->label_count,
                               .labels = d->labels,
                               .texts = pictures ? NULL : heed_pairs_about(d->batches)};
    if (pictures) {
        all->images = d->batches;
        all->noun = "pictures";
        heed_images_set_eval_part(all->images, d->part);
    }
    uint64_t batches = heed_model_eval_batches(r->model, r->self, d->batches, rows);
    for (uint64_t i = 0; ok && i < batches; i++)
        ok = predict_batch(r, d, (heed_batch_at){.val = true, .index = i, .rows = rows}, all);
    return ok ||
           heed_fail(r->c, HEED_FAILED, "the model and the %s do not fit together", all->noun);
}

/* ---- output ---- */

static void print_object(program *p, const char *data, const class_predictions *all) {
    measures m = measure(&all->score);
    bool uneven;
    json_t *o = json_pack("{s:o}", "data", json_text(data));
    if (all->images)
        json_object_set_new(o, "part",
                            json_string(heed_part_name(all->all_parts ? HEED_PARTS : all->part)));
    json_object_update_new(o, json_pack("{s:o, s:o, s:[o,o], s:o, s:I, s:o}", "loss",
                                        json_number(m.loss), "accuracy", json_number(m.accuracy),
                                        "accuracy_95", json_number(m.low), json_number(m.high),
                                        "top5", json_number(m.top5), "items", (json_int_t)m.items,
                                        "classes", classes_json(all)));
    if (all->texts)
        json_object_update_new(o,
                               json_pack("{s:I, s:I}", "cut", (json_int_t)all->texts->val_cut.texts,
                                         "unread", (json_int_t)all->texts->val_cut.unread));
    double balanced = balanced_accuracy(all, &uneven);
    if (uneven) json_object_set_new(o, "balanced_accuracy", json_number(balanced));
    print_json(p, o);
}

static void print_measures(const program *p, const char *data, const class_predictions *all) {
    measures m = measure(&all->score);
    char n[32], of[64] = "", cut[120];
    bool uneven;
    enum { AT = 15 };
    heed_format_count(n, all->count);
    if (all->images)
        print_fact(0, "",
                   all->all_parts ? "%s on %s: %s %s pictures" : "%s on %s, %s part: %s pictures",
                   p->argv[0], data, all->all_parts ? "all" : part_name(all->part), n);
    else {
        print_fact(0, "", "%s", data);
        snprintf(of, sizeof of, " of %s %s", n, all->noun);
    }
    putchar('\n');
    print_fact(AT, "  loss", "%.4f", m.loss);
    print_fact(AT, "  accuracy", "%.2f %%  (95 %%: %.2f to %.2f)%s", 100 * m.accuracy, 100 * m.low,
               100 * m.high, of);
    double balanced = balanced_accuracy(all, &uneven);
    if (uneven) print_fact(AT, "  balanced", "%.2f %%  (mean over the classes)", 100 * balanced);
    if (all->classes > 5) print_fact(AT, "  top 5", "%.2f %%", 100 * m.top5);
    if (all->texts && all->texts->val_cut.texts)
        print_fact(AT, "  note", "%s", cut_note(all->texts, &all->texts->val_cut, cut));
}

static void report(program *p, const char *data, class_predictions *all) {
    const char *matrix = heed_config_text(p->flags, "confusion"),
               *mistakes = heed_config_text(p->flags, "mistakes");
    bool json = heed_config_bool(p->flags, "json");
    all->confusion = heed_confusion(p->c, all->list, all->count, all->classes);
    if (!all->confusion) return;
    if (json)
        print_object(p, data, all);
    else {
        print_measures(p, data, all);
        print_classes(all);
        print_confusion(all);
    }
    if (*matrix && confusion_png(p->c, all, matrix) && !json) printf("\nwrote %s\n", matrix);
    int worst = (int)heed_config_int(p->flags, "worst");
    if (*mistakes && mistakes_png(p->c, all, worst, mistakes) && !json)
        printf("%swrote %s\n", *matrix ? "" : "\n", mistakes);
}

void warn_of_pictures(program *p, const heed_data *d, bool evaluated) {
    size_t bad = heed_images_about(d->batches)->bad;
    bool asked = strcmp(heed_config_text(p->flags, "part"), "auto") != 0;
    if (evaluated && !d->all && !asked && d->part == HEED_TRAIN_PART)
        heed_message(p->c, HEED_WARN,
                     "there is no validation and no test part: this is measured on the training "
                     "pictures; hint: `eval %s OTHER-PICTURES`",
                     p->argv[0]);
    if (!bad) return;
    heed_message(p->c, HEED_WARN, "%zu picture%s cannot be decoded and %s skipped", bad,
                 bad == 1 ? "" : "s", bad == 1 ? "was" : "were");
    size_t more = print_skipped(stderr, d->batches, "  ", 3);
    if (more) fprintf(stderr, "  and %zu more\n", more);
}

void eval_classes(program *p, const heed_model *m, heed_config *f, heed_run *r) {
    char what[512];
    class_predictions all;
    heed_data *d = eval_data_open(p, m, f, r, what);
    if (!d) return;
    bool pictures = reads_pictures(m),
         ok = predict_part(r, d, (int)heed_config_int(f, "batch"), &all);
    if (ok) report(p, pictures ? heed_config_text(f, "data") : what, &all);
    if (ok && pictures) draw_codes(p, r, d, (int)heed_config_int(f, "batch"));
    if (pictures) warn_of_pictures(p, d, ok);
    free(all.list);
    free(all.confusion);
    heed_data_close(d);
}
