/* guesses.c -- the most probable classes of an input, and heed classify for texts: the classes of
 * each, or a label for each word. */
#include "kinds/image.h"
#include "kinds/inputs.h"
#include "kinds/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_probability(const void *a, const void *b) {
    const guess *x = a, *y = b;
    if (x->p != y->p) return x->p > y->p ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

void guesses_of(const heed_real *logits, int n, guess *g) {
    double top = (double)logits[0], sum = 0;
    for (int i = 1; i < n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < n; i++) {
        g[i] = (guess){exp((double)logits[i] - top), i};
        sum += g[i].p;
    }
    for (int i = 0; i < n; i++) g[i].p /= sum;
    qsort(g, (size_t)n, sizeof *g, by_probability);
}

int guess_width(int width, const char *label) {
    int n = heed_label_columns(label);
    return n > width && n < 40 ? n : width;
}

void print_guess(const char *label, int width, double p) {
    bool color = has_color(stdout);
    char number[16];
    int taken = width > heed_label_columns(label) ? width : heed_label_columns(label);
    int left = line_width(stdout) - taken - 12, cells = left < 0 ? 0 : left < 24 ? left : 24;
    int length = (int)lround(cells * p);
    fputs("  ", stdout);
    print_name(label, width, 0);
    printf(" %7s", probability_text(number, p, PROBABILITY_COLUMN));
    if (length > 0) fputs(color ? "  \033[36m" : "  ", stdout);
    for (int i = 0; i < length; i++) fputs(color ? "\xe2\x96\x88" : "#", stdout);
    if (length > 0 && color) fputs("\033[0m", stdout);
    putchar('\n');
}

void print_class_guesses(const heed_run *r, const guess *g, int top) {
    char number[16];
    int width = 8;
    for (int i = 0; i < top; i++)
        width = guess_width(width, heed_class_label(r, g[i].label, number));
    for (int i = 0; i < top; i++)
        print_guess(heed_class_label(r, g[i].label, number), width, g[i].p);
}

json_t *class_guesses_json(const heed_run *r, const guess *g, int top) {
    char number[16];
    json_t *list = json_array();
    for (int i = 0; i < top; i++)
        json_array_append_new(list, json_pack("{s:o, s:f}", "class",
                                              json_text(heed_class_label(r, g[i].label, number)),
                                              "p", g[i].p));
    return list;
}

/* ---- heed classify for texts ---- */

typedef struct {
    heed_run *run;
    heed_reader how;
    heed_example text; /* the current text */
    guess *guesses;
    int done;
} reader;

/* Prints what is predicted for the text, with the number of its tokens that were not read. */
static void print_read(program *p, const reader *k, json_t *o) {
    if (k->text.cut) json_object_set_new(o, "cut", json_integer((json_int_t)k->text.cut));
    print_json(p, o);
}

/* Prints words and their labels, separated by a tab, as in a training file. */
static void print_tags(program *p, reader *k, const char *text, size_t n, const heed_tensor *y) {
    json_t *labels = json_array();
    heed_text line = {.c = p->c};
    for (size_t i = 0; i < k->text.word_count; i++) {
        const char *label = "-"; /* the model does not read the word */
        bool read = k->text.words[i] != HEED_NO_TOKEN;
        if (read) {
            guesses_of(y->x + k->text.words[i] * (size_t)k->run->label_count, k->run->label_count,
                       k->guesses);
            label = k->run->labels[k->guesses->label];
        }
        json_array_append_new(labels, read ? json_text(label) : json_null());
        heed_text_add(&line, "%s%s", i ? " " : "", label);
    }
    if (heed_config_bool(p->flags, "json"))
        print_read(p, k, json_pack("{s:o, s:O}", "input", json_stringn(text, n), "labels", labels));
    else if (line.s) {
        print_shown(p->c, text, "\t");
        puts(line.s);
    }
    json_decref(labels);
    heed_text_free(&line);
}

static bool classify_one(program *p, void *user, const char *text, size_t n) {
    reader *k = user;
    const heed_run *r = k->run;
    const heed_tokens *tokens = &k->text.text.tokens;
    int top = (int)heed_config_int(p->flags, "top"), classes = r->label_count;
    if (!heed_example_text(&k->how, text, n, &k->text)) return false;
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_tensor *ids = heed_ids(r->tape, tokens->ids, 1, (int)tokens->count);
    heed_tensor *y = r->model->logits(r->self, r->tape, &(heed_model_input){.x = ids});
    if (!y) return false;
    if (names_words(r->model))
        print_tags(p, k, text, n, y);
    else {
        guesses_of(y->x, classes, k->guesses);
        if (top > classes) top = classes;
        if (heed_config_bool(p->flags, "json"))
            print_read(p, k,
                       json_pack("{s:o, s:o}", "input", json_stringn(text, n), "predictions",
                                 class_guesses_json(r, k->guesses, top)));
        else {
            if (k->done) putchar('\n');
            print_shown(p->c, text, "\n");
            print_class_guesses(r, k->guesses, top);
        }
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
        each_input(p, &k, classify_one, 0);
    else
        heed_fail(p->c, HEED_FAILED, "no memory for %d labels", r->label_count);
    heed_example_free(&k.text);
    free(k.guesses);
}
