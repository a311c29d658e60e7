/* sheet.c -- --exercise and --solution: the same sheet with cells blank and filled in. */
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

static const heed_lesson_part asked[] = {HEED_LESSON_Q,   HEED_LESSON_K,       HEED_LESSON_V,
                                         HEED_LESSON_RAW, HEED_LESSON_WEIGHTS, HEED_LESSON_OUTPUT};

/* Marks a share of the cells of each matrix, at least one, which depends only on the seed. */
bool sheet_open(explaining *e, bool solution) {
    double share = heed_config_real(e->p->flags, "blanks");
    unsigned char flag = solution ? 2 : 1;
    e->most_width = e->most_tokens = 0; /* a reader needs all numbers */
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const heed_matrix *m = &e->w.lesson.part[asked[i]];
        size_t n = (size_t)m->rows * (size_t)m->cols;
        heed_random r = heed_random_at(e->seed, heed_lesson_name(asked[i]), 0, 0);
        unsigned char *flags = e->blank[asked[i]] = calloc(n, 1);
        if (!flags) return heed_fail(e->c, HEED_FAILED, "no memory for a sheet");
        for (size_t at = 0; at < n; at++)
            if (heed_random_uniform(&r, at) < share) flags[at] = flag;
        flags[heed_random_below(&r, n, (uint32_t)n)] = flag;
    }
    return true;
}

void sheet_hide(const explaining *e, json_t *o) {
    static const char *const rest[] = {"target", "learn", "stages", "choices", "changes", "faulty"};
    if (!e->blank[HEED_LESSON_Q] || heed_config_bool(e->p->flags, "solution")) return;
    for (int i = HEED_LESSON_Q; i < HEED_LESSON_COUNT; i++)
        json_object_del(o, heed_lesson_name((heed_lesson_part)i));
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) json_object_del(o, rest[i]);
}

void sheet_close(explaining *e) {
    for (int i = 0; i < HEED_LESSON_COUNT; i++) {
        free(e->blank[i]);
        e->blank[i] = NULL;
    }
}

int sheet_blanks(const explaining *e) {
    int count = 0;
    for (int k = 0; k < HEED_LESSON_COUNT; k++) {
        const heed_matrix *m = &e->w.lesson.part[k];
        for (int i = 0; e->blank[k] && i < m->rows * m->cols; i++) count += e->blank[k][i] != 0;
    }
    return count;
}

const char *sheet_name(const explaining *e, char name[48]) {
    bool solution = heed_config_bool(e->p->flags, "solution");
    *name = 0;
    if (e->blank[HEED_LESSON_Q])
        snprintf(name, 48, "%s %llu", solution ? "Solution" : "Exercise",
                 (unsigned long long)e->seed);
    return name;
}

/* ---- in the terminal ---- */

static void product(explaining *e, heed_lesson_part out, const char *title) {
    matrix_view parts[4];
    int n = product_views(e, out, -1, -1, parts);
    gap(e);
    heading(e, "%s%s%s", title, n > 3 ? " + " : "", n > 3 ? heed_lesson_name(bias_of(out)) : "");
    draw_equation(&e->out, &e->look, n, parts, (const char *[]){"", "·", n > 3 ? "+" : "=", "="});
}

static void rotated(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    gap(e);
    put_words(e,
              "Q_R and K_R are Q and K rotated by their places, from 0: numbers i and i + %d are a "
              "pair, rotated by the angle p %g^(-2(i-1)/%d). They are given.",
              a->key / 2, a->rotary, a->key);
}

void explain_sheet(explaining *e, bool solution) {
    char name[48];
    const heed_lesson_args *a = &e->w.lesson.args;
    bool c = e->columns;
    heed_text title = {.c = e->c};
    heading(e, "%s: %s", sheet_name(e, name), shown_title(&title, e->w.title));
    heed_text_free(&title);
    put_words(e,
              solution
                  ? "The %d numbers that exercise %llu leaves blank are filled in."
                  : "One head of attention. Fill in the %d blanks, in the order of the steps. The "
                    "sheet has number %llu: --solution with the same --seed prints the answers.",
              sheet_blanks(e), (unsigned long long)e->seed);
    product(e, HEED_LESSON_Q, c ? "1. Queries: Q = W_Q' X" : "1. Queries: Q = X W_Q");
    product(e, HEED_LESSON_K, c ? "2. Keys: K = W_K' X" : "2. Keys: K = X W_K");
    product(e, HEED_LESSON_V, c ? "3. Values: V = W_V' X" : "3. Values: V = X W_V");
    if (is_rotary(&e->w)) rotated(e);
    product(e, HEED_LESSON_RAW,
            is_rotary(&e->w) ? c ? "4. Scores: raw = K_R' Q_R" : "4. Scores: raw = Q_R K_R'"
            : c              ? "4. Scores: raw = K' Q"
                             : "4. Scores: raw = Q K'");
    gap(e);
    heading(e, "5. Weights: %s of each %s of %.4g raw%s", a->hard ? "1 at the largest" : "softmax",
            c ? "column" : "row", a->beta, a->causal ? ", later tokens hidden" : "");
    if (a->hard) say(e, "Of equal numbers the first is the largest.");
    matrix_view v = worked_view(e, HEED_LESSON_WEIGHTS, false);
    draw_matrix(&e->out, &e->look, &v);
    product(e, HEED_LESSON_OUTPUT, c ? "6. Output: H = V A" : "6. Output: output = weights V");
}
