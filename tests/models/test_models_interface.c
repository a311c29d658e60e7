/* What every model says about itself: its attention layers are those that a probe finds, its logits
 * have the rows that it names and see neither padding nor later tokens, its steps give the logits
 * of the whole, and what it generates is the same however it is computed. Each on all cases that
 * the models name for the gradient check. */
#include "built.h"
#include "core/core.h"

static const double close_enough = sizeof(heed_real) == 8 ? 1e-12 : 2e-5;

enum { ROWS = 2, LEN = 4 };
static const int32_t tokens[] = {3, 5, 7, 2, 6, 1, 4, 0};
static const int32_t targets[] = {1, 4, 2, 0, 5, 3, 1, 6};

static built build_case(const heed_model *m, const heed_model_case *k) {
    built b = {.c = heed_open(&(heed_options){.seed = 5, .threads = 1}), .model = m};
    b.f = heed_model_config(b.c, m, NULL);
    b.s = heed_params_new(b.c);
    b.t = heed_tape_new(b.c);
    b.self = calloc(1, m->size);
    CHECK(heed_config_set_list(b.f, k->settings, "test", HEED_FROM_FLAG));
    CHECK(heed_model_init(m, b.self, b.s, b.f));
    shake(b.s);
    return b;
}

static bool reads_pictures(const built *b) { return b->model->data->images; }

static heed_tensor *pictures(const built *b, heed_tape *t, int rows) {
    int size = (int)heed_config_int(b->f, "image-size");
    int channels = (int)heed_config_int(b->f, "channels");
    heed_tensor *x = heed_input(t, NULL, 4, (int[]){rows, size, size, channels});
    heed_random r = heed_random_at(1, "x", 0, 0);
    for (size_t i = 0; x && i < x->size; i++) x->x[i] = (heed_real)heed_random_normal(&r, i);
    return x;
}

/* The first `rows` inputs of the model's kind. */
static heed_model_input inputs_of(const built *b, heed_tape *t, int rows) {
    heed_model_input in = {.x = reads_pictures(b) ? pictures(b, t, rows)
                                                  : heed_ids(t, tokens, rows, LEN)};
    if (b->model->data->target) in.target = heed_ids(t, targets, rows, LEN);
    return in;
}

static heed_model_input input_of(const built *b) { return inputs_of(b, b->t, ROWS); }

static void each_case(void (*check)(const built *b)) {
    for (int i = 0; heed_models[i]; i++) {
        CHECK(heed_models[i]->cases && heed_models[i]->cases->settings);
        for (const heed_model_case *k = heed_models[i]->cases; k && k->settings; k++) {
            built b = build_case(heed_models[i], k);
            check(&b);
            if (heed_ctx_status(b.c) != HEED_OK)
                test_fail(__FILE__, __LINE__, "%s %s: %s", b.model->name, k->name,
                          heed_ctx_error(b.c));
            DISCARD(b);
        }
    }
}

/* ---- logits ---- */

static void check_rows(const built *b) {
    heed_tape_begin(b->t, HEED_EVAL, 0);
    heed_tensor *y = logits_of(b, input_of(b));
    if (!b->model->data->ask) {
        const heed_model_input in = input_of(b);
        CHECK(y && in.x && y->dims == 4 && heed__same_shape(y, in.x));
        return;
    }
    const char *classes = heed_config_has(b->f, "classes") ? "classes" : "vocab";
    int width = (int)heed_config_int(b->f, classes);
    const char *label = b->model->data->label;
    bool each = !label || strcmp(label, "word") == 0;
    CHECK(y && y->dims == (each ? 3 : 2) && y->shape[0] == ROWS);
    CHECK(y && y->shape[y->dims - 1] == width);
    CHECK(y && (!each || y->shape[1] == LEN));
    if (!b->model->data->mask) return;
    heed_model_input in = input_of(b);
    in.masked_positions = heed_input_ids(b->t, (int32_t[]){1, 6}, 1, (int[]){2});
    heed_tensor *some = logits_of(b, in);
    CHECK(some && some->dims == 2 && some->shape[0] == 2);
    for (int i = 0; y && some && i < 2; i++)
        CHECK_CLOSE(apart(some->x + i * width, y->x + (i ? 6 : 1) * width, (size_t)width), 0,
                    close_enough);
}

TEST(interface_logits_have_the_rows_that_are_named) { each_case(check_rows); }

static void check_code(const built *b) {
    if (!b->model->code) return;
    heed_tape_begin(b->t, HEED_EVAL, 0);
    const heed_model_input in = input_of(b);
    const heed_tensor *z = b->model->code(b->self, b->t, &in);
    CHECK(z && z->dims == 2 && z->shape[0] == ROWS && z->shape[1] > 0);
}

TEST(interface_a_code_has_a_row_for_each_input) { each_case(check_code); }

/* ---- attention ---- */

/* Texts, sources and targets are all as long; pictures, also reconstructed ones, have the positions
 * of their grid. */
static int positions(const built *b, bool target) {
    heed_grid grid;
    bool text = target && !(b->model->data->images && !b->model->data->target);
    if (text || !b->model->grid || !b->model->grid(b->self, &grid)) return LEN;
    return grid.first + grid.rows * grid.cols;
}

/* Whether the values of the layer's heads are rows of a stacked projection. */
static bool has_values(const built *b, const heed_attention_info *a) {
    char name[96];
    snprintf(name, sizeof name, "%s.%s.weight", a->path, a->stack == HEED_CROSS ? "kv" : "qkv");
    return heed_params_find(b->s, name) != NULL;
}

static void check_attending(const built *b) {
    heed_attention_info a;
    int count = 0, fixed = 0, found = 0;
    char path[96];
    heed_probe(b->t, "*.weights", false);
    heed_tape_begin(b->t, HEED_EVAL, 0);
    logits_of(b, input_of(b));
    for (; b->model->attending && b->model->attending(b->self, count, &a); count++) {
        snprintf(path, sizeof path, "%s.weights", a.path);
        const heed_tensor *w = heed_probe_find(b->t, path);
        int n = positions(b, a.stack == HEED_DECODER);
        int queries = positions(b, a.stack != HEED_ENCODER);
        size_t size = (size_t)ROWS * (size_t)a.heads * (size_t)queries * (size_t)n;
        if (!w || w->size != size)
            test_fail(__FILE__, __LINE__, "%s: %s: %zu weights, expected %zu", b->model->name, path,
                      w ? w->size : 0, size);
        for (int i = 0; w && i < n && a.causal; i++) /* the first query sees the first key alone */
            CHECK(w->x[i] == (i == 0));
        fixed += a.fixed;
        CHECK(a.fixed || (a.key > 0 && a.value > 0 && (a.additive || a.beta > 0)));
        CHECK(a.additive == (a.align != NULL));
    }
    for (int i = 0; i < heed_probe_count(b->t); i++) {
        const char *name;
        heed_probe_at(b->t, i, &name);
        found++;
    }
    CHECK(found == count);
    CHECK(fixed == 0 || count == 1);
    heed_probe_clear(b->t);
}

TEST(interface_attention_layers_are_those_that_a_probe_finds) { each_case(check_attending); }

/* raw scores times beta are the scores; with beta unknown to the tape, the model says it. */
TEST(interface_attention_scores_are_products_times_beta) {
    for (int i = 0; heed_models[i]; i++)
        for (const heed_model_case *k = heed_models[i]->cases; k->settings; k++) {
            built b = build_case(heed_models[i], k);
            heed_attention_info a;
            if (b.model->attending && b.model->attending(b.self, 0, &a) && !a.fixed &&
                !a.additive && !strstr(k->settings, "general")) {
                char path[3][96];
                const heed_tensor *part[3];
                static const char *const names[] = {"q", "k", "scores"};
                heed_probe(b.t, "*", false);
                heed_tape_begin(b.t, HEED_EVAL, 0);
                logits_of(&b, input_of(&b));
                for (int j = 0; j < 3; j++) {
                    snprintf(path[j], sizeof path[j], "%s.%s", a.path, names[j]);
                    part[j] = heed_probe_find(b.t, path[j]);
                }
                CHECK(part[0] && part[1] && part[2]);
                double raw[2] = {0}; /* of the first and of the last head, query and key */
                size_t size[3];
                for (int j = 0; j < 3; j++) size[j] = part[j] ? part[j]->size : (size_t)a.key;
                for (int j = 0; part[0] && part[1] && j < a.key; j++) {
                    raw[0] += (double)part[0]->x[j] * (double)part[1]->x[j];
                    raw[1] += (double)part[0]->x[size[0] - 1 - (size_t)j] *
                              (double)part[1]->x[size[1] - 1 - (size_t)j];
                }
                for (int j = 0; part[2] && j < 2; j++)
                    CHECK_CLOSE(part[2]->x[j ? size[2] - 1 : 0], a.beta * raw[j],
                                1e-4 * fabs(raw[j]) + 1e-6);
            }
            DISCARD(b);
        }
}

static void check_average(const built *b) {
    heed_attention_info a;
    char path[96];
    if (!b->model->average || !b->model->attending(b->self, 0, &a) || a.fixed) return;
    if (has_values(b, &a)) return;
    snprintf(path, sizeof path, "%s.weights", a.path);
    heed_probe(b->t, path, false);
    for (int on = 1; on >= 0; on--) {
        b->model->average(b->self, on);
        heed_tape_begin(b->t, HEED_EVAL, 0);
        logits_of(b, input_of(b));
        const heed_tensor *w = heed_probe_find(b->t, path);
        double off = 0;
        for (size_t i = 0; w && i < w->size; i++)
            off = fmax(off, fabs((double)w->x[i] - 1.0 / positions(b, false)));
        CHECK(w && (on ? off < 1e-6 : off > 1e-3));
    }
}

TEST(interface_average_weighs_all_keys_alike) { each_case(check_average); }

/* Values that are switched off by the rows of PATH.qkv or PATH.kv have such rows. */
static void check_values(const built *b) {
    heed_attention_info a;
    char path[96];
    for (int i = 0; b->model->attending && b->model->attending(b->self, i, &a); i++) {
        if (b->model->average && !has_values(b, &a)) continue;
        bool cross = a.stack == HEED_CROSS;
        snprintf(path, sizeof path, "%s.%s.weight", a.path, cross ? "kv" : "qkv");
        const heed_param *e = heed_params_find(b->s, path);
        heed_mha_args sizes = {.heads = a.heads,
                               .kv_heads = a.kv_heads,
                               .key = a.key,
                               .value = a.value,
                               .cross = cross};
        heed_rows rows = heed_mha_rows(&sizes, HEED_VALUES, -1);
        CHECK(e && e->tensor->shape[0] == rows.from + rows.count);
    }
}

TEST(interface_heads_have_values_of_their_own) { each_case(check_values); }

/* ---- embeddings and patches ---- */

static void check_embedding(const built *b) {
    heed_grid grid = {.rows = 1, .cols = LEN};
    bool none = b->model->grid && !b->model->grid(b->self, &grid);
    if (!b->model->embedding || none) return;
    char path[96];
    snprintf(path, sizeof path, "%s.out", b->model->embedding);
    heed_probe(b->t, path, false);
    heed_tape_begin(b->t, HEED_EVAL, 0);
    logits_of(b, input_of(b));
    const heed_tensor *x = heed_probe_find(b->t, path);
    int width = x ? x->shape[x->dims - 1] : 0;
    CHECK(x && x->size == (size_t)(ROWS * grid.rows * grid.cols * width));
}

TEST(interface_embeddings_have_a_place_for_each_part_of_the_input) { each_case(check_embedding); }

/* ---- steps ---- */

/* Row `at` of the whole's logits for the first input of a batch. */
static void check_step(const built *b, const heed_tensor *y, const heed_tensor *all, int at) {
    int vocab = all ? all->shape[2] : 0;
    CHECK(y && all && y->size >= (size_t)vocab);
    if (!y || !all) return;
    double off = apart(y->x + y->size - vocab, all->x + at * vocab, (size_t)vocab);
    if (!(off <= close_enough))
        test_fail(__FILE__, __LINE__, "%s: step %d is off by %.3g", b->model->name, at, off);
}

/* Tokens one by one, and the first three at once. */
static void check_steps(const built *b) {
    const heed_steps *s = b->model->steps;
    if (!s) return;
    const int32_t *made = s->read ? targets : tokens;
    heed_tape *reading = heed_tape_new(b->c), *whole = heed_tape_new(b->c);
    heed_source source = {0}, *read = s->read ? &source : NULL;
    heed_tape_begin(reading, HEED_EVAL, 0);
    heed_tape_begin(whole, HEED_EVAL, 0);
    heed_model_input in = inputs_of(b, reading, 1);
    if (s->read) CHECK(s->read(b->self, reading, in.x, &source));
    CHECK(s->length(b->self) == (int)heed_config_int(b->f, "block"));
    in = inputs_of(b, whole, 1);
    const heed_tensor *all = b->model->logits(b->self, whole, &in);
    size_t numbers = s->state(b->self, read);
    for (int first = 1; first <= (s->read ? 1 : 3); first += 2) {
        heed_real *state = calloc(numbers + 1, sizeof *state);
        if (s->start) s->start(b->self, read, state);
        for (int at = 0; at < LEN;) {
            int n = at == 0 ? first : 1;
            heed_tape_begin(b->t, HEED_EVAL, 0);
            heed_tensor *y =
                s->next(b->self, b->t, read, state, at, heed_ids(b->t, made + at, 1, n));
            at += n;
            check_step(b, y, all, at - 1);
        }
        free(state);
    }
    heed_tape_free(reading);
    heed_tape_free(whole);
}

TEST(interface_steps_give_the_logits_of_the_whole) { each_case(check_steps); }

/* ---- what logits see ---- */

/* Texts without their padding, and only the tokens up to one, give the same logits. */
static void check_unseen(const built *b) {
    bool target = b->model->data->target,
         causal = target || (b->model->steps && !b->model->steps->read);
    heed_tape_begin(b->t, HEED_EVAL, 0);
    if (causal) {
        heed_model_input in = input_of(b), few = inputs_of(b, b->t, 1);
        *(target ? &few.target : &few.x) = heed_ids(b->t, target ? targets : tokens, 1, 3);
        const heed_tensor *y = logits_of(b, in), *z = logits_of(b, few);
        CHECK(y && z && apart(y->x, z->x, z->size) <= close_enough);
    }
    if (reads_pictures(b) || (causal && !target)) return;
    heed_model_input in = input_of(b), few = inputs_of(b, b->t, 1);
    in.pad = heed_ids(b->t, (int32_t[]){1, 1, 1, 0, 1, 1, 1, 1}, ROWS, LEN);
    few.x = heed_ids(b->t, tokens, 1, 3);
    const heed_tensor *y = logits_of(b, in), *z = logits_of(b, few);
    CHECK(y && z && apart(y->x, z->x, z->size) <= close_enough);
}

TEST(interface_logits_see_neither_padding_nor_later_tokens) { each_case(check_unseen); }

/* Each part of the first input matters to its logits, and to no other input's. */
static void check_seen(const built *b) {
    if (!b->model->data->ask) return;
    for (int part = 0; part < 2; part++) {
        heed_tape_begin(b->t, HEED_EVAL, 0);
        heed_model_input in = input_of(b), other = input_of(b);
        if (reads_pictures(b))
            for (int i = part; i < (int)other.x->size / ROWS; i += 2) other.x->x[i] += 1;
        else
            other.x->i[part] += 1;
        const heed_tensor *y = logits_of(b, in), *z = logits_of(b, other);
        size_t half = y ? y->size / ROWS : 0;
        CHECK(y && z && memcmp(y->x, z->x, half * sizeof *y->x) != 0);
        CHECK(y && z && !memcmp(y->x + half, z->x + half, half * sizeof *y->x));
    }
}

TEST(interface_logits_depend_on_their_own_input) { each_case(check_seen); }

/* ---- what is generated ---- */

enum { MOST = 6, SAMPLES = 5 };

static heed_generated made(const built *b, heed_generation a, int32_t *out) {
    static heed_real pixels[4096];
    heed_generated about[SAMPLES] = {{0}};
    a.prompt = targets, a.prompt_count = 1;
    a.has_end = true, a.end = 2;
    if (reads_pictures(b)) {
        const heed_tensor *x = pictures(b, b->t, 1);
        memcpy(pixels, x->x, x->size * sizeof *pixels);
        a.picture = pixels, a.picture_size = x->shape[1], a.picture_channels = x->shape[3];
    } else if (b->model->steps->read) {
        a.source = tokens, a.source_count = LEN;
    }
    if (!a.count)
        a.count =
            b->model->steps->length(b->self) < MOST ? b->model->steps->length(b->self) - 1 : MOST;
    CHECK(heed_generate(b->model, b->self, b->t, &a, out, about));
    return about[a.samples > 1 ? a.samples - 1 : 0];
}

/* log p of a text by the logits of the whole. */
static double probability_of(const built *b, const int32_t *ids, heed_generated about) {
    int32_t all[MOST + 2] = {targets[0]};
    double sum = 0;
    int n = about.count + about.ended;
    memcpy(all + 1, ids, (size_t)about.count * sizeof *ids);
    all[about.count + 1] = 2;
    heed_tape_begin(b->t, HEED_EVAL, 0);
    heed_model_input in = inputs_of(b, b->t, 1);
    *(b->model->data->target ? &in.target : &in.x) = heed_ids(b->t, all, 1, n);
    heed_tensor *y = heed_log_softmax(b->t, logits_of(b, in), 1, NULL);
    for (int i = 0; y && i < n; i++) sum += (double)y->x[y->shape[2] * i + all[i + 1]];
    return sum;
}

/* From cached keys, values and states as computed anew for each token; samples at once as each
 * alone; the probability that is said, which a beam only raises. */
static void check_generated(const built *b) {
    if (!b->model->steps) return;
    heed_tape_begin(b->t, HEED_EVAL, 0);
    const heed_generation ways[] = {{0},
                                    {.beam = 4, .length_penalty = 0.6},
                                    {.temperature = 1, .top_k = 5, .seed = 7, .sample = 1}};
    int32_t x[MOST * SAMPLES], y[MOST * SAMPLES];
    for (int i = 0; i < 3; i++) {
        heed_generation a = ways[i];
        heed_generated p = made(b, a, x);
        a.uncached = true;
        heed_generated q = made(b, a, y);
        CHECK(p.count == q.count && p.ended == q.ended && p.count <= MOST);
        CHECK_CLOSE(p.log_probability, q.log_probability, 1e-4);
        CHECK(!memcmp(x, y, (size_t)p.count * sizeof *x));
        if (i != 1) CHECK_CLOSE(p.log_probability, probability_of(b, x, p), 1e-4);
    }
    heed_generation a = {.count = 3, .temperature = 2, .samples = SAMPLES};
    heed_generated last = made(b, a, x);
    a.samples = 1;
    for (int k = 0; k < SAMPLES; k++, a.sample++) {
        heed_generated alone = made(b, a, y);
        CHECK(!memcmp(x + 3 * k, y, (size_t)alone.count * sizeof *y));
        if (k == SAMPLES - 1)
            CHECK(alone.count == last.count && alone.log_probability == last.log_probability);
    }
    double greedy = made(b, (heed_generation){.count = 3}, x).log_probability;
    heed_generated wide = made(b, (heed_generation){.count = 3, .beam = 64}, x);
    CHECK(wide.log_probability >= greedy - 1e-6);
    CHECK_CLOSE(wide.log_probability, probability_of(b, x, wide), 1e-4);
}

TEST(interface_texts_are_made_alike_in_every_way) { each_case(check_generated); }

TEST(interface_no_steps_no_texts) {
    built b = build_case(&heed_model_mlm, heed_model_mlm.cases);
    int32_t x[3];
    CHECK(!heed_generate(b.model, b.self, b.t,
                         &(heed_generation){.prompt = tokens, .prompt_count = 2, .count = 3}, x,
                         NULL));
    CHECK_HAS(heed_ctx_error(b.c), "model mlm does not generate output step by step");
    heed_clear(b.c);
    DISCARD(b);
}
