/* Models that read texts, textcls and tag, and gpt with recurrent layers. */
#include "test.h"
#include <heed/models.h>

static const double tiny = sizeof(heed_real) == 8 ? 1e-12 : 5e-6;

typedef struct {
    heed_ctx *c;
    heed_store *s;
    heed_tape *t;
    void *self;
    const heed_model *model;
} built;

static built build(const heed_model *model, const char *settings) {
    char text[256];
    built b = {.c = heed_open(&(heed_options){.seed = 5, .threads = 1}), .model = model};
    heed_config *f = heed_config_new(b.c, (const heed_option *const[]){model->options, NULL});
    b.s = heed_store_new(b.c);
    b.t = heed_tape_new(b.c);
    b.self = calloc(1, model->size);
    snprintf(text, sizeof text, "%s", settings);
    for (char *pair = strtok(text, " "); pair; pair = strtok(NULL, " ")) {
        char *value = strchr(pair, '=');
        *value++ = 0;
        heed_config_set(f, pair, value, "test", HEED_FROM_FLAG);
    }
    heed_model_init(model, b.self, b.s, f);
    heed_tape_begin(b.t, HEED_EVAL, 0);
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

#define TEXT "layers=2 heads=2 width=8 ff=12 block=6 vocab=11 classes=3 init-std=0.3 "
static const char *const kinds[] = {
    TEXT,
    TEXT "positions=sinusoidal norm=post smoothing=0.1",
    TEXT "encoder=rnn",
    TEXT "encoder=rnn cell=lstm bidirectional=false",
    TEXT "encoder=rnn cell=rnn one-bias=true cell-activation=sigmoid",
    TEXT "encoder=conv kernel=3",
    TEXT "encoder=conv kernel=2 causal=true norm=post",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const int32_t ids[] = {3, 5, 7, 2, 0, 8, 4, 6, 1, 2};
static const int32_t pads[] = {1, 1, 1, 1, 0, 1, 1, 1, 1, 1};

static heed_tensor *logits_of(const built *b, heed_model_input in) {
    return b->model->logits(b->self, b->t, &in);
}

static heed_tensor *logits(const built *b, int rows, int len, bool padded) {
    return logits_of(b, (heed_model_input){.x = heed_ids(b->t, ids, rows, len),
                                           .pad = padded ? heed_ids(b->t, pads, rows, len) : NULL});
}

TEST(text_logits_do_not_see_padding) {
    for (int i = 0; i < 2 * KINDS; i++) {
        built b = build(i < KINDS ? &heed_model_tag : &heed_model_textcls, kinds[i % KINDS]);
        heed_tensor *y = logits(&b, 2, 5, true), *z = logits(&b, 1, 4, false);
        y = y ? heed_slice(b.t, y, 0, 0, 1) : NULL;
        check_same(i < KINDS ? heed_slice(b.t, y, 1, 0, 4) : y, z, tiny);
        CHECK(z && z->shape[z->dims - 1] == 3);
        DISCARD(b);
    }
}

TEST(text_causal_readers_see_no_later_token) {
    static const char *const readers[] = {TEXT "causal=true", TEXT "encoder=conv causal=true",
                                          TEXT "encoder=conv kernel=4 causal=true"};
    for (int i = 0; i < 3; i++) {
        built b = build(&heed_model_tag, readers[i]);
        heed_tensor *y = logits(&b, 1, 5, false), *z = logits(&b, 1, 3, false);
        check_same(y ? heed_slice(b.t, y, 1, 0, 3) : NULL, z, tiny);
        DISCARD(b);
    }
}

/* A convolution of 2 layers of 3 tokens sees 5: what is said at the last token does not depend on
 * the one 5 places before it, and depends on the one 4 places before it. */
TEST(text_last_token_by_convolution_sees_so_far) {
    built b = build(&heed_model_textcls, TEXT "encoder=conv kernel=3 causal=true pool=last");
    int32_t x[3][6] = {{3, 5, 7, 2, 1, 8}, {4, 5, 7, 2, 1, 8}, {3, 6, 7, 2, 1, 8}};
    heed_tensor *y[3];
    for (int i = 0; i < 3; i++)
        y[i] = logits_of(&b, (heed_model_input){.x = heed_ids(b.t, x[i], 1, 6)});
    check_same(y[0], y[1], 0);
    CHECK(y[2] && y[2]->x[0] != y[0]->x[0]);
    DISCARD(b);
    b = build(&heed_model_textcls, TEXT "pool=last");
    heed_tensor *z = logits(&b, 2, 5, true), *w = logits(&b, 1, 4, false);
    check_same(z ? heed_slice(b.t, z, 0, 0, 1) : NULL, w, tiny);
    DISCARD(b);
}

/* The one neuron z is the second of two logits, the first is 0. */
TEST(text_head_of_one_neuron) {
    built b = build(&heed_model_textcls, TEXT "classes=2 head=binary");
    static const int32_t labels[] = {1, 0};
    heed_batch batch = {.rows = 2, .src_len = 5, .src = ids, .src_pad = pads, .labels = labels};
    heed_tensor *z = logits(&b, 2, 5, true), *loss = b.model->loss(b.self, b.t, &batch);
    CHECK(z && z->shape[1] == 2 && z->x[0] == 0 && z->x[2] == 0 && z->x[1] != 0);
    heed_tensor *same = heed_xent(b.t, z, heed_input_ids(b.t, labels, 1, (int[]){2}), NULL);
    check_same(loss, same, tiny);
    DISCARD(b);
    b = build(&heed_model_textcls, TEXT "head=binary");
    CHECK_HAS(heed_ctx_error(b.c), "expected 2 classes, found 3");
    free(b.self);
    heed_close(b.c);
}

TEST(text_models_refuse_no_size) {
    built b = build(&heed_model_tag, "vocab=5");
    CHECK_HAS(heed_ctx_error(b.c), "found 5 and 0; hint: `vocab`, `classes`");
    free(b.self);
    heed_close(b.c);
}

/* ---- gpt of recurrent layers ---- */

#define GPT "layers=2 width=8 block=9 vocab=11 init-std=0.5 "
static const char *const cells[] = {GPT "cell=rnn", GPT "cell=gru tie=false", GPT "cell=lstm"};

TEST(text_recurrent_gpt_sees_no_later_token) {
    for (int i = 0; i < 3; i++) {
        built b = build(&heed_model_gpt, cells[i]);
        heed_tensor *y = logits_of(&b, (heed_model_input){.x = heed_ids(b.t, ids, 1, 9)});
        heed_tensor *z = logits_of(&b, (heed_model_input){.x = heed_ids(b.t, ids, 1, 4)});
        check_same(y ? heed_slice(b.t, y, 1, 0, 4) : NULL, z, tiny);
        CHECK(heed_store_find(b.s, "decoder.weight_hh_l1"));
        CHECK(!heed_store_find(b.s, "embed.position.weight"));
        CHECK(!heed_store_find(b.s, "decoder.0.attn.qkv.weight"));
        DISCARD(b);
    }
}

TEST(text_recurrent_gpt_generates_the_same_with_its_state) {
    for (int i = 0; i < 3; i++) {
        built b = build(&heed_model_gpt, cells[i]);
        int32_t x[14], y[14];
        heed_generated about;
        heed_generation a = {.prompt = ids, .prompt_count = 3, .count = 14, .temperature = 1};
        a.seed = 3;
        CHECK(heed_generate(b.model, b.self, b.t, &a, x, &about) && about.count == 14);
        a.uncached = true;
        CHECK(heed_generate(b.model, b.self, b.t, &a, y, &about) && about.count == 14);
        CHECK(!memcmp(x, y, sizeof x));
        DISCARD(b);
    }
}

/* ---- gradients ---- */

#ifdef HEED_F64
static heed_tensor *loss_of(void *user, heed_tape *t) {
    static const int32_t labels[] = {2, 0, 1, 1, -100, 0, 2, 1, 0, 1};
    const heed_batch batch = {.rows = 2,
                              .len = 5,
                              .ids = ids,
                              .src_len = 5,
                              .src = ids,
                              .src_pad = pads,
                              .labels = labels};
    const built *b = user;
    return b->model->loss(b->self, t, &batch);
}

TEST(text_gradients_of_every_model) {
    for (int i = 0; i < 2 * KINDS + 3; i++) {
        const heed_model *model = i < KINDS ? &heed_model_tag : &heed_model_textcls;
        built b = build(i < 2 * KINDS ? model : &heed_model_gpt,
                        i < 2 * KINDS ? kinds[i % KINDS] : cells[i - 2 * KINDS]);
        heed_check r = heed_gradcheck_store(b.c, b.s, loss_of, &b, 12);
        if (!(r.error >= 0 && r.error <= 1e-6) || r.cases < 7)
            test_fail(__FILE__, __LINE__, "%s %d: gradient off by %.3g at %s %s", b.model->name, i,
                      r.error, r.worst, heed_ctx_error(b.c));
        DISCARD(b);
    }
}
#endif
