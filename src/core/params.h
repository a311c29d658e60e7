/* params.h -- what the files of core share about parameters. */
#ifndef HEED_CORE_PARAMS_H
#define HEED_CORE_PARAMS_H

#include "core/core.h"

#include <heed/params.h>

/* Logs once each trained parameter that got no gradient, in the stores that backward touched. */
void heed__report_missing(heed_ctx *c);

/* Gives rows [from, from + count) of parameter w a name, for example "q". heed_lora_add then finds
 * them as the parameter's name, a dot and this name. name is not copied. */
bool heed__name_rows(heed_params *s, const heed_tensor *w, const char *name, int from, int count);

/* Removes the adapters and their entries; no optimizer of the store may exist. */
void heed__store_drop_adapters(heed_params *s);

/* on: random values of the entries that are added from now on are not drawn if they will be
 * replaced: where `from` has an entry of the same name and shape whose rows are units, or, from
 * NULL, all of them. */
void heed__store_expect(heed_params *s, bool on, const heed_params *from);
/* Draws the values of an entry, or of all, unless they are known already. */
bool heed__store_draw(heed_params *s, heed_param *e);
bool heed__store_draw_all(heed_params *s);
/* The entry has received its values. */
HEED_EXPORT_BEGIN

void heed__store_known(heed_param *e);

HEED_EXPORT_END
/* Copies the values of a tensor of the same size. */
void heed__store_set(heed_param *e, const heed_tensor *from);
/* Frees the gradients of all entries. */
void heed__store_drop_grads(heed_params *s);

/* A weak reference to a store: `store` becomes NULL when the store is freed. The holder must
 * release the reference before freeing its memory. */
typedef struct heed__store_ref {
    heed_params *store;
    struct heed__store_ref *next;
} heed__store_ref;
void heed__store_refer(heed__store_ref *r, heed_params *s);
void heed__store_release(heed__store_ref *r);

/* Freezes trained entries until heed__thaw is called with at least this number of updates. */
int heed__freeze_for(heed_params *s, const char *pattern, int64_t updates);
/* Call after `updates` updates: entries that were frozen for at most as many are trained again.
 * Returns how many these are. An optimizer made before has slots for them, and its bias correction
 * counts their updates from here. */
int heed__thaw(heed_params *s, int64_t updates);

#endif
