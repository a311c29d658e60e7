/* inspect.c -- inputs of a run for the analyses of heed/inspect.h. */
#include "kinds/inspect.h"
#include "cli/files.h"
#include "kinds/eval_loop.h"
#include "kinds/pairs.h"

#include <stdlib.h>
#include <string.h>

/* With the target that the model makes. */
static bool inspect_source(heed_inspection *s, heed_run *r, const char *text, size_t n) {
    translator k;
    heed_example e = {0};
    heed_text title = {.c = r->c};
    heed_reader how = heed_run_reader(r);
    bool ok = heed_example_text(&how, text, n, &e) && translator_open(&k, r, NULL);
    if (!ok) {
        heed_example_free(&e);
        return false;
    }
    k.quiet = true; /* the source has said it */
    ok = translate(&k, text, n) &&
         heed_example_made(&how, k.ids, (size_t)k.about.count, k.about.ended, &e) &&
         heed_text_put(&title, text, n) && heed_inspection_open(s, r, &e, title.s);
    translator_close(&k);
    heed_example_free(&e);
    heed_text_free(&title);
    return ok;
}

bool inspect_text(heed_inspection *s, heed_run *r, const char *text, size_t n, const char *target) {
    *s = (heed_inspection){.run = r};
    if (r->tokenizer && n && is_file(text) && is_picture_name(text))
        return heed_fail(r->c, HEED_USAGE,
                         "%s is a picture: the run takes texts (%s); hint: a run of vit", text,
                         r->model->name);
    if (r->model->kind == HEED_INPUT_PAIR && !target) return inspect_source(s, r, text, n);
    return heed_inspection_text(s, r, text, n, target);
}

bool inspect_advance(void *user, uint64_t done, uint64_t all) {
    const inspect_progress *g = user;
    eval_loop_progress(g->p, g->what, done, all);
    return true;
}

/* ---- layers and heads ---- */

bool layer_index(const heed_run *r, int layer, int *index) {
    int count, most = 0;
    heed_record_block *list = heed_attention_layers(r, &count);
    for (int i = 0; i < count; i++)
        if (list[i].layer >= most) most = list[i].layer + 1;
    free(list);
    if (!list) return false;
    *index = (layer ? layer : most) - 1;
    return layer <= most ||
           heed_fail(r->c, HEED_USAGE, "--layer %d: expected 1 to %d, or 0 for the last", layer,
                     most);
}

bool has_stacks(const heed_record_block *list, int count) {
    for (int i = 1; i < count; i++)
        if (list[i].stack != list[0].stack) return true;
    return false;
}

char *head_name(char text[64], const heed_record_block *l, int head, bool stacks) {
    snprintf(text, 64, "%s%slayer %d, head %d", stacks ? heed_stack_name(l->stack) : "",
             stacks ? " " : "", l->layer + 1, head + 1);
    return text;
}
