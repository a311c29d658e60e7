/* backward.c -- --backward: the gradients of a loss, step by step from the output back. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The row with the largest number. */
static int largest_row(const heed_matrix *m) {
    int best = 0;
    for (int i = 1; i < m->rows; i++)
        if (fabs(heed_matrix_at(m, i, largest_in_row(m, i))) >
            fabs(heed_matrix_at(m, best, largest_in_row(m, best))))
            best = i;
    return best;
}

/* ---- the loss ---- */

/* The part that the loss is of; and what that is compared with: a target, the input of a layer with
 * a norm, or (NULL) zeros. */
static heed_lesson_part end_of(const explaining *e, const backward_pass *b) {
    return !b->layer ? HEED_LESSON_OUTPUT : has_norm(&e->w) ? HEED_LESSON_NORMED : HEED_LESSON_ALL;
}
static const double *goal_of(const explaining *e, const backward_pass *b) {
    if (!b->layer) return e->w.target;
    return has_norm(&e->w) ? e->w.lesson.part[HEED_LESSON_X].x : NULL;
}

/* The loss L = 1/2 sum d^2 of l, a head like that of e. d: gets its gradient by the part that the
 * loss is of, or NULL. */
static double loss_of(const explaining *e, const backward_pass *b, const heed_lesson *l,
                      double *d) {
    const heed_matrix *y = &l->part[end_of(e, b)];
    const double *goal = goal_of(e, b);
    double sum = 0;
    for (int i = 0; i < y->rows * y->cols; i++) {
        double off = y->x[i] - (goal ? goal[i] : 0);
        if (d) d[i] = off;
        sum += 0.5 * off * off;
    }
    return sum;
}

/* ---- a cell by finite difference ---- */

static double loss_with(explaining *e, const backward_pass *b, const backward_check *k,
                        double change) {
    heed_lesson l;
    double loss = (double)NAN;
    if (heed_lesson_make(e->c, &e->w.lesson.args, &l)) {
        l.part[k->part].x[k->row * l.part[k->part].cols + k->col] += change;
        heed_lesson_compute(&l);
        loss = loss_of(e, b, &l, NULL);
    }
    heed_lesson_free(&l);
    return loss;
}

/* Checks the cell with the largest gradient by (L(w + h) - L(w - h)) / 2h. */
static void check_cell(explaining *e, backward_pass *b, heed_lesson_part part,
                       const heed_matrix *d) {
    backward_check k = {.part = part, .step = 1e-5};
    k.row = largest_row(d);
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
    check_cell(e, b, HEED_LESSON_W_Q, &b->g.w_q);
    if (!b->layer) return;
    check_cell(e, b, HEED_LESSON_W_H, &b->g.w_h);
    if (has_bias(e, HEED_LESSON_B_O)) check_cell(e, b, HEED_LESSON_B_O, &b->g.b_o);
    if (!has_norm(&e->w)) return;
    check_cell(e, b, HEED_LESSON_GAIN, &b->g.gain);
    check_cell(e, b, HEED_LESSON_BIAS, &b->g.bias);
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

static void add(backward_pass *b, backward_step s) { b->step[b->count++] = s; }

/* The first step: the loss and its gradient. */
static void describe_loss(const explaining *e, backward_pass *b) {
    char loss[32];
    heed_matrix one = {1, 1, &b->loss};
    const char *of = e->columns ? "H" : "output", *d = "dO", *note = "";
    if (b->layer && has_norm(&e->w))
        of = "Y", d = "dY",
        note = ", for Y = LN(X + all heads): how far the layer moves its tokens";
    else if (b->layer)
        of = "all heads", d = "dU", note = ": how far the layer moves its tokens";
    else if (!e->w.target)
        note = ", with a target of 0";
    b->of = of;
    b->minus = !b->layer ? " - target" : has_norm(&e->w) ? " - X" : "";
    snprintf(b->of_loss, sizeof b->of_loss,
             "Backward from here. The loss is L = 1/2 sum (%s%s)^2 = %s%s. %s says how L changes "
             "with each number of %s; every gradient below has the shape of what it belongs to.%s",
             of, b->minus, number_text(loss, b->loss, matrix_digits(&one, e->look.precision)), note,
             d, b->layer ? of : "the output",
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

static void add_norm(backward_pass *b) {
    add(b, (backward_step){.title = "Loss",
                           .rows = "dY = Y - X",
                           .columns = "dY = Y - X",
                           .words = b->of_loss,
                           .out = {&b->g.normed, HEED_LESSON_NORMED, "dY", false}});
    add(b, (backward_step){.title = "Gain",
                           .rows = "dgain = sum of the rows of dY N",
                           .columns = "dgain = sum of the columns of dY N",
                           .words = "N is LN(X + all heads) before gain and bias, which act on "
                                    "every token and hear from all of them.",
                           .out = {&b->g.gain, HEED_LESSON_GAIN, "dgain", false}});
    add(b, (backward_step){.title = "Bias",
                           .rows = "dbias = sum of the rows of dY",
                           .columns = "dbias = sum of the columns of dY",
                           .out = {&b->g.bias, HEED_LESSON_BIAS, "dbias", false}});
    add(b, (backward_step){.title = "Norm",
                           .rows = "dU = (G - mean G - N mean(G N)) / deviation, G = dY gain",
                           .columns = "dU = (G - mean G - N mean(G N)) / deviation, G = dY gain",
                           .words = "U is X + all heads; means are of one token. What moves all "
                                    "numbers of a token alike the norm takes back, so each token's "
                                    "numbers of dU sum to 0. The addition hands dU on to both: to "
                                    "the heads, and past them to X.",
                           .out = {&b->g.all, HEED_LESSON_ALL, "dU", false}});
}

/* Adds the steps from the layer's output back to dO. */
static void add_layer(const explaining *e, backward_pass *b) {
    const heed_matrix *p = e->w.lesson.part;
    gradient_term du = {&b->g.all, HEED_LESSON_ALL, "dU", false};
    if (has_norm(&e->w))
        add_norm(b);
    else
        add(b, (backward_step){.title = "Loss",
                               .rows = "dU = all heads",
                               .columns = "dU = all heads",
                               .words = b->of_loss,
                               .out = du});
    if (has_bias(e, HEED_LESSON_B_O))
        add(b, (backward_step){.title = "B_O",
                               .rows = "dB_O = sum of the rows of dU",
                               .columns = "dB_O = sum of the columns of dU",
                               .words = "The layer's bias is added to every token, and hears from "
                                        "all of them.",
                               .out = {&b->g.b_o, HEED_LESSON_B_O, "dB_O", false}});
    add(b, (backward_step){.title = "W_h",
                           .rows = "dW_h = output' dU",
                           .columns = "dW_h' = dU H'",
                           .words = "This head's part of the output matrix; the other heads have "
                                    "theirs, by their own outputs.",
                           .left = {&p[HEED_LESSON_OUTPUT], HEED_LESSON_OUTPUT, NULL, true},
                           .right = du,
                           .out = {&b->g.w_h, HEED_LESSON_W_H, "dW_h", false}});
    add(b, (backward_step){.title = "Output",
                           .rows = "dO = dU W_h'",
                           .columns = "dO = W_h dU",
                           .left = du,
                           .right = {&p[HEED_LESSON_W_H], HEED_LESSON_W_H, NULL, true},
                           .out = {&b->g.output, HEED_LESSON_OUTPUT, "dO", false}});
}

static void add_scores(const explaining *e, backward_pass *b) {
    const heed_matrix *p = e->w.lesson.part;
    gradient_term d_output = {&b->g.output, HEED_LESSON_OUTPUT, "dO", false};
    if (!b->layer)
        add(b, (backward_step){.title = "Loss",
                               .rows = "dO = output - target",
                               .columns = "dO = H - target",
                               .words = b->of_loss,
                               .out = d_output});
    add(b, (backward_step){.title = "Values",
                           .rows = "dV = weights' dO",
                           .columns = "dV = dO A'",
                           .words = "A value hears from every token that looked at it, as much as "
                                    "it looked.",
                           .left = {&p[HEED_LESSON_WEIGHTS], HEED_LESSON_WEIGHTS, NULL, true},
                           .right = d_output,
                           .out = {&b->g.v, HEED_LESSON_V, "dV", false}});
    add(b, (backward_step){.title = "Weights",
                           .rows = "dP = dO V'",
                           .columns = "dP = V' dO",
                           .words = "A weight should grow where the value points against dO.",
                           .left = d_output,
                           .right = {&p[HEED_LESSON_V], HEED_LESSON_V, NULL, true},
                           .out = {&b->g.weights, HEED_LESSON_WEIGHTS, "dP", false}});
    add(b, (backward_step){.title = "Softmax",
                           .rows = "dS = P (dP - sum of P dP in the row)",
                           .columns = "dS = A (dP - sum of A dP in the column)",
                           .words = b->of_softmax,
                           .out = {&b->g.scores, HEED_LESSON_SCORES, "dS", false}});
}

static void add_queries(const explaining *e, backward_pass *b) {
    const heed_matrix *p = e->w.lesson.part;
    add(b, (backward_step){.title = "Queries",
                           .rows = "dQ = dR K, dR = beta dS",
                           .columns = "dQ = K dR, dR = beta dS",
                           .left = {&b->g.raw, HEED_LESSON_RAW, "dR", false},
                           .right = {&p[HEED_LESSON_K], HEED_LESSON_K, NULL, false},
                           .out = {&b->g.q, HEED_LESSON_Q, "dQ", false}});
    add(b, (backward_step){.title = "Keys",
                           .rows = "dK = dR' Q",
                           .columns = "dK = Q dR'",
                           .left = {&b->g.raw, HEED_LESSON_RAW, "dR", true},
                           .right = {&p[HEED_LESSON_Q], HEED_LESSON_Q, NULL, false},
                           .out = {&b->g.k, HEED_LESSON_K, "dK", false}});
}

static void add_parameters(const explaining *e, backward_pass *b) {
    const heed_matrix *p = e->w.lesson.part;
    bool self = e->w.lesson.self;
    gradient_term z = {&p[HEED_LESSON_Z], HEED_LESSON_Z, NULL, true};
    add(b, (backward_step){.title = "W_Q",
                           .rows = "dW_Q = X' dQ",
                           .columns = "dW_Q' = dQ X'",
                           .words = "A weight matrix hears from all tokens at once.",
                           .left = {&p[HEED_LESSON_X], HEED_LESSON_X, NULL, true},
                           .right = {&b->g.q, HEED_LESSON_Q, "dQ", false},
                           .out = {&b->g.w_q, HEED_LESSON_W_Q, "dW_Q", false}});
    add(b, (backward_step){.title = "W_K",
                           .rows = self ? "dW_K = X' dK" : "dW_K = Z' dK",
                           .columns = self ? "dW_K' = dK X'" : "dW_K' = dK Z'",
                           .left = z,
                           .right = {&b->g.k, HEED_LESSON_K, "dK", false},
                           .out = {&b->g.w_k, HEED_LESSON_W_K, "dW_K", false}});
    add(b, (backward_step){.title = "W_V",
                           .rows = self ? "dW_V = X' dV" : "dW_V = Z' dV",
                           .columns = self ? "dW_V' = dV X'" : "dW_V' = dV Z'",
                           .left = z,
                           .right = {&b->g.v, HEED_LESSON_V, "dV", false},
                           .out = {&b->g.w_v, HEED_LESSON_W_V, "dW_V", false}});
}

static void add_biases(const explaining *e, backward_pass *b) {
    const backward_step steps[] = {
        {.title = "B_Q",
         .rows = "dB_Q = sum of the rows of dQ",
         .columns = "dB_Q = sum of the columns of dQ",
         .words = "A bias is added to every token, and hears from all of them.",
         .out = {&b->g.b_q, HEED_LESSON_B_Q, "dB_Q", false}},
        {.title = "B_K",
         .rows = "dB_K = sum of the rows of dK",
         .columns = "dB_K = sum of the columns of dK",
         .words = "Always 0: what is added to all keys moves all scores of a query alike, and "
                  "softmax does not see that.",
         .out = {&b->g.b_k, HEED_LESSON_B_K, "dB_K", false}},
        {.title = "B_V",
         .rows = "dB_V = sum of the rows of dV",
         .columns = "dB_V = sum of the columns of dV",
         .out = {&b->g.b_v, HEED_LESSON_B_V, "dB_V", false}}};
    for (int i = 0; i < 3; i++)
        if (has_bias(e, steps[i].out.like)) add(b, steps[i]);
}

static void add_inputs(const explaining *e, backward_pass *b) {
    bool self = e->w.lesson.self;
    add(b, (backward_step){.title = "Inputs",
                           .rows = self ? "dX = dQ W_Q' + dK W_K' + dV W_V'" : "dX = dQ W_Q'",
                           .columns = self ? "dX = W_Q dQ + W_K dK + W_V dV" : "dX = W_Q dQ",
                           .words = b->layer ? "What goes back through this head to the layer "
                                               "before, or to the word vectors; dU goes there "
                                               "too, past the heads."
                                             : "What goes back to the layer before, or to the "
                                               "word vectors.",
                           .out = {&b->g.x, HEED_LESSON_X, "dX", false}});
    if (self) return;
    add(b, (backward_step){.title = "Memory",
                           .rows = "dZ = dK W_K' + dV W_V'",
                           .columns = "dZ = W_K dK + W_V dV",
                           .out = {&b->g.z, HEED_LESSON_Z, "dZ", false}});
}

bool backward_open(explaining *e, backward_pass *b) {
    *b = (backward_pass){.layer = has_layer(&e->w) && !e->w.target};
    const heed_lesson *l = &e->w.lesson;
    const heed_matrix *y = &l->part[end_of(e, b)];
    double *d = malloc((size_t)y->rows * (size_t)y->cols * sizeof *d);
    if (!d) return heed_fail(e->c, HEED_FAILED, "no memory for a gradient");
    b->loss = loss_of(e, b, l, d);
    bool ok = b->layer ? heed_lesson_backward_layer(e->c, l, d, &b->g)
                       : heed_lesson_backward(e->c, l, d, NULL, &b->g);
    free(d);
    if (!ok) return false;
    check_cells(e, b);
    describe_loss(e, b);
    describe_softmax(e, b);
    if (b->layer) add_layer(e, b);
    add_scores(e, b);
    add_queries(e, b);
    add_parameters(e, b);
    add_biases(e, b);
    add_inputs(e, b);
    return true;
}

void backward_close(backward_pass *b) { heed_lesson_gradient_free(&b->g); }

/* ---- drawing ---- */

static void gap(explaining *e) { heed_text_put(&e->out, "\n", 1); }

/* W_Q, W_K, W_V or W_h, which are transposed in the notation with tokens as columns. */
static bool is_matrix(heed_lesson_part part) {
    return part == HEED_LESSON_W_H || (part >= HEED_LESSON_W_Q && part <= HEED_LESSON_W_V);
}

static matrix_view view_of(const explaining *e, const gradient_term *t, char name[32]) {
    matrix_view v = worked_view(e, t->like, t->turned);
    bool prime = is_matrix(t->like) ? t->turned != e->columns : t->turned;
    const char *plain = t->like == HEED_LESSON_Z && e->w.lesson.self   ? "X"
                        : e->columns && t->like == HEED_LESSON_WEIGHTS ? "A"
                        : e->columns && t->like == HEED_LESSON_OUTPUT  ? "H"
                                                                       : heed_lesson_name(t->like);
    snprintf(name, 32, "%s%s", t->name ? t->name : plain, prime ? "'" : "");
    v.name = name;
    v.m = t->m;
    return v;
}

int backward_views(const explaining *e, const backward_step *s, matrix_view parts[3],
                   char names[3][32]) {
    if (!s->left.m) {
        parts[0] = view_of(e, &s->out, names[0]);
        return 1;
    }
    parts[e->columns ? 1 : 0] = view_of(e, &s->left, names[0]);
    parts[e->columns ? 0 : 1] = view_of(e, &s->right, names[1]);
    parts[2] = view_of(e, &s->out, names[2]);
    return 3;
}

/* The cell of a gradient that is written out: in the chosen cell's row or, for a weight matrix, the
 * largest. */
static bool choose(const explaining *e, const gradient_term *t, int *row, int *col) {
    bool pairs = t->like >= HEED_LESSON_RAW && t->like <= HEED_LESSON_WEIGHTS;
    bool chosen = chosen_cell(e, t->like, row, col);
    if (e->part >= 0 && e->row) return chosen;
    if (is_matrix(t->like)) *row = largest_row(t->m);
    if (!pairs) *col = largest_in_row(t->m, *row);
    return true;
}

/* Draws a single matrix; or a b = out and, with the row and the column of a chosen cell, its sum of
 * products. */
static void draw_parts(explaining *e, const backward_step *s) {
    char names[3][32], cell[256], text[320];
    matrix_view parts[3];
    int row, col, count = backward_views(e, s, parts, names);
    bool chosen = count == 3 && choose(e, &s->out, &row, &col);
    if (chosen) {
        parts[2].row = 1 + (parts[2].transposed ? col : row);
        parts[2].col = 1 + (parts[2].transposed ? row : col);
    }
    draw_equation(&e->out, &e->look, count, parts, (const char *[]){"", "·", "="});
    if (!chosen) return;
    cell_name(e, s->out.like, row, col, cell, sizeof cell);
    snprintf(text, sizeof text, "%s%s", names[2], strchr(cell, '['));
    dot_product d = {s->left.m,
                     s->right.m,
                     s->out.m,
                     {.left_transposed = s->left.turned, .right_transposed = s->right.turned}};
    gap(e);
    write_dot(e, text, &d, row, col);
}

static void draw_step(explaining *e, const backward_step *s, int number) {
    gap(e);
    draw_heading(&e->out, &e->look, "%d. %s: %s", number, s->title,
                 e->columns ? s->columns : s->rows);
    if (s->words) {
        draw_words(&e->out, &e->look, "%s", s->words);
        gap(e);
    }
    draw_parts(e, s);
}

static void draw_check(explaining *e, const backward_check *k) {
    const char *part = heed_lesson_name(k->part);
    char cell[160], gradient[32];
    draw_words(&e->out, &e->look, "%s%s = %.6g, moved by h = %g to both sides:", part,
               backward_check_name(e, k, cell), k->value, k->step);
    gap(e);
    snprintf(gradient, sizeof gradient, "d%s above", part);
    const struct {
        const char *name;
        double x;
    } lines[] = {{"L(w + h)", k->up},
                 {"L(w - h)", k->down},
                 {"difference / 2h", k->difference},
                 {gradient, k->gradient}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        heed_text_add(&e->out, "  %-16s %18.12f\n", lines[i].name, lines[i].x);
    gap(e);
    if (e->w.lesson.args.hard && k->part == HEED_LESSON_W_Q)
        draw_words(&e->out, &e->look,
                   "They need not agree: the selection is hard, and the gradient is that of the "
                   "softmax in its place.");
    else
        draw_words(&e->out, &e->look, "They differ by %.1e.", fabs(k->difference - k->gradient));
}

static void draw_checks(explaining *e, const backward_pass *b, int number) {
    gap(e);
    draw_heading(&e->out, &e->look, "%d. Check: %s by finite difference", number,
                 b->checks > 1 ? "a cell of each" : "one cell");
    for (int i = 0; i < b->checks; i++) {
        if (i) gap(e);
        draw_check(e, &b->check[i]);
    }
}

/* Chooses the query and key where the scores' gradient is largest, unless a cell was asked for. */
static void look_at(explaining *e, const heed_matrix *d) {
    int row = largest_row(d);
    e->w.query = row + 1, e->w.key = largest_in_row(d, row) + 1;
}

void explain_backward(explaining *e, int step) {
    backward_pass b;
    int query = e->w.query, key = e->w.key;
    if (backward_open(e, &b)) {
        look_at(e, &b.g.scores);
        for (int i = 0; i < b.count; i++) draw_step(e, &b.step[i], step + i);
        draw_checks(e, &b, step + b.count);
    }
    e->w.query = query, e->w.key = key;
    backward_close(&b);
}

static json_t *check_json(const backward_check *k) {
    return json_pack("{s:s, s:i, s:i, s:f, s:f}", "of", heed_lesson_name(k->part), "row",
                     k->row + 1, "column", k->col + 1, "gradient", k->gradient, "difference",
                     k->difference);
}

json_t *backward_json(explaining *e) {
    backward_pass b;
    json_t *o = json_object(), *checks = json_array();
    if (backward_open(e, &b)) {
        json_object_set_new(o, "loss", json_number(b.loss));
        json_object_set_new(o, "dR", matrix_json(&b.g.raw));
        for (int i = 0; i < b.count; i++)
            json_object_set_new(o, b.step[i].out.name, matrix_json(b.step[i].out.m));
        for (int i = 0; i < b.checks; i++) json_array_append_new(checks, check_json(&b.check[i]));
    }
    json_object_set_new(o, "check", checks);
    backward_close(&b);
    return o;
}
