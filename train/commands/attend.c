/* attend.c -- heed attend: the attention of a run on an input. */
#include "commands/attend.h"
#include "cli/os_files.h"
#include "kinds/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    CHOOSE_FOCUS("What"),
    WORDS("head",
          HEAD_WORDS "; without it the terminal shows the most concentrated head, and pictures "
                     "show every head",
          "What"),
    WORDS("query",
          QUERY_WORDS ": what it looks at, head by head; several with commas between them: their "
                      "mean; of a picture cls, ROW,COLUMN or a number",
          "What"),
    WORDS("key",
          "of texts: one token, by its text or its number: which tokens look at it, head by head; "
          "several with commas between them: their sum",
          "What"),
    SWITCH("words",
           "the pieces of a word as one: attention to it is their sum, from it their mean; also in "
           "files; not with --occlude or --gradient, which are of tokens",
           "What"),
    COUNT("top", "5", 1, 1000, "of a token, and of predictions: how many are listed", "What"),
    CHOOSE_STACK("What"),
    WORDS("target",
          "models of pairs and captions: the target; without it, the one that the model generates",
          "What"),
    NUMBER("mass", "0", 0, 1, "pictures: only the strongest patches that hold this share; 0: all",
           "What"),
    CONVERT("What"),
    SWITCH("rollout", "attention of all layers, followed back to the input", "Whether it matters"),
    SWITCH("occlude", "by how much the prediction falls when a token or a patch is hidden",
           "Whether it matters"),
    SWITCH("gradient", "attention times the gradient of the prediction", "Whether it matters"),
    CHOICE("fuse", "mean", "mean|max", "--rollout: how the heads of a layer become one",
           "Whether it matters"),
    NUMBER("discard", "0", 0, 0.99,
           "--rollout: share of each row's weakest weights that is dropped first",
           "Whether it matters"),
    COUNT("window", "1", 1, 4096,
          "--occlude: side, in patches, of the square of a picture that is hidden at a time",
          "Whether it matters"),
    SWITCH("numbers", "print numbers instead of shades", "Output"),
    SWITCH("hide-special",
           "omit [CLS], [SEP] and other special tokens from what is drawn; numbers are unchanged",
           "Output"),
    SWITCH("cells", "--png and --svg of a picture: patch by patch instead of smoothly", "Output"),
    WORDS(
        "png",
        "write a picture: a matrix for each head, with --query a row for each head; for a picture, "
        "the weights over it. Further texts go to FILE-2.png and so on, several pictures to "
        "FILE-NAME.png",
        "Output"),
    AS_SVG("Output"),
    WORDS("npz", "write everything for NumPy: weights, raw, scores, q, k, v of each layer",
          "Output"),
    WORDS("html",
          "write one self-contained page with every view; several texts are compared on it, and of "
          "several pictures each has its own",
          "Output"),
    WORDS("csv", "write the weights as a table, a line each", "Output"),
    SWITCH("json", "print everything as one JSON object", "Output"),
    WORDS("layers",
          "--json, --npz, --csv, --html: only these layers, as 1,3-5; they keep their numbers",
          "Size"),
    WORDS("heads", "the same for heads, also of what is shown; for a single one: --head", "Size"),
    {"qk", HEED_OPTION_BOOL, "true", 0, 0, NULL, "include q, k, v and scores, not only the weights",
     "Size"},
    SWITCH("force", "write it regardless of its size", "Size"),
    {0}};

static bool reads_words(const heed_model *m) { return !reads_pictures(m); }

/* --layers, --heads and --force also apply to what is shown. */
static const applies uses[] = {{"mass", sees_patches, NULL},
                               {"cells", sees_patches, "png"},
                               {"convert", sees_pictures, NULL},
                               {"target", writes_targets, NULL},
                               {"key", sees_texts, NULL},
                               {"discard", NULL, "rollout"},
                               {"words", reads_words, NULL},
                               {"fuse", NULL, "rollout"},
                               {"window", sees_patches, "occlude"},
                               {"qk", NULL, "json npz html"},
                               {0}};

enum { RUNS = 8 };

typedef struct {
    heed_record *record;
    attend_view view;
    char name[sizeof(picture_names){0}.name]; /* of its files */
} input;

typedef struct {
    program *p;
    heed_run *runs[RUNS], *run; /* run: the one that reads the input */
    int run_count;
    int *layers, *heads; /* lists of --layers and --heads */
    int layer_count, head_count, taken, done;
    picture_names names; /* of outputs */
    input *list;         /* those taken that are not shown yet: they share their scales */
    int count;
    double bytes;  /* of their records */
    char over[40]; /* in what their heads were compared: " over both inputs" */
} work;

/* ---- the record ---- */

/* Files of numbers hold everything; a drawing needs the weights of one layer. */
static bool is_whole(const work *w) {
    return flag_on(w->p, "json") || *flag_text(w->p, "npz") || *flag_text(w->p, "csv") ||
           *flag_text(w->p, "html");
}

/* Finds the layer that is shown, from 0, among those that --layers keeps, and its stack. */
static bool choose_layer(const work *w, int *layer, heed_stack *stack) {
    int count, kept = 0;
    heed_record_block *list = heed_attention_layers(w->run, &count);
    if (!list) return false;
    for (int i = 0; i < count; i++) {
        bool keep = w->layer_count == 0;
        for (int k = 0; k < w->layer_count; k++) keep |= w->layers[k] == list[i].layer;
        if (keep) list[kept++] = list[i];
    }
    int found = chosen_block(w->p->c, w->run->model->name, w->p->flags, list, kept);
    if (found >= 0) *layer = list[found].layer, *stack = list[found].stack;
    free(list);
    return found >= 0;
}

static heed_record *record_of(const work *w, const heed_example *e, int layer, heed_stack stack) {
    heed_capture_args wish = {.layer_count = w->layer_count,
                              .layers = w->layers,
                              .head_count = w->head_count,
                              .heads = w->heads,
                              .lean = !flag_on(w->p, "qk"),
                              .top = flag_int(w->p, "top"),
                              .most = flag_on(w->p, "force") ? -1 : 0};
    if (!is_whole(w) || flag_on(w->p, "words")) wish.lean = true;
    if (!is_whole(w)) wish.stack = &stack;
    if (!is_whole(w) && !compares_layers(w->run, e, w->p->flags, stack)) {
        wish.layer_count = 1;
        wish.layers = &layer;
    }
    heed_record *r = heed_capture(w->run, e, &wish);
    heed_text note = {.c = w->p->c}; /* on what was left out */
    heed_record_cut cut = {.layer_count = w->layer_count,
                           .layers = w->layers,
                           .head_count = w->head_count,
                           .heads = w->heads};
    heed_record_cut_text(&cut, &note);
    heed_text model = {.c = w->p->c}; /* several are told apart */
    if (r && w->run_count > 1) heed_text_add(&model, "%s: %s", w->run->dir, r->model);
    if (r)
        heed_record_describe(
            r, (heed_record_texts){.note = note.s, .model = model.s, .run = w->run->dir});
    heed_text_free(&model);
    heed_text_free(&note);
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
    double csv = *flag_text(w->p, "csv") ? 48 * weights : 0,
           json = flag_on(w->p, "json") ? 12 * all : 0;
    double most = csv > json ? csv : json;
    if (most <= LIMIT || flag_on(w->p, "force")) return true;
    return heed_fail(w->p->c, HEED_USAGE,
                     "%s would take about %s: expected at most %s; hint: --layers 1 --heads 1, "
                     "--npz instead, or --force",
                     csv > json ? "--csv" : "--json", heed_format_bytes(size, most),
                     heed_format_bytes(limit, LIMIT));
}

/* ---- what is shown ---- */

static bool has_patches(const heed_record_view *v) {
    return v->record->axes[v->block->keys].rows > 0;
}

/* Shows that head, unless the user chose another. */
static void set_focus(heed_record_view *v, heed_focus focus, const char *over) {
    v->focus = focus;
    v->over = over;
    v->block = &v->record->blocks[focus.block];
    if (!v->chosen && v->query < 0) v->head = focus.head;
}

/* Compares the heads, of the layer that --layer chooses or of all in its stack. */
static bool focus(const program *p, const heed_record *const *records, const int *queries,
                  int count, const heed_record_view *v, heed_focus *out) {
    int layer = *flag_text(p, "layer") ? v->block->layer : -1;
    return !has_patches(v) &&
           heed_records_focus(records, queries, count, v->block->stack, layer, out);
}

/* What is said of a text for which a masked model predicts nothing. */
static const char *without_mask(const heed_run *r) {
    if (!fills_masks(r->model)) return NULL;
    if (r->tokenizer) return "the text has no [MASK]; hint: write [MASK] for the word to guess";
    return "the run has no tokenizer, so that no id is known as [MASK]; hint: `import` the model's "
           "folder with its tokenizer.json or vocab.txt";
}

/* Reads --query and --key. */
static bool choose_tokens(const program *p, heed_record_view *v) {
    static const char *const others[] = {"query", "rollout", "occlude", "gradient"};
    const heed_record_axis *a = &v->record->axes[v->block->queries],
                           *keys = &v->record->axes[v->block->keys];
    int most = keys->rows ? 1 : HEED_SEVERAL;
    int of_key = chosen_key(p->c, flag_text(p, "key"), a, keys, most, v->several);
    v->count =
        of_key ? of_key : chosen_query(p->c, flag_text(p, "query"), a, keys, most, v->several);
    if (v->count < 0) return false;
    if (v->count) *(of_key ? &v->key : &v->query) = v->several[0];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (flag_given(p, others[i]) && (of_key || (i && v->count > 1)))
            return heed_fail(p->c, HEED_USAGE, "--%s and --%s: expected one of them",
                             of_key ? "key" : "query of several tokens", others[i]);
    return true;
}

/* Reads the flags --stack, --layer, --head and --query, and their like. False: an error. */
static bool view_open(attend_view *a, program *p, const heed_run *r, const heed_record *record) {
    heed_record_view *v = &a->v;
    heed_focus found;
    const char *head = flag_text(p, "head");
    int count,
        block = chosen_block(p->c, r->model->name, p->flags, record->blocks, record->block_count);
    if (block < 0) return false;
    *a = (attend_view){.p = p, .unmasked = without_mask(r), .top = flag_int(p, "top")};
    *v = (heed_record_view){.record = record,
                            .block = &record->blocks[block],
                            .head = HEED_HEAD_MEAN,
                            .chosen = *head,
                            .query = -1,
                            .key = -1,
                            .numbers = flag_on(p, "numbers"),
                            .hide = flag_on(p, "hide-special"),
                            .cells = flag_on(p, "cells"),
                            .mass = heed_config_real(p->flags, "mass")};
    heed_record_block *list = heed_attention_layers(r, &count);
    for (int i = 0; list && i < count; i++)
        if (list[i].stack == v->block->stack && list[i].layer >= v->layers)
            v->layers = list[i].layer + 1;
    free(list);
    if (!choose_tokens(p, v)) return false;
    if (focus(p, &record, &v->query, 1, v, &found)) set_focus(v, found, NULL);
    if (v->chosen && !chosen_head(p->c, head, v->block, &v->head)) return false;
    const heed_record_axis *a0 = &record->axes[v->block->queries];
    if (v->query < 0 && a0->rows && a0->first) v->query = 0; /* of a picture, [CLS] */
    return true;
}

/* ---- whether attention matters: other maps ---- */

/* Occlusion and gradient need a prediction at the query that is shown, unless a question is about
 * the entire input or none is on this axis. */
static bool is_predicted(const attend_view *a, const heed_example *e) {
    const heed_record_view *v = &a->v;
    bool occlude = flag_on(a->p, "occlude"), any = false;
    if (v->query < 0 || !(occlude || flag_on(a->p, "gradient"))) return true;
    for (int i = 0; i < e->question_count; i++) {
        const heed_example_question *q = &e->questions[i];
        if (q->axis != v->block->queries) continue;
        if (q->query < 0 || q->query == v->query) return true;
        any = true;
    }
    if (!any) return true;
    const heed_example_question *last = &e->questions[e->question_count - 1];
    const heed_record_axis *axis = &v->record->axes[v->block->queries];
    char here[HEED_WORDS], there[HEED_WORDS];
    return heed_fail(a->p->c, HEED_USAGE,
                     "--query %s: nothing is predicted at %s: %s is of a prediction, as at %s; "
                     "hint: --query %d",
                     flag_text(a->p, "query"), heed_place_words(axis, v->query, here),
                     occlude ? "--occlude" : "--gradient",
                     heed_place_words(axis, last->query, there), last->query + 1);
}

/* The key at which a row of a map is the largest by its size, as *most; -1: the map has no values
 * there. */
static int largest_at(const heed_record *r, const heed_record_map *m, int query, double *most) {
    int keys = r->axes[m->keys].count, best = -1;
    const heed_real *row = m->values + (size_t)(query < 0 ? 0 : query) * (size_t)keys;
    for (int i = 0; i < keys; i++)
        if (isfinite((double)row[i]) && (best < 0 || fabs((double)row[i]) > fabs(*most)))
            best = i, *most = (double)row[i];
    return best;
}

/* Notes in the record, which the terminal, pictures and pages show, where the probability is so
 * near 1 that it hardly changes whatever is hidden: occlusion then tells nothing apart. */
static bool note_saturated(attend_view *a, heed_record *r) {
    const heed_record_view *v = &a->v;
    double p = 0, fall = 0, odds = 0;
    int query = heed_view_query(v), key = -1;
    char place[HEED_WORDS], at[HEED_WORDS + 4] = "";
    for (int i = 0; i < r->guess_count && p <= 0; i++) {
        const heed_record_guess *g = &r->guesses[i];
        bool here = g->query < 0 || (g->axis == v->block->queries && g->query == query);
        if (here && g->count) p = (double)g->p[0];
    }
    for (int i = 0; i < r->map_count; i++) {
        const heed_record_map *m = &r->maps[i];
        if (m->queries != v->block->queries || m->keys != v->block->keys) continue;
        if (strcmp(m->name, "occlusion") == 0) largest_at(r, m, query, &fall);
        if (strcmp(m->name, "occlusion, log-odds") == 0) key = largest_at(r, m, query, &odds);
    }
    a->saturated = key >= 0 && p > 0.99 && fabs(fall) <= HEED_LEAST_OCCLUSION &&
                   (v->block->stack != HEED_CROSS || v->query >= 0);
    if (!a->saturated) return true;
    heed_text note = {.c = a->p->c};
    if (r->note && *r->note) heed_text_add(&note, "%s ", r->note);
    if (r->guess_count > 1 && query >= 0)
        snprintf(at, sizeof at, " at %s",
                 heed_place_words(&r->axes[v->block->queries], query, place));
    heed_text_add(&note,
                  "The probability%s is so near 1 that it changes by less than %.4f whatever is "
                  "hidden: occlusion says little here. The log-odds, ln p / (1 - p), change the "
                  "most if this is hidden: %s (by %+.2f).",
                  at, ceil(fabs(fall) * 1e4 + 1e-6) / 1e4,
                  heed_place_words(&r->axes[v->block->keys], key, place), -odds);
    bool ok = heed_record_describe(r, (heed_record_texts){.note = note.s});
    heed_text_free(&note);
    return ok;
}

/* Adds the maps that the flags ask for to the record. whole: for all questions and by layer, for
 * files; otherwise only for the question that is shown: that at the query, or the last one. For a
 * pair whose matrix is shown, the gradient has a row for each token of the target. */
static bool maps_add(attend_view *a, const heed_run *r, const heed_example *e, heed_record *record,
                     bool whole) {
    program *p = a->p;
    inspect_progress hidden = {p, e->x ? "hidden patch" : "hidden token"}, traced = {p, "gradient"};
    heed_rollout_args rollout = {.max = strcmp(flag_text(p, "fuse"), "max") == 0,
                                 .discard = heed_config_real(p->flags, "discard")};
    heed_occlusion_args occlusion = {
        .window = flag_int(p, "window"), .progress = inspect_advance, .user = &hidden};
    heed_gradient_args gradient = {.question = e->question_count - 1,
                                   .only = !whole && !(e->read && a->v.query < 0),
                                   .by_head = whole,
                                   .progress = inspect_advance,
                                   .user = &traced};
    for (int i = 0; a->v.query >= 0 && i < e->question_count; i++)
        if (e->questions[i].axis == a->v.block->queries && e->questions[i].query == a->v.query)
            gradient.question = i;
    bool ok = is_predicted(a, e);
    if (flag_on(p, "rollout")) ok = ok && heed_rollout_add(r, e, &rollout, record);
    if (flag_on(p, "occlude")) ok = ok && heed_occlusion_add(r, e, &occlusion, record);
    if (flag_on(p, "gradient")) ok = ok && heed_gradient_add(r, e, &gradient, record);
    if (flag_on(p, "occlude") || flag_on(p, "gradient")) eval_loop_progress(p, "", 1, 1);
    return ok && note_saturated(a, record);
}

/* ---- files ---- */

static const char *path_of(const work *w, const input *in, const char *key, char path[1024]) {
    named_path(path, 1024, flag_text(w->p, key), in->name);
    return path;
}

/* The page opens at what is shown; if a part or a measure was asked for, in the view that shows it.
 * The words of a caption are read over their picture. */
static const char *opening_of(const work *w, const heed_record_view *v, char text[PAGE_LINK_SIZE]) {
    const program *p = w->p;
    const heed_model *m = w->run->model;
    char number[16];
    bool query = *flag_text(p, "query"), asked = flag_given(p, "stack") || flag_given(p, "layer") ||
                                                 flag_given(p, "head") || flag_given(p, "query");
    page_link o = {.stack = v->block->stack, .layer = v->block->layer, .query = -1};
    bool grid = v->record->axes[v->block->keys].rows > 0;
    bool words = grid && v->block->queries != v->block->keys;
    bool measured = v->record->map_count > 0;
    if (asked || words || measured) {
        bool pair = reads_pairs(m);
        o.view = measured ? "compare" : grid ? "picture" : pair ? "cross" : "head";
        int head = v->chosen || !v->focus.count ? v->head : v->focus.head;
        if (v->block->heads > 1) o.head = head_word(v->block, head, number);
    } else if (v->over && v->block->heads > 1)
        o.head = head_word(v->block, v->focus.head, number);
    if (query) o.query = v->query;
    return page_link_text(&o, text);
}

/* Reports that the picture lacks measures that were asked for: those of other tokens than the
 * layer, "rollout (source over source)", or of a pair without a query all. */
static void report_omitted(const work *w, const heed_record_view *v) {
    const char *key = *flag_text(w->p, "png") ? "png" : "svg";
    const heed_record *r = v->record;
    bool asks = false;
    heed_text omitted = {.c = w->p->c}, note = {.c = w->p->c};
    for (int i = 0; i < r->map_count && !r->axes[v->block->keys].rows; i++) {
        const heed_record_map *m = &r->maps[i];
        if (!heed_map_is_main(m) || heed_view_shows(v, m)) continue;
        asks |= m->queries == v->block->queries && m->keys == v->block->keys;
        heed_text_add(&omitted, "%s%s (%s over %s)", omitted.n ? "; " : "", m->name,
                      r->axes[m->queries].name, r->axes[m->keys].name);
    }
    if (asks)
        heed_text_add(&note,
                      "--%s draws the attention of all tokens without other measures, which are "
                      "drawn for one token; hint: --query 1",
                      key);
    else if (omitted.n)
        heed_text_add(&note,
                      "--%s draws the attention and what is of the same tokens; not drawn: %s", key,
                      omitted.s);
    if (note.n && *flag_text(w->p, key)) print_note("", note.s);
    heed_text_free(&omitted);
    heed_text_free(&note);
}

static void print_written(const work *w, const input *in, const char *key) {
    char path[1024];
    if (*flag_text(w->p, key))
        fprintf(flag_on(w->p, "json") ? stderr : stdout, "wrote %s\n", path_of(w, in, key, path));
}

/* Writes the page of these inputs, or only checks that its size is allowed. */
static bool write_page(const work *w, const input *list, int count, bool check) {
    char path[1024], opening[PAGE_LINK_SIZE];
    heed_ctx *c = w->p->c;
    page_curves k = {0};
    input one = *list;
    if (!sees_pictures(w->run->model)) *one.name = 0; /* all texts are on one page */
    path_of(w, &one, "html", path);
    heed_record *records = allocate(c, (size_t)count, sizeof *records, "records");
    for (int i = 0; records && i < count; i++) records[i] = *list[i].record;
    heed_page page = {.count = count,
                      .records = records,
                      .opening = opening_of(w, &list->view.v, opening),
                      .no_qk = !flag_on(w->p, "qk"),
                      .force = flag_on(w->p, "force")};
    bool ok = records != NULL;
    if (check)
        ok = ok && page_fits(c, &page, path);
    else {
        ok = ok && (w->run_count > 1 || page_add_curves(c, &page, w->run->dir, &k)) &&
             heed_page_write(c, &page, path);
        if (ok) print_written(w, &one, "html");
    }
    curves_free(&k.curves);
    free(records);
    return ok;
}

static bool write_files(const work *w, const input *in) {
    heed_ctx *c = w->p->c;
    char path[1024];
    const heed_record_view *v = &in->view.v;
    bool ok = true;
    bool alone = w->run_count == 1; /* several runs are in one picture: compare */
    if (alone) report_omitted(w, v);
    if (alone && *flag_text(w->p, "svg"))
        ok = heed_view_save(c, v, HEED_SVG, path_of(w, in, "svg", path));
    if (alone && *flag_text(w->p, "png"))
        ok = ok && heed_view_save(c, v, HEED_PNG, path_of(w, in, "png", path));
    if (*flag_text(w->p, "npz"))
        ok = ok && heed_record_npz(c, in->record, path_of(w, in, "npz", path));
    if (*flag_text(w->p, "csv"))
        ok = ok && heed_record_csv(c, in->record, path_of(w, in, "csv", path));
    return ok;
}

/* ---- inputs ---- */

/* A page that may be refused for its size is checked first, so that no other files are written
 * then. Each picture has its own. */
static bool show(work *w, const input *in) {
    static const char *const keys[] = {"png", "svg", "npz", "csv"};
    bool page = *flag_text(w->p, "html") && sees_pictures(w->run->model);
    bool ok = (!page || write_page(w, in, 1, true)) && write_files(w, in);
    if (ok && flag_on(w->p, "json"))
        ok = print_record(w->p->c, in->record);
    else if (ok) {
        if (w->done) putchar('\n');
        ok = attend_print(&in->view);
    }
    for (size_t i = 0; ok && w->run_count == 1 && i < sizeof keys / sizeof *keys; i++)
        print_written(w, in, keys[i]);
    w->done++;
    return ok && (!page || write_page(w, in, 1, false));
}

/* Shows the same head of all inputs, on one scale. */
static bool align(work *w) {
    heed_ctx *c = w->p->c;
    const heed_record **records = allocate(c, (size_t)w->count, sizeof *records, "records");
    int *queries = allocate(c, (size_t)w->count, sizeof *queries, "records");
    heed_focus found;
    double end = 0;
    for (int i = 0; records && queries && i < w->count; i++)
        records[i] = w->list[i].record, queries[i] = w->list[i].view.v.query;
    bool ok = records && queries, several = w->count > 1;
    if (ok && several && focus(w->p, records, queries, w->count, &w->list->view.v, &found))
        for (int i = 0; i < w->count; i++) set_focus(&w->list[i].view.v, found, w->over);
    snprintf(w->over, sizeof w->over,
             w->run_count > 1 ? " over all runs"
             : w->count == 2  ? " over both inputs"
                              : " over all %d inputs",
             w->count);
    for (int i = 0; i < w->count; i++) {
        const heed_record_view *v = &w->list[i].view.v;
        if (!has_patches(v)) end = fmax(end, heed_record_scale(v->record, v->block));
    }
    for (int i = 0; i < w->count; i++) w->list[i].view.v.end = end;
    free((void *)records);
    free(queries);
    return ok;
}

/* ---- several runs ---- */

static bool has_same_labels(const char *const *a, const char *const *b, int n) {
    for (int i = 0; i < n; i++)
        if (strcmp(a[i], b[i]) != 0) return false;
    return true;
}

/* Turns the values of m, of the second of two equal maps, into those less the first's. */
static void subtract(const heed_heatmap *first, heed_real *values, heed_heatmap *m) {
    heed_real most = 0;
    for (int i = 0; i < m->rows * m->cols; i++) {
        values[i] -= first->values[i];
        most = (heed_real)fmax((double)most, fabs((double)values[i]));
    }
    m->hi = most;
    m->lo = -most;
    m->uniform = 0;
    m->unit = "difference of weights";
    m->numbers = true;
}

static bool show_weights(const attend_view *a, heed_view_map *out) {
    const heed_record_view *v = &a->v;
    return v->query >= 0 || v->key >= 0 ? heed_view_rows(a->p->c, v, true, false, out)
                                        : heed_view_matrix(a->p->c, v, v->head, out);
}

/* Shows an input in all runs, which are adjacent in the list, beside each other: on the terminal
 * the weights of each less those of the first, and as a picture all of them beside their
 * differences. */
static bool compare(const work *w, const input *list) {
    static const char *const keys[] = {"png", "svg"};
    heed_ctx *c = w->p->c;
    heed_heatmap maps[2 * RUNS];
    heed_view_map *all = allocate(c, 2 * RUNS, sizeof *all, "runs");
    char names[2 * RUNS][200], words[HEED_WORDS], path[1024];
    int count = 0;
    bool ok = all != NULL, print = !flag_on(w->p, "json");
    for (int i = 0; ok && i < w->run_count; i++) {
        const attend_view *a = &list[i].view;
        const char *run = a->v.record->run, *other = list->view.v.record->run;
        heed_view_map *m = &all[i], *less = &all[RUNS + i];
        ok = show_weights(a, m) && (i == 0 || show_weights(a, less));
        if (!ok) break;
        snprintf(names[count], sizeof *names, "%.150s", run);
        maps[count++] = m->map;
        if (i == 0) continue;
        bool same = m->map.rows == all->map.rows && m->map.cols == all->map.cols &&
                    has_same_labels(m->map.row_labels, all->map.row_labels, m->map.rows) &&
                    has_same_labels(m->map.col_labels, all->map.col_labels, m->map.cols);
        if (!same && print)
            print_wrapped(w->p, "%s has other tokens than %s: their weights have no difference.",
                          run, other);
        if (!same) continue;
        snprintf(names[count], sizeof *names, "%.90s less %.90s", run, other);
        less->map.title = names[count];
        subtract(&all->map, less->values, &less->map);
        if (print) putchar('\n');
        ok = !print || print_heatmap(c, less->map);
        maps[count] = less->map;
        maps[count++].numbers = a->v.numbers;
    }
    heed_text note = {.c = c};
    const heed_record_view *v = &list->view.v;
    int head = v->query >= 0 || v->key >= 0 ? HEED_HEAD_MEAN : v->head;
    heed_text_add(&note, "Input: %s; %s. %s.", v->record->title, heed_view_words(v, head, words),
                  NO_EXPLANATION);
    for (int i = 0; i < count; i++) maps[i].title = names[i], maps[i].note = note.s;
    for (int i = 0; ok && i < 2; i++) {
        if (!*flag_text(w->p, keys[i])) continue;
        ok = heed_heatmaps_save(c, maps, count, i ? HEED_SVG : HEED_PNG,
                                path_of(w, list, keys[i], path));
        if (ok) print_written(w, list, keys[i]);
    }
    heed_text_free(&note);
    for (int i = 0; all && i < 2 * RUNS; i++) heed_view_map_free(&all[i]);
    free(all);
    return ok;
}

/* Shows the inputs taken so far, several texts or one picture, each head on one scale. */
static void show_all(work *w) {
    bool page = w->count && *flag_text(w->p, "html") && !sees_pictures(w->run->model);
    bool ok = align(w);
    if (ok && (!page || write_page(w, w->list, w->count, true))) {
        for (int i = 0; i < w->count; i++) {
            if (!show(w, &w->list[i])) program_complain(w->p);
            int last = i + 1 - w->run_count;
            if (w->run_count > 1 && (i + 1) % w->run_count == 0 && !compare(w, &w->list[last]))
                program_complain(w->p);
        }
        if (page) write_page(w, w->list, w->count, false);
    }
    program_complain(w->p);
    for (int i = 0; i < w->count; i++) heed_record_free(w->list[i].record);
    w->count = 0;
    w->bytes = 0;
}

/* Adds an input; it then belongs to the list. */
static bool append(work *w, const input *in) {
    input *more = realloc(w->list, ((size_t)w->count + 1) * sizeof *more);
    if (!more) return heed_fail(w->p->c, HEED_FAILED, "no memory for input %d", w->count + 1);
    w->list = more;
    w->list[w->count++] = *in;
    w->bytes += heed_record_bytes(in->record);
    return true;
}

/* Whether those taken are shown before the next one is read: each picture has its own scale,
 * nothing is drawn, somebody types them, or they are too many, and the next ones then share other
 * scales. */
static bool is_due(const work *w) {
    static const double most = 256e6;
    if (sees_pictures(w->run->model)) return true;
    bool html = *flag_text(w->p, "html");
    bool drawn = !flag_on(w->p, "json") || *flag_text(w->p, "png") || *flag_text(w->p, "svg");
    bool typed = w->p->line > 0 && is_terminal(stdin);
    if (!html && drawn && !typed && w->bytes > most)
        print_note("", "the inputs up to here have one head and scale, the next ones another");
    return !html && (!drawn || typed || w->bytes > most);
}

static bool take(work *w, const heed_example *e) {
    input in = {0};
    int layer;
    heed_stack stack;
    heed_record *r = choose_layer(w, &layer, &stack) ? record_of(w, e, layer, stack) : NULL;
    snprintf(in.name, sizeof in.name, "%s", w->names.name);
    w->taken++;
    bool words = flag_on(w->p, "words"), ok = r && check_text_size(w, r);
    if (ok && words) { /* whose tokens are chosen as words */
        heed_record *tokens = r;
        attend_view all = {.p = w->p, .v = heed_record_view_of(r, -1)};
        r = maps_add(&all, w->run, e, r, is_whole(w)) ? heed_record_words(w->p->c, r) : NULL;
        heed_record_free(tokens);
    }
    in.record = r;
    ok = ok && r && view_open(&in.view, w->p, w->run, r) &&
         (words || maps_add(&in.view, w->run, e, r, is_whole(w))) && append(w, &in);
    if (!ok) heed_record_free(r);
    if (ok && w->taken % w->run_count == 0 && is_due(w)) show_all(w);
    return ok;
}

/* Of a text, or of a picture, by each run. */
static bool take_one(program *p, void *user, const given_input *in) {
    work *w = user;
    const char *target = *flag_text(p, "target") ? flag_text(p, "target") : NULL;
    bool ok = !in->picture || name_outputs(p, &w->names, in->name);
    if (!in->picture) number_name(w->names.name, w->taken / w->run_count);
    for (int i = 0; ok && i < w->run_count; i++) {
        heed_example e = {0};
        w->run = w->runs[i];
        ok = example_of_given(w->run, in, target, &e) && take(w, &e);
        heed_example_free(&e);
    }
    return ok;
}

/* ---- heed attend ---- */

/* Of a pair, a second text is easily taken for the target of the first. */
static void note_second(const program *p, const heed_model *m) {
    if (reads_pairs(m) && p->argc == 3 && !flag_given(p, "target"))
        heed_message(p->c, HEED_INFO,
                     "the second text is a source, too; hint: a target is given with --target");
}

/* Whether both runs have the same layers with the same heads. */
static bool has_same_layers(const heed_run *a, const heed_run *b) {
    int n[2];
    heed_record_block *list[2] = {heed_attention_layers(a, &n[0]), heed_attention_layers(b, &n[1])};
    bool same = list[0] && list[1] && n[0] == n[1];
    for (int i = 0; same && i < n[0]; i++)
        same = list[0][i].stack == list[1][i].stack && list[0][i].layer == list[1][i].layer &&
               list[0][i].heads == list[1][i].heads;
    free(list[0]);
    free(list[1]);
    return same;
}

/* Several runs read texts and have the same layers, so that the same head is shown of all. */
static bool add_run(void *user, const char *dir) {
    work *w = user;
    const program *p = w->p;
    heed_run *r = w->runs[w->run_count++] = open_run(w->p, dir);
    w->run = w->runs[0];
    if (!r || w->run_count == 1) return r != NULL;
    if (sees_pictures(r->model) || sees_pictures(w->run->model))
        return heed_fail(p->c, HEED_USAGE,
                         "several runs are compared on texts: %s reads pictures; hint: `influence "
                         "%s PICTURE` compares those",
                         sees_pictures(r->model) ? dir : w->run->dir, p->argv[0]);
    if (*flag_text(p, "npz") || *flag_text(p, "csv"))
        return heed_fail(p->c, HEED_USAGE,
                         "--npz and --csv hold one run: expected one, found %s; hint: `attend %s`",
                         p->argv[0], dir);
    return has_same_layers(w->run, r) ||
           heed_fail(p->c, HEED_USAGE,
                     "the layers or heads of %s and %s differ: expected the same; hint: `influence "
                     "%s TEXT` compares what any runs depend on",
                     w->run->dir, dir, p->argv[0]);
}

static void attend(program *p) {
    int count;
    work w = {.p = p};
    bool opened = each_run(p, p->argv[0], RUNS, add_run, &w);
    heed_record_block *list = opened ? heed_attention_layers(w.run, &count) : NULL;
    /* an empty target is probably an unset shell variable, no request for the model's own */
    if (list && flag_given(p, "target") && !*flag_text(p, "target"))
        heed_fail(p->c, HEED_USAGE,
                  "--target is empty: expected a text; without it, the model's own is used");
    w.layers =
        list ? number_list(p->c, "--layers", flag_text(w.p, "layers"), &w.layer_count) : NULL;
    w.heads =
        w.layers ? number_list(p->c, "--heads", flag_text(w.p, "heads"), &w.head_count) : NULL;
    heed_record_cut cut = {.layer_count = w.layer_count,
                           .layers = w.layers,
                           .head_count = w.head_count,
                           .heads = w.heads};
    static const char *const hiding[] = {"occlude", "gradient"};
    for (int i = 0; i < 2; i++)
        if (flag_on(p, "words") && flag_on(p, hiding[i]))
            heed_fail(p->c, HEED_USAGE,
                      "--words and --%s, which is of tokens: expected one of them", hiding[i]);
    bool ok = w.heads && cut_fits(p->c, p->flags, list, count, &cut);
    if (ok && sees_pictures(w.run->model) && p->argc == 1)
        heed_fail(p->c, HEED_USAGE,
                  "missing picture: the run reads pictures; hint: `attend %s FILE.png`",
                  p->argv[0]);
    else if (ok) {
        note_second(p, w.run->model);
        each_given(p, w.run, &w, take_one, 0);
    }
    if (ok) show_all(&w);
    free(w.list);
    free(list);
    free(w.layers);
    free(w.heads);
    heed_text_free(&w.names.used);
    for (int i = 0; i < w.run_count; i++) close_run(p, w.runs[i]);
}

const command cmd_attend = {
    .name = "attend",
    .usage = "RUN[,RUN]... [INPUT]...",
    .help = "show what a run attends to on an input",
    .about =
        "Draws the attention weights of a head: a row for each token, over the tokens that it\n"
        "attends to; for a vit, the patches over the picture. The weights of a row sum to 1.\n"
        "INPUT is a text, a source, the file of a picture (- for its bytes on the standard\n"
        "input), a folder of pictures or a quoted pattern. Without INPUT, or for -, each line of\n"
        "the standard input, which must not be empty, is a text.\n"
        "\n"
        "Without --layer and --head it shows the most concentrated head: the one with the lowest\n"
        "entropy, relative to uniform attention, where something is predicted. Heads that follow\n"
        "positions only (the previous token, special tokens) come after the others. Of several\n"
        "inputs it shows the same head, the most concentrated one on average over all. Of a\n"
        "picture it shows the mean of the heads of the last layer, which is not a head of its "
        "own.\n"
        "Several runs with the same layers and heads, with commas between them, are shown on the\n"
        "same texts side by side, with the weights of each less those of the first.\n"
        "Tokens, layers and heads count from 1 on the screen, in files and in links, and from 0 "
        "in\n"
        "NumPy arrays. In pictures large weights are dark; on a terminal they are bright.",
    .examples =
        "  heed attend runs/book \"The king went to the [MASK] .\"\n"
        "  heed attend runs/book \"The king went home .\" --query king --head 2\n"
        "  heed attend runs/book,runs/other \"The king went home .\" --png both.png\n"
        "  heed attend runs/dates \"March 5, 1999\" --png alignment.png\n"
        "  heed attend runs/flowers rose.jpg --mass 0.6 --png rose.png\n"
        "  heed attend runs/book \"The king went home .\" --npz king.npz --html king.html\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .numbers = true,
    .args = {1, -1},
    .run = attend,
};
