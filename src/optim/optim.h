/* optim.h -- shared by the files of src/optim. */
#ifndef HEED_OPTIM_PRIVATE_H
#define HEED_OPTIM_PRIVATE_H

#include "core/store.h"

#include <heed/optim.h>

/* The slots of one entry, in the order that the optimizer lists them; NULL: none. missed (1): the
 * number of updates in which it had no gradient, or was frozen; NULL if it is frozen for good. */
typedef struct {
    heed_tensor *at[HEED_OPTIM_SLOTS], *missed;
} heed__slots;

/* Consecutive elements of an entry: a partial sum of its squares, as kernels.h cuts them. */
typedef struct {
    int entry;
    size_t from, to;
    double squares;
} heed__cut;

enum { HEED__ROUND = 1 << 24 };

struct heed_optim {
    heed__owned owned;
    heed_ctx *c;
    heed__store_ref params, slots;
    const heed_optimizer *optimizer;
    heed_optim_args args;
    /* (1) each: the number of updates so far is count + rounds HEED__ROUND. A heed_real counts no
     * further than HEED__ROUND; files of earlier versions have no rounds. */
    heed_tensor *count, *rounds;
    heed__slots *of; /* one element per entry of the parameters */
    int entries;
    heed__cut *pieces; /* of all entries, in order */
    size_t piece_count;
    heed_real grad_scale; /* for the next step, set by heed_clip */
    bool finite;          /* heed_clip found all gradients finite */
};

/* True for an entry that the next step updates: trained, with a gradient since the last step. */
static inline bool heed__has_gradient(const heed_entry *e) {
    return e->trained && e->tensor->g && e->tensor->touched;
}

/* True if both stores exist; an error if one was freed. */
bool heed__optim_alive(const heed_optim *o);

/* Writes the squares of the pieces of all entries that the next step updates, in one region. */
void heed__optim_squares(heed_optim *o);
/* Adds those of an entry, whose first piece is *piece, which is advanced past the last one. */
double heed__optim_entry_squares(const heed_optim *o, int entry, size_t *piece);

/* In settings.c: the field of a setting by name; NULL if the optimizer does not use it. */
heed_real *heed__optim_setting(heed_optim_args *a, const char *name);
/* Changes settings according to a string: "lr=0.1 decay=0.05". */
bool heed__optim_read(heed_ctx *c, heed_optim_args *a, const char *text);
/* True if a was made for r, and all settings are in range. */
bool heed__optim_check_args(heed_ctx *c, const heed_optimizer *r, heed_optim_args *a);

/* The names in heed_optimizer_table, "adam|adamw|...", generated with it by the Makefile. */
extern const char heed__optimizer_names[];

/* Shared by sgd and gd, by momentum and nesterov, and by adam and adamw. */
extern const heed_optim_setting heed__sgd_settings[], heed__momentum_settings[];
extern const heed_optim_case heed__sgd_cases[];
void heed__sgd_update(const heed_optim_update *u, heed_real *x, heed_real *g,
                      heed_real *const *slots, size_t n);
void heed__momentum_update(const heed_optim_update *u, bool nesterov, heed_real *x, heed_real *g,
                           heed_real *v, size_t n);
void heed__adam_update(const heed_optim_update *u, bool decoupled, heed_real *x, heed_real *g,
                       heed_real *const *slots, size_t n);

#endif
