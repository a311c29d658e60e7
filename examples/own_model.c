/* own_model.c -- the program heed with a custom model and every command: an attention-only
 * transformer, without feed-forward layers, that predicts the next token. Elhage et al. 2021.
 *     own_model train attentive book.txt -o run; own_model attend run "a text" --html page.html
 *     cc own_model.c $(pkg-config --cflags --libs heed-program) -lm -o own_model */
#include <heed/heed.h>
#include <heed/program.h>
#include <math.h>

enum { MOST_LAYERS = 8 };
typedef struct {
    heed_tensor *token;              /* (V,d): embeddings, also the weights of the output */
    heed_position position;          /* (T,d) */
    heed_norm norm[MOST_LAYERS + 1]; /* one before each layer, and one after the last */
    heed_mha attn[MOST_LAYERS];
    int layers;
} attentive;

/* Each setting is a flag, a key of config.conf and a line of `own_model help train attentive`. */
typedef struct {
    int layers, heads, width, block, vocab;
} settings;
#define WHOLE(member, value, least, most, text)                                                    \
    HEED_ROW(settings, member, #member, value, .min = least, .max = most, .help = text)
static const heed_option options[] = {
    WHOLE(layers, "2", 1, MOST_LAYERS, "layers of attention"),
    WHOLE(heads, "4", 1, 64, "attention heads in a layer"),
    WHOLE(width, "64", 1, 4096, "numbers for each token"),
    WHOLE(block, "64", 2, 4096, "tokens in a sequence, at most"),
    WHOLE(vocab, "0", 0, 1 << 24, "most tokens; 0: the tokenizer's own"),
    {0}};

static bool init(void *self, heed_params *s, const void *chosen) {
    const settings *set = (const settings *)chosen;
    attentive *m = (attentive *)self;
    const int table[] = {set->vocab, set->width};
    heed_norm_args norm = {.width = set->width, .eps = 1e-5f};
    heed_mha_args attn = {.width = set->width, .heads = set->heads, .causal = true};
    m->layers = set->layers;
    m->token = heed_param_new(s, "token.weight", "normal:0.05", 2, table);
    heed_position_init(&m->position, s, "position", HEED_LEARNED, set->block, set->width);
    for (int i = 0; i <= m->layers; i++) {
        heed_scope_push(s, "layer.%d", i);
        heed_norm_init(&m->norm[i], s, "norm", norm);
        if (i < m->layers) heed_mha_init(&m->attn[i], s, "attn", attn);
        heed_scope_pop(s);
    }
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

/* ids (B,T) -> (B,T,V): row t is about the token after position t */
static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const attentive *m = (const attentive *)self;
    heed_tensor *x = heed_embed(heed_name_scope(t, "token"), m->token, in->x);
    x = heed_position_apply(&m->position, t, x, 0);
    for (int i = 0; i < m->layers; i++) {
        heed_tensor *y = heed_norm_apply(&m->norm[i], t, x);
        x = heed_add(t, x, heed_mha_apply(&m->attn[i], t, y, NULL));
    }
    x = heed_norm_apply(&m->norm[m->layers], t, x);
    return heed_affine(heed_name_scope(t, "head"), x, m->token, NULL);
}

static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    heed_model_input in = {.x = heed_ids(t, b->ids, b->rows, b->len)};
    return heed_xent(t, logits(self, t, &in), heed_ids(t, b->labels, b->rows, b->len), NULL);
}

static bool attending(const void *self, int index, heed_attention_info *out) {
    const attentive *m = (const attentive *)self;
    if (index >= m->layers) return false;
    const heed_mha *l = &m->attn[index];
    heed_attention_info about = {.path = l->name,
                                 .stack = HEED_DECODER,
                                 .layer = index,
                                 .heads = l->args.heads,
                                 .key = l->args.key,
                                 .value = l->args.value,
                                 .beta = 1 / sqrt(l->args.key),
                                 .causal = true};
    return *out = about, true;
}

/* A benchmark for `own_model bench`, and a small model for `own_model gradcheck`. */
static const heed_preset presets[] = {
    {"attentive-tiny", "benchmark workload", "width=128 vocab=65 batch=12", true}, {0}};
static const heed_model_case cases[] = {{"", "width=8 heads=2 block=6 vocab=13 batch=2"}, {0}};
static const heed_model model = {.name = "attentive",
                                 .help = "causal language model of attention alone",
                                 .data = &heed_texts_next,
                                 .embedding = "token",
                                 .options = options,
                                 .set = sizeof(settings),
                                 .defaults = "lr=0.003",
                                 .presets = presets,
                                 .cases = cases,
                                 .size = sizeof(attentive),
                                 .init = init,
                                 .logits = logits,
                                 .loss = loss,
                                 .attending = attending};
static const heed_model *const my_models[] = {&model, NULL};

int main(int argc, char **argv) { return heed_program(argc, argv, my_models); }
