/* rnn.c -- sequence to sequence by recurrent layers: the encoder's states h_i are the memory of a
 * recurrent decoder (decoder.h), which begins at
 *
 *     s_0 = tanh(W [last states] + b)
 *
 * Bahdanau et al. 2015, sec. 3; without attention the fixed context is the encoder's last state.
 * Cho et al. 2014, sec. 2.2. */
#include "parts/parts.h"

#include <stdio.h>

typedef struct {
    pair_model pair;
    heed_tensor *source;     /* (V,d): embeddings */
    heed_dropout_layer drop; /* of embeddings */
    heed_rnn encoder;
    heed_linear bridge[HEED_RNN_LAYERS]; /* W, b of s_0; w NULL: s_0 is the last state */
    decoder decoder;
} rnn;

typedef struct {
    decoder_settings decoder;
    pair_settings pair;
    int layers;
    bool bidirectional;
    const char *bridge;
} rnn_settings;

static const heed_option options[] = {
    HEED_ROWS(rnn_settings, decoder.cells, heed__cell_options, ""),
    HEED_ROW(rnn_settings, layers, "layers", "1", .min = 1, .max = HEED_RNN_LAYERS,
             .help = "recurrent layers of encoder and decoder"),
    HEED_ROW(rnn_settings, decoder.width, "width", "128", .min = 1, .max = 1 << 16,
             .help = "of embeddings and states"),
    HEED_ROW(rnn_settings, bidirectional, "bidirectional", "true",
             .help = "a bidirectional encoder"),
    HEED_ROW(rnn_settings, bridge, "bridge", "dense", .choices = "dense|copy",
             .help = "s_0: tanh(W last + b), or the last state itself"),
    HEED_ROWS(rnn_settings, decoder, heed__decoder_options, ""),
    HEED_ROW(rnn_settings, decoder.dropout, "dropout", "0", .max = 0.99,
             .help = "of embeddings and between layers"),
    HEED_ROW(rnn_settings, decoder.init_std, "init-std", "0", .max = 10,
             .help = "deviation of initial weights; 0: uniform by fan-in"),
    HEED_ROWS(rnn_settings, pair, heed__pair_options, ""),
    HEED_WHEN("all-rows recompute", ""),
    {0}};

static const heed_preset presets[] = {
    {"rnn-attn", "benchmark: GRU encoder and decoder, additive attention",
     PAIR_PLAIN "cell=gru block=32 batch=64 vocab=512 bidirectional=false "
                "bridge=copy attention-biases=true",
     true},
    {0}};

#define SMALL "width=6 block=5 vocab=11 batch=2 init-std=0.5 "
static const heed_model_case cases[] = {
    {"", SMALL},
    {"variant", SMALL "cell=lstm attention=general dropout=0.2 share-vocab=false source-vocab=9"},
    {"without", SMALL "cell=rnn attention=none one-bias=true"},
    {0}};

/* ---- parameters ---- */

static int ways(const rnn *m) { return m->encoder.args.bidirectional ? 2 : 1; }

static bool bridges(rnn *m, heed_params *s, const rnn_settings *set) {
    const heed_rnn_args *a = &m->encoder.args;
    int states = a->width * (a->cell == HEED_CELL_LSTM ? 2 : 1);
    bool copy = is(set->bridge, "copy");
    if (copy && a->bidirectional)
        return heed_fail(heed_params_ctx(s), HEED_USAGE,
                         "`bridge = copy` does not fit: expected an encoder of one direction, "
                         "found two; hint: `bidirectional = false`");
    for (int i = 0; !copy && i < a->layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "bridge.%d", i);
        heed_linear_init(&m->bridge[i], s, name,
                         (heed_linear_args){.in = states * ways(m),
                                            .out = states,
                                            .init = heed__decoder_initial(&m->decoder)});
    }
    return true;
}

static bool init_layers(rnn *m, heed_params *s, const rnn_settings *set) {
    const decoder_settings *d = &set->decoder;
    heed_rnn_args a = heed__cells(&d->cells, d->width, d->width, set->layers, d->dropout);
    a.init = heed__decoder_initial(&m->decoder);
    a.bidirectional = set->bidirectional;
    heed_rnn_init(&m->encoder, s, "encoder", a);
    return bridges(m, s, set) &&
           heed__decoder_init(&m->decoder, s, d, a.layers, a.width * ways(m), m->pair.vocab);
}

/* ---- encoder ---- */

/* The origin of the fixed c: the last h of each direction, with weight one half each if there are
 * two. */
static heed_tensor *origin(const rnn *m, heed_tape *t, const heed_tensor *ids,
                           const heed_tensor *pad) {
    int len = ids->shape[1];
    heed_tensor *w = heed_input(t, NULL, 2, ids->shape);
    for (int i = 0; w && i < ids->shape[0]; i++) {
        const int32_t *there = pad ? pad->i + i * len : NULL;
        int last = len - 1;
        while (there && last > 0 && !there[last]) last--;
        for (int way = 0; way < ways(m); way++)
            w->x[i * len + (way ? 0 : last)] += 1 / (heed_real)ways(m);
    }
    return w;
}

static bool encode(const rnn *m, heed_tape *t, heed_tensor *ids, heed_tensor *pad,
                   decoder_reading *out) {
    heed_tensor *last[2 * HEED_RNN_LAYERS];
    heed_tensor *x = heed_embed(heed_name_scope(t, "embed.source"), m->source, ids);
    x = heed_dropout_layer_apply(&m->drop, t, x);
    x = heed_rnn_apply(&m->encoder, t, x, pad, NULL, last);
    if (!x) return false;
    for (int i = 0; i < m->encoder.args.layers; i++) {
        out->state[i] = ways(m) == 1 ? last[i] : heed_concat(t, 1, 2, &last[2 * i]);
        if (m->bridge[i].w)
            out->state[i] = heed_linear_act(&m->bridge[i], t, out->state[i], HEED_TANH);
    }
    if (!m->decoder.fixed) {
        heed__decoder_attend_to(&m->decoder, t, x, pad, out);
        return true;
    }
    heed_tensor *c = heed__model_last_state(&m->encoder, t, last);
    out->context = c ? heed_reshape(t, c, 3, (int[]){c->shape[0], 1, c->shape[1]}) : NULL;
    if (heed_tape_mode(t) != HEED_TRAIN) out->origin = origin(m, t, ids, pad);
    return true;
}

static heed_tensor *features(const pair_model *self, heed_tape *t, heed_tensor *source,
                             heed_tensor *pad, heed_tensor *ids) {
    const rnn *m = (const rnn *)self;
    decoder_reading r = {.stepping = false};
    return encode(m, t, source, pad, &r) ? heed__decoder_apply(&m->decoder, t, ids, &r) : NULL;
}

/* ---- members of heed_model and heed_steps ---- */

static bool attending(const void *self, int index, heed_attention_info *out) {
    return heed__decoder_attending(&((const rnn *)self)->decoder, index, out);
}

static void average(void *self, bool on) { heed__decoder_average(&((rnn *)self)->decoder, on); }

static bool read_source(const void *self, heed_tape *t, heed_tensor *ids, heed_source *out) {
    const rnn *m = self;
    decoder_reading r = {.stepping = false};
    return ids && encode(m, t, ids, NULL, &r) &&
           heed__decoder_keep(&m->decoder, &r, ids->shape[1], out);
}

static size_t state_size(const void *self, const heed_source *source) {
    return heed__decoder_state(&((const rnn *)self)->decoder, source);
}

static void start(const void *self, const heed_source *source, heed_real *state) {
    heed__decoder_start(&((const rnn *)self)->decoder, source, state);
}

static heed_tensor *next(const void *self, heed_tape *t, const heed_source *source,
                         heed_real *state, int at, heed_tensor *ids) {
    (void)at;
    return heed__decoder_next(&((const rnn *)self)->decoder, t, source, state, ids);
}

static const heed_steps steps = {.length = heed__pair_length,
                                 .read = read_source,
                                 .state = state_size,
                                 .start = start,
                                 .next = next,
                                 .batched = true};

static bool init(void *self, heed_params *s, const void *settings) {
    const rnn_settings *set = settings;
    rnn *m = self;
    m->pair.features = features;
    m->pair.head = &m->decoder.head;
    heed__decoder_read(&m->decoder, &set->decoder);
    if (!heed__pair_read(&m->pair, heed_params_ctx(s), &set->pair)) return false;
    heed__pair_embeddings(&m->pair, s, set->decoder.width, "normal:1", &m->source,
                          &m->decoder.target);
    heed_dropout_layer_init(&m->drop, s, "embed.source_drop", set->decoder.dropout);
    heed_dropout_layer_init(&m->decoder.drop, s, "embed.target_drop", set->decoder.dropout);
    return init_layers(m, s, set);
}

const heed_model heed_model_rnn = {.name = "rnn",
                                   .help = "sequence to sequence: recurrent layers and attention",
                                   .options = options,
                                   .set = sizeof(rnn_settings),
                                   .defaults = "lr=0.003 warmup=0.1",
                                   .presets = presets,
                                   .cases = cases,
                                   .size = sizeof(rnn),
                                   .init = init,
                                   PAIR_MEMBERS,
                                   .attending = attending,
                                   .average = average,
                                   .choose = heed__choose_rnn,
                                   .choices = "tokenizer vocab batch steps",
                                   .steps = &steps};
