/* text.c -- the data of tasks on text: a tokenizer, made or opened, and a corpus. */
#include "kinds/training.h"

#include <stdlib.h>
#include <string.h>

static const heed_option text_options[] = {
    {"tokenizer", HEED_TEXT, "char", 0, 0, NULL,
     "char, byte, word or wordpiece, trained on the text; or the path of a run or a vocab.txt",
     "Text"},
    {"vocab", HEED_INT, "0", 0, 1 << 24, NULL,
     "most tokens in the vocabulary; 0: no bound for char and word, 8192 for wordpiece", "Text"},
    {"lower", HEED_BOOL, "false", 0, 0, NULL, "word and wordpiece: lower-case the text", "Text"},
    {"packing", HEED_CHOICE, "blocks", 0, 0, "blocks|lines",
     "a row is a window of the whole text, or one line", "Text"},
    {"val", HEED_TEXT, "", 0, 0, NULL, "validation file of its own", "Text"},
    {"val-split", HEED_REAL, "0.1", 0, 0.9, NULL, "share of the text kept for validation", "Text"},
    {"split", HEED_CHOICE, "random", 0, 0, "random|tail",
     "validation is a random choice among 100 pieces, or the end of the file", "Text"},
    {0}};

static const char *const kinds[] = {"char", "byte", "word", "wordpiece", NULL};

bool is_tokenizer_kind(const char *name) {
    for (int i = 0; kinds[i]; i++)
        if (strcmp(kinds[i], name) == 0) return true;
    return false;
}

heed_tokenizer *tokenizer_at(heed_ctx *c, const char *key, const char *name) {
    if (is_file(name) || is_directory(name)) return heed_tokenizer_open(c, name);
    const char *near = heed_closest(name, kinds);
    heed_fail(c, HEED_USAGE,
              "--%s %s: expected char, byte, word, wordpiece, or the path of a run or a "
              "vocab.txt%s%s%s",
              key, name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return NULL;
}

static heed_tokenizer *train_tokenizer(heed_ctx *c, const task *k, const heed_config *f,
                                       const char *kind) {
    size_t n = 0;
    char *text = heed_text_read(c, heed_config_text(f, "data"), &n);
    heed_tokenizer *made =
        heed_tokenizer_train(c, text, n,
                             (heed_tokenizer_args){.kind = kind,
                                                   .vocab = (int)heed_config_int(f, "vocab"),
                                                   .lower = heed_config_bool(f, "lower"),
                                                   .specials = k->masked});
    free(text);
    return made;
}

/* A tokenizer of a kind, trained on the data, or one that stands in a file. */
static heed_tokenizer *make_tokenizer(heed_ctx *c, const task *k, const heed_config *f) {
    const char *name = heed_config_text(f, "tokenizer");
    return is_tokenizer_kind(name) ? train_tokenizer(c, k, f, name)
                                   : tokenizer_at(c, "tokenizer", name);
}

static bool check_specials(heed_ctx *c, const task *k, const heed_tokenizer *tokenizer) {
    if (!k->masked || heed_tokenizer_specials(tokenizer).mask >= 0) return true;
    return heed_fail(c, HEED_USAGE,
                     "task %s needs a vocabulary with [MASK]: the %s tokenizer has none; hint: "
                     "--tokenizer wordpiece",
                     k->name, heed_tokenizer_kind(tokenizer));
}

heed_corpus *text_corpus(heed_ctx *c, const task *k, const heed_config *f, const heed_tokenizer *t,
                         bool eval) {
    const char *val = heed_config_text(f, "val");
    bool lines = strcmp(heed_config_text(f, "packing"), "lines") == 0;
    return heed_corpus_open(
        c, heed_config_text(f, "data"), t,
        (heed_corpus_args){.packing = lines ? HEED_LINES : HEED_BLOCKS,
                           .bracket = k->masked,
                           .block = (int)heed_config_int(f, "block"),
                           .val_split = heed_config_real(f, "val-split"),
                           .tail = strcmp(heed_config_text(f, "split"), "tail") == 0,
                           .val_path = *val && !eval ? val : NULL,
                           .eval = eval});
}

static bool open_corpus(heed_ctx *c, const task *k, const heed_config *f, data_set *d) {
    heed_corpus *corpus = text_corpus(c, k, f, d->tokenizer, false);
    if (!corpus) return false;
    heed_corpus_info about = heed_corpus_about(corpus);
    d->batches = corpus;
    d->checksum = about.checksum;
    d->no_val = about.val_tokens == 0;
    return true;
}

bool text_lasts(heed_ctx *c, const heed_config *f, const char *key) {
    const char *path = heed_config_text(f, key);
    return !is_stream(path) ||
           heed_fail(c, HEED_DATA,
                     "%s is no regular file: %s: expected a text that can be read again; hint: "
                     "save it in a file first",
                     key, path);
}

/* The tokenizer that f names is opened, or trained on the text; a run has one already. */
static bool open_text(heed_ctx *c, const task *k, heed_config *f, const char *run, data_set *out) {
    *out = (data_set){.task = k};
    if (!text_lasts(c, f, "data") || !text_lasts(c, f, "val")) return false;
    out->tokenizer = run ? heed_tokenizer_open(c, run) : make_tokenizer(c, k, f);
    return out->tokenizer && check_specials(c, k, out->tokenizer) && open_corpus(c, k, f, out);
}

static void close_text(data_set *d) {
    heed_corpus_free(d->batches);
    heed_tokenizer_free(d->tokenizer);
    *d = (data_set){0};
}

static void banner_text(const data_set *d, const heed_config *f) {
    heed_corpus_info a = heed_corpus_about(d->batches);
    char n1[32], n2[32], n3[32];
    double unknown = (double)(a.unknown + a.val_unknown);
    double tokens = (double)(a.tokens + a.val_tokens);
    banner_row("data", "%s: %s tokens for training, %s for validation", heed_config_text(f, "data"),
               heed_format_count(n1, a.tokens),
               a.val_tokens ? heed_format_count(n2, a.val_tokens) : "none");
    banner_row("vocabulary", "%s tokens, %s%s",
               heed_format_count(n3, (uint64_t)heed_vocab_size(d->tokenizer)),
               heed_tokenizer_kind(d->tokenizer), unknown > 0 ? "" : ", none unknown");
    if (unknown > 0) banner_row("", "%.2f %% of the text is unknown to it", 100 * unknown / tokens);
    if (a.cut_lines)
        banner_row("", "%s lines are longer than the block and were cut",
                   heed_format_count(n1, a.cut_lines));
}

static void steps_text(const heed_config *f, uint64_t epoch_batches) {
    char n[64];
    banner_row("epoch", "%s%lld x %lld tokens", epoch_steps(n, f, epoch_batches),
               (long long)heed_config_int(f, "batch"), (long long)heed_config_int(f, "block"));
}

static void evaluated_text(progress *g, const heed_report *r) {
    if (g->p->task->model == &heed_model_gpt && r->self) sample_text(g, r);
}

const data_kind text_kind = {
    .noun = "a text file",
    .item = "tok",
    .perplexity = true,
    .options = text_options,
    .open = open_text,
    .close = close_text,
    .banner = banner_text,
    .steps = steps_text,
    .evaluated = evaluated_text,
    .next = next_text,
    .eval = eval_text,
    .check = check_text,
};
