/* heed_train_step: a training a step at a time, looked at, paused, ended early, and of an open
 * model. */
#include "fit/fit.h"
#include "fit_job.h"

/* A training that writes `run` in steps; after each one `look` may use it. Ends after `most`. */
static void step_run(const char *run, const char *settings, int most,
                     void (*look)(heed_training *t)) {
    job j;
    job_open(&j, run, settings, (heed_options){.threads = 1});
    j.args.user = &j;
    j.args.opened = &j.open;
    heed_training *t = heed_train_new(j.c, &j.args);
    CHECK(t != NULL);
    for (int i = 0; i < most && heed_train_step(t); i++) {
        heed_report now = heed_train_report(t);
        CHECK(now.step == i + 1 && now.loss == j.last[HEED_FIT_STEP].loss);
        if (look) look(t);
    }
    heed_train_free(t);
    CLOSE(j.c);
}

/* Uses the tape of the training, as a caller that samples from the model does. */
static void look_at_model(heed_training *t) {
    static points data = {.seed = 9, .evals = 2, .poison = -1};
    heed_run *net = heed_train_net(t);
    const heed_data d = {.batches = &data};
    heed_score s = evaluate_all(net->tape, net->model, net->self, &d, 8);
    CHECK(s.total == 16 && isfinite(s.loss));
}

TEST(train_steps_give_the_bits_of_a_whole_training) {
    static const char settings[] = "steps=40 accumulate=2 dropout=0.2 save-every=7 eval-every=10";
    train_run("whole", settings);
    step_run("steps", settings, 1000, look_at_model);
    CHECK(same_run("whole", "steps"));
}

TEST(train_ended_early_leaves_its_last_checkpoint) {
    static const char settings[] = "steps=40 dropout=0.2 save-every=7 eval-every=10";
    train_run("whole", settings);
    step_run("early", settings, 24, NULL);
    job j;
    job_open_resume(&j, "early", "", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.last[HEED_FIT_START].step == 21);
    CLOSE(j.c);
    CHECK(same_run("whole", "early"));
}

static void save_once(heed_training *t) {
    if (heed_train_report(t).step == 13) CHECK(heed_train_save(t) && heed_train_save(t));
}

TEST(train_saves_when_it_is_told_to) {
    step_run("run", "steps=40", 15, save_once);
    job j;
    job_open_resume(&j, "run", "", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.last[HEED_FIT_START].step == 13 && j.result.step == 40);
    CLOSE(j.c);
    train_run("whole", "steps=40");
    CHECK(same_run("whole", "run"));
}

/* The clock stands still between two steps: what it shows does not change meanwhile. */
TEST(train_does_not_count_time_between_steps) {
    job j;
    job_open(&j, NULL, "steps=3", (heed_options){.threads = 1});
    j.args.user = &j;
    j.args.opened = &j.open;
    heed_training *t = heed_train_new(j.c, &j.args);
    CHECK(heed_train_step(t));
    double then = heed_train_report(t).seconds;
    command("sleep 0.01");
    CHECK(heed_train_report(t).seconds == then);
    while (heed_train_step(t)) {}
    CHECK(!heed_train_step(t) && heed_train_result(t).step == 3);
    heed_train_free(t);
    CLOSE(j.c);
}

/* A context that closes frees a training that was not ended, and gives its run back. */
TEST(train_ends_with_its_context) {
    job j;
    job_open(&j, "run", "steps=9", (heed_options){.threads = 1});
    j.args.user = &j;
    j.args.opened = &j.open;
    heed_training *t = heed_train_new(j.c, &j.args);
    CHECK(heed_train_step(t));
    heed_close(j.c);
    resume_run("run");
}

/* An open model is trained in place: to the bits of a training that makes the same model. */
TEST(train_of_an_open_model) {
    static const char settings[] = "steps=20 dropout=0.2 hidden=8";
    train_run("run", settings);
    job j;
    job_open(&j, NULL, "", (heed_options){.threads = 1});
    heed_config *f = heed_train_config(j.c, &tiny_model);
    CHECK(heed_config_set_list(f, settings, "test", HEED_FROM_FLAG));
    heed_run *net = heed__run_new(j.c, &tiny_model, f, NULL, NULL, 0);
    CHECK(net != NULL);
    heed_training *t = heed_train_new(j.c, &(heed_train_args){.net = net, .opened = &j.open});
    while (heed_train_step(t)) CHECK(heed_train_net(t)->store == net->store);
    CHECK(heed_train_result(t).step == 20);
    heed_train_free(t);
    char path[256];
    heed_run *last = heed_run_open(j.c, path_of(path, "run", ""), tiny_models, "last");
    CHECK(last && heed_params_count(last->store) == heed_params_count(net->store));
    for (int i = 0; last && i < heed_params_count(last->store); i++) {
        const heed_tensor *a = heed_params_at(last->store, i)->tensor,
                          *b = heed_params_at(net->store, i)->tensor;
        CHECK(memcmp(a->x, b->x, a->size * sizeof *a->x) == 0);
    }
    heed_run_close(last);
    heed_run_close(net);
    CLOSE(j.c);
}
