/* generate.c -- sampling from a causal model, token by token. */
#include "draw.h"
#include "gpt.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const gpt *m;
    heed_tape *t;
    const gpt_sampling *a;
    int32_t *seen; /* prompt and what was made */
    size_t count;
    heed_cache cache[MODEL_LAYERS];
    heed_real *memory;  /* of all caches */
    draw_choice *order; /* (V) */
} generation;

static int32_t draw(const generation *g, const heed_real *logits) {
    const gpt_sampling *a = g->a;
    return draw_token((draw_rule){a->temperature, a->top_k, a->top_p}, logits, g->m->body.vocab,
                      heed_random_at(a->seed, "sample", g->count, a->sample), g->order);
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

/* Numbers of a cache's k and v: of `room` tokens, or one state of a recurrent layer. */
static void cache_sizes(const gpt *m, size_t *k, size_t *v) {
    const heed_mha_args *a = &m->body.stack.block[0].attn.args;
    size_t capacity = (size_t)m->body.len;
    bool recurrent = m->rnn.args.layers > 0;
    *k = recurrent ? (size_t)gpt_state_size(m) : capacity * (size_t)a->heads * (size_t)a->key;
    *v = recurrent ? 0 : capacity * (size_t)a->heads * (size_t)a->value;
}

/* Memory of the caches, of what is seen, and of the choices. */
static bool start(generation *g, const int32_t *prompt, size_t n) {
    const transformer *b = &g->m->body;
    size_t k, v;
    cache_sizes(g->m, &k, &v);
    g->seen = malloc((n + (size_t)g->a->count) * sizeof *g->seen);
    g->order = malloc((size_t)b->vocab * sizeof *g->order);
    g->memory = malloc((size_t)b->stack.layers * (k + v) * sizeof *g->memory);
    if (!g->seen || !g->order || !g->memory)
        return heed_fail(heed_tape_ctx(g->t), HEED_FAILED, "no memory left: generate");
    memcpy(g->seen, prompt, n * sizeof *prompt);
    g->count = n;
    heed_real *p = g->memory;
    for (int i = 0; i < b->stack.layers; i++, p += k + v)
        g->cache[i] = (heed_cache){.capacity = b->len, .k = p, .v = p + k};
    return true;
}

static int run(generation *g, int32_t *out) {
    int made = 0;
    for (; made < g->a->count; made++) {
        const heed_real *logits = next_logits(g);
        if (!logits) return -1;
        int32_t id = draw(g, logits);
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
    if (!t || heed_ctx_status(c) != HEED_OK) return -1;
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
