/* patch_ablation.h -- whether patches that a measure points to matter: they are hidden, and the
 * model is asked again. */
#ifndef HEED_REMOVAL_H
#define HEED_REMOVAL_H

#include "analyses/capture.h"
#include "analyses/compare.h"
#include "kinds/eval_loop.h"

typedef enum {
    BY_ATTENTION,
    BY_ROLLOUT,
    BY_GRADIENT,
    BY_OCCLUSION,
    AT_RANDOM,
    REMOVALS
} removal_kind;
extern const char *const removal_names[REMOVALS];

typedef struct {
    int pictures, patches, hidden; /* patches of a picture, and how many of them are hidden */
    double p, right;               /* of what the model says of whole pictures: mean, share right */
    struct {
        estimate fall; /* of the prediction's probability */
        estimate more; /* fall minus that of random patches, picture by picture */
        double kept;   /* share of pictures whose answer stays */
    } by[REMOVALS];
} removal;
/* Hides the `share` of patches that each kind puts first, in `count` pictures, a seeded choice. */
bool removal_measure(program *p, const sweep *s, int count, double share, removal *out);

#endif
