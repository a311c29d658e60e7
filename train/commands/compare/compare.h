/* compare.h -- runs side by side, and those of them that differ in their seed alone. */
#ifndef HEED_COMPARE_H
#define HEED_COMPARE_H

#include "kinds/training.h"

typedef struct {
    const char *name;
    const heed_model *model;
    run_curves curves;
    heed_config *f;
    int group;
    double exact, bleu; /* of pairs: RUN/scores.json; NAN: none */
} compared;

/* The run's value of a setting, "-" when it has none. */
const char *value_of(const compared *r, const char *key);
/* Settings that are no part of a recipe: where it comes from, what leaves the weights as they are,
 * and what follows from the share of the data that a seed leaves to training. */
bool is_incidental(const char *key);

typedef struct {
    char name[128];
    int count, first; /* runs, and the first of them */
    heed_estimate last, best, test,
        loss;   /* accuracies on validation and test; lowest validation loss */
    curve mean; /* of the validation accuracy (as metric) and loss, over the steps all runs share */
} group;
/* Groups of equal settings but for the seed, in the order of their first runs. */
group *groups_of(heed_ctx *c, compared *r, int n, int *count);
void groups_free(group *g, int count);

double last_of(const double *x, int n);
double least_of(const double *x, int n);
double most_of(const double *x, int n);

/* ---- runs side by side ---- */
typedef struct {
    compared *runs;
    int count;
    group *groups;
    int group_count;
    bool grouped;  /* some runs differ in the seed alone */
    bool accuracy; /* all are classifiers: accuracy says more than loss */
    bool pairs;    /* some have translated their validation pairs */
    int width;     /* columns of the widest name, and two more */
    heed_series *series;
} comparison;
/* Their numbers, and those of seeds together (numbers.c). */
void print_numbers(program *p, const comparison *k);
void print_groups(program *p, const comparison *k);

#endif
