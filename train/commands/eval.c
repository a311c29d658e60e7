/* eval.c -- heed eval: a model's loss and accuracy on data. */
#include "kinds/answers.h"

#include <string.h>

static const heed_option options[] = {
    SWITCH("json", "print one JSON object", "Output"),
    WORDS("confusion", "pictures, textcls, tag: write the confusion matrix as a picture", "Output"),
    WORDS("mistakes", "pictures: write the worst mistakes, highest loss first, as a contact sheet",
          "Output"),
    COUNT("worst", "40", 1, 300, "how many of them", "Output"),
    WORDS("code",
          "pictures: write a picture of all codes (of a classifier, the features before its output "
          "layer) as points coloured by class",
          "Output"),
    WORDS("csv", "pictures: write all codes as a table", "Output"),
    EVALUATED_DATA,
    DECODING,
    COUNT("most", "0", 0, 1e12, "pairs and captions: at most so many sources or pictures; 0: all",
          "Decoding"),
    WORDS("translations",
          "pairs: write what is predicted for each source, with the source and the reference, "
          "separated by tabs; captions: the picture's file, the prediction and all references",
          "Decoding"),
    COUNT("by-length", "0", 0, 1 << 20,
          "pairs: exact matches by length of the source, this many lengths per row; 0: no table",
          "Measures of pairs"),
    CHOICE("alignment", "none", "none|diagonal|anti|fields",
           "pairs: how often the attention of a generated token peaks at its own position in the "
           "source, at that position from the end, or inside the field that it writes",
           "Measures of pairs"),
    COUNT("within", "1", 0, 1 << 20, "positions off the diagonal that count as correct",
          "Measures of pairs"),
    {0}};

static const applies uses[] = {{"confusion", names_classes, NULL},
                               {"mistakes", names_pictures, NULL},
                               {"worst", names_pictures, "mistakes"},
                               {"code", has_code, NULL},
                               {"csv", has_code, NULL},
                               EVALUATED_DATA_APPLY,
                               {"beam", writes_targets, NULL},
                               {"length-penalty", writes_targets, "beam"},
                               {"most", writes_targets, NULL},
                               {"translations", writes_targets, NULL},
                               {"by-length", reads_pairs, NULL},
                               {"alignment", reads_pairs, NULL},
                               {"within", reads_pairs, "alignment"},
                               {0}};

/* Warns of pictures that are left out, and if the training part was evaluated only because there is
 * no other. */
static void warn_of_pictures(program *p, const heed_data *d, bool evaluated) {
    bool asked = strcmp(flag_text(p, "part"), "auto") != 0;
    if (evaluated && !d->all && !asked && d->part == HEED_TRAIN_PART && !d->kind->target)
        heed_message(p->c, HEED_WARN,
                     "there is no validation and no test part: this is measured on the training "
                     "pictures; hint: `eval %s OTHER-PICTURES`",
                     p->argv[0]);
    warn_of_skipped(p, d->kind->images(d));
}

/* How targets are made and what is measured of them. */
static heed_target_args targets_of(const program *p, heed_run *r, heed_text *made) {
    static const char *const peaks[] = {"none", "diagonal", "anti", "fields"};
    heed_target_args how = {.decode = translator_of(r, p->flags).how,
                            .most = (size_t)heed_config_int(p->flags, "most"),
                            .made = *flag_text(p, "translations") ? made : NULL,
                            .by_length = flag_int(p, "by-length"),
                            .within = flag_int(p, "within")};
    while (strcmp(flag_text(p, "alignment"), peaks[how.peaks]) != 0) how.peaks++;
    return how;
}

static void show(program *p, const eval_loop *s, const heed_facts *k) {
    const heed_data *d = s->open;
    heed_part part = !d || d->all ? HEED_PARTS : d->part;
    if (d && d->is_val) part = HEED_VAL_PART;
    if (!flag_on(p, "json")) {
        print_fact(0, "", "%s", s->what);
        putchar('\n');
        print_facts(p, k);
        return;
    }
    bool pictures = d && reads_pictures(s->model);
    json_t *o = json_pack("{s:o, s:s}", "data",
                          json_text(pictures ? heed_config_text(s->f, "data") : s->what), "part",
                          heed_part_name(part));
    json_object_update_new(o, facts_json(k));
    print_json(p, o);
}

/* Writes the pictures that are asked for, and says so after the measures. */
static void draw(program *p, const eval_loop *s, const heed_scores *scores) {
    const char *matrix = flag_text(p, "confusion"), *mistakes = flag_text(p, "mistakes");
    bool json = flag_on(p, "json");
    if (*matrix && confusion_png(p->c, scores, matrix) && !json) printf("\nwrote %s\n", matrix);
    if (*mistakes && mistakes_png(p->c, scores, flag_int(p, "worst"), mistakes) && !json)
        printf("%swrote %s\n", *matrix ? "" : "\n", mistakes);
    if (has_code(s->model)) draw_codes(p, s->e.run, s->open, s->e.rows);
}

static void eval(program *p) {
    eval_loop s;
    heed_scores scores = {.data = NULL};
    heed_facts facts = {.c = p->c};
    heed_text made = {.c = p->c};
    bool ok = eval_loop_open(p, &s, NULL);
    if (ok) {
        const heed_data_kind *kind = data_of(s.model);
        heed_target_args how = targets_of(p, s.e.run, &made);
        if (kind->made && s.model->steps) s.progress.what = strchr(kind->made, ' ') + 1;
        if (kind->made && s.model->steps) s.e.progress = inspect_advance;
        ok = heed_score_run(&s.e, &how, &scores, &facts) &&
             (!how.made || heed_text_save(&made, flag_text(p, "translations")));
        if (ok) show(p, &s, &facts);
        if (ok) draw(p, &s, &scores);
    }
    if (s.open && s.open->kind->images) warn_of_pictures(p, s.open, ok);
    heed_scores_free(&scores);
    heed_facts_free(&facts);
    heed_text_free(&made);
    eval_loop_close(&s);
}

const command cmd_eval = {
    .name = "eval",
    .usage = "RUN [DATA]...",
    .help = "how well a run does: loss, accuracy and what follows from them",
    .about =
        "Measures the best weights of a run on DATA. Without DATA, and if DATA is what the run\n"
        "was trained on or a copy of it, it measures them on a part of that: for a text the\n"
        "validation part, for pictures the test part, or the validation part if there is no test\n"
        "part.\n"
        "\n"
        "Masked models: a DATA.tsv has questions. Each line is a text with one [MASK], a tab, and\n"
        "the correct word.\n"
        "\n"
        "Pictures: classes are matched by name. The result has a table of the classes (found: the\n"
        "share of a class's pictures that were recognised; precision: the share of its\n"
        "predictions that are correct) and a table of confusions.\n"
        "\n"
        "Auto-encoders: the mean squared error of pixels from 0 to 1, or of the hidden patches if\n"
        "the model hides any.\n"
        "\n"
        "Pairs of texts: all sources are also translated, for BLEU and exact matches. BLEU has\n"
        "the tokens of sacreBLEU that suit the targets: 13a; zh for Chinese; char for Japanese "
        "and\n"
        "Thai. --alignment fields reads the fields from the third column of DATA, for example\n"
        "\"9-13 0-5 6-7\": ranges of bytes of the source without the end, one for each run of\n"
        "letters and digits of the target.",
    .examples = "  heed eval runs/book\n"
                "  heed eval runs/book other.txt --json\n"
                "  heed eval runs/french --beam 5 --translations made.tsv\n"
                "  heed eval runs/reversed test.tsv --by-length 5 --alignment anti\n"
                "  heed eval runs/digits --confusion confusion.png --mistakes mistakes.png\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .continues = true,
    .args = {1, -1},
    .run = eval,
};
