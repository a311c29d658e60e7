/* lesson_similarity.c -- from the alignment network of 2015 to the attention of 2017 in four
 * changes, each by its formula and by the library's layer heed_attend. Bahdanau et al. 2015, sec.
 * A.1.2; Luong et al. 2015, eq. 8; Vaswani et al. 2017, eq. 1. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

enum { QUERIES = 2, INPUTS = 3, WIDTH = 4, INNER = 3, KEY = 2, VALUE = 2, STAGES = 5 };
static const char *const inputs[] = {"h_1", "h_2", "h_3"}, *const queries[] = {"s_1", "s_2"};

typedef struct {
    const char *name, *formula, *change;
    heed_attend_args args;
    int queries;
} stage;

static const stage stages[STAGES] = {
    {"additive",
     "e_i = v' tanh(W s + U h_i + b)",
     "A small network compares the query s with each input h_i.",
     {.kind = HEED_ADDITIVE, .query = WIDTH, .input = WIDTH, .inner = INNER},
     1},
    {"dot product",
     "e_i = s' h_i",
     "1. A dot product replaces the network: no parameters, and one matrix product for all inputs.",
     {.kind = HEED_DOT, .query = WIDTH, .input = WIDTH},
     1},
    {"scaled",
     "e_i = s' h_i / sqrt(d)",
     "2. Divided by sqrt(d), so that the choice does not become harder with the width.",
     {.kind = HEED_SCALED_DOT, .query = WIDTH, .input = WIDTH},
     1},
    {"many queries",
     "E = S H' / sqrt(d)",
     "3. Many queries at once: the rows of S. Look at row s_1: nothing has changed for it.",
     {.kind = HEED_SCALED_DOT, .query = WIDTH, .input = WIDTH},
     QUERIES},
    {"keys and values",
     "E = (S W_q)(H W_k)' / sqrt(e),  C = A (H W_v)",
     "4. Separate keys and values: K = H W_k with D_Q = 2 and V = H W_v with D_V = 2. An input is "
     "found by its key and passes on its value. Queries are projected as well: Q = S W_q.",
     {.kind = HEED_SCALED_DOT, .query = WIDTH, .input = WIDTH, .key = KEY, .value = VALUE},
     QUERIES},
};

/* Weights as the layers have them, (out,in), in the order of `parameters`. */
typedef struct {
    double s[QUERIES * WIDTH], h[INPUTS * WIDTH];
    double w[INNER * WIDTH], u[INNER * WIDTH], b[INNER], v[INNER];
    double w_q[KEY * WIDTH], w_k[KEY * WIDTH], w_v[VALUE * WIDTH];
} numbers;

typedef struct {
    double numbers[3][QUERIES * WIDTH]; /* of the matrices */
    heed_matrix scores, weights, context;
    double gap; /* largest difference from the library's context */
} answer;

static void choose(uint64_t seed, numbers *n) {
    heed_random r = heed_random_at(seed, "explain.similarity", 0, 0);
    double *all[] = {n->s, n->h, n->w, n->u, n->b, n->v, n->w_q, n->w_k, n->w_v};
    const int size[] = {QUERIES * WIDTH, INPUTS * WIDTH, INNER * WIDTH, INNER * WIDTH, INNER,
                        INNER,           KEY * WIDTH,    KEY * WIDTH,   VALUE * WIDTH};
    uint64_t at = 0;
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
        for (int i = 0; i < size[k]; i++) all[k][i] = heed_random_normal(&r, at++);
}

/* ---- the formulas ---- */

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static double score(const stage *k, const numbers *n, const double *s, const double *h) {
    double e = 0;
    if (k->args.kind == HEED_ADDITIVE) {
        for (int i = 0; i < INNER; i++)
            e += n->v[i] *
                 tanh(dot(n->w + i * WIDTH, s, WIDTH) + dot(n->u + i * WIDTH, h, WIDTH) + n->b[i]);
        return e;
    }
    if (!k->args.key) return dot(s, h, WIDTH) / (k->args.kind == HEED_SCALED_DOT ? sqrt(WIDTH) : 1);
    for (int i = 0; i < KEY; i++)
        e += dot(n->w_q + i * WIDTH, s, WIDTH) * dot(n->w_k + i * WIDTH, h, WIDTH);
    return e / sqrt(KEY);
}

static double value(const stage *k, const numbers *n, int input, int col) {
    const double *h = n->h + input * WIDTH;
    return k->args.value ? dot(n->w_v + col * WIDTH, h, WIDTH) : h[col];
}

static void by_formula(const stage *k, const numbers *n, answer *a) {
    int wide = k->args.value ? k->args.value : WIDTH;
    a->scores = lesson_matrix(k->queries, INPUTS, a->numbers[0]);
    a->weights = lesson_matrix(k->queries, INPUTS, a->numbers[1]);
    a->context = lesson_matrix(k->queries, wide, a->numbers[2]);
    for (int i = 0; i < k->queries * INPUTS; i++)
        a->scores.x[i] = score(k, n, n->s + i / INPUTS * WIDTH, n->h + i % INPUTS * WIDTH);
    heed_matrix_softmax(&a->scores, false, &a->weights);
    for (int i = 0; i < k->queries * wide; i++)
        for (int j = 0; j < INPUTS; j++)
            a->context.x[i] += heed_matrix_at(&a->weights, i / wide, j) * value(k, n, j, i % wide);
}

/* ---- the library ---- */

/* Fills a->gap: how far the layer's context is from the formula's. */
static bool by_library(heed_ctx *c, const stage *k, const numbers *n, answer *a) {
    heed_store *s = heed_store_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_attend l;
    heed_attend_init(&l, s, "attend", k->args);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *y = NULL;
    if (heed_ctx_status(c) == HEED_OK) {
        heed_tensor *const parameters[] = {l.w.w, l.u.w, l.u.b, l.score.w, l.q.w, l.k.w, l.v.w};
        const double *const values[] = {n->w, n->u, n->b, n->v, n->w_q, n->w_k, n->w_v};
        for (int i = 0; i < 7; i++) lesson_set(parameters[i], values[i]);
        heed_attention_kv m = heed_attend_kv(&l, t, lesson_input(t, n->h, INPUTS, WIDTH), NULL);
        y = heed_attend_apply(&l, t, lesson_input(t, n->s, k->queries, WIDTH), &m);
    }
    for (size_t i = 0; y && i < y->size; i++)
        a->gap = fmax(a->gap, fabs((double)y->x[i] - a->context.x[i]));
    heed_tape_free(t);
    heed_store_free(s);
    return y != NULL;
}

/* ---- output ---- */

/* Weights as formulas have them, (in,out); Q, K and V of the last stage. */
enum { S, H, W, U, B, V, W_Q, W_K, W_V, Q_OUT, K_OUT, V_OUT, GIVEN };
typedef struct {
    double x[GIVEN][WIDTH * INPUTS];
    heed_matrix m[GIVEN];
} given;

static void turn(const double *w, int out, int in, double *x) {
    for (int i = 0; i < in; i++)
        for (int j = 0; j < out; j++) x[i * out + j] = w[j * in + i];
}

static void arrange(const numbers *n, given *g) {
    const struct {
        const double *x;
        int out, in;
    } all[] = {{n->s, 0, 0},         {n->h, 0, 0},         {n->w, INNER, WIDTH},
               {n->u, INNER, WIDTH}, {n->b, 0, 0},         {n->v, 0, 0},
               {n->w_q, KEY, WIDTH}, {n->w_k, KEY, WIDTH}, {n->w_v, VALUE, WIDTH}};
    const int shape[GIVEN][2] = {{QUERIES, WIDTH}, {INPUTS, WIDTH}, {WIDTH, INNER},
                                 {WIDTH, INNER},   {1, INNER},      {1, INNER},
                                 {WIDTH, KEY},     {WIDTH, KEY},    {WIDTH, VALUE},
                                 {QUERIES, KEY},   {INPUTS, KEY},   {INPUTS, VALUE}};
    for (int i = 0; i < GIVEN; i++) g->m[i] = lesson_matrix(shape[i][0], shape[i][1], g->x[i]);
    for (int i = 0; i < Q_OUT; i++) {
        if (all[i].out)
            turn(all[i].x, all[i].out, all[i].in, g->x[i]);
        else
            memcpy(g->x[i], all[i].x, (size_t)(shape[i][0] * shape[i][1]) * sizeof(double));
    }
    for (int i = 0; i < 3; i++)
        heed_matrix_product(&g->m[i ? H : S], &g->m[W_Q + i], (heed_matmul_how){0},
                            &g->m[Q_OUT + i]);
}

static const char *const given_names[GIVEN] = {"S",   "H",   "W",   "U", "b", "v",
                                               "W_q", "W_k", "W_v", "Q", "K", "V"};

/* Draws count of them side by side, from the first on. */
static void draw_given(explaining *e, const given *g, int first, int count) {
    matrix_view v[4];
    for (int i = 0; i < count; i++)
        v[i] = (matrix_view){.name = given_names[first + i], .m = &g->m[first + i]};
    draw_equation(&e->out, &e->look, count, v, (const char *[]){"", "  ", "  ", "  "});
    gap(e);
}

static json_t *as_json(const answer *a, const given *g) {
    json_t *list = json_array();
    for (int i = 0; i < STAGES; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:f}", "name", stages[i].name, "formula",
                            stages[i].formula, "scores", matrix_json(&a[i].scores), "weights",
                            matrix_json(&a[i].weights), "context", matrix_json(&a[i].context),
                            "largest_difference", a[i].gap));
    json_t *o = json_pack("{s:s, s:o}", "example", "similarity", "stages", list);
    for (int i = 0; i < GIVEN; i++) json_object_set_new(o, given_names[i], matrix_json(&g->m[i]));
    return o;
}

static void draw_stage(explaining *e, const stage *k, const answer *a, const given *g) {
    matrix_view v[3] = {
        {.name = "scores", .m = &a->scores, .row_labels = queries, .col_labels = inputs},
        {.name = "weights", .m = &a->weights, .col_labels = inputs},
        {.name = "context", .m = &a->context}};
    heading(e, "%s: %s", k->name, k->formula);
    say(e, "%s", k->change);
    if (k->args.kind == HEED_ADDITIVE) draw_given(e, g, W, 4);
    if (k->args.key) draw_given(e, g, W_Q, 3), draw_given(e, g, Q_OUT, 3);
    draw_equation(&e->out, &e->look, 3, v, (const char *[]){"", "  ", "  "});
    gap(e);
    say(e, "heed_attend gives the same context, to %.1g.", a->gap);
}

void explain_similarity(explaining *e) {
    numbers n;
    answer a[STAGES] = {{.gap = 0}};
    choose(e->seed, &n);
    for (int i = 0; i < STAGES; i++) {
        by_formula(&stages[i], &n, &a[i]);
        if (!by_library(e->c, &stages[i], &n, &a[i])) return;
    }
    given g = {.x = {{0}}};
    arrange(&n, &g);
    if (lesson_json(e, as_json(a, &g))) return;
    heading(e, "From the network of 2015 to the attention of 2017");
    say(e,
        "Two queries, the rows of S, and the input vectors h_1 to h_3, the rows of H, all random: "
        "N_Q = %d, N_X = %d, D_X = %d, and the first queries have D_Q = %d numbers. Four changes "
        "follow, one after the other; each is a setting of the library's layer heed_attend.",
        QUERIES, INPUTS, WIDTH, WIDTH);
    draw_given(e, &g, S, 2);
    for (int i = 0; i < STAGES; i++) draw_stage(e, &stages[i], &a[i], &g);
    lesson_try(e, "explain similarity --seed 3\n"
                  "train rnn data/capitals.tsv -o runs/additive --attention additive\n"
                  "train rnn data/capitals.tsv -o runs/scaled --attention scaled");
}
