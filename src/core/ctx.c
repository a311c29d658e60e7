/* ctx.c -- the context: first error, log, ownership. */
#include "core/core.h"
#include "core/os.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct heed_ctx {
    heed_options options;
    heed__monitor *lock; /* protects what changes after opening: the first error and the list */
    _Atomic heed_status status;
    char why[1024];     /* written before status is set, then not changed, as are the next two */
    char missing[1024]; /* the path of the input that the error says does not exist, or "" */
    bool run;           /* where a run was expected */
    heed__owned list;   /* of owned objects, newest first */
    heed_kernels *kernels;
    struct heed_profile *profile;
};

static size_t ctx_size(void) {
    return (sizeof(heed_ctx) + 63) / 64 * 64; /* so that the kernel table after it is aligned */
}

heed_ctx *heed__ctx_new(const heed_options *options, size_t kernels_size) {
    heed_ctx *c = heed__alloc(NULL, ctx_size() + kernels_size);
    heed__monitor *lock = c ? heed__monitor_new(NULL) : NULL;
    if (!lock) {
        heed__free(c);
        return NULL;
    }
    c->lock = lock;
    if (options) c->options = *options;
    c->list.prev = c->list.next = &c->list;
    c->kernels = (heed_kernels *)(void *)((char *)c + ctx_size());
    return c;
}

heed_kernels *heed__ctx_kernels(heed_ctx *c) { return c->kernels; }
const heed_kernels *heed__kernels_of(const heed_ctx *c) { return c->kernels; }

struct heed_profile *heed__profile_of(const heed_ctx *c) {
    return c ? c->profile : NULL;
}
void heed__ctx_attach(heed_ctx *c, struct heed_profile *p) { c->profile = p; }

void heed_close(heed_ctx *c) {
    if (!c) return;
    while (c->list.next != &c->list) {
        heed__owned *object = c->list.next;
        heed__disown(c, object);
        object->free(object);
    }
    heed__monitor_free(c->lock);
    heed__free(c);
}

void heed__own(heed_ctx *c, heed__owned *object, void (*free)(heed__owned *)) {
    object->free = free;
    heed__monitor_enter(c->lock);
    object->next = c->list.next;
    object->prev = &c->list;
    object->next->prev = object;
    c->list.next = object;
    heed__monitor_leave(c->lock);
}

void heed__disown(heed_ctx *c, heed__owned *object) {
    heed__monitor_enter(c->lock);
    if (object->next) {
        object->prev->next = object->next;
        object->next->prev = object->prev;
        object->prev = object->next = NULL;
    }
    heed__monitor_leave(c->lock);
}

heed__owned *heed__owned_next(heed_ctx *c, const heed__owned *after, void (*free)(heed__owned *)) {
    heed__monitor_enter(c->lock);
    heed__owned *o = after ? after->next : c->list.next;
    while (o != &c->list && o->free != free) o = o->next;
    heed__monitor_leave(c->lock);
    return o == &c->list ? NULL : o;
}

heed_status heed_ctx_status(const heed_ctx *c) { return c ? c->status : HEED_FAILED; }
const char *heed_ctx_error(const heed_ctx *c) { return c ? c->why : "no context: out of memory"; }

const char *heed_ctx_missing(const heed_ctx *c, bool *run) {
    if (run) *run = c && c->run;
    return c ? c->missing : "";
}

void heed_clear(heed_ctx *c) {
    if (!c) return;
    heed__monitor_enter(c->lock);
    c->status = HEED_OK;
    c->why[0] = c->missing[0] = 0;
    c->run = false;
    heed__monitor_leave(c->lock);
}

/* Shows FOLDER/NAME for FOLDER HEED_INSIDE NAME, also if FOLDER ends in "/" or "/.". */
static void show_paths(char *text) {
    for (char *start = text; (text = strstr(text, HEED_INSIDE));) {
        const char *name = text + strlen(HEED_INSIDE);
        while (*name == '/' || strncmp(name, "./", 2) == 0) name++;
        while (text > start && text[-1] == '/') text--;
        memmove(++text, name, strlen(name) + 1);
    }
}

static void fail(heed_ctx *c, heed_status status, const char *missing, bool run, const char *format,
                 va_list list) {
    if (!c || status == HEED_OK) return;
    heed__monitor_enter(c->lock);
    if (c->status == HEED_OK) {
        vsnprintf(c->why, sizeof c->why, format ? format : "", list);
        snprintf(c->missing, sizeof c->missing, "%s", missing);
        show_paths(c->why);
        show_paths(c->missing);
        c->run = run && *missing;
        c->status = status;
    }
    heed__monitor_leave(c->lock);
}

bool heed_fail(heed_ctx *c, heed_status status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fail(c, status, "", false, format, list);
    va_end(list);
    return false;
}

bool heed_fail_input(heed_ctx *c, const char *path, bool run, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fail(c, HEED_DATA, path && heed__os_is_missing(path) ? path : "", run, format, list);
    va_end(list);
    return false;
}

bool heed__fail_missing(heed_ctx *c, const char *path, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fail(c, HEED_DATA, path, false, format, list);
    va_end(list);
    return false;
}

void heed_message(heed_ctx *c, heed_level level, const char *format, ...) {
    if (!c || !c->options.log || !format) return;
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    show_paths(text);
    c->options.log(c->options.user, level, text);
}

bool heed__ctx_explain(const heed_ctx *c, const struct heed_config *f, const char *key,
                       char text[HEED_EXPLAIN]) {
    return c->options.explain && c->options.explain(c->options.user, f, key, text);
}

bool heed__ctx_edited(const heed_ctx *c) { return c && c->options.edited; }

uint64_t heed_seed(const heed_ctx *c) { return c ? c->options.seed : 0; }

/* The tolerance of 0.5 is for what this program itself may add to the mean at its start. */
bool heed_cpu_oversubscribed(double *load, int *cpus) {
    int count;
    double found = heed__os_load(&count);
    if (load) *load = found;
    if (cpus) *cpus = count;
    return found > count + 0.5;
}
