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

bool worked_backward(explaining *e, heed_lesson_gradient *g, double *loss) {
    const heed_matrix *o = &e->w.lesson.part[HEED_LESSON_OUTPUT];
    size_t n = (size_t)o->rows * (size_t)o->cols;
    double *d = malloc(n * sizeof *d);
    *g = (heed_lesson_gradient){0};
    if (!d) return heed_fail(e->c, HEED_FAILED, "no memory for a gradient");
    for (size_t i = 0; i < n; i++) d[i] = o->x[i] - (e->w.target ? e->w.target[i] : 0);
    *loss = loss_of(&e->w, &e->w.lesson);
    bool ok = heed_lesson_backward(e->c, &e->w.lesson, d, NULL, g);
    free(d);
    return ok;
}

/* ---- a cell by finite difference ---- */

typedef struct {
    int row, col;
    double value, gradient, up, down, step, difference;
} check;

static double loss_with(explaining *e, const check *k, double change) {
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
static check check_cell(explaining *e, const heed_matrix *d) {
    check k = {.step = 1e-5};
    k.row = largest_row(d);
    k.col = largest_in_row(d, k.row);
    k.value = heed_matrix_at(&e->w.lesson.part[HEED_LESSON_W_Q], k.row, k.col);
    k.gradient = heed_matrix_at(d, k.row, k.col);
    k.up = loss_with(e, &k, k.step);
    k.down = loss_with(e, &k, -k.step);
    k.difference = (k.up - k.down) / (2 * k.step);
    return k;
}

/* ---- drawing ---- */

/* A gradient is drawn as the part that it is of: "dQ" as Q. */
typedef struct {
    const heed_matrix *m;
    heed_lesson_part like;
    const char *name; /* NULL: the part itself */
    bool turned;
} term;

static void gap(explaining *e) { heed_text_put(&e->out, "\n", 1); }

static matrix_view view_of(const explaining *e, const term *t, char name[32]) {
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

static void draw_one(explaining *e, term t) {
    char name[32];
    matrix_view v = view_of(e, &t, name);
    draw_matrix(&e->out, &e->look, &v);
}

/* The cell of a gradient that is written out: of the chosen one's row, or the largest of a W's. */
static bool choose(const explaining *e, const term *t, int *row, int *col) {
    bool pairs = t->like >= HEED_LESSON_RAW && t->like <= HEED_LESSON_WEIGHTS;
    bool chosen = chosen_cell(e, t->like, row, col);
    if (e->part >= 0 && e->row) return chosen;
    if (t->like >= HEED_LESSON_W_Q && t->like <= HEED_LESSON_W_V) *row = largest_row(t->m);
    if (!pairs) *col = largest_in_row(t->m, *row);
    return true;
}

/* a b = out and, with the row and the column of a chosen cell, its sum of products. */
static void draw_product(explaining *e, term a, term b, term out) {
    char names[3][32], cell[256];
    matrix_view parts[3] = {view_of(e, &a, names[0]), view_of(e, &b, names[1]),
                            view_of(e, &out, names[2])};
    int row, col;
    if (e->columns) {
        matrix_view first = parts[0];
        parts[0] = parts[1];
        parts[1] = first;
    }
    bool chosen = choose(e, &out, &row, &col);
    if (chosen) {
        parts[2].row = 1 + (parts[2].transposed ? col : row);
        parts[2].col = 1 + (parts[2].transposed ? row : col);
    }
    draw_equation(&e->out, &e->look, 3, parts, (const char *[]){"", "·", "="});
    if (!chosen) return;
    cell_name(e, out.like, row, col, cell, sizeof cell);
    char text[320];
    snprintf(text, sizeof text, "%s%s", names[2], strchr(cell, '['));
    dot_product d = {a.m, b.m, out.m, {.left_transposed = a.turned, .right_transposed = b.turned}};
    gap(e);
    write_dot(e, text, &d, row, col);
}

static void heading(explaining *e, int *step, const char *name, const char *rows,
                    const char *columns) {
    gap(e);
    draw_heading(&e->out, &e->look, "%d. %s: %s", (*step)++, name, e->columns ? columns : rows);
}

/* ---- the steps ---- */

static void output_step(explaining *e, const heed_lesson_gradient *g, double loss, int *step) {
    char text[32];
    heading(e, step, "Loss", "dO = output - target", "dO = H - target");
    draw_words(&e->out, &e->look,
               "Backward from here. The loss is L = 1/2 sum (%s - target)^2 = %s%s. dO says how L "
               "changes with each number of the output; every gradient below has the shape of what "
               "it belongs to.",
               e->columns ? "H" : "output", number_text(text, loss, e->look.precision),
               e->w.target ? "" : ", with a target of 0");
    gap(e);
    draw_one(e, (term){&g->output, HEED_LESSON_OUTPUT, "dO", false});
}

static void score_steps(explaining *e, const heed_lesson_gradient *g, int *step) {
    const heed_matrix *p = e->w.lesson.part;
    term d_output = {&g->output, HEED_LESSON_OUTPUT, "dO", false};
    heading(e, step, "Values", "dV = weights' dO", "dV = dO A'");
    draw_words(&e->out, &e->look,
               "A value hears from every token that looked at it, as much as it "
               "looked.");
    gap(e);
    draw_product(e, (term){&p[HEED_LESSON_WEIGHTS], HEED_LESSON_WEIGHTS, NULL, true}, d_output,
                 (term){&g->v, HEED_LESSON_V, "dV", false});
    heading(e, step, "Weights", "dP = dO V'", "dP = V' dO");
    draw_words(&e->out, &e->look, "A weight should grow where the value points against dO.");
    gap(e);
    draw_product(e, d_output, (term){&p[HEED_LESSON_V], HEED_LESSON_V, NULL, true},
                 (term){&g->weights, HEED_LESSON_WEIGHTS, "dP", false});
    heading(e, step, "Softmax", "dS = P (dP - sum of P dP in the row)",
            "dS = A (dP - sum of A dP in the column)");
    draw_words(
        &e->out, &e->look,
        "The weights of a %s sum to 1: what one gains the others lose, so each %s of dS sums "
        "to 0. Where a weight is 0 or 1 nothing flows: attention that is all or nothing "
        "learns no more.%s",
        e->columns ? "column" : "row", e->columns ? "column" : "row",
        e->w.lesson.args.hard ? " A hard selection has no slope; here, as in training, dS "
                                "is that of the softmax of the same scores."
                              : "");
    gap(e);
    draw_one(e, (term){&g->scores, HEED_LESSON_SCORES, "dS", false});
}

static void query_steps(explaining *e, const heed_lesson_gradient *g, int *step) {
    const heed_matrix *p = e->w.lesson.part;
    term q = {&p[HEED_LESSON_Q], HEED_LESSON_Q, NULL, false};
    term k = {&p[HEED_LESSON_K], HEED_LESSON_K, NULL, false};
    term raw = {&g->raw, HEED_LESSON_RAW, "dR", false}, turned = raw;
    turned.turned = true;
    heading(e, step, "Queries", "dQ = dR K, dR = beta dS", "dQ = K dR, dR = beta dS");
    draw_product(e, raw, k, (term){&g->q, HEED_LESSON_Q, "dQ", false});
    heading(e, step, "Keys", "dK = dR' Q", "dK = Q dR'");
    draw_product(e, turned, q, (term){&g->k, HEED_LESSON_K, "dK", false});
}

static void weight_steps(explaining *e, const heed_lesson_gradient *g, int *step) {
    const heed_matrix *p = e->w.lesson.part;
    bool self = e->w.lesson.self;
    term x = {&p[HEED_LESSON_X], HEED_LESSON_X, NULL, true};
    term z = {&p[HEED_LESSON_Z], HEED_LESSON_Z, NULL, true};
    heading(e, step, "W_Q", "dW_Q = X' dQ", "dW_Q' = dQ X'");
    draw_words(&e->out, &e->look, "A weight matrix hears from all tokens at once.");
    gap(e);
    draw_product(e, x, (term){&g->q, HEED_LESSON_Q, "dQ", false},
                 (term){&g->w_q, HEED_LESSON_W_Q, "dW_Q", false});
    heading(e, step, "W_K", self ? "dW_K = X' dK" : "dW_K = Z' dK",
            self ? "dW_K' = dK X'" : "dW_K' = dK Z'");
    draw_product(e, z, (term){&g->k, HEED_LESSON_K, "dK", false},
                 (term){&g->w_k, HEED_LESSON_W_K, "dW_K", false});
    heading(e, step, "W_V", self ? "dW_V = X' dV" : "dW_V = Z' dV",
            self ? "dW_V' = dV X'" : "dW_V' = dV Z'");
    draw_product(e, z, (term){&g->v, HEED_LESSON_V, "dV", false},
                 (term){&g->w_v, HEED_LESSON_W_V, "dW_V", false});
}

static void input_step(explaining *e, const heed_lesson_gradient *g, int *step) {
    if (e->w.lesson.self)
        heading(e, step, "Inputs", "dX = dQ W_Q' + dK W_K' + dV W_V'",
                "dX = W_Q dQ + W_K dK + W_V dV");
    else
        heading(e, step, "Inputs", "dX = dQ W_Q', dZ = dK W_K' + dV W_V'",
                "dX = W_Q dQ, dZ = W_K dK + W_V dV");
    draw_words(&e->out, &e->look, "What goes back to the layer before, or to the word vectors.");
    gap(e);
    draw_one(e, (term){&g->x, HEED_LESSON_X, "dX", false});
    if (e->w.lesson.self) return;
    gap(e);
    draw_one(e, (term){&g->z, HEED_LESSON_Z, "dZ", false});
}

static void check_step(explaining *e, const heed_lesson_gradient *g, int *step) {
    check k = check_cell(e, &g->w_q);
    char row[64], col[64];
    short_label(row, e->w.features[k.row]);
    short_label(col, e->w.q[k.col]);
    heading(e, step, "Check", "one cell by finite difference", "one cell by finite difference");
    draw_words(&e->out, &e->look, "W_Q[%s, %s] = %.6g, moved by h = %g to both sides:", row, col,
               k.value, k.step);
    gap(e);
    const struct {
        const char *name;
        double x;
    } lines[] = {{"L(w + h)", k.up},
                 {"L(w - h)", k.down},
                 {"difference / 2h", k.difference},
                 {"dW_Q above", k.gradient}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        heed_text_add(&e->out, "  %-16s %18.12f\n", lines[i].name, lines[i].x);
    gap(e);
    double off = fabs(k.difference - k.gradient);
    if (e->w.lesson.args.hard)
        draw_words(&e->out, &e->look,
                   "They need not agree: the selection is hard, and the gradient is that of the "
                   "softmax in its place.");
    else
        draw_words(&e->out, &e->look, "They differ by %.1e.", off);
}

/* The query and the key where the scores' gradient is largest, unless a cell was asked for. */
static void look_at(explaining *e, const heed_matrix *d) {
    int row = largest_row(d);
    e->w.query = row + 1, e->w.key = largest_in_row(d, row) + 1;
}

void explain_backward(explaining *e, int step) {
    heed_lesson_gradient g;
    double loss;
    int query = e->w.query, key = e->w.key;
    if (worked_backward(e, &g, &loss)) {
        look_at(e, &g.scores);
        output_step(e, &g, loss, &step);
        score_steps(e, &g, &step);
        query_steps(e, &g, &step);
        weight_steps(e, &g, &step);
        input_step(e, &g, &step);
        check_step(e, &g, &step);
    }
    e->w.query = query, e->w.key = key;
    heed_lesson_gradient_free(&g);
}

json_t *backward_json(explaining *e) {
    heed_lesson_gradient g;
    double loss;
    json_t *o = json_object();
    if (worked_backward(e, &g, &loss)) {
        const struct {
            const char *name;
            const heed_matrix *m;
        } list[] = {{"dO", &g.output}, {"dP", &g.weights}, {"dS", &g.scores}, {"dR", &g.raw},
                    {"dQ", &g.q},      {"dK", &g.k},       {"dV", &g.v},      {"dW_Q", &g.w_q},
                    {"dW_K", &g.w_k},  {"dW_V", &g.w_v},   {"dX", &g.x},      {"dZ", &g.z}};
        check k = check_cell(e, &g.w_q);
        json_object_set_new(o, "loss", json_number(loss));
        for (size_t i = 0; i < sizeof list / sizeof *list - e->w.lesson.self; i++)
            json_object_set_new(o, list[i].name, matrix_json(list[i].m));
        json_object_set_new(o, "check",
                            json_pack("{s:s, s:i, s:i, s:f, s:f}", "of", "W_Q", "row", k.row + 1,
                                      "column", k.col + 1, "gradient", k.gradient, "difference",
                                      k.difference));
    }
    heed_lesson_gradient_free(&g);
    return o;
}
