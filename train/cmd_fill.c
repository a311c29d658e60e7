/* cmd_fill.c -- heed fill: what stands at [MASK], and what the mask attends to. */
#include "using.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    {"top", HEED_INT, "5", 1, 1000, NULL, "predictions to print", "Output"},
    {"layer", HEED_INT, "0", 0, 64, NULL, "layer whose attention is shown, from 1; 0: the last",
     "Output"},
    {"attention", HEED_BOOL, "true", 0, 0, NULL, "show the attention of the masks", "Output"},
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print a JSON object for each input", "Output"},
    {0}};

typedef struct {
    double p;
    int32_t id;
} guess;

static int by_probability(const void *a, const void *b) {
    const guess *x = a, *y = b;
    if (x->p != y->p) return x->p > y->p ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* softmax(logits), sorted; to be freed. */
static guess *guesses(heed_ctx *c, const heed_real *logits, int n) {
    guess *g = malloc((size_t)n * sizeof *g);
    double top = (double)logits[0], sum = 0;
    if (!g) {
        heed_fail(c, HEED_FAILED, "no memory for %d predictions", n);
        return NULL;
    }
    for (int i = 1; i < n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < n; i++) {
        g[i] = (guess){exp((double)logits[i] - top), i};
        sum += g[i].p;
    }
    for (int i = 0; i < n; i++) g[i].p /= sum;
    qsort(g, (size_t)n, sizeof *g, by_probability);
    return g;
}

/* ---- output ---- */

static void print_bar(double share) {
    bool color = has_color(stdout);
    int full = (int)lround(24 * share);
    if (color) fputs("\033[36m", stdout);
    for (int i = 0; i < full; i++) fputs(color ? "\xe2\x96\x88" : "#", stdout);
    puts(color ? "\033[0m" : "");
}

static void print_guesses(const heed_run *r, const guess *g, int top) {
    char name[128];
    int width = 8;
    for (int i = 0; i < top; i++) {
        int n = text_columns(show_token(name, sizeof name, heed_token_text(r->tokenizer, g[i].id)));
        if (n > width && n < 40) width = n;
    }
    for (int i = 0; i < top; i++) {
        show_token(name, sizeof name, heed_token_text(r->tokenizer, g[i].id));
        int pad = width - text_columns(name);
        printf("  %s%*s  %.4f  ", name, pad > 0 ? pad : 0, "", g[i].p);
        print_bar(g[i].p);
    }
}

static json_t *guesses_json(const heed_run *r, const guess *g, int top) {
    json_t *list = json_array();
    for (int i = 0; i < top; i++)
        json_array_append_new(list, json_pack("{s:s, s:f}", "token",
                                              heed_token_text(r->tokenizer, g[i].id), "p", g[i].p));
    return list;
}

/* One mask: printed, or as {position, predictions, attention}. */
static bool show_mask(program *p, const guess *g, attention *a, json_t *masks) {
    const heed_run *r = a->run;
    int vocab = heed_vocab_size(r->tokenizer), top = (int)heed_config_int(p->flags, "top");
    bool attend = heed_config_bool(p->flags, "attention");
    if (top > vocab) top = vocab;
    if (!masks) {
        print_guesses(r, g, top);
        putchar('\n');
        if (attend && attention_print(a)) putchar('\n');
        return heed_state(r->c) == HEED_OK;
    }
    json_t *o =
        json_pack("{s:i, s:o}", "position", a->position, "predictions", guesses_json(r, g, top));
    if (attend) json_object_set_new(o, "attention", attention_json(a));
    json_array_append_new(masks, o);
    return heed_state(r->c) == HEED_OK;
}

/* ---- one input ---- */

/* Positions of the masks into picks, which has room for all tokens. */
static int find_masks(const heed_run *r, const input *in, int32_t *picks) {
    int mask = heed_tokenizer_specials(r->tokenizer).mask, n = 0;
    for (int i = 0; i < in->count; i++)
        if (in->ids[i] == mask) picks[n++] = i;
    return n;
}

static bool check_input(const heed_run *r, const input *in, int masks, const char *text, size_t n) {
    int64_t block = heed_config_int(r->config, "block");
    if (masks == 0)
        return heed_fail(r->c, HEED_DATA,
                         "no [MASK] in the input: %.*s; hint: write [MASK] for the word to guess",
                         n < 80 ? (int)n : 80, text);
    if (in->count > block)
        return heed_fail(r->c, HEED_DATA,
                         "the input is too long: %d tokens, the model takes %lld: %.40s...",
                         in->count, (long long)block, text);
    return true;
}

static bool show_masks(program *p, heed_run *r, const input *in, const int32_t *picks, int masks,
                       json_t *list) {
    int len = in->count, vocab = heed_vocab_size(r->tokenizer);
    attention a = {.run = r,
                   .layer = (int)heed_config_int(p->flags, "layer"),
                   .count = len,
                   .label = in->label};
    if (heed_config_bool(p->flags, "attention") && !attention_ask(&a)) return false;
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_tensor *logits = mlm_logits(r->self, r->tape, heed_ids(r->tape, in->ids, 1, len), NULL,
                                     NULL, heed_input_ids(r->tape, picks, 1, &masks));
    for (int i = 0; logits && i < masks; i++) {
        guess *g = guesses(r->c, logits->x + (size_t)i * (size_t)vocab, vocab);
        a.position = picks[i];
        if (g) show_mask(p, g, &a, list);
        free(g);
    }
    return heed_state(r->c) == HEED_OK;
}

/* {input, tokens, position, predictions, attention}, of the first mask; with more than one, `masks`
 * has them all. */
static void print_object(program *p, const char *text, size_t n, const input *in, json_t *masks) {
    json_t *o = json_object(), *tokens = json_array();
    json_object_set_new(o, "input", json_stringn(text, n));
    for (int i = 0; i < in->count; i++) json_array_append_new(tokens, json_string(in->label[i]));
    json_object_set_new(o, "tokens", tokens);
    json_object_update(o, json_array_get(masks, 0));
    if (json_array_size(masks) > 1) json_object_set(o, "masks", masks);
    print_json(p, o);
}

static bool fill_one(program *p, void *user, const char *text, size_t n) {
    heed_run *r = user;
    json_t *list = heed_config_bool(p->flags, "json") ? json_array() : NULL;
    input in;
    bool ok = input_read(r, text, n, true, &in);
    int32_t *picks = ok ? malloc(((size_t)in.count + 1) * sizeof *picks) : NULL;
    if (ok && !picks) heed_fail(r->c, HEED_FAILED, "no memory for %d tokens", in.count);
    int masks = picks ? find_masks(r, &in, picks) : 0;
    ok = picks && check_input(r, &in, masks, text, n);
    if (ok && !list) printf("%.*s\n\n", (int)n, text);
    ok = ok && show_masks(p, r, &in, picks, masks, list);
    if (ok && list) print_object(p, text, n, &in, list);
    json_decref(list);
    free(picks);
    input_free(&in);
    return ok;
}

static void fill(program *p) {
    heed_run *r = open_run(p, p->argv[0]);
    if (!r) return;
    attention a = {.run = r, .layer = (int)heed_config_int(p->flags, "layer")};
    if (r->model != &heed_model_mlm)
        wrong_run(p, "a masked language model", r);
    else if (!heed_config_bool(p->flags, "attention") || attention_ask(&a))
        each_input(p, r, fill_one);
    heed_run_close(r);
}

const command cmd_fill = {
    .name = "fill",
    .usage = "RUN [TEXT]...",
    .help = "guess the words at [MASK], and show what the mask attends to",
    .about =
        "Prints the most probable words for each [MASK] of a text, and the attention that the\n"
        "mask pays to every token: of each head, and their mean. Without TEXT, each line of\n"
        "the standard input is one.",
    .examples = "  heed fill runs/book \"The king went to the [MASK] .\"\n"
                "  heed fill runs/book --json --top 1 < sentences.txt\n",
    .options = options,
    .computes = true,
    .min = 1,
    .max = -1,
    .run = fill,
};
