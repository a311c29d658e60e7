/* models.c -- what the program derives from a model: the kind of its data, the main command for its
 * runs, examples, and the settings of its training runs. */
#include "cli/program.h"

#include <string.h>

static const heed_option snapshot_options[] = {
    {"preset", HEED_TEXT, "none", 0, 0, NULL,
     "a set of settings, each of which can be overridden; `help train TASK` lists the sets", "Run"},
    {"snapshots", HEED_INT, "0", 0, 1000, NULL,
     "keep attention on fixed inputs at this many steps, from the first to the last", "Snapshots"},
    {"snapshot-items", HEED_INT, "1", 1, 8, NULL,
     "how many inputs: the first ones of the validation part", "Snapshots"},
    {"snapshot-tokens", HEED_INT, "24", 1, 1 << 20, NULL,
     "at most so many tokens of a text of the validation part", "Snapshots"},
    {"snapshot-input", HEED_TEXT, "", 0, 0, NULL,
     "an input instead of those: a text; the file of a picture; or two parts with a tab between "
     "them, source and target, or file and caption",
     "Snapshots"},
    {0}};

const heed_model *find_model(const heed_model *const *models, const char *name) {
    for (; models && *models; models++)
        if (strcmp((*models)->name, name) == 0) return *models;
    return NULL;
}

const heed_data_kind *data_of(const heed_model *m) { return heed_data_kind_of(heed_model_spec(m)); }

/* ---- properties ---- */

bool reads_pictures(const heed_model *m) { return m->kind == HEED_INPUT_PICTURE; }
bool sees_pictures(const heed_model *m) { return reads_pictures(m) || writes_captions(m); }
bool reads_patches(const heed_model *m) { return reads_pictures(m) && m->grid; }
bool reads_tables(const heed_model *m) {
    return sees_pictures(m) || m->kind == HEED_INPUT_PAIR || m->kind == HEED_INPUT_LABELLED;
}

bool sees_patches(const heed_model *m) { return sees_pictures(m) && m->grid; }
bool sees_texts(const heed_model *m) { return !sees_pictures(m); }
bool reads_pairs(const heed_model *m) { return m->kind == HEED_INPUT_PAIR; }
bool makes_pictures(const heed_model *m) { return m->answers == HEED_ANSWER_PICTURE; }
bool names_pictures(const heed_model *m) { return reads_pictures(m) && !makes_pictures(m); }
bool has_code(const heed_model *m) { return reads_pictures(m) && m->code; }
bool writes_captions(const heed_model *m) { return m->kind == HEED_INPUT_CAPTION; }
bool writes_targets(const heed_model *m) { return reads_pairs(m) || writes_captions(m); }
bool names_classes(const heed_model *m) {
    return (reads_pictures(m) && !makes_pictures(m)) || m->kind == HEED_INPUT_LABELLED;
}
bool names_class(const heed_model *m) {
    return names_classes(m) && m->answers == HEED_ANSWER_INPUT;
}

const char *use_of(const heed_model *m) {
    if (names_classes(m)) return "classify";
    if (makes_pictures(m)) return "reconstruct";
    if (m->kind == HEED_INPUT_TOKENS && m->answers == HEED_ANSWER_MASKED) return "fill";
    if (!m->steps) return "eval";
    return reads_pairs(m) ? "translate" : writes_captions(m) ? "caption" : "generate";
}

const char *example_data(const heed_model *m) {
    static const char *const data[] = {
        [HEED_INPUT_TOKENS] = "book.txt",      [HEED_INPUT_PICTURE] = "flowers",
        [HEED_INPUT_PAIR] = "dates.tsv",       [HEED_INPUT_LABELLED] = "reviews.tsv",
        [HEED_INPUT_CAPTION] = "captions.tsv", [HEED_INPUT_DENSE] = ""};
    bool words = m->kind == HEED_INPUT_LABELLED && m->answers == HEED_ANSWER_SAME;
    return words ? "words.tsv" : data[m->kind];
}

const char *example_flags(const heed_model *m, char text[96]) {
    const char *length =
        m->kind == HEED_INPUT_TOKENS || m->kind == HEED_INPUT_DENSE ? "--steps 300" : "--minutes 2";
    snprintf(text, 96, "-o runs/%s %s", m->name, length);
    return text;
}

/* ---- settings ---- */

void model_tables(const heed_model *m, const heed_option *tables[TABLES]) {
    int n = 0;
    tables[n++] = heed_train_options;
    tables[n++] = snapshot_options;
    tables[n++] = data_of(m)->options;
    if (m->options) tables[n++] = m->options;
    tables[n++] = heed_fit_options;
    tables[n] = NULL;
}

heed_config *training_config(heed_ctx *c, const heed_model *m) {
    const heed_option *tables[] = {heed_train_options, snapshot_options, data_of(m)->options, NULL};
    return heed_model_config(c, m, tables);
}

bool apply_preset(heed_ctx *c, const heed_model *m, heed_config *f) {
    const char *name = heed_config_text(f, "preset");
    return strcmp(name, "none") == 0 || heed_preset_apply(c, f, m, name);
}
