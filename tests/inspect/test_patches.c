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
    r->store = heed_store_new(r->c);
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

/* With every patch hidden, all measures hide the same. */
TEST(patches_hidden_altogether_are_missed_alike) {
    bench b;
    heed_patch_ablation out;
    open_bench(&b, &heed_model_vit, vit);
    b.args.share = 1;
    CHECK(heed_ablate_patches(&b.run, &b.args, &out));
    CHECK(out.pictures == 4 && out.patches == SIDE / 2 * (SIDE / 2) && out.hidden == out.patches);
    CHECK(out.p >= 0.5 && out.p <= 1 && out.correct >= 0 && out.correct <= 1);
    CHECK(out.by[0].fall.count == 4 && out.by[0].fall.mean != 0);
    for (int i = 0; i < HEED_PATCH_MEASURES; i++) {
        CHECK_CLOSE(out.by[i].fall.mean, out.by[0].fall.mean, 1e-12);
        CHECK_CLOSE(out.by[i].kept, out.by[0].kept, 1e-12);
        if (i != HEED_PATCHES_RANDOM) CHECK_CLOSE(out.by[i].more.mean, 0, 1e-12);
    }
    close_bench(&b);
}

/* What occlusion puts first lowers the answer's probability most, of single patches: it has tried
 * each of them. */
TEST(patches_that_occlusion_puts_first_are_missed_most) {
    bench b;
    heed_patch_ablation out;
    open_bench(&b, &heed_model_vit, vit);
    CHECK(heed_ablate_patches(&b.run, &b.args, &out) && out.hidden == 1);
    for (int i = 0; i < HEED_PATCH_MEASURES; i++)
        CHECK(out.by[HEED_PATCHES_OCCLUSION].fall.mean >= out.by[i].fall.mean - 1e-6);
    CHECK(out.by[HEED_PATCHES_OCCLUSION].fall.mean > out.by[HEED_PATCHES_RANDOM].fall.mean);
    CHECK_TEXT(heed_patch_measure_name(HEED_PATCHES_OCCLUSION), "occlusion");
    close_bench(&b);
}

TEST(patches_are_refused_where_there_are_none) {
    bench b;
    heed_patch_ablation out;
    int calls = 0;
    open_bench(&b, &heed_model_vit, vit);
    b.args.share = 2;
    CHECK_FAILS(b.run.c, heed_ablate_patches(&b.run, &b.args, &out), HEED_USAGE, "`share` 2");
    b.args.share = 0.5;
    b.args.part = HEED_TEST_PART;
    CHECK_FAILS(b.run.c, heed_ablate_patches(&b.run, &b.args, &out), HEED_DATA, "no pictures");
    b.args.part = HEED_TRAIN_PART;
    b.args.progress = count_calls;
    b.args.user = &calls;
    CHECK_FAILS(b.run.c, heed_ablate_patches(&b.run, &b.args, &out), HEED_INTERRUPTED, "");
    CHECK(calls == 3);
    CHECK(!heed_ablate_patches(NULL, &b.args, &out) && !heed_ablate_patches(&b.run, NULL, &out));
    b.run.model = &heed_model_mlp;
    CHECK_FAILS(b.run.c, heed_ablate_patches(&b.run, &b.args, &out), HEED_USAGE, "no grid");
    close_bench(&b);
}
