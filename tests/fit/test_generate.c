/* Generating texts: limits, samples, what the model sees beyond its block. */
#include "built.h"
#include "fit/fit.h"

#define SMALL "layers=2 heads=2 width=8 ff=16 block=6 vocab=11 "

static const int32_t tokens[] = {3, 5, 7, 2, 0, 8};

/* How many tokens were made; -1: an error. */
static int generate(const built *b, heed_generation a, int32_t *out) {
    heed_generated about;
    a.prompt = tokens, a.prompt_count = 3;
    return heed_generate(b->model, b->self, b->t, &a, out, &about) ? about.count : -1;
}

/* 12 tokens from 3, block 6: the window slides. */
TEST(gpt_generates_the_same_with_and_without_caches) {
    built b = build(&heed_model_gpt, NULL, SMALL "init-std=0.5 key-width=3 value-width=5");
    for (uint32_t sample = 0; sample < 8; sample++) {
        int32_t x[12], y[12];
        heed_generation a = {.count = 12, .temperature = sample * 0.3, .seed = 3, .sample = sample};
        CHECK(generate(&b, a, x) == 12);
        a.uncached = true;
        CHECK(generate(&b, a, y) == 12);
        CHECK(memcmp(x, y, sizeof x) == 0);
    }
    DISCARD(b);
}

/* The most probable token after the last of ids, by the logits of the whole. */
static int32_t best_after(const built *b, const int32_t *ids, int n) {
    heed_tape_begin(b->t, HEED_EVAL, 0);
    heed_tensor *y = logits_of(b, (heed_model_input){.x = heed_ids(b->t, ids, 1, n)});
    int32_t best = 0;
    for (int32_t i = 1; y && i < 11; i++)
        if (y->x[y->size - 11 + (size_t)i] > y->x[y->size - 11 + (size_t)best]) best = i;
    return best;
}

/* Kinds of positions, and of layers without any; blocks of 6 and of 7 tokens. */
static const char *const kinds[] = {
    SMALL "init-std=0.5",
    SMALL "init-std=0.5 block=7",
    SMALL "init-std=0.5 positions=sinusoidal",
    SMALL "init-std=0.5 positions=rotary kv-heads=1 norm-kind=rms ff-kind=swiglu",
    SMALL "init-std=0.5 positions=none attention=explicit",
    SMALL "init-std=0.5 cell=gru",
    SMALL "init-std=0.5 cell=lstm block=2"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Within the block the model sees all tokens. When it is full, the newer half begins anew. */
static void check_windows(const built *b, int prompt) {
    enum { MADE = 25 };
    int32_t seen[9 + MADE] = {3, 5, 7, 2, 0, 8, 4, 6, 1}, made[MADE];
    int block = b->model->steps->length(b->self), from = prompt > block ? prompt - block : 0;
    heed_generated about;
    heed_generation a = {.prompt = seen, .prompt_count = (size_t)prompt, .count = MADE};
    CHECK(heed_generate(b->model, b->self, b->t, &a, made, &about) && about.count == MADE);
    for (int n = prompt; n < prompt + MADE; n++) {
        if (n - from > block) from = n - (block > 1 ? block / 2 : 1);
        CHECK(made[n - prompt] == best_after(b, seen + from, n - from));
        seen[n] = made[n - prompt];
    }
    CHECK(about.seen == prompt + MADE - 1 - from);
}

TEST(gpt_generates_the_most_probable_and_drops_halves) {
    for (int i = 0; i < KINDS; i++) {
        built b = build(&heed_model_gpt, NULL, kinds[i]);
        check_windows(&b, 3);
        check_windows(&b, 9);
        DISCARD(b);
    }
}

/* Beyond the block, with one that ends early, without some tokens, and for any number of threads.
 */
static void check_samples(const built *b, int32_t end) {
    enum { SAMPLES = 11, MADE = 15 };
    static const int32_t never[] = {6, 9};
    int32_t all[SAMPLES][MADE], one[MADE];
    heed_generated about[SAMPLES], alone;
    heed_generation a = {.prompt = tokens, .prompt_count = 3, .count = MADE, .temperature = 2};
    a.has_end = true, a.end = end;
    a.never = never, a.never_count = 2;
    a.repetition_penalty = 1.5;
    a.sample = 5, a.samples = SAMPLES;
    CHECK(heed_generate(b->model, b->self, b->t, &a, all[0], about));
    a.samples = 0;
    for (int i = 0; i < SAMPLES; i++, a.sample++) {
        CHECK(heed_generate(b->model, b->self, b->t, &a, one, &alone));
        CHECK(about[i].count == alone.count && about[i].ended == alone.ended);
        CHECK(about[i].seen == alone.seen);
        CHECK(about[i].log_probability == alone.log_probability);
        CHECK(memcmp(all[i], one, (size_t)alone.count * sizeof *one) == 0);
    }
}

TEST(gpt_generates_samples_at_once_as_each_alone) {
    for (int i = 0; i < KINDS; i++) {
        built b = build_on(1 + i % 3, &heed_model_gpt, NULL, kinds[i]);
        check_samples(&b, -1);
        check_samples(&b, 4);
        DISCARD(b);
    }
}

typedef struct {
    int calls, of[3], stop_after;
} told;

static bool note_sampled(void *user, int output, int32_t id) {
    told *t = user;
    CHECK(output >= 0 && output < 3 && id >= 0 && id < 11);
    t->of[output]++;
    return ++t->calls < t->stop_after;
}

TEST(generation_tells_which_sample_a_token_is_of) {
    built b = build(&heed_model_gpt, NULL, SMALL);
    told t = {.stop_after = 1000};
    int32_t out[3 * 8];
    heed_generated about[3];
    heed_generation a = {.prompt = tokens, .prompt_count = 3, .count = 8, .temperature = 3};
    a.samples = 3, a.sampled = note_sampled, a.user = &t;
    CHECK(heed_generate(b.model, b.self, b.t, &a, out, about));
    CHECK(t.of[0] == 8 && t.of[1] == 8 && t.of[2] == 8);
    t = (told){.stop_after = 4};
    CHECK(heed_generate(b.model, b.self, b.t, &a, out, about));
    CHECK(t.calls == 6 && about[2].count == 2 && !about[2].ended);
    static const heed_generation wrong[] = {
        {.samples = -1}, {.samples = 65}, {.samples = 2, .beam = 2}};
    for (int i = 0; i < 3; i++) {
        a = wrong[i];
        a.prompt = tokens, a.prompt_count = 1, a.count = 1;
        CHECK(!heed_generate(b.model, b.self, b.t, &a, out, about));
        CHECK_HAS(heed_ctx_error(b.c), "number of samples is wrong");
        heed_clear(b.c);
    }
    DISCARD(b);
}

/* ---- one draw ---- */

static int by_probability(const void *a, const void *b) {
    const heed__choice *x = a, *y = b;
    if (x->p != y->p) return x->p > y->p ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* The same by sorting all tokens. */
static int32_t draw_sorted(const heed_generation *a, const heed_real *logits, int n, double u) {
    heed__choice all[40];
    double top = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < n; i++)
        all[i] = (heed__choice){exp(((double)logits[i] - top) / a->temperature), i};
    for (int i = 0; i < n; i++) sum += all[i].p;
    qsort(all, (size_t)n, sizeof *all, by_probability);
    int keep = a->top_k && a->top_k < n ? a->top_k : n, last = 0;
    if (keep < n) sum = 0;
    for (int i = 0; i < keep && keep < n; i++) sum += all[i].p;
    if (a->top_p > 0 && a->top_p < 1) {
        double part = 0, goal = a->top_p * sum;
        int k = 0;
        while (k < keep && part < goal) part += all[k++].p;
        keep = k, sum = part;
    }
    for (double left = u * sum; last < keep - 1 && left >= all[last].p; last++) left -= all[last].p;
    return all[last].id;
}

TEST(generation_draws_as_from_a_sorted_list) {
    heed__choice capacity[40];
    heed_real logits[40];
    for (uint32_t round = 0; round < 2000; round++) {
        heed_random r = heed_random_at(round, "draw", 0, 0);
        int n = 1 + (int)heed_random_below(&r, 99, 40);
        for (int i = 0; i < n; i++) /* some are equal */
            logits[i] = (heed_real)heed_random_below(&r, (uint64_t)i, 30) / 4;
        heed_generation a = {.temperature = 0.5 + round % 4,
                             .top_k = round % 3 ? (int)(round % 7) : 0,
                             .top_p = round % 5 ? 0.2 * (round % 5) : 0};
        heed_random u = heed_random_at(round, "sample", 0, 0);
        CHECK(heed__draw(&a, logits, n, u, capacity) ==
              draw_sorted(&a, logits, n, heed_random_uniform(&u, 0)));
    }
}

TEST(heed_generation_refuses_numbers_out_of_range) {
    built b = build(&heed_model_gpt, NULL, SMALL);
    heed_generation wrong[] = {{.count = -1},
                               {.temperature = NAN},
                               {.temperature = -1},
                               {.top_k = -1},
                               {.top_p = 1.5},
                               {.top_p = NAN},
                               {.length_penalty = NAN},
                               {.repetition_penalty = -1},
                               {.repetition_penalty = NAN}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int32_t out[6];
        CHECK(generate(&b, wrong[i], out) == -1);
        CHECK(heed_ctx_status(b.c) == HEED_USAGE);
        heed_clear(b.c);
    }
    CHECK(!heed_generate(b.model, b.self, b.t, &(heed_generation){.prompt_count = 3}, NULL, NULL));
    CHECK(heed_ctx_status(b.c) == HEED_USAGE);
    heed_clear(b.c);
    DISCARD(b);
}

/* A model whose logits are always the same: the most probable tokens after {3, 5, 7}, and log p of
 * ten. Values: RepetitionPenaltyLogitsProcessor of transformers 5, then log_softmax and argmax. */
TEST(generation_penalizes_repetition_as_transformers) {
    static const heed_real logits[] = {1.5, -0.25, 0.75, 2.0, 1.25, -1.0,
                                       0.5, 1.75,  -0.5, 1.0, 0.25};
    static const struct {
        double penalty, add, log_p;
        int32_t made[6];
    } cases[] = {{0, 0, -14.222061511831756, {3, 3, 3, 3, 3, 3}},
                 {1, 0, -14.222061511831756, {3, 3, 3, 3, 3, 3}},
                 {1.3, 0, -17.157027037900043, {3, 3, 3, 3, 3, 3}},
                 {2, 0, -18.64939909169497, {0, 4, 3, 3, 3, 3}},
                 {5, 0, -18.90252310258453, {0, 4, 9, 2, 6, 3}},
                 {0.5, 0, -6.581944655745912, {3, 3, 3, 3, 3, 3}},
                 {2, -3, -16.944709255944474, {0, 4, 3, 3, 3, 3}}};
    built b = build(&heed_model_gpt, NULL, SMALL "head-bias=true");
    memset(param(&b, "norm.weight")->x, 0, 8 * sizeof(heed_real));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int uncached = 0; uncached < 2; uncached++) {
            int32_t made[10];
            heed_generated about;
            heed_generation a = {.prompt = tokens, .prompt_count = 3, .count = 10};
            a.repetition_penalty = cases[i].penalty, a.uncached = uncached;
            for (int j = 0; j < 11; j++)
                param(&b, "head.bias")->x[j] = logits[j] + (heed_real)cases[i].add;
            CHECK(heed_generate(b.model, b.self, b.t, &a, made, &about));
            CHECK(memcmp(made, cases[i].made, sizeof cases[i].made) == 0);
            CHECK_CLOSE(about.log_probability, cases[i].log_p, 1e-4);
        }
    DISCARD(b);
}

/* A model that ends with p = 0.45 and goes on with 0.55: log 0.45 of one token, the end, against
 * 2 log 0.55 / ((5 + 2) / 6)^penalty of two tokens, which are equal at the penalty 2.62. */
TEST(generation_of_a_beam_prefers_length_by_its_penalty) {
    static const double penalties[] = {0, 2.5, 2.75};
    built b = build(&heed_model_gpt, NULL, SMALL "head-bias=true");
    memset(param(&b, "norm.weight")->x, 0, 8 * sizeof(heed_real));
    for (int j = 0; j < 11; j++)
        param(&b, "head.bias")->x[j] = (heed_real)(j == 3 ? log(0.55) : j == 4 ? log(0.45) : -50);
    for (int i = 0; i < 3; i++) {
        int32_t made[2];
        heed_generated about;
        heed_generation a = {.prompt = tokens, .prompt_count = 3, .count = 2, .beam = 2};
        a.has_end = true, a.end = 4, a.length_penalty = penalties[i];
        CHECK(heed_generate(b.model, b.self, b.t, &a, made, &about));
        CHECK(about.count == (i < 2 ? 0 : 2) && about.ended == (i < 2));
        CHECK_CLOSE(about.log_probability, i < 2 ? log(0.45) : 2 * log(0.55), 1e-5);
    }
    DISCARD(b);
}

TEST(heed_generation_keeps_to_its_limits) {
    built b = build(&heed_model_gpt, NULL, SMALL "init-std=0.5");
    int32_t greedy[9], x[9], y[9];
    generate(&b, (heed_generation){.count = 9}, greedy);
    generate(&b, (heed_generation){.count = 9, .temperature = 2, .top_k = 1}, x);
    CHECK(memcmp(greedy, x, sizeof x) == 0);
    generate(&b, (heed_generation){.count = 9, .temperature = 2, .top_p = 1e-9}, x);
    CHECK(memcmp(greedy, x, sizeof x) == 0);
    generate(&b, (heed_generation){.count = 9, .temperature = 1e-6}, x);
    CHECK(memcmp(greedy, x, sizeof x) == 0);
    generate(&b, (heed_generation){.count = 9, .temperature = 3, .seed = 1}, x);
    generate(&b, (heed_generation){.count = 9, .temperature = 3, .seed = 1}, y);
    CHECK(memcmp(x, y, sizeof x) == 0);
    generate(&b, (heed_generation){.count = 9, .temperature = 3, .seed = 1, .sample = 1}, y);
    CHECK(memcmp(x, y, sizeof x) != 0);
    DISCARD(b);
}

/* Frequencies over many samples are the softmax; with top-k 2 only two tokens occur. */
TEST(gpt_samples_by_probability) {
    built b = build(&heed_model_gpt, NULL, SMALL "init-std=0.5");
    double p[11], sum = 0;
    heed_tape_begin(b.t, HEED_EVAL, 0);
    heed_tensor *y = logits_of(&b, (heed_model_input){.x = heed_ids(b.t, tokens, 1, 3)});
    for (int j = 0; j < 11; j++) sum += p[j] = exp((double)y->x[22 + j] / 2);
    int found[11] = {0}, two[11] = {0}, met = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        int32_t id;
        generate(&b, (heed_generation){.count = 1, .temperature = 2, .sample = i}, &id);
        found[id]++;
        generate(&b, (heed_generation){.count = 1, .temperature = 2, .sample = i, .top_k = 2}, &id);
        two[id]++;
    }
    for (int j = 0; j < 11; j++) {
        CHECK_CLOSE(found[j] / 3000.0, p[j] / sum, 0.04);
        met += two[j] > 0;
    }
    CHECK(met == 2);
    DISCARD(b);
}

static bool stop_at_three(void *user, int32_t id) {
    (void)id;
    return ++*(int *)user < 3;
}

static bool stop_after_three(void *user) { return ++*(int *)user > 3; }

TEST(generation_asks_before_each_token_whether_to_stop) {
    built b = build(&heed_model_gpt, NULL, SMALL);
    for (int beam = 0; beam <= 4; beam += 4) {
        int calls = 0;
        heed_generation a = {.count = 9, .beam = beam, .stop = stop_after_three, .user = &calls};
        CHECK(generate(&b, a, NULL) == 3 && calls == 4);
    }
    DISCARD(b);
}

TEST(gpt_generation_can_be_stopped_and_refuses_nothing) {
    built b = build(&heed_model_gpt, NULL, SMALL);
    int calls = 0;
    CHECK(generate(&b, (heed_generation){.count = 9, .token = stop_at_three, .user = &calls},
                   NULL) == 3);
    CHECK(generate(&b, (heed_generation){.count = 0}, NULL) == 6);
    int32_t whole[9], part[9];
    CHECK(generate(&b, (heed_generation){.count = 9, .temperature = 3}, whole) == 9);
    heed_generation ends = {.count = 9, .temperature = 3, .has_end = true, .end = whole[4]};
    int n = generate(&b, ends, part), first = 0;
    while (whole[first] != whole[4]) first++;
    CHECK(n == first && memcmp(part, whole, (size_t)n * sizeof *part) == 0);
    ends.end = -1;
    CHECK(generate(&b, ends, part) == 9);
    heed_generation none = {.prompt = tokens, .count = 1};
    CHECK(!heed_generate(b.model, b.self, b.t, &none, NULL, NULL));
    CHECK_HAS(heed_ctx_error(b.c), "prompt");
    heed_clear(b.c);
    none = (heed_generation){.prompt = (int32_t[]){99}, .prompt_count = 1, .count = 1};
    CHECK(!heed_generate(b.model, b.self, b.t, &none, NULL, NULL));
    CHECK(heed_ctx_status(b.c) != HEED_OK);
    heed_clear(b.c);
    DISCARD(b);
}

/* With and without draws, and of a beam: tokens of `never` are not chosen, though they were the
 * most probable ones. */
TEST(generation_never_chooses_some_tokens) {
    built b = build(&heed_model_gpt, NULL, SMALL "init-std=0.5");
    int32_t free_made[12], made[12];
    for (int mode = 0; mode < 3; mode++) {
        heed_generation a = {.count = 12, .seed = 5, .temperature = mode == 1 ? 0.1 : 0};
        a.beam = mode == 2 ? 3 : 0;
        CHECK(generate(&b, a, free_made) == 12);
        int32_t never[] = {-1, free_made[0], free_made[11], 11};
        a.never = never;
        a.never_count = 4;
        CHECK(generate(&b, a, made) == 12);
        for (int i = 0; i < 12; i++) CHECK(made[i] != free_made[0] && made[i] != free_made[11]);
    }
    DISCARD(b);
}

/* [UNK] and what no text holds, but not what ends a text: in GPT-2's vocabulary these are one. */
TEST_IN(generation_never_makes_unknown_tokens, heed_open(NULL)) {
    heed_tokenizer *k =
        heed_tokenizer_train(c, "a b", 3, (heed_tokenizer_args){.kind = "char", .specials = true});
    heed_specials s = heed_tokenizer_specials(k);
    int32_t never[4];
    CHECK(heed_never(k, s.sep, never) == 4 && never[0] == s.unk && never[3] == s.mask);
    CHECK(heed_never(k, s.unk, never) == 3 && never[0] == s.pad);
}
