/* caption.c -- a text about a picture: a grid of features h_1 .. h_n, and a decoder that
 * looks at another part of it for every word. A recurrent decoder (decoder.h) begins at
 *
 *     s_0 = tanh(W mean_i h_i + b)
 *
 * and attends to the grid, softly or hard, or has one dense map of the flattened grid as its fixed
 * context. Xu et al. 2015, sec. 3; Vinyals et al. 2015. Or the decoder is the Transformer's
 * (block_decoder.h). */
#include "parts/parts.h"

#include <stdio.h>

typedef struct {
    int size, channels, width; /* of the pictures, and of the features */
    heed_grid cells;
    bool patches; /* the second of these: */
    convnet net;
    heed_linear out; /* from the network's channels to width */
    heed_position place;
    heed_dropout_layer drop;
    patch_encoder vit;
} grid_encoder;

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

typedef struct {
    patch_settings vit; /* of which the stack is also that of blocks of the decoder */
    picture_settings picture;
    const char *encoder, *decoder;
    int filters, stages, decoder_layers;
    decoder_settings recurrent;
    token_settings tokens;
    heed_real smoothing;
} caption_settings;

static const heed_option options[] = {
    HEED_ROWS(caption_settings, picture, heed__picture_options, ""),
    HEED_ROW(caption_settings, encoder, "encoder", "cnn", .choices = "cnn|vit",
             .help = "a convolutional network, or patches and attention"),
    HEED_ROW(caption_settings, filters, "filters", "16", .min = 1, .max = 1 << 14,
             .help = "cnn: channels of the first stage; each later one has twice as many"),
    HEED_ROW(caption_settings, stages, "stages", "0", .max = CONVNET_STAGES,
             .help = "cnn: each but the first halves height and width; 0: until 8 cells a side"),
    HEED_ROW(caption_settings, decoder, "decoder", "rnn", .choices = "rnn|transformer",
             .help = "recurrent layers, or blocks"),
    HEED_ROW(caption_settings, decoder_layers, "decoder-layers", "1", .min = 1,
             .max = HEED_RNN_LAYERS, .help = "recurrent layers or blocks of the decoder"),
    HEED_ROWS(caption_settings, recurrent.cells, heed__cell_options, ""),
    /* Rows before those of the same name in the tables below, whose place they take. */
    HEED_ROW(caption_settings, vit.pool, "pool", "mean", .choices = "cls|mean",
             .help = "vit: s_0 is a map of the [CLS] token, or of the mean"),
    HEED_ROW(caption_settings, vit.stack.positions, "positions", "sinusoidal",
             .choices = "learned|sinusoidal|none|rotary",
             .help = "encoding of positions: of words, and of rows and columns; rotary: in "
                     "self-attention, the grid of a cnn as with sinusoidal"),
    HEED_ROW(caption_settings, vit.stack.layers, "layers", "2", .min = 1, .max = MODEL_LAYERS,
             .help = "vit: blocks"),
    HEED_ROW(caption_settings, recurrent.key_width, "key-width", "0", .max = 1 << 16,
             .help = "of queries and keys per head; 0: not projected, or for blocks width / heads"),
    HEED_ROW(caption_settings, recurrent.value_width, "value-width", "0", .max = 1 << 16,
             .help = "of values per head; 0: not projected, or for blocks width / heads"),
    HEED_ROWS(caption_settings, recurrent, heed__decoder_options, ""),
    HEED_ROWS(caption_settings, vit, heed__patch_options, "width=96 norm-eps=1e-5 init-std=0"),
    HEED_SHARED(caption_settings, recurrent.width, "width"),
    HEED_SHARED(caption_settings, recurrent.dropout, "dropout"),
    HEED_SHARED(caption_settings, recurrent.init_std, "init-std"),
    HEED_ROW(caption_settings, tokens.block, "block", "32", .min = 2, .max = MODEL_STEPS,
             .help = "tokens in a caption, at most"),
    HEED_ROWS(caption_settings, tokens, heed__token_options, ""),
    HEED_ROW(caption_settings, smoothing, "smoothing", "0", .max = 0.99,
             .help = "share of the target spread over all tokens, in training"),
    HEED_WHEN("filters stages", "encoder=cnn"),
    HEED_WHEN("layers pool patch final-norm scale-residual", "encoder=vit"),
    HEED_WHEN("heads kv-heads ff ff-kind norm norm-kind norm-eps activation beta attn-out bias "
              "rope-theta recompute",
              "encoder=vit decoder=transformer"),
    HEED_WHEN("all-rows", ""),
    HEED_WHEN("activation", "ff-kind=plain"),
    HEED_WHEN("cell cell-activation one-bias attention attention-width attention-biases",
              "decoder=rnn"),
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

/* ---- the grid of features: Xu et al. 2015, sec. 3.1.1; Dosovitskiy et al. 2021 ---- */

/* The first convolution and each stage but the first halve the sides. */
static void network(grid_encoder *m, heed_params *s, const caption_settings *set) {
    enum { USUAL_SIDE = 8 };
    bool usual = set->stages == 0;
    int most = usual ? CONVNET_STAGES : set->stages, stages = 1, side = (m->size + 1) / 2;
    for (; stages < most && (!usual || side > USUAL_SIDE); stages++) side = (side + 1) / 2;
    m->cells = (heed_grid){.rows = side, .cols = side};
    heed_scope_push(s, "encoder");
    heed__convnet_init(&m->net, s,
                       (convnet_args){.channels = m->channels,
                                      .width = set->filters,
                                      .stride = 2,
                                      .stages = stages,
                                      .blocks = 1,
                                      .dropout = set->recurrent.dropout});
    heed_linear_init(&m->out, s, "grid", (heed_linear_args){.in = m->net.out, .out = m->width});
    heed_scope_pop(s);
}

static int grid_count(const grid_encoder *m) { /* n, with the token [CLS] of patches */
    return m->cells.first + m->cells.rows * m->cells.cols;
}

/* Rotary positions are those of the words. */
static void grid_positions(grid_encoder *m, heed_params *s, const caption_settings *set) {
    const char *positions = set->vit.stack.positions;
    heed_position_kind kind = is(positions, "none")      ? HEED_NO_POSITIONS
                              : is(positions, "learned") ? HEED_LEARNED
                                                         : HEED_SINUSOIDAL_2D;
    heed_scope_push(s, "embed");
    heed_position_init(&m->place, s, "grid_position", kind, grid_count(m), m->width);
    heed_dropout_layer_init(&m->drop, s, "grid_drop", set->recurrent.dropout);
    heed_scope_pop(s);
}

/* Makes encoder.{stem stage grid}, or embed.* encoder.N.* norm as in vit. */
static bool grid_init(grid_encoder *m, heed_params *s, const caption_settings *set) {
    m->size = set->picture.size;
    m->channels = set->picture.channels;
    m->width = set->recurrent.width;
    m->patches = is(set->encoder, "vit");
    if (m->patches) {
        if (!heed__patches_init(&m->vit, s, &set->vit)) return false;
        for (int i = 0; i < m->vit.stack.layers; i++) /* only the attention to the grid is hard */
            m->vit.stack.block[i].attn.args.hard = false;
        return heed__patches_grid(&m->vit, &m->cells);
    }
    network(m, s, set);
    grid_positions(m, s, set);
    return true;
}

/* The usual sizes depend on the size of the pictures. */
static bool grid_chosen(const grid_encoder *m, heed_config *f) {
    char stages[16];
    if (m->patches) return heed__patches_chosen(&m->vit, f);
    if (!heed_config_has(f, "stages")) return true; /* of another model that starts from this one */
    snprintf(stages, sizeof stages, "%d", m->net.count); /* blocks, one in each stage */
    return heed_config_set(f, "stages", stages, "caption", HEED_FROM_DEFAULT);
}

static heed_tensor *patches(const grid_encoder *m, heed_tape *t, heed_tensor *x,
                            heed_tensor **mean) {
    x = heed__patches_encode(&m->vit, t, x, NULL);
    *mean = heed__patches_pool(&m->vit, t, x);
    return x ? heed__stack_norm(&m->vit.stack, t, x) : NULL;
}

/* x (B,size,size,channels) -> features (B,n,width), row by row; and in mean (B,width) their mean,
 * or [CLS]. NULL, with an error, for a picture of another size. */
static heed_tensor *grid_apply(const grid_encoder *m, heed_tape *t, heed_tensor *x,
                               heed_tensor **mean) {
    if (!x) return NULL;
    if (x->dims != 4 || x->shape[1] != m->size || x->shape[2] != m->size ||
        x->shape[3] != m->channels) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "picture does not fit the model: expected %d x %d pixels of %d channels", m->size,
                  m->size, m->channels);
        return NULL;
    }
    if (m->patches) return patches(m, t, x, mean);
    x = heed__convnet_apply(&m->net, t, x);
    x = heed_linear_apply(&m->out, t, x);
    if (!x) return NULL;
    int rows = x->shape[0];
    x = heed_reshape(heed_name_scope(t, "embed.patch"), x, 3, (int[]){rows, -1, m->width});
    x = heed_dropout_layer_apply(&m->drop, t, heed_position_apply(&m->place, t, x, 0));
    *mean = heed_reshape(t, heed_mean_dim(t, x, 1), 2, (int[]){rows, m->width});
    return x;
}

/* ---- parameters ---- */

static bool read_sizes(caption *m, heed_ctx *c, const caption_settings *set) {
    int size = set->picture.size, channels = set->picture.channels;
    m->vocab = set->tokens.vocab;
    m->len = set->tokens.block;
    m->width = set->recurrent.width;
    m->smoothing = set->smoothing;
    m->transformer = is(set->decoder, "transformer");
    if (size < 1 || channels < 1 || m->vocab < 1)
        return heed_fail(
            c, HEED_USAGE,
            "size of the model is wrong: expected image-size, channels and vocab of at least "
            "1, found %d, %d, %d; hint: `image-size = 64`, `channels = 3`, `vocab`",
            size, channels, m->vocab);
    if (m->transformer && is(set->recurrent.attention, "none"))
        return heed_fail(c, HEED_USAGE,
                         "`attention = none` does not fit: expected a recurrent decoder, found "
                         "`decoder = transformer`; hint: `decoder = rnn`");
    return true;
}

static void embeddings(caption *m, heed_params *s, const caption_settings *set) {
    heed_tensor **target = m->transformer ? &m->blocks.target : &m->recurrent.target;
    heed_dropout_layer *drop = m->transformer ? &m->blocks.drop : &m->recurrent.drop;
    heed_scope_push(s, "embed");
    *target = heed_param_new(s, "target.weight", m->transformer ? "normal:0.02" : "normal:1", 2,
                             (int[]){m->vocab, m->width});
    if (m->transformer)
        heed_position_init(&m->blocks.place, s, "target_position",
                           heed__positions(set->vit.stack.positions), m->len, m->width);
    heed_dropout_layer_init(drop, s, "target_drop", set->recurrent.dropout);
    heed_scope_pop(s);
}

static bool recurrent(caption *m, heed_params *s, const caption_settings *set) {
    int layers = set->decoder_layers;
    int states = m->width * (is(set->recurrent.cells.cell, "lstm") ? 2 : 1);
    const char *init = heed__decoder_initial(&m->recurrent);
    for (int i = 0; i < layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "bridge.%d", i);
        heed_linear_init(&m->bridge[i], s, name,
                         (heed_linear_args){.in = m->width, .out = states, .init = init});
    }
    if (m->recurrent.fixed)
        heed_linear_init(&m->context, s, "context",
                         (heed_linear_args){
                             .in = grid_count(&m->grid) * m->width, .out = m->width, .init = init});
    return heed__decoder_init(&m->recurrent, s, &set->recurrent, layers, m->width, m->vocab);
}

/* Only the attention to the grid is hard. */
static bool blocks(caption *m, heed_params *s, const caption_settings *set) {
    stack_settings words = set->vit.stack;
    block_stack stack = {.layers = 0};
    words.scale_residual = false; /* of the encoder */
    heed__stack_read(&stack, &words);
    heed_block_args a = heed__stack_block_args(&stack, &words, false);
    a.cross = a.attn;
    a.attn.hard = false;
    a.cross.rotary = 0; /* words and cells have no common positions */
    m->blocks.layers = set->decoder_layers;
    m->blocks.len = m->len;
    m->blocks.beta = stack.beta;
    m->blocks.recompute = stack.recompute;
    m->blocks.scale = 1;
    heed__block_decoder_init(&m->blocks, s, a);
    if (a.pre_norm)
        heed_norm_init(&m->blocks.norm, s, "decoder.norm", heed__stack_norm_args(&words, m->width));
    heed_linear_init(&m->blocks.head, s, "head",
                     (heed_linear_args){.in = m->width, .out = m->vocab, .init = a.attn.init});
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

static bool init(void *self, heed_params *s, const void *settings) {
    const caption_settings *set = settings;
    caption *m = self;
    if (!read_sizes(m, heed_params_ctx(s), set)) return false;
    heed__decoder_read(&m->recurrent, &set->recurrent);
    if (!grid_init(&m->grid, s, set)) return false;
    embeddings(m, s, set);
    if (!(m->transformer ? blocks(m, s, set) : recurrent(m, s, set))) return false;
    heed_set_rows(s, "embed.target.weight", HEED_ROWS_TOKENS);
    heed_set_rows(s, "embed.grid_position.weight", HEED_ROWS_GRID);
    heed_set_rows(s, "head.*", HEED_ROWS_TOKENS);
    return true;
}

static bool chosen(const void *self, heed_config *f) {
    return grid_chosen(&((const caption *)self)->grid, f);
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
    heed_tensor *mean, *h = in->target ? grid_apply(&m->grid, t, in->x, &mean) : NULL;
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

static bool attending(const void *self, int index, heed_attention_info *out) {
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
    heed_tensor *mean, *h = grid_apply(&m->grid, t, x, &mean);
    if (!h) return false;
    if (m->transformer) return heed__block_decoder_keep(&m->blocks, t, h, out);
    return begin(m, t, h, mean, &r) &&
           heed__decoder_keep(&m->recurrent, &r, grid_count(&m->grid), out);
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
    .set = sizeof(caption_settings),
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
    .choices = "batch steps",
    .steps = &steps,
};
