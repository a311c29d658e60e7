/* models.c -- what the program derives from a model: the kind of its data, the main command for its
 * runs, examples, and the settings of its training runs. */
#include "cli/program.h"

#include <string.h>

static const heed_option snapshot_options[] = {
    {"preset", HEED_OPTION_STRING, "none", 0, 0, NULL,
     "a set of settings, each of which can be overridden; `help train TASK` lists the sets", "Run"},
    {"snapshots", HEED_OPTION_INT, "0", 0, 1000, NULL,
     "keep attention on fixed inputs at this many steps, from the first to the last", "Snapshots"},
    {"snapshot-items", HEED_OPTION_INT, "1", 1, 8, NULL,
     "how many inputs: the first ones of the validation part", "Snapshots"},
    {"snapshot-tokens", HEED_OPTION_INT, "24", 1, 1 << 20, NULL,
     "at most so many tokens of a text of the validation part", "Snapshots"},
    {"snapshot-input", HEED_OPTION_STRING, "", 0, 0, NULL,
     "an input instead of those: a text; the file of a picture; or two parts with a tab between "
     "them, source and target, or file and caption",
     "Snapshots"},
    {0}};

const heed_model *find_model(const heed_model *const *models, const char *name) {
    for (; models && *models; models++)
        if (strcmp((*models)->name, name) == 0) return *models;
    return NULL;
}

const heed_data_kind *data_of(const heed_model *m) { return heed_model_data(m); }

/* ---- properties ---- */

bool reads_text(const heed_model *m) { return data_of(m)->open && !data_of(m)->files; }
bool sees_pictures(const heed_model *m) { return data_of(m)->images; }
bool reads_pictures(const heed_model *m) { return sees_pictures(m) && !writes_targets(m); }
bool reads_patches(const heed_model *m) { return reads_pictures(m) && m->grid; }
bool reads_tables(const heed_model *m) { return heed_option_find(data_of(m)->options, "columns"); }
bool has_tokenizer(const heed_model *m) {
    return heed_option_find(data_of(m)->options, "tokenizer");
}

bool sees_patches(const heed_model *m) { return sees_pictures(m) && m->grid; }
bool sees_texts(const heed_model *m) { return !sees_pictures(m); }
bool reads_pairs(const heed_model *m) { return writes_targets(m) && !sees_pictures(m); }
bool makes_pictures(const heed_model *m) { return sees_pictures(m) && !data_of(m)->ask; }
bool names_pictures(const heed_model *m) { return sees_pictures(m) && names_classes(m); }
bool has_code(const heed_model *m) { return reads_pictures(m) && m->code; }
bool writes_captions(const heed_model *m) { return writes_targets(m) && sees_pictures(m); }
bool writes_targets(const heed_model *m) { return data_of(m)->target; }
bool names_classes(const heed_model *m) { return data_of(m)->label; }
bool names_words(const heed_model *m) {
    return names_classes(m) && strcmp(data_of(m)->label, "word") == 0;
}
bool names_class(const heed_model *m) { return names_classes(m) && !names_words(m); }
bool names_texts(const heed_model *m) { return names_class(m) && sees_texts(m); }
bool fills_masks(const heed_model *m) { return data_of(m)->mask; }
bool reads_data(const heed_model *m) { return data_of(m)->open; }

/* Words that are made need a model that makes output step by step. */
const char *use_of(const heed_model *m) {
    const heed_data_kind *kind = data_of(m);
    bool made = kind->target || kind->ahead;
    return kind->use && (!made || m->steps) ? kind->use : "eval";
}

const char *example_data(const heed_model *m) {
    return data_of(m)->example ? data_of(m)->example : "";
}

const char *example_flags(const heed_model *m, char text[96]) {
    const char *length = reads_text(m) || !reads_data(m) ? "--steps 300" : "--minutes 2";
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
