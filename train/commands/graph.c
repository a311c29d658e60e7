/* graph.c -- heed graph: the operations that a training step records, as a picture or a list. */
#include "commands/workbench.h"

#include <heed/graph.h>
#include <string.h>

static const heed_option options[] = {
    WORDS("svg", "write the picture to this file", "Graph"),
    SWITCH("backward", "the backward pass, too: beside the forward one, in the list below it",
           "Graph"),
    COUNT("depth", "0", 0, 64, "levels of boxes to open: 1 shows only the model's parts; 0: all",
          "Graph"),
    SWITCH("unfold", "draw every one of several equal layers, not only the first", "Graph"),
    COUNT("tokens", "0", 0, 4096, "length of the random texts; 0: the block, 3 for recurrent pairs",
          "Graph"),
    COUNT("batch", "2", 1, 4096, "rows of the random batch", "Graph"),
    SWITCH("json", "print nodes and edges as one JSON object", "Graph"),
    {0}};

static const applies uses[] = {{"depth", NULL, "svg"}, {"unfold", NULL, "svg"}, {0}};

typedef struct {
    workbench w;
    heed_run *run; /* the run whose model is shown; NULL: built from settings */
    random_batch batch;
    heed_graph graph;
    char title[160];
} drawing;

/* ---- the model and its step ---- */

/* Sets the settings that otherwise depend on data. */
static bool fill_in(heed_config *f) {
    static const char *const defaults[][2] = {
        {"vocab", "100"}, {"classes", "10"}, {"image-size", "28"}, {"channels", "1"}};
    bool ok = true;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        const char *key = defaults[i][0];
        if (heed_config_has(f, key) && heed_config_int(f, key) <= 0)
            ok = ok && heed_config_set(f, key, defaults[i][1], key, HEED_FROM_FLAG);
    }
    return ok;
}

/* A run has its own settings; others would be ignored, so they are refused. */
static bool refuse_settings(program *p) {
    for (int i = 0; i < heed_config_count(p->flags); i++) {
        const char *value, *key = heed_config_at(p->flags, i, &value)->name;
        if (heed_option_find(p->model->options, key) && flag_given(p, key))
            return heed_fail(p->c, HEED_USAGE,
                             "--%s cannot be given with a run, which has its own settings: %s; "
                             "hint: `graph %s --%s %s`",
                             key, p->argv[0], p->model->name, key, value);
    }
    return true;
}

static bool open_model(program *p, drawing *d) {
    if (p->argc == 0) {
        if (!settings_apply(p, NULL, "")) return false;
        d->w.model = p->model;
        d->w.f = task_config(p);
        snprintf(d->title, sizeof d->title, "%s", p->model->name);
        return d->w.f && workbench_check(&d->w) && fill_in(d->w.f) && workbench_open(&d->w);
    }
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

static bool choose_length(program *p, workbench *w) {
    enum { STEPS = 3 };
    int tokens = flag_int(p, "tokens");
    w->rows = flag_int(p, "batch");
    if (w->dense && tokens)
        return heed_fail(p->c, HEED_USAGE,
                         "--tokens has no effect here: %s reads pictures; hint: --image-size",
                         w->model->name);
    if (w->dense) return true;
    if (tokens > w->len)
        return heed_fail(p->c, HEED_USAGE, "--tokens %d: expected at most the block of %d", tokens,
                         w->len);
    /* of a decoder without self-attention, each step is drawn */
    bool decodes = writes_targets(w->model);
    bool by_step = decodes && !workbench_has(w, HEED_DECODER);
    if (tokens)
        w->len = tokens;
    else if (by_step && w->len > STEPS)
        w->len = STEPS;
    if (w->masked_positions > w->len) w->masked_positions = w->len;
    return true;
}

/* ---- as a list ---- */

static const char *op_name(const heed_graph_node *n) {
    return n->op.op ? n->op.op : n->y->i ? "indices" : "input";
}

enum { OP = 64 };

/* "affine+gelu" */
static const char *op_text(const heed_graph_node *n, char text[OP]) {
    snprintf(text, OP, "%s%s%s", op_name(n), n->activation ? "+" : "",
             n->activation ? n->activation : "");
    return text;
}

static const char *name_text(const heed_graph_node *n) { return n->op.name ? n->op.name : ""; }

/* The widths of the columns of ops and names. */
static void widths(const heed_graph *g, int *op, int *name) {
    char text[OP];
    *op = *name = 5;
    for (int i = 0; i < g->count; i++) {
        int n = (int)strlen(op_text(&g->nodes[i], text)), m = (int)strlen(name_text(&g->nodes[i]));
        if (n > *op) *op = n;
        if (m > *name) *name = m;
    }
}

enum { INDENT = 8 };

/* Adds the four columns at the start of each row; on a narrow terminal they are not aligned.
 * Returns whether the last column is padded, so that no gap is needed after it. */
static bool begin_row(heed_text *line, const char *number, const char *const text[3], int op_width,
                      int name_width) {
    enum { SHAPE = 16 };
    int end = 6 + op_width + 2 + name_width + 2 + SHAPE;
    bool wide = end < terminal_width() / 4 * 3;
    heed_text_add(line, "%4s", number);
    if (wide)
        heed_text_add(line, "  %-*s  %-*s  %-*s", op_width, text[0], name_width, text[1], SHAPE,
                      text[2]);
    for (int k = 0; k < 3 && !wide; k++)
        if (*text[k]) add_piece(line, 2, text[k], INDENT, terminal_width());
    return wide && strlen(text[2]) < SHAPE;
}

static void print_node(const heed_graph *g, int i, int op_width, int name_width) {
    const heed_graph_node *n = &g->nodes[i];
    char number[16], shape[64], piece[512], op[OP];
    heed_text line = {.c = NULL};
    snprintf(number, sizeof number, "%d", i);
    heed_shape_text(n->y, shape, sizeof shape);
    bool padded = begin_row(&line, number, (const char *[]){op_text(n, op), name_text(n), shape},
                            op_width, name_width);
    for (int k = 0; k < n->in_count; k++) {
        snprintf(piece, sizeof piece, "%s%d%s", k ? "" : "<- ", n->in[k],
                 k + 1 < n->in_count ? "," : "");
        add_piece(&line, k || padded ? 0 : 1, piece, INDENT, terminal_width());
    }
    for (int k = 0; k < n->params; k++) {
        heed_shape_text(n->param[k], shape, sizeof shape);
        add_piece(&line, k || n->in_count || !padded ? 2 : 0, n->param[k]->name, INDENT,
                  terminal_width());
        add_piece(&line, 1, shape, INDENT, terminal_width());
    }
    print_line(&line);
    heed_text_free(&line);
}

static void print_backward(program *p, const heed_graph *g) {
    char shape[64], piece[512];
    heed_text line = {.c = NULL};
    putchar('\n');
    print_wrapped(p, "backward, from the loss up: gradients that each op gives");
    for (int i = g->count; i-- > 0;) {
        const heed_graph_node *n = &g->nodes[i];
        if (!n->grad || !n->op.op) continue;
        heed_text_add(&line, "%4d  %s'", i, n->op.op);
        for (int k = 0; k < n->in_count; k++) {
            if (!g->nodes[n->in[k]].grad) continue;
            snprintf(piece, sizeof piece, "d%d %s", n->in[k],
                     heed_shape_text(g->nodes[n->in[k]].y, shape, sizeof shape));
            add_piece(&line, 2, piece, INDENT, terminal_width());
        }
        for (int k = 0; k < n->params; k++) {
            if (!n->param[k]->wants_grad) continue;
            snprintf(piece, sizeof piece, "d %s", n->param[k]->name);
            add_piece(&line, 2, piece, INDENT, terminal_width());
        }
        print_line(&line);
    }
    heed_text_free(&line);
}

static void print_list(program *p, const drawing *d) {
    const heed_graph *g = &d->graph;
    char count[32];
    int ops = 0, op_width, name_width;
    widths(g, &op_width, &name_width);
    for (int i = 0; i < g->count; i++) ops += g->nodes[i].op.op != NULL;
    print_wrapped(p, "%s: %d ops, %s parameters in %d tensors", d->title, ops,
                  heed_format_count(count, heed_params_numel(d->w.store)),
                  heed_params_count(d->w.store));
    putchar('\n');
    heed_text heading = {.c = p->c};
    bool padded =
        begin_row(&heading, "node", (const char *[]){"op", "name", "shape"}, op_width, name_width);
    add_piece(&heading, padded ? 0 : 2, "from, parameters", INDENT, terminal_width());
    print_line(&heading);
    heed_text_free(&heading);
    for (int i = 0; i < g->count; i++) print_node(g, i, op_width, name_width);
    if (flag_on(p, "backward")) print_backward(p, g);
}

/* ---- as data ---- */

static json_t *shape_json(const heed_tensor *x) {
    json_t *list = json_array();
    for (int i = 0; i < x->dims; i++) json_array_append_new(list, json_integer(x->shape[i]));
    return list;
}

static json_t *node_json(const heed_graph *g, int i) {
    const heed_graph_node *n = &g->nodes[i];
    json_t *params = json_array();
    for (int k = 0; k < n->params; k++)
        json_array_append_new(params, json_pack("{s:s, s:o, s:b}", "name", n->param[k]->name,
                                                "shape", shape_json(n->param[k]), "gradient",
                                                (int)n->param[k]->wants_grad));
    return json_pack("{s:i, s:s, s:s?, s:s?, s:s, s:o, s:b, s:o, s:o}", "id", i, "op", op_name(n),
                     "activation", n->activation, "name", n->op.name, "group",
                     g->groups[n->group].path, "shape", shape_json(n->y), "gradient", (int)n->grad,
                     "parameters", params, "keeps", json_texts(n->op.kept_name, n->op.kept));
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
                     (json_int_t)heed_params_numel(d->w.store), "nodes", nodes, "edges",
                     edges_json(g), "groups", groups_json(g));
}

/* ---- heed graph ---- */

static bool write_svg(program *p, const drawing *d, const char *path) {
    heed_text svg = {.c = p->c};
    heed_graph_view v = {.title = d->title,
                         .depth = flag_int(p, "depth"),
                         .unfold = flag_on(p, "unfold"),
                         .backward = flag_on(p, "backward")};
    bool ok = heed_graph_svg(&d->graph, &v, &svg) && heed_text_save(&svg, path);
    heed_text_free(&svg);
    return ok;
}

static void graph(program *p) {
    drawing d = {.w.c = p->c};
    const char *path = flag_text(p, "svg");
    bool json = flag_on(p, "json");
    bool ok = open_model(p, &d) && choose_length(p, &d.w) && random_batch_make(&d.w, 0, &d.batch);
    if (ok) heed_tape_begin(d.w.tape, HEED_TRAIN, 0);
    ok = ok && d.w.model->loss(d.w.self, d.w.tape, &d.batch.b) &&
         heed_graph_read(d.w.tape, &d.graph);
    if (ok && (!*path || write_svg(p, &d, path))) {
        if (json)
            print_json(p, graph_json(&d));
        else if (*path)
            printf("wrote %s\n", path);
        else
            print_list(p, &d);
    }
    heed_graph_free(&d.graph);
    random_batch_free(&d.batch);
    if (!d.run) workbench_close(&d.w);
}

const command cmd_graph = {
    .name = "graph",
    .usage = "MODEL",
    .help = "what a training step of a model computes, as a picture or a list",
    .about =
        "Records a training step on a random batch and shows it: ops with their names, parameters\n"
        "and shapes, in boxes by layer. MODEL is a task, whose settings are given as flags, or a\n"
        "run. Without --svg the ops are listed: number, op, name, shape, the numbers of its\n"
        "inputs, its parameters. affine+gelu is one op, x W' + b and the activation after it. In\n"
        "the picture blue ops have parameters and yellow ones are attention. Layers that compute\n"
        "the same are drawn once.",
    .examples = "  heed graph gpt --preset nano --svg gpt.svg\n"
                "  heed graph vit --layers 2 --backward --svg vit.svg\n"
                "  heed graph rnn --cell lstm --depth 1 --svg lstm.svg\n"
                "  heed graph runs/book --json\n",
    .options = options,
    .applies = uses,
    .task_example = "--svg graph.svg",
    .task_options = true,
    .task_or_run = true,
    .computes = true,
    .opens_run = true,
    .args = {0, 1},
    .run = graph,
};
