/* Analyses of models with rotary positions and heads that share keys and values. */
#include "asked.h"

#define LLAMA                                                                                      \
    "layers=2 heads=4 kv-heads=2 width=8 block=10 init-std=0.3 norm-kind=rms positions=rotary "    \
    "rope-theta=20 ff-kind=swiglu bias=false "

/* The subject points to the run, which must not move any more. */
static void ask_llama(asked *a, const char *settings) {
    *a = ask(&heed_model_gpt, settings);
    CHECK(heed_run_text(&a->run, "the red cat saw one", 19, NULL, &a->e));
}

/* The parameters of `from` in a model whose heads share nothing: rows of keys and values repeat. */
static void repeat_parameters(const asked *from, const asked *to) {
    heed_mha_args args = {.heads = 4, .kv_heads = 2, .key = 2, .value = 2};
    for (int i = 0; i < heed_params_count(from->run.store); i++) {
        const heed_tensor *x = heed_params_at(from->run.store, i)->tensor;
        heed_tensor *y = heed_params_at(to->run.store, i)->tensor;
        CHECK(strcmp(x->name, y->name) == 0);
        if (x->size == y->size) memcpy(y->x, x->x, x->size * sizeof *x->x);
        for (int row = 0; x->size != y->size && row < y->shape[0]; row++) {
            heed_rows rows = heed_mha_rows(&args, (heed_projected)(row / 8), row % 8 / 2);
            memcpy(y->x + row * 8, x->x + (rows.from + row % 2) * 8, 8 * sizeof *x->x);
        }
    }
}

enum { LOGITS = 10 };

/* Some of the logits. */
static void logits_now(const asked *a, heed_real out[LOGITS]) {
    heed_tape_begin(a->run.tape, HEED_EVAL, 0);
    const heed_tensor *y = heed_run_logits(&a->run, &a->e, a->run.tape);
    CHECK(y && y->size >= LOGITS);
    if (y && y->size >= LOGITS) memcpy(out, y->x, LOGITS * sizeof *out);
}

/* A head that shares its values goes off alone, as in a model where it has its own. */
TEST(blocks_a_head_that_shares_goes_off_alone) {
    asked a, b;
    heed_real x[LOGITS], y[LOGITS], whole[LOGITS];
    ask_llama(&a, LLAMA);
    ask_llama(&b, LLAMA "kv-heads=4");
    repeat_parameters(&a, &b);
    logits_now(&a, whole);
    heed_record_block *list = heed_attention_layers(&a.run, NULL);
    for (int i = 0; list && i < 8; i++) {
        heed_head_backup in_a, in_b;
        CHECK(heed_head_off(&a.run, &list[i / 4], i % 4, &in_a));
        CHECK(heed_head_off(&b.run, &list[i / 4], i % 4, &in_b));
        logits_now(&a, x);
        logits_now(&b, y);
        CHECK_CLOSE(apart(x, y, LOGITS), 0, 20 * tiny);
        CHECK(apart(x, whole, LOGITS) > 1e-3);
        heed_head_on(&in_a);
        heed_head_on(&in_b);
    }
    logits_now(&a, x);
    CHECK(memcmp(x, whole, sizeof x) == 0);
    free(list);
    close_asked(&a, NULL);
    close_asked(&b, NULL);
}

TEST(blocks_a_head_without_values_or_output_of_its_own_stays_on) {
    asked a;
    ask_llama(&a, LLAMA "attn-out=false");
    heed_head_backup off;
    heed_record_block *list = heed_attention_layers(&a.run, NULL);
    CHECK(!heed_head_off(&a.run, &list[0], 1, &off));
    CHECK_HAS(heed_ctx_error(a.run.c), "4 heads that share 2");
    heed_clear(a.run.c);
    heed_head_on(&off);
    free(list);
    close_asked(&a, NULL);
}

/* q and k are kept as they are compared, also in a file, and for a head alone. */
TEST(blocks_a_record_has_rotated_queries_and_shared_keys) {
    asked a;
    ask_llama(&a, LLAMA);
    heed_record *r = heed_capture(&a.run, &a.e, &(heed_capture_args){.lean = false}), *back = NULL;
    heed_record *one = heed_capture(
        &a.run, &a.e, &(heed_capture_args){.lean = false, .head_count = 1, .heads = (int[]){3}});
    char path[160];
    snprintf(path, sizeof path, "%s/llama.npz", test_folder());
    CHECK(r && one && heed_record_npz(a.run.c, r, path));
    back = heed_record_read(a.run.c, path);
    const heed_record *all[] = {r, back, one};
    for (int i = 0; i < 3 && back && one; i++) {
        const heed_record_block *b = &all[i]->blocks[1];
        int n = (int)a.e.text.tokens.count, plane = n * n, keys = n * b->key;
        CHECK(b->rotary == 20 && b->kv_heads == 2 && b->heads == (i < 2 ? 4 : 1) && b->v);
        for (int at = 0; at < b->heads * plane; at++) {
            const heed_real *q = b->q + at / n * b->key, *k = b->k + at / plane * keys;
            double sum = 0;
            for (int u = 0; u < b->key; u++) sum += (double)q[u] * (double)k[at % n * b->key + u];
            CHECK_CLOSE(b->raw[at], sum, 10 * tiny);
            if (isfinite((double)b->scores[at]))
                CHECK_CLOSE(b->scores[at], b->beta * sum, 10 * tiny);
        }
        if (i == 2)
            CHECK(memcmp(b->k, r->blocks[1].k + 3 * keys, (size_t)keys * sizeof *b->k) == 0);
        for (int h = 0; i < 2 && h < 4; h += 2)
            CHECK(memcmp(b->k + h * keys, b->k + (h + 1) * keys, (size_t)keys * sizeof *b->k) == 0);
    }
    heed_record_free(one);
    heed_record_free(back);
    close_asked(&a, r);
}

static double half_square(const heed_attention_trace *l) {
    const heed_matrix *y = &l->part[HEED_TRACE_OUTPUT];
    double sum = 0;
    for (int i = 0; i < y->rows * y->cols; i++) sum += y->x[i] * y->x[i] / 2;
    return sum;
}

/* The steps in double agree with the model, and their gradients with differences. */
TEST(blocks_a_lesson_rotates_queries_and_keys) {
    asked a;
    ask_llama(&a, LLAMA);
    heed_record_block *list = heed_attention_layers(&a.run, NULL);
    for (int head = 0; list && head < 4; head++) {
        heed_attention_trace l;
        heed_attention_trace_gradient g;
        double off = 1;
        CHECK(heed_attention_trace_of_head(&a.run, &a.e, &list[0], head, &l, &off) &&
              off < 10 * tiny);
        CHECK(l.part[HEED_TRACE_Q_R].x && l.args.rotary == 20);
        CHECK(heed_attention_trace_backward(a.run.c, &l, l.part[HEED_TRACE_OUTPUT].x, NULL, &g));
        const heed_matrix *const d[] = {&g.part[HEED_TRACE_W_Q], &g.part[HEED_TRACE_W_K]};
        for (int i = 0; i < 2 * 16; i++) {
            double *w = &l.part[i / 16 ? HEED_TRACE_W_K : HEED_TRACE_W_Q].x[i % 16], was = *w, up;
            *w = was + 1e-5;
            heed_attention_trace_compute(&l);
            up = half_square(&l);
            *w = was - 1e-5;
            heed_attention_trace_compute(&l);
            CHECK_CLOSE((up - half_square(&l)) / 2e-5, d[i / 16]->x[i % 16], 1e-8);
            *w = was;
        }
        heed_attention_trace_gradient_free(&g);
        heed_attention_trace_free(&l);
    }
    free(list);
    close_asked(&a, NULL);
}

TEST(rows_of_no_head_are_none) {
    heed_mha_args args = {.heads = 4, .kv_heads = 2, .key = 3, .value = 5};
    CHECK(heed_mha_rows(&args, HEED_VALUES, 3).from == 4 * 3 + 2 * 3 + 5);
    CHECK(heed_mha_rows(&args, HEED_VALUES, 4).count == 0);
    CHECK(heed_mha_rows(NULL, HEED_KEYS, 0).count == 0);
    args.heads = 0;
    CHECK(heed_mha_rows(&args, HEED_KEYS, 0).count == 0);
}
