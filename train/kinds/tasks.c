/* tasks.c -- the tasks, and the settings that they share. */
#include "kinds/training.h"

#include <string.h>

static const heed_option run_options[] = {
    {"preset", HEED_TEXT, "none", 0, 0, NULL,
     "a set of settings, each of which may still be given; heed help train TASK lists them", "Run"},
    {"snapshots", HEED_INT, "0", 0, 1000, NULL,
     "keep attention on fixed inputs at this many steps, from the first to the last", "Snapshots"},
    {"snapshot-items", HEED_INT, "1", 1, 8, NULL, "the first validation items, so many",
     "Snapshots"},
    {"snapshot-input", HEED_TEXT, "", 0, 0, NULL,
     "another input: a text, a picture's file, or a source and target with a tab between them",
     "Snapshots"},
    {0}};

static const task task_mlm = {
    .name = "mlm",
    .use = "fill",
    .model = &heed_model_mlm,
    .kind = &text_kind,
    .data = "book.txt",
    .example = "-o runs/blanks --preset tiny --tokenizer word",
};
static const task task_gpt = {
    .name = "gpt",
    .use = "generate",
    .model = &heed_model_gpt,
    .kind = &text_kind,
    .data = "book.txt",
    .example = "-o runs/book --steps 300",
};

static const task task_vit = {
    .name = "vit",
    .use = "classify",
    .model = &heed_model_vit,
    .kind = &picture_kind,
    .data = "flowers",
    .example = "-o runs/flowers --image-size 64 --minutes 2",
};
static const task task_cnn = {
    .name = "cnn",
    .use = "classify",
    .model = &heed_model_cnn,
    .kind = &picture_kind,
    .data = "flowers",
    .example = "-o runs/cnn --image-size 64 --minutes 2",
};
static const task task_mlp = {
    .name = "mlp",
    .use = "classify",
    .model = &heed_model_mlp,
    .kind = &picture_kind,
    .data = "digits",
    .example = "-o runs/mlp --minutes 1",
};

static const task task_seq2seq = {
    .name = "seq2seq",
    .use = "translate",
    .model = &heed_model_seq2seq,
    .kind = &translation_kind,
    .data = "french.tsv",
    .example = "-o runs/french --tokenizer word --no-share-vocab",
};
static const task task_rnn = {
    .name = "rnn",
    .use = "translate",
    .model = &heed_model_rnn,
    .kind = &translation_kind,
    .data = "dates.tsv",
    .example = "-o runs/dates --minutes 2",
};

static const task task_textcls = {
    .name = "textcls",
    .use = "classify",
    .model = &heed_model_textcls,
    .kind = &label_kind,
    .data = "reviews.tsv",
    .example = "-o runs/reviews --encoder attention --minutes 2",
};
static const task task_tag = {
    .name = "tag",
    .use = "classify",
    .model = &heed_model_tag,
    .kind = &label_kind,
    .data = "words.tsv",
    .example = "-o runs/tags --encoder attention --minutes 2",
};

const task *const tasks[] = {&task_mlm,     &task_gpt, &task_vit,     &task_cnn, &task_mlp,
                             &task_seq2seq, &task_rnn, &task_textcls, &task_tag, NULL};

const task *find_task(const char *name) {
    for (int i = 0; tasks[i]; i++)
        if (strcmp(tasks[i]->name, name) == 0) return tasks[i];
    return NULL;
}

const heed_data_kind *task_data(const task *k) {
    return heed_data_kind_of(heed_model_spec(k->model));
}

void task_tables(const task *k, const heed_option *tables[TABLES]) {
    int n = 0;
    tables[n++] = heed_train_options;
    tables[n++] = run_options;
    tables[n++] = task_data(k)->options;
    tables[n++] = k->model->options;
    tables[n++] = heed_fit_options;
    tables[n] = NULL;
}

bool apply_preset(heed_ctx *c, const task *k, heed_config *f) {
    const char *name = heed_config_text(f, "preset");
    return strcmp(name, "none") == 0 || heed_preset_apply(c, f, k->model, name);
}
