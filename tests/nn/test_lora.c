/* LoRA: adapters of weights and of parts of stacked projections, what they compute and train, and
 * merging them; entries that are frozen for a number of steps. */
#include "built.h"
#include "core/params.h"
#include "core/tape.h"

#include <math.h>
#include <stdlib.h>

#define SMALL "width=8 layers=2 heads=2 ff=12 block=6 vocab=11 classes=3 init-std=0.3"

/* Values for the entries of adapters, whose B begins as zeros. */
static void fill_adapters(heed_params *s) {
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        heed_random r = heed_random_at(7, e->name, 0, 0);
        for (size_t k = 0; e->adapter && k < e->tensor->size; k++)
            e->tensor->x[k] = (heed_real)(0.5 * heed_random_normal(&r, k));
    }
}

/* The logits of a fixed text, kept by the caller. */
static heed_real *read_text(const built *b, size_t *n) {
    static const int32_t ids[] = {3, 5, 7, 2, 6, 1, 4, 0, 9, 10, 2, 2};
    heed_tape_begin(b->t, HEED_EVAL, 0);
    heed_tensor *y = logits_of(b, (heed_model_input){.x = heed_ids(b->t, ids, 2, 6)});
    CHECK(y != NULL);
    *n = y ? y->size : 0;
    heed_real *x = calloc(*n + 1, sizeof *x);
    if (y) memcpy(x, y->x, *n * sizeof *x);
    return x;
}

static int count_adapters(const heed_params *s) {
    int n = 0;
    for (int i = 0; i < heed_params_count(s); i++) n += heed_params_at(s, i)->adapter;
    return n;
}

TEST(lora_begins_as_nothing_and_is_merged_to_the_bit) {
    built b = build(&heed_model_textcls, NULL, SMALL);
    size_t n, params = heed_params_numel(b.s);
    heed_real *plain = read_text(&b, &n);
    CHECK(heed_lora_add(b.s, "*.q", 2, 4) == 2 && heed_lora_add(b.s, "*.v", 2, 4) == 2);
    CHECK(count_adapters(b.s) == 8 && heed_params_numel(b.s) == params + 8 * 2 * 8);
    heed_real *begun = read_text(&b, &n);
    CHECK(memcmp(plain, begun, n * sizeof *plain) == 0);
    fill_adapters(b.s);
    heed_real *adapted = read_text(&b, &n);
    double apart = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        apart = fmax(apart, fabs((double)(adapted[i] - plain[i])));
        most = fmax(most, fabs((double)adapted[i]));
    }
    CHECK(apart > 1e-3 * most);
    CHECK(heed_lora_merge(b.s));
    CHECK(count_adapters(b.s) == 0 && heed_params_numel(b.s) == params);
    heed_real *merged = read_text(&b, &n);
    CHECK(memcmp(adapted, merged, n * sizeof *plain) == 0);
    CHECK(heed_lora_merge(b.s)); /* nothing is left to merge */
    free(plain);
    free(begun);
    free(adapted);
    free(merged);
    DISCARD(b);
}

/* W + alpha / r B A written out, against what the layer reads. */
TEST(lora_changes_the_rows_of_its_part_only) {
    built b = build(&heed_model_textcls, NULL, SMALL);
    CHECK(heed_lora_add(b.s, "encoder.1.attn.qkv.weight.v", 2, 3) == 1);
    fill_adapters(b.s);
    const heed_tensor *w = param(&b, "encoder.1.attn.qkv.weight");
    const heed_tensor *a = param(&b, "encoder.1.attn.qkv.weight.lora_v.a");
    const heed_tensor *v = param(&b, "encoder.1.attn.qkv.weight.lora_v.b");
    heed_real was[24 * 8];
    memcpy(was, w->x, sizeof was);
    CHECK(a->shape[0] == 2 && a->shape[1] == 8 && v->shape[0] == 8 && v->shape[1] == 2);
    heed_real sum[24 * 8];
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < 8; j++) {
            double change = 0;
            for (int r = 0; i >= 16 && r < 2; r++)
                change += 1.5 * (double)v->x[(i - 16) * 2 + r] * (double)a->x[r * 8 + j];
            sum[i * 8 + j] = (heed_real)((double)was[i * 8 + j] + change);
        }
    CHECK(heed_lora_merge(b.s));
    CHECK(memcmp(w->x, was, 16 * 8 * sizeof *was) == 0);
    for (int i = 0; i < 24 * 8; i++) CHECK(fabs((double)(w->x[i] - sum[i])) < 1e-6);
    DISCARD(b);
}

TEST(lora_of_a_tied_weight_is_one_node) {
    built b = build(&heed_model_gpt, NULL, "width=8 layers=1 heads=2 block=6 vocab=11");
    CHECK(heed_lora_add(b.s, "embed.token.weight", 2, 2) == 1);
    fill_adapters(b.s);
    static const int32_t ids[] = {3, 5, 7, 2, 6, 1};
    heed_tape_begin(b.t, HEED_TRAIN, 1);
    heed_tensor *y = logits_of(&b, (heed_model_input){.x = heed_ids(b.t, ids, 1, 6)});
    CHECK(heed_backward(b.t, heed_sum(b.t, y)));
    int nodes = 0;
    for (int i = 0; i < heed__tape_used(b.t).nodes; i++)
        nodes += strcmp(heed__recorded_at(b.t, i).op, "lora") == 0;
    CHECK(nodes == 1);
    DISCARD(b);
}

TEST(lora_adapts_convolutions_and_cells_by_name) {
    built b = build(&heed_model_textcls, NULL, SMALL " encoder=rnn");
    CHECK(heed_lora_add(b.s, "encoder.weight_ih_l0", 2, 4) == 1);
    CHECK(heed_lora_add(b.s, "*.weight_hh_*", 2, 4) > 1);
    DISCARD(b);
    b = build(&heed_model_vit, NULL, "image-size=8 channels=1 classes=3 width=8 layers=1 heads=2");
    CHECK(heed_lora_add(b.s, "embed.patch.weight", 2, 4) == 1);
    fill_adapters(b.s);
    CHECK(heed_lora_merge(b.s));
    DISCARD(b);
}

TEST(lora_refuses_what_is_no_matrix_and_ranks_out_of_range) {
    built b = build(&heed_model_textcls, NULL, SMALL);
    CHECK(heed_lora_add(b.s, "nothing", 2, 4) == 0 && heed_lora_add(b.s, NULL, 2, 4) == 0);
    CHECK(heed_lora_add(b.s, "encoder.0.mlp.*", 2, 4) == -1);
    CHECK_HAS(heed_ctx_error(b.c), "LoRA adapts matrices: encoder.0.mlp.up.bias");
    heed_clear(b.c);
    CHECK(heed_lora_add(b.s, "head.weight", 4, 4) == -1);
    CHECK_HAS(heed_ctx_error(b.c), "head.weight: expected 1 to 3 for 3 rows of shape (3,8)");
    heed_clear(b.c);
    CHECK(heed_lora_add(b.s, "*.q", 2, (heed_real)NAN) == -1);
    CHECK_HAS(heed_ctx_error(b.c), "alpha of LoRA is wrong: *.q: expected a finite number");
    heed_clear(b.c);
    CHECK(heed_lora_add(b.s, "*.q", 0, 4) == -1);
    heed_clear(b.c);
    CHECK(heed_lora_add(NULL, "*", 1, 1) == 0 && !heed_lora_merge(NULL));
    DISCARD(b);
}

TEST(lora_adds_a_target_once) {
    built b = build(&heed_model_textcls, NULL, SMALL);
    CHECK(heed_lora_add(b.s, "*.q", 2, 4) == 2 && heed_lora_add(b.s, "*.weight.q", 2, 4) == 2);
    CHECK(count_adapters(b.s) == 4);
    DISCARD(b);
}

/* ---- frozen for a while ---- */

/* One update of w = 1 with the gradient 1 by AdamW is lr: 0.001. */
TEST_IN(thawed_parameters_begin_their_own_count_of_updates, heed_open(NULL)) {
    heed_params *s = heed_params_new(c);
    heed_tensor *w = heed_param_new(s, "w", "one", 1, (int[]){1});
    heed_tensor *b = heed_param_new(s, "b", "one", 1, (int[]){1});
    CHECK(heed__freeze_for(s, "w", 50) == 1 && !heed_params_find(s, "w")->trained);
    heed_optim *o = heed_optim_new(s, &heed_adamw, NULL);
    heed_tape *t = heed_tape_new(c);
    for (int i = 0; i < 51; i++) {
        CHECK(heed__thaw(s, i) == (i == 50));
        CHECK(w->x[0] == 1);
        heed_tape_begin(t, HEED_TRAIN, (uint64_t)i);
        CHECK(heed_backward(t, heed_sum(t, heed_add(t, w, b))) && heed_optim_step(o, 1));
    }
    CHECK(b->x[0] < (heed_real)0.96);
    CHECK(fabs((double)w->x[0] - (1 - 1e-3)) < 1e-6);
    CHECK(heed_freeze(s, "w") == 1 && heed__thaw(s, 1000) == 0); /* for good */
    CHECK(heed__freeze_for(NULL, "w", 1) == 0 && heed__thaw(NULL, 1) == 0);
}
