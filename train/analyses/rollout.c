/* rollout.c -- attention rollout of a subject. */
#include "analyses/attribution.h"

#include <stdlib.h>

/* Blocks of self-attention over the first axis. */
static int followed(const heed_record *all, const heed_real **weights) {
    int n = 0;
    for (int i = 0; i < all->block_count; i++) {
        const heed_record_block *b = &all->blocks[i];
        if (b->stack != HEED_CROSS && b->queries == 0 && b->keys == 0) weights[n++] = b->weights;
    }
    return n;
}

#define FOLLOWED                                                                                   \
    "attention of all layers followed back to the input, half of each layer the token itself"

static bool add_map(const heed_example *s, const heed_real *values, heed_record *record) {
    bool causal = s->run->model == &heed_model_gpt;
    heed_record_map m = {
        .name = "rollout",
        .help = causal ? FOLLOWED "; of a causal model it gathers on token 1, whatever that means"
                : s->read ? FOLLOWED
                    ", of the encoder: source over source, rows sum to 1; the cross "
                    "attention and the decoder are not followed"
                          : FOLLOWED ": rows sum to 1",
        .layer = -1,
        .head = -1,
        .stack = causal ? HEED_DECODER : HEED_ENCODER,
        .values = values};
    return heed_record_add_map(record, &m) >= 0;
}

static bool roll(const heed_example *s, const rollout_wish *w, const heed_record *all,
                 heed_record *record) {
    heed_ctx *c = s->run->c;
    size_t tokens = (size_t)s->axes[0].count;
    const heed_real **weights = malloc((size_t)all->block_count * sizeof *weights);
    heed_real *out = malloc(tokens * tokens * sizeof *out);
    bool ok = weights && out;
    if (!ok) heed_fail(c, HEED_FAILED, "no memory for a rollout of %zu tokens", tokens);
    int layers = ok ? followed(all, weights) : 0;
    heed_rollout_args a = {.layers = layers,
                           .heads = all->blocks[0].heads,
                           .tokens = (int)tokens,
                           .weights = weights,
                           .max = w->max,
                           .discard = w->discard};
    if (ok && layers == 0)
        ok = heed_fail(c, HEED_USAGE,
                       "--rollout: the model has no self-attention to follow: expected a run of "
                       "mlm, gpt, vit, seq2seq, or of textcls or tag by attention");
    ok = ok && heed_rollout(c, &a, out) && add_map(s, out, record);
    free(weights);
    free(out);
    return ok;
}

bool rollout_add(const heed_example *s, const rollout_wish *w, heed_record *record) {
    heed_record *all = heed_capture(s, &(heed_capture_args){.lean = true, .most = 1e9});
    bool ok = all && roll(s, w, all, record);
    heed_record_free(all);
    return ok;
}
