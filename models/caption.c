/* caption.c -- a text about a picture: a grid of features h_1 .. h_n (grid.h), and a decoder that
 * looks at another part of it for every word. A recurrent decoder (decoder.h) begins at
 *
 *     s_0 = tanh(W mean_i h_i + b)
 *
 * and attends to the grid, softly or hard, or has one dense map of the flattened grid as its fixed
 * context. Xu et al. 2015, sec. 3; Vinyals et al. 2015. Or the decoder is the Transformer's
 * (block_decoder.h). */
#include "parts/block_decoder.h"
#include "parts/choose.h"
#include "parts/decoder.h"
#include "parts/grid.h"

#include <heed/image.h>

#include <stdio.h>

typedef struct {
    model_result result;
    int vocab, len, width;
    heed_real smoothing;
    grid_encoder grid;
    heed_linear bridge[HEED_RNN_LAYERS]; /* W, b of s_0 */
    heed_linear context;                 /* the dense map of the flattened grid; w NULL: absent */
    bool transformer;
    decoder recurrent;
    block_decoder blocks;
} caption;

static const heed_option options[] = {
    WHOLE("image-size", "0", 0, 4096, "side of the pictures in pixels; 0: from the data"),
    WHOLE("channels", "0", 0, 3, "1: grey, 3: colour; 0: from the data"),
    GRID_OPTIONS,
    CHOICE("decoder", "rnn", "rnn|transformer", "recurrent layers, or blocks"),
    WHOLE("decoder-layers", "1", 1, HEED_RNN_LAYERS, "recurrent layers or blocks of the decoder"),
    CELL_OPTIONS("gru", "rnn|gru|lstm"),
    ATTEND_MORE,
    PATCH_SIDE_OPTION,
    CHOICE("pool", "mean", "cls|mean", "vit: s_0 is a map of the [CLS] token, or of the mean"),
    POSITIONS_OPTION("sinusoidal",
                     "encoding of positions: of words, and of rows and columns; rotary: "
                     "in self-attention, the grid of a cnn as with sinusoidal"),
    WHOLE("layers", "2", 1, MODEL_LAYERS, "vit: blocks"),
    STACK_SIZE_OPTIONS("4", "96"),
    WHOLE("key-width", "0", 0, 1 << 16,
          "of queries and keys per head; 0: not projected, or for blocks width / heads"),
    WHOLE("value-width", "0", 0, 1 << 16,
          "of values per head; 0: not projected, or for blocks width / heads"),
    STACK_NORM_OPTIONS("pre", "gelu", "1e-5"),
    HARD_OPTION,
    ATTEND_OPTION,
    STACK_OUT_OPTIONS,
    INIT_STD("0"),
    PATCH_END_OPTIONS,
    WHOLE("block", "32", 2, MODEL_STEPS, "tokens in a caption, at most"),
    VOCAB_OPTION,
    NUMBER("smoothing", "0", 0, 0.99, "share of the target spread over all tokens, in training"),
    ATTEND_CONDITIONS,
    HEED_WHEN("filters stages", "encoder=cnn"),
    HEED_WHEN("layers pool patch final-norm scale-residual", "encoder=vit"),
    HEED_WHEN("heads kv-heads ff ff-kind norm norm-kind norm-eps activation beta attn-out bias "
              "rope-theta "
              "recompute",
              "encoder=vit decoder=transformer"),
    HEED_WHEN("rope-theta", "positions=rotary"),
    HEED_WHEN("all-rows", ""),
    HEED_WHEN("activation", "ff-kind=plain"),
    HEED_WHEN("cell cell-activation one-bias attention attention-width attention-biases",
              "decoder=rnn"),
    HEED_WHEN("cell-activation", "cell=rnn"),
    {0}};

static const heed_preset presets[] = {
    {"caption-shapes", "benchmark: GRU and soft attention over 8 x 8 cells of 32 x 32 pixels",
     "image-size=32 channels=3 block=16 batch=32 vocab=32 lr=1e-3", true},
    {0}};

#define SMALL                                                                                      \
    "image-size=8 channels=2 filters=4 stages=2 width=8 heads=2 ff=12 block=4 vocab=9 batch=3 "
static const heed_model_case cases[] = {
    {"", SMALL "init-std=0.5"},
    {"fixed", SMALL "init-std=0.5 attention=none"},
    {"scaled",
     SMALL "init-std=0.7 stages=1 attention=scaled key-width=3 dropout=0.2 decoder-layers=2"},
    {"vit", SMALL "init-std=0.5 encoder=vit patch=4 pool=cls cell=rnn"},
    {"transformer", SMALL "init-std=0.7 decoder=transformer positions=learned smoothing=0.1"},
    {"llama", SMALL LLAMA "kv-heads=1 decoder=transformer init-std=0.5"},
    {0}};

/* ---- parameters ---- */

static bool read_sizes(caption *m, heed_ctx *c, const heed_config *f) {
    int size = heed__model_int(f, "image-size"), channels = heed__model_int(f, "channels");
    m->vocab = heed__model_int(f, "vocab");
    m->len = heed__model_int(f, "block");
    m->width = heed__model_int(f, "width");
    m->smoothing = heed__model_real(f, "smoothing");
    m->transformer = heed__model_is(f, "decoder", "transformer");
    m->result.whole_logits = heed__model_on(f, "whole-logits");
    if (size < 1 || channels < 1 || m->vocab < 1)
        return heed_fail(
            c, HEED_USAGE,
            "size of the model is wrong: expected image-size, channels and vocab of at least "
            "1, found %d, %d, %d; hint: `image-size = 64`, `channels = 3`, `vocab`",
            size, channels, m->vocab);
    if (m->transformer && heed__model_is(f, "attention", "none"))
        return heed_fail(c, HEED_USAGE,
                         "`attention = none` does not fit: expected a recurrent decoder, found "
                         "`decoder = transformer`; hint: `decoder = rnn`");
    return true;
}

static void embeddings(caption *m, heed_store *s, const heed_config *f) {
    heed_tensor **target = m->transformer ? &m->blocks.target : &m->recurrent.target;
    heed_drop *drop = m->transformer ? &m->blocks.drop : &m->recurrent.drop;
    heed_scope(s, "embed");
    *target = heed_param(s, "target.weight", m->transformer ? "normal:0.02" : "normal:1", 2,
                         (int[]){m->vocab, m->width});
    if (m->transformer)
        heed_position_init(&m->blocks.place, s, "target_position", heed__model_positions(f), m->len,
                           m->width);
    heed_drop_init(drop, s, "target_drop", heed__model_real(f, "dropout"));
    heed_unscope(s);
}

static bool recurrent(caption *m, heed_store *s, const heed_config *f) {
    int layers = heed__model_int(f, "decoder-layers");
    int states = m->width * (heed__model_is(f, "cell", "lstm") ? 2 : 1);
    const char *init = heed__decoder_initial(&m->recurrent);
    for (int i = 0; i < layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "bridge.%d", i);
        heed_linear_init(&m->bridge[i], s, name,
                         (heed_linear_args){.in = m->width, .out = states, .init = init});
    }
    if (m->recurrent.fixed)
        heed_linear_init(&m->context, s, "context",
                         (heed_linear_args){.in = heed__grid_count(&m->grid) * m->width,
                                            .out = m->width,
                                            .init = init});
    return heed__decoder_init(&m->recurrent, s, f, layers, m->width, m->vocab);
}

/* Only the attention to the grid is hard. */
static bool blocks(caption *m, heed_store *s, const heed_config *f) {
    block_stack stack = {.layers = 0};
    heed__stack_read(&stack, f, (stack_kind){.name = "decoder"});
    heed_block_args a = heed__stack_block_args(&stack, f, false);
    a.cross = a.attn;
    a.attn.hard = false;
    a.cross.rotary = 0; /* words and cells have no common positions */
    m->blocks.layers = heed__model_int(f, "decoder-layers");
    m->blocks.len = m->len;
    m->blocks.beta = stack.beta;
    m->blocks.recompute = stack.recompute;
    m->blocks.scale = 1;
    heed__block_decoder_init(&m->blocks, s, a);
    if (a.pre_norm)
        heed_norm_init(&m->blocks.norm, s, "decoder.norm", heed__model_norm(f, m->width));
    heed_linear_init(&m->blocks.head, s, "head",
                     (heed_linear_args){.in = m->width, .out = m->vocab, .init = a.attn.init});
    return heed_ctx_status(heed_store_ctx(s)) == HEED_OK;
}

static bool init(void *self, heed_store *s, const void *f) {
    caption *m = self;
    if (!read_sizes(m, heed_store_ctx(s), f)) return false;
    heed__decoder_read(&m->recurrent, f);
    if (!heed__grid_init(&m->grid, s, f)) return false;
    embeddings(m, s, f);
    if (!(m->transformer ? blocks(m, s, f) : recurrent(m, s, f))) return false;
    heed_set_rows(s, "embed.target.weight", HEED_ROWS_TOKENS);
    heed_set_rows(s, "embed.grid_position.weight", HEED_ROWS_GRID);
    heed_set_rows(s, "head.*", HEED_ROWS_TOKENS);
    return true;
}

static bool chosen(const void *self, heed_config *f) {
    return heed__grid_chosen(&((const caption *)self)->grid, f);
}

/* ---- forward ---- */

/* h (B,n,width), mean (B,width) */
static bool begin(const caption *m, heed_tape *t, heed_tensor *h, heed_tensor *mean,
                  decoder_reading *r) {
    for (int i = 0; i < m->recurrent.cells.args.layers; i++)
        r->state[i] = heed_linear_act(&m->bridge[i], t, mean, HEED_TANH);
    if (m->recurrent.fixed) {
        h = heed_reshape(t, h, 3, (int[]){h->shape[0], 1, -1});
        r->context = heed_linear_apply(&m->context, t, h);
    } else
        heed__decoder_attend_to(&m->recurrent, t, h, NULL, r);
    return heed_ctx_status(heed_tape_ctx(t)) == HEED_OK;
}

/* What the output layer reads. */
static heed_tensor *features(const caption *m, heed_tape *t, const heed_model_input *in) {
    decoder_reading r = {.stepping = false};
    heed_tensor *mean, *h = in->target ? heed__grid_apply(&m->grid, t, in->x, &mean) : NULL;
    if (!h) return NULL;
    if (m->transformer)
        return heed__block_decoder_apply(&m->blocks, t, h, NULL, in->target, 0, NULL);
    return begin(m, t, h, mean, &r) ? heed__decoder_apply(&m->recurrent, t, in->target, &r) : NULL;
}

static const heed_linear *head(const caption *m) {
    return m->transformer ? &m->blocks.head : &m->recurrent.head;
}

static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const caption *m = self;
    return heed_linear_apply(head(m), t, features(m, t, in));
}

/* Teacher forcing: token t + 1 is predicted from the true tokens up to t. */
static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    caption *m = self;
    int size = m->grid.size;
    heed_model_input in = {
        .x = heed_input(t, b->x, 4, (int[]){b->rows, size, size, m->grid.channels}),
        .target = heed_ids(t, b->ids, b->rows, b->len)};
    heed_tensor *x = features(m, t, &in), *labels = heed_ids(t, b->labels, b->rows, b->len);
    return heed__model_head_loss(&m->result, t, head(m), x, labels, m->smoothing);
}

/* ---- attention ---- */

static bool attending(const void *self, int index, heed_attending *out) {
    const caption *m = self;
    const block_stack *encoder = &m->grid.vit.stack;
    if (heed__stack_attending(encoder, HEED_ENCODER, index, out)) return true;
    index -= encoder->layers;
    if (m->transformer) return heed__block_decoder_attending(&m->blocks, index, out);
    return !m->recurrent.fixed && heed__decoder_attending(&m->recurrent, index, out);
}

static void average(void *self, bool on) {
    heed__decoder_average(&((caption *)self)->recurrent, on);
}

static bool grid(const void *self, heed_grid *out) {
    *out = ((const caption *)self)->grid.cells;
    return true;
}

/* ---- decoding step by step ---- */

static int length(const void *self) { return ((const caption *)self)->len; }

static bool read_picture(const void *self, heed_tape *t, heed_tensor *x, heed_source *out) {
    const caption *m = self;
    decoder_reading r = {.stepping = false};
    heed_tensor *mean, *h = heed__grid_apply(&m->grid, t, x, &mean);
    if (!h) return false;
    if (m->transformer) return heed__block_decoder_keep(&m->blocks, t, h, out);
    return begin(m, t, h, mean, &r) &&
           heed__decoder_keep(&m->recurrent, &r, heed__grid_count(&m->grid), out);
}

static size_t state_size(const void *self, const heed_source *source) {
    const caption *m = self;
    return m->transformer ? heed__block_decoder_state(&m->blocks)
                          : heed__decoder_state(&m->recurrent, source);
}

static void start(const void *self, const heed_source *source, heed_real *state) {
    const caption *m = self;
    if (!m->transformer) heed__decoder_start(&m->recurrent, source, state);
}

static heed_tensor *next(const void *self, heed_tape *t, const heed_source *source,
                         heed_real *state, int at, heed_tensor *ids) {
    const caption *m = self;
    return m->transformer ? heed__block_decoder_next(&m->blocks, t, source, state, at, ids)
                          : heed__decoder_next(&m->recurrent, t, source, state, ids);
}

static const heed_steps steps = {.length = length,
                                 .read = read_picture,
                                 .state = state_size,
                                 .start = start,
                                 .next = next,
                                 .batched = true};

const heed_model heed_model_caption = {
    .name = "caption",
    .help = "pictures with captions: attention to a grid of features",
    .data = &heed_pictures_captioned,
    .embedding = "embed.patch",
    .options = options,
    .defaults = "lr=0.002 warmup=0.1 smoothing=0.1",
    .presets = presets,
    .cases = cases,
    .size = sizeof(caption),
    .init = init,
    .logits = logits,
    .loss = loss,
    .metrics = heed__model_text_metrics,
    .attending = attending,
    .average = average,
    .grid = grid,
    .chosen = chosen,
    .choose = heed__choose_caption,
    .choices = CAPTION_CHOICES,
    .steps = &steps,
};
