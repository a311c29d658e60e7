/* Every op on its check cases, with each instruction set of this machine, and with several team
 * sizes on larger shapes: sets agree to rounding, team sizes to the bit. */
#include "fit/fit.h"
#include "kernels/kernels.h"
#include "test.h"

enum { PARTS = HEED__CASE_INPUTS + 1 };

/* Output and gradients of a case on a context of its own. */
typedef struct {
    heed_ctx *c;
    heed_tensor *part[PARTS];
    int count;
} outcome;

static outcome run(const heed_op *op, int index, const char *isa, int threads) {
    outcome o = {.c = heed_open(&(heed_options){.isa = isa, .threads = threads})};
    o.count = heed__case_run(o.c, op, index, heed_tape_new(o.c), o.part);
    if (!o.count) test_fail(__FILE__, __LINE__, "%s: %s", op->name, heed_ctx_error(o.c));
    return o;
}

static double largest(const heed_tensor *x) {
    double most = 0;
    for (size_t i = 0; i < x->size; i++) most = fmax(most, fabs((double)x->x[i]));
    return most;
}

/* Largest difference, as a share of the largest value of b. */
static double difference(const heed_tensor *a, const heed_tensor *b) {
    double most = 0, size = largest(b);
    for (size_t i = 0; i < b->size; i++) {
        double d = fabs((double)a->x[i] - (double)b->x[i]);
        if (!(d <= most)) most = d;
    }
    return most == 0 ? 0 : most / (size > 0 ? size : 1);
}

static void check_set(const heed_op *op, int index, const char *isa) {
    outcome plain = run(op, index, "generic", 1), set = run(op, index, isa, 1);
    CHECK(plain.count == set.count);
    for (int i = 0; i < plain.count && i < set.count; i++) {
        double d = difference(set.part[i], plain.part[i]);
        if (!(d <= 1e-5))
            test_fail(__FILE__, __LINE__, "%s, case %d, value %d: %s is off generic by %g",
                      op->name, index, i, isa, d);
    }
    heed_close(plain.c);
    heed_close(set.c);
}

TEST(sets_agree_on_every_op) {
    for (const char *const *isa = heed__kernels_available(); *isa; isa++)
        for (const heed_op *const *family = heed_op_table(); *family; family++)
            for (const heed_op *op = *family; op->name; op++)
                for (int i = 0; op->cases[i].shapes; i++) check_set(op, i, *isa);
}

/* For every op, shapes large enough that its kernels share the work, with the arguments of one of
 * its cases. */
static const struct {
    const char *op, *shapes;
    int args_of;
} large[] = {{"add", "9x65x129 65x129", 0},
             {"sub", "65x1x129 17x1", 0},
             {"mul", "9x65x129 129", 0},
             {"div", "60x501 501", 1},
             {"where", "m37x65x9 65x9 37x1x9", 0},
             {"scale", "9x65x129", 0},
             {"clamp", "60x501", 0},
             {"identity", "9x65x129", 0},
             {"relu", "60x1001", 0},
             {"gelu", "60x1001", 0},
             {"gelu_tanh", "60x1001", 0},
             {"silu", "60x1001", 0},
             {"tanh", "60x1001", 0},
             {"sigmoid", "60x1001", 0},
             {"exp", "60x1001", 0},
             {"log", "60x1001", 0},
             {"sqrt", "60x1001", 0},
             {"matmul", "257x129 129x131", 0},
             {"matmul", "9x65x33 9x33x70", 0},
             {"matmul", "9x65x33 33x70", 0},
             {"matmul_nt", "257x129 131x129", 0},
             {"matmul_tn", "129x257 129x131", 0},
             {"affine", "33x31x65 130x65 130", 0},
             {"affine", "513x64 256x64 256", 5},
             {"lora", "257x129 5x129 240x5", 1},
             {"softmax", "8x4x33x70 m8x1x33x70", 5},
             {"softmax", "700x70 m70", 5},
             {"log_softmax", "700x70 -", 3},
             {"hardmax", "700x70 -", 0},
             {"layer_norm", "700x65 65 65", 0},
             {"rms_norm", "700x65 65", 0},
             {"batch_norm", "700x65 65 65 65 65", 0},
             {"batch_norm", "700x65 65 65 65 65", 5},
             {"dropout", "60x1001", 0},
             {"dropout_add", "60x1001 60x1001", 0},
             {"embed", "50x129 i700:50", 0},
             {"gather", "50x129 i700:50", 0},
             {"sum", "60x1001", 0},
             {"mean", "60x1001", 0},
             {"sum_dim", "30x1001", 2},
             {"mean_dim", "30x1001", 3},
             {"max_dim", "30x1001", 2},
             {"reshape", "30x1002", 1},
             {"note", "30x1001", 0},
             {"permute", "7x33x4x17", 3},
             {"concat", "60x501 40x501", 1},
             {"slice", "7x33x4x170", 4},
             {"pad", "7x33x4x170", 4},
             {"xent", "700x65 i700:65", 1},
             {"affine_xent", "70x33 9001x33 9001 i70:9001", 2},
             {"bce", "30x1001 30x1001", 0},
             {"mse", "30x1001 30x1001", 0},
             {"conv2d", "5x19x17x9 33x9x3x3 33", 0},
             {"conv2d", "3x29x31x1 40x1x3x3 -", 0},
             {"conv2d", "7x9x9x35 40x35x1x1 40", 2},
             {"conv2d", "3x19x18x12 14x6x3x2 14", 5},
             {"conv2d", "2x45x40x24 9x24x3x3 9", 0},
             {"conv2d_transposed", "5x9x9x12 12x14x3x3 14", 3},
             {"max_pool", "9x19x18x17", 1},
             {"avg_pool", "9x19x18x17", 1},
             {"global_pool", "33x19x18x7", 0},
             {"recurrent", "33x2x65 65x65 65 33x65 -", 0},
             {"recurrent", "33x2x195 195x65 195 33x65 -", 6},
             {"recurrent", "33x2x260 260x65 260 33x130 -", 9},
             {"recurrent_attention",
              "33x5x40 195x105 195 195x65 195 33x65 33x31x66 33x31x65 66x65 1x66 1 m33x1x31", 2},
             {"attention", "9x33x12 9x65x12 9x65x6 - m9x65", 2},
             {"attention", "9x33x12 9x65x12 9x65x18 1x2x33x65 -", 11},
             {"attention", "9x33x24 9x65x12 9x65x18 1x1x33x65 -", 16},
             {"cross_attention", "9x33x12 9x65x30 - - m9x65", 1},
             {"self_attention", "9x65x28 - - 1x2x65x65 m9x65", 4},
             {"self_attention", "9x65x36 - - 1x4x65x65 m9x65", 6},
             {"rotary", "9x65x11", 2}};
enum { LARGE = sizeof large / sizeof *large };

/* The widths of the attention cases, times three, fit other heads than theirs. */
static heed_case enlarged(const heed_op *op, int line, heed_attention_args *attention) {
    heed_case k = op->cases[large[line].args_of];
    k.shapes = large[line].shapes;
    k.apart = false;
    if (!strcmp(op->name, "recurrent_attention")) /* sums of many parts: not all saturated */
        k.lo = -0.5, k.hi = 0.5;
    if (op->args_size == sizeof *attention) {
        int times = !strcmp(op->name, "self_attention") ? 2 : 3;
        *attention = *(const heed_attention_args *)k.args;
        attention->key *= times, attention->value *= times;
        k.args = attention;
    }
    return k;
}

static void check_teams(const heed_op *op, const char *isa) {
    outcome one = run(op, 0, isa, 1);
    const int teams[] = {2, 3, 8};
    for (size_t t = 0; t < sizeof teams / sizeof *teams; t++) {
        outcome many = run(op, 0, isa, teams[t]);
        for (int i = 0; i < one.count && i < many.count; i++)
            if (memcmp(one.part[i]->x, many.part[i]->x, one.part[i]->size * sizeof(heed_real)))
                test_fail(__FILE__, __LINE__, "%s of %s, %s: value %d differs with %d threads",
                          op->name, op->cases->shapes, isa, i, teams[t]);
        heed_close(many.c);
    }
    heed_close(one.c);
}

static void check_large(const heed_op *op, int line) {
    heed_attention_args attention;
    const heed_case cases[] = {enlarged(op, line, &attention), {0}};
    heed_op copy = *op;
    copy.cases = cases;
    for (const char *const *isa = heed__kernels_available(); *isa; isa++) {
        check_teams(&copy, *isa);
        check_set(&copy, 0, *isa);
    }
}

TEST(teams_and_sets_agree_on_large_shapes) {
    for (const heed_op *const *family = heed_op_table(); *family; family++)
        for (const heed_op *op = *family; op->name; op++) {
            int found = 0;
            for (int i = 0; i < LARGE; i++) {
                if (strcmp(large[i].op, op->name) != 0) continue;
                check_large(op, i);
                found++;
            }
            if (!found) test_fail(__FILE__, __LINE__, "%s has no large shapes here", op->name);
        }
}
