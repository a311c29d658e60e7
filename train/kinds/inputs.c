/* inputs.c -- inputs as tokens. */
#include "kinds/inputs.h"

#include "cli/files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- inputs ---- */

void print_shown(heed_ctx *c, const char *text, const char *end) {
    heed_text shown = {.c = c};
    heed_label_text(text, INT_MAX, &shown);
    heed_text_put(&shown, end, strlen(end));
    print_text(&shown);
}

static bool same_piece(const heed_tokens *k, const char *text, size_t a, size_t b) {
    size_t n = k->end[a] - k->begin[a];
    return k->end[b] - k->begin[b] == n && memcmp(text + k->begin[a], text + k->begin[b], n) == 0;
}

/* Token i is unknown, and none of those before it is of the same text. */
static bool is_new_unknown(const heed_tokens *k, int unknown, const char *text, size_t i) {
    enum { BACK = 4096 }; /* a text of nothing else takes no quadratic time */
    if (k->ids[i] != unknown || k->end[i] == k->begin[i]) return false;
    for (size_t j = i > BACK ? i - BACK : 0; j < i; j++)
        if (k->ids[j] == unknown && same_piece(k, text, i, j)) return false;
    return true;
}

void warn_of_unknown(const heed_tokenizer *t, const heed_tokens *k, const char *text) {
    enum { SHOWN = 5 };
    int unknown = heed_tokenizer_specials(t).unk;
    size_t found = 0;
    heed_text list = {.c = k->c};
    for (size_t i = 0; i < k->count; i++) {
        if (!is_new_unknown(k, unknown, text, i)) continue;
        if (++found > SHOWN) continue;
        char word[256];
        size_t n = k->end[i] - k->begin[i], columns = heed_label_cut(text + k->begin[i], 60);
        snprintf(word, sizeof word, "%.*s", (int)(n < columns ? n : columns), text + k->begin[i]);
        heed_text_put(&list, ", ", found > 1 ? 2 : 0);
        heed_label_text(word, INT_MAX, &list);
    }
    if (found > SHOWN) heed_text_add(&list, " and %zu more", found - SHOWN);
    if (list.s) heed_message(k->c, HEED_WARN, "unknown to the vocabulary: %s", list.s);
    heed_text_free(&list);
}

bool input_read(const heed_run *r, const char *text, size_t n, bool bracket, input *out) {
    heed_specials s = heed_tokenizer_specials(r->tokenizer);
    heed_tokens k = {.c = r->c};
    *out = (input){0};
    bool ok = heed_encode(r->tokenizer, text, n, &k);
    if (ok) out->ids = malloc((k.count + 2) * sizeof *out->ids);
    if (ok && !out->ids)
        ok = heed_fail(r->c, HEED_FAILED, "no memory for an input of %zu tokens", k.count);
    if (ok) {
        warn_of_unknown(r->tokenizer, &k, text);
        if (bracket && s.cls >= 0) out->ids[out->count++] = s.cls;
        for (size_t i = 0; i < k.count; i++) out->ids[out->count++] = k.ids[i];
        if (bracket && s.sep >= 0) out->ids[out->count++] = s.sep;
    }
    heed_tokens_free(&k);
    return ok;
}

void input_free(input *in) {
    free(in->ids);
    *in = (input){0};
}

/* What text would become otherwise is not what was meant. */
bool input_is_text(heed_ctx *c, const char *text, size_t n) {
    for (size_t at = 0; at < n;) {
        int32_t code;
        size_t used = heed_utf8_read(text + at, n - at, &code);
        if (code <= 0)
            return heed_fail(c, HEED_DATA,
                             "the input is not text: byte 0x%02X at offset %zu: expected UTF-8 "
                             "without NUL; hint: iconv -f LATIN1 -t UTF-8",
                             (unsigned)(unsigned char)text[at], at);
        at += used;
    }
    return true;
}

static void each_line(program *p, void *user, take_input one, bool by_line) {
    heed_text line = {.c = p->c};
    if (is_terminal(stdin)) fputs("heed: reading lines from the keyboard; Ctrl-D ends\n", stderr);
    for (p->line = 1; read_stdin_line(p->c, &line); p->line++) {
        size_t nothing = by_line ? strspn(line.s, " \t\r\v\f") : 0;
        if (line.n > nothing && input_is_text(p->c, line.s, line.n) && one(p, user, line.s, line.n))
            continue;
        if (by_line) putchar('\n');
        program_complain(p);
    }
    p->line = 0;
    heed_text_free(&line);
}

void each_input(program *p, void *user, take_input one, bool by_line) {
    if (p->argc == 1) each_line(p, user, one, by_line);
    for (int i = 1; i < p->argc; i++) {
        size_t n = strlen(p->argv[i]);
        if (strcmp(p->argv[i], "-") == 0)
            each_line(p, user, one, by_line);
        else if (!input_is_text(p->c, p->argv[i], n) || !one(p, user, p->argv[i], n))
            program_complain(p);
    }
}
