/* learn.c -- --learn N: gradient descent on W_Q, W_K and W_V, from random numbers to a given
 * output. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOMENTS = 51 }; /* most moments kept for the page's slider */

/* What is compared with a target: the output and, unless a file gives its target, the weights. */
static const heed_lesson_part compared[] = {HEED_LESSON_OUTPUT, HEED_LESSON_WEIGHTS};

typedef struct {
    int count;                /* of the parts compared */
    double *target[2], *d[2]; /* of each: its target, and the gradient of the loss */
} goal;

static bool goal_open(explaining *e, goal *g) {
    const heed_matrix *o = &e->w.lesson.part[compared[0]], *p = &e->w.lesson.part[compared[1]];
    size_t n = (size_t)o->rows * (size_t)o->cols, pairs = (size_t)p->rows * (size_t)p->cols;
    double *x = calloc(2 * (n + pairs), sizeof *x);
    if (!x) return heed_fail(e->c, HEED_FAILED, "no memory for learning");
    *g = (goal){.count = e->w.target ? 1 : 2,
                .target = {x, x + n},
                .d = {x + n + pairs, x + 2 * n + pairs}};
    memcpy(g->target[0], e->w.target ? e->w.target : o->x, n * sizeof *x);
    memcpy(g->target[1], p->x, pairs * sizeof *x);
    return true;
}

/* The loss L = (sum (O - O*)^2 + sum (P - P*)^2) / 2T, and its gradients by O and P. */
static double loss_of(const heed_lesson *l, goal *g) {
    double sum = 0, share = 1.0 / l->args.tokens;
    for (int k = 0; k < g->count; k++) {
        const heed_matrix *m = &l->part[compared[k]];
        for (int i = 0; i < m->rows * m->cols; i++) {
            double d = m->x[i] - g->target[k][i];
            sum += d * d;
            g->d[k][i] = share * d;
        }
    }
    return 0.5 * share * sum;
}

static void randomise(explaining *e) {
    heed_lesson *l = &e->w.lesson;
    for (int k = HEED_LESSON_W_Q; k <= HEED_LESSON_W_V; k++) {
        heed_matrix *m = &l->part[k];
        heed_random r = heed_random_at(e->seed, heed_lesson_name((heed_lesson_part)k), 0, 0);
        for (int i = 0; i < m->rows * m->cols; i++)
            m->x[i] = 0.5 * heed_random_normal(&r, (uint64_t)i);
    }
    heed_lesson_compute(l);
}

static bool descend(explaining *e, goal *g, double rate) {
    heed_lesson *l = &e->w.lesson;
    heed_lesson_gradient d;
    bool ok = heed_lesson_backward(e->c, l, g->d[0], g->count > 1 ? g->d[1] : NULL, &d);
    const heed_matrix *by[] = {&d.w_q, &d.w_k, &d.w_v};
    for (int k = 0; ok && k < 3; k++) {
        heed_matrix *m = &l->part[HEED_LESSON_W_Q + k];
        for (int i = 0; i < m->rows * m->cols; i++) m->x[i] -= rate * by[k]->x[i];
    }
    heed_lesson_gradient_free(&d);
    if (ok) heed_lesson_compute(l);
    return ok;
}

/* ---- moments and output ---- */

static bool is_moment(int step, int steps, int most) {
    return step == 0 || step == steps ||
           (int64_t)step * most / steps != (int64_t)(step - 1) * most / steps;
}

static int bar_room(const explaining *e) {
    return e->look.width - 24 < 40 ? e->look.width - 24 : 40;
}

/* The bar becomes shorter by a quarter of its full width for each factor of ten. */
static void show_loss(explaining *e, int step, double loss, double first) {
    char text[32];
    int capacity = bar_room(e);
    double share = loss > 0 && first > 0 ? 1 + 0.25 * log10(loss / first) : 0;
    heed_text_add(&e->out, "%7d  %12s", step, number_text(text, loss, 6));
    for (int i = 0; i < share * capacity && i < capacity; i++)
        heed_text_add(&e->out, i ? "#" : "  #");
    gap(e);
}

static void introduce(explaining *e, int steps, double rate, const goal *g) {
    heading(e, "Learning W_Q, W_K and W_V in %d steps", steps);
    say(e,
        "From random matrices (--seed %llu) by gradient descent: W = W - %g dW, where L = 1/2T sum "
        "(output - target)^2%s is the mean over the tokens. The target is %s.",
        (unsigned long long)e->seed, rate,
        g->count > 1 ? " + 1/2T sum (weights - their target)^2" : "",
        g->count > 1 ? "what the given W make of the text" : "the file's");
    heed_text_add(&e->out, "%7s  %12s", "step", "loss");
    if (e->look.width >= 64)
        heed_text_add(&e->out, "  (%d signs are a factor of ten)", bar_room(e) / 4);
    gap(e);
}

static void learn(explaining *e, goal *g, int steps, double rate) {
    json_t *list = json_array();
    double first = 0, loss = 0;
    randomise(e);
    if (!e->json) introduce(e, steps, rate, g);
    for (int step = 0; step <= steps && heed_ctx_status(e->c) == HEED_OK; step++) {
        if (step && !descend(e, g, rate)) break;
        loss = loss_of(&e->w.lesson, g);
        if (!step) first = loss;
        if (!(loss <= 1e6 * (1 + first))) {
            heed_fail(e->c, HEED_DIVERGED,
                      "learning diverged: step %d: the loss rose from %.3g to %.3g; hint: a "
                      "smaller --rate",
                      step, first, loss);
            break;
        }
        if (is_moment(step, steps, MOMENTS - 1)) {
            const heed_matrix *p = e->w.lesson.part;
            json_array_append_new(list, json_pack("{s:i, s:o, s:o, s:o, s:o}", "step", step, "loss",
                                                  json_number(loss), "W_Q",
                                                  matrix_json(&p[HEED_LESSON_W_Q]), "W_K",
                                                  matrix_json(&p[HEED_LESSON_W_K]), "W_V",
                                                  matrix_json(&p[HEED_LESSON_W_V])));
        }
        if (!e->json && is_moment(step, steps, 10)) show_loss(e, step, loss, first);
    }
    if (!e->json) {
        gap(e);
        say(e,
            "The loss fell from %.4g to %.4g. The steps have the learned matrices, which need not "
            "be the given ones, for many W give the same scores (Q and K may be turned together "
            "without a change of Q K').",
            first, loss);
    }
    e->learned =
        json_pack("{s:f, s:I, s:o}", "rate", rate, "seed", (json_int_t)e->seed, "steps", list);
}

bool explain_learn(explaining *e) {
    int steps = (int)heed_config_int(e->p->flags, "learn");
    goal g = {0};
    if (steps == 0) return true;
    if (e->w.lesson.args.hard)
        return heed_fail(e->c, HEED_USAGE,
                         "--learn with a hard selection: its slope is 0; hint: learn without "
                         "--hard, or with a large --beta");
    if (goal_open(e, &g)) learn(e, &g, steps, heed_config_real(e->p->flags, "rate"));
    free(g.target[0]);
    /* The remarks on the given matrices and the meaning of a query's numbers are not learned. */
    memset(e->w.notes, 0, sizeof e->w.notes);
    e->w.q = NULL;
    return worked_label(e);
}
