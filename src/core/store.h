/* store.h -- what core shares about stores. */
#ifndef HEED_CORE_STORE_H
#define HEED_CORE_STORE_H

#include "core/core.h"

#include <heed/store.h>

/* Fills t as init says (see heed_param); the values depend on the context's seed and t->name. */
bool heed__init(heed_ctx *c, heed_tensor *t, const char *init);

/* Logs each trained parameter without a gradient, once, of the stores that backward touched. */
void heed__report_missing(heed_ctx *c);

void heed__store_destroy(heed__owned *object);

#endif
