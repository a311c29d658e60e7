/* inspect.c -- inputs of a run for the analyses of heed/inspect.h. */
#include "kinds/inspect.h"
#include "cli/files.h"
#include "kinds/eval_loop.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

/* Numbers separated by spaces or commas; a semicolon separates positions: "1 0; 0.5 1". */
static bool read_numbers(heed_ctx *c, const char *text, heed_real *x, int *rows, int *width) {
    const char *at = text;
    for (*rows = 0; *at; ++*rows) {
        int n = 0;
        for (char *end;; n++, at = end) {
            at += strspn(at, " \t,");
            *x = (heed_real)strtod(at, &end);
            if (end == at) break;
            x++;
        }
        if (*at && *at != ';')
            return heed_fail(c, HEED_USAGE,
                             "the input is not numbers: expected some as in \"1 0; 0.5 1\", found "
                             "%.40s",
                             at);
        if (n == 0 || (*rows > 0 && n != *width))
            return heed_fail(c, HEED_USAGE,
                             "position %d has no fitting width: expected %d "
                             "numbers, found %d",
                             *rows + 1, *rows ? *width : 1, n);
        *width = n;
        at += *at == ';';
    }
    return *rows > 0 || heed_fail(c, HEED_USAGE, "the input is empty: expected numbers");
}

/* Without a semicolon, each number is a position. */
static bool inspect_numbers(heed_inspection *s, heed_run *r, const char *text, size_t n) {
    int rows, width = 0;
    heed_real *x = malloc((n + 1) * sizeof *x);
    if (!x) return heed_fail(r->c, HEED_FAILED, "no memory for %zu numbers", n);
    bool ok = read_numbers(r->c, text, x, &rows, &width);
    int shape[] = {1, rows > 1 ? rows : width, width};
    ok = ok && heed_inspection_numbers(s, r, x, rows > 1 ? 3 : 2, shape, text);
    free(x);
    return ok;
}

/* ---- any input given as text ---- */

bool is_text_for(heed_ctx *c, const heed_model *m, const char *text) {
    bool reads_text = m->kind != HEED_INPUT_PICTURE && m->kind != HEED_INPUT_DENSE;
    return !reads_text || !is_picture_name(text) || !is_file(text) ||
           heed_fail(c, HEED_USAGE, "%s is a picture: the run takes texts (%s); hint: a run of vit",
                     text, m->name);
}

bool inspect_text(heed_inspection *s, heed_run *r, const char *text, size_t n, const char *target) {
    *s = (heed_inspection){.run = r};
    if (!is_text_for(r->c, r->model, text)) return false;
    if (r->model->kind == HEED_INPUT_DENSE) return inspect_numbers(s, r, text, n);
    return heed_inspection_text(s, r, text, n, target);
}

bool inspect_advance(void *user, uint64_t done, uint64_t all) {
    const inspect_progress *g = user;
    eval_loop_progress(g->p, g->what, done, all);
    return true;
}

bool read_picture(heed_ctx *c, const char *path, heed_picture *out) {
    char why[HEED_WHY];
    heed_text bytes = {.c = c};
    heed_status status = HEED_OK;
    if (strcmp(path, "-") != 0)
        status = heed_picture_read(path, out, why);
    else if (read_stdin(c, &bytes))
        status = heed_picture_decode(bytes.s ? bytes.s : "", bytes.n, NULL, out, why);
    heed_text_free(&bytes);
    if (status != HEED_OK) heed_fail(c, status, "%s %s", path, why);
    return heed_ctx_status(c) == HEED_OK;
}

bool inspect_input(heed_inspection *s, heed_run *r, const char *text, const char *target,
                   bool convert) {
    heed_picture p = {0};
    size_t n = strlen(text);
    *s = (heed_inspection){.run = r};
    if (!reads_pictures(r->model))
        return heed_check_text(r->c, text, n) && inspect_text(s, r, text, n, target);
    bool ok = read_picture(r->c, text, &p) && heed_inspection_picture(s, r, &p, text, convert);
    heed_picture_free(&p);
    return ok;
}

/* ---- layers and heads ---- */

bool layer_index(const heed_run *r, int layer, int *index) {
    int count, most = 0;
    heed_record_block *list = heed_attention_layers(r, &count);
    for (int i = 0; i < count; i++)
        if (list[i].layer >= most) most = list[i].layer + 1;
    free(list);
    if (!list) return false;
    *index = (layer ? layer : most) - 1;
    return layer <= most ||
           heed_fail(r->c, HEED_USAGE, "--layer %d: expected 1 to %d, or 0 for the last", layer,
                     most);
}

heed_record *capture_layer(const heed_inspection *s, int layer, int top) {
    int index;
    if (!layer_index(s->run, layer, &index)) return NULL;
    return heed_capture(
        s, &(heed_capture_args){.layer_count = 1, .layers = &index, .lean = true, .top = top});
}

bool has_stacks(const heed_record_block *list, int count) {
    for (int i = 1; i < count; i++)
        if (list[i].stack != list[0].stack) return true;
    return false;
}

char *head_name(char text[64], const heed_record_block *l, int head, bool stacks) {
    snprintf(text, 64, "%s%slayer %d, head %d", stacks ? heed_stack_name(l->stack) : "",
             stacks ? " " : "", l->layer + 1, head + 1);
    return text;
}

/* ---- output ---- */

bool print_heatmap(heed_ctx *c, heed_heatmap map) {
    heed_text text = {.c = c};
    map.terminal = terminal_kind(stdout);
    map.width = terminal_width();
    bool ok = heed_heatmap_text(&map, &text);
    if (ok) print_text(&text);
    heed_text_free(&text);
    return ok;
}

bool print_record(heed_ctx *c, const heed_record *r) {
    heed_text text = {.c = c};
    bool ok = heed_record_json(r, true, &text) && heed_text_put(&text, "\n", 1);
    if (ok) print_text(&text);
    heed_text_free(&text);
    return ok;
}

/* ---- pages ---- */

const char *page_link_text(const page_link *o, char text[PAGE_LINK_SIZE]) {
    char query[24] = "";
    if (o->query >= 0) snprintf(query, sizeof query, "&row=%d", o->query + 1);
    snprintf(text, PAGE_LINK_SIZE, "%s%s%sstack=%s&layer=%d%s%.24s%s", o->view ? "view=" : "",
             o->view ? o->view : "", o->view ? "&" : "", heed_stack_name(o->stack), o->layer + 1,
             o->head ? "&head=" : "", o->head ? o->head : "", query);
    return text;
}

bool page_fits(heed_ctx *c, const heed_page *p, const char *path) {
    return p->force || heed_page_size(p) <= HEED_PAGE_LIMIT || heed_page_write(c, p, path);
}

bool page_add_curves(heed_ctx *c, heed_page *page, const char *run, page_curves *k) {
    char metrics[1024];
    snprintf(metrics, sizeof metrics, "%s/metrics.csv", run);
    *k = (page_curves){0};
    if (!is_file(metrics)) return true;
    if (!curves_read(c, run, &k->curves)) return false;
    k->chart = curves_chart(&k->curves, "loss over training", k->series);
    page->curves = &k->chart;
    return true;
}
