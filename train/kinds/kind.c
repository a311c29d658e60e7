/* kind.c -- the data_kind of each model, what all kinds print alike, and the kind of models that
 * make their own batches. */
#include "kinds/training.h"

#include <stdlib.h>
#include <string.h>

const data_kind *kind_of(const heed_model *m) {
    if (!reads_data(m)) return &dense_kind;
    if (reads_text(m)) return &text_kind;
    if (writes_targets(m)) return sees_pictures(m) ? &caption_kind : &translation_kind;
    if (sees_pictures(m)) return makes_pictures(m) ? &reconstruction_kind : &picture_kind;
    return &label_kind;
}

/* Appends the text with whole numbers as "4,000". */
static void add_grouped(heed_text *out, const char *text) {
    char n[32];
    for (const char *s = text; *s;) {
        size_t digits = strspn(s, "0123456789");
        char before = s == text ? ' ' : s[-1], after = s[digits];
        bool whole = digits > 0 && digits < 19 && before == ' ' && strchr(" ,:", after);
        size_t length = digits ? digits : 1;
        if (whole)
            heed_text_add(out, "%s", heed_format_count(n, strtoull(s, NULL, 10)));
        else
            heed_text_put(out, s, length);
        s += length;
    }
}

const char *choice_text(const heed_choice *k, char text[CHOICE_TEXT]) {
    heed_text shown = {.c = NULL};
    add_grouped(&shown, k->what);
    heed_text_put(&shown, ": ", 2);
    add_grouped(&shown, k->why);
    snprintf(text, CHOICE_TEXT, "%s", shown.s ? shown.s : k->what);
    heed_text_free(&shown);
    return text;
}

void banner_choices(const heed_choices *k) {
    char text[CHOICE_TEXT];
    for (int i = 0; i < k->count; i++)
        banner_row(i ? "" : "chosen", "%s", choice_text(&k->list[i], text));
}

json_t *choices_json(const heed_choices *k) {
    json_t *list = json_array();
    for (int i = 0; i < k->count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "settings", k->list[i].what, "reason", k->list[i].why));
    return list;
}

void banner_epoch(const heed_model *m, const heed_config *f, uint64_t epoch_batches) {
    char n[32], batches[48] = "", block[32] = "";
    bool full = heed_optimizer_named(heed_config_text(f, "optimizer"))->full_batch;
    uint64_t each = full ? epoch_batches : (uint64_t)heed_config_int(f, "accumulate");
    if (reads_pictures(m)) each = 1;
    uint64_t steps = (epoch_batches + each - 1) / each;
    if (each > 1) snprintf(batches, sizeof batches, "%s x ", heed_format_count(n, each));
    if (reads_text(m))
        snprintf(block, sizeof block, "x %lld ", (long long)heed_config_int(f, "block"));
    banner_row("epoch", "%s step%s of %s%lld %s%s", heed_format_count(n, steps),
               steps == 1 ? "" : "s", batches, (long long)heed_config_int(f, "batch"), block,
               data_of(m)->items);
}

/* A mark before and after a name of a class in a list, so that a comma in it parts no two names. */
static const char *quote_of(const char *label) { return strchr(label, ',') ? "\"" : ""; }

void banner_balance(const heed_data *d) {
    enum { COLUMNS = 100 };
    heed_text row = {.c = NULL};
    int i = 0;
    if (!d->class_weights) return;
    for (; i < d->label_count && row.n < COLUMNS; i++) {
        const char *quote = quote_of(d->labels[i]);
        heed_text_add(&row, "%s%s%.40s%s %zu x %.3g", i ? ", " : "", quote, d->labels[i], quote,
                      heed_data_count(d, i), (double)d->class_weights[i]);
    }
    banner_row("balanced", "%s%s", row.s ? row.s : "", i < d->label_count ? " ..." : "");
    heed_text_free(&row);
}

const char *balance_hint(const heed_data *d, char text[256]) {
    enum { MANY = 5 };
    size_t largest = 0, least = SIZE_MAX;
    int smallest = 0;
    for (int i = 0; i < d->label_count; i++) {
        size_t n = heed_data_count(d, i);
        if (n < least) smallest = i;
        if (n < least) least = n;
        if (n > largest) largest = n;
    }
    *text = 0;
    if (!d->label_count || (least ? least : 1) * MANY >= largest) return text;
    const char *quote = quote_of(d->labels[smallest]);
    snprintf(text, 256,
             "the largest class has %.0f times the %ss of %s%.80s%s: accuracy says little of it; "
             "--balance weighs classes equally in training",
             (double)largest / (double)(least ? least : 1), d->kind->label, quote,
             d->labels[smallest], quote);
    return text;
}

const char *label_list(const char *const *labels, int count, int columns, char text[256]) {
    size_t n = 0;
    int i = 0;
    *text = 0;
    for (; i < count && n < (size_t)columns; i++) {
        const char *quote = quote_of(labels[i]);
        n += (size_t)snprintf(text + n, 256 - n, "%s%s%.80s%s", i ? ", " : "", quote, labels[i],
                              quote);
    }
    size_t cut = heed_label_cut(text, columns);
    if (cut < n || i < count) snprintf(text + cut, 256 - cut, " ...");
    return text;
}

void print_start(const char *text, size_t n, int columns) {
    char line[512];
    snprintf(line, sizeof line, "%.*s", n < 400 ? (int)n : 400, text);
    print_name(line, 0, columns);
}

/* ---- models that make their own batches ---- */

static void next_plot(const heed_model *m, const heed_data *d, const char *path, const char *run) {
    (void)d;
    (void)path;
    const char *heed = program_name();
    printf("\nNext:\n");
    if (m->eval_batches) printf("  %s %s %s\n", heed, use_of(m), run);
    printf("  %s plot %s\n", heed, run);
}

static void check_nothing(program *p, heed_data *d) {
    (void)d;
    heed_fail(p->c, HEED_USAGE, "there is nothing to check: %s makes its own data", p->model->name);
}

const data_kind dense_kind = {.next = next_plot, .eval = eval_scores, .check = check_nothing};
