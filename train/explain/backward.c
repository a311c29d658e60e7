/* backward.c -- --backward: the gradients of a loss, step by step from the output back. */
#include "explain/explain.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- the loss ---- */

/* The loss L = 1/2 sum d^2 of l, a head like that of e. d: gets its gradient by the part that the
 * loss is of, or NULL. */
static double loss_of(const backward_pass *b, const heed_lesson *l, double *d) {
    const heed_matrix *y = &l->part[b->end];
    double sum = 0;
    for (int i = 0; i < y->rows * y->cols; i++) {
        double off = y->x[i] - (b->target ? b->target[i] : 0);
        if (d) d[i] = off;
        sum += 0.5 * off * off;
    }
    return sum;
}

/* ---- gradients by part ---- */

static const struct {
    const char *name;
    size_t at; /* in heed_lesson_gradient */
} gradients[] = {
    [HEED_LESSON_X] = {"dX", offsetof(heed_lesson_gradient, x)},
    [HEED_LESSON_Z] = {"dZ", offsetof(heed_lesson_gradient, z)},
    [HEED_LESSON_W_Q] = {"dW_Q", offsetof(heed_lesson_gradient, w_q)},
    [HEED_LESSON_W_K] = {"dW_K", offsetof(heed_lesson_gradient, w_k)},
    [HEED_LESSON_W_V] = {"dW_V", offsetof(heed_lesson_gradient, w_v)},
    [HEED_LESSON_B_Q] = {"dB_Q", offsetof(heed_lesson_gradient, b_q)},
    [HEED_LESSON_B_K] = {"dB_K", offsetof(heed_lesson_gradient, b_k)},
    [HEED_LESSON_B_V] = {"dB_V", offsetof(heed_lesson_gradient, b_v)},
    [HEED_LESSON_Q] = {"dQ", offsetof(heed_lesson_gradient, q)},
    [HEED_LESSON_K] = {"dK", offsetof(heed_lesson_gradient, k)},
    [HEED_LESSON_V] = {"dV", offsetof(heed_lesson_gradient, v)},
    [HEED_LESSON_Q_R] = {"dQ_R", offsetof(heed_lesson_gradient, q_r)},
    [HEED_LESSON_K_R] = {"dK_R", offsetof(heed_lesson_gradient, k_r)},
    [HEED_LESSON_RAW] = {"dR", offsetof(heed_lesson_gradient, raw)},
    [HEED_LESSON_SCORES] = {"dS", offsetof(heed_lesson_gradient, scores)},
    [HEED_LESSON_WEIGHTS] = {"dP", offsetof(heed_lesson_gradient, weights)},
    [HEED_LESSON_OUTPUT] = {"dO", offsetof(heed_lesson_gradient, output)},
    [HEED_LESSON_W_H] = {"dW_h", offsetof(heed_lesson_gradient, w_h)},
    [HEED_LESSON_B_O] = {"dB_O", offsetof(heed_lesson_gradient, b_o)},
    [HEED_LESSON_GAIN] = {"dgain", offsetof(heed_lesson_gradient, gain)},
    [HEED_LESSON_BIAS] = {"dbias", offsetof(heed_lesson_gradient, bias)},
    [HEED_LESSON_ALL] = {"dU", offsetof(heed_lesson_gradient, all)},
    [HEED_LESSON_NORMED] = {"dY", offsetof(heed_lesson_gradient, normed)},
};

static const heed_matrix *gradient_of(const backward_pass *b, heed_lesson_part part) {
    return (const void *)((const char *)&b->g + gradients[part].at);
}

/* ---- a cell by finite difference ---- */

static double loss_with(explaining *e, const backward_pass *b, const backward_check *k,
                        double change) {
    heed_lesson l;
    double loss = (double)NAN;
    if (heed_lesson_make(e->c, &e->w.lesson.args, &l)) {
        l.part[k->part].x[k->row * l.part[k->part].cols + k->col] += change;
        heed_lesson_compute(&l);
        loss = loss_of(b, &l, NULL);
    }
    heed_lesson_free(&l);
    return loss;
}

/* Checks the cell with the largest gradient by (L(w + h) - L(w - h)) / 2h. */
static void check_cell(explaining *e, backward_pass *b, heed_lesson_part part) {
    const heed_matrix *d = gradient_of(b, part);
    backward_check k = {.part = part, .row = largest_row(d), .step = 1e-5};
    k.col = largest_in_row(d, k.row);
    k.value = heed_matrix_at(&e->w.lesson.part[part], k.row, k.col);
    k.gradient = heed_matrix_at(d, k.row, k.col);
    k.up = loss_with(e, b, &k, k.step);
    k.down = loss_with(e, b, &k, -k.step);
    k.difference = (k.up - k.down) / (2 * k.step);
    b->check[b->checks++] = k;
}

/* Checks one cell of W_Q, whose gradient depends on all others, and of each matrix that only a
 * layer has. */
static void check_cells(explaining *e, backward_pass *b) {
    check_cell(e, b, HEED_LESSON_W_Q);
    if (!b->layer) return;
    check_cell(e, b, HEED_LESSON_W_H);
    if (has_bias(e, HEED_LESSON_B_O)) check_cell(e, b, HEED_LESSON_B_O);
    if (!b->norm) return;
    check_cell(e, b, HEED_LESSON_GAIN);
    check_cell(e, b, HEED_LESSON_BIAS);
}

const char *backward_check_name(const explaining *e, const backward_check *k, char text[160]) {
    const char *const *rows = row_labels_of(&e->w, k->part);
    char row[64], col[64];
    short_label(col, col_labels_of(&e->w, k->part)[k->col]);
    snprintf(text, 160, "[%s%s%s]", rows ? short_label(row, rows[k->row]) : "", rows ? ", " : "",
             col);
    return text;
}

/* ---- the steps ---- */

/* The first step: the loss and its gradient. */
static void describe_loss(const explaining *e, backward_pass *b) {
    char loss[32];
    heed_matrix one = {1, 1, &b->loss};
    const char *d = b->norm ? "dY" : b->layer ? "dU" : "dO", *note = "";
    if (b->norm)
        note = ", for Y = LN(X + all heads): how far the layer moves its tokens";
    else if (b->layer)
        note = ": how far the layer moves its tokens";
    else if (!b->target)
        note = ", with a target of 0";
    b->of = b->norm ? "Y" : b->layer ? "all heads" : e->columns ? "H" : "output";
    b->minus = b->norm ? " - X" : b->layer ? "" : " - target";
    snprintf(b->of_loss, sizeof b->of_loss,
             "Backward from here. The loss is L = 1/2 sum (%s%s)^2 = %s%s. %s says how L changes "
             "with each number of %s; every gradient below has the shape of what it belongs to.%s",
             b->of, b->minus, number_text(loss, b->loss, matrix_digits(&one, e->look.precision)),
             note, d, b->layer ? b->of : "the output",
             has_layer(&e->w) && !b->layer
                 ? " W_h stands behind the output and has no part in this loss: a target is given."
                 : "");
}

static void describe_softmax(const explaining *e, backward_pass *b) {
    const char *line = e->columns ? "column" : "row";
    snprintf(b->of_softmax, sizeof b->of_softmax,
             "The weights of a %s sum to 1: what one gains the others lose, so each %s of dS sums "
             "to 0. Where a weight is 0 or 1 nothing flows: attention that is all or nothing "
             "learns no more.%s",
             line, line,
             e->w.lesson.args.hard ? " A hard selection has no slope; here, as in training, dS is "
                                     "that of the softmax of the same scores."
                                   : "");
}

/* A factor is a part, its transpose, or the gradient of a part or its transpose. */
typedef enum { NO_TERM, PLAIN_PART, TURNED, GRADIENT, TURNED_GRADIENT } term_kind;

/* The products that give a gradient, unless it is that of the loss itself. */
typedef struct {
    heed_lesson_part left;
    term_kind left_kind;
    heed_lesson_part right;
    term_kind right_kind;
} factors;
static const factors products[HEED_LESSON_COUNT] = {
    [HEED_LESSON_W_H] = {HEED_LESSON_OUTPUT, TURNED, HEED_LESSON_ALL, GRADIENT},
    [HEED_LESSON_OUTPUT] = {HEED_LESSON_ALL, GRADIENT, HEED_LESSON_W_H, TURNED},
    [HEED_LESSON_V] = {HEED_LESSON_WEIGHTS, TURNED, HEED_LESSON_OUTPUT, GRADIENT},
    [HEED_LESSON_WEIGHTS] = {HEED_LESSON_OUTPUT, GRADIENT, HEED_LESSON_V, TURNED},
    [HEED_LESSON_Q] = {HEED_LESSON_RAW, GRADIENT, HEED_LESSON_K, PLAIN_PART},
    [HEED_LESSON_K] = {HEED_LESSON_RAW, TURNED_GRADIENT, HEED_LESSON_Q, PLAIN_PART},
    [HEED_LESSON_Q_R] = {HEED_LESSON_RAW, GRADIENT, HEED_LESSON_K_R, PLAIN_PART},
    [HEED_LESSON_K_R] = {HEED_LESSON_RAW, TURNED_GRADIENT, HEED_LESSON_Q_R, PLAIN_PART},
    [HEED_LESSON_W_Q] = {HEED_LESSON_X, TURNED, HEED_LESSON_Q, GRADIENT},
    [HEED_LESSON_W_K] = {HEED_LESSON_Z, TURNED, HEED_LESSON_K, GRADIENT},
    [HEED_LESSON_W_V] = {HEED_LESSON_Z, TURNED, HEED_LESSON_V, GRADIENT},
};

/* Those of a gradient; NULL: there are none. Of rotated queries and keys the gradients are
 * products, and those of Q and K are these rotated back. */
static const factors *factors_of_gradient(const explaining *e, heed_lesson_part part) {
    bool back = is_rotary(&e->w) && (part == HEED_LESSON_Q || part == HEED_LESSON_K);
    return back || !products[part].left_kind ? NULL : &products[part];
}

/* When a step is taken: with any loss, that of the head or that of the layer, which ends with the
 * sum of the heads or with a norm; by whether keys are made of X or of Z; and with rotary positions
 * or without. A bias must also be there. */
enum { ALWAYS, OF_HEAD, OF_LAYER, OF_SUM, OF_NORM, OF_X, OF_Z, ROTARY, UNROTATED };

static const backward_step steps[] = {
    {OF_HEAD, HEED_LESSON_OUTPUT, "Loss", "dO = output - target", "dO = H - target", NULL},
    {OF_SUM, HEED_LESSON_ALL, "Loss", "dU = all heads", "dU = all heads", NULL},
    {OF_NORM, HEED_LESSON_NORMED, "Loss", "dY = Y - X", "dY = Y - X", NULL},
    {OF_NORM, HEED_LESSON_GAIN, "Gain", "dgain = sum of the rows of dY N",
     "dgain = sum of the columns of dY N",
     "N is LN(X + all heads) before gain and bias, which act on every token and hear from all of "
     "them."},
    {OF_NORM, HEED_LESSON_BIAS, "Bias", "dbias = sum of the rows of dY",
     "dbias = sum of the columns of dY", NULL},
    {OF_NORM, HEED_LESSON_ALL, "Norm", "dU = (G - mean G - N mean(G N)) / deviation, G = dY gain",
     "dU = (G - mean G - N mean(G N)) / deviation, G = dY gain",
     "U is X + all heads; means are of one token. What moves all numbers of a token alike the norm "
     "takes back, so each token's numbers of dU sum to 0. The addition hands dU on to both: to the "
     "heads, and past them to X."},
    {OF_LAYER, HEED_LESSON_B_O, "B_O", "dB_O = sum of the rows of dU",
     "dB_O = sum of the columns of dU",
     "The layer's bias is added to every token, and hears from all of them."},
    {OF_LAYER, HEED_LESSON_W_H, "W_h", "dW_h = output' dU", "dW_h' = dU H'",
     "This head's part of the output matrix; the other heads have theirs, by their own outputs."},
    {OF_LAYER, HEED_LESSON_OUTPUT, "Output", "dO = dU W_h'", "dO = W_h dU", NULL},
    {ALWAYS, HEED_LESSON_V, "Values", "dV = weights' dO", "dV = dO A'",
     "A value hears from every token that looked at it, as much as it looked."},
    {ALWAYS, HEED_LESSON_WEIGHTS, "Weights", "dP = dO V'", "dP = V' dO",
     "A weight should grow where the value points against dO."},
    {ALWAYS, HEED_LESSON_SCORES, "Softmax", "dS = P (dP - sum of P dP in the row)",
     "dS = A (dP - sum of A dP in the column)", NULL},
    {UNROTATED, HEED_LESSON_Q, "Queries", "dQ = dR K, dR = beta dS", "dQ = K dR, dR = beta dS",
     NULL},
    {UNROTATED, HEED_LESSON_K, "Keys", "dK = dR' Q", "dK = Q dR'", NULL},
    {ROTARY, HEED_LESSON_Q_R, "Rotated queries", "dQ_R = dR K_R, dR = beta dS",
     "dQ_R = K_R dR, dR = beta dS", NULL},
    {ROTARY, HEED_LESSON_K_R, "Rotated keys", "dK_R = dR' Q_R", "dK_R = Q_R dR'", NULL},
    {ROTARY, HEED_LESSON_Q, "Queries", "dQ is dQ_R rotated back", "dQ is dQ_R rotated back",
     "Each row is rotated by the opposite angles: what a rotation turned forward, its gradient "
     "turns "
     "back."},
    {ROTARY, HEED_LESSON_K, "Keys", "dK is dK_R rotated back", "dK is dK_R rotated back", NULL},
    {ALWAYS, HEED_LESSON_W_Q, "W_Q", "dW_Q = X' dQ", "dW_Q' = dQ X'",
     "A weight matrix hears from all tokens at once."},
    {OF_X, HEED_LESSON_W_K, "W_K", "dW_K = X' dK", "dW_K' = dK X'", NULL},
    {OF_Z, HEED_LESSON_W_K, "W_K", "dW_K = Z' dK", "dW_K' = dK Z'", NULL},
    {OF_X, HEED_LESSON_W_V, "W_V", "dW_V = X' dV", "dW_V' = dV X'", NULL},
    {OF_Z, HEED_LESSON_W_V, "W_V", "dW_V = Z' dV", "dW_V' = dV Z'", NULL},
    {ALWAYS, HEED_LESSON_B_Q, "B_Q", "dB_Q = sum of the rows of dQ",
     "dB_Q = sum of the columns of dQ",
     "A bias is added to every token, and hears from all of them."},
    {ALWAYS, HEED_LESSON_B_K, "B_K", "dB_K = sum of the rows of dK",
     "dB_K = sum of the columns of dK",
     "Always 0: what is added to all keys moves all scores of a query alike, and softmax does not "
     "see that."},
    {ALWAYS, HEED_LESSON_B_V, "B_V", "dB_V = sum of the rows of dV",
     "dB_V = sum of the columns of dV", NULL},
    {OF_X, HEED_LESSON_X, "Inputs", "dX = dQ W_Q' + dK W_K' + dV W_V'",
     "dX = W_Q dQ + W_K dK + W_V dV", NULL},
    {OF_Z, HEED_LESSON_X, "Inputs", "dX = dQ W_Q'", "dX = W_Q dQ", NULL},
    {OF_Z, HEED_LESSON_Z, "Memory", "dZ = dK W_K' + dV W_V'", "dZ = W_K dK + W_V dV", NULL},
};

/* The words of a step that depend on the loss. */
static const char *words_of(const backward_pass *b, const backward_step *s) {
    if (!b->count) return b->of_loss;
    if (s->part == HEED_LESSON_SCORES) return b->of_softmax;
    if (s->part != HEED_LESSON_X) return s->words;
    return b->layer ? "What goes back through this head to the layer before, or to the word "
                      "vectors; dU goes there too, past the heads."
                    : "What goes back to the layer before, or to the word vectors.";
}

static void add_steps(const explaining *e, backward_pass *b) {
    bool self = e->w.lesson.self;
    const bool runs[] = {[ALWAYS] = true,
                         [OF_HEAD] = !b->layer,
                         [OF_LAYER] = b->layer,
                         [OF_SUM] = b->layer && !b->norm,
                         [OF_NORM] = b->norm,
                         [OF_X] = self,
                         [OF_Z] = !self,
                         [ROTARY] = is_rotary(&e->w),
                         [UNROTATED] = !is_rotary(&e->w)};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        backward_step s = steps[i];
        if (!runs[s.when] || (is_bias(s.part) && !has_bias(e, s.part))) continue;
        s.words = words_of(b, &s);
        b->step[b->count++] = s;
    }
}

bool backward_open(explaining *e, backward_pass *b) {
    const heed_lesson *l = &e->w.lesson;
    *b = (backward_pass){.end = HEED_LESSON_OUTPUT, .target = e->w.target};
    b->layer = has_layer(&e->w) && !e->w.target;
    b->norm = b->layer && has_norm(&e->w);
    if (b->layer) b->end = b->norm ? HEED_LESSON_NORMED : HEED_LESSON_ALL;
    if (b->norm) b->target = l->part[HEED_LESSON_X].x;
    const heed_matrix *y = &l->part[b->end];
    double *d = malloc((size_t)y->rows * (size_t)y->cols * sizeof *d);
    if (!d) return heed_fail(e->c, HEED_FAILED, "no memory for a gradient");
    b->loss = loss_of(b, l, d);
    bool ok = b->layer ? heed_lesson_backward_layer(e->c, l, d, &b->g)
                       : heed_lesson_backward(e->c, l, d, NULL, &b->g);
    free(d);
    if (!ok) return false;
    check_cells(e, b);
    describe_loss(e, b);
    describe_softmax(e, b);
    add_steps(e, b);
    return true;
}

void backward_close(backward_pass *b) { heed_lesson_gradient_free(&b->g); }

/* ---- drawing ---- */

/* W_Q, W_K, W_V or W_h, which are transposed in the notation with tokens as columns. */
static bool is_matrix(heed_lesson_part part) {
    return part == HEED_LESSON_W_H || (part >= HEED_LESSON_W_Q && part <= HEED_LESSON_W_V);
}

static const heed_matrix *matrix_of(const explaining *e, const backward_pass *b,
                                    heed_lesson_part part, term_kind kind) {
    return kind >= GRADIENT ? gradient_of(b, part) : &e->w.lesson.part[part];
}

static bool is_turned(term_kind kind) { return kind == TURNED || kind == TURNED_GRADIENT; }

static matrix_view view_of(const explaining *e, const backward_pass *b, heed_lesson_part part,
                           term_kind kind, char name[32]) {
    matrix_view v = worked_view(e, part, is_turned(kind));
    bool prime = is_matrix(part) ? is_turned(kind) != e->columns : is_turned(kind);
    const char *plain = part == HEED_LESSON_Z && e->w.lesson.self   ? "X"
                        : e->columns && part == HEED_LESSON_WEIGHTS ? "A"
                        : e->columns && part == HEED_LESSON_OUTPUT  ? "H"
                                                                    : heed_lesson_name(part);
    snprintf(name, 32, "%s%s", kind >= GRADIENT ? gradients[part].name : plain, prime ? "'" : "");
    v.name = name;
    v.m = matrix_of(e, b, part, kind);
    return v;
}

int backward_views(const explaining *e, const backward_pass *b, const backward_step *s,
                   matrix_view parts[3], char names[3][32]) {
    const factors *f = s == &b->step[0] ? NULL : factors_of_gradient(e, s->part);
    int last = f ? 2 : 0;
    if (f) {
        parts[e->columns ? 1 : 0] = view_of(e, b, f->left, f->left_kind, names[0]);
        parts[e->columns ? 0 : 1] = view_of(e, b, f->right, f->right_kind, names[1]);
    }
    parts[last] = view_of(e, b, s->part, GRADIENT, names[last]);
    return last + 1;
}

/* The cell of a gradient that is written out: in the chosen cell's row or, for a weight matrix, the
 * largest. */
static bool choose(const explaining *e, heed_lesson_part part, const heed_matrix *d, int *row,
                   int *col) {
    bool pairs = part >= HEED_LESSON_RAW && part <= HEED_LESSON_WEIGHTS;
    bool chosen = chosen_cell(e, part, row, col);
    if (e->part >= 0 && e->row) return chosen;
    if (is_matrix(part)) *row = largest_row(d);
    if (!pairs) *col = largest_in_row(d, *row);
    return true;
}

/* Draws a single matrix; or a b = out and, with the row and the column of a chosen cell, its sum of
 * products. */
static void draw_parts(explaining *e, const backward_pass *b, const backward_step *s) {
    char names[3][32], cell[256], text[320];
    matrix_view parts[3];
    const heed_matrix *out = gradient_of(b, s->part);
    int row, col, count = backward_views(e, b, s, parts, names);
    bool chosen = count == 3 && choose(e, s->part, out, &row, &col);
    if (chosen) {
        parts[2].row = 1 + (parts[2].transposed ? col : row);
        parts[2].col = 1 + (parts[2].transposed ? row : col);
    }
    draw_equation(&e->out, &e->look, count, parts, (const char *[]){"", "·", "="});
    if (!chosen) return;
    cell_name(e, s->part, row, col, cell, sizeof cell);
    snprintf(text, sizeof text, "%s%s", names[2], strchr(cell, '['));
    const factors *f = factors_of_gradient(e, s->part);
    dot_product d = {.left = matrix_of(e, b, f->left, f->left_kind),
                     .right = matrix_of(e, b, f->right, f->right_kind),
                     .out = out,
                     .how = {.left_transposed = is_turned(f->left_kind),
                             .right_transposed = is_turned(f->right_kind)}};
    gap(e);
    write_dot(e, text, &d, row, col);
}

static void draw_check(explaining *e, const backward_check *k) {
    const char *part = heed_lesson_name(k->part);
    char cell[160], gradient[32];
    say(e, "%s%s = %.6g, moved by h = %g to both sides:", part, backward_check_name(e, k, cell),
        k->value, k->step);
    snprintf(gradient, sizeof gradient, "d%s above", part);
    heed_text_add(&e->out, "  %-16s %18.12f\n  %-16s %18.12f\n  %-16s %18.12f\n  %-16s %18.12f\n",
                  "L(w + h)", k->up, "L(w - h)", k->down, "difference / 2h", k->difference,
                  gradient, k->gradient);
    gap(e);
    if (e->w.lesson.args.hard && k->part == HEED_LESSON_W_Q)
        put_words(e, "They need not agree: the selection is hard, and the gradient is that of the "
                     "softmax in its place.");
    else
        put_words(e, "They differ by %.1e.", fabs(k->difference - k->gradient));
}

void explain_backward(explaining *e, int step) {
    backward_pass b;
    int query = e->w.query, key = e->w.key;
    if (backward_open(e, &b)) {
        /* the query and the key where the scores' gradient is largest, unless a cell is given */
        e->w.query = largest_row(&b.g.scores) + 1;
        e->w.key = largest_in_row(&b.g.scores, e->w.query - 1) + 1;
        for (const backward_step *s = b.step; s < b.step + b.count; s++) {
            gap(e);
            heading(e, "%d. %s: %s", step++, s->title, e->columns ? s->columns : s->rows);
            if (s->words) say(e, "%s", s->words);
            draw_parts(e, &b, s);
        }
        gap(e);
        heading(e, "%d. Check: %s by finite difference", step,
                b.checks > 1 ? "a cell of each" : "one cell");
        for (int i = 0; i < b.checks; i++) {
            if (i) gap(e);
            draw_check(e, &b.check[i]);
        }
    }
    e->w.query = query, e->w.key = key;
    backward_close(&b);
}

json_t *backward_json(explaining *e) {
    backward_pass b;
    json_t *o = json_object(), *checks = json_array();
    if (backward_open(e, &b)) {
        json_object_set_new(o, "loss", json_number(b.loss));
        json_object_set_new(o, "dR", matrix_json(&b.g.raw));
        for (int i = 0; i < b.count; i++)
            json_object_set_new(o, gradients[b.step[i].part].name,
                                matrix_json(gradient_of(&b, b.step[i].part)));
        for (const backward_check *k = b.check; k < b.check + b.checks; k++)
            json_array_append_new(checks, json_pack("{s:s, s:i, s:i, s:f, s:f}", "of",
                                                    heed_lesson_name(k->part), "row", k->row + 1,
                                                    "column", k->col + 1, "gradient", k->gradient,
                                                    "difference", k->difference));
    }
    json_object_set_new(o, "check", checks);
    backward_close(&b);
    return o;
}
