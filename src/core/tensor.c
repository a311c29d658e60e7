/* tensor.c -- queries on tensors: sizes, rows, shapes as text and in errors of ops. */
#include "core/tape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *heed_shape_text(const heed_tensor *t, char *text, size_t size) {
    size_t n = 0;
    if (!text) return NULL;
    for (int i = 0; t && i < t->dims && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%c%d", i ? ',' : '(', t->shape[i]);
    if (n < size) snprintf(text + n, size - n, "%s", !t ? "(none)" : t->dims ? ")" : "()");
    return text;
}

bool heed__same_shape(const heed_tensor *a, const heed_tensor *b) {
    return a && b && a->dims == b->dims &&
           !memcmp(a->shape, b->shape, (size_t)a->dims * sizeof(int));
}

size_t heed__extent(const heed_tensor *t, int from, int to) {
    size_t n = 1;
    for (int i = from; t && i < to && i < t->dims; i++) n *= (size_t)t->shape[i];
    return n;
}

bool heed__shape_size(int dims, const int *shape, size_t *size) {
    size_t n = 1;
    if (dims < 0 || dims > HEED_DIMS || (dims && !shape)) return false;
    for (int i = 0; i < dims; i++) {
        if (shape[i] < 0) return false;
        if (shape[i] && n > SIZE_MAX / 4 / sizeof(heed_real) / (size_t)shape[i]) return false;
        n *= (size_t)shape[i];
    }
    *size = n;
    return true;
}

bool heed__bad_shapes(heed_node *n, int a, int b, const char *why, ...) {
    char left[64], right[64], text[160];
    va_list list;
    va_start(list, why);
    vsnprintf(text, sizeof text, why, list);
    va_end(list);
    return heed_op_error(n, "%s x %s: %s", heed_shape_text(n->in[a], left, sizeof left),
                         heed_shape_text(n->in[b], right, sizeof right), text);
}

bool heed__bad_shape(heed_node *n, int a, const char *why, ...) {
    char shape[64], text[160];
    va_list list;
    va_start(list, why);
    vsnprintf(text, sizeof text, why, list);
    va_end(list);
    return heed_op_error(n, "%s: %s", heed_shape_text(n->in[a], shape, sizeof shape), text);
}
