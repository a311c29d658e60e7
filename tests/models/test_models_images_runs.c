/* Trainings of the models of pictures: same bits, resume, the run. */
#include "built.h"
#include "data/sets.h"
#include "fit_job.h"
#include "images.h"

typedef struct {
    heed_ctx *c;
    heed_train_args args;
    heed_data open; /* args.opened */
    int64_t steps, stop_at;
    char run[256];
} picture_job;

static void on_report(void *user, const heed_report *r) {
    if (r->event == HEED_FIT_STEP) ((picture_job *)user)->steps = r->step;
}

static bool on_stop(void *user) {
    const picture_job *j = user;
    return j->stop_at && j->steps >= j->stop_at;
}

static picture_job open_pictures(const heed_model *model, const char *run, int threads,
                                 int workers) {
    picture_job j = {.c = heed_open(&(heed_options){.seed = 7, .threads = threads})};
    heed__images_args a = {.val_split = 0.2, .workers = workers};
    a.augment = (heed_augment){.flip = 0.5, .pad = 1, .brightness = 0.2};
    heed_images *data = heed__images_open(j.c, in_folder("data"), &a);
    const heed_images_info *info = heed_images_about(data);
    j.args = (heed_train_args){.model = model, .report = on_report, .stop = on_stop};
    j.args.config = heed_model_config(j.c, model, NULL);
    set_all(j.args.config, "image-size=6 channels=1 width=8 dropout=0.1 smoothing=0.1 batch=8 "
                           "steps=12 lr=0.01 seed=7 save-every=5 log-every=1 eval-every=4");
    j.open.batches = data;
    CHECK(info != NULL);
    if (info) {
        j.open.checksum = info->checksum;
        j.open.labels = info->labels;
        j.open.label_count = info->classes;
    }
    snprintf(j.run, sizeof j.run, "%s", in_folder(run));
    return j;
}

static heed_fit_result fit_pictures(picture_job *j) {
    j->args.run = j->run;
    j->args.user = j;
    j->args.opened = &j->open;
    return heed_train(j->c, &j->args);
}

static void train_pictures(const heed_model *model, const char *run, int threads, int workers) {
    picture_job j = open_pictures(model, run, threads, workers);
    fit_pictures(&j);
    CLOSE(j.c);
}

static const heed_model *const picture_models[] = {&heed_model_vit, &heed_model_cnn,
                                                   &heed_model_mlp};

static void put_data(void) {
    command("rm -rf %s/*", test_folder());
    put_class("data/even", 20, 0);
    put_class("data/odd", 20, 100);
}

TEST(pictures_train_to_the_same_bits_with_any_threads_and_workers) {
    for (int i = 0; i < 3; i++) {
        put_data();
        train_pictures(picture_models[i], "one", 1, 0);
        train_pictures(picture_models[i], "two", 2, 1);
        train_pictures(picture_models[i], "three", 3, 4);
        CHECK(same_run("one", "two"));
        CHECK(same_run("one", "three"));
    }
}

TEST(pictures_resume_is_exact) {
    for (int i = 0; i < 3; i++) {
        put_data();
        train_pictures(picture_models[i], "whole", 1, 1);
        picture_job j = open_pictures(picture_models[i], "parts", 1, 0);
        j.stop_at = 7;
        CHECK(fit_pictures(&j).step == 7);
        CHECK(heed_ctx_status(j.c) == HEED_INTERRUPTED);
        heed_close(j.c);
        j = open_pictures(picture_models[i], "parts", 2, 1);
        j.args.resume = true;
        CHECK(fit_pictures(&j).step == 12);
        CLOSE(j.c);
        CHECK(same_run("whole", "parts"));
    }
}

TEST(pictures_run_holds_its_classes) {
    put_data();
    train_pictures(&heed_model_cnn, "run", 1, 0);
    heed_ctx *c = heed_open(&(heed_options){.seed = 7, .threads = 1});
    heed_run *r = heed_run_open(c, in_folder("run"), heed_models, NULL);
    CHECK(r && r->model == &heed_model_cnn && r->label_count == 2);
    if (r && r->label_count == 2) {
        CHECK_TEXT(r->labels[0], "even");
        CHECK_TEXT(r->labels[1], "odd");
        CHECK(heed_config_int(r->config, "classes") == 2);
        CHECK_TEXT(heed_config_text(r->config, "best"), "accuracy");
        heed_tape_begin(r->tape, HEED_EVAL, 0);
        heed_model_input in = {.x = heed_input(r->tape, NULL, 4, (int[]){3, 6, 6, 1})};
        heed_tensor *y = r->model->logits(r->self, r->tape, &in);
        CHECK(y && y->shape[0] == 3 && y->shape[1] == 2);
    }
    CLOSE(c);
}
