/* kind_captions.c -- captions and pictures as data: a tokenizer, trained or opened, and settings
 * completed by what is found. */
#include "core/os.h"
#include "data/image/settings.h"
#include "data/kind.h"
#include "data/pair/pairs.h"

#include "data/sets.h"
#include <stdio.h>

static const heed_option options[] = {
    {"tokenizer", HEED_OPTION_STRING, "word", 0, 0, NULL,
     "char, byte, word, wordpiece or bpe, trained on the captions; or the path of a run, "
     "a " HEED__TOKENIZER_FILES,
     "Captions"},
    {"lower", HEED_OPTION_BOOL, "false", 0, 0, NULL, "word and wordpiece: lower-case the captions",
     "Captions"},
    HEED__COLUMNS("IMAGE,CAPTION, with SPLIT for a column of train, val and test", "Captions"),
    {"val", HEED_OPTION_STRING, "", 0, 0, NULL, "a separate file for validation", "Captions"},
    HEED__VAL_COLUMNS("Captions"),
    {"val-split", HEED_OPTION_REAL, "0.1", 0, 0.9, NULL,
     "share of the captions kept for validation, with all others of their pictures", "Captions"},
    HEED__PICTURE_OPTIONS,
    {"flip", HEED_OPTION_REAL, "0", 0, 1, NULL,
     "probability of left and right exchanged; refused where captions name a side, as left or "
     "right",
     HEED__AUGMENTATION},
    HEED__SHIFT_AND_COLOUR_OPTIONS,
    {0}};

static bool find_tokenizer(heed_data *d, const heed_config *f, const heed__pairs *pairs,
                           const heed_data_args *a) {
    const char *name = heed_config_text(f, "tokenizer");
    if (d->tokenizer) return true;
    d->tokenizer = a->run ? heed__tokenizer_in(d->c, a->run, "")
                   : heed__kind_find(name) >= 0
                       ? heed__pairs_train_tokenizer(d->c, f, pairs, 1, name)
                       : heed__tokenizer_at(d->c, "tokenizer", name);
    bool extend = a->extend && !a->run;
    return d->tokenizer && (!extend || heed__pairs_extend_tokenizer(f, pairs, 1, &d->tokenizer));
}

/* Opens the lines of a file or of a folder with pictures, where they are in metadata.jsonl, as in
 * the image folders of Hugging Face's datasets. */
static heed__pairs *open_pairs(heed_ctx *c, const char *data, const heed__pairs_args *a) {
    heed_text path = {.c = c};
    heed__pairs *pairs = NULL;
    if (heed_text_add(&path, heed__os_is_dir(data) ? "%s/metadata.jsonl" : "%s", data))
        pairs = heed__pairs_open(c, path.s, a);
    heed_text_free(&path);
    return pairs;
}

static heed__pairs *open_lines(heed_data *d, const heed_config *f, const heed_data_args *a) {
    const char *val = heed_config_text(f, "val");
    double split = heed_config_real(f, "val-split");
    heed__pairs_args args = {.kind = HEED_TARGET_CAPTIONS,
                             .val_split = d->all ? 0 : split,
                             .val_path = *val && !d->all ? val : NULL,
                             .block = (int)heed_config_int(f, "block"),
                             .columns = heed_config_text(f, "columns"),
                             .test = a->eval,
                             .val_columns = heed_config_text(f, "val-columns"),
                             .header = heed_config_text(f, "header")};
    heed__pairs *pairs = open_pairs(d->c, heed_config_text(f, "data"), &args);
    if (!pairs) return NULL;
    const heed__pairs_info *about = heed__pairs_about(pairs);
    bool test = a->eval && about->test_rows;
    d->no_val = split <= 0 && !*val && !about->val_rows;
    d->part = test ? HEED_TEST_PART : d->no_val ? HEED_TRAIN_PART : HEED_VAL_PART;
    d->all = d->all && !test && !about->val_rows;
    if (find_tokenizer(d, f, pairs, a) && heed__pairs_encode(pairs, NULL, d->tokenizer))
        return pairs;
    heed__pairs_close(pairs);
    return NULL;
}

static bool open_data(heed_data *d, heed_config *f, const heed_data_args *a) {
    heed__images_args pictures;
    if ((!a->eval && !heed__texts_last(d->c, f)) || !heed__pictures_args(d->c, f, a, &pictures))
        return false;
    pictures.augment = heed_augment_of(f);
    heed__pairs *pairs = open_lines(d, f, a);
    heed__captions *k = d->batches = pairs ? heed__captions_open(d->c, pairs, &pictures) : NULL;
    if (!k) return false;
    d->checksum = heed__captions_about(k)->checksum;
    heed__pictures_found(d, heed_images_about(heed__captions_images(k)));
    return heed__pictures_complete(f, heed__captions_images(k));
}

static void close_data(heed_data *d) { heed__captions_close(d->batches); }

/* ---- what captions hold ---- */

static void describe_part(const char *label, size_t captions, size_t pictures, heed_facts *out) {
    char n1[32], n2[32];
    heed_fact_add(out, HEED_FACT, label, "%s caption%s of %s picture%s",
                  heed_format_count(n1, captions), captions == 1 ? "" : "s",
                  heed_format_count(n2, pictures), pictures == 1 ? "" : "s");
}

static void describe_tokens(const char *label, const char *of, size_t tokens, size_t unknown,
                            heed_facts *out) {
    char n1[32], n2[32];
    heed_fact_add(out, HEED_FACT, label, "%s%s, %s of them unknown (%.2f %%)", of,
                  heed_format_count(n1, tokens), heed_format_count(n2, unknown),
                  heed__percent(unknown, tokens));
}

static void add_samples(const heed_data *d, heed_facts *out) {
    enum { SHOWN = 3 };
    heed__captions *k = d->batches;
    heed__captioned found;
    size_t n;
    heed_fact_add(out, HEED_FACT_HEADING, "", "Samples of the training part:");
    for (size_t i = 0; i < SHOWN && i < heed__captions_about(k)->pictures; i++) {
        if (!heed__captions_get(k, false, i, &found, NULL)) return;
        heed_fact_add(out, HEED_FACT_ITEM, "", "%s", found.path);
        for (size_t j = 0; j < SHOWN && j < found.captions; j++) {
            const char *text = heed__captions_text(k, false, i, j, &n);
            heed_fact_add(out, HEED_FACT_ITEM, "   ", "%.*s", (int)n, text);
        }
    }
}

static bool describe(const heed_data *d, const heed_config *f, heed_facts *out) {
    const heed__captions_info *a = heed__captions_about(d->batches);
    const heed__pairs_info *t = heed__pairs_about(heed__captions_pairs(d->batches));
    const struct {
        const char *key;
        size_t value;
    } counts[] = {{"captions", a->captions},
                  {"pictures", a->pictures},
                  {"val_captions", d->no_val ? 0 : a->val_captions},
                  {"val_pictures", d->no_val ? 0 : a->val_pictures},
                  {"test_captions", t->test_rows},
                  {"fewest", a->fewest},
                  {"most", a->most},
                  {"blank", t->blank},
                  {"empty", t->empty},
                  {"left_out", t->left_out},
                  {"cut", t->cut.texts},
                  {"vocab", (size_t)heed_vocab_size(d->tokenizer)},
                  {"tokens", t->target_tokens},
                  {"unknown", t->target_unknown},
                  {"val_tokens", t->val_target_tokens},
                  {"val_unknown", t->val_target_unknown},
                  {"longest", (size_t)t->target_longest},
                  {"special_lines", t->special_lines}};
    char n[32];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        heed_json_int(&out->json, counts[i].key, (int64_t)counts[i].value);
    heed_json_bool(&out->json, "directions", *d->sided);
    heed_json_text(&out->json, "tokenizer", heed_tokenizer_kind(d->tokenizer));
    describe_part("training", a->captions, a->pictures, out);
    if (d->no_val)
        heed_fact_add(out, HEED_FACT, "validation", "none: `val-split = 0.1` makes one");
    else
        describe_part("validation", a->val_captions, a->val_pictures, out);
    if (!out->brief)
        heed_fact_add(out, HEED_FACT, "captions",
                      a->fewest == a->most ? "%zu for each picture" : "%zu to %zu for each picture",
                      a->fewest, a->most);
    heed_fact_add(out, HEED_FACT, "vocabulary", "%s, %s tokens", heed_tokenizer_kind(d->tokenizer),
                  heed_format_count(n, (uint64_t)heed_vocab_size(d->tokenizer)));
    if (t->target_unknown || !out->brief)
        describe_tokens("tokens", "", t->target_tokens, t->target_unknown, out);
    if (!out->brief) {
        heed_fact_add(out, HEED_FACT, "", "the longest caption has %d, [SEP] counted",
                      t->target_longest);
        if (t->val_target_tokens)
            describe_tokens("", "validation: ", t->val_target_tokens, t->val_target_unknown, out);
    }
    heed__describe_pictures(d, heed__captions_images(d->batches), f, out);
    heed__pairs_notes(d, heed__captions_pairs(d->batches), f, out);
    if (t->left_out)
        snprintf(out->suggestion, sizeof out->suggestion, "block %d", t->target_longest);
    if (!out->brief) add_samples(d, out);
    return true;
}

/* ---- the kind ---- */

static bool batch(const heed_data *d, heed_batch_at at, heed_batch *out) {
    return heed__caption_batch(d->batches, at, out);
}
static uint64_t eval_batches(const heed_data *d, int rows) {
    return heed__captions_eval_batches(d->batches, rows);
}
static uint64_t epoch_batches(const heed_data *d, int rows) {
    return heed__captions_epoch_batches(d->batches, rows);
}

static heed_images *images(const heed_data *d) { return heed__captions_images(d->batches); }

static size_t inputs(const heed_data *d, bool val) {
    const heed__captions_info *a = heed__captions_about(d->batches);
    return val ? a->val_pictures : a->pictures;
}

static bool input(const heed_data *d, bool val, size_t index, heed_item *out) {
    heed__captioned found;
    heed_item_free(out);
    bool ok =
        heed__captions_get(d->batches, val, index, &found, out->unseen ? NULL : &out->picture) &&
        heed_text_add(&out->source, "%s", found.path);
    for (; ok && out->count < found.captions; out->count++) {
        size_t n;
        const char *text = heed__captions_text(d->batches, val, index, out->count, &n);
        ok = heed_text_put(&out->targets, text, n) && heed_text_put(&out->targets, "", 1);
    }
    return ok;
}

static bool report(heed_scores *s, heed_facts *out) {
    return heed__report_targets(s, heed__captions_pairs(s->data->batches), out);
}

const heed_data_kind heed_pictures_captioned = {
    .noun = "a file of pictures' names and captions, TSV, CSV or JSONL, or a folder with "
            "metadata.jsonl",
    .reads = "pictures",
    .item = "tok",
    .items = "captions",
    .use = "caption",
    .example = "captions.tsv",
    .files = 1,
    .perplexity = true,
    .split = true,
    .options = options,
    .open = open_data,
    .close = close_data,
    .batch = batch,
    .eval_batches = eval_batches,
    .epoch_batches = epoch_batches,
    .target = heed_example_target,
    .ask = heed__ask_target,
    .describe = describe,
    .made = "pictures captioned",
    .images = images,
    .inputs = inputs,
    .input = input,
    .report = report,
};
