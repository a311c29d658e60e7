/* generate.c -- sampling from a causal model, token by token. */
#include "gpt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double p;
    int32_t id;
} choice;

typedef struct {
    const gpt *m;
    heed_tape *t;
    const gpt_sampling *a;
    int32_t *seen; /* prompt and what was made */
    size_t count;
    heed_cache cache[MODEL_LAYERS];
    heed_real *memory; /* of all caches */
    choice *order;     /* (V) */
} generation;

static int by_probability(const void *a, const void *b) {
    const choice *x = a, *y = b;
    if (x->p != y->p) return x->p > y->p ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Probabilities exp((logit - largest) / temperature), most probable first; returns the sum. */
static double weigh(choice *order, const heed_real *logits, int n, double temperature) {
    double top = (double)logits[0], sum = 0;
    for (int i = 1; i < n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < n; i++) {
        order[i] = (choice){exp(((double)logits[i] - top) / temperature), i};
        sum += order[i].p;
    }
    qsort(order, (size_t)n, sizeof *order, by_probability);
    return sum;
}

static int32_t most_probable(const heed_real *logits, int n) {
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

/* Draws by u in [0, 1): top-k, then the nucleus of what is left. Holtzman et al. 2020, sec. 3.1. */
static int32_t draw(const generation *g, const heed_real *logits, int n) {
    const gpt_sampling *a = g->a;
    if (a->temperature <= 0) return most_probable(logits, n);
    double sum = weigh(g->order, logits, n, a->temperature);
    int keep = a->top_k > 0 && a->top_k < n ? a->top_k : n;
    if (keep < n) {
        sum = 0;
        for (int i = 0; i < keep; i++) sum += g->order[i].p;
    }
    if (a->top_p > 0 && a->top_p < 1) {
        double part = 0, goal = a->top_p * sum;
        int k = 0;
        while (k < keep && part < goal) part += g->order[k++].p;
        keep = k;
        sum = part;
    }
    heed_random r = heed_random_at(a->seed, "sample", g->count, a->sample);
    double left = heed_random_uniform(&r, 0) * sum;
    for (int i = 0; i < keep - 1; i++) {
        if (left < g->order[i].p) return g->order[i].id;
        left -= g->order[i].p;
    }
    return g->order[keep > 0 ? keep - 1 : 0].id;
}

/* Logits (V) after the last token seen. Up to the block the caches grow token by token; beyond it
 * every place shifts, so that the whole window is computed again. */
static const heed_real *next_logits(generation *g) {
    int block = g->m->body.len, vocab = g->m->body.vocab;
    bool fits = g->count <= (size_t)block;
    bool cached = fits && !g->a->uncached;
    size_t from = cached ? (size_t)g->cache->len : fits ? 0 : g->count - (size_t)block;
    int rows = (int)(g->count - from);
    heed_tape_begin(g->t, HEED_EVAL, 0);
    heed_tensor *ids = heed_input_ids(g->t, g->seen + from, 2, (int[]){1, rows});
    heed_tensor *y = gpt_logits(g->m, g->t, ids, cached ? g->cache : NULL);
    return y ? y->x + y->size - vocab : NULL;
}

/* Memory of the caches, of what is seen, and of the choices. */
static bool start(generation *g, const int32_t *prompt, size_t n) {
    const transformer *b = &g->m->body;
    const heed_mha_args *a = &b->stack.block[0].attn.args;
    size_t room = (size_t)b->len;
    size_t k = room * (size_t)a->heads * (size_t)a->key;
    size_t v = room * (size_t)a->heads * (size_t)a->value;
    g->seen = malloc((n + (size_t)g->a->count) * sizeof *g->seen);
    g->order = malloc((size_t)b->vocab * sizeof *g->order);
    g->memory = malloc((size_t)b->stack.layers * (k + v) * sizeof *g->memory);
    if (!g->seen || !g->order || !g->memory)
        return heed_fail(heed_tape_ctx(g->t), HEED_FAILED, "no memory left: generate");
    memcpy(g->seen, prompt, n * sizeof *prompt);
    g->count = n;
    heed_real *p = g->memory;
    for (int i = 0; i < b->stack.layers; i++, p += k + v)
        g->cache[i] = (heed_cache){.room = b->len, .k = p, .v = p + k};
    return true;
}

static int run(generation *g, int32_t *out) {
    int made = 0;
    for (; made < g->a->count; made++) {
        const heed_real *logits = next_logits(g);
        if (!logits) return -1;
        int32_t id = draw(g, logits, g->m->body.vocab);
        if (g->a->has_end && id == g->a->end) break;
        g->seen[g->count++] = id;
        if (out) out[made] = id;
        if (g->a->token && !g->a->token(g->a->user, id)) return made + 1;
    }
    return made;
}

int gpt_generate(const gpt *m, heed_tape *t, const int32_t *prompt, size_t n, const gpt_sampling *a,
                 int32_t *out) {
    heed_ctx *c = heed_tape_ctx(t);
    if (!t || heed_state(c) != HEED_OK) return -1;
    if (n == 0 || a->count < 0) {
        heed_fail(c, HEED_USAGE,
                  "nothing to go on from: generate: expected a prompt of at least one token and a "
                  "count of at least 0, found %zu and %d; hint: --prompt, --n",
                  n, a->count);
        return -1;
    }
    generation g = {.m = m, .t = t, .a = a};
    int made = start(&g, prompt, n) ? run(&g, out) : -1;
    free(g.seen);
    free(g.order);
    free(g.memory);
    return made;
}

int32_t gpt_end(const heed_config *f, const heed_tokenizer *k) {
    heed_specials s = heed_tokenizer_specials(k);
    const char *packing = heed_config_has(f, "packing") ? heed_config_text(f, "packing") : "";
    if (strcmp(packing, "lines") != 0) return -1;
    return s.sep >= 0 ? s.sep : s.newline;
}
