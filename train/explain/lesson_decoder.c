/* lesson_decoder.c -- a block of the Transformer's decoder by the library, from its inputs up:
 * masked self-attention, cross-attention and the "1-convolution", which is the feed-forward
 * network. Vaswani et al. 2017, sec. 3.1 and 3.3. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

enum { QUERIES = 3, INPUTS = 4, WIDTH = 4, INNER = 8 };
static const char *const queries[] = {"[CLS]", "der", "Löwe"};
static const char *const inputs[] = {"the", "lion", "eats", "grass"};

/* Probed values of the block, all (QUERIES,WIDTH) but the weights. */
enum { SELF, SELF_OUT, NORM1, CROSS, CROSS_OUT, NORM2, FF, NORM3, PROBES };
static const char *const probes[PROBES] = {
    "block.attn.weights",  "block.attn.out.out", "block.norm1.out",    "block.cross.weights",
    "block.cross.out.out", "block.norm2.out",    "block.mlp.down.out", "block.norm3.out"};
typedef struct {
    double y[QUERIES * WIDTH], h[INPUTS * WIDTH];
    double value[PROBES][QUERIES * INPUTS];
    double conv[QUERIES * WIDTH], gap; /* the feed-forward network as convolutions */
} block;

/* The feed-forward network on x once more, by two convolutions of width 1 with its numbers. */
static heed_tensor *by_convolutions(const heed_conv conv[2], const heed_ff *ff, heed_tape *t,
                                    const double *x) {
    const heed_linear *layers[2] = {&ff->up, &ff->down};
    for (int k = 0; k < 2; k++) { /* (out,in) and (out,in,1) are the same numbers */
        memcpy(conv[k].w->x, layers[k]->w->x, conv[k].w->size * sizeof *conv[k].w->x);
        memcpy(conv[k].b->x, layers[k]->b->x, conv[k].b->size * sizeof *conv[k].b->x);
    }
    heed_tensor *y = heed_conv_apply(&conv[0], t, lesson_input(t, x, QUERIES, WIDTH));
    return heed_conv_apply(&conv[1], t, heed_relu(t, y));
}

static bool compute(heed_ctx *c, block *b) {
    heed_store *s = heed_store_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_decoder_block l;
    heed_conv conv[2];
    heed_decoder_block_init(
        &l, s, "block",
        (heed_decoder_block_args){.attn = {.width = WIDTH, .heads = 1},
                                  .cross = {.width = WIDTH, .heads = 1},
                                  .mlp = {.width = WIDTH, .inner = INNER, .act = HEED_RELU},
                                  .eps = (heed_real)1e-5});
    for (int k = 0; k < 2; k++)
        heed_conv_init(&conv[k], s, k ? "conv2" : "conv1",
                       (heed_conv_layer_args){
                           .in = k ? INNER : WIDTH, .out = k ? WIDTH : INNER, .size = {0, 1}});
    bool ok = heed_ctx_status(c) == HEED_OK;
    heed_probe(t, "block.*", false);
    heed_tape_begin(t, HEED_EVAL, 0);
    ok = ok && heed_decoder_block_apply(&l, t, lesson_input(t, b->y, QUERIES, WIDTH), NULL,
                                        lesson_input(t, b->h, INPUTS, WIDTH), NULL, NULL);
    for (int i = 0; ok && i < PROBES; i++) {
        const heed_tensor *x = heed_probe_find(t, probes[i]);
        for (size_t k = 0; x && k < x->size; k++) b->value[i][k] = (double)x->x[k];
    }
    heed_tensor *y = ok ? by_convolutions(conv, &l.mlp, t, b->value[NORM2]) : NULL;
    for (int i = 0; y && i < QUERIES * WIDTH; i++) {
        b->conv[i] = (double)y->x[i];
        b->gap = fmax(b->gap, fabs(b->conv[i] - b->value[FF][i]));
    }
    heed_tape_free(t);
    heed_store_free(s);
    return y != NULL;
}

void explain_decoder(explaining *e) {
    block b = {.gap = 0};
    heed_random r = heed_random_at(e->seed, "explain.decoder", 0, 0);
    for (int i = 0; i < QUERIES * WIDTH; i++) b.y[i] = heed_random_normal(&r, (uint64_t)i);
    for (int i = 0; i < INPUTS * WIDTH; i++) b.h[i] = heed_random_normal(&r, (uint64_t)(100 + i));
    if (!compute(e->c, &b)) return;
    heed_matrix y = lesson_matrix(QUERIES, WIDTH, b.y), h = lesson_matrix(INPUTS, WIDTH, b.h);
    heed_matrix conv = lesson_matrix(QUERIES, WIDTH, b.conv), m[PROBES];
    for (int i = 0; i < PROBES; i++)
        m[i] = lesson_matrix(QUERIES, i == SELF ? QUERIES : WIDTH, b.value[i]);
    char same[160];
    snprintf(same, sizeof same,
             "The library's feed-forward network (heed_ff) and two of its convolutions of width 1 "
             "(heed_conv) with the same numbers: the results differ by %.1g.",
             b.gap);
    const lesson_step steps[] = {
        {.title = "What the block reads",
         .words = "The outputs so far, y_0 to y_(t-1), each a row of Y, and the rows of H, the "
                  "encoder's results for the inputs.",
         .count = 2,
         .m = {{.name = "Y", .m = &y, .row_labels = queries},
               {.name = "H", .m = &h, .row_labels = inputs}},
         .between = {"", "  "}},
        {.title = "Self-attention, add, norm",
         .formula = "N_1 = LN(Y + A V W_h)",
         .words = "It is masked: each output sees itself and those before it, so A is 0 above its "
                  "diagonal.",
         .count = 3,
         .m = {{.name = "A, self", .m = &m[SELF], .row_labels = queries, .col_labels = queries},
               {.name = "A V W_h", .m = &m[SELF_OUT]},
               {.name = "N_1", .m = &m[NORM1]}},
         .between = {"", "  ", "  "},
         .pictures = 1},
        {.title = "Cross-attention, add, norm",
         .formula = "N_2 = LN(N_1 + A V W_h)",
         .words = "Queries come from N_1, keys and values from H. So the rows of A are the outputs "
                  "and its columns are the inputs; the result has a row for each output.",
         .count = 3,
         .m = {{.name = "A, cross", .m = &m[CROSS], .row_labels = queries, .col_labels = inputs},
               {.name = "A V W_h, cross", .m = &m[CROSS_OUT]},
               {.name = "N_2", .m = &m[NORM2]}},
         .between = {"", "  ", "  "},
         .pictures = 1},
        {.title = "1-convolution",
         .formula = "F = relu(N_2 W_1 + b_1) W_2 + b_2",
         .words = "The feed-forward network is the same at every row and mixes no rows. A "
                  "convolution of width 1 does the same, which is why notes call it "
                  "\"1-convolution\".",
         .after = same,
         .count = 2,
         .m = {{.name = "F", .m = &m[FF], .row_labels = queries},
               {.name = "F by convolutions", .m = &conv}},
         .between = {"", "  "}},
        {.title = "Add, norm",
         .formula = "LN(N_2 + F)",
         .words = "The decoder's results, a row for each output. Another block reads them, or the "
                  "last one's rows become the probabilities of the next words.",
         .count = 1,
         .m = {{.name = "H_dec", .m = &m[NORM3], .row_labels = queries}}}};
    lesson_steps(e,
                 &(lesson_head){"decoder",
                                "A block of the Transformer's decoder",
                                "The library's block with random numbers, from its inputs up. Look "
                                "at the shapes: rows are always outputs.",
                                "explain decoder --seed 2\n"
                                "explain decoder --png decoder.png\n"
                                "explain conv",
                                {"weight: each row sums to 1", 1}},
                 5, steps);
}
