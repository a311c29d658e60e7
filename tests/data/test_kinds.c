#define _DEFAULT_SOURCE /* access */
/* test_kinds.c -- the kinds of data, opened by settings: what they find, one input of each, and
 * whole training runs by heed_train. */
#include "data/kind.h"
#include "images.h"

#include <heed/models.h>

#include <math.h>
#include <unistd.h>

static heed_ctx *open_kinds(void) { return heed_open(&(heed_options){.seed = 1, .threads = 1}); }

/* The settings of a training run of m on data, and these. */
static heed_config *settings_of(heed_ctx *c, const heed_model *m, const char *data,
                                const char *list) {
    heed_config *f = heed_train_config(c, m);
    heed_config_set(f, "data", data, "test", HEED_FROM_FLAG);
    heed_config_set_list(f, list, "test", HEED_FROM_FLAG);
    return f;
}

static heed_data *open_of(heed_ctx *c, const heed_model *m, const char *data, const char *list) {
    return heed_data_open(c, settings_of(c, m, data, list), heed_model_data(m), NULL);
}

static const char *write_lines(void) {
    return text_file("lines.txt", "the cat sat .\nthe dog ran .\na bird flew .\nthe fish swam .\n"
                                  "a cat ran .\nthe bird sat .\na dog swam .\nthe cow stood .\n");
}
static const char *write_pairs(void) {
    return text_file("pairs.tsv", "red house\tmaison rouge\nblue car\tvoiture bleue\n"
                                  "red car\tvoiture rouge\nblue house\tmaison bleue\n");
}
static const char *write_classes(void) {
    return text_file("classes.tsv", "good\tnice film\nbad\tpoor film\ngood\tnice book\n"
                                    "bad\tpoor book\n");
}
static const char *write_tags(void) {
    return text_file("tags.tsv", "the dog runs\tD N V\nthe cat sits\tD N V\na dog sits\tD N V\n");
}
static const char *write_pictures(void) {
    make_folder("pictures");
    put_class("pictures/cat", 6, 0);
    put_class("pictures/dog", 6, 60);
    return in_folder("pictures");
}

/* ---- opening ---- */

TEST(kinds_open_a_text_by_settings) {
    heed_ctx *c = open_kinds();
    const char *path = write_lines();
    heed_data *d = open_of(c, &heed_model_mlm, path, "tokenizer=word packing=lines block=8");
    CHECK(d && d->batches && d->tokenizer && !d->labels && !d->no_val && d->checksum);
    CHECK(d->part == HEED_VAL_PART && d->kind == &heed_texts_masked);
    CHECK(heed_tokenizer_specials(d->tokenizer).mask >= 0);
    heed_data_close(d);
    d = open_of(c, &heed_model_gpt, path, "tokenizer=char block=4 val-split=0");
    CHECK(d && d->no_val && d->part == HEED_TRAIN_PART);
    CHECK(heed_tokenizer_specials(d->tokenizer).mask < 0);
    heed_data_close(d);
    CHECK(!open_of(c, &heed_model_gpt, path, "tokenizer=wrod"));
    CHECK_HAS(heed_ctx_error(c), "`tokenizer = wrod`");
    CHECK_HAS(heed_ctx_error(c), "did you mean word?");
    heed_clear(c);
    CLOSE(c);
}

TEST(kinds_evaluate_other_text_whole) {
    heed_ctx *c = open_kinds();
    const char *list = "tokenizer=word packing=lines block=8";
    heed_config *f = settings_of(c, &heed_model_gpt, write_lines(), list);
    heed_data *own = heed_data_open(c, f, heed_model_data(&heed_model_gpt), NULL);
    heed_data_args how = {.tokenizer = own->tokenizer, .eval = true, .all = true};
    heed_data *d = heed_data_open(c, f, heed_model_data(&heed_model_gpt), &how);
    CHECK(d && d->all && d->tokenizer == own->tokenizer);
    CHECK(heed__corpus_about(d->batches).val_tokens + heed__corpus_about(d->batches).tokens ==
          heed__corpus_about(own->batches).val_tokens + heed__corpus_about(own->batches).tokens);
    heed_data_close(d); /* leaves the tokenizer open */
    CHECK(heed_vocab_size(own->tokenizer) > 10);
    heed_data_close(own);
    CLOSE(c);
}

TEST(kinds_complete_settings_by_the_pictures) {
    heed_ctx *c = open_kinds();
    heed_config *f = settings_of(c, &heed_model_mlp, write_pictures(), "val-split=0.25 workers=0");
    heed_data *d = heed_data_open(c, f, heed_model_data(&heed_model_mlp), NULL);
    CHECK(d && d->tree && d->label_count == 2 && !d->no_val);
    CHECK_TEXT(d->labels[1], "dog");
    CHECK(heed_config_int(f, "image-size") == SIDE && heed_config_int(f, "channels") == 1);
    CHECK(heed_config_int(f, "classes") == 2);
    CHECK_CLOSE(heed_config_real(f, "flip"), 0.5, 0); /* cats and dogs are no digits */
    const heed_images_info *a = heed_images_about(d->batches);
    heed_image_transform seen;
    CHECK(heed_image_transform_of(c, f, &seen));
    CHECK(seen.mean[0] == a->view.mean[0] && seen.deviation[0] == a->view.deviation[0]);
    heed_data_args how = {.labels = d->labels, .label_count = 2, .eval = true, .part = "test"};
    CHECK(!heed_data_open(c, f, d->kind, &how));
    CHECK_HAS(heed_ctx_error(c), "`part = test`: found 8, 4 and 0 pictures");
    heed_clear(c);
    how.part = "auto";
    heed_data *own = heed_data_open(c, f, d->kind, &how);
    CHECK(own && own->part == HEED_VAL_PART && !own->all);
    how.all = true;
    heed_data *other = heed_data_open(c, f, d->kind, &how);
    CHECK(other && other->part == HEED_TRAIN_PART && other->all);
    CHECK(heed__images_eval_batches(other->batches, 1) == 12);
    heed_data_close(other);
    heed_data_close(own);
    heed_data_close(d);
    CLOSE(c);
}

/* The setting flip that is chosen for the classes a and b. */
static double flip_of(heed_ctx *c, const char *folder) {
    heed_config *f = settings_of(c, &heed_model_mlp, in_folder(folder), "val-split=0 workers=0");
    heed_data_close(heed_data_open(c, f, heed_model_data(&heed_model_mlp), NULL));
    return heed_config_real(f, "flip");
}

TEST(kinds_flip_by_the_names_of_classes) {
    static const struct {
        const char *a, *b;
        bool flips;
    } cases[] = {{"left", "right", false},
                 {"turn_left", "turn_right", false},
                 {"TurnLeft", "straight", false},
                 {"digit_0", "digit_1", false},
                 {"A_upper", "B_upper", false},
                 {"あ", "い", false},
                 {"きゃ", "きゅ", false},
                 {"minus", "1", false},
                 {"links", "rechts", false},
                 {"gauche", "droite", false},
                 {"вправо", "прямо", false},
                 {"向左转", "向右转", false},
                 {"왼쪽으로", "앞으로", false},
                 {"e\xcc\x81", "o", false},
                 {"42", "17", false},
                 {"+", "?", false},
                 {"hand_L", "hand_R", false},
                 {"Arrow NE", "arrow nw", false},
                 {"facing-east", "facing-west", false},
                 {"port side", "starboard side", false},
                 {"upleft", "upright", false},
                 {"class_l", "class_m", true},
                 {"port_wine", "starboard_side", true},
                 {"cat", "dog", true},
                 {"кошка", "собака", true},
                 {"leftovers", "bright", true},
                 {"class_0", "class_1", true},
                 {"letter", "number", true},
                 {"猫科", "犬科", true},
                 {"vitamin_c", "copyright", true},
                 {"west_highland_terrier", "pug", true}};
    heed_ctx *c = open_kinds();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char set[16], a[96], b[96];
        snprintf(set, sizeof set, "set%d", (int)i);
        snprintf(a, sizeof a, "%s/%s", set, cases[i].a);
        snprintf(b, sizeof b, "%s/%s", set, cases[i].b);
        put_class(a, 2, 0);
        put_class(b, 2, 60);
        if ((flip_of(c, set) > 0) != cases[i].flips)
            test_fail(__FILE__, __LINE__, "%s and %s", cases[i].a, cases[i].b);
    }
    CLOSE(c);
}

/* 10 x 8 pixels: a bar on a side, as high as n says, on a ground as light as n says; or, where
 * `sided` is false, on both sides in turn. */
static void put_bars(const char *folder, int count, bool right, bool sided) {
    make_folder(folder);
    for (int n = 0; n < count; n++) {
        char name[64];
        unsigned char pixels[80];
        int from = (sided ? right : n % 2) ? 7 : 2, high = sided || !right ? 4 : 1;
        memset(pixels, n * 7 % 100, sizeof pixels);
        for (int y = 0; y < high; y++) pixels[(y + 1 + n % 3) * 10 + from] = 250;
        snprintf(name, sizeof name, "%s/%03d.png", folder, n);
        png_write(name, pixels, 10, 8, 1);
    }
}

/* Names that say nothing: the pictures decide, if there are enough of them. */
TEST(kinds_flip_by_the_pictures) {
    heed_ctx *c = open_kinds();
    put_bars("sides/alpha", 30, false, true);
    put_bars("sides/beta", 30, true, true);
    put_bars("shapes/alpha", 30, false, false);
    put_bars("shapes/beta", 30, true, false);
    put_bars("few/alpha", 6, false, true);
    put_bars("few/beta", 6, true, true);
    CHECK_CLOSE(flip_of(c, "sides"), 0, 0);
    CHECK_CLOSE(flip_of(c, "shapes"), 0.5, 0);
    CHECK_CLOSE(flip_of(c, "few"), 0.5, 0); /* 2^-6 is chance */
    heed_config *f = settings_of(c, &heed_model_mlp, in_folder("sides"), "val-split=0 flip=0.5");
    heed_data *d = heed_data_open(c, f, heed_model_data(&heed_model_mlp), NULL);
    CHECK_CLOSE(heed_config_real(f, "flip"), 0.5, 0);                       /* as given */
    CHECK_HAS(d->sided, "30 only mirrored, 0 only as they are: p = 9e-10"); /* 2^-30 */
    heed_data_close(d);
    CLOSE(c);
}

TEST(kinds_no_flip_of_digits) {
    heed_ctx *c = open_kinds();
    put_mnist(false, 40, 8);
    heed_config *f = settings_of(c, &heed_model_cnn, test_folder(), "workers=0");
    heed_data *d = heed_data_open(c, f, heed_model_data(&heed_model_cnn), NULL);
    CHECK(d && !d->tree && strstr(d->sided, "character"));
    CHECK_CLOSE(heed_config_real(f, "flip"), 0, 0);
    heed_data_close(d);
    CHECK(!open_of(c, &heed_model_cnn, test_folder(), "mean=1,2 std=1"));
    CHECK_HAS(heed_ctx_error(c), "`mean = 1,2`");
    heed_clear(c);
    CHECK(!open_of(c, &heed_model_cnn, test_folder(), "mean=0.5"));
    CHECK_HAS(heed_ctx_error(c), "`mean` and `std` go together");
    heed_clear(c);
    CLOSE(c);
}

TEST(kinds_open_pairs_and_labels) {
    heed_ctx *c = open_kinds();
    heed_data *d = open_of(c, &heed_model_seq2seq, write_pairs(), "tokenizer=word share-vocab=no");
    CHECK(d && d->tokenizer && d->source && d->tokenizer != d->source && !d->labels);
    CHECK(heed_token_id(d->source, "house") >= 0 && heed_token_id(d->tokenizer, "house") < 0);
    heed_data_close(d);
    d = open_of(c, &heed_model_rnn, write_pairs(), "tokenizer=word share-vocab=yes");
    CHECK(d && !d->source && heed_token_id(d->tokenizer, "house") >= 0);
    heed_data_close(d);
    d = open_of(c, &heed_model_textcls, write_classes(), "");
    CHECK(d && d->kind == &heed_texts_labelled && d->label_count == 2);
    CHECK_TEXT(d->labels[0], "bad");
    heed_data_close(d);
    d = open_of(c, &heed_model_tag, write_tags(), "");
    CHECK(d && d->kind == &heed_texts_tagged && d->label_count == 3);
    heed_data_close(d);
    CHECK(!open_of(c, &heed_model_textcls, text_file("one.tsv", "x\ta\nx\tb\nx\tc\n"), ""));
    CHECK_HAS(heed_ctx_error(c), "two different labels");
    heed_clear(c);
    d = heed_data_open(c, heed_train_config(c, &heed_model_gpt), &heed_own_numbers, NULL);
    CHECK(d && !d->batches && !d->tokenizer && d->part == HEED_VAL_PART); /* numbers of its own */
    heed_data_close(d);
    CLOSE(c);
}

/* ---- one input ---- */

typedef struct {
    heed_data *d;
    heed_reader how;
} reading;

static reading read_by(heed_ctx *c, const heed_model *m, const char *data, const char *list) {
    heed_config *f = settings_of(c, m, data, list);
    heed_data *d = heed_data_open(c, f, heed_model_data(m), NULL);
    CHECK(d != NULL);
    return (reading){d, {c, heed_model_data(m), f, d->tokenizer, d->source, .quiet = true}};
}

TEST(kinds_read_a_text) {
    heed_ctx *c = open_kinds();
    heed_example e = {0};
    reading r = read_by(c, &heed_model_mlm, write_lines(), "tokenizer=word packing=lines block=6");
    const heed_tokens *k = &e.text.tokens;
    CHECK(heed_example_text(&r.how, "the zebra sat", 13, &e) && k->count == 5);
    CHECK_TEXT(e.text.labels[0], "[CLS]");
    CHECK_TEXT(e.text.labels[2], "zebra"); /* of the input: the vocabulary lacks it */
    CHECK_TEXT(e.text.labels[4], "[SEP]");
    CHECK(e.text.special[0] && !e.text.special[2] && e.text.special[4]);
    CHECK(k->begin[2] == 4 && k->end[2] == 9 && k->begin[4] == k->end[4]);
    CHECK(!heed_example_text(&r.how, " ", 1, &e));
    CHECK_HAS(heed_ctx_error(c), "the input is empty");
    heed_clear(c);
    CHECK(heed_example_text(&r.how, "the cat sat .", 13, &e) && k->count == 6);
    CHECK(!heed_example_text(&r.how, "the cat sat . .", 15, &e));
    CHECK_HAS(heed_ctx_error(c), "too long: 7 tokens, the model accepts 6: the cat sat . ....");
    heed_clear(c);
    r.how.any_length = true;
    CHECK(heed_example_text(&r.how, "the cat sat . .", 15, &e) && k->count == 7);
    CHECK(heed_example_text(&r.how, "", 0, &e) && k->count == 2);
    heed_example_free(&e);
    CHECK(!heed_check_text(c, "a\xFFz", 3));
    CHECK_HAS(heed_ctx_error(c), "byte 0xFF at offset 1");
    heed_clear(c);
    heed_data_close(r.d);
    CLOSE(c);
}

TEST(kinds_read_a_pair) {
    heed_ctx *c = open_kinds();
    heed_example e = {0};
    reading r = read_by(c, &heed_model_seq2seq, write_pairs(),
                        "tokenizer=word share-vocab=no "
                        "block=4");
    CHECK(heed_example_text(&r.how, "  red car ", 10, &e) && e.text.tokens.count == 3);
    CHECK(e.text.tokens.begin[0] == 2 && e.text.tokens.end[1] == 9);
    CHECK_TEXT(e.text.labels[2], "[SEP]");
    CHECK(heed_example_target(&r.how, "voiture rouge", 13, &e) && e.target.tokens.count == 3);
    CHECK_TEXT(e.target.labels[1], "rouge");
    e.target.tokens.count = 1; /* as a model made it, without [SEP] */
    CHECK(heed_example_made(&r.how, false, &e) && e.target.tokens.count == 1);
    CHECK(heed_example_made(&r.how, true, &e) && e.target.tokens.count == 2);
    e.target.tokens.count = 0;
    CHECK(!heed_example_made(&r.how, false, &e));
    heed_clear(c);
    CHECK(!heed_example_text(&r.how, "red red red red", 15, &e));
    CHECK_HAS(heed_ctx_error(c), "5 tokens with [SEP], the model accepts 4");
    heed_clear(c);
    r.how.cut = true;
    CHECK(heed_example_text(&r.how, "red red red red", 15, &e) && e.text.tokens.count == 4);
    heed_example_free(&e);
    heed_data_close(r.d);
    CLOSE(c);
}

TEST(kinds_read_words_with_labels) {
    heed_ctx *c = open_kinds();
    heed_example e = {0};
    reading r = read_by(c, &heed_model_tag, write_tags(), "tokenizer=char block=32");
    CHECK(heed_example_text(&r.how, "the \tdog", 8, &e));
    CHECK(e.word_count == 2 && e.words[0] == 0 && e.words[1] == 3 && e.text.tokens.count == 7);
    CHECK(e.text.tokens.begin[3] == 5 && e.text.tokens.end[5] == 8);
    heed_example_free(&e);
    heed_data_close(r.d);
    CLOSE(c);
}

TEST(kinds_read_a_picture) {
    heed_ctx *c = open_kinds();
    char why[HEED_WHY];
    heed_example e = {0};
    heed_picture p = {0};
    const char *path = write_pictures();
    reading r = read_by(c, &heed_model_mlp, path, "workers=0 mean=0 std=1");
    CHECK(heed_picture_read(in_folder("pictures/dog/003.png"), &p, why) == HEED_OK);
    r.how.show = true;
    CHECK(heed_example_picture(&r.how, &p, "003.png", &e));
    CHECK(e.transform.size == SIDE && e.transform.channels == 1 && made_as(e.x) == 63);
    CHECK(e.shown.width == SIDE && e.shown.pixels && e.shown.pixels[0] == 63);
    CHECK(!heed_example_text(&r.how, "a text", 6, &e));
    CHECK_HAS(heed_ctx_error(c), "expected a picture");
    heed_clear(c);
    heed_picture_free(&p);
    put_png("colour.png", SIDE, SIDE, 3, 9);
    CHECK(heed_picture_read(in_folder("colour.png"), &p, why) == HEED_OK);
    CHECK(heed_example_picture(&r.how, &p, "colour.png", &e) && made_as(e.x) == 9);
    heed_picture_free(&p);
    heed_example_free(&e);
    heed_data_close(r.d);
    CLOSE(c);
}

/* ---- a training in one call ---- */

static void note_step(void *user, const heed_report *r) { *(int64_t *)user = r->step; }
TEST(train_says_what_is_missing) {
    heed_ctx *c = open_kinds();
    heed_train_args a = {0};
    CHECK_FAILS(c, heed_train(c, &a).step, HEED_USAGE,
                "training requires a model: `model` is NULL");
    a.model = &heed_model_gpt;
    CHECK_FAILS(c, heed_train(c, &a).step, HEED_USAGE, "`data` is NULL: expected a text file");
    a.resume = true;
    CHECK_FAILS(c, heed_train(c, &a).step, HEED_USAGE, "`run` is NULL");
    CLOSE(c);
}

static bool stop_at_three(void *user) { return *(int64_t *)user >= 3; }

/* Trains m on data in run; then it opens and knows its data's settings. */
static void train_on(const heed_model *m, const char *data, const char *list) {
    heed_ctx *c = open_kinds();
    heed_train_args a = {
        .model = m, .data = data, .run = in_folder("run"), .force = true, .settings = list};
    heed_fit_result result = heed_train(c, &a);
    CHECK(result.step == 4 && isfinite(result.loss));
    heed_run *r = heed_run_open(c, a.run, heed_models, NULL);
    CHECK(r && r->model == m && heed_config_real(r->config, "val-split") > 0.24);
    heed_run_close(r);
    CLOSE(c);
}

#define SMALL "steps=4 batch=2 width=8 val-split=0.25 "

TEST(kinds_train_each_in_one_call) {
    train_on(&heed_model_gpt, write_lines(), SMALL "layers=1 heads=2 block=4");
    train_on(&heed_model_mlm, write_lines(), SMALL "layers=1 heads=2 block=8 packing=lines");
    train_on(&heed_model_seq2seq, write_pairs(), SMALL "layers=1 heads=2 block=16");
    train_on(&heed_model_rnn, write_pairs(), SMALL "block=16");
    train_on(&heed_model_textcls, write_classes(), SMALL "layers=1 block=8");
    train_on(&heed_model_tag, write_tags(), SMALL "layers=1 block=8");
    train_on(&heed_model_mlp, write_pictures(), SMALL "layers=1");
}

/* Classes have the numbers that the run gave them, also if a new run would order them otherwise: a
 * run of an earlier version ordered 10 before 2. */
TEST(kinds_resume_keeps_the_numbers_of_classes) {
    static const char *const old[] = {"10", "2"};
    heed_ctx *c = open_kinds();
    const char *text = text_file("numbers.tsv", "2\ta b\n10\tc d\n2\te f\n10\tg h\n");
    heed_config *f = heed_train_config(c, &heed_model_textcls);
    CHECK(heed_config_set(f, "data", text, NULL, HEED_FROM_FLAG) &&
          heed_config_set(f, "task", "textcls", NULL, HEED_FROM_FLAG) &&
          heed_config_set_list(f, SMALL "layers=1 heads=2 block=8", "test", HEED_FROM_FLAG));
    heed_data *d = heed_data_open(c, f, heed_model_data(&heed_model_textcls),
                                  &(heed_data_args){.labels = old, .label_count = 2});
    heed_train_args a = {
        .model = &heed_model_textcls, .opened = d, .config = f, .run = in_folder("run")};
    CHECK(d && heed_train(c, &a).step == 4);
    heed_data_close(d);
    heed_config_free(f);
    heed_train_args more = {.model = &heed_model_textcls,
                            .run = in_folder("run"),
                            .resume = true,
                            .settings = "steps=6"};
    CHECK(heed_train(c, &more).step == 6);
    heed_run *r = heed_run_open(c, in_folder("run"), heed_models, NULL);
    CHECK(r && r->label_count == 2 && strcmp(r->labels[0], "10") == 0);
    heed_run_close(r);
    CLOSE(c);
}

/* Values may contain blanks; those given replace the preset's. */
TEST(kinds_train_takes_values_and_a_preset) {
    heed_ctx *c = open_kinds();
    const char *text = write_lines(),
               *values[] = {"val", in_folder("other lines.txt"), "width", "8", "batch", "2", NULL};
    heed_train_args a = {.model = &heed_model_gpt, .data = text, .run = in_folder("valued")};
    text_file("other lines.txt", "one two three four\nfive six seven eight\n");
    a.settings = "steps=2 layers=1";
    a.values = values;
    a.preset = "nano";
    CHECK(heed_train(c, &a).step == 2);
    heed_run *r = heed_run_open(c, a.run, heed_models, NULL);
    CHECK(r && strcmp(heed_config_text(r->config, "val"), values[1]) == 0);
    CHECK(heed_config_int(r->config, "width") == 8 && heed_config_int(r->config, "layers") == 1);
    CHECK(heed_config_int(r->config, "heads") == 4 && heed_config_int(r->config, "ff") == 256);
    heed_run_close(r);
    a.force = true;
    a.preset = "giant";
    CHECK_FAILS(c, heed_train(c, &a).step, HEED_USAGE, "preset is unknown");
    a.preset = NULL;
    values[2] = "widht";
    CHECK_FAILS(c, heed_train(c, &a).step, HEED_USAGE, "did you mean width");
    CLOSE(c);
}

static unsigned char *weights_of(const char *run, long *n) {
    char path[256];
    snprintf(path, sizeof path, "%s/model.safetensors", run);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) return NULL;
    *n = ftell(f);
    rewind(f);
    unsigned char *bytes = malloc((size_t)*n);
    if (bytes && fread(bytes, 1, (size_t)*n, f) != (size_t)*n) *n = 0;
    fclose(f);
    return bytes;
}

/* Data from memory is moved into the run, where resuming finds it; the caller may stop before. */
TEST(kinds_train_keeps_data_in_the_run) {
    heed_ctx *c = open_kinds();
    char run[256], kept[512];
    snprintf(run, sizeof run, "%s/keeping", test_folder());
    snprintf(kept, sizeof kept, "%s/heed-data.txt", run);
    const char *text = write_lines();
    heed_train_args a = {.model = &heed_model_gpt,
                         .data = kept,
                         .keep = text,
                         .run = run,
                         .settings = "steps=2 batch=2 width=8 layers=1 heads=2 block=4"};
    int64_t step = 9;
    a.stop = stop_at_three;
    a.user = &step;
    CHECK_FAILS(c, heed_train(c, &a).step, HEED_INTERRUPTED, "interrupted");
    CHECK(access(text, F_OK) == 0 && access(run, F_OK) != 0); /* while the text was read */
    a.stop = NULL;
    CHECK(heed_train(c, &a).step == 2 && access(text, F_OK) != 0 && access(kept, F_OK) == 0);
    heed_train_args more = {.model = a.model, .run = run, .resume = true, .settings = "steps=4"};
    CHECK(heed_train(c, &more).step == 4);
    CHECK(rename(run, in_folder("moved")) == 0); /* with its data */
    more.run = in_folder("moved");
    more.settings = "steps=6";
    CHECK(heed_train(c, &more).step == 6);
    a.keep = write_lines();
    a.force = true;
    CHECK(heed_train(c, &a).step == 2 && access(kept, F_OK) == 0);
    CLOSE(c);
}

/* Stopped and resumed, it ends with the same bits as in one go. */
TEST(kinds_train_resumes_to_the_same_bits) {
    heed_ctx *c = open_kinds();
    char runs[2][256];
    int64_t step = 0;
    for (int i = 0; i < 2; i++) snprintf(runs[i], sizeof runs[i], "%s/run%d", test_folder(), i);
    heed_train_args a = {.model = &heed_model_gpt,
                         .data = write_lines(),
                         .run = runs[0],
                         .settings = "steps=8 batch=2 width=8 layers=1 heads=2 block=4"};
    heed_train(c, &a);
    a.run = runs[1];
    a.stop = stop_at_three;
    a.report = note_step;
    a.user = &step;
    CHECK(heed_train(c, &a).step == 3 && heed_ctx_status(c) == HEED_INTERRUPTED);
    heed_clear(c);
    CHECK(
        heed_train(c, &(heed_train_args){.model = a.model, .run = runs[1], .resume = true}).step ==
        8);
    long n[2] = {0};
    unsigned char *w[2] = {weights_of(runs[0], &n[0]), weights_of(runs[1], &n[1])};
    CHECK(w[0] && w[1] && n[0] > 0 && n[0] == n[1] && memcmp(w[0], w[1], (size_t)n[0]) == 0);
    free(w[0]);
    free(w[1]);
    CLOSE(c);
}

TEST(kinds_train_refuses_what_is_wrong) {
    heed_ctx *c = open_kinds();
    heed_train_args a = {.model = &heed_model_gpt, .data = write_lines(), .settings = "stepz=4"};
    heed_train(c, &a);
    CHECK_HAS(heed_ctx_error(c), "did you mean steps?");
    heed_clear(c);
    a.settings = "steps";
    heed_train(c, &a);
    CHECK(heed_ctx_status(c) == HEED_USAGE);
    heed_clear(c);
    a.settings = "steps=4";
    a.data = NULL;
    heed_train(c, &a);
    CHECK(heed_ctx_status(c) == HEED_USAGE);
    heed_clear(c);
    write_pictures();
    a = (heed_train_args){
        .model = &heed_model_mlp, .data = in_folder("pictures"), .run = in_folder("pictures/run")};
    heed_train(c, &a);
    CHECK_HAS(heed_ctx_error(c), "whose folders are classes");
    heed_clear(c);
    CLOSE(c);
}

TEST(confusion_counts_predictions) {
    heed_ctx *c = heed_open(NULL);
    const heed_real rows[][3] = {{2, 1, 0}, {0, 1, 1}, {0, 0, 3}, {5, 0, 0}};
    const int labels[] = {0, 2, 2, 1};
    heed_prediction list[4];
    for (int i = 0; i < 4; i++) list[i] = heed_prediction_of(rows[i], 3, labels[i]);
    CHECK(list[0].predicted == 0 && list[0].rank == 0);
    CHECK(list[1].predicted == 1 && list[1].rank == 1); /* a tie: the lowest index */
    CHECK(list[3].predicted == 0 && list[3].rank == 2);
    double sum = exp(2.0) + exp(1.0) + 1;
    CHECK_CLOSE(list[0].p, exp(2.0) / sum, 1e-12);
    CHECK_CLOSE(list[3].loss, log(exp(5.0) + 2), 1e-12);
    size_t *table = heed__confusion(c, list, 4, 3);
    const size_t expected[] = {1, 0, 0, 1, 0, 0, 0, 1, 1};
    CHECK(table && memcmp(table, expected, sizeof expected) == 0);
    heed__class_score s = heed__confusion_class(table, 3, 0),
                      two = heed__confusion_class(table, 3, 2);
    CHECK(s.count == 1 && s.predicted == 2 && s.correct == 1);
    CHECK_CLOSE(s.precision, 0.5, 0);
    CHECK_CLOSE(two.recall, 0.5, 0);
    free(table);
    heed_prediction none[] = {{.label = 0, .predicted = 0}};
    table = heed__confusion(c, list, 4, 2); /* those of the third class are left out */
    CHECK(table && table[0] == 1 && table[1] == 0 && table[2] == 1 && table[3] == 0);
    free(table);
    for (int label = 0; label < 2; label++) /* of equal ones each is behind the other */
        CHECK(heed_prediction_of((heed_real[]){1, 1, 0}, 3, label).rank == 1);
    CHECK(heed_prediction_of(rows[0], 3, 3).label == 3 && heed_prediction_of(NULL, 3, 1).p == 0);
    table = heed__confusion(c, none, 1, 2);
    CHECK(isnan(heed__confusion_class(table, 2, 1).recall));
    free(table);
    CLOSE(c);
}
