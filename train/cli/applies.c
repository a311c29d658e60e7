/* applies.c -- settings that would change nothing are refused: what was asked for and not done
 * would look as if it had been. */
#include "cli/program.h"

#include <string.h>

/* word among those of list, parted by spaces; NULL is all. */
static bool among(const char *list, const char *word) {
    size_t n = strlen(word);
    for (const char *s = list; s && *s; s += strcspn(s, " "), s += *s == ' ')
        if (strcspn(s, " ") == n && strncmp(s, word, n) == 0) return true;
    return !list;
}

/* Was set to something else than its default. */
static bool is_given(const program *p, const char *key, size_t n) {
    const heed_option *o = p->command->options;
    while (o->name && (strlen(o->name) != n || strncmp(o->name, key, n) != 0)) o++;
    return o->name && strcmp(heed_config_text(p->flags, o->name), o->value) != 0;
}

static bool any_given(const program *p, const char *list) {
    for (const char *s = list; s && *s; s += strcspn(s, " "), s += *s == ' ')
        if (is_given(p, s, strcspn(s, " "))) return true;
    return !list;
}

/* "vit cnn mlp" -> "vit, cnn or mlp", each after a mark: "--". Into text, which is returned. */
static const char *spelled(const char *list, const char *mark, char text[160]) {
    size_t n = 0;
    for (const char *s = list; *s && n < 120;) {
        size_t word = strcspn(s, " ");
        bool last = !strchr(s + word + (s[word] == ' '), ' ');
        n += (size_t)snprintf(text + n, 160 - n, "%s%.*s%s", mark, (int)word, s,
                              !s[word] ? ""
                              : last   ? " or "
                                       : ", ");
        s += word + (s[word] == ' ');
    }
    return text;
}

bool settings_apply(program *p, const heed_run *r, const char *dir) {
    char text[160];
    for (const applies *a = p->command->applies; a && a->key; a++) {
        if (heed_config_rank(p->flags, a->key) == HEED_FROM_DEFAULT) continue;
        if (!among(a->tasks, r->model->name))
            return heed_fail(p->c, HEED_USAGE,
                             "--%s is of no use here: %s is a run of %s: expected one of %s; hint: "
                             "heed help %s",
                             a->key, dir, r->model->name, spelled(a->tasks, "", text),
                             p->command->name);
        if (!any_given(p, a->with))
            return heed_fail(p->c, HEED_USAGE,
                             "--%s is of no use here: expected %s, too; hint: heed help %s", a->key,
                             spelled(a->with, "--", text), p->command->name);
    }
    return true;
}
