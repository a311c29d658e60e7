/* rnn.c -- sequence to sequence by recurrent layers: the encoder's states h_i, and a decoder
 *
 *     s_0 = tanh(W [last states] + b)          c_t = sum_i a_{t,i} h_i
 *     s_t = g(y_{t-1}, s_{t-1}, c_t)           a_t = softmax_i f_att(s_{t-1}, h_i)
 *
 * whose output at t is a linear map of s_t and c_t. Bahdanau et al. 2015, sec. 3; without attention
 * c is the encoder's last state at every t. Cho et al. 2014, sec. 2.2. */
#include "pair.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    pair_model pair;
    heed_tensor *source, *target; /* (V,d) */
    heed_drop source_drop, target_drop;
    heed_rnn encoder, decoder;
    heed_linear bridge[HEED_RNN_LAYERS]; /* W, b of s_0; w NULL: s_0 is the last state */
    bool fixed;                          /* no attention: one fixed c for all steps */
    const char *context;                 /* the name of that c */
    char init[32];                       /* initial values; "": the layers' defaults */
    heed_attend attend;
    heed_linear head;
} rnn;

static const heed_option options[] = {
    CELL_OPTIONS("gru", "rnn|gru|lstm"),
    WHOLE("layers", "1", 1, HEED_RNN_LAYERS, "recurrent layers of encoder and decoder"),
    WHOLE("width", "128", 1, 1 << 16, "of embeddings and states"),
    YES("bidirectional", "a bidirectional encoder"),
    CHOICE("bridge", "dense", "dense|copy", "s_0: tanh(W last + b), or the last state itself"),
    CHOICE("attention", "additive", "additive|dot|scaled|general|none",
           "f_att; none: one fixed context enters every step"),
    WHOLE("attention-width", "0", 0, 1 << 16, "additive: inside the alignment network; 0: width"),
    NO("attention-biases", "additive: biases of every map, as PyTorch's linear layers have"),
    WHOLE("key-width", "0", 0, 1 << 16,
          "queries and keys projected to this width; 0: not projected, but dot and scaled project "
          "to width if a bidirectional encoder makes the inputs wider"),
    WHOLE("value-width", "0", 0, 1 << 16, "values projected to this width; 0: not projected"),
    NUMBER("dropout", "0", 0, 0.99, "of embeddings and between layers"),
    INIT_STD("0"),
    PAIR_OPTIONS,
    {0}};

static const heed_preset presets[] = {
    {"rnn-attn", "benchmark workload: GRU encoder and decoder, additive attention",
     PAIR_PLAIN "cell=gru layers=1 width=128 block=32 batch=64 vocab=512 bidirectional=false "
                "bridge=copy attention=additive attention-biases=true",
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

static const char *init_of(const rnn *m) { return m->init[0] ? m->init : NULL; }

static heed_rnn_args layers_args(const rnn *m, const heed_config *f, int in) {
    heed_rnn_args a = heed__model_cells(f, in);
    a.init = init_of(m);
    return a;
}

static heed_attend_args attend_args(const rnn *m, const heed_config *f, int query, int input) {
    static const char *const kinds[] = {"additive", "dot", "scaled", "general"};
    int kind = 0, inner = heed__model_int(f, "attention-width");
    while (kind < 3 && !heed__model_is(f, "attention", kinds[kind])) kind++;
    heed_attend_args a = {.kind = (heed_similarity)kind,
                          .query = query,
                          .input = input,
                          .inner = inner ? inner : query,
                          .key = heed__model_int(f, "key-width"),
                          .value = heed__model_int(f, "value-width"),
                          .all_biases = heed_config_bool(f, "attention-biases"),
                          .init = init_of(m)};
    if ((kind == HEED_DOT || kind == HEED_SCALED_DOT) && query != input && !a.key) a.key = query;
    return a;
}

static bool bridges(rnn *m, heed_store *s, const heed_config *f) {
    const heed_rnn_args *a = &m->encoder.args;
    int states = a->width * (a->cell == HEED_LSTM ? 2 : 1);
    bool copy = heed__model_is(f, "bridge", "copy");
    if (copy && a->bidirectional)
        return heed_fail(heed_store_ctx(s), HEED_USAGE,
                         "`bridge = copy` does not fit: expected an encoder of one direction, "
                         "found two; hint: `bidirectional = false`");
    for (int i = 0; !copy && i < a->layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "bridge.%d", i);
        heed_linear_init(
            &m->bridge[i], s, name,
            (heed_linear_args){.in = states * ways(m), .out = states, .init = init_of(m)});
    }
    return true;
}

static bool init_layers(rnn *m, heed_store *s, const heed_config *f) {
    int width = heed__model_int(f, "width"), value = heed__model_int(f, "value-width");
    heed_rnn_args a = layers_args(m, f, width);
    a.bidirectional = heed_config_bool(f, "bidirectional");
    heed_rnn_init(&m->encoder, s, "encoder", a);
    if (!bridges(m, s, f)) return false;
    int input = width * ways(m), context = value && !m->fixed ? value : input;
    heed_scope(s, "decoder");
    if (!m->fixed) heed_attend_init(&m->attend, s, "attend", attend_args(m, f, width, input));
    m->context = heed_scope(s, "context");
    heed_unscope(s);
    heed_rnn_init(&m->decoder, s, "", layers_args(m, f, width + context));
    heed_unscope(s);
    heed_linear_init(
        &m->head, s, "head",
        (heed_linear_args){.in = width + context, .out = m->pair.vocab, .init = init_of(m)});
    heed_set_rows(s, "head.*", HEED_ROWS_TOKENS);
    return heed_ctx_status(heed_store_ctx(s)) == HEED_OK;
}

/* ---- encoder ---- */

/* What the decoder reads of a source. */
typedef struct {
    heed_attention_kv memory;
    heed_tensor *context;                /* (B,1,h): c, without attention */
    heed_tensor *source, *pad;           /* the source ids, or NULL while decoding */
    heed_tensor *state[HEED_RNN_LAYERS]; /* (B,S): s_0, or the current s */
} reading;

static bool encode(const rnn *m, heed_tape *t, heed_tensor *ids, heed_tensor *pad, reading *out) {
    heed_tensor *last[2 * HEED_RNN_LAYERS];
    heed_tensor *x = heed_embed(heed_at(t, "embed.source"), m->source, ids);
    x = heed_drop_apply(&m->source_drop, t, x);
    x = heed_rnn_apply(&m->encoder, t, x, pad, NULL, last);
    if (!x) return false;
    out->source = ids;
    out->pad = pad;
    for (int i = 0; i < m->encoder.args.layers; i++) {
        out->state[i] = ways(m) == 1 ? last[i] : heed_concat(t, 1, 2, &last[2 * i]);
        if (m->bridge[i].w)
            out->state[i] = heed_linear_act(&m->bridge[i], t, out->state[i], HEED_TANH);
    }
    if (m->fixed) {
        heed_tensor *c = heed__model_last_state(&m->encoder, t, last);
        out->context = c ? heed_reshape(t, c, 3, (int[]){c->shape[0], 1, c->shape[1]}) : NULL;
    } else
        out->memory = heed_attend_kv(&m->attend, t, x, pad);
    return true;
}

/* ---- decoder ---- */

/* a_t (B,1,S) from h of s_{t-1}, with its intermediate values. */
static heed_attended look(const rnn *m, heed_tape *t, const reading *r) {
    heed_tensor *s = r->state[m->decoder.args.layers - 1];
    if (!s) return (heed_attended){0};
    heed_tensor *h = heed_slice(t, s, 1, 0, m->decoder.args.width);
    h = heed_reshape(t, h, 3, (int[]){s->shape[0], 1, m->decoder.args.width});
    return heed_attend_look(&m->attend, t, h, &r->memory);
}

/* s_t = g(y_{t-1}, s_{t-1}, c_t), and updates the state of r. Returns [s_t ; c_t]. All are (B,T,..)
 */
static heed_tensor *step(const rnn *m, heed_tape *t, heed_tensor *y, heed_tensor *c, reading *r) {
    heed_tensor *x = heed_concat(t, 2, 2, (heed_tensor *[]){y, c});
    heed_tensor *s = heed_rnn_apply(&m->decoder, t, x, NULL, r->state, r->state);
    return heed_concat(t, 2, 2, (heed_tensor *[]){s, c});
}

/* The origin of the fixed c, as weights (B,T,S) like those of attention: at every step, the last h
 * of each direction, with weight one half each if there are two. */
static void note_context(const rnn *m, heed_tape *t, const reading *r, int steps) {
    int rows = r->source->shape[0], len = r->source->shape[1];
    heed_tensor *w = heed_input(t, NULL, 3, (int[]){rows, steps, len});
    for (int i = 0; w && i < rows * steps; i++) {
        const int32_t *there = r->pad ? r->pad->i + i / steps * len : NULL;
        int last = len - 1;
        while (there && last > 0 && !there[last]) last--;
        for (int way = 0; way < ways(m); way++)
            w->x[i * len + (way ? 0 : last)] += 1 / (heed_real)ways(m);
    }
    heed_note(heed_at(t, m->context), w, "weights");
}

/* c is the same at every step, so one call computes all steps. */
static heed_tensor *fixed_steps(const rnn *m, heed_tape *t, heed_tensor *y, reading *r) {
    if (r->source && heed_tape_mode(t) != HEED_TRAIN) note_context(m, t, r, y->shape[1]);
    heed_tensor *zeros = heed_input(t, NULL, 3, (int[]){1, y->shape[1], 1});
    return step(m, t, y, heed_add(t, r->context, zeros), r);
}

static heed_tensor *attending_steps(const rnn *m, heed_tape *t, heed_tensor *y, reading *r) {
    heed_tensor *all[PAIR_STEPS];
    heed_attended parts[PAIR_STEPS];
    int steps = y->shape[1];
    for (int i = 0; i < steps; i++) {
        parts[i] = look(m, t, r);
        heed_tensor *c = heed_matmul(t, parts[i].weights, r->memory.values);
        all[i] = step(m, t, heed_slice(t, y, 1, i, 1), c, r);
    }
    heed_attend_note(&m->attend, t, steps, parts);
    return heed_concat(t, 1, steps, all);
}

/* A decoder of one layer with the alignment network is one op. */
static bool is_one_op(const rnn *m) {
    const heed_attend_args *a = &m->attend.args;
    return !m->fixed && a->kind == HEED_ADDITIVE && !a->key && !a->has_beta &&
           m->decoder.args.layers == 1;
}

/* Scores times 0 are all equal. */
static void average(void *self, bool on) {
    rnn *m = self;
    m->attend.args.has_beta = on;
    m->attend.args.beta = 0;
}

/* [s_t ; c_t] of all steps; updates the state of r when a target is generated token by token. */
static heed_tensor *additive_steps(const rnn *m, heed_tape *t, heed_tensor *y, reading *r) {
    const heed_rnn_part *p = &m->decoder.part[0];
    const heed_rnn_args *a = &m->decoder.args;
    const heed_attend *f = &m->attend;
    heed_tensor *keys = f->w.b ? heed_add(t, r->memory.keys, f->w.b) : r->memory.keys;
    heed_additive_attention l = {y,      p->w_in,     p->b_in,    p->w,
                                 p->b,   r->state[0], keys,       r->memory.values,
                                 f->w.w, f->score.w,  f->score.b, r->memory.mask};
    heed_tensor *all = heed_recurrent_attention(heed_at(t, f->name), &l,
                                                &(heed_recurrent_args){a->cell, a->act, false});
    if (!all) return NULL;
    int states = r->state[0]->shape[1], context = all->shape[2] - states;
    if (!r->source) {
        heed_tensor *last = heed_slice(t, all, 1, all->shape[1] - 1, 1);
        last = heed_slice(t, last, 2, 0, states);
        r->state[0] = heed_reshape(t, last, 2, (int[]){all->shape[0], states});
    }
    if (states == a->width) return all;
    heed_tensor *h = heed_slice(t, all, 2, 0, a->width);
    return heed_concat(t, 2, 2, (heed_tensor *[]){h, heed_slice(t, all, 2, states, context)});
}

static heed_tensor *decode(const rnn *m, heed_tape *t, heed_tensor *ids, reading *r) {
    heed_tensor *y = heed_embed(heed_at(t, "embed.target"), m->target, ids);
    y = heed_drop_apply(&m->target_drop, t, y);
    if (!y) return NULL;
    y = m->fixed       ? fixed_steps(m, t, y, r)
        : is_one_op(m) ? additive_steps(m, t, y, r)
                       : attending_steps(m, t, y, r);
    return heed_linear_apply(&m->head, t, y);
}

static heed_tensor *logits(const pair_model *self, heed_tape *t, heed_tensor *source,
                           heed_tensor *pad, heed_tensor *ids) {
    const rnn *m = (const rnn *)self;
    reading r = {.context = NULL};
    if (ids->shape[1] > PAIR_STEPS)
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "target is too long: expected at most %d tokens, found %d", PAIR_STEPS,
                  ids->shape[1]);
    if (ids->shape[1] > PAIR_STEPS || !encode(m, t, source, pad, &r)) return NULL;
    return decode(m, t, ids, &r);
}

/* ---- attention ---- */

/* One layer with one head: target tokens over the source. */
static bool attending(const void *self, int index, heed_attending *out) {
    const rnn *m = self;
    const heed_attend_args *a = &m->attend.args;
    if (index != 0) return false;
    *out = (heed_attending){.path = m->fixed ? m->context : m->attend.name,
                            .stack = HEED_CROSS,
                            .heads = 1,
                            .beta = 1,
                            .fixed = m->fixed};
    if (m->fixed) return true;
    out->additive = a->kind == HEED_ADDITIVE;
    out->key = out->additive ? a->inner : a->key ? a->key : a->input;
    out->value = a->value ? a->value : a->input;
    out->align = out->additive ? m->attend.score.w->x : NULL;
    if (a->kind == HEED_SCALED_DOT) out->beta = 1 / sqrt(out->key);
    return true;
}

/* ---- decoding step by step ---- */

/* The data kept of a source: s_0 of each layer, then keys and values, or the fixed context. */
static bool read_source(const void *self, heed_tape *t, heed_tensor *ids, heed_source *out) {
    const rnn *m = self;
    int layers = m->decoder.args.layers;
    reading r = {.context = NULL};
    if (!ids || !encode(m, t, ids, NULL, &r)) return false;
    memcpy(out->kept, r.state, (size_t)layers * sizeof *r.state);
    out->kept[layers] = m->fixed ? r.context : r.memory.keys;
    out->kept[layers + 1] = m->fixed ? r.context : r.memory.values;
    for (int i = 0; i < layers + 2; i++)
        if (!out->kept[i]) return false;
    out->count = ids->shape[1];
    return true;
}

static size_t state_size(const void *self, const heed_source *source) {
    const rnn *m = self;
    return (size_t)m->decoder.args.layers * source->kept[0]->size;
}

static void start(const void *self, const heed_source *source, heed_real *state) {
    const rnn *m = self;
    size_t size = source->kept[0]->size;
    for (int i = 0; i < m->decoder.args.layers; i++)
        memcpy(state + (size_t)i * size, source->kept[i]->x, size * sizeof *state);
}

/* Makes a tensor of the tape that read the source usable on the tape of the steps. */
static heed_tensor *wrapped(heed_tape *t, const heed_tensor *x) {
    return heed_wrap(t, x->x, x->dims, x->shape);
}

static heed_tensor *next(const void *self, heed_tape *t, const heed_source *source,
                         heed_real *state, int at, heed_tensor *ids) {
    const rnn *m = self;
    heed_tensor *const *kept = source->kept;
    int layers = m->decoder.args.layers, size = (int)kept[0]->size;
    reading r = {.context = NULL};
    (void)at;
    for (int i = 0; i < layers; i++)
        r.state[i] = heed_input(t, state + i * size, 2, (int[]){1, size});
    if (m->fixed)
        r.context = wrapped(t, kept[layers]);
    else
        r.memory =
            (heed_attention_kv){wrapped(t, kept[layers]), wrapped(t, kept[layers + 1]), NULL};
    heed_tensor *y = decode(m, t, ids, &r);
    for (int i = 0; y && i < layers; i++)
        memcpy(state + i * size, r.state[i]->x, (size_t)size * sizeof *state);
    return y;
}

static const heed_steps steps = {.length = heed__pair_length,
                                 .read = read_source,
                                 .state = state_size,
                                 .start = start,
                                 .next = next};

static bool init(void *self, heed_store *s, const heed_config *f) {
    rnn *m = self;
    m->pair.logits = logits;
    m->fixed = heed__model_is(f, "attention", "none");
    double std = heed_config_real(f, "init-std");
    if (std > 0) snprintf(m->init, sizeof m->init, "normal:%.9g", std);
    if (!heed__pair_read(&m->pair, heed_store_ctx(s), f)) return false;
    heed__pair_embeddings(&m->pair, s, heed__model_int(f, "width"), "normal:1", &m->source,
                          &m->target);
    heed_drop_init(&m->source_drop, s, "embed.source_drop", heed__model_real(f, "dropout"));
    heed_drop_init(&m->target_drop, s, "embed.target_drop", heed__model_real(f, "dropout"));
    return init_layers(m, s, f);
}

const heed_model heed_model_rnn = {.name = "rnn",
                                   .help = "sequence to sequence: recurrent layers and attention",
                                   .options = options,
                                   .defaults = "lr=0.003 warmup=0.1",
                                   .presets = presets,
                                   .cases = cases,
                                   .size = sizeof(rnn),
                                   .init = init,
                                   PAIR_MEMBERS,
                                   .attending = attending,
                                   .average = average,
                                   .steps = &steps};
