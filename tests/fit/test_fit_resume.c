/* heed_train: going on after a stop, a death at any moment, a full disk. */
#define _GNU_SOURCE /* fork, syscall */
#include "core/core.h"
#include "core/os.h"
#include "fit_job.h"

#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- resume ---- */

static void split_run(const char *run, const char *settings, int64_t at, int threads) {
    job j;
    job_open(&j, run, settings, (heed_options){.threads = 1});
    j.stop_at = at;
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_INTERRUPTED);
    CHECK(j.result.step == at);
    CHECK_HAS(heed_ctx_error(j.c), "`resume ");
    heed_close(j.c);
    job_open_resume(&j, run, "", (heed_options){.threads = threads});
    job_fit(&j);
    CHECK(j.result.step > at);
    CLOSE(j.c);
}

TEST(fit_resume_is_exact) {
    static const char settings[] =
        "steps=40 dropout=0.2 lr=0.02 eval-every=8 save-every=3 log-every=5 accumulate=2 batch=16";
    train_run("whole", settings);
    for (int at = 1; at < 40; at += 7) { /* 8 among them: an evaluation was due */
        char run[16];
        snprintf(run, sizeof run, "at%d", at);
        split_run(run, settings, at, at % 3 + 1);
        if (!same_run("whole", run)) test_fail(__FILE__, __LINE__, "stopped at %d", at);
    }
    split_run("last", settings, 24, 2);
    CHECK(same_run("whole", "last"));
}

/* How many evaluations were without a better one is part of the state. */
TEST(fit_resume_keeps_its_patience) {
    static const char settings[] =
        "steps=60 lr=0.05 eval-every=2 batch=4 best=accuracy patience=6 dropout=0.1";
    train_run("whole", settings);
    for (int at = 3; at < 12; at += 4) {
        char run[16];
        snprintf(run, sizeof run, "at%d", at);
        split_run(run, settings, at, 1);
        if (!same_run("whole", run)) test_fail(__FILE__, __LINE__, "stopped at %d", at);
    }
}

/* Stop is asked after steps and between the batches of an evaluation. */
static bool stop_at_call(void *user) {
    job *j = user;
    return --j->stop_at < 0;
}

TEST(fit_resume_after_a_stop_at_any_question) {
    static const char settings[] = "steps=9 eval-every=3 dropout=0.1 lr=0.02 log-every=2";
    int stopped = 0, within = 0;
    train_run("whole", settings);
    for (int calls = 0;; calls++) {
        job j;
        command("rm -rf %s/run", test_folder());
        job_open(&j, "run", settings, (heed_options){.threads = 1});
        j.args.stop = stop_at_call;
        j.stop_at = calls;
        job_fit(&j);
        bool done = heed_ctx_status(j.c) == HEED_OK;
        stopped += !done;
        within += !done && j.result.step % 3 == 0;
        CHECK(done || heed_ctx_status(j.c) == HEED_INTERRUPTED);
        heed_close(j.c);
        resume_run("run");
        CHECK(same_run("whole", "run"));
        if (done) break;
    }
    CHECK(stopped == 9 + 3 * 3 && within == 3 + 3 * 3); /* 4 batches: 3 questions between them */
}

TEST(fit_resume_of_every_optimizer) {
    for (const heed_optimizer *const *r = heed_optimizer_table(); *r; r++) {
        char settings[64], whole[64], split[64];
        snprintf(settings, sizeof settings, "steps=12 optimizer=%s", (*r)->name);
        snprintf(whole, sizeof whole, "whole-%s", (*r)->name);
        snprintf(split, sizeof split, "split-%s", (*r)->name);
        train_run(whole, settings);
        split_run(split, settings, 5, 1);
        if (!same_run(whole, split)) test_fail(__FILE__, __LINE__, "%s", (*r)->name);
    }
}

TEST(fit_resume_of_a_finished_run_changes_nothing) {
    train_run("run", "steps=10");
    command("cp -rp %s/run %s/copy", test_folder(), test_folder());
    job j;
    job_open_resume(&j, "run", "", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.count[HEED_FIT_STEP] == 0 && j.count[HEED_FIT_SAVED] == 0);
    CHECK(j.result.step == 10 && isfinite(j.result.val_loss) && isfinite(j.result.best_loss));
    CHECK_HAS(j.notes, "finished");
    CLOSE(j.c);
    command("diff -r %s/run %s/copy", test_folder(), test_folder());
}

TEST(fit_resume_with_more_steps) {
    train_run("run", "steps=10");
    job j;
    job_open_resume(&j, "run", "steps=20", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.result.step == 20 && j.count[HEED_FIT_STEP] == 10);
    CHECK_HAS(j.notes, "steps are now 20, not 10");
    CLOSE(j.c);
    size_t n;
    char *text = slurp("run", "config.conf", &n);
    CHECK_HAS(text, "\nsteps = 20\n");
    free(text);
    resume_run("run");
}

/* With a length and a rate the schedule counts from there, also when that training is stopped. */
TEST(fit_resume_starts_a_schedule_anew) {
    char from[256], to[256];
    train_run("one", "steps=12 dropout=0.2 lr=0.02 eval-every=4");
    command("cp -r '%s' '%s'", path_of(from, "one", ""), path_of(to, "two", ""));
    job j;
    job_open_resume(&j, "one", "steps=32 lr=0.01", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK_HAS(j.notes, "starts anew at step 12");
    CHECK(heed_config_int(j.args.config, "schedule-from") == 12);
    CHECK_CLOSE(j.last[HEED_FIT_STEP].lr, 0.01 * (1 + cos(M_PI * 18 / 19)) / 2, 1e-7);
    CLOSE(j.c);
    job_open_resume(&j, "two", "steps=32 lr=0.01", (heed_options){.threads = 1});
    j.stop_at = 17;
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_INTERRUPTED);
    heed_close(j.c);
    resume_run("two");
    CHECK(same_run("one", "two"));
}

TEST(fit_resume_refuses_what_has_changed) {
    train_run("run", "steps=10");
    static const char *const parts[] = {"data", "tokenizer", "seed"};
    for (int i = 0; i < 3; i++) {
        job j;
        job_open_resume(&j, "run", i == 2 ? "steps=20 seed=9" : "steps=20",
                        (heed_options){.threads = 1, .seed = i == 2 ? 9 : 1});
        if (i == 0) j.open.checksum++;
        if (i == 1)
            j.open.tokenizer =
                heed_tokenizer_train(j.c, "a b", 3, (heed_tokenizer_args){.kind = "char"});
        job_fit(&j);
        CHECK(heed_ctx_status(j.c) == HEED_DATA);
        CHECK_HAS(heed_ctx_error(j.c), parts[i]);
        CHECK_HAS(heed_ctx_error(j.c), "hint");
        heed_close(j.c);
    }
    job j;
    bool run = false;
    job_open(&j, "nowhere", "", (heed_options){.threads = 1});
    j.args.resume = true;
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_DATA);
    CHECK_TEXT(heed_ctx_missing(j.c, &run), j.run);
    CHECK(run);
    CHECK(!exists("nowhere", ""));
    heed_close(j.c);
}

TEST(fit_resume_warns_on_another_instruction_set) {
    heed_ctx *c = heed_open(NULL);
    bool plain = strcmp(heed_isa(c), "generic") == 0;
    CLOSE(c);
    job j;
    job_open(&j, "run", "steps=10", (heed_options){.threads = 1, .isa = "generic"});
    j.stop_at = 5;
    job_fit(&j);
    heed_close(j.c);
    job_open_resume(&j, "run", "", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.result.step == 10);
    CHECK(plain || strstr(j.notes, "generic"));
    CLOSE(j.c);
}

/* ---- two at once ---- */

static void refused(job *j) {
    job_fit(j);
    CHECK(heed_ctx_status(j->c) == HEED_FAILED);
    CHECK_HAS(heed_ctx_error(j->c), "another training run is active in ");
    char process[40];
    snprintf(process, sizeof process, "(process %ld)", (long)getpid());
    CHECK_HAS(heed_ctx_error(j->c), process);
    heed_close(j->c);
}

TEST(fit_one_training_a_run) {
    train_run("run", "steps=10");
    command("cp -rp %s/run %s/copy", test_folder(), test_folder());
    heed__lock lock = {0};
    long holder;
    char path[256];
    job j;
    CHECK(heed__os_lock(&lock, path_of(path, "run", ".lock"), &holder));
    job_open_resume(&j, "run", "steps=20", (heed_options){.threads = 1});
    refused(&j);
    job_open(&j, "run", "steps=20", (heed_options){.threads = 1});
    j.args.force = true;
    refused(&j);
    heed_ctx *c = heed_open(&(heed_options){.threads = 1}); /* who reads is not concerned */
    CHECK(heed_run_open(c, j.run, tiny_models, "best"));
    CLOSE(c);
    heed__os_unlock(&lock, path);
    command("diff -r %s/run %s/copy", test_folder(), test_folder());
    job_open_resume(&j, "run", "steps=20", (heed_options){.threads = 1});
    job_fit(&j);
    CLOSE(j.c);
    CHECK(!exists("run", ".lock"));
}

/* Another training run makes the run while this one still tries out its model. */
static void make_run_meanwhile(void *user, const heed_report *r) {
    (void)user, (void)r;
    if (!exists("run", "")) train_run("run", "steps=5");
}

TEST(fit_leaves_a_run_made_meanwhile) {
    train_run("whole", "steps=5");
    job j;
    job_open(&j, "run", "minutes=0.001", (heed_options){.threads = 1});
    j.args.report = make_run_meanwhile;
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(j.c), "run exists already");
    heed_close(j.c);
    CHECK(same_run("whole", "run"));
}

TEST(fit_sweeps_half_written_files) {
    train_run("run", "steps=10");
    spill("run", ".heed-999999999-0.tmp", "half", 4); /* above the largest process number */
    job j;
    job_open_resume(&j, "run", "steps=12", (heed_options){.threads = 1});
    job_fit(&j);
    CLOSE(j.c);
    CHECK(!exists("run", ".heed-999999999-0.tmp"));
}

/* ---- dying at any moment ---- */

#ifdef __linux__
#include <fcntl.h>
#include <sys/syscall.h>

/* Calls that change files, counted by a child process: at the chosen one it dies. */
static long calls_left = -1; /* -1: not counting */
static void spend(void) {
    if (calls_left >= 0 && calls_left-- == 0) _exit(9);
}
int rename(const char *from, const char *to) {
    spend();
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}
int mkdir(const char *path, mode_t mode) {
    spend();
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
int remove(const char *path) {
    spend();
    int r = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    return r == 0 ? 0 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}
/* What a power cut loses no test can see, and to wait for the disk takes minutes. */
int fsync(int fd) {
    (void)fd;
    spend();
    return 0;
}
ssize_t write(int fd, const void *bytes, size_t n) {
    if (calls_left == 0 && n > 1) n = (size_t)syscall(SYS_write, fd, bytes, n / 2);
    spend();
    return syscall(SYS_write, fd, bytes, n);
}

static const char killed_settings[] = "steps=3 eval-every=2 dropout=0.1 lr=0.05 log-every=1";

typedef enum { BEGIN, REPLACE, GO_ON } manner;

/* True if the child came to its end. */
static bool train_and_die(const char *run, manner how, long calls) {
    test_folder();
    pid_t child = fork();
    if (child == 0) {
        job j;
        if (how == GO_ON)
            job_open_resume(&j, run, "", (heed_options){.threads = 1});
        else
            job_open(&j, run, killed_settings, (heed_options){.threads = 1});
        j.args.force = how == REPLACE;
        calls_left = calls;
        job_fit(&j);
        calls_left = -1;
        _exit(heed_ctx_status(j.c) == HEED_OK ? 0 : 1);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9);
    return WEXITSTATUS(status) == 0;
}

/* What stands there opens, or says clearly that it is no run yet. */
static void check_opens(const char *run, bool begun) {
    static const char *const which[] = {"best", "last"};
    for (int i = 0; i < 2; i++) {
        heed_ctx *c = heed_open(&(heed_options){.threads = 1});
        char path[256];
        heed_run *r = heed_run_open(c, path_of(path, run, ""), tiny_models, which[i]);
        CHECK(r || (!begun && heed_ctx_status(c) == HEED_DATA));
        heed_close(c);
    }
}

TEST(fit_survives_death_at_any_moment) {
    train_run("whole", killed_settings);
    long calls = 0;
    for (bool done = false; !done && calls < 2000; calls++) {
        command("rm -rf %s/run", test_folder());
        done = train_and_die("run", BEGIN, calls);
        bool begun = exists("run", "model.safetensors");
        check_opens("run", begun);
        if (exists("run", "config.conf"))
            resume_run("run");
        else
            train_run("run", killed_settings);
        if (!same_run("whole", "run")) {
            test_fail(__FILE__, __LINE__, "killed at call %ld", calls);
            return;
        }
        CHECK(!exists("run", "last.new") && !exists("run", "last.old"));
    }
    CHECK(calls > 50); /* the count bites */
}

/* A run is replaced by another one, or stays. Who comes next finds one of them whole, the other not
 * at all, and no file of anybody else is touched. */
TEST(fit_force_survives_death_at_any_moment) {
    train_run("old", "steps=2 hidden=5");
    train_run("whole", killed_settings);
    long olds = 0, calls = 0;
    for (bool done = false; !done && calls < 2000; calls += 3) {
        command("cd %s && rm -rf run && cp -rp old run && echo mine >run/mine", test_folder());
        done = train_and_die("run", REPLACE, calls);
        job j;
        job_open_resume(&j, "run", "", (heed_options){.threads = 1});
        job_fit(&j);
        if (heed_ctx_status(j.c) != HEED_OK) {
            CHECK_HAS(heed_ctx_error(j.c), "run holds the run that was there before");
            heed_clear(j.c);
        }
        CLOSE(j.c);
        resume_run("run");
        bool old = same_run("old", "run");
        if (!old && !same_run("whole", "run")) {
            test_fail(__FILE__, __LINE__, "killed at call %ld", calls);
            return;
        }
        olds += old;
        CHECK(exists("run", "mine") && !exists("run", ".heed-replaced"));
    }
    CHECK(olds > 3 && calls > 50);
}

/* Killed again and again, each time a little later. */
TEST(fit_survives_many_deaths) {
    train_run("whole", killed_settings);
    bool done = false;
    for (long calls = 5; !done && calls < 2000; calls += 9)
        done = train_and_die("run", exists("run", "config.conf") ? GO_ON : BEGIN, calls);
    CHECK(done);
    CHECK(same_run("whole", "run"));
}
#endif

/* ---- no space ---- */

TEST(fit_full_disk_leaves_no_partial_run) {
    void (*was)(int) = signal(SIGXFSZ, SIG_IGN);
    command("mkdir %s/mine; echo mine >%s/mine/.text", test_folder(), test_folder());
    for (size_t bytes = 1; bytes < 1000; bytes += 150) {
        static const char *const runs[] = {"run", "mine"};
        for (int i = 0; i < 2; i++) {
            job j;
            job_open(&j, runs[i], "steps=5", (heed_options){.threads = 1});
            limit_files(bytes);
            job_fit(&j);
            limit_files(0);
            CHECK(heed_ctx_status(j.c) == HEED_FAILED);
            CHECK_HAS(heed_ctx_error(j.c), "large");
            CHECK(!exists("run", ""));
            CHECK(exists("mine", ".text") && !exists("mine", "config.conf"));
            CHECK(!exists("mine", "last.new") && !exists("mine", "train.log"));
            heed_close(j.c);
        }
    }
    signal(SIGXFSZ, was);
}

TEST(fit_full_disk_keeps_the_run_to_be_replaced) {
    train_run("old", "steps=3");
    command("cd %s && cp -rp old run && echo BLEU >run/scores.json", test_folder());
    void (*was)(int) = signal(SIGXFSZ, SIG_IGN);
    for (size_t bytes = 1; bytes < 1000; bytes += 150) {
        job j;
        job_open(&j, "run", "steps=5", (heed_options){.threads = 1});
        j.args.force = true;
        limit_files(bytes);
        job_fit(&j);
        limit_files(0);
        CHECK(heed_ctx_status(j.c) == HEED_FAILED);
        CHECK(same_run("old", "run") && exists("run", "scores.json"));
        CHECK(!exists("run", ".heed-replaced") && equal_files("old", "run", "config.conf"));
        heed_close(j.c);
    }
    signal(SIGXFSZ, was);
    job j;
    job_open(&j, "run", "steps=5", (heed_options){.threads = 1});
    j.args.force = true;
    job_fit(&j);
    CLOSE(j.c);
    CHECK(!exists("run", "scores.json") && !exists("run", ".heed-replaced"));
}

TEST(fit_full_disk_keeps_the_checkpoint) {
    train_run("whole", "steps=20 hidden=40 eval-every=5");
    job j;
    job_open(&j, "run", "steps=20 hidden=40 eval-every=5", (heed_options){.threads = 1});
    j.stop_at = 7;
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_INTERRUPTED);
    heed_close(j.c);
    void (*was)(int) = signal(SIGXFSZ, SIG_IGN);
    for (size_t bytes = 1; bytes < 3000; bytes += 97) {
        job_open_resume(&j, "run", "", (heed_options){.threads = 1});
        limit_files(bytes);
        job_fit(&j);
        limit_files(0);
        bool ok = heed_ctx_status(j.c) == HEED_OK;
        if (!ok) CHECK_HAS(heed_ctx_error(j.c), "large");
        CHECK(ok || heed_ctx_status(j.c) == HEED_FAILED);
        CHECK(!exists("run", "last.new") || exists("run", "last"));
        heed_close(j.c);
        if (ok) break;
        heed_ctx *c = heed_open(&(heed_options){.threads = 1});
        heed_run *r = heed_run_open(c, j.run, tiny_models, "last");
        CHECK(r && r->step >= 7);
        CLOSE(c);
    }
    signal(SIGXFSZ, was);
    resume_run("run");
    CHECK(same_run("whole", "run"));
}
