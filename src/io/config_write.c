/* config_write.c -- settings as a commented file, and as the lines of --help. */
#include "io/config.h"

#include <string.h>

enum { WIDTH = 100 }; /* columns of a file */

/* True if text must be quoted to read back unchanged. */
static bool needs_quotes(const char *text) {
    size_t n = strlen(text);
    if (!n) return false;
    bool edges = strchr(" \t\"'", text[0]) || strchr(" \t", text[n - 1]);
    return edges || strpbrk(text, "#\n\r") != NULL;
}

static bool put_value(heed_text *out, const char *text) {
    if (!needs_quotes(text)) return heed_text_add(out, "%s%s", *text ? " " : "", text);
    bool ok = heed_text_add(out, " \"");
    for (; ok && *text; text++) {
        char letter = heed__escape(*text, false);
        ok = letter ? heed_text_add(out, "\\%c", letter) : heed_text_put(out, text, 1);
    }
    return ok && heed_text_add(out, "\"");
}

#define BY_DATA "chosen from the data, else "

/* " (a whole number from 1 to 96; default 4)"; the kind of a text is left out. */
static bool put_rule(heed_text *out, const heed__setting *s) {
    const char *initial = heed__setting_initial(s);
    bool text = s->o->kind == HEED_TEXT, given = initial && *initial;
    if (text && !given) return true;
    return heed_text_add(out, " (") && (text || heed__option_expects(s->o, out)) &&
           (!given || heed_text_add(out, "%s%s%s", text ? "" : "; ",
                                    s->by_data ? BY_DATA : "default ", initial)) &&
           heed_text_add(out, ")");
}

static bool put_comment(heed_text *out, const heed__setting *s) {
    heed_text line = {.c = out->c};
    bool ok = heed_text_add(&line, "%s", s->o->help ? s->o->help : s->o->name) &&
              put_rule(&line, s) && heed_text_add(out, "# ") &&
              heed__put_wrapped(out, line.s, 2, "# ", WIDTH) && heed_text_add(out, "\n");
    heed_text_free(&line);
    return ok;
}

bool heed_config_write(const heed_config *f, heed_text *out, bool comments) {
    if (!f || !out || heed__stopped(f->c)) return false;
    const char *group = "";
    bool ok = true;
    for (const heed__setting *s = NULL; ok && (s = heed__setting_next(f, s)) != NULL;) {
        if (comments && strcmp(group, s->group) != 0)
            ok = heed_text_add(out, "%s# ---- %s ----\n", *group ? "\n" : "", s->group);
        group = s->group;
        if (comments) ok = ok && put_comment(out, s);
        bool chosen = s->by_data && s->rank == HEED_FROM_DEFAULT;
        ok = ok && heed_text_add(out, "%s%s =", chosen ? "# " : "", s->o->name) &&
             put_value(out, s->text) && heed_text_add(out, "\n");
    }
    return ok;
}

/* ---- --help ---- */

/* " pre|post"; a list that is too long continues in the next line. */
static bool put_choices(heed_text *out, const heed_option *o, size_t width) {
    size_t used = strlen("  --") + strlen(o->name) + 1;
    bool ok = heed_text_add(out, "  --%s ", o->name);
    for (const char *at = o->choices; ok && *at;) {
        size_t n = strcspn(at, "|");
        n += at[n] != 0;
        if (used + n > width) ok = heed_text_add(out, "\n      ");
        used = used + n > width ? 6 + n : used + n;
        ok = ok && heed_text_put(out, at, n);
        at += n;
    }
    return ok;
}

/* "--layers N", "--norm pre|post", "--[no-]tie" */
static bool put_flag(heed_text *out, const heed_option *o, size_t width) {
    static const char *const values[] = {
        [HEED_BOOL] = "", [HEED_INT] = " N", [HEED_REAL] = " X", [HEED_TEXT] = " TEXT"};
    if (o->kind == HEED_CHOICE) return put_choices(out, o, width);
    return heed_text_add(out, "  --%s%s%s", o->kind == HEED_BOOL ? "[no-]" : "", o->name,
                         values[o->kind]);
}

static bool put_help(heed_text *out, const heed__setting *s, size_t width, const char *indent) {
    const heed_option *o = s->o;
    const char *initial = heed__setting_initial(s);
    size_t column = strlen(indent), start = out->n;
    heed_text line = {.c = out->c};
    bool ok = put_flag(out, o, width);
    size_t used = out->n - start;
    bool below = used + 2 > column; /* a long flag has a line of its own */
    ok = ok &&
         heed_text_add(out, "%s%*s", below ? "\n" : "", (int)(below ? column : column - used), "");
    ok = ok && heed_text_add(&line, "%s", o->help ? o->help : "");
    if (ok && initial && *initial)
        ok = heed_text_add(&line, " [%s%s]", s->by_data ? BY_DATA : "", initial);
    if (ok && line.n) ok = heed__put_wrapped(out, line.s, column, indent, width);
    heed_text_free(&line);
    return ok && heed_text_add(out, "\n");
}

bool heed_config_help(const heed_config *f, heed_text *out, int width) {
    if (!f || !out || heed__stopped(f->c)) return false;
    enum { LEAST = 20, MOST = 32, BELOW = 6, NARROW = 30 };
    size_t column = f->key_width + 10; /* two blanks, "--", "[no-]" or " N", two blanks */
    if (column < LEAST) column = LEAST;
    if (column > MOST) column = MOST;
    if (width < 60) column = BELOW; /* then the help of every flag has lines of its own */
    char indent[MOST + 1] = "";
    memset(indent, ' ', column);
    const char *group = "";
    bool ok = true;
    for (const heed__setting *s = NULL; ok && (s = heed__setting_next(f, s)) != NULL;) {
        if (strcmp(group, s->group) != 0)
            ok = heed_text_add(out, "%s%s:\n", *group ? "\n" : "", s->group);
        group = s->group;
        ok = ok && put_help(out, s, (size_t)(width > NARROW ? width : NARROW), indent);
    }
    return ok;
}
