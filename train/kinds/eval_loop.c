/* eval_loop.c -- evaluation data, batch by batch. */
#include "kinds/eval_loop.h"

#include <string.h>

static bool open_questions(program *p, eval_loop *s) {
    s->questions = cloze_open(s->e.run, p->argv[1]);
    snprintf(s->what, sizeof s->what, "%.480s, questions", p->argv[1]);
    return s->questions != NULL;
}

static bool open_data(program *p, eval_loop *s) {
    if (is_cloze(p, s->e.run)) return open_questions(p, s);
    s->open = eval_data_open(p, s->model, s->f, s->e.run, s->what);
    if (!s->open) return false;
    s->e.data = s->open->batches;
    s->part = s->open->part;
    return true;
}

static bool ask(void *user, uint64_t index, heed_batch *b, heed_score *score) {
    const eval_loop *s = user;
    heed_random order = heed_random_at(heed_seed(s->e.run->c), "sweep.questions", 0, 0);
    if (s->e.sample) index = heed_random_permute(&order, index, s->all);
    return cloze_ask(s->questions, (size_t)index, b, score);
}

bool eval_loop_open(program *p, eval_loop *s) {
    *s = (eval_loop){.e = {.what = s->what, .user = s}};
    s->f = run_settings(p->c, p->models, p->argv[0], &s->model);
    s->e.run = s->f ? open_run(p, p->argv[0]) : NULL;
    if (!s->e.run || !open_data(p, s)) return false;
    uint64_t most = (uint64_t)heed_config_int(p->flags, "batches");
    const heed_run *r = s->e.run;
    s->e.batch = s->questions ? ask : NULL;
    s->e.rows = s->questions ? 1 : (int)heed_config_int(s->f, "batch");
    s->all = s->questions ? cloze_count(s->questions)
                          : heed_model_eval_batches(r->model, r->self, s->e.data, s->e.rows);
    s->e.sample = most && most < s->all;
    s->e.batches = s->e.sample ? most : s->all;
    if (s->all == 0) heed_fail(p->c, HEED_DATA, "%s: nothing to evaluate on", s->what);
    return heed_ctx_status(p->c) == HEED_OK;
}

void eval_loop_close(eval_loop *s) {
    cloze_close(s->questions);
    heed_data_close(s->open);
    heed_run_close(s->e.run);
    *s = (eval_loop){.f = NULL};
}

void eval_loop_progress(program *p, const char *what, uint64_t done, uint64_t all) {
    if (!is_terminal(stderr)) return;
    fprintf(stderr, "\r\033[K");
    if (done < all)
        fprintf(stderr, "%s %llu of %llu", what, (unsigned long long)done, (unsigned long long)all);
    p->line_open = done < all;
}
