/* A model of one's own, trained by heed_fit with checkpoints and resume like the library's: does
 * attention find the marked one of eight numbers? own_model RUN
 *     cc own_model.c $(pkg-config --cflags --libs heed) -o own_model */
#include <heed/heed.h>
#include <stdio.h>
#include <string.h>

enum { LEN = 8, WIDTH = 16, MAX_ROWS = 256 };

typedef struct {
    heed_linear in, out;
    heed_mha attn;
    heed_real x[MAX_ROWS * LEN * 2]; /* (B,T,2): a value, and 1 at the marked place */
    heed_real y[MAX_ROWS];           /* the marked value */
} finder;

static bool init(void *self, heed_store *s, const heed_config *f) {
    finder *m = self;
    (void)f;
    heed_linear_init(&m->in, s, "in", (heed_linear_args){.in = 2, .out = WIDTH});
    heed_mha_init(&m->attn, s, "attn", (heed_mha_args){.width = WIDTH, .heads = 2});
    heed_linear_init(&m->out, s, "out", (heed_linear_args){.in = WIDTH, .out = 1});
    return true;
}

/* A batch is a function of its place alone, so a resumed run sees the same ones. */
static bool batch(void *self, void *data, heed_batch_at at, heed_batch *out) {
    finder *m = self;
    int rows = at.rows < MAX_ROWS ? at.rows : MAX_ROWS;
    heed_random r = heed_random_at(7, at.val ? "val" : "train", at.index, at.micro);
    (void)data;
    for (int b = 0; b < rows; b++) {
        int marked = (int)heed_random_below(&r, (uint64_t)b, LEN);
        for (int i = 0; i < LEN; i++) {
            heed_real *x = m->x + 2 * (b * LEN + i);
            x[0] = (heed_real)heed_random_normal(&r, 1000 + (uint64_t)(b * LEN + i));
            x[1] = i == marked;
            if (i == marked) m->y[b] = x[0];
        }
    }
    *out = (heed_batch){.rows = rows, .len = LEN, .x = m->x, .items = (size_t)(rows * LEN)};
    return true;
}

static uint64_t evals(void *self, void *data, int rows) {
    return (void)self, (void)data, (void)rows, 2;
}
static uint64_t epoch(void *self, void *data, int rows) {
    return (void)self, (void)data, (void)rows, 50;
}

/* The answer is the mean over positions of what attention gathered. */
static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    finder *m = self;
    heed_tensor *x = heed_input(t, b->x, 3, (int[]){b->rows, LEN, 2});
    x = heed_linear_act(&m->in, t, x, HEED_RELU);
    x = heed_mean_dim(t, heed_mha_apply(&m->attn, t, x, NULL, NULL, NULL), 1);
    heed_tensor *y = heed_reshape(t, heed_linear_apply(&m->out, t, x), 1, (int[]){b->rows});
    return heed_mse(t, y, heed_input(t, m->y, 1, (int[]){b->rows}));
}

static const heed_option options[] = {{0}};
static const heed_model model = {.name = "finder",
                                 .help = "finds the marked number",
                                 .options = options,
                                 .size = sizeof(finder),
                                 .init = init,
                                 .batch = batch,
                                 .eval_batches = evals,
                                 .epoch_batches = epoch,
                                 .loss = loss};

static void report(void *user, const heed_report *r) {
    (void)user;
    if (r->event == HEED_FIT_EVAL)
        printf("step %4d  validation loss %.4f\n", (int)r->step, r->val_loss);
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: own_model RUN\n"), 2;
    heed_ctx *c = heed_open(&(heed_options){.seed = 1});
    heed_config *f =
        heed_config_new(c, (const heed_option *const[]){heed_fit_options, options, NULL});
    heed_config_set(f, "steps", "400", "own_model.c", HEED_FROM_FLAG);
    heed_config_set(f, "lr", "0.01", "own_model.c", HEED_FROM_FLAG);
    heed_config_set(f, "eval-every", "100", "own_model.c", HEED_FROM_FLAG);
    heed_fit_result r = heed_fit(
        c, &(heed_fit_args){
               .model = &model, .config = f, .run = argv[1], .force = true, .report = report});
    bool bad =
        heed_ctx_status(c) != HEED_OK || !(r.best_loss < 0.5); /* the variance of the answer is 1 */
    if (heed_ctx_status(c) != HEED_OK) fprintf(stderr, "own_model: %s\n", heed_ctx_error(c));
    heed_close(c);
    return bad;
}
