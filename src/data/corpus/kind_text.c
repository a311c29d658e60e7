/* kind_text.c -- text files as data: a tokenizer, trained or opened, and a corpus. */
#include "core/os.h"
#include "data/corpus/corpus.h"
#include "data/kind.h"

#include <string.h>

static const heed_option options[] = {
    {"tokenizer", HEED_OPTION_STRING, "char", 0, 0, NULL,
     "char, byte, word, wordpiece or bpe, trained on the text; or the path of a run, "
     "a " HEED__TOKENIZER_FILES,
     "Text"},
    {"vocab", HEED_OPTION_INT, "0", 0, 1 << 24, NULL,
     "tokens in the vocabulary, at most; 0: no limit for char and word, 8192 for wordpiece and bpe",
     "Text"},
    {"lower", HEED_OPTION_BOOL, "false", 0, 0, NULL, "word and wordpiece: lower-case the text",
     "Text"},
    {"packing", HEED_OPTION_STRING, "blocks", 0, 0, "blocks|lines",
     "a row is a window of the whole text, or one line", "Text"},
    {"val", HEED_OPTION_STRING, "", 0, 0, NULL, "a separate file for validation", "Text"},
    {"val-split", HEED_OPTION_REAL, "0.1", 0, 0.9, NULL, "share of the text kept for validation",
     "Text"},
    {"split", HEED_OPTION_STRING, "random", 0, 0, "random|tail",
     "validation is a random choice among 100 pieces, or the end of the file", "Text"},
    {"token-cache", HEED_OPTION_BOOL, "true", 0, 0, NULL,
     "keep the tokens of a text of 32 MB or more in the run, 4 bytes each, for resume and eval; "
     "not those of char and byte, which are read as fast without it",
     "Text"},
    HEED_WHEN("token-cache", "tokenizer!=char|byte"),
    {0}};

static heed_tokenizer *train_tokenizer(const heed_data *d, const heed_config *f, const char *kind,
                                       heed__watch *watch) {
    heed__source text = {.path = heed_config_text(f, "data"), .watch = watch};
    return heed__tokenizer_train(d->c, &text,
                                 (heed_tokenizer_args){.kind = kind,
                                                       .vocab = (int)heed_config_int(f, "vocab"),
                                                       .lower = heed_config_bool(f, "lower"),
                                                       .specials = d->kind->mask});
}

/* Opens the tokenizer at a path; with `extend`, adds the text's characters. */
static heed_tokenizer *open_tokenizer(const heed_data *d, const heed_config *f, const char *name,
                                      bool extend, heed__watch *watch) {
    heed_tokenizer *k = heed__tokenizer_at(d->c, "tokenizer", name);
    if (!k || !extend) return k;
    heed__source text = {.path = heed_config_text(f, "data"), .watch = watch};
    heed_tokenizer *more =
        heed__tokenizer_extend(k, &text, (int)heed_config_int(f, "vocab"), d->kind->mask);
    heed_tokenizer_free(k);
    return more;
}

/* A saved tokenizer of characters or bytes keeps no tokens either: the condition above knows the
 * words `char` and `byte` only. */
static bool check_cache(const heed_data *d, const heed_config *f) {
    return d->tokenizer->kind >= HEED__WORD ||
           heed_config_rank(f, "token-cache") != HEED_FROM_FLAG ||
           heed_fail(d->c, HEED_USAGE,
                     "`token-cache` has no effect here: expected a tokenizer other than char or "
                     "byte, found `tokenizer = %s`, which is %s",
                     heed_config_text(f, "tokenizer"), heed_tokenizer_kind(d->tokenizer));
}

/* Opens the tokenizer that f names, or trains it on the text; a run already has one. */
static bool find_tokenizer(heed_data *d, const heed_config *f, const heed_data_args *a,
                           heed__watch *watch) {
    const char *name = heed_config_text(f, "tokenizer");
    if (!d->tokenizer)
        d->tokenizer = a->run                       ? heed__tokenizer_in(d->c, a->run, "")
                       : heed__kind_find(name) >= 0 ? train_tokenizer(d, f, name, watch)
                                                    : open_tokenizer(d, f, name, a->extend, watch);
    if (!d->tokenizer || !check_cache(d, f)) return false;
    if (!d->kind->mask || heed_tokenizer_specials(d->tokenizer).mask >= 0) return true;
    return heed_fail(d->c, HEED_USAGE,
                     "a masked model needs a vocabulary with [MASK]: the %s tokenizer has none; "
                     "hint: `tokenizer = wordpiece`",
                     heed_tokenizer_kind(d->tokenizer));
}

static bool takes_census(const heed_config *f, const heed_data_args *a) {
    return a->census && heed__file_size(heed_config_text(f, "data")) <= a->census;
}

static bool open_corpus(heed_data *d, const heed_config *f, const heed_data_args *how,
                        heed__watch *watch) {
    const char *val = heed_config_text(f, "val");
    bool lines = strcmp(heed_config_text(f, "packing"), "lines") == 0;
    heed__corpus_args a = {.packing = lines ? HEED_LINES : HEED_BLOCKS,
                           .bracket = d->kind->mask,
                           .block = (int)heed_config_int(f, "block"),
                           .val_split = heed_config_real(f, "val-split"),
                           .tail = strcmp(heed_config_text(f, "split"), "tail") == 0,
                           .val_path = *val && !d->all ? val : NULL,
                           .eval = d->all,
                           .census = takes_census(f, how),
                           .cache = how->cache,
                           .keep = heed_config_bool(f, "token-cache")};
    if (!a.keep) a.cache = NULL;
    heed__corpus *corpus =
        heed__corpus_open(d->c, heed_config_text(f, "data"), d->tokenizer, a, watch);
    if (!corpus) return false;
    heed__corpus_info about = heed__corpus_about(corpus);
    d->batches = corpus;
    d->checksum = about.checksum;
    d->no_val = about.val_tokens == 0;
    d->unknown =
        (double)(about.unknown + about.val_unknown) / (double)(about.tokens + about.val_tokens);
    d->part = d->no_val ? HEED_TRAIN_PART : HEED_VAL_PART;
    return true;
}

/* The bytes that will be read, approximately: for what has no size, such as a pipe, none. */
static uint64_t bytes_to_read(const heed_data *d, const heed_config *f, const heed_data_args *a) {
    const char *val = heed_config_text(f, "val"), *kind = heed_config_text(f, "tokenizer");
    uint64_t data = heed__file_size(heed_config_text(f, "data"));
    uint64_t passes = !takes_census(f, a) ? 1 : *val ? 2 : 3;
    bool counts = !d->tokenizer && !a->run && (a->extend || heed__kind_find(kind) >= 0);
    counts = counts && strcmp(kind, "byte") != 0; /* its vocabulary is known */
    return (passes + counts) * data + (*val && !d->all ? passes * heed__file_size(val) : 0);
}

/* Evaluation reads its text once, so it may be a pipe. */
static bool open_data(heed_data *d, heed_config *f, const heed_data_args *a) {
    if (!a->eval && !heed__texts_last(d->c, f)) return false;
    heed__watch watch = {a->progress, a->user, 0, bytes_to_read(d, f, a)};
    return find_tokenizer(d, f, a, &watch) && open_corpus(d, f, a, &watch);
}

static void close_data(heed_data *d) { heed__corpus_close(d->batches); }

/* ---- what a text holds ---- */

/* The first lines that are not empty. */
static void add_sample(const heed_data *d, const char *path, heed_facts *out) {
    enum { LINES = 3, BYTES = 1 << 14 };
    heed__file file;
    size_t n = 0;
    int shown = 0;
    char text[BYTES];
    if (!heed__file_open(d->c, path, &file)) return;
    heed__file_read(d->c, &file, text, BYTES, &n);
    heed__file_close(&file);
    heed_fact_add(out, HEED_FACT_HEADING, "", "Sample:");
    for (size_t at = n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0, length;
         at < n && shown < LINES; at += length + 1) {
        for (length = 0; at + length < n && text[at + length] != '\n';) length++;
        if (!length) continue;
        heed_fact_add(out, HEED_FACT_ITEM, "", "%.*s", (int)length, text + at);
        shown++;
    }
}

/* Whether lines are broken at a width, so that they are no examples of their own: long ones, of
 * which many begin in lower case, or that blank lines gather in paragraphs. */
static bool is_prose(const heed__text_facts *t) {
    enum { LONG = 30 };
    size_t full = t->lines - t->empty;
    return t->bytes > LONG * full && (t->continued * 5 > full || t->empty * 50 > full);
}

static void add_notes(const heed_config *f, const heed__corpus_info *a, const heed__text_facts *t,
                      heed_facts *out) {
    int64_t block = heed_config_int(f, "block");
    size_t unknown = a->unknown + a->val_unknown, tokens = a->tokens + a->val_tokens;
    char n[32];
    if (a->cut_lines)
        heed_fact_add(out, HEED_FACT, "note", "%s line%s cut at `block = %lld`",
                      heed_format_count(n, a->cut_lines), a->cut_lines == 1 ? " is" : "s are",
                      (long long)block);
    if (out->brief) return;
    if (unknown * 100 > tokens)
        heed_fact_add(out, HEED_FACT, "note",
                      "more than 1 %% is unknown: a larger `vocab`, or another `tokenizer`");
    heed__describe_specials(a->special_lines, out);
    if (a->val_tokens == 0)
        heed_fact_add(out, HEED_FACT, "note",
                      "no validation part: `val-split = X` or `val = FILE` makes one");
    bool blocks = strcmp(heed_config_text(f, "packing"), "blocks") == 0;
    double longest = (double)t->longest * (double)tokens / (double)t->bytes; /* in tokens, about */
    if (blocks && t->lines > 50 && longest + 2 < (double)block && !is_prose(t))
        heed_fact_add(out, HEED_FACT, "note",
                      "every line fits into a block: `packing = lines` keeps them apart");
}

static void add_overlap(const heed__corpus_info *a, const heed__text_facts *t, heed_facts *out) {
    char n1[32], n2[32];
    bool much = a->overlap * 10 > a->val_lines;
    if (!a->val_lines || (out->brief && !much)) return;
    if (!out->brief && a->lines > t->lines - t->empty) /* the split cut lines */
        heed_fact_add(out, HEED_FACT, "overlap",
                      "unknown: lines are cut into pieces, %s of them for validation",
                      heed_format_count(n1, a->val_lines));
    else
        heed_fact_add(out, HEED_FACT, "overlap",
                      "%s of %s validation lines are also in the training part%s",
                      heed_format_count(n1, a->overlap), heed_format_count(n2, a->val_lines),
                      much ? ": the validation loss says little" : "");
}

static void add_counts(const heed_data *d, const heed__corpus_info *a, const heed__text_facts *t,
                       heed_facts *out) {
    char n1[32], n2[32], n3[32];
    size_t tokens = a->tokens + a->val_tokens, unknown = a->unknown + a->val_unknown;
    if (!out->brief) {
        heed_fact_add(out, HEED_FACT, "encoding", "UTF-8, %s bytes, %s characters",
                      heed_format_count(n1, t->bytes), heed_format_count(n2, t->characters));
        if (t->returns)
            heed_fact_add(out, HEED_FACT, "line ends",
                          "CR LF: %s carriage returns are read as line ends, and not counted",
                          heed_format_count(n1, t->returns));
        heed_fact_add(out, HEED_FACT, "lines", "%s, %s of them empty; the longest has %s bytes",
                      heed_format_count(n1, t->lines), heed_format_count(n2, t->empty),
                      heed_format_count(n3, t->longest));
    }
    heed_fact_add(out, HEED_FACT, "vocabulary", "%s, %s tokens", heed_tokenizer_kind(d->tokenizer),
                  heed_format_count(n1, (uint64_t)heed_vocab_size(d->tokenizer)));
    heed_fact_add(out, HEED_FACT, "training", "%s tokens", heed_format_count(n1, a->tokens));
    heed_fact_add(out, HEED_FACT, "validation", "%s tokens (%.1f %%)",
                  heed_format_count(n1, a->val_tokens), heed__percent(a->val_tokens, tokens));
    if (unknown || !out->brief)
        heed_fact_add(out, HEED_FACT, "unknown", "%s tokens (%.2f %%)",
                      heed_format_count(n1, unknown), heed__percent(unknown, tokens));
    if (out->brief && a->kept)
        heed_fact_add(out, HEED_FACT, "kept",
                      "tokens.bin in the run has the tokens, %s, for resume and eval "
                      "(`token-cache = false`)",
                      heed_format_bytes(n1, (double)a->kept));
}

static bool describe(const heed_data *d, const heed_config *f, heed_facts *out) {
    heed_text *o = &out->json;
    heed__corpus_info a = heed__corpus_about(d->batches);
    heed__text_facts t = {0};
    const char *path = heed_config_text(f, "data");
    if (!out->brief && !heed__text_survey(d->c, path, &t)) return false;
    add_counts(d, &a, &t, out);
    add_overlap(&a, &t, out);
    add_notes(f, &a, &t, out);
    if (!out->brief) add_sample(d, path, out);
    const struct {
        const char *key;
        size_t value;
    } counts[] = {{"bytes", t.bytes},
                  {"characters", t.characters},
                  {"lines", t.lines},
                  {"empty_lines", t.empty},
                  {"longest_line", t.longest},
                  {"vocab", (size_t)heed_vocab_size(d->tokenizer)},
                  {"tokens", a.tokens},
                  {"val_tokens", a.val_tokens},
                  {"unknown", a.unknown + a.val_unknown},
                  {"val_lines", a.val_lines},
                  {"overlap", a.overlap},
                  {"special_lines", a.special_lines}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        heed_json_int(o, counts[i].key, (int64_t)counts[i].value);
    heed_json_text(o, "tokenizer", heed_tokenizer_kind(d->tokenizer));
    return true;
}

/* ---- the kinds ---- */

static bool masked_batch(const heed_data *d, heed_batch_at at, heed_batch *out) {
    return heed__mlm_batch(d->batches, at, at.share > 0 ? at.share : 0.15, out);
}
static bool next_batch(const heed_data *d, heed_batch_at at, heed_batch *out) {
    return heed__gpt_batch(d->batches, at, out);
}
static uint64_t eval_batches(const heed_data *d, int rows) {
    return heed__corpus_eval_batches(d->batches, rows);
}
static uint64_t epoch_batches(const heed_data *d, int rows) {
    return heed__corpus_epoch_batches(d->batches, rows);
}

/* Tokens of characters and bytes are made faster than they are read. */
static void begun(const heed_data *d, const char *run) {
    enum { LARGE = 32 << 20 };
    heed__corpus_keep(d->batches, run, d->tokenizer->kind >= HEED__WORD ? LARGE : SIZE_MAX);
}

#define TEXTS                                                                                      \
    .noun = "a text file", .reads = "texts", .item = "tok", .items = "tokens",                     \
    .example = "book.txt", .perplexity = true, .options = options, .open = open_data,              \
    .close = close_data, .eval_batches = eval_batches, .epoch_batches = epoch_batches,             \
    .begun = begun, .describe = describe

const heed_data_kind heed_texts_masked = {TEXTS, .use = "fill", .mask = true, .batch = masked_batch,
                                          .ask = heed__ask_masks};
const heed_data_kind heed_texts_next = {TEXTS, .use = "generate", .ahead = 1, .batch = next_batch,
                                        .ask = heed__ask_next};
