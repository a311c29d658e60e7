/* lesson_heads.c -- one layer of H heads equals the sum of H layers of one head: the library's
 * layer compared with the formula. Vaswani et al. 2017, sec. 3.2.2. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

enum { TOKENS = 4, WIDTH = 7, HEADS = 3, KEY = 2, VALUE = 2, STACK = HEADS * (2 * KEY + VALUE) };
static const char *const words[] = {"the", "lion", "eats", "grass"};

typedef struct {
    double x[TOKENS * WIDTH];
    double in[STACK * WIDTH];          /* rows: queries of all heads, keys of all, values of all */
    double out[WIDTH * HEADS * VALUE]; /* W_h */
    double weights[HEADS][TOKENS * TOKENS], heads[HEADS][TOKENS * VALUE];
    double sum[TOKENS * WIDTH];     /* sum of the heads' parts */
    double library[TOKENS * WIDTH]; /* heed_mha_apply's output */
} layer;

static void choose(uint64_t seed, layer *l) {
    const struct {
        double *x, scale;
        int n;
    } all[] = {{l->x, 1, TOKENS * WIDTH},
               {l->in, 1 / sqrt(WIDTH), STACK * WIDTH},
               {l->out, 1 / sqrt(HEADS * VALUE), WIDTH * HEADS * VALUE}};
    heed_random r = heed_random_at(seed, "explain.heads", 0, 0);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < all[k].n; i++)
            all[k].x[i] = all[k].scale * heed_random_normal(&r, (uint64_t)(1000 * k + i));
}

/* Copies rows [from, from + size) of the stacked weight, transposed: (WIDTH,size). */
static void copy_rows(const layer *l, int from, int size, double *w) {
    for (int i = 0; i < WIDTH; i++)
        for (int j = 0; j < size; j++) w[i * size + j] = l->in[(from + j) * WIDTH + i];
}

/* ---- H layers of one head ---- */

static bool one_head(heed_ctx *c, layer *l, int head) {
    double q[WIDTH * KEY], k[WIDTH * KEY], v[WIDTH * VALUE];
    heed_lesson one;
    copy_rows(l, head * KEY, KEY, q);
    copy_rows(l, (HEADS + head) * KEY, KEY, k);
    copy_rows(l, 2 * HEADS * KEY + head * VALUE, VALUE, v);
    heed_lesson_args a = {.tokens = TOKENS,
                          .features = WIDTH,
                          .key = KEY,
                          .value = VALUE,
                          .x = l->x,
                          .w_q = q,
                          .w_k = k,
                          .w_v = v,
                          .beta = (double)NAN};
    bool ok = heed_lesson_make(c, &a, &one);
    if (ok) {
        memcpy(l->weights[head], one.part[HEED_LESSON_WEIGHTS].x, sizeof l->weights[head]);
        memcpy(l->heads[head], one.part[HEED_LESSON_OUTPUT].x, sizeof l->heads[head]);
        for (int i = 0; i < TOKENS * WIDTH; i++)
            for (int j = 0; j < VALUE; j++)
                l->sum[i] += l->heads[head][i / WIDTH * VALUE + j] *
                             l->out[i % WIDTH * HEADS * VALUE + head * VALUE + j];
    }
    heed_lesson_free(&one);
    return ok;
}

/* ---- one layer of H heads ---- */

static bool library_layer(heed_ctx *c, layer *l) {
    heed_store *s = heed_store_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_mha m;
    heed_mha_init(&m, s, "attn",
                  (heed_mha_args){
                      .width = WIDTH, .heads = HEADS, .key = KEY, .value = VALUE, .no_bias = true});
    heed_tensor *y = NULL;
    if (heed_ctx_status(c) == HEED_OK) {
        lesson_set(m.qkv.w, l->in);
        lesson_set(m.out.w, l->out);
        heed_tape_begin(t, HEED_EVAL, 0);
        y = heed_mha_apply(&m, t, lesson_input(t, l->x, TOKENS, WIDTH), NULL, NULL, NULL);
        for (int i = 0; y && i < TOKENS * WIDTH; i++) l->library[i] = (double)y->x[i];
    }
    heed_tape_free(t);
    heed_store_free(s);
    return y != NULL;
}

/* ---- output ---- */

static json_t *as_json(layer *l, double worst) {
    json_t *heads = json_array(), *weights = json_array(), *tokens = json_array();
    for (int i = 0; i < TOKENS; i++) json_array_append_new(tokens, json_string(words[i]));
    for (int h = 0; h < HEADS; h++)
        json_array_append_new(weights, lesson_grid(TOKENS, TOKENS, l->weights[h]));
    for (int h = 0; h < HEADS; h++)
        json_array_append_new(heads, json_pack("{s:o, s:o}", "weights",
                                               lesson_grid(TOKENS, TOKENS, l->weights[h]), "output",
                                               lesson_grid(TOKENS, VALUE, l->heads[h])));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "example", "heads",
                     "tokens", tokens, "weights", weights, "X", lesson_grid(TOKENS, WIDTH, l->x),
                     "W_qkv", lesson_grid(STACK, WIDTH, l->in), "heads", heads, "W_h",
                     lesson_grid(WIDTH, HEADS * VALUE, l->out), "sum",
                     lesson_grid(TOKENS, WIDTH, l->sum), "library",
                     lesson_grid(TOKENS, WIDTH, l->library), "largest_difference", worst);
}

void explain_heads(explaining *e) {
    static const char *const titles[HEADS] = {"weights, head 1", "head 2", "head 3"};
    heed_matrix m[HEADS];
    matrix_view v[HEADS];
    layer l = {.x = {0}};
    choose(e->seed, &l);
    for (int h = 0; h < HEADS; h++)
        if (!one_head(e->c, &l, h)) return;
    if (!library_layer(e->c, &l)) return;
    double worst = 0;
    for (int i = 0; i < TOKENS * WIDTH; i++) worst = fmax(worst, fabs(l.sum[i] - l.library[i]));
    for (int h = 0; h < HEADS; h++) {
        m[h] = lesson_matrix(TOKENS, TOKENS, l.weights[h]);
        v[h] =
            (matrix_view){.name = titles[h], .m = &m[h], .row_labels = words, .col_labels = words};
    }
    if (!lesson_maps(e, (lesson_scale){"weight", 1}, HEADS, v) ||
        lesson_json(e, as_json(&l, worst)))
        return;
    double q1[STACK];
    char text[STACK][8];
    const char *rows[STACK];
    for (int i = 0; i < STACK; i++) {
        int part = i / (HEADS * KEY); /* KEY and VALUE are equal */
        snprintf(text[i], sizeof text[i], "%c%d,%d", "qkv"[part], i / KEY % HEADS + 1, i % KEY + 1);
        rows[i] = text[i];
        q1[i] = 0;
        for (int j = 0; j < WIDTH; j++) q1[i] += l.in[i * WIDTH + j] * l.x[j];
    }
    heading(e, "H heads are H layers of one head");
    say(e,
        "Random vectors x of width n = %d, and a layer of %d heads with queries, keys and values "
        "of "
        "width d = %d each. Look at one word's row of weights in each head.",
        WIDTH, HEADS, KEY);
    for (int h = 0; h < HEADS; h++) {
        if (h) v[h].row_labels = NULL;
        v[h].col_labels = NULL;
    }
    heed_matrix in = lesson_matrix(STACK, WIDTH, l.in), first = lesson_matrix(WIDTH, 1, l.x);
    heed_matrix made = lesson_matrix(STACK, 1, q1);
    draw_equation(&e->out, &e->look, 3,
                  (matrix_view[]){{.name = "[W_q ; W_k ; W_v]", .m = &in, .row_labels = rows},
                                  {.name = "x", .m = &first},
                                  {.name = "[q ; k ; v]", .m = &made, .row_labels = rows}},
                  (const char *[]){"", "·", "="});
    gap(e);
    say(e,
        "One product gives all queries, keys and values of a word, here of the first: %d = 3 h d "
        "numbers for h = %d heads and d = %d. Each head then has weights of its own:",
        STACK, HEADS, KEY);
    draw_equation(&e->out, &e->look, HEADS, v, (const char *[]){"", "  ", "  "});
    gap(e);
    say(e,
        "The heads' outputs side by side have h d = %d numbers. W_h (n x h d) brings them back to "
        "n "
        "= %d, the width of x: [Y_1 Y_2 Y_3] W_h'. A product of blocks is a sum of products: Y_1 "
        "W_1' + Y_2 W_2' + Y_3 W_3', each head with its own columns of W_h. First that sum, head "
        "by "
        "head, in double precision; then the library's layer, all heads in parallel, in single "
        "precision. They differ by at most %.1g.",
        HEADS * VALUE, WIDTH, worst);
    lesson_draw(e, "one head at a time, added", lesson_matrix(TOKENS, WIDTH, l.sum), words, NULL);
    lesson_draw(e, "one layer of 3 heads", lesson_matrix(TOKENS, WIDTH, l.library), words, NULL);
    lesson_try(e, "explain heads --seed 2\n"
                  "explain heads --png heads.png");
}
