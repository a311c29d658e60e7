/* A masked language model with a custom training loop: own_loop TEXTFILE. Each line is a row.
 *     cc own_loop.c $(pkg-config --cflags --libs heed) -o own_loop */
#include <heed/heed.h>
#include <stdio.h>

enum { LAYERS = 2, WIDTH = 48, HEADS = 4, LEN = 24, ROWS = 16, STEPS = 200 };

typedef struct {
    heed_tensor *tok;
    heed_position pos;
    heed_block block[LAYERS];
    heed_linear head;
} mlm;

static void mlm_init(mlm *m, heed_params *s, int vocab) {
    const int table[] = {vocab, WIDTH};
    heed_linear_args head = {.in = WIDTH, .out = vocab};
    heed_block_args args = {.attn = {.width = WIDTH, .heads = HEADS},
                            .mlp = {.width = WIDTH, .inner = 4 * WIDTH, .act = HEED_GELU},
                            .pre_norm = true,
                            .eps = 1e-5f};
    m->tok = heed_param_new(s, "tok", "normal:0.02", 2, table);
    heed_position_init(&m->pos, s, "pos", HEED_LEARNED, LEN, WIDTH);
    for (int i = 0; i < LAYERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "block.%d", i);
        heed_block_init(&m->block[i], s, name, args);
    }
    heed_linear_init(&m->head, s, "head", head);
}

/* ids (B,T) -> logits (picked positions, vocab): the head is applied only where there is a loss */
static heed_tensor *mlm_apply(const mlm *m, heed_tape *t, const heed_batch *b) {
    heed_block_inputs with = {.pad = b->pad ? heed_ids(t, b->pad, b->rows, b->len) : NULL};
    heed_tensor *x = heed_embed(t, m->tok, heed_ids(t, b->ids, b->rows, b->len));
    x = heed_position_apply(&m->pos, t, x, 0);
    for (int i = 0; i < LAYERS; i++) x = heed_block_apply(&m->block[i], t, x, &with);
    x = heed_gather(t, x, heed_input_ids(t, b->masked_positions, 1, &b->masked_count));
    return heed_linear_apply(&m->head, t, x);
}

/* Besides those of the data's kind: what to open, and the longest row. */
static const heed_option settings[] = {
    {.name = "data", .kind = HEED_OPTION_STRING, .value = ""},
    {.name = "block", .kind = HEED_OPTION_INT, .value = "24", .min = 3, .max = 1024},
    {.name = NULL}};

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: own_loop TEXTFILE\n"), 2;
    heed_options options = {.seed = 1};
    const heed_option *tables[] = {heed_texts_masked.options, settings, NULL};
    heed_ctx *c = heed_open(&options);
    heed_config *f = heed_config_new(c, tables);
    heed_config_set(f, "data", argv[1], "the argument", HEED_FROM_FLAG);
    heed_config_set_list(f, "tokenizer=word packing=lines val-split=0", "", HEED_FROM_FLAG);
    heed_data *d = heed_data_open(c, f, &heed_texts_masked, NULL);
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    mlm m = {0};
    mlm_init(&m, s, d ? heed_vocab_size(d->tokenizer) : 1);
    heed_optim_args adamw = heed_optim_defaults(&heed_adamw);
    adamw.lr = 2e-3f;
    heed_optim *o = heed_optim_new(s, &heed_adamw, &adamw);
    double first = 0, last = 0;
    for (uint64_t i = 0; i < STEPS && heed_ctx_status(c) == HEED_OK; i++) {
        heed_batch_at at = {.index = i, .rows = ROWS};
        heed_batch b;
        heed_texts_masked.batch(d, at, &b);
        heed_tape_begin(t, HEED_TRAIN, i);
        heed_tensor *logits = mlm_apply(&m, t, &b);
        heed_tensor *loss =
            heed_xent(t, logits, heed_input_ids(t, b.labels, 1, &b.masked_count), NULL);
        heed_backward(t, loss);
        heed_optim_step(o, 1);
        if (loss && i < 10) first += (double)loss->x[0] / 10;
        if (loss && i >= STEPS - 10) last += (double)loss->x[0] / 10;
    }
    heed_save(s, "own_loop.safetensors"); /* does nothing after an error */
    printf("%zu parameters, loss %.3f -> %.3f, weights in own_loop.safetensors\n",
           heed_params_numel(s), first, last);
    bool bad = heed_ctx_status(c) != HEED_OK || !(last < first);
    if (heed_ctx_status(c) != HEED_OK) fprintf(stderr, "own_loop: %s\n", heed_ctx_error(c));
    heed_close(c);
    return bad;
}
