/* Trainings that start from the weights of a run: settings, tokenizers, resume, what is forgotten.
 */
#include "core/core.h"
#include "core/os.h"
#include "files.h"
#include "fit_job.h"
#include "images.h"

#include <heed/models.h>
#include <unistd.h>

/* Watches a training run: what it took at its start, and when it is to stop. */
typedef struct {
    int count[6]; /* of entries, by heed_transfer_how */
    bool started; /* from a run */
    int64_t step, stop_at;
} watch;

static void on_report(void *user, const heed_report *r) {
    watch *w = user;
    w->step = r->step;
    if (r->event == HEED_FIT_START && r->start) {
        w->started = true;
        for (int i = 0; i < r->start->count; i++) w->count[r->start->entries[i].how]++;
    }
}

static bool on_stop(void *user) {
    const watch *w = user;
    return w->stop_at && w->step >= w->stop_at;
}

static heed_ctx *open_ctx(int threads) {
    return heed_open(&(heed_options){.seed = 3, .threads = threads});
}

/* Trains in a context of its own; the status must be as expected. */
static heed_fit_result train_as(heed_train_args a, int threads, heed_status expected, watch *w) {
    watch none = {.stop_at = 0};
    heed_ctx *c = open_ctx(threads);
    a.models = heed_models;
    a.report = on_report;
    a.stop = on_stop;
    a.user = w ? w : &none;
    heed_fit_result r = heed_train(c, &a);
    if (heed_ctx_status(c) != expected)
        test_fail(__FILE__, __LINE__, "status %d: %s", heed_ctx_status(c), heed_ctx_error(c));
    heed_close(c);
    return r;
}

static heed_fit_result train(const heed_model *m, const char *data, const char *run,
                             const char *settings) {
    char all[512];
    snprintf(all, sizeof all, "%s", settings);
    return train_as(
        (heed_train_args){
            .model = m, .data = in_folder(data), .run = in_folder(run), .settings = all},
        1, HEED_OK, NULL);
}

static heed_fit_result resume(const heed_model *m, const char *run) {
    return train_as((heed_train_args){.model = m, .run = in_folder(run), .resume = true}, 2,
                    HEED_OK, NULL);
}

/* "WORDS from=FOLDER/RUN" */
static const char *from(const char *run, const char *words) {
    static char text[2][512];
    static int turn;
    char *t = text[turn ^= 1];
    snprintf(t, sizeof text[0], "%s from=%s", words, in_folder(run));
    return t;
}

#define GPT "layers=2 heads=2 width=16 block=16 batch=8 steps=12 evals=3 dropout=0.1 "

/* Two texts of the same language; the second has letters that the first lacks. */
static void write_texts(void) {
    static const char *const who[] = {"the cat", "a dog", "my friend", "the king"};
    static const char *const does[] = {"sees", "hears", "follows"};
    static const char *const lines[] = {"%s %s %s .\n", "%s %s %s ! J\xC3\xA9\n"};
    static const char *const names[] = {"first.txt", "second.txt"};
    for (int f = 0; f < 2; f++) {
        char text[8192] = "";
        for (int i = 0; i < 80; i++) {
            size_t n = strlen(text);
            snprintf(text + n, sizeof text - n, lines[f], who[(i + f) % 4], does[i % 3],
                     who[(i / 3 + 1) % 4]);
        }
        text_file(names[f], text);
    }
}

static heed_run *open_run(heed_ctx *c, const char *name) {
    return heed_run_open(c, in_folder(name), heed_models, NULL);
}

TEST(start_of_gpt_from_gpt) {
    write_texts();
    heed_fit_result first = train(&heed_model_gpt, "first.txt", "one", GPT);
    CHECK(isnan(first.first[0]) && isnan(first.first[1]));
    watch w = {.stop_at = 0};
    heed_fit_result r =
        train_as((heed_train_args){.model = &heed_model_gpt,
                                   .data = in_folder("second.txt"),
                                   .run = in_folder("two"),
                                   .settings = from("one", "steps=6 evals=3 batch=8")},
                 1, HEED_OK, &w);
    CHECK(w.started && w.count[HEED_TRANSFER_MATCHED] == 1 && w.count[HEED_TRANSFER_TAKEN] == 27);
    CHECK(w.count[HEED_TRANSFER_NEW] + w.count[HEED_TRANSFER_UNFIT] +
              w.count[HEED_TRANSFER_UNUSED] ==
          0);
    CHECK_CLOSE(r.first[0], first.best_loss, 1e-6); /* the same part, whatever the seed */
    CHECK(isfinite(r.first[1]));
    heed_ctx *c = open_ctx(1);
    heed_run *one = open_run(c, "one"), *two = open_run(c, "two");
    CHECK(heed_config_int(two->config, "width") == 16 &&
          heed_config_int(two->config, "steps") == 6);
    CHECK_CLOSE(heed_config_real(two->config, "dropout"), 0.1, 1e-12);
    CHECK_TEXT(heed_config_text(two->config, "from"), in_folder("one"));
    CHECK(heed_vocab_size(two->tokenizer) == heed_vocab_size(one->tokenizer) + 3); /* ! J é */
    for (int i = 0; i < heed_vocab_size(one->tokenizer); i++)
        CHECK_TEXT(heed_token_text(two->tokenizer, i), heed_token_text(one->tokenizer, i));
    size_t n;
    char *log = slurp("two", "train.log", &n);
    CHECK_HAS(log, "decoder.1.mlp.down.weight (16,64): taken\n");
    CHECK_HAS(log, ": loss ");
    free(log);
    CLOSE(c);
}

/* The step-0 weights are those of the run, in every row that both have. */
TEST(start_weights_are_the_runs) {
    write_texts();
    train(&heed_model_gpt, "first.txt", "one", GPT);
    train(&heed_model_gpt, "second.txt", "two", from("one", "steps=1 evals=1 lr=1e-12 block=24"));
    heed_ctx *c = open_ctx(1);
    heed_run *one = open_run(c, "one"), *two = open_run(c, "two");
    for (int i = 0; i < heed_params_count(one->store); i++) {
        const heed_tensor *a = heed_params_at(one->store, i)->tensor;
        const heed_tensor *b = heed_params_find(two->store, a->name)->tensor;
        for (size_t j = 0; j < a->size; j++)
            if (fabs((double)a->x[j] - (double)b->x[j]) > 1e-6)
                test_fail(__FILE__, __LINE__, "%s differs at %zu", a->name, j);
    }
    CHECK(heed_params_find(two->store, "embed.position.weight")->tensor->shape[0] == 24);
    CLOSE(c);
}

/* The weights to start from are evaluated first, and kept as the best if training harms them; those
 * with a new head are not. */
TEST(start_is_the_first_candidate) {
    write_texts();
    heed_fit_result first = train(&heed_model_gpt, "first.txt", "one", GPT);
    heed_fit_result r =
        train(&heed_model_gpt, "first.txt", "two", from("one", "steps=4 lr=1 batch=8"));
    CHECK_CLOSE(r.best_loss, first.best_loss, 1e-6);
    CHECK(r.val_loss > r.best_loss);
    CHECK_CLOSE(r.first[1], r.first[0], 1e-6);
    size_t n;
    char *rows = slurp("two", "metrics.csv", &n);
    CHECK_HAS(rows, "\n0,0,val,");
    free(rows);
    train(&heed_model_gpt, "first.txt", "more", from("one", "steps=4 layers=3 batch=8"));
    rows = slurp("more", "metrics.csv", &n);
    CHECK(!strstr(rows, "\n0,"));
    free(rows);
}

/* Bits of the whole training run, at any thread count, after a stop, from a settings file; the
 * first run is needed only until the first checkpoint. */
TEST(start_is_exact) {
    write_texts();
    train(&heed_model_gpt, "first.txt", "one", GPT);
    const char *settings = from("one", "steps=10 evals=5 batch=8");
    train(&heed_model_gpt, "second.txt", "whole", settings);
    heed_train_args a = {.model = &heed_model_gpt, .settings = settings};
    watch w = {.stop_at = 5};
    a.data = in_folder("second.txt");
    a.run = in_folder("threads");
    train_as(a, 3, HEED_OK, NULL);
    CHECK(same_run("whole", "threads"));
    a.data = in_folder("second.txt");
    a.run = in_folder("split");
    train_as(a, 1, HEED_INTERRUPTED, &w);
    command("cp -r '%s' '%s'", in_folder("whole"), in_folder("died"));
    command("cd '%s' && rm -r last model.safetensors metrics.csv", in_folder("died"));
    resume(&heed_model_gpt, "died"); /* as if it had died before its first checkpoint */
    CHECK(same_run("whole", "died"));
    command("mv '%s' '%s'", in_folder("one"), in_folder("gone"));
    resume(&heed_model_gpt, "split");
    CHECK(same_run("whole", "split"));
}

/* Without a checkpoint, the weights must still be those that the training was to start from. */
TEST(start_again_from_other_weights) {
    write_texts();
    train(&heed_model_gpt, "first.txt", "one", GPT);
    train(&heed_model_gpt, "second.txt", "two", from("one", "steps=2 evals=1"));
    command("cd '%s' && rm -r last model.safetensors metrics.csv", in_folder("two"));
    command("rm -r '%s'", in_folder("one"));
    train(&heed_model_gpt, "first.txt", "one", GPT "lr=0.5");
    heed_ctx *c = open_ctx(1);
    heed_train_args a = {
        .model = &heed_model_gpt, .run = in_folder("two"), .resume = true, .models = heed_models};
    CHECK_FAILS(c, heed_train(c, &a).step, HEED_DATA, "have changed: expected digest");
    command("rm -r '%s'", in_folder("one"));
    CHECK_FAILS(c, heed_train(c, &a).step, HEED_DATA, "run is missing");
    CLOSE(c);
}

/* ---- a classifier and a tagger of a masked language model ---- */

TEST(start_of_readers_from_mlm) {
    write_texts();
    train(
        &heed_model_mlm, "first.txt", "one",
        "layers=2 heads=2 width=16 block=16 batch=8 steps=2 evals=1 tokenizer=word activation=relu "
        "norm=pre final-norm=true transform-head=true");
    text_file("classes.tsv", "x\tthe cat sees .\ny\ta dog hears .\nx\tthe cat hears .\n"
                             "y\ta dog sees .\nx\tthe cat\ny\ta dog\n");
    text_file("tags.tsv", "the cat sees\tD N V\na dog hears\tD N V\nthe king\tD N\na dog\tD N\n");
    const heed_model *const models[] = {&heed_model_textcls, &heed_model_tag};
    const char *const data[] = {"classes.tsv", "tags.tsv"};
    for (int i = 0; i < 2; i++) {
        watch w = {.stop_at = 0};
        train_as((heed_train_args){.model = models[i],
                                   .data = in_folder(data[i]),
                                   .run = in_folder(data[i] + 2),
                                   .settings = from("one", "steps=2 evals=1 val-split=0")},
                 1, HEED_OK, &w);
        CHECK(w.count[HEED_TRANSFER_TAKEN] == 31 && w.count[HEED_TRANSFER_MATCHED] == 0);
        CHECK(w.count[HEED_TRANSFER_NEW] == 1 && w.count[HEED_TRANSFER_UNFIT] == 1); /* the head */
        CHECK(w.count[HEED_TRANSFER_UNUSED] == 4); /* the dense layer of the other head */
    }
    /* from the classifier, the head as well */
    watch w = {.stop_at = 0};
    train_as((heed_train_args){.model = &heed_model_textcls,
                               .data = in_folder("classes.tsv"),
                               .run = in_folder("again"),
                               .settings = from("asses.tsv", "steps=2 evals=1 val-split=0")},
             1, HEED_OK, &w);
    CHECK(w.count[HEED_TRANSFER_TAKEN] == 33);
}

/* ---- settings ---- */

TEST(start_settings) {
    write_texts();
    train(&heed_model_mlm, "first.txt", "one",
          "layers=2 heads=2 width=16 block=16 batch=8 steps=1 evals=1 tokenizer=word lr=0.01 "
          "norm=post init-std=0.05");
    heed_ctx *c = open_ctx(1);
    heed_run *r = open_run(c, "one");
    heed_config *f = heed_train_config(c, &heed_model_textcls);
    heed_text said = {.c = c};
    heed_data_args how = {0};
    heed_config_set(f, "block", "24", "test", HEED_FROM_FLAG);
    heed_config_set(f, "heads", "4", "test", HEED_FROM_PRESET);
    CHECK(heed_transfer_settings(f, &heed_model_textcls, r, &how, &said));
    CHECK(heed_config_int(f, "width") == 16 && heed_config_int(f, "token-types") == 2);
    CHECK(heed_config_int(f, "block") == 24 && heed_config_int(f, "heads") == 4);
    CHECK(heed_config_bool(f, "embed-norm"));
    CHECK_TEXT(heed_config_text(f, "norm"), "post");
    CHECK_TEXT(heed_config_text(f, "final-norm"), "false");
    CHECK_TEXT(heed_config_text(f, "lr"), "0.001"); /* settings of training are the task's */
    CHECK(heed_config_int(f, "vocab") == 0);
    CHECK_TEXT(heed_config_text(f, "tokenizer"), in_folder("one"));
    CHECK(how.extend);
    CHECK_HAS(said.s, "width = 16, norm = post");
    f = heed_train_config(c, &heed_model_gpt); /* values that a model lacks are not taken */
    heed_config_set(f, "tokenizer", "byte", "test", HEED_FROM_FLAG);
    CHECK(heed_transfer_settings(f, &heed_model_gpt, r, &how, NULL) && !how.extend);
    CHECK_TEXT(heed_config_text(f, "tokenizer"), "byte");
    f = heed_train_config(c, &heed_model_vit);
    CHECK_FAILS(c, heed_transfer_settings(f, &heed_model_vit, r, &how, NULL), HEED_USAGE,
                "reads other data");
    CHECK(!heed_transfer_settings(NULL, &heed_model_vit, r, &how, NULL));
    CHECK(!heed_transfer_settings(f, NULL, r, &how, NULL));
    CHECK(!heed_transfer_settings(f, &heed_model_vit, NULL, &how, NULL));
    heed_text_free(&said);
    CLOSE(c);
}

/* Before the data is read: it does not even exist. */
TEST(train_refuses_a_seed_that_settings_cannot_hold) {
    heed_ctx *c = heed_open(&(heed_options){.seed = (1ULL << 53) + 1});
    heed_train(c, &(heed_train_args){.model = &heed_model_gpt, .data = in_folder("none")});
    CHECK(heed_ctx_status(c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(c), "expected 0 to 9007199254740992, found 9007199254740993");
    heed_close(c);
}

/* A pattern is never cut: what is left of it might match. */
TEST(train_refuses_a_pattern_that_is_too_long) {
    static const char *const keys[] = {"freeze", "lr-scale", "lora=1 lora-targets",
                                       "lora=1 lora-train"};
    char settings[1000], pattern[601];
    memset(pattern, '*', 600);
    pattern[600] = 0;
    write_texts();
    for (int i = 0; i < 4; i++) {
        heed_ctx *c = open_ctx(1);
        snprintf(settings, sizeof settings, GPT "%s=%s", keys[i], pattern);
        heed_train(c, &(heed_train_args){.model = &heed_model_gpt,
                                         .data = in_folder("first.txt"),
                                         .settings = settings});
        CHECK(heed_ctx_status(c) == HEED_USAGE);
        CHECK_HAS(heed_ctx_error(c), "pattern is too long: ****");
        heed_close(c);
    }
}

TEST(start_open_refuses) {
    write_texts();
    train(&heed_model_gpt, "first.txt", "one", GPT);
    heed_ctx *c = open_ctx(1);
    char lock[256];
    CHECK_FAILS(c, heed_transfer_open(c, in_folder("one"), heed_models, in_folder("one/../one")),
                HEED_USAGE, "is the one to be made");
    CHECK_FAILS(c, heed_transfer_open(c, in_folder("none"), heed_models, NULL), HEED_DATA,
                "missing");
    CHECK_FAILS(c, heed_transfer_open(c, test_folder(), heed_models, NULL), HEED_DATA, "not a run");
    heed__lock held = {0};
    long holder;
    CHECK(heed__os_lock(&held, path_of(lock, "one", ".lock"), &holder));
    CHECK_FAILS(c, heed_transfer_open(c, in_folder("one"), heed_models, NULL), HEED_FAILED,
                "is being trained");
    heed__os_unlock(&held, lock);
    CHECK(mkdir(in_folder("dead"), 0777) == 0); /* killed before its first checkpoint */
    text_file("dead/config.conf", "steps = 2\n");
    text_file("dead/.lock", "1\n");
    CHECK_FAILS(c, heed_transfer_open(c, in_folder("dead"), heed_models, NULL), HEED_DATA, "dead");
    CHECK(heed__os_exists(path_of(lock, "dead", ".lock")));
    heed_run *r = heed_transfer_open(c, in_folder("one"), heed_models, in_folder("two"));
    CHECK(r && strcmp(r->dir, in_folder("one")) == 0);
    CHECK(!heed_transfer_open(c, NULL, heed_models, NULL) && heed_ctx_status(c) == HEED_OK);
    CLOSE(c);
}

/* Without the data of the first run, or with other data in its place, nothing is measured. */
TEST(start_without_the_first_data) {
    write_texts();
    train(&heed_model_gpt, "first.txt", "one", GPT " packing=blocks");
    text_file("first.txt", "something else, but long enough to be read by a model of 16 tokens. "
                           "something else, but long enough to be read by a model of 16 tokens.");
    heed_fit_result r =
        train(&heed_model_gpt, "second.txt", "two", from("one", "steps=2 evals=1 batch=8"));
    CHECK(isnan(r.first[0]) && isnan(r.first[1]));
    size_t n;
    char *log = slurp("two", "train.log", &n);
    CHECK_HAS(log, "first.txt has changed since");
    free(log);
    unlink(in_folder("first.txt"));
    r = train(&heed_model_gpt, "second.txt", "three", from("one", "steps=2 evals=1 batch=8"));
    CHECK(isnan(r.first[0]) && isnan(r.first[1]));
}

/* ---- pictures ---- */

#define VIT "layers=1 heads=2 width=8 batch=8 steps=2 evals=1 val-split=0.25 "

TEST(start_of_vit) {
    make_folder("data");
    char dir[256];
    snprintf(dir, sizeof dir, "%s", in_folder("data"));
    put_mnist(false, 40, 8);
    command("mv %s/*ubyte '%s'", test_folder(), dir);
    train(&heed_model_vit, "data", "one", VIT);
    train(&heed_model_vit, "data", "two", from("one", VIT "image-size=12 mean=0.5 std=0.25"));
    train(&heed_model_vit, "data", "three", from("one", "steps=1 evals=1 pool=mean"));
    heed_ctx *c = open_ctx(1);
    heed_run *one = open_run(c, "one"), *two = open_run(c, "two"), *three = open_run(c, "three");
    heed_grid a, b;
    CHECK(one->model->grid(one->self, &a) && two->model->grid(two->self, &b));
    CHECK(b.rows == 2 * a.rows); /* the patches keep their size */
    CHECK_TEXT(heed_config_text(two->config, "mean"), "0.5");
    CHECK_TEXT(heed_config_text(three->config, "mean"), heed_config_text(one->config, "mean"));
    CHECK(heed_config_int(three->config, "width") == 8);
    CHECK(!heed_params_find(three->store, "embed.cls"));
    CLOSE(c);
}
