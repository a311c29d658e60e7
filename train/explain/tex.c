/* tex.c -- --tex FILE: the steps as a LaTeX document, with each formula on one line for copying. */
#include "explain/explain.h"

#include <math.h>
#include <stdarg.h>
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

static void put_label(heed_text *out, const char *label) {
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
    int rows = rows_of(v), cols = cols_of(v);
    int digits = matrix_digits(v->m, precision);
    heed_text_add(out, "\\underset{");
    put_math(out, v->name);
    heed_text_add(out, "\\ (%d\\times %d)}{\\bordermatrix{", rows, cols);
    for (int j = 0; j < cols; j++) {
        heed_text_add(out, " & ");
        if (v->col_labels) put_label(out, v->col_labels[j]);
    }
    heed_text_add(out, " \\cr\n");
    for (int i = 0; i < rows; i++) {
        if (v->row_labels) put_label(out, v->row_labels[i]);
        for (int j = 0; j < cols; j++) {
            heed_text_add(out, " & ");
            put_entry(out, v, cell_of(v, i, j), digits);
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

static void put_head(explaining *e, heed_text *out) {
    heed_text_add(out,
                  "%% Made by %s explain. Compiles as it is; or paste a formula with the "
                  "lines that define \\fitted and \\blank.\n"
                  "\\documentclass{article}\n"
                  "\\usepackage[T1]{fontenc}\n"
                  "\\usepackage[utf8]{inputenc}\n"
                  "\\usepackage{amsmath,graphicx}\n"
                  "\\usepackage[landscape,margin=15mm]{geometry}\n"
                  "\\newcommand\\fitted[1]{\\resizebox{\\ifdim\\width>"
                  "\\linewidth\\linewidth\\else\\width\\fi}{!}{#1}}\n"
                  "\\newcommand\\blank{\\rule{0pt}{3ex}\\rule[-.4ex]{2.5em}{.4pt}}\n"
                  "\\begin{document}\n\\section*{",
                  message_name());
    char name[48];
    if (*sheet_name(e, name)) heed_text_add(out, "%s: ", name);
    put_escaped(out, e->w.title, 200);
    heed_text_add(out, "}\n");
    if (!*name) return;
    bool solution = heed_config_bool(e->p->flags, "solution");
    heed_text_add(
        out,
        solution ? "\\noindent The %d numbers that exercise %llu leaves blank are underlined.%s\n"
                 : "\\noindent One head of attention. Fill in the %d blanks, in the order of the "
                   "steps. The sheet has number %llu.%s\n",
        sheet_blanks(e), (unsigned long long)e->seed,
        e->w.lesson.args.hard ? " Of equal numbers the first is the largest." : "");
}

static void put_product(explaining *e, heed_text *out, const char *title, heed_lesson_part y) {
    matrix_view parts[4];
    int last = product_views(e, y, -1, -1, parts) - 1;
    parts[2] = parts[last]; /* a bias is written apart */
    heed_text_add(out, "\\subsection*{%s}\n", title);
    put_formula(out, &e->look, 3, parts, (const char *[]){"", "\\cdot", "="});
}

/* Writes a part under a title; with the marks of a hard selection, or NULL. */
static void put_part(explaining *e, heed_text *out, heed_lesson_part part, const char *marks,
                     const char *format, ...) HEED_PRINTF(5, 6);
static void put_part(explaining *e, heed_text *out, heed_lesson_part part, const char *marks,
                     const char *format, ...) {
    matrix_view v = worked_view(e, part, false);
    char title[128];
    va_list list;
    va_start(list, format);
    vsnprintf(title, sizeof title, format, list);
    va_end(list);
    heed_text_add(out, "\\subsection*{%s}\n", title);
    if (marks)
        heed_text_add(
            out, "\\noindent $*$ is chosen, $=$ ties with it: the first of equal scores wins.\n\n");
    v.marks = marks;
    put_formula(out, &e->look, 1, &v, (const char *[]){""});
}

/* ---- backward ---- */

static void put_step(explaining *e, heed_text *out, const backward_pass *b,
                     const backward_step *s) {
    char names[3][32];
    matrix_view parts[3];
    int count = backward_views(e, b, s, parts, names);
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
                  "$\\dfrac{L(w + h) - L(w - h)}{2h} = \\dfrac{%.12f - %.12f}{2\\cdot 10^{%.0f}} = "
                  "%.9f$, and $d",
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
        for (int i = 0; i < b.count; i++) put_step(e, out, &b, &b.step[i]);
        for (int i = 0; i < b.checks; i++) put_check(e, out, &b.check[i]);
    }
    backward_close(&b);
}

bool write_tex(explaining *e, const char *path) {
    const heed_lesson_args *a = &e->w.lesson.args;
    heed_text out = {.c = e->c};
    bool c = e->columns, sheet = e->blank[HEED_LESSON_Q] != NULL;
    put_head(e, &out);
    put_product(e, &out, c ? "Queries: $Q = W_Q^\\top X$" : "Queries: $Q = X W_Q$", HEED_LESSON_Q);
    put_product(e, &out, c ? "Keys: $K = W_K^\\top X$" : "Keys: $K = X W_K$", HEED_LESSON_K);
    put_product(e, &out, c ? "Values: $V = W_V^\\top X$" : "Values: $V = X W_V$", HEED_LESSON_V);
    for (int k = HEED_LESSON_Q; k <= HEED_LESSON_V; k++) {
        heed_lesson_part part = (heed_lesson_part)k;
        if (has_bias(e, bias_of(part)))
            put_part(e, &out, bias_of(part), NULL, "Added to every token of $%s$",
                     heed_lesson_name(part));
    }
    if (is_rotary(&e->w)) {
        const char *by = "$%s$ rotated by its place, $\\theta = %g$";
        put_part(e, &out, HEED_LESSON_Q_R, NULL, by, "Q", a->rotary);
        put_part(e, &out, HEED_LESSON_K_R, NULL, by, "K", a->rotary);
        put_product(e, &out, c ? "Scores: $K_R^\\top Q_R$" : "Scores: $Q_R K_R^\\top$",
                    HEED_LESSON_RAW);
    } else
        put_product(e, &out, c ? "Scores: $K^\\top Q$" : "Scores: $Q K^\\top$", HEED_LESSON_RAW);
    if (!sheet) put_part(e, &out, HEED_LESSON_SCALED, NULL, "Scaled by $\\beta = %.4g$", a->beta);
    if (hidden_scores(e)) put_part(e, &out, HEED_LESSON_SCORES, NULL, "Masked");
    /* on a sheet the marks would reveal answers */
    char *marks = a->hard && !sheet ? tie_marks(e) : NULL;
    put_part(e, &out, HEED_LESSON_WEIGHTS, marks, "Weights: %s of each %s of $%.4g$ raw",
             a->hard ? "1 at the largest" : "softmax", c ? "column" : "row", a->beta);
    free(marks);
    put_product(e, &out, c ? "Output: $H = V A$" : "Output: weights $V$", HEED_LESSON_OUTPUT);
    if (has_layer(&e->w) && !sheet) {
        put_product(e, &out, c ? "$W_h$: $W_h^\\top H$" : "$W_h$: output $W_h$", HEED_LESSON_SHARE);
        put_part(e, &out, HEED_LESSON_ALL, NULL, "All heads%s",
                 has_bias(e, HEED_LESSON_B_O) ? " and $B_O$" : "");
        if (has_norm(&e->w)) put_part(e, &out, HEED_LESSON_NORMED, NULL, "Add and norm");
    }
    if (heed_config_bool(e->p->flags, "backward")) put_backward(e, &out);
    heed_text_add(&out, "\\end{document}\n");
    bool ok = heed_text_save(&out, path);
    heed_text_free(&out);
    return ok;
}
