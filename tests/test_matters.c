/* Rollout, occlusion and gradients of inputs, on small models with random weights. */
#include "../train/ablate.h"
#include "../train/matters.h"
#include "lab.h"

static const char text[] = "red cat saw [MASK] dog";
static const char words[] = "the red cat saw one blue dog and ran";

typedef struct {
    heed_run run;
    subject s;
} asked;

static void set(heed_config *f, const char *settings) {
    char list[256];
    snprintf(list, sizeof list, "%s", settings);
    for (char *pair = strtok(list, " "); pair; pair = strtok(NULL, " ")) {
        char *value = strchr(pair, '=');
        *value++ = 0;
        heed_config_set(f, pair, value, "test", HEED_FROM_FLAG);
    }
}

static asked ask(const heed_model *model, const char *settings) {
    asked a = {.run = {.model = model, .step = -1}};
    heed_run *r = &a.run;
    r->c = heed_open(&(heed_options){.seed = 11, .threads = 1});
    r->tokenizer = heed_tokenizer_train(r->c, words, sizeof words - 1,
                                        (heed_tokenizer_args){.kind = "word", .specials = true});
    r->config = heed_config_new(r->c, (const heed_option *const[]){model->options, NULL});
    char vocab[32];
    snprintf(vocab, sizeof vocab, "%d", heed_vocab_size(r->tokenizer));
    heed_config_set(r->config, "vocab", vocab, "test", HEED_FROM_FLAG);
    set(r->config, settings);
    r->store = heed_store_new(r->c);
    r->tape = heed_tape_new(r->c);
    r->self = calloc(1, model->size);
    CHECK(model->init(r->self, r->store, r->config));
    shake(r->store);
    return a;
}

/* The subject points to the run, which must not move any more. */
static heed_record *look(asked *a) {
    CHECK(subject_text(&a->s, &a->run, text, sizeof text - 1, NULL));
    heed_record *r = capture(&a->s, &(capture_wish){.lean = true});
    if (!r) test_fail(__FILE__, __LINE__, "no record: %s", heed_why(a->run.c));
    return r;
}

static void close_asked(asked *a, heed_record *record) {
    heed_record_free(record);
    subject_free(&a->s);
    free(a->run.self);
    CLOSE(a->run.c);
}

static const heed_record_map *map_at(const heed_record *r, const char *name, int layer, int head) {
    for (int i = 0; r && i < r->map_count; i++) {
        const heed_record_map *m = &r->maps[i];
        if (strcmp(m->name, name) == 0 && m->layer == layer && m->head == head) return m;
    }
    test_fail(__FILE__, __LINE__, "no map %s of layer %d, head %d", name, layer, head);
    return NULL;
}

#define SMALL "layers=2 heads=2 width=8 ff=12 block=10 init-std=0.3 "

/* p of a class in a row of the logits of ids. */
static double probability(const asked *a, const int32_t *ids, int row, int class) {
    heed_tape *t = a->run.tape;
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *y = mlm_logits(a->run.self, t, heed_ids(t, ids, 1, a->s.count), NULL, NULL, NULL);
    int n = y ? y->shape[2] : 0;
    double sum = 0;
    for (int i = 0; i < n; i++) sum += exp((double)(y->x[row * n + i] - y->x[row * n + class]));
    return 1 / sum;
}

static int best_class(const asked *a, int row) {
    int best = 0, n = heed_vocab_size(a->run.tokenizer);
    for (int i = 1; i < n; i++)
        if (probability(a, a->s.ids, row, i) > probability(a, a->s.ids, row, best)) best = i;
    return best;
}

/* The map holds p with everything in sight minus p without, token by token; a token whose embedding
 * is that of [MASK] changes nothing. */
TEST(matters_occlusion_asks_again_without_each_token) {
    asked a = ask(&heed_model_mlm, SMALL);
    int mask = heed_tokenizer_specials(a.run.tokenizer).mask;
    int cat = heed_token_id(a.run.tokenizer, "cat");
    heed_tensor *e = heed_store_find(a.run.store, "embed.token.weight")->tensor;
    memcpy(e->x + cat * 8, e->x + mask * 8, 8 * sizeof *e->x);
    heed_record *r = look(&a);
    CHECK(occlusion_add(NULL, &a.s, &(occlusion_wish){.quiet = true}, r));
    const heed_record_map *m = map_at(r, "occlusion", -1, -1);
    const heed_record_map *odds = map_at(r, "occlusion, log-odds", -1, -1);
    int row = a.s.questions[0].query, class = best_class(&a, row);
    double whole = probability(&a, a.s.ids, row, class);
    for (int k = 0; m && odds && k < a.s.count; k++) {
        int32_t own = a.s.ids[k];
        double found = (double)m->values[row * a.s.count + k];
        a.s.ids[k] = mask;
        double p = probability(&a, a.s.ids, row, class);
        a.s.ids[k] = own;
        if (own == mask) {
            CHECK(isnan(found));
            continue;
        }
        CHECK_CLOSE(found, whole - p, 10 * tiny);
        CHECK_CLOSE(odds->values[row * a.s.count + k], log(whole / (1 - whole) * (1 - p) / p),
                    100 * tiny);
        if (own == cat) CHECK(found == 0);
    }
    for (int k = 0; m && k < a.s.count; k++) CHECK(isnan((double)m->values[k])); /* row 0 */
    close_asked(&a, r);
}

/* dy/dA_qk of a head is what y changes by when the head's output at q moves along v_k, which the
 * bias behind W_h does: a central difference of it, in a model of one layer. */
static double slope(const asked *a, const heed_tensor *v, int head, int key, int row, int class) {
    heed_tensor *w = heed_store_find(a->run.store, "encoder.0.attn.out.weight")->tensor;
    heed_tensor *b = heed_store_find(a->run.store, "encoder.0.attn.out.bias")->tensor;
    heed_tape *t = a->run.tape;
    double y[2], step = is_double ? 1e-5 : 1e-2;
    heed_real own[8];
    memcpy(own, b->x, sizeof own);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 8; i++) {
            double along = 0;
            for (int j = 0; j < 4; j++)
                along +=
                    (double)(w->x[i * 8 + head * 4 + j] * v->x[(head * a->s.count + key) * 4 + j]);
            b->x[i] = (heed_real)((double)own[i] + (side ? -step : step) * along);
        }
        heed_tape_begin(t, HEED_EVAL, 0);
        heed_tensor *all =
            mlm_logits(a->run.self, t, heed_ids(t, a->s.ids, 1, a->s.count), NULL, NULL, NULL);
        y[side] = all ? (double)all->x[row * all->shape[2] + class] : 0;
    }
    memcpy(b->x, own, sizeof own);
    return (y[0] - y[1]) / (2 * step);
}

static heed_tensor *values_of(const asked *a, const char *path, heed_real *copy) {
    heed_tape *t = a->run.tape;
    heed_probe(t, path, false);
    heed_tape_begin(t, HEED_EVAL, 0);
    mlm_logits(a->run.self, t, heed_ids(t, a->s.ids, 1, a->s.count), NULL, NULL, NULL);
    heed_tensor *v = heed_probe_find(t, path);
    heed_unprobe(t);
    if (v) memcpy(copy, v->x, v->size * sizeof *copy);
    return v;
}

TEST(matters_gradient_is_the_slope_times_the_weight) {
    asked a = ask(&heed_model_mlm, SMALL "layers=1");
    heed_record *r = look(&a);
    heed_real kept[2 * 10 * 4];
    CHECK(values_of(&a, "encoder.0.attn.v", kept) != NULL);
    heed_tensor v = {.x = kept};
    CHECK(gradient_add(NULL, &a.s, &(gradient_wish){.question = -1, .by_head = true, .quiet = true},
                       r));
    const heed_record_map *whole = map_at(r, "gradient", -1, -1);
    int n = a.s.count, row = a.s.questions[0].query, class = best_class(&a, row), positive = 0;
    for (int k = 0; whole && k < n; k++) {
        double sum = 0;
        for (int h = 0; h < 2; h++) {
            const heed_record_map *m = map_at(r, "gradient", 0, h);
            double weight = (double)r->blocks[0].weights[(h * n + row) * n + k];
            double want = fmax(0, weight * slope(&a, &v, h, k, row, class));
            if (m) CHECK_CLOSE(m->values[row * n + k], want, is_double ? 1e-8 : 2e-3);
            sum += want;
            positive += want > 0;
        }
        CHECK_CLOSE(whole->values[row * n + k], sum, is_double ? 1e-8 : 4e-3);
    }
    CHECK(positive > 0 && positive < 2 * n);
    close_asked(&a, r);
}

TEST(matters_rows_of_rollout_sum_to_one_in_every_model) {
    const heed_model *const models[] = {&heed_model_mlm, &heed_model_gpt};
    for (int i = 0; i < 2; i++) {
        asked a = ask(models[i], SMALL);
        heed_record *r = look(&a);
        CHECK(rollout_add(&a.s, &(rollout_wish){.discard = 0.4}, r));
        const heed_record_map *m = map_at(r, "rollout", -1, -1);
        for (int q = 0; m && q < a.s.count; q++) {
            double sum = 0;
            for (int k = 0; k < a.s.count; k++) sum += (double)m->values[q * a.s.count + k];
            CHECK_CLOSE(sum, 1, 1e-6);
            if (i == 1 && q + 1 < a.s.count) CHECK(m->values[q * a.s.count + q + 1] == 0);
        }
        close_asked(&a, r);
    }
}

TEST(matters_without_a_question_says_so) {
    asked a = ask(&heed_model_mlm, SMALL);
    CHECK(subject_text(&a.s, &a.run, "red cat", 7, NULL));
    heed_record *r = capture(&a.s, &(capture_wish){.lean = true});
    CHECK(!occlusion_add(NULL, &a.s, &(occlusion_wish){.quiet = true}, r));
    CHECK_HAS(heed_why(a.run.c), "write [MASK] for a word");
    heed_clear(a.run.c);
    CHECK(!gradient_add(NULL, &a.s, &(gradient_wish){.question = -1, .quiet = true}, r));
    heed_clear(a.run.c);
    close_asked(&a, r);
}

/* A head that is off gives zeros to W_h, and is back with every bit of its own. */
TEST(matters_heads_go_off_and_come_back) {
    asked a = ask(&heed_model_mlm, SMALL);
    CHECK(subject_text(&a.s, &a.run, text, sizeof text - 1, NULL));
    int count;
    attending *list = attending_layers(&a.run, &count);
    heed_tensor *w = heed_store_find(a.run.store, "encoder.1.attn.qkv.weight")->tensor;
    heed_tensor *b = heed_store_find(a.run.store, "encoder.1.attn.qkv.bias")->tensor;
    heed_real weight[24 * 8], bias[24], v[2 * 10 * 4];
    memcpy(weight, w->x, sizeof weight);
    memcpy(bias, b->x, sizeof bias);
    for (int head = 0; list && head < 2; head++) {
        switched off;
        CHECK(head_off(&a.run, &list[1], head, &off));
        CHECK(memcmp(weight, w->x, sizeof weight) != 0);
        values_of(&a, "encoder.1.attn.v", v);
        for (int i = 0; i < 2 * a.s.count * 4; i++)
            CHECK((v[i] == 0) == (i / (a.s.count * 4) == head));
        head_on(&off);
        CHECK(memcmp(weight, w->x, sizeof weight) == 0 && memcmp(bias, b->x, sizeof bias) == 0);
    }
    free(list);
    close_asked(&a, NULL);
}
