/* test_fit_accumulate.c -- one batch of 32 rows and four micro-batches of 8 make the same step, for
 * every kind of data, however many labels each micro-batch has. */
#include "data/sets.h"
#include "images.h"
#include <heed/models.h>

enum { ROWS = 32, PARTS = 4, PAIRS = 150 };

/* Trainings of one step of gradient descent, and the weights that they come to. */
typedef struct {
    heed_ctx *c;
    heed_train_args args;
    heed_data open; /* args.opened */
    double loss, norm;
    heed_real *weights;
    size_t count;
} job;

static void on_report(void *user, const heed_report *r) {
    job *j = user;
    if (r->event != HEED_FIT_STEP) return;
    j->loss = r->loss;
    j->norm = r->grad_norm;
    j->weights = calloc(heed_params_numel(r->store), sizeof *j->weights);
    for (int i = 0; i < heed_params_count(r->store); i++) {
        const heed_tensor *x = heed_params_at(r->store, i)->tensor;
        memcpy(j->weights + j->count, x->x, x->size * sizeof *x->x);
        j->count += x->size;
    }
}

static job open_job(const heed_model *model, const char *settings, int parts) {
    char text[256], number[16];
    job j = {.c = heed_open(&(heed_options){.seed = 3, .threads = 1})};
    heed_config *f = heed_model_config(j.c, model, NULL);
    snprintf(text, sizeof text,
             "seed=3 steps=1 optimizer=sgd lr=1 clip=0 schedule=constant "
             "warmup=0 dropout=0 %s",
             settings);
    for (char *pair = strtok(text, " "); pair; pair = strtok(NULL, " ")) {
        char *value = strchr(pair, '=');
        *value++ = 0;
        heed_config_set(f, pair, value, "test", HEED_FROM_FLAG);
    }
    snprintf(number, sizeof number, "%d", ROWS / parts);
    heed_config_set(f, "batch", number, "test", HEED_FROM_FLAG);
    snprintf(number, sizeof number, "%d", parts);
    heed_config_set(f, "accumulate", number, "test", HEED_FROM_FLAG);
    j.args = (heed_train_args){.model = model, .config = f, .report = on_report};
    j.open.no_val = true;
    return j;
}

/* ---- the kinds of data, 32 rows each ---- */

/* Lines of 1 to 12 words, long ones at random places. */
static const char *lines_file(void) {
    heed_text text = {0};
    for (int i = 0; i < ROWS; i++) {
        for (int w = 0; w < 1 + i * 5 % 12; w++)
            heed_text_add(&text, "%sw%d", w ? " " : "", (i + w * w) % 9);
        heed_text_add(&text, "\n");
    }
    const char *path = text_file("lines.txt", text.s);
    heed_text_free(&text);
    return path;
}

static void use_lines(job *j, heed__packing packing, bool bracket) {
    size_t n;
    char *text = heed_text_read(j->c, lines_file(), &n);
    heed_tokenizer *k = heed_tokenizer_train(j->c, text, n, (heed_tokenizer_args){.kind = "word"});
    free(text);
    j->open.tokenizer = k;
    j->open.batches = heed__corpus_open(
        j->c, in_folder("lines.txt"), k,
        (heed__corpus_args){.packing = packing, .block = 16, .bracket = bracket}, NULL);
}

static void open_gpt(job *j) { use_lines(j, HEED_LINES, false); }
static void open_mlm(job *j) { use_lines(j, HEED_LINES, true); }
static void open_gpt_windows(job *j) { use_lines(j, HEED_BLOCKS, false); }
static void open_mlm_windows(job *j) { use_lines(j, HEED_BLOCKS, true); }

static void use_pairs(job *j, heed_target_kind kind) {
    heed_text text = {0};
    for (int i = 0; i < PAIRS; i++) {
        int words = 1 + i * 5 % 12;
        if (kind == HEED_TARGET_CLASSES) heed_text_add(&text, "c%d\t", i % 3);
        for (int w = 0; w < words; w++)
            heed_text_add(&text, "%sw%d", w ? " " : "", (i + w * w) % 9);
        if (kind == HEED_TARGET_TAGS) heed_text_add(&text, "\t");
        for (int w = 0; kind == HEED_TARGET_TAGS && w < words; w++)
            heed_text_add(&text, "%st%d", w ? " " : "", (i + w) % 3);
        if (kind == HEED_TARGET_TEXT) heed_text_add(&text, "\t");
        for (int w = 0; kind == HEED_TARGET_TEXT && w < 13 - words; w++)
            heed_text_add(&text, "%sw%d", w ? " " : "", (i + w) % 9);
        heed_text_add(&text, "\n");
    }
    heed__pairs *k = heed__pairs_open(j->c, text_file("pairs.tsv", text.s),
                                      &(heed__pairs_args){.kind = kind, .block = 16});
    heed_text_free(&text);
    heed__pairs_text(k, kind == HEED_TARGET_TEXT ? 2 : 0, &text);
    heed_tokenizer *t =
        heed_tokenizer_train(j->c, text.s, text.n, (heed_tokenizer_args){.kind = "word"});
    heed_text_free(&text);
    heed__pairs_encode(k, t, kind == HEED_TARGET_TEXT ? t : NULL);
    j->open.tokenizer = t;
    j->open.batches = k;
    const heed__pairs_info *info = heed__pairs_about(k);
    CHECK(info != NULL);
    if (kind == HEED_TARGET_TEXT || !info) return;
    j->open.labels = info->labels;
    j->open.label_count = info->classes;
}

static void open_translation(job *j) { use_pairs(j, HEED_TARGET_TEXT); }
static void open_classes(job *j) { use_pairs(j, HEED_TARGET_CLASSES); }
static void open_tags(job *j) { use_pairs(j, HEED_TARGET_TAGS); }

static void open_pictures(job *j) {
    heed_images *k = heed__images_open(j->c, in_folder("data"),
                                       &(heed__images_args){.size = SIDE, .channels = 1});
    const heed_images_info *info = heed_images_about(k);
    CHECK(info != NULL);
    if (!info) return;
    j->open.batches = k;
    j->open.labels = info->labels;
    j->open.label_count = info->classes;
}

/* ---- one batch and four ---- */

static job step(const heed_model *model, const char *settings, void (*open)(job *j), int parts) {
    job j = open_job(model, settings, parts);
    open(&j);
    j.args.user = &j;
    j.args.opened = &j.open;
    heed_train(j.c, &j.args);
    return j;
}

static void compare(const heed_model *model, const char *settings, void (*open)(job *)) {
    job whole = step(model, settings, open, 1), parts = step(model, settings, open, PARTS);
    double largest = 0, worst = 0;
    CHECK(whole.count > 0 && whole.count == parts.count);
    for (size_t i = 0; i < whole.count && whole.count == parts.count; i++) {
        largest = fmax(largest, fabs((double)whole.weights[i]));
        worst = fmax(worst, fabs((double)whole.weights[i] - (double)parts.weights[i]));
    }
    if (!(worst <= 1e-6 * largest))
        test_fail(__FILE__, __LINE__, "%s: weights of up to %g differ by %g", model->name, largest,
                  worst);
    CHECK_CLOSE(parts.loss, whole.loss, 1e-6 * whole.loss);
    CHECK_CLOSE(parts.norm, whole.norm, 1e-5 * whole.norm);
    free(whole.weights);
    free(parts.weights);
    CLOSE(whole.c);
    CLOSE(parts.c);
}

#define STACK "layers=1 heads=2 width=8 ff=16 block=16"

TEST(fit_steps_the_same_however_texts_are_divided) {
    compare(&heed_model_gpt, STACK, open_gpt);
    compare(&heed_model_mlm, STACK, open_mlm);
    compare(&heed_model_gpt, STACK, open_gpt_windows);
    compare(&heed_model_mlm, STACK, open_mlm_windows);
}

TEST(fit_steps_the_same_however_pairs_are_divided) {
    compare(&heed_model_seq2seq, STACK, open_translation);
    compare(&heed_model_rnn, "width=8 block=16", open_translation);
    compare(&heed_model_textcls, "encoder=attention " STACK, open_classes);
    compare(&heed_model_tag, "encoder=rnn width=8 block=16", open_tags);
}

TEST(fit_steps_the_same_however_pictures_are_divided) {
    make_folder("data");
    put_class("data/even", ROWS / 2, 0);
    put_class("data/odd", ROWS / 2, 100);
    compare(&heed_model_vit, "image-size=6 channels=1 patch=3 layers=1 heads=2 width=8 ff=16",
            open_pictures);
}
