/* snapshots.c -- heed snapshots: how attention on a fixed input developed during training. */
#include "cli/files.h"
#include "commands/attend.h"
#include "kinds/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    {"item", HEED_INT, "1", 1, HEED_SNAPSHOT_ITEMS, NULL, "which input, of several", "What"},
    CHOOSE_LAYER("What"),
    WORDS("head", HEAD_WORDS "; without it the mean", "What"),
    CHOOSE_STACK("What"),
    WORDS("query", QUERY_WORDS ", whose attention is listed; without it the last", "What"),
    WORDS("png", "write the whole matrices, one a snapshot, as a picture", "Output"),
    WORDS("svg", "write the same as a vector picture", "Output"),
    WORDS("html", "write the page, with a slider over the steps", "Output"),
    SWITCH("json", "print everything as one JSON object", "Output"),
    {0}};

typedef struct {
    program *p;
    paths files;
    int count;
    heed_record **records;
    int block; /* index of the block that is shown, in each snapshot */
    int head, query;
    int queries, keys;
    heed_real *weights; /* (count,queries,keys): the head's weights */
    char of[96];        /* "layer 2 of 4, mean of its heads" */
} show;

static int item(const show *w) { return (int)heed_config_int(w->p->flags, "item"); }

/* ---- reading ---- */

static bool add_file(void *user, const char *path, int64_t step) {
    show *w = user;
    size_t n = strlen(path) + 1;
    char **grown = realloc(w->files.at, (w->files.count + 1) * sizeof *grown);
    if (grown) w->files.at = grown;
    char *copy = grown ? malloc(n) : NULL;
    (void)step;
    if (!copy) return heed_fail(w->p->c, HEED_FAILED, "no memory for the name %s", path);
    w->files.at[w->files.count++] = memcpy(copy, path, n);
    return true;
}

static bool list_files(show *w, const char *run) {
    if (!heed_snapshots_list(w->p->c, run, item(w), add_file, w)) return false;
    return w->files.count > 0 ||
           heed_fail(w->p->c, HEED_DATA,
                     "no snapshots: %s: expected %s/snapshots/%d-STEP.npz; hint: `train ... "
                     "--snapshots 12%s`",
                     run, run, item(w), item(w) > 1 ? " --snapshot-items N" : "");
}

/* Sorts by the step number in the file, not by the file's name. */
static int by_step(const void *a, const void *b) {
    const heed_record *x = *(heed_record *const *)a, *y = *(heed_record *const *)b;
    return (x->step > y->step) - (x->step < y->step);
}

static bool read_files(show *w) {
    w->records = calloc(w->files.count, sizeof *w->records);
    if (!w->records)
        return heed_fail(w->p->c, HEED_FAILED, "no memory for %zu snapshots", w->files.count);
    for (size_t i = 0; i < w->files.count; i++) {
        heed_record *r = heed_record_read(w->p->c, w->files.at[i]);
        if (!r) return false;
        w->records[w->count++] = r;
    }
    qsort(w->records, (size_t)w->count, sizeof *w->records, by_step);
    return true;
}

static bool same_shape(const heed_record *a, const heed_record *b) {
    bool same = a->block_count == b->block_count && a->axis_count == b->axis_count;
    for (int i = 0; same && i < a->axis_count; i++) same = a->axes[i].count == b->axes[i].count;
    for (int i = 0; same && i < a->block_count; i++) {
        const heed_record_block *x = &a->blocks[i], *y = &b->blocks[i];
        same = x->heads == y->heads && x->queries == y->queries && x->keys == y->keys &&
               x->weights && y->weights;
    }
    return same;
}

static bool check_files(show *w) {
    for (int i = 0; i < w->count; i++)
        if (!same_shape(w->records[0], w->records[i]))
            return heed_fail(w->p->c, HEED_DATA,
                             "snapshots do not match: %s and %s differ in tokens or heads; hint: "
                             "remove those of another training",
                             w->files.at[0], w->files.at[i]);
    return true;
}

/* ---- one head ---- */

static const heed_record_block *block_of(const show *w) { return &w->records[0]->blocks[w->block]; }

static bool choose(show *w) {
    heed_ctx *c = w->p->c;
    const heed_config *f = w->p->flags;
    const heed_record *r = w->records[0];
    char head[48];
    w->block = chosen_block(c, w->p->argv[0], f, r->blocks, r->block_count);
    if (w->block < 0) return false;
    const heed_record_block *b = block_of(w);
    w->queries = r->axes[b->queries].count;
    w->keys = r->axes[b->keys].count;
    if (!chosen_head(c, heed_config_text(f, "head"), b, &w->head) ||
        !chosen_query(c, heed_config_text(f, "query"), &r->axes[b->queries], &w->query))
        return false;
    if (w->query < 0) w->query = w->queries - 1;
    snprintf(w->of, sizeof w->of, "layer %d, %s", b->layer + 1, head_words(b, w->head, head));
    return true;
}

static bool take_weights(show *w) {
    size_t n = (size_t)w->queries * (size_t)w->keys;
    w->weights = calloc((size_t)w->count * n, sizeof *w->weights);
    if (!w->weights) return heed_fail(w->p->c, HEED_FAILED, "no memory for %zu weights", n);
    for (int i = 0; i < w->count; i++) {
        const heed_record_block *b = &w->records[i]->blocks[w->block];
        for (size_t k = 0; k < n; k++)
            w->weights[(size_t)i * n + k] = fused_weight(b->weights, b->heads, n, w->head, k);
    }
    return true;
}

/* ---- output ---- */

/* Prints the attention of the query, one row per snapshot. A causal layer sees no tokens after the
 * query. */
static bool print_query(const show *w) {
    const heed_record *r = w->records[0];
    const heed_record_block *b = block_of(w);
    int cols = b->causal ? w->query + 1 : w->keys;
    char title[400], token[64];
    heed_real *rows = malloc((size_t)w->count * (size_t)cols * sizeof *rows);
    char(*label)[24] = malloc((size_t)w->count * sizeof *label);
    const char **labels = malloc((size_t)w->count * sizeof *labels);
    bool ok = rows && label && labels;
    for (int i = 0; ok && i < w->count; i++) {
        size_t from = ((size_t)i * (size_t)w->queries + (size_t)w->query) * (size_t)w->keys;
        memcpy(rows + (size_t)i * (size_t)cols, w->weights + from, (size_t)cols * sizeof *rows);
        snprintf(label[i], sizeof *label, "step %lld", (long long)w->records[i]->step);
        labels[i] = label[i];
    }
    if (!ok) heed_fail(w->p->c, HEED_FAILED, "no memory for %d rows", w->count);
    snprintf(title, sizeof title, "attention of %s (token %d) while the model learned, %s",
             heed_format_token(token, sizeof token, r->axes[b->queries].labels[w->query]),
             w->query + 1, w->of);
    attend_view v = {.p = w->p};
    ok = ok && print_map(&v, (heed_heatmap){.title = title,
                                            .rows = w->count,
                                            .cols = cols,
                                            .values = rows,
                                            .row_labels = labels,
                                            .col_labels = r->axes[b->keys].labels});
    if (ok)
        print_wrapped(w->p, "Shades are relative to the largest of these weights in all steps.");
    free(rows);
    free(label);
    free((void *)labels);
    return ok;
}

static bool draw_strip(const show *w, bool svg, const char *path) {
    const heed_record *r = w->records[0];
    const heed_record_block *b = &r->blocks[w->block];
    size_t each = (size_t)w->queries * (size_t)w->keys;
    heed_heatmap *maps = calloc((size_t)w->count, sizeof *maps);
    char(*name)[32] = calloc((size_t)w->count, sizeof *name), title[200];
    bool ok =
        (maps && name) || heed_fail(w->p->c, HEED_FAILED, "no memory for %d pictures", w->count);
    for (int i = 0; ok && i < w->count; i++) {
        snprintf(name[i], sizeof *name, "step %lld", (long long)w->records[i]->step);
        maps[i] = (heed_heatmap){.title = name[i],
                                 .rows = w->queries,
                                 .cols = w->keys,
                                 .values = w->weights + (size_t)i * each,
                                 .row_labels = r->axes[b->queries].labels,
                                 .col_labels = r->axes[b->keys].labels,
                                 .unit = "of a row's attention"};
    }
    snprintf(title, sizeof title, "attention, %s: rows attend to columns", w->of);
    heed_panels all = {.title = title, .count = w->count, .maps = maps};
    ok = ok && (svg ? heed_panels_svg : heed_panels_png)(w->p->c, &all, path);
    free(maps);
    free(name);
    return ok;
}

/* The page opens in the view with the slider for steps. */
static const char *opening_of(const show *w, char text[PAGE_LINK_SIZE]) {
    const heed_record_block *b = block_of(w);
    char head[16];
    page_link o = {.view = "compare",
                   .stack = b->stack,
                   .layer = b->layer,
                   .head = head_word(b, w->head, head),
                   .query = w->query};
    return page_link_text(&o, text);
}

/* Writes the page; with write false, only checks whether it can be written. */
static bool make_page(const show *w, bool write, const char *path) {
    char first[PAGE_LINK_SIZE];
    run_curves k = {0};
    heed_series series[2];
    heed_chart chart;
    heed_record *list = malloc((size_t)w->count * sizeof *list);
    if (!list) return heed_fail(w->p->c, HEED_FAILED, "no memory for %d snapshots", w->count);
    for (int i = 0; i < w->count; i++) list[i] = *w->records[i];
    heed_page page = {.count = w->count, .records = list, .opening = opening_of(w, first)};
    bool ok = curves_read(w->p->c, w->p->argv[0], &k);
    if (ok) {
        chart = curves_chart(&k, "loss over training", series);
        page.curves = &chart;
        ok = (write ? heed_page_write : page_fits)(w->p->c, &page, path);
    }
    curves_free(&k);
    free(list);
    return ok;
}

static json_t *json_of(const show *w) {
    const heed_record *r = w->records[0];
    const heed_record_block *b = block_of(w);
    json_t *o = json_array(), *queries = json_array(), *keys = json_array();
    for (int i = 0; i < w->queries; i++)
        json_array_append_new(queries, json_text(r->axes[b->queries].labels[i]));
    for (int i = 0; i < w->keys; i++)
        json_array_append_new(keys, json_text(r->axes[b->keys].labels[i]));
    const heed_real *x = w->weights;
    for (int i = 0; i < w->count; i++) {
        json_t *rows = json_array();
        for (int q = 0; q < w->queries; q++) {
            json_t *row = json_array();
            for (int k = 0; k < w->keys; k++) json_array_append_new(row, json_number((double)*x++));
            json_array_append_new(rows, row);
        }
        json_array_append_new(
            o, json_pack("{s:I, s:o}", "step", (json_int_t)w->records[i]->step, "weights", rows));
    }
    return json_pack("{s:o, s:o, s:i, s:o, s:o, s:o, s:o}", "input", json_text(r->title), "path",
                     json_text(b->path), "layer", b->layer + 1, "head", head_json(b, w->head),
                     "queries", queries, "keys", keys, "snapshots", o);
}

static bool write_files(const show *w, const char *const files[3]) {
    const char *png = files[0], *svg = files[1], *html = files[2];
    return (!*html || make_page(w, false, html)) && (!*png || draw_strip(w, false, png)) &&
           (!*svg || draw_strip(w, true, svg)) && (!*html || make_page(w, true, html));
}

static bool show_all(show *w) {
    const heed_config *f = w->p->flags;
    const char *const files[3] = {heed_config_text(f, "png"), heed_config_text(f, "svg"),
                                  heed_config_text(f, "html")};
    bool json = heed_config_bool(f, "json");
    if (!write_files(w, files)) return false;
    if (json)
        print_json(w->p, json_of(w));
    else if (!print_query(w))
        return false;
    for (int i = 0; i < 3; i++)
        if (*files[i]) fprintf(json ? stderr : stdout, "wrote %s\n", files[i]);
    return true;
}

static void run_snapshots(program *p) {
    show w = {.p = p};
    const heed_model *m;
    if (run_settings(p->c, p->models, p->argv[0], &m) && list_files(&w, p->argv[0]) &&
        read_files(&w) && check_files(&w) && choose(&w) && take_weights(&w))
        show_all(&w);
    for (int i = 0; i < w.count; i++) heed_record_free(w.records[i]);
    free(w.records);
    free(w.weights);
    paths_free(&w.files);
}

const command cmd_snapshots = {
    .name = "snapshots",
    .usage = "RUN",
    .help = "how attention developed during a training",
    .about =
        "Shows what `heed train ... --snapshots N` kept: attention on a fixed input at N steps\n"
        "from the first to the last. The terminal lists one token's attention, a row a step;\n"
        "--png and --svg draw the whole matrix of each step, --html the page with a slider.\n"
        "The snapshots are NPZ files in RUN/snapshots, ITEM-STEP.npz.",
    .examples = "  heed train gpt book.txt -o runs/book --snapshots 12\n"
                "  heed snapshots runs/book --layer 2 --head 3 --query king\n"
                "  heed snapshots runs/book --png learning.png --html learning.html\n",
    .options = options,
    .min = 1,
    .max = 1,
    .run = run_snapshots,
};
