/* classify_text.c -- heed classify of texts: the classes of each, or a label for each word. */
#include "pairs.h"
#include "pictures.h"
#include "using.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    heed_run *run;
    heed_tokens tokens; /* of the text at hand */
    size_t *first;      /* tag: the first token of each word */
    size_t words, room;
    guess *guesses;
    int done;
} reader;

/* ---- a text as tokens ---- */

static bool word_room(reader *k) {
    if (k->words < k->room) return true;
    size_t room = k->room ? 2 * k->room : 64;
    size_t *first = realloc(k->first, room * sizeof *first);
    if (!first) return heed_fail(k->run->c, HEED_FAILED, "no memory for %zu words", room);
    k->first = first;
    k->room = room;
    return true;
}

/* A word that leaves no token stands as [UNK], as in training. */
static bool add_word(reader *k, const char *word, size_t n) {
    size_t before = k->tokens.count;
    const heed_tokenizer *t = k->run->tokenizer;
    if (!word_room(k) || !heed_encode(t, word, n, &k->tokens)) return false;
    if (k->tokens.count == before && !heed_encode(t, "[UNK]", 5, &k->tokens)) return false;
    k->first[k->words++] = before;
    return true;
}

static bool add_words(reader *k, const char *text, size_t n) {
    for (size_t at = 0; at < n;) {
        size_t begin = at;
        while (at < n && !isspace((unsigned char)text[at])) at++;
        if (at > begin && !add_word(k, text + begin, at - begin)) return false;
        while (at < n && isspace((unsigned char)text[at])) at++;
    }
    return true;
}

static bool read_text(reader *k, const char *text, size_t n) {
    const heed_run *r = k->run;
    int64_t block = heed_config_int(r->config, "block");
    k->tokens.count = k->words = 0;
    bool ok = r->model == &heed_model_tag ? add_words(k, text, n)
                                          : heed_encode(r->tokenizer, text, n, &k->tokens);
    if (ok && k->tokens.count == 0) ok = heed_fail(r->c, HEED_DATA, "the input is empty");
    if (ok && k->tokens.count >= (size_t)block)
        ok = heed_fail(r->c, HEED_DATA,
                       "the input is too long: %zu tokens with [SEP], the model takes %lld: "
                       "%.*s...",
                       k->tokens.count + 1, (long long)block, n < 40 ? (int)n : 40, text);
    return ok && heed_encode(r->tokenizer, "[SEP]", 5, &k->tokens);
}

/* ---- what the model says ---- */

static heed_tensor *logits_of(const reader *k) {
    const heed_run *r = k->run;
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_tensor *ids = heed_ids(r->tape, k->tokens.ids, 1, (int)k->tokens.count);
    return r->model == &heed_model_tag ? tag_logits(r->self, r->tape, ids, NULL)
                                       : textcls_logits(r->self, r->tape, ids, NULL);
}

static void print_classes_of(program *p, reader *k, const char *text, size_t n, int top) {
    int width = 8;
    json_t *list = heed_config_bool(p->flags, "json") ? json_array() : NULL;
    for (int i = 0; i < top; i++) {
        int columns = text_columns(k->run->labels[k->guesses[i].label]);
        if (columns > width && columns < 40) width = columns;
    }
    if (!list) printf("%s%.*s\n", k->done ? "\n" : "", (int)n, text);
    for (int i = 0; i < top; i++) {
        const char *label = k->run->labels[k->guesses[i].label];
        int pad = width - text_columns(label);
        if (list)
            json_array_append_new(list,
                                  json_pack("{s:s, s:f}", "class", label, "p", k->guesses[i].p));
        else {
            printf("  %s%*s  %.4f  ", label, pad > 0 ? pad : 0, "", k->guesses[i].p);
            print_bar(k->guesses[i].p);
        }
    }
    if (list)
        print_json(p, json_pack("{s:o, s:o}", "input", json_stringn(text, n), "predictions", list));
}

/* Words and their labels, parted by a tab, as a file of training has them. */
static void print_tags(program *p, reader *k, const char *text, size_t n, const heed_tensor *y) {
    json_t *labels = json_array();
    heed_text line = {.c = p->c};
    for (size_t i = 0; i < k->words; i++) {
        guesses_of(y->x + k->first[i] * (size_t)k->run->label_count, k->run->label_count,
                   k->guesses);
        const char *label = k->run->labels[k->guesses->label];
        json_array_append_new(labels, json_string(label));
        heed_text_add(&line, "%s%s", i ? " " : "", label);
    }
    if (heed_config_bool(p->flags, "json"))
        print_json(p, json_pack("{s:o, s:O}", "input", json_stringn(text, n), "labels", labels));
    else if (line.s)
        printf("%.*s\t%s\n", (int)n, text, line.s);
    json_decref(labels);
    heed_text_free(&line);
}

static bool classify_one(program *p, void *user, const char *text, size_t n) {
    reader *k = user;
    int top = (int)heed_config_int(p->flags, "top"), classes = k->run->label_count;
    heed_tensor *y = read_text(k, text, n) ? logits_of(k) : NULL;
    if (!y) return false;
    if (k->run->model == &heed_model_tag)
        print_tags(p, k, text, n, y);
    else {
        guesses_of(y->x, classes, k->guesses);
        print_classes_of(p, k, text, n, top < classes ? top : classes);
    }
    k->done++;
    return heed_state(p->c) == HEED_OK;
}

void classify_texts(program *p, heed_run *r) {
    reader k = {.run = r, .tokens = {.c = r->c}};
    if (!r->labels) {
        heed_fail(p->c, HEED_DATA, "%s has lost its labels.txt; hint: bring back a copy of it",
                  p->argv[0]);
        return;
    }
    k.guesses = malloc((size_t)r->label_count * sizeof *k.guesses);
    if (k.guesses)
        each_input(p, &k, classify_one);
    else
        heed_fail(p->c, HEED_FAILED, "no memory for %d labels", r->label_count);
    heed_tokens_free(&k.tokens);
    free(k.guesses);
    free(k.first);
}
