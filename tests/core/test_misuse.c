/* test_misuse.c -- tensors of another tape and of an earlier step are refused by name: their
 * gradient would be zero without a word. NULL is an error with a reason where something was asked
 * for; that no function crashes on it is tests/null.sh's. */
#include "files.h"
#include "lab.h"

#include <pthread.h>

TEST(misuse_tensor_of_an_earlier_step) {
    lab l = lab_open(HEED_TRAIN);
    heed_tensor *w = heed_param_new(l.s, "w", "one", 2, SHAPE(2, 2));
    heed_tensor *x = normal(l.t, "x", 2, SHAPE(2, 2));
    heed_tensor *state = heed_matmul(heed_name_scope(l.t, "cell"), x, w);
    heed_tensor *loss = heed_mean(l.t, state);
    CHECK(heed_backward(l.t, loss));
    heed_tape_begin(l.t, HEED_TRAIN, 1);
    CHECK_FAILS(l.c, heed_matmul(heed_name_scope(l.t, "next"), state, w), HEED_USAGE,
                "matmul at next: matmul at cell (2,2) is of an earlier step");
    CHECK_FAILS(l.c, heed_add(l.t, w, x), HEED_USAGE, "add: an input (2,2) is of an earlier step");
    CHECK_FAILS(l.c, heed_backward(l.t, loss), HEED_USAGE, "backward: mean () is of an earlier");
    CHECK_FAILS(l.c, heed_want_grad(l.t, x), HEED_USAGE, "an earlier step");
    CHECK_FAILS(l.c, heed_stop_gradient(l.t, state), HEED_USAGE, "an earlier step");
    CHECK(!heed_want_grad(l.t, NULL));
    CHECK_FAILS(l.c, heed_backward(l.t, NULL), HEED_USAGE, "expected a loss, found NULL");
    CHECK(heed_backward(l.t, heed_mean(l.t, heed_matmul(l.t, w, w)))); /* a store's, any time */
    CLOSE(l.c);
}

static bool same_shape(heed_node *n) { return heed_op_output_like(n, 1); }

TEST(misuse_number_of_inputs) {
    static const heed_op two = {.name = "two", .inputs = "rr", .infer = same_shape};
    lab l = lab_open(HEED_EVAL);
    heed_tensor *x[2] = {normal(l.t, "x", 2, SHAPE(2, 2)), normal(l.t, "y", 2, SHAPE(2, 2))};
    CHECK(heed_push_list(l.t, &two, NULL, 2, x) != NULL);
    CHECK_FAILS(l.c, heed_push_list(l.t, &two, NULL, 1, x), HEED_USAGE, "expected all its inputs");
    CLOSE(l.c);
}

TEST(misuse_values_out_of_range) {
    lab l = lab_open(HEED_EVAL);
    heed_norm n;
    heed_norm_init(&n, l.s, "norm", (heed_norm_args){.kind = (heed_norm_kind)99, .width = 4});
    CHECK_FAILS(l.c, n.gain, HEED_USAGE, "kind of norm norm is wrong: found 99");
    CHECK_FAILS(l.c, heed_tokenizer_train(l.c, "a\0b", 3, (heed_tokenizer_args){.kind = "char"}),
                HEED_DATA, "a NUL byte");
    CLOSE(l.c);
}

TEST(misuse_tensor_of_another_tape) {
    lab l = lab_open(HEED_TRAIN);
    heed_tensor *w = heed_param_new(l.s, "w", "one", 2, SHAPE(2, 2));
    heed_tape *other = heed_tape_new(l.c);
    heed_tape_begin(other, HEED_TRAIN, 0);
    heed_tensor *hidden = heed_relu(heed_name_scope(other, "encoder"), w);
    CHECK_FAILS(l.c, heed_mean(l.t, hidden), HEED_USAGE,
                "relu at encoder (2,2) is of another tape");
    CHECK_FAILS(l.c, heed_backward(l.t, heed_mean(other, hidden)), HEED_USAGE, "another tape");
    CHECK(heed_mean(l.t, heed_input(l.t, hidden->x, 2, hidden->shape)) != NULL);
    CLOSE(l.c);
}

TEST(misuse_null_is_an_error_with_a_reason) {
    lab l = lab_open(HEED_TRAIN);
    heed_tensor *w = heed_param_new(l.s, "w", "one", 2, SHAPE(3, 3));
    heed_linear layer;
    static const heed_op *none;
    CHECK_FAILS(l.c, heed_input(l.t, w->x, 2, NULL), HEED_USAGE, "shape is wrong");
    CHECK_FAILS(l.c, heed_param_new(l.s, NULL, "zero", 1, SHAPE(1)), HEED_USAGE, "found NULL");
    CHECK_FAILS(l.c, heed_param_new(l.s, "v", NULL, 1, SHAPE(1)), HEED_USAGE, "parameter v");
    CHECK_FAILS(l.c, heed_scope_push(l.s, NULL), HEED_USAGE, "found NULL");
    CHECK_FAILS(l.c, heed_permute(l.t, w, NULL), HEED_USAGE, "permute");
    CHECK_FAILS(l.c, heed_push(l.t, none, NULL, w), HEED_USAGE, "expected an op");
    CHECK_FAILS(l.c, heed_concat(l.t, 0, 2, NULL), HEED_USAGE, "its inputs");
    CHECK_FAILS(l.c, heed_linear_apply(NULL, l.t, w), HEED_USAGE, "a layer");
    CHECK_FAILS(l.c, heed_recurrent_attention(l.t, NULL, NULL), HEED_USAGE, "recurrent_attention");
    heed_probe(l.t, NULL, false);
    CHECK_FAILS(l.c, NULL, HEED_USAGE, "probe");
    heed_linear_init(&layer, l.s, NULL, (heed_linear_args){.in = 3, .out = 3});
    CHECK_FAILS(l.c, layer.w, HEED_USAGE, "expected a name");
    heed_linear_init(NULL, l.s, "first", (heed_linear_args){.in = 3, .out = 3});
    CHECK_FAILS(l.c, NULL, HEED_USAGE, "layer first");
    CLOSE(l.c);
}

#ifdef __GLIBC__
static void *open_here(void *status) {
    heed_ctx *c = heed_open(NULL);
    *(heed_status *)status = heed_ctx_status(c);
    heed_close(c);
    return NULL;
}

/* A product would overflow the stack of such a thread. */
TEST(misuse_thread_with_a_small_stack) {
    const struct {
        size_t kB;
        heed_status status;
    } cases[] = {{512, HEED_FAILED}, {8192, HEED_OK}};
    for (int i = 0; i < 2; i++) {
        heed_status status = HEED_OK;
        pthread_t thread;
        pthread_attr_t about;
        pthread_attr_init(&about);
        pthread_attr_setstacksize(&about, cases[i].kB * 1024);
        CHECK(pthread_create(&thread, &about, open_here, &status) == 0);
        pthread_join(thread, NULL);
        pthread_attr_destroy(&about);
        CHECK(status == cases[i].status);
    }
}
#endif
