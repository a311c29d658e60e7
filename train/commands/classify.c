/* classify.c -- heed classify: a run's predictions for pictures. */
#include "cli/os_files.h"
#include "commands/attend.h"
#include "kinds/answers.h"

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    COUNT("top", "5", 1, 100000, "classes to print for each picture", "Output"),
    CONVERT("Output"),
    WORDS("overlay",
          "vit: write the attention over the picture; of several pictures FILE-NAME.png, with the "
          "name of each",
          "Output"),
    CHOOSE_LAYER("Output"),
    SWITCH("cells", "show it patch by patch instead of smoothly", "Output"),
    SWITCH("json", "print a JSON object for each picture", "Output"),
    WORDS("csv", "pictures: also write the classes of all as a table", "Output"),
    {0}};

static const applies uses[] = {{"top", names_class, NULL},
                               {"convert", names_pictures, NULL},
                               {"overlay", reads_patches, NULL},
                               {"layer", reads_patches, "overlay"},
                               {"cells", reads_patches, "overlay"},
                               {"csv", names_pictures, NULL},
                               {0}};

typedef struct {
    heed_run *run;
    guess *guesses; /* probabilities of all classes for the current input */
    int classes, done;
    picture_names names;
    heed_text table; /* rows of --csv */
} classifier;

/* ---- one input ---- */

/* Words and their labels, separated by a tab, as in a training file. */
static json_t *labels_of(classifier *k, const heed_example *e, const heed_tensor *y) {
    json_t *labels = json_array();
    for (size_t i = 0; i < e->word_count; i++) {
        bool read = e->words[i] != HEED_NO_TOKEN; /* else the model does not read the word */
        if (read) guesses_of(y->x + e->words[i] * (size_t)k->classes, k->classes, k->guesses);
        json_array_append_new(labels,
                              read ? json_text(k->run->labels[k->guesses->label]) : json_null());
    }
    return labels;
}

static void print_labels(program *p, const char *text, const json_t *labels) {
    for (size_t i = 0; i < json_array_size(labels); i++) {
        const char *label = json_string_value(json_array_get(labels, i));
        if (i == 0) print_shown(p->c, text, "\t");
        printf("%s%s", i ? " " : "", label ? label : "-");
    }
    if (json_array_size(labels)) putchar('\n');
}

static json_t *classes_of(const classifier *k, int top) {
    char number[16];
    json_t *list = json_array();
    for (int i = 0; i < top; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:f}", "class",
                            json_text(heed_class_label(k->run, k->guesses[i].label, number)), "p",
                            k->guesses[i].p));
    return list;
}

/* The name, or a line of the text, and the classes. */
static void print_classes(program *p, classifier *k, const given_input *in, int top) {
    const char **labels = allocate(p->c, (size_t)top, sizeof *labels, "classes");
    char(*numbers)[16] = allocate(p->c, (size_t)top, sizeof *numbers, "classes");
    double *chances = allocate(p->c, (size_t)top, sizeof *chances, "classes");
    if (k->done) putchar('\n');
    if (in->picture)
        print_name(in->name, 0, 0), putchar('\n');
    else
        print_shown(p->c, in->name, "\n");
    for (int i = 0; labels && numbers && chances && i < top; i++) {
        labels[i] = heed_class_label(k->run, k->guesses[i].label, numbers[i]);
        chances[i] = k->guesses[i].p;
    }
    if (labels && numbers && chances) print_guesses(labels, chances, top);
    free((void *)labels);
    free(numbers);
    free(chances);
}

/* A row of the table for each class: the picture's file, the rank, the class, its probability. */
static void add_rows(classifier *k, const char *name, int top) {
    char number[16];
    if (!k->table.n) heed_text_add(&k->table, "input,rank,class,p\n");
    for (int i = 0; i < top; i++) {
        heed_csv_put(&k->table, name);
        heed_text_add(&k->table, ",%d,", i + 1);
        heed_csv_put(&k->table, heed_class_label(k->run, k->guesses[i].label, number));
        heed_text_add(&k->table, ",%.6f\n", k->guesses[i].p);
    }
}

/* Runs the model on the picture again, and writes the picture overlaid with the attention of [CLS]
 * (without [CLS]: the mean over all patches), for each head and their mean. */
static bool write_overlay(program *p, classifier *k, const heed_example *e, const char *name) {
    char path[1024];
    int layers;
    if (!name_outputs(p, &k->names, name)) return false;
    named_path(path, sizeof path, flag_text(p, "overlay"), k->names.name);
    free(heed_attention_layers(k->run, &layers)); /* only their number is needed */
    heed_record *r = capture_layer(k->run, e, p->flags, 0);
    bool ok = r != NULL;
    if (r) {
        heed_record_view v = heed_record_view_of(r, e->axes[0].first ? 0 : -1);
        v.layers = layers;
        v.cells = flag_on(p, "cells");
        ok = heed_view_save(p->c, &v, HEED_PNG, path);
    }
    if (ok && !flag_on(p, "json")) printf("  wrote %s\n", path);
    heed_record_free(r);
    return ok;
}

static bool classify(program *p, void *user, const given_input *in) {
    classifier *k = user;
    heed_example e = {0};
    int top = flag_int(p, "top") < k->classes ? flag_int(p, "top") : k->classes;
    bool words = names_words(k->run->model);
    bool ok = example_of_given(k->run, in, NULL, &e);
    heed_tape_begin(k->run->tape, HEED_EVAL, 0);
    const heed_tensor *y = ok ? heed_run_logits(k->run, &e, k->run->tape) : NULL;
    ok = y != NULL;
    if (ok && !words) guesses_of(y->x, k->classes, k->guesses);
    json_t *labels = ok && words ? labels_of(k, &e, y) : NULL;
    if (ok && flag_on(p, "json")) {
        json_t *o = json_pack("{s:o}", "input", json_text(in->name));
        json_object_set_new(o, words ? "labels" : "predictions",
                            words ? json_incref(labels) : classes_of(k, top));
        if (e.cut) json_object_set_new(o, "cut", json_integer((json_int_t)e.cut));
        print_json(p, o);
    } else if (ok && words)
        print_labels(p, in->name, labels);
    else if (ok)
        print_classes(p, k, in, top);
    if (ok && *flag_text(p, "csv")) add_rows(k, in->name, top);
    if (ok && *flag_text(p, "overlay")) ok = write_overlay(p, k, &e, in->name);
    k->done += ok;
    json_decref(labels);
    heed_example_free(&e);
    return ok && heed_ctx_status(p->c) == HEED_OK;
}

/* ---- heed classify ---- */

static bool classifier_open(program *p, classifier *k) {
    heed_run *r = k->run;
    heed_image_transform known;
    if (!r) return false;
    if (!names_classes(r->model)) return wrong_run(p, "a classifier of pictures or texts", r);
    if (sees_pictures(r->model) && !heed_image_transform_of(p->c, r->config, &known)) return false;
    if (!sees_pictures(r->model) && !r->labels)
        return heed_fail(p->c, HEED_DATA, "%s has lost its labels.txt; hint: restore a copy of it",
                         p->argv[0]);
    k->classes =
        sees_pictures(r->model) ? (int)heed_config_int(r->config, "classes") : r->label_count;
    k->guesses = allocate(p->c, (size_t)k->classes, sizeof *k->guesses, "classes");
    return k->guesses != NULL;
}

static void run_classify(program *p) {
    classifier k = {.run = open_run(p, p->argv[0]), .table = {.c = p->c}};
    const char *csv = flag_text(p, "csv");
    if (classifier_open(p, &k)) each_given(p, k.run, &k, classify, 0);
    if (k.table.s && heed_text_save(&k.table, csv) && !flag_on(p, "json"))
        printf("\nwrote %s\n", csv);
    heed_text_free(&k.table);
    heed_text_free(&k.names.used);
    free(k.guesses);
    close_run(p, k.run);
}

const command cmd_classify = {
    .name = "classify",
    .usage = "RUN [INPUT]...",
    .help = "classify pictures or texts, and show where the model looks",
    .about =
        "Prints the most probable classes of each picture. INPUT is a file, a folder (all\n"
        "pictures below it), a quoted pattern, or - for the standard input: the bytes of a\n"
        "picture, or a list of paths, one per line. Without INPUT, the standard input is read,\n"
        "which must not be empty. A picture that cannot be decoded is reported, the others are\n"
        "still classified, and the exit status is 3. Pictures are resized as in evaluation: the\n"
        "short side to the size of the run, then a centre crop.\n"
        "\n"
        "For a run of textcls or tag, INPUT is a text, and so is each line of the standard input.\n"
        "A run of tag prints a label for each word.",
    .examples = "  heed classify runs/flowers rose.jpg\n"
                "  heed classify runs/flowers photos --json > what.jsonl\n"
                "  heed classify runs/flowers rose.jpg --overlay rose-attention.png\n"
                "  curl -s https://example.org/rose.jpg | heed classify runs/flowers -\n",
    .options = options,
    .applies = uses,
    .for_texts = "attend",
    .computes = true,
    .opens_run = true,
    .numbers = true,
    .args = {1, -1},
    .run = run_classify,
};
