/* cmd_snapshots.c -- heed snapshots: how attention on a fixed input came about, step by step. */
#include "snapshots.h"

#include "pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    {"item", HEED_INT, "1", 1, SNAPSHOT_ITEMS, NULL, "which input, of several", "What"},
    {"layer", HEED_INT, "0", 0, 64, NULL, "layer, from 1; 0: the last", "What"},
    {"head", HEED_INT, "0", 0, 1024, NULL, "head, from 1; 0: the mean of all", "What"},
    {"stack", HEED_CHOICE, "", 0, 0, "encoder|decoder|cross",
     "models of pairs: whose attention; without it cross", "What"},
    {"query", HEED_INT, "0", 0, 1e6, NULL,
     "the token whose attention is listed, from 1; 0: the last", "What"},
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
    int block; /* index of the block that is shown, in each of them */
    int queries, keys;
    heed_real *weights; /* (count,queries,keys) of the head */
    char of[96];        /* "layer 2 of 4, mean of its heads" */
} show;

static int number(const show *w, const char *key) { return (int)heed_config_int(w->p->flags, key); }

/* ---- reading ---- */

static bool list_files(show *w, const char *run) {
    if (!snapshots_list(w->p->c, run, number(w, "item"), &w->files)) return false;
    return w->files.count > 0 ||
           heed_fail(w->p->c, HEED_DATA,
                     "no snapshots: %s: expected %s/snapshots/%d-STEP.npz; hint: heed train ... "
                     "--snapshots 12%s",
                     run, run, number(w, "item"),
                     number(w, "item") > 1 ? " --snapshot-items N" : "");
}

/* The number of the step stands in the file, not in its name alone. */
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
                             "snapshots do not go together: %s and %s differ in tokens or heads; "
                             "hint: remove those of another training",
                             w->files.at[0], w->files.at[i]);
    return true;
}

/* ---- one head ---- */

static bool choose_block(show *w) {
    const heed_record *r = w->records[0];
    const char *asked = heed_config_text(w->p->flags, "stack");
    int layers = 0, layer = number(w, "layer");
    heed_stack stack = r->block_count ? r->blocks[r->block_count - 1].stack : HEED_ENCODER;
    for (int i = 0; *asked && i < 3; i++)
        if (strcmp(heed_stack_name((heed_stack)i), asked) == 0) stack = (heed_stack)i;
    w->block = -1;
    for (int i = 0; i < r->block_count; i++)
        if (r->blocks[i].stack == stack && ++layers && (!layer || r->blocks[i].layer + 1 == layer))
            w->block = i;
    if (w->block < 0)
        return heed_fail(w->p->c, HEED_USAGE, "--layer %d: the snapshots have %d of %s", layer,
                         layers, heed_stack_name(stack));
    const heed_record_block *b = &r->blocks[w->block];
    if (number(w, "head") > b->heads)
        return heed_fail(w->p->c, HEED_USAGE, "--head %d: expected 1 to %d, or 0 for their mean",
                         number(w, "head"), b->heads);
    snprintf(w->of, sizeof w->of, "layer %d, ", b->layer + 1);
    size_t n = strlen(w->of);
    if (number(w, "head"))
        snprintf(w->of + n, sizeof w->of - n, "head %d", number(w, "head"));
    else
        snprintf(w->of + n, sizeof w->of - n, "mean of %d heads", b->heads);
    return true;
}

static bool take_weights(show *w) {
    const heed_record *first = w->records[0];
    const heed_record_block *like = &first->blocks[w->block];
    w->queries = first->axes[like->queries].count;
    w->keys = first->axes[like->keys].count;
    size_t n = (size_t)w->queries * (size_t)w->keys;
    int head = number(w, "head");
    w->weights = calloc((size_t)w->count * n, sizeof *w->weights);
    if (!w->weights) return heed_fail(w->p->c, HEED_FAILED, "no memory for %zu weights", n);
    for (int i = 0; i < w->count; i++) {
        const heed_record_block *b = &w->records[i]->blocks[w->block];
        for (int h = 0; h < b->heads; h++)
            for (size_t k = 0; k < n && (!head || h + 1 == head); k++)
                w->weights[(size_t)i * n + k] +=
                    b->weights[(size_t)h * n + k] / (heed_real)(head ? 1 : b->heads);
    }
    return true;
}

/* ---- shown ---- */

/* A row a snapshot: what one query attended to. */
static bool print_query(const show *w) {
    const heed_record *r = w->records[0];
    const heed_record_block *b = &r->blocks[w->block];
    int query = number(w, "query") ? number(w, "query") - 1 : w->queries - 1;
    size_t keys = (size_t)w->keys;
    char title[400], token[64];
    if (query >= w->queries)
        return heed_fail(w->p->c, HEED_USAGE, "--query %d: expected 1 to %d", query + 1,
                         w->queries);
    heed_real *rows = malloc((size_t)w->count * keys * sizeof *rows);
    char(*label)[24] = malloc((size_t)w->count * sizeof *label);
    const char **labels = malloc((size_t)w->count * sizeof *labels);
    heed_text text = {.c = w->p->c};
    bool ok = rows && label && labels;
    for (int i = 0; ok && i < w->count; i++) {
        memcpy(rows + (size_t)i * keys,
               w->weights + ((size_t)i * (size_t)w->queries + (size_t)query) * keys,
               keys * sizeof *rows);
        snprintf(label[i], sizeof *label, "step %lld", (long long)w->records[i]->step);
        labels[i] = label[i];
    }
    if (!ok) heed_fail(w->p->c, HEED_FAILED, "no memory for %d rows", w->count);
    snprintf(title, sizeof title, "attention of %s (token %d) while the model learned, %s",
             show_token(token, sizeof token, r->axes[b->queries].labels[query]), query + 1, w->of);
    heed_heatmap m = {.title = title,
                      .rows = w->count,
                      .cols = w->keys,
                      .values = rows,
                      .row_labels = labels,
                      .col_labels = r->axes[b->keys].labels,
                      .terminal = terminal_kind(stdout),
                      .width = terminal_width()};
    ok = ok && heed_heatmap_text(&m, &text);
    if (ok) print_text(&text);
    if (ok) print_wrapped(w->p, "Shades go to the largest of these weights, of all steps.");
    heed_text_free(&text);
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

/* The page opens where the steps have their slider. */
static const char *opening_of(const show *w, char text[OPENING_SIZE]) {
    const heed_record_block *b = &w->records[0]->blocks[w->block];
    int query = number(w, "query") ? number(w, "query") : w->queries;
    char head[16];
    snprintf(head, sizeof head, "%d", number(w, "head"));
    opening o = {.view = "compare",
                 .stack = b->stack,
                 .layer = b->layer,
                 .head = number(w, "head") ? head : "mean",
                 .query = query - 1};
    return opening_text(&o, text);
}

static bool write_page(const show *w, const char *path) {
    char first[OPENING_SIZE];
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
        ok = heed_page_write(w->p->c, &page, path);
    }
    curves_free(&k);
    free(list);
    return ok;
}

static json_t *json_of(const show *w) {
    const heed_record *r = w->records[0];
    const heed_record_block *b = &r->blocks[w->block];
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
    return json_pack("{s:o, s:o, s:i, s:i, s:o, s:o, s:o}", "input", json_text(r->title), "path",
                     json_text(b->path), "layer", b->layer + 1, "head", number(w, "head"),
                     "queries", queries, "keys", keys, "snapshots", o);
}

static bool show_all(show *w) {
    static const char *const files[] = {"png", "svg", "html"};
    bool json = heed_config_bool(w->p->flags, "json");
    for (int i = 0; i < 3; i++) {
        const char *path = heed_config_text(w->p->flags, files[i]);
        if (*path && !(i < 2 ? draw_strip(w, i == 1, path) : write_page(w, path))) return false;
    }
    if (json)
        print_json(w->p, json_of(w));
    else if (!print_query(w))
        return false;
    for (int i = 0; i < 3; i++) {
        const char *path = heed_config_text(w->p->flags, files[i]);
        if (*path) fprintf(json ? stderr : stdout, "wrote %s\n", path);
    }
    return true;
}

static void run_snapshots(program *p) {
    show w = {.p = p};
    const task *k;
    if (run_settings(p->c, p->argv[0], &k) && list_files(&w, p->argv[0]) && read_files(&w) &&
        check_files(&w) && choose_block(&w) && take_weights(&w))
        show_all(&w);
    for (int i = 0; i < w.count; i++) heed_record_free(w.records[i]);
    free(w.records);
    free(w.weights);
    paths_free(&w.files);
}

const command cmd_snapshots = {
    .name = "snapshots",
    .usage = "RUN",
    .help = "how attention came about while a run learned",
    .about =
        "Shows what `heed train ... --snapshots N` kept: attention on a fixed input at N steps\n"
        "from the first to the last. The terminal lists one token's attention, a row a step;\n"
        "--png and --svg draw the whole matrix of each step, --html the page with a slider.\n"
        "The snapshots are NPZ files in RUN/snapshots, ITEM-STEP.npz.",
    .examples = "  heed train gpt book.txt -o runs/book --snapshots 12\n"
                "  heed snapshots runs/book --layer 2 --head 3 --png learning.png\n"
                "  heed snapshots runs/book --html learning.html\n",
    .options = options,
    .min = 1,
    .max = 1,
    .run = run_snapshots,
};
