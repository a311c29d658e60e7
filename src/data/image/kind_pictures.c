/* kind_pictures.c -- pictures as data: from settings to heed_images, and back. */
#include "core/core.h"
#include "data/image/images.h"
#include "data/image/settings.h"
#include "data/kind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const heed_option options[] = {
    {"val-split", HEED_OPTION_REAL, "0.1", 0, 0.9, NULL,
     "share of the training part kept for validation, where the data has no such part",
     HEED__PICTURES},
    {"balance", HEED_OPTION_BOOL, "false", 0, 0, NULL,
     "of classifiers: weigh classes in the training loss by the inverse of their frequency",
     HEED__PICTURES},
    HEED__COLUMNS("IMAGE,LABEL, with SPLIT for a column of train, val and test", HEED__PICTURES),
    HEED__PICTURE_OPTIONS,
    {"flip", HEED_OPTION_REAL, "-1", -1, 1, NULL,
     "probability of left and right exchanged; -1: 0.5, but 0 where a class is a character or a "
     "number or names a side, where mirrored pictures look like those of another class, or where "
     "there are no classes",
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
                         heed__images_args *out) {
    heed_image_transform known;
    *out = (heed__images_args){.size = (int)heed_config_int(f, "image-size"),
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
    heed__images_args args;
    if (!heed__pictures_args(d->c, f, a, &args)) return false;
    args.val_split = a->all ? 0 : heed_config_real(f, "val-split");
    args.labels = a->labels;
    args.label_count = a->label_count;
    args.unlabelled = !d->kind->label;
    args.columns = heed_config_text(f, "columns");
    args.header = heed_config_text(f, "header");
    heed_images *k = d->batches = heed__images_open(d->c, heed_config_text(f, "data"), &args);
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
    heed__images_augment(k, &augment);
    if (heed_config_bool(f, "balance") && !d->kind->label)
        return heed_fail(d->c, HEED_USAGE,
                         "`balance` has no effect here: the model predicts no classes; hint: "
                         "leave it out");
    if (heed_config_bool(f, "balance") && !(d->class_weights = heed__images_balance(k)))
        return false;
    return set_part(d, f, a);
}

static void close_data(heed_data *d) { heed__images_close(d->batches); }

/* ---- what a set of pictures holds ---- */

static void add_strength(heed_text *out, const char *format, double v) {
    if (!(v > 0)) return;
    heed_text_add(out, "%s", out->n ? ", " : "");
    heed_text_add(out, format, v);
}

void heed_augment_text(const heed_augment *a, heed_text *out) {
    if (!a || !out) return;
    add_strength(out, "flip %.3g", a->flip);
    add_strength(out, "pad %.0f", a->pad);
    add_strength(out, "scale %.3g", a->scale);
    add_strength(out, "brightness %.3g", a->brightness);
    add_strength(out, "contrast %.3g", a->contrast);
    add_strength(out, "saturation %.3g", a->saturation);
    if (!out->n) heed_text_add(out, "none");
}

/* With the reason why pictures are not mirrored, or should not be. */
static void describe_augmentation(const heed_data *d, const heed_config *f, heed_facts *out) {
    heed_augment augment = heed_augment_of(f);
    heed_text text = {.c = d->c};
    bool flips = augment.flip > 0, refused = d->kind->target;
    heed_augment_text(&augment, &text);
    heed_fact_add(out, HEED_FACT, "augmented", "%s%s%s%s", text.s ? text.s : "",
                  !*d->sided ? ""
                  : flips    ? ", although "
                             : "; no flip, as ",
                  d->sided,
                  flips                   ? "; `flip = 0` turns the flip off"
                  : *d->sided && !refused ? "; `flip = 0.5` enables it"
                  : *d->sided             ? ""
                                          : "; `flip`, `pad`, `scale`, `brightness` and others "
                                            "enable it");
    heed_text_free(&text);
}

/* "320", or "240 to 320" */
static const char *range_text(char text[32], int low, int high) {
    snprintf(text, 32, low == high ? "%d" : "%d to %d", low, high);
    return text;
}

static void describe_list(const char *label, const double *x, int n, heed_facts *out) {
    char text[128] = "";
    for (int i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.4f", i ? " " : "", x[i]);
    heed_fact_add(out, HEED_FACT, label, "%s", text);
}

static void list_json(const char *key, const double *x, int n, heed_text *o) {
    heed_json_open(o, key, '[');
    for (int i = 0; i < n; i++) heed_json_real(o, NULL, x[i], 17);
    heed_json_close(o, ']');
}

/* Pictures that cannot be decoded, all of them or in brief the first, and files that are none. */
static void describe_skipped(const heed_images *k, heed_facts *out) {
    enum { BRIEF = 3 };
    const heed_images_info *a = heed_images_about(k);
    const char *path, *why;
    char n[32], shown[1100];
    if (a->bad || !out->brief)
        heed_fact_add(out, HEED_FACT, "skipped",
                      a->bad ? "%s that cannot be decoded" : "none: all can be decoded",
                      heed_format_count(n, a->bad));
    for (size_t i = 0; (!out->brief || i < BRIEF) && heed_images_bad(k, i, &path, &why); i++)
        heed_fact_add(out, HEED_FACT, "", "%s %s", heed_format_line(shown, sizeof shown, path),
                      why);
    if (out->brief && a->bad > BRIEF)
        heed_fact_add(out, HEED_FACT, "", "and %zu more, which train.log lists", a->bad - BRIEF);
    if (a->others)
        heed_fact_add(out, HEED_FACT, "ignored",
                      a->others == 1 ? "%s file is not a picture: %.300s"
                                     : "%s files are not pictures; the first is %.300s",
                      heed_format_count(n, a->others), a->other);
    heed_json_open(&out->json, "skipped", '[');
    for (size_t i = 0; heed_images_bad(k, i, &path, &why); i++) {
        heed_json_open(&out->json, NULL, '{');
        heed_json_text(&out->json, "path", path);
        heed_json_text(&out->json, "why", why);
        heed_json_close(&out->json, '}');
    }
    heed_json_close(&out->json, ']');
}

void heed__describe_pictures(const heed_data *d, heed_images *k, const heed_config *f,
                             heed_facts *out) {
    const heed_images_info *a = heed_images_about(k);
    const heed_image_transform *v = &a->view;
    char found[96], width[32], height[32], own[1024];
    const char *name;
    heed__duplicate same;
    if (a->low_width == a->high_width && a->low_height == a->high_height)
        snprintf(found, sizeof found, "all %d x %d", a->low_width, a->low_height);
    else
        snprintf(found, sizeof found, "%s wide, %s high",
                 range_text(width, a->low_width, a->high_width),
                 range_text(height, a->low_height, a->high_height));
    heed_fact_add(out, HEED_FACT, "sizes", "%s; read as %d x %d, %s", found, v->size, v->size,
                  v->channels == 1 ? "grey" : "colour");
    describe_list("mean", v->mean, v->channels, out);
    describe_list("deviation", v->deviation, v->channels, out);
    describe_augmentation(d, f, out);
    describe_skipped(k, out);
    size_t copies = a->overlap[HEED_VAL_PART] + a->overlap[HEED_TEST_PART];
    if (copies || !out->brief)
        heed_fact_add(out, HEED_FACT, "duplicates",
                      "%s of validation and test %s the pixels of a training picture",
                      copies ? heed_format_count(width, copies) : "none",
                      copies == 1 ? "has" : "have");
    if (heed__images_duplicate(k, &same) &&
        heed_images_get(k, same.part, same.index, NULL, NULL, &name)) {
        snprintf(own, sizeof own, "%s", name);
        if (heed_images_get(k, HEED_TRAIN_PART, same.trained, NULL, NULL, &name))
            heed_fact_add(out, HEED_FACT, "", "%s is %s", own, name);
    }
    heed_json_int(&out->json, "image_size", v->size);
    heed_json_int(&out->json, "channels", v->channels);
    heed_json_int(&out->json, "duplicates", (int64_t)copies);
}

/* The pictures that are in several classes. */
static void describe_conflicts(heed_images *k, heed_facts *out) {
    enum { SHOWN = 3 };
    heed__images_conflict some[SHOWN];
    char own[1024], n[32];
    const char *name;
    bool classes = heed_images_about(k)->classes > 1;
    size_t count = classes ? heed__images_conflicts(k, some, SHOWN) : 0;
    if (count)
        heed_fact_add(out, HEED_FACT, "conflicts", "%s picture%s %s in several classes",
                      heed_format_count(n, count), count == 1 ? "" : "s",
                      count == 1 ? "is" : "are");
    heed_json_int(&out->json, "conflicts", (int64_t)count);
    heed_json_open(&out->json, "conflicting", '[');
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        if (!heed_images_get(k, some[i].part[0], some[i].index[0], NULL, NULL, &name)) break;
        snprintf(own, sizeof own, "%s", name);
        if (!heed_images_get(k, some[i].part[1], some[i].index[1], NULL, NULL, &name)) break;
        heed_fact_add(out, HEED_FACT, "", "%s is %s", own, name);
        heed_json_open(&out->json, NULL, '[');
        heed_json_text(&out->json, NULL, own);
        heed_json_text(&out->json, NULL, name);
        heed_json_close(&out->json, ']');
    }
    heed_json_close(&out->json, ']');
}

static void describe_classes(const heed_images *k, heed_facts *out) {
    static const char *const parts[] = {"train", "val", "test"};
    const heed_images_info *a = heed_images_about(k);
    heed_fact_add(out, HEED_FACT_COLUMNS, "class", "training\tvalidation\ttest");
    heed_json_open(&out->json, "classes", '[');
    for (int i = 0; i < a->classes; i++) {
        char n[HEED_PARTS][32];
        heed_json_open(&out->json, NULL, '{');
        heed_json_text(&out->json, "class", a->labels[i]);
        for (int part = 0; part < HEED_PARTS; part++) {
            size_t count = heed__images_count(k, (heed_part)part, i);
            heed_format_count(n[part], count);
            heed_json_int(&out->json, parts[part], (int64_t)count);
        }
        heed_json_close(&out->json, '}');
        heed_fact_add(out, HEED_FACT_ROW, a->labels[i], "%s\t%s\t%s", n[0], n[1], n[2]);
    }
    heed_json_close(&out->json, ']');
}

static bool describe(const heed_data *d, const heed_config *f, heed_facts *out) {
    heed_images *k = d->batches;
    const heed_images_info *a = heed_images_about(k);
    const size_t *n = a->count;
    char n1[32], n2[32], n3[32];
    heed_text *o = &out->json;
    heed_fact_add(out, HEED_FACT, "kind", "%s, %d class%s", a->kind, a->classes,
                  a->classes == 1 ? "" : "es");
    heed_fact_add(out, HEED_FACT, "pictures", "%s for training, %s for validation, %s for the test",
                  heed_format_count(n1, n[HEED_TRAIN_PART]),
                  n[HEED_VAL_PART] ? heed_format_count(n2, n[HEED_VAL_PART]) : "none",
                  n[HEED_TEST_PART] ? heed_format_count(n3, n[HEED_TEST_PART]) : "none");
    heed_json_text(o, "kind", a->kind);
    heed_json_int(o, "train", (int64_t)n[HEED_TRAIN_PART]);
    heed_json_int(o, "val", (int64_t)n[HEED_VAL_PART]);
    heed_json_int(o, "test", (int64_t)n[HEED_TEST_PART]);
    heed_json_int(o, "converted", (int64_t)a->converted);
    heed_json_int(o, "ignored", (int64_t)a->others);
    heed_json_int(o, "empty", (int64_t)a->empty);
    list_json("mean", a->view.mean, a->view.channels, o);
    list_json("std", a->view.deviation, a->view.channels, o);
    heed__describe_pictures(d, k, f, out);
    if (!out->brief) describe_conflicts(k, out);
    if (d->kind->label) heed__describe_classes(d, out);
    heed_text uneven = {.c = d->c};
    if (d->kind->label && !d->class_weights && heed__data_uneven(d, &uneven))
        snprintf(out->suggestion, sizeof out->suggestion, "balance");
    heed_text_free(&uneven);
    if (n[HEED_VAL_PART] == 0)
        heed_fact_add(out, HEED_FACT, "note", "%s",
                      heed_config_real(f, "val-split") > 0
                          ? "no validation part: the classes have too few pictures for `val-split`"
                          : "no validation part: `val-split = 0.1` makes one");
    if (!out->brief) describe_classes(k, out);
    return true;
}

/* ---- the kinds ---- */

static size_t count(const heed_data *d, int label) {
    return heed__images_count(d->batches, HEED_TRAIN_PART, label);
}
static bool batch(const heed_data *d, heed_batch_at at, heed_batch *out) {
    return heed__image_batch(d->batches, at, out);
}
static uint64_t eval_batches(const heed_data *d, int rows) {
    return heed__images_eval_batches(d->batches, rows);
}
static uint64_t epoch_batches(const heed_data *d, int rows) {
    return heed__images_epoch_batches(d->batches, rows);
}

static heed_images *images(const heed_data *d) { return d->batches; }

static heed_part part_of(const heed_data *d, bool val) { return val ? d->part : HEED_TRAIN_PART; }

static size_t inputs(const heed_data *d, bool val) {
    return heed_images_about(d->batches)->count[part_of(d, val)];
}

static bool input(const heed_data *d, bool val, size_t index, heed_item *out) {
    const char *name = "";
    heed_item_free(out);
    return heed_images_get(d->batches, part_of(d, val), index, out->unseen ? NULL : &out->picture,
                           NULL, &name) &&
           heed_text_add(&out->source, "%s", name);
}

static bool report_classes(heed_scores *s, heed_facts *out) {
    return heed__report_classes(s, NULL, out);
}

/* The error of pixels; the loss, unless it is that. */
static bool report_error(heed_scores *s, heed_facts *out) {
    double loss = s->sum.loss / s->sum.weight, error = s->sum.squares / s->sum.pixels;
    char of[96] = "", n[32];
    if (s->hidden) snprintf(of, sizeof of, " of hidden patches, %d of %d", s->hidden, s->patches);
    heed_fact_number(out, "loss", "", loss, NULL);
    heed_fact_number(out, "error", "", error, NULL);
    heed_fact_add(out, HEED_FACT, "error", "%.5f  mean squared error%s, of pixels from 0 to 1",
                  error, of);
    if (fabs(loss - error) > 1e-5 * error)
        heed_fact_add(out, HEED_FACT, "loss",
                      "%.5f  of each patch less its mean, over its deviation", loss);
    heed_fact_add(out, HEED_FACT, "pictures", "%s", heed_format_count(n, (uint64_t)s->sum.weight));
    heed_json_int(&out->json, "items", (int64_t)s->sum.weight);
    heed_json_int(&out->json, "hidden_patches", s->hidden);
    return !heed__stopped(s->data->c);
}

#define PICTURES                                                                                   \
    .noun = "a folder of pictures", .reads = "pictures", .item = "img", .items = "pictures",       \
    .example = "flowers", .files = 1, .options = options, .open = open_data, .close = close_data,  \
    .count = count, .batch = batch, .eval_batches = eval_batches, .epoch_batches = epoch_batches,  \
    .images = images, .inputs = inputs, .input = input, .describe = describe

const heed_data_kind heed_pictures_classes = {PICTURES,
                                              .label = "picture",
                                              .use = "classify",
                                              .ask = heed__ask_class,
                                              .score = heed__score_classes,
                                              .report = report_classes};
const heed_data_kind heed_pictures_same = {PICTURES, .use = "reconstruct", .report = report_error};
