/* caption.c -- heed caption: captions of pictures, and where the model looked for each word. */
#include "cli/choice.h"
#include "cli/os_files.h"
#include "commands/attend.h"
#include "kinds/answers.h"

#include <math.h>

static const heed_option options[] = {
    DECODING,
    COUNT("samples", "0", 0, 1e6,
          "so many captions of each picture, whose words are drawn by their probability; 0: the "
          "most probable words",
          "Decoding"),
    NUMBER("temperature", "1", 0.001, 100, "--samples: divides the logits", "Decoding"),
    COUNT("top-k", "0", 0, 1 << 24, "--samples: only the k most probable words; 0: all",
          "Decoding"),
    NUMBER("top-p", "0", 0, 1,
           "--samples: only the most probable words that together have this probability; 0: all",
           "Decoding"),
    COUNT("seed", "1", 0, 9007199254740992.0, "--samples: seed of the draws", "Decoding"),
    CONVERT("Output"),
    WORDS("attention",
          "write the picture once for each word, with where the model looked; of several pictures "
          "FILE-NAME.png, with the name of each",
          "Output"),
    CHOOSE_LAYER("Output"),
    WORDS("head", HEAD_WORDS "; without it the mean", "Output"),
    SWITCH("cells", "--attention: cell by cell of the grid instead of smoothly", "Output"),
    SWITCH("weights", "--json: also the attention of each word to the cells of the grid", "Output"),
    SWITCH("json", "print a JSON object for each picture", "Output"),
    {0}};

static const applies uses[] = {
    {"length-penalty", NULL, "beam"},    {"temperature", NULL, "samples"},
    {"top-k", NULL, "samples"},          {"top-p", NULL, "samples"},
    {"seed", NULL, "samples"},           {"layer", NULL, "attention weights"},
    {"head", NULL, "attention weights"}, {"cells", NULL, "attention"},
    {"weights", NULL, "json"},           {0}};

typedef struct {
    translator k;
    picture_names names; /* of --attention */
} work;

/* ---- the words of the caption: how probable each was, and where the model looked ---- */

/* The natural logarithm of the probability of each word given those before, [SEP] included. */
static json_t *words_json(const heed_run *r, const heed_example *e) {
    heed_tape *t = r->tape;
    const heed_tokens *words = &e->target.tokens;
    heed_tape_begin(t, HEED_EVAL, 0);
    const heed_tensor *y = heed_run_logits(r, e, t);
    json_t *list = json_array();
    for (size_t i = 0; y && i < words->count; i++) {
        int n = y->shape[1];
        const heed_real *row = y->x + i * (size_t)n;
        double sum = 0, own = (double)row[words->ids[i]];
        for (int v = 0; v < n; v++) sum += exp((double)row[v] - own);
        json_array_append_new(list,
                              json_pack("{s:o, s:o}", "word",
                                        json_text(heed_token_text(r->tokenizer, words->ids[i])),
                                        "probability", json_number(1 / sum)));
    }
    return list;
}

/* {layer, rows, cols, weights: a list of rows * cols numbers for each word} */
static json_t *weights_json(const heed_record_view *v) {
    const heed_record_block *b = v->block;
    const heed_record_axis *grid = &v->record->axes[b->keys];
    json_t *list = json_array();
    size_t n = (size_t)grid->count, square = (size_t)v->record->axes[b->queries].count * n;
    for (size_t q = 0; q < square / n; q++) {
        json_t *row = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(row, json_number((double)heed_fused_weight(
                                           b->weights, b->heads, square, v->head, q * n + i)));
        json_array_append_new(list, row);
    }
    return json_pack("{s:i, s:i, s:i, s:o}", "layer", b->layer + 1, "rows", grid->rows, "cols",
                     grid->cols, "weights", list);
}

/* The attention of the chosen layer of the decoder to the picture. */
static heed_record *capture(const heed_run *r, const heed_example *e, const heed_config *flags,
                            int layers) {
    static const heed_stack cross = HEED_CROSS;
    int index = chosen_layer(r->c, flags, layers, "") - 1;
    if (index < 0) return NULL;
    return heed_capture(
        r, e,
        &(heed_capture_args){
            .layer_count = 1, .layers = &index, .stack = &cross, .lean = true, .top = 1});
}

/* Reads the attention of the caption's words; for the picture if a path is given, and for o. */
static bool look(program *p, const translator *k, const char *path, json_t *o) {
    heed_record_view v;
    heed_attention_info layer;
    int layers = 0;
    while (heed_cross_layer(k->run, layers, &layer)) layers++;
    heed_record *r = capture(k->run, &k->in, p->flags, layers);
    bool ok = r != NULL;
    if (ok) {
        v = heed_record_view_of(r, -1);
        v.layers = layers;
        v.chosen = true;
        v.cells = flag_on(p, "cells");
        ok = chosen_head(p->c, flag_text(p, "head"), v.block, &v.head);
    }
    if (ok && *path) ok = heed_view_save(p->c, &v, HEED_PNG, path);
    if (ok && o && flag_on(p, "weights")) json_object_set_new(o, "attention", weights_json(&v));
    heed_record_free(r);
    return ok;
}

/* ---- one caption ---- */

/* Adds words and attention of the current caption to o (or NULL), and writes the picture. */
static bool inspect_caption(program *p, work *w, const char *name, json_t *o) {
    char path[1024] = "";
    const char *png = flag_text(p, "attention");
    if (*png && !name_outputs(p, &w->names, name)) return false;
    if (*png) named_path(path, sizeof path, png, w->names.name);
    bool ok = complete_target(&w->k, name);
    if (ok && o) json_object_set_new(o, "words", words_json(w->k.run, &w->k.in));
    if (ok && (*png || flag_on(p, "weights"))) ok = look(p, &w->k, path, o);
    if (ok && *png) fprintf(o ? stderr : stdout, "wrote %s\n", path);
    return ok;
}

static void warn_of_end(program *p, const translator *k, const char *name) {
    if (!k->about.ended)
        heed_message(p->c, HEED_WARN, "the caption of %s did not end within %d tokens", name,
                     k->about.count);
}

/* Prints "name TAB caption", or adds the caption to the object of --json. */
static bool show(program *p, work *w, const char *name, int sample, json_t *o, json_t *all) {
    heed_text made = {.c = p->c};
    bool ok = translated_text(&w->k, &made);
    if (ok && !o) warn_of_end(p, &w->k, name);
    if (ok && o) {
        json_t *own = json_pack("{s:o}", "caption", json_bytes(made.s, made.n));
        json_object_update_new(own, target_json(&w->k));
        if (sample == 0) json_object_update(o, own);
        json_array_append(all, own);
        json_decref(own);
    } else if (ok) {
        print_name(name, 0, 0);
        putchar('\t');
        print_shown(p->c, made.s, "\n");
    }
    heed_text_free(&made);
    return ok &&
           (sample > 0 || (!o && !*flag_text(p, "attention")) || inspect_caption(p, w, name, o));
}

static bool caption_picture(program *p, void *user, const given_input *in) {
    work *w = user;
    const char *name = in->name;
    int samples = flag_int(p, "samples");
    json_t *o = flag_on(p, "json") ? json_pack("{s:o}", "input", json_text(name)) : NULL;
    json_t *all = o ? json_array() : NULL;
    bool ok = true;
    for (int i = 0; ok && i < (samples ? samples : 1) && !was_interrupted(NULL); i++) {
        w->k.how.sample = (uint32_t)i;
        ok = translate(&w->k, in) && show(p, w, name, i, o, all);
    }
    if (ok && samples && o) json_object_set(o, "captions", all);
    if (ok && o) print_json(p, json_incref(o));
    json_decref(all);
    json_decref(o);
    return ok && fflush(stdout) == 0;
}

/* ---- heed caption ---- */

static bool attention_fits(program *p, const heed_run *r) {
    int index;
    if (!*flag_text(p, "attention") && !flag_on(p, "weights")) return true;
    heed_attention_info a;
    if (heed_cross_layer(r, 0, &a)) return layer_index(r, p->flags, &index);
    return heed_fail(p->c, HEED_USAGE,
                     "%s looks nowhere: it has one fixed context for all words "
                     "(`attention = none`): expected a run with attention",
                     p->argv[0]);
}

static void run_caption(program *p) {
    work w = {0};
    heed_run *r = open_run(p, p->argv[0]);
    if (r && !writes_captions(r->model))
        wrong_run(p, "a model of captions", r);
    else if (r && attention_fits(p, r)) {
        w.k = translator_of(r, p->flags);
        w.k.reader.show = *flag_text(p, "attention");
        each_given(p, r, &w, caption_picture, 0);
    }
    heed_example_free(&w.k.in);
    heed_text_free(&w.names.used);
    close_run(p, r);
}

const command cmd_caption = {
    .name = "caption",
    .usage = "RUN [PICTURE]...",
    .help = "say what pictures show, and where the model looked for each word",
    .about =
        "Prints for each picture its name, a tab, and the caption that a run of caption\n"
        "generates. PICTURE is a file, a folder (all pictures below it), a quoted pattern, or -\n"
        "for the standard input: the bytes of a picture, or a list of paths, one per line.\n"
        "Without PICTURE, the standard input is read, which must not be empty. A picture that\n"
        "cannot be decoded is reported, the others are still captioned, and the exit status is\n"
        "3. --attention draws the picture once for each word, with colour where the model looked.",
    .examples = "  heed caption runs/shapes shape.png\n"
                "  heed caption runs/shapes photos --beam 5 > captions.tsv\n"
                "  heed caption runs/shapes shape.png --attention looked.png\n"
                "  heed caption runs/shapes shape.png --samples 3 --temperature 0.8 --json\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .numbers = true,
    .args = {1, -1},
    .run = run_caption,
};
