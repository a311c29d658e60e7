/* Every op on shapes, kinds and sizes that nobody chose: it computes or refuses, and never breaks.
 * The sanitized builds make this test sharp. */
#include "fit/fit.h"
#include "test.h"

typedef struct {
    heed_random r;
    uint64_t drawn;
} dice;

static int below(dice *d, uint32_t bound) {
    return (int)heed_random_below(&d->r, d->drawn++, bound);
}

/* Mostly dims that fit something: sizes repeat. */
static heed_tensor *any_tensor(dice *d, heed_tape *t) {
    int dims = below(d, 5), shape[HEED_DIMS];
    for (int i = 0; i < dims; i++) shape[i] = (int[]){0, 1, 2, 2, 3, 4, 4, 6}[below(d, 8)];
    int kind = below(d, 8);
    if (kind == 0) return NULL;
    if (kind <= 2) {
        static const int32_t zeros[6 * 6 * 6 * 6];
        heed_tensor *ids = heed_input_ids(t, zeros, dims, shape);
        for (size_t i = 0; ids && i < ids->size; i++) ids->i[i] = below(d, 4) - (i == 7);
        return ids;
    }
    heed_tensor *x = heed_input(t, NULL, dims, shape);
    for (size_t i = 0; x && i < x->size; i++) x->x[i] = (heed_real)(below(d, 100) / 50.0 - 1);
    return below(d, 4) ? heed_want_grad(t, x) : x;
}

static const heed_case *any_case(dice *d, const heed_op *op) {
    uint32_t cases = 0;
    while (op->cases[cases].shapes) cases++;
    return &op->cases[below(d, cases)];
}

/* After a call that may have failed: only by the inputs' fault. */
static void forgive(heed_ctx *c) {
    heed_status s = heed_ctx_status(c);
    if (s != HEED_OK && s != HEED_USAGE && s != HEED_DATA)
        test_fail(__FILE__, __LINE__, "status %d: %s", (int)s, heed_ctx_error(c));
    heed_clear(c);
}

static void try_random(dice *d, heed_ctx *c, heed_tape *t, const heed_op *op) {
    heed_tensor *in[16];
    heed_tape_begin(t, (heed_mode)below(d, 3), 1);
    int count = 0;
    for (const char *kind = op->inputs; *kind; kind++) count += *kind != '?';
    if (strchr(op->inputs, '*')) count = below(d, 4);
    CHECK(count <= (int)(sizeof in / sizeof *in));
    for (int i = 0; i < count; i++) in[i] = any_tensor(d, t);
    heed_tensor *y = heed_push_list(t, op, any_case(d, op)->args, count, in);
    if (y && y->wants_grad) {
        heed_tensor *gy = heed_scale(t, y, 0, 1);
        CHECK(heed_backward_from(t, y, gy->x));
    }
    forgive(c);
}

/* A case of the op with a digit or two of its shapes replaced. True if the op took it. */
static bool try_changed(dice *d, heed_ctx *c, heed_tape *t, const heed_op *op) {
    heed_case cases[] = {*any_case(d, op), {0}};
    heed_op copy = *op;
    heed_tensor *values[HEED__CASE_INPUTS + 1];
    char text[128] = "";
    strncpy(text, cases[0].shapes, sizeof text - 1);
    for (int changes = 1 + below(d, 2); changes > 0; changes--) {
        char *digit = &text[below(d, (uint32_t)strlen(text))];
        if (*digit >= '0' && *digit <= '9') *digit = (char)('0' + below(d, 6));
    }
    cases[0].shapes = text;
    copy.cases = cases;
    int count = heed__case_run(c, &copy, 0, t, values);
    forgive(c);
    return count > 0;
}

TEST(ops_compute_or_refuse_whatever_they_get) {
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_tape *t = heed_tape_new(c);
    for (const heed_op *const *family = heed_op_table(); *family; family++)
        for (const heed_op *op = *family; op->name; op++) {
            dice d = {heed_random_at(1, op->name, 0, 0), 0};
            int taken = 0;
            for (int i = 0; i < 500; i++) try_random(&d, c, t, op);
            for (int i = 0; i < 300; i++) taken += try_changed(&d, c, t, op);
            CHECK(taken > 10);
        }
    CLOSE(c);
}
