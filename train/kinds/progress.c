/* progress.c -- the display of a training run on stderr: banner, line or bar, table; the memory
 * that it takes; a bar while a large text is read. */
#include "kinds/answers.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

show_mode show_mode_of(const char *name) {
    if (strcmp(name, "bar") == 0) return is_dumb(stderr) ? SHOW_LINES : SHOW_BAR;
    if (strcmp(name, "line") == 0) return SHOW_LINES;
    if (strcmp(name, "json") == 0) return SHOW_JSON;
    if (strcmp(name, "none") == 0) return SHOW_NOTHING;
    return redraws(stderr) ? SHOW_BAR : SHOW_LINES;
}

static const char *dim(void) { return has_color(stderr) ? "\033[2m" : ""; }
static const char *bold(void) { return has_color(stderr) ? "\033[1m" : ""; }
static const char *plain(void) { return has_color(stderr) ? "\033[0m" : ""; }

static void wipe(progress *g) {
    if (g->p->line_open) fputs("\r\033[K", stderr);
    g->p->line_open = false;
}

/* "24.5k" */
static const char *rate(char text[32], double items) {
    if (items >= 999.5e3)
        snprintf(text, 32, "%.2fM", items / 1e6);
    else if (items >= 999.5)
        snprintf(text, 32, "%.1fk", items / 1e3);
    else
        snprintf(text, 32, "%.0f", items);
    return text;
}

/* ---- reading ---- */

/* Appends a bar of which a share is full, and the percentage. */
static void add_bar(heed_text *out, double share) {
    int cells = terminal_width() < 80 ? 10 : 24, full = (int)(share * cells);
    bool color = has_color(stderr);
    heed_text_add(out, "%s", color ? "\033[36m" : "");
    for (int i = 0; i < cells; i++) {
        const char *cell = color ? "\xe2\x94\x81" : i < full ? "#" : "-"; /* heavy line */
        heed_text_add(out, "%s%s", i == full && color ? "\033[90m" : "", cell);
    }
    heed_text_add(out, "%s %3.0f%%", color ? "\033[0m" : "", 100 * share);
}

bool show_reading(void *user, uint64_t done, uint64_t all) {
    enum { LEAST = 1 << 24 }; /* less is read in an instant */
    reading *r = user;
    if (!r->bar || all < LEAST || now() - r->drawn < 0.1) return true;
    r->drawn = now();
    heed_text line = {.c = NULL};
    heed_text_add(&line, "\r\033[Kreading ");
    add_bar(&line, done < all ? (double)done / (double)all : 1);
    fputs(line.s ? line.s : "", stderr);
    heed_text_free(&line);
    r->p->line_open = true;
    return true;
}

void end_reading(reading *r) {
    if (r->p->line_open) fputs("\r\033[K", stderr);
    r->p->line_open = false;
}

/* ---- memory ---- */

json_t *memory_json(const heed_memory *m) {
    json_t *ops = json_array();
    for (int i = 0; i < m->op_count; i++)
        json_array_append_new(ops,
                              json_pack("{s:s, s:i, s:I, s:I}", "op",
                                        m->ops[i].op ? m->ops[i].op : "inputs and others", "count",
                                        m->ops[i].count, "forward", (json_int_t)m->ops[i].forward,
                                        "backward", (json_int_t)m->ops[i].backward));
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "before",
                     (json_int_t)m->before, "weights", (json_int_t)m->weights, "gradients",
                     (json_int_t)m->gradients, "optimizer", (json_int_t)m->optimizer, "step",
                     (json_int_t)m->step, "other", (json_int_t)m->other, "evaluation",
                     (json_int_t)m->evaluation, "total", (json_int_t)m->total, "ops", ops);
}

static void print_part(FILE *to, const char *name, size_t bytes, const heed_memory *m) {
    fprintf(to, "%-26s %9.2f %6.1f\n", name, (double)bytes / 1048576,
            100 * (double)bytes / (double)m->total);
}

static int by_bytes(const void *a, const void *b) {
    const heed_memory_op *x = a, *y = b;
    size_t left = x->forward + x->backward, right = y->forward + y->backward;
    return (left < right) - (left > right);
}

void print_memory(FILE *to, const heed_memory *m) {
    heed_memory sorted = *m;
    qsort(sorted.ops, (size_t)sorted.op_count, sizeof *sorted.ops, by_bytes);
    fprintf(to, "memory                            MB share%%  forward  backward\n");
    print_part(to, "program and data", m->before, m);
    print_part(to, "weights", m->weights, m);
    print_part(to, "gradients", m->gradients, m);
    print_part(to, "optimizer", m->optimizer, m);
    print_part(to, "one step", m->step, m);
    for (int i = 0; i < sorted.op_count; i++) {
        const heed_memory_op *o = &sorted.ops[i];
        char name[32];
        snprintf(name, sizeof name, o->count > 1 ? "%s x %d" : "%s",
                 o->op ? o->op : "inputs and others", o->count);
        if (o->forward + o->backward < m->total / 2000) continue;
        fprintf(to, "  %-24s %9.2f %6.1f %8.2f %9.2f\n", name,
                (double)(o->forward + o->backward) / 1048576,
                100 * (double)(o->forward + o->backward) / (double)m->total,
                (double)o->forward / 1048576, (double)o->backward / 1048576);
    }
    if (m->other) print_part(to, "code, stacks, unused ends", m->other, m);
    if (m->evaluation) print_part(to, "evaluation, beyond a step", m->evaluation, m);
    print_part(to, "total", m->total, m);
}

/* ---- banner ---- */

/* Prints a line of the banner: label, text. */
static void banner_row(const char *label, const char *format, ...) HEED_PRINTF(2, 3);
static void banner_row(const char *label, const char *format, ...) {
    enum { AT = 13 };
    char text[1024], shown[PLAIN];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    heed_format_line(shown, sizeof shown, text);
    heed_text lines = {.c = NULL};
    if (AT + heed_label_columns(shown) <= line_width(stderr))
        heed_text_add(&lines, "%s", shown);
    else
        heed_label_words(shown, AT, line_width(stderr), &lines);
    fprintf(stderr, "  %s%-*s%s%s\n", dim(), AT - 2, label, plain(), lines.s ? lines.s : "");
    heed_text_free(&lines);
}

static void banner_facts(const program *p, const heed_facts *k) {
    for (size_t i = 0; i < k->count; i++) {
        heed_text shown = {.c = NULL};
        add_shown(p, k->list[i].text, &shown);
        banner_row(k->list[i].label, "%s", shown.s ? shown.s : "");
        heed_text_free(&shown);
    }
}

/* ---- banner: choices, an epoch ---- */

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

static void banner_choices(const heed_choices *k) {
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

/* "12 steps of 4 x 32 pairs" */
static void banner_epoch(const heed_model *m, const heed_config *f, uint64_t epoch_batches) {
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

bool are_few(const heed_model *m, const heed_data *d, const heed_config *f, char text[256]) {
    enum { FEW = 5000 };
    size_t n = heed_data_count(d, -1);
    char count[32];
    *text = 0;
    if (!reads_patches(m) || !names_pictures(m) || heed_config_int(f, "channels") != 3 ||
        n >= FEW || *heed_config_text(f, "from"))
        return false;
    snprintf(
        text, 256,
        "%s pictures are few for attention over patches: a CNN (%s train cnn) often learns "
        "more from them, but has no attention to show; to keep the attention, --from RUN starts "
        "from a run on other pictures",
        heed_format_count(count, n), program_name());
    return true;
}

/* ---- banner: what is taken from a run ---- */

/* Entries with one outcome and the same first part of their names, shown as one row. */
typedef struct {
    const heed_transfer_entry *first;
    int count, low, high; /* of entries; of the numbers after the first part: -1: none */
    bool numbered;        /* all have one */
} group;

enum { NAME = 64, WHAT = 32, OUTCOME = 160 };

static bool is_grouped(heed_transfer_how how) {
    return how == HEED_TRANSFER_TAKEN || how == HEED_TRANSFER_NEW || how == HEED_TRANSFER_UNUSED;
}

static size_t part(const char *name) { return strcspn(name, "."); }

static bool belongs(const group *g, const heed_transfer_entry *e) {
    size_t n = part(e->name);
    return is_grouped(e->how) && g->first->how == e->how && part(g->first->name) == n &&
           strncmp(g->first->name, e->name, n) == 0;
}

/* Groups the entries in order; returns the number of groups. */
static int make_groups(const heed_transfer *s, group *groups) {
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        const heed_transfer_entry *e = &s->entries[i];
        const char *rest = e->name + part(e->name);
        int number = *rest && isdigit((unsigned char)rest[1]) ? atoi(rest + 1) : -1, at = 0;
        while (at < count && !belongs(&groups[at], e)) at++;
        if (at == count) groups[count++] = (group){e, 0, number, number, true};
        group *g = &groups[at];
        g->count++;
        g->numbered = g->numbered && number >= 0;
        if (number < g->low) g->low = number;
        if (number > g->high) g->high = number;
    }
    return count;
}

/* "decoder.0-3.*", and "48 tensors"; or the name of one entry and its shape. */
static void describe(const group *g, char name[NAME], char what[WHAT]) {
    const heed_transfer_entry *e = g->first;
    char number[32] = "";
    if (g->count == 1) {
        snprintf(name, NAME, "%s", e->name);
        heed_shape_text(e->to ? e->to : e->from, what, WHAT);
        return;
    }
    if (g->numbered && g->low < g->high) snprintf(number, sizeof number, ".%d-%d", g->low, g->high);
    if (g->numbered && g->low == g->high) snprintf(number, sizeof number, ".%d", g->low);
    snprintf(name, NAME, "%.*s%s.*", (int)part(e->name), e->name, number);
    snprintf(what, WHAT, "%d tensors", g->count);
}

/* Rows that were matched: tokens, positions or classes. */
static void describe_rows(const heed_transfer_entry *e, heed_row_kind rows, char outcome[OUTCOME]) {
    int all = e->to->dims ? e->to->shape[0] : 1;
    const char *what =
        rows == HEED_ROWS_POSITIONS || rows == HEED_ROWS_GRID ? "positions" : "tokens";
    if (rows == HEED_ROWS_CLASSES)
        snprintf(outcome, OUTCOME, "taken, its rows in the order of the classes here");
    else if (e->rows < all)
        snprintf(outcome, OUTCOME, "%d %s taken, %d new", e->rows, what, all - e->rows);
    else
        snprintf(outcome, OUTCOME, "%d of its %d %s taken", all, e->from->shape[0], what);
}

static const char *why_unfit(const heed_transfer_entry *e, heed_row_kind to, heed_row_kind from) {
    static const char *const of[] = {
        [HEED_ROWS_UNITS] = "of units",
        [HEED_ROWS_TOKENS] = "of tokens",
        [HEED_ROWS_SOURCE] = "of the source's tokens",
        [HEED_ROWS_POSITIONS] = "of positions",
        [HEED_ROWS_GRID] = "of a grid",
        [HEED_ROWS_CLASSES] = "of classes",
    };
    if (to != from) return of[from];
    if (e->to->dims == 2 && e->from->dims == 2 && e->to->shape[1] != e->from->shape[1])
        return "of another width";
    if (to == HEED_ROWS_CLASSES) return "of other classes";
    return to == HEED_ROWS_TOKENS ? "of other tokens" : "of another shape";
}

static void describe_outcome(const heed_report *r, const heed_transfer_entry *e,
                             char outcome[OUTCOME]) {
    static const char *const words[] = {[HEED_TRANSFER_TAKEN] = "taken",
                                        [HEED_TRANSFER_NEW] = "new",
                                        [HEED_TRANSFER_UNUSED] = "only in the run, not used"};
    const heed_param *to = heed_params_find(r->store, e->name);
    char shape[64];
    if (e->how == HEED_TRANSFER_MATCHED)
        describe_rows(e, to->rows, outcome);
    else if (e->how == HEED_TRANSFER_RESIZED)
        snprintf(outcome, OUTCOME, "interpolated from %s",
                 heed_shape_text(e->from, shape, sizeof shape));
    else if (e->how == HEED_TRANSFER_UNFIT)
        snprintf(outcome, OUTCOME, "new: the run's %s is %s",
                 heed_shape_text(e->from, shape, sizeof shape),
                 why_unfit(e, to->rows, heed_params_find(r->start->run->store, e->name)->rows));
    else
        snprintf(outcome, OUTCOME, "%s", words[e->how]);
}

/* The characters by which the run's vocabulary was extended: "é ü". */
static void print_tokens(const progress *g, const heed_run *r) {
    enum { SHOWN = 24 };
    const heed_tokenizer *k = g->data->tokenizer, *run = r->tokenizer;
    heed_text list = {.c = NULL};
    int count = 0;
    if (strcmp(heed_config_text(g->f, "tokenizer"), r->dir) != 0) return;
    for (int i = 0; i < heed_vocab_size(k); i++) {
        const char *token = heed_token_text(k, i);
        if (heed_token_id(run, token) >= 0 || ++count > SHOWN) continue;
        heed_text_add(&list, "%s%s", list.n ? " " : "", token);
    }
    if (count > SHOWN) heed_text_add(&list, " and %d more", count - SHOWN);
    if (count) banner_row("", "its vocabulary is extended by %s", list.s ? list.s : "");
    heed_text_free(&list);
}

static void print_groups(const heed_report *r, const group *groups, int count) {
    enum { UNFIT = 6 };
    char name[NAME], what[WHAT], outcome[OUTCOME];
    int width[2] = {0}, unfit = 0;
    for (int i = 0; i < count; i++) {
        describe(&groups[i], name, what);
        if ((int)strlen(name) > width[0]) width[0] = (int)strlen(name);
        if ((int)strlen(what) > width[1]) width[1] = (int)strlen(what);
    }
    for (int i = 0; i < count; i++) {
        if (groups[i].first->how == HEED_TRANSFER_UNFIT && ++unfit > UNFIT) continue;
        describe(&groups[i], name, what);
        describe_outcome(r, groups[i].first, outcome);
        banner_row("", "%-*s  %-*s  %s", width[0], name, width[1], what, outcome);
    }
    if (unfit > UNFIT)
        banner_row("", "and %d more that do not fit; train.log in the run has all", unfit - UNFIT);
}

/* What was taken from the run that the training starts from. */
static void banner_start(const progress *g, const heed_report *r) {
    const heed_transfer *s = r->start;
    char step[48] = "", n[32];
    if (!s) return;
    group *groups = calloc((size_t)s->count, sizeof *groups);
    if (s->run->step >= 0)
        snprintf(step, sizeof step, " of step %s", heed_format_count(n, (uint64_t)s->run->step));
    banner_row("from", "%s: %s, best weights%s%s%s", s->run->dir, s->run->model->name, step,
               g->taken.n ? "; of its settings: " : "", g->taken.n ? g->taken.s : "");
    if (groups) print_groups(r, groups, make_groups(s, groups));
    if (s->run->tokenizer && g->data->tokenizer) print_tokens(g, s->run);
    free(groups);
}

/* The same as an object with a number for each outcome. */
static json_t *start_json(const heed_transfer *s) {
    static const char *const words[] = {
        [HEED_TRANSFER_TAKEN] = "taken",     [HEED_TRANSFER_MATCHED] = "matched",
        [HEED_TRANSFER_RESIZED] = "resized", [HEED_TRANSFER_NEW] = "new",
        [HEED_TRANSFER_UNFIT] = "unfit",     [HEED_TRANSFER_UNUSED] = "unused",
    };
    json_t *o = json_pack("{s:o}", "run", json_text(s->run->dir));
    for (int how = 0; how <= HEED_TRANSFER_UNUSED; how++) {
        int count = 0;
        for (int i = 0; i < s->count; i++) count += (int)s->entries[i].how == how;
        json_object_set_new(o, words[how], json_integer(count));
    }
    return o;
}

/* ---- banner: all ---- */

/* The number of adapters, and the share of their numbers in the other parameters of the same part
 * of the model, as encoder or decoder. */
static void banner_adapters(const progress *g, const heed_params *s) {
    size_t adapters = 0, numbers = 0, blocks = 0, trained = 0;
    const char *block = NULL;
    char n1[32], n2[32], n3[32];
    for (int i = heed_params_count(s); i-- > 0;) { /* adapters are the last */
        const heed_param *e = heed_params_at(s, i);
        if (e->adapter) block = e->name;
        size_t part = block ? strcspn(block, ".") + 1 : 0, size = e->tensor->size;
        adapters += e->adapter;
        numbers += e->adapter ? size : 0;
        trained += e->trained ? size : 0;
        blocks += !e->adapter && !e->state && part && !strncmp(block, e->name, part) ? size : 0;
    }
    if (adapters)
        banner_row("adapters",
                   "%d of rank %d: %s numbers, %.1f %% of the weights of %.*s; %s of %s "
                   "parameters are trained",
                   (int)adapters / 2, (int)heed_config_int(g->f, "lora"),
                   heed_format_count(n1, numbers), 100 * (double)numbers / (double)blocks,
                   (int)strcspn(block, "."), block, heed_format_count(n2, trained),
                   heed_format_count(n3, heed_params_numel(s)));
}

static void banner_decay(const progress *g, const heed_params *s) {
    char n[32];
    int decays = 0, trained = 0, frozen = 0, thaw = 0;
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        trained += e->trained;
        decays += e->trained && e->decay;
        frozen += !e->trained && !e->state && !e->thaw;
        thaw += e->thaw > 0;
    }
    banner_row("decay", "%g on %d tensors (weights, embeddings), none on %d (biases, norms)",
               heed_config_real(g->f, "decay"), decays, trained - decays);
    if (frozen) banner_row("frozen", "%d tensors", frozen);
    if (thaw)
        banner_row("frozen", "%d tensors until step %s", thaw,
                   heed_format_count(n, (uint64_t)heed_config_int(g->f, "freeze-steps")));
}

static void banner_data(const progress *g) {
    heed_facts facts = {.c = g->p->c, .brief = true};
    char hint[256];
    if (!reads_data(g->p->model)) return;
    banner_row("data", "%s", heed_config_text(g->f, "data"));
    if (heed_data_describe(g->data, g->f, &facts)) banner_facts(g->p, &facts);
    if (are_few(g->p->model, g->data, g->f, hint)) banner_row("note", "%s", hint);
    heed_facts_free(&facts);
}

static void banner(progress *g, const heed_report *r) {
    const heed_ctx *c = heed_params_ctx(r->store);
    char n1[32], n2[32];
    wipe(g);
    const char *name = g->p->model->name;
    heed_text help = {.c = NULL};
    heed_label_words(g->p->model->help, (int)strlen(name) + 2, line_width(stderr), &help);
    fprintf(stderr, "%s%s%s  %s\n", bold(), name, plain(), help.s ? help.s : "");
    heed_text_free(&help);
    banner_data(g);
    banner_row("model", "%s parameters, %s in all: weights, gradients, optimizer, one step",
               heed_format_count(n1, r->params), heed_format_bytes(n2, (double)r->bytes));
    banner_choices(&g->p->chosen);
    banner_start(g, r);
    banner_adapters(g, r->store);
    banner_decay(g, r->store);
    banner_epoch(g->p->model, g->f, r->epoch_batches);
    const heed_cluster *k = g->p->cluster.processes;
    char several[48] = "";
    if (k) snprintf(several, sizeof several, "%d processes, each with ", k->ranks);
    banner_row("computing", "%s%d thread%s, %s", several, heed_threads(c),
               heed_threads(c) == 1 ? "" : "s", heed_isa(c));
    banner_row("run", "%s", g->run);
    bool metric = !g->data->no_val && strcmp(heed_config_text(g->f, "best"), "accuracy") == 0;
    banner_row("*", "the best so far, by %s: what the run keeps as its model",
               metric ? "accuracy" : "loss");
    if (r->step > 0) banner_row("resumed", "at step %s", heed_format_count(n1, (uint64_t)r->step));
    fputc('\n', stderr);
}

/* ---- the progress line ---- */

/* Describes a step in at most `width` columns: the step, then the loss, the time left, the rate and
 * the learning rate. Fields that do not fit entirely are left out. */
static const char *state_text(char text[160], int width, const progress *g, const heed_report *r) {
    enum { STEP, LOSS, LR, RATE, LEFT, FIELDS };
    static const int order[FIELDS] = {STEP, LOSS, LEFT, RATE, LR};
    char field[FIELDS][48], a[32], b[32];
    bool shown[FIELDS] = {0};
    size_t used = 0, n = 0;
    snprintf(field[STEP], 48, "step %s/%s", heed_format_count(a, (uint64_t)r->step),
             heed_format_count(b, (uint64_t)r->steps));
    snprintf(field[LOSS], 48, "loss %.4f", g->smooth);
    snprintf(field[LR], 48, "lr %.1e", r->lr);
    snprintf(field[RATE], 48, "%s %s/s", rate(a, r->items_per_s), data_of(g->p->model)->item);
    snprintf(field[LEFT], 48, "%s left", heed_format_duration(a, r->seconds_left));
    for (int i = 0; i < FIELDS; i++) {
        size_t more = strlen(field[order[i]]) + (used ? 2 : 0);
        if (used + more > (size_t)width) break;
        used += more;
        shown[order[i]] = true;
    }
    text[0] = 0;
    for (int i = 0; i < FIELDS; i++)
        if (shown[i]) n += (size_t)snprintf(text + n, 160 - n, "%s%s", n ? "  " : "", field[i]);
    return text;
}

static void draw_bar(progress *g, const heed_report *r) {
    int cells = terminal_width() < 80 ? 10 : 24;
    int capacity =
        terminal_width() - cells - 8; /* a space, the percentage, two spaces, the last column */
    char state[160];
    heed_text line = {.c = NULL};
    if (now() - g->drawn < 0.1 && r->step != r->steps) return;
    g->drawn = now();
    heed_text_add(&line, "\r\033[K");
    add_bar(&line, r->progress);
    heed_text_add(&line, "  %s", state_text(state, capacity > 0 ? capacity : 0, g, r));
    fputs(line.s ? line.s : "", stderr);
    heed_text_free(&line);
    g->p->line_open = true;
}

static void print_state(progress *g, const heed_report *r) {
    char state[160];
    if (now() - g->wrote < 30) return;
    g->wrote = now();
    fprintf(stderr, "%s\n", state_text(state, sizeof state - 1, g, r));
}

/* ---- the table of evaluations ---- */

enum { STEP, EPOCH, TRAIN, VALID, PERPLEXITY, BITS, ACCURACY, LR, RATE, TIME, COLUMNS };
static const struct {
    const char *name;
    int width;
    const char *format; /* NULL: see cell */
} columns[COLUMNS] = {{"step", 7, "%.0f"},
                      {"epoch", 7, "%.2f"},
                      {"train", 9, "%.4f"},
                      {"valid", 9, "%.4f"},
                      {"perplexity", 12, NULL},
                      {"bits/byte", 10, "%.4f"},
                      {"accuracy", 10, "%.2f %%"},
                      {"lr", 9, "%.1e"},
                      {"/s", 8, NULL},
                      {"time", 8, NULL}};

/* Hides the validation columns if there is no validation part, and the least important columns if
 * the terminal is too narrow. */
static void choose_columns(progress *g) {
    static const int order[] = {PERPLEXITY, BITS, LR, RATE, EPOCH, TIME, ACCURACY};
    enum { MARK = 2, DROPPED = sizeof order / sizeof *order };
    int width = MARK;
    bool perplexity = data_of(g->p->model)->perplexity;
    bool bits = perplexity && !fills_masks(g->p->model); /* predicts all the text */
    for (int i = 0; i < COLUMNS; i++) {
        bool valid = i >= VALID && i <= ACCURACY;
        g->hidden[i] = (valid && g->data->no_val) || (i == PERPLEXITY && !perplexity) ||
                       (i == BITS && !bits) || (i == ACCURACY && makes_pictures(g->p->model));
        if (!g->hidden[i]) width += columns[i].width;
    }
    for (int i = 0; i < DROPPED && width >= terminal_width(); i++) {
        if (!g->hidden[order[i]]) width -= columns[order[i]].width;
        g->hidden[order[i]] = true;
    }
}

static const char *cell(char text[32], int column, const heed_report *r) {
    const double x[COLUMNS] = {(double)r->step,  r->epoch,         r->loss,         r->val_loss,
                               exp(r->val_loss), r->bits_per_byte, 100 * r->metric, r->lr,
                               r->items_per_s,   r->seconds};
    const char *format = columns[column].format;
    if (column == RATE) return rate(text, r->items_per_s);
    if (column == TIME) return heed_format_duration(text, r->seconds);
    if (column == STEP && r->step < 100000) return heed_format_count(text, (uint64_t)r->step);
    if (column == PERPLEXITY) format = r->val_loss < 11 ? "%.2f" : "%.2e";
    snprintf(text, 32, "-");
    if (isfinite(x[column])) snprintf(text, 32, format, x[column]);
    for (int digits = 6; digits && strlen(text) >= (size_t)columns[column].width; digits--)
        if (column != STEP) snprintf(text, 32, "%.*g", digits, x[column]);
    return text;
}

static void print_evaluation(progress *g, const heed_report *r) {
    char text[32];
    wipe(g);
    if (!g->header) {
        choose_columns(g);
        fprintf(stderr, "%s", dim());
        for (int i = 0; i < COLUMNS; i++) {
            snprintf(text, sizeof text, "%s%s", i == RATE ? data_of(g->p->model)->item : "",
                     columns[i].name);
            if (!g->hidden[i]) fprintf(stderr, "%*s", columns[i].width, text);
        }
        fprintf(stderr, "%s\n", plain());
    }
    g->header = true;
    for (int i = 0; i < COLUMNS; i++)
        if (!g->hidden[i]) fprintf(stderr, " %*s", columns[i].width - 1, cell(text, i, r));
    fprintf(stderr, "%s\n", r->best ? " *" : "");
    g->wrote = now();
}

/* ---- JSON, one object per line ---- */

/* Step objects are printed at most once per second. */
static void print_json_line(progress *g, const heed_report *r) {
    static const char *const names[] = {"start", "step", "evaluation", "saved", "note"};
    if (r->event == HEED_FIT_STEP && now() - g->wrote < 1) return;
    if (r->event == HEED_FIT_STEP) g->wrote = now();
    json_t *o = json_pack("{s:s, s:I, s:I}", "event", names[r->event], "step", (json_int_t)r->step,
                          "steps", (json_int_t)r->steps);
    if (r->event == HEED_FIT_START)
        json_object_update_new(o, json_pack("{s:I, s:I}", "params", (json_int_t)r->params, "bytes",
                                            (json_int_t)r->bytes));
    if (r->start) json_object_set_new(o, "from", start_json(r->start));
    if (r->event == HEED_FIT_START && g->p->chosen.count)
        json_object_set_new(o, "chosen", choices_json(&g->p->chosen));
    if (r->memory && flag_on(g->p, "memory-report"))
        json_object_set_new(o, "memory", memory_json(r->memory));
    if (r->event == HEED_FIT_STEP || r->event == HEED_FIT_EVAL)
        json_object_update_new(o, json_pack("{s:f, s:o, s:o, s:o, s:o, s:o}", "epoch", r->epoch,
                                            "loss", json_number(r->loss), "lr", json_number(r->lr),
                                            "grad_norm", json_number(r->grad_norm), "items_per_s",
                                            json_number(r->items_per_s), "seconds",
                                            json_number(r->seconds)));
    if (r->event == HEED_FIT_EVAL)
        json_object_update_new(o, json_pack("{s:o, s:o, s:o, s:b}", "val_loss",
                                            json_number(r->val_loss), "accuracy",
                                            json_number(r->metric), "bits_per_byte",
                                            json_number(r->bits_per_byte), "best", r->best));
    if (r->event == HEED_FIT_NOTE) json_object_set_new(o, "note", json_text(r->note));
    write_json(stderr, o, 9);
    json_decref(o);
}

/* ---- events ---- */

/* Uses a separate context: failing to write a picture must not end the training. */
static void draw_loss(progress *g) {
    char path[1024];
    g->undrawn = false;
    g->pictured = now();
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    snprintf(path, sizeof path, "%s" HEED_INSIDE "loss.png", g->run);
    if (!curves_png(c, g->run, path)) heed_message(g->p->c, HEED_WARN, "%s", heed_ctx_error(c));
    heed_close(c);
}

void progress_report(void *user, const heed_report *r) {
    progress *g = user;
    heed_snapshots_report(g->snapshots, r);
    if (heed_ctx_status(g->p->c) != HEED_OK) return; /* a model without attention */
    if (r->event == HEED_FIT_SAVED) g->saved = r->step;
    if (r->event == HEED_FIT_START) {
        g->begun = true;
        g->wrote = g->pictured = now();
        remove_scores(g->run);
        if (g->data->kind->begun) g->data->kind->begun(g->data, g->run);
        log_skipped(g->p, g->data, g->run);
    }
    if (r->event == HEED_FIT_STEP) {
        g->smooth = g->any ? 0.9 * g->smooth + 0.1 * r->loss : r->loss;
        g->any = true;
        g->epochs = r->epoch;
    }
    if (r->event == HEED_FIT_EVAL) g->answers = r->val_total;
    heed_report with_note = *r;
    heed_text note = {.c = NULL};
    if (r->note) add_shown(g->p, r->note, &note);
    if (note.s) with_note.note = note.s;
    bool shown = g->mode == SHOW_BAR || g->mode == SHOW_LINES;
    heed_memory with_picture;
    if (r->memory) { /* evaluations draw the curves */
        with_picture = *r->memory;
        with_picture.evaluation += curves_png_memory();
        with_picture.total += curves_png_memory();
        with_note.memory = &with_picture;
    }
    if (g->mode == SHOW_JSON) print_json_line(g, &with_note);
    if (shown && r->event == HEED_FIT_START) banner(g, r);
    if (shown && r->memory && flag_on(g->p, "memory-report")) {
        print_memory(stderr, &with_picture);
        fputc('\n', stderr);
    }
    if (g->mode == SHOW_BAR && r->event == HEED_FIT_STEP) draw_bar(g, r);
    if (g->mode == SHOW_LINES && r->event == HEED_FIT_STEP) print_state(g, r);
    if (shown && r->event == HEED_FIT_EVAL) print_evaluation(g, r);
    bool warns = g->mode == SHOW_NOTHING && r->note && strncmp(r->note, "warning:", 8) == 0;
    if ((shown || warns) && r->event == HEED_FIT_NOTE) {
        wipe(g);
        print_note("", with_note.note);
    }
    heed_text_free(&note);
    if (r->event == HEED_FIT_SAVED && g->undrawn && now() - g->pictured >= 1)
        draw_loss(g); /* the checkpoint knows the best */
    if (r->event != HEED_FIT_EVAL) return;
    g->undrawn = true;
    warn_of_plateau(g, r);
    sample_outputs(g, r);
}

void progress_end(progress *g) {
    if (g->undrawn && g->saved >= 0) draw_loss(g);
}
