/* influence.h -- how much each input place moves each output place: the norm of d y_t / d x_s. */
#ifndef HEED_INFLUENCE_H
#define HEED_INFLUENCE_H

#include "kinds/example.h"

typedef struct {
    int queries, keys;           /* places of the output and of the input */
    int units;                   /* width of y_t */
    int draws;                   /* random directions of y_t; 0: exact, one pass a unit */
    heed_real *values;           /* (queries,keys) Frobenius norms */
    heed_record_axis query, key; /* as in a record; grids may differ from the subject's */
    char *labels;                /* memory of labels of their own */
    const char **list;
} influence;

/* Of a subject, or of a picture before a cnn, whose subject has no axes: s->view and s->x alone.
 * y_t is what the output layer reads at place t (before the mean, or the choice of [CLS], that
 * makes one vector of it); x_s the embedding of token s or patch s, or for a cnn the pixels that
 * lie under a cell of its last feature map. draws 0: exact where that takes at most INFLUENCE_EXACT
 * directions, else 16; exact: whatever it takes. An estimate's squares are unbiased: E |u' J|^2 =
 * |J|_F^2 for u of independent signs. Hutchinson 1990. */
enum { INFLUENCE_EXACT = 4096, INFLUENCE_DRAWS = 16 };
bool influence_of(const heed_example *s, int draws, bool exact, influence *out);
void influence_free(influence *k);
/* One line on what the numbers are. Into text, which is returned. */
const char *influence_help(const influence *k, char text[256]);
/* What is not among them, of a model of pairs; else NULL. */
const char *influence_note(const heed_example *s);
/* A record with the map alone; NULL: see the context. */
heed_record *influence_record(const heed_example *s, const influence *k);

#endif
