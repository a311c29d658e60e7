/* numbers.c -- the numbers of runs side by side, and of groups of seeds. */
#include "commands/compare/compare.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

static double last_of(const double *x, int n) { return n ? x[n - 1] : (double)NAN; }

static double least_of(const double *x, int n) {
    double best = (double)NAN;
    for (int i = 0; i < n; i++)
        if (!(x[i] >= best)) best = x[i];
    return best;
}

static double most_of(const double *x, int n) {
    double best = (double)NAN;
    for (int i = 0; i < n; i++)
        if (!(x[i] <= best)) best = x[i];
    return best;
}

static double score(const json_t *scores, const char *key) {
    const json_t *x = json_object_get(scores, key);
    return json_is_number(x) ? json_number_value(x) : (double)NAN;
}

run_numbers numbers_of(const char *run, const run_curves *c) {
    const curve *train = &c->train, *val = &c->val;
    json_t *scores = run_json(run, "scores.json"); /* of translated validation pairs */
    run_numbers n = {.steps = last_of(train->step, train->count),
                     .loss = isfinite(c->loss) ? c->loss : last_of(train->loss, train->count),
                     .val_loss = last_of(val->loss, val->count),
                     .accuracy = last_of(val->metric, val->count),
                     .best_loss = least_of(val->loss, val->count),
                     .best_accuracy = most_of(val->metric, val->count),
                     .test_accuracy = c->test,
                     .exact = score(scores, "exact"),
                     .bleu = score(scores, "bleu"),
                     .seconds = c->seconds};
    json_decref(scores);
    return n;
}

typedef struct {
    heed_table_column column;
    enum { ALWAYS, LOSSES, SHARES, PAIRS } when; /* runs it is shown for */
    const char *format;                          /* NULL: a time; "": a count */
    double scale;
    size_t at; /* its offset in run_numbers */
} number;
#define FIELD(name) offsetof(run_numbers, name)
static const number numbers[] = {{{"steps", 7, false}, ALWAYS, "", 1, FIELD(steps)},
                                 {{"train loss", 11, false}, ALWAYS, "%.4f", 1, FIELD(loss)},
                                 {{"valid loss", 11, false}, ALWAYS, "%.4f", 1, FIELD(val_loss)},
                                 {{"best loss", 10, false}, LOSSES, "%.4f", 1, FIELD(best_loss)},
                                 {{"accuracy", 9, false}, SHARES, "%.2f %%", 100, FIELD(accuracy)},
                                 {{"best", 8, false}, SHARES, "%.2f %%", 100, FIELD(best_accuracy)},
                                 {{"test", 8, false}, SHARES, "%.2f %%", 100, FIELD(test_accuracy)},
                                 {{"exact", 9, false}, PAIRS, "%.2f %%", 100, FIELD(exact)},
                                 {{"BLEU", 7, false}, PAIRS, "%.2f", 1, FIELD(bleu)},
                                 {{"time", 7, false}, ALWAYS, NULL, 1, FIELD(seconds)}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* The measures that the runs have. */
typedef struct {
    const comparison *k;
    int count;
    const number *of[NUMBERS];
    heed_table_column columns[NUMBERS];
} number_table;

static void run_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const number_table *t = of;
    const number *n = t->of[column];
    char time[32];
    double x;
    memcpy(&x, (const char *)&t->k->runs[row].numbers + n->at, sizeof x);
    snprintf(text, HEED_TABLE_CELL, "%s", n->format ? "-" : heed_format_duration(time, x));
    if (!n->format || !isfinite(x)) return;
    if (*n->format)
        snprintf(text, HEED_TABLE_CELL, n->format, n->scale * x);
    else
        heed_format_count(text, (uint64_t)x);
}

/* Prints a table of the runs or of the groups. */
static void print_rows(program *p, const comparison *k, bool groups, heed_table t) {
    t.rows = groups ? k->group_count : k->count;
    t.name = k->width;
    t.gap = 1;
    t.flush = true;
    const char **names = allocate(p->c, (size_t)t.rows, sizeof *names, "names");
    for (int i = 0; names && i < t.rows; i++)
        names[i] = groups ? k->groups[i].name : k->runs[i].name;
    t.names = names;
    if (names) print_table(p->c, &t);
    free((void *)names);
}

void print_numbers(program *p, const comparison *k) {
    number_table t = {.k = k};
    for (int i = 0; i < NUMBERS; i++) {
        const bool shown[] = {
            [ALWAYS] = true, [LOSSES] = !k->accuracy, [SHARES] = k->accuracy, [PAIRS] = k->pairs};
        if (!shown[numbers[i].when]) continue;
        t.columns[t.count] = numbers[i].column;
        t.of[t.count++] = &numbers[i];
    }
    print_rows(
        p, k, false,
        (heed_table){
            .head = "run", .count = t.count, .columns = t.columns, .cell = run_cell, .of = &t});
}

/* ---- groups of seeds ---- */

/* "98.12 +- 0.34 %" for a share, "1.2345 +- 0.0012" for a loss. */
static void estimate_text(char text[HEED_TABLE_CELL], const heed_estimate *e, bool share) {
    double times = share ? 100 : 1;
    int digits = share ? 2 : 4;
    snprintf(text, HEED_TABLE_CELL, "-");
    if (isfinite(e->half))
        snprintf(text, HEED_TABLE_CELL, "%.*f +- %.*f%s", digits, times * e->mean, digits,
                 times * e->half, share ? " %" : "");
    else if (isfinite(e->mean))
        snprintf(text, HEED_TABLE_CELL, "%.*f%s", digits, times * e->mean, share ? " %" : "");
}

static void group_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const comparison *k = of;
    const group *g = &k->groups[row];
    const heed_estimate *shares[] = {&g->last, &g->best, &g->test};
    if (column == 0)
        snprintf(text, HEED_TABLE_CELL, "%d", g->count);
    else
        estimate_text(text, k->accuracy ? shares[column - 1] : &g->loss, k->accuracy);
}

void print_groups(program *p, const comparison *k) {
    const heed_table_column columns[] = {{"runs", 4, false},
                                         {k->accuracy ? "accuracy" : "best loss", 19, false},
                                         {"best", 18, false},
                                         {"test", 18, false}};
    print_rows(p, k, true,
               (heed_table){.head = "seeds together",
                            .count = k->accuracy ? 4 : 2,
                            .columns = columns,
                            .cell = group_cell,
                            .of = k});
    print_wrapped(p, "+- half of the 95 %% interval of the mean (Student's t)");
}
