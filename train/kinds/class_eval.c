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
    size_t classes = (size_t)all->classes, each = y->size / classes / (size_t)b.rows;
    bool ok = true;
    for (size_t i = 0; ok && i < y->size / classes; i++) {
        if (b.labels[i] >= 0) ok = add_prediction(r->c, all, y->x + i * classes, b.labels[i]);
        for (int mode = 0; ok && mode < 2; mode++) {
            const heed_prediction *one = &all->list[all->count - 1];
            if (b.labels[i] >= 0)
                heed_entities_word(all->entities[mode], one->label, one->predicted);
            if ((i + 1) % each == 0) heed_entities_end(all->entities[mode]);
        }
    }
    return ok;
}

/* Predicts everything in the part of the data that d evaluates. */
static bool predict_part(const heed_run *r, heed_data *d, int rows, class_predictions *all) {
    bool pictures = d->kind->pictures, ok = true;
    bool words = names_words(r->model);
    *all = (class_predictions){.part = d->part,
                               .all_parts = d->all,
                               .noun = words ? "words" : "texts",
                               .classes = d->label_count,
                               .labels = d->labels,
                               .texts = pictures ? NULL : heed_pairs_about(d->batches)};
    for (int mode = 0; words && mode < 2; mode++)
        all->entities[mode] = heed_entities_new(r->c, d->labels, d->label_count, mode);
    if (pictures) {
        all->images = d->batches;
        all->noun = "pictures";
        heed_images_set_eval_part(all->images, d->part);
    }
    uint64_t batches = heed_model_eval_batches(r->model, r->self, d, rows);
    for (uint64_t i = 0; ok && i < batches; i++)
        ok = predict_batch(r, d, (heed_batch_at){.val = true, .index = i, .rows = rows}, all);
    return ok ||
           heed_fail(r->c, HEED_FAILED, "the model and the %s do not fit together", all->noun);
}

/* ---- entities ---- */

typedef struct {
    double precision, recall, f1;
} entity_measures;

/* As seqeval has it, 0 where there is nothing to divide by. */
static entity_measures measure_entities(const heed_entity_score *s) {
    entity_measures m = {.precision = s->predicted ? (double)s->correct / (double)s->predicted : 0,
                         .recall = s->gold ? (double)s->correct / (double)s->gold : 0};
    m.f1 = s->correct ? 2 * m.precision * m.recall / (m.precision + m.recall) : 0;
    return m;
}

static heed_entity_score sum_of(const heed_entity_score *list, size_t count) {
    heed_entity_score sum = {.type = "all"};
    for (size_t i = 0; i < count; i++) {
        sum.gold += list[i].gold;
        sum.predicted += list[i].predicted;
        sum.correct += list[i].correct;
    }
    return sum;
}

static json_t *score_json(const heed_entity_score *s) {
    entity_measures m = measure_entities(s);
    return json_pack("{s:f, s:f, s:f, s:I}", "precision", m.precision, "recall", m.recall, "f1",
                     m.f1, "support", (json_int_t)s->gold);
}

/* {precision, recall, f1, support, types: [{type, precision, ...}]}, and strict: the same with
 * scheme. */
static json_t *entities_json(heed_entities *e) {
    size_t count;
    const heed_entity_score *list = heed_entities_scores(e, &count);
    heed_entity_score sum = sum_of(list, count);
    json_t *o = score_json(&sum), *types = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *one = json_pack("{s:o}", "type", json_text(list[i].type));
        json_object_update_new(one, score_json(&list[i]));
        json_array_append_new(types, one);
    }
    json_object_set_new(o, "types", types);
    if (heed_entities_scheme(e))
        json_object_set_new(o, "scheme", json_string(heed_entities_scheme(e)));
    return o;
}

static void print_entities(int at, const char *label, heed_entities *e) {
    size_t count;
    char n[32];
    const heed_entity_score *list = heed_entities_scores(e, &count);
    heed_entity_score sum = sum_of(list, count);
    entity_measures m = measure_entities(&sum);
    const char *scheme = heed_entities_scheme(e);
    if (e)
        print_fact(at, label, "F1 %.2f %%, precision %.2f %%, recall %.2f %% of %s entities%s%s",
                   100 * m.f1, 100 * m.precision, 100 * m.recall, heed_format_count(n, sum.gold),
                   scheme ? ", strictly " : "", scheme ? scheme : "");
}

static void entity_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const heed_entity_score *s = (const heed_entity_score *)of + row;
    entity_measures m = measure_entities(s);
    const double shares[] = {m.recall, m.precision, m.f1};
    char n[32];
    if (column == HEED_TABLE_NAME)
        snprintf(text, HEED_TABLE_CELL, "  %s", s->type);
    else if (column == 0)
        snprintf(text, HEED_TABLE_CELL, "%s", heed_format_count(n, s->gold));
    else
        snprintf(text, HEED_TABLE_CELL, "%.2f %%", 100 * shares[column - 1]);
}

static void print_entity_types(heed_entities *e) {
    static const heed_table_column columns[] = {
        {"entities", 9, false}, {"found", 10, false}, {"precision", 10, false}, {"F1", 10, false}};
    size_t count;
    const heed_entity_score *list = heed_entities_scores(e, &count);
    heed_table t = {.head = "type",
                    .name = 12,
                    .flush = true,
                    .rows = (int)count,
                    .count = 4,
                    .columns = columns,
                    .cell = entity_cell,
                    .of = list};
    if (count) print_table(NULL, &t);
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
    if (*all->entities) json_object_set_new(o, "entities", entities_json(all->entities[0]));
    if (all->entities[1])
        json_object_set_new(json_object_get(o, "entities"), "strict",
                            entities_json(all->entities[1]));
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
    print_entities(AT, "  entities", all->entities[0]);
    print_entities(AT, "", all->entities[1]);
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
        print_entity_types(all->entities[0]);
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
    class_predictions all = {.list = NULL};
    heed_data *d = eval_data_open(p, m, f, r, what);
    if (!d) return;
    bool pictures = reads_pictures(m),
         ok = predict_part(r, d, (int)heed_config_int(f, "batch"), &all);
    if (ok) report(p, pictures ? heed_config_text(f, "data") : what, &all);
    if (ok && pictures) draw_codes(p, r, d, (int)heed_config_int(f, "batch"));
    if (pictures) warn_of_pictures(p, d, ok);
    free(all.list);
    free(all.confusion);
    for (int mode = 0; mode < 2; mode++) heed_entities_free(all.entities[mode]);
    heed_data_close(d);
}
