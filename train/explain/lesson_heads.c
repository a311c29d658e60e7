/* lesson_heads.c -- one layer of H heads equals the sum of H layers of one head: the library's
 * layer compared with the formula. Vaswani et al. 2017, sec. 3.2.2. */
#include "explain/explain.h"

#include <math.h>

enum { TOKENS = 4, WIDTH = 7, HEADS = 3, SIZE = 2, STACK = HEADS * 3 * SIZE };
static const char *const words[] = {"the", "lion", "eats", "grass"};

static heed_matrix random_of(explaining *e, const heed_random *r, uint64_t at, double scale,
                             int rows, int cols) {
    heed_matrix m = matrix_random(e, r, &at, rows, cols);
    for (int i = 0; i < m.rows * m.cols; i++) m.x[i] *= scale;
    return m;
}

/* Queries (part 0), keys or values of a head: x times its rows of the stacked weight. */
static heed_matrix projected(explaining *e, heed_matrix x, heed_matrix in, int part, int head) {
    heed_matrix w = rows_of_matrix(in, (part * HEADS + head) * SIZE, SIZE);
    return product_of(e, x, transpose_of(e, w));
}

void heads_steps(explaining *e) {
    const char *labels[STACK];
    heed_random r = heed_random_at(e->seed, "explain.heads", 0, 0);
    heed_matrix x = random_of(e, &r, 0, 1, TOKENS, WIDTH);
    /* rows: queries of all heads, keys of all, values of all; and W_h */
    heed_matrix in = random_of(e, &r, 1000, 1 / sqrt(WIDTH), STACK, WIDTH);
    heed_matrix out = random_of(e, &r, 2000, 1 / sqrt(HEADS * SIZE), WIDTH, HEADS * SIZE);
    heed_matrix sum = matrix_new(e, TOKENS, WIDTH), weights[HEADS], head[HEADS];
    heed_matrix columns = transpose_of(e, out);
    for (int h = 0; h < HEADS; h++) {
        heed_matrix q = projected(e, x, in, 0, h), k = projected(e, x, in, 1, h);
        weights[h] = softmax_of(e, scores_of(e, q, k));
        head[h] = product_of(e, weights[h], projected(e, x, in, 2, h));
        sum = sum_of(e, sum, 1, product_of(e, head[h], rows_of_matrix(columns, h * SIZE, SIZE)));
    }
    heed_mha m;
    heed_mha_init(&m, library(e), "attn",
                  (heed_mha_args){
                      .width = WIDTH, .heads = HEADS, .key = SIZE, .value = SIZE, .no_bias = true});
    if (failed(e)) return;
    set_parameter(m.qkv.w, in, false);
    set_parameter(m.out.w, out, false);
    heed_tape_begin(e->tape, HEED_EVAL, 0);
    heed_tensor *y = heed_mha_apply(&m, e->tape, input_of(e, x), NULL);
    heed_matrix layer = result_of(e, y, TOKENS, WIDTH);

    for (int i = 0; i < STACK; i++)
        labels[i] =
            text_of(e, "%c%d,%d", "qkv"[i / (HEADS * SIZE)], i / SIZE % HEADS + 1, i % SIZE + 1);
    const char *const *rows = keep_labels(e, labels, STACK);
    e->title = "H heads are H layers of one head";
    e->words = "Random vectors x of width n = 7, and a layer of 3 heads with queries, keys and "
               "values of width d = 2 each. Look at one word's row of weights in each head.";
    e->commands = "explain heads --seed 2\n"
                  "explain heads --png heads.png";
    e->unit = "weight", e->hi = 1;
    heed_matrix first = transpose_of(e, rows_of_matrix(x, 0, 1));
    add_step(
        e, "All at once", "[q ; k ; v] = [W_q ; W_k ; W_v] x",
        "One product gives all queries, keys and values of a word, here of the first: 18 = 3 h "
        "d numbers for h = 3 heads and d = 2.");
    show(e, "", "[W_q ; W_k ; W_v]", in, rows, NULL);
    show(e, "·", "x", first, NULL, NULL);
    show(e, "=", "[q ; k ; v]", product_of(e, in, first), rows, NULL);
    add_step(e, "Weights", "A = softmax(Q K' / sqrt(2)) of each head",
             "Each head has weights of its own:");
    show(e, "", "weights, head 1", weights[0], words, words)->picture = true;
    show(e, "", "head 2", weights[1], words, words)->picture = true;
    show(e, "", "head 3", weights[2], words, words)->picture = true;
    add_step(e, "The heads' outputs", "Y = A V of each head",
             "Side by side they have h d = 6 numbers.");
    show(e, "", "Y_1", head[0], words, NULL);
    show(e, "", "Y_2", head[1], words, NULL);
    show(e, "", "Y_3", head[2], words, NULL);
    add_step(
        e, "Back to the width of x", "[Y_1 Y_2 Y_3] W_h' = Y_1 W_1' + Y_2 W_2' + Y_3 W_3'",
        "W_h (n x h d) brings them back to n = 7, the width of x. A product of blocks is a sum of "
        "products, each head with its own columns of W_h. First that sum, head by head, in double "
        "precision; then the library's layer, all heads in parallel, in single precision.");
    show(e, "", "W_h", out, NULL, NULL);
    lesson_step *s = add_step(e, NULL, "sum of Y_h W_h'", NULL);
    show(e, "", "one head at a time, added", sum, words, NULL);
    show(e, "", "one layer of 3 heads", layer, words, NULL);
    s->after = text_of(e, "They differ by at most %.1g.", largest_gap(sum, layer));
}
