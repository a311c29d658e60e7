/* graph.c -- heed graph: the operations that a training step records, as a picture or a list. */
#include "commands/workbench.h"

#include <heed/graph.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    WORDS("svg", "write the picture to this file", "Graph"),
    SWITCH("backward", "the backward pass, too: beside the forward one, in the list below it",
           "Graph"),
    {"depth", HEED_INT, "0", 0, 64, NULL,
     "levels of boxes to open: 1 shows only the model's parts; 0: all", "Graph"},
    SWITCH("unfold", "draw every one of several equal layers, not only the first", "Graph"),
    {"tokens", HEED_INT, "0", 0, 4096, NULL,
     "length of the random texts; 0: the block, 3 for recurrent pairs", "Graph"},
    {"batch", HEED_INT, "2", 1, 4096, NULL, "rows of the random batch", "Graph"},
    SWITCH("json", "print nodes and edges as one JSON object", "Graph"),
    {0}};

typedef struct {
    workbench w;
    heed_run *run; /* the run whose model is shown; NULL: built from settings */
    random_batch batch;
    heed_graph graph;
    char title[160];
} drawing;

/* ---- the model and its step ---- */

static bool set_default(heed_config *f, const char *key, const char *value) {
    if (!heed_config_has(f, key) || heed_config_int(f, key) > 0) return true;
    return heed_config_set(f, key, value, key, HEED_FROM_FLAG);
}

/* Sets the settings that otherwise depend on data. */
static bool fill_in(heed_config *f) {
    return set_default(f, "vocab", "100") && set_default(f, "classes", "10") &&
           set_default(f, "image-size", "28") && set_default(f, "channels", "1");
}

static bool build(program *p, drawing *d) {
    d->w.model = p->model;
    d->w.f = task_config(p);
    snprintf(d->title, sizeof d->title, "%s", p->model->name);
    return d->w.f && fill_in(d->w.f) && workbench_open(&d->w);
}

/* A run has its own settings; others would be ignored, so they are refused. */
static bool refuse_settings(program *p) {
    for (const heed_option *o = p->model->options; o->name; o++)
        if (heed_config_rank(p->flags, o->name) > HEED_FROM_DEFAULT)
            return heed_fail(p->c, HEED_USAGE,
                             "--%s cannot be given with a run, which has its own settings: %s; "
                             "hint: `graph %s --%s %s`",
                             o->name, p->argv[0], p->model->name, o->name,
                             heed_config_text(p->flags, o->name));
    return true;
}

static bool open_model(program *p, drawing *d) {
    if (p->argc == 0) return build(p, d);
    if (!refuse_settings(p) || !(d->run = open_run(p, p->argv[0]))) return false;
    d->w.model = d->run->model;
    d->w.f = d->run->config;
    d->w.store = d->run->store;
    d->w.tape = d->run->tape;
    d->w.self = d->run->self;
    workbench_sizes(&d->w);
    snprintf(d->title, sizeof d->title, "%s of %.120s", d->run->model->name, p->argv[0]);
    return true;
}

static void close_drawing(drawing *d) {
    heed_graph_free(&d->graph);
    random_batch_free(&d->batch);
    if (!d->run) workbench_close(&d->w);
}

/* Settings for the picture have no effect on the list. */
static bool check_picture(program *p) {
    static const char *const names[] = {"depth", "unfold"};
    for (int i = 0; i < 2 && !*heed_config_text(p->flags, "svg"); i++)
        if (heed_config_rank(p->flags, names[i]) > HEED_FROM_DEFAULT)
            return heed_fail(p->c, HEED_USAGE,
                             "--%s has no effect here: expected --svg FILE, too; hint: `help "
                             "graph`",
                             names[i]);
    return true;
}

/* A decoder without self-attention: each of its steps is drawn. */
static bool goes_step_by_step(const workbench *w) {
    return w->model->kind == HEED_INPUT_PAIR && !workbench_has(w, HEED_DECODER);
}

static bool choose_length(program *p, workbench *w) {
    enum { STEPS = 3 };
    int tokens = (int)heed_config_int(p->flags, "tokens");
    w->rows = (int)heed_config_int(p->flags, "batch");
    if (w->dense && tokens)
        return heed_fail(p->c, HEED_USAGE,
                         "--tokens has no effect here: %s takes pictures; hint: --image-size",
                         w->model->name);
    if (w->dense) return true;
    if (tokens > w->len)
        return heed_fail(p->c, HEED_USAGE, "--tokens %d: expected at most the block of %d", tokens,
                         w->len);
    if (!tokens) tokens = goes_step_by_step(w) && w->len > STEPS ? STEPS : w->len;
    w->len = tokens;
    if (w->masked_positions > tokens) w->masked_positions = tokens;
    return true;
}

static bool record(program *p, drawing *d) {
    workbench *w = &d->w;
    if (!choose_length(p, w) || !random_batch_make(w, 0, &d->batch)) return false;
    heed_tape_begin(w->tape, HEED_TRAIN, 0);
    return w->model->loss(w->self, w->tape, &d->batch.b) && heed_graph_read(w->tape, &d->graph);
}

/* ---- as a list ---- */

static int widest(const heed_graph *g, const char *(*text)(const heed_graph_node *n)) {
    int most = 5;
    for (int i = 0; i < g->count; i++) {
        int n = (int)strlen(text(&g->nodes[i]));
        if (n > most) most = n;
    }
    return most;
}

static const char *op_text(const heed_graph_node *n) {
    return n->op.op ? n->op.op : n->y->i ? "indices" : "input";
}
static const char *name_text(const heed_graph_node *n) { return n->op.name ? n->op.name : ""; }

/* A line being printed: pieces that do not fit continue on the next line, indented. */
enum { SHAPE = 16 };
typedef struct {
    int used, indent, pad; /* pad: the column of the next piece, if it was not reached yet */
} line;

static void put_piece(line *l, const char *between, const char *piece) {
    int n = heed_label_columns(piece), gap = (int)strlen(between);
    if (l->pad > l->used + gap) gap = l->pad - l->used;
    if (l->used > l->indent && l->used + gap + n > terminal_width()) {
        printf("\n%*s", l->indent, "");
        l->used = l->indent;
        gap = 0;
    }
    printf("%*s%s", gap, "", piece);
    l->used += gap + n;
    l->pad = 0;
}

/* Prints the four columns at the start of each row; on a narrow terminal they are not aligned. */
static line begin_row(const char *number, const char *const text[3], int op_width, int name_width) {
    line l = {.indent = 8};
    int at[4] = {6, 6 + op_width + 2, 6 + op_width + 2 + name_width + 2, 0};
    bool wide = (at[3] = at[2] + SHAPE) < terminal_width() / 4 * 3;
    l.used = printf("%4s", number);
    for (int k = 0; k < 3; k++) {
        if (wide) l.pad = at[k];
        if (*text[k]) put_piece(&l, "  ", text[k]);
    }
    if (wide) l.pad = at[3];
    return l;
}

static void print_node(const heed_graph *g, int i, int op_width, int name_width) {
    const heed_graph_node *n = &g->nodes[i];
    char number[16], shape[64], piece[512];
    snprintf(number, sizeof number, "%d", i);
    heed_shape_text(n->y, shape, sizeof shape);
    line l =
        begin_row(number, (const char *[]){op_text(n), name_text(n), shape}, op_width, name_width);
    for (int k = 0; k < n->in_count; k++) {
        snprintf(piece, sizeof piece, "%s%d%s", k ? "" : "<- ", n->in[k],
                 k + 1 < n->in_count ? "," : "");
        put_piece(&l, k ? "" : " ", piece);
    }
    for (int k = 0; k < n->params; k++) {
        put_piece(&l, "  ", n->param[k]->name);
        put_piece(&l, " ", heed_shape_text(n->param[k], shape, sizeof shape));
    }
    putchar('\n');
}

static void print_backward(program *p, const heed_graph *g) {
    char shape[64], piece[512];
    putchar('\n');
    print_wrapped(p, "backward, from the loss up: gradients that each op gives");
    for (int i = g->count; i-- > 0;) {
        const heed_graph_node *n = &g->nodes[i];
        if (!n->grad || !n->op.op) continue;
        line l = {.used = printf("%4d  %s'", i, n->op.op), .indent = 8};
        for (int k = 0; k < n->in_count; k++) {
            if (!g->nodes[n->in[k]].grad) continue;
            snprintf(piece, sizeof piece, "d%d %s", n->in[k],
                     heed_shape_text(g->nodes[n->in[k]].y, shape, sizeof shape));
            put_piece(&l, "  ", piece);
        }
        for (int k = 0; k < n->params; k++) {
            if (!n->param[k]->wants_grad) continue;
            snprintf(piece, sizeof piece, "d %s", n->param[k]->name);
            put_piece(&l, "  ", piece);
        }
        putchar('\n');
    }
}

static void print_list(program *p, const drawing *d) {
    const heed_graph *g = &d->graph;
    char count[32], text[400];
    int ops = 0, op_width = widest(g, op_text), name_width = widest(g, name_text);
    for (int i = 0; i < g->count; i++) ops += g->nodes[i].op.op != NULL;
    snprintf(text, sizeof text, "%s: %d ops, %s parameters in %d tensors", d->title, ops,
             heed_format_count(count, heed_store_params(d->w.store)), heed_store_count(d->w.store));
    print_wrapped(p, text);
    putchar('\n');
    line l = begin_row("node", (const char *[]){"op", "name", "shape"}, op_width, name_width);
    put_piece(&l, "  ", "from, parameters");
    putchar('\n');
    for (int i = 0; i < g->count; i++) print_node(g, i, op_width, name_width);
    if (heed_config_bool(p->flags, "backward")) print_backward(p, g);
}

/* ---- as data ---- */

static json_t *shape_json(const heed_tensor *x) {
    json_t *list = json_array();
    for (int i = 0; i < x->dims; i++) json_array_append_new(list, json_integer(x->shape[i]));
    return list;
}

static json_t *node_json(const heed_graph *g, int i) {
    const heed_graph_node *n = &g->nodes[i];
    json_t *params = json_array(), *kept = json_array();
    for (int k = 0; k < n->params; k++)
        json_array_append_new(params, json_pack("{s:s, s:o, s:b}", "name", n->param[k]->name,
                                                "shape", shape_json(n->param[k]), "gradient",
                                                (int)n->param[k]->wants_grad));
    for (int k = 0; k < n->op.kept; k++)
        json_array_append_new(kept, json_string(n->op.kept_name[k]));
    return json_pack("{s:i, s:s, s:o, s:s, s:o, s:b, s:o, s:o}", "id", i, "op", op_text(n), "name",
                     n->op.name ? json_string(n->op.name) : json_null(), "group",
                     g->groups[n->group].path, "shape", shape_json(n->y), "gradient", (int)n->grad,
                     "parameters", params, "keeps", kept);
}

static json_t *edges_json(const heed_graph *g) {
    json_t *edges = json_array();
    for (int i = 0; i < g->count; i++)
        for (int k = 0; k < g->nodes[i].in_count; k++)
            json_array_append_new(edges,
                                  json_pack("{s:i, s:i, s:b}", "from", g->nodes[i].in[k], "to", i,
                                            "gradient", (int)g->nodes[g->nodes[i].in[k]].grad));
    return edges;
}

static json_t *groups_json(const heed_graph *g) {
    json_t *groups = json_array();
    for (int i = 0; i < g->group_count; i++) {
        const heed_graph_group *b = &g->groups[i];
        json_array_append_new(
            groups, json_pack("{s:s, s:i, s:i, s:o}", "path", b->path, "parent", b->parent, "nodes",
                              b->nodes, "like",
                              b->like < 0 ? json_null() : json_string(g->groups[b->like].path)));
    }
    return groups;
}

static json_t *graph_json(const drawing *d) {
    const heed_graph *g = &d->graph;
    json_t *nodes = json_array();
    for (int i = 0; i < g->count; i++) json_array_append_new(nodes, node_json(g, i));
    return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o}", "heed", "graph 1", "model",
                     d->w.model->name, "title", d->title, "params",
                     (json_int_t)heed_store_params(d->w.store), "nodes", nodes, "edges",
                     edges_json(g), "groups", groups_json(g));
}

/* ---- heed graph ---- */

static bool write_svg(program *p, const drawing *d, const char *path) {
    heed_text svg = {.c = p->c};
    heed_graph_view v = {.title = d->title,
                         .depth = (int)heed_config_int(p->flags, "depth"),
                         .unfold = heed_config_bool(p->flags, "unfold"),
                         .backward = heed_config_bool(p->flags, "backward")};
    bool ok = heed_graph_svg(&d->graph, &v, &svg) && heed_text_save(&svg, path);
    heed_text_free(&svg);
    return ok;
}

static void graph(program *p) {
    drawing d = {.w.c = p->c};
    const char *path = heed_config_text(p->flags, "svg");
    bool json = heed_config_bool(p->flags, "json");
    if (check_picture(p) && open_model(p, &d) && record(p, &d) &&
        (!*path || write_svg(p, &d, path))) {
        if (json)
            print_json(p, graph_json(&d));
        else if (*path)
            printf("wrote %s\n", path);
        else
            print_list(p, &d);
    }
    close_drawing(&d);
}

const command cmd_graph = {
    .name = "graph",
    .usage = "MODEL",
    .help = "what a training step of a model computes, as a picture or a list",
    .about = "Records a training step on a random batch and shows it: ops with their names,\n"
             "parameters and shapes, in boxes by layer. MODEL is a task, which takes its settings\n"
             "as flags, or a run. Without --svg the ops are listed: number, op, name, shape, the\n"
             "numbers of its inputs, its parameters. In the picture blue ops have\n"
             "parameters, yellow ones attend; layers that are all alike are drawn once.",
    .examples = "  heed graph gpt --preset nano --svg gpt.svg\n"
                "  heed graph vit --layers 2 --backward --svg vit.svg\n"
                "  heed graph rnn --cell lstm --depth 1 --svg lstm.svg\n"
                "  heed graph runs/book --json\n",
    .options = options,
    .task_example = "--svg graph.svg",
    .task_options = true,
    .task_or_run = true,
    .computes = true,
    .opens_run = true,
    .max = 1,
    .run = graph,
};
