/* backward.c -- --backward: the gradients of a loss, step by step from the output back. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The loss L = 1/2 sum (output - target)^2 or, for a head with W_h and no target, the same of the
 * layer's output, and its gradients. */
typedef struct {
    bool layer, norm;       /* the loss is of the layer's output, which a norm computes */
    heed_lesson_part end;   /* the part that the loss is of */
    const double *target;   /* what that is compared with; NULL: zeros */
    heed_lesson_gradient g; /* heed_lesson_gradient_free */
    double loss;
} backward_pass;

/* The loss of l, a head like that of e. d: gets its gradient by the part that it is of, or NULL. */
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

static bool compute(explaining *e, backward_pass *b) {
    const heed_lesson *l = &e->w.lesson;
    *b = (backward_pass){.end = HEED_LESSON_OUTPUT, .target = e->w.target};
    b->layer = has_part(&e->w, HEED_LESSON_W_H) && !e->w.target;
    b->norm = b->layer && has_part(&e->w, HEED_LESSON_NORMED);
    if (b->layer) b->end = b->norm ? HEED_LESSON_NORMED : HEED_LESSON_ALL;
    if (b->norm) b->target = l->part[HEED_LESSON_X].x;
    heed_matrix d = matrix_new(e, l->part[b->end].rows, l->part[b->end].cols);
    b->loss = loss_of(b, l, d.x);
    return b->layer ? heed_lesson_backward_layer(e->c, l, d.x, &b->g)
                    : heed_lesson_backward(e->c, l, d.x, NULL, &b->g);
}

static const char *const names[HEED_LESSON_COUNT] = {
    [HEED_LESSON_X] = "dX",       [HEED_LESSON_Z] = "dZ",       [HEED_LESSON_W_Q] = "dW_Q",
    [HEED_LESSON_W_K] = "dW_K",   [HEED_LESSON_W_V] = "dW_V",   [HEED_LESSON_B_Q] = "dB_Q",
    [HEED_LESSON_B_K] = "dB_K",   [HEED_LESSON_B_V] = "dB_V",   [HEED_LESSON_Q] = "dQ",
    [HEED_LESSON_K] = "dK",       [HEED_LESSON_V] = "dV",       [HEED_LESSON_Q_R] = "dQ_R",
    [HEED_LESSON_K_R] = "dK_R",   [HEED_LESSON_RAW] = "dR",     [HEED_LESSON_SCORES] = "dS",
    [HEED_LESSON_WEIGHTS] = "dP", [HEED_LESSON_OUTPUT] = "dO",  [HEED_LESSON_W_H] = "dW_h",
    [HEED_LESSON_B_O] = "dB_O",   [HEED_LESSON_GAIN] = "dgain", [HEED_LESSON_BIAS] = "dbias",
    [HEED_LESSON_ALL] = "dU",     [HEED_LESSON_NORMED] = "dY",
};

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

/* When a step is taken: with any loss, that of the head or that of the layer, which ends with the
 * sum of the heads or with a norm; by whether keys are made of X or of Z; and with rotary positions
 * or without. A bias must also be there. */
enum { ALWAYS, OF_HEAD, OF_LAYER, OF_SUM, OF_NORM, OF_X, OF_Z, ROTARY, UNROTATED };

static const struct {
    int when;
    heed_lesson_part part;
    const char *title, *rows, *columns; /* "Values", and the formula in either notation */
    const char *words;                  /* or NULL */
} steps[] = {
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

/* Whether a step is taken. */
static bool runs(const explaining *e, const backward_pass *b, size_t i) {
    bool self = e->w.lesson.self, rotary = has_part(&e->w, HEED_LESSON_Q_R);
    const bool when[] = {[ALWAYS] = true,       [OF_HEAD] = !b->layer,
                         [OF_LAYER] = b->layer, [OF_SUM] = b->layer && !b->norm,
                         [OF_NORM] = b->norm,   [OF_X] = self,
                         [OF_Z] = !self,        [ROTARY] = rotary,
                         [UNROTATED] = !rotary};
    return when[steps[i].when] && (!is_bias(steps[i].part) || has_bias(e, steps[i].part));
}

/* ---- the list ---- */

/* The first step: the loss and its gradient. */
static void describe_loss(explaining *e, const backward_pass *b, lesson_step *s) {
    char loss[32];
    heed_matrix one = {1, 1, (double[]){b->loss}};
    const char *of = b->norm ? "Y" : b->layer ? "all heads" : e->columns ? "H" : "output";
    s->words = text_of(
        e,
        "Backward from here. The loss is L = 1/2 sum (%s%s)^2%s. %s says how L changes with each "
        "number of %s; every gradient below has the shape of what it belongs to.%s",
        of,
        b->norm    ? " - X"
        : b->layer ? ""
                   : " - target",
        b->norm    ? ", for Y = LN(X + all heads): how far the layer moves its tokens"
        : b->layer ? ": how far the layer moves its tokens"
                   : "",
        names[b->end], b->layer ? of : "the output",
        has_part(&e->w, HEED_LESSON_W_H) && !b->layer
            ? " W_h stands behind the output and has no part in this loss: a target is given."
            : "");
    s->now =
        text_of(e, "L = %s%s.", number_text(loss, b->loss, matrix_digits(&one, e->look.precision)),
                b->target || b->layer ? "" : ", with a target of 0");
    s->loss = true;
}

static const char *softmax_words(explaining *e) {
    const char *line = e->columns ? "column" : "row";
    return text_of(e,
                   "The weights of a %s sum to 1: what one gains the others lose, so each %s of dS "
                   "sums to 0. Where a weight is 0 or 1 nothing flows: attention that is all or "
                   "nothing learns no more.%s",
                   line, line,
                   e->w.lesson.args.hard ? " A hard selection has no slope; here, as in training, "
                                           "dS is that of the softmax of the same scores."
                                         : "");
}

/* W_Q, W_K, W_V or W_h, which are transposed in the notation with tokens as columns. */
static bool is_matrix(heed_lesson_part part) {
    return part == HEED_LESSON_W_H || (part >= HEED_LESSON_W_Q && part <= HEED_LESSON_W_V);
}

static matrix_view view_of(explaining *e, const backward_pass *b, heed_lesson_part part,
                           term_kind kind) {
    bool turned = kind == TURNED || kind == TURNED_GRADIENT;
    bool prime = turned != (is_matrix(part) && e->columns);
    matrix_view v = worked_view(e, part, turned);
    const char *plain = e->columns && part == HEED_LESSON_WEIGHTS  ? "A"
                        : e->columns && part == HEED_LESSON_OUTPUT ? "H"
                                                                   : v.key;
    v.blank = NULL;
    if (kind >= GRADIENT) {
        plain = v.key = names[part];
        v.m = b->g.part[part];
        double *copy = matrix_of(e, v.m.rows, v.m.cols, v.m.x).x; /* it outlives b */
        v.m.x = copy;
    }
    v.name = prime ? text_of(e, "%s'", plain) : plain;
    return v;
}

/* The cell of a gradient that is written out: in the chosen cell's row or, for a weight matrix, the
 * largest. */
static void choose(explaining *e, heed_lesson_part part, const heed_matrix *d) {
    int row, col;
    bool pairs = part >= HEED_LESSON_RAW && part <= HEED_LESSON_WEIGHTS;
    bool chosen = chosen_cell(e, part, &row, &col);
    if (e->part < 0 || !e->row) {
        if (is_matrix(part)) row = largest_row(d);
        if (!pairs) col = largest_in_row(d, row);
        chosen = true;
    }
    choose_step_cell(e, chosen, row, col);
}

static void add_gradient(explaining *e, const backward_pass *b, heed_lesson_part part) {
    const factors *f = &products[part];
    bool back = has_part(&e->w, HEED_LESSON_Q_R) &&
                (part == HEED_LESSON_Q || part == HEED_LESSON_K); /* rotated back: no product */
    bool product = f->left_kind && !back && part != b->end;
    if (product) {
        matrix_view left = view_of(e, b, f->left, f->left_kind);
        matrix_view right = view_of(e, b, f->right, f->right_kind);
        show_view(e, "", e->columns ? right : left);
        show_view(e, "·", e->columns ? left : right);
    }
    show_view(e, product ? "=" : "", view_of(e, b, part, GRADIENT));
    if (product) choose(e, part, &b->g.part[part]);
}

/* ---- a cell by finite difference ---- */

typedef struct {
    int row, col;
    double value, gradient, up, down, difference;
} check;
static const double CHANGE = 1e-5;

static double loss_with(explaining *e, const backward_pass *b, heed_lesson_part part, int at,
                        double change) {
    heed_lesson l;
    double loss = (double)NAN;
    if (heed_lesson_make(e->c, &e->w.lesson.args, &l)) {
        l.part[part].x[at] += change;
        heed_lesson_compute(&l);
        loss = loss_of(b, &l, NULL);
    }
    heed_lesson_free(&l);
    return loss;
}

/* Checks the cell with the largest gradient by (L(w + h) - L(w - h)) / 2h. */
static check check_of(explaining *e, const backward_pass *b, heed_lesson_part part) {
    const heed_matrix *d = &b->g.part[part];
    check k = {.row = largest_row(d)};
    k.col = largest_in_row(d, k.row);
    int at = k.row * d->cols + k.col;
    k.value = e->w.lesson.part[part].x[at];
    k.gradient = d->x[at];
    k.up = loss_with(e, b, part, at, CHANGE);
    k.down = loss_with(e, b, part, at, -CHANGE);
    k.difference = (k.up - k.down) / (2 * CHANGE);
    return k;
}

/* The parts of which a cell is checked: W_Q, whose gradient depends on all others, and each matrix
 * that only a layer has. */
static int checked_parts(const explaining *e, const backward_pass *b, heed_lesson_part list[5]) {
    int n = 0;
    list[n++] = HEED_LESSON_W_Q;
    if (b->layer) list[n++] = HEED_LESSON_W_H;
    if (b->layer && has_bias(e, HEED_LESSON_B_O)) list[n++] = HEED_LESSON_B_O;
    if (b->norm) list[n++] = HEED_LESSON_GAIN, list[n++] = HEED_LESSON_BIAS;
    return n;
}

static void add_check(explaining *e, const backward_pass *b, heed_lesson_part part, bool first,
                      bool more) {
    const char **labels = keep(e, malloc(4 * sizeof *labels));
    check k = check_of(e, b, part);
    matrix_view v = worked_view(e, part, e->columns);
    labels[0] = "L(w + h)", labels[1] = "L(w - h)", labels[2] = "difference / 2h";
    labels[3] = text_of(e, "d%s above", v.key);
    v.name = v.key;
    lesson_step *s = add_step(e, first ? "Check" : NULL,
                              !first ? NULL
                              : more ? "a cell of each by finite difference"
                                     : "one cell by finite difference",
                              text_of(e, "%s = %.6g, moved by h = %g to both sides:",
                                      cell_name(e, &v, k.row, k.col), k.value, CHANGE));
    show(e, "", "check", matrix_of(e, 4, 1, (double[]){k.up, k.down, k.difference, k.gradient}),
         labels, NULL)
        ->digits = 12;
    s->after = e->w.lesson.args.hard && part == HEED_LESSON_W_Q
                   ? "They need not agree: the selection is hard, and the gradient is that of the "
                     "softmax in its place."
                   : text_of(e, "They differ by %.1e.", fabs(k.difference - k.gradient));
}

void backward_steps(explaining *e) {
    backward_pass b;
    heed_lesson_part checked[5];
    int query = e->w.query, key = e->w.key;
    if (compute(e, &b)) {
        /* the query and the key where the scores' gradient is largest, unless a cell is given */
        e->w.query = largest_row(&b.g.part[HEED_LESSON_SCORES]) + 1;
        e->w.key = largest_in_row(&b.g.part[HEED_LESSON_SCORES], e->w.query - 1) + 1;
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            heed_lesson_part part = steps[i].part;
            if (!runs(e, &b, i)) continue;
            lesson_step *s = add_step(
                e, steps[i].title, e->columns ? steps[i].columns : steps[i].rows, steps[i].words);
            if (part == b.end) describe_loss(e, &b, s);
            if (part == HEED_LESSON_SCORES) s->words = softmax_words(e);
            if (part == HEED_LESSON_X)
                s->words = b.layer
                               ? "What goes back through this head to the layer before, or to the "
                                 "word vectors; dU goes there too, past the heads."
                               : "What goes back to the layer before, or to the word vectors.";
            add_gradient(e, &b, part);
        }
        int n = e->page ? 0 : checked_parts(e, &b, checked);
        for (int i = 0; i < n; i++) add_check(e, &b, checked[i], i == 0, n > 1);
    }
    e->w.query = query, e->w.key = key;
    heed_lesson_gradient_free(&b.g);
}

json_t *backward_json(explaining *e) {
    backward_pass b;
    heed_lesson_part checked[5];
    json_t *o = json_object(), *checks = json_array();
    if (compute(e, &b)) {
        json_object_set_new(o, "loss", json_number(b.loss));
        json_object_set_new(o, "dR", matrix_json(&b.g.part[HEED_LESSON_RAW]));
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            if (runs(e, &b, i))
                json_object_set_new(o, names[steps[i].part], matrix_json(&b.g.part[steps[i].part]));
        for (int i = 0, n = checked_parts(e, &b, checked); i < n; i++) {
            check k = check_of(e, &b, checked[i]);
            json_array_append_new(checks, json_pack("{s:s, s:i, s:i, s:f, s:f}", "of",
                                                    heed_lesson_name(checked[i]), "row", k.row + 1,
                                                    "column", k.col + 1, "gradient", k.gradient,
                                                    "difference", k.difference));
        }
    }
    json_object_set_new(o, "check", checks);
    heed_lesson_gradient_free(&b.g);
    return o;
}
