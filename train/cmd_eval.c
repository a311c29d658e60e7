/* cmd_eval.c -- heed eval: how well a model does on a text. */
#include "training.h"
#include "using.h"

#include <math.h>
#include <string.h>

static const heed_option options[] = {
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print one JSON object", "Output"}, {0}};

typedef struct {
    double loss, perplexity, bits_per_byte, accuracy, low, high, top5;
    double items;
} measures;

/* The 95 % interval of a share. Wilson 1927. */
static void interval(double right, double all, double *low, double *high) {
    double z = 1.959963984540054, p = right / all, z2 = z * z / all;
    double middle = (p + z2 / 2) / (1 + z2);
    double half = z / (1 + z2) * sqrt(p * (1 - p) / all + z2 / (4 * all));
    *low = fmax(0, middle - half);
    *high = fmin(1, middle + half);
}

static measures measure(const heed_score *s) {
    double none = (double)NAN;
    measures m = {.loss = s->weight > 0 ? s->loss / s->weight : none,
                  .bits_per_byte = s->bytes > 0 ? s->loss / log(2) / s->bytes : none,
                  .accuracy = s->judged > 0 ? s->right / s->judged : none,
                  .top5 = s->judged > 0 ? s->right5 / s->judged : none,
                  .low = none,
                  .high = none,
                  .items = s->weight};
    m.perplexity = exp(m.loss);
    if (s->judged > 0) interval(s->right, s->judged, &m.low, &m.high);
    return m;
}

static void print_measures(program *p, const char *what, const measures *m) {
    char n[32];
    if (heed_config_bool(p->flags, "json")) {
        print_json(p, json_pack("{s:s, s:o, s:o, s:o, s:o, s:[o,o], s:o, s:o}", "data", what,
                                "loss", json_number(m->loss), "perplexity",
                                json_number(m->perplexity), "bits_per_byte",
                                json_number(m->bits_per_byte), "accuracy", json_number(m->accuracy),
                                "accuracy_95", json_number(m->low), json_number(m->high), "top5",
                                json_number(m->top5), "items", json_number(m->items)));
        return;
    }
    printf("%s\n\n", what);
    printf("  loss           %.4f\n", m->loss);
    printf("  perplexity     %.6g\n", m->perplexity);
    if (isfinite(m->bits_per_byte)) printf("  bits per byte  %.4f\n", m->bits_per_byte);
    if (isfinite(m->accuracy)) {
        printf("  accuracy       %.2f %%  (95 %%: %.2f to %.2f)\n", 100 * m->accuracy, 100 * m->low,
               100 * m->high);
        printf("  top 5          %.2f %%\n", 100 * m->top5);
    }
    printf("  predictions    %s\n", with_commas(n, (uint64_t)m->items));
}

static void evaluate(program *p, const task *k, heed_config *f, heed_run *r) {
    text_data data;
    char what[512];
    bool whole = p->argc > 1;
    if (whole) {
        heed_config_set(f, "data", p->argv[1], "DATA", HEED_FROM_FLAG);
        heed_config_set(f, "val", "", "val", HEED_FROM_FLAG);
        heed_config_set(f, "val-split", "0", "val-split", HEED_FROM_FLAG);
    }
    if (!text_open(p->c, k, f, r->tokenizer, &data)) return;
    heed_corpus_info about = heed_corpus_about(data.corpus);
    snprintf(what, sizeof what, "%.480s%s", heed_config_text(f, "data"),
             about.val_tokens ? ", validation part" : "");
    heed_score s =
        heed_evaluate(r->tape, r->model, r->self, data.corpus, (int)heed_config_int(f, "batch"));
    measures m = measure(&s);
    double tokens = (double)(about.tokens + about.val_tokens);
    if (whole && about.unknown > 0)
        heed_log(p->c, HEED_WARN, "%.2f %% of the text is unknown to the vocabulary",
                 100 * (double)(about.unknown + about.val_unknown) / tokens);
    if (heed_state(p->c) == HEED_OK) print_measures(p, what, &m);
    heed_corpus_free(data.corpus);
}

/* A file of questions, by its name. */
static bool is_cloze(const program *p, const heed_run *r) {
    const char *dot = p->argc > 1 ? strrchr(p->argv[1], '.') : NULL;
    return r->model == &heed_model_mlm && dot && strcmp(dot, ".tsv") == 0;
}

static void answer(program *p, heed_run *r) {
    char what[512];
    heed_score s = cloze_score(r, p->argv[1]);
    measures m = measure(&s);
    snprintf(what, sizeof what, "%.480s, questions", p->argv[1]);
    if (heed_state(p->c) == HEED_OK) print_measures(p, what, &m);
}

static void eval(program *p) {
    const task *k;
    heed_config *f = run_settings(p->c, p->argv[0], &k);
    heed_run *r = f ? open_run(p, p->argv[0]) : NULL;
    if (r && is_cloze(p, r))
        answer(p, r);
    else if (r)
        evaluate(p, k, f, r);
    heed_run_close(r);
}

const command cmd_eval = {
    .name = "eval",
    .usage = "RUN [DATA]",
    .help = "loss, perplexity, bits per byte and accuracy of a run",
    .about = "Measures the best weights of a run on DATA, or without DATA on the validation part\n"
             "of the text that it was trained on. For a masked model, a DATA.tsv holds questions:\n"
             "each line a text with one [MASK], a tab, and the right word.",
    .examples = "  heed eval runs/book\n"
                "  heed eval runs/book other.txt --json\n",
    .options = options,
    .computes = true,
    .continues = true,
    .min = 1,
    .max = 2,
    .run = eval,
};
