/* kind_pictures.c -- pictures as data: from settings to heed_images, and back. */
#include "core/core.h"
#include "data/image/mirror.h"
#include "data/image/settings.h"
#include "data/kind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const heed_option options[] = {
    {"val-split", HEED_REAL, "0.1", 0, 0.9, NULL,
     "share of the training part kept for validation, where the data has no such part",
     HEED__PICTURES},
    {"balance", HEED_BOOL, "false", 0, 0, NULL,
     "of classifiers: weigh classes in the training loss by the inverse of their frequency",
     HEED__PICTURES},
    HEED__COLUMNS("IMAGE,LABEL, with SPLIT for a column of train, val and test", HEED__PICTURES),
    HEED__PICTURE_OPTIONS,
    {"flip", HEED_REAL, "-1", -1, 1, NULL,
     "probability of left and right exchanged; -1: 0.5, but 0 where classes are characters or name "
     "a "
     "side, where mirrored pictures look like those of another class, or where there are no "
     "classes",
     HEED__AUGMENTATION},
    HEED__SHIFT_AND_COLOUR_OPTIONS,
    {0}};

/* ---- settings in ---- */

static bool wrong_list(heed_ctx *c, const char *key, const char *value) {
    return heed_fail(c, HEED_USAGE,
                     "`%s = %s`: expected a number, or three with commas; hint: `%s = 0.5` or `%s "
                     "= 0.49,0.48,0.45`",
                     key, value, key, key);
}

/* "0.5" or "0.49,0.48,0.45"; a single number applies to all channels. "": nothing is set. */
static bool read_list(heed_ctx *c, const heed_config *f, const char *key, double out[3]) {
    const char *text = heed_config_text(f, key), *at = text;
    int n = 0;
    while (*at && n < 3) {
        char number[64];
        at += strspn(at, " \t");
        size_t size = strcspn(at, ",");
        snprintf(number, sizeof number, "%.*s", size < 63 ? (int)size : 63, at);
        if (!heed__number(number, &out[n++])) return wrong_list(c, key, text);
        at += size + (at[size] == ',');
    }
    if (*at || n == 2) return wrong_list(c, key, text);
    if (n == 1) out[1] = out[2] = out[0];
    return true;
}

static bool read_normalisation(heed_ctx *c, const heed_config *f, double mean[3], double std[3]) {
    const char *stds = heed_config_text(f, "std");
    if (!*stds != !*heed_config_text(f, "mean"))
        return heed_fail(
            c, HEED_USAGE,
            "`mean` and `std` go together: expected both, or neither to have them computed");
    if (!read_list(c, f, "mean", mean) || !read_list(c, f, "std", std)) return false;
    for (int i = 0; *stds && i < 3; i++)
        if (!(std[i] > 0))
            return heed_fail(c, HEED_USAGE, "`std = %s`: expected numbers above 0", stds);
    return true;
}

heed_augment heed_augment_of(const heed_config *f) {
    return (heed_augment){.flip = fmax(0, heed_config_real(f, "flip")),
                          .pad = (int)heed_config_int(f, "pad"),
                          .scale = heed_config_real(f, "scale"),
                          .ratio = heed_config_real(f, "ratio"),
                          .brightness = heed_config_real(f, "brightness"),
                          .contrast = heed_config_real(f, "contrast"),
                          .saturation = heed_config_real(f, "saturation")};
}

/* The settings resize-to and resample, in the order of heed_filter. */
static bool read_resizing(heed_ctx *c, const heed_config *f, int *resize_to, heed_filter *filter) {
    static const char *const names[] = {"bilinear", "bicubic", "lanczos", "nearest"};
    int64_t to = heed_config_int(f, "resize-to"), size = heed_config_int(f, "image-size");
    *resize_to = (int)to;
    for (int i = 0; i < 4; i++)
        if (strcmp(heed_config_text(f, "resample"), names[i]) == 0) *filter = (heed_filter)i;
    return to <= 0 || to >= size ||
           heed_fail(c, HEED_USAGE,
                     "`resize-to = %d` is below `image-size = %d`: expected at least as much",
                     (int)to, (int)size);
}

bool heed_image_transform_of(heed_ctx *c, const heed_config *f, heed_image_transform *out) {
    if (!f || !out) return false;
    *out = (heed_image_transform){.size = (int)heed_config_int(f, "image-size"),
                                  .channels = (int)heed_config_int(f, "channels")};
    if (!read_normalisation(c, f, out->mean, out->deviation) ||
        !read_resizing(c, f, &out->resize_to, &out->filter))
        return false;
    return out->deviation[0] > 0 ||
           heed_fail(c, HEED_DATA,
                     "the run does not say how its pictures are normalised: config.conf: expected "
                     "mean and std, found none; hint: put back the lines that training wrote");
}

/* ---- settings out ---- */

/* A value found in the data has the rank of a preset, unless the setting was given. */
static bool set_found(heed_config *f, const char *key, const char *value) {
    heed_rank rank = heed_config_rank(f, key);
    return heed_config_set(f, key, value, key, rank > HEED_FROM_PRESET ? rank : HEED_FROM_PRESET);
}

static bool set_number(heed_config *f, const char *key, double v) {
    char text[HEED__NUMBER];
    return set_found(f, key, heed__number_text(text, v, 10));
}

/* With the fewest digits that read back the same, so that a resumed run sees the same pictures. */
static bool set_list(heed_config *f, const char *key, const double *v, int n) {
    char text[3 * HEED__NUMBER] = "", number[HEED__NUMBER];
    for (int i = 0; i < n; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s", i ? "," : "",
                 heed__number_text(number, v[i], 0));
    }
    return set_found(f, key, text);
}

bool heed__pictures_complete(heed_config *f, const heed_images *k) {
    const heed_images_info *a = heed_images_about(k);
    return set_number(f, "image-size", a->view.size) &&
           set_number(f, "channels", a->view.channels) &&
           set_list(f, "mean", a->view.mean, a->view.channels) &&
           set_list(f, "std", a->view.deviation, a->view.channels);
}

/* Without classes nothing says whether mirroring changes the meaning of a picture. An evaluation
 * mirrors none. */
static bool complete(heed_data *d, heed_config *f, const heed_data_args *a) {
    heed_images *k = d->batches;
    const heed_images_info *about = heed_images_about(k);
    double flip = heed_config_real(f, "flip");
    bool unlabelled = about->classes == 1 && strcmp(about->labels[0], HEED_UNLABELLED) == 0;
    if (!unlabelled && !a->eval && !heed__images_judge_sides(k, flip != 0)) return false;
    if (flip < 0) flip = unlabelled || *about->sided ? 0 : 0.5;
    return heed__pictures_complete(f, k) &&
           (!heed_config_has(f, "classes") || set_number(f, "classes", about->classes)) &&
           set_number(f, "flip", flip);
}

void heed__pictures_found(heed_data *d, const heed_images_info *a) {
    d->sided = a->sided;
    if (!a->sized) return;
    snprintf(d->found.what, sizeof d->found.what, "image-size %d", a->view.size);
    snprintf(d->found.why, sizeof d->found.why,
             "the median of the short sides in multiples of 4, at most 64: larger pictures train "
             "slowly");
}

/* ---- opening ---- */

static bool check_classes(const heed_data *d, const heed_config *f) {
    if (!d->kind->label) return true;
    int asked = (int)heed_config_int(f, "classes"), found = d->label_count;
    bool given = heed_config_rank(f, "classes") > HEED_FROM_PRESET;
    return !given || !asked || asked == found ||
           heed_fail(d->c, HEED_DATA,
                     "%s has other classes than asked for: expected %d, found %d; hint: leave out "
                     "`classes`, they are counted",
                     heed_config_text(f, "data"), asked, found);
}

const char *heed_part_name(heed_part part) {
    static const char *const names[] = {"train", "val", "test"};
    return part < HEED_PARTS ? names[part] : "all";
}

/* The part to evaluate: the named one, or the best one available. */
static bool choose_part(heed_data *d, const char *data, const char *named) {
    static const heed_part order[] = {HEED_TEST_PART, HEED_VAL_PART, HEED_TRAIN_PART};
    const size_t *count = heed_images_about(d->batches)->count;
    bool any = !named || strcmp(named, "auto") == 0;
    for (int i = 0; i < 3; i++) {
        d->part = order[i];
        if (count[d->part] && (any || strcmp(named, heed_part_name(d->part)) == 0)) return true;
    }
    return heed_fail(d->c, HEED_DATA,
                     "%s has no such part: `part = %s`: found %zu, %zu and %zu pictures for "
                     "training, validation and test",
                     data, any ? "auto" : named, count[0], count[1], count[2]);
}

/* Data other than the run's, if it has no parts, is read completely. */
static bool set_part(heed_data *d, const heed_config *f, const heed_data_args *a) {
    const size_t *count = heed_images_about(d->batches)->count;
    d->part = d->no_val ? HEED_TRAIN_PART : HEED_VAL_PART;
    if (a->eval && !choose_part(d, heed_config_text(f, "data"), a->part)) return false;
    d->all = a->all && count[HEED_VAL_PART] + count[HEED_TEST_PART] == 0;
    heed_images_set_eval_part(d->batches, d->part);
    return true;
}

/* A run's settings contain all that it knows of pictures. */
bool heed__pictures_args(heed_ctx *c, const heed_config *f, const heed_data_args *a,
                         heed_images_args *out) {
    heed_image_transform known;
    *out = (heed_images_args){.size = (int)heed_config_int(f, "image-size"),
                              .channels = (int)heed_config_int(f, "channels"),
                              .convert = heed_config_bool(f, "convert"),
                              .strict = heed_config_bool(f, "strict"),
                              .workers = (int)heed_config_int(f, "workers"),
                              .cache = (size_t)heed_config_int(f, "cache-mb") * 1000000};
    if (a->eval && !heed_image_transform_of(c, f, &known)) return false;
    return read_resizing(c, f, &out->resize_to, &out->filter) &&
           read_normalisation(c, f, out->mean, out->deviation);
}

/* No share of data other than the run's was used in training, so all of it may be read. */
static bool open_data(heed_data *d, heed_config *f, const heed_data_args *a) {
    heed_images_args args;
    if (!heed__pictures_args(d->c, f, a, &args)) return false;
    args.val_split = a->all ? 0 : heed_config_real(f, "val-split");
    args.labels = a->labels;
    args.label_count = a->label_count;
    args.unlabelled = !d->kind->label;
    args.columns = heed_config_text(f, "columns");
    args.header = heed_config_text(f, "header");
    heed_images *k = d->batches = heed_images_open(d->c, heed_config_text(f, "data"), &args);
    if (!k) return false;
    const heed_images_info *about = heed_images_about(k);
    d->checksum = about->checksum;
    d->tree = strcmp(about->kind, "folder") == 0;
    d->no_val = about->count[HEED_VAL_PART] == 0;
    d->labels = d->kind->label ? about->labels : NULL;
    d->label_count = d->kind->label ? about->classes : 0;
    heed__pictures_found(d, about);
    if (!check_classes(d, f) || !complete(d, f, a)) return false;
    heed_augment augment = heed_augment_of(f);
    heed_images_augment(k, &augment);
    if (heed_config_bool(f, "balance") && !d->kind->label)
        return heed_fail(d->c, HEED_USAGE,
                         "`balance` has no effect here: the model predicts no classes; hint: "
                         "leave it out");
    if (heed_config_bool(f, "balance") && !(d->class_weights = heed_images_balance(k)))
        return false;
    return set_part(d, f, a);
}

static void close_data(heed_data *d) { heed_images_close(d->batches); }

static size_t count(const heed_data *d, int label) {
    return heed_images_count(d->batches, HEED_TRAIN_PART, label);
}
static bool batch(const heed_data *d, heed_batch_at at, heed_batch *out) {
    return heed_image_batch(d->batches, at, out);
}
static uint64_t eval_batches(const heed_data *d, int rows) {
    return heed_images_eval_batches(d->batches, rows);
}
static uint64_t epoch_batches(const heed_data *d, int rows) {
    return heed_images_epoch_batches(d->batches, rows);
}

#define PICTURES                                                                                   \
    .noun = "a folder of pictures", .reads = "pictures", .item = "img", .items = "pictures",       \
    .example = "flowers", .files = 1, .tables = true, .pictures = true, .options = options,        \
    .open = open_data, .close = close_data, .count = count, .batch = batch,                        \
    .eval_batches = eval_batches, .epoch_batches = epoch_batches

const heed_data_kind heed_pictures_classes = {PICTURES, .label = "picture", .use = "classify",
                                              .ask = heed__ask_class};
const heed_data_kind heed_pictures_same = {PICTURES, .use = "reconstruct"};
