/* lesson_heads.c -- one layer of H heads equals the sum of H layers of one head: the library's
 * layer compared with the formula. Vaswani et al. 2017, sec. 3.2.2. */
#include "explain/lesson.h"

#include <math.h>
#include <string.h>

enum { TOKENS = 4, WIDTH = 6, HEADS = 3, KEY = 2, VALUE = 2, STACK = HEADS * (2 * KEY + VALUE) };
static const char *const words[] = {"the", "lion", "eats", "grass"};

typedef struct {
    double x[TOKENS * WIDTH];
    double in[STACK * WIDTH];          /* rows: queries of all heads, keys of all, values of all */
    double out[WIDTH * HEADS * VALUE]; /* W_h */
    double weights[HEADS][TOKENS * TOKENS], heads[HEADS][TOKENS * VALUE];
    double sum[TOKENS * WIDTH];     /* sum of the heads' parts */
    double library[TOKENS * WIDTH]; /* heed_mha_apply's output */
} layer;

static void fill(const heed_random *r, uint64_t from, double scale, int n, double *out) {
    for (int i = 0; i < n; i++) out[i] = scale * heed_random_normal(r, from + (uint64_t)i);
}

static void choose(uint64_t seed, layer *l) {
    heed_random r = heed_random_at(seed, "explain.heads", 0, 0);
    fill(&r, 0, 1, TOKENS * WIDTH, l->x);
    fill(&r, 1000, 1 / sqrt(WIDTH), STACK * WIDTH, l->in);
    fill(&r, 2000, 1 / sqrt(HEADS * VALUE), WIDTH * HEADS * VALUE, l->out);
}

/* Copies rows [from, from + size) of the stacked weight, transposed: (WIDTH,size). */
static void take(const layer *l, int from, int size, double *w) {
    for (int i = 0; i < WIDTH; i++)
        for (int j = 0; j < size; j++) w[i * size + j] = l->in[(from + j) * WIDTH + i];
}

/* ---- H layers of one head ---- */

static void add_part(layer *l, int head) {
    for (int t = 0; t < TOKENS; t++)
        for (int i = 0; i < WIDTH; i++)
            for (int j = 0; j < VALUE; j++)
                l->sum[t * WIDTH + i] +=
                    l->heads[head][t * VALUE + j] * l->out[i * HEADS * VALUE + head * VALUE + j];
}

static bool one_head(heed_ctx *c, layer *l, int head) {
    double q[WIDTH * KEY], k[WIDTH * KEY], v[WIDTH * VALUE];
    heed_lesson one;
    take(l, head * KEY, KEY, q);
    take(l, (HEADS + head) * KEY, KEY, k);
    take(l, 2 * HEADS * KEY + head * VALUE, VALUE, v);
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
        add_part(l, head);
    }
    heed_lesson_free(&one);
    return ok;
}

/* ---- one layer of H heads ---- */

static void to_real(const double *from, int n, heed_real *to) {
    for (int i = 0; i < n; i++) to[i] = (heed_real)from[i];
}

static bool library_layer(heed_ctx *c, layer *l) {
    heed_store *s = heed_store_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_mha m;
    heed_mha_init(&m, s, "attn", (heed_mha_args){.width = WIDTH, .heads = HEADS, .no_bias = true});
    heed_tensor *y = NULL;
    if (heed_ctx_status(c) == HEED_OK) {
        heed_real x[TOKENS * WIDTH];
        to_real(l->x, TOKENS * WIDTH, x);
        to_real(l->in, STACK * WIDTH, m.qkv.w->x);
        to_real(l->out, WIDTH * HEADS * VALUE, m.out.w->x);
        heed_tape_begin(t, HEED_EVAL, 0);
        y = heed_mha_apply(&m, t, heed_input(t, x, 3, (int[]){1, TOKENS, WIDTH}), NULL, NULL, NULL);
        for (int i = 0; y && i < TOKENS * WIDTH; i++) l->library[i] = (double)y->x[i];
    }
    heed_tape_free(t);
    heed_store_free(s);
    return y != NULL;
}

/* ---- output ---- */

static json_t *as_json(layer *l, double gap) {
    json_t *heads = json_array();
    for (int h = 0; h < HEADS; h++)
        json_array_append_new(heads, json_pack("{s:o, s:o}", "weights",
                                               lesson_grid(TOKENS, TOKENS, l->weights[h]), "output",
                                               lesson_grid(TOKENS, VALUE, l->heads[h])));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:f}", "example", "heads", "X",
                     lesson_grid(TOKENS, WIDTH, l->x), "heads", heads, "W_h",
                     lesson_grid(WIDTH, HEADS * VALUE, l->out), "sum",
                     lesson_grid(TOKENS, WIDTH, l->sum), "library",
                     lesson_grid(TOKENS, WIDTH, l->library), "largest_difference", gap);
}

static void draw_heads(explaining *e, layer *l) {
    heed_matrix m[HEADS];
    matrix_view v[HEADS];
    const char *const titles[HEADS] = {"weights, head 1", "head 2", "head 3"};
    for (int h = 0; h < HEADS; h++) {
        m[h] = lesson_matrix(TOKENS, TOKENS, l->weights[h]);
        v[h] = (matrix_view){.name = titles[h], .m = &m[h], .row_labels = h ? NULL : words};
    }
    draw_equation(&e->out, &e->look, HEADS, v, (const char *[]){"", "  ", "  "});
    heed_text_put(&e->out, "\n", 1);
}

static void draw_sums(explaining *e, layer *l) {
    lesson_draw(e, "one head at a time, added", lesson_matrix(TOKENS, WIDTH, l->sum), words, NULL);
    lesson_draw(e, "one layer of 3 heads", lesson_matrix(TOKENS, WIDTH, l->library), words, NULL);
}

void explain_heads(explaining *e) {
    layer l = {.x = {0}};
    choose(e->seed, &l);
    for (int h = 0; h < HEADS; h++)
        if (!one_head(e->c, &l, h)) return;
    if (!library_layer(e->c, &l)) return;
    double gap = lesson_gap(l.sum, l.library, TOKENS * WIDTH);
    if (lesson_json(e, as_json(&l, gap))) return;
    draw_heading(&e->out, &e->look, "H heads are H layers of one head");
    lesson_say(e,
               "Random vectors of width %d, and a layer of %d heads with queries and keys of "
               "width %d each. Look at one word's row in "
               "each: every head has shares of its own.",
               WIDTH, HEADS, KEY);
    draw_heads(e, &l);
    lesson_say(e,
               "Their outputs side by side, times W_h': [Y_1 Y_2 Y_3] W_h'. A product of blocks "
               "is a sum of products: Y_1 W_1' + Y_2 W_2' + Y_3 W_3', each head with its own "
               "columns of W_h. First that sum, head by head, in double precision; then the "
               "library's layer, all heads at once, in single precision. They differ by at most "
               "%.1g.",
               gap);
    draw_sums(e, &l);
    lesson_try(e, (const char *[]){"explain heads --seed 2", "explain heads --precision 6"}, 2);
}
