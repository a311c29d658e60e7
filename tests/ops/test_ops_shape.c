/* The same for lookup, reductions, shapes and losses. */
#include "values.h"

/* ---- lookup ---- */

TEST(ops_embed_and_gather) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *table = heed_want_grad(t, REALS(t, S(3, 2), 1, 2, 3, 4, 5, 6));
    heed_tensor *y = heed_embed(t, table, IDS(t, S(2, 2), 2, 0, 2, 2));
    CHECK(y->dims == 3 && y->shape[2] == 2);
    CHECK_VALUES(y, 0, 5, 6, 1, 2, 5, 6, 5, 6);
    CHECK(heed_backward_from(t, y, (heed_real[]){1, 2, 3, 4, 5, 6, 7, 8}));
    CHECK_GRADS(table, 0, 3, 4, 0, 0, 13, 16);
    heed_tensor *x = REALS(t, S(2, 2, 1), 1, 2, 3, 4);
    CHECK_VALUES(heed_gather(t, x, IDS(t, S(3), 3, 0, 3)), 0, 4, 1, 4);
    REFUSED(heed_embed(heed_at(t, "tok"), table, IDS(t, S(2), 1, 3)),
            "embed at tok: (3,2) x (2): index 3 at position 1 is not in 0 .. 2");
    REFUSED(heed_gather(t, x, IDS(t, S(1), -1)), "index -1 at position 0 is not in 0 .. 3");
    REFUSED(heed_embed(t, x, IDS(t, S(1), 0)), "the table needs 2 dims");
    CLOSE(c);
}

/* A batch may hold no masked position at all. */
TEST(ops_no_rows_are_a_loss_of_zero) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(2, 2), 1, 2, 3, 4));
    heed_tensor *w = heed_want_grad(t, REALS(t, S(3, 2), 1, 2, 3, 4, 5, 6));
    heed_tensor *none = heed_input_ids(t, (int32_t[]){0}, 1, (int[]){0});
    heed_tensor *logits = heed_affine_act(t, heed_gather(t, x, none), w, NULL, HEED_GELU);
    heed_tensor *gain = REALS(t, S(3), 1, 1, 1);
    heed_tensor *loss = heed_xent(t, heed_layer_norm(t, logits, gain, NULL, 1), none, NULL);
    CHECK_VALUES(loss, 0, 0);
    CHECK(heed_backward(t, loss));
    CHECK_GRADS(w, 0, 0, 0, 0, 0, 0, 0);
    CHECK_VALUES(heed_mean(t, logits), 0, 0);
    CHECK_VALUES(heed_sum(t, logits), 0, 0);
    CLOSE(c);
}

/* ---- reductions ---- */

TEST(ops_reductions) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(2, 3), 1, 5, 5, 4, 4, -6));
    CHECK_VALUES(heed_sum(t, x), tiny, 13);
    CHECK_VALUES(heed_mean(t, x), tiny, 13.0 / 6);
    CHECK_VALUES(heed_sum_dim(t, x, 0), tiny, 5, 9, -1);
    CHECK_VALUES(heed_mean_dim(t, x, -1), tiny, 11.0 / 3, 2.0 / 3);
    heed_tensor *top = heed_max_dim(t, x, 1);
    CHECK(top->dims == 2 && top->shape[0] == 2 && top->shape[1] == 1);
    CHECK_VALUES(top, 0, 5, 4);
    CHECK(heed_backward_from(t, top, (heed_real[]){2, 3}));
    CHECK_GRADS(x, 0, 0, 2, 0, 3, 0, 0); /* the first of equals */
    REFUSED(heed_sum_dim(heed_at(t, "pool"), x, 2), "sum_dim at pool: (2,3): there is no dim 2");
    REFUSED(heed_max_dim(t, x, -3), "there is no dim -3");
    heed_tensor *bad = REALS(t, S(3), 1, NAN, 2);
    CHECK(isnan((double)heed_max_dim(t, bad, 0)->x[0]));
    CLOSE(c);
}

/* ---- shape ---- */

TEST(ops_reshape) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = REALS(t, S(2, 3), 1, 2, 3, 4, 5, 6), *y = heed_reshape(t, x, S(-1, 2));
    CHECK(y->x == x->x && y->dims == 2 && y->shape[0] == 3 && y->shape[1] == 2);
    CHECK(heed_reshape(t, REALS(t, S(1), 4), 0, NULL)->dims == 0);
    REFUSED(heed_reshape(heed_at(t, "flat"), x, S(4, -1)),
            "reshape at flat: (2,3): its 6 elements do not fill (4,-1)");
    REFUSED(heed_reshape(t, x, S(-1, -1)), "size -1 at dim 1");
    REFUSED(heed_reshape(t, x, S(1 << 30, 1 << 30, 1 << 30)), "do not fill");
    REFUSED(heed_reshape(t, x, S(1, 1, 1, 6, 1)), "5 dims are not in 0 .. 4");
    CLOSE(c);
}

TEST(ops_permute_concat_slice_pad) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = REALS(t, S(2, 3), 1, 2, 3, 4, 5, 6);
    CHECK_VALUES(heed_permute(t, x, (int[]){1, 0}), 0, 1, 4, 2, 5, 3, 6);
    heed_tensor *cube = heed_permute(t, heed_reshape(t, x, S(1, 2, 3)), (int[]){2, 0, 1});
    CHECK(cube->shape[0] == 3 && cube->shape[1] == 1 && cube->shape[2] == 2);
    CHECK_VALUES(cube, 0, 1, 4, 2, 5, 3, 6);
    REFUSED(heed_permute(t, x, (int[]){1, 1}), "order[1] = 1: expected each of 0 .. 1 once");
    heed_tensor *list[] = {x, REALS(t, S(2, 1), 7, 8)};
    CHECK_VALUES(heed_concat(t, 1, 2, list), 0, 1, 2, 3, 7, 4, 5, 6, 8);
    REFUSED(heed_concat(heed_at(t, "join"), 0, 2, list),
            "concat at join: (2,3) x (2,1): they differ in more than dim 0");
    REFUSED(heed_concat(t, 0, 0, list), "the list is empty");
    heed_tensor *row = heed_slice(t, x, 0, 1, 1), *cols = heed_slice(t, x, -1, 1, 2);
    CHECK(row->x == x->x + 3); /* a view */
    CHECK_VALUES(row, 0, 4, 5, 6);
    CHECK_VALUES(cols, 0, 2, 3, 5, 6);
    REFUSED(heed_slice(t, x, 1, 2, 2), "(2,3): from 2, size 2 exceeds dim 1");
    REFUSED(heed_slice(t, x, 1, -1, 1), "exceeds dim 1");
    REFUSED(heed_slice(t, x, 0, INT32_MAX, INT32_MAX), "exceeds dim 0");
    CHECK_VALUES(heed_pad(t, x, 1, 1, 0, 9), 0, 9, 1, 2, 3, 9, 4, 5, 6);
    REFUSED(heed_pad(t, x, 1, -1, 0, 9), "cannot pad dim 1 by -1 and 0");
    REFUSED(heed_pad(t, x, 1, INT32_MAX, INT32_MAX, 9), "cannot pad");
    CLOSE(c);
}

TEST(ops_split) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(2, 4), 1, 2, 3, 4, 5, 6, 7, 8)), *part[2];
    CHECK(heed_split(t, x, 1, 2, part));
    CHECK_VALUES(part[1], 0, 3, 4, 7, 8);
    heed_backward(t, heed_sum(t, heed_mul(t, part[0], part[1])));
    CHECK_GRADS(x, 0, 3, 4, 1, 2, 7, 8, 5, 6);
    CHECK(heed_split(t, x, 0, 2, part) && part[1]->x == x->x + 4);
    CHECK(!heed_split(heed_at(t, "qkv"), x, 1, 3, part));
    CHECK_HAS(heed_ctx_error(c), "split at qkv: (2,4): dim 1 does not make 3 equal parts");
    heed_clear(c);
    CHECK(!heed_split(t, x, 1, 3, part));
    CHECK_HAS(heed_ctx_error(c), "split: (2,4): dim 1 does not make 3 equal parts");
    heed_clear(c);
    CLOSE(c);
}

/* Views of views, their base used beside them, and all through ops that copy. */
TEST(ops_gradients_through_views_add_up) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(4), 1, 2, 3, 4));
    heed_tensor *y = heed_scale(t, x, 2, 0); /* 2 4 6 8 */
    heed_tensor *square = heed_reshape(t, y, S(2, 2)), *low = heed_slice(t, square, 0, 1, 1);
    heed_tensor *a = heed_sum(t, heed_mul(t, low, low));          /* y3^2 + y4^2 */
    heed_tensor *b = heed_sum(t, heed_mul(t, y, y));              /* sum y^2 */
    heed_tensor *d = heed_sum(t, heed_slice(t, square, 1, 0, 1)); /* y1 + y3 */
    heed_backward(t, heed_add(t, heed_add(t, a, b), d));
    CHECK_GRADS(x, tiny, 2 * (4 + 1), 2 * 8, 2 * (12 + 12 + 1), 2 * (16 + 16));
    CLOSE(c);
}

/* ---- losses ---- */

/* -log softmax(x)[j] */
static double nll(const double *x, int n, int j) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += exp(x[i]);
    return log(sum) - x[j];
}

TEST(ops_xent_follows_pytorch) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    const double x[3][3] = {{1, 2, 3}, {0.5, -1, 0}, {2, 2, -1}}, w[] = {1, 2, 0.5};
    heed_tensor *logits = REALS(t, S(3, 3), 1, 2, 3, 0.5, -1, 0, 2, 2, -1);
    heed_tensor *labels = IDS(t, S(3), 2, -100, 1);
    double plain = nll(x[0], 3, 2) + nll(x[2], 3, 1), even = 0, weighted_even = 0;
    for (int r = 0; r < 3; r += 2)
        for (int j = 0; j < 3; j++) {
            even += nll(x[r], 3, j);
            weighted_even += w[j] * nll(x[r], 3, j);
        }
    CHECK_VALUES(heed_xent(t, logits, labels, NULL), tiny, plain / 2);
    heed_xent_args smooth = {.smoothing = (heed_real)0.25};
    CHECK_VALUES(heed_xent(t, logits, labels, &smooth), tiny,
                 0.75 * plain / 2 + 0.25 / 3 * even / 2);
    const heed_real weights[] = {1, 2, (heed_real)0.5};
    heed_xent_args both = {.smoothing = (heed_real)0.25, .weights = weights};
    double sum = 0.5 * nll(x[0], 3, 2) + 2 * nll(x[2], 3, 1);
    CHECK_VALUES(heed_xent(t, logits, labels, &both), tiny,
                 0.75 * sum / 2.5 + 0.25 / 3 * weighted_even / 2.5);
    heed_xent_args second = {.ignore = 1, .has_ignore = true}, padding = {.has_ignore = true};
    CHECK_VALUES(heed_xent(t, logits, IDS(t, S(3), 2, 0, 0), &padding), tiny, nll(x[0], 3, 2));
    CHECK_VALUES(heed_xent(t, logits, IDS(t, S(3), 2, 1, 1), &second), tiny, nll(x[0], 3, 2));
    CLOSE(c);
}

TEST(ops_xent_of_ignored_rows_is_zero) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(2, 2), 1, 2, 3, 4));
    heed_tensor *loss = heed_xent(t, x, IDS(t, S(2), -100, -100), NULL);
    CHECK_VALUES(loss, 0, 0);
    CHECK(heed_backward(t, loss));
    CHECK_GRADS(x, 0, 0, 0, 0, 0);
    CLOSE(c);
}

TEST(ops_xent_names_a_label_out_of_range) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = heed_input(t, NULL, S(2, 3));
    CHECK(!heed_xent(heed_at(t, "loss"), x, IDS(t, S(2), 0, 3), NULL));
    CHECK(heed_ctx_status(c) == HEED_DATA);
    REFUSED(NULL, "xent at loss: label 3 of row 1 is not in 0 .. 2");
    REFUSED(heed_xent(t, x, IDS(t, S(2), 0, -1), NULL), "xent at node 1: label -1 of row 1");
    REFUSED(heed_xent(t, x, IDS(t, S(3), 0, 0, 0), NULL), "expected logits (...,C)");
    REFUSED(heed_xent(t, x, x, NULL), "input 1 must hold indices");
    heed_xent_args args = {.smoothing = 2};
    REFUSED(heed_xent(t, x, IDS(t, S(2), 0, 0), &args), "smoothing 2 is not in [0, 1]");
    CLOSE(c);
}

TEST(ops_bce_is_stable) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(4), 1000, -1000, 0, 40));
    heed_tensor *loss = heed_bce(t, x, REALS(t, S(4), 1, 1, 0.5, 1));
    CHECK_VALUES(loss, tiny, (1000 + log(2)) / 4);
    CHECK(heed_backward(t, loss));
    CHECK_GRADS(x, tiny, 0, -0.25, 0, 0);
    /* a confident right answer still has a loss, exp(-40) */
    heed_tensor *sure = heed_bce(t, REALS(t, S(1), 40), REALS(t, S(1), 1));
    CHECK_CLOSE(sure->x[0] / (heed_real)exp(-40), 1, 1e-5);
    REFUSED(heed_bce(t, x, REALS(t, S(1), 1)), "logits and targets differ in shape");
    CLOSE(c);
}

TEST(ops_mse) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *a = heed_want_grad(t, REALS(t, S(2), 1, 5)), *b = REALS(t, S(2), 3, 4);
    heed_tensor *loss = heed_mse(t, a, b);
    CHECK_VALUES(loss, tiny, 2.5);
    CHECK(heed_backward(t, loss));
    CHECK_GRADS(a, tiny, -2, 1);
    REFUSED(heed_mse(t, a, heed_input(t, NULL, S(3))), "mse");
    CLOSE(c);
}

/* ---- after an error ---- */

TEST(ops_do_nothing_after_an_error) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = REALS(t, S(2, 2), 1, 2, 3, 4), *out[2];
    CHECK(!heed_matmul(t, x, heed_input(t, NULL, S(3, 1))));
    heed_tensor *y = heed_add(t, heed_matmul(t, NULL, x), x);
    y = heed_softmax(t, heed_permute(t, heed_reshape(t, y, S(4)), (int[]){0}), 1, NULL);
    CHECK(!heed_split(t, y, 0, 2, out));
    CHECK(!heed_concat(t, 0, 1, &y) && !heed_stop_gradient(t, y) && !heed_note(t, y, "x"));
    CHECK(!heed_attention_explicit(t, y, y, y, NULL, NULL, &(heed_attention_args){.heads = 1}));
    CHECK(!heed_xent(t, y, NULL, NULL) && !heed_backward(t, y));
    CHECK_HAS(heed_ctx_error(c), "inner 2 != 3"); /* still the first */
    CHECK(!heed_add(NULL, NULL, NULL) && !heed_relu(NULL, NULL) && !heed_reshape(NULL, x, 9, NULL));
    heed_clear(c);
    CLOSE(c);
}
