/* recurrence.h -- a recurrent encoder and decoder with attention between them, computed step by
 * step in double precision from the parameters of the library's layers. Rows are steps. */
#ifndef HEED_RECURRENCE_H
#define HEED_RECURRENCE_H

#include "explain/explain.h"

#include <heed/inspect.h>

/* The layers: those of a run, or of an example. Of bridge, head and attend, a weight that is NULL
 * is absent: s[0] is the last state itself; without attention c is the last state. */
typedef struct {
    heed_rnn encoder, decoder;
    heed_linear bridge[HEED_RNN_LAYERS], head;
    heed_attend attend;
    bool fixed; /* without attention */
} recurrent_layers;

/* What goes in, and all that comes out. S inputs, T outputs, in the order of the computation. */
typedef struct {
    heed_matrix x, y_in;   /* (S,d), (T,d) vectors of the inputs and of the outputs before */
    heed_matrix h;         /* (S,w) or, of both directions, (S,2w) */
    heed_matrix s0;        /* (1,w) */
    heed_matrix scores, a; /* (T,S); without attention NULL */
    heed_matrix c, s, y;   /* (T,..): context, state, probabilities of the next word */
} recurrence;

/* e = the similarity of a query s and an input h, by the kind of l. */
double recurrence_score(const heed_attend *l, const double *s, const double *h);
/* Computes all of r from x and y_in; the matrices are owned by e->w. False: see e->c. */
bool recurrence_compute(explaining *e, const recurrent_layers *l, recurrence *r);
/* Its title and labels: of the inputs, of the outputs before, and of the numbers of y. best: the
 * most probable token of each step, shown instead of all of y. Either of the last two is NULL.
 * parameters: they are shown, too. */
typedef struct {
    const char *name, *title, *words, *commands;
    const char *const *sources, *const *tokens, *const *vocabulary, *const *best;
    bool parameters;
} recurrence_labels;
/* Shows it as a list of steps. */
void recurrence_draw(explaining *e, const recurrent_layers *l, const recurrence *r,
                     const recurrence_labels *k);

/* The layers of a run's recurrent encoder and decoder. False: it has no such layers. */
bool recurrence_of_run(const heed_run *run, recurrent_layers *l);
/* Shows the recurrences of a run on an input. False: see e->c. */
bool recurrence_explain(explaining *e, const heed_inspection *s, const recurrent_layers *l);

#endif
