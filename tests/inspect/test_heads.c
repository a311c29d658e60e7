/* test_heads.c -- what heads do and what is lost without them, of a model that is none of the
 * library's: numbers, two layers of attention. */
#include "files.h"
#include "lab.h"
#include <heed/inspect.h>

enum { ROWS = 3, LEN = 4, WIDTH = 8, HEADS = 2, LAYERS = 2, BATCHES = 2 };

typedef struct {
    heed_linear in, out;
    heed_mha attn[LAYERS];
    heed_real x[ROWS * LEN * 2], y[ROWS * LEN];
} mixer;

static bool init(void *self, heed_params *s, const void *f) {
    mixer *m = self;
    char name[16];
    (void)f;
    heed_linear_init(&m->in, s, "in", (heed_linear_args){.in = 2, .out = WIDTH});
    for (int i = 0; i < LAYERS; i++) {
        snprintf(name, sizeof name, "%d.attn", i);
        heed_mha_init(&m->attn[i], s, name, (heed_mha_args){.width = WIDTH, .heads = HEADS});
    }
    heed_linear_init(&m->out, s, "out", (heed_linear_args){.in = WIDTH, .out = 1});
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

static bool batch(void *self, const heed_data *data, heed_batch_at at, heed_batch *out) {
    mixer *m = self;
    heed_random r = heed_random_at(5, "numbers", at.index, 0);
    CHECK(data == NULL && at.rows == ROWS && at.val);
    for (int i = 0; i < ROWS * LEN * 2; i++)
        m->x[i] = (heed_real)heed_random_normal(&r, (uint64_t)i);
    for (int i = 0; i < ROWS * LEN; i++) m->y[i] = m->x[2 * i] * m->x[2 * i + 1];
    *out = (heed_batch){.rows = ROWS, .len = LEN, .x = m->x};
    return true;
}

static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    const mixer *m = self;
    heed_tensor *x =
        heed_linear_apply(&m->in, t, heed_input(t, b->x, 3, SHAPE(b->rows, b->len, 2)));
    for (int i = 0; i < LAYERS; i++) x = heed_add(t, x, heed_mha_apply(&m->attn[i], t, x, NULL));
    return heed_mse(t, heed_linear_apply(&m->out, t, x),
                    heed_input(t, m->y, 3, SHAPE(b->rows, b->len, 1)));
}

static bool attending(const void *self, int index, heed_attention_info *out) {
    const mixer *m = self;
    if (index >= LAYERS) return false;
    *out = (heed_attention_info){.path = m->attn[index].name,
                                 .stack = HEED_ENCODER,
                                 .layer = index,
                                 .heads = HEADS,
                                 .key = m->attn[index].args.key,
                                 .value = m->attn[index].args.value};
    return true;
}

static const heed_option options[] = {{0}};
static const heed_model model = {.name = "mixer",
                                 .data = &heed_own_positions,
                                 .options = options,
                                 .size = sizeof(mixer),
                                 .init = init,
                                 .batch = batch,
                                 .loss = loss,
                                 .attending = attending};

typedef struct {
    mixer self;
    heed_run run;
    heed_evaluation e;
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
    shake(r->store);
    b->e = (heed_evaluation){.run = r, .rows = ROWS, .batches = BATCHES};
}

/* The mean loss over the batches. */
static double loss_now(const bench *b) {
    heed_score score = {0};
    heed_batch at;
    for (uint64_t i = 0; i < BATCHES; i++) CHECK(heed_evaluation_batch(&b->e, i, &at, &score));
    CHECK(score.weight == BATCHES * ROWS);
    return score.loss / score.weight;
}

/* ---- heads ---- */

/* By hand, from the weights of the pass: what the table has of a head of a layer. */
static void sum_rows(const bench *b, int layer, int head, double *entropy, double *self,
                     double *next) {
    char path[32];
    snprintf(path, sizeof path, "%d.attn.weights", layer);
    *entropy = *self = *next = 0;
    for (uint64_t i = 0; i < BATCHES; i++) {
        heed_score score = {0};
        heed_batch at;
        heed_probe(b->run.tape, path, false);
        CHECK(heed_evaluation_batch(&b->e, i, &at, &score));
        const heed_tensor *w = heed_probe_find(b->run.tape, path);
        heed_probe_clear(b->run.tape);
        for (int row = 0; w && row < ROWS * LEN; row++) {
            int q = row % LEN, item = row / LEN;
            const heed_real *x = w->x + ((item * HEADS + head) * LEN + q) * LEN;
            for (int k = 0; k < LEN; k++) *entropy -= (double)x[k] * log2((double)x[k]);
            *self += (double)x[q];
            if (q + 1 < LEN) *next += (double)x[q + 1];
        }
    }
}

static double number(const heed_record *r, const char *table, const char *key, int row) {
    const heed_record_column *k = heed_record_find(r, table, key);
    return k && k->values ? k->values[row] : (double)NAN;
}

TEST(heads_are_means_over_the_queries_of_all_batches) {
    bench b;
    double entropy, self, next, rows = BATCHES * ROWS * LEN;
    open_bench(&b, &model);
    heed_record *r = heed_heads(&b.e);
    CHECK(r && r->table_count == 3 && r->tables[1].rows == LAYERS * HEADS);
    for (int i = 0; i < LAYERS * HEADS; i++) {
        sum_rows(&b, i / HEADS, i % HEADS, &entropy, &self, &next);
        CHECK_CLOSE(number(r, "heads", "entropy", i), entropy / rows, 10 * tiny);
        CHECK_CLOSE(number(r, "heads", "self", i), self / rows, 10 * tiny);
        CHECK_CLOSE(number(r, "heads", "next", i), next / (rows * (LEN - 1) / LEN), 10 * tiny);
        CHECK(number(r, "heads", "layer", i) == i / HEADS + 1 &&
              number(r, "heads", "head", i) == i % HEADS + 1 &&
              number(r, "heads", "queries", i) == rows);
    }
    CHECK_CLOSE(number(r, "alike", "entropy", 0), log2(LEN), 1e-12);
    CHECK_CLOSE(number(r, "alike", "distance", 0), 1.25, 1e-12);
    CHECK(heed_record_find(r, "heads", "first") && !heed_record_find(r, "heads", "same") &&
          !heed_record_find(r, "heads", "induction") && !heed_record_find(r, "heads", "special") &&
          !heed_record_find(r, "alike", "diagonal"));
    heed_record_free(r);
    CLOSE(b.run.c);
}

TEST(heads_of_a_model_that_does_not_attend_are_refused) {
    heed_model blind = model;
    bench b;
    blind.attending = NULL;
    open_bench(&b, &blind);
    CHECK_FAILS(b.run.c, heed_heads(&b.e) != NULL, HEED_USAGE, "does not attend");
    CHECK_FAILS(b.run.c, heed_ablate(&b.e) != NULL, HEED_USAGE, "does not attend");
    CHECK(!heed_heads(NULL) && !heed_ablate(NULL));
    CLOSE(b.run.c);
}

/* ---- ablation ---- */

typedef struct {
    uint64_t calls, last, all, stop_at;
} told;

static bool advance(void *user, uint64_t done, uint64_t all) {
    told *t = user;
    t->calls++;
    t->last = done;
    t->all = all;
    return t->stop_at == 0 || t->calls < t->stop_at;
}

/* The loss without a head is that of the model whose rows of values are zero. */
TEST(ablation_is_the_loss_without_each_head) {
    bench b;
    told t = {0};
    int count;
    open_bench(&b, &model);
    b.e.progress = advance;
    b.e.progress_user = &t;
    double whole = loss_now(&b), before = (double)INFINITY;
    heed_record_block *layers = heed_attention_layers(&b.run, &count);
    heed_record *r = heed_ablate(&b.e);
    CHECK(r && t.last == t.all && t.all == LAYERS * HEADS);
    CHECK(number(r, NULL, "loss", 0) == whole && isnan(number(r, NULL, "accuracy", 0)));
    for (int i = 0; i < LAYERS * HEADS; i++) {
        heed_head_backup backup;
        int layer = (int)number(r, "heads", "layer", i) - 1,
            head = (int)number(r, "heads", "head", i) - 1;
        double loss = number(r, "heads", "loss", i), harm = number(r, "heads", "harm", i);
        CHECK(heed_head_off(&b.run, &layers[layer], head, &backup));
        CHECK(loss == loss_now(&b) && loss != whole);
        heed_head_on(&backup);
        CHECK_CLOSE(harm, loss - whole, 1e-9);
        CHECK_CLOSE(r->maps->values[layer * HEADS + head], harm, tiny);
        CHECK(number(r, "heads", "harm_95", i) > 0 && harm <= before);
        before = harm;
    }
    CHECK(loss_now(&b) == whole);
    free(layers);
    heed_record_free(r);
    CLOSE(b.run.c);
}

/* Also between the batches of a head, which is then on again. */
TEST(ablation_stops_when_progress_says_so) {
    bench b;
    told t = {.stop_at = BATCHES + 2};
    open_bench(&b, &model);
    b.e.progress = advance;
    b.e.progress_user = &t;
    double whole = loss_now(&b);
    CHECK_FAILS(b.run.c, heed_ablate(&b.e) != NULL, HEED_INTERRUPTED, "interrupted");
    CHECK(t.calls == t.stop_at && t.last == 0 && loss_now(&b) == whole);
    CLOSE(b.run.c);
}

static bool named_otherwise(const void *self, int index, heed_attention_info *out) {
    bool found = attending(self, index, out);
    out->path = "elsewhere";
    return found;
}

TEST(ablation_of_a_layer_without_values_of_heads_says_what_it_needs) {
    heed_model other = model;
    bench b;
    other.attending = named_otherwise;
    open_bench(&b, &other);
    CHECK_FAILS(b.run.c, heed_ablate(&b.e) != NULL, HEED_USAGE, "elsewhere.qkv.weight");
    CLOSE(b.run.c);
}

/* ---- batches of the caller's own, and estimates ---- */

static bool own_batch(void *user, uint64_t index, heed_batch *b, heed_score *score) {
    *b = (heed_batch){.rows = 1};
    score->loss += (double)index;
    score->weight++;
    return user != NULL;
}

TEST(evaluation_reads_batches_of_the_callers_own) {
    bench b;
    open_bench(&b, &model);
    b.e = (heed_evaluation){.run = &b.run, .batches = 3, .batch = own_batch, .user = &b};
    heed_record *r = heed_ablate(&b.e);
    CHECK(number(r, NULL, "loss", 0) == 1 && number(r, "heads", "harm", 0) == 0);
    heed_record_free(r);
    CLOSE(b.run.c);
}

TEST(estimates_are_means_with_an_interval) {
    double x[] = {1, (double)NAN, 2, 3, (double)INFINITY};
    heed_estimate e = heed_estimate_mean(x, 5);
    CHECK(e.count == 3 && e.mean == 2);
    CHECK_CLOSE(e.half, 4.303 / sqrt(3), 1e-12); /* s = 1, n = 3 */
    e = heed_estimate_mean(x, 1);
    CHECK(e.count == 1 && e.mean == 1 && isnan(e.half));
    e = heed_estimate_mean(NULL, 5);
    CHECK(e.count == 0 && isnan(e.mean));
}
