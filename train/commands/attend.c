/* attend.c -- heed attend: the attention of a run on an input. */
#include "commands/attend.h"
#include "cli/os_files.h"
#include "kinds/image.h"

#include <stdlib.h>

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
           "files",
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
    {"qk", HEED_BOOL, "true", 0, 0, NULL, "include q, k, v and scores, not only the weights",
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
    double bytes; /* of their records */
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

static heed_record *record_of(const work *w, const heed_inspection *s, int layer,
                              heed_stack stack) {
    heed_capture_args wish = {.layer_count = w->layer_count,
                              .layers = w->layers,
                              .head_count = w->head_count,
                              .heads = w->heads,
                              .lean = !flag_on(w->p, "qk"),
                              .top = flag_int(w->p, "top"),
                              .most = flag_on(w->p, "force") ? -1 : 0};
    if (!is_whole(w) || flag_on(w->p, "words")) wish.lean = true;
    if (!is_whole(w)) wish.stack = &stack;
    if (!is_whole(w) && !compares_layers(s, w->p->flags, stack)) {
        wish.layer_count = 1;
        wish.layers = &layer;
    }
    heed_record *r = heed_capture(s, &wish);
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

/* ---- files ---- */

static const char *path_of(const work *w, const input *in, const char *key, char path[1024]) {
    named_path(path, 1024, flag_text(w->p, key), in->name);
    return path;
}

static bool draw(const work *w, const attend_view *v, bool svg, const char *path) {
    if (v->record->axes[v->block->keys].rows > 0)
        return attend_draw_picture(v, flag_on(w->p, "cells"), svg, path);
    return attend_draw(v, svg, path);
}

/* The page opens at what is shown; if a part or a measure was asked for, in the view that shows it.
 * The words of a caption are read over their picture. */
static const char *opening_of(const work *w, const attend_view *v, char text[PAGE_LINK_SIZE]) {
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
    } else if (v->inputs > 1 && v->block->heads > 1)
        o.head = head_word(v->block, v->focus.head, number);
    if (query) o.query = v->query;
    return page_link_text(&o, text);
}

/* Reports that the picture lacks the measures that were asked for. */
static void report_omitted(const work *w, const attend_view *v) {
    const char *key = *flag_text(w->p, "png") ? "png" : "svg";
    heed_text omitted = {.c = w->p->c}, note = {.c = w->p->c};
    if (!*flag_text(w->p, key)) return;
    if (maps_need_query(v))
        heed_text_add(&note,
                      "--%s draws the attention of all tokens without other measures, which are "
                      "drawn for one token; hint: --query 1",
                      key);
    else
        maps_omitted(v, &omitted);
    if (omitted.n)
        heed_text_add(&note,
                      "--%s draws the attention and what is of the same tokens; not drawn: %s", key,
                      omitted.s);
    if (note.n) print_note("", note.s);
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
                      .opening = opening_of(w, &list->view, opening),
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
    const attend_view *v = &in->view;
    bool ok = true;
    bool alone = w->run_count == 1; /* several runs are in one picture: compare */
    if (alone) report_omitted(w, v);
    if (alone && *flag_text(w->p, "svg")) ok = ok && draw(w, v, true, path_of(w, in, "svg", path));
    if (alone && *flag_text(w->p, "png")) ok = ok && draw(w, v, false, path_of(w, in, "png", path));
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

/* Shows the same head of all inputs. */
static bool focus_all(const work *w) {
    attend_view **list = allocate(w->p->c, (size_t)w->count, sizeof *list, "inputs");
    for (int i = 0; list && i < w->count; i++) {
        list[i] = &w->list[i].view;
        list[i]->models = w->run_count > 1;
    }
    bool ok = list && views_focus(list, w->count);
    free(list);
    return ok;
}

/* Shows an input in all runs, which are adjacent in the list, beside each other. */
static bool compare(const work *w, const input *first) {
    static const char *const keys[] = {"png", "svg"};
    const attend_view *views[RUNS];
    char png[1024], svg[1024];
    for (int i = 0; i < w->run_count; i++) views[i] = &first[i].view;
    bool ok = attend_compare(views, w->run_count, !flag_on(w->p, "json"),
                             *flag_text(w->p, "png") ? path_of(w, first, "png", png) : NULL,
                             *flag_text(w->p, "svg") ? path_of(w, first, "svg", svg) : NULL);
    for (int i = 0; ok && i < 2; i++) print_written(w, first, keys[i]);
    return ok;
}

/* Shows the inputs taken so far, several texts or one picture, each head on one scale. */
static void show_all(work *w) {
    bool page = w->count && *flag_text(w->p, "html") && !sees_pictures(w->run->model);
    scales k = {0};
    bool ok = w->count <= 1 || focus_all(w);
    for (int i = 0; i < w->count; i++) scales_add(&k, &w->list[i].view);
    if (ok && (!page || write_page(w, w->list, w->count, true))) {
        for (int i = 0; i < w->count; i++) {
            w->list[i].view.scales = &k;
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
    free(k.list);
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

static bool take(work *w, const heed_inspection *s) {
    input in = {0};
    int layer;
    heed_stack stack;
    heed_record *r = choose_layer(w, &layer, &stack) ? record_of(w, s, layer, stack) : NULL;
    snprintf(in.name, sizeof in.name, "%s", w->names.name);
    w->taken++;
    bool words = flag_on(w->p, "words"), ok = r && check_text_size(w, r);
    if (ok && words) { /* whose tokens are chosen as words */
        heed_record *tokens = r;
        attend_view all = {.p = w->p, .record = r, .block = r->blocks, .query = -1, .key = -1};
        r = maps_add(&all, s, r, is_whole(w)) ? heed_record_words(w->p->c, r) : NULL;
        heed_record_free(tokens);
    }
    in.record = r;
    ok = ok && r && view_open(&in.view, w->p, w->run, r) &&
         (words || maps_add(&in.view, s, r, is_whole(w))) && append(w, &in);
    if (!ok) heed_record_free(r);
    if (ok && w->taken % w->run_count == 0 && is_due(w)) show_all(w);
    return ok;
}

static bool take_text(program *p, void *user, const char *text, size_t n) {
    (void)p;
    work *w = user;
    bool ok = true;
    const char *target = *flag_text(w->p, "target") ? flag_text(w->p, "target") : NULL;
    number_name(w->names.name, w->taken / w->run_count);
    for (int i = 0; ok && i < w->run_count; i++) {
        heed_inspection s;
        w->run = w->runs[i];
        ok = inspect_text(&s, w->run, text, n, target) && take(w, &s);
        heed_inspection_free(&s);
    }
    return ok;
}

static bool take_picture_input(program *p, void *user, const char *name, heed_picture *picture) {
    work *w = user;
    heed_inspection s = {0};
    const char *target = *flag_text(p, "target") ? flag_text(p, "target") : NULL;
    bool ok = name_outputs(p, &w->names, name) &&
              heed_inspection_caption(&s, w->run, picture, name, target) && take(w, &s);
    heed_inspection_free(&s);
    return ok;
}

static void take_pictures(work *w) {
    program *p = w->p;
    if (p->argc == 1)
        heed_fail(p->c, HEED_USAGE,
                  "missing picture: the run reads pictures; hint: `attend %s FILE.png`",
                  p->argv[0]);
    else
        each_picture(p, w->run, w, take_picture_input);
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
    if (ok && sees_pictures(w.run->model))
        take_pictures(&w);
    else if (ok) {
        note_second(p, w.run->model);
        each_input(p, &w, take_text, 0);
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
