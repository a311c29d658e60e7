/* view.c -- heed view: attention weights of any program, or of heed attend, as one page. */
#include "commands/attend.h"

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    WORDS("html", "page to write", "Output"),
    SWITCH("json", "print what was read as one JSON object", "Output"),
    WORDS("layers", "only these layers: 1,3-4", "Choice"),
    WORDS("heads", "only these heads: 1,3-4", "Choice"),
    COUNT("tokens", "0", 0, 1 << 20, "only the first tokens, this many; 0: all", "Choice"),
    COUNT("line", "0", 0, 1 << 20,
          "of a JSON file with an object on each line, as attend --json prints for several inputs, "
          "read this one, from 1; 0: the file has one object",
          "Choice"),
    {"qk", HEED_OPTION_BOOL, "true", 0, 0, NULL, "include q and k; --no-qk: a smaller page",
     "Choice"},
    SWITCH("force", "write more than 64 MB", "Choice"),
    {0}};

/* Returns r, or the part of it that --layers, --heads and --tokens keep. */
static heed_record *cut(program *p, heed_record *r) {
    heed_record_cut k = {.tokens = flag_int(p, "tokens")};
    int *layers = number_list(p->c, "--layers", flag_text(p, "layers"), &k.layer_count);
    int *heads = number_list(p->c, "--heads", flag_text(p, "heads"), &k.head_count);
    k.layers = layers;
    k.heads = heads;
    if (!r || !layers || !heads || !cut_fits(p->c, p->flags, r->blocks, r->block_count, &k))
        r = NULL;
    else if (k.layer_count || k.head_count || k.tokens)
        r = heed_record_subset(p->c, r, &k);
    free(layers);
    free(heads);
    return r;
}

static json_t *summary_json(const char *file, const heed_record *r) {
    json_t *layers = json_array();
    for (int i = 0; i < r->block_count; i++) {
        const heed_record_block *b = &r->blocks[i];
        json_array_append_new(layers,
                              json_pack("{s:o, s:s, s:i, s:i, s:i, s:i}", "path",
                                        json_text(b->path), "stack", heed_stack_name(b->stack),
                                        "layer", b->layer + 1, "heads", b->heads, "queries",
                                        r->axes[b->queries].count, "keys", r->axes[b->keys].count));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:i}", "file", json_text(file), "title",
                     json_text(r->title ? r->title : ""), "note", json_text(r->note ? r->note : ""),
                     "layers", layers, "maps", r->map_count);
}

/* "  encoder.0.attn   encoder, layer 1: ...", in two lines on a narrow terminal. */
static void print_part(const char *name, const char *what) {
    enum { NAMES = 31, NARROW = 72 };
    heed_text start = {.c = NULL};
    heed_text_put(&start, "  ", 2);
    int used = 2 + heed_label_text(name, 100, &start);
    bool beside = line_width(stdout) >= NARROW && used < NAMES;
    if (beside) heed_text_add(&start, "%*s", NAMES - used, "");
    if (!beside) print_fact(0, "", "%s", name);
    print_fact(beside ? NAMES : 4, beside && start.s ? start.s : "", "%s", what);
    heed_text_free(&start);
}

static void print_map(const heed_record *r, const heed_record_map *m) {
    char what[160], head[32] = "", of[80] = "";
    if (m->head >= 0) snprintf(head, sizeof head, ", head %d", m->head + 1);
    if (m->layer >= 0)
        snprintf(of, sizeof of, "%s, layer %d%s: ", heed_stack_name(m->stack), m->layer + 1, head);
    snprintf(what, sizeof what, "%s%d x %d", of, r->axes[m->queries].count, r->axes[m->keys].count);
    print_part(m->name, what);
}

static void print_summary(program *p, const char *file, const heed_record *r) {
    char what[160];
    printf("%s\n", file);
    for (int i = 0; i < r->block_count; i++) {
        const heed_record_block *b = &r->blocks[i];
        snprintf(what, sizeof what, "%s, layer %d: %d head%s of %d x %d%s",
                 heed_stack_name(b->stack), b->layer + 1, b->heads, b->heads == 1 ? "" : "s",
                 r->axes[b->queries].count, r->axes[b->keys].count, b->causal ? ", causal" : "");
        print_part(b->path, what);
    }
    for (int i = 0; i < r->map_count; i++) print_map(r, &r->maps[i]);
    if (r->note && *r->note) heed_message(p->c, HEED_INFO, "note: %s: %s", file, r->note);
}

static heed_record *read_weights(program *p, const char *path) {
    if (model_of_run(p->c, p->models, path)) {
        heed_fail(p->c, HEED_USAGE,
                  "%s is a run: expected a file of weights; hint: `attend %s INPUT` shows what the "
                  "run attends to",
                  path, path);
        return NULL;
    }
    return cut(p, heed_record_read_line(p->c, path, flag_int(p, "line")));
}

/* A file's name without its folder and its numbers. */
static void series_of(const char *path, char name[256]) {
    size_t n = 0;
    const char *slash = strrchr(path, '/');
    for (const char *s = slash ? slash + 1 : path; *s && n < 255; s++)
        if (*s < '0' || *s > '9') name[n++] = *s;
    name[n] = 0;
}

/* Files of other programs do not say whose weights they are: those whose names differ in their
 * numbers only are steps of one training, others are several models or inputs. */
static void name_models(const program *p, heed_record *records) {
    char first[256], name[256];
    bool differ = false;
    series_of(p->argv[0], first);
    for (int i = 1; i < p->argc; i++) {
        series_of(p->argv[i], name);
        differ |= strcmp(name, first) != 0;
    }
    for (int i = 0; differ && i < p->argc; i++)
        if (records[i].step < 0 && !records[i].run) records[i].run = p->argv[i];
}

static void view(program *p) {
    const char *html = flag_text(p, "html");
    bool json = flag_on(p, "json");
    heed_record *records = allocate(p->c, (size_t)p->argc, sizeof *records, "records");
    json_t *files = json_array();
    bool ok = records != NULL;
    for (int i = 0; ok && i < p->argc; i++) {
        heed_record *r = read_weights(p, p->argv[i]);
        ok = r != NULL;
        if (!ok) break;
        records[i] = *r;
        if (json)
            json_array_append_new(files, summary_json(p->argv[i], r));
        else
            print_summary(p, p->argv[i], r);
    }
    if (ok) name_models(p, records);
    heed_page page = {.count = p->argc,
                      .records = records,
                      .no_qk = !flag_on(p, "qk"),
                      .force = flag_on(p, "force")};
    if (ok && *html) ok = heed_page_write(p->c, &page, html);
    if (ok && json)
        print_json(p, json_pack("{s:O, s:o}", "files", files, "html", json_text(html)));
    else if (ok && *html)
        printf("wrote %s\n", html);
    else if (ok)
        print_note("", "hint: `--html OUT.html` draws it as a page");
    json_decref(files);
    free(records);
}

const command cmd_view = {
    .name = "view",
    .usage = "FILE...",
    .help = "draw attention weights from a file, PyTorch's or NumPy's, as one page",
    .about =
        "Reads an NPZ, NPY or JSON file and writes one HTML page that works offline, with every\n"
        "view for which the file has data. A file that heed attend wrote has everything; a file\n"
        "of heed explain --json has the attention, scores, queries and keys of its head.\n"
        "\n"
        "Any other file has arrays of (queries, keys), (heads, queries, keys) or (layers, heads,\n"
        "queries, keys) in 16, 32 or 64 bits. Labels are texts under `tokens`, or `queries` and\n"
        "`keys`, or `source` and `target`. An array with \"cross\" or \"dec\" in its name is cross "
        "or\n"
        "decoder attention; if the numbers of queries and keys differ, it is cross attention.\n"
        "`picture`, bytes of (height, width) or (height, width, 3), is the picture whose patches\n"
        "the last keys are: a square grid, or the rows and columns under `grid`. In PyTorch:\n"
        "\n"
        "  a = model(**inputs, output_attentions=True).attentions\n"
        "  np.savez('a.npz', attention=torch.stack(a)[:, 0].numpy(), tokens=tokens)\n"
        "\n"
        "Weights are never corrected: values outside [0, 1] and rows that do not sum to 1 are\n"
        "reported in a note. Snapshots of a run, and files whose names differ only in numbers, "
        "are\n"
        "shown as steps of a training; other files side by side, with their difference. For a "
        "file\n"
        "of torch.save, an error gives the command that converts it.",
    .examples = "  heed view a.npz --html a.html\n"
                "  heed view large.npz --layers 1,11-12 --tokens 256 --html part.html\n"
                "  heed view step0.npz step100.npz step200.npz --html learning.html\n",
    .options = options,
    .args = {1, -1},
    .run = view,
};
