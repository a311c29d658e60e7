/* lesson_shuffle.c -- permutation equivariance: shuffle the words or the patches, and the output is
 * shuffled the same way, f(s(x)) = s(f(x)); with positions or a causal mask it is not. Shuffle a
 * memory, and what a query gets from it stays the same. */
#include "explain/explain.h"
#include "explain/hungry_lion.h"

#include <math.h>
#include <string.h>

enum { MEMORY = 6, MEMORY_WIDTH = 4 };
enum { GRID = 3, PATCHES = GRID * GRID, PATCH = 2, SIDE = GRID * PATCH, WIDTH = 8, BLOCKS = 2 };

static heed_matrix normals(explaining *e, const char *site, int rows, int cols) {
    heed_random r = heed_random_at(e->seed, site, 0, 0);
    uint64_t at = 0;
    return matrix_random(e, &r, &at, rows, cols);
}

static void permute(const explaining *e, const char *site, int n, int *order) {
    heed_random r = heed_random_at(e->seed, site, 0, 0);
    for (int i = 0; i < n; i++) order[i] = (int)heed_random_permute(&r, (uint64_t)i, (uint32_t)n);
}

/* Row i is row order[i] of m; both: the same of the columns. */
static heed_matrix shuffled(explaining *e, heed_matrix m, const int *order, bool both) {
    heed_matrix s = matrix_new(e, m.rows, m.cols);
    for (int i = 0; i < s.rows * s.cols; i++) {
        int col = i % m.cols;
        s.x[i] = heed_matrix_at(&m, order[i / m.cols], both ? order[col] : col);
    }
    return s;
}

static const char *const *shuffled_labels(explaining *e, const char *const *labels,
                                          const int *order, int n) {
    const char *moved[LION_TOKENS] = {0};
    for (int i = 0; labels && i < n; i++) moved[i] = labels[order[i]];
    return keep_labels(e, moved, n);
}

/* ---- words ---- */

enum { AS_IT_IS, POSITIONS, CAUSAL, CASES };

/* Scores, weights and output of the lion's head on its words in some order; with positions, a
 * number that grows with the place is added. */
static bool head_of(explaining *e, heed_matrix x, int which, heed_matrix out[3]) {
    heed_attention_trace l;
    heed_matrix in = matrix_of(e, x.rows, x.cols, x.x);
    if (failed(e)) return false;
    for (int i = 0; which == POSITIONS && i < x.rows * x.cols; i++) in.x[i] += 0.1 * (i / x.cols);
    heed_attention_trace_args a = lion_args(in.x);
    a.causal = which == CAUSAL;
    bool ok = heed_attention_trace_make(e->c, &a, &l);
    static const heed_attention_trace_part parts[] = {HEED_TRACE_SCORES, HEED_TRACE_WEIGHTS,
                                                      HEED_TRACE_OUTPUT};
    for (int i = 0; ok && i < 3; i++) {
        const heed_matrix *m = &l.part[parts[i]];
        out[i] = matrix_of(e, m->rows, m->cols, m->x);
    }
    heed_attention_trace_free(&l);
    return ok;
}

static bool shuffle_words(explaining *e) {
    static const char *const names[] = {"as it is", "positions", "causal mask"};
    static const char *const parts[] = {"scores", "weights", "output"};
    int order[LION_TOKENS];
    permute(e, "explain.shuffle", LION_TOKENS, order);
    const char *const *moved = shuffled_labels(e, lion_tokens, order, LION_TOKENS);
    heed_matrix x = matrix_of(e, LION_TOKENS, LION_FEATURES, lion_x);
    heed_matrix there = shuffled(e, x, order, false), gaps = matrix_new(e, CASES, 3);
    heed_matrix plain[CASES][3], again[CASES][3];
    for (int k = 0; k < CASES && !failed(e); k++) {
        if (!head_of(e, x, k, plain[k]) || !head_of(e, there, k, again[k])) return false;
        for (int i = 0; i < 3; i++)
            gaps.x[3 * k + i] = largest_gap(again[k][i], shuffled(e, plain[k][i], order, i < 2));
    }
    lesson_step *s = add_step(e, "Words", "f(s(x)) = s(f(x))",
                              "The words of the hungry lion, shuffled by a permutation s (another "
                              "--seed, another order):");
    show(e, "", "f(x)", plain[AS_IT_IS][2], lion_tokens, NULL);
    show(e, "", "f(s(x))", again[AS_IT_IS][2], moved, NULL);
    s->after =
        "Look at any word: its output moved with it and has not changed. Scores are equal to "
        "the last bit; weights and outputs to the rounding of sums whose terms come in "
        "another order. With a position added to each word, or with a causal mask, this no "
        "longer holds: the order counts.";
    s = add_step(e, NULL, "largest |f(s(x)) - s(f(x))|", NULL);
    show(e, "", "largest |f(s(x)) - s(f(x))|", gaps, names, parts)->brief = true;
    s->aside = "inf: a score that the mask hides in one of the two alone";
    return true;
}

/* ---- a memory ---- */

static void shuffle_memory(explaining *e) {
    static const char *const in_order[] = {"in order", "shuffled"};
    heed_attention_layer l;
    heed_attention_layer_init(&l, library(e), "attend",
                              (heed_attention_layer_args){.kind = HEED_ADDITIVE,
                                                          .query = MEMORY_WIDTH,
                                                          .input = MEMORY_WIDTH});
    int order[MEMORY];
    permute(e, "explain.shuffle.memory", MEMORY, order);
    heed_matrix query = normals(e, "explain.shuffle.s", 1, MEMORY_WIDTH), weights[2];
    heed_matrix h = normals(e, "explain.shuffle.h", MEMORY, MEMORY_WIDTH);
    heed_matrix c = matrix_new(e, 2, MEMORY_WIDTH);
    if (failed(e)) return;
    for (int k = 0; k < 2; k++) {
        heed_tape_begin(e->tape, HEED_EVAL, 0);
        heed_tensor *memory = input_of(e, k ? shuffled(e, h, order, false) : h);
        heed_attention_kv kv = heed_attention_layer_kv(&l, e->tape, memory, NULL);
        heed_tensor *q = input_of(e, query);
        heed_attended y = heed_attention_layer_apply(&l, e->tape, q, &kv, false);
        weights[k] = result_of(e, y.weights, 1, MEMORY);
        heed_matrix row = result_of(e, y.context, 1, MEMORY_WIDTH);
        if (failed(e)) return;
        memcpy(c.x + k * MEMORY_WIDTH, row.x, MEMORY_WIDTH * sizeof *c.x);
    }
    const char *const *labels = numbered(e, "h_%d", 1, MEMORY);
    add_step(e, "A memory h_1, h_2, ... is a set", "c = sum of a_i h_i",
             "A decoder's query to what an encoder remembers, by the library's additive attention "
             "with random numbers: weights a_i and context c, then the same with the h_i in "
             "another order.");
    show(e, "", "weights", weights[0], NULL, labels)->picture = true;
    show(e, "", "weights, shuffled", weights[1], NULL, shuffled_labels(e, labels, order, MEMORY))
        ->picture = true;
    lesson_step *s = add_step(e, NULL, "c = sum of a_i h_i", NULL);
    show(e, "", "c", c, in_order, NULL);
    s->after = text_of(
        e,
        "Each h_i keeps its weight wherever it is, and c is the same: the two differ by %.1g, the "
        "rounding of a sum in another order. The position of a word must therefore be part of its "
        "h_i.",
        largest_gap(rows_of_matrix(c, 0, 1), rows_of_matrix(c, 1, 1)));
}

/* ---- patches: the blocks of Dosovitskiy et al. 2021 ---- */

typedef struct {
    heed_conv patch;
    heed_position position;
    heed_block block[BLOCKS];
} vit;

static void vit_init(explaining *e, vit *m, heed_position_kind positions) {
    heed_params *s = library(e);
    heed_block_args a = {.attn = {.width = WIDTH, .heads = 2},
                         .mlp = {.width = WIDTH, .inner = 2 * WIDTH, .act = HEED_GELU},
                         .pre_norm = true,
                         .eps = (heed_real)1e-5};
    heed_patch_embed_init(&m->patch, s, "patch", 1, PATCH, WIDTH, NULL);
    heed_position_init(&m->position, s, "position", positions, PATCHES, WIDTH);
    for (int i = 0; i < BLOCKS; i++) {
        heed_scope_push(s, "encoder.%d", i);
        heed_block_init(&m->block[i], s, "", a);
        heed_scope_pop(s);
    }
    if (heed_ctx_status(e->c) == HEED_OK)
        set_parameter(m->position.table, normals(e, "explain.shuffle.positions", PATCHES, WIDTH),
                      false);
}

/* The outputs of all patches, (PATCHES,WIDTH). */
static heed_matrix vit_apply(explaining *e, const vit *m, heed_matrix pixels) {
    heed_tape *t = e->tape;
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *x = heed_reshape(t, input_of(e, pixels), 4, (int[]){1, SIDE, SIDE, 1});
    heed_tensor *y =
        heed_position_apply(&m->position, t, heed_patch_embed_apply(&m->patch, t, x), 0);
    for (int i = 0; i < BLOCKS; i++) y = heed_block_apply(&m->block[i], t, y, NULL);
    return result_of(e, y, PATCHES, WIDTH);
}

/* Moves each patch of the picture whole. */
static heed_matrix move_patches(explaining *e, heed_matrix from, const int *order) {
    heed_matrix to = matrix_new(e, SIDE, SIDE);
    for (int i = 0; i < to.rows * to.cols; i++) {
        int row = i / SIDE, col = i % SIDE, patch = order[row / PATCH * GRID + col / PATCH];
        to.x[i] = heed_matrix_at(&from, patch / GRID * PATCH + row % PATCH,
                                 patch % GRID * PATCH + col % PATCH);
    }
    return to;
}

static heed_matrix mean_of(explaining *e, heed_matrix m) {
    heed_matrix mean = matrix_new(e, 1, m.cols);
    for (int i = 0; mean.x && i < m.rows * m.cols; i++) mean.x[i % m.cols] += m.x[i] / m.rows;
    return mean;
}

static void shuffle_patches(explaining *e) {
    static const char *const kinds[] = {"none", "learned"}, *const of[] = {"f", "mean"};
    heed_matrix gaps = matrix_new(e, 2, 2), x = normals(e, "explain.shuffle.pixels", SIDE, SIDE);
    int order[PATCHES];
    permute(e, "explain.shuffle.patches", PATCHES, order);
    for (int k = 0; k < 2; k++) {
        vit m;
        vit_init(e, &m, k ? HEED_LEARNED : HEED_NO_POSITIONS);
        if (failed(e)) return;
        heed_matrix plain = shuffled(e, vit_apply(e, &m, x), order, false);
        heed_matrix moved = vit_apply(e, &m, move_patches(e, x, order));
        gaps.x[2 * k] = largest_gap(moved, plain);
        gaps.x[2 * k + 1] = largest_gap(mean_of(e, moved), mean_of(e, plain));
    }
    lesson_step *s = add_step(
        e, "Patches of a picture are a set, too", "largest |f(s(x)) - s(f(x))|",
        "The layers of a ViT with random weights: patch embedding, positions, two blocks. The 9 "
        "patches of a random picture change places, each as a whole. f: the outputs of all "
        "patches; mean: their mean, which the class is read from. Rows: --positions none and "
        "learned.");
    show(e, "", "by positions", gaps, kinds, of)->brief = true;
    s->after = "Without positions the outputs move with their patches, and a picture whose patches "
               "are in another order has the class of the picture.";
}

void shuffle_steps(explaining *e) {
    e->title = "Attention knows no order";
    e->commands = "explain shuffle --seed 7\n"
                  "explain lion --html lion.html";
    e->unit = "weight", e->hi = 1;
    if (!shuffle_words(e)) return;
    shuffle_memory(e);
    shuffle_patches(e);
}
