/* lesson_shuffle.c -- permutation equivariance: shuffle the words or the patches, and the output is
 * shuffled the same way, f(s(x)) = s(f(x)); with positions or a causal mask it is not. Shuffle a
 * memory, and what a query gets from it stays the same. */
#include "explain/hungry_lion.h"
#include "explain/shuffle.h"

#include <math.h>
#include <string.h>

enum { AS_IT_IS, POSITIONS, CAUSAL, CASES };
static const char *const names[CASES] = {"as it is", "positions", "causal mask"};

/* Largest differences between f(s(x)) and s(f(x)). */
typedef struct {
    double scores, weights, output;
} gaps;

/* The lion's rows, row i in place of which comes row order[i]; positions: adds a number that grows
 * with i. */
static bool open_lion(explaining *e, const int *order, int which, heed_lesson *out) {
    double x[LION_TOKENS * LION_FEATURES];
    for (int i = 0; i < LION_TOKENS; i++)
        for (int k = 0; k < LION_FEATURES; k++)
            x[i * LION_FEATURES + k] =
                lion_x[order[i] * LION_FEATURES + k] + (which == POSITIONS ? 0.1 * i : 0);
    heed_lesson_args a = lion_args(x);
    a.causal = which == CAUSAL;
    return heed_lesson_make(e->c, &a, out);
}

/* both: the columns are shuffled, too. */
static double difference(const heed_matrix *moved, const heed_matrix *plain, const int *order,
                         bool both) {
    double worst = 0;
    for (int i = 0; i < moved->rows; i++)
        for (int j = 0; j < moved->cols; j++) {
            double a = heed_matrix_at(moved, i, j);
            double b = heed_matrix_at(plain, order[i], both ? order[j] : j);
            if (a != b) worst = fmax(worst, isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY);
        }
    return worst;
}

/* What layers of the library do with a shuffled memory and with shuffled patches, without positions
 * and with. */
typedef struct {
    memory_shuffle memory;
    patch_shuffle patches[2];
} by_library;

static json_t *library_json(by_library *k) {
    static const char *const positions[] = {"none", "learned"};
    json_t *list = json_array();
    for (int i = 0; i < 2; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:f, s:f}", "positions", positions[i], "output",
                                        k->patches[i].output, "mean", k->patches[i].mean));
    return json_pack("{s:{s:o, s:o, s:f}, s:o}", "memory", "weights",
                     lesson_grid(2, MEMORY, k->memory.weights[0]), "context",
                     lesson_grid(2, MEMORY_WIDTH, k->memory.context[0]), "difference",
                     k->memory.gap, "vit", list);
}

static json_t *as_json(const int *order, const gaps *g, by_library *k) {
    json_t *places = json_array(), *cases = json_array();
    for (int i = 0; i < LION_TOKENS; i++) json_array_append_new(places, json_integer(order[i]));
    for (int i = 0; i < CASES; i++)
        json_array_append_new(cases, json_pack("{s:s, s:o, s:o, s:o}", "name", names[i], "scores",
                                               json_number(g[i].scores), "weights",
                                               json_number(g[i].weights), "output",
                                               json_number(g[i].output)));
    json_t *o = json_pack("{s:s, s:o, s:o}", "example", "shuffle", "order", places, "cases", cases);
    json_t *more = library_json(k);
    json_object_update(o, more);
    json_decref(more);
    return o;
}

/* Draws each word's output at its old place and at its new place. */
static void draw_outputs(explaining *e, const heed_lesson *plain, const heed_lesson *moved,
                         const int *order) {
    const char *labels[LION_TOKENS];
    for (int i = 0; i < LION_TOKENS; i++) labels[i] = lion_tokens[order[i]];
    const matrix_view v[2] = {
        {.name = "f(x)", .m = &plain->part[HEED_LESSON_OUTPUT], .row_labels = lion_tokens},
        {.name = "f(s(x))", .m = &moved->part[HEED_LESSON_OUTPUT], .row_labels = labels}};
    draw_equation(&e->out, &e->look, 2, v, (const char *[]){"", "    "});
    gap(e);
}

static void draw_memory(explaining *e, memory_shuffle *m) {
    char text[MEMORY][8];
    const char *labels[2][MEMORY];
    for (int i = 0; i < MEMORY; i++) {
        snprintf(text[i], sizeof text[i], "h_%d", i + 1);
        labels[0][i] = text[i];
    }
    for (int i = 0; i < MEMORY; i++) labels[1][i] = text[m->order[i]];
    heading(e, "A memory h_1, h_2, ... is a set");
    say(e,
        "A decoder's query to what an encoder remembers, by the library's additive attention with "
        "random numbers: weights a_i and context c = sum of a_i h_i, then the same with the h_i "
        "in another order.");
    for (int k = 0; k < 2; k++)
        lesson_draw(e, k ? "weights, shuffled" : "weights", lesson_matrix(1, MEMORY, m->weights[k]),
                    NULL, labels[k]);
    lesson_draw(e, "c", lesson_matrix(2, MEMORY_WIDTH, m->context[0]),
                (const char *[]){"in order", "shuffled"}, NULL);
    say(e,
        "Each h_i keeps its weight wherever it is, and c is the same: the two differ by %.1g, the "
        "rounding of a sum in another order. The position of a word must therefore be part of its "
        "h_i.",
        m->gap);
}

static void draw_patches(explaining *e, const patch_shuffle g[2]) {
    heading(e, "Patches of a picture are a set, too");
    say(e,
        "The layers of a ViT with random weights: patch embedding, positions, two blocks. The %d "
        "patches of a random picture change places, each as a whole. f: the outputs of all "
        "patches; "
        "mean: their mean, which the class is read from.",
        PATCHES);
    heed_text_add(&e->out, "  largest |f(s(x)) - s(f(x))| of\n  %-22s %8s %8s\n", "", "f", "mean");
    for (int i = 0; i < 2; i++)
        heed_text_add(&e->out, "  %-22s %8.1g %8.1g\n",
                      i ? "--positions learned" : "--positions none", g[i].output, g[i].mean);
    gap(e);
    say(e,
        "Without positions the outputs move with their patches, and a picture whose patches are in "
        "another order has the class of the picture.");
}

static void draw(explaining *e, const heed_lesson *plain, const heed_lesson *moved,
                 const int *order, const gaps *g, by_library *k) {
    heed_text line = {.c = e->c};
    for (int i = 0; i < LION_TOKENS; i++)
        heed_text_add(&line, "%s%s", i ? " " : "", lion_tokens[order[i]]);
    heading(e, "Attention knows no order");
    say(e, "The words of the hungry lion, shuffled by a permutation s (another --seed, another "
           "order):");
    say(e, "%s", line.s ? line.s : "");
    heed_text_free(&line);
    draw_outputs(e, plain, moved, order);
    say(e, "Look at any word: its output moved with it and has not changed, f(s(x)) = s(f(x)). "
           "Scores are equal to the last bit; weights and outputs to the rounding of sums whose "
           "terms come in another order. With a position added to each word, or with a causal "
           "mask, this no longer holds: the order counts.");
    heed_text_add(&e->out, "  largest |f(s(x)) - s(f(x))| of\n  %-11s %8s %8s %8s\n", "", "scores",
                  "weights", "output");
    for (int i = 0; i < CASES; i++)
        heed_text_add(&e->out, "  %-11s %8.1g %8.1g %8.1g\n", names[i], g[i].scores, g[i].weights,
                      g[i].output);
    gap(e);
    aside(e, "inf: a score that the mask hides in one of the two alone");
    gap(e);
    draw_memory(e, &k->memory);
    draw_patches(e, k->patches);
    lesson_try(e, "explain shuffle --seed 7\n"
                  "explain lion --html lion.html");
}

void explain_shuffle(explaining *e) {
    heed_random r = heed_random_at(e->seed, "explain.shuffle", 0, 0);
    int same[LION_TOKENS], order[LION_TOKENS];
    gaps g[CASES];
    heed_lesson plain[CASES] = {{.self = true}}, moved[CASES] = {{.self = true}};
    bool ok = true;
    for (int i = 0; i < LION_TOKENS; i++) {
        same[i] = i;
        order[i] = (int)heed_random_permute(&r, (uint64_t)i, LION_TOKENS);
    }
    for (int k = 0; ok && k < CASES; k++) {
        ok = open_lion(e, same, k, &plain[k]) && open_lion(e, order, k, &moved[k]);
        const heed_matrix *p = plain[k].part, *m = moved[k].part;
        if (ok)
            g[k] = (gaps){difference(&m[HEED_LESSON_SCORES], &p[HEED_LESSON_SCORES], order, true),
                          difference(&m[HEED_LESSON_WEIGHTS], &p[HEED_LESSON_WEIGHTS], order, true),
                          difference(&m[HEED_LESSON_OUTPUT], &p[HEED_LESSON_OUTPUT], order, false)};
    }
    by_library library = {.memory = {.gap = 0}};
    ok = ok && shuffle_memory(e->c, e->seed, &library.memory) &&
         shuffle_patches(e->c, e->seed, HEED_NO_POSITIONS, &library.patches[0]) &&
         shuffle_patches(e->c, e->seed, HEED_LEARNED, &library.patches[1]);
    if (ok && !lesson_json(e, as_json(order, g, &library)))
        draw(e, &plain[0], &moved[0], order, g, &library);
    for (int k = 0; k < CASES; k++) {
        heed_lesson_free(&plain[k]);
        heed_lesson_free(&moved[k]);
    }
}
