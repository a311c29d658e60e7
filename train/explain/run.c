/* run.c -- heed explain RUN INPUT: the same steps on a head of a trained model. */
#include "explain/explain.h"
#include "kinds/answers.h"
#include "kinds/records.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_WIDTH = 8, SHOWN_TOKENS = 24 };

typedef struct {
    explaining *e;
    heed_run *run;
    heed_example of;
    heed_record_block block;
    char path[320]; /* the layer's path: "encoder.0.attn" */
    int head;
} trained;

bool accepts(explaining *e, const char *name) {
    static const char *const any[] = {"list",  "precision", "seed", "png",  "json",    "patch",
                                      "whole", "step",      "tex",  "html", "notation"};
    const heed_config *f = e->p->flags;
    for (int i = 0; i < heed_config_count(f); i++) {
        const char *value, *flag = heed_config_at(f, i, &value)->name;
        bool known = heed_config_rank(f, flag) == HEED_FROM_DEFAULT;
        for (size_t k = 0; k < sizeof any / sizeof *any; k++) known |= strcmp(any[k], flag) == 0;
        if (!known)
            return heed_fail(e->c, HEED_USAGE,
                             "--%s: example %s has no single head to change; hint: `explain paris` "
                             "(or lion, mix, store, bias)",
                             flag, name);
    }
    return true;
}

/* ---- the layer and the head ---- */

static bool choose_layer(trained *t) {
    int count, found = 0, layer = (int)heed_config_int(t->e->p->flags, "layer");
    const char *stack = heed_config_text(t->e->p->flags, "stack");
    heed_record_block *list = heed_attention_layers(t->run, &count);
    if (!list) return false;
    if (!*stack || strcmp(stack, "auto") == 0) stack = heed_stack_name(list[0].stack);
    for (int i = 0; i < count; i++) {
        if (strcmp(heed_stack_name(list[i].stack), stack) != 0) continue;
        if (++found != layer) continue;
        t->block = list[i];
        snprintf(t->path, sizeof t->path, "%s", list[i].path);
        t->block.path = t->path;
    }
    free(list);
    if (*t->path) return true;
    if (found)
        return heed_fail(t->e->c, HEED_USAGE, "--layer %d: expected 1 to %d (%s)", layer, found,
                         stack);
    return heed_fail(t->e->c, HEED_USAGE,
                     "--stack: the model has no such layers; expected another than %s", stack);
}

static bool choose_head(trained *t) {
    int head = (int)heed_config_int(t->e->p->flags, "head");
    if (head > t->block.heads)
        return heed_fail(t->e->c, HEED_USAGE, "--head %d: expected 1 to %d", head, t->block.heads);
    t->head = head - 1;
    return true;
}

/* The token, from 1, whose prediction is asked for: [MASK], the last one of a text to continue,
 * otherwise the first. */
static int question_of(const trained *t, const heed_record_axis *queries) {
    for (int i = 0; i < queries->count; i++)
        if (strcmp(queries->labels[i], "[MASK]") == 0) return i + 1;
    return t->block.causal || t->block.stack == HEED_CROSS ? queries->count : 1;
}

static bool make_head(trained *t) {
    worked *w = &t->e->w;
    const heed_config *f = t->run->config;
    const heed_record_axis *queries = &t->of.axes[t->block.queries],
                           *keys = &t->of.axes[t->block.keys];
    w->custom = !heed_config_has(f, "norm");
    w->pre = !w->custom && strcmp(heed_config_text(f, "norm"), "pre") == 0;
    w->rms = !w->custom && strcmp(heed_config_text(f, "norm-kind"), "rms") == 0;
    w->example = t->e->p->argv[0];
    w->title = t->of.title;
    w->tokens = queries->labels;
    w->sources = t->block.stack == HEED_CROSS ? keys->labels : NULL;
    w->layer = t->path;
    w->picture = reads_pictures(t->run->model);
    w->query = question_of(t, queries);
    if (!heed_attention_trace_of_head(t->run, &t->of, &t->block, t->head, &w->lesson,
                                      &t->e->place.off) ||
        !worked_label(t->e))
        return false;
    t->e->head = true;
    t->e->place.stack = t->block.stack;
    t->e->place.layer = t->block.layer, t->e->place.head = t->head;
    t->e->place.heads = t->block.heads, t->e->place.kv_heads = t->block.kv_heads;
    bool whole = heed_config_bool(t->e->p->flags, "whole");
    t->e->most_width = whole ? 0 : SHOWN_WIDTH;
    t->e->most_tokens = whole ? 0 : SHOWN_TOKENS;
    return true;
}

void explain_run(explaining *e, const char *run, const char *text, void (*shown)(explaining *e)) {
    trained t = {.e = e, .run = open_run(e->p, run)};
    heed_text line = {.c = e->c};
    char link[PAGE_LINK_SIZE], head[16];
    heed_record *record = NULL;
    if (t.run) text = one_input(e->p, t.run, text, &line);
    bool recurrent = t.run && has_recurrences(t.run);
    bool ok =
        t.run && text &&
        (recurrent ? accepts(e, "of a recurrent model") : choose_layer(&t) && choose_head(&t));
    ok = ok && example_of_argument(t.run, text, NULL, false, &t.of);
    if (ok && recurrent) {
        e->name = run;
        open_recurrences(e, t.run, &t.of);
    } else if (ok) {
        if (!sees_pictures(t.run->model)) note_file(e->c, text, NULL);
        if (*heed_config_text(e->p->flags, "html"))
            e->record = record = heed_capture(t.run, &t.of, &(heed_capture_args){.lean = false});
        snprintf(head, sizeof head, "%d", t.head + 1);
        page_link o = {.stack = t.block.stack, .layer = t.block.layer, .head = head, .query = -1};
        e->page_link = page_link_text(&o, link);
        ok = heed_ctx_status(e->c) == HEED_OK && make_head(&t);
    }
    if (ok) shown(e);
    heed_record_free(record);
    heed_example_free(&t.of);
    close_run(e->p, t.run);
    heed_text_free(&line);
}
