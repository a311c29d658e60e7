/* lesson_rnn.c -- a recurrent encoder and decoder with attention, step by step: of small numbers
 * that can be followed by hand, or of a run, in double from its own parameters. Rows are steps.
 * Cells: Elman 1990; Cho et al. 2014; Hochreiter & Schmidhuber 1997. Attention: Bahdanau et al.
 * 2015, sec. 3. */
#include "explain/explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- layers, from the library's parameters ---- */

/* (w x)_row + b_row; w or b NULL: 0. */
static double affine(const heed_tensor *w, const heed_tensor *b, int row, const double *x) {
    double sum = b ? (double)b->x[row] : 0;
    size_t in = w ? w->size / (size_t)w->shape[0] : 0;
    for (size_t i = 0; i < in; i++) sum += (double)w->x[(size_t)row * in + i] * x[i];
    return sum;
}

/* The rows of x through a layer; where there is none, as they are. */
static heed_matrix dense(explaining *e, const heed_linear *l, heed_matrix x) {
    if (!l->w) return x;
    heed_matrix y = matrix_new(e, x.rows, l->w->shape[0]);
    for (int i = 0; i < y.rows * y.cols; i++)
        y.x[i] = affine(l->w, l->b, i % y.cols, x.x + i / y.cols * x.cols);
    return y;
}

static double activate(heed_act act, double x) {
    return act == HEED_TANH      ? tanh(x)
           : act == HEED_SIGMOID ? 1 / (1 + exp(-x))
           : act == HEED_RELU    ? fmax(x, 0)
                                 : x;
}

static double sigmoid(double x) { return activate(HEED_SIGMOID, x); }

/* One number of the state after x. */
typedef struct {
    double x[4], h[4]; /* of each gate: W_x x + b_x and W_h h + b_h */
    double gate[4];    /* r z n, or i f g o */
    double h_after, c_after;
} cell_number;

static cell_number one_number(const heed_rnn *l, const heed_rnn_part *p, int unit, const double *x,
                              const double *state) {
    int w = l->args.width;
    heed_cell kind = l->args.cell;
    cell_number n = {.c_after = 0};
    for (int g = 0; g < (kind == HEED_CELL_LSTM ? 4 : kind == HEED_CELL_GRU ? 3 : 1); g++) {
        n.x[g] = affine(p->w_in, p->b_in, g * w + unit, x);
        n.h[g] = affine(p->w, p->b, g * w + unit, state);
        n.gate[g] = n.x[g] + n.h[g];
    }
    if (kind == HEED_CELL_GRU) {
        double r = n.gate[0] = sigmoid(n.gate[0]), z = n.gate[1] = sigmoid(n.gate[1]);
        n.gate[2] = tanh(n.x[2] + r * n.h[2]);
        n.h_after = (1 - z) * n.gate[2] + z * state[unit];
    } else if (kind == HEED_CELL_LSTM) {
        for (int g = 0; g < 4; g++) n.gate[g] = g == 2 ? tanh(n.gate[g]) : sigmoid(n.gate[g]);
        n.c_after = n.gate[1] * state[w + unit] + n.gate[0] * n.gate[2];
        n.h_after = n.gate[3] * tanh(n.c_after);
    } else {
        n.h_after = n.gate[0] = activate(l->args.act, n.gate[0]);
    }
    return n;
}

/* state: h and, of an LSTM, c; scratch: of the same size. */
static void next_state(const heed_rnn *l, int part, const double *x, double *state,
                       double *scratch) {
    int w = l->args.width;
    size_t size = (size_t)(l->args.cell == HEED_CELL_LSTM ? 2 * w : w) * sizeof *state;
    for (int i = 0; i < w; i++) {
        cell_number n = one_number(l, &l->part[part], i, x, state);
        scratch[i] = n.h_after;
        if (l->args.cell == HEED_CELL_LSTM) scratch[w + i] = n.c_after;
    }
    memcpy(state, scratch, size);
}

/* The similarity of a query and a key, by the kind of l. */
static double score(const heed_attention_layer *l, heed_matrix query, const double *key) {
    const heed_attention_layer_args *a = &l->args;
    const double *q = query.x;
    double e = 0;
    if (a->kind == HEED_ADDITIVE) {
        for (int i = 0; i < l->u.w->shape[0]; i++)
            e += (double)l->score.w->x[i] *
                 tanh(affine(l->w.w, l->w.b, i, q) + affine(l->u.w, l->u.b, i, key));
        return e + (l->score.b ? (double)l->score.b->x[0] : 0);
    }
    for (int i = 0; i < query.cols; i++)
        e += q[i] * (a->kind == HEED_GENERAL ? affine(l->w.w, NULL, i, key) : key[i]);
    return a->has_beta                  ? (double)a->beta * e
           : a->kind == HEED_SCALED_DOT ? e / sqrt(query.cols)
                                        : e;
}

/* ---- the whole computation ---- */

/* The layers: those of a run, or of an example. Of bridge, head and attend, a weight that is NULL
 * is absent: s[0] is the last state itself; without attention c is the last state. */
typedef struct {
    heed_rnn encoder, decoder;
    heed_linear bridge[HEED_RNN_LAYERS], head;
    heed_attention_layer attend;
    bool fixed; /* without attention */
} recurrent_layers;

/* What goes in, and all that comes out. S inputs, T outputs, in the order of the computation. */
typedef struct {
    heed_matrix x, y_in;   /* (S,d), (T,d) vectors of the inputs and of the outputs before */
    heed_matrix h;         /* (S,w) or, of both directions, (S,2w) */
    heed_matrix s0;        /* (1,w) */
    heed_matrix scores, a; /* (T,S); without attention NULL */
    heed_matrix c, s, y;   /* (T,..): context, state, probabilities of the next word */
} recurrence;

static int states_of(const heed_rnn *l) {
    return l->args.cell == HEED_CELL_LSTM ? 2 * l->args.width : l->args.width;
}

/* Fills r->h; returns the last state of each layer, (layers, directions x states). */
static heed_matrix encode(explaining *e, const recurrent_layers *l, recurrence *r) {
    const heed_rnn *f = &l->encoder;
    int ways = f->args.bidirectional ? 2 : 1, w = f->args.width, n = r->x.rows;
    int states = states_of(f);
    heed_matrix in = r->x, last = matrix_new(e, f->args.layers, ways * states);
    heed_matrix scratch = matrix_new(e, 1, states);
    for (int layer = 0; layer < f->args.layers; layer++) {
        r->h = matrix_new(e, n, ways * w);
        for (int way = 0; way < ways && !failed(e); way++) {
            double *state = last.x + (layer * ways + way) * states;
            for (int i = 0; i < n; i++) {
                int at = way ? n - 1 - i : i;
                next_state(f, layer * ways + way, in.x + at * in.cols, state, scratch.x);
                memcpy(r->h.x + at * r->h.cols + way * w, state, (size_t)w * sizeof *state);
            }
        }
        in = r->h;
    }
    return last;
}

/* Row t of scores, weights and context, for a query, from the keys and values of the inputs. */
static void attend(const recurrent_layers *l, recurrence *r, int t, heed_matrix query,
                   heed_matrix keys, heed_matrix values) {
    heed_matrix c = rows_of_matrix(r->c, t, 1);
    if (l->fixed) { /* the last state of either direction */
        for (int k = 0; k < c.cols; k++)
            c.x[k] = heed_matrix_at(&r->h, k < l->encoder.args.width ? r->h.rows - 1 : 0, k);
        return;
    }
    heed_matrix e = rows_of_matrix(r->scores, t, 1), a = rows_of_matrix(r->a, t, 1);
    for (int i = 0; i < e.cols; i++) e.x[i] = score(&l->attend, query, keys.x + i * keys.cols);
    heed_matrix_softmax(&e, l->attend.args.hard, &a);
    heed_matrix_product(&a, &values, (heed_matmul_how){0}, &c);
}

/* Row t of out = [a's row ; b's row]. */
static const double *join(heed_matrix out, int t, const double *a, const double *b, int m) {
    double *row = out.x + t * out.cols;
    memcpy(row, a, (size_t)(out.cols - m) * sizeof *a);
    memcpy(row + out.cols - m, b, (size_t)m * sizeof *b);
    return row;
}

/* Computes all of r from x and y_in. */
static void compute(explaining *e, const recurrent_layers *l, recurrence *r) {
    const heed_rnn *g = &l->decoder;
    int w = g->args.width, states = states_of(g), layers = g->args.layers, n = r->y_in.rows;
    heed_matrix last = encode(e, l, r), state = matrix_new(e, layers, states);
    heed_matrix keys = dense(e, &l->attend.k, r->h), values = dense(e, &l->attend.v, r->h);
    heed_matrix in = matrix_new(e, n, r->y_in.cols + values.cols);
    heed_matrix out = matrix_new(e, n, w + values.cols), scratch = matrix_new(e, 1, states);
    for (int i = 0; i < layers; i++) {
        heed_matrix from = dense(e, &l->bridge[i], rows_of_matrix(last, i, 1));
        for (int k = 0; k < states && !failed(e); k++)
            state.x[i * states + k] = l->bridge[i].w ? tanh(from.x[k]) : from.x[k];
    }
    heed_matrix top = rows_of_matrix(state, layers - 1, 1);
    r->s0 = matrix_of(e, 1, w, top.x);
    if (!l->fixed) r->scores = matrix_new(e, n, r->h.rows), r->a = matrix_new(e, n, r->h.rows);
    r->c = matrix_new(e, n, values.cols);
    r->s = matrix_new(e, n, w);
    for (int t = 0; t < n && !failed(e); t++) {
        heed_matrix query = dense(e, &l->attend.q, (heed_matrix){1, w, top.x});
        if (!query.x) return;
        attend(l, r, t, query, keys, values);
        const double *c = r->c.x + t * r->c.cols;
        const double *x = join(in, t, r->y_in.x + t * r->y_in.cols, c, r->c.cols);
        for (int i = 0; i < layers; i++, x = state.x + (i - 1) * states)
            next_state(g, i, x, state.x + i * states, scratch.x);
        memcpy(r->s.x + t * w, top.x, (size_t)w * sizeof *top.x);
        join(out, t, top.x, c, r->c.cols);
    }
    r->y = dense(e, &l->head, out);
    heed_matrix_softmax(&r->y, false, &r->y);
}

/* ---- the list ---- */

/* x as it is shown in a sentence. */
static double shown(double x) { return round(100 * x) / 100; }

/* "= 0.47", or ≈ where the numbers of the sentence, which give `sum`, do not. */
static const char *gives(explaining *e, double sum, double x) {
    return text_of(e, "%s %.2f", fabs(shown(sum) - shown(x)) < 0.005 ? "=" : "≈", x);
}

/* How the first number of h[2], or of h[1] if it is the only one, is computed. */
static const char *number_of(explaining *e, const recurrent_layers *l, const recurrence *r) {
    const heed_rnn *f = &l->encoder;
    int t = r->x.rows > 1 ? 1 : 0, w = f->args.width;
    double *state = matrix_new(e, 1, 2 * w).x, *scratch = matrix_new(e, 1, 2 * w).x;
    cell_number n = {.c_after = 0};
    if (!state || !scratch) return NULL;
    for (int i = 0; i <= t; i++) {
        n = one_number(f, &f->part[0], 0, r->x.x + i * r->x.cols, state);
        if (i < t) next_state(f, 0, r->x.x + i * r->x.cols, state, scratch);
    }
    const char *of = f->args.layers > 1 ? ", of the first layer" : "";
    const double *g = n.gate, a = shown(g[0]), b = shown(g[1]), c = shown(g[2]), h = shown(*state);
    if (f->args.cell == HEED_CELL_GRU)
        return text_of(
            e,
            "h[%d] = (1 - z) n + z h[%d], with r = %.2f, z = %.2f, n = tanh(%.2f + r (%.2f)) %s. "
            "Its first number%s: %.2f·(%.2f) + %.2f·(%.2f) %s.",
            t + 1, t, g[0], g[1], n.x[2], n.h[2],
            gives(e, tanh(shown(n.x[2]) + a * shown(n.h[2])), g[2]), of, 1 - g[1], g[2], g[1],
            *state, gives(e, shown(1 - g[1]) * c + b * h, n.h_after));
    if (f->args.cell == HEED_CELL_LSTM)
        return text_of(
            e,
            "c[%d] = f c[%d] + i g, h[%d] = o tanh(c[%d]), with i = %.2f, f = %.2f, g = %.2f, "
            "o = %.2f. Their first numbers%s: c = %.2f·(%.2f) + %.2f·(%.2f) %s, h = "
            "%.2f·tanh(%.2f) %s.",
            t + 1, t, t + 1, t + 1, g[0], g[1], g[2], g[3], of, g[1], state[w], g[0], g[2],
            gives(e, b * shown(state[w]) + a * c, n.c_after), g[3], n.c_after,
            gives(e, shown(g[3]) * tanh(shown(n.c_after)), n.h_after));
    double in = shown(n.x[0]) + shown(n.h[0]);
    return text_of(
        e, "The first number of h[%d]%s: g((W_hx x[%d] + b) + W_hh h[%d]) = g(%.2f + %.2f) %s.",
        t + 1, of, t + 1, t, n.x[0], n.h[0], gives(e, activate(f->args.act, in), n.h_after));
}

static matrix_view *show_part(explaining *e, const char *name, heed_matrix m,
                              const char *const *rows, const char *const *cols, int most_cols) {
    matrix_view *v = show(e, "", name, m, rows, cols);
    v->most_rows = e->most_tokens, v->most_cols = most_cols;
    return v;
}

/* A step with up to four parameters; a vector as a row. */
static void add_parameters(explaining *e, const char *title, const char *const names[4],
                           const heed_tensor *const x[4]) {
    add_step(e, title, NULL, NULL);
    for (int i = 0; i < 4; i++)
        if (x[i])
            show(e, "", names[i],
                 result_of(e, x[i], x[i]->dims == 1 ? 1 : x[i]->shape[0],
                           x[i]->shape[x[i]->dims - 1]),
                 NULL, NULL);
}

/* (2,n): the first moment at which the encoder's rows, and those of an attention layer, can be
 * computed. A cell waits for its input and for the cell before it, of the last layer for all. */
static heed_matrix moments(explaining *e, const heed_rnn *f, int n) {
    heed_matrix m = matrix_new(e, 2, n);
    for (int i = 0; i < m.cols; i++) m.x[n + i] = 1;
    for (int layer = 0; layer < f->args.layers || layer == 0; layer++) {
        heed_matrix back = matrix_new(e, 1, n);
        if (failed(e)) break;
        for (int i = n - 1; i >= 0; i--)
            back.x[i] = 1 + fmax(m.x[i], i < n - 1 ? back.x[i + 1] : 0);
        double before = 0;
        for (int i = 0; i < n; i++) {
            before = 1 + fmax(m.x[i], before);
            m.x[i] = f->args.bidirectional ? fmax(before, back.x[i]) : before;
        }
    }
    return m;
}

/* Labels of the inputs, of the outputs before, and of the numbers of y; or, instead of the last,
 * `best`: the most probable token of each step. */
static void add_steps(explaining *e, const recurrent_layers *l, const recurrence *r,
                      const char *const *sources, const char *const *tokens,
                      const char *const *vocabulary, const char *const *best) {
    static const char *const cells[] = {[HEED_CELL_TANH] = "h[t] = g(W_h [x[t] ; h[t-1]] + b_h)",
                                        [HEED_CELL_GRU] = "h[t] = GRU(x[t], h[t-1])",
                                        [HEED_CELL_LSTM] =
                                            "h[t], c[t] = LSTM(x[t], h[t-1], c[t-1])"};
    static const char *const similarity[] = {
        [HEED_ADDITIVE] = "f_att is a small network: e[t,i] = v' tanh(W s[t-1] + U h[i] + b).",
        [HEED_DOT] = "f_att is the dot product.",
        [HEED_SCALED_DOT] = "f_att is the dot product over the square root of the width.",
        [HEED_GENERAL] = "f_att is s[t-1]' W h[i]."};
    static const char *const waits[] = {"h", "attention"};
    bool copied = !l->bridge[0].w, both = l->encoder.args.bidirectional, fixed = l->fixed;
    int n = r->x.rows, wide = e->most_width;
    lesson_step *s = add_step(
        e, both ? "Encoder, from both ends" : "Encoder", cells[l->encoder.args.cell],
        both ? "h[0] = 0. One recurrence reads the inputs forwards, another backwards; a row h[t] "
               "holds both states."
             : "h[0] = 0, and W_h = [W_hx W_hh]. Each state is computed from the one before it.");
    s->after = number_of(e, l, r);
    show_part(e, "x", r->x, sources, NULL, wide);
    show_part(e, "h", r->h, sources, NULL, wide);
    heed_matrix moment = moments(e, &l->encoder, n);
    double last = 0;
    for (int i = 0; i < moment.cols; i++) last = fmax(last, moment.x[i]);
    s = add_step(e, "What waits for what", NULL,
                 "The first moment at which each row can be computed, if everything that is ready "
                 "is computed at once.");
    show(e, "", "moment", moment, waits, sources)->most_cols = e->most_tokens;
    s->after = text_of(
        e,
        "Look at h: the steps of a recurrence cannot run in parallel, so its last moment is %.0f, "
        "however many processors there are. The %d states of the decoder follow one by one as "
        "well. The rows of an attention layer do not wait for each other.",
        last, r->s.rows);
    add_step(e, "From the final state", copied ? "s[0] = h[T]" : "s[0] = tanh(W h[T] + b)",
             text_of(e,
                     "The decoder begins at %sthe encoder's last state. (Notes that say \"initial "
                     "hidden state\" here mean this one.)",
                     copied ? "" : "a layer of "));
    show_part(e, "s_0", r->s0, NULL, NULL, wide);
    if (!fixed) {
        add_step(e, "Alignment",
                 l->attend.args.hard ? "e[t,i] = f_att(s[t-1], h[i]), a[t] = 1 at the largest"
                                     : "e[t,i] = f_att(s[t-1], h[i]), a[t] = softmax(e[t])",
                 similarity[l->attend.args.kind]);
        show_part(e, "e", r->scores, tokens, sources, e->most_tokens);
        show_part(e, "a", r->a, tokens, sources, e->most_tokens)->picture = true;
    }
    add_step(e, fixed ? "Context vector" : "Context vectors",
             !fixed ? "c[t] = sum over i of a[t,i] h[i]"
             : both ? "c = the last state of each direction"
                    : "c = h[T]",
             fixed ? "The same one at every step: all that the decoder knows of the inputs goes "
                     "through this vector."
                   : "Another one at every step: s[0] gives c[1], which gives s[1] and y[1]; s[1] "
                     "gives c[2], and so on.");
    show_part(e, "c", r->c, tokens, NULL, wide)->picture = fixed;
    add_step(e, "Decoder", fixed ? "s[t] = g(y[t-1], s[t-1], c)" : "s[t] = g(y[t-1], s[t-1], c[t])",
             "y[t-1] is the vector of the output before; the first row's is that of the start.");
    show_part(e, "y[t-1]", r->y_in, tokens, NULL, wide);
    show_part(e, "s", r->s, tokens, NULL, wide);
    add_step(e, "Output",
             text_of(e, "y[t] = softmax(W_hy [s[t] ; %s]%s)", fixed ? "c" : "c[t]",
                     l->head.b ? " + b_y" : ""),
             best ? "The most probable next token of each step, and its probability."
                  : "A probability for each word of the vocabulary.");
    heed_matrix p = matrix_new(e, r->y.rows, 1);
    for (int i = 0; i < p.rows; i++) p.x[i] = heed_matrix_at(&r->y, i, largest_in_row(&r->y, i));
    if (best)
        show_part(e, "y", p, best, NULL, 0);
    else
        show_part(e, "y", r->y, tokens, vocabulary, wide);
    e->unit = fixed ? NULL : "weight: each row sums to 1";
    e->hi = fixed ? 0 : 1;
}

/* ---- the example ---- */

/* A number of one decimal. */
static double tenths(const heed_random *r, uint64_t at) {
    return round(10 * heed_random_normal(r, at)) / 10;
}

void rnn_steps(explaining *e) {
    enum { INPUTS = 3, OUTPUTS = 2, WIDTH = 2, WORDS = 3 };
    static const char *const inputs[] = {"the", "lion", "eats"};
    static const char *const before[] = {"[CLS]", "der"};
    static const char *const words[] = {"der", "Löwe", "frisst"};
    heed_random random = heed_random_at(e->seed, "explain.rnn", 0, 0);
    recurrent_layers l = {.fixed = false};
    heed_params *s = library(e);
    heed_rnn_args cell = {.in = WIDTH, .width = WIDTH, .act = HEED_TANH, .one_bias = true};
    heed_rnn_init(&l.encoder, s, "encoder", cell);
    cell.in = 2 * WIDTH;
    heed_rnn_init(&l.decoder, s, "decoder", cell);
    heed_attention_layer_init(
        &l.attend, s, "attend",
        (heed_attention_layer_args){.kind = HEED_ADDITIVE, .query = WIDTH, .input = WIDTH});
    heed_linear_init(&l.head, s, "head",
                     (heed_linear_args){.in = 2 * WIDTH, .out = WORDS, .no_bias = true});
    uint64_t at = 1000;
    for (int i = 0; i < heed_params_count(s); i++) {
        heed_tensor *x = heed_params_at(s, i)->tensor;
        for (size_t k = 0; x && k < x->size; k++) x->x[k] = (heed_real)tenths(&random, at++);
    }
    recurrence r = {.x = matrix_new(e, INPUTS, WIDTH), .y_in = matrix_new(e, OUTPUTS, WIDTH)};
    if (failed(e)) return;
    for (int i = 0; i < INPUTS * WIDTH; i++) r.x.x[i] = tenths(&random, (uint64_t)i);
    for (int i = 0; i < OUTPUTS * WIDTH; i++) r.y_in.x[i] = tenths(&random, (uint64_t)(100 + i));
    compute(e, &l, &r);
    if (failed(e)) return;
    e->title = "A recurrence with attention, step by step";
    e->words = "An encoder reads three words, a decoder writes two. All numbers are random, of one "
               "decimal, and g is tanh.";
    e->commands = "explain rnn --seed 2\n"
                  "explain rnn --precision 4\n"
                  "explain similarity\n"
                  "train rnn data/capitals.tsv -o runs/capitals --cell rnn";
    const heed_rnn_part *p1 = &l.encoder.part[0], *p2 = &l.decoder.part[0];
    add_parameters(e, "Numbers of the encoder",
                   (const char *const[]){"W_hx", "W_hh", "b_h", "b_hh"},
                   (const heed_tensor *const[]){p1->w_in, p1->w, p1->b_in, p1->b});
    add_parameters(
        e, "Numbers of the alignment network", (const char *const[]){"W", "U", "b", "v"},
        (const heed_tensor *const[]){l.attend.w.w, l.attend.u.w, l.attend.u.b, l.attend.score.w});
    add_parameters(e, "Numbers of the decoder and of the output",
                   (const char *const[]){"W_[y ; c]", "W_ss", "b_s", "W_hy"},
                   (const heed_tensor *const[]){p2->w_in, p2->w, p2->b_in, l.head.w});
    add_steps(e, &l, &r, inputs, before, words, NULL);
}

/* ---- a run ---- */

static heed_tensor *of_store(const heed_run *run, const char *format, ...) HEED_PRINTF(2, 3);
static heed_tensor *of_store(const heed_run *run, const char *format, ...) {
    char name[128];
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    heed_param *p = heed_params_find(run->store, name);
    return p ? p->tensor : NULL;
}

static heed_linear linear(const heed_run *run, const char *name) {
    return (heed_linear){.w = of_store(run, "%s.weight", name),
                         .b = of_store(run, "%s.bias", name)};
}

/* Fills the parts of a stack of cells, as many layers and directions as there are. */
static bool cells(const heed_run *run, const char *name, heed_rnn *f) {
    const heed_config *g = run->config;
    const char *kind = heed_config_text(g, "cell"), *act = heed_config_text(g, "cell-activation");
    f->args = (heed_rnn_args){.cell = strcmp(kind, "lstm") == 0  ? HEED_CELL_LSTM
                                      : strcmp(kind, "gru") == 0 ? HEED_CELL_GRU
                                                                 : HEED_CELL_TANH,
                              .act = strcmp(act, "relu") == 0      ? HEED_RELU
                                     : strcmp(act, "sigmoid") == 0 ? HEED_SIGMOID
                                                                   : HEED_TANH,
                              .bidirectional = of_store(run, "%s.weight_ih_l0_reverse", name)};
    int ways = f->args.bidirectional ? 2 : 1;
    while (f->args.layers < HEED_RNN_LAYERS &&
           of_store(run, "%s.weight_ih_l%d", name, f->args.layers))
        for (int way = 0, i = f->args.layers++; way < ways; way++) {
            const char *back = way ? "_reverse" : "";
            f->part[i * ways + way] =
                (heed_rnn_part){.w_in = of_store(run, "%s.weight_ih_l%d%s", name, i, back),
                                .w = of_store(run, "%s.weight_hh_l%d%s", name, i, back),
                                .b_in = of_store(run, "%s.bias_ih_l%d%s", name, i, back),
                                .b = of_store(run, "%s.bias_hh_l%d%s", name, i, back)};
        }
    if (!f->args.layers || !f->part[0].w) return false;
    f->args.width = f->part[0].w->shape[1];
    return true;
}

/* The layers of a run's recurrent encoder and decoder. False: it has no such layers. */
static bool layers_of(const heed_run *run, recurrent_layers *l) {
    *l = (recurrent_layers){.fixed = false};
    if (!heed_config_has(run->config, "cell") || !cells(run, "encoder", &l->encoder) ||
        !cells(run, "decoder", &l->decoder))
        return false;
    heed_attention_layer *a = &l->attend;
    const char *kind = heed_config_text(run->config, "attention");
    l->fixed = strcmp(kind, "none") == 0;
    l->head = linear(run, "head");
    for (int i = 0; i < HEED_RNN_LAYERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "bridge.%d", i);
        l->bridge[i] = linear(run, name);
    }
    a->q = linear(run, "decoder.attend.query"), a->k = linear(run, "decoder.attend.key");
    a->v = linear(run, "decoder.attend.value"), a->w = linear(run, "decoder.attend.w");
    a->u = linear(run, "decoder.attend.u"), a->score = linear(run, "decoder.attend.score");
    a->args = (heed_attention_layer_args){.kind = a->u.w                        ? HEED_ADDITIVE
                                                  : a->w.w                      ? HEED_GENERAL
                                                  : strcmp(kind, "scaled") == 0 ? HEED_SCALED_DOT
                                                                                : HEED_DOT,
                                          .query = l->decoder.args.width,
                                          .input = l->encoder.args.width *
                                                   (l->encoder.args.bidirectional ? 2 : 1),
                                          .key = a->k.w ? a->k.w->shape[0] : 0,
                                          .hard = heed_config_bool(run->config, "hard")};
    return l->head.w != NULL;
}

bool has_recurrences(const heed_run *run) {
    recurrent_layers l;
    return layers_of(run, &l);
}

/* What the forward pass kept under a name, as rows. */
static heed_matrix probed(explaining *e, const heed_tape *t, const char *name) {
    const heed_tensor *x = heed_probe_find(t, name);
    if (!x) return (heed_matrix){0};
    int cols = x->shape[x->dims - 1];
    return result_of(e, x, (int)(x->size / (size_t)cols), cols);
}

/* The list of a run's recurrences on the input of e->of. */
static void run_steps(explaining *e) {
    const heed_example *of = e->of;
    heed_tape *t = e->run->tape;
    recurrent_layers l;
    recurrence r = {.x = {0}};
    if (!layers_of(e->run, &l)) return;
    heed_probe(t, "embed.*", false);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *logits = heed_run_logits(e->run, of, t);
    r.x = probed(e, t, "embed.source.out"), r.y_in = probed(e, t, "embed.target.out");
    heed_probe_clear(t);
    if (!logits || !r.x.x || !r.y_in.x) {
        heed_fail(e->c, HEED_FAILED, "%s: the vectors of its tokens were not kept", e->name);
        return;
    }
    compute(e, &l, &r);
    if (failed(e)) return;
    heed_matrix p = softmax_of(e, result_of(e, logits, r.y.rows, r.y.cols));
    double off = largest_gap(p, r.y);
    if (!(off < 1e-3)) {
        heed_fail(e->c, HEED_FAILED,
                  "%s: the steps in double give other probabilities than the model: they differ by "
                  "%.2g",
                  e->name, off);
        return;
    }
    const char **best = room(e, (size_t)r.y.rows, sizeof *best);
    for (int i = 0; best && i < r.y.rows; i++)
        best[i] = heed_token_text(e->run->tokenizer, largest_in_row(&r.y, i));
    bool whole = heed_config_bool(e->p->flags, "whole");
    e->most_width = whole ? 0 : 8, e->most_tokens = whole ? 0 : 24;
    e->title = "The recurrences of a trained model";
    e->words = text_of(
        e,
        "%s. Worked out in double from the model's own numbers; its probabilities, in float, "
        "differ by %.1e at most.%s",
        safe_title(e, of->title), off,
        whole ? "" : " Wide matrices are cut for the screen (…): --whole, --json.");
    add_steps(e, &l, &r, of->axes[0].labels, of->axes[of->axis_count - 1].labels, NULL, best);
}

void open_recurrences(explaining *e, const heed_run *r, const heed_example *of) {
    e->run = r;
    e->of = of;
    e->own = run_steps;
}
