/* The attention of a custom layer: probed as tensors during training or inference, then written
 * with row and column labels as a heat map, a CSV table and a vector picture.
 *     cc attention.c $(pkg-config --cflags --libs heed) -o attention */
#include <heed/heed.h>
#include <stdio.h>

enum { WORDS = 5, WIDTH = 8, HEADS = 2 };
static const char *const words[WORDS] = {"the", "hungry", "lion", "attacked", "zebras"};

/* A word is a unit vector; each word's target is the vector of the word before it. */
static heed_tensor *one_hot(heed_tape *t, int shift) {
    const int shape[] = {1, WORDS, WIDTH};
    heed_tensor *x = heed_input(t, NULL, 3, shape);
    for (int i = 0; x && i < WORDS; i++) x->x[i * WIDTH + (i + WORDS - shift) % WORDS] = 1;
    return x;
}

static heed_tensor *loss_of(heed_tape *t, const heed_mha *layer) {
    heed_tensor *y = heed_mha_apply(layer, t, one_hot(t, 0), NULL);
    return heed_mse(t, y, one_hot(t, 1));
}

/* Makes a record of one layer over one axis of words from the probed matrices. */
static heed_record *look(heed_ctx *c, const heed_tape *t) {
    heed_record *r = heed_record_new(c);
    heed_record_axis axis = {.name = "words", .count = WORDS, .labels = words};
    heed_record_block block = {.path = "layer", .beta = 0.5};
    heed_record_add_axis(r, &axis);
    heed_record_take(r, t, &block, 0, NULL);
    return heed_ctx_status(c) == HEED_OK ? r : NULL;
}

static void show(heed_ctx *c, const heed_record_block *b, int head) {
    heed_text text = {.c = c};
    char title[32];
    snprintf(title, sizeof title, "head %d", head + 1);
    heed_heatmap map = {.title = title,
                        .rows = WORDS,
                        .cols = WORDS,
                        .values = b->weights + head * WORDS * WORDS,
                        .row_labels = words,
                        .col_labels = words};
    heed_heatmap_text(&map, &text);
    if (text.s) fputs(text.s, stdout);
    heed_text_free(&text);
}

int main(void) {
    heed_options options = {.seed = 1};
    heed_ctx *c = heed_open(&options);
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_mha_args args = {.width = WIDTH, .heads = HEADS};
    heed_mha layer = {0};
    heed_mha_init(&layer, s, "layer", args);
    heed_optim_args adam = heed_optim_defaults(&heed_adam);
    adam.lr = 0.02f;
    heed_optim *o = heed_optim_new(s, &heed_adam, &adam);
    for (uint64_t step = 0; step <= 400 && heed_ctx_status(c) == HEED_OK; step++) {
        if (step == 400) heed_record_probe(t, "layer", false); /* only the last step is probed */
        heed_tape_begin(t, HEED_TRAIN, step);
        heed_tensor *loss = loss_of(t, &layer);
        heed_backward(t, loss);
        heed_optim_step(o, 1);
    }
    const heed_tensor *w = heed_probe_find(t, "layer.weights"); /* (1, heads, queries, keys) */
    heed_record *r = look(c, t);
    if (w && r) {
        printf("%s attends to %s with %.2f in head 1\n", words[2], words[1],
               (double)w->x[2 * WORDS + 1]);
        for (int h = 0; h < HEADS; h++) show(c, &r->blocks[0], h);
        heed_record_csv(c, r, "attention.csv");
        heed_heatmap map = {.rows = WORDS,
                            .cols = WORDS,
                            .values = r->blocks[0].weights,
                            .row_labels = words,
                            .col_labels = words};
        heed_panels picture = {.title = "head 1", .count = 1, .maps = &map};
        heed_panels_save(c, &picture, HEED_SVG, "attention.svg");
    }
    bool bad = heed_ctx_status(c) != HEED_OK || !w;
    if (bad) fprintf(stderr, "attention: %s\n", heed_ctx_error(c));
    heed_close(c);
    return bad;
}
