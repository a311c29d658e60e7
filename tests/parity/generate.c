/* generate.c -- how long a step of generation takes, for comparison with generate.py.
 *
 *     generate RUN THREADS TOKENS [SAMPLES [REPEATS]]
 *
 * Continues one token by TOKENS, which must be within the block, as SAMPLES texts at once; prints
 * the best and the median milliseconds of a step, the first repetition apart. */
#include <heed/decode.h>
#include <heed/models.h>

#include <heed/heed.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 100 };

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool measure(const heed_run *r, heed_generation a, int repeats, double *times) {
    for (int i = -1; i < repeats; i++) {
        double begin = now();
        if (!heed_generate(r->model, r->self, r->tape, &a, NULL, NULL)) return false;
        if (i >= 0) times[i] = (now() - begin) / a.count;
    }
    qsort(times, (size_t)repeats, sizeof *times, ascending);
    return true;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return fprintf(stderr, "usage: generate RUN THREADS TOKENS [SAMPLES [REPEATS]]\n"), 2;
    int samples = argc > 4 ? atoi(argv[4]) : 1, repeats = argc > 5 ? atoi(argv[5]) : 9;
    if (repeats < 1 || repeats > MOST) repeats = MOST;
    double times[MOST];
    const int32_t begin = 1;
    heed_generation a = {.prompt = &begin,
                         .prompt_count = 1,
                         .count = atoi(argv[3]),
                         .temperature = 0.8,
                         .samples = samples};
    heed_ctx *c = heed_open(&(heed_options){.threads = atoi(argv[2])});
    heed_run *r = heed_run_open(c, argv[1], heed_models, NULL);
    bool ok = r && measure(r, a, repeats, times);
    if (ok)
        printf("%s, %s thread(s), %d sample(s): best %.3f, median %.3f ms a step\n", argv[1],
               argv[2], samples, times[0], times[repeats / 2]);
    else
        fprintf(stderr, "generate: %s\n", heed_ctx_error(c));
    heed_close(c);
    return !ok;
}
