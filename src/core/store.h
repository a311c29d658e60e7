/* store.h -- what core shares about stores. */
#ifndef HEED_CORE_STORE_H
#define HEED_CORE_STORE_H

#include "core/core.h"

#include <heed/store.h>

/* Fills t as init says (see heed_param); the values depend on the context's seed and t->name. */
bool heed__init(heed_ctx *c, heed_tensor *t, const char *init);

/* Logs each trained parameter without a gradient, once, of the stores that backward touched. */
void heed__report_missing(heed_ctx *c);

/* A reference that does not keep its store: `store` becomes NULL when the store is freed. Whoever
 * holds one releases it before its memory ends. */
typedef struct heed__store_ref {
    heed_store *store;
    struct heed__store_ref *next;
} heed__store_ref;
void heed__store_refer(heed__store_ref *r, heed_store *s);
void heed__store_release(heed__store_ref *r);

#endif
