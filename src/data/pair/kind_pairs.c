/* kind_pairs.c -- lines of two texts as data: tokenizers, trained or opened, and the pairs. */
#include "core/os.h"
#include "data/kind.h"
#include "data/pair/pairs.h"

#include <stdio.h>
#include <string.h>

static const heed_option translation_options[] = {
    {"tokenizer", HEED_TEXT, "char", 0, 0, NULL,
     "char, byte, word, wordpiece or bpe, trained on the pairs; or the path of a run, "
     "a " HEED__TOKENIZER_FILES,
     "Pairs"},
    {"source-tokenizer", HEED_TEXT, "", 0, 0, NULL,
     "another one for the source, if `share-vocab` is off; none: of the same kind", "Pairs"},
    {"lower", HEED_BOOL, "false", 0, 0, NULL, "word and wordpiece: lower-case the text", "Pairs"},
    HEED__COLUMNS("SOURCE,TARGET or TEXT,LABEL", "Pairs"),
    {"val", HEED_TEXT, "", 0, 0, NULL, "a separate file for validation", "Pairs"},
    HEED__VAL_COLUMNS("Pairs"),
    {"val-split", HEED_REAL, "0.1", 0, 0.9, NULL, "share of the pairs kept for validation",
     "Pairs"},
    {0}};

static const heed_option label_options[] = {
    {"tokenizer", HEED_TEXT, "word", 0, 0, NULL,
     "char, byte, word, wordpiece or bpe, trained on the texts; or the path of a run, "
     "a " HEED__TOKENIZER_FILES,
     "Texts"},
    {"lower", HEED_BOOL, "false", 0, 0, NULL, "word and wordpiece: lower-case the text", "Texts"},
    HEED__COLUMNS("SOURCE,TARGET or TEXT,LABEL", "Texts"),
    {"val", HEED_TEXT, "", 0, 0, NULL, "a separate file for validation", "Texts"},
    HEED__VAL_COLUMNS("Texts"),
    {"val-split", HEED_REAL, "0.1", 0, 0.9, NULL, "share of the texts kept for validation",
     "Texts"},
    {"truncate", HEED_TEXT, "head", 0, 0, "head|tail|head+tail",
     "what a text longer than the block keeps: its head, its tail, or half a block of each",
     "Texts"},
    HEED__BALANCE("Texts"),
    {0}};

/* ---- tokenizers ---- */

/* The text that a tokenizer is trained on. Line ends are not part of any text: characters are
 * learned without. side: as in heed_pairs_text. */
static bool read_side(const heed_pairs *k, int side, const char *kind, heed_text *text) {
    if (!heed_pairs_text(k, side, text)) return false;
    size_t kept = 0;
    for (size_t i = 0; i < text->n; i++)
        if (text->s[i] != '\n' || strcmp(kind, "char") != 0) text->s[kept++] = text->s[i];
    text->n = kept;
    return true;
}

heed_tokenizer *heed__pairs_train_tokenizer(heed_ctx *c, const heed_config *f, const heed_pairs *k,
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

bool heed__pairs_extend_tokenizer(const heed_config *f, const heed_pairs *k, int side,
                                  heed_tokenizer **t) {
    heed_text text = {.c = (*t)->c};
    heed_tokenizer *more = NULL;
    if (read_side(k, side, heed_tokenizer_kind(*t), &text))
        more = heed_tokenizer_extend(*t, text.s, text.n, (int)heed_config_int(f, "vocab"), true);
    heed_text_free(&text);
    heed_tokenizer_free(*t);
    return (*t = more) != NULL;
}

/* Opens or trains the source's tokenizer. If a run is named, its source tokenizer is used. */
static heed_tokenizer *make_source(heed_ctx *c, const heed_config *f, const heed_pairs *k) {
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
    const heed_pairs_info *a = heed_pairs_about(d->batches);
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
    heed_pairs_args args = {.kind = translates                      ? HEED_TRANSLATION
                                    : d->kind == &heed_texts_tagged ? HEED_TAGS
                                                                    : HEED_CLASSES,
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
    d->batches = heed_pairs_open(d->c, heed_config_text(f, "data"), &args);
    d->no_val = split <= 0 && !*val;
    d->part = d->no_val ? HEED_TRAIN_PART : HEED_VAL_PART;
    return d->batches != NULL;
}

static bool open_data(heed_data *d, heed_config *f, const heed_data_args *a) {
    bool translates = !d->kind->label;
    if (!a->eval && !heed__texts_last(d->c, f)) return false;
    if (!open_pairs(d, f, a)) return false;
    if (!d->tokenizer && !find_tokenizers(d, f, a)) return false;
    const heed_pairs_info *about = heed_pairs_about(d->batches);
    d->checksum = about->checksum;
    if (!translates && !a->eval && !check_labels(d, f)) return false;
    d->labels = about->classes ? about->labels : NULL;
    d->label_count = about->classes;
    if (!heed_pairs_encode(d->batches, d->source ? d->source : d->tokenizer,
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
        d->class_weights = heed_pairs_balance(d->batches);
    return !heed__stopped(d->c);
}

static void close_data(heed_data *d) { heed_pairs_close(d->batches); }

static size_t count(const heed_data *d, int label) { return heed_pairs_count(d->batches, label); }
static bool batch(const heed_data *d, heed_batch_at at, heed_batch *out) {
    return heed_pair_batch(d->batches, at, out);
}
static uint64_t eval_batches(const heed_data *d, int rows) {
    return heed_pairs_eval_batches(d->batches, rows);
}
static uint64_t epoch_batches(const heed_data *d, int rows) {
    return heed_pairs_epoch_batches(d->batches, rows);
}

#define LINES                                                                                      \
    .lines = true, .tables = true, .varied = true, .open = open_data, .close = close_data,         \
    .batch = batch, .eval_batches = eval_batches, .epoch_batches = epoch_batches

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
};

#define LABELLED                                                                                   \
    LINES, .items = "texts", .reads = "texts", .use = "classify", .files = 1,                      \
           .options = label_options, .count = count

const heed_data_kind heed_texts_labelled = {
    LABELLED,
    .noun = "a file of labels and texts, TSV, CSV or JSONL",
    .item = "text",
    .label = "text",
    .example = "reviews.tsv",
    .ask = heed__ask_class,
};
const heed_data_kind heed_texts_tagged = {
    LABELLED,
    .noun = "a file of words and their labels, TSV, CSV, JSONL, CoNLL or CoNLL-U",
    .item = "word",
    .label = "word",
    .example = "words.tsv",
    .ask = heed__ask_words,
};
