/* profile.c -- a profile attached to a context: products are counted on their way to the kernels.
 * Also the machine's peak. */
#include "core/profile.h"
#include "core/os.h"
#include "parallel.h"

#include <math.h>
#include <string.h>

/* A profile, and the context's kernels without it. */
typedef struct {
    heed_profile p;
    heed_kernels plain;
} attached;

static const heed_kernels *plain(const heed_kernels *k) {
    return &((const attached *)(const void *)k->profile)->plain;
}

static int terms_of(const heed_gemm *g) { return g->k + (g->twin ? g[1].k : 0); }
static double flops_of(const heed_gemm *g) {
    return 2.0 * g->m * g->n * terms_of(g) * (g->batch > 0 ? g->batch : 1);
}

static void gemm_alone(const heed_kernels *k, const heed_gemm *g) {
    const heed__alone *alone = (const heed__alone *)(const void *)k;
    *alone->flops += flops_of(g);
    alone->gemm(k, g);
}

heed__alone heed__alone_of(const heed_kernels *k, double *flops) {
    heed__alone alone = {.k = k->profile ? *plain(k) : *k, .flops = flops};
    alone.k.threads = 1;
    if (!k->profile || !flops) return alone;
    alone.gemm = alone.k.gemm;
    alone.k.gemm = gemm_alone;
    return alone;
}

/* The gradient of the right operand's rows, weights, is a product with a transposed left operand.
 */
static void gemm(const heed_kernels *k, const heed_gemm *g) {
    static const char forward[] = "forward", left[] = "dX", right[] = "dW";
    bool back = g->gradient || k->profile->phase == HEED_PHASE_BACKWARD;
    heed__profile_product(k->profile,
                          !back   ? forward
                          : g->ta ? right
                                  : left,
                          (const int[]){g->m, g->n, terms_of(g)}, flops_of(g));
    plain(k)->gemm(k, g);
    heed__profile_product_end(k->profile);
}

/* Forward: scores and output. Backward: scores again, and the gradients of q, k, weights and v. */
static void attention(const heed_kernels *k, const heed_attention_job *a, void *scratch) {
    double scores = (double)a->batch * a->heads * a->tq * a->tk;
    heed__profile_flops(k->profile, 2 * scores * (a->key + a->value));
    plain(k)->attention(k, a, scratch);
}

static void attention_grad(const heed_kernels *k, const heed_attention_job *a, void *scratch) {
    double scores = (double)a->batch * a->heads * a->tq * a->tk;
    heed__profile_flops(k->profile, 2 * scores * (3 * a->key + 2 * a->value));
    plain(k)->attention_grad(k, a, scratch);
}

static void conv(const heed_kernels *k, const heed_conv_job *j, heed_conv_pass pass,
                 void *scratch) {
    heed__profile_flops(k->profile,
                        2.0 * j->batch * j->oh * j->ow * j->o * j->kh * j->kw * (j->c / j->groups));
    plain(k)->conv(k, j, pass, scratch);
}

static void destroy(heed__owned *object) {
    attached *a = (attached *)object;
    heed_kernels *k = heed__ctx_kernels(a->p.c);
    a->plain.bf16 = k->bf16; /* which may have been set meanwhile */
    *k = a->plain;
    heed__ctx_attach(a->p.c, NULL);
    heed__free(a->p.rows);
    heed__free(a->p.stretches);
    heed__free(a);
}

heed_profile *heed_profile_new(heed_ctx *c) {
    if (heed__stopped(c)) return NULL;
    if (heed__profile_of(c)) {
        heed_fail(c, HEED_USAGE, "heed_profile_new: a profile is already attached to the context");
        return NULL;
    }
    heed_kernels *k = heed__ctx_kernels(c);
    attached *a = heed__alloc(c, sizeof *a);
    heed__stretch *stretches = heed__alloc_array(c, (size_t)k->threads, sizeof *stretches);
    if (!a || !stretches) {
        heed__free(a);
        heed__free(stretches);
        return NULL;
    }
    a->p = (heed_profile){.c = c, .stretches = stretches, .threads = k->threads};
    a->plain = *k;
    k->profile = &a->p;
    k->gemm = gemm;
    k->attention = attention;
    k->attention_grad = attention_grad;
    k->conv = conv;
    heed__profile_reset(&a->p);
    heed__ctx_attach(c, &a->p);
    heed__own(c, &a->p.owned, destroy);
    return &a->p;
}

void heed_profile_free(heed_profile *p) {
    if (p) heed__release(p->c, &p->owned);
}

/* ---- the machine's peak ---- */

enum { LOOPS = 20000 }; /* of multiply-adds in a part: about a tenth of a millisecond */

static void peak_part(const void *job, size_t from, size_t to, int thread) {
    const heed_kernels *k = job;
    (void)thread;
    for (size_t i = from; i < to; i++) k->multiply_adds(k, LOOPS);
}

/* Where other programs take turns with the threads, it takes longer until all threads compute at
 * the same time: then they are much faster than one. */
double heed_peak_flops(heed_ctx *c, double seconds) {
    if (heed__stopped(c)) return 0;
    heed_kernels all = *heed__kernels_of(c), *k = &all;
    double flops = k->multiply_adds(k, 1) * LOOPS, begin = heed__os_seconds(), now;
    double alone = 0, best = 0, together = k->threads * flops;
    k->team = NULL; /* threads also while other programs are busy */
    k->profile = NULL;
    do {
        double start = heed__os_seconds();
        peak_part(k, 0, 1, 0);
        double middle = heed__os_seconds();
        heed__share(k, (size_t)k->threads, together, peak_part, k);
        now = heed__os_seconds();
        alone = fmax(alone, flops / (middle - start));
        best = fmax(best, together / (now - middle));
    } while (now - begin < seconds ||
             (best < 0.75 * k->threads * alone && now - begin < 20 * seconds));
    return fmax(alone, best);
}
