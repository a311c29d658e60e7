/* pairs_check.c -- heed data check of pairs of texts: what a training run would read. */
#include "cli/gather.h"
#include "kinds/pairs.h"

#include <string.h>

static double share(size_t part, size_t all) { return all ? 100 * (double)part / (double)all : 0; }

enum { AT = 15 }; /* column at which facts begin, after their labels */

static void print_side(const char *label, const heed_tokenizer *k, size_t tokens, size_t unknown,
                       int longest) {
    char n1[32], n2[32], n3[32];
    print_fact(AT, label, "%s, %s tokens in the vocabulary", heed_tokenizer_kind(k),
               heed_format_count(n1, (uint64_t)heed_vocab_size(k)));
    print_fact(AT, "",
               "%s tokens, %s of them unknown (%.2f %%); the longest text has %d, [SEP] counted",
               heed_format_count(n2, tokens), heed_format_count(n3, unknown),
               share(unknown, tokens), longest);
}

static bool is_word(const char *s, size_t n, const char *word) {
    return strlen(word) == n && memcmp(s, word, n) == 0;
}

/* How many texts, or words, of a part have a label. */
static size_t count_label(const heed_data *d, bool val, const char *name) {
    const heed_pairs_info *a = heed_pairs_about(d->batches);
    bool words = strcmp(d->kind->label, "word") == 0;
    size_t count = 0, pairs = val ? a->val_pairs : a->pairs;
    heed_pair pair;
    for (size_t i = 0; i < pairs && heed_pairs_get(d->batches, val, i, &pair); i++) {
        if (!words) count += is_word(pair.target, pair.target_n, name);
        for (size_t at = 0, n; words && at < pair.target_n; at += n + 1) {
            for (n = 0; at + n < pair.target_n && pair.target[at + n] != ' ';) n++;
            count += is_word(pair.target + at, n, name);
        }
    }
    return count;
}

/* Prints counts in training and validation, then the label, which may be long. */
static void print_labels(const heed_data *d, const heed_pairs_info *a) {
    enum { SHOWN = 20, COUNTS = 24 };
    char n1[32], n2[32], counts[96];
    int at = line_width(stdout) < AT + COUNTS + 20 ? 2 : AT;
    print_side("  texts", d->tokenizer, a->tokens, a->unknown, a->longest);
    print_fact(AT, "  labels", "%d", a->classes);
    printf("%*s%9s %11s  label\n", at, "", "training", "validation");
    for (int i = 0; i < a->classes && i < SHOWN; i++) {
        snprintf(counts, sizeof counts, "%*s%9s %11s", at, "",
                 heed_format_count(n1, count_label(d, false, a->labels[i])),
                 d->no_val ? "0" : heed_format_count(n2, count_label(d, true, a->labels[i])));
        print_fact(at + COUNTS - 1, counts, "%s", a->labels[i]);
    }
    if (a->classes > SHOWN) print_fact(AT, "", "and %d more", a->classes - SHOWN);
}

/* Whether a third of the texts, of single characters or bytes, is longer than the block. Without a
 * validation part, those left out of training are also cut for evaluation. */
static bool wants_pieces(const heed_data *d, const heed_pairs_info *a) {
    const char *kind = heed_tokenizer_kind(d->tokenizer);
    size_t longer = d->no_val ? a->cut.texts : a->left_out + a->cut.texts;
    size_t all = a->pairs + a->left_out + (d->no_val ? 0 : a->val_pairs);
    return longer * 3 >= all && (strcmp(kind, "char") == 0 || strcmp(kind, "byte") == 0);
}

enum { CONFLICTS = 3 }; /* examples that are shown */

static void print_conflicts(const heed_data *d, const heed_pairs_info *a) {
    heed_pairs_conflict some[CONFLICTS];
    char n[32], text[HEED_QUOTE];
    size_t count = heed_pairs_conflicts(d->batches, some, CONFLICTS);
    if (!count) return;
    print_fact(AT, a->classes ? "  conflicts" : "  several", "%s %s%s %s different %s",
               heed_format_count(n, count), a->classes ? "text" : "source", count == 1 ? "" : "s",
               count == 1 ? "has" : "have", a->classes ? "labels" : "targets");
    for (size_t i = 0; i < count && i < CONFLICTS; i++)
        print_fact(AT, "", "%s:%zu and %s:%zu: %s", some[i].path[0], some[i].pair[0].line,
                   some[i].path[1], some[i].pair[1].line,
                   heed_quote(text, some[i].pair[0].source, some[i].pair[0].source_n));
}

static void print_facts(program *p, const heed_data *d, const heed_pairs_info *a) {
    char n1[32], n2[32], note[160], hint[256];
    print_fact(0, "", "%s", data_name(p, heed_config_text(p->flags, "data")));
    putchar('\n');
    print_fact(AT, "  training", "%s %s", heed_format_count(n1, a->pairs), pair_noun(a, a->pairs));
    print_fact(AT, "  validation", "%s %s; no %s is in both parts",
               d->no_val ? "0" : heed_format_count(n2, a->val_pairs),
               pair_noun(a, d->no_val ? 0 : a->val_pairs), a->classes ? "text" : "source");
    if (a->classes)
        print_labels(d, a);
    else {
        const heed_tokenizer *source = d->source ? d->source : d->tokenizer;
        print_side("  source", source, a->tokens, a->unknown, a->longest);
        print_side("  target", d->tokenizer, a->target_tokens, a->target_unknown,
                   a->target_longest);
        if (!d->source) print_fact(AT, "", "one vocabulary for both: --share-vocab");
    }
    print_conflicts(d, a);
    if (a->classes && !d->class_weights && *balance_hint(d, hint))
        print_fact(AT, "  note", "%s", hint);
    for (int i = 0; pairs_note(a, p->flags, i, note); i++)
        if (*note) print_fact(AT, "  note", "%s", note);
    if (single_words(p->model, d)) print_fact(AT, "  note", "%s", SINGLE_WORDS);
    if (wants_pieces(d, a))
        print_fact(
            AT, "  note",
            "a third or more is longer than the block: --tokenizer wordpiece makes tokens of "
            "several characters");
    if (share(a->unknown, a->tokens) > 1 || share(a->target_unknown, a->target_tokens) > 1)
        print_fact(AT, "  note",
                   "more than 1 %% is unknown: a larger --vocab, or another --tokenizer");
}

static void print_samples(const heed_pairs *k, const heed_pairs_info *a) {
    enum { SHOWN = 3, COLUMNS = 60, START = 15 };
    int capacity = line_width(stdout) - START < COLUMNS ? line_width(stdout) - START : COLUMNS;
    heed_pair pair;
    puts("\nSamples of the training part:");
    for (size_t i = 0; i < SHOWN && i < a->pairs && heed_pairs_get(k, false, i, &pair); i++) {
        printf("  line %-7zu ", pair.line);
        print_start(pair.source, pair.source_n, capacity);
        fputs("\n            -> ", stdout);
        print_start(pair.target, pair.target_n, capacity);
        putchar('\n');
    }
}

static json_t *side_json(const heed_tokenizer *k, size_t tokens, size_t unknown, int longest) {
    return json_pack("{s:s, s:i, s:I, s:I, s:i}", "tokenizer", heed_tokenizer_kind(k), "vocab",
                     heed_vocab_size(k), "tokens", (json_int_t)tokens, "unknown",
                     (json_int_t)unknown, "longest", longest);
}

/* [{label, count, val_count}] */
static json_t *labels_json(const heed_data *d, const heed_pairs_info *a) {
    json_t *list = json_array();
    for (int i = 0; i < a->classes; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:I, s:I}", "label", a->labels[i], "count",
                            (json_int_t)count_label(d, false, a->labels[i]), "val_count",
                            (json_int_t)(d->no_val ? 0 : count_label(d, true, a->labels[i]))));
    return list;
}

/* [{source, lines: ["FILE:1", "FILE:2"]}]: the first ones */
static json_t *conflicts_json(const heed_pairs_conflict *some, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count && i < CONFLICTS; i++) {
        char line[1024];
        json_t *lines = json_array();
        for (int j = 0; j < 2; j++) {
            snprintf(line, sizeof line, "%s:%zu", some[i].path[j], some[i].pair[j].line);
            json_array_append_new(lines, json_text(line));
        }
        json_array_append_new(
            list, json_pack("{s:o, s:o}", "source",
                            json_stringn(some[i].pair[0].source, some[i].pair[0].source_n), "lines",
                            lines));
    }
    return list;
}

static void print_object(program *p, const heed_data *d, const heed_pairs_info *a) {
    const heed_tokenizer *source = d->source ? d->source : d->tokenizer;
    json_t *o = json_pack(
        "{s:s, s:I, s:I, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "data",
        data_name(p, heed_config_text(p->flags, "data")), "pairs", (json_int_t)a->pairs,
        "val_pairs", (json_int_t)(d->no_val ? 0 : a->val_pairs), "header", (int)a->header,
        "extra_columns", (json_int_t)a->extra_columns, "blank", (json_int_t)a->blank, "empty",
        (json_int_t)a->empty, "left_out", (json_int_t)a->left_out, "cut", (json_int_t)a->cut.texts,
        "overlap", (json_int_t)a->overlap, "special_lines", (json_int_t)a->special_lines, "source",
        side_json(source, a->tokens, a->unknown, a->longest));
    if (a->classes)
        json_object_update_new(o, json_pack("{s:I, s:I, s:o}", "unread", (json_int_t)a->cut.unread,
                                            "untaught", (json_int_t)a->untaught, "labels",
                                            labels_json(d, a)));
    else
        json_object_update_new(o,
                               json_pack("{s:b, s:o, s:I}", "shared", (int)!d->source, "target",
                                         side_json(d->tokenizer, a->target_tokens,
                                                   a->target_unknown, a->target_longest),
                                         "val_target_unknown", (json_int_t)a->val_target_unknown));
    heed_pairs_conflict some[CONFLICTS];
    size_t conflicts = heed_pairs_conflicts(d->batches, some, CONFLICTS);
    json_object_update_new(o, json_pack("{s:I, s:o}", "conflicts", (json_int_t)conflicts,
                                        "conflicting", conflicts_json(some, conflicts)));
    json_object_set_new(o, "chosen", choices_json(&p->chosen));
    print_json(p, o);
}

void check_pairs(program *p, heed_data *d) {
    const heed_pairs_info *a = heed_pairs_about(d->batches);
    char suggestion[64] = "";
    int longest = a->longest > a->target_longest ? a->longest : a->target_longest;
    if (wants_pieces(d, a))
        snprintf(suggestion, sizeof suggestion, "--tokenizer wordpiece");
    else if (a->left_out)
        snprintf(suggestion, sizeof suggestion, "--block %d", longest);
    if (heed_config_bool(p->flags, "json")) {
        print_object(p, d, a);
        return;
    }
    print_facts(p, d, a);
    print_samples(d->batches, a);
    print_try(p, p->model, suggestion);
}
