/* labels_eval.c -- heed eval for textcls and tag: accuracy, overall and by class. */
#include "kinds/image.h"
#include "kinds/pairs.h"

#include <math.h>
#include <stdlib.h>

/* logits (B,classes), or (B,S,classes) for tags. */
static heed_tensor *logits_of(const heed_run *r, const heed_batch *b) {
    heed_model_input in = {.x = heed_ids(r->tape, b->src, b->rows, b->src_len),
                           .pad = heed_ids(r->tape, b->src_pad, b->rows, b->src_len)};
    return r->model->logits(r->self, r->tape, &in);
}

/* Tokens without a label, which are not the first of a word, are not judged. */
static bool judge_batch(const heed_run *r, heed_pairs *k, heed_batch_at at, judgement *j) {
    heed_batch b = {0};
    if (!heed_pair_batch(k, at, &b)) return false;
    heed_tape_begin(r->tape, HEED_EVAL, at.index);
    heed_tensor *y = logits_of(r, &b);
    size_t classes = (size_t)j->classes, n = y ? y->size / classes : 0;
    bool ok = y != NULL;
    for (size_t i = 0; ok && i < n; i++)
        if (b.labels[i] >= 0) ok = judgement_add(r->c, j, y->x + i * classes, b.labels[i]);
    return ok;
}

static bool judge(const heed_run *r, heed_pairs *k, int rows, judgement *j) {
    const heed_pairs_info *a = heed_pairs_about(k);
    *j = (judgement){.part = HEED_VAL_PART,
                     .noun = r->model->answers == HEED_ANSWER_SAME ? "words" : "texts",
                     .classes = a->classes,
                     .labels = a->labels};
    uint64_t batches = heed_pairs_evals(k, rows);
    bool ok = true;
    for (uint64_t i = 0; ok && i < batches; i++)
        ok = judge_batch(r, k, (heed_batch_at){.val = true, .index = i, .rows = rows}, j);
    return ok;
}

/* ---- output ---- */

static void print_object(program *p, const char *what, const judgement *j, const measures *m,
                         const size_t *confusion) {
    print_json(p,
               json_pack("{s:o, s:o, s:o, s:[o,o], s:o, s:I, s:o}", "data", json_text(what), "loss",
                         json_number(m->loss), "accuracy", json_number(m->accuracy), "accuracy_95",
                         json_number(m->low), json_number(m->high), "top5", json_number(m->top5),
                         "items", (json_int_t)m->items, "classes", classes_json(j, confusion)));
}

static void print_measures(const char *what, const judgement *j, const measures *m) {
    char n[32];
    enum { AT = 15 };
    print_fact(0, "", "%s", what);
    putchar('\n');
    print_fact(AT, "  loss", "%.4f", m->loss);
    print_fact(AT, "  accuracy", "%.2f %%  (95 %%: %.2f to %.2f) of %s %s", 100 * m->accuracy,
               100 * m->low, 100 * m->high, heed_format_count(n, j->count), j->noun);
    if (j->classes > 5) print_fact(AT, "  top 5", "%.2f %%", 100 * m->top5);
}

static void report(program *p, const char *what, const judgement *j) {
    measures m = measure(&j->score);
    const char *picture = heed_config_text(p->flags, "confusion");
    bool json = heed_config_bool(p->flags, "json");
    size_t *confusion = heed_confusion(p->c, j->list, j->count, j->classes);
    if (confusion && json)
        print_object(p, what, j, &m, confusion);
    else if (confusion) {
        print_measures(what, j, &m);
        print_classes(j, confusion);
        print_confusion(j, confusion);
    }
    if (confusion && *picture && confusion_png(p->c, j, confusion, picture) && !json)
        printf("\nwrote %s\n", picture);
    free(confusion);
}

void eval_labels(program *p, const heed_model *m, heed_config *f, heed_run *r) {
    char what[512];
    judgement j = {0};
    heed_data *d = eval_data_open(p, m, f, r, what);
    if (d && judge(r, d->batches, (int)heed_config_int(f, "batch"), &j)) report(p, what, &j);
    judgement_free(&j);
    heed_data_close(d);
}
