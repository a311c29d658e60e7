/* heed_train: which weights are the best, and the names of classes in a run. */
#include "fit_job.h"

/* ---- the best ---- */

static void fit_judged(job *j, const char *run, const char *best, const char *more) {
    char settings[256];
    snprintf(settings, sizeof settings,
             "steps=60 lr=0.1 eval-every=2 batch=4 seed=1 schedule=constant %s%s %s",
             best ? "best=" : "", best ? best : "", more);
    job_open(j, run, settings, (heed_options){.threads = 1});
    job_fit(j);
}

/* The best row of metrics.csv: of the highest metric and then the lowest loss, or of the latter. */
static int64_t best_row(const char *run, bool by_metric) {
    size_t n;
    char *text = slurp(run, "metrics.csv", &n);
    double loss = INFINITY, metric = -1;
    int64_t best = -1;
    for (char *line = text; line && *line; line += strcspn(line, "\n"), line += *line != 0) {
        long long step;
        double epoch, l, m;
        if (sscanf(line, "%lld,%lf,val,%lf,%lf", &step, &epoch, &l, &m) != 4) continue;
        bool better = by_metric && m != metric ? m > metric : l < loss;
        if (!better) continue;
        loss = l, metric = m, best = step;
    }
    free(text);
    return best;
}

static int64_t step_of_best(const char *run) {
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    char path[256];
    heed_run *r = heed_run_open(c, path_of(path, run, ""), tiny_models, "best");
    int64_t step = r ? r->step : -1;
    CLOSE(c);
    return step;
}

TEST(fit_keeps_the_best_by_loss_or_by_accuracy) {
    job j;
    fit_judged(&j, "loss", NULL, "");
    CHECK(j.result.best_loss <= j.result.val_loss);
    CLOSE(j.c);
    fit_judged(&j, "accuracy", "accuracy", "");
    CHECK(j.result.best_metric >= j.result.metric);
    CLOSE(j.c);
    CHECK(step_of_best("loss") == best_row("loss", false));
    CHECK(step_of_best("accuracy") == best_row("accuracy", true));
    CHECK(step_of_best("loss") != step_of_best("accuracy"));
}

TEST(fit_stops_early_by_accuracy) {
    job j;
    fit_judged(&j, "run", "accuracy", "patience=4");
    CHECK(j.result.step < 60);
    CHECK_HAS(j.notes, "4 evaluations without a better accuracy than");
    CLOSE(j.c);
    CHECK(j.result.step == step_of_best("run") + 4 * 2);
}

/* ---- names of classes ---- */

static heed_status labelled(const char *const *labels, int count, bool force) {
    job j;
    job_open(&j, "run", "steps=2", (heed_options){.threads = 1});
    j.open.labels = labels;
    j.open.label_count = count;
    j.args.force = force;
    job_fit(&j);
    heed_status status = heed_ctx_status(j.c);
    heed_close(j.c);
    return status;
}

TEST(fit_run_keeps_the_names_of_classes) {
    static const char *const names[] = {"small cat", "d\303\266g", "#3"};
    char path[256];
    CHECK(labelled(names, 3, false) == HEED_OK);
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *r = heed_run_open(c, path_of(path, "run", ""), tiny_models, NULL);
    CHECK(r && r->label_count == 3);
    for (int i = 0; r && i < r->label_count && i < 3; i++) CHECK_TEXT(r->labels[i], names[i]);
    CLOSE(c);
    CHECK(labelled(NULL, 0, true) == HEED_OK); /* another run takes the file away */
    CHECK(!exists("run", "labels.txt"));
    static const char *const wrong[] = {"two\nlines", ""};
    CHECK(labelled(wrong, 1, true) == HEED_DATA);
    CHECK(labelled(wrong + 1, 1, true) == HEED_DATA);
}

/* Whether the run opens, with its files as they are and with edited. */
static bool opens(const char *run, bool edited, const char *part) {
    char path[256];
    heed_ctx *c = heed_open(&(heed_options){.threads = 1, .edited = edited});
    heed_run *r = heed_run_open(c, path_of(path, run, ""), tiny_models, NULL);
    if (!r) CHECK(heed_ctx_status(c) == HEED_DATA);
    if (!r) CHECK_HAS(heed_ctx_error(c), part);
    heed_close(c);
    return r != NULL;
}

static heed_status resumed(const char *const *labels, int count, bool edited) {
    job j;
    job_open_resume(&j, "run", "steps=4", (heed_options){.threads = 1, .edited = edited});
    j.open.labels = labels;
    j.open.label_count = count;
    job_fit(&j);
    heed_status status = heed_ctx_status(j.c);
    heed_close(j.c);
    return status;
}

TEST(fit_names_of_classes_belong_to_the_weights) {
    static const char *const names[] = {"cat", "dog"};
    CHECK(labelled(names, 2, false) == HEED_OK);
    CHECK(opens("run", false, ""));
    spill("run", "labels.txt", "dog\ncat\n", 8);
    CHECK(!opens("run", false, "labels.txt"));
    CHECK(opens("run", true, ""));
    CHECK(resumed(names, 2, false) == HEED_DATA);
    CHECK(resumed(names, 2, true) == HEED_OK); /* its weights belong to the edited names */
    CHECK(opens("run", false, ""));
    command("rm %s/run/labels.txt", test_folder());
    CHECK(!opens("run", false, "labels.txt"));
}

TEST(fit_edited_weights_open_where_that_is_asked_for) {
    size_t n;
    train_run("run", "steps=2");
    char *weights = slurp("run", "model.safetensors", &n);
    weights[n - 1] ^= 1;
    spill("run", "model.safetensors", weights, n);
    free(weights);
    CHECK(!opens("run", false, "damaged"));
    CHECK(opens("run", true, ""));
}

TEST(fit_damaged_names_of_classes_are_an_error) {
    static const char *const names[] = {"cat", "dog"};
    static const struct {
        const char *text, *part;
        size_t n;
    } wrong[] = {{"", "nothing", 0}, {"cat\n\ndog\n", "line 2", 9}, {"cat\n\0g\n", "zero", 7}};
    char path[256];
    CHECK(labelled(names, 2, false) == HEED_OK);
    for (int i = 0; i < 3; i++) {
        spill("run", "labels.txt", wrong[i].text, wrong[i].n);
        heed_ctx *c = heed_open(&(heed_options){.threads = 1});
        CHECK(!heed_run_open(c, path_of(path, "run", ""), tiny_models, NULL));
        CHECK(heed_ctx_status(c) == HEED_DATA);
        CHECK_HAS(heed_ctx_error(c), wrong[i].part);
        heed_close(c);
    }
}
