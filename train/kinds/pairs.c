/* pairs.c -- what the program prints during and after training on pairs of texts. */
#include "kinds/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the banner ---- */

const char *pair_noun(const heed_pairs_info *a, size_t count) {
    if (a->classes) return count == 1 ? "text" : "texts";
    return count == 1 ? "pair" : "pairs";
}

static const char *verb(size_t count) { return count == 1 ? "is" : "are"; }

const char *cut_note(const heed_pairs_info *a, const heed_pairs_cut *cut, char text[120]) {
    char n1[32], n2[32], n3[32];
    snprintf(text, 120, "%s %s longer than --block %d and cut: %s of %s %s are not read",
             heed_format_count(n1, cut->texts), cut->texts == 1 ? "text is" : "texts are", a->block,
             heed_format_count(n2, cut->unread), heed_format_count(n3, cut->units),
             a->per_word ? "words" : "tokens");
    return text;
}

bool pairs_note(const heed_pairs_info *a, const heed_config *f, int index, char text[160]) {
    int longest = a->longest > a->target_longest ? a->longest : a->target_longest;
    long long block = (long long)heed_config_int(f, "block");
    char n[32], cut[120];
    *text = 0;
    bool given = heed_config_has(f, "columns") && *heed_config_text(f, "columns") && !a->json;
    if (index == 0 && a->columns)
        snprintf(text, 160, "the first line names the columns: %.*s are read",
                 (int)heed_label_cut(a->columns, 100), a->columns);
    if (index == 0 && a->conll)
        snprintf(text, 160,
                 "a CoNLL file of %zu columns: words in column %d, labels in column %d; --columns "
                 "chooses others",
                 a->conll, a->column[0], a->column[1]);
    else if (index == 0 && given && !a->header) /* by numbers */
        snprintf(text, 160,
                 "the first line is read as data; if it names the columns: --header yes");
    if (index == 1 && a->extra_columns)
        snprintf(text, 160, "further %s in %s line%s are ignored", a->json ? "keys" : "columns",
                 heed_format_count(n, a->extra_columns), a->extra_columns == 1 ? "" : "s");
    if (index == 2 && a->blank)
        snprintf(text, 160, "%s empty line%s skipped", heed_format_count(n, a->blank),
                 a->blank == 1 ? " is" : "s are");
    if (index == 3 && a->left_out)
        snprintf(text, 160,
                 "%s %s %s longer than --block %lld and left out of training: --block %d keeps all",
                 heed_format_count(n, a->left_out), pair_noun(a, a->left_out), verb(a->left_out),
                 block, longest);
    if (index == 4 && a->cut.texts && !a->classes)
        snprintf(text, 160, "%s %s %s cut at --block %lld for evaluation",
                 heed_format_count(n, a->cut.texts), pair_noun(a, a->cut.texts), verb(a->cut.texts),
                 block);
    if (index == 4 && a->cut.texts && a->classes)
        snprintf(text, 160, "%s; --block %d reads all", cut_note(a, &a->cut, cut), longest);
    if (index == 5 && a->overlap)
        snprintf(text, 160, "%s validation %s%s %s also in the training part",
                 heed_format_count(n, a->overlap), a->classes ? "text" : "source",
                 a->overlap == 1 ? "" : "s", verb(a->overlap));
    double unknown = 100 * (double)a->val_target_unknown / fmax((double)a->val_target_tokens, 1);
    if (index == 6 && unknown > 2 && strcmp(heed_config_text(f, "tokenizer"), "word") == 0)
        snprintf(text, 160,
                 "%.1f %% of the words of validation targets are unknown, so the model cannot "
                 "write them: --tokenizer wordpiece or char can",
                 unknown);
    if (index == 7 && a->special_lines) special_note(a->special_lines, text);
    if (index == 8 && a->untaught)
        snprintf(text, 160,
                 "%s validation %s%s %s a label that no training text has, first \"%.*s\": add "
                 "training texts with it",
                 heed_format_count(n, a->untaught), a->per_word ? "word" : "text",
                 a->untaught == 1 ? "" : "s", a->untaught == 1 ? "has" : "have",
                 (int)heed_label_cut(a->untaught_label, 40), a->untaught_label);
    return index <= 8;
}

/* A CoNLL file has a word and its label on each line, and an empty line between sentences. */
bool single_words(const heed_model *m, const heed_data *d) {
    enum { READ = 100 };
    size_t pairs = heed_pairs_about(d->batches)->pairs;
    heed_pair pair;
    for (size_t i = 0; i < READ && i < pairs; i++)
        if (!heed_pairs_get(d->batches, false, i, &pair) || memchr(pair.source, ' ', pair.source_n))
            return false;
    return names_words(m) && pairs > 1;
}

void banner_vocabulary(const char *label, const heed_tokenizer *k, size_t unknown, size_t tokens) {
    char n1[32], share[64] = "none unknown";
    if (unknown > 0)
        snprintf(share, sizeof share, "%.2f %% of the text unknown",
                 100 * (double)unknown / (double)tokens);
    banner_row(label, "%s tokens, %s, %s", heed_format_count(n1, (uint64_t)heed_vocab_size(k)),
               heed_tokenizer_kind(k), share);
}

static void banner_pairs(const heed_model *m, const heed_data *d, const heed_config *f) {
    const heed_pairs_info *a = heed_pairs_about(d->batches);
    char n1[32], n2[32], note[160], labels[256];
    banner_row("data", "%s: %s %s for training, %s for validation", heed_config_text(f, "data"),
               heed_format_count(n1, a->pairs), pair_noun(a, a->pairs),
               d->no_val ? "none" : heed_format_count(n2, a->val_pairs));
    for (int i = 0; pairs_note(a, f, i, note); i++)
        if (*note) banner_row("", "%s", note);
    if (single_words(m, d)) banner_row("", "%s", SINGLE_WORDS);
    if (d->source) {
        banner_vocabulary("source", d->source, a->unknown, a->tokens);
        banner_vocabulary("target", d->tokenizer, a->target_unknown, a->target_tokens);
    } else
        banner_vocabulary("vocabulary", d->tokenizer, a->unknown + a->target_unknown,
                          a->tokens + a->target_tokens);
    if (a->classes)
        banner_row("labels", "%d: %s", a->classes, label_list(a->labels, a->classes, 70, labels));
    banner_balance(d);
}

/* ---- the end of a training run ---- */

static const char *scores_path(const char *run, char path[1024]) {
    snprintf(path, 1024, "%s" HEED_INSIDE "scores.json", run);
    return path;
}

void remove_scores(const char *run) {
    char path[1024];
    remove(scores_path(run, path));
}

static void begun_pairs(program *p, const heed_data *d, const char *run) {
    (void)p;
    (void)d;
    remove_scores(run);
}

static void save_scores(program *p, json_t *o, const char *path) {
    char *json = json_dumps(o, JSON_REAL_PRECISION(9));
    heed_text text = {.c = p->c};
    if (!json || !heed_text_put(&text, json, strlen(json)) || !heed_text_save(&text, path)) {
        heed_message(p->c, HEED_WARN, "%s", heed_ctx_error(p->c));
        heed_clear(p->c);
    }
    free(json);
    heed_text_free(&text);
}

void finish_scores(program *p, const heed_data *d, training_end *e, const char *noun,
                   bool (*score)(program *p, heed_run *r, const heed_data *d, size_t most,
                                 pair_scores *out)) {
    enum { MOST = 200 };
    pair_scores s;
    char path[1024], n[32], bleu[48] = "";
    scores_path(e->run, path);
    if (!p->model->steps || d->no_val || (!e->trained && is_file(path))) return;
    heed_run *r = open_run(p, e->run);
    bool ok = r && score(p, r, d, MOST, &s);
    close_run(p, r);
    if (!ok) return;
    json_t *o =
        json_pack("{s:I, s:o, s:o, s:s}", "pairs", (json_int_t)s.pairs, "exact",
                  json_number(s.exact), "bleu", json_number(s.bleu), "bleu_tokens", s.bleu_tokens);
    save_scores(p, o, path);
    json_object_del(o, "pairs");
    if (isfinite(s.bleu)) snprintf(bleu, sizeof bleu, ", BLEU %.2f (%s)", s.bleu, s.bleu_tokens);
    if (e->json)
        json_object_update(e->json, o);
    else
        print_fact(0, "", "%s validation %s with the best weights: exact %.2f %%%s",
                   heed_format_count(n, s.pairs), noun, 100 * s.exact, bleu);
    json_decref(o);
}

static bool score_pairs(program *p, heed_run *r, const heed_data *d, size_t most,
                        pair_scores *out) {
    return pairs_scores(p, r, d->batches, most, out);
}

static void finish_pairs(program *p, const heed_data *d, training_end *e) {
    finish_scores(p, d, e, "pairs translated", score_pairs);
}

const data_kind translation_kind = {
    .banner = banner_pairs,
    .begun = begun_pairs,
    .evaluated = sample_pairs,
    .finish = finish_pairs,
    .next = next_pairs,
    .eval = eval_pairs,
    .check = check_pairs,
};
const data_kind label_kind = {
    .banner = banner_pairs,
    .next = next_pairs,
    .eval = eval_classes,
    .check = check_pairs,
};
