/* applies.c -- settings that would have no effect are refused: otherwise a user might believe that
 * they had one. */
#include "cli/program.h"

#include <string.h>

/* Whether one of the settings in the list was given a value other than its default; true without a
 * list. */
static bool any_given(const program *p, const char *list) {
    char key[64];
    for (const char *s = list; s && *s; s += strcspn(s, " "), s += *s == ' ') {
        snprintf(key, sizeof key, "%.*s", (int)strcspn(s, " "), s);
        if (strcmp(heed_config_text(p->flags, key), heed_config_default(p->flags, key)) != 0)
            return true;
    }
    return !list;
}

/* Adds `word` to a list of `count` words, with "or" before the last one. */
static void add_word(heed_text *out, const char *mark, const char *word, size_t n, int count,
                     bool last) {
    heed_text_add(out, "%s%s%.*s", count == 0 ? "" : last ? " or " : ", ", mark, (int)n, word);
}

/* "attention png" -> "--attention or --png" */
static void add_flags_of(heed_text *out, const char *list) {
    int count = 0;
    for (const char *s = list; *s; s += strcspn(s, " "), s += *s == ' ') {
        size_t n = strcspn(s, " ");
        add_word(out, "--", s, n, count++, !s[n]);
    }
}

/* The models that a setting is for: "vit, cnn or mlp" */
static void add_models(heed_text *out, const heed_model *const *models,
                       bool (*takes)(const heed_model *m)) {
    int all = 0, count = 0;
    for (int i = 0; models[i]; i++) all += takes(models[i]);
    for (int i = 0; models[i]; i++) {
        if (!takes(models[i])) continue;
        add_word(out, "", models[i]->name, strlen(models[i]->name), count, count + 1 == all);
        count++;
    }
}

bool settings_apply(program *p, const heed_run *r, const char *dir) {
    heed_text list = {.c = p->c};
    for (const applies *a = p->command->applies; a && a->key; a++) {
        if (heed_config_rank(p->flags, a->key) == HEED_FROM_DEFAULT) continue;
        if (a->takes && !a->takes(r->model)) {
            const char *texts = p->command->for_texts;
            add_models(&list, p->models, a->takes);
            heed_text_add(&list, "; hint: ");
            if (texts && a->takes == reads_patches && sees_texts(r->model))
                heed_text_add(&list, "`%s %s \"TEXT\"`", texts, dir);
            else
                heed_text_add(&list, "`help %s`", p->command->name);
            heed_fail(p->c, HEED_USAGE,
                      "--%s has no effect here: %s is a run of %s: expected one of %s", a->key, dir,
                      r->model->name, list.s ? list.s : "");
        } else if (!any_given(p, a->with)) {
            add_flags_of(&list, a->with);
            heed_fail(p->c, HEED_USAGE,
                      "--%s has no effect here: expected %s, too; hint: `help %s`", a->key,
                      list.s ? list.s : "", p->command->name);
        }
    }
    heed_text_free(&list);
    return heed_ctx_status(p->c) == HEED_OK;
}
