/* judge.c -- what a training run says about its own course: that the loss has not left that of
 * guessing, and at the end one sentence with what to try. */
#include "kinds/training.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- a loss that does not fall ---- */

/* The loss at which a model only knows how frequent each answer is, and knows it exactly. */
static double guessing(const progress *g, const heed_report *r) {
    const heed_model *m = g->p->model;
    double loss = heed_label_entropy(m, r->self, g->data, (int)heed_config_int(g->f, "batch"));
    return isfinite(loss) && loss > 0 ? loss : 0;
}

/* Whether a loss is not below that of guessing, or by too little to tell. */
static bool is_stuck(double loss, double known) { return known > 0 && loss >= 0.97 * known; }

/* Whether a loss is so far above that of guessing that the weights have grown without bound. */
static bool diverges(double loss, double known) { return known > 0 && loss > 1.5 * known; }

/* "a lower `lr`, such as `lr = 0.1`": a tenth of the present one. */
static const char *lower_rate(const heed_config *f, char text[64]) {
    snprintf(text, 64, "a lower `lr`, such as `lr = %g`", heed_config_real(f, "lr") / 10);
    return text;
}

void warn_of_plateau(progress *g, const heed_report *r) {
    double loss = fmin(r->val_loss, r->loss); /* NAN: no validation part */
    char n1[32], n2[32], lower[64];
    if (g->watched || r->progress < 1 / 3.0 || r->step < 30 || r->step > r->steps) return;
    g->watched = true;
    double known = g->guessing = guessing(g, r);
    if (!is_stuck(loss, known)) return;
    heed_message(g->p->c, HEED_WARN,
                 "step %s of %s: the loss, %.3f, is %s below that of guessing by frequency, "
                 "%.3f; hint: %s",
                 heed_format_count(n1, (uint64_t)r->step),
                 heed_format_count(n2, (uint64_t)r->steps), loss, loss < known ? "hardly" : "not",
                 known,
                 diverges(loss, known) ? lower_rate(g->f, lower)
                                       : "another `lr`, a longer `warmup`, or a smaller `batch` "
                                         "with more `steps`");
}

/* ---- changes and chance ---- */

/* The share by which a loss may change by chance: the standard error of a mean of n losses that
 * deviate by as much as their mean. n 0: unknown. */
static double chance(double n) { return fmax(0.02, n > 0 ? 1 / sqrt(n) : 0); }

/* The same for a training loss, of which two means over a tenth of the rows differ: twice the
 * standard error by which neighbours differ in the last third. */
static double chance_of_rows(const curve *k) {
    double sum = 0, tenth = 0.1 * k->count;
    int n = 0;
    for (int i = k->count * 2 / 3 + 1; i < k->count; i++, n++)
        sum += pow(2 * (k->loss[i] - k->loss[i - 1]) / (k->loss[i] + k->loss[i - 1]), 2);
    return fmax(chance(0), n ? 2 * sqrt(sum / n / tenth) : 0);
}

/* Whether an accuracy, a share of n answers, left its 95 % interval: upwards 1, downwards -1. */
static int changed(double then, double now, double n) {
    const double least = 0.002;
    double low, high;
    heed_share_interval(then * n, n, &low, &high);
    return (now > fmax(high, then + least)) - (now < fmin(low, then - least));
}

/* The mean of a column over the rows in (to - wide, to]; without any, the last row before, or the
 * first. */
static double mean_until(const curve *k, const double *column, double to, double wide) {
    double sum = 0;
    int n = 0, last = 0;
    for (int i = 0; i < k->count && k->step[i] <= to; i++) {
        last = i;
        if (k->step[i] <= to - wide) continue;
        sum += column[i];
        n++;
    }
    return n ? sum / n : column[last];
}

/* The first index of the lowest number, or of the highest. */
static int best_of(const double *x, int n, bool highest) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (highest ? x[i] > x[best] : x[i] < x[best]) best = i;
    return best;
}

/* ---- a measure in the last third ---- */

enum { SOME = 100 }; /* answers: an accuracy of fewer shows little */

typedef struct {
    char name[24], change[128]; /* "validation loss", "fell by 3.1 % in the last third" */
    double then, now, best;     /* best: the step at which it was best */
    bool anew;                  /* `then` is what it was when the schedule began anew */
    bool accuracy;              /* it is one; otherwise a loss */
    int way;                    /* 1 better, -1 worse, by more than chance */
    bool improves;
} course;

static double end_of(const training_course *j) {
    return j->curves.train.step[j->curves.train.count - 1];
}

static void write_change(course *c, double anew) {
    char n[32], since[80] = "in the last third";
    if (c->anew)
        snprintf(since, sizeof since, "since step %s, where the schedule began anew",
                 heed_format_count(n, (uint64_t)anew));
    if (c->accuracy)
        snprintf(c->change, sizeof c->change, "went from %.2f %% to %.2f %% %s", 100 * c->then,
                 100 * c->now, since);
    else if (c->improves && c->now > 0)
        snprintf(c->change, sizeof c->change, "fell by %.1f %% %s", 100 * (1 - c->now / c->then),
                 since);
    else
        snprintf(c->change, sizeof c->change, "went from %.4g to %.4g %s", c->then, c->now, since);
}

/* A schedule that began anew raises the loss at first; what it then regains is no improvement. An
 * evaluation improves only if the best one is late. */
static course course_of(const training_course *j, bool val, bool accuracy) {
    const curve *k = val ? &j->curves.val : &j->curves.train;
    const double *x = accuracy ? k->metric : k->loss;
    double end = end_of(j), wide = end / 10, since = end * 2 / 3;
    double anew = (double)heed_config_int(j->f, "schedule-from");
    course c = {.accuracy = accuracy,
                .best = k->step[best_of(x, k->count, accuracy)],
                .then = mean_until(k, x, since + wide / 10, wide),
                .now = mean_until(k, x, end, wide)};
    double before = anew > 0 ? mean_until(k, x, anew, wide) : (double)NAN;
    c.anew = accuracy ? before > c.then - 0.002 : before < 1.02 * c.then;
    if (c.anew) {
        c.then = before;
        since = anew;
    }
    bool late = !val || c.best > fmax(since, 0.85 * end);
    double move = fabs(c.then) * (val ? chance(j->answers) : chance_of_rows(k));
    c.way = accuracy ? changed(c.then, c.now, j->answers)
                     : (c.now < c.then - move) - (c.now > c.then + move);
    c.improves = c.way > 0 && late;
    snprintf(c.name, sizeof c.name, "%s %s", val ? "validation" : "training",
             accuracy ? "accuracy" : "loss");
    write_change(&c, anew);
    return c;
}

/* Whether accuracy chooses the weights. */
static bool by_accuracy(const training_course *j) {
    const curve *v = &j->curves.val;
    return v->count && isfinite(v->metric[v->count - 1]) &&
           strcmp(heed_config_text(j->f, "best"), "accuracy") == 0;
}

/* The course of the accuracy where that chooses the weights, unless only the loss shows something:
 * it changes with the probability of each answer, an accuracy only with one answer more or less. */
static course main_course(const training_course *j) {
    course loss = course_of(j, j->curves.val.count > 0, false);
    if (!by_accuracy(j)) return loss;
    course accuracy = course_of(j, true, true);
    bool shows = accuracy.improves || accuracy.way < 0;
    return shows || (!loss.improves && j->answers >= SOME) ? accuracy : loss;
}

/* ---- sentences ---- */

static void add(char text[JUDGEMENT], const char *format, ...) HEED_PRINTF(2, 3);
static void add(char text[JUDGEMENT], const char *format, ...) {
    size_t n = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + n, JUDGEMENT - n, format, list);
    va_end(list);
}

/* Appends "; try A, B or C", without what is "". */
static void add_try(char text[JUDGEMENT], const char *a, const char *b, const char *c) {
    const char *all[] = {a, b, c};
    int left = 0;
    for (int i = 0; i < 3; i++) left += *all[i] != 0;
    const char *before = "; try ";
    for (int i = 0; i < 3; i++) {
        if (!*all[i]) continue;
        add(text, "%s%s", before, all[i]);
        before = --left > 1 ? ", " : " or ";
    }
}

static const char *setting(const training_course *j, const char *key, const char *words) {
    return heed_config_has(j->f, key) ? words : "";
}

/* "`dropout = 0.3`": the next tenth above the present one; "": there is no such setting, or no
 * higher value that is usual. */
static const char *more_dropout(const training_course *j, char text[32]) {
    double now = heed_config_has(j->f, "dropout") ? heed_config_real(j->f, "dropout") : 1;
    double next = floor(now * 10 + 1.001) / 10;
    *text = 0;
    if (next < 0.6) snprintf(text, 32, "`dropout = %.1f`", next);
    return text;
}

static void add_resume(char text[JUDGEMENT], const training_course *j) {
    add(text, "; hint: `resume %s --steps %.0f --lr %s`", j->run, 2 * end_of(j),
        heed_config_text(j->f, "lr"));
}

/* ---- verdicts ---- */

/* Whether the model saw examples more than once, and others were kept to compare with. */
static bool learns_again(const training_course *j) {
    return j->curves.val.count > 0 && j->epochs > 1;
}

/* The evaluation of the least validation loss, if that rose by more than chance and stayed so for
 * the last fifth of the steps while the training loss fell; -1: it did not. */
static int risen_since(const training_course *j) {
    const curve *v = &j->curves.val, *t = &j->curves.train;
    double end = end_of(j), low = INFINITY;
    int best = best_of(v->loss, v->count, false);
    for (int i = best; i < v->count; i++)
        if (v->step[i] > 0.8 * end) low = fmin(low, v->loss[i]);
    double before = mean_until(t, t->loss, v->step[best], v->step[best] / 10);
    bool falls = mean_until(t, t->loss, end, end / 10) < before;
    return falls && low > v->loss[best] + chance(j->answers) * fabs(v->loss[best]) ? best : -1;
}

/* Where the accuracy improves nevertheless, more answers are right, but those that are wrong are so
 * with ever less doubt. */
static bool overfits(const training_course *j, char text[JUDGEMENT]) {
    char n[32], dropout[32], steps[40];
    const curve *v = &j->curves.val;
    int best = learns_again(j) ? risen_since(j) : -1, last = v->count - 1;
    if (best < 0) return false;
    bool better = changed(v->metric[best], v->metric[last], j->answers) > 0;
    bool over = better && by_accuracy(j);
    add(text, "%s since step %s: the validation loss rose from %.4g to %.4g while the ",
        over ? "overconfident" : "overfitting", heed_format_count(n, (uint64_t)v->step[best]),
        v->loss[best], v->loss[last]);
    if (better)
        add(text,
            "accuracy rose from %.2f %% to %.2f %%: more answers are right, and the wrong ones are "
            "given with more confidence",
            100 * v->metric[best], 100 * v->metric[last]);
    else
        add(text, "training loss fell");
    snprintf(steps, sizeof steps, "`steps = %.0f`", v->step[best]);
    more_dropout(j, dropout);
    if (over)
        add_try(text, setting(j, "smoothing", "`smoothing = 0.1`"), dropout, "more data");
    else
        add_try(text, dropout, "more data", steps);
    return true;
}

/* The share by which a loss fell in the last tenth of the steps. */
static double late_fall(const curve *k, double end) {
    return 1 - mean_until(k, k->loss, end, end / 10) / mean_until(k, k->loss, 0.91 * end, end / 10);
}

/* Whether the training loss fell far below the validation loss, which fell hardly or not at all in
 * the last third; or no longer does in the last tenth, if it is half of it. Far: more than twice
 * what is chance for one part, as the parts are of different examples. */
static bool learns_by_heart(const training_course *j, char text[JUDGEMENT]) {
    char dropout[32];
    if (!learns_again(j)) return false;
    course val = course_of(j, true, false), train = course_of(j, false, false);
    double far = 1 - fmax(0.2, 2 * chance(j->answers)), end = end_of(j);
    double late = late_fall(&j->curves.train, end);
    if (train.now < 0 || val.now < 0) return false; /* losses without a zero */
    bool flat = train.improves && 1 - val.now / val.then < 0.1 * (1 - train.now / train.then);
    bool ended =
        late > chance_of_rows(&j->curves.train) && late_fall(&j->curves.val, end) < 0.1 * late;
    if (train.now > (flat ? far : fmin(far, 0.5)) * val.now || !(flat || ended)) return false;
    add(text,
        "overfitting: the training loss fell to %.4g while the validation loss %s %.4g (means of "
        "the last tenth of the steps)",
        train.now, val.now > 1.02 * val.then ? "rose to" : "stays near", val.now);
    add_try(text, more_dropout(j, dropout), setting(j, "width", "a smaller `width`"), "more data");
    return true;
}

/* What a training loss alone does not show. */
static void add_unmeasured(const training_course *j, char text[JUDGEMENT]) {
    if (j->curves.val.count || !heed_config_has(j->f, "val-split")) return;
    add(text,
        "; no validation part was kept, so this cannot tell whether the model learns its data "
        "by heart: `val-split = 0.1` measures it");
}

/* Whether pictures are mirrored although that changes what they mean. */
static bool mirrors(const training_course *j, char text[JUDGEMENT]) {
    if (!j->sided || !*j->sided || !(heed_config_real(j->f, "flip") > 0)) return false;
    add(text,
        "mirrored pictures may have taught wrong answers: `flip = %g`, although %s; try `flip = 0`",
        heed_config_real(j->f, "flip"), j->sided);
    return true;
}

/* Whether (nearly) every answer is right: by the accuracy or, where losses are perplexities, by the
 * loss of the last tenth of the steps. */
static bool learned(const training_course *j, char text[JUDGEMENT]) {
    char share[16];
    bool val = j->curves.val.count > 0;
    const curve *v = val ? &j->curves.val : &j->curves.train;
    double accuracy = val ? v->metric[v->count - 1] : 0, end = end_of(j);
    double loss = mean_until(v, v->loss, end, end / 10);
    if (accuracy >= 0.999)
        add(text, "learned: the validation accuracy is %s %%, so more steps change little",
            probability_text(share, accuracy, PROBABILITY_PERCENT));
    else if (exp(loss) < 1.05 && j->perplexity)
        add(text,
            "learned: the %s perplexity is %.2f and cannot be below 1, so more steps change "
            "little",
            val ? "validation" : "training", exp(loss));
    if (*text) add_unmeasured(j, text);
    return *text;
}

/* Why a plateau is one. */
static void add_plateau(const course *c, bool constant, char text[JUDGEMENT]) {
    char n[32];
    add(text, "plateau: the %s %s", c->name, c->change);
    if (c->way > 0)
        add(text, ", but was %s at step %s", c->accuracy ? "highest" : "lowest",
            heed_format_count(n, (uint64_t)c->best));
    else
        add(text, "%s",
            constant ? ", so more steps change little" : ", where the learning rate is low");
}

/* A result that improved by no more than chance, or whose best evaluation was not a late one. */
static void judge_end(const training_course *j, const course *c, char text[JUDGEMENT]) {
    enum { FEW = 3 }; /* passes, after which the loss may yet fall */
    double moved = fabs(c->now - c->then) / fabs(c->then);
    bool noise = c->way == 0 && moved > chance(0), val = j->curves.val.count > 0;
    bool no_better = c->anew && c->way <= 0, brief = j->epochs < FEW && !c->anew && c->way >= 0;
    bool constant = strcmp(heed_config_text(j->f, "schedule"), "constant") == 0;
    if (no_better) {
        add(text, "no better than before: the %s %s", c->name, c->change);
        add_try(text, "another `lr`", setting(j, "width", "a larger `width`"), "more data");
    } else if (c->way < 0)
        add(text, "getting worse: the %s %s; try a lower `lr`", c->name, c->change);
    else if (brief)
        add(text, "too short to judge: the %s %s%s, after %.2g passes over the data", c->name,
            c->change, constant ? "" : ", where the learning rate is low", j->epochs);
    else if (noise && !val)
        add(text, "unclear: the %s %s, no more than it varies from row to row", c->name, c->change);
    else if (noise)
        add(text,
            "unclear: the %s %s, which may be chance for %.0f answers; a larger validation part "
            "would show it",
            c->name, c->change, j->answers);
    else {
        add_plateau(c, constant, text);
        add_try(text, setting(j, "width", "a larger `width`"),
                constant ? "another `lr`" : "another `lr`, a longer training run", "more data");
    }
    add_unmeasured(j, text);
    bool unclear = noise && !val && !no_better;
    if (brief || unclear) add_resume(text, j);
}

enum { SHORTEST = 50 }; /* steps that show something */

/* Whether there is too little to judge: what to do then is more steps or, in a longer run, more
 * evaluations. Nothing is said of fewer than ten steps, which only show that the data can be
 * trained on, and of a run that `patience` ended. */
static bool has_too_little(const training_course *j, char text[JUDGEMENT]) {
    enum { TRIAL = 10, ROWS = 10, EVALUATIONS = 3 };
    int rows = j->curves.train.count, evaluations = j->curves.val.count;
    bool ended = j->step >= TRIAL && j->step >= heed_config_int(j->f, "steps");
    bool brief = j->step < SHORTEST;
    bool few = evaluations > 0 && evaluations < EVALUATIONS;
    if (ended && brief)
        add(text, "too short to judge: %d steps; hint: `resume %s --steps %d --lr %s`",
            (int)j->step, j->run, 2 * SHORTEST, heed_config_text(j->f, "lr"));
    else if (ended && few)
        add(text, "too few evaluations to judge: %d; hint: `eval-every = %d`", evaluations,
            (int)(j->step / 10));
    return brief || few || rows < (evaluations ? 1 : ROWS);
}

void judge_course(const training_course *j, char text[JUDGEMENT]) {
    bool val = j->curves.val.count > 0;
    *text = 0;
    if (has_too_little(j, text) || learned(j, text)) return;
    course c = main_course(j);
    if (!(c.improves && c.accuracy) && mirrors(j, text)) return;
    if (overfits(j, text)) return;
    if (!(c.improves && c.accuracy) && learns_by_heart(j, text)) return;
    if (c.improves) {
        add(text, "still %s: the %s %s", val ? "improving" : "falling", c.name, c.change);
        add_unmeasured(j, text);
        if (val) add_resume(text, j);
    } else
        judge_end(j, &c, text);
}

void judge_training(const progress *g, const heed_fit_result *r, char text[JUDGEMENT]) {
    training_course j = {.f = g->f,
                         .run = g->run,
                         .step = r->step,
                         .answers = g->answers,
                         .sided = g->data ? g->data->sided : NULL,
                         .epochs = g->epochs,
                         .perplexity = data_of(g->p->model)->perplexity};
    *text = 0;
    if (!g->any) return;
    /* A separate context: a damaged metrics.csv must not fail a training run that is done. */
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    bool read = curves_read(c, g->run, &j.curves);
    heed_close(c);
    if (!read) return;
    char lower[64];
    double loss = fmin(r->val_loss, r->loss), known = g->guessing;
    if (diverges(loss, known))
        add(text,
            "diverged: the loss, %.4g, is far above that of guessing by frequency, %.4g; try %s",
            loss, known, lower_rate(g->f, lower));
    else if (r->step >= SHORTEST && is_stuck(loss, known)) {
        if (!mirrors(&j, text))
            add(text,
                "plateau: the model has learned at most how frequent each answer is; try another "
                "`lr`, a longer `warmup`, or a smaller `batch` with more `steps`");
    } else
        judge_course(&j, text);
    curves_free(&j.curves);
}
