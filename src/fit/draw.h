/* draw.h -- chooses one token by its logits. */
#ifndef HEED_DRAW_H
#define HEED_DRAW_H

#include <heed/decode.h>

typedef struct {
    double p;
    int32_t id;
} heed__choice;

/* Chooses one of n tokens by the temperature, top_k and top_p of a; ties by lowest id. order:
 * memory for n. */
int32_t heed__draw(const heed_generation *a, const heed_real *logits, int n, heed_random r,
                   heed__choice *order);

#endif
