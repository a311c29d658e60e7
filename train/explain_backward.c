/* explain_backward.c -- --backward: the gradients of a loss, step by step from the output back. */
#include "explain.h"

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

static double loss_of(const worked *w, const heed_lesson *l) {
    const heed_matrix *o = &l->part[HEED_LESSON_OUTPUT];
    double sum = 0;
    for (int i = 0; i < o->rows * o->cols; i++) {
        double d = o->x[i] - (w->target ? w->target[i] : 0);
        sum += 0.5 * d * d;
    }
    return sum;
}

/* ---- a cell by finite difference ---- */

static double loss_with(explaining *e, const backward_check *k, double change) {
    heed_lesson l;
    double loss = (double)NAN;
    if (head_again(e, &e->w.lesson.args, &l)) {
        l.part[HEED_LESSON_W_Q].x[k->row * l.args.key + k->col] += change;
        heed_lesson_compute(&l);
        loss = loss_of(&e->w, &l);
    }
    heed_lesson_free(&l);
    return loss;
}

/* The cell of W_Q with the largest gradient: (L(w + h) - L(w - h)) / 2h. */
static backward_check check_cell(explaining *e, const heed_matrix *d) {
    backward_check k = {.step = 1e-5};
    k.row = largest_row(d);
    k.col = largest_in_row(d, k.row);
    k.value = heed_matrix_at(&e->w.lesson.part[HEED_LESSON_W_Q], k.row, k.col);
    k.gradient = heed_matrix_at(d, k.row, k.col);
    k.up = loss_with(e, &k, k.step);
    k.down = loss_with(e, &k, -k.step);
    k.difference = (k.up - k.down) / (2 * k.step);
    return k;
}

/* ---- the steps ---- */

static void add(backward_pass *b, backward_step s) { b->step[b->count++] = s; }

static void describe(const explaining *e, backward_pass *b) {
    char loss[32];
    const char *line = e->columns ? "column" : "row";
    snprintf(b->of_loss, sizeof b->of_loss,
             "Backward from here. The loss is L = 1/2 sum (%s - target)^2 = %s%s. dO says how L "
             "changes with each number of the output; every gradient below has the shape of what "
             "it belongs to.%s",
             e->columns ? "H" : "output", number_text(loss, b->loss, e->look.precision),
             e->w.target ? "" : ", with a target of 0",
             e->rest.w_h.x ? " W_h stands behind the output and has no part in this loss." : "");
    snprintf(b->of_softmax, sizeof b->of_softmax,
             "The weights of a %s sum to 1: what one gains the others lose, so each %s of dS sums "
             "to 0. Where a weight is 0 or 1 nothing flows: attention that is all or nothing "
             "learns no more.%s",
             line, line,
             e->w.lesson.args.hard ? " A hard selection has no slope; here, as in training, dS is "
                                     "that of the softmax of the same scores."
                                   : "");
}

static void add_scores(const explaining *e, backward_pass *b) {
    const heed_matrix *p = e->w.lesson.part;
    gradient_term d_output = {&b->g.output, HEED_LESSON_OUTPUT, "dO", false};
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
                           .words = "What goes back to the layer before, or to the word vectors.",
                           .out = {&b->g.x, HEED_LESSON_X, "dX", false}});
    if (self) return;
    add(b, (backward_step){.title = "Memory",
                           .rows = "dZ = dK W_K' + dV W_V'",
                           .columns = "dZ = W_K dK + W_V dV",
                           .out = {&b->g.z, HEED_LESSON_Z, "dZ", false}});
}

bool backward_open(explaining *e, backward_pass *b) {
    const heed_matrix *o = &e->w.lesson.part[HEED_LESSON_OUTPUT];
    size_t n = (size_t)o->rows * (size_t)o->cols;
    double *d = malloc(n * sizeof *d);
    *b = (backward_pass){.count = 0};
    if (!d) return heed_fail(e->c, HEED_FAILED, "no memory for a gradient");
    for (size_t i = 0; i < n; i++) d[i] = o->x[i] - (e->w.target ? e->w.target[i] : 0);
    bool ok = heed_lesson_backward(e->c, &e->w.lesson, d, NULL, &b->g);
    free(d);
    if (!ok) return false;
    b->loss = loss_of(&e->w, &e->w.lesson);
    b->check = check_cell(e, &b->g.w_q);
    describe(e, b);
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

static matrix_view view_of(const explaining *e, const gradient_term *t, char name[32]) {
    matrix_view v = worked_view(e, t->like, t->turned);
    bool weight = t->like >= HEED_LESSON_W_Q && t->like <= HEED_LESSON_W_V;
    bool prime = weight ? t->turned != e->columns : t->turned;
    const char *plain = t->like == HEED_LESSON_Z && e->w.lesson.self   ? "X"
                        : e->columns && t->like == HEED_LESSON_WEIGHTS ? "A"
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

/* The cell of a gradient that is written out: of the chosen one's row, or the largest of a W's. */
static bool choose(const explaining *e, const gradient_term *t, int *row, int *col) {
    bool pairs = t->like >= HEED_LESSON_RAW && t->like <= HEED_LESSON_WEIGHTS;
    bool chosen = chosen_cell(e, t->like, row, col);
    if (e->part >= 0 && e->row) return chosen;
    if (t->like >= HEED_LESSON_W_Q && t->like <= HEED_LESSON_W_V) *row = largest_row(t->m);
    if (!pairs) *col = largest_in_row(t->m, *row);
    return true;
}

/* A matrix alone; or a b = out and, with the row and the column of a chosen cell, its sum of
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

static void draw_check(explaining *e, const backward_check *k, int number) {
    char row[64], col[64];
    short_label(row, e->w.features[k->row]);
    short_label(col, e->w.q[k->col]);
    gap(e);
    draw_heading(&e->out, &e->look, "%d. Check: one cell by finite difference", number);
    draw_words(&e->out, &e->look, "W_Q[%s, %s] = %.6g, moved by h = %g to both sides:", row, col,
               k->value, k->step);
    gap(e);
    const struct {
        const char *name;
        double x;
    } lines[] = {{"L(w + h)", k->up},
                 {"L(w - h)", k->down},
                 {"difference / 2h", k->difference},
                 {"dW_Q above", k->gradient}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        heed_text_add(&e->out, "  %-16s %18.12f\n", lines[i].name, lines[i].x);
    gap(e);
    if (e->w.lesson.args.hard)
        draw_words(&e->out, &e->look,
                   "They need not agree: the selection is hard, and the gradient is that of the "
                   "softmax in its place.");
    else
        draw_words(&e->out, &e->look, "They differ by %.1e.", fabs(k->difference - k->gradient));
}

/* The query and the key where the scores' gradient is largest, unless a cell was asked for. */
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
        draw_check(e, &b.check, step + b.count);
    }
    e->w.query = query, e->w.key = key;
    backward_close(&b);
}

json_t *backward_json(explaining *e) {
    backward_pass b;
    json_t *o = json_object();
    if (backward_open(e, &b)) {
        const backward_check *k = &b.check;
        json_object_set_new(o, "loss", json_number(b.loss));
        json_object_set_new(o, "dR", matrix_json(&b.g.raw));
        for (int i = 0; i < b.count; i++)
            json_object_set_new(o, b.step[i].out.name, matrix_json(b.step[i].out.m));
        json_object_set_new(o, "check",
                            json_pack("{s:s, s:i, s:i, s:f, s:f}", "of", "W_Q", "row", k->row + 1,
                                      "column", k->col + 1, "gradient", k->gradient, "difference",
                                      k->difference));
    }
    backward_close(&b);
    return o;
}
