/* classify.c -- heed classify: a run's predictions for pictures. */
#include "cli/os_files.h"
#include "commands/attend.h"
#include "kinds/image.h"
#include "kinds/pairs.h"

#include <errno.h>
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
    program *p;
    heed_run *run;
    heed_reader how;
    guess *guesses; /* probabilities of all classes for the current picture */
    int classes, done;
    bool json;
    picture_names names;
    heed_text table; /* rows of --csv */
} classifier;

/* ---- one picture ---- */

/* Logits of a picture, on the run's tape; NULL: an error. */
static heed_tensor *logits_of(classifier *k, heed_picture *p, const char *name) {
    heed_example e = {0};
    const heed_image_transform *v = &e.transform;
    heed_tape *t = k->run->tape;
    heed_tensor *y = NULL;
    if (heed_example_picture(&k->how, p, name, &e)) {
        heed_tape_begin(t, HEED_EVAL, 0);
        heed_tensor *x = heed_input(t, e.x, 4, (int[]){1, v->size, v->size, v->channels});
        y = k->run->model->logits(k->run->self, t, &(heed_model_input){.x = x});
    }
    heed_example_free(&e);
    return y;
}

static void print_classes_of(const classifier *k, const char *name, int top) {
    if (k->json) {
        print_json(k->p, json_pack("{s:o, s:o}", "input", json_text(name), "predictions",
                                   class_guesses_json(k->run, k->guesses, top)));
        return;
    }
    if (k->done) putchar('\n');
    print_name(name, 0, 0);
    putchar('\n');
    print_class_guesses(k->run, k->guesses, top);
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

static void write_table(const classifier *k, const char *path) {
    if (heed_text_save(&k->table, path) && !k->json) printf("\nwrote %s\n", path);
}

/* Runs the model on the picture again, and writes the picture overlaid with the attention of [CLS]
 * (without [CLS]: the mean over all patches), for each head and their mean. */
static bool write_overlay(classifier *k, heed_picture *p, const char *name) {
    char path[1024];
    int layers;
    heed_inspection s;
    if (!name_outputs(k->p, &k->names, name)) return false;
    named_path(path, sizeof path, flag_text(k->p, "overlay"), k->names.name);
    free(heed_attention_layers(k->run, &layers)); /* only their number is needed */
    heed_record *r =
        heed_inspection_picture(&s, k->run, p, name) ? capture_layer(&s, k->p->flags, 0) : NULL;
    bool ok = false;
    if (r) {
        heed_record_view v = heed_record_view_of(r, s.axes[0].first ? 0 : -1);
        v.layers = layers;
        v.cells = flag_on(k->p, "cells");
        ok = heed_record_png(k->p->c, &v, path);
    }
    if (ok && !k->json) printf("  wrote %s\n", path);
    heed_record_free(r);
    heed_inspection_free(&s);
    return ok;
}

static bool classify(program *p, void *user, const char *name, heed_picture *picture) {
    classifier *k = user;
    int top = flag_int(p, "top");
    heed_tensor *y = logits_of(k, picture, name);
    if (y) {
        guesses_of(y->x, k->classes, k->guesses);
        if (top > k->classes) top = k->classes;
        print_classes_of(k, name, top);
        if (*flag_text(p, "csv")) add_rows(k, name, top);
        if (*flag_text(p, "overlay")) write_overlay(k, picture, name);
        k->done++;
    }
    return heed_ctx_status(p->c) == HEED_OK;
}

/* ---- heed classify ---- */

static bool classifier_open(program *p, classifier *k) {
    heed_run *r = k->run;
    if (!names_class(r->model) || !reads_pictures(r->model))
        return wrong_run(p, "a classifier of pictures or texts", r);
    heed_image_transform known;
    if (!heed_image_transform_of(p->c, r->config, &known)) return false;
    k->how = heed_run_reader(r);
    k->classes = (int)heed_config_int(r->config, "classes");
    k->json = flag_on(p, "json");
    k->guesses = allocate(p->c, (size_t)k->classes, sizeof *k->guesses, "classes");
    return k->guesses != NULL;
}

static void run_classify(program *p) {
    classifier k = {.p = p, .run = open_run(p, p->argv[0]), .table = {.c = p->c}};
    if (k.run && names_classes(k.run->model) && sees_texts(k.run->model))
        classify_texts(p, k.run);
    else if (k.run && classifier_open(p, &k))
        each_picture(p, k.run, &k, classify);
    if (k.table.s) write_table(&k, flag_text(p, "csv"));
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
