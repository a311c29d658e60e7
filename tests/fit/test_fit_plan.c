/* test_fit_plan.c -- training runs by the clock: plans, the learning rate by them, the clock that
 * makes them on durations given by the test, and whole training runs by a clock that the test
 * moves. */
#define _GNU_SOURCE /* syscall */
#include "fit_job.h"
#include "io/io.h"

#include "fit/fit.h"

#include <time.h>
#include <unistd.h>

/* ---- plans ---- */

static heed__plans plans_of(heed_ctx *c, const char *text, int64_t steps) {
    heed__plans p;
    CHECK(heed__plans_read(c, text, steps, &p));
    return p;
}

TEST_IN(fit_plans_lead_to_the_end, heed_open(&(heed_options){.threads = 1})) {
    static const struct {
        const char *text;
        int64_t steps;
    } all[] = {{"0:1", 1}, {"0:10", 10}, {"0:100 7:50 8:900", 908}, {"0:3 1:1", 2}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        heed__plans p = plans_of(c, all[i].text, all[i].steps);
        int due = 0;
        CHECK(heed__plans_progress(&p, 0) == 0);
        for (int64_t step = 1; step <= all[i].steps; step++) {
            CHECK(heed__plans_progress(&p, step) > heed__plans_progress(&p, step - 1));
            due += heed__plans_due(&p, step, 10);
        }
        CHECK(heed__plans_progress(&p, all[i].steps) == 1);
        CHECK(heed__plans_due(&p, all[i].steps, 10));
        CHECK(due == (all[i].steps < 10 ? all[i].steps : 10));
    }
    heed__plans p = plans_of(c, "0:100 50:100", 150);
    CHECK_CLOSE(heed__plans_progress(&p, 50), 0.5, 1e-12);
    CHECK_CLOSE(heed__plans_progress(&p, 100), 0.75, 1e-12);
    p = plans_of(c, "0:100 100+300", 400); /* a longer training: a quarter of it is done */
    CHECK(heed__plans_progress(&p, 100) == 1 && heed__plans_due(&p, 100, 10));
    CHECK_CLOSE(heed__plans_progress(&p, 101), 0.25 + 0.75 / 300, 1e-12);
    CHECK(heed__plans_progress(&p, 400) == 1);
}

TEST_IN(fit_plans_are_written_and_read, heed_open(&(heed_options){.threads = 1})) {
    heed__plans p = {.count = 0};
    heed_text text = {.c = c};
    CHECK(heed__plans_add(&p, 0, 120, false) && heed__plans_add(&p, 14, 200, false));
    CHECK(heed__plans_add(&p, 60, 5, true) && heed__plans_add(&p, 60, 210, false));
    CHECK(heed__plans_write(&p, &text));
    CHECK_TEXT(text.s, "0:120 14:200 60+210"); /* the second plan of a step holds */
    heed__plans again = plans_of(c, text.s, 270);
    CHECK(again.count == 3);
    for (int i = 0; i < 3; i++) {
        heed__plan a = again.plan[i], b = p.plan[i];
        CHECK(a.step == b.step && a.left == b.left && a.longer == b.longer && a.from == b.from);
    }
    heed_text_free(&text);
    for (int i = p.count; i < HEED__PLANS; i++) CHECK(heed__plans_add(&p, 60 + i, 1, false));
    CHECK(!heed__plans_add(&p, 1000000, 1, false));
}

TEST(fit_plans_refuse_wrong_text) {
    static const char *const wrong[] = {
        "1:5", "0+5", "0:0",  "0:5 0:5", "0:5 3:2 2:3", "0:5x", "0",    "0:",
        ":5",  "x",   "-1:5", "0:5,5:1", "0:5 4:2",     " 0:5", "0:4 ", "0:1234567890123456"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        heed_ctx *c = heed_open(&(heed_options){.threads = 1});
        heed__plans p;
        CHECK(!heed__plans_read(c, wrong[i], 5, &p) && heed_ctx_status(c) == HEED_DATA);
        CHECK_HAS(heed_ctx_error(c), "plan");
        heed_close(c);
    }
}

/* ---- learning rate ---- */

static heed__settings settings_of(heed_schedule_kind kind, double warmup) {
    return (heed__settings){
        .optim.lr = 1, .schedule = kind, .lr_min = 0.1, .warmup = warmup, .step_gamma = 0.5};
}

TEST_IN(fit_one_plan_is_an_ordinary_schedule, heed_open(&(heed_options){.threads = 1})) {
    heed__plans p = plans_of(c, "0:200", 200);
    for (int kind = HEED_SCHEDULE_CONSTANT; kind <= HEED_SCHEDULE_STEP; kind++)
        for (int warm = 0; warm < 3; warm++) {
            heed__settings s = settings_of((heed_schedule_kind)kind, (double[]){0, 0.1, 30}[warm]);
            heed_schedule h = heed__settings_schedule(&s, 200);
            for (int64_t i = 0; i < 200; i++)
                CHECK(heed__plans_rate(&p, &s, i) == heed_schedule_at(&h, i));
        }
}

/* Plans that agree with the first one change the rate by no more than a step does. */
TEST_IN(fit_plans_continue_the_learning_rate, heed_open(&(heed_options){.threads = 1})) {
    heed__plans one = plans_of(c, "0:400", 400);
    heed__plans same = plans_of(c, "0:400 5:395 21:379 100:300 250:150", 400);
    heed__plans other = plans_of(c, "0:100 5:300 21:90 60:400", 460);
    for (int kind = HEED_SCHEDULE_CONSTANT; kind < HEED_SCHEDULE_STEP; kind++)
        for (int warm = 0; warm < 3; warm++) {
            heed__settings s =
                settings_of((heed_schedule_kind)kind, (double[]){0.1, 0.1, 30}[warm]);
            double last = 0, end = 0;
            for (int64_t i = 0; i < 400; i++)
                CHECK_CLOSE(heed__plans_rate(&same, &s, i), heed__plans_rate(&one, &s, i), 0.01);
            for (int64_t i = 0; i < 460; i++) {
                end = (double)heed__plans_rate(&other, &s, i);
                CHECK(end > 0 && end <= 1 && (i == 0 || fabs(end - last) < 0.15));
                last = end;
            }
            if (kind == HEED_SCHEDULE_COSINE || kind == HEED_SCHEDULE_LINEAR)
                CHECK_CLOSE(end, 0.1, 0.01);
        }
    heed__settings s = settings_of(HEED_SCHEDULE_STEP, 0);
    CHECK_CLOSE(heed__plans_rate(&other, &s, 459), 0.25, 1e-6); /* it fell twice */
    s.step_every = 150;
    CHECK_CLOSE(heed__plans_rate(&other, &s, 459), 0.125, 1e-6); /* three times 150 steps */
}

/* ---- the clock, on given durations ---- */

typedef struct {
    double budget, guess, eval, step; /* guess: seconds of a step before the first one */
    double (*times)(double share);    /* factor of a step's duration, after a share of the time */
    int64_t evals, eval_every;
} course;

static double steady(double share) { return share >= 0; }
static double slower(double share) { return share < 0.5 ? 1 : 4; }
static double faster(double share) { return share < 0.5 ? 4 : 1; }
static double cold(double share) { return share < 0.05 ? 8 : 1; }
static double late(double share) { return share < 0.9 ? 1 : 3; }
static double waves(double share) { return 2 + sin(40 * share); }

/* Seconds of a training in all; the last learning rate into *rate, its plans into *p. */
static double train_by(const course *u, heed__plans *p, double *rate) {
    heed__clock k = {
        .budget = u->budget, .eval = u->eval, .evals = u->evals, .eval_every = u->eval_every};
    heed__settings s = settings_of(HEED_SCHEDULE_COSINE, 0.05);
    double now = 0;
    p->count = 0;
    heed__plans_add(p, 0, heed__clock_left(&k, 0, u->guess, 0), false);
    for (int64_t step = 1; step <= heed__plans_end(p); step++) {
        double took = u->step * u->times(now / u->budget);
        took *= 0.7 + 0.6 * (double)(step * 7919 % 101) / 100; /* some noise */
        *rate = (double)heed__plans_rate(p, &s, step - 1);
        now += took;
        heed__clock_count(&k, took);
        int64_t end = heed__plans_end(p);
        int64_t left =
            step < end ? heed__clock_plan(&k, now, end - step, heed__plans_progress(p, step)) : 0;
        if (left) heed__plans_add(p, step, left, false);
        end = heed__plans_end(p);
        if (step == end ||
            (u->eval_every ? step % u->eval_every == 0 : heed__plans_due(p, step, u->evals)))
            now += u->eval;
    }
    return now;
}

TEST(fit_clock_ends_with_the_time) {
    static double (*const all[])(double) = {steady, slower, faster, cold, late, waves};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int guess = 0; guess < 3; guess++)
            for (int every = 0; every < 2; every++) {
                course u = {.budget = 60, .eval = 0.8, .step = 0.04, .times = all[i], .evals = 10};
                heed__plans p;
                double rate, seconds;
                u.guess = u.step * (double[]){0.1, 1, 10}[guess];
                u.eval_every = every ? 100 : 0;
                seconds = train_by(&u, &p, &rate);
                CHECK(fabs(seconds - u.budget) < 0.05 * u.budget);
                CHECK_CLOSE(rate, 0.1, 0.02);
                CHECK(p.count < 60);
            }
}

/* A step takes a twentieth of the time, or ten times the time. */
TEST(fit_clock_has_few_steps) {
    heed__plans p;
    double rate;
    course u = {.budget = 20, .guess = 3, .eval = 0.5, .step = 1, .times = steady, .evals = 3};
    CHECK(fabs(train_by(&u, &p, &rate) - 20) < 2);
    u.step = u.guess = 200;
    CHECK(heed__plans_end(&p) > 1);
    train_by(&u, &p, &rate);
    CHECK(heed__plans_end(&p) == 1);
}

/* ---- whole training runs, by a clock that the test moves ---- */

#ifdef __linux__
#include <sys/syscall.h>

static double fake = -1;   /* seconds; -1: the machine's clock */
static double tick = 1e-5; /* that a look at it takes */
int clock_gettime(clockid_t id, struct timespec *t) {
    if (fake < 0 || id != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, id, t);
    fake += tick;
    t->tv_sec = (time_t)fake;
    t->tv_nsec = (long)(1e9 * (fake - (double)t->tv_sec));
    return 0;
}

static void (*usual_report)(void *, const heed_report *);
static double first_steps; /* seconds of a step at first, of 0.05 later */

static void report_and_wait(void *user, const heed_report *r) {
    usual_report(user, r);
    if (r->event == HEED_FIT_STEP) fake += r->step < 20 ? first_steps : 0.05;
    if (r->event == HEED_FIT_EVAL) fake += 0.2;
}

/* Trains or goes on; the seconds that it took. */
static double fit_by_fake_clock(job *j) {
    usual_report = j->args.report;
    j->args.report = report_and_wait;
    fake = 1000;
    job_fit(j);
    double took = fake - 1000;
    fake = -1;
    return took;
}

static void copy_config(const char *run, const char *name) {
    size_t n;
    char *text = slurp(run, "config.conf", &n);
    spill(".", name, text, n);
    free(text);
}

/* Trains anew by the settings that a run was left with. */
static void replay(const char *run, const char *again) {
    job j;
    char path[256];
    copy_config(run, "replayed.conf");
    job_open(&j, again, "", (heed_options){.threads = 1});
    heed__config_read(j.args.config, path_of(path, ".", "replayed.conf"), HEED_FROM_FILE);
    job_fit(&j);
    CLOSE(j.c);
}

TEST(fit_minutes_are_kept_and_replayed) {
    job j;
    first_steps = 0.2;
    job_open(&j, "timed", "minutes=0.5 warmup=0.1", (heed_options){.threads = 1});
    double took = fit_by_fake_clock(&j);
    CHECK(fabs(took - 30) < 1.5);
    CHECK(j.count[HEED_FIT_EVAL] == 10);
    CHECK(j.result.step > 400 && heed_config_int(j.args.config, "steps") == j.result.step);
    CHECK(j.last[HEED_FIT_STEP].lr < 1e-6 && j.last[HEED_FIT_STEP].progress == 1);
    CHECK_HAS(j.notes, "0.5 minutes allow about");
    CLOSE(j.c);
    size_t n;
    char *text = slurp("timed", "config.conf", &n);
    CHECK_HAS(text, "\nminutes = 0\n");
    CHECK_HAS(text, "\ntimed = 0.5\n");
    CHECK_HAS(text, "\nplan = 0:");
    free(text);
    replay("timed", "again");
    CHECK(same_run("timed", "again"));
    job_open_resume(&j, "timed", "", (heed_options){.threads = 1});
    fit_by_fake_clock(&j); /* nothing is left to do */
    CHECK(j.count[HEED_FIT_STEP] == 0);
    CLOSE(j.c);
    job_open_resume(&j, "timed", "steps=1000000", (heed_options){.threads = 1});
    j.stop_at = j.result.step + 1;
    job_fit(&j); /* another length is not that of the time */
    CHECK(heed_config_real(j.args.config, "timed") == 0);
    CHECK_TEXT(heed_config_text(j.args.config, "plan"), "");
    heed_close(j.c);
}

TEST(fit_minutes_go_on_where_they_were_interrupted) {
    job j;
    first_steps = 0.05;
    job_open(&j, "parts", "minutes=0.5", (heed_options){.threads = 1});
    j.stop_at = 123;
    double took = fit_by_fake_clock(&j);
    CHECK(heed_ctx_status(j.c) == HEED_INTERRUPTED);
    heed_close(j.c);
    /* config.conf may have plans that no checkpoint knows */
    command("sed -i 's/^steps = .*/steps = 140/; s/^plan = .*/plan = 0:200 130:10/' %s/parts/"
            "config.conf",
            test_folder());
    job_open_resume(&j, "parts", "", (heed_options){.threads = 1});
    took += fit_by_fake_clock(&j);
    CHECK(fabs(took - 30) < 1.5 && j.result.step > 400);
    CLOSE(j.c);
    replay("parts", "again");
    CHECK(same_run("parts", "again"));
    /* and a replay may be interrupted as well */
    copy_config("parts", "replayed.conf");
    char path[256];
    job_open(&j, "third", "", (heed_options){.threads = 1});
    heed__config_read(j.args.config, path_of(path, ".", "replayed.conf"), HEED_FROM_FILE);
    j.stop_at = 77;
    job_fit(&j);
    heed_close(j.c);
    resume_run("third");
    CHECK(same_run("parts", "third"));
}

TEST(fit_minutes_are_added) {
    job j;
    first_steps = 0.05;
    train_run("plain", "steps=100");
    job_open(&j, "timed", "minutes=0.2", (heed_options){.threads = 1});
    fit_by_fake_clock(&j);
    CLOSE(j.c);
    for (int i = 0; i < 2; i++) {
        const char *run = i ? "plain" : "timed";
        job_open_resume(&j, run, "minutes=0.3", (heed_options){.threads = 1});
        CHECK(fabs(fit_by_fake_clock(&j) - 18) < 1.5);
        CHECK(j.last[HEED_FIT_STEP].lr < 1e-6 && j.count[HEED_FIT_STEP] > 250);
        CHECK(i || fabs(heed_config_real(j.args.config, "timed") - 0.5) < 0.01);
        CHECK(strchr(heed_config_text(j.args.config, "plan"), '+') != NULL);
        CLOSE(j.c);
    }
    replay("timed", "again");
    CHECK(same_run("timed", "again"));
    replay("plain", "third");
    CHECK(equal_files("plain", "third", "last/model.safetensors"));
}

TEST(fit_minutes_asked_for_anew_forget_old_plans) {
    job j;
    char path[256];
    first_steps = 0.05;
    job_open(&j, "timed", "minutes=0.2", (heed_options){.threads = 1});
    fit_by_fake_clock(&j);
    CLOSE(j.c);
    copy_config("timed", "old.conf");
    job_open(&j, "other", "", (heed_options){.threads = 1});
    heed__config_read(j.args.config, path_of(path, ".", "old.conf"), HEED_FROM_FILE);
    heed_config_set(j.args.config, "minutes", "0.4", "--minutes", HEED_FROM_FLAG);
    CHECK(fabs(fit_by_fake_clock(&j) - 24) < 1.5);
    CLOSE(j.c);
    job_open(&j, "third", "", (heed_options){.threads = 1});
    heed__config_read(j.args.config, path_of(path, ".", "old.conf"), HEED_FROM_FILE);
    heed_config_set(j.args.config, "steps", "30", "--steps", HEED_FROM_FLAG);
    job_fit(&j);
    CHECK(j.result.step == 30 && heed_config_real(j.args.config, "timed") == 0);
    CLOSE(j.c);
    train_run("plain", "steps=30");
    CHECK(same_run("plain", "third"));
    /* a line that somebody changed */
    command("sed -i 's/^steps = .*/steps = 77/' %s/old.conf", test_folder());
    job_open(&j, "fourth", "", (heed_options){.threads = 1});
    heed__config_read(j.args.config, path_of(path, ".", "old.conf"), HEED_FROM_FILE);
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_DATA);
    CHECK_HAS(heed_ctx_error(j.c), "plan does not end");
    heed_close(j.c);
}

TEST(fit_minutes_warns_of_few_steps) {
    job j;
    job_open(&j, "few", "minutes=0.000001", (heed_options){.threads = 1});
    fit_by_fake_clock(&j);
    CHECK_HAS(j.notes, "fewer than 20 steps");
    CLOSE(j.c);
}

/* Where ten evaluations would take more than a third of the time, there are fewer. */
static void evaluate_slowly(void *user, const heed_report *r) {
    usual_report(user, r);
    if (r->event == HEED_FIT_STEP) fake += 0.01;
    if (r->event == HEED_FIT_EVAL) fake += 4;
}

TEST(fit_minutes_are_for_training_where_evaluations_are_slow) {
    job j;
    job_open(&j, "judged", "minutes=0.5 eval-batches=0", (heed_options){.threads = 1});
    j.data.evals = 1000;
    tick = 4e-3; /* that one of these takes */
    usual_report = j.args.report;
    j.args.report = evaluate_slowly;
    fake = 1000;
    job_fit(&j);
    double took = fake - 1000;
    fake = -1;
    tick = 1e-5;
    int64_t evals = heed_config_int(j.args.config, "evals");
    CHECK(evals >= 1 && evals < 10 && j.count[HEED_FIT_EVAL] == evals);
    CHECK(fabs(took - 30) < 3 && j.result.step > 100);
    CHECK_HAS(j.notes, "an evaluation takes");
    CLOSE(j.c);
}
#endif
