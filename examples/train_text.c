/* Trains a language model on a text file and uses it: train_text FILE RUN "prompt".
 *     cc train_text.c $(pkg-config --cflags --libs heed) -lm -o train_text */
#include <heed/heed.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void report(void *user, const heed_report *r) {
    (void)user;
    if (r->event == HEED_FIT_EVAL)
        printf("step %lld: loss %.4f, on held-out text %.4f\n", (long long)r->step, r->loss,
               r->val_loss);
}

/* Returns the most probable token after a text, from the last row of the logits (1,T,V). */
static int next_token(heed_run *r, const heed_example *e, double *p) {
    int n = (int)e->text.tokens.count, best = 0;
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_model_input in = {.x = heed_ids(r->tape, e->text.tokens.ids, 1, n)};
    heed_tensor *y = r->model->logits(r->self, r->tape, &in);
    if (!y) return -1;
    int vocab = y->shape[2];
    const heed_real *row = y->x + (size_t)(n - 1) * (size_t)vocab;
    double sum = 0;
    for (int i = 1; i < vocab; i++)
        if (row[i] > row[best]) best = i;
    for (int i = 0; i < vocab; i++) sum += exp((double)row[i] - (double)row[best]);
    *p = 1 / sum;
    return best;
}

static void predict(heed_run *r, const char *prompt) {
    heed_reader how = heed_run_reader(r);
    heed_example e = {.target = {.tokens = {.c = NULL}}};
    double p = 0;
    int id = heed_example_text(&how, prompt, strlen(prompt), &e) ? next_token(r, &e, &p) : -1;
    if (id >= 0)
        printf("after \"%s\": \"%s\", p %.3f\n", prompt, heed_token_text(r->tokenizer, id), p);
    heed_example_free(&e);
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: train_text FILE RUN PROMPT\n"), 2;
    heed_options options = {.seed = 1};
    heed_train_args how = {.model = &heed_model_gpt,
                           .data = argv[1],
                           .settings = "tokenizer=word layers=2 heads=2 width=32 block=8 "
                                       "packing=lines batch=8 steps=100",
                           .run = argv[2],
                           .force = true,
                           .report = report};
    heed_ctx *c = heed_open(&options);
    heed_train(c, &how);
    heed_run *r = heed_run_open(c, argv[2], heed_models, NULL);
    if (r) predict(r, argv[3]);
    bool bad = heed_ctx_status(c) != HEED_OK;
    if (bad) fprintf(stderr, "train_text: %s\n", heed_ctx_error(c));
    heed_close(c); /* the context owns the run */
    return bad;
}
