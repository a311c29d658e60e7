/* eval.c -- heed eval: a model's loss and accuracy on data. */
#include "kinds/image.h"
#include "kinds/pairs.h"

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

static void eval(program *p) {
    const heed_model *m;
    heed_config *f = run_settings(p->c, p->models, p->argv[0], &m);
    heed_run *r = f ? open_run(p, p->argv[0]) : NULL;
    if (r) kind_of(m)->eval(p, m, f, r);
    close_run(p, r);
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
