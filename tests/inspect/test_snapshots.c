/* test_snapshots.c -- attention kept while a model learns, by the library alone. */
#include "files.h"
#include <heed/inspect.h>
#include <heed/models.h>

static void report(void *user, const heed_report *r) { heed_snapshots_report(user, r); }

static heed_config *settings_of(heed_ctx *c, const heed_model *m, const char *data,
                                const char *list) {
    heed_config *f = heed_train_config(c, m);
    heed_config_set(f, "data", data, "test", HEED_FROM_FLAG);
    heed_config_set_list(f, "layers=1 heads=2 width=8 batch=4 steps=4", "test", HEED_FROM_FLAG);
    heed_config_set_list(f, list, "test", HEED_FROM_FLAG);
    return f;
}

typedef struct {
    heed_ctx *c;
    int files, axis; /* axis: how many tokens the input has */
    int64_t steps[8];
} seen;

static bool look(void *user, const char *path, int64_t step) {
    seen *s = user;
    heed_record *r = heed_record_read(s->c, path);
    CHECK(r && r->step == step && r->block_count >= 1 && r->blocks[0].heads == 2);
    if (r) s->axis = r->axes[0].count;
    heed_record_free(r);
    if (s->files < 8) s->steps[s->files] = step;
    s->files++;
    return true;
}

static void train(const heed_model *m, const char *data, const char *list,
                  const heed_snapshots_args *args, seen *out) {
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .threads = 1});
    heed_config *f = settings_of(c, m, data, list);
    heed_data *d = heed_data_open(c, f, heed_model_data(m), NULL);
    heed_snapshots *s = d ? heed_snapshots_open(m, d, f, args) : NULL;
    CHECK(s != NULL);
    if (s) {
        heed_train_args how = {
            .model = m, .opened = d, .config = f, .run = args->run, .report = report, .user = s};
        heed_train(c, &how);
    }
    heed_snapshots_close(s);
    *out = (seen){.c = c};
    CHECK(heed_snapshots_list(c, args->run, 0, look, out));
    heed_data_close(d);
    out->c = NULL;
    CLOSE(c);
}

static const char text[] = "the cat sat .\nthe dog ran .\na bird flew .\nthe fish swam .\n"
                           "a cat ran .\nthe bird sat .\na dog swam .\nthe cow stood .\n";

TEST(snapshots_are_records_at_even_steps) {
    seen s;
    heed_snapshots_args a = {.run = in_folder("run"), .count = 3, .input = "the dog sat"};
    train(&heed_model_gpt, text_file("lines.txt", text), "tokenizer=word block=8", &a, &s);
    CHECK(s.files == 3 && s.steps[0] == 0 && s.steps[1] == 2 && s.steps[2] == 4 && s.axis == 3);
}

TEST(snapshots_of_pairs_read_the_first_validation_pairs) {
    seen s;
    heed_snapshots_args a = {.run = in_folder("run"), .count = 1, .items = 2};
    const char *path = text_file("pairs.tsv", "red house\tmaison rouge\nblue car\tvoiture bleue\n"
                                              "red car\tvoiture rouge\nblue house\tmaison bleue\n");
    train(&heed_model_seq2seq, path, "tokenizer=word block=8 val-split=0.5", &a, &s);
    CHECK(s.files == 2 && s.steps[0] == 4 && s.steps[1] == 4 && s.axis == 3);
}

TEST_IN(snapshots_say_what_they_cannot_read, heed_open(&(heed_options){.seed = 1, .threads = 1})) {
    const heed_model *m = &heed_model_seq2seq;
    heed_config *f = settings_of(c, m, text_file("pairs.tsv", "a b\tc\nb a\td\na a\tc\nb b\td\n"),
                                 "tokenizer=word block=8 val-split=0");
    heed_data *d = heed_data_open(c, f, heed_model_data(m), NULL);
    heed_snapshots_args a = {.run = in_folder("run"), .count = 2, .input = "no tab"};
    CHECK_FAILS(c, heed_snapshots_open(m, d, f, &a), HEED_USAGE, "`snapshot-input`");
    a.count = 0;
    CHECK_FAILS(c, heed_snapshots_open(m, d, f, &a), HEED_USAGE, "`snapshots` 0");
    CHECK(!heed_snapshots_open(m, NULL, f, &a) && !heed_snapshots_open(NULL, d, f, &a));
    heed_snapshots_close(NULL);
    heed_snapshots_report(NULL, NULL);
    CHECK(heed_snapshots_list(c, in_folder("nothing"), 0, look, NULL)); /* none is no error */
    heed_data_close(d);
}
