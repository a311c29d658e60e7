/* The memory of a training run: its parts, and the ops of a step. */
#include "core/tape.h"
#include "test.h"

TEST_IN(memory_is_the_sum_of_its_parts, heed_open(NULL)) {
    enum { ROWS = 64, IN = 100, OUT = 50 };
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *w = heed_param_new(s, "w", "kaiming", 2, (int[]){OUT, IN});
    heed_tensor *v = heed_param_new(s, "v", "kaiming", 2, (int[]){IN, OUT});
    heed_param_new(s, "frozen", "zero", 1, (int[]){1000});
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
    CHECK(m.optimizer == (4 * OUT * IN + 4) * real);
    CHECK(m.step == heed__tape_used(t).bytes);
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
}

/* The second part is recorded over the first one's memory, so the larger one counts. */
typedef struct {
    heed_tensor *up, *down;
} part;

static heed_tensor *apply(const void *self, heed_tape *t, heed_tensor *const in[HEED_RECOMPUTE]) {
    const part *p = self;
    return heed_affine(t, heed_gelu(t, heed_affine(t, in[0], p->up, NULL)), p->down, NULL);
}

TEST(memory_of_parts_that_are_computed_again_is_that_of_the_largest) {
    enum { ROWS = 64, WIDTH = 8, WIDE = 4096, NARROW = 16 };
    size_t used[2];
    for (int wide_first = 0; wide_first < 2; wide_first++) {
        heed_ctx *c = heed_open(NULL);
        heed_params *s = heed_params_new(c);
        heed_tape *t = heed_tape_new(c);
        part parts[2];
        for (int i = 0; i < 2; i++) {
            int inner = i == wide_first ? NARROW : WIDE;
            parts[i].up = heed_param_new(s, i ? "up1" : "up0", "kaiming", 2, (int[]){inner, WIDTH});
            parts[i].down =
                heed_param_new(s, i ? "down1" : "down0", "kaiming", 2, (int[]){WIDTH, inner});
        }
        heed_tape_begin(t, HEED_TRAIN, 0);
        heed_tensor *x = heed_want_grad(t, heed_input(t, NULL, 2, (int[]){ROWS, WIDTH}));
        for (int i = 0; i < 2; i++)
            x = heed_recompute(t, apply, &parts[i], (heed_tensor *[HEED_RECOMPUTE]){x});
        CHECK(heed_backward(t, heed_mean(t, x)));
        used[wide_first] = heed__tape_used(t).bytes;
        CHECK(used[wide_first] > ROWS * WIDE * sizeof(heed_real));
        CLOSE(c);
    }
    CHECK(used[0] == used[1]);
}
