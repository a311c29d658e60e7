/* influence.c -- heed influence: how much each output position depends on each input position. */
#include "cli/files.h"
#include "kinds/image.h"
#include "kinds/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    WORDS("target", "models of pairs: the target; without it, the one that the model generates",
          "What"),
    SWITCH("convert", "convert a picture of other channels to grey or colour, as the run requires",
           "What"),
    {"draws", HEED_INT, "0", 0, 65536, NULL,
     "estimate from this many random directions of y_t; 0: exact if that needs at most 4096 "
     "directions, else 16",
     "What"},
    SWITCH("exact", "exact, however long it takes", "What"),
    SWITCH("numbers", "print numbers instead of shades", "Output"),
    WORDS("png", "write a picture; several runs side by side, each with its own scale", "Output"),
    WORDS("npz", "write the matrix and its labels for NumPy", "Output"),
    SWITCH("json", "print everything as one JSON object", "Output"),
    {0}};

static const applies uses[] = {
    {"target", reads_pairs, NULL}, {"convert", reads_pictures, NULL}, {0}};

enum { RUNS = 8 };
typedef struct {
    heed_run *run;
    heed_inspection e;
    heed_record *record;
    const heed_record_map *map; /* the record's map */
    const heed_record_axis *query, *key;
    char name[128];
} look;

typedef struct {
    program *p;
    int count;
    look looks[RUNS];
} work;

static const char *flag(const work *w, const char *key) {
    return heed_config_text(w->p->flags, key);
}

/* ---- the matrix of a run and an input ---- */

static bool open_picture(work *w, look *l, const char *path) {
    char why[HEED_WHY];
    heed_picture p = {0};
    heed_status status = heed_picture_read(path, &p, why);
    if (status != HEED_OK) return heed_fail(w->p->c, status, "%s %s", path, why);
    bool convert = heed_config_bool(w->p->flags, "convert");
    bool ok = heed_inspection_picture(&l->e, l->run, &p, path, convert);
    heed_picture_free(&p);
    return ok;
}

static bool open_example(work *w, look *l, const char *what) {
    const char *target = *flag(w, "target") ? flag(w, "target") : NULL;
    if (reads_pictures(l->run->model)) return open_picture(w, l, what);
    size_t n = strlen(what);
    return heed_check_text(w->p->c, what, n) && inspect_text(&l->e, l->run, what, n, target);
}

static bool go_on(void *user, uint64_t done, uint64_t all) {
    (void)user, (void)done, (void)all;
    return !was_interrupted(NULL);
}

static bool study_run(work *w, const char *dir, const char *what) {
    look *l = &w->looks[w->count++];
    heed_influence_args a = {.draws = (int)heed_config_int(w->p->flags, "draws"),
                             .exact = heed_config_bool(w->p->flags, "exact"),
                             .progress = go_on};
    if (a.draws && a.exact)
        return heed_fail(w->p->c, HEED_USAGE,
                         "--draws %d is an estimate: expected --exact or --draws, not both",
                         a.draws);
    snprintf(l->name, sizeof l->name, "%.120s", dir);
    l->run = open_run(w->p, dir);
    if (!l->run || !open_example(w, l, what)) return false;
    l->record = heed_influence(&l->e, &a);
    if (!l->record) return false;
    l->map = &l->record->maps[0];
    l->query = &l->record->axes[l->map->queries];
    l->key = &l->record->axes[l->map->keys];
    return true;
}

/* Studies "runs/a,runs/b", or a run whose name contains a comma. */
static bool study_runs(work *w, const char *list, const char *what) {
    char dir[1024];
    if (is_directory(list)) return study_run(w, list, what);
    while (*list) {
        size_t n = strcspn(list, ",");
        if (w->count == RUNS || n >= sizeof dir)
            return heed_fail(w->p->c, HEED_USAGE, "too many runs: expected at most %d", RUNS);
        snprintf(dir, sizeof dir, "%.*s", (int)n, list);
        if (n && !study_run(w, dir, what)) return false;
        list += n + (list[n] == ',');
    }
    return w->count > 0 || heed_fail(w->p->c, HEED_USAGE,
                                     "missing RUN: expected a run, or several "
                                     "with commas between them");
}

static void close_looks(work *w) {
    for (int i = 0; i < w->count; i++) {
        heed_inspection_free(&w->looks[i].e);
        heed_record_free(w->looks[i].record);
        heed_run_close(w->looks[i].run);
    }
}

/* ---- output ---- */

static heed_heatmap map_of(const look *l, const char *title) {
    return (heed_heatmap){.title = title,
                          .rows = l->query->count,
                          .cols = l->key->count,
                          .values = l->map->values,
                          .row_labels = l->query->labels,
                          .col_labels = l->key->labels};
}

static heed_real largest(const look *l) {
    heed_real top = 0;
    for (int i = 0; i < l->query->count * l->key->count; i++)
        if (l->map->values[i] > top) top = l->map->values[i];
    return top;
}

/* Shades are relative to the largest value: norms of different models have no common scale. */
static bool print_map(const work *w, const look *l) {
    char title[256];
    heed_text text = {.c = w->p->c};
    heed_real top = largest(l);
    bool numbers = heed_config_bool(w->p->flags, "numbers");
    int n = l->query->count * l->key->count;
    heed_real *share = malloc((size_t)n * sizeof *share);
    if (!share) return heed_fail(w->p->c, HEED_FAILED, "no memory for %d numbers", n);
    for (int i = 0; i < n; i++)
        share[i] = numbers || top <= 0 ? l->map->values[i] : l->map->values[i] / top;
    snprintf(title, sizeof title, "%s: influence of %s on %s, %s %.4g", l->name, l->key->name,
             l->query->name, numbers ? "at most" : "in percent of the largest,", (double)top);
    heed_heatmap m = map_of(l, title);
    m.values = share;
    m.hi = numbers ? top : 1;
    m.numbers = numbers;
    m.unit = numbers ? "the norm" : "percent of the largest";
    m.percent = !numbers;
    m.terminal = terminal_kind(stdout);
    m.width = terminal_width();
    bool ok = heed_heatmap_text(&m, &text);
    if (ok) print_text(&text);
    if (ok) print_wrapped(w->p, l->map->help);
    if (ok && l->record->note) print_wrapped(w->p, l->record->note);
    heed_text_free(&text);
    free(share);
    return ok;
}

/* Each matrix has a separate scale: norms of different models have no common one. */
static bool draw_png(const work *w, const char *path) {
    static const char what[] = "norm of d y_t / d x_s: rows t, columns s";
    heed_heatmap maps[RUNS];
    char title[RUNS][192];
    for (int i = 0; i < w->count; i++) {
        const look *l = &w->looks[i];
        snprintf(title[i], sizeof *title, "%s (%s)", l->name, l->run->model->name);
        maps[i] = map_of(l, w->count > 1 ? title[i] : what);
        if (w->count > 1) maps[i].unit = "norm of d y_t / d x_s";
    }
    return heed_heatmaps_png(w->p->c, maps, w->count, path);
}

static bool write_files(const work *w) {
    const char *png = flag(w, "png"), *npz = flag(w, "npz");
    if (*npz && !heed_record_npz(w->p->c, w->looks[0].record, npz)) return false;
    return !*png || draw_png(w, png);
}

static bool print_record(const work *w) {
    heed_text text = {.c = w->p->c};
    bool ok = heed_record_json(w->looks[0].record, true, &text) && heed_text_put(&text, "\n", 1);
    if (ok) print_text(&text);
    heed_text_free(&text);
    return ok;
}

static void show(const work *w) {
    bool json = heed_config_bool(w->p->flags, "json");
    bool ok = write_files(w) && (!json || print_record(w));
    for (int i = 0; ok && !json && i < w->count; i++) {
        if (i > 0) putchar('\n');
        ok = print_map(w, &w->looks[i]);
    }
    for (int i = 0; ok && i < 2; i++) {
        const char *path = flag(w, i ? "npz" : "png");
        if (*path) fprintf(json ? stderr : stdout, "wrote %s\n", path);
    }
}

static void run_influence(program *p) {
    work w = {.p = p};
    catch_interrupt();
    bool ok = study_runs(&w, p->argv[0], p->argv[1]);
    if (ok && w.count > 1 && (heed_config_bool(p->flags, "json") || *flag(&w, "npz")))
        ok = heed_fail(p->c, HEED_USAGE, "--json and --npz hold one run: expected one, found %d",
                       w.count);
    if (ok) show(&w);
    if (heed_ctx_status(p->c) == HEED_INTERRUPTED) {
        heed_clear(p->c);
        p->status = HEED_INTERRUPTED;
    }
    close_looks(&w);
}

const command cmd_influence = {
    .name = "influence",
    .usage = "RUN[,RUN]... INPUT",
    .help = "how far each output place moves with each input place",
    .about =
        "Shows the norm of d y_t / d x_s, a row for each place t of the output and a column for\n"
        "each place s of the input: where information can flow, whatever carries it. x_s is the\n"
        "embedding of a token or patch, y_t what the output layer reads at t. A convolution shows\n"
        "a band, a recurrent layer a triangle that fades, attention its content. Of a cnn both\n"
        "are cells of its last feature map; of a pair t is a place of the target and s one of the\n"
        "source. Unlike attention weights the norm counts all layers,\n"
        "values and residual paths; like them it describes one input only, and small changes.",
    .examples = "  heed influence runs/book \"The king went home .\"\n"
                "  heed influence runs/lstm,runs/book \"The king went home .\" --png side.png\n"
                "  heed influence runs/flowers rose.jpg --png rose.png\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .min = 2,
    .max = 2,
    .run = run_influence,
};
