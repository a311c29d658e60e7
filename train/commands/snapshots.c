/* snapshots.c -- heed snapshots: how attention on a fixed input developed during training. */
#include "commands/attend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    COUNT("item", "1", 1, HEED_SNAPSHOT_ITEMS, "which input, of several", "What"),
    CHOOSE_LAYER("What"),
    WORDS("head", HEAD_WORDS "; without it the mean", "What"),
    CHOOSE_STACK("What"),
    WORDS("query",
          QUERY_WORDS ", or of a picture cls or ROW,COLUMN, whose attention is listed; without it "
                      "[MASK], [CLS] or the last",
          "What"),
    WORDS("png", "write the whole matrices, one a snapshot, as a picture", "Output"),
    AS_SVG("Output"),
    WORDS("html", "write the page, with a slider over the steps", "Output"),
    SWITCH("json", "print everything as one JSON object", "Output"),
    {0}};

typedef struct {
    program *p;
    int count;
    heed_record **records;
    const heed_record_axis *query_axis, *key_axis;
    int block; /* index of the block that is shown, in each snapshot */
    int head, query;
    heed_view_map *maps; /* the head's weights in each */
    char of[96];         /* "layer 2 of 4, mean of its heads" */
    char (*step)[32];    /* "step 100" of each snapshot */
    const char **steps;  /* the same, as labels */
} show;

/* ---- reading ---- */

static bool add_file(void *user, const char *path, int64_t step) {
    show *w = user;
    (void)step;
    heed_record **grown = realloc(w->records, ((size_t)w->count + 1) * sizeof *grown);
    if (!grown) return heed_fail(w->p->c, HEED_FAILED, "no memory for snapshot %s", path);
    w->records = grown;
    heed_record *r = heed_record_read(w->p->c, path);
    if (r) w->records[w->count++] = r;
    return r != NULL;
}

/* Sorts by the step number in the file, not by the file's name. */
static int by_step(const void *a, const void *b) {
    const heed_record *x = *(heed_record *const *)a, *y = *(heed_record *const *)b;
    return (x->step > y->step) - (x->step < y->step);
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

static bool read_files(show *w) {
    const char *run = w->p->argv[0];
    int item = flag_int(w->p, "item");
    if (!heed_snapshots_list(w->p->c, run, item, add_file, w)) return false;
    if (w->count == 0)
        return heed_fail(w->p->c, HEED_DATA,
                         "no snapshots: %s: expected %s/snapshots/%d-STEP.npz; hint: they are kept "
                         "while a model is trained: `train ... --snapshots 12%s`",
                         run, run, item, item > 1 ? " --snapshot-items N" : "");
    qsort(w->records, (size_t)w->count, sizeof *w->records, by_step);
    for (int i = 0; i < w->count; i++)
        if (!same_shape(w->records[0], w->records[i]))
            return heed_fail(w->p->c, HEED_DATA,
                             "snapshots do not match: those of steps %lld and %lld differ in "
                             "tokens or heads; hint: remove those of another training run",
                             (long long)w->records[0]->step, (long long)w->records[i]->step);
    return true;
}

/* ---- one head ---- */

static const heed_record_block *block_of(const show *w) { return &w->records[0]->blocks[w->block]; }

/* [CLS] of a picture, where something is predicted last, or the last token. */
static int usual_query(const show *w) {
    const heed_record *r = w->records[0];
    if (w->query_axis->rows && w->query_axis->first) return 0;
    for (int i = r->guess_count - 1; i >= 0; i--)
        if (r->guesses[i].axis == block_of(w)->queries && r->guesses[i].query >= 0)
            return r->guesses[i].query;
    return w->query_axis->count - 1;
}

static bool choose(show *w) {
    heed_ctx *c = w->p->c;
    const heed_record *r = w->records[0];
    char head[HEED_WORDS], count[32];
    w->block = chosen_block(c, w->p->argv[0], w->p->flags, r->blocks, r->block_count);
    if (w->block < 0) return false;
    const heed_record_block *b = block_of(w);
    w->query_axis = &r->axes[b->queries];
    w->key_axis = &r->axes[b->keys];
    /* The recorded text was not typed here: an error lists its tokens, as those of a pair. */
    const heed_record_axis none = {0}, *other = w->key_axis == w->query_axis ? &none : w->key_axis;
    if (!chosen_head(c, flag_text(w->p, "head"), b, &w->head) ||
        chosen_query(c, flag_text(w->p, "query"), w->query_axis, other, 1, &w->query) < 0)
        return false;
    if (w->query < 0) w->query = usual_query(w);
    snprintf(w->of, sizeof w->of, "layer %d, %.64s", b->layer + 1,
             heed_head_words(b, w->head, head));
    w->maps = allocate(c, (size_t)w->count, sizeof *w->maps, "snapshots");
    w->step = allocate(c, (size_t)w->count, sizeof *w->step, "labels");
    w->steps = allocate(c, (size_t)w->count, sizeof *w->steps, "labels");
    if (!w->maps || !w->step || !w->steps) return false;
    bool ok = true;
    for (int i = 0; ok && i < w->count; i++) {
        heed_record_view v = {.record = w->records[i],
                              .block = &w->records[i]->blocks[w->block],
                              .head = w->head,
                              .query = -1,
                              .key = -1};
        snprintf(w->step[i], sizeof *w->step, "step %s",
                 heed_format_count(count, (uint64_t)w->records[i]->step));
        w->steps[i] = w->step[i];
        ok = heed_view_matrix(c, &v, w->head, &w->maps[i]);
    }
    return ok;
}

/* ---- output ---- */

/* Prints the attention of the query, one row per snapshot. A causal layer sees no tokens after the
 * query. */
static bool print_query(const show *w) {
    heed_ctx *c = w->p->c;
    int keys = w->key_axis->count;
    size_t cols = (size_t)(block_of(w)->causal ? w->query + 1 : keys);
    char title[400], place[HEED_WORDS];
    heed_real *rows = allocate(c, (size_t)w->count * cols, sizeof *rows, "weights");
    for (int i = 0; rows && i < w->count; i++)
        memcpy(rows + (size_t)i * cols, w->maps[i].values + w->query * keys, cols * sizeof *rows);
    snprintf(title, sizeof title, "attention of %s, while the model learned, %s",
             heed_place_words(w->query_axis, w->query, place), w->of);
    bool ok = rows && print_heatmap(c, (heed_heatmap){.title = title,
                                                      .rows = w->count,
                                                      .cols = (int)cols,
                                                      .values = rows,
                                                      .row_labels = w->steps,
                                                      .col_labels = w->key_axis->labels});
    if (ok)
        print_wrapped(w->p, "Shades are relative to the largest of these weights in all steps.%s",
                      w->key_axis->rows ? " Patches are named by row and column, from 1." : "");
    free(rows);
    return ok;
}

/* The end of the scale: of all heads or, for their mean, which may be far below that of one, of it
 * alone, without the first row of a causal layer, which is always 1. */
static double end_of_scale(const show *w) {
    double end = 0;
    int keys = w->key_axis->count, n = w->query_axis->count * keys;
    for (int i = 0; i < w->count; i++) {
        if (w->head >= 0) end = fmax(end, (double)w->maps[i].map.hi);
        for (int k = block_of(w)->causal ? keys : 0; w->head < 0 && k < n; k++)
            end = fmax(end, (double)w->maps[i].values[k]);
    }
    return end;
}

static bool draw_strip(const show *w) {
    heed_heatmap *maps = allocate(w->p->c, (size_t)w->count, sizeof *maps, "pictures");
    char what[200];
    for (int i = 0; maps && i < w->count; i++) {
        maps[i] = w->maps[i].map;
        maps[i].title = w->steps[i];
    }
    if (maps) maps[0].hi = (heed_real)end_of_scale(w); /* the panels' scale is that of the first */
    snprintf(what, sizeof what, "attention, %s: rows attend to columns", w->of);
    heed_panels all = {.title = w->records[0]->title ? w->records[0]->title : "",
                       .subtitle = what,
                       .note = NO_EXPLANATION ".",
                       .count = w->count,
                       .maps = maps};
    bool ok = maps && draw_panels(w->p, &all);
    free(maps);
    return ok;
}

static json_t *json_of(const show *w) {
    const heed_record_block *b = block_of(w);
    json_t *list = json_array();
    int queries = w->query_axis->count, keys = w->key_axis->count;
    for (int i = 0; i < w->count; i++) {
        json_t *rows = json_array();
        for (int q = 0; q < queries; q++)
            json_array_append_new(rows, json_numbers(w->maps[i].values + q * keys, keys));
        json_array_append_new(list, json_pack("{s:I, s:o}", "step", (json_int_t)w->records[i]->step,
                                              "weights", rows));
    }
    return json_pack("{s:o, s:o, s:i, s:o, s:o, s:o, s:o}", "input",
                     json_text(w->records[0]->title), "path", json_text(b->path), "layer",
                     b->layer + 1, "head", head_json(b, w->head), "queries",
                     json_texts(w->query_axis->labels, queries), "keys",
                     json_texts(w->key_axis->labels, keys), "snapshots", list);
}

/* The page, which opens in the view with the slider for steps, is checked before other files are
 * written. */
static bool write_files(const show *w, const char *html) {
    heed_ctx *c = w->p->c;
    const heed_record_block *b = block_of(w);
    char head[16], opening[PAGE_LINK_SIZE];
    page_link link = {"compare", b->stack, b->layer, head_word(b, w->head, head),
                      w->query,  w->count};
    page_curves k = {0};
    heed_record *list = allocate(c, (size_t)w->count, sizeof *list, "snapshots");
    for (int i = 0; list && i < w->count; i++) list[i] = *w->records[i];
    heed_page page = {
        .count = w->count, .records = list, .opening = page_link_text(&link, opening)};
    bool ok = list != NULL;
    if (*html) ok = ok && page_add_curves(c, &page, w->p->argv[0], &k) && page_fits(c, &page, html);
    ok = ok && draw_strip(w);
    if (*html) ok = ok && heed_page_write(c, &page, html);
    curves_free(&k.curves);
    free(list);
    return ok;
}

static void run_snapshots(program *p) {
    show w = {.p = p};
    const heed_model *m;
    const char *const files[3] = {flag_text(p, "png"), flag_text(p, "svg"), flag_text(p, "html")};
    bool json = flag_on(p, "json");
    if (p->argc > 1) {
        heed_fail(p->c, HEED_USAGE,
                  "one argument too many: %s: the input is chosen when the run is trained; hint: "
                  "`train ... --snapshots 12 --snapshot-input INPUT`",
                  p->argv[1]);
        return;
    }
    bool ok = run_settings(p->c, p->models, p->argv[0], &m) && read_files(&w) && choose(&w) &&
              write_files(&w, files[2]);
    if (ok && json)
        print_json(p, json_of(&w));
    else if (ok)
        ok = print_query(&w);
    for (int i = 0; ok && i < 3; i++)
        if (*files[i]) fprintf(json ? stderr : stdout, "wrote %s\n", files[i]);
    for (int i = 0; i < w.count; i++) {
        if (w.maps) heed_view_map_free(&w.maps[i]);
        heed_record_free(w.records[i]);
    }
    free(w.records);
    free(w.maps);
    free(w.step);
    free((void *)w.steps);
}

const command cmd_snapshots = {
    .name = "snapshots",
    .usage = "RUN",
    .help = "how attention developed during training",
    .about =
        "Shows what `heed train ... --snapshots N` recorded: the attention on a fixed input at N\n"
        "steps from the first to the last. The input is chosen when the run is trained: it is "
        "that\n"
        "of --snapshot-input, or the first of the validation part, for a masked model with one\n"
        "[MASK]. The terminal shows the attention of one token, with a row for each step. --png "
        "and\n"
        "--svg draw the whole matrix of each step, --html writes the page with a slider. The\n"
        "snapshots are NPZ files in RUN/snapshots, ITEM-STEP.npz.",
    .examples = "  heed train gpt book.txt -o runs/book --snapshots 12\n"
                "  heed snapshots runs/book --layer 2 --head 3 --query king\n"
                "  heed snapshots runs/book --png learning.png --html learning.html\n",
    .options = options,
    .args = {1, 2}, /* for a better error */
    .run = run_snapshots,
};
