/* heads.c -- heed heads: measures of every attention head over evaluation data. */
#include "kinds/image.h"
#include "kinds/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SORTS "layer|entropy|distance|first|self|previous|next|same|special|diagonal|induction"
static const heed_option options[] = {
    {"sort", HEED_CHOICE, "layer", 0, 0, SORTS, "the largest first; layer: in the model's order",
     "Output"},
    WORDS("csv", "write the table to a file of comma-separated values", "Output"),
    SWITCH("json", "print one JSON object", "Output"),
    EVAL_LOOP_OPTIONS,
    EVALUATED_PICTURES,
    {0}};

static const applies uses[] = {EVALUATED_PICTURES_APPLY, {0}};

/* ---- order ---- */

typedef struct {
    const heed_head_table *table;
    int layer, head;
    double key; /* the value to sort by */
} entry;

static const heed_head_sums *sums_of(const entry *e) {
    return &e->table->heads[e->table->first[e->layer] + e->head];
}

/* Sorts by descending value; heads without one come last, and ties keep the model's order. */
static int by_key(const void *a, const void *b) {
    const entry *x = a, *y = b;
    double kx = isnan(x->key) ? -INFINITY : x->key, ky = isnan(y->key) ? -INFINITY : y->key;
    if (kx != ky) return kx > ky ? -1 : 1;
    if (x->layer != y->layer) return (x->layer > y->layer) - (x->layer < y->layer);
    return (x->head > y->head) - (x->head < y->head);
}

static entry *sorted(heed_ctx *c, const heed_head_table *h, const char *key) {
    entry *list = malloc((size_t)h->head_count * sizeof *list);
    int measure = -1, n = 0;
    if (!list) heed_fail(c, HEED_FAILED, "no memory for %d heads", h->head_count);
    for (int m = 0; m < HEED_HEAD_MEASURES; m++)
        if (strcmp(heed_head_measure_name((heed_head_measure)m), key) == 0) measure = m;
    for (int l = 0; list && l < h->layer_count; l++)
        for (int i = 0; i < h->layers[l].heads; i++) {
            entry *e = &list[n++];
            *e = (entry){h, l, i, 0};
            if (measure >= 0) e->key = heed_head_mean(sums_of(e), (heed_head_measure)measure);
        }
    if (list) qsort(list, (size_t)n, sizeof *list, by_key);
    return list;
}

/* ---- as text ---- */

/* A block of the table: the columns of measures [from, to) after one of names. */
typedef struct {
    const heed_head_table *h;
    const entry *list;
    bool stacks;
    int name, gap, from, to;
} block;

static int column(heed_head_measure m, int gap) {
    int n = (int)strlen(heed_head_measure_name((heed_head_measure)m));
    return gap + (n > 5 ? n : 5);
}

/* The first measure that does not fit a block that starts with `from`; at least one fits. */
static int block_end(const block *b, int from, int gap) {
    int used = 2 + b->name, m = from;
    for (bool any = false; m < HEED_HEAD_MEASURES; m++) {
        if (!heed_heads_have(b->h, (heed_head_measure)m)) continue;
        used += column((heed_head_measure)m, gap);
        if (any && used > terminal_width()) break;
        any = true;
    }
    return m;
}

static void print_row(const block *b, const char *name, const heed_head_sums *s) {
    printf("  %-*s", b->name, name);
    for (int m = b->from; m < b->to; m++) {
        double x = heed_head_mean(s, (heed_head_measure)m);
        int width = column((heed_head_measure)m, b->gap);
        if (!heed_heads_have(b->h, (heed_head_measure)m)) continue;
        if (isnan(x))
            printf("%*s", width, "-");
        else
            printf("%*.*f", width,
                   m == HEED_HEAD_ENTROPY || m == HEED_HEAD_DISTANCE || m == HEED_HEAD_DIAGONAL ? 2
                                                                                                : 3,
                   x);
    }
    putchar('\n');
}

static void print_alike(const block *b) {
    bool seen[3] = {false};
    for (int i = 0; i < b->h->layer_count; i++) {
        heed_stack k = b->h->layers[i].stack;
        char name[64];
        snprintf(name, sizeof name, "%s%sall alike", b->stacks ? heed_stack_name(k) : "",
                 b->stacks ? " " : "");
        if (!seen[k]) print_row(b, name, &b->h->uniform[k]);
        seen[k] = true;
    }
}

static void print_block(const block *b) {
    char name[64];
    printf("\n  %-*s", b->name, "");
    for (int m = b->from; m < b->to; m++)
        if (heed_heads_have(b->h, (heed_head_measure)m))
            printf("%*s", column((heed_head_measure)m, b->gap),
                   heed_head_measure_name((heed_head_measure)m));
    putchar('\n');
    for (int i = 0; i < b->h->head_count; i++) {
        const entry *e = &b->list[i];
        print_row(b, head_name(name, &b->h->layers[e->layer], e->head, b->stacks), sums_of(e));
    }
    print_alike(b);
}

/* Prints as few blocks as the terminal allows: a single one if it fits with narrower gaps. */
static void print_blocks(const heed_head_table *h, const entry *list) {
    block b = {.h = h, .list = list, .stacks = has_stacks(h->layers, h->layer_count)};
    char name[64];
    for (int i = 0; i < h->head_count; i++) {
        int n =
            heed_label_columns(head_name(name, &h->layers[list[i].layer], list[i].head, b.stacks));
        if (n > b.name) b.name = n;
    }
    b.gap = block_end(&b, 0, 2) < HEED_HEAD_MEASURES && block_end(&b, 0, 1) == HEED_HEAD_MEASURES
                ? 1
                : 2;
    for (; b.from < HEED_HEAD_MEASURES; b.from = b.to) {
        b.to = block_end(&b, b.from, b.gap);
        print_block(&b);
    }
}

static void print_ranking(program *p, const eval_loop *s, const heed_head_table *h,
                          const entry *list) {
    char what[800], n[32];
    snprintf(what, sizeof what, "%s, %s: means over %s queries a head", s->e.run->model->name,
             s->what, heed_format_count(n, (uint64_t)h->heads[0].rows[HEED_HEAD_ENTROPY]));
    print_wrapped(p, what);
    print_blocks(h, list);
    putchar('\n');
    for (int m = 0; m < HEED_HEAD_MEASURES; m++) {
        if (!heed_heads_have(h, (heed_head_measure)m)) continue;
        printf("  %-9s  ", heed_head_measure_name((heed_head_measure)m));
        print_hanging(p, heed_head_measure_help((heed_head_measure)m), 13);
    }
    printf("  all alike  ");
    print_hanging(p, "the same of a head that attends to everything alike", 13);
    putchar('\n');
    char text[256];
    snprintf(text, sizeof text, NO_EXPLANATION "; %s ablate shows what is lost without it.",
             program_name());
    print_wrapped(p, text);
}

/* ---- as data ---- */

static json_t *measures_json(const heed_head_table *h, const heed_head_sums *s) {
    json_t *o = json_object();
    for (int m = 0; m < HEED_HEAD_MEASURES; m++)
        if (heed_heads_have(h, (heed_head_measure)m))
            json_object_set_new(o, heed_head_measure_name((heed_head_measure)m),
                                json_number(heed_head_mean(s, (heed_head_measure)m)));
    return o;
}

static void print_object(program *p, const eval_loop *s, const heed_head_table *h,
                         const entry *list) {
    json_t *heads = json_array(), *alike = json_object();
    for (int i = 0; i < h->head_count; i++) {
        const heed_record_block *l = &h->layers[list[i].layer];
        json_t *o = measures_json(h, sums_of(&list[i]));
        json_object_update_new(o, json_pack("{s:s, s:s, s:i, s:i}", "path", l->path, "stack",
                                            heed_stack_name(l->stack), "layer", l->layer + 1,
                                            "head", list[i].head + 1));
        json_array_append_new(heads, o);
    }
    for (int i = 0; i < h->layer_count; i++)
        json_object_set_new(alike, heed_stack_name(h->layers[i].stack),
                            measures_json(h, &h->uniform[h->layers[i].stack]));
    print_json(p, json_pack("{s:s, s:o, s:I, s:o, s:o}", "model", s->e.run->model->name, "data",
                            json_text(s->what), "queries",
                            (json_int_t)h->heads[0].rows[HEED_HEAD_ENTROPY], "heads", heads,
                            "alike", alike));
}

static bool write_csv(heed_ctx *c, const heed_head_table *h, const entry *list, const char *path) {
    heed_text t = {.c = c};
    heed_text_add(&t, "stack,layer,head");
    for (int m = 0; m < HEED_HEAD_MEASURES; m++)
        if (heed_heads_have(h, (heed_head_measure)m))
            heed_text_add(&t, ",%s", heed_head_measure_name((heed_head_measure)m));
    heed_text_add(&t, "\n");
    for (int i = 0; i < h->head_count; i++) {
        const heed_record_block *l = &h->layers[list[i].layer];
        heed_text_add(&t, "%s,%d,%d", heed_stack_name(l->stack), l->layer + 1, list[i].head + 1);
        for (int m = 0; m < HEED_HEAD_MEASURES; m++) {
            double x = heed_head_mean(sums_of(&list[i]), (heed_head_measure)m);
            if (!heed_heads_have(h, (heed_head_measure)m)) continue;
            heed_text_add(&t, isnan(x) ? "," : ",%.9g", x);
        }
        heed_text_add(&t, "\n");
    }
    bool ok = heed_text_save(&t, path);
    heed_text_free(&t);
    return ok;
}

/* ---- the command ---- */

/* Sorting by a measure that no head has would have no effect. */
static bool check_sort(program *p, const heed_head_table *h) {
    const char *key = heed_config_text(p->flags, "sort");
    for (int m = 0; m < HEED_HEAD_MEASURES; m++)
        if (strcmp(key, heed_head_measure_name((heed_head_measure)m)) == 0 &&
            !heed_heads_have(h, (heed_head_measure)m))
            return heed_fail(p->c, HEED_USAGE,
                             "--sort %s: heads of this model have no such measure; hint: --sort "
                             "entropy",
                             key);
    return true;
}

static void report(program *p, const eval_loop *s, const heed_head_table *h) {
    const char *csv = heed_config_text(p->flags, "csv");
    entry *list = check_sort(p, h) ? sorted(p->c, h, heed_config_text(p->flags, "sort")) : NULL;
    bool json = heed_config_bool(p->flags, "json"), wrote = false;
    if (list && *csv) wrote = write_csv(p->c, h, list, csv);
    if (list && json && heed_ctx_status(p->c) == HEED_OK) print_object(p, s, h, list);
    if (list && !json && heed_ctx_status(p->c) == HEED_OK) print_ranking(p, s, h, list);
    if (wrote && !json) printf("\nwrote %s\n", csv);
    free(list);
}

static void heads(program *p) {
    eval_loop s;
    heed_head_table h = {.layer_count = 0};
    inspect_progress g = {p, "batch"};
    bool ok = eval_loop_open(p, &s);
    s.e.progress = inspect_advance;
    s.e.progress_user = &g;
    if (ok && heed_heads(&s.e, &h)) report(p, &s, &h);
    heed_heads_free(&h);
    eval_loop_close(&s);
}

const command cmd_heads = {
    .name = "heads",
    .usage = "RUN [DATA]",
    .help = "what every attention head does over data: entropy, distance, shares, induction",
    .about =
        "Evaluates DATA, or without DATA what the run was trained on (of a text and of\n"
        "pairs the validation part, of pictures the test part; of a masked model a DATA.tsv\n"
        "holds questions, as heed eval has them), and prints for every head\n"
        "means over all queries: how spread its weights are, how far it looks, and which share\n"
        "falls on the first, the same, the neighbouring and the special tokens. Of a gpt the\n"
        "induction score is added: random tokens are repeated, and a head that looks at what\n"
        "followed the last time has a score near 1 (Olsson et al. 2022). Distances of pictures\n"
        "are between patches (Dosovitskiy et al. 2021, fig. 7). The last row is what a head has\n"
        "that attends to everything alike.",
    .examples = "  heed heads runs/book\n"
                "  heed heads runs/book --sort induction --csv heads.csv\n"
                "  heed heads runs/digits --batches 4 --json\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .continues = true,
    .min = 1,
    .max = 2,
    .run = heads,
};
