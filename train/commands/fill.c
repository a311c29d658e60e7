/* fill.c -- heed fill: predictions for [MASK], and what the mask attends to. */
#include "commands/attend.h"
#include "kinds/answers.h"

#include <heed/exchange.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static const heed_option options[] = {
    COUNT("top", "5", 1, 1000, "predictions to print", "Output"),
    WORDS("words", "probabilities of these words, as paris,rome, instead of the best ones",
          "Output"),
    CHOOSE_FOCUS("Output"),
    {"attention", HEED_OPTION_BOOL, "true", 0, 0, NULL, "show the attention of the masks",
     "Output"},
    SWITCH("json", "print a JSON object for each input", "Output"),
    {0}};

enum { MOST_WORDS = 1000 }; /* and most predictions */

/* ---- output ---- */

static void print_tokens(const heed_record_guess *g) {
    char names[MOST_WORDS][128];
    const char *labels[MOST_WORDS];
    double chances[MOST_WORDS];
    for (int i = 0; i < g->count; i++) {
        labels[i] = heed_format_token(names[i], sizeof names[i], g->labels[i]);
        chances[i] = (double)g->p[i];
    }
    print_guesses(labels, chances, g->count);
}

/* Prints one mask, or appends it as {position, predictions, attention}. */
static bool show_mask(program *p, const heed_record *r, const heed_record_guess *g, json_t *masks) {
    bool looks = flag_on(p, "attention");
    heed_record_view v = heed_record_view_of(r, g->query);
    if (!masks) {
        print_tokens(g);
        putchar('\n');
        if (looks && !attend_print_row(p, &v, NULL)) return false;
        if (looks) putchar('\n');
        return true;
    }
    json_t *list = json_array();
    for (int i = 0; i < g->count; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:f}", "token", json_text(g->labels[i]), "p", (double)g->p[i]));
    json_t *o = json_pack("{s:i, s:o}", "position", g->query + 1, "predictions", list);
    if (looks) json_object_set_new(o, "attention", attend_row_json(p, &v));
    json_array_append_new(masks, o);
    return heed_ctx_status(p->c) == HEED_OK;
}

/* Prints {input, tokens, position, predictions, attention} for the first mask; if there are
 * several, `masks` has all of them. */
static void print_object(program *p, const heed_record *r, json_t *masks) {
    json_t *o = json_pack("{s:o, s:o}", "input", json_text(r->title), "tokens",
                          json_texts(r->axes[0].labels, r->axes[0].count));
    json_object_update(o, json_array_get(masks, 0));
    if (json_array_size(masks) > 1) json_object_set(o, "masks", masks);
    print_json(p, o);
}

/* ---- the probabilities of given words ---- */

/* Reads --words a,b,c, each of which is one token. Returns their number; 0 on error. */
static int read_words(program *p, const heed_run *r, int32_t *ids) {
    const char *word = flag_text(p, "words");
    int count = 0, unknown = heed_tokenizer_specials(r->tokenizer).unk;
    for (bool more = true; more; count++) {
        size_t n = strcspn(word, ",");
        heed_tokens k = {.c = p->c};
        bool ok = count < MOST_WORDS && heed_encode_text(r->tokenizer, word, n, &k) &&
                  k.count == 1 && k.ids[0] != unknown;
        if (ok) ids[count] = k.ids[0];
        if (!ok && count == MOST_WORDS)
            heed_fail(p->c, HEED_USAGE, "--words has too many words: expected at most %d",
                      MOST_WORDS);
        else if (!ok && k.count == 1)
            heed_fail(p->c, HEED_USAGE,
                      "--words is wrong: \"%.*s\" is unknown to the vocabulary; hint: `tokenizer "
                      "info %s` shows known tokens",
                      (int)n, word, r->dir);
        else if (!ok)
            heed_fail(p->c, HEED_USAGE,
                      "--words is wrong: expected words of one token, found \"%.*s\" of %zu; hint: "
                      "`tokenizer encode %s \"%.*s\"` shows its pieces",
                      (int)n, word, k.count, r->dir, (int)n, word);
        heed_tokens_free(&k);
        if (!ok) return 0;
        more = word[n] == ',';
        word += n + more;
    }
    return count;
}

/* Shows the probabilities of words at each mask, by the softmax over the whole vocabulary. */
static bool show_words(program *p, const heed_run *run, const heed_example *e, const heed_record *r,
                       json_t *masks) {
    int32_t ids[MOST_WORDS];
    const char *labels[MOST_WORDS];
    heed_real chances[MOST_WORDS];
    heed_tape_begin(run->tape, HEED_EVAL, 0);
    const heed_tensor *y = heed_run_logits(run, e, run->tape);
    int count = y ? read_words(p, run, ids) : 0;
    for (int i = 0; count && i < e->question_count; i++) {
        const heed_real *logits = y->x + (size_t)e->questions[i].row * (size_t)y->shape[1];
        for (int j = 0; j < count; j++) {
            labels[j] = heed_token_text(run->tokenizer, ids[j]);
            chances[j] =
                (heed_real)exp(-(double)heed_prediction_of(logits, y->shape[1], ids[j]).loss);
        }
        heed_record_guess g = r->guesses[i];
        g.count = count, g.labels = labels, g.p = chances;
        if (!show_mask(p, r, &g, masks)) return false;
    }
    return count > 0;
}

/* ---- one input ---- */

/* Fails if the text has no mask but a word that looks like one, "[mask]", or if there is none in
 * the vocabulary. Before the text is read, so that the word is not also said to be unknown. */
static bool check_mask(program *p, const heed_run *r, const char *text) {
    int id = heed_tokenizer_specials(r->tokenizer).mask;
    const char *mask = heed_token_text(r->tokenizer, id);
    if (id < 0)
        return heed_fail(p->c, HEED_DATA,
                         "fill requires a tokenizer with a mask token: %s has %s, so that no token "
                         "is known as [MASK]; hint: `import` the model's folder with its "
                         "tokenizer.json or vocab.txt",
                         r->dir, r->tokenizer ? "one without" : "none");
    const char *const others[] = {mask, "[mask]", "<mask>", "___", NULL};
    if (strstr(text, mask)) return true;
    for (const char *s = text; *s; s++)
        for (const char *const *o = others; *o; o++)
            if (strncasecmp(s, *o, strlen(*o)) == 0)
                return heed_fail(p->c, HEED_DATA,
                                 "no %s in the input: found %.*s: did you mean %s?", mask,
                                 (int)strlen(*o), s, mask);
    return true;
}

static bool refuse_without_mask(program *p, const heed_run *r, const char *text) {
    const char *mask = heed_token_text(r->tokenizer, heed_tokenizer_specials(r->tokenizer).mask);
    return heed_fail(p->c, HEED_DATA,
                     "no %s in the input: %.*s; hint: write %s for the word to guess", mask,
                     (int)heed_label_cut(text, 80), text, mask);
}

static bool fill_one(program *p, void *user, const char *text, size_t n) {
    json_t *list = flag_on(p, "json") ? json_array() : NULL;
    heed_run *run = user;
    heed_example e = {0};
    bool ok =
        check_mask(p, run, text) && example_of_given(run, &(given_input){text, n, NULL}, NULL, &e);
    if (ok && e.question_count == 0) ok = refuse_without_mask(p, run, e.title);
    heed_record *r = ok ? capture_layer(run, &e, p->flags, flag_int(p, "top")) : NULL;
    ok = r != NULL;
    if (ok && !list) print_shown(p->c, text, "\n\n");
    bool words = flag_given(p, "words");
    if (ok && words) ok = show_words(p, run, &e, r, list);
    for (int i = 0; ok && !words && i < r->guess_count; i++)
        ok = show_mask(p, r, &r->guesses[i], list);
    if (ok && list) print_object(p, r, list);
    json_decref(list);
    heed_record_free(r);
    heed_example_free(&e);
    return ok;
}

/* Whether the arguments are the words of one text: no blank in any, and one without a [MASK]. */
static bool is_text_without_quotes(const program *p) {
    bool masks = true;
    for (int i = 1; i < p->argc; i++) {
        if (strchr(p->argv[i], ' ') || strcmp(p->argv[i], "-") == 0) return false;
        masks = masks && strstr(p->argv[i], "[MASK]");
    }
    return p->argc > 2 && !masks;
}

static void fill(program *p) {
    int layer;
    if (p->argc == 1 && strstr(p->argv[0], "[MASK]") && !is_directory(p->argv[0])) {
        heed_fail(p->c, HEED_USAGE,
                  "missing RUN: expected a run and a text, found only the text; hint: `fill RUN "
                  "TEXT`");
        return;
    }
    heed_run *r = open_run(p, p->argv[0]);
    if (!r) return;
    if (!fills_masks(r->model))
        wrong_run(p, "a masked language model", r);
    else if (heed_import_is_headless(r))
        heed_fail(p->c, HEED_USAGE,
                  "fill requires a masked language model: %s was imported without a head, as an "
                  "encoder; hint: `heed embed %s`",
                  p->argv[0], p->argv[0]);
    else if (is_text_without_quotes(p))
        heed_fail(p->c, HEED_USAGE,
                  "the text is several arguments: expected one; hint: put \"%s %s ...\" in quotes",
                  p->argv[1], p->argv[2]);
    else if (flag_given(p, "words") && flag_given(p, "top"))
        heed_fail(p->c, HEED_USAGE, "--top has no effect with --words, which names what is shown");
    else if (layer_index(r, p->flags, &layer) &&
             (!flag_given(p, "words") || read_words(p, r, (int32_t[MOST_WORDS]){0})))
        each_input(p, r, fill_one, 0);
    close_run(p, r);
}

const command cmd_fill = {
    .name = "fill",
    .usage = "RUN [TEXT]...",
    .help = "guess the words at [MASK], and show what the mask attends to",
    .about =
        "Prints the most probable words for each [MASK] of a text, and the attention of the mask\n"
        "to every token: for each head, and the mean of all heads. Without TEXT, each line of the\n"
        "standard input, which must not be empty, is a text. With --words, the probabilities are\n"
        "those of the given words, in this order, by the softmax over the whole vocabulary.",
    .examples = "  heed fill runs/book \"The king went to the [MASK] .\"\n"
                "  heed fill runs/book --json --top 1 < sentences.txt\n",
    .options = options,
    .computes = true,
    .opens_run = true,
    .args = {1, -1},
    .run = fill,
};
