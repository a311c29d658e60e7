/* eval_loop.c -- evaluation data, batch by batch. */
#include "kinds/eval_loop.h"

#include <string.h>

static bool open_questions(program *p, eval_loop *s) {
    s->questions = cloze_open(s->run, p->argv[1]);
    snprintf(s->what, sizeof s->what, "%.480s, questions", p->argv[1]);
    return s->questions != NULL;
}

static bool open_data(program *p, eval_loop *s) {
    if (is_cloze(p, s->run)) return open_questions(p, s);
    s->open = eval_data_open(p, s->model, s->f, s->run, s->what);
    if (!s->open) return false;
    s->data = s->open->batches;
    s->part = s->open->part;
    return true;
}

bool eval_loop_open(program *p, eval_loop *s) {
    *s = (eval_loop){.f = NULL};
    s->f = run_settings(p->c, p->models, p->argv[0], &s->model);
    s->run = s->f ? open_run(p, p->argv[0]) : NULL;
    if (!s->run || !open_data(p, s)) return false;
    uint64_t most = (uint64_t)heed_config_int(p->flags, "batches");
    s->rows = s->questions ? 1 : (int)heed_config_int(s->f, "batch");
    s->batches = s->questions
                     ? cloze_count(s->questions)
                     : heed_model_eval_batches(s->run->model, s->run->self, s->data, s->rows);
    s->all = s->batches;
    s->sample = most && most < s->batches;
    if (s->sample) s->batches = most;
    if (s->batches == 0) heed_fail(p->c, HEED_DATA, "%s: nothing to evaluate on", s->what);
    return heed_ctx_status(p->c) == HEED_OK;
}

void eval_loop_close(eval_loop *s) {
    cloze_close(s->questions);
    heed_data_close(s->open);
    heed_run_close(s->run);
    *s = (eval_loop){.f = NULL};
}

static bool ask(const eval_loop *s, uint64_t index, heed_batch *b, heed_score *score) {
    heed_random order = heed_random_at(heed_seed(s->run->c), "sweep.questions", 0, 0);
    if (s->sample) index = heed_random_permute(&order, index, s->all);
    return cloze_ask(s->questions, (size_t)index, b, score);
}

bool eval_loop_batch(const eval_loop *s, uint64_t index, heed_batch *b, heed_score *score) {
    const heed_model *m = s->run->model;
    if (s->questions) return ask(s, index, b, score);
    heed_batch_at at = {.val = true, .index = index, .rows = s->rows, .sample = s->sample};
    *b = (heed_batch){0};
    heed_tape_begin(s->run->tape, HEED_EVAL, index);
    if (!heed_model_batch(m, s->run->self, s->data, at, b) ||
        !m->loss(s->run->self, s->run->tape, b))
        return heed_fail(s->run->c, HEED_FAILED, "%s: no batch %llu", s->what,
                         (unsigned long long)index);
    m->metrics(s->run->self, b, score);
    return heed_ctx_status(s->run->c) == HEED_OK;
}

void eval_loop_progress(program *p, const char *what, uint64_t done, uint64_t all) {
    if (!is_terminal(stderr)) return;
    fprintf(stderr, "\r\033[K");
    if (done < all)
        fprintf(stderr, "%s %llu of %llu", what, (unsigned long long)done, (unsigned long long)all);
    p->line_open = done < all;
}
