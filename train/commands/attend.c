/* attend.c -- heed attend: the attention of a run on an input. */
#include "commands/attend.h"
#include "cli/files.h"
#include "kinds/image.h"
#include "kinds/inputs.h"
#include "kinds/training.h"

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    CHOOSE_LAYER("What"),
    WORDS("head",
          HEAD_WORDS "; without it the terminal shows the mean, and pictures show every head",
          "What"),
    WORDS("query",
          QUERY_WORDS ": what it looks at, head by head; of a picture cls, ROW,COLUMN or a number",
          "What"),
    {"top", HEED_INT, "5", 1, 1000, NULL, "of a query, and of predictions: how many are listed",
     "What"},
    CHOOSE_STACK("What"),
    WORDS("target", "models of pairs: the target; without it, the one that the model generates",
          "What"),
    {"mass", HEED_REAL, "0", 0, 1, NULL,
     "pictures: only the strongest patches that hold this share; 0: all", "What"},
    SWITCH("convert", "convert pictures of other channels to grey or colour, as the run requires",
           "What"),
    MATTERS_OPTIONS,
    SWITCH("numbers", "print numbers instead of shades", "Output"),
    SWITCH("hide-special",
           "omit [CLS], [SEP] and other special tokens from what is drawn; numbers are unchanged",
           "Output"),
    SWITCH("cells", "--png and --svg of a picture: patch by patch instead of smoothly", "Output"),
    WORDS(
        "png",
        "write a picture: a matrix for each head, or of a --query a row for each; of a picture the "
        "patches over it; of several inputs FILE-2.png and so on",
        "Output"),
    WORDS("svg", "write the same as a vector picture", "Output"),
    WORDS("npz", "write everything for NumPy: weights, raw, scores, q, k, v of each layer",
          "Output"),
    WORDS("html", "write one self-contained page with every view of it", "Output"),
    WORDS("csv", "write the weights as a table, a line each", "Output"),
    SWITCH("json", "print everything as one JSON object", "Output"),
    WORDS("layers",
          "--json, --npz, --csv, --html: only these layers, as 1,3-5; they keep their numbers",
          "Size"),
    WORDS("heads", "the same for heads, also of what is shown; for a single one: --head", "Size"),
    {"qk", HEED_BOOL, "true", 0, 0, NULL, "include q, k, v and scores, not only the weights",
     "Size"},
    SWITCH("force", "write it regardless of its size", "Size"),
    {0}};

/* --layers, --heads and --force also apply to what is shown. */
static const applies uses[] = {{"mass", reads_patches, NULL},
                               {"cells", reads_patches, "png"},
                               {"convert", reads_pictures, NULL},
                               {"target", reads_pairs, NULL},
                               {"discard", NULL, "rollout"},
                               {"fuse", NULL, "rollout"},
                               {"window", reads_patches, "occlude"},
                               {"qk", NULL, "json npz html"},
                               {0}};

typedef struct {
    program *p;
    heed_run *run;
    int *layers, *heads; /* lists of --layers and --heads */
    int layer_count, head_count, done;
} work;

static const char *flag(const work *w, const char *key) {
    return heed_config_text(w->p->flags, key);
}

static bool is_set(const work *w, const char *key) { return heed_config_bool(w->p->flags, key); }

/* ---- the record ---- */

/* Files of numbers hold everything; a drawing needs the weights of one layer. */
static bool is_whole(const work *w) {
    return is_set(w, "json") || *flag(w, "npz") || *flag(w, "csv") || *flag(w, "html");
}

static bool is_kept(const work *w, int layer) {
    bool kept = w->layer_count == 0;
    for (int k = 0; k < w->layer_count; k++) kept |= w->layers[k] == layer;
    return kept;
}

/* The layer that is shown, from 0, among those that --layers keeps. */
static bool choose_layer(const work *w, int *layer) {
    heed_ctx *c = w->p->c;
    int count, kept = 0, found = -1;
    heed_record_block *list = heed_attention_layers(w->run, &count);
    if (!list) return false;
    heed_record_block *blocks = calloc((size_t)count, sizeof *blocks);
    for (int i = 0; blocks && i < count; i++)
        if (is_kept(w, list[i].layer)) blocks[kept++] = list[i];
    if (!blocks)
        heed_fail(c, HEED_FAILED, "no memory for %d layers", count);
    else if (kept == 0)
        heed_fail(c, HEED_USAGE, "--layers %s: expected 1 to %d", flag(w, "layers"),
                  list[count - 1].layer + 1);
    else
        found = chosen_block(c, w->run->model->name, w->p->flags, blocks, kept);
    if (found >= 0) *layer = blocks[found].layer;
    free(blocks);
    free(list);
    return found >= 0;
}

/* Notes in the record what was left out of it. */
static void note_cut(const work *w, heed_record *r) {
    heed_text note = {.c = w->p->c};
    heed_record_cut cut = {.layer_count = w->layer_count,
                           .layers = w->layers,
                           .head_count = w->head_count,
                           .heads = w->heads};
    heed_record_cut_text(&cut, &note);
    if (r && note.s) heed_record_describe(r, (heed_record_texts){.note = note.s});
    heed_text_free(&note);
}

static heed_record *record_of(const work *w, const heed_inspection *s, int layer) {
    heed_capture_args wish = {.layer_count = w->layer_count,
                              .layers = w->layers,
                              .head_count = w->head_count,
                              .heads = w->heads,
                              .lean = !is_set(w, "qk"),
                              .top = (int)heed_config_int(w->p->flags, "top"),
                              .most = is_set(w, "force") ? -1 : 0};
    if (!is_whole(w)) {
        wish.layer_count = 1;
        wish.layers = &layer;
        wish.lean = true;
    }
    heed_record *r = heed_capture(s, &wish);
    note_cut(w, r);
    return r;
}

/* Numbers need more space as text than in memory: about 12 bytes each, and 48 for a line of CSV. */
static bool check_text_size(const work *w, const heed_record *r) {
    enum { LIMIT = 256000000 };
    char size[32], limit[32];
    double weights = 0, all = heed_record_bytes(r) / sizeof(heed_real);
    for (int i = 0; i < r->block_count; i++) {
        const heed_record_block *b = &r->blocks[i];
        weights += (double)b->heads * r->axes[b->queries].count * r->axes[b->keys].count;
    }
    double csv = *flag(w, "csv") ? 48 * weights : 0, json = is_set(w, "json") ? 12 * all : 0;
    double most = csv > json ? csv : json;
    if (most <= LIMIT || is_set(w, "force")) return true;
    return heed_fail(w->p->c, HEED_USAGE,
                     "%s would take about %s: expected at most %s; hint: --layers 1 --heads 1, "
                     "--npz instead, or --force",
                     csv > json ? "--csv" : "--json", heed_format_bytes(size, most),
                     heed_format_bytes(limit, LIMIT));
}

/* ---- files ---- */

static bool wrote(const work *w, const char *path) {
    fprintf(is_set(w, "json") ? stderr : stdout, "wrote %s\n", path);
    return true;
}

static const char *path_of(const work *w, const char *key, char path[1024]) {
    numbered_path(path, 1024, flag(w, key), w->done + 1);
    return path;
}

static bool draw(const work *w, const attend_view *v, bool svg, const char *path) {
    if (w->run->model->grid) return attend_draw_picture(v, is_set(w, "cells"), svg, path);
    return attend_draw(v, svg, path);
}

/* If a part was asked for, the page opens in the view that shows it. */
static const char *view_asked(const work *w) {
    static const char *const keys[] = {"stack", "layer", "head", "query"};
    bool any = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        any |= heed_config_rank(w->p->flags, keys[i]) > HEED_FROM_DEFAULT;
    if (!any) return NULL;
    if (w->run->model->grid) return "picture";
    if (w->run->model->kind == HEED_INPUT_PAIR) return "cross";
    return *flag(w, "query") ? "head" : "matrix";
}

static const char *opening_of(const work *w, const attend_view *v, char text[PAGE_LINK_SIZE]) {
    const heed_record_block *b = v->block;
    char number[16];
    page_link o = {.view = view_asked(w), .stack = b->stack, .layer = b->layer, .query = -1};
    if (o.view) o.head = head_word(b, v->head, number);
    if (*flag(w, "query")) o.query = v->query;
    return page_link_text(&o, text);
}

static heed_page page_of(const work *w, const attend_view *v, char first[PAGE_LINK_SIZE]) {
    return (heed_page){.count = 1,
                       .records = v->record,
                       .opening = opening_of(w, v, first),
                       .no_qk = !is_set(w, "qk"),
                       .force = is_set(w, "force")};
}

/* The page also has the run's curves, if there are any: an imported model has none. */
static bool write_page(const work *w, const attend_view *v, const char *path) {
    char metrics[1024], first[PAGE_LINK_SIZE];
    run_curves k = {0};
    heed_series series[2];
    heed_chart chart;
    const char *run = w->p->argv[0];
    heed_page page = page_of(w, v, first);
    snprintf(metrics, sizeof metrics, "%s/metrics.csv", run);
    bool ok = true;
    if (is_file(metrics)) {
        ok = curves_read(w->p->c, run, &k);
        chart = curves_chart(&k, "loss over training", series);
        page.curves = &chart;
    }
    ok = ok && heed_page_write(w->p->c, &page, path);
    curves_free(&k);
    return ok;
}

/* Reports that the picture lacks the measures that were asked for. */
static void tell_left_out(const work *w, const attend_view *v) {
    const char *key = *flag(w, "png") ? "png" : "svg";
    char note[200];
    if (!*flag(w, key) || !maps_need_query(v)) return;
    snprintf(note, sizeof note,
             "--%s draws the attention of all tokens without other measures, which are drawn for "
             "one token; hint: --query 1",
             key);
    print_note("", note);
}

/* Files that may be refused for their size come first, so that no others are written then. */
static bool write_files(const work *w, const attend_view *v) {
    heed_ctx *c = w->p->c;
    char path[1024], first[PAGE_LINK_SIZE];
    const heed_record *r = v->record;
    heed_page page = page_of(w, v, first);
    if (*flag(w, "html") && !page_fits(c, &page, path_of(w, "html", path))) return false;
    tell_left_out(w, v);
    if (*flag(w, "svg") && !draw(w, v, true, path_of(w, "svg", path))) return false;
    if (*flag(w, "png") && !draw(w, v, false, path_of(w, "png", path))) return false;
    if (*flag(w, "npz") && !heed_record_npz(c, r, path_of(w, "npz", path))) return false;
    if (*flag(w, "csv") && !heed_record_csv(c, r, path_of(w, "csv", path))) return false;
    return !*flag(w, "html") || write_page(w, v, path_of(w, "html", path));
}

static void tell_files(const work *w) {
    static const char *const keys[] = {"png", "svg", "npz", "csv", "html"};
    char path[1024];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (*flag(w, keys[i])) wrote(w, path_of(w, keys[i], path));
}

/* ---- one input ---- */

static bool print_json_record(const work *w, const heed_record *r) {
    heed_text text = {.c = w->p->c};
    bool ok = heed_record_json(r, true, &text) && heed_text_put(&text, "\n", 1);
    if (ok) print_text(&text);
    heed_text_free(&text);
    return ok;
}

static bool show(work *w, const heed_inspection *s) {
    attend_view v;
    int layer;
    heed_record *r = choose_layer(w, &layer) ? record_of(w, s, layer) : NULL;
    bool ok = r && check_text_size(w, r) && view_open(&v, w->p, w->run, r) &&
              maps_add(&v, s, r, is_whole(w)) && write_files(w, &v);
    if (ok && is_set(w, "json"))
        ok = print_json_record(w, r);
    else if (ok) {
        if (w->done) putchar('\n');
        ok = attend_print(&v);
    }
    if (ok) tell_files(w);
    heed_record_free(r);
    w->done++;
    return ok;
}

static bool take_text(program *p, void *user, const char *text, size_t n) {
    (void)p;
    work *w = user;
    heed_inspection s;
    const char *target = *flag(w, "target") ? flag(w, "target") : NULL;
    bool ok = inspect_text(&s, w->run, text, n, target) && show(w, &s);
    heed_inspection_free(&s);
    return ok;
}

/* path "-": reads a picture file from standard input. */
static bool read_picture(const work *w, const char *path, heed_picture *out) {
    char why[HEED_WHY];
    heed_text bytes = {.c = w->p->c};
    heed_status status = HEED_OK;
    if (strcmp(path, "-") != 0)
        status = heed_picture_read(path, out, why);
    else if (read_stdin(w->p->c, &bytes))
        status = heed_picture_decode(bytes.s ? bytes.s : "", bytes.n, NULL, out, why);
    heed_text_free(&bytes);
    if (status != HEED_OK) heed_fail(w->p->c, status, "%s %s", path, why);
    return heed_ctx_status(w->p->c) == HEED_OK;
}

static void take_picture(work *w, const char *path) {
    heed_picture picture = {0};
    heed_inspection s = {0};
    if (read_picture(w, path, &picture) &&
        heed_inspection_picture(&s, w->run, &picture, path, is_set(w, "convert")))
        show(w, &s);
    heed_inspection_free(&s);
    heed_picture_free(&picture);
    program_complain(w->p);
}

static void take_pictures(work *w) {
    if (w->p->argc == 1)
        heed_fail(w->p->c, HEED_USAGE,
                  "missing picture: the run takes pictures; hint: `attend %s FILE.png`",
                  w->p->argv[0]);
    for (int i = 1; i < w->p->argc; i++) take_picture(w, w->p->argv[i]);
}

/* ---- heed attend ---- */

/* An empty target is probably an unset shell variable, not a request for the model's own target. */
static bool check_target(const work *w) {
    bool given = heed_config_rank(w->p->flags, "target") > HEED_FROM_DEFAULT;
    return !given || *flag(w, "target") ||
           heed_fail(w->p->c, HEED_USAGE,
                     "--target is empty: expected a text; without it, the model's own is taken");
}

static void attend(program *p) {
    int count;
    work w = {.p = p, .run = open_run(p, p->argv[0])};
    if (!w.run || !check_target(&w)) {
        heed_run_close(w.run);
        return;
    }
    heed_record_block *list = heed_attention_layers(w.run, &count);
    w.layers = list ? number_list(p->c, "--layers", flag(&w, "layers"), &w.layer_count) : NULL;
    w.heads = w.layers ? number_list(p->c, "--heads", flag(&w, "heads"), &w.head_count) : NULL;
    if (w.heads && reads_pictures(w.run->model))
        take_pictures(&w);
    else if (w.heads)
        each_input(p, &w, take_text, false);
    free(list);
    free(w.layers);
    free(w.heads);
    heed_run_close(w.run);
}

const command cmd_attend = {
    .name = "attend",
    .usage = "RUN [INPUT]...",
    .help = "show what a run attends to on an input",
    .about =
        "Draws the attention weights of a layer: a row for each token, over the tokens that it\n"
        "attends to; of a vit, the patches over the picture. INPUT is a text, a source, or a\n"
        "picture's file (- for its bytes on the standard input); without INPUT, or for -, each "
        "line\n"
        "of the standard input is a text. The weights of a row sum to 1. Without --head the "
        "terminal\n"
        "shows the mean of the heads, which no head computes: look at the heads, too. Tokens,\n"
        "layers and heads count from 1, in files and links as on the screen; NumPy's arrays from\n"
        "0. Pictures are dark where the weight is large, a terminal is bright there.",
    .examples =
        "  heed attend runs/book \"The king went to the [MASK] .\"\n"
        "  heed attend runs/book \"The king went home .\" --query king --head 2\n"
        "  heed attend runs/dates \"March 5, 1999\" --png alignment.png\n"
        "  heed attend runs/flowers rose.jpg --mass 0.6 --png rose.png\n"
        "  heed attend runs/book \"The king went home .\" --npz king.npz --html king.html\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .numbers = true,
    .min = 1,
    .max = -1,
    .run = attend,
};
