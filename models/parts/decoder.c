/* decoder.c -- the recurrent decoder of rnn and caption: its parameters, its steps over a complete
 * target and one by one. Bahdanau et al. 2015, sec. 3; Xu et al. 2015, sec. 3.1. */
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- parameters ---- */

const char *heed__decoder_initial(const decoder *m) { return m->init[0] ? m->init : NULL; }

const heed_option heed__decoder_options[] = {
    HEED_ROW(decoder_settings, attention, "attention", "additive",
             .choices = "additive|dot|scaled|general|none",
             .help = "f_att; none: one fixed context enters every step"),
    HEED_ROW(decoder_settings, attention_width, "attention-width", "0", .max = 1 << 16,
             .help = "additive: inside the alignment network; 0: width"),
    HEED_ROW(decoder_settings, attention_biases, "attention-biases", "false",
             .help = "additive: biases of every map, as PyTorch's linear layers have"),
    HEED_ROW(decoder_settings, key_width, "key-width", "0", .max = 1 << 16,
             .help = "queries and keys projected to this width; 0: not projected, but dot and "
                     "scaled project to width if a bidirectional encoder makes the inputs wider"),
    HEED_ROW(decoder_settings, value_width, "value-width", "0", .max = 1 << 16,
             .help = "values projected to this width; 0: not projected"),
    HEED_ROW(decoder_settings, hard, "hard", "false",
             .help = "all weight on the largest score; its gradient is that of the soft weights, "
                     "a biased substitute for REINFORCE"),
    HEED_WHEN("attention-width attention-biases", "attention=additive"),
    HEED_WHEN("hard key-width value-width", "attention=additive|dot|scaled|general"),
    {0}};

void heed__decoder_read(decoder *m, const decoder_settings *set) {
    m->fixed = is(set->attention, "none");
    m->hard = set->hard;
    if (set->init_std > 0) snprintf(m->init, sizeof m->init, "normal:%.9g", set->init_std);
}

static heed_attention_layer_args attend_args(const decoder *m, const decoder_settings *set,
                                             int input) {
    static const char *const kinds[] = {"additive", "dot", "scaled", "general"};
    int kind = 0, query = set->width;
    while (kind < 3 && !is(set->attention, kinds[kind])) kind++;
    heed_attention_layer_args a = {.kind = (heed_similarity)kind,
                                   .query = query,
                                   .input = input,
                                   .inner = set->attention_width ? set->attention_width : query,
                                   .key = set->key_width,
                                   .value = set->value_width,
                                   .all_biases = set->attention_biases,
                                   .hard = m->hard,
                                   .init = heed__decoder_initial(m)};
    if ((kind == HEED_DOT || kind == HEED_SCALED_DOT) && query != input && !a.key) a.key = query;
    return a;
}

bool heed__decoder_init(decoder *m, heed_params *s, const decoder_settings *set, int layers,
                        int memory, int vocab) {
    int context = set->value_width && !m->fixed ? set->value_width : memory;
    heed_rnn_args cells =
        heed__cells(&set->cells, set->width + context, set->width, layers, set->dropout);
    cells.init = heed__decoder_initial(m);
    heed_scope_push(s, "decoder");
    if (!m->fixed) heed_attention_layer_init(&m->attend, s, "attend", attend_args(m, set, memory));
    m->context = heed_scope_push(s, "context");
    heed_scope_pop(s);
    heed_rnn_init(&m->cells, s, "", cells);
    heed_scope_pop(s);
    heed_linear_init(
        &m->head, s, "head",
        (heed_linear_args){.in = set->width + context, .out = vocab, .init = cells.init});
    heed_set_rows(s, "head.*", HEED_ROWS_TOKENS);
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

/* ---- steps ---- */

void heed__decoder_attend_to(const decoder *m, heed_tape *t, heed_tensor *h, heed_tensor *pad,
                             decoder_reading *r) {
    r->memory = heed_attention_layer_kv(&m->attend, t, h, pad);
}

/* a_t (B,1,S) and c_t (B,1,d) from h of s_{t-1}, with their intermediate values. */
static heed_attended look(const decoder *m, heed_tape *t, const decoder_reading *r) {
    heed_tensor *s = r->state[m->cells.args.layers - 1];
    if (!s) return (heed_attended){0};
    heed_tensor *h = heed_slice(t, s, 1, 0, m->cells.args.width);
    h = heed_reshape(t, h, 3, (int[]){s->shape[0], 1, m->cells.args.width});
    return heed_attention_layer_apply(&m->attend, t, h, &r->memory, false);
}

/* s_t = g(y_{t-1}, s_{t-1}, c_t), and updates the state of r. Returns [s_t ; c_t]. All are (B,T,..)
 */
static heed_tensor *step(const decoder *m, heed_tape *t, heed_tensor *y, heed_tensor *c,
                         decoder_reading *r) {
    heed_tensor *x = heed_concat(t, 2, 2, (heed_tensor *[]){y, c});
    heed_tensor *s = heed_rnn_apply(&m->cells, t, x, NULL, r->state, r->state);
    return heed_concat(t, 2, 2, (heed_tensor *[]){s, c});
}

/* The origin of the fixed c at every step, as weights (B,T,S) like those of attention. */
static void note_context(const decoder *m, heed_tape *t, const decoder_reading *r, int steps) {
    int rows = r->origin->shape[0], len = r->origin->shape[1];
    heed_tensor *w = heed_input(t, NULL, 3, (int[]){rows, steps, len});
    for (int i = 0; w && i < rows * steps; i++)
        memcpy(w->x + i * len, r->origin->x + i / steps * len, (size_t)len * sizeof *w->x);
    heed_name_tensor(heed_name_scope(t, m->context), w, "weights");
}

/* c is the same at every step, so one call computes all steps. */
static heed_tensor *fixed_steps(const decoder *m, heed_tape *t, heed_tensor *y,
                                decoder_reading *r) {
    if (r->origin) note_context(m, t, r, y->shape[1]);
    heed_tensor *zeros = heed_input(t, NULL, 3, (int[]){1, y->shape[1], 1});
    return step(m, t, y, heed_add(t, r->context, zeros), r);
}

static heed_tensor *attending_steps(const decoder *m, heed_tape *t, heed_tensor *y,
                                    decoder_reading *r) {
    heed_tensor *all[MODEL_STEPS];
    heed_attended parts[MODEL_STEPS];
    int steps = y->shape[1];
    for (int i = 0; i < steps; i++) {
        parts[i] = look(m, t, r);
        all[i] = step(m, t, heed_slice(t, y, 1, i, 1), parts[i].context, r);
    }
    heed_attention_layer_note(&m->attend, t, steps, parts);
    return heed_concat(t, 1, steps, all);
}

/* A decoder of one layer with the alignment network is one op, unless its selection is hard. */
static bool is_one_op(const decoder *m) {
    const heed_attention_layer_args *a = &m->attend.args;
    return !m->fixed && a->kind == HEED_ADDITIVE && !a->key && !a->hard && !a->has_beta &&
           m->cells.args.layers == 1;
}

/* [s_t ; c_t] of all steps; updates the state of r when a target is generated token by token. */
static heed_tensor *additive_steps(const decoder *m, heed_tape *t, heed_tensor *y,
                                   decoder_reading *r) {
    const heed_rnn_part *p = &m->cells.part[0];
    const heed_rnn_args *a = &m->cells.args;
    const heed_attention_layer *f = &m->attend;
    heed_tensor *keys = f->w.b ? heed_add(t, r->memory.keys, f->w.b) : r->memory.keys;
    heed_additive_attention l = {y,      p->w_in,     p->b_in,    p->w,
                                 p->b,   r->state[0], keys,       r->memory.values,
                                 f->w.w, f->score.w,  f->score.b, r->memory.mask};
    heed_tensor *all = heed_recurrent_attention(heed_name_scope(t, f->name), &l,
                                                &(heed_recurrent_args){a->cell, a->act, false});
    if (!all) return NULL;
    int states = r->state[0]->shape[1], context = all->shape[2] - states;
    if (r->stepping) {
        heed_tensor *last = heed_slice(t, all, 1, all->shape[1] - 1, 1);
        last = heed_slice(t, last, 2, 0, states);
        r->state[0] = heed_reshape(t, last, 2, (int[]){all->shape[0], states});
    }
    if (states == a->width) return all;
    heed_tensor *h = heed_slice(t, all, 2, 0, a->width);
    return heed_concat(t, 2, 2, (heed_tensor *[]){h, heed_slice(t, all, 2, states, context)});
}

heed_tensor *heed__decoder_apply(const decoder *m, heed_tape *t, heed_tensor *ids,
                                 decoder_reading *r) {
    if (ids->shape[1] > MODEL_STEPS) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "target is too long: expected at most %d tokens, found %d", MODEL_STEPS,
                  ids->shape[1]);
        return NULL;
    }
    heed_tensor *y = heed_embed(heed_name_scope(t, "embed.target"), m->target, ids);
    y = heed_dropout_layer_apply(&m->drop, t, y);
    if (!y) return NULL;
    return m->fixed       ? fixed_steps(m, t, y, r)
           : is_one_op(m) ? additive_steps(m, t, y, r)
                          : attending_steps(m, t, y, r);
}

/* ---- attention ---- */

bool heed__decoder_attending(const decoder *m, int index, heed_attention_info *out) {
    const heed_attention_layer_args *a = &m->attend.args;
    if (index != 0) return false;
    *out = (heed_attention_info){.path = m->fixed ? m->context : m->attend.name,
                                 .stack = HEED_CROSS,
                                 .heads = 1,
                                 .beta = 1,
                                 .hard = m->hard && !m->fixed,
                                 .fixed = m->fixed};
    if (m->fixed) return true;
    out->additive = a->kind == HEED_ADDITIVE;
    out->key = out->additive ? a->inner : a->key ? a->key : a->input;
    out->value = a->value ? a->value : a->input;
    out->align = out->additive ? m->attend.score.w->x : NULL;
    if (a->kind == HEED_SCALED_DOT) out->beta = 1 / sqrt(out->key);
    return true;
}

/* Scores times 0 are all equal, and their soft weights, too. */
void heed__decoder_average(decoder *m, bool on) {
    m->attend.args.hard = m->hard && !on;
    m->attend.args.has_beta = on;
    m->attend.args.beta = 0;
}

/* ---- decoding step by step ---- */

/* The data kept of a source: s_0 of each layer, then keys and values, or the fixed context. */
bool heed__decoder_keep(const decoder *m, const decoder_reading *r, int count, heed_source *out) {
    int layers = m->cells.args.layers;
    memcpy(out->kept, r->state, (size_t)layers * sizeof *r->state);
    out->kept[layers] = m->fixed ? r->context : r->memory.keys;
    out->kept[layers + 1] = m->fixed ? r->context : r->memory.values;
    for (int i = 0; i < layers + 2; i++)
        if (!out->kept[i]) return false;
    out->count = count;
    return true;
}

size_t heed__decoder_state(const decoder *m, const heed_source *source) {
    return (size_t)m->cells.args.layers * source->kept[0]->size;
}

void heed__decoder_start(const decoder *m, const heed_source *source, heed_real *state) {
    size_t size = source->kept[0]->size;
    for (int i = 0; i < m->cells.args.layers; i++)
        memcpy(state + (size_t)i * size, source->kept[i]->x, size * sizeof *state);
}

/* Makes a tensor of the tape that read the source usable on the tape of the steps, once for each of
 * some rows. */
static heed_tensor *repeated(heed_tape *t, const heed_tensor *x, int rows) {
    int shape[HEED_DIMS];
    if (rows == 1) return heed_wrap(t, x->x, x->dims, x->shape);
    memcpy(shape, x->shape, sizeof shape);
    shape[0] = rows;
    heed_tensor *y = heed_input(t, NULL, x->dims, shape);
    for (int i = 0; y && i < rows; i++)
        memcpy(y->x + (size_t)i * x->size, x->x, x->size * sizeof *y->x);
    return y;
}

heed_tensor *heed__decoder_next(const decoder *m, heed_tape *t, const heed_source *source,
                                heed_real *state, heed_tensor *ids) {
    heed_tensor *const *kept = source->kept;
    int layers = m->cells.args.layers, size = (int)kept[0]->size, rows = ids->shape[0];
    size_t stride = heed__decoder_state(m, source);
    decoder_reading r = {.stepping = true};
    for (int i = 0; i < layers; i++)
        r.state[i] = heed__model_states(t, state + i * size, stride, rows, size);
    if (m->fixed)
        r.context = repeated(t, kept[layers], rows);
    else
        r.memory = (heed_attention_kv){repeated(t, kept[layers], rows),
                                       repeated(t, kept[layers + 1], rows), NULL};
    heed_tensor *y = heed__decoder_apply(m, t, ids, &r);
    for (int i = 0; y && i < layers; i++)
        heed__model_keep_states(r.state[i], state + i * size, stride);
    return heed_linear_apply(&m->head, t, y);
}
