/* classify.c -- heed classify: a run's predictions for pictures. */
#include "cli/choice.h"
#include "cli/files.h"
#include "commands/overlay.h"
#include "kinds/image.h"
#include "kinds/inputs.h"
#include "kinds/pairs.h"

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    {"top", HEED_INT, "5", 1, 100000, NULL, "classes to print for each picture", "Output"},
    {"convert", HEED_BOOL, "false", 0, 0, NULL,
     "convert pictures of other channels to grey or colour, as the run requires", "Output"},
    {"overlay", HEED_TEXT, "", 0, 0, NULL,
     "vit: write the attention over the picture; of several pictures FILE-2.png and so on",
     "Output"},
    CHOOSE_LAYER("Output"),
    {"cells", HEED_BOOL, "false", 0, 0, NULL, "show it patch by patch instead of smoothly",
     "Output"},
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print a JSON object for each picture", "Output"},
    {0}};

static const applies uses[] = {
    {"top", names_class, NULL},          {"convert", reads_pictures, NULL},
    {"overlay", reads_patches, NULL},    {"layer", reads_patches, "overlay"},
    {"cells", reads_patches, "overlay"}, {0}};

typedef struct {
    program *p;
    heed_run *run;
    heed_reader how;
    guess *guesses; /* probabilities of all classes for the current picture */
    int classes, done;
    bool json;
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

static bool write_overlay(classifier *k, heed_picture *p) {
    char path[1024];
    overlay o = {.p = k->p,
                 .run = k->run,
                 .layer = (int)heed_config_int(k->p->flags, "layer"),
                 .cells = heed_config_bool(k->p->flags, "cells"),
                 .path = path};
    numbered_path(path, sizeof path, heed_config_text(k->p->flags, "overlay"), k->done + 1);
    if (!overlay_write(&o, p)) return false;
    if (!k->json) printf("  wrote %s\n", path);
    return true;
}

/* name: as it is shown. Frees the picture. */
static bool classify(classifier *k, const char *name, heed_picture *p) {
    int top = (int)heed_config_int(k->p->flags, "top");
    bool draws = *heed_config_text(k->p->flags, "overlay");
    heed_tensor *y = logits_of(k, p, name);
    if (y) {
        guesses_of(y->x, k->classes, k->guesses);
        if (top > k->classes) top = k->classes;
        print_classes_of(k, name, top);
        if (draws) write_overlay(k, p);
        k->done++;
    }
    heed_picture_free(p);
    return heed_ctx_status(k->p->c) == HEED_OK;
}

/* ---- where pictures come from ---- */

static bool undecodable(classifier *k, heed_status status, const char *name, const char *why) {
    return heed_fail(k->p->c, status, "%s %s", name, why);
}

static void take_file(classifier *k, const char *path) {
    char why[HEED_WHY];
    heed_picture p = {0};
    heed_status status = heed_picture_read(path, &p, why);
    if (status != HEED_OK)
        undecodable(k, status, path, why);
    else
        classify(k, path, &p);
    program_complain(k->p);
}

static void take_all(classifier *k, const paths *list, const char *from) {
    if (list->count == 0 && heed_ctx_status(k->p->c) == HEED_OK)
        heed_fail(k->p->c, HEED_DATA, "no pictures below %s: expected JPEG, PNG, BMP or TGA files",
                  from);
    program_complain(k->p);
    for (size_t i = 0; i < list->count; i++) take_file(k, list->at[i]);
}

/* Classifies a file, a folder, or a pattern that the shell did not expand. */
static void take_path(classifier *k, const char *path) {
    paths list = {0};
    if (is_directory(path)) {
        paths_of_folder(k->p->c, path, &list);
        take_all(k, &list, path);
    } else if (!is_file(path) && is_pattern(path)) {
        paths_of_pattern(k->p->c, path, &list);
        if (heed_ctx_status(k->p->c) != HEED_OK)
            program_complain(k->p);
        else
            take_all(k, &list, path);
    } else
        take_file(k, path);
    paths_free(&list);
}

/* A list of paths contains no control bytes except line breaks and tabs; the first bytes of a
 * picture do, or have no line break. */
static bool is_list(const heed_text *t) {
    for (size_t i = 0; i < t->n && i < 4096; i++) {
        unsigned char byte = (unsigned char)t->s[i];
        if (byte < 32 && byte != '\n' && byte != '\r' && byte != '\t') return false;
    }
    return true;
}

static void take_stdin(classifier *k) {
    heed_text text = {.c = k->p->c};
    char why[HEED_WHY];
    heed_picture p = {0};
    if (is_terminal(stdin)) print_note("", "reading paths from the keyboard; Ctrl-D ends");
    bool read = read_stdin(k->p->c, &text);
    if (read && strspn(text.s ? text.s : "", " \t\r\n") == text.n) {
        heed_fail(k->p->c, HEED_DATA,
                  "standard input is empty: expected a picture or a list of paths");
    } else if (read && is_list(&text)) {
        for (char *line = text.s, *next; line && *line; line = next) {
            next = line + strcspn(line, "\r\n");
            if (*next) *next++ = 0;
            if (*line) take_path(k, line);
        }
    } else if (heed_ctx_status(k->p->c) == HEED_OK) {
        heed_status status = heed_picture_decode(text.s, text.n, NULL, &p, why);
        if (status != HEED_OK)
            undecodable(k, status, "standard input", why);
        else
            classify(k, "-", &p);
    }
    program_complain(k->p);
    heed_text_free(&text);
}

/* ---- heed classify ---- */

static bool classifier_open(program *p, classifier *k) {
    heed_run *r = k->run;
    if (r->model->kind != HEED_INPUT_PICTURE)
        return wrong_run(p, "a classifier of pictures or texts", r);
    heed_image_transform known;
    if (!heed_image_transform_of(p->c, r->config, &known)) return false;
    k->how = heed_run_reader(r);
    k->how.convert =
        heed_config_bool(p->flags, "convert") || heed_config_bool(r->config, "convert");
    k->classes = (int)heed_config_int(r->config, "classes");
    k->json = heed_config_bool(p->flags, "json");
    k->guesses = malloc((size_t)k->classes * sizeof *k->guesses);
    return k->guesses || heed_fail(p->c, HEED_FAILED, "no memory for %d classes", k->classes);
}

static void run_classify(program *p) {
    classifier k = {.p = p, .run = open_run(p, p->argv[0])};
    if (k.run && k.run->model->kind == HEED_INPUT_LABELLED)
        classify_texts(p, k.run);
    else if (k.run && classifier_open(p, &k)) {
        for (int i = 1; i < p->argc; i++)
            if (strcmp(p->argv[i], "-") == 0)
                take_stdin(&k);
            else
                take_path(&k, p->argv[i]);
        if (p->argc == 1) take_stdin(&k);
    }
    free(k.guesses);
    heed_run_close(k.run);
}

const command cmd_classify = {
    .name = "classify",
    .usage = "RUN [INPUT]...",
    .help = "classify pictures or texts, and show where the model looks",
    .about =
        "Prints the most probable classes of each picture. INPUT is a file, a folder (all\n"
        "pictures below it), a quoted pattern, or - for one picture's bytes on the standard\n"
        "input. Without INPUT, the standard input is a list of paths, a line each. What cannot\n"
        "be decoded is reported, the others still print, and the exit status is 3. Pictures are\n"
        "resized as in evaluation: the short side to the size of the run, then a centre crop.\n"
        "For a run of textcls or tag, INPUT is a text, and so is each line of the standard input;\n"
        "of tag, a label for each word is printed.",
    .examples = "  heed classify runs/flowers rose.jpg\n"
                "  heed classify runs/flowers photos --json > what.jsonl\n"
                "  heed classify runs/flowers rose.jpg --overlay rose-attention.png\n"
                "  curl -s https://example.org/rose.jpg | heed classify runs/flowers -\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .numbers = true,
    .min = 1,
    .max = -1,
    .run = run_classify,
};
