/* kind_pairs.c -- lines of two texts as data: tokenizers, trained or opened, and the pairs. */
#include "core/os.h"
#include "data/kind.h"
#include "data/pair/pairs.h"

#include <stdio.h>
#include <string.h>

static const heed_option translation_options[] = {
    {"tokenizer", HEED_OPTION_STRING, "char", 0, 0, NULL,
     "char, byte, word, wordpiece or bpe, trained on the pairs; or the path of a run, "
     "a " HEED__TOKENIZER_FILES,
     "Pairs"},
    {"source-tokenizer", HEED_OPTION_STRING, "", 0, 0, NULL,
     "another one for the source, if `share-vocab` is off; none: of the same kind", "Pairs"},
    {"lower", HEED_OPTION_BOOL, "false", 0, 0, NULL, "word and wordpiece: lower-case the text",
     "Pairs"},
    HEED__COLUMNS("SOURCE,TARGET or TEXT,LABEL", "Pairs"),
    {"val", HEED_OPTION_STRING, "", 0, 0, NULL, "a separate file for validation", "Pairs"},
    HEED__VAL_COLUMNS("Pairs"),
    {"val-split", HEED_OPTION_REAL, "0.1", 0, 0.9, NULL, "share of the pairs kept for validation",
     "Pairs"},
    {0}};

static const heed_option label_options[] = {
    {"tokenizer", HEED_OPTION_STRING, "word", 0, 0, NULL,
     "char, byte, word, wordpiece or bpe, trained on the texts; or the path of a run, "
     "a " HEED__TOKENIZER_FILES,
     "Texts"},
    {"lower", HEED_OPTION_BOOL, "false", 0, 0, NULL, "word and wordpiece: lower-case the text",
     "Texts"},
    HEED__COLUMNS("SOURCE,TARGET or TEXT,LABEL", "Texts"),
    {"val", HEED_OPTION_STRING, "", 0, 0, NULL, "a separate file for validation", "Texts"},
    HEED__VAL_COLUMNS("Texts"),
    {"val-split", HEED_OPTION_REAL, "0.1", 0, 0.9, NULL, "share of the texts kept for validation",
     "Texts"},
    {"truncate", HEED_OPTION_STRING, "head", 0, 0, "head|tail|head+tail",
     "what a text longer than the block keeps: its head, its tail, or half a block of each",
     "Texts"},
    HEED__BALANCE("Texts"),
    {0}};

/* ---- tokenizers ---- */

/* The text that a tokenizer is trained on. Line ends are not part of any text: characters are
 * learned without. side: as in heed__pairs_text. */
static bool read_side(const heed__pairs *k, int side, const char *kind, heed_text *text) {
    if (!heed__pairs_text(k, side, text)) return false;
    size_t kept = 0;
    for (size_t i = 0; i < text->n; i++)
        if (text->s[i] != '\n' || strcmp(kind, "char") != 0) text->s[kept++] = text->s[i];
    text->n = kept;
    return true;
}

heed_tokenizer *heed__pairs_train_tokenizer(heed_ctx *c, const heed_config *f, const heed__pairs *k,
                                            int side, const char *kind) {
    heed_text text = {.c = c};
    int64_t vocab = heed_config_int(f, "vocab"), own = 0;
    if (side == 0 && heed_config_has(f, "source-vocab")) own = heed_config_int(f, "source-vocab");
    heed_tokenizer_args a = {.kind = kind,
                             .vocab = (int)(own ? own : vocab),
                             .lower = heed_config_bool(f, "lower"),
                             .specials = true};
    heed_tokenizer *made = NULL;
    if (read_side(k, side, kind, &text)) made = heed_tokenizer_train(c, text.s, text.n, a);
    heed_text_free(&text);
    return made;
}

bool heed__pairs_extend_tokenizer(const heed_config *f, const heed__pairs *k, int side,
                                  heed_tokenizer **t) {
    heed_text text = {.c = (*t)->c};
    heed_tokenizer *more = NULL;
    if (read_side(k, side, heed_tokenizer_kind(*t), &text))
        more = heed__tokenizer_extend(*t, &(heed__source){.text = text.s, .n = text.n},
                                      (int)heed_config_int(f, "vocab"), true);
    heed_text_free(&text);
    heed_tokenizer_free(*t);
    return (*t = more) != NULL;
}

/* Opens or trains the source's tokenizer. If a run is named, its source tokenizer is used. */
static heed_tokenizer *make_source(heed_ctx *c, const heed_config *f, const heed__pairs *k) {
    const char *own = heed_config_text(f, "source-tokenizer");
    const char *key = *own ? "source-tokenizer" : "tokenizer";
    const char *name = heed_config_text(f, key);
    if (heed__kind_find(name) >= 0) return heed__pairs_train_tokenizer(c, f, k, 0, name);
    heed_tokenizer *made = *own ? NULL : heed__tokenizer_in(c, name, HEED__SOURCE_FOLDER);
    return made ? made : heed__tokenizer_at(c, key, name);
}

/* A model without the setting has one vocabulary, unless it has one of the source. */
static bool is_shared(const heed_config *f) {
    return heed_config_has(f, "share-vocab") ? heed_config_bool(f, "share-vocab")
                                             : !heed_config_has(f, "source-vocab");
}

/* Opens the tokenizers that f names, or trains them on the pairs. */
static bool find_tokenizers(heed_data *d, const heed_config *f, const heed_data_args *a) {
    const char *run = a->run;
    bool translates = !d->kind->label;
    bool shared = translates && is_shared(f);
    const char *name = heed_config_text(f, "tokenizer");
    if (shared && *heed_config_text(f, "source-tokenizer"))
        return heed_fail(d->c, HEED_USAGE,
                         "`source-tokenizer` has no effect with a shared vocabulary: expected "
                         "`share-vocab = false`");
    int side = shared ? 2 : translates ? 1 : 0;
    d->tokenizer = run ? heed__tokenizer_in(d->c, run, "")
                   : heed__kind_find(name) >= 0
                       ? heed__pairs_train_tokenizer(d->c, f, d->batches, side, name)
                       : heed__tokenizer_at(d->c, "tokenizer", name);
    if (d->tokenizer && run)
        d->source = heed__tokenizer_in(d->c, run, HEED__SOURCE_FOLDER);
    else if (d->tokenizer && translates && !shared)
        d->source = make_source(d->c, f, d->batches);
    if (d->tokenizer && a->extend && !run)
        return heed__pairs_extend_tokenizer(f, d->batches, side, &d->tokenizer) &&
               (!d->source || heed__pairs_extend_tokenizer(f, d->batches, 0, &d->source));
    return !heed__stopped(d->c);
}

/* ---- opening ---- */

static bool check_labels(const heed_data *d, const heed_config *f) {
    const heed__pairs_info *a = heed__pairs_about(d->batches);
    size_t lines = a->pairs + (d->no_val ? 0 : a->val_pairs);
    if (a->classes < 2)
        return heed_fail(d->c, HEED_DATA, "%s: expected two different labels or more, found 1",
                         heed_config_text(f, "data"));
    /* If texts are in the place of labels, nearly every line becomes a separate class. */
    if (d->kind != &heed_texts_tagged && lines >= 20 && (size_t)a->classes * 2 > lines)
        heed_message(d->c, HEED_WARN,
                     "%d labels in %zu lines: nearly every label occurs once; hint: are the "
                     "columns swapped? expected label<TAB>text",
                     a->classes, lines);
    return true;
}

/* The lengths of labelled texts choose the block, unless it was given or is that of another run. */
static bool chooses_block(const heed_data *d, const heed_config *f) {
    bool from = heed_config_has(f, "from") && *heed_config_text(f, "from");
    return d->kind->label && !from && heed_config_rank(f, "block") == HEED_FROM_DEFAULT;
}

static bool open_pairs(heed_data *d, const heed_config *f, const heed_data_args *a) {
    const char *val = heed_config_text(f, "val");
    double split = heed_config_real(f, "val-split");
    bool translates = !d->kind->label;
    heed__pairs_args args = {.kind = translates                      ? HEED_TARGET_TEXT
                                     : d->kind == &heed_texts_tagged ? HEED_TARGET_TAGS
                                                                     : HEED_TARGET_CLASSES,
                             .val_split = d->all ? 0 : split,
                             .val_path = *val && !d->all ? val : NULL,
                             .block = chooses_block(d, f) ? 0 : (int)heed_config_int(f, "block"),
                             .truncate = translates ? NULL : heed_config_text(f, "truncate"),
                             .labels = a->labels,
                             .label_count = a->label_count,
                             .columns = heed_config_text(f, "columns"),
                             .val_columns = heed_config_text(f, "val-columns"),
                             .header = heed_config_text(f, "header"),
                             .bracket =
                                 heed_config_has(f, "bracket") && heed_config_bool(f, "bracket")};
    d->batches = heed__pairs_open(d->c, heed_config_text(f, "data"), &args);
    d->no_val = split <= 0 && !*val;
    d->part = d->no_val ? HEED_TRAIN_PART : HEED_VAL_PART;
    return d->batches != NULL;
}

static bool open_data(heed_data *d, heed_config *f, const heed_data_args *a) {
    bool translates = !d->kind->label;
    if (!a->eval && !heed__texts_last(d->c, f)) return false;
    if (!open_pairs(d, f, a)) return false;
    if (!d->tokenizer && !find_tokenizers(d, f, a)) return false;
    const heed__pairs_info *about = heed__pairs_about(d->batches);
    d->checksum = about->checksum;
    if (!translates && !a->eval && !check_labels(d, f)) return false;
    d->labels = about->classes ? about->labels : NULL;
    d->label_count = about->classes;
    if (!heed__pairs_encode(d->batches, d->source ? d->source : d->tokenizer,
                            translates ? d->tokenizer : NULL))
        return false;
    char block[16];
    snprintf(block, sizeof block, "%d", about->block);
    if (chooses_block(d, f) && about->block != heed_config_int(f, "block")) {
        if (!heed_config_set(f, "block", block, "data", HEED_FROM_PRESET)) return false;
        snprintf(d->found.what, sizeof d->found.what, "block %s", block);
        snprintf(d->found.why, sizeof d->found.why,
                 "the longest text in multiples of 8, at most 512: longer texts train slowly");
    }
    if (!translates && heed_config_bool(f, "balance"))
        d->class_weights = heed__pairs_balance(d->batches);
    return !heed__stopped(d->c);
}

static void close_data(heed_data *d) { heed__pairs_close(d->batches); }

/* ---- what lines hold ---- */

static const char *verb(size_t count) { return count == 1 ? "is" : "are"; }
static const char *plural(size_t count) { return count == 1 ? "" : "s"; }
static const char *noun(const heed__pairs_info *a, size_t count) {
    if (a->classes) return count == 1 ? "text" : "texts";
    return count == 1 ? "pair" : "pairs";
}

void heed__pairs_cut_text(const heed__pairs_info *a, const heed__pairs_cut *cut, heed_text *out) {
    char n1[32], n2[32], n3[32];
    heed_text_add(out, "%s %s longer than `block = %d` and cut: %s of %s %s are not read",
                  heed_format_count(n1, cut->texts), cut->texts == 1 ? "text is" : "texts are",
                  a->block, heed_format_count(n2, cut->unread), heed_format_count(n3, cut->units),
                  a->per_word ? "words" : "tokens");
}

/* How the file was read. */
static void note_columns(const heed__pairs_info *a, const heed_config *f, heed_facts *out) {
    char n[32];
    bool given = *heed_config_text(f, "columns") && !a->json;
    if (a->columns)
        heed_fact_add(out, HEED_FACT, "note", "the first line names the columns: %.*s are read",
                      (int)heed_label_cut(a->columns, 100), a->columns);
    if (a->conll)
        heed_fact_add(out, HEED_FACT, "note",
                      "a CoNLL file of %zu columns: words in column %d, labels in column %d; "
                      "`columns` chooses others",
                      a->conll, a->column[0], a->column[1]);
    else if (given && !a->header) /* by numbers */
        heed_fact_add(out, HEED_FACT, "note",
                      "the first line is read as data; if it names the columns: `header = yes`");
    if (a->extra_columns)
        heed_fact_add(out, HEED_FACT, "note", "further %s in %s line%s are ignored",
                      a->json ? "keys" : "columns", heed_format_count(n, a->extra_columns),
                      plural(a->extra_columns));
    if (a->blank)
        heed_fact_add(out, HEED_FACT, "note", "%s empty line%s skipped",
                      heed_format_count(n, a->blank), a->blank == 1 ? " is" : "s are");
}

static void note_lengths(const heed_data *d, const heed__pairs_info *a, const heed_config *f,
                         heed_facts *out) {
    int longest = a->longest > a->target_longest ? a->longest : a->target_longest;
    long long block = (long long)heed_config_int(f, "block");
    char n[32];
    heed_text cut = {.c = d->c};
    if (a->left_out)
        heed_fact_add(out, HEED_FACT, "note",
                      "%s %s %s longer than `block = %lld` and left out of training: `block = %d` "
                      "keeps all",
                      heed_format_count(n, a->left_out), noun(a, a->left_out), verb(a->left_out),
                      block, longest);
    if (a->cut.texts && !a->classes)
        heed_fact_add(out, HEED_FACT, "note", "%s %s %s cut at `block = %lld` for evaluation",
                      heed_format_count(n, a->cut.texts), noun(a, a->cut.texts), verb(a->cut.texts),
                      block);
    if (a->cut.texts && a->classes) {
        heed__pairs_cut_text(a, &a->cut, &cut);
        heed_fact_add(out, HEED_FACT, "note", "%s; `block = %d` reads all", cut.s ? cut.s : "",
                      longest);
    }
    heed_text_free(&cut);
}

void heed__pairs_notes(const heed_data *d, const heed__pairs *k, const heed_config *f,
                       heed_facts *out) {
    const heed__pairs_info *a = heed__pairs_about(k);
    char n[32];
    double unknown = heed__percent(a->val_target_unknown, a->val_target_tokens);
    note_columns(a, f, out);
    note_lengths(d, a, f, out);
    if (a->overlap)
        heed_fact_add(out, HEED_FACT, "note", "%s validation %s%s %s also in the training part",
                      heed_format_count(n, a->overlap), a->classes ? "text" : "source",
                      plural(a->overlap), verb(a->overlap));
    if (unknown > 2 && strcmp(heed_config_text(f, "tokenizer"), "word") == 0)
        heed_fact_add(out, HEED_FACT, "note",
                      "%.1f %% of the words of validation targets are unknown, so the model cannot "
                      "write them: `tokenizer = wordpiece` or char can",
                      unknown);
    heed__describe_specials(a->special_lines, out);
    if (a->test_rows)
        heed_fact_add(out, HEED_FACT, "note", "%s row%s %s of the test part, which only eval reads",
                      heed_format_count(n, a->test_rows), plural(a->test_rows), verb(a->test_rows));
    heed_text altered = {.c = d->c};
    if (!out->brief && heed__pairs_altered(k, false, &altered))
        heed_fact_add(out, HEED_FACT, "note", "%s", altered.s ? altered.s : "");
    heed_text_free(&altered);
    if (a->untaught)
        heed_fact_add(out, HEED_FACT, "note",
                      "%s validation %s%s %s a label that no training text has, first \"%.*s\": "
                      "add training texts with it",
                      heed_format_count(n, a->untaught), a->per_word ? "word" : "text",
                      plural(a->untaught), a->untaught == 1 ? "has" : "have",
                      (int)heed_label_cut(a->untaught_label, 40), a->untaught_label);
}

/* A vocabulary and the texts that it divides. */
typedef struct {
    const char *label;
    const heed_tokenizer *tokenizer;
    size_t tokens, unknown;
    int longest;
} side;

static void describe_side(side s, heed_facts *out) {
    char n1[32], n2[32], n3[32];
    heed_format_count(n1, (uint64_t)heed_vocab_size(s.tokenizer));
    heed_fact_add(out, HEED_FACT, s.label, "%s, %s tokens in the vocabulary",
                  heed_tokenizer_kind(s.tokenizer), n1);
    if (s.unknown || !out->brief)
        heed_fact_add(out, HEED_FACT, "",
                      "%s tokens, %s of them unknown (%.2f %%); the longest text has %d, [SEP] "
                      "counted",
                      heed_format_count(n2, s.tokens), heed_format_count(n3, s.unknown),
                      heed__percent(s.unknown, s.tokens), s.longest);
}

static void side_json(const char *key, side s, heed_text *o) {
    heed_json_open(o, key, '{');
    heed_json_text(o, "tokenizer", heed_tokenizer_kind(s.tokenizer));
    heed_json_int(o, "vocab", heed_vocab_size(s.tokenizer));
    heed_json_int(o, "tokens", (int64_t)s.tokens);
    heed_json_int(o, "unknown", (int64_t)s.unknown);
    heed_json_int(o, "longest", s.longest);
    heed_json_close(o, '}');
}

static bool is_word(const char *s, size_t n, const char *word) {
    return strlen(word) == n && memcmp(s, word, n) == 0;
}

/* How many texts, or words, of a part have a label. */
static size_t count_label(const heed_data *d, bool val, const char *name) {
    const heed__pairs_info *a = heed__pairs_about(d->batches);
    size_t count = 0, pairs = val ? a->val_pairs : a->pairs;
    heed_pair pair;
    for (size_t i = 0; i < pairs && heed__pairs_get(d->batches, val, i, &pair); i++) {
        if (!a->per_word) count += is_word(pair.target, pair.target_n, name);
        for (size_t at = 0, n; a->per_word && at < pair.target_n; at += n + 1) {
            for (n = 0; at + n < pair.target_n && pair.target[at + n] != ' ';) n++;
            count += is_word(pair.target + at, n, name);
        }
    }
    return count;
}

static void describe_labels(const heed_data *d, const heed__pairs_info *a, heed_facts *out) {
    enum { SHOWN = 20 };
    char n1[32], n2[32];
    heed_text *o = &out->json;
    heed_json_int(o, "unread", (int64_t)a->cut.unread);
    heed_json_int(o, "untaught", (int64_t)a->untaught);
    heed_fact_add(out, HEED_FACT_COLUMNS, "label", "training\tvalidation");
    heed_json_open(o, "labels", '[');
    for (int i = 0; i < a->classes; i++) {
        size_t count = count_label(d, false, a->labels[i]);
        size_t val = d->no_val ? 0 : count_label(d, true, a->labels[i]);
        if (i < SHOWN)
            heed_fact_add(out, HEED_FACT_ROW, a->labels[i], "%s\t%s", heed_format_count(n1, count),
                          heed_format_count(n2, val));
        heed_json_open(o, NULL, '{');
        heed_json_text(o, "label", a->labels[i]);
        heed_json_int(o, "count", (int64_t)count);
        heed_json_int(o, "val_count", (int64_t)val);
        heed_json_close(o, '}');
    }
    heed_json_close(o, ']');
    if (a->classes > SHOWN) heed_fact_add(out, HEED_FACT, "", "and %d more", a->classes - SHOWN);
}

/* A CoNLL file has a word and its label on each line, and an empty line between sentences. */
static bool are_single_words(const heed_data *d, const heed__pairs_info *a) {
    enum { READ = 100 };
    heed_pair pair;
    for (size_t i = 0; i < READ && i < a->pairs; i++)
        if (!heed__pairs_get(d->batches, false, i, &pair) ||
            memchr(pair.source, ' ', pair.source_n))
            return false;
    return a->per_word && a->pairs > 1;
}

/* Whether a third of the texts, of single characters or bytes, is longer than the block. Without a
 * validation part, those left out of training are also cut for evaluation. */
static bool wants_pieces(const heed_data *d, const heed__pairs_info *a) {
    const char *kind = heed_tokenizer_kind(d->tokenizer);
    size_t longer = d->no_val ? a->cut.texts : a->left_out + a->cut.texts;
    size_t all = a->pairs + a->left_out + (d->no_val ? 0 : a->val_pairs);
    return longer * 3 >= all && (strcmp(kind, "char") == 0 || strcmp(kind, "byte") == 0);
}

static void describe_conflicts(const heed_data *d, const heed__pairs_info *a, heed_facts *out) {
    enum { SHOWN = 3 };
    heed__pairs_conflict some[SHOWN];
    char n[32], text[HEED_QUOTE], line[1100];
    heed_text *o = &out->json;
    size_t count = heed__pairs_conflicts(d->batches, some, SHOWN);
    if (count)
        heed_fact_add(out, HEED_FACT, a->classes ? "conflicts" : "several",
                      "%s %s%s %s different %s", heed_format_count(n, count),
                      a->classes ? "text" : "source", plural(count), count == 1 ? "has" : "have",
                      a->classes ? "labels" : "targets");
    heed_json_int(o, "conflicts", (int64_t)count);
    heed_json_open(o, "conflicting", '[');
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const heed__pairs_conflict *k = &some[i];
        heed_text source = {.c = d->c};
        heed_text_put(&source, k->pair[0].source, k->pair[0].source_n);
        heed_fact_add(out, HEED_FACT, "", "%s:%zu and %s:%zu: %s", k->path[0], k->pair[0].line,
                      k->path[1], k->pair[1].line,
                      heed_quote(text, k->pair[0].source, k->pair[0].source_n));
        heed_json_open(o, NULL, '{');
        heed_json_text(o, "source", source.s);
        heed_json_open(o, "lines", '[');
        for (int j = 0; j < 2; j++) {
            snprintf(line, sizeof line, "%s:%zu", k->path[j], k->pair[j].line);
            heed_json_text(o, NULL, line);
        }
        heed_json_close(o, ']');
        heed_json_close(o, '}');
        heed_text_free(&source);
    }
    heed_json_close(o, ']');
}

static void add_samples(const heed_data *d, const heed__pairs_info *a, heed_facts *out) {
    enum { SHOWN = 3 };
    heed_pair pair;
    heed_fact_add(out, HEED_FACT_HEADING, "", "Samples of the training part:");
    for (size_t i = 0; i < SHOWN && i < a->pairs && heed__pairs_get(d->batches, false, i, &pair);
         i++) {
        char label[32];
        snprintf(label, sizeof label, "line %-7zu ", pair.line);
        heed_fact_add(out, HEED_FACT_ITEM, label, "%.*s", (int)pair.source_n, pair.source);
        heed_fact_add(out, HEED_FACT_ITEM, "          -> ", "%.*s", (int)pair.target_n,
                      pair.target);
    }
}

/* Everything that is not shown of a training run. */
static void describe_more(const heed_data *d, const heed__pairs_info *a, const side sides[2],
                          heed_facts *out) {
    const struct {
        const char *key;
        size_t value;
    } counts[] = {{"pairs", a->pairs},
                  {"val_pairs", d->no_val ? 0 : a->val_pairs},
                  {"extra_columns", a->extra_columns},
                  {"blank", a->blank},
                  {"empty", a->empty},
                  {"left_out", a->left_out},
                  {"cut", a->cut.texts},
                  {"overlap", a->overlap},
                  {"special_lines", a->special_lines}};
    heed_text *o = &out->json;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        heed_json_int(o, counts[i].key, (int64_t)counts[i].value);
    heed_json_bool(o, "header", a->header);
    side_json("source", sides[0], o);
    describe_conflicts(d, a, out);
    if (a->classes)
        describe_labels(d, a, out);
    else {
        heed_json_bool(o, "shared", !d->source);
        side_json("target", sides[1], o);
        heed_json_int(o, "val_target_unknown", (int64_t)a->val_target_unknown);
    }
    if (wants_pieces(d, a)) {
        heed_fact_add(out, HEED_FACT, "note",
                      "a third or more is longer than the block: `tokenizer = wordpiece` makes "
                      "tokens of several characters");
        snprintf(out->suggestion, sizeof out->suggestion, "tokenizer wordpiece");
    } else if (a->left_out)
        snprintf(out->suggestion, sizeof out->suggestion, "block %d",
                 a->longest > a->target_longest ? a->longest : a->target_longest);
    if (heed__percent(a->unknown, a->tokens) > 1 ||
        heed__percent(a->target_unknown, a->target_tokens) > 1)
        heed_fact_add(out, HEED_FACT, "note",
                      "more than 1 %% is unknown: a larger `vocab`, or another `tokenizer`");
    add_samples(d, a, out);
}

static bool describe(const heed_data *d, const heed_config *f, heed_facts *out) {
    const heed__pairs_info *a = heed__pairs_about(d->batches);
    const side sides[2] = {
        {a->classes ? "texts" : "source", d->source ? d->source : d->tokenizer, a->tokens,
         a->unknown, a->longest},
        {"target", d->tokenizer, a->target_tokens, a->target_unknown, a->target_longest}};
    size_t val = d->no_val ? 0 : a->val_pairs;
    char n[32];
    heed_fact_add(out, HEED_FACT, "training", "%s %s", heed_format_count(n, a->pairs),
                  noun(a, a->pairs));
    if (out->brief)
        heed_fact_add(out, HEED_FACT, "validation", "%s", val ? heed_format_count(n, val) : "none");
    else
        heed_fact_add(out, HEED_FACT, "validation", "%s %s; no %s is in both parts",
                      heed_format_count(n, val), noun(a, val), a->classes ? "text" : "source");
    describe_side(sides[0], out);
    if (!a->classes) describe_side(sides[1], out);
    if (!a->classes && !d->source)
        heed_fact_add(out, HEED_FACT, "", "one vocabulary for both: `share-vocab`");
    if (a->classes && !out->brief) heed_fact_add(out, HEED_FACT, "labels", "%d", a->classes);
    heed__pairs_notes(d, d->batches, f, out);
    if (a->classes) heed__describe_classes(d, out);
    if (are_single_words(d, a))
        heed_fact_add(out, HEED_FACT, "note",
                      "every sentence has one word: each line is expected to have the words of a "
                      "sentence, a tab and their labels");
    if (!out->brief) describe_more(d, a, sides, out);
    return true;
}

/* ---- the kinds ---- */

static size_t count(const heed_data *d, int label) { return heed__pairs_count(d->batches, label); }
static bool batch(const heed_data *d, heed_batch_at at, heed_batch *out) {
    return heed__pair_batch(d->batches, at, out);
}
static uint64_t eval_batches(const heed_data *d, int rows) {
    return heed__pairs_eval_batches(d->batches, rows);
}
static uint64_t epoch_batches(const heed_data *d, int rows) {
    return heed__pairs_epoch_batches(d->batches, rows);
}

static size_t inputs(const heed_data *d, bool val) {
    const heed__pairs_info *a = heed__pairs_about(d->batches);
    return val ? a->val_pairs : a->pairs;
}

static bool input(const heed_data *d, bool val, size_t index, heed_item *out) {
    heed_item_free(out);
    out->count = !d->kind->label;
    return heed__pairs_get(d->batches, val, index, &out->pair) &&
           heed_text_put(&out->source, out->pair.source, out->pair.source_n) &&
           heed_text_put(&out->source, "", 0) &&
           heed_text_put(&out->targets, out->pair.target, out->pair.target_n) &&
           heed_text_put(&out->targets, "", 1);
}

static bool report_labels(heed_scores *s, heed_facts *out) {
    return heed__report_classes(s, s->data->batches, out);
}
static bool report_pairs(heed_scores *s, heed_facts *out) {
    return heed__report_targets(s, s->data->batches, out);
}

#define LINES                                                                                      \
    .open = open_data, .close = close_data, .batch = batch, .eval_batches = eval_batches,          \
    .epoch_batches = epoch_batches, .inputs = inputs, .input = input, .describe = describe

const heed_data_kind heed_text_pairs = {
    LINES,
    .noun = "a file of pairs of texts, TSV, CSV or JSONL, or two parallel texts",
    .reads = "pairs of texts",
    .item = "tok",
    .items = "pairs",
    .use = "translate",
    .example = "dates.tsv",
    .files = 2,
    .perplexity = true,
    .options = translation_options,
    .target = heed_example_target,
    .ask = heed__ask_target,
    .made = "pairs translated",
    .report = report_pairs,
};

#define LABELLED                                                                                   \
    LINES, .items = "texts", .reads = "texts", .use = "classify", .files = 1,                      \
           .options = label_options, .count = count, .report = report_labels

const heed_data_kind heed_texts_labelled = {
    LABELLED,
    .noun = "a file of labels and texts, TSV, CSV or JSONL",
    .item = "text",
    .label = "text",
    .example = "reviews.tsv",
    .ask = heed__ask_class,
    .score = heed__score_classes,
};
const heed_data_kind heed_texts_tagged = {
    LABELLED,
    .noun = "a file of words and their labels, TSV, CSV, JSONL, CoNLL or CoNLL-U",
    .item = "word",
    .label = "word",
    .example = "words.tsv",
    .ask = heed__ask_words,
    .score = heed__score_tags,
};
