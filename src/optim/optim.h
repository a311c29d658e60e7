/* optim.h -- shared by the optimizers, which are a file each. */
#ifndef HEED_OPTIM_PRIVATE_H
#define HEED_OPTIM_PRIVATE_H

#include <heed/optim.h>

/* The field of a setting by name; NULL if the optimizer does not use it. */
heed_real *heed__optim_setting(heed_optim_args *a, const char *name);
/* Changes settings according to a string: "lr=0.1 decay=0.05". */
bool heed__optim_read(heed_ctx *c, heed_optim_args *a, const char *text);

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
