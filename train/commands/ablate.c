/* ablate.c -- heed ablate: the effect of removing each attention head. */
#include "kinds/image.h"
#include "kinds/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {WORDS("png", "draw layers and heads as a picture", "Output"),
                                      SWITCH("json", "print one JSON object", "Output"),
                                      EVAL_LOOP_OPTIONS,
                                      EVALUATED_PICTURES,
                                      SWITCH("patches",
                                             "hide patches instead of heads: those that attention, "
                                             "rollout, gradient and occlusion point "
                                             "to, against random ones",
                                             "Pictures"),
                                      {"pictures", HEED_INT, "100", 2, 1e6, NULL,
                                       "--patches: in how many pictures, a seeded choice",
                                       "Pictures"},
                                      {"share", HEED_REAL, "0.25", 0, 1, NULL,
                                       "--patches: the share of them that is hidden", "Pictures"},
                                      {0}};

static const applies uses[] = {EVALUATED_PICTURES_APPLY,
                               {"patches", reads_patches, NULL},
                               {"pictures", reads_patches, "patches"},
                               {"share", reads_patches, "patches"},
                               {0}};

/* ---- the map: one row per layer, one column per head ---- */

typedef struct {
    int rows, cols;
    heed_real *values; /* harm; 0: no such head */
    char (*name)[32];
    const char **row_label, **col_label;
} harm_map;

static void map_free(harm_map *m) {
    free(m->values);
    free(m->name);
    free((void *)m->row_label);
    *m = (harm_map){.rows = 0};
}

static bool map_capacity(heed_ctx *c, const heed_ablation *a, harm_map *m) {
    *m = (harm_map){.rows = a->layer_count};
    for (int l = 0; l < a->layer_count; l++)
        if (a->layers[l].heads > m->cols) m->cols = a->layers[l].heads;
    size_t labels = (size_t)(m->rows + m->cols);
    m->values = calloc((size_t)m->rows * (size_t)m->cols, sizeof *m->values);
    m->name = calloc(labels, sizeof *m->name);
    m->row_label = calloc(labels, sizeof *m->row_label);
    m->col_label = m->row_label ? m->row_label + m->rows : NULL;
    return (m->values && m->name && m->row_label) ||
           heed_fail(c, HEED_FAILED, "no memory for a map of %d heads", a->head_count);
}

static bool make_map(heed_ctx *c, const heed_ablation *a, harm_map *m) {
    bool stacks = has_stacks(a->layers, a->layer_count);
    if (!map_capacity(c, a, m)) return false;
    for (int i = 0; i < m->rows; i++) {
        const heed_record_block *l = &a->layers[i];
        snprintf(m->name[i], sizeof *m->name, "%s%slayer %d",
                 stacks ? heed_stack_name(l->stack) : "", stacks ? " " : "", l->layer + 1);
        m->row_label[i] = m->name[i];
    }
    for (int i = 0; i < m->cols; i++) {
        snprintf(m->name[m->rows + i], sizeof *m->name, "head %d", i + 1);
        m->col_label[i] = m->name[m->rows + i];
    }
    for (int i = 0; i < a->head_count; i++) {
        const heed_ablated_head *h = &a->heads[i];
        m->values[h->layer * m->cols + h->head] = (heed_real)h->harm.mean;
    }
    return true;
}

static heed_heatmap heatmap_of(const harm_map *m) {
    return (heed_heatmap){.title = "loss that is added without the head",
                          .rows = m->rows,
                          .cols = m->cols,
                          .values = m->values,
                          .row_labels = m->row_label,
                          .col_labels = m->col_label,
                          .unit = "added to the loss",
                          .numbers = true,
                          .terminal = terminal_kind(stdout),
                          .width = terminal_width()};
}

/* ---- as text ---- */

enum { LOSS, HARM, HALF, ACCURACY, COLUMNS };
static const heed_table_column columns[] = {
    {"loss", 8, false}, {"harm", 9, false}, {"(95 %)", 11, true}, {"accuracy", 8, false}};

/* Row 0 is the model as it was trained; row i is the model without head i - 1. */
static void cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const heed_ablation *a = of;
    const heed_ablated_head *h = row ? &a->heads[row - 1] : NULL;
    char name[64];
    snprintf(text, HEED_TABLE_CELL, "%s", column == HEED_TABLE_NAME ? "nothing" : "");
    if (column == HEED_TABLE_NAME && h)
        snprintf(
            text, HEED_TABLE_CELL, "%s",
            head_name(name, &a->layers[h->layer], h->head, has_stacks(a->layers, a->layer_count)));
    if (column == LOSS) snprintf(text, HEED_TABLE_CELL, "%.4f", h ? h->loss : a->loss);
    if (column == HARM && h) snprintf(text, HEED_TABLE_CELL, "%+.4f", h->harm.mean);
    if (column == HALF && h && !isnan(h->harm.half))
        snprintf(text, HEED_TABLE_CELL, "+- %.4f", h->harm.half);
    if (column == ACCURACY)
        snprintf(text, HEED_TABLE_CELL, "%.2f %%", 100 * (h ? h->accuracy : a->accuracy));
}

static void print_harms(program *p, const eval_loop *s, const heed_ablation *a) {
    harm_map m = {.rows = 0};
    heed_text text = {.c = p->c};
    char n[32], what[800];
    snprintf(what, sizeof what, "%s, %s: %s batch%s of %d", s->e.run->model->name, s->what,
             heed_format_count(n, s->e.batches), s->e.batches == 1 ? "" : "es", s->e.rows);
    print_wrapped(p, what);
    print_table(p->c, &(heed_table){.head = "without",
                                    .rows = a->head_count + 1,
                                    .count = isnan(a->accuracy) ? ACCURACY : COLUMNS,
                                    .name = 24,
                                    .columns = columns,
                                    .cell = cell,
                                    .of = a});
    putchar('\n');
    heed_heatmap map;
    if (make_map(p->c, a, &m) && (map = heatmap_of(&m), heed_heatmap_text(&map, &text)))
        print_text(&text);
    heed_text_free(&text);
    map_free(&m);
    putchar('\n');
    print_wrapped(p, "Harm is loss without the head minus loss with it, on the same batches; a "
                     "negative one means that the model does better without it. Heads can replace "
                     "one another: removing two may do more harm than the sum of removing each.");
    putchar('\n');
    print_wrapped(p, NO_EXPLANATION ".");
}

static bool draw(heed_ctx *c, const heed_ablation *a, const char *path) {
    harm_map m = {.rows = 0};
    bool ok = make_map(c, a, &m);
    heed_heatmap map = heatmap_of(&m);
    ok = ok && heed_heatmap_png(c, &map, path);
    map_free(&m);
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
    if (column == MORE && row != HEED_PATCHES_RANDOM)
        snprintf(text, HEED_TABLE_CELL, "%+.3f +- %.3f", more->mean, more->half);
    if (column == KEPT) snprintf(text, HEED_TABLE_CELL, "%.1f %%", 100 * r->by[row].kept);
}

static void print_patches(program *p, const eval_loop *s, const heed_patch_ablation *r) {
    char what[800];
    snprintf(what, sizeof what,
             "%s, %s: %d pictures, %.1f %% classified correctly, the answer's probability %.3f",
             s->e.run->model->name, s->what, r->pictures, 100 * r->correct, r->p);
    print_wrapped(p, what);
    snprintf(what, sizeof what, "%d of %d patches hidden, those put first by", r->hidden,
             r->patches);
    putchar('\n');
    print_wrapped(p, what);
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
    snprintf(what, sizeof what,
             "Hidden patches have the mean colour. Means over pictures, +- the half of a 95 %% "
             "interval by Student's t; random: of ten draws a picture. attention: %s, the mean of "
             "the last layer's heads.",
             grid.first ? "[CLS]" : "the mean of all positions");
    print_wrapped(p, what);
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
    heed_patch_ablation_args a = {.images = s->e.data,
                                  .part = s->part,
                                  .pictures = (int)heed_config_int(p->flags, "pictures"),
                                  .share = heed_config_real(p->flags, "share"),
                                  .progress = inspect_advance,
                                  .user = &g};
    if (*heed_config_text(p->flags, "png")) {
        heed_fail(p->c, HEED_USAGE, "--png draws heads: expected it without --patches");
        return;
    }
    if (!heed_ablate_patches(s->e.run, &a, &r)) return;
    if (heed_config_bool(p->flags, "json"))
        print_json(p, patch_ablation_json(s, &r));
    else
        print_patches(p, s, &r);
}

/* ---- the command ---- */

static void report(program *p, const eval_loop *s, const heed_ablation *a) {
    const char *png = heed_config_text(p->flags, "png");
    bool json = heed_config_bool(p->flags, "json");
    if (*png && !draw(p->c, a, png)) return;
    if (json)
        print_object(p, s, a);
    else
        print_harms(p, s, a);
    if (*png && !json) printf("\nwrote %s\n", png);
}

static void ablate(program *p) {
    eval_loop s;
    heed_ablation a = {.layer_count = 0};
    inspect_progress g = {p, "without head"};
    bool ok = eval_loop_open(p, &s), patches = heed_config_bool(p->flags, "patches");
    s.e.progress = inspect_advance;
    s.e.progress_user = &g;
    if (ok && patches)
        hide_patches(p, &s);
    else if (ok && heed_ablate(&s.e, &a))
        report(p, &s, &a);
    heed_ablation_free(&a);
    eval_loop_close(&s);
}

const command cmd_ablate = {
    .name = "ablate",
    .usage = "RUN [DATA]",
    .help = "what is lost without each attention head: loss and accuracy, sorted by harm",
    .about =
        "Evaluates DATA, or without DATA what the run was trained on (of a text and of\n"
        "pairs the validation part, of pictures the test part; of a masked model a DATA.tsv\n"
        "holds questions, as heed eval has them), once as trained and once\n"
        "without each head in turn: the head gives zeros to W_h (Michel et al. 2019). Of a\n"
        "recurrent decoder's attention, all source tokens weigh alike instead. The run itself\n"
        "is not changed. With --patches, parts of pictures are hidden instead of heads: those\n"
        "that a measure puts first should be missed more than others (Samek et al. 2017).",
    .examples = "  heed ablate runs/book\n"
                "  heed ablate runs/facts questions.tsv\n"
                "  heed ablate runs/digits --batches 4 --png harm.png\n"
                "  heed ablate runs/digits --patches --pictures 100 --share 0.25\n",
    .options = options,
    .applies = uses,
    .computes = true,
    .opens_run = true,
    .continues = true,
    .min = 1,
    .max = 2,
    .run = ablate,
};
