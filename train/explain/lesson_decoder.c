/* lesson_decoder.c -- a block of the Transformer's decoder by the library, from its inputs up:
 * masked self-attention, cross-attention and the "1-convolution", which is the feed-forward
 * network. Vaswani et al. 2017, sec. 3.1 and 3.3. */
#include "explain/explain.h"

#include <string.h>

enum { QUERIES = 3, INPUTS = 4, WIDTH = 4, INNER = 8 };
static const char *const queries[] = {"[CLS]", "der", "Löwe"};
static const char *const inputs[] = {"the", "lion", "eats", "grass"};

/* What the block's forward pass kept under a name. */
static heed_matrix kept(explaining *e, const char *name, int cols) {
    return result_of(e, heed_probe_find(e->tape, name), QUERIES, cols);
}

/* The feed-forward network on x once more, by two convolutions of width 1 with its numbers. */
static heed_tensor *by_convolutions(explaining *e, const heed_conv conv[2], const heed_ff *ff,
                                    heed_matrix x) {
    const heed_linear *layers[2] = {&ff->up, &ff->down};
    for (int k = 0; k < 2; k++) { /* (out,in) and (out,in,1) are the same numbers */
        memcpy(conv[k].w->x, layers[k]->w->x, conv[k].w->size * sizeof *conv[k].w->x);
        memcpy(conv[k].b->x, layers[k]->b->x, conv[k].b->size * sizeof *conv[k].b->x);
    }
    heed_tensor *y = heed_conv_apply(&conv[0], e->tape, input_of(e, x));
    return heed_conv_apply(&conv[1], e->tape, heed_relu(e->tape, y));
}

void decoder_steps(explaining *e) {
    heed_random r = heed_random_at(e->seed, "explain.decoder", 0, 0);
    uint64_t at = 0, from = 100;
    heed_matrix y = matrix_random(e, &r, &at, QUERIES, WIDTH);
    heed_matrix h = matrix_random(e, &r, &from, INPUTS, WIDTH);
    heed_params *s = library(e);
    heed_block l;
    heed_conv conv[2];
    heed_block_init(&l, s, "block",
                    (heed_block_args){.attn = {.width = WIDTH, .heads = 1},
                                      .cross = {.width = WIDTH, .heads = 1},
                                      .mlp = {.width = WIDTH, .inner = INNER, .act = HEED_RELU},
                                      .eps = (heed_real)1e-5});
    heed_conv_init(&conv[0], s, "conv1",
                   (heed_conv_layer_args){.in = WIDTH, .out = INNER, .size = {0, 1}});
    heed_conv_init(&conv[1], s, "conv2",
                   (heed_conv_layer_args){.in = INNER, .out = WIDTH, .size = {0, 1}});
    if (failed(e)) return;
    heed_probe(e->tape, "block.*", false);
    heed_tape_begin(e->tape, HEED_EVAL, 0);
    heed_block_apply(&l, e->tape, input_of(e, y), &(heed_block_inputs){.memory = input_of(e, h)});
    heed_matrix n2 = kept(e, "block.norm2.out", WIDTH), ff = kept(e, "block.mlp.down.out", WIDTH);
    heed_matrix by_conv = result_of(e, by_convolutions(e, conv, &l.mlp, n2), QUERIES, WIDTH);

    e->title = "A block of the Transformer's decoder";
    e->words = "The library's block with random numbers, from its inputs up. Look at the shapes: "
               "rows are always outputs.";
    e->commands = "explain decoder --seed 2\n"
                  "explain decoder --png decoder.png\n"
                  "explain conv";
    e->unit = "weight: each row sums to 1", e->hi = 1;
    add_step(
        e, "What the block reads", NULL,
        "The outputs so far, y_0 to y_(t-1), each a row of Y, and the rows of H, the encoder's "
        "results for the inputs.");
    show(e, "", "Y", y, queries, NULL);
    show(e, "", "H", h, inputs, NULL);
    add_step(e, "Self-attention, add, norm", "N_1 = LN(Y + A V W_h)",
             "It is masked: each output sees itself and those before it, so A is 0 above its "
             "diagonal.");
    show(e, "", "A, self", kept(e, "block.attn.weights", QUERIES), queries, queries)->picture =
        true;
    show(e, "", "A V W_h", kept(e, "block.attn.out.out", WIDTH), NULL, NULL);
    show(e, "", "N_1", kept(e, "block.norm1.out", WIDTH), NULL, NULL);
    add_step(e, "Cross-attention, add, norm", "N_2 = LN(N_1 + A V W_h)",
             "Queries come from N_1, keys and values from H. So the rows of A are the outputs and "
             "its columns are the inputs; the result has a row for each output.");
    show(e, "", "A, cross", kept(e, "block.cross.weights", INPUTS), queries, inputs)->picture =
        true;
    show(e, "", "A V W_h, cross", kept(e, "block.cross.out.out", WIDTH), NULL, NULL);
    show(e, "", "N_2", n2, NULL, NULL);
    lesson_step *step = add_step(
        e, "1-convolution", "F = relu(N_2 W_1 + b_1) W_2 + b_2",
        "The feed-forward network is the same at every row and mixes no rows. A convolution of "
        "width 1 does the same, which is why notes call it \"1-convolution\".");
    show(e, "", "F", ff, queries, NULL);
    show(e, "", "F by convolutions", by_conv, NULL, NULL);
    step->after = text_of(e,
                          "The library's feed-forward network (heed_ff) and two of its "
                          "convolutions of width 1 (heed_conv) with the same numbers: the results "
                          "differ by %.1g.",
                          largest_gap(ff, by_conv));
    add_step(e, "Add, norm", "LN(N_2 + F)",
             "The decoder's results, a row for each output. Another block reads them, or the last "
             "one's rows become the probabilities of the next words.");
    show(e, "", "H_dec", kept(e, "block.norm3.out", WIDTH), queries, NULL);
}
