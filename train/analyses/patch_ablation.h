/* patch_ablation.h -- whether patches that a measure points to matter: they are hidden, and the
 * model is asked again. */
#ifndef HEED_REMOVAL_H
#define HEED_REMOVAL_H

#include "analyses/compare.h"
#include "kinds/eval_loop.h"
#include "kinds/inspect.h"

typedef enum {
    BY_ATTENTION,
    BY_ROLLOUT,
    BY_GRADIENT,
    BY_OCCLUSION,
    AT_RANDOM,
    PATCH_ABLATIONS
} patch_ablation_kind;
extern const char *const patch_ablation_names[PATCH_ABLATIONS];

typedef struct {
    int pictures, patches, hidden; /* patches of a picture, and how many of them are hidden */
    double p, right;               /* of what the model says of whole pictures: mean, share right */
    struct {
        estimate fall; /* of the prediction's probability */
        estimate more; /* fall minus that of random patches, picture by picture */
        double kept;   /* share of pictures whose answer stays */
    } by[PATCH_ABLATIONS];
} patch_ablation;
/* Hides the `share` of patches that each kind puts first, in `count` pictures, a seeded choice. */
bool patch_ablation_measure(program *p, const eval_loop *s, int count, double share,
                            patch_ablation *out);

#endif
