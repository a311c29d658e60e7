/* compare.c -- heed compare: runs side by side, with runs that differ only in their seed grouped.
 */
#include "cli/os_files.h"
#include "kinds/records.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    WORDS("png", "picture to write", "Output"),
    AS_SVG("Output"),
    SWITCH("json", "print numbers and settings as one JSON object", "Output"),
    {0}};

/* ---- a run's results ---- */

/* NAN: none. The last ones, the best of the validation part, the test result; EXACT and BLEU are
 * from RUN/scores.json. */
enum {
    STEPS,
    LOSS,
    VAL_LOSS,
    BEST_LOSS,
    SECONDS,
    ACCURACY,
    BEST_ACCURACY,
    TEST_ACCURACY,
    EXACT,
    BLEU,
    NUMBERS
};
static const heed_record_column numbers[NUMBERS] = {
    {.head = "steps"},
    {.key = "loss", .head = "train loss", .format = "%.4f"},
    {.key = "val_loss", .head = "valid loss", .format = "%.4f"},
    {.key = "best_loss", .head = "best loss", .format = "%.4f"},
    {.key = "seconds", .format = "%.1f"},
    {.key = "accuracy", .head = "accuracy", .format = "%.2f %%", .times = 100},
    {.key = "best_accuracy", .head = "best", .format = "%.2f %%", .times = 100},
    {.key = "test_accuracy", .head = "test", .format = "%.2f %%", .times = 100},
    {.key = "exact", .head = "exact", .format = "%.2f %%", .times = 100},
    {.key = "bleu", .head = "BLEU", .format = "%.2f"}};

typedef struct {
    const char *name;
    const heed_model *model;
    run_curves curves;
    double number[NUMBERS];
    heed_config *f;
    int group;
} compared;

/* Runs whose settings are equal except for the seed, in the order of their first runs. */
enum { MEASURES = 4 };
static const int measured[MEASURES] = {ACCURACY, BEST_ACCURACY, TEST_ACCURACY, BEST_LOSS};
typedef struct {
    char name[128];
    int count, first; /* number of runs, and the first of them */
    heed_estimate of[MEASURES];
    curve mean; /* mean validation accuracy (as metric) and loss, at the steps of all runs */
} group;

typedef struct {
    compared *runs;
    int count;
    group *groups;
    int group_count;
    bool grouped;  /* some runs differ only in the seed */
    bool accuracy; /* all are classifiers, for which accuracy is shown rather than loss */
    bool pairs;    /* some runs have scores of translated validation pairs */
    int width;     /* columns of the widest name, plus two */
    heed_series *series;
} comparison;

static double last_of(const double *x, int n) { return n ? x[n - 1] : (double)NAN; }

static double least_of(const double *x, int n) {
    double best = (double)NAN;
    for (int i = 0; i < n; i++)
        if (!(x[i] >= best)) best = x[i];
    return best;
}

static double most_of(const double *x, int n) {
    double best = (double)NAN;
    for (int i = 0; i < n; i++)
        if (!(x[i] <= best)) best = x[i];
    return best;
}

static double score(const json_t *scores, const char *key) {
    const json_t *x = json_object_get(scores, key);
    return json_is_number(x) ? json_number_value(x) : (double)NAN;
}

static void read_numbers(compared *r) {
    const run_curves *c = &r->curves;
    const curve *train = &c->train, *val = &c->val;
    json_t *scores = run_json(r->name, "scores.json"); /* of translated validation pairs */
    const double all[NUMBERS] = {[STEPS] = last_of(train->step, train->count),
                                 [LOSS] = isfinite(c->loss) ? c->loss
                                                            : last_of(train->loss, train->count),
                                 [VAL_LOSS] = last_of(val->loss, val->count),
                                 [BEST_LOSS] = least_of(val->loss, val->count),
                                 [SECONDS] = c->seconds,
                                 [ACCURACY] = last_of(val->metric, val->count),
                                 [BEST_ACCURACY] = most_of(val->metric, val->count),
                                 [TEST_ACCURACY] = c->test,
                                 [EXACT] = score(scores, "exact"),
                                 [BLEU] = score(scores, "bleu")};
    memcpy(r->number, all, sizeof all);
    json_decref(scores);
}

/* The runs as a table. */
static heed_record *record_of(heed_ctx *c, const comparison *k) {
    heed_record *r = heed_record_new(c);
    size_t n = (size_t)k->count;
    const char **names = allocate(c, n, sizeof *names, "names");
    char(*times)[32] = allocate(c, n, sizeof *times, "times");
    for (int i = 0; names && i < k->count; i++) names[i] = k->runs[i].name;
    heed_record_add_table(r, "runs", NULL, k->count);
    heed_record_add_column(r, (heed_record_column){.key = "run", .head = "run", .texts = names});
    for (int m = 0; m < NUMBERS; m++) {
        heed_record_column column = numbers[m];
        if (m >= EXACT && !k->pairs) continue;
        bool share = m >= ACCURACY && m <= TEST_ACCURACY;
        if (share ? !k->accuracy : m == BEST_LOSS && k->accuracy) column.head = NULL;
        double *x = heed_record_add_column(r, column);
        for (int i = 0; x && i < k->count; i++) x[i] = k->runs[i].number[m];
    }
    for (int i = 0; names && times && i < k->count; i++)
        names[i] = heed_format_duration(times[i], k->runs[i].number[SECONDS]);
    heed_record_add_column(r, (heed_record_column){.head = "time", .texts = names});
    free((void *)names);
    free(times);
    return r;
}

/* ---- settings that differ ---- */

/* The run's value of a setting; "-" if it has none. */
static const char *value_of(const compared *r, const char *key) {
    if (!heed_config_has(r->f, key)) return "-";
    const char *value = heed_config_text(r->f, key);
    return *value ? value : "-";
}

/* Whether a setting is not part of a recipe: paths, settings that do not affect the weights, and
 * settings that follow from the share of the data that a seed leaves for training. */
static bool is_incidental(const char *key) {
    static const char *const keys[] = {
        "preset",         "workers",        "cache-mb",        "mean", "std", "snapshots",
        "snapshot-items", "snapshot-input", "snapshot-tokens", "plan"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

/* The values of each setting that is not the same for all runs: {key: [..]}. */
static json_t *differences(const compared *r, int n) {
    json_t *all = json_object();
    for (int i = 0; i < n; i++)
        for (int j = 0; j < heed_config_count(r[i].f); j++) {
            const char *value, *key = heed_config_at(r[i].f, j, &value)->name;
            bool differs = false;
            for (int run = 1; run < n; run++)
                differs |= strcmp(value_of(&r[0], key), value_of(&r[run], key)) != 0;
            if (!differs || is_incidental(key) || json_object_get(all, key)) continue;
            json_t *values = json_array();
            for (int run = 0; run < n; run++)
                json_array_append_new(values, json_string(value_of(&r[run], key)));
            json_object_set_new(all, key, values);
        }
    return all;
}

/* Whether a run's setting differs from the first run's. A run without a setting counts as having
 * its default. */
static bool is_own(const comparison *k, int index, const char *key) {
    const compared *r = &k->runs[index];
    bool everywhere = true;
    if (!heed_config_has(r->f, key) || (k->grouped && strcmp(key, "seed") == 0)) return false;
    for (int i = 0; i < k->count; i++)
        everywhere = everywhere && heed_config_has(k->runs[i].f, key);
    const char *usual = heed_config_default(r->f, key);
    if (!everywhere) return strcmp(value_of(r, key), *usual ? usual : "-") != 0;
    return index == 0 || strcmp(value_of(r, key), value_of(&k->runs[0], key)) != 0;
}

static int larger(int a, int b) { return a > b ? a : b; }

static bool is_shown(const comparison *k, const char *key) {
    for (int i = 0; i < k->count; i++)
        if (is_own(k, i, key)) return true;
    return false;
}

/* The end of a path is most informative: "..." replaces a part cut at its start. */
static void text_cell(const char *text, int width, bool last) {
    int columns = heed_label_columns(text);
    bool whole = columns <= width;
    fputs(whole ? "  " : "  ...", stdout);
    print_name(whole ? text : text + heed_label_cut(text, columns - width + 3),
               whole && !last ? width : 0, 0);
}

/* Prints one column per run. */
static void print_columns(const comparison *k, json_t *all, int width, int cell) {
    const char *key;
    json_t *values;
    printf("\n%-*s", width, "setting");
    for (int i = 0; i < k->count; i++) text_cell(k->runs[i].name, cell, i + 1 == k->count);
    putchar('\n');
    json_object_foreach(all, key, values) {
        if (!is_shown(k, key)) continue;
        printf("%-*s", width, key);
        for (int i = 0; i < k->count; i++)
            text_cell(value_of(&k->runs[i], key), cell, i + 1 == k->count);
        putchar('\n');
    }
}

/* Prints " key=value" for each setting of one run; a long name is on a separate line. The start of
 * a value is cut if no line has space for it. */
static void print_own(const comparison *k, json_t *all, int index) {
    const char *key;
    json_t *values;
    const compared *r = &k->runs[index];
    int capacity = terminal_width() < 100 ? terminal_width() : 100;
    bool beside = k->width <= capacity / 2;
    int start = beside ? k->width - 1 : 3;
    heed_text line = {.c = NULL};
    int used = heed_label_text(k->grouped ? k->groups[r->group].name : r->name,
                               beside ? start : line_width(stdout), &line);
    heed_text_add(&line, beside ? "%*s" : "\n%*s", beside ? start - used : start, "");
    json_object_foreach(all, key, values) {
        heed_text item = {.c = NULL};
        if (!is_own(k, index, key)) continue;
        const char *value = value_of(r, key);
        int columns = heed_label_columns(value), most = capacity - start - (int)strlen(key) - 2;
        bool cut = columns > most && most > 6;
        heed_text_add(&item, "%s=%s", key, cut ? "..." : "");
        heed_label_text(cut ? value + heed_label_cut(value, columns - most + 3) : value, INT_MAX,
                        &item);
        add_piece(&line, 1, item.s, start + 1, capacity);
        heed_text_free(&item);
    }
    print_line(&line);
    heed_text_free(&line);
}

static void print_differences(const comparison *k, json_t *all) {
    const char *key;
    json_t *values;
    int width = 9, least = 18, widest = 0, shown = 0; /* widest: of the runs' names and values */
    for (int i = 0; i < k->count; i++) widest = larger(widest, heed_label_columns(k->runs[i].name));
    json_object_foreach(all, key, values) {
        bool own = is_shown(k, key);
        width = larger(width, (int)strlen(key) + 2);
        shown += own;
        for (int i = 0; own && i < k->count; i++)
            widest = larger(widest, heed_label_columns(value_of(&k->runs[i], key)));
    }
    if (!shown) {
        puts(json_object_get(all, "seed") ? "\nonly the seed differs" : "\nno setting differs");
        return;
    }
    int capacity = (terminal_width() - width) / k->count - 2;
    if (!k->grouped && capacity >= (widest < least ? widest : least)) {
        print_columns(k, all, width, widest < capacity ? widest : capacity);
        return;
    }
    putchar('\n');
    print_fact(0, "",
               "settings: of the first run all that differ, of the others what differs from it");
    for (int i = 0; i < k->count; i++)
        if (!k->grouped || k->groups[k->runs[i].group].first == i) print_own(k, all, i);
}

/* ---- groups of seeds ---- */

/* Whether a run's number of steps was set by a time limit, and so by the machine's speed. */
static bool is_timed(const compared *r) {
    return heed_config_has(r->f, "timed") && heed_config_real(r->f, "timed") > 0;
}

static bool one_recipe(const compared *a, const compared *b) {
    if (a->model != b->model) return false;
    for (int i = 0; i < heed_config_count(a->f); i++) {
        const char *value, *key = heed_config_at(a->f, i, &value)->name;
        if (is_incidental(key) || strcmp(key, "seed") == 0) continue;
        bool of_clock = strcmp(key, "steps") == 0 || strcmp(key, "evals") == 0;
        if (of_clock && is_timed(a)) continue;
        if (strcmp(value_of(a, key), value_of(b, key)) != 0) return false;
    }
    return true;
}

/* The common start of the runs' names, without a number, "seed" or punctuation at its end:
 * "runs/adam-1", "runs/adam-2" -> "runs/adam". */
static void name_group(group *g, const compared *r, int n) {
    size_t size = strlen(r[g->first].name);
    for (int i = g->first; i < n; i++) {
        size_t same = 0;
        if (r[i].group != r[g->first].group) continue;
        while (same < size && r[i].name[same] == r[g->first].name[same]) same++;
        size = same;
    }
    const char *name = r[g->first].name;
    if (g->count > 1) {
        while (size > 0 && isdigit((unsigned char)name[size - 1])) size--;
        if (size > 4 && strncmp(name + size - 4, "seed", 4) == 0) size -= 4;
        while (size > 0 && strchr("-_./,= ", name[size - 1])) size--;
    }
    if (size == 0) size = strlen(name);
    snprintf(g->name, sizeof g->name, "%.*s", (int)size, name);
}

/* The mean of the runs' validation results over the evaluations that all runs have at the same
 * step; for runs of equal minutes, at equal shares of that time. */
static bool mean_curve(heed_ctx *c, group *g, const compared *r, int n) {
    const curve *first = &r[g->first].curves.val;
    size_t size = (size_t)first->count;
    bool timed = is_timed(&r[g->first]);
    curve *m = &g->mean;
    *m = (curve){.count = first->count,
                 .step = allocate(c, size, sizeof(double), "points"),
                 .loss = allocate(c, size, sizeof(double), "points"),
                 .metric = allocate(c, size, sizeof(double), "points")};
    if (!m->step || !m->loss || !m->metric) return false;
    for (int i = g->first; i < n; i++) {
        const curve *k = &r[i].curves.val;
        if (r[i].group != r[g->first].group) continue;
        if (k->count < m->count) m->count = k->count;
        for (int j = 0; j < m->count; j++) {
            if (k->step[j] != first->step[j] && !timed) m->count = j;
            m->step[j] += k->step[j] / g->count;
            m->loss[j] += k->loss[j] / g->count;
            m->metric[j] += k->metric[j] / g->count;
        }
    }
    return true;
}

static bool measure_group(heed_ctx *c, group *g, const compared *r, int n) {
    double *x = allocate(c, (size_t)n, sizeof *x, "runs");
    for (int m = 0; x && m < MEASURES; m++) {
        int k = 0;
        for (int i = g->first; i < n; i++)
            if (r[i].group == r[g->first].group) x[k++] = r[i].number[measured[m]];
        g->of[m] = heed_estimate_mean(x, k);
    }
    free(x);
    return x && mean_curve(c, g, r, n);
}

static void groups_free(group *g, int count) {
    for (int i = 0; g && i < count; i++) {
        free(g[i].mean.step);
        free(g[i].mean.loss);
        free(g[i].mean.metric);
    }
    free(g);
}

static group *groups_of(heed_ctx *c, compared *r, int n, int *count) {
    group *g = allocate(c, (size_t)n, sizeof *g, "runs");
    *count = 0;
    for (int i = 0; g && i < n; i++) {
        int j = 0;
        while (j < *count && !one_recipe(&r[g[j].first], &r[i])) j++;
        if (j == *count) g[(*count)++].first = i;
        r[i].group = j;
        g[j].count++;
    }
    bool ok = g != NULL;
    for (int j = 0; ok && j < *count; j++) {
        name_group(&g[j], r, n);
        ok = measure_group(c, &g[j], r, n);
    }
    if (ok) return g;
    groups_free(g, *count);
    return NULL;
}

/* "98.12 +- 0.34 %" for a share, "1.2345 +- 0.0012" for a loss. */
static void estimate_text(char text[HEED_TABLE_CELL], const heed_estimate *e, bool share) {
    double times = share ? 100 : 1;
    int digits = share ? 2 : 4;
    snprintf(text, HEED_TABLE_CELL, "-");
    if (isfinite(e->half))
        snprintf(text, HEED_TABLE_CELL, "%.*f +- %.*f%s", digits, times * e->mean, digits,
                 times * e->half, share ? " %" : "");
    else if (isfinite(e->mean))
        snprintf(text, HEED_TABLE_CELL, "%.*f%s", digits, times * e->mean, share ? " %" : "");
}

static void group_cell(const void *of, int row, int column, char text[HEED_TABLE_CELL]) {
    const comparison *k = of;
    const group *g = &k->groups[row];
    if (column == 0)
        snprintf(text, HEED_TABLE_CELL, "%d", g->count);
    else
        estimate_text(text, &g->of[k->accuracy ? column - 1 : 3], k->accuracy);
}

static void print_groups(program *p, const comparison *k) {
    const heed_table_column of[] = {{"runs", 4, false},
                                    {k->accuracy ? "accuracy" : "best loss", 19, false},
                                    {"best", 18, false},
                                    {"test", 18, false}};
    const char **names = allocate(p->c, (size_t)k->group_count, sizeof *names, "names");
    for (int i = 0; names && i < k->group_count; i++) names[i] = k->groups[i].name;
    if (names)
        print_table(p->c, &(heed_table){.head = "seeds together",
                                        .rows = k->group_count,
                                        .count = k->accuracy ? 4 : 2,
                                        .name = k->width,
                                        .gap = 1,
                                        .flush = true,
                                        .columns = of,
                                        .names = names,
                                        .cell = group_cell,
                                        .of = k});
    free((void *)names);
    print_wrapped(p, "+- half of the 95 %% interval of the mean (Student's t)");
}

/* ---- as data ---- */

static json_t *estimate_json(const heed_estimate *e) {
    return json_pack("{s:o, s:o, s:o}", "mean", json_number(e->mean), "low",
                     json_number(e->mean - e->half), "high", json_number(e->mean + e->half));
}

static json_t *groups_json(const comparison *k) {
    json_t *list = json_array();
    for (int i = 0; i < k->group_count; i++) {
        const group *g = &k->groups[i];
        json_t *runs = json_array();
        for (int j = 0; j < k->count; j++)
            if (k->runs[j].group == i) json_array_append_new(runs, json_text(k->runs[j].name));
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", json_text(g->name), "runs",
                            runs, "best_loss", estimate_json(&g->of[3]), "accuracy",
                            estimate_json(&g->of[0]), "best_accuracy", estimate_json(&g->of[1]),
                            "test_accuracy", estimate_json(&g->of[2])));
    }
    return list;
}

/* ---- curves ---- */

/* Length of the common start of all names that a legend can omit: up to a separator that is
 * followed by a letter in each name. */
static size_t shared_start(const heed_series *e, int n) {
    size_t same = n > 1 ? strlen(e[0].label) : 0;
    for (int i = 1; i < n; i++) {
        size_t k = 0;
        while (k < same && e[i].label[k] == e[0].label[k]) k++;
        same = k;
    }
    for (; same > 0; same--) {
        bool ends = strchr("/-_.=", e[0].label[same - 1]) != NULL;
        for (int i = 0; ends && i < n; i++) ends = isalpha((unsigned char)e[i].label[same]) != 0;
        if (ends) break;
    }
    return same;
}

/* One curve per run or group: the validation loss if every run has one, otherwise the training
 * loss. */
static heed_chart chart_of(const comparison *k) {
    bool val = true;
    int n = k->grouped ? k->group_count : k->count;
    for (int i = 0; i < k->count; i++) val = val && k->runs[i].curves.val.count > 0;
    for (int i = 0; i < n; i++) {
        const run_curves *c = &k->runs[k->grouped ? k->groups[i].first : i].curves;
        const curve *v = !val ? &c->train : k->grouped ? &k->groups[i].mean : &c->val;
        const char *name = k->grouped ? k->groups[i].name : k->runs[i].name;
        k->series[i] =
            (heed_series){name, v->count, v->step, val && k->accuracy ? v->metric : v->loss};
    }
    size_t shared = shared_start(k->series, n);
    for (int i = 0; i < n; i++) k->series[i].label += shared;
    const char *what = val && k->accuracy ? "accuracy" : "loss";
    return (heed_chart){.title = !val          ? "training loss"
                                 : k->accuracy ? "validation accuracy"
                                               : "validation loss",
                        .x_label = "step",
                        .y_label = what,
                        .series_count = n,
                        .series = k->series};
}

/* ---- heed compare ---- */

static void report(program *p, const comparison *k) {
    const char *png = flag_text(p, "png");
    heed_chart chart = chart_of(k);
    json_t *all = differences(k->runs, k->count);
    heed_record *r = record_of(p->c, k);
    write_charts(p, &chart, 1, 540, png);
    if (flag_on(p, "json")) {
        json_t *o = record_tables_json(p->c, r);
        json_object_set_new(o, "groups", groups_json(k));
        json_object_set(o, "settings", all);
        print_json(p, o);
    } else {
        draw_chart(p, &chart);
        print_record_table(r, "runs", true);
        if (k->grouped) print_groups(p, k);
        print_differences(k, all);
        if (heed_ctx_status(p->c) == HEED_OK) print_drawn(p, png);
    }
    heed_record_free(r);
    json_decref(all);
}

/* Whether their losses are of the same answers, as those of rnn and seq2seq are. */
static bool answer_alike(const heed_model *a, const heed_model *b) {
    return data_of(a) == data_of(b);
}

/* Warns of the first run whose loss is not comparable with the first run's, and of the first on
 * other data. Accuracies are always comparable. */
static void warn_of_others(program *p, const comparison *k) {
    const compared *r = k->runs;
    const char *data = value_of(&r[0], "data");
    int i = 1, j = 1;
    while (i < k->count && answer_alike(r[i].model, r[0].model)) i++;
    if (!k->accuracy && i < k->count)
        heed_message(
            p->c, HEED_WARN,
            "runs are of different tasks: %s is of %s, %s of %s: their losses cannot be compared",
            r[0].name, r[0].model->name, r[i].name, r[i].model->name);
    while (j < k->count && strcmp(data, value_of(&r[j], "data")) == 0) j++;
    if (j < k->count)
        heed_message(
            p->c, HEED_WARN,
            "runs are on different data: %s on %s, %s on %s: their numbers cannot be compared",
            r[0].name, data, r[j].name, value_of(&r[j], "data"));
}

/* Whether two runs were trained on the same data. Their checkpoints know, even if the files have
 * changed since, except where they are of different kinds of data, which read a file in different
 * ways, or have another file of validation, which the checksum includes. Then, and without a
 * checkpoint, a file or a copy of it is the same data. */
static bool same_data(const compared *a, const compared *b) {
    const char *x = value_of(a, "data"), *y = value_of(b, "data");
    bool alike = strcmp(data_of(a->model)->noun, data_of(b->model)->noun) == 0 &&
                 strcmp(value_of(a, "val"), value_of(b, "val")) == 0;
    if (*a->curves.data && *b->curves.data && alike)
        return strcmp(a->curves.data, b->curves.data) == 0;
    return strcmp(x, y) == 0 || same_file(x, y) || same_content(x, y);
}

/* The same data has the path of the first run on it: texts that were joined are a file of each run.
 * Other data of a path that an earlier run has is named with its checksum. */
static void name_data(const comparison *k, compared *r) {
    char name[1024];
    const char *data = value_of(r, "data");
    bool used = false;
    for (int i = 0; i < k->count; i++) {
        const char *first = value_of(&k->runs[i], "data");
        used = used || strcmp(first, data) == 0;
        if (!same_data(&k->runs[i], r)) continue;
        if (strcmp(first, data) != 0) heed_config_set(r->f, "data", first, "data", HEED_FROM_FLAG);
        return;
    }
    if (!used) return;
    snprintf(name, sizeof name, "%.990s (checksum %.8s)", data, r->curves.data);
    heed_config_set(r->f, "data", name, "data", HEED_FROM_FLAG);
}

static bool open_runs(program *p, comparison *k) {
    k->runs = allocate(p->c, (size_t)p->argc, sizeof *k->runs, "runs");
    k->series = allocate(p->c, (size_t)p->argc, sizeof *k->series, "runs");
    if (!k->runs || !k->series) return false;
    k->accuracy = true;
    k->width = 16;
    for (int i = 0; i < p->argc; i++) {
        bool listed = false; /* patterns may overlap */
        for (int j = 0; j < k->count; j++) listed |= same_file(k->runs[j].name, p->argv[i]);
        if (listed) continue;
        compared *r = &k->runs[k->count];
        r->name = p->argv[i];
        r->f = run_settings(p->c, p->models, r->name, &r->model);
        if (!r->f || !curves_read(p->c, r->name, &r->curves)) return false;
        name_data(k, r);
        if (data_of(r->model)->perplexity || makes_pictures(r->model)) k->accuracy = false;
        read_numbers(r);
        k->pairs |= isfinite(r->number[EXACT]) != 0;
        if (heed_label_columns(r->name) + 2 > k->width) k->width = heed_label_columns(r->name) + 2;
        k->count++;
    }
    k->groups = groups_of(p->c, k->runs, k->count, &k->group_count);
    k->grouped = k->groups && k->group_count < k->count;
    return k->groups != NULL;
}

static void compare(program *p) {
    comparison k = {0};
    if (open_runs(p, &k)) {
        warn_of_others(p, &k);
        report(p, &k);
    }
    for (int i = 0; i < k.count; i++) curves_free(&k.runs[i].curves);
    groups_free(k.groups, k.group_count);
    free(k.series);
    free(k.runs);
}

const command cmd_compare = {
    .name = "compare",
    .usage = "RUN...",
    .help = "put runs side by side: curves, numbers, settings that differ",
    .about =
        "Draws the validation curves of several runs, and prints their numbers and the settings\n"
        "that differ. Runs that differ only in the seed are also combined: the mean of their\n"
        "curves, and the mean of their numbers with its 95 % interval. Losses are those of the\n"
        "last evaluation, as `train` prints them: the training loss is the mean since the\n"
        "evaluation before it. For classifiers, the test result is the one that the training\n"
        "measured once, at its end.",
    .examples = "  heed compare runs/a runs/b\n"
                "  heed compare runs/* --png all.png\n"
                "  heed compare runs/adam-1 runs/adam-2 runs/adam-3 runs/sgd-* --json\n",
    .options = options,
    .args = {1, -1},
    .run = compare,
};
