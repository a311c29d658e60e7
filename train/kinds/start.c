/* start.c -- what training takes from the run that it starts from, as rows of the banner. */
#include "kinds/training.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Entries with one outcome and the same first part of their names, shown as one row. */
typedef struct {
    const heed_start_entry *first;
    int count, low, high; /* of entries; of the numbers after the first part: -1: none */
    bool numbered;        /* all have one */
} group;

enum { NAME = 64, WHAT = 32, OUTCOME = 160 };

static bool is_grouped(heed_start_how how) {
    return how == HEED_START_TAKEN || how == HEED_START_NEW || how == HEED_START_UNUSED;
}

static size_t part(const char *name) { return strcspn(name, "."); }

static bool belongs(const group *g, const heed_start_entry *e) {
    size_t n = part(e->name);
    return is_grouped(e->how) && g->first->how == e->how && part(g->first->name) == n &&
           strncmp(g->first->name, e->name, n) == 0;
}

/* Groups the entries in order; returns the number of groups. */
static int make_groups(const heed_start *s, group *groups) {
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        const heed_start_entry *e = &s->entries[i];
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
    const heed_start_entry *e = g->first;
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
static void describe_rows(const heed_start_entry *e, heed_row_kind rows, char outcome[OUTCOME]) {
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

static const char *why_unfit(const heed_start_entry *e, heed_row_kind to, heed_row_kind from) {
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

static void describe_outcome(const heed_report *r, const heed_start_entry *e,
                             char outcome[OUTCOME]) {
    static const char *const words[] = {[HEED_START_TAKEN] = "taken",
                                        [HEED_START_NEW] = "new",
                                        [HEED_START_UNUSED] = "only in the run, not used"};
    const heed_entry *to = heed_store_find(r->store, e->name);
    char shape[64];
    if (e->how == HEED_START_MATCHED)
        describe_rows(e, to->rows, outcome);
    else if (e->how == HEED_START_RESIZED)
        snprintf(outcome, OUTCOME, "interpolated from %s",
                 heed_shape_text(e->from, shape, sizeof shape));
    else if (e->how == HEED_START_UNFIT)
        snprintf(outcome, OUTCOME, "new: the run's %s is %s",
                 heed_shape_text(e->from, shape, sizeof shape),
                 why_unfit(e, to->rows, heed_store_find(r->start->run->store, e->name)->rows));
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
        if (groups[i].first->how == HEED_START_UNFIT && ++unfit > UNFIT) continue;
        describe(&groups[i], name, what);
        describe_outcome(r, groups[i].first, outcome);
        banner_row("", "%-*s  %-*s  %s", width[0], name, width[1], what, outcome);
    }
    if (unfit > UNFIT)
        banner_row("", "and %d more that do not fit; train.log in the run has all", unfit - UNFIT);
}

void banner_start(const progress *g, const heed_report *r) {
    const heed_start *s = r->start;
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

json_t *start_json(const heed_start *s) {
    static const char *const words[] = {
        [HEED_START_TAKEN] = "taken",     [HEED_START_MATCHED] = "matched",
        [HEED_START_RESIZED] = "resized", [HEED_START_NEW] = "new",
        [HEED_START_UNFIT] = "unfit",     [HEED_START_UNUSED] = "unused",
    };
    json_t *o = json_pack("{s:o}", "run", json_text(s->run->dir));
    for (int how = 0; how <= HEED_START_UNUSED; how++) {
        int count = 0;
        for (int i = 0; i < s->count; i++) count += (int)s->entries[i].how == how;
        json_object_set_new(o, words[how], json_integer(count));
    }
    return o;
}
