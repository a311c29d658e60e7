/* store.h -- what the files of core share about stores. */
#ifndef HEED_CORE_STORE_H
#define HEED_CORE_STORE_H

#include "core/core.h"

#include <heed/store.h>

/* Logs once each trained parameter that got no gradient, in the stores that backward touched. */
void heed__report_missing(heed_ctx *c);

/* Removes the adapters and their entries; no optimizer of the store may exist. */
void heed__store_drop_adapters(heed_store *s);

/* A weak reference to a store: `store` becomes NULL when the store is freed. The holder must
 * release the reference before freeing its memory. */
typedef struct heed__store_ref {
    heed_store *store;
    struct heed__store_ref *next;
} heed__store_ref;
void heed__store_refer(heed__store_ref *r, heed_store *s);
void heed__store_release(heed__store_ref *r);

#endif
