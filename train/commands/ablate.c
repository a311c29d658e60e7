/* ablate.c -- heed ablate: the effect of removing each attention head. */
#include "kinds/answers.h"
#include "kinds/records.h"

static const heed_option options[] = {
    WORDS("png", "draw layers and heads as a picture", "Output"),
    AS_SVG("Output"),
    SWITCH("json", "print one JSON object", "Output"),
    EVAL_LOOP_OPTIONS,
    EVALUATED_DATA,
    SWITCH("patches",
           "hide patches instead of heads: those that attention, rollout, gradient and occlusion "
           "point to, against random ones",
           "Pictures"),
    COUNT("pictures", "100", 2, 1e6, "--patches: in how many pictures, a seeded choice",
          "Pictures"),
    NUMBER("share", "0.25", 0, 1, "--patches: the share of them that is hidden", "Pictures"),
    {0},
};

static const applies uses[] = {EVALUATED_DATA_APPLY,
                               {"patches", reads_patches, NULL},
                               {"pictures", reads_patches, "patches"},
                               {"share", reads_patches, "patches"},
                               {0}};

static heed_heatmap harm_map(const heed_record *r) {
    heed_heatmap m = heatmap_of_map(r, r->maps, r->maps->help);
    m.unit = "added to the loss";
    m.numbers = true;
    return m;
}

static void print_harms(program *p, const heed_record *r) {
    print_wrapped(p, "%s, %s: %s", r->task, r->title, r->note);
    print_record_table(r, "heads", false);
    putchar('\n');
    print_heatmap(p->c, harm_map(r));
    putchar('\n');
    print_wrapped(p, "Harm is loss without the head minus loss with it, on the same batches; a "
                     "negative one means that the model does better without it. Heads can replace "
                     "one another: removing two may do more harm than the sum of removing each.");
    putchar('\n');
    print_wrapped(p, NO_EXPLANATION ".");
}

static void print_patches(program *p, const heed_run *run, const heed_record *r) {
    print_wrapped(p, "%s, %s: %s", r->task, r->title, r->note);
    putchar('\n');
    print_wrapped(p, "%.0f of %.0f patches hidden: those that come first by",
                  table_number(r, NULL, "hidden", 0), table_number(r, NULL, "patches", 0));
    print_record_table(r, "by", false);
    putchar('\n');
    heed_grid grid = {.first = 0};
    run->model->grid(run->self, &grid);
    print_wrapped(p,
                  "Hidden patches have the mean colour. Means over pictures, +- the half of a "
                  "95 %% interval by Student's t; random: of ten draws a picture. attention: "
                  "%s, the mean of the last layer's heads.",
                  grid.first ? "[CLS]" : "the mean of all positions");
    putchar('\n');
    print_wrapped(p, NO_EXPLANATION ".");
}

static heed_record *hide_patches(program *p, const eval_loop *s) {
    inspect_progress g = {p, "picture"};
    return heed_ablate_patches(
        s->e.run, &(heed_patch_ablation_args){.images = s->open->kind->images(s->open),
                                              .part = s->part,
                                              .pictures = flag_int(p, "pictures"),
                                              .share = heed_config_real(p->flags, "share"),
                                              .what = s->what,
                                              .progress = inspect_advance,
                                              .user = &g});
}

static void ablate(program *p) {
    eval_loop s;
    const char *png = flag_text(p, "png"), *svg = flag_text(p, "svg");
    bool patches = flag_on(p, "patches"), json = flag_on(p, "json");
    heed_record *r = NULL;
    if (patches && (*png || *svg))
        heed_fail(p->c, HEED_USAGE, "--%s draws heads: expected it without --patches",
                  *png ? "png" : "svg");
    if (eval_loop_open(p, &s, "without head"))
        r = patches ? hide_patches(p, &s) : heed_ablate(&s.e);
    bool ok = r != NULL;
    if (ok && !patches) {
        heed_heatmap m = harm_map(r);
        ok = draw_maps(p, &m, 1);
    }
    if (ok && json)
        print_json(p, record_tables_json(p->c, r));
    else if (ok && patches)
        print_patches(p, s.e.run, r);
    else if (ok)
        print_harms(p, r);
    if (ok && !json && !patches) print_drawn(p, png);
    heed_record_free(r);
    eval_loop_close(&s);
}
const command cmd_ablate = {
    .name = "ablate",
    .usage = "RUN [DATA]",
    .help = "what is lost without each attention head: loss and accuracy, sorted by harm",
    .about =
        "Evaluates DATA, or without DATA the data that the run was trained on, once with the\n"
        "trained model and once without each head in turn: the head's output to W_h is zero\n"
        "(Michel et al. 2019). In the attention of a recurrent decoder, all source tokens have\n"
        "equal weights instead. The run itself is not changed. Without DATA a text or pairs are\n"
        "read from the validation part, and pictures from the test part. For a masked model a\n"
        "DATA.tsv has questions, as in heed eval.\n"
        "\n"
        "With --patches, patches of pictures are hidden instead of heads. Hiding those that a\n"
        "measure ranks first should change the prediction more than hiding others (Samek et al.\n"
        "2017).",
    .examples = "  heed ablate runs/book\n"
                "  heed ablate runs/facts questions.tsv\n"
                "  heed ablate runs/digits --batches 4 --png harm.png\n"
                "  heed ablate runs/digits --patches --pictures 100 --share 0.25\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .continues = true,
    .args = {1, 2},
    .run = ablate,
};
