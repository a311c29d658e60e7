/* optim.h -- what the optimizer's files share. */
#ifndef HEED_OPTIM_PRIVATE_H
#define HEED_OPTIM_PRIVATE_H

#include "core/core.h"

#include <heed/optim.h>

enum { HEED__SLOTS = 2 };

/* The slots of one entry, in the order of its kind; NULL: none. */
typedef struct {
    heed_tensor *at[HEED__SLOTS];
} heed__slots;

struct heed_optim {
    heed__owned owned;
    heed_ctx *c;
    heed_store *s, *slots;
    heed_optim_args args;
    heed_tensor *count; /* (1): updates so far */
    heed__slots *of;    /* an element per entry of s */
    int entries;
    heed_real grad_scale; /* of the next step: set by heed_clip */
    bool finite;          /* heed_clip found all gradients finite */
};

/* An entry that the next step updates: trained, and given a gradient since the last one. */
static inline bool heed__has_gradient(const heed_entry *e) {
    return e->trained && e->tensor->g && e->tensor->touched;
}

#endif
