/* records.c -- records of attention: reading an argument into one, printing it, its page. */
#include "kinds/records.h"

#include "cli/os_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool read_picture(heed_ctx *c, const char *path, heed_picture *out) {
    char why[HEED_WHY];
    heed_text bytes = {.c = c};
    heed_status status = HEED_OK;
    if (strcmp(path, "-") != 0)
        status = heed_picture_read(path, out, why);
    else if (read_stdin(c, &bytes))
        status = heed_picture_decode(bytes.s ? bytes.s : "", bytes.n, out, why);
    heed_text_free(&bytes);
    if (status == HEED_DATA)
        heed_fail_input(c, path, false, "\"%s\" %s", path, why);
    else if (status != HEED_OK)
        heed_fail(c, status, "\"%s\" %s", path, why);
    return heed_ctx_status(c) == HEED_OK;
}

bool example_of_argument(const heed_run *r, const char *text, const char *target, bool quiet,
                         heed_example *out) {
    heed_picture p = {0};
    bool picture = sees_pictures(r->model);
    given_input in = {text, strlen(text), picture ? &p : NULL};
    bool ok = picture ? read_picture(r->c, text, &p) &&
                            (!target || heed_check_text(r->c, target, strlen(target)))
                      : heed_check_text(r->c, text, in.n);
    bool converted = ok && picture && has_other_channels(r, &p);
    ok = ok && example_of_given(r, &in, target, out);
    heed_picture_free(&p);
    if (ok && picture && !quiet) note_converted(r, converted, 1);
    return ok;
}

bool compares_layers(const heed_run *r, const heed_example *e, const heed_config *flags,
                     heed_stack stack) {
    double most = 64e6, bytes = 0;
    int count;
    if (*heed_config_text(flags, "layer")) return false;
    heed_record_block *list = heed_attention_layers(r, &count);
    for (int i = 0; list && i < count; i++) {
        const heed_record_axis *keys = &e->axes[list[i].keys];
        if (list[i].stack != stack) continue;
        bytes += (double)sizeof(heed_real) * list[i].heads * e->axes[list[i].queries].count *
                 keys->count;
        if (keys->rows > 0) bytes = most + 1;
    }
    free(list);
    return bytes > 0 && bytes <= most;
}

heed_record *capture_layer(const heed_run *r, const heed_example *e, const heed_config *flags,
                           int top) {
    int index;
    heed_capture_args a = {.layer_count = 1, .layers = &index, .lean = true, .top = top};
    if (!layer_index(r, flags, &index)) return NULL;
    if (compares_layers(r, e, flags, HEED_ENCODER)) a.layer_count = 0;
    return heed_capture(r, e, &a);
}

/* ---- output ---- */

heed_heatmap heatmap_of_map(const heed_record *r, const heed_record_map *m, const char *title) {
    const heed_record_axis *query = &r->axes[m->queries], *key = &r->axes[m->keys];
    return (heed_heatmap){.title = title,
                          .rows = query->count,
                          .cols = key->count,
                          .values = m->values,
                          .row_labels = query->labels,
                          .col_labels = key->labels,
                          .grid_cols = key->rows ? key->cols : 0};
}

bool print_heatmap(heed_ctx *c, heed_heatmap map) {
    heed_text text = {.c = c};
    map.terminal = terminal_kind(stdout);
    map.width = terminal_width();
    bool ok = heed_heatmap_text(&map, &text);
    if (ok) print_text(&text);
    heed_text_free(&text);
    return ok;
}

bool draw_maps(const program *p, const heed_heatmap *maps, int count) {
    const char *png = flag_text(p, "png"), *svg = flag_text(p, "svg");
    return (!*png || heed_heatmaps_save(p->c, maps, count, HEED_PNG, png)) &&
           (!*svg || heed_heatmaps_save(p->c, maps, count, HEED_SVG, svg));
}

bool draw_panels(const program *p, const heed_panels *all) {
    const char *png = flag_text(p, "png"), *svg = flag_text(p, "svg");
    return (!*png || heed_panels_save(p->c, all, HEED_PNG, png)) &&
           (!*svg || heed_panels_save(p->c, all, HEED_SVG, svg));
}

bool print_record(heed_ctx *c, const heed_record *r) {
    heed_text text = {.c = c};
    bool ok = heed_record_json(r, true, &text) && heed_text_put(&text, "\n", 1);
    if (ok) print_text(&text);
    heed_text_free(&text);
    return ok;
}

void print_record_table(const heed_record *r, const char *table, bool flush) {
    heed_text text = {.c = NULL};
    heed_record_table_text(r, table, flush, terminal_width(), &text);
    print_text(&text);
}

json_t *record_tables_json(heed_ctx *c, const heed_record *r) {
    heed_text text = {.c = c};
    json_t *o = heed_record_table_json(r, NULL, &text) ? json_loads(text.s, 0, NULL) : NULL;
    heed_text_free(&text);
    return o;
}

double table_number(const heed_record *r, const char *table, const char *key, int row) {
    const heed_record_column *k = heed_record_find(r, table, key);
    return k && k->values ? k->values[row] : (double)NAN;
}

/* ---- pages ---- */

const char *page_link_text(const page_link *o, char text[PAGE_LINK_SIZE]) {
    char query[24] = "", record[24] = "";
    if (o->query >= 0) snprintf(query, sizeof query, "&row=%d", o->query + 1);
    if (o->record > 0) snprintf(record, sizeof record, "&record=%d", o->record);
    snprintf(text, PAGE_LINK_SIZE, "%s%s%sstack=%s&layer=%d%s%.24s%s%s", o->view ? "view=" : "",
             o->view ? o->view : "", o->view ? "&" : "", heed_stack_name(o->stack), o->layer + 1,
             o->head ? "&head=" : "", o->head ? o->head : "", query, record);
    return text;
}

bool page_fits(heed_ctx *c, const heed_page *p, const char *path) {
    return p->force || heed_page_size(p) <= HEED_PAGE_LIMIT || heed_page_write(c, p, path);
}

bool page_add_curves(heed_ctx *c, heed_page *page, const char *run, page_curves *k) {
    char metrics[1024];
    *k = (page_curves){0};
    if (!is_file(heed_run_file(run, "metrics.csv", metrics, sizeof metrics))) return true;
    if (!curves_read(c, run, &k->curves)) return false;
    k->chart = curves_chart(&k->curves, "loss over training", k->series);
    if (k->curves.train.count)
        k->series->label = k->curves.label; /* the page writes its last value */
    page->curves = &k->chart;
    return true;
}

bool each_run(program *p, const char *list, int most, bool (*open)(void *user, const char *dir),
              void *user) {
    char dir[1024];
    int count = 0;
    if (is_directory(list)) return open(user, list);
    for (bool more = true; more;) {
        size_t n = strcspn(list, ",");
        if (!n)
            return heed_fail(p->c, HEED_USAGE,
                             "missing RUN: expected a run, or several with commas between them");
        if (++count > most || n >= sizeof dir)
            return heed_fail(p->c, HEED_USAGE, "too many runs: expected at most %d", most);
        snprintf(dir, sizeof dir, "%.*s", (int)n, list);
        if (!open(user, dir)) return false;
        more = list[n] == ',';
        list += n + more;
    }
    return true;
}
