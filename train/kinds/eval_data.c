/* eval_data.c -- the data that a run is evaluated on, DATA or the data that it was trained on, as a
 * whole and batch by batch. */
#include "cli/gather.h"
#include "cli/os_files.h"
#include "kinds/inputs.h"
#include "kinds/training.h"

#include <string.h>

/* "book.txt, validation part, 120 pairs" */
static void describe(const heed_data *d, const char *data, char what[512]) {
    static const char *const parts[] = {"training", "validation", "test"};
    const heed_data_kind *kind = d->kind;
    char n[32];
    if (!kind->open) {
        snprintf(what, 512, "the model's own evaluation batches");
        return;
    }
    size_t at = (size_t)snprintf(what, 512, "%.400s", data);
    if (d->is_val)
        at += (size_t)snprintf(what + at, 512 - at, ", the validation data of the run");
    else if (!d->all && d->no_val && !kind->images)
        at += (size_t)snprintf(
            what + at, 512 - at, "%s",
            d->tokenizer && !kind->inputs ? ", training text: there is no validation part" : "");
    else if (!d->all)
        at += (size_t)snprintf(what + at, 512 - at, ", %s part", parts[d->part]);
    if (!kind->inputs || (kind->images && !kind->made)) return;
    size_t count = kind->inputs(d, true);
    const char *noun = kind->made ? kind->made : kind->items;
    snprintf(what + at, 512 - at, ", %s %.*s", heed_format_count(n, count),
             (int)strcspn(noun, " ") - (count == 1), noun);
}

static void warn_of_text(program *p, const heed_data *d) {
    if (!d->all && d->no_val)
        heed_message(p->c, HEED_WARN,
                     "the run has no validation part (`val-split = 0`): this is measured on its "
                     "training text; hint: `%s %s OTHER.txt`",
                     p->command->name, p->argv[0]);
    if (d->all && d->unknown > 0)
        heed_message(p->c, HEED_WARN, "%.2f %% of the text is unknown to the vocabulary",
                     100 * d->unknown);
}

heed_data *eval_data_open(program *p, heed_config *f, const heed_run *r, char what[512]) {
    const heed_model *m = r->model;
    static const char *const switches[] = {"convert", "strict"}, *const tables[] = {"columns",
                                                                                    "header"};
    if (!reads_data(m) && p->argc > 1) {
        heed_fail(p->c, HEED_USAGE, "%s has no effect here: %s makes its own data", p->argv[1],
                  m->name);
        return NULL;
    }
    bool own = p->argc < 2;
    if (own && !(data_exists(p, m, f, "data", "") && data_exists(p, m, f, "val", ""))) return NULL;
    gathered inputs;
    if (!gather(p, m, NULL, p->argc - 1, p->argv + 1, &inputs)) {
        gather_end(&inputs);
        return NULL;
    }
    const char *data = *inputs.path ? inputs.path : p->argc > 1 ? p->argv[1] : NULL;
    for (int i = 0; sees_pictures(m) && i < 2; i++)
        if (heed_config_has(p->flags, switches[i]) && heed_config_bool(p->flags, switches[i]))
            heed_config_set(f, switches[i], "true", switches[i], HEED_FROM_FLAG);
    for (int i = 0; i < 2; i++)
        if (heed_config_has(p->flags, tables[i]) && heed_config_has(f, tables[i]) &&
            heed_config_rank(p->flags, tables[i]) != HEED_FROM_DEFAULT)
            heed_config_set(f, tables[i], heed_config_text(p->flags, tables[i]), tables[i],
                            HEED_FROM_FLAG);
    bool parts = heed_config_has(p->flags, "part");
    reading shown = {.p = p, .bar = redraws(stderr)};
    heed_data_args a = {.part = parts ? heed_config_text(p->flags, "part") : NULL,
                        .cache = r->dir,
                        .progress = show_reading,
                        .user = &shown};
    heed_data *d = heed_run_data(r, f, data, &a);
    end_reading(&shown);
    if (d) describe(d, data_name(p, heed_config_text(f, "data")), what);
    if (d && reads_text(m)) warn_of_text(p, d);
    gather_end(&inputs);
    return d;
}

/* ---- batch by batch ---- */

static bool ask(void *user, uint64_t index, heed_batch *b, heed_score *score) {
    const eval_loop *s = user;
    heed_random order = heed_random_at(heed_seed(s->e.run->c), "sweep.questions", 0, 0);
    if (s->e.sample) index = heed_random_permute(&order, index, s->all);
    return cloze_ask(s->questions, (size_t)index, b, score);
}

bool eval_loop_open(program *p, eval_loop *s, const char *unit) {
    *s = (eval_loop){.e = {.what = s->what, .user = s}, .progress = {p, unit}};
    if (unit) s->e.progress = inspect_advance;
    s->e.progress_user = &s->progress;
    s->f = run_settings(p->c, p->models, p->argv[0], &s->model);
    s->e.run = s->f ? open_run(p, p->argv[0]) : NULL;
    if (!s->e.run) return false;
    if (is_cloze(p, s->e.run)) {
        s->questions = cloze_open(s->e.run, p->argv[1]);
        snprintf(s->what, sizeof s->what, "%.480s, questions", p->argv[1]);
    } else
        s->open = eval_data_open(p, s->f, s->e.run, s->what);
    if (!s->questions && !s->open) return false;
    if (s->open) {
        s->e.data = s->open;
        s->part = s->open->part;
    }
    bool some = heed_config_has(p->flags, "batches");
    uint64_t most = some ? (uint64_t)heed_config_int(p->flags, "batches") : 0;
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
    close_run(s->progress.p, s->e.run);
    *s = (eval_loop){.f = NULL};
}

void eval_loop_progress(program *p, const char *what, uint64_t done, uint64_t all) {
    if (!redraws(stderr)) return;
    fprintf(stderr, "\r\033[K");
    if (done < all)
        fprintf(stderr, "%s %llu of %llu", what, (unsigned long long)done, (unsigned long long)all);
    p->line_open = done < all;
}
