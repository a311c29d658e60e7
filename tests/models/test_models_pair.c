/* Models of pairs: sizes, what logits depend on, and targets made by them. Values and training
 * against PyTorch: tests/models/test_golden_models.c. */
#include "test.h"
#include <heed/models.h>

static const double tiny = sizeof(heed_real) == 8 ? 1e-12 : 5e-6;

/* A model built from "key=value ..." settings. */
typedef struct {
    heed_ctx *c;
    heed_config *f;
    heed_store *s;
    heed_tape *t;
    void *self;
    const heed_model *model;
} built;

static void set_all(heed_config *f, const char *settings) {
    char text[512];
    snprintf(text, sizeof text, "%s", settings);
    for (char *pair = strtok(text, " "); pair; pair = strtok(NULL, " ")) {
        char *value = strchr(pair, '=');
        *value++ = 0;
        heed_config_set(f, pair, value, "test", HEED_FROM_FLAG);
    }
}

/* Weights of some size, so that attention is far from even. */
static void shake(heed_store *s) {
    for (int i = 0; i < heed_store_count(s); i++) {
        heed_tensor *x = heed_store_at(s, i)->tensor;
        heed_random r = heed_random_at(3, x->name, 0, 0);
        for (size_t j = 0; j < x->size; j++)
            x->x[j] += (heed_real)(0.4 * heed_random_normal(&r, j));
    }
}

static built build(const heed_model *model, const char *settings) {
    built b = {.c = heed_open(&(heed_options){.seed = 5, .threads = 1}), .model = model};
    b.f = heed_config_new(b.c, (const heed_option *const[]){model->options, NULL});
    b.s = heed_store_new(b.c);
    b.t = heed_tape_new(b.c);
    b.self = calloc(1, model->size);
    set_all(b.f, settings);
    heed_model_init(model, b.self, b.s, b.f);
    shake(b.s);
    return b;
}

static void discard(built *b, const char *file, int line) {
    free(b->self);
    test_close(b->c, file, line);
}
#define DISCARD(b) discard(&(b), __FILE__, __LINE__)

static void check_same(const heed_tensor *a, const heed_tensor *b, double tolerance) {
    CHECK(a && b && a->size == b->size);
    for (size_t i = 0; a && b && a->size == b->size && i < a->size; i++)
        CHECK_CLOSE(a->x[i], b->x[i], tolerance);
}

#define SEQ2SEQ "layers=2 heads=2 width=8 ff=12 block=8 vocab=11 "
#define RNN     "width=6 block=8 vocab=11 "

/* Every kind of both models. */
static const struct {
    const heed_model *model;
    const char *settings;
} kinds[] = {
    {&heed_model_seq2seq, SEQ2SEQ},
    {&heed_model_seq2seq, SEQ2SEQ "norm=pre positions=learned decoder-layers=1 tie=false"},
    {&heed_model_seq2seq, SEQ2SEQ "share-vocab=false source-vocab=9 key-width=3 value-width=5 "
                                  "head-bias=true attention=explicit"},
    {&heed_model_rnn, RNN},
    {&heed_model_rnn, RNN "hard=true"},
    {&heed_model_rnn, RNN "cell=lstm layers=2 attention=none"},
    {&heed_model_rnn, RNN "cell=rnn attention=dot one-bias=true"},
    {&heed_model_rnn, RNN "cell=gru attention=general bidirectional=false bridge=copy layers=2"},
    {&heed_model_rnn, RNN "cell=lstm attention=scaled value-width=3 share-vocab=false "
                          "source-vocab=9"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const int32_t sources[] = {3, 5, 7, 2, 0, 8, 4, 6, 1, 2},
                     pads[] = {1, 1, 1, 1, 0, 1, 1, 1, 1, 1};
static const int32_t targets[] = {1, 4, 9, 3, 1, 6, 5, 10}, labels[] = {4, 9, 3, 2, 6, 5, 2, -100};
static const heed_batch batch = {.rows = 2,
                                 .len = 4,
                                 .src_len = 5,
                                 .src = sources,
                                 .src_pad = pads,
                                 .ids = targets,
                                 .labels = labels};

static heed_tensor *logits_of(const built *b, heed_model_input in) {
    return b->model->logits(b->self, b->t, &in);
}

static heed_tensor *all_logits(const built *b) {
    return logits_of(b, (heed_model_input){.x = heed_ids(b->t, sources, 2, 5),
                                           .pad = heed_ids(b->t, pads, 2, 5),
                                           .target = heed_ids(b->t, targets, 2, 4)});
}

/* Numbers: the PyTorch twins of the benchmark workloads. */
TEST(pair_models_of_the_benchmarks_have_their_sizes) {
    static const struct {
        const heed_model *model;
        const char *preset;
        size_t count;
    } presets[] = {{&heed_model_seq2seq, "seq2seq-small", 1982976},
                   {&heed_model_rnn, "rnn-attn", 543105}};
    for (int i = 0; i < 2; i++) {
        built b = build(presets[i].model, "vocab=1");
        heed_store *s = heed_store_new(b.c);
        heed_config *f =
            heed_config_new(b.c, (const heed_option *const[]){presets[i].model->options, NULL});
        void *self = calloc(1, presets[i].model->size);
        CHECK(heed_preset_apply(b.c, f, presets[i].model, presets[i].preset));
        CHECK(heed_model_init(presets[i].model, self, s, f));
        CHECK(heed_store_params(s) == presets[i].count);
        free(self);
        DISCARD(b);
    }
}

/* A row alone, without its padding, and only the tokens up to one, gives the same logits. */
TEST(pair_logits_see_neither_padding_nor_later_tokens) {
    for (int i = 0; i < KINDS; i++) {
        built b = build(kinds[i].model, kinds[i].settings);
        heed_tape_begin(b.t, HEED_EVAL, 0);
        heed_tensor *y = all_logits(&b);
        heed_tensor *z = logits_of(&b, (heed_model_input){.x = heed_ids(b.t, sources, 1, 4),
                                                          .target = heed_ids(b.t, targets, 1, 3)});
        y = y ? heed_slice(b.t, heed_slice(b.t, y, 0, 0, 1), 1, 0, 3) : NULL;
        check_same(y, z, tiny);
        DISCARD(b);
    }
}

/* The source matters, each of its tokens. */
TEST(pair_logits_depend_on_the_source) {
    for (int i = 0; i < KINDS; i++) {
        built b = build(kinds[i].model, kinds[i].settings);
        int32_t other[10];
        heed_tape_begin(b.t, HEED_EVAL, 0);
        heed_tensor *y = all_logits(&b), *ids = heed_ids(b.t, targets, 2, 4);
        heed_tensor *pad = heed_ids(b.t, pads, 2, 5);
        for (int j = 0; j < 4 && y; j++) {
            memcpy(other, sources, sizeof other);
            other[j] = (other[j] + 1) % 9;
            heed_tensor *z = logits_of(
                &b, (heed_model_input){.x = heed_ids(b.t, other, 2, 5), .pad = pad, .target = ids});
            CHECK(z && memcmp(z->x, y->x, 11 * sizeof *z->x) != 0);
            CHECK(z && memcmp(z->x + 44, y->x + 44, 44 * sizeof *z->x) == 0);
        }
        DISCARD(b);
    }
}

TEST(pair_attention_is_probed) {
    static const char *const paths[] = {"encoder.1.attn.weights", "decoder.1.attn.weights",
                                        "decoder.0.cross.weights"};
    built b = build(&heed_model_seq2seq, SEQ2SEQ), r = build(&heed_model_rnn, RNN);
    heed_probe(b.t, "*.weights", false);
    heed_tape_begin(b.t, HEED_EVAL, 0);
    all_logits(&b);
    CHECK(heed_probe_count(b.t) == 6);
    for (int i = 0; i < 3; i++) {
        heed_tensor *w = heed_probe_find(b.t, paths[i]);
        CHECK(w && w->dims == 4 && w->shape[2] == (i ? 4 : 5) && w->shape[3] == (i == 1 ? 4 : 5));
    }
    heed_probe(r.t, "decoder.attend.weights", false);
    heed_tape_begin(r.t, HEED_EVAL, 0);
    all_logits(&r);
    heed_tensor *w = heed_probe_find(r.t, "decoder.attend.weights");
    CHECK(heed_probe_count(r.t) == 1);
    CHECK(w && w->dims == 3 && w->shape[0] == 2 && w->shape[1] == 4 && w->shape[2] == 5);
    for (int i = 0; w && i < 8; i++) {
        double sum = 0;
        for (int j = 0; j < 5; j++) sum += (double)w->x[5 * i + j];
        CHECK_CLOSE(sum, 1, 1e-6);
        if (i < 4) CHECK(w->x[5 * i + 4] == 0); /* padding */
    }
    DISCARD(b);
    DISCARD(r);
}

/* Shuffled sources change an RNN's states; its attention alone would not see it
 * (tests/nn/test_recurrent.c). Without attention one context serves, so that nothing is probed. */
TEST(pair_rnn_without_attention_probes_nothing) {
    built b = build(&heed_model_rnn, RNN "attention=none");
    heed_probe(b.t, "*", false);
    heed_tape_begin(b.t, HEED_EVAL, 0);
    CHECK(all_logits(&b));
    CHECK(!heed_probe_find(b.t, "decoder.attend.weights"));
    CHECK(!heed_store_find(b.s, "decoder.attend.w.weight"));
    DISCARD(b);
}

TEST(pair_settings_that_do_not_fit_are_refused) {
    built b = build(&heed_model_rnn, RNN "bridge=copy");
    CHECK_HAS(heed_ctx_error(b.c), "`bidirectional = false`");
    free(b.self);
    heed_close(b.c);
    b = build(&heed_model_seq2seq, "width=8");
    CHECK_HAS(heed_ctx_error(b.c), "expected vocab of at least 1, found 0");
    free(b.self);
    heed_close(b.c);
}

/* ---- targets ---- */

static heed_generated translate(const built *b, heed_generation a, int32_t *out) {
    heed_generated about = {0};
    a.source = sources, a.source_count = 4;
    a.prompt = (int32_t[]){1}, a.prompt_count = 1;
    a.has_end = true, a.end = 2;
    CHECK(heed_generate(b->model, b->self, b->t, &a, out, &about));
    return about;
}

static void check_equal(const built *b, heed_generation a) {
    int32_t x[8], y[8];
    a.uncached = false;
    heed_generated p = translate(b, a, x);
    a.uncached = true;
    heed_generated q = translate(b, a, y);
    CHECK(p.count == q.count && p.ended == q.ended && p.count <= 8);
    CHECK_CLOSE(p.log_probability, q.log_probability, 1e-4);
    CHECK(!memcmp(x, y, (size_t)p.count * sizeof *x));
}

TEST(pair_cached_targets_equal_uncached_ones) {
    for (int i = 0; i < KINDS; i++) {
        built b = build(kinds[i].model, kinds[i].settings);
        check_equal(&b, (heed_generation){.count = 8});
        check_equal(&b, (heed_generation){.beam = 4, .length_penalty = 0.6});
        for (uint32_t sample = 0; sample < 3; sample++)
            check_equal(
                &b, (heed_generation){.temperature = 1, .top_k = 5, .seed = 7, .sample = sample});
        DISCARD(b);
    }
}

/* Targets that end early and others, of each decoder. */
TEST(pair_samples_at_once_equal_each_alone) {
    enum { SAMPLES = 9 };
    for (int i = 0; i < KINDS; i++) {
        built b = build(kinds[i].model, kinds[i].settings);
        int32_t all[SAMPLES * 8], one[8];
        heed_generated about[SAMPLES] = {{0}};
        heed_generation a = {.source = sources, .source_count = 4, .prompt = (int32_t[]){1}};
        a.prompt_count = 1, a.count = 8, a.temperature = 2, a.has_end = true, a.end = 2;
        a.samples = SAMPLES;
        CHECK(heed_generate(b.model, b.self, b.t, &a, all, about));
        a.samples = 1;
        for (int k = 0; k < SAMPLES; k++, a.sample++) {
            heed_generated alone = translate(&b, a, one);
            CHECK(about[k].count == alone.count && about[k].ended == alone.ended);
            CHECK(about[k].log_probability == alone.log_probability);
            CHECK(!memcmp(all + 8 * k, one, (size_t)alone.count * sizeof *one));
        }
        DISCARD(b);
    }
}

/* A target has at most 8 tokens here; the rows of out are as long as asked for. */
TEST(pair_samples_have_rows_of_count) {
    built b = build(kinds[0].model, kinds[0].settings);
    int32_t all[2][20], one[20];
    heed_generated about[2];
    heed_generation a = {.source = sources, .source_count = 4, .prompt = (int32_t[]){1}};
    a.prompt_count = 1, a.count = 20, a.temperature = 2, a.samples = 2;
    a.has_end = true, a.end = 2;
    CHECK(heed_generate(b.model, b.self, b.t, &a, *all, about));
    a.samples = 1, a.sample = 1;
    CHECK(translate(&b, a, one).count == about[1].count && about[1].count > 0);
    CHECK(!memcmp(all[1], one, (size_t)about[1].count * sizeof *one));
    DISCARD(b);
}

/* log p of a target by the logits of the whole. */
static double probability_of(const built *b, const int32_t *ids, heed_generated about) {
    int32_t all[10] = {1};
    double sum = 0;
    memcpy(all + 1, ids, (size_t)about.count * sizeof *ids);
    all[about.count + 1] = 2;
    int n = about.count + about.ended;
    heed_tape_begin(b->t, HEED_EVAL, 0);
    heed_tensor *y = logits_of(b, (heed_model_input){.x = heed_ids(b->t, sources, 1, 4),
                                                     .target = heed_ids(b->t, all, 1, n)});
    y = heed_log_softmax(b->t, y, 1, NULL);
    for (int i = 0; y && i < n; i++) sum += (double)y->x[11 * i + all[i + 1]];
    return sum;
}

/* The most probable of all targets of at most three tokens, by trying all. */
static double best_of_all(const built *b) {
    double best = -INFINITY;
    int32_t ids[3];
    for (int count = 0; count <= 3; count++) {
        int many = count == 0 ? 1 : count == 1 ? 11 : count == 2 ? 121 : 1331;
        for (int i = 0; i < many; i++) {
            ids[0] = i % 11, ids[1] = i / 11 % 11, ids[2] = i / 121;
            bool early = false;
            for (int j = 0; j < count; j++) early |= ids[j] == 2;
            if (early) continue;
            best = fmax(
                best, probability_of(b, ids, (heed_generated){.count = count, .ended = count < 3}));
        }
    }
    return best;
}

TEST(pair_beam_finds_the_most_probable_target) {
    for (int i = 0; i < KINDS; i++) {
        built b = build(kinds[i].model, kinds[i].settings);
        int32_t ids[8];
        heed_generated greedy = translate(&b, (heed_generation){.count = 3}, ids);
        CHECK_CLOSE(greedy.log_probability, probability_of(&b, ids, greedy), 1e-4);
        heed_generated wide = translate(&b, (heed_generation){.count = 3, .beam = 64}, ids);
        CHECK_CLOSE(wide.log_probability, probability_of(&b, ids, wide), 1e-4);
        CHECK(wide.log_probability >= greedy.log_probability - 1e-6);
        if (i % 4 == 0) CHECK_CLOSE(wide.log_probability, best_of_all(&b), 1e-4);
        DISCARD(b);
    }
}

TEST(pair_samples_differ_by_sample_and_not_by_run) {
    built b = build(&heed_model_rnn, RNN);
    int32_t x[8] = {0}, y[8] = {0}, z[8] = {0};
    heed_generation a = {.temperature = 3, .seed = 1};
    heed_generated p = translate(&b, a, x), q = translate(&b, a, y);
    CHECK(p.count == q.count && !memcmp(x, y, sizeof x));
    a.sample = 1;
    translate(&b, a, z);
    CHECK(memcmp(x, z, sizeof x) != 0);
    DISCARD(b);
}

TEST(pair_translate_refuses_what_does_not_fit) {
    built b = build(&heed_model_rnn, RNN);
    int32_t ids[8];
    heed_generated about;
    heed_generation a = {.source = sources, .source_count = 9};
    a.prompt = (int32_t[]){1}, a.prompt_count = 1;
    CHECK(!heed_generate(b.model, b.self, b.t, &a, ids, &about));
    CHECK_HAS(heed_ctx_error(b.c), "expected 1 to 8 tokens, found 9");
    heed_clear(b.c);
    a.source_count = 3, a.beam = 3, a.temperature = 1;
    CHECK(!heed_generate(b.model, b.self, b.t, &a, ids, &about));
    CHECK_HAS(heed_ctx_error(b.c), "found 3 with temperature 1");
    free(b.self);
    heed_close(b.c);
}

/* ---- gradients ---- */

#ifdef HEED_F64
static heed_tensor *loss_of(void *user, heed_tape *t) {
    const built *b = user;
    return b->model->loss(b->self, t, &batch);
}

/* A hard selection declares a surrogate, see attend_hard_selects_one_key_and_has_the_soft_gradient.
 */
TEST(pair_gradients_of_every_model) {
    for (int i = 0; i < KINDS; i++) {
        if (strstr(kinds[i].settings, "hard=true")) continue;
        built b = build(kinds[i].model, kinds[i].settings);
        heed_check r = heed_gradcheck_store(b.c, b.s, loss_of, &b, 12);
        if (!(r.error >= 0 && r.error <= 1e-6) || r.cases < 10)
            test_fail(__FILE__, __LINE__, "%s %s: gradient off by %.3g at %s %s", b.model->name,
                      kinds[i].settings, r.error, r.worst, heed_ctx_error(b.c));
        DISCARD(b);
    }
}
#endif

/* One training step has a loss near the logarithm of the vocabulary, and scores every label. */
TEST(pair_loss_counts_what_is_no_padding) {
    built b = build(&heed_model_seq2seq, SEQ2SEQ "smoothing=0");
    heed_score score = {0};
    heed_tape_begin(b.t, HEED_EVAL, 0);
    heed_tensor *loss = b.model->loss(b.self, b.t, &batch), *y = all_logits(&b);
    b.model->metrics(b.self, &batch, &score);
    y = heed_log_softmax(b.t, y, 1, NULL);
    double sum = 0;
    for (int i = 0; y && i < 7; i++) sum -= (double)y->x[11 * i + labels[i]];
    CHECK(score.weight == 7 && score.total == 7);
    CHECK_CLOSE(loss ? loss->x[0] : NAN, sum / 7, 1e-5);
    DISCARD(b);
}
