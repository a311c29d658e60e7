/* judge.c -- what a training run says about its own course: that the loss has not left that of
 * guessing, and at the end one sentence with what to try. */
#include "kinds/training.h"

#include <math.h>
#include <string.h>

/* ---- a loss that does not fall ---- */

/* The loss at which a model only knows how frequent each answer is, and knows it exactly. */
static double guessing(const progress *g, const heed_report *r) {
    const heed_model *m = g->p->model;
    double loss = heed_label_entropy(m, r->self, g->data, (int)heed_config_int(g->f, "batch"));
    return isfinite(loss) && loss > 0 ? loss : 0;
}

void warn_of_plateau(progress *g, const heed_report *r) {
    double loss = fmin(r->val_loss, r->loss); /* NAN: no validation part */
    char n1[32], n2[32];
    if (g->watched || r->progress < 1 / 3.0 || r->step < 30 || r->step > r->steps) return;
    g->watched = true;
    double known = guessing(g, r);
    g->stuck = known * 0.97;
    if (known <= 0 || loss < g->stuck) return;
    heed_message(g->p->c, HEED_WARN,
                 "step %s of %s: the loss, %.3f, is %s below that of guessing by frequency, "
                 "%.3f; hint: another `lr`, a longer `warmup`, or a smaller `batch` with more "
                 "`steps`",
                 heed_format_count(n1, (uint64_t)r->step),
                 heed_format_count(n2, (uint64_t)r->steps), loss, loss < known ? "hardly" : "not",
                 known);
}

/* ---- at the end ---- */

/* The mean of a column of the curve from one step up to another. */
static double mean_between(const curve *k, const double *column, double from, double to) {
    double sum = 0;
    int n = 0;
    for (int i = 0; i < k->count; i++) {
        if (k->step[i] <= from || k->step[i] > to) continue;
        sum += column[i];
        n++;
    }
    return n ? sum / n : (double)NAN;
}

/* The first index of the lowest number, or of the highest. */
static int best_of(const double *x, int n, bool highest) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (highest ? x[i] > x[best] : x[i] < x[best]) best = i;
    return best;
}

/* Whether accuracy chooses the weights. */
static bool by_accuracy(const progress *g, const curve *v) {
    return v->count && isfinite(v->metric[v->count - 1]) &&
           strcmp(heed_config_text(g->f, "best"), "accuracy") == 0;
}

/* Whether (nearly) every answer is right: by the accuracy or, where losses are perplexities, by the
 * loss of the last tenth of the steps. */
static bool learned(const progress *g, const run_curves *k, double end, char text[JUDGEMENT]) {
    char share[16];
    bool val = k->val.count > 0;
    const curve *v = val ? &k->val : &k->train;
    double accuracy = val ? v->metric[v->count - 1] : 0;
    double loss = mean_between(v, v->loss, end * 0.9, end);
    if (accuracy >= 0.999)
        snprintf(text, JUDGEMENT,
                 "learned: the validation accuracy is %s %%, so more steps change little",
                 probability_text(share, accuracy, PROBABILITY_PERCENT));
    else if (exp(loss) < 1.05 && data_of(g->p->model)->perplexity)
        snprintf(text, JUDGEMENT,
                 "learned: the %s perplexity is %.2f and cannot be below 1, so more steps change "
                 "little",
                 val ? "validation" : "training", exp(loss));
    return *text;
}

/* Whether the validation loss rose while the training loss fell; where accuracy chooses the
 * weights, it did not rise, either. */
static bool overfits(const run_curves *k, bool accuracy, char text[JUDGEMENT]) {
    char n[32];
    const curve *v = &k->val, *t = &k->train;
    int last = v->count - 1, best = best_of(v->loss, v->count, false);
    double before = mean_between(t, t->loss, v->step[best] * 0.9, v->step[best]);
    double after = mean_between(t, t->loss, v->step[last] * 0.9, v->step[last]);
    bool worse =
        v->loss[last] > 1.02 * v->loss[best] && !(accuracy && v->metric[last] > v->metric[best]);
    if (!worse || after > before) return false;
    snprintf(text, JUDGEMENT,
             "overfitting since step %s: the validation loss rose from %.4g to %.4g while the "
             "training loss fell; try `dropout = 0.1`, more data, or `steps = %.0f`",
             heed_format_count(n, (uint64_t)v->step[best]), v->loss[best], v->loss[last],
             v->step[best]);
    return true;
}

/* Whether an accuracy, a share of n answers, improved by more than chance: its standard error. */
static bool improved(double then, double now, double n) {
    const double least = 0.002;
    double p = (then + now) / 2;
    return now - then > fmax(least, sqrt(p * (1 - p) / n));
}

/* The course of a measure in the last third of the steps. An accuracy improves only if its best is
 * there. */
typedef struct {
    char name[24], change[112], last[24];
    bool known, improves;
} course;

/* answers: those of an accuracy; 0: it is a loss. */
static course course_of(const curve *k, const char *part, double answers, double end, double wide) {
    bool accuracy = answers > 0;
    const double *x = accuracy ? k->metric : k->loss;
    double then = mean_between(k, x, end * 2 / 3 - wide, end * 2 / 3 + wide / 10);
    double now = mean_between(k, x, end - wide, end), fell = 100 * (1 - now / then);
    bool late = k->step[best_of(x, k->count, true)] > end * 2 / 3;
    course c = {.known = isfinite(then) && isfinite(now),
                .improves = accuracy ? improved(then, now, answers) && late : fell > 2};
    snprintf(c.name, sizeof c.name, "%s %s", part, accuracy ? "accuracy" : "loss");
    if (accuracy)
        snprintf(c.change, sizeof c.change,
                 "went from %.2f %% to %.2f %% (means over a tenth of the steps)", 100 * then,
                 100 * now);
    else
        snprintf(c.change, sizeof c.change, "fell by %.1f %%", fmax(0, fell));
    snprintf(c.last, sizeof c.last, accuracy ? "%.2f %%" : "%.4g",
             (accuracy ? 100 : 1) * x[k->count - 1]);
    return c;
}

/* Whether a schedule that began anew at some step ends no better than the one before it. Its loss
 * rises with the learning rate and falls again, which is no improvement. */
static bool no_better(const run_curves *k, const progress *g, double end, char text[JUDGEMENT]) {
    double from = (double)heed_config_int(g->f, "schedule-from");
    bool val = k->val.count > 0, accuracy = by_accuracy(g, &k->val);
    const curve *v = val ? &k->val : &k->train;
    const double *x = accuracy ? v->metric : v->loss;
    double wide = end / (val ? 10 : 20), then = mean_between(v, x, from - wide, from);
    double now = mean_between(v, x, end - wide, end), unit = accuracy ? 100 : 1;
    char n[32];
    if (from <= 0 || !isfinite(then) || !isfinite(now)) return false;
    if (accuracy ? improved(then, now, g->answers) : now < 0.98 * then) return false;
    snprintf(text, JUDGEMENT,
             "no better than before: the %s %s was %.4g%s at step %s, where the schedule began "
             "anew, and is %.4g%s; try another `lr`, a larger `width` or more data",
             val ? "validation" : "training", accuracy ? "accuracy" : "loss", unit * then,
             accuracy ? " %" : "", heed_format_count(n, (uint64_t)from), unit * now,
             accuracy ? " %" : "");
    return true;
}

#define FEW 3 /* passes over the data, after which a loss that hardly falls may do so again */
/* Judges the last third: of validation or, without, training. A validation measure that no longer
 * improves, with a loss far above a training loss that falls, is that of a model which learns its
 * data by heart. */
static void judge_course(const run_curves *k, const progress *g, double end, char text[JUDGEMENT]) {
    bool val = k->val.count > 0;
    const curve *v = val ? &k->val : &k->train, *t = &k->train;
    course c = course_of(v, val ? "validation" : "training",
                         by_accuracy(g, &k->val) ? g->answers : 0, end, end / (val ? 10 : 20));
    double trained = mean_between(t, t->loss, end * 0.9, end);
    bool by_heart = val && trained < 0.8 * v->loss[v->count - 1] &&
                    course_of(t, "training", 0, end, end / 20).improves;
    if (!c.known) return;
    if (c.improves)
        snprintf(text, JUDGEMENT,
                 "still improving: the %s %s in the last third; hint: `resume %s --steps %.0f "
                 "--lr %s`",
                 c.name, c.change, g->run, 2 * end, heed_config_text(g->f, "lr"));
    else if (by_heart)
        snprintf(text, JUDGEMENT,
                 "overfitting: the training loss fell to %.4g while the %s stays near %s; try "
                 "`dropout = 0.1`, a smaller `width` or more data",
                 trained, c.name, c.last);
    else if (g->epochs < FEW)
        snprintf(text, JUDGEMENT,
                 "too short to judge: the %s %s in the last third, where the learning rate is low, "
                 "after %.2g passes over the data; hint: `resume %s --steps %.0f --lr %s`",
                 c.name, c.change, g->epochs, g->run, 2 * end, heed_config_text(g->f, "lr"));
    else
        snprintf(text, JUDGEMENT,
                 "plateau: the %s %s in the last third, so more steps change little; try a larger "
                 "`width`, another `lr` or more data",
                 c.name, c.change);
}

void judge_training(const progress *g, const heed_fit_result *r, char text[JUDGEMENT]) {
    enum { STEPS = 50, EVALUATIONS = 3 };
    run_curves k;
    double loss = fmin(r->val_loss, r->loss);
    *text = 0;
    if (!g->any || r->step < STEPS || !curves_read(g->p->c, g->run, &k)) return;
    bool seen = k.val.count >= EVALUATIONS || (k.val.count == 0 && k.train.count >= STEPS);
    if (g->stuck > 0 && loss > g->stuck)
        snprintf(text, JUDGEMENT,
                 "plateau: the model has learned at most how frequent each answer is; try another "
                 "`lr`, a longer `warmup`, or a smaller `batch` with more `steps`");
    else if (seen && !learned(g, &k, (double)r->step, text) &&
             (k.val.count == 0 || !overfits(&k, by_accuracy(g, &k.val), text)) &&
             !no_better(&k, g, (double)r->step, text))
        judge_course(&k, g, (double)r->step, text);
    curves_free(&k);
}
