/* choice.c -- the layer, head and query that the flags choose. */
#include "cli/choice.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- lists of numbers ---- */

enum { MOST_NUMBERS = 4096 };

static bool read_number(const char **at, int *out) {
    char *end;
    if (!isdigit((unsigned char)**at)) return false;
    long n = strtol(*at, &end, 10);
    *at = end;
    *out = (int)n;
    return n >= 1 && n <= MOST_NUMBERS;
}

static bool read_range(const char **at, int *from, int *to) {
    if (!read_number(at, from)) return false;
    *to = *from;
    if (**at != '-') return true;
    ++*at;
    return read_number(at, to) && *to >= *from;
}

int *number_list(heed_ctx *c, const char *flag, const char *text, int *count) {
    int *list = calloc(MOST_NUMBERS, sizeof *list);
    const char *at = text;
    *count = 0;
    for (bool ok = list && *at; ok;) {
        int from, to;
        ok = read_range(&at, &from, &to) && *count + to - from < MOST_NUMBERS;
        for (int i = from; ok && i <= to; i++) list[(*count)++] = i - 1;
        if (ok && *at == 0) break;
        if (!ok || *at++ != ',') {
            heed_fail(c, HEED_USAGE, "%s %s: expected numbers from 1, as in 1,3-5", flag, text);
            free(list);
            return NULL;
        }
    }
    if (!list) heed_fail(c, HEED_FAILED, "no memory for %s", flag);
    return list;
}

/* ---- the block ---- */

int chosen_layer(heed_ctx *c, const heed_config *flags, int count, const char *whose) {
    const char *text = flags ? heed_config_text(flags, "layer") : "last", *at = text;
    int layer;
    if (!*text || strcmp(text, "last") == 0) return count;
    if (read_number(&at, &layer) && !*at && layer <= count) return layer;
    heed_fail(c, HEED_USAGE, "--layer %s: expected 1 to %d%s, or last", text, count, whose);
    return 0;
}

int chosen_block(heed_ctx *c, const char *of, const heed_config *flags, const heed_record_block *b,
                 int count) {
    const char *name = heed_config_text(flags, "stack");
    char whose[32];
    int found = -1, layers = 0;
    heed_stack stack = b[0].stack;
    for (int i = 0; i < count; i++)
        if (b[i].stack == HEED_CROSS) stack = HEED_CROSS;
    for (int i = 0; *name && i <= HEED_CROSS; i++)
        if (strcmp(heed_stack_name((heed_stack)i), name) == 0) stack = (heed_stack)i;
    for (int i = 0; i < count; i++)
        if (b[i].stack == stack && b[i].layer >= layers) layers = b[i].layer + 1;
    if (!layers) {
        heed_fail(c, HEED_USAGE, "--stack %s: %s has no such attention", name, of);
        return -1;
    }
    snprintf(whose, sizeof whose, " of the %s", heed_stack_name(stack));
    int layer = chosen_layer(c, flags, layers, whose);
    for (int i = 0; i < count; i++)
        if (b[i].stack == stack && b[i].layer + 1 == layer) found = i;
    if (layer && found < 0) heed_fail(c, HEED_USAGE, "--layer %d: %s lacks that layer", layer, of);
    return found;
}

/* ---- the head ---- */

static int number_of(const heed_record_block *b, int head) {
    return (b->head ? b->head[head] : head) + 1;
}

static bool is_within(heed_ctx *c, const heed_config *flags, const char *flag, int count,
                      const int *list, int most) {
    for (int i = 0; i < count; i++)
        if (list[i] >= most)
            return heed_fail(c, HEED_USAGE, "--%s %s: expected 1 to %d", flag,
                             heed_config_text(flags, flag), most);
    return true;
}

bool cut_fits(heed_ctx *c, const heed_config *flags, const heed_record_block *b, int count,
              const heed_record_cut *cut) {
    int layers = 0, heads = 0;
    for (int i = 0; i < count; i++) {
        int last = b[i].heads ? number_of(&b[i], b[i].heads - 1) : 0;
        if (b[i].layer >= layers) layers = b[i].layer + 1;
        if (last > heads) heads = last;
    }
    return is_within(c, flags, "layers", cut->layer_count, cut->layers, layers) &&
           is_within(c, flags, "heads", cut->head_count, cut->heads, heads);
}

/* The error when --heads left out the head asked for: lists the heads that were kept. */
static bool fail_kept(heed_ctx *c, const char *text, const heed_record_block *b) {
    heed_text list = {.c = c};
    for (int i = 0; i < b->heads; i++) heed_text_add(&list, "%d, ", number_of(b, i));
    heed_fail(c, HEED_USAGE, "--head %s: expected one of %smean or max", text,
              list.s ? list.s : "");
    heed_text_free(&list);
    return false;
}

bool chosen_head(heed_ctx *c, const char *text, const heed_record_block *b, int *head) {
    const char *at = text;
    int number;
    *head = strcmp(text, "max") == 0 ? HEED_HEAD_LARGEST : HEED_HEAD_MEAN;
    if (!*text || strcmp(text, "mean") == 0 || *head == HEED_HEAD_LARGEST) return true;
    bool is_number = read_number(&at, &number) && !*at;
    for (int i = 0; is_number && i < b->heads; i++)
        if (number_of(b, i) == number) {
            *head = i;
            return true;
        }
    return number_of(b, b->heads - 1) > b->heads
               ? fail_kept(c, text, b)
               : heed_fail(c, HEED_USAGE, "--head %s: expected 1 to %d, mean or max", text,
                           b->heads);
}

const char *head_word(const heed_record_block *b, int head, char text[16]) {
    if (head < 0) return head == HEED_HEAD_LARGEST ? "max" : "mean";
    snprintf(text, 16, "%d", number_of(b, head));
    return text;
}

json_t *head_json(const heed_record_block *b, int head) {
    char text[16];
    return head < 0 ? json_string(head_word(b, head, text)) : json_integer(number_of(b, head));
}

/* ---- the query ---- */

/* What a flag chooses from. */
typedef struct {
    const char *flag, *text, *hint; /* hint: if only the other axis has such a token */
    const heed_record_axis *axis, *other;
} search;

/* "2,5" of a grid. */
static bool read_place(const heed_record_axis *a, const char *text, int *query) {
    int row, col;
    const char *at = text;
    if (!a->rows || !read_number(&at, &row) || *at++ != ',' || !read_number(&at, &col) || *at ||
        row > a->rows || col > a->cols)
        return false;
    *query = a->first + (row - 1) * a->cols + col - 1;
    return true;
}

/* Whether a label is the text in brackets: "mask" for [MASK]. */
static bool in_brackets(const char *label, const char *text) {
    size_t n = strlen(text);
    return *label == '[' && strncasecmp(label + 1, text, n) == 0 && strcmp(label + 1 + n, "]") == 0;
}

/* The token that was probably meant; NULL for a number. Never a single character. */
static const char *meant(const heed_record_axis *a, const char *text) {
    const char *near = NULL, **list = calloc((size_t)a->count + 1, sizeof *list);
    int count = 0;
    for (int i = 0; list && i < a->count; i++)
        if (heed_label_cut(a->labels[i], 1) < strlen(a->labels[i])) list[count++] = a->labels[i];
    if (list && text[strspn(text, "0123456789.+-")]) near = heed_closest(text, list);
    for (int i = 0; i < a->count; i++)
        if (in_brackets(a->labels[i], text)) near = a->labels[i];
    free((void *)list);
    return near;
}

static bool has_token(const heed_record_axis *a, const char *text) {
    int i = 0;
    while (i < a->count && strcmp(a->labels[i], text) != 0) i++;
    return i < a->count;
}

/* Of a pair the tokens are listed: of the source and the target, only one was typed. */
static bool no_token_of(heed_ctx *c, const search *s) {
    enum { MOST = 24 };
    const heed_record_axis *a = s->axis;
    heed_text list = {.c = c};
    for (int i = 0; i < a->count && i < MOST; i++) {
        if (i) heed_text_put(&list, ", ", 2);
        heed_label_text(a->labels[i], 24, &list);
    }
    heed_fail(c, HEED_USAGE,
              "--%s %s: no such token of the %s: expected %s%s or a number from 1 to %d%s%s",
              s->flag, s->text, a->name, list.s ? list.s : "", a->count > MOST ? ", ..." : "",
              a->count, has_token(s->other, s->text) ? "; hint: " : "",
              has_token(s->other, s->text) ? s->hint : "");
    heed_text_free(&list);
    return false;
}

static bool no_token(heed_ctx *c, const search *s) {
    const heed_record_axis *a = s->axis;
    const char *near = meant(a, s->text);
    if (a->rows)
        return heed_fail(c, HEED_USAGE,
                         "--%s %s: expected %sa patch as ROW,COLUMN (%d rows of %d) or a number "
                         "from 1 to %d",
                         s->flag, s->text, a->first ? "cls, " : "", a->rows, a->cols, a->count);
    if (a != s->other && !near) return no_token_of(c, s);
    return heed_fail(c, HEED_USAGE,
                     "--%s %s: no such token: %s%s%sexpected a token or a number from 1 to %d",
                     s->flag, s->text, near ? "did you mean " : "", near ? near : "",
                     near ? "? " : "", a->count);
}

static bool find(heed_ctx *c, const search *s, int *out) {
    const heed_record_axis *a = s->axis;
    const char *text = s->text, *at = text;
    int number, found = 0;
    *out = -1;
    if (!*text) return true;
    if (a->rows && a->first && strcasecmp(text, "cls") == 0) {
        *out = 0;
        return true;
    }
    if (read_place(a, text, out)) return true;
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->labels[i], text) == 0 && found++ == 0) *out = i;
    if (found > 1)
        heed_message(c, HEED_WARN,
                     "--%s %s: occurs %d times: the first one, token %d, is shown; hint: its "
                     "number instead",
                     s->flag, text, found, *out + 1);
    if (found) return true;
    if (read_number(&at, &number) && !*at && number <= a->count) {
        *out = number - 1;
        return true;
    }
    return no_token(c, s);
}

/* A token whose text has a comma comes first. */
static int find_all(heed_ctx *c, search s, int most, int *out) {
    char part[256];
    const char *text = s.text;
    int count = 0;
    if (most == 1 || s.axis->rows || !strchr(text, ',') || has_token(s.axis, text))
        return find(c, &s, out) ? *out >= 0 : -1;
    for (bool more = true; more; count++) {
        size_t n = strcspn(text, ",");
        snprintf(part, sizeof part, "%.*s", (int)n, text);
        s.text = part;
        if (count == most) {
            heed_fail(c, HEED_USAGE, "--%s: expected at most %d tokens", s.flag, most);
            return -1;
        }
        if (!(n ? find(c, &s, &out[count]) : no_token(c, &s))) return -1;
        for (int i = 0; i < count; i++)
            if (out[i] == out[count]) {
                heed_fail(c, HEED_USAGE, "--%s: token %d is chosen twice", s.flag, out[i] + 1);
                return -1;
            }
        more = text[n];
        text += n + more;
    }
    return count;
}

int chosen_query(heed_ctx *c, const char *text, const heed_record_axis *queries,
                 const heed_record_axis *keys, int most, int *out) {
    return find_all(c,
                    (search){"query", text, "--key shows which tokens look at it", queries, keys},
                    most, out);
}

int chosen_key(heed_ctx *c, const char *text, const heed_record_axis *queries,
               const heed_record_axis *keys, int most, int *out) {
    return find_all(c, (search){"key", text, "--query shows what it looks at", keys, queries}, most,
                    out);
}
