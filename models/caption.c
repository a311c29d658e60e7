/* caption.c -- a text about a picture: a grid of features, and a decoder that looks at another part
 * of it for every word.
 *
 *     grid h_i (i = 1 .. n): CNN or patches, and the sinusoids of its row and column
 *     s_0 = tanh(W mean_i h_i + b)
 *
 * The decoder is recurrent (decoder.h) with attention to the grid, soft or hard, or with one dense
 * map of the flattened grid as the fixed context; or it is the Transformer's (block_decoder.h). Xu
 * et al. 2015, sec. 3; one to many: Vinyals et al. 2015. */
#include "block_decoder.h"
#include "convnet.h"
#include "decoder.h"

#include <heed/image.h>

#include <stdio.h>

typedef struct {
    model_result result;
    int size, channels, vocab, len, width;
    int side; /* cells along each side of the grid */
    heed_real smoothing;
    convnet net;
    heed_linear grid; /* from the network's channels to width */
    heed_position place;
    heed_drop drop;                      /* of the grid */
    heed_linear bridge[HEED_RNN_LAYERS]; /* W, b of s_0 */
    heed_linear context;                 /* the dense map of the flattened grid; w NULL: absent */
    bool transformer;
    decoder recurrent;
    block_decoder blocks;
} caption;

static const heed_option options[] = {
    WHOLE("image-size", "0", 0, 4096, "side of the pictures in pixels; 0: from the data"),
    WHOLE("channels", "0", 0, 3, "1: grey, 3: colour; 0: from the data"),
    WHOLE("filters", "16", 1, 1 << 14,
          "channels of the first stage; each later one has twice as many"),
    WHOLE("stages", "0", 0, CONVNET_STAGES,
          "each but the first halves height and width; 0: until 8 cells a side"),
    CHOICE("decoder", "rnn", "rnn|transformer", "recurrent layers, or blocks"),
    WHOLE("decoder-layers", "1", 1, HEED_RNN_LAYERS, "recurrent layers or blocks of the decoder"),
    CELL_OPTIONS("gru", "rnn|gru|lstm"),
    ATTEND_OPTIONS,
    WHOLE("key-width", "0", 0, 1 << 16,
          "of queries and keys per head; 0: not projected, or for blocks width / heads"),
    WHOLE("value-width", "0", 0, 1 << 16,
          "of values per head; 0: not projected, or for blocks width / heads"),
    HARD_OPTION,
    STACK_OPTIONS("2", "4", "96", "pre", "gelu", "1e-5"),
    INIT_STD("0"),
    CHOICE("positions", "sinusoidal", "learned|sinusoidal|none",
           "encoding of positions; of the grid: of row and column"),
    WHOLE("block", "32", 2, MODEL_STEPS, "tokens in a caption, at most"),
    VOCAB_OPTION,
    NUMBER("smoothing", "0", 0, 0.99, "share of the target spread over all tokens, in training"),
    {0}};

#define SMALL                                                                                      \
    "image-size=9 channels=2 filters=3 stages=2 width=8 heads=2 ff=12 block=5 vocab=11 batch=2 "
static const heed_model_case cases[] = {
    {"", SMALL "init-std=0.5"},
    {"fixed", SMALL "init-std=0.3 attention=none cell=lstm"},
    {"scaled", SMALL "init-std=0.5 attention=scaled key-width=3 dropout=0.2 decoder-layers=2"},
    {"transformer", SMALL "init-std=0.5 decoder=transformer positions=learned smoothing=0.1"},
    {0}};

/* ---- parameters ---- */

static bool read_sizes(caption *m, heed_ctx *c, const heed_config *f) {
    m->size = heed__model_int(f, "image-size");
    m->channels = heed__model_int(f, "channels");
    m->vocab = heed__model_int(f, "vocab");
    m->len = heed__model_int(f, "block");
    m->width = heed__model_int(f, "width");
    m->smoothing = heed__model_real(f, "smoothing");
    m->transformer = heed__model_is(f, "decoder", "transformer");
    if (m->size < 1 || m->channels < 1 || m->vocab < 1)
        return heed_fail(c, HEED_USAGE,
                         "model has no size: expected image-size, channels and vocab of at least "
                         "1, found %d, %d, %d; hint: `image-size = 64`, `channels = 3`, `vocab`",
                         m->size, m->channels, m->vocab);
    if (m->transformer && heed__model_is(f, "attention", "none"))
        return heed_fail(c, HEED_USAGE,
                         "`attention = none` does not fit: expected a recurrent decoder, found "
                         "`decoder = transformer`; hint: `decoder = rnn`");
    return true;
}

/* The first convolution and each stage but the first halve the sides. */
static void encoder(caption *m, heed_store *s, const heed_config *f) {
    enum { USUAL_SIDE = 8 };
    convnet_args a = {.channels = m->channels,
                      .width = heed__model_int(f, "filters"),
                      .stride = 2,
                      .stages = heed__model_int(f, "stages"),
                      .blocks = 1,
                      .dropout = heed__model_real(f, "dropout")};
    int most = a.stages ? a.stages : CONVNET_STAGES, stages = 1;
    m->side = (m->size + 1) / 2;
    for (; stages < most && (a.stages || m->side > USUAL_SIDE); stages++)
        m->side = (m->side + 1) / 2;
    a.stages = stages;
    heed_scope(s, "encoder");
    heed__convnet_init(&m->net, s, a);
    heed_linear_init(&m->grid, s, "grid", (heed_linear_args){.in = m->net.out, .out = m->width});
    heed_unscope(s);
}

static void embeddings(caption *m, heed_store *s, const heed_config *f) {
    heed_position_kind kind = heed__model_positions(f);
    heed_real dropout = heed__model_real(f, "dropout");
    heed_tensor **target = m->transformer ? &m->blocks.target : &m->recurrent.target;
    heed_scope(s, "embed");
    *target = heed_param(s, "target.weight", m->transformer ? "normal:0.02" : "normal:1", 2,
                         (int[]){m->vocab, m->width});
    if (m->transformer)
        heed_position_init(&m->blocks.place, s, "target_position", kind, m->len, m->width);
    heed_drop_init(m->transformer ? &m->blocks.drop : &m->recurrent.drop, s, "target_drop",
                   dropout);
    heed_position_init(&m->place, s, "grid_position",
                       kind == HEED_SINUSOIDAL ? HEED_SINUSOIDAL_2D : kind, m->side * m->side,
                       m->width);
    heed_drop_init(&m->drop, s, "grid_drop", dropout);
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
        heed_linear_init(
            &m->context, s, "context",
            (heed_linear_args){.in = m->side * m->side * m->width, .out = m->width, .init = init});
    return heed__decoder_init(&m->recurrent, s, f, layers, m->width, m->vocab);
}

/* Only the attention to the grid is hard. */
static bool blocks(caption *m, heed_store *s, const heed_config *f) {
    block_stack stack = {.layers = 0};
    heed__stack_read(&stack, f, (stack_kind){.name = "decoder"});
    heed_block_args a = heed__stack_block_args(&stack, f, false);
    a.cross = a.attn;
    a.attn.hard = false;
    m->blocks.layers = heed__model_int(f, "decoder-layers");
    m->blocks.len = m->len;
    m->blocks.beta = stack.beta;
    m->blocks.scale = 1;
    heed__block_decoder_init(&m->blocks, s, a);
    if (a.pre_norm)
        heed_norm_init(&m->blocks.norm, s, "decoder.norm", heed__model_norm(f, m->width));
    heed_linear_init(&m->blocks.head, s, "head",
                     (heed_linear_args){.in = m->width, .out = m->vocab, .init = a.attn.init});
    return heed_ctx_status(heed_store_ctx(s)) == HEED_OK;
}

static bool init(void *self, heed_store *s, const heed_config *f) {
    caption *m = self;
    if (!read_sizes(m, heed_store_ctx(s), f)) return false;
    heed__decoder_read(&m->recurrent, f);
    encoder(m, s, f);
    embeddings(m, s, f);
    return m->transformer ? blocks(m, s, f) : recurrent(m, s, f);
}

/* ---- forward ---- */

/* x (B,size,size,channels) -> (B,n,width), row by row. */
static heed_tensor *grid_of(const caption *m, heed_tape *t, heed_tensor *x) {
    if (!x) return NULL;
    if (x->dims != 4 || x->shape[1] != m->size || x->shape[2] != m->size ||
        x->shape[3] != m->channels) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "picture does not fit the model: expected %d x %d pixels of %d channels", m->size,
                  m->size, m->channels);
        return NULL;
    }
    x = heed__convnet_apply(&m->net, t, x);
    x = heed_linear_apply(&m->grid, t, x);
    if (!x) return NULL;
    x = heed_reshape(heed_at(t, "embed.grid"), x, 3, (int[]){x->shape[0], -1, m->width});
    return heed_drop_apply(&m->drop, t, heed_position_apply(&m->place, t, x, 0));
}

static bool read_grid(const caption *m, heed_tape *t, heed_tensor *h, decoder_reading *r) {
    heed_tensor *mean = heed_mean_dim(t, h, 1); /* (B,width) */
    if (!mean) return false;
    mean = heed_reshape(t, mean, 2, (int[]){h->shape[0], m->width});
    for (int i = 0; i < m->recurrent.cells.args.layers; i++)
        r->state[i] = heed_linear_act(&m->bridge[i], t, mean, HEED_TANH);
    if (m->recurrent.fixed)
        r->context =
            heed_linear_apply(&m->context, t, heed_reshape(t, h, 3, (int[]){h->shape[0], 1, -1}));
    else
        heed__decoder_attend_to(&m->recurrent, t, h, NULL, r);
    return heed_ctx_status(heed_tape_ctx(t)) == HEED_OK;
}

static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const caption *m = self;
    decoder_reading r = {.stepping = false};
    heed_tensor *h = in->target ? grid_of(m, t, in->x) : NULL;
    if (!h) return NULL;
    if (m->transformer)
        return heed__block_decoder_apply(&m->blocks, t, h, NULL, in->target, 0, NULL);
    return read_grid(m, t, h, &r) ? heed__decoder_apply(&m->recurrent, t, in->target, &r) : NULL;
}

/* Teacher forcing: token t + 1 is predicted from the true tokens up to t. */
static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    caption *m = self;
    heed_model_input in = {
        .x = heed_input(t, b->x, 4, (int[]){b->rows, m->size, m->size, m->channels}),
        .target = heed_ids(t, b->ids, b->rows, b->len)};
    m->result.logits = logits(m, t, &in);
    heed_tensor *labels = heed_ids(t, b->labels, b->rows, b->len);
    return heed__model_xent(&m->result, t, labels, m->smoothing);
}

/* ---- attention ---- */

static bool attending(const void *self, int index, heed_attending *out) {
    const caption *m = self;
    if (m->transformer) return heed__block_decoder_attending(&m->blocks, index, out);
    return !m->recurrent.fixed && heed__decoder_attending(&m->recurrent, index, out);
}

static void average(void *self, bool on) {
    heed__decoder_average(&((caption *)self)->recurrent, on);
}

static bool grid(const void *self, heed_grid *out) {
    const caption *m = self;
    *out = (heed_grid){.rows = m->side, .cols = m->side};
    return true;
}

/* ---- decoding step by step ---- */

static int length(const void *self) { return ((const caption *)self)->len; }

static bool read_picture(const void *self, heed_tape *t, heed_tensor *x, heed_source *out) {
    const caption *m = self;
    decoder_reading r = {.stepping = false};
    heed_tensor *h = grid_of(m, t, x);
    if (!h) return false;
    if (m->transformer) return heed__block_decoder_keep(&m->blocks, t, h, out);
    return read_grid(m, t, h, &r) && heed__decoder_keep(&m->recurrent, &r, m->side * m->side, out);
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

static const heed_steps steps = {
    .length = length, .read = read_picture, .state = state_size, .start = start, .next = next};

const heed_model heed_model_caption = {
    .name = "caption",
    .help = "pictures with captions: attention to a grid of features",
    .kind = HEED_INPUT_CAPTION,
    .answers = HEED_ANSWER_SAME,
    .embedding = "embed.grid",
    .options = options,
    .defaults = "lr=0.002 warmup=0.1",
    .cases = cases,
    .size = sizeof(caption),
    .init = init,
    .logits = logits,
    .loss = loss,
    .metrics = heed__model_text_metrics,
    .attending = attending,
    .average = average,
    .grid = grid,
    .steps = &steps,
};
