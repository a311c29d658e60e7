/* recurrent.c -- the ONNX form of recurrent layers: GRU, LSTM and RNN nodes, whose gates stand in
 * another order than heed's; and a Scan for the decoder that attends before each step. */
#include "exchange/onnx/scan.h"
#include "ops/args.h"

#include <stdio.h>
#include <string.h>

typedef const heed__onnx_step *step;

/* ---- weights in ONNX's order of gates ---- */

/* heed has r z n and i f g o, ONNX z r n and i o f g. */
static onnx ordered(heed__onnx_graph *g, onnx x, heed_cell kind) {
    onnx part[4];
    if (kind == HEED_RNN) return x;
    heed__onnx_nodes(g, IN(x), kind == HEED_GRU ? 3 : 4, part, NULL, "Split axis=0");
    return kind == HEED_GRU
               ? heed__onnx_node(g, IN(part[1], part[0], part[2]), "Concat axis=0")
               : heed__onnx_node(g, IN(part[0], part[3], part[1], part[2]), "Concat axis=0");
}

/* (1,rows,..), made once, outside loops. */
static onnx weight(heed__onnx_export *e, onnx w, heed_cell kind) {
    char key[400];
    snprintf(key, sizeof key, "gates %s", w ? w : "");
    onnx known = heed__onnx_find(e->g, key);
    if (known || !w) return known;
    heed__onnx_graph *g = &e->graph;
    onnx y = heed__onnx_node(g, IN(ordered(g, w, kind), INTS(g, 0)), "Unsqueeze");
    return heed__onnx_keep(g, key, y);
}

/* The biases of the input and of the state, one after the other; absent ones are zeros. */
static onnx biases(heed__onnx_export *e, onnx in, onnx of_state, int rows, heed_cell kind) {
    char key[800];
    if (!in || !of_state || (!*in && !*of_state)) return "";
    snprintf(key, sizeof key, "biases %s %s", in, of_state);
    onnx known = heed__onnx_find(e->g, key), b[] = {in, of_state};
    heed__onnx_graph *g = &e->graph;
    if (known) return known;
    for (int i = 0; i < 2; i++)
        b[i] = *b[i] ? ordered(g, b[i], kind)
                     : heed__onnx_node(g, IN(heed__onnx_real(g, 0), INTS(g, rows)), "Expand");
    onnx y = heed__onnx_node(g, IN(b[0], b[1]), "Concat axis=0");
    return heed__onnx_keep(g, key, heed__onnx_node(g, IN(y, INTS(g, 0)), "Unsqueeze"));
}

/* ---- the node ---- */

typedef struct {
    heed_recurrent_args args;
    int width;
    onnx x;          /* (T,B,in) */
    onnx w_in, b_in; /* the input's; b "" if absent */
    onnx w, b;       /* the state's */
    onnx h, c;       /* (1,B,h): the first state; "": zeros */
    onnx lengths;    /* (B): tokens of each sequence; "": all */
} cell;

/* out: the states of all steps (T,1,B,h), and the last h and c (1,B,h). */
static void run(heed__onnx_export *e, const cell *k, onnx out[3]) {
    static const char *const nodes[] = {"RNN", "GRU", "LSTM"};
    static const char *const acts[HEED_ACT_COUNT] = {[HEED_IDENTITY] = "Affine",
                                                     [HEED_RELU] = "Relu",
                                                     [HEED_TANH] = "Tanh",
                                                     [HEED_SIGMOID] = "Sigmoid"};
    heed_cell kind = k->args.cell;
    int gates = kind == HEED_RNN ? 1 : kind == HEED_GRU ? 3 : 4;
    char text[160], more[64] = "";
    if (kind == HEED_RNN) snprintf(more, sizeof more, " activations=[%s]", acts[k->args.act]);
    if (kind == HEED_GRU) snprintf(more, sizeof more, " linear_before_reset=1");
    snprintf(text, sizeof text, "%s hidden_size=%d direction=%s%s", nodes[kind], k->width,
             k->args.reverse ? "reverse" : "forward", more);
    onnx in[] = {k->x,
                 weight(e, k->w_in, kind),
                 weight(e, k->w, kind),
                 biases(e, k->b_in, k->b, gates * k->width, kind),
                 k->lengths,
                 k->h,
                 kind == HEED_LSTM ? k->c : NULL,
                 NULL};
    heed__onnx_nodes(e->g, in, kind == HEED_LSTM ? 3 : 2, out, NULL, text);
}

/* ---- recurrent layers ---- */

/* ONNX gives c after the last step alone: nothing may read an earlier one. */
static bool reads_last_cell(const heed__onnx_export *e, const heed_node *n, int width,
                            bool reverse) {
    int last = reverse ? 0 : n->y->shape[1] - 1;
    for (int i = 0; i < e->steps; i++)
        for (int k = 0; k < e->step[i].in[0]->inputs; k++) {
            const heed_node *by = e->step[i].in[0];
            if (by->in[k] != n->y) continue;
            const heed__slice_args *a = by->args;
            if (strcmp(by->op->name, "slice") != 0) return false;
            bool states = a->dim == 2 && a->from + a->size <= width;
            if (!states && !(a->dim == 1 && a->size == 1 && a->from == last)) return false;
        }
    return true;
}

/* (B,S) as h and c of (1,B,h); out[1] is "" without c. */
static void first_state(heed__onnx_export *e, onnx state, int width, heed_cell kind, onnx out[2]) {
    out[0] = out[1] = "";
    if (!state || !*state) return;
    state = ONNX(e, "Unsqueeze", state, heed__onnx_one(e, 0));
    out[0] = state;
    if (kind == HEED_LSTM)
        heed__onnx_nodes(e->g, IN(state, INTS(e->g, width, width)), 2, out, NULL, "Split axis=2");
}

/* (B,T) -> (B) as int32 */
static onnx lengths_of(heed__onnx_export *e, onnx mask) {
    char key[400];
    if (!mask || !*mask) return mask;
    snprintf(key, sizeof key, "lengths %s", mask);
    onnx known = heed__onnx_find(e->g, key);
    if (known) return known;
    onnx y = ONNX(e, "Cast to=9", mask);
    y = ONNX(e, "Cast to=6", y);
    y = ONNX(e, "ReduceSum keepdims=0", y, heed__onnx_one(e, 1));
    return heed__onnx_keep(e->g, key, y);
}

/* At padding, which is at the end, the state is the last before it, or the first if reversed. */
static onnx held(heed__onnx_export *e, const cell *k, onnx y, onnx last, onnx mask) {
    onnx state = k->args.reverse ? k->h : last;
    if (!mask || !*mask || !state || !*state) return y;
    mask = ONNX(e, "Cast to=9", mask);
    mask = ONNX(e, "Unsqueeze", mask, heed__onnx_one(e, 2));
    state = ONNX(e, "Transpose perm=[1,0,2]", state);
    return ONNX(e, "Where", mask, y, state);
}

/* c after the last step, at every step: (B,T,h) */
static onnx cell_states(heed__onnx_export *e, step s, onnx c) {
    const heed_tensor *const *y = (const heed_tensor *const[]){s->in[0]->y, s->in[1]->y};
    c = ONNX(e, "Transpose perm=[1,0,2]", c);
    onnx size = heed__onnx_size(e, y[0]->shape[1], y[1]->shape[1]);
    if (!size) return NULL;
    onnx shape = ONNX(e, "Concat axis=0", heed__onnx_one(e, 1), size, heed__onnx_one(e, 1));
    return ONNX(e, "Expand", c, shape);
}

/* With a cache: the state after the tokens before, an input, and after all, an output. */
static onnx past_state(heed__onnx_export *e, step s, int states) {
    onnx name = heed__onnx_name(e->g, "%s.%d.state.past", s->in[0]->name, e->cached);
    heed__onnx_declare(&e->graph.inputs, 11, name, true, 2, (int[]){0, states},
                       (const char *[]){"batch", NULL});
    return name;
}

static void present_state(heed__onnx_export *e, step s, onnx h, onnx c, int states) {
    bool both = c && *c;
    onnx name = heed__onnx_name(e->g, "%s.%d.state", s->in[0]->name, e->cached++);
    onnx all = both ? ONNX(e, "Concat axis=2", h, c) : h;
    e->g->result = name;
    ONNX(e, "Squeeze", all, heed__onnx_one(e, 0));
    heed__onnx_declare(&e->graph.outputs, 12, name, true, 2, (int[]){0, states},
                       (const char *[]){"batch", NULL});
}

enum { GATES, W, B, STATE, PAD };
static onnx recurrent(heed__onnx_export *e, step s) {
    const heed_node *n = s->in[0];
    const heed__onnx_step *from = heed__onnx_step_of(e, n->in[GATES]);
    int width = n->in[W]->shape[1], states = n->y->shape[2];
    cell k = {.args = *(const heed_recurrent_args *)n->args, .width = width};
    bool lstm = k.args.cell == HEED_LSTM;
    onnx first[2], out[3] = {NULL, NULL, ""}, mask = heed__onnx_in(e, s, PAD);
    if (!from || !from->skipped) return heed__onnx_refuse(e, "gates not of one layer", n);
    if (lstm && !reads_last_cell(e, n, width, k.args.reverse))
        return heed__onnx_refuse(e, "reading cell states before the last", n);
    onnx state = heed__onnx_in(e, s, STATE);
    if (e->cache) state = past_state(e, s, states);
    first_state(e, state, width, k.args.cell, first);
    k.x = ONNX(e, "Transpose perm=[1,0,2]", heed__onnx_in(e, from, 0));
    k.w_in = heed__onnx_in(e, from, 1), k.b_in = heed__onnx_in(e, from, 2);
    k.w = heed__onnx_in(e, s, W), k.b = heed__onnx_in(e, s, B);
    k.h = first[0], k.c = first[1], k.lengths = lengths_of(e, mask);
    run(e, &k, out);
    if (e->cache) present_state(e, s, out[1], out[2], states);
    onnx y = ONNX(e, "Squeeze", out[0], heed__onnx_one(e, 1));
    y = ONNX(e, "Transpose perm=[1,0,2]", y);
    y = held(e, &k, y, out[1], mask);
    return lstm ? ONNX(e, "Concat axis=2", y, cell_states(e, s, out[2])) : y;
}

/* ---- the decoder that attends before each step ---- */

enum { Y, W_IN, B_IN, W_STATE, B_STATE, START, KEYS, VALUES, QUERY, SCORE, SHIFT, MASK, INPUTS };

/* a_t (B,P) = softmax_i(score tanh(h query' + keys_i) + shift) */
static onnx look(heed__onnx_export *e, const onnx *in, onnx h, onnx visible) {
    onnx q = ONNX(e, "MatMul", h, heed__onnx_transposed(e, in[QUERY]));
    q = ONNX(e, "Unsqueeze", q, heed__onnx_one(e, 1));
    q = ONNX(e, "Tanh", ONNX(e, "Add", q, in[KEYS]));
    onnx scores = ONNX(e, "MatMul", q, heed__onnx_transposed(e, in[SCORE]));
    if (*in[SHIFT]) scores = ONNX(e, "Add", scores, in[SHIFT]);
    scores = ONNX(e, "Squeeze", scores, heed__onnx_one(e, 2));
    return heed__onnx_softmax(e, scores, visible, true, "Softmax", NULL);
}

/* (B,..) <-> (1,B,..) */
static onnx wrapped(heed__onnx_export *e, onnx x) {
    return ONNX(e, "Unsqueeze", x, heed__onnx_one(e, 0));
}
static onnx unwrapped(heed__onnx_export *e, onnx x) {
    return ONNX(e, "Squeeze", x, heed__onnx_one(e, 0));
}

/* One step, as the outputs of the body: h and, of an LSTM, c, as states and again as outputs; the
 * context; the weights. */
static void decode(heed__onnx_export *e, heed__onnx_scan *scan, const onnx *in, cell *k, onnx y,
                   onnx visible) {
    onnx out[3], weights = look(e, in, k->h, visible);
    int states = k->args.cell == HEED_LSTM ? 2 : 1;
    onnx c = ONNX(e, "Unsqueeze", weights, heed__onnx_one(e, 1));
    c = ONNX(e, "MatMul", c, in[VALUES]);
    c = ONNX(e, "Squeeze", c, heed__onnx_one(e, 1));
    k->x = wrapped(e, ONNX(e, "Concat axis=1", y, c));
    k->h = wrapped(e, k->h);
    if (states == 2) k->c = wrapped(e, k->c);
    run(e, k, out);
    for (int i = 0; i < 2 * states; i++)
        heed__onnx_scan_output(e, scan, unwrapped(e, out[1 + i % states]));
    heed__onnx_scan_output(e, scan, c);
    heed__onnx_scan_output(e, scan, weights);
}

static onnx recurrent_attention(heed__onnx_export *e, step s) {
    const heed_node *n = s->in[0];
    heed__onnx_scan scan;
    onnx in[INPUTS], out[HEED__ONNX_SCAN_VALUES] = {NULL}, first[2] = {"", ""}, visible = NULL;
    cell k = {.args = *(const heed_recurrent_args *)n->args, .width = n->in[W_STATE]->shape[1]};
    int states = k.args.cell == HEED_LSTM ? 2 : 1;
    for (int i = 0; i < INPUTS; i++)
        if (!(in[i] = heed__onnx_in(e, s, i))) return NULL;
    k.w_in = in[W_IN], k.b_in = in[B_IN], k.w = in[W_STATE], k.b = in[B_STATE], k.lengths = "";
    first[0] = in[START];
    if (states == 2)
        heed__onnx_nodes(e->g, IN(in[START], INTS(e->g, k.width, k.width)), 2, first, NULL,
                         "Split axis=1");
    if (*in[MASK]) {
        visible = ONNX(e, "Cast to=9", in[MASK]);
        visible = ONNX(e, "Squeeze", visible, heed__onnx_one(e, 1));
    }
    heed__onnx_scan_begin(e, &scan);
    k.h = heed__onnx_scan_state(e, &scan, first[0]);
    k.c = states == 2 ? heed__onnx_scan_state(e, &scan, first[1]) : "";
    onnx y = heed__onnx_scan_input(e, &scan, in[Y]);
    if (k.h && k.c && y) decode(e, &scan, in, &k, y, visible);
    if (!heed__onnx_scan_end(e, &scan, out)) return NULL;
    e->g->result = heed__onnx_weights(e, n);
    ONNX(e, "Identity", out[2 * states + 1]);
    out[2 * states + 1] = NULL; /* ends the list */
    return heed__onnx_node(e->g, out + states, "Concat axis=2");
}

const heed__onnx_row heed__onnx_recurrent[] = {
    {"recurrent", recurrent}, {"recurrent_attention", recurrent_attention}, {0}};
