/* embed.c -- heed embed: the vectors of texts. */
#include "kinds/inputs.h"

#include <heed/exchange.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    WORDS("npy", "write the vectors to a file for NumPy, a row each", "Output"),
    SWITCH("json", "print a JSON object for each text", "Output"),
    {0}};

typedef struct {
    heed_run *r;
    bool json, keep;   /* printed as JSON; kept for a file */
    heed_params *rows; /* with `keep`: the vectors, in its entries */
    int width;
} vectors;

static void print_numbers_of(const heed_tensor *y) {
    for (size_t i = 0; i < y->size; i++) printf("%s%.6g", i ? " " : "", (double)y->x[i]);
    putchar('\n');
}

static bool embed_one(program *p, void *user, const char *text, size_t n) {
    vectors *v = user;
    char name[24];
    const heed_tensor *y =
        is_text_for(p->c, v->r->model, text) ? heed_text_vector(v->r, text, n) : NULL;
    if (!y) return false;
    v->width = (int)y->size;
    if (v->keep) {
        snprintf(name, sizeof name, "%d", heed_params_count(v->rows));
        heed_tensor *row = heed_buffer_new(v->rows, name, "zero", 1, &v->width);
        if (row) memcpy(row->x, y->x, y->size * sizeof *y->x);
        return row != NULL;
    }
    if (v->json)
        print_json(p, json_pack("{s:o, s:o}", "text", json_text(text), "vector",
                                json_numbers(y->x, v->width)));
    else
        print_numbers_of(y);
    return true;
}

static bool save(program *p, const vectors *v, const char *path) {
    int count = heed_params_count(v->rows), shape[] = {count, v->width};
    if (!count) return false;
    heed_tape_begin(v->r->tape, HEED_EVAL, 0);
    heed_tensor *all = heed_input(v->r->tape, NULL, 2, shape);
    for (int i = 0; all && i < count; i++)
        memcpy(all->x + (size_t)i * (size_t)v->width, heed_params_at(v->rows, i)->tensor->x,
               (size_t)v->width * sizeof *all->x);
    if (!all || !heed_npy_save(p->c, path, all)) return false;
    print_fact(0, "", "%s: %d vector%s of %d numbers", path, count, count == 1 ? "" : "s",
               v->width);
    return true;
}

static void embed(program *p) {
    const char *path = flag_text(p, "npy");
    heed_run *r = open_run(p, p->argv[0]);
    if (!r) return;
    vectors v = {.r = r, .json = flag_on(p, "json"), .keep = *path != 0};
    v.rows = heed_params_new(p->c);
    if (v.json && v.keep)
        heed_fail(p->c, HEED_USAGE, "two outputs: --json and --npy: expected one of them");
    else
        each_input(p, &v, embed_one, EMPTY_LINES | (v.keep || v.json ? 0 : BY_LINE));
    if (v.keep && p->status == HEED_OK) save(p, &v, path); /* a row for each input, or no file */
    close_run(p, r);
}

const command cmd_embed = {
    .name = "embed",
    .usage = "RUN [TEXT]...",
    .help = "turn texts into vectors",
    .about =
        "Prints the vector of each text as numbers separated by spaces. It is the mean of the\n"
        "encoder's outputs, or the output of [CLS] (the setting pool), and has length 1 with the\n"
        "setting unit. For a classifier it is the input of the output layer. An imported\n"
        "sentence-transformers model has its own settings. Without TEXT, each line of the\n"
        "standard input is a text, also an empty line; there must be one.",
    .examples = "  heed embed runs/minilm \"A man eats bread.\" --json\n"
                "  heed embed runs/minilm --npy vectors.npy < sentences.txt\n",
    .options = options,
    .computes = true,
    .opens_run = true,
    .args = {1, -1},
    .run = embed,
};
