/* explain.c -- heed explain: the attention computation step by step. */
#include "explain/explain.h"
#include "kinds/records.h"

#include "explain/hungry_lion.h"

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    SWITCH("list", "list the built-in examples", "Show"),
    COUNT("precision", "2", 0, 12,
          "digits after the decimal point; more where a whole matrix is small", "Show"),
    CHOICE("notation", "rows", "rows|columns",
           "tokens as rows (rows of the weights sum to 1) or as columns (H = V A)", "Show"),
    {"scale", HEED_BOOL, "true", 0, 0, NULL, "multiply scores by 1/sqrt(e); --no-scale: by 1",
     "Change the computation"},
    WORDS("beta", "multiply scores by this number instead", "Change the computation"),
    WORDS("cell", "write out this cell, ROW,COLUMN of the scores, or of a matrix: Q:lion,2",
          "Show"),
    SWITCH("step", "pause at each step: predict a number, then see it", "Show"),
    SWITCH("causal", "hide the tokens after each query", "Change the computation"),
    WORDS("hide", "hide these keys from every query: tokens or numbers, with commas",
          "Change the computation"),
    {"mask", HEED_BOOL, "true", 0, 0, NULL, "--no-mask: every query sees every key",
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

void explain_lion(explaining *e) {
    heed_lesson_args a = lion_args(lion_x);
    worked labels = {.example = "lion",
                     .title = "The hungry lion attacked the slow zebra in the tall grass",
                     .tokens = lion_tokens,
                     .features = lion_features,
                     .notes = {lion_queries, lion_offers, lion_passes},
                     .alike = "The features have the names of the sentence's first ten words, in "
                              "order, so DET and ADJ occur three times: features of the same name "
                              "are different numbers.",
                     .query = 3,
                     .key = 4};
    if (worked_make(e, &a, labels)) explain_worked(e);
}

const example examples[] = {
    {"lion", "the worked example of a lecture: the hungry lion and the zebra", explain_lion,
     SHOWS_HEAD},
    {"paris", "\"Paris is the capital of ___\" in stages, from z X' X to W_q, W_k, W_v",
     explain_paris, SHOWS_HEAD},
    {"mix", "attention without parameters: h = X a", explain_mix, SHOWS_HEAD},
    {"store", "a key-value store with put and get, hard and soft", explain_store, SHOWS_HEAD},
    {"bias", "three patches, with biases: Q = z W_q + B_q, K = z W_k + B_k, V = z W_v + B_v",
     explain_bias, SHOWS_HEAD},
    {"beta", "a sweep of beta from the mean to the hard choice", explain_beta, SHOWS_PICTURE},
    {"variance", "the variance of q'k grows as d; 1/sqrt(d) corrects it", explain_variance,
     SHOWS_PICTURE},
    {"shuffle", "the words shuffled: the output is shuffled the same way", explain_shuffle,
     SHOWS_WORDS},
    {"heads", "H heads are H layers of one head", explain_heads, SHOWS_PICTURE},
    {"similarity", "four changes from an MLP similarity to the attention of 2017",
     explain_similarity, SHOWS_WORDS},
    {"patches", "a picture as a matrix of patches: x, z and zE", explain_patches, READS_PICTURE},
    {"conv", "convolutions that are dense layers, a patch embedding among them", explain_conv,
     SHOWS_WORDS},
    {"rnn", "recurrences with attention, step by step: h[t], e[t,i], a[t], c[t], s[t], y[t]",
     explain_rnn, SHOWS_WORDS},
    {"positions", "the position code E, as numbers and as a picture", explain_positions,
     SHOWS_PICTURE},
    {"templates", "a fixed kernel beside weights that depend on the content", explain_templates,
     SHOWS_PICTURE},
    {"decoder", "a decoder block: self-attention, cross-attention, 1-convolution", explain_decoder,
     SHOWS_PICTURE},
    {"recap", "who sees whom: convolution, recurrence, attention", explain_recap, SHOWS_PICTURE},
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
        gap(e);
    }
    if (e->json)
        print_exact(e, json_pack("{s:o}", "examples", list));
    else
        json_decref(list);
}

/* The blanks of each part: 1 for a cell left blank, 2 for one filled in. */
static json_t *blanks_json(const explaining *e) {
    json_t *o = json_object();
    for (int k = 0; k < HEED_LESSON_COUNT; k++) {
        const heed_matrix *m = &e->w.lesson.part[k];
        json_t *rows = json_array(), *row = NULL;
        for (int i = 0; e->blank[k] && i < m->rows * m->cols; i++) {
            if (i % m->cols == 0) json_array_append_new(rows, row = json_array());
            json_array_append_new(row, json_integer(e->blank[k][i]));
        }
        if (e->blank[k])
            json_object_set_new(o, heed_lesson_name((heed_lesson_part)k), rows);
        else
            json_decref(rows);
    }
    return o;
}

static json_t *whole_json_of(explaining *e) {
    json_t *o = worked_json(e);
    if (flag_on(e->p, "backward")) json_object_set_new(o, "backward", backward_json(e));
    if (e->blank[HEED_LESSON_Q]) {
        char name[48];
        json_object_set_new(o, "sheet", json_string(sheet_name(e, name)));
        json_object_set_new(o, "blanks", blanks_json(e));
        sheet_hide(e, o);
    }
    return o;
}

/* The page opens at the head, and at the cell of --cell. */
static bool write_html(explaining *e, const char *path) {
    char link[2 * PAGE_LINK_SIZE];
    const char *head = e->page_link ? e->page_link : "";
    bool scores = e->part < 0 || e->part == HEED_LESSON_SCALED;
    snprintf(link, sizeof link, "%s%sspot=%s+%d+%d", head, *head ? "&" : "",
             scores ? "scores" : heed_lesson_name((heed_lesson_part)e->part), e->row, e->col);
    json_t *o = whole_json_of(e);
    char *steps = json_dumps(o, JSON_REAL_PRECISION(17) | JSON_COMPACT);
    json_decref(o);
    heed_page page = {.count = e->record && !flag_on(e->p, "exercise"),
                      .records = e->record,
                      .steps = steps,
                      .opening = e->row ? link : e->page_link};
    bool ok = steps && heed_page_write(e->c, &page, path);
    free(steps);
    return ok;
}

static void show(explaining *e) {
    static const char *const of_steps[] = {"cell", "step", "backward", "learn", "notation"};
    const char *html = flag_text(e->p, "html"), *tex = flag_text(e->p, "tex");
    bool solution = flag_on(e->p, "solution"), sheet = solution || flag_on(e->p, "exercise");
    /* The example prints its own text unless a setting of the ten steps is given. */
    bool own = e->own_text != NULL;
    for (size_t i = 0; i < sizeof of_steps / sizeof *of_steps; i++)
        own = own && !flag_given(e->p, of_steps[i]);
    bool files = *html || *tex || *flag_text(e->p, "png");
    own = own && !sheet;
    if (sheet && !sheet_open(e, solution)) return;
    if (!e->json && own)
        e->own_text(e);
    else if (!e->json && files && !e->step)
        explain_summary(e);
    else if (!e->json)
        sheet ? explain_sheet(e, solution) : explain_steps(e);
    if (files && !e->json && (own || e->step)) gap(e);
    if (!write_weights(e)) return;
    bool wrote_html = *html && write_html(e, html), wrote_tex = *tex && write_tex(e, tex);
    if (wrote_html && !e->json) heed_text_add(&e->out, "wrote %s\n", html);
    if (wrote_tex && !e->json) heed_text_add(&e->out, "wrote %s\n", tex);
    if (e->json && heed_ctx_status(e->c) == HEED_OK) print_exact(e, whole_json_of(e));
}

void explain_worked(explaining *e) {
    if (apply_settings(e) && explain_learn(e)) show(e);
    sheet_close(e);
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
    bool exercise = flag_on(p, "exercise"), sheet = exercise || flag_on(p, "solution");
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
        if (example_read(e, from)) explain_worked(e);
    } else if (of_run(p)) {
        explain_run(e, name, p->argc == 2 ? p->argv[1] : NULL);
    } else {
        const example *k = find_example(p->c, name);
        e->input = p->argc == 2 ? p->argv[1] : NULL;
        if (k && lesson_accepts(e, k)) k->run(e);
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
    e.seed = (uint64_t)heed_config_int(p->flags, "seed");
    if (flag_on(p, "list") && p->argc > 0)
        heed_fail(p->c, HEED_USAGE, "--list prints all examples: expected no %s", p->argv[0]);
    else if (flag_on(p, "list"))
        list_examples(&e);
    else
        explain_asked(&e);
    if (*flag_text(p, "png") && !e.json && !flag_on(p, "list"))
        heed_text_add(&e.out, "wrote %s\n", flag_text(p, "png"));
    if (heed_ctx_status(p->c) == HEED_OK)
        print_text(&e.out);
    else
        heed_text_free(&e.out);
    json_decref(e.learned);
    worked_free(&e.w);
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
