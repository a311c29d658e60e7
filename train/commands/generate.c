/* generate.c -- heed generate: text from a causal model, printed while it is generated. */
#include "commands/attend.h"
#include "kinds/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    WORDS("prompt", "text to continue; empty: a new text begins", "Text"),
    COUNT("n", "200", 0, 1e8,
          "tokens to make; a token is a character, a word or a piece of a word, as the run's "
          "tokenizer has it",
          "Text"),
    COUNT("samples", "1", 1, 1e6, "texts to make; up to 8 are made at once", "Text"),
    NUMBER("temperature", "0.8", 0, 100, "divides the logits; 0: always the most probable token",
           "Text"),
    COUNT("top-k", "0", 0, 1 << 24, "only the k most probable tokens; 0: all", "Text"),
    NUMBER("top-p", "0", 0, 1,
           "only the most probable tokens that together have this probability; 0: all", "Text"),
    NUMBER("repetition-penalty", "1", 0.01, 100,
           "divides positive logits of tokens that occurred, in the prompt too, and multiplies "
           "negative ones; 1: none",
           "Text"),
    {"stop", HEED_OPTION_STRING, "", 0, INFINITY, NULL,
     "end the text before this one; several: --stop A --stop B", "Text"},
    COUNT("seed", "1", 0, 9007199254740992.0, "seed of the draws", "Text"),
    {"cache", HEED_OPTION_BOOL, "true", 0, 0, NULL,
     "cache keys and values; without it, the same tokens are generated more slowly", "Text"},
    SWITCH("attention", "show the attention of the position that made the last token", "Output"),
    CHOOSE_LAYER("Output"),
    SWITCH("json", "print one JSON object", "Output"),
    {0}};

static const applies uses[] = {{"layer", NULL, "attention"}, {0}};

/* ---- streaming tokens as text ---- */

typedef struct {
    program *p;
    heed_run *run;
    bool prints; /* else text is only collected */
    const char *prompt;
    int prompt_tokens;
    int32_t *ids; /* the prompt and the generated tokens */
    int count;
    int from;     /* start of the window of ids that is decoded again for each token */
    size_t shown; /* bytes of the window's text that were already printed */
    heed_text window, all;
    const char *stops; /* texts that end the output, separated by \x1E */
    bool ended;        /* one was found */
    int kept;          /* once a text has ended: tokens that lie before the stop text */
} stream;

/* The length of the text that can no longer change: a U+FFFD at its end may be an incomplete
 * character. */
static size_t settled(const heed_text *t) {
    size_t n = t->n;
    while (n >= 3 && memcmp(t->s + n - 3, "\xEF\xBF\xBD", 3) == 0) n -= 3;
    return n;
}

/* Without a tokenizer, the text is the ids. */
static bool decode_window(stream *s) {
    s->window.n = 0;
    for (int i = s->from; !s->run->tokenizer && i < s->count; i++)
        heed_text_add(&s->window, " %d", (int)s->ids[i]);
    if (!s->run->tokenizer) return heed_ctx_status(s->run->c) == HEED_OK;
    return heed_decode(s->run->tokenizer, s->ids + s->from, (size_t)(s->count - s->from),
                       &s->window);
}

static bool emit(stream *s, size_t end) {
    if (end <= s->shown) return true;
    if (s->prints) {
        print_made(s->window.s + s->shown, end - s->shown);
        fflush(stdout);
    }
    if (!heed_text_put(&s->all, s->window.s + s->shown, end - s->shown)) return false;
    s->shown = end;
    return true;
}

/* Finds a stop text in the first n bytes of the window, from those not yet shown on: where it
 * begins, or n. part: a part of one at the end, which may become whole. */
static size_t find_stop(const stream *s, size_t n, bool part) {
    for (size_t i = s->shown; i < n; i++)
        for (const char *stop = s->stops; *stop; stop += *stop == '\x1E') {
            size_t length = strcspn(stop, "\x1E"), left = n - i;
            if (length && (part ? length > left : length <= left) &&
                memcmp(s->window.s + i, stop, part ? left : length) == 0)
                return i;
            stop += length;
        }
    return n;
}

/* Shows the first n bytes of the window, up to a stop text. What may begin one is held back until
 * it is known, or to the end of the text. */
static bool show(stream *s, size_t n, bool last) {
    size_t at = find_stop(s, n, false);
    s->ended = at < n;
    s->kept = s->count;
    if (!s->ended) return emit(s, last ? n : find_stop(s, n, true));
    int made = s->count;
    bool ok = emit(s, at);
    while (ok && s->window.n > at && s->count > s->prompt_tokens) {
        s->count--;
        ok = decode_window(s);
    }
    s->kept = s->count;
    s->count = made;
    return ok;
}

/* Moves the window. A short one is enough: the text of a token depends only on its neighbours. */
static bool slide(stream *s) {
    enum { LONG = 64, SHORT = 8 };
    if (s->count - s->from < LONG || s->shown != s->window.n) return true;
    s->from = s->count - SHORT;
    if (!decode_window(s)) return false;
    s->shown = s->window.n;
    return true;
}

static bool put_token(stream *s, int32_t id) {
    s->ids[s->count++] = id;
    return decode_window(s) && show(s, settled(&s->window), false) && !s->ended && slide(s);
}

/* Of several texts the first is printed while it is generated. */
static bool take_token(void *user, int output, int32_t id) {
    return (output > 0 || put_token(user, id)) && !was_interrupted(NULL);
}

static void begin_text(stream *s) {
    s->count = s->prompt_tokens;
    s->from = s->count - 1;
    s->all.n = 0;
    s->ended = false;
    s->shown = decode_window(s) ? s->window.n : 0;
    heed_text_add(&s->all, "%s", s->prompt);
    if (s->prints) print_made(s->prompt, strlen(s->prompt));
}

static bool end_text(stream *s) {
    if (!s->ended && !(decode_window(s) && show(s, s->window.n, true))) return false;
    if (s->prints) putchar('\n');
    return true;
}

/* ---- one sample ---- */

/* Runs the model on the tokens that it saw before the last one, `context` at most, and shows its
 * attention, printed or as JSON. */
static bool attend(stream *s, int context, json_t **result) {
    heed_run *r = s->run;
    int n = s->count - 1, from = n > context && context > 0 ? n - context : 0;
    if (n < 1) return false;
    heed_example seen = {0};
    heed_record *record = heed_run_tokens(r, s->ids + from, n - from, &seen)
                              ? capture_layer(r, &seen, s->p->flags, 0)
                              : NULL;
    heed_record_view v = heed_record_view_of(record, n - from - 1);
    if (record && result) *result = attend_row_json(s->p, &v);
    if (record && !result) {
        char number[16];
        putchar('\n');
        attend_print_row(
            s->p, &v, s->count > s->prompt_tokens ? heed_class_label(r, s->ids[n], number) : NULL);
    }
    heed_record_free(record);
    heed_example_free(&seen);
    return heed_ctx_status(r->c) == HEED_OK;
}

static json_t *sample_json(const stream *s) {
    json_t *tokens = json_array();
    char number[16];
    for (int i = s->prompt_tokens; i < s->kept; i++)
        json_array_append_new(tokens, json_text(heed_class_label(s->run, s->ids[i], number)));
    return json_pack("{s:o, s:o}", "text", json_bytes(s->all.s, s->all.n), "tokens", tokens);
}

/* ---- the command ---- */

typedef struct {
    stream *s;
    json_t *list, *weights; /* of the samples, and of the first one's attention; or NULL */
    bool attend;
} results;

static bool add_sample(results *r, const heed_generated *about) {
    stream *s = r->s;
    if (!end_text(s)) return false;
    if (r->list) json_array_append_new(r->list, sample_json(s));
    return !r->attend || (r->list && r->weights) ||
           attend(s, about->seen, r->list ? &r->weights : NULL);
}

/* Samples that are made at once. The memory for their tokens is limited. */
enum { AT_ONCE = 8, MOST_TOKENS = 1 << 24 };

static int at_once(int64_t left, int tokens) {
    int most = AT_ONCE;
    while (most > 1 && tokens > MOST_TOKENS / most) most /= 2;
    return left < most ? (int)left : most;
}

/* The first sample has been printed as it was made; the others are printed in order. */
static bool some_samples(results *r, heed_generation *a, int32_t *made) {
    stream *s = r->s;
    heed_generated about[AT_ONCE] = {{0}};
    begin_text(s);
    bool ok =
        a->count == 0 || heed_generate(s->run->model, s->run->self, s->run->tape, a, made, about);
    ok = ok && add_sample(r, &about[0]);
    for (int i = 1; ok && i < a->samples; i++) {
        if (s->prints) puts("---");
        begin_text(s);
        const int32_t *ids = made + (size_t)i * (size_t)a->count;
        for (int n = 0; ok && n < about[i].count; n++) ok = put_token(s, ids[n]);
        ok = ok && add_sample(r, &about[i]);
    }
    return ok;
}

static void all_samples(stream *s, heed_generation *a) {
    const heed_config *f = s->p->flags;
    int64_t samples = heed_config_int(f, "samples");
    results r = {.s = s, .attend = heed_config_bool(f, "attention")};
    if (heed_config_bool(f, "json")) r.list = json_array();
    int most = *s->stops ? 1 : at_once(samples, a->count); /* each ends on its own */
    int32_t *made = allocate(s->p->c, (size_t)most * (size_t)a->count + 1, sizeof *made, "tokens");
    a->prompt = s->ids;
    a->prompt_count = (size_t)s->prompt_tokens;
    a->sampled = take_token;
    a->user = s;
    for (int64_t i = 0; made && i < samples && !was_interrupted(NULL); i += a->samples) {
        a->sample = (uint32_t)i;
        a->samples = samples - i < most ? (int)(samples - i) : most;
        if (i > 0 && s->prints) puts("---");
        if (!some_samples(&r, a, made)) break;
    }
    if (r.list && heed_ctx_status(s->p->c) == HEED_OK) {
        json_t *o = json_pack("{s:s, s:O}", "prompt", s->prompt, "samples", r.list);
        if (r.weights) json_object_set(o, "attention", r.weights);
        print_json(s->p, o);
    }
    json_decref(r.weights);
    json_decref(r.list);
    free(made);
    if (was_interrupted(NULL)) s->p->status = HEED_INTERRUPTED;
}

/* Whether the run reads tokens before a text: those of the tokenizer's template. */
static bool has_start(const heed_run *r) {
    heed_example in = {0};
    heed_reader how = heed_run_reader(r);
    how.any_length = true;
    bool any = heed_example_text(&how, "", 0, &in) && in.text.tokens.count > 0;
    heed_example_free(&in);
    return any;
}

/* Why a text cannot be generated without a prompt. */
static const char *needs_prompt(const heed_run *r, char text[160]) {
    const char *kind = heed_tokenizer_kind(r->tokenizer);
    if (!r->tokenizer) return "the run has no tokenizer: expected ids";
    if (heed_text_end(r->config, r->tokenizer) >= 0)
        return "the run was trained on single lines (--packing lines), and has not learned how a "
               "line begins";
    snprintf(text, 160, "the run's vocabulary%s%.80s has no new line to start from",
             *kind ? " of kind " : "", kind);
    return text;
}

/* The start of a text without a prompt: the template alone, or after a line break. */
static const char *first_prompt(const heed_run *r) {
    char why[160], words[FIRST_WORDS] = "3 1 4";
    if (has_start(r)) return "";
    if (heed_text_start(r->config, r->tokenizer) >= 0) return "\n";
    if (r->tokenizer) first_words_of(r, words);
    heed_fail(r->c, HEED_USAGE, "missing --prompt: %s; hint: `generate %s --prompt \"%s\"`",
              needs_prompt(r, why), r->dir, *words ? words : "TEXT");
    return NULL;
}

/* Copies the prompt's tokens to s, with capacity for those to be made; returns how many they are.
 * 0: an error. */
static int read_prompt(stream *s, const char *prompt, int made) {
    heed_ctx *c = s->p->c;
    heed_example in = {0};
    heed_reader how = heed_run_reader(s->run);
    how.any_length = true;
    bool ok = heed_example_text(&how, prompt, strlen(prompt), &in);
    int count = ok ? (int)in.text.tokens.count : 0;
    int block = (int)heed_config_int(s->run->config, "block");
    if (ok && count == 0)
        heed_fail(c, HEED_DATA, "--prompt \"%s\" holds no token to continue from", prompt);
    if (count > block)
        heed_message(c, HEED_WARN,
                     "the prompt has %d tokens: the model sees only the last %d of them", count,
                     block);
    if (count) s->ids = allocate(c, (size_t)count + (size_t)made, sizeof *s->ids, "tokens");
    if (s->ids) memcpy(s->ids, in.text.tokens.ids, (size_t)count * sizeof *s->ids);
    heed_example_free(&in);
    return s->ids ? count : 0;
}

static void generate_from(program *p, heed_run *r, const char *prompt) {
    const heed_config *f = p->flags;
    if (!*prompt && !(prompt = first_prompt(r))) return;
    heed_generation a = {.count = flag_int(p, "n"),
                         .temperature = heed_config_real(f, "temperature"),
                         .top_k = flag_int(p, "top-k"),
                         .top_p = heed_config_real(f, "top-p"),
                         .repetition_penalty = heed_config_real(f, "repetition-penalty"),
                         .seed = (uint64_t)heed_config_int(f, "seed"),
                         .has_end = true,
                         .end = heed_text_end(r->config, r->tokenizer),
                         .uncached = !flag_on(p, "cache")};
    int32_t never[4];
    a.never = never;
    a.never_count = heed_never(r->tokenizer, a.end, never);
    stream s = {.p = p,
                .run = r,
                .prints = !flag_on(p, "json"),
                .stops = flag_text(p, "stop"),
                .window = {.c = p->c},
                .all = {.c = p->c}};
    s.prompt_tokens = read_prompt(&s, prompt, a.count);
    s.prompt = strcmp(prompt, "\n") == 0 ? "" : prompt;
    catch_interrupt();
    if (s.prompt_tokens) all_samples(&s, &a);
    free(s.ids);
    heed_text_free(&s.window);
    heed_text_free(&s.all);
}

typedef struct {
    heed_run *run;
    int lines;
} prompts;

static bool take_prompt(program *p, void *user, const char *text, size_t n) {
    prompts *k = user;
    (void)n;
    if (k->lines++ && !flag_on(p, "json")) puts("---");
    generate_from(p, k->run, text);
    return heed_ctx_status(p->c) == HEED_OK;
}

/* Each line of the standard input is a prompt. */
static void generate_lines(program *p, heed_run *r) {
    prompts k = {.run = r};
    each_input(p, &k, take_prompt, 0);
}

static void generate(program *p) {
    if (p->argc > 1 && flag_given(p, "prompt")) {
        heed_fail(p->c, HEED_USAGE, "two prompts: %s and --prompt %s: expected one", p->argv[1],
                  flag_text(p, "prompt"));
        return;
    }
    bool given = p->argc > 1 || flag_given(p, "prompt");
    bool lines = given ? p->argc > 1 && strcmp(p->argv[1], "-") == 0 : has_piped_input(p);
    heed_run *r = open_run(p, p->argv[0]);
    if (!r) return;
    if (!reads_text(r->model) || !r->model->steps)
        wrong_run(p, "a causal language model", r);
    else if (lines)
        generate_lines(p, r);
    else {
        const char *prompt = p->argc > 1 ? p->argv[1] : flag_text(p, "prompt");
        note_file(p->c, prompt, p);
        generate_from(p, r, prompt);
    }
    close_run(p, r);
}

const command cmd_generate = {
    .name = "generate",
    .usage = "RUN [PROMPT]",
    .help = "continue a prompt, token by token",
    .about =
        "Generates text with a causal language model and prints it token by token. For - each "
        "line\n"
        "of the standard input is a prompt. Without PROMPT that is also the case if the standard\n"
        "input is a pipe or a file, which must not be empty; otherwise, and with --prompt \"\", a "
        "new\n"
        "text begins. A model that was trained line by line (--packing lines) ends a text where a\n"
        "line would end, and always needs a prompt.\n"
        "\n"
        "A text may be longer than the block of the model. Whenever the block is full, its older\n"
        "half is dropped and the newer half is read again; from then on the model sees between\n"
        "half a block and a block. With --samples, each text is the same as if generated alone.\n"
        "\n"
        "With --stop, a text ends before the first stop text that the model makes, also in the\n"
        "middle of a token; \"tokens\" of --json are those before it.",
    .examples = "  echo \"The fox\" | heed generate runs/book\n"
                "  heed generate runs/book --prompt \"Once upon a time\" --n 300\n"
                "  heed generate runs/book --samples 3 --temperature 0.7 --top-p 0.95 --seed 7\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .args = {1, 2},
    .run = generate,
};
