/* pairs.c -- what the program prints during and after training on pairs of texts. */
#include "kinds/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *cut_note(const heed_pairs_info *a, const heed_pairs_cut *cut, char text[120]) {
    char n1[32], n2[32], n3[32];
    snprintf(text, 120, "%s %s longer than --block %d and cut: %s of %s %s are not read",
             heed_format_count(n1, cut->texts), cut->texts == 1 ? "text is" : "texts are", a->block,
             heed_format_count(n2, cut->unread), heed_format_count(n3, cut->units),
             a->per_word ? "words" : "tokens");
    return text;
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
    .begun = begun_pairs,
    .evaluated = sample_pairs,
    .finish = finish_pairs,
    .next = next_pairs,
    .eval = eval_pairs,
};
const data_kind label_kind = {
    .next = next_pairs,
    .eval = eval_classes,
};
