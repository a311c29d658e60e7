/* numbers.c -- the numbers of runs side by side, and of groups of seeds. */
#include "cli/program.h"
#include "commands/compare/compare.h"

#include <math.h>
#include <stdlib.h>

/* ---- runs ---- */

static double steps_of(const compared *r) {
    return last_of(r->curves.train.step, r->curves.train.count);
}
static double training_of(const compared *r) {
    return last_of(r->curves.train.loss, r->curves.train.count);
}
static double validation_of(const compared *r) {
    return last_of(r->curves.val.loss, r->curves.val.count);
}
static double least_loss(const compared *r) {
    return least_of(r->curves.val.loss, r->curves.val.count);
}
static double last_share(const compared *r) {
    return 100 * last_of(r->curves.val.metric, r->curves.val.count);
}
static double best_share(const compared *r) {
    return 100 * most_of(r->curves.val.metric, r->curves.val.count);
}
static double test_share(const compared *r) { return 100 * r->curves.test; }
static double exact_share(const compared *r) { return 100 * r->exact; }
static double bleu_of(const compared *r) { return r->bleu; }

typedef struct {
    heed_table_column column;
    enum { ALWAYS, LOSSES, SHARES, PAIRS } when; /* runs it is shown for */
    const char *format;
    double (*value)(const compared *r); /* NULL: the time */
} number;
static const number numbers[] = {{{"steps", 6, false}, ALWAYS, "%.0f", steps_of},
                                 {{"training", 9, false}, ALWAYS, "%.4f", training_of},
                                 {{"validation", 11, false}, ALWAYS, "%.4f", validation_of},
                                 {{"best", 11, false}, LOSSES, "%.4f", least_loss},
                                 {{"accuracy", 9, false}, SHARES, "%.2f %%", last_share},
                                 {{"best", 8, false}, SHARES, "%.2f %%", best_share},
                                 {{"test", 8, false}, SHARES, "%.2f %%", test_share},
                                 {{"exact", 9, false}, PAIRS, "%.2f %%", exact_share},
                                 {{"BLEU", 7, false}, PAIRS, "%.2f", bleu_of},
                                 {{"time", 7, false}, ALWAYS, NULL, NULL}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* The measures that the runs have. */
typedef struct {
    const comparison *k;
    int count;
    const number *of[NUMBERS];
    heed_table_column columns[NUMBERS];
} number_table;

static bool is_shown(const comparison *k, const number *n) {
    return n->when == ALWAYS || (n->when == LOSSES && !k->accuracy) ||
           (n->when == SHARES && k->accuracy) || (n->when == PAIRS && k->pairs);
}

static void run_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const number_table *t = of;
    const compared *r = &t->k->runs[row];
    const number *n = t->of[column];
    char time[32];
    snprintf(text, HEED_TABLE_CELL, "%s",
             n->value ? "-" : heed_format_duration(time, r->curves.seconds));
    if (n->value && isfinite(n->value(r))) snprintf(text, HEED_TABLE_CELL, n->format, n->value(r));
}

/* Names of the runs or the groups; the caller frees the array. */
static const char **names_of(heed_ctx *c, const comparison *k, bool groups) {
    int count = groups ? k->group_count : k->count;
    const char **names = calloc((size_t)count + 1, sizeof *names);
    if (!names) heed_fail(c, HEED_FAILED, "no memory for %d names", count);
    for (int i = 0; names && i < count; i++)
        names[i] = groups ? k->groups[i].name : k->runs[i].name;
    return names;
}

void print_numbers(program *p, const comparison *k) {
    number_table t = {.k = k};
    const char **names = names_of(p->c, k, false);
    if (!names) return;
    for (int i = 0; i < NUMBERS; i++) {
        if (!is_shown(k, &numbers[i])) continue;
        t.columns[t.count] = numbers[i].column;
        t.of[t.count++] = &numbers[i];
    }
    print_table(p->c, &(heed_table){.head = "run",
                                    .rows = k->count,
                                    .count = t.count,
                                    .name = k->width,
                                    .gap = 1,
                                    .flush = true,
                                    .columns = t.columns,
                                    .names = names,
                                    .cell = run_cell,
                                    .of = &t});
    free((void *)names);
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
    const char **names = names_of(p->c, k, true);
    if (!names) return;
    print_table(p->c, &(heed_table){.head = "seeds together",
                                    .rows = k->group_count,
                                    .count = k->accuracy ? 4 : 2,
                                    .name = k->width,
                                    .gap = 1,
                                    .flush = true,
                                    .columns = columns,
                                    .names = names,
                                    .cell = group_cell,
                                    .of = k});
    free((void *)names);
    print_wrapped(p, "+- half of the 95 % interval of the mean (Student's t)");
}
