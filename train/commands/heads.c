/* heads.c -- heed heads: measures of every attention head over evaluation data. */
#include "kinds/answers.h"
#include "kinds/inputs.h"

#include <math.h>
#include <stdlib.h>
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

/* ---- order ---- */

typedef struct {
    const heed_record_block *layer;
    int head;
    const heed_head_sums *sums;
    double key; /* the value to sort by; -INFINITY: none */
} entry;

/* Sorts by descending value; ties keep the model's order, which is that of the sums. */
static int by_key(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->key != y->key) return x->key > y->key ? -1 : 1;
    return (x->sums > y->sums) - (x->sums < y->sums);
}

/* HEED_HEAD_MEASURES if there is none of that name. */
static heed_head_measure measure_named(const char *name) {
    heed_head_measure m = 0;
    while (m < HEED_HEAD_MEASURES && strcmp(heed_head_measure_name(m), name) != 0) m++;
    return m;
}

static entry *sorted(heed_ctx *c, const heed_head_table *h, const char *key) {
    entry *list = allocate(c, (size_t)h->head_count, sizeof *list, "heads");
    heed_head_measure m = measure_named(key);
    int n = 0;
    for (int l = 0; list && l < h->layer_count; l++)
        for (int i = 0; i < h->layers[l].heads; i++) {
            const heed_head_sums *sums = &h->heads[h->first[l] + i];
            double x = m < HEED_HEAD_MEASURES ? heed_head_mean(sums, m) : 0;
            list[n++] = (entry){&h->layers[l], i, sums, isnan(x) ? -INFINITY : x};
        }
    if (list) qsort(list, (size_t)n, sizeof *list, by_key);
    return list;
}

/* Whether a model that predicts the next token lacks the score that the others of its kind have. */
static bool lacks_induction(const heed_model *m, const heed_head_table *h) {
    return data_of(m)->ahead && !heed_heads_have(h, HEED_HEAD_INDUCTION);
}

/* ---- as text ---- */

typedef struct {
    const heed_head_table *h;
    const entry *list;
    bool stacks;
    heed_stack alike[3]; /* below the heads: what a head has that attends to everything alike */
    heed_head_measure measures[HEED_HEAD_MEASURES];
    heed_table_column columns[HEED_HEAD_MEASURES];
} ranking;

static void cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const ranking *r = of;
    const entry *e = row < r->h->head_count ? &r->list[row] : NULL;
    heed_stack stack = e ? e->layer->stack : r->alike[row - r->h->head_count];
    if (column == HEED_TABLE_NAME && e)
        head_name(text, e->layer, e->head, r->stacks);
    else if (column == HEED_TABLE_NAME)
        snprintf(text, HEED_TABLE_CELL, "%s%sall alike", r->stacks ? heed_stack_name(stack) : "",
                 r->stacks ? " " : "");
    if (column == HEED_TABLE_NAME) return;
    heed_head_measure m = r->measures[column];
    bool share = m != HEED_HEAD_ENTROPY && m != HEED_HEAD_DISTANCE && m != HEED_HEAD_DIAGONAL;
    double x = heed_head_mean(e ? e->sums : &r->h->uniform[stack], m);
    snprintf(text, HEED_TABLE_CELL, "-");
    if (!isnan(x)) snprintf(text, HEED_TABLE_CELL, "%.*f", share ? 3 : 2, x);
}

/* In as few blocks as the terminal allows: in a single one if it fits with narrower gaps. */
static void print_rows(program *p, const heed_head_table *h, const entry *list) {
    ranking r = {.h = h, .list = list, .stacks = has_stacks(h->layers, h->layer_count)};
    heed_table t = {
        .head = "", .rows = h->head_count, .columns = r.columns, .cell = cell, .of = &r};
    bool seen[3] = {false};
    int width = 2;
    for (int i = 0; i < h->head_count; i++) {
        char name[64];
        int n = heed_label_columns(head_name(name, list[i].layer, list[i].head, r.stacks));
        if (n > t.name) t.name = n;
    }
    for (heed_head_measure m = 0; m < HEED_HEAD_MEASURES; m++) {
        int n = (int)strlen(heed_head_measure_name(m));
        if (!heed_heads_have(h, m)) continue;
        r.measures[t.count] = m;
        r.columns[t.count] = (heed_table_column){heed_head_measure_name(m), n > 5 ? n : 5, false};
        width += r.columns[t.count++].width;
    }
    for (int i = 0; i < h->layer_count; i++) {
        heed_stack k = h->layers[i].stack;
        if (!seen[k]) r.alike[t.rows++ - h->head_count] = k;
        seen[k] = true;
    }
    bool fits = width + t.name + 2 * t.count <= terminal_width();
    if (!fits && width + t.name + t.count <= terminal_width()) t.gap = 1;
    print_table(p->c, &t);
}

static int64_t queries_of(const heed_head_sums *s) { return (int64_t)s->rows[HEED_HEAD_ENTROPY]; }

/* "480", or of stacks that differ "480 (encoder), 600 (decoder), 600 (cross)": the queries of a
 * head. */
static void add_queries(const heed_head_table *h, heed_text *out) {
    char n[32];
    bool stacks = false;
    for (int i = 1; i < h->layer_count; i++)
        stacks |= queries_of(&h->heads[h->first[i]]) != queries_of(h->heads);
    for (int i = 0; i < h->layer_count; i++) {
        heed_stack k = h->layers[i].stack;
        if (i > 0 && (!stacks || k == h->layers[i - 1].stack)) continue;
        heed_format_count(n, (uint64_t)queries_of(&h->heads[h->first[i]]));
        heed_text_add(out, "%s%s", i ? ", " : "", n);
        if (stacks) heed_text_add(out, " (%s)", heed_stack_name(k));
    }
}

/* What a measure is of in this model: patches or tokens. */
static const char *measure_help(const heed_model *m, heed_head_measure measure, char text[160]) {
    const char *help = heed_head_measure_help(measure);
    if (measure == HEED_HEAD_SPECIAL && reads_patches(m)) return "share on [CLS]";
    if (measure != HEED_HEAD_DISTANCE) return help;
    snprintf(text, 160, "%s, in %s", help, sees_patches(m) ? "patches" : "tokens");
    return text;
}

static void print_ranking(program *p, const eval_loop *s, const heed_head_table *h,
                          const entry *list) {
    const heed_model *model = s->e.run->model;
    char help[160];
    heed_text queries = {.c = p->c};
    add_queries(h, &queries);
    print_wrapped(p, "%s, %s: means over %s quer%s a head", model->name, s->what,
                  queries.s ? queries.s : "",
                  queries.s && strcmp(queries.s, "1") == 0 ? "y" : "ies");
    heed_text_free(&queries);
    print_rows(p, h, list);
    putchar('\n');
    for (heed_head_measure m = 0; m < HEED_HEAD_MEASURES; m++) {
        if (!heed_heads_have(h, m)) continue;
        printf("  %-9s  ", heed_head_measure_name(m));
        print_hanging(p, measure_help(model, m, help), 13);
    }
    printf("  all alike  ");
    print_hanging(p, "the same for a head that attends to everything equally", 13);
    putchar('\n');
    if (lacks_induction(model, h))
        print_wrapped(p, "induction is not measured: it requires causal layers and a block of at "
                         "least 4 tokens.");
    print_wrapped(p, NO_EXPLANATION "; `%s ablate` shows what is lost without it.", program_name());
}

/* ---- as data ---- */

static json_t *measures_json(const heed_head_table *h, const heed_head_sums *s) {
    json_t *o = json_pack("{s:I}", "queries", (json_int_t)queries_of(s));
    for (heed_head_measure m = 0; m < HEED_HEAD_MEASURES; m++)
        if (heed_heads_have(h, m))
            json_object_set_new(o, heed_head_measure_name(m), json_number(heed_head_mean(s, m)));
    return o;
}

static void print_object(program *p, const eval_loop *s, const heed_head_table *h,
                         const entry *list) {
    json_t *heads = json_array(), *alike = json_object();
    for (int i = 0; i < h->head_count; i++) {
        const heed_record_block *l = list[i].layer;
        json_t *o = measures_json(h, list[i].sums);
        json_object_update_new(o, json_pack("{s:s, s:s, s:i, s:i}", "path", l->path, "stack",
                                            heed_stack_name(l->stack), "layer", l->layer + 1,
                                            "head", list[i].head + 1));
        json_array_append_new(heads, o);
    }
    for (int i = 0; i < h->layer_count; i++)
        json_object_set_new(alike, heed_stack_name(h->layers[i].stack),
                            measures_json(h, &h->uniform[h->layers[i].stack]));
    print_json(p, json_pack("{s:s, s:o, s:o, s:o}", "model", s->e.run->model->name, "data",
                            json_text(s->what), "heads", heads, "alike", alike));
}

static bool write_csv(heed_ctx *c, const heed_head_table *h, const entry *list, const char *path) {
    heed_text t = {.c = c};
    heed_text_add(&t, "stack,layer,head");
    for (heed_head_measure m = 0; m < HEED_HEAD_MEASURES; m++)
        if (heed_heads_have(h, m)) heed_text_add(&t, ",%s", heed_head_measure_name(m));
    heed_text_add(&t, "\n");
    for (int i = 0; i < h->head_count; i++) {
        const heed_record_block *l = list[i].layer;
        heed_text_add(&t, "%s,%d,%d", heed_stack_name(l->stack), l->layer + 1, list[i].head + 1);
        for (heed_head_measure m = 0; m < HEED_HEAD_MEASURES; m++) {
            double x = heed_head_mean(list[i].sums, m);
            if (!heed_heads_have(h, m)) continue;
            heed_text_add(&t, isnan(x) ? "," : ",%.9g", x);
        }
        heed_text_add(&t, "\n");
    }
    bool ok = heed_text_save(&t, path);
    heed_text_free(&t);
    return ok;
}

/* ---- the command ---- */

static void report(program *p, const eval_loop *s, const heed_head_table *h) {
    const char *csv = flag_text(p, "csv"), *key = flag_text(p, "sort");
    heed_head_measure m = measure_named(key);
    if (m < HEED_HEAD_MEASURES && !heed_heads_have(h, m)) {
        heed_fail(p->c, HEED_USAGE,
                  "--sort %s: heads of this model have no such measure; hint: --sort entropy", key);
        return;
    }
    entry *list = sorted(p->c, h, key);
    bool json = flag_on(p, "json");
    if (list && (!*csv || write_csv(p->c, h, list, csv))) {
        if (json)
            print_object(p, s, h, list);
        else
            print_ranking(p, s, h, list);
        if (*csv && !json) printf("\nwrote %s\n", csv);
    }
    free(list);
}

static void heads(program *p) {
    eval_loop s;
    heed_head_table h = {.layer_count = 0};
    if (eval_loop_open(p, &s, "batch") && heed_heads(&s.e, &h)) report(p, &s, &h);
    heed_heads_free(&h);
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
