/* update.c -- optimizer updates: one pass over value, gradient and slots, as in kernels.h. */
#include "set.h"
#include "vmath.h"

#define RUN ((size_t)2048)

/* The arrays are in memory, one after another: they are requested this many elements ahead. */
#define AHEAD 256

typedef struct {
    heed_real *x, *g, *m, *v;
    const heed_update *u;
    size_t n;
    heed_real root; /* 1 / sqrt(correction2) */
} update;

/* Loads x and the scaled, decayed gradient d of the elements at i, and clears the gradient. */
INLINE void begin(const update *j, size_t i, size_t left, vec *x, vec *d) {
    const heed_update *u = j->u;
    *x = get(j->x + i, left);
    *d = splat(u->grad_scale) * get(j->g + i, left);
    put(j->g + i, splat(0), left);
    if (u->decoupled)
        *x = *x - splat(u->lr * u->decay) * *x;
    else
        *d = *d + splat(u->decay) * *x;
}

/* heed__kept of each element. */
INLINE vec kept(vec v) { return pick(lt(vabs(v), splat(HEED__LEAST)), splat(0), v); }

#define UPDATE_PART(name, body)                                                                    \
    static void name(const void *job, size_t from, size_t to, int thread) {                        \
        const update *j = job;                                                                     \
        size_t end = to * RUN < j->n ? to * RUN : j->n;                                            \
        (void)thread;                                                                              \
        for (size_t i = from * RUN; i < end; i += (size_t)VL) {                                    \
            __builtin_prefetch(address(j->x, i + AHEAD), 1);                                       \
            __builtin_prefetch(address(j->g, i + AHEAD), 1);                                       \
            __builtin_prefetch(address(j->m, i + AHEAD), 1);                                       \
            __builtin_prefetch(address(j->v, i + AHEAD), 1);                                       \
            body(j, i, end - i);                                                                   \
        }                                                                                          \
    }

INLINE void sgd_step(const update *j, size_t i, size_t left) {
    vec x, d;
    begin(j, i, left, &x, &d);
    if (j->m) {
        vec m = kept(splat(j->u->momentum) * get(j->m + i, left) + d);
        put(j->m + i, m, left);
        d = j->u->nesterov ? d + splat(j->u->momentum) * m : m;
    }
    put(j->x + i, x - splat(j->u->lr) * d, left);
}
UPDATE_PART(sgd_part, sgd_step)

INLINE void rmsprop_step(const update *j, size_t i, size_t left) {
    const heed_update *u = j->u;
    vec x, d;
    begin(j, i, left, &x, &d);
    vec v = kept(splat(u->alpha) * get(j->v + i, left) + splat(1 - u->alpha) * (d * d));
    put(j->v + i, v, left);
    d = d / (vsqrt(v) + splat(u->eps));
    if (j->m) {
        d = kept(splat(u->momentum) * get(j->m + i, left) + d);
        put(j->m + i, d, left);
    }
    put(j->x + i, x - splat(u->lr) * d, left);
}
UPDATE_PART(rmsprop_part, rmsprop_step)

INLINE void adam_step(const update *j, size_t i, size_t left) {
    const heed_update *u = j->u;
    vec x, d;
    begin(j, i, left, &x, &d);
    vec m = kept(splat(u->beta1) * get(j->m + i, left) + splat(1 - u->beta1) * d);
    vec v = kept(splat(u->beta2) * get(j->v + i, left) + splat(1 - u->beta2) * (d * d));
    put(j->m + i, m, left);
    put(j->v + i, v, left);
    d = m / (vsqrt(v) * splat(j->root) + splat(u->eps));
    put(j->x + i, x - splat(u->lr / u->correction1) * d, left);
}
UPDATE_PART(adam_part, adam_step)

static void share_update(const heed_kernels *k, heed__part *part, const update *j) {
    heed__share(k, (j->n + RUN - 1) / RUN, 10.0 * (double)j->n, part, j);
}

void K(sgd)(const heed_kernels *k, heed_real *x, heed_real *g, heed_real *m, const heed_update *u,
            size_t n) {
    share_update(k, sgd_part, &(update){.x = x, .g = g, .m = m, .u = u, .n = n});
}
void K(rmsprop)(const heed_kernels *k, heed_real *x, heed_real *g, heed_real *v, heed_real *m,
                const heed_update *u, size_t n) {
    share_update(k, rmsprop_part, &(update){.x = x, .g = g, .m = m, .v = v, .u = u, .n = n});
}
void K(adam)(const heed_kernels *k, heed_real *x, heed_real *g, heed_real *m, heed_real *v,
             const heed_update *u, size_t n) {
    heed_real root = (heed_real)(1 / sqrt((double)u->correction2));
    share_update(k, adam_part,
                 &(update){.x = x, .g = g, .m = m, .v = v, .u = u, .n = n, .root = root});
}
