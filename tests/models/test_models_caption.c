/* The model of captions: what its logits depend on, captions made by it, what its grid and its
 * attention are. Values and training against PyTorch: tests/models/test_golden_models.c. */
#include "built.h"

static const double tiny = sizeof(heed_real) == 8 ? 1e-12 : 5e-6;

enum { SIDE = 12, PIXELS = SIDE * SIDE * 2, WORDS = 4, VOCAB = 11 };

#define CAPTION                                                                                    \
    "image-size=12 channels=2 filters=4 stages=2 width=8 heads=2 ff=12 block=8 vocab=11 "
static const char *const kinds[] = {
    CAPTION,
    CAPTION "hard=true",
    CAPTION "attention=none cell=lstm",
    CAPTION "attention=scaled key-width=3 value-width=5 decoder-layers=2",
    CAPTION "attention=general cell=rnn positions=learned",
    CAPTION "decoder=transformer decoder-layers=2",
    CAPTION "decoder=transformer hard=true positions=none norm=post",
    CAPTION "encoder=vit patch=4",
    CAPTION "encoder=vit patch=4 pool=cls decoder=transformer hard=true positions=rotary",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const int32_t targets[] = {1, 4, 9, 3, 1, 6, 5, 10};

static built open_kind(int kind) {
    built b = build(&heed_model_caption, NULL, kinds[kind]);
    shake(b.s);
    return b;
}

/* Two pictures of noise. */
static void noise(heed_real x[2 * PIXELS]) {
    heed_random r = heed_random_at(1, "noise", 0, 0);
    for (size_t i = 0; i < 2 * PIXELS; i++) x[i] = (heed_real)heed_random_normal(&r, i);
}

/* Logits of `words` words about `rows` pictures, in eval mode. */
static heed_tensor *captioned(const built *b, const heed_real *x, int rows, int words) {
    int32_t ids[2 * WORDS];
    for (int i = 0; i < rows * words; i++) ids[i] = targets[i / words * WORDS + i % words];
    return logits_of(b,
                     (heed_model_input){.x = heed_input(b->t, x, 4, (int[]){rows, SIDE, SIDE, 2}),
                                        .target = heed_ids(b->t, ids, rows, words)});
}

TEST(caption_logits_see_one_picture_and_no_later_word) {
    heed_real x[2 * PIXELS];
    noise(x);
    for (int i = 0; i < KINDS; i++) {
        built b = open_kind(i);
        heed_tape_begin(b.t, HEED_EVAL, 0);
        heed_tensor *y = captioned(&b, x, 2, WORDS), *z = captioned(&b, x, 1, 3);
        CHECK(y && z && y->shape[2] == VOCAB);
        if (y && z) CHECK_CLOSE(apart(y->x, z->x, z->size), 0, tiny);
        DISCARD(b);
    }
}

/* Each quarter of the picture, except where the one chosen cell does not see it. */
TEST(caption_logits_depend_on_all_parts_of_the_picture) {
    heed_real x[2 * PIXELS], other[2 * PIXELS];
    noise(x);
    for (int i = 0; i < KINDS; i++) {
        built b = open_kind(i);
        heed_tape_begin(b.t, HEED_EVAL, 0);
        const heed_tensor *y = captioned(&b, x, 1, 2);
        for (int part = 0; part < 4 && !strstr(kinds[i], "hard"); part++) {
            size_t at = (size_t)((part / 2 * 6 + 2) * SIDE + part % 2 * 6 + 2) * 2;
            memcpy(other, x, sizeof other);
            other[at] += 3;
            const heed_tensor *z = captioned(&b, other, 1, 2);
            CHECK(y && z && apart(y->x, z->x, VOCAB) > 1e-6);
        }
        DISCARD(b);
    }
}

/* ---- attention ---- */

TEST(caption_attends_to_the_cells_of_its_grid) {
    heed_real x[2 * PIXELS];
    noise(x);
    for (int i = 0; i < KINDS; i++) {
        built b = open_kind(i);
        heed_attending a;
        int layers = 0;
        char path[96];
        for (; b.model->attending(b.self, layers, &a); layers++)
            if (a.stack == HEED_CROSS) break;
        bool fixed = strstr(kinds[i], "attention=none") != NULL,
             hard = strstr(kinds[i], "hard") != NULL;
        if (fixed) {
            CHECK(layers == 0);
            DISCARD(b);
            continue;
        }
        CHECK(a.hard == hard);
        snprintf(path, sizeof path, "%s.weights", a.path);
        heed_probe(b.t, path, false);
        heed_tape_begin(b.t, HEED_EVAL, 0);
        captioned(&b, x, 2, WORDS);
        const heed_tensor *w = heed_probe_find(b.t, path);
        heed_grid grid;
        CHECK(b.model->grid(b.self, &grid) && grid.rows == 3 && grid.cols == 3);
        CHECK(grid.first == (strstr(kinds[i], "cls") != NULL));
        size_t n = 9 + (size_t)grid.first;
        CHECK(w && w->shape[w->dims - 1] == (int)n && w->shape[w->dims - 2] == WORDS);
        for (size_t row = 0; w && row < w->size / n; row++) {
            double sum = 0, most = 0;
            for (size_t j = 0; j < n; j++) {
                sum += (double)w->x[n * row + j];
                most = fmax(most, (double)w->x[n * row + j]);
            }
            CHECK_CLOSE(sum, 1, 1e-5);
            CHECK((most == 1) == hard);
        }
        DISCARD(b);
    }
}

/* Halved by the first convolution and by each stage but the first, until 8 cells a side. */
TEST(caption_grids_have_at_most_eight_cells_a_side) {
    static const struct {
        const char *settings;
        int side;
    } sizes[] = {{"image-size=32", 8},           {"image-size=28", 7}, {"image-size=64", 8},
                 {"image-size=33", 5},           {"image-size=5", 3},  {"image-size=1", 1},
                 {"image-size=32 stages=1", 16}, {"image-size=48", 6}, {"image-size=224", 7}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char settings[96];
        snprintf(settings, sizeof settings, "channels=1 filters=1 width=8 vocab=3 %s",
                 sizes[i].settings);
        built b = build(&heed_model_caption, NULL, settings);
        heed_grid grid;
        CHECK(b.model->grid(b.self, &grid));
        CHECK(grid.rows == sizes[i].side && grid.cols == sizes[i].side && grid.first == 0);
        DISCARD(b);
    }
}

/* ---- captions ---- */

static heed_generated describe(const built *b, heed_generation a, int32_t *out) {
    heed_real x[2 * PIXELS];
    heed_generated about = {0};
    noise(x);
    a.picture = x, a.picture_size = SIDE, a.picture_channels = 2;
    a.prompt = (int32_t[]){1}, a.prompt_count = 1;
    a.has_end = true, a.end = 2;
    CHECK(heed_generate(b->model, b->self, b->t, &a, out, &about));
    return about;
}

static void check_equal(const built *b, heed_generation a) {
    int32_t x[8], y[8];
    heed_generated p = describe(b, a, x);
    a.uncached = true;
    heed_generated q = describe(b, a, y);
    CHECK(p.count == q.count && p.ended == q.ended && p.count <= 8);
    CHECK_CLOSE(p.log_probability, q.log_probability, 1e-4);
    CHECK(!memcmp(x, y, (size_t)p.count * sizeof *x));
}

TEST(caption_steps_equal_the_whole_computed_anew) {
    for (int i = 0; i < KINDS; i++) {
        built b = open_kind(i);
        check_equal(&b, (heed_generation){.count = 8});
        check_equal(&b, (heed_generation){.beam = 4, .length_penalty = 0.6});
        check_equal(&b, (heed_generation){.temperature = 1, .top_k = 5, .seed = 7, .sample = 1});
        DISCARD(b);
    }
}

TEST(caption_samples_at_once_equal_each_alone) {
    enum { SAMPLES = 9 };
    heed_real x[2 * PIXELS];
    noise(x);
    for (int i = 0; i < KINDS; i++) {
        built b = open_kind(i);
        int32_t all[SAMPLES * 8], one[8];
        heed_generated about[SAMPLES] = {{0}};
        heed_generation a = {.picture = x, .picture_size = SIDE, .picture_channels = 2};
        a.prompt = (int32_t[]){1}, a.prompt_count = 1, a.count = 8, a.temperature = 2;
        a.has_end = true, a.end = 2, a.samples = SAMPLES;
        int most = b.model->steps->length(b.self) < 8 ? b.model->steps->length(b.self) : 8;
        CHECK(heed_generate(b.model, b.self, b.t, &a, all, about));
        a.samples = 1;
        for (int k = 0; k < SAMPLES; k++, a.sample++) {
            heed_generated alone = describe(&b, a, one);
            CHECK(about[k].count == alone.count && about[k].ended == alone.ended);
            CHECK(about[k].log_probability == alone.log_probability);
            CHECK(!memcmp(all + most * k, one, (size_t)alone.count * sizeof *one));
        }
        DISCARD(b);
    }
}

TEST(caption_beam_finds_no_worse_caption) {
    for (int i = 0; i < KINDS; i++) {
        built b = open_kind(i);
        int32_t ids[8];
        double greedy = describe(&b, (heed_generation){.count = 3}, ids).log_probability;
        double wide = describe(&b, (heed_generation){.count = 3, .beam = 64}, ids).log_probability;
        CHECK(wide >= greedy - 1e-6);
        DISCARD(b);
    }
}

/* ---- what is refused ---- */

static void refused(const char *settings, const char *says) {
    built b = build(&heed_model_caption, NULL, settings);
    CHECK_HAS(heed_ctx_error(b.c), says);
    free(b.self);
    heed_close(b.c);
}

TEST(caption_settings_that_do_not_fit_are_refused) {
    refused("channels=3 vocab=9", "expected image-size, channels and vocab of at least 1");
    refused(CAPTION "decoder=transformer attention=none", "hint: `decoder = rnn`");
}

TEST(caption_pictures_that_do_not_fit_are_refused) {
    heed_real x[2 * PIXELS];
    int32_t ids[8];
    built b = open_kind(0);
    noise(x);
    heed_tape_begin(b.t, HEED_EVAL, 0);
    heed_tensor *small = heed_input(b.t, x, 4, (int[]){1, 6, 6, 2}),
                *word = heed_ids(b.t, ids, 1, 1);
    ids[0] = 1;
    CHECK(!logits_of(&b, (heed_model_input){.x = small, .target = word}));
    CHECK_HAS(heed_ctx_error(b.c), "expected 12 x 12 pixels of 2 channels");
    heed_clear(b.c);
    heed_generation a = {.prompt = ids, .prompt_count = 1, .source = ids, .source_count = 1};
    CHECK(!heed_generate(b.model, b.self, b.t, &a, ids, NULL));
    CHECK_HAS(heed_ctx_error(b.c), "picture is missing");
    free(b.self);
    heed_close(b.c);
}
