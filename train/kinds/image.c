/* image.c -- the data of tasks on pictures: from settings to a heed_images, and back to
 * settings that are a whole record. */
#include "kinds/image.h"
#include "kinds/eval_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PICTURES "Pictures"
#define AUGMENT  "Augmentation of training pictures"

const heed_option picture_options[] = {
    {"val-split", HEED_REAL, "0.1", 0, 0.9, NULL,
     "share of the training part kept for validation, where the data has no such part", PICTURES},
    {"convert", HEED_BOOL, "false", 0, 0, NULL,
     "pictures of other channels become grey or colour, as --channels says", PICTURES},
    {"mean", HEED_TEXT, "", 0, 0, NULL,
     "taken from pixels of 0 to 1: a number, or one a channel, comma-separated; none: that of the "
     "training part",
     PICTURES},
    {"std", HEED_TEXT, "", 0, 0, NULL, "what pixels are then divided by; none: as for mean",
     PICTURES},
    {"strict", HEED_BOOL, "false", 0, 0, NULL,
     "a picture that cannot be decoded is an error, not skipped", PICTURES},
    {"workers", HEED_INT, "1", 0, 64, NULL,
     "threads that decode and augment ahead; the results do not depend on them", PICTURES},
    {"cache-mb", HEED_INT, "1000", 1, 1 << 20, NULL,
     "memory for decoded pictures in MB; what does not fit is decoded again", PICTURES},
    {"flip", HEED_REAL, "-1", -1, 1, NULL,
     "probability of left and right exchanged; -1: 0.5, but 0 where classes are digits or letters",
     AUGMENT},
    {"pad", HEED_INT, "0", 0, 4096, NULL, "shift by up to so many pixels, both ways", AUGMENT},
    {"scale", HEED_REAL, "0", 0, 1, NULL,
     "cut out a part and resize it: its smallest share of the area; 0: off", AUGMENT},
    {"ratio", HEED_REAL, "1.3333", 1, 100, NULL,
     "its width to height lies between 1/ratio and ratio", AUGMENT},
    {"brightness", HEED_REAL, "0", 0, 1, NULL, "times 1 - b to 1 + b", AUGMENT},
    {"contrast", HEED_REAL, "0", 0, 1, NULL, "the same, around the picture's mean", AUGMENT},
    {"saturation", HEED_REAL, "0", 0, 1, NULL, "the same, around each pixel's grey", AUGMENT},
    {0}};

/* ---- settings in ---- */

static bool wrong_list(heed_ctx *c, const char *key, const char *value) {
    return heed_fail(c, HEED_USAGE,
                     "--%s %s: expected a number, or three with commas; hint: --%s 0.5 or --%s "
                     "0.49,0.48,0.45",
                     key, value, key, key);
}

/* "0.5" or "0.49,0.48,0.45"; a single number counts for all channels. "": nothing is set. */
static bool read_list(heed_ctx *c, const heed_config *f, const char *key, double out[3]) {
    const char *text = heed_config_text(f, key), *at = text;
    int n = 0;
    while (*at && n < 3) {
        char *end;
        double v = strtod(at, &end);
        if (end == at || !isfinite(v) || (*end && *end != ',')) return wrong_list(c, key, text);
        out[n++] = v;
        at = *end ? end + 1 : end;
    }
    if (*at || n == 2) return wrong_list(c, key, text);
    if (n == 1) out[1] = out[2] = out[0];
    return true;
}

static bool read_normalisation(heed_ctx *c, const heed_config *f, double mean[3], double std[3]) {
    bool both = *heed_config_text(f, "mean") && *heed_config_text(f, "std");
    if (!both && (*heed_config_text(f, "mean") || *heed_config_text(f, "std")))
        return heed_fail(c, HEED_USAGE,
                         "--mean and --std go together: expected both, or neither to have them "
                         "computed");
    if (!read_list(c, f, "mean", mean) || !read_list(c, f, "std", std)) return false;
    for (int i = 0; both && i < 3; i++)
        if (!(std[i] > 0))
            return heed_fail(c, HEED_USAGE, "--std %s: expected numbers above 0",
                             heed_config_text(f, "std"));
    return true;
}

heed_augment augment_of(const heed_config *f) {
    return (heed_augment){.flip = fmax(0, heed_config_real(f, "flip")),
                          .pad = (int)heed_config_int(f, "pad"),
                          .scale = heed_config_real(f, "scale"),
                          .ratio = heed_config_real(f, "ratio"),
                          .brightness = heed_config_real(f, "brightness"),
                          .contrast = heed_config_real(f, "contrast"),
                          .saturation = heed_config_real(f, "saturation")};
}

bool view_of(heed_ctx *c, const heed_config *f, heed_image_transform *out) {
    *out = (heed_image_transform){.size = (int)heed_config_int(f, "image-size"),
                                  .channels = (int)heed_config_int(f, "channels")};
    if (!read_normalisation(c, f, out->mean, out->deviation)) return false;
    return out->deviation[0] > 0 ||
           heed_fail(c, HEED_DATA,
                     "the run does not say how its pictures are normalised: config.conf: expected "
                     "mean and std, found none; hint: put back the lines that training wrote");
}

/* ---- settings out ---- */

/* What was found counts as little as a preset, unless somebody gave the setting. */
static bool set_found(heed_config *f, const char *key, const char *value) {
    heed_rank rank = heed_config_rank(f, key);
    return heed_config_set(f, key, value, key, rank > HEED_FROM_PRESET ? rank : HEED_FROM_PRESET);
}

static bool set_number(heed_config *f, const char *key, double v) {
    char text[32];
    snprintf(text, sizeof text, "%.10g", v);
    return set_found(f, key, text);
}

/* As few digits as read back to the same numbers: a run that goes on sees the same pictures. */
static bool set_list(heed_config *f, const char *key, const double *v, int n) {
    char text[96] = "";
    for (int i = 0; i < n; i++) {
        char number[32];
        for (int digits = 4; digits <= 17; digits++) {
            snprintf(number, sizeof number, "%.*g", digits, v[i]);
            if (strtod(number, NULL) == v[i]) break;
        }
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s", i ? "," : "", number);
    }
    return set_found(f, key, text);
}

/* Mirrored, a digit or a letter is another sign, or none; so are, for all that is known, classes
 * that have numbers for names. */
static bool is_sign(const char *name) {
    static const char *const digits[] = {"zero", "one", "two",   "three", "four",
                                         "five", "six", "seven", "eight", "nine"};
    if (heed_label_columns(name) == 1 || strspn(name, "0123456789") == strlen(name)) return true;
    for (int i = 0; i < 10; i++)
        if (strcmp(name, digits[i]) == 0) return true;
    return false;
}

static bool all_signs(const heed_images_info *a) {
    for (int i = 0; i < a->classes; i++)
        if (!is_sign(a->labels[i])) return false;
    return true;
}

static bool complete(heed_config *f, const heed_images_info *a) {
    double flip = heed_config_real(f, "flip");
    if (flip < 0) flip = all_signs(a) ? 0 : 0.5;
    return set_number(f, "image-size", a->view.size) &&
           set_number(f, "channels", a->view.channels) && set_number(f, "classes", a->classes) &&
           set_number(f, "flip", flip) && set_list(f, "mean", a->view.mean, a->view.channels) &&
           set_list(f, "std", a->view.deviation, a->view.channels);
}

heed_images *pictures_open(heed_ctx *c, heed_config *f, picture_wish wish) {
    heed_images_args a = {.size = (int)heed_config_int(f, "image-size"),
                          .channels = (int)heed_config_int(f, "channels"),
                          .convert = heed_config_bool(f, "convert"),
                          .val_split = wish.whole ? 0 : heed_config_real(f, "val-split"),
                          .labels = wish.labels,
                          .label_count = wish.label_count,
                          .strict = heed_config_bool(f, "strict"),
                          .workers = (int)heed_config_int(f, "workers"),
                          .cache = (size_t)heed_config_int(f, "cache-mb") * 1000000};
    if (!read_normalisation(c, f, a.mean, a.deviation)) return NULL;
    int classes = (int)heed_config_int(f, "classes");
    heed_images *k = heed_images_open(c, heed_config_text(f, "data"), &a);
    if (!k) return NULL;
    const heed_images_info *about = heed_images_about(k);
    bool asked = heed_config_rank(f, "classes") > HEED_FROM_PRESET;
    if (asked && classes && classes != about->classes)
        heed_fail(c, HEED_DATA,
                  "%s has other classes than asked for: expected %d, found %d; hint: leave out "
                  "--classes, they are counted",
                  heed_config_text(f, "data"), classes, about->classes);
    if (complete(f, about)) {
        heed_augment augment = augment_of(f);
        heed_images_augment(k, &augment);
    }
    if (heed_ctx_status(c) == HEED_OK) return k;
    heed_images_close(k);
    return NULL;
}

/* ---- a training ---- */

static bool open_pictures(heed_ctx *c, const task *k, heed_config *f, const char *run,
                          data_set *out) {
    (void)run; /* its settings hold all that it knows; its data has the same checksum */
    *out = (data_set){.task = k};
    heed_images *images = pictures_open(c, f, (picture_wish){0});
    if (!images) return false;
    const heed_images_info *a = heed_images_about(images);
    out->batches = images;
    out->checksum = a->checksum;
    out->tree = strcmp(a->kind, "folder") == 0;
    out->no_val = a->count[HEED_VAL_PART] == 0;
    out->labels = a->labels;
    out->label_count = a->classes;
    heed_images_set_eval_part(images, out->no_val ? HEED_TRAIN_PART : HEED_VAL_PART);
    return true;
}

static void close_pictures(data_set *d) {
    heed_images_close(d->batches);
    *d = (data_set){0};
}

/* ---- the banner ---- */

const char *part_name(heed_part part) {
    static const char *const names[] = {"training", "validation", "test"};
    return names[part];
}

size_t print_skipped(FILE *out, const heed_images *k, const char *indent, size_t most) {
    const char *path, *why;
    char shown[PLAIN];
    size_t i = 0;
    for (; i < most && heed_images_bad(k, i, &path, &why); i++)
        fprintf(out, "%s%s %s\n", indent, heed_format_line(shown, sizeof shown, path), why);
    return heed_images_about(k)->bad - i;
}

static void add_strength(char text[160], const char *format, double v) {
    size_t n = strlen(text);
    if (!(v > 0)) return;
    n += (size_t)snprintf(text + n, 160 - n, "%s", n ? ", " : "");
    snprintf(text + n, 160 - n, format, v);
}

const char *augment_text(const heed_augment *a, char text[160]) {
    *text = 0;
    add_strength(text, "flip %.3g", a->flip);
    add_strength(text, "pad %.0f", a->pad);
    add_strength(text, "scale %.3g", a->scale);
    add_strength(text, "brightness %.3g", a->brightness);
    add_strength(text, "contrast %.3g", a->contrast);
    add_strength(text, "saturation %.3g", a->saturation);
    return text;
}

static void banner_classes(const heed_images_info *a) {
    char names[256] = "";
    size_t n = 0;
    for (int i = 0; i < a->classes && n < 60; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%.80s", i ? ", " : "", a->labels[i]);
    size_t cut = heed_label_cut(names, 60);
    banner_row("classes", "%d: %.*s%s", a->classes, (int)cut, names,
               cut < strlen(names) || n >= 60 ? " ..." : "");
}

static void banner_sizes(const heed_images_info *a) {
    const heed_image_transform *v = &a->view;
    char was[96] = "";
    bool same = a->low_width == v->size && a->high_width == v->size && a->low_height == v->size &&
                a->high_height == v->size;
    if (!same && a->low_width == a->high_width && a->low_height == a->high_height)
        snprintf(was, sizeof was, ", from %d x %d", a->low_width, a->low_height);
    else if (!same)
        snprintf(was, sizeof was, ", from %d x %d up to %d x %d", a->low_width, a->low_height,
                 a->high_width, a->high_height);
    banner_row("read as", "%d x %d, %s%s", v->size, v->size, v->channels == 1 ? "grey" : "colour",
               was);
    if (v->channels == 1)
        banner_row("normalised", "mean %.4f, deviation %.4f", v->mean[0], v->deviation[0]);
    else
        banner_row("normalised", "mean %.3f %.3f %.3f, deviation %.3f %.3f %.3f", v->mean[0],
                   v->mean[1], v->mean[2], v->deviation[0], v->deviation[1], v->deviation[2]);
}

static void banner_augment(const heed_images_info *a, const heed_config *f) {
    heed_augment augment = augment_of(f);
    char text[160];
    augment_text(&augment, text);
    banner_row("augmented", "%s; %s", *text ? text : "not",
               augment.flip > 0 ? "--flip 0 turns the flip off"
               : all_signs(a)   ? "no flip as classes are digits or letters: --flip 0.5 would"
                                : "--flip, --pad, --scale, --brightness and others do it");
}

static void banner_pictures(const data_set *d, const heed_config *f) {
    const heed_images_info *a = heed_images_about(d->batches);
    char n1[32], n2[32], n3[32];
    const size_t *n = a->count;
    banner_row("data", "%s (%s)", heed_config_text(f, "data"), a->kind);
    banner_row("pictures", "%s for training, %s for validation, %s for the test",
               heed_format_count(n1, n[HEED_TRAIN_PART]),
               n[HEED_VAL_PART] ? heed_format_count(n2, n[HEED_VAL_PART]) : "none",
               n[HEED_TEST_PART] ? heed_format_count(n3, n[HEED_TEST_PART]) : "none");
    banner_classes(a);
    banner_sizes(a);
    size_t twins = a->overlap[HEED_VAL_PART] + a->overlap[HEED_TEST_PART];
    if (twins)
        banner_row("overlap",
                   "%s of validation and test %s in the training part, too: heed data check "
                   "%s %s names one",
                   heed_format_count(n1, twins), twins == 1 ? "is" : "are", d->task->name,
                   heed_config_text(f, "data"));
    if (a->bad) {
        banner_row("skipped", "%s that cannot be decoded", heed_format_count(n1, a->bad));
        size_t more = print_skipped(stderr, d->batches, "             ", 3);
        if (more)
            banner_row("", "and %zu more: heed data check %s %s lists them", more, d->task->name,
                       heed_config_text(f, "data"));
    }
    banner_augment(a, f);
}

/* train.log names all that were skipped. */
static void begun_pictures(program *p, const data_set *d, const char *run) {
    char path[1024];
    if (!heed_images_about(d->batches)->bad) return;
    snprintf(path, sizeof path, "%s/train.log", run);
    FILE *out = fopen(path, "a");
    if (out) print_skipped(out, d->batches, "skipped: ", SIZE_MAX);
    bool ok = out && !ferror(out);
    if (out && fclose(out) != 0) ok = false;
    if (!ok) heed_message(p->c, HEED_WARN, "cannot write %s", path);
}

static void steps_pictures(const heed_config *f, uint64_t epoch_batches) {
    char n[32];
    banner_row("epoch", "%s step%s of %lld pictures", heed_format_count(n, epoch_batches),
               epoch_batches == 1 ? "" : "s", (long long)heed_config_int(f, "batch"));
}

/* ---- the end of a training ---- */

static void next_pictures(const task *k, const char *data, const char *run) {
    (void)k;
    (void)data;
    printf("\nNext:\n  heed eval %s\n  heed classify %s PICTURE...\n  heed plot %s\n", run, run,
           run);
}

/* A line of metrics.csv: what the test part said, once, of the best weights. */
static void note_test(program *p, const char *run, int64_t step, const measures *m) {
    char path[1024];
    snprintf(path, sizeof path, "%s/metrics.csv", run);
    FILE *out = fopen(path, "a");
    bool ok = out &&
              fprintf(out, "%lld,,test,%.9g,%.9g,,,,\n", (long long)step, m->loss, m->accuracy) > 0;
    if (out && fclose(out) != 0) ok = false;
    if (!ok) heed_message(p->c, HEED_WARN, "cannot write %s", path);
}

static void print_test(const measures *m, const ending *e) {
    char n[32];
    if (isfinite(m->accuracy))
        printf("test part, read once with the best weights: accuracy %.2f %% (95 %%: %.2f to %.2f) "
               "of %s pictures\n",
               100 * m->accuracy, 100 * m->low, 100 * m->high,
               heed_format_count(n, (uint64_t)m->items));
    if (!e->trained) return;
    int64_t workers = heed_config_int(e->f, "workers");
    printf("training waited for pictures %.1f %% of the time", 100 * e->waited);
    if (e->waited > 0.1) printf("; hint: --workers %lld", (long long)(workers ? 2 * workers : 1));
    putchar('\n');
}

static bool was_tested(heed_ctx *c, const char *run) {
    run_curves k;
    bool tested = curves_read(c, run, &k) && isfinite(k.test);
    curves_free(&k);
    return tested;
}

/* Reads the test part, if there is one: once, after a training, or when that was kept from it. */
/* Batch by batch, so that it may be interrupted. */
static heed_score read_test(const ending *e, heed_run *r, heed_images *k) {
    heed_score score = {0};
    heed_batch b;
    eval_loop s = {
        .run = r, .data = k, .rows = (int)heed_config_int(e->f, "batch"), .what = "the test part"};
    bool ok = true;
    if (e->bar) fputs("reading the test part ...", stderr);
    heed_images_set_eval_part(k, HEED_TEST_PART);
    s.batches = heed_model_eval_batches(r->model, r->self, k, s.rows);
    for (uint64_t i = 0; ok && i < s.batches; i++)
        ok = was_interrupted(NULL) ? heed_fail(r->c, HEED_INTERRUPTED, "interrupted")
                                   : eval_loop_batch(&s, i, &b, &score);
    if (e->bar) fputs("\r\033[K", stderr);
    return score;
}

static void finish_pictures(program *p, const data_set *d, ending *e) {
    heed_images *k = d->batches;
    if (!e->trained && was_tested(p->c, e->run)) return;
    heed_score score = {0};
    e->waited = heed_images_waited(k) / (e->seconds > 0 ? e->seconds : 1);
    heed_run *r = heed_images_about(k)->count[HEED_TEST_PART] ? open_run(p, e->run) : NULL;
    if (r) score = read_test(e, r, k);
    measures m = measure(&score);
    if (r && heed_ctx_status(p->c) == HEED_OK) note_test(p, e->run, e->step, &m);
    heed_run_close(r);
    if (heed_ctx_status(p->c) != HEED_OK) return;
    if (!e->json)
        print_test(&m, e);
    else
        json_object_update_new(
            e->json, json_pack("{s:o, s:o, s:o}", "test_loss", json_number(m.loss), "test_accuracy",
                               json_number(m.accuracy), "waited", json_number(e->waited)));
}

const data_kind picture_kind = {
    .noun = "a folder of pictures",
    .item = "img",
    .options = picture_options,
    .open = open_pictures,
    .close = close_pictures,
    .banner = banner_pictures,
    .steps = steps_pictures,
    .begun = begun_pictures,
    .next = next_pictures,
    .finish = finish_pictures,
    .eval = eval_pictures,
    .check = check_pictures,
};
