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
    double loss = isfinite(r->val_loss) ? r->val_loss : r->loss;
    char n1[32], n2[32];
    if (g->watched || r->progress < 1 / 3.0 || r->step < 30 || r->step > r->steps) return;
    g->watched = true;
    double known = guessing(g, r);
    g->stuck = known * 0.97;
    if (known <= 0 || loss < g->stuck) return;
    heed_message(g->p->c, HEED_WARN,
                 "step %s of %s: the loss, %.3f, is not below that of guessing by frequency, "
                 "%.3f; hint: another `lr`, a longer `warmup`, or a smaller `batch` with more "
                 "`steps`",
                 heed_format_count(n1, (uint64_t)r->step),
                 heed_format_count(n2, (uint64_t)r->steps), loss, known);
}

/* ---- at the end ---- */

/* The mean loss from one step up to another. */
static double mean_between(const curve *k, double from, double to) {
    double sum = 0;
    int n = 0;
    for (int i = 0; i < k->count; i++) {
        if (k->step[i] <= from || k->step[i] > to) continue;
        sum += k->loss[i];
        n++;
    }
    return n ? sum / n : (double)NAN;
}

static int lowest(const double *x, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] < x[best]) best = i;
    return best;
}

/* Whether the validation loss rose while the training loss fell; for classes, accuracy fell, too.
 */
static bool overfits(const run_curves *k, char text[JUDGEMENT]) {
    char n[32];
    const curve *v = &k->val;
    int last = v->count - 1, best = lowest(v->loss, v->count);
    double before = mean_between(&k->train, v->step[best] * 0.9, v->step[best]);
    double after = mean_between(&k->train, v->step[last] * 0.9, v->step[last]);
    bool worse = v->loss[last] > 1.02 * v->loss[best] && !(v->metric[last] > v->metric[best]);
    if (!worse || after > before) return false;
    snprintf(text, JUDGEMENT,
             "overfitting since step %s: the validation loss rose from %.4g to %.4g while the "
             "training loss fell; try `dropout = 0.1`, more data, or `steps = %.0f`",
             heed_format_count(n, (uint64_t)v->step[best]), v->loss[best], v->loss[last],
             v->step[best]);
    return true;
}

/* By how much the loss fell in the last third of the steps, in percent. */
static double fall(const curve *v, double end, double wide) {
    double then = mean_between(v, end * 2 / 3 - wide, end * 2 / 3 + wide / 10);
    return 100 * (1 - mean_between(v, end - wide, end) / then);
}

/* Judges that fall: of validation or, without, training. A validation loss that no longer falls,
 * far above a training loss that does, is that of a model which learns its data by heart. */
static void judge_fall(const run_curves *k, const progress *g, double end, char text[JUDGEMENT]) {
    bool val = k->val.count > 0;
    const curve *v = val ? &k->val : &k->train;
    double fell = fall(v, end, end / (val ? 10 : 20)),
           trained = mean_between(&k->train, end * 0.9, end);
    const char *what = val ? "validation" : "training";
    bool by_heart =
        val && trained < 0.8 * v->loss[v->count - 1] && fall(&k->train, end, end / 20) > 2;
    if (fell > 2)
        snprintf(text, JUDGEMENT,
                 "still improving: the %s loss fell by %.1f %% in the last third; hint: `resume "
                 "%s --steps %.0f --lr %s`",
                 what, fell, g->run, 2 * end, heed_config_text(g->f, "lr"));
    else if (by_heart)
        snprintf(text, JUDGEMENT,
                 "overfitting: the training loss fell to %.4g while the validation loss stays near "
                 "%.4g; try `dropout = 0.1`, a smaller `width` or more data",
                 trained, v->loss[v->count - 1]);
    else if (isfinite(fell))
        snprintf(text, JUDGEMENT,
                 "plateau: the %s loss fell by %.1f %% in the last third, so more steps change "
                 "little; try a larger `width`, another `lr` or more data",
                 what, fmax(0, fell));
}

void judge_training(const progress *g, const heed_fit_result *r, char text[JUDGEMENT]) {
    enum { STEPS = 50, EVALUATIONS = 3 };
    run_curves k;
    double loss = isfinite(r->val_loss) ? r->val_loss : r->loss;
    *text = 0;
    if (!g->any || r->step < STEPS || !curves_read(g->p->c, g->run, &k)) return;
    bool seen = k.val.count >= EVALUATIONS || (k.val.count == 0 && k.train.count >= STEPS);
    if (g->stuck > 0 && loss > g->stuck)
        snprintf(text, JUDGEMENT,
                 "plateau: the model has learned at most how frequent each answer is; try another "
                 "`lr`, a longer `warmup`, or a smaller `batch` with more `steps`");
    else if (seen && (k.val.count == 0 || !overfits(&k, text)))
        judge_fall(&k, g, (double)r->step, text);
    curves_free(&k);
}
