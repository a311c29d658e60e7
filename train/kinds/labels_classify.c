/* labels_classify.c -- heed classify for texts: the classes of each, or a label for each word. */
#include "kinds/image.h"
#include "kinds/inputs.h"
#include "kinds/pairs.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    heed_run *run;
    heed_reader how;
    heed_example text; /* the current text */
    guess *guesses;
    int done;
} reader;

/* ---- predictions ---- */

static heed_tensor *logits_of(const reader *k) {
    const heed_run *r = k->run;
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    const heed_tokens *tokens = &k->text.text.tokens;
    heed_tensor *ids = heed_ids(r->tape, tokens->ids, 1, (int)tokens->count);
    return r->model->logits(r->self, r->tape, &(heed_model_input){.x = ids});
}

static void print_classes_of(program *p, reader *k, const char *text, size_t n, int top) {
    int width = 8;
    json_t *list = heed_config_bool(p->flags, "json") ? json_array() : NULL;
    for (int i = 0; i < top; i++) width = guess_width(width, k->run->labels[k->guesses[i].label]);
    if (!list && k->done) putchar('\n');
    if (!list) print_shown(p->c, text, "\n");
    for (int i = 0; i < top; i++) {
        const char *label = k->run->labels[k->guesses[i].label];
        if (list)
            json_array_append_new(
                list, json_pack("{s:o, s:f}", "class", json_text(label), "p", k->guesses[i].p));
        else
            print_guess(label, width, k->guesses[i].p);
    }
    if (list)
        print_json(p, json_pack("{s:o, s:o}", "input", json_stringn(text, n), "predictions", list));
}

/* Prints words and their labels, separated by a tab, as in a training file. */
static void print_tags(program *p, reader *k, const char *text, size_t n, const heed_tensor *y) {
    json_t *labels = json_array();
    heed_text line = {.c = p->c};
    for (size_t i = 0; i < k->text.word_count; i++) {
        guesses_of(y->x + k->text.words[i] * (size_t)k->run->label_count, k->run->label_count,
                   k->guesses);
        const char *label = k->run->labels[k->guesses->label];
        json_array_append_new(labels, json_text(label));
        heed_text_add(&line, "%s%s", i ? " " : "", label);
    }
    if (heed_config_bool(p->flags, "json"))
        print_json(p, json_pack("{s:o, s:O}", "input", json_stringn(text, n), "labels", labels));
    else if (line.s) {
        print_shown(p->c, text, "\t");
        puts(line.s);
    }
    json_decref(labels);
    heed_text_free(&line);
}

static bool classify_one(program *p, void *user, const char *text, size_t n) {
    reader *k = user;
    int top = (int)heed_config_int(p->flags, "top"), classes = k->run->label_count;
    if (!heed_example_text(&k->how, text, n, &k->text)) return false;
    heed_tensor *y = logits_of(k);
    if (!y) return false;
    if (k->run->model->answers == HEED_ANSWER_SAME)
        print_tags(p, k, text, n, y);
    else {
        guesses_of(y->x, classes, k->guesses);
        print_classes_of(p, k, text, n, top < classes ? top : classes);
    }
    k->done++;
    return heed_ctx_status(p->c) == HEED_OK;
}

void classify_texts(program *p, heed_run *r) {
    reader k = {.run = r, .how = heed_run_reader(r)};
    if (!r->labels) {
        heed_fail(p->c, HEED_DATA, "%s has lost its labels.txt; hint: restore a copy of it",
                  p->argv[0]);
        return;
    }
    k.guesses = malloc((size_t)r->label_count * sizeof *k.guesses);
    if (k.guesses)
        each_input(p, &k, classify_one, false);
    else
        heed_fail(p->c, HEED_FAILED, "no memory for %d labels", r->label_count);
    heed_example_free(&k.text);
    free(k.guesses);
}
