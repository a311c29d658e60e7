/* compare.h -- runs side by side, with runs that differ only in their seed grouped. */
#ifndef HEED_COMPARE_H
#define HEED_COMPARE_H

#include "kinds/training.h"

/* A run's results; NAN: none. */
typedef struct {
    double steps, loss, val_loss, accuracy;     /* the last ones */
    double best_loss, best_accuracy;            /* of the validation part */
    double test_accuracy, exact, bleu, seconds; /* exact, bleu: from RUN/scores.json */
} run_numbers;

typedef struct {
    const char *name;
    const heed_model *model;
    run_curves curves;
    run_numbers numbers;
    heed_config *f;
    int group;
} compared;

/* The run's value of a setting; "-" if it has none. */
const char *value_of(const compared *r, const char *key);
/* Whether a setting is not part of a recipe: paths, settings that do not affect the weights, and
 * settings that follow from the share of the data that a seed leaves for training. */
bool is_incidental(const char *key);

typedef struct {
    char name[128];
    int count, first; /* number of runs, and the first of them */
    heed_estimate last, best, test,
        loss;   /* accuracies on the validation and test parts; lowest validation loss */
    curve mean; /* mean validation accuracy (as metric) and loss, at the steps of all runs */
} group;
/* Groups of runs whose settings are equal except for the seed, in the order of their first runs. */
group *groups_of(heed_ctx *c, compared *r, int n, int *count);
void groups_free(group *g, int count);

/* ---- runs side by side ---- */
typedef struct {
    compared *runs;
    int count;
    group *groups;
    int group_count;
    bool grouped;  /* some runs differ only in the seed */
    bool accuracy; /* all are classifiers, for which accuracy is shown rather than loss */
    bool pairs;    /* some runs have scores of translated validation pairs */
    int width;     /* columns of the widest name, plus two */
    heed_series *series;
} comparison;
run_numbers numbers_of(const char *run, const run_curves *c);
/* Prints the runs' numbers, and those of groups of seeds (numbers.c). */
void print_numbers(program *p, const comparison *k);
void print_groups(program *p, const comparison *k);

#endif
