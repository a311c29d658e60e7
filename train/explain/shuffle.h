/* shuffle.h -- parts of heed explain shuffle computed by layers of the library. */
#ifndef HEED_SHUFFLE_H
#define HEED_SHUFFLE_H

#include "explain/explain.h"

enum { MEMORY = 6, MEMORY_WIDTH = 4, GRID = 3, PATCHES = GRID * GRID };

/* A decoder's query to its memory h_1, h_2, ..., in order and shuffled. */
typedef struct {
    int order[MEMORY];               /* h of that index is at place i */
    double weights[2][MEMORY];       /* by place: in order, shuffled */
    double context[2][MEMORY_WIDTH]; /* c */
    double gap;                      /* largest difference of the two */
} memory_shuffle;
bool shuffle_memory(heed_ctx *c, uint64_t seed, memory_shuffle *out);

/* A ViT's blocks on the patches of a picture, in order and shuffled. */
typedef struct {
    int order[PATCHES];
    double output; /* largest |f(s(x)) - s(f(x))| over all patches */
    double mean;   /* the same of the mean over the patches, which a classifier reads */
} patch_shuffle;
bool shuffle_patches(heed_ctx *c, uint64_t seed, heed_position_kind positions, patch_shuffle *out);

#endif
