/* The memory of a training: its parts, and the ops of a step. */
#include "test.h"

TEST(memory_is_the_sum_of_its_parts) {
    enum { ROWS = 64, IN = 100, OUT = 50 };
    heed_ctx *c = heed_open(NULL);
    heed_store *s = heed_store_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *w = heed_param(s, "w", "kaiming", 2, (int[]){OUT, IN});
    heed_tensor *v = heed_param(s, "v", "kaiming", 2, (int[]){IN, OUT});
    heed_param(s, "frozen", "zero", 1, (int[]){1000});
    heed_freeze(s, "frozen");
    heed_optim *o = heed_optim_new(s, &heed_adamw, NULL);
    size_t real = sizeof(heed_real), affine = 0, steps = 0;
    heed_tape_begin(t, HEED_TRAIN, 0);
    heed_tensor *x = heed_want_grad(t, heed_input(t, NULL, 2, (int[]){ROWS, IN}));
    heed_tensor *y = heed_affine(t, heed_affine(t, x, w, NULL), v, NULL);
    heed_backward(t, heed_mean(t, y));
    heed_memory m = heed_memory_of(s, o, t, 12345);
    CHECK(m.before == 12345);
    CHECK(m.weights == (2 * OUT * IN + 1000) * real && m.gradients == 2 * OUT * IN * real);
    CHECK(m.optimizer == (4 * OUT * IN + 1) * real);
    CHECK(m.step == heed_tape_used(t).bytes);
    CHECK(m.total == m.before + m.weights + m.gradients + m.optimizer + m.step + m.other);
    for (int i = 0; i < m.op_count; i++) {
        steps += m.ops[i].forward + m.ops[i].backward;
        if (m.ops[i].op && strcmp(m.ops[i].op, "affine") == 0) affine = m.ops[i].forward;
        if (m.ops[i].op && strcmp(m.ops[i].op, "affine") == 0) CHECK(m.ops[i].count == 2);
    }
    CHECK(steps == m.step);
    CHECK(affine >= ROWS * (OUT + IN) * real && affine < ROWS * (OUT + IN) * real + 1000);
    CHECK(heed_memory_resident() > 100000);
    m = heed_memory_of(NULL, NULL, NULL, 7);
    CHECK(m.total == 7 && m.op_count == 1);
    CLOSE(c);
}
