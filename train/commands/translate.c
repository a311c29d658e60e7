/* translate.c -- heed translate: translations of texts, and the model's attention. */
#include "cli/choice.h"
#include "cli/os_files.h"
#include "kinds/answers.h"

#include <string.h>

static const heed_option options[] = {
    DECODING,
    SWITCH("sample", "draw tokens by their probability", "Decoding"),
    NUMBER("temperature", "1", 0.001, 100, "--sample: divides the logits", "Decoding"),
    COUNT("top-k", "0", 0, 1 << 24, "--sample: only the k most probable tokens; 0: all",
          "Decoding"),
    NUMBER("top-p", "0", 0, 1,
           "--sample: only the most probable tokens that together have this probability; 0: all",
           "Decoding"),
    COUNT("seed", "1", 0, 9007199254740992.0, "--sample: seed of the draws", "Decoding"),
    SWITCH("attention", "show what each generated token attended to in the source", "Output"),
    CHOOSE_LAYER("Output"),
    WORDS("head", HEAD_WORDS "; without it the mean", "Output"),
    WORDS("png", "write the attention as a picture; of several texts FILE-2.png and so on",
          "Output"),
    AS_SVG("Output"),
    WORDS("beside",
          "another run, whose attention to the same text is drawn beside it in the picture",
          "Output"),
    SWITCH("json", "print a JSON object for each text", "Output"),
    {0}};

static const applies uses[] = {{"length-penalty", NULL, "beam"},
                               {"temperature", NULL, "sample"},
                               {"top-k", NULL, "sample"},
                               {"top-p", NULL, "sample"},
                               {"layer", NULL, "attention png svg"},
                               {"head", NULL, "attention png svg"},
                               {"beside", NULL, "png svg"},
                               {0}};

typedef struct {
    translator k, beside; /* beside: another run to compare; beside.run is NULL without one */
    int done;
    bool tab; /* the warning about a tab was printed */
} work;

/* ---- one text ---- */

/* {input, output, tokens, ended, log_probability, attention} */
static void print_object(program *p, const work *w, const char *text, size_t n,
                         const heed_text *made, const alignment *a) {
    json_t *o = json_pack("{s:o, s:o}", "input", json_stringn(text, n), "output",
                          json_bytes(made->s, made->n));
    json_object_update_new(o, target_json(&w->k));
    if (a)
        json_object_set_new(o, "attention",
                            json_pack("{s:i, s:o, s:o, s:o}", "layer", a->layer, "source",
                                      json_texts(a->col_label, a->cols), "target",
                                      json_texts(a->row_label, a->rows), "weights",
                                      alignment_json(a)));
    print_json(p, o);
}

/* Draws the alignment under source and target, or beside that of the other run, each then under its
 * run's name. */
static bool draw(program *p, work *w, const alignment *a, const char *text, size_t n,
                 const heed_text *made, bool svg, const char *path) {
    alignment both[2] = {*a};
    const char *titles[2] = {p->argv[0], flag_text(p, "beside")};
    if (w->beside.run) {
        bool ok = translate(&w->beside, &(given_input){text, n, NULL}) &&
                  alignment_of(&w->beside, NULL, &both[1]) &&
                  alignment_draw(p->c, both, titles, 2, svg, path);
        alignment_free(&both[1]);
        return ok;
    }
    heed_text title = {.c = p->c};
    heed_text_add(&title, "%.*s \u2192 %s", (int)n, text, made->s);
    titles[0] = title.s ? title.s : "";
    bool ok = alignment_draw(p->c, both, titles, 1, svg, path);
    heed_text_free(&title);
    return ok;
}

static bool looks(const program *p) {
    return flag_on(p, "attention") || *flag_text(p, "png") || *flag_text(p, "svg");
}

static bool show_attention(program *p, work *w, const alignment *a, const char *text, size_t n,
                           const heed_text *made) {
    static const char *const keys[] = {"png", "svg"};
    char path[1024], number[16];
    bool json = flag_on(p, "json");
    if (!json && flag_on(p, "attention")) {
        putchar('\n');
        if (!alignment_print(p->c, a)) return false;
    }
    for (int svg = 0; svg < 2; svg++) {
        const char *file = flag_text(p, keys[svg]);
        named_path(path, sizeof path, file, number_name(number, w->done));
        if (*file && !draw(p, w, a, text, n, made, svg, path)) return false;
        if (*file && !json) printf("wrote %s\n", path);
    }
    return true;
}

static bool show(program *p, work *w, const char *text, size_t n, const heed_text *made) {
    alignment a = {0};
    bool attends = looks(p), ok = !attends || alignment_of(&w->k, p->flags, &a);
    if (ok) {
        if (flag_on(p, "json"))
            print_object(p, w, text, n, made, attends ? &a : NULL);
        else {
            print_made(made->s, made->n);
            putchar('\n');
        }
        ok = !attends || show_attention(p, w, &a, text, n, made);
        w->done++;
    }
    alignment_free(&a);
    return ok && fflush(stdout) == 0;
}

static bool translate_one(program *p, void *user, const char *text, size_t n) {
    work *w = user;
    heed_text made = {.c = p->c};
    /* like a line of a file of pairs, which is not a source */
    if (!w->tab && memchr(text, '\t', n)) {
        heed_message(p->c, HEED_WARN,
                     "the text has a tab in it, and is read as a source as a whole; hint: cut -f1");
        w->tab = true;
    }
    bool ok = translate(&w->k, &(given_input){text, n, NULL}) && translated_text(&w->k, &made);
    if (ok && !w->k.about.ended)
        heed_message(p->c, HEED_WARN, "the target did not end within %d tokens", w->k.about.count);
    ok = ok && show(p, w, text, n, &made);
    heed_text_free(&made);
    return ok;
}

/* ---- heed translate ---- */

static bool open_translator(program *p, const char *dir, translator *k) {
    heed_run *r = open_run(p, dir);
    if (r && reads_pairs(r->model)) {
        *k = translator_of(r, p->flags);
        return true;
    }
    if (r && dir == p->argv[0])
        wrong_run(p, "a model of pairs of texts", r);
    else if (r)
        heed_fail(p->c, HEED_USAGE, "--beside %s is of %s: expected a model of pairs of texts", dir,
                  r->model->name);
    close_run(p, r);
    return false;
}

static void run_translate(program *p) {
    work w = {0};
    const char *beside = flag_text(p, "beside");
    if (open_translator(p, p->argv[0], &w.k) &&
        (!*beside || open_translator(p, beside, &w.beside)) && alignment_choice(w.k.run, p->flags))
        each_input(p, &w, translate_one, looks(p) || flag_on(p, "json") ? 0 : BY_LINE);
    heed_example_free(&w.beside.in);
    heed_example_free(&w.k.in);
    close_run(p, w.k.run);
    close_run(p, w.beside.run);
}

const command cmd_translate = {
    .name = "translate",
    .usage = "RUN [TEXT]...",
    .help = "translate texts, and show what was attended to",
    .about =
        "Prints the target that a run of seq2seq or rnn generates for each TEXT. Without TEXT,\n"
        "each line of the standard input, which must not be empty, is a text and gives one line\n"
        "of output, which is empty if there is nothing to translate. --attention draws the\n"
        "alignment: a row for each generated token, over the tokens of the source.",
    .examples = "  heed translate runs/dates \"March 5, 1999\" --attention\n"
                "  heed translate runs/french --beam 5 < sentences.txt\n"
                "  heed translate runs/dates \"5 May 2020\" --png alignment.png --json\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .numbers = true,
    .args = {1, -1},
    .run = run_translate,
};
