/* settings.c -- applies the settings to a head, and finds the cell that they choose. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels typed by hand ---- */

static bool same_text(const char *label, const char *text, size_t n) {
    return strlen(label) == n && memcmp(label, text, n) == 0;
}

/* The index of the first label that equals the text, or of a number from 1 to count; -1: none. */
static int place_of(const char *text, size_t n, const char *const *labels, int count) {
    char *end;
    for (int i = 0; labels && i < count; i++)
        if (same_text(labels[i], text, n)) return i;
    long number = strtol(text, &end, 10);
    return end != text + n || number < 1 || number > count ? -1 : (int)number - 1;
}

static bool hide_keys(explaining *e) {
    heed_lesson *l = &e->w.lesson;
    for (const char *text = heed_config_text(e->p->flags, "hide"); *text;) {
        size_t n = strcspn(text, ",");
        int at = place_of(text, n, e->w.sources, l->args.sources);
        if (at < 0)
            return heed_fail(
                e->c, HEED_USAGE,
                "--hide is wrong: expected tokens of the text or numbers from 1 to %d, found %.*s",
                l->args.sources, (int)(n < 40 ? n : 40), text);
        for (int i = 0; i < l->args.sources; i++) /* all tokens with that text */
            if (i == at || same_text(e->w.sources[i], text, n)) l->hidden[i] = 1;
        text += n + (text[n] == ',');
    }
    return true;
}

/* ---- the cell ---- */

/* A part that --cell may name; -1: none. */
static int part_named(const worked *w, const char *text, size_t n) {
    static const heed_lesson_part parts[] = {
        HEED_LESSON_Q,      HEED_LESSON_K,       HEED_LESSON_V,
        HEED_LESSON_Q_R,    HEED_LESSON_K_R,     HEED_LESSON_RAW,
        HEED_LESSON_SCALED, HEED_LESSON_WEIGHTS, HEED_LESSON_OUTPUT};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (w->lesson.part[parts[i]].x && same_text(heed_lesson_name(parts[i]), text, n))
            return (int)parts[i];
    return -1;
}

/* Without a part, the cell is one of the scores, and of every part that has such a cell. */
static bool choose_cell(explaining *e) {
    const char *given = heed_config_text(e->p->flags, "cell"), *text = given;
    const char *colon = strchr(text, ':'), *comma;
    if (!*text) return true;
    e->part = colon ? part_named(&e->w, text, (size_t)(colon - text)) : -1;
    if (e->part >= 0) text = colon + 1;
    heed_lesson_part part = e->part < 0 ? HEED_LESSON_RAW : (heed_lesson_part)e->part;
    const heed_matrix *m = &e->w.lesson.part[part];
    if ((comma = strchr(text, ',')) != NULL) {
        const char *row = e->columns ? comma + 1 : text, *col = e->columns ? text : comma + 1;
        size_t before = (size_t)(comma - text), after = strlen(comma + 1);
        e->row =
            1 + place_of(row, e->columns ? after : before, row_labels_of(&e->w, part), m->rows);
        e->col =
            1 + place_of(col, e->columns ? before : after, col_labels_of(&e->w, part), m->cols);
        if (e->row > 0 && e->col > 0) return true;
    }
    return heed_fail(
        e->c, HEED_USAGE,
        "--cell is wrong: expected ROW,COLUMN or one of Q K V %sraw scaled weights output, a "
        "colon and ROW,COLUMN, by tokens or by numbers up to %d,%d; found %.60s",
        e->w.lesson.part[HEED_LESSON_Q_R].x ? "Q_R K_R " : "", e->columns ? m->cols : m->rows,
        e->columns ? m->rows : m->cols, given);
}

/* ---- all ---- */

bool apply_settings(explaining *e) {
    heed_lesson *l = &e->w.lesson;
    heed_config *f = e->p->flags;
    const char *beta = heed_config_text(f, "beta");
    char *end;
    if (!heed_config_bool(f, "scale")) l->args.beta = 1;
    if (*beta) l->args.beta = strtod(beta, &end);
    if (*beta && (end == beta || *end || !(fabs(l->args.beta) <= LARGEST_NUMBER)))
        return heed_fail(e->c, HEED_USAGE,
                         "--beta is wrong: expected a number from -%g to %g, found %.60s",
                         LARGEST_NUMBER, LARGEST_NUMBER, beta);
    if (!hide_keys(e)) return false;
    if (heed_config_bool(f, "causal") && !l->self)
        return heed_fail(e->c, HEED_USAGE,
                         "--causal: the keys of %s are of another text than the queries, so none "
                         "comes later; hint: --hide KEYS",
                         e->w.example);
    if (heed_config_bool(f, "causal")) l->args.causal = true;
    if (heed_config_bool(f, "hard")) l->args.hard = true;
    if (!heed_config_bool(f, "mask")) {
        l->args.causal = false;
        memset(l->hidden, 0, (size_t)l->args.sources);
    }
    heed_lesson_compute(l);
    return choose_cell(e);
}
