/* heads.c -- heed heads: measures of every attention head over evaluation data. */
#include "kinds/answers.h"
#include "kinds/records.h"

#include <string.h>

#define SORTS "layer|entropy|distance|first|self|previous|next|same|special|diagonal|induction"
static const heed_option options[] = {
    CHOICE("sort", "layer", SORTS, "the largest first; layer: in the model's order", "Output"),
    WORDS("csv", "write the table to a file of comma-separated values", "Output"),
    SWITCH("json", "print one JSON object", "Output"),
    EVAL_LOOP_OPTIONS,
    EVALUATED_DATA,
    {0}};

static const applies uses[] = {EVALUATED_DATA_APPLY, {0}};

static void print_measures(program *p, const heed_record *r, const heed_model *m) {
    const heed_record_table *t = r->tables;
    print_wrapped(p, "%s, %s: %s", r->task, r->title, r->note);
    print_record_table(r, "heads", false);
    putchar('\n');
    while (!t->name) t++;
    for (int i = 0; i < t->count; i++) {
        if (!t->columns[i].help) continue;
        printf("  %-9s  ", t->columns[i].head);
        print_hanging(p, t->columns[i].help, 13);
    }
    printf("  all alike  ");
    print_hanging(p, "the same for a head that attends to everything equally", 13);
    putchar('\n');
    if (data_of(m)->ahead && !heed_record_find(r, "heads", "induction"))
        print_wrapped(p, "induction is not measured: it requires causal layers and a block of at "
                         "least 4 tokens.");
    print_wrapped(p, NO_EXPLANATION "; `%s ablate` shows what is lost without it.", program_name());
}

static void heads(program *p) {
    eval_loop s;
    const char *csv = flag_text(p, "csv"), *key = flag_text(p, "sort");
    heed_record *r = eval_loop_open(p, &s, "batch") ? heed_heads(&s.e) : NULL;
    bool ok = r != NULL, json = flag_on(p, "json");
    if (ok && strcmp(key, "layer") != 0 && !heed_record_sort(r, "heads", key))
        ok = heed_fail(p->c, HEED_USAGE,
                       "--sort %s: heads of this model have no such measure; hint: --sort entropy",
                       key);
    if (ok && (!*csv || heed_record_csv(p->c, r, csv))) {
        if (json)
            print_json(p, record_tables_json(p->c, r));
        else
            print_measures(p, r, s.e.run->model);
        if (*csv && !json) printf("\nwrote %s\n", csv);
    }
    heed_record_free(r);
    eval_loop_close(&s);
}

const command cmd_heads = {
    .name = "heads",
    .usage = "RUN [DATA]",
    .help = "what every attention head does over data: entropy, distance, shares, induction",
    .about =
        "Reads DATA, or without DATA the data that the run was trained on, and prints for every\n"
        "head means over all queries: the entropy of its weights, how far it attends, and which\n"
        "share of its weight is on the first, the same, the neighbouring and the special tokens.\n"
        "Without DATA a text or pairs are read from the validation part, and pictures from the\n"
        "test part. For a masked model a DATA.tsv has questions, as in heed eval.\n"
        "\n"
        "A gpt also has an induction score: random tokens are repeated, and a head that attends\n"
        "to the token that followed last time has a score near 1 (Olsson et al. 2022). Distances\n"
        "in pictures are between patches (Dosovitskiy et al. 2021, fig. 7). The last row is for a\n"
        "head that attends to everything equally.",
    .examples = "  heed heads runs/book\n"
                "  heed heads runs/book --sort induction --csv heads.csv\n"
                "  heed heads runs/digits --batches 4 --json\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .continues = true,
    .args = {1, 2},
    .run = heads,
};
