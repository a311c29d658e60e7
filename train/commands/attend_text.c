/* attend_text.c -- attention among tokens: in the terminal, and as pictures of matrices. */
#include "commands/attend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The line below every picture of attention, with advice if that was not followed yet. */
static const char *attend_note(const heed_record *r) {
    if (r->pixels && !r->axes[0].rows) return NO_EXPLANATION "."; /* --occlude hides patches */
    for (int i = 0; i < r->map_count; i++)
        if (strcmp(r->maps[i].name, "occlusion") == 0) return NO_EXPLANATION ".";
    return NO_EXPLANATION "; compare with --occlude.";
}

/* Prints external text, made safe for the terminal and cut to its width. */
static void print_label(const attend_view *v, const char *text) {
    heed_text line = {.c = v->p->c};
    heed_label_text(text ? text : "", terminal_width(), &line);
    print_line(&line);
    heed_text_free(&line);
}

/* ---- heat maps ---- */

/* ", nearly uniform", or "": by all rows that may attend to several tokens. */
static const char *evenness(const attend_view *v, const shown *m) {
    int rows = 0;
    for (int i = 0; i < m->map.rows; i++) {
        int keys = 0;
        while (keys < m->map.cols && !(v->block->causal && m->col[keys] > m->row[i])) keys++;
        if (keys < 2) continue;
        if (!heed_nearly_uniform(m->values + (size_t)i * (size_t)m->map.cols, keys)) return "";
        rows++;
    }
    return rows > 0 ? ", nearly uniform" : "";
}

static bool print_matrix(const attend_view *v) {
    char name[NAME_SIZE], title[NAME_SIZE + 160];
    shown m;
    bool ok = shown_matrix(v, v->head, &m);
    snprintf(title, sizeof title, "%s%s: a row is a token, over what it attends to",
             view_name(v, v->head, name), ok ? evenness(v, &m) : "");
    m.map.title = title;
    ok = ok && print_heatmap(v->p->c, m.map);
    shown_free(&m);
    return ok;
}

/* ---- one token ---- */

/* Whether a token occurs more than once, so that its number must be shown. */
static bool is_repeated(const shown *m, int col) {
    for (int j = 0; j < m->map.cols; j++)
        if (j != col && strcmp(m->col_labels[j], m->col_labels[col]) == 0) return true;
    return false;
}

/* "  mean    Paris 0.42  is 0.20": the largest values of a row, in descending order. */
static void print_top(const attend_view *v, const shown *m, int row, int width) {
    heed_text line = {.c = v->p->c};
    heed_real *x = m->values + (size_t)row * (size_t)m->map.cols;
    heed_text_add(&line, "  %-*s", width, m->row_labels[row]);
    for (int k = 0; k < v->top && k < m->map.cols; k++) {
        int best = 0;
        char number[16];
        for (int j = 1; j < m->map.cols; j++)
            if (x[j] > x[best]) best = j;
        heed_text item = {.c = v->p->c};
        heed_label_text(m->col_labels[best], 24, &item);
        if (is_repeated(m, best)) heed_text_add(&item, "(%d)", m->col[best] + 1);
        heed_text_add(&item, " %s", probability_text(number, (double)x[best], PROBABILITY));
        add_piece(&line, 2, item.s ? item.s : "", 4 + width, terminal_width());
        heed_text_free(&item);
        x[best] = -1; /* done with this one */
    }
    print_line(&line);
    heed_text_free(&line);
}

static bool print_token(const attend_view *v) {
    char name[NAME_SIZE], token[QUERY_SIZE], title[512];
    shown m;
    bool ok = shown_token(v, &m);
    view_name(v, v->chosen ? v->head : MEAN_HEAD, name);
    if (v->key >= 0)
        snprintf(title, sizeof title, "which tokens attend to %s: %s", chosen_words(v, token),
                 name);
    else
        snprintf(title, sizeof title, "what %s, attend%s to: %s", chosen_words(v, token),
                 v->count > 1 ? " (their mean)" : "s", name);
    m.map.title = title;
    ok = ok && print_heatmap(v->p->c, m.map);
    for (int i = 0; ok && i < m.map.rows; i++) print_top(v, &m, i, m.map.rows > 10 ? 8 : 7);
    shown_free(&m);
    return ok;
}

/* ---- a single row ---- */

attend_view row_view(program *p, const heed_record *r, int query) {
    attend_view v = {.p = p,
                     .record = r,
                     .block = r ? r->blocks : NULL,
                     .head = MEAN_HEAD,
                     .query = query,
                     .key = -1,
                     .several = {query},
                     .count = 1};
    if (r && heed_record_focus(r, v.block->stack, -1, query, &v.focus))
        v.block = &r->blocks[v.focus.block];
    return v;
}

bool attend_print_row(const attend_view *v, const char *made) {
    char head[48], why[FOCUS_SIZE];
    heed_text title = {.c = v->p->c};
    shown m;
    heed_text_add(&title, "attention of token %d, \"", v->query + 1);
    heed_label_text(v->record->axes[v->block->queries].labels[v->query], 40, &title);
    heed_text_add(&title, "\"");
    if (made) {
        heed_text_add(&title, ", which made \"");
        heed_label_text(made, 40, &title);
        heed_text_add(&title, "\"");
    }
    heed_text_add(&title, ", layer %d", v->block->layer + 1);
    if (v->focus.count > 1)
        heed_text_add(&title, "; here %s is the %s", head_words(v->block, v->focus.head, head),
                      focus_words(v, why));
    bool ok = shown_token(v, &m);
    m.map.title = title.s;
    m.map.hi = 1;
    ok = ok && print_heatmap(v->p->c, m.map);
    heed_text_free(&title);
    shown_free(&m);
    return ok;
}

json_t *attend_row_json(const attend_view *v) {
    shown m;
    json_t *o = json_null();
    if (shown_token(v, &m)) {
        json_t *heads = json_array();
        for (int i = v->block->heads > 1; i < m.map.rows; i++)
            json_array_append_new(heads, json_numbers(m.values + i * m.map.cols, m.map.cols));
        o = json_pack("{s:i, s:i, s:o, s:o}", "layer", v->block->layer + 1, "position",
                      v->query + 1, "mean", json_numbers(m.values, m.map.cols), "heads", heads);
    }
    shown_free(&m);
    return o;
}

/* ---- predictions ---- */

static void print_guess(const attend_view *v, const heed_record_guess *g) {
    heed_text line = {.c = v->p->c};
    if (g->axis > 0)
        heed_text_add(&line, "%s", g->says);
    else if (g->query >= 0) {
        heed_text_add(&line, "%d ", g->query + 1);
        heed_label_text(v->record->axes[0].labels[g->query], 16, &line);
    }
    if (strcmp(g->says, "[MASK]") != 0 && g->axis == 0)
        heed_text_add(&line, "%spredicts %s", g->query >= 0 ? " " : "", g->says);
    heed_text_add(&line, ":");
    for (int i = 0; i < v->top && i < g->count; i++) {
        heed_text item = {.c = v->p->c};
        char p[16];
        heed_label_text(g->labels[i], 24, &item);
        heed_text_add(&item, " %s", probability_text(p, (double)g->p[i], PROBABILITY));
        add_piece(&line, i ? 2 : 1, item.s ? item.s : "", 5, terminal_width());
        heed_text_free(&item);
    }
    print_line(&line);
    heed_text_free(&line);
}

/* Prints the most probable token of each row, "a→b 0.98": b follows a. A row of a target is
 * labelled with its token, so it is named twice only where another one is more probable: "4 0.98
 * 7→1 0.51".
 */
static void print_each_guess(const attend_view *v) {
    const heed_record *r = v->record;
    heed_text line = {.c = v->p->c};
    heed_text_add(&line, "most probable, row by row:");
    for (int i = 0; i < r->guess_count; i++) {
        const heed_record_guess *g = &r->guesses[i];
        const char *row = g->query >= 0 ? r->axes[g->axis].labels[g->query] : "";
        heed_text item = {.c = v->p->c};
        char p[16];
        if (g->count == 0) continue;
        if (g->axis == 0 || strcmp(row, g->labels[0]) != 0) {
            heed_label_text(row, 16, &item);
            heed_text_add(&item, "→");
        }
        heed_label_text(g->labels[0], 16, &item);
        heed_text_add(&item, " %s", probability_text(p, (double)g->p[0], PROBABILITY));
        add_piece(&line, 2, item.s, 2, terminal_width());
        heed_text_free(&item);
    }
    print_line(&line);
    heed_text_free(&line);
}

/* Prints the guesses at the query that is shown, or without a query all of them: many of them
 * briefly, and then the one that continues a text. */
static void print_guesses(const attend_view *v) {
    enum { FEW = 12, MOST = 200 };
    const heed_record *r = v->record;
    bool first = true, target = r->guess_count > 0 && r->guesses[0].axis > 0;
    bool many = v->query < 0 && !r->pixels && r->guess_count > 1 &&
                (target || v->block->stack != HEED_ENCODER || r->guess_count > FEW);
    if (many && r->guess_count <= MOST) {
        putchar('\n');
        print_each_guess(v);
        if (target) return;
    }
    for (int i = many ? r->guess_count - 1 : 0; i < r->guess_count; i++) {
        const heed_record_guess *g = &r->guesses[i];
        bool mine = false;
        for (int k = 0; k < v->count; k++)
            mine |= g->axis == v->block->queries && g->query == v->several[k];
        if (v->query >= 0 && !mine && g->query >= 0 && !r->pixels) continue;
        if (first) putchar('\n');
        first = false;
        print_guess(v, g);
    }
}

/* ---- everything ---- */

bool attend_print(const attend_view *v) {
    const heed_record *r = v->record;
    print_label(v, r->title);
    print_label(v, r->model);
    putchar('\n');
    bool patches = r->axes[v->block->keys].rows > 0;
    bool ok = r->pixels && patches           ? attend_print_picture(v)
              : v->query >= 0 || v->key >= 0 ? print_token(v)
                                             : print_matrix(v);
    if (v->hide) print_wrapped(v->p, "Special tokens are hidden; the rest is shown as it is.");
    if (r->note) print_wrapped(v->p, "%s", r->note);
    ok = ok && maps_print(v);
    if (ok) print_guesses(v);
    if (ok && v->unmasked && r->guess_count == 0) {
        putchar('\n');
        print_wrapped(v->p, "Nothing is predicted: %s", v->unmasked);
    }
    putchar('\n');
    print_wrapped(v->p, "%s", attend_note(v->record));
    return ok && fflush(stdout) == 0;
}

/* ---- pictures of matrices ---- */

/* The query, and the answer there or the only one: ", token 7, [MASK]: France 0.99". */
static void add_answer(const attend_view *v, int query, heed_text *out) {
    const heed_record *r = v->record;
    const heed_record_guess *g = NULL;
    char token[QUERY_SIZE], p[16];
    for (int i = 0; i < r->guess_count; i++) {
        const heed_record_guess *of = &r->guesses[i];
        bool here = of->axis == v->block->queries && of->query == query;
        if (here || of->query < 0 || (query < 0 && r->guess_count == 1)) g = of;
    }
    int at = query < 0 && g && g->axis == v->block->queries ? g->query : query;
    if (at >= 0) heed_text_add(out, ", %s", query_words(v, at, token));
    if (!g || g->count == 0) return;
    if (strcmp(g->says, "[MASK]") != 0 && g->axis == 0)
        heed_text_add(out, "; predicts %s", g->says);
    heed_text_add(out, ": ");
    heed_label_text(g->labels[0], 24, out);
    heed_text_add(out, " %s", probability_text(p, (double)g->p[0], PROBABILITY));
}

bool draw_panels(const attend_view *v, int query, const heed_heatmap *maps, int count, bool svg,
                 const char *path) {
    bool one = v->chosen || v->block->heads == 1;
    char name[NAME_SIZE], token[QUERY_SIZE], why[FOCUS_SIZE];
    heed_text where = {.c = v->p->c}, note = {.c = v->p->c};
    if (!one && v->focus.count > 1)
        heed_text_add(&note, "The %s: layer %d, %s. ", focus_words(v, why), v->block->layer + 1,
                      head_words(v->block, v->focus.head, name));
    if (v->record->note) heed_text_add(&note, "%s ", v->record->note);
    heed_text_add(&note, NO_EXPLANATION ".");
    heed_text_add(&where, "%s", one ? view_name(v, v->head, name) : view_layer(v, name));
    if (v->key >= 0)
        heed_text_add(&where, ": which tokens attend to %s", chosen_words(v, token));
    else if (v->count > 1)
        heed_text_add(&where, ": mean of %s", chosen_words(v, token));
    else
        add_answer(v, query, &where);
    if (maps->ends) heed_text_add(&where, " (other measures: the whole model)");
    if (v->hide) heed_text_add(&where, " (special tokens hidden)");
    heed_panels all = {.title = v->record->title ? v->record->title : "",
                       .subtitle = where.s,
                       .count = count,
                       .maps = maps,
                       .note = note.s};
    bool ok = (svg ? heed_panels_svg : heed_panels_png)(v->p->c, &all, path);
    heed_text_free(&where);
    heed_text_free(&note);
    return ok;
}

bool attend_draw(const attend_view *v, bool svg, const char *path) {
    if (maps_drawable(v)) return maps_draw(v, svg, path);
    if (v->query >= 0 || v->key >= 0) { /* a row for each head, as on the terminal */
        shown m;
        bool drawn = shown_token(v, &m);
        m.map.title = "what it attends to";
        if (v->key >= 0) m.map.unit = "of each token's attention (1 = 100 %)";
        drawn = drawn && draw_panels(v, v->query, &m.map, 1, svg, path);
        shown_free(&m);
        return drawn;
    }
    int count = v->chosen ? 1 : v->block->heads;
    heed_heatmap *maps = allocate(v->p->c, (size_t)count, sizeof *maps, "matrices");
    shown *parts = allocate(v->p->c, (size_t)count, sizeof *parts, "matrices");
    char(*names)[48] = allocate(v->p->c, (size_t)count, sizeof *names, "matrices");
    bool ok = maps && parts && names;
    for (int i = 0; ok && i < count; i++) {
        int head = v->chosen ? v->head : i;
        ok = shown_matrix(v, head, &parts[i]);
        if (!ok) break;
        maps[i] = parts[i].map;
        char words[48];
        snprintf(names[i], sizeof names[i], "%.28s%s", head_words(v->block, head, words),
                 evenness(v, &parts[i]));
        maps[i].title = names[i];
    }
    ok = ok && draw_panels(v, v->query, maps, count, svg, path);
    for (int i = 0; parts && i < count; i++) shown_free(&parts[i]);
    free(maps);
    free(parts);
    free(names);
    return ok;
}

/* ---- several runs ---- */

static bool has_same_labels(const char *const *a, const char *const *b, int n) {
    for (int i = 0; i < n; i++)
        if (strcmp(a[i], b[i]) != 0) return false;
    return true;
}

/* The weights of m less those of the first run; rows and columns are the same. */
static bool subtract(heed_ctx *c, const shown *first, const shown *m, shown *out) {
    size_t n = (size_t)m->map.rows * (size_t)m->map.cols;
    heed_real most = 0;
    *out = (shown){.map = m->map, .values = allocate(c, n, sizeof *out->values, "weights")};
    for (size_t i = 0; out->values && i < n; i++) {
        out->values[i] = m->values[i] - first->values[i];
        if (fabs((double)out->values[i]) > (double)most)
            most = (heed_real)fabs((double)out->values[i]);
    }
    out->map.values = out->values;
    out->map.hi = most;
    out->map.lo = -most;
    out->map.uniform = 0;
    out->map.unit = "difference of weights";
    out->map.numbers = true;
    return out->values != NULL;
}

bool attend_compare(const attend_view *const *v, int count, bool print, const char *png,
                    const char *svg) {
    heed_ctx *c = v[0]->p->c;
    int maps = 0;
    heed_heatmap *list = allocate(c, 2 * (size_t)count, sizeof *list, "runs");
    shown *all = allocate(c, 2 * (size_t)count, sizeof *all, "runs");
    char(*names)[200] = allocate(c, 2 * (size_t)count, sizeof *names, "runs");
    bool ok = list && all && names;
    for (int i = 0; ok && i < count; i++) {
        shown *m = &all[i], *less = &all[count + i];
        bool row = v[i]->query >= 0 || v[i]->key >= 0;
        ok = row ? shown_token(v[i], m) : shown_matrix(v[i], v[i]->head, m);
        if (!ok) break;
        snprintf(names[i], sizeof *names, "%.150s", v[i]->record->run);
        m->map.title = names[i];
        list[maps++] = m->map;
        if (i == 0) continue;
        bool same = m->map.rows == all->map.rows && m->map.cols == all->map.cols &&
                    has_same_labels(m->map.row_labels, all->map.row_labels, m->map.rows) &&
                    has_same_labels(m->map.col_labels, all->map.col_labels, m->map.cols);
        if (!same && print)
            print_wrapped(v[0]->p, "%s has other tokens than %s: their weights have no difference.",
                          v[i]->record->run, v[0]->record->run);
        if (!same) continue;
        ok = subtract(c, all, m, less);
        snprintf(names[count + i], sizeof *names, "%.90s less %.90s", v[i]->record->run,
                 v[0]->record->run);
        less->map.title = names[count + i];
        if (ok && print) putchar('\n');
        if (ok && print) ok = print_heatmap(c, less->map);
        less->map.numbers = v[i]->numbers;
        list[maps++] = less->map;
    }
    heed_text note = {.c = c};
    char name[NAME_SIZE];
    bool row = v[0]->query >= 0 || v[0]->key >= 0;
    heed_text_add(&note, "Input: %s; %s. %s.", v[0]->record->title,
                  row ? view_layer(v[0], name) : view_name(v[0], v[0]->head, name), NO_EXPLANATION);
    for (int i = 0; i < maps; i++) list[i].note = note.s;
    if (ok && png) ok = heed_heatmaps_png(c, list, maps, png);
    if (ok && svg) ok = heed_heatmaps_svg(c, list, maps, svg);
    heed_text_free(&note);
    for (int i = 0; all && i < 2 * count; i++) shown_free(&all[i]);
    free(names);
    free(all);
    free(list);
    return ok;
}
