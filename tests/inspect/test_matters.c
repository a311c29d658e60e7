/* Rollout, occlusion and gradients of inputs, on small models with random weights. */
#include "asked.h"

static const char text[] = "red cat saw [MASK] dog";

/* The subject points to the run, which must not move any more. */
static heed_record *look(asked *a) {
    CHECK(heed_run_text(&a->run, text, sizeof text - 1, NULL, &a->e));
    heed_record *r = heed_capture(&a->run, &a->e, &(heed_capture_args){.lean = true});
    if (!r) test_fail(__FILE__, __LINE__, "no record: %s", heed_ctx_error(a->run.c));
    return r;
}

static const heed_record_map *map_of(const heed_record *r, const char *name, heed_stack stack,
                                     int layer, int head) {
    for (int i = 0; r && i < r->map_count; i++) {
        const heed_record_map *m = &r->maps[i];
        if (strcmp(m->name, name) == 0 && m->stack == stack && m->layer == layer && m->head == head)
            return m;
    }
    test_fail(__FILE__, __LINE__, "no map %s of layer %d, head %d", name, layer, head);
    return NULL;
}

static const heed_record_map *map_at(const heed_record *r, const char *name, int layer, int head) {
    return map_of(r, name, HEED_ENCODER, layer, head);
}

#define SMALL "layers=2 heads=2 width=8 ff=12 block=10 init-std=0.3 "

/* p of a class in a row of the logits of ids. */
static double probability(const asked *a, const int32_t *ids, int row, int class) {
    heed_tape *t = a->run.tape;
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *y = a->run.model->logits(
        a->run.self, t, &(heed_model_input){.x = heed_ids(t, ids, 1, (int)a->e.text.tokens.count)});
    int n = y ? y->shape[2] : 0;
    double sum = 0;
    for (int i = 0; i < n; i++) sum += exp((double)(y->x[row * n + i] - y->x[row * n + class]));
    return 1 / sum;
}

/* A special token is no guess for a masked one. */
static int best_class(const asked *a, int row) {
    int best = -1, n = heed_vocab_size(a->run.tokenizer);
    heed_specials x = heed_tokenizer_specials(a->run.tokenizer);
    for (int i = 0; i < n; i++) {
        if (i == x.unk || i == x.pad || i == x.cls || i == x.sep || i == x.mask) continue;
        double p = probability(a, a->e.text.tokens.ids, row, i);
        if (best < 0 || p > probability(a, a->e.text.tokens.ids, row, best)) best = i;
    }
    return best;
}

/* The map holds p with everything in sight minus p without, token by token; a token whose embedding
 * is that of [MASK] changes nothing. */
TEST(matters_occlusion_asks_again_without_each_token) {
    asked a = ask(&heed_model_mlm, SMALL);
    int mask = heed_tokenizer_specials(a.run.tokenizer).mask;
    int cat = heed_token_id(a.run.tokenizer, "cat");
    heed_tensor *e = heed_params_find(a.run.store, "embed.token.weight")->tensor;
    memcpy(e->x + cat * 8, e->x + mask * 8, 8 * sizeof *e->x);
    heed_record *r = look(&a);
    CHECK(heed_occlusion_add(&a.run, &a.e, NULL, r));
    const heed_record_map *m = map_at(r, "occlusion", -1, -1);
    const heed_record_map *odds = map_at(r, "occlusion, log-odds", -1, -1);
    int row = a.e.questions[0].query, class = best_class(&a, row);
    double whole = probability(&a, a.e.text.tokens.ids, row, class);
    for (int k = 0; m && odds && k < (int)a.e.text.tokens.count; k++) {
        int32_t own = a.e.text.tokens.ids[k];
        double found = (double)m->values[row * (int)a.e.text.tokens.count + k];
        a.e.text.tokens.ids[k] = mask;
        double p = probability(&a, a.e.text.tokens.ids, row, class);
        a.e.text.tokens.ids[k] = own;
        if (own == mask) {
            CHECK(isnan(found));
            continue;
        }
        CHECK_CLOSE(found, whole - p, 10 * tiny);
        CHECK_CLOSE(odds->values[row * (int)a.e.text.tokens.count + k],
                    log(whole / (1 - whole) * (1 - p) / p), 100 * tiny);
        if (own == cat) CHECK(found == 0);
    }
    for (int k = 0; m && k < (int)a.e.text.tokens.count; k++)
        CHECK(isnan((double)m->values[k])); /* row 0 */
    close_asked(&a, r);
}

/* dy/dA_qk of a head is what y changes by when the head's output at q moves along v_k, which the
 * bias behind W_h does: a central difference of it, in a model of one layer. v (heads, keys, 4) */
static double slope(const asked *a, const char *path, const heed_real *v, int keys, int head,
                    int key, int class) {
    char name[64];
    snprintf(name, sizeof name, "%s.out.weight", path);
    heed_tensor *w = heed_params_find(a->run.store, name)->tensor;
    snprintf(name, sizeof name, "%s.out.bias", path);
    heed_tensor *b = heed_params_find(a->run.store, name)->tensor;
    heed_tape *t = a->run.tape;
    const heed_example_question *q = &a->e.questions[a->e.question_count - 1];
    double y[2], step = is_double ? 1e-5 : 1e-2;
    heed_real own[8];
    memcpy(own, b->x, sizeof own);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 8; i++) {
            double along = 0;
            for (int j = 0; j < 4; j++)
                along += (double)(w->x[i * 8 + head * 4 + j] * v[(head * keys + key) * 4 + j]);
            b->x[i] = (heed_real)((double)own[i] + (side ? -step : step) * along);
        }
        heed_tape_begin(t, HEED_EVAL, 0);
        heed_tensor *all = heed_run_logits(&a->run, &a->e, t);
        y[side] = all ? (double)all->x[q->row * all->shape[1] + class] : 0;
    }
    memcpy(b->x, own, sizeof own);
    return (y[0] - y[1]) / (2 * step);
}

static heed_tensor *values_of(const asked *a, const char *path, heed_real *copy) {
    heed_tape *t = a->run.tape;
    heed_probe(t, path, false);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_run_logits(&a->run, &a->e, t);
    heed_tensor *v = heed_probe_find(t, path);
    heed_probe_clear(t);
    if (v) memcpy(copy, v->x, v->size * sizeof *copy);
    return v;
}

/* The last question's row of the maps of a layer's two heads, by slopes; their sums. */
static void check_slopes(const asked *a, const heed_record *r, const heed_record_block *b,
                         const heed_real *v, int class, double *sums) {
    int keys = r->axes[b->keys].count, queries = r->axes[b->queries].count, positive = 0;
    int row = a->e.questions[a->e.question_count - 1].query;
    for (int k = 0; k < keys; k++) {
        sums[k] = 0;
        for (int h = 0; h < 2; h++) {
            const heed_record_map *m = map_of(r, "gradient", b->stack, 0, h);
            double weight = (double)b->weights[(h * queries + row) * keys + k];
            double want = fmax(0, weight * slope(a, b->path, v, keys, h, k, class));
            if (m) CHECK_CLOSE(m->values[row * keys + k], want, is_double ? 1e-8 : 2e-3);
            sums[k] += want;
            positive += want > 0;
        }
    }
    CHECK(positive > 0 && positive < 2 * keys);
}

TEST(matters_gradient_is_the_slope_times_the_weight) {
    asked a = ask(&heed_model_mlm, SMALL "layers=1");
    heed_record *r = look(&a);
    heed_real v[2 * 10 * 4];
    double sums[10];
    CHECK(values_of(&a, "encoder.0.attn.v", v) != NULL);
    CHECK(
        heed_gradient_add(&a.run, &a.e, &(heed_gradient_args){.question = -1, .by_head = true}, r));
    const heed_record_map *whole = map_at(r, "gradient", -1, -1);
    int n = (int)a.e.text.tokens.count, row = a.e.questions[0].query;
    check_slopes(&a, r, &r->blocks[0], v, best_class(&a, row), sums);
    for (int k = 0; whole && k < n; k++)
        CHECK_CLOSE(whole->values[row * n + k], sums[k], is_double ? 1e-8 : 4e-3);
    close_asked(&a, r);
}

/* ---- pairs ---- */

/* Two vocabularies, so that nothing of the target hangs on the source's embeddings. */
static heed_record *look_at_pair(asked *a, bool by_head) {
    CHECK(heed_run_text(&a->run, "red cat saw", 11, "blue dog", &a->e));
    heed_record *r = heed_capture(&a->run, &a->e, &(heed_capture_args){.lean = true});
    heed_gradient_args w = {.question = -1, .by_head = by_head};
    CHECK(r && heed_gradient_add(&a->run, &a->e, &w, r));
    return r;
}

TEST(matters_gradient_of_a_pair_is_the_slope_in_the_decoders_own_attention) {
    asked a = ask(&heed_model_seq2seq, SMALL "layers=1");
    heed_record *r = look_at_pair(&a, true);
    const heed_record_block *own = r ? &r->blocks[1] : NULL;
    heed_real v[2 * 10 * 4];
    double sums[10];
    CHECK(own && own->stack == HEED_DECODER && values_of(&a, "decoder.0.attn.v", v));
    if (own)
        check_slopes(&a, r, own, v, a.e.target.tokens.ids[(int)a.e.target.tokens.count - 1], sums);
    close_asked(&a, r);
}

/* row += row G of a layer, between two places of a sequence of source and target. */
static void pass_back(const heed_record *r, heed_stack stack, int layer, double *queries,
                      double *keys) {
    const heed_record_map *m = map_of(r, "gradient", stack, layer, -1);
    int n = m ? r->axes[m->queries].count : 0, width = m ? r->axes[m->keys].count : 0;
    double add[10] = {0}, most = 0;
    for (int q = 0; q < n; q++)
        for (int k = 0; k < width; k++) {
            add[k] += queries[q] * (double)m->values[q * width + k];
            most = fmax(most, (double)m->values[q * width + k]);
        }
    for (int k = 0; k < width; k++) keys[k] += add[k];
    CHECK(most > 0);
}

TEST(matters_gradient_of_a_pair_goes_through_all_layers_of_both_sides) {
    asked a = ask(&heed_model_seq2seq, SMALL);
    heed_record *r = look_at_pair(&a, false);
    double source[10] = {0}, target[10] = {0};
    int last = (int)a.e.target.tokens.count - 1;
    target[last] = 1;
    for (int l = 2; l-- > 0;) {
        pass_back(r, HEED_CROSS, l, target, source);
        pass_back(r, HEED_DECODER, l, target, target);
    }
    for (int l = 2; l-- > 0;) pass_back(r, HEED_ENCODER, l, source, source);
    const heed_record_map *m = map_of(r, "gradient", HEED_CROSS, -1, -1);
    const heed_record_map *read = map_of(r, "gradient, target", HEED_DECODER, -1, -1);
    for (int k = 0; m && k < (int)a.e.text.tokens.count; k++)
        CHECK_CLOSE(m->values[last * (int)a.e.text.tokens.count + k], source[k], 100 * tiny);
    for (int k = 0; read && k <= last; k++)
        CHECK_CLOSE(read->values[last * (last + 1) + k], target[k] - (k == last), 100 * tiny);
    close_asked(&a, r);
}

TEST(matters_rows_of_rollout_sum_to_one_in_every_model) {
    const heed_model *const models[] = {&heed_model_mlm, &heed_model_gpt};
    for (int i = 0; i < 2; i++) {
        asked a = ask(models[i], SMALL);
        heed_record *r = look(&a);
        CHECK(heed_rollout_add(&a.run, &a.e, &(heed_rollout_args){.discard = 0.4}, r));
        heed_stack stack = i ? HEED_DECODER : HEED_ENCODER;
        const heed_record_map *m = map_of(r, "rollout", stack, -1, -1);
        for (int q = 0; m && q < (int)a.e.text.tokens.count; q++) {
            double sum = 0;
            for (int k = 0; k < (int)a.e.text.tokens.count; k++)
                sum += (double)m->values[q * (int)a.e.text.tokens.count + k];
            CHECK_CLOSE(sum, 1, 1e-6);
            if (i == 1 && q + 1 < (int)a.e.text.tokens.count)
                CHECK(m->values[q * (int)a.e.text.tokens.count + q + 1] == 0);
        }
        close_asked(&a, r);
    }
}

TEST(matters_without_a_question_says_so) {
    asked a = ask(&heed_model_mlm, SMALL);
    CHECK(heed_run_text(&a.run, "red cat", 7, NULL, &a.e));
    heed_record *r = heed_capture(&a.run, &a.e, &(heed_capture_args){.lean = true});
    CHECK(!heed_occlusion_add(&a.run, &a.e, NULL, r));
    CHECK_HAS(heed_ctx_error(a.run.c), "write [MASK] for a word");
    heed_clear(a.run.c);
    CHECK(!heed_gradient_add(&a.run, &a.e, NULL, r));
    heed_clear(a.run.c);
    close_asked(&a, r);
}

/* A head that is off gives zeros to W_h, and is back with every bit of its own. */
TEST(matters_heads_go_off_and_come_back) {
    asked a = ask(&heed_model_mlm, SMALL);
    CHECK(heed_run_text(&a.run, text, sizeof text - 1, NULL, &a.e));
    int count;
    heed_record_block *list = heed_attention_layers(&a.run, &count);
    heed_tensor *w = heed_params_find(a.run.store, "encoder.1.attn.qkv.weight")->tensor;
    heed_tensor *b = heed_params_find(a.run.store, "encoder.1.attn.qkv.bias")->tensor;
    heed_real weight[24 * 8], bias[24], v[2 * 10 * 4];
    memcpy(weight, w->x, sizeof weight);
    memcpy(bias, b->x, sizeof bias);
    for (int head = 0; list && head < 2; head++) {
        heed_head_backup off;
        CHECK(heed_head_off(&a.run, &list[1], head, &off));
        CHECK(memcmp(weight, w->x, sizeof weight) != 0);
        values_of(&a, "encoder.1.attn.v", v);
        for (int i = 0; i < 2 * (int)a.e.text.tokens.count * 4; i++)
            CHECK((v[i] == 0) == (i / ((int)a.e.text.tokens.count * 4) == head));
        heed_head_on(&off);
        CHECK(memcmp(weight, w->x, sizeof weight) == 0 && memcmp(bias, b->x, sizeof bias) == 0);
    }
    free(list);
    close_asked(&a, NULL);
}

enum { WEIGHTS = 64 };

static size_t weights_now(const asked *a, heed_real out[WEIGHTS]) {
    heed_tape *t = a->run.tape;
    heed_probe(t, "decoder.attend.weights", false);
    heed_tape_begin(t, HEED_EVAL, 0);
    CHECK(heed_run_logits(&a->run, &a->e, t) != NULL);
    heed_tensor *w = heed_probe_find(t, "decoder.attend.weights");
    heed_probe_clear(t);
    CHECK(w && w->size <= WEIGHTS);
    if (!w || w->size > WEIGHTS) return 0;
    memcpy(out, w->x, w->size * sizeof *out);
    return w->size;
}

/* Whatever its similarity, and whether that has parameters or not. */
TEST(matters_a_recurrent_decoder_takes_the_mean_while_its_attention_is_off) {
    static const char *const kinds[] = {"attention=additive", "attention=dot bidirectional=false",
                                        "attention=scaled bidirectional=false",
                                        "attention=general"};
    for (int i = 0; i < 4; i++) {
        heed_real before[WEIGHTS], meanwhile[WEIGHTS], after[WEIGHTS];
        char settings[96];
        int count, apart = 0;
        heed_head_backup off;
        snprintf(settings, sizeof settings, "width=8 block=10 layers=1 %s", kinds[i]);
        asked a = ask(&heed_model_rnn, settings);
        CHECK(heed_run_text(&a.run, "red cat saw", 11, "blue dog", &a.e));
        heed_record_block *list = heed_attention_layers(&a.run, &count);
        size_t n = weights_now(&a, before);
        CHECK(heed_head_off(&a.run, list, 0, &off));
        CHECK(weights_now(&a, meanwhile) == n);
        heed_head_on(&off);
        CHECK(weights_now(&a, after) == n && n > 0);
        for (size_t k = 0; k < n; k++) {
            CHECK_CLOSE(meanwhile[k], 1.0 / (int)a.e.text.tokens.count, tiny);
            apart += fabs((double)before[k] - (double)meanwhile[k]) > 1e-3;
        }
        CHECK(apart > 0 && memcmp(before, after, n * sizeof *before) == 0);
        free(list);
        close_asked(&a, NULL);
    }
}

static double aligned(const heed_record_block *b, int query, int key) {
    double sum = 0;
    for (int i = 0; i < b->key; i++)
        sum += (double)b->align[i] *
               tanh((double)b->q[query * b->key + i] + (double)b->k[key * b->key + i]);
    return sum;
}

/* What the page needs to show an additive score term by term, also of a record that was written. */
TEST(matters_an_additive_record_has_what_its_scores_are_made_of) {
    asked a = ask(&heed_model_rnn, "width=8 block=10 layers=1 attention=additive");
    CHECK(heed_run_text(&a.run, "red cat saw", 11, "blue dog", &a.e));
    heed_record *r = heed_capture(&a.run, &a.e, &(heed_capture_args){.lean = false}), *back = NULL;
    char path[160];
    snprintf(path, sizeof path, "%s/additive.npz", test_folder());
    CHECK(r && heed_record_npz(a.run.c, r, path) && (back = heed_record_read(a.run.c, path)));
    const heed_record *both[] = {r, back};
    for (int i = 0; i < 2 && back; i++) {
        const heed_record_block *b = &both[i]->blocks[0];
        int keys = both[i]->axes[b->keys].count;
        CHECK(b->additive && b->align && b->q && b->k);
        for (int k = 0; b->align && k < 3 * keys; k++)
            CHECK_CLOSE(b->raw[k], aligned(b, k / keys, k % keys), 10 * tiny);
    }
    heed_record_cut lean = {.no_qk = true};
    heed_record *less = heed_record_subset(a.run.c, r, &lean);
    CHECK(less && !less->blocks[0].align);
    heed_record_free(less);
    heed_record_free(back);
    close_asked(&a, r);
}
