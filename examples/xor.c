/* XOR: two layers, one loss, one optimizer.
 *     cc xor.c $(pkg-config --cflags --libs heed) -o xor */
#include <heed/heed.h>
#include <stdio.h>

static const heed_real inputs[8] = {0, 0, 0, 1, 1, 0, 1, 1}, targets[4] = {0, 1, 1, 0};

/* (4,2) -> logits (4,1) */
static heed_tensor *model(heed_tape *t, const heed_linear *hidden, const heed_linear *out) {
    const int shape[] = {4, 2};
    heed_tensor *x = heed_input(t, inputs, 2, shape);
    return heed_linear_apply(out, t, heed_linear_act(hidden, t, x, HEED_TANH));
}

int main(void) {
    heed_options options = {.seed = 1};
    heed_linear_args up = {.in = 2, .out = 8}, down = {.in = 8, .out = 1};
    const int shape[] = {4, 1};
    heed_ctx *c = heed_open(&options);
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_linear hidden = {0}, out = {0};
    heed_linear_init(&hidden, s, "hidden", up);
    heed_linear_init(&out, s, "out", down);
    heed_optim_args adam = heed_optim_defaults(&heed_adam);
    adam.lr = 0.05f;
    heed_optim *o = heed_optim_new(s, &heed_adam, &adam);

    for (uint64_t step = 0; step < 300 && heed_ctx_status(c) == HEED_OK; step++) {
        heed_tape_begin(t, HEED_TRAIN, step);
        heed_tensor *y = heed_input(t, targets, 2, shape);
        heed_tensor *loss = heed_bce(t, model(t, &hidden, &out), y);
        heed_backward(t, loss);
        if (step % 100 == 0)
            printf("step %3d  loss %.4f\n", (int)step, loss ? (double)loss->x[0] : 0);
        heed_optim_step(o, 1);
    }

    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *p = heed_sigmoid(t, model(t, &hidden, &out));
    int right = 0;
    for (int i = 0; p && i < 4; i++) {
        printf("%.0f xor %.0f = %.3f\n", (double)inputs[2 * i], (double)inputs[2 * i + 1],
               (double)p->x[i]);
        right += (p->x[i] > 0.5f) == (targets[i] > 0.5f);
    }
    if (heed_ctx_status(c) != HEED_OK) fprintf(stderr, "xor: %s\n", heed_ctx_error(c));
    heed_close(c); /* frees all of the above */
    return right == 4 ? 0 : 1;
}
