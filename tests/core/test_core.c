/* Context, random streams, store, tape: with ops of the test's own. */
#define _DEFAULT_SOURCE /* setenv */
#include "core/tape.h"
#include "test.h"

#include "core/core.h"
#include "core/os.h"

#include <locale.h>

/* y = x^2 */
static bool square_infer(heed_node *n) { return heed_op_output_like(n, 0); }
static void square_forward(heed_node *n) {
    for (size_t i = 0; i < n->y->size; i++) n->y->x[i] = n->in[0]->x[i] * n->in[0]->x[i];
    heed_tensor *kept =
        heed_probe_get(n, "double") ? heed_op_save(n, "double", n->y->dims, n->y->shape) : NULL;
    for (size_t i = 0; kept && i < kept->size; i++) kept->x[i] = 2 * n->in[0]->x[i];
}
static void square_backward(heed_node *n) {
    heed_real *g = heed_grad(n, 0);
    for (size_t i = 0; g && i < n->y->size; i++) g[i] += 2 * n->in[0]->x[i] * n->y->g[i];
    if (n->kept_count && n->kept[0]->g) n->kept[0]->g[0] = 7;
}
static const heed_op square[] = {
    {"square", "r", square_infer, square_forward, square_backward, NULL, 0}};
static const heed_op forward_only[] = {
    {"forward_only", "r", square_infer, square_forward, NULL, NULL, 0}};

/* y = sum of x */
static bool total_infer(heed_node *n) { return heed_op_output(n, 0, NULL); }
static void total_forward(heed_node *n) {
    n->y->x[0] = 0;
    for (size_t i = 0; i < n->in[0]->size; i++) n->y->x[0] += n->in[0]->x[i];
}
static void total_backward(heed_node *n) {
    heed_real *g = heed_grad(n, 0);
    for (size_t i = 0; g && i < n->in[0]->size; i++) g[i] += n->y->g[0];
}
static const heed_op total[] = {
    {"total", "r", total_infer, total_forward, total_backward, NULL, 0}};

/* a view of the second half */
static bool half_infer(heed_node *n) {
    int size = (int)(n->in[0]->size / 2);
    return heed_op_output_view(n, 0, (size_t)size, 1, &size);
}
static const heed_op half[] = {{"half", "r", half_infer, NULL, heed_view_backward, NULL, 0}};

typedef struct {
    int count;
    char last[256];
} messages;
static void keep_message(void *user, heed_level level, const char *text) {
    messages *m = user;
    m->count += level == HEED_WARN;
    snprintf(m->last, sizeof m->last, "%s", text);
}

TEST(core_philox_matches_its_published_vectors) {
    static const struct {
        uint64_t key;
        uint32_t counter[4], out[4];
    } known[] = {
        {0, {0, 0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, {~0u, ~0u, ~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x299f31d0a4093822u,
         {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        heed__philox(known[i].key, known[i].counter, out);
        for (int j = 0; j < 4; j++) CHECK(out[j] == known[i].out[j]);
    }
}

TEST(core_random_streams_have_the_right_moments) {
    heed_random r = heed_random_at(3, "somewhere", 5, 0);
    double mean = 0, square_mean = 0, uniform = 0, tail = 0;
    const int n = 200000;
    for (int i = 0; i < n; i++) {
        double v = heed_random_normal(&r, (uint64_t)i);
        mean += v / n;
        square_mean += v * v / n;
        tail += (fabs(v) > 1.959964) / (double)n;
        uniform += heed_random_uniform(&r, (uint64_t)i) / n;
        CHECK(heed_random_below(&r, (uint64_t)i, 7) < 7);
    }
    CHECK_CLOSE(mean, 0, 0.01);
    CHECK_CLOSE(square_mean, 1, 0.015);
    CHECK_CLOSE(tail, 0.05, 0.002);
    CHECK_CLOSE(uniform, 0.5, 0.003);
    heed_random other = heed_random_at(3, "elsewhere", 5, 0),
                later = heed_random_at(3, "somewhere", 6, 0);
    CHECK(heed__random_bits(&r, 0) != heed__random_bits(&other, 0));
    CHECK(heed__random_bits(&r, 0) != heed__random_bits(&later, 0));
    CHECK(heed__random_bits(&r, 17) == heed__random_bits(&r, 17));
}

TEST(core_random_permutations_are_permutations) {
    static const uint64_t sizes[] = {1, 2, 3, 5, 64, 65, 1000};
    for (int i = 0; i < 7; i++) {
        heed_random r = heed_random_at(3, "order", (uint64_t)i, 0);
        bool seen[1000] = {0};
        uint64_t moved = 0;
        for (uint64_t j = 0; j < sizes[i]; j++) {
            uint64_t to = heed_random_permute(&r, j, sizes[i]);
            CHECK(to < sizes[i] && !seen[to]);
            seen[to] = true;
            moved += to != j;
        }
        if (sizes[i] >= 64) CHECK(moved > sizes[i] * 9 / 10);
    }
    int first[4] = {0}; /* every element comes first equally often */
    for (uint64_t e = 0; e < 4000; e++) {
        heed_random r = heed_random_at(3, "order", e, 0);
        first[heed_random_permute(&r, 0, 4)]++;
    }
    for (int j = 0; j < 4; j++) CHECK_CLOSE(first[j], 1000, 140);
}

TEST(core_names_an_input_that_does_not_exist) {
    heed_ctx *c = heed_open(NULL);
    bool run;
    size_t n;
    CHECK_TEXT(heed_ctx_missing(c, NULL), "");
    CHECK(!heed_fail_input(c, "no/such", true, "%s is no run", "no/such"));
    CHECK(heed_ctx_status(c) == HEED_DATA);
    CHECK_TEXT(heed_ctx_error(c), "no/such is no run");
    heed_fail_input(c, "another", false, "second");
    CHECK_TEXT(heed_ctx_missing(c, &run), "no/such");
    CHECK(run);
    heed_clear(c);
    CHECK_TEXT(heed_ctx_missing(c, NULL), "");
    heed_fail_input(c, "/", true, "/ is no run"); /* it exists */
    CHECK_TEXT(heed_ctx_missing(c, &run), "");
    CHECK(!run);
    heed_clear(c);
    heed_fail_input(c, "/dev/null/x", false, "below a file"); /* no folder: another error */
    CHECK_TEXT(heed_ctx_missing(c, NULL), "");
    heed_clear(c);
    CHECK(!heed_text_read(c, "no-file", &n)); /* any reading of a file */
    CHECK_TEXT(heed_ctx_missing(c, &run), "no-file");
    CHECK(!run);
    heed_close(c);
}

TEST(core_first_error_sticks_and_null_is_accepted) {
    heed_ctx *c = heed_open(NULL);
    CHECK(!heed_fail(c, HEED_DATA, "first %d", 1));
    heed_fail(c, HEED_USAGE, "second");
    CHECK(heed_ctx_status(c) == HEED_DATA);
    CHECK_TEXT(heed_ctx_error(c), "first 1");
    CHECK(!heed_params_new(c));
    CHECK(!heed_tape_new(c));
    CHECK(!heed_param_new(NULL, "w", "zero", 1, (int[]){1}));
    CHECK(!heed_push(NULL, square, NULL, (heed_tensor *)NULL));
    CHECK(!heed_backward(NULL, NULL));
    heed_tape_begin(NULL, HEED_TRAIN, 0);
    heed_clear(c);
    CHECK(heed_params_new(c) != NULL);
    CLOSE(c);
    heed_close(NULL);
    CHECK(heed_ctx_status(NULL) == HEED_FAILED);
}

TEST(core_store_names_and_patterns) {
    heed_ctx *c = heed_open(NULL);
    heed_params *s = heed_params_new(c);
    CHECK_TEXT(heed_scope_push(s, "block.%d", 3), "block.3");
    heed_param_new(s, "w", "one", 2, (int[]){2, 3});
    heed_scope_push(s, "inner");
    heed_tensor *b = heed_param_new(s, "b", "zero", 1, (int[]){2});
    heed_scope_pop(s);
    heed_buffer_new(s, "mean", "zero", 1, (int[]){2});
    heed_scope_pop(s);
    CHECK_TEXT(b->name, "block.3.inner.b");
    CHECK(heed_params_count(s) == 3 && heed_params_numel(s) == 8);
    CHECK(heed_params_find(s, "block.3.w")->decay &&
          !heed_params_find(s, "block.3.inner.b")->decay);
    CHECK(heed_freeze(s, "block.*.b") == 1 && !heed_params_find(s, "block.3.inner.b")->trained);
    CHECK(heed_set_lr_scale(s, "*", (heed_real)0.5) == 2); /* state is never trained */
    CHECK(!heed_param_new(s, "x", "gauss", 1, (int[]){1}));
    CHECK_HAS(heed_ctx_error(c), "expected zero, one");
    heed_clear(c);
    heed_param_new(s, "x", "zero", 1, (int[]){1});
    CHECK(!heed_param_new(s, "x", "zero", 1, (int[]){1}));
    CHECK_HAS(heed_ctx_error(c), "x exists already");
    heed_clear(c);
    CHECK(!heed_param_new(s, "huge", "zero", 4, (int[]){1 << 30, 1 << 30, 1 << 30, 2}));
    CHECK_HAS(heed_ctx_error(c), "huge");
    heed_clear(c);
    CLOSE(c);
}

TEST(core_match_knows_stars) {
    CHECK(heed_match("encoder.*.weights", "encoder.0.attn.weights"));
    CHECK(heed_match("*", "") && heed_match("a*b*c", "aXbYbZc") && heed_match("?b", "ab"));
    CHECK(!heed_match("a*b", "ac") && !heed_match("", "a") && !heed_match("a", "") &&
          !heed_match("?", ""));
}

TEST(core_initial_values_depend_on_seed_and_name_alone) {
    heed_real first[2] = {0, 0};
    for (int order = 0; order < 2; order++) {
        heed_ctx *c = heed_open(&(heed_options){.seed = 9});
        heed_params *s = heed_params_new(c);
        if (order) heed_param_new(s, "other", "normal:1", 1, (int[]){5});
        first[order] = heed_param_new(s, "w", "normal:1", 1, (int[]){5})->x[3];
        CLOSE(c);
    }
    CHECK(first[0] == first[1] && first[0] != 0);
}

TEST(core_backward_adds_over_every_use) {
    heed_ctx *c = heed_open(NULL);
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *w = heed_param_new(s, "w", "const:3", 1, (int[]){4});
    for (int step = 0; step < 3; step++) {
        heed_tape_begin(t, HEED_TRAIN, (uint64_t)step);
        heed_tensor *y = heed_push(t, square, NULL, w), *z = heed_push(t, half, NULL, y);
        heed_tensor *loss = heed_push(t, total, NULL, heed_push(t, square, NULL, z));
        CHECK(heed_backward(t, loss));
        CHECK_CLOSE(w->g[0], 0, 0); /* d (w^4) over the second half */
        CHECK_CLOSE(w->g[3], 4 * 27, 1e-4);
        heed_zero_grads(s);
        CHECK(!heed__of(w)->touched && w->g[3] == 0);
    }
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *loss = heed_push(t, total, NULL, w);
    CHECK(heed__tape_used(t).nodes == 0);
    CHECK(!heed_backward(t, loss));
    CHECK_HAS(heed_ctx_error(c), "HEED_TRAIN");
    heed_clear(c);
    CLOSE(c);
}

TEST(core_gradients_of_inputs_and_probes_can_be_asked_for) {
    heed_ctx *c = heed_open(NULL);
    heed_tape *t = heed_tape_new(c);
    heed_probe(t, "here.*", true);
    heed_tape_begin(t, HEED_TRAIN, 0);
    heed_tensor *x = heed_want_grad(t, heed_input(t, (heed_real[]){1, 2}, 1, (int[]){2}));
    heed_tensor *y = heed_push(heed_name_scope(t, "here"), square, NULL, x);
    heed_backward(t, heed_push(t, total, NULL, y));
    CHECK_CLOSE(x->g[1], 4, 0);
    heed_tensor *kept = heed_probe_find(t, "here.double"), *out = heed_probe_find(t, "here.out");
    CHECK(kept && kept->x[1] == 4 && kept->g && kept->g[0] == 7);
    CHECK(out == y && out->g && out->g[0] == 1);
    CHECK(heed_probe_count(t) == 2);
    heed_probe_clear(t);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_push(heed_name_scope(t, "here"), square, NULL, heed_input(t, NULL, 1, (int[]){2}));
    CHECK(heed_probe_count(t) == 0);
    CLOSE(c);
}

/* Whatever order a compiler evaluates arguments in. */
TEST(core_names_reach_the_node_they_were_given_to) {
    heed_ctx *c = heed_open(NULL);
    heed_tape *t = heed_tape_new(c);
    heed_tape_begin(t, HEED_TRACE, 0);
    heed_tensor *x = heed_want_grad(t, heed_input(t, (heed_real[]){1, 2}, 1, (int[]){2}));
    heed_tape *outer = heed_name_scope(t, "outer"), *inner = heed_name_scope(t, "inner");
    heed_tensor *plain = heed_push(t, square, NULL, x);
    heed_tensor *within = heed_push(inner, square, NULL, plain);
    heed_tensor *around = heed_push(outer, square, NULL, within);
    heed_tensor *again = heed_push(outer, square, NULL, around);
    CHECK(!plain->node->named && !again->node->named);
    CHECK_TEXT(within->node->name, "inner");
    CHECK_TEXT(around->node->name, "outer");
    heed_tensor *nested =
        heed_push(heed_name_scope(t, "a"), square, NULL,
                  heed_push(heed_name_scope(t, "b"), square, NULL, heed_push(t, square, NULL, x)));
    CHECK_TEXT(nested->node->name, "a");
    CHECK_TEXT(nested->node->in[0]->node->name, "b");
    CHECK(!nested->node->in[0]->node->in[0]->node->named);
    CHECK(nested->node->tape == t && nested->x[1] == 256);
    CHECK(heed_backward(heed_name_scope(t, "c"), heed_push(t, total, NULL, again)) &&
          x->g[0] == 16);
    CLOSE(c);
}

/* Of a value that no trained one led to, and in a pass that trains nothing. */
/* Under HEED_TRACE no parameter wants a gradient, so that the probe begins the recording. */
TEST(core_probed_outputs_begin_a_traced_recording) {
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *w = heed_param_new(s, "w", "const:3", 2, (int[]){1, 1});
    heed_probe(t, "first.out", true);
    heed_tape_begin(t, HEED_TRACE, 0);
    heed_tensor *x = heed_input(t, (heed_real[]){2}, 2, (int[]){1, 1});
    heed_tensor *y = heed_affine(heed_name_scope(t, "first"), x, w, NULL);
    heed_tensor *z =
        heed_mean(t, heed_mul(t, y, heed_affine(heed_name_scope(t, "second"), y, w, NULL)));
    CHECK(heed_probe_find(t, "first.out") == y);
    CHECK(heed_backward(t, z)); /* z = 3 y^2 at y = 6 */
    CHECK(y->g && y->g[0] == 36);
    CHECK(!heed__of(w)->touched && !x->g);
    CLOSE(c);
}

TEST(core_recorded_ops_can_be_read) {
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *w = heed_param_new(s, "w", "one", 2, (int[]){3, 2});
    heed_tape_begin(t, HEED_TRAIN, 0);
    heed_tensor *x = heed_input(t, NULL, 2, (int[]){4, 2});
    heed_tensor *constant = heed_scale(t, x, 2, 0);
    heed_tensor *y = heed_affine(heed_name_scope(t, "layer"), constant, w, NULL);
    heed_tensor *loss = heed_mean(t, y);
    CHECK(heed__tape_used(t).nodes == 2); /* the scaling wants no gradient */
    heed_recorded first = heed__recorded_at(t, 0), last = heed__recorded_at(t, 1);
    CHECK_TEXT(first.op, "affine");
    CHECK_TEXT(first.name, "layer");
    CHECK(first.index == 1 && first.y == y && first.inputs == 3);
    CHECK(first.in[0] == constant && first.in[1] == w && !first.in[2]);
    CHECK(!last.name && last.y == loss && last.in[0] == y);
    CHECK_TEXT(heed__recorded_by(constant).op, "scale");
    CHECK(!heed__recorded_by(x).op && !heed__recorded_by(w).op && !heed__recorded_by(NULL).op);
    CHECK(!heed__recorded_at(t, 2).op && !heed__recorded_at(t, -1).op &&
          !heed__recorded_at(NULL, 0).op);
    CLOSE(c);
}

TEST(core_gradients_of_computed_values_can_be_asked_for) {
    messages m = {0};
    heed_ctx *c = heed_open(&(heed_options){.log = keep_message, .user = &m});
    heed_params *s = heed_params_new(c);
    heed_tensor *w = heed_param_new(s, "w", "one", 1, (int[]){2});
    heed_param_new(s, "unused", "one", 1, (int[]){2});
    heed_tape *t = heed_tape_new(c);
    for (heed_mode mode = HEED_TRAIN; mode <= HEED_TRACE; mode++) {
        heed_tape_begin(t, mode, 0);
        heed_tensor *x = heed_input(t, (heed_real[]){1, 2}, 1, (int[]){2});
        heed_tensor *y = heed_want_grad(t, heed_push(t, square, NULL, x));
        CHECK(heed_backward(t, heed_push(t, total, NULL, y)));
        CHECK(y->g && y->g[0] == 1 && !x->g);
    }
    heed_want_grad(t, w);
    CHECK(heed_backward(t, heed_push(t, total, NULL, w)));
    CHECK(w->g && w->g[0] == 1);
    CHECK(m.count == 0); /* HEED_TRACE reports no parameter */
    CLOSE(c);
}

/* Somebody who looks at gradients between two updates leaves the next one as it was. */
TEST(core_traced_gradients_leave_parameters_alone) {
    heed_ctx *c = heed_open(NULL);
    heed_params *s = heed_params_new(c);
    heed_tensor *w = heed_param_new(s, "w", "const:3", 1, (int[]){2});
    heed_tape *t = heed_tape_new(c);
    for (int trained = 0; trained < 2; trained++) {
        heed_tape_begin(t, HEED_TRACE, 0);
        heed_tensor *y = heed_want_grad(t, heed_push(t, square, NULL, w));
        CHECK(heed_backward(t, heed_push(t, total, NULL, y)) && y->g[1] == 1);
        CHECK(heed__of(w)->touched == (trained == 1) && (!w->g || w->g[0] == 6));
        heed_tape_begin(t, HEED_TRAIN, 0);
        heed_zero_grads(s);
        CHECK(heed_backward(t, heed_push(t, total, NULL, heed_push(t, square, NULL, w))));
        CHECK(heed__of(w)->touched && w->g[0] == 6);
    }
    CLOSE(c);
}

/* loss = sum(v^2) + sum(x^2) with v a view of the second half of x: dv = 2 v, dx = 2 x (+ 2 v). */
TEST(core_views_have_gradients_of_their_own) {
    heed_ctx *c = heed_open(NULL);
    heed_tape *t = heed_tape_new(c);
    for (int asked = 0; asked < 2; asked++) {
        heed_tape_begin(t, HEED_TRACE, 0);
        heed_tensor *leaf = heed_input(t, (heed_real[]){0, 0, 0, 0, 1, 2, 3, 4}, 1, (int[]){8});
        heed_tensor *x = heed_push(t, half, NULL, heed_want_grad(t, leaf));
        heed_tensor *v = heed_push(t, half, NULL, asked ? heed_want_grad(t, x) : x);
        heed_tensor *w = heed_push(t, half, NULL, asked ? heed_want_grad(t, v) : v);
        heed_tensor *sum[] = {heed_push(t, square, NULL, x), heed_push(t, square, NULL, v),
                              heed_push(t, square, NULL, w)};
        heed_tensor *loss = heed_push(t, total, NULL, heed_concat(t, 0, 3, sum));
        CHECK(heed_backward(t, loss));
        for (int i = 0; i < 4; i++) CHECK(leaf->g[i] == 0);
        CHECK(leaf->g[4] == 2 && leaf->g[5] == 4 && leaf->g[6] == 12 && leaf->g[7] == 24);
        if (asked) CHECK(v->g[0] == 6 && v->g[1] == 16 && x->g[1] == 4 && x->g[2] == 12);
    }
    CLOSE(c);
}

/* ---- locale ---- */

/* One whose point is a comma: of the machine, or made here. */
static bool speak_german(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    char line[256];
    for (int i = 0; i < 3; i++)
        if (setlocale(LC_ALL, names[i])) return true;
    snprintf(line, sizeof line, "localedef -i de_DE -f UTF-8 %s/de 2>/dev/null", test_folder());
    setenv("LOCPATH", test_folder(), 1);
    return system(line) >= 0 && setlocale(LC_ALL, "de");
}

TEST(core_initial_values_know_points_in_any_locale) {
    char text[40];
    if (!speak_german()) puts("no locale with a decimal comma: the test shows nothing");
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_params *s = heed_params_new(c);
    const heed_tensor *a = heed_param_new(s, "a", "const:0.25", 1, (int[]){2});
    snprintf(text, sizeof text, "const:%g", 0.25);
    const heed_tensor *b = heed_param_new(s, "b", text, 1, (int[]){2});
    CHECK(a && a->x[0] == (heed_real)0.25 && b && b->x[0] == (heed_real)0.25);
    CHECK_TEXT(heed__number_text(text, 0.125, 0), "0.125");
    CHECK_TEXT(heed__number_text(text, 1.0 / 3, 4), "0.3333");
    CLOSE(c);
    setlocale(LC_ALL, "C");
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 300 };
typedef struct {
    heed_ctx *c;
    const heed_tensor *w;
    int number, right;
} worker;

static void infer_often(void *data) {
    worker *k = data;
    for (int i = 0; i < ROUNDS; i++) {
        heed_tape *t = heed_tape_new(k->c);
        heed_tape_begin(t, HEED_EVAL, 0);
        heed_tensor *x = heed_input(t, k->w->x, 1, (int[]){2});
        heed_tensor *y = heed_push(t, square, NULL, x);
        k->right += y && y->x[1] == 9;
        heed_tape_free(t);
    }
    heed_fail(k->c, HEED_FAILED, "from thread %d", k->number);
}

TEST(core_one_context_serves_many_threads) {
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_params *s = heed_params_new(c);
    const heed_tensor *w = heed_param_new(s, "w", "const:3", 1, (int[]){2});
    heed__thread *thread[THREADS];
    worker work[THREADS];
    int right = 0, first = -1;
    for (int i = 0; i < THREADS; i++) {
        work[i] = (worker){c, w, i, 0};
        thread[i] = heed__thread_start(NULL, infer_often, &work[i]);
    }
    for (int i = 0; i < THREADS; i++) heed__thread_join(thread[i]);
    for (int i = 0; i < THREADS; i++) right += work[i].right;
    /* the thread that was through first stops the others, with a message of its own */
    CHECK(right >= ROUNDS && heed_ctx_status(c) == HEED_FAILED);
    CHECK(sscanf(heed_ctx_error(c), "from thread %d", &first) == 1 && work[first].right == ROUNDS);
    heed_close(c);
}

TEST(core_missing_backward_is_refused_when_recorded) {
    heed_ctx *c = heed_open(NULL);
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *w = heed_param_new(s, "w", "one", 1, (int[]){2});
    heed_tape_begin(t, HEED_EVAL, 0);
    CHECK(heed_push(t, forward_only, NULL, w) != NULL);
    heed_tape_begin(t, HEED_TRAIN, 0);
    CHECK(heed_push(t, forward_only, NULL, heed_input(t, NULL, 1, (int[]){2})) != NULL);
    CHECK(!heed_push(heed_name_scope(t, "encoder.0"), forward_only, NULL, w));
    CHECK_HAS(heed_ctx_error(c), "forward_only at encoder.0: no backward");
    heed_clear(c);
    CLOSE(c);
}

TEST(core_parameter_without_gradient_is_reported_once) {
    messages m = {0};
    heed_ctx *c = heed_open(&(heed_options){.log = keep_message, .user = &m});
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *w = heed_param_new(s, "used", "one", 1, (int[]){2});
    heed_param_new(s, "forgotten", "one", 1, (int[]){2});
    for (int step = 0; step < 3; step++) {
        heed_tape_begin(t, HEED_TRAIN, (uint64_t)step);
        heed_backward(t, heed_push(t, total, NULL, w));
        heed_zero_grads(s);
    }
    CHECK(m.count == 1);
    CHECK_HAS(m.last, "parameter forgotten gets no gradient");
    CLOSE(c);
}

TEST(core_arena_stops_growing) {
    heed_ctx *c = heed_open(NULL);
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *w = heed_param_new(s, "w", "one", 2, (int[]){300, 100});
    size_t reserved[5];
    for (int step = 0; step < 5; step++) {
        heed_tape_begin(t, HEED_TRAIN, (uint64_t)step);
        heed_tensor *y = w;
        for (int i = 0; i < 10; i++) y = heed_push(t, square, NULL, y);
        heed_backward(t, heed_push(t, total, NULL, y));
        heed_zero_grads(s);
        reserved[step] = heed__tape_used(t).reserved;
    }
    CHECK(reserved[1] == reserved[2] && reserved[2] == reserved[4]);
    /* ten outputs and, as dead gradients are used again, two of them: not ten */
    CHECK(heed__tape_used(t).bytes < 13 * w->size * sizeof(heed_real));
    CLOSE(c);
}

TEST(core_shapes_that_overflow_are_refused) {
    heed_ctx *c = heed_open(NULL);
    heed_tape *t = heed_tape_new(c);
    heed_tape_begin(t, HEED_EVAL, 0);
    CHECK(!heed_input(t, NULL, 4, (int[]){1 << 30, 1 << 30, 1 << 30, 4}));
    CHECK(heed_ctx_status(c) == HEED_USAGE);
    heed_clear(c);
    CHECK(!heed_input(t, NULL, 1, (int[]){-1}));
    heed_clear(c);
    CHECK(!heed_input(t, NULL, 3, (int[]){1 << 20, 1 << 20, 1 << 10}));
    CHECK(heed_ctx_status(c) == HEED_FAILED);
    CHECK_HAS(heed_ctx_error(c), "out of memory");
    heed_clear(c);
    CLOSE(c);
}
