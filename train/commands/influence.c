/* influence.c -- heed influence: how much each output position depends on each input position. */
#include "cli/os_files.h"
#include "kinds/records.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    WORDS("target", "models of pairs: the target; without it, the one that the model generates",
          "What"),
    SWITCH("convert", "print no note when a picture is converted to grey or colour for the run",
           "What"),
    COUNT("draws", "0", 0, 65536,
          "estimate from this many random directions of y_t; 0: exact if that needs at most 4096 "
          "directions, else 16",
          "What"),
    SWITCH("exact", "exact, however long it takes", "What"),
    SWITCH("numbers", "print numbers instead of shades", "Output"),
    WORDS("png",
          "write a picture: of several runs side by side, each with its own scale; of a photograph "
          "the influence of each place over it",
          "Output"),
    AS_SVG("Output"),
    WORDS("npz", "write the matrix and its labels for NumPy", "Output"),
    SWITCH("json", "print everything as one JSON object", "Output"),
    {0}};

static const applies uses[] = {
    {"target", writes_targets, NULL}, {"convert", sees_pictures, NULL}, {0}};

enum { RUNS = 8 };
typedef struct {
    heed_run *run;
    heed_example e;
    heed_record *record;
    const heed_record_map *map; /* the record's map */
    heed_text how;              /* how exact it is */
    char name[128];
} look;

typedef struct {
    program *p;
    int count;
    look looks[RUNS];
    heed_text line; /* of the standard input, for "-" */
} work;

/* ---- the matrix of a run and an input ---- */

static bool go_on(void *user, uint64_t done, uint64_t all) {
    (void)user, (void)done, (void)all;
    return !was_interrupted(NULL);
}

static const char *reads_word(const heed_run *r) {
    return sees_pictures(r->model) ? "picture" : "text";
}

/* Opens a run; all must have the same kind of input. */
static bool open_one(void *user, const char *dir) {
    work *w = user;
    look *l = &w->looks[w->count++];
    snprintf(l->name, sizeof l->name, "%.120s", dir);
    l->run = open_run(w->p, dir);
    const heed_run *first = w->looks[0].run;
    if (l->run && sees_pictures(l->run->model) != sees_pictures(first->model))
        return heed_fail(w->p->c, HEED_USAGE,
                         "%s reads a %s and %s a %s: expected runs with the same kind of input",
                         w->looks[0].name, reads_word(first), l->name, reads_word(l->run));
    return l->run != NULL;
}

static bool study(work *w, look *l, const char *what) {
    program *p = w->p;
    heed_influence_args a = {.draws = flag_int(p, "draws"),
                             .exact = flag_on(p, "exact"),
                             .how = &l->how,
                             .progress = go_on};
    const char *target = *flag_text(p, "target") ? flag_text(p, "target") : NULL;
    l->how.c = p->c;
    what = one_input(p, l->run, what, &w->line);
    if (!what || !example_of_argument(l->run, what, target, flag_on(p, "convert"), &l->e))
        return false;
    if (l == w->looks && !sees_pictures(l->run->model)) note_file(p->c, what, NULL);
    l->record = heed_influence(l->run, &l->e, &a);
    if (!l->record) return false;
    l->map = &l->record->maps[0];
    return true;
}

static bool study_all(work *w, const char *list, const char *what) {
    int draws = flag_int(w->p, "draws");
    if (draws && flag_on(w->p, "exact"))
        return heed_fail(w->p->c, HEED_USAGE,
                         "--draws %d is an estimate: expected --exact or --draws, not both", draws);
    bool ok = each_run(w->p, list, RUNS, open_one, w);
    for (int i = 0; ok && i < w->count; i++) ok = study(w, &w->looks[i], what);
    return ok;
}

/* ---- output ---- */

/* Shades are relative to the largest value: norms of different models have no common scale. */
static bool print_map(const work *w, const look *l) {
    char title[256];
    bool numbers = flag_on(w->p, "numbers");
    const heed_record_axis *query = &l->record->axes[l->map->queries];
    const heed_record_axis *key = &l->record->axes[l->map->keys];
    int n = query->count * key->count;
    heed_real top = 0, *share = allocate(w->p->c, (size_t)n, sizeof *share, "numbers");
    if (!share) return false;
    for (int i = 0; i < n; i++)
        if (l->map->values[i] > top) top = l->map->values[i];
    for (int i = 0; i < n; i++)
        share[i] = numbers || top <= 0 ? l->map->values[i] : l->map->values[i] / top;
    snprintf(title, sizeof title, "%s: influence of %s on %s, %s %.4g%s", l->name, key->name,
             query->name, numbers ? "at most" : "in percent of the largest (a norm of", (double)top,
             numbers ? "" : ")");
    heed_heatmap m = heatmap_of_map(l->record, l->map, title);
    m.values = share;
    m.hi = numbers ? top : 1;
    m.numbers = numbers;
    m.unit = numbers ? "the norm" : "percent of the largest";
    m.percent = !numbers;
    bool ok = print_heatmap(w->p->c, m);
    if (ok) print_wrapped(w->p, "%s", l->map->help);
    if (ok && l->record->note) print_wrapped(w->p, "%s", l->record->note);
    free(share);
    return ok;
}

static bool is_over_picture(const look *l) {
    return l->e.shown.pixels && l->record->axes[l->map->keys].rows > 0;
}

/* Over the picture: the norm of d y / d x_s, where y is that of [CLS] or else of all positions
 * together, as a share of the sum over all places s. The caller frees it. */
static heed_real *shares_of(heed_ctx *c, const look *l) {
    const heed_record_axis *y = &l->record->axes[l->map->queries];
    int rows = y->first ? y->first : y->count, n = l->record->axes[l->map->keys].count;
    heed_real *share = allocate(c, (size_t)n, sizeof *share, "places");
    double all = 0;
    for (int s = 0; share && s < n; s++) {
        double norm = 0;
        for (int t = 0; t < rows; t++) norm = hypot(norm, (double)l->map->values[t * n + s]);
        share[s] = (heed_real)norm;
        all += norm;
    }
    for (int s = 0; share && all > 0 && s < n; s++) share[s] /= (heed_real)all;
    return share;
}

/* A matrix of all places would be too large to be read. */
static bool draw_over(const work *w, const look *l) {
    const heed_record_axis *y = &l->record->axes[l->map->queries],
                           *x = &l->record->axes[l->map->keys];
    const heed_picture *shown = &l->e.shown;
    const char *of = y->first ? y->labels[0] : "all positions of the output";
    const char *title = l->record->title;
    char caption[48], note[480];
    heed_real *share = shares_of(w->p->c, l);
    snprintf(caption, sizeof caption, "influence on %s", y->first ? of : "all");
    snprintf(note, sizeof note,
             "%sNorm of d y / d x_s for place s, as a share of the sum over all places; y: %.80s; "
             "%s.",
             l->e.cropped ? "The model sees the centre square of the picture, which is "
                            "shown. "
                          : "",
             of, l->how.s);
    heed_tile under = {shown->pixels, shown->width, shown->height, shown->channels, {0}};
    heed_heatmap map = {.rows = 1,
                        .cols = x->rows * x->cols,
                        .values = share,
                        .row_labels = (const char *const[]){caption},
                        .unit = "of the sum (1 = 100 %)",
                        .uniform = 1.0 / (x->rows * x->cols),
                        .grid_cols = x->cols,
                        .picture = &under};
    heed_panels o = {.title = title ? file_name(title) : NULL,
                     .subtitle = l->name,
                     .note = note,
                     .count = 1,
                     .maps = &map};
    bool ok = share && draw_panels(w->p, &o);
    free(share);
    return ok;
}

/* Below a matrix: how exact it is and, of several runs, whose titles are their names, the input. */
static const char *note_of(const look *l, bool several, heed_text *note) {
    heed_text_add(note, "%c%s.", toupper((unsigned char)*l->how.s), l->how.s + 1);
    if (several) heed_text_add(note, " Input: ");
    if (several) heed_label_text(l->record->title, 160, note);
    return note->s;
}

/* Each matrix has a separate scale: norms of different models have no common one. */
static bool draw(const work *w) {
    if (w->count == 1 && is_over_picture(&w->looks[0])) return draw_over(w, &w->looks[0]);
    heed_heatmap maps[RUNS];
    heed_text note[RUNS] = {{.c = NULL}};
    char title[RUNS][192];
    bool several = w->count > 1;
    for (int i = 0; i < w->count; i++) {
        const look *l = &w->looks[i];
        snprintf(title[i], sizeof *title, "%s (%s)", l->name, l->run->model->name);
        maps[i] = heatmap_of_map(l->record, l->map, title[i]);
        maps[i].note = note_of(l, several, &note[i]);
        if (several) maps[i].unit = "norm of d y_t / d x_s";
    }
    heed_panels one = {.title = w->looks->record->title,
                       .subtitle = "influence: norm of d y_t / d x_s, rows t, columns s",
                       .note = maps->note,
                       .count = 1,
                       .maps = maps};
    bool ok = several ? draw_maps(w->p, maps, w->count) : draw_panels(w->p, &one);
    for (int i = 0; i < w->count; i++) heed_text_free(&note[i]);
    return ok;
}

static void show(const work *w) {
    program *p = w->p;
    static const char *const keys[] = {"png", "svg", "npz"};
    const char *npz = flag_text(p, "npz");
    bool json = flag_on(p, "json"), ok = true;
    if (*npz) ok = heed_record_npz(p->c, w->looks[0].record, npz);
    ok = ok && draw(w);
    if (json) ok = ok && print_record(p->c, w->looks[0].record);
    for (int i = 0; ok && !json && i < w->count; i++) {
        if (i > 0) putchar('\n');
        ok = print_map(w, &w->looks[i]);
    }
    for (size_t i = 0; ok && i < sizeof keys / sizeof *keys; i++)
        if (*flag_text(p, keys[i]))
            fprintf(json ? stderr : stdout, "wrote %s\n", flag_text(p, keys[i]));
}

static void run_influence(program *p) {
    work w = {.p = p};
    catch_interrupt();
    p->warns_once = true;
    bool ok = study_all(&w, p->argv[0], p->argc > 1 ? p->argv[1] : NULL);
    if (ok && w.count > 1 && (flag_on(p, "json") || *flag_text(p, "npz")))
        ok = heed_fail(p->c, HEED_USAGE, "--json and --npz hold one run: expected one, found %d",
                       w.count);
    if (ok) show(&w);
    if (heed_ctx_status(p->c) == HEED_INTERRUPTED) {
        heed_clear(p->c);
        p->status = HEED_INTERRUPTED;
    }
    for (int i = 0; i < w.count; i++) {
        heed_example_free(&w.looks[i].e);
        heed_text_free(&w.looks[i].how);
        heed_record_free(w.looks[i].record);
        close_run(p, w.looks[i].run);
    }
    heed_text_free(&w.line);
}

const command cmd_influence = {
    .name = "influence",
    .usage = "RUN[,RUN]... [INPUT]",
    .help = "how far the output at each position moves with the input at each position",
    .about =
        "Shows the norm of d y_t / d x_s, with a row for each position t of the output and a\n"
        "column for each position s of the input. This is where information can flow, by any\n"
        "path. x_s is the embedding of a token or patch, and y_t is the input of the output layer\n"
        "at t. A convolution shows a band, a recurrent layer a triangle that fades, and attention\n"
        "a pattern that depends on the content. For a cnn both are cells of its last feature map;\n"
        "for a pair t is a position of the target and s one of the source.\n"
        "\n"
        "INPUT is a text or a picture, or - for one of the standard input, which is also where a\n"
        "text is read from without INPUT.\n"
        "\n"
        "Unlike attention weights, the norm includes all layers, values and residual paths. Like\n"
        "them, it describes one input and small changes only.",
    .examples = "  heed influence runs/book \"The king went home .\"\n"
                "  heed influence runs/lstm,runs/book \"The king went home .\" --png side.png\n"
                "  heed influence runs/flowers rose.jpg --png rose.png\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .args = {1, 2},
    .run = run_influence,
};
