/* kind_captions.c -- captions and pictures as data: a tokenizer, trained or opened, and settings
 * completed by what is found. */
#include "core/os.h"
#include "data/image/settings.h"
#include "data/kind.h"
#include "data/pair/pairs.h"

#include <heed/captions.h>

static const heed_option options[] = {
    {"tokenizer", HEED_TEXT, "word", 0, 0, NULL,
     "char, byte, word, wordpiece or bpe, trained on the captions; or the path of a run, "
     "a " HEED__TOKENIZER_FILES,
     "Captions"},
    {"lower", HEED_BOOL, "false", 0, 0, NULL, "word and wordpiece: lower-case the captions",
     "Captions"},
    HEED__COLUMNS("IMAGE,CAPTION", "Captions"),
    {"val", HEED_TEXT, "", 0, 0, NULL, "a separate file for validation", "Captions"},
    HEED__VAL_COLUMNS("Captions"),
    {"val-split", HEED_REAL, "0.1", 0, 0.9, NULL,
     "share of the captions kept for validation, with all others of their pictures", "Captions"},
    HEED__PICTURE_OPTIONS,
    {"flip", HEED_REAL, "0", 0, 1, NULL,
     "probability of left and right exchanged; refused where captions name a side, as left or "
     "right",
     HEED__AUGMENTATION},
    HEED__SHIFT_AND_COLOUR_OPTIONS,
    {0}};

static bool find_tokenizer(heed_data *d, const heed_config *f, const heed_pairs *pairs,
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
static heed_pairs *open_pairs(heed_ctx *c, const char *data, const heed_pairs_args *a) {
    heed_text path = {.c = c};
    heed_pairs *pairs = NULL;
    if (heed_text_add(&path, heed__os_is_dir(data) ? "%s/metadata.jsonl" : "%s", data))
        pairs = heed_pairs_open(c, path.s, a);
    heed_text_free(&path);
    return pairs;
}

static heed_pairs *open_lines(heed_data *d, const heed_config *f, const heed_data_args *a) {
    const char *val = heed_config_text(f, "val");
    double split = heed_config_real(f, "val-split");
    heed_pairs_args args = {.kind = HEED_CAPTIONS,
                            .val_split = d->all ? 0 : split,
                            .val_path = *val && !d->all ? val : NULL,
                            .block = (int)heed_config_int(f, "block"),
                            .columns = heed_config_text(f, "columns"),
                            .val_columns = heed_config_text(f, "val-columns"),
                            .header = heed_config_text(f, "header")};
    d->no_val = split <= 0 && !*val;
    d->part = d->no_val ? HEED_TRAIN_PART : HEED_VAL_PART;
    heed_pairs *pairs = open_pairs(d->c, heed_config_text(f, "data"), &args);
    if (pairs && find_tokenizer(d, f, pairs, a) && heed_pairs_encode(pairs, NULL, d->tokenizer))
        return pairs;
    heed_pairs_close(pairs);
    return NULL;
}

static bool open_data(heed_data *d, heed_config *f, const heed_data_args *a) {
    heed_images_args pictures;
    if ((!a->eval && !heed__texts_last(d->c, f)) || !heed__pictures_args(d->c, f, a, &pictures))
        return false;
    pictures.augment = heed_augment_of(f);
    heed_pairs *pairs = open_lines(d, f, a);
    heed_captions *k = d->batches = pairs ? heed_captions_open(d->c, pairs, &pictures) : NULL;
    if (!k) return false;
    d->checksum = heed_captions_about(k)->checksum;
    heed__pictures_found(d, heed_images_about(heed_captions_images(k)));
    return heed__pictures_complete(f, heed_captions_images(k));
}

static void close_data(heed_data *d) { heed_captions_close(d->batches); }

static bool batch(const heed_data *d, heed_batch_at at, heed_batch *out) {
    return heed_caption_batch(d->batches, at, out);
}
static uint64_t eval_batches(const heed_data *d, int rows) {
    return heed_captions_eval_batches(d->batches, rows);
}
static uint64_t epoch_batches(const heed_data *d, int rows) {
    return heed_captions_epoch_batches(d->batches, rows);
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
    .tables = true,
    .pictures = true,
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
};
