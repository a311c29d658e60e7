/* files.c -- a list of steps as a picture, as a LaTeX document and as an offline page. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- PNG: matrices as heat maps with their labels ---- */

enum { NUMBERS = 16, MAPS = 8 }; /* a cell shows its number if a matrix has that many columns */

static heed_heatmap map_of(explaining *e, const matrix_view *v) {
    int rows = rows_of(v), cols = cols_of(v);
    heed_real *x = room(e, (size_t)rows * (size_t)cols, sizeof *x), lo = 0;
    for (int i = 0; x && i < rows * cols; i++) {
        x[i] = (heed_real)view_at(v, i / cols, i % cols);
        if (x[i] < lo) lo = x[i];
    }
    return (heed_heatmap){.title = v->name,
                          .rows = rows,
                          .cols = cols,
                          .values = x,
                          .lo = lo,
                          .hi = v->pixels ? 1 : (heed_real)e->hi,
                          .unit = v->pixels ? "brightness" : e->unit,
                          .row_labels = v->row_labels,
                          .col_labels = v->col_labels,
                          .numbers = cols <= NUMBERS,
                          .pixels = v->pixels,
                          .continues = v->continues};
}

/* The weights, with the head's title. */
static heed_heatmap map_of_head(explaining *e) {
    matrix_view v = worked_view(e, HEED_TRACE_WEIGHTS);
    const char *title = safe_title(e, e->w.title);
    v.name = !e->w.layer ? title
                         : text_of(e, "%s, layer %d, head %d: %s", heed_stack_name(e->place.stack),
                                   e->place.layer + 1, e->place.head + 1, title);
    e->unit = e->columns ? "weight: each column sums to 1" : "weight: each row sums to 1";
    e->hi = 2.0 / v.m.cols; /* nearly equal weights look pale */
    for (int i = 0; i < v.m.rows * v.m.cols; i++) e->hi = fmax(e->hi, v.m.x[i]);
    return map_of(e, &v);
}

/* Whether another matrix of the picture has the name of v. */
static bool has_namesake(const explaining *e, const matrix_view *v) {
    for (const lesson_step *s = e->list; s < e->list + e->count; s++)
        for (const matrix_view *o = s->view; o < s->view + s->count; o++)
            if (o != v && o->picture && strcmp(o->name, v->name) == 0) return true;
    return false;
}

bool write_png(explaining *e, const char *path) {
    const char *title = NULL; /* of the step */
    heed_heatmap maps[MAPS];
    int n = 0;
    if (e->head) maps[n++] = map_of_head(e);
    for (const lesson_step *s = e->list; !e->head && s < e->list + e->count; s++) {
        if (s->chart) return heed_charts_save(e->c, s->chart, 1, 900, 560, HEED_PNG, path);
        if (s->title) title = s->title;
        for (const matrix_view *v = s->view; v < s->view + s->count; v++) {
            if (!v->picture || n == MAPS) continue;
            maps[n++] = map_of(e, v);
            if (title && has_namesake(e, v))
                maps[n - 1].title = text_of(e, "%s: %s", title, v->name);
            if (v->continues) maps[n - 1].numbers &= maps[n - 2].numbers;
        }
    }
    return heed_heatmaps_save(e->c, maps, n, HEED_PNG, path);
}

/* ---- TeX: each formula on one line for copying ---- */

/* Writes a text: special characters of TeX are escaped, letters without a glyph in pdflatex are
 * written as numbers, and it is cut after `most` letters. */
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
        else if (code == 0xb7)
            heed_text_add(out, "$\\cdot$");
        else if (code == '\n' || code == 0xa0)
            heed_text_add(out, code == '\n' ? "\\\\\n" : "~");
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
        else if (n > 0 && !is_symbol(formula, n)) {
            heed_text_add(out, "\\text{");
            for (size_t i = 0; i < n; i++)
                heed_text_add(out, formula[i] == '_' ? "\\_" : "%c", formula[i]);
            heed_text_add(out, "}");
        } else if (n > 0)
            heed_text_add(out, "%.*s", (int)n, formula);
        else if (*formula == '\'')
            heed_text_add(out, "^\\top ");
        else if (strchr("#%&$~{}\\", *formula))
            heed_text_add(out, "\\%c", *formula);
        else
            heed_text_add(out, *formula == ' ' ? "\\%c" : "%c", *formula);
        formula += n ? n : 1;
    }
}

static void put_entry(heed_text *out, const matrix_view *v, size_t at, int digits) {
    char text[32];
    if (v->blank && v->blank[at] == 1) {
        heed_text_add(out, "\\blank");
        return;
    }
    number_text(text, v->m.x[at], digits);
    if (v->brief) snprintf(text, sizeof text, "%.1g", v->m.x[at]);
    if (strcmp(text, "-inf") == 0) snprintf(text, sizeof text, "-\\infty");
    heed_text_add(out, v->blank && v->blank[at] == 2 ? "\\underline{%s}" : "%s", text);
    if (v->marks && v->marks[at] != ' ') heed_text_add(out, "^{%c}", v->marks[at]);
}

static void put_matrix(heed_text *out, const matrix_view *v, int precision) {
    int rows = rows_of(v), cols = cols_of(v), digits = view_digits(v, precision);
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

static void put_paragraph(heed_text *out, const char *words) {
    if (!words) return;
    heed_text_add(out, "\\noindent ");
    put_escaped(out, words, 10000);
    heed_text_add(out, "\n\n");
}

static void put_list(explaining *e, heed_text *out) {
    for (const lesson_step *s = e->list; s < e->list + e->count; s++) {
        bool begun = false;
        if (s->title) {
            heed_text_add(out, "\\subsection*{");
            put_escaped(out, s->title, 100);
            if (s->formula) {
                heed_text_add(out, ": $");
                put_math(out, s->formula);
                heed_text_add(out, "$");
            }
            heed_text_add(out, "}\n");
        }
        if (!e->sheet) put_paragraph(out, s->words);
        put_paragraph(out, s->now);
        for (int i = 0; i < s->count; i++) {
            const matrix_view *v = &s->view[i];
            if (v->seen) continue;
            heed_text_add(out, begun ? "" : "\\noindent\\fitted{$\n");
            if (begun && *v->sign)
                heed_text_add(out, "\\;%s\\;\n", strcmp(v->sign, "·") == 0 ? "\\cdot" : v->sign);
            put_matrix(out, v, e->look.precision);
            heed_text_add(out, "\n");
            begun = true;
        }
        if (begun) heed_text_add(out, "$}\n\n");
        if (e->sheet) continue;
        put_paragraph(out, written_cell(e, s));
        put_paragraph(out, s->after);
        put_paragraph(out, s->aside);
    }
}

bool write_tex(explaining *e, const char *path) {
    heed_text out = {.c = e->c};
    heed_text_add(&out,
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
    put_escaped(&out, e->title ? e->title : e->w.title, 200);
    heed_text_add(&out, "}\n");
    put_paragraph(&out, e->words);
    put_list(e, &out);
    heed_text_add(&out, "\\end{document}\n");
    bool ok = heed_text_save(&out, path);
    heed_text_free(&out);
    return ok;
}

/* ---- the page ---- */

/* Labels of a head change with its tokens: the page is told whose they are. */
static json_t *page_labels(const explaining *e, const char *const *labels, int count) {
    const char *set = e->head ? label_set(&e->w, labels) : NULL;
    return set ? json_string(set) : labels_json(labels, count);
}

/* The list; of a head without the numbers, which the page computes. */
static json_t *page_list(explaining *e) {
    json_t *list = json_array();
    for (const lesson_step *s = e->list; s < e->list + e->count; s++) {
        json_t *views = json_array();
        for (const matrix_view *v = s->view; v < s->view + s->count; v++)
            json_array_append_new(
                views,
                json_pack("{s:o, s:s, s:s, s:b, s:b, s:b, s:o*, s:o*, s:o*}", "name",
                          json_text(v->name), "key", v->key ? v->key : v->name, "sign", v->sign,
                          "flip", v->transposed, "seen", v->seen, "heat", v->picture || v->heat,
                          "rows", page_labels(e, v->row_labels, rows_of(v)), "cols",
                          page_labels(e, v->col_labels, cols_of(v)), "values",
                          e->head ? NULL : matrix_json(&v->m)));
        static const char *const made[] = {[MADE_SUM] = "sum",
                                           [MADE_SCALED] = "scaled",
                                           [MADE_MASKED] = "masked",
                                           [MADE_SOFTMAX] = "softmax",
                                           [MADE_ROTATED] = "rotated",
                                           [MADE_NORMED] = "normed",
                                           [MADE_ROWS] = "rows",
                                           [MADE_GAIN] = "gain",
                                           [MADE_NORM_BACK] = "norm back",
                                           [MADE_SOFTMAX_BACK] = "softmax back",
                                           [MADE_ROTATED_BACK] = "rotated back"};
        bool all = !e->head;
        json_array_append_new(
            list, json_pack("{s:s*, s:s*, s:s*, s:s*, s:s*, s:o*, s:s*, s:s*, s:s*, s:b, s:o}",
                            "title", s->title, "formula", s->formula, "words", s->words, "now",
                            all ? s->now : NULL, "made", made[s->made], "listed",
                            s->listed ? page_labels(e, s->listed, s->listed_count) : NULL, "cell",
                            all ? written_cell(e, s) : NULL, "after", all ? s->after : NULL,
                            "aside", all ? s->aside : NULL, "loss", s->loss, "views", views));
    }
    return list;
}

/* The blanks of each part: 1 for a cell left blank, 2 for one filled in. */
static json_t *blanks_json(const explaining *e) {
    json_t *o = json_object();
    for (int k = 0; k < HEED_TRACE_COUNT; k++) {
        const heed_matrix *m = &e->w.lesson.part[k];
        json_t *rows = json_array(), *row = NULL;
        for (int i = 0; e->blank[k] && i < m->rows * m->cols; i++) {
            if (i % m->cols == 0) json_array_append_new(rows, row = json_array());
            json_array_append_new(row, json_integer(e->blank[k][i]));
        }
        if (e->blank[k])
            json_object_set_new(o, heed_attention_trace_name((heed_attention_trace_part)k), rows);
        else
            json_decref(rows);
    }
    return o;
}

/* The head for the page, which computes the rest. Numbers that an exercise asks for, and those that
 * reveal them, are removed. */
static json_t *page_head(explaining *e) {
    json_t *o = worked_json(e);
    if (heed_config_bool(e->p->flags, "backward")) json_object_set_new(o, "backward", json_true());
    if (!e->sheet) return o;
    json_object_set_new(o, "sheet", json_string(sheet_name(e)));
    json_object_set_new(o, "blanks", blanks_json(e));
    for (int i = HEED_TRACE_Q; i < HEED_TRACE_COUNT && !e->solution; i++)
        json_object_del(o, heed_attention_trace_name((heed_attention_trace_part)i));
    if (!e->solution) json_object_del(o, "target");
    return o;
}

/* The page opens at the head, and at the cell of --cell. */
bool write_html(explaining *e, const char *path) {
    static const char *const ways[] = {"rows", "columns", "rows hard", "columns hard"};
    char link[512];
    bool columns = e->columns, scores = e->part < 0 || e->part == HEED_TRACE_SCALED;
    const char *head = e->page_link ? e->page_link : "";
    json_t *lists = json_object();
    const char *words = e->words;
    snprintf(link, sizeof link, "%s%sspot=%s+%d+%d", head, *head ? "&" : "",
             scores ? "scores" : heed_attention_trace_name((heed_attention_trace_part)e->part),
             e->row, e->col);
    const heed_chart *chart = NULL;
    for (int k = 0; k < (e->head ? 4 : 2); k++) {
        bool hard = e->w.lesson.args.hard;
        if (e->head) {
            e->count = 0;
            e->columns = k % 2 == 1;
            e->w.lesson.args.hard = k / 2 == 1;
            e->page = true;
            head_steps(e);
            e->page = false;
            e->w.lesson.args.hard = hard;
        } else if (k == 1)
            turn_list(e);
        json_object_set_new(lists, ways[k], page_list(e));
        for (int i = 0; i < e->count; i++)
            if (e->list[i].chart) chart = e->list[i].chart;
    }
    e->columns = columns;
    json_t *o = json_pack(
        "{s:o, s:s*, s:s*, s:s, s:o, s:o*}", "title", json_text(e->head ? e->w.title : e->title),
        "words", e->head ? NULL : words, "symbols", e->head ? symbols_of(e) : NULL, "notation",
        columns ? "columns" : "rows", "lists", lists, "head", e->head ? page_head(e) : NULL);
    char *steps = json_dumps(o, JSON_REAL_PRECISION(17) | JSON_COMPACT);
    json_decref(o);
    heed_page page = {.count = e->record && (!e->sheet || e->solution),
                      .records = e->record,
                      .curves = chart,
                      .steps = steps,
                      .opening = e->row ? link : e->page_link};
    bool ok = steps && heed_page_write(e->c, &page, path);
    free(steps);
    return ok;
}
