/* The recorded tape as a graph: nodes, boxes by name, and the picture. */
#include "test.h"

#include <heed/graph.h>

enum { WIDTH = 4 };

typedef struct {
    heed_ctx *c;
    heed_params *s;
    heed_tape *t;
    heed_tensor *w[4];
} lab;

static void open_lab(lab *l) {
    l->c = heed_open(&(heed_options){.threads = 1});
    l->s = heed_params_new(l->c);
    l->t = heed_tape_new(l->c);
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "block.%d.%s.weight", i / 2, i % 2 ? "down" : "up");
        l->w[i] = heed_param_new(l->s, name, "one", 2, (int[]){WIDTH, WIDTH});
    }
    heed_tape_begin(l->t, HEED_TRAIN, 0);
}

static heed_tensor *block(lab *l, heed_tensor *x, const char *up, const char *down, int index) {
    heed_tensor *h =
        heed_relu(l->t, heed_affine(heed_name_scope(l->t, up), x, l->w[2 * index], NULL));
    return heed_add(l->t, x,
                    heed_affine(heed_name_scope(l->t, down), h, l->w[2 * index + 1], NULL));
}

static heed_tensor *two_blocks(lab *l) {
    heed_tensor *x = heed_input(l->t, NULL, 2, (int[]){3, WIDTH});
    x = block(l, x, "block.0.up", "block.0.down", 0);
    return heed_mean(l->t, block(l, x, "block.1.up", "block.1.down", 1));
}

static int group_of(const heed_graph *g, const char *path) {
    for (int i = 0; i < g->group_count; i++)
        if (strcmp(g->groups[i].path, path) == 0) return i;
    return -1;
}

TEST(graph_follows_the_tape) {
    lab l;
    heed_graph g;
    open_lab(&l);
    const heed_tensor *loss = two_blocks(&l);
    CHECK(heed_graph_read(l.t, &g));
    CHECK(g.count == 10); /* an input, four ops a block, the mean */
    CHECK(!g.nodes[0].op.op && !g.nodes[0].grad && g.nodes[0].in_count == 0);
    CHECK_TEXT(g.nodes[1].op.op, "affine");
    CHECK(g.nodes[1].params == 1 && g.nodes[1].param[0] == l.w[0]);
    CHECK(g.nodes[1].in_count == 1 && g.nodes[1].in[0] == 0);
    CHECK_TEXT(g.nodes[4].op.op, "add");
    CHECK(g.nodes[4].in_count == 2 && g.nodes[4].in[0] == 0 && g.nodes[4].in[1] == 3);
    CHECK(g.nodes[9].y == loss && g.nodes[9].grad && g.nodes[9].in[0] == 8);
    heed_graph_free(&g);
    CLOSE(l.c);
}

TEST(graph_boxes_are_layers_and_repeats_are_known) {
    lab l;
    heed_graph g;
    open_lab(&l);
    two_blocks(&l);
    CHECK(heed_graph_read(l.t, &g));
    int first = group_of(&g, "block.0"), second = group_of(&g, "block.1");
    CHECK(first > 0 && second > 0 && g.group_count == 4);
    for (int i = 1; i < 9; i++) CHECK(g.nodes[i].group == (i < 5 ? first : second));
    CHECK(g.nodes[0].group == 0 && g.nodes[9].group == 0);
    CHECK(g.groups[first].nodes == 4 && g.groups[0].nodes == 10);
    CHECK(g.groups[first].like < 0 && g.groups[second].like == first);
    heed_graph_free(&g);
    CLOSE(l.c);
}

/* Blocks are alike only if their activations are. */
TEST(graph_names_the_activation_of_an_affine_op) {
    lab l;
    heed_graph g;
    open_lab(&l);
    heed_tensor *x = heed_input(l.t, NULL, 2, (int[]){3, WIDTH});
    static const char *const names[] = {"block.0.up", "block.0.down", "block.1.up", "block.1.down"};
    static const heed_act acts[] = {HEED_RELU, HEED_IDENTITY, HEED_SILU, HEED_IDENTITY};
    for (int i = 0; i < 4; i++)
        x = heed_affine_act(heed_name_scope(l.t, names[i]), x, l.w[i], NULL, acts[i]);
    heed_mean(l.t, x);
    CHECK(heed_graph_read(l.t, &g));
    CHECK_TEXT(g.nodes[1].activation, "relu");
    CHECK_TEXT(g.nodes[3].activation, "silu");
    CHECK(!g.nodes[0].activation && !g.nodes[2].activation && !g.nodes[4].activation);
    int second = group_of(&g, "block.1");
    CHECK(second > 0 && g.groups[second].like < 0);
    heed_graph_free(&g);
    CLOSE(l.c);
}

static bool infer_as_input(heed_node *n) { return heed_op_output_like(n, 0); }

static void add_nothing(heed_node *n) { (void)n; }

static void copy(heed_node *n) { memcpy(n->y->x, n->in[0]->x, n->y->size * sizeof *n->y->x); }

/* Its args may be anything. */
TEST(graph_knows_no_activation_of_an_own_op_of_the_name) {
    static const heed_op own[] = {{.name = "affine",
                                   .inputs = "r",
                                   .infer = infer_as_input,
                                   .forward = copy,
                                   .backward = add_nothing,
                                   .args_size = 4},
                                  {0}};
    lab l;
    heed_graph g;
    open_lab(&l);
    heed_tensor *x = heed_want_grad(l.t, heed_input(l.t, NULL, 2, (int[]){3, WIDTH}));
    heed_push(l.t, own, &(int32_t){1 << 30}, x);
    CHECK(heed_graph_read(l.t, &g));
    CHECK(g.count == 2 && !g.nodes[1].activation);
    CHECK_TEXT(g.nodes[1].op.op, "affine");
    heed_graph_free(&g);
    CLOSE(l.c);
}

/* Ops of one name with an op of another between them that waits for the first and that the second
 * waits for. */
TEST(graph_boxes_never_wait_for_themselves) {
    lab l;
    heed_graph g;
    heed_text svg = {0};
    open_lab(&l);
    heed_tensor *x = heed_input(l.t, NULL, 2, (int[]){3, WIDTH});
    const char *name[] = {"cell", "cell", "attend.score", "attend.sum", "cell", "cell"};
    for (int i = 0; i < 6; i++) x = heed_affine(heed_name_scope(l.t, name[i]), x, l.w[i % 4], NULL);
    heed_mean(l.t, x);
    CHECK(heed_graph_read(l.t, &g));
    CHECK(g.nodes[1].group == g.nodes[2].group && g.nodes[5].group == g.nodes[6].group);
    CHECK(g.nodes[1].group != g.nodes[5].group && g.nodes[3].group == g.nodes[4].group);
    svg.c = l.c;
    CHECK(heed_graph_svg(&g, &(heed_graph_view){0}, &svg));
    heed_text_free(&svg);
    heed_graph_free(&g);
    CLOSE(l.c);
}

static int count_of(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) n++;
    return n;
}

TEST(graph_picture_has_every_op) {
    lab l;
    heed_graph g;
    open_lab(&l);
    two_blocks(&l);
    CHECK(heed_graph_read(l.t, &g));
    heed_text svg = {.c = l.c};
    CHECK(heed_graph_svg(&g, &(heed_graph_view){.unfold = true}, &svg));
    CHECK(count_of(svg.s, "<g class") == 10 && count_of(svg.s, "</g>") == 10);
    CHECK(count_of(svg.s, "class=\"tip\"") == 11); /* an arrow for each input */
    CHECK_HAS(svg.s, "block.1.down");
    CHECK_HAS(svg.s, "weight (4,4)");
    CHECK(!strstr(svg.s, "http:") || count_of(svg.s, "http") == 1); /* the namespace alone */
    svg.n = 0;
    CHECK(heed_graph_svg(&g, &(heed_graph_view){0}, &svg));
    CHECK(count_of(svg.s, "<g class") == 7);
    CHECK_HAS(svg.s, "the same as block.0");
    svg.n = 0;
    CHECK(heed_graph_svg(&g, &(heed_graph_view){.depth = 1, .backward = true}, &svg));
    CHECK(count_of(svg.s, "class=\"shut\"") == 2); /* forward and backward */
    CHECK_HAS(svg.s, "8 ops, 64 numbers");
    CHECK_HAS(svg.s, "mean&#39;");
    heed_text_free(&svg);
    heed_graph_free(&g);
    CLOSE(l.c);
}

/* Three levels of boxes: a, a.0 and a.1, and in each of these two more. */
static void nested(lab *l) {
    static const char *const names[] = {"a.0.x.p", "a.0.x.q", "a.0.y.p", "a.0.y.q",
                                        "a.1.x.p", "a.1.x.q", "a.1.y.p", "a.1.y.q"};
    heed_tensor *x = heed_input(l->t, NULL, 2, (int[]){3, WIDTH});
    for (int i = 0; i < 8; i++)
        x = heed_affine(heed_name_scope(l->t, names[i]), x, l->w[i % 4], NULL);
    heed_mean(l->t, x);
}

TEST(graph_boxes_close_at_their_depth) {
    lab l;
    heed_graph g;
    open_lab(&l);
    nested(&l);
    CHECK(heed_graph_read(l.t, &g));
    CHECK(g.group_count == 8);
    static const char *const paths[][2] = {{"a", ""},        {"a.0", "a"},     {"a.1", "a"},
                                           {"a.0.x", "a.0"}, {"a.0.y", "a.0"}, {"a.1.x", "a.1"},
                                           {"a.1.y", "a.1"}};
    for (int i = 0; i < 7; i++) {
        int at = group_of(&g, paths[i][0]);
        CHECK(at > 0 && g.groups[at].parent == group_of(&g, paths[i][1]));
        CHECK(g.groups[at].nodes == (i == 0 ? 8 : i < 3 ? 4 : 2));
    }
    /* ops, shut boxes, open boxes at depths 0 (all open) to 4 */
    static const int want[][3] = {{10, 0, 7}, {2, 1, 0}, {2, 2, 1}, {2, 4, 3}, {10, 0, 7}};
    for (int depth = 0; depth < 5; depth++) {
        heed_text svg = {.c = l.c};
        CHECK(heed_graph_svg(&g, &(heed_graph_view){.depth = depth, .unfold = true}, &svg));
        int shut = count_of(svg.s, "class=\"shut\"");
        CHECK(shut == want[depth][1] && count_of(svg.s, "class=\"box\"") == want[depth][2]);
        CHECK(count_of(svg.s, "<g class") - shut == want[depth][0]);
        heed_text_free(&svg);
    }
    heed_graph_free(&g);
    CLOSE(l.c);
}

TEST(graph_names_are_literal_text) {
    lab l;
    heed_graph g;
    open_lab(&l);
    heed_tensor *x = heed_input(l.t, NULL, 2, (int[]){3, WIDTH});
    heed_mean(l.t, heed_affine(heed_name_scope(l.t, "<b>&\"'\n</svg>"), x, l.w[0], NULL));
    heed_text svg = {.c = l.c};
    CHECK(heed_graph_read(l.t, &g));
    CHECK(heed_graph_svg(&g, &(heed_graph_view){.title = "a<b"}, &svg));
    CHECK(!strstr(svg.s, "<b>") && count_of(svg.s, "</svg>") == 1);
    CHECK_HAS(svg.s, "&lt;b&gt;&amp;&quot;&#39;?&lt;/svg&gt;");
    CHECK_HAS(svg.s, "a&lt;b");
    heed_text_free(&svg);
    heed_graph_free(&g);
    CLOSE(l.c);
}

TEST(graph_of_nothing_is_an_error) {
    lab l;
    heed_graph g;
    open_lab(&l);
    CHECK(!heed_graph_read(l.t, &g));
    CHECK_HAS(heed_ctx_error(l.c), "nothing was recorded");
    heed_graph_free(&g);
    CHECK(!heed_graph_read(NULL, &g));
    heed_clear(l.c);
    CLOSE(l.c);
}
