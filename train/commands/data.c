/* data.c -- heed data check: what a training run would read from data. */
#include "cli/gather.h"
#include "kinds/answers.h"

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    SWITCH("json", "print one JSON object", "Output"),
    WORDS("sheet", "pictures: write samples before and after augmentation as a picture", "Output"),
    {0}};

static bool is_typed(const program *p, const char *key) {
    return heed_config_rank(p->flags, key) == HEED_FROM_FLAG;
}

/* ---- what to try ---- */

/* Whether a length is typed, beside which train refuses another one. Texts need none. */
static bool has_length(const program *p) {
    return reads_text(p->model) || is_typed(p, "steps") || is_typed(p, "epochs") ||
           is_typed(p, "minutes");
}

/* Whether "--block 40" sets this key. */
static bool sets(const char *suggestion, const char *key) {
    size_t n = strlen(key);
    return *suggestion && strncmp(suggestion + 2, key, n) == 0 && strchr(" ", suggestion[2 + n]);
}

/* Appends the settings that are typed, except those that the suggestion sets. */
static void add_settings(const program *p, const heed_model *m, const char *suggestion,
                         heed_text *out) {
    char word[1024], words[1100];
    int width = line_width(stdout);
    heed_config *settings = training_config(p->c, m);
    for (char *const *at = p->words; at && *at; at++)
        if (strcmp(*at, "-c") == 0 && at[1]) {
            snprintf(words, sizeof words, "-c %s", heed_format_shell(word, sizeof word, at[1]));
            add_typed(out, width, words);
        }
    for (int i = 0; i < heed_config_count(p->flags); i++) {
        const char *value;
        const heed_option *o = heed_config_at(p->flags, i, &value);
        bool given = is_typed(p, o->name) && !sets(suggestion, o->name);
        if (!given || strcmp(o->name, "data") == 0 || !heed_config_has(settings, o->name)) continue;
        if (o->kind == HEED_OPTION_BOOL)
            snprintf(words, sizeof words, "--%s%s", flag_on(p, o->name) ? "" : "no-", o->name);
        else
            snprintf(words, sizeof words, "--%s %s", o->name,
                     heed_format_shell(word, sizeof word, value));
        add_typed(out, width, words);
    }
}

void print_try(const program *p, const heed_model *m, const char *suggestion) {
    char word[1024], shown[CHOICE_TEXT];
    heed_text out = {.c = p->c};
    bool other = m != p->model, from = *flag_text(p, "from");
    if (from) suggestion = "";
    if (p->chosen.count && !other) puts("\nChosen for this data:");
    for (int i = 0; i < p->chosen.count && !other; i++)
        print_fact(2, "  ", "%s", choice_text(&p->chosen.list[i], shown));
    heed_text_add(&out, "  %s train %s", program_name(), m->name);
    for (int i = 0; i < p->argc; i++)
        add_typed(&out, line_width(stdout), heed_format_shell(word, sizeof word, p->argv[i]));
    add_typed(&out, line_width(stdout), "-o runs/first");
    if (!from && !has_length(p)) add_typed(&out, line_width(stdout), "--minutes 2");
    if (*suggestion) add_typed(&out, line_width(stdout), suggestion);
    add_settings(p, m, suggestion, &out);
    if (other)
        printf("\nOr %s, for the reason in the note:\n", m->name);
    else
        puts("\nTry:");
    heed_text_put(&out, "\n", 1);
    print_text(&out);
}

/* ---- the report ---- */

/* Prints what to try; few: are_few, so that a CNN is suggested, too. */
static void print_tries(const program *p, const heed_facts *k, bool few) {
    const heed_model *cnn = find_model(p->models, "cnn");
    char suggestion[80] = "";
    if (*k->suggestion) snprintf(suggestion, sizeof suggestion, "--%s", k->suggestion);
    print_try(p, p->model, suggestion);
    if (cnn && few) print_try(p, cnn, suggestion);
}

static void report(program *p, const heed_data *d) {
    const char *data = data_name(p, heed_config_text(p->flags, "data"));
    const char *sheet = flag_text(p, "sheet");
    bool json = flag_on(p, "json");
    char hint[256];
    heed_facts k = {.c = p->c};
    bool few = are_few(p->model, d, p->flags, hint), ok = heed_data_describe(d, p->flags, &k);
    if (ok && few) heed_fact_add(&k, HEED_FACT, "note", "%s", hint);
    if (ok && json) {
        json_t *o = json_pack("{s:s}", "data", data);
        json_object_update_new(o, facts_json(&k));
        json_object_set_new(o, "chosen", choices_json(&p->chosen));
        print_json(p, o);
    } else if (ok) {
        print_fact(0, "", "%s", data);
        putchar('\n');
        print_facts(p, &k);
    }
    if (ok && *sheet && augmented_png(p, d->kind->images(d), sheet) && !json)
        printf("\nwrote %s\n", sheet);
    if (ok && !json && heed_ctx_status(p->c) == HEED_OK) print_tries(p, &k, few);
    heed_facts_free(&k);
}

static void check_data(program *p, const char *data) {
    if (!reads_data(p->model)) {
        heed_fail(p->c, HEED_USAGE, "there is nothing to check: %s makes its own data",
                  p->model->name);
        return;
    }
    heed_config_set(p->flags, "data", data, "DATA", HEED_FROM_FLAG);
    if (!reads_pictures(p->model) && *flag_text(p, "sheet")) {
        heed_fail(p->c, HEED_USAGE, "--sheet shows pictures: %s is trained on %s", p->model->name,
                  data_of(p->model)->noun);
        return;
    }
    reading shown = {.p = p, .bar = redraws(stderr)};
    heed_data_args how = {.census = UINT64_MAX, .progress = show_reading, .user = &shown};
    const char *from = flag_text(p, "from");
    heed_run *start = *from ? heed_transfer_open(p->c, from, p->models, NULL) : NULL;
    if (start) heed_transfer_settings(p->flags, p->model, start, &how, NULL);
    heed_data *d = heed_train_data(p->c, p->model, p->flags, &how, &p->chosen);
    end_reading(&shown);
    if (d) report(p, d);
    heed_data_close(d);
    heed_run_close(start);
}

static void check(program *p) {
    gathered inputs = {.path = ""};
    if (p->argc == 1 && !data_fits(p, p->argv[0])) return;
    if (gather(p, p->model, NULL, p->argc, p->argv, &inputs))
        check_data(p, *inputs.path ? inputs.path : p->argv[0]);
    gather_end(&inputs);
}

const command cmd_data_check = {
    .name = "data check",
    .usage = "TASK DATA...",
    .help = "what texts or a set of pictures hold, and what is wrong with them",
    .about =
        "Reads DATA as `heed train TASK` does, and reports what it finds, without training. For\n"
        "a text: encoding, lines, vocabulary, unknown tokens, overlap of training and validation.\n"
        "For pairs of texts: counts, labels, vocabularies, lengths, and what would be skipped.\n"
        "For pictures: parts, classes, sizes, files that cannot be decoded, and pictures that are\n"
        "in two parts. For captions: what it reports of texts and of pictures. As for train, DATA\n"
        "can be several texts, or - for the standard input.",
    .examples = "  heed data check gpt book.txt\n"
                "  heed data check mlm book.txt --tokenizer word --packing lines\n"
                "  heed data check seq2seq french.tsv --tokenizer word --no-share-vocab\n"
                "  heed data check vit flowers --pad 4 --sheet samples.png\n",
    .options = options,
    .task_options = true,
    .args = {1, -1},
    .run = check,
};
