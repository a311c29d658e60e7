/* The context: first error, log, ownership. */
#include "core/core.h"
#include "core/os.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct heed_ctx {
    heed_options options;
    heed_status status;
    char why[1024];
    heed__owned list; /* of owned objects, newest first */
    heed_kernels *kernels;
};

static size_t ctx_size(void) {
    return (sizeof(heed_ctx) + 63) / 64 * 64; /* so that the kernel table after it is aligned */
}

heed_ctx *heed__ctx_new(const heed_options *options, size_t kernels_size) {
    heed_ctx *c = heed__alloc(NULL, ctx_size() + kernels_size);
    if (!c) return NULL;
    if (options) c->options = *options;
    c->list.prev = c->list.next = &c->list;
    c->kernels = (heed_kernels *)(void *)((char *)c + ctx_size());
    return c;
}

heed_kernels *heed__ctx_kernels(heed_ctx *c) { return c->kernels; }
const heed_kernels *heed__kernels_of(const heed_ctx *c) { return c->kernels; }

void heed_close(heed_ctx *c) {
    if (!c) return;
    while (c->list.next != &c->list) {
        heed__owned *object = c->list.next;
        heed__disown(c, object);
        object->free(object);
    }
    heed__free(c);
}

void heed__own(heed_ctx *c, heed__owned *object, void (*free)(heed__owned *)) {
    object->free = free;
    object->next = c->list.next;
    object->prev = &c->list;
    object->next->prev = object;
    c->list.next = object;
}

void heed__disown(heed_ctx *c, heed__owned *object) {
    (void)c;
    if (!object->next) return;
    object->prev->next = object->next;
    object->next->prev = object->prev;
    object->prev = object->next = NULL;
}

heed__owned *heed__owned_next(heed_ctx *c, const heed__owned *after, void (*free)(heed__owned *)) {
    heed__owned *o = after ? after->next : c->list.next;
    for (; o != &c->list; o = o->next)
        if (o->free == free) return o;
    return NULL;
}

heed_status heed_state(const heed_ctx *c) { return c ? c->status : HEED_FAILED; }
const char *heed_why(const heed_ctx *c) { return c ? c->why : "no context: out of memory"; }

void heed_clear(heed_ctx *c) {
    if (!c) return;
    c->status = HEED_OK;
    c->why[0] = 0;
}

bool heed_fail(heed_ctx *c, heed_status status, const char *format, ...) {
    if (!c || c->status != HEED_OK || status == HEED_OK) return false;
    c->status = status;
    va_list list;
    va_start(list, format);
    vsnprintf(c->why, sizeof c->why, format, list);
    va_end(list);
    return false;
}

void heed_log(heed_ctx *c, heed_level level, const char *format, ...) {
    if (!c || !c->options.log) return;
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    c->options.log(c->options.user, level, text);
}

uint64_t heed_seed(const heed_ctx *c) { return c ? c->options.seed : 0; }

/* The half is what this program itself may add to the mean at its start. */
bool heed_crowded(double *load, int *cpus) {
    *load = heed__os_load(cpus);
    return *load > *cpus + 0.5;
}
