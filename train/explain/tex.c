/* tex.c -- --tex FILE: the steps as a LaTeX document, with each formula on one line for copying. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

/* Writes a label in text mode: special characters of TeX are escaped, letters without a glyph in
 * pdflatex are written as numbers, and the label is cut after `most` letters. */
static void put_escaped(heed_text *out, const char *text, int most) {
    static const char special[] = "\\{}$&#%_~^";
    static const char *const escaped[] = {
        "\\textbackslash{}",  "\\{", "\\}", "\\$", "\\&", "\\#", "\\%", "\\_", "\\textasciitilde{}",
        "\\textasciicircum{}"};
    while (*text && most-- > 0) {
        int32_t code;
        size_t n = heed_utf8_read(text, SIZE_MAX, &code);
        const char *at = n == 1 ? strchr(special, *text) : NULL;
        if (at && *text)
            heed_text_add(out, "%s", escaped[at - special]);
        else if (code < 32 || code == 127 || code > 0x17f || (code > 127 && code < 0xc0))
            heed_text_add(out, "[U+%04X]", code < 0 ? (unsigned char)*text : (unsigned)code);
        else
            heed_text_put(out, text, n);
        text += n;
    }
    if (*text) heed_text_add(out, "\\dots{}");
}

static void put_label_tex(heed_text *out, const char *label) {
    heed_text_add(out, "\\scriptstyle\\text{");
    put_escaped(out, label, 40);
    heed_text_add(out, "}");
}

/* Whether a name is a symbol in formulas: X, W_Q, dS, dW_Q; others are words. */
static bool is_symbol(const char *name, size_t n) {
    if (n > 1 && *name == 'd' && name[1] >= 'A' && name[1] <= 'Z') name++, n--;
    return n == 1 || name[1] == '_';
}

/* Writes a formula of the terminal, "dV = weights' dO", as dV = \text{weights}^\top dO. */
static void put_math(heed_text *out, const char *formula) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    while (*formula) {
        size_t n = strspn(formula, letters);
        if (n == 4 && strncmp(formula, "beta", n) == 0)
            heed_text_add(out, "\\beta ");
        else if (n > 0)
            heed_text_add(out, is_symbol(formula, n) ? "%.*s" : "\\text{%.*s}", (int)n, formula);
        else if (*formula == '\'')
            heed_text_add(out, "^\\top ");
        else
            heed_text_add(out, *formula == ' ' ? "\\%c" : "%c", *formula);
        formula += n ? n : 1;
    }
}

/* ---- matrices ---- */

static void put_entry(heed_text *out, const matrix_view *v, size_t at, int digits) {
    char text[32];
    if (v->blank && v->blank[at] == 1) {
        heed_text_add(out, "\\blank");
        return;
    }
    number_text(text, v->m->x[at], digits);
    if (strcmp(text, "-inf") == 0) snprintf(text, sizeof text, "-\\infty");
    heed_text_add(out, v->blank && v->blank[at] == 2 ? "\\underline{%s}" : "%s", text);
    if (v->marks && v->marks[at] != ' ') heed_text_add(out, "^{%c}", v->marks[at]);
}

static void put_matrix(heed_text *out, const matrix_view *v, int precision) {
    int rows = v->transposed ? v->m->cols : v->m->rows;
    int cols = v->transposed ? v->m->rows : v->m->cols;
    int digits = matrix_digits(v->m, precision);
    heed_text_add(out, "\\underset{");
    put_math(out, v->name);
    heed_text_add(out, "\\ (%d\\times %d)}{\\bordermatrix{", rows, cols);
    for (int j = 0; j < cols; j++) {
        heed_text_add(out, " & ");
        if (v->col_labels) put_label_tex(out, v->col_labels[j]);
    }
    heed_text_add(out, " \\cr\n");
    for (int i = 0; i < rows; i++) {
        if (v->row_labels) put_label_tex(out, v->row_labels[i]);
        for (int j = 0; j < cols; j++) {
            size_t at = v->transposed ? (size_t)j * (size_t)v->m->cols + (size_t)i
                                      : (size_t)i * (size_t)v->m->cols + (size_t)j;
            heed_text_add(out, " & ");
            put_entry(out, v, at, digits);
        }
        heed_text_add(out, " \\cr\n");
    }
    heed_text_add(out, "}}");
}

/* Writes one formula, scaled down if it is too wide for a line. */
static void put_formula(heed_text *out, const text_style *s, int count, const matrix_view *parts,
                        const char *const *between) {
    heed_text_add(out, "\\noindent\\fitted{$\n");
    for (int i = 0; i < count; i++) {
        if (*between[i]) heed_text_add(out, "\\;%s\\;\n", between[i]);
        put_matrix(out, &parts[i], s->precision);
        heed_text_add(out, "\n");
    }
    heed_text_add(out, "$}\n");
}

/* ---- the document ---- */

/* Writes the instructions of a sheet. The largest numbers are not marked, as that would reveal
 * answers. */
static void put_sheet(explaining *e, heed_text *out) {
    bool solution = heed_config_bool(e->p->flags, "solution");
    heed_text_add(out,
                  solution ? "\\noindent The %d numbers that exercise %llu leaves blank are "
                             "underlined.%s\n"
                           : "\\noindent One head of attention. Fill in the %d blanks, in the "
                             "order of the steps. The sheet has number %llu.%s\n",
                  sheet_blanks(e), (unsigned long long)e->seed,
                  e->w.lesson.args.hard ? " Of equal numbers the first is the largest." : "");
}

static void put_head(explaining *e, heed_text *out) {
    heed_text_add(out,
                  "%% Made by %s explain. Compiles as it is; or paste a formula with the "
                  "lines that define \\fitted and \\blank.\n"
                  "\\documentclass{article}\n"
                  "\\usepackage[T1]{fontenc}\n"
                  "\\usepackage[utf8]{inputenc}\n"
                  "\\usepackage{amsmath,graphicx}\n"
                  "\\usepackage[landscape,margin=15mm]{geometry}\n"
                  "\\newcommand\\fitted[1]{\\resizebox{\\ifdim\\width>\\linewidth\\linewidth"
                  "\\else\\width\\fi}{!}{#1}}\n"
                  "\\newcommand\\blank{\\rule{0pt}{3ex}\\rule[-.4ex]{2.5em}{.4pt}}\n"
                  "\\begin{document}\n\\section*{",
                  program_name());
    char name[48];
    if (*sheet_name(e, name)) heed_text_add(out, "%s: ", name);
    put_escaped(out, e->w.title, 200);
    heed_text_add(out, "}\n");
    if (*name) put_sheet(e, out);
}

static void put_product(explaining *e, heed_text *out, const char *title, heed_lesson_part left,
                        heed_lesson_part right, heed_lesson_part y) {
    matrix_view a = worked_view(e, left, false), b = worked_view(e, right, y == HEED_LESSON_RAW);
    matrix_view parts[3] = {e->columns ? b : a, e->columns ? a : b, worked_view(e, y, false)};
    heed_text_add(out, "\\subsection*{%s}\n", title);
    put_formula(out, &e->look, 3, parts, (const char *[]){"", "\\cdot", "="});
}

static void put_view(explaining *e, heed_text *out, matrix_view v) {
    put_formula(out, &e->look, 1, &v, (const char *[]){""});
}

static void put_result(explaining *e, heed_text *out, heed_lesson_part part) {
    put_view(e, out, worked_view(e, part, false));
}

/* Writes the weights, with the marks of a hard selection except on a sheet. */
static void put_weights(explaining *e, heed_text *out, bool sheet) {
    bool hard = e->w.lesson.args.hard;
    heed_text_add(out, "\\subsection*{Weights: %s of each %s of $%.4g$ raw}\n",
                  hard ? "1 at the largest" : "softmax", e->columns ? "column" : "row",
                  e->w.lesson.args.beta);
    char *marks = hard && !sheet ? tie_marks(e) : NULL;
    if (marks)
        heed_text_add(out, "\\noindent $*$ is chosen, $=$ ties with it: the first of equal scores "
                           "wins.\n\n");
    matrix_view v = worked_view(e, HEED_LESSON_WEIGHTS, false);
    v.marks = marks;
    put_view(e, out, v);
    free(marks);
}

/* Writes the biases, if there are any: Q = X W_Q + B_Q in every row. */
static void put_biases(explaining *e, heed_text *out) {
    for (int k = HEED_LESSON_B_Q; k <= HEED_LESSON_B_V; k++) {
        if (!has_bias(e, (heed_lesson_part)k)) continue;
        heed_text_add(out, "\\subsection*{Added to every token of $%s$}\n",
                      k == HEED_LESSON_B_Q   ? "Q"
                      : k == HEED_LESSON_B_K ? "K"
                                             : "V");
        put_result(e, out, (heed_lesson_part)k);
    }
}

static bool hides(const heed_matrix *scores) {
    for (int i = 0; i < scores->rows * scores->cols; i++)
        if (scores->x[i] < -1e300) return true;
    return false;
}

/* ---- backward ---- */

static void put_step(explaining *e, heed_text *out, const backward_step *s) {
    char names[3][32];
    matrix_view parts[3];
    int count = backward_views(e, s, parts, names);
    heed_text_add(out, "\\subsection*{");
    put_escaped(out, s->title, 40);
    heed_text_add(out, ": $");
    put_math(out, e->columns ? s->columns : s->rows);
    heed_text_add(out, "$}\n");
    put_formula(out, &e->look, count, parts, (const char *[]){"", "\\cdot", "="});
}

static void put_check(explaining *e, heed_text *out, const backward_check *k) {
    const char *part = heed_lesson_name(k->part);
    char cell[160];
    heed_text_add(out, "\\subsection*{Check by finite difference: $");
    put_math(out, part);
    heed_text_add(out, "$");
    put_escaped(out, backward_check_name(e, k, cell), 100);
    heed_text_add(out, "${} = %.6g$}\n", k->value);
    heed_text_add(out,
                  "$\\dfrac{L(w + h) - L(w - h)}{2h} = \\dfrac{%.12f - %.12f}{2\\cdot 10^{%.0f}}"
                  " = %.9f$, and $d",
                  k->up, k->down, log10(k->step), k->difference);
    put_math(out, part);
    heed_text_add(out, "$ has $%.9f$ there.\n", k->gradient);
}

static void put_backward(explaining *e, heed_text *out) {
    backward_pass b;
    if (backward_open(e, &b)) {
        heed_text_add(out, "\\section*{Backward from $L = \\frac12 \\sum (");
        put_math(out, b.of);
        put_math(out, b.minus);
        heed_text_add(out, ")^2 = %.6g$%s}\n", b.loss,
                      b.layer || e->w.target ? "" : ", with a target of 0");
        for (int i = 0; i < b.count; i++) put_step(e, out, &b.step[i]);
        for (int i = 0; i < b.checks; i++) put_check(e, out, &b.check[i]);
    }
    backward_close(&b);
}

/* Writes W_h, the sum with the other heads, add and norm. */
static void put_layer(explaining *e, heed_text *out) {
    put_product(e, out, e->columns ? "$W_h$: $W_h^\\top H$" : "$W_h$: output $W_h$",
                HEED_LESSON_OUTPUT, HEED_LESSON_W_H, HEED_LESSON_SHARE);
    heed_text_add(out, "\\subsection*{All heads%s}\n",
                  has_bias(e, HEED_LESSON_B_O) ? " and $B_O$" : "");
    put_result(e, out, HEED_LESSON_ALL);
    if (!has_norm(&e->w)) return;
    heed_text_add(out, "\\subsection*{Add and norm}\n");
    put_result(e, out, HEED_LESSON_NORMED);
}

bool write_tex(explaining *e, const char *path) {
    heed_text out = {.c = e->c};
    bool c = e->columns, sheet = e->blank[HEED_LESSON_Q] != NULL;
    put_head(e, &out);
    put_product(e, &out, c ? "Queries: $Q = W_Q^\\top X$" : "Queries: $Q = X W_Q$", HEED_LESSON_X,
                HEED_LESSON_W_Q, HEED_LESSON_Q);
    put_product(e, &out, c ? "Keys: $K = W_K^\\top X$" : "Keys: $K = X W_K$", HEED_LESSON_Z,
                HEED_LESSON_W_K, HEED_LESSON_K);
    put_product(e, &out, c ? "Values: $V = W_V^\\top X$" : "Values: $V = X W_V$", HEED_LESSON_Z,
                HEED_LESSON_W_V, HEED_LESSON_V);
    put_biases(e, &out);
    put_product(e, &out, c ? "Scores: $K^\\top Q$" : "Scores: $Q K^\\top$", HEED_LESSON_Q,
                HEED_LESSON_K, HEED_LESSON_RAW);
    if (!sheet) {
        heed_text_add(&out, "\\subsection*{Scaled by $\\beta = %.4g$}\n", e->w.lesson.args.beta);
        put_result(e, &out, HEED_LESSON_SCALED);
    }
    if (hides(&e->w.lesson.part[HEED_LESSON_SCORES])) {
        heed_text_add(&out, "\\subsection*{Masked}\n");
        put_result(e, &out, HEED_LESSON_SCORES);
    }
    put_weights(e, &out, sheet);
    put_product(e, &out, c ? "Output: $H = V A$" : "Output: weights $V$", HEED_LESSON_WEIGHTS,
                HEED_LESSON_V, HEED_LESSON_OUTPUT);
    if (has_layer(&e->w) && !sheet) put_layer(e, &out);
    if (heed_config_bool(e->p->flags, "backward")) put_backward(e, &out);
    heed_text_add(&out, "\\end{document}\n");
    bool ok = heed_text_save(&out, path);
    heed_text_free(&out);
    return ok;
}
