/* Memory as a promise: no allocator call in a steady step, and an error, never a crash, wherever
 * one fails. */
#include "captions.h"
#include "data/sets.h"
#include "failures.h"
#include "images.h"
#include "interpose.h"
#include "io/io.h"
#include "pairs.h"
#include <heed/models.h>

#include <heed/decode.h>
#include <heed/exchange.h>
#include <heed/view.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;
static known_places known; /* of all models: they share most of the way */
static char dir[512];

static void check(bool ok, const char *what) {
    if (ok)
        passed++;
    else
        failed++;
    if (!ok) printf("FAILED %s\n", what);
}

typedef struct {
    heed_ctx *c;
    heed_config *f;
    heed_tokenizer *words; /* NULL for pictures */
    heed_data data;
    const heed_images_info *about;
    const char *const *labels;
    int classes;
} setting;

static void path_of(char *out, size_t size, const char *name) {
    snprintf(out, size, "%s/%s", dir, name);
}

static void set_int(heed_config *f, const char *key, int value) {
    char number[16];
    snprintf(number, sizeof number, "%d", value);
    heed_config_set(f, key, number, "alloc.c", HEED_FROM_FLAG);
}

static void open_text(setting *s, bool bracket) {
    char path[600];
    size_t n = 0;
    path_of(path, sizeof path, "text");
    char *text = heed_text_read(s->c, path, &n);
    s->words = heed_tokenizer_train(s->c, text, n, (heed_tokenizer_args){.kind = "word"});
    free(text);
    s->data.batches = heed__corpus_open(
        s->c, path, s->words,
        (heed__corpus_args){.packing = HEED_LINES, .bracket = bracket, .block = 8}, NULL);
    set_int(s->f, "vocab", heed_vocab_size(s->words));
}

static void open_pictures(setting *s) {
    char path[600];
    path_of(path, sizeof path, "folder"); /* of check_images */
    s->data.batches = heed__images_open(
        s->c, path, &(heed__images_args){.val_split = 0.25, .augment = {.flip = 0.5, .pad = 1}});
    s->about = heed_images_about(s->data.batches);
    if (!s->about) return;
    set_int(s->f, "image-size", s->about->view.size);
    set_int(s->f, "channels", s->about->view.channels);
    if (heed_config_has(s->f, "classes")) set_int(s->f, "classes", s->about->classes);
    s->labels = s->about->labels;
    s->classes = s->about->classes;
}

static void open_captioned(setting *s) {
    heed__captions *k = s->data.batches = open_captions(s->c, dir, 0, &s->words);
    if (!k) return;
    const heed_images_info *about = heed_images_about(heed__captions_images(k));
    set_int(s->f, "image-size", about->view.size);
    set_int(s->f, "channels", about->view.channels);
    set_int(s->f, "vocab", heed_vocab_size(s->words));
}

static void open_pairs(setting *s, heed_target_kind kind) {
    char path[640];
    heed_text text = {.c = s->c};
    even_pairs(dir, (int)kind, path);
    heed__pairs *k = s->data.batches = heed__pairs_open(
        s->c, path, &(heed__pairs_args){.kind = kind, .val_split = 0.2, .block = 8});
    heed__pairs_text(k, kind == HEED_TARGET_TEXT ? 2 : 0, &text);
    s->words = heed_tokenizer_train(s->c, text.s, text.n,
                                    (heed_tokenizer_args){.kind = "char", .specials = true});
    heed_text_free(&text);
    heed__pairs_encode(k, s->words, kind == HEED_TARGET_TEXT ? s->words : NULL);
    const heed__pairs_info *about = heed__pairs_about(k);
    if (!about) return;
    set_int(s->f, "vocab", heed_vocab_size(s->words));
    if (kind != HEED_TARGET_TEXT) set_int(s->f, "classes", about->classes);
    s->labels = about->labels;
    s->classes = about->classes;
}

static setting open_setting(const heed_model *model, const char *steps) {
    setting s = {.c = heed_open(&(heed_options){.seed = 1, .threads = 1})};
    s.f =
        heed_config_new(s.c, (const heed_option *const[]){heed_fit_options, model->options, NULL});
    const char *const settings[][2] = {
        {"layers", "1"}, {"heads", "2"}, {"width", "8"}, {"ff", "16"},     {"block", "8"},
        {"stages", "2"}, {"batch", "4"}, {"seed", "1"},  {"steps", steps}, {"kind", "masked"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (heed_config_has(s.f, settings[i][0]))
            heed_config_set(s.f, settings[i][0], settings[i][1], "alloc.c", HEED_FROM_FILE);
    if (model->data == &heed_pictures_captioned)
        open_captioned(&s);
    else if (heed_config_has(s.f, "image-size"))
        open_pictures(&s);
    else if (heed_config_has(s.f, "share-vocab"))
        open_pairs(&s, HEED_TARGET_TEXT);
    else if (heed_config_has(s.f, "encoder"))
        open_pairs(&s, model == &heed_model_tag ? HEED_TARGET_TAGS : HEED_TARGET_CLASSES);
    else
        open_text(&s, !strcmp(model->name, "mlm"));
    return s;
}

/* more: settings besides those of open_setting; NULL: none. */
static void steady(const heed_model *model, const heed_optimizer *r, const char *more) {
    char what[128];
    setting s = open_setting(model, "10");
    if (more) heed_config_set_list(s.f, more, "alloc.c", HEED_FROM_FLAG);
    heed_params *store = heed_params_new(s.c);
    heed_tape *t = heed_tape_new(s.c);
    void *self = calloc(1, model->size);
    heed_model_init(model, self, store, s.f);
    heed_optim_args rate = heed_optim_defaults(r);
    rate.lr = 1e-3f;
    rate.decay = 0.1f;
    heed_optim *o = heed_optim_new(store, r, &rate);
    long before = 0;
    for (uint64_t i = 0; i < 40; i++) {
        heed_batch b;
        heed_tape_begin(t, HEED_TRAIN, i);
        heed_model_batch(model, self, &s.data, (heed_batch_at){.index = i, .rows = 4}, &b);
        heed_backward(t, model->loss(self, t, &b));
        heed_clip_grad_norm(o, 1, 1);
        heed_optim_step(o, 1);
        if (i == 1) before = alloc_calls; /* from the third step on */
    }
    snprintf(what, sizeof what,
             "%s with optimizer %s: %ld allocator calls from the third step on, error \"%s\"",
             model->name, r->name, alloc_calls - before, heed_ctx_error(s.c));
    check(alloc_calls == before && heed_ctx_status(s.c) == HEED_OK, what);
    free(self);
    heed_close(s.c);
}

/* heed_train itself, between evaluations and rows of metrics.csv. */
static void count_step(void *user, const heed_report *r) {
    long *calls = user;
    if (r->event == HEED_FIT_STEP && r->step == 2) calls[0] = alloc_calls;
    if (r->event == HEED_FIT_STEP && r->step == 30) calls[1] = alloc_calls;
}

static void steady_fit(const heed_model *model) {
    char what[128], run[600];
    long calls[2] = {0, 1};
    setting s = open_setting(model, "31");
    path_of(run, sizeof run, "run");
    heed_config_set(s.f, "log-every", "1000", "alloc.c", HEED_FROM_FLAG);
    heed_config_set(s.f, "eval-every", "1000", "alloc.c", HEED_FROM_FLAG);
    heed_train(s.c, &(heed_train_args){.model = model,
                                       .opened = &s.data,
                                       .config = s.f,
                                       .run = run,
                                       .force = true,
                                       .report = count_step,
                                       .user = calls});
    snprintf(what, sizeof what, "%s in heed_train: %ld allocator calls in 28 steps, error \"%s\"",
             model->name, calls[1] - calls[0], heed_ctx_error(s.c));
    check(calls[0] == calls[1] && heed_ctx_status(s.c) == HEED_OK, what);
    heed_close(s.c);
}

/* Output of a model that makes it step by step: sampled, then by beam search. */
static void generate(const heed_run *r, const heed_model *model) {
    const int32_t words[] = {1, 2};
    heed_generation a = {.prompt = words, .prompt_count = 1, .count = 3, .temperature = 1};
    if (!model->steps) return;
    if (model->steps->read) {
        static const heed_real picture[64 * 64 * 3];
        a.source = words;
        a.source_count = 2;
        if (model->data == &heed_pictures_captioned) {
            a.picture = picture;
            a.picture_size = (int)heed_config_int(r->config, "image-size");
            a.picture_channels = (int)heed_config_int(r->config, "channels");
        }
    }
    heed_generate(model, r->self, r->tape, &a, NULL, NULL);
    a.temperature = 0;
    a.beam = 2;
    heed_generate(model, r->self, r->tape, &a, NULL, NULL);
}

/* The whole way once: train with checkpoints, resume, open, use. True if nothing failed. */
static bool whole_way(void *data) {
    const heed_model *model = *(const heed_model **)data;
    char run[600];
    path_of(run, sizeof run, "run");
    setting s = open_setting(model, "3");
    s.data.tokenizer = s.words;
    s.data.labels = s.labels;
    s.data.label_count = s.classes;
    heed_train_args a = {
        .model = model, .opened = &s.data, .config = s.f, .run = run, .force = true};
    heed_train(s.c, &a);
    a.resume = true;
    a.force = false;
    heed_train(s.c, &a);
    heed_run *r = heed_run_open(s.c, run, (const heed_model *const[]){model, NULL}, "best");
    if (r) {
        heed_batch b;
        heed_tape_begin(r->tape, HEED_EVAL, 0);
        heed_model_batch(model, r->self, &s.data, (heed_batch_at){.rows = 4, .val = true}, &b);
        heed_probe(r->tape, "*.weights", false);
        heed_tensor *loss = model->loss(r->self, r->tape, &b);
        if (loss && !isfinite((double)loss->x[0])) printf("FAILED a loss that is not finite\n");
        generate(r, model);
    }
    bool ok = heed_ctx_status(s.c) == HEED_OK && r;
    heed_close(s.c);
    return ok;
}

static bool train_gpt(const char *run, const char *more) {
    char text[600], settings[900];
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    path_of(text, sizeof text, "text");
    snprintf(settings, sizeof settings,
             "layers=1 heads=2 width=8 block=8 batch=2 steps=1 evals=1 %s", more);
    heed_train(c, &(heed_train_args){
                      .model = &heed_model_gpt, .data = text, .run = run, .settings = settings});
    bool ok = heed_ctx_status(c) == HEED_OK;
    heed_close(c);
    return ok;
}

/* A training run that starts from the weights of the run at `data`, and leaves nothing behind. */
static bool started(void *data) {
    char from[700];
    snprintf(from, sizeof from, "from=%s", (const char *)data);
    return train_gpt(NULL, from);
}

static void check_start(void) {
    char run[600];
    path_of(run, sizeof run, "first");
    check(train_gpt(run, ""), "a run to start from");
    fail_each((alloc_job){"start", started, run}, &known, check);
}

static unsigned char pixels[18 * 11 * 3];

/* A picture of each decoder read and converted: it is there, or memory was refused. */
static bool pictures_read(void *data) {
    const char *png = data;
    char why[2][HEED_WHY];
    heed_picture p[2];
    heed_status status[2] = {
        heed_picture_read("tests/golden/pictures/progressive.jpg", &p[0], why[0]),
        heed_picture_read(png, &p[1], why[1])};
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        if (status[i] == HEED_OK) status[i] = heed_picture_convert(&p[i], 1);
        ok = ok && status[i] == HEED_OK;
        if (status[i] != HEED_OK && status[i] != HEED_FAILED) check(false, why[i]);
        heed_picture_free(&p[i]);
    }
    return ok;
}

/* A sheet, a heat map and a map over a picture drawn into the file. */
static bool pictures_drawn(void *data) {
    const char *png = data;
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    const heed_real values[] = {1, 2, 3, 40};
    const char *names[] = {"one", "a class of a long name"};
    const heed_tile tile = {pixels, 18, 11, 3, {"caption", "second"}};
    heed_sheet_save(c, &(heed_sheet){"title", 1, 0, 0, &tile}, HEED_PNG, png);
    heed_heatmaps_save(c,
                       &(heed_heatmap){.rows = 2,
                                       .cols = 2,
                                       .values = values,
                                       .row_labels = names,
                                       .col_labels = names,
                                       .numbers = true},
                       1, HEED_PNG, png);
    const heed_heatmap over = {.rows = 1,
                               .cols = 4,
                               .values = values,
                               .grid_cols = 2,
                               .picture = &(heed_tile){pixels, 18, 11, 3, {0}}};
    heed_heatmaps_save(c, &over, 1, HEED_PNG, png);
    heed_heatmaps_save(c, &over, 1, HEED_SVG, png);
    bool ok = heed_ctx_status(c) == HEED_OK;
    heed_close(c);
    return ok;
}

static void check_pictures(void) {
    char png[600];
    path_of(png, sizeof png, "a.png");
    heed_ctx *c = heed_open(NULL);
    heed__png_save(c, png, pixels, 18, 11);
    heed_close(c);
    fail_each((alloc_job){"pictures read", pictures_read, png}, NULL, check);
    fail_each((alloc_job){"pictures drawn", pictures_drawn, png}, NULL, check);
}

/* A model and its settings, as an ONNX file; gpt with a cache. */
static bool exported(void *data) {
    const heed_model *model = ((const void **)data)[0];
    char path[600];
    path_of(path, sizeof path, "model.onnx");
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run r = {.c = c, .model = model, .store = heed_params_new(c)};
    r.config = heed_model_config(c, model, NULL);
    r.self = calloc(1, model->size);
    bool ok = r.self &&
              heed_config_set_list(r.config, ((const void **)data)[1], "alloc.c", HEED_FROM_FLAG) &&
              heed_model_init(model, r.self, r.store, r.config) &&
              heed_export_onnx(&r, path, model == &heed_model_gpt);
    free(r.self);
    heed_close(c);
    return ok;
}

static void check_onnx(void) {
    const void *jobs[][2] = {
        {&heed_model_gpt, "vocab=9 block=8 width=8 heads=2 layers=1 positions=rotary"},
        {&heed_model_rnn, "vocab=9 block=5 width=6 cell=lstm"},
        {&heed_model_rnn, "vocab=9 block=5 width=6 attention=dot"},
        {&heed_model_autoencoder,
         "kind=masked image-size=4 channels=1 patch=2 width=8 layers=1 heads=2"}};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        fail_each((alloc_job){"ONNX", exported, jobs[i]}, &known, check);
}

/* The JSON files of an exported model, one after the other. */
static size_t read_exported(heed_ctx *c, char *out, size_t size) {
    static const char *const names[] = {"config.json", "modules.json", "preprocessor_config.json",
                                        "1_Pooling/config.json"};
    size_t used = 0, n;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[100], path[700];
        snprintf(name, sizeof name, "published/%s", names[i]);
        path_of(path, sizeof path, name);
        char *text = heed_text_read(c, path, &n);
        if (text) used += (size_t)snprintf(out + used, size - used, "%s", text);
        free(text);
        heed_clear(c);
    }
    return used;
}

static bool imported(void *data) {
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *r = heed_import(c, data, heed_models);
    bool ok = r && heed_ctx_status(c) == HEED_OK;
    if (!r && heed_ctx_status(c) == HEED_OK) check(false, "an import that says nothing");
    heed_close(c);
    return ok;
}

/* An imported model, written again: it ends in an error of the context, or the files are the same.
 */
static bool published(void *data) {
    static char whole[8192], again[8192];
    heed_run *r = data;
    char path[600];
    path_of(path, sizeof path, "published");
    bool first = alloc_fail_at == 0, written = heed_export(r, path, true);
    bool ok = heed_ctx_status(r->c) == HEED_OK;
    heed_clear(r->c);
    if (ok != written) check(false, "an export that says nothing");
    if (!ok) return false;
    alloc_fail_at = 0;
    read_exported(r->c, first ? whole : again, sizeof whole);
    if (!first && strcmp(whole, again) != 0) check(false, "an export without some keys");
    return true;
}

static void check_published(void) {
    char texts[] = "tests/golden/exchange/bert-encoder", pixels[] = "tests/golden/exchange/vit";
    fail_each((alloc_job){"texts imported", imported, texts}, &known, check);
    fail_each((alloc_job){"pictures imported", imported, pixels}, &known, check);
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *vectors = heed_import(c, texts, heed_models);
    heed_run *pictures = heed_import(c, pixels, heed_models);
    if (vectors) heed_config_set(vectors->config, "unit", "true", "alloc.c", HEED_FROM_FLAG);
    check(vectors && pictures, "models to export");
    fail_each((alloc_job){"vectors exported", published, vectors}, &known, check);
    fail_each((alloc_job){"pictures exported", published, pictures}, &known, check);
    heed_close(c);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    snprintf(dir, sizeof dir, "%s", argv[1]);
    check_images(dir, check);
    check_pairs(dir, check);
    check_captions(dir, check);
    for (const heed_optimizer *const *r = heed_optimizer_table(); *r; r++)
        steady(&heed_model_mlm, *r, NULL);
    const heed_model *models[] = {&heed_model_mlm,        &heed_model_gpt,     &heed_model_vit,
                                  &heed_model_cnn,        &heed_model_mlp,     &heed_model_rnn,
                                  &heed_model_seq2seq,    &heed_model_textcls, &heed_model_tag,
                                  &heed_model_autoencoder};
    for (size_t i = 1; i < sizeof models / sizeof *models; i++)
        steady(models[i], &heed_adamw, NULL);
    steady(&heed_model_gpt, &heed_adamw,
           "norm-kind=rms positions=rotary ff-kind=swiglu kv-heads=1 bias=false");
    steady(&heed_model_caption, &heed_adamw, NULL);
    steady_fit(&heed_model_caption);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) steady_fit(models[i]);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        fail_each((alloc_job){models[i]->name, whole_way, &models[i]}, &known, check);
    check_start();
    check_pictures();
    check_onnx();
    check_published();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
