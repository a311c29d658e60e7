/* pairs.c -- the data of tasks on pairs of texts: tokenizers, made or opened, and the pairs.
 */
#include "kinds/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option translation_options[] = {
    {"tokenizer", HEED_TEXT, "char", 0, 0, NULL,
     "char, byte, word or wordpiece, trained on the pairs; or the path of a run or a vocab.txt",
     "Pairs"},
    {"source-tokenizer", HEED_TEXT, "", 0, 0, NULL,
     "another one for the source, without --share-vocab; none: of the same kind", "Pairs"},
    {"lower", HEED_BOOL, "false", 0, 0, NULL, "word and wordpiece: lower-case the text", "Pairs"},
    {"val", HEED_TEXT, "", 0, 0, NULL, "validation file of its own", "Pairs"},
    {"val-split", HEED_REAL, "0.1", 0, 0.9, NULL, "share of the pairs kept for validation",
     "Pairs"},
    {0}};

static const heed_option label_options[] = {
    {"tokenizer", HEED_TEXT, "word", 0, 0, NULL,
     "char, byte, word or wordpiece, trained on the texts; or the path of a run or a vocab.txt",
     "Texts"},
    {"lower", HEED_BOOL, "false", 0, 0, NULL, "word and wordpiece: lower-case the text", "Texts"},
    {"val", HEED_TEXT, "", 0, 0, NULL, "validation file of its own", "Texts"},
    {"val-split", HEED_REAL, "0.1", 0, 0.9, NULL, "share of the texts kept for validation",
     "Texts"},
    {0}};

heed_pair_kind pair_kind_of(const task *k) {
    return k->kind == &translation_kind ? HEED_TRANSLATION
           : k->kind == &class_kind     ? HEED_CLASSES
                                        : HEED_TAGS;
}

/* ---- tokenizers ---- */

/* The ends of lines are in no text: characters to be learned are without them. */
static void join_lines(heed_text *t) {
    size_t kept = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->s[i] != '\n') t->s[kept++] = t->s[i];
    t->n = kept;
}

/* side: as heed_pairs_text has it. */
static heed_tokenizer *train_side(heed_ctx *c, const heed_config *f, const heed_pairs *k, int side,
                                  const char *kind) {
    heed_text text = {.c = c};
    int64_t vocab = heed_config_int(f, "vocab"), own = 0;
    if (side == 0 && heed_config_has(f, "source-vocab")) own = heed_config_int(f, "source-vocab");
    heed_tokenizer_args a = {.kind = kind,
                             .vocab = (int)(own ? own : vocab),
                             .lower = heed_config_bool(f, "lower"),
                             .specials = true};
    heed_tokenizer *made = NULL;
    bool ok = heed_pairs_text(k, side, &text);
    if (ok && strcmp(kind, "char") == 0) join_lines(&text);
    if (ok) made = heed_tokenizer_train(c, text.s, text.n, a);
    heed_text_free(&text);
    return made;
}

/* Where a run keeps the tokenizer of its source, if it has one of its own. */
static const char *source_folder(const char *run, char path[1024]) {
    snprintf(path, 1024, "%s/source-tokenizer", run);
    return is_directory(path) ? path : NULL;
}

static heed_tokenizer *make_tokenizer(heed_ctx *c, const heed_config *f, const heed_pairs *k,
                                      int side) {
    const char *name = heed_config_text(f, "tokenizer");
    return is_tokenizer_kind(name) ? train_side(c, f, k, side, name)
                                   : tokenizer_at(c, "tokenizer", name);
}

static heed_tokenizer *make_source(heed_ctx *c, const heed_config *f, const heed_pairs *k) {
    char path[1024];
    const char *own = heed_config_text(f, "source-tokenizer");
    const char *key = *own ? "source-tokenizer" : "tokenizer";
    const char *name = heed_config_text(f, key);
    if (is_tokenizer_kind(name)) return train_side(c, f, k, 0, name);
    if (!*own && source_folder(name, path)) return heed_tokenizer_open(c, path);
    return tokenizer_at(c, key, name);
}

/* Those that f names are opened, or trained on the pairs; a run has its own already. */
static bool find_tokenizers(heed_ctx *c, const heed_config *f, const char *run, data_set *d) {
    char path[1024];
    bool translates = d->task->kind == &translation_kind;
    bool shared = translates && heed_config_bool(f, "share-vocab");
    if (shared && *heed_config_text(f, "source-tokenizer"))
        return heed_fail(c, HEED_USAGE,
                         "--source-tokenizer is of a vocabulary of the source's own: expected "
                         "--no-share-vocab with it");
    if (run) {
        d->tokenizer = heed_tokenizer_open(c, run);
        if (source_folder(run, path)) d->source = heed_tokenizer_open(c, path);
    } else {
        d->tokenizer = make_tokenizer(c, f, d->batches, shared ? 2 : translates ? 1 : 0);
        if (translates && !shared && d->tokenizer) d->source = make_source(c, f, d->batches);
    }
    return heed_ctx_status(c) == HEED_OK;
}

/* ---- a training ---- */

heed_pairs *pairs_open(heed_ctx *c, const task *k, const heed_config *f, pairs_wish wish) {
    const char *val = heed_config_text(f, "val");
    heed_pairs_args a = {.kind = pair_kind_of(k),
                         .val_split = wish.whole ? 0 : heed_config_real(f, "val-split"),
                         .val_path = *val && !wish.whole ? val : NULL,
                         .block = (int)heed_config_int(f, "block"),
                         .labels = wish.labels,
                         .label_count = wish.label_count};
    return heed_pairs_open(c, heed_config_text(f, "data"), &a);
}

/* Texts where labels belong make nearly each line a class of its own. */
static void warn_of_columns(heed_ctx *c, const heed_config *f, const heed_pairs *k) {
    const heed_pairs_info *a = heed_pairs_about(k);
    bool whole = heed_config_real(f, "val-split") <= 0 && !*heed_config_text(f, "val");
    size_t lines = a->pairs + (whole ? 0 : a->val_pairs);
    if (lines >= 20 && (size_t)a->classes * 2 > lines)
        heed_message(
            c, HEED_WARN,
            "%d labels in %zu lines: nearly every label occurs once; hint: are the columns "
            "swapped? expected label<TAB>text",
            a->classes, lines);
}

static bool open_pairs(heed_ctx *c, const task *k, heed_config *f, const char *run, data_set *out) {
    *out = (data_set){.task = k};
    if (!text_lasts(c, f, "data") || !text_lasts(c, f, "val")) return false;
    heed_pairs *pairs = out->batches = pairs_open(c, k, f, (pairs_wish){0});
    if (!pairs || !find_tokenizers(c, f, run, out)) return false;
    const heed_tokenizer *source = out->source ? out->source : out->tokenizer;
    const heed_pairs_info *a = heed_pairs_about(pairs);
    out->checksum = a->checksum;
    if (k->kind != &translation_kind && a->classes < 2)
        return heed_fail(c, HEED_DATA, "%s: expected two different labels or more, found 1",
                         heed_config_text(f, "data"));
    if (k->kind == &class_kind) warn_of_columns(c, f, pairs);
    if (a->classes) {
        out->labels = a->labels;
        out->label_count = a->classes;
    }
    out->no_val = heed_config_real(f, "val-split") <= 0 && !*heed_config_text(f, "val");
    return heed_pairs_encode(pairs, source, k->kind == &translation_kind ? out->tokenizer : NULL);
}

static void close_pairs(data_set *d) {
    heed_pairs_close(d->batches);
    heed_tokenizer_free(d->source);
    heed_tokenizer_free(d->tokenizer);
    *d = (data_set){0};
}

/* ---- the banner ---- */

const char *pair_noun(const heed_pairs_info *a) { return a->classes ? "texts" : "pairs"; }

bool pairs_note(const heed_pairs_info *a, const heed_config *f, int index, char text[160]) {
    int longest = a->longest > a->target_longest ? a->longest : a->target_longest;
    long long block = (long long)heed_config_int(f, "block");
    char n[32];
    *text = 0;
    if (index == 0 && a->header) snprintf(text, 160, "the first line names the columns: skipped");
    if (index == 1 && a->extra_columns)
        snprintf(text, 160, "further %s in %s line%s are ignored", a->json ? "keys" : "columns",
                 heed_format_count(n, a->extra_columns), a->extra_columns == 1 ? "" : "s");
    if (index == 2 && a->blank)
        snprintf(text, 160, "%s empty line%s skipped", heed_format_count(n, a->blank),
                 a->blank == 1 ? " is" : "s are");
    if (index == 3 && a->left_out)
        snprintf(
            text, 160,
            "%s %s are longer than --block %lld and left out of training: --block %d keeps all",
            heed_format_count(n, a->left_out), pair_noun(a), block, longest);
    if (index == 4 && a->cut)
        snprintf(text, 160, "%s %s are cut at --block %lld when they are judged",
                 heed_format_count(n, a->cut), pair_noun(a), block);
    if (index == 5 && a->overlap)
        snprintf(text, 160, "%s validation %s stand in the training part, too",
                 heed_format_count(n, a->overlap), a->classes ? "texts" : "sources");
    return index <= 5;
}

const char *label_list(const heed_pairs_info *a, char text[160]) {
    size_t n = 0, cut;
    *text = 0;
    for (int i = 0; i < a->classes && n < 70; i++)
        n += (size_t)snprintf(text + n, 160 - n, "%s%.70s", i ? ", " : "", a->labels[i]);
    cut = heed_label_cut(text, 70);
    if (cut < n) snprintf(text + cut, 160 - cut, " ...");
    return text;
}

static void banner_side(const char *label, const heed_tokenizer *k, size_t unknown, size_t tokens) {
    char n1[32], share[64] = "none unknown";
    if (unknown > 0)
        snprintf(share, sizeof share, "%.2f %% of the text unknown",
                 100 * (double)unknown / (double)tokens);
    banner_row(label, "%s tokens, %s, %s", heed_format_count(n1, (uint64_t)heed_vocab_size(k)),
               heed_tokenizer_kind(k), share);
}

static void banner_pairs(const data_set *d, const heed_config *f) {
    const heed_pairs_info *a = heed_pairs_about(d->batches);
    char n1[32], n2[32], note[160];
    banner_row("data", "%s: %s %s for training, %s for validation", heed_config_text(f, "data"),
               heed_format_count(n1, a->pairs), pair_noun(a),
               d->no_val ? "none" : heed_format_count(n2, a->val_pairs));
    for (int i = 0; pairs_note(a, f, i, note); i++)
        if (*note) banner_row("", "%s", note);
    if (d->source) {
        banner_side("source", d->source, a->unknown, a->tokens);
        banner_side("target", d->tokenizer, a->target_unknown, a->target_tokens);
    } else
        banner_side("vocabulary", d->tokenizer, a->unknown + a->target_unknown,
                    a->tokens + a->target_tokens);
    if (a->classes) {
        label_list(a, note);
        banner_row("labels", "%d: %s", a->classes, note);
    }
}

static void steps_pairs(const heed_config *f, uint64_t epoch_batches) {
    char n[64];
    banner_row("epoch", "%s%lld pairs", epoch_steps(n, f, epoch_batches),
               (long long)heed_config_int(f, "batch"));
}

static void steps_texts(const heed_config *f, uint64_t epoch_batches) {
    char n[64];
    banner_row("epoch", "%s%lld texts", epoch_steps(n, f, epoch_batches),
               (long long)heed_config_int(f, "batch"));
}

static void evaluated_pairs(progress *g, const heed_report *r) {
    if (r->self) sample_pairs(g, r);
}

/* ---- the end of a training ---- */

static const char *scores_path(const char *run, char path[1024]) {
    snprintf(path, 1024, "%s/scores.json", run);
    return path;
}

/* Those of another training do not stay. */
static void begun_pairs(program *p, const data_set *d, const char *run) {
    char path[1024];
    (void)p;
    (void)d;
    remove(scores_path(run, path));
}

static void keep_scores(program *p, const ending *e, const pair_scores *s) {
    char path[1024], n[32], bleu[32] = "";
    heed_text text = {.c = p->c};
    if (isfinite(s->bleu)) snprintf(bleu, sizeof bleu, ", BLEU %.2f", s->bleu);
    json_t *o = json_pack("{s:I, s:o, s:o}", "pairs", (json_int_t)s->pairs, "exact",
                          json_number(s->exact), "bleu", json_number(s->bleu));
    char *whole = json_dumps(o, JSON_REAL_PRECISION(9));
    if (!whole || !heed_text_put(&text, whole, strlen(whole)) ||
        !heed_text_save(&text, scores_path(e->run, path))) {
        heed_message(p->c, HEED_WARN, "%s", heed_ctx_error(p->c));
        heed_clear(p->c);
    }
    free(whole);
    heed_text_free(&text);
    json_decref(o);
    if (e->json)
        json_object_update_new(e->json, json_pack("{s:o, s:o}", "exact", json_number(s->exact),
                                                  "bleu", json_number(s->bleu)));
    else
        printf("%s validation pairs translated with the best weights: exact %.2f %%%s\n",
               heed_format_count(n, s->pairs), 100 * s->exact, bleu);
}

static void finish_pairs(program *p, const data_set *d, ending *e) {
    enum { MOST = 200 };
    pair_scores s;
    char path[1024];
    if (d->no_val || (!e->trained && is_file(scores_path(e->run, path)))) return;
    heed_run *r = open_run(p, e->run);
    if (r && pairs_scores(p, r, d->batches, MOST, &s)) keep_scores(p, e, &s);
    heed_run_close(r);
}

const data_kind translation_kind = {
    .noun = "a file of pairs of texts, TSV or JSONL",
    .item = "tok",
    .perplexity = true,
    .options = translation_options,
    .open = open_pairs,
    .close = close_pairs,
    .banner = banner_pairs,
    .steps = steps_pairs,
    .begun = begun_pairs,
    .evaluated = evaluated_pairs,
    .finish = finish_pairs,
    .next = next_pairs,
    .eval = eval_pairs,
    .check = check_pairs,
};

#define LABEL_KIND(what, each)                                                                     \
    {                                                                                              \
        .noun = what, .item = each, .options = label_options, .open = open_pairs,                  \
        .close = close_pairs, .banner = banner_pairs, .steps = steps_texts, .next = next_pairs,    \
        .eval = eval_labels, .check = check_pairs                                                  \
    }
const data_kind class_kind = LABEL_KIND("a file of labels and texts, TSV or JSONL", "text");
const data_kind tag_kind = LABEL_KIND("a file of words and their labels, TSV or JSONL", "word");
