/* ablate.c -- heed ablate: the effect of removing each attention head. */
#include "kinds/answers.h"
#include "kinds/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- the map: one row per layer, one column per head ---- */

typedef struct {
    heed_heatmap map; /* the harm of each head; 0: no such head */
    heed_real *values;
    char (*name)[32];
    const char **labels; /* of the rows, then of the columns */
} harm_map;

static void map_close(harm_map *m) {
    free(m->values);
    free(m->name);
    free((void *)m->labels);
}

/* Call map_close also after a failure. */
static bool map_open(heed_ctx *c, const heed_ablation *a, harm_map *m) {
    int rows = a->layer_count, cols = 0;
    bool stacks = has_stacks(a->layers, rows);
    for (int l = 0; l < rows; l++)
        if (a->layers[l].heads > cols) cols = a->layers[l].heads;
    size_t labels = (size_t)(rows + cols);
    m->values = allocate(c, (size_t)rows * (size_t)cols, sizeof *m->values, "heads");
    m->name = allocate(c, labels, sizeof *m->name, "labels");
    m->labels = allocate(c, labels, sizeof *m->labels, "labels");
    if (!m->values || !m->name || !m->labels) return false;
    for (int i = 0; i < rows + cols; i++) {
        const heed_record_block *l = &a->layers[i < rows ? i : 0];
        if (i < rows)
            snprintf(m->name[i], sizeof *m->name, "%s%slayer %d",
                     stacks ? heed_stack_name(l->stack) : "", stacks ? " " : "", l->layer + 1);
        else
            snprintf(m->name[i], sizeof *m->name, "head %d", i - rows + 1);
        m->labels[i] = m->name[i];
    }
    for (int i = 0; i < a->head_count; i++) {
        const heed_ablated_head *h = &a->heads[i];
        m->values[h->layer * cols + h->head] = (heed_real)h->harm.mean;
    }
    m->map = (heed_heatmap){.title = "loss that is added without the head",
                            .rows = rows,
                            .cols = cols,
                            .values = m->values,
                            .row_labels = m->labels,
                            .col_labels = m->labels + rows,
                            .unit = "added to the loss",
                            .numbers = true,
                            .terminal = terminal_kind(stdout),
                            .width = terminal_width()};
    return true;
}

/* ---- as text ---- */

/* "+0.5682"; what is rounded to 0 has no sign. */
static void signed_text(char text[HEED_TABLE_CELL], double x, int digits) {
    snprintf(text, HEED_TABLE_CELL, "%+.*f", digits, x);
    if (!text[strspn(text, "+-0.")]) snprintf(text, HEED_TABLE_CELL, "%.*f", digits, 0.0);
}

enum { LOSS, HARM, HALF, ACCURACY, COLUMNS };
static const heed_table_column columns[] = {
    {"loss", 8, false}, {"harm", 9, false}, {"(95 %)", 11, true}, {"accuracy", 8, false}};

/* Which columns are shown: one batch has no interval, and not every model an accuracy. */
typedef struct {
    const heed_ablation *a;
    int count, of[COLUMNS];
    heed_table_column columns[COLUMNS];
} harm_table;

static harm_table harm_table_of(const heed_ablation *a) {
    harm_table t = {.a = a};
    for (int i = 0; i < COLUMNS; i++) {
        if ((i == HALF && isnan(a->heads[0].harm.half)) || (i == ACCURACY && isnan(a->accuracy)))
            continue;
        t.columns[t.count] = columns[i];
        t.of[t.count++] = i;
    }
    return t;
}

/* Row 0 is the model as it was trained; row i is the model without head i - 1. */
static void cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const harm_table *t = of;
    const heed_ablation *a = t->a;
    const heed_ablated_head *h = row ? &a->heads[row - 1] : NULL;
    if (column != HEED_TABLE_NAME) column = t->of[column];
    char name[64];
    snprintf(text, HEED_TABLE_CELL, "%s", column == HEED_TABLE_NAME ? "nothing" : "");
    if (column == HEED_TABLE_NAME && h)
        snprintf(
            text, HEED_TABLE_CELL, "%s",
            head_name(name, &a->layers[h->layer], h->head, has_stacks(a->layers, a->layer_count)));
    if (column == LOSS) snprintf(text, HEED_TABLE_CELL, "%.4f", h ? h->loss : a->loss);
    if (column == HARM && h) signed_text(text, h->harm.mean, 4);
    if (column == HALF && h && !isnan(h->harm.half))
        snprintf(text, HEED_TABLE_CELL, "+- %.4f", h->harm.half);
    if (column == ACCURACY)
        snprintf(text, HEED_TABLE_CELL, "%.2f %%", 100 * (h ? h->accuracy : a->accuracy));
}

static void print_harms(program *p, const eval_loop *s, const heed_ablation *a) {
    harm_map m = {0};
    harm_table t = harm_table_of(a);
    char n[32];
    print_wrapped(p, "%s, %s: %s batch%s of %d", s->e.run->model->name, s->what,
                  heed_format_count(n, s->e.batches), s->e.batches == 1 ? "" : "es", s->e.rows);
    print_table(p->c, &(heed_table){.head = "without",
                                    .rows = a->head_count + 1,
                                    .count = t.count,
                                    .name = 24,
                                    .columns = t.columns,
                                    .cell = cell,
                                    .of = &t});
    putchar('\n');
    if (map_open(p->c, a, &m)) print_heatmap(p->c, m.map);
    map_close(&m);
    putchar('\n');
    print_wrapped(p, "Harm is loss without the head minus loss with it, on the same batches; a "
                     "negative one means that the model does better without it. Heads can replace "
                     "one another: removing two may do more harm than the sum of removing each.");
    putchar('\n');
    print_wrapped(p, NO_EXPLANATION ".");
}

/* Writes --png and --svg. */
static bool draw(const program *p, const heed_ablation *a) {
    const char *png = flag_text(p, "png"), *svg = flag_text(p, "svg");
    harm_map m = {0};
    bool ok = map_open(p->c, a, &m);
    if (*png) ok = ok && heed_heatmap_png(p->c, &m.map, png);
    if (*svg) ok = ok && heed_heatmaps_svg(p->c, &m.map, 1, svg);
    map_close(&m);
    return ok;
}

/* ---- as data ---- */

static void print_object(program *p, const eval_loop *s, const heed_ablation *a) {
    json_t *list = json_array();
    for (int i = 0; i < a->head_count; i++) {
        const heed_ablated_head *h = &a->heads[i];
        const heed_record_block *l = &a->layers[h->layer];
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:o}", "path", l->path, "stack",
                      heed_stack_name(l->stack), "layer", l->layer + 1, "head", h->head + 1, "loss",
                      json_number(h->loss), "harm", json_number(h->harm.mean), "harm_95",
                      json_number(h->harm.half), "accuracy", json_number(h->accuracy)));
    }
    print_json(p, json_pack("{s:s, s:o, s:I, s:o, s:o, s:o}", "model", s->e.run->model->name,
                            "data", json_text(s->what), "batches", (json_int_t)s->e.batches, "loss",
                            json_number(a->loss), "accuracy", json_number(a->accuracy), "heads",
                            list));
}

/* ---- patches ---- */

enum { FALL, MORE, KEPT, PATCH_COLUMNS };
static const heed_table_column patch_ablation_columns[] = {{"probability falls", 17, false},
                                                           {"more than by random", 21, false},
                                                           {"answer kept", 11, false}};

static void patch_ablation_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const heed_patch_ablation *r = of;
    const heed_estimate *fall = &r->by[row].fall, *more = &r->by[row].more;
    snprintf(text, HEED_TABLE_CELL, "%s",
             column == HEED_TABLE_NAME ? heed_patch_measure_name((heed_patch_measure)row) : "");
    if (column == FALL) snprintf(text, HEED_TABLE_CELL, "%.3f +- %.3f", fall->mean, fall->half);
    if (column == MORE && row != HEED_PATCHES_RANDOM) {
        signed_text(text, more->mean, 3);
        size_t n = strlen(text);
        snprintf(text + n, HEED_TABLE_CELL - n, " +- %.3f", more->half);
    }
    if (column == KEPT) snprintf(text, HEED_TABLE_CELL, "%.1f %%", 100 * r->by[row].kept);
}

static void print_patches(program *p, const eval_loop *s, const heed_patch_ablation *r) {
    print_wrapped(
        p, "%s, %s: %d pictures, %.1f %% classified correctly, the answer's probability %.3f",
        s->e.run->model->name, s->what, r->pictures, 100 * r->correct, r->p);
    putchar('\n');
    print_wrapped(p, "%d of %d patches hidden: those that come first by", r->hidden, r->patches);
    print_table(p->c, &(heed_table){.head = "",
                                    .rows = HEED_PATCH_MEASURES,
                                    .count = PATCH_COLUMNS,
                                    .name = 10,
                                    .columns = patch_ablation_columns,
                                    .cell = patch_ablation_cell,
                                    .of = r});
    putchar('\n');
    heed_grid grid = {.first = 0};
    s->e.run->model->grid(s->e.run->self, &grid);
    print_wrapped(p,
                  "Hidden patches have the mean colour. Means over pictures, +- the half of a "
                  "95 %% interval by Student's t; random: of ten draws a picture. attention: "
                  "%s, the mean of the last layer's heads.",
                  grid.first ? "[CLS]" : "the mean of all positions");
    putchar('\n');
    print_wrapped(p, NO_EXPLANATION ".");
}

static json_t *patch_ablation_json(const eval_loop *s, const heed_patch_ablation *r) {
    json_t *by = json_object();
    for (int k = 0; k < HEED_PATCH_MEASURES; k++) {
        const heed_estimate *fall = &r->by[k].fall, *more = &r->by[k].more;
        json_t *o = json_pack("{s:o, s:o, s:o}", "fall", json_number(fall->mean), "fall_95",
                              json_number(fall->half), "kept", json_number(r->by[k].kept));
        if (k != HEED_PATCHES_RANDOM) {
            json_object_set_new(o, "more", json_number(more->mean));
            json_object_set_new(o, "more_95", json_number(more->half));
        }
        json_object_set_new(by, heed_patch_measure_name((heed_patch_measure)k), o);
    }
    return json_pack("{s:s, s:o, s:i, s:i, s:i, s:o, s:o, s:o}", "model", s->e.run->model->name,
                     "data", json_text(s->what), "pictures", r->pictures, "patches", r->patches,
                     "hidden", r->hidden, "p", json_number(r->p), "right", json_number(r->correct),
                     "by", by);
}

static void hide_patches(program *p, const eval_loop *s) {
    heed_patch_ablation r;
    inspect_progress g = {p, "picture"};
    heed_patch_ablation_args a = {.images = s->open->kind->images(s->open),
                                  .part = s->part,
                                  .pictures = flag_int(p, "pictures"),
                                  .share = heed_config_real(p->flags, "share"),
                                  .progress = inspect_advance,
                                  .user = &g};
    const char *drawn = *flag_text(p, "png") ? "png" : "svg";
    if (*flag_text(p, drawn)) {
        heed_fail(p->c, HEED_USAGE, "--%s draws heads: expected it without --patches", drawn);
        return;
    }
    if (!heed_ablate_patches(s->e.run, &a, &r)) return;
    if (flag_on(p, "json"))
        print_json(p, patch_ablation_json(s, &r));
    else
        print_patches(p, s, &r);
}

/* ---- the command ---- */

static void ablate(program *p) {
    eval_loop s;
    heed_ablation a = {.layer_count = 0};
    bool ok = eval_loop_open(p, &s, "without head"), json = flag_on(p, "json");
    if (ok && flag_on(p, "patches"))
        hide_patches(p, &s);
    else if (ok && heed_ablate(&s.e, &a) && draw(p, &a)) {
        if (json)
            print_object(p, &s, &a);
        else
            print_harms(p, &s, &a);
        if (!json) print_drawn(p, flag_text(p, "png"));
    }
    heed_ablation_free(&a);
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
