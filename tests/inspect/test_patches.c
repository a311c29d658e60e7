/* test_patches.c -- patches that are hidden by what a measure says of them. */
#include "images.h"
#include <heed/inspect.h>
#include <heed/models.h>

typedef struct {
    heed_run run;
    heed_data *data;
    heed_patch_ablation_args args;
} bench;

static bool count_calls(void *user, uint64_t done, uint64_t all) {
    int *calls = user;
    ++*calls;
    return done <= all && *calls < 3;
}

static void open_bench(bench *b, const heed_model *m, const char *settings) {
    *b = (bench){.run = {.model = m, .step = -1}};
    heed_run *r = &b->run;
    make_folder("pictures");
    put_class("pictures/cat", 3, 0);
    put_class("pictures/dog", 3, 60);
    r->c = heed_open(&(heed_options){.seed = 4, .threads = 1});
    r->config = heed_train_config(r->c, m);
    heed_config_set(r->config, "data", in_folder("pictures"), "test", HEED_FROM_FLAG);
    heed_config_set_list(r->config, "val-split=0 workers=0", "test", HEED_FROM_FLAG);
    heed_config_set_list(r->config, settings, "test", HEED_FROM_FLAG);
    b->data = heed_data_open(r->c, r->config, heed_model_data(m), NULL);
    r->store = heed_params_new(r->c);
    r->tape = heed_tape_new(r->c);
    r->self = calloc(1, m->size);
    CHECK(b->data && heed_model_init(m, r->self, r->store, r->config));
    b->args = (heed_patch_ablation_args){
        .images = b->data ? b->data->batches : NULL, .part = HEED_TRAIN_PART, .pictures = 4};
}

static void close_bench(bench *b) {
    heed_data_close(b->data);
    free(b->run.self);
    CLOSE(b->run.c);
}

static const char vit[] = "layers=1 heads=2 width=8 ff=8 patch=2 init-std=0.5";

static double number(const heed_record *r, const char *table, const char *key, int row) {
    const heed_record_column *k = heed_record_find(r, table, key);
    return k ? k->values[row] : (double)NAN;
}

enum { OCCLUSION = 3, RANDOM, MEASURES };

/* With every patch hidden, all measures hide the same. */
TEST(patches_hidden_altogether_are_missed_alike) {
    bench b;
    open_bench(&b, &heed_model_vit, vit);
    b.args.share = 1;
    heed_record *r = heed_ablate_patches(&b.run, &b.args);
    double p = number(r, NULL, "p", 0), share = number(r, NULL, "right", 0);
    CHECK(number(r, NULL, "pictures", 0) == 4 &&
          number(r, NULL, "patches", 0) == SIDE / 2 * (SIDE / 2) &&
          number(r, NULL, "hidden", 0) == number(r, NULL, "patches", 0));
    CHECK(p >= 0.5 && p <= 1 && share >= 0 && share <= 1);
    CHECK(number(r, "by", "fall", 0) != 0);
    for (int i = 0; i < MEASURES; i++) {
        CHECK_CLOSE(number(r, "by", "fall", i), number(r, "by", "fall", 0), 1e-12);
        CHECK_CLOSE(number(r, "by", "kept", i), number(r, "by", "kept", 0), 1e-12);
        if (i != RANDOM) CHECK_CLOSE(number(r, "by", "more", i), 0, 1e-12);
    }
    heed_record_free(r);
    close_bench(&b);
}

/* What occlusion puts first lowers the answer's probability most, of single patches: it has tried
 * each of them. */
TEST(patches_that_occlusion_puts_first_are_missed_most) {
    bench b;
    open_bench(&b, &heed_model_vit, vit);
    heed_record *r = heed_ablate_patches(&b.run, &b.args);
    double most = number(r, "by", "fall", OCCLUSION);
    CHECK(number(r, NULL, "hidden", 0) == 1);
    for (int i = 0; i < MEASURES; i++) CHECK(most >= number(r, "by", "fall", i) - 1e-6);
    CHECK(most > number(r, "by", "fall", RANDOM));
    CHECK_TEXT(heed_record_find(r, "by", "measure")->texts[OCCLUSION], "occlusion");
    heed_record_free(r);
    close_bench(&b);
}

TEST(patches_are_refused_where_there_are_none) {
    bench b;
    int calls = 0;
    open_bench(&b, &heed_model_vit, vit);
    b.args.share = 2;
    CHECK_FAILS(b.run.c, heed_ablate_patches(&b.run, &b.args) != NULL, HEED_USAGE, "`share` 2");
    b.args.share = 0.5;
    b.args.part = HEED_TEST_PART;
    CHECK_FAILS(b.run.c, heed_ablate_patches(&b.run, &b.args) != NULL, HEED_DATA, "no pictures");
    b.args.part = HEED_TRAIN_PART;
    b.args.progress = count_calls;
    b.args.user = &calls;
    CHECK_FAILS(b.run.c, heed_ablate_patches(&b.run, &b.args) != NULL, HEED_INTERRUPTED, "");
    CHECK(calls == 3);
    CHECK(!heed_ablate_patches(NULL, &b.args) && !heed_ablate_patches(&b.run, NULL));
    b.run.model = &heed_model_mlp;
    CHECK_FAILS(b.run.c, heed_ablate_patches(&b.run, &b.args) != NULL, HEED_USAGE, "no grid");
    close_bench(&b);
}
