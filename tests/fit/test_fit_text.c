/* heed_train on the text models: thread counts, resume, the tokenizer in the run. */
#include "data/sets.h"
#include "files.h"
#include "fit_job.h"
#include <heed/models.h>

#include <signal.h>

typedef struct {
    heed_ctx *c;
    heed_train_args args;
    heed_data open; /* args.opened */
    int64_t steps;  /* taken so far */
    int64_t stop_at;
    char run[256];
} text_job;

static void on_report(void *user, const heed_report *r) {
    text_job *j = user;
    if (r->event == HEED_FIT_STEP) j->steps = r->step;
}

static bool on_stop(void *user) {
    text_job *j = user;
    return j->stop_at && j->steps >= j->stop_at;
}

static const char *corpus_text(void) {
    char text[4096] = "";
    static const char *const who[] = {"the cat", "a dog", "my friend", "the king"};
    static const char *const does[] = {"sees", "hears", "follows"};
    for (int i = 0; i < 60; i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s %s %s .\n", who[i % 4], does[i % 3],
                 who[(i / 3 + 1) % 4]);
    }
    return text_file("text.txt", text);
}

static text_job open_text(const heed_model *model, const char *kind, const char *run, int threads) {
    text_job j = {.c = heed_open(&(heed_options){.seed = 3, .threads = threads})};
    heed_ctx *c = j.c;
    size_t n;
    char *text = heed_text_read(c, corpus_text(), &n);
    heed_tokenizer *k = heed_tokenizer_train(
        c, text, n, (heed_tokenizer_args){.kind = kind, .specials = model == &heed_model_mlm});
    free(text);
    heed_config *f = heed_model_config(c, model, NULL);
    static const char *const settings[][2] = {
        {"layers", "2"}, {"heads", "2"},      {"width", "32"}, {"block", "16"},
        {"batch", "8"},  {"steps", "12"},     {"lr", "0.01"},  {"dropout", "0.1"},
        {"seed", "3"},   {"save-every", "5"}, {"clip", "0.5"}, {"log-every", "1"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        heed_config_set(f, settings[i][0], settings[i][1], "test", HEED_FROM_FLAG);
    heed__corpus_args a = {.packing = HEED_LINES, .block = 16, .val_split = 0.2};
    a.bracket = model == &heed_model_mlm;
    heed__corpus *data = heed__corpus_open(c, in_folder("text.txt"), k, a, NULL);
    snprintf(j.run, sizeof j.run, "%s", in_folder(run));
    j.open.c = c;
    j.open.batches = data;
    j.open.checksum = heed__corpus_about(data).checksum;
    j.open.tokenizer = k;
    j.args = (heed_train_args){.model = model, .config = f, .report = on_report, .stop = on_stop};
    return j;
}

static heed_fit_result fit_text(text_job *j) {
    j->args.run = j->run;
    j->args.user = j;
    j->args.opened = &j->open;
    return heed_train(j->c, &j->args);
}

static void train_text(const heed_model *model, const char *kind, const char *run, int threads,
                       const char *steps) {
    text_job j = open_text(model, kind, run, threads);
    heed_config_set(j.args.config, "steps", steps, "test", HEED_FROM_FLAG);
    fit_text(&j);
    CLOSE(j.c);
}

static int files_in(const char *dir) {
    DIR *d = opendir(dir);
    int count = 0;
    while (d && readdir(d)) count++;
    if (d) closedir(d);
    return count;
}

static const heed_model *const text_models[] = {&heed_model_mlm, &heed_model_gpt, NULL};

TEST(fit_text_is_the_same_at_any_thread_count) {
    for (int i = 0; text_models[i]; i++) {
        command("rm -rf %s/*", test_folder());
        train_text(text_models[i], "char", "one", 1, "3");
        static const int threads[] = {2, 3, 8};
        for (int j = 0; j < 3; j++) {
            char run[16];
            snprintf(run, sizeof run, "with%d", threads[j]);
            train_text(text_models[i], "char", run, threads[j], "3");
            if (!same_run("one", run))
                test_fail(__FILE__, __LINE__, "%s with %d threads", text_models[i]->name,
                          threads[j]);
        }
    }
}

TEST(fit_text_resume_is_exact) {
    for (int i = 0; text_models[i]; i++) {
        command("rm -rf %s/*", test_folder());
        train_text(text_models[i], "word", "whole", 1, "12");
        text_job j = open_text(text_models[i], "word", "parts", 2);
        j.stop_at = 7;
        CHECK(fit_text(&j).step == 7);
        CHECK(heed_ctx_status(j.c) == HEED_INTERRUPTED);
        heed_close(j.c);
        j = open_text(text_models[i], "word", "parts", 1);
        j.args.resume = true;
        CHECK(fit_text(&j).step == 12);
        CLOSE(j.c);
        CHECK(same_run("whole", "parts"));
    }
}

TEST(fit_text_run_is_not_saved_into_itself) {
    train_text(&heed_model_mlm, "word", "run", 1, "2");
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *r = heed_run_open(c, in_folder("run"), heed_models, "best");
    char path[300];
    snprintf(path, sizeof path, "%s/.", in_folder("run"));
    CHECK(r && !heed_run_save(r, path, true) && heed_ctx_status(c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(c), "folder is the run's");
    heed_clear(c);
    CHECK(r && heed_run_save(r, in_folder("other"), false));
    CLOSE(c);
}

TEST(fit_text_run_that_cannot_be_saved_leaves_the_one_before) {
    train_text(&heed_model_mlm, "word", "run", 1, "2");
    command("cd %s && cp -rp run other && cp -rp run same", test_folder());
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *r = heed_run_open(c, in_folder("run"), heed_models, "best");
    void (*was)(int) = signal(SIGXFSZ, SIG_IGN);
    for (size_t bytes = 1; bytes < 100000; bytes += 20000) {
        limit_files(bytes);
        bool saved[] = {heed_run_save(r, in_folder("other"), true), false};
        heed_clear(c);
        saved[1] = heed_run_save(r, in_folder("new"), false);
        limit_files(0);
        CHECK(!saved[0] && !saved[1] && heed_ctx_status(c) == HEED_FAILED);
        heed_clear(c);
        CHECK(same_run("same", "other") && !exists("other", ".heed-replaced"));
        CHECK(!exists("new", "config.conf"));
    }
    signal(SIGXFSZ, was);
    CHECK(r && heed_run_save(r, in_folder("other"), true));
    CLOSE(c);
}

TEST(fit_text_run_holds_its_tokenizer) {
    train_text(&heed_model_mlm, "wordpiece", "run", 1, "12");
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *r = heed_run_open(c, in_folder("run"), heed_models, "best");
    CHECK(r && r->model == &heed_model_mlm && r->tokenizer);
    CHECK(r && heed_config_int(r->config, "vocab") == heed_vocab_size(r->tokenizer));
    CHECK(r && heed_params_find(r->store, "embed.token.weight")->tensor->shape[0] ==
                   heed_vocab_size(r->tokenizer));
    heed__corpus *data = heed__corpus_open(
        c, in_folder("text.txt"), r ? r->tokenizer : NULL,
        (heed__corpus_args){.packing = HEED_LINES, .bracket = true, .block = 16, .val_split = 0.2},
        NULL);
    const heed_data d = {.c = c, .kind = &heed_texts_masked, .batches = data};
    heed_score s = evaluate_all(r ? r->tape : NULL, &heed_model_mlm, r ? r->self : NULL, &d, 8);
    CHECK(s.weight > 0 && isfinite(s.loss) && s.total == s.weight);
    heed_run_close(r);
    CLOSE(c);
}

/* A model that is told of two vocabularies. */
static heed_model two_sided(heed_option options[64]) {
    heed_model m = heed_model_gpt;
    int n = 0;
    for (; m.options[n].name; n++) options[n] = m.options[n];
    options[n] = (heed_option){"source-vocab", HEED_OPTION_INT, "0", 0, 1 << 24, NULL, "", "Model"};
    options[n + 1] = (heed_option){0};
    m.options = options;
    return m;
}

static void train_two_sided(const heed_model *m, const char *run, bool force) {
    text_job j = open_text(m, "char", run, 1);
    heed_config_set(j.args.config, "steps", "2", "test", HEED_FROM_FLAG);
    heed_config_set(j.args.config, "source-vocab", "9", "test", HEED_FROM_FLAG);
    j.open.source = heed_tokenizer_train(j.c, "to be or not", 12,
                                         (heed_tokenizer_args){.kind = "word", .vocab = 9});
    j.args.force = force;
    fit_text(&j);
    CHECK(heed_config_int(j.args.config, "source-vocab") == heed_vocab_size(j.open.source));
    CLOSE(j.c);
}

TEST(fit_text_run_holds_two_tokenizers) {
    heed_option options[64];
    heed_model m = two_sided(options);
    const heed_model *const models[] = {&m, NULL};
    for (int again = 0; again < 2; again++) {
        train_two_sided(&m, "run", again);
        heed_ctx *c = heed_open(&(heed_options){.threads = 1});
        heed_run *r = heed_run_open(c, in_folder("run"), models, NULL);
        CHECK(r && r->source && heed_token_id(r->source, "be") >= 0);
        CHECK(r && strcmp(heed_tokenizer_kind(r->tokenizer), "char") == 0);
        CHECK(r && heed_config_int(r->config, "vocab") == heed_vocab_size(r->tokenizer));
        CHECK(r && heed_config_int(r->config, "source-vocab") == heed_vocab_size(r->source));
        CLOSE(c);
    }
    command("rm -r %s/run/source-tokenizer", test_folder());
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    CHECK_FAILS(c, heed_run_open(c, in_folder("run"), models, NULL), HEED_DATA, "tokenizer");
    heed_close(c);
}

TEST(fit_text_source_tokenizer_is_part_of_a_resume) {
    heed_option options[64];
    heed_model m = two_sided(options);
    train_two_sided(&m, "run", false);
    text_job j = open_text(&m, "char", "run", 1);
    heed_config_set(j.args.config, "source-vocab", "9", "test", HEED_FROM_FLAG);
    j.open.source = heed_tokenizer_train(j.c, "to see or not", 13,
                                         (heed_tokenizer_args){.kind = "word", .vocab = 9});
    j.args.resume = true;
    fit_text(&j);
    CHECK(heed_ctx_status(j.c) == HEED_DATA);
    CHECK_HAS(heed_ctx_error(j.c), "tokenizer has changed");
    heed_close(j.c);
}

/* Nothing of the old run is left but what is not heed's. */
TEST(fit_text_force_replaces_the_tokenizer) {
    train_text(&heed_model_gpt, "char", "fresh", 1, "2");
    int files = files_in(in_folder("fresh"));
    train_text(&heed_model_gpt, "wordpiece", "run", 1, "2");
    spill("run", "notes.txt", "mine", 4);
    text_job j = open_text(&heed_model_gpt, "char", "run", 1);
    heed_config_set(j.args.config, "steps", "2", "test", HEED_FROM_FLAG);
    j.args.force = true;
    fit_text(&j);
    CLOSE(j.c);
    CHECK(files_in(in_folder("run")) == files + 1);
    CHECK(exists("run", "notes.txt"));
    CHECK(same_run("fresh", "run"));
}

TEST(fit_text_damaged_tokenizer_is_an_error) {
    static const char *const kinds[] = {"char", "word", "wordpiece", "bpe"};
    for (int i = 0; i < 4; i++) {
        command("rm -rf %s/*", test_folder());
        train_text(&heed_model_gpt, kinds[i], "run", 1, "3");
        static const char *const names[] = {"run/vocab.txt", "run/tokenizer.json"};
        for (int k = 0; k < 2; k++) {
            size_t n;
            char *data = slurp(".", names[k], &n);
            for (size_t at = 0; data && at < n; at += n / 25 + 1) {
                data[at] ^= 1;
                spill(".", names[k], data, n);
                data[at] ^= 1;
                heed_ctx *c = heed_open(&(heed_options){.threads = 1});
                heed_run *r = heed_run_open(c, in_folder("run"), heed_models, "best");
                CHECK(r || heed_ctx_status(c) == HEED_DATA || heed_ctx_status(c) == HEED_USAGE);
                heed_close(c);
            }
            if (data) spill(".", names[k], data, n);
            free(data);
        }
        command("cd %s/run && rm -f vocab.txt tokenizer.json", test_folder());
        heed_ctx *c = heed_open(&(heed_options){.threads = 1});
        CHECK_FAILS(c, heed_run_open(c, in_folder("run"), heed_models, NULL), HEED_DATA,
                    "tokenizer");
        heed_close(c);
    }
}

/* The gradient is that of all lines, however they are cut into batches: here of 48, 32 + 16, 7 x 6
 * + 6. */
TEST(fit_text_gradient_descent_takes_every_line_once) {
    static const char *const batch[] = {"48", "32", "7"}, *const run[] = {"a", "b", "c"};
    heed_fit_result result[3];
    for (int i = 0; i < 3; i++) {
        text_job j = open_text(&heed_model_gpt, "word", run[i], 1);
        static const char *const settings[][2] = {{"optimizer", "gd"}, {"steps", "4"},
                                                  {"dropout", "0"},    {"warmup", "0"},
                                                  {"lr", "1"},         {"clip", "0"}};
        for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
            heed_config_set(j.args.config, settings[k][0], settings[k][1], "test", HEED_FROM_FLAG);
        heed_config_set(j.args.config, "batch", batch[i], "test", HEED_FROM_FLAG);
        result[i] = fit_text(&j);
        CLOSE(j.c);
        CHECK_CLOSE(result[i].loss, result[0].loss, 1e-5);
        CHECK_CLOSE(result[i].val_loss, result[0].val_loss, 1e-5);
    }
}
