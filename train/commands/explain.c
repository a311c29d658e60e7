/* explain.c -- heed explain: the attention computation step by step. */
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    SWITCH("list", "list the built-in examples", "Show"),
    COUNT("precision", "2", 0, 12,
          "digits after the decimal point; more where a whole matrix is small", "Show"),
    CHOICE("notation", "rows", "rows|columns",
           "tokens as rows (rows of the weights sum to 1) or as columns (H = V A)", "Show"),
    {"scale", HEED_OPTION_BOOL, "true", 0, 0, NULL,
     "multiply scores by 1/sqrt(e); --no-scale: by 1", "Change the computation"},
    WORDS("beta", "multiply scores by this number instead", "Change the computation"),
    WORDS("cell", "write out this cell, ROW,COLUMN of the scores, or of a matrix: Q:lion,2",
          "Show"),
    SWITCH("step", "pause at each step: predict a number, then see it", "Show"),
    SWITCH("causal", "hide the tokens after each query", "Change the computation"),
    WORDS("hide", "hide these keys from every query: tokens or numbers, with commas",
          "Change the computation"),
    {"mask", HEED_OPTION_BOOL, "true", 0, 0, NULL, "--no-mask: every query sees every key",
     "Change the computation"},
    SWITCH("hard", "all weight on the largest score", "Change the computation"),
    SWITCH("backward",
           "continue with the gradients of L = 1/2 sum (output - target)^2; of a trained head from "
           "after W_h, add and norm",
           "Learn"),
    COUNT("learn", "0", 0, 1000000, "learn W_Q, W_K and W_V in this many steps from random ones",
          "Learn"),
    NUMBER("rate", "0.1", 0, 1e6, "learning rate of --learn", "Learn"),
    WORDS("from", "a custom head, as JSON; - reads standard input", "Input"),
    COUNT("layer", "1", 1, 4096, "of a run: the layer, from 1", "Input"),
    COUNT("head", "1", 1, 4096, "of a run: the head, from 1", "Input"),
    CHOICE("stack", "auto", "auto|encoder|decoder|cross",
           "of a run: whose layer; auto: the first of these that it has", "Input"),
    COUNT("patch", "4", 1, 64, "of the example patches: pixels a side of a patch", "Input"),
    SWITCH("whole", "of a run: draw wide matrices whole", "Input"),
    SWITCH("exercise", "a sheet with cells left blank", "Sheets"),
    SWITCH("solution", "the same sheet, filled in", "Sheets"),
    NUMBER("blanks", "0.2", 0, 1, "share of the cells that are blank", "Sheets"),
    WORDS("html", "one offline page that computes as one edits", "Output"),
    WORDS("tex", "a LaTeX document with every matrix", "Output"),
    COUNT("seed", "1", 0, 9007199254740992.0, "seed of whatever is random", "Output"),
    WORDS("png", "a picture of the weights, or the chart of an example that has one", "Output"),
    SWITCH("json", "print every matrix under its name, as one object", "Output"),
    {0}};

/* ---- examples ---- */

const example examples[] = {
    {"lion", "the worked example of a lecture: the hungry lion and the zebra", lion_head, NULL},
    {"paris", "\"Paris is the capital of ___\" in stages, from z X' X to W_q, W_k, W_v", paris_head,
     paris_steps},
    {"mix", "attention without parameters: h = X a", mix_head, mix_steps},
    {"store", "a key-value store with put and get, hard and soft", store_head, store_steps},
    {"bias", "three patches, with biases: Q = z W_q + B_q, K = z W_k + B_k, V = z W_v + B_v",
     bias_head, NULL},
    {"beta", "a sweep of beta from the mean to the hard choice", NULL, beta_steps},
    {"variance", "the variance of q'k grows as d; 1/sqrt(d) corrects it", NULL, variance_steps},
    {"shuffle", "the words shuffled: the output is shuffled the same way", NULL, shuffle_steps},
    {"heads", "H heads are H layers of one head", NULL, heads_steps},
    {"similarity", "four changes from an MLP similarity to the attention of 2017", NULL,
     similarity_steps},
    {"patches", "a picture as a matrix of patches: x, z and zE", NULL, patches_steps,
     .pictures = true},
    {"conv", "convolutions that are dense layers, a patch embedding among them", NULL, conv_steps},
    {"rnn", "recurrences with attention, step by step: h[t], e[t,i], a[t], c[t], s[t], y[t]", NULL,
     rnn_steps},
    {"positions", "the position code E, as numbers and as a picture", NULL, positions_steps},
    {"templates", "a fixed kernel beside weights that depend on the content", NULL,
     templates_steps},
    {"decoder", "a decoder block: self-attention, cross-attention, 1-convolution", NULL,
     decoder_steps},
    {"recap", "who sees whom: convolution, recurrence, attention", NULL, recap_steps},
    {0},
};

/* A run named like an example takes precedence over it; another folder does not. */
static bool is_example(const char *name) {
    char run[1024];
    snprintf(run, sizeof run, "%s/model.safetensors", name);
    for (const example *k = examples; k->name; k++)
        if (strcmp(k->name, name) == 0) return !is_file(run);
    return false;
}

static const example *find_example(heed_ctx *c, const char *name) {
    const char *names[64];
    int count = 0;
    for (; examples[count].name && count < 63; count++) {
        if (strcmp(examples[count].name, name) == 0) return &examples[count];
        names[count] = examples[count].name;
    }
    names[count] = NULL;
    const char *near = heed_closest(name, names);
    if (is_file(name))
        heed_fail(c, HEED_USAGE, "%s is a file: expected %s explain --from %s", name,
                  program_name(), name);
    else if (near)
        heed_fail(c, HEED_USAGE, "unknown example %s: did you mean %s?", name, near);
    else
        heed_fail(c, HEED_USAGE, "unknown example %s; hint: `explain --list`", name);
    return NULL;
}

static void list_examples(explaining *e) {
    json_t *list = json_array();
    for (const example *k = examples; k->name; k++) {
        json_array_append_new(list, json_pack("{s:s, s:s}", "name", k->name, "help", k->help));
        heed_text_add(&e->out, "  %-12s ", k->name);
        heed_label_words(k->help, 15, e->look.width, &e->out);
        heed_text_add(&e->out, "\n");
    }
    if (e->json)
        print_exact(e, json_pack("{s:o}", "examples", list));
    else
        json_decref(list);
}

/* ---- showing ---- */

/* Marks a share of the cells of each matrix, at least one, which depends only on the seed. */
static void choose_blanks(explaining *e) {
    static const heed_attention_trace_part asked[] = {HEED_TRACE_Q,       HEED_TRACE_K,
                                                      HEED_TRACE_V,       HEED_TRACE_RAW,
                                                      HEED_TRACE_WEIGHTS, HEED_TRACE_OUTPUT};
    double share = heed_config_real(e->p->flags, "blanks");
    unsigned char flag = e->solution ? 2 : 1;
    e->most_width = e->most_tokens = 0; /* a reader needs all numbers */
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const heed_matrix *m = &e->w.lesson.part[asked[i]];
        size_t n = (size_t)m->rows * (size_t)m->cols;
        heed_random r = heed_random_at(e->seed, heed_attention_trace_name(asked[i]), 0, 0);
        unsigned char *flags = e->blank[asked[i]] = room(e, n, 1);
        if (!flags) return;
        for (size_t at = 0; at < n; at++)
            if (heed_random_uniform(&r, at) < share) flags[at] = flag;
        flags[heed_random_below(&r, n, (uint32_t)n)] = flag;
    }
}

/* The list of the example's own steps, or that of the head's. */
static void make_list(explaining *e, bool own) {
    e->count = 0;
    own ? e->own(e) : head_steps(e);
}

/* Prints a head or a list as JSON. */
static void show_json(explaining *e, bool own) {
    json_t *o = e->head ? worked_json(e) : json_pack("{s:o}", "example", json_text(e->name));
    if (own) json_object_set_new(o, "steps", list_json(e));
    if (!e->head) put_weights_json(e, o);
    if (flag_on(e->p, "backward")) json_object_set_new(o, "backward", backward_json(e));
    print_exact(e, o);
}

/* What is said instead of the steps where files have them. */
static void put_summary(explaining *e) {
    const heed_attention_trace_args *a = &e->w.lesson.args;
    if (e->sheet) put_words(e, "%s, %d blanks", sheet_name(e), sheet_blanks(e));
    put_words(e, "%s%s%s: %d tokens have %d numbers, queries and keys %d, values %d%s.",
              e->w.layer ? e->title : "", e->w.layer ? ": " : "", safe_title(e, e->w.title),
              a->sources, a->memory, a->key, a->value,
              e->w.lesson.self ? "" : "; the queries come from other tokens");
    put_words(e, "Without --html, --tex and --png the steps are printed.");
}

/* Shows the example in the forms that the settings ask for. */
static void show_example(explaining *e) {
    static const char *const of_head[] = {"cell", "backward", "learn", "notation"};
    const char *html = flag_text(e->p, "html"), *tex = flag_text(e->p, "tex");
    const char *png = flag_text(e->p, "png");
    /* The example has steps of its own unless a setting of the head's steps is given. */
    bool own = e->own && !e->sheet, files = *html || *tex || *png;
    for (size_t i = 0; i < sizeof of_head / sizeof *of_head; i++)
        own = own && !(e->head && flag_given(e->p, of_head[i]));
    if (e->head && (!apply_settings(e) || !explain_learn(e))) return;
    if (e->sheet) choose_blanks(e);
    make_list(e, own);
    if (!e->head && e->columns) turn_list(e);
    if (heed_ctx_status(e->c) != HEED_OK || (*png && !write_png(e, png)) ||
        (*tex && !write_tex(e, tex)))
        return;
    if (e->json) {
        show_json(e, own);
    } else if (files && !own && !e->step) {
        put_summary(e);
    } else
        list_text(e);
    if (*html) {
        if (!e->head && e->columns) make_list(e, true); /* as rows: the page turns it */
        if (!write_html(e, html)) return;
    }
    if (e->json || !files) return;
    heed_text_add(&e->out, "\n");
    if (*html) heed_text_add(&e->out, "wrote %s\n", html);
    if (*tex) heed_text_add(&e->out, "wrote %s\n", tex);
    if (*png) heed_text_add(&e->out, "wrote %s\n", png);
}

static void show_builtin(explaining *e, const example *k) {
    if (e->input && !k->pictures)
        heed_fail(e->c, HEED_USAGE, "one argument too many: %s: example %s has no input", e->input,
                  k->name);
    else if (flag_given(e->p, "patch") && !k->pictures)
        heed_fail(e->c, HEED_USAGE, "--patch: example %s has no patches; hint: `explain patches`",
                  k->name);
    else if (k->open ? k->open(e) : accepts(e, k->name)) {
        e->name = k->name;
        e->own = k->steps;
        show_example(e);
    }
}

/* ---- the command ---- */

static bool of_run(const program *p) {
    const char *name = p->argc ? p->argv[0] : "lion";
    return !is_example(name) && (p->argc == 2 || is_directory(name));
}

/* Refuses settings that would have no effect without another one, or together with it. A sheet
 * contains all steps without answers. */
static bool check_settings(const explaining *e) {
    static const char *const not_of_sheets[] = {"step", "backward", "json", "learn"};
    static const char *const of_runs[] = {"layer", "head", "stack", "whole"};
    const program *p = e->p;
    bool exercise = flag_on(p, "exercise"), sheet = e->sheet;
    bool whole = flag_on(p, "whole");
    if (exercise && *flag_text(p, "png"))
        return heed_fail(e->c, HEED_USAGE,
                         "--png has no effect here: --exercise asks for the weights; hint: "
                         "--html or --tex FILE");
    if (exercise && flag_on(p, "solution"))
        return heed_fail(e->c, HEED_USAGE,
                         "--exercise and --solution are two sheets: expected one");
    for (int i = 0; sheet && i < 4; i++)
        if (flag_given(p, not_of_sheets[i]))
            return heed_fail(e->c, HEED_USAGE, "--%s has no effect here: --%s is a sheet%s",
                             not_of_sheets[i], exercise ? "exercise" : "solution",
                             i == 2 ? "; hint: --html or --tex FILE" : "");
    if (flag_given(p, "rate") && !flag_int(p, "learn"))
        return heed_fail(e->c, HEED_USAGE, "--rate has no effect here: expected --learn N, too");
    if (flag_given(p, "blanks") && !sheet)
        return heed_fail(e->c, HEED_USAGE,
                         "--blanks has no effect here: expected --exercise or --solution, too");
    if (e->json && (e->step || whole))
        return heed_fail(e->c, HEED_USAGE, "--%s has no effect here: --json prints all at once",
                         whole ? "whole" : "step");
    for (int i = 0; !of_run(p) && i < 4; i++)
        if (flag_given(p, of_runs[i]))
            return heed_fail(e->c, HEED_USAGE,
                             "--%s requires a run: expected %s explain RUN INPUT --%s ...",
                             of_runs[i], program_name(), of_runs[i]);
    return true;
}

/* Explains what was asked for: a head of a file, a trained head, or an example. */
static void explain_asked(explaining *e) {
    const program *p = e->p;
    const char *from = flag_text(p, "from"), *name = p->argc > 0 ? p->argv[0] : "lion";
    if (!check_settings(e)) return;
    if (*from && p->argc > 0) {
        heed_fail(p->c, HEED_USAGE, "--from %s has its own numbers: expected no %s", from, name);
    } else if (*from && model_of_run(p->c, p->models, from)) {
        heed_fail(p->c, HEED_USAGE,
                  "%s is a run: expected a file of numbers; hint: `explain %s INPUT` shows a head "
                  "of it",
                  from, from);
    } else if (*from) {
        if (example_read(e, from)) show_example(e);
    } else if (of_run(p)) {
        explain_run(e, name, p->argc == 2 ? p->argv[1] : NULL, show_example);
    } else {
        const example *k = find_example(p->c, name);
        e->input = p->argc == 2 ? p->argv[1] : NULL;
        if (k) show_builtin(e, k);
    }
}

static void explain(program *p) {
    explaining e = {.p = p, .c = p->c, .out = {.c = p->c}};
    int width = terminal_width();
    e.look = (text_style){.width = width < 80 ? width : 80,
                          .precision = flag_int(p, "precision"),
                          .color = has_color(stdout)};
    e.json = flag_on(p, "json");
    e.columns = strcmp(flag_text(p, "notation"), "columns") == 0;
    e.step = flag_on(p, "step");
    e.solution = flag_on(p, "solution");
    e.sheet = e.solution || flag_on(p, "exercise");
    e.seed = (uint64_t)heed_config_int(p->flags, "seed");
    if (flag_on(p, "list") && p->argc > 0)
        heed_fail(p->c, HEED_USAGE, "--list prints all examples: expected no %s", p->argv[0]);
    else if (flag_on(p, "list"))
        list_examples(&e);
    else
        explain_asked(&e);
    if (heed_ctx_status(p->c) == HEED_OK)
        print_text(&e.out);
    else
        heed_text_free(&e.out);
    explaining_free(&e);
}

const command cmd_explain = {
    .name = "explain",
    .usage = "[EXAMPLE | patches PICTURE | RUN [INPUT]]",
    .help = "the attention computation step by step, as matrices",
    .about =
        "Computes one head of attention in double precision and prints each step as matrices\n"
        "with labels and shapes; one cell of each is written out. Without arguments it shows the\n"
        "worked example of the hungry lion; --list names the others, and docs/notes.md names the\n"
        "lecture notes that they follow. With a RUN and an INPUT (a text, a picture, - for one of\n"
        "the standard input) it shows a head of that trained model, or the recurrences of a run\n"
        "of rnn; without INPUT, a text is read from the standard input. With --html, --tex or\n"
        "--png, which write a file, the steps are not printed.\n"
        "\n"
        "--from FILE reads a custom head, as one JSON object. --json prints such an object, so\n"
        "`heed explain --json > my.json` makes a file to start from. T is the number of tokens\n"
        "and d the numbers of each, e the numbers of a query and a key, d2 those of a value.\n"
        "Required:\n"
        "  X          T rows of d numbers, one row per token\n"
        "  W_Q, W_K   d rows of e numbers        W_V   d rows of d2 numbers\n"
        "Optional:\n"
        "  title, tokens (T texts), features (d texts)\n"
        "  B_Q, B_K, B_V   one row, added to every row of Q, K, V\n"
        "  beta, causal, hard, hidden (T numbers, 1: no query sees that token)\n"
        "  target     T rows of d2 numbers: what --backward and --learn compare to\n"
        "  W_h        d2 rows of w numbers: the layer adds output W_h to each token\n"
        "  B_O        one row of w numbers: the bias that is added to all heads\n"
        "  others     T rows of w numbers: what the other heads add\n"
        "  gain, bias, eps   a row of d numbers each, a number: LN(X + all heads) follows\n"
        "  Z          rows from which keys and values are computed instead of X, with\n"
        "             their labels in sources and memory\n"
        "Results in the file (Q, K, ... normed) are not read.\n"
        "\n"
        "--cell ROW,COLUMN reads tokens or numbers from 1: lion,attacked is the score of the\n"
        "query lion and the key attacked. Q:lion,2 is a cell of Q; the same works for K, V, raw,\n"
        "scaled, weights and output.",
    .examples =
        "  heed explain\n"
        "  heed explain --cell zebra,attacked --hard\n"
        "  heed explain --png lion.png\n"
        "  heed explain --step\n"
        "  heed explain --backward --precision 3\n"
        "  heed explain --exercise --seed 7 --tex sheet.tex\n"
        "  heed explain --learn 1000 --html lion.html\n"
        "  heed explain --from my.json --notation columns\n"
        "  heed explain paris\n"
        "  heed explain patches digit.png --patch 7\n"
        "  heed explain variance --png variance.png\n"
        "  heed explain runs/book \"Paris is the capital of [MASK] .\" --layer 2 --head 3\n",
    .options = options,
    .computes = true,
    .opens_run = true,
    .args = {0, 2},
    .run = explain,
};
