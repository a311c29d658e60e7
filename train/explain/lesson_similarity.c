/* lesson_similarity.c -- from the alignment network of 2015 to the attention of 2017 in four
 * changes, each by its formula and by the library's layer heed_attention_layer. Bahdanau et al.
 * 2015, sec. A.1.2; Luong et al. 2015, eq. 8; Vaswani et al. 2017, eq. 1. */
#include "explain/explain.h"

#include <math.h>

enum { QUERIES = 2, INPUTS = 3, WIDTH = 4, INNER = 3, KEY = 2, VALUE = 2, STAGES = 5 };
static const char *const inputs[] = {"h_1", "h_2", "h_3"}, *const queries[] = {"s_1", "s_2"};

static const struct {
    const char *title, *formula, *words;
    heed_attention_layer_args args;
    int queries;
} stages[STAGES] = {
    {"Additive",
     "e_i = v' tanh(W s + U h_i + b)",
     "A small network compares the query s with each input h_i.",
     {.kind = HEED_ADDITIVE, .query = WIDTH, .input = WIDTH, .inner = INNER},
     1},
    {"Dot product",
     "e_i = s' h_i",
     "The first change: a dot product replaces the network. No parameters, and one matrix product "
     "for all inputs.",
     {.kind = HEED_DOT, .query = WIDTH, .input = WIDTH},
     1},
    {"Scaled",
     "e_i = s' h_i / sqrt(d)",
     "The second: divided by sqrt(d), so that the choice does not become harder with the width.",
     {.kind = HEED_SCALED_DOT, .query = WIDTH, .input = WIDTH},
     1},
    {"Many queries",
     "E = S H' / sqrt(d)",
     "The third: many queries at once, the rows of S. Look at row s_1: nothing has changed for it.",
     {.kind = HEED_SCALED_DOT, .query = WIDTH, .input = WIDTH},
     QUERIES},
    {"Keys and values",
     "E = (S W_q)(H W_k)' / sqrt(e), C = A (H W_v)",
     "The fourth: separate keys and values, K = H W_k with D_Q = 2 and V = H W_v with D_V = 2. An "
     "input is found by its key and passes on its value. Queries are projected as well: Q = S W_q.",
     {.kind = HEED_SCALED_DOT, .query = WIDTH, .input = WIDTH, .key = KEY, .value = VALUE},
     QUERIES},
};

/* In the order of the random numbers; weights as the layers have them, (out,in). */
enum { S, H, W, U, B, V, W_Q, W_K, W_V, GIVEN };
static const char *const names[] = {"S", "H", "W", "U", "b", "v", "W_q", "W_k", "W_v"};

/* Shows some of them as formulas have them: weights (in,out). */
static void show_given(explaining *e, const heed_matrix *m, int first, int count) {
    for (int i = first; i < first + count; i++)
        show(e, "", names[i], i == W || i == U || i >= W_Q ? transpose_of(e, m[i]) : m[i], NULL,
             NULL);
}

/* v' tanh(W s + U h_i + b) for the first query. */
static heed_matrix additive(explaining *e, const heed_matrix *m) {
    heed_matrix s = product_of(e, rows_of_matrix(m[S], 0, 1), transpose_of(e, m[W]));
    heed_matrix u = product_of(e, m[H], transpose_of(e, m[U])), scores = matrix_new(e, 1, INPUTS);
    for (int i = 0; !failed(e) && i < INPUTS * INNER; i++)
        scores.x[i / INNER] +=
            m[V].x[i % INNER] * tanh(s.x[i % INNER] + u.x[i] + m[B].x[i % INNER]);
    return scores;
}

static void add_stage(explaining *e, int k, const heed_matrix *m) {
    const heed_attention_layer_args *a = &stages[k].args;
    heed_matrix s = rows_of_matrix(m[S], 0, stages[k].queries), h = m[H];
    heed_matrix q = a->key ? product_of(e, s, transpose_of(e, m[W_Q])) : s;
    heed_matrix keys = a->key ? product_of(e, h, transpose_of(e, m[W_K])) : h;
    heed_matrix values = a->value ? product_of(e, h, transpose_of(e, m[W_V])) : h;
    heed_matrix scores = a->kind == HEED_ADDITIVE ? additive(e, m)
                         : a->kind == HEED_DOT    ? product_of(e, q, transpose_of(e, keys))
                                                  : scores_of(e, q, keys);
    heed_matrix weights = softmax_of(e, scores), context = product_of(e, weights, values);

    heed_attention_layer l;
    heed_attention_layer_init(&l, library(e), "attend", *a);
    if (failed(e)) return;
    heed_tensor *const parameters[] = {l.w.w, l.u.w, l.u.b, l.score.w, l.q.w, l.k.w, l.v.w};
    for (int i = W; i < GIVEN; i++) set_parameter(parameters[i - W], m[i], false);
    heed_tape_begin(e->tape, HEED_EVAL, 0);
    heed_attention_kv kv = heed_attention_layer_kv(&l, e->tape, input_of(e, h), NULL);
    heed_tensor *y = heed_attention_layer_apply(&l, e->tape, input_of(e, s), &kv, false).context;

    add_step(e, stages[k].title, stages[k].formula, stages[k].words);
    if (a->kind == HEED_ADDITIVE) {
        show_given(e, m, W, 4);
        add_step(e, NULL, NULL, NULL);
    }
    if (a->key) {
        show_given(e, m, W_Q, 3);
        add_step(e, NULL, NULL, NULL);
        show(e, "", "Q", q, queries, NULL);
        show(e, "", "K", keys, inputs, NULL);
        show(e, "", "V", values, inputs, NULL);
        add_step(e, NULL, NULL, NULL);
    }
    e->list[e->count - 1].formula = stages[k].formula;
    show(e, "", "scores", scores, queries, inputs);
    show(e, "", "weights", weights, queries, inputs)->picture = true;
    show(e, "", "context", context, queries, NULL);
    heed_matrix layer = result_of(e, y, context.rows, context.cols);
    add_step(e, NULL, NULL,
             text_of(e, "heed_attention_layer gives the same context, to %.1g:",
                     largest_gap(layer, context)));
    show(e, "", "context by heed_attention_layer", layer, queries, NULL);
}

void similarity_steps(explaining *e) {
    static const int shape[GIVEN][2] = {{QUERIES, WIDTH}, {INPUTS, WIDTH}, {INNER, WIDTH},
                                        {INNER, WIDTH},   {1, INNER},      {1, INNER},
                                        {KEY, WIDTH},     {KEY, WIDTH},    {VALUE, WIDTH}};
    heed_random r = heed_random_at(e->seed, "explain.similarity", 0, 0);
    heed_matrix m[GIVEN];
    uint64_t at = 0;
    for (int i = 0; i < GIVEN; i++) m[i] = matrix_random(e, &r, &at, shape[i][0], shape[i][1]);
    e->title = "From the network of 2015 to the attention of 2017";
    e->words = "Two queries, the rows of S, and the input vectors h_1 to h_3, the rows of H, all "
               "random: N_Q = 2, N_X = 3, D_X = 4, and the first queries have D_Q = 4 numbers. "
               "Four changes follow, one after the other; each is a setting of the library's layer "
               "heed_attention_layer.";
    e->commands = "explain similarity --seed 3\n"
                  "train rnn data/capitals.tsv -o runs/additive --attention additive\n"
                  "train rnn data/capitals.tsv -o runs/scaled --attention scaled";
    e->unit = "weight: each row sums to 1", e->hi = 1;
    add_step(e, NULL, NULL, NULL);
    show_given(e, m, S, 2);
    for (int k = 0; k < STAGES; k++) add_stage(e, k, m);
}
