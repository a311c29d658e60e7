/* image_check.c -- heed data check of pictures: parts, classes, sizes, errors, and a sheet of
 * samples before and after augmentation. */
#include "cli/program.h"
#include "kinds/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t overlap_of(const heed_images *k) {
    const size_t *n = heed_images_about(k)->overlap;
    return n[HEED_VAL_PART] + n[HEED_TEST_PART];
}

enum { AT = 15 }; /* column at which facts begin, after their labels */

void print_duplicate(heed_images *k) {
    heed_duplicate found;
    const char *name;
    char own[1024];
    if (!heed_images_duplicate(k, &found) ||
        !heed_images_get(k, found.part, found.index, NULL, NULL, &name))
        return;
    snprintf(own, sizeof own, "%s", name);
    if (heed_images_get(k, HEED_TRAIN_PART, found.trained, NULL, NULL, &name))
        print_fact(AT, "", "%s is %s", own, name);
}

enum { CONFLICTS = 3 }; /* examples that are shown */

/* Prints the first pictures that are in several classes, or appends ["a.png", "b.png"] to list. */
static size_t show_conflicts(heed_images *k, json_t *list) {
    heed_images_conflict some[CONFLICTS];
    char own[1024], n[32];
    const char *name;
    size_t count =
        heed_images_about(k)->classes > 1 ? heed_images_conflicts(k, some, CONFLICTS) : 0;
    if (count && !list)
        print_fact(AT, "  conflicts", "%s picture%s %s in several classes",
                   heed_format_count(n, count), count == 1 ? "" : "s", count == 1 ? "is" : "are");
    for (size_t i = 0; i < count && i < CONFLICTS; i++) {
        if (!heed_images_get(k, some[i].part[0], some[i].index[0], NULL, NULL, &name)) break;
        snprintf(own, sizeof own, "%s", name);
        if (!heed_images_get(k, some[i].part[1], some[i].index[1], NULL, NULL, &name)) break;
        if (list)
            json_array_append_new(list, json_pack("[o, o]", json_text(own), json_text(name)));
        else
            print_fact(AT, "", "%s is %s", own, name);
    }
    return count;
}

/* ---- the sheet ---- */

enum { SAMPLES = 8, VERSIONS = 5 };

typedef struct {
    heed_tile tiles[SAMPLES * (VERSIONS + 1)];
    unsigned char *pixels; /* of all tiles */
    char names[SAMPLES][64];
    int count;
} samples;

static size_t bytes_of(const heed_image_transform *v) {
    return (size_t)v->size * (size_t)v->size * (size_t)v->channels;
}

/* A picture as in evaluation, then as augmented in several epochs. */
static bool add_sample(program *p, heed_images *k, const heed_augment *a, int index, samples *s) {
    const heed_images_info *about = heed_images_about(k);
    const heed_image_transform *v = &about->view;
    size_t place = (size_t)index * about->count[HEED_TRAIN_PART] / SAMPLES;
    heed_picture picture = {0};
    const char *name;
    int label;
    if (!heed_images_get(k, HEED_TRAIN_PART, place, &picture, &label, &name)) return false;
    size_t n = bytes_of(v);
    heed_real *x = malloc((n + heed_image_transform_work(&picture, v)) * sizeof *x);
    if (!x) heed_fail(p->c, HEED_FAILED, "no memory for a picture");
    snprintf(s->names[index], sizeof s->names[index], "%.60s", about->labels[label]);
    for (int i = 0; x && i <= VERSIONS; i++) {
        uint64_t epoch = i ? (uint64_t)i - 1 : 0; /* training begins with epoch 0 */
        heed_random draws = heed_random_at(heed_seed(p->c), "augment", epoch, (uint32_t)place);
        heed_picture_transform(&picture, v, i ? a : NULL, &draws, x, x + n);
        unsigned char *pixels = s->pixels + (size_t)s->count * n;
        for (size_t at = 0; at < n; at++) { /* back to bytes */
            size_t channel = at % (size_t)v->channels;
            double y = 255 * ((double)x[at] * v->deviation[channel] + v->mean[channel]);
            pixels[at] = (unsigned char)lround(fmin(fmax(y, 0), 255));
        }
        s->tiles[s->count++] =
            (heed_tile){pixels, v->size, v->size, v->channels, {i ? "" : s->names[index]}};
    }
    free(x);
    heed_picture_free(&picture);
    return heed_ctx_status(p->c) == HEED_OK;
}

static bool write_sheet(program *p, heed_images *k, const char *path) {
    const heed_image_transform *v = &heed_images_about(k)->view;
    size_t n = bytes_of(v);
    samples *s = calloc(1, sizeof *s);
    heed_augment a = heed_augment_of(p->flags);
    char text[160], title[200];
    augment_text(&a, text);
    snprintf(title, sizeof title, "before, and in five epochs: %s",
             *text ? text : "no augmentation");
    if (s) s->pixels = malloc(SAMPLES * (VERSIONS + 1) * n);
    bool ok = s && s->pixels;
    if (!ok) heed_fail(p->c, HEED_FAILED, "no memory for a sheet of pictures");
    for (int i = 0; ok && i < SAMPLES; i++) ok = add_sample(p, k, &a, i, s);
    ok = ok && heed_sheet_png(p->c,
                              &(heed_sheet){.title = title,
                                            .count = s->count,
                                            .columns = 2 * (VERSIONS + 1),
                                            .side = v->size < 96 ? v->size * (96 / v->size) : 96,
                                            .tiles = s->tiles},
                              path);
    if (s) free(s->pixels);
    free(s);
    return ok;
}

/* ---- output ---- */

static const heed_table_column columns[HEED_PARTS] = {
    {"training", 10, false}, {"validation", 10, false}, {"test", 10, false}};

static void count_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    char n[32];
    snprintf(text, HEED_TABLE_CELL, "%s",
             heed_format_count(n, heed_images_count(of, (heed_part)column, row)));
}

static void print_class_counts(const heed_images *k) {
    const heed_images_info *a = heed_images_about(k);
    int width = 5;
    for (int i = 0; i < a->classes; i++) {
        int n = heed_label_text(a->labels[i], 32, NULL);
        if (n > width) width = n;
    }
    print_table(NULL, &(heed_table){.head = "class",
                                    .rows = a->classes,
                                    .count = HEED_PARTS,
                                    .name = width,
                                    .columns = columns,
                                    .names = a->labels,
                                    .cell = count_cell,
                                    .of = k});
}

static void print_list(const char *label, const double *x, int n) {
    char text[128] = "";
    for (int i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.4f", i ? " " : "", x[i]);
    print_fact(AT, label, "%s", text);
}

/* "320", or "240 to 320" */
static const char *range_text(char text[32], int low, int high) {
    snprintf(text, 32, low == high ? "%d" : "%d to %d", low, high);
    return text;
}

void print_sizes(int at, const heed_images_info *a) {
    char found[96], width[32], height[32];
    if (a->low_width == a->high_width && a->low_height == a->high_height)
        snprintf(found, sizeof found, "all %d x %d", a->low_width, a->low_height);
    else
        snprintf(found, sizeof found, "%s wide, %s high",
                 range_text(width, a->low_width, a->high_width),
                 range_text(height, a->low_height, a->high_height));
    print_fact(at, "  sizes", "%s; read as %d x %d, %s", found, a->view.size, a->view.size,
               a->view.channels == 1 ? "grey" : "colour");
}

static void print_facts(program *p, const heed_data *d) {
    heed_images *k = d->batches;
    const heed_images_info *a = heed_images_about(k);
    size_t copies = overlap_of(k);
    char n1[32], n2[32], n3[32], text[480], others[400];
    print_fact(0, "", "%s", heed_config_text(p->flags, "data"));
    putchar('\n');
    print_fact(AT, "  kind", "%s, %d classes", a->kind, a->classes);
    print_fact(AT, "  pictures", "%s for training, %s for validation, %s for the test",
               heed_format_count(n1, a->count[HEED_TRAIN_PART]),
               heed_format_count(n2, a->count[HEED_VAL_PART]),
               heed_format_count(n3, a->count[HEED_TEST_PART]));
    print_sizes(AT, a);
    print_list("  mean", a->view.mean, a->view.channels);
    print_list("  deviation", a->view.deviation, a->view.channels);
    print_fact(AT, "  augmented", "%s", augmented_text(d, p->flags, text));
    print_fact(AT, "  skipped", "%s",
               a->bad ? heed_format_count(n1, a->bad) : "none: all can be decoded");
    print_skipped(stdout, k, "               ", SIZE_MAX);
    if (*others_text(a, others)) print_fact(AT, "  ignored", "%s", others);
    print_fact(AT, "  duplicates", "%s of validation and test %s the pixels of a training picture",
               copies ? heed_format_count(n1, copies) : "none", copies == 1 ? "has" : "have");
    print_duplicate(k);
    show_conflicts(k, NULL);
}

static void print_notes(const program *p, const heed_data *d) {
    const heed_images_info *a = heed_images_about(d->batches);
    char hint[256];
    if (are_few(p->model, d, p->flags, hint)) {
        putchar('\n');
        print_fact(AT, "  note", "%s", hint);
    }
    if (!d->class_weights && *balance_hint(d, hint)) {
        putchar('\n');
        print_fact(AT, "  note", "%s", hint);
    }
    if (a->count[HEED_VAL_PART] == 0) {
        putchar('\n');
        print_fact(AT, "  note", "%s",
                   heed_config_real(p->flags, "val-split") > 0
                       ? "no validation part: the classes have too few pictures for --val-split"
                       : "no validation part: --val-split 0.1");
    }
}

static json_t *info_json(const program *p, heed_images *k) {
    const heed_images_info *a = heed_images_about(k);
    json_t *classes = json_array(), *bad = json_array(), *conflicting = json_array();
    const char *path, *why;
    for (int i = 0; i < a->classes; i++)
        json_array_append_new(
            classes, json_pack("{s:o, s:I, s:I, s:I}", "class", json_text(a->labels[i]), "train",
                               (json_int_t)heed_images_count(k, HEED_TRAIN_PART, i), "val",
                               (json_int_t)heed_images_count(k, HEED_VAL_PART, i), "test",
                               (json_int_t)heed_images_count(k, HEED_TEST_PART, i)));
    for (size_t i = 0; heed_images_bad(k, i, &path, &why); i++)
        json_array_append_new(bad, json_pack("{s:o, s:s}", "path", json_text(path), "why", why));
    size_t conflicts = show_conflicts(k, conflicting);
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:i, s:i, s:I, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:I, "
        "s:I}",
        "data", heed_config_text(p->flags, "data"), "kind", a->kind, "train",
        (json_int_t)a->count[HEED_TRAIN_PART], "val", (json_int_t)a->count[HEED_VAL_PART], "test",
        (json_int_t)a->count[HEED_TEST_PART], "image_size", a->view.size, "channels",
        a->view.channels, "converted", (json_int_t)a->converted, "mean",
        json_doubles(a->view.mean, a->view.channels), "std",
        json_doubles(a->view.deviation, a->view.channels), "duplicates", (json_int_t)overlap_of(k),
        "conflicts", (json_int_t)conflicts, "conflicting", conflicting, "classes", classes,
        "skipped", bad, "chosen", choices_json(&p->chosen), "ignored", (json_int_t)a->others,
        "empty", (json_int_t)a->empty);
}

void check_pictures(program *p, heed_data *d) {
    heed_images *k = d->batches;
    const char *sheet = heed_config_text(p->flags, "sheet");
    bool json = heed_config_bool(p->flags, "json");
    char hint[256];
    if (json)
        print_json(p, info_json(p, k));
    else {
        print_facts(p, d);
        print_class_counts(k);
        print_notes(p, d);
    }
    if (*sheet && write_sheet(p, k, sheet) && !json) printf("\nwrote %s\n", sheet);
    if (json || heed_ctx_status(p->c) != HEED_OK) return;
    const heed_model *cnn = find_model(p->models, "cnn");
    bool uneven = names_class(p->model) && *balance_hint(d, hint) && !flag_given(p, "balance");
    const char *suggestion = uneven ? "--balance" : "";
    print_try(p, p->model, suggestion);
    if (cnn && are_few(p->model, d, p->flags, hint)) print_try(p, cnn, suggestion);
}
