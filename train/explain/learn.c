/* learn.c -- --learn N: gradient descent on W_Q, W_K and W_V, from random numbers to a given
 * output. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOMENTS = 51 }; /* most moments kept for the page's slider */

/* What is compared with a target: the output and, unless a file gives its target, the weights. */
static const heed_attention_trace_part compared[] = {HEED_TRACE_OUTPUT, HEED_TRACE_WEIGHTS};

typedef struct {
    int count;                /* of the parts compared */
    double *target[2], *d[2]; /* of each: its target, and the gradient of the loss */
} goal;

static bool goal_open(explaining *e, goal *g) {
    const heed_matrix *o = &e->w.lesson.part[compared[0]], *p = &e->w.lesson.part[compared[1]];
    size_t n = (size_t)o->rows * (size_t)o->cols, pairs = (size_t)p->rows * (size_t)p->cols;
    double *x = room(e, 2 * (n + pairs), sizeof *x);
    if (!x) return false;
    *g = (goal){.count = e->w.target ? 1 : 2,
                .target = {x, x + n},
                .d = {x + n + pairs, x + 2 * n + pairs}};
    memcpy(g->target[0], e->w.target ? e->w.target : o->x, n * sizeof *x);
    memcpy(g->target[1], p->x, pairs * sizeof *x);
    return true;
}

/* The loss L = (sum (O - O*)^2 + sum (P - P*)^2) / 2T, and its gradients by O and P. */
static double loss_of(const heed_attention_trace *l, goal *g) {
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
    heed_attention_trace *l = &e->w.lesson;
    for (int k = HEED_TRACE_W_Q; k <= HEED_TRACE_W_V; k++) {
        heed_matrix *m = &l->part[k];
        heed_random r =
            heed_random_at(e->seed, heed_attention_trace_name((heed_attention_trace_part)k), 0, 0);
        for (int i = 0; i < m->rows * m->cols; i++)
            m->x[i] = 0.5 * heed_random_normal(&r, (uint64_t)i);
    }
    heed_attention_trace_compute(l);
}

static bool descend(explaining *e, goal *g, double rate) {
    heed_attention_trace *l = &e->w.lesson;
    heed_attention_trace_gradient d;
    bool ok = heed_attention_trace_backward(e->c, l, g->d[0], g->count > 1 ? g->d[1] : NULL, &d);
    for (int k = HEED_TRACE_W_Q; ok && k <= HEED_TRACE_W_V; k++) {
        heed_matrix *m = &l->part[k];
        for (int i = 0; i < m->rows * m->cols; i++) m->x[i] -= rate * d.part[k].x[i];
    }
    heed_attention_trace_gradient_free(&d);
    if (ok) heed_attention_trace_compute(l);
    return ok;
}

/* ---- moments ---- */

static bool is_moment(int step, int steps) {
    const int most = MOMENTS - 1;
    return step == 0 || step == steps ||
           (int64_t)step * most / steps != (int64_t)(step - 1) * most / steps;
}

static void learn(explaining *e, goal *g, int steps, double rate) {
    json_t *list = json_array();
    double first = 0;
    randomise(e);
    for (int step = 0; step <= steps && heed_ctx_status(e->c) == HEED_OK; step++) {
        if (step && !descend(e, g, rate)) break;
        double loss = loss_of(&e->w.lesson, g);
        if (!step) first = loss;
        if (!(loss <= 1e6 * (1 + first)))
            heed_fail(e->c, HEED_DIVERGED,
                      "learning diverged: step %d: the loss rose from %.3g to %.3g; hint: a "
                      "smaller --rate",
                      step, first, loss);
        if (!is_moment(step, steps)) continue;
        const heed_matrix *p = e->w.lesson.part;
        json_array_append_new(list,
                              json_pack("{s:i, s:o, s:o, s:o, s:o}", "step", step, "loss",
                                        json_number(loss), "W_Q", matrix_json(&p[HEED_TRACE_W_Q]),
                                        "W_K", matrix_json(&p[HEED_TRACE_W_K]), "W_V",
                                        matrix_json(&p[HEED_TRACE_W_V])));
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
    if (!goal_open(e, &g)) return false;
    learn(e, &g, steps, heed_config_real(e->p->flags, "rate"));
    /* The remarks on the given matrices and the meaning of a query's numbers are not learned. */
    memset(e->w.notes, 0, sizeof e->w.notes);
    e->w.q = NULL;
    return worked_label(e);
}

/* ---- the step that shows it ---- */

void learn_step(explaining *e) {
    enum { ROWS = 11 };
    static const char *const of_loss[] = {"loss"};
    const json_t *list = json_object_get(e->learned, "steps");
    int n = (int)json_array_size(list), rows = n < ROWS ? n : ROWS;
    heed_matrix loss = matrix_new(e, rows, 1), x = matrix_new(e, 2, n);
    const char *labels[ROWS];
    if (!loss.x || !x.x) return;
    for (int i = 0; i < n; i++) {
        const json_t *moment = json_array_get(list, (size_t)i);
        x.x[i] = (double)json_integer_value(json_object_get(moment, "step"));
        x.x[n + i] = log10(json_number_value(json_object_get(moment, "loss")));
    }
    for (int i = 0; i < rows; i++) {
        int at = rows > 1 ? i * (n - 1) / (rows - 1) : 0;
        loss.x[i] = pow(10, x.x[n + at]);
        labels[i] = text_of(e, "%.0f", x.x[at]);
    }
    lesson_step *s = add_step(
        e, "Learning", text_of(e, "W_Q, W_K and W_V in %.0f steps", x.x[n - 1]),
        text_of(e,
                "From random matrices (--seed %llu) by gradient descent: W = W - %g dW, where L = "
                "1/2T sum (output - target)^2%s is the mean over the tokens. The target is %s.",
                (unsigned long long)e->seed, heed_config_real(e->p->flags, "rate"),
                e->w.target ? "" : " + 1/2T sum (weights - their target)^2",
                e->w.target ? "the file's" : "what the given W make of the text"));
    show(e, "", "loss", loss, keep_labels(e, labels, rows), of_loss);
    s->after = text_of(
        e,
        "The loss fell from %.4g to %.4g. The steps have the learned matrices, which need not be "
        "the given ones, for many W give the same scores (Q and K may be turned together without a "
        "change of Q K').",
        loss.x[0], loss.x[rows - 1]);
    s->chart = chart_of(e, "log10 of the loss", "step", of_loss, NULL, x);
}
