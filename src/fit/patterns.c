/* patterns.c -- settings that are lists of name patterns. */
#include "core/core.h"
#include "fit/fit.h"

#include <string.h>

bool heed__next_item(heed_ctx *c, const char **list, char item[HEED__ITEM]) {
    while (**list) {
        const char *at = *list + strspn(*list, " \t,");
        size_t n = strcspn(at, ",");
        *list = at + n;
        while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t')) n--;
        if (n == 0) continue;
        if (n >= HEED__ITEM)
            return heed_fail(c, HEED_USAGE,
                             "pattern is too long: %.40s...: expected under %d bytes, found %zu",
                             at, HEED__ITEM, n);
        memcpy(item, at, n);
        item[n] = 0;
        return true;
    }
    return false;
}

bool heed__matches(const heed_store *s, const char *pattern) {
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (!e->state && heed_match(pattern, e->name)) return true;
    }
    return false;
}

bool heed__no_match(const char *key, const char *pattern, const heed_store *s) {
    const heed_entry *first = heed_store_at(s, 0);
    return heed_fail(heed_store_ctx(s), HEED_USAGE,
                     "`%s` matches no parameter: %s: expected a name or a pattern; hint: names are "
                     "like '%s', and '*' stands for any run of characters",
                     key, pattern, first ? first->name : "head.weight");
}
