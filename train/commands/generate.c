/* generate.c -- heed generate: text from a causal model, printed while it is generated. */
#include "commands/attend.h"
#include "kinds/inputs.h"

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    {"prompt", HEED_TEXT, "", 0, 0, NULL, "text to continue; none: a new line", "Text"},
    {"n", HEED_INT, "200", 0, 1e8, NULL, "tokens to make", "Text"},
    {"samples", HEED_INT, "1", 1, 1e6, NULL, "how many texts", "Text"},
    {"temperature", HEED_REAL, "0.8", 0, 100, NULL,
     "divides the logits; 0: always the most probable token", "Text"},
    {"top-k", HEED_INT, "0", 0, 1 << 24, NULL, "only the k most probable tokens; 0: all", "Text"},
    {"top-p", HEED_REAL, "0", 0, 1, NULL,
     "only the fewest tokens that hold this probability together; 0: all", "Text"},
    {"seed", HEED_INT, "1", 0, 9007199254740992.0, NULL, "of the draws", "Text"},
    {"cache", HEED_BOOL, "true", 0, 0, NULL,
     "cache keys and values; without it, the same tokens are generated more slowly", "Text"},
    {"attention", HEED_BOOL, "false", 0, 0, NULL,
     "show the attention of the position that made the last token", "Output"},
    CHOOSE_LAYER("Output"),
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print one JSON object", "Output"},
    {0}};

static const applies uses[] = {{"layer", NULL, "attention"}, {0}};

/* ---- streaming tokens as text ---- */

typedef struct {
    program *p;
    heed_run *run;
    FILE *out;    /* NULL: text is only collected */
    int32_t *ids; /* the prompt and the generated tokens */
    int count;
    int from;     /* start of the window of ids that is decoded again for each token */
    size_t shown; /* bytes of the window's text that were already printed */
    heed_text window, all;
} stream;

/* The length of the text that can no longer change: a U+FFFD at its end may be an incomplete
 * character. */
static size_t settled(const heed_text *t) {
    size_t n = t->n;
    while (n >= 3 && memcmp(t->s + n - 3, "\xEF\xBF\xBD", 3) == 0) n -= 3;
    return n;
}

static bool decode_window(stream *s) {
    s->window.n = 0;
    return heed_decode(s->run->tokenizer, s->ids + s->from, (size_t)(s->count - s->from),
                       &s->window);
}

static bool emit(stream *s, size_t end) {
    if (end <= s->shown) return true;
    if (s->out) {
        fwrite(s->window.s + s->shown, 1, end - s->shown, s->out);
        fflush(s->out);
    }
    if (!heed_text_put(&s->all, s->window.s + s->shown, end - s->shown)) return false;
    s->shown = end;
    return true;
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

static bool take_token(void *user, int32_t id) {
    stream *s = user;
    s->ids[s->count++] = id;
    return decode_window(s) && emit(s, settled(&s->window)) && slide(s) && !was_interrupted(NULL);
}

/* ---- one sample ---- */

static void start(stream *s, const char *prompt, int prompt_tokens) {
    s->count = prompt_tokens;
    s->from = prompt_tokens - 1;
    s->all.n = 0;
    s->shown = decode_window(s) ? s->window.n : 0;
    heed_text_add(&s->all, "%s", prompt);
    if (s->out) fputs(prompt, s->out);
}

static bool sample(stream *s, const heed_generation *a, const char *prompt, int prompt_tokens) {
    heed_run *r = s->run;
    heed_generation mine = *a;
    start(s, prompt, prompt_tokens);
    mine.prompt = s->ids, mine.prompt_count = (size_t)prompt_tokens;
    mine.token = take_token, mine.user = s;
    bool ok = a->count == 0 || heed_generate(r->model, r->self, r->tape, &mine, NULL, NULL);
    if (!ok || !decode_window(s)) return false;
    emit(s, s->window.n);
    if (s->out) fputc('\n', s->out);
    return true;
}

/* Runs the model on the tokens before the last one and shows its attention, printed or as JSON. */
static bool attend(stream *s, json_t **result) {
    heed_run *r = s->run;
    int block = (int)heed_config_int(r->config, "block"), n = s->count - 1;
    int from = n > block ? n - block : 0, layer;
    if (n < 1 || !layer_index(r, (int)heed_config_int(s->p->flags, "layer"), &layer)) return false;
    heed_inspection seen;
    heed_capture_args wish = {.layer_count = 1, .layers = &layer, .lean = true};
    heed_record *record = heed_inspection_tokens(&seen, r, s->ids + from, n - from)
                              ? heed_capture(&seen, &wish)
                              : NULL;
    bool ok = record != NULL;
    if (ok) {
        attend_view v = row_view(s->p, record, n - from - 1);
        if (result)
            *result = attend_row_json(&v);
        else {
            putchar('\n');
            ok = attend_print_row(&v);
        }
    }
    heed_record_free(record);
    heed_inspection_free(&seen);
    return ok && heed_ctx_status(r->c) == HEED_OK;
}

static json_t *sample_json(const stream *s, int prompt_tokens) {
    json_t *tokens = json_array();
    for (int i = prompt_tokens; i < s->count; i++)
        json_array_append_new(tokens, json_text(heed_token_text(s->run->tokenizer, s->ids[i])));
    return json_pack("{s:s, s:o}", "text", s->all.s ? s->all.s : "", "tokens", tokens);
}

/* ---- the command ---- */

static void all_samples(stream *s, heed_generation *a, const char *prompt, int prompt_tokens) {
    const heed_config *f = s->p->flags;
    bool attend_too = heed_config_bool(f, "attention");
    json_t *list = heed_config_bool(f, "json") ? json_array() : NULL, *weights = NULL;
    int64_t samples = heed_config_int(f, "samples");
    for (int64_t i = 0; i < samples && !was_interrupted(NULL); i++) {
        a->sample = (uint32_t)i;
        if (i > 0 && s->out) fputs("---\n", s->out);
        if (!sample(s, a, prompt, prompt_tokens)) break;
        if (list) json_array_append_new(list, sample_json(s, prompt_tokens));
        if (attend_too && !(list && weights) && !attend(s, list ? &weights : NULL)) break;
    }
    if (list && heed_ctx_status(s->p->c) == HEED_OK) {
        json_t *o = json_pack("{s:s, s:O}", "prompt", prompt, "samples", list);
        if (weights) json_object_set(o, "attention", weights);
        print_json(s->p, o);
    }
    json_decref(weights);
    json_decref(list);
    if (was_interrupted(NULL)) s->p->status = HEED_INTERRUPTED;
}

/* The start of a text without a prompt: after a line break. */
static const char *first_prompt(const heed_run *r) {
    if (heed_tokenizer_specials(r->tokenizer).newline >= 0 ||
        heed_token_id(r->tokenizer, "\n") >= 0)
        return "\n";
    heed_fail(r->c, HEED_USAGE,
              "missing --prompt: the %s vocabulary of the run has no new line to start from; hint: "
              "--prompt \"Some words\"",
              heed_tokenizer_kind(r->tokenizer));
    return NULL;
}

static void generate_from(program *p, heed_run *r) {
    const heed_config *f = p->flags;
    const char *prompt = p->argc > 1 ? p->argv[1] : heed_config_text(f, "prompt");
    if (!*prompt && !(prompt = first_prompt(r))) return;
    heed_example in = {0};
    heed_reader how = heed_run_reader(r);
    heed_generation a = {.count = (int)heed_config_int(f, "n"),
                         .temperature = heed_config_real(f, "temperature"),
                         .top_k = (int)heed_config_int(f, "top-k"),
                         .top_p = heed_config_real(f, "top-p"),
                         .seed = (uint64_t)heed_config_int(f, "seed"),
                         .has_end = true,
                         .end = heed_text_end(r->config, r->tokenizer),
                         .uncached = !heed_config_bool(f, "cache")};
    stream s = {.p = p,
                .run = r,
                .out = heed_config_bool(f, "json") ? NULL : stdout,
                .window = {.c = p->c},
                .all = {.c = p->c}};
    how.any_length = true;
    if (!heed_example_text(&how, prompt, strlen(prompt), &in)) {
        heed_example_free(&in);
        return;
    }
    int count = (int)in.text.tokens.count;
    if (count == 0) {
        heed_example_free(&in);
        heed_fail(p->c, HEED_DATA, "--prompt \"%s\" holds no token to continue from", prompt);
        return;
    }
    int block = (int)heed_config_int(r->config, "block");
    if (count > block)
        heed_message(p->c, HEED_WARN,
                     "the prompt has %d tokens: the model sees only the last %d of them", count,
                     block);
    s.ids = malloc(((size_t)count + (size_t)a.count) * sizeof *s.ids);
    if (!s.ids)
        heed_fail(p->c, HEED_FAILED, "no memory for %d tokens", a.count);
    else
        memcpy(s.ids, in.text.tokens.ids, (size_t)count * sizeof *s.ids);
    catch_interrupt();
    if (s.ids) all_samples(&s, &a, strcmp(prompt, "\n") == 0 ? "" : prompt, count);
    free(s.ids);
    heed_example_free(&in);
    heed_text_free(&s.window);
    heed_text_free(&s.all);
}

static void generate(program *p) {
    if (p->argc > 1 && heed_config_rank(p->flags, "prompt") != HEED_FROM_DEFAULT) {
        heed_fail(p->c, HEED_USAGE, "two prompts: %s and --prompt %s: expected one", p->argv[1],
                  heed_config_text(p->flags, "prompt"));
        return;
    }
    heed_run *r = open_run(p, p->argv[0]);
    if (!r) return;
    if (r->model->kind != HEED_INPUT_TOKENS || !r->model->steps)
        wrong_run(p, "a causal language model", r);
    else
        generate_from(p, r);
    heed_run_close(r);
}

const command cmd_generate = {
    .name = "generate",
    .usage = "RUN [PROMPT]",
    .help = "continue a prompt, token by token",
    .about = "Makes text with a causal language model and prints it as it comes. A model of lines\n"
             "(--packing lines) ends a text where it would end a line.",
    .examples = "  heed generate runs/book --prompt \"Once upon a time\" --n 300\n"
                "  heed generate runs/book --samples 3 --temperature 0.7 --top-p 0.95 --seed 7\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .min = 1,
    .max = 2,
    .run = generate,
};
