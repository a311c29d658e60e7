/* Run directories opened for use, whole and damaged. */
#define _GNU_SOURCE /* nanosleep */
#include "fit/fit.h"
#include "fit_job.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* ---- opening ---- */

TEST(run_opens_with_its_settings) {
    job j;
    job_open(&j, "run", "steps=300 hidden=24 lr=0.02", (heed_options){.threads = 1});
    heed_config_set(j.args.config, "data", "some file # 1.txt", "test", HEED_FROM_FLAG);
    job_fit(&j);
    heed_fit_result result = j.result;
    CLOSE(j.c);
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *r = heed_run_open(c, j.run, tiny_models, "last");
    CHECK(r && r->model == &tiny_model && r->step == 300 && !r->tokenizer);
    CHECK(r && heed_config_int(r->config, "hidden") == 24);
    CHECK(r && heed_config_int(r->config, "steps") == 300);
    if (r) CHECK_TEXT(heed_config_text(r->config, "data"), "some file # 1.txt");
    points own = {.seed = 5, .per_step = 32, .poison = -1, .evals = 4};
    const heed_data data = {.c = c, .batches = &own};
    heed_score s = evaluate_all(r ? r->tape : NULL, &tiny_model, r ? r->self : NULL, &data, 32);
    CHECK(s.total == 128 && s.weight == 128);
    CHECK_CLOSE(s.loss / s.weight, result.val_loss, 1e-12);
    CHECK_CLOSE(s.correct / s.total, result.metric, 1e-12);
    heed_run_close(r);
    heed_run *best = heed_run_open(c, j.run, tiny_models, NULL);
    s = evaluate_all(best ? best->tape : NULL, &tiny_model, best ? best->self : NULL, &data, 32);
    CHECK_CLOSE(s.loss / s.weight, result.best_loss, 1e-12);
    CLOSE(c);
}

/* The values of a run come from its file alone: before it is read, none have been drawn. */
TEST(run_is_opened_without_drawing) {
    train_run("run", "steps=2");
    char path[256];
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *r = heed_run_open(c, path_of(path, "run", ""), tiny_models, NULL);
    heed_run built = {.c = c, .model = &tiny_model, .config = r ? r->config : NULL};
    CHECK(heed__run_build(&built, NULL));
    int random = 0;
    for (int i = 0; i < heed_params_count(built.store); i++) {
        CHECK(!heed__of(heed_params_at(r->store, i)->tensor)->undrawn);
        random += heed__of(heed_params_at(built.store, i)->tensor)->undrawn != NULL;
    }
    CHECK(random > 0);
    heed__free(built.self);
    CLOSE(c);
}

TEST(run_opens_best_or_last_alone) {
    train_run("run", "steps=10");
    char path[256];
    static const char *const which[] = {NULL, "best", "last", "worst", ""};
    for (int i = 0; i < 5; i++) {
        heed_ctx *c = heed_open(NULL);
        heed_run *r = heed_run_open(c, path_of(path, "run", ""), tiny_models, which[i]);
        CHECK((r != NULL) == (i < 3) && heed_ctx_status(c) == (i < 3 ? HEED_OK : HEED_USAGE));
        if (i == 3) CHECK_HAS(heed_ctx_error(c), "expected best or last, found worst");
        heed_close(c);
    }
}

static atomic_bool saving;

/* Swaps checkpoints as training that saves does, but that nothing is written. */
static void *swap_checkpoints(void *run) {
    static const char *const names[] = {"last", "last.old", "last.new"};
    char path[3][256];
    const struct timespec moment = {.tv_nsec = 200000};
    for (int i = 0; i < 3; i++) path_of(path[i], run, names[i]);
    while (saving)
        for (int i = 0; i < 3; i++) { /* last -> last.old, last.new -> last, last.old -> last.new */
            int from = (3 - i) % 3;
            rename(path[from], path[(from + 1) % 3]);
            nanosleep(&moment, NULL);
        }
    return NULL;
}

static bool stops_saving(void *unused) {
    (void)unused;
    return !saving;
}

/* Saves after every step, and best weights after every third. */
static void *keep_saving(void *run) {
    job j;
    job_open_resume(&j, run, "steps=1000000 save-every=1 eval-every=3",
                    (heed_options){.threads = 1});
    j.args.stop = stops_saving;
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_INTERRUPTED);
    heed_close(j.c);
    return NULL;
}

/* Opens the run, its best and its last weights in turn, while `save` runs in another thread. */
static void open_often(const char *run, int openings, void *(*save)(void *)) {
    char path[256];
    pthread_t thread;
    saving = true;
    CHECK(pthread_create(&thread, NULL, save, (void *)(uintptr_t)run) == 0);
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    int failed = 0;
    int64_t step = 0;
    for (int i = 0; i < openings; i++) {
        heed_run *r =
            heed_run_open(c, path_of(path, run, ""), tiny_models, i % 2 ? "last" : "best");
        bool ok = r && r->step > 0 && heed_run_check(c, path, r->config);
        if (ok && i % 2) ok = r->step >= step, step = r->step;
        if (!ok && !failed++) test_fail(__FILE__, __LINE__, "%d: %s", i, heed_ctx_error(c));
        heed_run_close(r);
        heed_clear(c);
    }
    CHECK(failed == 0);
    saving = false;
    pthread_join(thread, NULL);
    CLOSE(c);
}

TEST(run_opens_while_training_saves) {
    train_run("run", "steps=10");
    char path[256];
    open_often("run", 400, keep_saving);
    command("cp -r %s/last %s/last.new", path_of(path, "run", ""), path);
    open_often("run", 2400, swap_checkpoints);
}

TEST(run_null_and_error_states) {
    heed_run_close(NULL);
    CHECK(!heed_run_open(NULL, "x", tiny_models, NULL));
    heed_train(NULL, NULL);
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_train(c, NULL);
    CHECK(heed_ctx_status(c) == HEED_USAGE);
    heed_clear(c);
    CHECK(!heed_run_open(c, "/nonexistent/run", tiny_models, NULL));
    CHECK(heed_ctx_status(c) == HEED_DATA);
    CHECK_HAS(heed_ctx_error(c), "hint");
    heed_clear(c);
    CHECK(!heed_run_open(c, test_folder(), tiny_models, "middle"));
    CHECK_HAS(heed_ctx_error(c), "middle");
    heed_clear(c);
    CHECK(!heed_run_settings(c, NULL, NULL));
    CHECK_HAS(heed_ctx_error(c), "expected its folder and a heed_config, found NULL");
    heed_close(c);
}

/* Every way in to a run; each must end in success or in a message, never in a crash. False if one
 * succeeded that should not have. */
static bool all_fail(const char *run, const char *why) {
    static const char *const which[] = {"best", "last"};
    int failures = 0;
    for (int i = 0; i < 2; i++) {
        heed_ctx *c = heed_open(&(heed_options){.threads = 1});
        char path[256];
        if (!heed_run_open(c, path_of(path, run, ""), tiny_models, which[i])) {
            CHECK(heed_ctx_status(c) == HEED_DATA || heed_ctx_status(c) == HEED_USAGE);
            if (why) CHECK_HAS(heed_ctx_error(c), why);
            failures++;
        }
        heed_close(c);
    }
    job j;
    job_open_resume(&j, run, "steps=12", (heed_options){.threads = 1});
    job_fit(&j);
    if (heed_ctx_status(j.c) != HEED_OK) failures++;
    heed_close(j.c);
    return failures > 0;
}

TEST(run_damaged_files_are_errors) {
    static const char *const files[] = {"last/state.json", "last/model.safetensors",
                                        "last/optimizer.safetensors", "model.safetensors",
                                        "config.conf"};
    train_run("whole", "steps=10");
    for (int i = 0; i < 5; i++) {
        size_t n;
        char *data = slurp("whole", files[i], &n), path[256];
        command("rm -rf %s/run; cp -r %s/whole %s/run", test_folder(), test_folder(),
                test_folder());
        unlink(path_of(path, "run", files[i]));
        if (!all_fail("run", NULL)) test_fail(__FILE__, __LINE__, "missing %s", files[i]);
        for (size_t cut = 0; cut < n && i < 4; cut += n / 7 + 1) {
            command("rm -rf %s/run; cp -r %s/whole %s/run", test_folder(), test_folder(),
                    test_folder());
            spill("run", files[i], data, cut);
            if (!all_fail("run", NULL))
                test_fail(__FILE__, __LINE__, "%s cut to %zu bytes", files[i], cut);
        }
        for (size_t at = 0; at < n; at += n / 40 + 1) {
            command("rm -rf %s/run; cp -r %s/whole %s/run", test_folder(), test_folder(),
                    test_folder());
            data[at] ^= 4;
            spill("run", files[i], data, n);
            bool failed = all_fail("run", NULL);
            data[at] ^= 4;
            /* a comment of config.conf may change, and the best weights' settings alone decide
             * how they are used */
            if (!failed && i < 4)
                test_fail(__FILE__, __LINE__, "%s with byte %zu flipped", files[i], at);
        }
        free(data);
    }
}

/* ---- what a new run may remove ---- */

static bool text_stands(const char *run, const char *name, const char *text) {
    size_t n;
    char *data = slurp(run, name, &n);
    bool same = data && strcmp(data, text) == 0;
    free(data);
    return same;
}

TEST(run_leaves_files_that_are_not_of_a_run) {
    static const char *const names[] = {"labels.txt", "vocab.txt", "config.conf", "lecture.txt"};
    for (int i = 0; i < 4; i++) {
        command("rm -rf %s/own; mkdir %s/own", test_folder(), test_folder());
        spill("own", names[i], "mine", 4);
        for (int force = 0; force < 2; force++) {
            job j;
            job_open(&j, "own", "steps=2", (heed_options){.threads = 1});
            j.args.force = force;
            job_fit(&j);
            CHECK(heed_ctx_status(j.c) == HEED_USAGE);
            CHECK_HAS(heed_ctx_error(j.c), names[i]);
            heed_close(j.c);
            CHECK(text_stands("own", names[i], "mine") && !exists("own", "metrics.csv"));
        }
    }
}

/* A folder may hold hidden files, and a run that is replaced keeps what others put there. */
TEST(run_replaces_only_its_own_files) {
    command("mkdir %s/own", test_folder());
    spill("own", ".notes", "mine", 4);
    for (int force = 0; force < 2; force++) {
        job j;
        job_open(&j, "own", "steps=2", (heed_options){.threads = 1});
        j.args.force = force;
        job_fit(&j);
        CLOSE(j.c);
        CHECK(text_stands("own", ".notes", "mine") && exists("own", "model.safetensors"));
        CHECK(!force || text_stands("own", "lecture.txt", "mine"));
        spill("own", "lecture.txt", "mine", 4);
    }
}

/* A training run that was killed before its first checkpoint leaves settings and its lock. */
TEST_IN(run_vacant_knows_a_run_without_a_checkpoint, heed_open(&(heed_options){.threads = 1})) {
    char path[256];
    CHECK(heed_run_path_is_free(c, path_of(path, "own", ""), false));
    command("mkdir %s/own", test_folder());
    spill("own", "config.conf", "steps = 2\n", 10);
    CHECK(!heed_run_path_is_free(c, path, true));
    heed_clear(c);
    spill("own", ".lock", "1", 1);
    CHECK(!heed_run_path_is_free(c, path, false));
    CHECK_HAS(heed_ctx_error(c), "`force`");
    heed_clear(c);
    CHECK(heed_run_path_is_free(c, path, true));
}

TEST(run_never_removes_its_own_data) {
    char path[256];
    train_run("own", "steps=2");
    spill("own", "samples.txt", "text", 4);
    job j;
    job_open(&j, "own", "steps=2", (heed_options){.threads = 1});
    heed_config_set(j.args.config, "data", path_of(path, "own", "samples.txt"), "DATA",
                    HEED_FROM_FLAG);
    j.args.force = true;
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(j.c), "samples.txt");
    heed_close(j.c);
    CHECK(text_stands("own", "samples.txt", "text") && exists("own", "last/state.json"));
}

/* ---- settings that changed behind a run's back ---- */

/* Writes `to` over the first `from` of a file; both are equally long. */
static void edit(const char *run, const char *name, const char *from, const char *to) {
    size_t n, k = strlen(from), at = 0;
    char *text = slurp(run, name, &n);
    while (at + k < n && memcmp(text + at, from, k) != 0) at++;
    CHECK(text && at + k < n);
    if (text && at + k < n) {
        memcpy(text + at, to, k);
        spill(run, name, text, n);
    }
    free(text);
}

static void resume_refused(const char *run, const char *why) {
    job j;
    job_open_resume(&j, run, "", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_DATA);
    CHECK_HAS(heed_ctx_error(j.c), why);
    heed_close(j.c);
}

static void stop_run(const char *run, const char *settings) {
    job j;
    job_open(&j, run, settings, (heed_options){.threads = 1});
    j.stop_at = 4;
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_INTERRUPTED);
    heed_close(j.c);
}

TEST(run_resume_refuses_a_changed_config) {
    stop_run("whole", "steps=10 optimizer=sgd lr=0.03");
    command("cp -r %s/whole %s/edited", test_folder(), test_folder());
    edit("edited", "config.conf", "lr = 0.03", "lr = 0.04");
    resume_refused("edited", "lr");
    size_t n;
    char *text = slurp("whole", "config.conf", &n);
    command("cp -r %s/whole %s/cut", test_folder(), test_folder());
    spill("cut", "config.conf", text, (size_t)(strstr(text, "optimizer =") - text));
    free(text);
    resume_refused("cut", "no such line");
    resume_run("whole");
}

/* A checkpoint, even within an unfinished swap, or no weights yet; what was saved has neither. */
TEST(run_resumable_needs_a_checkpoint) {
    train_run("run", "steps=10");
    char dir[256];
    path_of(dir, "run", "");
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    CHECK(heed_run_resumable(c, dir));
    command("mv %s/last %s/last.old", dir, dir);
    CHECK(heed_run_resumable(c, dir));
    command("mv %s/last.old %s/moved", dir, dir);
    CHECK(!heed_run_resumable(c, dir));
    CHECK_HAS(heed_ctx_error(c), "has lost its checkpoint");
    heed_clear(c);
    resume_refused("run", "has lost its checkpoint");
    command("mv %s/metrics.csv %s/moved", dir, dir);
    CHECK(!heed_run_resumable(c, dir) && heed_ctx_status(c) == HEED_DATA);
    CHECK_HAS(heed_ctx_error(c), "no training to resume");
    heed_clear(c);
    command("rm %s/model.safetensors", dir);
    CHECK(heed_run_resumable(c, dir) && heed_ctx_status(c) == HEED_OK);
    CLOSE(c);
}

/* The checkpoint of the resumed run names the new settings, so that it can be resumed again. */
TEST(run_resume_takes_settings_from_flags) {
    stop_run("run", "steps=10 lr=0.03");
    job j;
    job_open_resume(&j, "run", "lr=0.04", (heed_options){.threads = 1});
    j.stop_at = 5;
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_INTERRUPTED);
    heed_close(j.c);
    resume_run("run");
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *r = heed_run_open(c, j.run, tiny_models, "last");
    CHECK(r && r->step == 10 && heed_config_real(r->config, "lr") == 0.04);
    CLOSE(c);
}

TEST(run_weights_digest_covers_what_they_say_of_themselves) {
    train_run("run", "steps=3 dropout=0.25");
    edit("run", "model.safetensors", "dropout=0.25", "dropout=0.15");
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    char path[256];
    CHECK(!heed_run_open(c, path_of(path, "run", ""), tiny_models, NULL));
    CHECK(heed_ctx_status(c) == HEED_DATA);
    CHECK_HAS(heed_ctx_error(c), "damaged");
    heed_close(c);
}

/* Of a model's options, those that all training runs share are none of its weights' settings,
 * whatever default the model gives them; each other follows a mark that no value has. */
TEST(run_settings_of_weights_are_the_models_own) {
    heed_option options[64] = {{"first", HEED_OPTION_STRING, "1", 0, 0, NULL, "", "Model"}};
    int n = 1;
    for (const heed_option *o = heed_fit_options; o->name && n < 62; o++) options[n++] = *o;
    options[n] = (heed_option){"last", HEED_OPTION_STRING, "2", 0, 0, NULL, "", "Model"};
    const heed_model own = {.name = "own", .options = options};
    static const char *const values[][2] = {
        {"2", ";first=1;last=2"}, {"a b", ";first=1;last=a b"}, {"a;b", "\nfirst=1\nlast=a;b"}};
    for (int i = 0; i < 3; i++) {
        heed_ctx *c = heed_open(NULL);
        heed_config *f = heed_config_new(c, (const heed_option *const[]){options, NULL});
        CHECK(heed_config_set(f, "last", values[i][0], "test", HEED_FROM_FLAG));
        heed_text text = {.c = c};
        CHECK(heed__settings_text(&own, f, &text));
        CHECK_TEXT(text.s, values[i][1]);
        heed_text_free(&text);
        CLOSE(c);
    }
}
