/* predict.c -- a run's predictions for pictures: probabilities, and one prediction for each picture
 * of a part. */
#include "kinds/image.h"

#include <math.h>
#include <stdlib.h>

static int by_probability(const void *a, const void *b) {
    const guess *x = a, *y = b;
    if (x->p != y->p) return x->p > y->p ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

void guesses_of(const heed_real *logits, int n, guess *g) {
    double top = (double)logits[0], sum = 0;
    for (int i = 1; i < n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < n; i++) {
        g[i] = (guess){exp((double)logits[i] - top), i};
        sum += g[i].p;
    }
    for (int i = 0; i < n; i++) g[i].p /= sum;
    qsort(g, (size_t)n, sizeof *g, by_probability);
}

static void print_bar(int length) {
    bool color = has_color(stdout);
    fputs(color ? "  \033[36m" : "  ", stdout);
    for (int i = 0; i < length; i++) fputs(color ? "\xe2\x96\x88" : "#", stdout);
    if (color) fputs("\033[0m", stdout);
}

int guess_width(int width, const char *label) {
    int n = heed_label_columns(label);
    return n > width && n < 40 ? n : width;
}

void print_guess(const char *label, int width, double p) {
    int length = (int)lround(24 * p);
    fputs("  ", stdout);
    print_name(label, width, 0);
    printf("  %.4f", p);
    if (length > 0) print_bar(length);
    putchar('\n');
}

/* ---- an entire part ---- */

static bool judgement_capacity(heed_ctx *c, judgement *j) {
    if (j->count < j->capacity) return true;
    size_t capacity = j->capacity ? 2 * j->capacity : 256;
    heed_prediction *grown = realloc(j->list, capacity * sizeof *grown);
    if (!grown) return heed_fail(c, HEED_FAILED, "no memory for %zu %s", capacity, j->noun);
    j->list = grown;
    j->capacity = capacity;
    return true;
}

bool judgement_add(heed_ctx *c, judgement *j, const heed_real *logits, int label) {
    heed_prediction v = heed_prediction_of(logits, j->classes, label);
    heed_score *s = &j->score;
    if (!judgement_capacity(c, j)) return false;
    j->list[j->count++] = v;
    s->loss += v.loss;
    s->weight++;
    s->total++;
    s->correct += v.predicted == v.label;
    s->top5 += v.rank < 5;
    return true;
}

static bool judge_batch(heed_tape *t, const heed_model *m, const void *self, heed_images *k,
                        heed_batch_at at, judgement *j) {
    const heed_image_transform *v = &heed_images_about(k)->view;
    heed_batch b = {0};
    if (!heed_image_batch(k, at, &b)) return false;
    heed_tape_begin(t, HEED_EVAL, at.index);
    heed_tensor *x = heed_input(t, b.x, 4, (int[]){b.rows, v->size, v->size, v->channels});
    heed_tensor *logits = m->logits(self, t, &(heed_model_input){.x = x});
    if (!logits || logits->shape[1] != j->classes) return false;
    bool ok = true;
    for (int i = 0; ok && i < b.rows; i++)
        ok = judgement_add(heed_tape_ctx(t), j, logits->x + (size_t)i * (size_t)j->classes,
                           b.labels[i]);
    return ok;
}

bool judge_part(heed_tape *t, const heed_model *m, const void *self, heed_images *k, heed_part part,
                int rows, judgement *out) {
    heed_ctx *c = heed_tape_ctx(t);
    const heed_images_info *a = heed_images_about(k);
    *out =
        (judgement){.part = part, .noun = "pictures", .classes = a->classes, .labels = a->labels};
    heed_images_set_eval_part(k, part);
    uint64_t batches = heed_images_evals(k, rows);
    bool ok = true;
    for (uint64_t i = 0; ok && i < batches; i++)
        ok =
            judge_batch(t, m, self, k, (heed_batch_at){.val = true, .index = i, .rows = rows}, out);
    if (!ok) heed_fail(c, HEED_FAILED, "the model and the pictures do not fit together");
    return ok;
}

void judgement_free(judgement *j) {
    free(j->list);
    *j = (judgement){0};
}
