/* draw.h -- the choice of one token by its logits, for everything that makes text. */
#ifndef MODELS_DRAW_H
#define MODELS_DRAW_H

#include <heed/models.h>

typedef struct {
    double temperature; /* divides the logits; 0: always the most probable token */
    int top_k;          /* only the k most probable; 0: all */
    double top_p;       /* only the smallest set of most probable tokens that holds p; 0: all */
} draw_rule;

typedef struct {
    double p;
    int32_t id;
} draw_choice;

/* One of n tokens; order has room for n. The lowest id at ties. */
int32_t draw_token(draw_rule a, const heed_real *logits, int n, heed_random r, draw_choice *order);

#endif
