/* Inputs of a model that is none of the library's: numbers, through every analysis. */
#include "files.h"
#include "lab.h"
#include <heed/inspect.h>

/* ---- a model of numbers with one layer of attention ---- */

typedef struct {
    heed_linear in, out;
    heed_mha attn;
} finder;

enum { LEN = 5, WIDTH = 8, HEADS = 2, CLASSES = 3 };

static bool init(void *self, heed_params *s, const void *f) {
    finder *m = self;
    (void)f;
    heed_linear_init(&m->in, s, "in", (heed_linear_args){.in = 2, .out = WIDTH});
    heed_mha_init(&m->attn, s, "attn", (heed_mha_args){.width = WIDTH, .heads = HEADS});
    heed_linear_init(&m->out, s, "out", (heed_linear_args){.in = WIDTH, .out = CLASSES});
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const finder *m = self;
    heed_tensor *x = heed_linear_apply(&m->in, t, in->x);
    return heed_linear_apply(&m->out, t, heed_mha_apply(&m->attn, t, x, NULL));
}

static bool attending(const void *self, int index, heed_attention_info *out) {
    const finder *m = self;
    *out = (heed_attention_info){.path = m->attn.name,
                                 .stack = HEED_ENCODER,
                                 .heads = HEADS,
                                 .key = m->attn.args.key,
                                 .value = m->attn.args.value,
                                 .beta = 1 / sqrt(m->attn.args.key)};
    return index == 0;
}

static const heed_option options[] = {{0}};
static const heed_model model = {.name = "finder",
                                 .data = &heed_own_positions,
                                 .options = options,
                                 .size = sizeof(finder),
                                 .init = init,
                                 .logits = logits,
                                 .attending = attending};

static const heed_real numbers[LEN * 2] = {1, 0, (heed_real)0.5, -1, -2, 1, 0, 0, 1, 2};

typedef struct {
    finder self;
    heed_run run;
    heed_example e;
} bench;

static void open_bench(bench *b, const heed_model *m) {
    *b = (bench){.run = {.model = m, .step = -1}};
    heed_run *r = &b->run;
    r->c = heed_open(&(heed_options){.seed = 3, .threads = 1});
    r->config = heed_config_new(r->c, (const heed_option *const[]){options, NULL});
    r->store = heed_params_new(r->c);
    r->tape = heed_tape_new(r->c);
    r->self = &b->self;
    CHECK(heed_model_init(m, r->self, r->store, r->config));
    CHECK(heed_run_numbers(r, numbers, 3, SHAPE(1, LEN, 2), "five numbers", &b->e));
}

static void close_bench(bench *b, heed_record *r) {
    heed_record_free(r);
    heed_example_free(&b->e);
    CLOSE(b->run.c);
}

static const heed_record_map *map_of(const heed_record *r, const char *name, int layer, int head) {
    for (int i = 0; r && i < r->map_count; i++) {
        const heed_record_map *m = &r->maps[i];
        if (strcmp(m->name, name) == 0 && m->layer == layer && m->head == head) return m;
    }
    test_fail(__FILE__, __LINE__, "no map %s of layer %d, head %d", name, layer, head);
    return NULL;
}

/* Row `row` of the logits, x in the input's place. */
static void logits_of(bench *b, heed_real *x, int row, double out[CLASSES]) {
    heed_example seen = b->e;
    seen.x = x;
    heed_tape_begin(b->run.tape, HEED_EVAL, 0);
    const heed_tensor *y = heed_run_logits(&b->run, &seen, b->run.tape);
    CHECK(y && y->shape[0] == LEN && y->shape[1] == CLASSES);
    for (int i = 0; y && i < CLASSES; i++) out[i] = (double)y->x[row * CLASSES + i];
}

static double p_of(const double y[CLASSES], int class) {
    double sum = 0;
    for (int i = 0; i < CLASSES; i++) sum += exp(y[i] - y[class]);
    return 1 / sum;
}

static int best_of(const double y[CLASSES]) {
    int best = 0;
    for (int i = 1; i < CLASSES; i++)
        if (y[i] > y[best]) best = i;
    return best;
}

/* ---- what is recorded ---- */

TEST(example_of_numbers_has_their_positions_and_every_head) {
    bench b;
    open_bench(&b, &model);
    heed_record *r = heed_capture(&b.run, &b.e, NULL);
    CHECK(r && r->axis_count == 1 && r->block_count == 1 && r->guess_count == LEN);
    if (r) {
        const heed_record_block *k = &r->blocks[0];
        CHECK(strcmp(r->title, "five numbers") == 0 && strcmp(r->model, "finder of 1 layer") == 0);
        CHECK(strcmp(r->axes[0].labels[0], "1") == 0 && strcmp(r->axes[0].labels[4], "5") == 0);
        CHECK(k->heads == HEADS && k->q && k->raw && strcmp(k->path, "attn") == 0);
        for (int row = 0; row < HEADS * LEN; row++) {
            double sum = 0;
            for (int i = 0; i < LEN; i++) sum += (double)k->weights[row * LEN + i];
            CHECK_CLOSE(sum, 1, 10 * tiny);
        }
        double y[CLASSES];
        logits_of(&b, b.e.x, 2, y);
        CHECK(r->guesses[2].query == 2 && r->guesses[2].count == CLASSES);
        CHECK(atoi(r->guesses[2].labels[0]) == best_of(y));
        CHECK_CLOSE(r->guesses[2].p[0], p_of(y, best_of(y)), 10 * tiny);
    }
    close_bench(&b, r);
}

/* The weights that the model itself computes, and those of the record, in double. */
TEST(example_lesson_is_a_head_of_the_model) {
    bench b;
    int count = 0;
    open_bench(&b, &model);
    heed_record *r = heed_capture(&b.run, &b.e, NULL);
    heed_record_block *layers = heed_attention_layers(&b.run, &count);
    CHECK(r && layers && count == 1);
    for (int head = 0; layers && r && head < HEADS; head++) {
        heed_attention_trace l;
        double off = 1;
        CHECK(heed_attention_trace_of_head(&b.run, &b.e, &layers[0], head, &l, &off));
        CHECK(off < 10 * tiny && l.args.key == WIDTH / HEADS && l.args.width == WIDTH);
        const heed_matrix *w = &l.part[HEED_TRACE_WEIGHTS];
        for (int i = 0; w->x && i < LEN * LEN; i++)
            CHECK_CLOSE(w->x[i], r->blocks[0].weights[head * LEN * LEN + i], 10 * tiny);
        heed_attention_trace_free(&l);
    }
    heed_attention_trace none;
    if (layers)
        CHECK_FAILS(b.run.c,
                    heed_attention_trace_of_head(&b.run, &b.e, &layers[0], HEADS, &none, NULL),
                    HEED_USAGE, "attn has no head 3");
    heed_attention_trace_free(&none);
    free(layers);
    close_bench(&b, r);
}

/* One layer: half of the mean of its heads, half the identity. */
TEST(example_rollout_of_one_layer_is_half_of_its_heads_mean) {
    bench b;
    open_bench(&b, &model);
    heed_record *r = heed_capture(&b.run, &b.e, &(heed_capture_args){.lean = true});
    CHECK(r && heed_rollout_add(&b.run, &b.e, NULL, r));
    const heed_record_map *m = map_of(r, "rollout", -1, -1);
    for (int i = 0; m && i < LEN * LEN; i++) {
        const heed_real *w = r->blocks[0].weights;
        double mean = ((double)w[i] + (double)w[LEN * LEN + i]) / HEADS;
        CHECK_CLOSE(m->values[i], mean / 2 + (i / LEN == i % LEN ? 0.5 : 0), 10 * tiny);
    }
    close_bench(&b, r);
}

TEST(example_occlusion_makes_a_position_zero) {
    bench b;
    open_bench(&b, &model);
    heed_record *r = heed_capture(&b.run, &b.e, &(heed_capture_args){.lean = true});
    CHECK(r && heed_occlusion_add(&b.run, &b.e, NULL, r));
    const heed_record_map *m = map_of(r, "occlusion", -1, -1);
    for (int i = 0; m && i < LEN * LEN; i++) {
        heed_real x[LEN * 2];
        double whole[CLASSES], hidden[CLASSES];
        memcpy(x, numbers, sizeof x);
        logits_of(&b, x, i / LEN, whole);
        x[i % LEN * 2] = x[i % LEN * 2 + 1] = 0;
        logits_of(&b, x, i / LEN, hidden);
        int class = best_of(whole);
        CHECK_CLOSE(m->values[i], p_of(whole, class) - p_of(hidden, class), 10 * tiny);
        if (i % LEN == 3) CHECK(m->values[i] == 0); /* it is zeros already */
    }
    close_bench(&b, r);
}

/* The layer that the model has is what its map of the whole model is made of. */
TEST(example_gradient_of_one_layer_is_the_sum_over_its_heads) {
    bench b;
    open_bench(&b, &model);
    heed_record *r = heed_capture(&b.run, &b.e, &(heed_capture_args){.lean = true});
    heed_gradient_args a = {.question = 1, .by_head = true};
    CHECK(r && heed_gradient_add(&b.run, &b.e, &a, r));
    const heed_record_map *whole = map_of(r, "gradient", -1, -1), *head[HEADS];
    for (int h = 0; h < HEADS; h++) head[h] = map_of(r, "gradient", 0, h);
    double most = 0;
    for (int k = 0; whole && head[0] && head[1] && k < LEN; k++) {
        double sum = (double)head[0]->values[LEN + k] + (double)head[1]->values[LEN + k];
        CHECK_CLOSE(whole->values[LEN + k], sum, 10 * tiny);
        most = fmax(most, sum);
    }
    CHECK(most > 0);
    close_bench(&b, r);
}

/* ---- influence ---- */

/* What the output layer reads at all positions, by the layer before it. */
static void outputs_of(bench *b, heed_real *x, double out[LEN * WIDTH]) {
    heed_example seen = b->e;
    seen.x = x;
    heed_probe(b->run.tape, "attn.out.out", false);
    heed_tape_begin(b->run.tape, HEED_EVAL, 0);
    heed_run_logits(&b->run, &seen, b->run.tape);
    const heed_tensor *y = heed_probe_find(b->run.tape, "attn.out.out");
    CHECK(y && y->size == LEN * WIDTH);
    for (int i = 0; y && i < LEN * WIDTH; i++) out[i] = (double)y->x[i];
    heed_probe_clear(b->run.tape);
}

TEST(example_influence_is_the_norm_of_differences) {
    bench b;
    open_bench(&b, &model);
    double square[LEN * LEN] = {0}, step = is_double ? 1e-5 : 1e-2;
    for (int i = 0; i < LEN * 2; i++) {
        heed_real x[LEN * 2];
        double up[LEN * WIDTH], down[LEN * WIDTH];
        memcpy(x, numbers, sizeof x);
        x[i] += (heed_real)step;
        outputs_of(&b, x, up);
        x[i] -= (heed_real)(2 * step);
        outputs_of(&b, x, down);
        for (int k = 0; k < LEN * WIDTH; k++) {
            double d = (up[k] - down[k]) / (2 * step);
            square[k / WIDTH * LEN + i / 2] += d * d;
        }
    }
    heed_record *r = heed_influence(&b.run, &b.e, NULL);
    CHECK(r && r->map_count == 1 && strstr(r->maps[0].help, "exact, over all 8 units"));
    for (int i = 0; r && i < LEN * LEN; i++)
        CHECK_CLOSE(r->maps[0].values[i], sqrt(square[i]), is_double ? 1e-7 : 5e-3);
    close_bench(&b, r);
}

TEST(example_influence_is_estimated_with_as_many_draws) {
    bench b;
    open_bench(&b, &model);
    heed_text how[2] = {{.c = b.run.c}, {.c = b.run.c}};
    heed_record *exact =
        heed_influence(&b.run, &b.e, &(heed_influence_args){.exact = true, .how = &how[0]});
    heed_record *r =
        heed_influence(&b.run, &b.e, &(heed_influence_args){.draws = 2000, .how = &how[1]});
    CHECK(exact && r && strstr(r->maps[0].help, "from 2000 random directions of 8 units"));
    CHECK_TEXT(how[0].s, "exact, over all 8 units");
    CHECK(how[1].s && strstr(how[1].s, "an estimate from 2000 random directions") == how[1].s);
    for (int i = 0; i < 2; i++) heed_text_free(&how[i]);
    for (int i = 0; exact && r && i < LEN * LEN; i++) {
        double whole = (double)exact->maps[0].values[i];
        CHECK_CLOSE(r->maps[0].values[i], whole, 0.1 * whole);
    }
    heed_record_free(exact);
    close_bench(&b, r);
}

/* ---- stopped and refused ---- */

typedef struct {
    uint64_t calls, last, all;
} watcher;

static bool stop_at_two(void *user, uint64_t done, uint64_t all) {
    watcher *w = user;
    w->calls++;
    w->last = done;
    w->all = all;
    return done < 2;
}

TEST(example_stops_where_progress_says_so) {
    bench b;
    open_bench(&b, &model);
    watcher w = {0};
    heed_record *r = heed_capture(&b.run, &b.e, NULL);
    CHECK(!heed_occlusion_add(&b.run, &b.e,
                              &(heed_occlusion_args){.progress = stop_at_two, .user = &w}, r));
    CHECK(w.calls == 2 && w.last == 2 && w.all == LEN);
    CHECK(heed_ctx_status(b.run.c) == HEED_INTERRUPTED && r->map_count == 0);
    heed_clear(b.run.c);
    CHECK(!heed_gradient_add(
        &b.run, &b.e, &(heed_gradient_args){.question = -1, .progress = stop_at_two, .user = &w},
        r));
    CHECK(w.calls == 4 && heed_ctx_status(b.run.c) == HEED_INTERRUPTED && r->map_count == 0);
    heed_clear(b.run.c);
    CHECK(
        !heed_influence(&b.run, &b.e, &(heed_influence_args){.progress = stop_at_two, .user = &w}));
    CHECK(w.calls == 5 && w.last == 32 && w.all == LEN * WIDTH);
    heed_clear(b.run.c);
    close_bench(&b, r);
}

TEST(example_refuses_what_the_model_does_not_read) {
    bench b;
    open_bench(&b, &model);
    heed_ctx *c = b.run.c;
    heed_example other = {0};
    CHECK(!heed_run_numbers(&b.run, numbers, 3, SHAPE(2, LEN, 1), "two rows", &other));
    CHECK_HAS(heed_ctx_error(c), "expected (1,T) or (1,T,d)");
    heed_clear(c);
    CHECK(!heed_run_example(&b.run, "nothing", &other));
    CHECK_HAS(heed_ctx_error(c), "finder reads numbers");
    heed_clear(c);
    CHECK_FAILS(c, heed_capture(&b.run, &other, NULL), HEED_USAGE, "the example has no axes");
    heed_example_free(&other);
    close_bench(&b, NULL);
}

/* As after any call that failed: no run, or no example. */
TEST(example_of_nothing_does_nothing) {
    heed_example e = {0};
    int count;
    CHECK(!heed_run_text(NULL, "text", 4, NULL, &e) && !e.title);
    CHECK(!heed_run_tokens(NULL, (int32_t[]){1}, 1, &e));
    CHECK(!heed_run_picture(NULL, NULL, "", NULL, &e));
    CHECK(!heed_run_numbers(NULL, numbers, 2, SHAPE(1, LEN), NULL, &e));
    CHECK(!heed_run_example(NULL, NULL, &e) && !heed_attention_layers(NULL, &count));
    CHECK(!heed_capture(NULL, &e, NULL) && !heed_influence(NULL, &e, NULL) &&
          !heed_run_logits(NULL, &e, NULL));
    CHECK(!heed_rollout_add(NULL, &e, NULL, NULL) && !heed_occlusion_add(NULL, &e, NULL, NULL));
    CHECK(!heed_gradient_add(NULL, &e, NULL, NULL));
    heed_example_free(&e);
    heed_example_free(NULL);
}

TEST(example_of_a_model_without_attention_says_so) {
    heed_model blind = model;
    blind.attending = NULL;
    bench b;
    open_bench(&b, &blind);
    CHECK(!heed_capture(&b.run, &b.e, NULL));
    CHECK(heed_ctx_status(b.run.c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(b.run.c), "the model does not attend: this finder");
    heed_clear(b.run.c);
    heed_record *r = heed_influence(&b.run, &b.e, NULL); /* which needs none */
    CHECK(r != NULL);
    close_bench(&b, r);
}
