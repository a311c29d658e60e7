/* translate.c -- heed translate: translations of texts, and the model's attention. */
#include "cli/choice.h"
#include "cli/files.h"
#include "kinds/inputs.h"
#include "kinds/pairs.h"

#include <string.h>

static const heed_option options[] = {
    DECODING,
    {"sample", HEED_BOOL, "false", 0, 0, NULL, "draw tokens by their probability", "Decoding"},
    {"temperature", HEED_REAL, "1", 0.001, 100, NULL, "--sample: divides the logits", "Decoding"},
    {"top-k", HEED_INT, "0", 0, 1 << 24, NULL, "--sample: only the k most probable tokens; 0: all",
     "Decoding"},
    {"top-p", HEED_REAL, "0", 0, 1, NULL,
     "--sample: only the fewest tokens that hold this probability together; 0: all", "Decoding"},
    {"seed", HEED_INT, "1", 0, 9007199254740992.0, NULL, "--sample: seed of the draws", "Decoding"},
    {"attention", HEED_BOOL, "false", 0, 0, NULL,
     "show what each generated token attended to in the source", "Output"},
    CHOOSE_LAYER("Output"),
    WORDS("head", HEAD_WORDS "; without it the mean", "Output"),
    {"png", HEED_TEXT, "", 0, 0, NULL,
     "write the attention as a picture; of several texts FILE-2.png and so on", "Output"},
    {"beside", HEED_TEXT, "", 0, 0, NULL,
     "another run, whose attention to the same text is drawn beside it in the picture", "Output"},
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print a JSON object for each text", "Output"},
    {0}};

static const applies uses[] = {{"length-penalty", NULL, "beam"}, {"temperature", NULL, "sample"},
                               {"top-k", NULL, "sample"},        {"top-p", NULL, "sample"},
                               {"layer", NULL, "attention png"}, {"head", NULL, "attention png"},
                               {"beside", NULL, "png"},          {0}};

typedef struct {
    translator k, beside; /* beside: another run to compare; beside.run is NULL without one */
    int done;
    bool tab; /* the warning about a tab was printed */
} work;

/* ---- one text ---- */

static bool is_asked(const program *p, const char *key) { return heed_config_bool(p->flags, key); }

static json_t *labels_json(const char *const *label, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_text(label[i]));
    return list;
}

static json_t *attention_object(const alignment *a) {
    return json_pack("{s:i, s:o, s:o, s:o}", "layer", a->layer, "source",
                     labels_json(a->col_label, a->cols), "target",
                     labels_json(a->row_label, a->rows), "weights", alignment_json(a));
}

/* {input, output, tokens, ended, log_probability, attention} */
static void print_object(program *p, const work *w, const char *text, size_t n, const char *made,
                         const alignment *a) {
    const heed_generated *t = &w->k.about;
    json_t *o = json_pack("{s:o, s:s, s:i, s:b, s:o}", "input", json_stringn(text, n), "output",
                          made, "tokens", t->count, "ended", (int)t->ended, "log_probability",
                          json_number(t->log_probability));
    if (a) json_object_set_new(o, "attention", attention_object(a));
    print_json(p, o);
}

/* Draws the alignment, beside that of the other run if there is one; each then has its run's name
 * as title. */
static bool draw(program *p, work *w, const alignment *a, const char *text, size_t n,
                 const char *path) {
    alignment both[2] = {*a};
    if (!w->beside.run) return alignment_png(p->c, both, 1, path);
    bool ok = translate(&w->beside, text, n) && alignment_of(&w->beside, 0, "", &both[1]);
    both[0].title = p->argv[0];
    both[1].title = heed_config_text(p->flags, "beside");
    ok = ok && alignment_png(p->c, both, 2, path);
    alignment_free(&both[1]);
    return ok;
}

static bool show_attention(program *p, work *w, const alignment *a, const char *text, size_t n) {
    char path[1024];
    bool json = is_asked(p, "json");
    if (!json && is_asked(p, "attention")) {
        putchar('\n');
        if (!alignment_print(p->c, a)) return false;
    }
    if (!*heed_config_text(p->flags, "png")) return true;
    numbered_path(path, sizeof path, heed_config_text(p->flags, "png"), w->done + 1);
    if (!draw(p, w, a, text, n, path)) return false;
    if (!json) printf("wrote %s\n", path);
    return true;
}

static bool looks(const program *p) {
    return is_asked(p, "attention") || *heed_config_text(p->flags, "png");
}

static bool show(program *p, work *w, const char *text, size_t n, const char *made) {
    alignment a = {0};
    bool json = is_asked(p, "json");
    if (looks(p) && !alignment_of(&w->k, (int)heed_config_int(p->flags, "layer"),
                                  heed_config_text(p->flags, "head"), &a)) {
        alignment_free(&a);
        return false;
    }
    if (json)
        print_object(p, w, text, n, made, looks(p) ? &a : NULL);
    else
        puts(made);
    bool ok = !looks(p) || show_attention(p, w, &a, text, n);
    alignment_free(&a);
    w->done++;
    return ok && fflush(stdout) == 0;
}

/* Warns if a text has a tab, like a line of a file of pairs, which is not a source. */
static void warn_of_tab(program *p, work *w, const char *text, size_t n) {
    if (w->tab || !memchr(text, '\t', n)) return;
    heed_message(p->c, HEED_WARN,
                 "the text has a tab in it, and is read as a source as a whole; hint: cut -f1");
    w->tab = true;
}

static bool translate_one(program *p, void *user, const char *text, size_t n) {
    work *w = user;
    heed_text made = {.c = p->c};
    warn_of_tab(p, w, text, n);
    bool ok = translate(&w->k, text, n) && translated_text(&w->k, &made);
    if (ok && !w->k.about.ended)
        heed_message(p->c, HEED_WARN, "the target did not end within %d tokens", w->k.about.count);
    ok = ok && show(p, w, text, n, made.s ? made.s : "");
    heed_text_free(&made);
    return ok;
}

/* ---- heed translate ---- */

static bool open_translator(program *p, const char *dir, translator *k) {
    heed_run *r = open_run(p, dir);
    if (r && r->model->kind == HEED_INPUT_PAIR) return translator_open(k, r, p->flags);
    if (r && dir == p->argv[0])
        wrong_run(p, "a model of pairs of texts", r);
    else if (r)
        heed_fail(p->c, HEED_USAGE, "--beside %s is of %s: expected a model of pairs of texts", dir,
                  r->model->name);
    heed_run_close(r);
    return false;
}

static void close_translator(translator *k) {
    heed_run *r = k->run;
    translator_close(k);
    heed_run_close(r);
}

static bool open_beside(program *p, translator *k) {
    const char *dir = heed_config_text(p->flags, "beside");
    return !*dir || open_translator(p, dir, k);
}

static void run_translate(program *p) {
    work w = {0};
    int layer = (int)heed_config_int(p->flags, "layer");
    if (open_translator(p, p->argv[0], &w.k) && open_beside(p, &w.beside) &&
        alignment_choice(w.k.run, layer, heed_config_text(p->flags, "head")))
        each_input(p, &w, translate_one, !looks(p) && !is_asked(p, "json"));
    close_translator(&w.beside);
    close_translator(&w.k);
}

const command cmd_translate = {
    .name = "translate",
    .usage = "RUN [TEXT]...",
    .help = "translate texts, and show what was attended to",
    .about =
        "Prints the target that a run of seq2seq or rnn makes of each TEXT. Without TEXT, each\n"
        "line of the standard input is one, and gives one line, an empty one where there is\n"
        "nothing to translate. --attention draws the alignment: a row for each token made, over\n"
        "the tokens of the source.",
    .examples = "  heed translate runs/dates \"March 5, 1999\" --attention\n"
                "  heed translate runs/french --beam 5 < sentences.txt\n"
                "  heed translate runs/dates \"5 May 2020\" --png alignment.png --json\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .numbers = true,
    .min = 1,
    .max = -1,
    .run = run_translate,
};
