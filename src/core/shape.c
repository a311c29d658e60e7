/* shape.c -- kinds of an op's inputs, and errors with their shapes. */
#include "core/shape.h"

#include <stdarg.h>
#include <stdio.h>

bool heed__accepts(heed_node *n, const char *kinds) {
    for (int i = 0; i < n->inputs; i++) {
        bool reals = *kinds == 'r';
        if (kinds[1]) kinds++;
        if (!n->in[i] || (reals ? n->in[i]->x != NULL : n->in[i]->i != NULL)) continue;
        return heed_wrong(n, "input %d must hold %s", i,
                          reals ? "reals, not indices" : "indices, not reals");
    }
    return true;
}

bool heed__bad_shapes(heed_node *n, int a, int b, const char *why, ...) {
    char left[64], right[64], text[160];
    va_list list;
    va_start(list, why);
    vsnprintf(text, sizeof text, why, list);
    va_end(list);
    return heed_wrong(n, "%s x %s: %s", heed_shape_text(n->in[a], left, sizeof left),
                      heed_shape_text(n->in[b], right, sizeof right), text);
}

bool heed__bad_shape(heed_node *n, int a, const char *why, ...) {
    char shape[64], text[160];
    va_list list;
    va_start(list, why);
    vsnprintf(text, sizeof text, why, list);
    va_end(list);
    return heed_wrong(n, "%s: %s", heed_shape_text(n->in[a], shape, sizeof shape), text);
}
