/* store.h -- what the files of core share about stores. */
#ifndef HEED_CORE_STORE_H
#define HEED_CORE_STORE_H

#include "core/core.h"

#include <heed/store.h>

/* Logs once each trained parameter that got no gradient, in the stores that backward touched. */
void heed__report_missing(heed_ctx *c);

/* Removes the adapters and their entries; no optimizer of the store may exist. */
void heed__store_drop_adapters(heed_store *s);

/* on: random values of the entries that are added from now on are not drawn if they will be
 * replaced: where `from` has an entry of the same name and shape whose rows are units, or, from
 * NULL, all of them. */
void heed__store_expect(heed_store *s, bool on, const heed_store *from);
/* Draws the values of an entry, or of all, unless they are known already. */
bool heed__store_draw(heed_store *s, heed_entry *e);
bool heed__store_draw_all(heed_store *s);
/* The entry has received its values. */
HEED_EXPORT_BEGIN

void heed__store_known(heed_entry *e);

HEED_EXPORT_END
/* Copies the values of a tensor of the same size. */
void heed__store_set(heed_entry *e, const heed_tensor *from);
/* Frees the gradients of all entries. */
void heed__store_drop_grads(heed_store *s);

/* A weak reference to a store: `store` becomes NULL when the store is freed. The holder must
 * release the reference before freeing its memory. */
typedef struct heed__store_ref {
    heed_store *store;
    struct heed__store_ref *next;
} heed__store_ref;
void heed__store_refer(heed__store_ref *r, heed_store *s);
void heed__store_release(heed__store_ref *r);

/* Freezes trained entries until heed__thaw is called with at least this number of updates. */
int heed__freeze_for(heed_store *s, const char *pattern, int64_t updates);
/* Call after `updates` updates: entries that were frozen for at most as many are trained again.
 * Returns how many these are. An optimizer made before has slots for them, and its bias correction
 * counts their updates from here. */
int heed__thaw(heed_store *s, int64_t updates);

#endif
