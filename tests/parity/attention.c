/* attention.c -- how long attention alone takes, for comparison with attention.py.
 *
 *     attention THREADS TOKENS WIDTH CAUSAL [LAYERS [SECONDS]]
 *
 * 32 sequences of 4 heads. Prints the best GFLOP/s of forward, and of forward and backward
 * together, over calls of LAYERS ops of separate arrays: more than one, as in a training run, are
 * not in cache. */
#include <heed/heed.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SEQUENCES = 32, HEADS = 4, MOST = 64 };

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One call; adds the seconds of its parts. Sums of the outputs stand for later layers. */
static void call(heed_tape *t, heed_tensor *const *x, int layers, const heed_attention_args *a,
                 double *forward, double *backward) {
    heed_tensor *y[MOST], *loss = NULL;
    double begin = now();
    for (int i = 0; i < layers; i++) y[i] = heed_attention(t, x[i], NULL, NULL, NULL, NULL, a);
    *forward = now() - begin;
    for (int i = 0; i < layers; i++) {
        heed_tensor *sum = heed_sum(t, y[i]);
        loss = loss ? heed_add(t, loss, sum) : sum;
    }
    begin = now();
    heed_backward(t, loss);
    *backward = now() - begin;
}

int main(int argc, char **argv) {
    if (argc < 5)
        return fprintf(stderr, "usage: attention THREADS TOKENS WIDTH CAUSAL [LAYERS [SECONDS]]\n"),
               2;
    int tokens = atoi(argv[2]), width = atoi(argv[3]), layers = argc > 5 ? atoi(argv[5]) : 1;
    double seconds = argc > 6 ? atof(argv[6]) : 0.2, forward = 1e9, backward = 1e9;
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .threads = atoi(argv[1])});
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *x[MOST];
    if (layers < 1 || layers > MOST) layers = 1;
    for (int i = 0; i < layers; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        x[i] =
            heed_param_new(s, name, "normal:1", 3, (int[]){SEQUENCES, tokens, 3 * HEADS * width});
    }
    heed_attention_args a = {
        .heads = HEADS, .key = width, .value = width, .causal = atoi(argv[4]) != 0};
    double end = now() + seconds, f, b;
    for (uint64_t i = 0; heed_ctx_status(c) == HEED_OK && (i < 3 || now() < end); i++) {
        heed_tape_begin(t, HEED_TRAIN, i);
        call(t, x, layers, &a, &f, &b);
        if (f < forward) forward = f;
        if (b < backward) backward = b;
    }
    double work = 4.0 * SEQUENCES * HEADS * layers * tokens * tokens * width * 1e-9;
    printf("%4d tokens of width %2d%s, %s thread%s: %.0f GFLOP/s forward, %.0f and backward\n",
           tokens, width, a.causal ? ", causal" : "", argv[1], atoi(argv[1]) == 1 ? "" : "s",
           work / forward, 3 * work / (forward + backward));
    heed_close(c);
    return 0;
}
